/* The runs of a sweep side by side. */
#include "harness/run/sweep_inside.h"

#include "harness/run/workers.h"
#include "lib/output/print.h"
#include <stdio.h>
#include <stdlib.h>

static struct outcome work_run(void *context, size_t k, struct error *e)
{
    struct sweep *s = context;
    s->progress.on = false;
    s->interrupt.count = 0;
    return s->run_one(s, s->todo[k], e);
}

/* What the next run in the order of runs printed. */
static void print_next(struct sweep *s)
{
    struct text *said = &s->said[s->printed++];
    if (said->length && !s->deaf)
        print_bytes(stdout, said->data, said->length);
    text_free(said);
}

static bool work_ended(void *context, size_t k, struct worked *worked)
{
    struct sweep *s = context;
    s->cost_ns += worked->took_ns;
    s->said[k] = worked->said;
    bool more = sweep_count_run(s, s->todo[k], worked->outcome, &worked->e);
    progress_clear(&s->progress);
    while (s->printed < s->todo_count && s->index.entries[s->todo[s->printed]])
        print_next(s);
    sweep_look_at_output(s);
    return more;
}

static void work_waiting(void *context, size_t running)
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

void sweep_run_side_by_side(struct sweep *s)
{
    struct error e;
    struct work work = {.jobs = s->jobs,
                        .count = s->todo_count,
                        .context = s,
                        .interrupt = &s->interrupt,
                        .run = work_run,
                        .ended = work_ended,
                        .waiting = work_waiting};
    s->said = calloc(s->todo_count + 1, sizeof *s->said);
    if (!s->said)
        error_set(&e, "out of memory for %zu runs", s->todo_count);
    if (!s->said || workers_run(&work, &e) != 0)
        sweep_fail(s, ENDING_LAB_FAILED, &e);
    progress_clear(&s->progress);
    while (s->said && s->printed < s->todo_count) /* also those after one that never began */
        print_next(s);
    sweep_look_at_output(s);
    if (s->ending == ENDING_WHOLE && interrupt_count(&s->interrupt) > 0) {
        error_set(&e, "interrupted");
        sweep_fail(s, ENDING_INTERRUPTED, &e);
    }
}
