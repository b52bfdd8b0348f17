/* The simulated lab: runs the simulator and passes on the lines that samplers and traffic generators would print. */
#include "harness/labs/sim/capture/capture.h"
#include "harness/labs/sim/deadlocks.h"
#include "harness/labs/sim/foresee.h"
#include "harness/labs/sim/inject/inject.h"
#include "harness/labs/sim/lines.h"
#include "harness/labs/sim/memory.h"
#include "harness/labs/sim/topology.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include "lib/statistics/histogram.h"
#include "lib/physics/host.h"
#include <stdlib.h>
#include <string.h>

static const char *role_name(const struct sim_lab *lab, size_t role)
{
    return scenario_role(&lab->run->cell->scenario, role);
}

static size_t role_count(const struct sim_lab *lab)
{
    return lab->run->cell->scenario.roles.count;
}

static const struct physics_host *host_of(const struct sim_lab *lab, size_t role)
{
    return lab_sim_host_at(&lab->run->cell->lab, lab->setup.node_of_role[role].index);
}

static bool is_host(const struct sim_lab *lab, size_t role)
{
    return lab->setup.node_of_role[role].kind == SIM_HOST;
}

/* ---- before the run */

static void sim_lab_close(void *state)
{
    struct sim_lab *lab = state;
    if (!lab)
        return;
    for (size_t i = 0; lab->flows && i < lab->setup.config.flow_count; i++)
        free(lab->flows[i].measured);
    for (size_t i = 0; lab->series && i < lab->run->cell->scenario.roles.count; i++)
        sim_series_close(&lab->series[i]);
    free(lab->series);
    sim_capture_close(lab);
    sim_free(lab->sim);
    sim_setup_free(&lab->setup);
    if (lab->writer)
        fclose(lab->writer);
    free(lab->line);
    free(lab->flows);
    free(lab->values);
    free(lab->holds[0]);
    free(lab->holds[1]);
    json_decref(lab->warnings);
    json_decref(lab->deadlocks);
    free(lab);
}

static int sim_lab_open(const struct lab_run *run, void **state, struct error *e)
{
    struct sim_lab *lab = calloc(1, sizeof *lab);
    const struct scenario_phases *phases = &run->cell->scenario.phases;
    uint64_t bytes;
    if (!lab)
        return error_set(e, "out of memory");
    lab->run = run;
    lab->warnings = json_array();
    lab->deadlocks = json_array();
    lab->measure_start_ns = phases->warmup_ns;
    lab->measure_end_ns = phases->warmup_ns + phases->measure_ns;
    lab->end_ns = lab->measure_end_ns + phases->cooldown_ns;
    lab->interval_ns = phases->measure_ns / 100;
    if (lab->interval_ns < run->cell->scenario.sample.every_ns)
        lab->interval_ns = run->cell->scenario.sample.every_ns;
    lab->writer = open_memstream(&lab->line, &lab->line_length);
    if (!lab->writer || !lab->warnings || !lab->deadlocks) {
        sim_lab_close(lab);
        return error_set(e, "out of memory");
    }
    if (sim_setup_make(run->cell, run->seed, &lab->setup, e) != 0 ||
        sim_memory_check(run->cell, &lab->setup, &bytes, e) != 0) {
        sim_lab_close(lab);
        return -1;
    }
    lab->setup.config.threads = run->threads;
    *state = lab;
    return 0;
}

static int sim_lab_bring_up(void *state, struct error *e)
{
    (void)state;
    (void)e;
    return 0;
}

static json_t *capabilities_of(const struct sim_lab *lab, size_t role)
{
    json_t *names = json_make("[s,s,s,s,s,s,s]", "rdma", "roce-nic", "pfc", "pfc-duration", "hw-counters",
                              "lossless", "cnp");
    if (is_host(lab, role) && host_of(lab, role)->gpu)
        json_array_append_new(names, json_text("gpu"));
    if (is_host(lab, role) && lab->setup.hosts[lab->setup.node_of_role[role].index].pcie.generation > 0)
        json_array_append_new(names, json_text("pcie"));
    if (lab->run->cell->lab.switches.count) {
        json_array_append_new(names, json_text("ecn-mark"));
        json_array_append_new(names, json_text("switch"));
    }
    return names;
}

