#include "harness/reduce/source.h"

#include "harness/expression/expr.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/find.h"
#include "lib/formats/lab.h"
#include "lib/text.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include "reports/results/differences.h"
#include "reports/results/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which run, and which expectation */

struct looking {
    const char *expect;
    json_t *failed; /* names of those that failed in the run that was found: what they check */
    json_t *seen;   /* names of all; their verdicts in the last run */
    char *folder;   /* of the run that was found; NULL: none yet */
    size_t cells;   /* in which it failed, or one of its name that checks something else */
    bool differ;
    struct text others; /* these cells, the first few */
    bool any_run;
};

/* By itself, or over the repetitions of its cell. */
static enum verdict verdict_in(const struct run *run, const json_t *entry)
{
    const json_t *later = run_judged_later(run, "expectations", entry);
    return verdict_of(run_member(later ? later : entry, "verdict"));
}

static const char *const parts[] = {"schema", "scenario", "files",        "complete",
                                    "phases", "verdict",  "expectations", NULL};

static int look_in(struct looking *l, const char *folder, struct error *e)
{
    struct run run = {0};
    const json_t *entry;
    size_t i;
    int result = run_load_parts(&run, folder, NULL, parts, e);
    if (result == 0)
        run_look_for_sweep(&run);
    l->any_run = l->any_run || result == 0;
    json_array_foreach(run_get(&run, "expectations"), i, entry)
    {
        enum verdict verdict = verdict_in(&run, entry);
        const char *name = run_member(entry, "name");
        json_put(l->seen, name, json_text(verdict_names[verdict]));
        if (verdict == VERDICT_FAILED && (!l->expect || strcmp(l->expect, name) == 0))
            json_put(l->failed, name, json_text(run_member(entry, "check")));
    }
    if (json_object_size(l->failed))
        l->folder = xstrdup(folder);
    run_free(&run);
    return result;
}

#define CELLS_NAMED 4

/* Does the one that was found, or another one of its name, fail in this run as well? */
static void look_again(struct looking *l, const json_t *cell, const char *name, const char *folder)
{
    struct run run = {0};
    struct error ignored;
    const char *expect, *check = NULL;
    const json_t *entry;
    json_t *was;
    size_t i;
    if (run_load_parts(&run, folder, NULL, parts, &ignored) == 0)
        run_look_for_sweep(&run);
    json_array_foreach(run_get(&run, "expectations"), i, entry)
    {
        was = json_object_get(l->failed, run_member(entry, "name"));
        if (was && verdict_in(&run, entry) == VERDICT_FAILED)
            check = run_member(entry, "check");
    }
    if (check) {
        json_object_foreach(l->failed, expect, was) l->differ |= strcmp(json_string_value(was), check) != 0;
        if (l->cells++ < CELLS_NAMED) {
            text_add(&l->others, "%s%s", l->others.length ? "; " : "", name);
            choices_add(json_object_get(cell, "cell"), &l->others);
        }
    }
    run_free(&run);
}

static int look_in_sweep(struct looking *l, const struct folder *folder, struct error *e)
{
    json_t *index = sweep_index_load(folder, e), *cell, *taken = json_object();
    size_t i;
    json_array_foreach(json_object_get(index, "cells"), i, cell)
    {
        struct error ignored;
        const char *name = run_cell_folder(cell, taken);
        char *path = name ? files_join(folder->path, name) : NULL;
        if (path && !l->folder)
            look_in(l, path, &ignored);
        if (path && json_object_size(l->failed) == 1 &&
            verdict_of(run_member(cell, "verdict")) == VERDICT_FAILED)
            look_again(l, cell, name, path);
        free(path);
    }
    json_decref(taken);
    json_decref(index);
    return index ? 0 : -1;
}

static void add_names(struct text *words, const json_t *names)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)names, name, value)
    {
        text_add(words, "%s\"%s\"", words->length ? ", " : "", name);
    }
}

static int refuse_unknown(const struct looking *l, const char *result, struct error *e)
{
    struct words names = {0};
    const char *name;
    json_t *value;
    json_object_foreach(l->seen, name, value)
    {
        words_add(&names, "%s", name);
    }
    const char *near = names.count ? nearest_word(l->expect, (const char *const *)names.items) : NULL;
    struct text all = {0};
    add_names(&all, l->seen);
    error_set(e, "%s has no expectation \"%s\": %s%s%s%s", result, l->expect, near ? "perhaps \"" : "",
              near         ? near
              : all.length ? text_string(&all)
                           : "it has none",
              near ? "\"" : "", near || !all.length ? "" : " are there");
    text_free(&all);
    words_free(&names);
    return -1;
}

