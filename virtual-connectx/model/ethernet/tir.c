// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/ethernet/tir.h"

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
