// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/transport/srq.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/transport/transport.h"

#define CREATE_SRQ      0x700
#define DESTROY_SRQ     0x701
#define QUERY_SRQ       0x702
#define ARM_RQ          0x703
#define CREATE_XRC_SRQ  0x705
#define DESTROY_XRC_SRQ 0x706
#define QUERY_XRC_SRQ   0x707
#define ARM_XRC_SRQ     0x708
#define CREATE_RMP      0x90c
#define MODIFY_RMP      0x90d
#define DESTROY_RMP     0x90e
#define QUERY_RMP       0x90f

#define SRQ_RECORD_BYTES 4u
#define CONTEXT_BYTES    64u /* of SRQ and XRC SRQ */
#define RMP_BYTES        (vcx_offset(rmpc, wq) + vcx_offset(wq, pas))
#define NEXT_BYTES \
    16u /* a request begins with the index of the next one (mlx5's struct mlx5_wqe_srq_next_seg) */
#define NEXT_INDEX       2
#define LOG_LEAST_STRIDE 5
#define LOG_MOST_STRIDE  11
#define LOG_MOST_SIZE    15
#define NO_DOMAIN        UINT32_MAX
#define RMP_READY        1
#define EVENT_NUMBER     24 /* in an event's data */

enum form { SRQ, XRC_SRQ, RMP };

struct srq {
    struct vcx_object object;
    enum form form;
    struct vcx_buffer buffer;
    uint64_t record;
    uint32_t log_size, log_stride;
    uint32_t cq, domain, user_index;
    struct vcx_rights rights;
    uint16_t head;  /* index of the next request */
    uint16_t taken; /* counter as in the doorbell record */
    uint16_t limit; /* the driver is told when fewer are posted; 0: it is not */
    uint8_t context[256];
};

static void clear_srq(struct vcx_device *device, void *srq)
{
    (void)device;
    vcx_buffer_clear(&((struct srq *)srq)->buffer);
}

const struct vcx_kind_of_object vcx_kind_srq = {"shared receive queue", 8, 1, sizeof(struct srq), clear_srq};

/* ---- commands */

/* What a context says of the queue's memory. */
struct place {
    const uint8_t *list;
    uint32_t log_page, offset;
};

static void read_context(struct srq *srq, const struct vcx_call *call, struct place *place)
{
    const uint8_t *c = vcx_at(call->in, create_srq_in, srq_context_entry);
    memcpy(srq->context, c, CONTEXT_BYTES);
    srq->log_size = (uint32_t)vcx_get(c, srqc, log_srq_size);
    srq->log_stride = (uint32_t)vcx_get(c, srqc, log_rq_stride) + 4;
    srq->record = vcx_get(c, srqc, dbr_addr);
    srq->rights =
        (struct vcx_rights){.pd = (uint32_t)vcx_get(c, srqc, pd), .reserved_key = vcx_get(c, srqc, rlky)};
    srq->limit = (uint16_t)vcx_get(c, srqc, lwm);
    srq->cq = (uint32_t)vcx_get(c, srqc, cqn);
    srq->domain = (uint32_t)vcx_get(c, srqc, xrcd);
    srq->user_index = (uint32_t)vcx_get(c, xrc_srqc, user_index);
    *place = (struct place){vcx_at(call->in, create_srq_in, pas), (uint32_t)vcx_get(c, srqc, log_page_size),
                            (uint32_t)vcx_get(c, srqc, page_offset)};
}

static void read_rmp(struct srq *srq, const struct vcx_call *call, struct place *place)
{
    const uint8_t *c = vcx_at(call->in, create_rmp_in, ctx), *wq = vcx_at(c, rmpc, wq);
    memcpy(srq->context, c, RMP_BYTES);
    srq->log_size = (uint32_t)vcx_get(wq, wq, log_wq_sz);
    srq->log_stride = (uint32_t)vcx_get(wq, wq, log_wq_stride);
    srq->record = vcx_get(wq, wq, dbr_addr);
    srq->rights = (struct vcx_rights){.pd = (uint32_t)vcx_get(wq, wq, pd)};
    srq->limit = (uint16_t)vcx_get(wq, wq, lwm);
    *place = (struct place){vcx_at(wq, wq, pas), (uint32_t)vcx_get(wq, wq, log_wq_pg_sz),
                            (uint32_t)vcx_get(wq, wq, page_offset)};
}

