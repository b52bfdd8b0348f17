#include "harness/slurm/commands.h"
#include "harness/slurm/slurm.h"
#include "harness/slurm/submission.h"
#include "harness/run/results.h"
#include "harness/run/sweep.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/folder/sweep_index.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/program/program.h"
#include "lib/text.h"
#include "reports/results/differences.h"
#include <stdlib.h>
#include <string.h>

/* A run is one of these. */
enum standing {
    STANDS_WHOLE,
    STANDS_EARLY,   /* a search ended it as soon as a constraint was broken: it has failed */
    STANDS_BROKEN,  /* its result says that it did not come to its end, or its files are not those of its
                       result */
    STANDS_RUNNING, /* in a task that runs, by Slurm's word */
    STANDS_WAITING, /* in a task that waits, by Slurm's word */
    STANDS_HERE,    /* missing, and a process works on the folder */
    STANDS_MISSING,
};
#define STANDINGS (STANDS_MISSING + 1)

static const char *const standing_keys[STANDINGS] = {
    "whole", "stopped_early", "broken", "in_running_tasks", "in_waiting_tasks", "pending", "missing"};

struct status {
    struct sweep sweep;
    unsigned char *standing; /* of each run */
    unsigned char *own;      /* the verdict of each run's result; VERDICT_NONE: it is not whole */
    size_t with[STANDINGS], verdicts[VERDICT_INCOMPLETE + 1];
    enum verdict verdict; /* of all whole runs, by the index; VERDICT_NONE: it is not known */
    json_t *judged;       /* what was judged at the end (sweep_index_judged); NULL: nothing */
    pid_t holder;         /* the process that works on the folder, or 0 */
    char reason[SLURM_WORD];
    char *job;           /* the name of the last job that has tasks in the queue; NULL: none has */
    char *failed;        /* what a task of the last job has left; NULL: nothing */
    struct text ends;    /* how tasks of the last job ended whose runs are missing; empty: nothing is known */
    struct text clocks;  /* of nodes: sentences, a line each */
    struct error broken; /* why the first of the broken runs is; empty: none is */
    struct error silent; /* why Slurm's word is not known; empty */
};

static int status_look_at_runs(struct status *st, struct error *e)
{
    struct sweep *s = &st->sweep;
    for (size_t run = 0; run < sweep_run_count(s); run++) {
        struct outcome outcome = {.ending = ENDING_NOT_STARTED};
        char *folder = sweep_folder_of(s, run);
        int whole = folder ? sweep_read_run(s, run, folder, &outcome, e) : error_set(e, "out of memory");
        if (whole == 0 && outcome.ending != ENDING_NOT_STARTED && !st->broken.text[0])
            error_set(&st->broken, "%s: %s", folder, e->text);
        free(folder);
        if (whole < 0)
            return -1;
        bool early = outcome.ending == ENDING_EARLY;
        st->standing[run] = whole                                  ? early ? STANDS_EARLY : STANDS_WHOLE
                            : outcome.ending != ENDING_NOT_STARTED ? STANDS_BROKEN
                            : st->holder                           ? STANDS_HERE
                                                                   : STANDS_MISSING;
        st->own[run] = whole > 0 && !early ? (unsigned char)outcome.verdict : VERDICT_NONE;
    }
    return 0;
}

/* By Slurm's word: which runs that have no result are in its queue? */
static void status_ask_slurm(struct status *st, const struct submission *job)
{
    struct slurm_queue queue;
    struct error e;
    if (slurm_find(&e) != 0 || slurm_ask(job->name, &queue, &e) != 0) {
        st->silent = e;
        return;
    }
    for (size_t k = 0; k < job->count; k++) {
        unsigned char *standing = &st->standing[job->runs[k]];
        enum slurm_state state = queue.states[submission_task_of(job, k)];
        if (*standing >= STANDS_RUNNING && state != SLURM_GONE)
            *standing = state == SLURM_RUNNING ? STANDS_RUNNING : STANDS_WAITING;
    }
    bool lost[SLURM_MOST_TASKS + 1] = {false}, any = false;
    for (size_t k = 0; k < job->count; k++) {
        size_t task = submission_task_of(job, k);
        bool is = st->standing[job->runs[k]] == STANDS_MISSING &&
                  (queue.ends[task].state[0] || queue.ends[0].state[0]);
        lost[task] |= is;
        any |= is;
    }
    text_clear(&st->ends);
    if (any)
        submission_say_ends(job, &queue, lost, &st->ends);
    if (queue.waiting + queue.running == 0)
        return;
    memcpy(st->reason, queue.reason, sizeof st->reason);
    free(st->job);
    st->job = strdup(job->name);
}

