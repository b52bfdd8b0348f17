/* The simulated lab: opens, runs and closes the simulator; samples.c and flows.c hand what it counts to
 * the recorder. */
#include "harness/labs/sim/capture.h"
#include "harness/labs/sim/flows.h"
#include "harness/labs/sim/results.h"
#include "harness/labs/sim/samples.h"
#include "lib/physics/nic_models.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/formats/settings.h"
#include "lib/kernel/free_memory.h"
#include "lib/names/range.h"
#include "lib/physics/host.h"
#include "lib/roce/counters.h"
#include "lib/statistics/histogram.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- can the simulator run the cell? */

/* Memory of a host or switch in the lab, the settings and the result: measured at 8192 hosts. */
#define NODE_BYTES 24576

/* Bytes that a listed flow takes in the scenario, the recorder and the result: measured with 70,188. */
#define FLOW_BYTES 18432

/* *bytes: what the run needs. -1: more than is free. Asked before anything is allocated for it. */
static int check_memory(const struct cell *cell, const struct sim_setup *setup, uint64_t *bytes,
                        struct error *e)
{
    uint64_t histograms = 0;
    for (size_t i = 0; i < setup->config.flow_count; i++)
        histograms += setup->flows[i].record_latency;
    uint64_t needed = sim_bytes_needed(&setup->config) +
                      setup->config.flow_count * sizeof(struct flow_state) +
                      cell->scenario.flows.count * FLOW_BYTES +
                      (cell->lab.hosts.count + cell->lab.switches.count) * NODE_BYTES +
                      histograms * sizeof(struct histogram);
    uint64_t left = free_memory_bytes();
    *bytes = needed;
    if (needed <= left)
        return 0;
    return error_set(e,
                     "the simulation needs %.1f GB of memory, %.1f GB are free: expected fewer flows, "
                     "queue_pairs or hosts, or a smaller depth",
                     (double)needed / 1e9, (double)left / 1e9);
}

/* Is a counter, or everything that a glob may match, known to the simulator alone? Families that begin
 * with any text match almost any glob and are ignored. */
static bool is_simulated_only(const char *glob)
{
    size_t count;
    const struct counter *rows = counters_all(&count), *row = counters_find(glob);
    if (!strpbrk(glob, "*?["))
        return row && row->origin == COUNTER_FROM_SIM;
    for (size_t i = 0; i < count; i++)
        if (rows[i].origin != COUNTER_FROM_SIM && rows[i].origin != COUNTER_FROM_DRIVER &&
            rows[i].pattern[0] != '*' && counters_pattern_overlaps(rows[i].pattern, glob))
            return false;
    return true;
}

static void describe_node(const struct sim_lab *lab, struct sim_node node, struct text *out)
{
    const char *name = sim_setup_node_name(lab->run->cell, &lab->setup, node);
    const struct lab_link *link;
    size_t ports = 0;
    text_add(out, "%s is %s of lab %s", name,
             node.kind == SIM_HOST     ? "a host"
             : node.kind == SIM_BRIDGE ? "a forwarding host"
                                       : "a switch",
             lab->run->cell->lab.name);
    for (size_t i = 0; (link = lab_link_at(&lab->run->cell->lab, i)); i++) {
        char *const *ends = link->between.items;
        ports += strcmp(ends[0], name) == 0 || strcmp(ends[1], name) == 0;
    }
    if (node.kind == SIM_SWITCH && ports)
        text_add(out, " with ports 0 to %zu", ports - 1);
}

