/*
 * The physics of the network between simulated hosts: links, switches, and hosts that forward in software. As
 * with lib/physics/host.h, the values come from a lab's document and are the configuration of the simulator
 * (sim/fabric/fabric.h).
 */
#ifndef LIB_PHYSICS_FABRIC_H
#define LIB_PHYSICS_FABRIC_H

#include "lib/document/table.h"

/* Ranges of a link. At the least rate, the longest pause (65535 quanta of 64 bytes) still fits the
 * simulator's arithmetic: bytes times picoseconds a byte, in 44.20 bits. */
#define PHYSICS_LINK_LEAST_BPS     INT64_C(2000000)
#define PHYSICS_LINK_MOST_BPS      INT64_C(10000000000000)
#define PHYSICS_LINK_MOST_DELAY_PS INT64_C(1000000000000000)
#define PHYSICS_CABLE_PS_PER_MM    INT64_C(5) /* light in fibre: 5 ns a metre */

#define PHYSICS_DEADLOCK_PS INT64_C(1000000000)

/* The least time of a watchdog, which looks at its queues four times in it: a value that is not far above
 * nothing would be all that it does. */
#define PHYSICS_WATCHDOG_LEAST_PS INT64_C(1000000)

enum physics_ecn_at { ECN_AT_DEQUEUE, ECN_AT_ENQUEUE };
enum physics_routing { ROUTING_ECMP, ROUTING_ADAPTIVE };
enum physics_watchdog_action { WATCHDOG_DROP, WATCHDOG_FORWARD };

/* ECN marking of an egress queue: never up to kmin, with a probability that grows linearly to pmax at kmax,
 * always above. */
struct physics_ecn {
    int64_t kmin_bytes, kmax_bytes; /* kmax 0: off */
    double pmax;
    int64_t reference_bps; /* 0: the same thresholds for all ports */
    int at;                /* enum physics_ecn_at */
};

/* A queue that is paused for detect_ps is regarded as a victim of a pause storm. */
struct physics_watchdog {
    int64_t detect_ps;  /* 0: no watchdog */
    int64_t restore_ps; /* time without a pause until the queue works again; FIELD_UNSET: detect_ps */
    int action;         /* enum physics_watchdog_action */
};

/* The values of a switch that is a host that forwards in software. Frames wait in their port's RX ring for an
 * interrupt, then for the single softirq CPU. This CPU polls the ports in turn, a budget of frames at a time,
 * and gives each to the egress port's qdisc, which feeds the device as long as the device holds less than
 * tx_limit_bytes. Only the same softirq frees frames that the device has sent. */
struct physics_forwarding {
    int64_t rx_ring;
    int64_t coalesce_ps;
    int64_t coalesce_frames;
    int adaptive;
    int64_t interrupt_ps, frame_ps;
    int64_t budget;
    int64_t tx_limit_bytes, fifo_bytes;
};

/* Each lossless priority of an ingress port has a reserve. Above the reserve it may use the shared part, up
 * to xoff_alpha times the free shared part, or up to xoff_bytes if that is not 0. At this threshold the
 * switch sends XOFF and uses the headroom. It sends XON when the headroom is empty and the use is
 * xon_offset_bytes below the threshold. */
struct physics_switch {
    char *name;
    int64_t buffer_bytes; /* all of it: reserves, headroom and the shared part */
    int64_t reserve_bytes;
    double xoff_alpha;
    int64_t xoff_bytes;
    int alpha_follows_rate;
    int64_t xon_offset_bytes;
    int64_t headroom_bytes; /* of a port and priority; FIELD_UNSET: from rate and delay of the link */
    double headroom_delays;
    int64_t pause_quanta, pause_refresh_percent;
    double lossy_alpha;
    int64_t tail_drop_bytes; /* of lossy packets at an egress port; 0: lossy_alpha */
    struct physics_ecn ecn;
    int64_t latency_ps;
    int64_t ecmp_seed;
    int routing;            /* enum physics_routing */
    int64_t convergence_ps; /* from a change of links to the routes that follow it */
    int64_t deadlock_ps; /* a cycle of ports that have been paused for this time is a deadlock; FIELD_UNSET:
                            PHYSICS_DEADLOCK_PS */
    struct physics_watchdog watchdog;
    struct physics_forwarding *software; /* NULL: a switch */
};

/* The keys that a guest models which is a switch of virtual ConnectX ports. */
extern const struct table physics_virtual_switch_table;
extern const struct table physics_switch_table, physics_forwarding_table;

#endif
