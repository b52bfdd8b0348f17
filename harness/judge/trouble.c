#include "harness/judge/trouble.h"

#include "harness/judge/verdict.h"
#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/faults/injection.h"
#include "lib/formats/result_flows.h"
#include "lib/names/range.h"
#include "lib/roce/counters.h"
#include "lib/roce/path_mtu.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is looked at, and where sentences go. */
struct looked_into {
    const struct cell *cell;
    const json_t *losses, *evenness, *result, *flows;
    json_t *warnings;
};

/* ---- flows that moved nothing */

/* A flow or pattern of the scenario, as far as it says when there is something to send. */
struct wanted {
    int64_t start_ns, stop_ns;
    bool arrives; /* a pattern of flows that begin at any time, the last at the end */
};

/* By name: numbers in the lists of flows, and after them of patterns. */
static json_t *index_by_name(const struct cell *cell)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    json_t *index = json_object();
    size_t flow_count = cell->scenario.flows.count;
    for (size_t i = 0; i < flow_count; i++)
        json_put(index, flows[i].name, json_integer((json_int_t)i));
    for (size_t i = 0; i < cell->scenario.traffic.count; i++)
        json_put(index, traffic[i].name, json_integer((json_int_t)(flow_count + i)));
    return index;
}

static struct wanted wanted_of(const struct cell *cell, const json_t *index, const char *name)
{
    size_t flow_count = cell->scenario.flows.count;
    const json_t *number = json_object_get(index, name);
    size_t i = (size_t)json_integer_value(number);
    if (!number)
        return (struct wanted){0, FIELD_UNSET, false};
    if (i < flow_count) {
        const struct scenario_flow *flow = (const struct scenario_flow *)cell->scenario.flows.items + i;
        return (struct wanted){flow->start_ns, flow->stop_ns, false};
    }
    const struct scenario_traffic *t =
        (const struct scenario_traffic *)cell->scenario.traffic.items + (i - flow_count);
    return (struct wanted){t->start_ns, t->stop_ns, t->pattern == PATTERN_POISSON};
}

/* Has it something to send from the end of the warm-up to that of the measured phase? */
static bool sends_throughout(const struct wanted *wanted, const struct scenario_phases *phases)
{
    return !wanted->arrives && wanted->start_ns <= phases->warmup_ns &&
           (wanted->stop_ns == FIELD_UNSET || wanted->stop_ns >= phases->warmup_ns + phases->measure_ns);
}

/* The name of the pattern that the flow is a part of; NULL: of none. */
static char *pattern_of(const json_t *flows, const char *name)
{
    return result_flow_is_part(flows, name) ? strndup(name, (size_t)(strrchr(name, '/') - name)) : NULL;
}

static double number_of(const json_t *flow, const char *key)
{
    return json_number_value(json_object_get(flow, key));
}

/* The increase in the run; -1: the role has no such counter. */
static double total_of(const json_t *host, const char *counter)
{
    const json_t *counted = json_object_get(json_object_get(host, "counters"), counter);
    return counted ? number_of(counted, "total") : -1;
}

/* It had something to send in the measured phase, and moved nothing. Times count from the start of the run.
 */
static bool is_still(const struct cell *cell, const json_t *index, const json_t *flows, const char *name,
                     const json_t *flow)
{
    const struct scenario_phases *phases = &cell->scenario.phases;
    if (!json_object_get(flow, "bytes") || number_of(flow, "bytes") > 0 ||
        json_object_get(flow, "completion_ns"))
        return false;
    char *pattern = pattern_of(flows, name);
    struct wanted wanted = wanted_of(cell, index, pattern ? pattern : name);
    /* of a pattern that moved nothing its own entry is enough */
    bool told = pattern && (wanted.arrives || number_of(json_object_get(flows, pattern), "bytes") == 0);
    free(pattern);
    return !told && wanted.start_ns < phases->warmup_ns + phases->measure_ns &&
           (wanted.stop_ns == FIELD_UNSET || wanted.stop_ns > phases->warmup_ns);
}

static void add_sentence(const struct text_names *flows, const char *rest, json_t *warnings)
{
    struct text words = {0};
    if (!flows->count)
        return;
    text_add_names(&words, "flow", flows);
    text_add(&words, "%s", rest);
    json_array_append_new(warnings, json_text(text_string(&words)));
    text_free(&words);
}

/* `arrived`: those of whose messages parts arrived, or those of which nothing did. */
static void add_still(const struct looked_into *x, bool arrived, const char *rest)
{
    struct text_names still = {0};
    json_t *index = index_by_name(x->cell), *flow;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)x->flows, name, flow)
    {
        if (is_still(x->cell, index, x->flows, name, flow) &&
            (number_of(flow, "delivered_bytes") > 0) == arrived)
            text_names_add(&still, name);
    }
    add_sentence(&still, rest, x->warnings);
    json_decref(index);
}

static void find_still(const struct looked_into *x)
{
    add_still(x, false, " moved nothing in the measured phase");
}

static void find_unfinished(const struct looked_into *x)
{
    add_still(x, true,
              " completed no message in the measured phase, and the goodput is 0, though parts of messages "
              "arrived: a longer phases.measure or smaller messages show a rate");
}

/* ---- flows that moved, and stood still for most of the phase: their mean is the rate of neither time */

#define QUIET_SHARE    0.5
#define QUIET_MESSAGES 20 /* beside it: a flow of few messages has long times between them */

/* Did the flow stand still, although it had something to send all the time? */
static bool is_stalled(const struct looked_into *x, const struct scenario_flow *of, const json_t *quiet)
{
    const struct scenario_phases *phases = &x->cell->scenario.phases;
    const struct wanted wanted = {of->start_ns, of->stop_ns, false};
    return sends_throughout(&wanted, phases) &&
           number_of(quiet, "quiet_ns") > QUIET_SHARE * (double)phases->measure_ns &&
           number_of(quiet, "messages") >= QUIET_MESSAGES &&
           !result_flow_ends(json_object_get(x->flows, of->name));
}

