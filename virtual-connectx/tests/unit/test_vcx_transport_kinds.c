/* The virtual ConnectX's other kinds of queue pairs, and shared receive queues: UC, UD, queue pair 1,
 * multicast, RMP, SRQ, XRC. */
#include "virtual-connectx/tests/unit/vcx_pair.h"

enum { SEND = 0x0a, SEND_IMMEDIATE = 0x0b, WRITE = 0x08, READ = 0x10, GRH = 40 };

/* ---- UC */

static const struct qp_options unreliable = {.type = VCX_QP_UC};

static void messages_without_acknowledgement(void **state)
{
    (void)state;
    struct link l = link_open(&unreliable);
    side_fill(l.a.side, OWN, 5000, 1);
    qp_post_receive(&l.b, RECEIVE, MOST);
    qp_post(&l.a, &(struct work){.opcode = SEND_IMMEDIATE, .bytes = 5000, .immediate = 7});
    qp_post(&l.a, &(struct work){
                      .opcode = WRITE, .bytes = 3000, .remote_offset = PEERS, .remote_key = l.b.side->key});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_int_equal(vcx_be32(expect_completion(&l.b.receive_cq, VCX_CQE_SEND_IMMEDIATE) + VCX_CQE_IMMEDIATE),
                     7);
    assert_memory_equal(side_data(l.b.side) + RECEIVE, side_data(l.a.side), 5000);
    assert_memory_equal(side_data(l.b.side) + PEERS, side_data(l.a.side), 3000);
    assert_int_equal(l.pair->frames, 5 + 3);
    pair_close(l.pair);
}

/* A message with a gap is dropped, and the next one comes into the same receive request. */
static void a_message_with_a_gap_is_dropped(void **state)
{
    (void)state;
    for (int lost = 0; lost < 3; lost++) {
        struct link l = link_open(&unreliable);
        l.pair->drop = lost;
        qp_post_receive(&l.b, RECEIVE, MOST);
        side_fill(l.a.side, OWN, 3000, 1);
        side_fill(l.a.side, 4096, 3000, 2);
        qp_post(&l.a, &(struct work){.opcode = SEND, .bytes = 3000});
        qp_post(&l.a, &(struct work){.opcode = SEND, .offset = 4096, .bytes = 3000});
        pair_run(l.pair);
        const uint8_t *entry = expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
        assert_int_equal(vcx_be16(entry + VCX_CQE_WQE_COUNTER), 0);
        assert_memory_equal(side_data(l.b.side) + RECEIVE, side_data(l.a.side) + 4096, 3000);
        expect_none(&l.b.receive_cq);
        assert_int_equal(qp_state(&l.b), VCX_QP_RTS);
        pair_close(l.pair);
    }
}

/* Reads need an answer: UC has none. Its send queue alone goes into error, and comes back. */
static void a_read_is_no_operation_of_uc(void **state)
{
    (void)state;
    struct link l = link_open(&unreliable);
    qp_post(&l.a, &(struct work){.opcode = READ, .bytes = 10, .remote_key = l.b.side->key});
    qp_post(&l.a, &(struct work){.opcode = WRITE, .bytes = 10, .remote_key = l.b.side->key});
    pair_run(l.pair);
    expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_LOCAL_OPERATION);
    expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_FLUSHED);
    assert_int_equal(qp_state(&l.a), VCX_QP_SQ_ERROR);
    assert_int_equal(qp_modify(&l.a, 0x506), VCX_OK); /* SQERR2RTS */
    qp_post(&l.a, &(struct work){.opcode = WRITE, .bytes = 10, .remote_key = l.b.side->key});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    pair_close(l.pair);
}

/* ---- datagrams */

static const struct qp_options datagrams = {.type = VCX_QP_UD};

