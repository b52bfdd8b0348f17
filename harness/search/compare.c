#include "harness/search/compare.h"

#include "harness/search/answer.h"
#include "harness/search/document.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/output/columns.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OLD, NEW, SIDES };
static const char *const side_words[] = {[OLD] = "OLD", [NEW] = "NEW"};

/* Settings of a search that have a value for each objective. */
struct points {
    struct vector *of;
    size_t count;
};

struct side {
    const char *folder;
    json_t *document;
    struct points front, known;
};

/* ---- reading */

static const json_t *objectives_of(const struct side *s)
{
    return json_object_get(s->document, "objectives");
}

static bool is_max(const json_t *objective)
{
    return strcmp(run_member(objective, "goal"), "max") == 0;
}

static const json_t *spread_in(const json_t *entry, const json_t *objective)
{
    return json_object_get(json_object_get(entry, "objectives"), run_member(objective, "name"));
}

static struct points points_of(const json_t *document, const char *list)
{
    const json_t *entries = json_object_get(document, list), *entry, *objective;
    struct points p = {.of = xcalloc(json_array_size(entries) + 1, sizeof *p.of)};
    size_t i, k;
    json_array_foreach(entries, i, entry)
    {
        struct vector v = {0};
        bool whole = json_is_true(json_object_get(entry, "feasible"));
        json_array_foreach(json_object_get(document, "objectives"), k, objective)
        {
            const json_t *mean = json_object_get(spread_in(entry, objective), "mean");
            whole = whole && json_is_number(mean);
            v.of[k] = (is_max(objective) ? -1 : 1) * json_number_value(mean);
        }
        if (whole)
            p.of[p.count++] = v;
    }
    return p;
}

static int load_side(struct side *s, const char *folder, struct error *e)
{
    s->folder = folder;
    s->document = search_load(folder, e);
    size_t objectives = json_array_size(objectives_of(s));
    if (s->document && (objectives == 0 || objectives > SEARCH_MOST_OBJECTIVES)) {
        error_set(e, "%s: it has %zu objectives: expected 1 to %d, is it of harness search?", folder,
                  objectives, SEARCH_MOST_OBJECTIVES);
        json_decref(s->document);
        s->document = NULL;
    }
    if (!s->document)
        return -1;
    s->front = points_of(s->document, "front");
    s->known = points_of(s->document, "known");
    return 0;
}

static void close_side(struct side *s)
{
    json_decref(s->document);
    free(s->front.of);
    free(s->known.of);
}

/* Both want the same: names, goals and expressions, in their order. */
static int check_objectives(const struct side sides[SIDES], struct error *e)
{
    static const char *const keys[] = {"name", "goal", "of", NULL};
    const json_t *old = objectives_of(&sides[OLD]), *new = objectives_of(&sides[NEW]);
    for (size_t k = 0; k < json_array_size(old) || k < json_array_size(new); k++) {
        const json_t *a = json_array_get(old, k), *b = json_array_get(new, k);
        for (size_t i = 0; keys[i]; i++)
            if (strcmp(run_member(a, keys[i]), run_member(b, keys[i])) != 0)
                return error_set(e,
                                 "these searches are not for the same: objective %zu is \"%s %s\" in %s and "
                                 "\"%s %s\" in %s",
                                 k + 1, run_member(a, "goal"), run_member(a, "of"), sides[OLD].folder,
                                 run_member(b, "goal"), run_member(b, "of"), sides[NEW].folder);
    }
    return 0;
}

/* ---- what each found */

static json_t *head_of(const struct side *s)
{
    const json_t *d = s->document;
    return json_make("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:b,s:b,s:s}", "folder", s->folder, "scenario",
                     run_member(d, "scenario"), "lab", run_member(d, "lab"), "strategy",
                     run_member(d, "strategy"), "seed", json_integer_value(json_object_get(d, "seed")),
                     "runs", json_integer_value(json_object_get(d, "runs")), "candidates",
                     json_integer_value(json_object_get(d, "candidates")), "simulated",
                     json_is_true(json_object_get(d, "simulated")), "complete",
                     json_is_true(json_object_get(d, "complete")), "version", run_member(d, "version"));
}

