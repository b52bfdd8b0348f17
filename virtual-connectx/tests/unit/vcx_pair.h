/* The two functions' queue pairs, completion queues, and work requests in memory. */
#ifndef VCX_TEST_PAIR_H
#define VCX_TEST_PAIR_H

#include "virtual-connectx/tests/unit/vcx_sides.h"

struct cq {
    struct side *side;
    uint32_t id, consumer;
    uint8_t *entries, *record;
};

struct qp {
    struct side *side;
    uint32_t id;
    uint8_t type;
    uint8_t *rq, *sq, *record;
    uint16_t receives, sends;
    struct cq send_cq, receive_cq;
};

/* ---- completion queues */

static inline struct cq cq_create(struct side *s)
{
    int page = side_take_pages(s, 1);
    uint32_t record = side_take_record(s);
    uint8_t *context = vcx_at(s->in, create_cq_in, cq_context);
    vcx_set(context, cqc, log_cq_size, 6);
    vcx_set(context, cqc, c_eqn_or_apu_element, s->eq);
    vcx_set(context, cqc, dbr_addr, SIDE_PAGE_AT(RECORDS) + record);
    vcx_put64(vcx_at(s->in, create_cq_in, pas), SIDE_PAGE_AT(page));
    side_ok(s, 0x400, vcx_offset(create_cq_in, pas) + 8, 16);
    struct cq cq = {s, (uint32_t)vcx_get(s->out, create_cq_out, cqn), 0, side_page(s, page),
                    side_page(s, RECORDS) + record};
    for (int i = 0; i < ENTRIES; i++)
        cq.entries[64 * i + 63] = 0xf1;
    return cq;
}

/* The next completion, or NULL. */
static inline const uint8_t *cq_poll(struct cq *cq)
{
    if (!cq->entries)
        return NULL; /* there is no queue */
    const uint8_t *entry = cq->entries + (size_t)64 * (cq->consumer % ENTRIES);
    if (entry[63] >> 4 == 15 || (entry[63] & 1) != (cq->consumer / ENTRIES & 1))
        return NULL;
    vcx_put32(cq->record, ++cq->consumer & 0xffffff);
    return entry;
}

/* ---- queue pairs */

/* What of a queue pair differs from the usual one. */
struct qp_options {
    uint8_t type;
    uint32_t srq, xrcd;
    bool without_receive;
    bool kernel;                    /* of the driver: it may register memory and use the reserved key */
    uint8_t retry_count, rnr_retry; /* less one; 0: 7, which is for ever at rnr_retry */
    uint8_t log_reads;
    uint8_t ack_timeout;
    uint8_t dscp;
    bool not_its_own; /* of multicast, what it sent itself is not for it */
    uint32_t accl[2]; /* switches of ROCE_ACCL that are on, besides, at each end */
};

enum {
    OUT_OF_ORDER = 1 << 5,
    SELECTIVE = 1 << 6
}; /* adaptive_routing_forced_en, selective_repeat_forced_en */

