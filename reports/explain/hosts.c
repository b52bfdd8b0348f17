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

/* ---- what stands behind a port */

/* The ports that stand, perhaps or for certain, because this one does: packets for it fill the buffers before
 * it, whose pauses stop whatever else goes there. */
struct standing {
    size_t port;
    int priority;
    bool *ports[WAY_MAY + 1];
};

/* Where more comes than a line carries: to a host, or by a port between switches. */
struct full_line {
    const char *to;
    size_t port; /* NETWORK_NONE: the host's */
    int priority;
};

/* What hosts tell of the network: lines between switches, as flows that have no other way fill them. */
struct view {
    struct seen *s;
    double *load;  /* of each such port, of its line, by flows of several hosts; else 0 */
    bool *is_full; /* so that it does not stand */
    struct full_line *lines;
    size_t line_count, *line_of; /* 1 + the number of the one that a flow must pass; 0: none */
    struct standing *items;
    size_t count;
};

/* Of a line: from there on it is full with the payload of flows. Where what it gets is marked, DCQCN keeps a
 * queue short, and the line not always full. */
static double full_for(const struct seen *s, const char *to)
{
    return seen_counter(s, to, "np_cnp_sent") > 0 ? SEEN_MARKED : SEEN_LOADED;
}

/* What flows of several hosts bring to a line, as a part of that: to a host's (`port` NETWORK_NONE), or to
 * that of a port which all their packets pass. 0: those of one host, or it is not known. */
static double load_of_several(struct seen *s, const char *to, size_t port)
{
    double sum = 0, line = port == NETWORK_NONE ? seen_line_bps(s, to) : s->network.ports[port].rate_bps;
    const char *from = NULL;
    bool several = false;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        if (port == NETWORK_NONE ? strcmp(flow->to, to) != 0 : !seen_passes(s, flow, WAY_MUST, port))
            continue;
        sum += flow->goodput_bps;
        several = several || (from && strcmp(flow->from, from) != 0);
        from = flow->from;
    }
    return several && line > 0 ? sum / line : 0;
}

/* Adds the ports that packets pass on their way to that one, which stands: `next` lists all that do. */
static void add_before(const struct view *view, size_t from, size_t at, enum way way, bool *stands,
                       size_t *next, size_t *count)
{
    struct network *n = &view->s->network;
    for (size_t p = 0; p < n->port_count; p++) {
        if (stands[p] || view->is_full[p] ||
            !(way == WAY_MUST ? network_must_pass(n, from, n->ports[at].node, p)
                              : network_may_pass(n, from, n->ports[at].node, p)))
            continue;
        stands[p] = true;
        next[(*count)++] = p;
    }
}

static bool *find_standing(const struct view *view, size_t port, int priority, enum way way)
{
    struct seen *s = view->s;
    bool *stands = xcalloc(s->network.port_count + 1, sizeof *stands);
    size_t *next = xcalloc(s->network.port_count + 1, sizeof *next), count = 0;
    stands[port] = true;
    next[count++] = port;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < s->flow_count; i++) {
            const struct flow_seen *flow = &s->flows[i];
            if (flow->priority != priority)
                continue;
            if (seen_passes(s, flow, way, next[k]))
                add_before(view, flow->from_node, next[k], way, stands, next, &count);
            if (way == WAY_MAY && seen_passes(s, flow, WAY_BACK_MAY, next[k]))
                add_before(view, flow->to_node, next[k], way, stands, next, &count);
        }
    free(next);
    return stands;
}

static const struct standing *standing_of(struct view *view, size_t port, int priority)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->items[i].port == port && view->items[i].priority == priority)
            return &view->items[i];
    view->items = xreallocarray(view->items, view->count + 1, sizeof *view->items);
    struct standing *standing = &view->items[view->count++];
    *standing = (struct standing){.port = port, .priority = priority};
    for (enum way way = WAY_MUST; way <= WAY_MAY; way++)
        standing->ports[way] = find_standing(view, port, priority, way);
    return standing;
}

/* Where packets leave for the host, as flows have it; NETWORK_NONE: not known. */
static size_t port_to(const struct seen *s, const char *host)
{
    const struct network *n = &s->network;
    size_t node = NETWORK_NONE;
    for (size_t i = 0; i < s->flow_count && node == NETWORK_NONE; i++)
        node = strcmp(s->flows[i].to, host) == 0     ? s->flows[i].to_node
               : strcmp(s->flows[i].from, host) == 0 ? s->flows[i].from_node
                                                     : NETWORK_NONE;
    return node != NETWORK_NONE && n->nodes[node].ports == 1 ? n->ports[n->nodes[node].first].peer
                                                             : NETWORK_NONE;
}

