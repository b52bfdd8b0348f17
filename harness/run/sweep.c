/* A sweep from its request to its exit status: planned, run in turn or side by side, resumed, judged,
 * concluded. */
#include "harness/run/sweep.h"

#include "harness/compare/compare.h"
#include "harness/doctor/check.h"
#include "harness/judge/repeated.h"
#include "harness/run/precheck.h"
#include "harness/run/request.h"
#include "harness/run/results.h"
#include "harness/run/summary.h"
#include "harness/run/workers.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/folder/result_files.h"
#include "lib/folder/sweep_index.h"
#include "lib/formats/lab_kinds.h"
#include "lib/formats/result_shape.h"
#include "lib/kernel/free_memory.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "reports/reports.h"
#include "reports/results/differences.h"
#include "lib/text.h"
#include "lib/words.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_WHOLE 20 /* runs; of more a table of cells is printed at the end */

/* ---- what people read */

/* The plan, with the documents of the first cell. */
static void sweep_print_dry_run_json(const struct sweep *s)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < s->plan.cell_count; i++)
        json_array_append_new(cells, choices_at(&s->plan.choices, i));
    json_t *document = json_make("{s:s,s:s,s:I,s:I,s:o,s:O,s:O}", "scenario_file", s->plan.scenario_path,
                                 "lab_file", s->plan.lab_path, "runs", (json_int_t)sweep_run_count(s),
                                 "repeats", (json_int_t)s->request->repeats, "cells", cells, "scenario",
                                 s->plan.first.scenario_json, "lab", s->plan.first.lab_json);
    json_print(stdout, document, 17);
    json_decref(document);
}

static void sweep_print_dry_run(const struct sweep *s)
{
    if (s->request->json) {
        sweep_print_dry_run_json(s);
        return;
    }
    print_out_line("scenario %s", s->plan.scenario_path);
    print_out_line("lab %s (%s, chosen by %s)", s->plan.lab_path, lab_kind(&s->plan.first.lab)->name,
                   s->plan.lab_why);
    print_out_line("%zu %s into %s%s%s", sweep_run_count(s), THINGS(sweep_run_count(s), "run"),
                   s->request->resume ? s->request->resume : s->request->out, s->request->resume ? "" : "/",
                   s->request->resume ? "" : s->plan.first.scenario.name);
    for (size_t i = 0; i < s->plan.cell_count; i++) {
        struct text label = {0};
        json_t *choice = choices_at(&s->plan.choices, i);
        choices_add(choice, &label);
        json_decref(choice);
        print_out("  %02zu %s\n", i * (size_t)s->request->repeats + 1,
                  label.length ? text_string(&label) : "without changes");
        text_free(&label);
    }
}

static void sweep_log_lab(const struct sweep *s)
{
    const struct lab *lab = &s->plan.first.lab;
    if (s->request->quiet || (s->request->lab && strcmp(s->request->lab, s->plan.lab_path) == 0))
        return;
    log_info("lab %s (%s, chosen by %s)%s", lab->name, s->plan.lab_path, s->plan.lab_why,
             lab_kind(lab)->simulated ? ": the results are simulated" : "");
}

/* ---- the index */

static json_t *sweep_index_head(const struct sweep *s)
{
    const struct cell *first = &s->plan.first;
    char *started = results_time();
    json_t *head = json_make("{s:i,s:s,s:s,s:s,s:s,s:s?,s:b,s:b,s:s,s:s?,s:O,s:I,s:I}", "schema", 1,
                             "program", "harness", "version", HARNESS_VERSION, "build", results_build(),
                             "scenario", first->scenario.name, "title", first->scenario.title, "simulated",
                             lab_kind(&first->lab)->simulated, "complete", 0, "verdict", "incomplete",
                             "started", started, "sweep", s->plan.sweep, "repeats",
                             (json_int_t)s->request->repeats, "runs", (json_int_t)sweep_run_count(s));
    free(started);
    return head;
}

char *sweep_folder_of(const struct sweep *s, size_t run)
{
    char name[24];
    results_cell_name(run + 1, name, sizeof name);
    return sweep_has_index(s) ? files_join(s->folder, name) : strdup(s->folder);
}

/* Why a whole run was not judged, from its result. */
static void add_reason(const char *path, json_t *entry)
{
    static const char *const parts[] = {"reason", NULL};
    struct folder folder = {.fd = -1};
    json_t *result = path && folder_open(&folder, path, NULL) == 0
                         ? json_file_load_parts_in(&folder, "result.json", DOCUMENT_RESULT, parts, NULL)
                         : NULL;
    if (json_is_string(json_object_get(result, "reason")))
        json_object_set(entry, "reason", json_object_get(result, "reason"));
    json_decref(result);
    folder_close(&folder);
}

/* The entry of a run that has ended, for the index. */
static json_t *sweep_entry(const struct sweep *s, size_t run, struct outcome outcome)
{
    char *folder = sweep_folder_of(s, run);
    const char *slash = folder ? strrchr(folder, '/') : NULL;
    json_t *entry =
        json_make("{s:s,s:o,s:I,s:s,s:s,s:b}", "folder", slash ? slash + 1 : s->folder, "cell",
                  choices_at(&s->plan.choices, sweep_cell_of(s, run)), "repeat",
                  (json_int_t)sweep_repeat_of(s, run), "origin", origin_names[outcome.origin], "verdict",
                  verdict_names[outcome.verdict], "complete", outcome.ending == ENDING_WHOLE);
    if (outcome.warnings)
        json_object_set_new(entry, "warnings", json_integer((json_int_t)outcome.warnings));
    if (outcome.verdict == VERDICT_SKIPPED || outcome.verdict == VERDICT_UNJUDGED)
        add_reason(folder, entry);
    free(folder);
    return entry;
}

/* ---- how many runs go at a time, and on how many threads each */

