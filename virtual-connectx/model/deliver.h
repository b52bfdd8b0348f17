/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Frames that came through the port's receive buffer. */
#ifndef VCX_DELIVER_H
#define VCX_DELIVER_H

#include "virtual-connectx/model/device.h"

/* Hands a frame to queue pairs (RoCE to the own address while RoCE is enabled) or to the Ethernet receive
 * path, and frees it. Returns how long the writes into memory took, in ns: the receive buffer drains no
 * faster. */
uint64_t vcx_deliver(struct vcx_device *device, struct vcx_frame *frame);

/* ---- who takes frames; each file's own */

/* true: it was RoCE, and is freed. (transport/) */
bool vcx_transport_receive(struct vcx_device *device, struct vcx_frame *frame);
/* Writes it into the receive queue that steering finds, counts it, and frees it. (ethernet/) */
void vcx_ethernet_receive(struct vcx_device *device, struct vcx_frame *frame);
/* Does a bounded amount of sending work. true: there may be more. */
bool vcx_ethernet_poll(struct vcx_device *device);

/* ---- what they send */

/* The port owns the frame from then on. `priority`: 0 to 7, or -1 for what the frame's tag or DSCP say by
 * the port's trust. Frames for which there is no room are dropped and counted, so ask before for `room`.
 * (port/) */
void vcx_send(struct vcx_device *device, struct vcx_frame *frame, int priority);
/* The same, to the function itself and not to the wire, whatever its address. */
void vcx_send_to_itself(struct vcx_device *device, struct vcx_frame *frame);
/* Bytes that queue pairs, or the Ethernet driver, may queue for the priority now: half of the queue is for
 * each, so that both get on. */
uint32_t vcx_send_room(struct vcx_device *device, uint8_t priority, bool rdma);
/* The number of the priority's last frame, and whether that one still waits for the line. */
uint32_t vcx_send_number(struct vcx_device *device, uint8_t priority);
bool vcx_send_waits(struct vcx_device *device, uint8_t priority, uint32_t number);
/* The priority of a DSCP or of a tag's PCP by the port's trust. */
uint8_t vcx_send_priority(struct vcx_device *device, uint8_t dscp, uint8_t pcp);

#endif
