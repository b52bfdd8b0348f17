/* The switch of the virtual ConnectX: addresses, the shared buffer, PFC over it, marks, its watchdog and
 * its settings. */
#include "virtual-connectx/tests/unit/vcx_port_owner.h"

#include "virtual-connectx/model/random.h"
#include "virtual-connectx/model/switch/switch.h"

enum { HOSTS = 4 };
#define GBIT 1000000000ull
#define MS   1000000ull

/* Four hosts on a switch with ports of 1 Gbit/s. */
struct vcx_switch_front {
    struct vcx_switch sw;
    struct owner hosts[HOSTS];
    uint64_t now_ns;
    uint32_t lines;
    char text[VCX_LINE_BYTES]; /* the line that begins with `wanted` */
    const char *wanted;
};

static uint64_t lab_now(struct vcx_switch_front *lab)
{
    return lab->now_ns;
}

static void to_host(struct vcx_switch_front *lab, uint8_t port, struct vcx_frame *frame)
{
    vcx_port_receive(&lab->hosts[port].port, frame);
}

static const struct vcx_switch_ops lab_ops = {.now_ns = lab_now, .transmit = to_host};

static void set(struct vcx_switch_front *lab, const char *line)
{
    struct vcx_sentence error;
    if (!vcx_switch_set(&lab->sw, line, &error))
        fail_msg("%s: %s", line, error.text);
}

static int start(void **state)
{
    struct vcx_switch_front *lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    assert_int_equal(vcx_switch_start(&lab->sw, HOSTS, GBIT, lab, &lab_ops), 0);
    lab->now_ns = 1000 * MS;
    for (int i = 0; i < HOSTS; i++) {
        owner_open(&lab->hosts[i], GBIT);
        lab->hosts[i].peer = &lab->sw.ports[i];
        lab->hosts[i].port.settings.pfc_tx = lab->hosts[i].port.settings.pfc_rx = 0x08;
        vcx_port_divide_buffers(&lab->hosts[i].port.settings);
    }
    *state = lab;
    return 0;
}

static int stop(void **state)
{
    struct vcx_switch_front *lab = *state;
    vcx_switch_stop(&lab->sw);
    for (int i = 0; i < HOSTS; i++)
        vcx_port_stop(&lab->hosts[i].port);
    free(lab);
    return 0;
}

static void addresses(struct vcx_frame *frame, uint8_t from, uint8_t to)
{
    static const uint8_t station[6] = {2, 0, 0, 0, 1, 0};
    memcpy(frame->data, station, 6);
    memcpy(frame->data + 6, station, 6);
    frame->data[5] = to;
    frame->data[11] = from;
}

/* A frame with ECT(0) that the switch takes in from a host. */
static void into_switch(struct vcx_switch_front *lab, uint8_t from, uint8_t to, uint8_t priority,
                        uint32_t bytes)
{
    struct vcx_frame *frame = packet(bytes, priority, 26, 2);
    addresses(frame, from, to);
    vcx_switch_receive(&lab->sw, from, frame);
}

static void one_turn(struct vcx_switch_front *lab, uint64_t ns)
{
    lab->now_ns += ns;
    for (int i = 0; i < HOSTS; i++) {
        lab->hosts[i].now_ns = lab->now_ns;
        while (vcx_port_poll(&lab->hosts[i].port))
            continue;
    }
    while (vcx_switch_poll(&lab->sw))
        continue;
}

static uint64_t rx(const struct vcx_switch_front *lab, int host)
{
    return lab->hosts[host].port.counters.rx.frames;
}

/* All ports are known by their hosts' addresses. */
static void learn_all(struct vcx_switch_front *lab)
{
    for (unsigned int i = 0; i < HOSTS; i++)
        into_switch(lab, (uint8_t)i, (uint8_t)((i + 1) % HOSTS), 0, 64);
    one_turn(lab, MS);
    one_turn(lab, MS);
    for (int i = 0; i < HOSTS; i++)
        memset(&lab->hosts[i].port.counters, 0, sizeof lab->hosts[i].port.counters);
}

