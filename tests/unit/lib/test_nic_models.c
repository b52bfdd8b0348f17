/* The table of NIC models: each column is a host's document, and docs/nic-models.md is made from it. */
#include "tests/unit/unit.h"

#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/physics/host.h"
#include "lib/physics/nic_models.h"

static void each_model_is_a_host(void **state)
{
    (void)state;
    for (int i = 0; i < NIC_MODEL_COUNT; i++) {
        struct physics_host host;
        struct error e;
        json_t *document = nic_model_document(i);
        if (table_parse(&physics_host_table, document, &host, &e) != 0)
            fail_msg("%s: %s", nic_model_names[i], e.text);
        table_free(&physics_host_table, &host);
        json_decref(document);
    }
    for (const struct nic_property *p = nic_properties; p->path; p++)
        for (int i = 0; i < NIC_MODEL_COUNT; i++) {
            json_t *document = json_object();
            assert_true(!p->of[i].value == !p->of[i].source);
            if (p->of[i].value)
                nic_model_add_sources(document, i, NULL);
            assert_true(!p->of[i].value || json_object_size(document) > 0);
            json_decref(document);
        }
}

static void slips_mean_a_model(void **state)
{
    (void)state;
    static const struct {
        const char *said, *meant;
    } rows[] = {{"connectx5", "connectx-5"},
                {"connect-x-5", "connectx-5"},
                {"ConnectX-5", "connectx-5"},
                {"conectx-5", "connectx-5"},
                {"connectx4lx", "connectx-4-lx"},
                {"ideel", "ideal"},
                {"ConnectX-6 Dx", "connectx-6"},
                {"connectx-8", ""},
                {"ConnectX-4 Lx 25 GbE", NULL},
                {"HPCC simulator's", NULL},
                {"connectx-6", NULL},
                {"ideal", NULL},
                {"card 07", NULL},
                {"", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *meant;
        assert_int_equal(nic_model_is_slip(rows[i].said, &meant), rows[i].meant != NULL);
        assert_string_equal(meant ? meant : "", rows[i].meant ? rows[i].meant : "");
    }
    const char *meant;
    assert_false(nic_model_is_slip(NULL, &meant));
}

/* A host's own value, then the lab's default, then the model's; null is the simulator's default. */
static void a_lab_lies_over_the_model(void **state)
{
    (void)state;
    json_t *written = json_loads(
        "{\"driver\": \"sim\", \"sources\": {\"mine\": \"read\"},"
        " \"defaults\": {\"host\": {\"nic\": {\"model\": \"connectx-5\", \"ack_every\": null}, \"pcie\": "
        "{\"lanes\": 4}}},"
        " \"hosts\": {\"a\": {}, \"b\": {\"pcie\": {\"generation\": 3}}, \"c\": {\"pcie\": {\"generation\": "
        "null}},"
        " \"d\": {\"nic\": {\"model\": \"ConnectX-5 by itself\"}}, \"e\": {\"nic\": {\"model\": null}}}}",
        0, NULL);
    struct error e;
    json_t *whole = lab_expand(written, &e);
    const char *const wanted[] = {
        "{\"nic\":{\"model\":\"connectx-5\"},\"pcie\":{\"generation\":4,\"lanes\":4}}",
        "{\"nic\":{\"model\":\"connectx-5\"},\"pcie\":{\"generation\":3,\"lanes\":4}}",
        "{\"nic\":{\"model\":\"connectx-5\"},\"pcie\":{\"lanes\":4}}",
        "{\"nic\":{\"model\":\"ConnectX-5 by itself\"},\"pcie\":{\"lanes\":4}}", "{\"pcie\":{\"lanes\":4}}"};
    assert_non_null(whole);
    for (size_t i = 0; i < 5; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        json_t *host = json_object_get(json_object_get(whole, "hosts"), name), *told = json_object(), *part;
        static const char *const keys[][2] = {
            {"nic", "model"}, {"nic", "ack_every"}, {"pcie", "generation"}, {"pcie", "lanes"}};
        for (size_t k = 0; k < 4; k++) /* those of this test: a model has others */
            if ((part = json_object_get(json_object_get(host, keys[k][0]), keys[k][1]))) {
                if (!json_object_get(told, keys[k][0]))
                    json_object_set_new(told, keys[k][0], json_object());
                json_object_set(json_object_get(told, keys[k][0]), keys[k][1], part);
            }
        char *shown = json_shown(told);
        assert_string_equal(shown, wanted[i]);
        free(shown);
        json_decref(told);
    }
    json_t *sources = json_object_get(whole, "sources");
    assert_non_null(json_object_get(sources, "mine"));
    assert_non_null(json_object_get(sources, "hosts.*.pcie.generation (connectx-5)"));
    assert_null(json_object_get(sources, "hosts.*.pcie.lanes (connectx-5)"));
    assert_null(json_object_get(sources, "hosts.*.nic.ack_every (connectx-5)"));
    json_decref(whole);
    json_decref(written);
}

/* The lab of the published ConnectX-4 Lx keeps its own values, which its figures depend on: not on RNR waits.
 */
static void the_published_lab_has_the_same_values(void **state)
{
    (void)state;
    struct error e;
    json_t *lab = json_file_load("labs/sim-geforce-pair.json", DOCUMENT_LAB, &e);
    json_t *own = json_object_get(json_object_get(lab, "defaults"), "host");
    json_t *model = nic_model_document(NIC_MODEL_CONNECTX_4_LX);
    json_t *both = json_merged(own, model);
    assert_non_null(lab);
    json_object_del(json_object_get(both, "nic"), "model");
    json_object_del(json_object_get(own, "nic"), "model");
    json_object_del(json_object_get(both, "nic"), "rnr_added");
    struct text differing = {0};
    if (json_changes(own, both, 5, &differing))
        fail_msg("%s", text_string(&differing));
    text_free(&differing);
    json_decref(both);
    json_decref(model);
    json_decref(lab);
}

/* make docs updates the file. */
static void the_document_is_up_to_date(void **state)
{
    (void)state;
    struct text manual = {0}, file = {0};
    char piece[4096];
    size_t length;
    FILE *f = fopen("docs/nic-models.md", "re");
    assert_non_null(f);
    while ((length = fread(piece, 1, sizeof piece, f)) > 0)
        text_add_bytes(&file, piece, length);
    fclose(f);
    nic_models_manual(&manual);
    assert_string_equal(text_string(&file), text_string(&manual));
    text_free(&file);
    text_free(&manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_model_is_a_host),       cmocka_unit_test(slips_mean_a_model),
        cmocka_unit_test(a_lab_lies_over_the_model),  cmocka_unit_test(the_published_lab_has_the_same_values),
        cmocka_unit_test(the_document_is_up_to_date),
    };
    return cmocka_run_group_tests_name("nic models", tests, NULL, NULL);
}
