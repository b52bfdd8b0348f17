#include "reports/explain/seen.h"

#include "lib/clock.h"
#include "lib/formats/flow.h"
#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most that one port on that way was kept from sending between two times; *which becomes the number of
 * its stop, if there is one. A port that all packets pass is not among those that some may. */
static int64_t longest_stop_ns(struct seen *s, const struct flow_seen *flow, enum way way, int64_t from_ns,
                               int64_t to_ns, size_t *which)
{
    bool may = way == WAY_MAY || way == WAY_BACK_MAY;
    int64_t most = 0;
    for (size_t i = 0; i < s->stop_count; i++) {
        const struct stop *stop = &s->stops[i];
        int64_t within = stop->priority == flow->priority ? stop_within(stop, from_ns, to_ns) : 0;
        if (within <= most || !seen_passes(s, flow, way, stop->port) ||
            (may && seen_passes(s, flow, way - 1, stop->port)))
            continue;
        most = within;
        *which = i;
    }
    return most;
}

/* The same as a part of the flow's time. */
static double stopped_share(struct seen *s, const struct flow_seen *flow, enum way way, size_t *which)
{
    return (double)longest_stop_ns(s, flow, way, flow->start_ns, flow->end_ns, which) /
           (double)(flow->end_ns - flow->start_ns);
}

int64_t seen_stopped_ns(struct seen *s, const struct flow_seen *flow, int64_t from_ns, int64_t to_ns)
{
    size_t which = SIZE_MAX;
    return longest_stop_ns(s, flow, WAY_MUST, from_ns, to_ns, &which);
}

/* The same of what both ends count; NAN: they do not. */
static double counted_pauses(const struct seen *s, const struct flow_seen *flow)
{
    double sender = seen_rate(s, flow->from, "rx_prio%d_pause_duration", flow->priority);
    double receiver = seen_rate(s, flow->to, "tx_prio%d_pause_duration", flow->priority);
    return fmax(sender, receiver) * (double)NS_PER_US / NS_PER_S;
}

/* What is left of the whole; the share is at most that. */
static double take_share(struct flow_seen *flow, enum share kind, double share, double *left)
{
    share = share > *left ? *left : share > 0 ? share : 0;
    flow->share[kind] += share;
    *left -= share;
    return share;
}

double seen_overlap(const struct flow_seen *flow, const struct flow_seen *other)
{
    int64_t from = other->start_ns > flow->start_ns ? other->start_ns : flow->start_ns;
    int64_t to = other->end_ns < flow->end_ns ? other->end_ns : flow->end_ns;
    return to > from ? (double)(to - from) / (double)(flow->end_ns - flow->start_ns) : 0;
}

/* A flow that completed nothing for such a part of its time, up to its end, and was not paused: its packets
 * are lost, and no time-out has come yet. */
#define STILL 0.2

static bool is_still(const struct flow_seen *flow)
{
    return (double)flow->still_ns > STILL * (double)(flow->end_ns - flow->start_ns);
}

/* The part of its time in which the flow stood for lost packets: so long that its messages, at the rate that
 * it had before, do not take that. */
static double stood_share(const struct flow_seen *flow)
{
    double time_ns = (double)(flow->end_ns - flow->start_ns), still_ns = (double)flow->still_ns,
           moved_bytes = flow->goodput_bps / 8 * time_ns / NS_PER_S;
    double usual_ns = (time_ns - still_ns) * flow->message_bytes / moved_bytes;
    bool stands = is_still(flow) && moved_bytes > 0 && still_ns > 2 * usual_ns;
    return ((double)flow->stalled_ns + (stands ? still_ns : 0)) / time_ns;
}

/* What other flows of its sender have, but for what they have beyond their fair part while the flow stood for
 * lost packets, or was paused where they do not go, or of another priority: that is its loss. `*meanwhile`:
 * their part of the line while it is paused. */
