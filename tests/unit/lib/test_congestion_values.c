/* The parameters of simulated congestion controls: unset until given, merged value by value, shown as they
 * were given. */
#include "lib/formats/settings.h"
#include "tests/unit/unit.h"
#include <string.h>

static void merged_and_shown(void **state)
{
    (void)state;
    struct congestion_values values, more;
    struct error e;
    congestion_values_clear(&values);
    assert_null(congestion_values_json(&congestion_table, &values));
    json_t *first = json_loads("{\"hpcc\": {\"u_target\": 0.9, \"rate_ai\": \"40Mb/s\", \"mi_thresh\": 0}, "
                               "\"window\": {\"base_rtt\": \"4160ns\", \"var_win\": true}}",
                               0, NULL);
    json_t *second =
        json_loads("{\"hpcc\": {\"u_target\": 0.95, \"fast_react\": false}, "
                   "\"timely\": {\"t_low\": \"10us\", \"t_high\": \"10us\", \"min_rtt\": \"7us\"}}",
                   0, NULL);
    assert_int_equal(table_parse(&congestion_table, first, &values, &e), 0);
    assert_int_equal(table_parse(&congestion_table, second, &more, &e), 0);
    congestion_values_merge(&congestion_table, &values, &more);
    json_t *shown = congestion_values_json(&congestion_table, &values);
    json_t *expected = json_loads(
        "{\"hpcc\": {\"u_target\": 0.95, \"rate_ai\": \"40Mb/s\", \"mi_thresh\": 0, \"fast_react\": false}, "
        "\"window\": {\"base_rtt\": \"4160ns\", \"var_win\": true}, "
        "\"timely\": {\"t_low\": \"10us\", \"t_high\": \"10us\", \"min_rtt\": \"7us\"}}",
        0, NULL);
    char *text = json_dumps(shown, JSON_COMPACT);
    if (!json_equal(shown, expected))
        fail_msg("%s", text);
    free(text);
    json_decref(first);
    json_decref(second);
    json_decref(shown);
    json_decref(expected);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *document, *sentence;
    } rows[] = {
        {"{\"hpcc\": {\"u_target\": 2}}", "hpcc.u_target"},
        {"{\"hpcc\": {\"U_TARGET\": 0.95}}", "u_target"},
        {"{\"dctcp\": {\"ewma_gain\": 0}}", "dctcp.ewma_gain"},
        {"{\"timely\": {\"t_low\": \"20us\", \"t_high\": \"10us\"}}",
         "t_low 20.000 us is above t_high 10.000 us"},
        {"{\"window\": {\"base_rtt\": 4160}}", "window.base_rtt"},
        {"{\"window\": {\"base_rtt\": \"2s\"}}", "window.base_rtt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settings settings;
        struct error e = {""};
        json_t *json = json_loads(rows[i].document, 0, NULL);
        assert_int_equal(table_parse(&settings_table, json, &settings, &e), -1);
        if (!strstr(e.text, rows[i].sentence))
            fail_msg("%s: %s", rows[i].document, e.text);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_and_shown),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
