/* Modes of register ROCE_ACCL: selective repeat, which sends again only what is missing, and out-of-order
 * placement, which waits for what was overtaken. test_vcx_transport.c has loss, overtaking and repetition by
 * chance; here it is known which frames go where. */
#include "virtual-connectx/tests/unit/vcx_pair.h"

enum { SEND = 0x0a, WRITE = 0x08, WRITE_IMMEDIATE = 0x09, READ = 0x10, FETCH_ADD = 0x12 };
enum { MTU = 1024, PACKETS = 8, BYTES = PACKETS * MTU, BOTH = OUT_OF_ORDER | SELECTIVE };

/* What went over the cable. */
static struct seen {
    uint32_t requests, answers, acks, naks;
    uint32_t whole_writes; /* packets that are a write of their own */
    uint64_t last_bytes;   /* that the last such one names */
    uint32_t reads, read_bytes[8];
    uint32_t acks_before_atomic;
} seen;

static void watch(struct pair *pair, int from, const struct vcx_packet *p)
{
    uint8_t operation = p->opcode & 0x1f;
    (void)pair;
    (void)from;
    if (operation == VCX_ACKNOWLEDGE) {
        seen.acks += p->header[0] < 0x20;
        seen.naks += p->header[0] >= 0x20;
        return;
    }
    seen.requests += !vcx_operations[operation].response;
    seen.answers += vcx_operations[operation].response;
    if (operation == VCX_WRITE_ONLY) {
        seen.whole_writes++;
        seen.last_bytes = vcx_be32(p->header + 12);
        assert_int_equal(vcx_be64(p->header) % MTU, DATA_AT % MTU);
    }
    if (operation == VCX_READ_REQUEST)
        seen.read_bytes[seen.reads++ % 8] = vcx_be32(p->header + 12);
    if (operation == VCX_FETCH_ADD)
        seen.acks_before_atomic = seen.acks;
}

static struct link open_on_line(uint32_t mode, uint64_t line_bps)
{
    struct vcx_configuration configuration = front_configuration;
    configuration.line_bps = configuration.nominal_bps = line_bps;
    struct link l = link_open_with(
        &(struct qp_options){.type = VCX_QP_RC, .log_reads = 2, .accl = {mode, mode}}, &configuration);
    side_fill(l.a.side, OWN, BYTES, 1);
    side_fill(l.b.side, PEERS, BYTES, 2);
    seen = (struct seen){0};
    l.pair->watch = watch;
    return l;
}

static struct link open_in_mode(uint32_t mode)
{
    return open_on_line(mode, front_configuration.line_bps);
}

static void post(struct link *l, uint8_t opcode, uint32_t at, uint32_t bytes)
{
    qp_post(&l->a, &(struct work){.opcode = opcode,
                                  .offset = OWN + at,
                                  .bytes = bytes,
                                  .remote_offset = PEERS + at,
                                  .remote_key = l->b.side->key});
}

static void expect_moved(struct link *l, int completions)
{
    for (int i = 0; i < completions; i++) {
        const uint8_t *entry = expect_completion(&l->a.send_cq, VCX_CQE_REQUESTER);
        assert_int_equal(vcx_be16(entry + VCX_CQE_WQE_COUNTER), i); /* in order */
    }
    expect_none(&l->a.send_cq);
    assert_memory_equal(side_data(l->a.side) + OWN, side_data(l->b.side) + PEERS, BYTES);
}

static struct vcx_qp *qp_of(const struct qp *qp)
{
    return vcx_object(&qp->side->device, VCX_QP, qp->id);
}

/* ---- selective repeat */

/* Packets that are lost, and how often: those that are sent for them. What a card counts of it, and does not.
 */
