/* The seam for congestion control, with a row of the test's own that keeps all it hears. */
#include "tests/unit/sim/sim_fixture.h"

#define US        SIM_PS_PER_US
#define RATE_BPS  INT64_C(100000000000)
#define NO_WINDOW INT64_MAX

struct heard {
    int64_t window_bytes;
    int64_t acked_bytes, marked_bytes;
    int64_t acks, cnps, time_outs, timer_calls;
    int64_t least_rtt_ps, most_rtt_ps, last_timer_ps;
};

static void hear_start(void *state, const void *params)
{
    (void)params;
    *(struct heard *)state = (struct heard){.window_bytes = NO_WINDOW, .least_rtt_ps = SIM_FOREVER};
}

static void hear_start_small(void *state, const void *params)
{
    hear_start(state, params);
    ((struct heard *)state)->window_bytes = 20000;
}

static int64_t hear_window(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return ((const struct heard *)state)->window_bytes;
}

static void hear_ack(void *state, const void *params, const struct congestion_ack *ack)
{
    struct heard *h = state;
    (void)params;
    assert_true(ack->telemetry->sent_ps == ack->now_ps - ack->rtt_ps);
    h->acks++;
    h->acked_bytes += ack->acked_bytes;
    h->marked_bytes += ack->marked ? ack->acked_bytes : 0;
    h->least_rtt_ps = ack->rtt_ps < h->least_rtt_ps ? ack->rtt_ps : h->least_rtt_ps;
    h->most_rtt_ps = ack->rtt_ps > h->most_rtt_ps ? ack->rtt_ps : h->most_rtt_ps;
}

static void hear_cnp(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    ((struct heard *)state)->cnps++;
}

static void hear_time_out(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    ((struct heard *)state)->time_outs++;
}

/* Every 10 us, five times. */
static int64_t hear_timer(void *state, const void *params, int64_t now_ps)
{
    struct heard *h = state;
    (void)params;
    h->last_timer_ps = now_ps;
    return ++h->timer_calls < 5 ? now_ps + 10 * US : SIM_FOREVER;
}

/* A closed window that the timer opens. */
static void closed_start(void *state, const void *params)
{
    hear_start(state, params);
    ((struct heard *)state)->window_bytes = 0;
}

static int64_t opening_timer(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    if (now_ps >= 100 * US)
        ((struct heard *)state)->window_bytes = NO_WINDOW;
    return now_ps >= 100 * US ? SIM_FOREVER : 100 * US;
}

static double read_acked(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return (double)((const struct heard *)state)->acked_bytes;
}

static const struct congestion_gauge gauges[] = {
    {"acked", false, read_acked},
    {"mean_acked", true, read_acked},
};

static const struct congestion_control listener = {.name = "listener",
                                                   .state_bytes = sizeof(struct heard),
                                                   .start = hear_start,
                                                   .acknowledged = hear_ack,
                                                   .timed_out = hear_time_out,
                                                   .timer = hear_timer,
                                                   .gauges = gauges,
                                                   .gauge_count = 2};
static const struct congestion_control notified = {.name = "notified",
                                                   .state_bytes = sizeof(struct heard),
                                                   .start = hear_start,
                                                   .acknowledged = hear_ack,
                                                   .notified = hear_cnp};
static const struct congestion_control small_window = {.name = "small window",
                                                       .state_bytes = sizeof(struct heard),
                                                       .start = hear_start_small,
                                                       .window_bytes = hear_window,
                                                       .acknowledged = hear_ack};
static const struct congestion_control window_and_cnps = {.name = "window and CNPs",
                                                          .state_bytes = sizeof(struct heard),
                                                          .start = hear_start_small,
                                                          .window_bytes = hear_window,
                                                          .notified = hear_cnp};
static const struct congestion_control opening = {.name = "opening",
                                                  .state_bytes = sizeof(struct heard),
                                                  .start = closed_start,
                                                  .window_bytes = hear_window,
                                                  .timer = opening_timer};

/* A packet every microsecond, and after ten ACKs a window of one byte. */
static int64_t slow_gap(void *state, const void *params, int64_t now_ps, uint32_t bytes)
{
    (void)state;
    (void)params;
    (void)now_ps;
    (void)bytes;
    return US;
}

