/* The virtual ConnectX's transport: two functions on a cable, work requests as libmlx5 writes them. */
#include "virtual-connectx/tests/unit/vcx_pair.h"
#include "virtual-connectx/model/pace/pace.h"
#include "virtual-connectx/model/port/port.h"

#include "virtual-connectx/model/vport/vport.h"

/* ---- operations */

#define IMMEDIATE 0xabcd1234

/* What an operation is expected to do. */
struct operation {
    const char *name;
    uint8_t opcode;
    uint8_t completes; /* opcode of the completion at the receiver; 0xff: none */
    bool reads, writes;
};
static const struct operation operations[] = {
    {"SEND", 0x0a, VCX_CQE_SEND, false, false},
    {"SEND with immediate", 0x0b, VCX_CQE_SEND_IMMEDIATE, false, false},
    {"SEND with invalidate", 0x01, VCX_CQE_SEND_INVALIDATE, false, false},
    {"WRITE", 0x08, 0xff, false, true},
    {"WRITE with immediate", 0x09, VCX_CQE_WRITE_IMMEDIATE, false, true},
    {"READ", 0x10, 0xff, true, false},
};

static void post_operation(struct link *l, const struct operation *o, uint32_t bytes, bool inlined)
{
    struct work w = {.opcode = o->opcode,
                     .offset = OWN,
                     .bytes = bytes,
                     .remote_offset = PEERS,
                     .remote_key = l->b.side->key,
                     .immediate =
                         o->completes == VCX_CQE_SEND_INVALIDATE ? side_lend_key(l->b.side) : IMMEDIATE,
                     .inlined = inlined};
    side_fill(l->a.side, OWN, bytes, 1);
    side_fill(l->b.side, PEERS, bytes, 2);
    memset(side_data(l->b.side) + RECEIVE, 0, MOST);
    if (o->completes != 0xff)
        qp_post_receive(&l->b, RECEIVE, MOST);
    qp_post(&l->a, &w);
}

static void check_receiver(struct link *l, const struct operation *o, uint32_t bytes)
{
    if (o->completes == 0xff) {
        expect_none(&l->b.receive_cq);
        return;
    }
    const uint8_t *entry = expect_completion(&l->b.receive_cq, o->completes);
    assert_int_equal(vcx_be32(entry + VCX_CQE_BYTE_COUNT), bytes);
    assert_int_equal(vcx_be32(entry + VCX_CQE_SRQN_UIDX), 0x1234);
    assert_int_equal(vcx_be32(entry + VCX_CQE_OPCODE_QPN) & 0xffffff, l->b.id);
    assert_int_equal(vcx_be32(entry + VCX_CQE_FLAGS_RQPN) & 0xffffff, l->a.id);
    if (o->completes != VCX_CQE_SEND)
        assert_int_equal(vcx_be32(entry + VCX_CQE_IMMEDIATE),
                         o->completes == VCX_CQE_SEND_INVALIDATE ? l->b.side->lent_key : IMMEDIATE);
    expect_none(&l->b.receive_cq);
}

static void check_operation(struct link *l, const struct operation *o, uint32_t bytes, uint16_t index)
{
    uint8_t *own = side_data(l->a.side) + OWN, *peers = side_data(l->b.side) + PEERS;
    const uint8_t *entry = expect_completion(&l->a.send_cq, VCX_CQE_REQUESTER);
    assert_int_equal(vcx_be16(entry + VCX_CQE_WQE_COUNTER), index);
    assert_int_equal(vcx_be32(entry + VCX_CQE_OPCODE_QPN), (uint32_t)o->opcode << 24 | l->a.id);
    assert_int_equal(vcx_be32(entry + VCX_CQE_BYTE_COUNT), bytes);
    expect_none(&l->a.send_cq);
    check_receiver(l, o, bytes);
    if (bytes)
        assert_memory_equal(own, o->reads || o->writes ? peers : side_data(l->b.side) + RECEIVE, bytes);
}

