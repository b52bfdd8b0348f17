// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A port: its settings, frames in and out, pauses in both directions, and counters. */
#include "virtual-connectx/model/port/port.h"
#include "virtual-connectx/model/late.h"
#include "virtual-connectx/model/random.h"
#include "virtual-connectx/model/transport/packet.h"

#define VCX_ETHERNET_BYTES   14u
#define VCX_FCS_BYTES        4u
#define VCX_LEAST_BYTES      60u         /* of a frame on the wire, without FCS: shorter ones are padded */
#define VCX_BETWEEN_BYTES    20u         /* preamble and gap */
#define VCX_CABLE_BYTES      (16u << 20) /* the most that is on its way */
#define VCX_TYPE_MAC_CONTROL 0x8808

static uint64_t vcx_port_now(const struct vcx_port *port)
{
    return port->ops->now_ns(port->owner);
}

/* value * by / over, for a value up to 10^12, with `by` and `over` cut to 24 bits: exact to 1e-7 of rates. */
static uint64_t vcx_scale(uint64_t value, uint64_t by, uint64_t over)
{
    while ((by | over) >> 24) {
        by >>= 1;
        over >>= 1;
    }
    return value * by / vcx_most(over, 1);
}

/* The line carries `bits` at a rate, from the time at which it was free. */
static void vcx_line_take(struct vcx_line *line, uint64_t now_ns, uint64_t bits, uint64_t bps)
{
    line->rest += bits * 1000000000;
    vcx_take_ns(&line->free_ns, now_ns, line->rest / bps);
    line->rest %= bps;
}

/* Nothing is waiting for the line: no time is owed to what comes later. */
static void vcx_line_idle(struct vcx_line *line, uint64_t now_ns)
{
    line->free_ns = vcx_most(line->free_ns, now_ns);
}

/* A frame of MAC control. What is not a pause is ignored. */
/* Durations up to now, ends of pauses, stalls. */

/* ---- counters of frames, as PPCNT's groups for IEEE 802.3 and RFC 2819 have them. */

/* The largest size with FCS of each row of of_size but the last. */
static const uint16_t size_limits[] = {64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191};

static uint32_t padded_bytes(const struct vcx_frame *frame)
{
    return (uint32_t)vcx_most(frame->length, VCX_LEAST_BYTES);
}

/* An MTU of the register PMTU is with header, tag and FCS. */
static bool frame_too_long(const struct vcx_port *port, const struct vcx_frame *frame)
{
    uint32_t most = port->settings.mtu ? port->settings.mtu : VCX_MOST_MTU;
    return frame->length + VCX_FCS_BYTES > most;
}

static bool is_broadcast(const uint8_t *address)
{
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    return memcmp(address, broadcast, sizeof broadcast) == 0;
}

static void count_frame(struct vcx_direction_counters *direction, const struct vcx_frame *frame)
{
    uint32_t bytes = padded_bytes(frame) + VCX_FCS_BYTES;
    size_t size = 0;
    while (size < VCX_COUNT(size_limits) && bytes > size_limits[size])
        size++;
    direction->of_size[size]++;
    direction->frames++;
    direction->bytes += bytes;
    if (is_broadcast(frame->data))
        direction->broadcast++;
    else if (frame->data[0] & 1)
        direction->multicast++;
}

/* ---- pauses in both directions */

/* IEEE 802.3 annex 31B (all priorities) and annex 31D, 802.1Qbb (each priority). A pause lasts a number of
 * quanta of 512 bit times of the line. */

#define OPCODE_PAUSE     0x0001
#define OPCODE_PFC       0x0101
#define QUANTUM_BITS     512u
#define PAUSE_BYTES      60u
#define AT_TYPE          12
#define AT_OPCODE        14
#define AT_QUANTA        16 /* of OPCODE_PAUSE */
#define AT_ENABLE        16 /* of OPCODE_PFC: bit n for priority n */
#define AT_QUANTA_OF_PFC 18
#define NS_OF_MS         1000000u

