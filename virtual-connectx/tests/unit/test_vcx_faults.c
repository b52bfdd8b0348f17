/* Faults on request, and the port of a whole function. */
#include "virtual-connectx/tests/unit/vcx_function.h"

#include "virtual-connectx/model/command/command.h"
#include "virtual-connectx/model/deliver.h"
#include "virtual-connectx/model/faults/faults.h"
#include "virtual-connectx/model/port/function.h"
#include "virtual-connectx/model/transport/packet.h"

static void request(struct function *f, const char *line)
{
    if (!vcx_fault_request(&f->device, line, &f->error))
        fail_msg("%s: %s", line, f->error.text);
}

/* Frames of 100 bytes, numbered in their byte 20, taken in by the port. */
static void receive(struct function *f, uint8_t count)
{
    for (uint8_t i = 1; i <= count; i++) {
        struct vcx_frame *frame = tagged(100, 0);
        frame->data[20] = i;
        vcx_receive(&f->device, frame);
    }
}

static uint64_t received(const struct function *f)
{
    return f->device.port->counters.rx.frames;
}

static void send(struct function *f, uint8_t count)
{
    for (uint8_t i = 1; i <= count; i++) {
        struct vcx_frame *frame = tagged(100, 0);
        frame->data[20] = i;
        vcx_send(&f->device, frame, -1);
    }
    turn(f, MS);
}

static struct vcx_frame *roce(uint8_t opcode, uint8_t ecn)
{
    static const uint8_t extension[28] = {0};
    struct vcx_path path = {.destination_mac = {2, 0, 0, 0, 0, 1}, .dscp = 26, .ecn = ecn};
    struct vcx_packet_header header = {.opcode = opcode, .qpn = 77, .extension = extension};
    uint8_t *payload;
    header.extension_bytes = opcode == VCX_OPCODE_CNP ? 16 : vcx_operations[opcode & 31].header_bytes;
    path.source[10] = path.source[11] = path.destination[10] = path.destination[11] = 0xff;
    struct vcx_frame *frame = vcx_packet_open(&path, &header, 0, &payload);
    assert_non_null(frame);
    vcx_packet_close(frame);
    return frame;
}

/* ---- frames */

static void the_nth_frame_is_dropped(void **state)
{
    struct function *f = *state;
    request(f, "drop 5");
    receive(f, 4);
    assert_int_equal(received(f), 4);
    receive(f, 1);
    assert_int_equal(received(f), 4);
    receive(f, 20); /* once */
    assert_int_equal(received(f), 24);
    request(f, "drop sent every 3");
    send(f, 9);
    assert_int_equal(f->sent.count, 6);
    static const uint8_t left[] = {1, 2, 4, 5, 7, 8};
    for (size_t i = 0; i < sizeof left; i++) {
        struct vcx_frame *frame = vcx_frames_take(&f->sent);
        assert_int_equal(frame->data[20], left[i]);
        vcx_release(frame);
    }
    request(f, "off");
    send(f, 9);
    assert_int_equal(f->sent.count, 9);
}

static void kinds_are_told_apart(void **state)
{
    struct function *f = *state;
    request(f, "drop cnp every 2");
    for (int i = 0; i < 4; i++) {
        vcx_receive(&f->device, roce(VCX_OPCODE_CNP, 0));
        vcx_receive(&f->device, roce(VCX_SEND_ONLY, 0));
        vcx_receive(&f->device, roce(VCX_ACKNOWLEDGE, 0));
        receive(f, 1);
    }
    assert_int_equal(received(f), 14);
    request(f, "off");
    request(f, "drop 1");
    request(f, "drop data received 1");
    request(f, "drop ack 1");
    for (int i = 0; i < 2; i++) {
        vcx_receive(&f->device, roce(VCX_SEND_ONLY, 0));
        vcx_receive(&f->device, roce(VCX_ACKNOWLEDGE, 0));
    }
    assert_int_equal(received(f), 14 + 4 - 3);
}

static struct vcx_frame *negative(void)
{
    struct vcx_frame *frame = roce(VCX_ACKNOWLEDGE, 0);
    struct vcx_packet packet;
    assert_int_equal(vcx_packet_parse(frame, &packet), VCX_PACKET);
    packet.header[0] = 0x60;
    vcx_packet_close(frame);
    return frame;
}

