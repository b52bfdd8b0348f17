// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Datagrams: UD, and queue pair 1 of connection management; multicast groups. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/vport/vport.h"

#define DETH_BYTES       8u
#define GRH_BYTES        40u
#define IPV4_BYTES       20u
#define DEFAULT_KEY      0xffff
#define KEY_OF_CONTEXT   0x80000000u /* a Q_Key with this bit stands for the queue pair's own */
#define GRH_IN_BUFFER    (1u << 28)  /* in a completion's flags */
#define NETWORK_SHIFT    24
#define NETWORK_IPV6     1u /* mlx5's MLX5_CQE_ROCE_L3_HEADER_TYPE_* */
#define NETWORK_IPV4     2u
#define HEADER_TYPE_VLAN 1u
#define TYPE_TAG         0x8100
/* positions in an address vector (mlx5's struct mlx5_av) */
#define VECTOR_KEY 0
#define VECTOR_QPN 8

/* ---- a datagram is sent */

static uint32_t own_number(const struct vcx_qp *qp)
{
    uint32_t other = (uint32_t)vcx_get(qp->context, qpc, deth_sqpn);
    if (qp->type == VCX_QP_GSI)
        return VCX_GSI_QPN;
    return other ? other : qp->object.id;
}

static uint32_t write_datagram_extension(const struct vcx_qp *qp, const struct vcx_request *q, uint8_t *to)
{
    uint32_t key = vcx_be32(q->vector + VECTOR_KEY);
    vcx_put32(to, key & KEY_OF_CONTEXT ? (uint32_t)vcx_get(qp->context, qpc, q_key) : key);
    vcx_put32(to + 4, own_number(qp));
    if (!q->row->immediate)
        return DETH_BYTES;
    memcpy(to + DETH_BYTES, q->immediate, 4);
    return DETH_BYTES + 4;
}

bool vcx_datagram_send(struct vcx_device *device, struct vcx_qp *qp, struct vcx_request *q)
{
    uint8_t extension[DETH_BYTES + 4], *payload;
    uint8_t operation = q->row->immediate ? VCX_SEND_ONLY_IMMEDIATE : VCX_SEND_ONLY;
    struct vcx_packet_header h = {.opcode = (uint8_t)(VCX_SERVICE_UD << 5 | operation),
                                  .solicited = q->solicited,
                                  .partition = DEFAULT_KEY,
                                  .qpn = vcx_be32(q->vector + VECTOR_QPN) & 0xffffff,
                                  .psn = q->first_psn,
                                  .extension = extension,
                                  .extension_bytes = write_datagram_extension(qp, q, extension)};
    struct vcx_route route;
    vcx_route_vector(device, qp, q->vector, &route);
    vcx_congestion_capable(device, &route);
    struct vcx_frame *frame = vcx_transport_room(device, &route, h.extension_bytes + q->length)
                                  ? vcx_packet_open(&route.path, &h, q->length, &payload)
                                  : NULL;
    if (!frame)
        return false;
    if (q->length)
        q->ending = vcx_scatter_read(device, qp->rights, &q->memory, 0, payload, q->length);
    if (q->ending) {
        vcx_release(frame);
        return false;
    }
    vcx_transport_send(device, &route, frame);
    return true;
}

/* ---- a datagram is received */

/* A receive request begins with 40 bytes for the network header; one of IPv4 lies at their end. */
static uint8_t write_header(struct vcx_device *device, const struct vcx_receive *receive,
                            const struct vcx_packet *packet)
{
    uint8_t header[GRH_BYTES] = {0};
    if (packet->v6)
        memcpy(header, packet->l3, GRH_BYTES);
    else
        memcpy(header + GRH_BYTES - IPV4_BYTES, packet->l3, IPV4_BYTES);
    return vcx_scatter_write(device, receive->rights, &receive->memory, 0, header, sizeof header);
}

static void put_tag(uint8_t *completion, const struct vcx_packet *packet)
{
    if (vcx_be16(packet->ethernet + 12) != TYPE_TAG)
        return;
    completion[VCX_CQE_L4_L3_TYPE] = HEADER_TYPE_VLAN;
    memcpy(completion + VCX_CQE_VLAN, packet->ethernet + 14, 2);
}

static void complete_datagram(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet,
                              const uint8_t *immediate, uint32_t bytes)
{
    const struct vcx_receive *receive = &qp->responder.receive;
    uint8_t completion[VCX_CQE_BYTES] = {0};
    uint32_t network = packet->v6 ? NETWORK_IPV6 : NETWORK_IPV4;
    vcx_put32(completion + VCX_CQE_FLAGS_RQPN,
              vcx_be24(packet->header + 5) | GRH_IN_BUFFER | network << NETWORK_SHIFT);
    vcx_put32(completion + VCX_CQE_SRQN_UIDX, receive->user_index);
    if (immediate)
        memcpy(completion + VCX_CQE_IMMEDIATE, immediate, 4);
    else if (qp->type == VCX_QP_GSI) /* the partition key has the immediate value's place */
        vcx_put32(completion + VCX_CQE_IMMEDIATE, packet->partition);
    put_tag(completion, packet);
    vcx_put32(completion + VCX_CQE_BYTE_COUNT, GRH_BYTES + bytes);
    vcx_put32(completion + VCX_CQE_OPCODE_QPN, qp->object.id);
    vcx_put16(completion + VCX_CQE_WQE_COUNTER, receive->index);
    qp->responder.took_receive = false;
    vcx_qp_tell(device, qp, receive->cq, immediate ? VCX_CQE_SEND_IMMEDIATE : VCX_CQE_SEND, completion,
                packet->solicited);
}