/* A thread for fewer hosts leaves half of a processor unused: of a fat tree with 128 hosts 4 threads are 2.3
 * times as fast as one, 8 threads 3.6 times, 16 threads 3.3 times. */
#define HOSTS_A_THREAD 32

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int check_threads(const struct sweep *s, const struct lab *lab, size_t threads, struct error *e)
{
    if (threads == 1)
        return 0;
    if (!lab_kind(lab)->simulated)
        return error_set(e, "--threads %zu: lab %s is not simulated", threads, lab->name);
    if (s->request->on)
        return error_set(e, "--threads %zu: with --on slurm each run has one thread", threads);
    if (threads > workers_processors())
        return error_set(e, "--threads %zu: there are %zu processors", threads, workers_processors());
    return 0;
}

/* How many runs that memory is for, at least one: the lab was opened before (labs/sim/driver.c). */
static size_t jobs_by_memory(const struct sweep *s, uint64_t free_bytes)
{
    uint64_t bytes = s->precheck.bytes ? s->precheck.bytes : 1, fit = free_bytes / bytes;
    return fit > 1 ? fit : 1;
}

/* The processors that the runs which go at a time leave; there is memory for `fit` of them. */
static size_t free_threads(const struct sweep *s, const struct lab *lab, size_t fit)
{
    size_t processors = workers_processors(),
           jobs =
               s->request->jobs != FIELD_UNSET ? (size_t)s->request->jobs : lesser(sweep_run_count(s), fit),
           at_once = jobs < 1 ? 1 : lesser(jobs, processors),
           most = lesser(processors / at_once, lab->hosts.count / HOSTS_A_THREAD);
    return lab_kind(lab)->simulated && !s->request->on && most > 1 ? most : 1;
}

static int choose_jobs(struct sweep *s, const struct lab *lab, uint64_t free_bytes, struct error *e)
{
    bool given = s->request->jobs != FIELD_UNSET;
    size_t fit = jobs_by_memory(s, free_bytes), runs = sweep_run_count(s);
    s->jobs = given ? (size_t)s->request->jobs : 1;
    if (!lab_kind(lab)->simulated)
        return s->jobs == 1
                   ? 0
                   : error_set(e,
                               "--jobs %zu: the runs of lab %s follow one another, since all use its "
                               "hosts",
                               s->jobs, lab->name);
    if (!given)
        s->jobs = lesser(workers_processors() / s->threads, fit);
    if (lesser(s->jobs, runs) > fit)
        return error_set(e,
                         "--jobs %zu: a run needs %.1f GB of memory, %.1f GB are free: expected at most %zu",
                         s->jobs, (double)s->precheck.bytes / 1e9, (double)free_bytes / 1e9, fit);
    return 0;
}

/* Threads of a run, before anything is known of its memory: as they were said, else as many as are of use.
 * They change no result. */
static int sweep_choose_threads(struct sweep *s, struct error *e)
{
    const struct lab *lab = &s->plan.first.lab;
    bool given = s->request->threads != FIELD_UNSET;
    s->threads = given ? (size_t)s->request->threads : free_threads(s, lab, SIZE_MAX);
    return check_threads(s, lab, s->threads, e);
}

/* Threads and jobs by the memory that a run takes: as they were said, else so that no processor is left. */
static int sweep_share_processors(struct sweep *s, struct error *e)
{
    const struct lab *lab = &s->plan.first.lab;
    uint64_t free_bytes = free_memory_bytes();
    if (s->request->threads == FIELD_UNSET)
        s->threads = free_threads(s, lab, jobs_by_memory(s, free_bytes));
    return choose_jobs(s, lab, free_bytes, e);
}

#define WRITTEN_MANY 1000000000 /* bytes: what is more is said */

/* Is there room for what is known to be written? A run that goes on has a part of it. */
static int sweep_check_room(const struct sweep *s, struct error *e)
{
    uint64_t all = s->precheck.written * (uint64_t)s->request->repeats,
             left = s->request->resume ? UINT64_MAX : results_free_bytes(s->request->out);
    size_t runs = sweep_run_count(s);
    static const char fewer[] =
        "a longer sample.every, shorter phases, or less in sample.roles or sample.groups";
    const struct capture *capture = s->plan.first.scenario.capture;
    double captures = capture ? (double)capture->limit_bytes * (double)runs : 0; /* at most */
    if (s->request->of_search)
        return 0;
    if (all <= left && (double)all + captures > (double)left)
        log_warning("captures of %zu %s may take %.1f GB, and the disk of folder %s has %.1f GB free: set a "
                    "smaller capture.limit",
                    runs, THINGS(runs, "run"), captures / 1e9, s->request->out, (double)left / 1e9);
    if (all <= WRITTEN_MANY)
        return 0;
    if (all > left)
        return error_set(e,
                         "%zu %s at least %.1f GB, and the disk of folder %s has %.1f GB free: expected %s",
                         runs, runs == 1 ? "run writes" : "runs write", (double)all / 1e9, s->request->out,
                         (double)left / 1e9, fewer);
    log_warning("%zu %s at least %.1f GB; less with %s", runs, runs == 1 ? "run writes" : "runs write",
                (double)all / 1e9, fewer);
    return 0;
}

/* ---- settings that the runs leave to each other: to set and restore them takes longer than many a run */

static void sweep_keeps_settings(struct sweep *s)
{
    if (lab_kind(&s->plan.first.lab)->simulated)
        return;
    if (s->request->kept)
        s->settings_left = json_incref(s->request->kept);
    else if (s->todo_count > 1)
        s->settings_left = json_object();
}

