#include "reports/explain/causes.h"

#include "lib/clock.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the measure phase: pauses and losses that take less from every flow and port are no cause of anything.
 */
#define MATTERS 0.01
/* Of a flow's line: a sender that leaves less unused is not said to be slow. */
#define SENDER_MATTERS 0.15
/* A pause that lasts so long while nothing arrives, and for half of the time of all pauses, is not one of a
 * receiver that empties its buffer. */
#define STORM_NS (200 * NS_PER_US)

#define WATCHDOG   "lab.defaults.switch.watchdog={\"detect\": \"200us\", \"restore\": \"200us\"}"
#define DEEP       128 /* messages in flight: more are not asked for */
#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)
#define SLOWER     "DCQCN slows senders before pauses spread"

const struct cause_words cause_words[CAUSES] = {
    [CAUSE_DEADLOCK] = {"deadlock", "ports wait for each other in a ring: ", "",
                        "a PFC watchdog breaks rings", WATCHDOG, NULL, true},
    [CAUSE_LINK_DOWN] = {"link-down", "the link ", " went down", NULL, NULL, NULL, false},
    [CAUSE_LINK_DAMAGES] = {"link-damages", "the link ", " damages frames",
                            "selective repeat loses less by each", "settings.selective_repeat=true", NULL,
                            false},
    [CAUSE_HEADROOM] = {"headroom", "the headroom of ",
                        " is too short: with PFC on, it lost frames all the same", "more headroom",
                        "lab.defaults.switch.headroom=64KB", NULL, false},
    [CAUSE_NOT_LOSSLESS] = {"not-lossless", "", " is not lossless: what a switch has no room for is lost",
                            "PFC on the priority", "settings.pfc=", "pfc", false},
    [CAUSE_NO_RECEIVE] = {"no-receive", "", " had no receive posted for what arrived (RNR)",
                          "a receiver that posts more receives", NULL, NULL, false},
    [CAUSE_LOSS] = {"loss", "packets are lost or overtaken on the way to ", "", NULL, NULL, NULL, false},
    [CAUSE_STORM] = {"storm", "", " pauses its link for long times in which nothing arrives (a pause storm)",
                     "a PFC watchdog drops what such a port does not take", WATCHDOG, NULL, true},
    [CAUSE_SLOW_RECEIVER] = {"slow-receiver", "", " takes less than its line carries, and pauses its link",
                             SLOWER, "settings.ecn=", "ecn", true},
    [CAUSE_HOST_PAUSES] = {"host-pauses", "", " pauses its link", NULL, NULL, NULL, true},
    [CAUSE_INCAST] = {"incast", "more is sent to ", " than its line carries (an incast)", SLOWER,
                      "settings.ecn=", "ecn", true},
    [CAUSE_UPLINK] = {"uplink", "more is sent over ", " than it carries",
                      "adaptive routing takes other links as well", "lab.defaults.switch.routing=adaptive",
                      NULL, true},
    [CAUSE_SLOWER_LINK] = {"slower-link", "", " is slower than the sender's line", SLOWER,
                           "settings.ecn=", "ecn", true},
    [CAUSE_SWITCH] = {"network", "", " pauses, and nothing that was sampled tells why",
                      "samples of queues (the group queue) would tell where it begins", NULL, NULL, false},
    [CAUSE_NETWORK_TO] = {"network", "the network pauses or slows what goes to ", "",
                          "samples of switches would tell where it begins", NULL, NULL, false},
    [CAUSE_NETWORK] = {"network", "the network pauses or slows ", "",
                       "samples of switches would tell where it begins", NULL, NULL, false},
    [CAUSE_SENDER] = {"sender", "",
                      " sends less than its line carries, and nothing that was seen keeps it from sending",
                      "more messages in flight", "flows.*.depth=" TEXT_OF(DEEP), NULL, false},
};

/* ---- causes */

