/*
 * The simulator's configuration for a cell: hosts, switches and links of the lab, the settings of roles,
 * flows and traffic patterns, storms, faults, and what is captured.
 */
#include "harness/labs/sim/sim_config.h"
#include "harness/labs/sim/faults.h"
#include "harness/labs/sim/jobs.h"
#include "harness/plan/traffic_class.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/names/range.h"
#include "lib/physics/fabric.h"
#include "lib/physics/host.h"
#include "lib/xalloc.h"
#include "sim/workload.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_if_given(int64_t *to, int64_t from)
{
    if (from != FIELD_UNSET)
        *to = from;
}

/* ---- hosts, switches and links of the lab */

static void configure_host(struct sim_host_config *to, const struct physics_host *from,
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

/* A switch that forwards in software is a bridge. */
static void configure_switches(const struct lab *lab, struct sim_setup *setup)
{
    const struct physics_switch *from;
    for (size_t i = 0; (from = lab_switch_at(lab, i)); i++) {
        if (from->software) {
            uint32_t index = (uint32_t)setup->config.bridge_count++;
            struct sim_bridge_config *to = &setup->bridges[index];
            setup->node_of_switch[i] = (struct sim_node){SIM_BRIDGE, index};
            sim_bridge_defaults(to);
            to->name = from->name;
            to->physics = *from->software;
        } else {
            uint32_t index = (uint32_t)setup->config.switch_count++;
            struct sim_switch_config *to = &setup->switches[index];
            setup->node_of_switch[i] = (struct sim_node){SIM_SWITCH, index};
            sim_switch_defaults(to);
            to->name = from->name;
            to->physics = *from;
        }
    }
}

static struct sim_node node_by_name(const struct lab *lab, const struct sim_setup *setup, const char *name)
{
    size_t i = (size_t)lab_node_index(lab, name); /* links end at nodes that the lab has */
    return i < lab->hosts.count ? (struct sim_node){SIM_HOST, (uint32_t)i}
                                : setup->node_of_switch[i - lab->hosts.count];
}

static void configure_links(const struct lab *lab, struct sim_setup *setup)
{
    struct sim_link_config *to = setup->links;
    const struct lab_link *link;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++) {
        char *const *ends = link->between.items;
        to[i] = (struct sim_link_config){.a = node_by_name(lab, setup, ends[0]),
                                         .b = node_by_name(lab, setup, ends[1]),
                                         .rate_bps = link->rate_bps,
                                         .delay_ps = lab_link_delay_ps(link),
                                         .lossy_at_a = link->lossy_at && !strcmp(link->lossy_at, ends[0]),
                                         .lossy_at_b = link->lossy_at && !strcmp(link->lossy_at, ends[1]),
                                         .loss_per_billion = (int64_t)llround(link->loss * 1e9)};
    }
}

/* In the simulator's order: hosts, switches, bridges. */
static void configure_numbers(const struct lab *lab, struct sim_setup *setup)
{
    if (lab->ecmp_numbers != ECMP_NUMBERS_NAMES)
        return;
    setup->numbers = xcalloc(lab_node_count(lab) + 1, sizeof *setup->numbers);
    for (size_t i = 0; i < lab_node_count(lab); i++) {
        size_t place = i;
        if (i >= lab->hosts.count) {
            struct sim_node node = setup->node_of_switch[i - lab->hosts.count];
            place =
                lab->hosts.count + node.index + (node.kind == SIM_BRIDGE ? setup->config.switch_count : 0);
        }
        setup->numbers[place] = (uint32_t)lab_number_in_name(lab_node_name(lab, i));
    }
    setup->config.numbers = setup->numbers;
}