static int refuse_counter(const struct sim_lab *lab, const struct sim_series *series, const char *glob,
                          struct error *e)
{
    struct text node = {0};
    const char *near = sim_series_nearest(series, lab->sim, glob);
    describe_node(lab, series->node, &node);
    if (near && series->node.kind == SIM_HOST && counters_find(near) != counters_find(glob))
        near = NULL; /* a counter of something else */
    error_set(e, "%s and has no counter %.100s%s%s%s", text_string(&node), glob,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    text_free(&node);
    return -1;
}

static int check_counter_of_role(const struct sim_lab *lab, const struct sim_senders *senders, size_t role,
                                 const char *glob, struct error *e)
{
    struct sim_series series;
    sim_series_open(&series, lab->sim, senders, lab->setup.node_of_role[role], UINT32_MAX);
    bool possible = sim_series_match(&series, lab->sim, &lab->setup, glob) ||
                    (series.node.kind != SIM_SWITCH && !is_simulated_only(glob));
    int result = possible ? 0 : refuse_counter(lab, &series, glob, e);
    sim_series_close(&series);
    return result;
}

/* An expression's counters, each of which one of the roles that its glob matches must have. */
struct counters_check {
    const struct sim_lab *lab;
    struct sim_senders senders;
    int result; /* -1: no role can have one of them */
    struct error *e;
};

/* Of a glob over counters: are all that are sampled of one unit? `first`: what was matched so far. */
static int check_units_of_role(const struct counters_check *c, size_t role, const char *glob, const char *key,
                               struct sim_counter *first)
{
    struct sim_series series;
    const struct scenario *scenario = &c->lab->run->cell->scenario;
    const struct sim_counter *next;
    size_t at = 0;
    int result = 0;
    sim_series_open(&series, c->lab->sim, &c->senders, c->lab->setup.node_of_role[role],
                    scenario_groups(scenario));
    while (result == 0 && (next = sim_series_next(&series, c->lab->sim, glob, &at)))
        if (expr_key_takes(key, next->is) && !first->is)
            *first = *next;
        else if (expr_key_takes(key, next->is) && expr_units_unlike(first->is, next->is))
            result = error_set(c->e, EXPR_UNLIKE, scenario_role(scenario, role), glob, first->name,
                               first->is->unit, next->name, next->is->unit);
    sim_series_close(&series);
    return result;
}

static void check_counter(void *context, const char *role_glob, const char *counter, const char *key)
{
    struct counters_check *c = context;
    const char *role;
    struct sim_counter first = {NULL, NULL};
    int found = -1;
    if (c->result != 0)
        return;
    const struct scenario *scenario = &c->lab->run->cell->scenario;
    for (size_t i = 0; found != 0 && (role = scenario_role(scenario, i)); i++)
        if (name_matches(role_glob, role))
            found = check_counter_of_role(c->lab, &c->senders, i, counter, c->e);
    for (size_t i = 0; strpbrk(counter, "*?[") && found == 0 && (role = scenario_role(scenario, i)); i++)
        if (name_matches(role_glob, role))
            found = check_units_of_role(c, i, counter, key, &first);
    c->result = found;
}

static int sim_lab_check_expression(void *state, const struct expr *expr, struct error *e)
{
    struct counters_check c = {.lab = state, .e = e};
    sim_senders_make(&c.senders, &c.lab->setup);
    expr_each_counter(expr, check_counter, &c);
    sim_senders_free(&c.senders);
    return c.result;
}

/* ---- open and close */

static void sim_lab_close(void *state)
{
    struct sim_lab *lab = state;
    if (!lab)
        return;
    flows_close(lab);
    samples_close(lab);
    sim_capture_close(lab);
    sim_free(lab->sim);
    sim_setup_free(&lab->setup);
    free(lab->held_ps[0]);
    free(lab->held_ps[1]);
    json_decref(lab->warnings);
    json_decref(lab->deadlocks);
    free(lab);
}

/* The simulator of lab->setup; its memory is estimated before anything is allocated. */
static int build_sim(struct sim_lab *lab, struct error *e)
{
    const struct cell *cell = lab->run->cell;
    if (check_memory(cell, &lab->setup, &lab->needed_bytes, e) != 0)
        return -1;
    lab->setup.config.threads = lab->run->threads;
    lab->setup.config.pause_log_capacity = PAUSE_CAPACITY;
    lab->sim = sim_new(&lab->setup.config, e);
    return lab->sim ? samples_check_roles(cell, lab->sim, &lab->setup, &lab->sample_bytes, e) : -1;
}

static int sim_lab_open(const struct lab_run *run, void **state, struct error *e)
{
    struct sim_lab *lab = xcalloc(1, sizeof *lab);
    const struct scenario_phases *phases = &run->cell->scenario.phases;
    const struct list_of *collectives = &run->cell->scenario.collectives;
    lab->run = run;
    lab->warnings = json_array();
    lab->deadlocks = json_array();
    lab->measure_start_ns = phases->warmup_ns;
    lab->measure_end_ns = phases->warmup_ns + phases->measure_ns;
    lab->end_ns = lab->measure_end_ns + phases->cooldown_ns;
    lab->interval_ns = phases->measure_ns / 100;
    if (lab->interval_ns < run->cell->scenario.sample.every_ns)
        lab->interval_ns = run->cell->scenario.sample.every_ns;
    if (collectives->count) {
        error_set(e,
                  "collective %s: lab %s is simulated, and collectives run between GPUs of real hosts only; "
                  "traffic of pattern ring-all-reduce is simulated",
                  ((const struct scenario_collective *)collectives->items)->name, run->cell->lab.name);
    } else if (sim_setup_make(run->cell, run->seed, &lab->setup, e) == 0) {
        if (build_sim(lab, e) == 0) {
            *state = lab;
            return 0;
        }
        error_prefix(e, "lab %s", run->cell->lab.name);
    }
    sim_lab_close(lab);
    return -1;
}

static uint64_t sim_lab_needs_bytes(void *state)
{
    const struct sim_lab *lab = state;
    return lab->needed_bytes;
}

#define INTERVAL_BYTES 100 /* of a line of flows.jsonl, at least */

/* Samples, and intervals of flows without an end. */
static uint64_t sim_lab_writes_bytes(void *state)
{
    const struct sim_lab *lab = state;
    const struct scenario *scenario = &lab->run->cell->scenario;
    const struct scenario_flow *flows = scenario->flows.items;
    const struct scenario_traffic *traffic = scenario->traffic.items;
    int64_t phase_ns[4];
    size_t endless = 0;
    scenario_phase_starts(scenario, phase_ns);
    for (size_t i = 0; i < scenario->flows.count; i++)
        endless += flows[i].size_bytes == FIELD_UNSET;
    for (size_t i = 0; i < scenario->traffic.count; i++) {
        int64_t count = scenario_traffic_ends(&traffic[i]) ? 0 : scenario_traffic_flows(&traffic[i]);
        endless += count > 0 && count <= SCENARIO_PATTERN_FLOWS ? (size_t)count : 0;
    }
    return (uint64_t)(phase_ns[3] / scenario->sample.every_ns) * lab->sample_bytes +
           (uint64_t)(phase_ns[3] / lab->interval_ns) * endless * INTERVAL_BYTES;
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

static void describe_role(const struct sim_lab *lab, size_t role, struct host_description *out)
{
    *out = (struct host_description){
        .capabilities = capabilities_of(lab, role), .facts = json_object(), .origin = ORIGIN_SIMULATED};
    json_object_set_new(out->facts, "simulated", json_true());
    if (is_host(lab, role)) {
        const struct physics_host *host = host_of(lab, role);
        out->name = xstrdup(host->name);
        out->address = host->nic.address ? xstrdup(host->nic.address) : NULL;
        int model = nic_model_named(host->nic.model);
        if (host->nic.model)
            json_object_set_new(out->facts, "nic",
                                json_make("{s:s,s:s*}", "model", host->nic.model, "values",
                                          model < 0                 ? NIC_MODEL_TITLE
                                          : model > NIC_MODEL_IDEAL ? NIC_MODEL_VALUES
                                                                    : NULL));
    } else {
        out->name = xstrdup(sim_setup_node_name(lab->run->cell, &lab->setup, lab->setup.node_of_role[role]));
    }
}

static int sim_lab_describe(void *state, struct host_description out[], struct error *e)
{
    const struct sim_lab *lab = state;
    (void)e;
    for (size_t role = 0; role < role_count(lab); role++)
        describe_role(lab, role, &out[role]);
    return 0;
}

/* ---- settings */

static int sim_lab_save_settings(void *state, struct role_settings roles[], struct error *e)
{
    (void)e;
    for (size_t role = 0; role < role_count(state); role++)
        roles[role].before = json_object();
    return 0;
}

static json_t *apply_to_role(const struct sim_lab *lab, size_t role, const json_t *wanted)
{
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

static int sim_lab_start(void *state, int64_t *start_ns, struct error *e)
{
    struct sim_lab *lab = state;
    lab->started = true;
    flows_open(lab);
    if (sim_capture_open(lab, e) != 0)
        return -1;
    *start_ns = 0;
    lab->next_sample_ns = lab->run->cell->scenario.sample.every_ns;
    lab->next_interval_ns = lab->interval_ns;
    return samples_open(lab, e) == 0 && samples_write(lab, true, e) == 0 ? 0 : -1;
}

/* The next moment at which something is reported, at most until_ns. */
static int64_t next_report_ns(const struct sim_lab *lab, int64_t until_ns)
{
    const int64_t marks[] = {lab->next_sample_ns, lab->next_interval_ns, lab->measure_start_ns,
                             lab->measure_end_ns};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i] > lab->now_ns && marks[i] < until_ns)
            until_ns = marks[i];
    return until_ns;
}

/* The measure phase begins or ends. */
static void note_phase(struct sim_lab *lab)
{
    int64_t **held_ps = &lab->held_ps[lab->now_ns == lab->measure_end_ns];
    flows_note_measured(lab);
    if (lab->now_ns == lab->measure_start_ns)
        sim_longest_holds_begin(lab->sim);
    free(*held_ps);
    *held_ps = results_held_times(lab);
}

/* A capture takes the simulator's frames on the way. */
static int simulate(struct sim_lab *lab, int64_t until_ns, struct error *e)
{
    int64_t next_ns;
    do {
        next_ns = sim_capture_until(lab, until_ns);
        if (sim_run_until(lab->sim, next_ns * SIM_PS_PER_NS, e) != 0 || sim_capture_write_frames(lab, e) != 0)
            return -1;
    } while (next_ns < until_ns);
    return 0;
}

static int run_to_next_report(struct sim_lab *lab, int64_t until_ns, struct error *e)
{
    int64_t begun = clock_monotonic_ns();
    int64_t next_ns = next_report_ns(lab, until_ns);
    bool mark = next_ns == lab->measure_start_ns || next_ns == lab->measure_end_ns;
    if (simulate(lab, next_ns, e) != 0)
        return -1;
    lab->now_ns = next_ns;
    lab->wall_ns += clock_monotonic_ns() - begun;
    results_note_deadlocks(lab);
    if (mark)
        note_phase(lab);
    if ((mark || next_ns == lab->next_interval_ns) &&
        (flows_write_intervals(lab, e) != 0 || samples_write_pauses(lab, e) != 0))
        return -1;
    if (mark || next_ns == lab->next_sample_ns || next_ns == lab->end_ns) {
        if (next_ns == lab->next_sample_ns)
            lab->next_sample_ns += lab->run->cell->scenario.sample.every_ns;
        return samples_write(lab, mark || next_ns == lab->end_ns, e);
    }
    return 0;
}

#define LOOK_NS (10 * NS_PER_MS)

/* A look for signals takes longer than many a step. */
static bool is_interrupted(struct sim_lab *lab)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - lab->looked_ns < LOOK_NS)
        return false;
    lab->looked_ns = now_ns;
    return interrupt_count(lab->run->interrupt) > 0;
}

