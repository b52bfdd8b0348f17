// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Work requests in the driver's memory: send requests, receive requests of queue pairs and shared queues,
 * and those that change memory keys. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/pace/pace.h"

#define SEGMENT_BYTES  16u   /* mlx5's struct mlx5_wqe_data_seg */
#define KEY_TERMINATES 0x100 /* mlx5's MLX5_INVALID_LKEY ends a receive request's list */

/* false: more stretches than there may be. */
static bool scatter_add(struct vcx_scatter *scatter, uint32_t key, uint32_t bytes, uint64_t address)
{
    if (scatter->count == VCX_MOST_STRETCHES)
        return false;
    scatter->stretch[scatter->count++] = (struct vcx_stretch){key, bytes, address};
    scatter->bytes += bytes;
    return true;
}

void vcx_scatter_clear(struct vcx_scatter *scatter)
{
    vcx_release(scatter->inlined);
    scatter->inlined = NULL;
    scatter->count = scatter->of_request = scatter->inlined_bytes = 0;
    scatter->bytes = 0;
}

/* The stretch that holds an offset, which becomes the offset in it; the count of stretches if none does. */
static uint32_t find_stretch(const struct vcx_scatter *scatter, uint64_t *offset)
{
    uint32_t i = 0;
    for (; i < scatter->count && *offset >= scatter->stretch[i].bytes; i++)
        *offset -= scatter->stretch[i].bytes;
    return i;
}

static bool is_of_request(const struct vcx_scatter *scatter, uint32_t stretch)
{
    return scatter->of_request >> stretch & 1;
}

bool vcx_scatter_stalls(struct vcx_device *device, const struct vcx_scatter *scatter, uint64_t offset)
{
    uint32_t i = find_stretch(scatter, &offset);
    const struct vcx_stretch *s = &scatter->stretch[i];
    return i < scatter->count && !is_of_request(scatter, i) &&
           vcx_pace_stalls(device, s->key, s->address + offset);
}

uint8_t vcx_scatter_read(struct vcx_device *device, struct vcx_rights rights,
                         const struct vcx_scatter *scatter, uint64_t offset, void *to, uint32_t bytes)
{
    if (offset > scatter->bytes || bytes > scatter->bytes - offset)
        return VCX_LOCAL_RANGE;
    for (uint32_t i = find_stretch(scatter, &offset); bytes; i++, offset = 0) {
        const struct vcx_stretch *s = &scatter->stretch[i];
        uint32_t part = (uint32_t)vcx_least(bytes, s->bytes - offset);
        if (is_of_request(scatter, i))
            memcpy(to, scatter->inlined + s->address + offset, part);
        else if (!vcx_mkey_read(device, rights, s->key, VCX_LOCAL_READ, s->address + offset, to, part))
            return (uint8_t)vcx_mkey_refusal(device, rights, s->key, VCX_LOCAL_READ);
        to = (uint8_t *)to + part;
        bytes -= part;
    }
    return 0;
}

uint8_t vcx_scatter_write(struct vcx_device *device, struct vcx_rights rights,
                          const struct vcx_scatter *scatter, uint64_t offset, const void *from,
                          uint32_t bytes)
{
    if (scatter->inlined || offset > scatter->bytes || bytes > scatter->bytes - offset)
        return VCX_LOCAL_RANGE;
    for (uint32_t i = find_stretch(scatter, &offset); bytes; i++, offset = 0) {
        const struct vcx_stretch *s = &scatter->stretch[i];
        uint32_t part = (uint32_t)vcx_least(bytes, s->bytes - offset);
        if (!vcx_mkey_write(device, rights, s->key, VCX_LOCAL_WRITE, s->address + offset, from, part))
            return (uint8_t)vcx_mkey_refusal(device, rights, s->key, VCX_LOCAL_WRITE);
        from = (const uint8_t *)from + part;
        bytes -= part;
    }
    return 0;
}

/* The data segments of a receive request. */
static void scatter_parse(const uint8_t *segments, uint32_t bytes, struct vcx_scatter *scatter)
{
    memset(scatter, 0, sizeof *scatter);
    for (; bytes >= SEGMENT_BYTES; segments += SEGMENT_BYTES, bytes -= SEGMENT_BYTES) {
        uint32_t key = vcx_be32(segments + 4), length = vcx_be32(segments) & VCX_RECEIVE_BYTES;
        if (key == KEY_TERMINATES || (length && !scatter_add(scatter, key, length, vcx_be64(segments + 8))))
            return;
    }
}

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