static void find_stalled(const struct looked_into *x)
{
    const struct scenario_flow *flows = x->cell->scenario.flows.items;
    struct text_names stalled = {0};
    const json_t *longest = NULL;
    struct text rest = {0};
    for (size_t i = 0; i < x->cell->scenario.flows.count; i++) {
        const json_t *quiet = json_object_get(x->evenness, flows[i].name);
        if (!is_stalled(x, &flows[i], quiet))
            continue;
        text_names_add(&stalled, flows[i].name);
        if (!longest || number_of(quiet, "quiet_ns") > number_of(longest, "quiet_ns"))
            longest = quiet;
    }
    text_add(&rest,
             " completed no message for %s%.4g of the %.4g ms of the measured phase, from its %.4g ms on, "
             "and %.0f in "
             "the rest: the goodput is a mean of both, and no rate at which it ran",
             stalled.count > 1 ? "up to " : "", number_of(longest, "quiet_ns") / 1e6,
             (double)x->cell->scenario.phases.measure_ns / 1e6, number_of(longest, "quiet_from_ns") / 1e6,
             number_of(longest, "messages"));
    add_sentence(&stalled, text_string(&rest), x->warnings);
    text_free(&rest);
}

/* ---- flows that DCQCN slows, and that get faster or slower throughout the phase */

#define UNSETTLED_SHARE     0.1 /* of the first half */
#define UNSETTLED_INTERVALS 10

/* Did CNPs slow the flow, and had it something to send all the time? */
static bool is_slowed(const struct looked_into *x, const json_t *index, const char *name,
                      const json_t *evenness)
{
    const json_t *flow = json_object_get(x->flows, name), *hosts = json_object_get(x->result, "hosts"),
                 *sender = json_object_get(hosts, json_string_value(json_object_get(flow, "from"))),
                 *receiver = json_object_get(hosts, json_string_value(json_object_get(flow, "to")));
    char *pattern = pattern_of(x->flows, name);
    struct wanted wanted = wanted_of(x->cell, index, pattern ? pattern : name);
    free(pattern);
    return number_of(evenness, "intervals") >= UNSETTLED_INTERVALS &&
           total_of(sender, "rp_cnp_handled") > 0 && total_of(receiver, "np_cnp_sent") > 0 &&
           !result_flow_ends(flow) && !json_object_get(flow, "completion_ns") &&
           sends_throughout(&wanted, &x->cell->scenario.phases);
}

/* Has the scenario something begin or end within the phase, from which rates change? */
static bool changes_midway(const struct looked_into *x)
{
    const struct scenario *scenario = &x->cell->scenario;
    const struct scenario_phases *phases = &scenario->phases;
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    bool changes = scenario->faults.count || scenario->storms.count || scenario->injections.count;
    for (size_t i = 0; i < scenario->flows.count; i++)
        changes |= flows[i].start_ns > phases->warmup_ns || flows[i].stop_ns != FIELD_UNSET;
    for (size_t i = 0; i < scenario->traffic.count; i++)
        changes |= traffic[i].start_ns > phases->warmup_ns || traffic[i].stop_ns != FIELD_UNSET;
    return changes;
}

static void find_unsettled(const struct looked_into *x)
{
    struct text_names slowed = {0};
    struct text rest = {0};
    const char *name;
    double early = 0, late = 0;
    if (changes_midway(x))
        return;
    json_t *index = index_by_name(x->cell), *evenness;
    json_object_foreach((json_t *)(uintptr_t)x->evenness, name, evenness)
    {
        if (!is_slowed(x, index, name, evenness))
            continue;
        text_names_add(&slowed, name);
        early += number_of(evenness, "early_bytes");
        late += number_of(evenness, "bytes") - number_of(evenness, "early_bytes");
    }
    double change = early > 0 ? late / early - 1 : 0;
    text_add(
        &rest,
        "%s, slowed by CNPs, had %.0f %% %s goodput in the second half of the measured phase than in the "
        "first: DCQCN had not settled, and figures are of the way there; a longer phases.warmup and "
        "phases.measure give settled ones",
        slowed.count > 1 ? " together" : "", fabs(change) * 100, change > 0 ? "more" : "less");
    if (fabs(change) > UNSETTLED_SHARE)
        add_sentence(&slowed, text_string(&rest), x->warnings);
    text_free(&rest);
    json_decref(index);
}

/* ---- queue pairs that gave up: single flows have said it themselves */

static void find_given_up(const struct looked_into *x)
{
    const struct scenario_traffic *traffic = x->cell->scenario.traffic.items;
    for (size_t i = 0; i < x->cell->scenario.traffic.count; i++) {
        const json_t *all = json_object_get(x->flows, traffic[i].name);
        json_int_t errors = json_integer_value(json_object_get(all, "errors"));
        if (errors > 0 && !result_flow_parts(x->flows, traffic[i].name))
            json_array_append_new(
                x->warnings, json_textf("traffic %s: %lld of its queue pairs gave up after their last retry",
                                        traffic[i].name, (long long)errors));
    }
}

/* ---- more sent again than arrived: the NICs of real hosts count what they sent */

#define HEADERS_BYTES   100 /* of a packet, and an acknowledgement; RoCEv2 over IPv6 with a VLAN tag has 98 */
#define LEAST_MTU_BYTES 256

/* What the flows of a role moved, and at most the packets that this took in both directions. */
struct moved {
    double sent_bytes, received_bytes, packets;
};

static struct moved moved_by(const struct cell *cell, const json_t *flows, const char *role)
{
    const struct scenario_flow *of = cell->scenario.flows.items;
    struct moved moved = {0};
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        const json_t *flow = json_object_get(flows, of[i].name);
        double bytes = number_of(flow, "bytes");
        bool sends = strcmp(flow_sender(&of[i]), role) == 0;
        if (!sends && strcmp(flow_receiver(&of[i]), role) != 0)
            continue;
        moved.sent_bytes += sends ? bytes : 0;
        moved.received_bytes += sends ? 0 : bytes;
        moved.packets += number_of(flow, "messages") + bytes / LEAST_MTU_BYTES;
    }
    return moved;
}

static void find_sent_again(const struct looked_into *x)
{
    static const char counter[] = "tx_vport_rdma_unicast_bytes";
    const char *role;
    json_t *host;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        const json_t *counted = json_object_get(json_object_get(host, "counters"), counter);
        double sent = number_of(counted, "delta");
        struct moved moved = counted ? moved_by(x->cell, x->flows, role) : (struct moved){0};
        if (moved.sent_bytes > 0 && sent - moved.packets * HEADERS_BYTES > 2 * moved.sent_bytes)
            json_array_append_new(
                x->warnings,
                json_textf("%s sent %.3g MB of RDMA in the measured phase (%s), and its flows moved %.3g MB: "
                           "more was sent again than arrived, or others send too",
                           role, sent / 1e6, counter, moved.sent_bytes / 1e6));
    }
}

