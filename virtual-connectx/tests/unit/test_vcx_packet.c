/* RoCEv2 packets of the virtual ConnectX against a frame that a ConnectX-4 Lx sent. */
#include "virtual-connectx/tests/unit/vcx_unit.h"

#include "virtual-connectx/model/transport/packet.h"

/* A CNP, captured on a ConnectX-4 Lx (Scapy's test/contrib/roce.uts). */
static const uint8_t cnp[] = {
    0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32, 0x08, 0x00, 0x45,
    0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01,
    0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff,
    0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
};

static struct vcx_frame *frame_of(const uint8_t *bytes, uint32_t length)
{
    struct vcx_frame *frame = vcx_frame_new(length);
    assert_non_null(frame);
    memcpy(frame->data, bytes, length);
    frame->length = length;
    return frame;
}

static enum vcx_parsed parse_changed(const uint8_t *bytes, uint32_t length, uint32_t at, uint8_t flip)
{
    struct vcx_packet packet;
    struct vcx_frame *frame = frame_of(bytes, length);
    frame->data[at] ^= flip;
    enum vcx_parsed parsed = vcx_packet_parse(frame, &packet);
    vcx_release(frame);
    return parsed;
}

static void a_frame_of_hardware_is_read(void **state)
{
    (void)state;
    struct vcx_packet p;
    struct vcx_frame *frame = frame_of(cnp, sizeof cnp);
    assert_int_equal(vcx_packet_parse(frame, &p), VCX_PACKET);
    assert_int_equal(p.opcode, VCX_OPCODE_CNP);
    assert_int_equal(p.qpn, 0x118);
    assert_int_equal(p.dscp, 48);
    assert_int_equal(p.ecn, VCX_ECT_0);
    assert_int_equal(p.bytes, 16);
    vcx_release(frame);
}

/* The invariant CRC covers every byte after the Ethernet header but those that routers change. */
static void a_flipped_bit_is_found(void **state)
{
    (void)state;
    for (uint32_t at = 14; at < sizeof cnp; at++) {
        bool udp_checksum = at == 40 || at == 41, becn = at == 46;
        for (int bit = 0; bit < 8; bit++) {
            enum vcx_parsed parsed = parse_changed(cnp, sizeof cnp, at, (uint8_t)(1 << bit));
            if (udp_checksum || becn)
                assert_int_equal(parsed, VCX_PACKET);
            else if (parsed == VCX_PACKET)
                fail_msg("bit %d of byte %u changed, and the packet was taken", bit, at);
        }
    }
}

static void padding_is_zero(void **state)
{
    (void)state;
    const struct vcx_path path = {0};
    const struct vcx_packet_header h = {.opcode = VCX_SEND_ONLY};
    static const uint8_t zeros[3];
    for (uint32_t bytes = 1; bytes <= 4; bytes++) {
        uint8_t *payload;
        struct vcx_frame *frame = vcx_packet_open(&path, &h, bytes, &payload);
        assert_non_null(frame);
        assert_memory_equal(payload + bytes, zeros, -bytes & 3);
        vcx_release(frame);
    }
}

static void cut_frames_are_not_packets(void **state)
{
    (void)state;
    for (uint32_t length = 0; length < sizeof cnp; length++) {
        struct vcx_packet p;
        struct vcx_frame *frame = frame_of(cnp, length);
        assert_true(vcx_packet_parse(frame, &p) != VCX_PACKET);
        vcx_release(frame);
    }
}

/* ---- written and read again */

static void round_trip(bool v6, bool tagged, uint32_t bytes)
{
    static const uint8_t extension[16] = {1, 2, 3};
    struct vcx_path path = {
        .v6 = v6, .tagged = tagged, .vlan = 7, .pcp = 5, .dscp = 26, .ecn = VCX_ECT_0, .source_port = 0xc123};
    struct vcx_packet_header header = {.opcode = VCX_WRITE_ONLY,
                                       .acknowledge = true,
                                       .partition = 0xffff,
                                       .qpn = 0x123456,
                                       .psn = 0xfffffe,
                                       .extension = extension,
                                       .extension_bytes = sizeof extension};
    struct vcx_packet p;
    uint8_t *payload;
    struct vcx_frame *frame = vcx_packet_open(&path, &header, bytes, &payload);
    assert_non_null(frame);
    assert_true(frame->length <= frame->room);
    memset(payload, 0xa5, bytes);
    vcx_packet_close(frame);
    assert_int_equal(vcx_packet_parse(frame, &p), VCX_PACKET);
    assert_true(p.v6 == v6 && p.dscp == 26 && p.ecn == VCX_ECT_0 && p.source_port == 0xc123);
    assert_true(p.opcode == VCX_WRITE_ONLY && p.qpn == 0x123456 && p.psn == 0xfffffe && p.acknowledge);
    assert_int_equal(p.bytes, sizeof extension + bytes);
    assert_memory_equal(p.header, extension, sizeof extension);
    for (uint32_t i = 0; i < bytes; i++)
        assert_int_equal(p.header[sizeof extension + i], 0xa5);
    /* a switch marks it: still whole */
    vcx_frame_mark(frame);
    assert_int_equal(vcx_packet_parse(frame, &p), VCX_PACKET);
    assert_int_equal(p.ecn, VCX_CE);
    vcx_release(frame);
}

static void packets_are_written_and_read(void **state)
{
    (void)state;
    for (int v6 = 0; v6 < 2; v6++)
        for (int tagged = 0; tagged < 2; tagged++)
            for (uint32_t bytes = 0; bytes < 70; bytes++)
                round_trip(v6, tagged, bytes);
    round_trip(true, true, 4096);
}

static void sequence_numbers_wrap(void **state)
{
    (void)state;
    assert_int_equal(vcx_psn_distance(0, 0xffffff), 1);
    assert_int_equal(vcx_psn_distance(0xffffff, 0), -1);
    assert_int_equal(vcx_psn_distance(0x7fffff, 0), 0x7fffff);
    assert_int_equal(vcx_psn_distance(0x800000, 0), -0x800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_of_hardware_is_read),
        cmocka_unit_test(a_flipped_bit_is_found),
        cmocka_unit_test(padding_is_zero),
        cmocka_unit_test(cut_frames_are_not_packets),
        cmocka_unit_test(packets_are_written_and_read),
        cmocka_unit_test(sequence_numbers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
