/* The distribution of a set of values as a JSON object. */
#ifndef LIB_DISTRIBUTION_H
#define LIB_DISTRIBUTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* {"count", "min", "mean", "p50", "p90", "p95", "p99", "p99_9", "max"} of at least one value; sorts them. The
 * q-quantile is the smallest value that is at least as large as a share q of all values. A new reference. */
json_t *distribution_json(double *values, size_t count);

/* Is a q-quantile above the median beyond what that many values tell: not one of them is to be expected above
 * it, and it is no more than the largest? *needed, if not NULL, is how many it takes: 1 / (1 - q). */
bool distribution_is_few(double q, double count, double *needed);

/* The smallest first. */
void distribution_sort(double *values, size_t count);
/* The q-quantile of at least one value; sorts them. */
double distribution_quantile(double *values, size_t count, double q);

#endif
