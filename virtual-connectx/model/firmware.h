/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The calls that a front makes. */
#ifndef VCX_FIRMWARE_H
#define VCX_FIRMWARE_H

#include "virtual-connectx/model/device.h"

/* The device as after power-on. -1: memory ran out. */
int vcx_device_start(struct vcx_device *device, const struct vcx_configuration *configuration,
                     struct vcx_front *front, const struct vcx_front_ops *ops);
/* Frees everything that the device owns. */
void vcx_device_stop(struct vcx_device *device);
/* Does a bounded amount of what is to be done. true: there may be more. */
bool vcx_device_poll(struct vcx_device *device);

#endif
