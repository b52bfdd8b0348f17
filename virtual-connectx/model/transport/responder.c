// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The responder of a queue pair: the requests of its peer in the order of their sequence numbers, and what
 * it answers. */
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/transport/transport.h"

/* ---- what a responder sends */

/* Answers of reads and atomic operations in their order, then one acknowledgement for all that came. */

static struct vcx_answer *answer_at(struct vcx_qp *qp, uint32_t counter)
{
    return &qp->responder.answers[counter % VCX_ANSWERS];
}

/* false: more than the responder takes at a time. */
static bool answer_add(struct vcx_qp *qp, const struct vcx_answer *answer)
{
    struct vcx_responder *r = &qp->responder;
    if (r->answer_head - r->answer_tail == VCX_ANSWERS)
        return false;
    *answer_at(qp, r->answer_head++) = *answer;
    return true;
}

/* The peer repeats a read or atomic operation: answers that wait from its packet on are dropped. */
static void answers_forget(struct vcx_qp *qp, uint32_t psn)
{
    struct vcx_responder *r = &qp->responder;
    while (r->answer_head != r->answer_tail) {
        const struct vcx_answer *last = answer_at(qp, r->answer_head - 1);
        if (vcx_psn_distance(last->psn + last->packets, psn) <= 0)
            return;
        r->answer_head--;
    }
}

/* ---- packets */

static struct vcx_packet_header header_of(const struct vcx_qp *qp, uint8_t operation, uint32_t psn,
                                          const uint8_t *extension)
{
    uint8_t service = qp->type == VCX_QP_XRC ? VCX_SERVICE_XRC : VCX_SERVICE_RC;
    return (struct vcx_packet_header){.opcode = (uint8_t)(service << 5 | operation),
                                      .partition = 0xffff,
                                      .qpn = qp->remote_qpn,
                                      .psn = psn & VCX_PSN_MASK,
                                      .extension = extension,
                                      .extension_bytes = vcx_operations[operation].header_bytes};
}

static void put_aeth(uint8_t *at, const struct vcx_qp *qp, uint8_t syndrome)
{
    vcx_put32(at, (uint32_t)syndrome << 24 | qp->responder.msn);
}

static bool send_acknowledge(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn, uint8_t syndrome)
{
    uint8_t extension[4] = {0}, *payload;
    struct vcx_packet_header h = header_of(qp, VCX_ACKNOWLEDGE, psn, extension);
    struct vcx_route route;
    put_aeth(extension, qp, syndrome);
    vcx_route_connection(device, qp, &route);
    struct vcx_frame *frame = vcx_transport_room(device, &route, sizeof extension)
                                  ? vcx_packet_open(&route.path, &h, 0, &payload)
                                  : NULL;
    if (!frame)
        return false;
    vcx_transport_send(device, &route, frame);
    qp->responder.ack_priority = route.priority;
    qp->responder.ack_number = vcx_send_number(device, route.priority);
    return true;
}

static uint8_t operation_of_answer(const struct vcx_answer *a)
{
    bool first = a->sent == 0, last = a->sent + 1 == a->packets;
    if (a->atomic)
        return VCX_ATOMIC_ACKNOWLEDGE;
    if (first)
        return last ? VCX_READ_ONLY : VCX_READ_FIRST;
    return last ? VCX_READ_LAST : VCX_READ_MIDDLE;
}

/* The memory may not be read: the peer is told in place of the packet, and nothing follows. */
static void answer_refuse(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_answer *a)
{
    struct vcx_responder *r = &qp->responder;
    r->expected_psn = (a->psn + a->sent) & VCX_PSN_MASK;
    r->nak = VCX_AETH_ACCESS;
    r->nak_from_ns = vcx_refusal_from_ns(device, a->key);
    r->answer_tail = r->answer_head;
    vcx_qp_event(device, qp, VCX_EVENT_WQ_ACCESS);
}

