/* The rules of a simulation, and their state. */
#ifndef SIM_INJECT_H
#define SIM_INJECT_H

#include "sim/faults/faults.h"
#include "sim/model.h"

struct injection {
    struct sim_injection rule;
    struct sim_injected count;
    struct injection *next; /* of the same port */
    struct random random;
    uint64_t threshold; /* of 2^64 */
    struct delay_line
        held;        /* frames that are late: all by the same time or number of frames, in their order */
    int64_t passed;  /* frames that it is for, at any time */
    uint8_t pausing; /* classes */
    uint32_t event;
};

/* After the faults of links, which have their ports. */
int inject_build(struct sim *sim, const struct sim_config *config, struct error *e);

#endif
