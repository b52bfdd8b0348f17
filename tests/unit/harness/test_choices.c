/* Choices of a sweep: values of ranges, zips, draws, what is left out, and the conditions that say so. */
#include "tests/unit/unit.h"

#include "harness/plan/choices.h"
#include "harness/plan/value_range.h"
#include "harness/plan/condition.h"
#include "lib/document/table.h"
#include "lib/formats/scenario.h"
#include <math.h>

static json_t *parse(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json)
        fail_msg("%s", text);
    return json;
}

static void expect_json(json_t *found, const char *expected, const char *what)
{
    char *text = json_dumps(found, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    json_t *wanted = parse(expected);
    if (!json_equal(found, wanted))
        fail_msg("%s: found %s, expected %s", what, text, expected);
    free(text);
    json_decref(wanted);
}

static void expect_sentence(const char *found, const char *expected, const char *what)
{
    if (!strstr(found, expected))
        fail_msg("%s: found \"%s\", expected \"%s\"", what, found, expected);
}

/* ---- values of a path */

static void ranges_are_written_out(void **state)
{
    static const struct {
        const char *range, *values;
    } cases[] = {
        {"[1,\"x\",{}]", "[1,\"x\",{}]"},
        {"{\"from\":\"2B\",\"to\":\"4KiB\",\"factor\":4}",
         "[\"2B\",\"8B\",\"32B\",\"128B\",\"512B\",\"2KiB\"]"},
        {"{\"from\":\"10us\",\"to\":\"1ms\",\"factor\":10}", "[\"10us\",\"100us\",\"1ms\"]"},
        {"{\"from\":1,\"to\":59049,\"factor\":9}", "[1,9,81,729,6561,59049]"},
        {"{\"from\":\"10us\",\"to\":\"60us\",\"factor\":1.5}",
         "[\"10us\",\"15us\",\"22.5us\",\"33.75us\",\"50.63us\"]"},
        {"{\"from\":7,\"to\":7,\"factor\":2}", "[7]"},
        {"{\"from\":0.1,\"to\":0.8,\"step\":0.1}", "[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8]"},
        {"{\"from\":-1,\"to\":1,\"step\":1}", "[-1,0,1]"},
        {"{\"from\":\"10Gb/s\",\"to\":\"16Gb/s\",\"step\":\"2.5Gb/s\"}",
         "[\"10Gb/s\",\"12.5Gb/s\",\"15Gb/s\"]"},
        {"{\"from\":\"0\",\"to\":\"2ms\",\"step\":\"500us\"}",
         "[\"0ns\",\"500us\",\"1ms\",\"1.5ms\",\"2ms\"]"},
        {"{\"from\":\"0.5ns\",\"to\":\"1.5ns\",\"step\":\"250ps\"}",
         "[\"500ps\",\"750ps\",\"1ns\",\"1.25ns\",\"1.5ns\"]"},
        {"{\"from\":\"5%\",\"to\":\"6%\",\"step\":\"0.5%\"}", "[\"5%\",\"5.5%\",\"6%\"]"},
        {"{\"from\":\"1m\",\"to\":\"2m\",\"step\":\"50cm\"}", "[\"1m\",\"1.5m\",\"2m\"]"},
        {"{\"from\":\"1M/s\",\"to\":\"2M/s\",\"points\":3}", "[\"1M/s\",\"1.5M/s\",\"2M/s\"]"},
        {"{\"from\":1,\"to\":10,\"points\":4}", "[1,4,7,10]"},
        {"{\"from\":1000,\"to\":1004,\"points\":5}", "[1000,1001,1002,1003,1004]"},
        {"{\"from\":0.0,\"to\":1,\"points\":4}", "[0.0,0.333,0.667,1.0]"},
        {"{\"from\":0.001,\"to\":1,\"points\":4,\"scale\":\"log\"}", "[0.001,0.01,0.1,1.0]"},
        {"{\"from\":1,\"to\":1000,\"points\":7,\"scale\":\"log\"}", "[1,3,10,32,100,316,1000]"},
        {"{\"from\":\"1KiB\",\"to\":\"1MiB\",\"points\":6,\"scale\":\"log\"}",
         "[\"1KiB\",\"4KiB\",\"16KiB\",\"64KiB\",\"256KiB\",\"1MiB\"]"},
        {"{\"from\":\"10us\",\"to\":\"1ms\",\"points\":4,\"scale\":\"log\"}",
         "[\"10us\",\"46.4us\",\"215us\",\"1ms\"]"},
        {"{\"from\":\"1kB\",\"to\":\"3kB\",\"points\":2}", "[\"1kB\",\"3kB\"]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        json_t *range = parse(cases[i].range), *values = sweep_values(range, &e);
        if (!values)
            fail_msg("%s: %s", cases[i].range, e.text);
        expect_json(values, cases[i].values, cases[i].range);
        json_decref(values);
        json_decref(range);
    }
}

static void bad_ranges_are_refused(void **state)
{
    static const struct {
        const char *range, *why;
    } cases[] = {
        {"[]", "expected a list of values"},
        {"7", "expected a list of values"},
        {"{\"from\":1,\"to\":8}", "expected one of \"factor\", \"step\" and \"points\""},
        {"{\"from\":1,\"to\":8,\"step\":1,\"points\":3}", "expected one of"},
        {"{\"from\":1,\"to\":8,\"times\":2}", "times: it is called \"factor\""},
        {"{\"from\":1,\"to\":8,\"tsep\":2}", "unknown key \"tsep\"; did you mean \"step\""},
        {"{\"from\":8,\"to\":1,\"step\":1}", "to: expected a value that is not below from"},
        {"{\"from\":1,\"to\":8,\"step\":0}",
         "step: it never arrives at a second value: expected a step above 0"},
        {"{\"from\":1,\"to\":8,\"step\":-1}", "expected a step above 0"},
        {"{\"from\":1,\"to\":8,\"step\":9}",
         "step: it never arrives at a second value: from plus step is above to"},
        {"{\"from\":1,\"to\":8,\"factor\":1}",
         "factor: it never arrives at a second value: expected a factor above 1"},
        {"{\"from\":1,\"to\":8,\"factor\":9}", "from times factor is above to"},
        {"{\"from\":1,\"to\":8,\"factor\":1.1}", "rounded to the same one"},
        {"{\"from\":0,\"to\":8,\"factor\":2}", "from: expected a value above 0"},
        {"{\"from\":0,\"to\":8,\"points\":3,\"scale\":\"log\"}", "from: expected a value above 0"},
        {"{\"from\":1,\"to\":8,\"step\":1,\"scale\":\"log\"}", "scale: it is for points"},
        {"{\"from\":1,\"to\":8,\"points\":1}", "points: 1 is out of range"},
        {"{\"from\":1,\"to\":8,\"points\":9}", "points: there are not 9 different values"},
        {"{\"from\":1,\"to\":8,\"points\":3,\"scale\":\"cubic\"}", "scale: \"cubic\" is unknown"},
        {"{\"from\":\"1ms\",\"to\":\"8KiB\",\"factor\":2}", "\"1ms\" and \"8KiB\" have no unit in common"},
        {"{\"from\":\"1ms\",\"to\":8,\"factor\":2}", "\"1ms\" and 8 have no unit in common"},
        {"{\"from\":\"1\",\"to\":8,\"factor\":2}", "\"1\" is neither a number nor a quantity with a unit"},
        {"{\"from\":null,\"to\":8,\"factor\":2}", "null is neither a number"},
        {"{\"from\":1,\"to\":9e18,\"factor\":2}", "too large"},
        {"{\"from\":0,\"to\":100000000,\"step\":1}", "step: more than 1000000 values"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        json_t *range = parse(cases[i].range);
        assert_null(sweep_values(range, &e));
        expect_sentence(e.text, cases[i].why, cases[i].range);
        json_decref(range);
    }
}

/* ---- samples */

static void a_latin_hypercube_hits_each_stratum_once(void **state)
{
    enum { COUNT = 50 };
    struct error e = {""};
    json_t *written =
        parse("{\"count\":50,\"seed\":7,\"over\":{\"linear\":{\"from\":\"1ms\",\"to\":\"2ms\"},"
              "\"log\":{\"from\":0.01,\"to\":100.0,\"scale\":\"log\"},\"whole\":{\"from\":1,\"to\":100},"
              "\"word\":[\"x\",\"y\"]}}");
    json_t *lists = sweep_draw(written, &e);
    unsigned linear[COUNT] = {0}, logarithmic[COUNT] = {0}, whole[COUNT] = {0}, words = 0;
    (void)state;
    assert_non_null(lists);
    for (size_t i = 0; i < COUNT; i++) {
        int64_t ns;
        assert_int_equal(units_parse(UNIT_TIME_NS,
                                     json_string_value(json_array_get(json_object_get(lists, "linear"), i)),
                                     &ns, &e),
                         0);
        double number = json_number_value(json_array_get(json_object_get(lists, "log"), i));
        int64_t n = json_integer_value(json_array_get(json_object_get(lists, "whole"), i));
        linear[(ns - 1000000) * COUNT / 1000000]++;
        logarithmic[(size_t)floor(log10(number / 0.01) / 4 * COUNT + 1e-9)]++;
        whole[(n - 1) * COUNT / 100]++;
        words += strcmp(json_string_value(json_array_get(json_object_get(lists, "word"), i)), "x") == 0;
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(linear[i], 1);
        assert_int_equal(logarithmic[i], 1);
        assert_int_equal(whole[i], 1);
    }
    assert_int_equal(words, COUNT / 2);
    json_decref(lists);
    json_decref(written);
}

static void draws_are_the_same_for_a_seed(void **state)
{
    struct error e = {""};
    json_t *first =
        parse("{\"count\":9,\"method\":\"random\",\"seed\":1,\"over\":{\"a\":{\"from\":1,\"to\":1000000}}}");
    json_t *second =
        parse("{\"count\":9,\"method\":\"random\",\"seed\":2,\"over\":{\"a\":{\"from\":1,\"to\":1000000}}}");
    json_t *a = sweep_draw(first, &e), *again = sweep_draw(first, &e), *b = sweep_draw(second, &e);
    (void)state;
    assert_true(a && again && b);
    assert_true(json_equal(a, again));
    assert_false(json_equal(a, b));
    for (size_t i = 0; i < 9; i++)
        assert_in_range(json_integer_value(json_array_get(json_object_get(a, "a"), i)), 1, 1000000);
    json_decref(a);
    json_decref(again);
    json_decref(b);
    json_decref(first);
    json_decref(second);
}

/* ---- conditions */

static json_t *values_at(const void *context, const char *path)
{
    json_t *value = json_object_get(context, path), *values = json_array();
    if (value)
        json_array_append(values, value);
    return values;
}

static void conditions_compare(void **state)
{
    static const struct {
        const char *condition;
        int holds;
    } cases[] = {
        {"{\"memory\":\"gpu\"}", 1},
        {"{\"memory\":\"host\"}", 0},
        {"{\"memory\":\"== gpu\"}", 1},
        {"{\"memory\":\"!= gpu\"}", 0},
        {"{\"memory\":\"!=host\"}", 1},
        {"{\"size\":\"64KiB\"}", 1},
        {"{\"size\":\"65536B\"}", 1}, /* equality is of quantities */
        {"{\"size\":\"== 65536B\"}", 1},
        {"{\"size\":\">= 64KiB\"}", 1},
        {"{\"size\":\"> 64KiB\"}", 0},
        {"{\"size\":\"> 1KiB and < 1MiB\"}", 1},
        {"{\"size\":\"> 1KiB and < 2KiB\"}", 0},
        {"{\"size\":\"> 0\"}", 1},
        {"{\"depth\":\"<= 16\"}", 1},
        {"{\"depth\":\"< 16.5\"}", 1},
        {"{\"depth\":16}", 1},
        {"{\"depth\":\"16\"}", 0},
        {"{\"depth\":\"!= 16\"}", 0},
        {"{\"red.min\":\"< red.max\"}", 1},
        {"{\"red.min\":\">= red.max\"}", 0},
        {"{\"list\":[3]}", 1},
        {"{\"list\":\"== [3]\"}", 1},
        {"{\"list\":\"!= []\"}", 1},
        {"{\"nothing\":\"> 5\"}", 0},
        {"{\"nothing\":5}", 0},
        {"{\"memory\":\"gpu\",\"depth\":\"> 16\"}", 0},
        {"{\"on\":\"!= true\"}", 0},
        {"{\"sign\":\"== \\\"> 1\\\"\"}", 1},
        {"{}", 1},
    };
    json_t *values =
        parse("{\"memory\":\"gpu\",\"size\":\"64KiB\",\"depth\":16,\"red.min\":\"50kB\",\"red.max\":\"1MB\","
              "\"list\":[3],\"on\":true,\"sign\":\"> 1\"}");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        json_t *condition = parse(cases[i].condition);
        int holds = condition_holds(condition, values_at, values, &e);
        if (holds != cases[i].holds)
            fail_msg("%s: %d (%s)", cases[i].condition, holds, e.text);
        json_decref(condition);
    }
    json_decref(values);
}

static void bad_conditions_are_refused(void **state)
{
    static const struct {
        const char *condition, *why;
    } cases[] = {
        {"{\"memory\":\"> host\"}", "\"gpu\" and \"host\" have no order"},
        {"{\"size\":\"< 10ms\"}", "\"64KiB\" and \"10ms\" have no order"},
        {"{\"size\":\"< 10\"}", "\"64KiB\" and 10 have no order"},
        {"{\"size\":\"<\"}", "\"<\" is not a comparison"},
        {"{\"size\":\"> 1B and\"}", "no order"},
        {"{\"size\":\"> 1B and 5\"}", "\"5\" is not a comparison"},
        {"{\"size\":\"> red.max\"}", "size: \"> red.max\": nothing matches red.max"},
    };
    json_t *values = parse("{\"memory\":\"gpu\",\"size\":\"64KiB\"}");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        json_t *condition = parse(cases[i].condition);
        assert_int_equal(condition_holds(condition, values_at, values, &e), -1);
        expect_sentence(e.text, cases[i].why, cases[i].condition);
        json_decref(condition);
    }
    json_decref(values);
}

/* ---- choices */

static json_t *values_elsewhere(const void *context, const json_t *choice, const char *path)
{
    (void)choice;
    return values_at(context, path);
}

static void choices_are_computed_by_their_number(void **state)
{
    static const struct {
        const char *sweep, *choices;
    } cases[] = {
        {"{}", "[{}]"},
        {"{\"a\":[1,2],\"b\":[3,4]}",
         "[{\"a\":1,\"b\":3},{\"a\":1,\"b\":4},{\"a\":2,\"b\":3},{\"a\":2,\"b\":4}]"},
        {"{\"zip\":[{\"a\":[1,2],\"b\":{\"from\":3,\"to\":4,\"step\":1}}],\"c\":[5,6]}",
         "[{\"a\":1,\"b\":3,\"c\":5},{\"a\":1,\"b\":3,\"c\":6},{\"a\":2,\"b\":4,\"c\":5},{\"a\":2,\"b\":4,"
         "\"c\":6}]"},
        {"{\"a\":[1,2,3],\"except\":[{\"a\":2}]}", "[{\"a\":1},{\"a\":3}]"},
        {"{\"a\":[1,2,3],\"only\":[{\"a\":\"> 1\"}]}", "[{\"a\":2},{\"a\":3}]"},
        {"{\"x.a\":[1,2],\"x.b\":[1,2],\"except\":[{\"x.a\":\"> x.b\"}]}",
         "[{\"x.a\":1,\"x.b\":1},{\"x.a\":1,\"x.b\":2},{\"x.a\":2,\"x.b\":2}]"},
        {"{\"x.a\":[1,2],\"x.b\":[1,2],\"only\":[{\"x.a\":\"== x.b\"}],\"except\":[{\"x.a\":2,\"x.b\":2}]}",
         "[{\"x.a\":1,\"x.b\":1}]"},
        {"{\"a\":[1,2],\"except\":[{\"there\":\"> 5\",\"a\":1}]}", "[{\"a\":2}]"},
    };
    json_t *there = parse("{\"there\":7}");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct choices c;
        json_t *sweep = parse(cases[i].sweep), *found = json_array();
        if (choices_parse(sweep, false, false, values_elsewhere, there, &c, &e) != 0)
            fail_msg("%s: %s", cases[i].sweep, e.text);
        for (size_t k = 0; k < c.count; k++)
            json_array_append_new(found, choices_at(&c, k));
        expect_json(found, cases[i].choices, cases[i].sweep);
        choices_free(&c);
        json_decref(found);
        json_decref(sweep);
    }
    json_decref(there);
}