static void shrink_on_ack(void *state, const void *params, const struct congestion_ack *ack)
{
    struct heard *h = state;
    hear_ack(state, params, ack);
    if (h->acks == 10)
        h->window_bytes = 1;
}

static const struct congestion_control shrinking = {.name = "shrinking",
                                                    .state_bytes = sizeof(struct heard),
                                                    .start = hear_start_small,
                                                    .gap_ps = slow_gap,
                                                    .window_bytes = hear_window,
                                                    .acknowledged = shrink_on_ack};

/* Gaps of 7 us until the tenth ACK, then none. */
static int64_t last_gap(const void *state, const void *params)
{
    (void)params;
    return ((const struct heard *)state)->acks < 10 ? 7 * US : 0;
}

static int64_t next_gap(void *state, const void *params, int64_t now_ps, uint32_t bytes)
{
    (void)now_ps;
    (void)bytes;
    return last_gap(state, params);
}

static const struct congestion_control shortening = {.name = "shortening",
                                                     .state_bytes = sizeof(struct heard),
                                                     .start = hear_start,
                                                     .gap_ps = next_gap,
                                                     .last_gap_ps = last_gap,
                                                     .acknowledged = hear_ack};

/* `hosts` on a switch, all with this control on the flows' priority. */
static void open_star(struct fixture *f, uint32_t hosts, const struct congestion_control *control)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, hosts, RATE_BPS, US, &e), 0);
    fixture_open(f, &t);
    for (uint32_t i = 0; i < hosts; i++) {
        f->hosts[i].settings.ecn_rp_mask = f->hosts[i].settings.ecn_np_mask = 1u << LOSSLESS;
        f->hosts[i].settings.congestion_control = control;
    }
}

static const struct heard *heard_of(const struct sim *sim, uint32_t q)
{
    return sim->qps[q].congestion;
}

static int64_t wire_ps(const struct fixture *f, int64_t bytes)
{
    return (bytes + f->config.framing.gap_bytes) * 8 * SIM_PS_PER_S / RATE_BPS;
}

/* A flow that is alone on its way sees the way's own round trip in every ACK, and each byte is acknowledged
 * once. */
static void hears_acknowledgements(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2, &listener);
    fixture_flow(&f, 0, 1, 10500)->queue_pairs = 1;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 100 * US);
    const struct heard *h = heard_of(sim, 0);
    const struct physics_framing *framing = &f.config.framing;
    int64_t packet_ps = wire_ps(&f, 1000 + framing->data_bytes), ack_ps = wire_ps(&f, framing->ack_bytes);
    int64_t round_trip_ps = 2 * packet_ps + 2 * ack_ps + 4 * US;
    assert_int_equal(h->acked_bytes, 10500);
    assert_int_equal(h->acks, 11);
    assert_int_equal(h->marked_bytes, 0);
    assert_true(h->most_rtt_ps <= round_trip_ps + 2 * wire_ps(&f, framing->reth_bytes));
    assert_true(h->least_rtt_ps >= 2 * wire_ps(&f, 500 + framing->data_bytes) + 2 * ack_ps + 4 * US - 10);
    assert_true(sim_flow_gauge_value(sim, 0, 0) == 10500);
    assert_string_equal(sim_flow_congestion_control(sim, 0), "listener");
    assert_int_equal(h->timer_calls, 5);
    assert_int_equal(h->last_timer_ps, 40 * US);
    sim_free(sim);
    fixture_close(&f);
}

/* Sums and means over a flow's queue pairs. */
static void shows_gauges(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2, &listener);
    fixture_flow(&f, 0, 1, 8000)->queue_pairs = 4;
    fixture_flow(&f, 0, 1, 8000)->priority = 0; /* no reaction point there */
    struct sim_flow_config *both = fixture_flow(&f, 0, 1, 500);
    both->mode = SIM_PING_PONG; /* has a queue pair at each end: the gauges are the first host's */
    both->queue_pairs = 1;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 100 * US);
    assert_true(sim_flow_gauge_value(sim, 2, 0) == heard_of(sim, sim->flows[2].first_qp)->acked_bytes);
    assert_true(sim_flow_gauge_value(sim, 2, 1) == heard_of(sim, sim->flows[2].first_qp)->acked_bytes);
    assert_int_equal(sim_flow_gauges(sim, 0), 2);
    assert_true(sim_flow_gauge_value(sim, 0, 0) == 32000);
    assert_true(sim_flow_gauge_value(sim, 0, 1) == 8000);
    assert_null(sim_flow_congestion_control(sim, 1));
    assert_int_equal(sim_flow_gauges(sim, 1), 0);
    sim_free(sim);
    fixture_close(&f);
}

