/* The virtual ConnectX's Ethernet receive path: frames into receive queues, completions, hashes. */
#include "virtual-connectx/tests/unit/vcx_ethernet_driver.h"

#include "virtual-connectx/tests/unit/vcx_watch.h"
#include "virtual-connectx/model/vport/vport.h"

enum { ENTRIES = 1 << LOG_RQ, ENTRY_BYTES = 1 << LOG_RQ_STRIDE };

/* One queue that gets every frame. */
static uint32_t one_queue(struct driver *d, bool keeps_tags)
{
    uint32_t rq = make_rq(d, 0, keeps_tags);
    catch_all(d, make_direct_tir(d, rq));
    post_receives(d, 0, 2048, ENTRIES);
    return rq;
}

static const uint8_t *expect_frame(struct driver *d, uint32_t bytes)
{
    const uint8_t *completion = received(d);
    assert_non_null(completion);
    assert_int_equal(completion[63] >> 4, VCX_CQE_SEND);
    assert_int_equal(vcx_be32(completion + VCX_CQE_BYTE_COUNT), bytes);
    return completion;
}

static void expect_error(struct driver *d, enum vcx_ending ending)
{
    const uint8_t *completion = received(d);
    assert_non_null(completion);
    assert_int_equal(completion[63] >> 4, VCX_CQE_RESPONDER_ERROR);
    assert_int_equal(completion[VCX_CQE_SYNDROME], vcx_endings[ending].syndrome);
    assert_int_equal(completion[VCX_CQE_VENDOR_SYNDROME], vcx_endings[ending].vendor);
}

static void a_frame_fills_several_pieces(void **state)
{
    struct driver *d = *state;
    uint8_t frame[1600], *entry = page(d, RQ_PAGE);
    struct packet p = tcp4;
    p.payload = 1000;
    uint32_t length = write_packet(frame, &p), rq = one_queue(d, true);
    put_piece(entry, 1u << 31 | 100, d->key,
              PAGE_AT(DATA) + 1);                    /* mlx5e sets the top bit: padding, no length */
    put_piece(entry + 16, 0, d->key, PAGE_AT(DATA)); /* an empty one between */
    put_piece(entry + 32, 900, d->key, PAGE_AT(DATA + 2) - 50);
    put_piece(entry + 48, 800, d->key, PAGE_AT(DATA + 4));
    arrive(d, frame, length);
    const uint8_t *completion = expect_frame(d, length);
    assert_memory_equal(page(d, DATA) + 1, frame, 100);
    assert_memory_equal(page(d, DATA + 2) - 50, frame + 100, 900);
    assert_memory_equal(page(d, DATA + 4), frame + 1000, length - 1000);
    assert_int_equal(page(d, DATA + 4)[length - 1000], 0); /* nothing behind it */
    assert_int_equal(vcx_be16(completion + VCX_CQE_WQE_COUNTER), 0);
    assert_int_equal(vcx_be32(completion + VCX_CQE_SRQN_UIDX), 0x123);
    (void)rq;
}

/* Pieces that end with their page or cross into another, one of them longer than what is left of the
 * frame. */
static void a_frame_changes_its_pieces_alone(void **state)
{
    struct driver *d = *state;
    static struct watch w;
    uint8_t frame[1600], *entry = page(d, RQ_PAGE);
    struct packet p = tcp4;
    p.payload = 1000;
    uint32_t length = write_packet(frame, &p), left = length - 500;
    one_queue(d, true);
    put_piece(entry, 100, d->key, PAGE_AT(DATA + 1) - 100);
    put_piece(entry + 16, 400, d->key, PAGE_AT(DATA + 3) - 399);
    put_piece(entry + 32, 2000, d->key, PAGE_AT(DATA + 6) - 7);
    vcx_put32(page(d, RECORDS) + 12, 0); /* armed */
    watch_begin(&w, &d->front);
    arrive(d, frame, length);
    const uint8_t *completion = expect_frame(d, length);
    watch_allow(&w, completion, VCX_CQE_BYTES);
    watch_allow(&w, page(d, EQ_PAGE), 64);
    watch_allow(&w, page(d, DATA + 1) - 100, 100);
    watch_allow(&w, page(d, DATA + 3) - 399, 400);
    watch_allow(&w, page(d, DATA + 6) - 7, left);
    watch_end(&w);
    assert_memory_equal(page(d, DATA + 6) - 7, frame + 500, left);
}

