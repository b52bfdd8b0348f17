/*
 * NICs whose network interface belongs to another network namespace than this program's: that of a pod, or of
 * the node if this is a pod. Neither ethtool's nor DCB's values of the interface can be read here. Where RDMA
 * devices are shared by namespaces, a namespace that is not the first one gets a device without its counters
 * (linux drivers/infiniband/core/sysfs.c, setup_port: is_full_dev).
 */
#include "collectors/facts/facts.h"

#include "collectors/sources/rdma_device.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>

#define CLASS_ETHERNET 0x0200

/* ---- containers */

/* "kubernetes", "docker", "podman", what systemd-nspawn or another one says, or false. */
static json_t *container(const char *root)
{
    char name[64];
    if (sysfs_exists(root, "/run/secrets/kubernetes.io") ||
        sysfs_exists(root, "/var/run/secrets/kubernetes.io"))
        return json_text("kubernetes");
    if (sysfs_exists(root, "/.dockerenv"))
        return json_text("docker");
    if (sysfs_exists(root, "/run/.containerenv"))
        return json_text("podman");
    if (sysfs_text(name, sizeof name, root, "/run/systemd/container") > 0)
        return json_text(name);
    return json_false();
}

static int keep_mode(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[RDMA_NLDEV_ATTR_MAX];
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_MAX);
    (void)netlink_u8(table[RDMA_NLDEV_SYS_ATTR_NETNS_MODE], data);
    return MNL_CB_OK;
}

/* "shared": each namespace sees all RDMA devices; "exclusive": each device belongs to one. null: the kernel
 * does not say. */
static json_t *rdma_mode(const struct facts_source *s)
{
    union netlink_request r;
    struct error e;
    uint8_t mode = UINT8_MAX;
    struct netlink *n = s->live ? netlink_open(NETLINK_RDMA, &e) : NULL;
    if (n) {
        struct nlmsghdr *m = netlink_prepare(&r, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET), 0);
        (void)netlink_call(n, m, keep_mode, &mode, &e);
        netlink_close(n);
    }
    return mode > 1 ? json_null() : json_text(mode ? "shared" : "exclusive");
}

json_t *facts_namespaces(const struct facts_source *s)
{
    return json_make("{s:o,s:o}", "container", container(s->root), "rdma", rdma_mode(s));
}

/* ---- RDMA devices whose interface is not here */

json_t *facts_rdma_counters(const struct facts_source *s, const char *device, const char *port)
{
    return json_boolean(sysfs_exists(s->root, "/sys/class/infiniband/%s/ports/%s/counters", device, port) ||
                        sysfs_exists(s->root, "/sys/class/infiniband/%s/ports/%s/hw_counters", device, port));
}

/* The interface of a port's GIDs that is not here; false: one is here, or there is none. */
static bool find_absent(const char *root, const char *device, const char *port, char *netdev, size_t size)
{
    struct sysfs_names names =
        sysfs_list(root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs", device, port);
    bool here = false;
    netdev[0] = '\0';
    for (size_t i = 0; i < names.count && !here; i++) {
        char name[64];
        if (sysfs_text(name, sizeof name, root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%s",
                       device, port, names.items[i]) <= 0 ||
            !sysfs_safe_name(name))
            continue;
        here = sysfs_exists(root, "/sys/class/net/%s", name);
        snprintf(netdev, size, "%.*s", (int)size - 1, name);
    }
    sysfs_names_free(&names);
    return !here && netdev[0] != '\0';
}

bool facts_is_elsewhere(const struct facts_source *s, const char *device, const char *port)
{
    char netdev[64];
    return find_absent(s->root, device, port, netdev, sizeof netdev);
}

static void add_rdma(const struct facts_source *s, json_t *list)
{
    struct sysfs_names devices = sysfs_list(s->root, "/sys/class/infiniband");
    for (size_t i = 0; i < devices.count; i++) {
        struct sysfs_names ports = sysfs_list(s->root, "/sys/class/infiniband/%s/ports", devices.items[i]);
        for (size_t k = 0; k < ports.count; k++) {
            char netdev[64];
            if (find_absent(s->root, devices.items[i], ports.items[k], netdev, sizeof netdev))
                json_array_append_new(
                    list, json_make("{s:s,s:s,s:s,s:o,s:n}", "rdma", devices.items[i], "port", ports.items[k],
                                    "netdev", netdev, "counters",
                                    facts_rdma_counters(s, devices.items[i], ports.items[k]), "pci"));
        }
        sysfs_names_free(&ports);
    }
    sysfs_names_free(&devices);
}

/* ---- Ethernet functions with mlx5's driver that have neither an interface nor an RDMA device here */

static bool has_entry(const char *root, const char *address, const char *folder)
{
    struct sysfs_names names = sysfs_list(root, "/sys/bus/pci/devices/%s/%s", address, folder);
    bool any = names.count > 0;
    sysfs_names_free(&names);
    return any;
}

static bool is_bare(const char *root, const char *address)
{
    char driver[64];
    int64_t class;
    return sysfs_number(&class, root, "/sys/bus/pci/devices/%s/class", address) &&
           class >> 8 == CLASS_ETHERNET &&
           sysfs_link(driver, sizeof driver, root, "/sys/bus/pci/devices/%s/driver", address) > 0 &&
           strcmp(driver, "mlx5_core") == 0 && !has_entry(root, address, "net") &&
           !has_entry(root, address, "infiniband");
}

static void add_functions(const struct facts_source *s, json_t *list)
{
    struct sysfs_names functions = sysfs_list(s->root, "/sys/bus/pci/devices");
    for (size_t i = 0; i < functions.count; i++)
        if (is_bare(s->root, functions.items[i]))
            json_array_append_new(list, json_make("{s:n,s:n,s:n,s:n,s:s}", "rdma", "port", "netdev",
                                                  "counters", "pci", functions.items[i]));
    sysfs_names_free(&functions);
}

json_t *facts_elsewhere(const struct facts_source *s)
{
    json_t *list = json_array();
    add_rdma(s, list);
    add_functions(s, list);
    return list;
}
