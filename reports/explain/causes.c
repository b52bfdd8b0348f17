#include "reports/explain/judge.h"

#include "lib/units.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a flow's line: a sender that leaves less unused is not said to be slow. */
#define SENDER_MATTERS 0.15

#define WATCHDOG   "lab.defaults.switch.watchdog={\"detect\": \"200us\", \"restore\": \"200us\"}"
#define DEEP       128 /* messages in flight: more are not asked for */
#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)
#define SLOWER     "DCQCN slows senders before pauses spread"

const struct cause_words cause_words[CAUSES] = {
    [CAUSE_DEADLOCK] = {"deadlock", "ports wait for each other in a ring: ", "",
                        "a PFC watchdog breaks rings", WATCHDOG, NULL, true},
    [CAUSE_LINK_DOWN] = {"link-down", "the link ", " went down", "routes that follow a link's loss sooner",
                         "lab.defaults.switch.convergence=50us", NULL, false},
    [CAUSE_NO_ROUTE] = {"link-down", "", " had no way left for packets, as a link was down", NULL, NULL, NULL,
                        false},
    [CAUSE_LINK_DAMAGES] = {"link-damages", "the link ", " damages frames",
                            "selective repeat loses less by each",
                            "lab.defaults.host.nic.recovery=selective-repeat", NULL, false},
    [CAUSE_PAUSES_LOST] = {"link-damages", "the link ", " loses PFC frames", NULL, NULL, NULL, false},
    [CAUSE_HEADROOM] = {"headroom", "the headroom of ",
                        " is too short: with PFC on, it lost frames all the same", "more headroom", NULL,
                        NULL, false},
    [CAUSE_NOT_LOSSLESS] = {"not-lossless", "", " is not lossless: what a switch has no room for is lost",
                            "PFC on the priority", "settings.pfc=", "pfc", false},
    [CAUSE_DISOBEYS] = {"not-lossless", "", " does not obey pauses: what a switch has no room for is lost",
                        "PFC on the priority", "settings_of.", "pfc", false},
    [CAUSE_NO_RECEIVE] = {"no-receive", "", " had no receive posted for what arrived (RNR)",
                          "a receiver that posts more receives", NULL, NULL, false},
    [CAUSE_LATE_ACKS] = {"late-acks", "acknowledgements of what arrives at ",
                         " come after ack_timeout, or never: it is sent again", "a longer ack_timeout",
                         "lab.defaults.host.nic.ack_timeout=67.108864ms", NULL, false},
    [CAUSE_LOSS] = {"loss", "packets are lost or overtaken on the way to ", "", NULL, NULL, NULL, false},
    [CAUSE_STORM] = {"storm", "", " pauses its link for long times in which nothing arrives (a pause storm)",
                     "a PFC watchdog drops what such a port does not take", WATCHDOG, NULL, true},
    [CAUSE_SLOW_RECEIVER] = {"slow-receiver", "", " takes less than its line carries, and pauses its link",
                             SLOWER, "settings.ecn=", "ecn", true},
    [CAUSE_HOST_PAUSES] = {"host-pauses", "", " pauses its link", NULL, NULL, NULL, true},
    [CAUSE_RECEIVER_DROPS] = {"slow-receiver", "",
                              " takes less than its line carries, and loses what it has no room for",
                              "PFC on the priority", "settings.pfc=", "pfc", false},
    [CAUSE_RECEIVER_HOLDS] = {"slow-receiver", "",
                              " takes less than its line carries, and holds what arrives in its buffer", NULL,
                              NULL, NULL, false},
    [CAUSE_RECEIVER_MARKS] = {"slow-receiver", "",
                              " takes less than its line carries, and asks senders to slow down", NULL, NULL,
                              NULL, false},
    [CAUSE_INCAST] = {"incast", "more is sent to ", " than its line carries (an incast)", SLOWER,
                      "settings.ecn=", "ecn", true},
    [CAUSE_UPLINK] = {"uplink", "more is sent over ", " than it carries",
                      "adaptive routing takes other links as well", "lab.defaults.switch.routing=adaptive",
                      NULL, true},
    [CAUSE_SLOWER_LINK] = {"slower-link", "", " is slower than the sender's line", SLOWER,
                           "settings.ecn=", "ecn", true},
    [CAUSE_SLOWED_LINK] = {"slower-link", "the link ", " carries less than its rate", SLOWER,
                           "settings.ecn=", "ecn", true},
    [CAUSE_PRIORITIES] = {"priorities", "higher priorities go first at the port ",
                          ", and leave this one less than its part", NULL, NULL, NULL, true},
    [CAUSE_SWITCH] = {"network", "", " pauses, and nothing that was sampled tells why",
                      "samples of queues (the group queue) would tell where it begins", NULL, NULL, false},
    [CAUSE_NETWORK_TO] = {"network", "the network pauses or slows what goes to ", "",
                          "samples of switches would tell where it begins", NULL, NULL, false},
    [CAUSE_NETWORK] = {"network", "the network pauses or slows ", "",
                       "samples of switches would tell where it begins", NULL, NULL, false},
    [CAUSE_DCQCN] = {"dcqcn", "DCQCN slows senders more than the port ", " needs, which is idle meanwhile",
                     "senders recover faster with a larger rpg_ai_rate and rpg_hai_rate", NULL, NULL, false},
    [CAUSE_SENDER] = {"sender", "",
                      " sends less than its line carries, and nothing that was seen keeps it from sending",
                      "more messages in flight", "flows.*.depth=" TEXT_OF(DEEP), NULL, false},
};

