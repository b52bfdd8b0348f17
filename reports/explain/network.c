#include "reports/explain/judge.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the measure phase: a port that stands for longer may be full for that. */
#define STANDS 0.03
/* The same of a queue of a single sender: it is not only the beginning. */
#define STANDS_ALONE 0.3

/* ---- ports */

/* Roles whose flows leave by the port, with `acks` also those whose acknowledgements do, as keys. */
static json_t *senders_through(struct seen *s, size_t port, bool acks)
{
    json_t *senders = json_object();
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        bool runs = flow->start_ns < flow->end_ns;
        if (runs && seen_may_pass(s, flow, port))
            json_put(senders, flow->from, json_true());
        if (runs && acks && seen_passes(s, flow, WAY_BACK_MAY, port))
            json_put(senders, flow->to, json_true());
    }
    return senders;
}

/* Those that make the port carry more than it can: of a single one whose line is no faster than the port,
 * with those whose acknowledgements go there too. */
static json_t *find_load(struct seen *s, size_t port, bool *acks)
{
    json_t *senders = senders_through(s, port, false), *all;
    const char *only = json_object_iter_key(json_object_iter(senders));
    *acks = false;
    if (json_object_size(senders) != 1 || s->network.ports[port].rate_bps < seen_line_bps(s, only))
        return senders;
    all = senders_through(s, port, true);
    *acks = json_object_size(all) > 1;
    json_decref(senders);
    return all;
}

static size_t count_senders(struct seen *s, size_t port)
{
    bool acks;
    json_t *senders = find_load(s, port, &acks);
    size_t count = json_object_size(senders);
    json_decref(senders);
    return count;
}

/* "3 hosts have"; of hosts with several NICs "3 NICs of 2 hosts have". */
static void add_senders(const struct seen *s, const json_t *senders, struct text *out)
{
    json_t *names = json_object(), *each;
    const char *role;
    bool nics = false;
    json_object_foreach((json_t *)(uintptr_t)senders, role, each)
    {
        const char *machine = seen_machine(s, role);
        nics = nics || machine;
        json_put(names, machine ? machine : role, json_true());
    }
    size_t hosts = json_object_size(names), count = json_object_size(senders);
    if (nics)
        text_add(out, "%zu %s of %zu %s %s", count, count == 1 ? "NIC" : "NICs", hosts,
                 hosts == 1 ? "host" : "hosts", count == 1 ? "has" : "have");
    else
        text_add(out, "%zu %s", count, count == 1 ? "host has" : "hosts have");
    json_decref(names);
}