/* A queue that is reset: the driver's count becomes zero, four bytes of it. */
static void a_reset_changes_the_record_alone(void **state)
{
    struct driver *d = *state;
    static struct watch w;
    uint32_t rq = one_queue(d, true);
    memset(page(d, RECORDS) + 128, 0xa5, 8);
    vcx_put32(page(d, RECORDS) + 128, ENTRIES);
    watch_begin(&w, &d->front);
    assert_int_equal(modify_rq(d, rq, 1, 0), VCX_OK);
    assert_int_equal(vcx_be32(page(d, RECORDS) + 128), 0);
    watch_allow(&w, page(d, RECORDS) + 128, 4);
    watch_end(&w);
}

static void completions_say_what_a_frame_is(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    static const struct {
        uint8_t version, protocol, type;
    } rows[] = {
        {4, 6, 2 << 2 | 4 << 4}, {6, 6, 1 << 2 | 4 << 4}, {4, 17, 2 << 2 | 2 << 4}, {6, 17, 1 << 2 | 2 << 4}};
    one_queue(d, true);
    for (size_t i = 0; i < VCX_COUNT(rows); i++) {
        struct packet p = tcp4;
        p.version = rows[i].version;
        p.protocol = rows[i].protocol;
        uint32_t length = write_packet(frame, &p);
        arrive(d, frame, length);
        const uint8_t *completion = expect_frame(d, length);
        assert_int_equal(completion[VCX_CQE_L4_L3_TYPE], rows[i].type);
        assert_int_equal(completion[VCX_CQE_HEADER_FLAGS], 7);
        assert_int_equal(vcx_be16(completion + VCX_CQE_CHECKSUM), reference_sum(0, frame + 14, length - 14));
    }
    memset(frame + 12, 0x77, 60);
    arrive(d, frame, 72);
    const uint8_t *completion = expect_frame(d, 72);
    assert_int_equal(completion[VCX_CQE_L4_L3_TYPE], 0);
    assert_int_equal(completion[VCX_CQE_HEADER_FLAGS], 1);
}

/* An acknowledgement without data is padded; the sum ends with the packet. */
static void padding_is_not_in_the_sum(void **state)
{
    struct driver *d = *state;
    uint8_t frame[100];
    struct packet p = tcp4;
    p.payload = 0;
    one_queue(d, true);
    uint32_t length = write_packet(frame, &p);
    memset(frame + length, 0xee, 60 - length);
    arrive(d, frame, 60);
    const uint8_t *completion = expect_frame(d, 60);
    assert_int_equal(completion[VCX_CQE_L4_L3_TYPE], 2 << 2 | 3 << 4);
    assert_int_equal(completion[VCX_CQE_HEADER_FLAGS], 7);
    assert_int_equal(vcx_be16(completion + VCX_CQE_CHECKSUM), reference_sum(0, frame + 14, 40));
}

static void wrong_checksums_are_told(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    one_queue(d, true);
    for (int kind = 0; kind < 6; kind++) {
        struct packet p = kind & 1 ? tcp4 : udp4;
        uint32_t length = write_packet(frame, &p);
        static const uint8_t expected[] = {7, 5, 3, 3, 7, 1};
        if (kind == 1)
            frame[24] ^= 1; /* IP's */
        else if (kind == 2)
            frame[40] ^= 1; /* UDP's */
        else if (kind == 3)
            frame[100] ^= 1; /* a byte of TCP's payload */
        else if (kind == 4)
            vcx_put16(frame + 40, 0); /* UDP without a checksum */
        else if (kind == 5)
            vcx_put16(frame + 16, 1000); /* longer than the frame: IP's checksum is wrong too */
        arrive(d, frame, length);
        assert_int_equal(expect_frame(d, length)[VCX_CQE_HEADER_FLAGS], expected[kind]);
    }
}

