/*
 * Statistics that IEEE 802.3 and RFC 2819 define, by ethtool netlink: 802.3x pause frames
 * (ETHTOOL_MSG_PAUSE_GET) and the groups eth-phy, eth-mac, eth-ctrl, rmon (ETHTOOL_MSG_STATS_GET). PFC frames
 * are not among them. A statistic that a driver does not count is not in its answer and has no column.
 */
#include "collectors/sources/source.h"

#include "lib/kernel/netlink.h"
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STATISTICS 512
#define MAX_STRINGS    128 /* in one group's set of names */

/* Pause is not one of the kernel's groups; it gets an unused group number here. */
#define GROUP_PAUSE UINT32_MAX

/* Which statistic: its group, its attribute, its number in that attribute (for a histogram, the lower
 * bound). */
struct key {
    uint32_t group, attribute, number;
};

struct standard {
    struct netlink *netlink;
    char netdev[IFNAMSIZ];
    union netlink_request pause, groups;
    bool has_pause, has_groups;
    struct key keys[MAX_STATISTICS];
    size_t count;
};

/* State of one walk over an answer. */
struct reading {
    struct standard *s;
    int64_t *values; /* NULL while opening: record the keys */
    size_t at;
    bool changed;
    uint32_t upper[MAX_STATISTICS]; /* of histogram buckets, while opening */
};

static void store_statistic(struct reading *r, struct key key, uint32_t upper, uint64_t value)
{
    struct standard *s = r->s;
    if (!r->values) {
        if (s->count < MAX_STATISTICS) {
            r->upper[s->count] = upper;
            s->keys[s->count++] = key;
        }
        return;
    }
    if (r->at >= s->count || memcmp(&s->keys[r->at], &key, sizeof key) != 0)
        r->changed = true;
    else
        r->values[r->at++] = source_value(value);
}

static int each_pause(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[ETHTOOL_A_PAUSE_STATS + 1], *stat;
    netlink_parse(message, sizeof(struct genlmsghdr), table, ETHTOOL_A_PAUSE_STATS + 1);
    if (!table[ETHTOOL_A_PAUSE_STATS])
        return MNL_CB_OK;
    mnl_attr_for_each_nested(stat, table[ETHTOOL_A_PAUSE_STATS])
    {
        uint64_t value;
        uint16_t type = mnl_attr_get_type(stat);
        if ((type == ETHTOOL_A_PAUSE_STAT_TX_FRAMES || type == ETHTOOL_A_PAUSE_STAT_RX_FRAMES) &&
            netlink_u64(stat, &value))
            store_statistic(data, (struct key){.group = GROUP_PAUSE, .number = type}, 0, value);
    }
    return MNL_CB_OK;
}

static void take_histogram(struct reading *r, uint32_t group, const struct nlattr *nest)
{
    const struct nlattr *part[ETHTOOL_A_STATS_GRP_HIST_VAL + 1];
    uint32_t low, high;
    uint64_t value;
    netlink_parse_nested(nest, part, ETHTOOL_A_STATS_GRP_HIST_VAL + 1);
    if (netlink_u32(part[ETHTOOL_A_STATS_GRP_HIST_BKT_LOW], &low) &&
        netlink_u32(part[ETHTOOL_A_STATS_GRP_HIST_BKT_HI], &high) &&
        netlink_u64(part[ETHTOOL_A_STATS_GRP_HIST_VAL], &value))
        store_statistic(r, (struct key){.group = group, .attribute = mnl_attr_get_type(nest), .number = low},
                        high, value);
}

static void take_group(struct reading *r, const struct nlattr *nest)
{
    const struct nlattr *table[ETHTOOL_A_STATS_GRP_ID + 1], *entry, *stat;
    uint32_t group;
    uint64_t value;
    netlink_parse_nested(nest, table, ETHTOOL_A_STATS_GRP_ID + 1);
    if (!netlink_u32(table[ETHTOOL_A_STATS_GRP_ID], &group))
        return;
    mnl_attr_for_each_nested(entry, nest)
    {
        uint16_t type = mnl_attr_get_type(entry);
        if (type == ETHTOOL_A_STATS_GRP_HIST_RX || type == ETHTOOL_A_STATS_GRP_HIST_TX)
            take_histogram(r, group, entry);
        if (type != ETHTOOL_A_STATS_GRP_STAT)
            continue;
        mnl_attr_for_each_nested(stat, entry) if (netlink_u64(stat, &value)) store_statistic(
            r, (struct key){.group = group, .attribute = type, .number = mnl_attr_get_type(stat)}, 0, value);
    }
}

