// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/ethernet/wq.h"

#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/queue/eq.h"

#define TYPE_CYCLIC      1
#define LOG_SEND_STRIDE  6
#define LOG_LEAST_STRIDE 4
#define LOG_MOST_STRIDE  11
#define LOG_MOST_SIZE    13
#define RECORD_BYTES     8u
#define PIECE_BYTES      16u
/* in an event of a queue */
#define EVENT_QUEUE_TYPE   20
#define EVENT_QUEUE_NUMBER 24

static bool sizes_right(const struct vcx_wq *wq)
{
    uint32_t least = wq->side == VCX_WQ_SEND ? LOG_SEND_STRIDE : LOG_LEAST_STRIDE,
             most = wq->side == VCX_WQ_SEND ? LOG_SEND_STRIDE : LOG_MOST_STRIDE;
    return wq->log_stride >= least && wq->log_stride <= most && wq->log_size <= LOG_MOST_SIZE;
}

/* The contexts of send and receive queues have these fields at the same places. */
static void read_context(struct vcx_wq *wq, const uint8_t *context)
{
    const uint8_t *queue = vcx_at(context, sqc, wq);
    wq->rights = (struct vcx_rights){.pd = (uint32_t)vcx_get(queue, wq, pd),
                                     .reserved_key = vcx_get(context, sqc, rlky)};
    wq->record = vcx_get(queue, wq, dbr_addr);
    wq->cq = (uint32_t)vcx_get(context, sqc, cqn);
    wq->user_index = (uint32_t)vcx_get(context, sqc, user_index);
    wq->log_size = (uint8_t)vcx_get(queue, wq, log_wq_sz);
    wq->log_stride = (uint8_t)vcx_get(queue, wq, log_wq_stride);
    wq->flushes = wq->side == VCX_WQ_SEND ? vcx_get(context, sqc, flush_in_error_en)
                                          : vcx_get(context, rqc, flush_in_error_en);
    memcpy(wq->context, context, sizeof wq->context);
}

enum vcx_status vcx_wq_init(struct vcx_wq *wq, enum vcx_wq_side side, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_sq_in, ctx), *queue = vcx_at(context, sqc, wq),
                  *list = vcx_at(queue, wq, pas);
    wq->side = side;
    read_context(wq, context);
    if (vcx_get(context, sqc, state) != VCX_WQ_RESET || vcx_get(queue, wq, wq_type) != TYPE_CYCLIC ||
        !sizes_right(wq))
        return VCX_BAD_PARAMETER;
    if (wq->record % RECORD_BYTES || !vcx_memory(call->device, wq->record, RECORD_BYTES, VCX_TO_WRITE))
        return VCX_BAD_PARAMETER;
    if (!vcx_object(call->device, VCX_CQ, wq->cq))
        return VCX_BAD_RESOURCE;
    int made =
        vcx_buffer_init(&wq->buffer, list, (call->in_bytes - (uint64_t)(list - call->in)) / 8,
                        (uint32_t)vcx_get(queue, wq, log_wq_pg_sz), (uint32_t)vcx_get(queue, wq, page_offset),
                        1ull << (wq->log_size + wq->log_stride));
    return made == 0 ? VCX_OK : VCX_BAD_PARAMETER;
}

static uint8_t *producer_at(struct vcx_device *device, const struct vcx_wq *wq)
{
    uint8_t *record = vcx_memory(device, wq->record, RECORD_BYTES, VCX_TO_WRITE);
    return record ? record + 4 * (wq->side - VCX_WQ_RECEIVE) : NULL;
}

/* Counts begin anew. The record is cleared too: it is what the device looks at instead of a doorbell, and a driver that resets a queue
 * does not write it before it posts again. */
static void reset(struct vcx_device *device, struct vcx_wq *wq)
{
    uint8_t *producer = producer_at(device, wq);
    wq->consumer = 0;
    if (producer)
        vcx_share32(producer, 0);
}

