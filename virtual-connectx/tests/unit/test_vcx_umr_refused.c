/* Changes of keys by work requests that are refused. */
#include "virtual-connectx/tests/unit/vcx_umr.h"

enum wrong {
    NO_SUCH_KEY,
    STALE_VARIANT,
    NOT_FREE,
    NOT_IN_USE,
    NOT_BOUND,
    FOREIGN_DOMAIN,
    FIXED,
    OTHER_DOMAIN,
    OTHERS_QP,
    SIGNATURE,
    UNKNOWN_FIELD,
    LIST_TOO_LONG,
    OFFSET_BEYOND,
    OFFSET_FAR_BEYOND,
    LENGTH_BEYOND,
    LENGTH_WRAPS,
    SMALL_PAGES,
    LIST_OF_ALL,
    INLINED_TOO_SHORT,
    LIST_TOO_SHORT,
    NO_LIST,
    LIST_UNREADABLE,
    NO_CONTEXT,
    WRONGS
};

static const uint8_t syndromes[WRONGS] = {[INLINED_TOO_SHORT] = VCX_LOCAL_LENGTH,
                                          [LIST_TOO_SHORT] = VCX_LOCAL_LENGTH,
                                          [NO_LIST] = VCX_LOCAL_LENGTH,
                                          [LIST_UNREADABLE] = VCX_LOCAL_PROTECTION,
                                          [NO_CONTEXT] = VCX_LOCAL_OPERATION};

static void point_to_list(struct umr *u, uint32_t key, uint32_t bytes)
{
    u->flags &= (uint8_t)~VCX_CHANGE_INLINE;
    u->inlined_bytes = 0;
    u->list_key = key;
    u->list_bytes = bytes;
    u->list_at = SIDE_PAGE_AT(SIDE_DATA + LIST_PAGE);
}

/* The key that the request changes. */
static struct new_key wrong_key(struct side *s, enum wrong wrong)
{
    return (struct new_key){.mode = wrong == LIST_OF_ALL ? OF_ALL : OF_PAGES,
                            .units = 4,
                            .pd = wrong == FOREIGN_DOMAIN ? new_pd(s) : s->pd,
                            .fixed = wrong == FIXED,
                            .in_use = wrong == NOT_FREE};
}

static void make_wrong(struct umr *u, enum wrong wrong, uint32_t other_qp)
{
    static const struct {
        uint64_t mask;
        uint8_t flags;
        uint16_t units;
        uint64_t offset;
    } changes[WRONGS] = {[NOT_IN_USE] = {.flags = VCX_CHANGE_IN_USE},
                         [NOT_BOUND] = {.flags = VCX_CHANGE_OWN},
                         [OTHER_DOMAIN] = {.mask = M_PD},
                         [OTHERS_QP] = {.mask = M_QPN},
                         [SIGNATURE] = {.mask = 1ull << 12},
                         [UNKNOWN_FIELD] = {.mask = 1ull << 63},
                         [OFFSET_BEYOND] = {.flags = VCX_CHANGE_OFFSET, .offset = 1},
                         [OFFSET_FAR_BEYOND] = {.flags = VCX_CHANGE_OFFSET, .offset = (1ull << 48) - 1},
                         [INLINED_TOO_SHORT] = {.units = 1}};
    u->mask |= changes[wrong].mask;
    u->flags |= changes[wrong].flags;
    u->units = (uint16_t)(u->units + changes[wrong].units);
    u->offset = changes[wrong].offset;
    if (wrong == NO_SUCH_KEY)
        u->key = 0xfff00012;
    if (wrong == STALE_VARIANT)
        u->mask &= ~M_KEY;
    if (wrong == OTHERS_QP)
        vcx_set(u->context, mkc, qpn, other_qp);
    if (wrong == NO_CONTEXT)
        u->short_by = 64 + 16;
}

