// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/deliver.h"

#include "virtual-connectx/model/vport/vport.h"

#define GROUP_ADDRESS 1 /* in the first byte of a MAC address */

/* RoCE is taken by queue pairs if it goes to the own address or to a group. */
static bool may_be_roce(const struct vcx_device *device, const struct vcx_frame *frame)
{
    return vcx_vport_roce_enabled(device) && frame->length &&
           (frame->data[0] & GROUP_ADDRESS || vcx_vport_is_to(device, frame));
}

uint64_t vcx_deliver(struct vcx_device *device, struct vcx_frame *frame)
{
    device->write_ns = 0;
    if (!may_be_roce(device, frame) || !vcx_transport_receive(device, frame))
        vcx_ethernet_receive(device, frame);
    return device->write_ns;
}
