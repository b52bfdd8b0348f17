#include "harness/run/sweep.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "harness/preflight/ecn.h"
#include "harness/run/experiment.h"
#include "harness/run/figures.h"
#include "harness/run/foresee.h"
#include "harness/run/results.h"
#include "lib/files.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "lib/text.h"
#include "reports/reports.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sweep {
    const struct sweep_request *request;
    struct plan plan;
    struct interrupt interrupt;
    struct progress progress;
    char *folder;
    json_t *index;
    enum verdict verdict;
    enum ending ending;
    struct error why;
    bool deaf; /* standard output cannot be written */
};

static size_t run_count(const struct sweep *s)
{
    return s->plan.cell_count * (size_t)s->request->repeats;
}

/* ---- what people read */

/* "flows.*.memory gpu, phases.measure 2s" */
static void describe_choice(const json_t *choice, struct text *out)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)choice, path, value)
    {
        char *shown = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        text_add(out, "%s%s %s", out->length ? ", " : "", path, shown ? shown : json_string_value(value));
        free(shown);
    }
}

static void print_expectations(const json_t *result)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(result, "expectations"), i, entry)
    {
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        if (reason && strncmp(reason, "only when", 9) == 0)
            continue;
        print_out("  %-8s %s (%s)\n", verdict, json_string_value(json_object_get(entry, "name")),
                  reason ? reason : "");
    }
    json_array_foreach(json_object_get(result, "published"), i, entry)
    {
        const json_t *difference = json_object_get(entry, "difference_percent");
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        double percent = json_number_value(difference);
        if (reason)
            print_out("  published %s: not compared (%s)\n",
                      json_string_value(json_object_get(entry, "name")), reason);
        else if (difference)
            print_out("  published %s: %.6g %s, measured %.6g (%+.1f %%)\n",
                      json_string_value(json_object_get(entry, "name")),
                      json_number_value(json_object_get(entry, "published")),
                      json_string_value(json_object_get(entry, "unit")),
                      json_number_value(json_object_get(entry, "measured")),
                      fabs(percent) < 0.05 ? 0.0 : percent);
    }
}

static void print_run(struct sweep *s, const struct cell *cell, const char *folder, enum verdict verdict)
{
    struct text label = {0};
    struct error e;
    char *path = files_join(folder, "result.json");
    json_t *result = path ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    describe_choice(cell->choice, &label);
    progress_clear(&s->progress);
    const char *origin = origin_word(origin_of_result(result));
    print_out("%s%s%s: %s%s%s%s\n", cell->scenario.name, label.length ? ", " : "", text_string(&label),
              verdict_names[verdict], origin ? " (" : "", origin ? origin : "", origin ? ")" : "");
    figures_print_flows(result);
    print_expectations(result);
    const char *reason = json_string_value(json_object_get(result, "reason"));
    if (reason &&
        verdict != VERDICT_INCOMPLETE) /* an incomplete run ends the sweep, and its error is printed then */
        print_out("  %s\n", reason);
    if (fflush(stdout) != 0 && !s->deaf) {
        log_warning("standard output cannot be written: %s; the run goes on, its result is %s",
                    strerror(errno), s->folder);
        s->deaf = true;
    }
    json_decref(result);
    free(path);
    text_free(&label);
}

static void print_dry_run(const struct sweep *s)
{
    print_out("scenario %s\nlab %s (%s, chosen by %s)\n", s->plan.scenario_path, s->plan.lab_path,
              lab_kind(&s->plan.cells[0].lab)->name, s->plan.lab_why);
    print_out("%zu run%s into %s/%s\n", run_count(s), run_count(s) == 1 ? "" : "s", s->request->out,
              s->plan.cells[0].scenario.name);
    for (size_t i = 0; i < s->plan.cell_count; i++) {
        struct text label = {0};
        describe_choice(s->plan.cells[i].choice, &label);
        print_out("  %02zu %s\n", i * (size_t)s->request->repeats + 1,
                  label.length ? text_string(&label) : "without changes");
        text_free(&label);
    }
    json_t *shown =
        json_make("{s:O,s:O}", "scenario", s->plan.cells[0].scenario_json, "lab", s->plan.cells[0].lab_json);
    if (s->request->json)
        json_print(stdout, shown, 17);
    json_decref(shown);
}

static void say_lab(const struct sweep *s)
{
    const struct lab *lab = &s->plan.cells[0].lab;
    if (s->request->quiet || strcmp(s->plan.lab_why, "--lab") == 0)
        return;
    log_info("lab %s (chosen by %s)%s", lab->name, s->plan.lab_why,
             lab_kind(lab)->simulated ? ": the results are simulated" : "");
}