/* ---- causes */

struct cause *causes_add(const struct seen *s, struct causes *causes, enum cause_kind kind,
                         const char *culprit, enum sureness sureness)
{
    if (causes->count == causes->capacity) {
        causes->capacity = causes->capacity ? 2 * causes->capacity : 16;
        causes->items = xreallocarray(causes->items, causes->capacity, sizeof *causes->items);
    }
    struct cause *cause = &causes->items[causes->count++];
    *cause = (struct cause){.kind = kind,
                            .sureness = sureness,
                            .culprit = xstrdup(culprit),
                            .port = NETWORK_NONE,
                            .told_port = NETWORK_NONE,
                            .priority = -1,
                            .from_ns = 0,
                            .to_ns = -1,
                            .cost_of = xcalloc(s->flow_count + 1, sizeof *cause->cost_of)};
    return cause;
}

struct cause *causes_get(const struct causes *causes, enum cause_kind kind, const char *culprit)
{
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].kind == kind && strcmp(causes->items[i].culprit, culprit) == 0)
            return &causes->items[i];
    return NULL;
}

struct cause *causes_get_or_add(const struct seen *s, struct causes *causes, enum cause_kind kind,
                                const char *culprit, enum sureness sureness, bool *is_new)
{
    struct cause *cause = causes_get(causes, kind, culprit);
    if (is_new)
        *is_new = !cause;
    return cause ? cause : causes_add(s, causes, kind, culprit, sureness);
}

void cause_add_cost(struct cause *cause, size_t flow, double cost)
{
    cost = cost > 1 - cause->cost_of[flow] ? 1 - cause->cost_of[flow] : cost;
    cause->cost_of[flow] += cost;
    cause->cost += cost;
}

bool cause_tell_once(struct cause *cause, const struct text *line)
{
    if (strstr(text_string(&cause->evidence), text_string(line)))
        return false;
    text_add(&cause->evidence, "%s", text_string(line));
    return true;
}

void judge_add_rate(struct text *out, const char *before, double bps, const char *after)
{
    bool large = bps >= 1e8;
    text_add(out, "%s%.4g %s%s", before, bps / (large ? 1e9 : 1e6), large ? "Gb/s" : "Mb/s", after);
}

double judge_count(const struct seen *s, const char *role, const char *counter, bool *whole)
{
    double delta = seen_delta(s, role, "%s", counter), total = seen_counter(s, role, "%s", counter);
    bool is_whole = !(delta > 0) && total > 0;
    if (whole)
        *whole = is_whole;
    return is_whole ? total : fmax(0, delta);
}

void judge_add_count(const struct seen *s, struct text *out, const char *role, const char *counter)
{
    bool whole;
    double count = judge_count(s, role, counter, &whole);
    if (isnan(seen_counter(s, role, "%s", counter)))
        text_add(out, " uncounted (%s)", counter);
    else
        text_add(out, " %.0f (%s) in the %s", count, counter, whole ? "whole run" : "measure phase");
}

