/* Extends counters: a 32-bit wrap or a reset is compensated, and the result never decreases. */
#ifndef COLLECTORS_UNWRAP_H
#define COLLECTORS_UNWRAP_H

#include <stdbool.h>
#include <stdint.h>

struct unwrap {
    int64_t raw;  /* as last read */
    int64_t base; /* what is added to it */
    bool seen;
};

/*
 * The extended value of a counter whose value is `raw` now. A 32-bit counter that decreased is taken to have
 * wrapped when that is the shorter distance (less than 2^31 forward). Any other counter that decreased was
 * reset and continues from its last value: then *reset is set, otherwise it is not changed. `reopened`: its
 * source was closed in between, so a lower value means a reset.
 */
int64_t unwrap_next(struct unwrap *u, int64_t raw, bool wraps32, bool reopened, bool *reset);

#endif