static uint64_t held(const struct vcx_switch_front *lab)
{
    uint64_t bytes = 0;
    for (int i = 0; i < HOSTS; i++)
        for (int p = 0; p < 8; p++)
            bytes += lab->sw.ports[i].held[p];
    return bytes;
}

/* ---- addresses */

static void an_address_is_learned(void **state)
{
    struct vcx_switch_front *lab = *state;
    into_switch(lab, 0, 1, 0, 64);
    one_turn(lab, MS);
    assert_int_equal(rx(lab, 0), 0);
    for (int i = 1; i < HOSTS; i++)
        assert_int_equal(rx(lab, i), 1);
    into_switch(lab, 1, 0, 0, 64);
    one_turn(lab, MS);
    into_switch(lab, 0, 1, 0, 64);
    one_turn(lab, MS);
    assert_int_equal(rx(lab, 0), 1);
    assert_int_equal(rx(lab, 1), 2);
    assert_int_equal(rx(lab, 2), 1);
    assert_int_equal(lab->sw.counters.flooded, 1);
    assert_int_equal(lab->sw.counters.learned, 2);
    into_switch(lab, 0, 0, 0, 64); /* to where it comes from */
    one_turn(lab, MS);
    assert_int_equal(lab->sw.counters.filtered, 1);
    assert_int_equal(held(lab), 0);
    struct vcx_frame *frame = packet(64, 0, 0, 0);
    addresses(frame, 0, 1);
    vcx_switch_receive(&lab->sw, 2, frame); /* the station moved */
    one_turn(lab, MS);
    assert_int_equal(lab->sw.counters.moved, 1);
    into_switch(lab, 1, 0, 0, 64);
    one_turn(lab, MS);
    assert_int_equal(rx(lab, 2), 2);
}

static void groups_are_flooded_and_reserved_ones_are_not(void **state)
{
    struct vcx_switch_front *lab = *state;
    struct vcx_frame *frame = packet(64, 0, 0, 0), *reserved = packet(64, 0, 0, 0);
    memset(frame->data, 0xff, 6);
    memcpy(reserved->data, "\x01\x80\xc2\x00\x00\x0e", 6); /* LLDP */
    vcx_switch_receive(&lab->sw, 3, frame);
    vcx_switch_receive(&lab->sw, 3, reserved);
    vcx_switch_receive(&lab->sw, 3, pfc(0x08, 0xffff));
    vcx_switch_receive(&lab->sw, HOSTS, packet(64, 0, 0, 0)); /* no such port */
    one_turn(lab, MS);
    for (int i = 0; i < HOSTS; i++)
        assert_int_equal(rx(lab, i), i != 3);
    assert_int_equal(held(lab), 0);
}

static void the_table_is_bounded(void **state)
{
    struct vcx_switch_front *lab = *state;
    for (uint32_t i = 0; i < 5000; i++) {
        struct vcx_frame *frame = packet(64, 0, 0, 0);
        vcx_put16(frame->data + 10, (uint16_t)i);
        vcx_switch_receive(&lab->sw, 0, frame);
        one_turn(lab, 10000);
    }
    const struct vcx_switch_counters *c = &lab->sw.counters;
    assert_int_equal(c->learned + c->table_full, 5000);
    assert_in_range(c->learned, 900, VCX_SWITCH_ADDRESSES);
    vcx_switch_carrier(&lab->sw, 0, false);
    one_turn(lab, MS);
    for (uint32_t i = 0; i < VCX_SWITCH_ADDRESSES; i++)
        assert_false(lab->sw.addresses[i].used);
}

/* ---- the buffer */

/* Frames to host 3, whose port is held. */
static void into_held_port(struct vcx_switch_front *lab, uint8_t from, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++) {
        vcx_switch_receive(&lab->sw, 3, pfc(0x08, 0xffff));
        into_switch(lab, from, 3, 3, 1000);
        one_turn(lab, 10000);
    }
}

