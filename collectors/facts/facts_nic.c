/* Network interfaces and their RDMA devices. */
#include "collectors/facts/facts.h"
#include "collectors/facts/nic/congestion.h"
#include "collectors/facts/nic/firmware_config.h"
#include "collectors/facts/nic/lldp.h"
#include "collectors/facts/pci.h"
#include "lib/document/json_text.h"
#include "lib/kernel/cpulist.h"
#include "lib/kernel/sysfs.h"
#include "lib/roce/mlx5.h"
#include "nic-config/knobs/knob.h"
#include <ctype.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- settings in force */

/* Settings in force, read by nic-config's own knobs: both programs read them with the same code. */

/* Knobs that read only files: they also work on a copied tree. */
static bool reads_files_only(const struct knob *knob)
{
    return knob == &knob_ecn || knob == &knob_dcqcn;
}

static void add_knob(const struct knob *knob, struct device *device, json_t *settings, json_t *from,
                     json_t *missing)
{
    struct text place = {0};
    struct error e = {0};
    if (knob->read(device, settings, &place, &e) == KNOB_READ)
        json_object_set_new(from, knob->name, json_text(text_string(&place)));
    else
        json_object_set_new(missing, knob->name, json_text(e.text));
    text_free(&place);
}

/* A copied tree has no interface to open: the properties that the knobs need are taken from its files. */
static int open_device(const struct facts_source *s, const char *netdev, struct host *host,
                       struct device *device, struct error *e)
{
    host->root = s->root;
    if (s->live)
        return device_open(device, host, netdev, e);
    *device = (struct device){.host = host};
    snprintf(device->name, sizeof device->name, "%s", netdev);
    (void)sysfs_link(device->driver, sizeof device->driver, s->root, "/sys/class/net/%s/device/driver",
                     netdev);
    (void)sysfs_link(device->pci, sizeof device->pci, s->root, "/sys/class/net/%s/device", netdev);
    return 0;
}

void facts_settings(const struct facts_source *s, const char *netdev, json_t *nic)
{
    struct host host = {0};
    struct device device;
    struct error e = {0};
    json_t *settings = json_object(), *from = json_object(), *missing = json_object();
    if (open_device(s, netdev, &host, &device, &e) == 0) {
        for (const struct knob *const *knob = knobs; *knob; knob++)
            if (s->live || reads_files_only(*knob))
                add_knob(*knob, &device, settings, from, missing);
    } else {
        json_object_set_new(missing, "all", json_text(e.text));
    }
    host_close(&host);
    json_object_set_new(nic, "settings", settings);
    json_object_set_new(nic, "settings_from", from);
    json_object_set_new(nic, "settings_missing", missing);
}

/* ---- interrupts */

/* The CPUs that serve a PCI function's interrupts (Documentation/core-api/irq/irq-affinity.rst). */

/* Vectors that carry no packets: mlx5's asynchronous events and commands, virtio's changes of configuration.
 * The handler's name is a folder of the interrupt. */
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

/* ---- VLAN interfaces */

/* VLAN interfaces: the tag's priority of packets is in the egress map. Read from the files of linux
 * net/8021q/vlanproc.c. */

/* The text after a label, up to the end of its line; NULL without the label. The line is cut off. */
static char *text_after_label(char *text, const char *label)
{
    char *at = strstr(text, label);
    if (!at)
        return NULL;
    at += strlen(label);
    at[strcspn(at, "\n")] = '\0';
    return at;
}

/* "0:3 1:3" */
static json_t *parse_egress(const char *text)
{
    json_t *egress = json_object();
    unsigned int from, to;
    int used;
    for (; text && sscanf(text, " %u:%u%n", &from, &to, &used) == 2; text += used) {
        char key[16];
        snprintf(key, sizeof key, "%u", from);
        json_object_set_new(egress, key, json_integer(to & 7));
    }
    return egress;
}

/* The VLAN of one file if it belongs to the interface, else NULL. The parts are cut off from the file's
 * end. */
static json_t *parse_vlan(const char *name, char *text, const char *netdev)
{
    const char *egress = text_after_label(text, "EGRESS priority mappings:"),
               *device = text_after_label(text, "\nDevice: ");
    const char *id = text_after_label(text, "VID: ");
    long number = id ? strtol(id, NULL, 10) : 0;
    if (!device || strcmp(device, netdev) != 0 || number < 1 || number > 4094)
        return NULL;
    return json_make("{s:s,s:i,s:o}", "netdev", name, "id", (int)number, "egress", parse_egress(egress));
}

