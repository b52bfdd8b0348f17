/* Random numbers belong to an object, so that they do not depend on what happens elsewhere. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "sim/model.h"

enum stream { STREAM_PORT, STREAM_HOST, STREAM_MEMORY, STREAM_FAULT, STREAM_INJECTION };

/* Of 2^64; 1 is as near as can be. */
static inline uint64_t random_threshold(double probability)
{
    return (uint64_t)(probability * 0x1p64 * (1 - 0x1p-53));
}

/* `index` among the objects of this kind. */
static inline void seed_random(struct random *random, const struct sim *sim, enum stream kind, uint32_t index)
{
    struct random mixed;
    random_seed(&mixed, sim->seed);
    random_seed(&mixed, random_next(&mixed) + kind);
    random_seed(random, random_next(&mixed) + ((uint64_t)index << 32));
}

#endif
