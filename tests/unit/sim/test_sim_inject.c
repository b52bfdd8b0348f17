/* Faults of single frames: which frame is met, what its connection does then, what is counted. */
#include "tests/unit/sim/inject_lab.h"

/* ---- go-back-N */

/* All ten packets are under way before the NAK of the seventh comes. */
static void open_dropped(struct lab *lab, enum sim_injected_action action)
{
    open_lab(lab, 2);
    fixture_flow(&lab->f, 0, 1, 10000);
    add_rule(lab, PACKET_DATA, action)->first = 7;
    run(lab, MS);
    const uint32_t sent[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 7, 8, 9};
    const uint32_t received[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 6, 7, 8, 9};
    assert_data(lab, 0, true, sent, 14);
    assert_data(lab, 1, false, received, 13);
    assert_counts(lab, 0, 14, 1);
    assert_int_equal(of_host(lab, 1, "out_of_sequence"), 1);
    assert_int_equal(of_host(lab, 0, "packet_seq_err"), 1);
    assert_int_equal(of_host(lab, 0, "local_ack_timeout_err"), 0);
    assert_int_equal(of_host(lab, 1, "rx_prio3_packets"), 13);
}

static void the_nth_packet_is_dropped(void **state)
{
    struct lab lab;
    size_t from = 0;
    (void)state;
    open_dropped(&lab, SIM_INJECT_DROP);
    const struct sim_captured *nak = next(&lab, 1, true, PACKET_NAK, &from);
    assert_non_null(nak);
    assert_int_equal(nak->psn, 6);
    assert_null(next(&lab, 1, true, PACKET_NAK, &from));
    assert_int_equal(of_host(&lab, 1, "rx_crc_errors_phy"), 0);
    close_lab(&lab);
}

static void a_corrupt_packet_is_counted(void **state)
{
    struct lab lab;
    (void)state;
    open_dropped(&lab, SIM_INJECT_CORRUPT);
    assert_int_equal(of_host(&lab, 1, "rx_crc_errors_phy"), 1);
    assert_int_equal(of_host(&lab, 0, "rx_crc_errors_phy"), 0);
    close_lab(&lab);
}

/* Without its only ACK, or NAK, the sender's time-out repairs. */
static void answers_are_dropped(void **state)
{
    (void)state;
    for (int nak = 0; nak < 2; nak++) {
        struct lab lab;
        open_lab(&lab, 2);
        fixture_flow(&lab.f, 0, 1, 10000);
        lab.f.hosts[0].nic.ack_timeout_ps = 100 * US;
        add_rule(&lab, nak ? PACKET_NAK : PACKET_ACK, SIM_INJECT_DROP)->most = nak ? 1 : INT64_MAX;
        lab.rules[0].until_ps = 50 * US;
        if (nak)
            add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP)->first = 3;
        run(&lab, MS);
        struct sim_flow_stats stats;
        sim_flow_stats(lab.sim, 0, &stats);
        assert_true(sim_injected(lab.sim, 0).injected > 0);
        assert_int_equal(of_host(&lab, 0, "local_ack_timeout_err"), 1);
        assert_int_equal(of_host(&lab, 0, "packet_seq_err"), 0);
        assert_true(stats.finished_ps > 100 * US);
        close_lab(&lab);
    }
}

/* Requests whose numbers were asked for before are sent again: behind a lost one, and of what a lost response
 * leaves. */
static void reads_count_requests_that_ask_again(void **state)
{
    static const enum packet_kind lost[] = {PACKET_READ_REQUEST, PACKET_DATA};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct lab lab;
        const struct sim_captured *f;
        size_t from = 0;
        int64_t again = 0, highest = -1;
        open_lab(&lab, 2);
        struct sim_flow_config *flow = fixture_flow(&lab.f, 0, 1, 10000);
        flow->operation = SIM_READ;
        flow->depth = 4;
        flow->message_count = 12;
        add_rule(&lab, lost[i], SIM_INJECT_DROP)->first = 5;
        run(&lab, MS);
        while ((f = next(&lab, 0, true, PACKET_READ_REQUEST, &from)))
            if (f->psn / 10 > highest)
                highest = f->psn / 10;
            else
                again++;
        struct sim_flow_stats stats;
        sim_flow_stats(lab.sim, 0, &stats);
        assert_int_equal(highest, 11);
        assert_true(again > 0);
        assert_int_equal(stats.requested_again, again);
        assert_true((stats.retransmitted_packets > 0) == (lost[i] == PACKET_DATA));
        assert_true(stats.finished_ps > 0);
        close_lab(&lab);
    }
}