static int describe_role(const struct sim_lab *lab, size_t role, struct host_description *out,
                         struct error *e)
{
    *out = (struct host_description){
        .capabilities = capabilities_of(lab, role), .facts = json_object(), .origin = ORIGIN_SIMULATED};
    json_object_set_new(out->facts, "simulated", json_true());
    if (is_host(lab, role)) {
        const struct physics_host *host = host_of(lab, role);
        out->name = strdup(host->name);
        out->address = host->nic.address ? strdup(host->nic.address) : NULL;
        if (host->nic.model)
            json_object_set_new(out->facts, "nic", json_make("{s:s}", "model", host->nic.model));
    } else {
        out->name = strdup(sim_setup_node_name(lab->run->cell, &lab->setup, lab->setup.node_of_role[role]));
    }
    return out->name ? 0 : error_set(e, "out of memory");
}

static int sim_lab_describe(void *state, struct host_description out[], struct error *e)
{
    const struct sim_lab *lab = state;
    for (size_t role = 0; role < role_count(lab); role++)
        if (describe_role(lab, role, &out[role], e) != 0)
            return -1;
    return 0;
}

static int sim_lab_check_counter(void *state, size_t role, const char *glob, struct error *e)
{
    return sim_foresee_counter(state, role, glob, e);
}

static int sim_lab_save_settings(void *state, struct role_settings roles[], struct error *e)
{
    (void)e;
    for (size_t role = 0; role < role_count(state); role++)
        roles[role].before = json_object();
    return 0;
}

/* Warn of settings that the role's node has and the simulator does not model there. */
static void warn_of_unmodelled(struct sim_lab *lab, size_t role, const json_t *wanted)
{
    static const enum settings_node nodes[] = {
        [SIM_HOST] = ON_SIM_HOST, [SIM_SWITCH] = ON_SIM_SWITCH, [SIM_BRIDGE] = ON_FORWARDER};
    enum settings_node node = nodes[lab->setup.node_of_role[role].kind];
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
    {
        const struct setting *s = settings_find(key);
        if (s && s->nodes & node & ~s->modelled)
            json_array_append_new(lab->warnings, json_textf("%s: the simulator does not model the setting %s",
                                                            role_name(lab, role), key));
    }
}

static json_t *apply_to_role(struct sim_lab *lab, size_t role, const json_t *wanted)
{
    warn_of_unmodelled(lab, role, wanted);
    if (!is_host(lab, role))
        return json_deep_copy(wanted);
    return sim_setup_settings_json(&lab->setup.hosts[lab->setup.node_of_role[role].index].settings);
}

static int sim_lab_apply_settings(void *state, struct role_settings roles[], struct error *e)
{
    struct sim_lab *lab = state;
    for (size_t role = 0; role < role_count(lab); role++)
        if (!(roles[role].read_back = apply_to_role(lab, role, roles[role].wanted)))
            return error_set(e, "out of memory");
    return 0;
}

static void sim_lab_restore_settings(void *state, struct role_settings roles[])
{
    for (size_t role = 0; role < role_count(state); role++)
        if (!(roles[role].after = json_deep_copy(roles[role].before)))
            error_set(&roles[role].why_not, "out of memory");
}

/* ---- the run */