static bool same_settings(const struct cell *a, const struct cell *b)
{
    const char *role;
    bool same = a->scenario.roles.count == b->scenario.roles.count;
    for (size_t i = 0; same && (role = scenario_role(&a->scenario, i)); i++) {
        json_t *of_a = scenario_role_settings(a->scenario_json, role),
               *of_b = scenario_role_settings(b->scenario_json, role);
        same = scenario_role_index(&b->scenario, role) == (int)i && json_same(of_a, of_b);
        json_decref(of_a);
        json_decref(of_b);
    }
    return same;
}

/* Does the next run want the settings of this cell? What comes after the last one may. */
static bool sweep_next_wants_same(const struct sweep *s, const struct cell *cell)
{
    struct error ignored; /* every cell was made before */
    if (!s->settings_left || s->next == SIZE_MAX)
        return s->request->kept != NULL;
    const struct cell *next = plan_cell(&s->plan, sweep_cell_of(s, s->next), &ignored);
    bool same = next && same_settings(cell, next);
    plan_release(&s->plan, next);
    return same;
}

static void restore_kept(const struct plan *plan, struct interrupt *interrupt, struct progress *progress,
                         json_t *kept)
{
    const struct experiment x = {
        .plan = plan, .cell = &plan->first, .interrupt = interrupt, .progress = progress, .kept = kept};
    experiment_restore_kept(&x);
}

/* What is still kept is restored, unless others want it. */
static void sweep_end_settings(struct sweep *s)
{
    if (!s->request->kept)
        restore_kept(&s->plan, &s->interrupt, &s->progress, s->settings_left);
    json_decref(s->settings_left);
    s->settings_left = NULL;
}

void sweep_restore_kept(const struct plan *plan, struct interrupt *interrupt, json_t *kept)
{
    struct progress none = {0};
    restore_kept(plan, interrupt, &none, kept);
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

/* Are there too many runs for all to be printed? */
static bool sweep_is_long(const struct sweep *s)
{
    return sweep_run_count(s) > SHOWN_WHOLE;
}

static bool sweep_prints(const struct sweep *s, struct outcome outcome)
{
    return !s->request->quiet && !s->request->json && outcome.ending != ENDING_NOT_STARTED &&
           !sweep_is_long(s);
}

void sweep_print_run(const struct sweep *s, size_t run, const char *folder, const json_t *result,
                     struct outcome outcome)
{
    struct error e;
    bool prints = sweep_prints(s, outcome);
    if (!prints && !(s->request->quiet && outcome.warnings && !s->request->tells_nothing))
        return;
    const struct cell *cell = plan_cell(&s->plan, sweep_cell_of(s, run), &e);
    char *path = result ? NULL : files_join(folder, "result.json");
    json_t *read = path && files_exist(path) ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    if (cell && prints)
        summary_print(cell, folder, result ? result : read, outcome.verdict, (size_t)s->request->repeats,
                      s->warned);
    else
        summary_log_warnings(sweep_has_index(s) ? folder : NULL, result ? result : read, s->warned);
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
    choices_add(cell->choice, &label);
    if (s->request->repeats > 1)
        text_add(&label, "%srun %zu", label.length ? ", " : "", sweep_repeat_of(s, run));
    s->progress.cell = s->progress.place ? run + 1 : s->kept + s->ended + 1;
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
                           .kept = s->settings_left,
                           .keep = sweep_next_wants_same(s, cell),
                           .opened = s->precheck.lab,
                           .stops = s->request->stops,
                           .stops_for = s->request->stops_for,
                           .soon = s->request->of_search,
                           .result = result};
    outcome = experiment_run(&x, e);
    progress_clear(&s->progress);
    text_free(&label);
    plan_release(&s->plan, cell);
    return outcome;
}

static struct outcome sweep_run_in_place(struct sweep *s, size_t run, struct error *e)
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
    if (outcome.ending != ENDING_WHOLE && outcome.ending != ENDING_EARLY &&
        (outcome.ending != ENDING_LAB_FAILED || !s->request->goes_on))
        sweep_fail(s, outcome.ending, why);
    if (index_add(&s->index, run, sweep_entry(s, run, outcome), &e) != 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    return s->ending == ENDING_WHOLE;
}

void sweep_check_output(struct sweep *s)
{
    if (fflush(stdout) == 0 || s->deaf)
        return;
    log_warning("standard output cannot be written: %s; the run goes on, its result is %s", strerror(errno),
                s->folder);
    s->deaf = true;
}

static void sweep_run_in_turn(struct sweep *s)
{
    struct error e;
    bool more = true;
    sweep_keeps_settings(s);
    for (size_t k = 0; more && k < s->todo_count; k++) {
        s->next = k + 1 < s->todo_count ? s->todo[k + 1] : SIZE_MAX;
        struct outcome outcome = s->run_one(s, s->todo[k], &e);
        sweep_check_output(s);
        more = sweep_count_run(s, s->todo[k], outcome, &e);
    }
    sweep_end_settings(s);
}

/* ---- the runs side by side */

static struct outcome side_run(void *context, size_t k, size_t place, struct error *e)
{
    struct sweep *s = context;
    progress_take(&s->progress, place);
    s->interrupt.count = 0;
    return s->run_one(s, s->todo[k], e);
}

/* What the next run in the order of runs printed. */
static void side_print_next(struct sweep *s)
{
    struct text *output = &s->outputs[s->printed++];
    if (output->length && !s->deaf)
        print_bytes(stdout, output->data, output->length);
    text_free(output);
}

static bool side_ended(void *context, size_t k, struct worked *worked)
{
    struct sweep *s = context;
    s->cost_ns += worked->took_ns;
    s->outputs[k] = worked->output;
    progress_clear(&s->progress);
    bool more = sweep_count_run(s, s->todo[k], worked->outcome, &worked->e);
    while (s->printed < s->todo_count && s->index.entries[s->todo[s->printed]])
        side_print_next(s);
    sweep_check_output(s);
    return more;
}

