/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef VCX_VPORT_STATE_H
#define VCX_VPORT_STATE_H

#include "virtual-connectx/model/vport/vport.h"

#define VCX_VPORT_CONTEXT_BYTES 256
#define VCX_LOG_ADDRESS_LIST    7 /* entries of a list */
#define VCX_ADDRESS_LIST        (1u << VCX_LOG_ADDRESS_LIST)
#define VCX_ADDRESS_LISTS       3 /* unicast and multicast addresses, VLANs */
#define VCX_ADDRESS_BYTES       8

struct vcx_address_list {
    uint32_t count;
    uint8_t entries[VCX_ADDRESS_LIST][VCX_ADDRESS_BYTES];
};

enum vcx_cast { VCX_UNICAST, VCX_MULTICAST, VCX_BROADCAST, VCX_CASTS };

struct vcx_traffic {
    uint64_t packets, bytes;
};

struct vcx_vport {
    uint8_t context[VCX_VPORT_CONTEXT_BYTES]; /* as the driver reads it, without the lists */
    struct vcx_address_list lists[VCX_ADDRESS_LISTS];
    uint8_t admin_state;
    struct vcx_traffic traffic[2][2][VCX_CASTS]; /* by protocol and direction */
    uint64_t unsteered;
};

#endif
