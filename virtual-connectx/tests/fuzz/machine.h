/*
 * Two functions of the virtual ConnectX on a cable, in a machine whose driver is the fuzzer's input. They are
 * brought up by valid commands; then the input does what it likes with their memory, doorbells, commands and
 * frames.
 */
#ifndef FUZZ_VCX_MACHINE_H
#define FUZZ_VCX_MACHINE_H

#include "virtual-connectx/tests/fuzz/base.h"
#include "virtual-connectx/tests/unit/vcx_pair.h"
#include "virtual-connectx/model/ethernet/flow.h"
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/port/function.h"

/* At a fixed time a poll of the device says that there is more at most so often. */
#define MOST_POLLS  100000
#define MOST_CABLED 1024 /* frames on the cable; the rest is lost */

/* ---- the input, read from its begin; behind its end there are zeros */

struct input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t input_byte(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->at++;
}

static inline uint16_t input_16(struct input *in)
{
    uint16_t high = input_byte(in);
    return (uint16_t)(high << 8 | input_byte(in));
}

static inline uint32_t input_32(struct input *in)
{
    uint32_t high = input_16(in);
    return high << 16 | input_16(in);
}

static inline uint32_t input_bytes(struct input *in, uint8_t *to, uint32_t most)
{
    uint32_t bytes = (uint32_t)vcx_least(most, in->left);
    memcpy(to, in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    return bytes;
}

/* ---- the machine */

enum { LINKS = 3, LINK_RC = 0, LINK_UC = 1, LINK_UD = 2, SQ_STRIDES = 64 };

/* An Ethernet function: a send queue, a receive queue, and what steers all frames into it. */
struct ethernet {
    uint32_t domain, tis, sq, rq, tir, table, group;
    uint8_t *sq_at, *rq_at, *sq_record, *rq_record;
    uint16_t sends;
};

struct machine {
    struct pair pair;
    struct ethernet ethernet[2];
    struct vcx_frames cable[2]; /* to each side */
    struct cq cq[2];
    uint32_t answers[16]; /* numbers that commands gave last */
    uint32_t answered;
    struct qp qp[LINKS][2];
};

static inline void machine_transmit(struct vcx_front *front, struct vcx_frame *frame)
{
    struct side *side = (struct side *)front;
    struct machine *m = (struct machine *)side->pair;
    struct vcx_frames *cable = &m->cable[!side->number];
    if (frame->length > frame->room)
        abort();
    if (cable->count < MOST_CABLED)
        vcx_frames_put(cable, frame);
    else
        vcx_release(frame);
}

/* What the model asks for lies in one page. */
static inline void *machine_memory(struct vcx_front *front, uint64_t address, uint32_t bytes,
                                   enum vcx_use use)
{
    if (!bytes || (address % VCX_PAGE_BYTES) + bytes > VCX_PAGE_BYTES)
        abort();
    return front_memory(front, address, bytes, use);
}

static inline void machine_interrupt(struct vcx_front *front, uint16_t vector)
{
    front->interrupts[vector % 16]++;
}

static const struct vcx_front_ops machine_ops = {.memory = machine_memory,
                                                 .bar_read = front_read,
                                                 .bar_write = front_write,
                                                 .now_ns = front_now,
                                                 .interrupt = machine_interrupt,
                                                 .transmit = machine_transmit,
                                                 .log = front_log};

/* ---- Ethernet */

static inline uint32_t made_by(struct side *s, uint16_t opcode, uint32_t in_bytes)
{
    side_ok(s, opcode, in_bytes, 16);
    return (uint32_t)vcx_get(s->out, alloc_pd_out, pd);
}

static inline uint8_t *ethernet_queue(struct side *s, uint32_t cq, int page, uint32_t record,
                                      uint32_t log_size)
{
    uint8_t *context = vcx_at(s->in, create_sq_in, ctx), *wq = vcx_at(context, sqc, wq);
    vcx_set(context, sqc, cqn, cq);
    vcx_set(context, sqc, flush_in_error_en, 1);
    vcx_set(wq, wq, wq_type, 1);
    vcx_set(wq, wq, pd, s->pd);
    vcx_set(wq, wq, dbr_addr, SIDE_PAGE_AT(RECORDS) + record);
    vcx_set(wq, wq, log_wq_stride, 6);
    vcx_set(wq, wq, log_wq_sz, log_size);
    vcx_put64(vcx_at(wq, wq, pas), SIDE_PAGE_AT(page));
    return context;
}

enum { QUEUE_BYTES = 32 + VCX_WQ_CONTEXT_BYTES + 8, MODIFY_QUEUE_BYTES = 32 + VCX_WQ_CONTEXT_BYTES };

static inline void ethernet_queues(struct side *s, struct ethernet *e, uint32_t cq)
{
    int sq_page = side_take_pages(s, 1), rq_page = side_take_pages(s, 1);
    uint32_t sq_record = side_take_record(s), rq_record = side_take_record(s);
    uint8_t *context = ethernet_queue(s, cq, sq_page, sq_record, 6);
    vcx_set(context, sqc, tis_lst_sz, 1);
    vcx_set(context, sqc, tis_num_0, e->tis);
    e->sq = made_by(s, 0x904, QUEUE_BYTES);
    ethernet_queue(s, cq, rq_page, rq_record, 4);
    e->rq = made_by(s, 0x908, QUEUE_BYTES);
    vcx_set(s->in, modify_sq_in, sqn, e->sq);
    vcx_set(vcx_at(s->in, modify_sq_in, ctx), sqc, state, 1);
    side_ok(s, 0x905, MODIFY_QUEUE_BYTES, 16);
    vcx_set(s->in, modify_rq_in, rqn, e->rq);
    vcx_set(vcx_at(s->in, modify_rq_in, ctx), rqc, state, 1);
    side_ok(s, 0x909, MODIFY_QUEUE_BYTES, 16);
    e->sq_at = side_page(s, sq_page);
    e->rq_at = side_page(s, rq_page);
    e->sq_record = side_page(s, RECORDS) + sq_record;
    e->rq_record = side_page(s, RECORDS) + rq_record;
}

/* All frames go to one receive queue. */
static inline void ethernet_steering(struct side *s, struct ethernet *e)
{
    uint8_t *context = vcx_at(s->in, create_tir_in, ctx);
    vcx_set(context, tirc, inline_rqn, e->rq);
    vcx_set(context, tirc, transport_domain, e->domain);
    e->tir = made_by(s, 0x900, 32 + VCX_TIR_CONTEXT_BYTES);
    vcx_set(vcx_at(s->in, create_flow_table_in, flow_table_context), flow_table_context, log_size, 4);
    e->table = made_by(s, 0x930, 64);
    vcx_set(s->in, destroy_flow_table_in, table_id, e->table);
    vcx_set(s->in, create_flow_group_in, end_flow_index, 15);
    side_ok(s, 0x933, 1024, 16);
    e->group = (uint32_t)vcx_get(s->out, create_flow_group_out, group_id);
    context = vcx_at(s->in, set_fte_in, flow_context);
    vcx_set(s->in, destroy_flow_table_in, table_id, e->table);
    vcx_set(context, flow_context, group_id, e->group);
    vcx_set(context, flow_context, action, VCX_FLOW_FORWARD);
    vcx_set(context, flow_context, destination_list_size, 1);
    vcx_put32(vcx_at(context, flow_context, destination), 2u << 24 | e->tir);
    side_ok(s, 0x936, 64 + 768 + 8, 16);
    vcx_set(s->in, set_flow_table_root_in, table_id, e->table);
    side_ok(s, 0x92f, 64, 16);
}

static inline void ethernet_open(struct side *s, struct ethernet *e, uint32_t cq)
{
    e->domain = made_by(s, 0x816, 16);
    vcx_set(vcx_at(s->in, create_tis_in, ctx), tisc, transport_domain, e->domain);
    e->tis = made_by(s, 0x912, 32 + 160);
    ethernet_queues(s, e, cq);
    ethernet_steering(s, e);
}

/* A receive entry of one piece. */
static inline void ethernet_post_receives(struct side *s, struct ethernet *e)
{
    for (uint32_t i = 0; i < 16; i++) {
        vcx_put32(e->rq_at + 64 * i, 2048);
        vcx_put32(e->rq_at + 64 * i + 4, s->key);
        vcx_put64(e->rq_at + 64 * i + 8, DATA_AT + 2048 * i);
        vcx_put32(e->rq_at + 64 * i + 20, 0x100);
    }
    vcx_put32(e->rq_record, vcx_be32(e->rq_record) + 16);
}

/* A message with 18 bytes of header inline and one piece of data. */
static inline uint8_t *ethernet_post(struct side *s, struct ethernet *e, uint8_t opcode, uint32_t offset,
                                     uint32_t bytes)
{
    uint8_t *wqe = e->sq_at + 64 * (e->sends % SQ_STRIDES);
    memset(wqe, 0, 64);
    wqe[3] = opcode;
    wqe[7] = 4;
    wqe[11] = 8;
    vcx_put16(wqe + 28, 18);
    side_mac(!s->number, wqe + 30);
    side_mac(s->number, wqe + 36);
    wqe[42] = 8;
    vcx_put32(wqe + 48, bytes);
    vcx_put32(wqe + 52, s->key);
    vcx_put64(wqe + 56, DATA_AT + offset);
    vcx_put32(e->sq_record + 4, ++e->sends);
    return wqe;
}

/* ---- begin, time, end */

enum { BAR_PAGES = VCX_UAR_FIRST + 4 }; /* what driver and device use */

static inline uint8_t *own_pages(void *at, size_t pages)
{
    return fuzz_vcx_own(at, pages * VCX_PAGE_BYTES, pages * VCX_PAGE_BYTES);
}

/* The driver's memory, mapped once: each page lies between two guards for the device. */
static inline void machine_map(struct vcx_front *front, int number)
{
    static struct vcx_front mapped[2];
    if (!mapped[number].memory)
        front_map_memory(&mapped[number]);
    *front = (struct vcx_front){.memory = own_pages(mapped[number].memory, PAGES),
                                .devices_memory = mapped[number].devices_memory,
                                .bar = own_pages(NULL, BAR_PAGES),
                                .now_ns = 1000000000};
}

static inline void machine_side(struct machine *m, int number)
{
    struct side *s = &m->pair.side[number];
    struct vcx_configuration own = front_configuration;
    own.cable_ns = 100;
    machine_map(&s->front, number);
    side_start(&m->pair, number, own, &machine_ops);
    m->cq[number] = cq_create(s);
    ethernet_open(s, &m->ethernet[number], m->cq[number].id);
}

static inline void *machine_make(void)
{
    static const struct qp_options kinds[LINKS] = {
        {.type = VCX_QP_RC, .log_reads = 2}, {.type = VCX_QP_UC}, {.type = VCX_QP_UD}};
    struct machine *m = fuzz_vcx_own(NULL, sizeof *m, offsetof(struct machine, qp));
    for (int i = 0; i < 2; i++)
        machine_side(m, i);
    for (int kind = 0; kind < LINKS; kind++) {
        for (int i = 0; i < 2; i++)
            m->qp[kind][i] = qp_create_of(&m->pair.side[i], &kinds[kind]);
        qps_connect(&m->qp[kind][0], &m->qp[kind][1], &kinds[kind]);
    }
    return m;
}

static inline struct machine *machine_open(void)
{
    return fuzz_vcx_begin(machine_make);
}

static inline void poll_side(struct side *s)
{
    for (int polls = 0; vcx_device_poll(&s->device); polls++)
        if (polls > MOST_POLLS)
            abort();
}

/* Time goes on; both do what they have to, and each gets what was on the cable. */
static inline void machine_step(struct machine *m, uint64_t ns)
{
    for (int i = 0; i < 2; i++) {
        struct side *s = &m->pair.side[i];
        s->front.now_ns += ns;
        struct vcx_frames arrived = m->cable[i];
        m->cable[i] = (struct vcx_frames){0};
        for (struct vcx_frame *frame; (frame = vcx_frames_take(&arrived));)
            vcx_receive(&s->device, frame);
        poll_side(s);
    }
}

/* Steps of a time that the input says: up to 15 of 16 ns to half a second. */
static inline void machine_steps(struct machine *m, struct input *in)
{
    uint8_t how = input_byte(in);
    for (int i = 0; i < how % 16; i++)
        machine_step(m, 16ull << (how / 16 * 5 / 3));
}

/* What comes of it at the end: time for time-outs, and nothing is held when the devices have stopped. */
static inline void machine_close(struct machine *m)
{
    fuzz_vcx_fail(0);
    for (uint64_t ns = 1000; ns < 10000000000; ns *= 3)
        machine_step(m, ns);
    for (int i = 0; i < 2; i++)
        vcx_device_stop(&m->pair.side[i].device);
    for (int i = 0; i < 2; i++)
        vcx_frames_drop(&m->cable[i]);
    if (fuzz_vcx_allocated() != 0)
        abort();
}

/* ---- what a driver does, with what the input says in the place of anything */

/* A number of what was created, or any. */
static inline uint32_t input_number(struct machine *m, int side, struct input *in)
{
    const struct side *s = &m->pair.side[side];
    const struct ethernet *e = &m->ethernet[side];
    const uint32_t known[] = {s->pd,
                              s->eq,
                              s->key >> 8,
                              s->key,
                              s->counters,
                              m->cq[side].id,
                              e->domain,
                              e->tis,
                              e->sq,
                              e->rq,
                              e->tir,
                              e->table,
                              e->group,
                              m->qp[0][side].id,
                              m->qp[1][side].id,
                              m->qp[2][side].id};
    uint8_t which = input_byte(in);
    if (which >= 240)
        return m->answers[which % 16];
    return which < VCX_COUNT(known) ? known[which] : which < 128 ? which - 16u : input_32(in);
}

/* Some 32-bit words of a structure become what the input says. */
static inline void edit_words(struct machine *m, int side, struct input *in, uint8_t *at, uint32_t bytes)
{
    for (int edits = input_byte(in) % 8; edits && bytes >= 4; edits--) {
        uint8_t *word = at + input_byte(in) % (bytes / 4) * 4;
        uint8_t how = input_byte(in);
        uint32_t number = input_number(m, side, in);
        if (how % 4 == 0)
            vcx_put32(word, number);
        else if (how % 4 == 1)
            vcx_put32(word, (vcx_be32(word) & 0xff000000) | (number & 0xffffff));
        else if (how % 4 == 2)
            word[how / 4 % 4] = (uint8_t)number;
        else
            word[how / 4 % 4] ^= (uint8_t)(1u << (number % 8));
    }
}

/* A send request of a queue pair, with edits of its memory before the doorbell. */
static inline void post_work(struct machine *m, int side, struct input *in)
{
    static const uint8_t opcodes[16] = {0x0a, 0x08, 0x10, 0x11, 0x12, 0x0b, 0x09, 0x01,
                                        0x00, 0x0a, 0x08, 0x10, 0x25, 0x0e, 0x0a, 0x08};
    uint8_t what = input_byte(in), how = input_byte(in);
    struct qp *qp = &m->qp[what % LINKS][side], *other = &m->qp[what % LINKS][!side];
    struct work w = {.opcode = opcodes[what >> 4],
                     .bytes = input_16(in),
                     .offset = how & 1 ? OWN : RECEIVE,
                     .remote_offset = PEERS,
                     .remote_key = other->side->key,
                     .immediate = 7,
                     .remote_qpn = other->id,
                     .remote_side = how & 2 ? side : !side,
                     .unsignaled = how & 4,
                     .solicited = how & 8,
                     .fence = how & 16,
                     .inlined = how & 32};
    w.bytes = w.inlined ? w.bytes % 128 : w.bytes;
    uint8_t *wqe = qp->sq + (size_t)64 * (qp->sends % SQ_BLOCKS);
    qp_post(qp, &w);
    edit_words(m, side, in, wqe, qp->sends % SQ_BLOCKS < SQ_BLOCKS - 1 ? 128 : 64);
}

static inline void post_receive(struct machine *m, int side, struct input *in)
{
    uint8_t what = input_byte(in);
    struct qp *qp = &m->qp[what % LINKS][side];
    uint8_t *wqe = qp->rq + (size_t)64 * (qp->receives % RQ_STRIDES);
    qp_post_receive(qp, RECEIVE, input_16(in));
    edit_words(m, side, in, wqe, 64);
}

/* Messages of an Ethernet queue, or receive entries for it. */
static inline void post_ethernet(struct machine *m, int side, struct input *in)
{
    struct side *s = &m->pair.side[side];
    struct ethernet *e = &m->ethernet[side];
    uint8_t what = input_byte(in);
    if (what % 4 == 0) {
        ethernet_post_receives(s, e);
        edit_words(m, side, in, e->rq_at, 1024);
    } else {
        uint32_t offset = input_16(in) % 4096, bytes = input_16(in);
        uint8_t *wqe = ethernet_post(s, e, what & 4 ? 0x0e : 0x0a, offset, bytes);
        edit_words(m, side, in, wqe, 64);
    }
}

#endif
