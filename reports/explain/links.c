#include "reports/explain/judge.h"

#include "lib/clock.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *judge_link_name(const struct seen *s, size_t port)
{
    size_t one = s->network.ports[port].node, other = network_behind(&s->network, port);
    return xasprintf("%s - %s", s->network.nodes[one < other ? one : other].name,
                     s->network.nodes[one < other ? other : one].name);
}

/* ---- links that went down */

/* Flows whose packets were sent again are named in the evidence, a few. */
#define FLOWS_TOLD 4

/* The first and last sample of the column that is more than the one before it. */
static bool find_increases(const struct series *series, size_t *first, size_t *last)
{
    bool any = false;
    for (size_t i = 1; series && i < series->count; i++)
        if (series->value[i - 1] != LINES_NULL && series->value[i] > series->value[i - 1]) {
            *first = any ? *first : i;
            *last = i;
            any = true;
        }
    return any;
}

/* When the port's link was down, from the first time to the last, as samples tell; *times: how often, 0: not
 * counted. `*back`: something left by it since then. */
static bool find_down_time(const struct seen *s, size_t port, int64_t *from_ns, int64_t *to_ns,
                           int64_t *times, bool *back)
{
    const size_t ends[] = {port, s->network.ports[port].peer};
    bool any = false;
    *back = false;
    *times = 0;
    for (size_t k = 0; k < 2; k++) {
        const struct network_port *at = &s->network.ports[ends[k]];
        const char *role = seen_role(s, at->node);
        const struct series *down = seen_series(s, role, "port%u_link_down_events", at->number),
                            *sent = seen_series(s, role, "port%u_tx_bytes", at->number);
        size_t first = 1, last = 1;
        bool counted = down != NULL;
        down = down ? down : seen_series(s, role, "port%u_link_discards", at->number);
        if (!find_increases(down, &first, &last))
            continue;
        *times = counted ? down->value[last] - down->value[first - 1] : *times;
        *from_ns = !any || down->time_ns[first - 1] < *from_ns ? down->time_ns[first - 1] : *from_ns;
        *to_ns = *back ? *to_ns : down->time_ns[down->count - 1];
        any = true;
        for (size_t i = 1; sent && i < sent->count; i++)
            if (sent->time_ns[i - 1] >= down->time_ns[last] && sent->value[i] > sent->value[i - 1]) {
                *to_ns = *back && *to_ns < sent->time_ns[i - 1] ? *to_ns : sent->time_ns[i - 1];
                *back = true;
                break;
            }
    }
    return any;
}

bool judge_failed(const struct seen *s, size_t port)
{
    const size_t ends[] = {port, s->network.ports[port].peer};
    int64_t from = 0, to = 0, times;
    bool back;
    for (size_t k = 0; k < 2; k++)
        if (seen_delta(s, seen_role(s, s->network.ports[ends[k]].node), "port%u_link_discards",
                       s->network.ports[ends[k]].number) > 0)
            return true;
    if (!find_down_time(s, port, &from, &to, &times, &back))
        return false;
    from = from > 0 ? from : 0;
    to = to < s->measure_ns ? to : s->measure_ns;
    return (double)(to - from) > MATTERS * (double)s->measure_ns;
}

/* With `adaptive` whichever path it takes. */
static bool may_take(struct seen *s, const struct flow_seen *flow, size_t port, bool adaptive)
{
    return adaptive && flow->from_node != NETWORK_NONE && flow->to_node != NETWORK_NONE
               ? network_may_pass(&s->network, flow->from_node, flow->to_node, port)
               : seen_may_pass(s, flow, port);
}

