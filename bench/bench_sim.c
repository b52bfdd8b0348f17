/*
 * Speed of the simulator: packets that crossed a link (data, ACK, PFC) a second, on the networks that other simulators were
 * measured on, and simulated seconds a second for the PFC experiment's pair. It runs on one core, and the time is that
 * core's: what else the machine does disturbs less.
 */
#include "lib/clock.h"
#include "sim/fabric.h"
#include "sim/topology.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define LINK_BPS INT64_C(100000000000)
#define RUNS     5 /* the best counts: others were disturbed */

/* Said to the user once, and the end. */
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

/* ---- the physics of the HPCC simulator (state of March 2021) at 100 Gb/s --------------------------------- */

#define PRIORITY 3

static void set_host(struct sim_host_config *h)
{
    sim_host_defaults(h);
    h->nic.ack_every_packets = 1;
    h->nic.ack_coalescing = false;
    h->nic.pause_quanta = 0;
    h->nic.congestion_on_ack = true;
    h->nic.ack_timeout_ps = SIM_PS_PER_S;
    h->settings.pfc_mask = h->settings.ecn_rp_mask = h->settings.ecn_np_mask = 1 << PRIORITY;
    h->settings.rp.rpg_byte_reset = 0;
    h->settings.rp.rpg_ai_rate = 20;
    h->settings.rp.rpg_hai_rate = 200;
    h->settings.rp.rpg_min_rate = 1000;
    h->settings.rp.dce_tcp_g = 1020;
}

static void set_switch(struct sim_switch_config *s)
{
    sim_switch_defaults(s);
    s->pfc_mask = 1 << PRIORITY;
    s->buffer_bytes = 32 << 20;
    s->pause_quanta = 0;
    s->headroom_delays = 3;
    s->alpha_follows_rate = true;
    s->ecn = (struct sim_ecn_config){.kmin_bytes = 400000, .kmax_bytes = 1600000, .pmax = 0.2};
}

/* Host h sends to host to(h) without an end, or not at all. */
struct network {
    const char *name;
    struct sim_topology topology;
    struct sim_config config;
};

static void open_network(struct network *n, const char *name,
                         int64_t (*to)(const struct network *n, uint32_t host))
{
    uint32_t hosts = n->topology.host_count, switches = n->topology.switch_count;
    struct sim_host_config *h = array(hosts, sizeof *h);
    struct sim_switch_config *s = array(switches, sizeof *s);
    struct sim_flow_config *f = array(hosts, sizeof *f);
    n->name = name;
    sim_config_defaults(&n->config);
    n->config.truncate_to_ns = true;
    n->config.udp_destination_port = 100;
    n->config.framing =
        (struct sim_framing){.data_bytes = 48, .ack_bytes = 60, .cnp_bytes = 60, .pfc_bytes = 43};
    for (uint32_t i = 0; i < hosts; i++)
        set_host(&h[i]);
    for (uint32_t i = 0; i < switches; i++)
        set_switch(&s[i]);
    for (uint32_t i = 0; i < hosts; i++) {
        if (to(n, i) < 0)
            continue;
        struct sim_flow_config *flow = &f[n->config.flow_count++];
        sim_flow_defaults(flow);
        flow->from = i;
        flow->to = (uint32_t)to(n, i);
        flow->priority = PRIORITY;
        flow->operation = SIM_SEND;
        flow->payload_bytes = 1000;
        flow->message_bytes = 1000000;
        flow->depth = 1000;
    }
    n->config.links = n->topology.links;
    n->config.link_count = n->topology.link_count;
    n->config.hosts = h;
    n->config.host_count = hosts;
    n->config.switches = s;
    n->config.switch_count = switches;
    n->config.flows = f;
}

static void close_network(struct network *n)
{
    free((void *)n->config.hosts);
    free((void *)n->config.switches);
    free((void *)n->config.flows);
    sim_topology_free(&n->topology);
}

