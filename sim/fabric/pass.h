/*
 * A frame passes a switch from one link to the next.
 *
 * When its egress port is idle and its ingress port is far from XOFF, it occupies no buffer and is not marked: nothing changes but
 * counters and peaks. If both links join islands, it is copied from ring to ring then. That is most hops of a network without
 * congestion. Every other frame takes the way through switch.c, with the same result.
 */
#ifndef SIM_PASS_H
#define SIM_PASS_H

#include "sim/fabric/shared_buffer.h"
#include "sim/host/send.h"

/* May a frame for this queue go to the link at once, unseen, and is there room in its ring? */
static inline bool leads_out(const struct sim *sim, const struct port *out, unsigned queue)
{
    return port_is_idle(sim, out, queue) && !(out->flags & (PORT_INSIDE | PORT_CAPTURED)) &&
           out->out.tail - out->out.head_seen <= out->out.mask;
}

/* The frame that arrives now at a port with PORT_PASSES. Did it pass? Else nothing has changed. */
static inline bool pass(struct sim *sim, uint32_t port)
{
    struct port *in = &sim->ports[port];
    if (!(in->flags & PORT_PASSES)) /* a link within an island has no ring */
        return false;
    const struct packet *frame = ring_first(in);
    if (frame->kind == PACKET_PFC)
        return false;
    struct port *out = &sim->ports[sim->paths[frame->path]];
    unsigned priority = frame->priority, queue = queue_of(priority);
    struct fabric_switch *s = &sim->switches[in->node];
    if (!leads_out(sim, out, queue) || !(s->pfc_mask >> priority & 1) ||
        !passes_buffer(s, &sim->switch_ports[port], priority, frame->bytes))
        return false;
    port_cancel(sim, out);
    struct packet *next = ring_place(out);
    copy_packet(next, frame);
    next->path++;
    queue_peak(&out->queues[queue], next->bytes);
    count_sent(&out->queues[queue], next->bytes);
    link_arrived(sim, in);
    ring_advance(sim, port, in);
    out->busy_until_ps = sim->now_ps + frame_ps(sim, out, next->bytes);
    ring_send(sim, out, next, out->busy_until_ps + out->delay_ps);
    return true;
}

#endif