static void side_said(void *context, const char *bytes, size_t length)
{
    struct sweep *s = context;
    progress_clear(&s->progress);
    print_bytes(stderr, bytes, length);
}

static void side_waiting(void *context, size_t running)
{
    struct sweep *s = context;
    size_t left = s->todo_count - s->ended;
    progress_sweep(
        &s->progress,
        &(struct progress_sweep){
            .runs = sweep_run_count(s),
            .ended = s->kept + s->ended,
            .failed = s->index.with[VERDICT_FAILED] + s->index.with[VERDICT_INCOMPLETE],
            .running = running,
            .left_ns = s->ended ? s->cost_ns / (int64_t)s->ended * (int64_t)left / (int64_t)s->jobs : -1,
        });
}

/* What is to do, s->jobs runs at a time. */
static void sweep_run_side_by_side(struct sweep *s)
{
    struct error e;
    struct work work = {.jobs = s->jobs,
                        .count = s->todo_count,
                        .context = s,
                        .interrupt = &s->interrupt,
                        .run = side_run,
                        .ended = side_ended,
                        .said = s->progress.on ? side_said : NULL,
                        .waiting = side_waiting};
    progress_share(&s->progress, s->jobs);
    s->outputs = calloc(s->todo_count + 1, sizeof *s->outputs);
    if (!s->outputs)
        error_set(&e, "out of memory for %zu runs", s->todo_count);
    if (!s->outputs || workers_run(&work, &e) != 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    progress_clear(&s->progress);
    progress_unshare(&s->progress);
    while (s->outputs && s->printed < s->todo_count) /* also those after one that never began */
        side_print_next(s);
    sweep_check_output(s);
    if (s->ending == ENDING_WHOLE && interrupt_count(&s->interrupt) > 0) {
        error_set(&e, "interrupted");
        sweep_fail(s, ENDING_INTERRUPTED, &e);
    }
}

/* ---- all that is to do */

void sweep_run_here(struct sweep *s)
{
    if (lab_kind(&s->plan.first.lab)->simulated && sweep_run_count(s) > 1)
        sweep_run_side_by_side(s);
    else
        sweep_run_in_turn(s);
}

static void sweep_run_todo(struct sweep *s)
{
    if (s->request->engine)
        s->request->engine->run(s->request->engine, s);
    else
        sweep_run_here(s);
}

/* The run at a place in the order of running. On real hosts all cells come once, then again: what drifts
 * there meets all cells alike. A simulated run is the same whenever it is made. */
static size_t sweep_run_at(const struct sweep *s, size_t place)
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
        size_t run = sweep_run_at(s, place);
        if (!s->index.entries[run])
            s->todo[s->todo_count++] = run;
    }
}

/* ---- the whole */

/* Only a folder that was written completely is a result. */
static bool is_result(const char *folder)
{
    static const char *const files[] = {"result.json", SWEEP_INDEX, NULL};
    return result_files_any(folder, files);
}

/* The table of a long sweep's cells, and the page. */
static void sweep_draw_report(struct sweep *s)
{
    struct error e;
    struct text page = {0}, why = {0};
    const char *folders[] = {s->folder};
    bool large = s->ending == ENDING_INTERRUPTED && s->precheck.written > WRITTEN_MANY,
         people = !s->request->quiet && !s->request->json, draws = !s->request->no_report && !large,
         tells = people && sweep_is_long(s);
    if (large && !s->request->no_report) {
        char *folder = shell_quoted(s->folder);
        log_info("no report was drawn of this much; harness report %s draws it", folder);
        free(folder);
    }
    if ((!draws && !tells) || s->ending == ENDING_NOT_STARTED || !is_result(s->folder))
        return;
    char *cells = NULL;
    size_t length = 0, width = columns_of_terminal(stdout);
    FILE *table = tells ? open_memstream(&cells, &length) : NULL; /* not amid the line of progress */
    const struct report_options options = {.why = &why, .cells = table, .width = width};
    int result = 0;
    progress_say(&s->progress, draws ? "drawing report" : "reading results");
    if (draws)
        result = report_make(folders, 1, &options, &page, &e);
    else if (table)
        result = report_cells(s->folder, table, width, &e);
    progress_clear(&s->progress);
    if (table && fclose(table) == 0)
        print_bytes(stdout, cells, length);
    free(cells);
    if (result != 0)
        log_warning("no %s: %s", draws ? "report" : "table", e.text);
    else if (people && page.length)
        print_out("%sreport: %s\n", text_string(&why), text_string(&page));
    char *folder = shell_quoted(s->folder);
    if (result == 0 && table && draws)
        print_out_line("all runs: %s/report/sweep.csv", s->folder);
    else if (result == 0 && table)
        print_out_line("all runs: harness report %s draws them, and writes sweep.csv", folder);
    free(folder);
    text_free(&page);
    text_free(&why);
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
static json_t *sweep_result_in(const struct sweep *s, const char *name)
{
    struct error e;
    char *folder = sweep_has_index(s) ? files_join(s->folder, name) : strdup(s->folder);
    char *path = folder ? files_join(folder, "result.json") : NULL;
    bool there = path && files_exist(path);
    json_t *result = there ? json_file_load(path, DOCUMENT_RESULT, &e) : NULL;
    if (there && !result)
        log_warning("%s", e.text);
    if (result) /* what is not there then was said when the run was read */
        json_decref(result_take_out_wrong(RESULT_DOCUMENT, result));
    free(path);
    free(folder);
    return result;
}

/* The index with the figures of each run, and where they are. */
static void sweep_print_json(struct sweep *s)
{
    size_t i;
    json_t *cell, *document = index_document(&s->index);
    json_array_foreach(json_object_get(document, "cells"), i, cell)
    {
        json_t *result = sweep_result_in(s, json_string_value(json_object_get(cell, "folder")));
        json_t *figures = result ? summary_json(result) : NULL;
        json_object_update(cell, figures);
        json_decref(figures);
        json_decref(result);
    }
    json_object_set_new(document, "result", json_text(s->folder));
    if (s->comparison)
        json_object_set(document, "against", s->comparison);
    json_print(stdout, document, 12);
    json_decref(document);
}

/* ---- what is judged beyond single runs */

static const char *sweep_name_of_run(void *context, size_t run)
{
    const struct sweep *s = context;
    return json_string_value(json_object_get(s->index.entries[run], "folder"));
}

static json_t *sweep_load_run(void *context, size_t run)
{
    const struct sweep *s = context;
    const json_t *entry = s->index.entries[run];
    return json_is_true(json_object_get(entry, "complete"))
               ? sweep_result_in(s, sweep_name_of_run(context, run))
               : NULL;
}

static void sweep_print_judged(void *context, const struct repeated_cell *judged)
{
    const struct sweep *s = context;
    if (!s->request->quiet && !s->request->json)
        summary_print_repeated(judged, sweep_is_long(s));
}

static void sweep_judge_cells(struct sweep *s)
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
                                           .load = sweep_load_run,
                                           .name = sweep_name_of_run,
                                           .judged = sweep_print_judged};
    if (repeated_make(&source, &repeated, &e) != 0) {
        log_error("%s", e.text);
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    }
    memcpy(s->index.judged, repeated.with, sizeof repeated.with);
    json_object_set_new(s->index.head, "repeated", repeated.cells);
    if (repeated.left_out)
        json_object_set_new(s->index.head, "repeated_left_out", json_integer((json_int_t)repeated.left_out));
    if (!s->request->tells_nothing)
        summary_print_sweep_warnings(repeated.warnings, s->request->quiet || s->request->json);
    if (json_array_size(repeated.warnings))
        json_object_set(s->index.head, "warnings", repeated.warnings);
    json_decref(repeated.warnings);
    json_decref(index);
}