/* Something at or behind `name` that was not sampled. */
static struct cause *judge_unsampled(const struct seen *s, struct causes *causes, enum cause_kind kind,
                                     const char *name, const char *why)
{
    bool is_new;
    struct cause *cause = causes_get_or_add(s, causes, kind, name, POSSIBLE, &is_new);
    if (is_new)
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

/* What was judged of the port before: that more comes than it carries. NULL: nothing. */
static struct cause *find_judged(const struct causes *causes, size_t port, int priority)
{
    for (size_t i = 0; i < causes->count; i++) {
        struct cause *cause = &causes->items[i];
        bool of_port =
            cause->kind == CAUSE_INCAST || cause->kind == CAUSE_UPLINK || cause->kind == CAUSE_SLOWED_LINK;
        if (of_port && cause->port == port && cause->priority == priority)
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

/* Were the queues of the switch sampled? */
static bool samples_queues(const struct seen *s, size_t node, int priority)
{
    for (size_t p = s->network.nodes[node].first; p != NETWORK_NONE; p = s->network.ports[p].next)
        if (!seen_series(s, seen_role(s, node), "port%u_prio%d_queue_bytes", s->network.ports[p].number,
                         priority))
            return false;
    return true;
}

/* Lower priorities have less than this part of what the higher ones have, where these go first. */
#define STARVES 0.1

/* The ETS weight of a priority's traffic class; 0: it is strict. */
static int64_t weight_of(const json_t *ets, int priority, int *class)
{
    char name[] = "0";
    name[0] = (char)('0' + priority);
    const json_t *mapped = json_object_get(json_object_get(ets, "prio_to_tc"), name);
    *class = mapped ? (int)json_integer_value(mapped) : priority;
    const char *selection =
        json_string_value(json_array_get(json_object_get(ets, "selection"), (size_t) * class));
    return selection && strcmp(selection, "strict") == 0
               ? 0
               : json_integer_value(json_array_get(json_object_get(ets, "weights"), (size_t) * class));
}

/* Does the switch send all that waits of a priority before it sends what waits of the other one? Without
 * weights the higher priority goes first; else strict classes do, of these the higher one. */
static bool goes_first(const struct seen *s, const json_t *ets, int priority, int other)
{
    bool weighted = false, simulated = json_is_true(run_get(s->run, "simulated"));
    int class, other_class;
    for (int k = 0; k < PRIORITIES; k++)
        weighted |= weight_of(ets, k, &class) > 0;
    if (priority < 0 || priority >= PRIORITIES || other < 0 || other >= PRIORITIES || !weighted)
        return priority > other;
    int64_t weight = weight_of(ets, priority, &class), other_weight = weight_of(ets, other, &other_class);
    if (class == other_class)
        return simulated && priority > other;
    return !weight && (other_weight || class > other_class);
}

/* Do flows of priorities that go first take what this one lacks at the port: all that they ask for, at a port
 * that is full, or nearly all that passes? Adds a line if so; returns whether the port is full. */
static bool look_at_priorities(struct seen *s, size_t port, int priority, struct text *evidence)
{
    double first = 0, pleased = 0, own = 0;
    bool asks = false;
    const json_t *ets = json_object_get(
        json_object_get(json_object_get(s->settings, seen_role(s, s->network.ports[port].node)), "read_back"),
        "ets");
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        bool before = goes_first(s, ets, flow->priority, priority);
        if ((!before && flow->priority != priority) || !seen_passes(s, flow, WAY_MUST, port))
            continue;
        asks |= !before && !seen_takes_all(flow);
        own += before ? 0 : flow->result_bps;
        first += before ? flow->result_bps : 0;
        pleased += before && seen_takes_all(flow) ? flow->result_bps : 0;
    }
    bool full = seen_use(s, port, NULL) >= SEEN_FULL && pleased > own, starves = own < STARVES * first;
    if (!asks || !(full || starves))
        return false;
    text_add(evidence, "at %s flows of %s %d have", s->network.ports[port].name,
             ets ? "priorities that go before" : "higher priorities than", priority);
    judge_add_rate(evidence, " ", first, "");
    judge_add_rate(evidence, ", those of this one ", own, "");
    text_add(evidence, ": %s\n",
             ets ? "ETS serves strict classes first" : "without ETS the higher priority goes first");
    return full;
}

/* " in the measure phase", or when the flow ran in it. */
static void add_when(const struct seen *s, struct text *out, const struct flow_seen *during)
{
    if (seen_is_partial(s, during))
        text_add(out, " from %.3f to %.3f ms, when %s ran", (double)during->start_ns / NS_PER_MS,
                 (double)during->end_ns / NS_PER_MS, during->name);
    else
        text_add(out, " in the measure phase");
}

/* Do all packets of flows of several senders, or of the only one, pass the port? By equal paths those of
 * others may, which the result does not say: `*all`: there are none. */
static bool passes_certainly(struct seen *s, size_t port, bool *all)
{
    const char *first = NULL;
    bool several = false;
    *all = true;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        bool must = seen_passes(s, flow, WAY_MUST, port);
        *all &= must || !seen_may_pass(s, flow, port);
        several |= must && first && strcmp(first, flow->from) != 0;
        first = must ? flow->from : first;
    }
    return several || *all;
}

/* Does the port carry less than the line of the only one who sends there? Not one that is full at the same
 * rate. */
static bool carries_less(const struct seen *s, size_t port, const char *sender)
{
    double rate = s->network.ports[port].rate_bps;
    return !sender || !(rate >= seen_line_bps(s, sender)) || !(seen_use(s, port, NULL) >= SEEN_FULL);
}

/* More comes than the port carries, while the flow runs that feels most of it (NULL: in the measure phase).
 */
static struct cause *judge_port(struct seen *s, struct causes *causes, size_t port, int priority,
                                bool measured, const struct flow_seen *during)
{
    struct cause *slowed = judge_slowed(s, causes, port, priority);
    if (slowed)
        return slowed;
    size_t failed = judge_port_beside(s, port, priority, BESIDE_FAILED);
    if (failed != NETWORK_NONE) {
        struct cause *down = judge_link_down(s, causes, failed);
        struct text line = {0};
        text_add(&line, "%s sends by %s what went there\n", seen_role(s, s->network.ports[failed].node),
                 s->network.ports[port].name);
        cause_tell_once(down, &line);
        text_free(&line);
        return down;
    }
    bool to_host = s->network.nodes[network_behind(&s->network, port)].host;
    bool acks;
    json_t *senders = find_load(s, port, &acks);
    bool several = json_object_size(senders) > 1;
    if (!several && has_unplaced(s, priority)) {
        json_decref(senders);
        struct cause *cause =
            judge_unsampled(s, causes, CAUSE_SWITCH, s->network.nodes[s->network.ports[port].node].name,
                            "the result does not say between which hosts flows of patterns are: it has them "
                            "together, or is of harness 0.1");
        cause->helpless = true;
        return cause;
    }
    bool slower = !several && carries_less(s, port, json_object_iter_key(json_object_iter(senders)));
    struct text priorities = {0};
    bool starves = look_at_priorities(s, port, priority, &priorities);
    if (!several && !slower && !starves) {
        json_decref(senders);
        text_free(&priorities);
        struct cause *cause =
            judge_unsampled(s, causes, CAUSE_SWITCH, s->network.nodes[s->network.ports[port].node].name,
                            "a queue stands where one host sends, whose line is no faster");
        cause->helpless |= samples_queues(s, s->network.ports[port].node, priority);
        return cause;
    }
    enum cause_kind kind = slower     ? CAUSE_SLOWER_LINK
                           : !several ? CAUSE_PRIORITIES
                           : to_host  ? CAUSE_INCAST
                                      : CAUSE_UPLINK;
    char *culprit = kind == CAUSE_INCAST       ? xstrdup(seen_behind(s, port))
                    : kind == CAUSE_PRIORITIES ? xstrdup(s->network.ports[port].name)
                                               : judge_link_name(s, port);
    bool is_new;
    struct cause *cause = causes_get_or_add(s, causes, kind, culprit, measured ? SURE : LIKELY, &is_new);
    free(culprit);
    if (!is_new) {
        json_decref(senders);
        text_free(&priorities);
        return cause;
    }
    cause->port = port;
    cause->priority = priority;
    cause->starved = starves;
    const struct network_port *at = &s->network.ports[port];
    double sent = seen_use(s, port, during) * at->rate_bps;
    bool all;
    if (!passes_certainly(s, port, &all))
        cause->sureness = POSSIBLE;
    add_senders(s, senders, &cause->evidence);
    json_decref(senders);
    text_add(&cause->evidence, " flows%s %s %s (to %s), which carries", acks ? " or acknowledgements" : "",
             all ? "through" : "that may go through", at->name, seen_behind(s, port));
    judge_add_rate(&cause->evidence, " ", at->rate_bps, "");
    const struct stop *stop = seen_stop(s, port, priority);
    if (sent > 0) {
        judge_add_rate(&cause->evidence, " and sent ", sent, "");
        add_when(s, &cause->evidence, during);
        double stood = sent < SEEN_FULL * at->rate_bps ? seen_backlog(s, port, priority, NULL, NULL) : 0;
        if (stood > 0) /* full at times: of bursts */
            text_add(&cause->evidence, ", with a queue in %.0f %% of its samples", 100 * stood);
    }
    if (stop && (double)stop->held_ns > MATTERS * (double)s->measure_ns)
        text_add(&cause->evidence, ", for %.1f %% of which it was itself paused",
                 100 * (double)stop->held_ns / (double)s->measure_ns);
    text_add(&cause->evidence, "\n%s", text_string(&priorities));
    text_free(&priorities);
    return cause;
}

/* The ring that the port is in. */
static struct cause *find_ring(const struct causes *causes, const char *port)
{
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].kind == CAUSE_DEADLOCK && judge_is_in_ring(&causes->items[i], port))
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
        if (s->flows[i].priority == priority && seen_may_use(s, &s->flows[i], port))
            return true;
    return s->flow_count == 0;
}