static struct sim *run_marked(struct fixture *f, const struct congestion_control *control)
{
    open_star(f, 3, control);
    f->switches[0].physics.ecn = (struct physics_ecn){.kmin_bytes = 20000, .kmax_bytes = 20000, .pmax = 1};
    f->switches[0].ecn_mask = 1u << LOSSLESS;
    fixture_flow(f, 0, 2, 0);
    fixture_flow(f, 1, 2, 0);
    struct sim *sim = fixture_start(f);
    fixture_run(sim, 200 * US);
    return sim;
}

/* A control that hears ACKs alone gets the marks with them; one that hears CNPs too gets those. */
static void hears_marks(void **state)
{
    (void)state;
    struct fixture f;
    struct sim *sim = run_marked(&f, &listener);
    const struct heard *h = heard_of(sim, 0);
    assert_true(h->marked_bytes > 0 && h->marked_bytes < h->acked_bytes);
    assert_int_equal(hosts_counter(&f, sim, "np_cnp_sent"), 0);
    assert_int_equal(hosts_counter(&f, sim, "rp_cnp_ignored"), 0);
    sim_free(sim);
    fixture_close(&f);
    sim = run_marked(&f, &notified);
    assert_true(heard_of(sim, 0)->cnps > 0);
    assert_int_equal(heard_of(sim, 0)->marked_bytes, 0);
    assert_int_equal(hosts_counter(&f, sim, "rp_cnp_handled"),
                     heard_of(sim, 0)->cnps + heard_of(sim, 1)->cnps);
    sim_free(sim);
    fixture_close(&f);
}

/* Throughput is a window a round trip. */
static void window_limits(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2, &small_window);
    fixture_flow(&f, 0, 1, 0);
    struct sim *sim = fixture_start(&f);
    for (int64_t at_ps = 0; at_ps <= 1000 * US; at_ps += US) {
        fixture_run(sim, at_ps);
        assert_true((sim->qps[0].send_psn - sim->qps[0].acked_psn) * 1000 <= 20000);
    }
    const struct heard *h = heard_of(sim, 0);
    double round_trips = 1000.0 * (double)US / (double)h->most_rtt_ps;
    assert_true(fabs((double)h->acked_bytes / (round_trips * 20000) - 1) < 0.02);
    sim_free(sim);
    fixture_close(&f);
}

/* A queue pair that its window holds until an ACK comes, at the rate of the line, leaves the others of its
 * host their turns: a short burst to its receiver makes the queue that fills its window. */
static void a_full_window_starves_nobody(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 4, sim_congestion_control("dctcp"));
    for (size_t i = 0; i < 4; i++)
        f.hosts[i].settings.congestion.window.base_rtt_ps = 8320 * SIM_PS_PER_NS; /* twice what it is */
    fixture_flow(&f, 0, 2, 0);
    fixture_flow(&f, 1, 2, 100000)->start_ps = 20 * US;
    fixture_flow(&f, 0, 3, 100000)->start_ps = 60 * US;
    struct sim *sim = fixture_start(&f);
    struct sim_flow_stats stats;
    fixture_run(sim, 100 * US);
    sim_flow_stats(sim, 2, &stats);
    assert_true(stats.finished_ps > 0 &&
                stats.finished_ps < 85 * US); /* half the line: 17 us and a round trip */
    sim_free(sim);
    fixture_close(&f);
}

/* A queue pair that waits for its gap has room in the window; if an ACK takes the room, it waits for more
 * ACKs. */
