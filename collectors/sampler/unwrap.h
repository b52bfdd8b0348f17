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
 * The risen value of a counter that reads `raw` now. A counter of 32 bits that went back wrapped when that is the shorter way
 * round (less than 2^31 forward); any other that went back was reset, and counts on from where it was: *reset is set then,
 * and left alone otherwise. `reopened`: its source was away in between, so what is lower was reset.
 */
int64_t unwrap_next(struct unwrap *u, int64_t raw, bool wraps32, bool reopened, bool *reset);

#endif