static bool send_answer(struct vcx_device *device, struct vcx_qp *qp, struct vcx_answer *a, uint64_t now_ns)
{
    uint8_t extension[12] = {0}, *payload, operation = operation_of_answer(a);
    struct vcx_packet_header h = header_of(qp, operation, a->psn + a->sent, extension);
    uint32_t offset = a->sent * qp->mtu,
             bytes = a->atomic ? 0 : (uint32_t)vcx_least(qp->mtu, a->length - offset);
    struct vcx_route route;
    put_aeth(extension, qp, VCX_AETH_ACK);
    vcx_put64(extension + 4, a->result);
    vcx_route_connection(device, qp, &route);
    vcx_congestion_capable(device, &route);
    struct vcx_frame *frame = vcx_transport_room(device, &route, h.extension_bytes + bytes)
                                  ? vcx_packet_open(&route.path, &h, bytes, &payload)
                                  : NULL;
    if (!frame)
        return false;
    struct vcx_rights peer = {.pd = a->pd, .qpn = qp->object.id};
    if (bytes && !vcx_mkey_read(device, peer, a->key, VCX_REMOTE_READ, a->address + offset, payload, bytes)) {
        vcx_release(frame);
        answer_refuse(device, qp, a);
        return true;
    }
    vcx_congestion_sent(device, qp, now_ns, frame->length);
    vcx_transport_send(device, &route, frame);
    a->sent++;
    return true;
}

/* ---- */

static bool send_next_answer(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_responder *r = &qp->responder;
    struct vcx_answer *a = answer_at(qp, r->answer_tail);
    if (!vcx_congestion_may_send(device, qp, now_ns) || !send_answer(device, qp, a, now_ns))
        return false;
    device->transport->data_sent = true;
    if (r->answer_tail != r->answer_head && a->sent == a->packets)
        r->answer_tail++;
    return true;
}

/* One acknowledgement of a queue pair waits for the line at a time: the next is of all that came
 * meanwhile. */
static bool ack_is_due(struct vcx_device *device, const struct vcx_responder *r)
{
    return r->ack_due && !vcx_send_waits(device, r->ack_priority, r->ack_number);
}

static bool send_due(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    struct vcx_responder *r = &qp->responder;
    uint8_t nak = r->nak;
    if (nak ? now_ns < r->nak_from_ns : !ack_is_due(device, r))
        return false;
    if (!send_acknowledge(device, qp, nak ? r->expected_psn : r->expected_psn - 1, nak ? nak : VCX_AETH_ACK))
        return false;
    r->nak = 0;
    r->ack_due = false;
    if (nak > VCX_AETH_SEQUENCE)
        vcx_qp_error(device, qp);
    return true;
}

static void ask_for_expected(struct vcx_responder *r)
{
    r->nak = VCX_AETH_SEQUENCE;
    r->nak_from_ns = 0;
    r->nak_sent = true;
}

uint32_t vcx_answers_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most)
{
    uint32_t sent = 0;
    struct vcx_responder *r = &qp->responder;
    if (qp->out_of_order && !r->nak_sent && vcx_early_is_late(device, &r->early, now_ns)) {
        ask_for_expected(r);
        r->early.gap_ns = now_ns;
    }
    while (sent < most && qp->responder.answer_head != qp->responder.answer_tail) {
        if (!send_next_answer(device, qp, now_ns))
            return sent;
        sent++;
    }
    if (qp->responder.answer_head == qp->responder.answer_tail && sent < most)
        sent += send_due(device, qp, now_ns);
    return sent;
}

/* ---- requests of the peer */

#define XRC_BYTES       4u
#define MOST_READ_BYTES 0x80000000u

/* A request's packet, taken apart. */
struct request {
    uint8_t operation;
    const struct vcx_operation_row *row;
    uint32_t psn, xrc_srq;
    bool solicited;
    const uint8_t *header; /* extension headers after XRC's */
    const uint8_t *data;
    uint32_t bytes;
};

static bool request_dissect(const struct vcx_qp *qp, const struct vcx_packet *packet, struct request *q)
{
    uint32_t xrc = qp->type == VCX_QP_XRC ? XRC_BYTES : 0;
    q->operation = packet->opcode & 0x1f;
    q->row = &vcx_operations[q->operation];
    if (!q->row->exists || packet->bytes < xrc + q->row->header_bytes)
        return false;
    q->psn = packet->psn;
    q->xrc_srq = xrc ? vcx_be32(packet->header) & 0xffffff : 0;
    q->solicited = packet->solicited;
    q->header = packet->header + xrc;
    q->data = q->header + q->row->header_bytes;
    q->bytes = packet->bytes - xrc - q->row->header_bytes;
    return true;
}

