/*
 * What the simulator's files share: packets, ports, hosts, queue pairs. Everything is in flat arrays and
 * refers to other elements by index; packets come from a pool and wait in linked lists.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "sim/congestion/congestion.h"
#include "sim/events.h"
#include "sim/packet.h"
#include "lib/random.h"
#include "lib/roce/retransmission.h"
#include "sim/sim.h"

enum event_kind {
    EVENT_ARRIVE,          /* port: its first frame in flight reaches the other end */
    EVENT_AT_SWITCH,       /* the same where that is a switch and the link loses nothing */
    EVENT_AT_HOST,         /* the same where that is a host */
    EVENT_TRANSMIT,        /* port: may send again */
    EVENT_SWITCH_TRANSMIT, /* the same of a switch that serves by strict priority */
    EVENT_UNPAUSE,         /* port: a received pause may have run out */
    EVENT_REFRESH,         /* port: a sent pause must be repeated */
    EVENT_SCHEDULE,        /* host: a queue pair may continue (message rate, pacing) */
    EVENT_FETCHED,         /* host * SIM_MEMORIES + memory: the first DMA read under way is complete */
    EVENT_WRITE,           /* host: PCIe credits came back */
    EVENT_START,           /* flow: posts its first messages */
    EVENT_TURN,            /* queue pair: its program saw a message and posts, or a read is requested */
    EVENT_TIMEOUT,         /* queue pair: no acknowledgement came */
    EVENT_CONGESTION,      /* queue pair: its congestion control requested this time */
    EVENT_FORWARD,         /* switch: a packet is through its pipeline */
    EVENT_ANSWER,          /* host * ANSWERS + answer: the first that it delays is due */
    EVENT_WATCHDOG,        /* switch: look for queues that stay paused */
    EVENT_INTERRUPT,       /* bridge's port: interrupt moderation has run out */
    EVENT_SOFTIRQ,         /* bridge: its CPU has processed a frame */
    EVENT_STORM,           /* storm: begins or ends */
    EVENT_LINK,            /* port: the state of its link changes */
    EVENT_ROUTES,          /* switch: its routes follow the state of the links */
    EVENT_INJECTED,        /* injection: the first frame that it holds arrives */
    EVENT_RANK,            /* rank of a job: something that it did has ended */
};

/* ---- ports */

/* Egress queues, the lowest bit goes first: PFC frames, unpaused control, then priority 7 down to 0. */
enum { QUEUE_PFC, QUEUE_CONTROL, QUEUE_OF_PRIORITY_7, QUEUES = QUEUE_OF_PRIORITY_7 + SIM_PRIORITIES };

/* A port's events, in the queue of its island: they follow one another there. */
enum { PORT_ARRIVE, PORT_TRANSMIT, PORT_UNPAUSE, PORT_REFRESH, PORT_EVENTS };

static inline unsigned queue_of(unsigned priority)
{
    return QUEUE_OF_PRIORITY_7 + (SIM_PRIORITIES - 1 - priority);
}

/* An egress queue, and what left the port on its priority (PFC frames are not counted). */
struct queue {
    struct packet_list packets;
    uint32_t bytes, peak_bytes;
    int64_t sent_packets, sent_bytes;
};

enum port_flags {
    PORT_LOSES = 1,   /* frames are lost at random on its link */
    PORT_ETS = 2,     /* its switch does not serve by strict priority */
    PORT_STORM = 4,   /* the watchdog of its switch has disabled a queue */
    PORT_INSIDE = 8,  /* its peer is in the same island */
    PORT_PASSES = 16, /* frames that arrive may pass its switch without being taken out of the link's ring */
    PORT_FAULTY = 32, /* its link, or single frames, have faults (sim/faults/link_faults.h) */
    PORT_DOWN = 64, /* its link is down: all its queues are paused, and a switch drops what would join them */
    PORT_CAPTURED = 128, /* its frames are wanted (sim/capture.h) */
};

/* The fields that every frame sent needs are in the first cache line, those for every frame received in the
 * second. */
struct port {
    _Alignas(CACHE_LINE) int64_t busy_until_ps;
    int64_t transmit_ps; /* the time of its EVENT_TRANSMIT; SIM_FOREVER: idle */
    int64_t delay_ps;
    struct outbox {
        struct packet *ring;
        uint32_t mask, tail;
        uint32_t head_seen; /* the receiver has taken at least the frames before it */
        uint32_t window;    /* the latest one in which the receiver was told of frames */
    } out;
    uint32_t first_event;
    union {
        uint32_t kmin;      /* port of a switch: no ECN mark at or below this queue length */
        uint32_t jitter_ps; /* port of a host: mean of a random time behind each frame; 0: none */
    };
    uint16_t ready;  /* bit: queue not empty */
    uint16_t paused; /* bit: queue paused by the other end */
    uint8_t flags;
    uint8_t node_kind;
    uint8_t xoff; /* bit: this end pauses the priority */
    uint8_t
        ignored; /* bit: priority on which pauses are not obeyed: its PFC is off, or the watchdog's work */

