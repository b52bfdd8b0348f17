/* What `harness run` does: every cell of a scenario's sweep, an index, a summary, a report. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include "harness/run/request.h"

struct sweep; /* harness/run/sweep_inside.h */

/* Who has the runs made that are to do. */
struct sweep_engine {
    /* Before there is a folder: -1 with a sentence if it cannot. */
    int (*check)(const struct sweep_engine *engine, const struct sweep *s, struct error *e);
    /* All, or fails the sweep. */
    void (*run)(const struct sweep_engine *engine, struct sweep *s);
};

/* Returns the program's exit status; messages have been written. */
int sweep_run(const struct sweep_request *request);
/* The same for what is missing in the folder `resume`, which says itself what is run. */
int sweep_resume(const struct sweep_request *request);

#endif
