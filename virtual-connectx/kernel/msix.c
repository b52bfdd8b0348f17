// SPDX-License-Identifier: GPL-2.0 OR MIT
/* MSI-X: the kernel wrote address and data of each message into the table in the BAR; a message becomes an IPI. */
#include "virtual-connectx/kernel/front.h"

#include <asm/apic.h>
#include <linux/msi.h>

#define ADDRESS_HIGH_BITS 0xfee /* bits 20 to 31 of each message's address */

struct message {
    u32 low, high, data;
};

/* false: the vector is masked, or was while it was read. */
static bool read_entry(struct vcx_front *front, u16 vector, struct message *message)
{
    void __iomem *entry = front->registers + VCX_BAR_MSIX + vector * PCI_MSIX_ENTRY_SIZE;
    u16 flags = vcx_config_msix(front);
    if ((flags & (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL)) != PCI_MSIX_FLAGS_ENABLE)
        return false;
    if (readl(entry + PCI_MSIX_ENTRY_VECTOR_CTRL) & PCI_MSIX_ENTRY_CTRL_MASKBIT)
        return false;
    message->low = readl(entry + PCI_MSIX_ENTRY_LOWER_ADDR);
    message->high = readl(entry + PCI_MSIX_ENTRY_UPPER_ADDR);
    message->data = readl(entry + PCI_MSIX_ENTRY_DATA);
    return !(readl(entry + PCI_MSIX_ENTRY_VECTOR_CTRL) & PCI_MSIX_ENTRY_CTRL_MASKBIT);
}

static void deliver(const struct message *message)
{
    u32 destination = (message->low >> 12 & 0xff) | (message->high & 0xffffff00);
    int cpu;
    preempt_disable();
    for_each_online_cpu(cpu) if (apic->calc_dest_apicid(cpu) == destination)
    {
        apic->send_IPI(cpu, message->data & 0xff);
        break;
    }
    preempt_enable();
}

static void set_pending(struct vcx_front *front, u16 vector, bool pending)
{
    void __iomem *word = front->registers + VCX_BAR_PENDING + vector / 32 * 4;
    u32 bit = 1u << vector % 32;
    assign_bit(vector, front->pending, pending);
    writel(pending ? readl(word) | bit : readl(word) & ~bit, word);
}

/* true: nothing is left to be sent. */
static bool send(struct vcx_front *front, u16 vector)
{
    struct message message;
    if (!read_entry(front, vector, &message))
        return false;
    if (message.low >> 20 == ADDRESS_HIGH_BITS) {
        front->interrupts++;
        deliver(&message);
    }
    return true;
}

void vcx_interrupt(struct vcx_front *front, u16 vector)
{
    if (vector < VCX_VECTORS && !send(front, vector))
        set_pending(front, vector, true);
}

void vcx_interrupts_poll(struct vcx_front *front)
{
    unsigned int vector;
    for_each_set_bit(vector, front->pending, VCX_VECTORS) if (send(front, vector))
        set_pending(front, vector, false);
}
