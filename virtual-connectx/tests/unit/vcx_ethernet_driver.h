/* A driver of the Ethernet part for tests: commands, queues in memory, frames that were sent and that come
 * in. */
#ifndef VCX_ETHERNET_DRIVER_H
#define VCX_ETHERNET_DRIVER_H

#include "virtual-connectx/tests/unit/vcx_front.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/command/domains.h"
#include "virtual-connectx/model/ethernet/ethernet.h"
#include "virtual-connectx/model/queue/cq.h"
#include "virtual-connectx/model/queue/eq.h"

/* pages of the driver's memory */
enum { EQ_PAGE, SEND_CQ_PAGE, RECEIVE_CQ_PAGE, RECORDS, SQ_PAGE, RQ_PAGE = 8, DATA = 12 };
enum { LOG_CQ = 6, LOG_SQ = 8, LOG_RQ = 4, LOG_RQ_STRIDE = 6, MOST_SENT = 4096, MOST_COMMAND = 4096 };
#define PAGE_AT(page) (MEMORY_AT + (uint64_t)(page)*VCX_PAGE_BYTES)

struct driver {
    struct vcx_front front; /* first: the device knows only this */
    struct vcx_device device;
    uint8_t in[MOST_COMMAND], out[MOST_COMMAND];
    struct vcx_frame *sent[MOST_SENT];
    uint32_t sent_count;
    uint32_t pd, domain, key, send_cq, receive_cq, sends, receives; /* completions seen */
    uint32_t tis, sq;
    uint16_t posted;
};

static inline void keep_frame(struct vcx_front *front, struct vcx_frame *frame)
{
    struct driver *d = (struct driver *)front;
    assert_true(d->sent_count < MOST_SENT);
    d->sent[d->sent_count++] = frame;
}

static inline void forget_frames(struct driver *d)
{
    while (d->sent_count)
        vcx_release(d->sent[--d->sent_count]);
}

static inline uint8_t *page(struct driver *d, int number)
{
    return d->front.memory + (size_t)number * VCX_PAGE_BYTES;
}

/* Runs the command in d->in, which is cleared. */
static inline enum vcx_status run(struct driver *d, uint16_t opcode, uint32_t in_bytes, uint32_t out_bytes)
{
    struct vcx_call call = {&d->device, d->in, d->out, in_bytes, out_bytes};
    vcx_put16(d->in, opcode);
    memset(d->out, 0, sizeof d->out);
    enum vcx_status status = vcx_command_run(&call);
    memset(d->in, 0, sizeof d->in);
    return status;
}

static inline void expect(struct driver *d, enum vcx_status status, uint16_t opcode, uint32_t in_bytes,
                          uint32_t out_bytes)
{
    enum vcx_status got = run(d, opcode, in_bytes, out_bytes);
    if (got != status)
        fail_msg("command 0x%x: status 0x%x, not 0x%x", opcode, got, status);
}

static inline uint32_t made(struct driver *d, uint16_t opcode, uint32_t in_bytes)
{
    expect(d, VCX_OK, opcode, in_bytes, 16);
    return (uint32_t)vcx_get(d->out, alloc_pd_out, pd);
}

/* ---- what queues need */

static inline uint32_t make_cq(struct driver *d, uint32_t eq, int at_page, uint32_t record)
{
    uint8_t *context = vcx_at(d->in, create_cq_in, cq_context);
    vcx_set(context, cqc, log_cq_size, LOG_CQ);
    vcx_set(context, cqc, oi, 1);
    vcx_set(context, cqc, c_eqn_or_apu_element, eq);
    vcx_set(context, cqc, dbr_addr, PAGE_AT(RECORDS) + record);
    vcx_put64(vcx_at(d->in, create_cq_in, pas), PAGE_AT(at_page));
    return made(d, 0x400, vcx_offset(create_cq_in, pas) + 8);
}

