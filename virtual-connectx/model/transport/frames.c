// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames of the transport: their way, from source addresses and a queue pair's path to headers; frames
 * out, frames in, and whose turn it is. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/vport/vport.h"

/* ---- the way of a packet: from the table of source addresses and a path or vector to headers */

#define QUERY_ROCE_ADDRESS 0x760
#define SET_ROCE_ADDRESS   0x761

#define DEFAULT_HOPS      64
#define LEAST_SOURCE_PORT 0xc000
/* positions in an address vector (mlx5's struct mlx5_av) */
#define VECTOR_SL        12
#define VECTOR_PORT      14
#define VECTOR_MAC       20
#define VECTOR_CLASS     26
#define VECTOR_HOPS      27
#define VECTOR_GID_INDEX 28 /* with the flow label */
#define VECTOR_GID       32

static enum vcx_status set_address(struct vcx_call *call)
{
    uint64_t index = vcx_get(call->in, set_roce_address_in, roce_address_index);
    if (index >= VCX_SOURCES)
        return VCX_BAD_PARAMETER;
    memcpy(call->device->transport->source[index], vcx_at(call->in, set_roce_address_in, roce_address),
           VCX_SOURCE_BYTES);
    return VCX_OK;
}

static enum vcx_status query_address(struct vcx_call *call)
{
    uint64_t index = vcx_get(call->in, query_roce_address_in, roce_address_index);
    if (index >= VCX_SOURCES)
        return VCX_BAD_PARAMETER;
    memcpy(vcx_at(call->out, query_roce_address_out, roce_address), call->device->transport->source[index],
           VCX_SOURCE_BYTES);
    return VCX_OK;
}

const struct vcx_command vcx_commands_addresses[] = {
    {SET_ROCE_ADDRESS, vcx_offset(set_roce_address_in, roce_address) + VCX_SOURCE_BYTES, 16, set_address},
    {QUERY_ROCE_ADDRESS, 16, vcx_offset(query_roce_address_out, roce_address) + VCX_SOURCE_BYTES,
     query_address},
    {0},
};

static bool is_v4(const uint8_t *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, mapped, sizeof mapped) == 0;
}

static void set_source(struct vcx_device *device, uint32_t index, struct vcx_path *path)
{
    const uint8_t *source = device->transport->source[index % VCX_SOURCES];
    vcx_put16(path->source_mac, (uint16_t)vcx_get(source, roce_addr_layout, source_mac_47_32));
    vcx_put32(path->source_mac + 2, (uint32_t)vcx_get(source, roce_addr_layout, source_mac_31_0));
    memcpy(path->source, vcx_at(source, roce_addr_layout, source_l3_address), sizeof path->source);
    path->tagged = vcx_get(source, roce_addr_layout, vlan_valid);
    path->vlan = (uint16_t)vcx_get(source, roce_addr_layout, vlan_id);
}

/* What follows from the fields that are set. */
static void route_finish(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route)
{
    struct vcx_path *path = &route->path;
    path->v6 = !is_v4(path->destination);
    if (!path->hop_limit)
        path->hop_limit = DEFAULT_HOPS;
    if (!path->source_port)
        path->source_port = (uint16_t)(LEAST_SOURCE_PORT | (qp->object.id & 0x3fff));
    route->priority = vcx_send_priority(device, path->dscp, path->pcp);
}

void vcx_route_connection(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route)
{
    const uint8_t *ads = vcx_at(qp->context, qpc, primary_address_path);
    struct vcx_path *path = &route->path;
    memset(route, 0, sizeof *route);
    set_source(device, (uint32_t)vcx_get(ads, ads, src_addr_index), path);
    vcx_put16(path->destination_mac, (uint16_t)vcx_get(ads, ads, rmac_47_32));
    vcx_put32(path->destination_mac + 2, (uint32_t)vcx_get(ads, ads, rmac_31_0));
    memcpy(path->destination, vcx_at(ads, ads, rgid_rip), sizeof path->destination);
    path->dscp = (uint8_t)vcx_get(ads, ads, dscp);
    path->pcp = (uint8_t)vcx_get(ads, ads, eth_prio);
    path->hop_limit = (uint8_t)vcx_get(ads, ads, hop_limit);
    path->source_port = (uint16_t)vcx_get(ads, ads, udp_sport);
    route_finish(device, qp, route);
}

