#include "harness/labs/sim/sim_config.h"
#include "harness/plan/traffic_class.h"
#include "harness/labs/sim/sim_setup.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/physics/host.h"
#include "lib/physics/fabric.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(int64_t *to, int64_t from)
{
    if (from != FIELD_UNSET)
        *to = from;
}

/* ---- hosts */

static void take_host(struct sim_host_config *to, const struct physics_host *from,
                      const struct sim_host_config *defaults)
{
    *to = *defaults;
    to->name = from->name;
    to->nic = from->nic;
    to->pcie = from->pcie;
    to->memories[SIM_MEMORY_HOST] = from->memory;
    if (from->gpu)
        to->memories[SIM_MEMORY_GPU] = *from->gpu;
    to->software = from->software;
    sim_settings_defaults(&to->settings, &from->nic);
}

/* ---- settings */

static void take_mask(uint8_t *mask, const struct list_of *priorities)
{
    const int64_t *items = priorities->items;
    if (!items)
        return;
    *mask = 0;
    for (size_t i = 0; i < priorities->count; i++)
        *mask |= (uint8_t)(1u << (items[i] & 7));
}

/* Settings of a host from a parsed document: unset values stay as they are. */
static void sim_setup_settings(const struct settings *from, struct sim_settings *to)
{
    const struct named_integer *map = from->prio_to_buffer.items;
    const int64_t *buffers = from->buffer_bytes.items;
    take(&to->mtu_bytes, from->mtu);
    take_mask(&to->pfc_mask, &from->pfc);
    for (size_t i = 0; i < from->prio_to_buffer.count; i++)
        to->prio_to_buffer[strtol(map[i].name, NULL, 10) & 7] = (uint8_t)map[i].value;
    for (size_t i = 0; buffers && i < SIM_BUFFERS; i++)
        to->buffer_bytes[i] = i < from->buffer_bytes.count ? buffers[i] : 0;
    take(&to->cable_mm, from->cable_mm);
    take_mask(&to->ecn_rp_mask, &from->ecn);
    take_mask(&to->ecn_np_mask, &from->ecn);
    take_mask(&to->ecn_rp_mask, &from->ecn_rp);
    take_mask(&to->ecn_np_mask, &from->ecn_np);
    dcqcn_merge(&to->dcqcn, &from->dcqcn);
    congestion_values_merge(&window_table, &to->congestion.window, &from->window);
    congestion_values_merge(&hpcc_table, &to->congestion.hpcc, &from->hpcc);
    congestion_values_merge(&dctcp_table, &to->congestion.dctcp, &from->dctcp);
    congestion_values_merge(&timely_table, &to->congestion.timely, &from->timely);
    if (from->congestion_control >= 0)
        to->congestion_control = sim_congestion_control(congestion_control_names[from->congestion_control]);
}

static json_t *mask_json(uint8_t mask)
{
    json_t *list = json_array();
    for (int p = 0; p < 8; p++)
        if (mask & (1u << p))
            json_array_append_new(list, json_integer(p));
    return list;
}

json_t *sim_setup_settings_json(const struct sim_settings *s)
{
    json_t *prio_to_buffer = json_object(), *buffers = json_array();
    char cable[40];
    for (int p = 0; p < SIM_PRIORITIES; p++) {
        char key[16];
        snprintf(key, sizeof key, "%d", p);
        json_object_set_new(prio_to_buffer, key, json_integer(s->prio_to_buffer[p]));
    }
    for (int b = 0; b < SIM_BUFFERS; b++)
        json_array_append_new(buffers, json_integer(s->buffer_bytes[b]));
    json_t *json = json_make("{s:I,s:o,s:o,s:o,s:s,s:o,s:o}", "mtu", (json_int_t)s->mtu_bytes, "pfc",
                             mask_json(s->pfc_mask), "prio_to_buffer", prio_to_buffer, "buffer_bytes",
                             buffers, "cable", units_format(UNIT_LENGTH_MM, s->cable_mm, cable, sizeof cable),
                             "ecn", mask_json(s->ecn_rp_mask), "dcqcn", dcqcn_simulated_json(&s->dcqcn));
    const char *control = sim_congestion_control_name(s->congestion_control);
    if (strcmp(control, congestion_control_names[0]) != 0)
        json_object_set_new(json, "congestion_control", json_text(control));
    json_t *others = congestion_values_json(&congestion_table, &s->congestion);
    if (others)
        json_object_update(json, others);
    json_decref(others);
    return json;
}