static struct cause *add_cause(const struct seen *s, struct causes *causes, enum cause_kind kind,
                               char *culprit, enum sureness sureness)
{
    if (causes->count == causes->capacity) {
        causes->capacity = causes->capacity ? 2 * causes->capacity : 16;
        causes->items = xreallocarray(causes->items, causes->capacity, sizeof *causes->items);
    }
    struct cause *cause = &causes->items[causes->count++];
    *cause = (struct cause){.kind = kind,
                            .sureness = sureness,
                            .culprit = culprit,
                            .port = NETWORK_NONE,
                            .priority = -1,
                            .from_ns = 0,
                            .to_ns = -1,
                            .cost_of = xcalloc(s->flow_count + 1, sizeof *cause->cost_of)};
    return cause;
}

static struct cause *find_cause(const struct causes *causes, enum cause_kind kind, const char *culprit)
{
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].kind == kind && strcmp(causes->items[i].culprit, culprit) == 0)
            return &causes->items[i];
    return NULL;
}

static void add_cost(struct cause *cause, size_t flow, double cost)
{
    cost = cost > 1 - cause->cost_of[flow] ? 1 - cause->cost_of[flow] : cost;
    cause->cost_of[flow] += cost;
    cause->cost += cost;
}

bool cause_feeds(struct seen *s, const struct cause *cause, const struct flow_seen *flow)
{
    if (cause->priority >= 0 && flow->priority != cause->priority)
        return false;
    if (cause->port != NETWORK_NONE)
        return seen_may_pass(s, flow, cause->port);
    return strcmp(flow->to, cause->culprit) == 0;
}

/* Both directions of a link have one name, with the node first that the network has first. */
static char *link_name(const struct seen *s, size_t port)
{
    size_t one = s->network.ports[port].node, other = network_behind(&s->network, port);
    return xasprintf("%s - %s", s->network.nodes[one < other ? one : other].name,
                     s->network.nodes[one < other ? other : one].name);
}

