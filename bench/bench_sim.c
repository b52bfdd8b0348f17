/*
 * Speed of the simulator: packets that crossed a link (data, ACK, PFC) a second, on the networks that other
 * simulators were measured on, and simulated seconds a second for the PFC experiment's pair. It runs on one
 * core, and the time is that core's CPU time, which other load disturbs less. Limits are ratios against a
 * loop of the same run (bench/reference.h); exit code 1 when one is not met.
 */
#include "bench/reference.h"
#include "harness/plan/plan.h"
#include "harness/labs/sim/sim_config.h"
#include "lib/clock.h"
#include "tests/unit/sim/sim_topology.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LINK_BPS INT64_C(100000000000)
#define RUNS     5 /* the best run is used: the others were disturbed */

/* Limits in steps of the reference loop, less than twice the values measured when this was written (1.5, 1.9;
 * 2.8; 5.6e6). */
#define STEPS_A_HOP            3.0
#define STEPS_A_HOP_LEAF_SPINE 5.0
#define STEPS_A_SECOND         10e6

/* The cost of a hop on a network that does not fit the caches, against one that does; measured: 1.6 to 2.5. */
#define LARGE_AGAINST_SMALL 3.0

/* Print the error and exit. */
static void stop(const struct error *e)
{
    fprintf(stderr, "bench_sim: %s\n", e->text);
    exit(2);
}

static void *array(size_t count, size_t size)
{
    void *a = calloc(count, size);
    if (!a)
        exit(2);
    return a;
}

/* ---- scenarios, as in `harness run` and in the tests of accuracy */

struct network {
    struct plan plan;
    struct sim_setup setup;
};

static void open_network(struct network *n, const char *scenario)
{
    struct error e = {""};
    const struct plan_request request = {.scenario = scenario, .duration_ns = FIELD_UNSET};
    if (plan_load(&request, &n->plan, &e) || sim_setup_make(&n->plan.first, 1, &n->setup, &e))
        stop(&e);
    for (size_t i = 0; i < n->setup.config.flow_count; i++)
        n->setup.flows[i].stop_ps = SIM_FOREVER;
}

static void close_network(struct network *n)
{
    sim_setup_free(&n->setup);
    plan_free(&n->plan);
}

/* ---- measuring */

/* Run to until_ps after warm_ps; nanoseconds of CPU that the rest took. */
static double run(struct sim *sim, int64_t warm_ps, int64_t until_ps, struct sim_work *before)
{
    struct error e = {""};
    if (!sim || sim_run_until(sim, warm_ps, &e) != 0)
        stop(&e);
    sim_work(sim, before);
    int64_t start_ns = clock_process_cpu_ns();
    if (sim_run_until(sim, until_ps, &e) != 0)
        stop(&e);
    return (double)(clock_process_cpu_ns() - start_ns);
}

/* The figures of a network over `us` microseconds, the first third of which is not counted. Returns
 * nanoseconds a hop. */
static double measure(const char *name, const struct sim_config *config, int64_t us)
{
    double best_ns = 0;
    struct sim_work work = {0}, before = {0};
    for (int i = 0; i < RUNS; i++) {
        struct error e = {""};
        struct sim *sim = sim_new(config, &e);
        if (!sim)
            stop(&e);
        double ns = run(sim, us * SIM_PS_PER_US / 3, us * SIM_PS_PER_US, &before);
        sim_work(sim, &work);
        if (best_ns == 0 || ns < best_ns)
            best_ns = ns;
        sim_free(sim);
    }
    double hops = (double)(work.hops - before.hops), events = (double)(work.events - before.events);
    printf("%-24s %5.1f M hops/s, %5.1f ns/hop, %.2f events/hop, %llu pending events, %.1f MB, %llu "
           "allocations after the warm-up\n",
           name, hops / best_ns * 1e3, best_ns / hops, events / hops, (unsigned long long)work.pending_events,
           (double)work.bytes / 1e6, (unsigned long long)(work.allocations - before.allocations));
    return best_ns / hops;
}

static double measure_scenario(const char *name, const char *scenario, int64_t us)
{
    struct network n;
    open_network(&n, scenario);
    double ns = measure(name, &n.setup.config, us);
    close_network(&n);
    return ns;
}

/* The wall's time with each number of threads up to the processors that there are, on a network of its own limits. It is not
 * judged: the processors may not be free. */
static void measure_threads(const char *name, const struct sim_config *config, int64_t us)
{
    double one_ns = 0;
    for (int64_t t = 1; t <= sysconf(_SC_NPROCESSORS_ONLN); t *= 2) {
        struct sim_config with = *config;
        struct error e = {""};
        double best_ns = 0;
        with.threads = (uint32_t)t;
        for (int i = 0; i < RUNS; i++) {
            struct sim *sim = sim_new(&with, &e);
            if (!sim || sim_run_until(sim, us * SIM_PS_PER_US / 3, &e))
                stop(&e);
            int64_t start_ns = clock_monotonic_ns();
            if (sim_run_until(sim, us * SIM_PS_PER_US, &e))
                stop(&e);
            double ns = (double)(clock_monotonic_ns() - start_ns);
            best_ns = i && best_ns < ns ? best_ns : ns;
            sim_free(sim);
        }
        one_ns = t == 1 ? best_ns : one_ns;
        printf("%-24s %lld threads: %.2f times as fast as one\n", name, (long long)t, one_ns / best_ns);
    }
}

