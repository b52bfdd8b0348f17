/*
 * Faults of links, as a configuration states them, and what is read of them.
 *
 * A link that goes down loses the frames on it, in both directions; pauses of both ends are over; what a
 * switch has in the port's queues, or would put there, is dropped, and a host's NIC waits. Switches choose
 * among the paths that are left after their time of convergence. docs/simulator-reference.md has the sources.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim/sim.h"
#include "sim/packet.h"

/* Gilbert and Elliott's channel: two states, each with a probability of loss, and a step between them with
 * each frame. A frame is lost with `good` alone while to_bad is 0. */
struct sim_link_loss {
    double good, bad;
    double to_bad, to_good;
};

/* The shortest time for which a link may be down: that of its longest frame at the slowest of its rates.
 * Frames that were sent before have then ended before it is up again. */
int64_t sim_link_least_down_ps(int64_t slowest_bps);

/* The state of a link from a time on. The rate changes only while the link is down. */
struct sim_link_state {
    uint32_t link;
    int64_t at_ps;
    bool up;
    int64_t rate_bps; /* 0: the link's own */
    struct sim_link_loss loss;
    uint32_t fault; /* the caller's number of what it belongs to */
};

/* A cycle of egress ports of switches: each holds packets and is paused by the switch of the next, where
 * packets that came from it wait in the next port's queue. */
struct sim_deadlock {
    const struct sim_node *switches; /* the switch of each port, */
    const uint32_t *ports;           /* and its number there */
    size_t count;
    unsigned priority;
    int64_t since_ps; /* the latest of the pauses began */
};

/* The next deadlock that lasts for the time that its switches state, and that was not reported before; false:
 * there is none. To be called between two runs until it returns false; it is valid until the next call. */
bool sim_next_deadlock(struct sim *sim, struct sim_deadlock *deadlock);

/* ---- single frames */

/*
 * Faults of single frames, as a configuration states them: the Nth frame of a kind that arrives at a port is
 * dropped, marked, damaged, late, or there twice; or it makes its receiver send a CNP or a pause, or stand
 * still.
 *
 * A rule looks at the frames of one kind that arrive at one port, so that what it does depends on nothing
 * else. Rules of a port come in their order; what one has taken away the next ones do not see.
 */

enum sim_injected_action {
    SIM_INJECT_DROP,      /* lost on the link */
    SIM_INJECT_CORRUPT,   /* lost, and counted as a frame with a wrong check sequence */
    SIM_INJECT_MARK,      /* data only: CE */
    SIM_INJECT_DELAY,     /* arrives delay_ps later; frames behind it overtake it */
    SIM_INJECT_DUPLICATE, /* a copy arrives delay_ps later */
    SIM_INJECT_REORDER,   /* arrives right behind the `behind`th frame after it that the rule is for; lost
                             without one */
    /* Only where hosts receive: */
    SIM_INJECT_CNP,       /* data only: its receiver answers it with a CNP */
    SIM_INJECT_PAUSE,     /* the port pauses a priority for lasts_ps, unless it does so already */
    SIM_INJECT_STALL,     /* data only: the memory that it is for serves nothing for lasts_ps more */
    SIM_INJECT_NOT_READY, /* data only: the first packet of a SEND finds no receive, and has an RNR NAK */
};

#define SIM_NO_FLOW UINT32_MAX

struct sim_injection {
    /* A rule of a flow looks where its data (of a ping-pong: that of its first host), or what answers it,
     * arrives. */
    uint32_t flow;
    uint32_t port; /* without a flow: end 0 (a) or 1 (b) of a link, number 2 * link + end */
    enum packet_kind kind;
    enum sim_injected_action action;
    int64_t from_ps, until_ps; /* of arrivals; until: not included */
    int64_t first, every;      /* the first frame, counted from 1, and then each `every`th */
    int64_t most;              /* frames that it acts on; INT64_MAX */
    double probability;        /* of each frame, in place of first and every; 0: none */
    int64_t delay_ps, lasts_ps;
    int64_t behind;
    uint8_t priorities;    /* of the frames, a mask, of PFC frames one of theirs; 0: all */
    uint8_t pause_classes; /* a mask; 0: the frame's priority */
};

struct sim_injected {
    int64_t seen;     /* frames that a rule looked at */
    int64_t injected; /* of these, those that it acted on */
};

/* The counts of the rule with this index in the configuration. */
struct sim_injected sim_injected(const struct sim *sim, size_t rule);
/* Of the states of a link's fault: frames that arrived at both ends, and what it did to others: damaged, lost
 * or kept waiting because the link was down, or led another way (then it is at least 1). */
struct sim_injected sim_link_met(const struct sim *sim, uint32_t fault);
/* Did frames wait at the other end of the host's link while the storm of this index paused them? */
bool sim_storm_met(const struct sim *sim, size_t storm);

#endif
