/*
 * The simulator against the HPCC simulator, with its physics (sim_fixture.h). Figures: runs of that
 * simulator, for the statistics means over its seeds 1 to 8 (A), 1 to 6 (B), 1 to 4 (C), 4 to 16 of them in
 * the other cases. docs/simulator-reference.md has the table.
 */
#include "tests/unit/sim/sim_scenario.h"
#include "lib/roce/ecmp.h"
#include <math.h>
#include <stdio.h>

#define US      SIM_PS_PER_US
#define MS      (1000 * SIM_PS_PER_US)
#define GBPS(x) ((x)*INT64_C(1000000000))
#define ENDLESS 0

static void assert_within(const char *what, double value, double expected, double share)
{
    if (!(fabs(value - expected) <= share * fabs(expected)))
        fail_msg("%s: %g, expected %g within %g %%", what, value, expected, share * 100);
}

static void open_star(struct fixture *f, uint32_t hosts, int64_t rate_bps, bool ecn)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, hosts, rate_bps, US, &e), 0);
    fixture_open(f, &t);
    fixture_hpcc(f, ecn);
}

static void open_leaf_spine(struct fixture *f)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_leaf_spine(&t, 4, 8, 8, GBPS(100), US, &e), 0);
    fixture_open(f, &t);
    fixture_hpcc(f, true);
}

/* ---- one flow alone */

static int64_t completion_ns(struct fixture *f, uint32_t from, uint32_t to, int64_t bytes)
{
    struct sim_flow_stats stats;
    fixture_flow(f, from, to, bytes);
    struct sim *sim = fixture_start(f);
    fixture_run(sim, 20 * MS);
    sim_flow_stats(sim, 0, &stats);
    assert_within("ideal time", (double)sim_flow_ideal_ps(sim, 0), (double)stats.finished_ps, 0.002);
    sim_free(sim);
    fixture_close(f);
    return stats.finished_ps / SIM_PS_PER_NS;
}

static void test_completion_times(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes, star_100g_ns, leaf_spine_ns, star_25g_ns;
    } rows[] = {
        {1, 4014, 8028, 4068},     {1000, 4174, 8348, 4708},        {1001, 4178, 8352, 4727},
        {10000, 4921, 9095, 7723}, {1000000, 87091, 91265, 339373}, {10000000, 834091, 838265, 3354373},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        open_star(&f, 3, GBPS(100), true);
        assert_int_equal(completion_ns(&f, 0, 2, rows[i].bytes), rows[i].star_100g_ns);
        open_leaf_spine(&f);
        assert_int_equal(completion_ns(&f, 0, 8, rows[i].bytes), rows[i].leaf_spine_ns);
        open_star(&f, 3, GBPS(25), true);
        assert_int_equal(completion_ns(&f, 0, 2, rows[i].bytes), rows[i].star_25g_ns);
    }
}

static void test_ecmp_hash(void **state)
{
    (void)state;
    static const uint32_t spines[32] = {5, 0, 7, 7, 6, 1, 5, 7, 4, 3, 6, 3, 6, 0, 0, 5,
                                        3, 0, 7, 0, 0, 7, 1, 4, 6, 3, 6, 3, 7, 6, 6, 3};
    for (uint32_t h = 0; h < 32; h++) {
        uint32_t to = (h + 8) % 32;
        const uint32_t key[3] = {0x0b000001 + (h << 8), 0x0b000001 + (to << 8), 10000 | 100 << 16};
        assert_int_equal(ecmp_hash(key, 32 + h / 8) % 8, spines[h]);
    }
}

/* ---- B with ECN off: PFC alone */

static void check_queue_over_time(struct sim *sim)
{
    static const struct {
        int64_t us, bytes;
    } rows[] = {{2, 188640}, {5, 754560}, {10, 1697760}, {50, 9274800}, {100, 18738240}, {120, 22360128}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_run(sim, rows[i].us * US);
        assert_within("queue", (double)switch_queue_bytes(sim, 0, 16, LOSSLESS), (double)rows[i].bytes,
                      0.001);
    }
}