static inline struct qp qp_create_of(struct side *s, const struct qp_options *o)
{
    int page = side_take_pages(s, 1);
    uint32_t record = side_take_record(s);
    struct qp qp = {.side = s, .type = o->type, .send_cq = cq_create(s), .receive_cq = cq_create(s)};
    uint8_t *c = vcx_at(s->in, create_qp_in, qpc);
    bool own = !o->srq && !o->without_receive && o->type != VCX_QP_XRC;
    vcx_set(c, qpc, st, o->type);
    vcx_set(c, qpc, pd, s->pd);
    vcx_set(c, qpc, block_lb_mc, o->not_its_own);
    vcx_set(c, qpc, rlky, o->kernel);
    vcx_set(c, qpc, fre, o->kernel);
    vcx_set(c, qpc, log_sq_size, 5);
    vcx_set(c, qpc, rq_type, own ? 0 : o->srq ? 1 : 3);
    vcx_set(c, qpc, srqn_rmpn_xrqn, o->srq);
    vcx_set(c, qpc, xrcd, o->xrcd);
    vcx_set(c, qpc, log_rq_size, 4);
    vcx_set(c, qpc, log_rq_stride, 2); /* 64 bytes */
    vcx_set(c, qpc, cqn_snd, qp.send_cq.id);
    vcx_set(c, qpc, cqn_rcv, qp.receive_cq.id);
    vcx_set(c, qpc, user_index, 0x1234);
    vcx_set(c, qpc, counter_set_id, s->counters);
    vcx_set(c, qpc, dbr_addr, SIDE_PAGE_AT(RECORDS) + record);
    vcx_put64(vcx_at(s->in, create_qp_in, pas), SIDE_PAGE_AT(page));
    side_ok(s, 0x500, vcx_offset(create_qp_in, pas) + 8, 16);
    qp.id = (uint32_t)vcx_get(s->out, create_qp_out, qpn);
    qp.rq = side_page(s, page);
    qp.sq = qp.rq + (own ? RQ_STRIDES * 64 : 0);
    qp.record = side_page(s, RECORDS) + record;
    return qp;
}

static inline enum vcx_status qp_modify(const struct qp *qp, uint16_t opcode)
{
    vcx_set(qp->side->in, rst2init_qp_in, qpn, qp->id);
    return side_run(qp->side, opcode, vcx_offset(rst2init_qp_in, qpc) + VCX_QP_CONTEXT_BYTES, 16);
}

static inline uint8_t *modify_context(const struct qp *qp)
{
    return vcx_at(qp->side->in, rst2init_qp_in, qpc);
}

static inline void set_access(uint8_t *c)
{
    vcx_set(c, qpc, rre, 1);
    vcx_set(c, qpc, rwe, 1);
    vcx_set(c, qpc, rae, 1);
    vcx_set(c, qpc, q_key, 0x11111111);
}

/* The address path to a function. */
static inline void set_path(uint8_t *c, int peer, uint8_t dscp)
{
    uint8_t *path = vcx_at(c, qpc, primary_address_path), mac[6];
    side_mac(peer, mac);
    side_gid(peer, vcx_at(path, ads, rgid_rip));
    vcx_set(path, ads, rmac_47_32, vcx_be16(mac));
    vcx_set(path, ads, rmac_31_0, vcx_be32(mac + 2));
    vcx_set(path, ads, dscp, dscp);
}

/* From reset to ready to receive, from queue pair `remote` of function `peer`. */
static inline void qp_receive_from(const struct qp *qp, int peer, uint32_t remote, uint32_t receive_psn,
                                   const struct qp_options *o)
{
    uint8_t *c = modify_context(qp);
    set_access(c);
    vcx_set(c, qpc, counter_set_id, qp->side->counters);
    assert_int_equal(qp_modify(qp, 0x502), VCX_OK);
    set_path(c, peer, o->dscp);
    vcx_set(c, qpc, mtu, 3); /* 1024 */
    vcx_set(c, qpc, log_msg_max, 30);
    vcx_set(c, qpc, remote_qpn, remote);
    vcx_set(c, qpc, next_rcv_psn, receive_psn);
    vcx_set(c, qpc, log_rra_max, 2);
    vcx_set(c, qpc, min_rnr_nak, 12);
    assert_int_equal(qp_modify(qp, 0x503), VCX_OK);
}

/* From reset to ready to send. */
static inline void qp_connect_to(const struct qp *qp, int peer, uint32_t remote, uint32_t send_psn,
                                 uint32_t receive_psn, const struct qp_options *o)
{
    uint8_t *c = modify_context(qp);
    qp_receive_from(qp, peer, remote, receive_psn, o);
    vcx_set(c, qpc, next_send_psn, send_psn);
    vcx_set(c, qpc, log_sra_max, o->log_reads);
    vcx_set(c, qpc, retry_count, o->retry_count ? o->retry_count - 1 : 7);
    vcx_set(c, qpc, rnr_retry, o->rnr_retry ? o->rnr_retry - 1 : 7);
    vcx_set(vcx_at(c, qpc, primary_address_path), ads, ack_timeout, o->ack_timeout ? o->ack_timeout : 14);
    assert_int_equal(qp_modify(qp, 0x504), VCX_OK);
}

