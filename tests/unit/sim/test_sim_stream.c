/* Flows that come and go (sim/stream.c): the same as flows that stay, whatever the threads and the steps, in
 * memory for those that live at one time. */
#include "sim/faults/faults.h"
#include "sim/workload.h"
#include "tests/unit/sim/sim_fixture.h"

#define US      SIM_PS_PER_US
#define MS      (1000 * US)
#define GBPS(x) ((x)*INT64_C(1000000000))
#define HOSTS   16 /* of a fat tree of 4-port switches */
#define FLOWS   3000
#define END_PS  (8 * MS)

/* What became of a flow. */
struct fate {
    int64_t start_ps, finished_ps, bytes, delivered_bytes, marked, again, decreases, ideal_ps;
    uint32_t from, to;
};

struct source {
    struct sim_workload_config workload;
    uint32_t hosts[HOSTS];
    int64_t links[HOSTS];
    struct sim_poisson arrivals;
    struct fate fates[FLOWS];
    size_t ended, alive;
};

static void source_rewind(void *context)
{
    struct source *s = context;
    struct error e;
    assert_int_equal(sim_poisson_begin(&s->arrivals, &s->workload, &e), 0);
}

static bool source_next(void *context, struct sim_flow_config *flow)
{
    return sim_poisson_next(&((struct source *)context)->arrivals, flow);
}

static void note(struct source *s, const struct sim_streamed *flow)
{
    const struct sim_flow_stats *stats = &flow->stats;
    assert_true(flow->number < FLOWS);
    assert_ptr_equal(flow->name, s->workload.flow.name);
    s->fates[flow->number] = (struct fate){flow->start_ps,
                                           stats->finished_ps,
                                           stats->bytes,
                                           stats->delivered_bytes,
                                           stats->marked_packets,
                                           stats->retransmitted_packets,
                                           stats->decreases,
                                           flow->ideal_ps,
                                           flow->from,
                                           flow->to};
}

static void source_ended(void *context, const struct sim_streamed *flow)
{
    struct source *s = context;
    note(s, flow);
    s->ended++;
}

static void source_alive(void *context, const struct sim_streamed *flow)
{
    struct source *s = context;
    note(s, flow);
    s->alive++;
}

/* Marks, loss, links that fail, two kinds of congestion control and of NICs. */
static void open_network(struct fixture *f, struct source *s, const char *control)
{
    static struct sim_link_state states[2];
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_fat_tree(&t, 4, GBPS(100), US, &e), 0);
    for (size_t i = 0; i < t.link_count; i++)
        t.links[i].loss_per_billion = 20000;
    fixture_open(f, &t);
    states[0] = (struct sim_link_state){.link = 20, .at_ps = 300 * US, .up = false};
    states[1] = (struct sim_link_state){.link = 20, .at_ps = 600 * US, .up = true};
    f->config.link_states = states;
    f->config.link_state_count = 2;
    for (uint32_t h = 0; h < HOSTS; h++) {
        struct sim_settings *settings = &f->hosts[h].settings;
        settings->congestion_control = sim_congestion_control(control);
        settings->ecn_rp_mask = settings->ecn_np_mask = 1u << LOSSLESS;
        f->hosts[h].nic.ack_timeout_ps = 100 * US;
        f->hosts[h].nic.min_ack_timeout_limit_disabled = h % 4 == 1;
        f->hosts[h].nic.recovery = h % 2 ? PHYSICS_SELECTIVE_REPEAT : PHYSICS_GO_BACK_N;
    }
    for (size_t i = 0; i < f->config.switch_count; i++)
        f->switches[i].physics.ecn =
            (struct physics_ecn){.kmin_bytes = 5000, .kmax_bytes = 200000, .pmax = 0.1};
    memset(s, 0, sizeof *s);
    for (uint32_t h = 0; h < HOSTS; h++) {
        s->hosts[h] = h;
        s->links[h] = GBPS(100);
    }
    s->workload = (struct sim_workload_config){.pattern = PATTERN_POISSON,
                                               .from = s->hosts,
                                               .from_count = HOSTS,
                                               .sizes = SIM_SIZES_HADOOP,
                                               .rounds = 1,
                                               .load = 0.5,
                                               .link_bps = s->links,
                                               .most_flows = FLOWS,
                                               .seed = 7};
    sim_flow_defaults(&s->workload.flow);
    s->workload.flow.name = "bg";
    s->workload.flow.priority = LOSSLESS;
    s->workload.flow.payload_bytes = 1000;
    s->workload.flow.depth = 1;
}