static void check_pauses(const struct sim *sim)
{
    const struct sim_pause *pauses;
    size_t count = sim_pauses(sim, &pauses);
    int64_t first_ps = SIM_FOREVER, first_resume_ps = SIM_FOREVER;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pauses[i].node.kind, SIM_HOST);
        if (pauses[i].start_ps < first_ps)
            first_ps = pauses[i].start_ps;
        if (pauses[i].end_ps < first_resume_ps)
            first_resume_ps = pauses[i].end_ps;
    }
    assert_within("first pause in ns", (double)first_ps / 1e3, 118037, 0.001);
    assert_within("first resume in ns", (double)first_resume_ps / 1e3, 153561, 0.001);
    assert_within("resumes", (double)count, 3669, 0.015);
}

static void test_pfc_alone(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 17, GBPS(100), false);
    f.config.pause_log_capacity = 10000;
    for (uint32_t h = 0; h < 16; h++)
        fixture_flow(&f, h, 16, ENDLESS);
    struct sim *sim = fixture_start(&f);
    check_queue_over_time(sim);
    fixture_run(sim, 10 * MS);
    check_pauses(sim);
    /* rx_prio3_pause counts both kinds of frames. */
    int64_t transitions = hosts_counter(&f, sim, "rx_prio3_pause_transition");
    assert_within("pauses", (double)(hosts_counter(&f, sim, "rx_prio3_pause") - transitions), 3682, 0.015);
    assert_within("peak", (double)switch_queue_peak_bytes(sim, 0, 16, LOSSLESS), 22366416, 0.015);
    assert_within("time paused in us", (double)hosts_counter(&f, sim, "rx_prio3_pause_duration"),
                  0.928 * 16e4, 0.015);
    assert_int_equal(switches_counter(&f, sim, "buffer_discards"), 0);
    for (size_t i = 0; i < 16; i++) {
        double acked_kb = (double)flow_acked_bytes(sim, i) / 1000;
        assert_true(acked_kb > 7496 * 0.985 && acked_kb < 7546 * 1.015);
    }
    sim_free(sim);
    fixture_close(&f);
}

/* Pauses that spread: 15 hosts at 25 Gb/s send to one, over two spines at 100 Gb/s. */
static void test_pfc_over_hops(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_topology t;
    struct error e;
    static const int64_t acked_kb[15] = {1473, 1472, 1472, 529, 529, 528, 4676, 529,
                                         529,  528,  528,  529, 528, 528, 528};
    assert_int_equal(sim_topology_leaf_spine(&t, 4, 4, 2, GBPS(25), US, &e), 0);
    for (size_t i = 16; i < t.link_count; i++)
        t.links[i].rate_bps = GBPS(100);
    fixture_open(&f, &t);
    fixture_hpcc(&f, false);
    for (uint32_t h = 1; h < 16; h++)
        fixture_flow(&f, h, 0, ENDLESS);
    f.config.pause_log_capacity = 10000;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 5 * MS);
    for (size_t i = 0; i < 15; i++)
        assert_within("acknowledged kB", (double)flow_acked_bytes(sim, i) / 1000, (double)acked_kb[i], 0.015);
    const struct sim_pause *pauses;
    size_t count = sim_pauses(sim, &pauses);
    assert_within("resumes", (double)count, 1242, 0.015);
    for (size_t i = 0; i < count; i++)
        if (pauses[i].node.kind == SIM_SWITCH)
            assert_true(pauses[i].start_ps >= 191420 * SIM_PS_PER_NS);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- with DCQCN */

#define SEEDS      5
#define MANY_SEEDS 20 /* where single runs differ much */
#define MOST_FLOWS 32
#define MOST_PORTS 256
#define SAMPLE_PS  US

struct figures {
    double goodput_gbps, second_half_gbps, jain, queue_mean_kb, queue_p90_kb, marked, decreases;
    double pauses; /* expected: 0 for none, anything else for some */
};

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Of the port with the longest queue on average, over samples a microsecond apart. */
static void queue_figures(uint32_t *samples, size_t ports, size_t count, struct figures *sum)
{
    double longest = -1;
    size_t worst = 0;
    for (size_t p = 0; p < ports; p++) {
        double mean = 0;
        for (size_t i = 0; i < count; i++)
            mean += samples[p * count + i];
        if (mean > longest) {
            longest = mean;
            worst = p;
        }
    }
    qsort(samples + worst * count, count, sizeof *samples, compare);
    sum->queue_mean_kb += longest / (double)count / 1000;
    size_t at = worst * count + count * 9 / 10;
    sum->queue_p90_kb += samples[at] / 1000.0;
}