/* ---- more moved than the NICs of real hosts counted, in all of the run */

#define COUNTED_SHARE 0.9 /* a counter is read a little before or after the flows end */

static void find_uncounted(const struct looked_into *x)
{
    const char *role;
    json_t *host;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        struct moved moved = moved_by(x->cell, x->flows, role);
        const struct {
            const char *counter, *did;
            double bytes;
        } ways[] = {{"tx_vport_rdma_unicast_bytes", "sent", moved.sent_bytes},
                    {"rx_vport_rdma_unicast_bytes", "received", moved.received_bytes}};
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            const json_t *counted = json_object_get(json_object_get(host, "counters"), ways[i].counter);
            double total = number_of(counted, "total");
            if (json_object_get(counted, "total") && !json_object_get(counted, "unread_ns") &&
                total < ways[i].bytes * COUNTED_SHARE)
                json_array_append_new(
                    x->warnings,
                    json_textf("the traffic programs say that %s %s %.3g MB in the measured phase, and its "
                               "NIC counted %.3g MB of RDMA in the whole run (%s): the figures are what the "
                               "programs say, or the traffic took another port",
                               role, ways[i].did, ways[i].bytes / 1e6, total / 1e6, ways[i].counter));
        }
    }
}

/* ---- links and settings of real hosts that were not the same in all of the measured phase */

static void find_changed(const struct looked_into *x)
{
    static const char *const events[] = {"link_carrier_changes", "link_down_events_phy"};
    const char *role, *name;
    json_t *host, *counter;
    if (x->cell->scenario.faults.count)
        return;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        struct text words = {0};
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            const char *group = json_string_value(json_object_get(counter, "group"));
            double min = number_of(counter, "min"), max = number_of(counter, "max"),
                   delta = number_of(counter, "delta");
            if (group && (strcmp(group, "link") == 0 || strcmp(group, "dcqcn") == 0) && min != max)
                text_add(&words, "%s%s from %.15g to %.15g", words.length ? ", " : "", name, min, max);
            for (size_t i = 0; i < sizeof events / sizeof *events; i++)
                if (strcmp(name, events[i]) == 0 && delta > 0)
                    text_add(&words, "%s%s %.0f", words.length ? ", " : "", name, delta);
        }
        if (words.length)
            json_array_append_new(x->warnings,
                                  json_textf("%s: its link or its settings changed within the measured phase "
                                             "(%s): the figures are of before and after",
                                             role, text_string(&words)));
        text_free(&words);
    }
}

/* ---- goodput above what a line carries: messages that began before the measured phase count in full */

/* Beside the payload of a frame of RoCEv2 over IPv4: Ethernet with preamble and gap has 38 bytes, IP 20, UDP
 * 8, BTH 12 and ICRC 4. A lab may state other framing. */
#define FRAMING_BYTES 82.0
#define TOLERANCE     1.005 /* a message more at each end of a long phase is not worth a word */

/* What a node's lines carry, and the goodput of its flows in each direction. */
struct carried {
    double most_bps, bps[2];
};
enum { INTO, OUT_OF };

/* The MTU of a role's link, or of those that have none of their own (NULL): the scenario's; FIELD_UNSET: not
 * known. */
static int64_t mtu_of(const struct cell *cell, const char *role)
{
    const json_t *roles = json_object_get(cell->scenario_json, "settings_of"),
                 *own = role ? json_object_get(json_object_get(roles, role), "mtu") : NULL;
    int64_t mtu = json_is_integer(own) ? json_integer_value(own) : cell->scenario.settings.mtu;
    return mtu == FIELD_UNSET && lab_kind(&cell->lab)->simulated ? ROCE_LINK_MTU_BYTES : mtu;
}

/* The largest part of their lines that payload can be; of an MTU that is not known that of the largest. */
static double payload_share(const struct cell *cell, const char *role)
{
    int64_t mtu = mtu_of(cell, role);
    double payload = fmax(roce_path_mtu(mtu == FIELD_UNSET ? INT16_MAX : mtu), 256);
    return cell->lab.framing ? 1 : payload / (payload + FRAMING_BYTES);
}

/* By number of the node; most_bps is 0 if the lab does not say the rate of each of its lines. Free it. */
static struct carried *carried_of_lines(const struct cell *cell, size_t nodes)
{
    const struct lab *lab = &cell->lab;
    const char *role;
    double common = payload_share(cell, NULL);
    struct carried *all = xcalloc(nodes + 1, sizeof *all);
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (size_t end = 0; end < link->between.count; end++) {
            int at = lab_node_index(lab, ((char *const *)link->between.items)[end]);
            if (at < 0)
                continue;
            all[at].most_bps += link->rate_bps > 0 ? (double)link->rate_bps : NAN;
        }
    for (size_t i = 0; i < nodes; i++)
        all[i].most_bps = isnan(all[i].most_bps) ? 0 : all[i].most_bps * common;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        int at = lab_node_index(lab, lab_node_of(lab, role));
        if (at >= 0)
            all[at].most_bps *= payload_share(cell, role) / common;
    }
    return all;
}

static struct carried *carried_at(const struct lab *lab, struct carried *all, const char *role)
{
    int node = lab_node_index(lab, lab_node_of(lab, role));
    return node < 0 ? NULL : &all[node];
}

/* What it moved in the measured phase, as a rate. */
static double phase_goodput(const json_t *flow)
{
    return number_of(result_flow_ends(flow) ? json_object_get(flow, "phase") : flow, "goodput_bps");
}

static bool is_above(double bps, double most_bps)
{
    return most_bps > 0 && bps > most_bps * TOLERANCE;
}

static void add_goodput(struct carried *end, int direction, double bps)
{
    if (end)
        end->bps[direction] += bps;
}

static bool end_is_above(const struct carried *end, int direction, double own_bps)
{
    return end && (is_above(end->bps[direction], end->most_bps) || is_above(own_bps, end->most_bps));
}

static void mark_above(json_t *flow, double line_bps)
{
    if (flow)
        json_object_set_new(flow, "above_line_bps", json_real(line_bps));
}

/* The lines of an incast's receiver, and of all receivers of another pattern together, which do not get more
 * than that: of its single flows each has one. */