static double others_share(struct seen *s, const struct flow_seen *flow, double paused, double *meanwhile)
{
    double sum = 0, unpaused = 0, flows = 1;
    size_t stop = flow->stop[WAY_MUST];
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *other = &s->flows[i];
        if (other == flow || strcmp(other->from, flow->from) != 0)
            continue;
        double overlap = seen_overlap(flow, other),
               its = (other->goodput_bps + other->resent_bps) * overlap / flow->most_bps;
        bool passes = other->priority == flow->priority &&
                      (stop == SIZE_MAX || seen_may_pass(s, other, s->stops[stop].port));
        sum += its;
        unpaused += passes ? 0 : its;
        flows += overlap;
    }
    double held = fmin(unpaused, isnan(paused) ? 0 : paused) + stood_share(flow);
    *meanwhile = fmin(unpaused, 1 - 1 / flows);
    return sum - fmax(0, fmin(sum - (1 - 1 / flows), held));
}

/* The increase of a host's counter of a priority while the flow ran, by the second. NAN: not sampled. */
static double rate_during(const struct seen *s, const struct flow_seen *flow, const char *what, int priority)
{
    const struct series *series = seen_series(s, flow->from, "tx_prio%d_%s", priority, what);
    double time_s = (double)(flow->end_ns - flow->start_ns) / NS_PER_S;
    return seen_is_partial(s, flow)
               ? (series_at(series, flow->end_ns) - series_at(series, flow->start_ns)) / time_s
               : seen_rate(s, flow->from, "tx_prio%d_%s", priority, what);
}

/* What the flow's sender sent while it ran beyond what arrived of its flows, as a part of its line: of others
 * it is still on the way, and acknowledgements of what it receives take their part. 0: it sends nothing else,
 * or that was not counted. */
static double sent_of_others(const struct seen *s, const struct flow_seen *flow)
{
    double line = seen_line_bps(s, flow->from), frames = flow->payload * line / flow->most_bps, sent = 0,
           gaps = 0, arrived = 0;
    bool others = false;
    for (int priority = 0; priority < PRIORITIES; priority++) {
        sent += fmax(0, 8 * rate_during(s, flow, "bytes", priority));
        gaps += fmax(0, 8 * SEEN_NOT_COUNTED * rate_during(s, flow, "packets", priority));
    }
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *other = &s->flows[i];
        double overlap = seen_overlap(flow, other);
        others |= other != flow && overlap > 0 &&
                  (strcmp(other->from, flow->from) == 0 || strcmp(other->to, flow->from) == 0);
        if (strcmp(other->from, flow->from) == 0 && other->most_bps > 0)
            arrived += (other->goodput_bps + other->resent_bps) / other->most_bps * overlap;
    }
    double use = gaps > 0 ? (sent + gaps) / line : sent / line * frames / (frames - SEEN_NOT_COUNTED);
    return others ? use - arrived : 0;
}

/* What flows bring to the host together while this one runs, as a part of its line. */
static double load_of(const struct seen *s, const struct flow_seen *flow, const char *to, double line_bps)
{
    double sum = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *other = &s->flows[i];
        if (strcmp(other->to, to) == 0)
            sum += other->goodput_bps * seen_overlap(flow, other);
    }
    return sum / line_bps;
}

/* Is a line full that the flow shares with others? Its receiver's, or one between switches. */
static bool waits_in_queue(struct seen *s, const struct flow_seen *flow)
{
    size_t others = 0;
    for (size_t i = 0; i < s->flow_count; i++)
        others += strcmp(s->flows[i].to, flow->to) == 0 && strcmp(s->flows[i].from, flow->from) != 0;
    double line = seen_line_bps(s, flow->to);
    if (others && line > 0 && load_of(s, flow, flow->to, line) >= SEEN_LOADED)
        return true;
    for (size_t p = 0; !s->hosts_only && p < s->network.port_count; p++)
        if (!s->network.nodes[s->network.ports[p].node].host && seen_may_pass(s, flow, p) &&
            seen_is_full(s, p, flow))
            return true;
    return false;
}

/* The part of the line that the scenario lets the flow have: its rate, or the most that DCQCN gives each of
 * its queue pairs. */
