/* The scenario of an imported case, and how long its flows take at least. */
#include "harness/import/import.h"
#include "lib/document/json_text.h"
#include "lib/formats/flow.h"
#include "lib/units.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- how long flows take at least, and in which order they can begin */

/* Time for switches on the way and the last ACK, besides what links state. */
#define HOPS 8

struct times {
    const struct import *import;
    double *ns_per_byte;         /* of each node's link, the slowest if it has several */
    double delay_ns;             /* of the longest link */
    size_t *first_after, *after; /* of each flow the waits for it: after[first_after[f]] and on */
    size_t *owner;               /* of each wait the flow that waits */
    size_t *waits_left;
    double *ready_ns; /* when a flow begins */
    double *end_ns;   /* and ends, alone */
};

static void times_take_rates(struct times *t)
{
    const struct import *import = t->import;
    double rate = import->rate_bps ? (double)import->rate_bps : 1e9;
    t->delay_ns = (double)import->delay_ps / 1e3;
    for (size_t i = 0; i < import->nodes; i++)
        t->ns_per_byte[i] = import->link_count ? 0 : 8e9 / rate;
    for (size_t i = 0; i < import->link_count; i++) {
        const struct import_link *link = &import->links[i];
        double delay = (double)link->delay_ps / 1e3;
        double ns = 8e9 / (double)link->rate_bps;
        for (int k = 0; k < 2; k++) {
            double *of_node = &t->ns_per_byte[k ? link->b : link->a];
            *of_node = *of_node < ns ? ns : *of_node;
        }
        t->delay_ns = delay > t->delay_ns ? delay : t->delay_ns;
    }
}

static double times_busiest(const struct times *t, double *load)
{
    double most = 0;
    for (size_t i = 0; i < t->import->flow_count; i++) {
        const struct import_flow *flow = &t->import->flows[i];
        load[2 * flow->from] += (double)flow->bytes * t->ns_per_byte[flow->from];
        load[2 * flow->to + 1] += (double)flow->bytes * t->ns_per_byte[flow->to];
    }
    for (size_t i = 0; i < 2 * t->import->nodes; i++)
        most = load[i] > most ? load[i] : most;
    return most;
}

static void times_list_waits(struct times *t)
{
    const struct import *import = t->import;
    for (size_t i = 0; i < import->wait_count; i++)
        t->first_after[import->waits[i].flow + 2]++;
    for (size_t i = 2; i < import->flow_count + 2; i++)
        t->first_after[i] += t->first_after[i - 1];
    for (size_t f = 0; f < import->flow_count; f++)
        for (size_t k = 0; k < import->flows[f].waits; k++)
            t->owner[import->flows[f].first_wait + k] = f;
    for (size_t i = 0; i < import->wait_count; i++)
        t->after[t->first_after[import->waits[i].flow + 1]++] = i;
}

static double times_end_of(const struct times *t, size_t f)
{
    const struct import_flow *flow = &t->import->flows[f];
    double slow = t->ns_per_byte[flow->from] > t->ns_per_byte[flow->to] ? t->ns_per_byte[flow->from]
                                                                        : t->ns_per_byte[flow->to];
    return t->ready_ns[f] + (double)flow->bytes * slow + 2 * HOPS * t->delay_ns;
}

/* Flow by flow, each after all that it waits for. */
static int times_follow_chains(struct times *t, size_t *queue, double *last_ns, struct error *e)
{
    const struct import *import = t->import;
    size_t head = 0, tail = 0;
    for (size_t f = 0; f < import->flow_count; f++) {
        t->waits_left[f] = import->flows[f].waits;
        t->ready_ns[f] = (double)import->flows[f].start_ns;
        if (!t->waits_left[f])
            queue[tail++] = f;
    }
    while (head < tail) {
        size_t f = queue[head++];
        double end = t->end_ns[f] = times_end_of(t, f);
        *last_ns = end > *last_ns ? end : *last_ns;
        for (size_t i = t->first_after[f]; import->flows[f].bytes && i < t->first_after[f + 1]; i++) {
            size_t next = t->owner[t->after[i]];
            double ready = end + (double)import->waits[t->after[i]].delay_ns;
            t->ready_ns[next] = ready > t->ready_ns[next] ? ready : t->ready_ns[next];
            if (--t->waits_left[next] == 0)
                queue[tail++] = next;
        }
    }
    for (size_t f = 0; f < import->flow_count; f++)
        if (t->waits_left[f])
            return error_set(e,
                             "%s:%u: this flow never begins: it waits for flows that wait for it, or for one "
                             "that does not end",
                             import->flow_path, import->flows[f].line);
    return 0;
}

