/* When a requester of the virtual ConnectX sends again and when it gives up, beside what was measured on
 * ConnectX-6 (20.43) and on an older pair of ConnectX-6 and ConnectX-5 (16.35) by
 * unionxic/rdma-fault-characterization, 2026; and register ROCE_ACCL. The clock goes from time-out to
 * time-out, so that times are exact. */
#include "virtual-connectx/model/capability.h"
#include "virtual-connectx/model/register/register.h"
#include "virtual-connectx/tests/unit/vcx_pair.h"
#include "virtual-connectx/tests/unit/vcx_register_ids.h"

enum { SEND = 0x0a, WRITE = 0x08 };
enum { ADAPTIVE = 1 << 0, TX_WINDOW = 1 << 1, SLOW_RESTART = 1 << 2, NO_FLOOR = 1 << 4 };

static struct vcx_configuration device_of(uint16_t id, uint32_t scale)
{
    struct vcx_configuration configuration = front_configuration;
    configuration.device_id = id;
    configuration.timeout_scale = scale;
    return configuration;
}

static struct link open_silent(uint16_t id, uint8_t timeout, uint8_t retries, uint32_t scale)
{
    struct vcx_configuration configuration = device_of(id, scale);
    struct link l = link_open_with(
        &(struct qp_options){
            .type = VCX_QP_RC, .ack_timeout = timeout, .retry_count = (uint8_t)(retries + 1), .rnr_retry = 7},
        &configuration);
    l.pair->drop_from = 0;
    return l;
}

static const struct vcx_requester *requester_of(const struct link *l)
{
    return &((struct vcx_qp *)vcx_object(&l->a.side->device, VCX_QP, l->a.id))->requester;
}

/* ---- the register */

static enum vcx_status access_accl(struct side *s, bool write, uint32_t selected, uint32_t enabled)
{
    uint8_t *data = vcx_at(s->in, access_register_in, register_data);
    vcx_set(s->in, nop_in, op_mod, !write);
    vcx_set(s->in, access_register_in, register_id, ROCE_ACCL);
    vcx_put32(data, selected);
    vcx_put32(data + 4, enabled);
    return side_run(s, 0x805, 16 + 8, 16 + 8);
}

static void set_accl(struct side *s, uint32_t selected, uint32_t enabled)
{
    assert_int_equal(access_accl(s, true, selected, enabled), VCX_OK);
}

static void expect_accl(struct side *s, uint32_t selected, uint32_t enabled)
{
    const uint8_t *data = vcx_at(s->out, access_register_out, register_data);
    assert_int_equal(access_accl(s, false, 0, 0), VCX_OK);
    assert_int_equal(vcx_be32(data), selected);
    assert_int_equal(vcx_be32(data + 4), enabled);
}

static void the_register_switches_what_is_modelled(void **state)
{
    (void)state;
    enum { TIMES = ADAPTIVE | SLOW_RESTART | NO_FLOOR, ALL = TIMES | OUT_OF_ORDER | SELECTIVE };
    static const uint16_t devices[] = {VCX_CONNECTX_5, VCX_CONNECTX_6};
    for (size_t i = 0; i < VCX_COUNT(devices); i++) {
        struct vcx_configuration configuration = device_of(devices[i], 0);
        struct pair *pair = pair_open_with(&configuration);
        struct side *s = &pair->side[0];
        assert_true(vcx_get(s->device.capability[0], cmd_hca_cap, roce_accl));
        expect_accl(s, ALL, ADAPTIVE | SLOW_RESTART);
        set_accl(s, NO_FLOOR, NO_FLOOR); /* the others are not selected */
        expect_accl(s, ALL, TIMES);
        set_accl(s, ADAPTIVE | SLOW_RESTART, SLOW_RESTART);
        expect_accl(s, ALL, SLOW_RESTART | NO_FLOOR);
        set_accl(s, OUT_OF_ORDER | SELECTIVE, SELECTIVE);
        expect_accl(s, ALL, SLOW_RESTART | NO_FLOOR | SELECTIVE);
        set_accl(s, OUT_OF_ORDER | SELECTIVE, OUT_OF_ORDER);
        expect_accl(s, ALL, SLOW_RESTART | NO_FLOOR | OUT_OF_ORDER);
        set_accl(s, OUT_OF_ORDER, 0);
        for (int bit = 0; bit < 32; bit++)
            if (!((uint32_t)ALL >> bit & 1)) {
                assert_int_equal(access_accl(s, true, 1u << bit, 0), VCX_BAD_PARAMETER);
                assert_int_equal(access_accl(s, true, 0, 1u << bit), VCX_BAD_PARAMETER);
                assert_int_equal(access_accl(s, true, ADAPTIVE | 1u << bit, ADAPTIVE), VCX_BAD_PARAMETER);
            }
        expect_accl(s, ALL, SLOW_RESTART | NO_FLOOR);
        expect_accl(&pair->side[1], ALL, ADAPTIVE | SLOW_RESTART); /* each function has its own */
        pair_close(pair);
    }
}