/* ---- the index */

static bool has_index(const struct sweep *s)
{
    return run_count(s) > 1 || json_object_size(s->plan.sweep) > 0;
}

static json_t *new_index(const struct sweep *s)
{
    const struct cell *first = &s->plan.cells[0];
    char *started = results_time();
    json_t *index = json_make("{s:i,s:s,s:s,s:s,s:s?,s:b,s:b,s:s,s:s?,s:O,s:I,s:[]}", "schema", 1, "program",
                              "harness", "version", HARNESS_VERSION, "scenario", first->scenario.name,
                              "title", first->scenario.title, "simulated", lab_kind(&first->lab)->simulated,
                              "complete", 0, "verdict", "incomplete", "started", started, "sweep",
                              s->plan.sweep, "repeats", (json_int_t)s->request->repeats, "cells");
    free(started);
    return index;
}

static int write_index(struct sweep *s, bool whole, struct error *e)
{
    char *finished = results_time(), *path = files_join(s->folder, "index.json");
    json_object_set_new(s->index, "complete", json_boolean(whole && s->ending == ENDING_WHOLE));
    json_object_set_new(s->index, "verdict",
                        json_text(verdict_names[whole ? s->verdict : VERDICT_INCOMPLETE]));
    json_object_set_new(s->index, "finished", json_text(finished ? finished : ""));
    if (s->ending != ENDING_WHOLE)
        json_object_set_new(s->index, "reason", json_text(s->why.text));
    int result = !path ? error_set(e, "out of memory") : has_index(s) ? json_file_save(path, s->index, e) : 0;
    free(finished);
    free(path);
    return result;
}

static void add_to_index(struct sweep *s, const struct cell *cell, const char *name, size_t repeat,
                         struct outcome outcome)
{
    json_array_append_new(json_object_get(s->index, "cells"),
                          json_make("{s:s,s:O,s:I,s:s,s:s,s:b}", "folder", name, "cell", cell->choice,
                                    "repeat", (json_int_t)repeat, "origin", origin_names[outcome.origin],
                                    "verdict", verdict_names[outcome.verdict], "complete",
                                    outcome.ending == ENDING_WHOLE));
    json_object_set_new(s->index, "origin", json_text(origin_names[origin_of_result(s->index)]));
    if (outcome.verdict > s->verdict)
        s->verdict = outcome.verdict;
}

/* ---- running */

static int fail(struct sweep *s, enum ending ending, const struct error *e)
{
    if (s->ending == ENDING_WHOLE) {
        s->ending = ending;
        s->why = *e;
    }
    return -1;
}

static int run_cell(struct sweep *s, const struct cell *cell, size_t number, size_t repeat)
{
    struct error e;
    struct text label = {0};
    char *folder = has_index(s) ? results_make_cell(s->folder, number, &e) : strdup(s->folder);
    if (!folder)
        return fail(s, ENDING_LAB_FAILED, &e);
    describe_choice(cell->choice, &label);
    s->progress.cell = number;
    s->progress.cells = run_count(s);
    s->progress.label = text_string(&label);
    struct experiment x = {.plan = &s->plan,
                           .cell = cell,
                           .folder = folder,
                           .seed = (uint64_t)s->request->seed + repeat - 1,
                           .repeat = repeat,
                           .interrupt = &s->interrupt,
                           .progress = &s->progress};
    struct outcome outcome = experiment_run(&x, &e);
    progress_clear(&s->progress);
    if (outcome.ending != ENDING_WHOLE)
        fail(s, outcome.ending, &e);
    const char *slash = strrchr(folder, '/');
    add_to_index(s, cell, slash ? slash + 1 : folder, repeat, outcome);
    if (!s->request->quiet && !s->request->json && outcome.ending != ENDING_NOT_STARTED)
        print_run(s, cell, folder, outcome.verdict);
    text_free(&label);
    free(folder);
    return s->ending == ENDING_WHOLE ? 0 : -1;
}

static void run_cells(struct sweep *s)
{
    struct error e;
    size_t number = 0;
    bool whole = true;
    for (size_t i = 0; whole && i < s->plan.cell_count; i++)
        for (size_t repeat = 1; whole && repeat <= (size_t)s->request->repeats; repeat++) {
            whole = run_cell(s, &s->plan.cells[i], ++number, repeat) == 0;
            if (write_index(s, whole && number == run_count(s), &e) != 0) {
                fail(s, ENDING_LAB_FAILED, &e);
                whole = false;
            }
        }
}