    _Alignas(CACHE_LINE) struct inbox {
        int64_t last_ps;     /* when the latest frame arrived, */
        uint32_t next_order; /* and the order of an event that would be scheduled then */
        /* from another island */
        uint32_t mask, end; /* frames before `end` are known here */
        _Atomic uint32_t head;
        const struct packet *ring;
        /* from the same island */
        struct delay_line line;
        int64_t sent_ps; /* the latest frame */
    } in;
    uint32_t node; /* index of its host, switch or bridge */
    uint32_t peer;

    _Alignas(CACHE_LINE) struct queue queues[QUEUES];

    uint64_t ps_per_byte_q20;
    uint32_t island;
    uint32_t ring_number; /* among the ports whose peers are in other islands */
    uint16_t number;      /* among its node's ports */
    int64_t rate_bps;
    uint64_t loss_threshold; /* of 2^64, for frames that arrive */
    struct random random;    /* for loss, marking and RED */
    /* pauses that the other end asked for */
    int64_t pause_start_ps[SIM_PRIORITIES], pause_until_ps[SIM_PRIORITIES];
    /* pauses that this end asks for */
    int32_t quanta;
    int64_t refresh_ps;
    int64_t xoff_start_ps[SIM_PRIORITIES], xoff_sent_ps[SIM_PRIORITIES];
    uint16_t holds[SIM_PRIORITIES]; /* faults that pause the priority */
    uint8_t full;                   /* bit: a buffer pauses it */
};

/* Other fields, and sums that counters_of fills: a port received what its peer sent, minus frames in flight
 * or lost. */
struct priority_counters {
    int64_t tx_packets, tx_bytes, rx_packets, rx_bytes;
    int64_t lost_packets,
        lost_bytes; /* sent by the other end, and lost on the link; less copies that were made there */
    int64_t rx_pause, tx_pause, rx_pause_ps, tx_pause_ps, rx_transitions, rx_discards;
    /* of pauses obeyed: when the first began (0: none yet); the longest that has ended since
     * sim_longest_holds_begin */
    int64_t first_pause_ps, longest_pause_ps, longest_start_ps;
};

/* ---- hosts */

struct memory {
    int64_t free_ps; /* when the service centre has finished its accepted work */
    uint64_t write_ps_per_byte_q20, read_ps_per_byte_q20;
    int64_t write_access_ps, read_access_ps, write_latency_ps, read_latency_ps;
    int64_t *bank_free_ps; /* NULL: no banks */
    uint32_t bank_mask;
    unsigned interleave_shift;
    int64_t bank_ps, sector_ps;
    /* stalls */
    double stalls_per_ps;
    int64_t stall_mean_ps, stall_window_ps;
    int64_t last_read_ps, last_write_ps;
    int64_t mixed_ps, next_stall_ps; /* on the clock that runs only under mixed load */
    int64_t stalls, stalled_ps;
    struct random random;
    /* as the device's own PCIe link sees it */
    int32_t device_write_bytes, device_read_bytes, device_completion_bytes;
    int32_t device_request_header_bytes, device_completion_header_bytes;
    int64_t device_rx_bytes, device_tx_bytes;
};

struct credit_return {
    int64_t time_ps;
    int32_t headers, data;
};

struct pcie {
    bool ideal;
    uint64_t ps_per_byte_q20;
    int64_t latency_ps;
    int32_t tags_of_packet; /* the maximum that one packet's read needs */
    int32_t max_payload_bytes, max_read_request_bytes, completion_bytes;
    int64_t up_free_ps, down_free_ps;
    int64_t read_done_ps[SIM_MEMORIES]; /* when the last completion of each has come */
    int32_t tags, headers, data;        /* left */
    struct credit_return *returns;      /* ring */
    uint32_t return_capacity, return_first, return_count;
    int64_t up_bytes, down_bytes;
    /* share of the last whole second without credits, as outbound_pci_stalled_* say it */
    struct stall_gauge {
        int64_t since_ps; /* waiting since, or -1 */
        int64_t second, waited_ps;
        int64_t percent, events;
    } read_stall, write_stall;
};

/* A bucket that leaks, as the time at which it will have leaked; and the burst of loss that it began. */
struct ingress_bucket {
    int64_t empty_ps;
    int64_t loss_end_ps, next_loss_ps, losing_bytes; /* left of the burst */
};

/* nic.ingress of the lab. */
struct nic_ingress {
    int64_t depth_ps; /* 0: none */
    uint64_t ps_per_byte_q20, ps_per_byte_sending_q20;
    int64_t loss_ps, loss_bytes;
    int64_t sending_bps, looked_ps, sent_bytes; /* what had been sent when it last looked */
    bool sending, of_queue_pair;                /* of_queue_pair: sim.buckets, not this one */
    struct ingress_bucket bucket;
};

struct receive_buffer {
    int64_t used_bytes, peak_bytes;
    int64_t size_bytes, xoff_bytes, xon_bytes; /* xoff 0: no PFC */
    uint8_t classes;                           /* priorities to pause */
    bool full;                                 /* above XOFF, not yet below XON */
};

