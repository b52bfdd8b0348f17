#include "reports/explain/judge.h"

#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- losses */

/* May packets of the flow, or their acknowledgements, pass the switch? */
static bool passes_node(struct seen *s, const struct flow_seen *flow, size_t node)
{
    const struct network *n = &s->network;
    for (size_t p = n->nodes[node].first; p != NETWORK_NONE && !n->nodes[node].host; p = n->ports[p].next)
        if (seen_may_use(s, flow, p))
            return true;
    return false;
}

/* What a switch lost of what came in by a port, in the whole run, or as judge_count; NAN: that is not
 * counted. What was dropped because a link was down, or by a watchdog, is counted where it was to leave, and
 * the latter by no port of its own. */
static double lost_arriving(const struct seen *s, const char *role, unsigned port, bool whole)
{
    double all = seen_counter(s, role, "port%u_discards", port),
           leaving = seen_counter(s, role, "port%u_link_discards", port),
           delta = seen_delta(s, role, "port%u_discards", port);
    if (!whole && delta > 0) {
        all = delta;
        leaving = seen_delta(s, role, "port%u_link_discards", port);
    }
    return isnan(all) || seen_counter(s, role, "watchdog_discards") > 0
               ? NAN
               : fmax(0, all - (isnan(leaving) ? 0 : leaving));
}

/* What the switch lost of what came in by the ports that the flow may come by (`only`: by this one, if not
 * NETWORK_NONE); of one that does not count it by port, all. */
static double lost_on_way(struct seen *s, const struct flow_seen *flow, size_t node, size_t only)
{
    const struct network *n = &s->network;
    const char *role = seen_role(s, node);
    double sum = 0;
    if (n->nodes[node].host || !passes_node(s, flow, node))
        return 0;
    for (size_t p = n->nodes[node].first; p != NETWORK_NONE; p = n->ports[p].next) {
        double lost = lost_arriving(s, role, n->ports[p].number, false);
        if (isnan(lost))
            return judge_count(s, role, "buffer_discards", NULL);
        bool counts = only == NETWORK_NONE || only == p;
        sum += counts && seen_may_pass(s, flow, n->ports[p].peer) ? lost : 0;
    }
    return sum;
}

/* The part of what the flow lost for lack of room that was lost at this switch or, NETWORK_NONE, its
 * receiver; of what came to the switch by this port, if not NETWORK_NONE. */
static double part_lost_at(struct seen *s, const struct flow_seen *flow, size_t at, size_t port)
{
    double room = judge_count(s, flow->to, "rx_discards_phy", NULL), own = at == NETWORK_NONE ? room : 0;
    double all = room + judge_count(s, flow->to, "rx_crc_errors_phy", NULL);
    for (size_t node = 0; node < s->network.node_count; node++) {
        all += lost_on_way(s, flow, node, NETWORK_NONE);
        own += node == at ? lost_on_way(s, flow, node, port) : 0;
    }
    return all > 0 ? own / all : 0;
}

/* Frames that the port's link damaged or, as it was down, dropped. */
static double lost_on_link(const struct seen *s, size_t port)
{
    const struct network_port *at = &s->network.ports[port];
    return judge_damaged(s, port) +
           fmax(0, seen_counter(s, seen_role(s, at->node), "port%u_link_discards", at->number));
}

static bool uses_link(struct seen *s, const struct flow_seen *flow, size_t port)
{
    return seen_may_pass(s, flow, port) || seen_may_pass(s, flow, s->network.ports[port].peer);
}

/* What links lost: frames of each port, and the sum over those that each flow may take. */
struct link_losses {
    double *of_port, *of_flow;
};

static void count_link_losses(struct seen *s, struct link_losses *losses)
{
    losses->of_port = xcalloc(s->network.port_count + 1, sizeof *losses->of_port);
    losses->of_flow = xcalloc(s->flow_count + 1, sizeof *losses->of_flow);
    for (size_t p = 0; p < s->network.port_count; p++) {
        losses->of_port[p] = lost_on_link(s, p);
        for (size_t i = 0; i < s->flow_count && losses->of_port[p] > 0; i++)
            losses->of_flow[i] += uses_link(s, &s->flows[i], p) ? losses->of_port[p] : 0;
    }
}