/* The domain whose keys the peer may use: of XRC that of the shared receive queue. */
static struct vcx_rights peer_rights(struct vcx_device *device, const struct vcx_qp *qp,
                                     const struct request *q)
{
    struct vcx_rights rights = {.pd = qp->rights.pd, .qpn = qp->object.id};
    if (qp->type == VCX_QP_XRC)
        rights.pd = vcx_srq_pd(device, q->xrc_srq, (uint32_t)vcx_get(qp->context, qpc, xrcd));
    return rights;
}

/* ---- completion */

/* The immediate value, or the key to be invalidated, ends the extension headers. */
static const uint8_t *trailing_word(const struct request *q)
{
    return q->data - 4;
}

static enum vcx_completion_opcode completion_of(const struct request *q)
{
    if (q->row->write)
        return VCX_CQE_WRITE_IMMEDIATE;
    if (q->row->invalidate)
        return VCX_CQE_SEND_INVALIDATE;
    return q->row->immediate ? VCX_CQE_SEND_IMMEDIATE : VCX_CQE_SEND;
}

static void complete_request(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    uint8_t completion[VCX_CQE_BYTES] = {0};
    vcx_put32(completion + VCX_CQE_FLAGS_RQPN, qp->remote_qpn);
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, r->receive.user_index);
    if (q->row->immediate || q->row->invalidate)
        memcpy(completion + VCX_CQE_IMMEDIATE, trailing_word(q), 4);
    vcx_put32(completion + VCX_CQE_BYTE_COUNT, r->received);
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, qp->object.id);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, r->receive.index);
    r->took_receive = false;
    vcx_qp_tell(device, qp, r->receive.cq, completion_of(q), completion, q->solicited);
}

/* ---- messages. Each step returns the syndrome of a negative acknowledgement, or 0 */

static uint8_t not_ready(struct vcx_device *device, const struct vcx_qp *qp)
{
    vcx_qp_count(device, qp, out_of_buffer);
    return (uint8_t)(VCX_AETH_RNR | vcx_get(qp->context, qpc, min_rnr_nak));
}

static bool has_receive(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    if (!r->took_receive)
        r->took_receive = vcx_receive_take(device, qp, q->xrc_srq, &r->receive);
    return r->took_receive;
}

/* Only a message's last packet may be shorter than the path's MTU, and only an only one empty. */
static bool has_good_length(const struct vcx_qp *qp, const struct request *q)
{
    if (!q->row->last)
        return q->bytes == qp->mtu;
    return q->bytes <= qp->mtu && (q->row->first || q->bytes > 0);
}

static bool request_follows(const struct vcx_qp *qp, const struct request *q)
{
    enum vcx_message message = q->row->send ? VCX_SEND_MESSAGE : VCX_WRITE_MESSAGE;
    return q->row->first ? qp->responder.message == VCX_NO_MESSAGE : qp->responder.message == message;
}

static uint8_t take_send(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    if (!has_receive(device, qp, q))
        return not_ready(device, qp);
    if (q->row->first)
        r->received = 0;
    if (r->received + (uint64_t)q->bytes > r->receive.memory.bytes) {
        vcx_receive_fail(device, qp, VCX_LOCAL_LENGTH);
        return VCX_AETH_INVALID;
    }
    uint8_t ending = 0;
    if (q->bytes)
        ending =
            vcx_scatter_write(device, r->receive.rights, &r->receive.memory, r->received, q->data, q->bytes);
    if (ending) {
        vcx_receive_fail(device, qp, (enum vcx_ending)ending);
        return VCX_AETH_OPERATION;
    }
    r->received += q->bytes;
    r->message = VCX_SEND_MESSAGE;
    return 0;
}

static uint8_t refuse_access(struct vcx_device *device, struct vcx_qp *qp, uint32_t key)
{
    if (vcx_qp_is_reliable(qp))
        vcx_qp_event(device, qp, VCX_EVENT_WQ_ACCESS);
    qp->responder.nak_from_ns = vcx_refusal_from_ns(device, key);
    return VCX_AETH_ACCESS;
}

static uint8_t refuse_request(struct vcx_device *device, const struct vcx_qp *qp)
{
    if (vcx_qp_is_reliable(qp))
        vcx_qp_event(device, qp, VCX_EVENT_WQ_INVALID_REQUEST);
    return VCX_AETH_INVALID;
}

static void begin_write(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    r->write_address = vcx_be64(q->header);
    r->write_key = vcx_be32(q->header + 8);
    r->write_bytes = vcx_be32(q->header + 12);
    r->received = 0;
    vcx_qp_count(device, qp, rx_write_requests);
}