static void a_connectx_4_has_no_switch(void **state)
{
    (void)state;
    struct vcx_configuration configuration = device_of(VCX_CONNECTX_4_LX, 0);
    struct pair *pair = pair_open_with(&configuration);
    assert_false(vcx_get(pair->side[0].device.capability[0], cmd_hca_cap, roce_accl));
    expect_accl(&pair->side[0], 0, 0);
    assert_int_equal(access_accl(&pair->side[0], true, ADAPTIVE, 0), VCX_BAD_PARAMETER);
    pair_close(pair);
}

struct text {
    char bytes[1000];
    size_t used;
};

static void put_text(void *context, const char *line)
{
    struct text *text = context;
    text->used += (size_t)snprintf(text->bytes + text->used, sizeof text->bytes - text->used, "%s\n", line);
    assert_true(text->used < sizeof text->bytes);
}

static void the_register_is_read_and_set_as_text(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct vcx_device *device = &pair->side[0].device;
    struct vcx_sentence error;
    struct text text = {.used = 0};
    assert_true(vcx_roce_accl_request(device, "min_ack_timeout_limit_disabled 1", &error));
    assert_true(vcx_roce_accl_request(device, "roce_slow_restart_en 0", &error));
    assert_true(vcx_roce_accl_request(device, "selective_repeat_forced_en 1", &error));
    vcx_roce_accl_show(device, put_text, &text);
    assert_string_equal(text.bytes, "roce_adp_retrans_en 1\n"
                                    "roce_tx_window_en not supported\n"
                                    "roce_slow_restart_en 0\n"
                                    "roce_slow_restart_idle_en not supported\n"
                                    "min_ack_timeout_limit_disabled 1\n"
                                    "adaptive_routing_forced_en 0\n"
                                    "selective_repeat_forced_en 1\n"
                                    "dc_half_handshake_en not supported\n");
    static const char *const wrong[][2] = {
        {"", "expected a switch of ROCE_ACCL and 0 or 1"},
        {"roce_adp_retrans_en", "expected a switch of ROCE_ACCL and 0 or 1"},
        {"roce_adp_retrans 1", "roce_adp_retrans: no such switch of ROCE_ACCL"},
        {"roce_adp_retrans_en 2", "roce_adp_retrans_en: expected 0 or 1, found 2"},
        {"roce_tx_window_en 0", "roce_tx_window_en: this device does not support it"},
        {"dc_half_handshake_en 1", "dc_half_handshake_en: this device does not support it"},
    };
    for (size_t i = 0; i < VCX_COUNT(wrong); i++) {
        assert_false(vcx_roce_accl_request(device, wrong[i][0], &error));
        assert_string_equal(error.text, wrong[i][1]);
    }
    expect_accl(&pair->side[0], ADAPTIVE | SLOW_RESTART | NO_FLOOR | OUT_OF_ORDER | SELECTIVE,
                ADAPTIVE | NO_FLOOR | SELECTIVE);
    pair_close(pair);
}

/* ---- a silent peer */

/* What a request without an answer came to. Times are in nanoseconds after it was posted. */
struct silence {
    uint64_t until_error, first_resend, last_adaptive, first_timeout, last_timeout;
    uint32_t adaptive, timeouts, resends;
};

/* Returns since when its answer is awaited. */
static uint64_t post_write(struct link *l)
{
    uint64_t frames = l->pair->frames;
    qp_post(&l->a, &(struct work){.opcode = WRITE, .bytes = 64, .remote_key = l->b.side->key});
    for (int i = 0; i < 200 && l->pair->frames == frames; i++)
        pair_step(l->pair, STEP_NS);
    assert_int_equal(l->pair->frames, frames + 1);
    return requester_of(l)->since_ns; /* the port took a bit longer */
}