static double most_of_receivers(const struct lab *lab, struct carried *all, const struct scenario_traffic *t,
                                double *largest)
{
    const struct list_of *to = t->to.count ? &t->to : &t->from;
    double sum = 0;
    *largest = 0;
    for (size_t i = 0; i < to->count; i++) {
        const struct carried *end = carried_at(lab, all, ((char *const *)to->items)[i]);
        if (!end || end->most_bps <= 0)
            return 0;
        sum += end->most_bps;
        *largest = end->most_bps > *largest ? end->most_bps : *largest;
    }
    return sum;
}

static void mark_pattern(const struct lab *lab, struct carried *all, const json_t *flows,
                         const struct scenario_traffic *t, struct text_names *above)
{
    json_t *whole = json_object_get(flows, t->name);
    double largest, most = most_of_receivers(lab, all, t, &largest);
    const struct carried *one = t->to.count == 1 ? carried_at(lab, all, *(char *const *)t->to.items) : NULL;
    size_t parts = result_flow_parts(flows, t->name), marked = 0;
    bool together = is_above(phase_goodput(whole), most) || end_is_above(one, INTO, 0);
    for (size_t i = 0; i < parts; i++) {
        char name[FLOW_MAX_NAME + 24];
        snprintf(name, sizeof name, "%s/%zu", t->name, i);
        json_t *part = json_object_get(flows, name);
        if (!together && !is_above(number_of(part, "goodput_bps"), largest))
            continue;
        mark_above(part, largest);
        marked++;
    }
    if (together)
        mark_above(whole, most);
    if (marked || together)
        text_names_add(above, t->name);
}

static void mark_flow(const struct lab *lab, struct carried *all, json_t *flow,
                      const struct scenario_flow *of, struct text_names *above)
{
    const struct carried *to = carried_at(lab, all, flow_receiver(of)),
                         *from = carried_at(lab, all, flow_sender(of));
    double own = number_of(flow, "goodput_bps");
    bool into = end_is_above(to, INTO, own);
    if (!into && !end_is_above(from, OUT_OF, own))
        return;
    mark_above(flow, into ? to->most_bps : from->most_bps);
    text_names_add(above, of->name);
}

/* "; into h4 134.2 of at most 98.0 Gb/s" of the direction that is the most above its line. */
static void add_worst(const struct lab *lab, const struct carried *all, size_t nodes, struct text *words)
{
    double worst = 1;
    size_t node = 0;
    int direction = INTO;
    for (size_t i = 0; i < nodes; i++)
        for (int d = INTO; d <= OUT_OF; d++)
            if (all[i].most_bps > 0 && all[i].bps[d] / all[i].most_bps > worst) {
                worst = all[i].bps[d] / all[i].most_bps;
                node = i;
                direction = d;
            }
    if (worst > TOLERANCE)
        text_add(words, " (%s %s %.5g Gb/s, of at most %.5g)", direction == INTO ? "into" : "out of",
                 lab_node_name(lab, node), all[node].bps[direction] / 1e9, all[node].most_bps / 1e9);
}

/* Patterns between real hosts are among the flows. */
static void find_above_line(const struct looked_into *x)
{
    const struct cell *cell = x->cell;
    const json_t *flows = x->flows;
    const struct lab *lab = &cell->lab;
    const struct scenario_flow *of = cell->scenario.flows.items;
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    size_t flow_count = cell->scenario.flows.count, nodes = lab_node_count(lab),
           patterns = lab_kind(lab)->simulated ? cell->scenario.traffic.count : 0;
    struct text_names above = {0};
    struct text words = {0};
    struct carried *all = carried_of_lines(cell, nodes);
    for (size_t i = 0; i < flow_count; i++) {
        double bps = phase_goodput(json_object_get(flows, of[i].name));
        add_goodput(carried_at(lab, all, flow_receiver(&of[i])), INTO, bps);
        add_goodput(carried_at(lab, all, flow_sender(&of[i])), OUT_OF, bps);
    }
    for (size_t i = 0; i < patterns; i++)
        if (traffic[i].to.count == 1)
            add_goodput(carried_at(lab, all, *(char *const *)traffic[i].to.items), INTO,
                        phase_goodput(json_object_get(flows, traffic[i].name)));
    for (size_t i = 0; i < flow_count; i++)
        mark_flow(lab, all, json_object_get(flows, of[i].name), &of[i], &above);
    for (size_t i = 0; i < patterns; i++)
        mark_pattern(lab, all, flows, &traffic[i], &above);
    if (above.count) {
        text_add_names(&words, "flow", &above);
        text_add(&words, ": goodput above what the line carries");
        add_worst(lab, all, nodes, &words);
        text_add(&words, ": messages that began before the measured phase count in full; a longer "
                         "phases.measure, or smaller or fewer messages in flight, give a rate");
        json_array_append_new(x->warnings, json_text(text_string(&words)));
    }
    text_free(&words);
    free(all);
}

/* ---- a phase in which a line carries a few packets: one more or less is a large part */

#define FEWEST_PACKETS 20

static void find_short_phase(const struct looked_into *x)
{
    const struct scenario *s = &x->cell->scenario;
    const struct scenario_flow *flows = s->flows.items;
    size_t nodes = lab_node_count(&x->cell->lab);
    struct carried *all = carried_of_lines(x->cell, nodes);
    double least = INFINITY, bytes_of = 0, bps_of = 0;
    for (size_t i = 0; i < s->flows.count; i++) {
        const struct carried *to = carried_at(&x->cell->lab, all, flow_receiver(&flows[i]));
        int64_t mtu = mtu_of(x->cell, flow_receiver(&flows[i]));
        double bytes = mtu == FIELD_UNSET ? ROCE_LINK_MTU_BYTES : (double)mtu;
        bytes =
            flows[i].message_bytes < (int64_t)bytes ? (double)flows[i].message_bytes + HEADERS_BYTES : bytes;
        double bps = to ? to->most_bps : 0, packets = (double)s->phases.measure_ns * bps / 8e9 / bytes;
        if (bps <= 0 || packets >= least ||
            number_of(json_object_get(x->flows, flows[i].name), "delivered_bytes") <= 0)
            continue;
        least = packets;
        bytes_of = bytes;
        bps_of = bps;
    }
    if (least < FEWEST_PACKETS)
        json_array_append_new(
            x->warnings,
            json_textf("the measured phase of %.4g us has the time of %.2g packets of %.0f bytes at %.4g "
                       "Gb/s of payload: "
                       "one more or less is %.0f %% of a rate; a longer phases.measure shows one",
                       (double)s->phases.measure_ns / 1e3, least, bytes_of, bps_of / 1e9, 100 / least));
    free(all);
}

