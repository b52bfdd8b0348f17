/* How many runs of a sweep go at a time, and on how many threads each. */
#include "harness/run/sweep_inside.h"
#include "harness/run/workers.h"
#include "lib/kernel/free_memory.h"

/* A thread for fewer hosts leaves half of a processor unused: of a fat tree with 128 hosts 4 threads are 2.3 times as fast as one, 8
 * threads 3.6 times, 16 threads 3.3 times (docs/simulator.md). */
#define HOSTS_A_THREAD 32

static size_t least(size_t a, size_t b)
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

/* How many runs that memory is for, at least one: that one is looked at before (labs/sim/driver.c). */
static size_t jobs_by_memory(const struct sweep *s, uint64_t free_bytes)
{
    uint64_t bytes = s->foreseen.bytes ? s->foreseen.bytes : 1, fit = free_bytes / bytes;
    return fit > 1 ? fit : 1;
}

/* The processors that the runs which go at a time leave; there is memory for `fit` of them. */
static size_t free_threads(const struct sweep *s, const struct lab *lab, size_t fit)
{
    size_t processors = workers_processors(),
           jobs = s->request->jobs != FIELD_UNSET ? (size_t)s->request->jobs : least(sweep_run_count(s), fit),
           at_once = jobs < 1 ? 1 : least(jobs, processors),
           most = least(processors / at_once, lab->hosts.count / HOSTS_A_THREAD);
    return lab_kind(lab)->simulated && !s->request->on && most > 1 ? most : 1;
}

static int jobs_of(struct sweep *s, const struct lab *lab, uint64_t free_bytes, struct error *e)
{
    bool said = s->request->jobs != FIELD_UNSET;
    size_t fit = jobs_by_memory(s, free_bytes), runs = sweep_run_count(s);
    s->jobs = said ? (size_t)s->request->jobs : 1;
    if (!lab_kind(lab)->simulated)
        return s->jobs == 1
                   ? 0
                   : error_set(e,
                               "--jobs %zu: the runs of lab %s follow one another, since all use its "
                               "hosts",
                               s->jobs, lab->name);
    if (!said)
        s->jobs = least(workers_processors() / s->threads, fit);
    if (least(s->jobs, runs) > fit)
        return error_set(e,
                         "--jobs %zu: a run needs %.1f GB of memory, %.1f GB are free: expected at most %zu",
                         s->jobs, (double)s->foreseen.bytes / 1e9, (double)free_bytes / 1e9, fit);
    return 0;
}

int sweep_choose_threads(struct sweep *s, struct error *e)
{
    const struct lab *lab = &s->plan.first.lab;
    bool said = s->request->threads != FIELD_UNSET;
    s->threads = said ? (size_t)s->request->threads : free_threads(s, lab, SIZE_MAX);
    return check_threads(s, lab, s->threads, e);
}

int sweep_share_processors(struct sweep *s, struct error *e)
{
    const struct lab *lab = &s->plan.first.lab;
    uint64_t free_bytes = free_memory_bytes();
    if (s->request->threads == FIELD_UNSET)
        s->threads = free_threads(s, lab, jobs_by_memory(s, free_bytes));
    return jobs_of(s, lab, free_bytes, e);
}
