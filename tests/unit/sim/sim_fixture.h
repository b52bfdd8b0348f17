/* Networks for tests of the simulator: one physics for all hosts and switches, flows added one by one. */
#ifndef TESTS_SIM_FIXTURE_H
#define TESTS_SIM_FIXTURE_H

#include "sim/fabric/fabric.h"
#include "sim/congestion/dcqcn.h"
#include "sim/fabric/switch.h"
#include "tests/unit/sim/sim_topology.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>

#define LOSSLESS 3 /* the priority of all flows here */

struct fixture {
    struct sim_config config;
    struct sim_topology topology;
    struct sim_host_config *hosts;
    struct sim_switch_config *switches;
    struct sim_flow_config *flows;
    size_t flow_capacity;
};

/* Hosts without limits of their own and default switches, PFC on priority 3. */
static inline void fixture_open(struct fixture *f, const struct sim_topology *topology)
{
    memset(f, 0, sizeof *f);
    f->topology = *topology;
    sim_config_defaults(&f->config);
    f->config.links = f->topology.links;
    f->config.link_count = f->topology.link_count;
    f->config.host_count = f->topology.host_count;
    f->config.switch_count = f->topology.switch_count;
    f->config.hosts = f->hosts = calloc(f->config.host_count, sizeof *f->hosts);
    f->config.switches = f->switches = calloc(f->config.switch_count + 1, sizeof *f->switches);
    assert_non_null(f->hosts);
    assert_non_null(f->switches);
    for (size_t i = 0; i < f->config.host_count; i++) {
        sim_host_defaults(&f->hosts[i]);
        f->hosts[i].settings.pfc_mask = 1u << LOSSLESS;
    }
    for (size_t i = 0; i < f->config.switch_count; i++) {
        sim_switch_defaults(&f->switches[i]);
        f->switches[i].pfc_mask = 1u << LOSSLESS;
    }
}

/* One more flow; endless streams of 1 MB messages when bytes is 0. */
static inline struct sim_flow_config *fixture_flow(struct fixture *f, uint32_t from, uint32_t to,
                                                   int64_t bytes)
{
    if (f->config.flow_count == f->flow_capacity) {
        f->flow_capacity = f->flow_capacity ? f->flow_capacity * 2 : 64;
        f->flows = realloc(f->flows, f->flow_capacity * sizeof *f->flows);
        assert_non_null(f->flows);
        f->config.flows = f->flows;
    }
    struct sim_flow_config *flow = &f->flows[f->config.flow_count++];
    sim_flow_defaults(flow);
    flow->from = from;
    flow->to = to;
    flow->priority = LOSSLESS;
    flow->payload_bytes = 1000;
    flow->message_bytes = bytes ? bytes : 1000000;
    flow->depth = bytes ? 1 : 1000;
    flow->message_count = bytes ? 1 : 0;
    return flow;
}

static inline struct sim *fixture_start(const struct fixture *f)
{
    struct error e;
    struct sim *sim = sim_new(&f->config, &e);
    if (!sim)
        fail_msg("%s", e.text);
    return sim;
}

static inline void fixture_run(struct sim *sim, int64_t until_ps)
{
    struct error e;
    if (sim_run_until(sim, until_ps, &e))
        fail_msg("%s", e.text);
}

static inline void fixture_close(struct fixture *f)
{
    free(f->hosts);
    free(f->switches);
    free(f->flows);
    sim_topology_free(&f->topology);
}

/* The sum of a counter over all hosts, or over all switches. */
static inline int64_t counter_of(const struct sim *sim, bool switches, uint32_t index, const char *name)
{
    const struct sim_counter *columns;
    size_t count =
        switches ? sim_switch_counters(sim, index, &columns) : sim_host_counters(sim, index, &columns);
    int64_t *values = calloc(count, sizeof *values), value = -1;
    assert_non_null(values);
    switches ? sim_switch_values(sim, index, values) : sim_host_values(sim, index, values);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(columns[i].name, name))
            value = values[i];
    free(values);
    assert_true(value >= 0);
    return value;
}

