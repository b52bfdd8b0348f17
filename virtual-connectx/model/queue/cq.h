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

/* mlx5's MLX5_CQE_SYNDROME_* */
enum vcx_syndrome {
    VCX_LOCAL_LENGTH = 0x01,
    VCX_LOCAL_OPERATION = 0x02,
    VCX_LOCAL_PROTECTION = 0x04,
    VCX_FLUSHED = 0x05,
    VCX_MEMORY_WINDOW_BIND = 0x06,
    VCX_BAD_RESPONSE = 0x10,
    VCX_LOCAL_ACCESS = 0x11,
    VCX_REMOTE_INVALID = 0x12,
    VCX_REMOTE_ACCESS = 0x13,
    VCX_REMOTE_OPERATION = 0x14,
    VCX_RETRIES_EXCEEDED = 0x15,
    VCX_RNR_RETRIES_EXCEEDED = 0x16,
};

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
