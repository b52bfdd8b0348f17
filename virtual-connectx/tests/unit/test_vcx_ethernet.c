/* The virtual ConnectX's Ethernet queues, driven as mlx5e does: entries in memory, doorbell records,
 * frames. */
#include "virtual-connectx/tests/unit/vcx_ethernet_driver.h"

enum { NOP = 0, SEND = 0x0a, LSO = 0x0e, ASKS = 8 };

/* An entry of the send queue that is being made. */
struct work {
    uint8_t bytes[1024];
    uint32_t units;
};

static struct work begin(uint8_t opcode, uint8_t checksums, uint16_t mss)
{
    struct work w = {.units = opcode == NOP ? 1 : 2};
    w.bytes[3] = opcode;
    w.bytes[11] = ASKS;
    w.bytes[20] = checksums;
    vcx_put16(w.bytes + 22, mss);
    return w;
}

static void add_inline_header(struct work *w, const uint8_t *data, uint16_t bytes)
{
    vcx_put16(w->bytes + 28, bytes);
    memcpy(w->bytes + 30, data, bytes);
    w->units += bytes > 2 ? (bytes - 2u + 15) / 16 : 0;
}

static void add_piece(struct driver *d, struct work *w, uint64_t address, uint32_t bytes)
{
    put_piece(w->bytes + 16 * w->units++, bytes, d->key, address);
}

static void add_inline_piece(struct work *w, const uint8_t *data, uint32_t bytes)
{
    vcx_put32(w->bytes + 16 * w->units, bytes | 0x80000000);
    memcpy(w->bytes + 16 * w->units + 4, data, bytes);
    w->units += (bytes + 4 + 15) / 16;
}

static void ring(struct driver *d)
{
    vcx_put32(page(d, RECORDS) + 64 + 4, d->posted);
}

static void put_work(struct driver *d, struct work *w)
{
    w->bytes[7] = (uint8_t)w->units;
    for (uint32_t i = 0; i < w->units * 16; i += 16)
        memcpy(page(d, SQ_PAGE) + (d->posted * 64u + i) % (64 << LOG_SQ), w->bytes + i, 16);
    d->posted = (uint16_t)(d->posted + (w->units + 3) / 4);
    ring(d);
}

static void send_work(struct driver *d, struct work *w)
{
    put_work(d, w);
    poll_device(d);
}

/* A message in DATA, sent with its headers inline or not. */
static void send_data(struct driver *d, uint8_t opcode, uint8_t checksums, uint16_t mss, uint32_t length,
                      uint16_t inlined)
{
    struct work w = begin(opcode, checksums, mss);
    if (inlined)
        add_inline_header(&w, page(d, DATA), inlined);
    add_piece(d, &w, PAGE_AT(DATA) + inlined, length - inlined);
    send_work(d, &w);
}

static void expect_error(struct driver *d, enum vcx_ending ending)
{
    const uint8_t *completion = sent_completion(d);
    assert_non_null(completion);
    assert_int_equal(completion[63] >> 4, VCX_CQE_REQUESTER_ERROR);
    assert_int_equal(completion[VCX_CQE_SYNDROME], vcx_endings[ending].syndrome);
    assert_int_equal(completion[VCX_CQE_VENDOR_SYNDROME], vcx_endings[ending].vendor);
    assert_int_equal(d->sent_count, 0);
    vcx_set(d->in, dealloc_pd_in, pd, d->sq);
    expect(d, VCX_OK, 0x907, 16, MODIFY_BYTES);
    assert_int_equal(vcx_get(vcx_at(d->out, query_sq_out, sq_context), sqc, state), VCX_WQ_ERROR);
}

/* As the driver recovers a queue. */
static void recover(struct driver *d)
{
    while (sent_completion(d))
        ;
    assert_int_equal(modify_sq(d, 3, 0), VCX_OK);
    assert_int_equal(modify_sq(d, 0, 1), VCX_OK);
    d->posted = 0;
}

/* ---- send */

