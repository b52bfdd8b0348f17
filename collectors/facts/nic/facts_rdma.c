/*
 * RDMA ports: the network interface that each belongs to, what it speaks, its GIDs. A port's GIDs name the
 * interfaces whose addresses they are, also those upon the NIC's own: a bond (RoCE LAG, whose one RDMA device
 * stands for all its ports), VLANs, macvlans, bridges (linux drivers/infiniband/core/roce_gid_mgmt.c). The
 * RDMA device is below its PCI function whatever its interface is called, or where that is.
 */
#include "collectors/facts/facts.h"

#include "collectors/facts/pci.h"
#include "lib/document/json_text.h"
#include "lib/kernel/sysfs.h"
#include "lib/roce/mlx5.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GIDS 256

/* ---- which interface a port belongs to */

static bool is_here(const char *root, const char *netdev)
{
    return sysfs_safe_name(netdev) && sysfs_exists(root, "/sys/class/net/%s", netdev);
}

static bool has_device(const char *root, const char *netdev)
{
    return is_here(root, netdev) && sysfs_exists(root, "/sys/class/net/%s/device", netdev);
}

/* The interface of a GID, by its index; false: there is none, or (InfiniBand) the kernel names none. */
static bool read_gid_netdev(const char *root, const char *device, const char *port, const char *index,
                            char *name, size_t size)
{
    return sysfs_text(name, size, root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%s", device, port,
                      index) > 0;
}

