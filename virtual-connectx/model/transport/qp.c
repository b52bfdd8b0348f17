// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Queue pairs: their states, how their requests end, and the commands that make, change and destroy them. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/command/command.h"

#define EVENT_NUMBER 24 /* in an event's data; its kind, 0: a queue pair, stands at 20 */

static void clear_ring(struct vcx_requester *r)
{
    for (uint32_t i = 0; r->ring && i < VCX_REQUESTS; i++)
        vcx_request_clear(&r->ring[i]);
    vcx_release(r->ring);
}

/* Ends whatever is under way, as before the first INIT. */
static void qp_reset(struct vcx_qp *qp)
{
    clear_ring(&qp->requester);
    memset(&qp->requester, 0, sizeof qp->requester);
    memset(&qp->responder, 0, sizeof qp->responder);
    memset(&qp->reaction, 0, sizeof qp->reaction);
    qp->sq.next = qp->rq.next = 0;
    qp->next_send_ns = qp->cnp_sent_ns = 0;
    qp->established = qp->rung = false;
    qp->state = VCX_QP_RESET;
}

void vcx_qp_count_at(struct vcx_device *device, const struct vcx_qp *qp, size_t offset)
{
    uint8_t *set = vcx_object(device, VCX_COUNTER_SET, qp->counter_set);
    if (set)
        ++*(uint32_t *)(void *)(set + offset);
}

void vcx_qp_event(struct vcx_device *device, const struct vcx_qp *qp, enum vcx_event type)
{
    uint8_t data[VCX_EVENT_DATA_BYTES] = {0};
    vcx_put32(data + EVENT_NUMBER, qp->object.id);
    vcx_event_write(device, type, 0, data);
}

/* ---- errors */

bool vcx_qp_error(struct vcx_device *device, struct vcx_qp *qp)
{
    bool worked = qp->state != VCX_QP_ERROR && qp->state != VCX_QP_SQ_ERROR;
    if (qp->state == VCX_QP_ERROR)
        return false;
    qp->state = VCX_QP_ERROR;
    if (qp->srq)
        vcx_qp_event(device, qp, VCX_EVENT_SRQ_LAST_WQE);
    return worked;
}

void vcx_qp_catastrophe(struct vcx_device *device, struct vcx_qp *qp)
{
    if (qp->state == VCX_QP_ERROR)
        return;
    vcx_qp_event(device, qp, VCX_EVENT_WQ_CATASTROPHIC);
    vcx_qp_error(device, qp);
}

/* ---- completions of requests */

static void begin_completion(const struct vcx_qp *qp, uint8_t *completion, uint32_t user_index,
                             uint16_t index, uint8_t opcode)
{
    memset(completion, 0, VCX_CQE_BYTES);
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, user_index);
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, (uint32_t)opcode << 24 | qp->object.id);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, index);
}

/* Its completion queue has overrun, or cannot be written to: nothing it does can be told any more
 * (InfiniBand's local work queue catastrophic error). */
void vcx_qp_tell(struct vcx_device *device, struct vcx_qp *qp, uint32_t cq, enum vcx_completion_opcode opcode,
                 const uint8_t *completion, bool solicited)
{
    if (!vcx_cq_write(device, cq, opcode, completion, solicited))
        vcx_qp_catastrophe(device, qp);
}

static void complete_send(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_request *r,
                          enum vcx_ending ending)
{
    uint8_t completion[VCX_CQE_BYTES];
    if (!ending && !r->signaled)
        return;
    begin_completion(qp, completion, qp->user_index, r->index, r->opcode);
    vcx_cqe_put_ending(completion, ending);
    if (!ending)
        vcx_put32(completion + VCX_CQE_BYTE_COUNT, r->length);
    if (vcx_endings[ending].is_error)
        vcx_qp_count(device, qp, req_cqe_error);
    vcx_qp_tell(device, qp, qp->send_cq, ending ? VCX_CQE_REQUESTER_ERROR : VCX_CQE_REQUESTER, completion,
                false);
}

void vcx_request_complete(struct vcx_device *device, struct vcx_qp *qp, enum vcx_ending ending)
{
    struct vcx_request *r = vcx_request_at(qp, qp->requester.tail++);
    complete_send(device, qp, r, ending);
    vcx_request_clear(r);
}

