/*
 * The interface for congestion control algorithms: how a sender's NIC limits the rate or the window of a
 * queue pair.
 *
 * An algorithm is one const row. A host runs one (sim_settings.congestion_control) on the priorities whose
 * reaction point is on. To add one: its file in this folder, which defines its row, and its line in
 * lib/roce/congestion_control.h.
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

/* Data that a packet collects on its way and that its ACK returns to the sender. In-band telemetry adds its
 * hops here. */
struct telemetry {
    int64_t sent_ps; /* it left the sender's send buffer */
};

/* An ACK that acknowledges something new. */
struct congestion_ack {
    int64_t now_ps;
    int64_t rtt_ps;                    /* since the packet that it answers left */
    int64_t acked_bytes;               /* payload that was not acknowledged before */
    bool marked;                       /* a packet since the last ACK was marked */
    const struct telemetry *telemetry; /* of the packet that it answers */
};

/* A value of a queue pair, for samplers. */
struct congestion_gauge {
    const char *name; /* of CONGESTION_GAUGES, which has its unit and meaning */
    bool mean;        /* of a flow's queue pairs; else their sum */
    double (*read)(const void *state, const void *params, int64_t now_ps);
};

struct congestion_control {
    const char *name;
    size_t params_bytes, state_bytes;

    /* The host's parameters in the units of the arithmetic; line_bps is its link's rate. */
    void (*prepare)(void *params, const struct sim_host_config *host, int64_t line_bps);
    /* A queue pair begins; its state is zero. */
    void (*start)(void *state, const void *params);

    /* The limits of the sender; NULL: no limit of this kind. A frame of `bytes` is sent: returns the time
     * until the next may be sent. */
    int64_t (*gap_ps)(void *state, const void *params, int64_t now_ps, uint32_t bytes);
    /* Payload that may be unacknowledged: the next packet may be sent while less is. A read's responses,
     * which are not acknowledged, have no window. */
    int64_t (*window_bytes)(const void *state, const void *params);

    /* Notifications for the algorithm; NULL: not used. With `acknowledged` each packet requests an ACK; if there is
     * no `notified`, marks are returned in ACKs and no CNPs are sent. */
    void (*acknowledged)(void *state, const void *params, const struct congestion_ack *ack);
    void (*notified)(void *state, const void *params,
                     int64_t now_ps); /* CNP, or the mark of nic.congestion_on_ack */
    void (*timed_out)(void *state, const void *params, int64_t now_ps); /* no acknowledgement came */
    /* First called when the flow starts; returns the time of the next call, SIM_FOREVER: none. */
    int64_t (*timer)(void *state, const void *params, int64_t now_ps);

    const struct congestion_gauge *gauges;
    size_t gauge_count;
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
};

#endif