static void only_what_is_missing_is_sent_again(void **state)
{
    (void)state;
    static const struct {
        uint64_t drops;
        uint32_t mode, requests, naks, sequence_errors, duplicates;
    } cases[] = {
        {1 << 2, 0, PACKETS + 6, 1, 1, 0},         /* go-back-N: all from the third on */
        {1 << 2, SELECTIVE, PACKETS + 2, 1, 0, 1}, /* the third, and the last behind it */
        {1 << 0, SELECTIVE, PACKETS + 2, 1, 0, 1},
        {1 << 6, SELECTIVE, PACKETS + 2, 1, 0, 1},
        {1 << 2 | 1 << 5, SELECTIVE, PACKETS + 4, 2, 0, 2},
        {1 << 2 | 1 << 3 | 1 << 4, SELECTIVE, PACKETS + 6, 3, 0, 3},
        {1 << 1 | 1 << 3 | 1 << 5, SELECTIVE, PACKETS + 6, 3, 0, 3},
    };
    /* all at once, and on a line where a packet takes 85 us, so that each NAK goes by itself */
    for (size_t i = 0; i < 2 * VCX_COUNT(cases) - 1; i++) {
        bool slow = i >= VCX_COUNT(cases);
        size_t c = slow ? i - VCX_COUNT(cases) + 1 : i;
        struct link l = open_on_line(cases[c].mode, slow ? 100000000 : front_configuration.line_bps);
        l.pair->drops = cases[c].drops;
        post(&l, WRITE, 0, BYTES);
        pair_run_ms(l.pair, 3);
        expect_moved(&l, 1);
        if (seen.requests != cases[c].requests || seen.naks != cases[c].naks)
            fail_msg("case %zu on a %s line: %u requests, %u NAKs", c, slow ? "slow" : "fast", seen.requests,
                     seen.naks);
        assert_int_equal(side_counters(l.a.side)->packet_seq_err, cases[c].sequence_errors);
        assert_int_equal(side_counters(l.b.side)->out_of_sequence, cases[c].mode ? 0 : PACKETS - 3);
        assert_int_equal(side_counters(l.b.side)->duplicate_request, cases[c].duplicates);
        assert_int_equal(side_counters(l.a.side)->roce_adp_retrans, 0);
        assert_int_equal(l.a.side->device.congestion->cnps_handled, 0);
        pair_close(l.pair);
    }
}

/* Each packet of a write has its address; without the modes only the first has. */
static void each_packet_is_a_write_of_its_own(void **state)
{
    (void)state;
    static const uint32_t modes[] = {0, SELECTIVE, OUT_OF_ORDER, BOTH};
    for (size_t i = 0; i < VCX_COUNT(modes); i++) {
        struct link l = open_in_mode(modes[i]);
        post(&l, WRITE, 0, BYTES - 1000);
        pair_run(l.pair);
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + PEERS, BYTES - 1000);
        assert_int_equal(seen.whole_writes, modes[i] ? PACKETS : 0);
        assert_int_equal(seen.last_bytes, modes[i] ? MTU - 1000 : 0);
        post(&l, WRITE_IMMEDIATE, 0, BYTES); /* takes a receive, so its packets are taken in order */
        qp_post_receive(&l.b, RECEIVE, 64);
        pair_run(l.pair);
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        expect_completion(&l.b.receive_cq, VCX_CQE_WRITE_IMMEDIATE);
        assert_int_equal(seen.whole_writes, modes[i] ? PACKETS : 0);
        pair_close(l.pair);
    }
}

/* The packet is lost again, and again: the last one, which is sent behind it, shows it. No time-out. */
static void what_is_lost_again_is_missed(void **state)
{
    (void)state;
    struct link l = open_in_mode(SELECTIVE);
    l.pair->drops = 1 << 2 | 1 << PACKETS | 1 << (PACKETS + 2);
    post(&l, WRITE, 0, BYTES);
    pair_run(l.pair);
    expect_moved(&l, 1);
    assert_int_equal(seen.naks, 3);
    assert_int_equal(seen.requests, PACKETS + 6);
    assert_int_equal(side_counters(l.a.side)->roce_adp_retrans, 0);
    pair_close(l.pair);
}