static double wanted_share(const struct seen *s, const struct flow_seen *flow)
{
    double rate = (double)seen_quantity(json_object_get(flow->asked, "rate"), 0), wanted = 1;
    double most = json_number_value(run_get(s->run, "scenario.settings.dcqcn.rp.rpg_max_rate")) * 1e6;
    double queue_pairs = json_number_value(json_object_get(flow->asked, "queue_pairs"));
    if (rate > 0)
        wanted = rate / flow->most_bps;
    if (most > 0 && seen_is_on(s, "ecn", flow->priority))
        wanted = fmin(wanted, most * fmax(1, queue_pairs) / seen_line_bps(s, flow->from));
    return wanted;
}

double seen_depth(const struct flow_seen *flow)
{
    double depth = json_number_value(json_object_get(flow->asked, "depth"));
    double queue_pairs = fmax(1, json_number_value(json_object_get(flow->asked, "queue_pairs")));
    return queue_pairs * (depth > 0 ? depth : strtod(FLOW_DEPTH_DEFAULT, NULL));
}

/* How long the flow takes for as many messages as it has in flight, seconds: so long is each on its way.
 * INFINITY: none was complete. */
static double window_s(const struct flow_seen *flow)
{
    double messages = flow->result_bps > 0 ? flow->messages_per_s * flow->goodput_bps / flow->result_bps : 0;
    if (flow->ends && flow->messages > 0)
        messages = flow->messages / ((double)(flow->end_ns - flow->start_ns) / NS_PER_S);
    return (flow->ends ? fmin(seen_depth(flow), flow->messages) : seen_depth(flow)) / messages;
}

/* Messages in flight that take no longer, beside their time on the line, wait for nothing; where queues were
 * not sampled, if that is hardly longer than a way. */
#define UNHELD_S 20e-6
#define WAY_S    5e-6

/* So long the messages that the flow has in flight take on an empty network, at most. */
static double unheld_s(const struct flow_seen *flow, double way_s)
{
    return way_s + window_s(flow) * flow->goodput_bps / flow->most_bps;
}

/* Of the part of a full line that each of its senders could have: who has less does not ask for it, or was
 * kept from it. */
#define FAIR 0.7
/* Of its line: one that is kept from less by pauses or congestion control is not held up by the others. */
#define KEPT 0.01

/* Has the flow's sender its part of the line that its receiver has, or would it if all asked for as much? */
static bool has_part(const struct seen *s, const struct flow_seen *flow)
{
    double own = 0, all = 0, senders = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *one = &s->flows[i];
        bool known = strcmp(one->to, flow->to) != 0;
        if (known)
            continue;
        double its = one->goodput_bps * seen_overlap(flow, one);
        all += its;
        own += strcmp(one->from, flow->from) == 0 ? its : 0;
        for (size_t k = 0; k < i && !known; k++)
            known = strcmp(s->flows[k].to, flow->to) == 0 && strcmp(s->flows[k].from, one->from) == 0;
        senders += !known && its > 0;
    }
    return own * senders >= FAIR * all;
}

/* How long a frame of the flow's priority waits at the port, in the mean, seconds: for what stands there, at
 * the port's rate or, if its queue never empties and it is not full, at that at which it goes. */
static double port_s(const struct seen *s, const struct flow_seen *flow, size_t port, double *variance)
{
    const struct network_port *at = &s->network.ports[port];
    double bytes = s->hosts_only ? NAN : seen_queue_bytes(s, port, flow, variance),
           use = seen_use(s, port, flow);
    bool slow = use > 0 && use < SEEN_FULL && seen_backlog(s, port, flow->priority, NULL, NULL) >= SEEN_FULL;
    double gaps = 1 + SEEN_NOT_COUNTED / flow->payload; /* that their line carries between frames */
    double per_byte = 8 * gaps / at->rate_bps / (slow ? use : 1);
    *variance *= per_byte * per_byte;
    return bytes * per_byte;
}