/* ---- marks and CNPs */

static struct sim_flow_config *open_marked(struct lab *lab, int64_t bytes)
{
    open_lab(lab, 2);
    for (int i = 0; i < 2; i++)
        lab->f.hosts[i].settings.ecn_rp_mask = lab->f.hosts[i].settings.ecn_np_mask = 1u << LOSSLESS;
    return fixture_flow(&lab->f, 0, 1, bytes);
}

static void a_mark_gives_a_cnp(void **state)
{
    struct lab lab;
    const struct sim_captured *f;
    size_t from = 0, marked = 0;
    (void)state;
    open_marked(&lab, 10000);
    add_rule(&lab, PACKET_DATA, SIM_INJECT_MARK)->first = 3;
    run(&lab, MS);
    while ((f = next(&lab, 1, false, PACKET_DATA, &from)))
        if (f->flags & PACKET_CE) {
            assert_int_equal(f->psn, 2);
            marked++;
        }
    assert_int_equal(marked, 1);
    assert_int_equal(of_host(&lab, 1, "np_ecn_marked_roce_packets"), 1);
    assert_int_equal(of_host(&lab, 1, "np_cnp_sent"), 1);
    assert_int_equal(of_host(&lab, 0, "rp_cnp_handled"), 1);
    assert_int_equal(of_host(&lab, 1, "out_of_sequence"), 0);
    close_lab(&lab);
}

/* The CNP that is missing is the second; a CNP is 1 us on each of two links, and times of those that arrive
 * are by so much later. */
static void the_second_cnp_is_dropped(void **state)
{
    struct lab lab;
    const struct sim_captured *sent, *received;
    size_t from = 0, at = 0, count = 0;
    (void)state;
    open_marked(&lab, 0);
    add_rule(&lab, PACKET_DATA, SIM_INJECT_MARK)->most = INT64_MAX;
    add_rule(&lab, PACKET_CNP, SIM_INJECT_DROP)->first = 2;
    run(&lab, MS);
    while ((sent = next(&lab, 1, true, PACKET_CNP, &from)) && sent->time_ps < 990 * US) {
        if (++count == 2)
            continue;
        received = next(&lab, 0, false, PACKET_CNP, &at);
        assert_non_null(received);
        assert_in_range(received->time_ps - sent->time_ps, 2 * US, 3 * US);
    }
    assert_true(count > 5);
    assert_int_equal(sim_injected(lab.sim, 1).injected, 1);
    assert_int_equal(of_host(&lab, 0, "rp_cnp_handled"), sim_injected(lab.sim, 1).seen - 1);
    close_lab(&lab);
}

/* ---- PFC */

/* Eight hosts send to one; PFC frames from the switch to host 1 are dropped. */
static int64_t first_pause_ps(struct lab *lab, int64_t most, int64_t *discards)
{
    open_lab(lab, 9);
    for (uint32_t h = 1; h < 9; h++)
        fixture_flow(&lab->f, h, 0, 0);
    if (most) {
        const struct sim_link_config *link = &lab->f.topology.links[1];
        struct sim_injection *r = add_rule(lab, PACKET_PFC, SIM_INJECT_DROP);
        r->flow = SIM_NO_FLOW;
        r->port = 2 + (link->b.kind == SIM_HOST);
        r->most = most;
    }
    run(lab, 2 * MS);
    *discards = switches_counter(&lab->f, lab->sim, "buffer_discards");
    unsigned end = lab->sim->hosts[1].port & 1;
    struct sim_hold hold = sim_link_hold(lab->sim, lab->sim->hosts[1].port / 2, end, LOSSLESS);
    return hold.first_ps;
}

