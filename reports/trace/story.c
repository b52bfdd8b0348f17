#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/faults/link_fault.h"
#include "lib/formats/lines.h"
#include "reports/trace/parts.h"
#include "lib/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- faults */

#define FAULTS_MOST 1000
#define RANK_FAULT  10 /* behind the rest of the run's tracks */

/* "leaf0 - spine0" below the run, with a slice for each time that the fault acts. */
static struct trace_lane lane_of(struct trace_parts *t, size_t number, const char *title)
{
    return (struct trace_lane){.track =
                                   trace_track(&t->writer, t->run_track, RANK_FAULT + (int)number, title)};
}

/* ---- faults of links */

static void draw_link_fault(struct trace_parts *t, const json_t *document, const struct link_fault *fault,
                            const int64_t phase_ns[4], size_t number)
{
    const char *kind = run_member(document, "kind");
    char *const *ends = fault->link.items;
    struct text title = {0};
    text_add(&title, "fault of %s - %s", ends[0], ends[1]);
    struct trace_lane lane = lane_of(t, number, text_string(&title));
    text_free(&title);
    int64_t start_ns = link_fault_start_ns(fault, phase_ns), end_ns = link_fault_end_ns(fault, phase_ns);
    bool flaps = fault->kind == LINK_FLAP;
    struct trace_note notes[2] = {{"rate_bps", NULL, (double)fault->rate_bps}, {"loss", NULL, fault->loss}};
    struct trace_event event = {.name = trace_name(&t->writer, flaps ? "down" : kind),
                                .notes = fault->kind == LINK_RATE ? &notes[0] : &notes[1],
                                .note_count =
                                    fault->kind == LINK_RATE || (fault->kind == LINK_LOSS && !fault->bursts)};
    for (int64_t i = 0; i < (flaps ? link_fault_flaps(fault) : 1); i++) {
        event.time_ns = start_ns + (flaps ? i * fault->period_ns : 0);
        trace_slice(&t->writer, &lane, &event,
                    flaps ? event.time_ns + link_fault_flap_down_ns(fault) : end_ns);
    }
}

static bool take_link_fault(struct trace_parts *t, const json_t *document, const int64_t phase_ns[4],
                            size_t number)
{
    struct link_fault fault;
    struct error ignored;
    if (number >= FAULTS_MOST || table_parse(&link_fault_table, document, &fault, &ignored) != 0)
        return false;
    draw_link_fault(t, document, &fault, phase_ns, number);
    table_free(&link_fault_table, &fault);
    return true;
}

/* ---- storms */

/* Their times count from the beginning of the warm-up. */
static bool take_storm(struct trace_parts *t, const json_t *storm, int64_t run_ns, size_t number)
{
    struct text title = {0};
    int64_t start_ns, stop_ns;
    const char *role = run_member(storm, "role"), *start = run_member(storm, "start");
    if (number >= FAULTS_MOST || !*role || units_parse(UNIT_TIME_NS, start, &start_ns, NULL) != 0 ||
        units_parse(UNIT_TIME_NS, run_member(storm, "stop"), &stop_ns, NULL) != 0 ||
        !lines_fits(start_ns, 0) || !lines_fits(stop_ns, start_ns))
        return false;
    text_add(&title, "storm from %s, priority %" PRId64, role,
             (int64_t)json_integer_value(json_object_get(storm, "priority")));
    struct trace_lane lane = lane_of(t, number, text_string(&title));
    text_free(&title);
    return trace_slice(
        &t->writer, &lane,
        &(struct trace_event){.time_ns = run_ns + start_ns, .name = trace_name(&t->writer, "storm")},
        run_ns + stop_ns);
}

static int trace_faults(struct trace_parts *t, const int64_t phase_ns[4], struct error *e)
{
    const json_t *document;
    uint64_t left_out = 0;
    size_t i, links = json_array_size(run_get(t->run, "scenario.faults"));
    json_array_foreach(run_get(t->run, "scenario.faults"), i, document)
    {
        left_out += !take_link_fault(t, document, phase_ns, i);
    }
    json_array_foreach(run_get(t->run, "scenario.storms"), i, document)
    {
        left_out += !take_storm(t, document, phase_ns[0], links + i);
    }
    trace_left_out(t, left_out, "faults beyond a limit, or that are damaged");
    return trace_writer_check(&t->writer, t->path, e);
}

