/* How many runs of a sweep go at a time, and on how many threads each. */
#include "harness/run/sweep_inside.h"
#include "harness/run/workers.h"

/* A thread for fewer hosts makes a run faster by less than half of a processor: of a fat tree with 128 hosts 4 threads are 2.3
 * times as fast as one, 8 threads 4.1 times, 16 threads 4.6 times (docs/simulator-reference.md). */
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

/* The processors that the runs which go at a time leave. */
static size_t free_threads(const struct sweep *s, const struct lab *lab)
{
    size_t processors = workers_processors(),
           jobs = s->request->jobs != FIELD_UNSET ? (size_t)s->request->jobs : sweep_run_count(s),
           most = least(processors / least(jobs, processors), lab->hosts.count / HOSTS_A_THREAD);
    return lab_kind(lab)->simulated && !s->request->on && most > 1 ? most : 1;
}

int sweep_share_processors(struct sweep *s, struct error *e)
{
    const struct lab *lab = &s->plan.first.lab;
    bool simulated = lab_kind(lab)->simulated, said = s->request->threads != FIELD_UNSET;
    s->threads = said ? (size_t)s->request->threads : free_threads(s, lab);
    if (check_threads(s, lab, s->threads, e) != 0)
        return -1;
    s->jobs = s->request->jobs != FIELD_UNSET ? (size_t)s->request->jobs
              : simulated                     ? workers_processors() / s->threads
                                              : 1;
    if (s->jobs > 1 && !simulated)
        return error_set(e, "--jobs %zu: the runs of lab %s follow one another, since all use its hosts",
                         s->jobs, lab->name);
    return 0;
}
