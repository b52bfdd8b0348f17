/* The runs of a sweep as a job array of Slurm: planned, submitted, and watched until their results are
 * there. */
#include "harness/slurm/apart.h"
#include "harness/slurm/commands.h"
#include "harness/slurm/slurm.h"
#include "harness/slurm/submission.h"

#include "harness/run/workers.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/files.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/words.h"
#include "lib/text.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX  "slurm"
#define TASK_NS (60 * NS_PER_S) /* what a task should take at least: starting it takes seconds */
#define TRY_S   10              /* for this time the first run is tried here */

#define STEP_MS       100
#define LOOK_LEAST_NS (NS_PER_S / 5)
#define LOOK_MOST_NS  (5 * NS_PER_S)
#define ASK_LEAST_NS  NS_PER_S
#define ASK_MOST_NS   (30 * NS_PER_S)
#define SILENT_NS     (60 * NS_PER_S) /* without an answer of Slurm for this time, a warning is printed */
#define GRACE_NS      (5 * NS_PER_S)  /* for tasks whose runs are all there */
#define LINE          79

/* ---- the profile */

static int profile_unknown(const char *name, const struct user_config *config, struct error *e)
{
    const struct slurm_profile *profiles = config->slurm.items;
    struct text known = {0};
    for (size_t i = 0; i < config->slurm.count && i < 10; i++)
        text_add(&known, "%s%s", i ? ", " : "", profiles[i].name);
    error_set(e, "--on slurm:%s: no such profile; \"slurm\" in $XDG_CONFIG_HOME/harness/config.json has %s",
              name, known.length ? text_string(&known) : "none");
    text_free(&known);
    return -1;
}

int slurm_profile_of(const char *on, const struct user_config *config, struct slurm_profile *profile,
                     struct error *e)
{
    size_t length = strlen(PREFIX);
    const struct slurm_profile *profiles = config->slurm.items;
    *profile = (struct slurm_profile){.time_ns = FIELD_UNSET, .memory_bytes = FIELD_UNSET, .cpus = 1};
    if (strncmp(on, PREFIX, length) != 0 || (on[length] != '\0' && on[length] != ':'))
        return error_set(e, "--on %s: expected slurm or slurm:PROFILE", on);
    const char *name = on[length] ? on + length + 1 : "default";
    for (size_t i = 0; i < config->slurm.count; i++)
        if (strcmp(profiles[i].name, name) == 0) {
            *profile = profiles[i];
            return 0;
        }
    return on[length] ? profile_unknown(name, config, e) : 0;
}