bool judge_is_in_ring(const struct cause *cause, const char *port)
{
    size_t length = strlen(port);
    for (const char *at = cause->culprit; at; at = strstr(at, RING_ARROW)) {
        at += strncmp(at, RING_ARROW, strlen(RING_ARROW)) == 0 ? strlen(RING_ARROW) : 0;
        if (strncmp(at, port, length) == 0 && (!at[length] || at[length] == *RING_ARROW))
            return true;
    }
    return false;
}

static bool passes_failed(struct seen *s, const struct flow_seen *flow)
{
    bool any = false;
    for (size_t p = 0; p < s->network.port_count && !any; p++)
        any = seen_may_pass(s, flow, p) && judge_failed(s, p);
    return any;
}

bool cause_feeds(struct seen *s, const struct cause *cause, const struct flow_seen *flow)
{
    if (cause->kind == CAUSE_DEADLOCK) { /* where a link failed packets go other ways, perhaps by the ring */
        for (size_t p = 0; p < s->network.port_count; p++)
            if (seen_may_pass(s, flow, p) && judge_is_in_ring(cause, s->network.ports[p].name))
                return true;
        return !flow->ways && passes_failed(s, flow);
    }
    bool pauses = cause->kind == CAUSE_STORM || cause->kind == CAUSE_SLOW_RECEIVER ||
                  cause->kind == CAUSE_HOST_PAUSES; /* acknowledgements go to whoever sends the flow */
    return (pauses && strcmp(flow->from, cause->culprit) == 0) ||
           (cause->port != NETWORK_NONE ? seen_may_pass(s, flow, cause->port)
                                        : strcmp(flow->to, cause->culprit) == 0);
}

/* ---- senders, deadlocks */

/* A link that was down may have come back with another rate. */
static void tell_downs(const struct seen *s, struct cause *cause, const struct flow_seen *flow)
{
    const char *const ends[] = {flow->from, flow->to};
    for (size_t k = 0; k < 2; k++)
        if (seen_counter(s, ends[k], "link_down_events_phy") > 0)
            text_add(
                &cause->evidence,
                "the link of %s was down (link_down_events_phy): whether it has its whole rate since is not "
                "known\n",
                ends[k]);
}

/* What says that the sender is why: its messages wait nowhere, or take longer than on their way. */
static void tell_sender(const struct seen *s, struct cause *cause, const struct flow_seen *flow)
{
    text_add(&cause->evidence, "%s has %.1f %% of its line, and leaves %.1f %% unused: ", flow->name,
             100 * flow->share[SHARE_DELIVERED], 100 * flow->share[SHARE_SENDER]);
    text_add(&cause->evidence, flow->window_limits ? "what it has in flight takes no longer than its way\n"
                                                   : "nothing holds what it has in flight\n");
    tell_downs(s, cause, flow);
}

static void judge_senders(struct seen *s, struct causes *causes)
{
    for (size_t i = 0; i < s->flow_count; i++) {
        struct flow_seen *flow = &s->flows[i];
        struct cause *slowed =
            flow->slowed > MATTERS ? judge_slower_since(s, causes, flow->slowed_port, flow->priority) : NULL;
        if (slowed)
            cause_add_cost(slowed, i, flow->slowed);
        if (flow->share[SHARE_SENDER] < SENDER_MATTERS || flow->rests)
            continue;
        struct cause *cause = causes_get_or_add(s, causes, CAUSE_SENDER, flow->from, LIKELY, NULL);
        tell_sender(s, cause, flow);
        cause_add_cost(cause, i, flow->share[SHARE_SENDER]);
    }
}

static void judge_deadlocks(struct seen *s, struct causes *causes)
{
    const json_t *deadlock;
    size_t i;
    json_array_foreach(s->hosts_only ? NULL : run_get(s->run, "deadlocks"), i, deadlock)
    {
        struct text ring = {0};
        const json_t *port;
        size_t k;
        bool is_new;
        json_array_foreach(json_object_get(deadlock, "ports"), k, port)
            text_add(&ring, "%s%s", k ? RING_ARROW : "", json_string_value(port));
        struct cause *cause = causes_get_or_add(s, causes, CAUSE_DEADLOCK, text_string(&ring), SURE, &is_new);
        text_free(&ring);
        if (!is_new)
            continue;
        cause->priority = (int)json_integer_value(json_object_get(deadlock, "priority"));
        cause->from_ns = json_integer_value(json_object_get(deadlock, "since_ns")) - s->run->start_ns;
        cause->to_ns = s->measure_ns;
        text_add(&cause->evidence, "%s\n", run_member(deadlock, "text"));
        for (size_t f = 0; f < s->flow_count; f++) { /* what a link lost is charged to the link */
            const struct flow_seen *flow = &s->flows[f];
            if (flow->priority == cause->priority)
                cause_add_cost(cause, f,
                               flow->share[SHARE_PAUSED] + (passes_failed(s, flow) ? 0 : seen_lost(flow)));
        }
    }
}

