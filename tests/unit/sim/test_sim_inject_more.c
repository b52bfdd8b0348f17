/* Faults of single frames: frames in another order, and what a host does without a reason. */
#include "tests/unit/sim/inject_lab.h"

static void a_packet_comes_behind_others(void **state)
{
    struct lab lab;
    const uint32_t received[] = {0, 2, 4, 1, 5, 6, 3, 7, 8, 9};
    size_t from = 0, data = 0;
    const struct sim_captured *f;
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 10000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_REORDER);
    r->first = r->every = r->most = 2;
    r->behind = 3;
    run(&lab, MS);
    for (; data < 10 && (f = next(&lab, 1, false, PACKET_DATA, &from)); data++)
        assert_int_equal(f->psn, received[data]);
    assert_int_equal(data, 10);
    assert_int_equal(sim_injected(lab.sim, 0).injected, 2);
    close_lab(&lab);

    open_lab(&lab, 2); /* none follows: it is lost, until the time-out */
    fixture_flow(&lab.f, 0, 1, 1000);
    r = add_rule(&lab, PACKET_DATA, SIM_INJECT_REORDER);
    r->behind = 3;
    run(&lab, MS);
    assert_int_equal(of_host(&lab, 1, "rx_prio3_packets"), 0);
    close_lab(&lab);
}

/* No packet was marked. */
static void a_cnp_without_a_mark(void **state)
{
    struct lab lab;
    size_t from = 0;
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 10000);
    add_rule(&lab, PACKET_DATA, SIM_INJECT_CNP)->first = 4;
    run(&lab, MS);
    assert_non_null(next(&lab, 1, true, PACKET_CNP, &from));
    assert_null(next(&lab, 1, true, PACKET_CNP, &from));
    from = 0;
    assert_non_null(next(&lab, 0, false, PACKET_CNP, &from));
    assert_int_equal(of_host(&lab, 1, "np_cnp_sent"), 1);
    assert_int_equal(of_host(&lab, 1, "np_ecn_marked_roce_packets"), 0);
    close_lab(&lab);
}

static void a_pause_without_a_reason(void **state)
{
    struct lab lab;
    size_t from = 0;
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 0);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_PAUSE);
    r->first = 100;
    r->most = 5; /* while it pauses it does not pause again */
    r->lasts_ps = 20 * US;
    run(&lab, MS / 2);
    const struct sim_captured *xoff = next(&lab, 1, true, PACKET_PFC, &from);
    const struct sim_captured *xon = next(&lab, 1, true, PACKET_PFC, &from);
    assert_non_null(xoff);
    assert_non_null(xon);
    assert_int_equal(xoff->flags, 1 << 3);
    assert_true(xoff->psn > 0 && xon->psn == 0);
    assert_int_equal(xon->time_ps - xoff->time_ps, 20 * US);
    assert_int_equal(sim_injected(lab.sim, 0).injected, 5);
    assert_int_equal(of_host(&lab, 1, "tx_prio3_pause"), 10);
    close_lab(&lab);

    open_lab(&lab, 2); /* another priority; and frames of a third one are none of the rule's */
    fixture_flow(&lab.f, 0, 1, 10000);
    r = add_rule(&lab, PACKET_DATA, SIM_INJECT_PAUSE);
    r->pause_classes = 1 << 5;
    r->lasts_ps = US;
    r = add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP);
    r->priorities = 1 << 4;
    run(&lab, MS / 2);
    from = 0;
    xoff = next(&lab, 1, true, PACKET_PFC, &from);
    assert_non_null(xoff);
    assert_int_equal(xoff->flags, 1 << 5);
    assert_counts(&lab, 1, 0, 0);
    close_lab(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_comes_behind_others),
        cmocka_unit_test(a_cnp_without_a_mark),
        cmocka_unit_test(a_pause_without_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
