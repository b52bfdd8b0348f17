/* Runs side by side, in processes of their own: one that ends badly costs its run alone, and all end with
 * this one. A process makes one run after the other, since beginning one takes as long as a short run. */
#ifndef HARNESS_WORKERS_H
#define HARNESS_WORKERS_H

#include "harness/run/experiment.h"

/* How a run ended, and what it printed on standard output. */
struct worked {
    struct outcome outcome;
    struct error e; /* unless the ending is ENDING_WHOLE */
    struct text output;
    int64_t took_ns;
};

struct work {
    size_t jobs;  /* at a time */
    size_t count; /* the runs are 0 .. count-1, begun in this order */
    void *context;
    struct interrupt *interrupt; /* each of its signals is passed on to the runs; no run is begun any more */

    /* In a process that has made other runs, perhaps, and knows `context` as it was before its first.
     * Standard output is `output` of its worked. `place`: below `jobs`; no run that goes on at the same time
     * has the same. */
    struct outcome (*run)(void *context, size_t i, size_t place, struct error *e);
    /* In this process: what runs say on standard error, in whole lines; NULL: they write there themselves. */
    void (*said)(void *context, const char *bytes, size_t length);
    /* In this process, when a run has ended, in any order. Takes over worked.output. false: begin no other.
     */
    bool (*ended)(void *context, size_t i, struct worked *worked);
    /* In this process, now and then; `running`: how many runs there are. */
    void (*waiting)(void *context, size_t running);
};

/* Run all. 0, or -1: a process or a pipe could not be made; the runs that had begun have ended. */
int workers_run(const struct work *work, struct error *e);
/* The processors that this process may use, at least 1. */
size_t workers_processors(void);

#endif