static void every_operation_moves_its_data(void **state)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 100, 1023, 1024, 1025, 2048, 5000, 12288};
    (void)state;
    struct link l = link_open(&usual);
    for (size_t o = 0; o < VCX_COUNT(operations); o++)
        for (size_t i = 0; i < VCX_COUNT(sizes); i++) {
            uint16_t index = l.a.sends;
            post_operation(&l, &operations[o], sizes[i], false);
            pair_run(l.pair);
            check_operation(&l, &operations[o], sizes[i], index);
        }
    assert_int_equal(side_counters(l.b.side)->rx_read_requests, VCX_COUNT(sizes));
    assert_int_equal(side_counters(l.b.side)->rx_write_requests, 2 * VCX_COUNT(sizes));
    assert_int_equal(side_counters(l.b.side)->out_of_sequence, 0);
    assert_int_equal(l.pair->naks, 0);
    pair_close(l.pair);
}

/* What one function sends as RDMA, the other receives as RDMA: requests, data and acknowledgements. */
static void rdma_is_counted_by_the_vport(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    post_operation(&l, &operations[0], 5000, false);
    pair_run(l.pair);
    for (int i = 0; i < 2; i++) {
        const struct vcx_vport *here = l.pair->side[i].device.vport, *there = l.pair->side[!i].device.vport;
        const struct vcx_traffic *sent = &here->traffic[VCX_VPORT_RDMA][VCX_VPORT_SENT][VCX_UNICAST];
        const struct vcx_traffic *got = &there->traffic[VCX_VPORT_RDMA][VCX_VPORT_RECEIVED][VCX_UNICAST];
        assert_true(sent->packets > 0 && sent->bytes > 0);
        assert_int_equal(sent->packets, got->packets);
        assert_in_range(got->bytes, sent->bytes, sent->bytes + 60 * sent->packets); /* with padding */
        assert_int_equal(there->traffic[VCX_VPORT_ETHERNET][VCX_VPORT_RECEIVED][VCX_UNICAST].packets, 0);
    }
    pair_close(l.pair);
}

static void inlined_data_is_sent(void **state)
{
    static const uint32_t sizes[] = {0, 1, 12, 13, 60, 500};
    (void)state;
    struct link l = link_open(&usual);
    for (size_t i = 0; i < VCX_COUNT(sizes); i++)
        for (int o = 0; o < 2; o++) {
            uint16_t index = l.a.sends;
            post_operation(&l, &operations[o], sizes[i], true);
            pair_run(l.pair);
            check_operation(&l, &operations[o], sizes[i], index);
        }
    pair_close(l.pair);
}

static uint64_t word_at(struct side *s, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, side_data(s) + offset, sizeof value);
    return value;
}

/* UCX's header stands in the request, what follows in memory. Packets of 1024 bytes end in each of the
 * parts. */
static void data_may_be_inlined_in_part(void **state)
{
    static const uint32_t sizes[] = {17, 48, 1016, 1024, 1030, 3000};
    (void)state;
    struct link l = link_open(&usual);
    for (size_t i = 0; i < VCX_COUNT(sizes); i++) {
        side_fill(l.a.side, OWN, sizes[i], (uint32_t)i);
        memset(side_data(l.b.side) + RECEIVE, 0xa5, MOST);
        qp_post_receive(&l.b, RECEIVE, MOST);
        qp_post(&l.a, &(struct work){.opcode = 0x0a, .offset = OWN, .bytes = sizes[i], .inlined_ends = 8});
        pair_run(l.pair);
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        const uint8_t *entry = expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
        assert_int_equal(vcx_be32(entry + VCX_CQE_BYTE_COUNT), sizes[i]);
        assert_memory_equal(side_data(l.b.side) + RECEIVE, side_data(l.a.side) + OWN, sizes[i]);
        assert_int_equal(side_data(l.b.side)[RECEIVE + sizes[i]], 0xa5);
    }
    pair_close(l.pair);
}

static void put_word(struct side *s, uint32_t offset, uint64_t value)
{
    memcpy(side_data(s) + offset, &value, sizeof value);
}

static void post_atomic(struct link *l, uint8_t opcode, uint64_t swap_add, uint64_t compare)
{
    struct work w = {.opcode = opcode,
                     .bytes = 8,
                     .remote_offset = PEERS,
                     .remote_key = l->b.side->key,
                     .swap_add = swap_add,
                     .compare = compare};
    put_word(l->a.side, OWN, 0);
    qp_post(&l->a, &w);
    pair_run(l->pair);
    expect_completion(&l->a.send_cq, VCX_CQE_REQUESTER);
}