static void a_message_of_pieces_is_a_frame(void **state)
{
    struct driver *d = *state;
    uint8_t *data = page(d, DATA), expected[400];
    uint32_t length = write_packet(expected, &tcp4), last = length - 14 - 20;
    memcpy(data + 5, expected + 14, 20);
    memcpy(page(d, DATA + 2) - 3, expected + 34, last); /* over the end of a page */
    struct work w = begin(SEND, 0, 0);
    add_inline_header(&w, expected, 14);
    add_piece(d, &w, PAGE_AT(DATA) + 5, 20);
    add_piece(d, &w, PAGE_AT(DATA + 2) - 3, last);
    send_work(d, &w);
    assert_int_equal(d->sent_count, 1);
    assert_int_equal(d->sent[0]->length, length);
    assert_memory_equal(d->sent[0]->data, expected, length);
    const uint8_t *completion = sent_completion(d);
    assert_int_equal(completion[63] >> 4, VCX_CQE_REQUESTER);
    assert_int_equal(vcx_be16(completion + VCX_CQE_WQE_COUNTER), 0);
    assert_int_equal(vcx_be32(completion + VCX_CQE_OPCODE_QPN), (uint32_t)SEND << 24 | d->sq);
    assert_int_equal(vcx_be32(completion + VCX_CQE_SRQN_UIDX), 0x123);
}

static void completions_come_when_asked_for(void **state)
{
    struct driver *d = *state;
    uint32_t length = write_packet(page(d, DATA), &udp4);
    for (int i = 0; i < 5; i++) {
        struct work w = begin(SEND, 0, 0);
        w.bytes[11] = i == 3 ? ASKS : 0;
        add_piece(d, &w, PAGE_AT(DATA), length);
        send_work(d, &w);
    }
    assert_int_equal(d->sent_count, 5);
    assert_int_equal(vcx_be16(sent_completion(d) + VCX_CQE_WQE_COUNTER), 3);
    assert_null(sent_completion(d));
}

static void nothing_is_sent_by_a_nop(void **state)
{
    struct driver *d = *state;
    struct work w = begin(NOP, 0, 0);
    send_work(d, &w);
    assert_int_equal(d->sent_count, 0);
    const uint8_t *completion = sent_completion(d);
    assert_int_equal(completion[63] >> 4, VCX_CQE_REQUESTER);
}

/* Entries of one to four strides, round the queue several times. */
static void entries_wrap_round_the_queue(void **state)
{
    struct driver *d = *state;
    uint8_t data[512];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 3);
    for (uint32_t i = 0; i < 700; i++) {
        uint16_t header = (uint16_t)(14 + i % 150);
        struct work w = begin(SEND, 0, 0);
        add_inline_header(&w, data, header);
        add_inline_piece(&w, data + header, 60);
        uint16_t at = d->posted;
        send_work(d, &w);
        assert_int_equal(d->sent_count, 1);
        assert_int_equal(d->sent[0]->length, header + 60u);
        assert_memory_equal(d->sent[0]->data, data, header + 60u);
        assert_int_equal(vcx_be16(sent_completion(d) + VCX_CQE_WQE_COUNTER), at);
        forget_frames(d);
    }
}

static void short_frames_are_padded(void **state)
{
    struct driver *d = *state;
    memset(page(d, DATA), 0xee, 100);
    for (uint32_t length = 14; length < 60; length++) {
        send_data(d, SEND, 0, 0, length, 0);
        assert_int_equal(d->sent[0]->length, 60);
        for (uint32_t i = 0; i < 60; i++)
            assert_int_equal(d->sent[0]->data[i], i < length ? 0xee : 0);
        forget_frames(d);
    }
}

static void a_tag_is_inserted(void **state)
{
    struct driver *d = *state;
    static const uint16_t types[] = {0x8100, 0x88a8};
    uint8_t *data = page(d, DATA);
    uint32_t length = write_packet(data, &udp4);
    for (int i = 0; i < 2; i++) {
        struct work w = begin(SEND, 0xc0, 0);
        vcx_put16(w.bytes + 28, (uint16_t)(0x8000 | i));
        vcx_put16(w.bytes + 30, 0x6abc);
        add_piece(d, &w, PAGE_AT(DATA), length);
        send_work(d, &w);
        const uint8_t *frame = d->sent[0]->data;
        assert_int_equal(d->sent[0]->length, length + 4);
        assert_memory_equal(frame, data, 12);
        assert_int_equal(vcx_be16(frame + 12), types[i]);
        assert_int_equal(vcx_be16(frame + 14), 0x6abc);
        assert_memory_equal(frame + 16, data + 12, length - 12);
        forget_frames(d);
    }
}

