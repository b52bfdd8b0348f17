// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Queues of Ethernet: send and receive queues, tables of receive queues, what sends and receives by them
 * (TIS, TIR), and the hash that spreads frames over a table. */
#include "virtual-connectx/model/ethernet/ethernet.h"
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

/* From a CREATE command. Refuses a queue that is not cyclic, strides outside of the limits, and what is
 * not memory. */
static enum vcx_status wq_init(struct vcx_wq *wq, enum vcx_wq_side side, const struct vcx_call *call)
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

/* Counts begin anew. The record is cleared too: it is what the device looks at instead of a doorbell, and
 * a driver that resets a queue does not write it before it posts again. */
static void wq_reset(struct vcx_device *device, struct vcx_wq *wq)
{
    uint8_t *producer = producer_at(device, wq);
    wq->consumer = 0;
    if (producer)
        vcx_share32(producer, 0);
}

/* MODIFY: from the state that the driver believes it to be in. */
static enum vcx_status wq_modify(struct vcx_device *device, struct vcx_wq *wq, uint32_t from, uint32_t to)
{
    bool may = to == VCX_WQ_RESET || (to == VCX_WQ_READY && from != VCX_WQ_ERROR) || to == VCX_WQ_ERROR;
    if (from != wq->state)
        return VCX_BAD_RESOURCE_STATE;
    if (!may)
        return to > VCX_WQ_ERROR || to == 2 ? VCX_BAD_PARAMETER : VCX_BAD_RESOURCE_STATE;
    if (to == VCX_WQ_RESET && from != VCX_WQ_RESET)
        wq_reset(device, wq);
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

/* The context as QUERY gives it. */
static void wq_query(const struct vcx_wq *wq, uint8_t *context)
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

bool vcx_wq_complete_error(struct vcx_device *device, struct vcx_wq *wq, enum vcx_ending ending,
                           uint8_t opcode)
{
    uint8_t completion[VCX_CQE_BYTES] = {0};
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, wq->user_index);
    vcx_cqe_put_ending(completion, ending);
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

/* ---- receive queues and tables of them: the commands */

#define RQ_IN_BYTES   (32 + VCX_WQ_CONTEXT_BYTES)
#define RQ_OUT_BYTES  (32 + VCX_WQ_CONTEXT_BYTES)
#define MEMORY_INLINE 0   /* the queue's own memory, not that of a receive memory pool */
#define TABLE_BYTES   240 /* of a table's context, without its list */
#define LIST_OF_RQ    0
/* mlx5's MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_* */
#define MODIFY_VSD         2u
#define MODIFY_FCS         4u
#define MODIFY_COUNTER_SET 8u

static void clear_rq(struct vcx_device *device, void *rq)
{
    (void)device;
    vcx_buffer_clear(&((struct vcx_rq *)rq)->wq.buffer);
}

const struct vcx_kind_of_object vcx_kind_rq = {"receive queue", 10, 1, sizeof(struct vcx_rq), clear_rq};
const struct vcx_kind_of_object vcx_kind_rqt = {"receive queue table", 8, 1, sizeof(struct vcx_rqt), NULL};

/* ---- RQ */

static enum vcx_status init_rq(struct vcx_rq *rq, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_rq_in, ctx);
    rq->keeps_tag = vcx_get(context, rqc, vsd);
    rq->scatters_fcs = vcx_get(context, rqc, scatter_fcs);
    rq->counter_set = (uint8_t)vcx_get(context, rqc, counter_set_id);
    if (vcx_get(context, rqc, mem_rq_type) != MEMORY_INLINE)
        return VCX_BAD_PARAMETER;
    if (rq->counter_set && !vcx_object(call->device, VCX_COUNTER_SET, rq->counter_set))
        return VCX_BAD_RESOURCE;
    return wq_init(&rq->wq, VCX_WQ_RECEIVE, call);
}

static enum vcx_status create_rq(struct vcx_call *call)
{
    struct vcx_rq *rq = vcx_object_new(call->device, VCX_RQ);
    enum vcx_status status = rq ? init_rq(rq, call) : VCX_NO_RESOURCES;
    if (status == VCX_OK)
        vcx_set(call->out, create_rq_out, rqn, rq->wq.object.id);
    else if (rq)
        vcx_object_free(call->device, VCX_RQ, rq->wq.object.id);
    return status;
}

