/* Frames as bytes, against packets that were published; opcodes against those of the virtual ConnectX, whose
 * kernel module cannot use lib/. */
#include "tests/unit/unit.h"

#include "lib/packets/frame.h"
#include "lib/packets/opcode.h"
#include "virtual-connectx/model/transport/packet.h"

/* A CNP, captured on a ConnectX-4 Lx (Scapy's test/contrib/roce.uts). */
static const uint8_t cnp_bytes[] = {
    0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32, 0x08, 0x00, 0x45,
    0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01,
    0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff,
    0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
};

static const struct frame cnp = {
    .kind = FRAME_ROCE,
    .ethernet = {.destination = {0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2},
                 .source = {0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32}},
    .roce = {.ip = {.source = {10, 0, 17, 1},
                    .destination = {10, 0, 18, 1},
                    .dscp = 48,
                    .ecn = FRAME_ECT_0,
                    .hop_limit = 64,
                    .identification = 0x718c},
             .bth = {.opcode = OPCODE_CNP, .becn = true, .partition = 0xffff, .qpn = 0x118}},
};

/* A SEND Only of an unreliable connection, from its IP header on (the same file). */
static const uint8_t send_bytes[] = {
    0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5, 0xc0, 0xa8, 0x00, 0x07,
    0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2, 0x24, 0x60, 0xff, 0xff,
    0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10, 0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9,
    0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00, 0x78, 0xf3, 0x53, 0xf3,
};

static void icrc_of_published_packets(void **state)
{
    uint8_t send[FRAME_ETHERNET_BYTES + sizeof send_bytes] = {[12] = 0x08, [13] = 0x00};
    (void)state;
    memcpy(send + FRAME_ETHERNET_BYTES, send_bytes, sizeof send_bytes);
    assert_int_equal(frame_read_icrc(send, sizeof send), FRAME_ICRC_RIGHT);
    assert_int_equal(frame_read_icrc(cnp_bytes, sizeof cnp_bytes), FRAME_ICRC_RIGHT);
    send[sizeof send - 5] ^= 1; /* the last byte that is covered */
    assert_int_equal(frame_read_icrc(send, sizeof send), FRAME_ICRC_WRONG);
}

static void a_published_packet_is_written(void **state)
{
    uint8_t bytes[128];
    (void)state;
    assert_int_equal(frame_length(&cnp), sizeof cnp_bytes);
    assert_int_equal(frame_write(&cnp, bytes, sizeof bytes), sizeof cnp_bytes);
    assert_memory_equal(bytes, cnp_bytes, sizeof cnp_bytes);
}

static struct frame roce_frame(uint8_t opcode, bool v6, bool tagged, uint32_t payload_bytes)
{
    struct frame f = {.kind = FRAME_ROCE, .ethernet = {.tagged = tagged, .priority = 5, .vlan = 0x234}};
    f.roce = (struct frame_roce){
        .ip = {.v6 = v6,
               .source = {1, 2, 3, 4, 5},
               .destination = {6, 7, 8, 9},
               .dscp = 26,
               .ecn = FRAME_CE,
               .hop_limit = 7,
               .identification = 0xabcd,
               .flow_label = 0x54321},
        .source_port = 0xc123,
        .bth = {.opcode = opcode, .partition = 0x8001, .qpn = 0x654321, .psn = 0xfedcba, .ack_request = true},
        .reth = {.address = 0x1122334455667788, .key = 0x99aabbcc, .length = 0x10000},
        .aeth = {.syndrome = 0x60, .msn = 0x010203},
        .swap = 1,
        .compare = 2,
        .immediate = 0xdeadbeef,
        .queue_key = 0x80010000,
        .source_qpn = 0x42,
        .payload_bytes = payload_bytes};
    return f;
}

static void check_frame(const struct frame *f, uint8_t *bytes, uint8_t *part)
{
    size_t length = frame_length(f), ip_at = f->ethernet.tagged ? 18 : 14, ip = f->roce.ip.v6 ? 40 : 20;
    assert_int_equal(frame_write(f, bytes, 8192), length);
    size_t expected = ip_at + ip + 20 + opcode_header_bytes(f->roce.bth.opcode) + f->roce.payload_bytes +
                      (-f->roce.payload_bytes & 3) + 4;
    assert_int_equal(length, expected < FRAME_LEAST_BYTES ? FRAME_LEAST_BYTES : expected);
    assert_int_equal(frame_read_icrc(bytes, length), FRAME_ICRC_RIGHT);
    assert_int_equal(bytes[ip_at + ip + 8], f->roce.bth.opcode);
    assert_int_equal(bytes[ip_at + ip + 9] >> 4 & 3, -f->roce.payload_bytes & 3);
    for (size_t room = 0; room <= length; room += room < 150 || room + 6 >= length ? 1 : length - 6 - room) {
        memset(part, 0xa5, length + 1);
        assert_int_equal(frame_write(f, part, room), room);
        assert_memory_equal(part, bytes, room);
        assert_int_equal(part[room], 0xa5);
    }
}