/* With alpha 1 one port gets half of the buffer, then its headroom. */
static void a_threshold_is_of_what_is_free(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "shared_bytes 100000");
    set(lab, "alpha_eighths 8");
    set(lab, "headroom_bytes 10000");
    set(lab, "hysteresis_bytes 5000");
    learn_all(lab);
    struct vcx_port *port = &lab->sw.ports[0];
    into_held_port(lab, 0, 50);
    assert_int_equal(port->counters.priority[3].tx_pause, 0);
    into_held_port(lab, 0, 1);
    assert_int_equal(port->counters.priority[3].tx_pause, 1);
    assert_int_equal(lab->hosts[0].port.counters.priority[3].rx_pause, 1);
    into_held_port(lab, 0, 10);
    assert_int_equal(port->counters.priority[3].rx_discards, 0);
    into_held_port(lab, 0, 1);
    assert_int_equal(port->counters.priority[3].rx_discards, 1);
    into_held_port(lab, 1, 20); /* another port has a threshold of what is left: 39,000, less each frame */
    assert_int_equal(lab->sw.ports[1].counters.priority[3].tx_pause, 1);
    vcx_switch_receive(&lab->sw, 3, pfc(0x08, 0));
    for (int i = 0; i < 200; i++)
        one_turn(lab, 100000);
    assert_int_equal(held(lab), 0);
    assert_int_equal(port->counters.priority[3].tx_pause, 2); /* XON */
    assert_int_equal(lab->hosts[0].port.hold[3].on, false);
    assert_int_equal(rx(lab, 3), 61 + 20);
}

static void a_static_threshold_is_the_same_for_all(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "alpha_eighths 0");
    set(lab, "threshold_bytes 20000");
    learn_all(lab);
    into_held_port(lab, 0, 20);
    into_held_port(lab, 1, 20);
    assert_int_equal(lab->sw.ports[0].counters.priority[3].tx_pause, 0);
    into_held_port(lab, 0, 1);
    assert_int_equal(lab->sw.ports[0].counters.priority[3].tx_pause, 1);
    assert_int_equal(lab->sw.ports[1].counters.priority[3].tx_pause, 0);
}

/* ---- incast: three hosts send all they can to the fourth */

static void incast(struct vcx_switch_front *lab, uint64_t ns)
{
    learn_all(lab);
    for (uint64_t end = lab->now_ns + ns; lab->now_ns < end;) {
        for (uint8_t i = 0; i < 3; i++)
            while (vcx_port_room(&lab->hosts[i].port, 3) > 400000) {
                struct vcx_frame *frame = packet(1000, 3, 26, 2);
                addresses(frame, i, 3);
                vcx_port_send(&lab->hosts[i].port, frame, 3);
            }
        one_turn(lab, 50000);
    }
}

static uint64_t lost(const struct vcx_switch_front *lab)
{
    uint64_t frames = 0;
    for (int i = 0; i < HOSTS; i++)
        frames += lab->sw.ports[i].counters.priority[3].rx_discards + lab->sw.ports[i].counters.tx_discards +
                  lab->hosts[i].port.counters.priority[3].rx_discards;
    return frames;
}

static void incast_with_pfc_loses_nothing(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "shared_bytes 300000");
    incast(lab, 200 * MS);
    assert_int_equal(lost(lab), 0);
    assert_in_range(rx(lab, 3), 24300, 24500); /* the line: 24,414 frames of 1,024 bytes */
    for (int i = 0; i < 3; i++) {
        const struct vcx_priority_counters *host = &lab->hosts[i].port.counters.priority[3];
        assert_true(host->rx_pause_transitions > 5);
        assert_int_equal(host->rx_pause, lab->sw.ports[i].counters.priority[3].tx_pause);
        assert_in_range(host->tx_frames, 24400 / 3 - 500, 24400 / 3 + 500); /* fair by ports */
        assert_true(lab->sw.ports[i].counters.priority[3].rx_frames > 7000);
    }
    assert_int_equal(lab->hosts[3].port.counters.priority[3].tx_pause, 0);
}

static void incast_without_pfc_loses_what_does_not_fit(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "shared_bytes 300000");
    incast(lab, 200 * MS);
    assert_in_range(rx(lab, 3), 24300, 24500);
    assert_in_range(lost(lab), 47000, 49000);
    assert_true(held(lab) <= 300000);
}

