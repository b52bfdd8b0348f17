/*
 * Statistics of the interface's queueing disciplines: RTM_GETQDISC. They include RED's marked, early and
 * pdrop.
 *
 * Columns are called qdisc_KIND_FIELD, or qdisc_KIND_HANDLE_FIELD (hexadecimal major number) when there are
 * several of a kind. Left out: noqueue, and the disciplines that the kernel itself put under a multi-queue
 * root (handle 0).
 */
#include "collectors/sources/source.h"

#include "lib/kernel/netlink.h"
#include "lib/log.h"
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_QDISCS 256

enum field {
    BYTES,
    PACKETS,
    DROPS,
    OVERLIMITS,
    REQUEUES,
    BACKLOG,
    QLEN,
    COMMON_FIELDS, /* from here on: RED only */
    EARLY = COMMON_FIELDS,
    PDROP,
    OTHER,
    MARKED,
    ALL_FIELDS
};

static const char *const field_names[ALL_FIELDS] = {"bytes",    "packets", "drops", "overlimits",
                                                    "requeues", "backlog", "qlen",  "early",
                                                    "pdrop",    "other",   "marked"};

struct qdisc {
    uint32_t handle, parent;
    char kind[16];
    bool red;
};

struct qdiscs {
    struct netlink *netlink;
    unsigned int ifindex;
    union netlink_request get;
    struct qdisc items[MAX_QDISCS];
    size_t count;
};

/* State of one walk over the dump. */
struct reading {
    struct qdiscs *s;
    int64_t *values; /* NULL while opening */
    size_t at;       /* qdisc */
    size_t value;
    bool changed;
    bool more; /* than MAX_QDISCS */
};

static bool is_shown(const struct qdisc *q)
{
    if (strcmp(q->kind, "noqueue") == 0)
        return false;
    return q->handle != 0 || q->parent == TC_H_ROOT;
}

static bool identify(const struct nlmsghdr *message, unsigned int ifindex, const struct nlattr **table,
                     struct qdisc *q)
{
    if (message->nlmsg_type != RTM_NEWQDISC || mnl_nlmsg_get_payload_len(message) < sizeof(struct tcmsg))
        return false;
    const struct tcmsg *t = mnl_nlmsg_get_payload(message);
    if (t->tcm_ifindex != (int)ifindex)
        return false;
    netlink_parse(message, sizeof *t, table, TCA_STATS2 + 1);
    const char *kind = netlink_string(table[TCA_KIND]);
    if (!kind || strlen(kind) >= sizeof q->kind)
        return false;
    *q = (struct qdisc){.handle = t->tcm_handle, .parent = t->tcm_parent, .red = strcmp(kind, "red") == 0};
    snprintf(q->kind, sizeof q->kind, "%s", kind);
    return is_shown(q);
}

static void take_basic(const struct nlattr *const *stats, int64_t *values)
{
    struct gnet_stats_basic basic;
    struct gnet_stats_queue queue;
    uint64_t packets;
    /* The kernel's struct may lack padding at the end: 12 bytes count. */
    if (netlink_struct(stats[TCA_STATS_BASIC], &basic, 12)) {
        values[BYTES] = source_value(basic.bytes);
        values[PACKETS] = basic.packets;
    }
    /* This attribute is sent when the count does not fit 32 bits (net/core/gen_stats.c). */
    if (netlink_u64(stats[TCA_STATS_PKT64], &packets))
        values[PACKETS] = source_value(packets);
    if (netlink_struct(stats[TCA_STATS_QUEUE], &queue, sizeof queue)) {
        values[DROPS] = queue.drops;
        values[OVERLIMITS] = queue.overlimits;
        values[REQUEUES] = queue.requeues;
        values[BACKLOG] = queue.backlog;
        values[QLEN] = queue.qlen;
    }
}

static void take_values(const struct qdisc *q, const struct nlattr *nest, int64_t *values)
{
    const struct nlattr *stats[TCA_STATS_MAX + 1];
    struct tc_red_xstats red;
    size_t count = q->red ? ALL_FIELDS : COMMON_FIELDS;
    for (size_t i = 0; i < count; i++)
        values[i] = LINES_NULL;
    netlink_parse_nested(nest, stats, TCA_STATS_MAX + 1);
    take_basic(stats, values);
    if (q->red && netlink_struct(stats[TCA_STATS_APP], &red, sizeof red)) {
        values[EARLY] = red.early;
        values[PDROP] = red.pdrop;
        values[OTHER] = red.other;
        values[MARKED] = red.marked;
    }
}

