/* What only the simulator knows of a run, as parts of result.json (docs/result.md). */
#include "harness/labs/sim/results.h"
#include "harness/labs/sim/jobs.h"
#include "harness/labs/sim/capture.h"
#include "lib/document/json_text.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "sim/capture.h"
#include "sim/faults/faults.h"
#include <stdio.h>
#include <stdlib.h>

#define MOST_DEADLOCKS 100 /* in a result */

/* ---- topology */

static size_t held_index(size_t link, unsigned end, unsigned priority)
{
    return (link * 2 + end) * SIM_PRIORITIES + priority;
}

int64_t *results_held_times(const struct sim_lab *lab)
{
    size_t links = lab->setup.config.link_count;
    int64_t *held_ps = xcalloc(links * 2 * SIM_PRIORITIES + 1, sizeof *held_ps);
    for (size_t i = 0; i < links; i++)
        for (unsigned end = 0; end < 2; end++)
            for (unsigned p = 0; p < SIM_PRIORITIES; p++)
                held_ps[held_index(i, end, p)] = sim_link_hold(lab->sim, i, end, p).held_ps;
    return held_ps;
}

static json_t *nodes_json(const struct cell *cell, const struct sim_setup *setup)
{
    static const char *const kinds[] = {"host", "switch", "bridge"};
    json_t *nodes = json_array();
    for (size_t i = 0; i < cell->lab.hosts.count; i++) {
        struct sim_node node = {SIM_HOST, (uint32_t)i};
        json_t *object =
            json_make("{s:s,s:s}", "name", sim_setup_node_name(cell, setup, node), "kind", kinds[SIM_HOST]);
        if (lab_nic_name(&cell->lab, i))
            json_object_set_new(object, "machine", json_text(lab_machine_name(&cell->lab, i)));
        json_array_append_new(nodes, object);
    }
    for (size_t i = 0; i < cell->lab.switches.count; i++) {
        struct sim_node node = setup->node_of_switch[i];
        json_array_append_new(nodes, json_make("{s:s,s:s}", "name", sim_setup_node_name(cell, setup, node),
                                               "kind", kinds[node.kind]));
    }
    return nodes;
}

/* Held times by priority between two moments, without zeros; NULL: zeros. */
static json_t *holds_json(const struct sim *sim, size_t link, unsigned end, const int64_t *from,
                          const int64_t *to)
{
    json_t *holds = json_object();
    for (unsigned p = 0; p < SIM_PRIORITIES; p++) {
        struct sim_hold hold = sim_link_hold(sim, link, end, p);
        if (hold.first_ps < 0)
            continue;
        size_t at = held_index(link, end, p);
        int64_t held_ps = (to ? to[at] : 0) - (from ? from[at] : 0);
        char key[8];
        snprintf(key, sizeof key, "%u", p);
        json_t *object = json_make("{s:I,s:I}", "held_ns", (json_int_t)(held_ps / SIM_PS_PER_NS), "first_ns",
                                   (json_int_t)(hold.first_ps / SIM_PS_PER_NS));
        if (hold.longest_ps >= 0)
            json_object_set_new(object, "longest_ns", json_integer(hold.longest_ps / SIM_PS_PER_NS));
        json_object_set_new(holds, key, object);
    }
    return holds;
}

/* The ways of flows, where there may be several. */

#define MOST_WAYS 1000 /* flows; no reader looks at more */

static json_t *ports_named(const struct sim_lab *lab, const uint32_t *passes, size_t ways, bool all)
{
    const struct sim_setup *setup = &lab->setup;
    json_t *names = json_array();
    for (size_t i = 0; i < 2 * setup->config.link_count; i++) {
        const struct sim_link_config *link = &setup->links[i / 2];
        if (passes[i] && (passes[i] == ways) == all)
            json_array_append_new(
                names,
                json_textf("%s:%u", sim_setup_node_name(lab->run->cell, setup, i % 2 ? link->b : link->a),
                           sim_port_number(lab->sim, (uint32_t)i)));
    }
    return names;
}

/* {"data": those of all ways, "some_data", "back", "some_back"}; NULL: each packet has its own. */
static json_t *ways_of_flow(const struct sim_lab *lab, uint32_t flow)
{
    static const char *const keys[2][2] = {{"some_back", "back"}, {"some_data", "data"}};
    size_t ports = 2 * lab->setup.config.link_count;
    json_t *object = json_object();
    for (int data = 1; object && data >= 0; data--) {
        uint32_t *passes = xcalloc(ports + 1, sizeof *passes);
        size_t ways = sim_flow_ways(lab->sim, flow, data, passes);
        for (int all = 1; ways && all >= 0; all--) {
            json_t *names = ports_named(lab, passes, ways, all);
            if (json_array_size(names))
                json_object_set(object, keys[data][all], names);
            json_decref(names);
        }
        free(passes);
        if (ways)
            continue;
        json_decref(object);
        object = NULL;
    }
    return object;
}

