// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/memory.h"

#define LOG_LEAST_PAGE 12
#define LOG_MOST_PAGE  31

int vcx_buffer_init(struct vcx_buffer *buffer, const uint8_t *list, uint64_t listed, uint32_t log_page,
                    uint32_t offset_64ths, uint64_t bytes)
{
    uint32_t log = log_page + LOG_LEAST_PAGE;
    if (log > LOG_MOST_PAGE || offset_64ths > 63 || !bytes)
        return -1;
    uint64_t offset = (uint64_t)offset_64ths << (log - 6);
    uint64_t pages = (offset + bytes + (1ull << log) - 1) >> log;
    if (pages > listed)
        return -1;
    buffer->page = vcx_allocate(pages * sizeof *buffer->page);
    if (!buffer->page)
        return -1;
    for (uint64_t i = 0; i < pages; i++)
        buffer->page[i] = vcx_be64(list + 8 * i) & ~0xfffull;
    buffer->pages = (uint32_t)pages;
    buffer->log_page = (uint8_t)log;
    buffer->offset = (uint32_t)offset;
    buffer->bytes = bytes;
    return 0;
}

void vcx_buffer_clear(struct vcx_buffer *buffer)
{
    vcx_release(buffer->page);
    *buffer = (struct vcx_buffer){0};
}

void *vcx_buffer_at(struct vcx_device *device, const struct vcx_buffer *buffer, uint64_t offset,
                    uint32_t bytes, enum vcx_use use)
{
    if (offset >= buffer->bytes || bytes > buffer->bytes - offset)
        return NULL;
    offset += buffer->offset;
    uint64_t page = offset >> buffer->log_page, within = offset & ((1ull << buffer->log_page) - 1);
    return page < buffer->pages ? vcx_memory(device, buffer->page[page] + within, bytes, use) : NULL;
}
