/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Completion queues. */
#ifndef VCX_CQ_H
#define VCX_CQ_H

#include "virtual-connectx/model/room.h"

/* mlx5's MLX5_CQE_* */
enum vcx_completion_opcode {
    VCX_CQE_REQUESTER = 0x0,
    VCX_CQE_WRITE_IMMEDIATE = 0x1,
    VCX_CQE_SEND = 0x2,
    VCX_CQE_SEND_IMMEDIATE = 0x3,
    VCX_CQE_SEND_INVALIDATE = 0x4,
    VCX_CQE_RESIZE = 0x5,
    VCX_CQE_REQUESTER_ERROR = 0xd,
    VCX_CQE_RESPONDER_ERROR = 0xe,
};

/* How a work request ends: what its completion says, and what counts it, is in vcx_endings. */
enum vcx_ending {
    VCX_ENDED_WELL,
    VCX_LOCAL_LENGTH,
    VCX_LOCAL_OPERATION,
    VCX_LOCAL_PROTECTION, /* of local memory; why is not known here */
    VCX_LOCAL_KEY,        /* ... there is no such key */
    VCX_LOCAL_RANGE,      /* ... the key does not cover the bytes */
    VCX_LOCAL_RIGHTS,     /* ... the key does not allow to write */
    VCX_FLUSHED_FIRST,    /* the first one of a queue pair that its own driver put into error */
    VCX_FLUSHED,
    VCX_MEMORY_WINDOW_BIND,
    VCX_BAD_RESPONSE,
    VCX_LOCAL_ACCESS,
    VCX_REMOTE_INVALID,
    VCX_REMOTE_ACCESS,
    VCX_REMOTE_OPERATION,
    VCX_RETRIES_EXCEEDED,
    VCX_RNR_RETRIES_EXCEEDED,
    VCX_ENDINGS,
};

struct vcx_ending_row {
    uint8_t syndrome; /* mlx5's MLX5_CQE_SYNDROME_* */
    uint8_t vendor;   /* 0: not known of a ConnectX */
    bool is_error;    /* counted in req_cqe_error with its completion */
    /* places in struct vcx_counter_set; 0: none. Of a requester's failure, and of a receive request's. */
    size_t requester, responder;
};
extern const struct vcx_ending_row vcx_endings[VCX_ENDINGS];
/* Writes syndrome and vendor's byte. */
void vcx_cqe_put_ending(uint8_t *completion, enum vcx_ending ending);

#define VCX_CQE_BYTES 64
/* positions in a completion (mlx5's struct mlx5_cqe64 and struct mlx5_err_cqe) */
#define VCX_CQE_RSS_RESULT      12
#define VCX_CQE_RSS_TYPE        16
#define VCX_CQE_CHECKSUM        20
#define VCX_CQE_FLAGS_RQPN      24
#define VCX_CQE_HEADER_FLAGS    28
#define VCX_CQE_L4_L3_TYPE      29
#define VCX_CQE_SRQN_UIDX       32
#define VCX_CQE_IMMEDIATE       36
#define VCX_CQE_VLAN            30
#define VCX_CQE_BYTE_COUNT      44
#define VCX_CQE_TIMESTAMP       48
#define VCX_CQE_OPCODE_QPN      56
#define VCX_CQE_WQE_COUNTER     60
#define VCX_CQE_VENDOR_SYNDROME 54
#define VCX_CQE_SYNDROME        55

/* Write a completion; its opcode and owner are filled in. false: there is no such queue, or it overran
 * (the driver is told). `solicited`: it also wakes a queue that waits for solicited completions only. */
bool vcx_cq_write(struct vcx_device *device, uint32_t cq, enum vcx_completion_opcode opcode,
                  const uint8_t *completion, bool solicited);
/* Tells of completions in queues that were armed. */
extern const struct vcx_room vcx_room_completion;

extern const struct vcx_kind_of_object vcx_kind_cq;

#endif