static struct cause *find_of_root(struct seen *s, const struct root *root, struct causes *causes,
                                  const struct flow_seen *during)
{
    struct lost_pauses lost;
    if (root->kind == ROOT_LINK && seen_lost_pauses(s, root->port, root->priority, &lost))
        return judge_lost_pauses(s, causes, root->port, root->priority, &lost);
    if (root->kind == ROOT_HOST && never_pauses(s, root))
        return judge_unsampled(
            s, causes, CAUSE_NETWORK, seen_behind(s, root->port),
            "it sent no pauses itself: they come from something that the lab does not name");
    if (root->kind == ROOT_HOST) {
        struct cause *cause =
            judge_host(s, causes, seen_role(s, network_behind(&s->network, root->port)), root->priority,
                       seen_stop(s, root->port, root->priority)->longest_ns);
        cause->starved |= look_at_priorities(s, root->port, root->priority, &cause->evidence);
        cause->port = root->port;
        return cause;
    }
    if (root->kind == ROOT_PORT)
        return judge_port(s, causes, root->port, root->priority, root->measured, during);
    const char *port = s->network.ports[root->port].name;
    struct cause *ring = root->kind == ROOT_RING ? find_ring(causes, port) : NULL;
    if (root->kind == ROOT_RING)
        return ring ? ring : causes_add(s, causes, CAUSE_DEADLOCK, port, POSSIBLE);
    struct cause *cause = judge_unsampled(s, causes, CAUSE_SWITCH, seen_behind(s, root->port),
                                          "no port of its that was sampled is full, or kept from sending");
    cause->helpless |= samples_queues(s, network_behind(&s->network, root->port), root->priority);
    return cause;
}