static int each_stats(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *entry;
    if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
        return MNL_CB_OK;
    netlink_for_each(entry, message, sizeof(struct genlmsghdr))
    {
        if (mnl_attr_get_type(entry) == ETHTOOL_A_STATS_GRP)
            take_group(data, entry);
    }
    return MNL_CB_OK;
}

/* ---- names */

struct strings {
    char items[MAX_STRINGS][ETH_GSTRING_LEN];
};

static void keep_string(struct strings *strings, const struct nlattr *nest)
{
    const struct nlattr *part[ETHTOOL_A_STRING_VALUE + 1];
    uint32_t index;
    netlink_parse_nested(nest, part, ETHTOOL_A_STRING_VALUE + 1);
    const char *text = netlink_string(part[ETHTOOL_A_STRING_VALUE]);
    if (!text || !netlink_u32(part[ETHTOOL_A_STRING_INDEX], &index) || index >= MAX_STRINGS)
        return;
    snprintf(strings->items[index], ETH_GSTRING_LEN, "%s", text);
}

/* The answer nests: sets, set, strings, string. */
static int each_strings(const struct nlmsghdr *message, void *data)
{
    const struct nlattr *table[ETHTOOL_A_STRSET_STRINGSETS + 1], *set, *string;
    netlink_parse(message, sizeof(struct genlmsghdr), table, ETHTOOL_A_STRSET_STRINGSETS + 1);
    if (!table[ETHTOOL_A_STRSET_STRINGSETS])
        return MNL_CB_OK;
    mnl_attr_for_each_nested(set, table[ETHTOOL_A_STRSET_STRINGSETS])
    {
        const struct nlattr *part[ETHTOOL_A_STRINGSET_STRINGS + 1];
        netlink_parse_nested(set, part, ETHTOOL_A_STRINGSET_STRINGS + 1);
        if (!part[ETHTOOL_A_STRINGSET_STRINGS])
            continue;
        mnl_attr_for_each_nested(string, part[ETHTOOL_A_STRINGSET_STRINGS]) keep_string(data, string);
    }
    return MNL_CB_OK;
}

static int read_strings(struct standard *s, uint16_t family, uint32_t set, struct strings *strings,
                        struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = netlink_prepare_generic(&r, family, ETHTOOL_MSG_STRSET_GET, 0);
    /* Sets of names that belong to no device need a header too, an empty one. */
    mnl_attr_nest_end(m, mnl_attr_nest_start(m, ETHTOOL_A_STRSET_HEADER));
    struct nlattr *sets = mnl_attr_nest_start(m, ETHTOOL_A_STRSET_STRINGSETS);
    struct nlattr *one = mnl_attr_nest_start(m, ETHTOOL_A_STRINGSETS_STRINGSET);
    mnl_attr_put_u32(m, ETHTOOL_A_STRINGSET_ID, set);
    mnl_attr_nest_end(m, one);
    mnl_attr_nest_end(m, sets);
    memset(strings, 0, sizeof *strings);
    return netlink_call(s->netlink, m, each_strings, strings, e);
}

/* The kernel's set of names for each of its groups, in the order of ETHTOOL_STATS_ETH_PHY... */
static const uint32_t string_sets[] = {ETH_SS_STATS_ETH_PHY, ETH_SS_STATS_ETH_MAC, ETH_SS_STATS_ETH_CTRL,
                                       ETH_SS_STATS_RMON};
#define GROUPS (sizeof string_sets / sizeof string_sets[0])

static void name_of(const struct key *key, uint32_t upper, const struct strings *strings, char *name,
                    size_t size)
{
    if (key->group == GROUP_PAUSE)
        snprintf(name, size, "%s_pause_frames", key->number == ETHTOOL_A_PAUSE_STAT_RX_FRAMES ? "rx" : "tx");
    else if (key->attribute != ETHTOOL_A_STATS_GRP_STAT)
        snprintf(name, size, "%s_packets_%u_to_%u",
                 key->attribute == ETHTOOL_A_STATS_GRP_HIST_RX ? "rx" : "tx", key->number, upper);
    else if (key->number < MAX_STRINGS && strings[key->group].items[key->number][0] != '\0')
        snprintf(name, size, "%s", strings[key->group].items[key->number]);
    else
        snprintf(name, size, "standard_%u_%u", key->group, key->number);
}