static size_t sample_queues(const struct fixture *f, const struct sim *sim, const size_t *ports_of,
                            uint32_t *samples, size_t count, size_t at)
{
    size_t port = 0;
    for (uint32_t s = 0; s < f->config.switch_count; s++)
        for (uint32_t p = 0; p < ports_of[s]; p++)
            samples[port++ * count + at] = (uint32_t)switch_queue_bytes(sim, s, p, LOSSLESS);
    return port;
}

static void count_ports(const struct fixture *f, size_t *ports_of)
{
    for (size_t i = 0; i < f->config.link_count; i++) {
        const struct sim_link_config *link = &f->config.links[i];
        ports_of[link->b.index]++;
        if (link->a.kind == SIM_SWITCH)
            ports_of[link->a.index]++;
    }
}

static void flow_figures(const struct fixture *f, const struct sim *sim, const int64_t *half,
                         double duration_s, struct figures *sum)
{
    double total = 0, squares = 0, second = 0;
    int64_t marked = 0;
    for (size_t i = 0; i < f->config.flow_count; i++) {
        int64_t bytes = flow_acked_bytes(sim, i);
        double gbps = (double)bytes * 8 / duration_s / 1e9;
        total += gbps;
        squares += gbps * gbps;
        second += (double)(bytes - half[i]) * 8 / (duration_s / 2) / 1e9;
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        assert_true(stats.delivered_bytes >= bytes);
        sum->decreases += (double)stats.decreases;
        marked += stats.marked_packets;
    }
    assert_int_equal(marked, hosts_counter(f, sim, "np_ecn_marked_roce_packets"));
    sum->goodput_gbps += total;
    sum->second_half_gbps += second;
    sum->jain += total * total / squares / (double)f->config.flow_count;
    sum->marked += (double)hosts_counter(f, sim, "rp_cnp_handled");
}

static void run_seed(struct fixture *f, uint64_t seed, int64_t duration_ps, struct figures *sum)
{
    int64_t half[MOST_FLOWS] = {0};
    size_t ports_of[64] = {0}, ports = 0, count = (size_t)(duration_ps / SAMPLE_PS);
    uint32_t *samples = calloc(MOST_PORTS * count, sizeof *samples);
    assert_non_null(samples);
    count_ports(f, ports_of);
    f->config.seed = seed;
    struct sim *sim = fixture_start(f);
    for (size_t i = 0; i < count; i++) {
        ports = sample_queues(f, sim, ports_of, samples, count, i);
        fixture_run(sim, (int64_t)(i + 1) * SAMPLE_PS);
        for (size_t k = 0; k < f->config.flow_count && i + 1 == count / 2; k++)
            half[k] = flow_acked_bytes(sim, k);
    }
    assert_true(ports <= MOST_PORTS);
    queue_figures(samples, ports, count, sum);
    flow_figures(f, sim, half, (double)duration_ps / 1e12, sum);
    sum->pauses += (double)switches_counter(f, sim, "tx_pause");
    assert_int_equal(switches_counter(f, sim, "buffer_discards"), 0);
    sim_free(sim);
    free(samples);
}