/* Does what stands at a port stop a flow? Of an unknown network that is possible. */
enum stopped { NOT_STOPPED, PERHAPS_STOPPED, STOPPED };

static enum stopped is_stopped_by(struct view *view, const struct flow_seen *flow, size_t port)
{
    if (port == NETWORK_NONE || flow->from_node == NETWORK_NONE || flow->to_node == NETWORK_NONE)
        return PERHAPS_STOPPED;
    const struct standing *standing = standing_of(view, port, flow->priority);
    enum stopped stopped = NOT_STOPPED;
    for (size_t p = 0; p < view->s->network.port_count && stopped != STOPPED; p++) {
        if (standing->ports[WAY_MUST][p] && seen_passes(view->s, flow, WAY_MUST, p))
            stopped = STOPPED;
        else if (standing->ports[WAY_MAY][p] && seen_passes(view->s, flow, WAY_MAY, p))
            stopped = PERHAPS_STOPPED;
    }
    return stopped;
}

/* ---- lines that are full */

/* Is the line of the flow's receiver full while that does not pause it? */
static bool fills_receiver(struct seen *s, const struct flow_seen *flow)
{
    double held = seen_rate(s, flow->to, "tx_prio%d_pause_duration", flow->priority) * NS_PER_US / NS_PER_S;
    return load_of_several(s, flow->to, NETWORK_NONE) >
           full_for(s, flow->to) * (1 - (held > 0 ? fmin(held, 1) : 0));
}

/* Of the lines that all packets of the flow pass one that is full. */
static void find_full_line(struct view *view, size_t i)
{
    struct seen *s = view->s;
    const struct flow_seen *flow = &s->flows[i];
    struct full_line line = {.port = NETWORK_NONE, .priority = flow->priority};
    if (fills_receiver(s, flow))
        line.to = flow->to;
    for (size_t p = 0; p < s->network.port_count && !line.to; p++)
        if (view->load[p] > full_for(s, flow->to) && seen_passes(s, flow, WAY_MUST, p)) {
            line.to = seen_behind(s, p);
            line.port = p;
        }
    size_t k = 0;
    while (line.to && k < view->line_count &&
           (strcmp(view->lines[k].to, line.to) != 0 || view->lines[k].port != line.port ||
            view->lines[k].priority != line.priority))
        k++;
    view->line_of[i] = line.to ? k + 1 : 0;
    if (line.to && k == view->line_count)
        view->lines[view->line_count++] = line;
}

static struct view view_open(struct seen *s)
{
    const struct network *n = &s->network;
    struct view view = {.s = s,
                        .load = xcalloc(n->port_count + 1, sizeof *view.load),
                        .is_full = xcalloc(n->port_count + 1, sizeof *view.is_full)};
    for (size_t p = 0; p < n->port_count; p++) {
        if (!n->nodes[n->ports[p].node].host && !n->nodes[network_behind(n, p)].host)
            view.load[p] = load_of_several(s, "", p);
        for (size_t i = 0; i < s->flow_count && view.load[p] > 0; i++)
            view.is_full[p] |=
                view.load[p] > full_for(s, s->flows[i].to) && seen_passes(s, &s->flows[i], WAY_MUST, p);
    }
    view.lines = xcalloc(s->flow_count + 1, sizeof *view.lines);
    view.line_of = xcalloc(s->flow_count + 1, sizeof *view.line_of);
    for (size_t i = 0; i < s->flow_count; i++)
        find_full_line(&view, i);
    return view;
}

static void view_free(struct view *view)
{
    for (size_t i = 0; i < view->count; i++)
        for (enum way way = WAY_MUST; way <= WAY_MAY; way++)
            free(view->items[i].ports[way]);
    free(view->items);
    free(view->lines);
    free(view->line_of);
    free(view->load);
    free(view->is_full);
}

