// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A switch: its ports and shared buffer, the addresses that it learns, the PFC watchdog. */
#include "virtual-connectx/model/switch/switch.h"

/* ---- learned addresses */

/* A hash table of a fixed size. They do not age; a link that goes down takes its addresses away. */

#define TRIES     8u /* places that an address may be in */
#define AT_SOURCE 6
#define AT_TYPE   12
#define AT_TAG    14
#define TYPE_TAG  0x8100

static uint16_t vlan_of(const struct vcx_frame *frame)
{
    bool tagged = frame->length >= AT_TAG + 2 && vcx_be16(frame->data + AT_TYPE) == TYPE_TAG;
    return tagged ? vcx_be16(frame->data + AT_TAG) & 0xfff : 0;
}

/* FNV-1a */
static uint32_t hash_of(const uint8_t *mac, uint16_t vlan)
{
    uint32_t hash = 2166136261u ^ vlan;
    for (int i = 0; i < 6; i++)
        hash = (hash ^ mac[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* The address's place in the table, or the first free one of those that it may be in;
 * VCX_SWITCH_ADDRESSES: neither. */
static uint32_t place_of(const struct vcx_switch *sw, const uint8_t *mac, uint16_t vlan)
{
    uint32_t hash = hash_of(mac, vlan), free = VCX_SWITCH_ADDRESSES;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t place = (hash + i) % VCX_SWITCH_ADDRESSES;
        const struct vcx_address *a = &sw->addresses[place];
        if (a->used && a->vlan == vlan && memcmp(a->mac, mac, 6) == 0)
            return place;
        if (!a->used && free == VCX_SWITCH_ADDRESSES)
            free = place;
    }
    return free;
}

static void address_learn(struct vcx_switch *sw, const struct vcx_frame *frame)
{
    const uint8_t *mac = frame->data + AT_SOURCE;
    uint16_t vlan = vlan_of(frame);
    if (mac[0] & 1)
        return; /* no station has a group's address */
    uint32_t place = place_of(sw, mac, vlan);
    if (place == VCX_SWITCH_ADDRESSES) {
        sw->counters.table_full++;
        return;
    }
    struct vcx_address *a = &sw->addresses[place];
    sw->counters.learned += !a->used;
    sw->counters.moved += a->used && a->port != frame->port;
    *a = (struct vcx_address){.used = true, .vlan = vlan, .port = frame->port};
    memcpy(a->mac, mac, 6);
}

/* The port of the frame's destination; VCX_NO_PORT: unknown. */
static uint8_t address_port(const struct vcx_switch *sw, const struct vcx_frame *frame)
{
    if (frame->data[0] & 1)
        return VCX_NO_PORT;
    uint32_t place = place_of(sw, frame->data, vlan_of(frame));
    return place < VCX_SWITCH_ADDRESSES && sw->addresses[place].used ? sw->addresses[place].port
                                                                     : VCX_NO_PORT;
}

/* ---- the shared packet buffer */

/* Dynamic thresholds: a port's priority may hold alpha times what is free (Choudhury and Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches", 1998). */

uint64_t vcx_shared_held(const struct vcx_switch *sw)
{
    uint64_t bytes = 0;
    for (uint8_t i = 0; i < sw->count; i++)
        for (int p = 0; p < VCX_PRIORITIES; p++)
            bytes += sw->ports[i].held[p];
    return bytes;
}

static uint64_t shared_threshold(const struct vcx_switch *sw)
{
    uint64_t used = vcx_shared_held(sw), free = used < sw->shared_bytes ? sw->shared_bytes - used : 0;
    return sw->alpha_eighths ? free * sw->alpha_eighths / 8 : sw->threshold_bytes;
}

/* With XOFF sent, what comes in is headroom's, however the threshold moves. */
static void shared_fill(void *owner, const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill)
{
    const struct vcx_switch *sw = owner;
    const struct vcx_xoff *xoff = &port->xoff[priority];
    uint64_t limit = shared_threshold(sw);
    *fill = (struct vcx_fill){.held = port->held[priority], .size = limit, .lossy = true};
    if (!(port->settings.pfc_tx >> priority & 1))
        return;
    fill->lossy = false;
    fill->xoff = limit;
    fill->xon = limit > sw->hysteresis_bytes ? limit - sw->hysteresis_bytes : 0;
    fill->size = (xoff->on ? xoff->held_bytes : vcx_most(limit, fill->held)) + sw->headroom_bytes;
}

/* One more frame of the same memory, and one less. */
static void shared_hold(struct vcx_switch *sw, const struct vcx_frame *frame)
{
    sw->ports[frame->port].held[frame->priority] += frame->length;
}

static void shared_release(struct vcx_switch *sw, const struct vcx_frame *frame)
{
    vcx_port_release(&sw->ports[frame->port], frame->priority, frame->length);
}

/* ---- the PFC watchdog */

/* A priority that is held without a break for too long, with frames waiting, loses its frames and all that
 * follow, until it was not held for some time. */

#define NS_OF_US 1000u

static bool hold_lasts(const struct vcx_port *port, uint64_t since_ns, uint32_t us, uint64_t now_ns)
{
    return now_ns - since_ns >= vcx_port_stretch(port, (uint64_t)us * NS_OF_US);
}

static void look_for_storm(struct vcx_switch *sw, uint8_t port, uint8_t priority, uint64_t now_ns)
{
    struct vcx_watch *watch = &sw->watch[port][priority];
    struct vcx_port *p = &sw->ports[port];
    if (!p->hold[priority].on || !p->sending[priority].first) {
        watch->since_ns = 0;
    } else if (!watch->since_ns) {
        watch->since_ns = now_ns;
    } else if (hold_lasts(p, watch->since_ns, sw->watchdog_us, now_ns)) {
        *watch = (struct vcx_watch){.storm = true};
        sw->counters.storms++;
        sw->counters.storm_discards += p->sending[priority].count;
        vcx_port_flush(p, priority);
    }
}

static void look_for_end(struct vcx_switch *sw, uint8_t port, uint8_t priority, uint64_t now_ns)
{
    struct vcx_watch *watch = &sw->watch[port][priority];
    struct vcx_port *p = &sw->ports[port];
    if (p->hold[priority].on) {
        watch->since_ns = 0;
    } else if (!watch->since_ns) {
        watch->since_ns = now_ns;
    } else if (hold_lasts(p, watch->since_ns, sw->restore_us, now_ns)) {
        *watch = (struct vcx_watch){0};
        sw->counters.restores++;
    }
}

static void watchdog_poll(struct vcx_switch *sw, uint64_t now_ns)
{
    for (uint8_t i = 0; i < sw->count; i++)
        for (uint8_t p = 0; p < VCX_PRIORITIES; p++)
            if (sw->watch[i][p].storm)
                look_for_end(sw, i, p, now_ns);
            else if (sw->watchdog_us)
                look_for_storm(sw, i, p, now_ns);
}

#define TYPE_MAC_CONTROL 0x8808

/* A shared buffer as of a small data centre switch, and headroom for a cable of 5 m at 25 Gbit/s with an
 * MTU of 9 KB. */
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

static bool wire_ready(void *owner, struct vcx_port *port)
{
    struct vcx_switch *sw = owner;
    return !sw->ops->ready || sw->ops->ready(sw->front, port->number);
}

static bool is_pause(const struct vcx_frame *frame)
{
    return vcx_be16(frame->data + AT_TYPE) == TYPE_MAC_CONTROL;
}

/* Pauses are the port's own; all else was held by the port it came from. */
static void wire_transmit(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct vcx_switch *sw = owner;
    if (!is_pause(frame))
        shared_release(sw, frame);
    sw->ops->transmit(sw->front, port->number, frame);
}

static void port_drop_frame(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    (void)port;
    shared_release(owner, frame);
    vcx_release(frame);
}

/* ---- from port to port */

static void port_queue_frame(struct vcx_switch *sw, uint8_t port, struct vcx_frame *frame)
{
    sw->forwarded = true;
    if (sw->watch[port][frame->priority].storm) {
        sw->counters.storm_discards++;
        port_drop_frame(sw, &sw->ports[port], frame);
    } else {
        vcx_port_send(&sw->ports[port], frame, frame->priority);
    }
}

static void queue_copy(struct vcx_switch *sw, uint8_t port, const struct vcx_frame *frame)
{
    struct vcx_frame *copy = vcx_frame_copy(frame);
    if (!copy)
        return;
    shared_hold(sw, copy);
    port_queue_frame(sw, port, copy);
}

static void switch_flood(struct vcx_switch *sw, struct vcx_frame *frame)
{
    sw->counters.flooded++;
    for (uint8_t i = 0; i < sw->count; i++)
        if (i != frame->port && vcx_port_up(&sw->ports[i]))
            queue_copy(sw, i, frame);
    port_drop_frame(sw, NULL, frame);
}

/* 01-80-C2-00-00-00 to -0F stay on their link (IEEE 802.1Q, table 8-1). */
static bool is_reserved(const struct vcx_frame *frame)
{
    static const uint8_t first[5] = {0x01, 0x80, 0xc2, 0x00, 0x00};
    return memcmp(frame->data, first, sizeof first) == 0 && frame->data[5] < 16;
}

static uint64_t switch_forward(void *owner, struct vcx_port *port, struct vcx_frame *frame)
{
    struct vcx_switch *sw = owner;
    frame->port = port->number;
    address_learn(sw, frame);
    uint8_t to = address_port(sw, frame);
    if (is_reserved(frame) || to == port->number) {
        sw->counters.filtered++;
        port_drop_frame(sw, port, frame);
    } else if (to == VCX_NO_PORT) {
        switch_flood(sw, frame);
    } else {
        port_queue_frame(sw, to, frame);
    }
    return 0;
}

static const struct vcx_port_ops port_ops = {.now_ns = now_ns,
                                             .ready = wire_ready,
                                             .transmit = wire_transmit,
                                             .deliver = switch_forward,
                                             .drop = port_drop_frame,
                                             .fill = shared_fill};

/* ---- the switch */

static void start_port(struct vcx_switch *sw, uint8_t number, uint64_t line_bps)
{
    struct vcx_port *port = &sw->ports[number];
    vcx_port_start(port, &port_ops, sw, line_bps, line_bps);
    port->number = number;
    port->queue_bytes = UINT32_MAX; /* what is queued is bounded where it comes in */
    port->settings.pause_tx = port->settings.pause_rx = false;
    /* equal shares: strict priorities would never let a lower one to a port that a higher one fills */
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        port->settings.classes[i] = (struct vcx_traffic_class){.share_percent = 100};
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
        for (uint32_t i = 0; i < VCX_SWITCH_ADDRESSES; i++)
            if (sw->addresses[i].port == port->number)
                sw->addresses[i].used = false;
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
    watchdog_poll(sw, now_ns(sw));
    return busy || sw->forwarded;
}
