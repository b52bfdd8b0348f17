/* A reference loop in the same run, with which speeds are compared, so that a slow or busy machine does not
 * change the result. */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

#include <stdbool.h>

/* Nanoseconds of CPU for one step of the loop: the earliest of 1024 keys is replaced by a later one in a
 * binary heap, about what an event of a simulator costs at least. The best of some runs. */
double reference_ns(void);

/* Prints "what: ratio (at most limit)"; returns whether the limit is met. */
bool at_most(const char *what, double ratio, double limit);

#endif
