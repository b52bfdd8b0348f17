/*
 * Traffic patterns whose flows come and go in the simulator (sim/sim.h, struct sim_stream): Poisson arrivals
 * of more flows than a result lists. Of all flows together there are sums; of each one its size, start and
 * completion time.
 */
#ifndef HARNESS_LABS_SIM_STREAMED_H
#define HARNESS_LABS_SIM_STREAMED_H

#include "harness/labs/sim/completions.h"
#include "sim/workload.h"

struct flow_sums {
    int64_t bytes, messages, delivered_bytes, marked_packets;
    int64_t again_packets, requested_again, failed;
    int64_t decreases, increases; /* -1: of no flow they are counted */
    double again_bytes;           /* payload that was sent again */
};
#define FLOW_SUMS_NONE ((struct flow_sums){.decreases = -1, .increases = -1})
/* payload_bytes: of the flow's packets. */
void flow_sums_add(struct flow_sums *sums, const struct sim_flow_stats *stats, double payload_bytes);

struct streamed {
    size_t traffic; /* index among the scenario's */
    /* Who sends and what; the arrays are this one's. */
    struct sim_workload_config workload;
    uint32_t *from, *to;
    int64_t *link_bps;
    struct sim_flow_config *of_sender; /* by host: what the flows have of their sender */
    /* The next flow. */
    struct sim_poisson arrivals;
    struct sim_flow_config next;
    bool has_next;
    /* What the flows that have gone did, and all when the measure phase began and ended. */
    struct flow_sums gone, base, end;
    struct completions completions;
};

struct streamed_traffic {
    struct sim_stream stream; /* its context is this */
    struct streamed *patterns;
    size_t count;
};

/* A pattern of Poisson arrivals; takes over the arrays. */
void streamed_add(struct streamed_traffic *s, const struct streamed *pattern);
void streamed_free(struct streamed_traffic *s);
/* The arrays of a pattern that is not in a list. */
void streamed_release(struct streamed *pattern);
/* What flows have of their sender (of_sender, by host): whether they are ECN-capable, the size up to which
 * they are inline, their packets' payload. */
void sim_flow_take_sender(struct sim_flow_config *flow, const struct sim_flow_config *of_sender);
/* That of the scenario's traffic of this index; NULL: its flows stay. */
struct streamed *streamed_find(const struct streamed_traffic *s, size_t traffic);

/* The measure phase begins, or has come so far: base or end of each pattern. */
void streamed_note_measured(struct streamed_traffic *s, const struct sim *sim, bool begins);
/* The run has ended: the flows that have not gone are counted too. Once. */
void streamed_finish(struct streamed_traffic *s, const struct sim *sim);

#endif