/* ---- links and flows */

static struct sim_node node_of(const struct lab *lab, const struct sim_setup *setup, const char *name)
{
    size_t i = (size_t)lab_node_index(lab, name); /* links end at nodes that the lab has */
    return i < lab->hosts.count ? (struct sim_node){SIM_HOST, (uint32_t)i}
                                : setup->node_of_switch[i - lab->hosts.count];
}

static void take_links(const struct lab *lab, struct sim_setup *setup)
{
    struct sim_link_config *to = setup->links;
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        to[i] = (struct sim_link_config){.a = node_of(lab, setup, ends[0]),
                                         .b = node_of(lab, setup, ends[1]),
                                         .rate_bps = link->rate_bps,
                                         .loss_per_billion = (int64_t)llround(link->loss * 1e9)};
        if (link->delay_ps != FIELD_UNSET)
            to[i].delay_ps = link->delay_ps;
        else if (link->length_mm != FIELD_UNSET)
            to[i].delay_ps = sim_cable_delay_ps(link->length_mm);
    }
}

static void take_amount(const struct scenario_flow *from, struct sim_flow_config *to)
{
    if (from->size_bytes == FIELD_UNSET)
        return;
    if (from->size_bytes < to->message_bytes)
        to->message_bytes = from->size_bytes;
    int64_t each = to->message_bytes * to->queue_pairs;
    to->message_count = (from->size_bytes + each - 1) / each;
}

static void take_flow(const struct cell *cell, const struct scenario_flow *from, const uint32_t ends[2],
                      struct sim_flow_config *to)
{
    static const enum sim_operation operations[] = {
        [OP_WRITE] = SIM_WRITE, [OP_WRITE_IMM] = SIM_WRITE, [OP_READ] = SIM_READ, [OP_SEND] = SIM_SEND};
    const struct physics_nic *nic = &lab_sim_host_at(&cell->lab, ends[0])->nic;
    const struct scenario_phases *phases = &cell->scenario.phases;
    int64_t end_ns = phases->warmup_ns + phases->measure_ns;
    sim_flow_defaults(to);
    to->name = from->name;
    to->from = ends[0];
    to->to = ends[1];
    to->operation = operations[from->op];
    to->mode = from->mode == MODE_LATENCY ? SIM_PING_PONG : SIM_STREAM;
    to->from_memory = to->to_memory = flow_in_gpu_memory(from->memory) ? SIM_MEMORY_GPU : SIM_MEMORY_HOST;
    to->message_bytes = from->message_bytes;
    to->queue_pairs = (int32_t)from->queue_pairs;
    to->depth = from->mode == MODE_LATENCY ? 1 : (int32_t)from->depth;
    to->inline_bytes = nic->inline_bytes;
    to->payload_bytes = nic->payload_bytes;
    to->priority = (int32_t)from->priority;
    to->ect =
        traffic_class_is_ect(flow_traffic_class(&cell->scenario, from)) ? SIM_ECT_ALWAYS : SIM_ECT_NEVER;
    to->start_ps = from->start_ns * SIM_PS_PER_NS;
    to->stop_ps =
        (from->stop_ns != FIELD_UNSET && from->stop_ns < end_ns ? from->stop_ns : end_ns) * SIM_PS_PER_NS;
    if (from->rate_bps != FIELD_UNSET) /* a share of 0 would be no limit; that of 1 b/s is refused */
        to->rate_bps = from->rate_bps < from->queue_pairs ? 1 : from->rate_bps / from->queue_pairs;
    take_amount(from, to);
    to->record_latency = !sim_config_is_one_message(to);
}

bool sim_config_is_one_message(const struct sim_flow_config *flow)
{
    return flow->mode == SIM_STREAM && flow->message_count == 1 && flow->queue_pairs == 1;
}