/* The flow that the root took most from; NULL: none. */
static const struct flow_seen *most_paused(const struct seen *s, const struct roots *roots,
                                           const struct root *root)
{
    const struct flow_seen *flow = NULL;
    double most = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        double its = paused_by(s, roots, &s->flows[i], (size_t)(root - roots->items));
        flow = its > most ? &s->flows[i] : flow;
        most = fmax(most, its);
    }
    return flow;
}

/* The cause that the root is, which is judged when it is first needed. */
static struct cause *judge_root(struct seen *s, const struct roots *roots, struct root *root,
                                struct causes *causes)
{
    if (root->cause)
        return &causes->items[root->cause - 1];
    struct cause *cause = find_of_root(s, root, causes, most_paused(s, roots, root));
    root->cause = 1 + (size_t)(cause - causes->items);
    if (cause->port == NETWORK_NONE && root->kind != ROOT_RING) {
        cause->port = root->port;
        cause->priority = root->priority;
    }
    cause->worst = fmax(cause->worst, root->worst_ns / (double)s->measure_ns);
    if (cause->kind == CAUSE_LINK_DOWN || cause->kind == CAUSE_SLOWED_LINK) /* it has its own times */
        return cause;
    bool known = cause->from_ns <= cause->to_ns;
    cause->from_ns = known && cause->from_ns < root->first_ns ? cause->from_ns : root->first_ns;
    cause->to_ns = known && cause->to_ns > root->last_ns ? cause->to_ns : root->last_ns;
    return cause;
}

/* What the switch's watchdog did is a line of the cause: of the first switches. */
#define WATCHDOGS_TOLD 2

