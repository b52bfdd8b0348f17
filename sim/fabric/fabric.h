/*
 * What lies between hosts: switches and forwarding hosts (bridges). docs/simulator-reference.md says which model each
 * value belongs to.
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include "sim/fabric/red.h"
#include "sim/sim.h"

/* ---- switches */

/* ECN marking of an egress queue: never up to kmin, with a probability that grows linearly to pmax at kmax, always above. */
struct sim_ecn_config {
    int64_t kmin_bytes, kmax_bytes; /* kmax 0: off */
    double pmax;
    /* The thresholds hold for ports of this rate and are scaled by the rate of others; 0: the same for all. */
    int64_t reference_bps;
    bool at_enqueue; /* decided on the queue that a packet finds; else on the one that it leaves behind */
};

/* PFC watchdog: a queue that stayed paused for so long is taken for a storm's victim. */
enum sim_watchdog_action { SIM_WATCHDOG_DROP, SIM_WATCHDOG_FORWARD };
struct sim_watchdog_config {
    int64_t detect_ps;  /* 0: no watchdog */
    int64_t restore_ps; /* without a pause before the queue is trusted again */
    enum sim_watchdog_action action;
};

struct sim_switch_config {
    const char *name;
    int64_t buffer_bytes; /* all of it: reserves, headroom and the shared part */
    uint8_t pfc_mask;     /* bit p: priority p is lossless */

    /* A lossless priority of an ingress port has a reserve of its own; beyond it, it may use the shared part up to
     * xoff_alpha times what is free of that, or up to xoff_bytes where that is not 0 (a static threshold). There it
     * sends XOFF and lives on its headroom. XON: the headroom is empty and the use is xon_offset_bytes below. */
    int64_t reserve_bytes;
    double xoff_alpha;
    int64_t xoff_bytes;
    bool
        alpha_follows_rate; /* double it for each doubling of a port's rate over the slowest host's, up to 1 */
    int64_t xon_offset_bytes;
    int64_t headroom_bytes; /* -1: two propagation delays, and what either end has begun to send */
    double headroom_delays; /* with headroom_bytes -1 and not 0: so many delays' worth at the port's rate */
    int32_t pause_quanta;   /* 0: a pause lasts until resumed */
    int32_t pause_refresh_percent;

    /* A queue of any other priority is dropped from once it is longer than this times the free shared part. */
    double lossy_alpha;

    struct sim_ecn_config ecn;
    uint8_t ecn_mask; /* bit p: priority p is marked */

    /* ETS: classes of weight 0 go first, higher ones before lower ones; the others share by deficit round robin. All
     * weights 0: strict priority. */
    uint8_t prio_to_tc[SIM_PRIORITIES];
    int32_t tc_weight[SIM_PRIORITIES];

    int64_t latency_ps; /* from the last bit in to the egress queue */
    uint32_t ecmp_seed; /* 0: the switch's index among the nodes, hosts first */
    struct sim_watchdog_config watchdog;
};
/* 16 MiB, PFC off, dynamic thresholds of 1/8, no ECN, no latency. */
void sim_switch_defaults(struct sim_switch_config *s);

/* ---- a host that forwards in software */

/* Frames wait in their port's RX ring for an interrupt, then for the one softirq CPU; that polls the ports in turn, a
 * budget of frames at a time, and gives each to the egress port's qdisc, which feeds the device as long as less than
 * tx_limit_bytes are in its hands. Frames that the device has sent are only taken back by the same softirq. */
struct sim_bridge_config {
    const char *name;
    int32_t rx_ring;         /* descriptors of a port */
    int64_t coalesce_ps;     /* interrupt so long after the first frame */
    int32_t coalesce_frames; /* or with so many waiting */
    bool adaptive;           /* instead, the kernel's adaptive moderation: 2 us to 64 us, by load */
    int64_t interrupt_ps;    /* interrupt to the first frame's processing */
    int64_t frame_ps;        /* CPU time of a frame */
    int32_t budget;          /* NAPI: frames of one poll */
    int64_t tx_limit_bytes;  /* what a device's byte queue limit grows to at most */
    struct red_config red;   /* of every port; limit_bytes 0: a plain FIFO of fifo_bytes */
    int64_t fifo_bytes;
};
/* mlx5's usual values: ring 1024, 8 us or 128 frames, and a CPU that costs nothing. */
void sim_bridge_defaults(struct sim_bridge_config *b);

/* ---- faults */

/* A broken host that pauses its peer from start to stop without a reason. */
struct sim_storm_config {
    uint32_t host;
    uint8_t priority;
    int64_t start_ps, stop_ps;
};

/* ---- reading */

/* Columns of a switch or bridge: sums over it, then per port and priority; ports count from 0 in the order of the links. */
size_t sim_switch_counters(const struct sim *sim, uint32_t index, const struct sim_counter **counters);
void sim_switch_values(const struct sim *sim, uint32_t index, int64_t *values);
size_t sim_bridge_counters(const struct sim *sim, uint32_t index, const struct sim_counter **counters);
void sim_bridge_values(const struct sim *sim, uint32_t index, int64_t *values);

/* The bytes of one egress queue, and the most that it held. */
int64_t sim_switch_queue_bytes(const struct sim *sim, uint32_t index, uint32_t port, unsigned priority);
int64_t sim_switch_queue_peak_bytes(const struct sim *sim, uint32_t index, uint32_t port, unsigned priority);

/* A flow's rate as its reaction point has it (the sum of its queue pairs), and alpha (their mean); -1: no reaction point. */
double sim_flow_rate_bps(const struct sim *sim, size_t flow);
double sim_flow_alpha(const struct sim *sim, size_t flow);

/* Payload that a flow's receivers have acknowledged, whole messages or not. */
int64_t sim_flow_acked_bytes(const struct sim *sim, size_t flow);
/* Rate decreases and increases that its reaction points made. */
void sim_flow_steps(const struct sim *sim, size_t flow, int64_t *decreases, int64_t *increases);

/* The least time in which a flow's first message could complete on an empty network. */
int64_t sim_flow_ideal_ps(const struct sim *sim, size_t flow);

#endif
