/* Senders that send again only what is missing, and receivers that take packets in any order. */
#include "tests/unit/sim/inject_lab.h"

struct repaired {
    struct sim_flow_stats stats;
    int64_t asked, heard, duplicates, timeouts, lost;
};

/* Messages of a host to another one at 100 Gb/s, 2 us of cable each way, of which a share of frames is lost
 * in both directions. */
static struct repaired repair(const struct physics_nic *nic, enum sim_operation operation,
                              int64_t per_billion, int64_t message_bytes, int64_t messages)
{
    struct sim_topology t;
    struct fixture f;
    struct error e;
    assert_int_equal(sim_topology_star(&t, 2, INT64_C(100000000000), US, &e), 0);
    fixture_open(&f, &t);
    for (uint32_t h = 0; h < 2; h++)
        f.hosts[h].nic = *nic;
    for (size_t i = 0; i < f.config.link_count; i++)
        f.topology.links[i].loss_per_billion = per_billion / 2;
    struct sim_flow_config *flow = fixture_flow(&f, 0, 1, message_bytes);
    flow->operation = operation;
    flow->message_count = messages;
    flow->depth = 16;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 4000 * MS);
    struct repaired r = {.asked = counter_of(sim, false, 1, "out_of_sequence"),
                         .heard = counter_of(sim, false, 0, "packet_seq_err"),
                         .duplicates = counter_of(sim, false, 1, "duplicate_request"),
                         .timeouts = counter_of(sim, false, 0, "local_ack_timeout_err")};
    sim_flow_stats(sim, 0, &r.stats);
    r.lost = counter_of(sim, false, 0, "tx_vport_rdma_unicast_packets") -
             counter_of(sim, false, 1, "rx_vport_rdma_unicast_packets");
    assert_int_equal(r.stats.messages, messages);
    assert_int_equal(r.stats.bytes, messages * message_bytes);
    assert_int_equal(r.stats.delivered_bytes, messages * message_bytes);
    assert_true(r.stats.finished_ps > 0);
    sim_free(sim);
    fixture_close(&f);
    return r;
}

static struct physics_nic nic_of(int recovery, bool placement)
{
    struct physics_nic nic;
    table_defaults(&physics_nic_table, &nic);
    nic.recovery = recovery;
    nic.out_of_order_placement = placement;
    nic.ack_timeout_ps = 500 * US;
    nic.reorder_wait_ps = 20 * US;
    nic.ack_every_packets = 16;
    return nic;
}

/* What is lost is sent again, and nothing else: what else arrives twice follows lost NAKs and ACKs. */
static void only_what_is_missing(void **state)
{
    (void)state;
    for (int op = SIM_WRITE; op <= SIM_SEND; op += SIM_SEND - SIM_WRITE) {
        const struct physics_nic nic = nic_of(PHYSICS_SELECTIVE_REPEAT, false),
                                 before = nic_of(PHYSICS_GO_BACK_N, false);
        struct repaired r = repair(&nic, (enum sim_operation)op, 10000000, 65536, 500),
                        back = repair(&before, (enum sim_operation)op, 10000000, 65536, 500);
        assert_true(r.lost > 200);
        assert_true(r.stats.retransmitted_packets >= r.lost);
        assert_true(r.stats.retransmitted_packets < r.lost + r.lost / 10);
        assert_true(r.heard > 0 && r.heard <= r.asked);
        assert_int_equal(r.stats.retransmitted_packets - r.lost, r.duplicates);
        assert_true(back.stats.retransmitted_packets > 5 * back.lost);
        assert_true(r.stats.finished_ps < back.stats.finished_ps);
    }
}

/* Messages of every awkward size, also in windows of a single packet. */
static void sizes_and_windows(void **state)
{
    static const int64_t sizes[] = {1, 999, 1000, 1001, 4096, 100001}, windows[] = {1, 2, 63, 8192};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
            for (int mode = 1; mode < 4; mode++) {
                struct physics_nic nic = nic_of(mode & 1, mode & 2);
                nic.recovery_window_packets = windows[w];
                repair(&nic, SIM_WRITE, 20000000, sizes[i], 40);
            }
}

