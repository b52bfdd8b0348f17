#include "harness/search/round.h"

#include "harness/run/part.h"
#include "harness/run/results.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/lab_kinds.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include "reports/results/run.h"
#include <stdlib.h>
#include <string.h>

/* ---- the sweep */

/* The candidates' values as a sweep whose paths change together. A new reference. */
static json_t *sweep_of(struct candidate *const *candidates, size_t count)
{
    json_t *lists = json_object(), *value;
    const char *path;
    json_object_foreach(candidates[0]->choice, path, value)
    {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append(list, json_object_get(candidates[i]->choice, path));
        json_put(lists, path, list);
    }
    return json_object_size(lists) == 1 ? lists : json_make("{s:[o]}", "zip", lists);
}

static void set_value(struct words *sets, const char *path, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    words_add(sets, "%s=%s", path, text ? text : "");
    free(text);
}

static void set_values(struct words *sets, const json_t *values)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)values, path, value)
    {
        set_value(sets, path, value);
    }
}

static void add_sets(const struct round *r, struct candidate *const *candidates, size_t count,
                     struct words *sets)
{
    char *const *own = r->request->sets.items;
    for (size_t i = 0; i < r->request->sets.count; i++)
        words_add(sets, "%s", own[i]);
    words_add(sets, "name=%s", r->name);
    words_add(sets, "search=null");
    set_values(sets, r->besides);
    if (!candidates[0]->known) {
        json_t *sweep = sweep_of(candidates, count);
        set_value(sets, "sweep", sweep);
        json_decref(sweep);
        return;
    }
    set_values(sets, candidates[0]->choice);
}

/* A run that is no sweep: it has its result in the round's folder itself. */
static bool is_single(const struct round *r, struct candidate *const *candidates)
{
    return candidates[0]->known && r->repeats == 1;
}

/* ---- its results */

static void add_counter(void *context, const char *role, const char *counter, const char *key)
{
    struct words *parts = context;
    bool all = strpbrk(counter, "*?[.#") || parts->count + 1 == JSON_PARTS_MOST;
    (void)role;
    (void)key;
    if (parts->count < JSON_PARTS_MOST)
        words_add(parts, "hosts.*.counters.%s", all ? "*" : counter);
}

/* What is read of results: what expressions and constraints read, of hosts also that they are there. A result
 * has hundreds of counters. */
static void list_parts(const struct study *study, struct words *parts)
{
    static const char *const always[] = {
        "complete", "stopped_early", "reason",         "warnings",        "expectations",
        "flows",    "collectives",   "hosts.*.origin", "hosts.*.machine", "hosts.*.sampling",
        NULL};
    words_add_all(parts, always);
    for (size_t k = 0; k < study->objective_count; k++)
        expr_each_counter(study->objectives[k].of, add_counter, parts);
}

static json_t *load_result(const char *path, const struct words *parts, struct error *e)
{
    struct folder folder = {.fd = -1};
    json_t *result = NULL;
    error_set(e, "its folder is missing");
    if (path && folder_open(&folder, path, e) == 0)
        result = json_file_load_parts_in(&folder, "result.json", DOCUMENT_RESULT,
                                         (const char *const *)parts->items, e);
    folder_close(&folder);
    return result;
}

/* `result`: NULL for the reason in `e`. false: no run of the round is made again. */
typedef bool each_result(const struct round *r, struct candidate *c, const json_t *result, const char *path,
                         const struct error *e);

static bool take_result(const struct round *r, struct candidate *c, const json_t *result, const char *path,
                        const struct error *e)
{
    if (result)
        candidate_take(c, r->study, result, path + strlen(r->folder) + 1);
    else
        candidate_miss(c, e->text);
    if (result && !candidate_has_run(result))
        log_warning("%s: the run is not complete, and what it would show stays unknown: %s", path,
                    run_member(result, "reason"));
    return true;
}