/* From time-out to time-out, until the request ends. */
static struct silence be_silent(struct link *l)
{
    struct silence seen = {0};
    struct vcx_front *front = &l->a.side->front;
    struct vcx_counter_set *c = side_counters(l->a.side);
    const struct vcx_requester *r = requester_of(l);
    uint64_t begin = post_write(l);
    while (r->deadline_ns) {
        struct vcx_counter_set before = *c;
        uint64_t frames = l->pair->frames, at = r->deadline_ns - begin;
        assert_true(r->deadline_ns > front->now_ns);
        pair_step(l->pair, r->deadline_ns - 1 - front->now_ns);
        assert_memory_equal(&before, c, sizeof before);
        assert_int_equal(l->pair->frames, frames);
        pair_step(l->pair, 1);
        while (pair_step(l->pair, 0)) /* ticks of congestion control that were passed over */
            ;
        assert_int_equal(c->roce_adp_retrans + c->local_ack_timeout_err,
                         before.roce_adp_retrans + before.local_ack_timeout_err + 1);
        if (c->roce_adp_retrans > before.roce_adp_retrans)
            seen.last_adaptive = at;
        else
            seen.last_timeout = at;
        if (!seen.first_timeout)
            seen.first_timeout = seen.last_timeout;
        assert_true(l->pair->frames <= frames + 1);
        if (l->pair->frames > frames && !seen.resends++)
            seen.first_resend = at;
        assert_true(seen.adaptive + seen.timeouts < 40);
        seen.adaptive = c->roce_adp_retrans;
        seen.timeouts = c->local_ack_timeout_err;
        if (qp_state(&l->a) == VCX_QP_ERROR)
            break;
    }
    seen.until_error = front->now_ns - begin;
    expect_error(&l->a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_RETRIES_EXCEEDED);
    expect_none(&l->a.send_cq);
    assert_int_equal(c->req_transport_retries_exceeded, 1);
    assert_int_equal(c->req_cqe_error, 1);
    return seen;
}

/* A row: what was set, and what was measured. */
struct row {
    const char *id;
    uint16_t device;
    uint8_t timeout, retries;
    bool no_floor;
    double least_ms, most_ms; /* until the error */
    uint32_t adaptive_least, adaptive_most, timeouts, frames_least, frames_most;
};
#define CX5 VCX_CONNECTX_5
#define CX6 VCX_CONNECTX_6

static const struct row rows[] = {
    {"S-7.01", CX6, 14, 7, false, 3660.1, 3663.1, 4, 7, 6, 10, 13},
    {"S-7.02", CX6, 16, 7, false, 3660.1, 3663.1, 4, 7, 6, 10, 13},
    {"S-7.03", CX6, 10, 7, false, 3660.05, 3663.05, 4, 7, 6, 10, 13},
    {"S-7.04 and S-7.10", CX6, 20, 7, false, 58571, 60961, 10, 11, 6, 16, 17},
    {"S-7.06", CX6, 14, 1, false, 438.9, 441.9, 4, 7, 0, 4, 7},
    {"S-7.07", CX6, 14, 2, false, 976.1, 979.1, 4, 7, 1, 5, 8},
    {"S-7.08", CX6, 14, 5, false, 2586.7, 2589.7, 4, 7, 4, 8, 11},
    {"S-7.18", CX6, 14, 3, false, 1512.8, 1515.8, 4, 7, 2, 6, 9},
    {"S-7.18", CX6, 14, 4, false, 2049.9, 2052.9, 4, 7, 3, 7, 10},
    {"S-7.18", CX6, 14, 6, false, 3123.3, 3126.3, 4, 7, 5, 9, 12},
    {"no retries", CX6, 14, 0, false, 2049.2, 2052.2, 5, 5, 3, 8, 8},
    {"S-7.11", CX6, 8, 7, true, 8.29, 10.69, 0, 0, 9, 8, 8},
    {"S-7.12", CX6, 8, 0, true, 1.04, 3.44, 0, 0, 2, 1, 1},
    {"S-7.13", CX6, 14, 7, true, 569, 616, 0, 0, 9, 8, 8},
    {"S-7.14", CX6, 20, 7, true, 36000, 39800, 0, 0, 9, 8, 8},
    {"S-7.20", CX6, 8, 1, true, 1.91, 4.31, 0, 0, 3, 2, 2},
    {"S-7.20", CX6, 8, 2, true, 3.37, 5.77, 0, 0, 4, 3, 3},
    {"S-7.20", CX6, 8, 3, true, 4.23, 6.63, 0, 0, 5, 4, 4},
    {"S-7.20", CX6, 8, 5, true, 6.13, 8.53, 0, 0, 7, 6, 6},
    {"S-7.21", CX6, 16, 7, true, 2284, 2459, 0, 0, 9, 8, 8},
    {"S-7.21", CX6, 17, 7, true, 4569, 4918, 0, 0, 9, 8, 8},
    {"S-7.21", CX6, 18, 7, true, 9137, 9836, 0, 0, 9, 8, 8},
    {"S-6.13", CX5, 14, 7, false, 3400, 3900, 8, 8, 6, 14, 14},
    {"S-7.22", CX5, 8, 0, false, 406.6, 449.4, 8, 8, 0, 8, 8},
    {"S-7.22", CX5, 8, 3, false, 1936, 2140, 8, 8, 3, 11, 11},
    {"S-7.22", CX5, 8, 7, false, 3468, 3834, 8, 8, 6, 14, 14},
    {"S-7.22", CX5, 8, 0, true, 0.96, 1.44, 0, 0, 1, 1, 1},
    {"S-7.22", CX5, 8, 3, true, 4.72, 7.08, 0, 0, 4, 4, 4},
    {"S-7.15", CX5, 8, 7, true, 9.8, 14.7, 0, 0, 8, 8, 8},
};