static const char *node_behind(const struct seen *s, size_t port)
{
    return s->network.nodes[network_behind(&s->network, port)].name;
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

/* ---- a host that pauses its link */

/* Between two samples the host's port was paused by it all the time, and nothing arrived: how long at most.
 */
static int64_t silence_ns(const struct seen *s, const char *host, int priority)
{
    const struct series *paused = seen_series(s, host, "tx_prio%d_pause_duration", priority);
    const struct series *bytes = seen_series(s, host, "rx_prio%d_bytes", priority);
    int64_t longest = 0, since = -1;
    for (size_t i = 1; paused && bytes && i < paused->count; i++) {
        int64_t passed_us = (paused->time_ns[i] - paused->time_ns[i - 1]) / NS_PER_US;
        bool silent = 10 * (paused->value[i] - paused->value[i - 1]) >= 9 * passed_us && passed_us > 0 &&
                      series_at(bytes, paused->time_ns[i]) <= series_at(bytes, paused->time_ns[i - 1]);
        since = silent && since < 0 ? paused->time_ns[i - 1] : silent ? since : -1;
        if (silent && paused->time_ns[i] - since > longest)
            longest = paused->time_ns[i] - since;
    }
    return longest;
}

/* The host's own receive buffers: the most that a sample saw in one; NAN: not sampled. */
static double fullest_buffer(const struct seen *s, const char *host)
{
    static const char *const names[] = {"bytes", "peak_bytes"};
    double most = NAN;
    for (int buffer = 0; buffer < 2 * PRIORITIES; buffer++) {
        const struct series *bytes = seen_series(s, host, "rx_buffer%d_%s", buffer / 2, names[buffer % 2]);
        for (size_t i = 0; bytes && i < bytes->count; i++)
            most = fmax(most, (double)bytes->value[i]);
    }
    return most;
}

/* " and sent 24.87 Gb/s in the measure phase", of lines that guests can fill " ... 1.99 Mb/s ...". */
static void add_rate(struct text *out, const char *before, double bps, const char *after)
{
    bool large = bps >= 1e8;
    text_add(out, "%s%.4g %s%s", before, bps / (large ? 1e9 : 1e6), large ? "Gb/s" : "Mb/s", after);
}

static struct cause *judge_host(const struct seen *s, struct causes *causes, const char *host, int priority,
                                int64_t longest_ns)
{
    int64_t silent_ns = silence_ns(s, host, priority);
    double buffer = fullest_buffer(s, host);
    double pauses = seen_counter(s, host, "tx_prio%d_pause", priority);
    double rate = seen_rate(s, host, "rx_prio%d_bytes", priority) * 8;
    bool sampled = seen_series(s, host, "tx_prio%d_pause_duration", priority) != NULL;
    double held_us = seen_counter(s, host, "tx_prio%d_pause_duration", priority);
    longest_ns = silent_ns > longest_ns ? silent_ns : longest_ns;
    bool storm = longest_ns >= STORM_NS && !((double)longest_ns < held_us * NS_PER_US / 2);
    enum cause_kind kind = storm && !(buffer > SEEN_SEVERAL_FRAMES) ? CAUSE_STORM : CAUSE_SLOW_RECEIVER;
    if (s->hosts_only && !sampled)
        kind = CAUSE_HOST_PAUSES;
    struct cause *cause = find_cause(causes, kind, host);
    if (!cause) {
        cause = add_cause(s, causes, kind, xstrdup(host), isnan(buffer) ? LIKELY : SURE);
        cause->priority = priority;
    } else if (cause->priority != priority) {
        cause->priority = -1;
    }
    text_add(&cause->evidence, "%s sent %.0f PFC frames of priority %d (tx_prio%d_pause)", host, pauses,
             priority, priority);
    if (storm)
        text_add(&cause->evidence, ", and nothing arrived there for %.0f us at a time",
                 (double)longest_ns / NS_PER_US);
    else if (rate > 0)
        add_rate(&cause->evidence, " and received ", rate, " meanwhile");
    if (buffer >= 0)
        text_add(&cause->evidence, "; its receive buffer held up to %.0f bytes", buffer);
    text_add(&cause->evidence, "\n");
    return cause;
}

/* Something at or behind `name` that was not sampled. */
static struct cause *judge_network(const struct seen *s, struct causes *causes, enum cause_kind kind,
                                   const char *name, const char *why)
{
    struct cause *cause = find_cause(causes, kind, name);
    if (cause)
        return cause;
    cause = add_cause(s, causes, kind, xstrdup(name), POSSIBLE);
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

/* A port that packets of the flows that pass this one may take as well; `failed`: whose link went down, so
 * that what is more than this one carries is what the other one does not. NETWORK_NONE: there is none. */
static size_t port_beside(struct seen *s, size_t port, int priority, bool failed)
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
    size_t failed = port_beside(s, port, priority, true);
    if (failed != NETWORK_NONE) {
        char *link = link_name(s, failed);
        struct cause *down = find_cause(causes, CAUSE_LINK_DOWN, link);
        if (!down) {
            down = add_cause(s, causes, CAUSE_LINK_DOWN, xstrdup(link), SURE);
            text_add(&down->evidence, "%s lost what it had for %s, and sends by %s what went there\n",
                     seen_role(s, s->network.ports[failed].node), link, s->network.ports[port].name);
        }
        free(link);
        return down;
    }
    bool to_host = s->network.nodes[network_behind(&s->network, port)].host;
    size_t senders = senders_through(s, port);
    if (senders < 2 && has_unplaced(s, priority))
        return judge_network(s, causes, CAUSE_SWITCH, s->network.nodes[s->network.ports[port].node].name,
                             "the result does not say between which hosts flows of patterns are, as of "
                             "harness 0.1");
    enum cause_kind kind = senders < 2 ? CAUSE_SLOWER_LINK : to_host ? CAUSE_INCAST : CAUSE_UPLINK;
    char *culprit = kind == CAUSE_INCAST ? xstrdup(node_behind(s, port)) : link_name(s, port);
    struct cause *cause = find_cause(causes, kind, culprit);
    if (cause) {
        free(culprit);
        return cause;
    }
    cause = add_cause(s, causes, kind, culprit, measured ? SURE : LIKELY);
    cause->port = port;
    cause->priority = priority;
    const struct network_port *at = &s->network.ports[port];
    double sent = 8 * seen_rate(s, seen_role(s, at->node), "port%u_tx_bytes", at->number);
    text_add(&cause->evidence, "%zu %s through %s, which carries", senders,
             senders == 1 ? "host sends" : "hosts send", at->name);
    add_rate(&cause->evidence, " ", at->rate_bps, "");
    const struct stop *stop = seen_stop(s, port, priority);
    if (sent > 0)
        add_rate(&cause->evidence, " and sent ", sent, " in the measure phase");
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

/* Priorities that share a buffer are paused together, also those that no flow has. */
static bool has_flows(const struct seen *s, int priority)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority == priority)
            return true;
    return s->flow_count == 0;
}

