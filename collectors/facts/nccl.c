#include "collectors/facts/nccl.h"

#include "collectors/facts/judge.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char *word(const json_t *from, const char *name)
{
    const char *text = json_string_value(json_object_get(from, name));
    return text ? text : "";
}

/* The RoCE v2 GID of the interface's IPv4 address, or else that of a routable IPv6 address; of its own
 * addresses before those of interfaces upon it (a VLAN, a bridge). */
static const json_t *find_gid(const json_t *nic)
{
    size_t i;
    const json_t *gid, *best = NULL;
    int most = 0;
    json_array_foreach(json_object_get(json_object_get(nic, "rdma"), "gids"), i, gid)
    {
        const char *address = word(gid, "address"), *netdev = word(gid, "netdev");
        bool own = netdev[0] == '\0' || strcmp(netdev, word(nic, "netdev")) == 0;
        int rank = 1 + 2 * own + !strchr(address, ':');
        if (strcmp(word(gid, "type"), "RoCE v2") != 0 || strncmp(address, "fe80", 4) == 0 || rank <= most)
            continue;
        most = rank;
        best = gid;
    }
    return best;
}

/* Distances of GPU and NIC, the nearest first. */
static const char *const order[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
enum { FARTHEST_DIRECT = 2, DISTANCES = sizeof order / sizeof order[0] };

/* Is the pair of this NIC? By its PCI function: an RDMA port may have no interface. */
static bool is_pair_of(const json_t *pair, const json_t *nic)
{
    const char *function = word(json_object_get(nic, "pci"), "address");
    return strcmp(word(pair, "netdev"), word(nic, "netdev")) == 0 &&
           (function[0] == '\0' || strcmp(word(pair, "nic"), function) == 0 || word(pair, "nic")[0] == '\0');
}

/* The distance of the GPU that is nearest to the NIC, as far as distances are known. DISTANCES: none is.
 * *whole: all are. */
static size_t nearest_gpu(const json_t *facts, const json_t *nic, bool *whole)
{
    size_t i, best = DISTANCES, pairs = 0;
    const json_t *pair;
    *whole = true;
    json_array_foreach(json_object_get(facts, "pairs"), i, pair)
    {
        size_t k = 0;
        if (!is_pair_of(pair, nic))
            continue;
        while (k < DISTANCES && strcmp(order[k], word(pair, "relation")) != 0)
            k++;
        pairs++;
        *whole = *whole && k < DISTANCES;
        best = k < best ? k : best;
    }
    *whole = *whole && pairs > 0;
    return best;
}

/* The traffic class (DSCP * 4 + ECT(0)) whose DSCP is mapped to a priority with PFC; 26 (AF31) when that DSCP
 * is mapped so, or the mapping is unknown. */
static int traffic_class(const json_t *settings, bool *known)
{
    const json_t *map = json_object_get(settings, "dscp_to_prio"), *pfc = json_object_get(settings, "pfc"),
                 *priority;
    int best = 26;
    size_t i;
    *known = false;
    json_array_foreach(pfc, i, priority)
    {
        const char *dscp;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)map, dscp, value)
        {
            int number = 0;
            for (const char *p = dscp; *p >= '0' && *p <= '9' && number < 64; p++)
                number = 10 * number + (*p - '0');
            if (json_integer_value(value) != json_integer_value(priority) || number > 63)
                continue;
            if (!*known || number == 26)
                best = number;
            *known = true;
            if (number == 26)
                return best * 4 + 2;
        }
    }
    return best * 4 + 2;
}

/* ---- the NICs that NCCL is to use */

#define MOST_PORTS 32 /* NCCL's own limit of devices (MAX_IB_DEVS) */

struct port {
    const json_t *nic, *rdma, *gid;
};

/* InfiniBand has no GID of an address, and needs none. */
static bool is_infiniband(const json_t *rdma)
{
    return strcmp(word(rdma, "transport"), "InfiniBand") == 0;
}

/* -1, with why there is no port: a bond has those of its ports, another network namespace may have the
 * interface. */
static int say_no_port(const json_t *facts, const json_t *nic, const char *netdev, struct error *e)
{
    const char *master = word(nic, "master");
    const json_t *other = json_array_get(json_object_get(facts, "elsewhere"), 0);
    if (master[0])
        return error_set(e, "%s has no RDMA device of its own: it is a port of %s, name that", netdev,
                         master);
    if (word(other, "rdma")[0])
        return error_set(
            e,
            "the interface%s%s of the RDMA device %s belongs to another network namespace: ask there "
            "(nsenter -t PID -n)",
            word(other, "netdev")[0] ? " " : "", word(other, "netdev"), word(other, "rdma"));
    return error_set(e, "%s%s RDMA device: NCCL would use sockets",
                     netdev ? netdev : "no NIC on this host has an", netdev ? " has no" : "");
}