/* Requests with signatures, and cyclic queues, are not what a driver of verbs asks for. */
static bool unsupported_srq(const struct srq *srq)
{
    const uint8_t *wq = vcx_at(srq->context, rmpc, wq);
    if (srq->form == RMP)
        return vcx_get(srq->context, rmpc, basic_cyclic_rcv_wqe) || vcx_get(wq, wq, wq_signature);
    return vcx_get(srq->context, srqc, wq_signature) ||
           (srq->form == XRC_SRQ && vcx_get(srq->context, xrc_srqc, basic_cyclic_rcv_wqe));
}

static int init_srq(struct srq *srq, const struct vcx_call *call)
{
    struct place place;
    if (srq->form == RMP)
        read_rmp(srq, call, &place);
    else
        read_context(srq, call, &place);
    if (unsupported_srq(srq) || !vcx_memory(call->device, srq->record, SRQ_RECORD_BYTES, VCX_TO_READ) ||
        srq->log_size > LOG_MOST_SIZE || srq->log_stride < LOG_LEAST_STRIDE ||
        srq->log_stride > LOG_MOST_STRIDE)
        return -1;
    if (srq->form == XRC_SRQ && !vcx_object(call->device, VCX_CQ, srq->cq))
        return -1;
    return vcx_buffer_init(&srq->buffer, place.list, (uint64_t)(call->in + call->in_bytes - place.list) / 8,
                           place.log_page, place.offset, 1ull << (srq->log_size + srq->log_stride));
}

static enum vcx_status create_shared(struct vcx_call *call, enum form form)
{
    struct srq *srq = vcx_object_new(call->device, VCX_SRQ);
    if (!srq)
        return VCX_NO_RESOURCES;
    srq->form = form;
    if (init_srq(srq, call) != 0) {
        vcx_object_free(call->device, VCX_SRQ, srq->object.id);
        return VCX_BAD_PARAMETER;
    }
    vcx_set(call->out, create_srq_out, srqn, srq->object.id);
    return VCX_OK;
}

/* The queue that a command names; of another form it is none. */
static struct srq *named(struct vcx_call *call, enum form form)
{
    struct srq *srq = vcx_object(call->device, VCX_SRQ, (uint32_t)vcx_get(call->in, query_srq_in, srqn));
    return srq && srq->form == form ? srq : NULL;
}

static enum vcx_status destroy_shared(struct vcx_call *call, enum form form)
{
    const struct srq *srq = named(call, form);
    return srq && vcx_object_free(call->device, VCX_SRQ, srq->object.id) ? VCX_OK : VCX_BAD_RESOURCE;
}

static uint16_t posted_in(struct vcx_device *device, const struct srq *srq)
{
    const uint8_t *record = vcx_memory(device, srq->record, SRQ_RECORD_BYTES, VCX_TO_READ);
    uint16_t ready = record ? (uint16_t)(vcx_shared32(record) - srq->taken) : 0;
    return ready <= 1u << srq->log_size ? ready : 0;
}

static enum vcx_status query_shared(struct vcx_call *call, enum form form)
{
    const struct srq *srq = named(call, form);
    if (!srq)
        return VCX_BAD_RESOURCE;
    uint8_t *context = vcx_at(call->out, query_srq_out, srq_context_entry);
    memcpy(context, srq->context, CONTEXT_BYTES);
    vcx_set(context, srqc, lwm, srq->limit);
    vcx_set(context, srqc, wqe_cnt, posted_in(call->device, srq));
    return VCX_OK;
}

static enum vcx_status query_rmp(struct vcx_call *call)
{
    const struct srq *srq = named(call, RMP);
    if (!srq)
        return VCX_BAD_RESOURCE;
    uint8_t *context = vcx_at(call->out, query_rmp_out, rmp_context);
    memcpy(context, srq->context, RMP_BYTES);
    vcx_set(context, rmpc, state, RMP_READY);
    vcx_set(vcx_at(context, rmpc, wq), wq, lwm, srq->limit);
    return VCX_OK;
}

static enum vcx_status arm_shared(struct vcx_call *call, enum form form)
{
    struct srq *srq = named(call, form);
    if (!srq)
        return VCX_BAD_RESOURCE;
    srq->limit = (uint16_t)vcx_get(call->in, arm_rq_in, lwm);
    return VCX_OK;
}

static enum vcx_status modify_rmp(struct vcx_call *call)
{
    struct srq *srq = named(call, RMP);
    if (!srq)
        return VCX_BAD_RESOURCE;
    if (vcx_get(call->in, modify_rmp_in, lwm))
        srq->limit = (uint16_t)vcx_get(vcx_at(vcx_at(call->in, modify_rmp_in, ctx), rmpc, wq), wq, lwm);
    return VCX_OK;
}