/* Adds the ports of one way: those that it must pass, and of those that it may the longest. */
static void wait_at_ports(struct seen *s, const struct flow_seen *flow, enum way may, const char *sender,
                          struct waits *waits, double *most_s)
{
    double longest_s = 0;
    for (size_t p = 0; p < s->network.port_count; p++) {
        const struct network_port *at = &s->network.ports[p];
        if (s->network.nodes[at->node].host || !seen_passes(s, flow, may, p) ||
            (at->rate_bps >= seen_line_bps(s, sender) && !seen_is_shared(s, flow, p, sender)))
            continue;
        double variance = 0, its = port_s(s, flow, p, &variance);
        waits->unsampled |= isnan(its);
        its = isnan(its) ? 0 : its;
        if (its > *most_s) {
            waits->port = p;
            waits->variance = variance;
            *most_s = its;
        }
        if (seen_passes(s, flow, may - 1, p))
            waits->ports_s += its;
        else
            longest_s = fmax(longest_s, its);
    }
    waits->ports_s += longest_s;
}

/* What stands in the host's receive buffers, by the rate of what comes there: more than a few frames, or more
 * than half of what the flow has in flight. */
static double buffer_s(const struct seen *s, const struct flow_seen *flow, const char *host)
{
    double bytes = 0, bps = 0, ignored,
           few = fmin(SEEN_SEVERAL_FRAMES, seen_depth(flow) * flow->message_bytes / 2);
    for (int buffer = 0; buffer < PRIORITIES; buffer++)
        bytes += fmax(0, seen_mean(seen_series(s, host, "rx_buffer%d_bytes", buffer), flow, &ignored));
    for (size_t i = 0; i < s->flow_count; i++)
        if (strcmp(s->flows[i].to, host) == 0)
            bps += s->flows[i].goodput_bps * seen_overlap(flow, &s->flows[i]);
    return bytes > few && few > 0 && bps > 0 ? 8 * bytes / bps : 0;
}

/* Does another host send anything while the flow runs? */
static bool runs_beside(const struct seen *s, const struct flow_seen *flow)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (strcmp(s->flows[i].from, flow->from) != 0 && seen_overlap(flow, &s->flows[i]) > 0)
            return true;
    return false;
}

static struct waits find_waits(struct seen *s, const struct flow_seen *flow)
{
    struct waits waits = {.port = NETWORK_NONE};
    double most_s = 0, own_s = buffer_s(s, flow, flow->to), back_s = buffer_s(s, flow, flow->from);
    bool placed = flow->from_node != NETWORK_NONE && flow->to_node != NETWORK_NONE;
    waits.unsampled = !placed && runs_beside(s, flow);
    wait_at_ports(s, flow, WAY_MAY, flow->from, &waits, &most_s);
    wait_at_ports(s, flow, WAY_BACK_MAY, flow->to, &waits, &most_s);
    waits.buffer_s = own_s + back_s;
    waits.host = waits.buffer_s > 0 ? own_s >= back_s ? flow->to : flow->from : NULL;
    return waits;
}

/* What waiting so long keeps the flow from, if each message is that time of this on its way: without it the
 * flow would have as much more, or end as much earlier. */
static double waited_share(const struct flow_seen *flow, double wait_s, double window_s)
{
    if (flow->ends || flow->goodput_bps <= 0)
        return fmin(1, wait_s / fmin(window_s, (double)(flow->end_ns - flow->start_ns) / NS_PER_S));
    return wait_s < window_s ? flow->share[SHARE_DELIVERED] * wait_s / (window_s - wait_s) : 1;
}

/* The part of its time in which a flow with a gap rests: between bursts of that many messages. */
static double rest_share(const struct flow_seen *flow)
{
    return (double)seen_quantity(json_object_get(flow->asked, "gap"), 0) / NS_PER_S / window_s(flow);
}

/* Beyond what the rate that DCQCN allows leaves unused, of the line: senders do not use all of it. */
#define RATE_SLACK 0.02
/* Of the line: a rate that is this much lower is felt. */
#define RATE_FELT 0.01