static void configure_lab(const struct lab *lab, struct sim_setup *setup)
{
    const struct physics_host *host;
    struct sim_host_config defaults;
    sim_host_defaults(&defaults);
    setup->config.truncate_to_ns = lab->truncate_to_ns == 1;
    setup->config.udp_destination_port = (uint16_t)lab->udp_port;
    if (lab->framing)
        setup->config.framing = *lab->framing;
    for (size_t i = 0; (host = lab_sim_host_at(lab, i)); i++)
        configure_host(&setup->hosts[i], host, &defaults);
    configure_switches(lab, setup);
    configure_numbers(lab, setup);
    configure_links(lab, setup);
    setup->config.hosts = setup->hosts;
    setup->config.host_count = lab->hosts.count;
    setup->config.links = setup->links;
    setup->config.link_count = lab->links.count;
    setup->config.switches = setup->switches;
    setup->config.bridges = setup->bridges;
}

/* ---- settings of roles */

static void set_mask(uint8_t *mask, const struct list_of *priorities)
{
    const int64_t *items = priorities->items;
    if (!items)
        return;
    *mask = 0;
    for (size_t i = 0; i < priorities->count; i++)
        *mask |= (uint8_t)(1u << (items[i] & 7));
}

/* Settings of a host from a parsed document: unset values stay as they are. */
static void apply_host_settings(const struct settings *from, struct sim_host_config *host)
{
    struct sim_settings *to = &host->settings;
    const struct named_integer *map = from->prio_to_buffer.items;
    const int64_t *buffers = from->buffer_bytes.items;
    set_if_given(&to->mtu_bytes, from->mtu);
    set_mask(&to->pfc_mask, &from->pfc);
    for (size_t i = 0; i < from->prio_to_buffer.count; i++)
        to->prio_to_buffer[strtol(map[i].name, NULL, 10) & 7] = (uint8_t)map[i].value;
    for (size_t i = 0; buffers && i < SIM_BUFFERS; i++)
        to->buffer_bytes[i] = i < from->buffer_bytes.count ? buffers[i] : 0;
    set_if_given(&to->cable_mm, from->cable_mm);
    set_mask(&to->ecn_rp_mask, &from->ecn);
    set_mask(&to->ecn_np_mask, &from->ecn);
    set_mask(&to->ecn_rp_mask, &from->ecn_rp);
    set_mask(&to->ecn_np_mask, &from->ecn_np);
    dcqcn_merge(&to->dcqcn, &from->dcqcn);
#define MERGE(from, part, ...) congestion_values_merge(&part##_table, &to->congestion.part, &(from)->part);
    CONGESTION_PARTS(MERGE, from)
#undef MERGE
    if (from->congestion_control >= 0)
        to->congestion_control = sim_congestion_control(congestion_control_names[from->congestion_control]);
}

static void apply_ets(const struct settings_ets *from, struct sim_switch_config *to)
{
    const struct named_integer *classes = from->prio_to_tc.items;
    const int64_t *weights = from->weights.items;
    for (size_t i = 0; i < from->prio_to_tc.count; i++)
        to->prio_to_tc[strtol(classes[i].name, NULL, 10) & 7] = (uint8_t)classes[i].value;
    const int *selection = from->selection.items;
    for (size_t i = 0; i < from->weights.count && i < SIM_PRIORITIES; i++)
        to->tc_weight[i] = (int32_t)weights[i];
    for (size_t i = 0; i < from->selection.count && i < SIM_PRIORITIES; i++)
        if (selection[i] == SELECTION_STRICT)
            to->tc_weight[i] = 0;
}

static void apply_watchdog(const struct settings_watchdog *from, struct physics_watchdog *to)
{
    int64_t restore_ns = from->restore_ns == FIELD_UNSET ? 2 * from->detect_ns : from->restore_ns;
    to->detect_ps = from->detect_ns * SIM_PS_PER_NS;
    to->restore_ps = restore_ns * SIM_PS_PER_NS;
    to->action = from->action == SETTINGS_WATCHDOG_FORWARD ? WATCHDOG_FORWARD : WATCHDOG_DROP;
}