static json_t *ways_json(const struct sim_lab *lab, const json_t *flows)
{
    const struct sim_config *config = &lab->setup.config;
    json_t *ways = json_object();
    for (size_t i = 0; i < config->flow_count && json_object_size(ways) < MOST_WAYS; i++) {
        json_t *of = json_object_get(flows, config->flows[i].name) ? ways_of_flow(lab, (uint32_t)i) : NULL;
        if (of)
            json_put(ways, config->flows[i].name, of);
    }
    return ways;
}

static json_t *topology_json(const struct sim_lab *lab, const json_t *flows)
{
    const struct sim_setup *setup = &lab->setup;
    const struct cell *cell = lab->run->cell;
    json_t *links = json_array();
    for (size_t i = 0; i < setup->config.link_count; i++) {
        const struct sim_link_config *link = &setup->links[i];
        json_t *object =
            json_make("{s:s,s:s,s:I}", "a", sim_setup_node_name(cell, setup, link->a), "b",
                      sim_setup_node_name(cell, setup, link->b), "rate_bps", (json_int_t)link->rate_bps);
        static const char *const keys[] = {"a_held", "b_held"};
        for (unsigned end = 0; end < 2; end++) {
            json_t *holds = holds_json(lab->sim, i, end, lab->held_ps[0], lab->held_ps[1]);
            if (json_object_size(holds))
                json_object_set(object, keys[end], holds);
            json_decref(holds);
        }
        json_array_append_new(links, object);
    }
    json_t *topology = json_make("{s:o,s:o}", "nodes", nodes_json(cell, setup), "links", links);
    if (setup->config.switch_count + setup->config.bridge_count > 1)
        json_object_set_new(topology, "ways", ways_json(lab, flows));
    return topology;
}

/* ---- deadlocks */

static json_t *deadlock_ports(const struct sim_lab *lab, const struct sim_deadlock *found)
{
    json_t *ports = json_array();
    for (size_t i = 0; i < found->count; i++)
        json_array_append_new(
            ports, json_textf("%s:%u", sim_setup_node_name(lab->run->cell, &lab->setup, found->switches[i]),
                              found->ports[i]));
    return ports;
}

/* "deadlock on priority 3 since 1.2 ms: s0:1 waits for s1:2, which waits for s0:1" */
static json_t *deadlock_sentence(const json_t *deadlock)
{
    const json_t *ports = json_object_get(deadlock, "ports");
    struct text text = {0};
    size_t count = json_array_size(ports);
    text_add(&text, "deadlock on priority %d since %.6g ms of the run: %s waits",
             (int)json_integer_value(json_object_get(deadlock, "priority")),
             (double)json_integer_value(json_object_get(deadlock, "since_ns")) / 1e6,
             json_string_value(json_array_get(ports, 0)));
    for (size_t i = 1; i <= count; i++)
        text_add(&text, " for %s%s", json_string_value(json_array_get(ports, i % count)),
                 i < count ? ", which waits" : "");
    json_t *json = json_text(text_string(&text));
    text_free(&text);
    return json;
}

void results_note_deadlocks(struct sim_lab *lab)
{
    struct sim_deadlock found;
    while (sim_next_deadlock(lab->sim, &found)) {
        lab->deadlock_count++;
        if (json_array_size(lab->deadlocks) == MOST_DEADLOCKS)
            continue;
        json_t *object = json_make(
            "{s:I,s:I,s:i,s:o}", "since_ns", (json_int_t)(found.since_ps / SIM_PS_PER_NS), "found_ns",
            (json_int_t)lab->now_ns, "priority", (int)found.priority, "ports", deadlock_ports(lab, &found));
        json_object_set_new(object, "text", deadlock_sentence(object));
        json_array_append_new(lab->deadlocks, object);
    }
}

static void add_deadlocks(const struct sim_lab *lab, json_t *result)
{
    json_t *warnings = json_object_get(result, "warnings");
    for (size_t i = 0; i < json_array_size(lab->deadlocks); i++)
        json_array_append(warnings, json_object_get(json_array_get(lab->deadlocks, i), "text"));
    if (lab->deadlock_count > MOST_DEADLOCKS)
        json_array_append_new(warnings, json_textf("there were %zu deadlocks; the first %d are listed",
                                                   lab->deadlock_count, MOST_DEADLOCKS));
    if (json_array_size(lab->deadlocks))
        json_object_set(result, "deadlocks", lab->deadlocks);
}

/* ---- faults of single frames */

static void add_injected_rule(const struct sim_lab *lab, size_t i, json_t *injected, json_t *warnings)
{
    const struct injection_rule *r =
        (const struct injection_rule *)lab->run->cell->scenario.injections.items + i;
    struct sim_injected count = sim_injected(lab->sim, i);
    json_t *entry = injection_json(r, i);
    json_object_set_new(entry, "seen", json_integer(count.seen));
    json_object_set_new(entry, "injected", json_integer(count.injected));
    if (!count.injected)
        json_array_append_new(warnings, injection_warning(entry));
    json_array_append_new(injected, entry);
}

