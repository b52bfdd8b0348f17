// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A PCI bus of its own: a domain with one bus, one slot and up to four functions. */
#include "virtual-connectx/kernel/front.h"

#include <asm/e820/api.h>
#include <asm/pci.h>
#include <linux/ioport.h>
#include <linux/msi.h>

#define FIRST_DOMAIN 1
#define LAST_DOMAIN  0xffff

static struct resource window = {.name = "virtual ConnectX", .flags = IORESOURCE_MEM | IORESOURCE_PREFETCH};
static struct resource buses = {.name = "virtual ConnectX", .flags = IORESOURCE_BUS};
static struct pci_sysdata sysdata = {.node = NUMA_NO_NODE};
static struct pci_bus *bus;

static struct vcx_front *front_of(struct pci_bus *on, unsigned int devfn)
{
    return pci_is_root_bus(on) && PCI_SLOT(devfn) == 0 && PCI_FUNC(devfn) < vcx_functions
               ? vcx_fronts[PCI_FUNC(devfn)]
               : NULL;
}

static int config_read(struct pci_bus *on, unsigned int devfn, int where, int size, u32 *value)
{
    struct vcx_front *front = front_of(on, devfn);
    *value = ~0u;
    return front ? vcx_config_read(front, where, size, value) : PCIBIOS_DEVICE_NOT_FOUND;
}

static int config_write(struct pci_bus *on, unsigned int devfn, int where, int size, u32 value)
{
    struct vcx_front *front = front_of(on, devfn);
    return front ? vcx_config_write(front, where, size, value) : PCIBIOS_DEVICE_NOT_FOUND;
}

static struct pci_ops config_ops = {.read = config_read, .write = config_write};

/* Memory that the firmware's table calls RAM and the kernel's calls reserved: memmap= did that. */
static bool was_reserved(void)
{
    return window.parent && window.parent->desc == IORES_DESC_RESERVED && !window.child &&
           e820__mapped_raw_any(window.start, window.start + 1, E820_TYPE_RAM) &&
           e820__mapped_raw_any(window.end, window.end + 1, E820_TYPE_RAM);
}

int vcx_window_claim(phys_addr_t memory)
{
    resource_size_t bytes = (resource_size_t)vcx_functions * VCX_BAR_BYTES;
    int rc;
    /* a page short at first: a resource as long as the reserved one would be inserted around it */
    window.start = memory;
    window.end = memory + bytes - PAGE_SIZE - 1;
    rc = insert_resource(&iomem_resource, &window);
    if (rc == 0 && adjust_resource(&window, memory, bytes) == 0 && was_reserved())
        return 0;
    if (rc == 0)
        remove_resource(&window);
    pr_err("virtual ConnectX: memory=%pa: the kernel has not reserved these %llu MiB; boot it with "
           "memmap=%lluM$%pa\n",
           &memory, bytes >> 20, bytes >> 20, &memory);
    return rc ? rc : -EINVAL;
}

void vcx_window_release(void)
{
    remove_resource(&window);
}

static int free_domain(void)
{
    int domain = FIRST_DOMAIN;
    while (domain < LAST_DOMAIN && pci_find_bus(domain, 0))
        domain++;
    return domain;
}

/* Devices on the bus get its interrupt domain when they are found. */
static struct pci_bus *bus_scan(struct list_head *resources)
{
    struct pci_bus *root = pci_create_root_bus(NULL, 0, &config_ops, &sysdata, resources);
    if (!root)
        return NULL;
    dev_set_msi_domain(&root->dev, vcx_msix_domain());
    pci_scan_child_bus(root);
    pci_bus_claim_resources(root);
    pci_bus_add_devices(root);
    return root;
}

int vcx_bus_add(void)
{
    LIST_HEAD(resources);
    sysdata.domain = free_domain();
    pci_add_resource(&resources, &buses);
    pci_add_resource(&resources, &window);
    pci_lock_rescan_remove();
    bus = bus_scan(&resources);
    pci_unlock_rescan_remove();
    if (bus)
        return 0;
    pci_free_resource_list(&resources);
    pr_err("virtual ConnectX: the kernel did not take the PCI bus %04x:00\n", sysdata.domain);
    return -ENODEV;
}

void vcx_bus_remove(void)
{
    struct pci_host_bridge *bridge = to_pci_host_bridge(bus->bridge);
    pci_lock_rescan_remove();
    pci_stop_root_bus(bus);
    pci_remove_root_bus(bus);
    pci_unlock_rescan_remove();
    pci_free_host_bridge(
        bridge); /* the reference of pci_create_root_bus: the removal only deletes the device */
}
