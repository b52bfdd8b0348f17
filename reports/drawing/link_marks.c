#include "reports/drawing/link_marks.h"

#include "lib/clock.h"
#include "lib/faults/link_fault.h"
#include "lib/text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MOST 1000
#define NAME_BYTES 200

/* Takes over `words`. An end is "NODE" or "NODE:PORT". */
static void add_mark(struct link_marks *marks, const char *a, const char *b, char *words)
{
    const char *const ends[] = {a, b};
    struct link_mark mark = {0};
    char name[NAME_BYTES];
    bool good = true;
    mark.words = words;
    for (unsigned k = 0; k < 2; k++) {
        good = good && ends[k] && link_fault_end(ends[k], name, sizeof name, &mark.port[k]) == 0;
        mark.node[k] = good ? xstrdup(name) : NULL;
    }
    if (good && marks->count < MARKS_MOST) {
        marks->items = xreallocarray(marks->items, marks->count + 1, sizeof *marks->items);
        marks->items[marks->count++] = mark;
        return;
    }
    marks->left_out++;
    free(mark.node[0]);
    free(mark.node[1]);
    free(mark.words);
}

/* ---- faults of the scenario */

/* When each phase begins, and at last the end of the run, since the measure phase began. */
static void take_phases(const struct run *run, int64_t phase_ns[4])
{
    static const char *const names[] = {"warmup", "measure", "cooldown"};
    const json_t *phase;
    size_t i;
    memset(phase_ns, 0, 4 * sizeof *phase_ns);
    json_array_foreach(run_get(run, "phases"), i, phase)
    {
        for (size_t k = 0; k < 3; k++) {
            if (strcmp(run_member(phase, "name"), names[k]) != 0)
                continue;
            phase_ns[k] = json_integer_value(json_object_get(phase, "start_ns")) - run->start_ns;
            phase_ns[3] = json_integer_value(json_object_get(phase, "end_ns")) - run->start_ns;
        }
    }
}

/* "down from 5 to 6 ms"; a fault without an end lasts to that of the run. */
static char *words_of_fault(const struct link_fault *f, const int64_t phase_ns[4])
{
    static const char *const words[] = {[LINK_DOWN] = "down",
                                        [LINK_FLAP] = "down and up",
                                        [LINK_RATE] = "slower",
                                        [LINK_LOSS] = "losing frames"};
    int64_t start_ns = link_fault_start_ns(f, phase_ns), end_ns = link_fault_end_ns(f, phase_ns);
    struct text out = {0};
    text_add(&out, "%s", words[f->kind]);
    if (f->kind == LINK_FLAP)
        text_add(&out, " %" PRId64 " times", link_fault_flaps(f));
    if (start_ns <= phase_ns[0] && end_ns >= phase_ns[3])
        text_add(&out, " in the whole run");
    else if (end_ns >= phase_ns[3])
        text_add(&out, " from %.4g ms on", (double)start_ns / NS_PER_MS);
    else
        text_add(&out, " from %.4g to %.4g ms", (double)start_ns / NS_PER_MS, (double)end_ns / NS_PER_MS);
    return text_take(&out);
}

static void add_faults(const struct run *run, struct link_marks *marks)
{
    int64_t phase_ns[4];
    const json_t *document;
    size_t i;
    take_phases(run, phase_ns);
    json_array_foreach(run_get(run, "scenario.faults"), i, document)
    {
        struct link_fault fault;
        struct error ignored;
        if (table_parse(&link_fault_table, document, &fault, &ignored) != 0) {
            marks->left_out++;
            continue;
        }
        char *const *ends = fault.link.items;
        add_mark(marks, ends[0], ends[1], words_of_fault(&fault, phase_ns));
        table_free(&link_fault_table, &fault);
    }
}

/* ---- links of the lab that lose frames, and what was sampled */

static void add_lossy(const struct run *run, struct link_marks *marks)
{
    const json_t *link;
    size_t i;
    json_array_foreach(run_get(run, "lab.links"), i, link)
    {
        const json_t *between = json_object_get(link, "between");
        double loss = json_number_value(json_object_get(link, "loss"));
        if (loss > 0)
            add_mark(marks, json_string_value(json_array_get(between, 0)),
                     json_string_value(json_array_get(between, 1)),
                     xasprintf("loses %.4g %% of frames", 100 * loss));
    }
}

/* "h3 - s1": only where the scenario does not say what befell links. */
static void add_causes(const struct run *run, struct link_marks *marks)
{
    const json_t *cause;
    size_t i;
    json_array_foreach(json_object_get(run->explanation, "causes"), i, cause)
    {
        const char *kind = run_member(cause, "kind"), *culprit = run_member(cause, "culprit"),
                   *dash = strstr(culprit, " - ");
        bool down = strcmp(kind, "link-down") == 0;
        if (!dash || (!down && strcmp(kind, "link-damages") != 0))
            continue;
        char *a = xasprintf("%.*s", (int)(dash - culprit), culprit);
        add_mark(marks, a, dash + 3, xstrdup(down ? "was down" : "damaged frames"));
        free(a);
    }
}

struct link_marks link_marks_of(const struct run *run)
{
    struct link_marks marks = {0};
    add_faults(run, &marks);
    add_lossy(run, &marks);
    if (!marks.count)
        add_causes(run, &marks);
    return marks;
}

void link_marks_free(struct link_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++) {
        free(marks->items[i].node[0]);
        free(marks->items[i].node[1]);
        free(marks->items[i].words);
    }
    free(marks->items);
    *marks = (struct link_marks){0};
}