static inline void qps_connect(const struct qp *a, const struct qp *b, const struct qp_options *o)
{
    qp_connect_to(a, b->side->number, b->id, FIRST_A, FIRST_B, o);
    qp_connect_to(b, a->side->number, a->id, FIRST_B, FIRST_A, o);
}

static inline uint8_t qp_state(const struct qp *qp)
{
    vcx_set(qp->side->in, query_qp_in, qpn, qp->id);
    side_ok(qp->side, 0x50b, 16, vcx_offset(query_qp_out, qpc) + VCX_QP_CONTEXT_BYTES);
    return (uint8_t)vcx_get(vcx_at(qp->side->out, query_qp_out, qpc), qpc, state);
}

/* ---- work requests */

static inline void qp_post_receive(struct qp *qp, uint32_t offset, uint32_t bytes)
{
    uint8_t *wqe = qp->rq + (size_t)64 * (qp->receives % RQ_STRIDES);
    memset(wqe, 0, 64);
    vcx_put32(wqe, bytes);
    vcx_put32(wqe + 4, qp->side->key);
    vcx_put64(wqe + 8, DATA_AT + offset);
    vcx_put32(wqe + 16 + 4, 0x100);
    vcx_put32(qp->record, ++qp->receives);
}

/* A send request as libmlx5 writes it. */
struct work {
    uint8_t opcode;
    uint32_t offset, bytes; /* own data */
    uint32_t remote_offset, remote_key;
    uint64_t remote_address; /* 0: of remote_offset in the data */
    uint32_t immediate;
    uint64_t swap_add, compare;
    uint32_t xrc_srq, remote_qpn, q_key;
    int remote_side;
    bool unsignaled, solicited, fence, inlined;
    uint32_t
        inlined_ends; /* bytes at the begin, and as many at the end, of the data that stand in the request */
    uint32_t key;     /* own; 0: the function's */
};

static inline uint8_t *put_vector(uint8_t *at, const struct work *w)
{
    vcx_put32(at, w->q_key ? w->q_key : 0x11111111);
    vcx_put32(at + 8, w->remote_qpn | 1u << 31);
    side_mac(w->remote_side, at + 20);
    at[20] |= w->remote_qpn == VCX_MULTICAST_QPN; /* a group's address */
    vcx_put32(at + 28, 1u << 30);
    side_gid(w->remote_side, at + 32);
    return at + 48;
}

static inline uint8_t *put_inlined(uint8_t *at, const struct qp *qp, uint32_t offset, uint32_t bytes)
{
    vcx_put32(at, bytes | 1u << 31);
    memcpy(at + 4, side_data(qp->side) + offset, bytes);
    return at + (bytes + 4 + 15) / 16 * 16;
}

static inline uint8_t *put_data(uint8_t *at, const struct qp *qp, const struct work *w)
{
    uint32_t ends = w->inlined_ends, between = w->bytes - 2 * ends;
    if (w->inlined)
        return put_inlined(at, qp, w->offset, w->bytes);
    if (ends)
        at = put_inlined(at, qp, w->offset, ends);
    if (between) {
        vcx_put32(at, between);
        vcx_put32(at + 4, w->key ? w->key : qp->side->key);
        vcx_put64(at + 8, DATA_AT + w->offset + ends);
        at += 16;
    }
    return ends ? put_inlined(at, qp, w->offset + ends + between, ends) : at;
}

static inline void qp_ring(struct qp *qp, uint16_t blocks)
{
    qp->sends = (uint16_t)(qp->sends + blocks);
    vcx_put32(qp->record + 4, qp->sends);
}

