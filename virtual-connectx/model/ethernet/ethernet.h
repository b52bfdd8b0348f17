/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The Ethernet part of a device: its room, and what its files ask of each other. */
#ifndef VCX_ETHERNET_H
#define VCX_ETHERNET_H

#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/ethernet/flow.h"
#include "virtual-connectx/model/ethernet/wq.h"
#include "virtual-connectx/model/room.h"

/* State that belongs to no object. */
struct vcx_steering {
    uint32_t root[VCX_TABLE_TYPES]; /* the table where frames of a type begin; 0: none */
    uint32_t entries;               /* of all tables */
    uint32_t next_sq;               /* whose turn it is */
};

extern const struct vcx_room vcx_room_ethernet;

/* Takes the next entry of a queue in state READY, or sends the next frame of a message. true: something was done. */
bool vcx_sq_step(struct vcx_device *device, struct vcx_sq *sq);
/* The next frame of a message in segments, as long as there are bytes left of its payload; NULL: memory ran out. */
struct vcx_frame *vcx_segment(const struct vcx_sq_message *message);
/* Bytes of payload in it. */
uint32_t vcx_segment_bytes(const struct vcx_sq_message *message);

#endif
