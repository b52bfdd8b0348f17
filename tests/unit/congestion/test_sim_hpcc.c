/* HPCC: in-band telemetry on the way, and algorithm 1 of the paper step by step. */
#include "tests/unit/congestion/sim_control_steps.h"
#include "tests/unit/sim/sim_fixture.h"

#define US       SIM_PS_PER_US
#define LINE_BPS STEPS_LINE_BPS
#define T_PS     STEPS_T_PS
#define BDP      STEPS_BDP

/* ---- the algorithm */

static void hpcc_begin(struct steps *s, struct telemetry_path *path, int64_t mi_thresh)
{
    steps_open(s, "hpcc");
    s->host.settings.congestion.hpcc.mi_thresh = mi_thresh;
    s->host.settings.congestion.hpcc.int_multi = 0;
    s->host.settings.congestion.hpcc.rate_ai_bps = 50000000;
    steps_start(s);
    *path = (struct telemetry_path){.count = 1, .hops = {{.rate_bps = STEPS_LINE_BPS}}};
    s->ack.path = path;
}

/* An ACK of a packet that left the first hop `ps` after the last one's, with so much sent since and queued
 * behind it. With `round_trip` all that was in flight has come back. */
static double step(struct steps *s, struct telemetry_path *path, int64_t ps, int64_t sent_bytes,
                   uint32_t queued_bytes, bool round_trip)
{
    path->hops[0].left_ps += ps;
    path->hops[0].sent_bytes += sent_bytes;
    path->hops[0].queued_bytes = queued_bytes;
    return steps_ack(s, round_trip ? 100 : 0, 99);
}

/* U = txRate / B + min(qlen, last qlen) / (B T); over a whole T the average is that. */
static void follows_the_paper(void **state)
{
    (void)state;
    struct steps s;
    struct telemetry_path path;
    hpcc_begin(&s, &path, 0);
    assert_near(step(&s, &path, 0, 0, BDP / 2, true), 100e9); /* the first ACK only begins */
    double rate = 100e9 / (1.5 / 0.95) + 50e6;
    assert_near(step(&s, &path, T_PS, BDP, BDP, true), rate); /* the smaller queue counts: U = 1 + 1/2 */
    /* Half a round trip: the average has half of the old U, and ACKs of the same round trip begin from the
     * same rate. */
    assert_near(step(&s, &path, T_PS / 2, BDP / 4, 0, false), rate / ((1.5 / 2 + 0.5 / 2) / 0.95) + 50e6);
    assert_near(step(&s, &path, T_PS, BDP, 0, false), rate / (1 / 0.95) + 50e6);
    assert_near(step(&s, &path, T_PS, BDP / 10, 0, true),
                100e9); /* an idle link: not above the line's rate */
    steps_close(&s);
}

/* Up to maxStage additive steps while U is below eta, then one that multiplies. */
static void stages(void **state)
{
    (void)state;
    struct steps s;
    struct telemetry_path path;
    hpcc_begin(&s, &path, 2);
    step(&s, &path, 0, 0, 3 * BDP, true);
    double rate = step(&s, &path, T_PS, BDP, 3 * BDP, true);
    assert_near(rate, 100e9 / (4 / 0.95) + 50e6);
    for (int i = 0; i < 2; i++)
        assert_near(step(&s, &path, T_PS, BDP / 2, 0, true), rate += 50e6);
    assert_near(step(&s, &path, T_PS, BDP / 2, 0, true), rate * (0.95 / 0.5) + 50e6);
    steps_close(&s);
}

/* The bottleneck is the hop with the largest U; two ACKs of one nanosecond, and none with telemetry, change
 * nothing. */
static void worst_hop_and_odd_acks(void **state)
{
    (void)state;
    struct steps s;
    struct telemetry_path path;
    hpcc_begin(&s, &path, 0);
    path.count = 2;
    path.hops[1] = (struct telemetry_hop){.rate_bps = 4 * LINE_BPS};
    step(&s, &path, 0, 0, 0, true);
    path.hops[1].left_ps += T_PS;
    path.hops[1].sent_bytes += 8 * BDP; /* 2 of a link with four times the rate; the first hop has 1 */
    double rate = step(&s, &path, T_PS, BDP, 0, true);
    assert_near(rate, 100e9 / (2 / 0.95) + 50e6);
    path.count = 1;
    assert_true(isfinite(step(&s, &path, 0, 0, 0, false)));
    assert_true(isfinite(step(&s, &path, 0, 100000, 0, false)));
    path.count = 0;
    rate = step(&s, &path, T_PS, 0, 0, false);
    assert_near(step(&s, &path, T_PS, 0, 0, true), rate);
    steps_close(&s);
}

/* ---- the telemetry */

struct seen {
    struct telemetry_path last;
    int64_t acks;
    bool ordered, counted;
};

