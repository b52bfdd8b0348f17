// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The shared packet buffer. Dynamic thresholds: a port's priority may hold alpha times what is free (Choudhury and Hahne, "Dynamic Queue
 * Length Thresholds for Shared-Memory Packet Switches", 1998).
 */
#include "virtual-connectx/model/switch/inside.h"

uint64_t vcx_shared_held(const struct vcx_switch *sw)
{
    uint64_t bytes = 0;
    for (uint8_t i = 0; i < sw->count; i++)
        for (int p = 0; p < VCX_PRIORITIES; p++)
            bytes += sw->ports[i].held[p];
    return bytes;
}

static uint64_t threshold(const struct vcx_switch *sw)
{
    uint64_t used = vcx_shared_held(sw), free = used < sw->shared_bytes ? sw->shared_bytes - used : 0;
    return sw->alpha_eighths ? free * sw->alpha_eighths / 8 : sw->threshold_bytes;
}

/* With XOFF sent, what comes in is headroom's, however the threshold moves. */
void vcx_shared_fill(void *owner, const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill)
{
    const struct vcx_switch *sw = owner;
    const struct vcx_xoff *xoff = &port->xoff[priority];
    uint64_t limit = threshold(sw);
    *fill = (struct vcx_fill){.held = port->held[priority], .size = limit, .lossy = true};
    if (!(port->settings.pfc_tx >> priority & 1))
        return;
    fill->lossy = false;
    fill->xoff = limit;
    fill->xon = limit > sw->hysteresis_bytes ? limit - sw->hysteresis_bytes : 0;
    fill->size = (xoff->on ? xoff->held_bytes : vcx_most(limit, fill->held)) + sw->headroom_bytes;
}

void vcx_shared_hold(struct vcx_switch *sw, const struct vcx_frame *frame)
{
    sw->ports[frame->port].held[frame->priority] += frame->length;
}

void vcx_shared_release(struct vcx_switch *sw, const struct vcx_frame *frame)
{
    vcx_port_release(&sw->ports[frame->port], frame->priority, frame->length);
}