json_t *facts_vlans(const struct facts_source *s, const char *netdev)
{
    json_t *list = json_array();
    struct sysfs_names names = sysfs_list(s->root, "/proc/net/vlan");
    for (size_t i = 0; i < names.count; i++) {
        char text[4096];
        ssize_t length = sysfs_bytes(text, sizeof text - 1, s->root, "/proc/net/vlan/%s", names.items[i]);
        if (length <= 0 || strcmp(names.items[i], "config") == 0)
            continue;
        text[length] = '\0';
        json_t *vlan = parse_vlan(names.items[i], text, netdev);
        if (vlan)
            json_array_append_new(list, vlan);
    }
    sysfs_names_free(&names);
    return list;
}

#define CLASS_BRIDGE 0x06

/* a virtual ConnectX: docs/virtual-connectx.md */
#define MODULE     "/sys/module/virtual_connectx/parameters/"
#define BAR_BYTES  (4LL << 20)
#define BPS_OF_ONE 1000000 /* the module's rates are in Mbit/s */

static json_t *link_json(const struct pci_link *link)
{
    json_t *o = json_object();
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {{"speed_MTps", link->speed_mtps},
                  {"width_lanes", link->width},
                  {"max_speed_MTps", link->max_speed_mtps},
                  {"max_width_lanes", link->max_width}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        json_object_set_new(o, fields[i].name,
                            fields[i].value < 0 ? json_null() : json_integer(fields[i].value));
    return o;
}

/* The IOMMU group of a function, with the other functions in it that are not bridges: they are passed to a
 * guest together (Documentation/driver-api/vfio.rst). */
static json_t *iommu_group(const char *root, const char *address)
{
    char group[32];
    if (sysfs_link(group, sizeof group, root, "/sys/bus/pci/devices/%s/iommu_group", address) <= 0)
        return json_null();
    json_t *others = json_array();
    struct sysfs_names members = sysfs_list(root, "/sys/bus/pci/devices/%s/iommu_group/devices", address);
    for (size_t i = 0; i < members.count; i++) {
        int64_t class = 0;
        (void)sysfs_number(&class, root, "/sys/bus/pci/devices/%s/class", members.items[i]);
        if (strcmp(members.items[i], address) != 0 && class >> 16 != CLASS_BRIDGE)
            json_array_append_new(others, json_text(members.items[i]));
    }
    json_t *o = json_make("{s:s,s:o}", "number", group, "others",
                          members.count > 0 ? json_incref(others) : json_null());
    json_decref(others);
    sysfs_names_free(&members);
    return o;
}

/* May the device mark its writes for reordering? null: its configuration space was not read. */
static json_t *relaxed_ordering(const char *root, const char *address)
{
    struct pci_config config;
    pci_config_read(root, address, &config);
    return config.express.present ? json_boolean(config.express.control & PCI_EXPRESS_RELAXED_ORDERING)
                                  : json_null();
}

/* Virtual functions by their numbers: linux drivers/net/ethernet/mellanox/mlx4/main.c and mlx5/core/main.c,
 * broadcom/bnxt/bnxt.c, intel/iavf/iavf_devids.h (of i40e and ice) and idpf/idpf_devids.h. In a guest nothing
 * else tells. */
static const char *const virtual_functions[] = {
    "15b3:1002", "15b3:1004", "15b3:1012", "15b3:1014", "15b3:1016", "15b3:1018", "15b3:101a", "15b3:101c",
    "15b3:101e", "15b3:a2d3", "14e4:1606", "14e4:1607", "14e4:1608", "14e4:1609", "14e4:16bd", "14e4:16c1",
    "14e4:16c2", "14e4:16c3", "14e4:16c4", "14e4:16c5", "14e4:16cb", "14e4:16d3", "14e4:16dc", "14e4:16e1",
    "14e4:16e5", "14e4:16e6", "14e4:1806", "14e4:1807", "14e4:1808", "14e4:1809", "14e4:1819", "14e4:181b",
    "14e4:d800", "8086:154c", "8086:1571", "8086:37cd", "8086:1889", "8086:145c", NULL};

/* Is the function a virtual one (SR-IOV)? null: of other vendors' cards it is not known in a guest, which
 * does not see the physical one. */
static json_t *is_virtual_function(const char *root, const struct pci_device *device, const char *id)
{
    if (sysfs_exists(root, "/sys/bus/pci/devices/%s/physfn", device->address))
        return json_true();
    for (size_t i = 0; virtual_functions[i]; i++)
        if (strcmp(virtual_functions[i], id) == 0)
            return json_true();
    return strncmp(id, "15b3:", 5) == 0 || strncmp(id, "14e4:", 5) == 0 ||
                   sysfs_exists(root, "/sys/bus/pci/devices/%s/sriov_totalvfs", device->address)
               ? json_false()
               : json_null();
}

json_t *facts_pci(const char *root, const struct pci_device *device)
{
    char id[16], class[16];
    json_t *o = json_object(), *path = json_array();
    snprintf(id, sizeof id, "%04x:%04x", (unsigned int)device->vendor & 0xffff,
             (unsigned int)device->device & 0xffff);
    snprintf(class, sizeof class, "%06x", (unsigned int)device->class & 0xffffff);
    json_array_append_new(path, json_text(device->chain.host_bridge));
    for (size_t i = 0; i < device->chain.count; i++)
        json_array_append_new(path, json_text(device->chain.addresses[i]));
    json_object_set_new(o, "address", json_text(device->address));
    json_object_set_new(o, "path", path);
    json_object_set_new(o, "id", device->vendor < 0 || device->device < 0 ? json_null() : json_text(id));
    json_object_set_new(o, "class", device->class < 0 ? json_null() : json_text(class));
    json_object_set_new(o, "numa_node",
                        device->numa_node < 0 ? json_null() : json_integer(device->numa_node));
    json_object_set_new(o, "driver", device->driver[0] != '\0' ? json_text(device->driver) : json_null());
    json_object_set_new(o, "link", link_json(&device->link));
    json_object_set_new(o, "virtual_function", is_virtual_function(root, device, id));
    json_object_set_new(o, "relaxed_ordering", relaxed_ordering(root, device->address));
    json_object_set_new(o, "iommu_group", iommu_group(root, device->address));
    return o;
}

/* ---- a virtual ConnectX: its firmware says so, and its registers lie in memory of the module */

/* Does the function's first BAR lie in the memory that the module was given? */
static bool lies_in_module(const char *root, const char *address)
{
    int64_t memory, functions, begin;
    char resource[128];
    if (!address || !sysfs_number(&memory, root, MODULE "memory") ||
        !sysfs_number(&functions, root, MODULE "functions") ||
        sysfs_text(resource, sizeof resource, root, "/sys/bus/pci/devices/%s/resource", address) <= 0)
        return false;
    resource[strcspn(resource, " ")] = '\0';
    return sysfs_parse_number(resource, &begin) && memory > 0 && begin >= memory && functions > 0 &&
           functions <= 64 && begin < memory + functions * BAR_BYTES;
}

/* The line rate, what the driver takes it for, and how many times slower the line is. */
static json_t *scaled(const char *root)
{
    int64_t line, nominal;
    if (!sysfs_number(&line, root, MODULE "link") || !sysfs_number(&nominal, root, MODULE "nominal") ||
        line <= 0 || nominal <= 0 || line > 10000000 || nominal > 10000000)
        return json_null();
    return json_make("{s:I,s:I,s:f}", "line_bps", (json_int_t)line * BPS_OF_ONE, "nominal_bps",
                     (json_int_t)nominal * BPS_OF_ONE, "scale", (double)nominal / (double)line);
}

/* {"evidence": [...], "scaled": {line_bps, nominal_bps, scale} or null} of a NIC with these other facts, or
 * null. */
static json_t *find_virtual(const char *root, const json_t *nic)
{
    const json_t *rdma = json_object_get(nic, "rdma");
    const char *board = json_string_value(json_object_get(rdma, "board"));
    const char *firmware = json_string_value(json_object_get(nic, "firmware"));
    const char *address = json_string_value(json_object_get(json_object_get(nic, "pci"), "address"));
    json_t *evidence = json_array();
    if (board && is_virtual_board(board))
        json_array_append_new(evidence, json_textf("board %s", board));
    if (firmware && strstr(firmware, "(" VIRTUAL_BOARD))
        json_array_append_new(evidence, json_textf("firmware %s", firmware));
    if (lies_in_module(root, address))
        json_array_append_new(evidence, json_text("its registers are memory of the module virtual_connectx"));
    json_t *found = json_array_size(evidence)
                        ? json_make("{s:O,s:o}", "evidence", evidence, "scaled", scaled(root))
                        : json_null();
    json_decref(evidence);
    return found;
}

/* ---- the interface */

static void copy_printable(json_t *o, const char *name, const char *text, size_t size)
{
    char copy[64] = "";
    for (size_t i = 0; i < size && i + 1 < sizeof copy && isprint((unsigned char)text[i]); i++) {
        copy[i] = text[i];
        copy[i + 1] = '\0';
    }
    json_object_set_new(o, name, copy[0] != '\0' ? json_text(copy) : json_null());
}

static void add_driver(const struct facts_source *s, const char *netdev, json_t *o)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq r = {.ifr_data = (void *)&info};
    int descriptor = s->live ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", netdev);
    if (descriptor != -1 && ioctl(descriptor, SIOCETHTOOL, &r) == 0) {
        copy_printable(o, "driver", info.driver, sizeof info.driver);
        copy_printable(o, "driver_version", info.version, sizeof info.version);
        copy_printable(o, "firmware", info.fw_version, sizeof info.fw_version);
    } else {
        char driver[64] = "";
        (void)sysfs_link(driver, sizeof driver, s->root, "/sys/class/net/%s/device/driver", netdev);
        json_object_set_new(o, "driver", driver[0] != '\0' ? json_text(driver) : json_null());
        json_object_set_new(o, "driver_version",
                            driver[0] != '\0' && sysfs_safe_name(driver)
                                ? facts_line(s->root, "/sys/module/%s/version", driver)
                                : json_null());
        json_object_set_new(o, "firmware", json_null());
    }
    if (descriptor != -1)
        close(descriptor);
}

