/* Work requests that change memory keys, as mlx5_ib (umr.c, wr.c) and libmlx5 (qp.c) write them. */
#ifndef VCX_TEST_UMR_H
#define VCX_TEST_UMR_H

#include "virtual-connectx/tests/unit/vcx_pair.h"

/* mlx5's MLX5_MKEY_MASK_* */
#define M_LEN     (1ull << 0)
#define M_PAGE    (1ull << 1)
#define M_START   (1ull << 6)
#define M_PD      (1ull << 7)
#define M_RINVAL  (1ull << 8)
#define M_KEY     (1ull << 13)
#define M_QPN     (1ull << 14)
#define M_LOCAL   (1ull << 17 | 1ull << 18)
#define M_REMOTE  (1ull << 19 | 1ull << 20)
#define M_ATOMIC  (1ull << 21)
#define M_SMALL   (1ull << 23)
#define M_FREE    (1ull << 29)
#define M_WINDOW  (M_LEN | M_START | 1ull << 18 | M_REMOTE | M_ATOMIC | M_KEY | M_FREE)
#define M_FAST    (M_LEN | M_PAGE | M_START | M_RINVAL | M_KEY | M_LOCAL | M_REMOTE | M_SMALL | M_FREE)
#define M_REGION  (M_KEY | M_FREE | M_LOCAL | M_REMOTE | M_ATOMIC | M_PD | M_LEN | M_PAGE | M_START)
#define ANY_QP    0xffffff
#define REGION_AT 0x5500000000ull /* where a registered region begins */
#define LIST_PAGE 23              /* of the data: lists that requests point to */

enum mode { OF_ALL, OF_PAGES, OF_PARTS };

/* A request. Its list stands in it (`inlined`, units of 16 bytes), or where a data segment points to. */
struct umr {
    uint32_t key;
    uint8_t flags;
    uint64_t mask;
    uint16_t units;
    uint64_t offset;
    uint8_t context[64];
    uint8_t inlined[64];
    uint32_t inlined_bytes;
    uint32_t list_key, list_bytes;
    uint64_t list_at;
    uint32_t short_by; /* bytes that are missing at its end */
};

static inline void post_umr(struct qp *qp, const struct umr *u)
{
    uint8_t wqe[1024] = {0}, *at = wqe + 16 + 48 + 64;
    wqe[3] = 0x25;
    wqe[11] = 2 << 2;
    vcx_put32(wqe + 12, u->key);
    wqe[16] = u->flags;
    vcx_put16(wqe + 20, u->units);
    vcx_put16(wqe + 22, (uint16_t)u->offset);
    vcx_put64(wqe + 24, u->mask);
    vcx_put32(wqe + 32, (uint32_t)(u->offset >> 16));
    memcpy(wqe + 64, u->context, 64);
    memcpy(at, u->inlined, u->inlined_bytes);
    at += u->inlined_bytes;
    if (u->list_bytes) {
        vcx_put32(at, u->list_bytes);
        vcx_put32(at + 4, u->list_key);
        vcx_put64(at + 8, u->list_at);
        at += 16;
    }
    qp_put(qp, wqe, at - u->short_by);
}

/* What every field of a new key may be. */
struct new_key {
    enum mode mode;
    uint32_t units; /* room of its list */
    uint32_t pd;
    bool fixed, in_use, lent;
    uint64_t bytes;
};

static inline uint32_t key_create(struct side *s, const struct new_key *k)
{
    uint8_t *context = vcx_at(s->in, create_mkey_in, memory_key_mkey_entry);
    vcx_set(context, mkc, free, !k->in_use);
    vcx_set(context, mkc, umr_en, !k->fixed);
    vcx_set(context, mkc, access_mode_1_0, k->mode);
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, lw, k->mode == OF_ALL);
    vcx_set(context, mkc, qpn, ANY_QP);
    vcx_set(context, mkc, mkey_7_0, 0x11);
    vcx_set(context, mkc, log_page_size, k->mode == OF_PAGES ? 12 : 0);
    vcx_set(context, mkc, length64, k->mode == OF_ALL);
    vcx_set(context, mkc, en_rinval, k->lent);
    vcx_set(context, mkc, pd, k->pd);
    vcx_set(context, mkc, len, k->bytes);
    vcx_set(context, mkc, translations_octword_size, k->units);
    side_ok(s, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt), 16);
    return (uint32_t)vcx_get(s->out, create_mkey_out, mkey_index) << 8 | 0x11;
}

static inline void key_query(struct side *s, uint32_t key, uint8_t *context)
{
    vcx_set(s->in, query_mkey_in, mkey_index, key >> 8);
    side_ok(s, 0x201, 16, vcx_offset(query_mkey_out, memory_key_mkey_entry) + 64);
    memcpy(context, vcx_at(s->out, query_mkey_out, memory_key_mkey_entry), 64);
}

/* Pages of the data, from its first on, as a list. */
static inline void put_pages(uint8_t *list, int first, int count)
{
    for (int i = 0; i < count; i++)
        vcx_put64(list + 8 * i, SIDE_PAGE_AT(SIDE_DATA + first + i) | 3);
}

static inline void put_part(uint8_t *list, uint32_t bytes, uint32_t key, uint64_t address)
{
    vcx_put32(list, bytes);
    vcx_put32(list + 4, key);
    vcx_put64(list + 8, address);
}

static inline void set_rights(uint8_t *context, bool write)
{
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, lw, write);
    vcx_set(context, mkc, rr, 1);
    vcx_set(context, mkc, rw, write);
    vcx_set(context, mkc, qpn, ANY_QP);
}