static const uint8_t pause_address[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

static uint64_t quanta_ns(const struct vcx_port *port, uint32_t quanta)
{
    return (uint64_t)quanta * QUANTUM_BITS * 1000000000 / port->line_bps;
}

/* PFC and 802.3x pause exclude each other: with any priority's PFC on, 802.3x is off whatever the
 * settings' pause says. */
static bool port_pauses_all(const struct vcx_port_settings *settings)
{
    return !(settings->pfc_tx | settings->pfc_rx);
}

static bool port_hears(const struct vcx_port *port, int pause)
{
    const struct vcx_port_settings *s = &port->settings;
    return pause == VCX_PAUSE_ALL ? s->pause_rx && port_pauses_all(s) : s->pfc_rx >> pause & 1;
}

bool vcx_port_tells(const struct vcx_port *port, int pause)
{
    const struct vcx_port_settings *s = &port->settings;
    return pause == VCX_PAUSE_ALL ? s->pause_tx && port_pauses_all(s) : s->pfc_tx >> pause & 1;
}

/* ---- the other end holds frames of this one */

static bool is_held(const struct vcx_port *port, uint8_t priority, uint64_t now_ns)
{
    return (port_hears(port, priority) && now_ns < port->hold[priority].until_ns) ||
           (port_hears(port, VCX_PAUSE_ALL) && now_ns < port->hold[VCX_PAUSE_ALL].until_ns);
}

static void count_held(struct vcx_port *port, int pause)
{
    struct vcx_port_counters *c = &port->counters;
    uint64_t us = port->hold[pause].total_ns / 1000;
    *(pause == VCX_PAUSE_ALL ? &c->rx_pause_us : &c->priority[pause].rx_pause_us) = us;
}

static void account_hold(struct vcx_port *port, int pause, uint64_t now_ns)
{
    struct vcx_hold *hold = &port->hold[pause];
    struct vcx_port_counters *c = &port->counters;
    if (!hold->on)
        return;
    uint64_t end = vcx_least(now_ns, hold->until_ns);
    hold->total_ns += end > hold->since_ns ? end - hold->since_ns : 0;
    hold->since_ns = vcx_most(end, hold->since_ns);
    count_held(port, pause);
    if (now_ns < hold->until_ns)
        return;
    hold->on = false;
    port->expired += !hold->lifted;
    (*(pause == VCX_PAUSE_ALL ? &c->rx_pause_transitions : &c->priority[pause].rx_pause_transitions))++;
}

static void take_quanta(struct vcx_port *port, int pause, uint16_t quanta, uint64_t now_ns)
{
    struct vcx_hold *hold = &port->hold[pause];
    if (!port_hears(port, pause))
        return;
    account_hold(port, pause, now_ns);
    hold->until_ns = now_ns + quanta_ns(port, quanta);
    hold->lifted = !quanta;
    if (quanta && !hold->on) {
        hold->on = true;
        hold->since_ns = now_ns;
    }
    account_hold(port, pause, now_ns);
    if (pause != VCX_PAUSE_ALL)
        port->counters.priority[pause].rx_pause++;
}

static bool is_mac_control(const struct vcx_frame *frame)
{
    return vcx_be16(frame->data + AT_TYPE) == VCX_TYPE_MAC_CONTROL;
}

/* A frame of MAC control. What is not a pause is ignored. */
static void pause_take(struct vcx_port *port, const struct vcx_frame *frame, uint64_t now_ns)
{
    uint16_t opcode = frame->length >= AT_QUANTA + 2 ? vcx_be16(frame->data + AT_OPCODE) : 0;
    if (memcmp(frame->data, pause_address, sizeof pause_address) != 0)
        return;
    if (opcode == OPCODE_PAUSE) {
        port->counters.rx.pause++;
        take_quanta(port, VCX_PAUSE_ALL, vcx_be16(frame->data + AT_QUANTA), now_ns);
    }
    if (opcode != OPCODE_PFC || frame->length < AT_QUANTA_OF_PFC + 2 * VCX_PRIORITIES)
        return;
    uint16_t enable = vcx_be16(frame->data + AT_ENABLE);
    for (int i = 0; i < VCX_PRIORITIES; i++)
        if (enable >> i & 1)
            take_quanta(port, i, vcx_be16(frame->data + AT_QUANTA_OF_PFC + 2 * i), now_ns);
}

/* ---- this end holds frames of the other one */

static void egress_at_once(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns);

static void send_pause(struct vcx_port *port, int pause, uint16_t quanta, uint64_t now_ns)
{
    struct vcx_frame *frame = vcx_frame_new(PAUSE_BYTES);
    if (!frame)
        return;
    frame->length = PAUSE_BYTES;
    memset(frame->data, 0, PAUSE_BYTES);
    memcpy(frame->data, pause_address, 6);
    memcpy(frame->data + 6, port->mac, 6);
    vcx_put16(frame->data + AT_TYPE, VCX_TYPE_MAC_CONTROL);
    if (pause == VCX_PAUSE_ALL) {
        vcx_put16(frame->data + AT_OPCODE, OPCODE_PAUSE);
        vcx_put16(frame->data + AT_QUANTA, quanta);
        port->counters.tx.pause++;
    } else {
        vcx_put16(frame->data + AT_OPCODE, OPCODE_PFC);
        vcx_put16(frame->data + AT_ENABLE, (uint16_t)(1 << pause));
        vcx_put16(frame->data + AT_QUANTA_OF_PFC + 2 * pause, quanta);
        port->counters.priority[pause].tx_pause++;
    }
    egress_at_once(port, frame, now_ns);
}

static void account_xoff(struct vcx_port *port, int pause, uint64_t now_ns)
{
    struct vcx_xoff *xoff = &port->xoff[pause];
    struct vcx_port_counters *c = &port->counters;
    if (!xoff->on || xoff->critical)
        return;
    xoff->total_ns += now_ns - xoff->since_ns;
    xoff->since_ns = now_ns;
    *(pause == VCX_PAUSE_ALL ? &c->tx_pause_us : &c->priority[pause].tx_pause_us) = xoff->total_ns / 1000;
}

static bool xoff_lasts(const struct vcx_port *port, const struct vcx_xoff *xoff, uint16_t ms, uint64_t now_ns)
{
    return ms && now_ns - xoff->began_ns > vcx_port_stretch(port, (uint64_t)ms * NS_OF_MS);
}

/* mlx5's prevention of pause storms: past the minor watermark the stall is counted, past the critical one
 * no more pauses are sent until the receiver has moved on. */
static void look_for_stall(struct vcx_port *port, struct vcx_xoff *xoff, uint64_t now_ns)
{
    if (!xoff->minor && xoff_lasts(port, xoff, port->settings.minor_stall_ms, now_ns)) {
        xoff->minor = true;
        port->counters.minor_stalls++;
    }
    if (!xoff->critical && xoff_lasts(port, xoff, port->settings.critical_stall_ms, now_ns)) {
        xoff->critical = true;
        port->counters.critical_stalls++;
    }
}

enum fullness { EMPTY, BETWEEN, FULL };

static enum fullness fullness_of(const struct vcx_port *port, uint8_t priority)
{
    struct vcx_fill fill;
    if (port->storming >> priority & 1)
        return FULL;
    vcx_ingress_fill(port, priority, &fill);
    if (fill.lossy || !fill.size || fill.held <= fill.xon)
        return EMPTY;
    return fill.held > fill.xoff ? FULL : BETWEEN;
}

/* With 802.3x, for all priorities, the fullest memory decides. */
static enum fullness memory_fullness(const struct vcx_port *port, int pause)
{
    enum fullness most = EMPTY;
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        if (pause == i || pause == VCX_PAUSE_ALL) {
            enum fullness f = fullness_of(port, i);
            most = f > most ? f : most;
        }
    return most;
}

static void begin_xoff(struct vcx_port *port, int pause, uint64_t now_ns)
{
    struct vcx_xoff *xoff = &port->xoff[pause];
    *xoff = (struct vcx_xoff){.on = true, .began_ns = now_ns, .since_ns = now_ns, .total_ns = xoff->total_ns};
    xoff->refresh_ns = now_ns + quanta_ns(port, VCX_XOFF_QUANTA) / 2;
    xoff->held_bytes = pause == VCX_PAUSE_ALL ? 0 : port->held[pause];
    send_pause(port, pause, VCX_XOFF_QUANTA, now_ns);
}

static void go_on_with_xoff(struct vcx_port *port, int pause, uint64_t now_ns)
{
    struct vcx_xoff *xoff = &port->xoff[pause];
    look_for_stall(port, xoff, now_ns);
    if (xoff->critical || now_ns < xoff->refresh_ns)
        return;
    xoff->refresh_ns = now_ns + quanta_ns(port, VCX_XOFF_QUANTA) / 2;
    send_pause(port, pause, VCX_XOFF_QUANTA, now_ns);
}

static void xoff_update_pause(struct vcx_port *port, int pause, uint64_t now_ns)
{
    bool on = port->xoff[pause].on;
    if (!on && !vcx_port_tells(port, pause))
        return;
    enum fullness f = vcx_port_tells(port, pause) ? memory_fullness(port, pause) : EMPTY;
    account_xoff(port, pause, now_ns);
    if (on && f == EMPTY) {
        port->xoff[pause].on = false;
        if (!port->xoff[pause].critical)
            send_pause(port, pause, 0, now_ns);
    } else if (on) {
        go_on_with_xoff(port, pause, now_ns);
    } else if (f == FULL) {
        begin_xoff(port, pause, now_ns);
    }
}

/* Sends what the fill of the receive memory asks for. Not inlined into vcx_port_poll: its
 * loop over pauses would become nine calls. */
static __attribute__((__noinline__)) void xoff_update(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < VCX_PAUSES; i++)
        xoff_update_pause(port, i, now_ns);
}

