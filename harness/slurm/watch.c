#include "harness/slurm/watch.h"

#include "harness/slurm/commands.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/program/program.h"
#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS       100
#define LOOK_LEAST_NS (NS_PER_S / 5)
#define LOOK_MOST_NS  (5 * NS_PER_S)
#define ASK_LEAST_NS  NS_PER_S
#define ASK_MOST_NS   (30 * NS_PER_S)
#define SILENT_NS     (60 * NS_PER_S) /* without an answer of Slurm for this time, a warning is printed */
#define GRACE_NS      (5 * NS_PER_S)  /* for tasks whose runs are all there */
#define LINE          79

/* What is done again and again, and takes a small part of the time however slow it is. */
struct recurring {
    int64_t next_ns, least_ns, most_ns, share;
};

struct watch {
    struct sweep *s;
    const struct submission *job;
    bool earlier, gone, cancelled, told;
    int64_t began_ns, answered_ns;
    int64_t whole_ns; /* since when all runs of the job are there; 0: they are not */
    struct recurring look, ask;
    struct slurm_queue queue;
};

static bool is_due(const struct recurring *r)
{
    return clock_monotonic_ns() >= r->next_ns;
}

static void again(struct recurring *r, int64_t began_ns)
{
    int64_t now_ns = clock_monotonic_ns(), wait_ns = (now_ns - began_ns) * r->share;
    r->next_ns = now_ns + (wait_ns < r->least_ns ? r->least_ns : wait_ns > r->most_ns ? r->most_ns : wait_ns);
}

/* ---- results */

void watch_print(struct sweep *s, bool all)
{
    while (s->printed < s->todo_count && (all || s->index.entries[s->todo[s->printed]])) {
        size_t run = s->todo[s->printed++];
        const json_t *entry = s->index.entries[run];
        char *folder = sweep_folder_of(s, run);
        bool whole = json_is_true(json_object_get(entry, "complete"));
        struct outcome outcome = {whole ? ENDING_WHOLE : ENDING_LAB_FAILED, verdict_said_by(entry),
                                  ORIGIN_MEASURED};
        if (entry && folder)
            sweep_print_run(s, run, folder, NULL, outcome);
        free(folder);
    }
    sweep_look_at_output(s);
}