/* ---- goodput far from what was delivered */

/* What is above a line, or completed nothing, is told as that. */
static void find_far(const struct looked_into *x)
{
    struct text_names far = {0};
    struct text words = {0};
    const char *name, *farthest = NULL;
    double completed_bps = 0, delivered_bps = 0;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)x->flows, name, flow)
    {
        double bps = phase_goodput(flow), arrived = number_of(flow, "delivered_bps");
        if (result_flow_is_part(x->flows, name) || !result_flow_is_far(flow) || bps <= 0 ||
            json_object_get(flow, "above_line_bps"))
            continue;
        text_names_add(&far, name);
        if (farthest && fabs(bps - arrived) <= fabs(completed_bps - delivered_bps))
            continue;
        farthest = name;
        completed_bps = bps;
        delivered_bps = arrived;
    }
    if (!farthest)
        return;
    text_add_names(&words, "flow", &far);
    text_add(&words,
             ": the goodput of the messages that completed in the measured phase differs from what was "
             "delivered in it (%s%s%.4g Gb/s completed, %.4g delivered): messages",
             far.count > 1 ? farthest : "", far.count > 1 ? ": " : "", completed_bps / 1e9,
             delivered_bps / 1e9);
    text_add(&words, " count in full where they complete; compare delivered_bps, or make "
                     "phases.measure long beside the time that a message takes");
    json_array_append_new(x->warnings, json_text(text_string(&words)));
    text_free(&words);
}

/* ---- flows that have less than their stated rate, with nothing in sight that takes it */

#define RATE_MISSED   0.02
#define RATE_SLACK    65536.0 /* bytes under way when the phase begins and ends */
#define LINE_HAS_ROOM 0.98

/* What the flow's frames take of a line when its payload has this rate. */
static double on_the_wire(const struct cell *cell, const struct scenario_flow *of, double bps)
{
    int64_t mtu = mtu_of(cell, flow_receiver(of));
    double message = (double)of->message_bytes,
           most = fmax(roce_path_mtu(mtu == FIELD_UNSET ? ROCE_LINK_MTU_BYTES : mtu), 256);
    return bps * (1 + FRAMING_BYTES * ceil(message / most) / message);
}

/* The lines' own rates, and what all flows together take of them. */
static struct carried *taken_of_lines(const struct looked_into *x)
{
    const struct cell *cell = x->cell;
    const struct scenario_flow *of = cell->scenario.flows.items;
    struct carried *all = xcalloc(lab_node_count(&cell->lab) + 1, sizeof *all);
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(&cell->lab, i)); i++)
        for (size_t end = 0; end < link->between.count; end++) {
            int at = lab_node_index(&cell->lab, ((char *const *)link->between.items)[end]);
            if (at >= 0)
                all[at].most_bps += link->rate_bps > 0 ? (double)link->rate_bps : NAN;
        }
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        const json_t *flow = json_object_get(x->flows, of[i].name);
        double bps = on_the_wire(cell, &of[i], fmax(phase_goodput(flow), number_of(flow, "delivered_bps")));
        add_goodput(carried_at(&cell->lab, all, flow_receiver(&of[i])), INTO, bps);
        add_goodput(carried_at(&cell->lab, all, flow_sender(&of[i])), OUT_OF, bps);
    }
    return all;
}

/* A line whose rate is not known may be full. */
static bool has_room(const struct carried *end, int direction, double more_bps)
{
    return end && end->bps[direction] + more_bps < LINE_HAS_ROOM * end->most_bps;
}

/* Pauses, congestion control and losses take from flows what they had; explain says how much. */
static bool is_slowed_or_lost(const struct looked_into *x, const struct scenario_flow *of, const json_t *flow)
{
    static const char *const of_flow[] = {"decreases", "marked_packets", "retransmitted_packets", "errors"},
                             *const of_sender[] = {"rp_cnp_handled", "packet_seq_err", "implied_nak_seq_err",
                                                   "local_ack_timeout_err", "roce_adp_retrans"};
    const json_t *sender = json_object_get(json_object_get(x->result, "hosts"), flow_sender(of));
    char pauses[40];
    snprintf(pauses, sizeof pauses, "rx_prio%d_pause", (int)of->priority);
    bool any = total_of(sender, pauses) > 0;
    for (size_t i = 0; i < sizeof of_flow / sizeof *of_flow; i++)
        any = any || number_of(flow, of_flow[i]) > 0;
    for (size_t i = 0; i < sizeof of_sender / sizeof *of_sender; i++)
        any = any || total_of(sender, of_sender[i]) > 0;
    return any;
}

/* What it lacks of its rate, in b/s; 0: nothing to speak of. Counted in whole messages, one may be missing.
 */
static double missed_bps(const struct looked_into *x, const struct scenario_flow *of, const json_t *flow)
{
    const struct scenario_phases *phases = &x->cell->scenario.phases;
    const struct wanted wanted = {of->start_ns, of->stop_ns, false};
    bool arrived = json_object_get(flow, "delivered_bps");
    double bps = arrived ? number_of(flow, "delivered_bps") : phase_goodput(flow),
           missed = (double)of->rate_bps - bps,
           slack = (RATE_SLACK + (arrived ? 0 : (double)of->message_bytes * (double)of->queue_pairs)) * 8e9 /
                   (double)phases->measure_ns;
    return of->rate_bps != FIELD_UNSET && of->size_bytes == FIELD_UNSET && of->gap_ns == FIELD_UNSET &&
                   !of->after.count && bps > 0 && sends_throughout(&wanted, phases) &&
                   missed > fmax(slack, RATE_MISSED * (double)of->rate_bps)
               ? missed
               : 0;
}

static void find_rate_missed(const struct looked_into *x)
{
    const struct scenario *s = &x->cell->scenario;
    const struct scenario_flow *of = s->flows.items;
    const struct lab *lab = &x->cell->lab;
    if (s->faults.count || s->storms.count || s->injections.count || s->traffic.count)
        return;
    struct carried *all = taken_of_lines(x);
    for (size_t i = 0; i < s->flows.count; i++) {
        const json_t *flow = json_object_get(x->flows, of[i].name);
        double missed = missed_bps(x, &of[i], flow), more = on_the_wire(x->cell, &of[i], missed);
        if (missed > 0 && has_room(carried_at(lab, all, flow_sender(&of[i])), OUT_OF, more) &&
            has_room(carried_at(lab, all, flow_receiver(&of[i])), INTO, more) &&
            !is_slowed_or_lost(x, &of[i], flow))
            json_array_append_new(
                x->warnings,
                json_textf(
                    "flow %s has %.4g Gb/s of its rate of %.4g Gb/s, though the lines of its ends have "
                    "room and its sender counted no pause, CNP or loss: its depth x message, a NIC, "
                    "PCIe or a memory lets no more through",
                    of[i].name, ((double)of[i].rate_bps - missed) / 1e9, (double)of[i].rate_bps / 1e9));
    }
    free(all);
}