/* Durations up to now, ends of pauses, stalls. */
static void pause_account(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < VCX_PAUSES; i++) {
        account_hold(port, i, now_ns);
        account_xoff(port, i, now_ns);
    }
}

static void pauses_forget(struct vcx_port *port)
{
    for (int i = 0; i < VCX_PAUSES; i++) {
        port->hold[i].on = port->xoff[i].on = false;
        port->hold[i].until_ns = 0;
    }
}

/* ---- frames on their way in */

/* The cable, the receive buffers, and out of them as fast as the owner takes them. */

#define DELIVERED_PER_POLL 256
#define TYPE_TAG           0x8100
#define AT_TAG             14
#define NEARLY_FULL        85 /* percent, from which rx_buffer_passed_thres_phy counts (mlx5 counters.rst) */
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

static void ingress_count_frame(struct vcx_port *port, const struct vcx_frame *frame)
{
    struct vcx_priority_counters *c = &port->counters.priority[frame->priority];
    uint8_t dscp, ecn;
    count_frame(&port->counters.rx, frame);
    c->rx_frames++;
    c->rx_bytes += padded_bytes(frame) + VCX_FCS_BYTES;
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
static void ingress_store(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    struct vcx_fill fill;
    uint8_t priority = frame->priority = vcx_port_priority(port, frame);
    ingress_count_frame(port, frame);
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
static void ingress_arrive(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    bool too_short = frame->length < VCX_ETHERNET_BYTES, too_long = frame_too_long(port, frame);
    port->counters.rx_too_short += too_short;
    port->counters.rx_too_long += too_long;
    if (too_short || too_long || !vcx_port_up(port)) {
        vcx_release(frame);
        return;
    }
    if (is_mac_control(frame)) {
        pause_take(port, frame, now_ns);
        vcx_release(frame);
        return;
    }
    ingress_store(port, frame, now_ns);
    xoff_update(port, now_ns);
}

void vcx_port_receive(struct vcx_port *port, struct vcx_frame *frame)
{
    uint64_t now = vcx_port_now(port);
    frame->at_ns = now + port->cable_ns;
    if (!port->cable_ns && !port->arriving.first)
        ingress_arrive(port, frame, now);
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
        ingress_arrive(port, vcx_frames_take(&port->arriving), now_ns);
    }
    return true;
}

static void ingress_clear(struct vcx_port *port)
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

/* ---- frames on their way out */

/* A queue for each priority, classes of priorities in groups, and the line. The highest group that may
 * send goes first; within it each class gets its share. Shares are kept by start-time fair queueing
 * (Goyal, Vin, Cheng, 1996): a class's tag grows by its bits over its share, and the least tag is next. */

#define SENT_PER_POLL 128
#define TAG_PER_BIT   64u /* 2^64 are months of a line */
#define GROUPS        16

static uint8_t class_of(const struct vcx_port *port, uint8_t priority)
{
    return port->settings.class_of_priority[priority] % VCX_PRIORITIES;
}

static uint64_t wire_bits(const struct vcx_frame *frame)
{
    return 8ull * (padded_bytes(frame) + VCX_FCS_BYTES + VCX_BETWEEN_BYTES);
}

/* ---- into a queue */

uint32_t vcx_port_room(const struct vcx_port *port, uint8_t priority)
{
    uint64_t queued = port->sending[priority % VCX_PRIORITIES].bytes;
    return queued < port->queue_bytes ? (uint32_t)(port->queue_bytes - queued) : 0;
}

static bool is_to_be_marked(struct vcx_port *port, uint8_t priority)
{
    const struct vcx_marking *m = &port->marking[priority];
    uint64_t queued = port->sending[priority].bytes;
    if (!m->max_bytes || queued <= m->min_bytes)
        return false;
    if (queued >= m->max_bytes)
        return true;
    return vcx_random_below(&port->random, m->max_bytes - m->min_bytes) < queued - m->min_bytes &&
           vcx_random_below(&port->random, 100) < m->percent;
}

static void egress_mark(struct vcx_port *port, struct vcx_frame *frame)
{
    uint8_t dscp, ecn;
    if (!vcx_frame_ip(frame, &dscp, &ecn) || ecn == VCX_NOT_ECT)
        return;
    vcx_frame_mark(frame);
    port->counters.priority[frame->priority].tx_marked++;
}

/* A frame that was queued, or was to be. */
static void egress_drop(struct vcx_port *port, struct vcx_frame *frame)
{
    if (port->ops->drop)
        port->ops->drop(port->owner, port, frame);
    else
        vcx_release(frame);
}

/* What was idle has no time to make up for. */
static void wake_line(struct vcx_port *port, uint8_t priority, uint64_t now_ns)
{
    uint8_t class = class_of(port, priority), other;
    bool port_idle = true, class_idle = true;
    for (other = 0; other < VCX_PRIORITIES; other++)
        if (port->sending[other].first) {
            port_idle = false;
            class_idle &= class_of(port, other) != class;
        }
    if (port_idle)
        vcx_line_idle(&port->line, now_ns);
    if (class_idle)
        vcx_line_idle(&port->limit[class], now_ns);
}

void vcx_port_send(struct vcx_port *port, struct vcx_frame *frame, uint8_t priority)
{
    frame->priority = priority % VCX_PRIORITIES;
    if (!vcx_port_up(port) || frame->length < VCX_ETHERNET_BYTES || frame_too_long(port, frame) ||
        frame->length > vcx_port_room(port, frame->priority)) {
        port->counters.tx_discards++;
        port->counters.priority[frame->priority].tx_discards++;
        egress_drop(port, frame);
        return;
    }
    wake_line(port, frame->priority, vcx_port_now(port));
    if (is_to_be_marked(port, frame->priority))
        egress_mark(port, frame);
    vcx_frames_put(&port->sending[frame->priority], frame);
    port->rdma_bytes[frame->priority] += frame->rdma ? frame->length : 0;
}

static struct vcx_frame *egress_take(struct vcx_port *port, uint8_t priority)
{
    struct vcx_frame *frame = vcx_frames_take(&port->sending[priority]);
    port->rdma_bytes[priority] -= frame && frame->rdma ? frame->length : 0;
    return frame;
}

void vcx_port_flush(struct vcx_port *port, uint8_t priority)
{
    struct vcx_frame *frame;
    while ((frame = egress_take(port, priority % VCX_PRIORITIES)))
        egress_drop(port, frame);
}

/* ---- onto the line */

/* The port's own frame: it goes before all others. */
static void egress_at_once(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    if (!vcx_port_up(port)) {
        vcx_release(frame);
        return;
    }
    vcx_line_take(&port->line, now_ns, wire_bits(frame), port->line_bps);
    port->ops->transmit(port->owner, port, frame);
}

static bool may_send(const struct vcx_port *port, uint8_t priority, uint64_t now_ns)
{
    uint8_t class = class_of(port, priority);
    return port->sending[priority].first && !is_held(port, priority, now_ns) &&
           (!port->settings.classes[class].most_bps || port->limit[class].free_ns <= now_ns);
}

/* The class's tag; one that was idle begins where its group is. */
static uint64_t tag_of(const struct vcx_port *port, uint8_t class)
{
    return vcx_most(port->served[class], port->group_served[port->settings.classes[class].group % GROUPS]);
}

/* VCX_PRIORITIES: none may. Among equals the turn goes round. */
static uint8_t next_priority(const struct vcx_port *port, uint64_t now_ns)
{
    uint8_t best = VCX_PRIORITIES, best_group = 0;
    uint64_t best_tag = 0;
    for (uint8_t i = 1; i <= VCX_PRIORITIES; i++) {
        uint8_t priority = (uint8_t)(port->sent_last + i) % VCX_PRIORITIES, class = class_of(port, priority);
        uint8_t group = port->settings.classes[class].group % GROUPS;
        uint64_t tag = tag_of(port, class);
        if (!may_send(port, priority, now_ns) || (best < VCX_PRIORITIES && group < best_group))
            continue;
        if (best < VCX_PRIORITIES && group == best_group && tag >= best_tag)
            continue;
        best = priority;
        best_group = group;
        best_tag = tag;
    }
    return best;
}

static void egress_account(struct vcx_port *port, const struct vcx_frame *frame, uint64_t now_ns)
{
    uint8_t class = class_of(port, frame->priority);
    const struct vcx_traffic_class *c = &port->settings.classes[class];
    struct vcx_priority_counters *count = &port->counters.priority[frame->priority];
    uint64_t bits = wire_bits(frame), tag = tag_of(port, class);
    vcx_line_take(&port->line, now_ns, bits, port->line_bps);
    if (c->most_bps)
        vcx_line_take(&port->limit[class], now_ns, bits,
                      vcx_most(vcx_scale(c->most_bps, port->line_bps, port->nominal_bps), 1));
    port->group_served[c->group % GROUPS] = tag;
    port->served[class] = tag + bits * TAG_PER_BIT / vcx_most(c->share_percent, 1);
    count_frame(&port->counters.tx, frame);
    count->tx_frames++;
    count->tx_bytes += padded_bytes(frame) + VCX_FCS_BYTES;
}

/* true: there may be more to send. */
static bool egress_poll(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < SENT_PER_POLL; i++) {
        if (port->line.free_ns > now_ns)
            return false;
        uint8_t priority = next_priority(port, now_ns);
        if (priority == VCX_PRIORITIES) {
            vcx_line_idle(&port->line, now_ns);
            return false;
        }
        if (port->ops->ready && !port->ops->ready(port->owner, port))
            return false;
        struct vcx_frame *frame = egress_take(port, priority);
        port->sent_last = priority;
        egress_account(port, frame, now_ns);
        port->ops->transmit(port->owner, port, frame);
    }
    return true;
}