static void make_list_wrong(struct umr *u, enum wrong wrong)
{
    if (wrong == LIST_TOO_LONG) {
        point_to_list(u, VCX_KEY_RESERVED, 80);
        u->units = 5;
    }
    if (wrong == LIST_TOO_SHORT)
        point_to_list(u, VCX_KEY_RESERVED, 48);
    if (wrong == NO_LIST)
        point_to_list(u, VCX_KEY_RESERVED, 0);
    if (wrong == LIST_UNREADABLE)
        point_to_list(u, 0x12345678, 64);
    if (wrong == LENGTH_BEYOND)
        vcx_set(u->context, mkc, len, 8 * VCX_PAGE_BYTES + 1);
    if (wrong == LENGTH_WRAPS) {
        vcx_set(u->context, mkc, start_addr, UINT64_MAX - 4095);
        vcx_set(u->context, mkc, len, 4097);
    }
    if (wrong == SMALL_PAGES) {
        vcx_set(u->context, mkc, log_page_size, 11);
        vcx_set(u->context, mkc, len, 100);
    }
}

/* The request ends with an error, the queue pair is in error, and the key is as before. */
static void wrong_changes_are_refused(void **state)
{
    (void)state;
    for (enum wrong i = 0; i < WRONGS; i++) {
        struct link l = open_kernel();
        struct new_key k = wrong_key(l.a.side, i);
        uint32_t key = key_create(l.a.side, &k);
        struct umr u = fast_registration(key);
        uint8_t before[64], after[64];
        make_wrong(&u, i, l.a.id + 1);
        make_list_wrong(&u, i);
        key_query(l.a.side, key, before);
        change_badly(l.pair, &l.a, &u, syndromes[i] ? syndromes[i] : VCX_MEMORY_WINDOW_BIND);
        key_query(l.a.side, key, after);
        if (memcmp(before, after, 64) != 0)
            fail_msg("wrong change %d changed the key", (int)i);
        pair_close(l.pair);
    }
}

/* A user's queue pair may not name pages of memory, nor the lists that the reserved key reads. */
static void users_do_not_register_pages(void **state)
{
    (void)state;
    struct link l = link_open(&usual);
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 4));
    change_badly(l.pair, &l.a, &u, VCX_MEMORY_WINDOW_BIND);
    pair_close(l.pair);
    l = link_open(&usual);
    u = fast_registration(fast_key(l.a.side, OF_PARTS, 4));
    point_to_list(&u, VCX_KEY_RESERVED, 64);
    change_badly(l.pair, &l.a, &u, VCX_LOCAL_PROTECTION);
    pair_close(l.pair);
}

/* Only reliable and unreliable connections, and the driver's queue pair, change keys. */
static void datagram_queue_pairs_change_no_keys(void **state)
{
    (void)state;
    static const struct qp_options datagram = {.type = VCX_QP_UD, .kernel = true};
    struct link l = link_open(&datagram);
    struct umr u = fast_registration(fast_key(l.a.side, OF_PAGES, 4));
    post_umr(&l.a, &u);
    pair_run(l.pair);
    expect_error(&l.a.send_cq, VCX_CQE_REQUESTER_ERROR, VCX_LOCAL_OPERATION);
    assert_int_equal(qp_state(&l.a), VCX_QP_SQ_ERROR);
    pair_close(l.pair);
}

/* Lists have a bound when a key is made, and a key of keys a lower one. */
static void keys_with_endless_lists_are_not_made(void **state)
{
    (void)state;
    static const struct {
        enum mode mode;
        uint32_t units;
        enum vcx_status status;
    } lists[] = {{OF_PAGES, 1u << 20, VCX_OK},
                 {OF_PAGES, (1u << 20) + 1, VCX_BAD_PARAMETER},
                 {OF_PAGES, UINT32_MAX, VCX_BAD_PARAMETER},
                 {OF_PARTS, 1u << VCX_LOG_MOST_PARTS, VCX_OK},
                 {OF_PARTS, (1u << VCX_LOG_MOST_PARTS) + 1, VCX_BAD_PARAMETER}};
    struct pair *pair = pair_open();
    struct side *s = &pair->side[0];
    for (size_t i = 0; i < VCX_COUNT(lists); i++) {
        uint8_t *context = vcx_at(s->in, create_mkey_in, memory_key_mkey_entry);
        vcx_set(context, mkc, free, 1);
        vcx_set(context, mkc, umr_en, 1);
        vcx_set(context, mkc, access_mode_1_0, lists[i].mode);
        vcx_set(context, mkc, translations_octword_size, lists[i].units);
        assert_int_equal(side_run(s, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt), 16), lists[i].status);
    }
    pair_close(pair);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wrong_changes_are_refused),
        TEST(users_do_not_register_pages),
        TEST(datagram_queue_pairs_change_no_keys),
        TEST(keys_with_endless_lists_are_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
