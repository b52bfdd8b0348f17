/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Event queues: what happened, told to the driver with an interrupt. */
#ifndef VCX_EQ_H
#define VCX_EQ_H

#include "virtual-connectx/model/device.h"

/* mlx5's MLX5_EVENT_TYPE_* */
enum vcx_event {
    VCX_EVENT_COMPLETION = 0x00,
    VCX_EVENT_PATH_MIGRATED = 0x01,
    VCX_EVENT_COMMUNICATION_ESTABLISHED = 0x02,
    VCX_EVENT_SEND_QUEUE_DRAINED = 0x03,
    VCX_EVENT_CQ_ERROR = 0x04,
    VCX_EVENT_WQ_CATASTROPHIC = 0x05,
    VCX_EVENT_PORT_CHANGE = 0x09,
    VCX_EVENT_COMMAND = 0x0a,
    VCX_EVENT_PAGE_REQUEST = 0x0b,
    VCX_EVENT_WQ_INVALID_REQUEST = 0x10,
    VCX_EVENT_WQ_ACCESS = 0x11,
    VCX_EVENT_SRQ_LAST_WQE = 0x13,
    VCX_EVENT_SRQ_LIMIT = 0x14,
    VCX_EVENT_PORT_MODULE = 0x16,
};

#define VCX_EVENT_DATA_BYTES 28

/* Write an event into every queue whose mask has its type. */
void vcx_event_write(struct vcx_device *device, enum vcx_event type, uint8_t subtype, const uint8_t *data);
/* The command in a slot has ended. */
void vcx_eq_command_done(struct vcx_device *device, uint32_t eq, uint32_t slot);
/* The completion queue has completions, and was armed. */
void vcx_eq_completion(struct vcx_device *device, uint32_t eq, uint32_t cq);

extern const struct vcx_kind_of_object vcx_kind_eq;

#endif
