/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A queue of frames that knows its bytes, and how many have left it. */
#ifndef VCX_FRAMES_H
#define VCX_FRAMES_H

#include "virtual-connectx/model/front.h"

struct vcx_frames {
    struct vcx_frame *first, *last;
    uint64_t bytes;
    uint32_t count, left;
};

static inline void vcx_frames_put(struct vcx_frames *queue, struct vcx_frame *frame)
{
    frame->next = NULL;
    if (queue->last)
        queue->last->next = frame;
    else
        queue->first = frame;
    queue->last = frame;
    queue->bytes += frame->length;
    queue->count++;
}

/* NULL: it is empty. */
static inline struct vcx_frame *vcx_frames_take(struct vcx_frames *queue)
{
    struct vcx_frame *frame = queue->first;
    if (!frame)
        return NULL;
    queue->first = frame->next;
    if (!queue->first)
        queue->last = NULL;
    queue->bytes -= frame->length;
    queue->count--;
    queue->left++;
    frame->next = NULL;
    return frame;
}

static inline void vcx_frames_drop(struct vcx_frames *queue)
{
    struct vcx_frame *frame;
    while ((frame = vcx_frames_take(queue)))
        vcx_release(frame);
}

#endif
