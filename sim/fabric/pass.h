/*
 * A frame passes a switch from one link to the next.
 *
 * When its egress port is idle and its ingress port is far from XOFF, it occupies no buffer and is not
 * marked: nothing changes but counters and peaks. If both links join islands, it is copied from ring to ring
 * then. That is most hops of a network without congestion. Every other frame takes the way through switch.c,
 * with the same result.
 */
#ifndef SIM_PASS_H
#define SIM_PASS_H

#include "sim/fabric/switch.h"
#include "sim/host/egress.h"

/* ---- the shared buffer: dynamic thresholds (Choudhury and Hahne, 1998) over what ingress ports hold */

static inline int64_t xoff_threshold(const struct fabric_switch *s, const struct switch_port *at)
{
    if (s->static_xoff_bytes)
        return s->static_xoff_bytes;
    int64_t free_bytes = s->shared_bytes - s->shared_used;
    return free_bytes > 0 ? (int64_t)((uint64_t)free_bytes * at->xoff_q16 >> 16) : 0;
}

static inline int64_t shared_use(const struct fabric_switch *s, const struct switch_port *at,
                                 unsigned priority)
{
    int64_t over = at->ingress[priority].used - s->reserve_bytes;
    return over > 0 ? over : 0;
}

/* If the shared part grows by this much and this port uses `use` of it, are neither XOFF nor headroom
 * needed? */
static inline bool far_from_xoff(const struct fabric_switch *s, const struct switch_port *at, int64_t use,
                                 int64_t shared_used)
{
    if (s->static_xoff_bytes)
        return use < s->static_xoff_bytes;
    int64_t free_bytes = s->shared_bytes - shared_used;
    return free_bytes > 0 && use < (int64_t)((uint64_t)free_bytes * at->xoff_q16 >> 16);
}

/* May a frame of a lossless priority go through without being kept? Then the peak is as if it had been. */
static inline bool passes_buffer(struct fabric_switch *s, const struct switch_port *at, unsigned priority,
                                 uint32_t frame_bytes)
{
    if (at->ingress[priority].headroom_used || at->xoff >> priority & 1)
        return false;
    int64_t bytes = frame_bytes, over = at->ingress[priority].used + bytes - s->reserve_bytes;
    int64_t shared = over < 0 ? 0 : over < bytes ? over : bytes;
    if (!far_from_xoff(s, at, shared_use(s, at, priority) + bytes, s->shared_used + shared))
        return false;
    if (s->shared_used + shared > s->peak_bytes)
        s->peak_bytes = s->shared_used + shared;
    return true;
}

/* ---- passing */

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
    if (!leads_out(sim, out, queue) || !(sim->switch_ports[port].pfc_mask >> priority & 1) ||
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
