/* Frames that were written are read again: every opcode, cut at every byte, with right and wrong ICRCs. */
#include "tests/unit/unit.h"

#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"

static struct frame frame_of(uint8_t opcode, bool v6, bool tagged)
{
    const struct opcode_row *row = opcode_find(opcode);
    struct frame f = {.kind = FRAME_ROCE,
                      .ethernet = {.destination = {1, 2, 3, 4, 5, 6}, .source = {7, 8, 9, 10, 11, 12}}};
    if (tagged) {
        f.ethernet.tagged = true;
        f.ethernet.priority = 5;
        f.ethernet.vlan = 0x234;
    }
    f.roce = (struct frame_roce){
        .ip = {.v6 = v6,
               .source = {10, 1, 2, 3},
               .destination = {10, 4, 5, 6},
               .dscp = 26,
               .ecn = FRAME_CE,
               .hop_limit = 7},
        .source_port = 0xc123,
        .bth = {.opcode = opcode,
                .partition = 0x8001,
                .qpn = 0x654321,
                .psn = 0xfedcba,
                .ack_request = true,
                .solicited = true},
    };
    if (v6)
        f.roce.ip.flow_label = 0x54321;
    else
        f.roce.ip.identification = 0xabcd;
    if (row->feth)
        f.roce.flush = 0x0000001a;
    if (row->reth || row->atomic)
        f.roce.reth = (struct frame_reth){0x1122334455667788, 0x99aabbcc, row->reth ? 0x10000 : 0};
    if (row->aeth)
        f.roce.aeth = (struct frame_aeth){0x60, 0x010203};
    if (row->atomic) {
        f.roce.swap = 3;
        f.roce.compare = 4;
    }
    if (row->atomic_answer)
        f.roce.compare = 9;
    if (row->immediate)
        f.roce.immediate = 0xdeadbeef;
    if (OPCODE_SERVICE(opcode) == OPCODE_UD) {
        f.roce.queue_key = 0x80010000;
        f.roce.source_qpn = 0x777777;
    }
    if (row->payload) {
        f.roce.payload_bytes = 21;
        f.roce.bth.pad_bytes = 3;
    }
    return f;
}

/* Each field, whatever is between them in memory. */
static void same(const struct frame *a, const struct frame *b)
{
    uint8_t bytes[2][256];
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->roce.payload_bytes, b->roce.payload_bytes);
    assert_int_equal(a->roce.bth.pad_bytes, b->roce.bth.pad_bytes);
    size_t length = frame_write(a, bytes[0], sizeof bytes[0]);
    assert_int_equal(frame_write(b, bytes[1], sizeof bytes[1]), length);
    assert_memory_equal(bytes[0], bytes[1], length);
}

/* At every length: all fields, those of the transport header, or nothing. The ICRC is right, or cut off; with
 * any bit changed that it covers, it is wrong. */
static void read_again(const struct frame *f)
{
    uint8_t bytes[256];
    size_t length = frame_write(f, bytes, sizeof bytes), whole = 0;
    for (size_t captured = 0; captured <= length; captured++) {
        struct frame got = {0};
        uint8_t *exact = malloc(captured + 1);
        memcpy(exact, bytes, captured);
        frame_read(exact, captured, &got);
        assert_true(got.kind == FRAME_CUT || got.kind == FRAME_ROCE);
        assert_true(captured < FRAME_MOST_HEADER_BYTES || (got.kind == FRAME_ROCE && !got.roce.cut));
        if (got.kind == FRAME_ROCE && got.roce.cut) { /* what the transport header says is known */
            assert_int_equal(whole, 0);
            assert_int_equal(got.roce.bth.psn, f->roce.bth.psn);
            assert_int_equal(got.roce.payload_bytes, f->roce.payload_bytes);
            assert_int_equal(got.roce.reth.length, 0);
            assert_int_equal(frame_read_icrc(exact, captured), FRAME_ICRC_CUT);
        } else if (got.kind == FRAME_ROCE) {
            same(f, &got);
            whole += frame_read_icrc(exact, captured) == FRAME_ICRC_RIGHT;
            assert_int_not_equal(frame_read_icrc(exact, captured), FRAME_ICRC_WRONG);
        } else {
            assert_true(captured < length);
            assert_int_equal(whole, 0);
        }
        free(exact);
    }
    assert_true(whole > 0);
    size_t psn_at =
        FRAME_ETHERNET_BYTES + (f->ethernet.tagged ? 4u : 0u) + (f->roce.ip.v6 ? 40u : 20u) + 8 + 11;
    bytes[psn_at] ^= 1;
    assert_int_equal(frame_read_icrc(bytes, length), FRAME_ICRC_WRONG);
}

