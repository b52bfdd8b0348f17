/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Where the fields of commands, contexts, registers and capabilities are: bit offsets as the programming
 * interface counts them, the most significant bit of a big-endian structure first. The numbers stand in
 * layout/, a row a field; kernel/layout_check.c compares each row with the kernel's own description at
 * compile time.
 */
#ifndef VCX_LAYOUT_H
#define VCX_LAYOUT_H

#include "virtual-connectx/model/base.h"

/* F: a field. P: a field whose path in the kernel's structure is not its name. S: where a structure begins
 * that is not read as a number. */
#define VCX_PLACE(offset, width)                 ((uint32_t)(offset) << 8 | (width))
#define F(structure, field, offset, width)       VCX_##structure##__##field = VCX_PLACE(offset, width),
#define P(structure, field, path, offset, width) VCX_##structure##__##field = VCX_PLACE(offset, width),
#define S(structure, field, offset)              VCX_##structure##__##field = VCX_PLACE(offset, 0),
enum vcx_place {
#include "virtual-connectx/model/layout/capabilities.def"
#include "virtual-connectx/model/layout/commands.def"
#include "virtual-connectx/model/layout/contexts.def"
#include "virtual-connectx/model/layout/registers.def"
};
#undef F
#undef P
#undef S

static inline uint64_t vcx_get_place(const void *structure, uint32_t place)
{
    uint32_t offset = place >> 8, width = place & 0xff, within = offset & 31;
    const uint8_t *word = (const uint8_t *)structure + offset / 32 * 4;
    if (width == 64)
        return vcx_be64(word);
    return vcx_be32(word) >> (32 - within - width) & (uint32_t)((1ull << width) - 1);
}

static inline void vcx_set_place(void *structure, uint32_t place, uint64_t value)
{
    uint32_t offset = place >> 8, width = place & 0xff, shift = 32 - (offset & 31) - width;
    uint8_t *word = (uint8_t *)structure + offset / 32 * 4;
    if (width == 64) {
        vcx_put64(word, value);
        return;
    }
    uint64_t least = 1ull << shift, mask = (least << width) - least;
    vcx_put32(word, (uint32_t)((vcx_be32(word) & ~mask) | (value * least & mask)));
}

/* vcx_get(context, eqc, log_eq_size), vcx_set(out, create_eq_out, eq_number, 3), vcx_at(in, create_eq_in,
 * pas) */
#define vcx_get(from, structure, field)      vcx_get_place(from, VCX_##structure##__##field)
#define vcx_set(in, structure, field, value) vcx_set_place(in, VCX_##structure##__##field, value)
#define vcx_at(structure_at, structure, field) \
    ((uint8_t *)(structure_at) + (VCX_##structure##__##field >> 8) / 8)
#define vcx_offset(structure, field) ((uint32_t)(VCX_##structure##__##field >> 8) / 8)

#endif
