/* The lab of two simulated hosts against what was measured on the real ones: remote-lab.net, March/April
 * 2026. */
#include "tests/unit/unit.h"

#include "harness/plan/plan.h"
#include "harness/labs/sim/sim_config.h"
#include "lib/files.h"
#include <math.h>
#include <unistd.h>

#define MIB 1048576.0

static const char scenario_text[] =
    "{\"schema\":1,\"name\":\"pair\",\"title\":\"pair\",\"lab\":\"sim-geforce-pair\",\"roles\":[\"a\",\"b\"],"
    "\"phases\":{\"warmup\":\"0s\",\"measure\":\"1s\"},"
    "\"settings\":{\"mtu\":4200,\"pfc\":[0],\"prio_to_buffer\":{\"0\":1},\"buffer_bytes\":[0,114944],"
    "\"cable\":\"1m\"},"
    "\"flows\":[%s]}";

/* A run of the lab file with these flows. */
struct pair {
    struct plan plan;
    struct sim_setup setup;
    struct sim *sim;
};

static void open_pair(struct pair *pair, const char *flows, uint64_t seed)
{
    char path[] = "/tmp/test_sim_pair_XXXXXX.json";
    char text[4096];
    struct error e = {""};
    snprintf(text, sizeof text, scenario_text, flows);
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    struct plan_request request = {
        .scenario = path, .lab = "labs/sim-geforce-pair.json", .duration_ns = FIELD_UNSET};
    int result = plan_load(&request, &pair->plan, &e);
    unlink(path);
    if (result != 0 || sim_setup_make(&pair->plan.first, seed, &pair->setup, &e) != 0)
        fail_msg("%s", e.text);
    for (size_t i = 0; i < pair->setup.config.flow_count; i++)
        pair->setup.flows[i].stop_ps = SIM_FOREVER;
    pair->sim = sim_new(&pair->setup.config, &e);
    if (!pair->sim)
        fail_msg("%s", e.text);
}

static void close_pair(struct pair *pair)
{
    sim_free(pair->sim);
    sim_setup_free(&pair->setup);
    plan_free(&pair->plan);
}

static void run(struct pair *pair, double seconds)
{
    struct error e = {""};
    if (sim_run_until(pair->sim, sim_now_ps(pair->sim) + (int64_t)(seconds * (double)SIM_PS_PER_S), &e) != 0)
        fail_msg("%s", e.text);
}

static double value(const struct pair *pair, uint32_t host, const char *name)
{
    const struct sim_counter *columns;
    int64_t values[512];
    size_t count = sim_host_counters(pair->sim, host, &columns);
    assert_true(count <= 512);
    sim_host_values(pair->sim, host, values);
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return (double)values[i];
    fail_msg("no counter %s", name);
    return NAN;
}

static double flow_bytes(const struct pair *pair, size_t flow)
{
    struct sim_flow_stats stats;
    sim_flow_stats(pair->sim, flow, &stats);
    return (double)stats.bytes;
}

static void assert_near(const char *what, double is, double published, double tolerance)
{
    if (!(fabs(is / published - 1) <= tolerance))
        fail_msg("%s: %g, published %g: %+.1f %%, allowed %.0f %%", what, is, published,
                 100 * (is / published - 1), 100 * tolerance);
}

static void nothing_is_lost(const struct pair *pair)
{
    static const char *const losses[] = {"rx_discards_phy",      "rx_prio0_discards", "out_of_sequence",
                                         "packet_seq_err",       "duplicate_request", "implied_nak_seq_err",
                                         "local_ack_timeout_err"};
    for (uint32_t host = 0; host < 2; host++)
        for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
            if (value(pair, host, losses[i]) != 0)
                fail_msg("%s of host %u is %g", losses[i], host, value(pair, host, losses[i]));
    for (size_t f = 0; f < pair->setup.config.flow_count; f++) {
        struct sim_flow_stats stats;
        sim_flow_stats(pair->sim, f, &stats);
        assert_int_equal(stats.retransmitted_packets, 0);
    }
}

/* ---- one direction: tables 1 and 3 */

static double one_direction_bytes_per_s(const char *memory, long message)
{
    char flow[256];
    struct pair pair;
    snprintf(flow, sizeof flow,
             "{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"op\":\"write\",\"memory\":\"%s\",\"message\":\"%"
             "ldB\"}",
             memory, message);
    open_pair(&pair, flow, 1);
    run(&pair, 0.01);
    double before = flow_bytes(&pair, 0);
    run(&pair, 0.1);
    double rate = (flow_bytes(&pair, 0) - before) / 0.1;
    nothing_is_lost(&pair);
    assert_true(value(&pair, 0, "rx_prio0_pause") == 0);
    close_pair(&pair);
    return rate;
}

static const long sizes[] = {2, 64, 512, 1024, 4096, 65536, 1048576};
#define SIZES (sizeof sizes / sizeof *sizes)

static void host_memory_one_direction(void **state)
{
    static const double gb_per_s[SIZES] = {0.06, 1.93, 15.43, 22.67, 24.40, 24.50, 24.51};
    static const double million_per_s[SIZES] = {3.751, 3.769, 3.768, 2.767, 0.7445, 0.04673, 0.002922};
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        char what[64];
        double rate = one_direction_bytes_per_s("host", sizes[i]);
        snprintf(what, sizeof what, "host memory, %ld B", sizes[i]);
        assert_near(what, rate / (double)sizes[i] / 1e6, million_per_s[i], 0.05);
        if (i > 0) /* 0.06 is rounded too far to be compared */
            assert_near(what, rate * 8e-9, gb_per_s[i], 0.05);
    }
}