static void fail_receive(struct vcx_device *device, struct vcx_qp *qp, uint32_t cq, uint32_t user_index,
                         uint16_t index, enum vcx_ending ending)
{
    uint8_t completion[VCX_CQE_BYTES];
    begin_completion(qp, completion, user_index, index, 0);
    vcx_cqe_put_ending(completion, ending);
    if (vcx_endings[ending].responder)
        vcx_qp_count_at(device, qp, vcx_endings[ending].responder);
    vcx_qp_tell(device, qp, cq, VCX_CQE_RESPONDER_ERROR, completion, false);
}

void vcx_receive_fail(struct vcx_device *device, struct vcx_qp *qp, enum vcx_ending ending)
{
    const struct vcx_receive *r = &qp->responder.receive;
    qp->responder.took_receive = false;
    fail_receive(device, qp, r->cq, r->user_index, r->index, ending);
}

/* ---- ... and of those that a queue pair in error flushes */

/* As measured: from an error to the first flush behind it, from one flush to the next, and from the error
 * that a program asks for to its first completion (unionxic/rdma-fault-characterization, September and
 * October 2026: S-9.09 to S-9.11, the last with requests of 4 MiB; of receives no times are known). */
#define CAUSE_TO_FLUSH_NS 59500u
#define FLUSH_TO_FLUSH_NS 9350u
#define OWN_TO_FIRST_NS   226000u

/* How many requests may be flushed by now. */
static uint32_t flushes_due(const struct vcx_requester *r, uint64_t now_ns, uint32_t most)
{
    if (now_ns < r->flush_ns)
        return 0;
    uint64_t due = (now_ns - r->flush_ns) / FLUSH_TO_FLUSH_NS + 1;
    return due < most ? (uint32_t)due : most;
}

static enum vcx_ending next_ending(struct vcx_requester *r)
{
    enum vcx_ending ending = r->cause ? (enum vcx_ending)r->cause : VCX_FLUSHED;
    r->cause = 0;
    return ending;
}

/* Whatever the doorbell announced: completions are of the requests up to the doorbell record. */
static uint32_t flush_sends(struct vcx_device *device, struct vcx_qp *qp, uint32_t most)
{
    uint32_t done = 0;
    struct vcx_requester *r = &qp->requester;
    for (; done < most && r->tail != r->head; done++) {
        if (!vcx_send_is_recorded(device, qp, vcx_request_at(qp, r->tail)->index))
            break;
        vcx_request_complete(device, qp, next_ending(r));
    }
    r->cursor = r->tail;
    struct vcx_request request;
    for (; done < most && r->tail == r->head && vcx_send_fetch(device, qp, &request); done++) {
        complete_send(device, qp, &request, next_ending(r));
        vcx_request_clear(&request);
    }
    return done;
}

void vcx_qp_fail(struct vcx_device *device, struct vcx_qp *qp, enum vcx_ending cause)
{
    if (vcx_endings[cause].requester)
        vcx_qp_count_at(device, qp, vcx_endings[cause].requester);
    if (vcx_qp_fails_whole(qp))
        vcx_qp_error(device, qp);
    else
        qp->state = VCX_QP_SQ_ERROR;
    qp->requester.cause = (uint8_t)cause;
    flush_sends(device, qp, 1);
    qp->requester.flush_ns = vcx_now_ns(device) + CAUSE_TO_FLUSH_NS;
}

static uint32_t flush_receives(struct vcx_device *device, struct vcx_qp *qp, uint32_t most)
{
    uint32_t done = 0;
    uint16_t index;
    if (qp->responder.took_receive && most) {
        vcx_receive_fail(device, qp, VCX_FLUSHED);
        done++;
    }
    for (; done < most && vcx_receive_skip(device, qp, &index); done++)
        fail_receive(device, qp, qp->receive_cq, qp->user_index, index, VCX_FLUSHED);
    return done;
}

uint32_t vcx_qp_flush(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most)
{
    struct vcx_requester *r = &qp->requester;
    uint32_t due = flushes_due(r, now_ns, most), done = flush_sends(device, qp, due);
    if (done < due) /* all are flushed: what is posted now does not find time that has passed */
        r->flush_ns = now_ns + (done ? FLUSH_TO_FLUSH_NS : 0);
    else
        r->flush_ns += done * FLUSH_TO_FLUSH_NS;
    return qp->state == VCX_QP_ERROR ? done + flush_receives(device, qp, most - done) : done;
}

