/*
 * The interface for congestion control algorithms: how a sender's NIC limits the rate or the window of a
 * queue pair.
 *
 * An algorithm is one const row. A host runs one (sim_settings.congestion_control) on the priorities whose
 * reaction point is on. To add one: its file in this folder, which defines its row, and its lines in
 * lib/roce/congestion_control.h: name, parameters, gauges.
 *
 * A row's functions see the state of one queue pair and the parameters of its host, nothing else of the
 * simulator. States are consecutive in one array, parameters in another, both with the sizes that the rows
 * state; nothing is allocated after sim_new. What changes with time alone needs no event: rate and window
 * matter when a packet is sent, so a row may process the elapsed time then (dcqcn.h).
 *
 * The hot path calls through the host's row, one indirect call a packet where there was a direct one to
 * DCQCN: the target does not change within a run, so it is predicted, and counts of instructions stayed
 * within 0.7 % (below) of the direct call on five loads. A switch over all rows would save nothing and be a
 * third file to edit for each new one. What no row needs is one test of queue_pair.congestion_hooks, in the
 * cache line of the sender's sequence numbers.
 */
#ifndef SIM_CONGESTION_H
#define SIM_CONGESTION_H

#include "sim/sim.h"

/* Data that a packet collects on its way and that its ACK returns to the sender. */
struct telemetry {
    int64_t sent_ps; /* it left the sender's send buffer */
};

/* In-band telemetry: what each switch's egress port appends when the packet leaves its queue (Li et al.,
 * "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3.1 and figure 7, which has room for
 * five). */
#define CONGESTION_MOST_HOPS 5
struct telemetry_hop {
    int64_t left_ps;
    int64_t sent_bytes;    /* by the port before this packet, without PFC frames */
    int64_t rate_bps;      /* of its link */
    uint32_t queued_bytes; /* in all of the port's queues behind this packet */
};
struct telemetry_path {
    uint32_t count;
    struct telemetry_hop hops[CONGESTION_MOST_HOPS];
};

/* An ACK that acknowledges something new. */
struct congestion_ack {
    int64_t now_ps;
    int64_t rtt_ps;                    /* since the packet that it answers left */
    int64_t acked_bytes;               /* payload that was not acknowledged before */
    uint64_t acked_psn, next_psn;      /* packets acknowledged so far; packets sent so far */
    bool marked;                       /* a packet since the last ACK was marked */
    const struct telemetry *telemetry; /* of the packet that it answers */
    const struct telemetry_path *path; /* of the same packet; NULL unless the row asks for `path` */
};

/* What a row's parameters are made from. */
struct congestion_host {
    const struct sim_host_config *config;
    int64_t line_bps;      /* its link's rate */
    int64_t base_rtt_ps;   /* the longest of all queue pairs' (sim_base_rtt_ps) */
    int64_t payload_bytes; /* of a packet of its MTU */
};

/* A value of a queue pair, for samplers. */
struct congestion_gauge {
    const char *name; /* of CONGESTION_GAUGES, which has its unit and meaning */
    bool mean;        /* of a flow's queue pairs; else their sum */
    double (*read)(void *state, const void *params, int64_t now_ps);
};

struct congestion_control {
    const char *name;
    size_t params_bytes, state_bytes;

    /* Bytes that its header adds to each data packet and ACK. */
    uint8_t header_bytes;
    /* Switches append telemetry to its data packets. */
    bool path;

    /* The host's parameters in the units of the arithmetic. */
    void (*prepare)(void *params, const struct congestion_host *host);
    /* A queue pair begins; its state is zero. */
    void (*start)(void *state, const void *params);

    /* The limits of the sender; NULL: no limit of this kind. A frame of `bytes` is sent: returns the time
     * until the next may be sent. */
    int64_t (*gap_ps)(void *state, const void *params, int64_t now_ps, uint32_t bytes);
    /* The gap after the last frame at the rate as it is now. Given: an ACK that changes the rate also changes
     * the gap that has begun. */
    int64_t (*last_gap_ps)(const void *state, const void *params);
    /* Payload that may be unacknowledged: the next packet may be sent while less is. Packets then request
     * ACKs. A read's responses, which are not acknowledged, have no window. */
    int64_t (*window_bytes)(void *state, const void *params, int64_t now_ps);

    /* Notifications for the algorithm; NULL: not used. With `acknowledged` each packet requests an ACK; if
     * there is no `notified`, marks are returned in ACKs and no CNPs are sent. */
    void (*acknowledged)(void *state, const void *params, const struct congestion_ack *ack);
    void (*notified)(void *state, const void *params,
                     int64_t now_ps); /* CNP, or the mark of nic.congestion_on_ack */
    /* Before `notified`, with nic.cnp_cuts_share: this many queue pairs share the port, so that it cannot
     * send faster than its part. */
    void (*shared)(void *state, const void *params, int64_t now_ps, uint32_t queue_pairs);
    void (*timed_out)(void *state, const void *params, int64_t now_ps); /* no acknowledgement came */
    /* First called when the flow starts; returns the time of the next call, SIM_FOREVER: none. */
    int64_t (*timer)(void *state, const void *params, int64_t now_ps);

    const struct congestion_gauge *gauges;
    size_t gauge_count;
    /* How often it decreased and increased the rate until now; NULL: not counted. */
    void (*changes)(void *state, const void *params, int64_t now_ps, int64_t *decreases, int64_t *increases);
};

/* Functions of its sender's row that a queue pair calls, so that one byte of the queue pair tells the hot
 * path whether there is anything to call. */
enum congestion_hook {
    CONGESTION_GAP = 1,
    CONGESTION_WINDOW = 2,
    CONGESTION_ACKS = 4,
    CONGESTION_CNPS = 8,
    CONGESTION_TIMEOUTS = 16,
    CONGESTION_TIMER = 32,
    CONGESTION_MOVED_GAP = 64, /* an ACK may move the next packet's time */
};

#endif