/* What concerned others is not made again. */
static bool say_lost(const struct round *r, struct candidate *c, const json_t *result, const char *path,
                     const struct error *e)
{
    char *harm = candidate_harm(r->study, result);
    bool again = !harm;
    (void)c;
    if (again && (!result || !candidate_has_run(result)))
        log_warning("%s: the run is not complete, and is made once more: %s", path ? path : r->name,
                    result ? run_member(result, "reason") : e->text);
    free(harm);
    return again;
}

/* Of each candidate in turn all repetitions. */
static bool each(const struct round *r, struct candidate *const *candidates, size_t count, each_result *take)
{
    bool all = true;
    char *sweep = part_last(r->folder, r->name), name[24];
    struct words parts = {0};
    struct error e;
    list_parts(r->study, &parts);
    for (size_t i = 0; i < count * (size_t)r->repeats; i++) {
        results_cell_name(i + 1, name, sizeof name);
        char *path = !sweep ? NULL : is_single(r, candidates) ? xstrdup(sweep) : files_join(sweep, name);
        json_t *result = load_result(path, &parts, &e);
        all &= take(r, candidates[i / (size_t)r->repeats], result, path, &e);
        json_decref(result);
        free(path);
    }
    words_free(&parts);
    free(sweep);
    return all;
}

/* Is there a result of each run, though one of them failed on its hosts? If these are lost, the next run says
 * so. */
static bool all_ended(const struct round *r, bool single)
{
    struct error e;
    struct folder folder = {.fd = -1};
    char *sweep = part_last(r->folder, r->name);
    bool there = sweep && folder_open(&folder, sweep, &e) == 0;
    json_t *index = there && !single ? sweep_index_load(&folder, &e) : NULL;
    bool ended = single ? there && folder_has(&folder, "result.json")
                        : json_is_true(json_object_get(index, "complete"));
    json_decref(index);
    folder_close(&folder);
    free(sweep);
    return ended;
}

int round_run(const struct round *r, struct candidate *const *candidates, size_t count)
{
    struct sweep_request request = *r->request;
    struct words sets = {0};
    struct error e;
    const struct plan *plan = &r->study->plan;
    const struct plan_documents documents = {.scenario = plan->read.scenario,
                                             .lab = plan->read.lab,
                                             .scenario_path = plan->scenario_path,
                                             .lab_path = plan->lab_path,
                                             .folder = plan->folder,
                                             .lab_why = plan->lab_why};
    add_sets(r, candidates, count, &sets);
    if (words_whole(&sets, &e) != 0) {
        log_error("%s", e.text);
        words_free(&sets);
        return EXIT_LAB;
    }
    request.resume = NULL;
    request.out = r->folder;
    request.sets = (struct list_of){.items = sets.items, .count = sets.count};
    request.seed = r->seed;
    request.repeats = r->repeats;
    request.json = false;
    request.quiet = request.no_report = true;
    request.tells_nothing = request.of_search = true;
    request.goes_on = !lab_kind(&plan->first.lab)->simulated;
    if (is_single(r, candidates)) { /* it is made here, not on the cluster */
        request.on = NULL;
        request.engine = NULL;
    }
    request.said = r->said;
    request.kept = r->kept;
    request.stops = r->study->search->stop_early && !candidates[0]->known ? study_stops : NULL;
    request.stops_for = r->study;
    bool single = is_single(r, candidates);
    int status = part_run(&request, &documents, r->name, r->resume);
    if (status == EXIT_LAB && request.goes_on && all_ended(r, single) && each(r, candidates, count, say_lost))
        status = part_run(&request, &documents, r->name, true);
    if (status == EXIT_LAB && request.goes_on && all_ended(r, single))
        status = EXIT_FAILED;
    if (status == EXIT_DONE || status == EXIT_FAILED || status == EXIT_SKIPPED)
        each(r, candidates, count, take_result);
    words_free(&sets);
    return status;
}
