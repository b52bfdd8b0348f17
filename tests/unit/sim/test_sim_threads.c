/* Results and captures do not depend on the number of threads, and results not on captures: every scenario of
 * scenarios/ on a simulated lab, a lossy fat tree, and one of congestion controls that listen to ACKs. */
#include "tests/unit/sim/sim_scenario.h"
#include "lib/statistics/histogram.h"
#include "sim/capture.h"
#include "sim/faults/faults.h"
#include "sim/islands/team.h"
#include <glob.h>

#define US SIM_PS_PER_US

/* ---- a fingerprint of all that can be read of a simulation */

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 29;
}

typedef size_t columns_of(const struct sim *sim, uint32_t index, const struct sim_counter **columns);
typedef void values_of(const struct sim *sim, uint32_t index, int64_t *values);

static void mix_nodes(uint64_t *hash, const struct sim *sim, size_t count, columns_of *columns,
                      values_of *read)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_counter *names;
        size_t n = columns(sim, i, &names);
        int64_t *values = calloc(n + 1, sizeof *values);
        assert_non_null(values);
        read(sim, i, values);
        for (size_t k = 0; k < n; k++)
            mix(hash, (uint64_t)values[k]);
        free(values);
    }
}

static void mix_flows(uint64_t *hash, const struct sim *sim, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_flow_stats s;
        sim_flow_stats(sim, i, &s);
        const int64_t values[] = {s.bytes,      s.messages,        s.retransmitted_packets,
                                  s.last_ps,    s.finished_ps,     flow_acked_bytes(sim, i),
                                  s.started_ps, s.delivered_bytes, s.marked_packets,
                                  s.decreases,  s.increases,       s.failed,
                                  s.failed_ps};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            mix(hash, (uint64_t)values[k]);
        for (size_t g = 0; g < sim_flow_gauges(sim, i); g++) {
            double value = sim_flow_gauge_value(sim, i, g);
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            mix(hash, bits);
        }
        const struct histogram *latency = sim_flow_latency(sim, i);
        if (latency)
            mix(hash, (uint64_t)histogram_quantile(latency, 0.99));
    }
}

static void mix_streamed(void *context, const struct sim_streamed *flow)
{
    uint64_t *sum = context, hash = flow->number;
    mix(&hash, (uint64_t)flow->stats.bytes);
    mix(&hash, (uint64_t)flow->stats.finished_ps);
    *sum += hash; /* in any order */
}

static void mix_pauses(uint64_t *hash, const struct sim *sim)
{
    const struct sim_pause *pauses;
    size_t count = sim_pauses(sim, &pauses);
    mix(hash, count);
    for (size_t i = 0; i < count; i++) {
        mix(hash, (uint64_t)pauses[i].start_ps);
        mix(hash, (uint64_t)pauses[i].end_ps);
        mix(hash, (uint64_t)pauses[i].node.kind << 32 | pauses[i].node.index);
        mix(hash, (uint64_t)pauses[i].port << 32 | pauses[i].priority);
    }
}

static void mix_deadlocks(uint64_t *hash, struct sim *sim)
{
    struct sim_deadlock found;
    while (sim_next_deadlock(sim, &found)) {
        mix(hash, (uint64_t)found.since_ps);
        for (size_t i = 0; i < found.count; i++)
            mix(hash, (uint64_t)found.switches[i].index << 32 | found.ports[i]);
    }
}

static void mix_captured(uint64_t *hash, const struct sim *sim)
{
    const struct sim_captured_at *frames;
    size_t count = sim_captured(sim, &frames);
    mix(hash, count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_captured *f = frames[i].frame;
        mix(hash, (uint64_t)f->time_ps);
        mix(hash, (uint64_t)f->place << 32 | f->qp);
        mix(hash, (uint64_t)f->psn << 32 | (uint32_t)f->kind << 16 | (uint32_t)f->priority << 8 | f->flags);
    }
}

/* Of what was captured: *captured, 0 if nothing is to be. Twice in the run, the second half in steps. */
static uint64_t fingerprint(const struct sim_config *config, uint32_t threads, int64_t until_ps,
                            uint64_t *hops, uint32_t *used, uint64_t *captured)
{
    struct sim_config c = *config;
    static bool ports[4096];
    struct sim_capture_config capture = {.ports = ports, .priorities = UINT8_MAX, .until_ps = SIM_FOREVER};
    assert_in_range(2 * c.link_count, 1, sizeof ports);
    memset(ports, true, sizeof ports);
    if (*captured)
        c.capture = &capture;
    struct sim_work work;
    struct error e = {""};
    uint64_t hash = 1;
    c.threads = threads;
    struct sim *sim = sim_new(&c, &e);
    if (!sim) {
        fail_msg("%s", e.text);
        return 0;
    }
    *used = sim->team->count;
    for (int64_t part = 4; part <= 8; part++) {
        fixture_run(sim, until_ps / 8 * part);
        mix_nodes(&hash, sim, c.host_count, sim_host_counters, sim_host_values);
        mix_nodes(&hash, sim, c.switch_count, sim_switch_counters, sim_switch_values);
        mix_nodes(&hash, sim, c.bridge_count, sim_bridge_counters, sim_bridge_values);
        mix_flows(&hash, sim, c.flow_count);
        sim_stream_alive(sim, mix_streamed, &hash);
        mix_pauses(&hash, sim);
        mix_deadlocks(&hash, sim);
        if (*captured)
            mix_captured(captured, sim);
    }
    sim_work(sim, &work);
    mix(&hash, work.hops);
    *hops = work.hops;
    sim_free(sim);
    return hash;
}