static void bad_sweeps_are_refused(void **state)
{
    static const struct {
        const char *sweep, *why;
    } cases[] = {
        {"[]", "sweep: expected an object"},
        {"{\"a\":[]}", "sweep.a: expected a list of values"},
        {"{\"zip\":[]}", "sweep.zip: expected a list"},
        {"{\"zip\":{\"a\":[1]}}", "sweep.zip: expected a list"},
        {"{\"zip\":[{\"a\":[1]}]}", "sweep.zip[0]: expected an object of at least two paths"},
        {"{\"zip\":[{\"a\":[1],\"b\":[1,2]}]}", "sweep.zip[0]: a has 1 values and b has 2"},
        {"{\"a\":[1],\"zip\":[{\"a\":[1],\"b\":[1]}]}", "sweep.zip[0]: a: the sweep has this path twice"},
        {"{\"a\":[1,2,1]}", "sweep: a: value 3, 1, is value 1, 1, again"},
        {"{\"a\":[20,20.0]}", "sweep: a: value 2, 20.0, is value 1, 20, again"},
        {"{\"a\":[\"64KiB\",\"1MB\",\"65536B\"]}",
         "sweep: a: value 3, \"65536B\", is value 1, \"64KiB\", again"},
        {"{\"a\":[\"1us\",\"1000ns\"]}", "sweep: a: value 2, \"1000ns\", is value 1, \"1us\", again"},
        {"{\"a\":[{\"b\":1,\"c\":2},{\"c\":2,\"b\":1}]}", "sweep: a: value 2, "},
        {"{\"zip\":[{\"a\":[1,1,1],\"b\":[2,3,2]}]}", "sweep.zip[0]: a: value 3, 1, is value 1, 1, again"},
        {"{\"draw\":5}", "sweep.draw: expected an object"},
        {"{\"draw\":{\"count\":3,\"over\":{}}}", "sweep.draw: over: expected an object"},
        {"{\"draw\":{\"count\":3,\"over\":[]}}", "sweep.draw: over: expected an object"},
        {"{\"draw\":{\"count\":0,\"over\":{\"a\":[1]}}}", "sweep.draw: count: 0 is out of range"},
        {"{\"draw\":{\"count\":3,\"method\":\"sobol\",\"over\":{\"a\":[1]}}}",
         "sweep.draw: method: \"sobol\" is unknown"},
        {"{\"draw\":{\"count\":3,\"over\":{\"a\":{\"from\":1,\"to\":2,\"step\":1}}}}",
         "sweep.draw: over.a: a sample is drawn"},
        {"{\"draw\":{\"count\":3,\"over\":{\"a\":{\"from\":3,\"to\":2}}}}",
         "over.a: to: expected a value that is not below"},
        {"{\"a\":[1],\"except\":[]}", "sweep.except: expected a list of conditions"},
        {"{\"a\":[1],\"only\":[5]}", "sweep.only[0]: expected a condition"},
        {"{\"a\":[1,2],\"except\":[{\"a\":\"> 0\"}]}", "except and only leave none of 2 combinations"},
        {"{\"a\":[1,2],\"except\":[{\"b\":5}]}",
         "sweep.except[0]: nothing in the scenario as it is written matches b"},
        {"{\"a\":[1,2],\"except\":[{\"a\":\"> x\"}]}",
         "sweep.except[0]: a: \"> x\": 1 and \"x\" have no order"},
        {"{\"a\":{\"from\":1,\"to\":1001,\"step\":1},\"b\":{\"from\":1,\"to\":1000,\"step\":1}}",
         "sweep: 1001000 combinations are more than 1000000: if they are meant, add --yes"},
    };
    json_t *nothing = json_object();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct choices c;
        json_t *sweep = parse(cases[i].sweep);
        assert_int_equal(choices_parse(sweep, false, false, values_elsewhere, nothing, &c, &e), -1);
        expect_sentence(e.text, cases[i].why, cases[i].sweep);
        json_decref(sweep);
    }
    json_decref(nothing);
}