static void tell_watchdog(const struct seen *s, struct cause *cause, const char *role, bool drops)
{
    if (cause->watchdogs_told == WATCHDOGS_TOLD)
        return;
    struct text lines = {0};
    text_add(&lines, "the PFC watchdog of %s took pauses for storms:", role);
    judge_add_count(s, &lines, role, "watchdog_storms");
    text_add(&lines, drops ? "\nand dropped what waited:" : ", and went on in spite of them");
    if (drops)
        judge_add_count(s, &lines, role, "watchdog_discards");
    text_add(&lines, "\n");
    cause->watchdogs_told += cause_tell_once(cause, &lines);
    text_free(&lines);
}

/* The part of the stop that hosts are the reason of, which pause their links. */
static double hosts_part(const struct seen *s, const struct roots *roots, const struct stop *stop)
{
    double sum = 0;
    for (size_t k = 0; k < roots->count; k++)
        sum += roots->items[k].kind == ROOT_HOST ? roots_part(s, roots, stop, k) : 0;
    return sum;
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
    double hosts = hosts_part(s, roots, stop);
    for (size_t k = 0; k < roots->count; k++) {
        double part = roots_part(s, roots, stop, k);
        if (hosts > 0) /* a watchdog takes long pauses for a storm: a host's, not those of a full port */
            part = roots->items[k].kind == ROOT_HOST ? part / hosts : 0;
        if (part <= 0)
            continue;
        struct cause *cause = judge_root(s, roots, &roots->items[k], causes);
        tell_watchdog(s, cause, role, drops);
        cause->overridden |= drops;
        cause->losses_charged |= drops;
        for (size_t i = 0; i < s->flow_count && drops; i++)
            if (s->flows[i].priority == stop->priority && seen_may_pass(s, &s->flows[i], stop->port))
                cause_add_cost(cause, i, part * seen_lost(&s->flows[i]));
    }
}

/* Names the port whose pauses tell best what the root took from the flow that it took most from: others on
 * its way may stand for longer without being felt, as they carry more than is sent. */
static void tell_port(struct seen *s, const struct roots *roots, size_t root, struct cause *cause)
{
    const struct flow_seen *flow = most_paused(s, roots, &roots->items[root]);
    double took = flow ? paused_by(s, roots, flow, root) : 0, nearest = INFINITY;
    if (cause->told_port != NETWORK_NONE && took <= cause->told_took)
        return;
    for (size_t i = 0; i < s->stop_count; i++) {
        const struct stop *stop = &s->stops[i];
        double share = roots_part(s, roots, stop, root) * (double)stop->held_ns / (double)s->measure_ns;
        bool passed = !flow || seen_may_use(s, flow, stop->port);
        double distance = flow ? fabs(share - took) : 1 - share;
        if (share <= 0 || !passed || distance >= nearest)
            continue;
        nearest = distance;
        cause->told_port = stop->port;
        cause->told = share;
        cause->told_held = (double)stop->held_ns / (double)s->measure_ns;
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
        struct cause *cause = judge_root(s, roots, root, causes);
        bool has_all = cause->kind == CAUSE_DEADLOCK && cause->sureness == SURE; /* judge_deadlocks */
        for (size_t i = 0; i < s->flow_count && !has_all; i++)
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
        double marks = seen_marks(s, p, "total");
        double weight = (isnan(marks) ? 0 : marks) + (seen_is_full(s, p, flow) ? 1 : 0);
        if (weight > most) {
            most = weight;
            found = p;
        }
    }
    return found;
}

size_t judge_last_port(const struct seen *s, const struct flow_seen *flow)
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
static const struct stop *waits_itself(const struct seen *s, size_t port, const struct flow_seen *flow)
{
    const struct stop *stop = port != NETWORK_NONE ? seen_stop(s, port, flow->priority) : NULL;
    bool stands = stop && (double)stop_within(stop, flow->start_ns, flow->end_ns) >
                              STANDS * (double)(flow->end_ns - flow->start_ns);
    return stands && !(seen_use(s, port, flow) >= SEEN_FULL) ? stop : NULL;
}

