// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the model needs of its surroundings, in the kernel. */
#include "virtual-connectx/model/front.h"

#include <linux/crc32.h>
#include <linux/mm.h>

void *vcx_allocate(size_t bytes)
{
    return kvzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
}

void vcx_release(void *memory)
{
    kvfree(memory);
}

uint32_t vcx_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return crc32_le(crc, data, bytes);
}

struct vcx_frame *vcx_frame_new(uint32_t room)
{
    struct vcx_frame *frame = kvmalloc(sizeof *frame + room, GFP_KERNEL | __GFP_NOWARN);
    if (!frame)
        return NULL;
    *frame = (struct vcx_frame){.data = (uint8_t *)(frame + 1), .room = room};
    return frame;
}
