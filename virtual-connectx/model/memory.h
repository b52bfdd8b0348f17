/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A queue's memory: pages of the driver's that a command listed. */
#ifndef VCX_MEMORY_H
#define VCX_MEMORY_H

#include "virtual-connectx/model/device.h"

struct vcx_buffer {
    uint64_t *page; /* bus addresses */
    uint32_t pages;
    uint8_t log_page; /* 12 to 31 */
    uint32_t offset;  /* of the queue's begin in the first page */
    uint64_t bytes;   /* of the queue */
};

/* From a command's list of `listed` 64-bit page addresses. `log_page` is the page size less 12 as contexts
 * give it; `offset_64ths` counts 64ths of that page size. -1: the list does not cover the bytes, or memory
 * ran out. */
int vcx_buffer_init(struct vcx_buffer *buffer, const uint8_t *list, uint64_t listed, uint32_t log_page,
                    uint32_t offset_64ths, uint64_t bytes);
void vcx_buffer_clear(struct vcx_buffer *buffer);
/* Memory of the queue at an offset, or NULL. `bytes` is a power of two up to 4096, and the offset a
 * multiple of it: it lies in a page. */
void *vcx_buffer_at(struct vcx_device *device, const struct vcx_buffer *buffer, uint64_t offset,
                    uint32_t bytes, enum vcx_use use);

#endif
