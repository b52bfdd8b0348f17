/* Every number of a scenario's and of a simulated lab's document at both ends of its range, one at a time: it
 * is refused with a sentence, or runs for a moment. The sanitizers see that nothing overflows. */
#include "harness/judge/capture.h"
#include "harness/labs/sim/sim_config.h"
#include "harness/plan/plan.h"
#include "lib/files.h"
#include "lib/formats/settings.h"
#include "lib/physics/fabric.h"
#include "lib/physics/nic_models.h"
#include "tests/unit/unit.h"
#include "verify/verify_settings.h"
#include <math.h>

#define MOMENT_PS INT64_C(30000000)

static const char scenario_text[] =
    "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\",\"c\"],"
    "\"phases\":{\"warmup\":\"1us\",\"measure\":\"20us\",\"cooldown\":\"0\"},"
    "\"settings\":{\"mtu\":4200,\"pfc\":[0],\"ecn\":[0],\"prio_to_buffer\":{\"0\":1},"
    "\"buffer_bytes\":[0,130000]},\"settings_of\":{\"c\":{\"mtu\":4200}},"
    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"memory\":\"gpu\",\"message\":\"20kB\"},"
    "{\"name\":\"g\",\"from\":\"b\",\"to\":\"a\",\"op\":\"read\",\"rate\":\"10Gb/s\",\"queue_pairs\":2},"
    "{\"name\":\"h\",\"from\":\"c\",\"to\":\"a\",\"mode\":\"latency\",\"message\":\"64B\",\"op\":\"send\"}],"
    "\"traffic\":[{\"name\":\"t\",\"pattern\":\"poisson\",\"from\":[\"a\",\"b\",\"c\"],\"sizes\":\"web-"
    "search\","
    "\"count\":10},"
    "{\"name\":\"p\",\"pattern\":\"permutation\",\"from\":[\"a\",\"b\",\"c\"],\"size\":\"10kB\",\"count\":2},"
    "{\"name\":\"r\",\"pattern\":\"ring-all-reduce\",\"from\":[\"a\",\"b\",\"c\"],\"size\":\"100kB\"}],"
    "\"storms\":[{\"role\":\"c\",\"start\":\"5us\",\"stop\":\"10us\"}],\"sample\":{\"every\":\"10us\"},"
    "\"expect\":[{\"name\":\"e\",\"check\":\"delta(a.rx_prio0_pause) >= 0\"}],"
    "\"published\":[{\"name\":\"p\",\"of\":\"delta(a.rx_prio0_pause)\",\"value\":1,\"source\":\"s\"}]}";

#define MEMORY                                                                                          \
    "{\"write\":\"12GB/s\",\"read\":\"12GB/s\",\"banks\":64,\"interleave\":\"512B\",\"bank\":\"20ns\"," \
    "\"stalls_per_s\":100000,\"stall_mean\":\"1us\",\"stall_window\":\"1us\",\"device_write\":\"256B\"}"
static const char lab_text[] =
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"sim\",\"hosts\":{"
    "\"a\":{\"nic\":{\"messages\":\"10M/"
    "s\",\"ack_timeout\":\"10us\"},\"pcie\":{\"generation\":3},\"memory\":" MEMORY ",\"gpu\":" MEMORY "},"
    "\"b\":{\"gpu\":" MEMORY "},\"c\":{}},"
    "\"switches\":{\"s\":{\"ecn\":{\"kmin\":\"2kB\",\"kmax\":\"20kB\",\"pmax\":0.5,\"reference\":\"25Gb/"
    "s\"}}},"
    "\"links\":[{\"between\":[\"a\",\"s\"],\"rate\":\"25Gb/s\",\"length\":\"1m\",\"loss\":0.001},"
    "{\"between\":[\"b\",\"s\"],\"rate\":\"25Gb/s\"},{\"between\":[\"c\",\"s\"],\"rate\":\"25Gb/s\"}],"
    "\"framing\":{}}";

struct trial {
    char folder[64], scenario_path[100], lab_path[100];
    json_t *scenario, *lab;
    size_t ran, refused;
};

static void write_document(const char *path, const json_t *json)
{
    if (json_dump_file(json, path, 0) != 0)
        fail_msg("%s cannot be written", path);
}

