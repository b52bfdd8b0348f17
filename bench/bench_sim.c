/*
 * Speed of the simulator: packets that crossed a link (data, ACK, PFC) a second of wall time, on the networks that
 * other simulators were measured on, and the ratio of simulated to wall time of the PFC experiment's pair.
 */
#include "lib/clock.h"
#include "sim/fabric.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define GBPS INT64_C(1000000000)

/* A network under construction. */
struct network {
    struct sim_config config;
    struct sim_host_config *hosts;
    struct sim_switch_config *switches;
    struct sim_link_config *links;
    struct sim_flow_config *flows;
};

static void *array(size_t count, size_t size)
{
    void *a = calloc(count, size);
    if (!a)
        exit(2);
    return a;
}

/* The physics of the HPCC simulator (2021-03 state) at 100 Gb/s: an ACK a packet with a congestion bit, no CNP, no PCIe, a pause
 * lasts until resumed, DCQCN without byte counter. */
static void open_network(struct network *n, size_t hosts, size_t switches, size_t links, size_t flows)
{
    sim_config_defaults(&n->config);
    n->config.truncate_to_ns = true;
    n->config.framing = (struct sim_framing){.data_bytes = 48, .ack_bytes = 60, .pfc_bytes = 43};
    n->hosts = array(hosts, sizeof *n->hosts);
    n->switches = array(switches, sizeof *n->switches);
    n->links = array(links, sizeof *n->links);
    n->flows = array(flows, sizeof *n->flows);
    for (size_t i = 0; i < hosts; i++) {
        struct sim_host_config *h = &n->hosts[i];
        sim_host_defaults(h);
        h->nic.ack_every_packets = 1;
        h->nic.ack_coalescing = false;
        h->nic.ack_unpaused = true;
        h->nic.pause_quanta = 0;
        h->nic.congestion_on_ack = true;
        h->settings.ecn_rp_mask = h->settings.ecn_np_mask = 1 << 3;
        h->settings.pfc_mask = 1 << 3;
        struct sim_dcqcn_rp *rp = &h->settings.rp;
        rp->dce_tcp_rtt = 1;
        rp->rate_reduce_monitor_period = 4;
        rp->rpg_time_reset = 300;
        rp->dce_tcp_g = 1020;
        rp->rpg_threshold = 1;
        rp->rpg_ai_rate = 20;
        rp->rpg_hai_rate = 200;
        rp->rpg_min_rate = 1000;
        rp->rpg_byte_reset = 0;
        rp->rpg_gd = 11;
        rp->rpg_min_dec_fac = 0;
        rp->clamp_tgt_rate_after_time_inc = 1;
    }
    for (size_t i = 0; i < switches; i++) {
        struct sim_switch_config *s = &n->switches[i];
        sim_switch_defaults(s);
        s->name = "switch";
        s->buffer_bytes = 32 << 20;
        s->pfc_mask = s->ecn_mask = 1 << 3;
        s->reserve_bytes = 4096;
        s->xoff_alpha = 0.125;
        s->xon_offset_bytes = 3072;
        s->headroom_bytes = -1;
        s->headroom_delays = 3;
        s->pause_quanta = 0;
        s->ecn = (struct sim_ecn_config){.kmin_bytes = 400000, .kmax_bytes = 1600000, .pmax = 0.2};
    }
    n->config.hosts = n->hosts;
    n->config.host_count = hosts;
    n->config.switches = n->switches;
    n->config.switch_count = switches;
    n->config.links = n->links;
    n->config.link_count = 0;
    n->config.flows = n->flows;
    n->config.flow_count = 0;
}

static void close_network(struct network *n)
{
    free(n->hosts);
    free(n->switches);
    free(n->links);
    free(n->flows);
}

static struct sim_node host(size_t i)
{
    return (struct sim_node){SIM_HOST, (uint32_t)i};
}

static struct sim_node sw(size_t i)
{
    return (struct sim_node){SIM_SWITCH, (uint32_t)i};
}

static void add_link(struct network *n, struct sim_node a, struct sim_node b)
{
    n->links[n->config.link_count++] =
        (struct sim_link_config){.a = a, .b = b, .rate_bps = 100 * GBPS, .delay_ps = SIM_PS_PER_US};
}

static void add_flow(struct network *n, size_t from, size_t to)
{
    struct sim_flow_config *f = &n->flows[n->config.flow_count++];
    sim_flow_defaults(f);
    f->from = (uint32_t)from;
    f->to = (uint32_t)to;
    f->operation = SIM_SEND;
    f->priority = 3;
    f->payload_bytes = 1000;
    f->message_bytes = 1000000000;
    f->depth = 2;
}

