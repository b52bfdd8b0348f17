#include "harness/judge/trouble.h"

#include "harness/plan/traffic_class.h"
#include "lib/document/json_text.h"
#include "lib/formats/result_flows.h"
#include "lib/text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- flows that moved nothing */

/* A flow or pattern of the scenario, as far as it says when there is something to send. */
struct wanted {
    int64_t start_ns, stop_ns;
    bool sized; /* a pattern of flows with a size, of which the last may begin at the end */
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
    return (struct wanted){t->start_ns, t->stop_ns, t->size_bytes != FIELD_UNSET || t->load > 0};
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

/* It had something to send in the measured phase, and moved nothing. Times count from the start of the run.
 */
static bool is_still(const struct cell *cell, const json_t *index, const json_t *flows, const char *name,
                     const json_t *flow)
{
    const struct scenario_phases *phases = &cell->scenario.phases;
    if (number_of(flow, "bytes") > 0 || json_object_get(flow, "completion_ns"))
        return false;
    char *pattern = pattern_of(flows, name);
    struct wanted wanted = wanted_of(cell, index, pattern ? pattern : name);
    /* of a pattern that moved nothing its own entry is enough */
    bool told = pattern && (wanted.sized || number_of(json_object_get(flows, pattern), "bytes") == 0);
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

static void find_still(const struct cell *cell, const json_t *flows, json_t *warnings)
{
    struct text_names still = {0}, unfinished = {0};
    json_t *index = index_by_name(cell), *flow;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)flows, name, flow)
    {
        if (is_still(cell, index, flows, name, flow))
            text_names_add(number_of(flow, "delivered_bytes") > 0 ? &unfinished : &still, name);
    }
    add_sentence(&still, " moved nothing in the measured phase", warnings);
    add_sentence(
        &unfinished,
        " completed no message in the measured phase, and the goodput is 0, though parts of messages "
        "arrived: a longer phases.measure or smaller messages show a rate",
        warnings);
    json_decref(index);
}

/* ---- queue pairs that gave up: single flows have said it themselves */

static void find_given_up(const struct cell *cell, const json_t *flows, json_t *warnings)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    for (size_t i = 0; i < cell->scenario.traffic.count; i++) {
        const json_t *all = json_object_get(flows, traffic[i].name);
        json_int_t errors = json_integer_value(json_object_get(all, "errors"));
        if (errors > 0 && !result_flow_parts(flows, traffic[i].name))
            json_array_append_new(
                warnings, json_textf("traffic %s: %lld of its queue pairs gave up after their last retry",
                                     traffic[i].name, (long long)errors));
    }
}

/* ---- more sent again than arrived: the NICs of real hosts count what they sent */

#define HEADERS_BYTES   100 /* of a packet, and an acknowledgement; RoCEv2 over IPv6 with a VLAN tag has 98 */
#define LEAST_MTU_BYTES 256

/* What the flows of a role moved, and at most the packets that this took in both directions. */
struct moved {
    double sent_bytes, packets;
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
        moved.packets += number_of(flow, "messages") + bytes / LEAST_MTU_BYTES;
    }
    return moved;
}

static void find_sent_again(const struct cell *cell, const json_t *result, json_t *warnings)
{
    static const char counter[] = "tx_vport_rdma_unicast_bytes";
    const json_t *flows = json_object_get(result, "flows");
    const char *role;
    json_t *host;
    json_object_foreach(json_object_get(result, "hosts"), role, host)
    {
        const json_t *counted = json_object_get(json_object_get(host, "counters"), counter);
        double sent = number_of(counted, "delta");
        struct moved moved = counted ? moved_by(cell, flows, role) : (struct moved){0};
        if (moved.sent_bytes > 0 && sent - moved.packets * HEADERS_BYTES > 2 * moved.sent_bytes)
            json_array_append_new(
                warnings,
                json_textf("%s sent %.3g MB of RDMA in the measured phase (%s), and its flows moved %.3g MB: "
                           "more was sent again than arrived, or others send too",
                           role, sent / 1e6, counter, moved.sent_bytes / 1e6));
    }
}

void trouble_find(const struct cell *cell, json_t *result)
{
    const json_t *flows = json_object_get(result, "flows");
    json_t *warnings = json_object_get(result, "warnings");
    find_still(cell, flows, warnings);
    find_given_up(cell, flows, warnings);
    if (!lab_kind(&cell->lab)->simulated) /* the simulator says it itself */
        find_sent_again(cell, result, warnings);
}