#define SETTINGS_ROLES_MOST 1024
#define DEADLOCKS_MOST      1000

/* Below the run's track, in this order. */
enum { RANK_PHASES, RANK_FAULTS, RANK_DEADLOCKS, RANK_VERDICTS };

/* A time of the result, 0 to LINES_MOST. */
static bool take_time(const json_t *object, const char *key, int64_t *ns)
{
    const json_t *value = json_object_get(object, key);
    *ns = json_integer_value(value);
    return json_is_integer(value) && lines_fits(*ns, 0);
}

/* ---- the run and its phases */

static void make_run_track(struct trace_parts *t)
{
    struct text title = {0};
    const char *name = run_text(t->run, "scenario.title"), *origin = run_origin(t->run);
    text_add(&title, "%s", *name ? name : run_text(t->run, "scenario.name"));
    text_add(&title, "%s%s%s%s%s", *t->run->label ? ", " : "", t->run->label, origin ? " (" : "",
             origin ? origin : "", origin ? ")" : "");
    t->run_track = trace_track(&t->writer, 0, 0, text_string(&title));
    text_free(&title);
}

/* Where each phase begins, by its place among warmup, measure and cooldown; at last the end of the run. */
static void take_phases(struct trace_parts *t, int64_t phase_ns[4])
{
    static const char *const names[] = {"warmup", "measure", "cooldown"};
    struct trace_lane lane = {.track = trace_track(&t->writer, t->run_track, RANK_PHASES, "phases")};
    uint64_t left_out = 0;
    bool first = true;
    const json_t *phase;
    size_t i;
    json_array_foreach(run_get(t->run, "phases"), i, phase)
    {
        int64_t start_ns, end_ns;
        const char *name = run_member(phase, "name");
        bool drawn =
            take_time(phase, "start_ns", &start_ns) && take_time(phase, "end_ns", &end_ns) &&
            trace_slice(&t->writer, &lane,
                        &(struct trace_event){.time_ns = start_ns, .name = trace_name(&t->writer, name)},
                        end_ns);
        left_out += !drawn;
        if (!drawn)
            continue;
        for (size_t k = 0; k < 3; k++)
            if (strcmp(name, names[k]) == 0)
                phase_ns[k] = start_ns;
        t->start_ns = first ? start_ns : t->start_ns;
        t->end_ns = phase_ns[3] = end_ns;
        first = false;
    }
    trace_left_out(t, left_out, "phases that overlap or have no times");
}

/* ---- settings */

/* A value that is not text, as JSON; the caller frees the texts. */
static size_t notes_of_object(const json_t *object, struct trace_note *notes, char **texts, size_t most)
{
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (count < most) {
            texts[count] = json_bare(value);
            notes[count] = (struct trace_note){key, texts[count] ? texts[count] : "", 0};
        }
        count++;
    }
    return count;
}

static void draw_settings_of(struct trace_parts *t, const char *role, const json_t *wanted)
{
    struct trace_note notes[TRACE_NOTES_MOST];
    char *texts[TRACE_NOTES_MOST] = {0};
    size_t count = notes_of_object(wanted, notes, texts, TRACE_NOTES_MOST);
    if (count)
        trace_instant(&t->writer, &(struct trace_event){.track = places_node_track(&t->places, role),
                                                        .time_ns = t->start_ns,
                                                        .name = trace_name(&t->writer, "settings"),
                                                        .notes = notes,
                                                        .note_count = count});
    for (size_t i = 0; i < TRACE_NOTES_MOST; i++)
        free(texts[i]);
}

static void draw_settings(struct trace_parts *t)
{
    const char *role;
    json_t *settings = run_load_settings(t->run), *entry;
    size_t count = 0;
    json_object_foreach(settings, role, entry)
    {
        if (count++ < SETTINGS_ROLES_MOST)
            draw_settings_of(t, role, json_object_get(entry, "wanted"));
    }
    json_decref(settings);
    if (count > SETTINGS_ROLES_MOST)
        trace_left_out(t, count - SETTINGS_ROLES_MOST, "settings of roles beyond a limit");
}

