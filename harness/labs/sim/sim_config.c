#include "harness/labs/sim/sim_config.h"
#include "harness/preflight/ecn.h"
#include "harness/labs/sim/sim_setup.h"
#include "lib/clock.h"
#include "lib/formats/lab_sim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_NS 1000

static void take(int64_t *to, int64_t from)
{
    if (from != FIELD_UNSET)
        *to = from;
}

static void take32(int32_t *to, int64_t from)
{
    if (from != FIELD_UNSET)
        *to = (int32_t)(from > INT32_MAX ? INT32_MAX : from);
}

static void take_bool(bool *to, int from)
{
    if (from >= 0)
        *to = from;
}

static void take_number(double *to, double from)
{
    if (!isnan(from))
        *to = from;
}

static void take_rate(int64_t *bytes_per_s, int64_t bps)
{
    if (bps != FIELD_UNSET)
        *bytes_per_s = bps / 8;
}

/* ---- hosts */

static void take_nic(struct sim_nic_config *to, const struct lab_sim_nic *from)
{
    take(&to->messages_per_s, from->messages_per_s);
    take(&to->tx_latency_ps, from->tx_latency_ps);
    take(&to->rx_latency_ps, from->rx_latency_ps);
    take(&to->tx_buffer_bytes, from->tx_buffer_bytes);
    take(&to->port_buffer_bytes, from->port_buffer_bytes);
    take32(&to->cell_bytes, from->cell_bytes);
    take32(&to->max_mtu_bytes, from->max_mtu_bytes);
    take32(&to->pause_quanta, from->pause_quanta);
    take32(&to->pause_refresh_percent, from->pause_refresh_percent);
    take32(&to->ack_every_packets, from->ack_every_packets);
    take_bool(&to->ack_coalescing, from->ack_coalescing);
    take_bool(&to->ack_unpaused, from->ack_unpaused);
    take(&to->ack_timeout_ps, from->ack_timeout_ps);
    take32(&to->max_reads, from->max_reads);
    take_bool(&to->congestion_on_ack, from->congestion_on_ack);
    take_bool(&to->gap_held, from->gap_held);
    if (from->cnp_pacing >= 0)
        to->cnp_pacing_of_port = from->cnp_pacing == PACING_PORT;
}

static void take_pcie(struct sim_pcie_config *to, const struct lab_sim_pcie *from)
{
    take32(&to->generation, from->generation);
    take32(&to->lanes, from->lanes);
    take32(&to->max_payload_bytes, from->max_payload_bytes);
    take32(&to->max_read_request_bytes, from->max_read_request_bytes);
    take32(&to->completion_bytes, from->completion_bytes);
    take32(&to->tags, from->tags);
    take32(&to->posted_header_credits, from->posted_header_credits);
    take32(&to->posted_data_credits, from->posted_data_credits);
    take(&to->latency_ps, from->latency_ps);
}

static void take_memory(struct sim_memory_config *to, const struct lab_sim_memory *from)
{
    take_rate(&to->write_bytes_per_s, from->write_bps);
    take_rate(&to->read_bytes_per_s, from->read_bps);
    take(&to->write_access_ps, from->write_access_ps);
    take(&to->read_access_ps, from->read_access_ps);
    take(&to->write_latency_ps, from->write_latency_ps);
    take(&to->read_latency_ps, from->read_latency_ps);
    take32(&to->banks, from->banks);
    take32(&to->interleave_bytes, from->interleave_bytes);
    take(&to->bank_ps, from->bank_ps);
    take(&to->sector_ps, from->sector_ps);
    take_number(&to->stalls_per_s, from->stalls_per_s);
    take(&to->stall_mean_ps, from->stall_mean_ps);
    take(&to->stall_window_ps, from->stall_window_ps);
    take32(&to->device_write_bytes, from->device_write_bytes);
    take32(&to->device_read_bytes, from->device_read_bytes);
    take32(&to->device_completion_bytes, from->device_completion_bytes);
    take32(&to->device_request_header_bytes, from->device_request_header_bytes);
    take32(&to->device_completion_header_bytes, from->device_completion_header_bytes);
}

