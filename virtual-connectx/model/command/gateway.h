/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What lies behind the vendor's PCI capability, by which tools on the host (mstreg, mlxreg) reach the
 * firmware beside the driver: address spaces of 32-bit words. In one of them is a mailbox for registers. The
 * front has the capability's own words; it reads and writes from any context, while the device executes what
 * the mailbox holds in its turn.
 */
#ifndef VCX_GATEWAY_H
#define VCX_GATEWAY_H

#include "virtual-connectx/model/device.h"

#define VCX_GATEWAY_MAILBOX    768
#define VCX_GATEWAY_SEMAPHORES 16

struct vcx_gateway {
    uint32_t semaphores[VCX_GATEWAY_SEMAPHORES]; /* 0: free; else by whom it is held */
    uint16_t opcode;                             /* of the command in the mailbox */
    uint8_t status;                              /* of the last one */
    uint8_t busy;                                /* shared: the mailbox is the device's */
    uint8_t mailbox[VCX_GATEWAY_MAILBOX];
};

/* The space is there. */
bool vcx_gateway_has(uint16_t space);
/* A word of a space; what nothing is known of is 0. */
uint32_t vcx_gateway_read(const struct vcx_gateway *gateway, uint16_t device_id, uint16_t space,
                          uint32_t address);
/* true: the mailbox has a command for the device. */
bool vcx_gateway_write(struct vcx_gateway *gateway, uint16_t space, uint32_t address, uint32_t value);
/* Executes the command in the mailbox. false: there was none. */
bool vcx_gateway_poll(struct vcx_gateway *gateway, struct vcx_device *device);

#endif