static void status_look_at_jobs(struct status *st)
{
    const char *folder = st->sweep.folder;
    size_t last = submission_last(folder);
    for (size_t number = 1; number <= last; number++) {
        struct submission job;
        struct error e;
        if (submission_load(&job, folder, number, sweep_run_count(&st->sweep), &e) != 0) {
            log_warning("%s", e.text);
        } else {
            status_ask_slurm(st, &job);
            free(st->failed);
            st->failed = submission_failed(&job);
            submission_compare_clocks(&job, &st->clocks);
        }
        submission_free(&job);
    }
}

/* ---- showing it */

static bool have_all_ended(const struct status *st)
{
    return st->with[STANDS_WHOLE] + st->with[STANDS_EARLY] == sweep_run_count(&st->sweep);
}

static void print_count(size_t count, const char *what)
{
    if (count)
        print_out("%7zu %s\n", count, what);
}

static void print_whole(const struct status *st)
{
    const char *comma = ":";
    print_out("%7zu whole", st->with[STANDS_WHOLE]);
    for (enum verdict v = VERDICT_UNJUDGED; v <= VERDICT_INCOMPLETE; v++)
        if (st->verdicts[v]) {
            print_out("%s %zu %s", comma, st->verdicts[v], verdict_names[v]);
            comma = ",";
        }
    print_out("\n");
}

static void print_resume(const struct sweep *s, const char *what)
{
    print_out("%s\n", what);
    request_print_resume(stdout, "run", s->folder, NULL);
}

/* What was judged when the sweep had ended, and did not pass: no run has it. */
static void print_judged(const struct status *st)
{
    size_t i, j;
    const json_t *cell, *item;
    if (sweep_has_index(&st->sweep) && have_all_ended(st))
        print_out("the sweep: %s\n",
                  st->verdict ? verdict_names[st->verdict] : "not judged as a whole: it has no index.json");
    json_array_foreach(st->verdict ? st->judged : NULL, i, cell)
    {
        struct text choice = {0};
        choices_add(json_object_get(cell, "cell"), &choice);
        json_array_foreach(json_object_get(cell, "expectations"), j, item)
        {
            const char *verdict = json_string_value(json_object_get(item, "verdict")),
                       *name = json_string_value(json_object_get(item, "name")),
                       *reason = json_string_value(json_object_get(item, "reason"));
            if (verdict_of(verdict ? verdict : "") == VERDICT_FAILED)
                print_out_line("%7s %s%s%s (%s)", verdict, text_string(&choice), choice.length ? ": " : "",
                               name ? name : "?", reason ? reason : "");
        }
        text_free(&choice);
    }
}

static void print_status(const struct status *st)
{
    const struct sweep *s = &st->sweep;
    struct text waiting = {0}, here = {0};
    text_add(&waiting, "in tasks that wait, by Slurm's word%s%s%s", st->reason[0] ? " (" : "", st->reason,
             st->reason[0] ? ")" : "");
    text_add(&here, "without a result yet: process %d works on them", (int)st->holder);
    print_out_line("%s: %s, %zu %s", s->folder, s->plan.first.scenario.name, sweep_run_count(s),
                   THINGS(sweep_run_count(s), "run"));
    print_whole(st);
    print_count(st->with[STANDS_EARLY], "stopped early, and failed: they broke a constraint of the search");
    print_count(st->with[STANDS_BROKEN],
                "broken: they did not come to their end, or their files are not as they were written");
    if (st->broken.text[0])
        print_out_line("        %s%s", st->with[STANDS_BROKEN] > 1 ? "the first: " : "", st->broken.text);
    print_count(st->with[STANDS_RUNNING], "in tasks that run, by Slurm's word");
    print_count(st->with[STANDS_WAITING], text_string(&waiting));
    print_count(st->with[STANDS_HERE], text_string(&here));
    print_count(st->with[STANDS_MISSING], "missing");
    print_judged(st);
    if (st->job)
        print_out_line("job %s", st->job);
    if (st->failed || st->ends.length)
        print_out_line("%s", st->failed ? st->failed : text_string(&st->ends));
    print_out("%s", text_string(&st->clocks));
    if (st->with[STANDS_BROKEN] + st->with[STANDS_MISSING] && !st->holder && !st->job)
        print_resume(s, SWEEP_RESUME_HINT);
    else if (sweep_has_index(s) && have_all_ended(st) && !st->verdict && !st->holder)
        print_resume(s, SWEEP_JUDGE_HINT);
    text_free(&waiting);
    text_free(&here);
}