/* Is there one, and only one? */
static int check_found(const struct looking *l, const char *result, struct error *e)
{
    struct text names = {0};
    const char *verdict = l->expect ? json_string_value(json_object_get(l->seen, l->expect)) : NULL;
    if (!l->any_run)
        return error_set(e, "%s has no run that can be read: expected a result with expectations", result);
    if (l->expect && !verdict)
        return refuse_unknown(l, result, e);
    if (!l->folder)
        return l->expect ? error_set(e, "%s: \"%s\" did not fail, it was %s: nothing is to be reduced",
                                     result, l->expect, *verdict ? verdict : "not judged")
                         : error_set(e, "%s: no expectation failed: nothing is to be reduced", result);
    if (l->differ)
        return error_set(e,
                         "%s: %zu cells fail what has this name, and it is not the same in all of them: "
                         "expected the folder of one of the cells, such as %s",
                         result, l->cells, text_string(&l->others));
    if (json_object_size(l->failed) == 1)
        return 0;
    add_names(&names, l->failed);
    error_set(e, "%s: several expectations failed: expected --expect with one of %s", l->folder,
              text_string(&names));
    text_free(&names);
    return -1;
}

/* ---- its scenario */

/* That of the name which was judged in the run: one of other cells may have its name. */
static const json_t *written_expectation(const json_t *scenario, const char *name, const char *check)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(scenario, "expect"), i, entry)
    {
        if (strcmp(run_member(entry, "name"), name) == 0 && strcmp(run_member(entry, "check"), check) == 0)
            return entry;
    }
    return NULL;
}

/* One run shows it by itself? */
static int check_expectation(const json_t *written, const char *name, struct error *e)
{
    struct expr *check = written ? expr_compile(run_member(written, "check"), true, e) : NULL;
    bool other = check && expr_reads_other(check);
    int result = !written ? error_set(e, "its scenario has no expectation \"%s\"", name)
                 : !check ? -1
                 : other || json_object_get(written, "against")
                     ? error_set(e,
                                 "\"%s\" compares two cells of a sweep: expected an expectation that one run "
                                 "can fail",
                                 name)
                     : 0;
    expr_free(check);
    return result;
}

/* Its paths are those that the run had, which began where that was made; also from the folder of a finding,
 * which has the lab beside its scenario. */
static json_t *lab_from_anywhere(const json_t *lab, const char *lab_path, const char *working)
{
    char *here = *working ? xstrdup(working) : get_current_dir_name(), *path = find_path_from(here, lab_path);
    json_t *copy = path ? lab_from_elsewhere(lab, path) : NULL;
    free(path);
    free(here);
    return copy;
}

int source_of(const json_t *result, const char *folder, const char *name, const char *check,
              struct reduce_source *source, struct error *e)
{
    static const char *const other[] = {
        "title", "lab", "sweep", "search", "published", "published_conditions", "capture", "verify", NULL};
    const json_t *scenario = json_object_get(result, "scenario"), *lab = json_object_get(result, "lab");
    if (!json_is_object(scenario) || !json_is_object(lab))
        return error_set(e, "%s has no scenario or no lab, as what was captured or imported: expected a run",
                         folder);
    *source = (struct reduce_source){
        .scenario = json_copy((json_t *)(uintptr_t)scenario),
        .lab = lab_from_anywhere(lab, run_member(result, "lab_file"), run_member(result, "working_folder")),
        .seed = json_integer_value(json_object_get(result, "seed")),
        .lab_path = xstrdup(run_member(result, "lab_file")),
        .from = xstrdup(folder)};
    for (size_t i = 0; other[i]; i++)
        json_object_del(source->scenario, other[i]);
    json_object_set_new(source->scenario, "expect", json_make("[{s:s,s:s}]", "name", name, "check", check));
    return 0;
}

static int read_source(struct reduce_source *source, const char *folder, const json_t *failed,
                       struct error *e)
{
    void *first = json_object_iter((json_t *)(uintptr_t)failed);
    const char *name = json_object_iter_key(first), *check = json_string_value(json_object_iter_value(first));
    char *path = files_join(folder, "result.json");
    json_t *result = path ? json_file_load(path, DOCUMENT_RESULT, e) : NULL;
    int status = result ? source_of(result, folder, name, check, source, e) : -1;
    if (status == 0 &&
        check_expectation(written_expectation(json_object_get(result, "scenario"), name, check), name, e) !=
            0)
        status = error_prefix(e, "%s", folder);
    json_decref(result);
    free(path);
    return status;
}

int source_find(const char *result, const char *expect, struct reduce_source *source, struct error *e)
{
    struct looking l = {.expect = expect, .failed = json_object(), .seen = json_object()};
    struct folder folder = {.fd = -1};
    *source = (struct reduce_source){0};
    int found = folder_open(&folder, result, e);
    if (found == 0)
        found = sweep_index_exists(&folder) ? look_in_sweep(&l, &folder, e) : look_in(&l, result, e);
    if (found == 0)
        found = check_found(&l, result, e);
    if (found == 0)
        found = read_source(source, l.folder, l.failed, e);
    if (found == 0 && l.cells > 1)
        source->note =
            xasprintf("%zu cells fail it, of which the first, %s, is reduced: for another one give "
                      "its folder: %s%s",
                      l.cells, l.folder, text_string(&l.others), l.cells > CELLS_NAMED ? ", ..." : "");
    text_free(&l.others);
    folder_close(&folder);
    json_decref(l.failed);
    json_decref(l.seen);
    free(l.folder);
    return found;
}

void source_free(struct reduce_source *source)
{
    json_decref(source->scenario);
    json_decref(source->lab);
    json_decref(source->healthy);
    free(source->lab_path);
    free(source->from);
    free(source->note);
    *source = (struct reduce_source){0};
}
