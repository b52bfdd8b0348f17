/* Switches from their configuration, and their counters. */
#include "sim/counters.h"
#include "lib/roce/thresholds.h"
#include "sim/fabric/switch.h"
#include "sim/faults/link_faults.h"
#include "sim/islands/island.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_switch_defaults(struct sim_switch_config *s)
{
    *s = (struct sim_switch_config){
        .name = "switch", .ecn_mask = 0xff, .prio_to_tc = {0, 1, 2, 3, 4, 5, 6, 7}};
    (void)table_defaults(&physics_switch_table, &s->physics);
}

static int check(const struct sim_switch_config *c, struct error *e)
{
    char of[120];
    snprintf(of, sizeof of, "switch %.80s", c->name);
    if (table_check(&physics_switch_table, &c->physics, of, e))
        return -1;
    for (unsigned i = 0; i < SIM_PRIORITIES; i++)
        if (c->prio_to_tc[i] >= SIM_PRIORITIES || c->tc_weight[i] < 0 || c->tc_weight[i] > 100)
            return error_set(e, "%s: traffic classes must be 0 to 7, their weights 0 to 100", of);
    return 0;
}

/* Stated, or for a peer that reacts at once. */
static int64_t headroom_of(const struct sim *sim, const struct physics_switch *c, const struct port *port)
{
    if (c->headroom_bytes >= 0)
        return c->headroom_bytes;
    double bytes_per_delay = (double)port->delay_ps * (double)port->rate_bps / 8e12;
    if (c->headroom_delays > 0)
        return (int64_t)floor(bytes_per_delay * c->headroom_delays + 1e-6);
    const int64_t longest_frame = 9216 + 100;
    return thresholds_in_flight(port->rate_bps, port->delay_ps, longest_frame + sim->framing.gap_bytes,
                                sim->framing.pfc_bytes);
}

static void build_ecn(struct port *port, struct switch_port *at, const struct physics_ecn *ecn)
{
    if (!ecn->kmax_bytes) {
        port->kmin = at->kmax = UINT32_MAX;
        return;
    }
    double scale = ecn->reference_bps > 0 ? (double)port->rate_bps / (double)ecn->reference_bps : 1;
    double kmin = (double)ecn->kmin_bytes * scale, kmax = (double)ecn->kmax_bytes * scale;
    port->kmin = (uint32_t)fmin(kmin, UINT32_MAX);
    at->kmax = (uint32_t)fmin(kmax, UINT32_MAX);
    at->mark_slope = kmax > kmin ? (uint64_t)fmin(ecn->pmax * 0x1p48 / (kmax - kmin), 0x1p48) : 0;
}

static double alpha_of(const struct sim *sim, const struct physics_switch *c, int64_t rate_bps)
{
    double alpha = c->xoff_alpha;
    if (!c->alpha_follows_rate)
        return alpha;
    for (; rate_bps > sim->slowest_host_bps && alpha < 1; rate_bps /= 2)
        alpha = fmin(alpha * 2, 1);
    return alpha;
}

static int build_port(struct sim *sim, struct fabric_switch *s, const struct sim_switch_config *c, uint32_t p,
                      const struct sim_link_config *link, struct error *e)
{
    struct port *port = &sim->ports[p];
    struct switch_port *at = &sim->switch_ports[p];
    int64_t headroom = headroom_of(sim, &c->physics, port);
    if (c->pfc_mask && headroom > c->physics.buffer_bytes)
        return error_set(e, "switch %s: a port needs %lld B of headroom, its whole buffer has %lld B",
                         c->name, (long long)headroom, (long long)c->physics.buffer_bytes);
    at->pfc_mask = (p & 1 ? link->lossy_at_b : link->lossy_at_a) ? 0 : c->pfc_mask;
    at->headroom = (int32_t)(headroom > INT32_MAX ? INT32_MAX : headroom);
    at->xoff_q16 = (uint32_t)(alpha_of(sim, &c->physics, port->rate_bps) * 65536);
    build_ecn(port, at, &c->physics.ecn);
    int classes = __builtin_popcount(c->pfc_mask);
    s->shared_bytes -= classes * (at->headroom + c->physics.reserve_bytes);
    port->quanta = (int32_t)c->physics.pause_quanta;
    port->ignored = (uint8_t)~c->pfc_mask;
    pfc_set_refresh(sim, port,
                    (int64_t)((double)port->quanta * 512e12 / (double)port->rate_bps *
                              (double)c->physics.pause_refresh_percent / 100));
    return 0;
}