void vcx_route_vector(struct vcx_device *device, const struct vcx_qp *qp, const uint8_t *vector,
                      struct vcx_route *route)
{
    struct vcx_path *path = &route->path;
    memset(route, 0, sizeof *route);
    set_source(device, vcx_be32(vector + VECTOR_GID_INDEX) >> 20 & 0xff, path);
    memcpy(path->destination_mac, vector + VECTOR_MAC, sizeof path->destination_mac);
    memcpy(path->destination, vector + VECTOR_GID, sizeof path->destination);
    path->dscp = vector[VECTOR_CLASS] >> 2;
    path->pcp = vector[VECTOR_SL] >> 1 & 7;
    path->hop_limit = vector[VECTOR_HOPS];
    path->source_port = vcx_be16(vector + VECTOR_PORT);
    route_finish(device, qp, route);
}

#define MOST_HEADER_BYTES  100u /* Ethernet with tag, IPv6, UDP, base transport header, ICRC, and pad */
#define PARTITION_NUMBER   0x7fff
#define GROUP_ADDRESS      1  /* in the first byte of a MAC address */
#define PACKETS_OF_QP      8u /* at a turn */
#define DOORBELLS_EVERY_NS 1000000u
#define PACKETS_AT_A_TIME  64u /* of all queue pairs */
#define FLUSHED_AT_A_TIME  32u

static int start_transport(struct vcx_device *device)
{
    device->transport = vcx_allocate(sizeof *device->transport);
    if (!device->transport)
        return -1;
    vcx_retransmission_start(device);
    return vcx_congestion_start(device);
}

static void stop_transport(struct vcx_device *device)
{
    vcx_release(device->transport);
    device->transport = NULL;
    vcx_congestion_stop(device);
}

static bool transport_poll(struct vcx_device *device);

const struct vcx_room vcx_room_transport = {start_transport, stop_transport, transport_poll};

/* ---- frames out */

bool vcx_transport_room(struct vcx_device *device, const struct vcx_route *route, uint32_t bytes)
{
    return vcx_send_room(device, route->priority, true) >= bytes + MOST_HEADER_BYTES;
}

void vcx_transport_send(struct vcx_device *device, const struct vcx_route *route, struct vcx_frame *frame)
{
    frame->rdma = true;
    vcx_packet_close(frame);
    if (route->path.destination_mac[0] & GROUP_ADDRESS &&
        vcx_multicast_has_members(device, route->path.destination)) {
        struct vcx_frame *copy = vcx_frame_copy(frame);
        if (copy)
            vcx_send_to_itself(device, copy);
    }
    vcx_vport_count(device, VCX_VPORT_RDMA, VCX_VPORT_SENT, frame->data, frame->length);
    vcx_send(device, frame, route->priority);
}

/* ---- frames in */

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

static void qp_receive_packet(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
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

static void transport_receive_packet(struct vcx_device *device, const struct vcx_packet *packet)
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
        qp_receive_packet(device, qp, packet);
}

bool vcx_transport_receive(struct vcx_device *device, struct vcx_frame *frame)
{
    struct vcx_packet packet;
    enum vcx_parsed parsed = vcx_packet_parse(frame, &packet);
    if (parsed == VCX_OTHER_FRAME)
        return false;
    if (parsed == VCX_PACKET) {
        vcx_vport_count(device, VCX_VPORT_RDMA, VCX_VPORT_RECEIVED, frame->data, frame->length);
        transport_receive_packet(device, &packet);
    }
    vcx_release(frame);
    return true;
}

/* ---- turns */

static bool has_data_to_send(const struct vcx_qp *qp)
{
    return qp->requester.cursor != qp->requester.head || qp->requester.again_count ||
           qp->responder.answer_tail != qp->responder.answer_head;
}

static uint32_t poll_qp(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    uint32_t work = 0;
    if (qp->state == VCX_QP_ERROR || qp->state == VCX_QP_SQ_ERROR)
        work = vcx_qp_flush(device, qp, now_ns, FLUSHED_AT_A_TIME);
    if (vcx_qp_receives(qp) && vcx_qp_is_reliable(qp))
        work += vcx_answers_poll(device, qp, now_ns, PACKETS_OF_QP);
    if (qp->state == VCX_QP_RTS)
        work += vcx_requester_poll(device, qp, now_ns, PACKETS_OF_QP);
    if (!has_data_to_send(qp))
        vcx_congestion_idle(qp, now_ns);
    return work;
}

/* Each queue pair once, from the one whose turn it is, until the packets of a poll are sent. The next poll
 * begins behind the first one that sent data: on a line that takes less than that at a time the others
 * would never have their turn. */
static bool transport_poll(struct vcx_device *device)
{
    struct vcx_transport *t = device->transport;
    uint64_t now_ns = vcx_now_ns(device);
    uint32_t work = 0, after_first = 0;
    if (now_ns - t->looked_ns >= DOORBELLS_EVERY_NS) {
        vcx_doorbells_read(device);
        t->looked_ns = now_ns;
    }
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