/* What the rate that its congestion control allows was below what the flow wants, as the gauge tells; NAN: it
 * was not sampled. */
static double held_share(const struct seen *s, const struct flow_seen *flow, double wanted)
{
    char *name = xstrdup(flow->name);
    for (char *at = name; *at; at++)
        *at = *at == '/' ? '-' : *at;
    const struct series *rate =
        s->hosts_only ? NULL : seen_series(s, flow->from, "%s_%s_rate", flow->control, name);
    double held = 0, line = seen_line_bps(s, flow->from);
    size_t count = 0;
    free(name);
    for (size_t i = 0; rate && i < rate->count; i++) {
        if (rate->time_ns[i] < flow->start_ns || rate->time_ns[i] > flow->end_ns ||
            rate->value[i] == LINES_NULL)
            continue;
        held += fmax(0, fmin(1, wanted) - (double)rate->value[i] / line);
        count++;
    }
    return count ? held / (double)count : NAN;
}

/* What its congestion control kept the flow from, at most; NAN: that is not known. A rate that was cut before
 * the measure phase may still be low in it: then it increases. */
static double rate_share(const struct seen *s, const struct flow_seen *flow, double wanted)
{
    double restarts = seen_counter(s, flow->from, "roce_slow_restart_cnps");
    double cnps = seen_counter(s, flow->from, "rp_cnp_handled") - (restarts > 0 ? restarts : 0);
    double held = held_share(s, flow, wanted);
    if (!isnan(held))
        return held > RATE_FELT ? held + RATE_SLACK : 0;
    if (!seen_obeys_cnps(flow))
        return strcmp(flow->control, "none") == 0 ? 0 : NAN;
    bool recovers = flow->increases > 0 && window_s(flow) > unheld_s(flow, UNHELD_S);
    return flow->decreases > 0 || (cnps > 0 && (flow->marked > 0 || recovers || s->hosts_only));
}

double seen_lost(const struct flow_seen *flow)
{
    static const enum share lost[] = {SHARE_RESENT, SHARE_PAUSED, SHARE_RATE,   SHARE_LOSS,
                                      SHARE_QUEUE,  SHARE_SENDER, SHARE_UNKNOWN};
    double sum = 0;
    for (size_t k = 0; k < sizeof lost / sizeof *lost; k++)
        sum += flow->share[lost[k]];
    double beside = fmin(fmax(0, sum - flow->lacks), flow->share[SHARE_RESENT]);
    return flow->share[SHARE_RESENT] + flow->share[SHARE_LOSS] - beside;
}

/* Did the sender notice losses, of whichever of its flows? */
static bool host_loses(const struct seen *s, const struct flow_seen *flow)
{
    return seen_counter(s, flow->from, "local_ack_timeout_err") > 0 ||
           seen_counter(s, flow->from, "packet_seq_err") > 0;
}

/* Losses that the flow's sender noticed in the measure phase, of whichever of its flows; NAN: not counted. */
static double noticed_losses(const struct seen *s, const struct flow_seen *flow)
{
    static const char *const counters[] = {"packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err",
                                           "roce_adp_retrans", "rnr_nak_retry_err"};
    double sum = seen_delta(s, flow->from, "%s", counters[0]);
    for (size_t k = 1; k < sizeof counters / sizeof *counters; k++)
        sum += fmax(0, seen_delta(s, flow->from, "%s", counters[k]));
    return sum;
}

/* How much of its time a flow that sent again, for losses that were counted, may have waited for that beside
 * the intervals in which it stood still: at most two intervals, and two messages, for each loss. */
static double unseen_waits(const struct seen *s, const struct flow_seen *flow)
{
    double noticed = noticed_losses(s, flow), time_ns = (double)(flow->end_ns - flow->start_ns);
    double message_ns =
        flow->goodput_bps > 0 ? 8 * flow->message_bytes / flow->goodput_bps * NS_PER_S : INFINITY;
    return !(noticed > 0) || !flow->every_ns ? 1
                                             : 2 * noticed * ((double)flow->every_ns + message_ns) / time_ns;
}

