/* A shared-buffer switch: admission and accounting, XOFF and XON, ECN, ETS, and the PFC watchdog. */
#ifndef SIM_SWITCH_H
#define SIM_SWITCH_H

#include "sim/fabric/fabric.h"
#include "sim/model.h"

/* A switch's port, parallel to the struct port of the same index. The fields for a packet's arrival are in
 * the first cache line, those for its departure in the second. */
struct switch_port {
    uint32_t xoff_q16; /* threshold / free shared part */
    uint8_t xoff;      /* bit: this priority is XOFF, as in struct port */
    uint8_t pfc_mask;  /* bit: what arrives here with this priority is lossless; as of the switch, or none */
    /* by priority: bytes in the buffer that arrived at this port */
    struct ingress {
        int32_t used; /* of reserve and shared part */
        int32_t headroom_used;
    } ingress[SIM_PRIORITIES];
    int32_t headroom;
    uint32_t kmax;       /* kmin is in struct port */
    uint8_t storm;       /* bit: the watchdog has disabled this priority's queue */
    uint64_t mark_slope; /* probability / byte above kmin, times 2^48 */

    uint8_t turn;                    /* the class whose turn it is */
    int32_t deficit[SIM_PRIORITIES]; /* of traffic classes */
    int64_t marked, dropped, watchdog_dropped;
    int64_t link_dropped;                  /* for want of a link */
    int64_t calm_since_ps[SIM_PRIORITIES]; /* of queues in a storm: the last pause seen */
    int64_t pauses_seen[SIM_PRIORITIES];
} __attribute__((aligned(64)));

struct fabric_switch {
    int64_t shared_bytes, shared_used; /* reserves and headroom are not included */
    int32_t reserve_bytes, xon_offset_bytes;
    int64_t static_xoff_bytes; /* 0: dynamic */
    int64_t latency_ps;
    int64_t peak_bytes;
    uint8_t pfc_mask, ecn_mask;
    uint8_t shown_mask; /* priorities that have columns: lossless ones, those of flows, and 0 */
    bool mark_at_enqueue;
    bool reroutes; /* each packet asks for its port (sim/faults/reroute.c) */
    double lossy_alpha;
    int64_t tail_drop_bytes; /* 0: lossy_alpha limits a queue */
    uint8_t prio_to_tc[SIM_PRIORITIES];
    int32_t tc_weight[SIM_PRIORITIES];
    struct delay_line pipeline; /* admitted, not yet in their queues */
    uint32_t forward_event, watchdog_event;
    struct physics_watchdog watchdog;
    uint32_t *ports; /* global index by own index */
    uint32_t port_count;
    int64_t headroom_peak; /* the maximum that a port's priority had in its headroom */
    int64_t storms, restores;
    int64_t unroutable; /* packets for which there was no path */
    int64_t deadlocks;  /* found with a port of it */
    int64_t deadlock_ps;
    bool shows_deadlocks;
    struct sim_counter *columns;
    char *column_names;
    size_t column_count;
};

int switches_build(struct sim *sim, const struct sim_config *config, struct error *e);
/* The ports at which frames may arrive and leave at once (pass.h); after all else is built. */
void switches_let_pass(struct sim *sim);
void switches_free(struct sim *sim);

void switch_receive(struct sim *sim, uint32_t in, uint32_t p);
void switch_arrive(struct sim *sim, uint32_t in);      /* EVENT_AT_SWITCH */
void switch_transmit(struct sim *sim, uint32_t index); /* EVENT_SWITCH_TRANSMIT */
void switch_forward(struct sim *sim,
                    uint32_t index); /* EVENT_FORWARD: the pipeline's first packet is through */
void switch_watchdog(struct sim *sim, uint32_t index); /* EVENT_WATCHDOG */

/* A packet left its egress queue: may send XON and mark the packet. */
void switch_departed(struct sim *sim, uint32_t out, unsigned queue, uint32_t p);
/* Empty an egress queue, and add the number of packets to *dropped. */
void switch_drop_queue(struct sim *sim, uint32_t out, unsigned priority, int64_t *dropped);
/* The queue that sends next, of those in the mask `queues`. */
unsigned switch_pick_queue(struct sim *sim, uint32_t out, unsigned queues);

#endif