static inline uint32_t make_eq(struct driver *d)
{
    vcx_set(vcx_at(d->in, create_eq_in, eq_context_entry), eqc, log_eq_size, 6);
    vcx_set(d->in, create_eq_in, event_bitmask_0, 1 << 5 | 1 << 4);
    vcx_put64(vcx_at(d->in, create_eq_in, pas), PAGE_AT(EQ_PAGE));
    expect(d, VCX_OK, 0x301, vcx_offset(create_eq_in, pas) + 8, 16);
    return (uint32_t)vcx_get(d->out, create_eq_out, eq_number);
}

/* All memory, at its bus addresses. */
static inline uint32_t make_key(struct driver *d)
{
    uint8_t *context = vcx_at(d->in, create_mkey_in, memory_key_mkey_entry);
    vcx_set(context, mkc, length64, 1);
    vcx_set(context, mkc, lr, 1);
    vcx_set(context, mkc, lw, 1);
    vcx_set(context, mkc, pd, d->pd);
    vcx_set(context, mkc, mkey_7_0, 0x42);
    return made(d, 0x200, vcx_offset(create_mkey_in, klm_pas_mtt)) << 8 | 0x42;
}

/* ---- queues */

static inline uint8_t *queue_context(struct driver *d, uint32_t cq, uint32_t record, int at_page,
                                     uint32_t log_size, uint32_t log_stride)
{
    uint8_t *context = vcx_at(d->in, create_sq_in, ctx), *wq = vcx_at(context, sqc, wq);
    vcx_set(context, sqc, cqn, cq);
    vcx_set(context, sqc, user_index, 0x123);
    vcx_set(wq, wq, wq_type, 1);
    vcx_set(wq, wq, pd, d->pd);
    vcx_set(wq, wq, dbr_addr, PAGE_AT(RECORDS) + record);
    vcx_set(wq, wq, log_wq_stride, log_stride);
    vcx_set(wq, wq, log_wq_sz, log_size);
    for (int i = 0; i < 4; i++)
        vcx_put64(vcx_at(wq, wq, pas) + 8 * i, PAGE_AT(at_page + i));
    return context;
}

enum { QUEUE_BYTES = 32 + VCX_WQ_CONTEXT_BYTES + 32, MODIFY_BYTES = 32 + VCX_WQ_CONTEXT_BYTES };

static inline enum vcx_status modify_sq(struct driver *d, uint32_t from, uint32_t to)
{
    vcx_set(d->in, modify_sq_in, sqn, d->sq);
    vcx_set(d->in, modify_sq_in, sq_state, from);
    vcx_set(vcx_at(d->in, modify_sq_in, ctx), sqc, state, to);
    return run(d, 0x905, MODIFY_BYTES, 16);
}

static inline enum vcx_status modify_rq(struct driver *d, uint32_t rq, uint32_t from, uint32_t to)
{
    vcx_set(d->in, modify_rq_in, rqn, rq);
    vcx_set(d->in, modify_rq_in, rq_state, from);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, state, to);
    return run(d, 0x909, MODIFY_BYTES, 16);
}

static inline uint32_t make_tis(struct driver *d, uint32_t priority)
{
    uint8_t *context = vcx_at(d->in, create_tis_in, ctx);
    vcx_set(context, tisc, prio, priority << 1);
    vcx_set(context, tisc, transport_domain, d->domain);
    return made(d, 0x912, 32 + 160);
}

static inline void make_sq(struct driver *d)
{
    uint8_t *context = queue_context(d, d->send_cq, 64, SQ_PAGE, LOG_SQ, 6);
    vcx_set(context, sqc, flush_in_error_en, 1);
    vcx_set(context, sqc, tis_lst_sz, 1);
    vcx_set(context, sqc, tis_num_0, d->tis);
    d->sq = made(d, 0x904, QUEUE_BYTES);
    assert_int_equal(modify_sq(d, 0, 1), VCX_OK);
}

/* The RQ `number` of 0 to 3, ready; tags are kept if `vsd`. */
static inline uint32_t make_rq(struct driver *d, int number, bool vsd)
{
    uint8_t *context =
        queue_context(d, d->receive_cq, 128 + 8 * (uint32_t)number, RQ_PAGE + number, LOG_RQ, LOG_RQ_STRIDE);
    vcx_set(context, rqc, vsd, vsd);
    vcx_set(context, rqc, flush_in_error_en, 1);
    uint32_t rq = made(d, 0x908, QUEUE_BYTES);
    assert_int_equal(modify_rq(d, rq, 0, 1), VCX_OK);
    return rq;
}