static void a_dropped_pause_comes_late_or_overflows(void **state)
{
    struct lab lab;
    int64_t discards;
    (void)state;
    int64_t usual_ps = first_pause_ps(&lab, 0, &discards);
    assert_int_equal(discards, 0);
    close_lab(&lab);
    int64_t late_ps = first_pause_ps(&lab, 1, &discards);
    assert_true(usual_ps > 0 && late_ps > usual_ps);
    assert_int_equal(sim_injected(lab.sim, 0).injected, 1);
    close_lab(&lab);
    assert_int_equal(first_pause_ps(&lab, INT64_MAX, &discards), -1);
    assert_int_equal(of_host(&lab, 1, "rx_prio3_pause"), 0);
    assert_true(of_host(&lab, 2, "rx_prio3_pause") > 0);
    assert_true(discards > 0);
    close_lab(&lab);
}

/* ---- which frames */

/* Numbers (from 1) of the packets that arrive with a mark; returns how many there are. */
static size_t marked(const struct lab *lab, uint32_t numbers[], size_t most)
{
    const struct sim_captured *f;
    size_t from = 0, count = 0;
    while ((f = next(lab, 1, false, PACKET_DATA, &from)))
        if (f->flags & PACKET_CE && count++ < most)
            numbers[count - 1] = f->psn + 1;
    return count;
}

static void every_and_count(void **state)
{
    struct lab lab;
    uint32_t numbers[8];
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 100000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_MARK);
    r->first = 5;
    r->every = 10;
    r->most = 3;
    run(&lab, MS);
    assert_int_equal(marked(&lab, numbers, 8), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(numbers[i], 5 + 10 * i);
    assert_counts(&lab, 0, 100, 3);
    r->most = INT64_MAX;
    run(&lab, MS);
    assert_int_equal(marked(&lab, numbers, 8), 10);
    r->every = 1;
    r->most = 4;
    run(&lab, MS);
    assert_int_equal(marked(&lab, numbers, 8), 4);
    assert_int_equal(numbers[3], 8);
    close_lab(&lab);
}

/* Frames are counted from the rule's beginning on. */
static void from_a_time(void **state)
{
    struct lab lab;
    uint32_t numbers[4];
    const struct sim_captured *f;
    size_t from = 0, before = 0;
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 1000000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_MARK);
    r->from_ps = 20 * US;
    r->first = 3;
    run(&lab, MS);
    while ((f = next(&lab, 1, false, PACKET_DATA, &from)) && f->time_ps < r->from_ps)
        before++;
    assert_true(before > 100);
    assert_int_equal(marked(&lab, numbers, 4), 1);
    assert_int_equal(numbers[0], before + 3);
    assert_counts(&lab, 0, 1000 - (int64_t)before, 1);
    r->until_ps = r->from_ps + 1;
    run(&lab, MS);
    assert_int_equal(marked(&lab, numbers, 4), 0);
    close_lab(&lab);
}

/* 0.25 of 10000: 2500, and within four standard deviations of 43. They follow the seed. */
static void by_probability(void **state)
{
    struct lab lab;
    uint32_t first[16], second[16];
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 10000000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_MARK);
    r->probability = 0.25;
    r->most = INT64_MAX;
    run(&lab, 2 * MS);
    assert_in_range(marked(&lab, first, 16), 2328, 2672);
    run(&lab, 2 * MS);
    marked(&lab, second, 16);
    assert_memory_equal(first, second, sizeof first);
    lab.f.config.seed++;
    run(&lab, 2 * MS);
    marked(&lab, second, 16);
    assert_memory_not_equal(first, second, sizeof first);
    r->most = 9;
    run(&lab, 2 * MS);
    assert_int_equal(marked(&lab, first, 16), 9);
    r->probability = 1;
    r->most = INT64_MAX;
    run(&lab, 2 * MS);
    assert_int_equal(marked(&lab, first, 16), 10000);
    close_lab(&lab);
}