static bool is_within(double value, double least, double most)
{
    return value >= least && value <= most;
}

static void check_row(const struct row *row, uint32_t scale)
{
    struct link l = open_silent(row->device, row->timeout, row->retries, scale);
    if (row->no_floor)
        set_accl(l.a.side, NO_FLOOR, NO_FLOOR);
    struct silence seen = be_silent(&l);
    double ms = (double)seen.until_error / 1e6 / scale;
    if (!is_within(ms, row->least_ms, row->most_ms) ||
        !is_within(seen.adaptive, row->adaptive_least, row->adaptive_most) ||
        seen.timeouts != row->timeouts ||
        !is_within((double)l.pair->frames, row->frames_least, row->frames_most))
        fail_msg("%s, times %u: %g ms, %u adaptive, %u time-outs, %u frames", row->id, scale, ms,
                 seen.adaptive, seen.timeouts, (unsigned)l.pair->frames);
    /* S-4.07, S-4.08: one notification to itself for each resend, none on the wire */
    assert_int_equal(side_counters(l.a.side)->roce_slow_restart_cnps, seen.resends);
    assert_int_equal(l.a.side->device.congestion->cnps_handled, seen.resends);
    assert_int_equal(l.a.side->device.congestion->cnps_sent, 0);
    assert_int_equal(l.pair->frames, 1 + seen.resends);
    pair_close(l.pair);
}

static void a_silent_peer_is_noticed_as_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < VCX_COUNT(rows); i++) {
        check_row(&rows[i], 1);
        check_row(&rows[i], 250);
    }
}

/* S-7.09: 536.9 ms; and the first resend at each of the four that were seen */
static void time_outs_have_their_times(void **state)
{
    (void)state;
    static const uint64_t entries_ms[] = {12500, 20900, 37600, 71400};
    unsigned entered = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct vcx_configuration configuration = device_of(CX6, 1);
        configuration.seed = seed;
        struct link l =
            link_open_with(&(struct qp_options){.type = VCX_QP_RC, .ack_timeout = 14}, &configuration);
        l.pair->drop_from = 0;
        struct silence seen = be_silent(&l);
        assert_int_equal(seen.last_timeout - seen.first_timeout, 5 * 2 * 4096ull << 16);
        assert_int_equal(seen.last_adaptive, 440400000);
        for (unsigned i = 0; i < 4; i++)
            if (seen.first_resend == entries_ms[i] * 1000)
                entered |= 1u << i;
        pair_close(l.pair);
    }
    assert_int_equal(entered, 0xf);
}