/* What a link on the flow's way took that carried less than its rate since it was down: its sender's own,
 * whose queue no switch has, or one of all. */
static void take_slowed(struct seen *s, struct flow_seen *flow, bool own, double wanted, double *left)
{
    double time_ns = (double)(flow->end_ns - flow->start_ns);
    struct after_down after;
    for (size_t p = 0; p < s->network.port_count; p++) {
        const struct network_port *at = &s->network.ports[p];
        if (flow->slowed > 0 || flow->from_node == NETWORK_NONE || (own && at->node != flow->from_node) ||
            !seen_may_pass(s, flow, p) || !seen_slower_since(s, p, flow->priority, &after))
            continue;
        int64_t from = after.from_ns > flow->start_ns ? after.from_ns : flow->start_ns,
                to = after.to_ns < flow->end_ns ? after.to_ns : flow->end_ns;
        double part = to > from ? (double)(to - from) / time_ns : 0;
        flow->slowed_port = p;
        flow->slowed =
            take_share(flow, SHARE_QUEUE, part * (fmin(1, wanted) - after.bps / at->rate_bps), left);
    }
}

/* Of messages that wait for long there are fewer than of those that wait less: the mean over time is so much
 * more than that over messages, at most. */
#define VARIES_MOST 0.1

/* Of what is in a queue, nearly all is no more than the mean and twice its standard deviation. */
#define FINDS_MOST 2

/* The most that queues and receive buffers may keep the flow from. What it has in flight comes to a queue at
 * once, and finds it longer by up to as much than it is in the mean, if it varies so. */
static double found_share(const struct flow_seen *flow, const struct waits *waits, double all_s)
{
    double on_line_s = all_s * flow->goodput_bps / flow->most_bps;
    double found_s = waits->ports_s + waits->buffer_s + fmin(FINDS_MOST * sqrt(waits->variance), on_line_s);
    return waited_share(flow, fmin(found_s, all_s - on_line_s), all_s);
}

/* What queues and receive buffers keep the flow from; not known where those were not sampled, and its
 * messages take longer than on an empty network. */
static void take_waits(struct seen *s, struct flow_seen *flow, bool full, double *left)
{
    struct waits waits = find_waits(s, flow);
    bool unknown = waits.unsampled || (full && s->hosts_only), bursts = json_object_get(flow->asked, "gap");
    double wait_s = waits.ports_s + waits.buffer_s,
           all_s = (flow->latency_s > 0 && !bursts && !flow->ends ? flow->latency_s : window_s(flow)) *
                   (1 - flow->share[SHARE_PAUSED]);
    all_s *= 1 + fmin(VARIES_MOST, waits.variance / (all_s * all_s));
    flow->window_limits = all_s <= unheld_s(flow, unknown ? WAY_S : UNHELD_S) + wait_s;
    flow->waits = waits;
    double queued = waited_share(flow, wait_s, all_s);
    take_share(flow, SHARE_QUEUE, queued, left);
    if (full)
        take_share(flow, SHARE_UNKNOWN, found_share(flow, &waits, all_s) - queued, left);
    if (wait_s < all_s) /* without that a flow with a gap would rest for more of its time */
        take_share(flow, SHARE_ASKED, rest_share(flow) * wait_s / (all_s - wait_s), left);
    if (unknown && !flow->window_limits)
        take_share(flow, SHARE_UNKNOWN, 1, left);
}