static void every_opcode(void **state)
{
    int known = 0;
    (void)state;
    for (int opcode = 0; opcode < 256; opcode++) {
        if (!opcode_find((uint8_t)opcode))
            continue;
        for (int kind = 0; kind < 4; kind++) {
            struct frame f = frame_of((uint8_t)opcode, kind & 1, kind & 2);
            read_again(&f);
        }
        known++;
    }
    assert_true(known > 40);
}

/* Tags of IEEE 802.1Q, and those of older switches, around one another. */
static void tags_of_each_type(void **state)
{
    static const uint8_t types[][2] = {{0x81, 0}, {0x88, 0xa8}, {0x91, 0}, {0x92, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct frame f = frame_of(OPCODE_SEND_ONLY, false, true), got;
        uint8_t bytes[256], outer[260];
        size_t length = frame_write(&f, bytes, sizeof bytes);
        memcpy(outer, bytes, 12);
        memcpy(outer + 12, types[i], 2);
        outer[14] = 0xe0;
        outer[15] = 0x07;
        memcpy(outer + 16, bytes + 12, length - 12);
        frame_read(outer, length + 4, &got);
        assert_int_equal(got.kind, FRAME_ROCE);
        assert_int_equal(got.ethernet.priority, 7);
        assert_int_equal(got.ethernet.vlan, 7);
        assert_int_equal(frame_read_icrc(outer, length + 4), FRAME_ICRC_RIGHT);
    }
}

static void control_frames(void **state)
{
    struct frame f = {.kind = FRAME_PFC,
                      .pfc = {.priorities = 0x88, .quanta = {1, 2, 3, 4, 5, 6, 7, 0xffff}}},
                 got;
    uint8_t bytes[64];
    (void)state;
    size_t length = frame_write(&f, bytes, sizeof bytes);
    frame_read(bytes, length, &got);
    assert_int_equal(got.kind, FRAME_PFC);
    assert_int_equal(got.pfc.priorities, 0x88);
    assert_memory_equal(got.pfc.quanta, f.pfc.quanta, sizeof f.pfc.quanta);
    frame_read(bytes, 33, &got);
    assert_int_equal(got.kind, FRAME_CUT);
    f = (struct frame){.kind = FRAME_PAUSE, .pause_quanta = 0x1234};
    frame_write(&f, bytes, sizeof bytes);
    frame_read(bytes, 18, &got);
    assert_int_equal(got.kind, FRAME_PAUSE);
    assert_int_equal(got.pause_quanta, 0x1234);
}

/* Each of these makes a good packet into one that cannot be read. */
static void contradictions(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {
        {12, 0x86}, /* not IP */
        {14, 0x44}, /* a header of 16 bytes */
        {14, 0x4f}, /* of 60 */
        {14, 0x65}, /* version 6 */
        {17, 40},   /* IP is shorter than UDP */
        {20, 0x20}, /* a fragment */
        {23, 6},    /* TCP */
        {36, 0x11}, /* another port */
        {38, 0},    /* UDP's length is below its header's */
        {42, 0x1f}, /* no such opcode */
        {42, 0x40}, /* of reliable datagrams */
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct frame f = frame_of(OPCODE_WRITE_ONLY, false, false), got;
        uint8_t bytes[128];
        size_t length = frame_write(&f, bytes, sizeof bytes);
        bytes[changes[i].at] = changes[i].value;
        if (changes[i].at == 38)
            bytes[39] = 7;
        frame_read(bytes, length, &got);
        if (got.kind != FRAME_OTHER)
            fail_msg("byte %zu as 0x%x is taken", changes[i].at, changes[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode),
        cmocka_unit_test(tags_of_each_type),
        cmocka_unit_test(control_frames),
        cmocka_unit_test(contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