static int64_t all_to_the_last(const struct network *n, uint32_t host)
{
    uint32_t last = n->topology.host_count - 1;
    return host == last ? -1 : (int64_t)last;
}

static int64_t eight_further(const struct network *n, uint32_t host)
{
    return (host + 8) % n->topology.host_count;
}

/* ---- measuring ------------------------------------------------------------------------------------------- */

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

/* The figures of a network over `us` microseconds, the first third of which is not counted. Returns nanoseconds a hop. */
static double measure(const struct network *n, int64_t us, const char *floor)
{
    double best_ns = 0;
    struct sim_work work = {0}, before = {0};
    for (int i = 0; i < RUNS; i++) {
        struct error e = {""};
        struct sim *sim = sim_new(&n->config, &e);
        if (!sim)
            stop(&e);
        double ns = run(sim, us * SIM_PS_PER_US / 3, us * SIM_PS_PER_US, &before);
        sim_work(sim, &work);
        if (best_ns == 0 || ns < best_ns)
            best_ns = ns;
        sim_free(sim);
    }
    double hops = (double)(work.hops - before.hops), events = (double)(work.events - before.events);
    printf("%-24s %5.1f M hops/s%s, %5.1f ns/hop, %.2f events/hop, %llu pending events, %.1f MB, %llu "
           "allocations\n",
           n->name, hops / best_ns * 1e3, floor, best_ns / hops, events / hops,
           (unsigned long long)work.pending_events, (double)work.bytes / 1e6,
           (unsigned long long)(work.allocations - before.allocations));
    return best_ns / hops;
}

static double measure_leaf_spine(const char *name, uint32_t leaves, uint32_t each, uint32_t spines,
                                 int64_t us, const char *floor)
{
    struct network n = {0};
    struct error e = {""};
    if (sim_topology_leaf_spine(&n.topology, leaves, each, spines, LINK_BPS, SIM_PS_PER_US, &e) != 0)
        stop(&e);
    open_network(&n, name, eight_further);
    double ns = measure(&n, us, floor);
    close_network(&n);
    return ns;
}

static void measure_star(const char *name, uint32_t hosts, int64_t us, const char *floor)
{
    struct network n = {0};
    struct error e = {""};
    if (sim_topology_star(&n.topology, hosts, LINK_BPS, SIM_PS_PER_US, &e) != 0)
        stop(&e);
    open_network(&n, name, all_to_the_last);
    measure(&n, us, floor);
    close_network(&n);
}

static double measure_fat_tree(const char *name, uint32_t k, int64_t us)
{
    struct network n = {0};
    struct error e = {""};
    if (sim_topology_fat_tree(&n.topology, k, LINK_BPS, SIM_PS_PER_US, &e) != 0)
        stop(&e);
    open_network(&n, name, eight_further);
    double ns = measure(&n, us, "");
    close_network(&n);
    return ns;
}

/* The PFC experiment's GPU cell for ten seconds: PCIe Gen3 x8, 64 KiB writes both ways, stalls as in
 * labs/sim-geforce-pair.json. */
static void measure_pair(void)
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
    printf("%-24s %5.1f simulated seconds a second (floor 1), %.1f MB, %llu allocations\n",
           "pair, GPU both ways", 10e9 / ns, (double)work.bytes / 1e6,
           (unsigned long long)(work.allocations - before.allocations));
    sim_free(sim);
}

int main(void)
{
    measure_pair();
    measure_star("one switch, 2 to 1", 3, 20000, " (floor 15)");
    measure_star("one switch, 16 to 1", 17, 10000, "");
    double small = measure_leaf_spine("leaf-spine, 32 hosts", 4, 8, 8, 3000, " (floor 10)");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-24s %5.1f MB (ceiling 30)\n", "resident so far", (double)usage.ru_maxrss / 1e3);
    double large = measure_fat_tree("fat tree, 432 hosts", 12, 300);
    printf("%-24s %5.2f times as much for a hop (ceiling 1.5)\n", "432 hosts against 32", large / small);
    return 0;
}
