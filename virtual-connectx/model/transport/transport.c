// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The transport as a whole: frames in, frames out, and whose turn it is. */
#include "virtual-connectx/model/transport/transport.h"

#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/vport/vport.h"

#define MOST_HEADER_BYTES 100u /* Ethernet with tag, IPv6, UDP, base transport header, ICRC, and pad */
#define PARTITION_NUMBER  0x7fff
#define GROUP_ADDRESS     1   /* in the first byte of a MAC address */
#define PACKETS_OF_QP     8u  /* at a turn */
#define PACKETS_AT_A_TIME 64u /* of all queue pairs */
#define FLUSHED_AT_A_TIME 32u

static int start_transport(struct vcx_device *device)
{
    device->transport = vcx_allocate(sizeof *device->transport);
    return device->transport ? vcx_congestion_start(device) : -1;
}

static void stop_transport(struct vcx_device *device)
{
    vcx_release(device->transport);
    device->transport = NULL;
    vcx_congestion_stop(device);
}

const struct vcx_room vcx_room_transport = {start_transport, stop_transport, vcx_transport_poll};

/* ---- sending */

bool vcx_transport_room(struct vcx_device *device, const struct vcx_route *route, uint32_t bytes)
{
    return vcx_send_room(device, route->priority, true) >= bytes + MOST_HEADER_BYTES;
}

static void loop_to_members(struct vcx_device *device, const struct vcx_frame *frame)
{
    struct vcx_frame *copy = vcx_frame_copy(frame);
    if (copy)
        vcx_send_to_itself(device, copy);
}

void vcx_transport_send(struct vcx_device *device, const struct vcx_route *route, struct vcx_frame *frame)
{
    frame->rdma = true;
    vcx_packet_close(frame);
    if (route->path.destination_mac[0] & GROUP_ADDRESS &&
        vcx_multicast_has_members(device, route->path.destination))
        loop_to_members(device, frame);
    vcx_vport_count(device, VCX_VPORT_RDMA, VCX_VPORT_SENT, frame->data, frame->length);
    vcx_send(device, frame, route->priority);
}

/* ---- receiving */

static struct vcx_qp *find_gsi(struct vcx_device *device)
{
    struct vcx_qp *qp = vcx_object_from(device, VCX_QP, 0);
    while (qp && qp->type != VCX_QP_GSI)
        qp = vcx_object_from(device, VCX_QP, qp->object.id + 1);
    return qp;
}

static enum vcx_service service_of(const struct vcx_qp *qp)
{
    static const enum vcx_service services[] = {
        [VCX_QP_RC] = VCX_SERVICE_RC,   [VCX_QP_UC] = VCX_SERVICE_UC,  [VCX_QP_UD] = VCX_SERVICE_UD,
        [VCX_QP_XRC] = VCX_SERVICE_XRC, [VCX_QP_GSI] = VCX_SERVICE_UD, [VCX_QP_UMR] = VCX_SERVICE_CNP};
    return services[qp->type];
}

static void dispatch(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
{
    if ((uint32_t)packet->opcode >> 5 != service_of(qp) || qp->type == VCX_QP_UMR)
        return;
    if (vcx_qp_is_datagram(qp)) {
        vcx_datagram_receive(device, qp, packet);
        return;
    }
    vcx_congestion_notify(device, qp, packet);
    if (vcx_operations[packet->opcode & 0x1f].response)
        vcx_acknowledge_receive(device, qp, packet);
    else
        vcx_responder_receive(device, qp, packet);
}

static void receive(struct vcx_device *device, const struct vcx_packet *packet)
{
    if ((packet->partition & PARTITION_NUMBER) != PARTITION_NUMBER)
        return; /* of another partition than the default one, the only one of RoCE */
    struct vcx_qp *qp =
        packet->qpn == VCX_GSI_QPN ? find_gsi(device) : vcx_object(device, VCX_QP, packet->qpn);
    if (packet->opcode == VCX_OPCODE_CNP)
        vcx_congestion_cnp(device, qp);
    else if (packet->qpn == VCX_MULTICAST_QPN && packet->opcode >> 5 == VCX_SERVICE_UD)
        vcx_datagram_multicast(device, packet);
    else if (qp)
        dispatch(device, qp, packet);
}

bool vcx_transport_receive(struct vcx_device *device, struct vcx_frame *frame)
{
    struct vcx_packet packet;
    enum vcx_parsed parsed = vcx_packet_parse(frame, &packet);
    if (parsed == VCX_OTHER_FRAME)
        return false;
    if (parsed == VCX_PACKET) {
        vcx_vport_count(device, VCX_VPORT_RDMA, VCX_VPORT_RECEIVED, frame->data, frame->length);
        receive(device, &packet);
    }
    vcx_release(frame);
    return true;
}

/* ---- turns */

static bool has_data_to_send(const struct vcx_qp *qp)
{
    return qp->requester.cursor != qp->requester.head ||
           qp->responder.answer_tail != qp->responder.answer_head;
}

static uint32_t poll_qp(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    uint32_t work = 0;
    if (qp->state == VCX_QP_ERROR || qp->state == VCX_QP_SQ_ERROR)
        work = vcx_qp_flush(device, qp, FLUSHED_AT_A_TIME);
    if (vcx_qp_receives(qp) && vcx_qp_is_reliable(qp))
        work += vcx_answers_poll(device, qp, now_ns, PACKETS_OF_QP);
    if (qp->state == VCX_QP_RTS)
        work += vcx_requester_poll(device, qp, now_ns, PACKETS_OF_QP);
    if (!has_data_to_send(qp))
        vcx_congestion_idle(qp, now_ns);
    return work;
}

/* Each queue pair once, from the one whose turn it is, until the packets of a poll are sent. The next poll begins behind the first one
 * that sent data: on a line that takes less than that at a time the others would never have their turn. */
bool vcx_transport_poll(struct vcx_device *device)
{
    struct vcx_transport *t = device->transport;
    uint64_t now_ns = vcx_now_ns(device);
    uint32_t work = 0, after_first = 0;
    bool any_sent = false;
    for (uint32_t i = 0; i < device->numbers[VCX_QP].used && work < PACKETS_AT_A_TIME; i++) {
        struct vcx_qp *qp = vcx_object_from(device, VCX_QP, t->next_qp);
        if (!qp)
            qp = vcx_object_from(device, VCX_QP, 0);
        t->next_qp = qp->object.id + 1;
        t->data_sent = false;
        work += poll_qp(device, qp, now_ns);
        if (t->data_sent && !any_sent)
            after_first = t->next_qp;
        any_sent |= t->data_sent;
    }
    if (any_sent)
        t->next_qp = after_first;
    return work > 0;
}