static void set_selected(struct vcx_rq *rq, uint64_t selected, const uint8_t *context)
{
    if (selected & MODIFY_VSD)
        rq->keeps_tag = vcx_get(context, rqc, vsd);
    if (selected & MODIFY_FCS)
        rq->scatters_fcs = vcx_get(context, rqc, scatter_fcs);
    if (selected & MODIFY_COUNTER_SET)
        rq->counter_set = (uint8_t)vcx_get(context, rqc, counter_set_id);
}

static enum vcx_status modify_rq(struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, modify_rq_in, ctx);
    struct vcx_rq *rq = vcx_object(call->device, VCX_RQ, (uint32_t)vcx_get(call->in, modify_rq_in, rqn));
    uint64_t selected = vcx_get(call->in, modify_rq_in, modify_bitmask);
    uint32_t set = (uint32_t)vcx_get(context, rqc, counter_set_id);
    if (!rq || (selected & MODIFY_COUNTER_SET && set && !vcx_object(call->device, VCX_COUNTER_SET, set)))
        return VCX_BAD_RESOURCE;
    enum vcx_status status =
        wq_modify(call->device, &rq->wq, (uint32_t)vcx_get(call->in, modify_rq_in, rq_state),
                  (uint32_t)vcx_get(context, rqc, state));
    if (status == VCX_OK)
        set_selected(rq, selected, context);
    return status;
}

static enum vcx_status destroy_rq(struct vcx_call *call)
{
    return vcx_object_free(call->device, VCX_RQ, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_rq(struct vcx_call *call)
{
    const struct vcx_rq *rq = vcx_object(call->device, VCX_RQ, vcx_asked_number(call));
    if (!rq)
        return VCX_BAD_RESOURCE;
    uint8_t *context = vcx_at(call->out, query_rq_out, rq_context);
    wq_query(&rq->wq, context);
    vcx_set(context, rqc, vsd, rq->keeps_tag);
    vcx_set(context, rqc, scatter_fcs, rq->scatters_fcs);
    vcx_set(context, rqc, counter_set_id, rq->counter_set);
    return VCX_OK;
}

const struct vcx_command vcx_commands_rq[] = {
    {0x908, RQ_IN_BYTES, 16, create_rq},
    {0x909, RQ_IN_BYTES, 16, modify_rq},
    {0x90a, 16, 16, destroy_rq},
    {0x90b, 16, RQ_OUT_BYTES, query_rq},
    {0},
};

/* ---- RQT */

/* Takes the list whole or not at all. `context` is at the same place in CREATE and MODIFY. */
static enum vcx_status set_list(struct vcx_rqt *rqt, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_rqt_in, rqt_context),
                  *list = vcx_at(context, rqtc, rq_num);
    uint32_t count = (uint32_t)vcx_get(context, rqtc, rqt_actual_size);
    if (!count || count > rqt->most || (uint32_t)(list - call->in) + 4 * count > call->in_bytes)
        return VCX_BAD_PARAMETER;
    for (uint32_t i = 0; i < count; i++)
        if (!vcx_object(call->device, VCX_RQ, vcx_be32(list + 4 * i) & 0xffffff))
            return VCX_BAD_RESOURCE;
    for (uint32_t i = 0; i < count; i++)
        rqt->rq[i] = vcx_be32(list + 4 * i) & 0xffffff;
    rqt->count = count;
    return VCX_OK;
}

static enum vcx_status init_rqt(struct vcx_rqt *rqt, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_rqt_in, rqt_context);
    rqt->most = (uint32_t)vcx_get(context, rqtc, rqt_max_size);
    if (rqt->most > VCX_MOST_QUEUES_OF_TABLE || vcx_get(context, rqtc, list_q_type) != LIST_OF_RQ)
        return VCX_BAD_PARAMETER;
    return set_list(rqt, call);
}