static void apply_switch_settings(const struct settings *from, struct sim_switch_config *to)
{
    set_mask(&to->pfc_mask, &from->pfc);
    if (from->ets)
        apply_ets(from->ets, to);
    if (from->watchdog)
        apply_watchdog(from->watchdog, &to->physics.watchdog);
    if (!from->ecn_threshold)
        return;
    to->physics.ecn.kmin_bytes = from->ecn_threshold->kmin_bytes;
    to->physics.ecn.kmax_bytes = from->ecn_threshold->kmax_bytes;
    to->physics.ecn.pmax = from->ecn_threshold->pmax;
}

static void apply_bridge_settings(const struct settings *from, struct sim_bridge_config *to)
{
    struct physics_forwarding *physics = &to->physics;
    set_if_given(&physics->rx_ring, from->rx_ring);
    if (from->rx_coalesce_us != FIELD_UNSET || from->rx_coalesce_frames != FIELD_UNSET)
        physics->adaptive = false;
    if (from->rx_coalesce_us != FIELD_UNSET)
        physics->coalesce_ps = from->rx_coalesce_us * SIM_PS_PER_US;
    set_if_given(&physics->coalesce_frames, from->rx_coalesce_frames);
    if (from->red)
        to->red = *from->red;
}
static void apply_settings(const struct settings *settings, struct sim_node node, struct sim_setup *setup)
{
    if (node.kind == SIM_HOST)
        apply_host_settings(settings, &setup->hosts[node.index]);
    else if (node.kind == SIM_SWITCH)
        apply_switch_settings(settings, &setup->switches[node.index]);
    else
        apply_bridge_settings(settings, &setup->bridges[node.index]);
}

/* Those of a role that has none of its own are parsed already. */
static int apply_role_settings(const struct cell *cell, const char *role, struct sim_node node,
                               struct sim_setup *setup, struct error *e)
{
    struct settings settings;
    if (!json_object_get(json_object_get(cell->scenario_json, "settings_of"), role)) {
        apply_settings(&cell->scenario.settings, node, setup);
        return 0;
    }
    json_t *document = scenario_role_settings(cell->scenario_json, role);
    int result = table_parse(&settings_table, document, &settings, e);
    json_decref(document);
    if (result != 0)
        return error_prefix(e, "settings of %s", role);
    apply_settings(&settings, node, setup);
    table_free(&settings_table, &settings);
    return 0;
}

/* Common settings go to every node, the settings of a role to its node. */
static int configure_roles(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const char *role;
    for (size_t i = 0; i < cell->lab.switches.count; i++)
        apply_settings(&cell->scenario.settings, setup->node_of_switch[i], setup);
    for (size_t i = 0; i < cell->lab.hosts.count; i++)
        apply_host_settings(&cell->scenario.settings, &setup->hosts[i]);
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++) {
        int host = lab_host_of(&cell->lab, role);
        setup->node_of_role[i] = host >= 0 ? (struct sim_node){SIM_HOST, (uint32_t)host}
                                           : setup->node_of_switch[lab_switch_of(&cell->lab, role)];
        if (apply_role_settings(cell, role, setup->node_of_role[i], setup, e) != 0)
            return -1;
    }
    return 0;
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

const char *sim_setup_node_name(const struct cell *cell, const struct sim_setup *setup, struct sim_node node)
{
    if (node.kind == SIM_HOST)
        return lab_node_name(&cell->lab, node.index);
    return node.kind == SIM_SWITCH ? setup->switches[node.index].name : setup->bridges[node.index].name;
}

char **sim_setup_roles_of_hosts(const struct cell *cell, const struct sim_setup *setup)
{
    char **roles = xcalloc(setup->config.host_count + 1, sizeof *roles);
    for (size_t i = 0; i < cell->scenario.roles.count; i++)
        if (setup->node_of_role[i].kind == SIM_HOST)
            roles[setup->node_of_role[i].index] = ((char **)cell->scenario.roles.items)[i];
    return roles;
}

/* ---- flows and storms */