#define COMMAND(name, run, form)                       \
    static enum vcx_status name(struct vcx_call *call) \
    {                                                  \
        return run(call, form);                        \
    }
COMMAND(create_srq, create_shared, SRQ)
COMMAND(create_xrc_srq, create_shared, XRC_SRQ)
COMMAND(create_rmp, create_shared, RMP)
COMMAND(destroy_srq, destroy_shared, SRQ)
COMMAND(destroy_xrc_srq, destroy_shared, XRC_SRQ)
COMMAND(destroy_rmp, destroy_shared, RMP)
COMMAND(query_srq, query_shared, SRQ)
COMMAND(query_xrc_srq, query_shared, XRC_SRQ)
COMMAND(arm_srq, arm_shared, SRQ)
COMMAND(arm_xrc_srq, arm_shared, XRC_SRQ)
#undef COMMAND

#define CREATE_BYTES     vcx_offset(create_srq_in, pas)
#define CREATE_RMP_BYTES (vcx_offset(create_rmp_in, ctx) + RMP_BYTES)
#define QUERY_BYTES      (vcx_offset(query_srq_out, srq_context_entry) + CONTEXT_BYTES)

const struct vcx_command vcx_commands_srq[] = {
    {CREATE_SRQ, CREATE_BYTES, 16, create_srq},
    {CREATE_XRC_SRQ, CREATE_BYTES, 16, create_xrc_srq},
    {CREATE_RMP, CREATE_RMP_BYTES, 16, create_rmp},
    {DESTROY_SRQ, 16, 16, destroy_srq},
    {DESTROY_XRC_SRQ, 16, 16, destroy_xrc_srq},
    {DESTROY_RMP, 16, 16, destroy_rmp},
    {QUERY_SRQ, 16, QUERY_BYTES, query_srq},
    {QUERY_XRC_SRQ, 16, QUERY_BYTES, query_xrc_srq},
    {QUERY_RMP, 16, vcx_offset(query_rmp_out, rmp_context) + RMP_BYTES, query_rmp},
    {ARM_RQ, 16, 16, arm_srq},
    {ARM_XRC_SRQ, 16, 16, arm_xrc_srq},
    {MODIFY_RMP, vcx_offset(modify_rmp_in, ctx) + RMP_BYTES, 16, modify_rmp},
    {0},
};

/* ---- requests */

static void tell_limit(struct vcx_device *device, struct srq *srq)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    if (!srq->limit || posted_in(device, srq) >= srq->limit)
        return;
    srq->limit = 0;
    vcx_put32(data + EVENT_NUMBER, srq->object.id);
    vcx_event_write(device, VCX_EVENT_SRQ_LIMIT, 0, data);
}

static bool take_from(struct vcx_device *device, struct srq *srq, struct vcx_receive *receive)
{
    uint32_t stride = 1u << srq->log_stride, mask = (1u << srq->log_size) - 1;
    const uint8_t *wqe =
        vcx_buffer_at(device, &srq->buffer, (uint64_t)srq->head << srq->log_stride, stride, VCX_TO_READ);
    uint8_t *copy = device->transport->wqe;
    if (!wqe || !posted_in(device, srq))
        return false;
    memcpy(copy, wqe, stride);
    vcx_scatter_parse(copy + NEXT_BYTES, stride - NEXT_BYTES, &receive->memory);
    receive->index = srq->head;
    receive->rights = srq->rights;
    srq->head = (uint16_t)(vcx_be16(copy + NEXT_INDEX) & mask);
    srq->taken++;
    tell_limit(device, srq);
    return true;
}

bool vcx_srq_take(struct vcx_device *device, uint32_t id, struct vcx_receive *receive)
{
    struct srq *srq = vcx_object(device, VCX_SRQ, id);
    return srq && take_from(device, srq, receive);
}

static struct srq *find_xrc(struct vcx_device *device, uint32_t id, uint32_t domain)
{
    struct srq *srq = vcx_object(device, VCX_SRQ, id);
    return srq && srq->form == XRC_SRQ && srq->domain == domain ? srq : NULL;
}

bool vcx_srq_take_xrc(struct vcx_device *device, uint32_t id, uint32_t domain, struct vcx_receive *receive)
{
    struct srq *srq = find_xrc(device, id, domain);
    if (!srq)
        return false;
    receive->cq = srq->cq;
    receive->user_index = srq->user_index;
    return take_from(device, srq, receive);
}

uint32_t vcx_srq_pd(struct vcx_device *device, uint32_t id, uint32_t domain)
{
    const struct srq *srq = find_xrc(device, id, domain);
    return srq ? srq->rights.pd : NO_DOMAIN;
}
