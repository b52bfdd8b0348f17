#include "reports/explain/judge.h"

#include "lib/clock.h"
#include "lib/xalloc.h"
#include "reports/results/lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pause that lasts so long while nothing arrives, and for half of the time of all pauses, is not one of a
 * receiver that empties its buffer. */
#define STORM_NS (200 * NS_PER_US)

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

/* The host's own receive buffers: the most that a sample of the measure phase saw in one;
 * NAN: not sampled. */
static double fullest_buffer(const struct seen *s, const char *host)
{
    static const char *const names[] = {"bytes", "peak_bytes"};
    double most = NAN;
    for (int buffer = 0; buffer < 2 * PRIORITIES; buffer++) {
        const struct series *bytes = seen_series(s, host, "rx_buffer%d_%s", buffer / 2, names[buffer % 2]);
        for (size_t i = 0; bytes && i < bytes->count; i++)
            if (bytes->time_ns[i] >= 0 && bytes->time_ns[i] <= s->measure_ns)
                most = fmax(most, (double)bytes->value[i]);
    }
    return most;
}

struct cause *judge_host(const struct seen *s, struct causes *causes, const char *host, int priority,
                         int64_t longest_ns)
{
    int64_t silent_ns = silence_ns(s, host, priority);
    double buffer = fullest_buffer(s, host);
    double rate = seen_rate(s, host, "rx_prio%d_bytes", priority) * 8;
    bool sampled = seen_series(s, host, "tx_prio%d_pause_duration", priority) != NULL;
    double held_us = seen_counter(s, host, "tx_prio%d_pause_duration", priority);
    longest_ns = silent_ns > longest_ns ? silent_ns : longest_ns;
    bool full = buffer > SEEN_SEVERAL_FRAMES, empty = buffer <= SEEN_SEVERAL_FRAMES;
    bool storm = longest_ns >= STORM_NS && (empty || !((double)longest_ns < held_us * NS_PER_US / 2));
    enum cause_kind kind = storm && !full ? CAUSE_STORM : CAUSE_SLOW_RECEIVER;
    if ((s->hosts_only && !sampled) || (!storm && empty))
        kind = CAUSE_HOST_PAUSES;
    bool is_new;
    struct cause *cause = causes_get_or_add(s, causes, kind, host, isnan(buffer) ? LIKELY : SURE, &is_new);
    cause->priority = is_new || cause->priority == priority ? priority : -1;
    char *pauses = xasprintf("tx_prio%d_pause", priority);
    text_add(&cause->evidence, "%s sent PFC frames of priority %d:", host, priority);
    judge_add_count(s, &cause->evidence, host, pauses);
    free(pauses);
    if (!storm && rate > 0)
        judge_add_rate(&cause->evidence, ", and received ", rate, " in that");
    if (buffer >= 0)
        text_add(&cause->evidence, "; its receive buffer held up to %.0f bytes in that", buffer);
    text_add(&cause->evidence, "\n");
    if (storm)
        text_add(&cause->evidence, "nothing arrived there for up to %.0f us at a time, in the whole run\n",
                 (double)longest_ns / NS_PER_US);
    return cause;
}

struct cause *judge_receiver(const struct seen *s, struct causes *causes, enum cause_kind kind,
                             const char *host, int priority)
{
    static const enum cause_kind kinds[] = {CAUSE_SLOW_RECEIVER,  CAUSE_STORM,          CAUSE_HOST_PAUSES,
                                            CAUSE_RECEIVER_DROPS, CAUSE_RECEIVER_HOLDS, CAUSE_RECEIVER_MARKS};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct cause *cause = causes_get(causes, kinds[k], host);
        if (cause && (cause->priority == priority || cause->priority < 0))
            return cause;
    }
    struct cause *cause = causes_add(s, causes, kind, host, kind == CAUSE_RECEIVER_DROPS ? SURE : LIKELY);
    cause->priority = priority;
    return cause;
}

