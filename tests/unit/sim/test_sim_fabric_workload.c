/* Workloads: patterns of flows, distributions of sizes, and what becomes of them on a network. */
#include "sim/workload.h"
#include "tests/unit/sim/sim_fixture.h"
#include <math.h>

#define US      SIM_PS_PER_US
#define MS      (1000 * US)
#define GBPS(x) ((x)*INT64_C(1000000000))
#define HOSTS   8

static uint32_t all_hosts[HOSTS] = {0, 1, 2, 3, 4, 5, 6, 7};
static const int64_t equal_links[HOSTS] = {GBPS(100), GBPS(100), GBPS(100), GBPS(100),
                                           GBPS(100), GBPS(100), GBPS(100), GBPS(100)};

static struct sim_workload_config workload(enum traffic_pattern pattern)
{
    struct sim_workload_config w = {.pattern = pattern,
                                    .from = all_hosts,
                                    .from_count = HOSTS,
                                    .size_bytes = 100000,
                                    .rounds = 1,
                                    .load = 0.5,
                                    .link_bps = equal_links,
                                    .seed = 1};
    sim_flow_defaults(&w.flow);
    w.flow.priority = LOSSLESS;
    w.flow.payload_bytes = 1000;
    return w;
}

static size_t made(const struct sim_workload_config *w, struct sim_flow_config **flows)
{
    struct error e;
    size_t count;
    if (sim_workload_make(w, 0, flows, &count, &e))
        fail_msg("%s", e.text);
    return count;
}

static void refused(const struct sim_workload_config *w, const char *word)
{
    struct error e = {""};
    struct sim_flow_config *flows;
    size_t count;
    assert_int_equal(sim_workload_make(w, 0, &flows, &count, &e), -1);
    assert_non_null(strstr(e.text, word));
}

/* ---- sizes */

static void sizes_follow_their_distribution(void **state)
{
    (void)state;
    static const struct {
        enum sim_sizes sizes;
        double bytes, share; /* the share of flows up to this size */
    } rows[] = {
        {SIM_SIZES_WEB_SEARCH, 10e3, 0.15},   {SIM_SIZES_WEB_SEARCH, 80e3, 0.53},
        {SIM_SIZES_WEB_SEARCH, 1e6, 0.7},     {SIM_SIZES_WEB_SEARCH, 10e6, 0.97},
        {SIM_SIZES_DATA_MINING, 1460, 0.5},   {SIM_SIZES_DATA_MINING, 10220, 0.8},
        {SIM_SIZES_DATA_MINING, 389820, 0.9}, {SIM_SIZES_DATA_MINING, 97333820, 0.99},
        {SIM_SIZES_HADOOP, 700, 0.5},         {SIM_SIZES_HADOOP, 120e3, 0.9},
        {SIM_SIZES_ALI_STORAGE, 8e3, 0.6921}, {SIM_SIZES_ALI_STORAGE, 256e3, 0.9753},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct random random;
        int below = 0;
        const int draws = 100000;
        random_seed(&random, i + 1);
        for (int k = 0; k < draws; k++) {
            int64_t bytes = sim_sizes_draw(rows[i].sizes, &random);
            assert_true(bytes >= 1 && bytes <= 1000000000);
            below += (double)bytes <= rows[i].bytes;
        }
        assert_true(fabs((double)below / draws - rows[i].share) < 0.006);
    }
    assert_true(fabs(sim_sizes_mean(SIM_SIZES_WEB_SEARCH) / 1.71e6 - 1) < 0.01);
    assert_true(fabs(sim_sizes_mean(SIM_SIZES_HADOOP) / 120420.75 - 1) < 1e-4);
    assert_true(fabs(sim_sizes_mean(SIM_SIZES_ALI_STORAGE) / 40869.80 - 1) < 1e-4);
}

/* ---- patterns */

static void poisson_brings_its_load(void **state)
{
    (void)state;
    struct sim_workload_config w = workload(PATTERN_POISSON);
    struct sim_flow_config *flows;
    double bytes = 0;
    w.flow.stop_ps = SIM_PS_PER_S / 10;
    w.size_bytes = 20000;
    size_t count = made(&w, &flows);
    for (size_t i = 0; i < count; i++) {
        assert_true(flows[i].from != flows[i].to && flows[i].from < HOSTS && flows[i].to < HOSTS);
        assert_true(i == 0 || flows[i].start_ps >= flows[i - 1].start_ps);
        assert_true(flows[i].start_ps < w.flow.stop_ps);
        bytes += (double)flows[i].message_bytes;
    }
    assert_true(fabs(bytes * 8 / 0.1 / (HOSTS * 100e9) - 0.5) < 0.01);
    free(flows);
    w.most_flows = 10;
    assert_int_equal(made(&w, &flows), 10);
    free(flows);
    w.load = 0;
    refused(&w, "load");
    w.load = 0.5;
    w.most_flows = 0;
    w.flow.stop_ps = SIM_FOREVER;
    refused(&w, "end");
}