static void every_opcode_length_and_cut(void **state)
{
    static uint8_t bytes[8192], part[8192];
    static const uint32_t payloads[] = {0, 1, 2, 3, 4, 255, 1024, 4095, 4096};
    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const struct opcode_row *row = opcode_find((uint8_t)opcode);
        for (size_t i = 0; row && i < (row->payload ? sizeof payloads / sizeof *payloads : 1); i++)
            for (unsigned kind = 0; kind < 4; kind++) {
                struct frame f = roce_frame((uint8_t)opcode, kind & 1, kind & 2, payloads[i]);
                check_frame(&f, bytes, part);
            }
    }
}

static void the_model_reads_what_is_written(void **state)
{
    struct frame f = roce_frame(OPCODE_WRITE_ONLY_IMMEDIATE, true, true, 1001);
    struct vcx_packet p;
    (void)state;
    for (int v6 = 0; v6 < 2; v6++) {
        f.roce.ip.v6 = v6;
        struct vcx_frame *frame = vcx_frame_new((uint32_t)frame_length(&f));
        assert_non_null(frame);
        frame->length = (uint32_t)frame_write(&f, frame->data, frame_length(&f));
        assert_int_equal(vcx_packet_parse(frame, &p), VCX_PACKET);
        assert_int_equal(p.opcode, OPCODE_WRITE_ONLY_IMMEDIATE);
        assert_int_equal(p.psn, 0xfedcba);
        assert_int_equal(p.qpn, 0x654321);
        assert_int_equal(p.dscp, 26);
        assert_int_equal(p.ecn, FRAME_CE);
        assert_int_equal(p.source_port, 0xc123);
        assert_int_equal(p.bytes, 20 + 1001);
        assert_true(p.acknowledge);
        vcx_release(frame);
    }
}

static void pauses_are_written(void **state)
{
    static const uint8_t head[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0, 0, 0, 0, 9, 0x88, 0x08};
    static const uint8_t pfc_tail[] = {0x01, 0x01, 0x00, 0x88, 0, 0, 0, 0, 0, 0,
                                       0x12, 0x34, 0,    0,    0, 0, 0, 0, 0, 0};
    static const uint8_t pause_tail[] = {0x00, 0x01, 0xff, 0xff, 0};
    struct frame f = {
        .kind = FRAME_PFC,
        .ethernet = {.destination = {0x01, 0x80, 0xc2, 0, 0, 1}, .source = {0x02, 0, 0, 0, 0, 9}},
        .pfc = {.priorities = 0x88, .quanta = {[3] = 0x1234}}};
    uint8_t bytes[FRAME_LEAST_BYTES];
    (void)state;
    assert_int_equal(frame_write(&f, bytes, sizeof bytes), FRAME_LEAST_BYTES);
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + sizeof head, pfc_tail, sizeof pfc_tail);
    f.kind = FRAME_PAUSE;
    f.pause_quanta = 0xffff;
    assert_int_equal(frame_write(&f, bytes, sizeof bytes), FRAME_LEAST_BYTES);
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + sizeof head, pause_tail, sizeof pause_tail);
    f.kind = FRAME_OTHER;
    assert_int_equal(frame_write(&f, bytes, sizeof bytes), 0);
}

static void opcodes_are_those_of_the_model(void **state)
{
    (void)state;
    assert_int_equal(OPCODE_CNP, VCX_OPCODE_CNP);
    for (unsigned i = 0; i < OPCODE_FLUSH; i++) { /* the model has none of the later ones */
        const struct opcode_row *ours = &opcode_rows[i];
        const struct vcx_operation_row *theirs = &vcx_operations[i];
        assert_int_equal(!!ours->name, theirs->exists);
        if (!ours->name)
            continue;
        assert_int_equal(opcode_header_bytes((uint8_t)i), theirs->header_bytes);
        assert_int_equal(ours->immediate, theirs->immediate || theirs->invalidate);
        assert_int_equal(ours->response, theirs->response);
        assert_int_equal(ours->reth, theirs->header_bytes >= 16 && !ours->atomic);
        if (i != OPCODE_ACKNOWLEDGE &&
            i != OPCODE_ATOMIC_ACKNOWLEDGE) { /* there they count as no message's */
            assert_int_equal(ours->first, theirs->first);
            assert_int_equal(ours->last, theirs->last);
        }
        assert_int_equal(ours->payload,
                         theirs->send || theirs->write || (i >= VCX_READ_FIRST && i <= VCX_READ_ONLY));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(icrc_of_published_packets),   cmocka_unit_test(a_published_packet_is_written),
        cmocka_unit_test(every_opcode_length_and_cut), cmocka_unit_test(the_model_reads_what_is_written),
        cmocka_unit_test(pauses_are_written),          cmocka_unit_test(opcodes_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
