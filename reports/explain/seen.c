#include "reports/explain/seen.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/formats/settings.h"
#include "lib/roce/congestion_control.h"
#include "lib/roce/path_mtu.h"
#include "lib/units.h"
#include "lib/xalloc.h"
#include "reports/results/lines.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counters */

#define NAME_MOST 80
#define TAKES_ALL 0.95 /* of what a flow asks for */

const char *seen_role(const struct seen *s, size_t node)
{
    const char *name = s->network.nodes[node].name;
    const json_t *role = json_object_get(s->roles, name);
    return role ? json_string_value(role) : name;
}

const char *seen_behind(const struct seen *s, size_t port)
{
    return s->network.nodes[network_behind(&s->network, port)].name;
}

/* The lab's host of a role: that of its "roles", or the one of the same name. */
static size_t node_of_role(const struct seen *s, const char *role)
{
    const char *bound = run_member(run_get(s->run, "lab.roles"), role);
    const char *name = run_member(json_object_get(run_get(s->run, "hosts"), role), "name");
    size_t node = network_node(&s->network, *bound ? bound : name);
    return node != NETWORK_NONE ? node : network_node(&s->network, role);
}

const char *seen_machine(const struct seen *s, const char *role)
{
    const char *machine = run_member(json_object_get(run_get(s->run, "hosts"), role), "machine");
    return *machine ? machine : NULL;
}

const json_t *seen_counters(const struct seen *s, const char *role)
{
    const json_t *host = json_object_get(run_get(s->run, "hosts"), role);
    size_t node = node_of_role(s, role);
    if (s->hosts_only && node != NETWORK_NONE && !s->network.nodes[node].host)
        return NULL;
    return json_object_get(host, "counters");
}

static const json_t *counter_of(const struct seen *s, const char *role, const char *name)
{
    return json_object_get(seen_counters(s, role), name);
}

/* The counter whose name the format makes. */
static const json_t *counter_named(const struct seen *s, const char *role, char name[NAME_MOST],
                                   const char *format, va_list arguments)
{
    vsnprintf(name, NAME_MOST, format, arguments);
    return counter_of(s, role, name);
}

static double number_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double seen_value(const struct seen *s, const char *role, const char *member, const char *format, ...)
{
    char name[NAME_MOST];
    va_list arguments;
    va_start(arguments, format);
    const json_t *counter = counter_named(s, role, name, format, arguments);
    va_end(arguments);
    return number_or_nan(json_object_get(counter, member));
}

/* The part of what the counter counted in the whole run that is of the measure phase; NAN: it counted
 * nothing. */
static double measured_part(const struct seen *s, const char *role, const char *name)
{
    const json_t *counter = counter_of(s, role, name);
    double total = json_number_value(json_object_get(counter, "total"));
    return total > 0 ? json_number_value(json_object_get(counter, "delta")) / total : NAN;
}

const struct series *seen_series(const struct seen *s, const char *role, const char *format, ...)
{
    char name[NAME_MOST];
    va_list arguments;
    va_start(arguments, format);
    const json_t *counter = counter_named(s, role, name, format, arguments);
    va_end(arguments);
    return counter ? run_series(s->run, role, name) : NULL;
}

double series_at(const struct series *series, int64_t time_ns)
{
    size_t low = 0, high = series ? series->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->time_ns[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low && series->value[low - 1] != LINES_NULL ? (double)series->value[low - 1] : NAN;
}

/* ---- pauses */

static int by_start(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Put the spans in order, and those together that overlap. */
static void close_stop(struct stop *stop, int64_t measure_ns)
{
    size_t kept = 0;
    qsort(stop->spans, stop->count, sizeof *stop->spans, by_start);
    for (size_t i = 0; i < stop->count; i++) {
        struct span *last = kept ? &stop->spans[kept - 1] : NULL;
        if (last && stop->spans[i].start_ns <= last->end_ns) {
            last->end_ns = stop->spans[i].end_ns > last->end_ns ? stop->spans[i].end_ns : last->end_ns;
            last->lasts |= stop->spans[i].lasts;
        } else {
            stop->spans[kept++] = stop->spans[i];
        }
    }
    stop->count = kept;
    for (size_t i = 0; i < kept; i++) {
        int64_t length = stop->spans[i].end_ns - stop->spans[i].start_ns;
        stop->longest_ns = length > stop->longest_ns ? length : stop->longest_ns;
    }
    stop->held_ns = stop_within(stop, 0, measure_ns);
}

/* The stop of the port and priority, which is made when it is first needed. */
static struct stop *make_stop(struct seen *s, size_t port, int priority)
{
    size_t *number = &s->stop_of[port * PRIORITIES + (size_t)priority];
    if (!*number) {
        s->stops[s->stop_count] = (struct stop){.port = port, .priority = priority};
        *number = ++s->stop_count;
    }
    return &s->stops[*number - 1];
}

/* Of each stop its spans are counted before they are taken: there may be millions. */
static void take_pauses(struct seen *s)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < s->run->pause_count; i++) {
            const struct pause *pause = &s->run->pauses[i];
            size_t port = network_port(&s->network, pause->host);
            if (port == NETWORK_NONE || pause->priority < 0 || pause->priority >= PRIORITIES)
                continue;
            struct stop *stop = make_stop(s, port, pause->priority);
            if (pass == 1 && stop->spans)
                stop->spans[stop->count] =
                    (struct span){pause->start_ns, pause->start_ns + pause->duration_ns, pause->lasts};
            stop->count++;
        }
        for (size_t i = 0; i < s->stop_count; i++) {
            struct stop *stop = &s->stops[i];
            if (pass == 1) {
                close_stop(stop, s->measure_ns);
            } else {
                stop->spans = xcalloc(stop->count, sizeof *stop->spans);
                stop->count = 0;
            }
        }
    }
}

