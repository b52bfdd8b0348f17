/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The Ethernet part of a device: its room, and what its files ask of each other. */
#ifndef VCX_ETHERNET_H
#define VCX_ETHERNET_H

#include "virtual-connectx/model/queue/mkey.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/memory.h"
#include "virtual-connectx/model/ethernet/headers.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/ethernet/flow.h"
#include "virtual-connectx/model/room.h"

/* ---- work queues: send and receive queues have their states and most of their contexts in common */

/* mlx5's MLX5_SQC_STATE_* and MLX5_RQC_STATE_* */
enum vcx_wq_state { VCX_WQ_RESET = 0, VCX_WQ_READY = 1, VCX_WQ_ERROR = 3 };

#define VCX_WQ_CONTEXT_BYTES 240 /* of an SQ's or RQ's context, without the pages of its queue */

/* mlx5's MLX5_EVENT_QUEUE_TYPE_*: also the place of a queue's producer index in its doorbell record */
enum vcx_wq_side { VCX_WQ_RECEIVE = 1, VCX_WQ_SEND = 2 };

struct vcx_wq {
    struct vcx_object object;
    enum vcx_wq_side side;
    enum vcx_wq_state state;
    struct vcx_buffer buffer;
    struct vcx_rights rights;
    uint64_t record; /* bus address of the doorbell record */
    uint32_t cq, user_index;
    uint8_t log_size, log_stride;
    bool flushes;      /* completes what is posted when it is in error */
    uint16_t consumer; /* strides taken so far */
    uint8_t context[VCX_WQ_CONTEXT_BYTES];
};

/* Strides that the driver has posted and the device not yet taken. A record that says more than the queue
 * holds posts nothing. */
uint32_t vcx_wq_posted(struct vcx_device *device, const struct vcx_wq *wq);
/* Copies bytes of the queue, in pieces of 16, from an offset into the entry at the consumer's place on; it
 * wraps. false: it is not memory. */
bool vcx_wq_read(struct vcx_device *device, const struct vcx_wq *wq, uint32_t offset, void *to,
                 uint32_t bytes);

/* The queue goes into error; the driver is told by an event if a completion cannot tell it. */
void vcx_wq_fail(struct vcx_device *device, struct vcx_wq *wq, bool completed);
/* A completion with an error for the entry at the consumer's place; `opcode` is that of the entry, 0 for
 * receives. */
bool vcx_wq_complete_error(struct vcx_device *device, struct vcx_wq *wq, enum vcx_ending ending,
                           uint8_t opcode);
/* Completes up to `most` posted strides of a queue in error as flushed. true: there was one. */
bool vcx_wq_flush(struct vcx_device *device, struct vcx_wq *wq, uint32_t most);

/* A message on its way: gathered once, sent in frames as the port has room. */
struct vcx_sq_message {
    struct vcx_frame *frame; /* owned; NULL: there is none */
    struct vcx_headers headers;
    uint8_t opcode, checksums;
    bool tells; /* its entry asks for a completion */
    uint8_t entry_strides;
    int8_t priority; /* -1: by the frame */
    uint8_t room_priority;
    uint16_t segment_bytes; /* 0: one frame */
    uint16_t segment;       /* the next one */
    uint32_t sent;          /* bytes of payload */
};

struct vcx_sq {
    struct vcx_wq wq;
    uint32_t tis; /* 0: none */
    struct vcx_sq_message message;
};

struct vcx_rq {
    struct vcx_wq wq;
    bool keeps_tag, scatters_fcs;
    uint8_t counter_set;
};

struct vcx_tis {
    struct vcx_object object;
    uint8_t context[160];
};

extern const struct vcx_kind_of_object vcx_kind_sq, vcx_kind_rq, vcx_kind_tis;

/* ---- how a frame that steering sends to a TIR finds its receive queue */

#define VCX_MOST_QUEUES_OF_TABLE 256
#define VCX_HASH_KEY_BYTES       40
#define VCX_TIR_CONTEXT_BYTES    240

struct vcx_rqt {
    struct vcx_object object;
    uint32_t most, count;
    uint32_t rq[VCX_MOST_QUEUES_OF_TABLE];
};

/* mlx5's MLX5_RX_HASH_FN_* */
enum vcx_hash_function { VCX_HASH_NONE = 0, VCX_HASH_XOR8 = 1, VCX_HASH_TOEPLITZ = 2 };

/* bits of a selection (mlx5's MLX5_RX_HASH_FIELD_SELECT_SELECTED_FIELDS_*) */
enum vcx_hash_field {
    VCX_HASH_SIP = 1,
    VCX_HASH_DIP = 2,
    VCX_HASH_SPORT = 4,
    VCX_HASH_DPORT = 8,
    VCX_HASH_SPI = 16, /* of IPsec: taken, and the packet hashed over its addresses */
};

/* Over which fields a hash is taken. */
struct vcx_hash_selection {
    enum vcx_hash_function function;
    bool v6, udp;
    bool symmetric; /* the lesser address and the lesser port come first, so that both directions are alike */
    uint32_t fields;
    uint8_t key[VCX_HASH_KEY_BYTES];
};

/* As a completion has them; the type says of IP in bits 3:2 (1: IPv4, 2: IPv6) and of L4 in bits 7:6 (1:
 * TCP, 2: UDP). */
struct vcx_hash {
    uint32_t result;
    uint8_t type;
};

/* A frame that is not of the selected IP version is not hashed; one without the selected ports is hashed
 * over its addresses. */
struct vcx_hash vcx_hash(const struct vcx_hash_selection *selection, const struct vcx_headers *headers,
                         const uint8_t *frame);

struct vcx_tir {
    struct vcx_object object;
    bool indirect;
    uint32_t rq, rqt;
    struct vcx_hash_selection hash;
    uint8_t own_frames; /* bit 0: unicast that this function sent itself is taken, bit 1: multicast */
    uint8_t context[VCX_TIR_CONTEXT_BYTES];
};

extern const struct vcx_kind_of_object vcx_kind_rqt, vcx_kind_tir;

/* ---- the device */

/* State that belongs to no object. */
struct vcx_steering {
    uint32_t root[VCX_TABLE_TYPES]; /* the table where frames of a type begin; 0: none */
    uint32_t entries;               /* of all tables */
    uint32_t next_sq;               /* whose turn it is */
};

extern const struct vcx_room vcx_room_ethernet;

/* Takes the next entry of a queue in state READY, or sends the next frame of a message. true: something
 * was done. */
bool vcx_sq_step(struct vcx_device *device, struct vcx_sq *sq);

#endif