struct host_counters {
    int64_t rx_discards;
    int64_t out_of_sequence, packet_seq_err, duplicate_request, implied_nak_seq_err, local_ack_timeout_err;
    int64_t retries_exceeded;
    int64_t cqe_errors, rnr_retries_exceeded, rnr_naks, out_of_buffer;
    int64_t adaptive_retransmissions, slow_restarts, slow_restart_cnps;
    int64_t rx_write_requests, rx_read_requests;
    int64_t np_ecn_marked, np_cnp_sent, rp_cnp_handled, rp_cnp_ignored;
    int64_t rx_rdma_packets, rx_rdma_bytes, tx_rdma_packets, tx_rdma_bytes;
    int64_t rx_payload_bytes;
};

enum answer { ANSWER_CNP, ANSWER_NAK, ANSWERS };

struct host {
    uint32_t port;
    /* The round robin of queue pairs that have something to send: the one served last, and the one that
     * joined last. */
    uint32_t ring, ring_joined;
    uint32_t schedule_event, fetched_event[SIM_MEMORIES], write_event;
    int64_t message_ps, queue_pair_message_ps; /* between starts of messages, of all and of a queue pair */
    int64_t next_message_ps;
    int64_t tx_latency_ps, rx_latency_ps, completion_ps;
    int32_t tx_buffer_left;
    bool ack_coalescing, ack_unpaused;
    int32_t ack_every_packets, max_reads;
    int64_t ack_timeout_ps, nak_again_ps;
    int32_t retry_count;
    const struct retransmission_times *retransmission; /* NULL: at each ack_timeout */
    bool floor_off, slow_restart, slow_restart_on_nak, counts_timeouts;
    int64_t reorder_wait_ps;
    int32_t rnr_retry;
    int64_t rnr_timer_ps, rnr_added_ps;       /* after an RNR NAK */
    struct delay_line fetching[SIM_MEMORIES]; /* DMA reads in progress, and inline data on its way */
    int64_t last_fetched_ps[SIM_MEMORIES];    /* of the last of these */
    struct packet_list fetched[QUEUES];       /* waiting for the wire */
    uint16_t fetched_ready;                   /* bit: list not empty */
    struct packet_list writing;               /* in the receive buffer, waiting for PCIe */
    struct pcie pcie;
    struct memory memories[SIM_MEMORIES];
    struct receive_buffer buffers[SIM_BUFFERS];
    int32_t cell_bytes;
    struct physics_software software;
    struct random random; /* of its programs */
    struct sim_settings settings;
    const struct congestion_control *congestion; /* of its reaction point */
    void *congestion_params;
    int64_t last_cnp_ps; /* with pacing of the port */
    bool congestion_on_ack, cnp_pacing_of_port, cnp_cuts_share;
    uint8_t unmarked_cnps; /* enum physics_unmarked_cnps */
    int64_t unmarked_cnp_interval_ps, unmarked_cnp_bytes;
    struct answers {
        int64_t delay_ps; /* 0: they leave at once, and there is no event */
        struct delay_line line;
        uint32_t event;
    } answers[ANSWERS]; /* CNPs and NAKs that wait for their time */
    struct nic_ingress ingress;
    int32_t burst_bytes; /* 0: packets in turn */
    int32_t burst_left;  /* of the turn of the queue pair that was served last */
    struct host_counters counters;
    struct sim_counter *columns; /* for sim_host_counters; the names are in host_column_names */
    struct column_source {
        uint8_t source, copy; /* in the table of counters.c, and of which priority or buffer */
    } * column_sources;
    size_t column_count;
};

/* ---- flows and queue pairs */

/* A queue pair whose receiver takes packets in any order. Bits of packets in windows, a power of two of
 * them. */
struct recovery {
    uint64_t mask;   /* number of bits, less one (early_has) */
    uint64_t window; /* packets without an acknowledgement, at most */
    bool selective;  /* the sender sends only what is missing */
    bool waits;      /* out-of-order placement: the receiver does not ask at once */
    /* sender: what is wanted again */
    early_bits *again;
    uint32_t again_count;
    /* receiver: what came, and what was passed on to memory, of the packets behind the ones in order */
    early_bits *received, *delivered;
    uint64_t next_psn; /* behind the last packet that came */
    int64_t gap_ps;    /* since when the expected packet is missing; -1: it is not */
    int64_t asked_ps;  /* when it asked last for missing packets */
};

/* Of a queue pair whose messages are not all of one size. */
struct message {
    uint64_t end_psn; /* behind its last packet */
    uint32_t last_payload_bytes;
    uint32_t operation; /* of the job's schedule */
};

/* In queue_pair.congestion_hooks: it has a struct recovery. */
#define QP_RECOVERY 128

/* "Sender" and "receiver" mean the data: of a read the sender is the responder. PSNs count packets from 0 in
 * 64 bits. */