static void window_shrinks(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t sent = 0;
    open_star(&f, 2, &shrinking);
    fixture_flow(&f, 0, 1, 100000);
    struct sim *sim = fixture_start(&f);
    const struct queue_pair *qp = &sim->qps[0];
    for (int64_t at_ps = 0; at_ps <= 1000 * US; at_ps += US / 100) {
        fixture_run(sim, at_ps);
        if (heard_of(sim, 0)->window_bytes == 1 && !sent)
            sent = qp->send_psn;
        assert_true(!sent || qp->send_psn <= sent || qp->send_psn - qp->acked_psn <= 1);
    }
    assert_true(sent > 10 && qp->acked_psn == 100);
    sim_free(sim);
    fixture_close(&f);
}

/* The window of dcqcn_vwin is a base round trip at the line's rate and falls with the rate. Its packets
 * request ACKs in a lab that otherwise has one at a message's end: here one message is twenty windows. */
static void dcqcn_with_a_window(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 3, sim_congestion_control("dcqcn_vwin"));
    f.switches[0].physics.ecn = (struct physics_ecn){.kmin_bytes = 20000, .kmax_bytes = 20000, .pmax = 1};
    f.switches[0].ecn_mask = 1u << LOSSLESS;
    fixture_flow(&f, 0, 2, 1000000);
    fixture_flow(&f, 1, 2, 1000000);
    struct sim *sim = fixture_start(&f);
    const int64_t window = sim_base_rtt_ps(sim, 0) * (RATE_BPS / 1000000000) / 8000;
    assert_int_equal(window, 52000); /* four times 1 us, and twice 1000 B at 100 Gb/s */
    int64_t least = window;
    for (int64_t at_ps = 0; at_ps <= 500 * US; at_ps += US / 2) {
        fixture_run(sim, at_ps);
        int64_t in_flight = (int64_t)(sim->qps[0].send_psn - sim->qps[0].acked_psn) * 1000;
        assert_true(in_flight < window + 1000);
        if (at_ps > 20 * US && in_flight && in_flight < least)
            least = in_flight;
    }
    assert_int_equal(flow_acked_bytes(sim, 0), 1000000);
    assert_true(least < window / 2);
    assert_true(switch_queue_peak_bytes(sim, 0, 2, LOSSLESS) <= 2 * (window + 1100));
    sim_free(sim);
    fixture_close(&f);
}

/* A flow's own limit stands when an ACK shortens the gap that has begun. */
static void own_rate_limit_stands(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t sent = 1;
    int64_t last_ps = 0;
    open_star(&f, 2, &shortening);
    fixture_flow(&f, 0, 1, 20000)->rate_bps = RATE_BPS / 100;
    struct sim *sim = fixture_start(&f);
    for (int64_t at_ps = US / 10; at_ps <= 300 * US; at_ps += US / 10) {
        fixture_run(sim, at_ps);
        if (sim->qps[0].send_psn == sent)
            continue;
        assert_true(at_ps - last_ps >= 8 * US); /* 1000 B at 1 Gb/s */
        sent = sim->qps[0].send_psn;
        last_ps = at_ps;
    }
    assert_true(heard_of(sim, 0)->acks == 20);
    sim_free(sim);
    fixture_close(&f);
}

/* Nothing is sent before the timer opens the window. */
static void timer_opens_window(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2, &opening);
    fixture_flow(&f, 0, 1, 10000);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 100 * US);
    assert_int_equal(hosts_counter(&f, sim, "tx_prio3_packets"), 0);
    fixture_run(sim, 200 * US);
    assert_int_equal(flow_acked_bytes(sim, 0), 10000);
    sim_free(sim);
    fixture_close(&f);
}

/* What is lost is sent again through a window, and the control is told of time-outs. */
static void survives_loss(void **state)
{
    (void)state;
    static const struct congestion_control *const controls[] = {&listener, &small_window};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        open_star(&f, 2, controls[i]);
        f.hosts[0].nic.ack_timeout_ps = f.hosts[1].nic.ack_timeout_ps = 50 * US;
        f.topology.links[1].loss_per_billion = 50000000;
        fixture_flow(&f, 0, 1, 500000);
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 20000 * US);
        assert_int_equal(flow_acked_bytes(sim, 0), 500000);
        assert_true(counter_of(sim, false, 0, "packet_seq_err") > 0);
        if (controls[i]->timed_out)
            assert_int_equal(heard_of(sim, 0)->time_outs, counter_of(sim, false, 0, "local_ack_timeout_err"));
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A read's responses are not acknowledged: a window does not stop them, and a control that only hears ACKs is
 * refused. */
