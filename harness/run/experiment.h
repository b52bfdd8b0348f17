/* One run: the phases from bringing hosts up to the written result. */
#ifndef HARNESS_EXPERIMENT_H
#define HARNESS_EXPERIMENT_H

#include "harness/labs/driver.h"
#include "harness/run/progress.h"
#include "harness/judge/verdict.h"

/* Does a run end as soon as the expectation of this name is broken for good? */
typedef bool experiment_stops(const void *context, const char *expectation);

struct experiment {
    const struct plan *plan;
    const struct cell *cell;
    const char *folder; /* of this run; exists, empty */
    uint64_t seed;
    uint32_t threads; /* of a simulated run */
    size_t repeat;    /* from 1, */
    size_t repeats;   /* of how many */
    struct interrupt *interrupt;
    struct progress *progress;
    json_t *kept; /* settings that runs of a sweep leave to each other (labs/driver.h); NULL: each run
                     restores its own */
    bool keep;    /* the next run wants the same */
    struct lab_opened *opened; /* the lab, which the run takes and closes; NULL: it opens the lab itself */
    json_t **result; /* is given the result as it was written, a new reference; NULL: it is not wanted */
    experiment_stops *stops; /* NULL: it does for none */
    const void *stops_for;
    bool soon;  /* of a simulated run: its files need not be on the disk when it ends */
    bool as_is; /* hosts stay as they are: nothing is set, and what an earlier run left is not restored */
};

/* How a run ended, in addition to its verdict. ENDING_EARLY: as `stops` says, and it has failed; its result
 * is not whole, and says so. */
enum ending { ENDING_WHOLE, ENDING_EARLY, ENDING_LAB_FAILED, ENDING_INTERRUPTED, ENDING_NOT_STARTED };

struct outcome {
    enum ending ending;
    enum verdict verdict;
    enum origin origin;
    size_t warnings; /* of the result */
};

/* Run all phases. Changed settings are always restored, or kept if x->keep and the run is whole; samples are
 * kept even after a failure. `e` is set unless the ending is ENDING_WHOLE or ENDING_EARLY.
 * ENDING_NOT_STARTED: nothing was changed and no result is written. */
struct outcome experiment_run(const struct experiment *x, struct error *e);
/* Restore what is in x->kept, because no run follows. What cannot be restored is a warning. */
void experiment_restore_kept(const struct experiment *x);

#endif