struct queue_pair {
    /* sender */
    uint64_t send_psn, limit_psn, acked_psn, highest_psn;
    int64_t next_send_ps;
    uint64_t ps_per_byte_q20; /* pacing, 0: none */
    uint8_t congestion_hooks; /* enum congestion_hook; 0: no congestion control */
    uint8_t header_bytes;     /* of its congestion control, on data packets and ACKs */
    uint8_t tail_bytes,
        last_tail_bytes; /* behind the payload, of a message's last packet: pad, immediate data */
    uint32_t ring_next, ring_previous; /* in the host's round robin; NONE: not there */
    uint32_t packet_in_message, packets_per_message;
    uint32_t payload_bytes, last_payload_bytes;
    uint16_t sender, receiver;
    uint8_t priority, queue, operation, flags; /* flags: of every data packet */
    uint32_t congestion_event;
    void *congestion; /* state of its sender's congestion control */
    /* Messages in the order in which they are posted, of a job (sim/ranks.c); NULL: they are of one size. The
     * sender has those below `posted`, and sends number `sending`, of which packets_per_message and the last
     * packet's bytes are. The receiver knows those of which a packet has come. */
    struct message *messages;
    uint64_t sending;
    int64_t next_message_ps; /* until then its program, or the limit of its messages, allows none */
    int64_t gap_ps;          /* between bursts; -1: none */
    int64_t paced_ps;        /* until then the flow's own limit allows no packet */
    int64_t made_up_ps;      /* how far behind it packets may be without being lost to the rate */
    /* receiver */
    uint64_t expected_psn, delivered_psn; /* received in order, and passed on to memory */
    struct recovery *recovery;            /* NULL: packets come in order, and go-back-N */
    uint32_t received_in_message;
    uint32_t unacknowledged;
    uint32_t waiting_ack;     /* an ACK that is still in the port's queue */
    uint32_t waiting_request; /* of a read: that of what is expected, which is there likewise */
    bool nak_sent, echo;      /* echo: the next ACK carries congestion back */
    bool request_naked;       /* of a read, the sender: it has asked for the request that it expects */
    int64_t nak_ps;           /* the last NAK */
    uint32_t marked;          /* packets that arrived with a mark */
    int64_t last_cnp_ps;
    uint8_t sender_memory, receiver_memory;
    /* requester */
    bool stopped; /* it was given up */
    bool silent;  /* the timer has expired since the last progress: host.retransmission only */
    /* How often it did, and what was acknowledged (of a read: received) then; when the wait began. */
    uint32_t retries;
    uint64_t retry_psn;
    int64_t silent_since_ps;
    int64_t wait_ps;   /* until the timer expires next without progress */
    uint32_t silences; /* that have ended: each has a time of its own */
    /* How often the receiver was not ready for a packet, which, and since when. */
    int32_t not_ready;
    uint64_t not_ready_psn;
    int64_t not_ready_since_ps;
    uint32_t depth;
    uint64_t message_limit, posted, completed;
    uint64_t complete_psn;  /* when this is acknowledged, one more message is complete */
    uint64_t requested_psn; /* of reads */
    int64_t message_bytes;
    int64_t *post_ps; /* ring of depth */
    int64_t progress_ps;
    int64_t sent_ps;                             /* the last data packet */
    uint32_t timeout_event, turn_event, partner; /* partner: the other way of a ping-pong */
    uint32_t flow;
    uint32_t number; /* among all that there ever are: its random numbers do not depend on its place */
    uint64_t highest_request_psn;           /* behind all that was asked for */
    int64_t retransmitted, requested_again; /* data packets; requests of reads */
    uint32_t follows,
        follower; /* queue pairs: this one's messages wait for the first's, the second's for its; NONE */
    uint64_t delivered;           /* messages at the receiver */
    uint32_t data_path, ack_path; /* from sender to receiver and back, in sim->paths */
};

/* Does such a packet go from the sender of the data to its receiver? Of a read a NAK asks for a request. */
static inline bool packet_is_forward(const struct queue_pair *qp, unsigned kind)
{
    return kind == PACKET_DATA || (kind == PACKET_NAK && qp->operation == SIM_READ);
}

struct flow {
    uint32_t first_qp, qp_count;
    uint32_t open_qps;     /* not yet finished */
    uint32_t arriving_qps; /* not all of whose messages have arrived */
    /* Waits of other flows for this one, in sim->waits: those whose sender receives it, and those that have
     * its sender. */
    uint32_t first_wait, waits_at_receiver, waits_at_sender;
    uint32_t waits_left; /* of this one for others */
    int64_t ready_ps;    /* by those that are over */
    uint32_t start_event;
    const struct congestion_control *congestion; /* of all its queue pairs; NULL: one has none or another */
    int64_t start_ps, stop_ps;
    bool ping_pong;
    bool has_left;   /* a flow that came and went has ended: changes of its rate count up to then */
    int64_t turn_ps; /* of a ping-pong: when the program of the first host last posted */
    struct sim_flow_stats stats;
    struct histogram *latency;
};

/* The flow `flow` waits for the one whose list this is in. */
struct waiting {
    uint32_t flow;
    int64_t delay_ps;
};

/* Before any time that a wait is counted from. */
#define LONG_AGO_PS (INT64_MIN / 2)

/* ---- the whole */

/* Reserved for the rings of links between islands: islands/link.c. */
struct ring_space {
    char *memory, *first; /* the whole; its first cache line */
    uint32_t count;       /* of these ports */
    uint32_t most;        /* frames of the largest ring that is reserved; 0: none is */
};

