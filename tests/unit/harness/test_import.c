/* Imported cases: numbers and units of others' files. Whole files: tests/e2e/import/import.sh. */
#include "harness/import/import.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(units_are_those_of_ns3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
