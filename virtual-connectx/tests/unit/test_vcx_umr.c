/* The virtual ConnectX's keys as work requests change them: registration, fast registration, windows,
 * invalidation. */
#include "virtual-connectx/tests/unit/vcx_umr.h"

/* ---- mlx5_ib's own queue pair */

/* mlx5r_umr_resource_init; the driver leaves it in no domain */
static struct qp create_umr_qp(struct side *s)
{
    const struct qp_options o = {.type = VCX_QP_UMR, .without_receive = true, .kernel = true};
    uint32_t users = s->pd;
    s->pd = 0;
    struct qp qp = qp_create_of(s, &o);
    s->pd = users;
    for (uint16_t opcode = 0x502; opcode <= 0x504; opcode++)
        assert_int_equal(qp_modify(&qp, opcode), VCX_OK);
    assert_int_equal(qp_state(&qp), VCX_QP_RTS);
    return qp;
}

struct region {
    struct qp umr;
    uint32_t pd, list_key, key;
};

static struct region region_new(struct side *s)
{
    struct region r = {.pd = new_pd(s)};
    r.umr = create_umr_qp(s);
    r.list_key = key_create(s, &(struct new_key){.mode = OF_ALL, .pd = r.pd, .in_use = true});
    r.key = key_create(s, &(struct new_key){.mode = OF_PAGES, .units = 8, .pd = r.pd});
    return r;
}

/* mlx5r_umr_update_mr_pas: `pages` of the list's pages, and what ends it. */
static struct umr region_chunk(const struct region *r, struct side *s, int first, int pages, bool last)
{
    struct umr u = {.key = r->key,
                    .flags = VCX_CHANGE_FREE | (first ? VCX_CHANGE_OFFSET : 0),
                    .units = (uint16_t)(pages / 2),
                    .offset = (uint64_t)first / 2,
                    .mask = last ? M_REGION : 0,
                    .list_key = r->list_key,
                    .list_bytes = (uint32_t)pages * 8,
                    .list_at = SIDE_PAGE_AT(SIDE_DATA + LIST_PAGE)};
    set_rights(u.context, true);
    vcx_set(u.context, mkc, mkey_7_0, r->key & 0xff);
    vcx_set(u.context, mkc, pd, s->pd);
    vcx_set(u.context, mkc, log_page_size, 12);
    vcx_set(u.context, mkc, start_addr, REGION_AT + 100);
    vcx_set(u.context, mkc, len, 16 * VCX_PAGE_BYTES - 100);
    put_pages(side_data(s) + LIST_PAGE * VCX_PAGE_BYTES, first, pages);
    return u;
}

static void region_fill(struct pair *pair, struct region *r, struct side *s)
{
    struct umr first = region_chunk(r, s, 0, 8, false);
    change_well(pair, &r->umr, &first);
    struct umr last = region_chunk(r, s, 8, 8, true);
    change_well(pair, &r->umr, &last);
}

/* mlx5r_umr_revoke_mr */
static struct umr region_revocation(const struct region *r)
{
    struct umr u = {.key = r->key, .flags = VCX_CHANGE_INLINE, .mask = M_PD | M_FREE};
    vcx_set(u.context, mkc, free, 1);
    vcx_set(u.context, mkc, pd, r->pd);
    vcx_set(u.context, mkc, qpn, ANY_QP);
    vcx_set(u.context, mkc, mkey_7_0, r->key & 0xff);
    return u;
}

static void regions_are_registered_and_revoked(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct region r = region_new(l.a.side);
    struct umr first = region_chunk(&r, l.a.side, 0, 8, false), revocation = region_revocation(&r);
    for (int i = 0; i < 2; i++) { /* and once more */
        change_well(l.pair, &r.umr, &first);
        struct umr last = region_chunk(&r, l.a.side, 8, 8, true);
        change_well(l.pair, &r.umr, &last);
        put_pages(side_data(l.a.side) + LIST_PAGE * VCX_PAGE_BYTES, 0, 8);
        peer_uses(l.pair, &l.b, l.a.side, r.key, REGION_AT + 100, 100, 5000);
        peer_uses(l.pair, &l.b, l.a.side, r.key, REGION_AT + 7 * 4096 + 50, 7 * 4096 + 50, 9000);
        put_pages(side_data(l.a.side) + LIST_PAGE * VCX_PAGE_BYTES, 0, 8);
        change_well(l.pair, &r.umr, &revocation);
    }
    peer_is_refused(l.pair, &l.b, r.key, REGION_AT + 100);
    pair_close(l.pair);
}