/* How long a port stood between two samples, as a pause that ended with the second: so those of ports that
 * stood at the same time overlap. */
static void take_samples(struct seen *s, size_t port, int priority)
{
    const struct network_port *at = &s->network.ports[port];
    const struct series *held =
        s->network.nodes[at->node].host
            ? seen_series(s, seen_role(s, at->node), "rx_prio%d_pause_duration", priority)
            : seen_series(s, seen_role(s, at->node), "port%u_rx_prio%d_pause_duration", at->number, priority);
    struct stop *stop = NULL;
    s->has_pauses |= held != NULL;
    for (size_t i = 1; held && i < held->count; i++) {
        int64_t held_ns = (held->value[i] - held->value[i - 1]) * NS_PER_US;
        int64_t most_ns = held->time_ns[i] - held->time_ns[i - 1];
        if (held_ns <= 0 || held->value[i] == LINES_NULL || held->value[i - 1] == LINES_NULL)
            continue;
        stop = make_stop(s, port, priority);
        stop->spans = xreallocarray(stop->spans, stop->count + 1, sizeof *stop->spans);
        stop->spans[stop->count++] = (struct span){held->time_ns[i] - (held_ns < most_ns ? held_ns : most_ns),
                                                   held->time_ns[i], i + 1 == held->count};
    }
    if (stop)
        close_stop(stop, s->measure_ns);
}

/* Where single pauses were not recorded, as of real hosts and switches. */
static void take_sampled_pauses(struct seen *s)
{
    for (size_t port = 0; port < s->network.port_count; port++)
        for (int priority = 0; priority < PRIORITIES; priority++)
            take_samples(s, port, priority);
}

/* Were ports of switches sampled? */
static bool sees_switches(const struct seen *s)
{
    if (run_get(s->run, "topology"))
        return true;
    for (size_t i = 0; i < s->network.node_count; i++)
        for (const struct series *one = NULL;
             !s->network.nodes[i].host && (one = run_find(s->run, one, "port*_rx_prio*_pause_duration"));)
            if (strcmp(one->host, seen_role(s, i)) == 0)
                return true;
    return false;
}

struct stop *seen_stop(const struct seen *s, size_t port, int priority)
{
    size_t number =
        priority >= 0 && priority < PRIORITIES ? s->stop_of[port * PRIORITIES + (size_t)priority] : 0;
    return number ? &s->stops[number - 1] : NULL;
}

int64_t stop_within(const struct stop *stop, int64_t start_ns, int64_t end_ns)
{
    int64_t sum = 0;
    size_t low = 0, high = stop ? stop->count : 0;
    while (low < high) { /* the first span that ends after the start */
        size_t middle = low + (high - low) / 2;
        if (stop->spans[middle].end_ns <= start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; stop && i < stop->count && stop->spans[i].start_ns < end_ns; i++) {
        int64_t from = stop->spans[i].start_ns > start_ns ? stop->spans[i].start_ns : start_ns;
        int64_t to = stop->spans[i].end_ns < end_ns ? stop->spans[i].end_ns : end_ns;
        sum += to > from ? to - from : 0;
    }
    return sum;
}

int64_t stop_overlap(const struct stop *stop, const struct stop *with)
{
    int64_t sum = 0;
    for (size_t i = 0, k = 0; with && i < stop->count && k < with->count;) {
        const struct span *a = &stop->spans[i], *b = &with->spans[k];
        int64_t from = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
        int64_t to = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
        sum += to > from ? to - from : 0;
        if (a->end_ns < b->end_ns)
            i++;
        else
            k++;
    }
    return sum;
}

struct stop stop_without(const struct stop *stop, const struct stop *other)
{
    size_t others = other ? other->count : 0, k = 0;
    struct stop rest = {.port = stop->port,
                        .priority = stop->priority,
                        .spans = xcalloc(stop->count + others + 1, sizeof *rest.spans)};
    for (size_t i = 0; i < stop->count; i++) {
        struct span left = stop->spans[i];
        while (k < others && other->spans[k].end_ns <= left.start_ns)
            k++;
        for (size_t j = k; j < others && other->spans[j].start_ns < left.end_ns; j++) {
            if (other->spans[j].start_ns > left.start_ns)
                rest.spans[rest.count++] = (struct span){left.start_ns, other->spans[j].start_ns, false};
            left.start_ns = other->spans[j].end_ns;
        }
        if (left.start_ns < left.end_ns)
            rest.spans[rest.count++] = left;
    }
    return rest;
}

/* ---- flows */

int64_t seen_quantity(const json_t *value, int64_t fallback)
{
    enum unit unit;
    int64_t number;
    const char *words = json_string_value(value);
    return words && units_find(words, &unit, &number) ? number : fallback;
}

static bool has_priority(const json_t *list, int priority)
{
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one) if (json_integer_value(one) == priority) return true;
    return false;
}