static uint8_t take_write(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    if (q->row->immediate && !has_receive(device, qp, q))
        return not_ready(device, qp);
    if (q->row->first)
        begin_write(device, qp, q);
    if (q->bytes > r->write_bytes - r->received || (q->row->last && r->received + q->bytes != r->write_bytes))
        return refuse_request(device, qp);
    if (q->bytes && !vcx_mkey_write(device, peer_rights(device, qp, q), r->write_key, VCX_REMOTE_WRITE,
                                    r->write_address + r->received, q->data, q->bytes))
        return refuse_access(device, qp, r->write_key);
    r->received += q->bytes;
    r->message = VCX_WRITE_MESSAGE;
    return 0;
}

/* The key that the peer gives up with a message that has come whole. */
static uint8_t request_invalidate_key(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    if (vcx_mkey_invalidate(device, peer_rights(device, qp, q), vcx_be32(trailing_word(q))))
        return 0;
    vcx_receive_fail(device, qp, VCX_LOCAL_ACCESS);
    return refuse_access(device, qp, vcx_be32(trailing_word(q)));
}

static uint8_t take_message(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    if (!request_follows(qp, q) || !has_good_length(qp, q))
        return refuse_request(device, qp);
    uint8_t nak = q->row->send ? take_send(device, qp, q) : take_write(device, qp, q);
    if (!nak && q->row->invalidate)
        nak = request_invalidate_key(device, qp, q);
    if (nak)
        return nak;
    r->expected_psn = (r->expected_psn + 1) & VCX_PSN_MASK;
    if (q->row->last) {
        r->message = VCX_NO_MESSAGE;
        r->msn = (r->msn + 1) & VCX_PSN_MASK;
        if (q->row->send || q->row->immediate)
            complete_request(device, qp, q);
    }
    return 0;
}

/* ---- reads and atomic operations */

static struct vcx_answer read_answer(struct vcx_device *device, const struct vcx_qp *qp,
                                     const struct request *q)
{
    uint32_t bytes = vcx_be32(q->header + 12);
    return (struct vcx_answer){.psn = q->psn,
                               .packets = vcx_qp_packets(qp, bytes),
                               .address = vcx_be64(q->header),
                               .key = vcx_be32(q->header + 8),
                               .pd = peer_rights(device, qp, q).pd,
                               .length = bytes};
}

/* The ends of the memory may be read, before anything that follows is executed; each packet's part is
 * checked again. */
static bool is_readable(struct vcx_device *device, uint32_t qpn, const struct vcx_answer *a)
{
    struct vcx_rights peer = {.pd = a->pd, .qpn = qpn};
    uint8_t byte;
    return !a->length ||
           (a->address + a->length - 1 >= a->address &&
            vcx_mkey_read(device, peer, a->key, VCX_REMOTE_READ, a->address, &byte, 1) &&
            vcx_mkey_read(device, peer, a->key, VCX_REMOTE_READ, a->address + a->length - 1, &byte, 1));
}

static uint8_t answer_read(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_answer answer = read_answer(device, qp, q);
    vcx_qp_count(device, qp, rx_read_requests);
    if (!is_readable(device, qp->object.id, &answer))
        return refuse_access(device, qp, answer.key);
    if (qp->responder.message != VCX_NO_MESSAGE || answer.length > MOST_READ_BYTES ||
        !answer_add(qp, &answer))
        return refuse_request(device, qp);
    qp->responder.expected_psn = (q->psn + answer.packets) & VCX_PSN_MASK;
    qp->responder.msn = (qp->responder.msn + 1) & VCX_PSN_MASK;
    return 0;
}

/* On eight bytes of memory in the host's byte order, as the driver asks for
 * (atomic_req_8B_endianness_mode). */
static bool atomic_execute(struct vcx_device *device, const struct vcx_qp *qp, const struct request *q,
                           uint64_t *old)
{
    struct vcx_rights peer = peer_rights(device, qp, q);
    uint64_t address = vcx_be64(q->header), operand = vcx_be64(q->header + 12),
             compare = vcx_be64(q->header + 20);
    uint32_t key = vcx_be32(q->header + 8);
    if (!vcx_mkey_read(device, peer, key, VCX_REMOTE_ATOMIC, address, old, sizeof *old))
        return false;
    uint64_t new = *old + operand;
    if (q->operation == VCX_COMPARE_SWAP)
        new = *old == compare ? operand : *old;
    return vcx_mkey_write(device, peer, key, VCX_REMOTE_ATOMIC, address, &new, sizeof new);
}