static bool watchdog_acts(const struct seen *s)
{
    for (size_t node = 0; node < s->network.node_count; node++)
        if (seen_counter(s, seen_role(s, node), "watchdog_storms") > 0)
            return true;
    return false;
}

/* The setting with the priorities that are on and the cause's, or those of the flows that it took something
 * from; the caller frees. NULL: all of them are on. */
static char *list_to_set(const struct seen *s, const struct cause *cause, const char *set, const char *list)
{
    bool wanted[PRIORITIES] = {false}, any = false;
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority >= 0 && s->flows[i].priority < PRIORITIES)
            wanted[s->flows[i].priority] |= cause->priority < 0 && cause->cost_of[i] >= MATTERS;
    struct text out = {0};
    for (int priority = 0; priority < PRIORITIES; priority++) {
        bool on = seen_is_on(s, list, priority), add = priority == cause->priority || wanted[priority];
        any |= add && !on;
        if (add || on)
            text_add(&out, "%s%d", out.length ? ", " : "", priority);
    }
    char *value = any ? xasprintf("%s[%s]", set, text_string(&out)) : NULL;
    text_free(&out);
    return value;
}

/* Did flows lose packets on a link that went down, though there is another one? */
static bool waited_for_routes(struct seen *s, const struct cause *cause)
{
    bool lost = false;
    int priority = -1;
    for (size_t i = 0; i < s->flow_count; i++)
        if (cause->cost_of[i] >= MATTERS && seen_lost(&s->flows[i]) >= MATTERS) {
            lost = true;
            priority = s->flows[i].priority;
        }
    if (!lost || cause->port == NETWORK_NONE || !s->network.ports)
        return false;
    const size_t ends[] = {cause->port, s->network.ports[cause->port].peer};
    for (size_t k = 0; k < 2; k++)
        if (judge_port_beside(s, ends[k], priority, BESIDE_ANY) != NETWORK_NONE)
            return true;
    return false;
}

static int64_t asked_depth(const struct flow_seen *flow)
{
    return json_integer_value(json_object_get(flow->asked, "depth"));
}

/* The quantity of the lab that would be set, less what that is; `fallback`: the lab does not have it. */
static int64_t beyond_set(const struct seen *s, const char *of, const char *key, const char *set,
                          int64_t fallback)
{
    enum unit unit;
    int64_t asked;
    return units_find(strchr(set, '=') + 1, &unit, &asked)
               ? seen_quantity(json_object_get(run_get(s->run, of), key), asked + fallback) - asked
               : fallback;
}

/* Does the run have already what would be set? */
static bool is_set(struct seen *s, const struct cause *cause, const char *set)
{
    if (cause->kind == CAUSE_LINK_DOWN)
        return !waited_for_routes(s, cause) ||
               beyond_set(s, "lab.defaults.switch", "convergence", set, 1) <= 0;
    if (cause->kind == CAUSE_LATE_ACKS)
        return beyond_set(s, "lab.defaults.host.nic", "ack_timeout", set, 0) >= 0;
    if (cause->kind == CAUSE_LINK_DAMAGES)
        return strcmp(run_member(run_get(s->run, "lab.defaults.host.nic"), "recovery"), "selective-repeat") ==
               0;
    if (cause->kind == CAUSE_UPLINK)
        return judge_port_beside(s, cause->port, cause->priority, BESIDE_WITH_ROOM) == NETWORK_NONE ||
               strcmp(run_member(run_get(s->run, "lab.defaults.switch"), "routing"), "adaptive") == 0;
    if (set && strcmp(set, WATCHDOG) == 0)
        return watchdog_acts(s);
    if (cause->kind != CAUSE_SENDER)
        return false;
    for (size_t i = 0; i < s->flow_count; i++) /* where the depth is no limit, more does not help */
        if (cause->cost_of[i] >= MATTERS && s->flows[i].window_limits && !s->flows[i].at_once &&
            asked_depth(&s->flows[i]) < DEEP)
            return false;
    return true;
}