/* About how long the longest chain of flows takes that wait for each other, and the busiest host's link, on
 * an empty network, and when each flow ends there. -1: flows wait for each other in a ring, and none of them
 * begins. */
static int import_times(const struct import *import, double *chain_ns, double *busiest_ns, double *end_ns,
                        struct error *e)
{
    size_t flows = import->flow_count, *queue = calloc(flows + 1, sizeof *queue);
    double *load = calloc(2 * import->nodes + 2, sizeof *load);
    struct times t = {.import = import,
                      .ns_per_byte = calloc(import->nodes + 1, sizeof(double)),
                      .first_after = calloc(flows + 3, sizeof(size_t)),
                      .after = calloc(import->wait_count + 1, sizeof(size_t)),
                      .owner = calloc(import->wait_count + 1, sizeof(size_t)),
                      .waits_left = calloc(flows + 1, sizeof(size_t)),
                      .ready_ns = calloc(flows + 1, sizeof(double))};
    int result = -1;
    t.end_ns = end_ns;
    *chain_ns = *busiest_ns = 0;
    if (!queue || !load || !t.ns_per_byte || !t.first_after || !t.after || !t.owner || !t.waits_left ||
        !t.ready_ns) {
        error_set(e, "out of memory");
    } else {
        times_take_rates(&t);
        *busiest_ns = times_busiest(&t, load);
        times_list_waits(&t);
        result = times_follow_chains(&t, queue, chain_ns, e);
    }
    free(queue);
    free(load);
    free(t.ns_per_byte);
    free(t.first_after);
    free(t.after);
    free(t.owner);
    free(t.waits_left);
    free(t.ready_ns);
    return result;
}

/* ---- roles */

static bool *hosts_of_flows(const struct import *import)
{
    bool *takes_part = calloc(import->nodes + 1, sizeof *takes_part);
    for (size_t i = 0; takes_part && i < import->flow_count; i++)
        takes_part[import->flows[i].from] = takes_part[import->flows[i].to] = true;
    for (size_t i = 0; takes_part && import->schedule && i < import->nodes; i++)
        takes_part[i] = true;
    for (size_t i = 0; takes_part && import->sampled && i < import->nodes; i++)
        takes_part[i] = takes_part[i] || import->sampled[i];
    return takes_part;
}

/* The hosts of flows, and the nodes that are sampled. */
static json_t *roles_json(const struct import *import)
{
    bool *takes_part = hosts_of_flows(import);
    json_t *roles = json_array();
    for (size_t i = 0; takes_part && i < import->nodes;) {
        size_t end = i + 1;
        while (!import->names && end < import->nodes && takes_part[end] == takes_part[i] &&
               import->is_switch[end] == import->is_switch[i])
            end++;
        if (takes_part[i])
            json_array_append_new(roles, import_names(import, i, end - 1));
        i = end;
    }
    free(takes_part);
    return roles;
}

static json_t *priorities_json(const struct import *import)
{
    bool used[8] = {false};
    json_t *list = json_array();
    for (size_t i = 0; i < import->flow_count; i++)
        used[import->flows[i].priority & 7] = true;
    used[0] = used[0] || import->schedule;
    for (int p = 0; p < 8; p++)
        if (used[p])
            json_array_append_new(list, json_integer(p));
    return list;
}

/* ---- flows */

/* A flow is one message, or as few equal ones as a message's limit makes of it; 0: there are none such. At
 * least one byte. */
static int64_t messages_of(int64_t bytes)
{
    for (int64_t n = 1; n <= FLOW_MAX_DEPTH; n++)
        if (bytes % n == 0 && bytes / n <= FLOW_MAX_MESSAGE_BYTES)
            return n;
    return 0;
}

