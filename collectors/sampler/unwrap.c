#include "collectors/sampler/unwrap.h"

#define SPAN32 (INT64_C(1) << 32)

static bool wrapped(const struct unwrap *u, int64_t raw)
{
    return u->raw < SPAN32 && raw + SPAN32 - u->raw < SPAN32 / 2;
}

int64_t unwrap_next(struct unwrap *u, int64_t raw, bool wraps32, bool reopened, bool *reset)
{
    int64_t added = 0, value;
    if (u->seen && raw < u->raw) {
        if (wraps32 && !reopened && wrapped(u, raw)) {
            added = SPAN32;
        } else {
            added = u->raw;
            *reset = true;
        }
    }
    if (__builtin_add_overflow(u->base, added, &u->base) || __builtin_add_overflow(raw, u->base, &value)) {
        /* Only an inconsistent counter reaches this line: start again. */
        u->base = 0;
        value = raw;
    }
    u->raw = raw;
    u->seen = true;
    return value;
}