/* Hosts 0 and 1 send to 2 through one switch. */
static void make_one_switch(struct network *n)
{
    open_network(n, 3, 1, 3, 2);
    for (size_t i = 0; i < 3; i++)
        add_link(n, host(i), sw(0));
    add_flow(n, 0, 2);
    add_flow(n, 1, 2);
}

/* Leaves of `each` hosts, as many spines as hosts a leaf; host h sends to the same place of the next leaf. */
static void make_leaf_spine(struct network *n, size_t leaves, size_t each, size_t spines)
{
    size_t hosts = leaves * each;
    open_network(n, hosts, leaves + spines, hosts + leaves * spines, hosts);
    for (size_t h = 0; h < hosts; h++)
        add_link(n, host(h), sw(h / each));
    for (size_t l = 0; l < leaves; l++)
        for (size_t s = 0; s < spines; s++)
            add_link(n, sw(l), sw(leaves + s));
    for (size_t h = 0; h < hosts; h++)
        add_flow(n, h, (h + each) % hosts);
}

/* Run, print, and return nanoseconds a hop. The best of some runs: what disturbs only slows. */
static double measure(const char *name, const struct network *n, double milliseconds, double least_million)
{
    double best = 0;
    struct sim_work work;
    double goodput = 0;
    for (int i = 0; i < 3; i++) {
        struct error e = {""};
        struct sim *sim = sim_new(&n->config, &e);
        int64_t until = (int64_t)(milliseconds * 1e9), start = clock_monotonic_ns();
        if (!sim || sim_run_until(sim, until, &e) != 0) {
            fprintf(stderr, "bench_sim: %s\n", e.text);
            exit(2);
        }
        double ns = (double)(clock_monotonic_ns() - start);
        sim_work(sim, &work);
        goodput = 0;
        for (size_t f = 0; f < n->config.flow_count; f++)
            goodput += (double)sim_flow_acked_bytes(sim, f) * 8e-6 / milliseconds;
        if (best == 0 || ns < best)
            best = ns;
        sim_free(sim);
    }
    double million = (double)work.hops / best * 1e3;
    printf("%-26s %6.1f M hops/s (floor %.0f)  %5.1f ns/hop  %.2f events/hop  %5.1f ns/event  pending %llu  "
           "%.1f MB  "
           "%llu allocations  %.1f Gb/s\n",
           name, million, least_million, best / (double)work.hops, (double)work.events / (double)work.hops,
           best / (double)work.events, (unsigned long long)work.pending_events, (double)work.bytes / 1e6,
           (unsigned long long)work.allocations, goodput);
    return best / (double)work.hops;
}

/* The GPU cell of the PFC experiment, its path as slow as the two hosts of labs/sim-geforce-pair.json. */
static void measure_pair(void)
{
    struct sim_host_config hosts[2];
    struct sim_flow_config flows[2];
    struct sim_link_config link = {.a = host(0), .b = host(1), .rate_bps = 25 * GBPS, .delay_ps = 5000};
    struct sim_config config;
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
    int64_t start = clock_monotonic_ns();
    if (!sim || sim_run_until(sim, 10 * SIM_PS_PER_S, &e) != 0) {
        fprintf(stderr, "bench_sim: %s\n", e.text);
        exit(2);
    }
    double seconds = (double)(clock_monotonic_ns() - start) * 1e-9;
    struct sim_work work;
    sim_work(sim, &work);
    printf("%-26s %6.1f simulated s a wall s (floor 1)  %5.1f ns/event  %.1f MB  %llu allocations\n",
           "pair, GPU both ways", 10 / seconds, seconds * 1e9 / (double)work.events, (double)work.bytes / 1e6,
           (unsigned long long)work.allocations);
    sim_free(sim);
}

int main(void)
{
    struct network n;
    measure_pair();
    make_one_switch(&n);
    measure("one switch, 2 to 1", &n, 20, 15);
    close_network(&n);
    make_leaf_spine(&n, 4, 8, 8);
    double small = measure("leaf-spine, 32 hosts", &n, 5, 10);
    close_network(&n);
    make_leaf_spine(&n, 18, 24, 24);
    double large = measure("leaf-spine, 432 hosts", &n, 0.5, 0);
    close_network(&n);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-26s %6.2f times the cost of a hop with 32 (ceiling 1.5); %.1f MB resident at most\n",
           "432 hosts", large / small, (double)usage.ru_maxrss / 1e3);
    return 0;
}