/* ---- losses */

enum loss_phase { LOSS_BEFORE, LOSS_MEASURED };

/* What one counter of a role lost. */
struct loss {
    const char *role, *counter;
    enum counter_loss is;
    int64_t before, measured;
    int64_t told; /* of the phase that is spoken of */
};

struct loss_list {
    const struct looked_into *of;
    struct loss *items;
    size_t count;
};

static void take_losses(struct loss_list *all)
{
    const char *role, *counter, *whole;
    json_t *counters, *counted;
    json_object_foreach((json_t *)(uintptr_t)all->of->losses, role, counters)
    {
        all->items =
            xreallocarray(all->items, all->count + json_object_size(counters) + 1, sizeof *all->items);
        json_object_foreach(counters, counter, counted)
        {
            struct loss loss = {role,
                                counter,
                                counters_loss(counter, &whole),
                                json_integer_value(json_object_get(counted, "before")),
                                json_integer_value(json_object_get(counted, "measured")),
                                0};
            all->items[all->count++] = loss;
        }
    }
}

/* Does an expectation look at it? NAKs and time-outs are looked at together. */
struct looked_at {
    const struct loss *loss;
    bool found;
};

static void look_at(void *context, const char *role, const char *counter, const char *key)
{
    static const char *const answers[] = {"packet_seq_err", "local_ack_timeout_err", "out_of_sequence",
                                          "rcvd_seq_err", "out_of_seq_request"};
    struct looked_at *looked = context;
    (void)key;
    if (looked->loss->is == COUNTER_LOSS_ANSWERED)
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
            looked->found = looked->found || glob_matches(counter, answers[i]);
    if (name_matches(role, looked->loss->role) && glob_matches(counter, looked->loss->counter))
        looked->found = true;
}

/* The scenario looks at it in this cell, or asks for it. */
static bool is_meant(const struct looked_into *x, const struct loss *loss)
{
    const struct cell *cell = x->cell;
    const struct scenario_expect *expect = cell->scenario.expect.items;
    struct looked_at looked = {.loss = loss};
    if (loss->is != COUNTER_LOST && (cell->scenario.faults.count || cell->scenario.injections.count))
        return true;
    for (size_t i = 0; cell->checks && i < cell->scenario.expect.count; i++)
        if (plan_when(cell, expect[i].when) && !verdict_lacking(&expect[i].needs, x->result))
            expr_each_counter(cell->checks[i], look_at, &looked);
    return looked.found;
}

static int64_t lost_in(const struct loss *loss, enum loss_phase phase)
{
    return phase == LOSS_BEFORE ? loss->before : loss->measured;
}

static int compare_told(const void *a, const void *b)
{
    const struct loss *one = a, *two = b;
    if (one->told != two->told)
        return one->told > two->told ? -1 : 1;
    int by_role = strcmp(one->role, two->role);
    return by_role ? by_role : strcmp(one->counter, two->counter);
}

/* Is it told? Of the warm-up what the measured phase has fewer of: of NAKs and of what links lost, which come
 * now at one end and now at the other, all roles together. */
static bool is_told(const struct loss_list *all, const struct loss *loss, enum loss_phase phase)
{
    int64_t more = loss->before - loss->measured;
    if (phase == LOSS_MEASURED)
        return !is_meant(all->of, loss);
    for (size_t i = 0; loss->is != COUNTER_LOST && i < all->count; i++)
        if (&all->items[i] != loss && all->items[i].is == loss->is)
            more += all->items[i].before - all->items[i].measured;
    return more > 0 && loss->before > loss->measured;
}

/* What is told of a phase, the largest first; the rest has 0. Where packets were counted when they were
 * dropped, their senders' NAKs and time-outs say nothing more. */
static void choose_losses(struct loss_list *all, enum loss_phase phase)
{
    bool dropped = false;
    for (size_t i = 0; i < all->count; i++)
        dropped =
            dropped || (all->items[i].is != COUNTER_LOSS_ANSWERED && lost_in(&all->items[i], phase) > 0);
    for (size_t i = 0; i < all->count; i++) {
        struct loss *loss = &all->items[i];
        bool known = dropped && loss->is == COUNTER_LOSS_ANSWERED;
        loss->told = !known && is_told(all, loss, phase) ? lost_in(loss, phase) : 0;
    }
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, compare_told);
}

/* Over all roles, in the run. */
static double total_of_all(const struct looked_into *x, const char *counter)
{
    double sum = 0;
    const char *role;
    json_t *host;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        sum += fmax(0, total_of(host, counter));
    }
    return sum;
}

/* Did time-outs alone make senders send again, and what had arrived? */
static bool only_acks_were_late(const struct loss_list *all, enum loss_phase phase)
{
    for (size_t i = 0; i < all->count; i++)
        if (lost_in(&all->items[i], phase) > 0 && strcmp(all->items[i].counter, "local_ack_timeout_err") != 0)
            return false;
    return total_of_all(all->of, "duplicate_request") > 0 && total_of_all(all->of, "out_of_sequence") == 0 &&
           total_of_all(all->of, "out_of_seq_request") == 0;
}

#define LOSSES_NAMED 4

