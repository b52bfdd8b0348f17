#include "harness/slurm/apart.h"
#include "harness/slurm/commands.h"
#include "harness/slurm/slurm.h"
#include "harness/slurm/watch.h"

#include "harness/run/workers.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/document/nearest.h"
#include "lib/files.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/words.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX  "slurm"
#define TASK_NS (60 * NS_PER_S) /* what a task should take at least: starting it takes seconds */
#define TRY_S   10              /* the first run is tried here for so long */

/* ---- the profile */

static int unknown_profile(const char *name, const struct user_config *config, struct error *e)
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
    return on[length] ? unknown_profile(name, config, e) : 0;
}

bool slurm_was_there(const char *folder)
{
    return submission_last(folder) > 0;
}

/* ---- before there is a folder */

static bool is_simulated(const struct sweep *s)
{
    return lab_kind(&s->plan.first.lab)->simulated;
}

static int check_cells(const struct sweep *s, struct error *e)
{
    int64_t cells = s->request->cells_per_task;
    size_t least = (sweep_run_count(s) + SLURM_MOST_TASKS - 1) / SLURM_MOST_TASKS;
    if (cells == FIELD_UNSET)
        return 0;
    if (!is_simulated(s))
        return error_set(e, "--cells-per-task: all runs of lab %s are one task, since all use its hosts",
                         s->plan.first.lab.name);
    if ((size_t)cells < least)
        return error_set(e, "--cells-per-task %lld: %zu runs would be more than %d tasks: give at least %zu",
                         (long long)cells, sweep_run_count(s), SLURM_MOST_TASKS, least);
    return 0;
}

static int check(const struct sweep_engine *engine, const struct sweep *s, struct error *e)
{
    const struct slurm_engine *self = (const void *)engine;
    if (!self->profile)
        return 0;
    if (!sweep_has_index(s))
        return error_set(e, "--on %s: this is a single run, without a sweep or --repeat: run it here",
                         s->request->on);
    return slurm_find(e) != 0 ? -1 : check_cells(s, e);
}

/* ---- what a run takes */

/* Runs that are made here take their places as those of tasks do, of which some may still go on. */
static int open_workshop(struct sweep *s, struct error *e)
{
    s->run_one = run_apart;
    return s->workshop ? files_make_folders(s->workshop, e) : error_set(e, "out of memory");
}

static struct outcome try_run(void *context, size_t i, struct error *e)
{
    struct sweep *s = context;
    (void)i;
    s->progress.on = false;
    s->interrupt.count = 0;
    signal(SIGALRM, SIG_DFL);
    alarm(TRY_S);
    return run_apart(s, s->todo[0], e);
}

static bool tried(void *context, size_t i, struct worked *worked)
{
    struct sweep *s = context;
    (void)i;
    bool ended = worked->took_ns < TRY_S * NS_PER_S || worked->outcome.ending == ENDING_WHOLE;
    s->cost_ns = ended ? worked->took_ns : TASK_NS;
    if (worked->outcome.ending != ENDING_WHOLE && ended)
        sweep_fail(s, worked->outcome.ending, &worked->e);
    text_free(&worked->said);
    return true;
}

static void trying(void *context, size_t running)
{
    struct sweep *s = context;
    (void)running;
    progress_say(&s->progress, "measuring what a run takes");
}