/* mlx5r_umr_rereg_pd_access */
static void access_of_a_region_is_changed(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct region r = region_new(l.a.side);
    struct umr u = {.key = r.key,
                    .flags = VCX_CHANGE_IN_USE | VCX_CHANGE_INLINE,
                    .mask = M_LOCAL | M_REMOTE | M_ATOMIC | M_PD};
    region_fill(l.pair, &r, l.a.side);
    set_rights(u.context, false);
    vcx_set(u.context, mkc, pd, l.a.side->pd);
    vcx_set(u.context, mkc, mkey_7_0, r.key & 0xff);
    change_well(l.pair, &r.umr, &u);
    qp_post(&l.b, &(struct work){
                      .opcode = 0x10, .bytes = 8, .remote_address = REGION_AT + 100, .remote_key = r.key});
    pair_run(l.pair);
    expect_completion(&l.b.send_cq, VCX_CQE_REQUESTER);
    peer_is_refused(l.pair, &l.b, r.key, REGION_AT + 100);
    pair_close(l.pair);
}

/* A region's pages are taken away (a list of zeros) while the peer writes into it. */
static void pages_are_taken_away_during_traffic(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct region r = region_new(l.a.side);
    region_fill(l.pair, &r, l.a.side);
    struct umr zap = region_chunk(&r, l.a.side, 0, 16, false);
    zap.flags = VCX_CHANGE_IN_USE;
    memset(side_data(l.a.side) + LIST_PAGE * VCX_PAGE_BYTES, 0, 128);
    side_fill(l.b.side, 0, 60000, 1);
    memset(side_data(l.a.side), 0, 60000);
    qp_post(&l.b,
            &(struct work){
                .opcode = 0x08, .bytes = 60000, .remote_address = REGION_AT + 100, .remote_key = r.key});
    for (int i = 0; i < 2000 && side_data(l.a.side)[100 + 5000] == 0; i++)
        pair_step(l.pair, 1000);
    post_umr(&r.umr, &zap);
    pair_run(l.pair);
    expect_completion(&r.umr.send_cq, VCX_CQE_REQUESTER);
    expect_error(&l.b.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_REMOTE_ACCESS);
    assert_int_equal(qp_state(&l.a), VCX_QP_ERROR);
    assert_memory_equal(side_data(l.a.side) + 100, side_data(l.b.side), 5000);
    assert_int_equal(side_data(l.a.side)[59000], 0);
    pair_close(l.pair);
}

/* The queue pair is made ready again after an error, as mlx5r_umr_recover does. */
static void the_drivers_queue_pair_recovers(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct region r = region_new(l.a.side);
    struct umr bad = region_chunk(&r, l.a.side, 0, 18, true), good = region_chunk(&r, l.a.side, 0, 16, true);
    post_umr(&r.umr, &bad);
    change_badly(l.pair, &r.umr, &good, VCX_MEMORY_WINDOW_BIND);
    expect_error(&r.umr.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_FLUSHED);
    assert_int_equal(qp_modify(&r.umr, 0x50a), VCX_OK);
    for (uint16_t opcode = 0x502; opcode <= 0x504; opcode++)
        assert_int_equal(qp_modify(&r.umr, opcode), VCX_OK);
    r.umr.sends = 0;
    change_well(l.pair, &r.umr, &good);
    peer_uses(l.pair, &l.b, l.a.side, r.key, REGION_AT + 100, 100, 5000);
    pair_close(l.pair);
}

/* ---- fast registration */

