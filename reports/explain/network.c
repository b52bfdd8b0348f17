#include "reports/explain/judge.h"

#include "lib/xalloc.h"
#include <math.h>
#include <string.h>

/* ---- ports and links */

char *judge_link_name(const struct seen *s, size_t port)
{
    size_t one = s->network.ports[port].node, other = network_behind(&s->network, port);
    return xasprintf("%s - %s", s->network.nodes[one < other ? one : other].name,
                     s->network.nodes[one < other ? other : one].name);
}

static const char *node_behind(const struct seen *s, size_t port)
{
    return s->network.nodes[network_behind(&s->network, port)].name;
}

void judge_add_rate(struct text *out, const char *before, double bps, const char *after)
{
    bool large = bps >= 1e8;
    text_add(out, "%s%.4g %s%s", before, bps / (large ? 1e9 : 1e6), large ? "Gb/s" : "Mb/s", after);
}

static size_t senders_through(struct seen *s, size_t port)
{
    size_t count = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        bool counts = flow->start_ns < flow->end_ns && seen_may_pass(s, flow, port);
        for (size_t k = 0; k < i && counts; k++)
            counts = strcmp(s->flows[k].from, flow->from) != 0 || !seen_may_pass(s, &s->flows[k], port);
        count += counts;
    }
    return count;
}

struct cause *judge_unsampled(const struct seen *s, struct causes *causes, enum cause_kind kind,
                              const char *name, const char *why)
{
    struct cause *cause = causes_get(causes, kind, name);
    if (cause)
        return cause;
    cause = causes_add(s, causes, kind, xstrdup(name), POSSIBLE);
    text_add(&cause->evidence, "%s\n", why);
    return cause;
}

/* ---- pauses */

static double paused_by(const struct seen *s, const struct roots *roots, const struct flow_seen *flow,
                        size_t root)
{
    double sum = 0;
    for (enum way k = 0; k < WAYS; k++)
        if (flow->stop[k] != SIZE_MAX)
            sum += flow->stopped[k] * roots_part(s, roots, &s->stops[flow->stop[k]], root);
    return sum;
}

size_t judge_port_beside(struct seen *s, size_t port, int priority, bool failed)
{
    const struct network *n = &s->network;
    size_t node = n->ports[port].node;
    for (size_t p = n->nodes[node].first; p != NETWORK_NONE; p = n->ports[p].next) {
        bool other = false;
        for (size_t i = 0; i < s->flow_count && p != port && !other; i++)
            other = s->flows[i].priority == priority && seen_may_pass(s, &s->flows[i], p) &&
                    seen_may_pass(s, &s->flows[i], port);
        if (other &&
            (!failed || seen_counter(s, seen_role(s, node), "port%u_link_discards", n->ports[p].number) > 0))
            return p;
    }
    return NETWORK_NONE;
}

/* What was judged of the port before; NULL: nothing, or not that several hosts send through it. */
static struct cause *find_judged(const struct causes *causes, size_t port, int priority)
{
    for (size_t i = 0; i < causes->count; i++) {
        struct cause *cause = &causes->items[i];
        if ((cause->kind == CAUSE_INCAST || cause->kind == CAUSE_UPLINK) && cause->port == port &&
            cause->priority == priority)
            return cause;
    }
    return NULL;
}

/* Some flows of the priority may pass any port: the result does not say between whom they are. */
static bool has_unplaced(const struct seen *s, int priority)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority == priority && !*s->flows[i].from)
            return true;
    return false;
}

static struct cause *judge_port(struct seen *s, struct causes *causes, size_t port, int priority,
                                bool measured)
{
    size_t failed = judge_port_beside(s, port, priority, true);
    if (failed != NETWORK_NONE) {
        char *link = judge_link_name(s, failed);
        struct cause *down = causes_get(causes, CAUSE_LINK_DOWN, link);
        if (!down) {
            down = causes_add(s, causes, CAUSE_LINK_DOWN, xstrdup(link), SURE);
            text_add(&down->evidence, "%s lost what it had for %s, and sends by %s what went there\n",
                     seen_role(s, s->network.ports[failed].node), link, s->network.ports[port].name);
        }
        free(link);
        return down;
    }
    bool to_host = s->network.nodes[network_behind(&s->network, port)].host;
    size_t senders = senders_through(s, port);
    if (senders < 2 && has_unplaced(s, priority))
        return judge_unsampled(s, causes, CAUSE_SWITCH, s->network.nodes[s->network.ports[port].node].name,
                               "the result does not say between which hosts flows of patterns are, as of "
                               "harness 0.1");
    enum cause_kind kind = senders < 2 ? CAUSE_SLOWER_LINK : to_host ? CAUSE_INCAST : CAUSE_UPLINK;
    char *culprit = kind == CAUSE_INCAST ? xstrdup(node_behind(s, port)) : judge_link_name(s, port);
    struct cause *cause = causes_get(causes, kind, culprit);
    if (cause) {
        free(culprit);
        return cause;
    }
    cause = causes_add(s, causes, kind, culprit, measured ? SURE : LIKELY);
    cause->port = port;
    cause->priority = priority;
    const struct network_port *at = &s->network.ports[port];
    double sent = 8 * seen_rate(s, seen_role(s, at->node), "port%u_tx_bytes", at->number);
    text_add(&cause->evidence, "%zu %s through %s, which carries", senders,
             senders == 1 ? "host sends" : "hosts send", at->name);
    judge_add_rate(&cause->evidence, " ", at->rate_bps, "");
    const struct stop *stop = seen_stop(s, port, priority);
    if (sent > 0)
        judge_add_rate(&cause->evidence, " and sent ", sent, " in the measure phase");
    if (stop && (double)stop->held_ns > MATTERS * (double)s->measure_ns)
        text_add(&cause->evidence, ", for %.1f %% of which it was itself paused",
                 100 * (double)stop->held_ns / (double)s->measure_ns);
    text_add(&cause->evidence, "\n");
    return cause;
}