static bool is_named(const json_t *nic, const char *const *netdevs, size_t count)
{
    bool named = false;
    for (size_t i = 0; i < count; i++)
        named = named || strcmp(word(nic, "netdev"), netdevs[i]) == 0;
    return named;
}

/* A port that is down carries nothing: it is told, and left out unless it was named or all are down. */
static int leave_out_down(struct port *ports, int count, bool named, struct text *out)
{
    int up = 0, kept = 0;
    for (int i = 0; i < count; i++)
        up += fact_link(ports[i].nic) != LINK_DOWN;
    for (int i = 0; i < count; i++) {
        bool down = fact_link(ports[i].nic) == LINK_DOWN, keep = !down || named || up == 0;
        if (down)
            text_add(out, "# the port of %s, %s, is down%s\n", word(ports[i].rdma, "device"),
                     word(ports[i].nic, "netdev"), keep ? "" : ": it is left out");
        if (keep)
            ports[kept++] = ports[i];
    }
    return kept;
}

/* NICs with an RDMA device and an address on it, or those that are named; their number, or -1 with the
 * reason. */
static int find_ports(const json_t *facts, const char *const *netdevs, size_t netdev_count,
                      struct port *ports, int room, struct error *e)
{
    const char *netdev = netdev_count ? netdevs[0] : NULL;
    size_t i;
    const json_t *nic, *without = NULL, *named = NULL;
    int count = 0;
    json_array_foreach(json_object_get(facts, "nics"), i, nic)
    {
        struct port port = {nic, json_object_get(nic, "rdma"), find_gid(nic)};
        if (netdev && !is_named(nic, netdevs, netdev_count))
            continue;
        named = nic;
        if (!json_is_object(port.rdma))
            continue;
        if (!port.gid && !is_infiniband(port.rdma))
            without = nic;
        else if (count == room)
            return error_set(e, "more than %d NICs have an RDMA device: name one with --netdev", room);
        else
            ports[count++] = port;
    }
    if (count == 0 && without)
        return error_set(e, "%s has no RoCE v2 GID: give %s an address",
                         word(json_object_get(without, "rdma"), "device"), word(without, "netdev"));
    return count ? count : say_no_port(facts, netdev ? named : NULL, netdev, e);
}

static void put_devices(const struct port *ports, int count, struct text *out)
{
    text_add(out, count == 1 ? "# exactly this device and port\n"
                             : "# exactly these devices and ports; each GPU takes the nearest\n");
    for (int i = 0; i < count; i++)
        text_add(out, "%s%s:%lld", i ? "," : "export NCCL_IB_HCA==", word(ports[i].rdma, "device"),
                 (long long)json_integer_value(json_object_get(ports[i].rdma, "port")));
    text_add(out, "\n");
}

/* One index stands for all devices: where theirs differ, NCCL finds them itself (from 2.21). */
static void put_gid(const struct port *all, int every, struct text *out)
{
    struct port ports[MOST_PORTS];
    int count = 0;
    for (int i = 0; i < every; i++)
        if (all[i].gid)
            ports[count++] = all[i];
    if (count == 0) {
        text_add(out, "# InfiniBand: no GID index and no traffic class\n");
        return;
    }
    long long index = json_integer_value(json_object_get(ports[0].gid, "index"));
    for (int i = 1; i < count; i++) {
        if (json_integer_value(json_object_get(ports[i].gid, "index")) != index) {
            text_add(out, "# NCCL_IB_GID_INDEX is not set: the indices of these devices differ, and NCCL "
                          "finds them (from 2.21)\n");
            return;
        }
    }
    for (int i = 0; i < count; i++)
        text_add(out, "%s%s, %s", i ? "; " : "# ", word(ports[i].gid, "type"), word(ports[i].gid, "address"));
    text_add(out, "\nexport NCCL_IB_GID_INDEX=%lld\n", index);
}