/* The host that plays a role; `roles` maps names to indices, error messages begin with `of`. */
static int host_of_role(const struct cell *cell, const struct sim_setup *setup, const json_t *roles,
                        const char *role, const char *of, uint32_t *host, struct error *e)
{
    struct sim_node node = setup->node_of_role[json_integer_value(json_object_get(roles, role))];
    *host = node.index;
    if (node.kind == SIM_HOST)
        return 0;
    return error_set(e, "%s: role \"%s\" is a switch in lab %s: only hosts can send and receive traffic", of,
                     role, cell->lab.name);
}

static void set_amount(const struct scenario_flow *from, struct sim_flow_config *to)
{
    if (from->size_bytes == FIELD_UNSET)
        return;
    if (from->size_bytes < to->message_bytes)
        to->message_bytes = from->size_bytes;
    int64_t messages = (from->size_bytes + to->message_bytes - 1) / to->message_bytes;
    if (messages < to->queue_pairs) /* the others have nothing to send */
        to->queue_pairs = (int32_t)messages;
    to->message_count = messages / to->queue_pairs;
    to->one_more = (int32_t)(messages % to->queue_pairs);
}

static void configure_flow(const struct cell *cell, const struct scenario_flow *from, const uint32_t ends[2],
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
    to->immediate = from->op == OP_WRITE_IMM;
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
    if (from->gap_ns != FIELD_UNSET)
        to->gap_ps = from->gap_ns * SIM_PS_PER_NS;
    set_amount(from, to);
    if (from->rate_bps != FIELD_UNSET) /* a share of 0 would be no limit; that of 1 b/s is refused */
        to->rate_bps = from->rate_bps < to->queue_pairs ? 1 : from->rate_bps / to->queue_pairs;
    to->record_latency = !sim_config_is_one_message(to);
}

bool sim_config_is_one_message(const struct sim_flow_config *flow)
{
    return flow->mode == SIM_STREAM && flow->message_count == 1 && flow->queue_pairs == 1;
}

/* The flows' waits, in the order of the flows. */
static int configure_waits(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    size_t count = 0, *before = flow_order_indices(&cell->scenario.flows, &count);
    if (!before)
        return error_set(e, "out of memory");
    setup->waits = xcalloc(count + 1, sizeof *setup->waits);
    struct sim_wait *next = setup->waits;
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        const struct flow_wait *waits = flows[i].after.items;
        setup->flows[i].waits = next;
        setup->flows[i].wait_count = flow_order_waits(&flows[i]);
        for (size_t k = 0; k < flows[i].after.count; k++)
            for (size_t m = 0; m < waits[k].flows.count; m++, next++)
                *next = (struct sim_wait){(uint32_t)before[next - setup->waits],
                                          waits[k].delay_ns * SIM_PS_PER_NS};
    }
    free(before);
    return 0;
}

static int check_mode(const struct scenario_flow *flow, struct error *e)
{
    if (flow->mode == MODE_LATENCY && flow->op == OP_READ)
        return error_set(e, "flow %s: the simulator measures latency of writes and sends, not of reads",
                         flow->name);
    return 0;
}

static int configure_flows(const struct cell *cell, const json_t *roles, struct sim_setup *setup,
                           struct error *e)
{
    const struct scenario_flow *flows = cell->scenario.flows.items;
    for (size_t i = 0; i < cell->scenario.flows.count; i++) {
        uint32_t ends[2];
        char of[160];
        snprintf(of, sizeof of, "flow %.100s", flows[i].name);
        if (host_of_role(cell, setup, roles, flows[i].from, of, &ends[0], e) != 0 ||
            host_of_role(cell, setup, roles, flows[i].to, of, &ends[1], e) != 0 ||
            check_mode(&flows[i], e) != 0)
            return -1;
        configure_flow(cell, &flows[i], ends, &setup->flows[i]);
    }
    setup->config.flow_count = cell->scenario.flows.count;
    return configure_waits(cell, setup, e);
}

