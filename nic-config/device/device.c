#include "nic-config/device/device.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/output/visible.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the machine: netlink sockets and trees of files */

static struct netlink *open_once(struct netlink **n, int family, struct error *e)
{
    if (!*n)
        *n = netlink_open(family, e);
    return *n;
}

struct netlink *host_route(struct host *host, struct error *e)
{
    return open_once(&host->route, NETLINK_ROUTE, e);
}

struct netlink *host_rdma(struct host *host, struct error *e)
{
    return open_once(&host->rdma, NETLINK_RDMA, e);
}

struct netlink *host_family(struct host *host, const char *name, uint16_t *family, struct error *e)
{
    uint16_t *known = strcmp(name, "ethtool") == 0 ? &host->ethtool_family : &host->devlink_family;
    if (!open_once(&host->generic, NETLINK_GENERIC, e))
        return NULL;
    if (*known == 0 && netlink_family(host->generic, name, known, e) != 0)
        return NULL;
    *family = *known;
    return host->generic;
}

void host_close(struct host *host)
{
    netlink_close(host->route);
    netlink_close(host->generic);
    netlink_close(host->rdma);
    host->route = host->generic = host->rdma = NULL;
}

char *host_path(const struct host *host, const char *format, ...)
{
    char *tail = NULL, *path = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&tail, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    if (asprintf(&path, "%s%s", host->root, tail) < 0)
        path = NULL;
    free(tail);
    return path;
}

/* ---- changes */

int host_change(struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data, const char *what,
                int *number, struct error *e)
{
    int result = netlink_call(n, request, each, data, e);
    if (number)
        *number = netlink_errno(n);
    return result == 0 ? 0 : error_prefix(e, "%s", what);
}

/* A port trains within seconds. */
#define CARRIER_STAYS_NS (300 * NS_PER_MS)
#define COMES_BACK_NS    (30 * NS_PER_S)
/* Each look lets mlx5 read its counters from the firmware; what changes between two looks is counted. */
#define LOOK_EVERY_NS (50 * NS_PER_MS)

/* As linux net/core/dev.c, dev_valid_name, and UTF-8, as documents are. */
bool device_name_valid(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= IFNAMSIZ || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (size_t bytes; length > 0; name += bytes, length -= bytes) {
        uint32_t character;
        bytes = utf8_character(name, length, &character);
        if (bytes == 0 || character == '/' || character == ':' || character <= ' ' || character == 0x7f)
            return false;
    }
    return true;
}

/* ---- properties from rtnetlink */

static void read_address(const struct nlattr *a, char *to)
{
    size_t length = !a ? 0 : mnl_attr_get_payload_len(a);
    const uint8_t *bytes = !a ? NULL : mnl_attr_get_payload(a);
    char *end = to;
    to[0] = '\0';
    for (size_t i = 0; i < length && i < DEVICE_ADDRESS / 3; i++)
        end += sprintf(end, "%s%02x", i ? ":" : "", bytes[i]);
}

static void read_kind(const struct nlattr *info, char *kind, size_t size)
{
    const struct nlattr *table[IFLA_INFO_KIND + 1];
    netlink_parse_nested(info, table, IFLA_INFO_KIND + 1);
    const char *text = netlink_string(table[IFLA_INFO_KIND]);
    snprintf(kind, size, "%s", !text ? "" : text);
}

static int keep_link(const struct nlmsghdr *message, void *data)
{
    struct device *d = data;
    const struct nlattr *table[IFLA_MAX + 1];
    struct ifinfomsg link;
    if (mnl_nlmsg_get_payload_len(message) < sizeof link)
        return MNL_CB_OK;
    memcpy(&link, mnl_nlmsg_get_payload(message), sizeof link);
    netlink_parse(message, sizeof link, table, IFLA_MAX + 1);
    uint32_t master = 0;
    uint8_t carrier = 0;
    d->index = link.ifi_index;
    d->up = link.ifi_flags & IFF_UP;
    d->carrier = netlink_u8(table[IFLA_CARRIER], &carrier) && carrier != 0;
    d->bridge = netlink_u32(table[IFLA_MASTER], &master) ? (int)master : 0;
    (void)netlink_u32(table[IFLA_MTU], &d->mtu);
    (void)netlink_u32(table[IFLA_MIN_MTU], &d->min_mtu);
    (void)netlink_u32(table[IFLA_MAX_MTU], &d->max_mtu);
    (void)netlink_u32(table[IFLA_CARRIER_CHANGES], &d->carrier_changes);
    read_address(table[IFLA_ADDRESS], d->address);
    read_kind(table[IFLA_LINKINFO], d->kind, sizeof d->kind);
    return MNL_CB_OK;
}

