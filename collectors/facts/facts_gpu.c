/* GPUs, and the distance of each GPU to each NIC. */
#include "collectors/facts/facts.h"

#include "collectors/sources/nvml.h"
#include "collectors/facts/pci.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VENDOR_NVIDIA 0x10de
#define CLASS_DISPLAY 0x03
#define VIRTUAL_GPU   "/sys/class/misc/virtual-gpu"

/* A value of /proc/driver/nvidia/gpus/ADDRESS/information: "Model: \t\t NVIDIA GeForce RTX 3090". */
static json_t *information(const char *root, const char *address, const char *name)
{
    char text[4096], value[128] = "";
    ssize_t length =
        sysfs_bytes(text, sizeof text - 1, root, "/proc/driver/nvidia/gpus/%s/information", address);
    text[length > 0 ? length : 0] = '\0';
    for (const char *line = text; line && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t size = strlen(name);
        if (strncmp(line, name, size) != 0 || line[size] != ':')
            continue;
        const char *at = line + size + 1 + strspn(line + size + 1, " \t");
        for (size_t i = 0; i + 1 < sizeof value && isprint((unsigned char)at[i]); i++) {
            value[i] = at[i];
            value[i + 1] = '\0';
        }
        return value[0] != '\0' ? json_text(value) : json_null();
    }
    return json_null();
}

/* NVIDIA's BAR1 is the second memory region: resource 1 when BAR0 is a 32-bit BAR (GeForce), resource 2 when
 * it is a 64-bit BAR (H100). */
static size_t bar1_region(const struct pci_device *device)
{
    return device->bar_bytes[1] > 0 ? 1 : 2;
}

/* Known: BAR1's size says which region it is. */
static json_t *resizable_json(const struct pci_config *config, size_t region, bool known)
{
    const struct pci_resizable_bar *bar = &config->bars[region];
    if (!known || (!config->extended && !bar->present))
        return json_null();
    if (!bar->present)
        return json_make("{s:b}", "supported", 0);
    return json_make("{s:b,s:I,s:I}", "supported", 1, "current_bytes", (json_int_t)bar->current_bytes,
                     "largest_bytes", (json_int_t)bar->largest_bytes);
}

/* Facts that are available only from the running driver. */
static void add_nvml(const struct nvml *n, const char *address, json_t *o)
{
    unsigned int count = 0;
    nvml_device device;
    struct nvml_bar1 bar1;
    char other[32], name[96];
    if (!n || nvml_device_count(n, &count, NULL) == -1)
        return;
    for (unsigned int i = 0; i < count; i++) {
        if (nvml_device_by_index(n, i, &device, NULL) == -1 ||
            nvml_pci_address(n, device, other, sizeof other, NULL) == -1 || strcmp(other, address) != 0)
            continue;
        json_object_set_new(o, "index", json_integer(i));
        if (nvml_name(n, device, name, sizeof name, NULL) == 0)
            json_object_set_new(o, "model", json_text(name));
        if (nvml_bar1_memory(n, device, &bar1, NULL) == 0)
            json_object_set_new(o, "bar1_used_bytes", json_integer((json_int_t)bar1.used_bytes));
    }
}

static json_t *gpu_json(const struct facts_source *s, const struct nvml *n, const struct pci_device *device)
{
    struct pci_config config;
    size_t region = bar1_region(device);
    pci_config_read(s->root, device->address, &config);
    json_t *o = json_object();
    json_object_set_new(o, "index", json_null());
    json_object_set_new(o, "model", information(s->root, device->address, "Model"));
    json_object_set_new(o, "vbios", information(s->root, device->address, "Video BIOS"));
    json_object_set_new(o, "pci", facts_pci(s->root, device));
    json_object_set_new(o, "bar1_bytes",
                        device->bar_bytes[region] > 0 ? json_integer((json_int_t)device->bar_bytes[region])
                                                      : json_null());
    json_object_set_new(o, "bar1_used_bytes", json_null());
    json_object_set_new(o, "resizable_bar", resizable_json(&config, region, device->bar_bytes[region] > 0));
    json_object_set_new(o, "virtual", json_null());
    add_nvml(n, device->address, o);
    return o;
}

/* Memory that stands for a GPU's where the NIC is a virtual ConnectX: a device that its module makes
 * (virtual-connectx/kernel/gpu_memory.c). It is not hardware: none of a card's facts is known. */