/* The first run is made here. In nanoseconds; one that takes longer than it is tried is worth a task. */
static int64_t measure_run(struct sweep *s)
{
    struct error e;
    struct work work = {.jobs = 1,
                        .count = 1,
                        .context = s,
                        .interrupt = &s->interrupt,
                        .run = try_run,
                        .ended = tried,
                        .waiting = trying};
    if (workers_run(&work, &e) != 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    progress_clear(&s->progress);
    if (interrupt_count(&s->interrupt) > 0) {
        error_set(&e, "interrupted");
        sweep_fail(s, ENDING_INTERRUPTED, &e);
    }
    watch_collect(s);
    return s->cost_ns;
}

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* So many that a task is worth its start, and tasks have equally many. */
static size_t runs_per_task(const struct sweep *s, size_t count, int64_t cost_ns, size_t at_a_time)
{
    if (!is_simulated(s))
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

/* exec: the signals of Slurm reach the program. */
static char *script_of(const struct submission *job, const char *sweep, const char *program)
{
    struct text script = {0};
    text_add(&script, "#!/bin/sh\nprogram=");
    shell_quote(&script, program);
    text_add(&script, "\ncd ");
    shell_quote(&script, job->folder);
    text_add(
        &script,
        " || exit\nif [ ! -x \"$program\" ]; then\n    echo \"task $SLURM_ARRAY_TASK_ID: node $(uname -n) "
        "has no program $program\" | tee " SUBMISSION_FAILED
        " >&2\n    exit 127\nfi\nexec \"$program\" task ");
    shell_quote(&script, sweep);
    text_add(&script, " %zu \"$SLURM_ARRAY_TASK_ID\"\n", job->number);
    return text_take(&script);
}

static char *own_path(struct error *e)
{
    char *path = realpath("/proc/self/exe", NULL);
    if (!path)
        error_set(e, "this program's own path is not known: name it as \"program\" in the profile");
    return path;
}

/* The tasks have another working folder. The caller frees. */
static char *path_for_nodes(const struct sweep *s, struct error *e)
{
    char *path = realpath(s->folder, NULL);
    if (!path)
        error_set_errno(e, errno, "finding the path of %s", s->folder);
    return path;
}

static int submit(struct sweep *s, const struct slurm_profile *profile, const struct submission *job,
                  struct error *e)
{
    char *program = profile->program ? strdup(profile->program) : own_path(e);
    char *sweep = program ? path_for_nodes(s, e) : NULL;
    char *script = sweep ? script_of(job, sweep, program) : NULL;
    struct slurm_job what = {.name = job->name,
                             .folder = job->folder,
                             .script = script,
                             .tasks = submission_tasks(job),
                             .at_a_time = s->request->jobs == FIELD_UNSET ? 0 : (size_t)s->request->jobs,
                             .requeue = is_simulated(s)};
    int result = script ? slurm_submit(&what, profile, e) : -1;
    free(script);
    free(sweep);
    free(program);
    return result;
}

/* The runs to do, as a job that is not submitted yet. */
static int plan_job(struct sweep *s, const struct slurm_profile *profile, struct submission *job,
                    struct error *e)
{
    *job = (struct submission){.name = slurm_new_name(s->plan.first.scenario.name),
                               .runs = calloc(s->todo_count + 1, sizeof *job->runs),
                               .per_task = s->todo_count,
                               .at_a_time = is_simulated(s) ? (size_t)profile->cpus : 1};
    if (!job->name || !job->runs)
        return error_set(e, "out of memory for %zu runs", s->todo_count);
    bool measure = is_simulated(s) && s->request->cells_per_task == FIELD_UNSET && s->todo_count > 1;
    int64_t cost_ns = 0;
    if (measure && open_workshop(s, e) != 0)
        return -1;
    if (measure)
        cost_ns = measure_run(s);
    for (size_t k = 0; k < s->todo_count; k++)
        if (!s->index.entries[s->todo[k]])
            job->runs[job->count++] = s->todo[k];
    if (s->ending != ENDING_WHOLE || job->count == 0)
        return 0;
    job->per_task = runs_per_task(s, job->count, cost_ns, job->at_a_time);
    char *sweep = path_for_nodes(s, e);
    int result = sweep ? submission_keep(job, sweep, e) : -1;
    free(sweep);
    return result;
}

static void say_submitted(const struct sweep *s, const struct submission *job)
{
    size_t tasks = submission_tasks(job);
    if (!s->request->quiet)
        log_info("job %s: %zu run%s in %zu task%s of up to %zu", job->name, job->count,
                 job->count == 1 ? "" : "s", tasks, tasks == 1 ? "" : "s", job->per_task);
}

static void detach(struct sweep *s, const struct submission *job)
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
    print_out("result: %s\nharness status %s shows how it stands, harness run --resume %s ends it\n",
              s->folder, s->folder, s->folder);
}

static void run_on_cluster(struct sweep *s, const struct slurm_profile *profile)
{
    struct submission job;
    struct error e;
    int planned = plan_job(s, profile, &job, &e);
    if (planned == 0 && s->ending == ENDING_WHOLE && job.count > 0) {
        planned = submit(s, profile, &job, &e);
        if (planned == 0) {
            s->any_started = true;
            say_submitted(s, &job);
            if (s->request->detach)
                detach(s, &job);
            else
                watch_job(s, &job, false);
        }
    }
    if (planned != 0)
        sweep_fail(s, ENDING_NOT_STARTED, &e);
    submission_free(&job);
}

/* ---- what earlier jobs do */

static int ask_quietly(const struct submission *job, struct slurm_queue *queue)
{
    struct error e;
    if (slurm_find(&e) == 0 && slurm_ask(job->name, queue, &e) == 0)
        return 0;
    log_warning("whether job %s is still in the queue is not known: %s", job->name, e.text);
    return -1;
}

static void await(struct sweep *s, const struct submission *job)
{
    struct slurm_queue queue;
    struct error e;
    if (ask_quietly(job, &queue) != 0 || queue.waiting + queue.running == 0)
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
    watch_job(s, job, true);
}

static void await_all(struct sweep *s)
{
    struct error e;
    size_t last = submission_last(s->folder);
    for (size_t number = 1; number <= last && s->ending == ENDING_WHOLE; number++) {
        struct submission job;
        if (submission_load(&job, s->folder, number, sweep_run_count(s), &e) == 0)
            await(s, &job);
        else
            log_warning("%s", e.text);
        submission_free(&job);
    }
}

static void begin_anew(struct sweep *s)
{
    watch_print(s, true);
    s->kept += s->ended;
    sweep_list_todo(s);
}

static void run_here(struct sweep *s)
{
    struct error e;
    if (open_workshop(s, &e) == 0)
        sweep_run_here(s);
    else
        sweep_fail(s, ENDING_LAB_FAILED, &e);
}

static void run(const struct sweep_engine *engine, struct sweep *s)
{
    const struct slurm_engine *self = (const void *)engine;
    char *workshop = files_join(s->folder, "slurm/0");
    s->workshop = workshop;
    if (s->request->resume) {
        await_all(s);
        begin_anew(s);
    }
    if (s->ending == ENDING_WHOLE && s->todo_count > 0 && self->profile)
        run_on_cluster(s, self->profile);
    else if (s->ending == ENDING_WHOLE && s->todo_count > 0)
        run_here(s);
    if (self->profile && !s->detached)
        watch_print(s, true);
    if (s->ending == ENDING_WHOLE && !s->detached)
        submission_remove_all(s->folder);
    s->workshop = NULL;
    free(workshop);
}

void slurm_engine_open(struct slurm_engine *engine, const struct slurm_profile *profile)
{
    *engine = (struct slurm_engine){.engine = {.check = check, .run = run}, .profile = profile};
}
