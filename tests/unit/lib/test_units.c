#include "tests/unit/unit.h"

#include "lib/units.h"

struct good {
    enum unit unit;
    const char *text;
    int64_t value;
};

static void parses_what_people_write(void **state)
{
    static const struct good cases[] = {
        {UNIT_TIME_NS, "10ms", 10000000},
        {UNIT_TIME_NS, "1.5us", 1500},
        {UNIT_TIME_NS, "30 s", 30000000000},
        {UNIT_TIME_NS, "2min", 120000000000},
        {UNIT_TIME_NS, "0", 0},
        {UNIT_TIME_PS, "0.25ns", 250},
        {UNIT_BYTES, "64KiB", 65536},
        {UNIT_BYTES, "2B", 2},
        {UNIT_BYTES, "1.5KiB", 1536},
        {UNIT_BYTES, "32GiB", 34359738368},
        {UNIT_BYTES, "4kB", 4000},
        {UNIT_RATE_BPS, "25Gb/s", 25000000000},
        {UNIT_RATE_BPS, "7.88GB/s", 63040000000},
        {UNIT_RATE_BPS, "40Mb/s", 40000000},
        {UNIT_LENGTH_MM, "1m", 1000},
        {UNIT_LENGTH_MM, "0.5m", 500},
        {UNIT_PER_SECOND, "3.77M/s", 3770000},
        {UNIT_PERCENT_MILLI, "20%", 20000},
        {UNIT_PERCENT_MILLI, "0.5%", 500},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        int64_t value = -1;
        if (units_parse(cases[i].unit, cases[i].text, &value, &e) != 0)
            fail_msg("%s: %s", cases[i].text, e.text);
        assert_int_equal(value, cases[i].value);
    }
}

static void writes_as_people_do(void **state)
{
    static const struct {
        enum unit unit;
        enum units_prefixes prefixes;
        int64_t value;
        const char *text;
    } cases[] = {
        {UNIT_TIME_NS, UNITS_ANY, 1500, "1.5us"},
        {UNIT_TIME_NS, UNITS_ANY, 100000, "100us"},
        {UNIT_TIME_NS, UNITS_ANY, 0, "0ns"},
        {UNIT_TIME_PS, UNITS_ANY, 250, "250ps"},
        {UNIT_BYTES, UNITS_ANY, 1536, "1536B"},
        {UNIT_BYTES, UNITS_ANY, 1 << 20, "1MiB"},
        {UNIT_BYTES, UNITS_BINARY, 128000, "125KiB"},
        {UNIT_BYTES, UNITS_DECIMAL, 128000, "128kB"},
        {UNIT_RATE_BPS, UNITS_ANY, 12500000000, "12.5Gb/s"},
        {UNIT_LENGTH_MM, UNITS_ANY, 1500, "1.5m"},
        {UNIT_PER_SECOND, UNITS_ANY, 3770000, "3.77M/s"},
        {UNIT_PERCENT_MILLI, UNITS_ANY, 500, "0.5%"},
        {UNIT_PERCENT_MILLI, UNITS_ANY, 12345, "12.345%"},
        {UNIT_TIME_NS, UNITS_ANY, INT64_MAX, "9223372036854775807ns"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40];
        assert_string_equal(units_write(cases[i].unit, cases[i].value, cases[i].prefixes, text, sizeof text),
                            cases[i].text);
    }
}

static void refuses_the_rest_with_a_sentence(void **state)
{
    static const struct {
        enum unit unit;
        const char *text;
        const char *says;
    } cases[] = {
        {UNIT_TIME_NS, "10", "has no unit"},
        {UNIT_TIME_NS, "10 parsecs", "unknown unit \"parsecs\""},
        {UNIT_TIME_NS, "0.5ns", "not a multiple of one ns"},
        {UNIT_TIME_NS, "ms", "is not a time"},
        {UNIT_TIME_NS, "", "is not a time"},
        {UNIT_TIME_NS, "-1s", "is not a time"},
        {UNIT_TIME_NS, "1.s", "is not a time"},
        {UNIT_BYTES, "1e6B", "unknown unit"},
        {UNIT_BYTES, "64kib", "unknown unit"},
        {UNIT_BYTES, "99999999999999999999B", "is not a size"},
        {UNIT_BYTES, "9999999999TiB", "too large"},
        {UNIT_RATE_BPS, "25Gbps", "unknown unit \"Gbps\""},
        {UNIT_RATE_BPS, "25G", "unknown unit"},
        {UNIT_LENGTH_MM, "3ft", "expected a length"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        int64_t value;
        assert_int_equal(units_parse(cases[i].unit, cases[i].text, &value, &e), -1);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, e.text, cases[i].says);
    }
}

static void writes_the_shortest_exact_form(void **state)
{
    static const struct good cases[] = {
        {UNIT_TIME_NS, "10ms", 10000000},
        {UNIT_TIME_NS, "1500ns", 1500},
        {UNIT_TIME_NS, "0ns", 0},
        {UNIT_BYTES, "64KiB", 65536},
        {UNIT_BYTES, "4kB", 4000},
        {UNIT_BYTES, "1001B", 1001},
        {UNIT_RATE_BPS, "25Gb/s", 25000000000},
        {UNIT_LENGTH_MM, "1m", 1000},
        {UNIT_PERCENT_MILLI, "20%", 20000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buffer[40];
        int64_t back;
        assert_string_equal(units_format(cases[i].unit, cases[i].value, buffer, sizeof buffer),
                            cases[i].text);
        assert_int_equal(units_parse(cases[i].unit, buffer, &back, NULL), 0);
        assert_int_equal(back, cases[i].value);
    }
}

static void what_is_written_is_read_back(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char buffer[64];
        int64_t back, value;
        random = random * 6364136223846793005u + 1442695040888963407u;
        value = (int64_t)(random >> (2 + random % 50));
        enum unit unit = (enum unit)(random >> 40) % UNIT_PERCENT_MILLI;
        units_format(unit, value, buffer, sizeof buffer);
        assert_int_equal(units_parse(unit, buffer, &back, NULL), 0);
        assert_int_equal(back, value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_what_people_write),     cmocka_unit_test(refuses_the_rest_with_a_sentence),
        cmocka_unit_test(writes_as_people_do),          cmocka_unit_test(writes_the_shortest_exact_form),
        cmocka_unit_test(what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
