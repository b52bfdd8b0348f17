/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The transport: queue pairs and their requests, what its files share of a device, and what each does for
 * the others. */
#ifndef VCX_TRANSPORT_H
#define VCX_TRANSPORT_H

#include "lib/roce/retransmission.h"
#include "virtual-connectx/model/command/domains.h"
#include "virtual-connectx/model/layout.h"
#include "virtual-connectx/model/memory.h"
#include "virtual-connectx/model/objects.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/queue/eq.h"
#include "virtual-connectx/model/queue/mkey.h"
#include "virtual-connectx/model/room.h"
#include "virtual-connectx/model/transport/congestion.h"
#include "virtual-connectx/model/transport/packet.h"
#include "virtual-connectx/model/words.h"

/* mlx5's MLX5_QP_ST_* */
enum vcx_qp_type {
    VCX_QP_RC = 0x0,
    VCX_QP_UC = 0x1,
    VCX_QP_UD = 0x2,
    VCX_QP_XRC = 0x3,
    VCX_QP_GSI = 0x8,
    VCX_QP_UMR = 0xc
};

/* mlx5's MLX5_QP_STATE_* */
enum vcx_qp_state {
    VCX_QP_RESET = 0,
    VCX_QP_INIT = 1,
    VCX_QP_RTR = 2,
    VCX_QP_RTS = 3,
    VCX_QP_SQ_ERROR = 4,
    VCX_QP_ERROR = 6,
};

/* Syndromes of an acknowledge extended transport header. */
enum vcx_aeth {
    VCX_AETH_ACK = 0x1f, /* without end-to-end credits */
    VCX_AETH_RNR = 0x20, /* the lower five bits are the timer's code */
    VCX_AETH_SEQUENCE = 0x60,
    VCX_AETH_INVALID = 0x61,
    VCX_AETH_ACCESS = 0x62,
    VCX_AETH_OPERATION = 0x63,
};

#define VCX_QP_CONTEXT_BYTES 232
#define VCX_VECTOR_BYTES     48
#define VCX_REQUESTS         32  /* fetched and not yet completed, of a queue pair */
#define VCX_PACKET_WINDOW    128 /* packets that are not acknowledged, of a queue pair */
#define VCX_ANSWERS          16  /* reads and atomic operations that a responder takes at a time */

#define VCX_MOST_STRETCHES 32 /* a receive request of 512 bytes */

struct vcx_stretch {
    uint32_t key, bytes;
    uint64_t address;
};

/* The memory of a work request: a list of stretches of the driver's memory and of bytes that stood in the
 * request itself. */
struct vcx_scatter {
    uint32_t count;
    uint32_t of_request; /* bit n: stretch n is of `inlined`, and its address an offset there */
    uint64_t bytes;
    uint8_t *inlined; /* owned; NULL: none */
    uint32_t inlined_bytes;
    struct vcx_stretch stretch[VCX_MOST_STRETCHES];
};

/* A work queue within a queue pair's buffer. */
struct vcx_work_queue {
    uint32_t count; /* of strides; 0: there is none */
    uint32_t log_stride, offset;
    uint16_t next; /* counter of strides as in the doorbell record: the next to be taken */
};

/* What a send request's opcode asks for. */
struct vcx_send_row {
    uint8_t opcode;    /* mlx5's MLX5_OPCODE_* */
    uint16_t services; /* bit n: enum vcx_qp_type n */
    uint8_t first;     /* operation of its packet, or of the first of several */
    bool remote;       /* names memory of the peer */
    bool atomic, fetches;
    bool immediate, invalidate;
    bool local;       /* sends nothing */
    bool changes_key; /* local: what follows the control segment is kept as inlined memory */
};

/* A send request that was fetched and has not completed. */
struct vcx_request {
    const struct vcx_send_row *row; /* NULL: bad, its syndrome says why */
    uint16_t index;                 /* counter of its first 64 bytes: what its completion names */
    uint8_t opcode, ending;         /* why it cannot be executed (enum vcx_ending); 0: it can */
    bool signaled, solicited, fenced;
    bool pending; /* it changes a key and has not been executed */
    uint8_t immediate[4];
    uint64_t address, swap_add, compare;
    uint32_t key, xrc_srq;
    uint32_t length;
    uint32_t packets, first_psn;
    uint32_t sent;     /* packets; a read that was asked for counts as all of its answer */
    uint32_t answered; /* packets of a read's or atomic operation's answer */
    uint8_t vector[VCX_VECTOR_BYTES];
    struct vcx_scatter memory;
};