/* A column for each sum, for the counters of each port, and for the queue of each priority in use. */
static const char *const sums[] = {
    "shared_bytes",    "shared_peak_bytes", "headroom_peak_bytes", "ecn_marked", "buffer_discards",
    "watchdog_storms", "watchdog_restores", "watchdog_discards",   "rx_pause",   "tx_pause",
};
/* With faults of links, and where deadlocks are asked for. */
static const char *const fault_sums[] = {"link_down_events", "crc_errors", "link_discards", "route_discards"};
static const char *const fault_of_port[] = {"port#_link_down_events", "port#_crc_errors",
                                            "port#_link_discards"};
static const char *const deadlock_sum = "deadlocks";
static const char *const of_port[] = {
    "port#_ecn_marked",
    "port#_discards",
    "port#_tx_bytes",
    "port#_rx_bytes",
};
static const char *const of_queue[] = {
    "port#_prio#_queue_bytes",       "port#_prio#_queue_peak_bytes",
    "port#_prio#_ingress_bytes",     "port#_prio#_paused",
    "port#_rx_prio#_pause",          "port#_tx_prio#_pause",
    "port#_rx_prio#_pause_duration", "port#_tx_prio#_pause_duration",
};
#define COUNT(array)     (sizeof(array) / sizeof *(array))
#define NAME_BYTES       40
#define COLUMNS_PER_PORT (COUNT(of_port) + COUNT(fault_of_port) + COUNT(of_queue) * SIM_PRIORITIES)
#define MOST_SUMS        (COUNT(sums) + COUNT(fault_sums) + 1)

static void add_column(struct fabric_switch *s, const char *pattern, const struct counter *is, uint32_t port,
                       unsigned priority)
{
    char *name = s->column_names + s->column_count * NAME_BYTES;
    counters_instance(name, NAME_BYTES, pattern, port, priority);
    s->columns[s->column_count++] = (struct sim_counter){name, is};
}

static void add_fault_columns(const struct sim *sim, struct fabric_switch *s)
{
    for (size_t i = 0; sim->faults && i < COUNT(fault_sums); i++)
        add_column(s, fault_sums[i], counters_row(fault_sums[i]), 0, 0);
    for (uint32_t p = 0; sim->faults && p < s->port_count; p++)
        for (size_t i = 0; i < COUNT(fault_of_port); i++)
            add_column(s, fault_of_port[i], counters_row(fault_of_port[i]), p, 0);
    if (s->shows_deadlocks)
        add_column(s, deadlock_sum, counters_row(deadlock_sum), 0, 0);
}

static int build_columns(const struct sim *sim, struct fabric_switch *s)
{
    size_t most = MOST_SUMS + s->port_count * COLUMNS_PER_PORT;
    s->columns = calloc(most, sizeof *s->columns);
    s->column_names = calloc(most, NAME_BYTES);
    if (!s->columns || !s->column_names)
        return -1;
    const struct counter *port_rows[COUNT(of_port)], *queue_rows[COUNT(of_queue)];
    for (size_t i = 0; i < COUNT(of_port); i++)
        port_rows[i] = counters_row(of_port[i]);
    for (size_t i = 0; i < COUNT(of_queue); i++)
        queue_rows[i] = counters_row(of_queue[i]);
    for (size_t i = 0; i < COUNT(sums); i++)
        add_column(s, sums[i], counters_row(sums[i]), 0, 0);
    for (uint32_t p = 0; p < s->port_count; p++) {
        for (size_t i = 0; i < COUNT(of_port); i++)
            add_column(s, of_port[i], port_rows[i], p, 0);
        for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++)
            for (size_t i = 0; i < COUNT(of_queue) && s->shown_mask >> priority & 1; i++)
                add_column(s, of_queue[i], queue_rows[i], p, priority);
    }
    add_fault_columns(sim, s);
    return 0;
}

/* Switches that count the same share their columns with the one before. */
static int share_columns(const struct sim *sim, uint32_t index)
{
    struct fabric_switch *s = &sim->switches[index];
    const struct fabric_switch *before = &sim->switches[index ? index - 1 : 0];
    if (!index || before->port_count != s->port_count || before->shown_mask != s->shown_mask ||
        before->shows_deadlocks != s->shows_deadlocks)
        return build_columns(sim, s);
    s->columns = before->columns;
    s->column_names = before->column_names;
    s->column_count = before->column_count;
    return 0;
}