/* Whatever is in force in the simulator, the checkers of captures take. */
static void settings_are_taken(const struct cell *cell, const struct sim_setup *setup)
{
    json_t *settings = json_object(), *differ = json_object();
    const char *role;
    for (size_t i = 0; (role = scenario_role(&cell->scenario, i)); i++)
        if (setup->node_of_role[i].kind == SIM_HOST)
            json_object_set_new(
                settings, role,
                json_pack("{s:{},s:o}", "wanted", "read_back",
                          sim_setup_settings_json(&setup->hosts[setup->node_of_role[i].index].settings)));
    json_t *document = judge_capture_settings(cell, settings, differ);
    struct verify_settings taken;
    struct error e;
    if (verify_settings_parse(&taken, document, NULL, &e) != 0)
        fail_msg("%s", e.text);
    verify_settings_free(&taken);
    json_decref(document);
    json_decref(differ);
    json_decref(settings);
}

static int run_cell(const struct cell *cell, struct error *e)
{
    struct sim_setup setup;
    if (sim_setup_make(cell, 1, &setup, e) != 0)
        return -1;
    settings_are_taken(cell, &setup);
    struct sim *sim = sim_new(&setup.config, e);
    int result = sim ? sim_run_until(sim, MOMENT_PS, e) : -1;
    for (size_t f = 0; sim && f < setup.config.flow_count; f++)
        (void)sim_flow_ideal_ps(sim, f);
    sim_free(sim);
    sim_setup_free(&setup);
    return result;
}

static void try_it(struct trial *t, const char *what)
{
    struct plan plan;
    struct error e = {""};
    const struct plan_request request = {
        .scenario = t->scenario_path, .lab = t->lab_path, .duration_ns = FIELD_UNSET};
    write_document(t->scenario_path, t->scenario);
    write_document(t->lab_path, t->lab);
    int result = plan_load(&request, &plan, &e);
    if (result == 0) {
        result = run_cell(&plan.first, &e);
        plan_free(&plan);
    }
    if (result != 0 && !*e.text)
        fail_msg("%s is refused without a reason", what);
    t->ran += result == 0;
    t->refused += result != 0;
    if (result != 0 && getenv("RANGES"))
        printf("# %s: %s\n", what, e.text);
}

/* An end of the field's range as JSON. */
static json_t *end_of(const struct field *f, enum field_kind kind, bool most)
{
    char text[64];
    int64_t value = most ? f->max : f->min;
    if (kind == FIELD_NUMBER)
        return json_real(most ? f->max_number : f->min_number);
    if (kind == FIELD_INTEGER)
        return json_integer(value);
    return json_string(units_format(f->unit, value, text, sizeof text));
}

static bool is_number(enum field_kind kind)
{
    return kind == FIELD_INTEGER || kind == FIELD_QUANTITY || kind == FIELD_NUMBER;
}

static void try_ends(struct trial *t, json_t *object, const struct table *table, const struct field *f)
{
    bool of_items = f->kind == FIELD_LIST;
    enum field_kind kind = of_items ? f->item : f->kind;
    json_t *before = json_incref(json_object_get(object, f->name));
    bool ranged = kind == FIELD_NUMBER ? f->max_number > f->min_number : field_has_range(f);
    if (!ranged && strcmp(table->name, "scenario.published") != 0)
        fail_msg("%s.%s has no range", table->name, f->name);
    for (int most = 0; ranged && most < 2; most++) {
        char what[160];
        json_t *end = end_of(f, kind, most);
        snprintf(what, sizeof what, "%s.%s at its %s", table->name, f->name, most ? "most" : "least");
        json_object_set_new(object, f->name, of_items ? json_pack("[o]", end) : end);
        try_it(t, what);
    }
    if (before)
        json_object_set_new(object, f->name, before);
    else
        json_object_del(object, f->name);
}

static void visit(struct trial *t, json_t *object, const struct table *table);

static void visit_part(struct trial *t, json_t *object, const struct field *f)
{
    json_t *part = json_object_get(object, f->name), *item;
    const char *name;
    size_t i;
    bool made = !part && (f->kind == FIELD_OBJECT || f->kind == FIELD_OPTIONAL);
    if (made)
        json_object_set_new(object, f->name, part = json_object());
    if (f->kind == FIELD_OBJECT || f->kind == FIELD_OPTIONAL)
        visit(t, part, f->sub);
    else if (f->kind == FIELD_LIST)
        json_array_foreach(part, i, item) visit(t, item, f->sub);
    else
        json_object_foreach(part, name, item) visit(t, item, f->sub);
    if (made)
        json_object_del(object, f->name);
}