static json_t *bytes_json(int64_t bytes)
{
    char text[40];
    return json_text(units_write(UNIT_BYTES, bytes, UNITS_DECIMAL, text, sizeof text));
}

static json_t *time_json(int64_t ns)
{
    char text[40];
    return json_text(units_write(UNIT_TIME_NS, ns, UNITS_ANY, text, sizeof text));
}

static int put_size(json_t *to, const struct import *import, const struct import_flow *flow, struct error *e)
{
    if (!flow->bytes)
        return 0;
    int64_t messages = messages_of(flow->bytes);
    if (!messages)
        return error_set(
            e, "%s:%u: %" PRId64 " bytes are not a sum of at most %d equal messages of at most %lld bytes",
            import->flow_path, flow->line, flow->bytes, FLOW_MAX_DEPTH, FLOW_MAX_MESSAGE_BYTES);
    json_object_set_new(to, "size", bytes_json(flow->bytes));
    json_object_set_new(to, "message", bytes_json(flow->bytes / messages));
    if (messages > 1)
        json_object_set_new(to, "depth", json_integer((json_int_t)messages));
    return 0;
}

/* Waits of one delay together. */
static json_t *waits_json(const struct import *import, const struct import_flow *flow)
{
    json_t *lists = json_object(), *waits = json_array(), *list;
    const char *key;
    for (size_t i = 0; i < flow->waits; i++) {
        const struct import_wait *wait = &import->waits[flow->first_wait + i];
        json_t *delay = wait->delay_ns ? time_json(wait->delay_ns) : json_text("");
        list = json_object_get(lists, json_string_value(delay));
        if (!list)
            json_object_set_new(lists, json_string_value(delay), list = json_array());
        json_array_append_new(list, json_textf("f%u", wait->flow));
        json_decref(delay);
    }
    json_object_foreach(lists, key, list)
    {
        json_t *one = json_make("{s:O}", "flows", list);
        if (*key)
            json_object_set_new(one, "delay", json_text(key));
        json_array_append_new(waits, one);
    }
    json_decref(lists);
    return waits;
}

static json_t *flows_json(const struct import *import, struct error *e)
{
    json_t *flows = json_array();
    for (size_t i = 0; i < import->flow_count; i++) {
        const struct import_flow *flow = &import->flows[i];
        json_t *one = json_make("{s:o,s:o,s:o}", "name", json_textf("f%zu", i), "from",
                                import_port_name(import, flow->from, flow->from_port), "to",
                                import_port_name(import, flow->to, flow->to_port));
        json_array_append_new(flows, one);
        if (put_size(one, import, flow, e) != 0) {
            json_decref(flows);
            return NULL;
        }
        if (flow->priority)
            json_object_set_new(one, "priority", json_integer(flow->priority));
        if (flow->start_ns)
            json_object_set_new(one, "start", time_json(flow->start_ns));
        if (flow->waits)
            json_object_set_new(one, "after", waits_json(import, flow));
    }
    return flows;
}

/* ---- how long it takes */

#define NS_PER_MS INT64_C(1000000)
#define LEAST_NS  1000                          /* of a measure phase */
#define LONGEST   (INT64_C(86400) * 1000000000) /* of a measure phase */
#define SAMPLES   200
#define RAREST    (INT64_C(60) * 1000000000) /* of samples */

/* 1, 2 or 5 times a power of ten, not below `ns`. */
static int64_t round_up(int64_t ns)
{
    for (int64_t at = 1000;; at *= 10)
        for (int factor = 1; factor <= 5; factor += factor == 1 ? 1 : 3)
            if (at * factor >= ns)
                return at * factor;
}

/* Long enough for flows that get half of what the busiest link and each chain of flows have: a guess, which
 * an expectation checks. */
