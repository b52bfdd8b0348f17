/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the files of faults share. */
#ifndef VCX_FAULTS_INSIDE_H
#define VCX_FAULTS_INSIDE_H

#include "virtual-connectx/model/faults/faults.h"

#define VCX_FAULTS_AT_ONCE 16

enum vcx_frame_kind {
    VCX_ANY_FRAME,
    VCX_DATA_FRAME,
    VCX_CNP_FRAME,
    VCX_ACK_FRAME,
    VCX_NAK_FRAME,
    VCX_READ_REQUEST_FRAME,
    VCX_PAUSE_FRAME
};

struct vcx_frame_fault;
/* Does it to a frame. true: the frame is taken. */
typedef bool vcx_fault_action(struct vcx_device *device, const struct vcx_frame_fault *fault,
                              struct vcx_frame *frame);

struct vcx_frame_fault {
    const char *name;         /* of the action */
    vcx_fault_action *action; /* NULL: the place is free */
    enum vcx_direction direction;
    enum vcx_frame_kind kind;
    uint64_t nth;  /* the first frame that is met, counted from 1 */
    uint64_t step; /* after it each of this number */
    uint64_t most; /* so many are met; then it only counts */
    uint64_t ms;
    uint64_t seen, met;
};

struct vcx_faults {
    struct vcx_frame_fault frames[VCX_FAULTS_AT_ONCE];
    struct vcx_frames delayed[2]; /* by direction; in the order in which they came */
    uint64_t command_after;       /* so many commands until one is lost; 0: none */
    bool stopped;
    uint64_t stopped_until_ns, flap_until_ns;
    uint64_t storm_from_ns, storm_until_ns;
    uint8_t storm_priorities; /* bit n: n */
};

/* ---- frames.c */
vcx_fault_action vcx_fault_drop, vcx_fault_mark, vcx_fault_corrupt, vcx_fault_fcs, vcx_fault_duplicate,
    vcx_fault_delay;
/* Hands on the frames whose delay is over. true: there may be more. */
bool vcx_fault_frames_poll(struct vcx_device *device);
void vcx_fault_frames_clear(struct vcx_device *device);

/* ---- faults.c */
void vcx_fault_stop_firmware(struct vcx_device *device, uint64_t until_ns);
void vcx_fault_start_firmware(struct vcx_device *device);

#endif
