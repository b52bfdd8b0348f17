/* The virtual ConnectX's DCQCN: its parameters, and marks, CNPs and rates between two functions. */
#include "virtual-connectx/tests/unit/vcx_reaction.h"

#include <math.h>

enum { MBPS = 1000000 };
#define LINE_BPS 25000000000

/* An hour without a packet costs no more than a few calls. */
static void long_idle_times_are_bounded(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct reaction rp = reaction_standard;
    rp.rpg_time_reset = 1;
    assert_int_equal(reaction_set(&pair->side[0], &rp), VCX_OK);
    const struct vcx_reaction_parameters *p = &pair->side[0].device.congestion->reaction;
    struct vcx_reaction r = {0};
    vcx_reaction_cnp(&r, p, 1000);
    int calls = 1;
    while (!vcx_reaction_advance(&r, p, 3600000000000))
        assert_true(++calls < 10);
    assert_int_equal(r.rate_bps, LINE_BPS);
    pair_close(pair);
}

/* ---- commands */

static void parameters_are_kept_and_checked(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[0];
    struct reaction rp = reaction_standard;
    uint32_t bytes = vcx_offset(query_cong_params_out, congestion_parameters) + 256;
    const uint8_t *block = vcx_at(s->out, query_cong_params_out, congestion_parameters);
    vcx_set(s->in, query_cong_params_in, cong_protocol, 1);
    side_ok(s, 0x824, 16, bytes);
#define IS(bit, name, standard) assert_int_equal(vcx_get(block, cong_control_r_roce_ecn_rp, name), rp.name);
    REACTION_PARAMETERS(IS) /* mlx5's defaults */
    rp.rpg_ai_rate = 77;
    rp.rpg_min_dec_fac = 80;
    assert_int_equal(reaction_set(s, &rp), VCX_OK);
    vcx_set(s->in, query_cong_params_in, cong_protocol, 1);
    side_ok(s, 0x824, 16, bytes);
    REACTION_PARAMETERS(IS)
    struct reaction bad = rp;
    bad.rpg_ai_rate = 5;
    bad.rpg_min_dec_fac = 101;
    assert_int_equal(reaction_set(s, &bad), VCX_BAD_PARAMETER);
    vcx_set(s->in, query_cong_params_in, cong_protocol, 1);
    side_ok(s, 0x824, 16, bytes);
    REACTION_PARAMETERS(IS) /* none was taken */
#undef IS
    vcx_set(s->in, query_cong_params_in, cong_protocol, 3);
    assert_int_equal(side_run(s, 0x824, 16, bytes), VCX_BAD_PARAMETER);
    pair_close(pair);
}

static void enable(struct side *s, uint32_t point, uint32_t priority, bool on)
{
    vcx_set(s->in, modify_cong_status_in, cong_protocol, point);
    vcx_set(s->in, modify_cong_status_in, priority, priority);
    vcx_set(s->in, modify_cong_status_in, enable, on);
    side_ok(s, 0x823, 16, 16);
}

static bool is_enabled(struct side *s, uint32_t point, uint32_t priority)
{
    vcx_set(s->in, query_cong_status_in, cong_protocol, point);
    vcx_set(s->in, query_cong_status_in, priority, priority);
    side_ok(s, 0x822, 16, 16);
    return vcx_get(s->out, query_cong_status_out, enable);
}

static void each_priority_has_its_switch(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[0];
    enable(s, 1, 3, false);
    enable(s, 2, 5, false);
    for (uint32_t priority = 0; priority < 8; priority++) {
        assert_int_equal(is_enabled(s, 1, priority), priority != 3);
        assert_int_equal(is_enabled(s, 2, priority), priority != 5);
    }
    vcx_set(s->in, modify_cong_status_in, cong_protocol, 1);
    vcx_set(s->in, modify_cong_status_in, priority, 8);
    assert_int_equal(side_run(s, 0x823, 16, 16), VCX_BAD_PARAMETER);
    pair_close(pair);
}

/* ---- between two functions */

struct statistics {
    uint64_t handled, ignored, marked, sent;
    uint32_t flows;
};