/* Nobody misses the last packet; after a time-out the oldest without an answer, and the last, are sent. */
static void after_a_time_out_the_first_and_the_last_are_sent(void **state)
{
    (void)state;
    struct link l = open_in_mode(SELECTIVE);
    l.pair->drops = 0xf0;
    post(&l, WRITE, 0, BYTES);
    pair_run(l.pair);
    expect_none(&l.a.send_cq);
    assert_int_equal(seen.requests, PACKETS);
    assert_int_equal(seen.naks, 0);
    pair_step(l.pair, qp_of(&l.a)->requester.deadline_ns - l.a.side->front.now_ns);
    pair_run(l.pair);
    assert_int_equal(side_counters(l.a.side)->roce_adp_retrans, 1);
    assert_int_equal(seen.requests, PACKETS + 6); /* the fifth, then for NAKs the next two */
    assert_int_equal(seen.naks, 2);
    expect_moved(&l, 1);
    pair_close(l.pair);
}

/* What came early was written once: what the memory has become since stays. */
static void what_came_early_is_written_once(void **state)
{
    (void)state;
    struct link l = open_in_mode(SELECTIVE);
    l.pair->drops = 1 << 2;
    post(&l, WRITE, 0, BYTES);
    while (!qp_of(&l.a)->requester.again_count)
        pair_step(l.pair, STEP_NS);
    uint8_t *last = side_data(l.b.side) + PEERS + BYTES - 1, *own = side_data(l.a.side) + BYTES - 1;
    assert_int_equal(*last, *own); /* early, but there */
    expect_none(&l.a.send_cq);
    *last = *own = (uint8_t)(*own + 1); /* and what is sent again would say so */
    *last = (uint8_t)(*last + 1);
    pair_run(l.pair);
    assert_int_equal(side_counters(l.b.side)->duplicate_request, 1);
    assert_int_equal(*last, (uint8_t)(*own + 1));
    *last = *own;
    expect_moved(&l, 1);
    pair_close(l.pair);
}

/* SENDs are taken in order: go-back-N, which counts. What of writes came behind stays. */
static void sends_go_back(void **state)
{
    (void)state;
    struct link l = open_in_mode(SELECTIVE);
    l.pair->drops = 1 << 1;
    qp_post_receive(&l.b, RECEIVE, MOST);
    post(&l, SEND, 0, 4 * MTU);
    post(&l, WRITE, 0, BYTES);
    pair_run(l.pair);
    expect_moved(&l, 2);
    expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
    assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + RECEIVE, 4 * MTU);
    assert_int_equal(seen.requests, 4 + PACKETS + 3 + PACKETS);
    assert_int_equal(side_counters(l.a.side)->packet_seq_err, 1);
    assert_int_equal(side_counters(l.b.side)->out_of_sequence, 2);
    assert_int_equal(side_counters(l.b.side)->duplicate_request, PACKETS);
    pair_close(l.pair);
}

static void only_the_missing_part_of_an_answer_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        uint64_t drops;
        uint32_t mode, answers, reads, again_bytes;
    } cases[] = {
        {1 << 3, 0, PACKETS + 6, 2, 6 * MTU},
        {1 << 3, SELECTIVE, PACKETS + 1, 2, MTU},
        {1 << 1, SELECTIVE, PACKETS + 1, 2, MTU},
        {1 << 3 | 1 << 4 | 1 << 5, SELECTIVE, PACKETS + 3, 2,
         0 /* the first shows it before others are there */},
    };
    for (size_t i = 0; i < VCX_COUNT(cases); i++) {
        struct link l = open_in_mode(cases[i].mode);
        l.pair->drops = cases[i].drops;
        post(&l, READ, 0, BYTES);
        pair_run(l.pair);
        expect_moved(&l, 1);
        if (seen.answers != cases[i].answers || seen.reads != cases[i].reads)
            fail_msg("case %zu: %u answers, %u reads", i, seen.answers, seen.reads);
        if (cases[i].again_bytes)
            assert_int_equal(seen.read_bytes[1], cases[i].again_bytes);
        assert_int_equal(side_counters(l.a.side)->implied_nak_seq_err, 1);
        pair_close(l.pair);
    }
}