static inline int64_t hosts_counter(const struct fixture *f, const struct sim *sim, const char *name)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < f->config.host_count; i++)
        sum += counter_of(sim, false, i, name);
    return sum;
}

static inline int64_t switches_counter(const struct fixture *f, const struct sim *sim, const char *name)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < f->config.switch_count; i++)
        sum += counter_of(sim, true, i, name);
    return sum;
}

/* ---- what is not shown, but asserted */

/* Payload that a flow's receivers have acknowledged, whole messages or not. */
static inline int64_t flow_acked_bytes(const struct sim *sim, size_t f)
{
    const struct flow *flow = &sim->flows[f];
    int64_t sum = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++)
        sum += qp_bytes_before(&sim->qps[q], sim->qps[q].acked_psn);
    return sum;
}

static inline double flow_gauge(const struct sim *sim, size_t f, const char *name)
{
    for (size_t i = 0; i < sim_flow_gauges(sim, f); i++)
        if (!strcmp(sim_flow_gauge_name(sim, f, i), name))
            return sim_flow_gauge_value(sim, f, i);
    fail_msg("flow %zu has no gauge %s", f, name);
    return 0;
}

/* The bytes of one egress queue of a switch, and the most that it held. */
static inline const struct queue *queue_of_switch(const struct sim *sim, uint32_t index, uint32_t port,
                                                  unsigned priority)
{
    return &sim->ports[sim->switches[index].ports[port]].queues[queue_of(priority)];
}

static inline int64_t switch_queue_bytes(const struct sim *sim, uint32_t index, uint32_t port,
                                         unsigned priority)
{
    return queue_of_switch(sim, index, port, priority)->bytes;
}

static inline int64_t switch_queue_peak_bytes(const struct sim *sim, uint32_t index, uint32_t port,
                                              unsigned priority)
{
    return queue_of_switch(sim, index, port, priority)->peak_bytes;
}

/* The physics of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control, ns-3.17 based, state of
 * March 2021) with its DCQCN at the parameters that the reference figures were taken with, scaled by the
 * links' rate. */
static inline void fixture_hpcc(struct fixture *f, bool ecn)
{
    int64_t rate_bps = f->topology.links[0].rate_bps;
    double scale = (double)rate_bps / 100e9;
    f->config.truncate_to_ns = true;
    f->config.udp_destination_port = 100;
    f->config.framing = (struct physics_framing){.data_bytes = 48,
                                                 .pad_bytes = 1,
                                                 .ack_bytes = 46,
                                                 .ack_minimum_bytes = 60,
                                                 .cnp_bytes = 60,
                                                 .pfc_bytes = 43,
                                                 .minimum_bytes = 1};
    for (size_t i = 0; i < f->config.host_count; i++) {
        struct sim_host_config *h = &f->hosts[i];
        h->nic.ack_every_packets = 1;
        h->nic.ack_coalescing = false;
        h->nic.congestion_on_ack = true;
        h->nic.gap_held = true;
        h->nic.pause_quanta = 0;
        h->nic.ack_timeout_ps = SIM_PS_PER_S;
        h->settings.ecn_rp_mask = h->settings.ecn_np_mask = ecn ? 1u << LOSSLESS : 0;
        h->settings.dcqcn.rp.rpg_byte_reset = 0;
        h->settings.dcqcn.rp.rpg_ai_rate = (int32_t)(20 * scale);
        h->settings.dcqcn.rp.rpg_hai_rate = (int32_t)(200 * scale);
        h->settings.dcqcn.rp.rpg_min_rate = 1000;
        h->settings.dcqcn.rp.dce_tcp_g = 1020;
    }
    for (size_t i = 0; i < f->config.switch_count; i++) {
        struct sim_switch_config *s = &f->switches[i];
        s->physics.buffer_bytes = (int64_t)((32 << 20) * scale);
        s->physics.pause_quanta = 0;
        s->physics.headroom_delays = 3;
        s->physics.alpha_follows_rate = true;
        s->physics.ecn = (struct physics_ecn){.kmin_bytes = 400000,
                                              .kmax_bytes = ecn ? 1600000 : 0,
                                              .pmax = 0.2,
                                              .reference_bps = INT64_C(100000000000)};
    }
}

#endif
