/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The function's own vport: addresses, what it receives, loopback, counters of what it sent and received. */
#ifndef VCX_VPORT_H
#define VCX_VPORT_H

#include "virtual-connectx/model/room.h"

/* The own address, as the driver set it last. */
void vcx_vport_mac(const struct vcx_device *device, uint8_t mac[6]);
/* The frame goes to that address. */
bool vcx_vport_is_to(const struct vcx_device *device, const struct vcx_frame *frame);
bool vcx_vport_roce_enabled(const struct vcx_device *device);

/* Frames of the own are not given back to the own queues. */
bool vcx_vport_blocks_loopback(const struct vcx_device *device, bool multicast);

enum vcx_vport_protocol { VCX_VPORT_ETHERNET, VCX_VPORT_RDMA };
enum vcx_vport_direction { VCX_VPORT_RECEIVED, VCX_VPORT_SENT };
/* Count a frame; `destination` is its MAC address and `bytes` its length without FCS. */
void vcx_vport_count(struct vcx_device *device, enum vcx_vport_protocol protocol,
                     enum vcx_vport_direction direction, const uint8_t *destination, uint32_t bytes);
/* Count a received frame that no flow table gave a queue. */
void vcx_vport_count_unsteered(struct vcx_device *device);

extern const struct vcx_room vcx_room_vport;

#define VCX_VPORT_CONTEXT_BYTES 256
#define VCX_LOG_ADDRESS_LIST    12 /* entries of a list */
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