static inline uint32_t make_direct_tir(struct driver *d, uint32_t rq)
{
    uint8_t *context = vcx_at(d->in, create_tir_in, ctx);
    vcx_set(context, tirc, inline_rqn, rq);
    vcx_set(context, tirc, transport_domain, d->domain);
    return made(d, 0x900, 32 + VCX_TIR_CONTEXT_BYTES);
}

/* ---- receive entries and completions */

/* A piece of an entry. */
static inline void put_piece(uint8_t *at, uint32_t bytes, uint32_t key, uint64_t address)
{
    vcx_put32(at, bytes);
    vcx_put32(at + 4, key);
    vcx_put64(at + 8, address);
}

/* Where entry `index` of RQ `number` has its memory: 2 KiB each. */
static inline uint8_t *receive_memory(struct driver *d, int number, uint32_t index)
{
    return page(d, DATA + 8 * number) + 2048 * (index % (1 << LOG_RQ));
}

/* Posts all entries of an RQ, each with one piece of `bytes`. */
static inline void post_receives(struct driver *d, int number, uint32_t bytes, uint16_t producer)
{
    for (uint32_t i = 0; i < 1 << LOG_RQ; i++) {
        uint8_t *entry = page(d, RQ_PAGE + number) + (i << LOG_RQ_STRIDE);
        put_piece(entry, bytes, d->key, PAGE_AT(DATA + 8 * number) + 2048 * i);
        put_piece(entry + 16, 0, 0x100, 0);
    }
    vcx_put32(page(d, RECORDS) + 128 + 8 * number, producer);
}

/* The next completion of a queue, or NULL. */
static inline const uint8_t *next_completion(struct driver *d, int at_page, uint32_t *seen)
{
    const uint8_t *entry = page(d, at_page) + 64 * (*seen % (1 << LOG_CQ));
    if (entry[63] >> 4 == 0xf || (entry[63] & 1) != (*seen >> LOG_CQ & 1))
        return NULL;
    (*seen)++;
    return entry;
}

static inline const uint8_t *sent_completion(struct driver *d)
{
    return next_completion(d, SEND_CQ_PAGE, &d->sends);
}

static inline const uint8_t *received(struct driver *d)
{
    return next_completion(d, RECEIVE_CQ_PAGE, &d->receives);
}

static inline void arrive(struct driver *d, const uint8_t *data, uint32_t length)
{
    struct vcx_frame *frame = vcx_frame_new(length);
    assert_non_null(frame);
    memcpy(frame->data, data, length);
    frame->length = length;
    vcx_ethernet_receive(&d->device, frame);
}

/* Polls until nothing moves. */
static inline void poll_device(struct driver *d)
{
    for (int quiet = 0, rounds = 0; quiet < 3 && rounds < 10000; rounds++) {
        d->front.now_ns += 100000;
        quiet = vcx_device_poll(&d->device) ? 0 : quiet + 1;
    }
}

/* ---- steering */

static inline uint32_t make_table(struct driver *d, uint32_t level, uint32_t log_size, uint32_t miss)
{
    uint8_t *context = vcx_at(d->in, create_flow_table_in, flow_table_context);
    vcx_set(context, flow_table_context, level, level);
    vcx_set(context, flow_table_context, log_size, log_size);
    vcx_set(context, flow_table_context, table_miss_action, miss != 0);
    vcx_set(context, flow_table_context, table_miss_id, miss);
    return made(d, 0x930, 64);
}

static inline enum vcx_status set_root(struct driver *d, uint32_t table)
{
    vcx_set(d->in, set_flow_table_root_in, table_id, table);
    return run(d, 0x92f, 64, 16);
}

/* d->in has the mask in match_criteria. */
static inline enum vcx_status try_group(struct driver *d, uint32_t table, uint32_t first, uint32_t last,
                                        uint8_t enable)
{
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, create_flow_group_in, start_flow_index, first);
    vcx_set(d->in, create_flow_group_in, end_flow_index, last);
    vcx_set(d->in, create_flow_group_in, match_criteria_enable, enable);
    return run(d, 0x933, 1024, 16);
}

