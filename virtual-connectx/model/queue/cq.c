// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/queue/cq.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/command/domains.h"
#include "virtual-connectx/model/memory.h"
#include "virtual-connectx/model/queue/eq.h"

#define CREATE_CQ  0x400
#define DESTROY_CQ 0x401
#define QUERY_CQ   0x402
#define MODIFY_CQ  0x403

/* mlx5's CQE_STRIDE_*; a completion is the second half of 128 bytes, of which the first is written only to
 * pad it */
#define STRIDE_64        0
#define STRIDE_PADDED    2
#define OWNER_AND_OPCODE 63
#define CONTEXT_BYTES    64
/* bits of modify_field_select */
#define MODIFY_PERIOD  1
#define MODIFY_COUNT   2
#define MODIFY_OVERRUN 4
#define MODIFY_FIELDS  (MODIFY_PERIOD | MODIFY_COUNT | MODIFY_OVERRUN)
/* op_mod of MODIFY_CQ, and the bits of its fields that a resize has to give: size, page offset, page size */
#define MODERATE        0
#define RESIZE          1
#define RESIZE_FIELDS   7
#define NS_PER_US       1000u
#define STATUS_OVERFLOW 9 /* mlx5's MLX5_CQC_STATUS_CQ_OVERFLOW */
/* the doorbell record: consumer index, then the arm word */
#define RECORD_BYTES  8u
#define RECORD_ARM    4
#define ARM_SOLICITED (1u << 24) /* only by solicited completions (mlx5's MLX5_CQ_DB_REQ_NOT_SOL) */

struct cq {
    struct vcx_object object;
    struct vcx_buffer buffer;
    uint8_t log_size, log_stride;
    bool pads, ignores_overrun;
    bool overran; /* for good: completions were lost */
    uint32_t eq;
    uint64_t record;              /* bus address */
    uint32_t producer, solicited; /* completions; the producer after the last solicited one */
    uint32_t events;              /* so far: armed while the record's sequence number equals it */
    /* moderation: the driver is told when this many completions wait, or this long after the first was
     * noticed */
    uint16_t most_waiting, longest_us;
    bool waits;
    uint64_t waits_since_ns;
    uint8_t context[CONTEXT_BYTES];
};

static void clear_cq(struct vcx_device *device, void *cq)
{
    (void)device;
    vcx_buffer_clear(&((struct cq *)cq)->buffer);
}

const struct vcx_kind_of_object vcx_kind_cq = {"completion queue", 17, 1, sizeof(struct cq), clear_cq};

static void set_moderation(struct cq *cq)
{
    cq->most_waiting = (uint16_t)vcx_get(cq->context, cqc, cq_max_count);
    cq->longest_us = (uint16_t)vcx_get(cq->context, cqc, cq_period);
}

/* Entries as a context describes them, in the pages that the command lists. */
static int take_buffer(struct cq *cq, const struct vcx_call *call, const uint8_t *context, uint32_t list)
{
    uint64_t stride = vcx_get(context, cqc, cqe_sz);
    if (stride > STRIDE_PADDED)
        return -1;
    cq->log_size = (uint8_t)vcx_get(context, cqc, log_cq_size);
    cq->log_stride = stride == STRIDE_64 ? 6 : 7;
    cq->pads = stride == STRIDE_PADDED;
    return vcx_buffer_init(&cq->buffer, call->in + list, (call->in_bytes - list) / 8,
                           (uint32_t)vcx_get(context, cqc, log_page_size),
                           (uint32_t)vcx_get(context, cqc, page_offset),
                           1ull << (cq->log_size + cq->log_stride));
}

static int init_cq(struct cq *cq, const struct vcx_call *call)
{
    const uint8_t *context = vcx_at(call->in, create_cq_in, cq_context);
    cq->ignores_overrun = vcx_get(context, cqc, oi);
    cq->eq = (uint32_t)vcx_get(context, cqc, c_eqn_or_apu_element);
    cq->record = vcx_get(context, cqc, dbr_addr);
    memcpy(cq->context, context, sizeof cq->context);
    set_moderation(cq);
    if (!vcx_memory(call->device, cq->record, RECORD_BYTES, VCX_TO_READ) ||
        !vcx_object(call->device, VCX_EQ, cq->eq))
        return -1;
    return take_buffer(cq, call, context, vcx_offset(create_cq_in, pas));
}

