/* Which flows of a result a statistic counts: nothing twice, where a traffic pattern has an entry beside
 * those of its flows. */
#include "tests/unit/unit.h"

#include "lib/formats/result_flows.h"
#include <math.h>

static const char flows_text[] =
    "{\"mesh/0\":{\"goodput_bps\":10,\"completion_ns\":{\"p99\":5}},\"mesh/1\":{\"goodput_bps\":20},"
    "\"mesh\":{\"goodput_bps\":30,\"slowdown\":{\"p99\":2},\"completion_ns\":{\"p99\":5}},"
    "\"large\":{\"goodput_bps\":400},"
    "\"single\":{\"goodput_bps\":5000,\"latency_ns\":{\"p50\":7,\"p99_9\":9},\"op\":\"write\"},"
    "\"mesh-2\":{\"goodput_bps\":60000}}";

static int load(void **state)
{
    *state = json_loads(flows_text, 0, NULL);
    return *state ? 0 : -1;
}

static int unload(void **state)
{
    json_decref(*state);
    return 0;
}

static void values_have_the_names_of_expressions(void **state)
{
    const json_t *flow = json_object_get(*state, "single");
    assert_int_equal(json_integer_value(result_flow_value(flow, "goodput_bps")), 5000);
    assert_int_equal(json_integer_value(result_flow_value(flow, "latency_p50_ns")), 7);
    assert_int_equal(json_integer_value(result_flow_value(flow, "latency_p99_9_ns")), 9);
    assert_int_equal(json_integer_value(result_flow_value(json_object_get(*state, "mesh"), "slowdown_p99")),
                     2);
    static const char *const missing[] = {"latency_max_ns", "latency_", "slowdown_", "op", "", "latency_ns"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_null(result_flow_value(flow, missing[i]));
}

static void quantiles_need_values_beyond_them(void **state)
{
    static const struct {
        const char *key;
        int count;
        bool few;
    } cases[] = {{"p99", 99, true},      {"p99", 100, false}, {"p99_9", 999, true}, {"p99_9", 1000, false},
                 {"p99_99", 9999, true}, {"p50", 1, false},   {"p95", 19, true},    {"p95", 20, false},
                 {"mean", 1, false},     {"max", 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool few;
        json_t *one = json_pack("{s:i,s:i}", "count", cases[i].count, cases[i].key, 7);
        double value = result_distribution_value(one, cases[i].key, &few);
        assert_int_equal(few, cases[i].few);
        assert_true(few ? isnan(value) : value == 7);
        json_decref(one);
    }
}

static void sums_exclude_parts_or_the_whole(void **state)
{
    static const struct {
        const char *glob, *value, *counted;
    } cases[] = {
        {"*", "goodput_bps", "mesh/0 mesh/1 large single mesh-2 "},
        {"mesh", "goodput_bps", "mesh "},
        {"mesh/*", "goodput_bps", "mesh/0 mesh/1 "},
        {"mes[g-i]", "goodput_bps", "mesh "},
        {"mesh*", "goodput_bps", "mesh/0 mesh/1 mesh-2 "},
        {"*", "slowdown_p99", "mesh "}, /* single flows do not have it: the pattern's own counts */
        {"*", "completion_p99_ns", "mesh/0 "},
        {"*", "latency_p50_ns", "single "},
        {"nothing", "goodput_bps", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char counted[128] = "";
        const char *name;
        json_t *flow;
        json_object_foreach((json_t *)*state, name, flow)
        {
            size_t length = strlen(counted);
            if (result_flow_counts(*state, name, cases[i].glob, cases[i].value))
                snprintf(counted + length, sizeof counted - length, "%s ", name);
        }
        assert_string_equal(counted, cases[i].counted);
    }
    assert_int_equal(result_flows_sum(*state, "goodput_bps"), 10 + 20 + 400 + 5000 + 60000);
    assert_int_equal(result_flows_sum(NULL, "goodput_bps"), 0);
}

static void patterns_and_their_parts_are_known(void **state)
{
    assert_int_equal(result_flow_parts(*state, "mesh"), 2);
    assert_int_equal(result_flow_parts(*state, "large"), 0);
    assert_int_equal(result_flow_parts(*state, "mesh/1"), 0);
    assert_true(result_flow_is_part(*state, "mesh/1"));
    assert_false(result_flow_is_part(*state, "mesh"));
    assert_false(result_flow_is_part(*state, "mesh-2"));
    assert_false(result_flow_is_part(*state, "other/1"));
    assert_false(result_flow_is_part(*state, "mesh/"));
    assert_false(result_flow_is_part(*state, "mesh/x"));
}

static void extremes_are_the_slowest_and_the_fastest(void **state)
{
    static const int values[] = {50, 20, 90, 10, 70, 20};
    const char *names[6];
    json_t *flows = json_object();
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "p/%zu", i);
        json_object_set_new(flows, name, json_pack("{s:i}", "goodput_bps", values[i]));
    }
    json_object_set_new(flows, "p/6", json_object()); /* without a value */
    json_object_set_new(flows, "p", json_pack("{s:i}", "goodput_bps", 260));
    assert_int_equal(result_flow_extremes(flows, "p", "goodput_bps", 3, names), 3);
    assert_string_equal(names[0], "p/3");
    assert_string_equal(names[1], "p/4");
    assert_string_equal(names[2], "p/2");
    assert_int_equal(result_flow_extremes(flows, "p", "goodput_bps", 6, names), 6);
    assert_string_equal(names[1], "p/1");
    assert_string_equal(names[2], "p/5");
    assert_int_equal(result_flow_extremes(flows, "p/1", "goodput_bps", 6, names), 0);
    json_decref(flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_the_names_of_expressions),
        cmocka_unit_test(quantiles_need_values_beyond_them),
        cmocka_unit_test(sums_exclude_parts_or_the_whole),
        cmocka_unit_test(patterns_and_their_parts_are_known),
        cmocka_unit_test(extremes_are_the_slowest_and_the_fastest),
    };
    return cmocka_run_group_tests_name("result_flows", tests, load, unload);
}
