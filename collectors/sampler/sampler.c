#include "collectors/sampler/sampler.h"

#include "lib/clock.h"
#include "lib/kernel/netlink.h"
#include "lib/kernel/sysfs.h"
#include "lib/log.h"
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- notifications of changes to the interface */

struct watch {
    struct mnl_socket *socket;
    char netdev[IFNAMSIZ];
    char buffer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static void watch_close(struct watch *w)
{
    if (w && w->socket)
        mnl_socket_close(w->socket);
    free(w);
}

static void join_multicast_group(struct watch *w, int group)
{
    /* Without this multicast group the periodic check notices the change later. */
    (void)mnl_socket_setsockopt(w->socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof group);
}

/* NULL when the kernel does not permit it; the sampler then relies on its periodic check alone. */
static struct watch *watch_open(const char *netdev)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    snprintf(w->netdev, sizeof w->netdev, "%s", netdev);
    w->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (!w->socket || mnl_socket_bind(w->socket, 0, MNL_SOCKET_AUTOPID) == -1) {
        watch_close(w);
        return NULL;
    }
    join_multicast_group(w, RTNLGRP_LINK);
    join_multicast_group(w, RTNLGRP_DCB);
    return w;
}

static bool names_interface(const struct watch *w, const struct nlmsghdr *message)
{
    const struct nlattr *table[IFLA_IFNAME + 1];
    const char *name = NULL;
    if (message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK) {
        netlink_parse(message, sizeof(struct ifinfomsg), table, IFLA_IFNAME + 1);
        name = netlink_string(table[IFLA_IFNAME]);
    } else if (message->nlmsg_type == RTM_SETDCB || message->nlmsg_type == RTM_GETDCB) {
        netlink_parse(message, sizeof(struct dcbmsg), table, DCB_ATTR_IFNAME + 1);
        name = netlink_string(table[DCB_ATTR_IFNAME]);
    }
    return name && strcmp(name, w->netdev) == 0;
}

/* Was there a notification about the interface since the last call? Does not wait. */
static bool watch_changed(struct watch *w)
{
    bool changed = false;
    for (;;) {
        ssize_t length = recv(mnl_socket_get_fd(w->socket), w->buffer, sizeof w->buffer, MSG_DONTWAIT);
        if (length <= 0)
            /* ENOBUFS: some messages were lost. */
            return changed || (length == -1 && errno == ENOBUFS);
        int left = (int)length;
        for (const struct nlmsghdr *m = (const void *)w->buffer; netlink_whole(m, left);
             m = mnl_nlmsg_next(m, &left))
            changed |= names_interface(w, m);
    }
}

/* ---- counters that wrap or are reset */

#define SPAN32 (INT64_C(1) << 32)

static bool has_wrapped(const struct unwrap *u, int64_t raw)
{
    return u->raw < SPAN32 && raw + SPAN32 - u->raw < SPAN32 / 2;
}

#define BACK_PART 8

enum unwrap_step unwrap_look(const struct unwrap *u, int64_t raw, bool wraps32, bool reopened)
{
    if (!u->seen || raw >= u->raw || (wraps32 && !reopened && has_wrapped(u, raw)))
        return UNWRAP_ON;
    return reopened || u->raw - raw > u->raw / BACK_PART ? UNWRAP_RESET : UNWRAP_DECREASED;
}

int64_t unwrap_next(struct unwrap *u, int64_t raw, enum unwrap_step step)
{
    int64_t added = 0, value;
    if (step == UNWRAP_DECREASED) {
        u->held = true;
        return u->base + u->raw; /* as it was before */
    }
    if (u->seen && raw < u->raw)
        added = step == UNWRAP_RESET ? u->raw : SPAN32;
    if (__builtin_add_overflow(u->base, added, &u->base) || __builtin_add_overflow(raw, u->base, &value)) {
        /* Only an inconsistent counter reaches this line: start again. */
        u->base = 0;
        value = raw;
    }
    u->raw = raw;
    u->seen = true;
    u->held = false;
    return value;
}

#define VERIFY_NS        NS_PER_S
#define RETRY_GONE_NS    (250 * NS_PER_MS)
#define RETRY_MISSING_NS (5 * NS_PER_S)
#define MAX_SOURCES      16

enum state {
    UNUSED,  /* none of its columns is requested */
    MISSING, /* could not be opened yet */
    OPEN,
    GONE, /* was open; will be opened again when possible */
};

struct tracked {
    struct unwrap unwrap;
    bool selected;
    size_t place; /* in the row, when selected */
};