static void a_datagram_comes_with_its_header(void **state)
{
    (void)state;
    struct link l = link_open(&datagrams);
    uint8_t *received = side_data(l.b.side) + RECEIVE;
    side_fill(l.a.side, OWN, 1000, 1);
    qp_post_receive(&l.b, RECEIVE, 2000);
    qp_post(&l.a, &(struct work){.opcode = SEND_IMMEDIATE,
                                 .bytes = 1000,
                                 .immediate = 0xfeed,
                                 .remote_qpn = l.b.id,
                                 .remote_side = 1});
    pair_run(l.pair);
    expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    const uint8_t *entry = expect_completion(&l.b.receive_cq, VCX_CQE_SEND_IMMEDIATE);
    assert_int_equal(vcx_be32(entry + VCX_CQE_BYTE_COUNT), 1000 + GRH);
    assert_int_equal(vcx_be32(entry + VCX_CQE_IMMEDIATE), 0xfeed);
    assert_int_equal(vcx_be32(entry + VCX_CQE_FLAGS_RQPN),
                     l.a.id | 1u << 28 | 2u << 24); /* IPv4, in the buffer */
    assert_memory_equal(received + GRH, side_data(l.a.side), 1000);
    assert_int_equal(received[20], 0x45);
    assert_int_equal(vcx_be32(received + 32), 0x0a000001);
    assert_int_equal(vcx_be32(received + 36), 0x0a000002);
    pair_close(l.pair);
}

static void what_does_not_belong_here_is_dropped(void **state)
{
    (void)state;
    struct link l = link_open(&datagrams);
    qp_post_receive(&l.b, RECEIVE, 500);
    struct work w = {
        .opcode = SEND, .bytes = 100, .remote_qpn = l.b.id, .remote_side = 1, .q_key = 0x22222222};
    qp_post(&l.a, &w); /* another Q_Key */
    w.q_key = 0;
    w.bytes = 461; /* a byte more than the request takes */
    qp_post(&l.a, &w);
    pair_run(l.pair);
    expect_none(&l.b.receive_cq);
    w.bytes = 460;
    qp_post(&l.a, &w);
    qp_post(&l.a, &w); /* no request is left for this one */
    pair_run(l.pair);
    assert_int_equal(vcx_be32(expect_completion(&l.b.receive_cq, VCX_CQE_SEND) + VCX_CQE_BYTE_COUNT), 500);
    expect_none(&l.b.receive_cq);
    assert_int_equal(side_counters(l.b.side)->out_of_buffer, 1);
    for (int i = 0; i < 4; i++)
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    pair_close(l.pair);
}

static void a_datagram_is_one_packet(void **state)
{
    (void)state;
    struct link l = link_open(&datagrams);
    qp_post(&l.a, &(struct work){.opcode = SEND, .bytes = 1025, .remote_qpn = l.b.id, .remote_side = 1});
    pair_run(l.pair);
    expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_LOCAL_LENGTH);
    assert_int_equal(l.pair->frames, 0);
    pair_close(l.pair);
}

/* Connection management sends from and to number 1, whatever the queue pair's own number is. */
static void queue_pair_1_is_found(void **state)
{
    (void)state;
    struct link l = link_open(&(struct qp_options){.type = VCX_QP_GSI});
    qp_post_receive(&l.b, RECEIVE, 500);
    qp_post(&l.a, &(struct work){.opcode = SEND, .bytes = 256, .remote_qpn = 1, .remote_side = 1});
    pair_run(l.pair);
    const uint8_t *entry = expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
    assert_int_equal(vcx_be32(entry + VCX_CQE_FLAGS_RQPN) & 0xffffff, 1);
    assert_int_equal(vcx_be32(entry + VCX_CQE_IMMEDIATE), 0xffff); /* partition key */
    assert_int_equal(vcx_be32(entry + VCX_CQE_BYTE_COUNT), 256 + GRH);
    pair_close(l.pair);
}

static void join(const struct qp *qp, uint16_t opcode)
{
    vcx_set(qp->side->in, attach_to_mcg_in, qpn, qp->id);
    side_gid(1, vcx_at(qp->side->in, attach_to_mcg_in, multicast_gid)); /* the cable carries any address */
    side_ok(qp->side, opcode, vcx_offset(attach_to_mcg_in, multicast_gid) + 16, 16);
}