/* virtio devices are below a PCI function in sysfs: go up until a PCI function is found. NULL: there is none.
 */
static json_t *pci_of_netdev(const char *root, const char *netdev)
{
    struct pci_chain chain;
    struct pci_device device;
    char *path = sysfs_resolve(root, "/sys/class/net/%s/device", netdev);
    bool found = path && pci_chain_parse(path, &chain, NULL) == 0 &&
                 pci_device_read(root, chain.addresses[chain.count - 1], &device, NULL) == 0;
    free(path);
    return found ? facts_pci(root, &device) : NULL;
}

/* An interface without a device has the function of its RDMA device, else that of the interface below it. */
static json_t *find_pci(const struct facts_source *s, const char *netdev, const json_t *rdma,
                        const json_t *lower)
{
    const char *name = json_string_value(json_object_get(rdma, "device"));
    json_t *pci = pci_of_netdev(s->root, netdev);
    size_t i;
    const json_t *below;
    if (!pci && name) {
        pci = facts_rdma_pci(s, name);
        if (!json_is_object(pci)) {
            json_decref(pci);
            pci = NULL;
        }
    }
    json_array_foreach(lower, i, below)
    {
        if (!pci && sysfs_safe_name(json_string_value(below)))
            pci = pci_of_netdev(s->root, json_string_value(below));
    }
    return pci ? pci : json_null();
}