static void take_software(struct sim_software_config *to, const struct lab_sim_software *from)
{
    take(&to->post_ps, from->post_ps);
    take(&to->poll_ps, from->poll_ps);
    take(&to->jitter_ps, from->jitter_ps);
    take_number(&to->spikes_per_turn, from->spikes_per_turn);
    take(&to->spike_ps, from->spike_ps);
    take(&to->spike_floor_ps, from->spike_floor_ps);
}

static void take_rp(struct sim_dcqcn_rp *to, const struct settings_rp *from)
{
    if (from->clamp_tgt_rate >= 0)
        to->clamp_tgt_rate = from->clamp_tgt_rate;
    if (from->clamp_tgt_rate_after_time_inc >= 0)
        to->clamp_tgt_rate_after_time_inc = from->clamp_tgt_rate_after_time_inc;
    take32(&to->rpg_time_reset, from->rpg_time_reset);
    take32(&to->rpg_byte_reset, from->rpg_byte_reset);
    take32(&to->rpg_threshold, from->rpg_threshold);
    take32(&to->rpg_ai_rate, from->rpg_ai_rate);
    take32(&to->rpg_hai_rate, from->rpg_hai_rate);
    take32(&to->rpg_max_rate, from->rpg_max_rate);
    take32(&to->rpg_min_dec_fac, from->rpg_min_dec_fac);
    take32(&to->rpg_min_rate, from->rpg_min_rate);
    take32(&to->rpg_gd, from->rpg_gd);
    take32(&to->rate_to_set_on_first_cnp, from->rate_to_set_on_first_cnp);
    take32(&to->dce_tcp_g, from->dce_tcp_g);
    take32(&to->dce_tcp_rtt, from->dce_tcp_rtt);
    take32(&to->rate_reduce_monitor_period, from->rate_reduce_monitor_period);
    take32(&to->initial_alpha_value, from->initial_alpha_value);
}

static void take_dcqcn(struct sim_settings *to, const struct settings_dcqcn *from)
{
    take_rp(&to->rp, &from->rp);
    take32(&to->np.min_time_between_cnps, from->np.min_time_between_cnps);
    take32(&to->np.cnp_dscp, from->np.cnp_dscp);
    take32(&to->np.cnp_802p_prio, from->np.cnp_802p_prio);
}

static void take_host(struct sim_host_config *to, const struct lab_sim_host *from)
{
    sim_host_defaults(to);
    to->name = from->name;
    take_nic(&to->nic, &from->nic);
    take_pcie(&to->pcie, &from->pcie);
    take_memory(&to->memories[SIM_MEMORY_HOST], &from->memory);
    if (from->gpu)
        take_memory(&to->memories[SIM_MEMORY_GPU], from->gpu);
    take_software(&to->software, &from->software);
    sim_settings_defaults(&to->settings, to->nic.port_buffer_bytes);
    take_dcqcn(&to->settings, &from->nic.dcqcn);
    take32(&to->settings.rp.rpg_byte_reset, from->nic.byte_reset_bytes);
}

static void take_framing(struct sim_framing *to, const struct lab_sim_framing *from)
{
    take32(&to->gap_bytes, from->gap_bytes);
    take32(&to->data_bytes, from->data_bytes);
    take32(&to->reth_bytes, from->reth_bytes);
    take32(&to->aeth_bytes, from->aeth_bytes);
    take32(&to->ack_bytes, from->ack_bytes);
    take32(&to->cnp_bytes, from->cnp_bytes);
    take32(&to->pfc_bytes, from->pfc_bytes);
    take32(&to->minimum_bytes, from->minimum_bytes);
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

void sim_setup_settings(const struct settings *from, struct sim_settings *to)
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
    take_dcqcn(to, &from->dcqcn);
}