/* The flows' waits, in the order of the flows. */
static int take_waits(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    size_t count = 0, *before = flow_order_indices(&cell->scenario.flows, &count);
    setup->waits = calloc(count + 1, sizeof *setup->waits);
    struct sim_wait *next = setup->waits;
    for (size_t i = 0; before && next && i < cell->scenario.flows.count; i++) {
        const struct flow_wait *waits = flows[i].after.items;
        setup->flows[i].waits = next;
        setup->flows[i].wait_count = flow_order_waits(&flows[i]);
        for (size_t k = 0; k < flows[i].after.count; k++)
            for (size_t m = 0; m < waits[k].flows.count; m++, next++)
                *next = (struct sim_wait){(uint32_t)before[next - setup->waits],
                                          waits[k].delay_ns * SIM_PS_PER_NS};
    }
    free(before);
    return before && next ? 0 : error_set(e, "out of memory");
}

static int check_mode(const struct scenario_flow *flow, struct error *e)
{
    if (flow->mode == MODE_LATENCY && flow->op == OP_READ)
        return error_set(e, "flow %s: the simulator measures latency of writes and sends, not of reads",
                         flow->name);
    return 0;
}

static int take_flows(const struct cell *cell, const json_t *roles, struct sim_setup *setup, struct error *e)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        uint32_t ends[2];
        char of[160];
        snprintf(of, sizeof of, "flow %.100s", flows[i].name);
        if (sim_setup_host(cell, setup, roles, flows[i].from, of, &ends[0], e) != 0 ||
            sim_setup_host(cell, setup, roles, flows[i].to, of, &ends[1], e) != 0 ||
            check_mode(&flows[i], e) != 0)
            return -1;
        take_flow(cell, &flows[i], ends, &setup->flows[i]);
    }
    setup->config.flow_count = cell->scenario.flows.count;
    return take_waits(cell, setup, e);
}

static int take_storms(const struct cell *cell, const json_t *roles, struct sim_setup *setup, struct error *e)
{
    const struct scenario_storm *storms = cell->scenario.storms.items;
    for (size_t i = 0; i < cell->scenario.storms.count; i++) {
        struct sim_storm_config *to = &setup->storms[i];
        if (sim_setup_host(cell, setup, roles, storms[i].role, "storms", &to->host, e) != 0)
            return -1;
        to->priority = (uint8_t)storms[i].priority;
        to->start_ps = storms[i].start_ns * SIM_PS_PER_NS;
        to->stop_ps = storms[i].stop_ns * SIM_PS_PER_NS;
    }
    return 0;
}

/* ---- roles */

static void put_settings(const struct settings *settings, struct sim_node node, struct sim_setup *setup)
{
    if (node.kind == SIM_HOST)
        sim_setup_settings(settings, &setup->hosts[node.index].settings);
    else if (node.kind == SIM_SWITCH)
        sim_setup_switch_settings(settings, &setup->switches[node.index]);
    else
        sim_setup_bridge_settings(settings, &setup->bridges[node.index]);
}

/* Those of a role that has none of its own are parsed already. */
static int take_settings(const struct cell *cell, const char *role, struct sim_node node,
                         struct sim_setup *setup, struct error *e)
{
    struct settings settings;
    if (!json_object_get(json_object_get(cell->scenario_json, "settings_of"), role)) {
        put_settings(&cell->scenario.settings, node, setup);
        return 0;
    }
    json_t *document = scenario_role_settings(cell->scenario_json, role);
    int result = table_parse(&settings_table, document, &settings, e);
    json_decref(document);
    if (result != 0)
        return error_prefix(e, "settings of %s", role);
    put_settings(&settings, node, setup);
    table_free(&settings_table, &settings);
    return 0;
}

/* Common settings go to every node, the settings of a role to its node. */
static int take_roles(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const char *role;
    for (size_t i = 0; i < cell->lab.switches.count; i++)
        put_settings(&cell->scenario.settings, setup->node_of_switch[i], setup);
    for (size_t i = 0; i < cell->lab.hosts.count; i++)
        sim_setup_settings(&cell->scenario.settings, &setup->hosts[i].settings);
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        int host = lab_host_of(&cell->lab, role);
        setup->node_of_role[i] = host >= 0 ? (struct sim_node){SIM_HOST, (uint32_t)host}
                                           : setup->node_of_switch[lab_switch_of(&cell->lab, role)];
        if (take_settings(cell, role, setup->node_of_role[i], setup, e) != 0)
            return -1;
    }
    return 0;
}

