/* The rows of DCQCN's parameters: each is complete, and all users of the rows agree. Run with UPDATE_DOCS=1,
 * the test writes the table of docs/settings.md instead of comparing it. */
#include "collectors/sources/source.h"
#include "lib/files.h"
#include "lib/formats/settings.h"
#include "lib/physics/host.h"
#include "sim/sim.h"
#include "tests/unit/unit.h"
#include <unistd.h>

static size_t count_fields(const struct table *table)
{
    size_t count = 0;
    for (const struct field *f = table->fields; f->name; f++)
        count += f->kind == FIELD_OBJECT ? count_fields(f->sub) : 1;
    return count;
}

static const struct field *field_of(const struct table *table, const char *name)
{
    for (const struct field *f = table->fields; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static void each_row_has_places_and_a_default_in_range(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++, count++) {
        char start[16];
        assert_true(strcmp(p->point, "rp") == 0 || strcmp(p->point, "np") == 0);
        assert_non_null(p->upstream);
        snprintf(start, sizeof start, "%s_", p->point);
        assert_int_equal(strncmp(p->upstream, start, strlen(start)), 0);
        snprintf(start, sizeof start, "roce_%s/", p->point);
        assert_true(!p->ofed || (strncmp(p->ofed, start, strlen(start)) == 0 &&
                                 strcmp(p->ofed + strlen(start), p->name) == 0));
        assert_true(p->least < p->most && p->standard >= p->least && p->standard <= p->most);
        assert_true(strlen(p->meaning) > 0);
        for (const struct dcqcn_parameter *other = p + 1; other->name; other++) {
            assert_true(p->offset != other->offset && strcmp(p->name, other->name) != 0);
            assert_string_not_equal(p->upstream, other->upstream);
        }
    }
    assert_true(count > 0);
}

static void settings_documents_have_the_rows(void **state)
{
    (void)state;
    const struct field *dcqcn = field_of(&settings_table, "dcqcn");
    size_t rows = 0;
    assert_non_null(dcqcn);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++, rows++) {
        const struct field *point = field_of(dcqcn->sub, p->point);
        const struct field *f = field_of(point->sub, p->name);
        assert_non_null(f);
        assert_int_equal(f->kind, p->boolean ? FIELD_BOOL : FIELD_INTEGER);
        assert_int_equal(point->offset + f->offset, p->offset);
        assert_true(f->min == p->least && f->max == p->most);
        assert_null(f->fallback); /* parameters that are not in a document are not changed */
    }
    assert_int_equal(count_fields(dcqcn->sub), rows);
}

static void values_are_set_merged_and_written(void **state)
{
    (void)state;
    struct dcqcn_values a, b;
    assert_int_equal(table_defaults(&dcqcn_table, &b), 0);
    dcqcn_defaults(&a);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        assert_int_equal(dcqcn_get(&a, p), p->standard);
        assert_true(dcqcn_get(&b, p) == FIELD_UNSET);
        dcqcn_set(&b, p, p->most);
        dcqcn_merge(&a, &b);
        assert_int_equal(dcqcn_get(&a, p), p->most);
        dcqcn_set(&b, p, FIELD_UNSET);
        dcqcn_merge(&a, &b);
        assert_int_equal(dcqcn_get(&a, p), p->most);
    }
}

/* A queue pair of the fitted profile gains 25 Mb/s in a millisecond, at a 100 Gb/s NIC as at any other; what
 * it does not name is the driver's. */
static void the_fitted_profile_recovers_slowly(void **state)
{
    (void)state;
    struct dcqcn_values driver, slow;
    dcqcn_profile_values(DCQCN_PROFILE_DRIVER, &driver);
    dcqcn_profile_values(DCQCN_PROFILE_SLOW_RECOVERY, &slow);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        assert_int_equal(dcqcn_get(&driver, p), p->standard);
        assert_true(dcqcn_get(&slow, p) >= p->least && dcqcn_get(&slow, p) <= p->most);
    }
    assert_int_equal(slow.rp.rpg_ai_rate * 1000 / slow.rp.rpg_time_reset, 7);
    assert_int_equal(slow.rp.rpg_hai_rate, slow.rp.rpg_ai_rate);
    assert_int_equal(slow.np.min_time_between_cnps, driver.np.min_time_between_cnps);
}

