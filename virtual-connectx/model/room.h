/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A part of the device with a state of its own: firmware.c starts, polls and stops each. */
#ifndef VCX_ROOM_H
#define VCX_ROOM_H

#include "virtual-connectx/model/device.h"

struct vcx_room {
    int (*start)(
        struct vcx_device *device); /* the state as after power-on; -1: memory ran out. May be NULL */
    void (*stop)(
        struct vcx_device *device); /* frees it, also after a start that failed or never was. May be NULL */
    bool (*poll)(
        struct vcx_device *device); /* a bounded amount of work; true: there may be more. May be NULL */
};

#endif
