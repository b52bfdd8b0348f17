/*
 * ECN code points of received IPv4 packets (net/ipv4/proc.c). They belong to the network namespace, not to
 * one interface; those of IPv6 are the interface's, in source_link.c. /proc/net/netstat consists of pairs of
 * lines: "IpExt: InNoRoutes InTruncatedPkts ..." and "IpExt: 0 0 ...".
 *
 * For these four the kernel formats about 200 numbers with their names, which takes longer than all other
 * sources together. So the file is read while the interface receives packets, and otherwise ten times a
 * second, for those of other interfaces.
 */
#include "collectors/sources/source.h"

#include "collectors/sources/ip_text.h"
#include "lib/clock.h"
#include "lib/kernel/netlink.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/proc/net/netstat"

#define RENEW_NS (100 * NS_PER_MS)
/* A driver may count a packet before the IP layer gets it. */
#define SETTLE_NS (20 * NS_PER_MS)

static const char *const names[] = {"IpExtInNoECTPkts", "IpExtInECT1Pkts", "IpExtInECT0Pkts", "IpExtInCEPkts",
                                    NULL};
#define NAMES (sizeof names / sizeof names[0] - 1)

struct ip {
    int descriptor;
    struct netlink *netlink; /* NULL without an interface */
    char netdev[IFNAMSIZ];
    union netlink_request get;
    uint64_t received; /* packets of the interface when last read */
    int64_t received_ns, read_ns;
    int64_t values[NAMES];
    char buffer[32768];
};

static void ip_close(void *state)
{
    struct ip *s = state;
    if (!s)
        return;
    if (s->descriptor != -1)
        close(s->descriptor);
    netlink_close(s->netlink);
    free(s);
}

/* ---- packets of the interface */

static void prepare(struct ip *s, unsigned int ifindex)
{
    struct nlmsghdr *m = netlink_prepare(&s->get, RTM_GETSTATS, 0);
    struct if_stats_msg *header = mnl_nlmsg_put_extra_header(m, sizeof *header);
    header->ifindex = ifindex;
    header->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
}

static int each_answer(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[IFLA_STATS_LINK_64 + 1];
    netlink_parse(message, sizeof(struct if_stats_msg), table, IFLA_STATS_LINK_64 + 1);
    /* rx_packets is the first of struct rtnl_link_stats64, which grows at its end. */
    (void)netlink_struct(table[IFLA_STATS_LINK_64], data, sizeof(uint64_t));
    return MNL_CB_OK;
}

/* Has the interface received nothing recently? When that is unknown, the answer is no. */
static bool is_quiet(struct ip *s, int64_t now_ns)
{
    uint64_t received = UINT64_MAX;
    if (!s->netlink)
        return false;
    if (netlink_call(s->netlink, &s->get.header, each_answer, &received, NULL) == -1)
        prepare(s, if_nametoindex(s->netdev)); /* it may have been created again */
    if (received == UINT64_MAX || received != s->received)
        s->received_ns = now_ns;
    s->received = received;
    return now_ns - s->received_ns > SETTLE_NS;
}

/* ---- the source */

static enum source_outcome ip_read(void *state, int64_t *values, struct error *e)
{
    struct ip *s = state;
    int64_t now_ns = clock_monotonic_ns();
    if (!is_quiet(s, now_ns) || now_ns - s->read_ns >= RENEW_NS) {
        ssize_t length = pread(s->descriptor, s->buffer, sizeof s->buffer, 0);
        if (length == -1) {
            error_set_errno(e, errno, "reading %s", FILE_NAME);
            return SOURCE_GONE;
        }
        s->read_ns = now_ns;
        ip_text_values(s->buffer, (size_t)length, names, s->values);
    }
    memcpy(values, s->values, sizeof s->values);
    return SOURCE_OK;
}

static int open_file(struct ip *s, const char *root, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, FILE_NAME);
    s->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return s->descriptor != -1 ? 0 : error_set_errno(e, errno, "opening %s", path);
}

static int add_columns(struct column_set *columns, struct error *e)
{
    for (size_t i = 0; names[i]; i++)
        if (column_set_add(columns, names[i], e) == -1)
            return -1;
    return 0;
}

static void *ip_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct ip *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for IP counters");
        return NULL;
    }
    s->received = UINT64_MAX;
    memcpy(s->netdev, target->netdev, sizeof s->netdev);
    if (s->netdev[0] != '\0' && (s->netlink = netlink_open(NETLINK_ROUTE, NULL)))
        prepare(s, target->ifindex);
    if (open_file(s, target->root, e) == 0 && add_columns(columns, e) == 0)
        return s;
    ip_close(s);
    return NULL;
}

const struct source_kind source_ip = {
    .name = "ip",
    .about = "ECN counters of IP",
    .counts_for = "the network namespace, all its interfaces together",
    .open = ip_open,
    .read = ip_read,
    .close = ip_close,
};