static void judge_roots(struct seen *s, struct roots *roots, struct causes *causes)
{
    for (size_t r = 0; r < roots->count; r++) {
        struct root *root = &roots->items[r];
        struct cause *cause;
        if (root->worst_ns < MATTERS * (double)s->measure_ns || !has_flows(s, root->priority))
            continue;
        if (root->kind == ROOT_HOST && never_pauses(s, root)) {
            cause = judge_network(
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
                cause = add_cause(s, causes, CAUSE_DEADLOCK, xstrdup(port), POSSIBLE);
        } else {
            cause = judge_network(s, causes, CAUSE_SWITCH, node_behind(s, root->port),
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
            add_cost(cause, i, paused_by(s, roots, &s->flows[i], r));
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

static void judge_queues(struct seen *s, struct causes *causes)
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
            add_cost(cause, i, cost);
        else if (flow->share[SHARE_RATE] > MATTERS)
            add_cost(judge_network(s, causes, CAUSE_NETWORK, flow->from,
                                   "CNPs slow it, and no switch that marks was sampled"),
                     i, flow->share[SHARE_RATE]);
    }
}

/* ---- losses */

static double loss_of(const struct flow_seen *flow)
{
    return flow->share[SHARE_RESENT] + flow->share[SHARE_LOSS];
}

static void charge_losses(struct seen *s, struct cause *cause)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (cause->port == NETWORK_NONE || seen_may_pass(s, &s->flows[i], cause->port) ||
            seen_may_pass(s, &s->flows[i], s->network.ports[cause->port].peer))
            add_cost(cause, i, loss_of(&s->flows[i]));
}

static void judge_link(struct seen *s, struct causes *causes, enum cause_kind kind, size_t port,
                       const char *counter, double count)
{
    const struct network_port *at = &s->network.ports[port];
    char *link = link_name(s, port);
    struct cause *cause = find_cause(causes, kind, link);
    if (!cause)
        cause = add_cause(s, causes, kind, xstrdup(link), SURE);
    free(link);
    cause->port = port;
    text_add(&cause->evidence, "%s counted %.0f (%s) at port %u\n", s->network.nodes[at->node].name, count,
             counter, at->number);
    if (!cause->losses_charged)
        charge_losses(s, cause);
    cause->losses_charged = true;
}

/* Did any port of the switch pause this priority? */
static bool switch_pauses(const struct seen *s, size_t node, int priority)
{
    for (size_t p = s->network.nodes[node].first; p != NETWORK_NONE; p = s->network.ports[p].next)
        if (seen_counter(s, seen_role(s, node), "port%u_tx_prio%d_pause", s->network.ports[p].number,
                         priority) > 0)
            return true;
    return false;
}

static void judge_buffer(struct seen *s, struct causes *causes, size_t node, double lost)
{
    const char *name = s->network.nodes[node].name;
    for (int priority = 0; priority < PRIORITIES; priority++) {
        double cost = 0;
        for (size_t i = 0; i < s->flow_count; i++)
            cost += s->flows[i].priority == priority ? loss_of(&s->flows[i]) : 0;
        if (cost <= 0)
            continue;
        bool pauses = switch_pauses(s, node, priority),
             on = seen_is_lossless(s, seen_role(s, node), priority), lossless = pauses || on;
        char *culprit = lossless ? xstrdup(name) : xasprintf("priority %d", priority);
        struct cause *cause =
            add_cause(s, causes, lossless ? CAUSE_HEADROOM : CAUSE_NOT_LOSSLESS, culprit, SURE);
        cause->priority = priority;
        text_add(&cause->evidence,
                 "%s lost %.0f packets for lack of buffer (buffer_discards), %s priority %d\n", name, lost,
                 pauses ? "though it paused"
                 : on   ? "and sent no pauses of"
                        : "and has no PFC on",
                 priority);
        for (size_t i = 0; i < s->flow_count; i++)
            if (s->flows[i].priority == priority)
                add_cost(cause, i, loss_of(&s->flows[i]));
    }
}

static void judge_losses(struct seen *s, struct causes *causes)
{
    for (size_t p = 0; p < s->network.port_count; p++) {
        const struct network_port *port = &s->network.ports[p];
        const struct network_node *node = &s->network.nodes[port->node];
        double damaged = node->host
                             ? seen_counter(s, seen_role(s, port->node), "rx_crc_errors_phy")
                             : seen_counter(s, seen_role(s, port->node), "port%u_crc_errors", port->number);
        double down = node->host
                          ? seen_counter(s, seen_role(s, port->node), "link_down_events_phy")
                          : seen_counter(s, seen_role(s, port->node), "port%u_link_discards", port->number);
        if (s->hosts_only && !node->host)
            continue;
        if (damaged > 0)
            judge_link(s, causes, CAUSE_LINK_DAMAGES, p, "crc errors", damaged);
        if (down > 0)
            judge_link(s, causes, CAUSE_LINK_DOWN, p, node->host ? "link_down_events_phy" : "link_discards",
                       down);
    }
    for (size_t node = 0; node < s->network.node_count; node++) {
        double lost = seen_counter(s, seen_role(s, node), "buffer_discards");
        if (lost > 0)
            judge_buffer(s, causes, node, lost);
    }
}

/* ---- what hosts alone tell */

static bool is_charged(const struct causes *causes, size_t flow)
{
    for (size_t i = 0; i < causes->count; i++) {
        enum cause_kind kind = causes->items[i].kind;
        bool loses = kind == CAUSE_LINK_DOWN || kind == CAUSE_LINK_DAMAGES || kind == CAUSE_HEADROOM ||
                     kind == CAUSE_NOT_LOSSLESS || kind == CAUSE_DEADLOCK;
        if (loses && causes->items[i].cost_of[flow] > 0)
            return true;
    }
    return false;
}

/* In how many intervals between samples were losses noticed at either end? A link that went down loses at one
 * moment, a buffer that is too small again and again. */
static size_t moments_of_loss(const struct seen *s, const struct flow_seen *flow)
{
    const struct series *noticed[] = {seen_series(s, flow->to, "out_of_sequence"),
                                      seen_series(s, flow->from, "packet_seq_err")};
    size_t most = 0;
    for (size_t k = 0; k < 2; k++) {
        size_t count = 0;
        for (size_t i = 1; noticed[k] && i < noticed[k]->count; i++)
            count +=
                noticed[k]->value[i - 1] != LINES_NULL && noticed[k]->value[i] > noticed[k]->value[i - 1];
        most = count > most ? count : most;
    }
    return most;
}
#define AGAIN_AND_AGAIN 4

/* Does each switch on the flow's way count what it loses for lack of buffer? Then what was lost is counted.
 */
static bool counts_discards(struct seen *s, const struct flow_seen *flow)
{
    bool any = false;
    for (size_t p = 0; p < s->network.port_count; p++) {
        size_t node = s->network.ports[p].node;
        if (s->network.nodes[node].host || flow->from_node == NETWORK_NONE || !seen_may_pass(s, flow, p))
            continue;
        if (isnan(seen_counter(s, seen_role(s, node), "buffer_discards")))
            return false;
        any = true;
    }
    return any;
}

/* Does the flow's receiver count damaged frames? A simulated one has no counter where nothing can damage
 * them. */
static bool counts_damages(const struct seen *s, const struct flow_seen *flow)
{
    const json_t *group;
    size_t i;
    bool sampled = false;
    json_array_foreach(run_get(s->run, "scenario.sample.groups"), i, group) sampled |=
        strcmp(json_string_value(group) ? json_string_value(group) : "", "errors") == 0;
    return !isnan(seen_counter(s, flow->to, "rx_crc_errors_phy")) ||
           (sampled && json_is_true(run_get(s->run, "simulated")));
}

/* What was not sampled, and would tell of losses. */
static void add_unsampled(struct text *evidence, const char *flow, bool damaged, bool discards)
{
    text_add(evidence,
             "%s sent packets again, or stood still to its end (they or their acknowledgements were lost), "
             "and no counter that was sampled tells why",
             flow);
    if (damaged || discards)
        text_add(evidence, "; not sampled: %s%s%s",
                 damaged ? "damaged frames at its receiver (the group errors)" : "",
                 damaged && discards ? ", " : "", discards ? "what switches on its way lose (drops)" : "");
    text_add(evidence, "\n");
}

/* Losses that no counter of a link or buffer tells of. */
static void judge_other_losses(struct seen *s, struct causes *causes)
{
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double pauses = seen_counter(s, flow->from, "rx_prio%d_pause", flow->priority);
        double damaged = seen_counter(s, flow->to, "rx_crc_errors_phy");
        double down = seen_counter(s, flow->to, "link_down_events_phy") +
                      seen_counter(s, flow->from, "link_down_events_phy");
        if (loss_of(flow) <= MATTERS || damaged > 0 || down > 0 || is_charged(causes, i))
            continue;
        bool discards_known = counts_discards(s, flow), damages_known = counts_damages(s, flow);
        bool lossy = !discards_known && !seen_is_lossless(s, flow->from, flow->priority);
        bool small =
            !discards_known && pauses > 0 && damages_known && moments_of_loss(s, flow) >= AGAIN_AND_AGAIN;
        enum cause_kind kind = seen_counter(s, flow->to, "out_of_buffer") > 0 ? CAUSE_NO_RECEIVE
                               : lossy                                        ? CAUSE_NOT_LOSSLESS
                               : small                                        ? CAUSE_HEADROOM
                                                                              : CAUSE_LOSS;
        char *culprit = kind == CAUSE_NOT_LOSSLESS ? xasprintf("priority %d", flow->priority)
                        : kind == CAUSE_HEADROOM   ? xstrdup("a switch")
                                                   : xstrdup(flow->to);
        struct cause *cause = find_cause(causes, kind, culprit);
        if (!cause) {
            cause = add_cause(s, causes, kind, culprit, kind == CAUSE_NO_RECEIVE ? LIKELY : POSSIBLE);
            if (kind == CAUSE_NO_RECEIVE)
                text_add(&cause->evidence, "%s counted %.0f (out_of_buffer)\n", flow->to,
                         seen_counter(s, flow->to, "out_of_buffer"));
            else
                add_unsampled(&cause->evidence, flow->name, !damages_known, !discards_known);
        } else {
            free(culprit);
        }
        cause->priority = flow->priority;
        add_cost(cause, i, loss_of(flow));
    }
}

/* The host whose pauses stopped the flow: its receiver or, if that sends none, another one; NULL: none. */
static struct cause *host_that_pauses(const struct causes *causes, const struct flow_seen *flow)
{
    struct cause *host = NULL;
    for (size_t k = 0; k < causes->count; k++) {
        struct cause *cause = &causes->items[k];
        bool pauses = cause->kind == CAUSE_STORM || cause->kind == CAUSE_SLOW_RECEIVER ||
                      cause->kind == CAUSE_HOST_PAUSES;
        if (pauses && (cause->priority < 0 || cause->priority == flow->priority) &&
            (!host || strcmp(cause->culprit, flow->to) == 0))
            host = cause;
    }
    return host;
}

/* What several hosts send to this one, as a part of its line; 0: one alone does, or it is not known. */
static double received_of_several(const struct seen *s, const char *to)
{
    double sum = 0, line = seen_line_bps(s, to);
    const char *from = NULL;
    bool several = false;
    for (size_t i = 0; i < s->flow_count; i++) {
        if (strcmp(s->flows[i].to, to) != 0)
            continue;
        sum += s->flows[i].goodput_bps;
        several = several || (from && strcmp(s->flows[i].from, from) != 0);
        from = s->flows[i].from;
    }
    return several && line > 0 ? sum / line : 0;
}

/* Where what it gets is marked, DCQCN keeps a queue short, and its line not always full. */
static bool fills_receiver(const struct seen *s, const struct flow_seen *flow)
{
    double full = seen_counter(s, flow->to, "np_cnp_sent") > 0 ? SEEN_MARKED : SEEN_LOADED;
    return received_of_several(s, flow->to) > full;
}

/* What was taken from it on its way, as its host counts. */
static double slowed_by_network(const struct flow_seen *flow)
{
    return flow->share[SHARE_PAUSED] + flow->share[SHARE_RATE] + flow->share[SHARE_QUEUE];
}

/* Is another host slowed that sends to the flow's receiver? */
static bool is_slowed_with_others(const struct seen *s, const struct flow_seen *flow)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (strcmp(s->flows[i].to, flow->to) == 0 && strcmp(s->flows[i].from, flow->from) != 0 &&
            slowed_by_network(&s->flows[i]) > MATTERS)
            return true;
    return false;
}

