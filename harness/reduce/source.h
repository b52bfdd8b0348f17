/* The run that is reduced: the scenario, lab and seed of a result in which an expectation failed. */
#ifndef HARNESS_REDUCE_SOURCE_H
#define HARNESS_REDUCE_SOURCE_H

#include "lib/error.h"
#include <jansson.h>
#include <stdint.h>

/* What is reduced: a scenario with the one expectation that fails, and its lab. */
struct reduce_source {
    json_t *scenario, *lab;
    char *lab_path;  /* the lab's file, whose paths are opened from anywhere */
    char *from;      /* where it comes from: a folder */
    char *note;      /* which of several that would do it is; NULL: there is one */
    int64_t seed;    /* of the run that failed */
    json_t *healthy; /* path -> value: with these it passes, and is to pass; NULL: that is found out */
};

/* From the folder of a run, or of a sweep: its first run in which the expectation failed (NULL: the only one
 * that did); where others of its name check something else, an error. To be freed after a failure too. */
int source_find(const char *result, const char *expect, struct reduce_source *source, struct error *e);
/* Of the result of a run in this folder, with this expectation alone. */
int source_of(const json_t *result, const char *folder, const char *name, const char *check,
              struct reduce_source *source, struct error *e);
void source_free(struct reduce_source *source);

#endif