/* Each flow of the scenario has lines and latencies; each flow of a small traffic pattern has lines. */
static int prepare_flows(struct sim_lab *lab, struct error *e)
{
    const size_t *first = lab->setup.first_of_traffic;
    for (size_t t = 0; t < lab->run->cell->scenario.traffic.count; t++)
        for (size_t i = first[t]; i < first[t + 1]; i++)
            lab->flows[i].lines = first[t + 1] - first[t] <= SCENARIO_PATTERN_FLOWS;
    for (size_t i = 0; i < lab->run->cell->scenario.flows.count; i++) {
        lab->flows[i].lines = true;
        if (!lab->setup.flows[i].record_latency)
            continue;
        lab->flows[i].measured = calloc(1, sizeof *lab->flows[i].measured);
        if (!lab->flows[i].measured)
            return error_set(e, "out of memory");
        histogram_clear(lab->flows[i].measured);
    }
    return 0;
}

static int sim_lab_start(void *state, int64_t *start_ns, struct error *e)
{
    struct sim_lab *lab = state;
    lab->setup.config.pause_log_capacity = PAUSE_CAPACITY;
    lab->flows = calloc(lab->setup.config.flow_count + 1, sizeof *lab->flows);
    if (!lab->flows)
        return error_set(e, "out of memory");
    if (prepare_flows(lab, e) != 0)
        return -1;
    lab->sim = sim_new(&lab->setup.config, e);
    if (!lab->sim)
        return error_prefix(e, "lab %s", lab->run->cell->lab.name);
    if (sim_capture_open(lab, e) != 0)
        return -1;
    *start_ns = 0;
    lab->next_sample_ns = lab->run->cell->scenario.sample.every_ns;
    lab->next_interval_ns = lab->interval_ns;
    return lines_headers(lab, e) == 0 && lines_samples(lab, true, e) == 0 ? 0 : -1;
}

static void note_measured(struct sim_lab *lab)
{
    for (size_t i = 0; i < lab->setup.config.flow_count; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(lab->sim, i, &stats);
        if (lab->now_ns <= lab->measure_start_ns)
            lab->flows[i].measure_base = stats;
        lab->flows[i].measure_end = stats;
    }
    lab->whole = lab->now_ns >= lab->measure_end_ns;
}

static int64_t earliest(const struct sim_lab *lab, int64_t until_ns)
{
    const int64_t marks[] = {lab->next_sample_ns, lab->next_interval_ns, lab->measure_start_ns,
                             lab->measure_end_ns};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i] > lab->now_ns && marks[i] < until_ns)
            until_ns = marks[i];
    return until_ns;
}

static int note_holds(struct sim_lab *lab, struct error *e)
{
    int64_t **holds = &lab->holds[lab->now_ns == lab->measure_end_ns];
    if (lab->now_ns == lab->measure_start_ns)
        sim_longest_holds_begin(lab->sim);
    free(*holds);
    *holds = sim_topology_holds(lab->sim, &lab->setup);
    return *holds ? 0 : error_set(e, "out of memory");
}

/* A capture takes the simulator's frames on the way. */
static int simulate(struct sim_lab *lab, int64_t until_ns, struct error *e)
{
    int64_t next_ns;
    do {
        next_ns = sim_capture_until(lab, until_ns);
        if (sim_run_until(lab->sim, next_ns * SIM_PS_PER_NS, e) != 0 || sim_capture_take(lab, e) != 0)
            return -1;
    } while (next_ns < until_ns);
    return 0;
}

static int step(struct sim_lab *lab, int64_t until_ns, struct error *e)
{
    int64_t begun = clock_monotonic_ns();
    int64_t next_ns = earliest(lab, until_ns);
    bool mark = next_ns == lab->measure_start_ns || next_ns == lab->measure_end_ns;
    if (simulate(lab, next_ns, e) != 0)
        return -1;
    lab->now_ns = next_ns;
    lab->wall_ns += clock_monotonic_ns() - begun;
    if (sim_deadlocks_look(lab) != 0)
        return error_set(e, "out of memory");
    if (mark)
        note_measured(lab);
    if (mark && note_holds(lab, e) != 0)
        return -1;
    if ((mark || next_ns == lab->next_interval_ns) && lines_intervals(lab, e) != 0)
        return -1;
    if (mark || next_ns == lab->next_sample_ns || next_ns == lab->end_ns) {
        if (next_ns == lab->next_sample_ns)
            lab->next_sample_ns += lab->run->cell->scenario.sample.every_ns;
        return lines_samples(lab, mark || next_ns == lab->end_ns, e);
    }
    return 0;
}

