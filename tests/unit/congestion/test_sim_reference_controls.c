/*
 * Congestion controls against the HPCC simulator with its CC_MODE 1 with a window, 3, 7 and 8, and its
 * physics (sim_fixture.h): the parameters of its run.py at 100 Gb/s, one base round-trip time for all
 * (GLOBAL_T). Without random marks its runs have no seed: where no two frames come at the same time, the
 * completion times are the same. docs/simulator-reference.md has the tables.
 */
#include "tests/unit/sim/sim_fixture.h"
#include <math.h>

#define US   SIM_PS_PER_US
#define MS   (1000 * SIM_PS_PER_US)
#define GBPS INT64_C(1000000000)
#define RATE (100 * GBPS)
#define MBPS INT64_C(1000000)

static void assert_within(const char *what, double value, double expected, double share)
{
    if (!(fabs(value - expected) <= share * fabs(expected)))
        fail_msg("%s: %g, expected %g within %g %%", what, value, expected, share * 100);
}

static void set_control(struct fixture *f, const char *control)
{
    for (size_t i = 0; i < f->config.host_count; i++) {
        struct sim_settings *s = &f->hosts[i].settings;
        s->congestion_control = sim_congestion_control(control);
        assert_non_null(s->congestion_control);
        s->congestion.hpcc.mi_thresh = 0;
        s->congestion.hpcc.min_rate_bps = GBPS;
        s->congestion.dctcp.rate_ai_bps = 615 * MBPS;
        s->congestion.dctcp.min_rate_bps = GBPS;
        s->congestion.timely.min_rate_bps = GBPS;
    }
    for (size_t i = 0; i < f->config.switch_count && !strcmp(control, "dctcp"); i++)
        f->switches[i].physics.ecn =
            (struct physics_ecn){.kmin_bytes = 300000, .kmax_bytes = 300000, .pmax = 1};
}

static void open_star(struct fixture *f, const char *control)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, 17, RATE, US, &e), 0);
    fixture_open(f, &t);
    fixture_hpcc(f, true);
    set_control(f, control);
}

static void open_leaf_spine(struct fixture *f, const char *control)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_leaf_spine(&t, 4, 8, 8, RATE, US, &e), 0);
    fixture_open(f, &t);
    fixture_hpcc(f, true);
    set_control(f, control);
}

static int64_t completion_ns(const struct fixture *f, const struct sim *sim, size_t flow)
{
    struct sim_flow_stats stats;
    sim_flow_stats(sim, flow, &stats);
    assert_true(stats.finished_ps > 0);
    return (stats.finished_ps - f->flows[flow].start_ps) / SIM_PS_PER_NS;
}

/* ---- one flow alone */

static int64_t alone_ns(struct fixture *f, uint32_t to, int64_t bytes)
{
    fixture_flow(f, 0, to, bytes);
    struct sim *sim = fixture_start(f);
    fixture_run(sim, 2 * MS);
    int64_t ns = completion_ns(f, sim, 0);
    sim_free(sim);
    fixture_close(f);
    return ns;
}

