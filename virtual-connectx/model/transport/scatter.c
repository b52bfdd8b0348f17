// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/transport/scatter.h"

#include "virtual-connectx/model/pace/pace.h"

#define SEGMENT_BYTES  16u
#define KEY_TERMINATES 0x100 /* mlx5's MLX5_INVALID_LKEY ends a receive request's list */

bool vcx_scatter_add(struct vcx_scatter *scatter, uint32_t key, uint32_t bytes, uint64_t address)
{
    if (scatter->count == VCX_MOST_STRETCHES)
        return false;
    scatter->stretch[scatter->count++] = (struct vcx_stretch){key, bytes, address};
    scatter->bytes += bytes;
    return true;
}

void vcx_scatter_clear(struct vcx_scatter *scatter)
{
    vcx_release(scatter->inlined);
    scatter->inlined = NULL;
    scatter->count = 0;
    scatter->bytes = 0;
}

/* The stretch that holds an offset, which becomes the offset in it; the count of stretches if none does. */
static uint32_t find_stretch(const struct vcx_scatter *scatter, uint64_t *offset)
{
    uint32_t i = 0;
    for (; i < scatter->count && *offset >= scatter->stretch[i].bytes; i++)
        *offset -= scatter->stretch[i].bytes;
    return i;
}

bool vcx_scatter_stalls(struct vcx_device *device, const struct vcx_scatter *scatter, uint64_t offset)
{
    uint32_t i = find_stretch(scatter, &offset);
    const struct vcx_stretch *s = &scatter->stretch[i];
    return i < scatter->count && vcx_pace_stalls(device, s->key, s->address + offset);
}

bool vcx_scatter_read(struct vcx_device *device, struct vcx_rights rights, const struct vcx_scatter *scatter,
                      uint64_t offset, void *to, uint32_t bytes)
{
    if (offset > scatter->bytes || bytes > scatter->bytes - offset)
        return false;
    if (scatter->inlined) {
        memcpy(to, scatter->inlined + offset, bytes);
        return true;
    }
    for (uint32_t i = find_stretch(scatter, &offset); bytes; i++, offset = 0) {
        const struct vcx_stretch *s = &scatter->stretch[i];
        uint32_t part = (uint32_t)vcx_least(bytes, s->bytes - offset);
        if (!vcx_mkey_read(device, rights, s->key, VCX_LOCAL_READ, s->address + offset, to, part))
            return false;
        to = (uint8_t *)to + part;
        bytes -= part;
    }
    return true;
}

bool vcx_scatter_write(struct vcx_device *device, struct vcx_rights rights, const struct vcx_scatter *scatter,
                       uint64_t offset, const void *from, uint32_t bytes)
{
    if (scatter->inlined || offset > scatter->bytes || bytes > scatter->bytes - offset)
        return false;
    for (uint32_t i = find_stretch(scatter, &offset); bytes; i++, offset = 0) {
        const struct vcx_stretch *s = &scatter->stretch[i];
        uint32_t part = (uint32_t)vcx_least(bytes, s->bytes - offset);
        if (!vcx_mkey_write(device, rights, s->key, VCX_LOCAL_WRITE, s->address + offset, from, part))
            return false;
        from = (const uint8_t *)from + part;
        bytes -= part;
    }
    return true;
}

void vcx_scatter_parse(const uint8_t *segments, uint32_t bytes, struct vcx_scatter *scatter)
{
    memset(scatter, 0, sizeof *scatter);
    for (; bytes >= SEGMENT_BYTES; segments += SEGMENT_BYTES, bytes -= SEGMENT_BYTES) {
        uint32_t key = vcx_be32(segments + 4), length = vcx_be32(segments) & VCX_RECEIVE_BYTES;
        if (key == KEY_TERMINATES ||
            (length && !vcx_scatter_add(scatter, key, length, vcx_be64(segments + 8))))
            return;
    }
}