/* Out-of-order placement asks after reorder_wait, not before: with a wait longer than the time-out it is the
 * timer that repairs, with a short one the NAK. */
static void placement_asks_late(void **state)
{
    (void)state;
    for (int recovery = PHYSICS_GO_BACK_N; recovery <= PHYSICS_SELECTIVE_REPEAT; recovery++) {
        struct physics_nic nic = nic_of(recovery, true);
        nic.reorder_wait_ps = 10 * US;
        struct repaired quick = repair(&nic, SIM_WRITE, 2000000, 65536, 500);
        nic.reorder_wait_ps = 100 * MS;
        struct repaired late = repair(&nic, SIM_WRITE, 2000000, 65536, 500);
        assert_true(quick.asked > 0 && quick.heard > 0);
        assert_int_equal(late.asked, 0);
        assert_true(late.timeouts > 10 && quick.timeouts < late.timeouts / 2);
        assert_true(quick.stats.finished_ps < late.stats.finished_ps);
    }
}

/* Packet 5 comes behind the next three: selective repeat asks for it and gets it again, placement does
 * neither. */
static void packets_that_overtake(void **state)
{
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        struct lab lab;
        open_lab(&lab, 2);
        for (int h = 0; h < 2; h++)
            lab.f.hosts[h].nic = nic_of(mode & 1, mode & 2);
        fixture_flow(&lab.f, 0, 1, 20000);
        struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_REORDER);
        r->first = 6;
        r->behind = 3;
        run(&lab, 10 * MS);
        struct sim_flow_stats stats;
        sim_flow_stats(lab.sim, 0, &stats);
        assert_true(stats.finished_ps > 0 && stats.finished_ps < 100 * US);
        static const int64_t asked[] = {2, 1, 0, 0}; /* go-back-N again, for what it dropped behind it */
        assert_int_equal(of_host(&lab, 1, "out_of_sequence"), asked[mode]);
        if (mode == PHYSICS_SELECTIVE_REPEAT)
            assert_int_equal(stats.retransmitted_packets, 1);
        else
            assert_int_equal(stats.retransmitted_packets > 1, mode == PHYSICS_GO_BACK_N);
        size_t from = 0;
        const struct sim_captured *nak = next(&lab, 1, true, PACKET_NAK, &from);
        assert_int_equal(nak != NULL, !(mode & 2));
        if (nak)
            assert_int_equal(nak->psn, 5);
        close_lab(&lab);
    }
}

/* The last packets of a message are lost: the timer sends the last one, behind which the receiver finds what
 * else is missing. */
static void a_lost_tail(void **state)
{
    (void)state;
    struct lab lab;
    open_lab(&lab, 2);
    for (int h = 0; h < 2; h++)
        lab.f.hosts[h].nic = nic_of(PHYSICS_SELECTIVE_REPEAT, false);
    fixture_flow(&lab.f, 0, 1, 20000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP);
    r->first = 17;
    r->most = 4;
    run(&lab, 10 * MS);
    static const uint32_t sent[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                    12, 13, 14, 15, 16, 17, 18, 19, 16, 19, 17, 18};
    assert_data(&lab, 0, true, sent, sizeof sent / sizeof *sent);
    assert_int_equal(of_host(&lab, 0, "local_ack_timeout_err"), 1);
    assert_int_equal(of_host(&lab, 0, "packet_seq_err"), 2);
    struct sim_flow_stats stats;
    sim_flow_stats(lab.sim, 0, &stats);
    assert_true(stats.finished_ps > 500 * US && stats.finished_ps < 600 * US);
    close_lab(&lab);
}

/* Two packets are lost, and the NAKs of both: behind the first one that the timer sends comes a copy of the
 * last one, and the receiver asks for the other one, not a time-out later. */
