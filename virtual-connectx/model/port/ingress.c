// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames on their way in: the cable, the receive buffers, and out of them as fast as the owner takes them. */
#include "virtual-connectx/model/port/inside.h"

#include "virtual-connectx/model/transport/packet.h"

#define DELIVERED_PER_POLL 256
#define TYPE_TAG           0x8100
#define AT_TYPE            12
#define AT_TAG             14
#define NEARLY_FULL        85 /* percent, from which on rx_buffer_passed_thres_phy counts (mlx5's counters.rst) */
#define LOOPED             VCX_PRIORITIES /* the queue of the port's own frames */

uint8_t vcx_port_priority(const struct vcx_port *port, const struct vcx_frame *frame)
{
    uint8_t dscp, ecn;
    if (port->settings.trust == VCX_TRUST_DSCP)
        return vcx_frame_ip(frame, &dscp, &ecn) ? port->settings.priority_of_dscp[dscp] % VCX_PRIORITIES : 0;
    if (frame->length < AT_TAG + 2 || vcx_be16(frame->data + AT_TYPE) != TYPE_TAG)
        return 0;
    return frame->data[AT_TAG] >> 5;
}

/* ---- memory */

static uint8_t buffer_of(const struct vcx_port *port, uint8_t priority)
{
    return port->settings.buffer_of_priority[priority] % VCX_RECEIVE_BUFFERS;
}

void vcx_ingress_fill(const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill)
{
    if (port->ops->fill) {
        port->ops->fill(port->owner, port, priority, fill);
        return;
    }
    uint8_t buffer = buffer_of(port, priority);
    const struct vcx_receive_buffer *b = &port->settings.buffers[buffer];
    *fill = (struct vcx_fill){0, b->bytes, b->xoff_bytes, b->xon_bytes, b->lossy};
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        if (buffer_of(port, i) == buffer)
            fill->held += port->held[i];
}

void vcx_port_release(struct vcx_port *port, uint8_t priority, uint32_t bytes)
{
    uint64_t *held = &port->held[priority % VCX_PRIORITIES];
    *held -= vcx_least(*held, bytes);
}

/* ---- from the wire */

static void count(struct vcx_port *port, const struct vcx_frame *frame)
{
    struct vcx_priority_counters *c = &port->counters.priority[frame->priority];
    uint8_t dscp, ecn;
    vcx_count_frame(&port->counters.rx, frame);
    c->rx_frames++;
    c->rx_bytes += vcx_padded_bytes(frame) + VCX_FCS_BYTES;
    if (vcx_frame_ip(frame, &dscp, &ecn) && ecn == VCX_CE)
        c->rx_marked++;
}

/* Nothing was waiting for the owner: no time is owed to what comes. */
static void wake_owner(struct vcx_port *port, uint64_t now_ns)
{
    for (size_t i = 0; i < VCX_COUNT(port->received); i++)
        if (port->received[i].first)
            return;
    port->drained_ns = vcx_most(port->drained_ns, now_ns);
}

/* Into the memory of its priority, if that has room. */
static void store(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    struct vcx_fill fill;
    uint8_t priority = frame->priority = vcx_port_priority(port, frame);
    count(port, frame);
    vcx_ingress_fill(port, priority, &fill);
    if (fill.held + frame->length > fill.size) {
        port->counters.priority[priority].rx_discards++;
        vcx_release(frame);
        return;
    }
    uint64_t threshold = fill.size * NEARLY_FULL / 100;
    port->counters.rx_passed_threshold += fill.held <= threshold && fill.held + frame->length > threshold;
    port->held[priority] += frame->length;
    wake_owner(port, now_ns);
    vcx_frames_put(&port->received[priority], frame);
}

/* At the end of the cable. */
static void arrive(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    bool too_short = frame->length < VCX_ETHERNET_BYTES, too_long = vcx_frame_too_long(port, frame);
    port->counters.rx_too_short += too_short;
    port->counters.rx_too_long += too_long;
    if (too_short || too_long || !vcx_port_up(port)) {
        vcx_release(frame);
        return;
    }
    if (vcx_is_mac_control(frame)) {
        vcx_pause_take(port, frame, now_ns);
        vcx_release(frame);
        return;
    }
    store(port, frame, now_ns);
    vcx_xoff_update(port, now_ns);
}

void vcx_port_receive(struct vcx_port *port, struct vcx_frame *frame)
{
    uint64_t now = vcx_port_now(port);
    frame->at_ns = now + port->cable_ns;
    if (!port->cable_ns && !port->arriving.first)
        arrive(port, frame, now);
    else if (port->arriving.bytes < VCX_CABLE_BYTES)
        vcx_frames_put(&port->arriving, frame);
    else
        vcx_release(frame);
}

uint32_t vcx_port_loop_room(const struct vcx_port *port)
{
    uint64_t queued = port->received[LOOPED].bytes;
    return queued < port->queue_bytes ? (uint32_t)(port->queue_bytes - queued) : 0;
}

void vcx_port_loop(struct vcx_port *port, struct vcx_frame *frame)
{
    frame->priority = vcx_port_priority(port, frame);
    if (frame->length < VCX_ETHERNET_BYTES || frame->length > vcx_port_loop_room(port)) {
        vcx_release(frame);
        return;
    }
    wake_owner(port, vcx_port_now(port));
    vcx_frames_put(&port->received[LOOPED], frame);
}

/* ---- to the owner */

/* The queues take turns. */
static struct vcx_frame *next_received(struct vcx_port *port)
{
    for (size_t i = 1; i <= VCX_COUNT(port->received); i++) {
        uint8_t queue = (uint8_t)((port->delivered_last + i) % VCX_COUNT(port->received));
        struct vcx_frame *frame = vcx_frames_take(&port->received[queue]);
        if (frame) {
            port->delivered_last = queue;
            return frame;
        }
    }
    return NULL;
}

static void deliver_frame(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    if (port->delivered_last != LOOPED && !port->ops->fill)
        vcx_port_release(port, frame->priority, frame->length);
    vcx_take_ns(&port->drained_ns, now_ns, port->ops->deliver(port->owner, port, frame));
}

static bool deliver_some(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < DELIVERED_PER_POLL; i++) {
        if (port->drained_ns > now_ns)
            return false;
        struct vcx_frame *frame = next_received(port);
        if (!frame)
            return false;
        deliver_frame(port, frame, now_ns);
    }
    return true;
}

static bool arrive_some(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < DELIVERED_PER_POLL; i++) {
        if (!port->arriving.first || port->arriving.first->at_ns > now_ns)
            return false;
        arrive(port, vcx_frames_take(&port->arriving), now_ns);
    }
    return true;
}

bool vcx_ingress_poll(struct vcx_port *port, uint64_t now_ns)
{
    bool busy = arrive_some(port, now_ns);
    return deliver_some(port, now_ns) || busy;
}

void vcx_ingress_clear(struct vcx_port *port)
{
    vcx_frames_drop(&port->arriving);
    for (size_t i = 0; i < VCX_COUNT(port->received); i++) {
        struct vcx_frame *frame;
        while ((frame = vcx_frames_take(&port->received[i]))) {
            if (i != LOOPED)
                vcx_port_release(port, frame->priority, frame->length);
            vcx_release(frame);
        }
    }
}