static int duration(const struct import *import, int64_t *ns, double *end_ns, struct error *e)
{
    double chain_ns = 0, busiest_ns = 0, rate = (double)import->rate_bps;
    if (import->schedule && schedule_least_ns(import->schedule, 8e9 / rate,
                                              2 * HOPS * (double)import->delay_ps / 1e3, &chain_ns, e) != 0)
        return -1;
    if (!import->schedule && import_times(import, &chain_ns, &busiest_ns, end_ns, e) != 0)
        return -1;
    double all_ns = 2 * (chain_ns + busiest_ns) + (double)NS_PER_MS;
    if (all_ns > (double)LONGEST)
        return error_set(e, "%s: it takes about %.0f s: a run has at most %d", import->flow_path,
                         all_ns / 1e9, 86400);
    *ns = ((int64_t)all_ns / NS_PER_MS + 1) * NS_PER_MS;
    if (import->stop_ns > *ns)
        import_note(import,
                    "the run ends %" PRId64
                    " ms after its first flow starts, before the configuration's stop "
                    "time: by then all should have ended, which an expectation checks",
                    *ns / NS_PER_MS);
    else if (import->stop_ns)
        *ns = import->stop_ns > LEAST_NS ? import->stop_ns : LEAST_NS;
    return 0;
}

/* Each flow that ends has ended; with a stop time those that have twice the time until then that they need
 * alone. */
static json_t *expect_json(const struct import *import, const double *end_ns)
{
    size_t ends = 0;
    if (import->schedule)
        return json_make("[{s:s,s:s}]", "name", "every operation ends", "check",
                         "sum(jobs.job.unfinished) == 0");
    for (size_t i = 0; i < import->flow_count; i++) {
        const double start_ns = (double)import->flows[i].start_ns;
        ends += import->flows[i].bytes > 0 &&
                (!import->stop_ns || 2 * end_ns[i] - start_ns <= (double)import->stop_ns);
    }
    if (!ends)
        return json_array();
    return json_make(
        "[{s:s,s:o}]", "name",
        import->stop_ns ? "flows that have twice the time that they need end"
                        : "every flow that has a size ends",
        "check", json_textf("count(flows.*.completion_max_ns) %s %zu", import->stop_ns ? ">=" : "==", ends));
}

static json_t *settings_json(const struct import *import)
{
    json_t *priorities = priorities_json(import);
    return json_make("{s:i,s:O,s:o,s:s}", "mtu", 4200, "pfc", priorities, "ecn", priorities, "trust", "dscp");
}

static json_t *every_json(int64_t measure_ns)
{
    int64_t every_ns = round_up(measure_ns / SAMPLES);
    return time_json(every_ns < RAREST ? every_ns : RAREST);
}

json_t *import_scenario(const struct import *import, const struct import_request *request, struct error *e)
{
    int64_t measure_ns = 0;
    double *end_ns = calloc(import->flow_count + 1, sizeof *end_ns);
    json_t *flows = end_ns ? flows_json(import, e) : NULL;
    if (!end_ns)
        error_set(e, "out of memory");
    if (!flows || duration(import, &measure_ns, end_ns, e) != 0) {
        json_decref(flows);
        free(end_ns);
        return NULL;
    }
    json_t *scenario =
        json_make("{s:i,s:s,s:o,s:s,s:o,s:{s:s,s:o,s:s},s:o,s:o,s:{s:o,s:[s,s,s,s,s]},s:o}", "schema", 1,
                  "name", request->name, "title",
                  json_textf("Simulated: the %s of %s, a file of %s", import->schedule ? "schedule" : "flows",
                             import->flow_path, import->format),
                  "lab", request->lab, "roles", roles_json(import), "phases", "warmup", "0", "measure",
                  time_json(measure_ns), "cooldown", "10us", "settings", settings_json(import), "flows",
                  flows, "sample", "every", every_json(measure_ns), "groups", "pfc", "ecn", "drops", "queue",
                  "throughput", "expect", expect_json(import, end_ns));
    free(end_ns);
    if (!scenario)
        error_set(e, "out of memory");
    if (scenario && import->schedule) {
        json_object_del(scenario, "flows");
        json_object_set_new(scenario, "jobs",
                            json_make("[{s:s,s:s}]", "name", "job", "schedule", IMPORT_SCHEDULE));
    }
    json_merge_deep(scenario, import->scenario_values);
    if (import->fault_ns >= measure_ns) {
        json_object_del(scenario, "faults");
        import_note(import, "the link goes down when all flows should have ended: that is left out");
    }
    return scenario;
}