const struct vcx_kind_of_object vcx_kind_srq = {"shared receive queue", 17, 1, sizeof(struct srq), clear_srq};

/* ---- shared receive queues: commands */

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
static struct srq *srq_of_command(struct vcx_call *call, enum form form)
{
    struct srq *srq = vcx_object(call->device, VCX_SRQ, (uint32_t)vcx_get(call->in, query_srq_in, srqn));
    return srq && srq->form == form ? srq : NULL;
}

static enum vcx_status destroy_shared(struct vcx_call *call, enum form form)
{
    const struct srq *srq = srq_of_command(call, form);
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
    const struct srq *srq = srq_of_command(call, form);
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
    const struct srq *srq = srq_of_command(call, RMP);
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
    struct srq *srq = srq_of_command(call, form);
    if (!srq)
        return VCX_BAD_RESOURCE;
    srq->limit = (uint16_t)vcx_get(call->in, arm_rq_in, lwm);
    return VCX_OK;
}

static enum vcx_status modify_rmp(struct vcx_call *call)
{
    struct srq *srq = srq_of_command(call, RMP);
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
    scatter_parse(copy + NEXT_BYTES, stride - NEXT_BYTES, &receive->memory);
    receive->index = srq->head;
    receive->rights = srq->rights;
    srq->head = (uint16_t)(vcx_be16(copy + NEXT_INDEX) & mask);
    srq->taken++;
    tell_limit(device, srq);
    return true;
}

static struct srq *find_xrc(struct vcx_device *device, uint32_t id, uint32_t domain)
{
    struct srq *srq = vcx_object(device, VCX_SRQ, id);
    return srq && srq->form == XRC_SRQ && srq->domain == domain ? srq : NULL;
}

/* The same of XRC: the queue has to be of the domain, and names the completion queue. */
static bool srq_take_xrc(struct vcx_device *device, uint32_t id, uint32_t domain, struct vcx_receive *receive)
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

/* doorbell record */
#define RECORD_RECEIVE 0
#define RECORD_SEND    4
#define RECORD_BYTES   8u

/* a send request: units of 16 bytes, in blocks of 64 (mlx5's struct mlx5_wqe_*_seg) */
#define UNIT           16u
#define BLOCK          64u
#define CONTROL_DS     0x3f
#define CONTROL_FLAGS  11
#define CONTROL_IMM    12
#define FLAG_COMPLETE  (2 << 2)
#define FLAG_SOLICITED (1 << 1)
#define FENCE_SHIFT    5
#define FENCE_LEAST    2 /* from here on earlier reads and atomic operations are waited for */
#define INLINE         0x80000000u
#define INLINE_BYTES   0x3ffu
#define EXTENDED_UD_AV 0x80 /* in the byte of the address vector that precedes the queue pair's number */
#define VECTOR_QPN     8
#define LOG_MOST_BYTES 30 /* QUERY_HCA_CAP's log_max_msg */

#define RC    (1 << VCX_QP_RC | 1 << VCX_QP_XRC)
#define UC    (1 << VCX_QP_UC)
#define UD    (1 << VCX_QP_UD | 1 << VCX_QP_GSI)
#define UMR   (1 << VCX_QP_UMR)
#define EVERY 0xffff

static const struct vcx_send_row rows[] = {
    {.opcode = 0x00, .services = EVERY, .local = true}, /* NOP */
    {.opcode = 0x01, .services = RC, .first = VCX_SEND_FIRST, .invalidate = true},
    {.opcode = 0x08, .services = RC | UC, .first = VCX_WRITE_FIRST, .remote = true},
    {.opcode = 0x09, .services = RC | UC, .first = VCX_WRITE_FIRST, .remote = true, .immediate = true},
    {.opcode = 0x0a, .services = RC | UC | UD, .first = VCX_SEND_FIRST},
    {.opcode = 0x0b, .services = RC | UC | UD, .first = VCX_SEND_FIRST, .immediate = true},
    {.opcode = 0x10, .services = RC, .first = VCX_READ_REQUEST, .remote = true, .fetches = true},
    {.opcode = 0x11,
     .services = RC,
     .first = VCX_COMPARE_SWAP,
     .remote = true,
     .fetches = true,
     .atomic = true},
    {.opcode = 0x25, .services = RC | UC | UMR, .local = true, .changes_key = true}, /* UMR */
    {.opcode = 0x12, .services = RC, .first = VCX_FETCH_ADD, .remote = true, .fetches = true, .atomic = true},
};