/* The older pair: the same times; nothing is known of its counters. */
static void without_adaptive_retransmission_the_times_stay(void **state)
{
    (void)state;
    static const struct {
        uint8_t retries, timeouts;
        double ms;
    } cases[] = {{0, 1, 428}, {3, 4, 2038}};
    for (size_t i = 0; i < VCX_COUNT(cases); i++) {
        struct link l = open_silent(CX5, 8, cases[i].retries, 1);
        set_accl(l.a.side, ADAPTIVE, 0);
        struct silence seen = be_silent(&l);
        assert_int_equal(seen.adaptive, 0);
        assert_int_equal(seen.timeouts, cases[i].timeouts);
        assert_true(is_within((double)seen.until_error / 1e6, cases[i].ms * 0.95, cases[i].ms * 1.05));
        pair_close(l.pair);
    }
}

static void slow_restart_is_switched_off(void **state)
{
    (void)state;
    struct link l = open_silent(CX6, 14, 7, 1);
    set_accl(l.a.side, SLOW_RESTART, 0);
    struct silence seen = be_silent(&l);
    assert_true(seen.resends >= 9);
    assert_int_equal(side_counters(l.a.side)->roce_slow_restart_cnps, 0);
    assert_int_equal(l.a.side->device.congestion->cnps_handled, 0);
    pair_close(l.pair);
}

/* S-4.09, S-6.15: a queue pair without a counter set, as DEVX makes them */
static void without_a_counter_set_only_the_port_counts(void **state)
{
    (void)state;
    struct vcx_configuration configuration = device_of(CX6, 1);
    struct link l = {.pair = pair_open_with(&configuration)};
    struct side *s = &l.pair->side[0];
    uint32_t counters = s->counters;
    s->counters = 0;
    l.a = qp_create_of(s, &usual);
    l.b = qp_create_of(&l.pair->side[1], &usual);
    qps_connect(&l.a, &l.b, &usual);
    s->counters = counters;
    l.pair->drop_from = 0;
    post_write(&l);
    while (qp_state(&l.a) != VCX_QP_ERROR)
        pair_step(l.pair, requester_of(&l)->deadline_ns - s->front.now_ns);
    const struct vcx_counter_set none = {.object = side_counters(s)->object};
    assert_memory_equal(side_counters(s), &none, sizeof none);
    assert_true(s->device.congestion->cnps_handled >= 8);
    pair_close(l.pair);
}

/* By the configuration's factor, or that of the line, which is 100 at least. */
static void waits_are_scaled(void **state)
{
    (void)state;
    static const struct {
        uint64_t slower;
        uint32_t scale, factor;
    } cases[] = {{1, 1, 1}, {5000, 1, 1}, {1, 20, 20}, {1, 0, 100}, {50, 0, 100}, {5000, 0, 5000}};
    for (size_t i = 0; i < VCX_COUNT(cases); i++) {
        struct vcx_configuration configuration = device_of(CX5, cases[i].scale);
        configuration.line_bps = configuration.nominal_bps / cases[i].slower;
        struct link l =
            link_open_with(&(struct qp_options){.type = VCX_QP_RC, .retry_count = 4}, &configuration);
        l.pair->drop_from = 0;
        uint64_t nominal_ns = 427900000 + 536800000 + 2 * 2 * (4096ull << 16);
        assert_int_equal(be_silent(&l).until_error, nominal_ns * cases[i].factor);
        pair_close(l.pair);
    }
}

/* Code 31 and seven retries on the slowest line: longer than there is room for, and never soon. */
static void the_longest_waits_do_not_wrap(void **state)
{
    (void)state;
    struct link l = open_silent(CX6, 31, 7, VCX_MOST_TIMEOUT_SCALE);
    uint64_t last = post_write(&l);
    for (int i = 0; i < 12; i++) {
        uint64_t next = requester_of(&l)->deadline_ns;
        assert_true(next > last);
        pair_step(l.pair, next - l.a.side->front.now_ns);
        last = next;
    }
    pair_close(l.pair);
}

/* ---- a peer that answers */