static void tags_are_stripped_unless_kept(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    struct packet p = udp4;
    p.tagged = true;
    p.tci = 0x6123;
    uint32_t length = write_packet(frame, &p), rq = one_queue(d, false);
    arrive(d, frame, length);
    const uint8_t *completion = expect_frame(d, length - 4);
    assert_int_equal(completion[VCX_CQE_L4_L3_TYPE] & 1, 1);
    assert_int_equal(vcx_be16(completion + VCX_CQE_VLAN), 0x6123);
    assert_int_equal(completion[VCX_CQE_HEADER_FLAGS], 7);
    assert_memory_equal(receive_memory(d, 0, 0), frame, 12);
    assert_memory_equal(receive_memory(d, 0, 0) + 12, frame + 16, length - 16);
    vcx_set(d->in, modify_rq_in, rqn, rq); /* as ethtool -K rxvlan off */
    vcx_set(d->in, modify_rq_in, rq_state, 1);
    vcx_set(d->in, modify_rq_in, modify_bitmask, 2);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, state, 1);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, vsd, 1);
    expect(d, VCX_OK, 0x909, MODIFY_BYTES, 16);
    arrive(d, frame, length);
    assert_int_equal(expect_frame(d, length)[VCX_CQE_L4_L3_TYPE] & 1, 0);
    assert_memory_equal(receive_memory(d, 0, 1), frame, length);
}

static void the_fcs_is_written_when_asked_for(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t length = write_packet(frame, &udp4), rq = one_queue(d, true);
    vcx_set(d->in, modify_rq_in, rqn, rq);
    vcx_set(d->in, modify_rq_in, rq_state, 1);
    vcx_set(d->in, modify_rq_in, modify_bitmask, 4);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, state, 1);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, scatter_fcs, 1);
    expect(d, VCX_OK, 0x909, MODIFY_BYTES, 16);
    arrive(d, frame, length);
    expect_frame(d, length + 4);
    /* the CRC over a frame and its FCS is a constant */
    assert_int_equal(vcx_crc32(~0u, receive_memory(d, 0, 0), length + 4), 0xdebb20e3);
}

static void frames_without_an_entry_are_counted(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t length = write_packet(frame, &udp4), rq = one_queue(d, true);
    expect(d, VCX_OK, 0x771, 16, 16);
    uint32_t set = (uint32_t)vcx_get(d->out, alloc_q_counter_out, counter_set_id);
    vcx_set(d->in, modify_rq_in, rqn, rq);
    vcx_set(d->in, modify_rq_in, rq_state, 1);
    vcx_set(d->in, modify_rq_in, modify_bitmask, 8);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, state, 1);
    vcx_set(vcx_at(d->in, modify_rq_in, ctx), rqc, counter_set_id, set);
    expect(d, VCX_OK, 0x909, MODIFY_BYTES, 16);
    for (int i = 0; i < ENTRIES + 5; i++)
        arrive(d, frame, length);
    for (int i = 0; i < ENTRIES; i++)
        assert_int_equal(vcx_be16(expect_frame(d, length) + VCX_CQE_WQE_COUNTER), i);
    assert_null(received(d));
    vcx_set(d->in, query_q_counter_in, counter_set_id, set);
    expect(d, VCX_OK, 0x773, 32, 256);
    assert_int_equal(vcx_get(d->out, query_q_counter_out, out_of_buffer), 5);
    post_receives(d, 0, 2048, ENTRIES + 1);
    arrive(d, frame, length);
    expect_frame(d, length);
}

/* It costs its entry, and the queue goes on. */
static void a_frame_may_be_too_long(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t length = write_packet(frame, &udp4);
    one_queue(d, true);
    post_receives(d, 0, length - 1, ENTRIES);
    arrive(d, frame, length);
    expect_error(d, VCX_LOCAL_LENGTH);
    arrive(d, frame, length - 1);
    assert_int_equal(vcx_be16(expect_frame(d, length - 1) + VCX_CQE_WQE_COUNTER), 1);
}