/* IB_WR_REG_MR of four pages of the data, with a new variant of the key. */
static inline struct umr fast_registration(uint32_t key)
{
    struct umr u = {.key = (key & ~0xffu) | 0x12,
                    .flags = VCX_CHANGE_FREE | VCX_CHANGE_INLINE,
                    .mask = M_FAST,
                    .units = 4,
                    .inlined_bytes = 64};
    set_rights(u.context, true);
    vcx_set(u.context, mkc, umr_en, 1);
    vcx_set(u.context, mkc, en_rinval, 1);
    vcx_set(u.context, mkc, mkey_7_0, 0x12);
    vcx_set(u.context, mkc, log_page_size, 12);
    vcx_set(u.context, mkc, start_addr, REGION_AT);
    vcx_set(u.context, mkc, len, 4 * VCX_PAGE_BYTES);
    memset(u.inlined, 0xee, sizeof u.inlined); /* what stood in the queue before */
    put_pages(u.inlined, 0, 4);
    return u;
}

/* IB_WR_LOCAL_INV */
static inline struct umr local_invalidation(uint32_t key)
{
    struct umr u = {.key = key, .flags = VCX_CHANGE_INLINE, .mask = M_FREE};
    vcx_set(u.context, mkc, free, 1);
    return u;
}

/* libmlx5's window over a part of the function's data; no bytes: unbound. */
static inline struct umr window_bind(const struct qp *qp, uint32_t key, int type, uint32_t bytes)
{
    struct umr u = {.key = key,
                    .flags = VCX_CHANGE_OFFSET | VCX_CHANGE_INLINE,
                    .mask = bytes ? M_WINDOW : M_KEY | M_FREE};
    vcx_set(u.context, mkc, mkey_7_0, 0x22);
    vcx_set(u.context, mkc, qpn, type == 2 && bytes ? qp->id : ANY_QP);
    u.mask |= type == 2 ? M_QPN : 0;
    if (!bytes) {
        u.flags |= type == 2 ? VCX_CHANGE_OWN : 0;
        vcx_set(u.context, mkc, free, 1);
        return u;
    }
    u.flags |= type == 2 ? VCX_CHANGE_FREE : 0;
    u.units = 4;
    u.inlined_bytes = 64;
    vcx_set(u.context, mkc, rr, 1);
    vcx_set(u.context, mkc, rw, 1);
    vcx_set(u.context, mkc, start_addr, DATA_AT + VCX_PAGE_BYTES);
    vcx_set(u.context, mkc, len, bytes);
    put_part(u.inlined, bytes, qp->side->key, DATA_AT + VCX_PAGE_BYTES);
    return u;
}

/* ---- what is expected */

static inline void change_well(struct pair *pair, struct qp *qp, const struct umr *u)
{
    post_umr(qp, u);
    pair_run(pair);
    const uint8_t *entry = expect_completion(&qp->send_cq, VCX_CQE_REQUESTER);
    assert_int_equal(vcx_be32(entry + VCX_CQE_OPCODE_QPN), 0x25000000 | qp->id);
}

static inline void change_badly(struct pair *pair, struct qp *qp, const struct umr *u, uint8_t syndrome)
{
    post_umr(qp, u);
    pair_run(pair);
    expect_error(&qp->send_cq, VCX_CQE_REQUESTER_ERROR, syndrome);
    assert_int_equal(qp_state(qp), VCX_QP_ERROR);
}

/* The peer writes and reads through a key, at an address that is at `offset` of the function's data. */
static inline void peer_uses(struct pair *pair, struct qp *peer, struct side *s, uint32_t key,
                             uint64_t address, uint32_t offset, uint32_t bytes)
{
    static const uint8_t opcodes[] = {0x08, 0x10};
    for (int i = 0; i < 2; i++) {
        side_fill(s, offset, bytes, 3);
        side_fill(peer->side, PEERS, bytes, 5);
        qp_post(peer, &(struct work){.opcode = opcodes[i],
                                     .offset = PEERS,
                                     .bytes = bytes,
                                     .remote_address = address,
                                     .remote_key = key});
        pair_run(pair);
        expect_completion(&peer->send_cq, VCX_CQE_REQUESTER);
        assert_memory_equal(side_data(s) + offset, side_data(peer->side) + PEERS, bytes);
    }
}

static inline void peer_is_refused(struct pair *pair, struct qp *peer, uint32_t key, uint64_t address)
{
    qp_post(peer, &(struct work){.opcode = 0x08, .bytes = 8, .remote_address = address, .remote_key = key});
    pair_run_ms(pair, 3); /* a card is silent for a while */
    expect_error(&peer->send_cq, VCX_CQE_REQUESTER_ERROR, VCX_REMOTE_ACCESS);
}

static const struct qp_options kernel = {.type = VCX_QP_RC, .log_reads = 2, .kernel = true};

/* Queue pair `a` changes keys of its function, which `b` uses. */
static inline struct link open_kernel(void)
{
    return link_open(&kernel);
}

static inline uint32_t new_pd(struct side *s)
{
    side_ok(s, 0x800, 16, 16);
    return (uint32_t)vcx_get(s->out, alloc_pd_out, pd);
}

static inline uint32_t fast_key(struct side *s, enum mode mode, uint32_t units)
{
    return key_create(s, &(struct new_key){.mode = mode, .units = units, .pd = s->pd});
}

#endif