/* Each link has the part of a flow's losses that it has of the frames; all, if none were counted. */
static void charge_losses(struct seen *s, struct cause *cause, const struct link_losses *losses)
{
    size_t port = cause->port;
    double own = losses->of_port[port] + losses->of_port[s->network.ports[port].peer];
    for (size_t i = 0; i < s->flow_count; i++)
        if (uses_link(s, &s->flows[i], port))
            cause_add_cost(cause, i, seen_lost(&s->flows[i]) * (own > 0 ? own / losses->of_flow[i] : 1));
}

static void judge_link(struct seen *s, struct causes *causes, enum cause_kind kind, size_t port,
                       const char *counter, double count, const struct link_losses *losses)
{
    const struct network_port *at = &s->network.ports[port];
    char *link = judge_link_name(s, port);
    struct cause *cause = kind == CAUSE_LINK_DOWN ? judge_link_down(s, causes, port)
                                                  : causes_get_or_add(s, causes, kind, link, SURE, NULL);
    free(link);
    cause->port = port;
    text_add(&cause->evidence, "%s counted %.0f (%s) at port %u in the whole run\n",
             s->network.nodes[at->node].name, count, counter, at->number);
    if (!cause->losses_charged)
        charge_losses(s, cause, losses);
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

/* Of the measure phase: a port that stood for longer is told of. */
#define PORT_PAUSED 0.1

/* A buffer fills also because what leaves it is paused. */
static void tell_paused_ports(struct seen *s, struct cause *cause, size_t node, int priority)
{
    for (size_t p = s->network.nodes[node].first; p != NETWORK_NONE; p = s->network.ports[p].next) {
        const struct stop *stop = seen_stop(s, p, priority);
        double held = stop ? (double)stop->held_ns / (double)s->measure_ns : 0;
        if (held > PORT_PAUSED && judge_has_flows(s, p, priority))
            text_add(&cause->evidence,
                     "its port %s (to %s) was under XOFF for %.1f %% of the measure phase\n",
                     s->network.ports[p].name, seen_behind(s, p), 100 * held);
    }
}

/* Has the simulated switch less headroom than a frame of the priority needs? Then frames are lost before one
 * makes it pause. */
static bool fits_no_frame(const struct seen *s, size_t node, int priority)
{
    const json_t *own = json_object_get(run_get(s->run, "lab.switches"), s->network.nodes[node].name),
                 *all = run_get(s->run, "lab.defaults.switch");
    int64_t headroom = seen_quantity(json_object_get(own, "headroom"),
                                     seen_quantity(json_object_get(all, "headroom"), INT64_MAX));
    double frame = 0;
    for (size_t i = 0; i < s->flow_count; i++)
        frame = s->flows[i].priority == priority ? fmax(frame, s->flows[i].payload) : frame;
    return (double)headroom < frame;
}

/* Frames for which the switch has no room though the priority is lossless there: why, by the pauses that the
 * port which they came by sent, and whether the other end of its link obeyed them. */
static enum cause_kind why_lost(const struct seen *s, size_t node, size_t port, int priority,
                                struct text *line)
{
    const struct network_port *at = &s->network.ports[port];
    size_t peer = network_behind(&s->network, port);
    double sent = seen_counter(s, seen_role(s, node), "port%u_tx_prio%d_pause", at->number, priority);
    bool off = seen_is_off(s, seen_role(s, peer), "pfc", priority);
    if (sent == 0) {
        text_add(line, "it sent no pauses to %s (port%u_tx_prio%d_pause)\n", seen_behind(s, port), at->number,
                 priority);
        return fits_no_frame(s, node, priority) ? CAUSE_HEADROOM : CAUSE_NOT_LOSSLESS;
    }
    if (!(sent > 0) || (!off && (!s->has_pauses || seen_stop(s, at->peer, priority))))
        return CAUSE_HEADROOM;
    text_add(line, "it sent %.0f pauses to %s (port%u_tx_prio%d_pause), which %s\n", sent,
             seen_behind(s, port), at->number, priority,
             off ? "has no PFC on the priority" : "went on sending");
    return CAUSE_DISOBEYS;
}

/* The losses of what came to the switch by this port, of which these are charged here; NETWORK_NONE: they are
 * not counted by port. Causes from `first` on are of the switch. */
static void judge_lost_by(struct seen *s, struct causes *causes, size_t first, size_t node, size_t port,
                          int priority, double charged)
{
    const char *name = s->network.nodes[node].name, *role = seen_role(s, node);
    bool pauses = switch_pauses(s, node, priority), on = seen_is_lossless(s, role, priority);
    bool lossless = pauses || on;
    struct text why = {0};
    enum cause_kind kind = !lossless              ? CAUSE_NOT_LOSSLESS
                           : port == NETWORK_NONE ? CAUSE_HEADROOM
                                                  : why_lost(s, node, port, priority, &why);
    char *culprit = !lossless                ? xasprintf("priority %d", priority)
                    : kind == CAUSE_HEADROOM ? xstrdup(name)
                    : kind == CAUSE_NOT_LOSSLESS
                        ? xasprintf("priority %d at %s", priority, s->network.ports[port].name)
                        : xstrdup(seen_role(s, network_behind(&s->network, port)));
    struct cause *cause = NULL;
    for (size_t i = first; i < causes->count; i++)
        if (causes->items[i].kind == kind && strcmp(causes->items[i].culprit, culprit) == 0 &&
            causes->items[i].priority == priority)
            cause = &causes->items[i];
    bool is_new = !cause;
    cause =
        cause ? cause
              : causes_add(s, causes, kind, culprit, lossless && kind == CAUSE_NOT_LOSSLESS ? LIKELY : SURE);
    free(culprit);
    cause->priority = priority;
    if (is_new)
        text_add(
            &cause->evidence,
            "%s lost %.0f packets for lack of buffer (buffer_discards) in the whole run, %s priority %d\n",
            name, seen_counter(s, role, "buffer_discards"),
            pauses ? "though it paused"
            : on   ? "and sent no pauses of"
                   : "and has no PFC on",
            priority);
    double lost = port == NETWORK_NONE ? NAN : lost_arriving(s, role, s->network.ports[port].number, true);
    double part = port == NETWORK_NONE ? 1 : charged / lost;
    if (port != NETWORK_NONE)
        text_add(&cause->evidence, "of them %.0f came from %s\n%s", lost, seen_behind(s, port),
                 text_string(&why));
    if (part < 1)
        text_add(&cause->evidence, "%.0f of these were lost while each PFC frame arrived there\n", charged);
    text_free(&why);
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority == priority && passes_node(s, &s->flows[i], node))
            cause_add_cost(cause, i,
                           part * part_lost_at(s, &s->flows[i], node, port) * seen_lost(&s->flows[i]));
    if (is_new)
        tell_paused_ports(s, cause, node, priority);
}

