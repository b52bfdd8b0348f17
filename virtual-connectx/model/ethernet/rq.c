// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Receive queues and tables of them: the commands. */
#include "virtual-connectx/model/ethernet/tir.h"

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
    return vcx_wq_init(&rq->wq, VCX_WQ_RECEIVE, call);
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
        vcx_wq_modify(call->device, &rq->wq, (uint32_t)vcx_get(call->in, modify_rq_in, rq_state),
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
    vcx_wq_query(&rq->wq, context);
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
