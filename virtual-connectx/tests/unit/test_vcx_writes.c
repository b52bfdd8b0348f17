/* What the virtual ConnectX writes into its driver's memory, and that it writes nothing else. Pages that
 * follow one another in a key are not neighbours in memory here: a write that goes on behind its page
 * changes what belongs to somebody else. */
#include "virtual-connectx/tests/unit/vcx_pair.h"
#include "virtual-connectx/tests/unit/vcx_watch.h"

enum {
    SEND = 0x0a,
    WRITE = 0x08,
    WRITE_IMMEDIATE = 0x09,
    READ = 0x10,
    COMPARE_SWAP = 0x11,
    FETCH_ADD = 0x12
};

#define BEGIN 0xa80u /* of the data in its first page: aligned to nothing that a page could be */

/* The pages of a key, in its order; none stands behind the one before it. */
static const int scattered[] = {SIDE_DATA + 3, SIDE_DATA + 11, SIDE_DATA + 7, SIDE_DATA + 1};
enum { SCATTERED = VCX_COUNT(scattered) };

static uint32_t create_scattered_key(struct side *s)
{
    uint8_t *context = vcx_at(s->in, create_mkey_in, memory_key_mkey_entry),
            *list = vcx_at(s->in, create_mkey_in, klm_pas_mtt);
    vcx_set(context, mkc, access_mode_1_0, 1);
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, lw, 1);
    vcx_set(context, mkc, rr, 1);
    vcx_set(context, mkc, rw, 1);
    vcx_set(context, mkc, a, 1);
    vcx_set(context, mkc, mkey_7_0, 0x77);
    vcx_set(context, mkc, log_page_size, 12);
    vcx_set(context, mkc, start_addr, DATA_AT);
    vcx_set(context, mkc, len, SCATTERED * VCX_PAGE_BYTES);
    vcx_set(context, mkc, pd, s->pd);
    vcx_set(s->in, create_mkey_in, translations_octword_actual_size, SCATTERED / 2);
    for (int i = 0; i < SCATTERED; i++)
        vcx_put64(list + 8 * i, SIDE_PAGE_AT(scattered[i]));
    side_ok(s, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt) + 8 * SCATTERED, 16);
    return (uint32_t)vcx_get(s->out, create_mkey_out, mkey_index) << 8 | 0x77;
}

/* The byte of a side's memory at an offset of the scattered key. */
static uint8_t *scattered_byte(struct side *s, uint32_t offset)
{
    return side_page(s, scattered[offset / VCX_PAGE_BYTES]) + offset % VCX_PAGE_BYTES;
}

/* The bytes of the key from `begin` on are those of `data`, and may be. */
static void expect_scattered(struct watch *w, struct side *s, uint32_t begin, const uint8_t *data,
                             uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t *at = scattered_byte(s, begin + i);
        if (*at != data[i])
            fail_msg("byte %u of the data is 0x%02x in place of 0x%02x", i, *at, data[i]);
        watch_allow(w, at, 1);
    }
}

static void a_write_by_a_key_ends_with_its_page(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct side *s = &pair->side[1];
    uint32_t key = create_scattered_key(s);
    struct vcx_rights rights = {.pd = s->pd};
    static struct watch w;
    uint8_t data[3 * VCX_PAGE_BYTES], back[sizeof data + 1];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
    static const struct {
        uint32_t begin, bytes;
    } cases[] = {{0, 4096}, {4095, 2}, {BEGIN, 4096}, {4000, 8200}, {1, 3 * VCX_PAGE_BYTES}};
    for (size_t i = 0; i < VCX_COUNT(cases); i++) {
        uint32_t begin = cases[i].begin, bytes = cases[i].bytes;
        memset(side_data(s), 0xa5, DATA_BYTES);
        memset(back, 0xa5, sizeof back);
        watch_begin(&w, &s->front);
        assert_true(vcx_mkey_write(&s->device, rights, key, VCX_REMOTE_WRITE, DATA_AT + begin, data, bytes));
        assert_true(vcx_mkey_read(&s->device, rights, key, VCX_REMOTE_READ, DATA_AT + begin, back, bytes));
        assert_memory_equal(back, data, bytes);
        assert_int_equal(back[bytes], 0xa5);
        expect_scattered(&w, s, begin, data, bytes);
        watch_end(&w);
    }
    pair_close(pair);
}

/* ---- what comes of messages */