static int add_columns(struct standard *s, uint16_t family, const struct reading *r,
                       struct column_set *columns, struct error *e)
{
    struct strings strings[GROUPS];
    for (size_t i = 0; i < GROUPS; i++)
        if (read_strings(s, family, string_sets[i], &strings[i], e) == -1)
            return error_prefix(e, "names of standard statistics");
    for (size_t i = 0; i < s->count; i++) {
        char name[64];
        if (s->keys[i].group >= GROUPS && s->keys[i].group != GROUP_PAUSE)
            return error_set(
                e, "the kernel answered with group %u of standard statistics, which was not requested",
                s->keys[i].group);
        name_of(&s->keys[i], r->upper[i], strings, name, sizeof name);
        if (column_set_add(columns, name, e) == -1)
            return -1;
    }
    return 0;
}

/* ---- the source */

static void put_header(struct nlmsghdr *m, uint16_t type, unsigned int ifindex, uint32_t flags)
{
    struct nlattr *nest = mnl_attr_nest_start(m, type);
    mnl_attr_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
    if (flags != 0)
        mnl_attr_put_u32(m, ETHTOOL_A_HEADER_FLAGS, flags);
    mnl_attr_nest_end(m, nest);
}

static void prepare(struct standard *s, uint16_t family, unsigned int ifindex)
{
    struct nlmsghdr *m = netlink_prepare_generic(&s->pause, family, ETHTOOL_MSG_PAUSE_GET, 0);
    put_header(m, ETHTOOL_A_PAUSE_HEADER, ifindex, ETHTOOL_FLAG_STATS);
    m = netlink_prepare_generic(&s->groups, family, ETHTOOL_MSG_STATS_GET, 0);
    put_header(m, ETHTOOL_A_STATS_HEADER, ifindex, 0);
    struct nlattr *bits = mnl_attr_nest_start(m, ETHTOOL_A_STATS_GROUPS);
    mnl_attr_put(m, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
    mnl_attr_put_u32(m, ETHTOOL_A_BITSET_SIZE, GROUPS);
    mnl_attr_put_u32(m, ETHTOOL_A_BITSET_VALUE, (1U << GROUPS) - 1);
    mnl_attr_nest_end(m, bits);
}

/* A driver may support only one of the two requests, or neither. */
static int query_statistics(struct standard *s, bool *has, union netlink_request *request, mnl_cb_t each,
                            struct reading *r, struct error *e)
{
    if (!*has)
        return 0;
    if (netlink_call(s->netlink, &request->header, each, r, e) == 0)
        return 0;
    *has = false;
    return netlink_errno(s->netlink) == EOPNOTSUPP && !r->values
               ? 0
               : error_prefix(e, "%s: reading standard statistics", s->netdev);
}

static int ask_both(struct standard *s, struct reading *r, struct error *e)
{
    if (query_statistics(s, &s->has_pause, &s->pause, each_pause, r, e) == -1)
        return -1;
    return query_statistics(s, &s->has_groups, &s->groups, each_stats, r, e);
}

static void standard_close(void *state)
{
    struct standard *s = state;
    if (s)
        netlink_close(s->netlink);
    free(s);
}

static void *standard_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct standard *s = calloc(1, sizeof *s);
    uint16_t family;
    if (!s) {
        error_set(e, "out of memory for standard statistics");
        return NULL;
    }
    snprintf(s->netdev, sizeof s->netdev, "%s", target->netdev);
    s->has_pause = s->has_groups = true;
    struct reading r = {.s = s};
    s->netlink = netlink_open(NETLINK_GENERIC, e);
    if (s->netlink && netlink_family(s->netlink, ETHTOOL_GENL_NAME, &family, e) == 0) {
        prepare(s, family, target->ifindex);
        if (ask_both(s, &r, e) == 0) {
            if (s->count == 0)
                error_set(e, "the driver of %s supports none of the standard statistics", s->netdev);
            else if (add_columns(s, family, &r, columns, e) == 0)
                return s;
        }
    }
    standard_close(s);
    return NULL;
}

/* The type is that of struct source_kind. NOLINTNEXTLINE(readability-non-const-parameter) */
static enum source_outcome standard_read(void *state, int64_t *values, struct error *e)
{
    struct standard *s = state;
    struct reading r = {.s = s, .values = values};
    if (ask_both(s, &r, e) == -1)
        return SOURCE_GONE;
    return r.changed || r.at != s->count ? SOURCE_CHANGED : SOURCE_OK;
}

const struct source_kind source_standard = {
    .name = "standard",
    .about = "standard statistics",
    .needs_netdev = true,
    .open = standard_open,
    .read = standard_read,
    .close = standard_close,
};