static enum advance sim_lab_advance(void *state, int64_t until_ns, struct error *e)
{
    struct sim_lab *lab = state;
    while (lab->now_ns < until_ns) {
        if (is_interrupted(lab))
            return ADVANCE_INTERRUPTED;
        if (run_to_next_report(lab, until_ns, e) != 0)
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
    if (!lab->started || !lab->values)
        return 0;
    if (!lab->whole) /* it ended early */
        flows_note_measured(lab);
    if (!lab->held_ps[1])
        lab->held_ps[1] = results_held_times(lab);
    if ((lab->last_sample_ns != lab->now_ns && samples_write(lab, true, e) != 0) ||
        flows_write_intervals(lab, e) != 0 || samples_write_pauses(lab, e) != 0 ||
        samples_write_lasting_pauses(lab, e) != 0 || flows_write_summaries(lab, e) != 0 ||
        samples_finish(lab, e) != 0)
        return -1;
    return sim_capture_finish(lab, e);
}

static void sim_lab_add_to_result(void *state, json_t *result)
{
    results_add(state, result);
}

const struct lab_driver lab_driver_sim = {
    .name = "sim",
    .simulated = true,
    .open = sim_lab_open,
    .needs_bytes = sim_lab_needs_bytes,
    .writes_bytes = sim_lab_writes_bytes,
    .check_expression = sim_lab_check_expression,
    .bring_up = sim_lab_bring_up,
    .describe = sim_lab_describe,
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