enum { SHOWN_BYTES = 4096 };

static void add_line(void *context, const char *line)
{
    char *shown = context;
    size_t length = strlen(shown);
    assert_true(snprintf(shown + length, SHOWN_BYTES - length, "%s\n", line) < (int)(SHOWN_BYTES - length));
}

static void expect_shown(const struct function *f, const char *expected)
{
    char shown[SHOWN_BYTES] = "";
    vcx_fault_show(&f->device, add_line, shown);
    assert_string_equal(shown, expected);
}

/* From the second on each third, twice; NAKs and read requests are kinds of their own. What is over still
 * counts. */
static void a_step_and_a_count(void **state)
{
    struct function *f = *state;
    request(f, "drop sent 2 step 3 count 2");
    send(f, 10);
    static const uint8_t left[] = {1, 3, 4, 6, 7, 8, 9, 10};
    assert_int_equal(f->sent.count, sizeof left);
    for (size_t i = 0; i < sizeof left; i++) {
        struct vcx_frame *frame = vcx_frames_take(&f->sent);
        assert_int_equal(frame->data[20], left[i]);
        vcx_release(frame);
    }
    request(f, "drop nak 1");
    request(f, "drop ack 2");
    request(f, "corrupt read-request 1 count 2");
    for (int i = 0; i < 3; i++) {
        vcx_receive(&f->device, roce(VCX_ACKNOWLEDGE, 0));
        vcx_receive(&f->device, negative());
        vcx_receive(&f->device, roce(VCX_READ_REQUEST, 0));
    }
    assert_int_equal(received(f), 7);
    expect_shown(
        f, "drop sent any seen 10 met 2\ndrop received nak seen 3 met 1\ndrop received ack seen 3 met 1\n"
           "corrupt received read-request seen 3 met 2\n");
    for (int i = 0; i < 12; i++)
        request(f, "drop 0x10");
    request(f, "drop every 7"); /* in the place of one that is over */
    request(f, "off");
    expect_shown(f, "");
}

static void lost_pauses_hold_nothing(void **state)
{
    struct function *f = *state;
    f->device.port->settings.pfc_rx = 0x01;
    request(f, "drop pause every 1");
    vcx_receive(&f->device, pfc(0x01, 0xffff));
    receive(f, 1);
    assert_int_equal(f->device.port->counters.priority[0].rx_pause, 0);
    assert_int_equal(received(f), 1);
    request(f, "off");
    vcx_receive(&f->device, pfc(0x01, 0xffff));
    assert_int_equal(f->device.port->counters.priority[0].rx_pause, 1);
    send(f, 1);
    assert_int_equal(f->sent.count, 0);
}

static void frames_are_marked_damaged_and_doubled(void **state)
{
    struct function *f = *state;
    request(f, "mark 1");
    request(f, "corrupt 2");
    vcx_receive(&f->device, roce(VCX_SEND_ONLY, VCX_ECT_0));
    assert_int_equal(f->device.port->counters.priority[0].rx_marked, 1);
    struct vcx_frame *stored = f->device.port->received[0].first;
    struct vcx_packet packet;
    assert_int_equal(vcx_packet_parse(stored, &packet), VCX_PACKET);
    vcx_receive(&f->device, roce(VCX_SEND_ONLY, VCX_ECT_0));
    assert_int_equal(vcx_packet_parse(stored->next, &packet), VCX_BAD_PACKET);
    request(f, "duplicate 1");
    receive(f, 2);
    assert_int_equal(received(f), 5);
    request(f, "fcs 2");
    receive(f, 2);
    assert_int_equal(received(f), 6);
    assert_int_equal(f->device.port->counters.rx_fcs_errors, 1);
}

static void a_delayed_frame_is_overtaken(void **state)
{
    struct function *f = *state;
    request(f, "delay sent 1 20");
    send(f, 2);
    assert_int_equal(f->sent.count, 1);
    assert_int_equal(f->sent.first->data[20], 2);
    turn(f, 20 * MS - MS - 1);
    assert_int_equal(f->sent.count, 1);
    turn(f, MS + 1);
    assert_int_equal(f->sent.count, 2);
    assert_int_equal(f->sent.last->data[20], 1);
    request(f, "delay every 1 1000");
    receive(f, 10); /* freed with the device */
    assert_int_equal(received(f), 0);
}

