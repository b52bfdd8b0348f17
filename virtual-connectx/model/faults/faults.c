// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/faults/inside.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/objects.h"

/* mlx5's struct health_buffer in struct mlx5_init_seg */
#define SEGMENT_SEVERITY  0x238 /* the driver heeds the syndrome if the upper bit is set */
#define SEGMENT_SYNDROME  0x23c
#define SEVERITY_RESET    (1u << 31)
#define SYNDROME_INTERNAL (1u << 16) /* MLX5_INITIAL_SEG_HEALTH_SYNDROME_FW_INTERNAL_ERR */

bool vcx_fault_command(struct vcx_device *device)
{
    struct vcx_faults *faults = device->faults;
    return faults->command_after && --faults->command_after == 0;
}

/* ---- the firmware's end */

void vcx_fault_stop_firmware(struct vcx_device *device, uint64_t until_ns)
{
    device->faults->stopped = true;
    device->faults->stopped_until_ns = until_ns;
    device->ops->bar_write(device->front, SEGMENT_SEVERITY, SEVERITY_RESET);
    device->ops->bar_write(device->front, SEGMENT_SYNDROME, SYNDROME_INTERNAL);
}

void vcx_fault_start_firmware(struct vcx_device *device)
{
    device->faults->stopped = false;
    device->ops->bar_write(device->front, SEGMENT_SEVERITY, 0);
    device->ops->bar_write(device->front, SEGMENT_SYNDROME, 0);
    vcx_objects_free(device);
    device->command_eq = 0;
    device->command_queue = 0;
    vcx_command_start(device);
}

bool vcx_fault_stopped(struct vcx_device *device)
{
    struct vcx_faults *faults = device->faults;
    if (faults->stopped && vcx_now_ns(device) >= faults->stopped_until_ns)
        vcx_fault_start_firmware(device);
    return faults->stopped;
}

/* ---- the room */

static int start(struct vcx_device *device)
{
    device->faults = vcx_allocate(sizeof *device->faults);
    return device->faults ? 0 : -1;
}

static void stop(struct vcx_device *device)
{
    if (device->faults)
        vcx_fault_frames_clear(device);
    vcx_release(device->faults);
    device->faults = NULL;
}

static bool storms(const struct vcx_faults *faults, uint64_t now_ns)
{
    return now_ns >= faults->storm_from_ns && now_ns < faults->storm_until_ns;
}

static bool poll(struct vcx_device *device)
{
    struct vcx_faults *faults = device->faults;
    if (device->port->flapping && vcx_now_ns(device) >= faults->flap_until_ns)
        device->port->flapping = false;
    device->port->storming = storms(faults, vcx_now_ns(device)) ? faults->storm_priorities : 0;
    return vcx_fault_frames_poll(device);
}

const struct vcx_room vcx_room_faults = {start, stop, poll};
