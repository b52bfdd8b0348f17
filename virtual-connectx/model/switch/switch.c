// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/switch/inside.h"

#define TYPE_MAC_CONTROL 0x8808
#define AT_TYPE          12

/* A shared buffer as of a small data centre switch, and headroom for a cable of 5 m at 25 Gbit/s with an MTU of 9 KB. */
#define SHARED_BYTES     (4u << 20)
#define HEADROOM_BYTES   40960u
#define HYSTERESIS_BYTES 9216u
#define THRESHOLD_BYTES  98304u
#define RESTORE_US       200000u

static uint64_t now_ns(void *owner)
{
    struct vcx_switch *sw = owner;
    return sw->ops->now_ns(sw->front);
}

static bool ready(void *owner, struct vcx_port *port)
{
    struct vcx_switch *sw = owner;
    return !sw->ops->ready || sw->ops->ready(sw->front, port->number);
}

static bool is_pause(const struct vcx_frame *frame)
{
    return vcx_be16(frame->data + AT_TYPE) == TYPE_MAC_CONTROL;
}

/* Pauses are the port's own; all else was held by the port it came from. */
static void transmit(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct vcx_switch *sw = owner;
    if (!is_pause(frame))
        vcx_shared_release(sw, frame);
    sw->ops->transmit(sw->front, port->number, frame);
}

static void drop(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    (void)port;
    vcx_shared_release(owner, frame);
    vcx_release(frame);
}

/* ---- from port to port */

static void queue(struct vcx_switch *sw, uint8_t port, struct vcx_frame *frame)
{
    sw->forwarded = true;
    if (vcx_watchdog_refuses(sw, port, frame->priority))
        drop(sw, &sw->ports[port], frame);
    else
        vcx_port_send(&sw->ports[port], frame, frame->priority);
}

static void queue_copy(struct vcx_switch *sw, uint8_t port, const struct vcx_frame *frame)
{
    struct vcx_frame *copy = vcx_frame_copy(frame);
    if (!copy)
        return;
    vcx_shared_hold(sw, copy);
    queue(sw, port, copy);
}

static void flood(struct vcx_switch *sw, struct vcx_frame *frame)
{
    sw->counters.flooded++;
    for (uint8_t i = 0; i < sw->count; i++)
        if (i != frame->port && vcx_port_up(&sw->ports[i]))
            queue_copy(sw, i, frame);
    drop(sw, NULL, frame);
}

/* 01-80-C2-00-00-00 to -0F stay on their link (IEEE 802.1Q, table 8-1). */
static bool is_reserved(const struct vcx_frame *frame)
{
    static const uint8_t first[5] = {0x01, 0x80, 0xc2, 0x00, 0x00};
    return memcmp(frame->data, first, sizeof first) == 0 && frame->data[5] < 16;
}

static uint64_t forward(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct vcx_switch *sw = owner;
    frame->port = port->number;
    vcx_address_learn(sw, frame);
    uint8_t to = vcx_address_port(sw, frame);
    if (is_reserved(frame) || to == port->number) {
        sw->counters.filtered++;
        drop(sw, port, frame);
    } else if (to == VCX_NO_PORT) {
        flood(sw, frame);
    } else {
        queue(sw, to, frame);
    }
    return 0;
}

static const struct vcx_port_ops port_ops = {.now_ns = now_ns,
                                             .ready = ready,
                                             .transmit = transmit,
                                             .deliver = forward,
                                             .drop = drop,
                                             .fill = vcx_shared_fill};

/* ---- the switch */

/* Equal shares for all priorities: strict ones would never let a lower one to a port that a higher one fills. */
static void share_line(struct vcx_port_settings *settings)
{
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        settings->classes[i] = (struct vcx_traffic_class){.share_percent = 100};
}

static void start_port(struct vcx_switch *sw, uint8_t number, uint64_t line_bps)
{
    struct vcx_port *port = &sw->ports[number];
    vcx_port_start(port, &port_ops, sw, line_bps, line_bps);
    port->number = number;
    port->queue_bytes = UINT32_MAX; /* what is queued is bounded where it comes in */
    port->settings.pause_tx = port->settings.pause_rx = false;
    share_line(&port->settings);
    port->was_up = true;
    port->random = number;
    port->mac[0] = 2; /* a local address */
    port->mac[5] = number;
}

int vcx_switch_start(struct vcx_switch *sw, uint8_t ports, uint64_t line_bps, struct vcx_switch_front *front,
                     const struct vcx_switch_ops *ops)
{
    memset(sw, 0, sizeof *sw);
    if (!ports || ports > VCX_SWITCH_PORTS || !line_bps)
        return -1;
    sw->ports = vcx_allocate(ports * sizeof *sw->ports);
    if (!sw->ports)
        return -1;
    sw->front = front;
    sw->ops = ops;
    sw->count = ports;
    sw->shared_bytes = SHARED_BYTES;
    sw->headroom_bytes = HEADROOM_BYTES;
    sw->hysteresis_bytes = HYSTERESIS_BYTES;
    sw->alpha_eighths = 1;
    sw->threshold_bytes = THRESHOLD_BYTES;
    sw->restore_us = RESTORE_US;
    for (uint8_t i = 0; i < ports; i++)
        start_port(sw, i, line_bps);
    return 0;
}

void vcx_switch_stop(struct vcx_switch *sw)
{
    for (uint8_t i = 0; i < sw->count; i++)
        vcx_port_stop(&sw->ports[i]);
    vcx_release(sw->ports);
    sw->ports = NULL;
    sw->count = 0;
}

void vcx_switch_receive(struct vcx_switch *sw, uint8_t port, struct vcx_frame *frame)
{
    if (port < sw->count)
        vcx_port_receive(&sw->ports[port], frame);
    else
        vcx_release(frame);
}

void vcx_switch_carrier(struct vcx_switch *sw, uint8_t port, bool up)
{
    if (port < sw->count)
        sw->ports[port].carrier = up;
}

static void look_at_link(struct vcx_switch *sw, struct vcx_port *port)
{
    bool up = vcx_port_up(port);
    if (!up && port->was_up) {
        vcx_port_went_down(port);
        vcx_address_forget(sw, port->number);
    }
    port->was_up = up;
}

bool vcx_switch_poll(struct vcx_switch *sw)
{
    bool busy = false;
    sw->forwarded = false;
    for (uint8_t i = 0; i < sw->count; i++) {
        look_at_link(sw, &sw->ports[i]);
        busy |= vcx_port_poll(&sw->ports[i]);
    }
    vcx_watchdog_poll(sw, now_ns(sw));
    return busy || sw->forwarded;
}