static bool is_number(const struct dirent *entry)
{
    return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

/* Parts have names, runs of a sweep and results of a part numbers. */
static int is_part(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !is_number(entry);
}

static int is_result(const struct dirent *entry)
{
    return is_number(entry);
}

/* `levels`: 2 of a whole, 1 of a part, 0 of a sweep in it. */
/* NOLINTNEXTLINE(misc-no-recursion): three levels deep */
static bool was_there(const char *folder, int levels)
{
    struct dirent **names = NULL;
    bool was = submission_last(folder) > 0;
    int count = !was && levels ? scandir(folder, &names, levels == 2 ? is_part : is_result, NULL) : 0;
    for (int i = 0; i < count; i++) {
        char *below = was ? NULL : files_join(folder, names[i]->d_name);
        was = was || (below && was_there(below, levels - 1));
        free(below);
        free(names[i]);
    }
    free(names);
    return was;
}

bool slurm_was_there(const char *folder)
{
    return was_there(folder, 2);
}

/* ---- before there is a folder */

static bool sweep_is_simulated(const struct sweep *s)
{
    return lab_kind(&s->plan.first.lab)->simulated;
}

static int sweep_check_cells(const struct sweep *s, struct error *e)
{
    int64_t cells = s->request->cells_per_task;
    size_t least = (sweep_run_count(s) + SLURM_MOST_TASKS - 1) / SLURM_MOST_TASKS;
    if (cells == FIELD_UNSET)
        return 0;
    if (!sweep_is_simulated(s))
        return error_set(e, "--cells-per-task: all runs of lab %s are one task, since all use its hosts",
                         s->plan.first.lab.name);
    if ((size_t)cells < least)
        return error_set(e, "--cells-per-task %lld: %zu runs would be more than %d tasks: give at least %zu",
                         (long long)cells, sweep_run_count(s), SLURM_MOST_TASKS, least);
    return 0;
}

static int engine_check(const struct sweep_engine *engine, const struct sweep *s, struct error *e)
{
    const struct slurm_engine *self = (const void *)engine;
    if (!self->profile)
        return 0;
    if (!sweep_has_index(s))
        return error_set(e, "--on %s: this is a single run, without a sweep or --repeat: run it here",
                         s->request->on);
    return slurm_find(e) != 0 ? -1 : sweep_check_cells(s, e);
}

/* ---- waiting for a job: its runs come into the index as their results appear */

/* What is done again and again, and takes a small part of the time however slow it is. */
struct recurring {
    int64_t next_ns, least_ns, most_ns, share;
};

struct watch {
    struct sweep *s;
    const struct submission *job;
    struct text *nodes; /* that cannot work on the sweep, with commas between them */
    bool earlier, gone, cancelled, told;
    int64_t began_ns, answered_ns;
    int64_t whole_ns; /* since when all runs of the job are there; 0: they are not */
    struct recurring look, ask;
    struct slurm_queue queue;
};

static bool recurring_is_due(const struct recurring *r)
{
    return clock_monotonic_ns() >= r->next_ns;
}

static void recurring_again(struct recurring *r, int64_t began_ns)
{
    int64_t now_ns = clock_monotonic_ns(), wait_ns = (now_ns - began_ns) * r->share;
    r->next_ns = now_ns + (wait_ns < r->least_ns ? r->least_ns : wait_ns > r->most_ns ? r->most_ns : wait_ns);
}

/* Print what has ended, in the order of runs; `all`: also behind a run that has not. */
static void sweep_print_ended(struct sweep *s, bool all)
{
    while (s->printed < s->todo_count && (all || s->index.entries[s->todo[s->printed]])) {
        size_t run = s->todo[s->printed++];
        const json_t *entry = s->index.entries[run];
        char *folder = sweep_folder_of(s, run);
        bool whole = json_is_true(json_object_get(entry, "complete"));
        struct outcome outcome = {whole ? ENDING_WHOLE : ENDING_LAB_FAILED, verdict_said_by(entry),
                                  ORIGIN_MEASURED,
                                  (size_t)json_integer_value(json_object_get(entry, "warnings"))};
        if (entry && folder)
            sweep_print_run(s, run, folder, NULL, outcome);
        free(folder);
    }
    sweep_check_output(s);
}

static void sweep_collect_run(struct sweep *s, size_t run)
{
    struct outcome outcome = {.ending = ENDING_NOT_STARTED};
    struct error e;
    char *folder = sweep_folder_of(s, run);
    int whole = folder ? sweep_read_run(s, run, folder, &outcome, &e) : error_set(&e, "out of memory");
    if (whole < 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    else if (outcome.ending != ENDING_NOT_STARTED)
        sweep_count_run(s, run, outcome, &e);
    free(folder);
}

/* 0: it is not the name of a run's folder. */
static size_t run_number_of(const char *name)
{
    size_t length = strspn(name, "0123456789");
    return length && !name[length] && length < 12 ? strtoul(name, NULL, 10) : 0;
}

/* Into the index with all runs to do whose results are there. */
static void sweep_collect_runs(struct sweep *s)
{
    DIR *entries = opendir(s->folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t number = run_number_of(entry->d_name);
        if (number && number <= sweep_run_count(s) && !s->index.entries[number - 1])
            sweep_collect_run(s, number - 1);
    }
    if (entries)
        closedir(entries);
}

static void watch_look(struct watch *w)
{
    struct error e;
    int64_t began_ns = clock_monotonic_ns();
    sweep_collect_runs(w->s);
    progress_clear(&w->s->progress);
    sweep_print_ended(w->s, false);
    char *failed = w->earlier ? NULL : submission_failed(w->job);
    if (failed) {
        error_set(&e, "%s", failed);
        sweep_fail(w->s, ENDING_LAB_FAILED, &e);
    }
    free(failed);
    recurring_again(&w->look, began_ns);
}

/* Slurm that does not answer says nothing of the job. */
static void watch_warn_of_silence(struct watch *w, const struct error *e)
{
    if (w->told || clock_monotonic_ns() - w->answered_ns < SILENT_NS)
        return;
    progress_clear(&w->s->progress);
    log_warning("Slurm does not answer: %s; waiting for it", e->text);
    w->told = true;
}

/* "n1,n2": is the node another one? */
static bool nodes_add(struct text *nodes, const char *node)
{
    size_t length = strlen(node);
    for (const char *at = text_string(nodes); *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, node, length) == 0 && (at[length] == ',' || !at[length]))
            return false;
    text_add(nodes, "%s%s", nodes->length ? "," : "", node);
    return true;
}

/* Warn once of each node that cannot work on the sweep. */
static void watch_warn_of_nodes(struct watch *w)
{
    for (size_t task = 1; task <= submission_tasks(w->job); task++) {
        const struct slurm_end *end = &w->queue.ends[task];
        if (!end->why[0] || !nodes_add(w->nodes, end->node))
            continue;
        progress_clear(&w->s->progress);
        log_warning("node %s cannot work on this sweep: %s; no more tasks of it are begun there", end->node,
                    end->why);
    }
}

/* Slurm forgets them. */
static void watch_keep_ends(const struct watch *w, struct slurm_queue *now)
{
    for (size_t task = 0; task <= SLURM_MOST_TASKS; task++)
        if (!now->ends[task].state[0] && now->states[task] == SLURM_GONE)
            now->ends[task] = w->queue.ends[task];
}

static void watch_ask(struct watch *w)
{
    struct error e;
    struct slurm_queue queue;
    int64_t began_ns = clock_monotonic_ns();
    if (slurm_ask(w->job->name, &queue, &e) != 0) {
        watch_warn_of_silence(w, &e);
    } else {
        watch_keep_ends(w, &queue);
        w->queue = queue;
        watch_warn_of_nodes(w);
        w->gone = queue.waiting + queue.running == 0;
        w->answered_ns = clock_monotonic_ns();
    }
    recurring_again(&w->ask, began_ns);
}

static bool watch_has_all_runs(const struct watch *w)
{
    for (size_t k = 0; k < w->job->count; k++)
        if (!w->s->index.entries[w->job->runs[k]])
            return false;
    return true;
}

static void watch_cancel(struct watch *w)
{
    struct error e;
    progress_say(&w->s->progress, "cancelling the job");
    if (slurm_cancel(w->job->name, &e) != 0)
        log_warning("job %s may go on: %s; scancel --name=%s ends it", w->job->name, e.text, w->job->name);
    w->cancelled = true;
    w->ask.next_ns = 0;
}

/* Tasks of which there is nothing left to do, such as those that a restarted Slurm begins once more. */
static void watch_end_whole(struct watch *w)
{
    int64_t now_ns = clock_monotonic_ns();
    if (w->gone || !watch_has_all_runs(w))
        return;
    w->whole_ns = w->whole_ns ? w->whole_ns : now_ns;
    if (now_ns - w->whole_ns > GRACE_NS && !w->cancelled)
        watch_cancel(w);
    w->gone = now_ns - w->whole_ns >
              2 * GRACE_NS; /* if Slurm has not ended them, it is none of the sweep's business */
}

/* Slurm would keep them for ever: those that it does not try again, and those of which no node is left. */
static bool watch_is_held(const struct watch *w)
{
    bool none_left = w->nodes->length && (strstr(w->queue.reason, "BadConstraints") ||
                                          strstr(w->queue.reason, "ReqNodeNotAvail"));
    return w->queue.running == 0 && w->queue.waiting > 0 && (none_left || w->queue.held == w->queue.waiting);
}

static void watch_end_held(struct watch *w)
{
    struct error e;
    error_set(&e, "%zu tasks of job %s could not be started: Slurm says \"%s\"%s%s", w->queue.waiting,
              w->job->name, w->queue.reason,
              w->nodes->length ? "; these nodes cannot work on the sweep: " : "", text_string(w->nodes));
    if (w->earlier)
        watch_cancel(w);
    else
        sweep_fail(w->s, ENDING_LAB_FAILED, &e);
}

/* After a failure, or when the user ends it. */
static void watch_end_early(struct watch *w)
{
    struct error e;
    if (watch_is_held(w) && !w->cancelled)
        watch_end_held(w);
    if (interrupt_count(&w->s->interrupt) > 0) {
        error_set(&e, "interrupted");
        sweep_fail(w->s, ENDING_INTERRUPTED, &e);
    }
    if (w->s->ending != ENDING_WHOLE && !w->cancelled)
        watch_cancel(w);
}

static void watch_show(struct watch *w)
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

/* Runs that are missing, by node: the nodes that cannot work on the sweep, and how the first other task
 * ended. */
static void sweep_check_missing(struct sweep *s, const struct watch *w)
{
    const struct submission *job = w->job;
    struct text why = {0};
    struct error e;
    size_t missing = 0;
    for (size_t k = 0; k < job->count; k++)
        missing += !s->index.entries[job->runs[k]];
    if (!missing)
        return;
    bool lost[SLURM_MOST_TASKS + 1] = {false};
    for (size_t k = 0; k < job->count; k++)
        lost[submission_task_of(job, k)] |= !s->index.entries[job->runs[k]];
    submission_say_ends(job, &w->queue, lost, &why);
    error_set(&e, "%zu of %zu runs are missing: %s", missing, sweep_run_count(s), text_string(&why));
    submission_say_failed(job->folder, e.text);
    sweep_fail(s, ENDING_LAB_FAILED, &e);
    text_free(&why);
}

static bool watch_goes_on(const struct watch *w)
{
    return !w->gone && interrupt_count(&w->s->interrupt) < 2;
}

/* Until the job has left the queue. `earlier`: it is of an earlier call of this program, and what it leaves
 * undone is done by this one. Otherwise a run that is not whole, a task that says why it cannot go on, and
 * runs that are missing fail the sweep. */
static void watch_job(struct sweep *s, const struct submission *job, bool earlier, struct text *nodes)
{
    int64_t now_ns = clock_monotonic_ns();
    size_t known = nodes->length;
    struct watch w = {.s = s,
                      .job = job,
                      .nodes = nodes,
                      .earlier = earlier,
                      .began_ns = now_ns,
                      .answered_ns = now_ns,
                      .look = {.least_ns = LOOK_LEAST_NS, .most_ns = LOOK_MOST_NS, .share = 10},
                      .ask = {.least_ns = ASK_LEAST_NS, .most_ns = ASK_MOST_NS, .share = 20}};
    while (watch_goes_on(&w)) {
        struct pollfd signals = {.fd = s->interrupt.fd, .events = POLLIN};
        if (recurring_is_due(&w.ask))
            watch_ask(&w);
        if (w.gone || recurring_is_due(&w.look)) /* after the last answer once more */
            watch_look(&w);
        watch_end_whole(&w);
        watch_end_early(&w);
        watch_show(&w);
        if (!w.gone && interrupt_count(&s->interrupt) == 0)
            poll(&signals, 1, STEP_MS);
        else if (!w.gone)
            clock_sleep_until_ns(clock_monotonic_ns() + STEP_MS * NS_PER_MS);
    }
    progress_clear(&s->progress);
    struct text clocks = {0};
    submission_compare_clocks(job, &clocks);
    for (const char *line = text_string(&clocks); *line; line += strcspn(line, "\n") + 1)
        log_warning("%.*s", (int)strcspn(line, "\n"), line);
    text_free(&clocks);
    if (!earlier && (nodes->length == known || s->ending != ENDING_WHOLE))
        sweep_check_missing(s, &w);
}

/* ---- what a run takes */

/* Runs that are made here take their places as those of tasks do, of which some may still go on. */
static int sweep_open_workshop(struct sweep *s, struct error *e)
{
    s->run_one = run_apart;
    return s->workshop ? files_make_folders(s->workshop, e) : error_set(e, "out of memory");
}

static struct outcome first_run_make(void *context, size_t i, size_t place, struct error *e)
{
    struct sweep *s = context;
    (void)i;
    (void)place;
    s->progress.on = false;
    s->interrupt.count = 0;
    signal(SIGALRM, SIG_DFL);
    alarm(TRY_S);
    return run_apart(s, s->todo[0], e);
}

static bool first_run_ended(void *context, size_t i, struct worked *worked)
{
    struct sweep *s = context;
    (void)i;
    bool ended = worked->took_ns < TRY_S * NS_PER_S || worked->outcome.ending == ENDING_WHOLE;
    s->cost_ns = ended ? worked->took_ns : TASK_NS;
    if (worked->outcome.ending != ENDING_WHOLE && ended)
        sweep_fail(s, worked->outcome.ending, &worked->e);
    text_free(&worked->output);
    return true;
}

static void first_run_shown(void *context, size_t running)
{
    struct sweep *s = context;
    (void)running;
    progress_say(&s->progress, "measuring what a run takes");
}

/* The first run is made here. In nanoseconds; one that takes longer than it is tried is worth a task. */
static int64_t sweep_measure_run(struct sweep *s)
{
    struct error e;
    struct work work = {.jobs = 1,
                        .count = 1,
                        .context = s,
                        .interrupt = &s->interrupt,
                        .run = first_run_make,
                        .ended = first_run_ended,
                        .waiting = first_run_shown};
    if (workers_run(&work, &e) != 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    progress_clear(&s->progress);
    if (interrupt_count(&s->interrupt) > 0) {
        error_set(&e, "interrupted");
        sweep_fail(s, ENDING_INTERRUPTED, &e);
    }
    sweep_collect_runs(s);
    return s->cost_ns;
}

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* So many that a task is worth its start, and tasks have equally many. */
static size_t sweep_runs_per_task(const struct sweep *s, size_t count, int64_t cost_ns, size_t at_a_time)
{
    if (!sweep_is_simulated(s))
        return count;
    size_t least = divide_up(count, SLURM_MOST_TASKS), per = least;
    if (s->request->cells_per_task != FIELD_UNSET)
        return (size_t)s->request->cells_per_task > count ? count : (size_t)s->request->cells_per_task;
    int64_t fit = TASK_NS / (cost_ns > 0 ? cost_ns : 1) + 1;
    if ((uint64_t)fit > count)
        fit = (int64_t)count;
    per = (size_t)fit * at_a_time > per ? (size_t)fit * at_a_time : per;
    return divide_up(count, divide_up(count, per > count ? count : per));
}

/* ---- submitting */

/* A node that does not see the folder, or cannot write there, can leave no word in it: Slurm keeps the
 * sentence, as the task's comment, and begins no other task there. What Slurm itself says of a task, its
 * state has. */
static const char look_at_node[] =
    "\nnode=${SLURMD_NODENAME:-$(uname -n)}\n"
    "refuse() {\n"
    "    others=$(scontrol show job \"$SLURM_ARRAY_JOB_ID\" | "
    "sed -n 's/.*ExcNodeList=\\([^ (]*\\).*/\\1/p' | grep . | head -n 1)\n"
    "    scontrol update JobId=\"$SLURM_ARRAY_JOB_ID\" ExcNodeList=\"${others:+$others,}$node\"\n"
    "    scontrol update JobId=\"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\" Comment=\"" SLURM_SAID "$1\"\n"
    "    exit 69\n"
    "}\n"
    "cd \"$folder\" 2> /dev/null || refuse \"it does not see $folder\"\n"
    "log=task-$SLURM_ARRAY_TASK_ID.log\n"
    "said=$(LC_ALL=C touch \"$log\" 2>&1) || refuse \"it cannot write in $folder: ${said##*: }\"\n"
    "exec >> \"$log\" 2>&1\n";

/* exec: the signals of Slurm reach the program. */
static char *job_script(const struct submission *job, const char *sweep, const char *program)
{
    struct text script = {0};
    text_add(&script, "#!/bin/sh\nprogram=");
    shell_quote(&script, program);
    text_add(&script, "\nfolder=");
    shell_quote(&script, job->folder);
    text_add(&script, "%s", look_at_node);
    text_add(&script, "if [ ! -x \"$program\" ]; then\n    echo \"task $SLURM_ARRAY_TASK_ID: node $node "
                      "has no program $program\" | tee " SUBMISSION_FAILED
                      " >&2\n    exit 127\nfi\nexec \"$program\" task ");
    shell_quote(&script, sweep);
    text_add(&script, " %zu \"$SLURM_ARRAY_TASK_ID\"\n", job->number);
    return text_take(&script);
}

static char *program_path(struct error *e)
{
    char *path = realpath("/proc/self/exe", NULL);
    if (!path)
        error_set(e, "this program's own path is not known: name it as \"program\" in the profile");
    return path;
}

/* The tasks have another working folder. The caller frees. */
static char *sweep_path_for_nodes(const struct sweep *s, struct error *e)
{
    char *path = realpath(s->folder, NULL);
    if (!path)
        error_set_errno(e, errno, "finding the path of %s", s->folder);
    return path;
}

static int job_submit(struct sweep *s, const struct slurm_profile *profile, const struct submission *job,
                      const char *exclude, struct error *e)
{
    char *program = profile->program ? strdup(profile->program) : program_path(e);
    char *sweep = program ? sweep_path_for_nodes(s, e) : NULL;
    char *script = sweep ? job_script(job, sweep, program) : NULL;
    struct slurm_job what = {.name = job->name,
                             .exclude = exclude,
                             .script = script,
                             .tasks = submission_tasks(job),
                             .at_a_time = s->request->jobs == FIELD_UNSET ? 0 : (size_t)s->request->jobs,
                             .requeue = sweep_is_simulated(s)};
    int result = script ? slurm_submit(&what, profile, e) : -1;
    free(script);
    free(sweep);
    free(program);
    return result;
}

/* The runs to do, as a job that is not submitted yet. */
static int job_plan(struct sweep *s, const struct slurm_profile *profile, struct submission *job,
                    struct error *e)
{
    *job = (struct submission){.name = slurm_new_name(s->plan.first.scenario.name),
                               .runs = calloc(s->todo_count + 1, sizeof *job->runs),
                               .per_task = s->todo_count,
                               .at_a_time = sweep_is_simulated(s) ? (size_t)profile->cpus : 1};
    if (!job->name || !job->runs)
        return error_set(e, "out of memory for %zu runs", s->todo_count);
    bool measure = sweep_is_simulated(s) && s->request->cells_per_task == FIELD_UNSET && s->todo_count > 1;
    int64_t cost_ns = 0;
    if (measure && sweep_open_workshop(s, e) != 0)
        return -1;
    if (measure)
        cost_ns = sweep_measure_run(s);
    for (size_t k = 0; k < s->todo_count; k++)
        if (!s->index.entries[s->todo[k]])
            job->runs[job->count++] = s->todo[k];
    if (s->ending != ENDING_WHOLE || job->count == 0)
        return 0;
    job->per_task = sweep_runs_per_task(s, job->count, cost_ns, job->at_a_time);
    char *sweep = sweep_path_for_nodes(s, e);
    int result = sweep ? submission_keep(job, sweep, e) : -1;
    free(sweep);
    return result;
}

static void job_print_submitted(const struct sweep *s, const struct submission *job)
{
    size_t tasks = submission_tasks(job);
    if (!s->request->quiet)
        log_info("job %s: %zu %s in %zu %s of up to %zu", job->name, job->count, THINGS(job->count, "run"),
                 tasks, THINGS(tasks, "task"), job->per_task);
}

static void job_detach(struct sweep *s, const struct submission *job)
{
    s->detached = true;
    if (s->request->json) {
        json_t *said = json_make("{s:o,s:s}", "result", json_text(s->folder), "job_name", job->name);
        json_print(stdout, said, 17);
        json_decref(said);
        return;
    }
    if (s->request->quiet)
        return;
    print_out_line("result: %s", s->folder);
    struct text folder = {0};
    shell_quote(&folder, s->folder);
    print_out_line("harness status %s shows how it stands", text_string(&folder));
    print_out_line(
        "when no task is left, harness run --resume %s runs what is missing or broken, and judges the runs "
        "together",
        text_string(&folder));
    text_free(&folder);
}

static void sweep_begin_anew(struct sweep *s)
{
    sweep_print_ended(s, true);
    s->kept += s->ended;
    sweep_list_todo(s);
}

/* The runs that are to do, as one job. */
static void sweep_run_job(struct sweep *s, const struct slurm_profile *profile, struct text *nodes)
{
    struct submission job;
    struct error e;
    int planned = job_plan(s, profile, &job, &e);
    if (planned == 0 && s->ending == ENDING_WHOLE && job.count > 0) {
        planned = job_submit(s, profile, &job, nodes->length ? text_string(nodes) : NULL, &e);
        if (planned == 0) {
            s->any_started = true;
            job_print_submitted(s, &job);
            if (s->request->detach)
                job_detach(s, &job);
            else
                watch_job(s, &job, false, nodes);
        }
    }
    if (planned != 0)
        sweep_fail(s, s->any_started ? ENDING_LAB_FAILED : ENDING_NOT_STARTED, &e);
    submission_free(&job);
}

/* What a node has lost that cannot work on the sweep goes to the others, as another job; each one more knows
 * another such node. */
static void sweep_run_on_cluster(struct sweep *s, const struct slurm_profile *profile)
{
    struct text nodes = {0};
    size_t known;
    do {
        known = nodes.length;
        sweep_run_job(s, profile, &nodes);
        if (s->ending == ENDING_WHOLE && nodes.length > known)
            sweep_begin_anew(s);
    } while (s->ending == ENDING_WHOLE && nodes.length > known && s->todo_count > 0);
    text_free(&nodes);
}

/* ---- what earlier jobs do */

static int job_ask_slurm(const struct submission *job, struct slurm_queue *queue)
{
    struct error e;
    if (slurm_find(&e) == 0 && slurm_ask(job->name, queue, &e) == 0)
        return 0;
    log_warning("whether job %s is still in the queue is not known: %s", job->name, e.text);
    return -1;
}

static void job_await(struct sweep *s, const struct submission *job)
{
    struct slurm_queue queue;
    struct error e;
    if (job_ask_slurm(job, &queue) != 0 || queue.waiting + queue.running == 0)
        return;
    if (s->request->detach) {
        error_set(&e, "job %s has %zu tasks in the queue: end it (scancel --name=%s), or wait for it",
                  job->name, queue.waiting + queue.running, job->name);
        sweep_fail(s, ENDING_NOT_STARTED, &e);
        return;
    }
    if (!s->request->quiet)
        log_info("job %s has %zu tasks in the queue: waiting for them", job->name,
                 queue.waiting + queue.running);
    struct text nodes = {0};
    watch_job(s, job, true, &nodes);
    text_free(&nodes);
}

static void jobs_await(struct sweep *s)
{
    struct error e;
    size_t last = submission_last(s->folder);
    for (size_t number = 1; number <= last && s->ending == ENDING_WHOLE; number++) {
        struct submission job;
        if (submission_load(&job, s->folder, number, sweep_run_count(s), &e) == 0)
            job_await(s, &job);
        else
            log_warning("%s", e.text);
        submission_free(&job);
    }
}

static void sweep_run_apart_here(struct sweep *s)
{
    struct error e;
    if (sweep_open_workshop(s, &e) == 0)
        sweep_run_here(s);
    else
        sweep_fail(s, ENDING_LAB_FAILED, &e);
}

static void engine_run(const struct sweep_engine *engine, struct sweep *s)
{
    const struct slurm_engine *self = (const void *)engine;
    char *workshop = files_join(s->folder, "slurm/0");
    s->workshop = workshop;
    if (s->request->resume) {
        jobs_await(s);
        sweep_begin_anew(s);
    }
    if (s->ending == ENDING_WHOLE && s->todo_count > 0 && self->profile)
        sweep_run_on_cluster(s, self->profile);
    else if (s->ending == ENDING_WHOLE && s->todo_count > 0)
        sweep_run_apart_here(s);
    if (self->profile && !s->detached)
        sweep_print_ended(s, true);
    if (s->ending == ENDING_WHOLE && !s->detached)
        submission_remove_all(s->folder);
    s->workshop = NULL;
    free(workshop);
}

static void open_engine(struct slurm_engine *engine, const struct slurm_profile *profile)
{
    *engine = (struct slurm_engine){.engine = {.check = engine_check, .run = engine_run}, .profile = profile};
}

int slurm_choose(struct slurm_choice *choice, struct sweep_request *request, const struct user_config *config,
                 bool has_out, struct error *e)
{
    if (request->on && slurm_profile_of(request->on, config, &choice->profile, e) != 0)
        return -1;
    open_engine(&choice->engine, request->on ? &choice->profile : NULL);
    if (request->on && choice->profile.results && !has_out)
        request->out = choice->profile.results;
    if (request->on || (request->resume && slurm_was_there(request->resume)))
        request->engine = &choice->engine.engine;
    return 0;
}
