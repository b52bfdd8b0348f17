/*
 * Settings of a host: what a scenario asks for and nic-config applies. One table serves both.
 * A setting that is not there is left as it is on the host.
 */
#ifndef LIB_SETTINGS_H
#define LIB_SETTINGS_H

#include "lib/document/table.h"
#include "lib/roce/dcqcn.h"

enum settings_trust { TRUST_PCP, TRUST_DSCP };
/* Transmission selection of a traffic class (IEEE 802.1Qaz). */
enum settings_selection { SELECTION_STRICT, SELECTION_CREDIT, SELECTION_ETS, SELECTION_VENDOR };
enum settings_red_at { RED_AT_EGRESS, RED_AT_INGRESS };
enum settings_kind { KIND_DEVICE, KIND_BRIDGE, KIND_ABSENT };

/* ETS: how traffic classes share the port. */
struct settings_ets {
    struct list_of prio_to_tc; /* struct named_integer: priority -> traffic class */
    struct list_of weights;    /* int64_t, per cent a traffic class; 0: strict priority */
    struct list_of selection;  /* int, enum settings_selection by traffic class; unset: as weights say */
};

/* A kernel RED qdisc on a forwarding host (tc-red's names). */
struct settings_red {
    int at; /* enum settings_red_at */
    int64_t limit_bytes;
    int64_t min_bytes;
    int64_t max_bytes;
    int64_t avpkt_bytes;
    int64_t burst; /* packets */
    int64_t bandwidth_bps;
    double probability;
    int ecn;
    int roce_only;                 /* mark UDP port 4791 alone */
    int64_t shape_bps;             /* an htb class of this rate around it; unset: none */
    int64_t wlog, plog, scell_log; /* as the kernel keeps them, computed from the others */
};

/* WRED/ECN of a switch's egress queues. */
struct settings_ecn_threshold {
    int64_t kmin_bytes;
    int64_t kmax_bytes;
    double pmax;
};

struct settings {
    char *name; /* the role or interface, where settings stand in a map; else NULL */
    int kind;   /* enum settings_kind */
    int up;
    struct list_of addresses; /* char *: "10.0.0.1/24" */
    char *bridge;             /* that it is a port of; "": none */
    int64_t mtu;
    struct list_of pfc;            /* int64_t: priorities with PFC on */
    struct list_of prio_to_buffer; /* struct named_integer */
    struct list_of buffer_bytes;   /* int64_t, by receive buffer */
    int64_t cable_mm;
    int trust;                   /* enum settings_trust */
    struct list_of dscp_to_prio; /* struct named_integer */
    struct settings_ets *ets;
    struct list_of ecn;            /* int64_t: priorities with the reaction and notification point on */
    struct list_of ecn_rp, ecn_np; /* int64_t: the same, one of the points alone */
    struct dcqcn_values dcqcn;
    int congestion_control; /* index into congestion_control_names */
    int64_t rx_ring, tx_ring;
    int64_t rx_coalesce_us, rx_coalesce_frames;
    int pause_autoneg, rx_pause, tx_pause; /* 802.3x global pause */
    int64_t pfc_stall_ms;                  /* PFC stall prevention time-out; 0: off */
    int64_t traffic_class;                 /* default of RoCE traffic */
    int roce;                              /* devlink enable_roce */
    struct list_of optional_counters;      /* char *: RDMA optional counters to switch on */
    int64_t qdisc_quantum;                 /* of the default root qdisc; 0: the kernel has made none yet */
    struct settings_red *red;
    struct settings_ecn_threshold *ecn_threshold;
};

extern const struct table settings_table;
extern const char *const congestion_control_names[]; /* ended by NULL */

#endif