static void reads_have_no_window(void **state)
{
    (void)state;
    struct fixture f;
    struct error e;
    open_star(&f, 2, &small_window);
    fixture_flow(&f, 0, 1, 500000)->operation = SIM_READ;
    assert_null(sim_new(&f.config, &e));
    assert_non_null(strstr(e.text, "flow flow: small window needs ACKs, and a read's responses have none"));
    fixture_close(&f);
    open_star(&f, 2, &window_and_cnps);
    fixture_flow(&f, 0, 1, 500000)->operation = SIM_READ;
    struct sim *sim = fixture_start(&f);
    struct sim_flow_stats stats;
    fixture_run(sim, 1000 * US);
    sim_flow_stats(sim, 0, &stats);
    assert_int_equal(stats.bytes, 500000);
    sim_free(sim);
    fixture_close(&f);
}

/* "none": full rate, whatever is marked; CNPs are counted as ignored. DCQCN slows down. */
static void none_and_dcqcn(void **state)
{
    (void)state;
    int64_t bytes[2];
    static const char *const names[] = {"none", "dcqcn"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        const struct congestion_control *control = sim_congestion_control(names[i]);
        assert_non_null(control);
        assert_string_equal(sim_congestion_control_name(control), names[i]);
        struct sim *sim = run_marked(&f, control);
        bytes[i] = flow_acked_bytes(sim, 0) + flow_acked_bytes(sim, 1);
        assert_true(hosts_counter(&f, sim, "np_cnp_sent") > 0);
        assert_true(hosts_counter(&f, sim, i ? "rp_cnp_handled" : "rp_cnp_ignored") > 0);
        assert_int_equal(hosts_counter(&f, sim, i ? "rp_cnp_ignored" : "rp_cnp_handled"), 0);
        assert_int_equal(sim_flow_gauges(sim, 0), i ? 2 : 0);
        sim_free(sim);
        fixture_close(&f);
    }
    assert_true(bytes[1] < bytes[0] / 2);
    assert_null(sim_congestion_control("no such control"));
}

/* Sender by sender: states of several sizes lie in one array, and each keeps to its own. */
static void mixed_controls(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 4, sim_congestion_control("dcqcn"));
    f.hosts[1].settings.congestion_control = &listener;
    f.hosts[2].settings.congestion_control = NULL;
    for (uint32_t i = 0; i < 3; i++)
        fixture_flow(&f, i, 3, 100000);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 1000 * US);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(flow_acked_bytes(sim, i), 100000);
    assert_string_equal(sim_flow_congestion_control(sim, 0), "dcqcn");
    assert_true(flow_gauge(sim, 0, "rate") == (double)RATE_BPS);
    assert_true(flow_gauge(sim, 1, "acked") == 100000);
    assert_null(sim_flow_congestion_control(sim, 2));
    sim_free(sim);
    fixture_close(&f);
}

/* The pool's growth takes the telemetry along, and the steady state allocates nothing. */
static void telemetry_grows_with_the_pool(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_work before, after;
    open_star(&f, 17, &listener);
    for (uint32_t i = 0; i < 16; i++)
        fixture_flow(&f, i, 16, 0);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2000 * US);
    sim_work(sim, &before);
    assert_true(before.packets_in_pool > 1024);
    fixture_run(sim, 4000 * US);
    sim_work(sim, &after);
    assert_int_equal(after.allocations, before.allocations);
    assert_true(heard_of(sim, 0)->acked_bytes == flow_acked_bytes(sim, 0));
    sim_free(sim);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hears_acknowledgements),
        cmocka_unit_test(shows_gauges),
        cmocka_unit_test(hears_marks),
        cmocka_unit_test(window_limits),
        cmocka_unit_test(a_full_window_starves_nobody),
        cmocka_unit_test(window_shrinks),
        cmocka_unit_test(dcqcn_with_a_window),
        cmocka_unit_test(own_rate_limit_stands),
        cmocka_unit_test(timer_opens_window),
        cmocka_unit_test(survives_loss),
        cmocka_unit_test(reads_have_no_window),
        cmocka_unit_test(none_and_dcqcn),
        cmocka_unit_test(mixed_controls),
        cmocka_unit_test(telemetry_grows_with_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