/* Read one link, by index or by name; 0 found, 1 it does not exist, -1 error. */
static int ask_link(struct host *host, int index, const char *name, mnl_cb_t each, void *data,
                    struct error *e)
{
    struct netlink *n = host_route(host, e);
    union netlink_request r;
    if (!n)
        return -1;
    struct nlmsghdr *m = netlink_prepare(&r, RTM_GETLINK, 0);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(m, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = index;
    if (name)
        mnl_attr_put_strz(m, IFLA_IFNAME, name);
    if (netlink_call(n, m, each, data, e) == 0)
        return 0;
    return netlink_errno(n) == ENODEV ? 1 : -1;
}

int device_refresh(struct device *d, struct error *e)
{
    d->index = 0;
    d->mtu = d->min_mtu = d->max_mtu = d->carrier_changes = 0;
    d->bridge = 0;
    d->up = d->carrier = false;
    d->kind[0] = d->address[0] = '\0';
    if (ask_link(d->host, 0, d->name, keep_link, d, e) == -1)
        return error_prefix(e, "reading the interface %s", d->name);
    return 0;
}

static int keep_name(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[IFLA_IFNAME + 1];
    netlink_parse(message, sizeof(struct ifinfomsg), table, IFLA_IFNAME + 1);
    const char *name = netlink_string(table[IFLA_IFNAME]);
    if (name)
        snprintf(data, IFNAMSIZ, "%s", name);
    return MNL_CB_OK;
}

int device_name_of(struct host *host, int index, char *name, struct error *e)
{
    name[0] = '\0';
    return ask_link(host, index, NULL, keep_name, name, e) == -1 ? -1 : 0;
}

static int keep_in_list(const struct nlmsghdr *message, void *data)
{
    struct ifinfomsg link;
    char name[IFNAMSIZ] = "";
    if (mnl_nlmsg_get_payload_len(message) < sizeof link)
        return MNL_CB_OK;
    memcpy(&link, mnl_nlmsg_get_payload(message), sizeof link);
    keep_name(message, name);
    if (!(link.ifi_flags & IFF_LOOPBACK) && device_name_valid(name))
        json_array_append_new(data, json_text(name));
    return MNL_CB_OK;
}

struct upon {
    int index;
    json_t *names;
};

/* The other end of a veth is a link too, but it is not upon it. */
static int keep_upon(const struct nlmsghdr *message, void *data)
{
    static const char *const kinds[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"};
    const struct upon *upon = data;
    const struct nlattr *table[IFLA_MAX + 1];
    char name[IFNAMSIZ] = "", kind[32] = "";
    uint32_t link = 0;
    netlink_parse(message, sizeof(struct ifinfomsg), table, IFLA_MAX + 1);
    read_kind(table[IFLA_LINKINFO], kind, sizeof kind);
    if (!netlink_u32(table[IFLA_LINK], &link) || (int)link != upon->index || table[IFLA_LINK_NETNSID])
        return MNL_CB_OK;
    keep_name(message, name);
    for (size_t i = 0; name[0] != '\0' && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i]) == 0)
            json_array_append_new(upon->names, json_text(name));
    return MNL_CB_OK;
}

