/* Labels and settings that distinguish compared runs. */
#include "tests/unit/unit.h"

#include "reports/results/differences.h"

static json_t *result(const char *text)
{
    json_error_t where;
    json_t *json = json_loads(text, 0, &where);
    if (!json)
        fail_msg("%s at %d: %s", where.text, where.position, text);
    return json;
}

/* Differences of two results, and the labels that follow. */
static void expect(const char *first, const char *second, const char *differences, const char *label_0,
                   const char *label_1)
{
    json_t *results[] = {result(first), result(second)}, *wanted = result(differences);
    json_t *found = differences_between((const json_t *const *)results, 2, NULL);
    char *labels[] = {differences_label(found, 0), differences_label(found, 1)};
    char *shown[] = {json_dumps(found, JSON_SORT_KEYS), json_dumps(wanted, JSON_SORT_KEYS)};
    assert_string_equal(shown[0], shown[1]);
    free(shown[0]);
    free(shown[1]);
    assert_string_equal(labels[0], label_0);
    assert_string_equal(labels[1], label_1);
    for (int i = 0; i < 2; i++) {
        free(labels[i]);
        json_decref(results[i]);
    }
    json_decref(found);
    json_decref(wanted);
}

static void equal_runs_have_none(void **state)
{
    (void)state;
    expect("{\"seed\":1,\"scenario\":{\"name\":\"s\",\"a\":[1,{\"b\":null}]}}",
           "{\"seed\":1,\"scenario\":{\"name\":\"s\",\"a\":[1,{\"b\":null}]}}", "{}", "", "");
    expect("{}", "{}", "{}", "", "");
    expect("{\"scenario\":{\"a\":\"64KiB\",\"b\":20,\"c\":0}}",
           "{\"scenario\":{\"a\":\"65536B\",\"b\":20.0,\"c\":\"0ms\"}}", "{}", "", "");
    expect("{\"scenario\":7,\"lab\":\"x\"}", "{\"scenario\":7,\"lab\":\"x\"}", "{}", "", "");
}

static void values_differ_by_path(void **state)
{
    (void)state;
    expect("{\"seed\":1,\"scenario\":{\"name\":\"s\",\"settings\":{\"cable\":\"1m\"}}}",
           "{\"seed\":2,\"scenario\":{\"name\":\"s\",\"settings\":{\"cable\":\"7m\"}}}",
           "{\"seed\":[\"1\",\"2\"],\"scenario.settings.cable\":[\"1m\",\"7m\"]}", "seed 1, cable 1m",
           "seed 2, cable 7m");
    /* flows by their names, other lists by number; values that only one has */
    expect("{\"scenario\":{\"name\":\"s\",\"flows\":[{\"name\":\"f\",\"depth\":4}]}}",
           "{\"scenario\":{\"name\":\"s\",\"flows\":[{\"name\":\"f\",\"depth\":8},5]}}",
           "{\"scenario.flows.f.depth\":[\"4\",\"8\"],\"scenario.flows.1\":[null,\"5\"]}",
           "depth 4, flows.1 unset", "depth 8, flows.1 5");
}

static void expect_name(const char *path, const char *choices, const char *name)
{
    json_t *keys = result(choices);
    assert_string_equal(choice_name(path, keys), name);
    json_decref(keys);
}

/* A number, a glob, or what other choices are called too is not a name. */
static void choices_have_names_that_say_which(void **state)
{
    (void)state;
    expect_name("flows.*.depth", "{\"flows.*.depth\":1}", "depth");
    expect_name("faults.0", "{\"faults.0\":1}", "faults.0");
    expect_name("faults.0.loss", "{\"faults.0.loss\":1}", "loss");
    expect_name("collectives.*", "{}", "collectives.*");
    expect_name("seed", "{\"lab.seed\":1,\"seed\":1}", "seed");
    expect_name("lab.hosts.a.gpu.index", "{\"lab.hosts.a.gpu.index\":0,\"lab.hosts.b.gpu.index\":4}",
                "a.gpu.index");
    expect_name("flows.up.depth", "{\"flows.up.depth\":0,\"flows.shutup.depth\":4}", "up.depth");
    expect_name("0", "{}", "0");
    expect_name("", "{}", "");
}

static void words_and_expectations_do_not_count(void **state)
{
    (void)state;
    expect("{\"scenario\":{\"name\":\"s\",\"title\":\"a\",\"expect\":[1],\"published\":1}}",
           "{\"scenario\":{\"name\":\"s\",\"title\":\"b\",\"expect\":[2]}}", "{}", "", "");
}

static void what_only_one_has_is_listed(void **state)
{
    (void)state;
    expect("{\"lab\":{\"name\":\"x\",\"mtu\":1}}", "{\"lab\":{\"name\":\"y\",\"mtu\":2}}",
           "{\"lab\":[\"x\",\"y\"],\"lab.mtu\":[\"1\",\"2\"]}", "lab x", "lab y");
    /* of other scenarios too, by their values; a name stands for them in labels */
    expect(
        "{\"seed\":1,\"scenario\":{\"name\":\"s\",\"settings\":{\"mtu\":4200,\"pfc\":[],\"ecn\":[3,4]}}}",
        "{\"seed\":2,\"scenario\":{\"name\":\"t\",\"settings\":{\"mtu\":4200,\"cable\":\"7m\",\"ecn\":[3]}}}",
        "{\"scenario\":[\"s\",\"t\"],\"seed\":[\"1\",\"2\"],\"scenario.settings.pfc\":[\"none\",null],"
        "\"scenario.settings.ecn\":[\"3, 4\",\"3\"],"
        "\"scenario.settings.cable\":[null,\"7m\"]}",
        "scenario s, seed 1", "scenario t, seed 2");
}

static void a_label_holds_no_more_than_three(void **state)
{
    (void)state;
    expect(
        "{\"lab\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1}}", "{\"lab\":{\"a\":2,\"b\":2,\"c\":2,\"d\":2}}",
        "{\"lab.a\":[\"1\",\"2\"],\"lab.b\":[\"1\",\"2\"],\"lab.c\":[\"1\",\"2\"],\"lab.d\":[\"1\",\"2\"]}",
        "", "");
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    json_t *deep = json_integer(1), *other = json_integer(2);
    for (int i = 0; i < 1000; i++) {
        deep = json_pack("[o]", deep);
        other = json_pack("[o]", other);
    }
    json_t *results[] = {json_pack("{s:{s:o}}", "lab", "deep", deep),
                         json_pack("{s:{s:o}}", "lab", "deep", other)};
    bool cut = false;
    json_t *found = differences_between((const json_t *const *)results, 2, &cut);
    assert_int_equal(json_object_size(found), 0);
    assert_true(cut);
    json_decref(found);
    json_decref(results[0]);
    json_decref(results[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_runs_have_none),
        cmocka_unit_test(values_differ_by_path),
        cmocka_unit_test(choices_have_names_that_say_which),
        cmocka_unit_test(words_and_expectations_do_not_count),
        cmocka_unit_test(what_only_one_has_is_listed),
        cmocka_unit_test(a_label_holds_no_more_than_three),
        cmocka_unit_test(depth_has_a_limit),
    };
    return cmocka_run_group_tests_name("reports_differences", tests, NULL, NULL);
}