static int configure_storms(const struct cell *cell, const json_t *roles, struct sim_setup *setup,
                            struct error *e)
{
    const struct scenario_storm *storms = cell->scenario.storms.items;
    for (size_t i = 0; i < cell->scenario.storms.count; i++) {
        struct sim_storm_config *to = &setup->storms[i];
        if (host_of_role(cell, setup, roles, storms[i].role, "storms", &to->host, e) != 0)
            return -1;
        to->priority = (uint8_t)storms[i].priority;
        to->start_ps = storms[i].start_ns * SIM_PS_PER_NS;
        to->stop_ps = storms[i].stop_ns * SIM_PS_PER_NS;
    }
    return 0;
}

/* ---- traffic patterns, as flows */

static const enum sim_sizes sizes[] = {[SIZES_FIXED] = SIM_SIZES_FIXED,
                                       [SIZES_WEB_SEARCH] = SIM_SIZES_WEB_SEARCH,
                                       [SIZES_DATA_MINING] = SIM_SIZES_DATA_MINING,
                                       [SIZES_HADOOP] = SIM_SIZES_HADOOP,
                                       [SIZES_ALI_STORAGE] = SIM_SIZES_ALI_STORAGE};

static uint32_t *hosts_of_roles(const struct cell *cell, const struct sim_setup *setup, const json_t *roles,
                                const struct list_of *list, const char *of, struct error *e)
{
    char *const *names = list->items;
    uint32_t *hosts = xcalloc(list->count + 1, sizeof *hosts);
    for (size_t i = 0; i < list->count; i++) {
        if (host_of_role(cell, setup, roles, names[i], of, &hosts[i], e) == 0)
            continue;
        free(hosts);
        return NULL;
    }
    return hosts;
}

static void set_pattern_flow(const struct cell *cell, const struct scenario_traffic *t,
                             struct sim_flow_config *flow)
{
    const struct scenario_phases *phases = &cell->scenario.phases;
    int64_t end_ns = phases->warmup_ns + phases->measure_ns;
    sim_flow_defaults(flow);
    flow->from_memory = flow->to_memory = flow_in_gpu_memory(t->memory) ? SIM_MEMORY_GPU : SIM_MEMORY_HOST;
    flow->message_bytes = t->message_bytes;
    flow->depth = (int32_t)t->depth;
    flow->priority = (int32_t)t->priority;
    flow->start_ps = t->start_ns * SIM_PS_PER_NS;
    flow->stop_ps = (t->stop_ns != FIELD_UNSET && t->stop_ns < end_ns ? t->stop_ns : end_ns) * SIM_PS_PER_NS;
}

static void set_workload(const struct cell *cell, const struct scenario_traffic *t,
                         const struct sim_setup *setup, const uint32_t *from, const uint32_t *to,
                         const int64_t *link_bps, struct sim_workload_config *w)
{
    bool poisson = t->pattern == PATTERN_POISSON;
    *w = (struct sim_workload_config){.pattern = (enum traffic_pattern)t->pattern,
                                      .from = from,
                                      .from_count = t->from.count,
                                      .to = to,
                                      .to_count = t->to.count,
                                      .sizes = sizes[t->sizes],
                                      .size_bytes = t->size_bytes == FIELD_UNSET ? 0 : t->size_bytes,
                                      .rounds = poisson || t->count == FIELD_UNSET ? 1 : t->count,
                                      .load = t->load,
                                      .link_bps = link_bps,
                                      .most_flows = poisson && t->count != FIELD_UNSET ? t->count : 0,
                                      .shift = t->shift == FIELD_UNSET ? 0 : t->shift,
                                      .seed = setup->config.seed};
    set_pattern_flow(cell, t, &w->flow);
}

/* What a flow has of its sender, as the scenario's other flows have it: packets that are ECN-capable by the
 * sender's settings, and what its NIC does. By host; the caller frees the list. */