/* The best of a front in one objective, as it is written: {mean, ci95}. */
static const json_t *best_in(const struct side *s, const json_t *objective)
{
    const json_t *entry, *best = NULL;
    size_t i;
    json_array_foreach(json_object_get(s->document, "front"), i, entry)
    {
        const json_t *spread = spread_in(entry, objective);
        double is = json_number_value(json_object_get(spread, "mean")),
               was = json_number_value(json_object_get(best, "mean"));
        if (json_is_number(json_object_get(spread, "mean")) &&
            (!best || (is_max(objective) ? is > was : is < was)))
            best = spread;
    }
    return best;
}

static json_t *objectives_json(const struct side sides[SIDES])
{
    json_t *list = json_array();
    const json_t *objective;
    size_t k;
    json_array_foreach(objectives_of(&sides[NEW]), k, objective)
    {
        json_array_append_new(
            list, json_make("{s:s,s:s,s:s,s:O?,s:O?}", "name", run_member(objective, "name"), "goal",
                            run_member(objective, "goal"), "unit", run_member(objective, "unit"), "old",
                            best_in(&sides[OLD], objective), "new", best_in(&sides[NEW], objective)));
    }
    return list;
}

static void widen(const struct points *points, size_t dimensions, struct vector *least, struct vector *most)
{
    for (size_t i = 0; i < points->count; i++)
        for (size_t k = 0; k < dimensions; k++) {
            least->of[k] = fmin(least->of[k], points->of[i].of[k]);
            most->of[k] = fmax(most->of[k], points->of[i].of[k]);
        }
}

/* How much of the box between the best and the worst of both fronts and all known settings a front
 * dominates: hypervolume (Zitzler and Thiele 1998) as a share. NAN where the box has no volume. */
static double share_of(const struct points *front, size_t dimensions, const struct vector *least,
                       const struct vector *most)
{
    double box = 1;
    for (size_t k = 0; k < dimensions; k++)
        box *= most->of[k] - least->of[k];
    return box > 0 ? front_volume(front->of, front->count, dimensions, most) / box : NAN;
}

/* How many of a front's settings another's are better than. */
static size_t count_beaten(const struct points *front, const struct points *by, size_t dimensions)
{
    size_t beaten = 0;
    for (size_t i = 0; i < front->count; i++) {
        bool is = false;
        for (size_t k = 0; k < by->count; k++)
            is = is || front_dominates(&by->of[k], &front->of[i], dimensions);
        beaten += is;
    }
    return beaten;
}

static json_t *fronts_json(const struct side sides[SIDES])
{
    size_t dimensions = json_array_size(objectives_of(&sides[NEW]));
    struct vector least, most;
    json_t *fronts = json_object();
    for (size_t k = 0; k < SEARCH_MOST_OBJECTIVES; k++) {
        least.of[k] = INFINITY;
        most.of[k] = -INFINITY;
    }
    for (size_t s = 0; s < SIDES; s++) {
        widen(&sides[s].front, dimensions, &least, &most);
        widen(&sides[s].known, dimensions, &least, &most);
    }
    for (size_t s = 0; s < SIDES; s++) {
        double share = share_of(&sides[s].front, dimensions, &least, &most);
        json_object_set_new(fronts, s == OLD ? "old" : "new",
                            json_make("{s:I,s:I,s:o}", "settings", (json_int_t)sides[s].front.count, "beaten",
                                      (json_int_t)count_beaten(&sides[s].front, &sides[!s].front, dimensions),
                                      "dominated", isfinite(share) ? json_real(share) : json_null()));
    }
    return fronts;
}

static void note_differences(const struct side sides[SIDES], json_t *notes)
{
    static const char *const keys[] = {"scenario", "lab", "version", NULL};
    for (size_t i = 0; keys[i]; i++) {
        const char *old = run_member(sides[OLD].document, keys[i]),
                   *new = run_member(sides[NEW].document, keys[i]);
        if (strcmp(old, new) != 0)
            json_array_append_new(notes, json_textf("%s: %s in OLD, %s in NEW", keys[i], old, new));
    }
    if (!json_equal(json_object_get(sides[OLD].document, "parameters"),
                    json_object_get(sides[NEW].document, "parameters")))
        json_array_append_new(notes, json_text("the parameters, their ranges or what was written differ"));
    for (size_t s = 0; s < SIDES; s++) {
        if (!json_is_true(json_object_get(sides[s].document, "complete")))
            json_array_append_new(notes, json_textf("%s has not ended", side_words[s]));
        if (!sides[s].front.count)
            json_array_append_new(notes, json_textf("%s found nothing that is allowed", side_words[s]));
    }
}

