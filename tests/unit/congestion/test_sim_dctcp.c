/* DCTCP with rates, step by step. */
#include "tests/unit/congestion/sim_control_steps.h"

/* A round trip of 100 packets, of which the first `marked` are marked. */
static double round_trip(struct steps *s, int marked)
{
    double rate = 0;
    for (int i = 0; i < 100; i++) {
        s->ack.marked = i < marked;
        rate = steps_ack(s, 1, 99);
    }
    return rate;
}

/* alpha = (1 - g) alpha + g F; one reduction by alpha/2 in a round trip; else one packet more in T. */
static void alpha_and_rate(void **state)
{
    (void)state;
    struct steps s;
    steps_open(&s, "dctcp");
    steps_start(&s);
    const double packet_in_t = 1000 * 8 / 13e-6, g = 0.0625;
    double alpha = 1;
    assert_near(steps_gauge(&s, 0), 100e9);
    assert_near(steps_gauge(&s, 1), 1024);
    s.ack.marked = true;
    double rate = steps_ack(&s, 1, 99); /* the first ACK is marked: halved at once */
    assert_near(rate, 50e9);
    s.ack.marked = false;
    for (int i = 0; i < 99; i++)
        assert_near(steps_ack(&s, 1, 99), rate); /* once in a round trip, and no increase in the same */
    /* The packet after the round trip ends it: its share is one of the 101 that were counted for it. */
    rate = steps_ack(&s, 1, 99);
    alpha = (1 - g) * alpha + g * (1.0 / 101);
    assert_near(steps_gauge(&s, 1), 1024 * alpha);
    assert_near(rate, 50e9 + packet_in_t);
    steps_close(&s);
}

/* All marked: alpha stays 1 and the rate falls to its least; none marked: alpha falls, the rate rises to the
 * line's. */
static void extremes(void **state)
{
    (void)state;
    struct steps s;
    steps_open(&s, "dctcp");
    s.host.settings.congestion.dctcp.rate_ai_bps = 5000000000;
    steps_start(&s);
    for (int i = 0; i < 40; i++)
        round_trip(&s, 100);
    assert_near(steps_gauge(&s, 0), 100e6);
    assert_true(steps_gauge(&s, 1) > 1000);
    assert_int_equal(s.c->window_bytes(s.state, s.params, 0), STEPS_BDP / 1000);
    for (int i = 0; i < 40; i++)
        round_trip(&s, 0);
    assert_near(steps_gauge(&s, 0), 100e9);
    assert_true(steps_gauge(&s, 1) < 1024 * 0.1);
    assert_int_equal(s.c->window_bytes(s.state, s.params, 0), STEPS_BDP);
    steps_close(&s);
}

/* ACKs that stand for many packets count them all, so that the marked share is of packets. */
static void coalesced_acks(void **state)
{
    (void)state;
    struct steps s;
    steps_open(&s, "dctcp");
    steps_start(&s);
    steps_ack(&s, 1, 99);
    s.ack.marked = true;
    steps_ack(&s, 99, 99);
    s.ack.marked = false;
    steps_ack(&s, 1, 99);
    assert_near(steps_gauge(&s, 1), 1024 * (0.9375 + 0.0625 * 99 / 101));
    steps_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alpha_and_rate),
        cmocka_unit_test(extremes),
        cmocka_unit_test(coalesced_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