static void atomic_operations_change_memory(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    put_word(l.b.side, PEERS, 40);
    post_atomic(&l, 0x12, 2, 0);
    assert_int_equal(word_at(l.a.side, OWN), 40);
    assert_int_equal(word_at(l.b.side, PEERS), 42);
    post_atomic(&l, 0x11, 7, 41); /* not equal */
    assert_int_equal(word_at(l.a.side, OWN), 42);
    assert_int_equal(word_at(l.b.side, PEERS), 42);
    post_atomic(&l, 0x11, 7, 42);
    assert_int_equal(word_at(l.a.side, OWN), 42);
    assert_int_equal(word_at(l.b.side, PEERS), 7);
    assert_int_equal(side_counters(l.b.side)->rx_atomic_requests, 3);
    pair_close(l.pair);
}

/* Only what asks for it completes at the sender. */
static void unsignaled_requests_have_no_completion(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct work w = {.opcode = 0x08, .bytes = 100, .remote_key = l.b.side->key, .unsignaled = true};
    for (int i = 0; i < 10; i++)
        qp_post(&l.a, &w);
    w.unsignaled = false;
    uint16_t index = l.a.sends;
    qp_post(&l.a, &w);
    pair_run(l.pair);
    const uint8_t *entry = expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_int_equal(vcx_be16(entry + VCX_CQE_WQE_COUNTER), index);
    expect_none(&l.a.send_cq);
    pair_close(l.pair);
}

/* A function may be its own peer. */
static void a_function_sends_to_itself(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct link l = {.pair = pair, .a = qp_create_of(&pair->side[0], &usual)};
    l.b = qp_create_of(&pair->side[0], &usual);
    qps_connect(&l.a, &l.b, &usual);
    qp_post_receive(&l.b, RECEIVE, MOST);
    side_fill(&pair->side[0], OWN, 5000, 9);
    qp_post(&l.a, &(struct work){.opcode = 0x0a, .bytes = 5000});
    pair_run(pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
    assert_memory_equal(side_data(&pair->side[0]) + RECEIVE, side_data(&pair->side[0]), 5000);
    pair_close(pair);
}

/* What stalls a memory's writes stalls its reads: the sender waits. */
static void a_stall_holds_what_is_read(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct vcx_sentence error;
    assert_true(
        vcx_pace_request(&l.a.side->device, "all stalls_per_s 1000000 stall_mean_ns 50000000 fixed", &error));
    l.a.side->front.now_ns += 1000000;
    vcx_pace_write(&l.a.side->device, l.a.side->key, 0, 1);
    qp_post(&l.a, &(struct work){
                      .opcode = 0x08, .bytes = 5000, .remote_offset = PEERS, .remote_key = l.b.side->key});
    for (int i = 0; i < 900; i++)
        pair_step(l.pair, 50000);
    expect_none(&l.a.send_cq);
    pair_run_ms(l.pair, 10);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    pair_close(l.pair);
}

/* Reads that wait for each other's data: a later write does not overtake what a fence holds back. */
static void a_fence_waits_for_reads(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    uint32_t key = l.b.side->key;
    side_fill(l.b.side, PEERS, MOST, 5);
    qp_post(&l.a, &(struct work){.opcode = 0x10, .bytes = MOST, .remote_offset = PEERS, .remote_key = key});
    /* writes back what the read brings */
    qp_post(&l.a,
            &(struct work){
                .opcode = 0x08, .bytes = MOST, .remote_offset = RECEIVE, .remote_key = key, .fence = true});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_memory_equal(side_data(l.b.side) + RECEIVE, side_data(l.b.side) + PEERS, MOST);
    pair_close(l.pair);
}

/* More reads than the peer takes at a time are asked for one after the other. */
static void reads_wait_for_their_turn(void **state)
{
    (void)state;
    static const struct qp_options one = {.type = VCX_QP_RC, .log_reads = 0},
                                   four = {.type = VCX_QP_RC, .log_reads = 2};
    for (int i = 0; i < 2; i++) {
        struct link l = link_open(i ? &four : &one);
        side_fill(l.b.side, PEERS, MOST, 7);
        for (uint32_t n = 0; n < 12; n++)
            qp_post(&l.a, &(struct work){.opcode = 0x10,
                                         .offset = n * 1024,
                                         .bytes = 1024,
                                         .remote_offset = PEERS + n * 1024,
                                         .remote_key = l.b.side->key});
        pair_run(l.pair);
        for (int n = 0; n < 12; n++)
            expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
        assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + PEERS, MOST);
        assert_int_equal(l.pair->naks, 0);
        pair_close(l.pair);
    }
}

