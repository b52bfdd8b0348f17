/* Waiting for a job: its runs come into the index as their results appear. */
#ifndef HARNESS_SLURM_WATCH_H
#define HARNESS_SLURM_WATCH_H

#include "harness/run/sweep_inside.h"
#include "harness/slurm/submission.h"

/* Until the job has left the queue. `earlier`: it is of an earlier call of this program, and what it leaves undone is done by this one.
 * Otherwise a run that is not whole, a task that says why it cannot go on, and runs that are missing fail the sweep. */
void watch_job(struct sweep *s, const struct submission *job, bool earlier);
/* Into the index with all runs to do whose results are there. */
void watch_collect(struct sweep *s);
/* Print what has ended, in the order of runs; `all`: also behind a run that has not. */
void watch_print(struct sweep *s, bool all);

#endif
