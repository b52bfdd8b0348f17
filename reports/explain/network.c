#include "reports/explain/judge.h"

#include "lib/xalloc.h"
#include <math.h>
#include <string.h>

/* Of the measure phase: a port that stands for longer may be full for that. */
#define STANDS 0.03
/* The same of a queue of a single sender: it is not only the beginning. */
#define STANDS_ALONE 0.3

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

/* What was judged of the port before: that more comes than it carries. NULL: nothing. */
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

/* Lower priorities have less than this part of what the higher ones have, where these go first. */
#define STARVES 0.1

/* Do flows of higher priorities take what this one lacks at the port: all that they ask for, at a port that
 * is full, or nearly all that passes? */
static void look_at_priorities(struct seen *s, struct cause *cause, size_t port, int priority)
{
    double higher = 0, pleased = 0, own = 0;
    bool asks = false;
    const json_t *read_back =
        json_object_get(json_object_get(s->settings, seen_role(s, s->network.ports[port].node)), "read_back");
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        if (flow->priority < priority || !seen_passes(s, flow, WAY_MUST, port))
            continue;
        asks |= flow->priority == priority && !seen_takes_all(flow);
        own += flow->priority == priority ? flow->result_bps : 0;
        higher += flow->priority > priority ? flow->result_bps : 0;
        pleased += flow->priority > priority && seen_takes_all(flow) ? flow->result_bps : 0;
    }
    bool full = seen_use(s, port) >= SEEN_FULL && pleased > own, starves = own < STARVES * higher;
    if (!asks || json_object_get(read_back, "ets") || !(full || starves))
        return;
    cause->starved |= full;
    text_add(&cause->evidence, "at %s flows of higher priorities than %d have", s->network.ports[port].name,
             priority);
    judge_add_rate(&cause->evidence, " ", higher, "");
    judge_add_rate(&cause->evidence, ", those of this one ", own,
                   ": without ETS the higher priority goes first\n");
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
    text_add(&cause->evidence, "%zu %s flows through %s (to %s), which carries", senders,
             senders == 1 ? "host has" : "hosts have", at->name, node_behind(s, port));
    judge_add_rate(&cause->evidence, " ", at->rate_bps, "");
    const struct stop *stop = seen_stop(s, port, priority);
    if (sent > 0)
        judge_add_rate(&cause->evidence, " and sent ", sent, " in the measure phase");
    if (stop && (double)stop->held_ns > MATTERS * (double)s->measure_ns)
        text_add(&cause->evidence, ", for %.1f %% of which it was itself paused",
                 100 * (double)stop->held_ns / (double)s->measure_ns);
    text_add(&cause->evidence, "\n");
    look_at_priorities(s, cause, port, priority);
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

bool judge_has_flows(struct seen *s, size_t port, int priority)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority == priority &&
            (seen_may_pass(s, &s->flows[i], port) || seen_passes(s, &s->flows[i], WAY_BACK_MAY, port)))
            return true;
    return s->flow_count == 0;
}

static struct cause *find_of_root(struct seen *s, const struct root *root, struct causes *causes)
{
    if (root->kind == ROOT_HOST && never_pauses(s, root))
        return judge_unsampled(
            s, causes, CAUSE_NETWORK, node_behind(s, root->port),
            "it sent no pauses itself: they come from something that the lab does not name");
    if (root->kind == ROOT_HOST) {
        struct cause *cause =
            judge_host(s, causes, seen_role(s, network_behind(&s->network, root->port)), root->priority,
                       seen_stop(s, root->port, root->priority)->longest_ns);
        look_at_priorities(s, cause, root->port, root->priority);
        cause->port = root->port;
        return cause;
    }
    if (root->kind == ROOT_PORT)
        return judge_port(s, causes, root->port, root->priority, root->measured);
    const char *port = s->network.ports[root->port].name;
    struct cause *ring = root->kind == ROOT_RING ? find_ring(causes, port) : NULL;
    if (root->kind == ROOT_RING)
        return ring ? ring : causes_add(s, causes, CAUSE_DEADLOCK, xstrdup(port), POSSIBLE);
    return judge_unsampled(s, causes, CAUSE_SWITCH, node_behind(s, root->port),
                           "no port of its that was sampled is full, or kept from sending");
}

