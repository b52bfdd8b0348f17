/* Arithmetic of packet sequence numbers: 24 bits, which wrap (InfiniBand Architecture Specification, 9.7.1).
 * MSNs are alike. */
#ifndef VERIFY_PSN_H
#define VERIFY_PSN_H

#include "lib/packets/frame.h"
#include <stdbool.h>
#include <stdint.h>

static inline uint32_t psn_add(uint32_t psn, uint32_t count)
{
    return (psn + count) & FRAME_PSN_MASK;
}

/* How far a is behind b on the way (negative: before it), from -2^23 to 2^23 - 1. */
static inline int32_t psn_after(uint32_t a, uint32_t b)
{
    uint32_t ahead = (a - b) & FRAME_PSN_MASK;
    return ahead & 0x800000 ? (int32_t)ahead - 0x1000000 : (int32_t)ahead;
}

static inline uint32_t psn_later(uint32_t a, uint32_t b)
{
    return psn_after(a, b) > 0 ? a : b;
}

#endif