static void memory_that_is_none_stops_the_queue(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t length = write_packet(frame, &udp4), rq = one_queue(d, true);
    put_piece(page(d, RQ_PAGE), 2048, d->key ^ 1, PAGE_AT(DATA));
    arrive(d, frame, length);
    expect_error(d, VCX_LOCAL_PROTECTION);
    arrive(d, frame, length); /* goes nowhere */
    poll_device(d);
    for (int i = 1; i < ENTRIES; i++)
        expect_error(d, VCX_FLUSHED);
    assert_null(received(d));
    assert_int_equal(modify_rq(d, rq, 3, 0), VCX_OK);
    assert_int_equal(modify_rq(d, rq, 0, 1), VCX_OK);
    post_receives(d, 0, 2048, ENTRIES);
    arrive(d, frame, length);
    expect_frame(d, length);
}

/* What came to a queue is the vport's; what no table wanted is counted apart. */
static void the_vport_counts(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t length = write_packet(frame, &udp4);
    const struct vcx_vport *vport = d->device.vport;
    const struct vcx_traffic *traffic = vport->traffic[VCX_VPORT_ETHERNET][VCX_VPORT_RECEIVED];
    arrive(d, frame, length);
    assert_int_equal(vport->unsteered, 1);
    one_queue(d, true);
    arrive(d, frame, length);
    frame[0] |= 1;
    arrive(d, frame, length);
    assert_int_equal(vport->unsteered, 1);
    assert_int_equal(traffic[VCX_UNICAST].packets, 1);
    assert_int_equal(traffic[VCX_UNICAST].bytes, length);
    assert_int_equal(traffic[VCX_MULTICAST].packets, 1);
}

static void own_frames_are_taken_when_allowed(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t length = write_packet(frame, &udp4), rq = make_rq(d, 0, true), tir = make_direct_tir(d, rq);
    catch_all(d, tir);
    post_receives(d, 0, 2048, ENTRIES);
    memcpy(frame + 6, front_configuration.mac, 6);
    arrive(d, frame, length);
    assert_null(received(d));
    vcx_set(d->in, dealloc_pd_in, pd, tir);
    vcx_set(d->in, modify_tir_in, bitmask_self_lb_en, 1);
    vcx_set(vcx_at(d->in, modify_tir_in, ctx), tirc, self_lb_block, 1);
    expect(d, VCX_OK, 0x901, 32 + VCX_TIR_CONTEXT_BYTES, 16);
    arrive(d, frame, length);
    expect_frame(d, length);
    frame[0] |= 1; /* multicast is not allowed by this bit */
    arrive(d, frame, length);
    assert_null(received(d));
}

/* ---- hash */

/* "Verifying the RSS Hash Calculation", Microsoft */
static const uint8_t microsoft_key[VCX_HASH_KEY_BYTES] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

struct vector {
    uint8_t version;
    uint8_t destination[16], source[16];
    uint16_t destination_port, source_port;
    uint32_t addresses, ports;
};

