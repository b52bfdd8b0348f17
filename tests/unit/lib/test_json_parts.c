/* Parts of JSON texts. */
#include "tests/unit/unit.h"

#include "lib/document/json_file.h"

static const char *const paths[] = {"verdict", "hosts.*.counters.rx_prio#_pause.delta", "lab.name", NULL};

static void check(const char *text, const char *expected)
{
    struct text out = {0};
    struct error e;
    int result = json_parts(text, strlen(text), paths, &out, &e);
    if (expected) {
        assert_int_equal(result, 0);
        assert_string_equal(text_string(&out), expected);
    } else {
        assert_int_equal(result, -1);
    }
    text_free(&out);
}

static void members_are_copied(void **state)
{
    (void)state;
    check("{}", "{}");
    check(" { \"x\" : [ { } ] , \"verdict\" : \"a\\\"}\" }\n", "{\"verdict\":\"a\\\"}\"}");
    check("{\"lab\": {\"name\": {\"a\": 1}, \"hosts\": {\"}\": \"]\"}}, \"verdict\": null}",
          "{\"lab\":{\"name\":{\"a\": 1}},\"verdict\":null}");
    check("{\"hosts\": {\"a\": {\"counters\": {\"rx_prio3_pause\": {\"unit\": \"f\", \"delta\": -5}, "
          "\"rx_prio_pause\": {\"delta\": 1}, \"rx_prio12_pause\": {}, \"rx_prio3_pause_duration\": "
          "{\"delta\": 2}}}, "
          "\"b\": 7}}",
          "{\"hosts\":{\"a\":{\"counters\":{\"rx_prio3_pause\":{\"delta\":-5},\"rx_prio12_pause\":{}}},\"b\":"
          "7}}");
    /* a path that leads into a list or a text has it whole: whoever reads it finds no object there */
    check("{\"lab\": [1, {\"name\": 2}]}", "{\"lab\":[1, {\"name\": 2}]}");
}

static void damage_is_found(void **state)
{
    (void)state;
    static const char *const damaged[] = {"",
                                          "[]",
                                          "1",
                                          "{",
                                          "{\"",
                                          "{\"a",
                                          "{\"a\"",
                                          "{\"a\":",
                                          "{\"a\":}",
                                          "{\"a\":1",
                                          "{\"a\":1,",
                                          "{\"a\":1,}",
                                          "{\"a\":1}}",
                                          "{\"a\":1} x",
                                          "{a:1}",
                                          "{\"a\":[}",
                                          "{\"a\":\"\\",
                                          "{,}",
                                          "{\"lab\":{\"name\":",
                                          "{\"verdict\":{\"x\":\"}"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        check(damaged[i], NULL);
}

static void comments_are_left_out(void **state)
{
    (void)state;
    static const char text[] =
        "{\"//\": \"why\", \"// more\": [1], \"flows\": [{\"//\": 1, \"name\": \"/\"}, [{\"//x\": {}}]]}";
    struct error e;
    json_t *bare = json_loads("{\"flows\": [{\"name\": \"/\"}, [{}]]}", 0, NULL),
           *whole = json_loads(text, 0, NULL);
    static const enum document_kind kinds[] = {DOCUMENT_SCENARIO, DOCUMENT_LAB, DOCUMENT_RESULT};
    for (size_t i = 0; i < 3; i++) {
        json_t *is = json_file_parse(text, strlen(text), "a document", kinds[i], &e);
        assert_true(json_equal(is, kinds[i] == DOCUMENT_RESULT ? whole : bare));
        json_decref(is);
    }
    json_decref(bare);
    json_decref(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comments_are_left_out),
                                       cmocka_unit_test(members_are_copied),
                                       cmocka_unit_test(damage_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