static void bad_requests_have_a_sentence(void **state)
{
    struct function *f = *state;
    char long_line[210] = "drop 1";
    memset(long_line + 6, ' ', sizeof long_line - 7);
    const char *const lines[] = {
        "",
        " \n",
        "explode 1",
        "drop",
        "drop 0",
        "drop 1 2",
        "drop five",
        "drop 0x",
        "drop 99999999999999999999",
        "drop 1000000001",
        "drop -1",
        "delay 5",
        "delay 5 3600001",
        "drop every cnp",
        "flap",
        "flap 0",
        "storm",
        "storm 5 after",
        "storm 5 after 3600001",
        "storm 5 priority 8",
        "storm 5 until 9",
        "command-timeout",
        "command-timeout 1 2",
        "off now",
        "drop 1 sideways",
        "drop 1 step",
        "drop 1 step 0",
        "drop 1 count many",
        "drop 1 any any any any any any any any any any any any any any any",
        long_line,
        " ",
    };
    for (size_t i = 0; i < VCX_COUNT(lines); i++) {
        f->error.text[0] = 0;
        assert_false(vcx_fault_request(&f->device, lines[i], &f->error));
        assert_true(strlen(f->error.text) > 10);
    }
    for (int i = 0; i < 16; i++)
        request(f, "drop 0x10");
    assert_false(vcx_fault_request(&f->device, "drop 1", &f->error));
}

/* ---- firmware and link */

#define NOP 0x80d

/* Rings for a NOP in slot 0; true: it was answered. */
static bool nop(struct function *f)
{
    uint8_t *slot = f->front.memory;
    memset(slot, 0, 64);
    slot[0] = 7;
    vcx_put32(slot + 4, 16);
    vcx_put16(slot + 16, NOP);
    vcx_put32(slot + 56, 16);
    slot[63] = 1;
    vcx_put32(f->front.bar + 0x18, 1);
    turn(f, MS);
    vcx_put32(f->front.bar + 0x18, 1);
    turn(f, MS);
    return !(slot[63] & 1);
}

static void give_queue(struct function *f)
{
    vcx_put32(f->front.bar + 0x10, (uint32_t)(MEMORY_AT >> 32));
    vcx_put32(f->front.bar + 0x14, (uint32_t)MEMORY_AT);
}

static void the_nth_command_is_lost(void **state)
{
    struct function *f = *state;
    give_queue(f);
    request(f, "command-timeout 2");
    assert_true(nop(f));
    assert_false(nop(f));
    assert_true(nop(f));
}

static void a_stopped_firmware_has_a_syndrome(void **state)
{
    struct function *f = *state;
    give_queue(f);
    assert_true(nop(f));
    turn(f, 200 * MS);
    uint32_t beat = vcx_be32(f->front.bar + 0x1010);
    request(f, "internal-error 5000");
    turn(f, 200 * MS);
    assert_int_equal(vcx_be32(f->front.bar + 0x1010), beat);
    assert_int_equal(f->front.bar[0x238], 0x80);
    assert_int_equal(f->front.bar[0x23d], 1);
    assert_false(nop(f));
    receive(f, 1);
    assert_int_equal(received(f), 0);
    turn(f, 5000 * MS);
    assert_int_equal(f->front.bar[0x23d], 0);
    assert_int_equal(vcx_be32(f->front.bar + 0x1010), beat + 1);
    assert_int_equal(vcx_be32(f->front.bar + 0x14), 5 << 4 | 6); /* waits for a queue */
    give_queue(f);
    assert_true(nop(f));
}

static void a_link_flaps(void **state)
{
    struct function *f = *state;
    turn(f, MS);
    request(f, "flap 30");
    receive(f, 1);
    turn(f, 29 * MS);
    assert_false(vcx_port_up(f->device.port));
    send(f, 1);
    assert_int_equal(f->sent.count, 0);
    assert_int_equal(f->device.port->counters.tx_discards, 1);
    turn(f, MS);
    assert_true(vcx_port_up(f->device.port));
    assert_int_equal(f->device.port->counters.link_downs, 1);
    vcx_port_carrier(&f->device, false);
    turn(f, MS);
    assert_int_equal(f->device.port->counters.link_downs, 2);
}