/* Whether its headroom is too short is told by what was lost while each PFC frame arrived. */
static void tell_headroom(struct text *out, double obeyed, double lost)
{
    if (isnan(obeyed))
        text_add(out,
                 ": its headroom is too short or it was not stopped in time, which a run whose links lose "
                 "nothing would tell\n");
    else if (obeyed < lost)
        text_add(out, ", %.0f of them when a PFC frame had not arrived%s\n", lost - obeyed,
                 obeyed > 0 ? "" : ": nothing says that its headroom is too short");
    else
        text_add(out, "\n");
}

/* What came to the switch by this port was lost for lack of room, and pauses did not arrive that the port
 * sent: its link has what is not charged to it yet, and the headroom what was lost while they did arrive. */
static void judge_unstopped(struct seen *s, struct causes *causes, size_t first, size_t node, size_t port,
                            int priority, const struct lost_pauses *pauses)
{
    double lost = lost_arriving(s, seen_role(s, node), s->network.ports[port].number, true),
           obeyed = fmin(lost, seen_lost_though_stopped(s, port, priority));
    struct cause *cause = judge_lost_pauses(s, causes, s->network.ports[port].peer, priority, pauses);
    text_add(&cause->evidence, "%s lost %.0f packets from %s for lack of buffer", s->network.nodes[node].name,
             lost, seen_behind(s, port));
    tell_headroom(&cause->evidence, obeyed, lost);
    for (size_t i = 0; i < s->flow_count; i++) {
        if (s->flows[i].priority != priority)
            continue;
        bool charged = cause->losses_charged && uses_link(s, &s->flows[i], port);
        double of_buffer = part_lost_at(s, &s->flows[i], node, port) * seen_lost(&s->flows[i]);
        cause_add_cost(cause, i, (charged ? 0 : of_buffer) - (obeyed > 0 ? of_buffer * obeyed / lost : 0));
    }
    cause->losses_charged = true;
    if (obeyed > 0)
        judge_lost_by(s, causes, first, node, port, priority, obeyed);
}