/* A scenario's hosts, switches and flows on a fat tree: host h sends to the eighth after it. */
static double measure_fat_tree(const char *name, const char *scenario, uint32_t k, int64_t us, bool threads)
{
    struct network n;
    struct sim_topology t;
    struct error e = {""};
    open_network(&n, scenario);
    if (sim_topology_fat_tree(&t, k, LINK_BPS, SIM_PS_PER_US, &e))
        stop(&e);
    struct sim_config config = n.setup.config;
    struct sim_host_config *hosts = array(t.host_count, sizeof *hosts);
    struct sim_switch_config *switches = array(t.switch_count, sizeof *switches);
    struct sim_flow_config *flows = array(t.host_count, sizeof *flows);
    for (uint32_t i = 0; i < t.host_count; i++) {
        hosts[i] = n.setup.hosts[0];
        flows[i] = n.setup.flows[0];
        flows[i].from = i;
        flows[i].to = (i + 8) % t.host_count;
    }
    for (uint32_t i = 0; i < t.switch_count; i++)
        switches[i] = n.setup.switches[0];
    config.hosts = hosts;
    config.switches = switches;
    config.flows = flows;
    config.links = t.links;
    config.host_count = config.flow_count = t.host_count;
    config.switch_count = t.switch_count;
    config.link_count = t.link_count;
    double ns = measure(name, &config, us);
    if (threads)
        measure_threads(name, &config, us);
    free(hosts);
    free(switches);
    free(flows);
    sim_topology_free(&t);
    close_network(&n);
    return ns;
}

/* The PFC experiment's GPU cell for ten seconds: PCIe Gen3 x8, 64 KiB writes both ways, stalls as in
 * labs/sim-geforce-pair.json. Returns simulated seconds a second. */
static double measure_pair(void)
{
    struct sim_host_config hosts[2];
    struct sim_flow_config flows[2];
    struct sim_link_config link = {
        .a = {SIM_HOST, 0}, .b = {SIM_HOST, 1}, .rate_bps = INT64_C(25000000000), .delay_ps = 5000};
    struct sim_config config;
    struct sim_work before, work;
    struct error e = {""};
    sim_config_defaults(&config);
    for (uint32_t i = 0; i < 2; i++) {
        sim_host_defaults(&hosts[i]);
        hosts[i].pcie.generation = 3;
        hosts[i].settings.mtu_bytes = 4200;
        hosts[i].settings.pfc_mask = 1;
        hosts[i].memories[SIM_MEMORY_GPU].stalls_per_s = i ? 210 : 1.3;
        hosts[i].memories[SIM_MEMORY_GPU].stall_mean_ps = 500 * SIM_PS_PER_US;
        sim_flow_defaults(&flows[i]);
        flows[i].from = i;
        flows[i].to = 1 - i;
        flows[i].from_memory = flows[i].to_memory = SIM_MEMORY_GPU;
    }
    config.hosts = hosts;
    config.host_count = 2;
    config.links = &link;
    config.link_count = 1;
    config.flows = flows;
    config.flow_count = 2;
    struct sim *sim = sim_new(&config, &e);
    if (!sim)
        stop(&e);
    double ns = run(sim, SIM_PS_PER_S / 10, SIM_PS_PER_S / 10 + 10 * SIM_PS_PER_S, &before);
    sim_work(sim, &work);
    printf("%-24s %5.1f simulated seconds a second, %.1f MB, %llu allocations after the warm-up\n",
           "pair, GPU both ways", 10e9 / ns, (double)work.bytes / 1e6,
           (unsigned long long)(work.allocations - before.allocations));
    sim_free(sim);
    return 10e9 / ns;
}

int main(void)
{
    double step_ns = reference_ns();
    printf("%-24s %5.1f ns a step\n", "the loop to compare with", step_ns);
    double pair = measure_pair();
    double a = measure_scenario("A: one switch, 2 to 1", "scenarios/hpcc-two-to-one.json", 20000);
    double b = measure_scenario("B: one switch, 16 to 1", "scenarios/hpcc-incast-dcqcn.json", 10000);
    const char *leaf_spine = "scenarios/hpcc-leaf-spine.json";
    double c = measure_scenario("C: leaf-spine, 32 hosts", leaf_spine, 5000);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double large = measure_fat_tree("fat tree, 432 hosts", leaf_spine, 12, 300, true);
    double larger = measure_fat_tree("fat tree, 2000 hosts", leaf_spine, 20, 30, false);
    bool holds = at_most("A: steps for a hop", a / step_ns, STEPS_A_HOP);
    holds &= at_most("B: steps for a hop", b / step_ns, STEPS_A_HOP);
    holds &= at_most("C: steps for a hop", c / step_ns, STEPS_A_HOP_LEAF_SPINE);
    holds &=
        at_most("pair: million steps for a simulated second", 1e3 / pair / step_ns, STEPS_A_SECOND / 1e6);
    holds &= at_most("432 hosts against 32: a hop", large / c, LARGE_AGAINST_SMALL);
    holds &= at_most("2000 hosts against 32: a hop", larger / c, LARGE_AGAINST_SMALL);
    holds &= at_most("resident before the fat tree, MB", (double)usage.ru_maxrss / 1e3, 30);
    return !holds;
}