/* Only a folder that was written completely is a result. */
static bool is_result(const char *folder)
{
    char *result = files_join(folder, "result.json"), *index = files_join(folder, "index.json");
    bool is = (result && files_exist(result)) || (index && files_exist(index));
    free(result);
    free(index);
    return is;
}

static void report(struct sweep *s)
{
    struct error e;
    struct text page = {0};
    const char *folders[] = {s->folder};
    if (s->request->no_report || s->ending == ENDING_NOT_STARTED || !is_result(s->folder))
        return;
    progress_say(&s->progress, "drawing report");
    int result = report_make(folders, 1, &(struct report_options){0}, &page, &e);
    progress_clear(&s->progress);
    if (result != 0)
        log_warning("no report: %s", e.text);
    else if (!s->request->quiet && !s->request->json)
        print_out("report: %s\n", text_string(&page));
    text_free(&page);
}

/* Remove the folder of a run, and the scenario's folder if it is then empty. */
static void remove_folder(char *folder)
{
    char *slash = strrchr(folder, '/');
    files_remove_tree(folder, NULL);
    if (!slash)
        return;
    *slash = '\0';
    rmdir(folder);
    *slash = '/';
}

/* The index with the figures of each run, and where they are. */
static void print_json(struct sweep *s)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(s->index, "cells"), i, cell)
    {
        struct error e;
        const char *name = json_string_value(json_object_get(cell, "folder"));
        char *folder = has_index(s) ? files_join(s->folder, name) : strdup(s->folder);
        char *path = folder ? files_join(folder, "result.json") : NULL;
        json_t *result = path && files_exist(path) ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
        json_t *figures = result ? figures_json(result) : NULL;
        json_object_update(cell, figures);
        json_decref(figures);
        json_decref(result);
        free(path);
        free(folder);
    }
    json_object_set_new(s->index, "result", json_text(s->folder));
    json_print(stdout, s->index, 12);
}

static int exit_status(struct sweep *s)
{
    if (s->ending == ENDING_INTERRUPTED ||
        (s->ending == ENDING_NOT_STARTED && interrupt_count(&s->interrupt) > 0))
        return EXIT_INTERRUPTED;
    if (s->ending != ENDING_WHOLE)
        return EXIT_LAB;
    static const int statuses[] = {EXIT_SKIPPED, EXIT_DONE, EXIT_FAILED, EXIT_LAB};
    return statuses[s->verdict];
}

static int run_all(struct sweep *s)
{
    struct error e;
    s->folder = results_make_folder(s->request->out, s->plan.cells[0].scenario.name, &e);
    if (!s->folder || interrupt_open(&s->interrupt, &e) != 0) {
        log_error("%s", e.text);
        return EXIT_USAGE;
    }
    say_lab(s);
    s->index = new_index(s);
    run_cells(s);
    if (s->ending != ENDING_WHOLE)
        log_error("%s", s->why.text);
    if (s->ending == ENDING_NOT_STARTED && json_array_size(json_object_get(s->index, "cells")) == 1) {
        remove_folder(s->folder); /* nothing was done: leave no folder behind */
    } else {
        if (is_result(s->folder) && results_point_latest(s->folder, &e) != 0)
            log_warning("%s", e.text);
        report(s);
        if (s->request->json)
            print_json(s);
        else if (!s->request->quiet)
            print_out("result: %s\n", s->folder);
    }
    interrupt_close(&s->interrupt);
    return exit_status(s);
}

int sweep_run(const struct sweep_request *request)
{
    struct sweep s = {.request = request, .interrupt.fd = -1};
    struct error e;
    struct plan_request plan = {.scenario = request->scenario,
                                .lab = request->lab,
                                .sets = request->sets.items,
                                .set_count = request->sets.count,
                                .duration_ns = request->duration_ns,
                                .seed = (uint64_t)request->seed};
    int status = EXIT_DONE;
    if (plan_load(&plan, &s.plan, &e) != 0 || foresee(&s.plan, &e) != 0) {
        log_error("%s", e.text);
        plan_free(&s.plan);
        return EXIT_USAGE;
    }
    progress_open(&s.progress, request->quiet != 0);
    ecn_warn(&s.plan);
    if (request->dry_run)
        print_dry_run(&s);
    else
        status = run_all(&s);
    free(s.folder);
    json_decref(s.index);
    plan_free(&s.plan);
    return status;
}