/* The values of a NIC's physics override mlx5's defaults, and byte_reset may exceed the parameter's range. */
static void the_simulator_starts_from_the_rows(void **state)
{
    (void)state;
    struct physics_nic nic;
    struct sim_settings s;
    assert_int_equal(table_defaults(&physics_nic_table, &nic), 0);
    sim_settings_defaults(&s, &nic);
    json_t *json = dcqcn_simulated_json(&s.dcqcn);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        const json_t *value = json_object_get(json_object_get(json, p->point), p->name);
        assert_int_equal(dcqcn_get(&s.dcqcn, p), p->standard);
        assert_int_equal(value != NULL, p->simulated);
        assert_true(!value || (p->boolean ? json_is_true(value) == p->standard
                                          : json_integer_value(value) == p->standard));
    }
    json_decref(json);
    nic.dcqcn.rp.rpg_ai_rate = 77;
    nic.byte_reset_bytes = 10000000;
    sim_settings_defaults(&s, &nic);
    assert_int_equal(s.dcqcn.rp.rpg_ai_rate, 77);
    assert_int_equal(s.dcqcn.rp.rpg_byte_reset, 10000000);
}

/* ---- nic-sampler */

static void put(const char *root, const char *folder, const char *file)
{
    struct error e;
    char path[256], *slash;
    snprintf(path, sizeof path, "%s%s/%s", root, folder, file);
    slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(files_make_folders(path, &e), 0);
    *slash = '/';
    assert_int_equal(files_write_atomic(path, "1\n", 2, &e), 0);
}

/* Every row with a file of the driver is a column. */
static void expect_columns(const char *root, bool ofed)
{
    struct target target = {.root = root, .netdev = "eth0", .every_ns = 1000000};
    struct column_set columns = {0};
    struct error e = {""};
    size_t expected = 0;
    void *source = source_dcqcn.open(&target, &columns, &e);
    if (!source)
        fail_msg("%s", e.text);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        char name[80];
        snprintf(name, sizeof name, "dcqcn_%s_%s", p->point, p->name);
        if (ofed && !p->ofed)
            continue;
        assert_true(expected < columns.count);
        assert_string_equal(columns.items[expected++].name, name);
    }
    assert_int_equal(columns.count, expected);
    source_dcqcn.close(source);
    column_set_free(&columns);
}

static void the_sampler_has_a_column_a_row(void **state)
{
    (void)state;
    struct error e;
    char root[] = "/tmp/test-dcqcn-XXXXXX", link[128];
    assert_non_null(mkdtemp(root));
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        put(root, "/sys/kernel/debug/mlx5/0000:41:00.0/cc_params", p->upstream);
    put(root, "/sys/class/net/eth0", "mtu");
    snprintf(link, sizeof link, "%s/sys/class/net/eth0/device", root);
    assert_int_equal(symlink("../../../devices/0000:41:00.0", link), 0);
    expect_columns(root, false);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++)
        if (p->ofed)
            put(root, "/sys/class/net/eth0/ecn", p->ofed);
    expect_columns(root, true);
    assert_int_equal(files_remove_tree(root, &e), 0);
}

/* ---- docs/settings.md */

#define DOCUMENT "docs/settings.md"
#define BEGIN    "<!-- the rows of lib/roce/dcqcn.h; written by: UPDATE_DOCS=1 build/tests/unit test_dcqcn -->\n"
#define END      "<!-- end of the rows -->\n"

static void add_rows(struct text *out, const char *point)
{
    text_add(out, "\n| `dcqcn.%s` | upstream | default | meaning |\n|---|---|---|---|\n", point);
    for (const struct dcqcn_parameter *p = dcqcn_parameters; p->name; p++) {
        if (strcmp(p->point, point) != 0)
            continue;
        text_add(out, "| `%s`%s%s | `%s` | ", p->name, p->ofed ? "" : " (MLNX_OFED: in debugfs too)",
                 p->simulated ? "" : " (not simulated)", p->upstream);
        if (p->boolean)
            text_add(out, "%s | ", p->standard ? "true" : "false");
        else
            text_add(out, "%lld | ", (long long)p->standard);
        text_add(out, "%s |\n", p->meaning);
    }
}

static void the_document_has_the_rows(void **state)
{
    (void)state;
    struct text rows = {0};
    add_rows(&rows, "rp");
    add_rows(&rows, "np");
    text_add(&rows, "\n");
    unit_document_has(DOCUMENT, BEGIN, END, text_string(&rows));
    text_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_places_and_a_default_in_range),
        cmocka_unit_test(settings_documents_have_the_rows),
        cmocka_unit_test(values_are_set_merged_and_written),
        cmocka_unit_test(the_fitted_profile_recovers_slowly),
        cmocka_unit_test(the_simulator_starts_from_the_rows),
        cmocka_unit_test(the_sampler_has_a_column_a_row),
        cmocka_unit_test(the_document_has_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