/* "injected", and a warning for each rule that met no frame. */
static void add_injected(const struct sim_lab *lab, json_t *result)
{
    size_t count = lab->run->cell->scenario.injections.count;
    if (!count)
        return;
    json_t *injected = json_array();
    for (size_t i = 0; i < count; i++)
        add_injected_rule(lab, i, injected, json_object_get(result, "warnings"));
    json_object_set_new(result, "injected", injected);
}

/* What a fault did not do, if it met nothing; else NULL. */
static json_t *fault_met_nothing(const struct sim_lab *lab, size_t i)
{
    const struct link_fault *f = (const struct link_fault *)lab->run->cell->scenario.faults.items + i;
    struct sim_injected count = sim_link_met(lab->sim, (uint32_t)i);
    char *const *ends = f->link.items;
    if (count.injected || (f->kind == LINK_RATE && count.seen))
        return NULL;
    if (f->kind == LINK_LOSS)
        return json_textf("faults[%zu] met nothing: of %lld frames (link between %.80s and %.80s, while the "
                          "fault lasted) it damaged none",
                          i, (long long)count.seen, ends[0], ends[1]);
    return json_textf("faults[%zu] met nothing: while the link between %.80s and %.80s was %s", i, ends[0],
                      ends[1],
                      f->kind == LINK_RATE ? "slower, no frame came over it"
                                           : "down, no frame was lost there, waited, or took another way");
}

static json_t *storm_met_nothing(const struct sim_lab *lab, size_t i)
{
    const struct scenario_storm *storm =
        (const struct scenario_storm *)lab->run->cell->scenario.storms.items + i;
    if (sim_storm_met(lab->sim, i))
        return NULL;
    return json_textf(
        "storms[%zu] met nothing: while %.80s paused priority %d, no frame waited for it at the "
        "other end of the link",
        i, storm->role, (int)storm->priority);
}

static void add_met_nothing(const struct sim_lab *lab, json_t *warnings)
{
    const struct scenario *scenario = &lab->run->cell->scenario;
    for (size_t i = 0; i < scenario->faults.count + scenario->storms.count; i++) {
        json_t *warning = i < scenario->faults.count ? fault_met_nothing(lab, i)
                                                     : storm_met_nothing(lab, i - scenario->faults.count);
        if (warning)
            json_array_append_new(warnings, warning);
    }
}

/* ---- receive buffers of hosts */

static json_t *buffer_priorities(const struct sim_settings *settings, int buffer)
{
    json_t *list = json_array();
    for (int p = 0; p < SIM_PRIORITIES; p++)
        if (settings->prio_to_buffer[p] == buffer)
            json_array_append_new(list, json_integer(p));
    return list;
}

static json_t *buffers_json(const struct sim_lab *lab, uint32_t host)
{
    const struct sim_settings *settings = &lab->setup.hosts[host].settings;
    json_t *buffers = json_array();
    for (int b = 0; b < SIM_BUFFERS; b++) {
        struct sim_thresholds t = sim_host_thresholds(lab->sim, host, (unsigned)b);
        if (settings->buffer_bytes[b])
            json_array_append_new(buffers,
                                  json_make("{s:i,s:I,s:I,s:I,s:o}", "buffer", b, "size_bytes",
                                            (json_int_t)settings->buffer_bytes[b], "xoff_bytes",
                                            (json_int_t)t.xoff_bytes, "xon_bytes", (json_int_t)t.xon_bytes,
                                            "priorities", buffer_priorities(settings, b)));
    }
    return buffers;
}

/* ---- all */

void results_add(const struct sim_lab *lab, json_t *result)
{
    const struct cell *cell = lab->run->cell;
    struct sim_work work;
    json_array_extend(json_object_get(result, "warnings"), lab->warnings);
    if (!lab->started)
        return;
    add_deadlocks(lab, result);
    sim_capture_add_to_result(lab, result);
    add_injected(lab, result);
    sim_jobs_add_to_result(lab, result);
    add_met_nothing(lab, json_object_get(result, "warnings"));
    sim_work(lab->sim, &work);
    json_object_set_new(result, "simulator",
                        json_make("{s:I,s:I,s:I,s:I,s:I}", "events", (json_int_t)work.events, "hops",
                                  (json_int_t)work.hops, "wall_ns", (json_int_t)lab->wall_ns, "memory_bytes",
                                  (json_int_t)work.bytes, "allocations", (json_int_t)work.allocations));
    json_object_set_new(result, "topology", topology_json(lab, json_object_get(result, "flows")));
    for (size_t role = 0; role < cell->scenario.roles.count; role++) {
        struct sim_node node = lab->setup.node_of_role[role];
        const char *name = scenario_role(&cell->scenario, role);
        if (node.kind == SIM_HOST && recorder_lists(lab->run->recorder, role))
            json_object_set_new(json_object_get(json_object_get(result, "hosts"), name), "buffers",
                                buffers_json(lab, node.index));
    }
}