static int each_qdisc(const struct nlmsghdr *message, void *data)
{
    struct reading *r = data;
    const struct nlattr *table[TCA_STATS2 + 1];
    struct qdisc q;
    if (!identify(message, r->s->ifindex, table, &q))
        return MNL_CB_OK;
    if (!r->values) {
        if (r->s->count < MAX_QDISCS)
            r->s->items[r->s->count++] = q;
        else
            r->more = true;
        return MNL_CB_OK;
    }
    if (r->changed || r->at == MAX_QDISCS)
        return MNL_CB_OK;
    const struct qdisc *known = &r->s->items[r->at];
    if (r->at == r->s->count || known->handle != q.handle || known->parent != q.parent ||
        strcmp(known->kind, q.kind) != 0) {
        r->changed = true;
        return MNL_CB_OK;
    }
    take_values(&q, table[TCA_STATS2], r->values + r->value);
    r->value += q.red ? ALL_FIELDS : COMMON_FIELDS;
    r->at++;
    return MNL_CB_OK;
}

static size_t count_kind(const struct qdiscs *s, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += strcmp(s->items[i].kind, kind) == 0;
    return count;
}

static int add_columns(const struct qdiscs *s, struct column_set *columns, struct error *e)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct qdisc *q = &s->items[i];
        bool several = count_kind(s, q->kind) > 1;
        for (size_t f = 0; f < (q->red ? ALL_FIELDS : COMMON_FIELDS); f++) {
            char name[64];
            if (several)
                snprintf(name, sizeof name, "qdisc_%s_%x_%s", q->kind, q->handle >> 16, field_names[f]);
            else
                snprintf(name, sizeof name, "qdisc_%s_%s", q->kind, field_names[f]);
            if (column_set_add(columns, name, e) == -1)
                return -1;
        }
    }
    return 0;
}

static void qdisc_close(void *state)
{
    struct qdiscs *s = state;
    if (s)
        netlink_close(s->netlink);
    free(s);
}

static void *qdisc_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct qdiscs *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for qdiscs");
        return NULL;
    }
    s->ifindex = target->ifindex;
    struct nlmsghdr *m = netlink_prepare(&s->get, RTM_GETQDISC, NLM_F_DUMP);
    struct tcmsg *t = mnl_nlmsg_put_extra_header(m, sizeof *t);
    t->tcm_family = AF_UNSPEC;
    t->tcm_ifindex = (int)s->ifindex;
    struct reading r = {.s = s};
    s->netlink = netlink_open(NETLINK_ROUTE, e);
    if (s->netlink && netlink_call(s->netlink, m, each_qdisc, &r, e) == 0) {
        if (s->count == 0)
            error_set(e, "%s has no qdisc with statistics (noqueue)", target->netdev);
        else if (add_columns(s, columns, e) == 0) {
            if (r.more)
                log_warning("qdisc: %s has more than %d qdiscs: only the first are read", target->netdev,
                            MAX_QDISCS);
            return s;
        }
    }
    qdisc_close(s);
    return NULL;
}

static void no_values(const struct qdiscs *s, int64_t *values)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t f = 0; f < (s->items[i].red ? ALL_FIELDS : COMMON_FIELDS); f++)
            *values++ = LINES_NULL;
}

/* The type is that of struct source_kind. NOLINTNEXTLINE(readability-non-const-parameter) */
static enum source_outcome qdisc_read(void *state, int64_t *values, struct error *e)
{
    struct qdiscs *s = state;
    struct reading r = {.s = s, .values = values};
    if (netlink_call(s->netlink, &s->get.header, each_qdisc, &r, e) == -1) {
        if (netlink_errno(s->netlink) == EINTR) { /* qdiscs come and go all the time */
            no_values(s, values);
            return SOURCE_OK;
        }
        error_prefix(e, "reading the qdiscs");
        return SOURCE_GONE;
    }
    return r.changed || r.at != s->count ? SOURCE_CHANGED : SOURCE_OK;
}

const struct source_kind source_qdisc = {
    .name = "qdisc",
    .about = "queueing disciplines",
    .needs_netdev = true,
    .wraps32 = true,
    .open = qdisc_open,
    .read = qdisc_read,
    .close = qdisc_close,
};
