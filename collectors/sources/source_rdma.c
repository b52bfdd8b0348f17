/*
 * Counters of an RDMA port: RDMA_NLDEV_CMD_STAT_GET, read live and without privilege
 * (drivers/infiniband/core/nldev.c). mlx5's queue counters are 32 bits wide, its congestion counters 64; the
 * kernel does not report the width, so any of them may wrap.
 */
#include "collectors/sources/rdma_device.h"
#include "collectors/sources/source.h"

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONAL 128

struct rdma {
    struct netlink *netlink;
    struct rdma_port port;
    union netlink_request get;
    char **names;
    size_t count;
    uint32_t were_on[MAX_OPTIONAL]; /* previous state of the optional counters, to be restored */
    size_t were_on_count;
    bool switched;
};

/* State of one walk over the answer. */
struct reading {
    const struct rdma *s;
    int64_t *values;
    size_t at;
    bool changed;
    struct column_set *columns; /* while opening: record the names */
    struct error *e;
};

static int take_counter(struct reading *r, const char *name, uint64_t value)
{
    if (r->columns)
        return column_set_add(r->columns, name, r->e);
    if (r->at >= r->s->count || strcmp(r->s->names[r->at], name) != 0)
        r->changed = true;
    else
        r->values[r->at++] = source_value(value);
    return 0;
}

static int each_answer(const struct nlmsghdr *message, void *data)
{
    struct reading *r = data;
    const struct nlattr *table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS + 1];
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS + 1);
    const struct nlattr *list = table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], *entry;
    if (!list)
        return MNL_CB_OK;
    mnl_attr_for_each_nested(entry, list)
    {
        const struct nlattr *part[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE + 1];
        netlink_parse_nested(entry, part, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE + 1);
        const char *name = netlink_string(part[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]);
        uint64_t value;
        if (!name || !netlink_u64(part[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE], &value))
            continue;
        if (take_counter(r, name, value) == -1)
            return MNL_CB_ERROR;
    }
    return MNL_CB_OK;
}

static struct nlmsghdr *prepare(const struct rdma *s, union netlink_request *r, int command, uint16_t flags)
{
    struct nlmsghdr *m = netlink_prepare(r, (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, s->port.device_index);
    mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, s->port.port);
    return m;
}

/* ---- optional counters */

struct optional {
    uint32_t all[MAX_OPTIONAL], on[MAX_OPTIONAL];
    size_t all_count, on_count;
};

/* Entries of optional counters contain whether they are on. */
static int each_status(const struct nlmsghdr *message, void *data)
{
    struct optional *o = data;
    const struct nlattr *table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS + 1];
    netlink_parse(message, 0, table, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS + 1);
    const struct nlattr *list = table[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], *entry;
    if (!list)
        return MNL_CB_OK;
    mnl_attr_for_each_nested(entry, list)
    {
        const struct nlattr *part[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC + 1];
        netlink_parse_nested(entry, part, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC + 1);
        uint32_t index;
        uint8_t on;
        if (!netlink_u32(part[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX], &index) ||
            !netlink_u8(part[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC], &on) || o->all_count == MAX_OPTIONAL)
            continue;
        o->all[o->all_count++] = index;
        if (on)
            o->on[o->on_count++] = index;
    }
    return MNL_CB_OK;
}

static int set_optional(const struct rdma *s, const uint32_t *indexes, size_t count, struct error *e)
{
    union netlink_request r;
    struct nlmsghdr *m = prepare(s, &r, RDMA_NLDEV_CMD_STAT_SET, NLM_F_ACK);
    struct nlattr *nest = mnl_attr_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
    for (size_t i = 0; i < count; i++)
        mnl_attr_put_u32(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, indexes[i]);
    mnl_attr_nest_end(m, nest);
    return netlink_call(s->netlink, m, NULL, NULL, e);
}

static int switch_optional_on(struct rdma *s, struct error *e)
{
    union netlink_request r;
    struct optional o = {0};
    struct nlmsghdr *m = prepare(s, &r, RDMA_NLDEV_CMD_STAT_GET_STATUS, 0);
    if (netlink_call(s->netlink, m, each_status, &o, e) == -1)
        return error_prefix(e, "%s/%u: which optional counters are on", s->port.device, s->port.port);
    if (o.all_count == o.on_count)
        return 0;
    if (set_optional(s, o.all, o.all_count, e) == -1)
        return error_prefix(e, "%s/%u: switching optional counters on", s->port.device, s->port.port);
    memcpy(s->were_on, o.on, sizeof o.on);
    s->were_on_count = o.on_count;
    s->switched = true;
    return 0;
}

/* ---- the source */

static void rdma_close(void *state)
{
    struct rdma *s = state;
    if (!s)
        return;
    if (s->switched)
        (void)set_optional(s, s->were_on, s->were_on_count, NULL);
    netlink_close(s->netlink);
    for (size_t i = 0; i < s->count; i++)
        free(s->names[i]);
    free(s->names);
    free(s);
}

static int find_port(struct rdma *s, const struct target *target, struct error *e)
{
    struct rdma_ports ports;
    if (rdma_ports_read(s->netlink, &ports, e) == -1)
        return -1;
    const struct rdma_port *port =
        rdma_ports_find(&ports, target->rdma, target->rdma_port, target->ifindex, e);
    if (port)
        s->port = *port;
    rdma_ports_free(&ports);
    return port ? 0 : -1;
}

static int take_names(struct rdma *s, struct column_set *columns, struct error *e)
{
    struct reading r = {.s = s, .columns = columns, .e = e};
    if (netlink_call(s->netlink, &s->get.header, each_answer, &r, e) == -1)
        return error_prefix(e, "%s/%u: reading the counters", s->port.device, s->port.port);
    if (columns->count == 0)
        return error_set(e, "%s/%u has no counters", s->port.device, s->port.port);
    s->names = calloc(columns->count, sizeof *s->names);
    for (size_t i = 0; s->names && i < columns->count; i++, s->count++)
        if (!(s->names[i] = strdup(columns->items[i].name)))
            break;
    return s->count == columns->count ? 0 : error_set(e, "out of memory for RDMA counters");
}

static void *rdma_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct rdma *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for RDMA counters");
        return NULL;
    }
    s->netlink = netlink_open(NETLINK_RDMA, e);
    if (s->netlink && find_port(s, target, e) == 0 &&
        (!target->optional_counters || switch_optional_on(s, e) == 0)) {
        prepare(s, &s->get, RDMA_NLDEV_CMD_STAT_GET, 0);
        if (take_names(s, columns, e) == 0)
            return s;
    }
    rdma_close(s);
    return NULL;
}

/* The type is that of struct source_kind. NOLINTNEXTLINE(readability-non-const-parameter) */
static enum source_outcome rdma_read(void *state, int64_t *values, struct error *e)
{
    struct rdma *s = state;
    struct reading r = {.s = s, .values = values};
    if (netlink_call(s->netlink, &s->get.header, each_answer, &r, e) == -1) {
        error_prefix(e, "%s/%u: reading the counters", s->port.device, s->port.port);
        return SOURCE_GONE;
    }
    return r.changed || r.at != s->count ? SOURCE_CHANGED : SOURCE_OK;
}

const struct source_kind source_rdma = {
    .name = "rdma",
    .about = "counters of the RDMA port",
    .wraps32 = true,
    .open = rdma_open,
    .read = rdma_read,
    .close = rdma_close,
};