/* Packets that came before an earlier one, and are in memory: of those from the oldest that is missing on, as
 * many as a window has. */
struct vcx_early {
    early_bits came[VCX_PACKET_WINDOW / 64];
    uint32_t next_psn; /* behind the newest */
    uint64_t gap_ns;   /* since when one is missing that was not asked for, or when it was; 0: none is */
};

static inline bool vcx_early_has(const struct vcx_early *early, uint32_t psn)
{
    return early_has(early->came, VCX_PACKET_WINDOW - 1, psn);
}

struct vcx_requester {
    struct vcx_request *ring;     /* VCX_REQUESTS, made for the first request */
    uint32_t tail, cursor, head;  /* counters: oldest, being sent, next to be fetched */
    uint32_t acked_psn, next_psn; /* the oldest that is not acknowledged; of the next request */
    uint32_t sent_psn;            /* after the newest that was ever sent */
    uint64_t deadline_ns;         /* of an acknowledgement; 0: none is awaited */
    uint64_t since_ns;            /* it is awaited */
    uint32_t draw;                /* of this wait, below 65536 */
    uint8_t timeouts;             /* in it */
    uint64_t resume_ns;           /* after a receiver that was not ready */
    uint64_t flush_ns;            /* in error: when the next request may be flushed */
    uint8_t retries, rnr_retries; /* after NAKs */
    bool went_back;               /* and nothing was acknowledged since */
    struct vcx_early early;       /* answers to reads */
    uint32_t asked_psn;           /* behind the part of an answer that was requested again */
    struct {
        uint32_t psn, packets; /* of a read: of its answer */
    } again[2];                /* selective repeat: before anything new */
    uint8_t again_count;
    uint8_t cause; /* in error: how the oldest request ends (enum vcx_ending); 0: flushed as the others */
};

/* A receive request that was taken for a message. */
struct vcx_receive {
    struct vcx_scatter memory;
    struct vcx_rights rights;
    uint32_t cq, user_index;
    uint16_t index;
};

/* A read's or atomic operation's answer, to be sent. */
struct vcx_answer {
    bool atomic;
    uint32_t psn, packets, sent;
    uint64_t address;
    uint32_t key, length, pd;
    uint64_t result;
};

enum vcx_message { VCX_NO_MESSAGE, VCX_SEND_MESSAGE, VCX_WRITE_MESSAGE };

struct vcx_responder {
    uint32_t expected_psn, msn;
    bool ack_due;
    uint8_t ack_priority; /* of the last acknowledgement, and its number there; 0: none yet */
    uint32_t ack_number;
    struct vcx_early early;
    bool nak_sent; /* and the expected packet has not come since */
    bool last_due; /* what was sent behind the packet that was requested before this one has not come */
    uint8_t nak;   /* syndrome to be sent; 0: none */
    uint64_t nak_from_ns; /* not before */
    enum vcx_message message;
    bool took_receive;
    struct vcx_receive receive;
    uint32_t received; /* bytes of the message */
    uint64_t write_address;
    uint32_t write_key, write_bytes;
    struct vcx_answer answers[VCX_ANSWERS];
    uint32_t answer_tail, answer_head;
    /* of the last atomic operations, for those that are asked for again */
    struct {
        bool used;
        uint32_t psn;
        uint64_t result;
    } atomics[VCX_ANSWERS];
    uint32_t next_atomic;
};

