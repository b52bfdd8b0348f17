// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Work requests that change memory keys (UMR): fast registration, memory windows, local invalidation. */
#include "virtual-connectx/model/transport/transport.h"
#include "virtual-connectx/model/transport/work_queue.h"

/* mlx5's struct mlx5_wqe_umr_ctrl_seg */
#define FLAGS            0
#define UNITS            4
#define OFFSET           6
#define MASK             8
#define OFFSET_HIGH      16
#define CONTROL_BYTES    48u
#define UMR_HEADER_BYTES (CONTROL_BYTES + VCX_MKEY_CONTEXT_BYTES)
#define SEGMENT_BYTES    16u /* mlx5's struct mlx5_wqe_data_seg */

static void read_header(const struct vcx_qp *qp, const struct vcx_request *q, struct vcx_change *change)
{
    const uint8_t *control = q->memory.inlined;
    *change = (struct vcx_change){.key = vcx_be32(q->immediate),
                                  .flags = control[FLAGS],
                                  .registers = vcx_get(qp->context, qpc, fre),
                                  .mask = vcx_be64(control + MASK),
                                  .context = control + CONTROL_BYTES,
                                  .units = vcx_be16(control + UNITS),
                                  .offset = (uint64_t)vcx_be32(control + OFFSET_HIGH) << 16 |
                                            vcx_be16(control + OFFSET)};
}

/* The list that the request's data segments point to. */
static uint8_t gather(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q,
                      uint8_t *list, uint32_t bytes)
{
    const uint8_t *at = q->memory.inlined + UMR_HEADER_BYTES, *end = q->memory.inlined + q->memory.bytes;
    for (uint32_t part; bytes; at += SEGMENT_BYTES, list += part, bytes -= part) {
        if (end - at < (ptrdiff_t)SEGMENT_BYTES)
            return VCX_LOCAL_LENGTH;
        part = (uint32_t)vcx_least(vcx_be32(at), bytes);
        if (part && !vcx_mkey_read(device, qp->rights, vcx_be32(at + 4), VCX_LOCAL_READ, vcx_be64(at + 8),
                                   list, part))
            return VCX_LOCAL_PROTECTION;
    }
    return 0;
}

static uint8_t apply_change(struct vcx_device *device, const struct vcx_qp *qp,
                            const struct vcx_change *change)
{
    return vcx_mkey_change(device, qp->rights, change) ? 0 : VCX_MEMORY_WINDOW_BIND;
}

static uint8_t change_inlined(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q,
                              struct vcx_change *change)
{
    change->list = q->memory.inlined + UMR_HEADER_BYTES;
    if ((uint64_t)change->units * VCX_LIST_UNIT > q->memory.bytes - UMR_HEADER_BYTES)
        return VCX_LOCAL_LENGTH;
    return apply_change(device, qp, change);
}

static uint8_t change_gathered(struct vcx_device *device, const struct vcx_qp *qp,
                               const struct vcx_request *q, struct vcx_change *change)
{
    uint32_t bytes = change->units * VCX_LIST_UNIT;
    uint8_t *list = bytes ? vcx_allocate(bytes) : NULL, syndrome = VCX_LOCAL_OPERATION;
    change->list = list;
    if (list || !bytes)
        syndrome = gather(device, qp, q, list, bytes);
    if (!syndrome)
        syndrome = apply_change(device, qp, change);
    vcx_release(list);
    return syndrome;
}

uint8_t vcx_umr_execute(struct vcx_device *device, const struct vcx_qp *qp, const struct vcx_request *q)
{
    struct vcx_change change;
    if (q->memory.bytes < UMR_HEADER_BYTES)
        return VCX_LOCAL_OPERATION;
    read_header(qp, q, &change);
    return change.flags & VCX_CHANGE_INLINE ? change_inlined(device, qp, q, &change)
                                            : change_gathered(device, qp, q, &change);
}