static void fast_registration_and_local_invalidation(void **state)
{
    (void)state;
    struct link l = open_kernel();
    uint32_t old = fast_key(l.a.side, OF_PAGES, 4);
    struct umr u = fast_registration(old), invalidation = local_invalidation(u.key);
    change_well(l.pair, &l.a, &u);
    peer_uses(l.pair, &l.b, l.a.side, u.key, REGION_AT, 0, 4 * VCX_PAGE_BYTES);
    peer_uses(l.pair, &l.b, l.a.side, u.key, REGION_AT + 4090, 4090, 20);
    change_well(l.pair, &l.a, &invalidation);
    peer_is_refused(l.pair, &l.b, u.key, REGION_AT);
    pair_close(l.pair);
}

static void a_fast_registered_key_has_its_new_variant_only(void **state)
{
    (void)state;
    struct link l = open_kernel();
    uint32_t old = fast_key(l.a.side, OF_PAGES, 4);
    struct umr u = fast_registration(old);
    change_well(l.pair, &l.a, &u);
    assert_int_not_equal(old, u.key);
    peer_is_refused(l.pair, &l.b, old, REGION_AT);
    pair_close(l.pair);
}

static void a_registration_ends_where_its_length_does(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 4));
    vcx_set(u.context, mkc, len, 5000);
    change_well(l.pair, &l.a, &u);
    peer_uses(l.pair, &l.b, l.a.side, u.key, REGION_AT + 4000, 4000, 1000);
    peer_is_refused(l.pair, &l.b, u.key, REGION_AT + 4993);
    pair_close(l.pair);
}

/* mlx5_ib's cache has keys of four pages, whose list has half a block. */
static void lists_are_written_in_whole_blocks(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 2));
    assert_int_equal(u.units, 4);
    change_well(l.pair, &l.a, &u);
    peer_uses(l.pair, &l.b, l.a.side, u.key, REGION_AT, 0, 4 * VCX_PAGE_BYTES);
    pair_close(l.pair);
}

/* A list that does not fit into the request, read by the reserved key. */
static void longer_lists_are_pointed_to(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 16));
    u.flags &= (uint8_t)~VCX_CHANGE_INLINE;
    u.inlined_bytes = 0;
    u.units = 8;
    u.list_key = VCX_KEY_RESERVED;
    u.list_bytes = 128;
    u.list_at = SIDE_PAGE_AT(SIDE_DATA + LIST_PAGE);
    put_pages(side_data(l.a.side) + LIST_PAGE * VCX_PAGE_BYTES, 0, 16);
    vcx_set(u.context, mkc, len, 16 * VCX_PAGE_BYTES);
    change_well(l.pair, &l.a, &u);
    peer_uses(l.pair, &l.b, l.a.side, u.key, REGION_AT + 30000, 30000, 9000);
    pair_close(l.pair);
}

/* IB_MR_TYPE_SG_GAPS: parts of memory of any size. */
static void gaps_are_registered(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct side *s = l.a.side;
    struct umr u = fast_registration(fast_key(s, OF_PARTS, 4));
    uint32_t all = key_create(s, &(struct new_key){.mode = OF_ALL, .pd = s->pd, .in_use = true});
    put_part(u.inlined, 100, all, SIDE_PAGE_AT(SIDE_DATA) + 500);
    put_part(u.inlined + 16, 1000, s->key, DATA_AT + 3000);
    vcx_set(u.context, mkc, log_page_size, 0);
    vcx_set(u.context, mkc, len, 1100);
    change_well(l.pair, &l.a, &u);
    side_fill(l.b.side, 0, 1100, 8);
    qp_post(&l.b,
            &(struct work){.opcode = 0x08, .bytes = 1100, .remote_address = REGION_AT, .remote_key = u.key});
    pair_run(l.pair);
    expect_completion(&l.b.send_cq, VCX_CQE_REQUESTER);
    assert_memory_equal(side_data(s) + 500, side_data(l.b.side), 100);
    assert_memory_equal(side_data(s) + 3000, side_data(l.b.side) + 100, 1000);
    pair_close(l.pair);
}