/* Rules of flow 1 leave flow 0 alone. */
static void only_its_flow(void **state)
{
    struct lab lab;
    const struct sim_captured *f;
    size_t from = 0, count = 0;
    (void)state;
    open_lab(&lab, 3);
    fixture_flow(&lab.f, 0, 1, 100000);
    fixture_flow(&lab.f, 2, 1, 100000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_MARK);
    r->flow = 1;
    r->most = INT64_MAX;
    run(&lab, MS);
    while ((f = next(&lab, 1, false, PACKET_DATA, &from)))
        if (f->flags & PACKET_CE) {
            assert_int_equal(f->qp, 1);
            count++;
        }
    assert_int_equal(count, 100);
    assert_counts(&lab, 0, 100, 100);
    close_lab(&lab);
}

/* ---- late, and twice */

static void a_late_packet_is_overtaken(void **state)
{
    struct lab lab;
    const uint32_t received[] = {0, 1, 3, 4, 2, 2, 3, 4};
    const struct sim_captured *f;
    size_t from = 0;
    int64_t usual_ps = 0;
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 5000);
    lab.f.config.injection_count = 0;
    run(&lab, MS);
    for (int i = 0; i < 3; i++)
        usual_ps = (f = next(&lab, 1, false, PACKET_DATA, &from)) ? f->time_ps : 0;
    add_rule(&lab, PACKET_DATA, SIM_INJECT_DELAY)->first = 3;
    lab.rules[0].delay_ps = 3 * US;
    run(&lab, MS);
    from = 0;
    for (int i = 0; i < 5; i++)
        f = next(&lab, 1, false, PACKET_DATA, &from);
    assert_int_equal(f->psn, 2);
    assert_int_equal(f->time_ps, usual_ps + 3 * US);
    assert_int_equal(of_host(&lab, 1, "out_of_sequence"), 1);
    assert_int_equal(of_host(&lab, 1, "rx_prio3_packets"), of_host(&lab, 0, "tx_prio3_packets"));
    assert_data(&lab, 1, false, received, 8);
    close_lab(&lab);
}

/* Three are held at a time; they arrive in their order, behind the one that overtook them. */
static void late_packets_stay_in_order(void **state)
{
    struct lab lab;
    const uint32_t received[] = {0, 4, 1, 2, 3, 1, 2, 3, 4};
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 5000);
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_DELAY);
    r->first = 2;
    r->most = 3;
    r->delay_ps = 2 * US;
    run(&lab, MS);
    assert_data(&lab, 1, false, received, 9);
    assert_int_equal(of_host(&lab, 1, "rx_prio3_packets"), 9);
    close_lab(&lab);
}

static void a_packet_comes_twice(void **state)
{
    struct lab lab;
    const uint32_t received[] = {0, 1, 2, 2, 3, 4};
    (void)state;
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 5000);
    add_rule(&lab, PACKET_DATA, SIM_INJECT_DUPLICATE)->first = 3;
    run(&lab, MS);
    assert_data(&lab, 1, false, received, 6);
    assert_int_equal(of_host(&lab, 1, "duplicate_request"), 1);
    assert_int_equal(of_host(&lab, 1, "rx_prio3_packets"), 6);
    assert_int_equal(of_host(&lab, 0, "tx_prio3_packets"), 5);
    close_lab(&lab);
}

/* ---- threads, and what is refused */

/* A sum over all that is captured, and over what the rules met. */
static uint64_t digest(struct lab *lab, uint32_t threads)
{
    const struct sim_captured_at *frames;
    uint64_t sum = 0;
    lab->f.config.threads = threads;
    run(lab, 500 * US);
    size_t count = sim_captured(lab->sim, &frames);
    for (size_t i = 0; i < count; i++) {
        const struct sim_captured *f = frames[i].frame;
        sum = (sum ^ (uint64_t)f->time_ps) * 0x100000001b3 + f->place + f->psn + f->kind + f->flags;
    }
    for (size_t i = 0; i < MOST_RULES; i++) {
        assert_true(sim_injected(lab->sim, i).injected > 0);
        sum = sum * 31 + (uint64_t)sim_injected(lab->sim, i).seen;
    }
    return sum;
}