/* A queue is filled again and again: its counters turn. */
static void queues_turn_round(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    for (uint32_t i = 0; i < 70000; i++) {
        qp_post_receive(&l.b, RECEIVE, 64);
        side_data(l.a.side)[0] = (uint8_t)i;
        qp_post(&l.a, &(struct work){.opcode = 0x0a, .bytes = 1});
        for (int steps = 0; steps < 4; steps++)
            pair_step(l.pair, STEP_NS);
        const uint8_t *sent = expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER),
                      *received = expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
        assert_int_equal(vcx_be16(sent + VCX_CQE_WQE_COUNTER), (uint16_t)i);
        assert_int_equal(vcx_be16(received + VCX_CQE_WQE_COUNTER), (uint16_t)i);
        assert_int_equal(side_data(l.b.side)[RECEIVE], (uint8_t)i);
    }
    pair_close(l.pair);
}

/* While the responder's line is paused one acknowledgement waits for it; the next one is of all that came
 * meanwhile. */
static void acknowledgements_that_wait_are_merged(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct vcx_port *port = l.b.side->device.port;
    port->settings.pfc_rx = 1;
    port->hold[0].until_ns = l.b.side->front.now_ns + 5000000;
    for (int i = 0; i < 8; i++) {
        qp_post(&l.a, &(struct work){
                          .opcode = 0x08, .bytes = 100, .remote_offset = PEERS, .remote_key = l.b.side->key});
        pair_run(l.pair);
    }
    assert_int_equal(port->sending[0].count, 1);
    expect_none(&l.a.send_cq);
    uint64_t frames = l.pair->frames;
    pair_run_ms(l.pair, 5);
    for (int i = 0; i < 8; i++)
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_int_equal(l.pair->frames, frames + 2);
    pair_close(l.pair);
}

/* A long message of one queue pair does not hold up another's. */
static void queue_pairs_take_turns(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct qp c = qp_create_of(l.a.side, &usual), d = qp_create_of(l.b.side, &usual);
    struct work w = {.opcode = 0x08, .bytes = MOST, .remote_key = l.b.side->key};
    qps_connect(&c, &d, &usual);
    for (int i = 0; i < 10; i++)
        qp_post(&l.a, &w);
    w.bytes = 10;
    qp_post(&c, &w);
    uint64_t before = l.pair->frames;
    for (int steps = 0; steps < 6; steps++)
        pair_step(l.pair, STEP_NS);
    assert_true(l.pair->frames - before < 80); /* a bounded number in each poll */
    expect_completion(&c.send_cq, VCX_CQE_REQUESTER);
    pair_run(l.pair);
    for (int i = 0; i < 10; i++)
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    pair_close(l.pair);
}

/* On a slow line, which takes a packet at a time, each of two has half of it. */
static void queue_pairs_share_a_slow_line(void **state)
{
    enum { MESSAGES = 8, BYTES = 8192, MESSAGE_MS = 16 };
    (void)state;
    struct link l = link_open(&usual);
    struct qp c = qp_create_of(l.a.side, &usual), d = qp_create_of(l.b.side, &usual);
    const struct work w = {.opcode = 0x08, .bytes = BYTES, .remote_key = l.b.side->key};
    uint32_t first = 0, second = 0;
    qps_connect(&c, &d, &usual);
    vcx_port_set_line(l.a.side->device.port, 5000000);
    for (int i = 0; i < MESSAGES; i++) {
        qp_post(&l.a, &w);
        qp_post(&c, &w);
    }
    for (int i = 0; i < 2 * MESSAGES; i++) {
        pair_run_ms(l.pair, MESSAGE_MS);
        first += cq_poll(&l.a.send_cq) != NULL;
        second += cq_poll(&c.send_cq) != NULL;
        assert_in_range(first + 2, second, second + 4);
    }
    assert_int_equal(first, MESSAGES);
    assert_int_equal(second, MESSAGES);
    pair_close(l.pair);
}