/* Marks of a port that waits are of what it waits for. */
static void charge_roots(struct seen *s, struct roots *roots, struct causes *causes, const struct stop *stop,
                         size_t flow, double cost)
{
    const struct network_port *at = &s->network.ports[stop->port];
    const char *role = seen_role(s, at->node);
    char *counter = xasprintf("port%u_ecn_marked", at->number);
    bool marks = seen_marks(s, stop->port, "total") > 0;
    struct text line = {0};
    text_add(&line, "%s (to %s), which waits for it, marked packets:", at->name, seen_behind(s, stop->port));
    judge_add_count(s, &line, role, counter);
    text_add(&line, "\n");
    for (size_t k = 0; k < roots->count; k++) {
        double part = roots_part(s, roots, stop, k);
        if (part <= 0)
            continue;
        struct cause *cause = judge_root(s, roots, &roots->items[k], causes);
        cause_add_cost(cause, flow, part * cost);
        if (marks)
            cause_tell_once(cause, &line);
    }
    text_free(&line);
    free(counter);
}

/* The samples in which the port's queue was empty while the flow ran; `*all` of them. */
static size_t count_empty(const struct seen *s, size_t port, const struct flow_seen *during, size_t *all)
{
    const struct network_port *at = &s->network.ports[port];
    const struct series *queue =
        seen_series(s, seen_role(s, at->node), "port%u_prio%d_queue_bytes", at->number, during->priority);
    size_t empty = 0;
    *all = 0;
    for (size_t i = 0; queue && i < queue->count; i++) {
        bool within = queue->time_ns[i] >= during->start_ns && queue->time_ns[i] <= during->end_ns;
        *all += within;
        empty += within && queue->value[i] == 0;
    }
    return empty;
}

/* Of all marks: fewer in the measure phase are leftovers of what was before. */
#define MARKS_LEFT 0.02

/* How idle the port was while a flow ran. */
struct idleness {
    double idle;       /* of the time; 0: less than counts */
    double rate_bps;   /* that the port carries */
    size_t empty, all; /* samples of its queue */
    bool before;       /* nearly all that it marked it marked before the measure phase */
};

static struct idleness find_idleness(const struct seen *s, size_t port, const struct flow_seen *during)
{
    const struct network_port *at = &s->network.ports[port];
    struct idleness is = {.rate_bps = at->rate_bps};
    double time_ns = (double)(during->end_ns - during->start_ns), use = seen_use(s, port, during);
    double held =
        (double)stop_within(seen_stop(s, port, during->priority), during->start_ns, during->end_ns) / time_ns;
    is.empty = count_empty(s, port, during, &is.all);
    is.idle = 1 - held - use;
    if (is.all) { /* a queue that stands while the line has room: the line carries less than its rate */
        is.idle = fmin(is.idle, (double)is.empty / (double)is.all);
        is.rate_bps = fmin(is.rate_bps, use * is.rate_bps / (1 - held - is.idle));
    }
    is.idle = is.idle > 1 - SEEN_FULL ? is.idle : 0;
    double marks = seen_marks(s, port, "total"), now = seen_marks(s, port, "delta");
    is.before = marks > 0 && now < MARKS_LEFT * marks;
    return is;
}

/* What DCQCN took from the cause's flow, as its load. */
static double slowed_by(const struct seen *s, const struct cause *load, size_t flow)
{
    return seen_obeys_cnps(&s->flows[flow]) ? fmin(s->flows[flow].share[SHARE_RATE], load->cost_of[flow]) : 0;
}