/* "bond", "bridge", "vlan", "macvlan", ...: an interface that is upon others, as the kernel calls it; null:
 * none of these, or (a team) not shown. */
static json_t *find_kind(const char *root, const char *netdev)
{
    static const char label[] = "DEVTYPE=";
    char text[512];
    ssize_t length = sysfs_bytes(text, sizeof text - 1, root, "/sys/class/net/%s/uevent", netdev);
    text[length > 0 ? length : 0] = '\0';
    char *type = strncmp(text, label, strlen(label)) == 0 ? text : text_after_label(text, "\nDEVTYPE=");
    if (sysfs_exists(root, "/sys/class/net/%s/bonding", netdev))
        return json_text("bond");
    if (sysfs_exists(root, "/sys/class/net/%s/bridge", netdev))
        return json_text("bridge");
    if (sysfs_exists(root, "/proc/net/vlan/%s", netdev))
        return json_text("vlan");
    if (!type)
        return json_null();
    if (type == text)
        type += strlen(label);
    type[strcspn(type, "\n")] = '\0';
    return json_text(type);
}

/* The interfaces that it is upon, as far as they are in this network namespace. */
static json_t *find_lower(const char *root, const char *netdev)
{
    static const char before[] = "lower_";
    json_t *list = json_array();
    char slaves[1024], *word, *rest = slaves;
    struct sysfs_names names = sysfs_list(root, "/sys/class/net/%s", netdev);
    for (size_t i = 0; i < names.count; i++)
        if (strncmp(names.items[i], before, strlen(before)) == 0)
            json_array_append_new(list, json_text(names.items[i] + strlen(before)));
    sysfs_names_free(&names);
    if (json_array_size(list) == 0 &&
        sysfs_text(slaves, sizeof slaves, root, "/sys/class/net/%s/bonding/slaves", netdev) > 0)
        while ((word = strsep(&rest, " ")))
            if (*word)
                json_array_append_new(list, json_text(word));
    return list;
}

