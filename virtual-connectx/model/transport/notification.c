// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Congestion control of a queue pair: marks and CNPs on their way, and the pace of what it sends. */
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/late.h"
#include "virtual-connectx/model/transport/transport.h"

#define CNP_BYTES 16u /* of zeros after the base transport header */
#define NS_PER_US 1000u
#define TYPE_TAG  0x8100

static bool enabled(const struct vcx_device *device, enum vcx_congestion_point point, uint8_t priority)
{
    return device->congestion->enabled[point][priority % VCX_PRIORITIES];
}

/* ---- the notification point */

#define OF_NOTIFICATION_POINT(field) \
    vcx_get(device->congestion->block[VCX_NOTIFICATION_POINT], cong_control_r_roce_ecn_np, field)

static bool cnp_is_due(const struct vcx_device *device, const struct vcx_qp *qp, uint64_t now_ns)
{
    uint64_t gap = vcx_stretch_ns(device, OF_NOTIFICATION_POINT(min_time_between_cnps) * NS_PER_US);
    return !qp->cnp_sent_ns || now_ns - qp->cnp_sent_ns >= gap;
}

static void route_cnp(struct vcx_device *device, const struct vcx_qp *qp, struct vcx_route *route)
{
    vcx_route_connection(device, qp, route);
    route->path.dscp = (uint8_t)OF_NOTIFICATION_POINT(cnp_dscp);
    route->path.ecn = VCX_ECT_0; /* as captured from a ConnectX-4 Lx */
    if (OF_NOTIFICATION_POINT(cnp_prio_mode)) {
        route->priority = vcx_send_priority(device, route->path.dscp, route->path.pcp);
        return;
    }
    route->path.pcp = (uint8_t)OF_NOTIFICATION_POINT(cnp_802p_prio);
    route->priority = route->path.pcp;
}

static void send_cnp(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    static const uint8_t zeros[CNP_BYTES];
    uint8_t *payload;
    struct vcx_packet_header h = {.opcode = VCX_OPCODE_CNP,
                                  .becn = true,
                                  .partition = 0xffff,
                                  .qpn = qp->remote_qpn,
                                  .extension = zeros,
                                  .extension_bytes = CNP_BYTES};
    struct vcx_route route;
    route_cnp(device, qp, &route);
    struct vcx_frame *frame =
        vcx_transport_room(device, &route, CNP_BYTES) ? vcx_packet_open(&route.path, &h, 0, &payload) : NULL;
    if (!frame)
        return;
    qp->cnp_sent_ns = now_ns;
    device->congestion->cnps_sent++;
    vcx_transport_send(device, &route, frame);
}

static uint8_t priority_of(struct vcx_device *device, const struct vcx_packet *packet)
{
    bool tagged = vcx_be16(packet->ethernet + 12) == TYPE_TAG;
    return vcx_send_priority(device, packet->dscp, tagged ? packet->ethernet[14] >> 5 : 0);
}

void vcx_congestion_notify(struct vcx_device *device, struct vcx_qp *qp, const struct vcx_packet *packet)
{
    uint64_t now_ns = vcx_now_ns(device);
    if (packet->ecn != VCX_CE || !vcx_qp_receives(qp) ||
        !enabled(device, VCX_NOTIFICATION_POINT, priority_of(device, packet)))
        return;
    device->congestion->marked++;
    if (cnp_is_due(device, qp, now_ns))
        send_cnp(device, qp, now_ns);
}

/* ---- the reaction point */

static bool reacts(struct vcx_device *device, const struct vcx_qp *qp)
{
    struct vcx_route route;
    if (qp->state < VCX_QP_RTR || qp->state > VCX_QP_RTS)
        return false;
    vcx_route_connection(device, qp, &route);
    return enabled(device, VCX_REACTION_POINT, route.priority);
}

void vcx_congestion_capable(struct vcx_device *device, struct vcx_route *route)
{
    if (enabled(device, VCX_REACTION_POINT, route->priority))
        route->path.ecn = VCX_ECT_0;
}

void vcx_congestion_cnp(struct vcx_device *device, struct vcx_qp *qp)
{
    struct vcx_congestion *c = device->congestion;
    if (!qp || !reacts(device, qp)) {
        c->cnps_ignored++;
        return;
    }
    c->cnps_handled++;
    c->flows += !qp->reaction.started;
    vcx_reaction_cnp(&qp->reaction, &c->reaction, vcx_nominal_ns(device, vcx_now_ns(device)));
}

bool vcx_congestion_may_send(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns)
{
    if (!qp->reaction.started)
        return true;
    return vcx_reaction_advance(&qp->reaction, &device->congestion->reaction,
                                vcx_nominal_ns(device, now_ns)) &&
           now_ns >= qp->next_send_ns;
}

void vcx_congestion_sent(struct vcx_device *device, struct vcx_qp *qp, uint64_t now_ns, uint32_t bytes)
{
    if (!qp->reaction.started)
        return;
    uint64_t gap = vcx_reaction_sent(&qp->reaction, &device->congestion->reaction,
                                     vcx_nominal_ns(device, now_ns), bytes);
    vcx_take_ns(&qp->next_send_ns, now_ns, vcx_stretch_ns(device, gap));
}

void vcx_congestion_idle(struct vcx_qp *qp, uint64_t now_ns)
{
    qp->next_send_ns = vcx_most(qp->next_send_ns, now_ns);
}