static void tell_idle(const struct seen *s, struct cause *cause, const struct flow_seen *flow,
                      const struct idleness *is)
{
    const struct network_port *at = &s->network.ports[cause->port];
    double use = seen_use(s, cause->port, flow);
    text_add(&cause->evidence, "%s (to %s)", at->name, seen_behind(s, cause->port));
    if (!isnan(use))
        text_add(&cause->evidence, " sent %.0f %% of what it carries%s", 100 * use, is->all ? ", and" : "");
    if (is->all)
        text_add(&cause->evidence, " had an empty queue in %zu of %zu samples", is->empty, is->all);
    add_when(s, &cause->evidence, flow);
    text_add(&cause->evidence, "\n");
    if (is->before)
        text_add(
            &cause->evidence,
            "of the %.0f packets that it marked in the whole run %.0f were in the measure phase: DCQCN holds "
            "the senders down since before it\n",
            seen_marks(s, cause->port, "total"), seen_marks(s, cause->port, "delta"));
}

/* DCQCN holds the flow, and others, down at a port that is idle meanwhile. */
static struct cause *judge_dcqcn(const struct seen *s, struct causes *causes, size_t port,
                                 const struct flow_seen *flow, const struct idleness *is)
{
    const char *name = s->network.ports[port].name;
    bool is_new;
    struct cause *cause = causes_get_or_add(s, causes, CAUSE_DCQCN, name, is->empty ? SURE : LIKELY, &is_new);
    if (!is_new)
        return cause;
    cause->priority = flow->priority;
    cause->port = port;
    tell_idle(s, cause, flow, is);
    return cause;
}

/* Did all switches on the flow's way count what they marked? */
static bool counts_marks(struct seen *s, const struct flow_seen *flow)
{
    bool any = false;
    for (size_t p = 0; p < s->network.port_count; p++) {
        if (s->network.nodes[s->network.ports[p].node].host || !seen_passes(s, flow, WAY_MAY, p))
            continue;
        any = true;
        if (isnan(seen_marks(s, p, "total")))
            return false;
    }
    return any;
}

/* A rate that was lowered, for which no port that carries too much was found: for the receiver's own CNPs, or
 * it is not known. */
static void judge_lowered(struct seen *s, struct causes *causes, size_t i, size_t port)
{
    const struct flow_seen *flow = &s->flows[i];
    double cnps = seen_counter(s, flow->to, "np_cnp_sent"),
           marked = seen_counter(s, flow->to, "np_ecn_marked_roce_packets");
    double own = seen_counter(s, flow->to, "rx_prio%d_marked", flow->priority);
    size_t last = judge_last_port(s, flow);
    struct text why = {0};
    bool obeys = seen_obeys_cnps(flow);
    if (obeys && (own > 0 || cnps > marked) && last != NETWORK_NONE && seen_use(s, last, flow) < SEEN_FULL) {
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
    struct idleness is = obeys && port != NETWORK_NONE ? find_idleness(s, port, flow) : (struct idleness){0};
    if (is.idle > 0) {
        cause_add_cost(judge_dcqcn(s, causes, port, flow, &is), i, flow->share[SHARE_RATE]);
        return;
    }
    bool counted = counts_marks(s, flow);
    if (!obeys)
        text_add(&why, "%s (congestion_control) slows it, and no port on its way is full", flow->control);
    else if (port == NETWORK_NONE && counted)
        text_add(&why, "CNPs slow it, and no switch on its way marked a packet");
    else if (port == NETWORK_NONE)
        text_add(&why, "CNPs slow it, and no switch that marks was sampled");
    else
        text_add(&why, "CNPs slow it for marks of %s (to %s), which carries all that is sent there",
                 s->network.ports[port].name, seen_behind(s, port));
    struct cause *cause = judge_unsampled(s, causes, CAUSE_NETWORK, flow->from, text_string(&why));
    cause->helpless = counted;
    cause_add_cost(cause, i, flow->share[SHARE_RATE]);
    text_free(&why);
}

/* What DCQCN took from the cause's flows while their port was idle: not its load did. */
static void judge_idle(struct seen *s, struct causes *causes, size_t number)
{
    struct cause *load = &causes->items[number];
    size_t port = load->port, most = 0;
    double *wasted = xcalloc(s->flow_count + 1, sizeof *wasted);
    const struct flow_seen *last = NULL; /* whose time `is` is of */
    struct idleness is = {0};
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double its = slowed_by(s, load, i), slowed = 0;
        if (its <= 0)
            continue;
        if (!last || last->start_ns != flow->start_ns || last->end_ns != flow->end_ns ||
            last->priority != flow->priority)
            is = find_idleness(s, port, flow);
        last = flow;
        for (size_t k = 0; k < s->flow_count; k++)
            slowed += slowed_by(s, load, k) * s->flows[k].most_bps * seen_overlap(flow, &s->flows[k]);
        bool unknown = !is.all && load->kind == CAUSE_SLOWER_LINK;
        if (is.idle > 0 && !unknown)
            wasted[i] = its * (is.before ? 1 : fmin(1, is.idle * is.rate_bps / slowed));
        most = wasted[i] > wasted[most] ? i : most;
    }
    if (s->flow_count && wasted[most] > 0) {
        is = find_idleness(s, port, &s->flows[most]);
        struct cause *cause = judge_dcqcn(s, causes, port, &s->flows[most], &is);
        load = &causes->items[number];
        for (size_t i = 0; i < s->flow_count; i++) {
            cause_add_cost(cause, i, wasted[i]);
            load->cost_of[i] -= wasted[i];
            load->cost -= wasted[i];
        }
    }
    free(wasted);
}

