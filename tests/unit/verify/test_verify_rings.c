/* The checker of PFC over several ports: rings of ports that wait for each other, and what is none; how much
 * of the time is paused. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/verify_talk.h"

#define SWITCHES 3
#define PRIORITY 3
#define SETTINGS "{\"settings\": {\"pfc\": [3, 4], \"trust\": \"pcp\"}}"

static struct talk talk;

static const uint8_t *address_of(int node, int port)
{
    static uint8_t address[6];
    const uint8_t bytes[6] = {2, 1, 0, (uint8_t)node, 0, (uint8_t)port};
    memcpy(address, bytes, sizeof address);
    return address;
}

/* Switches s0 to s2 in a ring: port 0 is to the one before, port 1 to the next. Interface 2 s + port. */
static void begin_with(bool addressed, bool named)
{
    talk = (struct talk){.bytes.data = talk.bytes.data, .tagged = true, .priority = PRIORITY};
    talk.now_ns = 1000000000;
    bytes_section(&talk.bytes);
    for (int node = 0; node < SWITCHES; node++)
        for (int port = 0; port < 2; port++) {
            char name[16] = "";
            if (named)
                snprintf(name, sizeof name, "s%d:%d", node, port);
            bytes_interface_at(&talk.bytes, name, 9, (uint64_t)TALK_BPS,
                               addressed ? address_of(node, port) : NULL);
        }
}

static uint64_t seen(uint32_t interface, bool sent, const struct frame *f)
{
    uint8_t data[128];
    size_t captured = frame_write(f, data, sizeof data);
    bytes_packet(&talk.bytes, interface, (uint64_t)talk.now_ns, data, (uint32_t)captured,
                 (uint32_t)frame_length(f), sent ? 2 : 1);
    talk.now_ns += 100;
    return ++talk.number;
}

/* Every port sends a packet of its own. */
static void begin(void)
{
    begin_with(true, true);
    for (uint32_t i = 0; i < 2 * SWITCHES; i++) {
        struct frame f = talk_write(&talk, 0, 1, 0);
        f.roce.bth.qpn = 0x400 + i;
        seen(i, true, &f);
    }
}

/* A packet of a flow of its own goes through a switch from one port to the other. */
static void pass(int node, int from, int to, uint8_t priority)
{
    talk.priority = priority;
    struct frame f = talk_write(&talk, 0, 1, 0);
    f.roce.bth.qpn = 0x300 + (uint32_t)node;
    seen((uint32_t)(2 * node + from), false, &f);
    seen((uint32_t)(2 * node + to), true, &f);
}

/* The next switch pauses port 1 of this one; both see it. Returns the number at the paused port. */
static uint64_t pauses(int node, uint8_t priorities, uint16_t quanta)
{
    int next = (node + 1) % SWITCHES;
    struct frame f = {.kind = FRAME_PFC,
                      .ethernet = {.destination = {1, 0x80, 0xc2, 0, 0, 1}},
                      .pfc = {.priorities = priorities}};
    memcpy(f.ethernet.source, address_of(next, 0), 6);
    for (int i = 0; i < FRAME_PRIORITIES; i++)
        f.pfc.quanta[i] = quanta;
    seen((uint32_t)(2 * next), true, &f);
    return seen((uint32_t)(2 * node + 1), false, &f);
}

/* All are paused, again and again. Returns the number of the first pause of the last round at the port of
 * s0. */
static uint64_t all_paused(int rounds, uint8_t priorities)
{
    uint64_t first = 0;
    for (int i = 0; i < rounds; i++) {
        first = pauses(0, priorities, 60000); /* 307 us */
        for (int node = 1; node < SWITCHES; node++)
            pauses(node, priorities, 60000);
        talk.now_ns += 200000;
    }
    return first;
}