/* Returns how many threads could be used of seven. */
static uint32_t expect_equal(const char *name, const struct sim_config *config, int64_t until_ps)
{
    uint32_t used = 0;
    static const uint32_t threads[] = {1, 2, 3, 7};
    uint64_t hops = 0, others, none = 0, first = 1;
    uint64_t one = fingerprint(config, 1, until_ps, &hops, &used, &none);
    assert_int_equal(used, 1);
    if (!hops)
        fail_msg("%s: nothing happens in %lld us", name, (long long)(until_ps / US));
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        uint64_t captured = !config->stream; /* whose flows cannot be captured */
        if (fingerprint(config, threads[i], until_ps, &others, &used, &captured) != one)
            fail_msg("%s: %u threads with a capture differ from one without (%llu hops, %llu)", name,
                     threads[i], (unsigned long long)others, (unsigned long long)hops);
        first = i ? first : captured;
        if (captured != first || captured == 1)
            fail_msg("%s: %u threads capture other frames than one", name, threads[i]);
    }
    return used;
}

/* ---- the cases */

static bool is_simulated(const char *path)
{
    char text[4096] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return strstr(text, "\"lab\": \"labs/sim-");
}

static void scenarios(void **state)
{
    (void)state;
    glob_t found;
    size_t count = 0, on_seven = 0;
    assert_int_equal(glob("scenarios/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct scenario_fixture s;
        if (!is_simulated(found.gl_pathv[i]))
            continue;
        scenario_open(&s, found.gl_pathv[i]);
        s.setup.config.pause_log_capacity = 1000;
        on_seven += 7 == expect_equal(found.gl_pathv[i], &s.setup.config,
                                      (s.setup.config.host_count > 20 ? 200 : 1000) * US);
        scenario_close(&s);
        count++;
    }
    assert_true(count > 10 && on_seven > 5);
    globfree(&found);
}

/* Random loss and marks on every link, PCIe, reads, writes and a ping-pong, on a clock of picoseconds. */
static void lossy_fat_tree(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_fat_tree(&t, 4, INT64_C(100000000000), US, &e), 0);
    for (size_t i = 0; i < t.link_count; i++)
        t.links[i].loss_per_billion = 200000;
    fixture_open(&f, &t);
    for (uint32_t h = 0; h < t.host_count; h++) {
        f.hosts[h].pcie.generation = h % 3 ? 0 : 4;
        f.hosts[h].nic.ack_timeout_ps = 100 * US;
        f.hosts[h].settings.ecn_rp_mask = f.hosts[h].settings.ecn_np_mask = 1u << LOSSLESS;
        f.hosts[h].software.jitter_ps = 40 * SIM_PS_PER_NS;
        if (h % 2) { /* a NIC with its own times */
            f.hosts[h].nic.unmarked_cnps = UNMARKED_CNPS_LOSS;
            f.hosts[h].nic.unmarked_cnp_interval_ps = 20 * US;
            f.hosts[h].nic.cnp_delay_ps = 5 * US;
            f.hosts[h].nic.nak_delay_ps = 3 * US;
            f.hosts[h].nic.nak_again_ps = 30 * US;
            f.hosts[h].nic.burst_bytes = 8000;
            f.hosts[h].nic.jitter_ps = 500;
        }
        struct sim_flow_config *flow = fixture_flow(&f, h, h % 4 ? 0 : (h + 5) % t.host_count, 0);
        if (flow->from == flow->to)
            flow->to = 1;
        flow->operation = h == 9 ? SIM_READ : SIM_WRITE;
        if (h == 10)
            flow->mode = SIM_PING_PONG;
        flow->record_latency = h == 10;
    }
    for (size_t i = 0; i < f.config.switch_count; i++)
        f.switches[i].physics.ecn =
            (struct physics_ecn){.kmin_bytes = 5000, .kmax_bytes = 200000, .pmax = 0.1};
    f.config.pause_log_capacity = 100; /* fewer than there are */
    assert_int_equal(expect_equal("lossy fat tree", &f.config, 500 * US), 7);
    fixture_close(&f);
}

/* Links that flap, lose frames and are slow, adaptive routing, retries that end, and routes that follow at
 * different times. */