static uint8_t carry_out_atomic(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    struct vcx_answer answer = {.atomic = true, .psn = q->psn, .packets = 1};
    if (r->message != VCX_NO_MESSAGE || vcx_be64(q->header) & 7 ||
        r->answer_head - r->answer_tail == VCX_ANSWERS)
        return refuse_request(device, qp);
    vcx_qp_count(device, qp, rx_atomic_requests);
    if (!atomic_execute(device, qp, q, &answer.result))
        return refuse_access(device, qp, vcx_be32(q->header + 8));
    answer_add(qp, &answer);
    uint32_t place = r->next_atomic++ % VCX_ANSWERS;
    r->atomics[place].used = true;
    r->atomics[place].psn = q->psn;
    r->atomics[place].result = answer.result;
    r->expected_psn = (r->expected_psn + 1) & VCX_PSN_MASK;
    r->msn = (r->msn + 1) & VCX_PSN_MASK;
    return 0;
}

/* ---- what came before */

static void repeat_read(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_answer answer = read_answer(device, qp, q);
    uint32_t after = (q->psn + answer.packets) & VCX_PSN_MASK;
    if (answer.length > MOST_READ_BYTES || vcx_psn_distance(after, qp->responder.expected_psn) > 0 ||
        !vcx_get(qp->context, qpc, rre))
        return;
    if (!qp->selective) /* else only a part is requested again */
        answers_forget(qp, q->psn);
    answer_add(qp, &answer);
}

static void repeat_atomic(struct vcx_qp *qp, const struct request *q)
{
    const struct vcx_responder *r = &qp->responder;
    for (uint32_t i = 0; i < VCX_ANSWERS; i++) {
        if (!r->atomics[i].used || r->atomics[i].psn != q->psn)
            continue;
        struct vcx_answer answer = {
            .atomic = true, .psn = q->psn, .packets = 1, .result = r->atomics[i].result};
        if (!qp->selective)
            answers_forget(qp, q->psn);
        answer_add(qp, &answer);
        return;
    }
}

static bool is_atomic(uint8_t operation)
{
    return operation == VCX_COMPARE_SWAP || operation == VCX_FETCH_ADD;
}

static void request_repeat(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    vcx_qp_count(device, qp, duplicate_request);
    if (q->operation == VCX_READ_REQUEST)
        repeat_read(device, qp, q);
    else if (is_atomic(q->operation))
        repeat_atomic(qp, q);
    else
        qp->responder.ack_due = true;
}

/* ---- the sequence */

/* The queue pair allows the peer such operations. It is the first that is looked at: then requests are
 * counted, then keys, then their ranges are. */
static bool is_permitted(const struct vcx_qp *qp, const struct request *q)
{
    if (q->operation == VCX_READ_REQUEST)
        return vcx_get(qp->context, qpc, rre);
    if (is_atomic(q->operation))
        return vcx_get(qp->context, qpc, rae);
    return !q->row->write || vcx_get(qp->context, qpc, rwe);
}

static uint8_t carry_out(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    if (!is_permitted(qp, q))
        return refuse_request(device, qp);
    if (q->operation == VCX_READ_REQUEST)
        return answer_read(device, qp, q);
    if (is_atomic(q->operation))
        return carry_out_atomic(device, qp, q);
    return take_message(device, qp, q);
}

/* A write that has its own address goes to memory at once. What may not be written is refused when it is its
 * turn. */
static bool place_early(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    if (q->operation != VCX_WRITE_ONLY || !is_permitted(qp, q) || !has_good_length(qp, q) ||
        q->bytes != vcx_be32(q->header + 12))
        return false;
    if (q->bytes && !vcx_mkey_write(device, peer_rights(device, qp, q), vcx_be32(q->header + 8),
                                    VCX_REMOTE_WRITE, vcx_be64(q->header), q->data, q->bytes))
        return false;
    vcx_qp_count(device, qp, rx_write_requests);
    return true;
}

/* A packet before which one is missing. It is requested at once, and again if what was sent behind it the
 * second time comes without it; with out-of-order placement, where it may only have been overtaken, after a
 * while. */