/* What was lost last is missed by nobody: the first adaptive resend brings it, and the silence is over. */
static void the_last_packet_is_sent_again_soon(void **state)
{
    (void)state;
    struct vcx_configuration configuration = device_of(CX6, 1);
    struct link l = link_open_with(&usual, &configuration);
    for (int i = 0; i < 3; i++) {
        l.pair->drop = (int64_t)l.pair->frames;
        uint64_t since = post_write(&l), wait = requester_of(&l)->deadline_ns - since;
        assert_in_range(wait, 12500000, 71400000);
        pair_step(l.pair, since + wait - 1 - l.a.side->front.now_ns);
        expect_none(&l.a.send_cq);
        pair_step(l.pair, 1);
        pair_run(l.pair);
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        assert_int_equal(side_counters(l.a.side)->roce_adp_retrans, i + 1);
        assert_int_equal(requester_of(&l)->deadline_ns, 0);
    }
    assert_int_equal(side_counters(l.a.side)->local_ack_timeout_err, 0);
    pair_close(l.pair);
}

/* Without a retry left a NAK ends the request by the specification; on ConnectX-5 and 6 it ends a silence. */
static void a_nak_is_an_answer(void **state)
{
    (void)state;
    static const uint16_t devices[] = {CX5, CX6, VCX_CONNECTX_4_LX};
    for (size_t i = 0; i < VCX_COUNT(devices); i++) {
        struct vcx_configuration configuration = device_of(devices[i], 1);
        struct link l =
            link_open_with(&(struct qp_options){.type = VCX_QP_RC, .retry_count = 1}, &configuration);
        l.pair->drop = 0;
        qp_post(&l.a, &(struct work){.opcode = WRITE, .bytes = 3000, .remote_key = l.b.side->key});
        pair_run(l.pair);
        assert_int_equal(side_counters(l.a.side)->packet_seq_err, 1);
        if (devices[i] == VCX_CONNECTX_4_LX)
            expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_RETRIES_EXCEEDED);
        else
            expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        assert_int_equal(l.a.side->device.congestion->cnps_handled, 0); /* not proved of NAKs */
        pair_close(l.pair);
    }
}

/* S-11.08: a responder that is not ready for 1250 ms; completed after 1.35 to 1.51 s. */
static void a_peer_may_be_silent_for_a_while(void **state)
{
    (void)state;
    struct link l = open_silent(CX6, 14, 7, 1);
    uint64_t begin = post_write(&l);
    while (requester_of(&l)->deadline_ns) {
        uint64_t next = requester_of(&l)->deadline_ns;
        l.pair->drop_from = next - begin < 1250000000 ? 0 : -1;
        pair_step(l.pair, next - l.a.side->front.now_ns);
        pair_run(l.pair);
    }
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_in_range(l.a.side->front.now_ns - begin, 1250000000, 1800000000);
    pair_close(l.pair);
}

/* S-7.16, 6 retries after a timer of 0.64 ms; S-7.17, a ConnectX-4's wait for a timer of 0.12 ms */
static void waits_for_a_receiver_are_as_measured(void **state)
{
    (void)state;
    struct vcx_configuration configuration = device_of(CX6, 1);
    struct link l =
        link_open_with(&(struct qp_options){.type = VCX_QP_RC, .rnr_retry = 6 + 1}, &configuration);
    uint64_t begin = l.a.side->front.now_ns;
    qp_post(&l.a, &(struct work){.opcode = SEND, .bytes = 64});
    while (qp_state(&l.a) != VCX_QP_ERROR)
        pair_step(l.pair, STEP_NS);
    assert_in_range(l.a.side->front.now_ns - begin, 11500000, 13500000);
    expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_RNR_RETRIES_EXCEEDED);
    assert_int_equal(l.pair->naks, 7);
    assert_int_equal(l.a.side->device.congestion->cnps_handled, 0);
    assert_in_range(vcx_rnr_wait_ns(&l.a.side->device, 7), 1000000, 2000000);
    pair_close(l.pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_register_switches_what_is_modelled),
        TEST(a_connectx_4_has_no_switch),
        TEST(the_register_is_read_and_set_as_text),
        TEST(a_silent_peer_is_noticed_as_measured),
        TEST(time_outs_have_their_times),
        TEST(without_adaptive_retransmission_the_times_stay),
        TEST(slow_restart_is_switched_off),
        TEST(without_a_counter_set_only_the_port_counts),
        TEST(waits_are_scaled),
        TEST(the_longest_waits_do_not_wrap),
        TEST(the_last_packet_is_sent_again_soon),
        TEST(a_nak_is_an_answer),
        TEST(a_peer_may_be_silent_for_a_while),
        TEST(waits_for_a_receiver_are_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
