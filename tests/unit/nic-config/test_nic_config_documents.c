/* Documents and journals: what is taken, what is refused, and what a cut or foreign journal means. */
#include "tests/unit/unit.h"

#include "nic-config/document.h"
#include "nic-config/journal.h"
#include "lib/files.h"
#include <unistd.h>

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

/* ---- journals */

static char *make_folder(void)
{
    char *folder = strdup("/tmp/nic-config-journal.XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static json_t *mtu(int value)
{
    return json_pack("{s:i}", "mtu", value);
}

static void note(struct journal *j, int before, int after)
{
    struct error e = {""};
    json_t *old = mtu(before), *new = mtu(after);
    assert_int_equal(journal_begin(j, &e), 0);
    assert_int_equal(journal_note_before(j, "eth1", "0000:41:00.0", old, &e), 0);
    assert_int_equal(journal_note_write(j, "eth1", "mtu", new, &e), 0);
    json_decref(old);
    json_decref(new);
}

static void journal_lives(void **state)
{
    char *folder = make_folder(), *path = files_join(folder, "deep/journal");
    struct journal j, other;
    struct error e = {""};
    (void)state;
    assert_int_equal(journal_open(&j, path, true, &e), 0);
    assert_false(j.begun);
    note(&j, 1500, 4200);
    assert_true(journal_unfinished(&j, "eth1", "mtu"));
    assert_int_equal(journal_open(&other, path, false, &e), -1);
    assert_non_null(strstr(e.text, "another nic-config is running"));
    journal_close(&other);
    journal_close(&j);

    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_true(j.begun);
    assert_false(j.rebooted);
    assert_true(journal_unfinished(&j, "eth1", "mtu"));
    note(&j, 4200, 9000); /* the first state stays */
    assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
    assert_false(journal_unfinished(&j, "eth1", "mtu"));
    const json_t *before =
        json_object_get(json_object_get(json_object_get(j.before, "eth1"), "settings"), "mtu");
    assert_int_equal(json_integer_value(before), 1500);
    assert_int_equal(json_integer_value(json_object_get(journal_last(&j, "eth1", "mtu"), "mtu")), 9000);
    assert_int_equal(journal_remove(&j, &e), 0);
    assert_false(files_exist(path));
    journal_close(&j);

    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_false(j.begun);
    journal_close(&j);
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
}

/* The last line was cut when the machine died; what follows must begin on a line of its own. */
static void torn_line(void **state)
{
    char *folder = make_folder(), *path = files_join(folder, "journal");
    struct journal j;
    struct error e = {""};
    (void)state;
    assert_int_equal(journal_open(&j, path, true, &e), 0);
    note(&j, 1500, 4200);
    journal_close(&j);
    FILE *file = fopen(path, "a");
    fputs("{\"type\":\"written\",\"interf", file);
    fclose(file);
    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_true(journal_unfinished(&j, "eth1", "mtu"));
    assert_int_equal(journal_note_written(&j, "eth1", "mtu", &e), 0);
    journal_close(&j);
    assert_int_equal(journal_open(&j, path, false, &e), 0);
    assert_false(journal_unfinished(&j, "eth1", "mtu"));
    journal_close(&j);
    files_remove_tree(folder, NULL);
    free(path);
    free(folder);
}

static void strange_journals(void **state)
{
    static const char *const bad[][2] = {
        {"{\"type\":\"begin\"}\nrubbish\n", "line 2"},
        {"{\"kind\":\"begin\"}\n", "line 1: a record has no type"},
        {"{\"type\":\"write\",\"knob\":\"mtu\"}\n", "does not name an interface"},
        {"{\"type\":\"erase\",\"interface\":\"eth1\"}\n", "unknown record \"erase\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct journal j = {.fd = -1, .before = json_object(), .written = json_object()};
        struct error e = {""};
        assert_int_equal(journal_parse(&j, bad[i][0], strlen(bad[i][0]), &e), -1);
        assert_non_null(strstr(e.text, bad[i][1]));
        journal_close(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(canonical_form), cmocka_unit_test(refused_documents),
                                       cmocka_unit_test(merging),        cmocka_unit_test(journal_lives),
                                       cmocka_unit_test(torn_line),      cmocka_unit_test(strange_journals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