static int sweep_exit_status(struct sweep *s)
{
    /* before the first run, or while the report of a whole sweep was drawn */
    bool aside = s->ending == ENDING_NOT_STARTED || s->ending == ENDING_WHOLE;
    if (s->ending == ENDING_INTERRUPTED || (aside && interrupt_count(&s->interrupt) > 0))
        return EXIT_INTERRUPTED;
    if (s->ending != ENDING_WHOLE)
        return EXIT_LAB;
    static const int statuses[] = {[VERDICT_UNJUDGED] = EXIT_SKIPPED,
                                   [VERDICT_SKIPPED] = EXIT_SKIPPED,
                                   [VERDICT_PASSED] = EXIT_DONE,
                                   [VERDICT_FAILED] = EXIT_FAILED,
                                   [VERDICT_INCOMPLETE] = EXIT_LAB};
    int status = statuses[index_verdict(&s->index)];
    if (!s->against || status == EXIT_FAILED || status == EXIT_LAB)
        return status;
    int compared = s->comparison ? compare_status(s->comparison) : EXIT_LAB;
    /* rules that were met judge a run that has no expectations */
    return compared != EXIT_DONE || s->request->fail_if.count ? compared : status;
}

/* " 60 passed, 4 failed" */
static void print_counts(const size_t with[VERDICT_INCOMPLETE + 1])
{
    const char *comma = "";
    for (enum verdict v = VERDICT_UNJUDGED; v <= VERDICT_INCOMPLETE; v++)
        if (with[v]) {
            print_out("%s %zu %s", comma, with[v], verdict_names[v]);
            comma = ",";
        }
}

#define WARNED_READ 50 /* results that are read for their warnings, */
#define WARNED_SAID 6  /* of which so many are printed */

/* Each once, with the first run that has it: of many runs only those were printed that did not pass. */
static void sweep_print_warnings(const struct sweep *s)
{
    size_t i, read = 0, said = 0;
    json_t *known = json_object(), *warning;
    if (s->index.warned)
        print_out("%zu of them %s warnings, in result.json and in the report\n", s->index.warned,
                  s->index.warned == 1 ? "has" : "have");
    for (size_t run = 0; run < s->index.count && read < WARNED_READ && said < WARNED_SAID; run++) {
        if (!json_object_get(s->index.entries[run], "warnings"))
            continue;
        const char *name = json_string_value(json_object_get(s->index.entries[run], "folder"));
        json_t *result = sweep_result_in(s, name);
        read++;
        json_array_foreach(json_object_get(result, "warnings"), i, warning)
        {
            const char *words = json_string_value(warning);
            if (!words || json_object_get(known, words) || summary_was_said(s->warned, words) ||
                said++ >= WARNED_SAID)
                continue;
            json_put(known, words, json_true());
            print_out_line("  %s: warning: %s", name, words);
        }
        json_decref(result);
    }
    json_decref(known);
}

/* "64 runs: 60 passed, 4 failed": each by the worse of its own verdict and its cell's, as `status` counts. */
static void sweep_print_verdicts(const struct sweep *s)
{
    size_t judged = 0, with[VERDICT_INCOMPLETE + 1] = {0};
    const json_t *cells = json_object_get(s->index.head, "repeated");
    for (size_t run = 0; run < s->index.count; run++) {
        const json_t *entry = s->index.entries[run];
        const char *folder = json_string_value(json_object_get(entry, "folder"));
        if (folder)
            with[sweep_index_verdict(verdict_said_by(entry), sweep_index_judged_of(cells, folder))]++;
    }
    print_out("%zu %s:", sweep_run_count(s), THINGS(sweep_run_count(s), "run"));
    print_counts(with);
    print_out("%s\n", s->kept == sweep_run_count(s) ? " (all were there)" : "");
    sweep_print_warnings(s);
    for (enum verdict v = VERDICT_UNJUDGED; v <= VERDICT_INCOMPLETE; v++)
        judged += s->index.judged[v];
    if (!judged)
        return;
    print_out("%zu %s, by what is judged over all runs:", judged, THINGS(judged, "cell"));
    print_counts(s->index.judged);
    print_out("\n");
}