/* "load" is a share of each sender's own link. */
static void poisson_loads_each_link(void **state)
{
    (void)state;
    static const int64_t links[HOSTS] = {GBPS(25),  GBPS(100), GBPS(100), GBPS(100),
                                         GBPS(100), GBPS(100), GBPS(100), GBPS(400)};
    struct sim_workload_config w = workload(PATTERN_POISSON);
    struct sim_flow_config *flows;
    double bytes[HOSTS] = {0};
    w.link_bps = links;
    w.flow.stop_ps = SIM_PS_PER_S / 10;
    w.size_bytes = 20000;
    size_t count = made(&w, &flows);
    for (size_t i = 0; i < count; i++)
        bytes[flows[i].from] += (double)flows[i].message_bytes;
    for (size_t i = 0; i < HOSTS; i++)
        assert_true(fabs(bytes[i] * 8 / 0.1 / (double)links[i] - 0.5) < 0.03);
    free(flows);
}

static void permutation_sends_and_receives_once(void **state)
{
    (void)state;
    for (int64_t shift = 0; shift < HOSTS; shift++) {
        struct sim_workload_config w = workload(PATTERN_PERMUTATION);
        struct sim_flow_config *flows;
        unsigned from = 0, to = 0;
        w.shift = shift;
        assert_int_equal(made(&w, &flows), HOSTS);
        for (size_t i = 0; i < HOSTS; i++) {
            assert_true(flows[i].from != flows[i].to);
            if (shift)
                assert_int_equal(flows[i].to, (flows[i].from + (uint32_t)shift) % HOSTS);
            from |= 1u << flows[i].from;
            to |= 1u << flows[i].to;
        }
        assert_int_equal(from, (1u << HOSTS) - 1);
        assert_int_equal(to, (1u << HOSTS) - 1);
        free(flows);
    }
    struct sim_workload_config w = workload(PATTERN_PERMUTATION);
    w.shift = HOSTS;
    refused(&w, "itself");
}

static void pairs_are_complete(void **state)
{
    (void)state;
    struct sim_workload_config w = workload(PATTERN_ALL_TO_ALL);
    struct sim_flow_config *flows;
    assert_int_equal(made(&w, &flows), HOSTS * (HOSTS - 1));
    free(flows);
    w = workload(PATTERN_INCAST);
    w.to = all_hosts + 7;
    w.to_count = 1;
    assert_int_equal(made(&w, &flows), HOSTS - 1);
    for (size_t i = 0; i < HOSTS - 1; i++)
        assert_int_equal(flows[i].to, 7);
    free(flows);
}

/* ---- on a network */

static struct sim *run_on_star(struct fixture *f, const struct sim_workload_config *w, int64_t until_ps)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, HOSTS, GBPS(100), US, &e), 0);
    fixture_open(f, &t);
    f->config.flow_count = made(w, &f->flows);
    f->config.flows = f->flows;
    struct sim *sim = fixture_start(f);
    fixture_run(sim, until_ps);
    return sim;
}

/* Each of 2(n-1) steps takes what one n-th of the data takes over one link and back, and no step begins
 * before its data is there. */
static void ring_takes_its_steps(void **state)
{
    (void)state;
    struct sim_workload_config w = workload(PATTERN_RING_ALL_REDUCE);
    struct fixture f;
    w.size_bytes = HOSTS * 100000;
    struct sim *sim = run_on_star(&f, &w, 5 * MS);
    double step_ps = (double)sim_flow_ideal_ps(sim, 0);
    for (size_t i = 0; i < HOSTS; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        assert_int_equal(stats.messages, 2 * (HOSTS - 1));
        assert_true(fabs((double)stats.finished_ps / (2 * (HOSTS - 1) * step_ps) - 1) < 0.05);
    }
    sim_free(sim);
    fixture_close(&f);
}

