/* The CPUs that serve a PCI function's interrupts (Documentation/core-api/irq/irq-affinity.rst). */
#include "collectors/facts/facts.h"

#include "lib/kernel/cpulist.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include <string.h>

/* Vectors that carry no packets: mlx5's asynchronous events and commands, virtio's changes of configuration. The handler's
 * name is a folder of the interrupt. */
static bool carries_packets(const char *root, const char *irq)
{
    static const char *const others[] = {"async", "mlx5_cmd", "mlx5_pages", "config"};
    struct sysfs_names names = sysfs_list(root, "/proc/irq/%s", irq);
    bool carries = true;
    for (size_t i = 0; i < names.count; i++)
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            carries = carries && !strstr(names.items[i], others[k]);
    sysfs_names_free(&names);
    return carries;
}

/* An interrupt that is not in use has no CPU in effect. */
static bool add_cpus(const char *root, const char *irq, struct cpulist *set)
{
    char text[1024];
    if (sysfs_text(text, sizeof text, root, "/proc/irq/%s/effective_affinity_list", irq) < 0 &&
        sysfs_text(text, sizeof text, root, "/proc/irq/%s/smp_affinity_list", irq) < 0)
        return false;
    return text[0] != '\0' && carries_packets(root, irq) && cpulist_add(set, text);
}

json_t *facts_interrupts(const char *root, const char *address)
{
    struct cpulist set = {{0}};
    char cpus[1024];
    size_t count = 0;
    struct sysfs_names irqs = sysfs_list(root, "/sys/bus/pci/devices/%s/msi_irqs", address);
    for (size_t i = 0; i < irqs.count; i++)
        count += add_cpus(root, irqs.items[i], &set);
    sysfs_names_free(&irqs);
    if (count == 0)
        return json_null();
    cpulist_format(&set, cpus, sizeof cpus);
    return json_make("{s:I,s:s,s:o}", "count", (json_int_t)count, "cpus", cpus, "local_cpus",
                     facts_line(root, "/sys/bus/pci/devices/%s/local_cpulist", address));
}