/* ---- commands: what may be created, and which parameters each transition takes */

#define CREATE_QP       0x500
#define DESTROY_QP      0x501
#define RST2INIT_QP     0x502
#define INIT2RTR_QP     0x503
#define RTR2RTS_QP      0x504
#define RTS2RTS_QP      0x505
#define SQERR2RTS_QP    0x506
#define TO_ERROR_QP     0x507
#define TO_RESET_QP     0x50a
#define QUERY_QP        0x50b
#define INIT2INIT_QP    0x50e
#define ATTACH_TO_MCG   0x806
#define DETACH_FROM_MCG 0x807

#define RECORD_BYTES   8u
#define LOG_BLOCK      6
#define LOG_LEAST_RQ   4 /* a stride of one segment */
#define LOG_MOST_QUEUE 15
#define RQ_OWN         0 /* qpc.rq_type: mlx5's MLX5_NON_ZERO_RQ, MLX5_SRQ_RQ */
#define RQ_SHARED      1
#define MTU_4096       5

static void clear_qp(struct vcx_device *device, void *object)
{
    struct vcx_qp *qp = object;
    if (device->transport)
        vcx_multicast_leave(device, qp->object.id);
    qp_reset(qp);
    vcx_buffer_clear(&qp->buffer);
}

const struct vcx_kind_of_object vcx_kind_qp = {"queue pair", 17, 16, sizeof(struct vcx_qp), clear_qp};

static const enum vcx_qp_type types[] = {VCX_QP_RC, VCX_QP_UC, VCX_QP_UD, VCX_QP_XRC, VCX_QP_GSI, VCX_QP_UMR};

static bool type_exists(uint64_t type)
{
    for (size_t i = 0; i < VCX_COUNT(types); i++)
        if (types[i] == type)
            return true;
    return false;
}

/* ---- CREATE_QP */

static void read_queues(struct vcx_qp *qp)
{
    const uint8_t *c = qp->context;
    if (vcx_get(c, qpc, rq_type) == RQ_OWN) {
        qp->rq.count = 1u << vcx_get(c, qpc, log_rq_size);
        qp->rq.log_stride = (uint32_t)vcx_get(c, qpc, log_rq_stride) + LOG_LEAST_RQ;
        qp->sq.offset = qp->rq.count << qp->rq.log_stride;
    }
    if (vcx_get(c, qpc, rq_type) == RQ_SHARED)
        qp->srq = (uint32_t)vcx_get(c, qpc, srqn_rmpn_xrqn);
    if (!vcx_get(c, qpc, no_sq))
        qp->sq.count = 1u << vcx_get(c, qpc, log_sq_size);
    qp->sq.log_stride = LOG_BLOCK;
}

/* Signatures and data in completions are not in QUERY_HCA_CAP, so the driver may not ask for them. */
static bool unsupported_qp(const uint8_t *c)
{
    return !type_exists(vcx_get(c, qpc, st)) || vcx_get(c, qpc, wq_signature) || vcx_get(c, qpc, cs_req) ||
           vcx_get(c, qpc, cs_res) || vcx_get(c, qpc, log_sq_size) > LOG_MOST_QUEUE ||
           vcx_get(c, qpc, log_rq_size) > LOG_MOST_QUEUE;
}

/* A queue pair that takes or gives requests names completion queues that exist; XRC's shared queues name
 * their own. */
static bool named_queues_exist(struct vcx_device *device, const struct vcx_qp *qp)
{
    bool receives = qp->rq.count || (qp->srq && qp->type != VCX_QP_XRC);
    if (qp->sq.count && !vcx_object(device, VCX_CQ, qp->send_cq))
        return false;
    if (receives && !vcx_object(device, VCX_CQ, qp->receive_cq))
        return false;
    return !qp->srq || vcx_object(device, VCX_SRQ, qp->srq);
}

