/*
 * State and 64-bit statistics of the interface (RTM_GETLINK), and the ECN code points of the IPv6 packets it
 * received (/proc/net/dev_snmp6/IF). Every interface has the first two, those with IPv6 the last.
 */
#include "collectors/sources/source.h"

#include "lib/kernel/netlink.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct link {
    struct netlink *netlink;
    char netdev[IFNAMSIZ];
    char six_path[PATH_MAX];
    union netlink_request get;
};

static const struct {
    const char *name;
    size_t offset;
} statistics[] = {
    {"link_rx_packets", offsetof(struct rtnl_link_stats64, rx_packets)},
    {"link_tx_packets", offsetof(struct rtnl_link_stats64, tx_packets)},
    {"link_rx_bytes", offsetof(struct rtnl_link_stats64, rx_bytes)},
    {"link_tx_bytes", offsetof(struct rtnl_link_stats64, tx_bytes)},
    {"link_rx_errors", offsetof(struct rtnl_link_stats64, rx_errors)},
    {"link_tx_errors", offsetof(struct rtnl_link_stats64, tx_errors)},
    {"link_rx_dropped", offsetof(struct rtnl_link_stats64, rx_dropped)},
    {"link_tx_dropped", offsetof(struct rtnl_link_stats64, tx_dropped)},
    {"link_rx_missed", offsetof(struct rtnl_link_stats64, rx_missed_errors)},
    {"link_rx_crc_errors", offsetof(struct rtnl_link_stats64, rx_crc_errors)},
};
#define STATISTICS (sizeof statistics / sizeof statistics[0])

/* By name: netlink has them by an index (IFLA_INET6_STATS), whose meaning changed between kernels. */
static const char *const six[] = {"Ip6InNoECTPkts", "Ip6InECT1Pkts", "Ip6InECT0Pkts", "Ip6InCEPkts"};
#define SIX (sizeof six / sizeof six[0])

static const char *const states[] = {"link_carrier", "link_carrier_changes", "link_mtu"};
enum { CARRIER, CARRIER_CHANGES, MTU, STATES };

static void take_states(const struct nlattr *const *table, int64_t *values)
{
    uint8_t carrier;
    uint32_t number;
    values[CARRIER] = netlink_u8(table[IFLA_CARRIER], &carrier) ? carrier : LINES_NULL;
    values[CARRIER_CHANGES] = netlink_u32(table[IFLA_CARRIER_CHANGES], &number) ? number : LINES_NULL;
    values[MTU] = netlink_u32(table[IFLA_MTU], &number) ? number : LINES_NULL;
}

/* A 64-bit number at an index of an array or struct, whose length depends on the kernel. */
static int64_t number_at(const struct nlattr *a, size_t offset)
{
    uint64_t number;
    if (!a || offset + sizeof number > mnl_attr_get_payload_len(a))
        return LINES_NULL;
    memcpy(&number, (const char *)mnl_attr_get_payload(a) + offset, sizeof number);
    return source_value(number);
}

static int each_answer(const struct nlmsghdr *message, void *data)
{
    int64_t *values = data;
    const struct nlattr *table[IFLA_CARRIER_CHANGES + 1];
    netlink_parse(message, sizeof(struct ifinfomsg), table, IFLA_CARRIER_CHANGES + 1);
    take_states(table, values);
    for (size_t i = 0; i < STATISTICS; i++)
        values[STATES + i] = number_at(table[IFLA_STATS64], statistics[i].offset);
    return MNL_CB_OK;
}

/* The number behind a name at the beginning of a line: "Ip6InCEPkts   \t12\n" (net/ipv6/proc.c). */
static int64_t number_named(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, name, length) != 0 || !strchr(" \t", line[length]) || !line[length])
            continue;
        const char *digits = line + length + strspn(line + length, " \t");
        errno = 0;
        unsigned long long number = strtoull(digits, NULL, 10);
        return *digits >= '0' && *digits <= '9' && errno == 0 ? source_value(number) : LINES_NULL;
    }
    return LINES_NULL;
}

static void read_six(const struct link *s, int64_t *values)
{
    char text[8192] = "";
    int descriptor = open(s->six_path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor == -1 ? 0 : read(descriptor, text, sizeof text - 1);
    if (descriptor != -1)
        close(descriptor);
    text[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; i < SIX; i++)
        values[i] = number_named(text, six[i]);
}

static void link_close(void *state)
{
    struct link *s = state;
    if (s)
        netlink_close(s->netlink);
    free(s);
}

static enum source_outcome link_read(void *state, int64_t *values, struct error *e)
{
    struct link *s = state;
    if (netlink_call(s->netlink, &s->get.header, each_answer, values, e) == 0) {
        read_six(s, values + STATES + STATISTICS);
        return SOURCE_OK;
    }
    error_prefix(e, "%s: reading the state of the link", s->netdev);
    return SOURCE_GONE;
}

static int add_columns(struct column_set *columns, struct error *e)
{
    for (size_t i = 0; i < STATES; i++)
        if (column_set_add(columns, states[i], e) == -1)
            return -1;
    for (size_t i = 0; i < STATISTICS; i++)
        if (column_set_add(columns, statistics[i].name, e) == -1)
            return -1;
    for (size_t i = 0; i < SIX; i++)
        if (column_set_add(columns, six[i], e) == -1)
            return -1;
    return 0;
}

static void *link_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct link *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for the link");
        return NULL;
    }
    snprintf(s->netdev, sizeof s->netdev, "%s", target->netdev);
    snprintf(s->six_path, sizeof s->six_path, "%s/proc/net/dev_snmp6/%s", target->root, s->netdev);
    struct nlmsghdr *m = netlink_prepare(&s->get, RTM_GETLINK, 0);
    struct ifinfomsg *header = mnl_nlmsg_put_extra_header(m, sizeof *header);
    header->ifi_index = (int)target->ifindex;
    int64_t values[STATES + STATISTICS + SIX];
    s->netlink = netlink_open(NETLINK_ROUTE, e);
    if (s->netlink && link_read(s, values, e) == SOURCE_OK && add_columns(columns, e) == 0)
        return s;
    link_close(s);
    return NULL;
}

const struct source_kind source_link = {
    .name = "link",
    .about = "state and statistics of the link",
    .needs_netdev = true,
    .open = link_open,
    .read = link_read,
    .close = link_close,
};