static void tell_losses(const struct looked_into *x, enum loss_phase phase)
{
    static const char *const sentences[] = {
        [LOSS_BEFORE] = " in the warm-up, before the measured phase, whose figures do not show these: ",
        [LOSS_MEASURED] = " in the measured phase: "};
    struct loss_list all = {.of = x};
    struct text words = {0};
    size_t count = 0;
    int64_t others = 0;
    take_losses(&all);
    choose_losses(&all, phase);
    for (; count < all.count && all.items[count].told > 0; count++) {
        const struct loss *loss = &all.items[count];
        if (count == 0 && only_acks_were_late(&all, phase))
            text_add(&words,
                     "ACKs came after ack_timeout, and packets that had arrived were sent again "
                     "(duplicate_request %.0f; none is known to be lost),%s",
                     total_of_all(x, "duplicate_request"), sentences[phase]);
        else if (count == 0)
            text_add(&words, "packets were lost%s%s",
                     loss->is == COUNTER_LOSS_ANSWERED ? " or overtaken" : "", sentences[phase]);
        if (count < LOSSES_NAMED)
            text_add(&words, "%s%s %s: %" PRId64, count ? "; " : "", loss->role, loss->counter, loss->told);
        if (count < LOSSES_NAMED && phase == LOSS_BEFORE)
            text_add(&words, " before, %" PRId64 " in it", loss->measured);
        others += count < LOSSES_NAMED ? 0 : loss->told;
    }
    if (count > LOSSES_NAMED)
        text_add(&words, "; and %" PRId64 " by %zu other %s", others, count - LOSSES_NAMED,
                 THINGS(count - LOSSES_NAMED, "counter"));
    if (count)
        json_array_append_new(x->warnings, json_text(text_string(&words)));
    text_free(&words);
    free(all.items);
}

static void find_losses_before(const struct looked_into *x)
{
    tell_losses(x, LOSS_BEFORE);
}

static void find_losses_measured(const struct looked_into *x)
{
    tell_losses(x, LOSS_MEASURED);
}

/* ---- CNPs without marks, and more handled than sent: what NICs do by themselves (docs/counters.md) */

/* "; a packet_seq_err 1465, local_ack_timeout_err 6": those that moved. */
static void add_moved(const char *role, const json_t *host, const char *const counters[], struct text *words)
{
    bool any = false;
    for (size_t i = 0; counters[i]; i++) {
        double total = total_of(host, counters[i]);
        if (total > 0)
            text_add(words, "%s%s %s %.0f", any ? "," : "; ", any ? "" : role, counters[i], total);
        any = any || total > 0;
    }
}

/* Is the host of this role where the rule's frames arrive? */
static bool is_where(const struct looked_into *x, const struct injection_rule *rule, const char *role,
                     const json_t *host)
{
    if (!rule->flow) {
        const char *end = ((char *const *)rule->link.items)[1],
                   *name = json_string_value(json_object_get(host, "name"));
        size_t length = strcspn(end, ":");
        return (strlen(role) == length && strncmp(end, role, length) == 0) ||
               (name && strlen(name) == length && strncmp(end, name, length) == 0);
    }
    const json_t *flow = json_object_get(x->flows, rule->flow);
    const char *op = json_string_value(json_object_get(flow, "op")),
               *at = json_string_value(json_object_get(flow, op && strcmp(op, "read") == 0 ? "from" : "to"));
    return at && strcmp(at, role) == 0;
}

/* The CNPs that the scenario's own rules made the role send. */
static double cnps_of_rules(const struct looked_into *x, const char *role, const json_t *host)
{
    const struct injection_rule *rules = x->cell->scenario.injections.items;
    const json_t *injected = json_object_get(x->result, "injected");
    double sum = 0;
    for (size_t i = 0; i < x->cell->scenario.injections.count; i++)
        if (rules[i].action == INJECT_CNP_SENT && is_where(x, &rules[i], role, host))
            sum += number_of(json_array_get(injected, i), "injected");
    return sum;
}

/* Receivers that sent more CNPs than marked packets arrived, and than the scenario's rules made them send. */
static void find_unmarked_cnps(const struct looked_into *x)
{
    static const char *const losses[] = {"rx_discards_phy", "out_of_sequence", NULL};
    const char *role;
    json_t *host;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        double sent = total_of(host, "np_cnp_sent"), marked = total_of(host, "np_ecn_marked_roce_packets");
        double of_rules = cnps_of_rules(x, role, host);
        struct text words = {0};
        if (marked < 0 || sent <= marked + of_rules)
            continue;
        text_add(&words, "%s sent %.0f CNPs in the run, for %.0f marked packets that arrived", role, sent,
                 marked);
        if (of_rules > 0)
            text_add(&words, " and %.0f that rules of inject asked for", of_rules);
        text_add(&words,
                 ": ConnectX-5 sends CNPs without marks too, where its port is saturated or loses packets");
        add_moved(role, host, losses, &words);
        json_array_append_new(x->warnings, json_text(text_string(&words)));
        text_free(&words);
    }
}

/* What all hosts together handled beyond what they sent; 0 where an end of a flow is not seen to send CNPs,
 * or not all roles are listed: then nobody knows how many were sent. */
static double handled_beyond_sent(const struct looked_into *x, double *sent, double *handled)
{
    const struct scenario_flow *flows = x->cell->scenario.flows.items;
    const json_t *hosts = json_object_get(x->result, "hosts");
    bool all = !json_object_get(x->result, "totals");
    const char *role;
    json_t *host;
    *sent = *handled = 0;
    for (size_t i = 0; i < x->cell->scenario.flows.count; i++)
        all = all && total_of(json_object_get(hosts, flows[i].from), "np_cnp_sent") >= 0 &&
              total_of(json_object_get(hosts, flows[i].to), "np_cnp_sent") >= 0;
    json_object_foreach((json_t *)(uintptr_t)hosts, role, host)
    {
        *sent += fmax(0, total_of(host, "np_cnp_sent"));
        *handled += fmax(0, total_of(host, "rp_cnp_handled"));
    }
    return all ? *handled - *sent : 0;
}

/* Told only where something was sent again: CNPs may come from others, too. */
static void find_own_cnps(const struct looked_into *x)
{
    static const char *const restarts[] = {"roce_slow_restart_cnps", NULL}, *const resends[] = {
                                                                                "local_ack_timeout_err",
                                                                                "roce_adp_retrans",
                                                                                "packet_seq_err", NULL};
    double sent, handled;
    struct text counted = {0}, likely = {0};
    const char *role;
    json_t *host;
    if (handled_beyond_sent(x, &sent, &handled) <= 0)
        return;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        add_moved(role, host, restarts, &counted);
        add_moved(role, host, resends, &likely);
    }
    if (counted.length || likely.length)
        json_array_append_new(
            x->warnings,
            json_textf("%.0f CNPs were handled in the run (rp_cnp_handled), %.0f sent (np_cnp_sent): the "
                       "others are%s those of slow restart, which a sender makes for itself when it sends "
                       "again%s",
                       handled, sent, counted.length ? "" : " likely",
                       text_string(counted.length ? &counted : &likely)));
    text_free(&counted);
    text_free(&likely);
}

/* ---- a capture of nothing */