/* The other end is held though there is room, as long as pauses are on; then it is let go. */
static void a_port_storms(void **state)
{
    struct function *f = *state;
    const struct vcx_priority_counters *c = &f->device.port->counters.priority[3];
    f->device.port->settings.pfc_tx = 0x08;
    turn(f, MS);
    assert_int_equal(c->tx_pause, 0);
    request(f, "storm 30");
    turn(f, MS);
    assert_int_equal(c->tx_pause, 1);
    turn(f, 28 * MS);
    uint64_t refreshed = c->tx_pause;
    assert_true(f->device.port->xoff[3].on && !f->device.port->xoff[4].on);
    turn(f, 2 * MS);
    assert_int_equal(c->tx_pause, refreshed + 1); /* XON */
    assert_false(f->device.port->xoff[3].on);
    static const char *const ends[] = {"off", "storm 0"};
    for (size_t i = 0; i < VCX_COUNT(ends); i++) {
        request(f, "storm 30");
        turn(f, MS);
        assert_true(f->device.port->xoff[3].on);
        request(f, ends[i]);
        turn(f, MS);
        assert_false(f->device.port->xoff[3].on);
    }
    request(f, "storm 30 after 5"); /* not yet on */
    request(f, "storm 0");
    turn(f, 10 * MS);
    assert_false(f->device.port->xoff[3].on);
}

static void a_storm_of_one_priority_begins_later(void **state)
{
    struct function *f = *state;
    const struct vcx_xoff *xoff = f->device.port->xoff;
    f->device.port->settings.pfc_tx = 0x18;
    request(f, "storm 30 after 10 priority 4");
    turn(f, 9 * MS);
    assert_false(xoff[3].on || xoff[4].on);
    turn(f, 2 * MS);
    assert_true(!xoff[3].on && xoff[4].on);
    turn(f, 30 * MS);
    assert_false(xoff[3].on || xoff[4].on);
    request(f, "storm 30 priority 0 after 0"); /* in any order; this one is not lossless */
    turn(f, MS);
    assert_false(xoff[3].on || xoff[4].on);
    assert_int_equal(f->device.port->counters.priority[0].tx_pause, 0);
}

/* An event queue of 16 entries for changes of the port, in page 1. */
static void create_event_queue(struct function *f)
{
    uint8_t in[512] = {0}, out[16];
    struct vcx_call call = {&f->device, in, out, vcx_offset(create_eq_in, pas) + 8, sizeof out};
    vcx_put16(in, 0x301);
    vcx_set(vcx_at(in, create_eq_in, eq_context_entry), eqc, log_eq_size, 4);
    vcx_set(vcx_at(in, create_eq_in, eq_context_entry), eqc, intr, 3);
    vcx_set(in, create_eq_in, event_bitmask_0, 1 << 9);
    vcx_put64(in + vcx_offset(create_eq_in, pas), MEMORY_AT + VCX_PAGE_BYTES);
    assert_int_equal(vcx_command_run(&call), VCX_OK);
}

static void the_driver_hears_of_the_link(void **state)
{
    struct function *f = *state;
    static const uint8_t subtypes[] = {1, 4, 1}; /* down, active, down */
    create_event_queue(f);
    turn(f, MS);
    assert_int_equal(f->front.interrupts[3], 0);
    vcx_port_carrier(&f->device, false);
    turn(f, MS);
    vcx_port_carrier(&f->device, true);
    turn(f, MS);
    turn(f, MS);
    f->device.port->settings.admin_up = false;
    turn(f, MS);
    assert_int_equal(f->front.interrupts[3], 3);
    for (size_t i = 0; i < sizeof subtypes; i++) {
        const uint8_t *entry = f->front.memory + VCX_PAGE_BYTES + 64 * i;
        assert_int_equal(entry[1], 9);
        assert_int_equal(entry[3], subtypes[i]);
        assert_int_equal(entry[32 + 8], 1 << 4);
    }
    assert_int_equal(f->device.port->counters.link_downs, 2);
}