static struct statistics statistics_of(struct side *s)
{
    side_ok(s, 0x826, 16, 256);
#define READ(name)                                                   \
    (vcx_get(s->out, query_cong_statistics_out, name##_high) << 32 | \
     vcx_get(s->out, query_cong_statistics_out, name##_low))
    return (struct statistics){READ(rp_cnp_handled), READ(rp_cnp_ignored), READ(np_ecn_marked_roce_packets),
                               READ(np_cnp_sent),
                               (uint32_t)vcx_get(s->out, query_cong_statistics_out, rp_cur_flows)};
#undef READ
}

static const struct vcx_reaction *reaction_of(const struct qp *qp)
{
    const struct vcx_qp *found = vcx_object(&qp->side->device, VCX_QP, qp->id);
    return &found->reaction;
}

static void write_many(struct link *l, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        qp_post(&l->a, &(struct work){.opcode = 0x08, .bytes = MOST, .remote_key = l->b.side->key});
}

static void set_cnps(struct side *s, uint32_t gap_us, uint32_t dscp)
{
    uint8_t *block = vcx_at(s->in, modify_cong_params_in, congestion_parameters);
    vcx_set(block, cong_control_r_roce_ecn_np, min_time_between_cnps, gap_us);
    vcx_set(block, cong_control_r_roce_ecn_np, cnp_dscp, dscp);
    vcx_set(s->in, modify_cong_params_in, cong_protocol, 2);
    vcx_put32(vcx_at(s->in, modify_cong_params_in, field_select), 1 << 2 | 1 << 3);
    side_ok(s, 0x825, vcx_offset(modify_cong_params_in, congestion_parameters) + 256, 16);
}

static void marks_are_answered_with_cnps(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    set_cnps(l.b.side, 100000, 50);
    l.pair->mark_left = 5;
    write_many(&l, 1);
    pair_run(l.pair);
    struct statistics a = statistics_of(l.a.side), b = statistics_of(l.b.side);
    assert_int_equal(b.marked, 5);
    assert_int_equal(b.sent, 1); /* all within min_time_between_cnps */
    assert_int_equal(l.pair->cnps, 1);
    assert_int_equal(l.pair->last_cnp_dscp, 50);
    assert_int_equal(a.handled, 1);
    assert_int_equal(a.ignored, 0);
    assert_int_equal(a.flows, 1);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    pair_run_ms(l.pair, 100);
    l.pair->mark_left = 1;
    write_many(&l, 1);
    pair_run(l.pair);
    assert_int_equal(statistics_of(l.b.side).sent, 2);
    pair_close(l.pair);
}

/* The answers of reads are paced by the responder, whose data was marked. */
static void read_answers_react(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    set_cnps(l.a.side, 100000, 48);
    qp_post(&l.a, &(struct work){.opcode = 0x10, .bytes = MOST, .remote_key = l.b.side->key});
    while (!l.pair->frames)
        pair_step(l.pair, STEP_NS);
    l.pair->mark_left = 3;
    pair_run(l.pair);
    assert_int_equal(statistics_of(l.a.side).sent, 1);
    assert_int_equal(statistics_of(l.b.side).handled, 1);
    assert_true(reaction_of(&l.b)->started);
    assert_false(reaction_of(&l.a)->started);
    pair_close(l.pair);
}

static void a_priority_that_is_off_has_no_part(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    for (uint32_t priority = 0; priority < 8; priority++)
        enable(l.a.side, 1, priority, false);
    l.pair->mark_left = 5;
    write_many(&l, 1);
    pair_run(l.pair);
    assert_int_equal(l.pair->mark_left, 5); /* no packet could be marked */
    enable(l.a.side, 1, 0, true);
    for (uint32_t priority = 0; priority < 8; priority++)
        enable(l.b.side, 2, priority, false);
    write_many(&l, 1);
    pair_run(l.pair);
    assert_int_equal(l.pair->mark_left, 0);
    assert_int_equal(statistics_of(l.b.side).marked, 0);
    assert_int_equal(l.pair->cnps, 0);
    pair_close(l.pair);
}

static void a_cnp_for_nobody_is_ignored(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    assert_int_equal(qp_modify(&l.a, 0x507), VCX_OK); /* 2ERR */
    write_many(&l, 0);
    qp_post(&l.b, &(struct work){.opcode = 0x08, .bytes = 10, .remote_key = l.a.side->key});
    struct vcx_frame *frame;
    uint8_t *payload, zeros[16] = {0};
    struct vcx_route route;
    vcx_route_connection(&l.b.side->device, vcx_object(&l.b.side->device, VCX_QP, l.b.id), &route);
    for (int i = 0; i < 2; i++) {
        struct vcx_packet_header h = {.opcode = VCX_OPCODE_CNP,
                                      .partition = 0xffff,
                                      .qpn = i ? l.a.id : 0xabcdef,
                                      .extension = zeros,
                                      .extension_bytes = sizeof zeros};
        frame = vcx_packet_open(&route.path, &h, 0, &payload);
        assert_non_null(frame);
        vcx_packet_close(frame);
        assert_true(vcx_transport_receive(&l.a.side->device, frame));
    }
    assert_int_equal(statistics_of(l.a.side).ignored, 2);
    assert_int_equal(statistics_of(l.a.side).handled, 0);
    pair_close(l.pair);
}

/* Bytes that the peer got in a time, in bits per second. */
static double measured_bps(struct link *l, uint32_t steps, uint64_t step_ns)
{
    uint64_t frames = l->pair->frames;
    for (uint32_t i = 0; i < steps; i++) {
        pair_step(l->pair, step_ns);
        while (cq_poll(&l->a.send_cq))
            write_many(l, 1);
    }
    /* nearly all frames are packets of 1024 bytes and their acknowledgements, one for a message of twelve */
    return (double)(l->pair->frames - frames) * 12 / 13 * 8 * (1024 + 58) * 1e9 /
           ((double)steps * (double)step_ns);
}

static void expect_bps(struct link *l, double expected, uint32_t steps, uint64_t step_ns)
{
    double bps = measured_bps(l, steps, step_ns);
    if (fabs(bps / expected - 1) > 0.1)
        fail_msg("%.0f bit/s in place of %.0f in steps of %llu ns", bps, expected,
                 (unsigned long long)step_ns);
}

/* The line is a thousand times slower than the nominal one: so is the rate, and so are the times. */
static void a_slow_line_stretches_it(void **state)
{
    (void)state;
    struct vcx_configuration slow = front_configuration;
    slow.nominal_bps = LINE_BPS;
    slow.line_bps = LINE_BPS / 1000;
    struct link l = link_open_with(&usual, &slow);
    struct reaction rp = reaction_standard;
    rp.rate_to_set_on_first_cnp = 5000;
    rp.rpg_time_reset = 100000; /* 100 ms, stretched to 100 s */
    rp.rpg_byte_reset = 0;
    rp.rpg_min_dec_fac = 50;
    assert_int_equal(reaction_set(l.a.side, &rp), VCX_OK);
    l.pair->mark_left = 1;
    write_many(&l, 6);
    for (int i = 0; i < 200; i++)
        pair_step(l.pair, 100000);
    assert_int_equal(statistics_of(l.a.side).handled, 1);
    /* 5 Gbit/s, cut once, 4 us after the CNP (stretched to 4 ms), when alpha has decayed four times from
     * 1: 5000 * (1 - (1019/1024)^4 / 2) */
    assert_int_equal(reaction_of(&l.a)->rate_bps / MBPS, 2548);
    expect_bps(&l, 2.548e6, 20000, 50000);
    expect_bps(&l, 2.548e6, 1000,
               1000000); /* its thread comes late for each packet, as an emulated guest's does */
    pair_close(l.pair);
}

static void the_rate_recovers(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    l.pair->mark_left = 200;
    write_many(&l, 6);
    pair_run(l.pair);
    uint64_t reduced = reaction_of(&l.a)->rate_bps;
    assert_true(reduced < LINE_BPS / 2);
    assert_true(measured_bps(&l, 1000, STEP_NS) > 0);
    assert_true(reaction_of(&l.a)->rate_bps > reduced);
    measured_bps(&l, 20000, STEP_NS);
    assert_true(reaction_of(&l.a)->rate_bps > LINE_BPS / 10 * 9);
    pair_close(l.pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(long_idle_times_are_bounded),
        TEST(parameters_are_kept_and_checked),
        TEST(each_priority_has_its_switch),
        TEST(marks_are_answered_with_cnps),
        TEST(read_answers_react),
        TEST(a_priority_that_is_off_has_no_part),
        TEST(a_cnp_for_nobody_is_ignored),
        TEST(a_slow_line_stretches_it),
        TEST(the_rate_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