/* Does it carry less than the flow's sender, who sends there alone? By its line, or by a queue that stands
 * though nothing pauses the port. */
static bool is_slower(const struct seen *s, const struct flow_seen *flow, size_t port)
{
    return s->network.ports[port].rate_bps < seen_line_bps(s, flow->from) ||
           seen_backlog(s, port, flow->priority, NULL, NULL) > STANDS_ALONE;
}

static void judge_queue(struct seen *s, struct roots *roots, struct causes *causes, size_t i, double cost)
{
    const struct flow_seen *flow = &s->flows[i];
    cost -= judge_buffered(s, causes, i);
    bool waits = flow->waits.port != NETWORK_NONE && flow->share[SHARE_QUEUE] > flow->share[SHARE_RATE];
    size_t found = cost <= MATTERS ? NETWORK_NONE : waits ? flow->waits.port : congested_port(s, flow);
    size_t port = found == NETWORK_NONE && cost > MATTERS && shares_receiver(s, flow)
                      ? judge_last_port(s, flow)
                      : found;
    const struct stop *stop = waits_itself(s, port, flow);
    struct cause *cause = stop ? NULL : find_judged(causes, port, flow->priority);
    if (!stop && !cause && port != NETWORK_NONE && (count_senders(s, port) > 1 || is_slower(s, flow, port)))
        cause = judge_port(s, causes, port, flow->priority,
                           found != NETWORK_NONE && seen_use(s, port, flow) >= SEEN_MARKED, flow);
    if (stop)
        charge_roots(s, roots, causes, stop, i, cost);
    else if (cause)
        cause_add_cost(cause, i, cost);
    else if (flow->share[SHARE_RATE] > MATTERS)
        judge_lowered(s, causes, i, found);
}

/* Flows are judged in the order of what queues took from them: what is said of a port is of the time of the
 * one that lost most there. */
void judge_queues(struct seen *s, struct roots *roots, struct causes *causes)
{
    double *cost_of = xcalloc(s->flow_count + 1, sizeof *cost_of);
    for (size_t i = 0; i < s->flow_count; i++)
        cost_of[i] = s->flows[i].share[SHARE_RATE] + s->flows[i].share[SHARE_QUEUE] - s->flows[i].slowed;
    size_t *order = seen_by_cost(s, cost_of);
    for (size_t k = 0; k < s->flow_count; k++)
        judge_queue(s, roots, causes, order[k], cost_of[order[k]]);
    free(order);
    free(cost_of);
    for (size_t k = 0, count = causes->count; k < count; k++) {
        enum cause_kind kind = causes->items[k].kind;
        if ((kind == CAUSE_INCAST || kind == CAUSE_UPLINK || kind == CAUSE_SLOWER_LINK) &&
            causes->items[k].port != NETWORK_NONE)
            judge_idle(s, causes, k);
    }
}