/* "flows.*.depth=128", of a scenario whose flows are patterns "traffic.*.depth=128"; the caller frees. */
static char *setting_of(const struct seen *s, const struct cause *cause)
{
    const char *set = cause_words[cause->kind].set;
    bool patterns = cause->kind == CAUSE_SENDER && json_array_size(run_get(s->run, "scenario.flows")) == 0;
    return patterns ? xasprintf("traffic%s", strchr(set, '.')) : xstrdup(set);
}

/* Does a value with this name anywhere in the scenario or lab give switches thresholds to mark by? */
static bool has_member(const json_t *value, const char *name)
{
    const json_t *one;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)value, key, one)
    {
        if ((strcmp(key, name) == 0 && json_is_object(one)) || has_member(one, name))
            return true;
    }
    return false;
}

/* A simulated switch without thresholds marks nothing. */
static bool can_mark(const struct seen *s)
{
    return !json_is_true(run_get(s->run, "simulated")) ||
           has_member(run_get(s->run, "scenario.settings"), "ecn_threshold") ||
           has_member(run_get(s->run, "scenario.settings_of"), "ecn_threshold") ||
           has_member(run_get(s->run, "lab"), "ecn");
}

/* Pauses that take less from each port are not worth another threshold. */
#define PAUSES_MUCH 0.05
/* Of the packets: of them nearly all are marked. */
#define MARKED_ALL 0.95

/* Does it cost the flow something, which goes where the cause begins? */
static bool is_fed_by(struct seen *s, const struct cause *cause, size_t i)
{
    return cause->cost_of[i] >= MATTERS && cause_feeds(s, cause, &s->flows[i]);
}

/* The congestion control of a flow that feeds the cause, if it does not obey CNPs; NULL: all do. */
static const char *other_control(struct seen *s, const struct cause *cause)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (is_fed_by(s, cause, i) && !seen_obeys_cnps(&s->flows[i]))
            return s->flows[i].control;
    return NULL;
}

/* The most of its priority that a sample saw in the port's queue, bytes; NAN: not sampled. */
static double fullest_queue(const struct seen *s, const struct cause *cause)
{
    const struct network_port *at = &s->network.ports[cause->port];
    static const char *const names[] = {"bytes", "peak_bytes"};
    double most = NAN;
    for (size_t k = 0; k < 2; k++) {
        const struct series *queue = seen_series(s, seen_role(s, at->node), "port%u_prio%d_queue_%s",
                                                 at->number, cause->priority, names[k]);
        for (size_t i = 0; queue && i < queue->count; i++)
            most = queue->value[i] == LINES_NULL ? most : fmax(most, (double)queue->value[i]);
    }
    return most;
}

/* No packet was marked at the port, though ECN is on: why, as far as the result tells. */
static struct help help_of_no_marks(struct seen *s, const struct cause *cause)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (is_fed_by(s, cause, i) && s->flows[i].traffic_class >= 0 && !(s->flows[i].traffic_class & 3))
            return (struct help){"packets that are ECN-capable can be marked",
                                 xasprintf("settings.traffic_class=%d", s->flows[i].traffic_class | 2)};
    const char *role = seen_role(s, s->network.ports[cause->port].node);
    const json_t *threshold =
        json_object_get(json_object_get(json_object_get(s->settings, role), "read_back"), "ecn_threshold");
    double most = fullest_queue(s, cause);
    if (json_number_value(json_object_get(threshold, "pmax")) <= 0 && threshold)
        return (struct help){"DCQCN is on, and the switch marks nothing: pmax of its ecn_threshold is 0",
                             NULL};
    if (most > (double)seen_quantity(json_object_get(threshold, "kmin"), INT64_MAX))
        return (struct help){NULL, NULL};
    return (struct help){
        "DCQCN is on, and no packet was marked: PFC stops senders before a queue reaches kmin, "
        "so a lower kmin marks before that",
        NULL};
}