static void visit(struct trial *t, json_t *object, const struct table *table)
{
    for (const struct field *f = table->fields; f->name; f++) {
        bool of_objects = (f->kind == FIELD_LIST || f->kind == FIELD_MAP) && f->item == FIELD_OBJECT;
        if (is_number(f->kind) || (f->kind == FIELD_LIST && is_number(f->item)))
            try_ends(t, object, table, f);
        else if (f->kind == FIELD_OBJECT || f->kind == FIELD_OPTIONAL || of_objects)
            visit_part(t, object, f);
    }
}

static int set_up(void **state)
{
    struct trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    strcpy(t->folder, "/tmp/test-ranges.XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    snprintf(t->scenario_path, sizeof t->scenario_path, "%s/scenario.json", t->folder);
    snprintf(t->lab_path, sizeof t->lab_path, "%s/lab.json", t->folder);
    t->scenario = json_loads(scenario_text, 0, NULL);
    t->lab = json_loads(lab_text, 0, NULL);
    assert_non_null(t->scenario);
    assert_non_null(t->lab);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct trial *t = *state;
    json_decref(t->scenario);
    json_decref(t->lab);
    files_remove_tree(t->folder, NULL);
    free(t);
    return 0;
}

static void the_base_runs(void **state)
{
    struct trial *t = *state;
    try_it(t, "the base");
    assert_int_equal(t->ran, 1);
}

static void numbers_of_scenarios_hold_at_their_ends(void **state)
{
    struct trial *t = *state;
    visit(t, t->scenario, &scenario_table);
    assert_true(t->ran > t->refused);
}

static void numbers_of_simulated_labs_hold_at_their_ends(void **state)
{
    struct trial *t = *state;
    visit(t, t->lab, &lab_kind_named("sim")->table);
    assert_true(t->ran > 3 * t->refused);
}

static void values_of_nic_models_hold(void **state)
{
    struct trial *t = *state;
    json_t *nic = json_object_get(json_object_get(json_object_get(t->lab, "hosts"), "a"), "nic");
    for (int model = 0; model < NIC_MODEL_COUNT; model++) {
        json_object_set_new(nic, "model", json_string(nic_model_names[model]));
        try_it(t, nic_model_names[model]);
    }
    assert_int_equal(t->ran, NIC_MODEL_COUNT);
}

/* A forwarding host in the switch's place, with RED. */
static void numbers_of_forwarding_hosts_hold_at_their_ends(void **state)
{
    struct trial *t = *state;
    const struct field *red = settings_table.fields;
    while (strcmp(red->name, "red") != 0)
        red++;
    json_t *bridge = json_pack("{s:{s:s,s:s}}", "software", "interrupt", "1us", "frame", "1us");
    json_t *settings = json_pack("{s:s,s:s,s:s,s:s,s:s,s:f,s:b}", "limit", "2MB", "min", "5kB", "max", "20kB",
                                 "avpkt", "1500B", "bandwidth", "25Gb/s", "probability", 0.5, "ecn", 1);
    json_object_set_new(json_object_get(t->lab, "switches"), "s", bridge);
    json_array_append_new(json_object_get(t->scenario, "roles"), json_string("s"));
    json_object_set_new(t->scenario, "settings", json_pack("{s:i}", "mtu", 4200));
    json_object_set_new(t->scenario, "settings_of", json_pack("{s:{s:o}}", "s", "red", settings));
    json_object_del(t->scenario, "storms");
    try_it(t, "the base");
    assert_int_equal(t->ran, 1);
    visit(t, bridge, &physics_switch_table);
    visit(t, settings, red->sub);
    assert_true(t->ran > t->refused);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_base_runs),
        TEST(numbers_of_scenarios_hold_at_their_ends),
        TEST(numbers_of_simulated_labs_hold_at_their_ends),
        TEST(values_of_nic_models_hold),
        TEST(numbers_of_forwarding_hosts_hold_at_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