/* The ring that the port is in. */
static struct cause *find_ring(const struct causes *causes, const char *port)
{
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].kind == CAUSE_DEADLOCK && strstr(causes->items[i].culprit, port))
            return &causes->items[i];
    return NULL;
}

/* The host at the other end of the link counts pauses that it sends, and sent none. */
static bool never_pauses(const struct seen *s, const struct root *root)
{
    const char *role = seen_role(s, network_behind(&s->network, root->port));
    return seen_counter(s, role, "tx_prio%d_pause", root->priority) == 0;
}

bool judge_has_flows(const struct seen *s, int priority)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority == priority)
            return true;
    return s->flow_count == 0;
}

void judge_roots(struct seen *s, struct roots *roots, struct causes *causes)
{
    for (size_t r = 0; r < roots->count; r++) {
        struct root *root = &roots->items[r];
        struct cause *cause;
        if (root->worst_ns < MATTERS * (double)s->measure_ns || !judge_has_flows(s, root->priority))
            continue;
        if (root->kind == ROOT_HOST && never_pauses(s, root)) {
            cause = judge_unsampled(
                s, causes, CAUSE_NETWORK, node_behind(s, root->port),
                "it sent no pauses itself: they come from something that the lab does not name");
        } else if (root->kind == ROOT_HOST) {
            cause = judge_host(s, causes, seen_role(s, network_behind(&s->network, root->port)),
                               root->priority, seen_stop(s, root->port, root->priority)->longest_ns);
            cause->port = root->port;
        } else if (root->kind == ROOT_PORT) {
            cause = judge_port(s, causes, root->port, root->priority, root->measured);
        } else if (root->kind == ROOT_RING) {
            const char *port = s->network.ports[root->port].name;
            cause = find_ring(causes, port);
            if (!cause)
                cause = causes_add(s, causes, CAUSE_DEADLOCK, xstrdup(port), POSSIBLE);
        } else {
            cause = judge_unsampled(s, causes, CAUSE_SWITCH, node_behind(s, root->port),
                                    "no port of its that was sampled is full, or kept from sending");
        }
        if (cause->port == NETWORK_NONE && root->kind != ROOT_RING) {
            cause->port = root->port;
            cause->priority = root->priority;
        }
        bool known = cause->from_ns <= cause->to_ns;
        cause->from_ns = known && cause->from_ns < root->first_ns ? cause->from_ns : root->first_ns;
        cause->to_ns = known && cause->to_ns > root->last_ns ? cause->to_ns : root->last_ns;
        for (size_t i = 0; i < s->flow_count; i++)
            cause_add_cost(cause, i, paused_by(s, roots, &s->flows[i], r));
        cause->worst = fmax(cause->worst, root->worst_ns / (double)s->measure_ns);
    }
}

/* ---- marks, and full lines without pauses */

/* The switch's port on the flow's way that marked most, or that is full. */
static size_t congested_port(struct seen *s, const struct flow_seen *flow)
{
    size_t found = NETWORK_NONE;
    double most = 0;
    for (size_t p = 0; p < s->network.port_count; p++) {
        const struct network_port *port = &s->network.ports[p];
        if (s->network.nodes[port->node].host || !seen_may_pass(s, flow, p))
            continue;
        double marks = seen_counter(s, seen_role(s, port->node), "port%u_ecn_marked", port->number);
        double weight = (isnan(marks) ? 0 : marks) + (seen_is_full(s, p, flow->priority) ? 1 : 0);
        if (weight > most) {
            most = weight;
            found = p;
        }
    }
    return found;
}

/* The last port on the way to the flow's receiver; NETWORK_NONE: unknown. */
static size_t last_port(const struct seen *s, const struct flow_seen *flow)
{
    const struct network *n = &s->network;
    size_t host = flow->to_node;
    return host != NETWORK_NONE && n->nodes[host].ports == 1 ? n->ports[n->nodes[host].first].peer
                                                             : NETWORK_NONE;
}

/* Does another host send to the same one at the same time? */
static bool shares_receiver(const struct seen *s, const struct flow_seen *flow)
{
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *other = &s->flows[i];
        if (strcmp(other->to, flow->to) == 0 && strcmp(other->from, flow->from) != 0 &&
            other->start_ns < flow->end_ns && flow->start_ns < other->end_ns)
            return true;
    }
    return false;
}

void judge_queues(struct seen *s, struct causes *causes)
{
    for (size_t i = 0; i < s->flow_count && !s->hosts_only; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double cost = flow->share[SHARE_RATE] + flow->share[SHARE_QUEUE];
        size_t port = cost > MATTERS ? congested_port(s, flow) : NETWORK_NONE;
        bool measured = port != NETWORK_NONE;
        if (!measured && cost > MATTERS && shares_receiver(s, flow))
            port = last_port(s, flow);
        struct cause *cause = find_judged(causes, port, flow->priority);
        if (!cause && port != NETWORK_NONE && senders_through(s, port) > 1)
            cause = judge_port(s, causes, port, flow->priority, measured);
        if (cause)
            cause_add_cost(cause, i, cost);
        else if (flow->share[SHARE_RATE] > MATTERS)
            cause_add_cost(judge_unsampled(s, causes, CAUSE_NETWORK, flow->from,
                                           "CNPs slow it, and no switch that marks was sampled"),
                           i, flow->share[SHARE_RATE]);
    }
}