/* DCQCN is on, and did not keep pauses away. */
static struct help help_of_marks(struct seen *s, const struct cause *cause)
{
    double marked = 0, packets = 0, sent = 0, handled = 0;
    for (size_t i = 0; i < s->flow_count; i++)
        if (is_fed_by(s, cause, i) && (seen_is_off(s, s->flows[i].from, "ecn", cause->priority) ||
                                       seen_is_off(s, s->flows[i].to, "ecn", cause->priority)))
            return (struct help){"DCQCN needs ECN on at both ends of a flow", NULL};
    if (cause->port != NETWORK_NONE && seen_marks(s, cause->port, "total") == 0)
        return help_of_no_marks(s, cause);
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        if (!is_fed_by(s, cause, i))
            continue;
        marked += flow->marked;
        packets += flow->packets;
        sent += seen_counter(s, flow->to, "np_cnp_sent");
        handled += seen_counter(s, flow->from, "rp_cnp_handled");
    }
    if (sent == 0)
        return (struct help){"DCQCN slows senders by the CNPs of a receiver, which sent none", NULL};
    if (handled == 0)
        return (struct help){"DCQCN slows senders that obey CNPs, which these did not", NULL};
    if (packets > 0 && marked >= MARKED_ALL * packets)
        return (struct help){NULL, NULL};
    return (struct help){
        "DCQCN is on, and ports pause before it slows senders enough: lower kmin and kmax, or a "
        "higher pmax, mark more before that",
        NULL};
}

/* It has no PFC on the priority, or does not obey although it has. */
static struct help help_of_disobeying(const struct seen *s, const struct cause *cause)
{
    if (!seen_is_off(s, cause->culprit, "pfc", cause->priority))
        return (struct help){NULL, NULL};
    struct text set = {0};
    text_add(&set, "settings_of.%s.pfc=[%d", cause->culprit, cause->priority);
    for (int priority = 0; priority < PRIORITIES; priority++)
        if (priority != cause->priority && !seen_is_off(s, cause->culprit, "pfc", priority))
            text_add(&set, ", %d", priority);
    text_add(&set, "]");
    struct help help = {cause_words[CAUSE_DISOBEYS].help, xstrdup(text_string(&set))};
    text_free(&set);
    return help;
}

/* Where the lab states a headroom a simulated switch has what its links need without that. */
static struct help help_of_headroom(const struct seen *s, const struct cause *cause)
{
    const char *words = cause_words[CAUSE_HEADROOM].help;
    const json_t *own = json_object_get(run_get(s->run, "lab.switches"), cause->culprit);
    bool of_own = json_object_get(own, "headroom");
    if (!json_is_true(run_get(s->run, "simulated")) ||
        (!of_own && !run_get(s->run, "lab.defaults.switch.headroom")))
        return (struct help){words, NULL};
    return (struct help){"more headroom: what its links need is the default",
                         of_own ? xasprintf("lab.switches.%s.headroom=null", cause->culprit)
                                : xstrdup("lab.defaults.switch.headroom=null")};
}

/* Weights for all classes, without the classes that there are, of which a strict one goes first. */
static struct help help_of_starved(const struct seen *s, const struct cause *cause)
{
    static const char *const keys[] = {"selection", "prio_to_tc"};
    const char *role = seen_role(s, s->network.ports[cause->port].node);
    const json_t *ets =
        json_object_get(json_object_get(json_object_get(s->settings, role), "read_back"), "ets");
    struct text set = {0};
    text_add(&set, "settings_of.%s.ets={\"weights\": [12, 12, 12, 12, 13, 13, 13, 13]", role);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (json_object_get(ets, keys[k]))
            text_add(&set, ", \"%s\": null", keys[k]);
    text_add(&set, "}");
    struct help help = {"ETS gives each priority a part of the line", xstrdup(text_string(&set))};
    text_free(&set);
    return help;
}

