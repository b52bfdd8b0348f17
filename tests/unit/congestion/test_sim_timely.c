/* TIMELY, algorithm 1 of the paper step by step. */
#include "tests/unit/congestion/sim_control_steps.h"

static double rtt(struct steps *s, int64_t us)
{
    s->ack.rtt_ps = us * SIM_PS_PER_US;
    return steps_ack(s, 100, 99);
}

static void follows_the_paper(void **state)
{
    (void)state;
    struct steps s;
    steps_open(&s, "timely");
    s.host.settings.congestion.timely.rate_ai_bps = 100000000;
    s.host.settings.congestion.timely.rate_hai_bps = 500000000;
    steps_start(&s);
    assert_near(rtt(&s, 100), 100e9); /* the first only begins */
    /* Between the thresholds: rate (1 - beta gradient), gradient = alpha (difference) / min RTT. */
    double gradient = 0.875 * 10 / 20;
    double rate = floor(100e9 * (1 - 0.8 * gradient));
    assert_near(rtt(&s, 110), rate);
    /* A falling round trip: additive, and hyper after five. */
    for (int i = 0; i < 5; i++)
        assert_near(rtt(&s, 105 - 5 * i), rate += 100e6);
    assert_near(rtt(&s, 80), rate + 500e6);
    /* Above t_high: by how far above, whatever the gradient. */
    rtt(&s, 2000);
    rate = steps_gauge(&s, 0);
    assert_near(rtt(&s, 1000), floor(rate * (1 - 0.8 * (1 - 500.0 / 1000))));
    /* Below t_low: up, however steep. */
    rate = steps_gauge(&s, 0);
    rtt(&s, 10);
    assert_near(steps_gauge(&s, 0), rate + 100e6);
    assert_near(rtt(&s, 49), rate + 200e6);
    assert_near(steps_gauge(&s, 1), 49000);
    steps_close(&s);
}

/* One update in a round trip; a gradient that would make the rate negative leaves the least. */
static void once_in_a_round_trip_and_least(void **state)
{
    (void)state;
    struct steps s;
    steps_open(&s, "timely");
    steps_start(&s);
    rtt(&s, 60);
    for (int i = 0; i < 99; i++) {
        s.ack.rtt_ps = 400 * SIM_PS_PER_US;
        assert_near(steps_ack(&s, 1, 99), 100e9);
    }
    assert_near(rtt(&s, 400), 100e6);
    steps_close(&s);
}

/* The window of timely_vwin is T at the rate; timely has none. */
static void windows(void **state)
{
    (void)state;
    struct steps s;
    steps_open(&s, "timely");
    assert_null(s.c->window_bytes);
    steps_close(&s);
    steps_open(&s, "timely_vwin");
    steps_start(&s);
    assert_int_equal(s.c->window_bytes(s.state, s.params, 0), STEPS_BDP);
    rtt(&s, 60);
    rtt(&s, 400);
    assert_int_equal(s.c->window_bytes(s.state, s.params, 0), STEPS_BDP / 1000);
    steps_close(&s);
    steps_open(&s, "timely_vwin");
    s.host.settings.congestion.window.var_win = 0;
    s.host.settings.congestion.window.base_rtt_ps = STEPS_T_PS / 13;
    steps_start(&s);
    rtt(&s, 60);
    rtt(&s, 400);
    assert_int_equal(s.c->window_bytes(s.state, s.params, 0), STEPS_BDP / 13);
    steps_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_paper),
        cmocka_unit_test(once_in_a_round_trip_and_least),
        cmocka_unit_test(windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