static json_t *list_links(struct host *host, mnl_cb_t each, void *data, json_t *names, struct error *e)
{
    struct netlink *n = host_route(host, e);
    union netlink_request r;
    struct nlmsghdr *m = netlink_prepare(&r, RTM_GETLINK, NLM_F_DUMP);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(m, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    if (n && netlink_call(n, m, each, data, e) == 0)
        return names;
    json_decref(names);
    error_prefix(e, "listing the interfaces");
    return NULL;
}

json_t *device_list(struct host *host, struct error *e)
{
    json_t *names = json_array();
    return list_links(host, keep_in_list, names, names, e);
}

json_t *device_list_upon(const struct device *d, struct error *e)
{
    struct upon upon = {.index = d->index, .names = json_array()};
    return list_links(d->host, keep_upon, &upon, upon.names, e);
}

/* ---- properties from sysfs */

/* The last component of a link's target, or "". */
static void link_target(const struct host *host, const char *name, const char *link, char *to, size_t size)
{
    char *path = host_path(host, "/sys/class/net/%s/%s", name, link);
    char target[PATH_MAX];
    ssize_t length = path ? readlink(path, target, sizeof target - 1) : -1;
    to[0] = '\0';
    if (length > 0) {
        target[length] = '\0';
        snprintf(to, size, "%s", basename(target));
    }
    free(path);
}

/* Only the name of a PCI device is accepted: "0000:41:00.0". */
static void keep_pci(char *pci)
{
    unsigned int domain, bus, slot, function;
    char rest;
    if (sscanf(pci, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &rest) != 4)
        pci[0] = '\0';
}

/* The first entry of a folder, or "". */
static void first_entry(char *path, char *to, size_t size)
{
    DIR *folder = path ? opendir(path) : NULL;
    struct dirent *entry;
    to[0] = '\0';
    while (folder && to[0] == '\0' && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            snprintf(to, size, "%.*s", (int)size - 1, entry->d_name);
    if (folder)
        closedir(folder);
    free(path);
}

/* Does a file hold the interface's name? Frees the path. */
static bool names_device(const struct device *d, char *path)
{
    char *line = path ? files_read_line(path, NULL) : NULL;
    bool found = line && strcmp(line, d->name) == 0;
    free(line);
    free(path);
    return found;
}

/* Whether a port of an RDMA device belongs to the interface; Soft-RoCE names it in `parent`, others at their
 * GIDs: first come those of the NIC's own interface, then those of interfaces upon it. */
static bool port_is_of(const struct device *d, const char *rdma, int port)
{
    char *path = host_path(d->host, "/sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs", rdma, port);
    DIR *folder = path ? opendir(path) : NULL;
    struct dirent *entry;
    bool found = names_device(d, host_path(d->host, "/sys/class/infiniband/%s/parent", rdma));
    while (folder && !found && (entry = readdir(folder)))
        found = isdigit((unsigned char)entry->d_name[0]) &&
                names_device(d, host_path(d->host, "/sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs/%s",
                                          rdma, port, entry->d_name));
    if (folder)
        closedir(folder);
    free(path);
    return found;
}

static bool find_port(struct device *d, const char *rdma)
{
    for (int port = 1; port <= 2; port++)
        if (port_is_of(d, rdma, port)) {
            snprintf(d->rdma, sizeof d->rdma, "%.*s", (int)sizeof d->rdma - 1, rdma);
            d->rdma_port = port;
            return true;
        }
    return false;
}

/* The RDMA device of the interface: the one below its device in sysfs, else one that names the interface. */
static void look_for_rdma(struct device *d)
{
    d->rdma_port = 1;
    first_entry(host_path(d->host, "/sys/class/net/%s/device/infiniband", d->name), d->rdma, sizeof d->rdma);
    if (d->rdma[0] != '\0')
        return;
    char *path = host_path(d->host, "/sys/class/infiniband");
    DIR *folder = path ? opendir(path) : NULL;
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && find_port(d, entry->d_name))
            break;
    if (folder)
        closedir(folder);
    free(path);
}

static void find_rdma(struct device *d)
{
    look_for_rdma(d);
    char *path =
        d->rdma[0] ? host_path(d->host, "/sys/class/infiniband/%s/ports/%d/link_layer", d->rdma, d->rdma_port)
                   : NULL;
    char *layer = path ? files_read_line(path, NULL) : NULL;
    snprintf(d->link_layer, sizeof d->link_layer, "%.15s", layer ? layer : "");
    free(layer);
    free(path);
}

int device_open(struct device *d, struct host *host, const char *name, struct error *e)
{
    *d = (struct device){.host = host};
    if (!device_name_valid(name))
        return error_set(e, "\"%.40s\" is not a valid interface name (1 to %d characters, no / or space)",
                         name, IFNAMSIZ - 1);
    snprintf(d->name, sizeof d->name, "%s", name);
    link_target(host, name, "device", d->pci, sizeof d->pci);
    keep_pci(d->pci);
    link_target(host, name, "device/driver", d->driver, sizeof d->driver);
    find_rdma(d);
    return device_refresh(d, e);
}

bool device_is_mlx5(const struct device *d)
{
    return strcmp(d->driver, "mlx5_core") == 0;
}

int64_t device_speed_Mbps(const struct device *d)
{
    char *path = host_path(d->host, "/sys/class/net/%s/speed", d->name);
    char *line = path ? files_read_line(path, NULL) : NULL;
    long long speed = line ? strtoll(line, NULL, 10) : 0;
    free(line);
    free(path);
    return speed > 0 ? speed : 0;
}

static bool gid_in_use(const struct device *d, const char *index)
{
    char *path =
        host_path(d->host, "/sys/class/infiniband/%s/ports/%d/gids/%s", d->rdma, d->rdma_port, index);
    char *gid = path ? files_read_line(path, NULL) : NULL;
    bool used = gid && strspn(gid, "0:") != strlen(gid);
    free(gid);
    free(path);
    return used;
}

int device_gid_count(const struct device *d)
{
    char *path = d->rdma[0]
                     ? host_path(d->host, "/sys/class/infiniband/%s/ports/%d/gids", d->rdma, d->rdma_port)
                     : NULL;
    DIR *folder = path ? opendir(path) : NULL;
    struct dirent *entry;
    int count = 0;
    while (folder && (entry = readdir(folder)))
        count += isdigit((unsigned char)entry->d_name[0]) && gid_in_use(d, entry->d_name);
    if (folder)
        closedir(folder);
    free(path);
    return count;
}

/* ---- interfaces upon interfaces */

static bool exists(const struct device *d, const char *format, const char *name)
{
    char *path = host_path(d->host, format, name);
    bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

bool device_is_bond(const struct device *d)
{
    return strcmp(d->kind, "bond") == 0 || strcmp(d->kind, "team") == 0 ||
           exists(d, "/sys/class/net/%s/bonding", d->name);
}

json_t *device_list_lower(const struct device *d)
{
    static const char before[] = "lower_";
    json_t *names = json_array();
    char *path = host_path(d->host, "/sys/class/net/%s", d->name);
    DIR *folder = path ? opendir(path) : NULL;
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, before, strlen(before)) == 0)
            json_array_append_new(names, json_text(entry->d_name + strlen(before)));
    if (folder)
        closedir(folder);
    free(path);
    path = host_path(d->host, "/sys/class/net/%s/bonding/slaves", d->name);
    char *line = path && json_array_size(names) == 0 ? files_read_line(path, NULL) : NULL;
    char *rest = line, *word;
    while ((word = strsep(&rest, " ")))
        if (*word)
            json_array_append_new(names, json_text(word));
    free(line);
    free(path);
    return names;
}

