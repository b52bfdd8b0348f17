#include "harness/slurm/apart.h"
#include "harness/slurm/slurm.h"
#include "harness/slurm/submission.h"

#include "lib/log.h"
#include "lib/program/program.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sentence goes to who waits for the job, and into the task's log. */
static int task_refuse(const char *folder, size_t submission, size_t task, const struct error *e)
{
    struct text path = {0}, sentence = {0};
    char host[256];
    const char *node = submission_node(host, sizeof host);
    text_add(&path, "%s/slurm/%zu", folder, submission);
    text_add(&sentence, "task %zu, on node %s: %s", task, node, e->text);
    submission_say_failed(text_string(&path), text_string(&sentence));
    log_error("%s", e->text);
    text_free(&path);
    text_free(&sentence);
    return EXIT_LAB;
}

/* The runs of this task are to do; the others are not looked at. */
static int task_take_runs(struct sweep *s, const struct submission *job, size_t task, struct error *e)
{
    if (task < 1 || task > submission_tasks(job))
        return error_set(e, "%s has %zu tasks, and no task %zu", job->folder, submission_tasks(job), task);
    s->todo = calloc(job->per_task + 1, sizeof *s->todo);
    if (!s->todo)
        return error_set(e, "out of memory for %zu runs", job->per_task);
    for (size_t k = (task - 1) * job->per_task; k < job->count && submission_task_of(job, k) == task; k++)
        s->todo[s->todo_count++] = job->runs[k];
    s->jobs = job->at_a_time;
    s->workshop = job->folder;
    s->run_one = run_apart;
    return 0;
}

static int task_run(struct sweep *s, const struct submission *job, size_t task, struct error *e)
{
    if (task_take_runs(s, job, task, e) != 0 ||
        index_open(&s->index, NULL, json_object(), sweep_run_count(s), e) != 0 ||
        interrupt_open(&s->interrupt, e) != 0)
        return -1;
    sweep_run_here(s);
    interrupt_close(&s->interrupt);
    *e = s->why;
    return s->ending == ENDING_WHOLE || s->ending == ENDING_INTERRUPTED ? 0 : -1;
}

static int task_open_and_run(const struct kept_request *kept, size_t submission, size_t task, struct error *e)
{
    struct submission job = {0};
    struct sweep s;
    int result = sweep_open(&s, &kept->request, &kept->documents, NULL, e);
    s.folder = strdup(kept->request.resume);
    if (result == 0 &&
        (!s.folder || submission_load(&job, s.folder, submission, sweep_run_count(&s), e) != 0))
        result = s.folder ? -1 : error_set(e, "out of memory");
    if (result == 0)
        result = task_run(&s, &job, task, e);
    if (result == 0 && s.ending == ENDING_INTERRUPTED) {
        log_warning("ended by a signal: %zu of the task's %zu runs are not made", s.todo_count - s.ended + 1,
                    s.todo_count);
        result = EXIT_INTERRUPTED;
    }
    submission_free(&job);
    sweep_free(&s);
    return result;
}

int slurm_task(const char *folder, size_t submission, size_t task)
{
    struct sweep_request request = {.resume = folder,
                                    .jobs = FIELD_UNSET,
                                    .threads = FIELD_UNSET,
                                    .cells_per_task = FIELD_UNSET,
                                    .quiet = 1};
    struct kept_request kept;
    struct error e;
    submission_say_begun(task);
    int result = request_load(&request, "run", &kept, &e);
    if (result == 0)
        result = task_open_and_run(&kept, submission, task, &e);
    request_free(&kept);
    return result < 0 ? task_refuse(folder, submission, task, &e) : result;
}