void seen_share_out(struct seen *s, struct flow_seen *flow)
{
    double left = 1, time_s = (double)(flow->end_ns - flow->start_ns) / NS_PER_S;
    if (time_s <= 0 && s->measure_ns > 0) { /* it ran before, or after */
        flow->share[SHARE_ASKED] = 1;
        return;
    }
    if (flow->most_bps <= 0 &&
        flow->slowdown > 0) { /* of many hosts; what they were asked for is done, later */
        flow->share[SHARE_DELIVERED] = fmin(1, 1 / flow->slowdown);
        flow->share[SHARE_UNKNOWN] = flow->lacks = 1 - flow->share[SHARE_DELIVERED];
        return;
    }
    if (flow->most_bps <= 0 || time_s <= 0) {
        flow->share[SHARE_UNKNOWN] = flow->lacks = 1;
        return;
    }
    double paused =
        s->has_pauses ? stopped_share(s, flow, WAY_MUST, &flow->stop[WAY_MUST]) : counted_pauses(s, flow);
    double wanted = wanted_share(s, flow), time_ns = (double)(flow->end_ns - flow->start_ns);
    double held = rate_share(s, flow, wanted);
    take_share(flow, SHARE_DELIVERED, flow->goodput_bps / flow->most_bps, &left);
    take_share(flow, SHARE_RESENT, flow->resent_bps / flow->most_bps, &left);
    double meanwhile;
    take_share(flow, SHARE_OTHERS, others_share(s, flow, paused, &meanwhile), &left);
    take_share(flow, SHARE_ASKED, left - fmax(0, wanted - flow->share[SHARE_DELIVERED]), &left);
    double rest = take_share(flow, SHARE_ASKED, rest_share(flow), &left);
    if (flow->ends) /* its last bytes are on their way, and what confirms them */
        rest += take_share(flow, SHARE_ASKED, UNHELD_S / time_s, &left);
    flow->lacks = fmax(0, fmin(1, wanted) - rest - flow->share[SHARE_DELIVERED]);
    take_slowed(s, flow, true, wanted, &left);
    if (!flow->acks_late)
        take_share(flow, SHARE_LOSS, fmin(1, wanted) * (double)flow->stalled_ns / time_ns, &left);
    double own = stood_share(flow) > 0 ? 1 - meanwhile : 1; /* else no more is left */
    flow->stopped[WAY_MUST] = take_share(flow, SHARE_PAUSED, isnan(paused) ? 0 : paused * own, &left);
    if (strcmp(run_member(flow->asked, "mode"), "latency") == 0)
        take_share(flow, SHARE_ASKED, 1, &left);
    take_share(flow, SHARE_RATE, isnan(held) ? 0 : held, &left);
    bool still = is_still(flow);
    bool loses = still || (!flow->acks_late &&
                           (flow->resent_bps > 0 || (isnan(flow->resent_packets) && host_loses(s, flow))));
    if (loses)
        take_share(flow, SHARE_LOSS, still ? 1 : unseen_waits(s, flow), &left);
    bool full = left > 0 && waits_in_queue(s, flow),
         kept = flow->share[SHARE_PAUSED] + flow->share[SHARE_RATE] > KEPT || loses;
    if (full && (kept || flow->goodput_bps <= 0 || has_part(s, flow)))
        take_share(flow, SHARE_QUEUE, 1, &left);
    bool bursts = json_object_get(flow->asked, "gap") != NULL;
    double behind =
        bursts && left > 0 ? seen_shared_backlog(s, flow) : 0; /* the line is full for their time */
    take_share(flow, isnan(behind) ? SHARE_UNKNOWN : SHARE_QUEUE, isnan(behind) ? 1 : behind, &left);
    for (enum way way = WAY_MAY; s->has_pauses && way < WAYS; way++)
        flow->stopped[way] =
            take_share(flow, SHARE_PAUSED, stopped_share(s, flow, way, &flow->stop[way]), &left);
    if (left > 0)
        take_share(flow, SHARE_OTHERS, sent_of_others(s, flow), &left);
    if (left > 0)
        take_slowed(s, flow, false, wanted, &left);
    if (left > 0)
        take_waits(s, flow, full, &left);
    if (isnan(paused) || isnan(held))
        take_share(flow, SHARE_UNKNOWN, 1, &left);
    take_share(flow, flow->acks_late ? SHARE_LOSS : SHARE_SENDER, 1, &left);
    flow->rests = rest > flow->share[SHARE_SENDER];
}