/* ---- out-of-order placement */

static void is_overtaken(uint32_t mode, uint8_t opcode, uint32_t naks, uint32_t implied)
{
    struct link l = open_in_mode(mode);
    l.pair->overtake = 100;
    l.pair->random = 7;
    post(&l, opcode, 0, BYTES);
    pair_run(l.pair);
    for (int seconds = 0; mode == 0 && seconds < 20; seconds++) { /* of a read once: then by a time-out */
        pair_step(l.pair, 1000000000);
        pair_run(l.pair);
    }
    expect_moved(&l, 1);
    assert_true(naks ? seen.naks >= naks : seen.naks == 0);
    assert_true(implied ? side_counters(l.a.side)->implied_nak_seq_err >= implied
                        : side_counters(l.a.side)->implied_nak_seq_err == 0);
    if (!naks && !implied)
        assert_int_equal(seen.requests + seen.answers, PACKETS + (opcode == READ));
    assert_int_equal(side_counters(l.b.side)->out_of_sequence != 0, mode == 0 && opcode == WRITE);
    pair_close(l.pair);
}

/* Packets that others overtook are not lost: nothing is sent twice. Beside it, what happens else. */
static void what_is_overtaken_is_waited_for(void **state)
{
    (void)state;
    is_overtaken(0, WRITE, 1, 0);
    is_overtaken(0, READ, 0, 1);
    is_overtaken(OUT_OF_ORDER, WRITE, 0, 0);
    is_overtaken(OUT_OF_ORDER, READ, 0, 0);
    is_overtaken(BOTH, WRITE, 0, 0);
    is_overtaken(BOTH, READ, 0, 0);
}

/* A packet that does not come is requested after 100 us: then all from it on is sent, or with selective
 * repeat it alone and the last. */
static void what_is_lost_is_asked_for_after_a_while(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode, requests, sequence_errors;
    } cases[] = {{OUT_OF_ORDER, PACKETS + 6, 1}, {BOTH, PACKETS + 2, 0}};
    for (size_t i = 0; i < VCX_COUNT(cases); i++) {
        struct vcx_configuration configuration = front_configuration;
        configuration.timeout_scale = 1;
        struct link l = link_open_with(
            &(struct qp_options){.type = VCX_QP_RC, .accl = {cases[i].mode, cases[i].mode}}, &configuration);
        side_fill(l.a.side, OWN, BYTES, 1);
        seen = (struct seen){0};
        l.pair->watch = watch;
        l.pair->drops = 1 << 2;
        post(&l, WRITE, 0, BYTES);
        while (!qp_of(&l.b)->responder.early.gap_ns)
            pair_step(l.pair, 100);
        uint64_t since = qp_of(&l.b)->responder.early.gap_ns;
        while (!seen.naks)
            pair_step(l.pair, 100);
        assert_in_range(l.b.side->front.now_ns - since, 100000, 101000);
        assert_int_equal(seen.requests, PACKETS);
        pair_run(l.pair);
        expect_moved(&l, 1);
        assert_int_equal(seen.naks, 1);
        assert_int_equal(seen.requests, cases[i].requests);
        assert_int_equal(side_counters(l.a.side)->packet_seq_err, cases[i].sequence_errors);
        assert_int_equal(side_counters(l.b.side)->out_of_sequence, 0);
        pair_close(l.pair);
    }
}

/* An atomic operation, as everything that is taken in order, waits for the writes before it: they may be on
 * other ways. */