/* The cause that the root is, which is judged when it is first needed. */
static struct cause *judge_root(struct seen *s, struct root *root, struct causes *causes)
{
    if (root->cause)
        return &causes->items[root->cause - 1];
    struct cause *cause = find_of_root(s, root, causes);
    root->cause = 1 + (size_t)(cause - causes->items);
    if (cause->port == NETWORK_NONE && root->kind != ROOT_RING) {
        cause->port = root->port;
        cause->priority = root->priority;
    }
    bool known = cause->from_ns <= cause->to_ns;
    cause->from_ns = known && cause->from_ns < root->first_ns ? cause->from_ns : root->first_ns;
    cause->to_ns = known && cause->to_ns > root->last_ns ? cause->to_ns : root->last_ns;
    cause->worst = fmax(cause->worst, root->worst_ns / (double)s->measure_ns);
    return cause;
}

/* What the switch's watchdog did is a line of the cause: of the first switches. */
#define WATCHDOGS_TOLD 2

static void tell_watchdog(const struct seen *s, struct cause *cause, const char *role, bool drops)
{
    struct text line = {0};
    text_add(&line, "the PFC watchdog of %s took ", role);
    bool told = strstr(text_string(&cause->evidence), text_string(&line)) != NULL;
    text_free(&line);
    if (told || cause->watchdogs++ >= WATCHDOGS_TOLD)
        return;
    text_add(&cause->evidence, "the PFC watchdog of %s took pauses for storms:", role);
    judge_add_count(s, &cause->evidence, role, "watchdog_storms");
    text_add(&cause->evidence, drops ? "\nand dropped what waited:" : ", and went on in spite of them");
    if (drops)
        judge_add_count(s, &cause->evidence, role, "watchdog_discards");
    text_add(&cause->evidence, "\n");
}

/* The part of the stop that the root is the reason of, as the watchdog sees it, which takes only long pauses
 * for a storm: hosts that pause, if some do, rather than ports that carry too little. */
static double stormy_part(const struct seen *s, const struct roots *roots, const struct stop *stop,
                          size_t root)
{
    double hosts = 0, part = roots_part(s, roots, stop, root);
    for (size_t k = 0; k < roots->count; k++)
        hosts += roots->items[k].kind == ROOT_HOST ? roots_part(s, roots, stop, k) : 0;
    if (hosts <= 0)
        return part;
    return roots->items[root].kind == ROOT_HOST ? part / hosts : 0;
}

/* A switch's watchdog did not obey pauses at this port: what it dropped is charged to what pauses it. */
static void judge_watchdog(struct seen *s, struct roots *roots, struct causes *causes,
                           const struct stop *stop)
{
    const struct network_port *at = &s->network.ports[stop->port];
    const char *role = seen_role(s, at->node);
    bool drops = seen_counter(s, role, "watchdog_discards") > 0;
    if (s->network.nodes[at->node].host || !(seen_counter(s, role, "watchdog_storms") > 0) ||
        !judge_has_flows(s, stop->port, stop->priority) ||
        (drops && seen_counter(s, role, "port%u_discards", at->number) <= 0))
        return;
    for (size_t k = 0; k < roots->count; k++) {
        double part = stormy_part(s, roots, stop, k);
        if (part <= 0)
            continue;
        struct cause *cause = judge_root(s, &roots->items[k], causes);
        tell_watchdog(s, cause, role, drops);
        cause->overridden |= drops;
        cause->losses_charged |= drops;
        for (size_t i = 0; i < s->flow_count && drops; i++)
            if (s->flows[i].priority == stop->priority && seen_may_pass(s, &s->flows[i], stop->port))
                cause_add_cost(cause, i,
                               part * (s->flows[i].share[SHARE_RESENT] + s->flows[i].share[SHARE_LOSS]));
    }
}

/* Names the port whose pauses tell best what the root took from the flow that it took most from: others on
 * its way may stand for longer without being felt, as they carry more than is sent. */
static void tell_port(struct seen *s, const struct roots *roots, size_t root, struct cause *cause)
{
    const struct flow_seen *flow = NULL;
    double took = 0, nearest = INFINITY;
    for (size_t i = 0; i < s->flow_count; i++) {
        double its = paused_by(s, roots, &s->flows[i], root);
        flow = its > took ? &s->flows[i] : flow;
        took = fmax(took, its);
    }
    if (cause->told_port != NETWORK_NONE && took <= cause->told_took)
        return;
    for (size_t i = 0; i < s->stop_count; i++) {
        const struct stop *stop = &s->stops[i];
        double share = roots_part(s, roots, stop, root) * (double)stop->held_ns / (double)s->measure_ns;
        bool passed =
            !flow || seen_may_pass(s, flow, stop->port) || seen_passes(s, flow, WAY_BACK_MAY, stop->port);
        double distance = flow ? fabs(share - took) : 1 - share;
        if (share <= 0 || !passed || distance >= nearest)
            continue;
        nearest = distance;
        cause->told_port = stop->port;
        cause->told = share;
        cause->told_took = took;
    }
}