/* Puts a request into the queue; `at` is where it ends. */
static inline void qp_put(struct qp *qp, uint8_t *wqe, const uint8_t *at)
{
    uint32_t units = (uint32_t)(at - wqe) / 16, blocks = (units + 3) / 4;
    vcx_put32(wqe + 4, qp->id << 8 | units);
    for (uint32_t i = 0; i < blocks; i++)
        memcpy(qp->sq + (size_t)64 * ((qp->sends + i) % SQ_BLOCKS), wqe + 64 * i, 64);
    qp_ring(qp, (uint16_t)blocks);
}

static inline void qp_post(struct qp *qp, const struct work *w)
{
    uint8_t wqe[1024] = {0}, *at = wqe + 16;
    wqe[3] = w->opcode;
    wqe[11] = (uint8_t)((w->unsignaled ? 0 : 2 << 2) | (w->solicited ? 2 : 0) | (w->fence ? 2 << 5 : 0));
    vcx_put32(wqe + 12, w->immediate);
    if (qp->type == VCX_QP_UD || qp->type == VCX_QP_GSI)
        at = put_vector(at, w);
    if (qp->type == VCX_QP_XRC) {
        vcx_put32(at, w->xrc_srq);
        at += 16;
    }
    if ((w->opcode & ~1) == 0x08 || (w->opcode >= 0x10 && w->opcode <= 0x12)) {
        vcx_put64(at, w->remote_address ? w->remote_address : DATA_AT + w->remote_offset);
        vcx_put32(at + 8, w->remote_key);
        at += 16;
    }
    if (w->opcode == 0x11 || w->opcode == 0x12) {
        vcx_put64(at, w->swap_add);
        vcx_put64(at + 8, w->compare);
        at += 16;
    }
    qp_put(qp, wqe, put_data(at, qp, w));
}

static inline void side_fill(struct side *s, uint32_t offset, uint32_t bytes, uint32_t seed)
{
    for (uint32_t i = 0; i < bytes; i++)
        side_data(s)[offset + i] = (uint8_t)((i * 31 + seed) >> 3 ^ i ^ seed);
}

/* ---- expectations */

static inline const uint8_t *expect_completion(struct cq *cq, uint8_t opcode)
{
    const uint8_t *entry = cq_poll(cq);
    assert_non_null(entry);
    if (entry[63] >> 4 != opcode)
        fail_msg("completion 0x%x with syndrome 0x%x in place of 0x%x", entry[63] >> 4, entry[55], opcode);
    return entry;
}

static inline void expect_error(struct cq *cq, uint8_t opcode, enum vcx_ending ending)
{
    const uint8_t *entry = expect_completion(cq, opcode);
    assert_int_equal(entry[VCX_CQE_SYNDROME], vcx_endings[ending].syndrome);
    assert_int_equal(entry[VCX_CQE_VENDOR_SYNDROME], vcx_endings[ending].vendor);
}

static inline void expect_none(struct cq *cq)
{
    assert_null(cq_poll(cq));
}

/* ---- two connected queue pairs */

/* places in the data */
enum { OWN = 0, PEERS = 40960, RECEIVE = 81920, MOST = 12288 };

static const struct qp_options usual = {.type = VCX_QP_RC, .log_reads = 2};

/* Two connected queue pairs. */
struct link {
    struct pair *pair;
    struct qp a, b;
};

static inline struct link link_open_with(const struct qp_options *o,
                                         const struct vcx_configuration *configuration)
{
    struct link l = {.pair = pair_open_with(configuration)};
    for (int i = 0; i < 2; i++)
        l.pair->side[i].device.transport->roce_accl |= o->accl[i];
    l.a = qp_create_of(&l.pair->side[0], o);
    l.b = qp_create_of(&l.pair->side[1], o);
    qps_connect(&l.a, &l.b, o);
    return l;
}

static inline struct link link_open(const struct qp_options *o)
{
    return link_open_with(o, &front_configuration);
}

#endif