/* The receiver whose line is full is why the flow was paused or slowed, as far as hosts tell. */
static void judge_congestion_of_hosts(struct seen *s, struct causes *causes)
{
    const char *any = NULL; /* a receiver that is full */
    for (size_t i = 0; i < s->flow_count && !any; i++)
        any = fills_receiver(s, &s->flows[i]) ? s->flows[i].to : NULL;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double paused = flow->share[SHARE_PAUSED], cost = slowed_by_network(flow);
        struct cause *host = paused > MATTERS ? host_that_pauses(causes, flow) : NULL;
        if (host)
            add_cost(host, i, paused);
        cost -= host ? paused : 0;
        if (cost <= MATTERS)
            continue;
        const char *full = fills_receiver(s, flow) ? flow->to : any;
        bool several = !full && is_slowed_with_others(s, flow);
        enum cause_kind kind = full ? CAUSE_INCAST : several ? CAUSE_NETWORK_TO : CAUSE_NETWORK;
        const char *culprit = full ? full : several ? flow->to : flow->from;
        struct cause *cause = find_cause(causes, kind, culprit);
        if (!cause) {
            cause = add_cause(s, causes, kind, xstrdup(culprit), full ? LIKELY : POSSIBLE);
            cause->priority = flow->priority;
            if (full)
                text_add(&cause->evidence,
                         "several hosts send to %s, together %.0f %% of what its line carries\n", culprit,
                         100 * received_of_several(s, culprit));
            else
                text_add(&cause->evidence,
                         "%s%s %s paused or slowed, and what hosts count does not tell why\n",
                         several ? "several hosts that send to " : "", culprit, several ? "are" : "is");
        }
        add_cost(cause, i, cost);
    }
}