void judge_roots(struct seen *s, struct roots *roots, struct causes *causes)
{
    for (size_t r = 0; r < roots->count; r++) {
        struct root *root = &roots->items[r];
        bool feels = root->kind == ROOT_RING || judge_has_flows(s, root->port, root->priority);
        if (root->worst_ns < MATTERS * (double)s->measure_ns || !feels)
            continue;
        struct cause *cause = judge_root(s, root, causes);
        for (size_t i = 0; i < s->flow_count; i++)
            cause_add_cost(cause, i, paused_by(s, roots, &s->flows[i], r));
        tell_port(s, roots, r, cause);
    }
    for (size_t i = 0; i < s->stop_count; i++)
        judge_watchdog(s, roots, causes, &s->stops[i]);
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

/* What keeps the port from sending, if its queue stands for that: it carries less than it could. */
static const struct stop *waits_itself(const struct seen *s, size_t port, int priority)
{
    const struct stop *stop = port != NETWORK_NONE ? seen_stop(s, port, priority) : NULL;
    bool stands = stop && (double)stop->held_ns > STANDS * (double)s->measure_ns;
    return stands && !(seen_use(s, port) >= SEEN_FULL) ? stop : NULL;
}

/* Marks of a port that waits are of what it waits for. */
static void charge_roots(struct seen *s, struct roots *roots, struct causes *causes, const struct stop *stop,
                         size_t flow, double cost)
{
    const struct network_port *at = &s->network.ports[stop->port];
    for (size_t k = 0; k < roots->count; k++) {
        double part = roots_part(s, roots, stop, k);
        if (part <= 0)
            continue;
        struct cause *cause = judge_root(s, &roots->items[k], causes);
        cause_add_cost(cause, flow, part * cost);
        struct text line = {0}, counter = {0};
        text_add(&counter, "port%u_ecn_marked", at->number);
        text_add(&line, "%s (to %s), which waits for it, marked packets:", at->name,
                 node_behind(s, stop->port));
        judge_add_count(s, &line, seen_role(s, at->node), text_string(&counter));
        if (seen_counter(s, seen_role(s, at->node), "%s", text_string(&counter)) > 0 &&
            !strstr(text_string(&cause->evidence), text_string(&line)))
            text_add(&cause->evidence, "%s\n", text_string(&line));
        text_free(&line);
        text_free(&counter);
    }
}

/* CNPs for which no port that carries too much was found: the receiver's own, or it is not known. */
static void judge_cnps(struct seen *s, struct causes *causes, size_t i, size_t port)
{
    const struct flow_seen *flow = &s->flows[i];
    double cnps = seen_counter(s, flow->to, "np_cnp_sent"),
           marked = seen_counter(s, flow->to, "np_ecn_marked_roce_packets");
    double own = seen_counter(s, flow->to, "rx_prio%d_marked", flow->priority);
    size_t last = last_port(s, flow);
    struct text why = {0};
    if ((own > 0 || cnps > marked) && last != NETWORK_NONE && seen_use(s, last) < SEEN_FULL) {
        struct cause *cause = judge_receiver(s, causes, CAUSE_RECEIVER_MARKS, flow->to, flow->priority);
        if (!cause->evidence.length) {
            text_add(&cause->evidence, "%s sent CNPs:", flow->to);
            judge_add_count(s, &cause->evidence, flow->to, "np_cnp_sent");
            text_add(&cause->evidence, ", and packets came there with marks:");
            judge_add_count(s, &cause->evidence, flow->to, "np_ecn_marked_roce_packets");
            text_add(&cause->evidence, "\n");
        }
        cause_add_cost(cause, i, flow->share[SHARE_RATE]);
        return;
    }
    if (port == NETWORK_NONE)
        text_add(&why, "CNPs slow it, and no switch that marks was sampled");
    else
        text_add(&why, "CNPs slow it for marks of %s (to %s), which carries all that is sent there",
                 s->network.ports[port].name, node_behind(s, port));
    cause_add_cost(judge_unsampled(s, causes, CAUSE_NETWORK, flow->from, text_string(&why)), i,
                   flow->share[SHARE_RATE]);
    text_free(&why);
}

/* The samples of the measure phase in which the port's queue was empty; `*all` of them. */
static size_t count_empty(const struct seen *s, size_t port, int priority, size_t *all)
{
    const struct network_port *at = &s->network.ports[port];
    const struct series *queue =
        seen_series(s, seen_role(s, at->node), "port%u_prio%d_queue_bytes", at->number, priority);
    size_t empty = 0;
    *all = 0;
    for (size_t i = 0; queue && i < queue->count; i++) {
        bool within = queue->time_ns[i] >= 0 && queue->time_ns[i] <= s->measure_ns;
        *all += within;
        empty += within && queue->value[i] == 0;
    }
    return empty;
}

/* What DCQCN took from the cause's flows while their port was idle: not its load did. */
static void judge_idle(struct seen *s, struct causes *causes, size_t number)
{
    size_t port = causes->items[number].port, all;
    int priority = causes->items[number].priority;
    const struct stop *stop = seen_stop(s, port, priority);
    double held = stop ? (double)stop->held_ns / (double)s->measure_ns : 0, slowed = 0;
    size_t empty = count_empty(s, port, priority, &all);
    double use = seen_use(s, port), rate = s->network.ports[port].rate_bps;
    double idle = 1 - held - use;
    if (all) { /* a queue that stands while the line has room: the line carries less than its rate */
        idle = fmin(idle, (double)empty / (double)all);
        rate = fmin(rate, use * rate / (1 - held - idle));
    }
    for (size_t i = 0; i < s->flow_count; i++)
        slowed +=
            fmin(s->flows[i].share[SHARE_RATE], causes->items[number].cost_of[i]) * s->flows[i].most_bps;
    bool unknown = !all && causes->items[number].kind == CAUSE_SLOWER_LINK;
    if (!(idle > 1 - SEEN_FULL) || slowed <= 0 || unknown)
        return;
    struct cause *cause =
        causes_add(s, causes, CAUSE_DCQCN, xstrdup(s->network.ports[port].name), empty ? SURE : LIKELY);
    struct cause *load = &causes->items[number];
    cause->priority = priority;
    cause->port = port;
    text_add(&cause->evidence, "%s (to %s) sent %.0f %% of what it carries in the measure phase",
             s->network.ports[port].name, node_behind(s, port), 100 * seen_use(s, port));
    if (all)
        text_add(&cause->evidence, ", and its queue was empty in %zu of %zu samples", empty, all);
    text_add(&cause->evidence, "\n");
    for (size_t i = 0; i < s->flow_count; i++) {
        double its = fmin(s->flows[i].share[SHARE_RATE], load->cost_of[i]);
        double wasted = its * fmin(1, idle * rate / slowed);
        cause_add_cost(cause, i, wasted);
        load->cost_of[i] -= wasted;
        load->cost -= wasted;
    }
}

/* Does it carry less than the flow's sender, who sends there alone? By its line, or by a queue that stands
 * though nothing pauses the port. */
static bool is_slower(const struct seen *s, const struct flow_seen *flow, size_t port)
{
    return s->network.ports[port].rate_bps < seen_line_bps(s, flow->from) ||
           seen_backlog(s, port, flow->priority, NULL) > STANDS_ALONE;
}

void judge_queues(struct seen *s, struct roots *roots, struct causes *causes)
{
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double cost = flow->share[SHARE_RATE] + flow->share[SHARE_QUEUE];
        size_t found = cost > MATTERS ? congested_port(s, flow) : NETWORK_NONE;
        size_t port =
            found == NETWORK_NONE && cost > MATTERS && shares_receiver(s, flow) ? last_port(s, flow) : found;
        const struct stop *stop = waits_itself(s, port, flow->priority);
        struct cause *cause = stop ? NULL : find_judged(causes, port, flow->priority);
        if (!stop && !cause && port != NETWORK_NONE &&
            (senders_through(s, port) > 1 || is_slower(s, flow, port)))
            cause = judge_port(s, causes, port, flow->priority,
                               found != NETWORK_NONE && seen_use(s, port) >= SEEN_MARKED);
        if (stop)
            charge_roots(s, roots, causes, stop, i, cost);
        else if (cause)
            cause_add_cost(cause, i, cost);
        else if (flow->share[SHARE_RATE] > MATTERS)
            judge_cnps(s, causes, i, found);
    }
    for (size_t k = 0, count = causes->count; k < count; k++) {
        enum cause_kind kind = causes->items[k].kind;
        if ((kind == CAUSE_INCAST || kind == CAUSE_UPLINK || kind == CAUSE_SLOWER_LINK) &&
            causes->items[k].port != NETWORK_NONE)
            judge_idle(s, causes, k);
    }
}
