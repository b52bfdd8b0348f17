/* Random numbers: xoshiro256++ (Blackman and Vigna), seeded by splitmix64. */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

static inline void random_seed(struct random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        r->state[i] = z ^ z >> 31;
    }
}

static inline uint64_t random_next(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t sum = s[0] + s[3];
    uint64_t result = (sum << 23 | sum >> 41) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* 0 <= x < 1 */
static inline double random_unit(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1p-53;
}

/* A whole number from 0 to below `count`. */
static inline size_t random_below(struct random *r, size_t count)
{
    return (size_t)(random_unit(r) * (double)count);
}

static inline double random_exponential(struct random *r, double mean)
{
    return -mean * log1p(-random_unit(r));
}

#endif