static void members_of_a_group_get_its_datagrams(void **state)
{
    (void)state;
    struct link l = link_open(&datagrams);
    struct qp other = qp_create_of(l.b.side, &datagrams);
    struct work w = {.opcode = SEND, .bytes = 20, .remote_qpn = VCX_MULTICAST_QPN, .remote_side = 1};
    qp_connect_to(&other, 0, 0, 1, 1, &datagrams);
    for (int i = 0; i < 3; i++) {
        qp_post_receive(&l.b, RECEIVE, 500);
        qp_post_receive(&other, RECEIVE + 1000, 500);
    }
    qp_post(&l.a, &w); /* nobody joined */
    pair_run(l.pair);
    join(&l.b, 0x806);
    qp_post(&l.a, &w);
    pair_run(l.pair);
    join(&other, 0x806);
    qp_post(&l.a, &w);
    pair_run(l.pair);
    join(&l.b, 0x807);
    qp_post(&l.a, &w);
    pair_run(l.pair);
    for (int i = 0; i < 2; i++) {
        expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
        expect_completion(&other.receive_cq, VCX_CQE_SEND);
    }
    expect_none(&l.b.receive_cq);
    expect_none(&other.receive_cq);
    pair_close(l.pair);
}

/* What a function sends to a group also comes to its own members, the sending queue pair among them unless
 * its driver blocked that. */
static void members_beside_the_sender_get_its_datagrams(void **state)
{
    (void)state;
    for (int blocked = 0; blocked < 2; blocked++) {
        struct qp_options options = {.type = VCX_QP_UD, .not_its_own = blocked};
        struct link l = link_open(&options);
        struct qp other = qp_create_of(l.a.side, &options);
        struct work w = {.opcode = SEND, .bytes = 20, .remote_qpn = VCX_MULTICAST_QPN, .remote_side = 1};
        qp_connect_to(&other, 1, 0, 1, 1, &options);
        qp_post_receive(&l.a, RECEIVE, 500);
        qp_post_receive(&other, RECEIVE + 1000, 500);
        qp_post_receive(&l.b, RECEIVE, 500);
        side_fill(l.a.side, OWN, 20, 7);
        qp_post(&l.a, &w); /* nobody joined: it comes back to none */
        pair_run(l.pair);
        expect_none(&other.receive_cq);
        join(&l.a, 0x806);
        join(&other, 0x806);
        join(&l.b, 0x806);
        qp_post(&l.a, &w);
        pair_run(l.pair);
        assert_int_equal(vcx_be32(expect_completion(&other.receive_cq, VCX_CQE_SEND) + VCX_CQE_FLAGS_RQPN) &
                             0xffffff,
                         l.a.id);
        assert_memory_equal(side_data(l.a.side) + RECEIVE + 1000 + GRH, side_data(l.a.side) + OWN, 20);
        expect_completion(&l.b.receive_cq, VCX_CQE_SEND);
        if (!blocked)
            expect_completion(&l.a.receive_cq, VCX_CQE_SEND);
        expect_none(&l.a.receive_cq);
        assert_int_equal(l.pair->frames, 2); /* each went to the wire, once */
        pair_close(l.pair);
    }
}

/* ---- shared receive queues */

enum { SRQ_LOG_SIZE = 3, SRQ_STRIDE = 64 };

struct srq {
    struct side *side;
    uint32_t id;
    uint8_t *queue, *record;
    uint16_t head, posted;
};

/* Each request names the next one, as mlx5_ib writes it. */
static struct srq link_requests(struct side *s, int page, uint32_t record)
{
    struct srq srq = {.side = s, .queue = side_page(s, page), .record = side_page(s, RECORDS) + record};
    for (uint32_t i = 0; i < 1u << SRQ_LOG_SIZE; i++)
        vcx_put16(srq.queue + (size_t)SRQ_STRIDE * i + 2, (uint16_t)((i + 3) % (1u << SRQ_LOG_SIZE)));
    return srq;
}

static struct srq create_srq(struct side *s, uint16_t opcode, uint32_t cq, uint32_t xrcd)
{
    int page = side_take_pages(s, 1);
    uint32_t record = side_take_record(s);
    uint8_t *c = vcx_at(s->in, create_srq_in, srq_context_entry);
    struct srq srq = link_requests(s, page, record);
    vcx_set(c, srqc, log_srq_size, SRQ_LOG_SIZE);
    vcx_set(c, srqc, log_rq_stride, 2);
    vcx_set(c, srqc, pd, s->pd);
    vcx_set(c, srqc, cqn, cq);
    vcx_set(c, srqc, xrcd, xrcd);
    vcx_set(c, srqc, dbr_addr, SIDE_PAGE_AT(RECORDS) + record);
    vcx_set(c, xrc_srqc, user_index, 0x777);
    vcx_put64(vcx_at(s->in, create_srq_in, pas), SIDE_PAGE_AT(page));
    side_ok(s, opcode, vcx_offset(create_srq_in, pas) + 8, 16);
    srq.id = (uint32_t)vcx_get(s->out, create_srq_out, srqn);
    return srq;
}