/* ---- loss */

/* Posts a message of each kind one after the other. */
static void post_all(struct link *l)
{
    for (uint32_t i = 0; i < VCX_COUNT(operations); i++) {
        const struct operation *o = &operations[i];
        uint32_t at = i * 4096;
        qp_post(&l->a, &(struct work){.opcode = o->opcode,
                                      .offset = at,
                                      .bytes = 3000,
                                      .remote_offset = PEERS + at,
                                      .remote_key = l->b.side->key,
                                      .immediate = side_lend_key(l->b.side)});
        if (o->completes != 0xff)
            qp_post_receive(&l->b, RECEIVE + (l->b.receives % 2) * 4096, 4096);
    }
    qp_post(&l->a, &(struct work){.opcode = 0x12,
                                  .offset = 90000,
                                  .bytes = 8,
                                  .remote_offset = 90000,
                                  .remote_key = l->b.side->key,
                                  .swap_add = 5});
}

static void check_all(struct link *l, int64_t lost)
{
    for (uint32_t i = 0; i < VCX_COUNT(operations) + 1; i++) {
        const uint8_t *entry = cq_poll(&l->a.send_cq);
        if (!entry || entry[63] >> 4 != VCX_CQE_REQUESTER)
            fail_msg("frame %lld lost: request %u has %s", (long long)lost, i,
                     entry ? "an error" : "not ended");
    }
    expect_none(&l->a.send_cq);
    for (uint32_t i = 0; i < VCX_COUNT(operations); i++) {
        const struct operation *o = &operations[i];
        if (o->completes != 0xff)
            expect_completion(&l->b.receive_cq, o->completes);
        if (o->reads || o->writes)
            assert_memory_equal(side_data(l->a.side) + i * 4096, side_data(l->b.side) + PEERS + i * 4096,
                                3000);
    }
    expect_none(&l->b.receive_cq);
    assert_int_equal(word_at(l->a.side, 90000), 100); /* executed once */
    assert_int_equal(word_at(l->b.side, 90000), 105);
}

/* What the ends do with what came before a packet that is missing. */
static const struct qp_options recoveries[] = {
    {.type = VCX_QP_RC, .log_reads = 2},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {SELECTIVE, SELECTIVE}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {OUT_OF_ORDER, OUT_OF_ORDER}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {OUT_OF_ORDER | SELECTIVE, OUT_OF_ORDER | SELECTIVE}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {SELECTIVE, 0}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {0, SELECTIVE}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {OUT_OF_ORDER, 0}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {0, OUT_OF_ORDER}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {OUT_OF_ORDER, SELECTIVE}},
    {.type = VCX_QP_RC, .log_reads = 2, .accl = {SELECTIVE, OUT_OF_ORDER}},
};

static uint64_t run_with_loss(const struct qp_options *o, int64_t lost)
{
    struct link l = link_open(o);
    side_fill(l.a.side, 0, PEERS, 3);
    side_fill(l.b.side, PEERS, PEERS, 4);
    put_word(l.b.side, 90000, 100);
    l.pair->drop = lost;
    post_all(&l);
    pair_run(l.pair);
    for (int seconds = 0; lost >= 0 && seconds < 5; seconds++) {
        pair_step(l.pair, 1000000000);
        pair_run(l.pair);
    }
    check_all(&l, lost);
    uint64_t frames = l.pair->frames;
    pair_close(l.pair);
    return frames;
}

static void each_lost_frame_is_made_up_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < VCX_COUNT(recoveries); i++) {
        uint64_t frames = run_with_loss(&recoveries[i], -1);
        assert_true(frames > 20);
        for (uint64_t lost = 0; lost < frames; lost++)
            run_with_loss(&recoveries[i], (int64_t)lost);
    }
}

/* Messages of all kinds in both directions over a cable that loses one frame in twenty; `overtake` of 256
 * overtake others, and as many come twice. */