/* Checksums are garbage before; what the device writes is right by another computation. */
static void checksums_are_computed(void **state)
{
    struct driver *d = *state;
    uint8_t *data = page(d, DATA);
    for (int kind = 0; kind < 48; kind++) {
        struct packet p = kind & 1 ? tcp4 : udp4;
        p.version = kind & 2 ? 6 : 4;
        p.tagged = kind & 4;
        p.payload = (uint32_t)kind / 8 * 33;
        uint32_t length = write_packet(data, &p), l3 = p.tagged ? 18 : 14,
                 l4 = l3 + (p.version == 6 ? 40 : 20);
        if (p.version == 4)
            vcx_put16(data + l3 + 10, 0xdead);
        vcx_put16(data + l4 + (p.protocol == 6 ? 16 : 6), 0xbeef);
        send_data(d, SEND, 0xc0, 0, length, 0);
        assert_int_equal(d->sent_count, 1);
        const uint8_t *frame = d->sent[0]->data;
        if (p.version == 4)
            assert_int_equal(reference_sum(0, frame + l3, 20), 0xffff);
        assert_int_equal(reference_l4(frame + l3, length - l4, p.protocol), 0xffff);
        forget_frames(d);
    }
}

static void checksums_are_left_alone_without_the_flags(void **state)
{
    struct driver *d = *state;
    uint8_t *data = page(d, DATA);
    uint32_t length = write_packet(data, &tcp4);
    vcx_put16(data + 24, 0xdead);
    vcx_put16(data + 50, 0xbeef);
    send_data(d, SEND, 0, 0, length, 0);
    assert_memory_equal(d->sent[0]->data, data, length);
    forget_frames(d);
    vcx_put16(data + 20, 0x2000); /* a fragment has no TCP checksum of its own */
    send_data(d, SEND, 0xc0, 0, length, 0);
    assert_int_equal(reference_sum(0, d->sent[0]->data + 14, 20), 0xffff);
    assert_int_equal(vcx_be16(d->sent[0]->data + 50), 0xbeef);
}

/* ---- large sends */

/* Puts the segments together again, and checks each one's headers. */
static void check_segments(struct driver *d, const struct packet *p, uint16_t mss)
{
    const uint8_t *whole = page(d, DATA);
    uint32_t l3 = p->tagged ? 18 : 14, l4 = l3 + (p->version == 6 ? 40 : 20),
             header = l4 + (p->protocol == 6 ? 20 : 8);
    assert_int_equal(d->sent_count, (p->payload + mss - 1) / mss);
    for (uint32_t i = 0, done = 0; i < d->sent_count; i++) {
        const uint8_t *f = d->sent[i]->data;
        uint32_t part = p->payload - done < mss ? p->payload - done : mss;
        bool last = i == d->sent_count - 1;
        assert_int_equal(d->sent[i]->length, header + part < 60 ? 60 : header + part);
        assert_memory_equal(f, whole, l3);
        assert_memory_equal(f + header, whole + header + done, part);
        if (p->version == 4) {
            assert_int_equal(vcx_be16(f + l3 + 2), header - l3 + part);
            assert_int_equal(vcx_be16(f + l3 + 4), 0x1000 + i);
            assert_int_equal(reference_sum(0, f + l3, 20), 0xffff);
        } else {
            assert_int_equal(vcx_be16(f + l3 + 4), header - l4 + part);
        }
        assert_int_equal(reference_l4(f + l3, header - l4 + part, p->protocol), 0xffff);
        if (p->protocol == 6) {
            assert_int_equal(vcx_be32(f + l4 + 4), 0xfffffe00u + done);
            assert_int_equal(f[l4 + 13],
                             VCX_TCP_ACK | (last ? VCX_TCP_PSH | VCX_TCP_FIN : 0) | (i ? 0 : VCX_TCP_CWR));
        } else {
            assert_int_equal(vcx_be16(f + l4 + 4), 8 + part);
        }
        done += part;
    }
    assert_non_null(sent_completion(d));
    assert_null(sent_completion(d));
    forget_frames(d);
}