/* A result that was copied elsewhere and resumed there is nobody's latest. */
static bool sweep_is_in_place(const struct sweep *s)
{
    const char *name = strrchr(s->folder, '/');
    struct text place = {0}; /* .../SCENARIO/TIME */
    text_add(&place, "/%s%s", s->plan.first.scenario.name, name ? name : "");
    size_t length = strlen(s->folder);
    bool is = length >= place.length && strcmp(s->folder + length - place.length, text_string(&place)) == 0;
    text_free(&place);
    return is || !s->request->resume;
}

static bool sweep_runs_are_whole(const struct sweep *s)
{
    size_t whole = 0;
    for (size_t run = 0; run < sweep_run_count(s); run++)
        whole += json_is_true(json_object_get(s->index.entries[run], "complete"));
    return whole == sweep_run_count(s);
}

/* Of runs that are not whole there is nothing to compare. */
static void sweep_compare(struct sweep *s)
{
    struct error e;
    if (!s->against)
        return;
    if (s->ending == ENDING_WHOLE)
        s->comparison = compare_results(s->against, s->folder, &s->request->fail_if, &e);
    else
        error_set(&e, "the runs are not whole");
    if (!s->comparison)
        log_error("not compared with %s: %s", s->against, e.text);
    else if (!s->request->json)
        compare_print(s->comparison, columns_of_terminal(stdout), s->request->quiet);
}

static void sweep_conclude(struct sweep *s)
{
    struct error e;
    if (is_result(s->folder) && sweep_is_in_place(s) && results_point_latest(s->folder, &e) != 0)
        log_warning("%s", e.text);
    if (!s->request->quiet && !s->request->json && (sweep_is_long(s) || s->request->resume))
        sweep_print_verdicts(s);
    sweep_draw_report(s);
    sweep_compare(s);
    if (s->request->json)
        sweep_print_json(s);
    else if (!s->request->quiet)
        print_out_line("result: %s", s->folder);
    if (s->ending == ENDING_WHOLE || !sweep_has_index(s) || s->request->tells_nothing)
        return;
    struct sweep_request again = *s->request;
    again.against = s->against; /* a link such as latest leads elsewhere by now */
    log_info("%s", sweep_runs_are_whole(s) ? SWEEP_JUDGE_HINT : SWEEP_RESUME_HINT);
    request_print_resume(stderr, "run", s->folder, &again);
}

/* ---- a sweep that goes on in its folder */

/* Its own name, not that of a link to it such as `latest`. */
char *sweep_resumed_folder(const struct sweep_request *request)
{
    return realpath(request->resume, NULL);
}

int sweep_check_resumed(const struct sweep *s, struct error *e)
{
    if (!s->request->resume || sweep_has_index(s))
        return 0;
    return error_set(e, "%s/request.json is of a single run, which has nothing to resume: run it anew",
                     s->request->resume);
}

/* The folder of a run: 1, 0: there is none, or -1: it is not a folder (a link to one is not). */
static int sweep_open_run(const struct sweep *s, const char *path, struct folder *f, struct error *e)
{
    struct folder parent = {.fd = -1};
    const char *slash = sweep_has_index(s) ? strrchr(path, '/') : NULL;
    char *above = slash ? strndup(path, (size_t)(slash - path)) : NULL;
    *f = (struct folder){.fd = -1};
    int there = !slash ? folder_open(f, path, NULL) == 0
                : !above || folder_open(&parent, above, NULL) != 0 || !folder_has(&parent, slash + 1) ? 0
                : folder_open_in(f, &parent, slash + 1, false, e) == 0                                ? 1
                                                                                                      : -1;
    folder_close(&parent);
    free(above);
    return there;
}

/* The result in the folder of a run. NULL: `outcome` says that it has none, or one that is broken, and `e`
 * why. What was never read, for reasons of this machine, is not broken: *unknown. */
static json_t *sweep_load_result(const struct sweep *s, const char *path, struct outcome *outcome,
                                 struct error *damage, bool *unknown, struct error *e)
{
    struct folder f;
    struct stat status;
    size_t length, text_bytes, memory_bytes;
    json_t *result = NULL;
    int there = sweep_open_run(s, path, &f, e);
    bool has = there > 0 && fstatat(f.fd, "result.json", &status, AT_SYMLINK_NOFOLLOW) == 0;
    *outcome = (struct outcome){.ending = ENDING_NOT_STARTED, .verdict = VERDICT_INCOMPLETE};
    if (has || there < 0)
        outcome->ending = ENDING_LAB_FAILED;
    int fd = has ? folder_open_file(&f, "result.json", e) : -1;
    json_file_limits(DOCUMENT_RESULT, &text_bytes, &memory_bytes);
    char *name = files_join(path, "result.json"),
         *text = fd >= 0 && name ? files_read_descriptor(fd, name, text_bytes, &length, e) : NULL;
    *unknown = has && !text && S_ISREG(status.st_mode);
    if (text)
        result = json_file_parse(text, length, name, DOCUMENT_RESULT, e);
    json_t *wrong = result ? result_take_out_wrong(RESULT_DOCUMENT, result) : NULL;
    damage->text[0] = '\0';
    if (result && result_files_check(&f, result, damage) == 0 && json_array_size(wrong))
        error_set(damage, "%s", json_string_value(json_array_get(wrong, 0)));
    json_decref(wrong);
    if (fd >= 0)
        close(fd);
    free(text);
    free(name);
    folder_close(&f);
    return result;
}

