/* Documents: what is taken, and what is refused. */
#include "tests/unit/unit.h"

#include "nic-config/document.h"

static json_t *interfaces_of(const char *text, struct error *e)
{
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    json_t *interfaces = document_interfaces(document, "the document", e);
    json_decref(document);
    return interfaces;
}

static void assert_canonical(const char *settings, const char *expected)
{
    struct error e = {""};
    char *text = NULL;
    assert_true(asprintf(&text, "{\"schema\":1,\"interfaces\":{\"eth1\":%s}}", settings) > 0);
    json_t *interfaces = interfaces_of(text, &e);
    if (!interfaces)
        fail_msg("%s", e.text);
    char *got = json_dumps(json_object_get(interfaces, "eth1"),
                           JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
    assert_string_equal(got, expected);
    free(got);
    free(text);
    json_decref(interfaces);
}

static void canonical_form(void **state)
{
    (void)state;
    assert_canonical("{\"cable\":\"100cm\",\"mtu\":4200}", "{\"cable\":\"1m\",\"mtu\":4200}");
    assert_canonical("{\"red\":null}", "{\"red\":null}");
    assert_canonical(
        "{\"red\":{\"limit\":\"2000kB\",\"min\":\"50000B\",\"max\":\"200kB\",\"probability\":1}}",
        "{\"red\":{\"at\":\"egress\",\"avpkt\":\"1kB\",\"bandwidth\":\"10Mb/"
        "s\",\"ecn\":true,\"limit\":\"2MB\",\"max\":\"200kB\","
        "\"min\":\"50kB\",\"probability\":1.0,\"roce_only\":false}}");
}

static void refused_documents(void **state)
{
    static const char *const bad[][2] = {
        {"{\"interfaces\":{}}", "schema is missing"},
        {"{\"schema\":1}", "interfaces is missing"},
        {"{\"schema\":1,\"interfaces\":{\"eth1\":{\"mtu\":null}}}", "interfaces.eth1.mtu: null"},
        {"{\"schema\":1,\"interfaces\":{\"eth1\":{\"mtu\":\"big\"}}}", "interfaces.eth1.mtu"},
        {"{\"schema\":1,\"interfaces\":{\"eth1\":{\"dscp_to_prio\":{\"64\":1}}}}", "\"64\" is not a DSCP"},
        {"{\"schema\":1,\"interfaces\":{\"a/b\":{}}}", "\"a/b\" is not a valid interface name"},
        {"{\"schema\":1,\"interfaces\":{\"aaaaaaaaaaaaaaaa\":{}}}", "is not a valid interface name"},
        {"{\"schema\":1,\"interfaces\":[]}", "expected an object"},
        {"[]", "expected an object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error e = {""};
        assert_null(interfaces_of(bad[i][0], &e));
        if (!strstr(e.text, bad[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i][0], e.text, bad[i][1]);
    }
}

static void assert_merges(const char *before, const char *wanted, const char *expected)
{
    json_t *a = json_loads(before, 0, NULL), *b = json_loads(wanted, 0, NULL), *merged = document_merge(a, b);
    char *text = json_dumps(merged, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, expected);
    free(text);
    json_decref(a);
    json_decref(b);
    json_decref(merged);
}

static void merging(void **state)
{
    (void)state;
    assert_merges("{\"mtu\":1500,\"pfc\":[1,2],\"prio_to_buffer\":{\"0\":0,\"1\":1}}",
                  "{\"pfc\":[0],\"prio_to_buffer\":{\"0\":1}}",
                  "{\"mtu\":1500,\"pfc\":[0],\"prio_to_buffer\":{\"0\":1,\"1\":1}}");
    /* RED is one thing: nothing of an old one stays */
    assert_merges("{\"red\":{\"shape\":\"1Mb/s\",\"limit\":\"1MB\"}}", "{\"red\":{\"limit\":\"2MB\"}}",
                  "{\"red\":{\"limit\":\"2MB\"}}");
    assert_merges("{\"red\":{\"limit\":\"1MB\"}}", "{\"red\":null}", "{\"red\":null}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(canonical_form), cmocka_unit_test(refused_documents),
                                       cmocka_unit_test(merging)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