struct source {
    const struct source_kind *kind;
    enum state state;
    void *handle;
    struct column_set columns; /* from when it was last open */
    struct tracked *tracked;   /* one a column */
    int64_t *raw,
        *before;      /* one for each column: the values as read, and the values that the row was made from */
    int64_t retry_ns; /* when to try again (monotonic) */
    bool reopened;    /* since the last sample */
    bool renewed;     /* all its values must be written into the row again */
    struct error why; /* it is missing or gone */
};

struct sampler {
    struct target target;
    uint32_t groups;
    sampler_event event;
    void *context;
    struct watch *watch;
    int64_t verify_ns;
    struct source sources[MAX_SOURCES];
    size_t source_count;
    struct column *columns; /* names are owned here; the other words are constants */
    int64_t *values;
    size_t count;
};

/* ---- columns of one source */

#define GROUP_OTHER (1U << COUNTER_GROUP_OTHER)

static uint32_t group_bit(const struct source_column *column)
{
    return 1U << column->counter->group;
}

static size_t count_selected(const struct source *source)
{
    size_t count = 0;
    for (size_t i = 0; i < source->columns.count; i++)
        count += source->tracked[i].selected;
    return count;
}

static bool same_columns(const struct column_set *a, const struct column_set *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].name, b->items[i].name) != 0)
            return false;
    return true;
}

/* A counter that existed before continues from its value, and keeps its place as long as the row keeps its
 * columns. */
static void inherit(struct tracked *tracked, const struct column_set *columns, const struct source *old)
{
    for (size_t i = 0, j = 0; i < columns->count && old->columns.count > 0; i++) {
        /* Most columns keep their order: search from where the last one was found. */
        for (size_t tries = 0; tries < old->columns.count; tries++, j = (j + 1) % old->columns.count) {
            if (strcmp(columns->items[i].name, old->columns.items[j].name) != 0)
                continue;
            tracked[i].unwrap = old->tracked[j].unwrap;
            tracked[i].place = old->tracked[j].place;
            j = (j + 1) % old->columns.count; /* drivers have names twice: each is its own */
            break;
        }
    }
}

/* Take over the columns of a source that was just opened; they become the source's. */
static int adopt(struct source *source, struct column_set *columns, uint32_t groups, struct error *e)
{
    struct tracked *tracked = calloc(columns->count + 1, sizeof *tracked);
    int64_t *raw = calloc(2 * columns->count + 1, sizeof *raw);
    if (!tracked || !raw) {
        free(tracked);
        free(raw);
        return error_set(e, "out of memory for %zu columns", columns->count);
    }
    inherit(tracked, columns, source);
    for (size_t i = 0; i < columns->count; i++) {
        tracked[i].selected = (group_bit(&columns->items[i]) & groups) != 0;
        raw[i] = LINES_NULL; /* until it is read */
    }
    column_set_free(&source->columns);
    free(source->tracked);
    free(source->raw);
    source->columns = *columns;
    *columns = (struct column_set){0};
    source->tracked = tracked;
    source->raw = raw;
    source->before = raw + source->columns.count;
    source->renewed = true;
    return 0;
}

/* ---- opening and losing sources */

static void shut(struct source *source)
{
    if (source->handle)
        source->kind->close(source->handle);
    source->handle = NULL;
}

/* Open a source. Returns 1 when its columns differ from before, 0 when they are the same, -1 when it cannot
 * be opened. */
static int open_source(struct sampler *s, struct source *source)
{
    struct column_set columns = {0};
    struct error why = {0};
    void *handle = source->kind->open(&s->target, &columns, &why);
    bool same = handle && same_columns(&columns, &source->columns);
    if (handle && adopt(source, &columns, s->groups, &why) == 0) {
        source->handle = handle;
        source->state = OPEN;
        source->reopened = true;
        return same ? 0 : 1;
    }
    if (handle)
        source->kind->close(handle);
    column_set_free(&columns);
    source->why = why;
    return -1;
}

static void lose(struct sampler *s, struct source *source, const struct error *why)
{
    shut(source);
    source->state = GONE;
    source->renewed = true;
    source->why = *why;
    source->retry_ns = clock_monotonic_ns() + RETRY_GONE_NS;
    s->event(s->context, source->kind->name, "gone", why->text);
}

/* Reopen sources that changed. */
static void reopen_changed(struct sampler *s, struct source *source)
{
    shut(source);
    if (open_source(s, source) == -1) {
        struct error why = source->why;
        lose(s, source, &why);
        return;
    }
    s->event(s->context, source->kind->name, "changed", "its columns have changed");
}