struct vcx_qp {
    struct vcx_object object;
    enum vcx_qp_type type;
    enum vcx_qp_state state;
    uint8_t context[VCX_QP_CONTEXT_BYTES];
    struct vcx_buffer buffer;
    uint64_t record; /* doorbell record's bus address */
    struct vcx_work_queue sq, rq;
    bool rung; /* by its doorbell, which announced the requests below `announced` */
    uint16_t announced;
    uint32_t srq; /* 0: its own receive queue, or none */
    uint32_t send_cq, receive_cq, user_index, counter_set;
    struct vcx_rights rights;
    /* from INIT2RTR on */
    uint32_t mtu, remote_qpn;
    /* ROCE_ACCL: it sends again only what is missing; it waits for what is missing before it asks for it.
     * With either it takes packets in any order. */
    bool selective, out_of_order;
    bool established; /* the driver was told of the first packet */
    struct vcx_requester requester;
    struct vcx_responder responder;
    struct vcx_reaction reaction;
    uint64_t next_send_ns; /* congestion control: no packet with data before */
    uint64_t cnp_sent_ns;  /* 0: none yet */
};

extern const struct vcx_kind_of_object vcx_kind_qp;

static inline bool vcx_qp_is_datagram(const struct vcx_qp *qp)
{
    return qp->type == VCX_QP_UD || qp->type == VCX_QP_GSI;
}

static inline bool vcx_qp_is_reliable(const struct vcx_qp *qp)
{
    return qp->type == VCX_QP_RC || qp->type == VCX_QP_XRC;
}

/* It takes packets. */
static inline bool vcx_qp_receives(const struct vcx_qp *qp)
{
    return qp->state >= VCX_QP_RTR && qp->state <= VCX_QP_SQ_ERROR;
}

/* A request that fails takes the whole queue pair into error, not only its send queue. */
static inline bool vcx_qp_fails_whole(const struct vcx_qp *qp)
{
    return vcx_qp_is_reliable(qp) || qp->type == VCX_QP_UMR;
}

static inline bool vcx_qp_takes_any_order(const struct vcx_qp *qp)
{
    return qp->selective || qp->out_of_order;
}

/* Packets that a message of `bytes` takes. */
static inline uint32_t vcx_qp_packets(const struct vcx_qp *qp, uint32_t bytes)
{
    return (uint32_t)vcx_most(1, vcx_divide_up(bytes, qp->mtu));
}

static inline struct vcx_request *vcx_request_at(const struct vcx_qp *qp, uint32_t counter)
{
    return &qp->requester.ring[counter % VCX_REQUESTS];
}

void vcx_scatter_clear(struct vcx_scatter *scatter);

/* The request holds no memory any more. */
static inline void vcx_request_clear(struct vcx_request *request)
{
    vcx_scatter_clear(&request->memory);
}

/* ---- what a function has of it */

#define VCX_SOURCES           16 /* QUERY_HCA_CAP's roce_address_table_size */
#define VCX_SOURCE_BYTES      32
#define VCX_MULTICAST_MEMBERS 64
#define VCX_MULTICAST_QPN     0xffffff
#define VCX_GSI_QPN           1
#define VCX_MOST_WQE          2048

struct vcx_multicast_member {
    uint32_t qpn; /* 0: free */
    uint8_t group[16];
};

struct vcx_transport {
    uint8_t source[VCX_SOURCES][VCX_SOURCE_BYTES]; /* of frames: SET_ROCE_ADDRESS */
    struct vcx_multicast_member members[VCX_MULTICAST_MEMBERS];
    uint32_t next_qp;          /* whose turn it is */
    uint64_t looked_ns;        /* at the doorbells */
    uint32_t roce_accl;        /* bit n: the register's switch n is on */
    uint64_t random;           /* of waits for an answer */
    bool data_sent;            /* in this turn: of requests, or of answers to reads and atomics */
    uint8_t wqe[VCX_MOST_WQE]; /* the work request that is being read */
};

extern const struct vcx_room vcx_room_transport;

/* ---- qp.c */

/* Add one to a counter of the queue pair's counter set. */
void vcx_qp_count_at(struct vcx_device *device, const struct vcx_qp *qp, size_t offset);
#define vcx_qp_count(device, qp, member) vcx_qp_count_at(device, qp, offsetof(struct vcx_counter_set, member))
/* An asynchronous event of the queue pair. */
void vcx_qp_event(struct vcx_device *device, const struct vcx_qp *qp, enum vcx_event type);
/* To the error state: what is or gets posted completes as flushed. false: something was in error already. */
bool vcx_qp_error(struct vcx_device *device, struct vcx_qp *qp);
/* The same because the send queue itself is broken: no request could say so, and the driver is told by an
 * event, once. */