static void find_empty_capture(const struct looked_into *x)
{
    const json_t *frames = json_object_get(json_object_get(x->result, "capture"), "frames");
    if (json_is_integer(frames) && json_integer_value(frames) == 0)
        json_array_append_new(x->warnings,
                              json_text("capture.pcapng has no frame: none passed that ports, flows, "
                                        "priorities and phase of capture choose"));
}

/* ---- hosts of which a part of the measured phase was not seen */

/* Is it a counter that was read in the run, and not in the measured phase? */
static bool is_unread(const json_t *counter)
{
    const char *kind = json_string_value(json_object_get(counter, "kind"));
    return kind && strcmp(kind, "counter") == 0 && !json_object_get(counter, "delta");
}

/* The times of `key`, of a host's counters: which, and the longest. `unread_ns`: of those without a figure.
 */
static void add_times(const struct looked_into *x, const char *key, int64_t unread_ns, const char *rest)
{
    const char *role, *name;
    json_t *host, *counter;
    json_object_foreach(json_object_get(x->result, "hosts"), role, host)
    {
        struct text_names names = {0};
        struct text words = {0};
        int64_t most_ns = 0;
        json_object_foreach(json_object_get(host, "counters"), name, counter)
        {
            int64_t ns = is_unread(counter) ? unread_ns : (int64_t)number_of(counter, key);
            if (ns > 0)
                text_names_add(&names, name);
            most_ns = ns > most_ns ? ns : most_ns;
        }
        text_add(&words, "%s: ", role);
        text_add_names(&words, "", &names);
        text_add(&words, rest, (double)most_ns / 1e9);
        if (names.count)
            json_array_append_new(x->warnings, json_text(text_string(&words)));
        text_free(&words);
    }
}

static void find_unread(const struct looked_into *x)
{
    add_times(x, "unread_ns", x->cell->scenario.phases.measure_ns,
              " not read for up to %.4g s of the measured phase, of which the figures say nothing");
}

static void find_beyond(const struct looked_into *x)
{
    add_times(x, "beyond_ns", 0,
              " counted for up to %.4g s more than the measured phase, between samples that were far "
              "apart: reading took long, or a clock was set");
}

/* ---- flows whose program did not say all of them */

static void find_untold(const struct looked_into *x)
{
    struct text_names untold = {0}, unwhole = {0};
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)x->flows, name, flow)
    {
        if (!json_object_get(flow, "bytes"))
            text_names_add(&untold, name);
        else if (!json_is_true(json_object_get(flow, "complete")) || number_of(flow, "errors") > 0)
            text_names_add(&unwhole, name);
    }
    add_sentence(&untold, ": the traffic program did not say what was moved, which is unknown", x->warnings);
    add_sentence(&unwhole,
                 ": the traffic program says that not all went well (its summary has errors, or is "
                 "not complete)",
                 x->warnings);
}

/* `gpu` leaves the route to the program, other memories name it. */
static void find_other_memory(const struct looked_into *x)
{
    const char *name;
    json_t *flow;
    json_object_foreach((json_t *)(uintptr_t)x->flows, name, flow)
    {
        const json_t *used = json_object_get(flow, "memory_used");
        const char *asked = json_string_value(json_object_get(flow, "memory")),
                   *kind = json_string_value(json_object_get(used, "kind")),
                   *route = json_string_value(json_object_get(used, "route"));
        bool by_kind = asked && (strcmp(asked, "host") == 0 || strcmp(asked, "gpu") == 0);
        const char *got = by_kind ? kind : route;
        if (asked && got && strcmp(asked, got) != 0)
            json_array_append_new(
                x->warnings, json_textf("flow %s: memory %s was asked for, and the traffic program says that "
                                        "it used %.60s",
                                        name, asked, got));
    }
}

/* A flow without an end is measured as long as the phase. */
static void find_other_time(const struct looked_into *x)
{
    const struct scenario_flow *of = x->cell->scenario.flows.items;
    double phase_ns = (double)x->cell->scenario.phases.measure_ns;
    for (size_t i = 0; i < x->cell->scenario.flows.count; i++) {
        const json_t *flow = json_object_get(x->flows, of[i].name);
        double ns = number_of(flow, "duration_ns");
        if (of[i].size_bytes == FIELD_UNSET && of[i].start_ns <= 0 && of[i].stop_ns == FIELD_UNSET &&
            json_object_get(flow, "bytes") && fabs(ns - phase_ns) > phase_ns / 10)
            json_array_append_new(
                x->warnings, json_textf("flow %s was measured for %.3g s, and the measured phase is %.3g s "
                                        "long: its figures are not those of the phase",
                                        of[i].name, ns / 1e9, phase_ns / 1e9));
    }
}

/* ---- all */

static const struct {
    void (*find)(const struct looked_into *x);
    enum { ANY_LAB, REAL_HOSTS } where; /* REAL_HOSTS: the simulator has none of it, or says it itself */
} troubles[] = {
    {find_losses_before, ANY_LAB}, {find_losses_measured, ANY_LAB}, {find_unread, ANY_LAB},
    {find_beyond, ANY_LAB},        {find_untold, REAL_HOSTS},       {find_other_memory, REAL_HOSTS},
    {find_other_time, REAL_HOSTS}, {find_still, ANY_LAB},           {find_unfinished, ANY_LAB},
    {find_stalled, ANY_LAB},       {find_unsettled, ANY_LAB},       {find_short_phase, ANY_LAB},
    {find_given_up, ANY_LAB},      {find_above_line, ANY_LAB},      {find_far, ANY_LAB},
    {find_rate_missed, ANY_LAB},   {find_sent_again, REAL_HOSTS},   {find_uncounted, REAL_HOSTS},
    {find_changed, REAL_HOSTS},    {find_unmarked_cnps, ANY_LAB},   {find_own_cnps, ANY_LAB},
    {find_empty_capture, ANY_LAB},
};
#define TROUBLES (sizeof troubles / sizeof *troubles)

void trouble_find(const struct cell *cell, const json_t *losses, const json_t *evenness, json_t *result)
{
    const struct looked_into x = {cell,
                                  losses,
                                  evenness,
                                  result,
                                  json_object_get(result, "flows"),
                                  json_object_get(result, "warnings")};
    bool simulated = lab_kind(&cell->lab)->simulated;
    for (size_t i = 0; i < TROUBLES; i++)
        if (!simulated || troubles[i].where == ANY_LAB)
            troubles[i].find(&x);
}
