/* A run that is made in a folder of its own and gets its place when it has a result: two processes on one run
 * do no harm. */
#ifndef HARNESS_SLURM_APART_H
#define HARNESS_SLURM_APART_H

#include "harness/run/sweep.h"

/* Called by s->run_one; s->workshop is a folder on the file system of s->folder. A whole result that is there
 * is taken as it is. */
struct outcome run_apart(struct sweep *s, size_t run, struct error *e);

#endif