static void collect_run(struct sweep *s, size_t run)
{
    struct outcome outcome = {.ending = ENDING_NOT_STARTED};
    struct error e;
    char *folder = sweep_folder_of(s, run);
    int whole = folder ? sweep_look_at_run(s, run, folder, &outcome, &e) : error_set(&e, "out of memory");
    if (whole < 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    else if (outcome.ending != ENDING_NOT_STARTED)
        sweep_count_run(s, run, outcome, &e);
    free(folder);
}

/* 0: it is not the name of a run's folder. */
static size_t run_number(const char *name)
{
    size_t length = strspn(name, "0123456789");
    return length && !name[length] && length < 12 ? strtoul(name, NULL, 10) : 0;
}

void watch_collect(struct sweep *s)
{
    DIR *entries = opendir(s->folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t number = run_number(entry->d_name);
        if (number && number <= sweep_run_count(s) && !s->index.entries[number - 1])
            collect_run(s, number - 1);
    }
    if (entries)
        closedir(entries);
}

/* ---- the job */

static void look(struct watch *w)
{
    struct error e;
    int64_t began_ns = clock_monotonic_ns();
    watch_collect(w->s);
    progress_clear(&w->s->progress);
    watch_print(w->s, false);
    char *failed = w->earlier ? NULL : submission_failed(w->job);
    if (failed) {
        error_set(&e, "%s", failed);
        sweep_fail(w->s, ENDING_LAB_FAILED, &e);
    }
    free(failed);
    again(&w->look, began_ns);
}

/* Slurm that does not answer says nothing of the job. */
static void tell_silence(struct watch *w, const struct error *e)
{
    if (w->told || clock_monotonic_ns() - w->answered_ns < SILENT_NS)
        return;
    progress_clear(&w->s->progress);
    log_warning("Slurm does not answer: %s; waiting for it", e->text);
    w->told = true;
}

static void ask(struct watch *w)
{
    struct error e;
    struct slurm_queue queue;
    int64_t began_ns = clock_monotonic_ns();
    if (slurm_ask(w->job->name, &queue, &e) != 0) {
        tell_silence(w, &e);
    } else {
        w->queue = queue;
        w->gone = queue.waiting + queue.running == 0;
        w->answered_ns = clock_monotonic_ns();
    }
    again(&w->ask, began_ns);
}

static bool has_all(const struct watch *w)
{
    for (size_t k = 0; k < w->job->count; k++)
        if (!w->s->index.entries[w->job->runs[k]])
            return false;
    return true;
}

static void cancel(struct watch *w)
{
    struct error e;
    progress_say(&w->s->progress, "cancelling the job");
    if (slurm_cancel(w->job->name, &e) != 0)
        log_warning("job %s may go on: %s; scancel --name=%s ends it", w->job->name, e.text, w->job->name);
    w->cancelled = true;
    w->ask.next_ns = 0;
}

/* Tasks of which there is nothing left to do, such as those that a restarted Slurm begins once more. */
static void end_whole(struct watch *w)
{
    int64_t now_ns = clock_monotonic_ns();
    if (w->gone || !has_all(w))
        return;
    w->whole_ns = w->whole_ns ? w->whole_ns : now_ns;
    if (now_ns - w->whole_ns > GRACE_NS && !w->cancelled)
        cancel(w);
    w->gone = now_ns - w->whole_ns >
              2 * GRACE_NS; /* if Slurm has not ended them, it is none of the sweep's business */
}

/* Slurm would keep them for ever. */
static void end_held(struct watch *w)
{
    struct error e;
    error_set(&e, "%zu tasks of job %s could not be started: Slurm says \"%s\"", w->queue.held, w->job->name,
              w->queue.reason);
    if (w->earlier)
        cancel(w);
    else
        sweep_fail(w->s, ENDING_LAB_FAILED, &e);
}

/* After a failure, or when the user ends it. */
static void end_early(struct watch *w)
{
    struct error e;
    if (w->queue.held && w->queue.held == w->queue.waiting + w->queue.running && !w->cancelled)
        end_held(w);
    if (interrupt_count(&w->s->interrupt) > 0) {
        error_set(&e, "interrupted");
        sweep_fail(w->s, ENDING_INTERRUPTED, &e);
    }
    if (w->s->ending != ENDING_WHOLE && !w->cancelled)
        cancel(w);
}

static void show(struct watch *w)
{
    struct sweep *s = w->s;
    char waiting[SLURM_WORD + 40] = "", tasks[LINE + sizeof waiting];
    int64_t spent_ns = clock_monotonic_ns() - w->began_ns;
    int64_t left = (int64_t)(s->todo_count - s->ended);
    if (w->queue.waiting)
        snprintf(waiting, sizeof waiting, ", %zu waiting%s%.20s%s", w->queue.waiting,
                 w->queue.reason[0] ? " (" : "", w->queue.reason, w->queue.reason[0] ? ")" : "");
    snprintf(tasks, sizeof tasks, "%zu tasks run%s", w->queue.running, waiting);
    progress_sweep(&s->progress,
                   &(struct progress_sweep){
                       .runs = sweep_run_count(s),
                       .ended = s->kept + s->ended,
                       .failed = s->index.with[VERDICT_FAILED] + s->index.with[VERDICT_INCOMPLETE],
                       .tasks = tasks,
                       .left_ns = s->ended ? spent_ns / (int64_t)s->ended * left : -1,
                   });
}

/* ---- runs that are missing */

static void say_missing(struct sweep *s, const struct submission *job, size_t first, size_t missing)
{
    struct error e;
    size_t task = submission_task_of(job, first);
    char *words = submission_last_words(job, task);
    if (words && *words)
        error_set(&e,
                  "%zu of %zu runs are missing: task %zu ended before its runs did; the last line of "
                  "%s/task-%zu.log: %s",
                  missing, sweep_run_count(s), task, job->folder, task, words);
    else
        error_set(&e,
                  "%zu of %zu runs are missing: task %zu ended before its runs did, and there is no word of "
                  "it in %s: do the nodes see this folder?",
                  missing, sweep_run_count(s), task, job->folder);
    free(words);
    sweep_fail(s, ENDING_LAB_FAILED, &e);
}

static void look_for_missing(struct sweep *s, const struct submission *job)
{
    size_t missing = 0, first = 0;
    for (size_t k = job->count; k-- > 0;)
        if (!s->index.entries[job->runs[k]]) {
            first = k;
            missing++;
        }
    if (missing)
        say_missing(s, job, first, missing);
}

static bool goes_on(const struct watch *w)
{
    return !w->gone && interrupt_count(&w->s->interrupt) < 2;
}

void watch_job(struct sweep *s, const struct submission *job, bool earlier)
{
    int64_t now_ns = clock_monotonic_ns();
    struct watch w = {.s = s,
                      .job = job,
                      .earlier = earlier,
                      .began_ns = now_ns,
                      .answered_ns = now_ns,
                      .look = {.least_ns = LOOK_LEAST_NS, .most_ns = LOOK_MOST_NS, .share = 10},
                      .ask = {.least_ns = ASK_LEAST_NS, .most_ns = ASK_MOST_NS, .share = 20}};
    while (goes_on(&w)) {
        struct pollfd signals = {.fd = s->interrupt.fd, .events = POLLIN};
        if (is_due(&w.ask))
            ask(&w);
        if (w.gone || is_due(&w.look)) /* after the last answer once more */
            look(&w);
        end_whole(&w);
        end_early(&w);
        show(&w);
        if (!w.gone && interrupt_count(&s->interrupt) == 0)
            poll(&signals, 1, STEP_MS);
        else if (!w.gone)
            clock_sleep_until_ns(clock_monotonic_ns() + STEP_MS * NS_PER_MS);
    }
    progress_clear(&s->progress);
    if (!earlier)
        look_for_missing(s, job);
}
