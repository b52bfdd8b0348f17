// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/command/domains.h"

#include "virtual-connectx/model/command/command.h"

const struct vcx_kind_of_object vcx_kind_pd = {"protection domain", 12, 1, sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_transport_domain = {"transport domain", 8, 1,
                                                             sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_xrcd = {"XRC domain", 4, 1, sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_uar = {"UAR", 10, VCX_UAR_FIRST, sizeof(struct vcx_object), NULL};
const struct vcx_kind_of_object vcx_kind_counter_set = {"counter set", 7, 1, sizeof(struct vcx_counter_set),
                                                        NULL};

static enum vcx_status give_number(struct vcx_call *call, enum vcx_kind kind)
{
    const struct vcx_object *object = vcx_object_new(call->device, kind);
    if (!object)
        return VCX_NO_RESOURCES;
    vcx_answer_number(call, object->id);
    return VCX_OK;
}

static enum vcx_status take_number_back(struct vcx_call *call, enum vcx_kind kind)
{
    return vcx_object_free(call->device, kind, vcx_asked_number(call)) ? VCX_OK : VCX_BAD_RESOURCE;
}

static enum vcx_status alloc_pd(struct vcx_call *call)
{
    return give_number(call, VCX_PD);
}

static enum vcx_status dealloc_pd(struct vcx_call *call)
{
    return take_number_back(call, VCX_PD);
}

static enum vcx_status alloc_uar(struct vcx_call *call)
{
    return give_number(call, VCX_UAR);
}

static enum vcx_status dealloc_uar(struct vcx_call *call)
{
    return take_number_back(call, VCX_UAR);
}

static enum vcx_status alloc_xrcd(struct vcx_call *call)
{
    return give_number(call, VCX_XRCD);
}

static enum vcx_status dealloc_xrcd(struct vcx_call *call)
{
    return take_number_back(call, VCX_XRCD);
}

static enum vcx_status alloc_transport_domain(struct vcx_call *call)
{
    return give_number(call, VCX_TRANSPORT_DOMAIN);
}

static enum vcx_status dealloc_transport_domain(struct vcx_call *call)
{
    return take_number_back(call, VCX_TRANSPORT_DOMAIN);
}

/* ---- counter sets; their number has 8 bits, and another place */

static enum vcx_status alloc_counter_set(struct vcx_call *call)
{
    const struct vcx_object *object = vcx_object_new(call->device, VCX_COUNTER_SET);
    if (!object)
        return VCX_NO_RESOURCES;
    vcx_set(call->out, alloc_q_counter_out, counter_set_id, object->id);
    return VCX_OK;
}

static enum vcx_status dealloc_counter_set(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, dealloc_q_counter_in, counter_set_id);
    return vcx_object_free(call->device, VCX_COUNTER_SET, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static void write_counters(uint8_t *out, const struct vcx_counter_set *set)
{
#define COPY(name) vcx_set(out, query_q_counter_out, name, set->name)
    COPY(rx_write_requests);
    COPY(rx_read_requests);
    COPY(rx_atomic_requests);
    COPY(out_of_buffer);
    COPY(out_of_sequence);
    COPY(duplicate_request);
    COPY(packet_seq_err);
    COPY(local_ack_timeout_err);
    COPY(rnr_nak_retry_err);
    COPY(implied_nak_seq_err);
    COPY(resp_local_length_error);
    COPY(req_local_length_error);
    COPY(local_operation_error);
    COPY(resp_local_protection);
    COPY(req_local_protection);
    COPY(req_bad_response);
    COPY(req_remote_invalid_request);
    COPY(resp_remote_invalid_request);
    COPY(req_remote_access_errors);
    COPY(resp_remote_access_errors);
    COPY(req_remote_operation_errors);
    COPY(req_transport_retries_exceeded);
    COPY(resp_cqe_flush_error);
    COPY(req_cqe_flush_error);
#undef COPY
}

static enum vcx_status query_counter_set(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, query_q_counter_in, counter_set_id);
    struct vcx_counter_set *set = vcx_object(call->device, VCX_COUNTER_SET, id);
    if (!set)
        return VCX_BAD_RESOURCE;
    write_counters(call->out, set);
    if (vcx_get(call->in, query_q_counter_in, clear))
        *set = (struct vcx_counter_set){.object = set->object};
    return VCX_OK;
}

const struct vcx_command vcx_commands_domains[] = {
    {0x800, 16, 16, alloc_pd},
    {0x801, 16, 16, dealloc_pd},
    {0x802, 16, 16, alloc_uar},
    {0x803, 16, 16, dealloc_uar},
    {0x80e, 16, 16, alloc_xrcd},
    {0x80f, 16, 16, dealloc_xrcd},
    {0x816, 16, 16, alloc_transport_domain},
    {0x817, 16, 16, dealloc_transport_domain},
    {0x771, 16, 16, alloc_counter_set},
    {0x772, 16, 16, dealloc_counter_set},
    {0x773, 32, 256, query_counter_set},
    {0},
};
