/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Work requests, read from queues in the driver's memory. */
#ifndef VCX_WORK_QUEUE_H
#define VCX_WORK_QUEUE_H

#include "virtual-connectx/model/transport/qp.h"

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

/* Takes the next request of the send queue. false: none is posted. A bad one is taken too; its syndrome is set. */
bool vcx_send_fetch(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *request);
/* Takes the next receive request, of the queue pair's own or shared queue, or of XRC's `xrc_srq`. false: none is posted. */
bool vcx_receive_take(struct vcx_device *device, struct vcx_qp *qp, uint32_t xrc_srq,
                      struct vcx_receive *receive);
/* Skips a request of the own receive queue: its index. false: none is posted. */
bool vcx_receive_skip(struct vcx_device *device, struct vcx_qp *qp, uint16_t *index);

#endif