static json_t *find_master(const char *root, const char *netdev)
{
    char master[64];
    return sysfs_link(master, sizeof master, root, "/sys/class/net/%s/master", netdev) > 0 ? json_text(master)
                                                                                           : json_null();
}

/* A master that is neither a bridge nor a VRF: of these a port keeps its RDMA. */
bool facts_is_bonded(const char *root, const char *netdev)
{
    char master[64];
    if (sysfs_exists(root, "/sys/class/net/%s/bonding_slave", netdev))
        return true;
    if (sysfs_link(master, sizeof master, root, "/sys/class/net/%s/master", netdev) <= 0)
        return false;
    json_t *kind = find_kind(root, master);
    const char *name = json_string_value(kind);
    bool bonded = !name || strcmp(name, "bond") == 0 || strcmp(name, "team") == 0;
    json_decref(kind);
    return bonded && !sysfs_exists(root, "/sys/class/net/%s/brport", netdev);
}

bool facts_bond_has_rdma(const char *root, const char *bond)
{
    json_t *ports = find_lower(root, bond), *functions = json_object();
    size_t i;
    const json_t *port;
    json_array_foreach(ports, i, port)
    {
        const char *name = json_string_value(port);
        char *function = sysfs_resolve(root, "/sys/class/net/%s/device", name);
        if (function && sysfs_exists(root, "/sys/class/net/%s/device/infiniband", name))
            json_put(functions, function, json_true());
        free(function);
    }
    bool each = json_array_size(ports) > 1 && json_object_size(functions) == json_array_size(ports);
    json_decref(functions);
    json_decref(ports);
    return !each;
}

/* The bridge that the interface is a port of; false: it is none's. */
static json_t *find_bridge(const char *root, const char *netdev)
{
    char bridge[64];
    if (!sysfs_exists(root, "/sys/class/net/%s/brport", netdev))
        return json_false();
    return sysfs_link(bridge, sizeof bridge, root, "/sys/class/net/%s/brport/bridge", netdev) > 0
               ? json_text(bridge)
               : json_null();
}

static json_t *number_json(const char *root, const char *netdev, const char *file)
{
    int64_t value;
    return sysfs_number(&value, root, "/sys/class/net/%s/%s", netdev, file) && value >= 0
               ? json_integer(value)
               : json_null();
}

/* The driver of its function: an interface upon it, or of another driver, does not have that. */
static const char *function_driver(const json_t *nic)
{
    const char *driver = json_string_value(json_object_get(json_object_get(nic, "pci"), "driver"));
    return driver ? driver : json_string_value(json_object_get(nic, "driver"));
}

/* Only of NICs that have such settings: real ones of mlx5. */
static json_t *firmware_config(const struct facts_source *s, const char *netdev, const json_t *nic)
{
    const char *driver = function_driver(nic);
    const char *address = json_string_value(json_object_get(json_object_get(nic, "pci"), "address"));
    if (!driver || strcmp(driver, "mlx5_core") != 0 || !address ||
        json_is_object(json_object_get(nic, "virtual")))
        return json_null();
    return facts_may_ask(s, netdev) ? firmware_config_read(s, address)
                                    : json_make("{s:s}", "missing", "no tool was asked (--tools)");
}