json_t *search_compare(const char *old_folder, const char *new_folder, struct error *e)
{
    struct side sides[SIDES] = {0};
    json_t *document = NULL;
    if (files_are_one(old_folder, new_folder))
        error_set(e, "%s and %s are the same search", old_folder, new_folder);
    else if (load_side(&sides[OLD], old_folder, e) == 0 && load_side(&sides[NEW], new_folder, e) == 0 &&
             check_objectives(sides, e) == 0) {
        json_t *notes = json_array();
        note_differences(sides, notes);
        document = json_make("{s:i,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "old", head_of(&sides[OLD]), "new",
                             head_of(&sides[NEW]), "notes", notes, "objectives", objectives_json(sides),
                             "fronts", fronts_json(sides));
    }
    for (size_t s = 0; s < SIDES; s++)
        close_side(&sides[s]);
    return document;
}

/* ---- for people */

static void print_head(const char *word, const json_t *head)
{
    print_out_line("%s  %s", word, run_member(head, "folder"));
    print_out_line("     search of %s in %s%s by %s, seed %lld: %lld candidates in %lld runs, harness %s",
                   run_member(head, "scenario"), run_member(head, "lab"),
                   json_is_true(json_object_get(head, "simulated")) ? " (simulated)" : "",
                   run_member(head, "strategy"), (long long)json_integer_value(json_object_get(head, "seed")),
                   (long long)json_integer_value(json_object_get(head, "candidates")),
                   (long long)json_integer_value(json_object_get(head, "runs")), run_member(head, "version"));
}

static void add_cell(struct words *cells, const json_t *objective, const char *side)
{
    const json_t *spread = json_object_get(objective, side);
    json_t *entry = json_make("{s:{s:O*}}", "objectives", run_member(objective, "name"),
                              json_is_object(spread) ? spread : NULL);
    struct text value = {0};
    candidate_add_value(entry, objective, &value);
    words_add(cells, "%s", text_string(&value));
    text_free(&value);
    json_decref(entry);
}

static void print_objectives(const json_t *list, size_t width)
{
    static const struct columns_style styles[] = {{.title = "best in", .least = 8},
                                                  {.title = "goal"},
                                                  {.title = "OLD", .right = true},
                                                  {.title = "NEW", .right = true}};
    struct words cells = {0};
    const json_t *objective;
    size_t k;
    json_array_foreach((json_t *)(uintptr_t)list, k, objective)
    {
        words_add(&cells, "%s", run_member(objective, "name"));
        words_add(&cells, "%s", run_member(objective, "goal"));
        add_cell(&cells, objective, "old");
        add_cell(&cells, objective, "new");
    }
    columns_print(stdout, styles, 4, (const char *const *)cells.items, json_array_size(list), width);
    words_free(&cells);
}

static void print_front(const char *word, const char *other, const json_t *front)
{
    const json_t *share = json_object_get(front, "dominated");
    long long count = (long long)json_integer_value(json_object_get(front, "settings"));
    struct text line = {0};
    text_add(&line, "%s: %lld best %s, %lld worse than one of %s", word, count, THINGS(count, "setting"),
             (long long)json_integer_value(json_object_get(front, "beaten")), other);
    if (json_is_number(share))
        text_add(&line, "; hypervolume %.1f %%", 100 * json_number_value(share));
    print_out_line("%s", text_string(&line));
    text_free(&line);
}

void search_compare_print(const json_t *c, size_t width)
{
    const json_t *note, *fronts = json_object_get(c, "fronts");
    size_t i;
    print_head("OLD", json_object_get(c, "old"));
    print_head("NEW", json_object_get(c, "new"));
    json_array_foreach(json_object_get(c, "notes"), i, note)
    {
        print_out_line("note: %s", json_string_value(note));
    }
    print_objectives(json_object_get(c, "objectives"), width);
    print_front("OLD", "NEW's", json_object_get(fronts, "old"));
    print_front("NEW", "OLD's", json_object_get(fronts, "new"));
}

int search_compare_status(const json_t *c)
{
    const json_t *fronts = json_object_get(c, "fronts");
    bool both = json_integer_value(json_object_get(json_object_get(fronts, "old"), "settings")) > 0 &&
                json_integer_value(json_object_get(json_object_get(fronts, "new"), "settings")) > 0;
    return both ? EXIT_DONE : EXIT_SKIPPED;
}