static void gpu_memory_one_direction(void **state)
{
    static const double mib_per_s[SIZES] = {6.29, 174.24, 1564.80, 2687.07, 2907.58, 2920.80, 2921.73};
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        char what[64];
        snprintf(what, sizeof what, "GPU memory, %ld B", sizes[i]);
        assert_near(what, one_direction_bytes_per_s("gpu", sizes[i]) / MIB, mib_per_s[i], 0.05);
    }
}

/* The GPUs' own PCIe counters prove the path: data out of one and into the other, requests into the first. */
static void gpu_pcie_counters(void **state)
{
    struct pair pair;
    (void)state;
    open_pair(&pair, "{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"memory\":\"gpu\",\"message\":\"64KiB\"}",
              1);
    run(&pair, 0.5);
    assert_near("receiver rx MB/s", value(&pair, 1, "gpu_pcie_rx_bytes") / 0.5e6, 3225, 0.05);
    assert_true(value(&pair, 1, "gpu_pcie_tx_bytes") == 0);
    assert_near("sender tx MB/s", value(&pair, 0, "gpu_pcie_tx_bytes") / 0.5e6, 3606, 0.05);
    assert_near("sender rx MB/s", value(&pair, 0, "gpu_pcie_rx_bytes") / 0.5e6, 759, 0.05);
    close_pair(&pair);
}

/* ---- latency */

static void latency_of_small_writes(void **state)
{
    struct pair pair;
    (void)state;
    open_pair(&pair, "{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"mode\":\"latency\",\"message\":\"2B\"}",
              1);
    run(&pair, 1);
    const struct histogram *latency = sim_flow_latency(pair.sim, 0);
    assert_near("typical us", (double)histogram_quantile(latency, 0.5) / 1e6, 1.41, 0.10);
    assert_near("p99 us", (double)histogram_quantile(latency, 0.99) / 1e6, 1.53, 0.10);
    assert_near("p99.9 us", (double)histogram_quantile(latency, 0.999) / 1e6, 5.22, 0.10);
    close_pair(&pair);
}

/* ---- both directions: table 4 */

#define BOTH(memory)                                                                                 \
    "{\"name\":\"ab\",\"from\":\"a\",\"to\":\"b\",\"memory\":\"" memory "\",\"message\":\"64KiB\"}," \
    "{\"name\":\"ba\",\"from\":\"b\",\"to\":\"a\",\"memory\":\"" memory "\",\"message\":\"64KiB\"}"

static void thresholds_of_the_driver(void **state)
{
    struct pair pair;
    (void)state;
    open_pair(&pair, BOTH("host"), 1);
    for (uint32_t host = 0; host < 2; host++) {
        struct sim_thresholds t = sim_host_thresholds(pair.sim, host, 1);
        assert_int_equal(t.xoff_bytes, 91392);
        assert_int_equal(t.xon_bytes, 81408);
    }
    close_pair(&pair);
}

static void host_memory_both_directions(void **state)
{
    struct pair pair;
    (void)state;
    const double seconds = 0.5;
    open_pair(&pair, BOTH("host"), 1);
    run(&pair, seconds);
    assert_near("MiB/s", (flow_bytes(&pair, 0) + flow_bytes(&pair, 1)) / seconds / MIB, 5830.79, 0.05);
    for (uint32_t host = 0; host < 2; host++)
        assert_true(value(&pair, host, "rx_prio0_pause") == 0 && value(&pair, host, "tx_prio0_pause") == 0);
    nothing_is_lost(&pair);
    close_pair(&pair);
}

static void gpu_memory_both_directions(void **state)
{
    const double seconds =
        SANITIZED ? 1 : 3; /* 430 pauses in each: published.sh has the ten of the scenario */
    const uint64_t seeds = SANITIZED ? 1 : 3;
    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct pair pair;
        open_pair(&pair, BOTH("gpu"), seed);
        run(&pair, seconds);
        double there = flow_bytes(&pair, 0), back = flow_bytes(&pair, 1);
        double slow = value(&pair, 0, "rx_prio0_pause"), quick = value(&pair, 1, "rx_prio0_pause");
        assert_near("MiB/s both ways", (there + back) / seconds / MIB, 5295.75, 0.05);
        assert_near("one way against the other", there, back, 0.05);
        assert_near("pauses a second of the slow receiver", slow / seconds, 12667 / 30.0, 0.25);
        assert_true(slow == value(&pair, 1, "tx_prio0_pause") && quick == value(&pair, 0, "tx_prio0_pause"));
        if (quick > 0.05 * slow)
            fail_msg("the other receiver sent %g pauses, the slow one %g", quick, slow);
        assert_near("transitions a pause", value(&pair, 0, "rx_prio0_pause_transition") / slow,
                    5418 / 12667.0, 0.40);
        nothing_is_lost(&pair);
        close_pair(&pair);
    }
}

/* One pause a stall, however many queue pairs there are: they do not slow each other down in the GPU's
 * banks. */
static void many_queue_pairs(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, BOTH("gpu\",\"queue_pairs\":16,\"op\":\"write"), 1);
    run(&pair, 2);
    double stalls = value(&pair, 1, "gpu_stalls"), transitions = value(&pair, 0, "rx_prio0_pause_transition");
    assert_true(stalls > 300);
    if (transitions > stalls || transitions < 0.85 * stalls)
        fail_msg("%g transitions for %g stalls", transitions, stalls);
    nothing_is_lost(&pair);
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_memory_one_direction),  cmocka_unit_test(gpu_memory_one_direction),
        cmocka_unit_test(gpu_pcie_counters),          cmocka_unit_test(latency_of_small_writes),
        cmocka_unit_test(thresholds_of_the_driver),   cmocka_unit_test(host_memory_both_directions),
        cmocka_unit_test(gpu_memory_both_directions), cmocka_unit_test(many_queue_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