static json_t *mask_json(uint8_t mask)
{
    json_t *list = json_array();
    for (int p = 0; p < 8; p++)
        if (mask & (1u << p))
            json_array_append_new(list, json_integer(p));
    return list;
}

static json_t *rp_json(const struct sim_dcqcn_rp *rp)
{
    const struct {
        const char *name;
        int32_t value;
    } all[] = {{"rpg_time_reset", rp->rpg_time_reset},
               {"rpg_byte_reset", rp->rpg_byte_reset},
               {"rpg_threshold", rp->rpg_threshold},
               {"rpg_ai_rate", rp->rpg_ai_rate},
               {"rpg_hai_rate", rp->rpg_hai_rate},
               {"rpg_max_rate", rp->rpg_max_rate},
               {"rpg_min_dec_fac", rp->rpg_min_dec_fac},
               {"rpg_min_rate", rp->rpg_min_rate},
               {"rpg_gd", rp->rpg_gd},
               {"rate_to_set_on_first_cnp", rp->rate_to_set_on_first_cnp},
               {"dce_tcp_g", rp->dce_tcp_g},
               {"dce_tcp_rtt", rp->dce_tcp_rtt},
               {"rate_reduce_monitor_period", rp->rate_reduce_monitor_period},
               {"initial_alpha_value", rp->initial_alpha_value}};
    json_t *json = json_object();
    json_object_set_new(json, "clamp_tgt_rate", json_boolean(rp->clamp_tgt_rate));
    json_object_set_new(json, "clamp_tgt_rate_after_time_inc",
                        json_boolean(rp->clamp_tgt_rate_after_time_inc));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(json, all[i].name, json_integer(all[i].value));
    return json;
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
    return json_pack("{s:I,s:o,s:o,s:o,s:s,s:o,s:{s:o,s:{s:i,s:i,s:i}}}", "mtu", (json_int_t)s->mtu_bytes,
                     "pfc", mask_json(s->pfc_mask), "prio_to_buffer", prio_to_buffer, "buffer_bytes", buffers,
                     "cable", units_format(UNIT_LENGTH_MM, s->cable_mm, cable, sizeof cable), "ecn",
                     mask_json(s->ecn_rp_mask), "dcqcn", "rp", rp_json(&s->rp), "np", "min_time_between_cnps",
                     s->np.min_time_between_cnps, "cnp_dscp", s->np.cnp_dscp, "cnp_802p_prio",
                     s->np.cnp_802p_prio);
}

/* ---- links and flows */

/* Name -> kind and index, for as many nodes as a lab may have. */
static json_t *index_nodes(const struct lab *lab)
{
    const struct lab_sim_host *hosts = lab->hosts.items;
    const struct lab_sim_switch *switches = lab->switches.items;
    json_t *index = json_object();
    for (size_t i = 0; i < lab->hosts.count; i++)
        json_object_set_new(index, hosts[i].name, json_integer((json_int_t)i));
    for (size_t i = 0; i < lab->switches.count; i++)
        json_object_set_new(index, switches[i].name, json_integer(-1 - (json_int_t)i));
    return index;
}

static struct sim_node node_of(const struct sim_setup *setup, const json_t *index, const char *name)
{
    json_int_t i = json_integer_value(json_object_get(index, name));
    return i >= 0 ? (struct sim_node){SIM_HOST, (uint32_t)i} : setup->node_of_switch[-1 - i];
}

