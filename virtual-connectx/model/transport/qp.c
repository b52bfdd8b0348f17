// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/transport/qp.h"

#define EVENT_NUMBER 24 /* in an event's data; its kind, 0: a queue pair, stands at 20 */

static void clear_ring(struct vcx_requester *r)
{
    for (uint32_t i = 0; r->ring && i < VCX_REQUESTS; i++)
        vcx_request_clear(&r->ring[i]);
    vcx_release(r->ring);
}

void vcx_qp_reset(struct vcx_qp *qp)
{
    clear_ring(&qp->requester);
    memset(&qp->requester, 0, sizeof qp->requester);
    memset(&qp->responder, 0, sizeof qp->responder);
    memset(&qp->reaction, 0, sizeof qp->reaction);
    qp->sq.next = qp->rq.next = 0;
    qp->next_send_ns = qp->cnp_sent_ns = 0;
    qp->established = false;
    qp->state = VCX_QP_RESET;
}

void vcx_qp_count_at(struct vcx_device *device, const struct vcx_qp *qp, size_t offset)
{
    uint8_t *set = vcx_object(device, VCX_COUNTER_SET, qp->counter_set);
    if (set)
        ++*(uint32_t *)(void *)(set + offset);
}

void vcx_qp_event(struct vcx_device *device, const struct vcx_qp *qp, enum vcx_event type)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    vcx_put32(data + EVENT_NUMBER, qp->object.id);
    vcx_event_write(device, type, 0, data);
}

/* ---- errors */

void vcx_qp_error(struct vcx_device *device, struct vcx_qp *qp)
{
    if (qp->state == VCX_QP_ERROR)
        return;
    qp->state = VCX_QP_ERROR;
    if (qp->srq)
        vcx_qp_event(device, qp, VCX_EVENT_SRQ_LAST_WQE);
}

void vcx_qp_catastrophe(struct vcx_device *device, struct vcx_qp *qp)
{
    if (qp->state == VCX_QP_ERROR)
        return;
    vcx_qp_event(device, qp, VCX_EVENT_WQ_CATASTROPHIC);
    vcx_qp_error(device, qp);
}

void vcx_qp_fail(struct vcx_device *device, struct vcx_qp *qp, enum vcx_syndrome syndrome)
{
    vcx_request_complete(device, qp, (uint8_t)syndrome);
    if (vcx_qp_fails_whole(qp))
        vcx_qp_error(device, qp);
    else
        qp->state = VCX_QP_SQ_ERROR;
}
