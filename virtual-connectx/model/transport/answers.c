// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a responder sends: answers of reads and atomic operations in their order, then one acknowledgement for all that came. */
#include "virtual-connectx/model/transport/transport.h"

#include "virtual-connectx/model/deliver.h"

static struct vcx_answer *answer_at(struct vcx_qp *qp, uint32_t counter)
{
    return &qp->responder.answers[counter % VCX_ANSWERS];
}

bool vcx_answer_add(struct vcx_qp *qp, const struct vcx_answer *answer)
{
    struct vcx_responder *r = &qp->responder;
    if (r->answer_head - r->answer_tail == VCX_ANSWERS)
        return false;
    *answer_at(qp, r->answer_head++) = *answer;
    return true;
}

void vcx_answers_forget(struct vcx_qp *qp, uint32_t psn)
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

static uint8_t opcode_of(const struct vcx_qp *qp, uint8_t operation)
{
    return (uint8_t)((qp->type == VCX_QP_XRC ? VCX_SERVICE_XRC : VCX_SERVICE_RC) << 5 | operation);
}

static struct vcx_packet_header header_of(const struct vcx_qp *qp, uint8_t operation, uint32_t psn,
                                          const uint8_t *extension)
{
    return (struct vcx_packet_header){.opcode = opcode_of(qp, operation),
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
static void refuse(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_answer *a)
{
    struct vcx_responder *r = &qp->responder;
    vcx_qp_count(device, qp, resp_remote_access_errors);
    r->expected_psn = (a->psn + a->sent) & VCX_PSN_MASK;
    r->nak = VCX_AETH_ACCESS;
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
        refuse(device, qp, a);
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

/* One acknowledgement of a queue pair waits for the line at a time: the next is of all that came meanwhile. */
static bool ack_is_due(struct vcx_device *device, const struct vcx_responder *r)
{
    return r->ack_due && !vcx_send_waits(device, r->ack_priority, r->ack_number);
}

static bool send_due(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_responder *r = &qp->responder;
    uint8_t nak = r->nak;
    if (!nak && !ack_is_due(device, r))
        return false;
    if (!send_acknowledge(device, qp, nak ? r->expected_psn : r->expected_psn - 1, nak ? nak : VCX_AETH_ACK))
        return false;
    r->nak = 0;
    r->ack_due = false;
    if (nak > VCX_AETH_SEQUENCE)
        vcx_qp_error(device, qp);
    return true;
}

uint32_t vcx_answers_poll(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t most)
{
    uint32_t sent = 0;
    while (sent < most && qp->responder.answer_head != qp->responder.answer_tail) {
        if (!send_next_answer(device, qp, now_ns))
            return sent;
        sent++;
    }
    if (qp->responder.answer_head == qp->responder.answer_tail && sent < most)
        sent += send_due(device, qp);
    return sent;
}