bool seen_is_on(const struct seen *s, const char *setting, int priority)
{
    return has_priority(json_object_get(run_get(s->run, "scenario.settings"), setting), priority);
}

bool seen_is_off(const struct seen *s, const char *role, const char *setting, int priority)
{
    const json_t *read_back = json_object_get(json_object_get(s->settings, role), "read_back");
    const json_t *list = json_object_get(read_back, setting);
    return list && priority >= 0 && !has_priority(list, priority);
}

bool seen_is_lossless(const struct seen *s, const char *role, int priority)
{
    const json_t *read_back = json_object_get(json_object_get(s->settings, role), "read_back");
    const json_t *pfc = json_object_get(read_back, "pfc");
    if (!pfc)
        pfc = run_get(s->run, "scenario.settings.pfc");
    return !pfc || has_priority(pfc, priority);
}

#define OBEYS_CNPS(name, is_dcqcn, has_marks) {#name, is_dcqcn},
bool seen_obeys_cnps(const struct flow_seen *flow)
{
    static const struct {
        const char *name;
        bool obeys;
    } controls[] = {CONGESTION_CONTROLS(OBEYS_CNPS)};
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (strcmp(controls[i].name, flow->control) == 0)
            return controls[i].obeys;
    return false;
}

/* As it was read back: a host that has another one than the first of the list says so. */
static const char *control_of(const struct seen *s, const char *role)
{
    const char *control =
        run_member(json_object_get(json_object_get(s->settings, role), "read_back"), "congestion_control");
    return *control ? control : congestion_control_names[0];
}

double seen_asked(const struct flow_seen *flow)
{
    double delivered = flow->share[SHARE_DELIVERED];
    return delivered +
           fmin(flow->lacks, 1 - delivered - flow->share[SHARE_OTHERS] - flow->share[SHARE_ASKED]);
}

bool seen_takes_all(const struct flow_seen *flow)
{
    return flow->share[SHARE_DELIVERED] >= TAKES_ALL * seen_asked(flow);
}

double seen_line_bps(const struct seen *s, const char *role)
{
    size_t node = node_of_role(s, role);
    return node != NETWORK_NONE && s->network.nodes[node].ports == 1
               ? s->network.ports[s->network.nodes[node].first].rate_bps
               : 0;
}

/* Headers of a frame of RoCEv2 over IPv4, preamble and gap: Ethernet 38 bytes, IP 20, UDP 8, BTH 12, ICRC 4.
 */
#define HEADERS 82.0
/* Ethernet's MTU, of hosts whose own is not in the result. */
#define ETHERNET_MTU 1500

/* The MTU that the role's NIC had: as it was read back, of real hosts by interface. */
static double mtu_of(const json_t *settings, const char *role)
{
    const json_t *read_back = json_object_get(json_object_get(settings, role), "read_back"), *of;
    const char *interface;
    double mtu = json_number_value(json_object_get(read_back, "mtu"));
    json_object_foreach((json_t *)(uintptr_t)read_back, interface, of)
    {
        double one = json_number_value(json_object_get(of, "mtu"));
        mtu = one > 0 && (mtu <= 0 || one < mtu) ? one : mtu;
    }
    return mtu > 0 ? mtu : ETHERNET_MTU;
}

/* The payload of a packet between both. */
static double packet_payload(const json_t *settings, const struct flow_seen *flow)
{
    int32_t mtu = roce_path_mtu((int64_t)fmin(mtu_of(settings, flow->from), mtu_of(settings, flow->to)));
    return mtu ? mtu : 256;
}

/* What a message has besides in its packets: RETH and immediate data in one, AETH in the first and last one.
 */
static double extended_headers(const char *op, double packets)
{
    if (strcmp(op, "read") == 0)
        return packets > 1 ? 8 : 4;
    return strcmp(op, "write") == 0 ? 16 : strcmp(op, "write-imm") == 0 ? 20 : 0;
}

/* The part of the bytes on a line that is payload, of messages of this size; 0: of any size. */
static double payload_part(const struct flow_seen *flow, const char *op, double message_bytes)
{
    if (message_bytes <= 0)
        return flow->payload / (flow->payload + HEADERS);
    double packets = ceil(message_bytes / flow->payload);
    return message_bytes / (4 * ceil(message_bytes / 4) + packets * HEADERS + extended_headers(op, packets));
}

/* The flow of the scenario with this name, or of the pattern with the name before "/"; NULL: none. */
static const json_t *find_asked(const struct seen *s, const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : strlen(name);
    static const char *const lists[] = {"scenario.flows", "scenario.traffic"};
    for (size_t k = 0; k < 2; k++) {
        const json_t *item;
        size_t i;
        json_array_foreach(run_get(s->run, lists[k]), i, item)
        {
            const char *own = run_member(item, "name");
            if (strcmp(own, name) == 0 || (slash && strlen(own) == length && strncmp(own, name, length) == 0))
                return item;
        }
    }
    return NULL;
}

