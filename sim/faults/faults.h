/*
 * Faults of links, as a configuration states them, and what is read of them.
 *
 * A link that goes down loses the frames on it, in both directions; pauses of both ends are over; what a switch has in the port's
 * queues, or would put there, is dropped, and a host's NIC waits. Switches choose among the paths that are left after their time
 * of convergence. docs/simulator-reference.md has the sources.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim/sim.h"

/* Gilbert and Elliott's channel: two states, each with a probability of loss, and a step between them with each frame. A frame is
 * lost with `good` alone while to_bad is 0. */
struct sim_link_loss {
    double good, bad;
    double to_bad, to_good;
};

/* The shortest time for which a link may be down: that of its longest frame at the slowest of its rates. Frames that were sent before
 * have then ended before it is up again. */
int64_t sim_link_least_down_ps(int64_t slowest_bps);

/* The state of a link from a time on. The rate changes only while the link is down. */
struct sim_link_state {
    uint32_t link;
    int64_t at_ps;
    bool up;
    int64_t rate_bps; /* 0: the link's own */
    struct sim_link_loss loss;
};

/* A cycle of egress ports of switches: each holds packets and is paused by the switch of the next, where packets that came from it
 * wait in the next port's queue. */
struct sim_deadlock {
    const struct sim_node *switches; /* the switch of each port, */
    const uint32_t *ports;           /* and its number there */
    size_t count;
    unsigned priority;
    int64_t since_ps; /* the latest of the pauses began */
};

/* The next deadlock that lasts for the time that its switches state, and that was not reported before; false: there is none. To be
 * called between two runs until it returns false; it is valid until the next call. */
bool sim_next_deadlock(struct sim *sim, struct sim_deadlock *deadlock);

#endif
