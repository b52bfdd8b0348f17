// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What happens to frames. */
#include "virtual-connectx/model/faults/inside.h"

#include "virtual-connectx/model/transport/packet.h"

#define AT_TYPE          12
#define TYPE_MAC_CONTROL 0x8808
#define OPERATION        0x1f
#define AETH_KIND        0xe0 /* of a syndrome; 0: an acknowledgement */
#define NS_OF_MS         1000000u
#define MOST_DELAYED     4096
#define DELAYED_PER_POLL 256

static void hand_on(struct vcx_device *device, enum vcx_direction direction, struct vcx_frame *frame)
{
    if (direction == VCX_RECEIVED)
        vcx_port_receive(device->port, frame);
    else
        device->ops->transmit(device->front, frame);
}

/* ---- the actions */

bool vcx_fault_drop(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    (void)device;
    (void)fault;
    vcx_release(frame);
    return true;
}

bool vcx_fault_fcs(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    device->port->counters.rx_fcs_errors += fault->direction == VCX_RECEIVED;
    return vcx_fault_drop(device, fault, frame);
}

bool vcx_fault_mark(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    (void)device;
    (void)fault;
    vcx_frame_mark(frame);
    return false;
}

bool vcx_fault_corrupt(struct vcx_device *device, const struct vcx_frame_fault *fault,
                       struct vcx_frame *frame)
{
    (void)device;
    (void)fault;
    if (frame->length)
        frame->data[frame->length - 1] ^= 1;
    return false;
}

bool vcx_fault_duplicate(struct vcx_device *device, const struct vcx_frame_fault *fault,
                         struct vcx_frame *frame)
{
    struct vcx_frame *copy = vcx_frame_copy(frame);
    if (copy)
        hand_on(device, fault->direction, copy);
    return false;
}

bool vcx_fault_delay(struct vcx_device *device, const struct vcx_frame_fault *fault, struct vcx_frame *frame)
{
    struct vcx_frames *delayed = &device->faults->delayed[fault->direction];
    if (delayed->count >= MOST_DELAYED)
        return vcx_fault_drop(device, fault, frame);
    frame->at_ns = vcx_now_ns(device) + fault->ms * NS_OF_MS;
    vcx_frames_put(delayed, frame);
    return true;
}

/* ---- which frames */

static enum vcx_frame_kind kind_of(struct vcx_frame *frame)
{
    struct vcx_packet packet;
    if (frame->length >= AT_TYPE + 2 && vcx_be16(frame->data + AT_TYPE) == TYPE_MAC_CONTROL)
        return VCX_PAUSE_FRAME;
    if (vcx_packet_parse(frame, &packet) != VCX_PACKET)
        return VCX_ANY_FRAME;
    if (packet.opcode == VCX_OPCODE_CNP)
        return VCX_CNP_FRAME;
    if ((packet.opcode & OPERATION) == VCX_READ_REQUEST)
        return VCX_READ_REQUEST_FRAME;
    if ((packet.opcode & OPERATION) != VCX_ACKNOWLEDGE)
        return VCX_DATA_FRAME;
    return packet.header[0] & AETH_KIND ? VCX_NAK_FRAME : VCX_ACK_FRAME;
}

/* Counts a frame that the fault is for. true: it is the one. */
static bool hits(struct vcx_frame_fault *fault, enum vcx_direction direction, enum vcx_frame_kind kind)
{
    if (!fault->action || fault->direction != direction ||
        (fault->kind != VCX_ANY_FRAME && fault->kind != kind))
        return false;
    fault->seen++;
    if (fault->seen < fault->nth || (fault->seen - fault->nth) % fault->step || fault->met == fault->most)
        return false;
    fault->met++;
    return true;
}

static bool is_any_set(const struct vcx_faults *faults)
{
    for (int i = 0; i < VCX_FAULTS_AT_ONCE; i++)
        if (faults->frames[i].action)
            return true;
    return false;
}

void vcx_fault_pass(struct vcx_device *device, enum vcx_direction direction, struct vcx_frame *frame)
{
    struct vcx_faults *faults = device->faults;
    enum vcx_frame_kind kind = is_any_set(faults) ? kind_of(frame) : VCX_ANY_FRAME;
    for (int i = 0; i < VCX_FAULTS_AT_ONCE; i++) {
        struct vcx_frame_fault fault = faults->frames[i];
        if (!hits(&faults->frames[i], direction, kind))
            continue;
        if (fault.action(device, &fault, frame))
            return;
    }
    hand_on(device, direction, frame);
}

/* ---- delayed frames: each has a time of its own */

static bool poll_direction(struct vcx_device *device, enum vcx_direction direction)
{
    struct vcx_frames *delayed = &device->faults->delayed[direction];
    uint64_t now = vcx_now_ns(device);
    uint32_t count = delayed->count < DELAYED_PER_POLL ? delayed->count : DELAYED_PER_POLL;
    bool busy = false;
    for (uint32_t i = 0; i < count; i++) {
        struct vcx_frame *frame = vcx_frames_take(delayed);
        if (frame->at_ns > now) {
            vcx_frames_put(delayed, frame);
            continue;
        }
        hand_on(device, direction, frame);
        busy = true;
    }
    return busy;
}

bool vcx_fault_frames_poll(struct vcx_device *device)
{
    bool busy = poll_direction(device, VCX_RECEIVED);
    return poll_direction(device, VCX_SENT) || busy;
}

void vcx_fault_frames_clear(struct vcx_device *device)
{
    vcx_frames_drop(&device->faults->delayed[VCX_RECEIVED]);
    vcx_frames_drop(&device->faults->delayed[VCX_SENT]);
}