/* In the sixth round all stand still for 1 ms: that is seen at the first that is paused again. */
static void ring(void **state)
{
    (void)state;
    begin();
    for (int node = 0; node < SWITCHES; node++)
        pass(node, 0, 1, PRIORITY);
    all_paused(5, 1 << PRIORITY);
    talk_good(&talk, "pfc", SETTINGS);
    uint64_t number = all_paused(1, 1 << PRIORITY);
    talk_bad(&talk, "pfc", SETTINGS, "deadlock", number);
    all_paused(3, 1 << PRIORITY); /* it is said once */
    talk_bad(&talk, "pfc", SETTINGS, "deadlock", number);
    talk_good(&talk, "pfc", "{\"deadlock\": \"5ms\", \"settings\": {\"pfc\": [3, 4], \"trust\": \"pcp\"}}");

    begin(); /* s1 sends until later: the ring is closed when it stands still for 1 ms, too */
    for (int node = 0; node < SWITCHES; node++)
        pass(node, 0, 1, PRIORITY);
    pauses(0, 1 << PRIORITY, 60000);
    pauses(2, 1 << PRIORITY, 60000);
    talk.now_ns += 150000;
    all_paused(5, 1 << PRIORITY);
    talk_good(&talk, "pfc", SETTINGS);
    number = all_paused(1, 1 << PRIORITY);
    talk_bad(&talk, "pfc", SETTINGS, "deadlock", number);

    begin_with(false, true); /* addresses are learned from the pause frames */
    for (int node = 0; node < SWITCHES; node++)
        pass(node, 0, 1, PRIORITY);
    all_paused(5, 1 << PRIORITY);
    number = all_paused(1, 1 << PRIORITY);
    talk_bad(&talk, "pfc", SETTINGS, "deadlock", number);
}

static void no_ring(void **state)
{
    (void)state;
    begin(); /* nothing passes through s1 */
    pass(0, 0, 1, PRIORITY);
    pass(2, 0, 1, PRIORITY);
    all_paused(8, 1 << PRIORITY);
    talk_good(&talk, "pfc", SETTINGS);
    begin(); /* what passes through s1 has another priority */
    pass(0, 0, 1, PRIORITY);
    pass(1, 0, 1, 4);
    pass(2, 0, 1, PRIORITY);
    all_paused(8, 1 << PRIORITY);
    talk_good(&talk, "pfc", SETTINGS);
    begin(); /* it goes the other way */
    pass(0, 0, 1, PRIORITY);
    pass(1, 1, 0, PRIORITY);
    pass(2, 0, 1, PRIORITY);
    all_paused(8, 1 << PRIORITY);
    talk_good(&talk, "pfc", SETTINGS);
    begin(); /* one of them goes on now and then */
    for (int node = 0; node < SWITCHES; node++)
        pass(node, 0, 1, PRIORITY);
    for (int i = 0; i < 4; i++) {
        all_paused(3, 1 << PRIORITY);
        pauses(1, 1 << PRIORITY, 0);
    }
    talk_good(&talk, "pfc", SETTINGS);
    begin(); /* a pause is not repeated */
    for (int node = 0; node < SWITCHES; node++)
        pass(node, 0, 1, PRIORITY);
    for (int i = 0; i < 4; i++) {
        all_paused(3, 1 << PRIORITY);
        talk.now_ns += 400000;
    }
    talk_good(&talk, "pfc", SETTINGS);
}

/* No ring can be seen: the note says why, and what would show one. */
static void unseen(const char *why)
{
    json_t *entry = talk_judge(&talk, "pfc", SETTINGS);
    char *shown = json_shown(entry);
    if (!strstr(shown, why) ||
        !strstr(shown, "in a pcapng of all its ports, whose interfaces are named NODE:PORT"))
        fail_msg("%s", shown);
    assert_string_equal(json_string_value(json_object_get(entry, "verdict")), "ok");
    free(shown);
    json_decref(entry);
}

static void nameless(void **state)
{
    (void)state;
    begin_with(true, false);
    for (int node = 0; node < SWITCHES; node++)
        pass(node, 0, 1, PRIORITY);
    all_paused(8, 1 << PRIORITY);
    unseen("ports stood still for 1.000 ms, and the capture does not say which interfaces are ports of the "
           "same node");

    begin(); /* one port is captured, not that which pauses it */
    struct frame f = {.kind = FRAME_PFC,
                      .ethernet = {.destination = {1, 0x80, 0xc2, 0, 0, 1}, .source = {2, 9, 9, 9, 9, 9}},
                      .pfc = {.priorities = 1 << PRIORITY, .quanta = {0, 0, 0, 60000}}};
    for (int i = 0; i < 8; i++, talk.now_ns += 200000)
        seen(1, false, &f);
    unseen("what the ports wait for that pause them: they are not in it");
}