static struct vcx_counter_set lose_frames(const struct qp_options *o, uint32_t rounds, uint32_t overtake)
{
    struct vcx_counter_set all = {0};
    for (uint32_t round = 0; round < rounds; round++) {
        struct link l = link_open(o);
        struct link back = {
            .pair = l.pair, .a = qp_create_of(l.b.side, &usual), .b = qp_create_of(l.a.side, &usual)};
        qps_connect(&back.a, &back.b, &usual);
        side_fill(l.a.side, 0, PEERS, 3);
        side_fill(l.b.side, PEERS, PEERS, 4);
        put_word(l.b.side, 90000, 100);
        l.pair->random = round;
        l.pair->lose = 13;
        l.pair->overtake = l.pair->repeat = overtake;
        post_all(&l);
        for (int i = 0; i < 5; i++) /* of the peer, which has nothing to do with what is checked */
            qp_post(&back.a,
                    &(struct work){
                        .opcode = 0x08, .bytes = 1000, .remote_offset = 92000, .remote_key = l.a.side->key});
        for (int seconds = 0; seconds < 60; seconds++) {
            pair_step(l.pair, 1000000000);
            pair_run(l.pair);
        }
        check_all(&l, round);
        for (int i = 0; i < 5; i++)
            expect_completion(&back.a.send_cq, VCX_CQE_REQUESTER);
        all.implied_nak_seq_err += side_counters(l.a.side)->implied_nak_seq_err;
        all.packet_seq_err += side_counters(l.a.side)->packet_seq_err;
        all.roce_adp_retrans += side_counters(l.a.side)->roce_adp_retrans;
        all.duplicate_request += side_counters(l.b.side)->duplicate_request;
        pair_close(l.pair);
    }
    return all;
}

static void any_loss_is_made_up_for(void **state)
{
    (void)state;
    struct vcx_counter_set all = lose_frames(&usual, 60, 0);
    assert_true(all.implied_nak_seq_err && all.packet_seq_err && all.roce_adp_retrans &&
                all.duplicate_request); /* all ways of recovery were gone */
    for (size_t i = 1; i < VCX_COUNT(recoveries); i++)
        lose_frames(&recoveries[i], 8, 80);
}

static void a_lost_packet_is_counted(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    l.pair->drop = 1;
    qp_post(&l.a, &(struct work){.opcode = 0x08, .bytes = 8000, .remote_key = l.b.side->key});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_true(side_counters(l.b.side)->out_of_sequence >= 1);
    assert_int_equal(side_counters(l.a.side)->packet_seq_err, 1);
    assert_int_equal(side_counters(l.a.side)->local_ack_timeout_err, 0);
    assert_int_equal(l.pair->naks, 1); /* one for a gap, however many packets follow it */
    pair_close(l.pair);
}

static void a_lost_answer_is_asked_for_again(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    side_fill(l.b.side, PEERS, 8000, 4);
    l.pair->drop = 3; /* the third packet of the answer */
    qp_post(&l.a, &(struct work){
                      .opcode = 0x10, .bytes = 8000, .remote_offset = PEERS, .remote_key = l.b.side->key});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_memory_equal(side_data(l.a.side), side_data(l.b.side) + PEERS, 8000);
    assert_int_equal(side_counters(l.a.side)->implied_nak_seq_err, 1);
    assert_int_equal(side_counters(l.b.side)->duplicate_request, 1);
    pair_close(l.pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rdma_is_counted_by_the_vport),
        TEST(every_operation_moves_its_data),
        TEST(inlined_data_is_sent),
        TEST(data_may_be_inlined_in_part),
        TEST(atomic_operations_change_memory),
        TEST(unsignaled_requests_have_no_completion),
        TEST(a_function_sends_to_itself),
        TEST(a_stall_holds_what_is_read),
        TEST(acknowledgements_that_wait_are_merged),
        TEST(a_fence_waits_for_reads),
        TEST(reads_wait_for_their_turn),
        TEST(queues_turn_round),
        TEST(queue_pairs_take_turns),
        TEST(queue_pairs_share_a_slow_line),
        TEST(each_lost_frame_is_made_up_for),
        TEST(any_loss_is_made_up_for),
        TEST(a_lost_packet_is_counted),
        TEST(a_lost_answer_is_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
