/* `harness reduce`: the least scenario in which an expectation of a run still fails. */
#ifndef HARNESS_REDUCE_H
#define HARNESS_REDUCE_H

#include "harness/reduce/source.h"
#include "lib/document/table.h"

struct reduce_request {
    const char *result;  /* the folder of a run or sweep */
    const char *expect;  /* NULL: the only one that failed */
    struct list_of keep; /* char *: paths that are left as they are */
    int64_t seeds;
    int64_t jobs; /* FIELD_UNSET: as many as there are processors for */
    const char *out, *resume;
    int json, quiet;
    bool as_found; /* nothing is taken away */
};

/* Returns the program's exit status; messages have been written. */
int reduce_run(const struct reduce_request *request);

/* Is it the folder of one? */
bool reduce_is_in(const char *folder);
/* How one stands, for people or as JSON (finding.json). EXIT_DONE: it has ended. */
int reduce_status(const char *folder, bool json);

/* Reduce it in this folder, or go on there: seeds, jobs, keep, quiet and as_found of the request are used.
 * The program's exit status, EXIT_FAILED: it does not fail again, as was logged. */
int reduce_in(const char *folder, const struct reduce_source *source, const struct reduce_request *request);

#endif