static const struct vcx_send_row *row_of(uint8_t opcode, enum vcx_qp_type type)
{
    for (size_t i = 0; i < VCX_COUNT(rows); i++)
        if (rows[i].opcode == opcode && rows[i].services & 1 << type)
            return &rows[i];
    return NULL;
}

/* How many requests, or blocks of them, are posted and not taken. A record below what was taken announces
 * nothing. More than the queue has: the record is wrong. */
static uint16_t posted_requests(struct vcx_device *device, const struct vcx_qp *qp,
                                const struct vcx_work_queue *queue, uint32_t where)
{
    const uint8_t *record = queue->count ? vcx_memory(device, qp->record, RECORD_BYTES, VCX_TO_READ) : NULL;
    uint16_t ready = record ? (uint16_t)(vcx_shared32(record + where) - queue->next) : 0;
    bool is_below = ready > queue->count && 0x10000u - ready <= queue->count;
    return is_below ? 0 : ready;
}

bool vcx_send_is_recorded(struct vcx_device *device, const struct vcx_qp *qp, uint16_t index)
{
    const uint8_t *record = vcx_memory(device, qp->record, RECORD_BYTES, VCX_TO_READ);
    uint16_t after = record ? (uint16_t)(vcx_shared32(record + RECORD_SEND) - index) : 0;
    return after && (after <= qp->sq.count || 0x10000u - after > qp->sq.count);
}

/* ---- doorbells: the first eight bytes of the last request posted, written into the queue pair's UAR page.
 * What is seen there is the last that a program rang: requests are taken by the record too, which is never
 * missed. */
#define DOORBELL_FIRST 0x800u
#define DOORBELL_STEP  0x100u
#define DOORBELL_QPN   4u

static void doorbell_read(struct vcx_device *device, uint32_t uar, uint32_t at)
{
    uint32_t who = device->ops->bar_read(device->front, at + DOORBELL_QPN);
    struct vcx_qp *qp = who ? vcx_object(device, VCX_QP, who >> 8) : NULL;
    if (!qp || vcx_get(qp->context, qpc, uar_page) != uar)
        return;
    uint32_t what = device->ops->bar_read(device->front, at);
    uint16_t after = (uint16_t)((what >> 8) + vcx_divide_up(who & CONTROL_DS, BLOCK / UNIT));
    if (device->ops->bar_read(device->front, at + DOORBELL_QPN) != who)
        return; /* rung in between, by another */
    if (!qp->rung || (int16_t)(after - qp->announced) > 0)
        qp->announced = after;
    qp->rung = true;
}

void vcx_doorbells_read(struct vcx_device *device)
{
    for (struct vcx_object *uar = vcx_object_from(device, VCX_UAR, 0); uar;
         uar = vcx_object_from(device, VCX_UAR, uar->id + 1))
        for (uint32_t at = DOORBELL_FIRST; at < VCX_PAGE_BYTES; at += DOORBELL_STEP)
            doorbell_read(device, uar->id, uar->id * VCX_PAGE_BYTES + at);
}

void vcx_doorbells_clear(struct vcx_device *device, struct vcx_qp *qp)
{
    uint32_t page = (uint32_t)vcx_get(qp->context, qpc, uar_page);
    qp->rung = false;
    if (!vcx_object(device, VCX_UAR, page))
        return;
    for (uint32_t at = DOORBELL_FIRST; at < VCX_PAGE_BYTES; at += DOORBELL_STEP) {
        uint32_t place = page * VCX_PAGE_BYTES + at + DOORBELL_QPN;
        if (device->ops->bar_read(device->front, place) >> 8 == qp->object.id)
            device->ops->bar_write(device->front, place, 0);
    }
}

/* A queue pair that works executes what either announces; one in error completes what is recorded. */
static uint16_t posted_sends(struct vcx_device *device, const struct vcx_qp *qp)
{
    uint16_t recorded = posted_requests(device, qp, &qp->sq, RECORD_SEND),
             rung = qp->rung && qp->state == VCX_QP_RTS ? (uint16_t)(qp->announced - qp->sq.next) : 0;
    return recorded || rung > qp->sq.count ? recorded : rung;
}