/* ---- deadlocks, expectations, warnings */

static void draw_deadlocks(struct trace_parts *t)
{
    uint64_t track = 0, left_out = 0;
    const json_t *deadlock;
    size_t i;
    json_array_foreach(run_get(t->run, "deadlocks"), i, deadlock)
    {
        int64_t since_ns, found_ns;
        bool is_whole = take_time(deadlock, "since_ns", &since_ns) &&
                        take_time(deadlock, "found_ns", &found_ns) && i < DEADLOCKS_MOST;
        left_out += !is_whole;
        if (!is_whole)
            continue;
        if (!track)
            track = trace_track(&t->writer, t->run_track, RANK_DEADLOCKS, "deadlocks");
        const struct trace_note note = {"ring", run_member(deadlock, "text"), 0};
        struct trace_event event = {.track = track,
                                    .time_ns = since_ns,
                                    .name = trace_name(&t->writer, "deadlock begins"),
                                    .notes = &note,
                                    .note_count = 1};
        trace_instant(&t->writer, &event);
        event.time_ns = found_ns;
        event.name = trace_name(&t->writer, "deadlock found");
        trace_instant(&t->writer, &event);
    }
    trace_left_out(t, left_out, "deadlocks beyond a limit or without times");
}

/* One instant with a note for each: at the end of the run, where they would hide each other. */
static void draw_verdicts(struct trace_parts *t)
{
    struct trace_note notes[TRACE_NOTES_MOST];
    struct text title = {0};
    size_t i, failed = 0, noted = 0;
    const json_t *entry;
    if (json_is_false(run_get(t->run, "complete")))
        notes[noted++] = (struct trace_note){"why it is incomplete", run_text(t->run, "reason"), 0};
    json_array_foreach(run_get(t->run, "expectations"), i, entry)
    {
        const json_t *later = run_judged_later(t->run, "expectations", entry);
        entry = later ? later : entry;
        if (strcmp(run_member(entry, "verdict"), "failed") != 0)
            continue;
        if (noted < TRACE_NOTES_MOST)
            notes[noted++] = (struct trace_note){run_member(entry, "name"), run_member(entry, "reason"), 0};
        failed++;
    }
    text_add(&title, "%s, %zu %s failed", verdict_names[run_verdict(t->run)], failed,
             THINGS(failed, "expectation"));
    uint64_t track = trace_track(&t->writer, t->run_track, RANK_VERDICTS, "verdict"),
             name = trace_name(&t->writer, text_string(&title));
    trace_instant(&t->writer, &(struct trace_event){
                                  .track = track,
                                  .time_ns = t->end_ns,
                                  .name = name,
                                  .notes = notes,
                                  .note_count = noted,
                              });
    text_free(&title);
}

static void draw_warnings(struct trace_parts *t)
{
    struct trace_note notes[TRACE_NOTES_MOST];
    const json_t *warnings = run_get(t->run, "warnings");
    size_t count = json_array_size(warnings);
    if (!count)
        return;
    for (size_t i = 0; i < count && i < TRACE_NOTES_MOST; i++) {
        const char *text = json_string_value(json_array_get(warnings, i));
        notes[i] = (struct trace_note){"warning", text ? text : "", 0};
    }
    uint64_t track = trace_track(&t->writer, t->run_track, RANK_VERDICTS + 1, "warnings"),
             name = trace_name(&t->writer, "warnings");
    trace_instant(&t->writer, &(struct trace_event){
                                  .track = track,
                                  .time_ns = t->end_ns,
                                  .name = name,
                                  .notes = notes,
                                  .note_count = count,
                              });
}

int trace_story(struct trace_parts *t, struct error *e)
{
    int64_t phase_ns[4] = {0};
    make_run_track(t);
    take_phases(t, phase_ns);
    if (trace_faults(t, phase_ns, e) != 0)
        return -1;
    draw_deadlocks(t);
    draw_verdicts(t);
    draw_warnings(t);
    draw_settings(t);
    return 0;
}