/* The time in which the flow had something to send, within the measure phase; of one with an end its own. */
static void take_time(struct seen *s, struct flow_seen *flow, const json_t *of)
{
    const json_t *phase = json_array_get(run_get(s->run, "phases"), 0);
    int64_t begin_ns = json_integer_value(json_object_get(phase, "start_ns")) - s->run->start_ns;
    const json_t *completion = json_object_get(of, "completion_ns");
    int64_t start = seen_quantity(json_object_get(flow->asked, "start"), 0) + begin_ns;
    int64_t stop = seen_quantity(json_object_get(flow->asked, "stop"), INT64_MAX / 4);
    flow->start_ns = start > 0 ? start : 0;
    flow->end_ns = stop + begin_ns < s->measure_ns ? stop + begin_ns : s->measure_ns;
    if (completion && json_is_number(json_object_get(completion, "begin"))) {
        flow->start_ns = (int64_t)json_number_value(json_object_get(completion, "begin")) + begin_ns;
        flow->end_ns = (int64_t)json_number_value(json_object_get(completion, "end")) + begin_ns;
    }
}

/* Flows that are looked at: each is compared with each. */
#define FLOWS_MOST 1000

/* What left the flow's sender beyond what arrived, as payload and bytes of the measure phase: the part of it
 * that is this flow's, by what they sent again in the whole run. NAN: not counted, or acknowledgements left
 * as well. */
static double excess_bytes(const struct seen *s, const struct flow_seen *flow)
{
    double delivered = 0, packets = 0, measure_s = (double)s->measure_ns / NS_PER_S;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *other = &s->flows[i];
        if (other->priority == flow->priority && strcmp(other->to, flow->from) == 0)
            return NAN;
        if (other->priority != flow->priority || strcmp(other->from, flow->from) != 0)
            continue;
        delivered += other->goodput_bps / 8 * (double)(other->end_ns - other->start_ns) / NS_PER_S;
        packets += other->resent_packets;
    }
    double sent = seen_rate(s, flow->from, "tx_prio%d_bytes", flow->priority) * measure_s;
    double on_line = flow->payload * seen_line_bps(s, flow->from) / flow->most_bps;
    double excess = sent * flow->payload / (on_line - SEEN_NOT_COUNTED) - delivered;
    return (excess > 0 ? excess : isnan(excess) ? NAN : 0) * flow->resent_packets / packets;
}

/* What the flow's sender sent again in the measure phase, b/s. The result has it of the whole run, and the
 * losses that the sender noticed of both; one that goes back sends many packets for each, or few. */
static double resent_bps(const struct seen *s, const struct flow_seen *flow)
{
    double part = measured_part(s, flow->from, "packet_seq_err");
    if (isnan(part))
        part = measured_part(s, flow->from, "local_ack_timeout_err");
    double all = flow->resent_packets * flow->payload, excess = excess_bytes(s, flow);
    double bytes = isnan(excess) || part == 0 ? all * (isnan(part) ? 1 : part) : fmin(excess, all);
    return bytes * 8 / ((double)(flow->end_ns - flow->start_ns) / NS_PER_S);
}

/* The flow of an interval of flows.jsonl in which something was complete; NULL: it is not one. */
static struct flow_seen *flow_of_line(const struct seen *s, const json_t *line)
{
    const json_t *number = json_object_get(s->flow_index, run_member(line, "flow"));
    bool counts = number && strcmp(run_member(line, "type"), "interval") == 0 &&
                  json_integer_value(json_object_get(line, "bytes")) > 0;
    return counts ? &s->flows[json_integer_value(number)] : NULL;
}

/* What was in flight when a flow stopped arrives later: it runs until then. What an interval completed takes
 * at least its time on the line. */
static int take_end(void *to, char *text, size_t length, struct error *e)
{
    struct seen *s = to;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    struct flow_seen *flow = flow_of_line(s, line);
    (void)e;
    if (flow && !flow->ends && flow->most_bps > 0 && json_object_get(flow->asked, "stop")) {
        int64_t to_ns = json_integer_value(json_object_get(line, "time_ns")) - s->run->start_ns;
        double every_ns = json_number_value(json_object_get(line, "duration_ns"));
        double on_line_ns = 8 * json_number_value(json_object_get(line, "bytes")) / flow->most_bps * NS_PER_S;
        int64_t end_ns = to_ns - (int64_t)(every_ns - fmin(on_line_ns, every_ns));
        end_ns = end_ns < s->measure_ns ? end_ns : s->measure_ns;
        flow->end_ns = end_ns > flow->end_ns ? end_ns : flow->end_ns;
    }
    json_decref(line);
    return 0;
}

/* The ports on the flow's ways through switches, as the simulator chose them; NULL: the result does not say.
 * By the caller to be freed. */