/* ---- reading a send request */

/* What is left of a request. */
struct rest {
    const uint8_t *at;
    uint32_t bytes;
};

static const uint8_t *take_bytes(struct rest *rest, uint32_t bytes)
{
    const uint8_t *at = rest->at;
    if (bytes > rest->bytes)
        return NULL;
    rest->at += bytes;
    rest->bytes -= bytes;
    return at;
}

/* Keeps bytes of the request: their memory, made for the first ones, has room for all that are left. */
static bool keep_inlined(const struct rest *rest, struct vcx_scatter *memory, const uint8_t *data,
                         uint32_t bytes)
{
    if (!memory->inlined)
        memory->inlined = vcx_allocate(bytes + rest->bytes + 1);
    if (!memory->inlined)
        return false;
    memcpy(memory->inlined + memory->inlined_bytes, data, bytes);
    memory->inlined_bytes += bytes;
    return true;
}

/* Data that stands in the request. UCX has a header there, and the rest in memory. */
static uint8_t read_inline(struct rest *rest, struct vcx_scatter *memory, uint32_t bytes)
{
    const uint8_t *data = take_bytes(rest, bytes);
    uint32_t at = memory->inlined_bytes, stretch = memory->count;
    if (!data || (bytes && !scatter_add(memory, 0, bytes, at)) || !keep_inlined(rest, memory, data, bytes))
        return VCX_LOCAL_OPERATION;
    if (bytes)
        memory->of_request |= 1u << stretch;
    take_bytes(rest, (uint32_t)vcx_least(rest->bytes, -(bytes + 4) & (UNIT - 1))); /* to a whole unit */
    return 0;
}

/* All that is left of a request that changes a key. */
static uint8_t read_change(struct rest *rest, struct vcx_scatter *memory)
{
    memory->bytes = rest->bytes;
    return keep_inlined(&(struct rest){0}, memory, rest->at, rest->bytes) ? 0 : VCX_LOCAL_OPERATION;
}

static uint8_t read_data(struct rest *rest, struct vcx_scatter *memory)
{
    while (rest->bytes >= UNIT) {
        uint32_t bytes = vcx_be32(rest->at);
        if (bytes & INLINE) {
            take_bytes(rest, 4);
            uint8_t ending = read_inline(rest, memory, bytes & INLINE_BYTES);
            if (ending)
                return ending;
            continue;
        }
        const uint8_t *segment = take_bytes(rest, UNIT);
        if (bytes && !scatter_add(memory, vcx_be32(segment + 4), bytes, vcx_be64(segment + 8)))
            return VCX_LOCAL_OPERATION;
    }
    return 0;
}

/* The segments before the data: which there are depends on the opcode and on the kind of queue pair. */
static uint8_t read_headers(struct rest *rest, const struct vcx_qp *qp, struct vcx_request *r)
{
    const uint8_t *at = NULL;
    if (vcx_qp_is_datagram(qp)) {
        if (!(at = take_bytes(rest, VCX_VECTOR_BYTES)) || !(at[VECTOR_QPN] & EXTENDED_UD_AV))
            return VCX_LOCAL_OPERATION;
        memcpy(r->vector, at, VCX_VECTOR_BYTES);
    }
    if (qp->type == VCX_QP_XRC) {
        if (!(at = take_bytes(rest, UNIT)))
            return VCX_LOCAL_OPERATION;
        r->xrc_srq = vcx_be32(at) & 0xffffff;
    }
    if (r->row->remote) {
        if (!(at = take_bytes(rest, UNIT)))
            return VCX_LOCAL_OPERATION;
        r->address = vcx_be64(at);
        r->key = vcx_be32(at + 8);
    }
    if (r->row->atomic) {
        if (!(at = take_bytes(rest, UNIT)))
            return VCX_LOCAL_OPERATION;
        r->swap_add = vcx_be64(at);
        r->compare = vcx_be64(at + 8);
    }
    return 0;
}

