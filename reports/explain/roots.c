#include "reports/explain/roots.h"

#include "lib/clock.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>

/* Longer than any queue in a ring takes to empty itself. */
#define RING_NS 1000000

enum progress { UNSEEN, OPEN, DONE };

struct search {
    struct seen *seen;
    struct roots *roots;
    enum progress *progress;                     /* of each stop */
    enum load { UNKNOWN, NONE, FILLED } * loads; /* of each port, as far as it was looked for */
    enum load *others;                           /* the same: FILLED where seen_has_others() */
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
    roots->items[roots->count] = (struct root){.kind = kind,
                                               .port = port,
                                               .priority = priority,
                                               .first_ns = INT64_MAX,
                                               .last_ns = INT64_MIN,
                                               .measured = measured};
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

/* A part of the stop, in these times, that is the root's. */
static void add_root(struct search *x, size_t number, enum root_kind kind, size_t port, bool measured,
                     double share, const struct stop *times)
{
    size_t which = find_root(x->roots, kind, port, x->seen->stops[number].priority, measured);
    struct root *root = &x->roots->items[which];
    add_part(x, number, which, share);
    if (!times->count)
        return;
    int64_t from_ns = times->spans[0].start_ns, to_ns = times->spans[times->count - 1].end_ns;
    root->first_ns = from_ns < root->first_ns ? from_ns : root->first_ns;
    root->last_ns = to_ns > root->last_ns ? to_ns : root->last_ns;
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

/* Do some of them go on by this port? *data: packets do, not acknowledgements alone. Those that have another
 * way do not, where others that have none are all that it sends. */
static bool leads_on(struct search *x, const struct passing *passing, size_t count, size_t port, bool *data)
{
    bool any = false, sure = false;
    *data = false;
    for (size_t i = 0; i < count && !sure; i++) {
        bool passes = seen_passes(x->seen, passing[i].flow, passing[i].way, port);
        any |= passes;
        *data |= passes && passing[i].way == WAY_MAY;
        sure |= passes && seen_passes(x->seen, passing[i].flow, passing[i].way - 1, port);
    }
    if (any && !sure && *data && x->others[port] == UNKNOWN)
        x->others[port] = seen_has_others(x->seen, port) ? FILLED : NONE;
    return any && (sure || !*data || x->others[port] == FILLED);
}

/* The part of the stop's time in which frames waited at the port though nothing kept it from sending; NAN:
 * nothing tells. */
static double backlog(const struct seen *s, size_t port, const struct stop *stop, const struct stop *own)
{
    double waiting = seen_backlog(s, port, stop->priority, stop, own);
    double use = seen_use(s, port, NULL) / (1 - (double)(own ? own->held_ns : 0) / (double)s->measure_ns);
    return !isnan(waiting) ? waiting : isnan(use) ? NAN : use >= SEEN_FULL;
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

/* Do the lines of all hosts that send by this port, of this priority, together carry no more than it does?
 * Then a queue stands there for as long after a pause as they send at their whole rate. */
static bool never_overflows(struct seen *s, size_t port, int priority)
{
    double sum = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        bool counted = flow->from_node == NETWORK_NONE;
        if (flow->priority != priority)
            continue;
        if (counted)
            return false;
        for (size_t k = 0; k < i && !counted; k++)
            counted = s->flows[k].priority == priority && s->flows[k].from_node == flow->from_node &&
                      seen_may_pass(s, &s->flows[k], port);
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
        add_root(x, number, for_good ? ROOT_RING : ROOT_SWITCH, stop->port, for_good, share, stop);
        return;
    }
    for (size_t i = 0; i < x->roots->part_count[other]; i++)
        add_part(x, number, x->roots->parts[other][i].root, share * x->roots->parts[other][i].share);
}

/* A port by which the switch that pauses sends on what comes from the stopped one. */
struct next {
    size_t port;
    const struct stop *stop;
    struct stop *longer; /* with the times in which what it held up goes */
    double stands;       /* the time in which it is kept from sending, too */
    double waits;        /* in the rest, the part in which frames wait there all the same */
    bool idle,
        data; /* it sends little while nothing keeps it; packets go there, not acknowledgements alone */
};

/* The part of what the port carries that left it while the other one stood and nothing kept it from sending;
 * NAN: not sampled. */
static double use_unheld(const struct seen *s, size_t port, const struct stop *stop, const struct stop *own)
{
    int64_t from = stop->spans[0].start_ns, to = stop->spans[stop->count - 1].end_ns;
    double held = to > from ? (double)stop_within(own, from, to) / (double)(to - from) : 0;
    return held < 1 ? seen_use_within(s, port, from, to) / (1 - held) : NAN;
}

/* The stop with what it leaves: what gathered in the queue while it lasted takes its time to go, at most as
 * long again. The caller frees its spans. NULL: there is none. */
static struct stop *with_backlog(const struct seen *s, const struct stop *stop)
{
    if (!stop)
        return NULL;
    const struct network_port *at = &s->network.ports[stop->port];
    const struct series *queue =
        seen_series(s, seen_role(s, at->node), "port%u_prio%d_queue_bytes", at->number, stop->priority);
    struct stop *longer = xcalloc(1, sizeof *longer);
    *longer = stop_without(stop, NULL);
    for (size_t i = 0; queue && i < longer->count; i++) {
        struct span *span = &longer->spans[i];
        double waits = series_at(queue, span->end_ns);
        double lasted_ns = (double)(span->end_ns - span->start_ns);
        double goes_ns = at->rate_bps > 0 ? fmax(0, waits) * 8 / at->rate_bps * NS_PER_S : lasted_ns;
        int64_t end_ns = span->end_ns + (int64_t)fmin(goes_ns, lasted_ns);
        bool last = i + 1 == longer->count || end_ns <= span[1].start_ns;
        span->end_ns = last ? end_ns : span[1].start_ns;
    }
    return longer;
}

static void free_next(struct next *next, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (next[k].longer)
            free(next[k].longer->spans);
        free(next[k].longer);
    }
    free(next);
}

/* The ports to which a stopped one may lead, and what is known of them; the caller frees. */
static struct next *find_next(struct search *x, const struct stop *stop, size_t *count)
{
    struct network *n = &x->seen->network;
    size_t node = network_behind(n, stop->port), passings;
    struct next *list = xcalloc(n->nodes[node].ports + 1, sizeof *list);
    bool any;
    struct passing *passing = find_passing(x, stop, &passings, &any);
    *count = 0;
    for (size_t port = n->nodes[node].first; port != NETWORK_NONE; port = n->ports[port].next) {
        struct next next = {.port = port, .stop = seen_stop(x->seen, port, stop->priority)};
        if (port == n->ports[stop->port].peer || !(leads_on(x, passing, passings, port, &next.data) || any))
            continue;
        next.data |= any;
        next.longer = with_backlog(x->seen, next.stop);
        next.stands = (double)stop_overlap(stop, next.longer);
        next.waits = backlog(x->seen, port, stop, next.stop);
        next.idle = use_unheld(x->seen, port, stop, next.stop) < SEEN_LOADED && !(next.waits >= SEEN_FULL);
        list[(*count)++] = next;
    }
    free(passing);
    return list;
}

/* The stop in the measure phase or, if it was not in that, in the whole run; the caller frees its spans. */
static struct stop find_measured(const struct seen *s, const struct stop *stop)
{
    struct span others[] = {{INT64_MIN, 0, false}, {s->measure_ns, INT64_MAX, false}};
    struct stop outside = {.spans = others, .count = 2};
    return stop_without(stop, stop->held_ns > 0 ? &outside : NULL);
}

/* The times of the stop in which none of these stands; the caller frees the spans. */
static struct stop find_rest(const struct stop *stop, const struct next *next, size_t count)
{
    struct stop rest = stop_without(stop, NULL);
    for (size_t k = 0; k < count; k++) {
        struct stop less = stop_without(&rest, next[k].stands > 0 ? next[k].longer : NULL);
        free(rest.spans);
        rest = less;
    }
    return rest;
}

/* At each time a port waits for those behind it that stand then or, if none does, for those whose queue does
 * not empty. */
static void look_behind(struct search *x, size_t number)
{
    const struct stop *all = &x->seen->stops[number];
    struct stop measured = find_measured(x->seen, all), *stop = &measured;
    size_t count, unknown = 0;
    struct next *next = find_next(x, stop, &count);
    bool only = count == 1 && isnan(seen_backlog(x->seen, next[0].port, stop->priority, stop, NULL));
    bool busy = false, fills = false;
    for (size_t k = 0; k < count; k++) {
        unknown += isnan(next[k].waits) && next[k].stands <= 0;
        next[k].waits = isnan(next[k].waits) ? is_filled(x, next[k].port) : next[k].waits;
        busy |= next[k].waits > 0 && !next[k].idle;
    }
    for (size_t k = 0; k < count; k++) { /* beside one that is full, one with short queues is not why */
        next[k].waits = busy && next[k].idle ? 0 : next[k].waits;
        fills |= next[k].data && next[k].stands + next[k].waits > 0;
    }
    double stand = 0, wait = 0, whole = (double)stop_overlap(stop, stop);
    for (size_t k = 0; k < count; k++) { /* nor one of acknowledgements beside one of packets */
        if (fills && !next[k].data)
            next[k].stands = next[k].waits = 0;
        stand += next[k].stands;
        wait += next[k].waits;
    }
    struct stop unheld = find_rest(stop, next, count), times = find_rest(all, next, count);
    double rest = stand <= 0 ? 1 : wait <= 0 ? 0 : (double)stop_overlap(&unheld, &unheld) / whole;
    for (size_t k = 0; k < count; k++) {
        double own = wait > 0 ? rest * next[k].waits / wait : 0,
               others = stand > 0 ? (1 - rest) * next[k].stands / stand : 0;
        bool for_it = next[k].stands > 0 && never_overflows(x->seen, next[k].port, stop->priority);
        if (others > 0 || (for_it && own > 0))
            inherit(x, number, (size_t)(next[k].stop - x->seen->stops), others + (for_it ? own : 0));
        if (own > 0 && !for_it)
            add_root(x, number, ROOT_PORT, next[k].port, !unknown, own, &times);
    }
    /* all that comes from there leaves by one port, whose queue was not sampled: the switch pauses for its
     * sake */
    if (stand + wait <= 0 && only)
        add_root(x, number, ROOT_PORT, next[0].port, false, 1, all);
    else if (stand + wait <= 0)
        add_root(x, number, ROOT_SWITCH, stop->port, false, 1, all);
    free(measured.spans);
    free(times.spans);
    free(unheld.spans);
    free_next(next, count);
}

/* Of what stops last longer than was asked: more than what samples and frames on the way differ by. */
#define LONGER 1.5

/* The part of the stop that lost PFC frames are the reason of: XON that did not come. */
static double lost_part(const struct seen *s, const struct stop *stop)
{
    struct lost_pauses lost;
    bool longer =
        seen_lost_pauses(s, stop->port, stop->priority, &lost) && lost.held_ns > LONGER * lost.asked_ns;
    return longer ? 1 - lost.asked_ns / lost.held_ns : 0;
}

static void resolve(struct search *x, size_t number)
{
    const struct stop *stop = &x->seen->stops[number];
    if (x->progress[number] != UNSEEN)
        return;
    x->progress[number] = OPEN;
    if (x->seen->network.nodes[network_behind(&x->seen->network, stop->port)].host)
        add_root(x, number, ROOT_HOST, stop->port, true, 1, stop);
    else
        look_behind(x, number);
    double lost = lost_part(x->seen, stop);
    for (size_t i = 0; i < x->roots->part_count[number]; i++)
        x->roots->parts[number][i].share *= 1 - lost;
    if (lost > 0)
        add_root(x, number, ROOT_LINK, stop->port, true, lost, stop);
    x->progress[number] = DONE;
}

void roots_find(struct seen *s, struct roots *roots)
{
    *roots = (struct roots){.parts = xcalloc(s->stop_count + 1, sizeof *roots->parts),
                            .part_count = xcalloc(s->stop_count + 1, sizeof *roots->part_count)};
    struct search x = {s, roots, xcalloc(s->stop_count + 1, sizeof *x.progress),
                       xcalloc(s->network.port_count + 1, sizeof *x.loads),
                       xcalloc(s->network.port_count + 1, sizeof *x.others)};
    for (size_t i = 0; i < s->stop_count; i++)
        resolve(&x, i);
    for (size_t i = 0; i < s->stop_count; i++) {
        const struct stop *stop = &s->stops[i];
        for (size_t k = 0; k < roots->part_count[i]; k++) {
            struct root *root = &roots->items[roots->parts[i][k].root];
            double part_ns = roots->parts[i][k].share * (double)stop->held_ns;
            root->worst_ns = fmax(root->worst_ns, part_ns);
        }
    }
    free(x.progress);
    free(x.loads);
    free(x.others);
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