static void many_combinations_are_made_when_meant(void **state)
{
    struct error e = {""};
    struct choices c;
    json_t *sweep =
        parse("{\"a\":{\"from\":1,\"to\":2000,\"step\":1},\"b\":{\"from\":1,\"to\":1000,\"step\":1}}");
    (void)state;
    assert_int_equal(choices_parse(sweep, true, false, values_elsewhere, sweep, &c, &e), 0);
    assert_int_equal(c.count, 2000000);
    json_t *last = choices_at(&c, c.count - 1);
    expect_json(last, "{\"a\":2000,\"b\":1000}", "the last of two million");
    json_decref(last);
    choices_free(&c);
    json_decref(sweep);
}

static void words_of_a_sweep_are_no_paths(void **state)
{
    static const char *const words[] = {"zip", "draw", "except", "only"};
    struct error e;
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(table_check_path(&scenario_table, words[i], &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_written_out),
        cmocka_unit_test(bad_ranges_are_refused),
        cmocka_unit_test(a_latin_hypercube_hits_each_stratum_once),
        cmocka_unit_test(draws_are_the_same_for_a_seed),
        cmocka_unit_test(conditions_compare),
        cmocka_unit_test(bad_conditions_are_refused),
        cmocka_unit_test(choices_are_computed_by_their_number),
        cmocka_unit_test(bad_sweeps_are_refused),
        cmocka_unit_test(many_combinations_are_made_when_meant),
        cmocka_unit_test(words_of_a_sweep_are_no_paths),
    };
    return cmocka_run_group_tests_name("choices", tests, NULL, NULL);
}
