/* Imported cases: numbers and units of others' files, and the order of a schedule's operations. Whole files:
 * tests/e2e/harness/import.sh. */
#include "harness/import/goal.h"
#include "tests/unit/unit.h"
#include <string.h>

static void decimals_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int exponent, result;
        int64_t value;
        bool whole;
    } cases[] = {
        {"2", 9, 0, 2000000000, true},
        {"2.000000001", 9, 0, 2000000001, true},
        {"2.0000000015", 9, 0, 2000000001, false},
        {"0.1", 9, 0, 100000000, true},
        {"1e-6", 9, 0, 1000, true},
        {"1.5E+3", 0, 0, 1500, true},
        {"000000000000000000000000007", 0, 0, 7, true},
        {"7.0000000000000000000000000", 0, 0, 7, true},
        {".5", 1, 0, 5, true},
        {"0e1000", 0, 0, 0, true},
        {"0.0000000000000000000000000001", 9, 0, 0, false},
        {"99999999999999999999", 0, -1, 0, false},
        {"1e18", 0, -1, 0, false},
        {"1e99999", 0, -1, 0, false},
        {"", 0, -1, 0, false},
        {".", 0, -1, 0, false},
        {"1.2.3", 0, -1, 0, false},
        {"-1", 0, -1, 0, false},
        {"1e", 0, -1, 0, false},
        {"0x10", 0, -1, 0, false},
        {"nan", 0, -1, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        bool whole = false;
        int result = decimal_parse(cases[i].text, strlen(cases[i].text), cases[i].exponent, &value, &whole);
        if (result != cases[i].result ||
            (result == 0 && (value != cases[i].value || whole != cases[i].whole)))
            fail_msg("%s: %d, %lld, %d", cases[i].text, result, (long long)value, whole);
    }
}

static int64_t value_of(int (*parse)(const struct reader *, const struct word *, int64_t *, struct error *),
                        const char *text)
{
    const struct reader r = {.path = "f"};
    const struct word word = {text, strlen(text), 1};
    struct error e;
    int64_t value = 0;
    return parse(&r, &word, &value, &e) == 0 ? value : -1;
}

static void units_are_those_of_ns3(void **state)
{
    (void)state;
    assert_int_equal(value_of(word_rate, "100Gbps"), 100000000000);
    assert_int_equal(value_of(word_rate, "12.5GB/s"), 100000000000);
    assert_int_equal(value_of(word_rate, "25000Mb/s"), 25000000000);
    assert_int_equal(value_of(word_rate, "2000Kbps"), 2000000);
    assert_int_equal(value_of(word_rate, "25000000000.0"), 25000000000);
    assert_int_equal(value_of(word_rate, "25Gib/s"), 26843545600);
    assert_int_equal(value_of(word_rate, "100MiB/s"), 838860800);
    assert_int_equal(value_of(word_rate, "0Gbps"), -1);
    assert_int_equal(value_of(word_rate, "0GiB/s"), -1);
    assert_int_equal(value_of(word_rate, "9000GiB/s"), -1);
    assert_int_equal(value_of(word_rate, "1999999bps"), -1);
    assert_int_equal(value_of(word_rate, "9000Gbps"), -1);
    assert_int_equal(value_of(word_rate, "100"), -1);
    assert_int_equal(value_of(word_rate, "Gbps"), -1);
    assert_int_equal(value_of(word_time, "1000ns"), 1000000);
    assert_int_equal(value_of(word_time, "0.001ms"), 1000000);
    assert_int_equal(value_of(word_time, "0.000025ms"), 25000);
    assert_int_equal(value_of(word_time, "0.000001"), 1000000);
    assert_int_equal(value_of(word_time, "0.1ps"), -1);
    assert_int_equal(value_of(word_time, "1001s"), -1);
    assert_int_equal(value_of(word_time, "-1us"), -1);
}

static int read_goal(const char *text, struct import *import, struct error *e)
{
    struct reader file;
    assert_int_equal(reader_open_text(&file, "s.goal", text, strlen(text), e), 0);
    int result = import_goal(&file, import, e);
    reader_close(&file);
    return result;
}

static void refused(const char *text, const char *words)
{
    struct import import;
    struct error e;
    assert_int_equal(read_goal(text, &import, &e), -1);
    if (!strstr(e.text, words))
        fail_msg("no \"%s\" in: %s", words, e.text);
}

#define TWO(zero, one) "num_ranks 2\nrank 0 {\n" zero "}\nrank 1 {\n" one "}\n"