static uint8_t *take_ways(const struct seen *s, const char *flow)
{
    static const struct {
        const char *key;
        uint8_t ways;
    } lists[] = {{"data", 1 << WAY_MUST | 1 << WAY_MAY},
                 {"some_data", 1 << WAY_MAY},
                 {"back", 1 << WAY_BACK_MUST | 1 << WAY_BACK_MAY},
                 {"some_back", 1 << WAY_BACK_MAY}};
    const json_t *of = json_object_get(run_get(s->run, "topology.ways"), flow), *name;
    uint8_t *ways = of && !s->hosts_only ? xcalloc(s->network.port_count + 1, 1) : NULL;
    size_t i;
    for (size_t k = 0; ways && k < sizeof lists / sizeof *lists; k++)
        json_array_foreach(json_object_get(of, lists[k].key), i, name)
        {
            size_t port = network_port(&s->network, json_string_value(name));
            if (port != NETWORK_NONE)
                ways[port] |= lists[k].ways;
        }
    return ways;
}

/* Did anything on whichever way count packets that it lost? */
static bool network_loses(const struct seen *s)
{
    static const char *const counters[] = {"buffer_discards",   "link_discards",    "route_discards",
                                           "watchdog_discards", "crc_errors",       "rx_out_of_buffer",
                                           "rx_discards_phy",   "rx_crc_errors_phy"};
    bool any = false;
    for (size_t node = 0; node < s->network.node_count; node++)
        for (size_t k = 0; k < sizeof counters / sizeof *counters; k++)
            any |= seen_counter(s, seen_role(s, node), "%s", counters[k]) > 0;
    return any;
}

/* Did time-outs alone make the flow's sender send again, and its receiver get that twice? Then no packet is
 * known to be lost: acknowledgements came after the time-out, or were. */
static bool acks_are_late(const struct seen *s, const struct flow_seen *flow)
{
    static const char *const at_sender[] = {"packet_seq_err", "implied_nak_seq_err", "rnr_nak_retry_err"},
                             *const at_receiver[] = {"out_of_sequence", "out_of_seq_request",
                                                     "out_of_buffer"};
    bool lost = false;
    for (size_t k = 0; k < sizeof at_sender / sizeof *at_sender; k++)
        lost |= seen_counter(s, flow->from, "%s", at_sender[k]) > 0;
    for (size_t k = 0; k < sizeof at_receiver / sizeof *at_receiver; k++)
        lost |= seen_counter(s, flow->to, "%s", at_receiver[k]) > 0;
    return !lost && seen_counter(s, flow->to, "duplicate_request") > 0 &&
           (seen_counter(s, flow->from, "local_ack_timeout_err") > 0 ||
            seen_counter(s, flow->from, "roce_adp_retrans") > 0) &&
           !network_loses(s);
}

static void take_flows(struct seen *s)
{
    const json_t *flows = run_get(s->run, "flows"), *of;
    const char *name;
    bool stops = false;
    struct error ignored;
    s->flows = xcalloc(json_object_size(flows) + 1, sizeof *s->flows);
    s->flow_index = json_object();
    json_object_foreach((json_t *)(uintptr_t)flows, name, of)
    {
        if (!result_flow_counts(flows, name, "*", "goodput_bps"))
            continue;
        if (s->flow_count == FLOWS_MOST) {
            s->flows_left_out++;
            continue;
        }
        json_put(s->flow_index, name, json_integer((json_int_t)s->flow_count));
        const json_t *asked = find_asked(s, name);
        struct flow_seen *flow = &s->flows[s->flow_count++];
        *flow = (struct flow_seen){
            .name = name,
            .asked = asked,
            .from = run_member(of, "from"),
            .to = run_member(of, "to"),
            .priority = (int)json_integer_value(
                json_object_get(json_object_get(of, "priority") ? of : asked, "priority")),
            .goodput_bps = json_number_value(json_object_get(of, "goodput_bps")),
            .resent_packets = number_or_nan(json_object_get(of, "retransmitted_packets")),
            .decreases = json_number_value(json_object_get(of, "decreases")),
            .increases = json_number_value(json_object_get(of, "increases")),
            .traffic_class = json_object_get(of, "traffic_class")
                                 ? (int)json_integer_value(json_object_get(of, "traffic_class"))
                                 : -1,
            .interval_end_ns = INT64_MIN,
            .waits = {.port = NETWORK_NONE},
            .stop = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX},
            .marked = json_number_value(json_object_get(of, "marked_packets"))};
        if (json_object_get(of, "delivered_bps") && !json_object_get(of, "completion_ns"))
            flow->goodput_bps = json_number_value(json_object_get(of, "delivered_bps"));
        if (strcmp(run_member(of, "op"), "read") == 0) { /* its data go the other way */
            const char *reader = flow->from;
            flow->from = flow->to;
            flow->to = reader;
        }
        flow->from_node = node_of_role(s, flow->from);
        flow->to_node = node_of_role(s, flow->to);
        flow->ways = take_ways(s, name);
        double message_bytes = flow->message_bytes = json_number_value(json_object_get(of, "message_bytes"));
        flow->payload = packet_payload(s->settings, flow);
        flow->most_bps =
            seen_line_bps(s, flow->from) * payload_part(flow, run_member(of, "op"), message_bytes);
        flow->payload = message_bytes > 0 ? fmin(flow->payload, message_bytes) : flow->payload;
        flow->packets = json_number_value(json_object_get(of, "delivered_bytes")) / flow->payload;
        take_time(s, flow, of);
        flow->result_bps = flow->goodput_bps;
        flow->messages_per_s = json_number_value(json_object_get(of, "messages_per_s"));
        flow->latency_s =
            json_number_value(json_object_get(json_object_get(of, "latency_ns"), "mean")) / NS_PER_S;
        flow->control = control_of(s, flow->from);
        flow->ends = json_object_get(of, "completion_ns") != NULL;
        flow->messages = json_number_value(json_object_get(of, "messages"));
        const json_t *many = json_object_get(of, "flows");
        if (many && json_equal(json_object_get(many, "started"), json_object_get(many, "finished")))
            flow->slowdown = json_number_value(json_object_get(json_object_get(of, "slowdown"), "mean"));
        flow->acks_late = acks_are_late(s, flow);
        flow->at_once = flow->ends && flow->messages <= seen_depth(flow);
        stops |= json_object_get(asked, "stop") != NULL;
    }
    if (stops) /* without these lines a flow has ended when it stopped */
        run_each_line(s->run, "flows.jsonl", take_end, s, &ignored);
    for (size_t i = 0; i < s->flow_count; i++) {
        struct flow_seen *flow = &s->flows[i];
        double own_ns = (double)(flow->end_ns - flow->start_ns);
        if (!flow->ends && own_ns > 0) /* over the whole phase, whenever it ran */
            flow->goodput_bps *= (double)s->measure_ns / own_ns;
        if (json_object_get(json_object_get(flows, flow->name), "delivered_bps") &&
            flow->goodput_bps <= 0) /* not a packet arrived */
            flow->still_ns = flow->end_ns - flow->start_ns;
    }
    for (size_t i = 0; i < s->flow_count; i++)
        if (s->flows[i].end_ns > s->flows[i].start_ns && s->flows[i].resent_packets > 0)
            s->flows[i].resent_bps = resent_bps(s, &s->flows[i]);
}