static inline uint32_t make_group(struct driver *d, uint32_t table, uint32_t first, uint32_t last,
                                  uint8_t enable)
{
    assert_int_equal(try_group(d, table, first, last, enable), VCX_OK);
    return (uint32_t)vcx_get(d->out, create_flow_group_out, group_id);
}

/* What an entry does. */
struct deed {
    uint32_t action, tag;
    uint32_t tables[4], tirs[80], counter;
};

/* d->in has the value in the context's match_value. */
static inline enum vcx_status set_entry(struct driver *d, uint32_t table, uint32_t group, uint32_t index,
                                        const struct deed *deed)
{
    uint8_t *context = vcx_at(d->in, set_fte_in, flow_context),
            *list = vcx_at(context, flow_context, destination);
    uint32_t destinations = 0;
    vcx_set(d->in, destroy_flow_table_in, table_id, table);
    vcx_set(d->in, set_fte_in, flow_index, index);
    vcx_set(context, flow_context, group_id, group);
    vcx_set(context, flow_context, flow_tag, deed->tag);
    vcx_set(context, flow_context, action, deed->action);
    for (int i = 0; i < 4 && deed->tables[i]; i++, destinations++)
        vcx_put32(list + 8 * destinations, 1u << 24 | deed->tables[i]);
    for (int i = 0; i < 80 && deed->tirs[i]; i++, destinations++)
        vcx_put32(list + 8 * destinations, 2u << 24 | deed->tirs[i]);
    vcx_set(context, flow_context, destination_list_size, destinations);
    if (deed->counter)
        vcx_put32(list + 8 * destinations, deed->counter);
    vcx_set(context, flow_context, flow_counter_list_size, deed->counter != 0);
    return run(d, 0x936, 64 + 768 + 8 * (destinations + (deed->counter != 0)), 16);
}

/* A root table that sends every frame to a TIR. */
static inline void catch_all(struct driver *d, uint32_t tir)
{
    struct deed deed = {.action = VCX_FLOW_FORWARD, .tirs = {tir}};
    uint32_t table = make_table(d, 0, 0, 0), group = make_group(d, table, 0, 0, 0);
    assert_int_equal(set_entry(d, table, group, 0, &deed), VCX_OK);
    assert_int_equal(set_root(d, table), VCX_OK);
}

/* ---- frames */

/* A frame from here to there with a payload of rising bytes; returns its length. Checksums are right. */
struct packet {
    uint8_t version, protocol;
    bool tagged;
    uint16_t tci, source_port, destination_port;
    uint32_t payload;
    uint8_t source[16], destination[16];
};

/* A checksum by another computation than the model's: byte by byte, with the carry at once. */
static inline uint16_t reference_sum(uint16_t sum, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t next = sum + (i % 2 ? data[i] : data[i] * 256u);
        sum = (uint16_t)(next > 0xffff ? next - 0xffff : next);
    }
    return sum;
}

/* The sum of TCP or UDP with its pseudo header: 0xffff if it is right. */
static inline uint16_t reference_l4(const uint8_t *ip, uint32_t l4_bytes, uint8_t protocol)
{
    bool v6 = ip[0] >> 4 == 6;
    uint8_t tail[4] = {0, protocol, (uint8_t)(l4_bytes >> 8), (uint8_t)l4_bytes};
    uint16_t sum = reference_sum(0, tail, 4);
    sum = reference_sum(sum, ip + (v6 ? 8 : 12), v6 ? 32 : 8);
    return reference_sum(sum, ip + (v6 ? 40 : 20), l4_bytes);
}