/* A connection whose ends both have the scattered key. */
struct scene {
    struct link l;
    uint32_t key[2];
    struct watch watch[2];
};

static struct scene *scene_open(const struct qp_options *o)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->l = link_open(o);
    for (int i = 0; i < 2; i++) {
        s->key[i] = create_scattered_key(&s->l.pair->side[i]);
        memset(side_data(&s->l.pair->side[i]), 0xa5, DATA_BYTES);
    }
    return s;
}

/* What was posted is executed, under watch; the places for data are allowed by the test. */
static void scene_run(struct scene *s)
{
    for (int i = 0; i < 2; i++)
        watch_begin(&s->watch[i], &s->l.pair->side[i].front);
    pair_run(s->l.pair);
}

/* The completion, which is a whole entry, and the event that tells of it. */
static void expect_end(struct scene *s, struct cq *cq, uint8_t opcode)
{
    struct watch *w = &s->watch[cq->side->number];
    const uint8_t *entry = expect_completion(cq, opcode);
    watch_allow(w, entry, VCX_CQE_BYTES);
    watch_allow(w, cq->record, 4); /* the driver's own, by which it takes the completion */
    uint8_t *events = side_page(cq->side, FIRST_FREE);
    for (int i = 0; i < ENTRIES; i++)
        if (!(events[64 * i + 63] & 1))
            watch_allow(w, events + 64 * i, 64);
}

static void scene_end(struct scene *s)
{
    for (int i = 0; i < 2; i++)
        watch_end(&s->watch[i]);
    pair_close(s->l.pair);
    free(s);
}

/* Data of side A, outside the scattered pages' places. */
static const uint8_t *make_data(struct scene *s, int side, uint32_t bytes)
{
    uint32_t offset = 14 * VCX_PAGE_BYTES;
    side_fill(&s->l.pair->side[side], offset, bytes, 9);
    return side_data(&s->l.pair->side[side]) + offset;
}

enum { DATA_OFFSET = 14 * VCX_PAGE_BYTES, MESSAGE = 9001 };

static void post_scattered_receive(struct scene *s, uint32_t begin, uint32_t bytes)
{
    struct qp *b = &s->l.b;
    qp_post_receive(b, begin, bytes);
    vcx_put32(b->rq + 64 * ((b->receives - 1u) % RQ_STRIDES) + 4, s->key[1]);
}

static void an_rdma_write_changes_its_bytes_alone(void **state)
{
    (void)state;
    struct scene *s = scene_open(&usual);
    const uint8_t *data = make_data(s, 0, MESSAGE);
    qp_post_receive(&s->l.b, 0, 0);
    qp_post(&s->l.a, &(struct work){.opcode = WRITE_IMMEDIATE,
                                    .offset = DATA_OFFSET,
                                    .bytes = MESSAGE,
                                    .remote_offset = BEGIN,
                                    .remote_key = s->key[1]});
    scene_run(s);
    expect_end(s, &s->l.a.send_cq, VCX_CQE_REQUESTER);
    expect_end(s, &s->l.b.receive_cq, VCX_CQE_WRITE_IMMEDIATE);
    expect_scattered(&s->watch[1], s->l.b.side, BEGIN, data, MESSAGE);
    scene_end(s);
}

static void a_message_changes_its_receive_buffer_alone(void **state)
{
    (void)state;
    struct scene *s = scene_open(&usual);
    const uint8_t *data = make_data(s, 0, MESSAGE);
    post_scattered_receive(s, BEGIN, MESSAGE + 1000);
    qp_post(&s->l.a, &(struct work){.opcode = SEND, .offset = DATA_OFFSET, .bytes = MESSAGE});
    scene_run(s);
    expect_end(s, &s->l.a.send_cq, VCX_CQE_REQUESTER);
    expect_end(s, &s->l.b.receive_cq, VCX_CQE_SEND);
    expect_scattered(&s->watch[1], s->l.b.side, BEGIN, data, MESSAGE);
    scene_end(s);
}

