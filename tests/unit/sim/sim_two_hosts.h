/* Two hosts and a cable, for tests of the simulator: 25 Gb/s, PCIe Gen3 x8, MTU 4200, PFC on priority 0
 * unless a test says otherwise. */
#ifndef TESTS_SIM_TWO_HOSTS_H
#define TESTS_SIM_TWO_HOSTS_H

#include "sim/islands/team.h"
#include "sim/sim.h"
#include "tests/unit/unit.h"

struct two_hosts {
    struct sim_config config;
    struct sim_host_config hosts[2];
    struct sim_link_config link;
    struct sim_flow_config flows[4];
    struct sim *sim;
};

static inline void two_hosts_init(struct two_hosts *t)
{
    memset(t, 0, sizeof *t);
    sim_config_defaults(&t->config);
    for (int i = 0; i < 2; i++) {
        sim_host_defaults(&t->hosts[i]);
        t->hosts[i].name = i ? "b" : "a";
        t->hosts[i].pcie.generation = 3;
        t->hosts[i].settings.mtu_bytes = 4200;
        t->hosts[i].settings.pfc_mask = 1;
    }
    t->link = (struct sim_link_config){
        .a = {SIM_HOST, 0}, .b = {SIM_HOST, 1}, .rate_bps = INT64_C(25000000000), .delay_ps = 5000};
    t->config.hosts = t->hosts;
    t->config.host_count = 2;
    t->config.links = &t->link;
    t->config.link_count = 1;
    t->config.flows = t->flows;
}

static inline struct sim_flow_config *two_hosts_flow(struct two_hosts *t, uint32_t from)
{
    struct sim_flow_config *f = &t->flows[t->config.flow_count++];
    sim_flow_defaults(f);
    f->from = from;
    f->to = 1 - from;
    return f;
}

static inline void two_hosts_start(struct two_hosts *t)
{
    struct error e = {""};
    t->sim = sim_new(&t->config, &e);
    if (!t->sim)
        fail_msg("%s", e.text);
}

/* Between runs a test has made something happen: let the islands' threads see it. */
static inline void two_hosts_look(struct two_hosts *t)
{
    for (uint32_t i = 0; i < t->sim->island_count; i++) {
        struct island *island = &t->sim->islands[i];
        int64_t next_ps = events_next_ps(&island->queue);
        if (next_ps < SIM_FOREVER)
            event_reschedule(&t->sim->team->members[island->thread].due, island->event, next_ps);
    }
}

static inline void two_hosts_run(struct two_hosts *t, int64_t until_ps)
{
    struct error e = {""};
    if (!t->sim)
        two_hosts_start(t);
    two_hosts_look(t);
    if (sim_run_until(t->sim, until_ps, &e) != 0)
        fail_msg("%s", e.text);
}

static inline void two_hosts_close(struct two_hosts *t)
{
    sim_free(t->sim);
}

static inline int64_t two_hosts_value(const struct two_hosts *t, uint32_t host, const char *name)
{
    const struct sim_counter *columns;
    int64_t values[512];
    size_t count = sim_host_counters(t->sim, host, &columns);
    assert_true(count <= 512);
    sim_host_values(t->sim, host, values);
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return values[i];
    fail_msg("no counter %s", name);
    return -1;
}

static inline struct sim_flow_stats two_hosts_stats(const struct two_hosts *t, size_t flow)
{
    struct sim_flow_stats stats;
    sim_flow_stats(t->sim, flow, &stats);
    return stats;
}

static inline double two_hosts_bytes_per_s(const struct two_hosts *t, size_t flow)
{
    return (double)two_hosts_stats(t, flow).bytes / (double)sim_now_ps(t->sim) * (double)SIM_PS_PER_S;
}

static inline void assert_close(double is, double expected, double tolerance)
{
    double off = is / expected - 1;
    if (!(off <= tolerance && off >= -tolerance))
        fail_msg("%g, expected %g within %g %%", is, expected, 100 * tolerance);
}

#endif
