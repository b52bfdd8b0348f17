/* Finding deadlocks of PFC in the state of the switches, between two runs (sim/faults/faults.h). */
#ifndef SIM_DEADLOCK_H
#define SIM_DEADLOCK_H

#include "sim/faults/faults.h"
#include "sim/model.h"

struct deadlock {
    uint32_t *next;    /* of an egress port that is stuck: the one that it waits for; NONE */
    uint32_t *visited; /* in which walk */
    uint32_t *stuck, stuck_count;
    bool *waits;          /* it is stuck, and waits for one that waits too */
    uint8_t priorities;   /* lossless at any switch */
    int64_t *reported_ps; /* by port and priority: when the pause began with which it was in a reported
                             deadlock; -1 */
    struct sim_node *switches;
    uint32_t *ports;
};

/* Bytes of all these for each port. */
#define DEADLOCK_BYTES \
    (4 * sizeof(uint32_t) + sizeof(bool) + sizeof(struct sim_node) + SIM_PRIORITIES * sizeof(int64_t))

int deadlock_build(struct sim *sim, struct error *e);
void deadlock_free(struct sim *sim);

#endif