/* A datagram that does not fit is dropped; its receive request serves the next one. */
static bool take_receive(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_responder *r = &qp->responder;
    if (!r->took_receive)
        r->took_receive = vcx_receive_take(device, qp, 0, &r->receive);
    if (!r->took_receive)
        vcx_qp_count(device, qp, out_of_buffer);
    return r->took_receive;
}

void vcx_datagram_receive(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
{
    bool immediate = (packet->opcode & 0x1f) == VCX_SEND_ONLY_IMMEDIATE;
    uint32_t header = DETH_BYTES + (immediate ? 4 : 0);
    const struct vcx_receive *receive = &qp->responder.receive;
    if ((!immediate && (packet->opcode & 0x1f) != VCX_SEND_ONLY) || packet->bytes < header ||
        !vcx_qp_receives(qp) || vcx_be32(packet->header) != vcx_get(qp->context, qpc, q_key))
        return;
    uint32_t bytes = packet->bytes - header;
    if (!take_receive(device, qp) || GRH_BYTES + bytes > receive->memory.bytes)
        return;
    uint8_t ending = write_header(device, receive, packet);
    if (!ending && bytes)
        ending = vcx_scatter_write(device, receive->rights, &receive->memory, GRH_BYTES,
                                   packet->header + header, bytes);
    if (ending) {
        vcx_receive_fail(device, qp, (enum vcx_ending)ending);
        vcx_qp_error(device, qp);
        return;
    }
    complete_datagram(device, qp, packet, immediate ? packet->header + DETH_BYTES : NULL, bytes);
}

/* ---- multicast */

/* A packet's destination as a GID. */
static void group_of(const struct vcx_packet *packet, uint8_t *group)
{
    memset(group, 0, 16);
    if (packet->v6) {
        memcpy(group, packet->l3 + 24, 16);
        return;
    }
    group[10] = group[11] = 0xff;
    memcpy(group + 12, packet->l3 + 16, 4);
}

/* What the queue pair itself sent came back, and its driver does not want that (verbs'
 * IBV_QP_CREATE_BLOCK_SELF_MCAST_LB). */
static bool is_unwanted(const struct vcx_device *device, const struct vcx_qp *qp,
                        const struct vcx_packet *packet)
{
    uint8_t own[6];
    vcx_vport_mac(device, own);
    return vcx_get(qp->context, qpc, block_lb_mc) && packet->bytes >= DETH_BYTES &&
           memcmp(packet->ethernet + sizeof own, own, sizeof own) == 0 &&
           vcx_be24(packet->header + 5) == own_number(qp);
}

void vcx_datagram_multicast(struct vcx_device *device, const struct vcx_packet *packet)
{
    uint8_t group[16];
    group_of(packet, group);
    for (uint32_t i = 0; i < VCX_MULTICAST_MEMBERS; i++) {
        const struct vcx_multicast_member *m = &device->transport->members[i];
        struct vcx_qp *qp = m->qpn ? vcx_object(device, VCX_QP, m->qpn) : NULL;
        if (qp && vcx_qp_is_datagram(qp) && memcmp(m->group, group, sizeof group) == 0 &&
            !is_unwanted(device, qp, packet))
            vcx_datagram_receive(device, qp, packet);
    }
}

bool vcx_multicast_has_members(const struct vcx_device *device, const uint8_t *group)
{
    for (uint32_t i = 0; i < VCX_MULTICAST_MEMBERS; i++) {
        const struct vcx_multicast_member *m = &device->transport->members[i];
        if (m->qpn && memcmp(m->group, group, sizeof m->group) == 0)
            return true;
    }
    return false;
}

static struct vcx_multicast_member *find_member(struct vcx_device *device, uint32_t qpn, const uint8_t *group)
{
    for (uint32_t i = 0; i < VCX_MULTICAST_MEMBERS; i++) {
        struct vcx_multicast_member *m = &device->transport->members[i];
        if (m->qpn == qpn && (!qpn || memcmp(m->group, group, sizeof m->group) == 0))
            return m;
    }
    return NULL;
}

bool vcx_multicast_attach(struct vcx_device *device, uint32_t qpn, const uint8_t *group)
{
    struct vcx_multicast_member *empty = find_member(device, 0, group);
    if (find_member(device, qpn, group))
        return true;
    if (!empty)
        return false;
    empty->qpn = qpn;
    memcpy(empty->group, group, sizeof empty->group);
    return true;
}

bool vcx_multicast_detach(struct vcx_device *device, uint32_t qpn, const uint8_t *group)
{
    struct vcx_multicast_member *m = qpn ? find_member(device, qpn, group) : NULL;
    if (m)
        m->qpn = 0;
    return m;
}

void vcx_multicast_leave(struct vcx_device *device, uint32_t qpn)
{
    for (uint32_t i = 0; i < VCX_MULTICAST_MEMBERS; i++)
        if (device->transport->members[i].qpn == qpn)
            device->transport->members[i].qpn = 0;
}
