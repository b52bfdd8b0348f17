/*
 * Packet-level simulator of RoCE hosts, links and the network between them. A library: it does not use files,
 * labs or terminals.
 *
 * Fill a sim_config (sim_*_defaults give each part its defaults), sim_new, then sim_run_until again and
 * again, reading counters and flow statistics in between. The same configuration and seed give the same
 * numbers, bit by bit. Time is int64_t picoseconds since the start of the simulation. docs/simulator.md says
 * what is modelled and what is not.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "lib/error.h"
#include "lib/statistics/histogram.h"
#include "lib/physics/host.h"
#include "lib/roce/congestion_values.h"
#include "lib/roce/dcqcn.h"
#include "lib/roce/counters.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PRIORITIES 8
#define SIM_BUFFERS    8
#define SIM_PS_PER_NS  INT64_C(1000)
#define SIM_PS_PER_US  INT64_C(1000000)
#define SIM_PS_PER_S   INT64_C(1000000000000)
#define SIM_FOREVER    INT64_MAX

/* ---- settings: what nic-config changes on a real host */

struct congestion_control; /* sim/congestion/congestion.h */
/* The row of this name, NULL when there is none. */
const struct congestion_control *sim_congestion_control(const char *name);
const char *sim_congestion_control_name(const struct congestion_control *control);

struct sim_settings {
    int64_t mtu_bytes;                      /* link MTU: the InfiniBand MTU follows (4200 gives 4096) */
    uint8_t pfc_mask;                       /* bit p: PFC on priority p, both ways */
    uint8_t prio_to_buffer[SIM_PRIORITIES]; /* receive buffer of each priority */
    int64_t buffer_bytes[SIM_BUFFERS];      /* sizes of the receive buffers */
    int64_t cable_mm; /* cable length that the thresholds allow for: 7000 by default, as mlx5 */
    uint8_t ecn_rp_mask, ecn_np_mask; /* bit p: reaction/notification point on priority p */
    const struct congestion_control *congestion_control; /* of the reaction point; NULL: none */
    struct dcqcn_values dcqcn;                           /* every parameter must be set */
    struct congestion_values congestion; /* of other congestion controls; unset: the default */
};
/* The settings of a NIC before any change: PFC off, all of its buffer in receive buffer 0, its parameters of
 * DCQCN. */
void sim_settings_defaults(struct sim_settings *s, const struct physics_nic *nic);

/* ---- hosts */

enum sim_memory { SIM_MEMORY_HOST, SIM_MEMORY_GPU, SIM_MEMORIES };

struct sim_host_config {
    const char *name; /* for error sentences */
    struct physics_nic nic;
    struct physics_pcie pcie;
    struct physics_memory memories[SIM_MEMORIES];
    struct physics_software software;
    struct sim_settings settings;
};
/* The physics' defaults: no PCIe, no memory limits, PFC off. */
void sim_host_defaults(struct sim_host_config *h);

/* ---- links */

enum sim_node_kind { SIM_HOST, SIM_SWITCH, SIM_BRIDGE };

struct sim_node {
    enum sim_node_kind kind;
    uint32_t index; /* into the config's array of that kind */
};

/* A cable. Each end becomes the next free port of its node, in the order of the links; a host has one
 * port. */
struct sim_link_config {
    struct sim_node a, b;
    int64_t rate_bps;
    int64_t delay_ps;            /* propagation, one way */
    int64_t loss_per_billion;    /* frames lost at random (error injection), not PFC frames */
    bool lossy_at_a, lossy_at_b; /* frames that arrive at this end, a switch, are of a priority without PFC */
};

/* ---- flows */

enum sim_operation { SIM_WRITE, SIM_READ, SIM_SEND };
enum sim_flow_mode {
    SIM_STREAM,    /* `depth` messages outstanding on each queue pair, like ib_write_bw */
    SIM_PING_PONG, /* one message to and fro, latency is half the round trip, as ib_write_lat; writes and
                      sends only */
};

/* Whether a flow's packets may be marked. */
enum sim_ect {
    SIM_ECT_BY_PRIORITY, /* if its sender's reaction or notification point is on for its priority */
    SIM_ECT_ALWAYS,
    SIM_ECT_NEVER,
};

/* A flow that comes before: its end is when all of its messages are in the memory of its receiver, if that is
 * this flow's sender, else when they are complete at the sender of both. */
struct sim_wait {
    uint32_t flow; /* index of a flow with a message_count: a stream of writes or sends */
    int64_t delay_ps;
};