static uint8_t check_length(const struct vcx_qp *qp, const struct vcx_request *r)
{
    if (r->memory.bytes > 1u << LOG_MOST_BYTES)
        return VCX_LOCAL_LENGTH;
    if (r->row->atomic && r->memory.bytes != 8)
        return VCX_LOCAL_LENGTH;
    if (r->row->fetches && r->memory.inlined)
        return VCX_LOCAL_OPERATION;
    return vcx_qp_is_datagram(qp) && r->memory.bytes > qp->mtu ? VCX_LOCAL_LENGTH : 0;
}

static uint8_t read_request(const struct vcx_qp *qp, struct rest *rest, struct vcx_request *r)
{
    const uint8_t *control = take_bytes(rest, UNIT);
    uint8_t flags = control[CONTROL_FLAGS];
    r->opcode = control[3];
    r->signaled = flags & FLAG_COMPLETE;
    r->solicited = flags & FLAG_SOLICITED;
    r->fenced = flags >> FENCE_SHIFT >= FENCE_LEAST;
    memcpy(r->immediate, control + CONTROL_IMM, 4);
    r->row = row_of(r->opcode, qp->type);
    if (!r->row)
        return VCX_LOCAL_OPERATION;
    if (r->row->local)
        return r->row->changes_key ? read_change(rest, &r->memory) : 0;
    uint8_t ending = read_headers(rest, qp, r);
    if (!ending)
        ending = read_data(rest, &r->memory);
    if (!ending)
        ending = check_length(qp, r);
    r->length = (uint32_t)r->memory.bytes;
    return ending;
}

/* Copies blocks from the queue's counter on. */
static bool copy_blocks(struct vcx_device *device, const struct vcx_qp *qp, uint32_t blocks, uint8_t *to)
{
    for (uint32_t i = 0; i < blocks; i++) {
        uint64_t at = qp->sq.offset + (uint64_t)((qp->sq.next + i) & (qp->sq.count - 1)) * BLOCK;
        const uint8_t *block = vcx_buffer_at(device, &qp->buffer, at, BLOCK, VCX_TO_READ);
        if (!block)
            return false;
        memcpy(to + (size_t)BLOCK * i, block, BLOCK);
    }
    return true;
}

static bool count_blocks(const uint8_t *wqe, uint16_t ready, uint32_t *units, uint32_t *blocks)
{
    *units = wqe[7] & CONTROL_DS;
    *blocks = (uint32_t)vcx_divide_up(*units, BLOCK / UNIT);
    return *units && *blocks <= ready;
}

bool vcx_send_fetch(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *r)
{
    uint8_t *wqe = device->transport->wqe;
    uint16_t ready = posted_sends(device, qp);
    uint32_t units = 0, blocks = 1;
    if (ready > qp->sq.count)
        vcx_qp_catastrophe(device, qp);
    if (!ready || ready > qp->sq.count)
        return false;
    memset(r, 0, sizeof *r);
    r->index = qp->sq.next;
    bool whole = copy_blocks(device, qp, 1, wqe) && count_blocks(wqe, ready, &units, &blocks) &&
                 copy_blocks(device, qp, blocks, wqe);
    wqe[7] = (uint8_t)((wqe[7] & ~CONTROL_DS) | units); /* the size that was checked */
    struct rest rest = {wqe, units * UNIT};
    r->ending = whole ? read_request(qp, &rest, r) : VCX_LOCAL_OPERATION;
    r->opcode = wqe[3];
    qp->sq.next = (uint16_t)(qp->sq.next + (whole ? blocks : 1));
    return true;
}

/* ---- receive requests */

static bool take_own(struct vcx_device *device, struct vcx_qp *qp, struct vcx_receive *receive)
{
    uint32_t stride = 1u << qp->rq.log_stride;
    uint64_t at = (uint64_t)(qp->rq.next & (qp->rq.count - 1)) << qp->rq.log_stride;
    const uint8_t *wqe = vcx_buffer_at(device, &qp->buffer, at, stride, VCX_TO_READ);
    if (!wqe || !vcx_receive_skip(device, qp, &receive->index))
        return false;
    memcpy(device->transport->wqe, wqe, stride);
    scatter_parse(device->transport->wqe, stride, &receive->memory);
    receive->rights = qp->rights;
    return true;
}

bool vcx_receive_skip(struct vcx_device *device, struct vcx_qp *qp, uint16_t *index)
{
    uint16_t ready = posted_requests(device, qp, &qp->rq, RECORD_RECEIVE);
    if (!ready || ready > qp->rq.count)
        return false;
    *index = qp->rq.next++;
    return true;
}