/* The bond or team that the interface is a port of, or "". */
static void find_bond(const struct device *d, char *bond, size_t size)
{
    struct device master = {.host = d->host};
    link_target(d->host, d->name, "master", bond, size);
    if (bond[0] == '\0')
        return;
    snprintf(master.name, sizeof master.name, "%.*s", IFNAMSIZ - 1, bond);
    if (device_refresh(&master, NULL) != 0 || !device_is_bond(&master))
        bond[0] = '\0';
}

static void add_string(json_t *object, const char *key, const char *value)
{
    if (value[0] != '\0')
        json_object_set_new(object, key, json_text(value));
}

json_t *device_facts(const struct device *d)
{
    json_t *facts = json_object(), *lower = device_list_lower(d);
    int64_t speed = device_speed_Mbps(d);
    char bond[IFNAMSIZ];
    find_bond(d, bond, sizeof bond);
    add_string(facts, "driver", d->driver);
    add_string(facts, "pci", d->pci);
    add_string(facts, "rdma", d->rdma);
    add_string(facts, "link_layer", d->link_layer);
    add_string(facts, "kind", device_is_bond(d) && !d->kind[0] ? "bond" : d->kind);
    add_string(facts, "bond", bond);
    if (json_array_size(lower) > 0)
        json_object_set(facts, "lower", lower);
    if (d->rdma[0] && d->kind[0])
        json_object_set_new(facts, "rdma_below",
                            json_boolean(!exists(d, "/sys/class/infiniband/%s/parent", d->rdma)));
    json_decref(lower);
    add_string(facts, "address", d->address);
    json_object_set_new(facts, "carrier", json_boolean(d->carrier));
    if (speed > 0)
        json_object_set_new(facts, "speed_Mbps", json_integer(speed));
    return facts;
}