static void large_sends_are_segmented(void **state)
{
    struct driver *d = *state;
    static const uint16_t sizes[] = {1448, 536, 100, 8900};
    for (int kind = 0; kind < 32; kind++) {
        struct packet p = kind & 1 ? tcp4 : udp4;
        p.version = kind & 2 ? 6 : 4;
        p.tagged = kind & 4;
        p.tci = 0x2005;
        p.payload = kind & 4 ? 60001 : 1448 * 8;
        uint32_t length = write_packet(page(d, DATA), &p);
        send_data(d, LSO, 0xc0, sizes[kind / 8], length, (uint16_t)(length - p.payload));
        check_segments(d, &p, sizes[kind / 8]);
    }
}

static void a_large_send_may_be_small(void **state)
{
    struct driver *d = *state;
    struct packet p = tcp4;
    p.payload = 7;
    send_data(d, LSO, 0xc0, 1448, write_packet(page(d, DATA), &p), 54);
    check_segments(d, &p, 1448);
}

/* While the port has no room entries wait, and nothing is lost. */
static void sending_waits_for_room(void **state)
{
    struct driver *d = *state;
    enum { MESSAGES = 60, SEGMENTS = 7 };
    struct packet p = tcp4;
    p.payload = 60000;
    uint32_t length = write_packet(page(d, DATA), &p), done = 0;
    d->device.port->queue_bytes = 200000;
    struct work w = begin(LSO, 0xc0, 8900);
    add_inline_header(&w, page(d, DATA), 54);
    add_piece(d, &w, PAGE_AT(DATA) + 54, length - 54);
    for (int i = 0; i < MESSAGES; i++)
        put_work(d, &w);
    while (vcx_ethernet_poll(&d->device)) /* the clock stands still, and the line with it */
        ;
    while (sent_completion(d))
        done++;
    assert_in_range(done, 1, MESSAGES - 1);
    assert_true(vcx_send_room(&d->device, 0, false) < 8954);
    poll_device(d);
    while (sent_completion(d))
        done++;
    assert_int_equal(done, MESSAGES);
    assert_int_equal(d->sent_count, MESSAGES * SEGMENTS);
    for (uint32_t i = 0; i < d->sent_count; i++)
        assert_int_equal(vcx_be32(d->sent[i]->data + 38), 0xfffffe00u + i % SEGMENTS * 8900);
}

/* Two queues take turns, although the first has much to send. */
static void queues_take_turns(void **state)
{
    struct driver *d = *state;
    uint32_t length = write_packet(page(d, DATA), &udp4);
    uint8_t *context = queue_context(d, d->send_cq, 72, RQ_PAGE, 2, 6);
    vcx_set(context, sqc, tis_lst_sz, 1);
    vcx_set(context, sqc, tis_num_0, make_tis(d, 0));
    context = queue_context(d, d->send_cq, 72, RQ_PAGE, 2, 6); /* make_tis used the memory of the command */
    vcx_set(context, sqc, tis_lst_sz, 1);
    vcx_set(context, sqc, tis_num_0, d->tis);
    uint32_t first = d->sq;
    d->sq = made(d, 0x904, QUEUE_BYTES);
    assert_int_equal(modify_sq(d, 0, 1), VCX_OK);
    d->sq = first;
    struct work w = begin(SEND, 0, 0);
    add_piece(d, &w, PAGE_AT(DATA), length);
    w.bytes[7] = (uint8_t)w.units;
    memcpy(page(d, RQ_PAGE), w.bytes, 64);
    for (int i = 0; i < 200; i++)
        put_work(d, &w);
    vcx_put32(page(d, RECORDS) + 72 + 4, 1);
    assert_true(vcx_ethernet_poll(&d->device));
    uint32_t taken = 0;
    bool other = false;
    for (const uint8_t *completion; (completion = sent_completion(d)); taken++)
        other |= (vcx_be32(completion + VCX_CQE_OPCODE_QPN) & 0xffffff) != first;
    assert_true(other);
    assert_in_range(taken, 2, 128);
    poll_device(d);
}