struct sim_flow_config {
    const char *name;
    uint32_t from, to; /* hosts: requester and responder */
    enum sim_operation operation;
    bool immediate; /* its messages end with immediate data */
    enum sim_flow_mode mode;
    enum sim_memory from_memory, to_memory;
    int64_t message_bytes;
    int64_t payload_bytes; /* of a packet; 0: the InfiniBand MTU of both hosts' settings */
    int32_t queue_pairs;
    int32_t depth;        /* messages outstanding on each */
    int64_t inline_bytes; /* messages up to this size in host memory travel with the doorbell: no DMA read */
    int32_t priority;
    enum sim_ect ect;
    int64_t start_ps;
    int64_t stop_ps;       /* posts nothing from this time on; SIM_FOREVER */
    int64_t message_count; /* on each queue pair; 0: endless */
    int32_t one_more;      /* so many queue pairs, the first ones, send one message more */
    int64_t rate_bps;      /* limit of each queue pair; 0: none */
    int64_t
        gap_ps; /* time between bursts of `depth` messages, of a stream of writes or sends; -1: no bursts */
    /* This flow's message k, from 1 on, is posted once the flow of this index has brought k messages to this
     * flow's `from` (one queue pair each, no reads); -1: none. */
    int64_t after;
    /* The flow begins after the delay of each of these, and not before start_ps. */
    const struct sim_wait *waits;
    size_t wait_count;
    bool record_latency; /* keep the histogram (30 KB a flow) */
};
/* An endless stream of 64 KiB writes, one queue pair of depth 128, from host to host memory, priority 0. */
void sim_flow_defaults(struct sim_flow_config *f);

/* Flows that are too many to be in memory at one time: each takes memory from shortly before its start until
 * its end. */
struct sim_streamed;
struct sim_stream {
    /* Go back to before the first flow, and the next one, by rising start; false: there is none. All flows
     * are looked at before the simulation begins. Each is a stream of writes or sends with an end, on one
     * queue pair of depth 1, without waits or a histogram; its name must last as long as the simulation. */
    void (*rewind)(void *context);
    bool (*next)(void *context, struct sim_flow_config *flow);
    /* A flow has ended, and nothing of it is left in the network. Called within sim_run_until, in an order
     * that does not depend on threads. */
    void (*ended)(void *context, const struct sim_streamed *flow);
    void *context;
};

struct sim_flow_stats {
    int64_t bytes;                 /* payload of completed messages, as seen by the requester */
    int64_t messages;              /* completed */
    int64_t retransmitted_packets; /* of data */
    int64_t requested_again;       /* read requests that were sent again */
    int64_t delivered_bytes;       /* payload that arrived in order, to the packet */
    int64_t marked_packets;        /* data packets that arrived with CE */
    int64_t decreases; /* of its congestion control's rate; -1: it has none, or does not count them */
    int64_t increases;
    int64_t in_flight;   /* messages that began and are not complete; -1: a ping-pong does not count them */
    int64_t last_ps;     /* the latest completion; -1: none */
    int64_t started_ps;  /* -1: not yet */
    int64_t finished_ps; /* when message_count was reached on all queue pairs; -1: not yet */
    int64_t failed;      /* queue pairs that gave up after their last retry */
    int64_t failed_ps;   /* the first of them; -1: none */
    /* Of that one: for how long there had been no answer, and how often the timer expired meanwhile, counted
     * as adaptive retransmissions and as time-outs. */
    int64_t failed_silence_ps, failed_adaptive, failed_timeouts;
    bool failed_not_ready;   /* by RNR NAKs, not by silence */
    bool failed_as_measured; /* by the time-outs of a real NIC */
    bool unreachable;        /* there was no path to the other end then */
};

/* A flow of a stream. */
struct sim_streamed {
    const char *name;
    uint32_t number; /* from 0 on, in the order of the stream */
    uint32_t from, to;
    int64_t message_bytes, message_count, start_ps;
    int64_t payload_bytes; /* of a packet */
    int64_t ideal_ps;      /* sim_flow_ideal_ps */
    struct sim_flow_stats stats;
};

/* ---- the whole */

struct sim_config {
    uint64_t seed;
    uint32_t threads;    /* at most; results do not depend on it */
    bool truncate_to_ns; /* durations are cut to whole nanoseconds (as the HPCC simulator's clock) */
    struct physics_framing framing;
    const struct sim_host_config *hosts;
    size_t host_count;
    const struct sim_link_config *links;
    size_t link_count;
    const struct sim_flow_config *flows;
    size_t flow_count;
    const struct sim_stream *stream; /* further flows; NULL: none */
    const struct sim_job_config *jobs; /* sim/jobs.h */
    size_t job_count;
    /* sim/fabric/fabric.h */
    const struct sim_switch_config *switches;
    size_t switch_count;
    const struct sim_bridge_config *bridges;
    size_t bridge_count;
    const struct sim_storm_config *storms;
    size_t storm_count;
    /* sim/faults/faults.h: of each link in the order of time */
    const struct sim_link_state *link_states;
    size_t link_state_count;
    const struct sim_injection *injections; /* sim/faults/faults.h */
    size_t injection_count;
    /* Numbers of hosts, then of switches and of bridges, at most 65535 each: two hosts with one number have
     * one address, as the ports of one machine may. They and the connection's ports are what ECMP hashes.
     * NULL: they count from 0. */
    const uint32_t *numbers;
    uint16_t udp_destination_port; /* of all connections, for ECMP; source ports count up from 10000 per pair
                                      of hosts */
    size_t pause_log_capacity;     /* pauses kept for sim_pauses, 0: none */
    const struct sim_capture_config *capture; /* sim/capture.h; NULL: none */
};
void sim_config_defaults(struct sim_config *c);

