/* Where figures come from: by a host's facts, and by all words of a result together. */
#include "tests/unit/unit.h"

#include "lib/formats/origin.h"

static json_t *document(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    return json;
}

static enum origin of_result(const char *text)
{
    json_t *json = document(text);
    enum origin origin = origin_of_result(json);
    json_decref(json);
    return origin;
}

static void all_words_of_a_result_count(void **state)
{
    (void)state;
    assert_int_equal(of_result("{}"), ORIGIN_MEASURED);
    assert_int_equal(of_result("{\"simulated\":false}"), ORIGIN_MEASURED);
    assert_int_equal(of_result("{\"simulated\":true}"), ORIGIN_SIMULATED); /* a result without \"origin\" */
    assert_int_equal(of_result("{\"simulated\":true,\"origin\":\"simulated\"}"), ORIGIN_SIMULATED);
    assert_int_equal(of_result("{\"origin\":\"virtual\"}"), ORIGIN_VIRTUAL);
    assert_int_equal(of_result("{\"hosts\":{\"a\":{\"origin\":\"virtual\"}}}"), ORIGIN_VIRTUAL);
    assert_int_equal(of_result("{\"origin\":\"measured\",\"hosts\":{\"a\":{\"origin\":\"virtual\"}}}"),
                     ORIGIN_MIXED);
    assert_int_equal(of_result("{\"cells\":[{\"origin\":\"virtual\"},{\"origin\":\"measured\"}]}"),
                     ORIGIN_MIXED);
    assert_int_equal(of_result("{\"origin\":7,\"hosts\":[],\"cells\":{\"a\":1}}"), ORIGIN_MEASURED);
    assert_int_equal(of_result("{\"origin\":\"made up\"}"), ORIGIN_MEASURED);
}

static enum origin of_nics(const char *netdev, const char *extra)
{
    json_t *facts = document("{\"nics\":[{\"netdev\":\"mgmt0\",\"virtual\":null},"
                             "{\"netdev\":\"roce0\",\"virtual\":{\"evidence\":[\"board\"]}},"
                             "{\"netdev\":\"roce1\",\"virtual\":{\"evidence\":[\"board\"]}},{}]}");
    const char *netdevs[] = {netdev, extra, NULL};
    enum origin origin = origin_of_facts(facts, netdevs, 3);
    json_decref(facts);
    return origin;
}

static void the_nics_of_the_experiment_decide(void **state)
{
    (void)state;
    assert_int_equal(of_nics("mgmt0", NULL), ORIGIN_MEASURED);
    assert_int_equal(of_nics("roce0", NULL), ORIGIN_VIRTUAL);
    assert_int_equal(of_nics("roce0", "roce1"), ORIGIN_VIRTUAL);
    assert_int_equal(of_nics("roce0", "mgmt0"), ORIGIN_MIXED);
    assert_int_equal(of_nics(NULL, NULL), ORIGIN_MIXED); /* not known which: all of the host's */
    assert_int_equal(of_nics("gone0", NULL), ORIGIN_MIXED);
    assert_int_equal(origin_of_facts(NULL, NULL, 0), ORIGIN_MEASURED);
}

static void the_slowest_line_is_the_scale(void **state)
{
    (void)state;
    json_t *facts = document("{\"nics\":[{\"virtual\":{\"scaled\":{\"scale\":10}}},{\"virtual\":null},"
                             "{\"virtual\":{\"scaled\":{\"scale\":5000}}},{\"virtual\":{\"scaled\":null}}]}");
    assert_int_equal(json_integer_value(json_object_get(origin_scaled(facts), "scale")), 5000);
    json_decref(facts);
    assert_null(origin_scaled(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_words_of_a_result_count),
        cmocka_unit_test(the_nics_of_the_experiment_decide),
        cmocka_unit_test(the_slowest_line_is_the_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