/* Try to open missing sources. Returns true when columns changed. */
static bool retry(struct sampler *s, struct source *source, int64_t now_ns)
{
    if (now_ns < source->retry_ns)
        return false;
    source->retry_ns = now_ns + (source->state == GONE ? RETRY_GONE_NS : RETRY_MISSING_NS);
    int outcome = open_source(s, source);
    if (outcome == -1)
        return false;
    s->event(s->context, source->kind->name, "back", source->kind->about);
    return outcome == 1;
}

/* The interface may have been removed, or removed and created again under the same name. */
static void check_interface(struct sampler *s)
{
    unsigned int index = s->target.netdev[0] != '\0' ? if_nametoindex(s->target.netdev) : 0;
    if (index == s->target.ifindex)
        return;
    struct error why = {0};
    error_set(&why, "the interface %s %s", s->target.netdev,
              index == 0 ? "was removed" : "was created again");
    s->target.ifindex = index;
    for (size_t i = 0; i < s->source_count; i++) {
        struct source *source = &s->sources[i];
        if (source->kind->needs_netdev && source->state == OPEN)
            lose(s, source, &why);
        if (index != 0)
            source->retry_ns = 0;
    }
}

static bool verify_sources(struct sampler *s)
{
    bool changed = false;
    for (size_t i = 0; i < s->source_count; i++) {
        struct source *source = &s->sources[i];
        struct error why = {0};
        if (source->state != OPEN || !source->kind->verify)
            continue;
        enum source_outcome outcome = source->kind->verify(source->handle, &why);
        if (outcome == SOURCE_GONE)
            lose(s, source, &why);
        if (outcome == SOURCE_CHANGED) {
            reopen_changed(s, source);
            changed = true;
        }
    }
    return changed;
}

/* Maintenance between samples. Returns true when columns changed. */
static bool look_after(struct sampler *s)
{
    int64_t now_ns = clock_monotonic_ns();
    bool changed = false;
    bool heard = s->watch && watch_changed(s->watch);
    if (heard || now_ns >= s->verify_ns) {
        s->verify_ns = now_ns + VERIFY_NS;
        check_interface(s);
        changed = verify_sources(s);
    }
    for (size_t i = 0; i < s->source_count; i++)
        if (s->sources[i].state == GONE || s->sources[i].state == MISSING)
            changed |= retry(s, &s->sources[i], now_ns);
    return changed;
}

/* ---- the row */

static void free_columns(struct sampler *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->columns[i].name);
    free(s->columns);
    free(s->values);
    s->columns = NULL;
    s->values = NULL;
    s->count = 0;
}

/* A name that no column has yet: its own, else prefixed with the source, else with a number appended. */
static char *unique_name(json_t *taken, const char *source, const char *name)
{
    char *unique = strdup(name);
    for (int i = 1; unique && json_object_get(taken, unique); i++) {
        free(unique);
        if (asprintf(&unique, i == 1 ? "%s_%s" : "%s_%s_%d", source, name, i) == -1)
            unique = NULL;
    }
    if (unique)
        json_object_set_new(taken, unique, json_true());
    return unique;
}

static bool add_column(struct sampler *s, json_t *taken, struct source *source, size_t i)
{
    const struct source_column *from = &source->columns.items[i];
    const struct counter *meaning = from->counter;
    struct column *column = &s->columns[s->count];
    source->tracked[i].place = s->count;
    *column = (struct column){.name = unique_name(taken, source->kind->name, from->name),
                              .unit = (char *)(uintptr_t)meaning->unit,
                              .source = (char *)(uintptr_t)source->kind->name,
                              .group = (char *)(uintptr_t)counter_group_names[meaning->group],
                              .kind = meaning->kind == COUNTER_GAUGE ? COLUMN_GAUGE : COLUMN_COUNTER};
    s->count += column->name ? 1 : 0;
    return column->name;
}

static size_t count_all(const struct sampler *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->source_count; i++)
        count += count_selected(&s->sources[i]);
    return count;
}

/* A NIC with many queues may have more per-queue counters than a line holds: leave out the group "other"
 * permanently. */
static void drop_other(struct sampler *s)
{
    s->groups &= ~GROUP_OTHER;
    for (size_t i = 0; i < s->source_count; i++)
        for (size_t j = 0; j < s->sources[i].columns.count; j++)
            if (group_bit(&s->sources[i].columns.items[j]) == GROUP_OTHER)
                s->sources[i].tracked[j].selected = false;
}