enum vcx_status vcx_wq_modify(struct vcx_device *device, struct vcx_wq *wq, uint32_t from, uint32_t to)
{
    bool may = to == VCX_WQ_RESET || (to == VCX_WQ_READY && from != VCX_WQ_ERROR) || to == VCX_WQ_ERROR;
    if (from != wq->state)
        return VCX_BAD_RESOURCE_STATE;
    if (!may)
        return to > VCX_WQ_ERROR || to == 2 ? VCX_BAD_PARAMETER : VCX_BAD_RESOURCE_STATE;
    if (to == VCX_WQ_RESET && from != VCX_WQ_RESET)
        reset(device, wq);
    wq->state = (enum vcx_wq_state)to;
    return VCX_OK;
}

uint32_t vcx_wq_posted(struct vcx_device *device, const struct vcx_wq *wq)
{
    const uint8_t *producer = producer_at(device, wq);
    uint16_t posted = producer ? (uint16_t)(vcx_shared32(producer) - wq->consumer) : 0;
    return posted <= 1u << wq->log_size ? posted : 0;
}

bool vcx_wq_read(struct vcx_device *device, const struct vcx_wq *wq, uint32_t offset, void *to,
                 uint32_t bytes)
{
    uint64_t begin = ((uint64_t)wq->consumer << wq->log_stride) + offset;
    for (uint32_t done = 0; done < bytes; done += PIECE_BYTES) {
        uint64_t at = (begin + done) & (wq->buffer.bytes - 1);
        const uint8_t *from = vcx_buffer_at(device, &wq->buffer, at, PIECE_BYTES, VCX_TO_READ);
        if (!from)
            return false;
        memcpy((uint8_t *)to + done, from, PIECE_BYTES);
    }
    return true;
}

void vcx_wq_query(const struct vcx_wq *wq, uint8_t *context)
{
    memcpy(context, wq->context, sizeof wq->context);
    vcx_set(context, sqc, state, wq->state);
    vcx_set(vcx_at(context, sqc, wq), wq, hw_counter, wq->consumer);
}

void vcx_wq_fail(struct vcx_device *device, struct vcx_wq *wq, bool completed)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    wq->state = VCX_WQ_ERROR;
    if (completed)
        return;
    data[EVENT_QUEUE_TYPE] = (uint8_t)wq->side;
    vcx_put32(data + EVENT_QUEUE_NUMBER, wq->object.id);
    vcx_event_write(device, VCX_EVENT_WQ_CATASTROPHIC, 0, data);
}

bool vcx_wq_complete_error(struct vcx_device *device, struct vcx_wq *wq, enum vcx_syndrome syndrome,
                           uint8_t opcode)
{
    uint8_t completion[VCX_CQE_BYTES] = {0};
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, wq->user_index);
    completion[VCX_CQE_SYNDROME] = (uint8_t)syndrome;
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, (uint32_t)opcode << 24 | wq->object.id);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, wq->consumer);
    return vcx_cq_write(device, wq->cq,
                        wq->side == VCX_WQ_SEND ? VCX_CQE_REQUESTER_ERROR : VCX_CQE_RESPONDER_ERROR,
                        completion, true);
}

/* An entry's strides: a send queue's entry says how many it has. */
static uint32_t entry_strides(struct vcx_device *device, const struct vcx_wq *wq)
{
    uint8_t control[PIECE_BYTES];
    if (wq->side == VCX_WQ_RECEIVE || !vcx_wq_read(device, wq, 0, control, sizeof control))
        return 1;
    return (uint32_t)vcx_most(1, vcx_divide_up(control[7] & 0x3f, 4));
}

bool vcx_wq_flush(struct vcx_device *device, struct vcx_wq *wq, uint32_t most)
{
    uint32_t posted = vcx_wq_posted(device, wq), left = posted;
    while (wq->flushes && left && most--) {
        uint32_t strides = (uint32_t)vcx_least(left, entry_strides(device, wq));
        if (!vcx_wq_complete_error(device, wq, VCX_FLUSHED, 0))
            wq->flushes = false; /* nobody takes them */
        wq->consumer = (uint16_t)(wq->consumer + strides);
        left -= strides;
    }
    return left != posted;
}
