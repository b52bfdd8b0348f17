/*
 * How often each value of a gauge occurred, in bounded memory. Exact for up to TALLY_MOST different values;
 * when there are more, values are rounded away from 0, and a quantile is then larger by less than 2^-bits of
 * it. Values that span less than 2^16 keep at least 6 bits (1.6 %), any values at least 3.
 */
#ifndef LIB_TALLY_H
#define LIB_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MOST 1024

struct tallied {
    int64_t value;
    uint64_t count;
};

struct tally {
    struct tallied *entries; /* by rising value */
    size_t used, capacity, last;
    int64_t min, max;
    uint64_t count;
    int bits;    /* 0: exact */
    bool failed; /* out of memory: there are no quantiles */
};

/* A zeroed struct is an empty one. */
void tally_add(struct tally *t, int64_t value);
void tally_free(struct tally *t);
/* The smallest value that is at least as large as a share q (0..1) of all values; false: there are none, or
 * memory ran out. */
bool tally_quantile(const struct tally *t, double q, int64_t *value);

#endif
