/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the files of the switch share. */
#ifndef VCX_SWITCH_INSIDE_H
#define VCX_SWITCH_INSIDE_H

#include "virtual-connectx/model/switch/switch.h"

#define VCX_NO_PORT 0xff

/* ---- addresses.c */
void vcx_address_learn(struct vcx_switch *sw, const struct vcx_frame *frame);
/* The port of the frame's destination; VCX_NO_PORT: unknown. */
uint8_t vcx_address_port(const struct vcx_switch *sw, const struct vcx_frame *frame);
void vcx_address_forget(struct vcx_switch *sw, uint8_t port);

/* ---- shared_buffer.c */
void vcx_shared_fill(void *owner, const struct vcx_port *port, uint8_t priority, struct vcx_fill *fill);
/* Bytes of all frames in the buffer. */
uint64_t vcx_shared_held(const struct vcx_switch *sw);
/* One more frame of the same memory, and one less. */
void vcx_shared_hold(struct vcx_switch *sw, const struct vcx_frame *frame);
void vcx_shared_release(struct vcx_switch *sw, const struct vcx_frame *frame);

/* ---- watchdog.c */
void vcx_watchdog_poll(struct vcx_switch *sw, uint64_t now_ns);
/* true: the frame is not to be queued. */
bool vcx_watchdog_refuses(struct vcx_switch *sw, uint8_t port, uint8_t priority);

#endif
