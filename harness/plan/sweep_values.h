/* The values of a path in a sweep: a list, or a short way to write one. */
#ifndef HARNESS_SWEEP_VALUES_H
#define HARNESS_SWEEP_VALUES_H

#include "lib/error.h"
#include <jansson.h>

/* A list is returned as it is; {"from": "2B", "to": "8MiB", "times": 2} becomes "2B", "4B", ..., "8MiB", and the same with whole
 * numbers. `path` is the sweep's key, for sentences. A new reference; NULL with an error, also for an empty list. */
json_t *sweep_values(const json_t *value, const char *path, struct error *e);

#endif
