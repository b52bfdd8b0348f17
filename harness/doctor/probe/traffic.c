#include "harness/doctor/probe/traffic.h"

#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* Little beside what else uses the network, and some hundred messages: what a NIC counts of it is far more
 * than the few kilobytes of other programs. */
#define RATE_BPS      100000000
#define MESSAGE_BYTES 65536
#define DEPTH         4
/* An incast has 4 MiB of each sender under way, more than a switch buffers before it pauses or drops; on slow
 * lines, which take long for that, no more than the small traffic. */
#define INCAST_DEPTH  64
#define SLOW_LINE_BPS 1000000000

/* ---- groups of nodes: groups[i] is a node of the same group, or i itself, which then names the group */

static size_t group_of_node(const size_t *groups, size_t node)
{
    while (groups[node] != node)
        node = groups[node];
    return node;
}

/* "leaf0:3" is a port of leaf0. */
static long node_of(const struct lab *lab, const char *place)
{
    char *name = xstrndup(place, strcspn(place, ":"));
    long node = lab_node_index(lab, name);
    free(name);
    return node;
}

static void join_linked_nodes(const struct lab *lab, size_t *groups)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *names = link->between.items;
        long a = link->between.count == 2 ? node_of(lab, names[0]) : -1;
        long b = a >= 0 ? node_of(lab, names[1]) : -1;
        if (b >= 0)
            groups[group_of_node(groups, (size_t)a)] = group_of_node(groups, (size_t)b);
    }
}

/* The group of each node; the caller frees. */
static size_t *find_groups(const struct lab *lab)
{
    size_t count = lab_node_count(lab), *groups = xcalloc(count + 1, sizeof *groups);
    for (size_t i = 0; i < count; i++)
        groups[i] = lab->links.count ? i : 0;
    join_linked_nodes(lab, groups);
    return groups;
}

/* ---- ends: the hosts between which a probe sends */

struct end {
    const char *role; /* the lab's or the scenario's word */
    size_t host;      /* in the lab */
    size_t linked;    /* equal: links lead from one to the other; without links in the lab all are equal */
    size_t group;     /* equal: besides, they are NICs of one name, or of one place, of their machines */
};

/* NICs of one machine do not send to each other: a rail reaches those of its name. */
static bool of_one_rail(const struct lab *lab, size_t host, size_t other)
{
    const char *name = lab_nic_name(lab, host), *other_name = lab_nic_name(lab, other);
    return name && other_name ? strcmp(name, other_name) == 0
                              : host - lab_machine_first(lab, host) == other - lab_machine_first(lab, other);
}

static bool may_send(const struct lab *lab, long host)
{
    const struct lab_host *real = host >= 0 ? lab_host_at(lab, (size_t)host) : NULL;
    return host >= 0 && !(real && lab_forwards(real));
}

static const char *name_at(const struct cell *cell, const struct lab *lab, size_t i)
{
    return cell ? scenario_role(&cell->scenario, i) : i < lab->hosts.count ? lab_node_name(lab, i) : NULL;
}

/* The roles of the scenario that are hosts, or without a scenario (cell NULL) the lab's hosts, without those
 * that forward. The caller frees the array, which points into the cell or the lab. */
static struct end *list_ends(const struct cell *cell, const struct lab *lab, size_t *count)
{
    size_t most = cell ? cell->scenario.roles.count : lab->hosts.count;
    size_t *groups = find_groups(lab);
    struct end *ends = xcalloc(most + 1, sizeof *ends);
    const char *name;
    *count = 0;
    for (size_t i = 0; (name = name_at(cell, lab, i)); i++) {
        long host = cell ? lab_host_of(lab, name) : (long)i;
        if (!may_send(lab, host))
            continue;
        struct end *end = &ends[*count];
        *end =
            (struct end){.role = name, .host = (size_t)host, .linked = group_of_node(groups, (size_t)host)};
        while (end->group < *count && (ends[end->group].linked != end->linked ||
                                       !of_one_rail(lab, ends[end->group].host, end->host)))
            end->group++;
        ++*count;
    }
    free(groups);
    return ends;
}

/* ---- documents */

static json_t *quantity(enum unit unit, int64_t value)
{
    char written[40];
    return json_text(units_format(unit, value, written, sizeof written));
}

/* ---- what both kinds of traffic have */