/*
 * The arrays and constants are those of the simulation. The rest, from `now_ps` on, belongs to one thread: a
 * thread works on a copy of this struct of its own, so that nodes of different threads share nothing but
 * links.
 */
struct sim {
    struct port *ports;
    struct priority_counters (*counters)[SIM_PRIORITIES]; /* of ports */
    struct host *hosts;
    char *host_column_names; /* of all hosts: each has some of them */
    struct queue_pair *qps;
    struct ingress_bucket *buckets; /* of queue pairs; NULL: no port has any */
    struct flow *flows;
    struct waiting *waits;   /* of flows for flows */
    uint32_t *paths;         /* egress ports, those of a path one after the other */
    char *congestion_states; /* of queue pairs; NULL: no host has congestion control */
    char *congestion_params; /* of hosts */
    struct fabric_switch *switches;
    struct switch_port *switch_ports; /* parallel to ports; NULL: no switch */
    struct bridge *bridges;
    struct bridge_port *bridge_ports; /* parallel to ports; NULL: no bridge */
    struct storm *storms;
    struct link_faults *faults;    /* NULL: no link or frame has any */
    struct reroute *reroute;       /* NULL: paths do not change */
    struct router *router;         /* while paths are found */
    struct flow_stream *stream;    /* sim/stream.c; NULL: none */
    struct jobs *jobs;             /* sim/ranks.c; NULL: none */
    uint32_t *source_ports;        /* UDP, of queue pairs; NULL: not needed */
    uint32_t *numbers;             /* of nodes, for ECMP; NULL: as they are counted */
    struct deadlock *deadlock;     /* NULL: no switch */
    struct capture_state *capture; /* NULL: none */
    struct island *islands;
    uint32_t *island_of_node;
    uint32_t *island_ports;
    struct team *team; /* the threads */
    int64_t window_ps; /* no frame is shorter on its way between islands */
    struct ring_space rings;
    struct physics_framing framing;
    uint64_t seed;
    int64_t slowest_host_bps; /* the lowest rate of a host's link */
    bool truncate_to_ns, has_faults;
    bool may_be_not_ready; /* an injection has it */
    /* On a clock of whole nanoseconds much happens at one time: arrivals at that time are processed before a
     * port chooses what to send, which is later by this. */
    int64_t late_ps;
    uint8_t flow_priorities;   /* bit: of a flow */
    uint32_t congestion_bytes; /* of a queue pair's state */
    uint32_t first_streamed;   /* flows from this one on come and go */
    bool has_telemetry;        /* a congestion control listens to ACKs */
    bool has_telemetry_paths;  /* one has in-band telemetry */
    uint32_t port_count, host_count, qp_count, flow_count, switch_count, bridge_count, storm_count,
        path_count;
    uint32_t island_count;

    _Alignas(CACHE_LINE) int64_t now_ps;
    struct event_queue *events; /* of the island that it runs */
    struct packet *packets;
    struct telemetry *telemetry;            /* of the packets of the pool, if has_telemetry; else NULL */
    struct telemetry_path *telemetry_paths; /* the same, if has_telemetry_paths */
    uint32_t free_packet;
    uint32_t packet_capacity;
    uint32_t thread;
    uint32_t window;         /* number of the window of time that it is in */
    int64_t first_sent_ps;   /* the earliest arrival of the frames sent to other islands in this window */
    struct packet **retired; /* rings of links that have grown */
    size_t retired_count;
    struct mail *mail[2]; /* to each thread, of this window and the next one by turns */
    uint64_t event_count, hops, allocations, bytes;
    uint32_t *ended; /* flows of the stream, since sim_run_until began */
    size_t ended_count, ended_capacity;
    struct sim_pause *pauses; /* that ended since sim_run_until began */
    size_t pause_count, pause_capacity;
    struct sim_captured *captured; /* since sim_run_until began (sim/capture.h) */
    size_t captured_count, captured_capacity;
    bool out_of_memory, keeps_pauses;
};

/* Cut to a whole nanosecond where the simulated clock has no smaller unit. */
static inline int64_t whole_ns(const struct sim *sim, int64_t ps)
{
    return sim->truncate_to_ns ? ps - (int64_t)((uint64_t)ps % SIM_PS_PER_NS) : ps;
}

/* Time that `bytes` take. */
static inline int64_t sim_duration(const struct sim *sim, uint64_t bytes, uint64_t ps_per_byte_q20)
{
    return whole_ns(sim, (int64_t)(bytes * ps_per_byte_q20 >> 20));
}

/* Time that a frame, with the gap behind it, takes on a link. It is never 0: a link on which frames take no
 * time would have no rate, and could carry any number of them at one time. On a clock of whole nanoseconds it
 * is at least one; on the finer one sim_check refuses links that are too fast for their shortest frame. */
static inline int64_t frame_duration(const struct sim *sim, uint64_t bytes, uint64_t ps_per_byte_q20)
{
    int64_t ps = (int64_t)(bytes * ps_per_byte_q20 >> 20);
    if (!sim->truncate_to_ns)
        return ps;
    uint64_t ns = (uint64_t)ps / SIM_PS_PER_NS;
    return (int64_t)(ns + !ns) * SIM_PS_PER_NS;
}