static void check_figures(struct fixture *f, int64_t duration_ps, const struct figures *expected, double jain,
                          unsigned seeds)
{
    struct figures sum = {0};
    if (SANITIZED) {
        run_seed(f, 1, duration_ps / 4, &sum);
        return;
    }
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run_seed(f, seed, duration_ps, &sum);
    print_message(
        "# goodput %.2f, 2nd half %.2f, Jain %.4f, queue %.1f, 90 %% %.0f, marked %.0f, decreases %.0f\n",
        sum.goodput_gbps / seeds, sum.second_half_gbps / seeds, sum.jain / seeds, sum.queue_mean_kb / seeds,
        sum.queue_p90_kb / seeds, sum.marked / seeds, sum.decreases / seeds);
    assert_within("goodput", sum.goodput_gbps / seeds, expected->goodput_gbps, 0.015);
    assert_within("goodput of the second half", sum.second_half_gbps / seeds, expected->second_half_gbps,
                  0.015);
    assert_true(fabs(sum.jain / seeds - expected->jain) <= jain);
    assert_within("mean queue", sum.queue_mean_kb / seeds, expected->queue_mean_kb, 0.2);
    assert_within("90 % of queue", sum.queue_p90_kb / seeds, expected->queue_p90_kb, 0.2);
    assert_within("marked ACKs", sum.marked / seeds, expected->marked, 0.2);
    assert_within("decreases", sum.decreases / seeds, expected->decreases, 0.2);
    assert_int_equal(sum.pauses > 0, expected->pauses > 0);
}

/* A, B and C are what bench_sim measures the speed of. */
static void check_scenario(const char *path, int64_t duration_ps, const struct figures *expected, double jain)
{
    struct scenario_fixture s;
    scenario_open(&s, path);
    check_figures(&s.f, duration_ps, expected, jain, SEEDS);
    scenario_close(&s);
}

static void test_a(void **state)
{
    (void)state;
    struct fixture f;
    static const struct figures at_25g = {23.25, 23.80, 0.9987, 66.7, 147.1, 502, 457, 0};
    static const struct figures at_100g = {92.86, 95.84, 0.9998, 180.5, 461, 566, 440, 0};
    open_star(&f, 3, GBPS(25), true);
    fixture_flow(&f, 0, 2, ENDLESS);
    fixture_flow(&f, 1, 2, ENDLESS);
    check_figures(&f, 20 * MS, &at_25g, 0.01, SEEDS);
    fixture_close(&f);
    check_scenario("scenarios/hpcc-two-to-one.json", 20 * MS, &at_100g, 0.01);
}

static void test_b(void **state)
{
    (void)state;
    static const struct figures expected = {86.72, 93.60, 0.9946, 692, 1700, 16097, 6740, 0};
    check_scenario("scenarios/hpcc-incast-dcqcn.json", 10 * MS, &expected, 0.01);
}

static void test_c(void **state)
{
    (void)state;
    static const struct figures expected = {1494.5, 1592.1, 0.755, 301, 705, 7137, 2895, 0};
    check_scenario("scenarios/hpcc-leaf-spine.json", 5 * MS, &expected, 0.05);
}

/* ---- other cases */

/* Eight flows at 40 Gb/s, with timers of 50 us and more, five stages, and a least rate at which a gap
 * outlasts the timers. */
static void test_slow_timers(void **state)
{
    (void)state;
    struct fixture f;
    static const struct figures expected = {36.35, 37.76, 0.992, 279, 1045, 20974, 1274, 0};
    open_star(&f, 9, GBPS(40), true);
    for (size_t i = 0; i < 9; i++) {
        struct dcqcn_rp *rp = &f.hosts[i].settings.dcqcn.rp;
        rp->rpg_time_reset = rp->dce_tcp_rtt = 55;
        rp->rate_reduce_monitor_period = 50;
        rp->rpg_threshold = 5;
        rp->rpg_ai_rate = rp->rpg_min_rate = 40;
        rp->rpg_hai_rate = 400;
    }
    f.switches[0].physics.buffer_bytes = 12 << 20;
    f.switches[0].physics.ecn = (struct physics_ecn){.kmin_bytes = 50000, .kmax_bytes = 200000, .pmax = 0.1};
    for (uint32_t h = 0; h < 8; h++)
        fixture_flow(&f, h, 8, ENDLESS);
    check_figures(&f, 20 * MS, &expected, 0.01, SEEDS);
    fixture_close(&f);
}