static void faulty_fat_tree_of(bool selective)
{
    struct fixture f;
    struct sim_topology t;
    struct error e;
    struct sim_link_state states[256];
    size_t count = 0;
    assert_int_equal(sim_topology_fat_tree(&t, 4, INT64_C(100000000000), US, &e), 0);
    fixture_open(&f, &t);
    for (uint32_t link = 0; link < t.link_count; link += 3)
        for (int64_t i = 0; i < 6; i++)
            states[count++] = (struct sim_link_state){.link = link,
                                                      .at_ps = (20 + 7 * (int64_t)link % 30 + 60 * i) * US,
                                                      .up = i % 2,
                                                      .rate_bps = i == 2 || i == 3 ? INT64_C(25000000000) : 0,
                                                      .loss = {.good = i == 1 ? 0.01 : 0,
                                                               .bad = i == 3 ? 1 : 0,
                                                               .to_bad = i == 3 ? 0.01 : 0,
                                                               .to_good = 0.2}};
    f.config.link_states = states;
    f.config.link_state_count = count;
    for (uint32_t h = 0; h < t.host_count; h++) {
        f.hosts[h].nic.ack_timeout_ps = 30 * US;
        f.hosts[h].nic.retry_count = h % 3;
        if (selective) {
            f.hosts[h].nic.recovery = PHYSICS_SELECTIVE_REPEAT;
            f.hosts[h].nic.out_of_order_placement = h % 2;
            f.hosts[h].nic.recovery_window_packets = 40 + 10 * h;
            f.hosts[h].nic.reorder_wait_ps = 10 * US;
            f.hosts[h].nic.min_ack_timeout_limit_disabled = h % 4 == 1;
            f.hosts[h].nic.slow_restart = f.hosts[h].nic.slow_restart_on_nak = h % 4 == 2;
        }
        f.hosts[h].settings.ecn_rp_mask = f.hosts[h].settings.ecn_np_mask = 1u << LOSSLESS;
        fixture_flow(&f, h, (h + 5) % t.host_count, 0)->operation = h % 5 == 4 ? SIM_READ : SIM_WRITE;
        fixture_flow(&f, h, (h + 9) % t.host_count, 0);
    }
    for (size_t i = 0; i < f.config.switch_count; i++) {
        f.switches[i].physics.convergence_ps = (int64_t)(5 + 3 * i) * US;
        f.switches[i].physics.routing = i % 2 ? ROUTING_ADAPTIVE : ROUTING_ECMP;
        f.switches[i].physics.ecn =
            (struct physics_ecn){.kmin_bytes = 5000, .kmax_bytes = 200000, .pmax = 0.1};
        f.switches[i].physics.deadlock_ps = 20 * US;
    }
    f.config.pause_log_capacity = 1000;
    assert_int_equal(expect_equal("faulty fat tree", &f.config, 600 * US), 7);
    fixture_close(&f);
}

static void faulty_fat_tree(void **state)
{
    (void)state;
    faulty_fat_tree_of(false);
    faulty_fat_tree_of(true);
}

/* Telemetry of several switches, in data and in ACKs, and flows that wait for others at both ends. */
static void telemetry_and_waits(void **state)
{
    (void)state;
    static const char *const controls[] = {"hpcc", "hpcc", "dctcp", "timely_vwin", "dcqcn_vwin"};
    struct fixture f;
    struct sim_topology t;
    struct error e;
    struct sim_wait waits[16];
    assert_int_equal(sim_topology_fat_tree(&t, 4, INT64_C(100000000000), US, &e), 0);
    fixture_open(&f, &t);
    for (uint32_t h = 0; h < 16; h++) {
        struct sim_settings *s = &f.hosts[h].settings;
        s->congestion_control = sim_congestion_control(controls[h % 5]);
        s->ecn_rp_mask = s->ecn_np_mask = 1u << LOSSLESS;
        waits[h] = (struct sim_wait){.flow = h, .delay_ps = h * US};
        fixture_flow(&f, h, h % 3 ? (h + 5) % 16 : (h + 8) / 8 * 8 % 16, 200000 + 1000 * (int64_t)h);
    }
    for (uint32_t h = 0; h < 32; h++) { /* h below 16: who received goes on; else: who sent */
        uint32_t first = h % 16, from = h < 16 ? f.flows[first].to : first;
        struct sim_flow_config *next = fixture_flow(&f, from, (from + 7) % 16, 100000);
        next->waits = &waits[first];
        next->wait_count = 1;
    }
    for (size_t i = 0; i < f.config.switch_count; i++)
        f.switches[i].physics.ecn =
            (struct physics_ecn){.kmin_bytes = 5000, .kmax_bytes = 200000, .pmax = 0.1};
    assert_int_equal(expect_equal("telemetry and waits", &f.config, 300 * US), 7);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenarios),
        cmocka_unit_test(lossy_fat_tree),
        cmocka_unit_test(faulty_fat_tree),
        cmocka_unit_test(telemetry_and_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
