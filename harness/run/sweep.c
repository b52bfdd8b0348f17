#include "harness/run/sweep_inside.h"
#include "lib/document/json_text.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "harness/doctor/check.h"
#include "harness/run/figures.h"
#include "harness/run/request.h"
#include "harness/run/summary.h"
#include "harness/run/workers.h"
#include "harness/run/foresee.h"
#include "harness/run/results.h"
#include "harness/judge/repeated.h"
#include "lib/files.h"
#include "lib/folder/sweep_index.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include "reports/reports.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_WHOLE 20 /* runs; of more, only those that did not pass are printed */

/* ---- what people read */

static void print_dry_run(const struct sweep *s)
{
    print_out("scenario %s\nlab %s (%s, chosen by %s)\n", s->plan.scenario_path, s->plan.lab_path,
              lab_kind(&s->plan.first.lab)->name, s->plan.lab_why);
    print_out("%zu run%s into %s%s%s\n", sweep_run_count(s), sweep_run_count(s) == 1 ? "" : "s",
              s->request->resume ? s->request->resume : s->request->out, s->request->resume ? "" : "/",
              s->request->resume ? "" : s->plan.first.scenario.name);
    for (size_t i = 0; i < s->plan.cell_count; i++) {
        struct text label = {0};
        json_t *choice = choices_at(&s->plan.choices, i);
        summary_choice(choice, &label);
        json_decref(choice);
        print_out("  %02zu %s\n", i * (size_t)s->request->repeats + 1,
                  label.length ? text_string(&label) : "without changes");
        text_free(&label);
    }
    json_t *shown =
        json_make("{s:O,s:O}", "scenario", s->plan.first.scenario_json, "lab", s->plan.first.lab_json);
    if (s->request->json)
        json_print(stdout, shown, 17);
    json_decref(shown);
}

static void say_lab(const struct sweep *s)
{
    const struct lab *lab = &s->plan.first.lab;
    if (s->request->quiet || strcmp(s->plan.lab_why, "--lab") == 0)
        return;
    log_info("lab %s (chosen by %s)%s", lab->name, s->plan.lab_why,
             lab_kind(lab)->simulated ? ": the results are simulated" : "");
}

/* ---- the index */

static json_t *index_head(const struct sweep *s)
{
    const struct cell *first = &s->plan.first;
    char *started = results_time();
    json_t *head = json_make("{s:i,s:s,s:s,s:s,s:s?,s:b,s:b,s:s,s:s?,s:O,s:I}", "schema", 1, "program",
                             "harness", "version", HARNESS_VERSION, "scenario", first->scenario.name, "title",
                             first->scenario.title, "simulated", lab_kind(&first->lab)->simulated, "complete",
                             0, "verdict", "incomplete", "started", started, "sweep", s->plan.sweep,
                             "repeats", (json_int_t)s->request->repeats);
    free(started);
    return head;
}

char *sweep_folder_of(const struct sweep *s, size_t run)
{
    char name[24];
    results_cell_name(run + 1, name, sizeof name);
    return sweep_has_index(s) ? files_join(s->folder, name) : strdup(s->folder);
}

json_t *sweep_entry(const struct sweep *s, size_t run, struct outcome outcome)
{
    char *folder = sweep_folder_of(s, run);
    const char *slash = folder ? strrchr(folder, '/') : NULL;
    json_t *entry =
        json_make("{s:s,s:o,s:I,s:s,s:s,s:b}", "folder", slash ? slash + 1 : s->folder, "cell",
                  choices_at(&s->plan.choices, sweep_cell_of(s, run)), "repeat",
                  (json_int_t)sweep_repeat_of(s, run), "origin", origin_names[outcome.origin], "verdict",
                  verdict_names[outcome.verdict], "complete", outcome.ending == ENDING_WHOLE);
    free(folder);
    return entry;
}

/* ---- running */

