// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/device.h"

void vcx_log(struct vcx_device *device, const char *format, ...)
{
    char text[160];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    device->ops->log(device->front, text);
}

uint64_t vcx_now_ns(struct vcx_device *device)
{
    return device->ops->now_ns(device->front);
}

void *vcx_memory(struct vcx_device *device, uint64_t address, uint32_t bytes, enum vcx_use use)
{
    bool in_page = bytes <= VCX_PAGE_BYTES - (address & (VCX_PAGE_BYTES - 1));
    void *memory = in_page ? device->ops->memory(device->front, address, bytes, use) : NULL;
    device->refused_writes += !memory && use == VCX_TO_WRITE;
    return memory;
}

void vcx_count_use(struct vcx_usage *table, size_t room, uint16_t id, uint8_t status)
{
    size_t i = 0;
    while (i < room - 1 && table[i].calls && table[i].id != id)
        i++; /* the last row takes those for which there is no room */
    table[i].id = id;
    table[i].calls++;
    table[i].refused = status ? status : table[i].refused;
}