static void judge_hosts(struct seen *s, struct causes *causes)
{
    const json_t *host;
    const char *role;
    json_object_foreach((json_t *)(uintptr_t)run_get(s->run, "hosts"), role, host)
    {
        for (int priority = 0; priority < PRIORITIES; priority++) {
            double held_us = seen_counter(s, role, "tx_prio%d_pause_duration", priority);
            if (!(held_us * NS_PER_US > MATTERS * (double)s->measure_ns) || !has_flows(s, priority))
                continue;
            struct cause *cause = judge_host(s, causes, role, priority, 0);
            double held = seen_rate(s, role, "tx_prio%d_pause_duration", priority) * NS_PER_US / NS_PER_S;
            cause->worst = fmax(cause->worst, held > 0 ? fmin(held, 1) : 0);
        }
    }
    judge_congestion_of_hosts(s, causes);
}

/* ---- senders, deadlocks */

static void judge_senders(struct seen *s, struct causes *causes)
{
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        if (flow->share[SHARE_SENDER] < SENDER_MATTERS)
            continue;
        struct cause *cause = find_cause(causes, CAUSE_SENDER, flow->from);
        if (!cause)
            cause = add_cause(s, causes, CAUSE_SENDER, xstrdup(flow->from), LIKELY);
        text_add(&cause->evidence, "%s has %.1f %% of its line, and leaves %.1f %% unused without a reason\n",
                 flow->name, 100 * flow->share[SHARE_DELIVERED], 100 * flow->share[SHARE_SENDER]);
        add_cost(cause, i, flow->share[SHARE_SENDER]);
    }
}