static enum advance sim_lab_advance(void *state, int64_t until_ns, struct error *e)
{
    struct sim_lab *lab = state;
    while (lab->now_ns < until_ns) {
        if (interrupt_count(lab->run->interrupt) > 0)
            return ADVANCE_INTERRUPTED;
        if (step(lab, until_ns, e) != 0)
            return ADVANCE_FAILED;
    }
    return ADVANCE_DONE;
}

static int64_t sim_lab_now(void *state)
{
    const struct sim_lab *lab = state;
    return lab->now_ns;
}

static int sim_lab_finish(void *state, struct error *e)
{
    struct sim_lab *lab = state;
    if (!lab->sim || !lab->values)
        return 0;
    if (!lab->whole) /* it ended early */
        note_measured(lab);
    if ((lab->last_sample_ns != lab->now_ns && lines_samples(lab, true, e) != 0) ||
        lines_intervals(lab, e) != 0 || lines_lasting_pauses(lab, e) != 0)
        return -1;
    if (!lab->holds[1] && !(lab->holds[1] = sim_topology_holds(lab->sim, &lab->setup))) /* it ended early */
        return error_set(e, "out of memory");
    return lines_summaries(lab, e) == 0 && lines_ends(lab, e) == 0 ? sim_capture_finish(lab, e) : -1;
}

/* ---- what only the simulator knows */

static json_t *priorities_of(const struct sim_settings *settings, int buffer)
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
                                            "priorities", priorities_of(settings, b)));
    }
    return buffers;
}

static void sim_lab_add_to_result(void *state, json_t *result)
{
    const struct sim_lab *lab = state;
    struct sim_work work;
    json_array_extend(json_object_get(result, "warnings"), lab->warnings);
    if (!lab->sim)
        return;
    sim_deadlocks_add_to_result(lab, result);
    sim_capture_add_to_result(lab, result);
    sim_inject_add_to_result(lab, result);
    sim_work(lab->sim, &work);
    json_object_set_new(result, "simulator",
                        json_make("{s:I,s:I,s:I,s:I,s:I}", "events", (json_int_t)work.events, "hops",
                                  (json_int_t)work.hops, "wall_ns", (json_int_t)lab->wall_ns, "memory_bytes",
                                  (json_int_t)work.bytes, "allocations", (json_int_t)work.allocations));
    json_object_set_new(
        result, "topology",
        sim_topology_json(lab->run->cell, lab->sim, &lab->setup, lab->holds[0], lab->holds[1]));
    for (size_t role = 0; role < lab->run->cell->scenario.roles.count; role++)
        if (is_host(lab, role) && recorder_lists(lab->run->recorder, role))
            json_object_set_new(json_object_get(json_object_get(result, "hosts"), role_name(lab, role)),
                                "buffers", buffers_json(lab, lab->setup.node_of_role[role].index));
}

const struct lab_driver lab_driver_sim = {
    .name = "sim",
    .simulated = true,
    .check = sim_foresee_cell,
    .open = sim_lab_open,
    .bring_up = sim_lab_bring_up,
    .describe = sim_lab_describe,
    .check_counter = sim_lab_check_counter,
    .save_settings = sim_lab_save_settings,
    .apply_settings = sim_lab_apply_settings,
    .restore_settings = sim_lab_restore_settings,
    .start = sim_lab_start,
    .advance = sim_lab_advance,
    .now_ns = sim_lab_now,
    .finish = sim_lab_finish,
    .add_to_result = sim_lab_add_to_result,
    .close = sim_lab_close,
};