static void marks_reach_the_receiver(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "ecn_min_bytes 3 20000");
    set(lab, "ecn_max_bytes 3 60000");
    set(lab, "ecn_percent 3 20");
    incast(lab, 100 * MS);
    uint64_t marked = lab->sw.ports[3].counters.priority[3].tx_marked;
    assert_int_equal(lost(lab), 0);
    assert_in_range(marked, 10000, 20000); /* the queue is beyond the maximum nearly always */
    assert_in_range(lab->hosts[3].port.counters.priority[3].rx_marked, marked / 2, marked);
    assert_int_equal(lab->sw.ports[0].counters.priority[3].tx_marked, 0);
}

/* The receiver pauses the switch, and the switch the sender. */
static void a_slow_receiver_holds_the_sender(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "shared_bytes 300000");
    lab->hosts[3].deliver_ns = 80000; /* 100 Mbit/s */
    incast(lab, 300 * MS);
    assert_int_equal(lost(lab), 0);
    assert_true(lab->hosts[3].port.counters.priority[3].tx_pause > 3);
    assert_int_equal(lab->hosts[3].port.counters.priority[3].tx_pause,
                     lab->sw.ports[3].counters.priority[3].rx_pause);
    assert_in_range(lab->hosts[3].delivered, 3700, 3790); /* of 300 ms */
    for (int i = 0; i < 3; i++)
        assert_in_range(lab->hosts[i].port.counters.priority[3].rx_pause_us, 200000, 300000);
}

/* S-6.07: an overloaded receiver without PFC sends 802.3x pauses. The switch does not obey them and passes
 * none on, so that no host receives one. */
static void pauses_of_hosts_are_ignored(void **state)
{
    struct vcx_switch_front *lab = *state;
    for (int i = 0; i < HOSTS; i++) {
        vcx_port_defaults(&lab->hosts[i].port.settings);
        assert_int_equal(lab->hosts[i].port.settings.pfc_tx, 0);
    }
    lab->hosts[3].deliver_ns = 80000; /* 100 Mbit/s */
    incast(lab, 100 * MS);
    assert_true(lab->hosts[3].port.counters.tx.pause > 3);
    assert_int_equal(lab->sw.ports[3].counters.rx_pause_us, 0);
    for (int i = 0; i < HOSTS; i++) {
        assert_int_equal(lab->hosts[i].port.counters.rx.pause, 0);
        for (int p = 0; p < VCX_PRIORITIES; p++)
            assert_int_equal(lab->hosts[i].port.counters.priority[p].rx_pause, 0);
    }
}

/* A priority that fills a port leaves the others their share of it. */
static void no_priority_starves(void **state)
{
    struct vcx_switch_front *lab = *state;
    learn_all(lab);
    for (int i = 0; i < 40; i++)
        into_switch(lab, 0, 3, 3, 1000);
    into_switch(lab, 1, 3, 0, 1000);
    for (int i = 0; i < 4; i++)
        one_turn(lab, 9000); /* a frame takes 8 us */
    assert_int_equal(lab->hosts[3].port.counters.priority[0].rx_frames, 1);
    assert_in_range(lab->hosts[3].port.counters.priority[3].rx_frames, 2, 4);
}

/* ---- watchdog */

static void a_storm_ends_in_drops(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "watchdog_us 50000");
    set(lab, "restore_us 20000");
    learn_all(lab);
    into_switch(lab, 0, 3, 3, 1000);
    for (int i = 0; i < 49; i++) {
        vcx_switch_receive(&lab->sw, 3, pfc(0x08, 0xffff));
        one_turn(lab, MS);
    }
    assert_int_equal(lab->sw.counters.storms, 0);
    for (int i = 0; i < 3; i++) {
        vcx_switch_receive(&lab->sw, 3, pfc(0x08, 0xffff));
        one_turn(lab, MS);
    }
    assert_int_equal(lab->sw.counters.storms, 1);
    assert_int_equal(held(lab), 0);
    into_switch(lab, 0, 3, 3, 1000);
    one_turn(lab, MS);
    assert_int_equal(lab->sw.counters.storm_discards, 2);
    vcx_switch_receive(&lab->sw, 3, pfc(0x08, 0));
    for (int i = 0; i < 23; i++)
        one_turn(lab, MS);
    into_switch(lab, 0, 3, 3, 1000);
    one_turn(lab, MS);
    one_turn(lab, MS);
    assert_int_equal(rx(lab, 3), 1);
    assert_int_equal(lab->sw.counters.storm_discards, 2);
    assert_int_equal(lab->sw.counters.restores, 1);
}

