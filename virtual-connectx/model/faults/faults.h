/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Faults on request: lost and damaged frames, a firmware that does not answer, a link that flaps. */
#ifndef VCX_FAULTS_H
#define VCX_FAULTS_H

#include "virtual-connectx/model/room.h"
#include "virtual-connectx/model/words.h"

/*
 * A line of:
 *   ACTION [received|sent] [KIND] [every] N   the Nth frame of its kind from now on, or each Nth; with
 *                                             `step M` each Mth after it, with `count K` at most K frames
 *     drop, mark (CE), corrupt (a bit of its last byte), fcs (dropped, counted as a checksum error of the
 *     frame), duplicate, delay N MS
 *     KIND: any (default), data (RoCE other than the next four), cnp, ack, nak, read-request, pause;
 *     direction: received (default)
 *   command-timeout N                         the Nth command from now on is never answered
 *   internal-error [MS]                       the firmware stops with a syndrome; after MS it starts anew
 *   flap MS                                   the link is down for that time
 *   storm MS [after MS] [priority N]          pauses for that time, from now on or after a while, by each
 *                                             means that is on (PFC, 802.3x), though there is room: as if
 *                                             the memory of all priorities, or of one, were full; it
 *                                             takes the place of an earlier one, and 0 ms end that
 *   off                                       none of these any more
 * false: what is wrong is in `error`.
 */
bool vcx_fault_request(struct vcx_device *device, const char *line, struct vcx_sentence *error);
/* The faults of frames, a line each in the order in which they were asked for: what is to happen to which
 * frames, how many of them were seen, and to how many it did. */
void vcx_fault_show(const struct vcx_device *device, void (*put)(void *context, const char *line),
                    void *context);

enum vcx_direction { VCX_RECEIVED, VCX_SENT };
/* A frame on its way into the port or onto the wire, through the faults; owns it. */
void vcx_fault_pass(struct vcx_device *device, enum vcx_direction direction, struct vcx_frame *frame);
/* A command was taken. true: it is to be lost. */
bool vcx_fault_command(struct vcx_device *device);
/* The firmware stands still. Each poll asks first. */
bool vcx_fault_stopped(struct vcx_device *device);

extern const struct vcx_room vcx_room_faults;

#endif
