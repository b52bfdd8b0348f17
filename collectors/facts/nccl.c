#include "collectors/facts/nccl.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char *word(const json_t *from, const char *name)
{
    const char *text = json_string_value(json_object_get(from, name));
    return text ? text : "";
}

static const json_t *find_nic(const json_t *facts, const char *netdev)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(json_object_get(facts, "nics"), i, nic)
    {
        if (json_is_object(json_object_get(nic, "rdma")) &&
            (!netdev || strcmp(word(nic, "netdev"), netdev) == 0))
            return nic;
    }
    return NULL;
}

/* The RoCE v2 GID of the interface's IPv4 address, or else that of a routable IPv6 address. */
static const json_t *find_gid(const json_t *rdma)
{
    size_t i;
    const json_t *gid, *second = NULL;
    json_array_foreach(json_object_get(rdma, "gids"), i, gid)
    {
        const char *address = word(gid, "address");
        if (strcmp(word(gid, "type"), "RoCE v2") != 0 || strncmp(address, "fe80", 4) == 0)
            continue;
        if (!strchr(address, ':'))
            return gid;
        if (!second)
            second = gid;
    }
    return second;
}

/* The nearest GPU decides: NCCL uses GPUDirect up to this distance. */
static const char *best_relation(const json_t *facts, const json_t *nic)
{
    static const char *const order[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    size_t i, best = sizeof order / sizeof order[0];
    const json_t *pair;
    json_array_foreach(json_object_get(facts, "pairs"), i, pair)
    {
        if (strcmp(word(pair, "netdev"), word(nic, "netdev")) != 0)
            continue;
        for (size_t k = 0; k < best; k++)
            if (strcmp(order[k], word(pair, "relation")) == 0)
                best = k;
    }
    return best < sizeof order / sizeof order[0] ? order[best] : NULL;
}

static void put_level(const char *relation, struct text *out)
{
    if (!relation) {
        text_add(out, "# no GPU near this NIC: GPUDirect off\nexport NCCL_NET_GDR_LEVEL=LOC\n");
    } else if (strcmp(relation, "NODE") == 0 || strcmp(relation, "SYS") == 0) {
        text_add(
            out,
            "# the nearest GPU is %s from the NIC: transfers through host memory are faster, GPUDirect off\n"
            "export NCCL_NET_GDR_LEVEL=LOC\n",
            relation);
    } else {
        text_add(out, "# the nearest GPU is %s from the NIC\nexport NCCL_NET_GDR_LEVEL=%s\n", relation,
                 relation);
        text_add(out, "# let the NIC read GPU memory, not only write it\nexport NCCL_NET_GDR_READ=1\n");
    }
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

int nccl_environment(const json_t *facts, const char *netdev, struct text *out, struct error *e)
{
    const json_t *nic = find_nic(facts, netdev), *rdma = json_object_get(nic, "rdma"), *gid = find_gid(rdma);
    bool known;
    if (!nic)
        return error_set(e,
                         netdev ? "%s has no RDMA device: NCCL would use sockets"
                                : "no NIC%s on this host has an RDMA device: NCCL would use sockets",
                         netdev ? netdev : "");
    if (!gid)
        return error_set(e, "%s has no RoCE v2 GID: give %s an address", word(rdma, "device"),
                         word(nic, "netdev"));
    text_add(out, "# exactly this device and port\nexport NCCL_IB_HCA==%s:%lld\n", word(rdma, "device"),
             (long long)json_integer_value(json_object_get(rdma, "port")));
    text_add(out, "# %s, %s\nexport NCCL_IB_GID_INDEX=%lld\n", word(gid, "type"), word(gid, "address"),
             (long long)json_integer_value(json_object_get(gid, "index")));
    text_add(out, "# connections are set up over the same interface\nexport NCCL_SOCKET_IFNAME==%s\n",
             word(nic, "netdev"));
    put_level(best_relation(facts, nic), out);
    int class = traffic_class(json_object_get(nic, "settings"), &known);
    text_add(out, "# DSCP %d with ECT(0)%s\nexport NCCL_IB_TC=%d\n", class / 4,
             known ? ", mapped to a priority with PFC" : "; it is unknown whether it is lossless", class);
    text_add(
        out,
        "# long enough for paused links: 4.096 us * 2^23\nexport NCCL_IB_TIMEOUT=23\n"
        "export NCCL_IB_RETRY_CNT=7\n"
        "export NCCL_IB_PCI_RELAXED_ORDERING=1\n"
        "# several paths, if the network balances load by UDP port\nexport NCCL_IB_QPS_PER_CONNECTION=4\n");
    return out->failed ? error_set(e, "out of memory") : 0;
}