int sweep_fail(struct sweep *s, enum ending ending, const struct error *e)
{
    if (s->ending == ENDING_WHOLE) {
        s->ending = ending;
        s->why = *e;
    }
    return -1;
}

static bool prints(const struct sweep *s, struct outcome outcome)
{
    return !s->request->quiet && !s->request->json && outcome.ending != ENDING_NOT_STARTED &&
           (sweep_run_count(s) <= SHOWN_WHOLE || outcome.verdict > VERDICT_PASSED);
}

void sweep_print_run(const struct sweep *s, size_t run, const char *folder, const json_t *result,
                     struct outcome outcome)
{
    struct error e;
    if (!prints(s, outcome))
        return;
    const struct cell *cell = plan_cell(&s->plan, sweep_cell_of(s, run), &e);
    char *path = result ? NULL : files_join(folder, "result.json");
    json_t *read = path && files_exist(path) ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    if (cell)
        summary_print(cell, folder, result ? result : read, outcome.verdict,
                      sweep_run_count(s) > SHOWN_WHOLE);
    json_decref(read);
    free(path);
    plan_release(&s->plan, cell);
}

struct outcome sweep_run_in(struct sweep *s, size_t run, const char *folder, json_t **result, struct error *e)
{
    struct outcome outcome = {.ending = ENDING_LAB_FAILED, .verdict = VERDICT_INCOMPLETE};
    const struct cell *cell = plan_cell(&s->plan, sweep_cell_of(s, run), e);
    struct text label = {0};
    if (!cell)
        return outcome;
    summary_choice(cell->choice, &label);
    s->progress.cell = s->kept + s->ended + 1;
    s->progress.cells = sweep_run_count(s);
    s->progress.label = text_string(&label);
    struct experiment x = {.plan = &s->plan,
                           .cell = cell,
                           .folder = folder,
                           .seed = sweep_seed_of(s, run),
                           .threads = (uint32_t)s->threads,
                           .repeat = sweep_repeat_of(s, run),
                           .repeats = (size_t)s->request->repeats,
                           .interrupt = &s->interrupt,
                           .progress = &s->progress,
                           .kept = s->left,
                           .keep = sweep_next_wants_same(s, cell),
                           .opened = s->foreseen.lab,
                           .result = result};
    outcome = experiment_run(&x, e);
    progress_clear(&s->progress);
    text_free(&label);
    plan_release(&s->plan, cell);
    return outcome;
}

static struct outcome run_in_place(struct sweep *s, size_t run, struct error *e)
{
    struct outcome outcome = {.ending = ENDING_LAB_FAILED, .verdict = VERDICT_INCOMPLETE};
    char *folder = sweep_has_index(s) ? results_make_cell(s->folder, run + 1, e) : strdup(s->folder);
    json_t *result = NULL;
    if (folder) {
        outcome = sweep_run_in(s, run, folder, &result, e);
        sweep_print_run(s, run, folder, result, outcome);
    }
    json_decref(result);
    free(folder);
    return outcome;
}

