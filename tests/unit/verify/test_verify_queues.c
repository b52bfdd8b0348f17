/* Marks against the queue: a switch whose ports are all captured, with packets that wait at one of them. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/verify_talk.h"

#define PRIORITY    3
#define FRAME_BYTES 4170 /* of a packet below, with FCS and tag */
#define BEFORE_NS   100
#define THRESHOLD                                                                                      \
    "{\"settings\": {\"trust\": \"pcp\"}, \"ecn_thresholds\": [{\"interfaces\": [\"s:*\"], \"kmin\": " \
    "\"20KB\"}]}"

static struct talk talk;

static void begin(const char *const *names, int count)
{
    talk = (struct talk){.bytes.data = talk.bytes.data,
                         .tagged = true,
                         .priority = PRIORITY,
                         .ecn = FRAME_ECT_0,
                         .now_ns = 1000000000};
    bytes_section(&talk.bytes);
    for (int i = 0; i < count; i++)
        bytes_interface_at(&talk.bytes, names[i], 9, (uint64_t)TALK_BPS, NULL);
}

static void begin_switch(void)
{
    static const char *const names[] = {"s:0", "s:1", "s:2"};
    begin(names, 3);
}

static uint64_t seen(uint32_t interface, bool sent, uint32_t psn, uint8_t ecn)
{
    uint8_t data[128];
    struct frame f = talk_write(&talk, psn, 1, psn);
    f.roce.ip.ecn = ecn;
    size_t captured = frame_write(&f, data, sizeof data);
    bytes_packet(&talk.bytes, interface, (uint64_t)talk.now_ns, data, (uint32_t)captured,
                 (uint32_t)frame_length(&f), sent ? 2 : 1);
    talk.now_ns += BEFORE_NS;
    return ++talk.number;
}

static uint64_t in(uint32_t psn)
{
    return seen(0, false, psn, FRAME_ECT_0);
}

static uint64_t out(uint32_t psn, bool marked)
{
    return seen(2, true, psn, marked ? FRAME_CE : FRAME_ECT_0);
}

static json_t *judge(void)
{
    return talk_judge(&talk, "ecn", THRESHOLD);
}

static void expect_fine(const char *says)
{
    json_t *entry = judge();
    const char *reason = json_string_value(json_object_get(entry, "reason"));
    assert_int_equal(json_array_size(json_object_get(entry, "findings")), 0);
    if (!strstr(reason, says))
        fail_msg("%s", reason);
    json_decref(entry);
}

static void expect_below(uint64_t number)
{
    json_t *entry = judge(), *kinds = json_object_get(entry, "findings"), *kind = json_array_get(kinds, 0);
    assert_int_equal(json_array_size(kinds), 1);
    assert_string_equal(json_string_value(json_object_get(kind, "kind")), "marked below the threshold");
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(json_object_get(kind, "packets"), 0), "packet")),
        number);
    json_decref(entry);
}

/* Six packets of 4170 bytes wait: the sixth has more than 20 KB before it. */
static void test_a_mark_as_it_joins_a_long_queue_is_right(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 0; psn < 6; psn++)
        in(psn);
    for (uint32_t psn = 0; psn < 6; psn++)
        out(psn, psn == 5);
    expect_fine("1 mark against a queue");
}

static void test_a_mark_in_a_short_queue_is_found(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 0; psn < 3; psn++)
        in(psn);
    out(0, false);
    out(1, false);
    uint64_t number = out(2, true);
    in(3);
    out(3, false);
    expect_below(number);
}

/* A queue that marks as packets leave: five wait behind the first. */
static void test_a_mark_as_it_leaves_a_long_queue_is_right(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 0; psn < 7; psn++)
        in(psn);
    out(0, true);
    for (uint32_t psn = 1; psn < 7; psn++)
        out(psn, false);
    expect_fine("1 mark against a queue");
}

/* As many leave after it, but they came when it had left. */
static void test_what_comes_later_did_not_wait_behind_it(void **state)
{
    (void)state;
    begin_switch();
    in(0);
    uint64_t number = out(0, true);
    for (uint32_t psn = 1; psn < 8; psn++)
        in(psn);
    for (uint32_t psn = 1; psn < 8; psn++)
        out(psn, false);
    expect_below(number);
}

/* A packet that finds an empty queue leaves when it comes, and may stand first in the file: one that came
 * marked is not judged, and of one that was marked there it is known that it had not waited. */
static void leaves_when_it_comes(uint32_t psn, uint8_t came, uint8_t left)
{
    seen(2, true, psn, left);
    talk.now_ns -= BEFORE_NS;
    seen(0, false, psn, came);
}

static void test_a_packet_that_leaves_when_it_comes(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 0; psn < 6; psn++)
        in(psn);
    for (uint32_t psn = 0; psn < 6; psn++)
        out(psn, psn == 5);
    leaves_when_it_comes(6, FRAME_CE, FRAME_CE);
    leaves_when_it_comes(7, FRAME_ECT_0, FRAME_ECT_0);
    expect_fine("1 mark against a queue");
    json_t *entry = judge();
    char *words = json_dumps(entry, 0);
    assert_null(strstr(words, "whether the queue was above"));
    free(words);
    json_decref(entry);

    begin_switch();
    leaves_when_it_comes(0, FRAME_ECT_0, FRAME_CE);
    in(1);
    out(1, false);
    expect_below(1);
}