/* A key is given up behind a request that uses it; that one's packets are lost at first. */
static void a_key_is_kept_for_what_was_asked_before(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 4)),
               invalidation = local_invalidation(u.key);
    post_umr(&l.a, &u);
    side_fill(l.a.side, 0, 3000, 2);
    l.pair->drop = (int64_t)l.pair->frames + 1;
    uint8_t *sge = l.a.sq + (size_t)64 * l.a.sends;
    qp_post(&l.a, &(struct work){.opcode = 0x08,
                                 .bytes = 3000,
                                 .key = u.key,
                                 .remote_offset = PEERS,
                                 .remote_key = l.b.side->key});
    vcx_put64(sge + 40, REGION_AT);
    post_umr(&l.a, &invalidation);
    pair_run_ms(l.pair, 3000);
    for (int i = 0; i < 3; i++)
        expect_completion(&l.a.send_cq, VCX_CQE_REQUESTER);
    assert_memory_equal(side_data(l.b.side) + PEERS, side_data(l.a.side), 3000);
    peer_is_refused(l.pair, &l.b, u.key, REGION_AT);
    pair_close(l.pair);
}

/* ---- SEND with invalidate */

static void post_invalidate(struct link *l, uint32_t key)
{
    qp_post_receive(&l->a, RECEIVE, 4096);
    qp_post(&l->b, &(struct work){.opcode = 0x01, .bytes = 100, .immediate = key});
    pair_run(l->pair);
}

static void a_peer_gives_a_key_up(void **state)
{
    (void)state;
    struct link l = open_kernel();
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 4));
    change_well(l.pair, &l.a, &u);
    peer_uses(l.pair, &l.b, l.a.side, u.key, REGION_AT, 0, 100);
    post_invalidate(&l, u.key);
    expect_completion(&l.b.send_cq, VCX_CQE_REQUESTER);
    const uint8_t *entry = expect_completion(&l.a.receive_cq, VCX_CQE_SEND_INVALIDATE);
    assert_int_equal(vcx_be32(entry + VCX_CQE_IMMEDIATE), u.key);
    change_well(l.pair, &l.a, &u); /* free again */
    post_invalidate(&l, u.key);
    expect_completion(&l.b.send_cq, VCX_CQE_REQUESTER);
    peer_is_refused(l.pair, &l.b, u.key, REGION_AT);
    pair_close(l.pair);
}

static void a_peer_gives_up_only_what_was_lent(void **state)
{
    enum { UNKNOWN, VARIANT, NOT_LENT, FREE, FOREIGN, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct link l = open_kernel();
        struct side *s = l.a.side;
        const struct new_key k = {
            .in_use = i != FREE, .lent = i != NOT_LENT, .pd = i == FOREIGN ? new_pd(s) : s->pd};
        uint32_t key = key_create(s, &k);
        uint8_t before[64], after[64];
        key_query(s, key, before);
        post_invalidate(&l, i == UNKNOWN ? 0xfff00011 : i == VARIANT ? key ^ 1 : key);
        expect_error(&l.b.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_REMOTE_ACCESS);
        expect_error(&l.a.receive_cq, VCX_CQE_RESPONDER_ERROR, VCX_LOCAL_ACCESS);
        assert_int_equal(qp_state(&l.a), VCX_QP_ERROR);
        key_query(s, key, after);
        assert_memory_equal(before, after, 64);
        pair_close(l.pair);
    }
}

/* ---- memory windows of users */

static uint32_t window_new(struct side *s, int type)
{
    return key_create(s, &(struct new_key){.mode = OF_PARTS, .units = 4, .pd = s->pd, .lent = type == 2});
}

static uint32_t variant(uint32_t key)
{
    return (key & ~0xffu) | 0x22;
}

static void a_window_is_bound_to_its_queue_pair(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct link other = {.pair = l.pair};
    other.a = qp_create_of(l.a.side, &usual);
    other.b = qp_create_of(l.b.side, &usual);
    qps_connect(&other.a, &other.b, &usual);
    uint32_t key = window_new(l.a.side, 2);
    struct umr bind = window_bind(&l.a, key, 2, 8192), unbind = window_bind(&l.a, variant(key), 2, 0);
    change_well(l.pair, &l.a, &bind);
    peer_uses(l.pair, &l.b, l.a.side, variant(key), DATA_AT + 5000, 5000, 7000);
    peer_is_refused(l.pair, &other.b, variant(key), DATA_AT + 5000);
    change_well(l.pair, &l.a, &unbind);
    peer_is_refused(l.pair, &l.b, variant(key), DATA_AT + 5000);
    pair_close(l.pair);
}