static struct srq create_rmp(struct side *s)
{
    int page = side_take_pages(s, 1);
    uint32_t record = side_take_record(s);
    uint8_t *wq = vcx_at(vcx_at(s->in, create_rmp_in, ctx), rmpc, wq);
    struct srq srq = link_requests(s, page, record);
    vcx_set(wq, wq, log_wq_sz, SRQ_LOG_SIZE);
    vcx_set(wq, wq, log_wq_stride, 6);
    vcx_set(wq, wq, pd, s->pd);
    vcx_set(wq, wq, dbr_addr, SIDE_PAGE_AT(RECORDS) + record);
    vcx_put64(vcx_at(wq, wq, pas), SIDE_PAGE_AT(page));
    side_ok(s, 0x90c, (uint32_t)(vcx_at(wq, wq, pas) + 8 - s->in), 16);
    srq.id = (uint32_t)vcx_get(s->out, create_srq_out, srqn);
    return srq;
}

static void post_shared(struct srq *srq, uint32_t offset, uint32_t bytes)
{
    uint8_t *wqe = srq->queue + (size_t)SRQ_STRIDE * srq->head;
    vcx_put32(wqe + 16, bytes);
    vcx_put32(wqe + 20, srq->side->key);
    vcx_put64(wqe + 24, DATA_AT + offset);
    vcx_put32(wqe + 36, 0x100);
    srq->head = vcx_be16(wqe + 2);
    vcx_put32(srq->record, ++srq->posted);
}

/* Messages of two connections, taken from one queue in the order of its list. */
static void check_shared(struct pair *pair, struct srq *srq)
{
    const struct qp_options shared = {.type = VCX_QP_RC, .srq = srq->id};
    struct qp senders[2], receivers[2];
    for (int i = 0; i < 2; i++) {
        senders[i] = qp_create_of(&pair->side[0], &usual);
        receivers[i] = qp_create_of(&pair->side[1], &shared);
        qps_connect(&senders[i], &receivers[i], &usual);
    }
    for (int i = 0; i < 6; i++)
        post_shared(srq, RECEIVE + 1024 * i, 1024);
    for (int i = 0; i < 6; i++) {
        side_data(&pair->side[0])[0] = (uint8_t)(100 + i);
        qp_post(&senders[i % 2], &(struct work){.opcode = SEND, .bytes = 600});
        pair_run(pair);
        const uint8_t *entry = expect_completion(&receivers[i % 2].receive_cq, VCX_CQE_SEND);
        assert_int_equal(vcx_be16(entry + VCX_CQE_WQE_COUNTER), 3 * i % 8);
        assert_int_equal(side_data(&pair->side[1])[RECEIVE + 1024 * i], 100 + i);
    }
    qp_post(&senders[0], &(struct work){.opcode = SEND, .bytes = 600});
    pair_run_ms(pair, 3);
    expect_none(&receivers[0].receive_cq);
    post_shared(srq, RECEIVE, 1024);
    pair_run_ms(pair, 3);
    expect_completion(&receivers[0].receive_cq, VCX_CQE_SEND);
}

/* The top bit of a byte count asks for padding, and is no length. */
static void padding_of_shared_requests_is_no_length(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct srq srq = create_srq(&pair->side[1], 0x700, 0, 0);
    const struct qp_options shared = {.type = VCX_QP_RC, .srq = srq.id};
    struct qp sender = qp_create_of(&pair->side[0], &usual), receiver = qp_create_of(&pair->side[1], &shared);
    qps_connect(&sender, &receiver, &usual);
    for (uint32_t bytes = 600; bytes <= 601; bytes++) {
        post_shared(&srq, RECEIVE, 600 | 1u << 31);
        qp_post(&sender, &(struct work){.opcode = SEND, .bytes = bytes});
        pair_run(pair);
        if (bytes == 600)
            expect_completion(&receiver.receive_cq, VCX_CQE_SEND);
        else
            expect_error(&receiver.receive_cq, VCX_CQE_RESPONDER_ERROR, VCX_LOCAL_LENGTH);
    }
    pair_close(pair);
}