size_t judge_port_beside(struct seen *s, size_t port, int priority, enum beside which)
{
    const struct network *n = &s->network;
    size_t node = n->ports[port].node;
    for (size_t p = n->nodes[node].first; p != NETWORK_NONE; p = n->ports[p].next) {
        bool other = false;
        for (size_t i = 0; i < s->flow_count && p != port && !other; i++)
            other = s->flows[i].priority == priority &&
                    may_take(s, &s->flows[i], p, which == BESIDE_WITH_ROOM) &&
                    seen_may_pass(s, &s->flows[i], port);
        bool fits = which == BESIDE_FAILED      ? judge_failed(s, p) && seen_has_others(s, port)
                    : which == BESIDE_WITH_ROOM ? !(seen_use(s, p, NULL) >= SEEN_FULL)
                                                : true;
        if (other && fits)
            return p;
    }
    return NETWORK_NONE;
}

struct cause *judge_link_down(struct seen *s, struct causes *causes, size_t port)
{
    char *link = judge_link_name(s, port);
    bool is_new;
    struct cause *cause = causes_get_or_add(s, causes, CAUSE_LINK_DOWN, link, SURE, &is_new);
    free(link);
    if (!is_new)
        return cause;
    cause->port = port;
    int64_t times;
    bool back;
    if (!s->hosts_only && find_down_time(s, port, &cause->from_ns, &cause->to_ns, &times, &back)) {
        if (times > 1)
            text_add(&cause->evidence, "it went down %" PRId64 " times in that\n", times);
        if (!back)
            text_add(&cause->evidence,
                     "nothing was sent over it since: whether it is up again is not known\n");
    }
    size_t told = 0;
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].resent_packets > 0 && told++ < FLOWS_TOLD)
            text_add(&cause->evidence, "%s%s", told == 1 ? "sent packets again: " : ", ", s->flows[i].name);
    if (told > FLOWS_TOLD)
        text_add(&cause->evidence, " and %zu %s", told - FLOWS_TOLD, THINGS(told - FLOWS_TOLD, "other"));
    if (told)
        text_add(&cause->evidence, "\n");
    return cause;
}

/* ---- links whose rate was lowered */

/* Of a line: a port that sends less while its queue stands, and nothing pauses it, has a slower link. */
#define SLOWED 0.7
/* Intervals between samples, at least, in which that must be so, and the part of all of them that have one
 * rate. */
#define SLOWED_LEAST 5
#define SLOWED_ALIKE 0.8

