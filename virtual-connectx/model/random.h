/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Pseudo-random numbers that a seed decides: Vigna's SplitMix64 (public domain), whose state may have any
 * value. */
#ifndef VCX_RANDOM_H
#define VCX_RANDOM_H

#include "virtual-connectx/model/base.h"

static inline uint64_t vcx_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* 0 to below - 1 */
static inline uint32_t vcx_random_below(uint64_t *state, uint32_t below)
{
    return (uint32_t)((vcx_random(state) >> 32) * below >> 32);
}

#endif
