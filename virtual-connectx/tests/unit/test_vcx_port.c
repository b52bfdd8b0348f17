/* A port of the virtual ConnectX: rates, shares, pauses and buffers, in bytes, quanta and ns. */
#include "virtual-connectx/tests/unit/vcx_port_owner.h"

#define GBIT    1000000000ull
#define MBIT    1000000ull
#define MS      1000000ull
#define QUANTUM 512 /* ns at 1 Gbit/s */

static void fill_queue(struct owner *o, uint8_t priority, uint32_t bytes)
{
    while (vcx_port_room(&o->port, priority) >= bytes)
        vcx_port_send(&o->port, tagged(bytes, priority), priority);
}

/* ---- egress */

/* 1,000 bytes, FCS, preamble and gap: 1,024 bytes or 8,192 ns at 1 Gbit/s. */
static void the_line_has_its_rate(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    for (int i = 0; i < 100; i++)
        vcx_port_send(&o.port, tagged(1000, 0), 0);
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.frames, 1);
    o.now_ns += 8191;
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.frames, 1);
    o.now_ns += 1;
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.frames, 2);
    o.now_ns += 8192 * 40; /* a late poll */
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.frames, 42);
    assert_int_equal(o.port.counters.tx.frames, 42);
    assert_int_equal(o.port.counters.tx.bytes, 42 * 1004);
    assert_int_equal(o.port.counters.tx.of_size[4], 42);
    assert_int_equal(o.port.counters.priority[0].tx_bytes, 42 * 1004);
    vcx_port_stop(&o.port);
}

/* What is sent after a pause in the traffic has no rate to make up for. */
static void idle_time_is_not_saved(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    pass(&o, 50 * MS, MS);
    o.now_ns += 50 * MS;
    fill_queue(&o, 0, 1000);
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.frames, 1);
    vcx_port_stop(&o.port);
}

static void a_full_queue_discards(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    assert_int_equal(o.port.queue_bytes, 500000); /* of 4 ms */
    for (int i = 0; i < 60; i++)
        vcx_port_send(&o.port, tagged(9000, 5), 5);
    assert_int_equal(o.port.sending[5].count, 55);
    assert_int_equal(o.port.counters.tx_discards, 5);
    assert_int_equal(vcx_port_room(&o.port, 5), 5000);
    assert_int_equal(vcx_port_room(&o.port, 4), 500000);
    vcx_port_send(&o.port, tagged(9975, 4), 4); /* with its FCS one byte more than the MTU */
    vcx_port_send(&o.port, tagged(13, 4), 4);
    assert_int_equal(o.port.counters.priority[4].tx_discards, 2);
    vcx_port_stop(&o.port);
}

static void shares(struct owner *o, const uint8_t percent[3], uint32_t sizes[3])
{
    for (uint8_t i = 0; i < 3; i++)
        o->port.settings.classes[i] = (struct vcx_traffic_class){0, percent[i], 0};
    for (uint64_t end = o->now_ns + 100 * MS; o->now_ns < end; o->now_ns += 100000) {
        for (uint8_t i = 0; i < 3; i++)
            fill_queue(o, i, sizes[i]);
        while (vcx_port_poll(&o->port))
            continue;
    }
}

/* ETS counts bytes, whatever the sizes of the frames. */
static void classes_get_their_shares(void **state)
{
    (void)state;
    struct owner o;
    static const uint8_t percent[3] = {10, 30, 60};
    owner_open(&o, GBIT);
    shares(&o, percent, (uint32_t[]){9000, 1500, 300});
    uint64_t bytes[3], all = 0;
    for (int i = 0; i < 3; i++)
        all += bytes[i] = o.of_priority[i].bytes + 24ull * o.of_priority[i].frames;
    assert_in_range(all, 12500000 - 20000, 12500000 + 20000);
    for (int i = 0; i < 3; i++)
        assert_in_range(bytes[i] * 1000 / all, percent[i] * 10 - 2, percent[i] * 10 + 2);
    vcx_port_stop(&o.port);
}