static const struct vector vectors[] = {
    {4, {161, 142, 100, 80}, {66, 9, 149, 187}, 1766, 2794, 0x323e8fc2, 0x51ccc178},
    {4, {65, 69, 140, 83}, {199, 92, 111, 2}, 4739, 14230, 0xd718262a, 0xc626b0ea},
    {4, {12, 22, 207, 184}, {24, 19, 198, 95}, 38024, 12898, 0xd2d0a5de, 0x5c2b394a},
    {4, {209, 142, 163, 6}, {38, 27, 205, 30}, 2217, 48228, 0x82989176, 0xafc7327f},
    {4, {202, 188, 127, 2}, {153, 39, 163, 191}, 1303, 44251, 0x5d1809c5, 0x10e828a2},
    {6,
     {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1},
     {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7},
     1766,
     2794,
     0x2cc18cd5,
     0x40207d3d},
    {6,
     {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     {0x3f, 0xfe, 0x05, 0x01, 0x00, 0x08, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab},
     4739,
     14230,
     0x0f0c461c,
     0xdde51bbf},
    {6,
     {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
     {0x3f, 0xfe, 0x19, 0x00, 0x45, 0x45, 0x00, 0x03, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
     38024,
     44251,
     0x4b61e985,
     0x02d1feef},
};

static uint32_t make_table_of(struct driver *d, const uint32_t *rq, uint32_t count)
{
    uint8_t *context = vcx_at(d->in, create_rqt_in, rqt_context);
    vcx_set(context, rqtc, rqt_max_size, count);
    vcx_set(context, rqtc, rqt_actual_size, count);
    for (uint32_t i = 0; i < count; i++)
        vcx_put32(vcx_at(context, rqtc, rq_num) + 4 * i, rq[i]);
    return made(d, 0x916, 32 + 240 + 4 * count);
}

static void write_hash(uint8_t *context, uint8_t version, uint8_t protocol, uint32_t fields, bool symmetric)
{
    vcx_set(context, tirc, rx_hash_fn, VCX_HASH_TOEPLITZ);
    vcx_set(context, tirc, rx_hash_symmetric, symmetric);
    vcx_set(context, tirc, l3_prot_type, version == 6);
    vcx_set(context, tirc, l4_prot_type, protocol == 17);
    vcx_set(context, tirc, selected_fields, fields);
    memcpy(vcx_at(context, tirc, rx_hash_toeplitz_key), microsoft_key, sizeof microsoft_key);
}

static void select_hash(struct driver *d, uint32_t tir, uint8_t version, uint8_t protocol, uint32_t fields,
                        bool symmetric)
{
    vcx_set(d->in, dealloc_pd_in, pd, tir);
    vcx_set(d->in, modify_tir_in, bitmask_hash, 1);
    write_hash(vcx_at(d->in, modify_tir_in, ctx), version, protocol, fields, symmetric);
    expect(d, VCX_OK, 0x901, 32 + VCX_TIR_CONTEXT_BYTES, 16);
}

/* Four queues; entry i of the table names queue (3 * i) % 4. */
static uint32_t four_queues(struct driver *d, uint32_t *table)
{
    uint32_t rq[4], list[16];
    for (int i = 0; i < 4; i++) {
        rq[i] = make_rq(d, i, true);
        post_receives(d, i, 2048, ENTRIES);
    }
    for (int i = 0; i < 16; i++)
        list[i] = rq[3 * i % 4];
    *table = make_table_of(d, list, 16);
    uint8_t *context = vcx_at(d->in, create_tir_in, ctx);
    vcx_set(context, tirc, disp_type, 1);
    vcx_set(context, tirc, indirect_table, *table);
    vcx_set(context, tirc, transport_domain, d->domain);
    write_hash(context, 4, 6, 3, false);
    uint32_t tir = made(d, 0x900, 32 + VCX_TIR_CONTEXT_BYTES);
    catch_all(d, tir);
    return tir;
}

static uint32_t packet_of(uint8_t *frame, const struct vector *v, uint8_t protocol)
{
    struct packet p = {.version = v->version,
                       .protocol = protocol,
                       .source_port = v->source_port,
                       .destination_port = v->destination_port,
                       .payload = 20};
    memcpy(p.source, v->source, 16);
    memcpy(p.destination, v->destination, 16);
    return write_packet(frame, &p);
}

/* The queue in whose memory the frame of a completion stands. */
static int queue_of(struct driver *d, const uint8_t *frame, uint32_t length)
{
    for (int number = 0; number < 4; number++)
        for (uint32_t i = 0; i < ENTRIES; i++)
            if (memcmp(receive_memory(d, number, i), frame, length) == 0) {
                memset(receive_memory(d, number, i), 0, length);
                return number;
            }
    return -1;
}

static void hashes_are_those_of_microsoft(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t table, tir = four_queues(d, &table);
    for (size_t i = 0; i < VCX_COUNT(vectors); i++)
        for (int kind = 0; kind < 4; kind++) {
            const struct vector *v = &vectors[i];
            uint8_t protocol = kind & 1 ? 17 : 6;
            uint32_t length = packet_of(frame, v, protocol), expected = kind & 2 ? v->ports : v->addresses;
            select_hash(d, tir, v->version, protocol, kind & 2 ? 15 : 3, false);
            arrive(d, frame, length);
            const uint8_t *completion = expect_frame(d, length);
            assert_int_equal(vcx_be32(completion + VCX_CQE_RSS_RESULT), expected);
            assert_int_equal(completion[VCX_CQE_RSS_TYPE],
                             (v->version == 4 ? 1 : 2) << 2 | (kind & 2 ? (kind & 1 ? 2 : 1) << 6 : 0));
            assert_int_equal(queue_of(d, frame, length), 3 * (expected % 16) % 4);
        }
}

static void both_directions_may_hash_alike(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t table, tir = four_queues(d, &table);
    for (size_t i = 0; i < VCX_COUNT(vectors); i++) {
        struct vector back = vectors[i];
        memcpy(back.source, vectors[i].destination, 16);
        memcpy(back.destination, vectors[i].source, 16);
        back.source_port = vectors[i].destination_port;
        back.destination_port = vectors[i].source_port;
        select_hash(d, tir, back.version, 6, 15, true);
        uint32_t length = packet_of(frame, &vectors[i], 6);
        arrive(d, frame, length);
        packet_of(frame, &back, 6);
        arrive(d, frame, length);
        uint32_t there = vcx_be32(received(d) + VCX_CQE_RSS_RESULT);
        assert_int_equal(vcx_be32(received(d) + VCX_CQE_RSS_RESULT), there);
        assert_true(there != 0);
    }
}

/* Frames of another kind are not hashed and go to the first queue; fragments are hashed over their
 * addresses. */
static void what_has_not_the_fields_is_hashed_over_less(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300];
    uint32_t table, tir = four_queues(d, &table), length = packet_of(frame, &vectors[5], 6);
    select_hash(d, tir, 4, 6, 15, false);
    arrive(d, frame, length);
    const uint8_t *completion = expect_frame(d, length);
    assert_int_equal(completion[VCX_CQE_RSS_TYPE], 0);
    assert_int_equal(vcx_be32(completion + VCX_CQE_RSS_RESULT), 0);
    assert_int_equal(queue_of(d, frame, length), 0);
    length = packet_of(frame, &vectors[0], 6);
    vcx_put16(frame + 20, 0x2000);
    arrive(d, frame, length);
    completion = expect_frame(d, length);
    assert_int_equal(vcx_be32(completion + VCX_CQE_RSS_RESULT), vectors[0].addresses);
    assert_int_equal(completion[VCX_CQE_RSS_TYPE], 1 << 2);
}

static void a_table_may_change_and_lose_queues(void **state)
{
    struct driver *d = *state;
    uint8_t frame[300], *context = vcx_at(d->in, modify_rqt_in, ctx);
    uint32_t table, length = packet_of(frame, &vectors[0], 6);
    four_queues(d, &table);
    vcx_set(d->in, dealloc_pd_in, pd, table);
    expect(d, VCX_OK, 0x919, 16, 32 + 240 + 64);
    uint32_t last = vcx_be32(vcx_at(vcx_at(d->out, query_rqt_out, rqt_context), rqtc, rq_num) + 4);
    for (int good = 0; good < 2; good++) {
        vcx_set(d->in, modify_rqt_in, rqtn, table);
        vcx_set(d->in, modify_rqt_in, rqn_list, 1);
        vcx_set(context, rqtc, rqt_actual_size, 1);
        vcx_put32(vcx_at(context, rqtc, rq_num), good ? last : 99);
        expect(d, good ? VCX_OK : VCX_BAD_RESOURCE, 0x917, 32 + 240 + 4, 16);
    }
    arrive(d, frame, length);
    expect_frame(d, length);
    assert_int_equal(queue_of(d, frame, length), 3);
    vcx_set(d->in, dealloc_pd_in, pd, last);
    expect(d, VCX_OK, 0x90a, 16, 16);
    arrive(d, frame, length);
    assert_null(received(d));
    vcx_set(d->in, modify_rqt_in, rqtn, table);
    vcx_set(d->in, modify_rqt_in, rqn_list, 1);
    vcx_set(context, rqtc, rqt_actual_size, 17); /* more than its size */
    expect(d, VCX_BAD_PARAMETER, 0x917, 32 + 240 + 68, 16);
}

/* ---- hostile frames */

/* Frames of every length, cut off, with edits in their headers: each is delivered whole or not at all. */
static void any_frame_is_taken(void **state)
{
    struct driver *d = *state;
    uint8_t frame[400];
    uint32_t seed = 3;
    uint16_t producer = ENTRIES;
    one_queue(d, true);
    for (int i = 0; i < 20000; i++) {
        struct packet p = i & 1 ? tcp4 : udp4;
        p.version = i & 2 ? 6 : 4;
        p.tagged = i & 4;
        uint32_t length = write_packet(frame, &p);
        length = i < 61 ? (uint32_t)i : 1 + next_random(&seed) % length;
        for (int edits = (int)(next_random(&seed) % 4); edits--;)
            frame[12 + next_random(&seed) % 60] = (uint8_t)next_random(&seed);
        uint8_t *exact = malloc(length + 1); /* a read beyond its end is seen by the sanitizer */
        struct vcx_headers h;
        memcpy(exact + 1, frame, length);
        vcx_headers_read(&h, exact + 1, length);
        assert_true(h.end <= length && h.payload <= length && h.l4 <= length && h.l3 <= length);
        free(exact);
        arrive(d, frame, length);
        if (length >= 14) {
            expect_frame(d, length);
            post_receives(d, 0, 2048, ++producer);
        }
        assert_null(received(d));
    }
}

static void headers_behind_extensions_are_found(void **state)
{
    (void)state;
    uint8_t frame[300];
    struct packet p = tcp4;
    struct vcx_headers h;
    p.version = 6;
    uint32_t length = write_packet(frame, &p);
    memmove(frame + 54 + 16, frame + 54, length - 54);
    memset(frame + 54, 0, 16);
    vcx_put16(frame + 18, (uint16_t)(length - 54 + 16));
    frame[20] = 0;  /* hop by hop, */
    frame[54] = 60; /* destination options, */
    frame[62] = 6;  /* TCP */
    vcx_headers_read(&h, frame, length + 16);
    assert_int_equal(h.protocol, 6);
    assert_int_equal(h.l4, 70);
    frame[63] = 255; /* beyond the frame */
    vcx_headers_read(&h, frame, length + 16);
    assert_int_equal(h.l4, 0);
    frame[20] = 44; /* a first fragment */
    frame[54] = 6;
    vcx_headers_read(&h, frame, length + 16);
    assert_true(h.fragment && h.l4 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_fills_several_pieces),        TEST(a_frame_changes_its_pieces_alone),
        TEST(a_reset_changes_the_record_alone),    TEST(completions_say_what_a_frame_is),
        TEST(padding_is_not_in_the_sum),           TEST(wrong_checksums_are_told),
        TEST(tags_are_stripped_unless_kept),       TEST(the_fcs_is_written_when_asked_for),
        TEST(frames_without_an_entry_are_counted), TEST(a_frame_may_be_too_long),
        TEST(memory_that_is_none_stops_the_queue), TEST(the_vport_counts),
        TEST(own_frames_are_taken_when_allowed),   TEST(hashes_are_those_of_microsoft),
        TEST(both_directions_may_hash_alike),      TEST(what_has_not_the_fields_is_hashed_over_less),
        TEST(a_table_may_change_and_lose_queues),  TEST(any_frame_is_taken),
        TEST(headers_behind_extensions_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