static inline uint32_t write_packet(uint8_t *at, const struct packet *p)
{
    static const uint8_t macs[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 9}; /* none is the device's own */
    uint8_t *ip = at + (p->tagged ? 18 : 14), *l4 = ip + (p->version == 6 ? 40 : 20);
    uint32_t header = p->protocol == 6 ? 20 : 8, l4_bytes = header + p->payload;
    memset(at, 0, (size_t)(l4 - at) + header);
    memcpy(at, macs, 12);
    if (p->tagged) {
        vcx_put16(at + 12, 0x8100);
        vcx_put16(at + 14, p->tci);
    }
    vcx_put16(ip - 2, p->version == 6 ? 0x86dd : 0x0800);
    if (p->version == 6) {
        vcx_put32(ip, 6u << 28 | 0x12345);
        vcx_put16(ip + 4, (uint16_t)l4_bytes);
        ip[6] = p->protocol;
        ip[7] = 64;
        memcpy(ip + 8, p->source, 16);
        memcpy(ip + 24, p->destination, 16);
    } else {
        ip[0] = 0x45;
        vcx_put16(ip + 2, (uint16_t)(20 + l4_bytes));
        vcx_put16(ip + 4, 0x1000);
        ip[8] = 64;
        ip[9] = p->protocol;
        memcpy(ip + 12, p->source, 4);
        memcpy(ip + 16, p->destination, 4);
        vcx_put16(ip + 10, (uint16_t)~reference_sum(0, ip, 20));
    }
    vcx_put16(l4, p->source_port);
    vcx_put16(l4 + 2, p->destination_port);
    for (uint32_t i = 0; i < p->payload; i++)
        l4[header + i] = (uint8_t)(i * 5 + (i >> 8));
    if (p->protocol == 6) {
        vcx_put32(l4 + 4, 0xfffffe00); /* the sequence number wraps soon */
        l4[12] = 5 << 4;
        l4[13] = VCX_TCP_ACK | VCX_TCP_PSH | VCX_TCP_FIN | VCX_TCP_CWR;
        vcx_put16(l4 + 16, (uint16_t)~reference_l4(ip, l4_bytes, 6));
    } else {
        vcx_put16(l4 + 4, (uint16_t)l4_bytes);
        vcx_put16(l4 + 6, (uint16_t)~reference_l4(ip, l4_bytes, p->protocol));
    }
    return (uint32_t)(l4 + l4_bytes - at);
}

static const struct packet tcp4 = {.version = 4,
                                   .protocol = 6,
                                   .source_port = 40000,
                                   .destination_port = 80,
                                   .payload = 100,
                                   .source = {10, 0, 0, 9},
                                   .destination = {10, 0, 0, 1}};
static const struct packet udp4 = {.version = 4,
                                   .protocol = 17,
                                   .source_port = 5000,
                                   .destination_port = 53,
                                   .payload = 61,
                                   .source = {10, 0, 0, 9},
                                   .destination = {10, 0, 0, 1}};

/* The same numbers in each run. */
static inline uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* ---- begin and end */

static inline int start(void **state)
{
    static const struct vcx_front_ops ops = {.memory = front_memory,
                                             .bar_read = front_read,
                                             .bar_write = front_write,
                                             .now_ns = front_now,
                                             .interrupt = front_interrupt,
                                             .transmit = keep_frame,
                                             .log = front_log};
    struct driver *d = calloc(1, sizeof *d);
    assert_non_null(d);
    front_open(&d->front);
    assert_int_equal(vcx_device_start(&d->device, &front_configuration, &d->front, &ops), 0);
    memset(page(d, SEND_CQ_PAGE), 0xff, VCX_PAGE_BYTES);
    memset(page(d, RECEIVE_CQ_PAGE), 0xff, VCX_PAGE_BYTES);
    d->pd = made(d, 0x800, 16);
    d->domain = made(d, 0x816, 16);
    d->key = make_key(d);
    uint32_t eq = make_eq(d);
    d->send_cq = make_cq(d, eq, SEND_CQ_PAGE, 0);
    d->receive_cq = make_cq(d, eq, RECEIVE_CQ_PAGE, 8);
    d->tis = make_tis(d, 0);
    make_sq(d);
    *state = d;
    return 0;
}

static inline int stop(void **state)
{
    struct driver *d = *state;
    vcx_device_stop(&d->device);
    forget_frames(d);
    front_close(&d->front);
    free(d);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

#endif