/* Other ports and priorities have queues of their own. */
static void test_what_left_elsewhere_did_not_wait_before_it(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 0; psn < 9; psn++)
        in(psn);
    for (uint32_t psn = 0; psn < 4; psn++)
        seen(1, true, psn, FRAME_ECT_0);
    talk.priority = PRIORITY + 1;
    for (uint32_t psn = 4; psn < 8; psn++)
        out(psn, false);
    talk.priority = PRIORITY;
    uint64_t number = out(8, true);
    in(9);
    out(9, false);
    expect_below(number);
}

static void test_one_that_came_in_marked_is_no_mark_of_this_switch(void **state)
{
    (void)state;
    begin_switch();
    seen(0, false, 0, FRAME_CE);
    out(0, true);
    in(1);
    out(1, false);
    expect_fine("4 sightings of packets, 2 sightings of marked packets whose ends are elsewhere");
    json_t *entry = judge();
    assert_null(strstr(json_string_value(json_object_get(entry, "reason")), "against a queue"));
    json_decref(entry);
}

static void expect_unknown(void)
{
    json_t *entry = judge(), *notes = json_object_get(entry, "not_judged");
    assert_int_equal(json_array_size(json_object_get(entry, "findings")), 0);
    size_t i, found = 0;
    json_t *note;
    json_array_foreach(notes, i, note) found +=
        strstr(json_string_value(note), "for 1 of the packets that leave marked") != NULL;
    assert_int_equal(found, 1);
    json_decref(entry);
}

static void test_a_mark_without_its_arrival_is_not_judged(void **state)
{
    (void)state;
    begin_switch();
    out(0, true);
    in(1);
    out(1, false);
    expect_unknown();
}

/* Others that waited behind it may come after the end. */
static void test_a_mark_at_the_end_is_not_judged(void **state)
{
    (void)state;
    begin_switch();
    in(0);
    in(1);
    out(0, true);
    out(1, false);
    expect_unknown();
}

static void test_arrivals_at_another_node_are_others(void **state)
{
    (void)state;
    static const char *const names[] = {"s1:0", "s1:1", "s:2"};
    begin(names, 3);
    in(0);
    out(0, true);
    in(1);
    out(1, false);
    expect_unknown();
}

/* A packet that was sent again while the first one waits: it waited since then. */
static void test_a_packet_that_comes_twice_came_first(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 1; psn < 6; psn++)
        in(psn);
    in(0);
    for (uint32_t psn = 1; psn < 6; psn++)
        out(psn, false);
    in(0);
    out(0, true);
    expect_fine("1 mark against a queue");
}

/* The second of both leaves marked, after the packet has come once more. */
static void test_each_of_two_copies_waited(void **state)
{
    (void)state;
    begin_switch();
    in(0);
    for (uint32_t psn = 1; psn < 6; psn++)
        in(psn);
    in(0);
    out(0, false);
    for (uint32_t psn = 1; psn < 6; psn++)
        out(psn, false);
    in(0);
    out(0, true);
    out(0, false);
    expect_fine("1 mark against a queue");
}

/* A copy comes through another port while the first one waits. */
static void test_copies_through_two_ports(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t psn = 1; psn < 7; psn++)
        in(psn);
    seen(1, false, 0, FRAME_ECT_0);
    for (uint32_t psn = 1; psn < 7; psn++)
        out(psn, false);
    in(0);
    out(0, true);
    expect_fine("1 mark against a queue");
}

/* Many packets of a flow wait, and the numbers wrap. */
static void test_long_queues_and_wrapping_numbers(void **state)
{
    (void)state;
    begin_switch();
    uint32_t count = 2500, first = FRAME_PSN_MASK - 1000;
    for (uint32_t i = 0; i < count; i++)
        in((first + i) & FRAME_PSN_MASK);
    for (uint32_t i = 0; i < count; i++)
        out((first + i) & FRAME_PSN_MASK, i > 5 && i % 2);
    expect_fine("1247 marks against a queue");
}

/* More than are kept of a flow: what is forgotten is not judged. */
static void test_more_packets_than_are_kept(void **state)
{
    (void)state;
    begin_switch();
    for (uint32_t i = 0; i < 8; i++)
        in(i * 65536);
    for (uint32_t i = 0; i < 8; i++)
        out(i * 65536, i == 0);
    expect_unknown();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mark_as_it_joins_a_long_queue_is_right),
        cmocka_unit_test(test_a_mark_in_a_short_queue_is_found),
        cmocka_unit_test(test_a_mark_as_it_leaves_a_long_queue_is_right),
        cmocka_unit_test(test_what_comes_later_did_not_wait_behind_it),
        cmocka_unit_test(test_a_packet_that_leaves_when_it_comes),
        cmocka_unit_test(test_what_left_elsewhere_did_not_wait_before_it),
        cmocka_unit_test(test_one_that_came_in_marked_is_no_mark_of_this_switch),
        cmocka_unit_test(test_a_mark_without_its_arrival_is_not_judged),
        cmocka_unit_test(test_a_mark_at_the_end_is_not_judged),
        cmocka_unit_test(test_arrivals_at_another_node_are_others),
        cmocka_unit_test(test_a_packet_that_comes_twice_came_first),
        cmocka_unit_test(test_each_of_two_copies_waited),
        cmocka_unit_test(test_copies_through_two_ports),
        cmocka_unit_test(test_long_queues_and_wrapping_numbers),
        cmocka_unit_test(test_more_packets_than_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