/* Did one of its ends notice a loss in this time, or that no receive was posted, of whichever of its flows?
 */
static bool loses_within(const struct seen *s, const struct flow_seen *flow, int64_t from_ns, int64_t to_ns)
{
    static const char *const at_sender[] = {"local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err",
                                            "roce_adp_retrans", "rnr_nak_retry_err"},
                             *const at_receiver[] = {"out_of_sequence", "duplicate_request"};
    bool any = false;
    for (size_t k = 0; k < sizeof at_sender / sizeof *at_sender; k++) {
        const struct series *noticed = seen_series(s, flow->from, "%s", at_sender[k]);
        any |= series_at(noticed, to_ns) > series_at(noticed, from_ns);
    }
    for (size_t k = 0; k < sizeof at_receiver / sizeof *at_receiver; k++) {
        const struct series *noticed = seen_series(s, flow->to, "%s", at_receiver[k]);
        any |= series_at(noticed, to_ns) > series_at(noticed, from_ns);
    }
    return any;
}

/* The time that what the flow's sender sent of its priority between two times takes on its line: as much as
 * the flow has of that. 0: not sampled. */
static double sending_ns(const struct seen *s, const struct flow_seen *flow, int64_t from_ns, int64_t to_ns)
{
    const struct series *sent = seen_series(s, flow->from, "tx_prio%d_bytes", flow->priority);
    double bytes = series_at(sent, to_ns) - series_at(sent, from_ns), own = 0, all = 0;
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *one = &s->flows[i];
        double its = one->goodput_bps + one->resent_bps;
        bool counts = one->priority == flow->priority && strcmp(one->from, flow->from) == 0 && its > 0;
        all += counts ? its : 0;
        own += counts && one == flow ? its : 0;
    }
    return bytes > 0 && all > 0 ? 8 * bytes / seen_line_bps(s, flow->from) * NS_PER_S * own / all : 0;
}

/* Nothing of the flow was complete in this time, though a message takes less, and nothing was sent again: it
 * waited, if a loss was noticed then. */
static void take_stall(struct seen *s, struct flow_seen *flow, int64_t from_ns, int64_t to_ns,
                       int64_t every_ns)
{
    int64_t from = from_ns > flow->start_ns ? from_ns : flow->start_ns;
    int64_t to = to_ns < flow->end_ns ? to_ns : flow->end_ns;
    double usual_ns =
        flow->goodput_bps > 0 ? 8 * flow->message_bytes / flow->goodput_bps * NS_PER_S : INFINITY;
    double stalled = (double)(to - from - seen_stopped_ns(s, flow, from, to));
    stalled -= fmax(usual_ns > (double)every_ns ? usual_ns : 0, sending_ns(s, flow, from, to));
    if (to - from >= every_ns && stalled > 0 && flow->resent_packets != 0 &&
        loses_within(s, flow, from - every_ns, to + every_ns))
        flow->stalled_ns += (int64_t)stalled;
}