static void one_flow_alone(void **state)
{
    (void)state;
    static const int64_t bytes[] = {1, 1000, 10000, 1000000, 10000000};
    static const struct {
        const char *control;
        int64_t star_ns[5], leaf_spine_ns[5];
    } rows[] = {
        {"dcqcn_vwin", {4014, 4174, 4921, 87091, 834091}, {8028, 8348, 9095, 91265, 838265}},
        {"hpcc", {4028, 4188, 4971, 95735, 921111}, {8056, 8376, 9159, 99800, 925517}},
        {"dctcp", {4014, 4174, 4921, 87091, 834091}, {8028, 8348, 9095, 91265, 838265}},
        {"timely", {4016, 4176, 4932, 88092, 844092}, {8032, 8352, 9108, 92268, 848268}},
        {"timely_vwin", {4016, 4176, 4932, 88092, 844092}, {8032, 8352, 9108, 92268, 848268}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 5; k++) {
            struct fixture f;
            open_star(&f, rows[i].control);
            assert_int_equal(alone_ns(&f, 2, bytes[k]), rows[i].star_ns[k]);
            open_leaf_spine(&f, rows[i].control);
            assert_int_equal(alone_ns(&f, 8, bytes[k]), rows[i].leaf_spine_ns[k]);
        }
}

/* ---- flows that share a link */

/* 16 flows of 1 MB at the same time: each one's completion. */
static void incast_without_chance(void **state)
{
    (void)state;
    static const struct {
        const char *control;
        int64_t ns[16];
    } rows[] = {
        {"dctcp",
         {1266936, 1267019, 1274240, 1274489, 1274738, 1275236, 1324289, 1324704, 1325036, 1331593, 1331676,
          1331759, 1332008, 1332091, 1322795, 1322048}},
        {"timely",
         {1348092, 1346664, 1343808, 1339524, 1333812, 1326672, 1318188, 1308276, 1296936, 1286604, 1286688,
          1286772, 1286856, 1286940, 1287024, 1287108}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        open_star(&f, rows[i].control);
        for (uint32_t h = 0; h < 16; h++)
            fixture_flow(&f, h, 16, 1000000);
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 3 * MS);
        for (size_t k = 0; k < 16; k++)
            assert_int_equal(completion_ns(&f, sim, k), rows[i].ns[k]);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* Of all flows: the mean completion, and the last one. */
static void check_completions(struct fixture *f, const char *control, double mean_ns, double last_ns)
{
    double sum = 0, last = 0;
    struct sim *sim = fixture_start(f);
    fixture_run(sim, 5 * MS);
    for (size_t i = 0; i < f->config.flow_count; i++) {
        double ns = (double)completion_ns(f, sim, i);
        sum += ns;
        last = ns > last ? ns : last;
    }
    assert_within(control, sum / (double)f->config.flow_count, mean_ns, 0.015);
    assert_within(control, last, last_ns, 0.015);
    sim_free(sim);
    fixture_close(f);
}

/* 10 MB, joined by 5 MB after 100 us; and 32 hosts over leaves and spines, 2 MB each. */
static void completions_are_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *control;
        double pair_mean_ns, pair_last_ns, permutation_mean_ns, permutation_last_ns;
    } rows[] = {
        {"dcqcn_vwin", 1041557, 1249091, 405440, 693898},
        {"hpcc", 1190916, 1383429, 451359, 791761},
        {"dctcp", 1041557, 1249091, 396009, 688265},
        {"timely", 1398428, 1678617, 633794, 973481},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        open_star(&f, rows[i].control);
        fixture_flow(&f, 0, 2, 10000000);
        fixture_flow(&f, 1, 2, 5000000)->start_ps = 100 * US;
        check_completions(&f, rows[i].control, rows[i].pair_mean_ns, rows[i].pair_last_ns);
        open_leaf_spine(&f, rows[i].control);
        for (uint32_t h = 0; h < 32; h++)
            fixture_flow(&f, h, (h + 8) % 32, 2000000);
        check_completions(&f, rows[i].control, rows[i].permutation_mean_ns, rows[i].permutation_last_ns);
    }
}

/* ---- endless flows */

struct figures {
    double goodput_gbps, jain, queue_mean_kb;
};

static struct figures run_incast(struct fixture *f, bool *paused)
{
    struct figures figures = {0};
    double squares = 0;
    int64_t samples = 0;
    struct sim *sim = fixture_start(f);
    for (int64_t at_ps = US; at_ps <= 10 * MS; at_ps += US, samples++) {
        figures.queue_mean_kb += (double)switch_queue_bytes(sim, 0, 16, LOSSLESS) / 1000;
        fixture_run(sim, at_ps);
    }
    for (size_t i = 0; i < f->config.flow_count; i++) {
        double gbps = (double)flow_acked_bytes(sim, i) * 8 / 10e6;
        figures.goodput_gbps += gbps;
        squares += gbps * gbps;
    }
    figures.jain = figures.goodput_gbps * figures.goodput_gbps / squares / (double)f->config.flow_count;
    figures.queue_mean_kb /= (double)samples;
    *paused = switches_counter(f, sim, "tx_pause") > 0;
    assert_int_equal(switches_counter(f, sim, "buffer_discards"), 0);
    sim_free(sim);
    return figures;
}

/* 16 to 1, 10 ms, all within a microsecond; theirs are means over five sets of starts. */
static void endless_incast(void **state)
{
    (void)state;
    static const struct {
        const char *control;
        struct figures expected;
        double queue_share;
    } rows[] = {
        {"dcqcn_vwin", {96.35, 0.983, 445}, 0.05},  {"hpcc", {86.76, 0.955, 5.3}, 0.25},
        {"dctcp", {96.35, 0.989, 295.3}, 0.05},     {"timely", {86.44, 0.997, 2350}, 0.15},
        {"timely_vwin", {94.71, 1.000, 497}, 0.05},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        bool paused;
        open_star(&f, rows[i].control);
        for (uint32_t h = 0; h < 16; h++)
            fixture_flow(&f, h, 16, 0)->start_ps = (h * 617 % 1000) * SIM_PS_PER_NS;
        struct figures figures = run_incast(&f, &paused);
        print_message("# %s: goodput %.2f, Jain %.4f, queue %.1f KB, %s\n", rows[i].control,
                      figures.goodput_gbps, figures.jain, figures.queue_mean_kb,
                      paused ? "paused" : "no pause");
        assert_within("goodput", figures.goodput_gbps, rows[i].expected.goodput_gbps, 0.015);
        assert_within("Jain", figures.jain, rows[i].expected.jain, 0.03);
        assert_within("queue", figures.queue_mean_kb, rows[i].expected.queue_mean_kb, rows[i].queue_share);
        assert_true(!paused || !strcmp(rows[i].control, "timely"));
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_flow_alone),
        cmocka_unit_test(incast_without_chance),
        cmocka_unit_test(completions_are_the_same),
        cmocka_unit_test(endless_incast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