static void add_virtual(const char *root, json_t *list)
{
    if (!sysfs_exists(root, "/sys/module/virtual_connectx") || !sysfs_exists(root, VIRTUAL_GPU))
        return;
    json_array_append_new(list, json_make("{s:n,s:s,s:n,s:n,s:n,s:n,s:n,s:{s:[s]}}", "index", "model",
                                          "virtual GPU: memory of a virtual ConnectX, not hardware", "vbios",
                                          "pci", "bar1_bytes", "bar1_used_bytes", "resizable_bar", "virtual",
                                          "evidence", VIRTUAL_GPU " of the module virtual_connectx"));
}

json_t *facts_gpus(const struct facts_source *s)
{
    json_t *list = json_array();
    struct sysfs_names names = sysfs_list(s->root, "/sys/bus/pci/devices");
    struct nvml *n = s->live ? nvml_open(NULL) : NULL;
    for (size_t i = 0; i < names.count; i++) {
        struct pci_device device;
        int64_t vendor, class;
        if (!sysfs_number(&vendor, s->root, "/sys/bus/pci/devices/%s/vendor", names.items[i]) ||
            !sysfs_number(&class, s->root, "/sys/bus/pci/devices/%s/class", names.items[i]) ||
            vendor != VENDOR_NVIDIA || class >> 16 != CLASS_DISPLAY ||
            pci_device_read(s->root, names.items[i], &device, NULL) == -1)
            continue;
        json_array_append_new(list, gpu_json(s, n, &device));
    }
    nvml_close(n);
    sysfs_names_free(&names);
    add_virtual(s->root, list);
    return list;
}

/* ---- pairs */

static json_t *acs_json(const char *root, const char *address)
{
    struct pci_config config;
    pci_config_read(root, address, &config);
    if (!config.extended && !config.acs.present)
        return json_null();
    uint16_t control = config.acs.control;
    return json_make("{s:b,s:b,s:b,s:b,s:b,s:b,s:b}", "present", config.acs.present, "source_validation",
                     (control & PCI_ACS_SOURCE_VALIDATION) != 0, "translation_blocking",
                     (control & PCI_ACS_TRANSLATION_BLOCKING) != 0, "request_redirect",
                     (control & PCI_ACS_REQUEST_REDIRECT) != 0, "completion_redirect",
                     (control & PCI_ACS_COMPLETION_REDIRECT) != 0, "upstream_forwarding",
                     (control & PCI_ACS_UPSTREAM_FORWARDING) != 0, "direct_translated",
                     (control & PCI_ACS_DIRECT_TRANSLATED) != 0);
}

/* The bridges of a chain below the bridges that both chains share: peer-to-peer traffic passes through
 * them. */
static void add_bridges(const char *root, const struct pci_chain *chain, size_t common, json_t *bridges)
{
    for (size_t i = common; i + 1 < chain->count; i++)
        json_array_append_new(bridges, json_make("{s:s,s:o}", "address", chain->addresses[i], "acs",
                                                 acs_json(root, chain->addresses[i])));
}

static json_t *pair_json(const char *root, const char *nic, const char *gpu)
{
    struct pci_device a, b;
    if (pci_device_read(root, nic, &a, NULL) == -1 || pci_device_read(root, gpu, &b, NULL) == -1)
        return NULL;
    size_t common = pci_chain_common(&a.chain, &b.chain);
    enum pci_relation relation = pci_relation(&a, &b, facts_numa_nodes(root));
    json_t *bridges = json_array();
    add_bridges(root, &a.chain, common, bridges);
    add_bridges(root, &b.chain, common, bridges);
    return json_make(
        "{s:s,s:s,s:s,s:s,s:o}", "nic", nic, "gpu", gpu, "relation", pci_relation_name(relation), "shared",
        common > 0 ? a.chain.addresses[common - 1] : (relation == PCI_PHB ? a.chain.host_bridge : ""),
        "bridges", bridges);
}

json_t *facts_pairs(const struct facts_source *s, const json_t *nics, const json_t *gpus)
{
    json_t *list = json_array();
    size_t i, j;
    const json_t *nic, *gpu;
    json_array_foreach(nics, i, nic)
    {
        const char *a = json_string_value(json_object_get(json_object_get(nic, "pci"), "address"));
        json_array_foreach(gpus, j, gpu)
        {
            const char *b = json_string_value(json_object_get(json_object_get(gpu, "pci"), "address"));
            json_t *pair = a && b ? pair_json(s->root, a, b) : NULL;
            if (!pair)
                continue;
            json_object_set(pair, "netdev", json_object_get(nic, "netdev"));
            json_array_append_new(list, pair);
        }
    }
    return list;
}