/* config.c */
/* -1 with a sentence that names the value and what is expected. */
int sim_check(const struct sim_config *config, struct error *e);

/* packet.c */
int packets_grow(struct sim *sim);
int pauses_grow(struct sim *sim);

/* build.c: flow `index` and its queue pairs from first_qp on, which are zero, but for their events and
 * memory. */
int flow_build(struct sim *sim, const struct sim_config *c, const struct sim_flow_config *f, uint32_t index,
               uint32_t first_qp, struct error *e);

/* stream.c */
uint8_t stream_priorities(const struct sim_config *c); /* bit: of a flow */
int stream_check_flows(const struct sim_config *c,
                       int (*check)(const struct sim_config *c, const struct sim_flow_config *f,
                                    struct error *e),
                       struct error *e);
/* When there are paths, and when all is there. */
int stream_open(struct sim *sim, const struct sim_config *c, struct error *e);
int stream_check(struct sim *sim, struct error *e);
void stream_free(struct sim *sim);
/* Before a run until *until_ps: flows that start before it come in, or so many of them and *until_ps is then
 * the next one's start. After it: those that have left the network are handed over. -1: no memory. */
int stream_let_in(struct sim *sim, int64_t *until_ps);
int stream_let_out(struct sim *sim);
/* A flow has ended. */
void stream_note_end(struct sim *sim, uint32_t flow);
/* How many queue pairs there is room for, behind those that stay. */
uint32_t stream_slots(const struct sim *sim);
/* Of its flows the longest sim_base_rtt_ps; 0 when memory ran out. */
int64_t stream_base_rtt_ps(struct sim *sim);

/* ranks.c */
struct jobs *jobs_open(const struct sim_config *c, struct error *e);
/* The configuration with the flows of jobs. */
const struct sim_config *jobs_config(const struct jobs *jobs);
/* When flows are there. */
int jobs_build(struct sim *sim, struct error *e);
void jobs_free(struct jobs *jobs);
/* Its memory, with that of its flows; 0: there is not enough to count it. */
uint64_t jobs_bytes(const struct sim_config *c,
                    uint64_t (*bytes_of_flow)(const struct sim_config *c, const struct sim_flow_config *f));
void rank_turn(struct sim *sim, uint32_t rank); /* EVENT_RANK */
/* A message of the queue pair is complete at its sender, or in its receiver's memory. */
void jobs_sent(struct sim *sim, uint32_t qp, uint32_t operation, int64_t known_ps);
void jobs_arrived(struct sim *sim, uint32_t qp, uint32_t operation, int64_t visible_ps);

/* A packet of the pool; index 0, which is never used, when memory ran out (the run then ends with an
 * error). */
static inline uint32_t packet_take(struct sim *sim)
{
    if (sim->free_packet == NONE && packets_grow(sim))
        return 0;
    uint32_t p = sim->free_packet;
    sim->free_packet = sim->packets[p].next;
    return p;
}

static inline void packet_give(struct sim *sim, uint32_t p)
{
    sim->packets[p].next = sim->free_packet;
    sim->free_packet = p;
}

static inline void list_append(struct sim *sim, struct packet_list *list, uint32_t p)
{
    sim->packets[p].next = NONE;
    if (list->head == NONE)
        list->head = p;
    else
        sim->packets[list->tail].next = p;
    list->tail = p;
}

/* Payload of a data packet, at its receiver or, `sent`, at its sender. */
uint32_t message_last_payload(const struct queue_pair *qp, const struct packet *packet, bool sent);
static inline uint32_t packet_payload_of(const struct sim *sim, const struct packet *packet, bool sent)
{
    const struct queue_pair *qp = &sim->qps[packet->qp];
    if (!(packet->flags & PACKET_LAST))
        return qp->payload_bytes;
    return qp->messages ? message_last_payload(qp, packet, sent) : qp->last_payload_bytes;
}
static inline uint32_t packet_payload(const struct sim *sim, const struct packet *packet)
{
    return packet_payload_of(sim, packet, false);
}

static inline uint64_t message_first_psn(const struct queue_pair *qp, uint64_t message)
{
    return message ? qp->messages[message - 1].end_psn : 0;
}

/* Payload of a queue pair's packets before a PSN. */
static inline int64_t qp_bytes_before(const struct queue_pair *qp, uint64_t psn)
{
    int64_t messages = (int64_t)(psn / qp->packets_per_message);
    int64_t packets = (int64_t)(psn % qp->packets_per_message);
    return messages * qp->message_bytes + packets * (int64_t)qp->payload_bytes;
}

/* Payload of a queue pair's packets from acked_psn up to a PSN. */
int64_t qp_acked_bytes(const struct queue_pair *qp, uint64_t psn);

static inline uint32_t list_take(struct sim *sim, struct packet_list *list)
{
    uint32_t p = list->head;
    list->head = sim->packets[p].next;
    return p;
}

/* Behind a payload, up to a whole number of words. */
static inline uint8_t framing_pad_bytes(const struct physics_framing *framing, uint32_t payload)
{
    return (uint8_t)((framing->pad_bytes - payload % framing->pad_bytes) % framing->pad_bytes);
}