/* Has the result a value other than the wanted one, which is released? */
static bool is_other(const json_t *result, const char *key, json_t *wanted)
{
    const json_t *has = json_object_get(result, key);
    bool other = has && !json_same(has, wanted);
    json_decref(wanted);
    return other;
}

int sweep_read_run(const struct sweep *s, size_t run, const char *folder, struct outcome *outcome,
                   struct error *e)
{
    struct error damage;
    bool unknown;
    json_t *result = sweep_load_result(s, folder, outcome, &damage, &unknown, e);
    if (!result)
        return unknown ? -1 : 0;
    bool early = json_is_true(json_object_get(result, "stopped_early")),
         whole = early || json_is_true(json_object_get(result, "complete"));
    const struct cell *cell = plan_cell(&s->plan, sweep_cell_of(s, run), e);
    if (!cell) {
        json_decref(result);
        return -1;
    }
    bool other = is_other(result, "version", json_text(HARNESS_VERSION)) ||
                 is_other(result, "build", json_text(results_build())) ||
                 is_other(result, "scenario", json_incref(cell->scenario_json)) ||
                 is_other(result, "lab", json_incref(cell->lab_json)) ||
                 is_other(result, "seed", json_integer((json_int_t)sweep_seed_of(s, run))) ||
                 is_other(result, "repeat", json_integer((json_int_t)sweep_repeat_of(s, run)));
    const char *missing = result_missing_key(result, true);
    if (!missing && cell->scenario.verify.count && !json_object_get(result, "verify"))
        missing = "verify";
    if (whole && missing && !damage.text[0])
        error_set(&damage, "result.json: %s is missing", missing);
    bool damaged = damage.text[0];
    const char *reason = json_string_value(json_object_get(result, "reason"));
    *outcome = (struct outcome){!whole || damaged ? ENDING_LAB_FAILED
                                : early           ? ENDING_EARLY
                                                  : ENDING_WHOLE,
                                verdict_said_by(result), origin_of_result(result),
                                json_array_size(json_object_get(result, "warnings"))};
    if (damaged && (whole || !reason))
        error_set(e, "%s", damage.text);
    else if (!whole)
        error_set(e, "%s", reason ? reason : "its result does not say why it is not whole");
    json_decref(result);
    plan_release(&s->plan, cell);
    if (whole && other)
        return error_set(
            e, "%s/result.json is not of this sweep: its version, build, scenario, lab or seed is another",
            folder);
    return whole && !damaged;
}

/* Keep what is whole, remove what is not. */
static int sweep_keep_runs(struct sweep *s, struct error *e)
{
    for (size_t run = 0; run < sweep_run_count(s); run++) {
        struct outcome outcome = {0};
        char *folder = sweep_folder_of(s, run);
        int whole = folder ? sweep_read_run(s, run, folder, &outcome, e) : error_set(e, "out of memory");
        if (whole == 0 && files_remove_tree(folder, e) != 0)
            whole = -1;
        free(folder);
        if (whole < 0 || (whole && index_add(&s->index, run, sweep_entry(s, run, outcome), e) != 0))
            return -1;
        s->kept += whole;
    }
    return 0;
}

/* ---- from the request to the exit status */

/* What was written is elsewhere, or nowhere, if somebody moved or removed the folder meanwhile. */
static int sweep_find_result(const struct sweep *s, struct error *e)
{
    struct stat is;
    if (lstat(s->folder, &is) != 0 || !S_ISDIR(is.st_mode) || is.st_ino != s->folder_inode)
        return error_set(e, "the result is gone: %s was removed or replaced while it ran", s->folder);
    for (size_t i = 0; i < s->todo_count && s->ending == ENDING_WHOLE; i++) {
        json_t *entry = s->index.entries[s->todo[i]];
        const char *name = json_string_value(json_object_get(entry, "folder"));
        char *folder = sweep_has_index(s) ? files_join(s->folder, name ? name : "") : strdup(s->folder),
             *path = folder ? files_join(folder, "result.json") : NULL;
        bool there = !path || !entry || files_exist(path);
        if (!there)
            error_set(e, "the result is gone: there is no %s", path);
        free(path);
        free(folder);
        if (!there)
            return -1;
    }
    return is_result(s->folder) || s->ending != ENDING_WHOLE
               ? 0
               : error_set(e, "the result is gone: there is none in %s", s->folder);
}

/* The folder, its request and its index. */
static int sweep_open_folder(struct sweep *s, struct error *e)
{
    s->folder = s->request->resume ? sweep_resumed_folder(s->request)
                                   : results_make_folder(s->request->out, s->plan.first.scenario.name, e);
    s->todo = calloc(sweep_run_count(s) + 1, sizeof *s->todo);
    if (!s->folder || !s->todo)
        return s->folder || s->request->resume ? error_set(e, "out of memory") : -1;
    if (sweep_has_index(s) &&
        ((!s->request->resume && request_keep(s->folder, "run", s->request, &s->plan, NULL, e) != 0) ||
         (s->lock = request_lock(s->folder, e)) < 0))
        return -1;
    if (index_open(&s->index, sweep_has_index(s) ? s->folder : NULL, sweep_index_head(s), sweep_run_count(s),
                   e) != 0)
        return -1;
    if (s->request->resume)
        results_clear_resumed(s->folder);
    if (s->request->resume && (sweep_keep_runs(s, e) != 0 || index_unfinish(&s->index, e) != 0))
        return -1;
    sweep_list_todo(s);
    struct stat is;
    s->folder_inode = stat(s->folder, &is) == 0 ? is.st_ino : 0;
    return 0;
}