/* What follows from the function and its RDMA, with or without an interface. */
static void add_function(const struct facts_source *s, json_t *o, json_t *pci, json_t *rdma)
{
    const char *address = json_string_value(json_object_get(pci, "address"));
    /* Every RDMA driver reports the firmware version here; some report it nowhere else. */
    const json_t *firmware = json_object_get(rdma, "firmware");
    if (json_is_string(firmware) && !json_is_string(json_object_get(o, "firmware")))
        json_object_set_new(o, "firmware", json_text(json_string_value(firmware)));
    json_object_set_new(o, "interrupts", address ? facts_interrupts(s->root, address) : json_null());
    json_object_set_new(o, "pci", pci);
    json_object_set_new(o, "rdma", rdma);
    json_object_set_new(o, "virtual", find_virtual(s->root, o));
}

static json_t *nic_json(const struct facts_source *s, const char *netdev)
{
    json_t *o = json_object(), *rdma = facts_rdma(s, netdev);
    json_object_set_new(o, "netdev", json_text(netdev));
    add_driver(s, netdev, o);
    json_object_set_new(o, "mac", facts_line(s->root, "/sys/class/net/%s/address", netdev));
    json_object_set_new(o, "state", facts_line(s->root, "/sys/class/net/%s/operstate", netdev));
    json_object_set_new(o, "mtu_bytes", number_json(s->root, netdev, "mtu"));
    json_object_set_new(o, "speed_Mbps", number_json(s->root, netdev, "speed"));
    json_object_set_new(o, "bridge", find_bridge(s->root, netdev));
    json_object_set_new(o, "kind", find_kind(s->root, netdev));
    json_object_set_new(o, "master", find_master(s->root, netdev));
    json_object_set_new(o, "bonded", json_boolean(facts_is_bonded(s->root, netdev)));
    json_object_set_new(o, "lower", find_lower(s->root, netdev));
    add_function(s, o, find_pci(s, netdev, rdma, json_object_get(o, "lower")), rdma);
    json_object_set_new(o, "vlans", facts_vlans(s, netdev));
    json_object_set_new(o, "firmware_config", firmware_config(s, netdev, o));
    json_object_set_new(o, "congestion_control", facts_congestion(s, o));
    json_object_set_new(o, "dcbx", facts_dcbx(s, netdev));
    json_object_set_new(o, "lldp", facts_lldp(s, netdev));
    facts_settings(s, netdev, o);
    return o;
}

/* An RDMA port without an interface: of InfiniBand without ib_ipoib. */
static json_t *bare_json(const struct facts_source *s, json_t *rdma)
{
    json_t *o =
        json_make("{s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:b,s:[],s:{},s:{},s:{s:s}}", "netdev", "driver",
                  "driver_version", "firmware", "state", "mtu_bytes", "speed_Mbps", "bridge", 0, "lower",
                  "settings", "settings_from", "settings_missing", "all", "it has no network interface");
    json_t *pci = facts_rdma_pci(s, json_string_value(json_object_get(rdma, "device")));
    json_object_set(o, "driver", json_object_get(pci, "driver"));
    add_function(s, o, pci, rdma);
    return o;
}

json_t *facts_nics(const struct facts_source *s, const char *netdev)
{
    json_t *list = json_array(), *owners = netdev ? NULL : facts_rdma_owners(s);
    struct sysfs_names names = sysfs_list(s->root, "/sys/class/net");
    for (size_t i = 0; i < names.count; i++) {
        if (strlen(names.items[i]) >= IFNAMSIZ || (netdev && strcmp(netdev, names.items[i]) != 0))
            continue;
        if (!netdev && !sysfs_exists(s->root, "/sys/class/net/%s/device", names.items[i]) &&
            !json_object_get(owners, names.items[i]))
            continue;
        json_array_append_new(list, nic_json(s, names.items[i]));
    }
    sysfs_names_free(&names);
    size_t i;
    json_t *port, *bare = netdev ? NULL : facts_rdma_bare(s);
    json_array_foreach(bare, i, port) json_array_append_new(list, bare_json(s, json_incref(port)));
    json_decref(bare);
    json_decref(owners);
    return list;
}