static int init_buffer(struct vcx_qp *qp, const struct vcx_call *call)
{
    uint32_t list = vcx_offset(create_qp_in, pas);
    uint64_t bytes = qp->sq.offset + ((uint64_t)qp->sq.count << LOG_BLOCK);
    if (!bytes)
        return 0;
    if (!vcx_memory(call->device, qp->record, RECORD_BYTES, VCX_TO_READ) ||
        (qp->sq.count && qp->sq.offset & ((1u << LOG_BLOCK) - 1)))
        return -1;
    return vcx_buffer_init(&qp->buffer, call->in + list, (call->in_bytes - list) / 8,
                           (uint32_t)vcx_get(qp->context, qpc, log_page_size),
                           (uint32_t)vcx_get(qp->context, qpc, page_offset), bytes);
}

static int init_qp(struct vcx_qp *qp, const struct vcx_call *call)
{
    const uint8_t *c = vcx_at(call->in, create_qp_in, qpc);
    memcpy(qp->context, c, sizeof qp->context);
    if (unsupported_qp(c))
        return -1;
    qp->type = (enum vcx_qp_type)vcx_get(c, qpc, st);
    read_queues(qp);
    qp->send_cq = (uint32_t)vcx_get(c, qpc, cqn_snd);
    qp->receive_cq = (uint32_t)vcx_get(c, qpc, cqn_rcv);
    qp->user_index = (uint32_t)vcx_get(c, qpc, user_index);
    qp->counter_set = (uint32_t)vcx_get(c, qpc, counter_set_id);
    qp->record = vcx_get(c, qpc, dbr_addr);
    qp->rights = (struct vcx_rights){.pd = (uint32_t)vcx_get(c, qpc, pd),
                                     .reserved_key = vcx_get(c, qpc, rlky),
                                     .qpn = qp->object.id,
                                     .any_domain = qp->type == VCX_QP_UMR};
    return named_queues_exist(call->device, qp) ? init_buffer(qp, call) : -1;
}

static enum vcx_status create_qp(struct vcx_call *call)
{
    struct vcx_qp *qp = vcx_object_new(call->device, VCX_QP);
    if (!qp)
        return VCX_NO_RESOURCES;
    if (init_qp(qp, call) != 0) {
        vcx_object_free(call->device, VCX_QP, qp->object.id);
        return VCX_BAD_PARAMETER;
    }
    vcx_set(call->out, create_qp_out, qpn, qp->object.id);
    return VCX_OK;
}

static enum vcx_status destroy_qp(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, destroy_qp_in, qpn);
    return vcx_object_free(call->device, VCX_QP, id) ? VCX_OK : VCX_BAD_RESOURCE;
}

/* ---- transitions */

#define BIT_OF(state) (1u << (state))
#define ANY_STATE     0xffffu

struct transition {
    uint16_t opcode;
    uint16_t from; /* bit n: state n */
    enum vcx_qp_state to;
};
static const struct transition transitions[] = {
    {RST2INIT_QP, BIT_OF(VCX_QP_RESET), VCX_QP_INIT}, {INIT2INIT_QP, BIT_OF(VCX_QP_INIT), VCX_QP_INIT},
    {INIT2RTR_QP, BIT_OF(VCX_QP_INIT), VCX_QP_RTR},   {RTR2RTS_QP, BIT_OF(VCX_QP_RTR), VCX_QP_RTS},
    {RTS2RTS_QP, BIT_OF(VCX_QP_RTS), VCX_QP_RTS},     {SQERR2RTS_QP, BIT_OF(VCX_QP_SQ_ERROR), VCX_QP_RTS},
    {TO_ERROR_QP, ANY_STATE, VCX_QP_ERROR},           {TO_RESET_QP, ANY_STATE, VCX_QP_RESET},
};

/* A parameter of a queue pair: the transition that takes it always, and the bit of opt_param_mask with
 * which any takes it (mlx5's MLX5_QP_OPTPAR_*). */
