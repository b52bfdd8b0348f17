/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The link's speed as the driver sees it: the nominal rate of the configuration, over copper. */
#ifndef VCX_LINK_MODES_H
#define VCX_LINK_MODES_H

#include "virtual-connectx/model/device.h"

/* Bits of PTYS' eth_proto that the port can do: up to the nominal rate. */
uint32_t vcx_link_modes(const struct vcx_device *device);
/* The bit of the nominal rate, which the line has. */
uint32_t vcx_link_mode(const struct vcx_device *device);
/* Of that mode. */
uint16_t vcx_link_gbps(const struct vcx_device *device);
/* Lanes of the cage: 1 for SFP28, 4 for QSFP28. */
uint8_t vcx_link_lanes(const struct vcx_device *device);

#endif