#define LEAST_QUEUE_BYTES                                                             \
    (24u << 10) /* two of the largest frames: what comes later waits in its own queue \
                   \ */
#define MOST_QUEUE_BYTES (4u << 20)
#define HYSTERESIS_BYTES \
    9984u /* between XOFF and XON: the largest MTU in whole cells, as the driver has it */

void vcx_port_defaults(struct vcx_port_settings *settings)
{
    *settings = (struct vcx_port_settings){
        .admin_up = true, .mtu = VCX_MOST_MTU, .pause_tx = true, .pause_rx = true, .trust = VCX_TRUST_PCP};
    for (uint8_t i = 0; i < 64; i++)
        settings->priority_of_dscp[i] = i / 8;
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++) {
        settings->class_of_priority[i] = i;
        settings->classes[i] = (struct vcx_traffic_class){.group = i, .share_percent = 100};
    }
    vcx_port_divide_buffers(settings);
}

/* Half is kept for frames on their way: more than the driver keeps, because the other end may be a model
 * that is polled late. */
static struct vcx_receive_buffer lossless_buffer(uint32_t bytes)
{
    uint32_t xoff = bytes / 2 / VCX_CELL_BYTES * VCX_CELL_BYTES;
    return (struct vcx_receive_buffer){
        .bytes = bytes, .xoff_bytes = xoff, .xon_bytes = xoff - HYSTERESIS_BYTES};
}