static int by_rate(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The rate between two samples of a port that had all the time what to send; NAN: it had not, or nothing was
 * sampled. */
static double busy_rate(const struct seen *s, const struct series *sent, size_t i, const struct series *queue,
                        const struct stop *stop)
{
    int64_t from = sent->time_ns[i - 1], to = sent->time_ns[i];
    bool stands = series_at(queue, from) > SEEN_SEVERAL_FRAMES && series_at(queue, to) > SEEN_SEVERAL_FRAMES;
    if (from < 0 || to > s->measure_ns || to <= from || !stands || sent->value[i] == LINES_NULL ||
        sent->value[i - 1] == LINES_NULL || (double)stop_within(stop, from, to) > 0.1 * (double)(to - from))
        return NAN;
    return 8 * (double)(sent->value[i] - sent->value[i - 1]) / ((double)(to - from) / NS_PER_S);
}

static double middle_rate(const struct series *bytes, int64_t from_ns, int64_t to_ns, size_t *count,
                          double *alike)
{
    double *rates = xcalloc(bytes->count + 1, sizeof *rates), middle;
    size_t near = 0;
    *count = 0;
    for (size_t i = 1; i < bytes->count; i++)
        if (bytes->time_ns[i - 1] >= from_ns && bytes->time_ns[i] <= to_ns && bytes->value[i] != LINES_NULL &&
            bytes->value[i - 1] != LINES_NULL)
            rates[(*count)++] = 8 * (double)(bytes->value[i] - bytes->value[i - 1]) * NS_PER_S /
                                (double)(bytes->time_ns[i] - bytes->time_ns[i - 1]);
    qsort(rates, *count, sizeof *rates, by_rate);
    middle = *count ? rates[*count / 2] : 0;
    for (size_t i = 0; i < *count; i++)
        near += fabs(rates[i] - middle) < 0.05 * middle;
    *alike = *count ? (double)near / (double)*count : 0;
    free(rates);
    return middle;
}

/* Has the link one lower rate from the time when it was down to the next, whatever passes? */
static bool is_slower_within(const struct series *bytes, int64_t down_ns, int64_t end_ns, double link_bps,
                             struct after_down *after)
{
    size_t count;
    double alike;
    after->from_ns = after->to_ns = end_ns;
    for (size_t i = 1; i < bytes->count; i++) /* the first time in which it is up again */
        if (bytes->time_ns[i - 1] >= down_ns && bytes->value[i] > bytes->value[i - 1] &&
            after->from_ns == end_ns)
            after->from_ns = bytes->time_ns[i];
    after->bps = middle_rate(bytes, after->from_ns, end_ns, &count, &alike);
    return count >= SLOWED_LEAST && alike >= SLOWED_ALIKE && after->bps > 0 &&
           after->bps < SLOWED * link_bps && after->bps < SLOWED * after->before_bps;
}

/* The samples of whether the port's link was down, by its own counters. */
static const struct series *down_series(const struct seen *s, size_t port)
{
    const struct network_port *at = &s->network.ports[port];
    const char *role = seen_role(s, at->node);
    return s->network.nodes[at->node].host ? seen_series(s, role, "link_down_events_phy")
                                           : seen_series(s, role, "port%u_link_down_events", at->number);
}

/* What left by the port: as its node counts it, or as the host at the other end does. */
static const struct series *sent_series(const struct seen *s, size_t port, bool by_other, int priority)
{
    const struct network_port *at = &s->network.ports[by_other ? s->network.ports[port].peer : port];
    const char *role = seen_role(s, at->node);
    if (s->network.nodes[at->node].host)
        return seen_series(s, role, "%s_prio%d_bytes", by_other ? "rx" : "tx", priority);
    return by_other ? NULL : seen_series(s, role, "port%u_tx_bytes", at->number);
}

bool seen_slower_since(const struct seen *s, size_t port, int priority, struct after_down *after)
{
    const struct series *down = down_series(s, port), *bytes = sent_series(s, port, false, priority);
    size_t first, last, count;
    double alike;
    if (!find_increases(down, &first, &last))
        down = down_series(s, s->network.ports[port].peer);
    bytes = bytes ? bytes : sent_series(s, port, true, priority);
    if (!bytes || !find_increases(down, &first, &last))
        return false;
    struct after_down one = {.before_bps =
                                 middle_rate(bytes, INT64_MIN, down->time_ns[first - 1], &count, &alike)};
    *after = (struct after_down){0};
    for (size_t i = first; i < down->count && count >= SLOWED_LEAST; i++) {
        size_t next = i + 1;
        while (next < down->count && down->value[next] <= down->value[next - 1])
            next++;
        int64_t end_ns = next < down->count ? down->time_ns[next - 1] : s->measure_ns;
        if (is_slower_within(bytes, down->time_ns[i - 1], end_ns < s->measure_ns ? end_ns : s->measure_ns,
                             s->network.ports[port].rate_bps, &one) &&
            one.to_ns - one.from_ns > after->to_ns - after->from_ns)
            *after = one;
        i = next - 1;
    }
    return after->to_ns > after->from_ns;
}

struct cause *judge_slower_since(struct seen *s, struct causes *causes, size_t port, int priority)
{
    struct after_down after;
    bool is_new;
    if (!seen_slower_since(s, port, priority, &after))
        return NULL;
    char *link = judge_link_name(s, port);
    struct cause *cause = causes_get_or_add(s, causes, CAUSE_SLOWED_LINK, link, LIKELY, &is_new);
    free(link);
    if (!is_new)
        return cause;
    cause->port = port;
    cause->from_ns = after.from_ns;
    cause->to_ns = after.to_ns;
    text_add(&cause->evidence, "since it was down, at %.3f ms, it carries",
             (double)after.from_ns / NS_PER_MS);
    judge_add_rate(&cause->evidence, " ", after.bps, " all the time,");
    judge_add_rate(&cause->evidence, " before ", after.before_bps, "");
    judge_add_rate(&cause->evidence, ", and its rate is ", s->network.ports[port].rate_bps, "\n");
    return cause;
}

struct cause *judge_slowed(struct seen *s, struct causes *causes, size_t port, int priority)
{
    const struct network_port *at = &s->network.ports[port];
    const char *role = seen_role(s, at->node);
    const struct series *sent = seen_series(s, role, "port%u_tx_bytes", at->number),
                        *queue = seen_series(s, role, "port%u_prio%d_queue_bytes", at->number, priority);
    const struct stop *stop = seen_stop(s, port, priority);
    double *rates = xcalloc(sent ? sent->count + 1 : 1, sizeof *rates), median = NAN;
    size_t count = 0, alike = 0, first = 0, last = 0;
    for (size_t i = 1; sent && queue && i < sent->count; i++) {
        double rate = busy_rate(s, sent, i, queue, stop);
        if (rate < SLOWED * at->rate_bps)
            rates[count++] = rate;
    }
    qsort(rates, count, sizeof *rates, by_rate);
    median = count ? rates[count / 2] : NAN;
    free(rates);
    for (size_t i = 1; count && i < sent->count; i++) {
        double rate = busy_rate(s, sent, i, queue, stop);
        if (!(fabs(rate - median) < 0.05 * median))
            continue;
        first = alike++ ? first : i;
        last = i;
    }
    if (alike < SLOWED_LEAST || (double)alike < SLOWED_ALIKE * (double)count)
        return NULL;
    char *link = judge_link_name(s, port);
    bool is_new;
    struct cause *cause = causes_get_or_add(s, causes, CAUSE_SLOWED_LINK, link, SURE, &is_new);
    free(link);
    if (!is_new)
        return cause;
    cause->port = port;
    cause->priority = priority;
    cause->from_ns = sent->time_ns[first - 1];
    cause->to_ns = sent->time_ns[last];
    text_add(&cause->evidence, "%s (to %s) sent", at->name, seen_behind(s, port));
    judge_add_rate(&cause->evidence, " ", median, "");
    judge_add_rate(&cause->evidence, " while its queue stood and nothing paused it, and its link has ",
                   at->rate_bps, "\n");
    return cause;
}

/* ---- links that lose PFC frames */

/* What the node counts of the port, of a host, by the name that it has there. */
static double port_count(const struct seen *s, size_t port, const char *member, const char *what,
                         int priority, const char *unit)
{
    const struct network_port *at = &s->network.ports[port];
    const char *role = seen_role(s, at->node);
    return s->network.nodes[at->node].host
               ? seen_value(s, role, member, "%s_prio%d_pause%s", what, priority, unit)
               : seen_value(s, role, member, "port%u_%s_prio%d_pause%s", at->number, what, priority, unit);
}

double judge_damaged(const struct seen *s, size_t port)
{
    const struct network_port *at = &s->network.ports[port];
    const char *role = seen_role(s, at->node);
    double damaged = s->network.nodes[at->node].host ? seen_counter(s, role, "rx_crc_errors_phy")
                                                     : seen_counter(s, role, "port%u_crc_errors", at->number);
    return damaged > 0 ? damaged : 0;
}

#define NS_PER_MM 0.005 /* of a cable, at most */

/* The longest time that a link of the lab takes from end to end, as it states delays and lengths. */
static double longest_delay_ns(const json_t *lab)
{
    const json_t *one;
    const char *key;
    size_t i;
    double most = 0;
    json_object_foreach((json_t *)(uintptr_t)lab, key, one)
    {
        double its = (double)seen_quantity(one, 0);
        most = fmax(most, strcmp(key, "delay") == 0    ? its
                          : strcmp(key, "length") == 0 ? its * NS_PER_MM
                                                       : longest_delay_ns(one));
    }
    json_array_foreach(lab, i, one) most = fmax(most, longest_delay_ns(one));
    return most;
}

bool seen_lost_pauses(const struct seen *s, size_t port, int priority, struct lost_pauses *lost)
{
    size_t peer = s->network.ports[port].peer;
    const struct stop *stop = seen_stop(s, port, priority);
    double asked_us = port_count(s, peer, "delta", "tx", priority, "_duration");
    *lost = (struct lost_pauses){.sent = port_count(s, peer, "total", "tx", priority, ""),
                                 .arrived = port_count(s, port, "total", "rx", priority, ""),
                                 .damaged = judge_damaged(s, port),
                                 .asked_ns = asked_us * NS_PER_US,
                                 .held_ns = stop ? (double)stop->held_ns : 0};
    double on_way = 1 + port_count(s, peer, "rate_per_s", "tx", priority, "") *
                            longest_delay_ns(run_get(s->run, "lab")) / NS_PER_S;
    bool counted = json_is_true(run_get(s->run, "simulated")) && lost->arrived < lost->sent - on_way;
    return lost->sent > 0 && (counted || lost->damaged > 0);
}

/* The same as samples: at the port's node, or at the other end of its link. */
static const struct series *pauses_of(const struct seen *s, size_t port, const char *what, int priority)
{
    const struct network_port *at = &s->network.ports[port];
    const char *role = seen_role(s, at->node);
    return s->network.nodes[at->node].host
               ? seen_series(s, role, "%s_prio%d_pause", what, priority)
               : seen_series(s, role, "port%u_%s_prio%d_pause", at->number, what, priority);
}

double seen_lost_though_stopped(const struct seen *s, size_t port, int priority)
{
    const struct network_port *at = &s->network.ports[port];
    const struct series *lost = seen_series(s, seen_role(s, at->node), "port%u_discards", at->number),
                        *sent = pauses_of(s, port, "tx", priority),
                        *arrived = pauses_of(s, at->peer, "rx", priority);
    if (!lost || !lost->count || !sent || !arrived || !json_is_true(run_get(s->run, "simulated")))
        return NAN;
    double sum = 0;
    int64_t heard_ns = lost->time_ns[0]; /* the last frame that arrived before did so after this */
    for (size_t i = 1; i + 1 < lost->count; i++) {
        const int64_t *at_ns = &lost->time_ns[i];
        double missing[3];
        const int64_t times[] = {heard_ns, at_ns[0], at_ns[1]};
        for (size_t k = 0; k < 3; k++)
            missing[k] = series_at(sent, times[k]) - series_at(arrived, times[k]);
        if (missing[0] == missing[1] && missing[1] == missing[2])
            sum += (double)(lost->value[i] - lost->value[i - 1]);
        if (series_at(arrived, at_ns[0]) > series_at(arrived, at_ns[-1]))
            heard_ns = at_ns[-1];
    }
    return sum;
}

struct cause *judge_lost_pauses(struct seen *s, struct causes *causes, size_t port, int priority,
                                const struct lost_pauses *lost)
{
    char *link = judge_link_name(s, port);
    struct cause *cause = causes_get_or_add(
        s, causes, lost->damaged > 0 ? CAUSE_LINK_DAMAGES : CAUSE_PAUSES_LOST, link, SURE, NULL);
    free(link);
    cause->port = port;
    struct text line = {0};
    text_add(&line, "of %.0f PFC frames of priority %d that %s sent to %s %.0f arrived", lost->sent, priority,
             seen_behind(s, port), s->network.nodes[s->network.ports[port].node].name, lost->arrived);
    if (lost->held_ns > lost->asked_ns)
        text_add(&line, ": it stood for %.0f us, and was asked to for %.0f", lost->held_ns / NS_PER_US,
                 lost->asked_ns / NS_PER_US);
    text_add(&line, "\n");
    cause_tell_once(cause, &line);
    text_free(&line);
    return cause;
}