/* GPUDirect up to the largest distance at which it is faster than a copy through host memory. */
static void put_level(const json_t *facts, const struct port *ports, int count, struct text *out)
{
    size_t level = DISTANCES, near = DISTANCES;
    bool whole, known = count > 0;
    for (int i = 0; i < count; i++) {
        size_t distance = nearest_gpu(facts, ports[i].nic, &whole);
        near = distance < near ? distance : near;
        known = known && (whole || distance <= FARTHEST_DIRECT);
        if (distance <= FARTHEST_DIRECT && (level == DISTANCES || distance > level))
            level = distance;
    }
    const char *nics = count == 1 ? "the NIC" : "a NIC";
    const json_t *gpus = json_object_get(facts, "gpus");
    if (json_is_array(gpus) && json_array_size(gpus) == 0)
        text_add(out, "# NCCL_NET_GDR_LEVEL is not set: no GPU is seen here\n");
    else if (gpus_are_geforce(gpus))
        text_add(out,
                 "# CUDA, of which NCCL has its memory, gives that of a GeForce to no NIC: GPUDirect off\n"
                 "export NCCL_NET_GDR_LEVEL=LOC\n");
    else if (!known)
        text_add(out,
                 "# NCCL_NET_GDR_LEVEL is not set: how far the GPUs are from %s is not known, and NCCL looks "
                 "itself\n",
                 nics);
    else if (level < DISTANCES)
        text_add(out,
                 "# the nearest GPU is %s from %s\nexport NCCL_NET_GDR_LEVEL=%s\n"
                 "# let the NIC read GPU memory, not only write it\nexport NCCL_NET_GDR_READ=1\n",
                 order[level], nics, order[level]);
    else
        text_add(out,
                 "# the nearest GPU is %s from %s: transfers through host memory are faster, GPUDirect off\n"
                 "export NCCL_NET_GDR_LEVEL=LOC\n",
                 order[near], nics);
}

/* That of the address: an interface upon the NIC's (a bridge, a VLAN) may have it. */
static void put_interface(const struct port *ports, int count, struct text *out)
{
    int i = 0;
    while (i + 1 < count && fact_link(ports[i].nic) == LINK_DOWN)
        i++;
    const char *netdev = word(ports[i].gid, "netdev");
    if (netdev[0] == '\0')
        netdev = word(ports[i].nic, "netdev");
    if (netdev[0])
        text_add(out, "# connections are set up over %s interface\nexport NCCL_SOCKET_IFNAME==%s\n",
                 count == 1 ? "the same" : "one", netdev);
}

static void put_class(const struct port *ports, int count, struct text *out)
{
    bool known, others;
    while (count > 0 && !ports->gid) { /* InfiniBand has none */
        ports++;
        count--;
    }
    if (count == 0)
        return;
    int class = traffic_class(json_object_get(ports[0].nic, "settings"), &known);
    for (int i = 1; i < count; i++)
        if (traffic_class(json_object_get(ports[i].nic, "settings"), &others) != class || others != known)
            text_add(out, "# %s has another lossless DSCP or none: all NICs need the same\n",
                     word(ports[i].nic, "netdev"));
    text_add(out, "# DSCP %d with ECT(0)%s\nexport NCCL_IB_TC=%d\n", class / 4,
             known ? ", mapped to a priority with PFC" : "; it is unknown whether it is lossless", class);
}

/* A NIC of several that are named must be one that NCCL can use. */
static int check_each(const json_t *facts, const char *const *netdevs, size_t count, struct error *e)
{
    struct port port;
    for (size_t i = 0; i < count; i++)
        if (find_ports(facts, &netdevs[i], 1, &port, 1, e) < 0)
            return -1;
    return 0;
}

int nccl_environment(const json_t *facts, const char *const *netdevs, size_t netdev_count, struct text *out,
                     struct error *e)
{
    struct port ports[MOST_PORTS] = {{0}};
    int count = check_each(facts, netdevs, netdev_count, e) == 0
                    ? find_ports(facts, netdevs, netdev_count, ports, MOST_PORTS, e)
                    : -1;
    if (count < 0)
        return -1;
    count = leave_out_down(ports, count, netdev_count > 0, out);
    put_devices(ports, count, out);
    put_gid(ports, count, out);
    put_interface(ports, count, out);
    put_level(facts, ports, count, out);
    put_class(ports, count, out);
    text_add(
        out,
        "# long enough for paused links: 4.096 us * 2^23\nexport NCCL_IB_TIMEOUT=23\n"
        "export NCCL_IB_RETRY_CNT=7\n"
        "export NCCL_IB_PCI_RELAXED_ORDERING=1\n"
        "# several paths, if the network balances load by UDP port\nexport NCCL_IB_QPS_PER_CONNECTION=4\n");
    return out->failed ? error_set(e, "out of memory") : 0;
}