const char *sim_setup_node_name(const struct cell *cell, const struct sim_setup *setup, struct sim_node node)
{
    if (node.kind == SIM_HOST)
        return lab_node_name(&cell->lab, node.index);
    return node.kind == SIM_SWITCH ? setup->switches[node.index].name : setup->bridges[node.index].name;
}

/* ---- the whole */

static int allocate(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const struct lab *lab = &cell->lab;
    memset(setup, 0, sizeof *setup);
    setup->hosts = calloc(lab->hosts.count + 1, sizeof *setup->hosts);
    setup->switches = calloc(lab->switches.count + 1, sizeof *setup->switches);
    setup->bridges = calloc(lab->switches.count + 1, sizeof *setup->bridges);
    setup->node_of_switch = calloc(lab->switches.count + 1, sizeof *setup->node_of_switch);
    setup->links = calloc(lab->links.count + 1, sizeof *setup->links);
    setup->storms = calloc(cell->scenario.storms.count + 1, sizeof *setup->storms);
    setup->flows = calloc(cell->scenario.flows.count + 1, sizeof *setup->flows);
    setup->node_of_role = calloc(cell->scenario.roles.count + 1, sizeof *setup->node_of_role);
    setup->first_of_traffic = calloc(cell->scenario.traffic.count + 1, sizeof *setup->first_of_traffic);
    setup->names = json_array();
    if (!setup->hosts || !setup->switches || !setup->bridges || !setup->node_of_switch || !setup->links ||
        !setup->storms || !setup->flows || !setup->node_of_role || !setup->first_of_traffic || !setup->names)
        return error_set(e, "out of memory");
    return 0;
}

static void take_lab(const struct lab *lab, struct sim_setup *setup)
{
    const struct physics_host *host;
    struct sim_host_config defaults;
    sim_host_defaults(&defaults);
    setup->config.truncate_to_ns = lab->truncate_to_ns == 1;
    setup->config.udp_destination_port = (uint16_t)lab->udp_port;
    if (lab->framing)
        setup->config.framing = *lab->framing;
    for (size_t i = 0; (host = lab_sim_host_at(lab, i)); i++)
        take_host(&setup->hosts[i], host, &defaults);
    sim_setup_take_switches(lab, setup);
    take_links(lab, setup);
    setup->config.hosts = setup->hosts;
    setup->config.host_count = lab->hosts.count;
    setup->config.links = setup->links;
    setup->config.link_count = lab->links.count;
    setup->config.switches = setup->switches;
    setup->config.bridges = setup->bridges;
}

int sim_setup_make(const struct cell *cell, uint64_t seed, struct sim_setup *setup, struct error *e)
{
    const char *role;
    if (allocate(cell, setup, e) != 0) {
        sim_setup_free(setup);
        return -1;
    }
    sim_config_defaults(&setup->config);
    setup->config.seed = seed;
    take_lab(&cell->lab, setup);
    json_t *roles = json_object();
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        json_object_set_new(roles, role, json_integer((json_int_t)i));
    int result = take_roles(cell, setup, e) != 0 || take_flows(cell, roles, setup, e) != 0 ||
                         take_storms(cell, roles, setup, e) != 0 ||
                         sim_setup_take_faults(cell, setup, e) != 0 ||
                         sim_setup_take_traffic(cell, roles, setup, e) != 0
                     ? -1
                     : 0;
    json_decref(roles);
    setup->config.flows = setup->flows;
    setup->config.storms = setup->storms;
    setup->config.storm_count = cell->scenario.storms.count;
    if (result == 0)
        result = sim_setup_take_injections(cell, setup, e) != 0 ? -1 : sim_capture_choose(cell, setup, e);
    if (result != 0)
        sim_setup_free(setup);
    return result;
}

void sim_setup_free(struct sim_setup *setup)
{
    free(setup->hosts);
    free(setup->switches);
    free(setup->bridges);
    free(setup->node_of_switch);
    free(setup->links);
    free(setup->storms);
    free(setup->link_states);
    free(setup->injections);
    free(setup->capture);
    free(setup->capture_ports);
    free(setup->capture_flows);
    free(setup->flows);
    free(setup->waits);
    free(setup->node_of_role);
    free(setup->first_of_traffic);
    json_decref(setup->names);
    memset(setup, 0, sizeof *setup);
}