static void judge_deadlocks(struct seen *s, struct causes *causes)
{
    const json_t *deadlock;
    size_t i;
    json_array_foreach(run_get(s->run, "deadlocks"), i, deadlock)
    {
        struct text ring = {0};
        const json_t *port;
        size_t k;
        json_array_foreach(json_object_get(deadlock, "ports"), k, port)
            text_add(&ring, "%s%s", k ? " -> " : "", json_string_value(port));
        if (s->hosts_only || find_cause(causes, CAUSE_DEADLOCK, text_string(&ring))) {
            text_free(&ring);
            continue;
        }
        struct cause *cause = add_cause(s, causes, CAUSE_DEADLOCK, text_take(&ring), SURE);
        cause->priority = (int)json_integer_value(json_object_get(deadlock, "priority"));
        cause->from_ns = json_integer_value(json_object_get(deadlock, "since_ns")) - s->run->start_ns;
        cause->to_ns = s->measure_ns;
        text_add(&cause->evidence, "%s\n", run_member(deadlock, "text"));
        for (size_t f = 0; f < s->flow_count; f++)
            add_cost(cause, f, 1);
    }
}

static bool watchdog_drops(const struct seen *s)
{
    for (size_t node = 0; node < s->network.node_count; node++)
        if (seen_counter(s, seen_role(s, node), "watchdog_discards") > 0)
            return true;
    return false;
}