static enum vcx_status create_cq(struct vcx_call *call)
{
    struct cq *cq = vcx_object_new(call->device, VCX_CQ);
    if (!cq)
        return VCX_NO_RESOURCES;
    if (init_cq(cq, call) != 0) {
        vcx_object_free(call->device, VCX_CQ, cq->object.id);
        return VCX_BAD_PARAMETER;
    }
    vcx_set(call->out, create_cq_out, cqn, cq->object.id);
    return VCX_OK;
}

static enum vcx_status destroy_cq(struct vcx_call *call)
{
    return vcx_object_free(call->device, VCX_CQ, (uint32_t)vcx_get(call->in, destroy_cq_in, cqn))
               ? VCX_OK
               : VCX_BAD_RESOURCE;
}

static enum vcx_status query_cq(struct vcx_call *call)
{
    struct cq *cq = vcx_object(call->device, VCX_CQ, (uint32_t)vcx_get(call->in, query_cq_in, cqn));
    if (!cq)
        return VCX_BAD_RESOURCE;
    uint8_t *context = vcx_at(call->out, query_cq_out, cq_context);
    memcpy(context, cq->context, sizeof cq->context);
    vcx_set(context, cqc, producer_counter, cq->producer);
    vcx_set(context, cqc, status, cq->overran ? STATUS_OVERFLOW : 0);
    return VCX_OK;
}

/* Moderation and what happens on overrun. */
static enum vcx_status cq_moderate(struct cq *cq, const uint8_t *context, uint64_t fields)
{
    if (fields & ~(uint64_t)MODIFY_FIELDS)
        return VCX_BAD_PARAMETER;
    if (fields & MODIFY_PERIOD)
        vcx_set(cq->context, cqc, cq_period, vcx_get(context, cqc, cq_period));
    if (fields & MODIFY_COUNT)
        vcx_set(cq->context, cqc, cq_max_count, vcx_get(context, cqc, cq_max_count));
    if (fields & MODIFY_OVERRUN) {
        cq->ignores_overrun = vcx_get(context, cqc, oi);
        vcx_set(cq->context, cqc, oi, cq->ignores_overrun);
    }
    set_moderation(cq);
    return VCX_OK;
}

/* Completions that the driver has not taken. */
static uint32_t cq_entries_waiting(struct vcx_device *device, const struct cq *cq)
{
    const uint8_t *record = vcx_memory(device, cq->record, RECORD_BYTES, VCX_TO_READ);
    return record ? (cq->producer - vcx_shared32(record)) & 0xffffff : 0;
}

static uint8_t *entry_at(struct vcx_device *device, const struct cq *cq)
{
    uint32_t index = cq->producer & ((1u << cq->log_size) - 1), stride = 1u << cq->log_stride;
    uint8_t *entry =
        vcx_buffer_at(device, &cq->buffer, (uint64_t)index << cq->log_stride, stride, VCX_TO_WRITE);
    return entry ? entry + stride - VCX_CQE_BYTES : NULL;
}

static void hand_over(struct cq *cq, uint8_t *entry, enum vcx_completion_opcode opcode)
{
    vcx_share8(entry + OWNER_AND_OPCODE, (uint8_t)(opcode << 4 | (cq->producer >> cq->log_size & 1)));
    cq->producer++;
}

/* The last entry of the old memory says that what follows is in the new; the driver moves what it has not
 * taken. */
