/* Flows that come after others: what a scenario may say. */
#include "lib/formats/scenario.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>

#define SCENARIO(flows)                                                                                      \
    "{\"schema\": 1, \"name\": \"x\", \"roles\": [\"a\", \"b\", \"c\"], \"phases\": {\"measure\": \"1s\"}, " \
    "\"flows\": [" flows "]}"
#define FLOW(name, from, to, rest) \
    "{\"name\": \"" name "\", \"from\": \"" from "\", \"to\": \"" to "\"" rest "}"
#define SIZE        ", \"size\": \"1MB\""
#define AFTER(name) ", \"after\": [{\"flows\": [\"" name "\"]}]"

static int parse(const char *text, struct scenario *scenario, struct error *e)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    int result = scenario_parse(json, scenario, e);
    json_decref(json);
    return result;
}

static void refused(const char *text, const char *words)
{
    struct scenario scenario;
    struct error e;
    assert_int_equal(parse(text, &scenario, &e), -1);
    if (!strstr(e.text, words))
        fail_msg("no \"%s\" in: %s", words, e.text);
}

static void order_is_read(void **state)
{
    (void)state;
    struct scenario scenario;
    struct error e;
    size_t count;
    assert_int_equal(
        parse(SCENARIO(FLOW("last", "b", "c",
                            ", \"after\": [{\"flows\": [\"first\"]}, {\"flows\": [\"own\"], \"delay\": "
                            "\"5us\"}]") "," FLOW("first", "a", "b", SIZE) "," FLOW("own", "b", "a",
                                                                                    SIZE AFTER("first"))),
              &scenario, &e),
        0);
    const struct scenario_flow *flows = scenario.flows.items;
    assert_int_equal(((const struct flow_wait *)flows[0].after.items)[1].delay_ns, 5000);
    size_t *indices = flow_order_indices(&scenario.flows, &count);
    assert_int_equal(count, 3);
    assert_int_equal(indices[0], 1);
    assert_int_equal(indices[1], 2);
    assert_int_equal(indices[2], 1);
    free(indices);
    scenario_free(&scenario);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    refused(SCENARIO(FLOW("x", "a", "b", AFTER("y"))), "flows[0].after[0].flows[0]: there is no flow \"y\"");
    refused(SCENARIO(FLOW("x", "a", "b", SIZE AFTER("x"))), "wait for itself");
    refused(SCENARIO(FLOW("x", "a", "b", "") "," FLOW("y", "b", "c", AFTER("x"))), "flow x has no end");
    refused(SCENARIO(FLOW("x", "a", "b", SIZE) "," FLOW("y", "c", "a", AFTER("x"))),
            "does not see the end of flow x");
    refused(SCENARIO(FLOW("x", "a", "b", SIZE ", \"op\": \"read\"") "," FLOW("y", "b", "c", AFTER("x"))),
            "flow x is a read");
    refused(SCENARIO(FLOW("x", "a", "b", SIZE) "," FLOW("y", "b", "c", ", \"mode\": \"latency\"" AFTER("x"))),
            "flow y is a read or measures latency");
    refused(SCENARIO(FLOW("x", "a", "b", SIZE ", \"after\": [{\"flows\": [\"y\"], \"delay\": \"-1us\"}]")),
            "delay");
}

static void rings_are_found(void **state)
{
    (void)state;
    refused(SCENARIO(FLOW("z", "c", "a", SIZE) "," FLOW("x", "a", "b", SIZE AFTER("y")) "," FLOW(
                "y", "b", "a", SIZE AFTER("x"))),
            "flows[1].after: flow x never begins");
    refused(SCENARIO(FLOW("x", "a", "b", SIZE AFTER("y")) "," FLOW("y", "b", "a", SIZE AFTER("x")) "," FLOW(
                "z", "b", "c", AFTER("x"))),
            "never begins");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_read),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(rings_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