/* ---- what is wrong in the send queue */

static void bad_entries_stop_the_queue(void **state)
{
    struct driver *d = *state;
    uint32_t length = write_packet(page(d, DATA), &udp4);
    for (int kind = 0; kind < 12; kind++) {
        struct work w = begin(kind == 0 ? 0x25 : SEND, 0, 0);
        uint8_t syndrome = VCX_LOCAL_OPERATION;
        add_piece(d, &w, PAGE_AT(DATA), length);
        if (kind == 1) { /* the inline header goes beyond the entry */
            vcx_put16(w.bytes + 28, 0x3ff);
        } else if (kind == 2) { /* so does an inline piece */
            vcx_put32(w.bytes + 32, 0x80000000 | 13);
        } else if (kind == 3) {
            vcx_put32(w.bytes + 32, 0xffffffff);
        } else if (kind == 4) { /* a key that does not exist */
            vcx_put32(w.bytes + 36, d->key + 1);
            syndrome = VCX_LOCAL_PROTECTION;
        } else if (kind == 5) { /* no memory */
            vcx_put64(w.bytes + 40, PAGE_AT(PAGES) - 4);
            syndrome = VCX_LOCAL_PROTECTION;
        } else if (kind == 6) { /* not even an Ethernet header */
            vcx_put32(w.bytes + 32, 13);
        } else if (kind == 7) {
            vcx_put32(w.bytes + 32, 0x7fffffff);
            syndrome = VCX_LOCAL_LENGTH;
        } else if (kind == 8) { /* longer than any frame */
            vcx_put32(w.bytes + 32, 12000);
            syndrome = VCX_LOCAL_LENGTH;
        } else if (kind == 9) { /* LSO without a size */
            w.bytes[3] = LSO;
        } else if (kind == 10) { /* LSO of what is not TCP or UDP */
            w.bytes[3] = LSO;
            vcx_put16(w.bytes + 22, 100);
            memset(page(d, DATA) + 12, 0, 2);
        } else if (kind == 11) { /* no Ethernet segment */
            w.units = 1;
        }
        struct work good = begin(NOP, 0, 0);
        put_work(d, &w);
        send_work(d, &good);
        expect_error(d, syndrome);
        const uint8_t *flushed = sent_completion(d);
        assert_non_null(flushed);
        assert_int_equal(flushed[VCX_CQE_SYNDROME], 0x05);
        assert_int_equal(vcx_be16(flushed + VCX_CQE_WQE_COUNTER), 1);
        recover(d);
        write_packet(page(d, DATA), &udp4);
    }
    send_data(d, SEND, 0, 0, length, 0);
    assert_int_equal(d->sent_count, 1);
}

static void sizes_beyond_what_is_posted_are_refused(void **state)
{
    struct driver *d = *state;
    static const uint8_t units[] = {0, 5, 63};
    for (size_t i = 0; i < VCX_COUNT(units); i++) {
        struct work w = begin(NOP, 0, 0);
        put_work(d, &w);
        page(d, SQ_PAGE)[7] = units[i];
        poll_device(d);
        expect_error(d, VCX_LOCAL_OPERATION);
        recover(d);
    }
    struct packet p = tcp4;
    p.payload = 60000;
    send_data(d, LSO, 0, 20, write_packet(page(d, DATA), &p), 54); /* 3000 segments */
    expect_error(d, VCX_LOCAL_LENGTH);
}

/* A record below what was taken would be nearly all of 65,536 strides, each of them with what stood in the
 * queue before. */