static void what_is_taken_in_order_waits_for_writes(void **state)
{
    (void)state;
    static const uint32_t modes[] = {SELECTIVE, OUT_OF_ORDER};
    for (size_t i = 0; i < VCX_COUNT(modes); i++) {
        struct link l = open_in_mode(modes[i]);
        memset(side_data(l.b.side) + 90000, 0, 8);
        post(&l, WRITE, 0, BYTES);
        qp_post(&l.a, &(struct work){.opcode = FETCH_ADD,
                                     .offset = 90000,
                                     .bytes = 8,
                                     .remote_offset = 90000,
                                     .remote_key = l.b.side->key,
                                     .swap_add = 5});
        pair_run(l.pair);
        expect_moved(&l, 2);
        assert_int_equal(seen.acks_before_atomic, modes[i] == OUT_OF_ORDER);
        pair_close(l.pair);
    }
}

/* When a SEND is received, all writes before it are there, on whatever ways their packets came. */
static void a_receive_completes_after_the_writes_before_it(void **state)
{
    (void)state;
    static const uint32_t modes[] = {SELECTIVE, OUT_OF_ORDER, BOTH};
    for (size_t i = 0; i < VCX_COUNT(modes); i++)
        for (uint32_t seed = 0; seed < 40; seed++) {
            struct link l = open_in_mode(modes[i]);
            const uint8_t *received = NULL;
            l.pair->overtake = l.pair->repeat = 60;
            l.pair->lose = seed % 2 * 20;
            l.pair->random = seed;
            qp_post_receive(&l.b, RECEIVE, 64);
            post(&l, WRITE, 0, BYTES / 2);
            post(&l, WRITE, BYTES / 2, BYTES / 2);
            post(&l, SEND, 0, 16);
            for (int step = 0; step < 200000 && !received; step++) {
                pair_step(l.pair, STEP_NS * (step < 1000 ? 1 : 100));
                received = cq_poll(&l.b.receive_cq);
            }
            assert_non_null(received);
            assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + PEERS, BYTES);
            pair_close(l.pair);
        }
}

/* ---- both */

/* Of a write that ends outside the peer's memory what fits is there; the answer is that of the packet that
 * does not, though a later one, which may be written, came before it. */
static void what_may_not_be_written_is_refused_in_its_turn(void **state)
{
    (void)state;
    static const uint32_t modes[] = {SELECTIVE, OUT_OF_ORDER, BOTH};
    for (size_t i = 0; i < VCX_COUNT(modes); i++) {
        struct link l = open_in_mode(modes[i]);
        l.pair->drops = 1;
        memset(side_data(l.b.side) + DATA_BYTES - MTU, 0x77, MTU);
        qp_post(&l.a, &(struct work){.opcode = WRITE,
                                     .bytes = 4 * MTU,
                                     .remote_address = DATA_AT + DATA_BYTES - 2 * MTU,
                                     .remote_key = l.b.side->key});
        post(&l, WRITE, 0, MTU);
        pair_run_ms(l.pair, 20);
        expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_REMOTE_ACCESS);
        expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_FLUSHED);
        assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + DATA_BYTES - 2 * MTU, 2 * MTU);
        assert_int_equal(qp_state(&l.b), VCX_QP_ERROR);
        pair_close(l.pair);
    }
}

/* The register counts when a connection is made. */
static void connections_keep_their_mode(void **state)
{
    (void)state;
    struct link l = open_in_mode(0);
    struct vcx_sentence error;
    for (int i = 0; i < 2; i++)
        assert_true(vcx_roce_accl_request(&l.pair->side[i].device, "selective_repeat_forced_en 1", &error));
    struct link later = {
        .pair = l.pair, .a = qp_create_of(l.a.side, &usual), .b = qp_create_of(l.b.side, &usual)};
    qps_connect(&later.a, &later.b, &usual);
    for (int i = 0; i < 2; i++)
        assert_true(vcx_roce_accl_request(&l.pair->side[i].device, "selective_repeat_forced_en 0", &error));
    post(&l, WRITE, 0, BYTES);
    pair_run(l.pair);
    expect_moved(&l, 1);
    assert_int_equal(seen.whole_writes, 0);
    post(&later, WRITE, 0, BYTES);
    pair_run(l.pair);
    expect_moved(&later, 1);
    assert_int_equal(seen.whole_writes, PACKETS);
    pair_close(l.pair);
}