/* A class that comes late does not get what it did not ask for. */
static void a_late_class_has_no_credit(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.settings.classes[0] = o.port.settings.classes[1] = (struct vcx_traffic_class){0, 50, 0};
    for (int i = 0; i < 200; i++, o.now_ns += 100000) {
        fill_queue(&o, 0, 1000);
        if (i == 100)
            memset(o.of_priority, 0, sizeof o.of_priority);
        if (i >= 100)
            fill_queue(&o, 1, 1000);
        vcx_port_poll(&o.port);
    }
    assert_in_range(o.of_priority[1].frames, o.of_priority[0].frames - 2, o.of_priority[0].frames + 2);
    vcx_port_stop(&o.port);
}

static void strict_groups_go_first(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    for (uint8_t i = 0; i < 8; i++)
        for (int n = 0; n < 3; n++)
            vcx_port_send(&o.port, tagged(1000, i), i);
    for (int i = 7; i >= 0; i--) {
        pass(&o, 3 * 8192, 8192);
        assert_int_equal(o.of_priority[i].frames, 3);
    }
}

static void a_class_has_a_most_rate(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.nominal_bps = 25 * GBIT;
    o.port.settings.classes[6].most_bps = 5 * GBIT; /* 200 Mbit/s of this line */
    for (int i = 0; i < 1000; i++) {
        fill_queue(&o, 6, 1000);
        fill_queue(&o, 2, 1000);
        pass(&o, 100000, 100000);
    }
    uint64_t limited = o.of_priority[6].frames * 1024ull, rest = o.of_priority[2].frames * 1024ull;
    assert_in_range(limited, 2500000 - 25000, 2500000 + 25000); /* in 100 ms */
    assert_in_range(limited + rest, 12500000 - 50000, 12500000 + 50000);
    vcx_port_stop(&o.port);
}

static void marks_begin_at_their_threshold(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.marking[3] = (struct vcx_marking){20000, 40000, 50};
    for (int i = 0; i < 20; i++)
        vcx_port_send(&o.port, packet(1000, 3, 26, 2), 3);
    assert_int_equal(o.port.counters.priority[3].tx_marked, 0);
    for (int i = 0; i < 20; i++)
        vcx_port_send(&o.port, packet(1000, 3, 26, 2), 3);
    uint64_t by_chance = o.port.counters.priority[3].tx_marked;
    assert_in_range(by_chance, 1, 12); /* 5 are expected */
    for (int i = 0; i < 20; i++)
        vcx_port_send(&o.port, packet(1000, 3, 26, 2), 3);
    assert_int_equal(o.port.counters.priority[3].tx_marked, by_chance + 20);
    vcx_port_send(&o.port, packet(1000, 3, 26, 0), 3); /* not ECN capable */
    assert_int_equal(o.port.counters.priority[3].tx_marked, by_chance + 20);
    pass(&o, 61 * 8192, 8192);
    assert_int_equal(o.sent.last[19] & 3, 0);
    vcx_port_stop(&o.port);
}

/* 20 % at a queue of 1,020,000 bytes is 0.1 % at 25,000. */
static void a_small_chance_of_a_mark_is_no_whole_percent(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.marking[3] = (struct vcx_marking){20000, 1020000, 20};
    for (int i = 0; i < 25; i++)
        vcx_port_send(&o.port, packet(1000, 3, 26, 2), 3);
    for (int i = 0; i < 20000; i++) {
        vcx_port_send(&o.port, packet(1000, 3, 26, 2), 3);
        pass(&o, 8192, 8192);
    }
    assert_in_range(o.port.sending[3].bytes, 24000, 26000);
    assert_in_range(o.port.counters.priority[3].tx_marked, 5, 60); /* 20 are expected */
    vcx_port_stop(&o.port);
}

/* ---- held by the other end */

static void a_pause_holds_its_priority_for_its_quanta(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.settings.pfc_rx = 0x08;
    vcx_port_receive(&o.port, pfc(0xff, 1000));
    vcx_port_send(&o.port, tagged(1000, 3), 3);
    vcx_port_send(&o.port, tagged(1000, 2), 2);
    pass(&o, 1000 * QUANTUM - 1, 1000 * QUANTUM - 1);
    assert_int_equal(o.of_priority[3].frames, 0);
    assert_int_equal(o.of_priority[2].frames, 1);
    assert_int_equal(o.port.counters.priority[3].rx_pause_us, 511);
    pass(&o, 1, 1);
    assert_int_equal(o.of_priority[3].frames, 1);
    assert_int_equal(o.port.counters.priority[3].rx_pause, 1);
    assert_int_equal(o.port.counters.priority[2].rx_pause, 0);
    assert_int_equal(o.port.counters.priority[3].rx_pause_us, 512);
    assert_int_equal(o.port.counters.priority[3].rx_pause_transitions, 1);
}