static void a_lowered_record_posts_nothing(void **state)
{
    struct driver *d = *state;
    uint8_t *data = page(d, DATA);
    uint32_t length = write_packet(data, &tcp4);
    for (int i = 0; i < 3; i++)
        send_data(d, SEND, 0, 0, length, 14);
    uint16_t posted = d->posted;
    while (sent_completion(d))
        ;
    while (d->sent_count)
        vcx_release(d->sent[--d->sent_count]);
    d->posted = (uint16_t)(posted - 2);
    ring(d);
    poll_device(d);
    assert_int_equal(d->sent_count, 0);
    assert_null(sent_completion(d));
    d->posted = posted;
    send_data(d, SEND, 0, 0, length, 14);
    assert_int_equal(d->sent_count, 1);
}

/* Whatever stands in the queue, its entries are taken, and it is told. */
static void any_entry_ends(void **state)
{
    struct driver *d = *state;
    uint32_t seed = 7, errors = 0, sent = 0;
    for (int i = 0; i < (SANITIZED ? 2000 : 20000); i++) {
        struct work w = begin(i & 1 ? SEND : LSO, (uint8_t)next_random(&seed), (uint16_t)next_random(&seed));
        struct packet p = i & 2 ? tcp4 : udp4;
        p.payload = next_random(&seed) % 2000;
        add_piece(d, &w, PAGE_AT(DATA), write_packet(page(d, DATA), &p));
        add_piece(d, &w, PAGE_AT(DATA), next_random(&seed) % 64);
        for (int edits = (int)(next_random(&seed) % 4); edits--;)
            w.bytes[next_random(&seed) % (16 * w.units)] = (uint8_t)next_random(&seed);
        for (int edits = (int)(next_random(&seed) % 4); edits--;)
            page(d, DATA)[next_random(&seed) % 80] = (uint8_t)next_random(&seed);
        put_work(d, &w);
        poll_device(d);
        sent += d->sent_count;
        forget_frames(d);
        const uint8_t *completion = sent_completion(d);
        bool failed = completion && completion[63] >> 4 == VCX_CQE_REQUESTER_ERROR;
        errors += failed;
        if (failed)
            recover(d);
    }
    assert_true(errors > 100 && sent > 100);
}

static void a_queue_outside_memory_is_told_by_an_event(void **state)
{
    struct driver *d = *state;
    uint8_t *context = queue_context(d, d->send_cq, 72, PAGES, 4, 6);
    vcx_set(context, sqc, flush_in_error_en, 1);
    d->sq = made(d, 0x904, QUEUE_BYTES);
    assert_int_equal(modify_sq(d, 0, 1), VCX_OK);
    vcx_put32(page(d, RECORDS) + 72 + 4, 3);
    poll_device(d);
    expect_error(d, VCX_LOCAL_OPERATION);
    vcx_set(d->in, destroy_cq_in, cqn, d->send_cq);
    expect(d, VCX_OK, 0x401, 16, 16);
    assert_int_equal(modify_sq(d, 3, 0), VCX_OK);
    assert_int_equal(modify_sq(d, 0, 1), VCX_OK);
    vcx_put32(page(d, RECORDS) + 72 + 4, 3);
    poll_device(d);
    const uint8_t *event = page(d, EQ_PAGE);
    while (event[1] == VCX_EVENT_COMPLETION && event[63] == 0) /* of the queue that was there before */
        event += 64;
    assert_int_equal(event[1], VCX_EVENT_WQ_CATASTROPHIC);
    assert_int_equal(event[32 + 20], VCX_WQ_SEND);
    assert_int_equal(vcx_be32(event + 32 + 24), d->sq);
}

/* ---- commands */

static void states_follow_each_other(void **state)
{
    struct driver *d = *state;
    assert_int_equal(modify_sq(d, 0, 1), VCX_BAD_RESOURCE_STATE); /* it is ready already */
    assert_int_equal(modify_sq(d, 1, 2), VCX_BAD_PARAMETER);
    assert_int_equal(modify_sq(d, 1, 9), VCX_BAD_PARAMETER);
    assert_int_equal(modify_sq(d, 1, 1), VCX_OK);
    assert_int_equal(modify_sq(d, 1, 3), VCX_OK);
    assert_int_equal(modify_sq(d, 3, 1), VCX_BAD_RESOURCE_STATE);
    assert_int_equal(modify_sq(d, 3, 0), VCX_OK);
    uint32_t rq = make_rq(d, 0, false);
    assert_int_equal(modify_rq(d, rq, 0, 1), VCX_BAD_RESOURCE_STATE);
    assert_int_equal(modify_rq(d, rq, 1, 3), VCX_OK);
    assert_int_equal(modify_rq(d, rq + 1, 3, 0), VCX_BAD_RESOURCE);
}