bool cause_is_helped(struct seen *s, const struct cause *cause)
{
    const struct cause_words *words = &cause_words[cause->kind];
    const json_t *flow;
    size_t i;
    bool helped = words->help != NULL;
    if (words->help && strcmp(words->help, SLOWER) == 0)
        helped = cause->worst > 0 && !(cause->priority >= 0 && seen_is_on(s, "ecn", cause->priority));
    if (cause->kind == CAUSE_NOT_LOSSLESS)
        helped = !seen_is_on(s, "pfc", cause->priority);
    if (words->set && strcmp(words->set, WATCHDOG) == 0)
        helped = !watchdog_drops(s);
    if (cause->kind == CAUSE_UPLINK)
        helped = port_beside(s, cause->port, cause->priority, false) != NETWORK_NONE;
    if (cause->kind != CAUSE_SENDER)
        return helped;
    json_array_foreach(run_get(s->run, "scenario.flows"), i,
                       flow) if (json_integer_value(json_object_get(flow, "depth")) >= DEEP) return false;
    return helped;
}

static int by_cost(const void *left, const void *right)
{
    const struct cause *a = left, *b = right;
    return a->cost > b->cost ? -1 : a->cost < b->cost;
}

/* Does a port that stood for long stand behind what is told of a line that is far from full? Packets for that
 * port fill the buffers, and what passes by them waits wherever it leaves. */
static bool is_aftermath(const struct seen *s, const struct cause *cause, const struct cause *first)
{
    bool of_line =
        cause->kind == CAUSE_INCAST || cause->kind == CAUSE_UPLINK || cause->kind == CAUSE_SLOWER_LINK;
    return (first->kind == CAUSE_STORM || first->kind == CAUSE_DEADLOCK) && of_line &&
           cause->port != NETWORK_NONE && seen_use(s, cause->port) < SEEN_FULL / 2;
}

static void free_cause(struct cause *cause)
{
    free(cause->culprit);
    free(cause->cost_of);
    text_free(&cause->evidence);
}

static void drop_aftermaths(const struct seen *s, struct causes *causes)
{
    size_t kept = 0;
    for (size_t i = 0; i < causes->count; i++) {
        if (is_aftermath(s, &causes->items[i], &causes->items[0]))
            free_cause(&causes->items[i]);
        else
            causes->items[kept++] = causes->items[i];
    }
    causes->count = kept;
}

void causes_find(struct seen *s, struct roots *roots, struct causes *causes)
{
    *causes = (struct causes){0};
    judge_deadlocks(s, causes);
    if (s->hosts_only) {
        judge_hosts(s, causes);
    } else {
        judge_roots(s, roots, causes);
        judge_queues(s, causes);
    }
    judge_losses(s, causes);
    judge_other_losses(s, causes);
    judge_senders(s, causes);
    if (causes->count)
        qsort(causes->items, causes->count, sizeof *causes->items, by_cost);
    drop_aftermaths(s, causes);
}

void causes_free(struct causes *causes)
{
    for (size_t i = 0; i < causes->count; i++)
        free_cause(&causes->items[i]);
    free(causes->items);
    *causes = (struct causes){0};
}