void vcx_port_divide_buffers(struct vcx_port_settings *s)
{
    uint8_t with_pfc = s->pfc_tx | s->pfc_rx;
    uint32_t lossy_bytes =
        with_pfc ? VCX_BUFFER_BYTES / 2 / VCX_CELL_BYTES * VCX_CELL_BYTES + VCX_CELL_BYTES : VCX_BUFFER_BYTES;
    if (s->buffers_set)
        return;
    for (uint8_t i = 0; i < VCX_RECEIVE_BUFFERS; i++) {
        s->buffers[i] = (struct vcx_receive_buffer){.lossy = true};
        s->buffer_of_priority[i] = with_pfc >> i & 1;
    }
    s->buffers[0].bytes = lossy_bytes;
    if (with_pfc)
        s->buffers[1] = lossless_buffer(VCX_BUFFER_BYTES - lossy_bytes);
    else if (s->pause_tx)
        s->buffers[0] = lossless_buffer(VCX_BUFFER_BYTES);
}

uint64_t vcx_port_stretch(const struct vcx_port *port, uint64_t ns)
{
    return vcx_scale(ns, port->nominal_bps, port->line_bps);
}

/* Enough for two late polls of the line. */
static uint32_t queue_bytes(uint64_t line_bps)
{
    uint64_t late = vcx_scale(line_bps / 8, 2 * (uint64_t)VCX_SLACK_NS, 1000000000);
    return (uint32_t)vcx_least(vcx_most(late, LEAST_QUEUE_BYTES), MOST_QUEUE_BYTES);
}

