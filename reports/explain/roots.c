#include "reports/explain/roots.h"

#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>

/* Of the time that a port stands, the part from which on it counts that another one stands as well. */
#define STANDS 0.03
/* Longer than any queue in a ring takes to empty itself. */
#define RING_NS 1000000

enum progress { UNSEEN, OPEN, DONE };

struct search {
    struct seen *seen;
    struct roots *roots;
    enum progress *progress;                     /* of each stop */
    enum load { UNKNOWN, NONE, FILLED } * loads; /* of each port, as far as it was looked for */
};

static size_t find_root(struct roots *roots, enum root_kind kind, size_t port, int priority, bool measured)
{
    for (size_t i = 0; i < roots->count; i++) {
        struct root *root = &roots->items[i];
        if (root->kind == kind && root->port == port && root->priority == priority)
            return i;
    }
    if (roots->count == roots->capacity) {
        roots->capacity = roots->capacity ? 2 * roots->capacity : 16;
        roots->items = xreallocarray(roots->items, roots->capacity, sizeof *roots->items);
    }
    roots->items[roots->count] = (struct root){
        .kind = kind, .port = port, .priority = priority, .first_ns = INT64_MAX, .measured = measured};
    return roots->count++;
}

static void add_part(struct search *x, size_t stop, size_t root, double share)
{
    struct part **parts = &x->roots->parts[stop];
    size_t *count = &x->roots->part_count[stop];
    for (size_t i = 0; i < *count; i++) {
        if ((*parts)[i].root == root) {
            (*parts)[i].share += share;
            return;
        }
    }
    *parts = xreallocarray(*parts, *count + 1, sizeof **parts);
    (*parts)[(*count)++] = (struct part){root, share};
}

/* A flow's packets, or its acknowledgements, which go the other way, pass the stopped port. */
struct passing {
    const struct flow_seen *flow;
    enum way way;
};

/* All that pass it, of its priority; the caller frees. `*any`: packets may, of flows whose ends are not in
 * the result. */
static struct passing *find_passing(struct search *x, const struct stop *stop, size_t *count, bool *any)
{
    struct passing *passing = xcalloc(2 * x->seen->flow_count + 1, sizeof *passing);
    *count = 0;
    *any = false;
    for (size_t i = 0; i < x->seen->flow_count; i++) {
        const struct flow_seen *flow = &x->seen->flows[i];
        if (flow->priority != stop->priority)
            continue;
        *any |= flow->from_node == NETWORK_NONE; /* a pattern's many flows */
        for (enum way way = WAY_MAY; way < WAYS; way += WAY_BACK_MAY - WAY_MAY)
            if (seen_passes(x->seen, flow, way, stop->port))
                passing[(*count)++] = (struct passing){flow, way};
    }
    return passing;
}

/* Do some of them go on by this port? *data: packets do, not acknowledgements alone. */
static bool leads_on(struct search *x, const struct passing *passing, size_t count, size_t port, bool *data)
{
    bool any = false;
    *data = false;
    for (size_t i = 0; i < count && !*data; i++) {
        bool passes = seen_passes(x->seen, passing[i].flow, passing[i].way, port);
        any |= passes;
        *data |= passes && passing[i].way == WAY_MAY;
    }
    return any;
}

/* The part of the stop's time in which frames waited at the port; NAN: nothing tells. */
static double backlog(const struct seen *s, size_t port, const struct stop *stop)
{
    double waiting = seen_backlog(s, port, stop->priority, stop);
    if (!isnan(waiting))
        return waiting;
    double use = seen_use(s, port, NULL);
    return isnan(use) ? NAN : use >= SEEN_FULL;
}

/* The part of what the port carries that left it from the stop's first pause to its last; NAN: not sampled.
 */
static double use_during(const struct seen *s, size_t port, const struct stop *stop)
{
    return seen_use_within(s, port, stop->spans[0].start_ns, stop->spans[stop->count - 1].end_ns);
}

/* The same by the flows that must leave there, of a switch that was not sampled: some come from several
 * hosts, and they fill the line. */