static void bad_queues_are_refused(void **state)
{
    struct driver *d = *state;
    for (int kind = 0; kind < 10; kind++) {
        enum vcx_status status = kind < 7 ? VCX_BAD_PARAMETER : VCX_BAD_RESOURCE;
        uint8_t *context = queue_context(d, kind == 7 ? 99 : d->send_cq, kind == 0 ? 4 : 72, RQ_PAGE,
                                         kind == 1   ? 14
                                         : kind == 2 ? 9
                                                     : 4,
                                         kind == 3 ? 5 : 6);
        if (kind == 4)
            vcx_set(vcx_at(context, sqc, wq), wq, wq_type, 3);
        if (kind == 5)
            vcx_set(context, sqc, state, 1);
        if (kind == 6)
            vcx_set(vcx_at(context, sqc, wq), wq, dbr_addr, 0x1000);
        if (kind == 8 || kind == 9) {
            vcx_set(context, sqc, tis_lst_sz, 1);
            vcx_set(context, sqc, tis_num_0, kind == 8 ? 0 : d->tis + 1);
        }
        expect(d, status, 0x904, QUEUE_BYTES, 16);
    }
    assert_int_equal(d->device.numbers[VCX_SQ].used, 1);
    queue_context(d, d->receive_cq, 72, RQ_PAGE, 4, 12); /* stride */
    expect(d, VCX_BAD_PARAMETER, 0x908, QUEUE_BYTES, 16);
    vcx_set(queue_context(d, d->receive_cq, 72, RQ_PAGE, 4, 6), rqc, mem_rq_type, 1);
    expect(d, VCX_BAD_PARAMETER, 0x908, QUEUE_BYTES, 16);
    vcx_set(queue_context(d, d->receive_cq, 72, RQ_PAGE, 4, 6), rqc, counter_set_id, 9);
    expect(d, VCX_BAD_RESOURCE, 0x908, QUEUE_BYTES, 16);
    expect(d, VCX_BAD_INPUT_LENGTH, 0x908, 64, 16);
}

static void the_priority_is_that_of_the_tis(void **state)
{
    struct driver *d = *state;
    uint32_t length = write_packet(page(d, DATA), &udp4);
    vcx_set(d->in, dealloc_pd_in, pd, d->tis);
    vcx_set(d->in, modify_tis_in, bitmask_prio, 1);
    vcx_set(vcx_at(d->in, modify_tis_in, ctx), tisc, prio, 5 << 1);
    expect(d, VCX_OK, 0x913, 32 + 160, 16);
    send_data(d, SEND, 0, 0, length, 0);
    assert_int_equal(d->sent[0]->priority, 5);
    vcx_set(d->in, dealloc_pd_in, pd, d->tis);
    expect(d, VCX_OK, 0x915, 16, 16 + 160);
    assert_int_equal(vcx_get(vcx_at(d->out, query_tis_out, tis_context), tisc, prio), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_message_of_pieces_is_a_frame),
        TEST(completions_come_when_asked_for),
        TEST(nothing_is_sent_by_a_nop),
        TEST(entries_wrap_round_the_queue),
        TEST(short_frames_are_padded),
        TEST(a_tag_is_inserted),
        TEST(checksums_are_computed),
        TEST(checksums_are_left_alone_without_the_flags),
        TEST(large_sends_are_segmented),
        TEST(a_large_send_may_be_small),
        TEST(sending_waits_for_room),
        TEST(queues_take_turns),
        TEST(bad_entries_stop_the_queue),
        TEST(sizes_beyond_what_is_posted_are_refused),
        TEST(a_lowered_record_posts_nothing),
        TEST(any_entry_ends),
        TEST(a_queue_outside_memory_is_told_by_an_event),
        TEST(states_follow_each_other),
        TEST(bad_queues_are_refused),
        TEST(the_priority_is_that_of_the_tis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
