/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Work queues for Ethernet: send queues and receive queues, which have their states and most of their contexts in common. */
#ifndef VCX_WQ_H
#define VCX_WQ_H

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/ethernet/headers.h"
#include "virtual-connectx/model/memory.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/queue/mkey.h"

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

/* From a CREATE command. Refuses a queue that is not cyclic, strides outside of the limits, and what is no memory. */
enum vcx_status vcx_wq_init(struct vcx_wq *wq, enum vcx_wq_side side, const struct vcx_call *call);
/* MODIFY: from the state that the driver believes it to be in. */
enum vcx_status vcx_wq_modify(struct vcx_device *device, struct vcx_wq *wq, uint32_t from, uint32_t to);
/* Strides that the driver has posted and the device not yet taken. A record that says more than the queue holds posts nothing. */
uint32_t vcx_wq_posted(struct vcx_device *device, const struct vcx_wq *wq);
/* Copies bytes of the queue, in pieces of 16, from an offset into the entry at the consumer's place on; it wraps. false: it is no memory. */
bool vcx_wq_read(struct vcx_device *device, const struct vcx_wq *wq, uint32_t offset, void *to,
                 uint32_t bytes);
/* The context as QUERY gives it. */
void vcx_wq_query(const struct vcx_wq *wq, uint8_t *context);

/* The queue goes into error; the driver is told by an event if a completion cannot tell it. */
void vcx_wq_fail(struct vcx_device *device, struct vcx_wq *wq, bool completed);
/* A completion with an error for the entry at the consumer's place; `opcode` is that of the entry, 0 for receives. */
bool vcx_wq_complete_error(struct vcx_device *device, struct vcx_wq *wq, enum vcx_syndrome syndrome,
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

#endif