bool vcx_receive_take(struct vcx_device *device, struct vcx_qp *qp, uint32_t xrc_srq,
                      struct vcx_receive *receive)
{
    receive->cq = qp->receive_cq;
    receive->user_index = qp->user_index;
    if (qp->type == VCX_QP_XRC)
        return srq_take_xrc(device, xrc_srq, (uint32_t)vcx_get(qp->context, qpc, xrcd), receive);
    if (qp->srq) {
        struct srq *srq = vcx_object(device, VCX_SRQ, qp->srq);
        bool taken = srq && take_from(device, srq, receive);
        receive->rights.reserved_key |= qp->rights.reserved_key;
        return taken;
    }
    return qp->rq.count && take_own(device, qp, receive);
}

/* ---- requests that change memory keys (UMR): fast registration, memory windows, local invalidation */

/* mlx5's struct mlx5_wqe_umr_ctrl_seg */
#define FLAGS            0
#define UNITS            4
#define OFFSET           6
#define MASK             8
#define OFFSET_HIGH      16
#define CONTROL_BYTES    48u
#define UMR_HEADER_BYTES (CONTROL_BYTES + VCX_MKEY_CONTEXT_BYTES)

static void read_header(const struct vcx_qp *qp, const struct vcx_request *q, struct vcx_change *change)
{
    const uint8_t *control = q->memory.inlined;
    *change = (struct vcx_change){.key = vcx_be32(q->immediate),
                                  .flags = control[FLAGS],
                                  .registers = vcx_get(qp->context, qpc, fre),
                                  .mask = vcx_be64(control + MASK),
                                  .context = control + CONTROL_BYTES,
                                  .units = vcx_be16(control + UNITS),
                                  .offset = (uint64_t)vcx_be32(control + OFFSET_HIGH) << 16 |
                                            vcx_be16(control + OFFSET)};
}

/* The list that the request's data segments point to. */
static uint8_t list_gather(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q,
                           uint8_t *list, uint32_t bytes)
{
    const uint8_t *at = q->memory.inlined + UMR_HEADER_BYTES, *end = q->memory.inlined + q->memory.bytes;
    for (uint32_t part; bytes; at += SEGMENT_BYTES, list += part, bytes -= part) {
        if (end - at < (ptrdiff_t)SEGMENT_BYTES)
            return VCX_LOCAL_LENGTH;
        part = (uint32_t)vcx_least(vcx_be32(at), bytes);
        if (part && !vcx_mkey_read(device, qp->rights, vcx_be32(at + 4), VCX_LOCAL_READ, vcx_be64(at + 8),
                                   list, part))
            return VCX_LOCAL_PROTECTION;
    }
    return 0;
}

static uint8_t apply_change(struct vcx_device *device, const struct vcx_qp *qp,
                            const struct vcx_change *change)
{
    return vcx_mkey_change(device, qp->rights, change) ? 0 : VCX_MEMORY_WINDOW_BIND;
}

static uint8_t change_inlined(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q,
                              struct vcx_change *change)
{
    change->list = q->memory.inlined + UMR_HEADER_BYTES;
    if ((uint64_t)change->units * VCX_LIST_UNIT > q->memory.bytes - UMR_HEADER_BYTES)
        return VCX_LOCAL_LENGTH;
    return apply_change(device, qp, change);
}

static uint8_t change_gathered(struct vcx_device *device, const struct vcx_qp *qp,
                               const struct vcx_request *q, struct vcx_change *change)
{
    uint32_t bytes = change->units * VCX_LIST_UNIT;
    uint8_t *list = bytes ? vcx_allocate(bytes) : NULL, ending = VCX_LOCAL_OPERATION;
    change->list = list;
    if (list || !bytes)
        ending = list_gather(device, qp, q, list, bytes);
    if (!ending)
        ending = apply_change(device, qp, change);
    vcx_release(list);
    return ending;
}

uint8_t vcx_umr_execute(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q)
{
    struct vcx_change change;
    if (q->memory.bytes < UMR_HEADER_BYTES)
        return VCX_LOCAL_OPERATION;
    read_header(qp, q, &change);
    return change.flags & VCX_CHANGE_INLINE ? change_inlined(device, qp, q, &change)
                                            : change_gathered(device, qp, q, &change);
}