static enum vcx_status create_rqt(struct vcx_call *call)
{
    struct vcx_rqt *rqt = vcx_object_new(call->device, VCX_RQT);
    enum vcx_status status = rqt ? init_rqt(rqt, call) : VCX_NO_RESOURCES;
    if (status == VCX_OK)
        vcx_set(call->out, create_rqt_out, rqtn, rqt->object.id);
    else if (rqt)
        vcx_object_free(call->device, VCX_RQT, rqt->object.id);
    return status;
}

static enum vcx_status modify_rqt(struct vcx_call *call)
{
    struct vcx_rqt *rqt = vcx_object(call->device, VCX_RQT, (uint32_t)vcx_get(call->in, modify_rqt_in, rqtn));
    if (!rqt)
        return VCX_BAD_RESOURCE;
    return vcx_get(call->in, modify_rqt_in, rqn_list) ? set_list(rqt, call) : VCX_OK;
}

static enum vcx_status destroy_rqt(struct vcx_call *call)
{
    return vcx_object_free(call->device, VCX_RQT, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_rqt(struct vcx_call *call)
{
    const struct vcx_rqt *rqt = vcx_object(call->device, VCX_RQT, vcx_asked_number(call));
    if (!rqt)
        return VCX_BAD_RESOURCE;
    uint8_t *context = vcx_at(call->out, query_rqt_out, rqt_context), *list = vcx_at(context, rqtc, rq_num);
    vcx_set(context, rqtc, rqt_max_size, rqt->most);
    vcx_set(context, rqtc, rqt_actual_size, rqt->count);
    for (uint32_t i = 0; i < rqt->count && list + 4 * (i + 1) <= call->out + call->out_bytes; i++)
        vcx_put32(list + 4 * i, rqt->rq[i]);
    return VCX_OK;
}

const struct vcx_command vcx_commands_rqt[] = {
    {0x916, 32 + TABLE_BYTES, 16, create_rqt},
    {0x917, 32 + TABLE_BYTES, 16, modify_rqt},
    {0x918, 16, 16, destroy_rqt},
    {0x919, 16, 32 + TABLE_BYTES, query_rqt},
    {0},
};

/* ---- send queues and what they send by: the commands */

#define SQ_IN_BYTES  (32 + VCX_WQ_CONTEXT_BYTES)
#define SQ_OUT_BYTES (32 + VCX_WQ_CONTEXT_BYTES)

static void clear_message(struct vcx_sq *sq)
{
    vcx_release(sq->message.frame);
    sq->message = (struct vcx_sq_message){0};
}

static void clear_sq(struct vcx_device *device, void *object)
{
    struct vcx_sq *sq = object;
    (void)device;
    clear_message(sq);
    vcx_buffer_clear(&sq->wq.buffer);
}

const struct vcx_kind_of_object vcx_kind_sq = {"send queue", 10, 1, sizeof(struct vcx_sq), clear_sq};
const struct vcx_kind_of_object vcx_kind_tis = {"transport interface send", 10, 1, sizeof(struct vcx_tis),
                                                NULL};

/* ---- SQ */

/* A queue without a TIS is for work that sends nothing. */
static enum vcx_status init_sq(struct vcx_sq *sq, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_sq_in, ctx);
    if (vcx_get(context, sqc, tis_lst_sz)) {
        sq->tis = (uint32_t)vcx_get(context, sqc, tis_num_0);
        if (!vcx_object(call->device, VCX_TIS, sq->tis))
            return VCX_BAD_RESOURCE;
    }
    return wq_init(&sq->wq, VCX_WQ_SEND, call);
}

static enum vcx_status create_sq(struct vcx_call *call)
{
    struct vcx_sq *sq = vcx_object_new(call->device, VCX_SQ);
    enum vcx_status status = sq ? init_sq(sq, call) : VCX_NO_RESOURCES;
    if (status == VCX_OK)
        vcx_set(call->out, create_sq_out, sqn, sq->wq.object.id);
    else if (sq)
        vcx_object_free(call->device, VCX_SQ, sq->wq.object.id);
    return status;
}

static enum vcx_status modify_sq(struct vcx_call *call)
{
    struct vcx_sq *sq = vcx_object(call->device, VCX_SQ, (uint32_t)vcx_get(call->in, modify_sq_in, sqn));
    if (!sq)
        return VCX_BAD_RESOURCE;
    enum vcx_status status =
        wq_modify(call->device, &sq->wq, (uint32_t)vcx_get(call->in, modify_sq_in, sq_state),
                  (uint32_t)vcx_get(vcx_at(call->in, modify_sq_in, ctx), sqc, state));
    if (status == VCX_OK && sq->wq.state != VCX_WQ_READY)
        clear_message(sq);
    return status;
}

static enum vcx_status destroy_sq(struct vcx_call *call)
{
    return vcx_object_free(call->device, VCX_SQ, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_sq(struct vcx_call *call)
{
    const struct vcx_sq *sq = vcx_object(call->device, VCX_SQ, vcx_asked_number(call));
    if (!sq)
        return VCX_BAD_RESOURCE;
    wq_query(&sq->wq, vcx_at(call->out, query_sq_out, sq_context));
    return VCX_OK;
}

const struct vcx_command vcx_commands_sq[] = {
    {0x904, SQ_IN_BYTES, 16, create_sq},
    {0x905, SQ_IN_BYTES, 16, modify_sq},
    {0x906, 16, 16, destroy_sq},
    {0x907, 16, SQ_OUT_BYTES, query_sq},
    {0},
};

/* ---- TIS */

static enum vcx_status create_tis(struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_tis_in, ctx);
    if (vcx_get(context, tisc, tls_en))
        return VCX_BAD_PARAMETER;
    if (!vcx_object(call->device, VCX_TRANSPORT_DOMAIN, (uint32_t)vcx_get(context, tisc, transport_domain)))
        return VCX_BAD_RESOURCE;
    struct vcx_tis *tis = vcx_object_new(call->device, VCX_TIS);
    if (!tis)
        return VCX_NO_RESOURCES;
    memcpy(tis->context, context, sizeof tis->context);
    vcx_answer_number(call, tis->object.id);
    return VCX_OK;
}

static enum vcx_status modify_tis(struct vcx_call *call)
{
    struct vcx_tis *tis = vcx_object(call->device, VCX_TIS, vcx_asked_number(call));
    if (!tis)
        return VCX_BAD_RESOURCE;
    if (vcx_get(call->in, modify_tis_in, bitmask_prio))
        vcx_set(tis->context, tisc, prio, vcx_get(vcx_at(call->in, modify_tis_in, ctx), tisc, prio));
    return VCX_OK;
}

static enum vcx_status destroy_tis(struct vcx_call *call)
{
    return vcx_object_free(call->device, VCX_TIS, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_tis(struct vcx_call *call)
{
    const struct vcx_tis *tis = vcx_object(call->device, VCX_TIS, vcx_asked_number(call));
    if (!tis)
        return VCX_BAD_RESOURCE;
    memcpy(vcx_at(call->out, query_tis_out, tis_context), tis->context, sizeof tis->context);
    return VCX_OK;
}

const struct vcx_command vcx_commands_tis[] = {
    {0x912, 32 + 160, 16, create_tis},
    {0x913, 32 + 160, 16, modify_tis},
    {0x914, 16, 16, destroy_tis},
    {0x915, 16, 16 + 160, query_tis},
    {0},
};

#define MOST_INPUT 36 /* two IPv6 addresses and two ports */

#define TYPE_IPV4 (1 << 2)
#define TYPE_IPV6 (2 << 2)
#define TYPE_TCP  (1 << 6)
#define TYPE_UDP  (2 << 6)

/* Microsoft's receive side scaling: the key has to be 4 bytes longer than the input. */
static uint32_t toeplitz(const uint8_t *key, const uint8_t *input, uint32_t bytes)
{
    uint32_t result = 0, window = vcx_be32(key);
    for (uint32_t i = 0; i < bytes; i++)
        for (int bit = 7; bit >= 0; bit--) {
            if (input[i] >> bit & 1)
                result ^= window;
            window = window << 1 | (key[i + 4] >> bit & 1);
        }
    return result;
}

/* The exclusive or of all bytes, its bits in reverse order. */
static uint32_t inverted_xor8(const uint8_t *input, uint32_t bytes)
{
    uint8_t all = 0;
    uint32_t result = 0;
    for (uint32_t i = 0; i < bytes; i++)
        all ^= input[i];
    for (int bit = 0; bit < 8; bit++)
        result |= (uint32_t)(all >> bit & 1) << (7 - bit);
    return result;
}

/* Appends the selected ones of two fields that lie behind each other in a header, and returns how many
 * bytes these are. */
static uint32_t append_pair(uint8_t *input, const uint8_t *pair, uint32_t bytes, bool source,
                            bool destination, bool symmetric)
{
    bool swap = symmetric && source && destination && memcmp(pair, pair + bytes, bytes) > 0;
    uint32_t n = 0;
    if (source) {
        memcpy(input, swap ? pair + bytes : pair, bytes);
        n = bytes;
    }
    if (destination) {
        memcpy(input + n, swap ? pair : pair + bytes, bytes);
        n += bytes;
    }
    return n;
}

static bool has_ports(const struct vcx_hash_selection *s, const struct vcx_headers *h)
{
    return s->fields & (VCX_HASH_SPORT | VCX_HASH_DPORT) && h->l4 &&
           h->protocol == (s->udp ? VCX_PROTOCOL_UDP : VCX_PROTOCOL_TCP);
}

struct vcx_hash vcx_hash(const struct vcx_hash_selection *s, const struct vcx_headers *h,
                         const uint8_t *frame)
{
    uint8_t input[MOST_INPUT];
    struct vcx_hash hash = {0};
    if (s->function == VCX_HASH_NONE || h->version != (s->v6 ? 6 : 4))
        return hash;
    bool ports = has_ports(s, h);
    uint32_t bytes = append_pair(input, frame + h->l3 + (s->v6 ? 8 : 12), s->v6 ? 16 : 4,
                                 s->fields & VCX_HASH_SIP, s->fields & VCX_HASH_DIP, s->symmetric);
    if (bytes)
        hash.type = s->v6 ? TYPE_IPV6 : TYPE_IPV4;
    if (ports) {
        bytes += append_pair(input + bytes, frame + h->l4, 2, s->fields & VCX_HASH_SPORT,
                             s->fields & VCX_HASH_DPORT, s->symmetric);
        hash.type |= s->udp ? TYPE_UDP : TYPE_TCP;
    }
    hash.result =
        s->function == VCX_HASH_TOEPLITZ ? toeplitz(s->key, input, bytes) : inverted_xor8(input, bytes);
    return hash;
}

#define TIR_IN_BYTES  (32 + VCX_TIR_CONTEXT_BYTES)
#define TIR_OUT_BYTES (32 + VCX_TIR_CONTEXT_BYTES)
#define DIRECT        0
#define INDIRECT      1

#define KNOWN_FIELDS (VCX_HASH_SIP | VCX_HASH_DIP | VCX_HASH_SPORT | VCX_HASH_DPORT | VCX_HASH_SPI)

const struct vcx_kind_of_object vcx_kind_tir = {"transport interface receive", 10, 1, sizeof(struct vcx_tir),
                                                NULL};

static enum vcx_status set_hash(struct vcx_hash_selection *hash, const uint8_t *context)
{
    uint32_t function = (uint32_t)vcx_get(context, tirc, rx_hash_fn),
             fields = (uint32_t)vcx_get(context, tirc, selected_fields);
    if (function > VCX_HASH_TOEPLITZ || fields & ~KNOWN_FIELDS)
        return VCX_BAD_PARAMETER;
    hash->function = (enum vcx_hash_function)function;
    hash->symmetric = vcx_get(context, tirc, rx_hash_symmetric);
    hash->v6 = vcx_get(context, tirc, l3_prot_type);
    hash->udp = vcx_get(context, tirc, l4_prot_type);
    hash->fields = fields;
    memcpy(hash->key, vcx_at(context, tirc, rx_hash_toeplitz_key), sizeof hash->key);
    return VCX_OK;
}

static enum vcx_status init_tir(struct vcx_tir *tir, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_tir_in, ctx);
    uint32_t type = (uint32_t)vcx_get(context, tirc, disp_type);
    tir->indirect = type == INDIRECT;
    tir->rq = (uint32_t)vcx_get(context, tirc, inline_rqn);
    tir->rqt = (uint32_t)vcx_get(context, tirc, indirect_table);
    tir->own_frames = (uint8_t)vcx_get(context, tirc, self_lb_block);
    memcpy(tir->context, context, sizeof tir->context);
    if (type > INDIRECT || vcx_get(context, tirc, tls_en) || vcx_get(context, tirc, packet_merge_mask))
        return VCX_BAD_PARAMETER;
    if (!vcx_object(call->device, tir->indirect ? VCX_RQT : VCX_RQ, tir->indirect ? tir->rqt : tir->rq) ||
        !vcx_object(call->device, VCX_TRANSPORT_DOMAIN, (uint32_t)vcx_get(context, tirc, transport_domain)))
        return VCX_BAD_RESOURCE;
    return set_hash(&tir->hash, context);
}

static enum vcx_status create_tir(struct vcx_call *call)
{
    struct vcx_tir *tir = vcx_object_new(call->device, VCX_TIR);
    enum vcx_status status = tir ? init_tir(tir, call) : VCX_NO_RESOURCES;
    if (status == VCX_OK)
        vcx_answer_number(call, tir->object.id);
    else if (tir)
        vcx_object_free(call->device, VCX_TIR, tir->object.id);
    return status;
}

/* What the hash is taken over stands from rx_hash_fn to the selection of outer headers. */
static void keep_hash(struct vcx_tir *tir, const uint8_t *context)
{
    vcx_set(tir->context, tirc, rx_hash_fn, tir->hash.function);
    vcx_set(tir->context, tirc, rx_hash_symmetric, tir->hash.symmetric);
    vcx_set(tir->context, tirc, l3_prot_type, tir->hash.v6);
    vcx_set(tir->context, tirc, l4_prot_type, tir->hash.udp);
    vcx_set(tir->context, tirc, selected_fields, tir->hash.fields);
    memcpy(vcx_at(tir->context, tirc, rx_hash_toeplitz_key), vcx_at(context, tirc, rx_hash_toeplitz_key),
           VCX_HASH_KEY_BYTES);
}

static enum vcx_status modify_tir(struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, modify_tir_in, ctx);
    struct vcx_tir *tir = vcx_object(call->device, VCX_TIR, vcx_asked_number(call));
    if (!tir)
        return VCX_BAD_RESOURCE;
    if (vcx_get(call->in, modify_tir_in, bitmask_packet_merge) && vcx_get(context, tirc, packet_merge_mask))
        return VCX_BAD_PARAMETER;
    if (vcx_get(call->in, modify_tir_in, bitmask_hash)) {
        enum vcx_status status = set_hash(&tir->hash, context);
        if (status != VCX_OK)
            return status;
        keep_hash(tir, context);
    }
    if (vcx_get(call->in, modify_tir_in, bitmask_self_lb_en)) {
        tir->own_frames = (uint8_t)vcx_get(context, tirc, self_lb_block);
        vcx_set(tir->context, tirc, self_lb_block, tir->own_frames);
    }
    return VCX_OK;
}

static enum vcx_status destroy_tir(struct vcx_call *call)
{
    return vcx_object_free(call->device, VCX_TIR, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status query_tir(struct vcx_call *call)
{
    const struct vcx_tir *tir = vcx_object(call->device, VCX_TIR, vcx_asked_number(call));
    if (!tir)
        return VCX_BAD_RESOURCE;
    memcpy(vcx_at(call->out, query_tir_out, tir_context), tir->context, sizeof tir->context);
    return VCX_OK;
}

const struct vcx_command vcx_commands_tir[] = {
    {0x900, TIR_IN_BYTES, 16, create_tir},
    {0x901, TIR_IN_BYTES, 16, modify_tir},
    {0x902, 16, 16, destroy_tir},
    {0x903, 16, TIR_OUT_BYTES, query_tir},
    {0},
};