static int sweep_run_all(struct sweep *s)
{
    struct error e;
    if (sweep_open_folder(s, &e) != 0 || interrupt_open(&s->interrupt, &e) != 0) {
        log_error("%s", e.text);
        if (s->folder && !s->request->resume)
            remove_folder(s->folder);
        return EXIT_USAGE;
    }
    sweep_log_lab(s);
    if (s->kept && !s->request->quiet)
        log_info("%s: %zu of %zu %s kept", s->folder, s->kept, sweep_run_count(s),
                 sweep_run_count(s) == 1 ? "run is" : "runs are");
    sweep_run_todo(s);
    if (s->detached) {
        interrupt_close(&s->interrupt);
        return EXIT_DONE;
    }
    if (s->ending != ENDING_WHOLE)
        log_error("%s", s->why.text);
    if (!s->any_started && !s->kept && s->ending != ENDING_WHOLE && !s->request->resume) {
        remove_folder(s->folder); /* nothing was done: leave no folder behind */
    } else {
        sweep_judge_cells(s);
        if (index_finish(&s->index, s->ending == ENDING_WHOLE ? NULL : s->why.text, &e) != 0) {
            log_error("%s", e.text);
            sweep_fail(s, ENDING_LAB_FAILED, &e);
        }
        if (sweep_find_result(s, &e) == 0) {
            sweep_conclude(s);
        } else {
            log_error("%s", e.text);
            sweep_fail(s, ENDING_LAB_FAILED, &e);
        }
    }
    int status = sweep_exit_status(s); /* before signals that were heard are released */
    interrupt_close(&s->interrupt);
    return status;
}

void sweep_free(struct sweep *s)
{
    index_close(&s->index);
    if (s->lock >= 0)
        close(s->lock);
    json_decref(s->comparison);
    free(s->against);
    free(s->outputs);
    free(s->todo);
    free(s->folder);
    lab_opened_close(s->precheck.lab);
    plan_free(&s->plan);
}

/* Repetitions are runs, too. */
static int sweep_check_count(const struct sweep *s, struct error *e)
{
    size_t runs;
    if (__builtin_mul_overflow(s->plan.cell_count, (size_t)s->request->repeats, &runs) ||
        runs > SIZE_MAX / sizeof(void *) - 1)
        return error_set(e, "sweep: more runs than can be counted");
    if (runs > CHOICES_MANY && !s->request->yes)
        return error_set(e,
                         "sweep: %zu runs, of %zu cells %" PRId64
                         " times, are more than %d: if they are meant, "
                         "add --yes",
                         runs, s->plan.cell_count, s->request->repeats, CHOICES_MANY);
    return 0;
}

int sweep_open(struct sweep *s, const struct sweep_request *request, const struct plan_documents *documents,
               json_t *warnings, struct error *e)
{
    *s = (struct sweep){.request = request,
                        .interrupt.fd = -1,
                        .lock = -1,
                        .index.lines.fd = -1,
                        .run_one = sweep_run_in_place};
    struct plan_request plan = {.documents = documents,
                                .scenario = request->scenario,
                                .lab = request->lab,
                                .sets = request->sets.items,
                                .set_count = request->sets.count,
                                .duration_ns = request->duration_ns,
                                .seed = (uint64_t)request->seed,
                                .many = request->yes != 0};
    if (plan_load(&plan, &s->plan, e) != 0 || sweep_check_count(s, e) != 0 || sweep_choose_threads(s, e) != 0)
        return -1;
    s->precheck = (struct precheck){.seed = sweep_seed_of(s, 0),
                                    .threads = (uint32_t)s->threads,
                                    .first_alone = request->of_search,
                                    .keep = sweep_run_count(s) == 1 && !request->dry_run && !request->on,
                                    .warnings = warnings};
    if (precheck_plan(&s->plan, &s->precheck, e) != 0 || sweep_share_processors(s, e) != 0 ||
        sweep_check_room(s, e) != 0)
        return -1;
    progress_open(&s->progress, request->quiet != 0);
    return 0;
}

/* Before the runs: a link such as `latest` leads elsewhere after them, and rules that cannot be read are to
 * be known now. */
static int sweep_find_against(struct sweep *s, struct error *e)
{
    if (!s->request->against)
        return 0;
    s->against = compare_find(s->request->against, e);
    if (!s->against)
        return error_prefix(e, "--against");
    return is_result(s->against) ? compare_check_rules(&s->request->fail_if, e)
                                 : error_set(e, "--against %s is not a result", s->request->against);
}

static void forget_said(json_t *warnings, const json_t *said)
{
    const char *sentence;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)said, sentence, value)
    {
        json_object_del(warnings, sentence);
    }
}

int sweep_run(const struct sweep_request *request, const struct plan_documents *documents)
{
    const struct sweep_engine *engine = request->engine;
    struct sweep s;
    struct error e;
    json_t *warnings = json_object();
    int status = EXIT_USAGE;
    if (sweep_open(&s, request, documents, warnings, &e) != 0 || sweep_check_resumed(&s, &e) != 0 ||
        sweep_find_against(&s, &e) != 0 || (engine && engine->check(engine, &s, &e) != 0)) {
        log_error("%s", e.text);
    } else {
        forget_said(warnings, request->said);
        doctor_log_warnings(warnings);
        if (request->said)
            json_object_update(warnings, (json_t *)(uintptr_t)request->said);
        s.warned = warnings;
        status = request->dry_run ? EXIT_DONE : sweep_run_all(&s);
        if (request->dry_run)
            sweep_print_dry_run(&s);
    }
    json_decref(warnings);
    sweep_free(&s);
    return status;
}

int sweep_resume(const struct sweep_request *request, const struct plan_documents *documents)
{
    struct kept_request kept;
    struct error e;
    int status = EXIT_USAGE;
    if (request_load(request, "run", &kept, &e) == 0 && (documents || request_check_files(&kept, &e) == 0))
        status = sweep_run(&kept.request, documents ? documents : &kept.documents);
    else
        log_error("%s", e.text);
    request_free(&kept);
    return status;
}