static void take_links(const struct lab *lab, const json_t *index, struct sim_setup *setup)
{
    struct sim_link_config *to = setup->links;
    const struct lab_link *links = lab->links.items;
    for (size_t i = 0; i < lab->links.count; i++) {
        char *const *ends = links[i].between.items;
        to[i] = (struct sim_link_config){.a = node_of(setup, index, ends[0]),
                                         .b = node_of(setup, index, ends[1]),
                                         .rate_bps = links[i].rate_bps,
                                         .loss_per_billion = (int64_t)llround(links[i].loss * 1e9)};
        if (links[i].delay_ps != FIELD_UNSET)
            to[i].delay_ps = links[i].delay_ps;
        else if (links[i].length_mm != FIELD_UNSET)
            to[i].delay_ps = sim_cable_delay_ps(links[i].length_mm);
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
    const struct lab_sim_host *hosts = cell->lab.hosts.items;
    const struct scenario_phases *phases = &cell->scenario.phases;
    int64_t end_ns = phases->warmup_ns + phases->measure_ns;
    sim_flow_defaults(to);
    to->name = from->name;
    to->from = ends[0];
    to->to = ends[1];
    to->operation = operations[from->op];
    to->mode = from->mode == MODE_LATENCY ? SIM_PING_PONG : SIM_STREAM;
    to->from_memory = to->to_memory = from->memory == MEMORY_GPU ? SIM_MEMORY_GPU : SIM_MEMORY_HOST;
    to->message_bytes = from->message_bytes;
    to->queue_pairs = (int32_t)from->queue_pairs;
    to->depth = from->mode == MODE_LATENCY ? 1 : (int32_t)from->depth;
    take32(&to->inline_bytes, hosts[ends[0]].nic.inline_bytes);
    if (hosts[ends[0]].nic.payload_bytes != FIELD_UNSET)
        to->payload_bytes = hosts[ends[0]].nic.payload_bytes;
    to->priority = (int32_t)from->priority;
    to->ect = ecn_capable(ecn_traffic_class(&cell->scenario, from)) ? SIM_ECT_ALWAYS : SIM_ECT_NEVER;
    to->start_ps = from->start_ns * PS_PER_NS;
    to->stop_ps =
        (from->stop_ns != FIELD_UNSET && from->stop_ns < end_ns ? from->stop_ns : end_ns) * PS_PER_NS;
    if (from->rate_bps != FIELD_UNSET)
        to->rate_bps = from->rate_bps / from->queue_pairs;
    to->record_latency = true;
    take_amount(from, to);
}

static int check_mode(const struct scenario_flow *flow, struct error *e)
{
    if (flow->mode == MODE_LATENCY && flow->op == OP_READ)
        return error_set(e, "flow %s: the simulator measures latency of writes and sends, not of reads",
                         flow->name);
    return 0;
}

int sim_setup_host(const struct cell *cell, const struct sim_setup *setup, const json_t *roles,
                   const char *role, const char *of, uint32_t *host, struct error *e)
{
    struct sim_node node = setup->node_of_role[json_integer_value(json_object_get(roles, role))];
    *host = node.index;
    if (node.kind == SIM_HOST)
        return 0;
    return error_set(e, "%s: role \"%s\" is a switch in lab %s: traffic goes between hosts", of, role,
                     cell->lab.name);
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
    return 0;
}

static int take_storms(const struct cell *cell, const json_t *roles, struct sim_setup *setup, struct error *e)
{
    const struct scenario_storm *storms = cell->scenario.storms.items;
    for (size_t i = 0; i < cell->scenario.storms.count; i++) {
        struct sim_storm_config *to = &setup->storms[i];
        if (sim_setup_host(cell, setup, roles, storms[i].role, "storms", &to->host, e) != 0)
            return -1;
        to->priority = (uint8_t)storms[i].priority;
        to->start_ps = storms[i].start_ns * PS_PER_NS;
        to->stop_ps = storms[i].stop_ns * PS_PER_NS;
    }
    return 0;
}

/* ---- roles */

static int take_settings(const struct cell *cell, const char *role, struct sim_node node,
                         struct sim_setup *setup, struct error *e)
{
    struct settings settings;
    json_t *document = scenario_role_settings(cell->scenario_json, role);
    int result = table_parse(&settings_table, document, &settings, e);
    json_decref(document);
    if (result != 0)
        return error_prefix(e, "settings of %s", role);
    if (node.kind == SIM_HOST)
        sim_setup_settings(&settings, &setup->hosts[node.index].settings);
    else if (node.kind == SIM_SWITCH)
        sim_setup_switch_settings(&settings, &setup->switches[node.index]);
    else
        sim_setup_bridge_settings(&settings, &setup->bridges[node.index]);
    table_free(&settings_table, &settings);
    return 0;
}

/* The common settings go to every node, a role's own to its node. */
static int take_roles(const struct cell *cell, struct sim_setup *setup, struct error *e)
{
    char *const *roles = cell->scenario.roles.items;
    for (size_t i = 0; i < cell->lab.switches.count; i++) {
        struct sim_node node = setup->node_of_switch[i];
        if (node.kind == SIM_SWITCH)
            sim_setup_switch_settings(&cell->scenario.settings, &setup->switches[node.index]);
        else
            sim_setup_bridge_settings(&cell->scenario.settings, &setup->bridges[node.index]);
    }
    for (size_t i = 0; i < cell->lab.hosts.count; i++)
        sim_setup_settings(&cell->scenario.settings, &setup->hosts[i].settings);
    for (size_t i = 0; i < cell->scenario.roles.count; i++) {
        int host = lab_host_of(&cell->lab, roles[i]);
        setup->node_of_role[i] = host >= 0 ? (struct sim_node){SIM_HOST, (uint32_t)host}
                                           : setup->node_of_switch[lab_switch_of(&cell->lab, roles[i])];
        if (take_settings(cell, roles[i], setup->node_of_role[i], setup, e) != 0)
            return -1;
    }
    return 0;
}

const char *sim_setup_node_name(const struct cell *cell, const struct sim_setup *setup, struct sim_node node)
{
    const struct lab_sim_host *hosts = cell->lab.hosts.items;
    const struct lab_sim_switch *switches = cell->lab.switches.items;
    if (node.kind == SIM_HOST)
        return hosts[node.index].name;
    for (size_t i = 0; i < cell->lab.switches.count; i++)
        if (setup->node_of_switch[i].kind == node.kind && setup->node_of_switch[i].index == node.index)
            return switches[i].name;
    return "?";
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
    const struct lab_sim_host *hosts = lab->hosts.items;
    setup->config.truncate_to_ns = lab->truncate_to_ns == 1;
    setup->config.udp_destination_port = (uint16_t)lab->udp_port;
    if (lab->framing)
        take_framing(&setup->config.framing, lab->framing);
    for (size_t i = 0; i < lab->hosts.count; i++)
        take_host(&setup->hosts[i], &hosts[i]);
    sim_setup_take_switches(lab, setup);
    json_t *index = index_nodes(lab);
    take_links(lab, index, setup);
    json_decref(index);
    setup->config.hosts = setup->hosts;
    setup->config.host_count = lab->hosts.count;
    setup->config.links = setup->links;
    setup->config.link_count = lab->links.count;
    setup->config.switches = setup->switches;
    setup->config.bridges = setup->bridges;
}

int sim_setup_make(const struct cell *cell, uint64_t seed, struct sim_setup *setup, struct error *e)
{
    char *const *names = cell->scenario.roles.items;
    if (allocate(cell, setup, e) != 0) {
        sim_setup_free(setup);
        return -1;
    }
    sim_config_defaults(&setup->config);
    setup->config.seed = seed;
    take_lab(&cell->lab, setup);
    json_t *roles = json_object();
    for (size_t i = 0; i < cell->scenario.roles.count; i++)
        json_object_set_new(roles, names[i], json_integer((json_int_t)i));
    int result = take_roles(cell, setup, e) != 0 || take_flows(cell, roles, setup, e) != 0 ||
                         take_storms(cell, roles, setup, e) != 0 ||
                         sim_setup_take_traffic(cell, roles, setup, e) != 0
                     ? -1
                     : 0;
    json_decref(roles);
    setup->config.flows = setup->flows;
    setup->config.storms = setup->storms;
    setup->config.storm_count = cell->scenario.storms.count;
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
    free(setup->flows);
    free(setup->node_of_role);
    free(setup->first_of_traffic);
    json_decref(setup->names);
    memset(setup, 0, sizeof *setup);
}