/* Lay out the row again: the columns of every source that is or was open. */
static int lay_out(struct sampler *s, struct error *e)
{
    free_columns(s);
    size_t wanted = count_all(s);
    if (wanted > LINES_MAX_COLUMNS && (s->groups & GROUP_OTHER) != 0) {
        log_warning(
            "%zu columns do not fit into a line, which has at most %d: the group \"other\" is left out",
            wanted, LINES_MAX_COLUMNS);
        drop_other(s);
        wanted = count_all(s);
    }
    if (wanted > LINES_MAX_COLUMNS)
        return error_set(
            e, "%zu columns do not fit into a line, which has at most %d: select some with --groups", wanted,
            LINES_MAX_COLUMNS);
    json_t *taken = json_object();
    s->columns = calloc(wanted + 1, sizeof *s->columns);
    s->values = calloc(wanted + 1, sizeof *s->values);
    bool whole = taken && s->columns && s->values;
    for (size_t i = 0; whole && i < s->source_count; i++) {
        s->sources[i].renewed = true;
        for (size_t j = 0; whole && j < s->sources[i].columns.count; j++)
            if (s->sources[i].tracked[j].selected)
                whole = add_column(s, taken, &s->sources[i], j);
    }
    json_decref(taken);
    if (whole)
        return 0;
    free_columns(s);
    return error_set(e, "out of memory for %zu columns", wanted);
}

/* Of a source in one sample: the first counter that was reset, and the first that went back. */
struct notable {
    struct error reset, decreased; /* empty: none */
};

static bool is_counter(const struct source *source, size_t i)
{
    return source->raw[i] != LINES_NULL && source->columns.items[i].counter->kind != COUNTER_GAUGE;
}

static enum unwrap_step look_at(const struct source *source, size_t i, bool reopened)
{
    bool wraps32 = source->kind->wraps32 || source->columns.items[i].counter->kind == COUNTER_COUNT32;
    return unwrap_look(&source->tracked[i].unwrap, source->raw[i], wraps32, reopened);
}

/* A device resets its counters together: one that is lower by chance of a wrap was reset, too. */
static bool any_reset(const struct source *source)
{
    for (size_t i = 0; source->state == OPEN && i < source->columns.count; i++)
        if (source->raw[i] != source->before[i] && is_counter(source, i) &&
            look_at(source, i, false) == UNWRAP_RESET)
            return true;
    return false;
}

static int64_t next_value(struct source *source, size_t i, bool reopened, struct notable *notable)
{
    struct unwrap *u = &source->tracked[i].unwrap;
    const char *name = source->columns.items[i].name;
    int64_t raw = source->raw[i];
    if (source->state != OPEN || raw == LINES_NULL)
        return LINES_NULL;
    if (!is_counter(source, i))
        return raw;
    enum unwrap_step step = look_at(source, i, reopened);
    if (step == UNWRAP_RESET && notable->reset.text[0] == '\0')
        error_set(&notable->reset, "%s decreased from %lld to %lld: it continues from its last value", name,
                  (long long)u->raw, (long long)raw);
    if (step == UNWRAP_DECREASED && !u->held && notable->decreased.text[0] == '\0')
        error_set(&notable->decreased, "%s went back from %lld to %lld: it stays until it is beyond that",
                  name, (long long)u->raw, (long long)raw);
    return unwrap_next(u, raw, step);
}

/* The source's part of the row. Most counters do not change from one sample to the next: only those that
 * changed are processed. */
static void fill_source_values(struct sampler *s, struct source *source)
{
    struct notable notable;
    const struct tracked *tracked = source->tracked;
    int64_t *raw = source->raw, *before = source->before;
    notable.reset.text[0] = notable.decreased.text[0] = '\0';
    bool reopened = source->reopened || any_reset(source);
    for (size_t i = 0, count = source->columns.count; i < count; i++) {
        if (raw[i] == before[i] && !source->renewed)
            continue;
        before[i] = raw[i];
        if (tracked[i].selected)
            s->values[tracked[i].place] = next_value(source, i, reopened, &notable);
    }
    source->renewed = false;
    source->reopened = source->state != OPEN && source->reopened;
    if (notable.reset.text[0] != '\0')
        s->event(s->context, source->kind->name, "reset", notable.reset.text);
    if (notable.decreased.text[0] != '\0')
        s->event(s->context, source->kind->name, "decreased", notable.decreased.text);
}