/* A send waits for what it requires, by way of computations: for the longest way to each flow. */
static void waits_are_the_longest_ways(void **state)
{
    (void)state;
    struct import import;
    struct error e;
    assert_int_equal(
        read_goal(TWO("a: send 10b to 1\nb: recv 20b from 1\nc: calc 100\nc requires a\nd: calc 30\n"
                      "d requires c\nd requires b\ne: send 5b to 1 tag 1\ne requires b\ne requires d\n",
                      "recv 10b from 0\nsend 20b to 0\nrecv 5b from 0 tag 1\n"),
                  &import, &e),
        0);
    assert_int_equal(import.flow_count, 3);
    const struct import_flow *last = &import.flows[1];
    assert_int_equal(last->bytes, 5);
    assert_int_equal(last->waits, 2);
    assert_int_equal(last->start_ns, 0); /* the delays are longer */
    const struct import_wait *waits = &import.waits[last->first_wait];
    assert_int_equal(waits[0].flow, 0);
    assert_int_equal(waits[0].delay_ns, 130);
    assert_int_equal(waits[1].flow, 2);
    assert_int_equal(waits[1].delay_ns, 30);
    import_free(&import);
}

/* irequires: after the beginning of the other, which is when that is ready. A recv ends when it is ready and
 * the data is there. */
static void starts_and_receives(void **state)
{
    (void)state;
    struct import import;
    struct error e;
    assert_int_equal(
        read_goal(TWO("c: calc 50\na: send 1b to 1\na requires c\nb: send 2b to 1\nb irequires a\n"
                      "r: recv 4b from 1\nr requires a\ns: send 3b to 1\ns requires r\n",
                      "recv 1b from 0\nrecv 2b from 0\nrecv 3b from 0\nsend 4b to 0\n"),
                  &import, &e),
        0);
    assert_int_equal(import.flows[1].start_ns, 50);
    assert_int_equal(import.flows[1].waits, 0);
    assert_int_equal(import.flows[2].waits, 2);
    assert_int_equal(import.waits[import.flows[2].first_wait].flow, 0);
    assert_int_equal(import.waits[import.flows[2].first_wait + 1].flow, 3);
    import_free(&import);
}

static void schedules_are_checked(void **state)
{
    (void)state;
    refused(TWO("a: send 1b to 1\n", ""),
            "s.goal:3: no recv of rank 1 from rank 0 with tag 0 matches this send");
    refused(TWO("", "recv 1b from 0 tag 7\n"),
            "s.goal:5: no send of rank 0 to rank 1 with tag 7 matches this recv");
    refused(TWO("send 1b to 1\n", "recv 2b from 0\n"), "the recv has 2 bytes");
    refused(TWO("send 1b to 2\n", ""), "the other rank is \"2\"");
    refused(TWO("send 1b to 0\n", ""), "sends to itself");
    refused(TWO("send 0b to 1\n", ""), "the size in bytes is \"0\"");
    refused(TWO("send 1b to 1 nic 1\n", ""), "nic 1: a simulated host has one NIC");
    refused(TWO("recv 1b from -1\n", ""), "recv from any rank");
    refused(TWO("recv 1b from 1 tag -1\n", ""), "recv from any tag");
    refused(TWO("a: calc 1\na requires b\n", ""), "no operation \"b\" above");
    refused(TWO("a: calc 1\na: calc 2\n", ""), "a second operation \"a\"");
    refused(TWO("a: calc 1\nb: calc 1\na requires b\nb requires a\nsend 1b to 1\n", "recv 1b from 0\n"),
            "requires itself");
    refused(TWO("a: calc 1\nb: calc 1\nsend 1b to 1\n", "recv 1b from 0\n"), "share CPU 0");
    refused(TWO("a: calc 1\nb: calc 1\nb irequires a\nsend 1b to 1\n", "recv 1b from 0\n"), "share CPU 0");
    refused(TWO("calc 1 tag 3\n", ""), "found \"tag\"");
    refused("num_ranks 2\nrank 0 {\n}\n", "without rank 1");
    refused("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "a second rank 0");
    refused("num_ranks 2\nrank 0 {\n", "the file ends here");
    refused("rank 0 {\n}\n", "expected \"num_ranks\"");
    refused("num_ranks 4294967296\n", "the number of ranks is");
    refused(TWO("", ""), "the number of sends is 0");
    refused(TWO("a: calc 86400000000000\nb: calc 1\nb requires a\nsend 1b to 1\n", "recv 1b from 0\n"),
            "more than a day");
    refused("", "the file ends here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_exact),         cmocka_unit_test(units_are_those_of_ns3),
        cmocka_unit_test(waits_are_the_longest_ways), cmocka_unit_test(starts_and_receives),
        cmocka_unit_test(schedules_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