static struct sim_flow_config *flows_of_senders(const struct cell *cell, const struct scenario_traffic *t,
                                                const struct sim_setup *setup, const uint32_t *from)
{
    char *const *roles = t->from.items;
    struct sim_flow_config *of = xcalloc(setup->config.host_count + 1, sizeof *of);
    for (size_t i = 0; i < t->from.count; i++) {
        struct scenario_flow sent = flow_of_pattern(t, roles[i], NULL);
        bool capable = traffic_class_is_ect(flow_traffic_class(&cell->scenario, &sent));
        const struct physics_nic *nic = &lab_sim_host_at(&cell->lab, from[i])->nic;
        of[from[i]] = (struct sim_flow_config){.ect = capable ? SIM_ECT_ALWAYS : SIM_ECT_NEVER,
                                               .inline_bytes = nic->inline_bytes,
                                               .payload_bytes = nic->payload_bytes};
    }
    return of;
}

static void append_flows(struct sim_setup *setup, const char *name, const struct sim_flow_config *flows,
                         size_t count, const struct sim_flow_config *of_sender)
{
    size_t before = setup->config.flow_count;
    setup->flows = xreallocarray(setup->flows, before + count + 1, sizeof *setup->flows);
    for (size_t i = 0; i < count; i++) {
        json_t *own = json_textf("%s/%zu", name, i);
        setup->flows[before + i] = flows[i];
        sim_flow_take_sender(&setup->flows[before + i], of_sender);
        setup->flows[before + i].name = json_string_value(own);
        json_array_append_new(setup->names, own);
    }
    setup->config.flow_count += count;
}

/* Are the flows of the workload more than a result lists, and is none of them named by itself? */
static bool comes_and_goes(const struct cell *cell, const struct sim_workload_config *w)
{
    struct sim_poisson arrivals;
    struct sim_flow_config flow;
    struct error ignored;
    size_t count = 0;
    if (w->pattern != PATTERN_POISSON || cell->scenario.capture || cell->scenario.injections.count ||
        sim_poisson_begin(&arrivals, w, &ignored) != 0)
        return false;
    while (count <= SCENARIO_PATTERN_FLOWS && sim_poisson_next(&arrivals, &flow))
        count++;
    return count > SCENARIO_PATTERN_FLOWS;
}

/* The workload's flows, of a size each: they stay, or come and go. */
static int add_workload(const struct cell *cell, const struct scenario_traffic *t, struct streamed *pattern,
                        struct sim_setup *setup, struct error *e)
{
    struct sim_flow_config *flows;
    size_t count;
    if (comes_and_goes(cell, &pattern->workload)) {
        pattern->workload.flow.name = t->name;
        streamed_add(setup->streamed, pattern);
        *pattern = (struct streamed){0};
        return 0;
    }
    if (sim_workload_make(&pattern->workload, (uint32_t)setup->config.flow_count, &flows, &count, e) != 0)
        return -1;
    append_flows(setup, t->name, flows, count, pattern->of_sender);
    free(flows);
    return 0;
}

static int configure_pattern(const struct cell *cell, const struct scenario_traffic *t, size_t index,
                             const json_t *roles, struct sim_setup *setup, struct error *e)
{
    char of[160];
    snprintf(of, sizeof of, "traffic %.100s", t->name);
    struct streamed pattern = {.traffic = index};
    pattern.from = hosts_of_roles(cell, setup, roles, &t->from, of, e);
    pattern.to = pattern.from ? hosts_of_roles(cell, setup, roles, &t->to, of, e) : NULL;
    int result = -1;
    if (pattern.from && pattern.to) {
        int64_t *rates = sim_setup_link_rates(setup);
        pattern.link_bps = xcalloc(t->from.count + 1, sizeof *pattern.link_bps);
        for (size_t i = 0; i < t->from.count; i++)
            pattern.link_bps[i] = rates[pattern.from[i]];
        free(rates);
        pattern.of_sender = flows_of_senders(cell, t, setup, pattern.from);
        set_workload(cell, t, setup, pattern.from, pattern.to, pattern.link_bps, &pattern.workload);
        result = add_workload(cell, t, &pattern, setup, e);
        if (result != 0)
            error_prefix(e, "%s", of);
    }
    streamed_release(&pattern);
    return result;
}

