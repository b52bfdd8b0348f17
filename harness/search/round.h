/* A round of a search: the runs of several candidates, which are an ordinary sweep. */
#ifndef HARNESS_ROUND_H
#define HARNESS_ROUND_H

#include "harness/run/request.h"
#include "harness/search/candidates.h"

struct round {
    const struct study *study;
    const struct sweep_request *request; /* of the search */
    const char *folder;                  /* of the study */
    const char *name;                    /* of the round's folder in it */
    int64_t seed, repeats;
    const json_t *besides; /* path -> value, put in first: other traffic; NULL: nothing */
    json_t *kept;          /* settings of hosts (struct sweep_request) */
    json_t *said;          /* an object whose keys are warnings of plans that need not be said again */
    bool resume;           /* what was begun there before is gone on with */
};

/* Run each candidate with `repeats` seeds from `seed` on, and take in what their runs gave. A single one may
 * be a known setting. The exit status of the sweep: EXIT_DONE, EXIT_FAILED or EXIT_SKIPPED if all runs have
 * ended. */
int round_run(const struct round *round, struct candidate *const *candidates, size_t count);

#endif