static void all_to_all_fills_every_link(void **state)
{
    (void)state;
    struct sim_workload_config w = workload(PATTERN_ALL_TO_ALL);
    struct fixture f;
    struct sim *sim = run_on_star(&f, &w, 5 * MS);
    int64_t last_ps = 0;
    for (size_t i = 0; i < f.config.flow_count; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        assert_true(stats.finished_ps > 0);
        last_ps = stats.finished_ps > last_ps ? stats.finished_ps : last_ps;
    }
    double least_ps =
        (HOSTS - 1) * 100 * (1062 + 20) * 8 * 10.0; /* what each link must carry, at 10 ps a bit */
    assert_true((double)last_ps > least_ps && (double)last_ps < least_ps * 1.35);
    assert_int_equal(hosts_counter(&f, sim, "packet_seq_err"), 0);
    sim_free(sim);
    fixture_close(&f);
}

static void web_search_completes(void **state)
{
    (void)state;
    struct sim_workload_config w = workload(PATTERN_POISSON);
    struct fixture f;
    w.sizes = SIM_SIZES_WEB_SEARCH;
    w.load = 0.3;
    w.most_flows = 300;
    struct sim *sim = run_on_star(&f, &w, 200 * MS);
    assert_int_equal(f.config.flow_count, 300);
    for (size_t i = 0; i < f.config.flow_count; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        assert_true(stats.finished_ps - f.flows[i].start_ps >= sim_flow_ideal_ps(sim, i) - SIM_PS_PER_NS);
    }
    sim_free(sim);
    fixture_close(&f);
}

/* A message on an empty network takes its ideal time, whatever hop is the slowest: what counts as slowdown is
 * not in it. A duration is rounded to a picosecond on each hop. */
static void an_empty_network_does_not_slow_down(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 64, 1000, 1001, 2000, 2999, 10000, 123457};
    static const int64_t rates[][2] = {
        {GBPS(1), GBPS(1)}, {GBPS(100), GBPS(1)}, {GBPS(1), GBPS(100)}, {GBPS(25), GBPS(40)}};
    static const int64_t headers[] = {[SIM_WRITE] = 16 + 62 + 66, [SIM_SEND] = 62 + 66};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 4 * 2; i++) {
        const int64_t size = sizes[i / 8], *rate = rates[i / 2 % 4];
        const enum sim_operation op = i % 2 ? SIM_SEND : SIM_WRITE;
        struct sim_topology t;
        struct fixture f;
        struct sim_flow_stats stats;
        struct error e;
        assert_int_equal(sim_topology_star(&t, 2, rate[0], US, &e), 0);
        t.links[1].rate_bps = rate[1];
        fixture_open(&f, &t);
        fixture_flow(&f, 0, 1, size)->operation = op;
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 100 * MS);
        sim_flow_stats(sim, 0, &stats);
        int64_t ideal_ps = sim_flow_ideal_ps(sim, 0);
        assert_true(stats.finished_ps > 0);
        if (llabs(stats.finished_ps - ideal_ps) > 500)
            fail_msg("%lld B at %lld and %lld b/s: %lld ps, ideal %lld", (long long)size, (long long)rate[0],
                     (long long)rate[1], (long long)stats.finished_ps, (long long)ideal_ps);
        if (size == 64) /* two frames on two links, each with its gap of 20 bytes */
            assert_true(llabs(ideal_ps - 4 * US - (64 + headers[op] + 2 * 20) * 8 * (SIM_PS_PER_S / rate[0]) -
                              (64 + headers[op] + 2 * 20) * 8 * (SIM_PS_PER_S / rate[1])) < 500);
        sim_free(sim);
        fixture_close(&f);
    }
}

static void order_is_checked(void **state)
{
    (void)state;
    struct sim_topology t;
    struct fixture f;
    struct error e;
    assert_int_equal(sim_topology_star(&t, 3, GBPS(100), US, &e), 0);
    fixture_open(&f, &t);
    fixture_flow(&f, 0, 1, 1000);
    fixture_flow(&f, 0, 2, 1000)->after = 0; /* what comes to host 1 does not concern host 0 */
    assert_null(sim_new(&f.config, &e));
    assert_non_null(strstr(e.text, "after"));
    f.flows[1].from = 1;
    f.flows[1].after = 7;
    assert_null(sim_new(&f.config, &e));
    assert_non_null(strstr(e.text, "does not exist"));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow_their_distribution),
        cmocka_unit_test(poisson_brings_its_load),
        cmocka_unit_test(poisson_loads_each_link),
        cmocka_unit_test(permutation_sends_and_receives_once),
        cmocka_unit_test(pairs_are_complete),
        cmocka_unit_test(ring_takes_its_steps),
        cmocka_unit_test(all_to_all_fills_every_link),
        cmocka_unit_test(web_search_completes),
        cmocka_unit_test(an_empty_network_does_not_slow_down),
        cmocka_unit_test(order_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