/* An interval of flows.jsonl, in which something was complete: the flow stood still after it. */
static void take_interval(struct seen *s, const json_t *line)
{
    struct flow_seen *flow = flow_of_line(s, line);
    if (!flow)
        return;
    int64_t end_ns = json_integer_value(json_object_get(line, "time_ns")) - s->run->start_ns;
    int64_t every_ns = json_integer_value(json_object_get(line, "duration_ns"));
    if (flow->interval_end_ns != INT64_MIN && every_ns > 0)
        take_stall(s, flow, flow->interval_end_ns, end_ns - every_ns, every_ns);
    flow->interval_end_ns = end_ns;
    flow->every_ns = every_ns;
    flow->still_ns = flow->end_ns - end_ns;
}

static int take_line(void *to, char *text, size_t length, struct error *e)
{
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    (void)e;
    take_interval(to, line);
    json_decref(line);
    return 0;
}

static int by_cost(const void *left, const void *right, void *costs)
{
    const size_t *a = left, *b = right;
    const double *cost_of = costs;
    if (cost_of[*a] != cost_of[*b])
        return cost_of[*a] > cost_of[*b] ? -1 : 1;
    return *a < *b ? -1 : 1;
}

size_t *seen_by_cost(const struct seen *s, const double *cost_of)
{
    size_t *order = xcalloc(s->flow_count + 1, sizeof *order);
    for (size_t i = 0; i < s->flow_count; i++)
        order[i] = i;
    qsort_r(order, s->flow_count, sizeof *order, by_cost, (void *)(uintptr_t)cost_of);
    return order;
}

/* ---- ways and ports */

bool seen_may_pass(struct seen *s, const struct flow_seen *flow, size_t port)
{
    return flow->from_node == NETWORK_NONE || flow->to_node == NETWORK_NONE ||
           seen_passes(s, flow, WAY_MAY, port);
}

bool seen_passes(struct seen *s, const struct flow_seen *flow, enum way way, size_t port)
{
    bool back = way == WAY_BACK_MUST || way == WAY_BACK_MAY;
    size_t from = back ? flow->to_node : flow->from_node, to = back ? flow->from_node : flow->to_node;
    if (from == NETWORK_NONE || to == NETWORK_NONE)
        return false;
    if (flow->ways && !s->network.nodes[s->network.ports[port].node].host)
        return flow->ways[port] >> way & 1;
    return way == WAY_MAY || way == WAY_BACK_MAY ? network_may_pass(&s->network, from, to, port)
                                                 : network_must_pass(&s->network, from, to, port);
}

bool seen_may_use(struct seen *s, const struct flow_seen *flow, size_t port)
{
    return seen_may_pass(s, flow, port) || seen_passes(s, flow, WAY_BACK_MAY, port);
}

/* The part of the samples from one time to another in which more than a few frames waited at the port. */
static double backlog_within(const struct seen *s, size_t port, int priority, int64_t from, int64_t to,
                             const struct stop *but)
{
    const struct network_port *at = &s->network.ports[port];
    const struct series *queue =
        seen_series(s, seen_role(s, at->node), "port%u_prio%d_queue_bytes", at->number, priority);
    size_t all = 0, waiting = 0;
    for (size_t i = 0; queue && i < queue->count; i++) {
        int64_t at_ns = queue->time_ns[i];
        bool within = at_ns >= from && at_ns <= to && !stop_within(but, at_ns, at_ns + 1);
        all += within;
        waiting += within && queue->value[i] > SEEN_SEVERAL_FRAMES;
    }
    return all ? (double)waiting / (double)all : NAN;
}

double seen_backlog(const struct seen *s, size_t port, int priority, const struct stop *stop,
                    const struct stop *but)
{
    return backlog_within(s, port, priority, stop ? stop->spans[0].start_ns : 0,
                          stop ? stop->spans[stop->count - 1].end_ns : s->measure_ns, but);
}

double seen_mean(const struct series *series, const struct flow_seen *during, double *variance)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (size_t i = 0; series && i < series->count; i++) {
        bool within = series->time_ns[i] >= during->start_ns && series->time_ns[i] <= during->end_ns &&
                      series->value[i] != LINES_NULL;
        double value = within ? (double)series->value[i] : 0;
        count += within;
        sum += value;
        squares += value * value;
    }
    double mean = count ? sum / (double)count : NAN;
    *variance = count ? squares / (double)count - mean * mean : NAN;
    return mean;
}

double seen_queue_bytes(const struct seen *s, size_t port, const struct flow_seen *during, double *variance)
{
    const struct network_port *at = &s->network.ports[port];
    return seen_mean(
        seen_series(s, seen_role(s, at->node), "port%u_prio%d_queue_bytes", at->number, during->priority),
        during, variance);
}

bool seen_is_shared(struct seen *s, const struct flow_seen *flow, size_t port, const char *sender)
{
    bool shared = false;
    for (size_t i = 0; i < s->flow_count && !shared; i++) {
        const struct flow_seen *other = &s->flows[i];
        shared = seen_overlap(flow, other) > 0 &&
                 ((strcmp(other->from, sender) != 0 && seen_may_pass(s, other, port)) ||
                  (strcmp(other->to, sender) != 0 && seen_passes(s, other, WAY_BACK_MAY, port)));
    }
    return shared;
}