/* Numbers go round many times: what a window had is not taken for what it has. */
static void windows_go_round(void **state)
{
    (void)state;
    static const uint32_t modes[] = {SELECTIVE, OUT_OF_ORDER, BOTH};
    for (size_t i = 0; i < VCX_COUNT(modes); i++) {
        struct link l = open_in_mode(modes[i]);
        l.pair->overtake = l.pair->repeat = 30;
        l.pair->lose = 5;
        for (uint32_t round = 0; round < 60; round++) {
            side_fill(l.a.side, OWN, BYTES, round);
            post(&l, round % 3 ? WRITE : READ, 0, BYTES);
            for (int step = 0; step < 2000; step++) {
                pair_step(l.pair, 1000000);
                pair_run(l.pair);
                const uint8_t *entry = cq_poll(&l.a.send_cq);
                if (!entry)
                    continue;
                assert_int_equal(entry[63] >> 4, VCX_CQE_REQUESTER);
                break;
            }
            assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + PEERS, BYTES);
        }
        pair_close(l.pair);
    }
}

/* Requests of 160 packets, one after the other and several at once: more than the window of early packets
 * has. */
static void more_than_a_window_is_on_its_way(void **state)
{
    (void)state;
    enum { LARGE = 40960, SMALL_MTU = 256 };
    static const uint32_t modes[] = {SELECTIVE, OUT_OF_ORDER, BOTH};
    for (size_t i = 0; i < VCX_COUNT(modes) * 12; i++) {
        struct link l = link_open(
            &(struct qp_options){.type = VCX_QP_RC, .log_reads = 2, .accl = {modes[i % 3], modes[i % 3]}});
        qp_of(&l.a)->mtu = qp_of(&l.b)->mtu = SMALL_MTU;
        side_fill(l.a.side, OWN, LARGE, 1);
        side_fill(l.b.side, PEERS, LARGE, 2);
        l.pair->random = (uint32_t)i;
        l.pair->lose = 6;
        l.pair->overtake = l.pair->repeat = i % 2 * 40;
        post(&l, WRITE, 0, LARGE);
        post(&l, WRITE, 0, LARGE);
        post(&l, READ, 0, LARGE);
        post(&l, READ, 0, LARGE / 2);
        post(&l, WRITE, 0, LARGE);
        for (int seconds = 0; seconds < 400 && qp_of(&l.a)->requester.tail != 5; seconds++) {
            pair_step(l.pair, 1000000000);
            pair_run(l.pair);
        }
        for (int k = 0; k < 5; k++)
            expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        expect_none(&l.a.send_cq);
        assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + PEERS, LARGE);
        const uint8_t *data = side_data(l.a.side);
        for (uint32_t at = 0; at < LARGE; at++)
            assert_int_equal(data[at], (uint8_t)((at * 31 + 1) >> 3 ^ at ^ 1)); /* what side_fill put there */
        pair_close(l.pair);
    }
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_what_is_missing_is_sent_again),
        TEST(each_packet_is_a_write_of_its_own),
        TEST(what_is_lost_again_is_missed),
        TEST(after_a_time_out_the_first_and_the_last_are_sent),
        TEST(what_came_early_is_written_once),
        TEST(sends_go_back),
        TEST(only_the_missing_part_of_an_answer_is_asked_for),
        TEST(what_is_overtaken_is_waited_for),
        TEST(what_is_lost_is_asked_for_after_a_while),
        TEST(what_is_taken_in_order_waits_for_writes),
        TEST(a_receive_completes_after_the_writes_before_it),
        TEST(what_may_not_be_written_is_refused_in_its_turn),
        TEST(connections_keep_their_mode),
        TEST(windows_go_round),
        TEST(more_than_a_window_is_on_its_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