static bool is_filled(struct search *x, size_t port)
{
    struct seen *s = x->seen;
    const struct flow_seen *first = NULL;
    bool several = false;
    double sum = 0;
    for (size_t i = 0; i < s->flow_count && x->loads[port] == UNKNOWN; i++) {
        if (!seen_passes(s, &s->flows[i], WAY_MUST, port))
            continue;
        several |= first && s->flows[i].from_node != first->from_node;
        first = first ? first : &s->flows[i];
        sum += s->flows[i].goodput_bps;
    }
    if (x->loads[port] == UNKNOWN)
        x->loads[port] = several && sum >= SEEN_LOADED * s->network.ports[port].rate_bps ? FILLED : NONE;
    return x->loads[port] == FILLED;
}

/* Do the lines of all hosts that send by this port together carry no more than it does? Then a queue stands
 * there for as long after a pause as they send at their whole rate. */
static bool never_overflows(struct seen *s, size_t port)
{
    double sum = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        bool counted = flow->from_node == NETWORK_NONE;
        if (counted)
            return false;
        for (size_t k = 0; k < i && !counted; k++)
            counted = s->flows[k].from_node == flow->from_node && seen_may_pass(s, &s->flows[k], port);
        double line = seen_line_bps(s, flow->from);
        if (!counted && seen_may_pass(s, flow, port))
            sum += line > 0 ? line : INFINITY;
    }
    return sum <= s->network.ports[port].rate_bps;
}

static void resolve(struct search *x, size_t number);

static bool ends_stopped(const struct stop *stop)
{
    const struct span *last = &stop->spans[stop->count - 1];
    return last->lasts && last->end_ns - last->start_ns >= RING_NS;
}

/* A part of the stop is what the other one has for reasons. */
static void inherit(struct search *x, size_t number, size_t other, double share)
{
    resolve(x, other);
    if (x->progress[other] ==
        OPEN) { /* they wait for each other: for good only if both still do at the end */
        const struct stop *stop = &x->seen->stops[other];
        bool for_good = ends_stopped(stop) && ends_stopped(&x->seen->stops[number]);
        add_part(
            x, number,
            find_root(x->roots, for_good ? ROOT_RING : ROOT_SWITCH, stop->port, stop->priority, for_good),
            share);
        return;
    }
    for (size_t i = 0; i < x->roots->part_count[other]; i++)
        add_part(x, number, x->roots->parts[other][i].root, share * x->roots->parts[other][i].share);
}