/* 100 us of each 200 us, both as the paused port sees it, and as the one that pauses. */
static void window(void **state)
{
    uint64_t number = 0;
    (void)state;
    begin();
    for (int i = 0; i < 20; i++) {
        number = pauses(0, 1 << PRIORITY, 60000);
        talk.now_ns += 99800;
        pauses(0, 1 << PRIORITY, 0);
        talk.now_ns += 99800;
    }
    talk_good(&talk, "pfc",
              "{\"paused_share\": 0.52, \"paused_window\": \"1ms\", \"pauses_per_s\": 5200, \"settings\": "
              "{\"pfc\": [3, 4], \"trust\": \"pcp\"}}");
    /* a window is 10 ms */
    talk_good(
        &talk, "pfc",
        "{\"paused_share\": 0.4, \"pauses_per_s\": 10, \"settings\": {\"pfc\": [3, 4], \"trust\": \"pcp\"}}");
    json_t *entry = talk_judge(&talk, "pfc", "{\"paused_share\": 0.48, \"paused_window\": \"3.7ms\"}");
    const json_t *found = json_array_get(json_object_get(entry, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(found, "kind")), "paused too long");
    assert_int_equal(json_integer_value(json_object_get(found, "count")), 2);
    const json_t *packet = json_array_get(json_object_get(found, "packets"), 0);
    assert_int_equal(json_integer_value(json_object_get(packet, "packet")), number - 5);
    json_decref(entry);
    entry = talk_judge(&talk, "pfc", "{\"pauses_per_s\": 4900, \"paused_window\": \"3.7ms\"}");
    found = json_array_get(json_object_get(entry, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(found, "kind")), "too many pauses");
    json_decref(entry);
}

/* A port that was paused nearly all of a window, and not at all for long after it. */
static void window_before_silence(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 12; i++) {
        pauses(0, 1 << PRIORITY, 60000);
        talk.now_ns += 300000;
    }
    talk.now_ns += 400000000;
    pauses(0, 1 << PRIORITY, 60000);
    pauses(0, 1 << PRIORITY, 0);
    json_t *entry =
        talk_judge(&talk, "pfc", "{\"paused_share\": 0.7, \"paused_window\": \"4ms\", \"pauses_per_s\": 50}");
    const json_t *findings = json_object_get(entry, "findings");
    assert_int_equal(json_array_size(findings), 1); /* it got few pauses a second */
    assert_string_equal(json_string_value(json_object_get(json_array_get(findings, 0), "kind")),
                        "paused too long");
    json_decref(entry);
}

/* s0 and s1 have settings of their own: each is judged by what it asks for. */
static void settings_of_ports(void **state)
{
    (void)state;
    begin();
    uint64_t number = pauses(0, 1 << PRIORITY, 60000);
    talk_bad(
        &talk, "pfc",
        "{\"settings\": {\"pfc\": [3]}, \"ports\": [{\"interfaces\": [\"none\", \"s0:*\"], \"settings\": "
        "{\"pfc\": [5]}}, {\"interfaces\": [\"s1:0\"], \"settings\": {\"pfc\": [4]}}, {\"interfaces\": "
        "[\"*\"]}]}",
        "pause of another priority", number - 1);
    talk_good(&talk, "pfc", "{\"ports\": [{\"interfaces\": [\"s[01]:*\"], \"settings\": {\"pfc\": [3]}}]}");
}

#define MANY_PORTS 400

/* One flow at all ports of a node, in both directions and with all priorities: each pair of ports is a way.
 * Looking for them has an end. */
static void more_ways_than_are_looked_for(void **state)
{
    (void)state;
    talk = (struct talk){.bytes.data = talk.bytes.data, .tagged = true, .now_ns = 1000000000};
    bytes_section(&talk.bytes);
    for (int port = 0; port < MANY_PORTS; port++) {
        char name[16];
        snprintf(name, sizeof name, "s0:%d", port);
        bytes_interface_at(&talk.bytes, name, 9, (uint64_t)TALK_BPS, NULL);
    }
    struct frame f = talk_write(&talk, 0, 1, 0);
    f.roce.payload_bytes = 0; /* so that all are in one small file */
    for (f.ethernet.priority = 0; f.ethernet.priority < 8; f.ethernet.priority++)
        for (uint32_t port = 0; port < 2 * MANY_PORTS; port++)
            seen(port / 2, port % 2, &f);
    struct frame pause = {.kind = FRAME_PFC, .pfc = {.priorities = 8, .quanta = {0, 0, 0, 60000}}};
    seen(0, false, &pause);
    json_t *entry = talk_judge(&talk, "pfc", SETTINGS);
    char *shown = json_shown(entry);
    if (!strstr(shown, "there are too many ports that may wait for each other"))
        fail_msg("%s", shown);
    free(shown);
    json_decref(entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring),
        cmocka_unit_test(no_ring),
        cmocka_unit_test(nameless),
        cmocka_unit_test(window),
        cmocka_unit_test(window_before_silence),
        cmocka_unit_test(settings_of_ports),
        cmocka_unit_test(more_ways_than_are_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