/* Does a GID of the port name the interface? *own: one names an interface that has a device of its own. */
static bool is_named(const char *root, const char *device, const char *port, const char *netdev, bool *own)
{
    char name[64];
    bool found = false;
    struct sysfs_names indexes =
        sysfs_list(root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs", device, port);
    *own = false;
    for (size_t i = 0; i < indexes.count; i++) {
        if (!read_gid_netdev(root, device, port, indexes.items[i], name, sizeof name))
            continue;
        found = found || strcmp(name, netdev) == 0;
        *own = *own || has_device(root, name);
    }
    sysfs_names_free(&indexes);
    return found;
}

/* Soft-RoCE, without an address too. */
static bool is_parent(const char *root, const char *device, const char *netdev)
{
    char name[64];
    return sysfs_text(name, sizeof name, root, "/sys/class/infiniband/%s/parent", device) > 0 &&
           strcmp(name, netdev) == 0;
}

/* The representor of another function, which is below the same PCI function: "pf0vf1". The port's own is "p0"
 * (linux net/core/devlink.c, __devlink_port_phys_port_name_get). */
static bool is_representor(const char *root, const char *netdev)
{
    char name[64];
    return sysfs_text(name, sizeof name, root, "/sys/class/net/%s/phys_port_name", netdev) > 0 &&
           strstr(name, "pf");
}

/* A port of a bond leaves RDMA to it, unless the driver joins nothing. */
static bool leaves_rdma(const char *root, const char *netdev)
{
    char bond[64];
    return facts_is_bonded(root, netdev) &&
           (sysfs_link(bond, sizeof bond, root, "/sys/class/net/%s/master", netdev) <= 0 ||
            facts_bond_has_rdma(root, bond));
}

/* Are interface and RDMA port of one device? Of devices with several ports, by the port's number. */
static bool is_of_device(const char *root, const char *device, const char *port, const char *netdev)
{
    char *of_netdev = sysfs_resolve(root, "/sys/class/net/%s/device", netdev);
    char *of_rdma = sysfs_resolve(root, "/sys/class/infiniband/%s/device", device);
    bool same = of_netdev && of_rdma && strcmp(of_netdev, of_rdma) == 0 && !is_representor(root, netdev) &&
                !leaves_rdma(root, netdev);
    struct sysfs_names ports = sysfs_list(root, "/sys/class/infiniband/%s/ports", device);
    int64_t number = 0;
    if (same && ports.count > 1 && sysfs_number(&number, root, "/sys/class/net/%s/dev_port", netdev))
        same = number >= 0 && number < 255 && number + 1 == strtol(port, NULL, 10);
    sysfs_names_free(&ports);
    free(of_netdev);
    free(of_rdma);
    return same;
}

static bool belongs(const char *root, const char *device, const char *port, const char *netdev)
{
    bool own;
    return is_named(root, device, port, netdev, &own) || is_parent(root, device, netdev) ||
           (!own && is_of_device(root, device, port, netdev));
}

/* The interface that stands for a port: one with a device if there is one, else the first that its GIDs name
 * and that is here (a bond; in a pod, a macvlan whose NIC is the node's). False: there is none. */
static bool find_owner(const char *root, const char *device, const char *port, char *owner, size_t size)
{
    struct sysfs_names all = sysfs_list(root, "/sys/class/net");
    struct sysfs_names indexes =
        sysfs_list(root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs", device, port);
    bool found = false;
    for (size_t i = 0; i < all.count && !found; i++)
        if (strlen(all.items[i]) < IFNAMSIZ && has_device(root, all.items[i]) &&
            belongs(root, device, port, all.items[i]))
            found = snprintf(owner, size, "%s", all.items[i]) > 0;
    for (size_t i = 0; i < indexes.count && !found; i++)
        found = read_gid_netdev(root, device, port, indexes.items[i], owner, size) && is_here(root, owner);
    if (!found)
        found = sysfs_text(owner, size, root, "/sys/class/infiniband/%s/parent", device) > 0 &&
                is_here(root, owner);
    sysfs_names_free(&indexes);
    sysfs_names_free(&all);
    return found;
}

/* Ports in turn, until `each` returns false; `netdev` and `found` are for `each`. */
typedef bool each_port(const struct facts_source *s, const char *device, const char *port, const char *netdev,
                       json_t **found);
static json_t *visit_ports(const struct facts_source *s, each_port *each, const char *netdev, json_t *found)
{
    struct sysfs_names devices = sysfs_list(s->root, "/sys/class/infiniband");
    bool on = true;
    for (size_t i = 0; i < devices.count && on; i++) {
        struct sysfs_names ports = sysfs_list(s->root, "/sys/class/infiniband/%s/ports", devices.items[i]);
        for (size_t k = 0; k < ports.count && on; k++)
            on = each(s, devices.items[i], ports.items[k], netdev, &found);
        sysfs_names_free(&ports);
    }
    sysfs_names_free(&devices);
    return found;
}

static bool add_owner(const struct facts_source *s, const char *device, const char *port, const char *netdev,
                      json_t **names)
{
    char owner[64];
    (void)netdev;
    if (find_owner(s->root, device, port, owner, sizeof owner))
        json_put(*names, owner, json_true());
    return true;
}

json_t *facts_rdma_owners(const struct facts_source *s)
{
    return visit_ports(s, add_owner, NULL, json_object());
}

/* ---- GIDs */

/* "0000:0000:0000:0000:0000:ffff:0a00:0001" as the kernel writes a GID. NULL: it is all zero, which is none,
 * or it cannot be read, which *unread counts. */
static json_t *gid_json(const char *root, const char *device, const char *port, const char *index,
                        int *unread)
{
    char text[64], address[INET6_ADDRSTRLEN] = "";
    struct in6_addr gid;
    if (sysfs_text(text, sizeof text, root, "/sys/class/infiniband/%s/ports/%s/gids/%s", device, port,
                   index) <= 0 ||
        inet_pton(AF_INET6, text, &gid) != 1) {
        ++*unread;
        return NULL;
    }
    if (IN6_IS_ADDR_UNSPECIFIED(&gid))
        return NULL;
    inet_ntop(AF_INET6, &gid, address, sizeof address);
    json_t *o = json_object();
    json_object_set_new(o, "index", json_integer(strtol(index, NULL, 10)));
    json_object_set_new(o, "gid", json_text(text));
    json_object_set_new(o, "address",
                        json_text(IN6_IS_ADDR_V4MAPPED(&gid) ? strrchr(address, ':') + 1 : address));
    json_object_set_new(
        o, "type",
        facts_line(root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/types/%s", device, port, index));
    json_object_set_new(
        o, "netdev",
        facts_line(root, "/sys/class/infiniband/%s/ports/%s/gid_attrs/ndevs/%s", device, port, index));
    return o;
}

static json_t *gids_json(const char *root, const char *device, const char *port, int *unread)
{
    json_t *list = json_array();
    struct sysfs_names names = sysfs_list(root, "/sys/class/infiniband/%s/ports/%s/gids", device, port);
    for (size_t i = 0; i < names.count && json_array_size(list) < MAX_GIDS; i++) {
        if (!isdigit((unsigned char)names.items[i][0]))
            continue;
        json_t *gid = gid_json(root, device, port, names.items[i], unread);
        if (gid)
            json_array_append_new(list, gid);
    }
    sysfs_names_free(&names);
    return list;
}

/* The largest of InfiniBand's MTUs that fits into an Ethernet one, as the kernel chooses it (linux
 * include/rdma/ib_addr.h, iboe_get_mtu). */
static json_t *path_mtu(int64_t mtu)
{
    const int64_t headers = 40 + 8 + 12 + 4 + 28 + 4; /* GRH, UDP, BTH, XRC, atomic, ICRC */
    for (int64_t step = 4096; step >= 256; step /= 2)
        if (mtu - headers >= step)
            return json_integer(step);
    return json_null();
}

/* MLNX_OFED only: null without its file; -1: none is forced. */
static json_t *forced_class(const char *root, const char *device, const char *port)
{
    char text[4096];
    ssize_t length = sysfs_bytes(text, sizeof text - 1, root, "/sys/class/infiniband/%s/tc/%s/traffic_class",
                                 device, port);
    text[length > 0 ? length : 0] = '\0';
    return length < 0 ? json_null() : json_integer(traffic_class_forced(text));
}

/* ---- what it speaks */

/* "RoCE", "InfiniBand", "iWARP", or "other" (usNIC, EFA); null where neither node_type and link_layer nor its
 * GIDs say it (Documentation/ABI/stable/sysfs-class-infiniband). */
static const char *transport_of(const char *root, const char *device, const char *port, const char *netdev,
                                const json_t *gids)
{
    char node[64], layer[64];
    int64_t type = 0;
    size_t i;
    const json_t *gid;
    (void)sysfs_text(node, sizeof node, root, "/sys/class/infiniband/%s/node_type", device);
    (void)sysfs_text(layer, sizeof layer, root, "/sys/class/infiniband/%s/ports/%s/link_layer", device, port);
    if (node[0] == '4' && node[1] == ':') /* RNIC */
        return "iWARP";
    if (node[0] >= '2' && node[0] <= '7' && node[1] == ':')
        return "other";
    if (strcmp(layer, "InfiniBand") == 0)
        return "InfiniBand";
    if (strcmp(layer, "Ethernet") == 0)
        return "RoCE";
    if (netdev && sysfs_number(&type, root, "/sys/class/net/%s/type", netdev) && type == ARPHRD_INFINIBAND)
        return "InfiniBand";
    json_array_foreach(gids, i, gid)
    {
        /* GIDs of InfiniBand have no interface */
        if (json_is_string(json_object_get(gid, "netdev")))
            return "RoCE";
    }
    return NULL;
}

/* ---- the document */

json_t *facts_rdma_pci(const struct facts_source *s, const char *device)
{
    struct pci_chain chain;
    struct pci_device found;
    char *path = sysfs_resolve(s->root, "/sys/class/infiniband/%s/device", device);
    if (!path)
        path = sysfs_resolve(s->root, "/sys/class/infiniband/%s", device);
    bool is = path && pci_chain_parse(path, &chain, NULL) == 0 &&
              pci_device_read(s->root, chain.addresses[chain.count - 1], &found, NULL) == 0;
    free(path);
    return is ? facts_pci(s->root, &found) : json_null();
}

static json_t *rdma_json(const struct facts_source *s, const char *device, const char *port,
                         const char *netdev)
{
    static const char *const lines[] = {"state", "phys_state", "rate", "link_layer"};
    const char *root = s->root;
    int64_t mtu = 0;
    int unread = 0;
    json_t *o = json_object(), *gids = gids_json(root, device, port, &unread),
           *pci = facts_rdma_pci(s, device);
    const char *transport = transport_of(root, device, port, netdev, gids);
    if (netdev)
        (void)sysfs_number(&mtu, root, "/sys/class/net/%s/mtu", netdev);
    json_object_set_new(o, "device", json_text(device));
    json_object_set_new(o, "port", json_integer(strtol(port, NULL, 10)));
    json_object_set_new(o, "transport", transport ? json_text(transport) : json_null());
    json_object_set_new(o, "pci",
                        json_is_object(pci) ? json_incref(json_object_get(pci, "address")) : json_null());
    json_object_set_new(o, "firmware", facts_line(root, "/sys/class/infiniband/%s/fw_ver", device));
    json_object_set_new(o, "board", facts_line(root, "/sys/class/infiniband/%s/board_id", device));
    json_object_set_new(o, "type", facts_line(root, "/sys/class/infiniband/%s/hca_type", device));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        json_object_set_new(o, lines[i],
                            facts_line(root, "/sys/class/infiniband/%s/ports/%s/%s", device, port, lines[i]));
    json_object_set_new(o, "traffic_class", forced_class(root, device, port));
    json_object_set_new(o, "path_mtu_bytes", path_mtu(mtu));
    json_object_set_new(o, "counters", facts_rdma_counters(s, device, port));
    json_object_set_new(o, "gids", gids);
    json_object_set_new(o, "gids_unread", json_integer(unread));
    json_decref(pci);
    return o;
}

static bool take_port(const struct facts_source *s, const char *device, const char *port, const char *netdev,
                      json_t **found)
{
    if (belongs(s->root, device, port, netdev))
        *found = rdma_json(s, device, port, netdev);
    return !*found;
}

json_t *facts_rdma(const struct facts_source *s, const char *netdev)
{
    json_t *found = visit_ports(s, take_port, netdev, NULL);
    return found ? found : json_null();
}

static bool take_bare(const struct facts_source *s, const char *device, const char *port, const char *netdev,
                      json_t **list)
{
    char owner[64];
    if (!find_owner(s->root, device, port, owner, sizeof owner) && !facts_is_elsewhere(s, device, port))
        json_array_append_new(*list, rdma_json(s, device, port, netdev));
    return true;
}

json_t *facts_rdma_bare(const struct facts_source *s)
{
    return visit_ports(s, take_bare, NULL, json_array());
}