struct help cause_help(struct seen *s, const struct cause *cause)
{
    const struct cause_words *words = &cause_words[cause->kind];
    const struct help none = {NULL, NULL};
    if (cause->starved)
        return help_of_starved(s, cause);
    if (cause->overridden && cause->kind != CAUSE_STORM && cause->kind != CAUSE_DEADLOCK)
        return (struct help){
            "a watchdog that takes only longer pauses for a storm lets these stop the sender", NULL};
    if (cause->kind == CAUSE_HEADROOM && !cause->helpless)
        return help_of_headroom(s, cause);
    bool slower = words->help && strcmp(words->help, SLOWER) == 0;
    if (!words->help || cause->helpless || is_set(s, cause, words->set) || (slower && cause->worst <= 0))
        return none;
    const char *control = slower ? other_control(s, cause) : NULL;
    if (control) /* "none" may be replaced; another one is what the scenario wants to see */
        return (struct help){strcmp(control, "none") == 0 ? SLOWER ": congestion_control is none" : NULL,
                             NULL};
    bool settable =
        words->set && (strncmp(words->set, "lab.", 4) != 0 || json_is_true(run_get(s->run, "simulated")));
    if (!words->list) /* hosts and switches that a lab only names are not what its values make of them */
        return (struct help){words->help, settable ? setting_of(s, cause) : NULL};
    if (cause->kind == CAUSE_DISOBEYS)
        return help_of_disobeying(s, cause);
    char *set = list_to_set(s, cause, words->set, words->list);
    if (set && slower && !can_mark(s)) {
        free(set);
        return (struct help){SLOWER
                             ", once switches have thresholds to mark by: settings.ecn_threshold beside "
                             "settings.ecn",
                             NULL};
    }
    if (set)
        return (struct help){words->help, set};
    return slower && cause->worst >= PAUSES_MUCH ? help_of_marks(s, cause) : none;
}

static int by_cost(const void *left, const void *right)
{
    const struct cause *a = left, *b = right;
    return a->cost > b->cost ? -1 : a->cost < b->cost;
}

/* Does a port that stood for long stand behind what is told of a line that is far from full while nothing
 * keeps it? Packets for that port fill the buffers, and what passes by them waits wherever it leaves. */
static bool is_aftermath(const struct seen *s, const struct cause *cause, const struct cause *first)
{
    bool of_line =
        cause->kind == CAUSE_INCAST || cause->kind == CAUSE_UPLINK || cause->kind == CAUSE_SLOWER_LINK;
    const struct stop *stop =
        of_line && cause->port != NETWORK_NONE ? seen_stop(s, cause->port, cause->priority) : NULL;
    double held = stop ? (double)stop->held_ns / (double)s->measure_ns : 0;
    return (first->kind == CAUSE_STORM || first->kind == CAUSE_DEADLOCK) && of_line &&
           cause->port != NETWORK_NONE && seen_use(s, cause->port, NULL) < SEEN_FULL / 2 * (1 - held);
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

/* How the senders that it cost something noticed losses: they wait longer for a time-out than for a NAK. */
static void tell_notices(const struct seen *s, struct cause *cause)
{
    static const char *const notices[] = {"packet_seq_err", "local_ack_timeout_err", "roce_adp_retrans"},
                             *const words[] = {"by NAKs", "by time-outs", "by adaptive retransmission"};
    double count[3] = {0};
    for (size_t i = 0; i < s->flow_count; i++) {
        bool counted = cause->cost_of[i] < MATTERS || seen_lost(&s->flows[i]) < MATTERS;
        for (size_t k = 0; k < i && !counted; k++)
            counted = strcmp(s->flows[k].from, s->flows[i].from) == 0 && cause->cost_of[k] >= MATTERS &&
                      seen_lost(&s->flows[k]) >= MATTERS;
        for (size_t k = 0; k < 3 && !counted; k++) {
            double delta = seen_delta(s, s->flows[i].from, "%s", notices[k]);
            count[k] += delta > 0 ? delta : 0;
        }
    }
    bool any = false;
    for (size_t k = 0; k < 3; k++)
        if (count[k] > 0) {
            text_add(&cause->evidence, "%s %.0f %s (%s)", any ? "," : "its senders noticed losses", count[k],
                     words[k], notices[k]);
            any = true;
        }
    if (any)
        text_add(&cause->evidence, " in the measure phase\n");
}

void causes_find(struct seen *s, struct roots *roots, struct causes *causes)
{
    *causes = (struct causes){0};
    judge_deadlocks(s, causes);
    if (s->hosts_only) {
        judge_hosts(s, causes);
    } else {
        judge_roots(s, roots, causes);
        judge_queues(s, roots, causes);
    }
    judge_receivers(s, causes);
    judge_losses(s, causes);
    judge_other_losses(s, causes);
    judge_senders(s, causes);
    for (size_t i = 0; i < causes->count; i++)
        if (judge_loses(&causes->items[i]) || causes->items[i].kind == CAUSE_LOSS)
            tell_notices(s, &causes->items[i]);
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
