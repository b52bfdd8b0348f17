/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The port of a function: what a front tells it, and what registers and commands ask of it. All calls come
 * from the thread that polls the device. */
#ifndef VCX_PORT_FUNCTION_H
#define VCX_PORT_FUNCTION_H

#include "virtual-connectx/model/room.h"

/* A frame from the wire; owns it. May transmit a pause, or a frame that a fault doubles. */
void vcx_receive(struct vcx_device *device, struct vcx_frame *frame);
/* The cable is in and the other end there, or not. It is, until a front says otherwise; the driver hears
 * of the change by an event of the next poll. */
void vcx_port_carrier(struct vcx_device *device, bool up);

/* What the driver set; the port owns it. After a change call vcx_port_settings_changed. */
struct vcx_port_settings *vcx_port_settings(struct vcx_device *device);
/* Pause, PFC or the administrative state were changed. */
void vcx_port_settings_changed(struct vcx_device *device);
/* What the port counted since power-on; the port owns it. */
struct vcx_port_counters *vcx_port_counters(struct vcx_device *device);
/* Frames go through: carrier and the driver's will. */
bool vcx_port_is_up(struct vcx_device *device);

extern const struct vcx_room vcx_room_port;

#endif