static void print_json(const struct status *st)
{
    json_t *runs = json_object(), *verdicts = json_object();
    for (size_t i = 0; i < STANDINGS; i++)
        json_object_set_new(runs, standing_keys[i], json_integer((json_int_t)st->with[i]));
    for (enum verdict v = VERDICT_UNJUDGED; v <= VERDICT_INCOMPLETE; v++)
        if (st->verdicts[v])
            json_object_set_new(verdicts, verdict_names[v], json_integer((json_int_t)st->verdicts[v]));
    json_t *document = json_make(
        "{s:i,s:s,s:s,s:s,s:s,s:I,s:o,s:o,s:s*,s:s*,s:s*,s:s*,s:s*}", "schema", 1, "program", "harness",
        "version", HARNESS_VERSION, "folder", st->sweep.folder, "scenario",
        st->sweep.plan.first.scenario.name, "count", (json_int_t)sweep_run_count(&st->sweep), "runs", runs,
        "verdicts", verdicts, "job_name", st->job, "waits_for", st->reason[0] ? st->reason : NULL, "failed",
        st->failed        ? st->failed
        : st->ends.length ? text_string(&st->ends)
                          : NULL,
        "slurm_silent", st->silent.text[0] ? st->silent.text : NULL, "broken",
        st->broken.text[0] ? st->broken.text : NULL);
    if (document && st->verdict)
        json_object_set_new(document, "verdict", json_text(verdict_names[st->verdict]));
    if (document && st->holder)
        json_object_set_new(document, "process", json_integer(st->holder));
    json_print(stdout, document, 17);
    json_decref(document);
}

/* What the index of all runs says; of a sweep that goes on, or runs again, it says nothing yet. */
static void status_look_at_index(struct status *st)
{
    static const char *const paths[] = {"verdict", NULL};
    struct folder folder = {.fd = -1};
    if (folder_open(&folder, st->sweep.folder, NULL) == 0 && folder_has(&folder, SWEEP_INDEX)) {
        json_t *index = json_file_load_parts_in(&folder, SWEEP_INDEX, DOCUMENT_INDEX, paths, NULL);
        if (index && have_all_ended(st))
            st->verdict = verdict_said_by(index);
        st->judged = sweep_index_judged(&folder);
        json_decref(index);
    }
    folder_close(&folder);
}

/* As browse and pages count them: with what the sweep's end judged of their cells. */
static void status_count_verdicts(struct status *st)
{
    for (size_t run = 0; run < sweep_run_count(&st->sweep); run++) {
        char name[24];
        results_cell_name(run + 1, name, sizeof name);
        if (st->own[run])
            st->verdicts[sweep_index_verdict(st->own[run], sweep_index_judged_of(st->judged, name))]++;
    }
}

static int status_look(struct status *st, const struct kept_request *kept, struct error *e)
{
    int result = sweep_open(&st->sweep, &kept->request, &kept->documents, NULL, e);
    if (result != 0 || sweep_check_resumed(&st->sweep, e) != 0)
        return -1;
    st->sweep.folder = sweep_resumed_folder(&kept->request);
    st->standing = calloc(sweep_run_count(&st->sweep) + 1, 1);
    st->own = calloc(sweep_run_count(&st->sweep) + 1, 1);
    if (!st->sweep.folder || !st->standing || !st->own)
        return error_set(e, "out of memory");
    st->holder = request_holder(st->sweep.folder);
    if (status_look_at_runs(st, e) != 0)
        return -1;
    status_look_at_jobs(st);
    for (size_t run = 0; run < sweep_run_count(&st->sweep); run++)
        st->with[st->standing[run]]++;
    status_look_at_index(st);
    status_count_verdicts(st);
    return 0;
}

static int status_report(const struct status *st, bool json)
{
    if (st->silent.text[0])
        log_warning("what is in Slurm's queue is not known: %s", st->silent.text);
    if (json)
        print_json(st);
    else
        print_status(st);
    return have_all_ended(st) ? EXIT_DONE : EXIT_FAILED;
}

int slurm_status(const char *folder, bool json)
{
    struct sweep_request request = {.resume = folder,
                                    .jobs = FIELD_UNSET,
                                    .threads = FIELD_UNSET,
                                    .cells_per_task = FIELD_UNSET,
                                    .quiet = 1};
    struct status st = {.sweep = {.lock = -1, .interrupt.fd = -1, .index.lines.fd = -1}};
    struct kept_request kept;
    struct error e;
    int status = EXIT_USAGE;
    if (request_load(&request, "run", &kept, &e) == 0 && status_look(&st, &kept, &e) == 0)
        status = status_report(&st, json);
    else
        log_error("%s", e.text);
    sweep_free(&st.sweep);
    request_free(&kept);
    free(st.standing);
    free(st.own);
    free(st.job);
    free(st.failed);
    json_decref(st.judged);
    text_free(&st.ends);
    text_free(&st.clocks);
    return status;
}