static void judge_buffer(struct seen *s, struct causes *causes, size_t node)
{
    const struct network *n = &s->network;
    size_t first = causes->count;
    bool measured = seen_delta(s, seen_role(s, node), "buffer_discards") > 0;
    for (int priority = 0; priority < PRIORITIES; priority++) {
        bool loses = false;
        for (size_t i = 0; i < s->flow_count && !loses; i++)
            loses = s->flows[i].priority == priority &&
                    (seen_lost(&s->flows[i]) > 0 || (measured && s->flows[i].resent_packets > 0)) &&
                    lost_on_way(s, &s->flows[i], node, NETWORK_NONE) > 0;
        for (size_t p = n->nodes[node].first; loses && p != NETWORK_NONE; p = n->ports[p].next) {
            double lost = lost_arriving(s, seen_role(s, node), n->ports[p].number, true);
            if (isnan(lost)) {
                judge_lost_by(s, causes, first, node, NETWORK_NONE, priority, NAN);
                break;
            }
            struct lost_pauses pauses;
            if (lost > 0 && seen_lost_pauses(s, n->ports[p].peer, priority, &pauses))
                judge_unstopped(s, causes, first, node, p, priority, &pauses);
            else if (lost > 0)
                judge_lost_by(s, causes, first, node, p, priority, lost);
        }
    }
}

/* Did the watchdog of the switch before the flow's receiver act? */
static bool watchdog_before(const struct seen *s, const struct flow_seen *flow)
{
    size_t last = judge_last_port(s, flow);
    return last != NETWORK_NONE &&
           seen_counter(s, seen_role(s, s->network.ports[last].node), "watchdog_storms") > 0;
}

void judge_receivers(struct seen *s, struct causes *causes)
{
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double lost = seen_counter(s, flow->to, "rx_discards_phy"),
               its = seen_counter(s, flow->to, "rx_prio%d_discards", flow->priority);
        if (seen_lost(flow) <= MATTERS || !(lost > 0) || its == 0)
            continue;
        struct cause *cause = judge_receiver(s, causes, CAUSE_RECEIVER_DROPS, flow->to, flow->priority);
        if (!cause->drops_told) {
            text_add(&cause->evidence, "%s lost packets for lack of room:", flow->to);
            judge_add_count(s, &cause->evidence, flow->to, "rx_discards_phy");
            double sent = seen_counter(s, flow->to, "tx_prio%d_pause", flow->priority);
            text_add(&cause->evidence, ", %s\n",
                     isnan(sent) ? "and does not count pauses of its priority"
                     : sent > 0  ? "though it sent pauses"
                                 : "and sent no pauses");
        }
        cause->drops_told = cause->losses_charged = true;
        cause->overridden |= watchdog_before(s, flow);
        cause_add_cost(cause, i, part_lost_at(s, flow, NETWORK_NONE, NETWORK_NONE) * seen_lost(flow));
    }
}

/* What a host that forwards loses, whose processor takes frames from its rings too slowly. */
#define FORWARDER_LOSSES "rx_out_of_buffer"

static void judge_forwarder(struct seen *s, struct causes *causes, size_t node)
{
    struct cause *cause = NULL;
    for (size_t i = 0; i < s->flow_count; i++) {
        if (seen_lost(&s->flows[i]) <= MATTERS || !passes_node(s, &s->flows[i], node))
            continue;
        if (!cause) {
            cause = causes_add(s, causes, CAUSE_RECEIVER_DROPS, seen_role(s, node), SURE);
            text_add(&cause->evidence, "%s lost packets for lack of room:", cause->culprit);
            judge_add_count(s, &cause->evidence, cause->culprit, FORWARDER_LOSSES);
            text_add(&cause->evidence, "\n");
            cause->losses_charged = cause->helpless = true;
        }
        cause_add_cost(cause, i, seen_lost(&s->flows[i]));
    }
}

void judge_losses(struct seen *s, struct causes *causes)
{
    struct link_losses losses;
    count_link_losses(s, &losses);
    for (size_t p = 0; p < s->network.port_count; p++) {
        const struct network_port *port = &s->network.ports[p];
        const struct network_node *node = &s->network.nodes[port->node];
        double damaged = judge_damaged(s, p);
        double down = node->host
                          ? seen_counter(s, seen_role(s, port->node), "link_down_events_phy")
                          : seen_counter(s, seen_role(s, port->node), "port%u_link_discards", port->number);
        if (s->hosts_only && !node->host)
            continue;
        if (damaged > 0)
            judge_link(s, causes, CAUSE_LINK_DAMAGES, p, "crc errors", damaged, &losses);
        if (down > 0)
            judge_link(s, causes, CAUSE_LINK_DOWN, p, node->host ? "link_down_events_phy" : "link_discards",
                       down, &losses);
    }
    for (size_t node = 0; node < s->network.node_count; node++) {
        if (seen_counter(s, seen_role(s, node), "buffer_discards") > 0)
            judge_buffer(s, causes, node);
        if (seen_counter(s, seen_role(s, node), FORWARDER_LOSSES) > 0)
            judge_forwarder(s, causes, node);
    }
    free(losses.of_port);
    free(losses.of_flow);
}

