// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * MSI-X: the bus has an interrupt domain of its own, whose messages name the domain's interrupt instead of a
 * CPU's vector. The kernel writes each message into the table in the BAR. A message becomes a call of the
 * interrupt's handler on the CPU that it is bound to.
 */
#include "virtual-connectx/kernel/front.h"

#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/msi.h>

#define MESSAGE_ADDRESS 0xfee00000 /* the low half of each message's address */

static struct fwnode_handle *name;
static struct irq_domain *domain;

/* ---- the interrupts, as the kernel sees them */

static void msix_compose_message(struct irq_data *data, struct msi_msg *message)
{
    message->address_lo = MESSAGE_ADDRESS;
    message->address_hi = upper_32_bits(data->hwirq);
    message->data = lower_32_bits(data->hwirq);
}

static void msix_acknowledge(struct irq_data *data)
{
}

static int msix_set_affinity(struct irq_data *data, const struct cpumask *to, bool force)
{
    unsigned int cpu = cpumask_first_and(to, cpu_online_mask);
    if (cpu >= nr_cpu_ids)
        return -EINVAL;
    irq_data_update_effective_affinity(data, cpumask_of(cpu));
    return IRQ_SET_MASK_OK_DONE;
}

static int start_interrupt(struct irq_domain *of, struct msi_domain_info *info, unsigned int irq,
                           irq_hw_number_t number, msi_alloc_info_t *unused)
{
    irq_domain_set_info(of, irq, number, info->chip, NULL, handle_edge_irq, NULL, "edge");
    irq_set_status_flags(irq, IRQ_MOVE_PCNTXT);
    return 0;
}

static struct irq_chip chip = {.name = "virtual-connectx",
                               .irq_ack = msix_acknowledge,
                               .irq_compose_msi_msg = msix_compose_message,
                               .irq_set_affinity = msix_set_affinity};
static struct msi_domain_ops msi_ops = {.msi_init = start_interrupt};
static struct msi_domain_info information = {.flags = MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS |
                                                      MSI_FLAG_PCI_MSIX,
                                             .ops = &msi_ops,
                                             .chip = &chip};

int vcx_msix_add(void)
{
    name = irq_domain_alloc_named_fwnode("virtual-connectx");
    if (!name)
        return -ENOMEM;
    domain = pci_msi_create_irq_domain(name, &information, NULL);
    if (domain)
        return 0;
    irq_domain_free_fwnode(name);
    pr_err("virtual ConnectX: the kernel made no interrupt domain\n");
    return -ENOMEM;
}

struct irq_domain *vcx_msix_domain(void)
{
    return domain;
}

void vcx_msix_remove(void)
{
    irq_domain_remove(domain);
    irq_domain_free_fwnode(name);
}

/* ---- messages */

/* false: the vector is masked, or was while it was read. */
static bool read_entry(struct vcx_front *front, u16 vector, irq_hw_number_t *number, bool *ours)
{
    void __iomem *entry = front->registers + VCX_BAR_MSIX + vector * PCI_MSIX_ENTRY_SIZE;
    u16 flags = vcx_config_msix(front);
    if ((flags & (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL)) != PCI_MSIX_FLAGS_ENABLE)
        return false;
    if (readl(entry + PCI_MSIX_ENTRY_VECTOR_CTRL) & PCI_MSIX_ENTRY_CTRL_MASKBIT)
        return false;
    *ours = readl(entry + PCI_MSIX_ENTRY_LOWER_ADDR) == MESSAGE_ADDRESS;
    *number = (u64)readl(entry + PCI_MSIX_ENTRY_UPPER_ADDR) << 32 | readl(entry + PCI_MSIX_ENTRY_DATA);
    return !(readl(entry + PCI_MSIX_ENTRY_VECTOR_CTRL) & PCI_MSIX_ENTRY_CTRL_MASKBIT);
}

/* In interrupt context, with interrupts off. A number that nothing is bound to any more has no handler. */
static void vector_handle(struct vcx_vector *vector)
{
    generic_handle_domain_irq(domain, READ_ONCE(vector->number));
}

static void handle_here(struct irq_work *work)
{
    vector_handle(container_of(work, struct vcx_vector, here));
}

static void handle_there(void *vector)
{
    vector_handle(vector);
}

/* The CPU that the interrupt is bound to; none: nr_cpu_ids. */
static unsigned int cpu_of(irq_hw_number_t number)
{
    unsigned int cpu = nr_cpu_ids;
    struct irq_data *data;
    rcu_read_lock();
    data = irq_get_irq_data(irq_find_mapping(domain, number));
    if (data)
        cpu = cpumask_first_and(irq_data_get_effective_affinity_mask(data), cpu_online_mask);
    rcu_read_unlock();
    return cpu;
}

/* What is still on its way to a CPU will find this event too. */
static void vector_deliver(struct vcx_vector *vector, irq_hw_number_t number)
{
    unsigned int cpu = cpu_of(number);
    WRITE_ONCE(vector->number, number);
    preempt_disable();
    if (cpu >= nr_cpu_ids || cpu == smp_processor_id() ||
        smp_call_function_single_async(cpu, &vector->there) == -ENXIO)
        irq_work_queue(&vector->here);
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
static bool msix_send(struct vcx_front *front, u16 vector)
{
    irq_hw_number_t number;
    bool ours;
    if (!read_entry(front, vector, &number, &ours))
        return false;
    if (ours) {
        front->interrupts++;
        vector_deliver(&front->vectors[vector], number);
    }
    return true;
}

void vcx_msix_start(struct vcx_front *front)
{
    for (unsigned int i = 0; i < VCX_VECTORS; i++) {
        struct vcx_vector *vector = &front->vectors[i];
        INIT_CSD(&vector->there, handle_there, vector);
        init_irq_work(&vector->here, handle_here);
    }
}

static void do_nothing(void *unused)
{
}

/* Calls come in their order, on each CPU. */
void vcx_msix_stop(struct vcx_front *front)
{
    for (unsigned int i = 0; i < VCX_VECTORS; i++)
        irq_work_sync(&front->vectors[i].here);
    on_each_cpu(do_nothing, NULL, 1);
}

void vcx_interrupt(struct vcx_front *front, u16 vector)
{
    if (vector < VCX_VECTORS && !msix_send(front, vector))
        set_pending(front, vector, true);
}

void vcx_interrupts_poll(struct vcx_front *front)
{
    unsigned int vector;
    for_each_set_bit(vector, front->pending, VCX_VECTORS) if (msix_send(front, vector))
        set_pending(front, vector, false);
}