static void requests_are_shared(void **state)
{
    (void)state;
    for (int rmp = 0; rmp < 2; rmp++) {
        struct pair *pair = pair_open();
        struct srq srq = rmp ? create_rmp(&pair->side[1]) : create_srq(&pair->side[1], 0x700, 0, 0);
        check_shared(pair, &srq);
        pair_close(pair);
    }
}

static void a_limit_is_told_once(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[1];
    struct srq srq = create_srq(s, 0x700, 0, 0);
    const struct qp_options shared = {.type = VCX_QP_RC, .srq = srq.id};
    struct qp a = qp_create_of(&pair->side[0], &usual), b = qp_create_of(s, &shared);
    qps_connect(&a, &b, &usual);
    for (int i = 0; i < 6; i++)
        post_shared(&srq, RECEIVE, 1024);
    vcx_set(s->in, arm_rq_in, srq_number, srq.id);
    vcx_set(s->in, arm_rq_in, lwm, 4);
    side_ok(s, 0x703, 16, 16);
    for (int i = 0; i < 6; i++) {
        qp_post(&a, &(struct work){.opcode = SEND, .bytes = 10});
        pair_run(pair);
        assert_int_equal(side_events(s, VCX_EVENT_SRQ_LIMIT), i >= 2);
    }
    vcx_set(s->in, query_srq_in, srqn, srq.id);
    side_ok(s, 0x702, 16, 512);
    assert_int_equal(vcx_get(vcx_at(s->out, query_srq_out, srq_context_entry), srqc, lwm), 0);
    assert_int_equal(qp_modify(&b, 0x507), VCX_OK); /* 2ERR */
    assert_int_equal(side_events(s, VCX_EVENT_SRQ_LAST_WQE), 1);
    pair_close(pair);
}

static void forms_are_kept_apart(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[1];
    struct srq rmp = create_rmp(s), srq = create_srq(s, 0x700, 0, 0);
    assert_true(rmp.id != srq.id); /* the driver keeps both in one table */
    vcx_set(s->in, query_srq_in, srqn, rmp.id);
    assert_int_equal(side_run(s, 0x701, 16, 16), VCX_BAD_RESOURCE); /* DESTROY_SRQ */
    vcx_set(s->in, query_srq_in, srqn, rmp.id);
    assert_int_equal(side_run(s, 0x90e, 16, 16), VCX_OK); /* DESTROY_RMP */
    uint8_t *c = vcx_at(s->in, create_srq_in, srq_context_entry);
    vcx_set(c, srqc, log_srq_size, 15); /* more than the list covers */
    vcx_set(c, srqc, log_rq_stride, 2);
    vcx_set(c, srqc, dbr_addr, SIDE_PAGE_AT(RECORDS));
    assert_int_equal(side_run(s, 0x700, vcx_offset(create_srq_in, pas) + 8, 16), VCX_BAD_PARAMETER);
    pair_close(pair);
}

/* A list of requests that leads anywhere is followed within its bounds. */
static void a_broken_list_does_no_harm(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct srq srq = create_srq(&pair->side[1], 0x700, 0, 0);
    const struct qp_options shared = {.type = VCX_QP_RC, .srq = srq.id};
    struct qp a = qp_create_of(&pair->side[0], &usual), b = qp_create_of(&pair->side[1], &shared);
    qps_connect(&a, &b, &usual);
    for (int i = 0; i < 3; i++)
        post_shared(&srq, RECEIVE, 1024);
    for (int i = 0; i < 8; i++)
        vcx_put16(srq.queue + SRQ_STRIDE * i + 2, 0xfff8);
    for (int i = 0; i < 3; i++)
        qp_post(&a, &(struct work){.opcode = SEND, .bytes = 10});
    pair_run(pair);
    for (int i = 0; i < 3; i++)
        assert_in_range(vcx_be16(expect_completion(&b.receive_cq, VCX_CQE_SEND) + VCX_CQE_WQE_COUNTER), 0, 7);
    pair_close(pair);
}

/* ---- XRC */