struct parameter {
    uint32_t place;
    uint16_t always;
    uint32_t option;
};
#define OF_QP(field)   VCX_qpc__##field
#define OF_PATH(field) (VCX_ads__##field + (VCX_qpc__primary_address_path & ~0xffu))
static const struct parameter parameters[] = {
    {OF_QP(rre), RST2INIT_QP, 1 << 1},
    {OF_QP(rae), RST2INIT_QP, 1 << 2},
    {OF_QP(rwe), RST2INIT_QP, 1 << 3},
    {OF_QP(atomic_mode), RST2INIT_QP, 1 << 2},
    {OF_PATH(pkey_index), RST2INIT_QP, 1 << 4},
    {OF_QP(q_key), RST2INIT_QP, 1 << 5},
    {OF_QP(pm_state), RST2INIT_QP, 1 << 10},
    {OF_QP(counter_set_id), RST2INIT_QP, 1 << 25},
    {OF_QP(min_rnr_nak), INIT2RTR_QP, 1 << 6},
    {OF_QP(log_rra_max), INIT2RTR_QP, 1 << 9},
    {OF_QP(mtu), INIT2RTR_QP, 0},
    {OF_QP(log_msg_max), INIT2RTR_QP, 0},
    {OF_QP(remote_qpn), INIT2RTR_QP, 0},
    {OF_QP(next_rcv_psn), INIT2RTR_QP, 0},
    {OF_QP(log_sra_max), RTR2RTS_QP, 1 << 8},
    {OF_QP(retry_count), RTR2RTS_QP, 1 << 12},
    {OF_QP(rnr_retry), RTR2RTS_QP, 1 << 13},
    {OF_PATH(ack_timeout), RTR2RTS_QP, 1 << 14},
    {OF_QP(log_ack_req_freq), RTR2RTS_QP, 0},
    {OF_QP(next_send_psn), RTR2RTS_QP, 0},
};
#define OPTION_PATH (1u << 7)

static const struct transition *transition_of(uint16_t opcode)
{
    for (size_t i = 0; i < VCX_COUNT(transitions); i++)
        if (transitions[i].opcode == opcode)
            return &transitions[i];
    return NULL;
}

static void take_parameters(struct vcx_qp *qp, const struct vcx_call *call, uint16_t opcode)
{
    const uint8_t *from = vcx_at(call->in, rst2init_qp_in, qpc);
    uint32_t options = (uint32_t)vcx_get(call->in, rst2init_qp_in, opt_param_mask);
    if (opcode == INIT2RTR_QP || options & OPTION_PATH)
        memcpy(vcx_at(qp->context, qpc, primary_address_path), vcx_at(from, qpc, primary_address_path),
               sizeof(uint8_t[44])); /* struct mlx5_ifc_ads_bits */
    for (size_t i = 0; i < VCX_COUNT(parameters); i++)
        if (parameters[i].always == opcode || parameters[i].option & options)
            vcx_set_place(qp->context, parameters[i].place, vcx_get_place(from, parameters[i].place));
    qp->counter_set = (uint32_t)vcx_get(qp->context, qpc, counter_set_id);
}

/* What cannot be worked with is refused before anything is taken. */
static bool transition_is_sound(const struct vcx_qp *qp, const struct vcx_call *call, uint16_t opcode)
{
    const uint8_t *c = vcx_at(call->in, rst2init_qp_in, qpc), *path = vcx_at(c, qpc, primary_address_path);
    uint64_t mtu = vcx_get(c, qpc, mtu);
    if (opcode != INIT2RTR_QP || qp->type == VCX_QP_UMR)
        return true;
    return mtu >= 1 && mtu <= MTU_4096 && vcx_get(path, ads, src_addr_index) < VCX_SOURCES;
}

static void qp_enter_state(struct vcx_device *device, struct vcx_qp *qp, uint16_t opcode,
                           enum vcx_qp_state state)
{
    const uint8_t *c = qp->context;
    if (opcode == INIT2RTR_QP) {
        qp->mtu = 128u << vcx_get(c, qpc, mtu);
        qp->remote_qpn = (uint32_t)vcx_get(c, qpc, remote_qpn);
        qp->responder.expected_psn = qp->responder.early.next_psn = (uint32_t)vcx_get(c, qpc, next_rcv_psn);
        vcx_recovery_choose(device, qp);
    } else if (opcode == RTR2RTS_QP) {
        struct vcx_requester *r = &qp->requester;
        r->next_psn = r->acked_psn = r->sent_psn = r->early.next_psn = r->asked_psn =
            (uint32_t)vcx_get(c, qpc, next_send_psn);
    }
    if (opcode == RST2INIT_QP)
        vcx_doorbells_clear(device, qp);
    if (state == VCX_QP_RTS)
        qp->requester.cause = 0;
    if (state == VCX_QP_RESET)
        qp_reset(qp);
    if (state == VCX_QP_ERROR && vcx_qp_error(device, qp)) {
        qp->requester.cause = VCX_FLUSHED_FIRST;
        qp->requester.flush_ns = vcx_now_ns(device) + OWN_TO_FIRST_NS;
    }
    qp->state = state;
}