/* ---- the function's port */

static void own_frames_do_not_reach_the_wire(void **state)
{
    struct function *f = *state;
    struct vcx_frame *frame = tagged(1000, 0);
    memcpy(frame->data, front_configuration.mac, 6);
    uint32_t room = vcx_port_loop_room(f->device.port);
    vcx_send(&f->device, frame, -1);
    assert_int_equal(vcx_port_loop_room(f->device.port), room - 1000);
    turn(f, MS);
    assert_int_equal(vcx_port_loop_room(f->device.port), room);
    assert_int_equal(f->sent.count, 0);
    assert_int_equal(received(f), 0);
    assert_int_equal(f->device.port->counters.tx.frames, 0);
}

/* As much as there is room for: frames of queue pairs have 1,000 bytes, the Ethernet driver's 900. */
static void fill(struct function *f, bool rdma)
{
    uint32_t bytes = rdma ? 1000 : 900;
    while (vcx_send_room(&f->device, 0, rdma) >= bytes) {
        struct vcx_frame *frame = tagged(bytes, 0);
        frame->rdma = rdma;
        vcx_send(&f->device, frame, 0);
    }
}

/* On a line that both could fill each gets half, whoever comes first. */
static void queue_pairs_and_the_driver_share_the_line(void **state)
{
    struct function *f = *state;
    uint32_t count = 0, of_rdma = 0;
    vcx_port_set_line(f->device.port, 100000000);
    while (count < 1000) {
        fill(f, false);
        fill(f, true);
        turn(f, MS / 10);
        struct vcx_frame *frame;
        while ((frame = vcx_frames_take(&f->sent))) {
            count++;
            of_rdma += frame->length == 1000;
            vcx_release(frame);
        }
    }
    assert_in_range(of_rdma, count * 45 / 100, count * 55 / 100);
    assert_int_equal(f->device.port->counters.tx_discards, 0);
}

/* A slow line has a short queue, so that an acknowledgement does not wait for seconds behind data. */
static void a_slow_lines_queue_holds_few_frames(void **state)
{
    struct function *f = *state;
    vcx_port_set_line(f->device.port, 5000000);
    fill(f, true);
    assert_in_range(f->device.port->sending[0].bytes, VCX_MOST_MTU, 2 * VCX_MOST_MTU);
    assert_true(vcx_send_room(&f->device, 0, false) > VCX_MOST_MTU);
    vcx_port_went_down(f->device.port);
    assert_int_equal(f->device.port->rdma_bytes[0], 0);
}

static void send_takes_the_priority_of_the_trust(void **state)
{
    struct function *f = *state;
    assert_int_equal(vcx_send_priority(&f->device, 26, 5), 5);
    vcx_send(&f->device, packet(100, 5, 26, 0), -1);
    f->device.port->settings.trust = VCX_TRUST_DSCP;
    assert_int_equal(vcx_send_priority(&f->device, 26, 5), 3);
    vcx_send(&f->device, packet(100, 5, 26, 0), -1);
    vcx_send(&f->device, packet(100, 5, 26, 0), 7);
    turn(f, MS);
    for (int i = 0; i < 8; i++)
        assert_int_equal(f->device.port->counters.priority[i].tx_frames, i == 3 || i == 5 || i == 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, function_start, function_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_nth_frame_is_dropped),
        TEST(kinds_are_told_apart),
        TEST(a_step_and_a_count),
        TEST(lost_pauses_hold_nothing),
        TEST(frames_are_marked_damaged_and_doubled),
        TEST(a_delayed_frame_is_overtaken),
        TEST(bad_requests_have_a_sentence),
        TEST(the_nth_command_is_lost),
        TEST(a_stopped_firmware_has_a_syndrome),
        TEST(a_link_flaps),
        TEST(a_port_storms),
        TEST(a_storm_of_one_priority_begins_later),
        TEST(the_driver_hears_of_the_link),
        TEST(own_frames_do_not_reach_the_wire),
        TEST(queue_pairs_and_the_driver_share_the_line),
        TEST(a_slow_lines_queue_holds_few_frames),
        TEST(send_takes_the_priority_of_the_trust),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
