// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/transport/work_queue.h"

#include "virtual-connectx/model/transport/srq.h"
#include "virtual-connectx/model/transport/transport.h"

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

/* How many requests, or blocks of them, are posted and not taken. More than the queue has: the record is wrong, for example lowered
 * below what was taken, which counts as nearly all of 65,536. */
static uint16_t posted_requests(struct vcx_device *device, const struct vcx_qp *qp,
                                const struct vcx_work_queue *queue, uint32_t where)
{
    const uint8_t *record = queue->count ? vcx_memory(device, qp->record, RECORD_BYTES, VCX_TO_READ) : NULL;
    return record ? (uint16_t)(vcx_shared32(record + where) - queue->next) : 0;
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

static uint8_t read_inline(struct rest *rest, struct vcx_scatter *memory, uint32_t bytes)
{
    const uint8_t *data = take_bytes(rest, bytes);
    if (!data || memory->count || memory->inlined)
        return VCX_LOCAL_OPERATION;
    memory->inlined = vcx_allocate(bytes + 1);
    if (!memory->inlined)
        return VCX_LOCAL_OPERATION;
    memcpy(memory->inlined, data, bytes);
    memory->bytes = bytes;
    take_bytes(rest, (uint32_t)vcx_least(rest->bytes, -(bytes + 4) & (UNIT - 1))); /* to a whole unit */
    return 0;
}

static uint8_t read_data(struct rest *rest, struct vcx_scatter *memory)
{
    while (rest->bytes >= UNIT) {
        uint32_t bytes = vcx_be32(rest->at);
        if (bytes & INLINE) {
            take_bytes(rest, 4);
            uint8_t syndrome = read_inline(rest, memory, bytes & INLINE_BYTES);
            if (syndrome)
                return syndrome;
            continue;
        }
        const uint8_t *segment = take_bytes(rest, UNIT);
        if (bytes && (memory->inlined ||
                      !vcx_scatter_add(memory, vcx_be32(segment + 4), bytes, vcx_be64(segment + 8))))
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
        return r->row->changes_key ? read_inline(rest, &r->memory, rest->bytes) : 0;
    uint8_t syndrome = read_headers(rest, qp, r);
    if (!syndrome)
        syndrome = read_data(rest, &r->memory);
    if (!syndrome)
        syndrome = check_length(qp, r);
    r->length = (uint32_t)r->memory.bytes;
    return syndrome;
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
    uint16_t ready = posted_requests(device, qp, &qp->sq, RECORD_SEND);
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
    r->syndrome = whole ? read_request(qp, &rest, r) : VCX_LOCAL_OPERATION;
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
    vcx_scatter_parse(device->transport->wqe, stride, &receive->memory);
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
        return vcx_srq_take_xrc(device, xrc_srq, (uint32_t)vcx_get(qp->context, qpc, xrcd), receive);
    if (qp->srq) {
        bool taken = vcx_srq_take(device, qp->srq, receive);
        receive->rights.reserved_key |= qp->rights.reserved_key;
        return taken;
    }
    return qp->rq.count && take_own(device, qp, receive);
}
