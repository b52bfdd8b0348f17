// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the model asks of the front. */
#include "virtual-connectx/kernel/front.h"

#include <linux/ktime.h>
#include <linux/mm.h>

/* Bus addresses are physical addresses: no IOMMU covers this bus. Memory that the kernel reserved has no
 * mapping, but for the page of zeros: it is what everybody reads who has written nothing there, and is
 * never written to. */
static void *memory_at(struct vcx_front *front, uint64_t address, uint32_t bytes, enum vcx_use use)
{
    unsigned long pfn = PHYS_PFN(address);
    if (!vcx_config_master(front) || bytes > PAGE_SIZE - offset_in_page(address) || !pfn_valid(pfn))
        return NULL;
    if (PageReserved(pfn_to_page(pfn)) && (use == VCX_TO_WRITE || !is_zero_pfn(pfn)))
        return NULL;
    return phys_to_virt(address);
}

static uint32_t bar_read(struct vcx_front *front, uint32_t offset)
{
    return offset <= VCX_BAR_BYTES - 4 ? ioread32be(front->registers + offset) : 0;
}

static void bar_write(struct vcx_front *front, uint32_t offset, uint32_t value)
{
    if (offset <= VCX_BAR_BYTES - 4)
        iowrite32be(value, front->registers + offset);
}

static uint64_t function_now_ns(struct vcx_front *front)
{
    return vcx_turn_ns();
}

static bool function_ready(struct vcx_front *front)
{
    return vcx_wire_ready(&front->wire);
}

static void function_transmit(struct vcx_front *front, struct vcx_frame *frame)
{
    vcx_wire_transmit(&front->wire, frame);
}

static void log_text(struct vcx_front *front, const char *text)
{
    printk_ratelimited(KERN_INFO "virtual ConnectX %u: %s\n", front->index, text);
}

const struct vcx_front_ops vcx_kernel_front = {
    .memory = memory_at,
    .bar_read = bar_read,
    .bar_write = bar_write,
    .now_ns = function_now_ns,
    .interrupt = vcx_interrupt,
    .ready = function_ready,
    .transmit = function_transmit,
    .log = log_text,
};
