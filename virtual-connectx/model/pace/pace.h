/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The slow receiver: how long writes into the driver's memory take. The receive buffer drains no faster than
 * they do. Rules name the memory: all, a key, or a range of the addresses that keys cover (a program's
 * virtual addresses). The most specific one counts.
 */
#ifndef VCX_PACE_H
#define VCX_PACE_H

#include "virtual-connectx/model/room.h"
#include "virtual-connectx/model/words.h"

/*
 * A line of:
 *   off                                  no rules any more
 *   all SETTING...                       all memory
 *   key NUMBER SETTING...                of a memory key, its variant byte included
 *   range ADDRESS BYTES SETTING...
 * with settings
 *   write_bytes_per_s N                  0: no limit
 *   stalls_per_s N                       per second of load; 0: none
 *   stall_mean_ns N                      mean length of a stall
 *   stall_window_ns N                    load: time between writes that follow each other within this
 *                                        (default 1000000; 0: all time)
 *   fixed                                gaps and lengths are the means, else they are exponentially
 *                                        distributed
 * A rule replaces an earlier one of the same memory. false: what is wrong is in `error`.
 */
bool vcx_pace_request(struct vcx_device *device, const char *line, struct vcx_sentence *error);
/* Each rule as a line that may be requested again. */
void vcx_pace_show(const struct vcx_device *device, void (*put)(void *context, const char *line),
                   void *context);
/* A write that was allowed: its time is added to device->write_ns. */
void vcx_pace_write(struct vcx_device *device, uint32_t key, uint64_t address, uint32_t bytes);
/* A write met a stall that lasts still: memory does not answer reads either. */
bool vcx_pace_stalls(struct vcx_device *device, uint32_t key, uint64_t address);

extern const struct vcx_room vcx_room_pace;

#endif