/* ---- losses that are not charged yet */

bool judge_loses(const struct cause *cause)
{
    return cause->kind == CAUSE_LINK_DOWN || cause->kind == CAUSE_LINK_DAMAGES ||
           cause->kind == CAUSE_HEADROOM || cause->kind == CAUSE_NOT_LOSSLESS ||
           cause->kind == CAUSE_DISOBEYS || cause->kind == CAUSE_DEADLOCK || cause->losses_charged;
}

static bool is_charged(const struct causes *causes, size_t flow)
{
    for (size_t i = 0; i < causes->count; i++)
        if (judge_loses(&causes->items[i]) && causes->items[i].cost_of[flow] > 0)
            return true;
    return false;
}

/* Packets that came to a switch whose links to their receiver are all down: which, if its ports count that.
 */
static void judge_routes(struct seen *s, struct causes *causes, size_t node)
{
    const struct network *n = &s->network;
    const char *role = seen_role(s, node);
    struct cause *cause = NULL;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        if (seen_lost(flow) <= MATTERS || !passes_node(s, flow, node) || is_charged(causes, i))
            continue;
        for (size_t p = n->nodes[node].first; p != NETWORK_NONE && !cause; p = n->ports[p].next)
            if (seen_counter(s, role, "port%u_link_down_events", n->ports[p].number) > 0) {
                cause = judge_link_down(s, causes, p);
            }
        cause = cause ? cause : causes_add(s, causes, CAUSE_NO_ROUTE, n->nodes[node].name, SURE);
        if (!cause->losses_charged) {
            text_add(&cause->evidence, "%s lost packets that it had no way for:", role);
            judge_add_count(s, &cause->evidence, role, "route_discards");
            text_add(&cause->evidence, "\n");
        }
        cause->losses_charged = true;
        cause_add_cost(cause, i, seen_lost(flow));
    }
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
        if (isnan(seen_counter(s, seen_role(s, node), "buffer_discards")) &&
            isnan(seen_counter(s, seen_role(s, node), FORWARDER_LOSSES)))
            return false;
        any = true;
    }
    return any;
}

/* Does the scenario sample the group? Without a list it samples all. */
static bool samples_group(const struct seen *s, const char *name)
{
    const json_t *groups = run_get(s->run, "scenario.sample.groups"), *group;
    size_t i;
    bool sampled = !groups;
    json_array_foreach(groups, i, group)
    {
        const char *one = json_string_value(group);
        sampled |= one && (strcmp(one, name) == 0 || strcmp(one, "all") == 0);
    }
    return sampled;
}

/* Does the flow's receiver count damaged frames? A simulated one has no counter where nothing can damage
 * them. */
static bool counts_damages(const struct seen *s, const struct flow_seen *flow)
{
    return !isnan(seen_counter(s, flow->to, "rx_crc_errors_phy")) ||
           (samples_group(s, "errors") && json_is_true(run_get(s->run, "simulated")));
}

/* ": s1 port1_discards 12": the losses that were counted on the flow's way and at its receiver, a few. */
#define LOSSES_TOLD 4

static void add_counted(struct seen *s, struct text *out, const struct flow_seen *flow)
{
    size_t told = 0;
    for (size_t node = 0; node < s->network.node_count && told < LOSSES_TOLD; node++) {
        bool passes = node == flow->to_node || passes_node(s, flow, node);
        const json_t *counter;
        const char *name, *role = seen_role(s, node);
        json_object_foreach((json_t *)(uintptr_t)seen_counters(s, role), name, counter)
        {
            bool lost = strstr(name, "discard") || strstr(name, "drop") || strstr(name, "out_of_buffer") ||
                        strstr(name, "errors_phy");
            if (!passes || !lost || told == LOSSES_TOLD ||
                !(json_number_value(json_object_get(counter, "total")) > 0))
                continue;
            text_add(out, "%s %s", told++ ? ", " : ", but may be of these losses:", role);
            judge_add_count(s, out, role, name);
        }
    }
}