static void take_early(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    uint32_t distance = (q->psn - r->expected_psn) & VCX_PSN_MASK;
    bool in_window = vcx_qp_takes_any_order(qp) && distance < VCX_PACKET_WINDOW,
         came = in_window && vcx_early_has(&r->early, q->psn);
    if (came) {
        vcx_qp_count(device, qp, duplicate_request);
    } else if (in_window && place_early(device, qp, q)) {
        early_add(r->early.came, VCX_PACKET_WINDOW - 1, q->psn);
        if (vcx_psn_distance(q->psn, r->early.next_psn) >= 0)
            r->early.next_psn = (q->psn + 1) & VCX_PSN_MASK;
    } else {
        vcx_qp_count(device, qp, out_of_sequence);
    }
    uint64_t now_ns = vcx_now_ns(device);
    bool again = came && !r->last_due;
    r->last_due &= !came;
    if (!qp->out_of_order ? again || !r->nak_sent : vcx_early_is_late(device, &r->early, now_ns))
        ask_for_expected(r);
    if (!r->early.gap_ns || r->nak)
        r->early.gap_ns = now_ns;
}

/* What comes behind `psn`, which was expected, may be there already; behind that, another may be missing. */
static void take_what_came(struct vcx_device *device, struct vcx_qp *qp, uint32_t psn)
{
    struct vcx_responder *r = &qp->responder;
    struct vcx_early *early = &r->early;
    uint32_t packets = (r->expected_psn - psn) & VCX_PSN_MASK;
    for (uint32_t i = 0; i < packets && i < VCX_PACKET_WINDOW; i++) /* numbers of a read's answer */
        early_remove(early->came, VCX_PACKET_WINDOW - 1, psn + i);
    uint32_t came = (uint32_t)early_take(early->came, VCX_PACKET_WINDOW - 1, r->expected_psn);
    r->expected_psn = (r->expected_psn + came) & VCX_PSN_MASK;
    r->msn = (r->msn + came) & VCX_PSN_MASK;
    r->ack_due |= came > 0;
    early->gap_ns = 0;
    if (vcx_psn_distance(early->next_psn, r->expected_psn) <= 0)
        early->next_psn = r->expected_psn;
    else if (qp->out_of_order)
        early->gap_ns = vcx_now_ns(device);
    else if (came)
        ask_for_expected(r);
    r->last_due = came && r->nak;
}

static void take_reliable(struct vcx_device *device, struct vcx_qp *qp, const struct request *q,
                          bool wants_ack)
{
    struct vcx_responder *r = &qp->responder;
    int32_t distance = vcx_psn_distance(q->psn, r->expected_psn);
    if (distance < 0) {
        r->last_due = false;
        request_repeat(device, qp, q);
        return;
    }
    if (distance > 0) {
        take_early(device, qp, q);
        return;
    }
    r->nak = carry_out(device, qp, q);
    r->nak_sent = r->nak != 0;
    if (r->nak)
        return;
    if (wants_ack && (q->row->send || q->row->write))
        r->ack_due = true; /* what is answered with data needs none */
    if (vcx_qp_takes_any_order(qp))
        take_what_came(device, qp, q->psn);
}

/* Without acknowledgements a message with a gap is dropped; its receive request serves the next one. */
static void take_unreliable(struct vcx_device *device, struct vcx_qp *qp, const struct request *q)
{
    struct vcx_responder *r = &qp->responder;
    if (!q->row->send && !q->row->write)
        return;
    if (q->psn != r->expected_psn || q->row->first)
        r->message = VCX_NO_MESSAGE;
    r->expected_psn = q->psn;
    uint8_t nak = request_follows(qp, q) ? carry_out(device, qp, q) : VCX_AETH_SEQUENCE;
    if (!nak)
        return;
    if (nak == VCX_AETH_OPERATION)
        vcx_qp_error(device, qp);
    r->message = VCX_NO_MESSAGE;
    r->expected_psn = (q->psn + 1) & VCX_PSN_MASK;
}

void vcx_responder_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
{
    struct request q;
    bool ends = qp->responder.nak > VCX_AETH_SEQUENCE;
    if (!vcx_qp_receives(qp) || ends || !request_dissect(qp, packet, &q))
        return;
    if (qp->state == VCX_QP_RTR && !qp->established) {
        qp->established = true;
        vcx_qp_event(device, qp, VCX_EVENT_COMMUNICATION_ESTABLISHED);
    }
    if (vcx_qp_is_reliable(qp))
        take_reliable(device, qp, &q, packet->acknowledge);
    else
        take_unreliable(device, qp, &q);
}
