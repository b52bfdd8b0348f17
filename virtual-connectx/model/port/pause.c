// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Pauses in both directions: IEEE 802.3 annex 31B (all priorities) and annex 31D, 802.1Qbb (each priority). A pause lasts a number of
 * quanta of 512 bit times of the line.
 */
#include "virtual-connectx/model/port/inside.h"

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

uint64_t vcx_quanta_ns(const struct vcx_port *port, uint32_t quanta)
{
    return (uint64_t)quanta * QUANTUM_BITS * 1000000000 / port->line_bps;
}

bool vcx_port_pauses_all(const struct vcx_port_settings *settings)
{
    return !(settings->pfc_tx | settings->pfc_rx);
}

static bool hears(const struct vcx_port *port, int pause)
{
    const struct vcx_port_settings *s = &port->settings;
    return pause == VCX_PAUSE_ALL ? s->pause_rx && vcx_port_pauses_all(s) : s->pfc_rx >> pause & 1;
}

bool vcx_port_tells(const struct vcx_port *port, int pause)
{
    const struct vcx_port_settings *s = &port->settings;
    return pause == VCX_PAUSE_ALL ? s->pause_tx && vcx_port_pauses_all(s) : s->pfc_tx >> pause & 1;
}

/* ---- the other end holds frames of this one */

bool vcx_is_held(const struct vcx_port *port, uint8_t priority, uint64_t now_ns)
{
    return (hears(port, priority) && now_ns < port->hold[priority].until_ns) ||
           (hears(port, VCX_PAUSE_ALL) && now_ns < port->hold[VCX_PAUSE_ALL].until_ns);
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
    if (!hears(port, pause))
        return;
    account_hold(port, pause, now_ns);
    hold->until_ns = now_ns + vcx_quanta_ns(port, quanta);
    hold->lifted = !quanta;
    if (quanta && !hold->on) {
        hold->on = true;
        hold->since_ns = now_ns;
    }
    account_hold(port, pause, now_ns);
    if (pause != VCX_PAUSE_ALL)
        port->counters.priority[pause].rx_pause++;
}

bool vcx_is_mac_control(const struct vcx_frame *frame)
{
    return vcx_be16(frame->data + AT_TYPE) == VCX_TYPE_MAC_CONTROL;
}

void vcx_pause_take(struct vcx_port *port, const struct vcx_frame *frame, uint64_t now_ns)
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
    vcx_egress_at_once(port, frame, now_ns);
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

static bool lasts(const struct vcx_port *port, const struct vcx_xoff *xoff, uint16_t ms, uint64_t now_ns)
{
    return ms && now_ns - xoff->began_ns > vcx_port_stretch(port, (uint64_t)ms * NS_OF_MS);
}

/* mlx5's prevention of pause storms: past the minor watermark the stall is counted, past the critical one no more pauses are sent until
 * the receiver has moved on. */
static void look_for_stall(struct vcx_port *port, struct vcx_xoff *xoff, uint64_t now_ns)
{
    if (!xoff->minor && lasts(port, xoff, port->settings.minor_stall_ms, now_ns)) {
        xoff->minor = true;
        port->counters.minor_stalls++;
    }
    if (!xoff->critical && lasts(port, xoff, port->settings.critical_stall_ms, now_ns)) {
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

/* For all priorities: the fullest memory decides. */
static enum fullness fullness(const struct vcx_port *port, int pause)
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
    xoff->refresh_ns = now_ns + vcx_quanta_ns(port, VCX_XOFF_QUANTA) / 2;
    xoff->held_bytes = pause == VCX_PAUSE_ALL ? 0 : port->held[pause];
    send_pause(port, pause, VCX_XOFF_QUANTA, now_ns);
}

static void go_on_with_xoff(struct vcx_port *port, int pause, uint64_t now_ns)
{
    struct vcx_xoff *xoff = &port->xoff[pause];
    look_for_stall(port, xoff, now_ns);
    if (xoff->critical || now_ns < xoff->refresh_ns)
        return;
    xoff->refresh_ns = now_ns + vcx_quanta_ns(port, VCX_XOFF_QUANTA) / 2;
    send_pause(port, pause, VCX_XOFF_QUANTA, now_ns);
}

static void end_xoff(struct vcx_port *port, int pause, uint64_t now_ns)
{
    port->xoff[pause].on = false;
    if (!port->xoff[pause].critical)
        send_pause(port, pause, 0, now_ns);
}

static void update(struct vcx_port *port, int pause, uint64_t now_ns)
{
    bool on = port->xoff[pause].on;
    if (!on && !vcx_port_tells(port, pause))
        return;
    enum fullness f = vcx_port_tells(port, pause) ? fullness(port, pause) : EMPTY;
    account_xoff(port, pause, now_ns);
    if (on && f == EMPTY)
        end_xoff(port, pause, now_ns);
    else if (on)
        go_on_with_xoff(port, pause, now_ns);
    else if (f == FULL)
        begin_xoff(port, pause, now_ns);
}

void vcx_xoff_update(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < VCX_PAUSES; i++)
        update(port, i, now_ns);
}

void vcx_pause_account(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < VCX_PAUSES; i++) {
        account_hold(port, i, now_ns);
        account_xoff(port, i, now_ns);
    }
}

void vcx_pauses_forget(struct vcx_port *port)
{
    for (int i = 0; i < VCX_PAUSES; i++) {
        port->hold[i].on = port->xoff[i].on = false;
        port->hold[i].until_ns = 0;
    }
}