static void a_copy_of_the_last(void **state)
{
    (void)state;
    struct lab lab;
    open_lab(&lab, 2);
    for (int h = 0; h < 2; h++)
        lab.f.hosts[h].nic = nic_of(PHYSICS_SELECTIVE_REPEAT, false);
    fixture_flow(&lab.f, 0, 1, 20000);
    struct sim_injection *data = add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP);
    data->first = 6;
    data->every = 6;
    data->most = 2;
    struct sim_injection *naks = add_rule(&lab, PACKET_NAK, SIM_INJECT_DROP);
    naks->first = 1;
    naks->most = 2;
    run(&lab, 10 * MS);
    static const uint32_t sent[] = {0,  1,  2,  3,  4,  5,  6,  7,  8, 9,  10, 11,
                                    12, 13, 14, 15, 16, 17, 18, 19, 5, 19, 11};
    assert_data(&lab, 0, true, sent, sizeof sent / sizeof *sent);
    assert_int_equal(of_host(&lab, 0, "local_ack_timeout_err"), 1);
    close_lab(&lab);
}

/* A NAK acknowledges what is before it, as the specification has it (9.7.5.1.3): the timer sends the missing
 * packet again, not the first one of the message. */
static void a_nak_acknowledges(void **state)
{
    (void)state;
    struct lab lab;
    open_lab(&lab, 2);
    for (int h = 0; h < 2; h++) {
        lab.f.hosts[h].nic = nic_of(PHYSICS_SELECTIVE_REPEAT, false);
        lab.f.hosts[h].nic.ack_every_packets = 0;
    }
    fixture_flow(&lab.f, 0, 1, 20000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP);
    r->first = 11;
    r->every = 10;
    r->most = 2;
    run(&lab, 10 * MS);
    static const uint32_t sent[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                    12, 13, 14, 15, 16, 17, 18, 19, 10, 10, 19};
    assert_data(&lab, 0, true, sent, sizeof sent / sizeof *sent);
    assert_int_equal(of_host(&lab, 0, "packet_seq_err"), 1);
    close_lab(&lab);
}

/* An ACK that waits in the port's queue does not take in what comes after a NAK behind it. */
static void acks_and_naks_in_order(void **state)
{
    (void)state;
    for (int recovery = PHYSICS_GO_BACK_N; recovery <= PHYSICS_SELECTIVE_REPEAT; recovery++) {
        struct lab lab;
        open_lab(&lab, 2);
        for (int h = 0; h < 2; h++) {
            lab.f.hosts[h].nic = nic_of(recovery, false);
            lab.f.hosts[h].nic.ack_every_packets = 1;
        }
        struct sim_flow_config *flow = fixture_flow(&lab.f, 0, 1, 64); /* many come while one leaves */
        flow->message_count = 300;
        flow->depth = 64;
        fixture_flow(&lab.f, 1, 0, 400000);
        struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_REORDER);
        r->behind = 1;
        r->every = 7;
        r->first = 5;
        r->most = 100;
        run(&lab, 10 * MS);
        const struct sim_captured_at *frames;
        size_t count = sim_captured(lab.sim, &frames), naks = 0;
        uint32_t answered = 0;
        for (size_t i = 0; i < count; i++) {
            const struct sim_captured *f = frames[i].frame;
            if (f->place != 2 * lab.sim->hosts[1].port + 1 || f->qp != 0 ||
                (f->kind != PACKET_ACK && f->kind != PACKET_NAK))
                continue;
            assert_true(f->psn >= answered);
            answered = f->psn;
            naks += f->kind == PACKET_NAK;
        }
        assert_true(naks > 5);
        close_lab(&lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_missing), cmocka_unit_test(sizes_and_windows),
        cmocka_unit_test(placement_asks_late),  cmocka_unit_test(packets_that_overtake),
        cmocka_unit_test(a_lost_tail),          cmocka_unit_test(a_copy_of_the_last),
        cmocka_unit_test(a_nak_acknowledges),   cmocka_unit_test(acks_and_naks_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
