// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/firmware.h"

#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/objects.h"
#include "virtual-connectx/model/pace/pace.h"
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/register/register.h"
#include "virtual-connectx/model/room.h"
#include "virtual-connectx/model/vport/vport.h"
#include "virtual-connectx/model/transport/transport.h"

#define SEGMENT_TIMER_HIGH 0x1000
#define SEGMENT_TIMER_LOW  0x1004
#define SEGMENT_HEALTH     0x1010
#define HEALTH_EVERY_NS    100000000u

static const struct vcx_room *const rooms[] = {
    &vcx_room_completion, /* the last to be stopped */
    &vcx_room_pace,       &vcx_room_faults,   &vcx_room_port,      &vcx_room_registers,
    &vcx_room_vport,      &vcx_room_ethernet, &vcx_room_transport,
};

int vcx_device_start(struct vcx_device *device, const struct vcx_configuration *configuration,
                     struct vcx_front *front, const struct vcx_front_ops *ops)
{
    memset(device, 0, sizeof *device);
    device->configuration = *configuration;
    device->front = front;
    device->ops = ops;
    vcx_capabilities_start(device);
    vcx_command_start(device);
    for (size_t i = 0; i < VCX_COUNT(rooms); i++)
        if (rooms[i]->start && rooms[i]->start(device) != 0) {
            vcx_device_stop(device);
            return -1;
        }
    return 0;
}

void vcx_device_stop(struct vcx_device *device)
{
    vcx_objects_free(device);
    for (size_t i = VCX_COUNT(rooms); i-- > 0;)
        if (rooms[i]->stop)
            rooms[i]->stop(device);
    vcx_release(device->given_pages);
    device->given_pages = NULL;
}

/* The clock and the counter by which the driver sees that the firmware is alive. */
static void heart_beat(struct vcx_device *device)
{
    uint64_t now = vcx_now_ns(device);
    device->ops->bar_write(device->front, SEGMENT_TIMER_HIGH, (uint32_t)(now >> 32));
    device->ops->bar_write(device->front, SEGMENT_TIMER_LOW, (uint32_t)now);
    if (now < device->health_at_ns)
        return;
    device->health_at_ns = now + HEALTH_EVERY_NS;
    device->ops->bar_write(device->front, SEGMENT_HEALTH, ++device->health);
}

bool vcx_device_poll(struct vcx_device *device)
{
    if (vcx_fault_stopped(device))
        return false;
    heart_beat(device);
    bool busy = vcx_command_poll(device);
    for (size_t i = 0; i < VCX_COUNT(rooms); i++)
        if (rooms[i]->poll)
            busy |= rooms[i]->poll(device);
    return busy;
}