/* Without a scenario a role is a host. */
static json_t *roles_of(const struct cell *cell, const json_t *flows)
{
    json_t *roles = json_array(), *used = json_object(), *flow;
    const char *role;
    size_t i;
    for (i = 0; cell && (role = scenario_role(&cell->scenario, i)); i++)
        if (lab_kind(&cell->lab)->simulated) /* settings may be those of switches */
            json_object_set_new(used, role, json_true());
    json_array_foreach(flows, i, flow)
    {
        json_put(used, json_string_value(json_object_get(flow, "from")), json_true());
        json_put(used, json_string_value(json_object_get(flow, "to")), json_true());
    }
    json_t *ignored;
    json_object_foreach(used, role, ignored)
    {
        json_array_append_new(roles, json_text(role));
    }
    json_decref(used);
    return roles;
}

/* Takes over the flows. */
static json_t *document_of(const struct cell *cell, const struct lab *lab, const char *name, json_t *flows)
{
    bool simulated = lab_kind(lab)->simulated;
    const json_t *from = simulated && cell ? cell->scenario_json : NULL;
    return json_make("{s:i,s:s,s:o,s:{s:s,s:s,s:s},s:O*,s:O*,s:o,s:{s:s,s:[s,s,s,s]}}", "schema", 1, "name",
                     name, "roles", roles_of(cell, flows), "phases", "warmup", "0s", "measure",
                     simulated ? "50ms" : "2s", "cooldown", simulated ? "1ms" : "200ms", "settings",
                     json_object_get(from, "settings"), "settings_of", json_object_get(from, "settings_of"),
                     "flows", flows, "sample", "every", simulated ? "1ms" : "100ms", "groups", "pfc", "ecn",
                     "throughput", "drops");
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Any flow of a scenario, made small, and by the harness's own traffic tool, which keeps the rate; it does
 * not depend on the tool which priority packets get. */
static json_t *small_flow(const struct scenario_flow *f, size_t number)
{
    char name[40];
    snprintf(name, sizeof name, "probe-%zu", number);
    json_t *flow = json_make(
        "{s:s,s:s,s:s,s:s,s:s,s:o,s:I,s:I,s:o}", "name", name, "from", f->from, "to", f->to, "op",
        flow_op_names[f->op], "memory", flow_memory_names[f->memory], "message",
        quantity(UNIT_BYTES, smaller(f->message_bytes, MESSAGE_BYTES)), "depth",
        (json_int_t)smaller(f->depth, DEPTH), "priority", (json_int_t)f->priority, "rate",
        quantity(UNIT_RATE_BPS, f->rate_bps == FIELD_UNSET ? RATE_BPS : smaller(f->rate_bps, RATE_BPS)));
    if (f->traffic_class != FIELD_UNSET)
        json_object_set_new(flow, "traffic_class", json_integer(f->traffic_class));
    return flow;
}

static json_t *plain_flow(const char *from, const char *to, size_t number)
{
    const struct scenario_flow flow = {.from = (char *)(uintptr_t)from,
                                       .to = (char *)(uintptr_t)to,
                                       .op = OP_WRITE,
                                       .memory = MEMORY_HOST,
                                       .message_bytes = MESSAGE_BYTES,
                                       .depth = DEPTH,
                                       .traffic_class = FIELD_UNSET,
                                       .rate_bps = FIELD_UNSET};
    return small_flow(&flow, number);
}

/* ---- small traffic */

static bool same_kind(const struct scenario_flow *a, const struct scenario_flow *b)
{
    return strcmp(a->from, b->from) == 0 && strcmp(a->to, b->to) == 0 && a->priority == b->priority &&
           a->traffic_class == b->traffic_class && (a->op == OP_READ) == (b->op == OP_READ);
}

/* Their packets are those of a run with the scenario's settings, by which a traffic class is chosen. */
static void add_small_flows(const struct scenario *scenario, json_t *list)
{
    const struct scenario_flow *flows = scenario->flows.items;
    for (size_t i = 0; i < scenario->flows.count; i++) {
        size_t k = 0;
        while (k < i && !same_kind(&flows[k], &flows[i]))
            k++;
        struct scenario_flow flow = flows[i];
        flow.traffic_class = flow_traffic_class(scenario, &flows[i]);
        if (k == i)
            json_array_append_new(list, small_flow(&flow, json_array_size(list)));
    }
}

/* A flow for each sender of a pattern. */
static void add_flows_of_pattern(const struct scenario_traffic *t, json_t *list)
{
    char *const *from = t->from.items, *const *to = t->to.count ? t->to.items : t->from.items;
    size_t receivers = t->to.count ? t->to.count : t->from.count;
    for (size_t i = 0; i < t->from.count; i++) {
        const struct scenario_flow flow = {.from = from[i],
                                           .to = to[(t->to.count ? i : i + 1) % receivers],
                                           .op = OP_WRITE,
                                           .memory = t->memory,
                                           .message_bytes = t->message_bytes,
                                           .depth = t->depth,
                                           .priority = t->priority,
                                           .traffic_class = FIELD_UNSET,
                                           .rate_bps = FIELD_UNSET};
        if (strcmp(flow.from, flow.to) != 0)
            json_array_append_new(list, small_flow(&flow, json_array_size(list)));
    }
}

/* In a lab of real hosts the plan has made flows of all patterns. */
static json_t *flows_of_scenario(const struct cell *cell)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    bool simulated = lab_kind(&cell->lab)->simulated;
    json_t *list = json_array();
    add_small_flows(&cell->scenario, list);
    for (size_t i = 0; simulated && i < cell->scenario.traffic.count; i++)
        add_flows_of_pattern(&traffic[i], list);
    return list;
}