/* A run has ended: into the index with it. */
bool sweep_count_run(struct sweep *s, size_t run, struct outcome outcome, const struct error *why)
{
    struct error e;
    s->any_started |= outcome.ending != ENDING_NOT_STARTED;
    s->ended++;
    if (outcome.ending != ENDING_WHOLE)
        sweep_fail(s, outcome.ending, why);
    if (index_add(&s->index, run, sweep_entry(s, run, outcome), &e) != 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    return s->ending == ENDING_WHOLE;
}

void sweep_look_at_output(struct sweep *s)
{
    if (fflush(stdout) == 0 || s->deaf)
        return;
    log_warning("standard output cannot be written: %s; the run goes on, its result is %s", strerror(errno),
                s->folder);
    s->deaf = true;
}

static void run_in_turn(struct sweep *s)
{
    struct error e;
    bool more = true;
    sweep_keeps_settings(s);
    for (size_t k = 0; more && k < s->todo_count; k++) {
        s->next = k + 1 < s->todo_count ? s->todo[k + 1] : SIZE_MAX;
        struct outcome outcome = s->run_one(s, s->todo[k], &e);
        sweep_look_at_output(s);
        more = sweep_count_run(s, s->todo[k], outcome, &e);
    }
    sweep_restore_kept(s);
}

void sweep_run_here(struct sweep *s)
{
    if (lab_kind(&s->plan.first.lab)->simulated && sweep_run_count(s) > 1)
        sweep_run_side_by_side(s);
    else
        run_in_turn(s);
}

static void run_todo(struct sweep *s)
{
    if (s->request->engine)
        s->request->engine->run(s->request->engine, s);
    else
        sweep_run_here(s);
}

/* The run at a place in the order of running. On real hosts all cells come once, then again: what drifts there meets all cells alike. A
 * simulated run is the same whenever it is made. */
static size_t run_at(const struct sweep *s, size_t place)
{
    size_t cells = s->plan.cell_count;
    if (lab_kind(&s->plan.first.lab)->simulated)
        return place;
    return place % cells * (size_t)s->request->repeats + place / cells;
}

void sweep_list_todo(struct sweep *s)
{
    s->todo_count = s->ended = s->printed = 0;
    for (size_t place = 0; place < sweep_run_count(s); place++) {
        size_t run = run_at(s, place);
        if (!s->index.entries[run])
            s->todo[s->todo_count++] = run;
    }
}

/* ---- the whole */

/* Only a folder that was written completely is a result. */
static bool is_result(const char *folder)
{
    char *result = files_join(folder, "result.json"), *index = files_join(folder, SWEEP_INDEX);
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

/* The result of a run by the name of its folder; NULL if it has none that can be read. */
static json_t *result_in(const struct sweep *s, const char *name)
{
    struct error e;
    char *folder = sweep_has_index(s) ? files_join(s->folder, name) : strdup(s->folder);
    char *path = folder ? files_join(folder, "result.json") : NULL;
    bool there = path && files_exist(path);
    json_t *result = there ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    if (there && !result)
        log_warning("%s", e.text);
    free(path);
    free(folder);
    return result;
}

/* The index with the figures of each run, and where they are. */
static void print_json(struct sweep *s)
{
    size_t i;
    json_t *cell, *document = index_document(&s->index);
    json_array_foreach(json_object_get(document, "cells"), i, cell)
    {
        json_t *result = result_in(s, json_string_value(json_object_get(cell, "folder")));
        json_t *figures = result ? figures_json(result) : NULL;
        json_object_update(cell, figures);
        json_decref(figures);
        json_decref(result);
    }
    json_object_set_new(document, "result", json_text(s->folder));
    json_print(stdout, document, 12);
    json_decref(document);
}

/* ---- what is judged beyond single runs */

static const char *name_of_run(void *context, size_t run)
{
    const struct sweep *s = context;
    return json_string_value(json_object_get(s->index.entries[run], "folder"));
}

static json_t *load_run(void *context, size_t run)
{
    const struct sweep *s = context;
    const json_t *entry = s->index.entries[run];
    return json_is_true(json_object_get(entry, "complete")) ? result_in(s, name_of_run(context, run)) : NULL;
}

static void print_judged(void *context, const struct repeated_cell *judged)
{
    const struct sweep *s = context;
    if (!s->request->quiet && !s->request->json)
        summary_print_repeated(judged, sweep_run_count(s) > SHOWN_WHOLE);
}

static void judge_cells(struct sweep *s)
{
    struct error e;
    struct repeated repeated;
    json_t *index = repeated_wanted(&s->plan, (size_t)s->request->repeats) ? index_document(&s->index) : NULL;
    if (!index)
        return;
    const struct repeated_source source = {.plan = &s->plan,
                                           .repeats = (size_t)s->request->repeats,
                                           .index = index,
                                           .context = s,
                                           .load = load_run,
                                           .name = name_of_run,
                                           .judged = print_judged};
    if (repeated_make(&source, &repeated, &e) != 0) {
        log_error("%s", e.text);
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    }
    memcpy(s->index.judged, repeated.with, sizeof repeated.with);
    json_object_set_new(s->index.head, "repeated", repeated.cells);
    if (repeated.left_out)
        json_object_set_new(s->index.head, "repeated_left_out", json_integer((json_int_t)repeated.left_out));
    json_decref(index);
}

static int exit_status(struct sweep *s)
{
    if (s->ending == ENDING_INTERRUPTED ||
        (s->ending == ENDING_NOT_STARTED && interrupt_count(&s->interrupt) > 0))
        return EXIT_INTERRUPTED;
    if (s->ending != ENDING_WHOLE)
        return EXIT_LAB;
    static const int statuses[] = {EXIT_SKIPPED, EXIT_DONE, EXIT_FAILED, EXIT_LAB};
    return statuses[index_verdict(&s->index)];
}

/* " 60 passed, 4 failed" */
static void print_counts(const size_t with[VERDICT_INCOMPLETE + 1])
{
    const char *comma = "";
    for (enum verdict v = VERDICT_SKIPPED; v <= VERDICT_INCOMPLETE; v++)
        if (with[v]) {
            print_out("%s %zu %s", comma, with[v], verdict_names[v]);
            comma = ",";
        }
}

/* "64 runs: 60 passed, 4 failed" */
static void print_verdicts(const struct sweep *s)
{
    size_t judged = 0;
    print_out("%zu runs:", sweep_run_count(s));
    print_counts(s->index.with);
    print_out("%s\n", s->kept == sweep_run_count(s) ? " (all were there)" : "");
    for (enum verdict v = VERDICT_SKIPPED; v <= VERDICT_INCOMPLETE; v++)
        judged += s->index.judged[v];
    if (!judged)
        return;
    print_out("%zu cell%s, by what is judged over all runs:", judged, judged == 1 ? "" : "s");
    print_counts(s->index.judged);
    print_out("\n");
}

/* A result that was copied elsewhere and resumed there is nobody's latest. */
static bool is_in_place(const struct sweep *s)
{
    const char *name = strrchr(s->folder, '/');
    struct text place = {0}; /* .../SCENARIO/TIME */
    text_add(&place, "/%s%s", s->plan.first.scenario.name, name ? name : "");
    size_t length = strlen(s->folder);
    bool is = length >= place.length && strcmp(s->folder + length - place.length, text_string(&place)) == 0;
    text_free(&place);
    return is || !s->request->resume;
}

static void conclude(struct sweep *s)
{
    struct error e;
    if (is_result(s->folder) && is_in_place(s) && results_point_latest(s->folder, &e) != 0)
        log_warning("%s", e.text);
    if (!s->request->quiet && !s->request->json && (sweep_run_count(s) > SHOWN_WHOLE || s->request->resume))
        print_verdicts(s);
    report(s);
    if (s->request->json)
        print_json(s);
    else if (!s->request->quiet)
        print_out("result: %s\n", s->folder);
}

/* The folder, its request and its index. */
static int open_folder(struct sweep *s, struct error *e)
{
    s->folder = s->request->resume ? sweep_resumed_folder(s->request)
                                   : results_make_folder(s->request->out, s->plan.first.scenario.name, e);
    s->todo = calloc(sweep_run_count(s) + 1, sizeof *s->todo);
    if (!s->folder || !s->todo)
        return s->folder || s->request->resume ? error_set(e, "out of memory") : -1;
    if (sweep_has_index(s) &&
        ((!s->request->resume && request_keep(s->folder, s->request, &s->plan, e) != 0) ||
         (s->lock = request_lock(s->folder, e)) < 0))
        return -1;
    if (index_open(&s->index, sweep_has_index(s) ? s->folder : NULL, index_head(s), sweep_run_count(s), e) !=
        0)
        return -1;
    if (s->request->resume && (sweep_keep_runs(s, e) != 0 || index_unfinish(&s->index, e) != 0))
        return -1;
    sweep_list_todo(s);
    return 0;
}

static int run_all(struct sweep *s)
{
    struct error e;
    if (open_folder(s, &e) != 0 || interrupt_open(&s->interrupt, &e) != 0) {
        log_error("%s", e.text);
        if (s->folder && !s->request->resume)
            remove_folder(s->folder);
        return EXIT_USAGE;
    }
    say_lab(s);
    if (s->kept && !s->request->quiet)
        log_info("%s: %zu of %zu runs are kept", s->folder, s->kept, sweep_run_count(s));
    run_todo(s);
    if (s->detached) {
        interrupt_close(&s->interrupt);
        return EXIT_DONE;
    }
    if (s->ending != ENDING_WHOLE)
        log_error("%s", s->why.text);
    if (!s->any_started && !s->kept && s->ending != ENDING_WHOLE && !s->request->resume) {
        remove_folder(s->folder); /* nothing was done: leave no folder behind */
    } else {
        judge_cells(s);
        if (index_finish(&s->index, s->ending == ENDING_WHOLE ? NULL : s->why.text, &e) != 0) {
            log_error("%s", e.text);
            sweep_fail(s, ENDING_LAB_FAILED, &e);
        }
        conclude(s);
    }
    interrupt_close(&s->interrupt);
    return exit_status(s);
}

void sweep_free(struct sweep *s)
{
    index_close(&s->index);
    if (s->lock >= 0)
        close(s->lock);
    free(s->said);
    free(s->todo);
    free(s->folder);
    lab_opened_close(s->foreseen.lab);
    plan_free(&s->plan);
}

int sweep_open(struct sweep *s, const struct sweep_request *request, const struct plan_documents *documents,
               json_t *warnings, struct error *e)
{
    *s = (struct sweep){
        .request = request, .interrupt.fd = -1, .lock = -1, .index.lines.fd = -1, .run_one = run_in_place};
    struct plan_request plan = {.documents = documents,
                                .scenario = request->scenario,
                                .lab = request->lab,
                                .sets = request->sets.items,
                                .set_count = request->sets.count,
                                .duration_ns = request->duration_ns,
                                .seed = (uint64_t)request->seed,
                                .many = request->yes != 0};
    if (plan_load(&plan, &s->plan, e) != 0 || sweep_choose_threads(s, e) != 0)
        return -1;
    s->foreseen = (struct foreseen){.seed = sweep_seed_of(s, 0),
                                    .threads = (uint32_t)s->threads,
                                    .keep = sweep_run_count(s) == 1 && !request->dry_run && !request->on,
                                    .warnings = warnings};
    if (foresee(&s->plan, &s->foreseen, e) != 0 || sweep_share_processors(s, e) != 0)
        return -1;
    progress_open(&s->progress, request->quiet != 0);
    return 0;
}

int sweep_run_planned(const struct sweep_request *request, const struct plan_documents *documents)
{
    const struct sweep_engine *engine = request->engine;
    struct sweep s;
    struct error e;
    json_t *warnings = json_object();
    int status = EXIT_USAGE;
    if (sweep_open(&s, request, documents, warnings, &e) != 0 || sweep_check_resumed(&s, &e) != 0 ||
        (engine && engine->check(engine, &s, &e) != 0)) {
        log_error("%s", e.text);
    } else {
        doctor_log_warnings(warnings);
        status = request->dry_run ? EXIT_DONE : run_all(&s);
        if (request->dry_run)
            print_dry_run(&s);
    }
    json_decref(warnings);
    sweep_free(&s);
    return status;
}

int sweep_run(const struct sweep_request *request)
{
    return sweep_run_planned(request, NULL);
}