/* The one that others fill, and that stops the flow, for certain or perhaps; NULL: none. */
static const struct full_line *full_line_before(struct view *view, const struct flow_seen *flow)
{
    const struct full_line *found = NULL;
    enum stopped best = NOT_STOPPED;
    for (size_t k = 0; k < view->line_count && best != STOPPED; k++) {
        const struct full_line *line = &view->lines[k];
        size_t port = line->port != NETWORK_NONE ? line->port : port_to(view->s, line->to);
        enum stopped stopped =
            line->priority == flow->priority ? is_stopped_by(view, flow, port) : NOT_STOPPED;
        found = stopped > best ? line : found;
        best = stopped > best ? stopped : best;
    }
    return found;
}

/* `own`: it is on the way of the flow that is judged. */
static struct cause *judge_full_line(struct seen *s, struct causes *causes, const struct full_line *line,
                                     bool own)
{
    bool is_new, between = line->port != NETWORK_NONE;
    char *culprit = between ? judge_link_name(s, line->port) : xstrdup(line->to);
    struct cause *cause =
        causes_get_or_add(s, causes, between ? CAUSE_UPLINK : CAUSE_INCAST, culprit, POSSIBLE, &is_new);
    cause->sureness = own ? LIKELY : cause->sureness;
    if (is_new) {
        cause->priority = line->priority;
        cause->port = line->port;
        text_add(&cause->evidence, "several hosts send %s %s, together %.0f %% of what its line carries\n",
                 between ? "over" : "to", culprit, 100 * load_of_several(s, line->to, line->port));
    }
    free(culprit);
    return cause;
}

/* ---- what hosts were kept from */

/* The host whose pauses stopped the flow: its receiver or, if that sends none, one behind whose port its
 * packets stand, if there is none where all of them do (`*sure`) one where some may, unless a full line on
 * the flow's own way is enough. NULL: none. */
static struct cause *host_that_pauses(struct view *view, const struct causes *causes,
                                      const struct flow_seen *flow, bool full, bool *sure)
{
    struct cause *host = NULL;
    enum stopped best = full ? PERHAPS_STOPPED : NOT_STOPPED;
    *sure = true;
    for (size_t k = 0; k < causes->count; k++) {
        struct cause *cause = &causes->items[k];
        bool pauses = cause->kind == CAUSE_STORM || cause->kind == CAUSE_SLOW_RECEIVER ||
                      cause->kind == CAUSE_HOST_PAUSES;
        if (!pauses || (cause->priority >= 0 && cause->priority != flow->priority))
            continue;
        if (strcmp(cause->culprit, flow->to) == 0) {
            *sure = true;
            return cause;
        }
        enum stopped stopped = is_stopped_by(view, flow, port_to(view->s, cause->culprit));
        if (stopped > best) {
            host = cause;
            best = stopped;
            *sure = stopped == STOPPED;
        }
    }
    return host;
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

/* Hosts that pause, and lines that are full, are why the flow was paused or slowed, as far as hosts tell. */
static void judge_flow(struct view *view, struct causes *causes, size_t i)
{
    struct seen *s = view->s;
    const struct flow_seen *flow = &s->flows[i];
    double paused = flow->share[SHARE_PAUSED], cost = slowed_by_network(flow);
    bool own = view->line_of[i], sure;
    struct cause *host = paused > MATTERS ? host_that_pauses(view, causes, flow, own, &sure) : NULL;
    double part = host ? paused * paused_together(s, flow, host) : 0;
    if (host) {
        cause_add_cost(host, i, part);
        host->sureness = sure || host->sureness < LIKELY ? host->sureness : LIKELY;
    }
    cost -= part + judge_buffered(s, causes, i);
    if (cost <= MATTERS)
        return;
    const struct full_line *line = own ? &view->lines[view->line_of[i] - 1] : full_line_before(view, flow);
    if (line) {
        cause_add_cost(judge_full_line(s, causes, line, own), i, cost);
        return;
    }
    bool several = is_slowed_with_others(s, flow), is_new;
    const char *culprit = several ? flow->to : flow->from;
    struct cause *cause =
        causes_get_or_add(s, causes, several ? CAUSE_NETWORK_TO : CAUSE_NETWORK, culprit, POSSIBLE, &is_new);
    if (is_new) {
        cause->priority = flow->priority;
        text_add(&cause->evidence, "%s%s %s paused or slowed, and what hosts count does not tell why\n",
                 several ? "several hosts that send to " : "", culprit, several ? "are" : "is");
    }
    cause_add_cost(cause, i, cost);
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
    struct view view = view_open(s);
    for (size_t i = 0; i < s->flow_count; i++)
        judge_flow(&view, causes, i);
    view_free(&view);
}