static void threads_do_not_matter(void **state)
{
    struct lab lab;
    (void)state;
    open_lab(&lab, 9);
    for (uint32_t h = 1; h < 9; h++)
        fixture_flow(&lab.f, h, 0, 0);
    add_rule(&lab, PACKET_DATA, SIM_INJECT_CORRUPT)->probability = 0.01;
    add_rule(&lab, PACKET_ACK, SIM_INJECT_DELAY)->delay_ps = 5 * US;
    add_rule(&lab, PACKET_DATA, SIM_INJECT_DUPLICATE)->every = 20;
    *add_rule(&lab, PACKET_DATA, SIM_INJECT_DELAY) =
        (struct sim_injection){.flow = SIM_NO_FLOW,
                               .port = 4 + (lab.f.topology.links[2].a.kind == SIM_HOST),
                               .kind = PACKET_DATA,
                               .action = SIM_INJECT_DELAY,
                               .until_ps = SIM_FOREVER,
                               .first = 7,
                               .every = 50,
                               .most = INT64_MAX,
                               .delay_ps = US};
    struct sim_injection *r = add_rule(&lab, PACKET_DATA, SIM_INJECT_REORDER);
    r->behind = 5;
    r->every = 100;
    add_rule(&lab, PACKET_DATA, SIM_INJECT_CNP)->every = 30;
    r = add_rule(&lab, PACKET_DATA, SIM_INJECT_PAUSE);
    r->every = 200;
    r->lasts_ps = 3 * US;
    r = add_rule(&lab, PACKET_DATA, SIM_INJECT_STALL);
    r->every = 60;
    r->lasts_ps = US;
    for (size_t i = 0; i < MOST_RULES; i++)
        lab.rules[i].most = INT64_MAX;
    uint64_t one = digest(&lab, 1);
    const uint32_t threads[] = {2, 3, 7};
    for (size_t i = 0; i < 3; i++)
        assert_true(digest(&lab, threads[i]) == one);
    close_lab(&lab);
}

static void refuse(struct sim_injection rule, const char *part)
{
    struct lab lab;
    struct error e = {""};
    open_lab(&lab, 2);
    fixture_flow(&lab.f, 0, 1, 1000);
    *add_rule(&lab, PACKET_DATA, SIM_INJECT_DROP) = rule;
    assert_null(sim_new(&lab.f.config, &e));
    if (!strstr(e.text, part))
        fail_msg("%s: expected %s", e.text, part);
    close_lab(&lab);
}

static void refusals(void **state)
{
    (void)state;
    const struct sim_injection good = {.until_ps = 1, .first = 1, .every = 1, .most = 1};
    struct sim_injection bad = good;
    bad.flow = 1;
    refuse(bad, "no such flow or port");
    bad = good, bad.flow = SIM_NO_FLOW, bad.port = 4;
    refuse(bad, "no such flow or port");
    bad = good, bad.kind = PACKET_PFC;
    refuse(bad, "belong to a port");
    bad = good, bad.kind = PACKET_ACK, bad.action = SIM_INJECT_MARK;
    refuse(bad, "only data is marked");
    bad = good, bad.kind = PACKET_ACK, bad.action = SIM_INJECT_STALL;
    refuse(bad, "only data is marked");
    bad = good, bad.flow = SIM_NO_FLOW, bad.action = SIM_INJECT_PAUSE, bad.port = 1;
    refuse(bad, "only hosts");
    bad = good, bad.first = 0;
    refuse(bad, "out of range");
    bad = good, bad.until_ps = 0;
    refuse(bad, "out of range");
    bad = good, bad.probability = 1.5;
    refuse(bad, "out of range");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_packet_is_dropped),
        cmocka_unit_test(a_corrupt_packet_is_counted),
        cmocka_unit_test(answers_are_dropped),
        cmocka_unit_test(reads_count_requests_that_ask_again),
        cmocka_unit_test(a_mark_gives_a_cnp),
        cmocka_unit_test(the_second_cnp_is_dropped),
        cmocka_unit_test(a_dropped_pause_comes_late_or_overflows),
        cmocka_unit_test(every_and_count),
        cmocka_unit_test(from_a_time),
        cmocka_unit_test(by_probability),
        cmocka_unit_test(only_its_flow),
        cmocka_unit_test(a_late_packet_is_overtaken),
        cmocka_unit_test(late_packets_stay_in_order),
        cmocka_unit_test(a_packet_comes_twice),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
