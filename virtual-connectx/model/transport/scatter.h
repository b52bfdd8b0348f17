/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The memory of a work request: a list of stretches, or bytes that stood in the request itself. */
#ifndef VCX_SCATTER_H
#define VCX_SCATTER_H

#include "virtual-connectx/model/queue/mkey.h"

#define VCX_MOST_STRETCHES 32 /* a receive request of 512 bytes */

struct vcx_stretch {
    uint32_t key, bytes;
    uint64_t address;
};

struct vcx_scatter {
    uint32_t count;
    uint64_t bytes;
    uint8_t *inlined; /* owned; NULL: the stretches */
    struct vcx_stretch stretch[VCX_MOST_STRETCHES];
};

/* false: more stretches than there may be. */
bool vcx_scatter_add(struct vcx_scatter *scatter, uint32_t key, uint32_t bytes, uint64_t address);
/* The data segments of a receive request. */
void vcx_scatter_parse(const uint8_t *segments, uint32_t bytes, struct vcx_scatter *scatter);
void vcx_scatter_clear(struct vcx_scatter *scatter);
/* The memory at an offset of the list does not answer now. */
bool vcx_scatter_stalls(struct vcx_device *device, const struct vcx_scatter *scatter, uint64_t offset);
/* Copy `bytes` at an offset of the list. false: a key does not allow it, or the list is shorter. */
bool vcx_scatter_read(struct vcx_device *device, struct vcx_rights rights, const struct vcx_scatter *scatter,
                      uint64_t offset, void *to, uint32_t bytes);
bool vcx_scatter_write(struct vcx_device *device, struct vcx_rights rights, const struct vcx_scatter *scatter,
                       uint64_t offset, const void *from, uint32_t bytes);

#endif