/* ---- waiting */

static void pause_until_next_look(void)
{
    clock_sleep_until_ns(clock_monotonic_ns() + LOOK_EVERY_NS);
}

static int settle_carrier(struct device *d, const struct device *before, int64_t since_ns, int64_t flap_ns,
                          struct error *e)
{
    int64_t began = clock_monotonic_ns(), steady_since = since_ns;
    uint32_t changes = before->carrier_changes;
    bool flapped = false;
    for (;;) {
        if (device_refresh(d, e) == -1)
            return -1;
        int64_t now = clock_monotonic_ns();
        if (d->carrier_changes != changes || !d->carrier) {
            flapped = true;
            changes = d->carrier_changes;
            steady_since = now;
        }
        if (d->carrier && now - steady_since >= (flapped ? CARRIER_STAYS_NS : flap_ns))
            return 0;
        if (now - began > COMES_BACK_NS)
            return error_set(e, "%s: the link went down and did not come up again within %d s", d->name,
                             (int)(COMES_BACK_NS / NS_PER_S));
        pause_until_next_look();
    }
}

int device_settle(struct device *d, const struct device *before, int gids_before, int64_t since_ns,
                  int64_t flap_ns, struct error *e)
{
    if (!before->up || !before->carrier)
        return 0;
    if (settle_carrier(d, before, since_ns, flap_ns, e) == -1)
        return -1;
    int64_t began = clock_monotonic_ns();
    while (device_gid_count(d) < gids_before) {
        if (clock_monotonic_ns() - began > COMES_BACK_NS)
            return error_set(e, "%s: %s had %d GIDs, but has %d now, %d s after the link came up", d->name,
                             d->rdma, gids_before, device_gid_count(d), (int)(COMES_BACK_NS / NS_PER_S));
        pause_until_next_look();
    }
    return 0;
}

int device_wait_back(struct device *d, bool rdma, struct error *e)
{
    int64_t began = clock_monotonic_ns();
    do {
        if (device_refresh(d, e) == -1)
            return -1;
        d->rdma[0] = '\0';
        if (d->index != 0)
            find_rdma(d);
        if (d->index != 0 && (d->rdma[0] != '\0' || !rdma))
            return 0;
        pause_until_next_look();
    } while (clock_monotonic_ns() - began < COMES_BACK_NS);
    return error_set(e, "%s%s did not come back within %d s after the reload",
                     d->index != 0 ? "the RDMA device of " : "", d->name, (int)(COMES_BACK_NS / NS_PER_S));
}

/* ---- all links */

/* Whether every link is still as its wait left it. */
static int all_steady(struct device *all, size_t count, bool *steady, struct error *e)
{
    *steady = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t changes = all[i].carrier_changes;
        if (device_refresh(&all[i], e) != 0)
            return -1;
        *steady = *steady && all[i].carrier && all[i].carrier_changes == changes;
    }
    return 0;
}

int device_settle_all(struct device *all, size_t count, int64_t flap_ns, struct error *e)
{
    bool steady = false;
    int64_t began = clock_monotonic_ns();
    while (!steady) {
        for (size_t i = 0; i < count; i++)
            if (settle_carrier(&all[i], &all[i], clock_monotonic_ns(), flap_ns, e) != 0)
                return -1;
        if (all_steady(all, count, &steady, e) != 0)
            return -1;
        if (!steady && clock_monotonic_ns() - began > 2 * COMES_BACK_NS)
            return error_set(e, "the links still change after %d s", (int)(2 * COMES_BACK_NS / NS_PER_S));
    }
    return 0;
}