void vcx_qp_catastrophe(struct vcx_device *device, struct vcx_qp *qp);
/* Writes a completion of one of its requests. */
void vcx_qp_tell(struct vcx_device *device, struct vcx_qp *qp, uint32_t cq, enum vcx_completion_opcode opcode,
                 const uint8_t *completion, bool solicited);
/* The oldest request fails, and the queue pair, or its send queue, goes into error. It completes, as all
 * after it, once the doorbell record is above it. */
void vcx_qp_fail(struct vcx_device *device, struct vcx_qp *qp, enum vcx_ending cause);
/* The oldest request has ended. Its place is free then. */
void vcx_request_complete(struct vcx_device *device, struct vcx_qp *qp, enum vcx_ending ending);
/* The receive request that was taken has ended with an error. */
void vcx_receive_fail(struct vcx_device *device, struct vcx_qp *qp, enum vcx_ending ending);
/* In an error state: completes up to `most` requests as flushed, of the send queue those whose time has come.
 * Returns how many. */
uint32_t vcx_qp_flush(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most);

/* ---- work_queue.c */

/* Takes the next request of the send queue. false: none is posted. A bad one is taken too; its ending is set.
 */
bool vcx_send_fetch(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *request);
/* Looks at all doorbells. */
void vcx_doorbells_read(struct vcx_device *device);
/* What was rung is of an earlier queue pair with this number. */
void vcx_doorbells_clear(struct vcx_device *device, struct vcx_qp *qp);
/* The doorbell record is above a request, which was taken. */
bool vcx_send_is_recorded(struct vcx_device *device, const struct vcx_qp *qp, uint16_t index);
/* Takes the next receive request, of the queue pair's own or shared queue, or of XRC's `xrc_srq`. false:
 * none is posted. */
bool vcx_receive_take(struct vcx_device *device, struct vcx_qp *qp, uint32_t xrc_srq,
                      struct vcx_receive *receive);
/* Skips a request of the own receive queue: its index. false: none is posted. */
bool vcx_receive_skip(struct vcx_device *device, struct vcx_qp *qp, uint16_t *index);

/* The memory at an offset of the list does not answer now. */
bool vcx_scatter_stalls(struct vcx_device *device, const struct vcx_scatter *scatter, uint64_t offset);
/* Copy `bytes` at an offset of the list. Returns 0, or why a key does not allow it (enum vcx_ending), which
 * is also said of a list that is shorter. */
uint8_t vcx_scatter_read(struct vcx_device *device, struct vcx_rights rights,
                         const struct vcx_scatter *scatter, uint64_t offset, void *to, uint32_t bytes);
uint8_t vcx_scatter_write(struct vcx_device *device, struct vcx_rights rights,
                          const struct vcx_scatter *scatter, uint64_t offset, const void *from,
                          uint32_t bytes);

/* Changes a memory key as the request asks for. Returns how it ends (enum vcx_ending). */
uint8_t vcx_umr_execute(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q);

/* The protection domain of XRC's queue; one that no key has if there is no such queue in the domain. */
uint32_t vcx_srq_pd(struct vcx_device *device, uint32_t id, uint32_t domain);

extern const struct vcx_kind_of_object vcx_kind_srq;

/* ---- frames.c */

/* The way of a packet. */
struct vcx_route {
    struct vcx_path path;
    uint8_t priority;
};
/* That of a connection: its primary address path. */
void vcx_route_connection(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route);
/* That of a datagram: the address vector of its request. */
void vcx_route_vector(struct vcx_device *device, const struct vcx_qp *qp, const uint8_t *vector,
                      struct vcx_route *route);

/* There is room for a packet with `bytes` after the base transport header. */
bool vcx_transport_room(struct vcx_device *device, const struct vcx_route *route, uint32_t bytes);
/* Takes the frame, whose payload is written. One to a group of which the function has members also comes
 * back, as a copy. */