/* ---- settings and counters */

static void settings_are_lines(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x18");
    set(lab, "2.pfc 0\n");
    set(lab, "2.line_bps 100000000");
    set(lab, "1.most_bps 6 5000000");
    set(lab, "trust_dscp 1");
    set(lab, "dscp 26 3");
    assert_int_equal(lab->sw.ports[1].settings.pfc_tx, 0x18);
    assert_int_equal(lab->sw.ports[2].settings.pfc_rx, 0);
    assert_int_equal(lab->sw.ports[2].line_bps, 100000000);
    assert_int_equal(lab->sw.ports[1].settings.classes[6].most_bps, 5000000);
    assert_int_equal(lab->sw.ports[0].settings.classes[6].most_bps, 0);
    assert_int_equal(lab->sw.ports[3].settings.priority_of_dscp[26], 3);
    static const char *const bad[] = {
        "",          "pfc",        "pfc 256",    "pfc 8 8",           "4.pfc 8",          ".pfc 8",
        "x.pfc 8",   "0. 8",       "speed 3",    "0.shared_bytes 1",  "ecn_percent 8 10", "ecn_percent 3 101",
        "dscp 64 1", "line_bps 0", "mtu 100000", "share_percent 0 0", "..pfc 1",
    };
    for (size_t i = 0; i < VCX_COUNT(bad); i++) {
        struct vcx_sentence error = {""};
        assert_false(vcx_switch_set(&lab->sw, bad[i], &error));
        assert_true(strlen(error.text) > 10);
    }
}

static void note_line(void *to, const char *text)
{
    struct vcx_switch_front *lab = to;
    lab->lines++;
    if (strncmp(text, lab->wanted, strlen(lab->wanted)) == 0)
        snprintf(lab->text, sizeof lab->text, "%s", text);
}

static const char *shown(struct vcx_switch_front *lab, const char *begin)
{
    lab->wanted = begin;
    lab->text[0] = 0;
    lab->lines = 0;
    vcx_switch_show(&lab->sw, note_line, lab);
    return lab->text;
}

static void counters_are_lines(void **state)
{
    struct vcx_switch_front *lab = *state;
    into_switch(lab, 1, 2, 5, 100);
    one_turn(lab, MS);
    assert_string_equal(shown(lab, "flooded "), "flooded 1");
    assert_string_equal(shown(lab, "port1_rx_frames "), "port1_rx_frames 1");
    assert_string_equal(shown(lab, "port1_rx_prio5_bytes "), "port1_rx_prio5_bytes 104");
    assert_string_equal(shown(lab, "port3_tx_prio5_frames "), "port3_tx_prio5_frames 1");
    assert_string_equal(shown(lab, "port1_prio5_ingress_bytes "), "port1_prio5_ingress_bytes 0");
    assert_int_equal(lab->lines, 13 + HOSTS * (14 + 8 * 16));
}

/* Of a switch and of its ports: what is in the buffer, what was discarded, marked and paused. */
static void sums_are_of_all_ports(void **state)
{
    struct vcx_switch_front *lab = *state;
    set(lab, "pfc 0x08");
    set(lab, "alpha_eighths 0");
    set(lab, "threshold_bytes 4000");
    set(lab, "headroom_bytes 2000");
    set(lab, "ecn_max_bytes 3 1");
    learn_all(lab);
    into_held_port(lab, 0, 8);
    into_held_port(lab, 1, 8);
    assert_string_equal(shown(lab, "tx_pause "), "tx_pause 2");
    assert_string_equal(shown(lab, "rx_pause "), "rx_pause 16");
    assert_string_equal(shown(lab, "port3_rx_prio3_pause "), "port3_rx_prio3_pause 16");
    assert_string_equal(shown(lab, "port3_prio3_paused "), "port3_prio3_paused 1");
    assert_string_equal(shown(lab, "port0_prio3_paused "), "port0_prio3_paused 0");
    assert_string_equal(shown(lab, "port1_prio3_ingress_bytes "), "port1_prio3_ingress_bytes 7000");
    assert_string_equal(shown(lab, "port3_prio3_queue_bytes "), "port3_prio3_queue_bytes 14000");
    assert_string_equal(shown(lab, "shared_bytes "), "shared_bytes 14000");
    assert_string_equal(shown(lab, "buffer_discards "), "buffer_discards 2");
    assert_string_equal(shown(lab, "port0_discards "), "port0_discards 1");
    assert_string_equal(shown(lab, "ecn_marked "), "ecn_marked 13");
    assert_string_equal(shown(lab, "port3_ecn_marked "), "port3_ecn_marked 13");
}