/* Read every source. Returns false when one has changed its columns and was opened again. */
static bool read_all(struct sampler *s)
{
    bool whole = true;
    for (size_t i = 0; i < s->source_count; i++) {
        struct source *source = &s->sources[i];
        struct error why; /* filled when the source is gone */
        if (source->state != OPEN)
            continue;
        enum source_outcome outcome = source->kind->read(source->handle, source->raw, &why);
        if (outcome == SOURCE_GONE)
            lose(s, source, &why);
        if (outcome == SOURCE_CHANGED) {
            reopen_changed(s, source);
            whole = false;
        }
    }
    return whole;
}

bool sampler_take(struct sampler *s, struct sample *sample)
{
    bool changed = look_after(s), whole = false;
    /* A source that changes faster than it can be read keeps its old values for this time. */
    for (int tries = 0; !whole && tries < 4; tries++) {
        int64_t began_ns = clock_monotonic_ns();
        sample->time_ns = clock_realtime_ns();
        whole = read_all(s);
        sample->read_ns = clock_monotonic_ns() - began_ns;
        changed |= !whole;
    }
    struct error e;
    if (changed && lay_out(s, &e) == -1)
        log_error("%s", e.text);
    for (size_t i = 0; i < s->source_count && s->count > 0; i++)
        fill_source_values(s, &s->sources[i]);
    sample->values = s->values;
    return changed;
}

/* ---- creating and freeing */

static bool applies(const struct source_kind *kind, const struct target *target)
{
    if (kind->needs_netdev && target->netdev[0] == '\0')
        return false;
    if (kind == &source_nvml)
        return target->gpu >= 0;
    if (kind->counts_for && target->shared) /* a GPU is its NIC's own */
        return false;
    if (kind == &source_switch) /* few hosts are one */
        return sysfs_exists(target->root, "/sys/kernel/debug/virtual-connectx/switch");
    if (kind == &source_rdma)
        return target->rdma[0] != '\0' || target->netdev[0] != '\0';
    return true;
}

static bool is_named(const struct source_kind *kind, const struct target *target)
{
    return kind == &source_nvml ||
           (kind == &source_rdma && (target->rdma[0] != '\0' || target->optional_counters));
}

/* A source without requested columns is not read. */
static void open_first(struct sampler *s, struct source *source)
{
    if (open_source(s, source) == -1) {
        source->state = MISSING;
        source->retry_ns = clock_monotonic_ns() + RETRY_MISSING_NS;
    } else if (count_selected(source) == 0) {
        shut(source);
        source->state = UNUSED;
    }
}

static int open_all(struct sampler *s, struct error *e)
{
    size_t open = 0;
    for (size_t i = 0; source_kinds[i]; i++) {
        if (!applies(source_kinds[i], &s->target))
            continue;
        struct source *source = &s->sources[s->source_count++];
        source->kind = source_kinds[i];
        open_first(s, source);
        open += source->state == OPEN;
        if (source->state == MISSING && is_named(source->kind, &s->target))
            return error_set(e, "%s", source->why.text);
    }
    if (open == 0)
        return error_set(e, "none of the requested counters can be read on this host");
    return lay_out(s, e);
}

struct sampler *sampler_open(const struct target *target, uint32_t groups, sampler_event event, void *context,
                             struct error *e)
{
    struct sampler *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for the sampler");
        return NULL;
    }
    s->target = *target;
    s->groups = groups;
    s->event = event;
    s->context = context;
    if (target->netdev[0] != '\0')
        s->watch = watch_open(target->netdev);
    s->verify_ns = clock_monotonic_ns() + VERIFY_NS;
    if (open_all(s, e) == 0)
        return s;
    sampler_close(s);
    return NULL;
}

void sampler_close(struct sampler *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->source_count; i++) {
        shut(&s->sources[i]);
        column_set_free(&s->sources[i].columns);
        free(s->sources[i].tracked);
        free(s->sources[i].raw);
    }
    watch_close(s->watch);
    free_columns(s);
    free(s);
}

const struct column *sampler_columns(const struct sampler *s, size_t *count)
{
    *count = s->count;
    return s->columns;
}

const char *sampler_missing(const struct sampler *s, size_t i, const char **reason)
{
    for (size_t j = 0; j < s->source_count; j++) {
        const struct source *source = &s->sources[j];
        if (source->state != MISSING || i-- > 0)
            continue;
        *reason = source->why.text;
        return source->kind->name;
    }
    return NULL;
}