static void quanta_of_zero_end_a_pause(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.settings.pfc_rx = 0x80;
    vcx_port_send(&o.port, tagged(1000, 7), 7);
    for (int i = 0; i < 3; i++) { /* refreshed: one pause */
        vcx_port_receive(&o.port, pfc(0x80, 0xffff));
        pass(&o, 10 * MS, MS);
    }
    assert_int_equal(o.sent.frames, 0);
    vcx_port_receive(&o.port, pfc(0x80, 0));
    vcx_port_poll(&o.port);
    assert_int_equal(o.of_priority[7].frames, 1);
    assert_int_equal(o.port.counters.priority[7].rx_pause, 4);
    assert_int_equal(o.port.counters.priority[7].rx_pause_us, 30000);
    assert_int_equal(o.port.counters.priority[7].rx_pause_transitions, 1);
    vcx_port_receive(&o.port, pfc(0x80, 0)); /* one more changes nothing */
    assert_int_equal(o.port.counters.priority[7].rx_pause_transitions, 1);
}

/* 802.3x holds all priorities, but not where PFC is on. */
static void a_global_pause_excludes_pfc(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    vcx_port_receive(&o.port, pause_all(100));
    vcx_port_receive(&o.port, pfc(0xff, 1000)); /* not listened to */
    for (uint8_t i = 0; i < 8; i++)
        vcx_port_send(&o.port, tagged(64, i), i);
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.frames, 0);
    pass(&o, 100 * QUANTUM, QUANTUM);
    assert_int_equal(o.sent.frames, 1);
    assert_int_equal(o.port.counters.rx.pause, 1);
    assert_int_equal(o.port.counters.rx_pause_us, 51);
    assert_int_equal(o.port.counters.rx_pause_transitions, 1);
    o.port.settings.pfc_tx = o.port.settings.pfc_rx = 1;
    vcx_port_receive(&o.port, pause_all(0xffff));
    pass(&o, MS, MS);
    assert_int_equal(o.sent.frames, 8);
}

static void bad_pauses_do_nothing(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.settings.pfc_rx = 0xff;
    for (uint32_t length = 0; length < 34; length++) {
        struct vcx_frame *frame = pfc(0xff, 0xffff);
        frame->length = length;
        vcx_port_receive(&o.port, frame);
    }
    for (uint32_t opcode = 0; opcode < 0x10000; opcode += opcode == 0x100 ? 2 : 1) {
        struct vcx_frame *frame = pfc(0xff, 0xffff);
        vcx_put16(frame->data + 14, (uint16_t)opcode);
        vcx_port_receive(&o.port, frame);
    }
    struct vcx_frame *frame = pfc(0xff, 0xffff);
    frame->data[5] = 2; /* another station's */
    vcx_port_receive(&o.port, frame);
    vcx_port_receive(&o.port, pfc(0xff00, 0xffff)); /* bits of no priority */
    for (uint8_t i = 0; i < 8; i++) {
        vcx_port_send(&o.port, tagged(64, i), i);
        assert_int_equal(o.port.counters.priority[i].rx_pause, 0);
    }
    pass(&o, 10000, 100);
    assert_int_equal(o.sent.frames, 8);
    assert_int_equal(o.port.counters.rx_too_short, 14);
    assert_int_equal(o.port.counters.rx.frames, 0);
    assert_int_equal(o.delivered, 0);
}

/* ---- ingress */

static void a_short_buffer(struct owner *o)
{
    owner_open(o, GBIT);
    o->port.settings.pfc_tx = o->port.settings.pfc_rx = 0x08;
    o->port.settings.buffers_set = true;
    o->port.settings.buffers[1] = (struct vcx_receive_buffer){20000, 10000, 5000, false};
    o->port.settings.buffer_of_priority[3] = 1;
    o->deliver_ns = 100000; /* 80 Mbit/s */
}

static void receive(struct owner *o, uint32_t frames, uint8_t priority)
{
    for (uint32_t i = 0; i < frames; i++)
        vcx_port_receive(&o->port, tagged(1000, priority));
}