/* One flow that stays, so that the streamed ones are not the first; returns what was sent over all links. */
static uint64_t run(struct fixture *f, struct source *s, bool stays, uint32_t threads, int64_t step_ps,
                    struct sim_work *work)
{
    struct sim_stream stream = {source_rewind, source_next, source_ended, s};
    struct sim_flow_config *flows;
    struct error e;
    size_t count = 0;
    f->config.flow_count = 0;
    fixture_flow(f, 0, 9, 0);
    if (stays) {
        assert_int_equal(sim_workload_make(&s->workload, 1, &flows, &count, &e), 0);
        for (size_t i = 0; i < count; i++)
            *fixture_flow(f, 0, 1, 1) = flows[i];
        free(flows);
    }
    f->config.threads = threads;
    f->config.stream = stays ? NULL : &stream;
    struct sim *sim = fixture_start(f);
    for (int64_t at_ps = step_ps; at_ps <= END_PS; at_ps += step_ps)
        fixture_run(sim, at_ps);
    for (size_t i = 1; i <= count; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        s->fates[i - 1] = (struct fate){f->flows[i].start_ps, stats.finished_ps,
                                        stats.bytes,          stats.delivered_bytes,
                                        stats.marked_packets, stats.retransmitted_packets,
                                        stats.decreases,      (int64_t)sim_flow_ideal_ps(sim, i),
                                        f->flows[i].from,     f->flows[i].to};
    }
    sim_stream_alive(sim, source_alive, s);
    sim_work(sim, work);
    uint64_t hops = work->hops;
    sim_free(sim);
    return hops;
}

static void expect_same(const char *control)
{
    struct fixture f;
    static struct source stay, come;
    struct sim_work work, less;
    static const struct {
        uint32_t threads;
        int64_t step_ps;
    } ways[] = {{1, END_PS}, {3, END_PS}, {1, 10 * US}};
    open_network(&f, &stay, control);
    uint64_t hops = run(&f, &stay, true, 1, END_PS, &work);
    size_t finished = 0, marked = 0, again = 0;
    for (size_t i = 0; i < FLOWS; i++) {
        finished += stay.fates[i].finished_ps >= 0;
        marked += stay.fates[i].marked > 0;
        again += stay.fates[i].again > 0;
    }
    assert_true(finished > FLOWS * 9 / 10 && marked > 50 && again > 5);
    fixture_close(&f);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        open_network(&f, &come, control);
        assert_int_equal(run(&f, &come, false, ways[w].threads, ways[w].step_ps, &less), hops);
        assert_int_equal(come.ended + come.alive, FLOWS);
        assert_true(come.ended > FLOWS / 2);
        for (size_t i = 0; i < FLOWS; i++) {
            /* Once it has ended, a flow that stays still counts; one that came and went does not. */
            if (stay.fates[i].finished_ps >= 0)
                come.fates[i].decreases = stay.fates[i].decreases;
            if (memcmp(&stay.fates[i], &come.fates[i], sizeof(struct fate)) != 0)
                fail_msg("%s, way %zu: flow %zu: finished at %lld, staying at %lld", control, w, i,
                         (long long)come.fates[i].finished_ps, (long long)stay.fates[i].finished_ps);
        }
        fixture_close(&f);
    }
}

static void come_and_go_as_if_they_stayed(void **state)
{
    (void)state;
    expect_same("dcqcn");
    expect_same("hpcc");
    expect_same("timely");
}

/* Memory is that of the flows that live at one time, and of the network. */
static void take_memory_while_they_live(void **state)
{
    (void)state;
    struct fixture f;
    static struct source s;
    struct sim_work work[2];
    for (int stays = 0; stays < 2; stays++) {
        open_network(&f, &s, "dcqcn");
        s.workload.load = 0.1;
        (void)run(&f, &s, stays, 1, MS / 10, &work[stays]);
        fixture_close(&f);
    }
    if (work[0].bytes > work[1].bytes / 2)
        fail_msg("%d flows that come and go take %llu bytes, and %llu if they stay", FLOWS,
                 (unsigned long long)work[0].bytes, (unsigned long long)work[1].bytes);
}

static void refused(struct fixture *f, struct source *s, const char *word)
{
    struct sim_stream stream = {source_rewind, source_next, source_ended, s};
    struct error e = {""};
    f->config.stream = &stream;
    assert_null(sim_new(&f->config, &e));
    if (!strstr(e.text, word))
        fail_msg("%s", e.text);
    fixture_close(f);
}

static void unfit_flows_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    static struct source s;
    open_network(&f, &s, "dcqcn");
    s.workload.flow.operation = SIM_READ;
    refused(&f, &s, "cannot come and go");
    open_network(&f, &s, "dcqcn");
    s.workload.flow.payload_bytes = -1;
    refused(&f, &s, "packet payload");
    open_network(&f, &s, "dcqcn");
    s.workload.flow.record_latency = true;
    refused(&f, &s, "waits or histogram");
    open_network(&f, &s, "dcqcn");
    f.config.link_state_count = 0;
    for (uint32_t link = HOSTS; link < f.config.link_count; link++) /* the last pod's uplinks join its own */
        if (f.topology.links[link].a.index >= 14)
            f.topology.links[link].b.index = 14 + link % 2;
    refused(&f, &s, "no path");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_and_go_as_if_they_stayed),
        cmocka_unit_test(take_memory_while_they_live),
        cmocka_unit_test(unfit_flows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