static enum vcx_status cq_resize(struct vcx_call *call, struct cq *cq)
{
    const uint8_t *context = vcx_at(call->in, modify_cq_in, cq_context);
    uint8_t *entry = entry_at(call->device, cq);
    uint32_t needed = cq_entries_waiting(call->device, cq) + 1;
    struct cq old = *cq;
    if (!entry || needed > 1u << cq->log_size || needed > 1u << vcx_get(context, cqc, log_cq_size))
        return VCX_BAD_SIZE;
    if (take_buffer(cq, call, context, vcx_offset(modify_cq_in, pas)) != 0) {
        *cq = old;
        return VCX_BAD_PARAMETER;
    }
    memset(entry, 0, OWNER_AND_OPCODE);
    hand_over(&old, entry, VCX_CQE_RESIZE);
    cq->producer = old.producer;
    vcx_buffer_clear(&old.buffer);
    vcx_set(cq->context, cqc, log_cq_size, cq->log_size);
    vcx_set(cq->context, cqc, log_page_size, vcx_get(context, cqc, log_page_size));
    vcx_set(cq->context, cqc, page_offset, vcx_get(context, cqc, page_offset));
    return VCX_OK;
}

static enum vcx_status modify_cq(struct vcx_call *call)
{
    struct cq *cq = vcx_object(call->device, VCX_CQ, (uint32_t)vcx_get(call->in, modify_cq_in, cqn));
    uint64_t fields = vcx_get(call->in, modify_cq_in, modify_field_select),
             what = vcx_get(call->in, nop_in, op_mod);
    if (!cq)
        return VCX_BAD_RESOURCE;
    if (what == MODERATE)
        return cq_moderate(cq, vcx_at(call->in, modify_cq_in, cq_context), fields);
    return what == RESIZE && fields == RESIZE_FIELDS && call->in_bytes >= vcx_offset(modify_cq_in, pas)
               ? cq_resize(call, cq)
               : VCX_BAD_PARAMETER;
}

const struct vcx_command vcx_commands_cq[] = {
    {CREATE_CQ, vcx_offset(create_cq_in, pas), 16, create_cq},
    {DESTROY_CQ, 16, 16, destroy_cq},
    {QUERY_CQ, 16, vcx_offset(query_cq_out, cq_context) + CONTEXT_BYTES, query_cq},
    {MODIFY_CQ, vcx_offset(modify_cq_in, cq_context) + CONTEXT_BYTES, 16, modify_cq},
    {0},
};

/* ---- completions */

/* Vendor's bytes and what counts: measured on ConnectX-5 (16.35) and ConnectX-6 (20.40, 20.43),
 * unionxic/rdma-fault-characterization, 2026: docs/virtual-connectx.md, "Errors". A flush counts as an error
 * only where it is the first; req_cqe_flush_error and the responder's counters of refusals never moved. */
#define COUNTS(member) offsetof(struct vcx_counter_set, member)
const struct vcx_ending_row vcx_endings[VCX_ENDINGS] = {
    [VCX_LOCAL_LENGTH] = {0x01, 0, true, COUNTS(req_local_length_error), COUNTS(resp_local_length_error)},
    [VCX_LOCAL_OPERATION] = {0x02, 0, true, COUNTS(local_operation_error), 0},
    [VCX_LOCAL_PROTECTION] = {0x04, 0, true, 0, COUNTS(resp_local_protection)},
    [VCX_LOCAL_KEY] = {0x04, 0x52, true, 0, COUNTS(resp_local_protection)},
    [VCX_LOCAL_RANGE] = {0x04, 0x53, true, 0, COUNTS(resp_local_protection)},
    [VCX_LOCAL_RIGHTS] = {0x04, 0x33, true, 0, COUNTS(resp_local_protection)},
    [VCX_FLUSHED_FIRST] = {0x05, 0xf5, true, 0, COUNTS(resp_cqe_flush_error)},
    [VCX_FLUSHED] = {0x05, 0xf9, false, 0, COUNTS(resp_cqe_flush_error)},
    [VCX_MEMORY_WINDOW_BIND] = {0x06, 0, true, COUNTS(local_operation_error), 0},
    [VCX_BAD_RESPONSE] = {0x10, 0, true, COUNTS(req_bad_response), 0},
    [VCX_LOCAL_ACCESS] = {0x11, 0, true, 0, 0},
    [VCX_REMOTE_INVALID] = {0x12, 0x8a, true, COUNTS(req_remote_invalid_request), 0},
    [VCX_REMOTE_ACCESS] = {0x13, 0x88, true, COUNTS(req_remote_access_errors), 0},
    [VCX_REMOTE_OPERATION] = {0x14, 0x89, true, COUNTS(req_remote_operation_errors), 0},
    [VCX_RETRIES_EXCEEDED] = {0x15, 0x81, true, COUNTS(req_transport_retries_exceeded), 0},
    [VCX_RNR_RETRIES_EXCEEDED] = {0x16, 0x87, true, COUNTS(req_rnr_retries_exceeded), 0},
};
#undef COUNTS