void vcx_transport_send(struct vcx_device *device, const struct vcx_route *route, struct vcx_frame *frame);

/* ---- congestion.c: congestion control of a queue pair */

/* Sets the ECN bits of a packet with data. */
void vcx_congestion_capable(struct vcx_device *device, struct vcx_route *route);
/* A packet of a connection came: answers a mark with a CNP. */
void vcx_congestion_notify(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);
/* A CNP came; NULL: for no queue pair. */
void vcx_congestion_cnp(struct vcx_device *device, struct vcx_qp *qp);
/* Its rate allows a packet now. */
bool vcx_congestion_may_send(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns);
/* A packet of `bytes` was sent. */
void vcx_congestion_sent(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t bytes);
/* Sends again after a time-out with slow restart: slows down as after a CNP, and counts it as one. */
void vcx_congestion_restart(struct vcx_device *device, struct vcx_qp *qp);
/* Nothing waits to be sent: no time is owed to what comes later. */
void vcx_congestion_idle(struct vcx_qp *qp, uint64_t now_ns);

/* ---- requester.c */

/* Sends up to `most` packets, and completes what has ended. Returns how much there was to do. */
uint32_t vcx_requester_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most);
/* Sends the oldest packet that is not acknowledged again: with selective repeat it, and the last that was
 * sent, and returns true; else, and where packets are taken in order, all from it on. */
bool vcx_requester_repeat(struct vcx_qp *qp);

/* An acknowledgement or an answer came. */
void vcx_acknowledge_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);

/* ---- retransmission.c: time-outs */

/* The transport's state was made. */
void vcx_retransmission_start(struct vcx_device *device);
/* Starts waiting for an answer to what was sent, from `from_ns` on. */
void vcx_await_answer(struct vcx_device *device, struct vcx_qp *qp, uint64_t from_ns);
/* Sends again, or gives up, if the answer is late. */
void vcx_check_timeout(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns);
/* A NAK asks for packets again. true: it was one too many. */
bool vcx_nak_ends(struct vcx_device *device, struct vcx_qp *qp);
/* A connection is made: as the register's switches are now. */
void vcx_recovery_choose(const struct vcx_device *device, struct vcx_qp *qp);
/* What is missing since gap_ns is late. */
bool vcx_early_is_late(const struct vcx_device *device, const struct vcx_early *early, uint64_t now_ns);
/* When a peer may be told that a key is refused. */
uint64_t vcx_refusal_from_ns(const struct vcx_device *device, uint32_t key);
/* How long to wait after an RNR NAK with a timer's code. */
uint64_t vcx_rnr_wait_ns(const struct vcx_device *device, uint8_t code);
/* Register ROCE_ACCL as text: a line for each switch; "SWITCH 0" or "SWITCH 1". false: `error` says why. */
void vcx_roce_accl_show(const struct vcx_device *device, void (*put)(void *context, const char *line),
                        void *context);
bool vcx_roce_accl_request(struct vcx_device *device, const char *line, struct vcx_sentence *error);

/* ---- responder.c */

/* A request of the peer came. */
void vcx_responder_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);
/* Sends up to `most` packets of answers and acknowledgements. Returns how many. */
uint32_t vcx_answers_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most);

/* ---- datagram.c */

/* Sends the request's packet. false: not now. */
bool vcx_datagram_send(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *request);
void vcx_datagram_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet);
/* To every queue pair that is attached to the packet's group; not to the one that sent it, if the driver
 * asked for that. */
void vcx_datagram_multicast(struct vcx_device *device, const struct vcx_packet *packet);
bool vcx_multicast_has_members(const struct vcx_device *device, const uint8_t *group);
/* false: no room for a further member, or there is no such one. */
bool vcx_multicast_attach(struct vcx_device *device, uint32_t qpn, const uint8_t *group);
bool vcx_multicast_detach(struct vcx_device *device, uint32_t qpn, const uint8_t *group);
/* The queue pair is destroyed. */
void vcx_multicast_leave(struct vcx_device *device, uint32_t qpn);

#endif