/* `ports`: those of the switch, in the order of the links. */
static int build_switch(struct sim *sim, uint32_t index, const struct sim_switch_config *c,
                        const struct sim_link_config *links, const uint32_t *ports, uint32_t count,
                        struct error *e)
{
    if (check(c, e))
        return -1;
    struct fabric_switch *s = &sim->switches[index];
    const struct physics_switch *physics = &c->physics;
    *s = (struct fabric_switch){.shared_bytes = physics->buffer_bytes,
                                .reserve_bytes = (int32_t)physics->reserve_bytes,
                                .xon_offset_bytes = (int32_t)physics->xon_offset_bytes,
                                .static_xoff_bytes = physics->xoff_bytes,
                                .lossy_alpha = physics->lossy_alpha,
                                .tail_drop_bytes = physics->tail_drop_bytes,
                                .pfc_mask = c->pfc_mask,
                                .shown_mask = c->pfc_mask | sim->flow_priorities | 1,
                                .ecn_mask = physics->ecn.kmax_bytes ? c->ecn_mask : 0,
                                .mark_at_enqueue = physics->ecn.at == ECN_AT_ENQUEUE,
                                .latency_ps = physics->latency_ps,
                                .pipeline.first = NONE,
                                .watchdog = physics->watchdog,
                                .deadlock_ps = physics->deadlock_ps,
                                .shows_deadlocks = physics->deadlock_ps != FIELD_UNSET};
    if (!s->shows_deadlocks)
        s->deadlock_ps = PHYSICS_DEADLOCK_PS;
    if (s->watchdog.restore_ps == FIELD_UNSET)
        s->watchdog.restore_ps = s->watchdog.detect_ps;
    bool ets = false;
    island_enter(sim, SIM_SWITCH, index);
    for (unsigned i = 0; i < SIM_PRIORITIES; i++) {
        s->prio_to_tc[i] = c->prio_to_tc[i];
        s->tc_weight[i] = c->tc_weight[i];
        ets |= c->tc_weight[i] > 0;
    }
    s->ports = calloc(count + 1, sizeof *s->ports);
    if (!s->ports)
        return error_set(e, "simulator: out of memory");
    for (uint32_t i = 0; i < count; i++) {
        s->ports[s->port_count++] = ports[i];
        sim->ports[ports[i]].flags |= ets ? PORT_ETS : 0;
        if (!ets)
            sim->events->events[sim->ports[ports[i]].first_event + PORT_TRANSMIT].kind =
                EVENT_SWITCH_TRANSMIT;
        if (build_port(sim, s, c, ports[i], &links[ports[i] / 2], e))
            return -1;
    }
    if (s->shared_bytes < 0)
        return error_set(e,
                         "switch %s: reserves and headroom of %u ports need %lld B more than its buffer has",
                         c->name, s->port_count, (long long)-s->shared_bytes);
    s->forward_event = events_add(sim->events, EVENT_FORWARD, index);
    s->watchdog_event = events_add(sim->events, EVENT_WATCHDOG, index);
    if (share_columns(sim, index) || s->forward_event == EVENT_NONE || s->watchdog_event == EVENT_NONE)
        return error_set(e, "simulator: out of memory");
    if (s->watchdog.detect_ps)
        event_schedule(sim->events, s->watchdog_event, s->watchdog.detect_ps / 4);
    return 0;
}

/* The ports of switch i, in the order of the links, are ports[first[i]] to ports[first[i + 1] - 1]. `first`
 * has room for one more. */
static void list_ports(const struct sim *sim, uint32_t *first, uint32_t *ports)
{
    for (uint32_t p = 0; p < sim->port_count; p++)
        if (sim->ports[p].node_kind == SIM_SWITCH)
            first[sim->ports[p].node + 2]++;
    for (uint32_t i = 2; i < sim->switch_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t p = 0; p < sim->port_count; p++)
        if (sim->ports[p].node_kind == SIM_SWITCH)
            ports[first[sim->ports[p].node + 1]++] = p;
}

void switches_let_pass(struct sim *sim)
{
    for (uint32_t p = 0; p < sim->port_count; p++) {
        struct port *port = &sim->ports[p];
        if (port->node_kind == SIM_SWITCH && !(port->flags & PORT_INSIDE) && !sim->has_telemetry &&
            !sim->switches[port->node].latency_ps && !sim->switches[port->node].reroutes)
            port->flags |= PORT_PASSES;
    }
}

static int64_t slowest_host_bps(const struct sim *sim)
{
    int64_t slowest = INT64_MAX;
    for (uint32_t i = 0; i < sim->host_count; i++)
        if (sim->ports[sim->hosts[i].port].rate_bps < slowest)
            slowest = sim->ports[sim->hosts[i].port].rate_bps;
    return slowest;
}

