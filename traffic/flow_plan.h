/*
 * The parameters of one flow that both ends must agree on. The driver makes the plan from its options and
 * offers it to the server in a control message (wire.h); the server checks it with the same table.
 */
#ifndef TRAFFIC_PLAN_H
#define TRAFFIC_PLAN_H

#include "lib/error.h"
#include "lib/formats/flow.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum connection_kind { CONNECTION_TCP, CONNECTION_RDMA };
enum pacing_kind { PACING_AUTO, PACING_HARDWARE, PACING_SOFTWARE };

extern const char *const connection_names[];
extern const char *const pacing_names[];

/* Ranges of values that scenarios do not contain, for jobs and for offers from the network. */
#define PLAN_MAX_SLOTS         65536 /* message buffers of a queue pair */
#define PLAN_MAX_INLINE_BYTES  4096
#define PLAN_MAX_SERVICE_LEVEL 15   /* 4 bits in InfiniBand's local route header */
#define PLAN_MAX_MTU_BYTES     4096 /* IBV_MTU_4096 */
#define PLAN_MAX_TIMER         31   /* 5 bits: local ACK timeout and RNR NAK timer */
#define PLAN_MAX_RETRIES       7    /* 3 bits */
#define PLAN_MIN_INTERVAL_NS   1000000LL
#define PLAN_MIN_TIMEOUT_NS    100000000LL
#define PLAN_MAX_WAIT_NS       3600000000000LL

/* Whole numbers are int64_t and choices int because a table fills them (lib/document/table.h). */
struct plan {
    char *flow;    /* name of the driver's direction */
    char *reverse; /* name of the server's direction, when bidirectional */
    int operation, mode, connection, memory, pacing;
    int64_t
        gpu;  /* of the server's memory; unset: its own choice. Offered only where it is wanted, as numa is */
    int numa; /* enum flow_numa; -1: none. Servers before it are offered it only where it is wanted */
    int bidirectional, validate, latency, relaxed_ordering;
    int64_t max_message_bytes; /* the largest of a sweep; determines the size of the memory */
    int64_t queue_pairs, depth, receive_depth, moderation, inline_bytes, post_list, slots;
    int64_t traffic_class, service_level, mtu_bytes; /* mtu 0: the smaller of both active ones */
    int64_t ack_timeout, retries, rnr_retries, rnr_timer;
    int64_t rate_bps, burst; /* 0: not paced; burst in messages */
    int64_t interval_ns, peer_timeout_ns;
    int64_t flip; /* offset of a byte of the driver's direction to corrupt before it is sent; -1: none */
};

extern const struct table plan_table;

/* Distance of messages in memory: each message starts on a new cache line. */
int64_t plan_stride(const struct plan *plan);
/* Bytes of one half (outgoing or incoming) of a side's memory. */
int64_t plan_half_bytes(const struct plan *plan);
/* Memory that a side takes for the flow, at most about: its messages, and the entries of its queues. */
int64_t plan_memory_bytes(const struct plan *plan, bool driver);
/* Does this side of the flow post work requests (sends), or use receive queues (receives)? `driver`: this
 * side is the driver. */
bool plan_sends(const struct plan *plan, bool driver);
bool plan_receives(const struct plan *plan, bool driver);
/* Which halves of its memory a side needs: data is sent from the outgoing half and received into the incoming
 * one. */
bool plan_has_outgoing(const struct plan *plan, bool driver);
bool plan_has_incoming(const struct plan *plan, bool driver);
/* N if every Nth message of a queue pair is signalled; the value 0 of the option is replaced by a suitable
 * N. */
int64_t plan_moderation(const struct plan *plan, int64_t message_bytes);
bool operation_is_two_sided(int operation);

#endif