double judge_buffered(const struct seen *s, struct causes *causes, size_t i)
{
    const struct flow_seen *flow = &s->flows[i];
    const struct waits *waits = &flow->waits;
    double queue = flow->share[SHARE_QUEUE] - flow->slowed,
           part = waits->host ? queue * waits->buffer_s / (waits->buffer_s + waits->ports_s) : 0;
    if (part <= MATTERS)
        return 0;
    struct cause *cause = judge_receiver(s, causes, CAUSE_RECEIVER_HOLDS, waits->host, flow->priority);
    struct text line = {0};
    text_add(&line, "what came to %s stood in its receive buffer for %.3g us in the mean, while %s ran\n",
             waits->host, waits->buffer_s * 1e6, flow->name);
    cause_tell_once(cause, &line);
    text_free(&line);
    cause_add_cost(cause, i, part);
    return part;
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

/* Of the flow's pauses the part in which the host paused its link, in an interval between samples or beside
 * one, and at most as long again: what gathered meanwhile takes its time. A small rest is of the host, too.
 */
#define SMALL_REST 0.25

static double paused_together(const struct seen *s, const struct flow_seen *flow, const struct cause *host)
{
    const struct series *held = seen_series(s, flow->from, "rx_prio%d_pause_duration", flow->priority),
                        *sent = seen_series(s, host->culprit, "tx_prio%d_pause_duration", flow->priority);
    double all = 0, together = 0;
    for (size_t i = 1; held && sent && i < held->count; i++) {
        int64_t from = held->time_ns[i - 1], to = held->time_ns[i], every = to - from;
        double own = (double)(held->value[i] - held->value[i - 1]);
        if (from < 0 || to > s->measure_ns || own <= 0 || held->value[i] == LINES_NULL ||
            held->value[i - 1] == LINES_NULL)
            continue;
        double its = series_at(sent, to + every) - series_at(sent, from - every);
        all += own;
        together += isnan(its) ? own : fmin(own, its);
    }
    double most = 2 * seen_delta(s, host->culprit, "tx_prio%d_pause_duration", flow->priority);
    together = isnan(most) ? together : fmin(together, most);
    return together < (1 - SMALL_REST) * all ? together / all : 1;
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

/* Is its line full while it does not pause it? Where what it gets is marked, DCQCN keeps a queue short, and
 * the line not always full. */
static bool fills_receiver(const struct seen *s, const struct flow_seen *flow)
{
    double full = seen_counter(s, flow->to, "np_cnp_sent") > 0 ? SEEN_MARKED : SEEN_LOADED;
    double held = seen_rate(s, flow->to, "tx_prio%d_pause_duration", flow->priority) * NS_PER_US / NS_PER_S;
    return received_of_several(s, flow->to) > full * (1 - (held > 0 ? fmin(held, 1) : 0));
}

/* What was taken from it on its way, as its host counts. */
static double slowed_by_network(const struct flow_seen *flow)
{
    return flow->share[SHARE_PAUSED] + flow->share[SHARE_RATE] + flow->share[SHARE_QUEUE] - flow->slowed;
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
        double part = host ? paused * paused_together(s, flow, host) : 0;
        if (host)
            cause_add_cost(host, i, part);
        cost -= part + judge_buffered(s, causes, i);
        if (cost <= MATTERS)
            continue;
        const char *full = fills_receiver(s, flow) ? flow->to : any;
        bool several = !full && is_slowed_with_others(s, flow);
        enum cause_kind kind = full ? CAUSE_INCAST : several ? CAUSE_NETWORK_TO : CAUSE_NETWORK;
        const char *culprit = full ? full : several ? flow->to : flow->from;
        bool is_new;
        struct cause *cause = causes_get_or_add(s, causes, kind, culprit, full ? LIKELY : POSSIBLE, &is_new);
        if (is_new) {
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
        cause_add_cost(cause, i, cost);
    }
}

/* Are there flows of the priority to the host, or acknowledgements? */
static bool has_flows(const struct seen *s, const char *host, int priority)
{
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].priority == priority &&
            (!*s->flows[i].to || strcmp(s->flows[i].to, host) == 0 || strcmp(s->flows[i].from, host) == 0))
            return true;
    return s->flow_count == 0;
}

void judge_hosts(struct seen *s, struct causes *causes)
{
    const json_t *host;
    const char *role;
    json_object_foreach((json_t *)(uintptr_t)run_get(s->run, "hosts"), role, host)
    {
        for (int priority = 0; priority < PRIORITIES; priority++) {
            double held_us = seen_counter(s, role, "tx_prio%d_pause_duration", priority);
            if (!(held_us * NS_PER_US > MATTERS * (double)s->measure_ns) || !has_flows(s, role, priority))
                continue;
            struct cause *cause = judge_host(s, causes, role, priority, 0);
            double held = seen_rate(s, role, "tx_prio%d_pause_duration", priority) * NS_PER_US / NS_PER_S;
            cause->worst = fmax(cause->worst, held > 0 ? fmin(held, 1) : 0);
            text_add(&cause->evidence, "it kept its link under XOFF for %.1f %% of the measure phase\n",
                     100 * cause->worst);
        }
    }
    judge_congestion_of_hosts(s, causes);
}
