/* The NIC's PCIe link, its error counts, and the speed of its port, from sysfs
 * (Documentation/ABI/testing/sysfs-bus-pci, sysfs-bus-pci-devices-aer_stats, sysfs-class-net). */
#include "collectors/sources/source.h"

#include "collectors/sources/slow_files.h"
#include "lib/kernel/sysfs.h"
#include <limits.h>
#include <stdio.h>

static const struct {
    const char *name;
    enum slow_text text;
    const char *file;
} files[] = {
    {"pcie_link_speed", SLOW_LINK_SPEED, "device/current_link_speed"},
    {"pcie_link_width", SLOW_NUMBER, "device/current_link_width"},
    {"pcie_aer_correctable", SLOW_AER_TOTAL, "device/aer_dev_correctable"},
    {"pcie_aer_nonfatal", SLOW_AER_TOTAL, "device/aer_dev_nonfatal"},
    {"pcie_aer_fatal", SLOW_AER_TOTAL, "device/aer_dev_fatal"},
    {"link_speed", SLOW_PORT_SPEED, "speed"},
};

static void *pcie_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct slow_files *s = slow_files_new(target, e);
    int result = s ? 0 : -1;
    for (size_t i = 0; result != -1 && i < sizeof files / sizeof files[0]; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "/sys/class/net/%s/%s", target->netdev, files[i].file);
        result = slow_files_add(s, columns, files[i].name, files[i].text, path, e);
    }
    if (result != -1 && columns->count == 0)
        result = error_set(e, "%s has neither a PCIe link nor a speed in sysfs", target->netdev);
    if (result != -1)
        return s;
    slow_files_close(s);
    return NULL;
}

const struct source_kind source_pcie = {
    .name = "pcie",
    .about = "PCIe link of the NIC",
    .needs_netdev = true,
    .open = pcie_open,
    .read = slow_files_read,
    .close = slow_files_close,
};