struct sim;

/* About how many bytes sim_new takes for a configuration; packets come on top. Nothing is checked but the
 * flows' hosts, which must be among the configuration's. */
uint64_t sim_bytes_needed(const struct sim_config *config);
/* Check the configuration and build the simulation; the configuration is not needed afterwards, but that with
 * a stream is. The caller frees. */
struct sim *sim_new(const struct sim_config *config, struct error *e);
void sim_free(struct sim *sim);

/* Process every event before `until_ps`; the clock is then at until_ps. -1 when memory ran out. */
int sim_run_until(struct sim *sim, int64_t until_ps, struct error *e);
int64_t sim_now_ps(const struct sim *sim);

void sim_flow_stats(const struct sim *sim, size_t flow, struct sim_flow_stats *out);
/* Message latencies in picoseconds since the last clear; NULL unless record_latency. */
const struct histogram *sim_flow_latency(const struct sim *sim, size_t flow);
void sim_flow_latency_clear(struct sim *sim, size_t flow);

/* Those flows of the stream that have begun, or are about to, and have not been handed to `ended`. */
void sim_stream_alive(const struct sim *sim, void (*see)(void *context, const struct sim_streamed *flow),
                      void *context);

/* The congestion control of the flow's data sender, "dcqcn"; NULL: the flow has none (no reaction point on
 * its priority, "none"). */
const char *sim_flow_congestion_control(const struct sim *sim, size_t flow);
/* How many gauges (lib/roce/congestion_control.h) there are: the same for the life of the simulation, 0
 * without congestion control. */
size_t sim_flow_gauges(const struct sim *sim, size_t flow);
/* "rate" */
const char *sim_flow_gauge_name(const struct sim *sim, size_t flow, size_t gauge);
/* The gauge now: the sum over the flow's queue pairs, or their mean, as its name suggests; of a ping-pong
 * that of the first host. */
double sim_flow_gauge_value(const struct sim *sim, size_t flow, size_t gauge);

/* Counters and gauges of a node's port, under mlx5's names where it has one. */
struct sim_counter {
    const char *name;         /* "rx_prio0_pause" */
    const struct counter *is; /* its unit, kind and group */
};
/* The columns of a host: the same for the life of the simulation. */
size_t sim_host_counters(const struct sim *sim, uint32_t host, const struct sim_counter **counters);
/* Their values now, as many as there are columns. */
void sim_host_values(const struct sim *sim, uint32_t host, int64_t *values);
/* XOFF and XON of a host's receive buffer, as mlx5 derives them (lib/roce/thresholds.h); zeros without
 * PFC. */
struct sim_thresholds {
    int64_t xoff_bytes, xon_bytes;
};
struct sim_thresholds sim_host_thresholds(const struct sim *sim, uint32_t host, unsigned buffer);

/* A pause that has ended: the time during which a port could not send on a priority. */
struct sim_pause {
    int64_t start_ps, end_ps;
    struct sim_node node;
    uint32_t port; /* of the node, in the order of the links */
    uint32_t priority;
};
size_t sim_pauses(const struct sim *sim, const struct sim_pause **pauses);
/* The pauses of a port that last now, which is their end here. To be called between two runs, with each
 * link's ends; returns how many. */
size_t sim_lasting_pauses(const struct sim *sim, uint32_t link, unsigned end,
                          struct sim_pause pauses[SIM_PRIORITIES]);

/* How long pauses have kept end `end` (0: a, 1: b) of a link from sending on a priority, when the first pause
 * began, and when the longest one began, of those that ended after sim_longest_holds_begin or have not ended;
 * -1: there was none. */
struct sim_hold {
    int64_t held_ps, first_ps, longest_ps;
};
void sim_longest_holds_begin(struct sim *sim);
struct sim_hold sim_link_hold(const struct sim *sim, size_t link, unsigned end, unsigned priority);

/* The ways of a flow's data, or of what goes the other way, through the fabric: one of each queue pair and,
 * where links go down, for each time between such changes. Adds to passes[2 * link + end] how many of them
 * leave a switch by this end of the link; returns how many there are, 0: each packet has its own (adaptive
 * routing). */
size_t sim_flow_ways(const struct sim *sim, uint32_t flow, bool data, uint32_t *passes);

/* Statistics of the engine, for benchmarks. */
struct sim_work {
    uint64_t events;
    uint64_t hops;            /* packets (data, ACK, PFC...) that crossed a link */
    uint64_t pending_events;  /* now */
    uint64_t packets_in_pool; /* the maximum ever in flight or queued, rounded up to the pool's steps */
    uint64_t bytes;           /* of memory */
    uint64_t allocations;     /* calls of malloc and the like since sim_new */
};
void sim_work(const struct sim *sim, struct sim_work *out);

#endif