/* Its header of 40 bytes lies across the end of a page. */
static void a_datagram_changes_its_receive_buffer_alone(void **state)
{
    (void)state;
    struct scene *s = scene_open(&(struct qp_options){.type = VCX_QP_UD});
    enum { DATAGRAM = 1000, AT = VCX_PAGE_BYTES - 30 };
    const uint8_t *data = make_data(s, 0, DATAGRAM);
    post_scattered_receive(s, AT, 5000);
    qp_post(&s->l.a, &(struct work){.opcode = SEND,
                                    .offset = DATA_OFFSET,
                                    .bytes = DATAGRAM,
                                    .remote_qpn = s->l.b.id,
                                    .remote_side = 1});
    scene_run(s);
    expect_end(s, &s->l.a.send_cq, VCX_CQE_REQUESTER);
    expect_end(s, &s->l.b.receive_cq, VCX_CQE_SEND);
    for (uint32_t i = 0; i < 40; i++)
        watch_allow(&s->watch[1], scattered_byte(s->l.b.side, AT + i), 1);
    expect_scattered(&s->watch[1], s->l.b.side, AT + 40, data, DATAGRAM);
    scene_end(s);
}

static void an_answer_changes_its_bytes_alone(void **state)
{
    (void)state;
    struct scene *s = scene_open(&usual);
    const uint8_t *data = make_data(s, 1, MESSAGE);
    qp_post(&s->l.a, &(struct work){.opcode = READ,
                                    .key = s->key[0],
                                    .offset = BEGIN,
                                    .bytes = MESSAGE,
                                    .remote_offset = DATA_OFFSET,
                                    .remote_key = s->l.b.side->key});
    scene_run(s);
    expect_end(s, &s->l.a.send_cq, VCX_CQE_REQUESTER);
    expect_scattered(&s->watch[0], s->l.a.side, BEGIN, data, MESSAGE);
    scene_end(s);
}

/* The word is the last of its page; the result lies across the end of another. */
static void an_atomic_operation_changes_two_words(void **state)
{
    (void)state;
    static const uint8_t opcodes[] = {COMPARE_SWAP, FETCH_ADD};
    for (size_t i = 0; i < VCX_COUNT(opcodes); i++) {
        struct scene *s = scene_open(&usual);
        uint32_t word = VCX_PAGE_BYTES - 8, result = 2 * VCX_PAGE_BYTES - 3;
        uint8_t after[8], before[8];
        uint64_t old = 0xa5a5a5a5a5a5a5a5, next = opcodes[i] == FETCH_ADD ? old + 77 : 77;
        qp_post(&s->l.a, &(struct work){.opcode = opcodes[i],
                                        .key = s->key[0],
                                        .offset = result,
                                        .bytes = 8,
                                        .remote_offset = word,
                                        .remote_key = s->key[1],
                                        .swap_add = 77,
                                        .compare = old});
        scene_run(s);
        expect_end(s, &s->l.a.send_cq, VCX_CQE_REQUESTER);
        memcpy(after, &next, 8);
        memcpy(before, &old, 8);
        expect_scattered(&s->watch[1], s->l.b.side, word, after, 8);
        expect_scattered(&s->watch[0], s->l.a.side, result, before, 8);
        scene_end(s);
    }
}

/* More completions and events than their queues have entries: each is written into its own. */
static void queues_are_written_entry_by_entry(void **state)
{
    (void)state;
    struct scene *s = scene_open(&usual);
    for (int i = 0; i < ENTRIES + 10; i++) {
        struct cq *cq = &s->l.a.send_cq;
        vcx_put32(cq->record + 4, (uint32_t)(i & 3) << 28 | cq->consumer); /* armed */
        qp_post(&s->l.a, &(struct work){.opcode = WRITE, .remote_key = s->key[1]});
        uint32_t event = (uint32_t)i % ENTRIES, entry = cq->consumer % ENTRIES;
        scene_run(s);
        expect_completion(cq, VCX_CQE_REQUESTER);
        watch_allow(&s->watch[0], cq->entries + 64 * entry, 64);
        watch_allow(&s->watch[0], cq->record, 4);
        watch_allow(&s->watch[0], side_page(s->l.a.side, FIRST_FREE) + 64 * event, 64);
        assert_int_equal(s->l.a.side->front.interrupts[0], i + 1);
        for (int j = 0; j < 2; j++)
            watch_end(&s->watch[j]);
    }
    scene_end(s);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_write_by_a_key_ends_with_its_page),        TEST(an_rdma_write_changes_its_bytes_alone),
        TEST(a_message_changes_its_receive_buffer_alone), TEST(a_datagram_changes_its_receive_buffer_alone),
        TEST(an_answer_changes_its_bytes_alone),          TEST(an_atomic_operation_changes_two_words),
        TEST(queues_are_written_entry_by_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