/* The ports by which the switch that pauses sends on what comes from the stopped one. */
static void look_behind(struct search *x, size_t number)
{
    const struct stop *stop = &x->seen->stops[number];
    struct network *n = &x->seen->network;
    size_t node = network_behind(n, stop->port), unknown = 0, ways = 0, way = NETWORK_NONE;
    double *weights = xcalloc(n->nodes[node].ports, sizeof *weights), sum = 0;
    bool *idle = xcalloc(n->nodes[node].ports, sizeof *idle), busy = false;
    bool *data = xcalloc(n->nodes[node].ports, sizeof *data), fills = false; /* packets' ports, one stands */
    int64_t whole = stop_overlap(stop, stop);
    size_t k = 0, count;
    bool any;
    struct passing *passing = find_passing(x, stop, &count, &any);
    for (size_t port = n->nodes[node].first; port != NETWORK_NONE; port = n->ports[port].next, k++) {
        if (port == n->ports[stop->port].peer || !(leads_on(x, passing, count, port, &data[k]) || any))
            continue;
        const struct stop *next = seen_stop(x->seen, port, stop->priority);
        ways++;
        way = port;
        int64_t both = stop_overlap(stop, next);
        bool stands = (double)both > STANDS * (double)whole;
        weights[k] = stands ? (double)both / (double)whole : backlog(x->seen, port, stop);
        unknown += isnan(weights[k]);
        weights[k] = isnan(weights[k]) ? is_filled(x, port) : weights[k];
        double use = stands ? NAN : use_during(x->seen, port, stop);
        idle[k] = use < SEEN_LOADED;
        busy |= weights[k] > 0 && (stands || use >= SEEN_LOADED);
        data[k] |= any;
    }
    for (k = 0; k < n->nodes[node].ports;
         k++) { /* beside one that is full, one with short queues is not why */
        weights[k] = busy && idle[k] ? 0 : weights[k];
        fills |= data[k] && weights[k] > 0;
    }
    for (k = 0; k < n->nodes[node].ports; k++) { /* nor one of acknowledgements beside one of packets */
        weights[k] = fills && !data[k] ? 0 : weights[k];
        sum += weights[k];
    }
    k = 0;
    for (size_t port = n->nodes[node].first; sum > 0 && port != NETWORK_NONE;
         port = n->ports[port].next, k++) {
        const struct stop *next = seen_stop(x->seen, port, stop->priority);
        if (weights[k] <= 0)
            continue;
        int64_t both = stop_overlap(stop, next);
        if ((double)both > STANDS * (double)whole || (both > 0 && never_overflows(x->seen, port)))
            inherit(x, number, (size_t)(next - x->seen->stops), weights[k] / sum);
        else
            add_part(x, number, find_root(x->roots, ROOT_PORT, port, stop->priority, !unknown),
                     weights[k] / sum);
    }
    /* all that comes from there leaves by one port, whose queue was not sampled: the switch pauses for its
     * sake */
    bool only = ways == 1 && isnan(seen_backlog(x->seen, way, stop->priority, stop));
    if (sum <= 0 && only)
        add_part(x, number, find_root(x->roots, ROOT_PORT, way, stop->priority, false), 1);
    else if (sum <= 0)
        add_part(x, number, find_root(x->roots, ROOT_SWITCH, stop->port, stop->priority, false), 1);
    free(passing);
    free(weights);
    free(idle);
    free(data);
}

static void resolve(struct search *x, size_t number)
{
    const struct stop *stop = &x->seen->stops[number];
    if (x->progress[number] != UNSEEN)
        return;
    x->progress[number] = OPEN;
    if (x->seen->network.nodes[network_behind(&x->seen->network, stop->port)].host)
        add_part(x, number, find_root(x->roots, ROOT_HOST, stop->port, stop->priority, true), 1);
    else
        look_behind(x, number);
    x->progress[number] = DONE;
}

void roots_find(struct seen *s, struct roots *roots)
{
    *roots = (struct roots){.parts = xcalloc(s->stop_count + 1, sizeof *roots->parts),
                            .part_count = xcalloc(s->stop_count + 1, sizeof *roots->part_count)};
    struct search x = {s, roots, xcalloc(s->stop_count + 1, sizeof *x.progress),
                       xcalloc(s->network.port_count + 1, sizeof *x.loads)};
    for (size_t i = 0; i < s->stop_count; i++)
        resolve(&x, i);
    for (size_t i = 0; i < s->stop_count; i++) {
        const struct stop *stop = &s->stops[i];
        for (size_t k = 0; k < roots->part_count[i]; k++) {
            struct root *root = &roots->items[roots->parts[i][k].root];
            double part_ns = roots->parts[i][k].share * (double)stop->held_ns;
            root->worst_ns = fmax(root->worst_ns, part_ns);
            root->first_ns =
                stop->spans[0].start_ns < root->first_ns ? stop->spans[0].start_ns : root->first_ns;
            int64_t end_ns = stop->spans[stop->count - 1].end_ns;
            root->last_ns = end_ns > root->last_ns ? end_ns : root->last_ns;
        }
    }
    free(x.progress);
    free(x.loads);
}

void roots_free(struct seen *s, struct roots *roots)
{
    for (size_t i = 0; i < s->stop_count; i++)
        free(roots->parts[i]);
    free(roots->parts);
    free(roots->part_count);
    free(roots->items);
    *roots = (struct roots){0};
}

double roots_part(const struct seen *s, const struct roots *roots, const struct stop *stop, size_t root)
{
    size_t number = stop ? (size_t)(stop - s->stops) : 0;
    for (size_t i = 0; stop && i < roots->part_count[number]; i++)
        if (roots->parts[number][i].root == root)
            return roots->parts[number][i].share;
    return 0;
}