int switches_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    if (!config->switch_count)
        return 0;
    sim->switches = calloc(config->switch_count, sizeof *sim->switches);
    sim->switch_ports = array_grow(NULL, 0, sim->port_count * sizeof *sim->switch_ports);
    uint32_t *first = calloc(config->switch_count + 2, sizeof *first),
             *ports = calloc((size_t)sim->port_count + 1, sizeof *ports);
    int result = -1;
    sim->slowest_host_bps = slowest_host_bps(sim);
    sim->bytes += config->switch_count * sizeof *sim->switches + sim->port_count * sizeof *sim->switch_ports;
    if (!sim->switches || !sim->switch_ports || !first || !ports) {
        error_set(e, "simulator: out of memory");
    } else {
        list_ports(sim, first, ports);
        result = 0;
        for (uint32_t i = 0; i < config->switch_count && !result; i++)
            result = build_switch(sim, i, &config->switches[i], config->links, ports + first[i],
                                  first[i + 1] - first[i], e);
    }
    free(first);
    free(ports);
    return result;
}

void switches_free(struct sim *sim)
{
    for (uint32_t i = 0; sim->switches && i < sim->switch_count; i++) {
        free(sim->switches[i].ports);
        if (i && sim->switches[i].columns == sim->switches[i - 1].columns)
            continue; /* shared */
        free(sim->switches[i].columns);
        free(sim->switches[i].column_names);
    }
    free(sim->switches);
    free(sim->switch_ports);
}

/* ---- reading */

size_t sim_switch_counters(const struct sim *sim, uint32_t index, const struct sim_counter **counters)
{
    *counters = sim->switches[index].columns;
    return sim->switches[index].column_count;
}

/* c: of the port on this priority */
static int64_t *queue_values(const struct sim *sim, uint32_t port, unsigned priority,
                             const struct priority_counters *c, int64_t *value)
{
    const struct port *p = &sim->ports[port];
    const struct switch_port *at = &sim->switch_ports[port];
    unsigned queue = queue_of(priority);
    bool paused = pfc_is_paused(p, priority);
    *value++ = p->queues[queue].bytes;
    *value++ = p->queues[queue].peak_bytes;
    *value++ = at->ingress[priority].used + at->ingress[priority].headroom_used;
    *value++ = paused;
    *value++ = c->rx_pause;
    *value++ = c->tx_pause;
    *value++ = c->rx_pause_ps / SIM_PS_PER_US;
    *value++ = c->tx_pause_ps / SIM_PS_PER_US;
    return value;
}

/* As add_fault_columns. */
static void fault_values(const struct sim *sim, const struct fabric_switch *s, int64_t *value)
{
    int64_t *totals = value;
    if (sim->faults) {
        value += COUNT(fault_sums);
        memset(totals, 0, COUNT(fault_sums) * sizeof *totals);
    }
    for (uint32_t i = 0; sim->faults && i < s->port_count; i++) {
        const struct link_end *end = &sim->faults->ends[s->ports[i]];
        const int64_t of_end[COUNT(fault_of_port)] = {end->downs, end->crc_errors,
                                                      sim->switch_ports[s->ports[i]].link_dropped};
        for (size_t k = 0; k < COUNT(fault_of_port); k++) {
            *value++ = of_end[k];
            totals[k] += of_end[k];
        }
    }
    if (sim->faults)
        totals[COUNT(fault_sums) - 1] = s->unroutable;
    if (s->shows_deadlocks)
        *value = s->deadlocks;
}

void sim_switch_values(const struct sim *sim, uint32_t index, int64_t *values)
{
    const struct fabric_switch *s = &sim->switches[index];
    int64_t *value = values + COUNT(sums), marked = 0, dropped = 0, watchdog = 0, rx_pause = 0, tx_pause = 0;
    for (uint32_t i = 0; i < s->port_count; i++) {
        uint32_t port = s->ports[i];
        const struct switch_port *at = &sim->switch_ports[port];
        int64_t tx_bytes = 0, rx_bytes = 0;
        struct priority_counters counters[SIM_PRIORITIES];
        counters_of(sim, port, counters);
        for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++) {
            tx_bytes += counters[priority].tx_bytes;
            rx_bytes += counters[priority].rx_bytes;
            rx_pause += counters[priority].rx_pause;
            tx_pause += counters[priority].tx_pause;
        }
        marked += at->marked;
        dropped += at->dropped;
        watchdog += at->watchdog_dropped;
        *value++ = at->marked;
        *value++ = at->dropped + at->watchdog_dropped + at->link_dropped;
        *value++ = tx_bytes;
        *value++ = rx_bytes;
        for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++)
            if (s->shown_mask >> priority & 1)
                value = queue_values(sim, port, priority, &counters[priority], value);
    }
    const int64_t first[COUNT(sums)] = {s->shared_used, s->peak_bytes, s->headroom_peak, marked,   dropped,
                                        s->storms,      s->restores,   watchdog,         rx_pause, tx_pause};
    for (size_t i = 0; i < COUNT(sums); i++)
        values[i] = first[i];
    fault_values(sim, s, value);
}