static uint32_t create_domain(struct side *s)
{
    side_ok(s, 0x80e, 16, 16);
    return (uint32_t)vcx_get(s->out, alloc_pd_out, pd);
}

static void a_sender_names_the_shared_queue(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[1];
    uint32_t domain = create_domain(s);
    struct cq cq[2] = {cq_create(s), cq_create(s)};
    struct srq srq[2] = {create_srq(s, 0x705, cq[0].id, domain), create_srq(s, 0x705, cq[1].id, domain)};
    struct qp a = qp_create_of(&pair->side[0], &(struct qp_options){.type = VCX_QP_XRC}),
              b = qp_create_of(s, &(struct qp_options){.type = VCX_QP_XRC, .srq = srq[0].id, .xrcd = domain});
    qps_connect(&a, &b, &usual);
    side_fill(&pair->side[0], OWN, 5000, 1);
    for (int i = 0; i < 2; i++) {
        post_shared(&srq[i], RECEIVE + 8192 * i, 8192);
        qp_post(&a, &(struct work){
                        .opcode = SEND_IMMEDIATE, .bytes = 5000, .immediate = 5, .xrc_srq = srq[i].id});
        qp_post(&a, &(struct work){.opcode = WRITE,
                                   .bytes = 2000,
                                   .remote_offset = PEERS,
                                   .remote_key = s->key,
                                   .xrc_srq = srq[i].id});
        qp_post(&a, &(struct work){.opcode = READ,
                                   .offset = 8192,
                                   .bytes = 2000,
                                   .remote_offset = PEERS,
                                   .remote_key = s->key,
                                   .xrc_srq = srq[i].id});
        pair_run(pair);
        for (int n = 0; n < 3; n++)
            expect_completion(&a.send_cq, VCX_CQE_REQUESTER);
        const uint8_t *entry = expect_completion(&cq[i], VCX_CQE_SEND_IMMEDIATE);
        assert_int_equal(vcx_be32(entry + VCX_CQE_SRQN_UIDX), 0x777);
        assert_int_equal(vcx_be32(entry + VCX_CQE_IMMEDIATE), 5);
        assert_memory_equal(side_data(s) + RECEIVE + 8192 * i, side_data(&pair->side[0]), 5000);
        assert_memory_equal(side_data(&pair->side[0]) + 8192, side_data(&pair->side[0]), 2000);
    }
    expect_none(&b.receive_cq);
    pair_close(pair);
}

/* As mlx5_ib makes them: an initiator names no completion queue for receiving, a target has no queue of
 * its own at all. */
static void ends_of_xrc_need_little(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[0];
    struct srq srq = create_rmp(s);
    struct cq cq = cq_create(s);
    for (int target = 0; target < 2; target++) {
        uint8_t *c = vcx_at(s->in, create_qp_in, qpc);
        vcx_set(c, qpc, st, VCX_QP_XRC);
        vcx_set(c, qpc, rq_type, 1);
        vcx_set(c, qpc, srqn_rmpn_xrqn, srq.id);
        vcx_set(c, qpc, no_sq, target);
        vcx_set(c, qpc, cqn_snd, target ? 0 : cq.id);
        vcx_set(c, qpc, dbr_addr, target ? 0 : SIDE_PAGE_AT(RECORDS));
        vcx_put64(vcx_at(s->in, create_qp_in, pas), SIDE_PAGE_AT(30));
        side_ok(s, 0x500, vcx_offset(create_qp_in, pas) + (target ? 0 : 8), 16);
    }
    pair_close(pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_without_acknowledgement),
        TEST(a_message_with_a_gap_is_dropped),
        TEST(a_read_is_no_operation_of_uc),
        TEST(a_datagram_comes_with_its_header),
        TEST(what_does_not_belong_here_is_dropped),
        TEST(a_datagram_is_one_packet),
        TEST(queue_pair_1_is_found),
        TEST(members_of_a_group_get_its_datagrams),
        TEST(members_beside_the_sender_get_its_datagrams),
        TEST(requests_are_shared),
        TEST(padding_of_shared_requests_is_no_length),
        TEST(a_limit_is_told_once),
        TEST(forms_are_kept_apart),
        TEST(a_broken_list_does_no_harm),
        TEST(a_sender_names_the_shared_queue),
        TEST(ends_of_xrc_need_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
