#include "harness/search/round.h"

#include "harness/run/part.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include "lib/words.h"
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

/* ---- its results */

static void take_result(const struct round *r, struct candidate *c, const char *sweep, const char *cell)
{
    struct error e;
    char *folder = cell ? files_join(sweep, cell) : strdup(sweep);
    char *path = folder ? files_join(folder, "result.json") : NULL;
    json_t *result = path ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    if (result)
        candidate_take(c, r->study, result, folder + strlen(r->folder) + 1);
    else
        candidate_miss(c, e.text);
    json_decref(result);
    free(path);
    free(folder);
}

static void take_results(const struct round *r, struct candidate *const *candidates, size_t count)
{
    struct error e;
    struct folder folder = {.fd = -1};
    char *sweep = part_last(r->folder, r->name);
    json_t *index = NULL, *cell, *taken = json_object();
    size_t i;
    if (!sweep || folder_open(&folder, sweep, &e) != 0) {
        for (i = 0; i < count; i++)
            candidate_miss(candidates[i], "its folder is missing");
    } else if (!sweep_index_exists(&folder)) {
        take_result(r, candidates[0], sweep, NULL);
    } else if ((index = sweep_index_load(&folder, &e))) {
        json_array_foreach(json_object_get(index, "cells"), i, cell)
        {
            const char *name = run_cell_folder(cell, taken);
            size_t number = name ? (size_t)strtoul(name, NULL, 10) : 0,
                   at = (number - 1) / (size_t)r->repeats;
            if (number && at < count)
                take_result(r, candidates[at], sweep, name);
        }
    }
    folder_close(&folder);
    json_decref(taken);
    json_decref(index);
    free(sweep);
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
    request.tells_nothing = true;
    request.said = r->said;
    int status = part_run(&request, &documents, r->name, r->resume);
    if (status == EXIT_DONE || status == EXIT_FAILED || status == EXIT_SKIPPED)
        take_results(r, candidates, count);
    words_free(&sets);
    return status;
}