static int configure_traffic(const struct cell *cell, const json_t *roles, struct sim_setup *setup,
                             struct error *e)
{
    const struct scenario_traffic *traffic = cell->scenario.traffic.items;
    for (size_t i = 0; i < cell->scenario.traffic.count; i++) {
        setup->first_of_traffic[i] = setup->config.flow_count;
        if (configure_pattern(cell, &traffic[i], i, roles, setup, e) != 0)
            return -1;
    }
    setup->first_of_traffic[cell->scenario.traffic.count] = setup->config.flow_count;
    return 0;
}
/* ---- what is captured */

/* Mark the node's port, or all of them; returns how many. Ports of a node count up in the order of the
 * links. */
static size_t mark_ports(const struct lab *lab, const struct sim_link_end *end, bool *ports)
{
    const char *name = lab_node_name(lab, (size_t)end->node);
    const struct lab_link *link;
    int64_t number = 0;
    size_t marked = 0;
    for (size_t i = 0; (link = lab_link_at(lab, i)); i++)
        for (unsigned side = 0; side < 2; side++) {
            if (strcmp(((char *const *)link->between.items)[side], name) != 0)
                continue;
            if (end->port < 0 || end->port == number) {
                ports[2 * i + side] = true;
                marked++;
            }
            number++;
        }
    return marked;
}

static int choose_captured_ports(const struct cell *cell, const struct capture *c, bool *ports,
                                 struct error *e)
{
    const struct lab *lab = &cell->lab;
    char *const *items = c->ports.items, path[40];
    struct sim_link_end end;
    for (size_t i = 0; i < c->ports.count; i++) {
        snprintf(path, sizeof path, "capture.ports[%zu]", i);
        if (sim_link_end_parse(lab, path, items[i], &end, e) != 0)
            return -1;
        if (!mark_ports(lab, &end, ports))
            return error_set(e, "%s: \"%.80s\": in lab %s %s has no such port", path, items[i], lab->name,
                             lab_node_name(lab, (size_t)end.node));
    }
    for (size_t i = 0; !c->ports.count && i < 2 * lab->links.count; i++)
        ports[i] = true;
    return 0;
}

/* A flow of a pattern has the pattern's name, a slash, and a number: the pattern's name alone means all of
 * them. */
static bool flow_is_named(const char *glob, const char *flow)
{
    char pattern[256];
    const char *slash = strrchr(flow, '/');
    if (name_matches(glob, flow))
        return true;
    if (!slash || (size_t)(slash - flow) >= sizeof pattern)
        return false;
    memcpy(pattern, flow, (size_t)(slash - flow));
    pattern[slash - flow] = '\0';
    return name_matches(glob, pattern);
}

static int choose_captured_flows(const struct capture *c, const struct sim_setup *setup, bool *flows,
                                 struct error *e)
{
    char *const *items = c->flows.items;
    for (size_t i = 0; i < c->flows.count; i++) {
        bool found = false;
        for (size_t f = 0; f < setup->config.flow_count; f++)
            if (flow_is_named(items[i], setup->flows[f].name))
                flows[f] = found = true;
        if (!found)
            return error_set(
                e, "capture.flows[%zu]: no flow matches \"%.80s\": expected the name of a flow or of traffic",
                i, items[i]);
    }
    return 0;
}

static uint8_t priorities_of(const struct capture *c)
{
    const int64_t *items = c->priorities.items;
    uint8_t mask = 0;
    for (size_t i = 0; i < c->priorities.count; i++)
        mask |= (uint8_t)(1u << items[i]);
    return c->priorities.count ? mask : UINT8_MAX;
}