/* Pauses and marks together: 15 hosts at 25 Gb/s to one, over two spines at 100 Gb/s. */
static void test_mixed_rates(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_topology t;
    struct error e;
    static const struct figures expected = {20.96, 19.33, 0.962, 899, 2505, 8973, 7306, 48};
    assert_int_equal(sim_topology_leaf_spine(&t, 4, 4, 2, GBPS(25), US, &e), 0);
    for (size_t i = 16; i < t.link_count; i++)
        t.links[i].rate_bps = GBPS(100);
    fixture_open(&f, &t);
    fixture_hpcc(&f, true);
    for (size_t i = 0; i < 16; i++)
        f.hosts[i].settings.dcqcn.rp.rpg_min_rate = 100;
    for (uint32_t h = 1; h < 16; h++)
        fixture_flow(&f, h, 0, ENDLESS);
    check_figures(&f, 5 * MS, &expected, 0.05, MANY_SEEDS);
    fixture_close(&f);
}

/* Its next hops are in the order of its nodes' addresses in memory: here the links between switches are
 * listed backwards. */
static void open_fat_tree(struct fixture *f, bool ecn)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_fat_tree(&t, 4, GBPS(100), US, &e), 0);
    for (size_t i = 16, k = t.link_count - 1; i < k; i++, k--) {
        struct sim_link_config link = t.links[i];
        t.links[i] = t.links[k];
        t.links[k] = link;
    }
    fixture_open(f, &t);
    fixture_hpcc(f, ecn);
}

static void test_three_tiers(void **state)
{
    (void)state;
    struct fixture f;
    static const struct figures expected = {731.1, 785.0, 0.836, 213, 581, 3603, 1635, 0};
    open_fat_tree(&f, true);
    for (uint32_t h = 0; h < 16; h++)
        fixture_flow(&f, h, (h + 5) % 16, ENDLESS);
    check_figures(&f, 5 * MS, &expected, 0.05, SEEDS);
    fixture_close(&f);
}

#define FLOWS_OF_A_FILE 400

/* Flows of some sizes between random hosts, PFC alone: every one's completion time. Where two frames come at
 * the same time one simulator takes this one first, the other that: a frame's time for some flows. */
static void check_flows(struct fixture *f, const char *path, size_t count, size_t most_unequal)
{
    static int64_t completion_ns[FLOWS_OF_A_FILE];
    char line[256];
    size_t n = 0, unequal = 0;
    double sum = 0, expected_sum = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned from = 0, to = 0;
        long long bytes = 0, start_ns = 0, ns = 0;
        if (*line == '#')
            continue;
        assert_true(n < FLOWS_OF_A_FILE &&
                    sscanf(line, "%u %u %lld %lld %lld", &from, &to, &bytes, &start_ns, &ns) == 5);
        fixture_flow(f, from, to, bytes)->start_ps = start_ns * SIM_PS_PER_NS;
        completion_ns[n++] = ns;
    }
    fclose(file);
    assert_int_equal(n, count);
    struct sim *sim = fixture_start(f);
    fixture_run(sim, 20 * MS);
    for (size_t i = 0; i < n; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        int64_t ns = (stats.finished_ps - f->flows[i].start_ps) / SIM_PS_PER_NS;
        unequal += ns != completion_ns[i];
        assert_true(stats.finished_ps > 0 && llabs(ns - completion_ns[i]) < 1000);
        sum += (double)ns;
        expected_sum += (double)completion_ns[i];
    }
    assert_within("mean completion time", sum, expected_sum, 0.001);
    assert_true(unequal <= most_unequal);
    sim_free(sim);
    fixture_close(f);
}

static void test_flows_of_many_sizes(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 17, GBPS(25), false);
    check_flows(&f, "tests/data/hpcc/star-flows.tsv", 400, 40);
    open_fat_tree(&f, false);
    check_flows(&f, "tests/data/hpcc/fat-tree-flows.tsv", 200, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completion_times),
        cmocka_unit_test(test_ecmp_hash),
        cmocka_unit_test(test_pfc_alone),
        cmocka_unit_test(test_pfc_over_hops),
        cmocka_unit_test(test_a),
        cmocka_unit_test(test_b),
        cmocka_unit_test(test_c),
        cmocka_unit_test(test_slow_timers),
        cmocka_unit_test(test_mixed_rates),
        cmocka_unit_test(test_three_tiers),
        cmocka_unit_test(test_flows_of_many_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
