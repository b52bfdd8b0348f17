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

/* The place of packet 9 among the data that a receiver gets after the first one of that number is lost. */
static int64_t place_of_copy(struct lab *lab)
{
    const struct sim_captured *f;
    size_t from = 0;
    int64_t place = 1;
    run(lab, MS);
    for (; (f = next(lab, 1, false, PACKET_DATA, &from)) && f->psn != 9; place++)
        ;
    assert_non_null(f);
    return place;
}

/* A packet and the first copy that is sent again are lost: a receiver that asks once waits for the time-out,
 * one that asks again does not. */
static void a_lost_copy_is_asked_for_again(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct lab lab;
        struct sim_flow_stats stats;
        open_lab(&lab, 2);
        fixture_flow(&lab.f, 0, 1, 400000);
        for (int h = 0; h < 2; h++) {
            lab.f.hosts[h].nic.ack_timeout_ps = MS;
            lab.f.hosts[h].nic.nak_again_ps = again ? 12 * US : 0;
            lab.f.hosts[h].nic.nak_delay_ps = 3 * US;
        }
        add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP)->first = 10;
        int64_t place = place_of_copy(&lab);
        assert_true(place > 9 + 3 * US / 86640); /* behind those that were sent until the NAK came */
        add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP)->first = place;
        run(&lab, 3 * MS);
        assert_int_equal(of_host(&lab, 0, "local_ack_timeout_err"), !again);
        assert_int_equal(of_host(&lab, 1, "out_of_sequence"), 1 + again);
        sim_flow_stats(lab.sim, 0, &stats);
        assert_true(again ? stats.finished_ps < 300 * US : stats.finished_ps > MS);
        close_lab(&lab);
    }
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

/* The rate belongs to the queue pair, not to a message: after one CNP it recovers by the same steps, to the
 * bit, whether messages end after every packet or after a thousand (S-5.05 of openfabric-systems/simllm,
 * September 2026). A byte counter would count headers, which differ. */
static void a_rate_outlives_its_message(void **state)
{
    (void)state;
    double rates[2][20];
    for (int small = 0; small < 2; small++) {
        struct lab lab;
        open_lab(&lab, 2);
        struct sim_flow_config *flow = fixture_flow(&lab.f, 0, 1, 0);
        flow->message_bytes = small ? 1000 : 1000000;
        for (int h = 0; h < 2; h++) {
            lab.f.hosts[h].settings.ecn_rp_mask = lab.f.hosts[h].settings.ecn_np_mask = 1u << LOSSLESS;
            lab.f.hosts[h].settings.dcqcn.rp.rpg_byte_reset = 0;
        }
        struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_CNP);
        r->from_ps = 100 * US;
        run(&lab, 100 * US);
        for (int i = 0; i < 20; i++) {
            fixture_run(lab.sim, (110 + 100 * i) * US);
            rates[small][i] = sim_flow_gauge_value(lab.sim, 0, 0);
        }
        assert_int_equal(of_host(&lab, 0, "rp_cnp_handled"), 1);
        close_lab(&lab);
    }
    assert_true(rates[0][0] < 51e9 && rates[0][19] > 80e9);
    for (int i = 0; i < 20; i++)
        assert_true(rates[0][i] == rates[1][i]);
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
        cmocka_unit_test(a_packet_comes_behind_others), cmocka_unit_test(a_lost_copy_is_asked_for_again),
        cmocka_unit_test(a_cnp_without_a_mark),         cmocka_unit_test(a_rate_outlives_its_message),
        cmocka_unit_test(a_pause_without_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
