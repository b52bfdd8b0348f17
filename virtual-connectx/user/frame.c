// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What else the model needs of its surroundings, in a program. */
#include "virtual-connectx/model/front.h"

#include <string.h>
#include <zlib.h>

#define ANYTHING 0xa5

uint32_t vcx_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return (uint32_t)~crc32(~crc & UINT32_MAX, data, (uInt)bytes); /* zlib inverts before and after */
}

/* Its bytes begin as anything, as they do in the kernel. */
struct vcx_frame *vcx_frame_new(uint32_t room)
{
    struct vcx_frame *frame = vcx_allocate(sizeof *frame + room);
    if (!frame)
        return NULL;
    frame->data = (uint8_t *)(frame + 1);
    frame->room = room;
    memset(frame->data, ANYTHING, room);
    return frame;
}
