// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Send queues and what they send by: the commands. */
#include "virtual-connectx/model/ethernet/wq.h"

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
    return vcx_wq_init(&sq->wq, VCX_WQ_SEND, call);
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
        vcx_wq_modify(call->device, &sq->wq, (uint32_t)vcx_get(call->in, modify_sq_in, sq_state),
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
    vcx_wq_query(&sq->wq, vcx_at(call->out, query_sq_out, sq_context));
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