static void a_full_buffer_sends_xoff_and_an_empty_one_xon(void **state)
{
    (void)state;
    struct owner o;
    a_short_buffer(&o);
    vcx_port_poll(&o.port);
    receive(&o, 10, 3);
    assert_int_equal(o.sent.pauses, 0); /* at the threshold, not above it */
    receive(&o, 1, 3);
    assert_int_equal(o.sent.pauses, 1);
    assert_int_equal(vcx_be16(o.sent.last + 16), 0x08);
    assert_int_equal(vcx_be16(o.sent.last + 18 + 6), 0xffff);
    assert_int_equal(vcx_be16(o.sent.last + 18 + 4), 0);
    vcx_port_poll(&o.port); /* takes one */
    pass(&o, 400000, 100000);
    assert_int_equal(o.port.held[3], 6000);
    assert_int_equal(o.sent.pauses, 1);
    pass(&o, 100000, 100000);
    assert_int_equal(o.port.held[3], 5000);
    assert_int_equal(o.sent.pauses, 2);
    assert_int_equal(vcx_be16(o.sent.last + 18 + 6), 0);
    assert_int_equal(o.port.counters.priority[3].tx_pause, 2);
    assert_int_equal(o.port.counters.priority[3].tx_pause_us, 500);
    receive(&o, 16, 3);
    assert_int_equal(o.port.counters.priority[3].rx_discards, 1); /* the 21st frame */
    assert_int_equal(o.port.counters.priority[3].rx_frames, 27);
    vcx_port_stop(&o.port);
}

/* XOFF lasts 65,535 quanta, 33.6 ms here: half of it later it comes again. */
static void xoff_is_refreshed(void **state)
{
    (void)state;
    struct owner o;
    a_short_buffer(&o);
    o.deliver_ns = GBIT; /* stands still */
    receive(&o, 12, 3);
    vcx_port_poll(&o.port);
    assert_int_equal(o.sent.pauses, 1);
    /* priority 3, 65535 quanta; nothing else is told */
    static const uint8_t xoff[46] = {0x01, 0x01, 0x00, 0x08, [10] = 0xff, [11] = 0xff};
    assert_memory_equal(o.sent.last + 14, xoff, sizeof xoff);
    pass(&o, 16776960 - 1, 16776960 - 1);
    assert_int_equal(o.sent.pauses, 1);
    pass(&o, 1, 1);
    assert_int_equal(o.sent.pauses, 2);
    pass(&o, 16776960 * 10ull, 100000);
    assert_in_range(o.sent.pauses, 11, 12);
    vcx_port_stop(&o.port);
}

static void a_lossy_buffer_only_discards(void **state)
{
    (void)state;
    struct owner o;
    a_short_buffer(&o);
    o.port.settings.buffers[1].lossy = true;
    receive(&o, 25, 3);
    assert_int_equal(o.sent.pauses, 0);
    assert_int_equal(o.port.counters.priority[3].rx_discards, 5);
    assert_int_equal(o.port.held[3], 20000);
    assert_int_equal(o.port.counters.rx_passed_threshold, 1);
    vcx_port_stop(&o.port);
    assert_int_equal(o.port.held[3], 0);
}

static void a_stall_is_counted_and_given_up(void **state)
{
    (void)state;
    struct owner o;
    a_short_buffer(&o);
    o.port.settings.minor_stall_ms = 85;
    o.port.settings.critical_stall_ms = 100;
    o.deliver_ns = 300 * MS;
    receive(&o, 12, 3);
    pass(&o, 85 * MS, MS);
    assert_int_equal(o.port.counters.minor_stalls, 0);
    pass(&o, MS, MS);
    assert_int_equal(o.port.counters.minor_stalls, 1);
    assert_int_equal(o.port.counters.critical_stalls, 0);
    pass(&o, 15 * MS, MS);
    assert_int_equal(o.port.counters.critical_stalls, 1);
    uint32_t pauses = o.sent.pauses;
    pass(&o, 150 * MS, MS);
    assert_int_equal(o.sent.pauses, pauses); /* no refresh any more */
    receive(&o, 10, 3);
    assert_int_equal(o.port.counters.priority[3].rx_discards, 1);
    assert_in_range(o.port.counters.priority[3].tx_pause_us, 100000, 102000);
    o.deliver_ns = 0;
    pass(&o, 400 * MS, MS); /* the receiver moves on: pauses again */
    assert_int_equal(o.sent.pauses, pauses);
    o.deliver_ns = GBIT;
    receive(&o, 12, 3);
    assert_int_equal(o.sent.pauses, pauses + 1);
    vcx_port_stop(&o.port);
}