static int configure_capture(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const struct capture *c = cell->scenario.capture;
    int64_t phase_ns[4];
    if (!c)
        return 0;
    setup->capture = xcalloc(1, sizeof *setup->capture);
    setup->capture_ports = xcalloc(2 * setup->config.link_count + 1, sizeof(bool));
    setup->capture_flows = xcalloc(setup->config.flow_count + 1, sizeof(bool));
    scenario_phase_starts(&cell->scenario, phase_ns);
    *setup->capture = (struct sim_capture_config){.ports = setup->capture_ports,
                                                  .flows = c->flows.count ? setup->capture_flows : NULL,
                                                  .priorities = priorities_of(c),
                                                  .from_ps = capture_start_ns(c, phase_ns) * SIM_PS_PER_NS,
                                                  .until_ps = capture_end_ns(c, phase_ns) * SIM_PS_PER_NS};
    setup->config.capture = setup->capture;
    return choose_captured_ports(cell, c, setup->capture_ports, e) != 0
               ? -1
               : choose_captured_flows(c, setup, setup->capture_flows, e);
}
/* ---- all */

static void allocate(const struct cell *cell, struct sim_setup *setup)
{
    const struct lab *lab = &cell->lab;
    memset(setup, 0, sizeof *setup);
    setup->hosts = xcalloc(lab->hosts.count + 1, sizeof *setup->hosts);
    setup->switches = xcalloc(lab->switches.count + 1, sizeof *setup->switches);
    setup->bridges = xcalloc(lab->switches.count + 1, sizeof *setup->bridges);
    setup->node_of_switch = xcalloc(lab->switches.count + 1, sizeof *setup->node_of_switch);
    setup->links = xcalloc(lab->links.count + 1, sizeof *setup->links);
    setup->storms = xcalloc(cell->scenario.storms.count + 1, sizeof *setup->storms);
    setup->flows = xcalloc(cell->scenario.flows.count + 1, sizeof *setup->flows);
    setup->node_of_role = xcalloc(cell->scenario.roles.count + 1, sizeof *setup->node_of_role);
    setup->first_of_traffic = xcalloc(cell->scenario.traffic.count + 1, sizeof *setup->first_of_traffic);
    setup->names = json_array();
    setup->streamed = xcalloc(1, sizeof *setup->streamed);
}

/* In this order: flows need the nodes of roles, injections and captures the flows. */
static int configure(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    const char *role;
    json_t *roles = json_object();
    configure_lab(&cell->lab, setup);
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        json_object_set_new(roles, role, json_integer((json_int_t)i));
    int result =
        configure_roles(cell, setup, e) != 0 || configure_flows(cell, roles, setup, e) != 0 ||
                configure_storms(cell, roles, setup, e) != 0 ||
                sim_link_states_make(cell, &setup->link_states, &setup->config.link_state_count, e) != 0 ||
                configure_traffic(cell, roles, setup, e) != 0 || sim_jobs_make(cell, setup, e) != 0 ||
                sim_setup_check_reached(&cell->lab, setup, e) != 0
            ? -1
            : 0;
    json_decref(roles);
    setup->config.flows = setup->flows;
    setup->config.stream = setup->streamed->count ? &setup->streamed->stream : NULL;
    setup->config.storms = setup->storms;
    setup->config.storm_count = cell->scenario.storms.count;
    setup->config.link_states = setup->link_states;
    if (result == 0)
        result = sim_injections_make(cell, setup->flows, setup->config.flow_count, &setup->injections,
                                     &setup->config.injection_count, e);
    setup->config.injections = setup->injections;
    return result == 0 ? configure_capture(cell, setup, e) : -1;
}

int sim_setup_make(const struct cell *cell, uint64_t seed, struct sim_setup *setup, struct error *e)
{
    allocate(cell, setup);
    sim_config_defaults(&setup->config);
    setup->config.seed = seed;
    int result = configure(cell, setup, e);
    if (result != 0)
        sim_setup_free(setup);
    return result;
}

void sim_setup_free(struct sim_setup *setup)
{
    free(setup->hosts);
    free(setup->switches);
    free(setup->bridges);
    free(setup->numbers);
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
    sim_jobs_free(setup);
    if (setup->streamed)
        streamed_free(setup->streamed);
    free(setup->streamed);
    memset(setup, 0, sizeof *setup);
}
