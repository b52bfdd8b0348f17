/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The seam between the model and what carries it: a kernel module, a test program, later a process that
 * speaks vfio-user. A front gives a device its memory, time, interrupts and wire, and calls vcx_device_poll.
 */
#ifndef VCX_FRONT_H
#define VCX_FRONT_H

#include "virtual-connectx/model/base.h"

/* A frame without its FCS. The space before `data` takes headers that are put in front of it. */
struct vcx_frame {
    struct vcx_frame *next;
    uint8_t *data;
    uint32_t length;
    uint32_t room;    /* bytes from data to the end of the memory */
    uint8_t priority; /* 0 to 7, set when it is queued */
    uint8_t port;     /* of a switch, by which it came in */
    bool rdma;        /* a queue pair's, not the Ethernet driver's */
    uint64_t at_ns;   /* when it is due; the port's and the faults' */
};

/* A frame with room for `room` bytes and length 0; NULL when memory ran out. Free it with vcx_release. */
struct vcx_frame *vcx_frame_new(uint32_t room);

/* Another frame with the same bytes, of the same priority and port; NULL when memory ran out. */
static inline struct vcx_frame *vcx_frame_copy(const struct vcx_frame *frame)
{
    struct vcx_frame *copy = vcx_frame_new(frame->length);
    if (!copy)
        return NULL;
    copy->length = frame->length;
    copy->priority = frame->priority;
    copy->port = frame->port;
    copy->rdma = frame->rdma;
    memcpy(copy->data, frame->data, frame->length);
    return copy;
}

#define VCX_MOST_TIMEOUT_SCALE 400000u /* as the slowest line of the fastest NIC */

/* What a function is made as. */
struct vcx_configuration {
    uint16_t device_id; /* 0x1015: ConnectX-4 Lx, 0x1017: ConnectX-5, 0x101b: ConnectX-6 */
    uint8_t mac[6];
    uint64_t nominal_bps; /* what the driver reads as the link's speed */
    /* What the line carries. Pause quanta, times and rates of congestion control are those of the nominal
     * line, stretched by nominal_bps / line_bps. */
    uint64_t line_bps;
    /* How many times longer than on a card time-outs and waits for receivers are; 0: as much as the line is
     * slower. */
    uint32_t timeout_scale;
    uint32_t cable_ns; /* how long a frame is on its way to the function */
    uint64_t seed;     /* of what happens by chance: stalls */
};

enum vcx_use { VCX_TO_READ, VCX_TO_WRITE };

struct vcx_front;
struct vcx_front_ops {
    /* The driver's memory at a bus address, or NULL unless all `bytes` are memory that may be used so.
     * They lie in one page of 4 KiB. */
    void *(*memory)(struct vcx_front *front, uint64_t address, uint32_t bytes, enum vcx_use use);
    /* The 32-bit big-endian words of the device's own BAR. */
    uint32_t (*bar_read)(struct vcx_front *front, uint32_t offset);
    void (*bar_write)(struct vcx_front *front, uint32_t offset, uint32_t value);
    /* Monotonic. */
    uint64_t (*now_ns)(struct vcx_front *front);
    void (*interrupt)(struct vcx_front *front, uint16_t vector);
    /* The wire takes a frame now. NULL: always. */
    bool (*ready)(struct vcx_front *front);
    /* Puts the frame on the wire and owns it from then on. */
    void (*transmit)(struct vcx_front *front, struct vcx_frame *frame);
    void (*log)(struct vcx_front *front, const char *text);
};

#endif