/* The next end of the group after i, in a ring; i itself: it is alone. */
static size_t next_in_group(const struct end *ends, size_t count, size_t i)
{
    size_t k = (i + 1) % count;
    while (ends[k].group != ends[i].group)
        k = (k + 1) % count;
    return k;
}

/* With two hosts the way there is the other's way back. */
static json_t *flows_of_ends(const struct end *ends, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        size_t k = next_in_group(ends, count, i);
        if (k != i)
            json_array_append_new(list, plain_flow(ends[i].role, ends[k].role, json_array_size(list)));
        if (k != i && next_in_group(ends, count, k) != i)
            json_array_append_new(list, plain_flow(ends[k].role, ends[i].role, json_array_size(list)));
    }
    return list;
}

json_t *probe_small_traffic(const struct cell *cell, const struct lab *lab, struct error *e)
{
    size_t count;
    struct end *ends = list_ends(NULL, lab, &count);
    json_t *flows = cell ? flows_of_scenario(cell) : flows_of_ends(ends, count);
    free(ends);
    if (json_array_size(flows) > 0)
        return document_of(cell, lab, "probe", flows);
    json_decref(flows);
    if (cell)
        error_set(e, "the scenario has no flows");
    else
        error_set(e, "lab %s has no two hosts that its links join", lab->name);
    return NULL;
}

/* ---- incast */

/* The receiver of the first flow, if it is of the group; else the group's last end. */
static size_t receiver_of(const json_t *first, const struct end *ends, size_t count, size_t group)
{
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (ends[i].group != group)
            continue;
        if (strcmp(ends[i].role, json_string_value(json_object_get(first, "to"))) == 0)
            return i;
        last = i;
    }
    return last;
}

static bool has_slow_line(const struct lab *lab)
{
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        if (link->rate_bps > 0 && link->rate_bps < SLOW_LINE_BPS)
            return true;
    return false;
}

static json_t *fast_flow(const json_t *first, const struct lab *lab, const char *from, const char *to,
                         size_t number)
{
    json_t *flow = plain_flow(from, to, number), *class = json_object_get(first, "traffic_class");
    json_object_del(flow, "rate");
    json_object_set_new(flow, "depth", json_integer(has_slow_line(lab) ? DEPTH : INCAST_DEPTH));
    json_object_set(flow, "priority", json_object_get(first, "priority"));
    if (class)
        json_object_set(flow, "traffic_class", class);
    return flow;
}

static size_t group_size(const struct end *ends, size_t count, size_t group)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += ends[i].group == group;
    return size;
}

static json_t *incast_flows(const json_t *first, const struct lab *lab, const struct end *ends, size_t count)
{
    json_t *flows = json_array();
    size_t at = 0;
    while (at < count && group_size(ends, count, ends[at].group) < 3)
        at++;
    size_t to = at < count ? receiver_of(first, ends, count, ends[at].group) : 0;
    for (size_t i = at; i < count && json_array_size(flows) < 2; i++)
        if (ends[i].group == ends[at].group && i != to)
            json_array_append_new(flows,
                                  fast_flow(first, lab, ends[i].role, ends[to].role, json_array_size(flows)));
    return flows;
}

json_t *probe_incast_traffic(const struct cell *cell, const struct lab *lab, struct error *e)
{
    json_t *small = probe_small_traffic(cell, lab, e);
    size_t count;
    if (!small)
        return NULL;
    struct end *ends = list_ends(cell, lab, &count);
    json_t *flows = incast_flows(json_array_get(json_object_get(small, "flows"), 0), lab, ends, count);
    free(ends);
    json_decref(small);
    if (json_array_size(flows) == 2)
        return document_of(cell, lab, "probe-incast", flows);
    json_decref(flows);
    return json_null();
}