double seen_shared_backlog(struct seen *s, const struct flow_seen *flow)
{
    double most = 0;
    for (size_t p = 0; p < s->network.port_count; p++) {
        if (s->network.nodes[s->network.ports[p].node].host || !seen_passes(s, flow, WAY_MAY, p) ||
            !seen_is_shared(s, flow, p, flow->from))
            continue;
        double waits =
            s->hosts_only ? NAN : backlog_within(s, p, flow->priority, flow->start_ns, flow->end_ns, NULL);
        most = isnan(waits) || isnan(most) ? NAN : fmax(most, waits);
    }
    return most;
}

double seen_marks(const struct seen *s, size_t port, const char *member)
{
    const struct network_port *at = &s->network.ports[port];
    double marks = seen_value(s, seen_role(s, at->node), member, "port%u_ecn_marked", at->number);
    return isnan(marks) ? seen_value(s, seen_role(s, at->node), member, "qdisc_port%u_marked", at->number)
                        : marks;
}

bool seen_is_partial(const struct seen *s, const struct flow_seen *flow)
{
    return flow && flow->end_ns > flow->start_ns && (flow->start_ns > 0 || flow->end_ns < s->measure_ns);
}

/* The last sample at this time or before it; SIZE_MAX: none. */
static size_t sample_at(const struct series *series, int64_t time_ns)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; series && i < series->count && series->time_ns[i] <= time_ns; i++)
        found = i;
    return found;
}

double seen_use_within(const struct seen *s, size_t port, int64_t from_ns, int64_t to_ns)
{
    const struct network_port *at = &s->network.ports[port];
    const struct series *sent = seen_series(s, seen_role(s, at->node), "port%u_tx_bytes", at->number);
    size_t first = sample_at(sent, from_ns), last = sample_at(sent, to_ns);
    if (first == SIZE_MAX || first >= last || sent->value[first] == LINES_NULL ||
        sent->value[last] == LINES_NULL)
        return NAN;
    double time_s = (double)(sent->time_ns[last] - sent->time_ns[first]) / NS_PER_S;
    return 8 * (double)(sent->value[last] - sent->value[first]) / time_s / at->rate_bps;
}

double seen_use(const struct seen *s, size_t port, const struct flow_seen *during)
{
    const struct network_port *at = &s->network.ports[port];
    double use =
        seen_is_partial(s, during) ? seen_use_within(s, port, during->start_ns, during->end_ns) : NAN;
    return isnan(use) ? 8 * seen_rate(s, seen_role(s, at->node), "port%u_tx_bytes", at->number) / at->rate_bps
                      : use;
}

bool seen_has_others(struct seen *s, size_t port)
{
    double sure = 0, use = seen_use(s, port, NULL);
    for (size_t i = 0; i < s->flow_count; i++) {
        const struct flow_seen *flow = &s->flows[i];
        if (flow->most_bps > 0 && seen_passes(s, flow, WAY_MUST, port))
            sure += flow->result_bps / flow->most_bps * seen_line_bps(s, flow->from);
    }
    return !(use * s->network.ports[port].rate_bps * TAKES_ALL <= sure) || sure <= 0;
}

bool seen_is_full(const struct seen *s, size_t port, const struct flow_seen *during)
{
    return seen_use(s, port, during) >= SEEN_FULL &&
           !(backlog_within(s, port, during->priority, during->start_ns, during->end_ns, NULL) < SEEN_FULL);
}

/* ---- all */

static void name_roles(struct seen *s)
{
    const json_t *host;
    const char *role;
    s->roles = json_object();
    json_object_foreach((json_t *)(uintptr_t)run_get(s->run, "hosts"), role, host)
    {
        size_t node = node_of_role(s, role);
        if (node != NETWORK_NONE)
            json_put(s->roles, s->network.nodes[node].name, json_text(role));
    }
}

void seen_open(struct seen *s, struct run *run, bool hosts_only)
{
    *s = (struct seen){.run = run, .hosts_only = hosts_only, .measure_ns = run->end_ns - run->start_ns};
    network_open(&s->network, run);
    name_roles(s);
    s->hosts_only |= !sees_switches(s);
    s->has_pauses = !s->hosts_only && run->pause_count > 0;
    s->stops = xcalloc(s->network.port_count * PRIORITIES + 1, sizeof *s->stops);
    s->stop_of = xcalloc(s->network.port_count * PRIORITIES + 1, sizeof *s->stop_of);
    if (s->has_pauses)
        take_pauses(s);
    else if (!s->hosts_only)
        take_sampled_pauses(s);
    struct error ignored;
    s->settings =
        run_load_settings(run); /* NULL: Ethernet's own MTU is taken, and PFC as the scenario has it */
    take_flows(s);
    /* without these lines a flow that stands still is not noticed */
    run_each_line(run, "flows.jsonl", take_line, s, &ignored);
    for (size_t i = 0; i < s->flow_count; i++)
        seen_share_out(s, &s->flows[i]);
}

void seen_free(struct seen *s)
{
    for (size_t i = 0; i < s->stop_count; i++)
        free(s->stops[i].spans);
    free(s->stops);
    free(s->stop_of);
    for (size_t i = 0; i < s->flow_count; i++)
        free(s->flows[i].ways);
    free(s->flows);
    json_decref(s->roles);
    json_decref(s->settings);
    json_decref(s->flow_index);
    network_free(&s->network);
    *s = (struct seen){0};
}
