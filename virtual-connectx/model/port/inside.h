/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the files of a port share. */
#ifndef VCX_PORT_INSIDE_H
#define VCX_PORT_INSIDE_H

#include "virtual-connectx/model/late.h"
#include "virtual-connectx/model/port/port.h"

#define VCX_ETHERNET_BYTES   14u
#define VCX_FCS_BYTES        4u
#define VCX_LEAST_BYTES      60u         /* of a frame on the wire, without FCS: shorter ones are padded */
#define VCX_BETWEEN_BYTES    20u         /* preamble and gap */
#define VCX_CABLE_BYTES      (16u << 20) /* the most that is on its way */
#define VCX_TYPE_MAC_CONTROL 0x8808

static inline uint64_t vcx_port_now(const struct vcx_port *port)
{
    return port->ops->now_ns(port->owner);
}

/* value * by / over, for a value up to 10^12, with `by` and `over` cut to 24 bits: exact to 1e-7 of rates. */
static inline uint64_t vcx_scale(uint64_t value, uint64_t by, uint64_t over)
{
    while ((by | over) >> 24) {
        by >>= 1;
        over >>= 1;
    }
    return value * by / vcx_most(over, 1);
}

/* The line carries so many bits at a rate, from the time at which it was free. */
static inline void vcx_line_take(struct vcx_line *line, uint64_t now_ns, uint64_t bits, uint64_t bps)
{
    line->rest += bits * 1000000000;
    vcx_take_ns(&line->free_ns, now_ns, line->rest / bps);
    line->rest %= bps;
}

/* Nothing is waiting for the line: no time is owed to what comes later. */
static inline void vcx_line_idle(struct vcx_line *line, uint64_t now_ns)
{
    line->free_ns = vcx_most(line->free_ns, now_ns);
}

/* ---- count.c */
void vcx_count_frame(struct vcx_direction_counters *direction, const struct vcx_frame *frame);
uint32_t vcx_padded_bytes(const struct vcx_frame *frame);
bool vcx_frame_too_long(const struct vcx_port *port, const struct vcx_frame *frame);

/* ---- egress.c */
/* true: there may be more to send. */
bool vcx_egress_poll(struct vcx_port *port, uint64_t now_ns);
/* The port's own frame: it goes before all others. */
void vcx_egress_at_once(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns);

/* ---- pause.c */
/* It sends pauses: of a priority, or VCX_PAUSE_ALL. */
bool vcx_port_tells(const struct vcx_port *port, int pause);
uint64_t vcx_quanta_ns(const struct vcx_port *port, uint32_t quanta);
bool vcx_is_mac_control(const struct vcx_frame *frame);
/* A frame of MAC control. What is no pause is ignored. */
void vcx_pause_take(struct vcx_port *port, const struct vcx_frame *frame, uint64_t now_ns);
bool vcx_is_held(const struct vcx_port *port, uint8_t priority, uint64_t now_ns);
/* Sends what the fill of the receive memory asks for. */
void vcx_xoff_update(struct vcx_port *port, uint64_t now_ns);
/* Durations up to now, ends of pauses, stalls. */
void vcx_pause_account(struct vcx_port *port, uint64_t now_ns);
void vcx_pauses_forget(struct vcx_port *port);

/* ---- ingress.c */
void vcx_ingress_fill(const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill);
bool vcx_ingress_poll(struct vcx_port *port, uint64_t now_ns);
void vcx_ingress_clear(struct vcx_port *port);

#endif