void vcx_port_set_line(struct vcx_port *port, uint64_t line_bps)
{
    port->line_bps = line_bps;
    port->queue_bytes = queue_bytes(line_bps);
}

void vcx_port_start(struct vcx_port *port, const struct vcx_port_ops *ops, void *owner, uint64_t nominal_bps,
                    uint64_t line_bps)
{
    vcx_port_defaults(&port->settings);
    port->ops = ops;
    port->owner = owner;
    port->nominal_bps = vcx_most(nominal_bps, 1);
    vcx_port_set_line(port, line_bps ? line_bps : port->nominal_bps);
    port->carrier = true;
}

static void drop_all(struct vcx_port *port)
{
    for (uint8_t i = 0; i < VCX_PRIORITIES; i++)
        vcx_port_flush(port, i);
    ingress_clear(port);
}

void vcx_port_stop(struct vcx_port *port)
{
    drop_all(port);
}

bool vcx_port_closed(const struct vcx_port *port)
{
    return port->flapping || !port->settings.admin_up;
}

bool vcx_port_up(const struct vcx_port *port)
{
    return port->carrier && !vcx_port_closed(port);
}

void vcx_port_went_down(struct vcx_port *port)
{
    pause_account(port, vcx_port_now(port));
    pauses_forget(port);
    drop_all(port);
    port->counters.link_downs++;
}

bool vcx_port_poll(struct vcx_port *port)
{
    uint64_t now = vcx_port_now(port);
    pause_account(port, now);
    bool busy = arrive_some(port, now);
    busy |= deliver_some(port, now);
    xoff_update(port, now);
    return egress_poll(port, now) || busy;
}