/* After power-on 802.3x pause keeps all priorities from loss. */
static void a_global_pause_is_sent_by_default(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.deliver_ns = MS;
    for (uint32_t held = 0; !o.sent.pauses; held += 1000) {
        assert_true(held <= 131000);
        receive(&o, 1, (uint8_t)(held / 1000 % 8));
    }
    assert_int_equal(vcx_be16(o.sent.last + 14), 1);
    assert_int_equal(vcx_be16(o.sent.last + 16), 0xffff);
    assert_int_equal(o.port.counters.tx.pause, 1);
    pass(&o, 50 * MS, MS);
    assert_int_equal(vcx_be16(o.sent.last + 16), 0);
    assert_in_range(o.port.counters.tx_pause_us, 9000, 11000); /* 9,984 bytes, 1,000 each ms */
    vcx_port_stop(&o.port);
}

static void the_firmware_divides_the_buffers(void **state)
{
    (void)state;
    struct vcx_port_settings s;
    vcx_port_defaults(&s);
    assert_int_equal(s.buffers[0].bytes, VCX_BUFFER_BYTES);
    assert_false(s.buffers[0].lossy);
    s.pfc_tx = s.pfc_rx = 0x18;
    vcx_port_divide_buffers(&s);
    assert_true(s.buffers[0].lossy && !s.buffers[1].lossy);
    assert_int_equal(s.buffers[0].bytes + s.buffers[1].bytes, VCX_BUFFER_BYTES);
    assert_true(s.buffers[1].xon_bytes < s.buffers[1].xoff_bytes);
    assert_int_equal(s.buffer_of_priority[3], 1);
    assert_int_equal(s.buffer_of_priority[2], 0);
    s.buffers_set = true;
    s.pfc_tx = s.pfc_rx = 0;
    vcx_port_divide_buffers(&s);
    assert_int_equal(s.buffer_of_priority[3], 1);
}

static void priorities_come_by_trust(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    struct vcx_frame *frame = packet(100, 5, 26, 0);
    assert_int_equal(vcx_port_priority(&o.port, frame), 5);
    o.port.settings.trust = VCX_TRUST_DSCP;
    assert_int_equal(vcx_port_priority(&o.port, frame), 3);
    o.port.settings.priority_of_dscp[26] = 6;
    assert_int_equal(vcx_port_priority(&o.port, frame), 6);
    frame->data[18] = 0x55; /* no IPv4 header */
    assert_int_equal(vcx_port_priority(&o.port, frame), 0);
    o.port.settings.trust = VCX_TRUST_PCP;
    frame->length = 14;
    assert_int_equal(vcx_port_priority(&o.port, frame), 0);
    vcx_release(frame);
}

static void sizes_have_bounds(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.settings.mtu = 1522;
    for (uint32_t bytes = 0; bytes <= 1600; bytes++)
        vcx_port_receive(&o.port, tagged(bytes, 0));
    assert_int_equal(o.port.counters.rx_too_short, 14);
    assert_int_equal(o.port.counters.rx_too_long, 1600 - 1518);
    assert_int_equal(o.port.counters.rx.of_size[0], 60 - 14 + 1); /* padded to 64 bytes with FCS */
    assert_int_equal(o.port.counters.rx.of_size[5], 1514 - 1020 + 1);
    vcx_port_stop(&o.port);
}

static void a_cable_takes_time(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, GBIT);
    o.port.cable_ns = 5000;
    receive(&o, 3, 0);
    pass(&o, 4999, 4999);
    assert_int_equal(o.delivered, 0);
    pass(&o, 1, 1);
    assert_int_equal(o.delivered, 3);
}