void vcx_cqe_put_ending(uint8_t *completion, enum vcx_ending ending)
{
    completion[VCX_CQE_SYNDROME] = vcx_endings[ending].syndrome;
    completion[VCX_CQE_VENDOR_SYNDROME] = vcx_endings[ending].vendor;
}

/* The queue is full: the driver is told once, and nothing is written any more, as completions between
 * would be missing. */
static void cq_overrun(struct vcx_device *device, struct cq *cq)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    cq->overran = true;
    vcx_put32(data, cq->object.id);
    data[11] = 1; /* syndrome: overrun */
    vcx_event_write(device, VCX_EVENT_CQ_ERROR, 0, data);
}

/* Too few completions and too early for an event. Without a time nothing waits: the driver would never
 * hear of the last ones. */
static bool holds_back(struct vcx_device *device, struct cq *cq, uint32_t unseen)
{
    if (!cq->longest_us || unseen >= cq->most_waiting)
        return false;
    if (!cq->waits) {
        cq->waits = true;
        cq->waits_since_ns = vcx_now_ns(device);
    }
    return vcx_now_ns(device) - cq->waits_since_ns < cq->longest_us * (uint64_t)NS_PER_US;
}

/* A completion event is written when the driver armed the queue and there is a completion that it has not
 * seen. */
static bool cq_notify(struct vcx_device *device, struct cq *cq)
{
    const uint8_t *record = vcx_memory(device, cq->record, RECORD_BYTES, VCX_TO_READ);
    uint32_t arm = record ? vcx_shared32(record + RECORD_ARM) : 0;
    uint32_t behind = ((arm & ARM_SOLICITED ? cq->solicited : cq->producer) - arm) & 0xffffff;
    bool armed = record && (arm >> 28 & 3) == (cq->events & 3);
    if (!armed || behind == 0 || behind > 1u << cq->log_size) {
        cq->waits = false;
        return false;
    }
    if (holds_back(device, cq, behind))
        return false;
    cq->events++;
    cq->waits = false;
    vcx_eq_completion(device, cq->eq, cq->object.id);
    return true;
}

bool vcx_cq_write(struct vcx_device *device, uint32_t id, enum vcx_completion_opcode opcode,
                  const uint8_t *completion, bool solicited)
{
    struct cq *cq = vcx_object(device, VCX_CQ, id);
    uint8_t *entry = cq ? entry_at(device, cq) : NULL;
    if (!entry || cq->overran)
        return false;
    if (!cq->ignores_overrun && cq_entries_waiting(device, cq) >= 1u << cq->log_size) {
        cq_overrun(device, cq);
        return false;
    }
    memcpy(entry, completion, OWNER_AND_OPCODE);
    if (cq->pads)
        memset(entry - VCX_CQE_BYTES, 0, VCX_CQE_BYTES);
    if (opcode < VCX_CQE_REQUESTER_ERROR) /* an error has its syndrome there */
        vcx_put64(entry + VCX_CQE_TIMESTAMP, vcx_now_ns(device));
    hand_over(cq, entry, opcode);
    if (solicited || opcode >= VCX_CQE_REQUESTER_ERROR)
        cq->solicited = cq->producer;
    cq_notify(device, cq);
    return true;
}

static bool poll_all(struct vcx_device *device)
{
    bool busy = false;
    for (struct cq *cq = vcx_object_from(device, VCX_CQ, 0); cq;
         cq = vcx_object_from(device, VCX_CQ, cq->object.id + 1))
        busy |= cq_notify(device, cq);
    return busy;
}

const struct vcx_room vcx_room_completion = {.poll = poll_all};