/* The place of a port's event in the queue of its island. */
static inline uint32_t port_event(const struct sim *sim, uint32_t port, unsigned which)
{
    return sim->ports[port].first_event + which;
}

/* Was it empty? */
static inline bool delay_line_append(struct sim *sim, struct delay_line *line, int64_t time_ps, uint32_t p)
{
    bool empty = line->first == NONE;
    if (empty) {
        line->first = p;
        line->first_ps = time_ps;
    } else {
        sim->packets[line->last].next = p;
        sim->packets[line->last].time_ps = time_ps;
    }
    line->last = p;
    return empty;
}

static inline uint32_t delay_line_take(const struct sim *sim, struct delay_line *line)
{
    uint32_t p = line->first;
    line->first = p == line->last ? NONE : sim->packets[p].next;
    line->first_ps = sim->packets[p].time_ps;
    return p;
}

/* pfc.c: a buffer of this end comes above its threshold, and below it again */
void pfc_xoff(struct sim *sim, uint32_t port, uint8_t classes);
void pfc_xon(struct sim *sim, uint32_t port, uint8_t classes);
/* A fault pauses the other end; until as many have let go, whatever the buffers ask for. */
void pfc_hold(struct sim *sim, uint32_t port, uint8_t classes);
void pfc_let_go(struct sim *sim, uint32_t port, uint8_t classes);
void pfc_receive(struct sim *sim, uint32_t port, uint32_t p);
void pfc_unpause(struct sim *sim, uint32_t port); /* EVENT_UNPAUSE */
void pfc_refresh(struct sim *sim, uint32_t port); /* EVENT_REFRESH */
/* Repeat this port's pauses after refresh_ps, or after the time of a PFC frame where that is longer. */
void pfc_set_refresh(const struct sim *sim, struct port *port, int64_t refresh_ps);
/* The link went down: pauses of both directions are over. */
void pfc_reset(struct sim *sim, uint32_t port);
/* It came up: faults that last pause again. */
void pfc_resume_holds(struct sim *sim, uint32_t port);
/* Is the port kept from sending by a pause? */
static inline bool pfc_is_paused(const struct port *port, unsigned priority)
{
    return !(port->flags & PORT_DOWN) && port->paused >> queue_of(priority) & 1;
}
/* Before a queue goes on or is emptied: do frames wait there because of a storm? */
void pfc_note_waiting(struct sim *sim, uint32_t port, unsigned priority);
/* Stop obeying pauses of this priority, or obey them again. */
void pfc_ignore(struct sim *sim, uint32_t port, unsigned priority, bool ignore);

/* host.c */
void host_wake(struct sim *sim, uint32_t host); /* a queue pair has something to do */
void host_receive(struct sim *sim, uint32_t port, uint32_t p);
uint32_t host_pull(struct sim *sim, uint32_t port); /* the next data frame for the wire, or NONE */
int64_t host_next_pull_ps(const struct sim *sim, uint32_t host);
uint32_t host_next_qp(struct sim *sim, struct host *h, uint16_t paused, int64_t *wake_ps);

/* A CNP or NAK for a packet that has arrived: it joins the port's queue after the NIC's delay. */
void host_answer(struct sim *sim, uint32_t host, enum answer answer, uint32_t p);
void host_answer_due(struct sim *sim, uint32_t object); /* EVENT_ANSWER */

/* dma.c */
void dma_fetch(struct sim *sim, uint32_t host);     /* start the reads that can be started */
void dma_fetched(struct sim *sim, uint32_t object); /* EVENT_FETCHED */
void dma_write(struct sim *sim, uint32_t host);     /* EVENT_WRITE: start the writes that can be started */
void stall_gauge_roll(struct stall_gauge *g, int64_t now_ps);

/* A read that reaches the memory at arrive_ps, not before earlier accesses: when its data is there. */
int64_t memory_read(struct memory *m, int64_t arrive_ps, uint64_t address, uint32_t bytes);

/* ideal.c */
/* The round trip of a packet of a queue pair on an empty network: see there. */
int64_t sim_base_rtt_ps(const struct sim *sim, uint32_t qp);

/* congestion.c */
int congestion_build(struct sim *sim, const struct sim_config *c, struct error *e);
/* What a queue pair has of its sender's control, from the start. Its state is zero. */
void congestion_begin(struct sim *sim, uint32_t q);
int congestion_check(const struct sim *sim, const struct queue_pair *qp, const char *flow, struct error *e);
/* The control that all queue pairs of a flow have, or NULL. */
const struct congestion_control *congestion_of(const struct sim *sim, const struct flow *flow);
void congestion_marked(struct sim *sim, uint32_t host, uint32_t p); /* data with CE: notification point */
/* A packet of the queue pair is missing, or one found `buffered` bytes in the receive buffer. */
void congestion_lost(struct sim *sim, uint32_t host, uint32_t q);
void congestion_buffered(struct sim *sim, uint32_t host, uint32_t q, int64_t buffered);
/* A CNP leaves the host for the sender of the queue pair's data. */
void congestion_send_cnp(struct sim *sim, uint32_t host, uint32_t q);
/* The sender's NIC of the queue pair was notified, by a CNP or by itself. */
void congestion_cut(struct sim *sim, const struct host *h, struct queue_pair *qp);
void congestion_notified(struct sim *sim, uint32_t host,
                         uint32_t qp); /* CNP or ACK with ECHO: reaction point */