/* What was not sampled, and would tell of losses. */
static void add_unsampled(struct seen *s, struct text *evidence, const struct flow_seen *flow, bool damaged,
                          bool discards)
{
    if (flow->acks_late)
        text_add(
            evidence,
            "%s sent again what had arrived: %s counted %.0f (duplicate_request), and no packet is known "
            "to be lost",
            flow->name, flow->to, seen_counter(s, flow->to, "duplicate_request"));
    else
        text_add(evidence,
                 "%s sent packets again, or stood still to its end (they or their acknowledgements were "
                 "lost), and no counter that was sampled tells why",
                 flow->name);
    add_counted(s, evidence, flow);
    if (!damaged && isnan(seen_counter(s, flow->to, "rx_crc_errors_phy")))
        text_add(evidence, "; the run has no counter of damaged frames at %s", flow->to);
    if (damaged || discards)
        text_add(evidence, "; not sampled: %s%s%s",
                 damaged ? "damaged frames at its receiver (the group errors)" : "",
                 damaged && discards ? ", " : "", discards ? "what switches on its way lose (drops)" : "");
    text_add(evidence, "\n");
}

/* The cause that the flow's receiver pauses its link; NULL: it does not, or little. */
static struct cause *receiver_that_pauses(const struct causes *causes, const struct flow_seen *flow)
{
    static const enum cause_kind kinds[] = {CAUSE_SLOW_RECEIVER, CAUSE_STORM, CAUSE_HOST_PAUSES};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct cause *cause = causes_get(causes, kinds[k], flow->to);
        if (cause && (cause->priority < 0 || cause->priority == flow->priority))
            return cause;
    }
    return NULL;
}

void judge_other_losses(struct seen *s, struct causes *causes)
{
    for (size_t node = 0; node < s->network.node_count; node++)
        if (seen_counter(s, seen_role(s, node), "route_discards") > 0)
            judge_routes(s, causes, node);
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        double pauses = seen_counter(s, flow->from, "rx_prio%d_pause", flow->priority);
        double damaged = seen_counter(s, flow->to, "rx_crc_errors_phy");
        double down = seen_counter(s, flow->to, "link_down_events_phy") +
                      seen_counter(s, flow->from, "link_down_events_phy");
        if (seen_lost(flow) <= MATTERS || damaged > 0 || down > 0 || is_charged(causes, i))
            continue;
        bool discards_known = counts_discards(s, flow), damages_known = counts_damages(s, flow);
        bool lossy = !discards_known && !seen_is_lossless(s, flow->from, flow->priority);
        bool small =
            !discards_known && pauses > 0 && damages_known && moments_of_loss(s, flow) >= AGAIN_AND_AGAIN;
        enum cause_kind kind = seen_counter(s, flow->to, "out_of_buffer") > 0 ? CAUSE_NO_RECEIVE
                               : flow->acks_late                              ? CAUSE_LATE_ACKS
                               : lossy                                        ? CAUSE_NOT_LOSSLESS
                               : small                                        ? CAUSE_HEADROOM
                                                                              : CAUSE_LOSS;
        struct cause *pausing = kind == CAUSE_LOSS && damages_known && !discards_known
                                    ? receiver_that_pauses(causes, flow)
                                    : NULL;
        if (pausing) {
            text_add(&pausing->evidence,
                     "%s sent packets again, or stood still to its end: what the pauses held up was dropped "
                     "(a watchdog does so), as far as hosts tell\n",
                     flow->name);
            cause_add_cost(pausing, i, seen_lost(flow));
            continue;
        }
        char *culprit = kind == CAUSE_NOT_LOSSLESS ? xasprintf("priority %d", flow->priority)
                        : kind == CAUSE_HEADROOM   ? xstrdup("a switch")
                                                   : xstrdup(flow->to);
        bool is_new;
        struct cause *cause = causes_get_or_add(s, causes, kind, culprit,
                                                kind == CAUSE_NO_RECEIVE ? LIKELY : POSSIBLE, &is_new);
        free(culprit);
        if (is_new && kind == CAUSE_NO_RECEIVE)
            text_add(&cause->evidence, "%s counted %.0f (out_of_buffer)\n", flow->to,
                     seen_counter(s, flow->to, "out_of_buffer"));
        else if (is_new)
            add_unsampled(s, &cause->evidence, flow, !damages_known, !discards_known);
        cause->priority = flow->priority;
        cause_add_cost(cause, i, seen_lost(flow));
    }
}