static void see(void *state, const void *params, const struct congestion_ack *ack)
{
    struct seen *seen = state;
    (void)params;
    if (!seen->acks++)
        seen->ordered = seen->counted = true;
    for (uint32_t i = 0; i < ack->path->count; i++) {
        const struct telemetry_hop *hop = &ack->path->hops[i], *before = &seen->last.hops[i];
        if (i && hop->left_ps <= hop[-1].left_ps)
            seen->ordered = false;
        if (hop->sent_bytes < before->sent_bytes || hop->left_ps < before->left_ps)
            seen->counted = false;
    }
    seen->last = *ack->path;
}

static const struct congestion_control watcher = {.name = "watcher",
                                                  .state_bytes = sizeof(struct seen),
                                                  .header_bytes = 42,
                                                  .path = true,
                                                  .acknowledged = see};

/* Two hosts at the ends of a line of switches. */
static void open_line(struct fixture *f, uint32_t switches, const struct congestion_control *control)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(topology_begin(&t, 2, switches, switches + 1, LINE_BPS, US, &e), 0);
    topology_attach(&t, 0, 0);
    for (uint32_t i = 0; i + 1 < switches; i++)
        topology_join(&t, i, i + 1);
    topology_attach(&t, 1, switches - 1);
    fixture_open(f, &t);
    fixture_hpcc(f, true);
    f->hosts[0].settings.congestion_control = f->hosts[1].settings.congestion_control = control;
}

static void telemetry_of_every_hop(void **state)
{
    (void)state;
    for (uint32_t switches = 1; switches <= CONGESTION_MOST_HOPS; switches++) {
        struct fixture f;
        open_line(&f, switches, &watcher);
        fixture_flow(&f, 0, 1, 100000);
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 1000 * US);
        const struct seen *seen = sim->qps[0].congestion;
        assert_int_equal(seen->acks, 100);
        assert_true(seen->ordered && seen->counted);
        assert_int_equal(seen->last.count, switches);
        /* 99 packets before the last one, with headers, and no queue at one rate */
        for (uint32_t i = 0; i < switches; i++) {
            assert_int_equal(seen->last.hops[i].sent_bytes, 99 * (1000 + 48 + 42));
            assert_int_equal(seen->last.hops[i].queued_bytes, 0);
            assert_int_equal(seen->last.hops[i].rate_bps, LINE_BPS);
        }
        assert_int_equal(counter_of(sim, false, 0, "tx_prio3_bytes"), 100 * (1000 + 48 + 42));
        assert_int_equal(counter_of(sim, false, 0, "rx_prio3_bytes"), 100 * (46 + 42));
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A link of a tenth of the rate: what is queued is what came in at ten times the rate, less what left. */
static void telemetry_shows_queues(void **state)
{
    (void)state;
    struct fixture f;
    open_line(&f, 1, &watcher);
    f.topology.links[1].rate_bps = LINE_BPS / 10;
    fixture_flow(&f, 0, 1, 100000);
    struct sim *sim = fixture_start(&f);
    uint32_t most = 0;
    for (int64_t at_ps = US; at_ps < 200 * US; at_ps += US) {
        fixture_run(sim, at_ps);
        const struct seen *seen = sim->qps[0].congestion;
        most = seen->last.hops[0].queued_bytes > most ? seen->last.hops[0].queued_bytes : most;
    }
    double expected = 90 * 1090; /* of 100 packets nine tenths wait when the last one comes */
    if (!(fabs(most - expected) < 3 * 1090))
        fail_msg("most queued: %u, expected about %.0f", most, expected);
    sim_free(sim);
    fixture_close(&f);
}

static void paths_without_room_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    open_line(&f, CONGESTION_MOST_HOPS + 1, sim_congestion_control("hpcc"));
    fixture_flow(&f, 0, 1, 1000)->name = "long";
    assert_null(sim_new(&f.config, &e));
    assert_string_equal(e.text,
                        "simulator: flow long: hpcc's telemetry has room for 5 switches, and there are "
                        "6 on the way");
    f.hosts[0].settings.ecn_rp_mask = 0; /* no reaction point: nothing needs the telemetry */
    struct sim *sim = sim_new(&f.config, &e);
    assert_non_null(sim);
    sim_free(sim);
    fixture_close(&f);
}

static void software_bridges_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    struct sim_bridge_config bridge;
    open_line(&f, 1, sim_congestion_control("hpcc"));
    sim_bridge_defaults(&bridge);
    f.config.bridges = &bridge;
    f.config.bridge_count = 1;
    for (size_t i = 0; i < 2; i++)
        f.topology.links[i].b = (struct sim_node){SIM_BRIDGE, 0};
    f.config.switch_count = 0;
    fixture_flow(&f, 0, 1, 1000)->name = "bridged";
    assert_null(sim_new(&f.config, &e));
    assert_non_null(strstr(e.text, "flow bridged: hpcc needs the telemetry of switches"));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_paper),
        cmocka_unit_test(stages),
        cmocka_unit_test(worst_hop_and_odd_acks),
        cmocka_unit_test(telemetry_of_every_hop),
        cmocka_unit_test(telemetry_shows_queues),
        cmocka_unit_test(paths_without_room_are_refused),
        cmocka_unit_test(software_bridges_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