/* An ACK, which was packet p, acknowledges what is below psn, which is new. */
void congestion_acknowledged(struct sim *sim, uint32_t qp, uint32_t p, uint64_t psn, bool marked);
void congestion_timed_out(struct sim *sim, uint32_t qp);
void congestion_timer(struct sim *sim, uint32_t qp); /* EVENT_CONGESTION */
/* Decreases and increases of a flow so far; -1: they are not counted. */
void congestion_changes(const struct sim *sim, uint32_t flow, int64_t *decreases, int64_t *increases);
/* Is the sender of this queue pair not the host that starts its flow? */
static inline bool congestion_starts_elsewhere(const struct sim *sim, uint32_t q)
{
    const struct queue_pair *qp = &sim->qps[q];
    const struct flow *flow = &sim->flows[qp->flow];
    return qp->operation == SIM_READ || (flow->ping_pong && q != flow->first_qp);
}

/* Time until the queue pair may send again after a frame of this size. */
static inline int64_t congestion_gap_ps(struct sim *sim, const struct host *h, const struct queue_pair *qp,
                                        uint32_t bytes)
{
    return whole_ns(sim, h->congestion->gap_ps(qp->congestion, h->congestion_params, sim->now_ps, bytes));
}

static inline bool congestion_window_is_full(const struct sim *sim, const struct queue_pair *qp)
{
    const struct host *h = &sim->hosts[qp->sender];
    return (int64_t)((qp->send_psn - qp->acked_psn) * qp->payload_bytes) >=
           h->congestion->window_bytes(qp->congestion, h->congestion_params, sim->now_ps);
}

/* capture.c */
/* Before the routes are found, and after all ports' events are there. */
int capture_open(struct sim *sim, const struct sim_config *c, struct error *e);
void capture_free(struct sim *sim);

/* A packet of the pool, at a port with PORT_CAPTURED. */
void capture_frame(struct sim *sim, uint32_t port, uint32_t p, bool sent);

/* Before and after a run of all threads. */
void capture_begin(struct sim *sim);
int capture_collect(struct sim *sim);

int storms_build(struct sim *sim, const struct sim_config *config, struct error *e);
void storm_turn(struct sim *sim, uint32_t storm_index); /* EVENT_STORM */

/* Has the sender something that is wanted again? */
static inline bool qp_sends_again(const struct queue_pair *qp)
{
    return qp->congestion_hooks & QP_RECOVERY && qp->recovery->again_count;
}

/* May the sender send nothing new before an ACK? */
static inline bool qp_window_is_full(const struct sim *sim, const struct queue_pair *qp)
{
    if (qp->congestion_hooks & QP_RECOVERY) {
        if (qp->recovery->again_count)
            return false;
        if (qp->send_psn - qp->acked_psn >= qp->recovery->window)
            return true;
    }
    return qp->congestion_hooks & CONGESTION_WINDOW && congestion_window_is_full(sim, qp);
}

/* transport.c */
uint32_t qp_build_packet(struct sim *sim, uint32_t qp); /* the next data packet of a queue pair in the ring */
void qp_receive(struct sim *sim, uint32_t host, uint32_t p); /* ACK, NAK, read request */
bool qp_accept(struct sim *sim, uint32_t host, uint32_t p);  /* data: in order, and to be written? */
void qp_delivered(struct sim *sim, uint32_t host, uint32_t p,
                  int64_t visible_ps);         /* data: on its way to memory */
void qp_start(struct sim *sim, uint32_t flow); /* EVENT_START */
int waits_build(struct sim *sim, const struct sim_config *c, struct error *e);
int pacing_build(struct sim *sim, struct error *e);
void qp_post(struct sim *sim, uint32_t qp, int64_t bytes, uint32_t operation); /* a job's next message */
void qp_turn(struct sim *sim, uint32_t qp);                                    /* EVENT_TURN */
void qp_resume(struct sim *sim, uint32_t qp); /* its congestion control may allow more */

/* timeouts.c */
void qp_timeout(struct sim *sim, uint32_t qp); /* EVENT_TIMEOUT */

/* ---- random numbers, which belong to an object, so that they do not depend on what happens elsewhere */

enum stream { STREAM_PORT, STREAM_HOST, STREAM_MEMORY, STREAM_FAULT, STREAM_INJECTION, STREAM_TIMEOUT };

/* A probability as a share of 2^64; 1 is as near as can be. */
static inline uint64_t random_threshold(double probability)
{
    return (uint64_t)(probability * 0x1p64 * (1 - 0x1p-53));
}

/* `index` among the objects of this kind. */
static inline void seed_random(struct random *random, const struct sim *sim, enum stream kind, uint32_t index)
{
    struct random mixed;
    random_seed(&mixed, sim->seed);
    random_seed(&mixed, random_next(&mixed) + kind);
    random_seed(random, random_next(&mixed) + ((uint64_t)index << 32));
}

#endif