/* Frames of any length and content, links that flap, settings that change meanwhile: nothing is lost track
 * of. */
static void whatever_comes_nothing_stays_held(void **state)
{
    struct vcx_switch_front *lab = *state;
    static const char *const lines[] = {
        "pfc 0xff",         "pfc 0",         "alpha_eighths 0", "alpha_eighths 16",
        "0.up 0",           "0.up 1",        "trust_dscp 1",    "trust_dscp 0",
        "watchdog_us 9000", "watchdog_us 0", "shared_bytes 0",  "shared_bytes 90000",
        "cable_ns 20000",   "cable_ns 0",    "mtu 1522",        "mtu 9978"};
    static const uint16_t types[] = {0x8808, 0x8100, 0x0800, 0x86dd};
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        uint32_t bytes = vcx_random_below(&random, i % 16 ? 100 : 10000);
        struct vcx_frame *frame = vcx_frame_new(bytes);
        frame->length = bytes;
        for (uint32_t at = 0; at < bytes && at < 64; at++)
            frame->data[at] = (uint8_t)vcx_random(&random);
        if (bytes >= 18 && i % 3)
            vcx_put16(frame->data + 12, types[i % VCX_COUNT(types)]);
        if (bytes >= 18 && i % 5 == 0)
            memcpy(frame->data, "\x01\x80\xc2\x00\x00\x01", 6);
        vcx_switch_receive(&lab->sw, (uint8_t)vcx_random_below(&random, HOSTS + 1), frame);
        if (i % 64 == 0)
            set(lab, lines[vcx_random_below(&random, VCX_COUNT(lines))]);
        one_turn(lab, 3000);
    }
    assert_true(lab->sw.counters.flooded > 1000);
    set(lab, "cable_ns 0");
    for (int i = 0; i < 400; i++)
        one_turn(lab, MS);
    assert_int_equal(held(lab), 0);
}

static void a_switch_has_ports(void **state)
{
    (void)state;
    struct vcx_switch *sw = calloc(1, sizeof *sw);
    assert_non_null(sw);
    assert_int_equal(vcx_switch_start(sw, 0, GBIT, NULL, &lab_ops), -1);
    assert_int_equal(vcx_switch_start(sw, 33, GBIT, NULL, &lab_ops), -1);
    assert_int_equal(vcx_switch_start(sw, 2, 0, NULL, &lab_ops), -1);
    vcx_switch_stop(sw);
    free(sw);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_address_is_learned),
        TEST(groups_are_flooded_and_reserved_ones_are_not),
        TEST(the_table_is_bounded),
        TEST(a_threshold_is_of_what_is_free),
        TEST(a_static_threshold_is_the_same_for_all),
        TEST(incast_with_pfc_loses_nothing),
        TEST(incast_without_pfc_loses_what_does_not_fit),
        TEST(marks_reach_the_receiver),
        TEST(a_slow_receiver_holds_the_sender),
        TEST(pauses_of_hosts_are_ignored),
        TEST(no_priority_starves),
        TEST(a_storm_ends_in_drops),
        TEST(settings_are_lines),
        TEST(counters_are_lines),
        TEST(sums_are_of_all_ports),
        TEST(whatever_comes_nothing_stays_held),
        cmocka_unit_test(a_switch_has_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
