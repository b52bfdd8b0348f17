/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef VCX_CAPABILITY_H
#define VCX_CAPABILITY_H

#include "virtual-connectx/model/device.h"

/* PCI devices */
#define VCX_CONNECTX_4_LX 0x1015
#define VCX_CONNECTX_5    0x1017
#define VCX_CONNECTX_6    0x101b

#define VCX_LOG_MOST_FLOW_ENTRIES 20 /* of a flow table */
#define VCX_MOST_FLOW_LEVEL       96 /* inclusive: Linux 6.12 makes a table beyond 64 */

/* In what the devices differ. */
struct vcx_model {
    uint16_t hardware_id; /* as mstflint's DeviceConnectX5_HwId and its like */
    uint16_t most_gbps;
    uint8_t inline_mode; /* what the driver reads as wqe_inline_mode */
    uint8_t firmware[2]; /* major and minor version: the last that were published for the device */
    /* enum retransmission_firmware; -1: time-outs are those of the specification */
    int retransmission;
};
/* By the PCI device's number; ConnectX-5 if it is another. */
const struct vcx_model *vcx_model_of(uint16_t device_id);
const struct vcx_model *vcx_model(const struct vcx_device *device);

/* The capabilities as after power-on; the driver may set them anew. */
void vcx_capabilities_start(struct vcx_device *device);

#endif