static void a_window_of_type_1_is_bound_again(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    uint32_t key = window_new(l.a.side, 1);
    struct umr bind = window_bind(&l.a, key, 1, 8192), unbind = window_bind(&l.a, variant(key), 1, 0);
    change_well(l.pair, &l.a, &bind);
    bind = window_bind(&l.a, variant(key), 1, 100);
    change_well(l.pair, &l.a, &bind);
    peer_uses(l.pair, &l.b, l.a.side, variant(key), DATA_AT + 4096, 4096, 100);
    change_well(l.pair, &l.a, &unbind);
    peer_is_refused(l.pair, &l.b, variant(key), DATA_AT + 4096);
    pair_close(l.pair);
}

/* A window's writes need the right to write of the key below. */
static void a_window_gives_no_more_than_the_key_below(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct side *s = l.a.side;
    struct umr bind = window_bind(&l.a, window_new(s, 2), 2, 8192);
    uint32_t below = key_create(
        s, &(struct new_key){.mode = OF_PARTS, .units = 4, .pd = s->pd, .in_use = true, .bytes = 8192});
    put_part(bind.inlined, 8192, below, 0); /* reads only */
    change_well(l.pair, &l.a, &bind);
    peer_is_refused(l.pair, &l.b, variant(bind.key), DATA_AT + 4096);
    pair_close(l.pair);
}

/* ---- keys within keys */

/* A key over `below`, as large as it and at the same address. */
static uint32_t key_over(struct link *l, uint32_t below)
{
    struct umr u = fast_registration(fast_key(l->a.side, OF_PARTS, 4));
    put_part(u.inlined, 4096, below ? below : u.key, DATA_AT);
    vcx_set(u.context, mkc, log_page_size, 0);
    vcx_set(u.context, mkc, start_addr, DATA_AT);
    vcx_set(u.context, mkc, len, 4096);
    change_well(l->pair, &l->a, &u);
    return u.key;
}

static void keys_are_within_keys_up_to_a_depth(void **state)
{
    (void)state;
    struct link l = open_kernel();
    uint32_t key = l.a.side->key;
    for (int i = 0; i < VCX_KEY_DEPTH; i++) {
        key = key_over(&l, key);
        peer_uses(l.pair, &l.b, l.a.side, key, DATA_AT + 10, 10, 2000);
    }
    key = key_over(&l, key);
    peer_is_refused(l.pair, &l.b, key, DATA_AT + 10);
    pair_close(l.pair);
}

static void a_key_of_itself_translates_to_nothing(void **state)
{
    (void)state;
    struct link l = open_kernel();
    peer_is_refused(l.pair, &l.b, key_over(&l, 0), DATA_AT);
    pair_close(l.pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(regions_are_registered_and_revoked),
        TEST(access_of_a_region_is_changed),
        TEST(pages_are_taken_away_during_traffic),
        TEST(the_drivers_queue_pair_recovers),
        TEST(fast_registration_and_local_invalidation),
        TEST(a_fast_registered_key_has_its_new_variant_only),
        TEST(a_registration_ends_where_its_length_does),
        TEST(lists_are_written_in_whole_blocks),
        TEST(longer_lists_are_pointed_to),
        TEST(gaps_are_registered),
        TEST(a_key_is_kept_for_what_was_asked_before),
        TEST(a_peer_gives_a_key_up),
        TEST(a_peer_gives_up_only_what_was_lent),
        TEST(a_window_is_bound_to_its_queue_pair),
        TEST(a_window_of_type_1_is_bound_again),
        TEST(a_window_gives_no_more_than_the_key_below),
        TEST(keys_are_within_keys_up_to_a_depth),
        TEST(a_key_of_itself_translates_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