static void a_link_that_goes_down_loses_all(void **state)
{
    (void)state;
    struct owner o;
    a_short_buffer(&o);
    receive(&o, 12, 3);
    vcx_port_receive(&o.port, pfc(0x08, 0xffff));
    fill_queue(&o, 3, 1000);
    o.port.carrier = false;
    vcx_port_went_down(&o.port);
    assert_int_equal(o.port.sending[3].count, 0);
    assert_int_equal(o.port.held[3], 0);
    receive(&o, 1, 3);
    vcx_port_send(&o.port, tagged(100, 3), 3);
    assert_int_equal(o.port.counters.priority[3].tx_discards, 1);
    assert_int_equal(o.port.counters.link_downs, 1);
    o.port.carrier = true;
    vcx_port_send(&o.port, tagged(100, 3), 3);
    pass(&o, MS, MS);
    assert_int_equal(o.of_priority[3].frames, 1); /* the pause is forgotten */
    assert_int_equal(o.port.xoff[3].on, false);
}

/* ---- two ports and a cable */

static void run_pair(struct owner *a, struct owner *b, uint8_t pfc, uint64_t ns)
{
    owner_open(a, GBIT);
    a_short_buffer(b);
    a->peer = &b->port;
    b->peer = &a->port;
    b->port.settings.buffers[1] = (struct vcx_receive_buffer){60000, 30000, 20000, false};
    b->port.settings.pfc_tx = b->port.settings.pfc_rx = pfc;
    a->port.settings.pfc_tx = a->port.settings.pfc_rx = pfc;
    b->deliver_ns = 40000; /* 200 Mbit/s */
    for (uint64_t end = a->now_ns + ns; a->now_ns < end; a->now_ns += 50000) {
        b->now_ns = a->now_ns;
        fill_queue(a, 3, 1000);
        vcx_port_poll(&a->port);
        vcx_port_poll(&b->port);
    }
}

static void pfc_loses_nothing(void **state)
{
    (void)state;
    struct owner a, b;
    run_pair(&a, &b, 0x08, 200 * MS);
    assert_int_equal(b.port.counters.priority[3].rx_discards, 0);
    assert_in_range(b.delivered, 4990, 5010);
    assert_true(a.port.counters.priority[3].rx_pause_transitions > 10);
    assert_int_equal(a.port.counters.priority[3].rx_pause, b.port.counters.priority[3].tx_pause);
    assert_in_range(a.port.counters.priority[3].rx_pause_us, 150000, 170000); /* 80 % of the time */
    vcx_port_stop(&a.port);
    vcx_port_stop(&b.port);
}

static void without_pfc_frames_are_lost(void **state)
{
    (void)state;
    struct owner a, b;
    run_pair(&a, &b, 0x10, 200 * MS);
    assert_in_range(b.delivered, 4990, 5010);
    assert_in_range(b.port.counters.priority[3].rx_discards, 19000, 20000);
    assert_int_equal(a.port.counters.priority[3].rx_pause, 0);
    vcx_port_stop(&a.port);
    vcx_port_stop(&b.port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_has_its_rate),
        cmocka_unit_test(idle_time_is_not_saved),
        cmocka_unit_test(a_full_queue_discards),
        cmocka_unit_test(classes_get_their_shares),
        cmocka_unit_test(a_late_class_has_no_credit),
        cmocka_unit_test(strict_groups_go_first),
        cmocka_unit_test(a_class_has_a_most_rate),
        cmocka_unit_test(marks_begin_at_their_threshold),
        cmocka_unit_test(a_small_chance_of_a_mark_is_no_whole_percent),
        cmocka_unit_test(a_pause_holds_its_priority_for_its_quanta),
        cmocka_unit_test(quanta_of_zero_end_a_pause),
        cmocka_unit_test(a_global_pause_excludes_pfc),
        cmocka_unit_test(bad_pauses_do_nothing),
        cmocka_unit_test(a_full_buffer_sends_xoff_and_an_empty_one_xon),
        cmocka_unit_test(xoff_is_refreshed),
        cmocka_unit_test(a_lossy_buffer_only_discards),
        cmocka_unit_test(a_stall_is_counted_and_given_up),
        cmocka_unit_test(a_global_pause_is_sent_by_default),
        cmocka_unit_test(the_firmware_divides_the_buffers),
        cmocka_unit_test(priorities_come_by_trust),
        cmocka_unit_test(sizes_have_bounds),
        cmocka_unit_test(a_cable_takes_time),
        cmocka_unit_test(a_link_that_goes_down_loses_all),
        cmocka_unit_test(pfc_loses_nothing),
        cmocka_unit_test(without_pfc_frames_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