static enum vcx_status modify_qp(struct vcx_call *call)
{
    uint16_t opcode = (uint16_t)vcx_get(call->in, nop_in, opcode);
    const struct transition *t = transition_of(opcode);
    struct vcx_qp *qp = vcx_object(call->device, VCX_QP, (uint32_t)vcx_get(call->in, rst2init_qp_in, qpn));
    if (!qp)
        return VCX_BAD_RESOURCE;
    if (!t || !(t->from & BIT_OF(qp->state)))
        return VCX_BAD_RESOURCE_STATE;
    bool has_context = t->to != VCX_QP_ERROR && t->to != VCX_QP_RESET;
    if (has_context && !transition_is_sound(qp, call, opcode))
        return VCX_BAD_PARAMETER;
    if (has_context)
        take_parameters(qp, call, opcode);
    qp_enter_state(call->device, qp, opcode, t->to);
    return VCX_OK;
}

/* ---- QUERY_QP */

static enum vcx_status query_qp(struct vcx_call *call)
{
    struct vcx_qp *qp = vcx_object(call->device, VCX_QP, (uint32_t)vcx_get(call->in, query_qp_in, qpn));
    if (!qp)
        return VCX_BAD_RESOURCE;
    uint8_t *c = vcx_at(call->out, query_qp_out, qpc);
    memcpy(c, qp->context, sizeof qp->context);
    vcx_set(c, qpc, state, qp->state);
    if (qp->state >= VCX_QP_RTR)
        vcx_set(c, qpc, next_rcv_psn, qp->responder.expected_psn);
    if (qp->state >= VCX_QP_RTS) {
        vcx_set(c, qpc, next_send_psn, qp->requester.sent_psn);
        vcx_set(c, qpc, last_acked_psn, (qp->requester.acked_psn - 1) & VCX_PSN_MASK);
    }
    vcx_set(c, qpc, hw_sq_wqebb_counter, qp->sq.next);
    vcx_set(c, qpc, hw_rq_counter, qp->rq.next);
    return VCX_OK;
}

/* ---- multicast groups */

static enum vcx_status attach_to_group(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, attach_to_mcg_in, qpn);
    if (!vcx_object(call->device, VCX_QP, id))
        return VCX_BAD_RESOURCE;
    return vcx_multicast_attach(call->device, id, vcx_at(call->in, attach_to_mcg_in, multicast_gid))
               ? VCX_OK
               : VCX_NO_RESOURCES;
}

static enum vcx_status detach_from_group(struct vcx_call *call)
{
    uint32_t id = (uint32_t)vcx_get(call->in, attach_to_mcg_in, qpn);
    return vcx_multicast_detach(call->device, id, vcx_at(call->in, attach_to_mcg_in, multicast_gid))
               ? VCX_OK
               : VCX_BAD_RESOURCE;
}

#define MODIFY_BYTES (vcx_offset(rst2init_qp_in, qpc) + VCX_QP_CONTEXT_BYTES)
#define MCG_BYTES    (vcx_offset(attach_to_mcg_in, multicast_gid) + 16)

const struct vcx_command vcx_commands_qp[] = {
    {CREATE_QP, vcx_offset(create_qp_in, pas), 16, create_qp},
    {DESTROY_QP, 16, 16, destroy_qp},
    {RST2INIT_QP, MODIFY_BYTES, 16, modify_qp},
    {INIT2RTR_QP, MODIFY_BYTES, 16, modify_qp},
    {RTR2RTS_QP, MODIFY_BYTES, 16, modify_qp},
    {RTS2RTS_QP, MODIFY_BYTES, 16, modify_qp},
    {SQERR2RTS_QP, MODIFY_BYTES, 16, modify_qp},
    {INIT2INIT_QP, MODIFY_BYTES, 16, modify_qp},
    {TO_ERROR_QP, 16, 16, modify_qp},
    {TO_RESET_QP, 16, 16, modify_qp},
    {QUERY_QP, 16, vcx_offset(query_qp_out, qpc) + VCX_QP_CONTEXT_BYTES, query_qp},
    {ATTACH_TO_MCG, MCG_BYTES, 16, attach_to_group},
    {DETACH_FROM_MCG, MCG_BYTES, 16, detach_from_group},
    {0},
};
