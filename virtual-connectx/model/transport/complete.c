// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Completions of requests, and of those that a queue pair in error flushes. */
#include "virtual-connectx/model/transport/qp.h"

#include "virtual-connectx/model/transport/work_queue.h"

static void begin_completion(const struct vcx_qp *qp, uint8_t *completion, uint32_t user_index,
                             uint16_t index, uint8_t opcode)
{
    memset(completion, 0, VCX_CQE_BYTES);
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, user_index);
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, (uint32_t)opcode << 24 | qp->object.id);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, index);
}

static void complete_send(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_request *r,
                          uint8_t syndrome)
{
    uint8_t completion[VCX_CQE_BYTES];
    if (!syndrome && !r->signaled)
        return;
    begin_completion(qp, completion, qp->user_index, r->index, r->opcode);
    completion[VCX_CQE_SYNDROME] = syndrome;
    if (!syndrome)
        vcx_put32(completion + VCX_CQE_BYTE_COUNT, r->length);
    vcx_cq_write(device, qp->send_cq, syndrome ? VCX_CQE_REQUESTER_ERROR : VCX_CQE_REQUESTER, completion,
                 false);
}

void vcx_request_complete(struct vcx_device *device, struct vcx_qp *qp, uint8_t syndrome)
{
    struct vcx_request *r = vcx_request_at(qp, qp->requester.tail++);
    complete_send(device, qp, r, syndrome);
    vcx_request_clear(r);
}

static void fail_receive(struct vcx_device *device, struct vcx_qp *qp, uint32_t cq, uint32_t user_index,
                         uint16_t index, uint8_t syndrome)
{
    uint8_t completion[VCX_CQE_BYTES];
    begin_completion(qp, completion, user_index, index, 0);
    completion[VCX_CQE_SYNDROME] = syndrome;
    vcx_cq_write(device, cq, VCX_CQE_RESPONDER_ERROR, completion, false);
}

void vcx_receive_fail(struct vcx_device *device, struct vcx_qp *qp, enum vcx_syndrome syndrome)
{
    const struct vcx_receive *r = &qp->responder.receive;
    qp->responder.took_receive = false;
    fail_receive(device, qp, r->cq, r->user_index, r->index, (uint8_t)syndrome);
}

/* ---- flush */

static uint32_t flush_sends(struct vcx_device *device, struct vcx_qp *qp, uint32_t most)
{
    uint32_t done = 0;
    struct vcx_requester *r = &qp->requester;
    for (; done < most && r->tail != r->head; done++) {
        vcx_qp_count(device, qp, req_cqe_flush_error);
        vcx_request_complete(device, qp, VCX_FLUSHED);
    }
    r->cursor = r->tail;
    struct vcx_request request;
    for (; done < most && vcx_send_fetch(device, qp, &request); done++) {
        vcx_qp_count(device, qp, req_cqe_flush_error);
        complete_send(device, qp, &request, VCX_FLUSHED);
        vcx_request_clear(&request);
    }
    return done;
}

static uint32_t flush_receives(struct vcx_device *device, struct vcx_qp *qp, uint32_t most)
{
    uint32_t done = 0;
    uint16_t index;
    if (qp->responder.took_receive && most) {
        vcx_receive_fail(device, qp, VCX_FLUSHED);
        done++;
    }
    for (; done < most && vcx_receive_skip(device, qp, &index); done++)
        fail_receive(device, qp, qp->receive_cq, qp->user_index, index, VCX_FLUSHED);
    for (uint32_t i = 0; i < done; i++)
        vcx_qp_count(device, qp, resp_cqe_flush_error);
    return done;
}

uint32_t vcx_qp_flush(struct vcx_device *device, struct vcx_qp *qp, uint32_t most)
{
    uint32_t done = flush_sends(device, qp, most);
    return qp->state == VCX_QP_ERROR ? done + flush_receives(device, qp, most - done) : done;
}
