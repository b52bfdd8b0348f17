/* Which flows are not ECN-capable, by what is known of the sender's NIC: the settings that nic-config reads
 * there. */
#include "tests/unit/harness/plan_of.h"

#include "harness/doctor/check.h"
#include "harness/doctor/ect.h"

static json_t *parse_text(const char *text)
{
    json_error_t wrong;
    json_t *json = json_loads(text, 0, &wrong);
    if (!json)
        fail_msg("%s: %s", text, wrong.text);
    return json;
}

/* The findings of a scenario whose sender, host a, has RED on its own egress, as one text. `more` is merged
 * into the scenario, `in_force` are the settings of a, NULL: not looked at. The caller frees. */
static char *say_findings(const char *more, const char *in_force)
{
    struct cell cell = {0};
    struct error e = {{0}};
    struct text words = {0};
    json_t *scenario = parse_text(
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"phases\":{\"measure\":\"1s\"},"
        "\"settings_of\":{\"a\":{\"red\":{\"limit\":\"2MB\",\"min\":\"50kB\",\"max\":\"200kB\"}}},"
        "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"priority\":3,\"traffic_class\":104}]}");
    json_t *rest = parse_text(more),
           *lab = parse_text("{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"
                             "\"a\":{\"ssh\":\"a\"},\"b\":{\"ssh\":\"b\"}}}");
    json_t *known = in_force ? json_pack("{s:o}", "a", parse_text(in_force)) : NULL;
    json_object_update_recursive(scenario, rest);
    if (scenario_parse(scenario, &cell.scenario, &e) != 0 || lab_parse(lab, NULL, &cell.lab, &e) != 0)
        fail_msg("%s", e.text);
    cell.scenario_json = scenario;
    cell.lab_json = lab;
    json_t *findings = ect_find(&cell, known, &e), *finding;
    size_t i;
    if (!findings)
        fail_msg("%s", e.text);
    json_array_foreach(findings, i, finding)
    {
        text_add(&words, "%s; %s", json_string_value(json_object_get(finding, "reason")),
                 json_string_value(json_object_get(finding, "fix")));
    }
    char *said = strdup(text_string(&words));
    text_free(&words);
    json_decref(findings);
    scenario_free(&cell.scenario);
    lab_free(&cell.lab);
    json_decref(scenario);
    json_decref(rest);
    json_decref(lab);
    json_decref(known);
    return said;
}

/* `says` NULL: there is no finding. */
static void expect(const char *more, const char *in_force, const char *says)
{
    char *said = say_findings(more, in_force);
    if (says ? !strstr(said, says) : *said != '\0')
        fail_msg("%s on %s: found \"%s\", expected \"%s\"", more, in_force ? in_force : "an unknown NIC",
                 said, says ? says : "");
    free(said);
}

#define SOFT     "{\"mtu\":1500,\"traffic_class\":0}"
#define UPSTREAM "{\"dcqcn\":{\"rp\":{},\"np\":{}},\"pfc\":[],\"traffic_class\":0}"
#define OFED(rp)                 \
    "{\"ecn\":[],\"ecn_rp\":" rp \
    ",\"ecn_np\":[],\"dcqcn\":{\"rp\":{},\"np\":{}},\"pfc\":[],\"traffic_class\":-1}"

static void the_whole_byte_counts_on_soft_roce(void **state)
{
    (void)state;
    expect("{}", SOFT, "(traffic class 104: DSCP 26, ECN bits 00): RED at a drops its packets");
    expect("{\"settings\":{\"traffic_class\":106}}", SOFT,
           "traffic_class 106 in flows"); /* the flow's own stays */
    expect("{\"settings\":{\"ecn\":[3]}}", SOFT, "RED at a drops");
}

static void mlx5_writes_the_bits_where_ecn_is_on(void **state)
{
    (void)state;
    expect("{}", OFED("[3]"), NULL);
    expect("{}", OFED("[0]"),
           "its NIC writes the ECN bits itself, and ECN is off at a for its priority: RED at a drops");
    expect("{}", OFED("[0]"), "priority 3 in settings.ecn switches it on");
    expect("{\"settings\":{\"ecn\":[3]}}", OFED("[0]"), NULL);
    expect("{\"settings\":{\"ecn\":[]}}", OFED("[3]"), "ECN is off at a");
    expect("{\"settings\":{\"traffic_class\":106,\"ecn\":[]}}", OFED("[3]"),
           "traffic class 104, forced by settings");
    /* upstream's driver does not show where ECN is on: the firmware decides */
    expect("{\"settings\":{\"ecn\":[]}}", UPSTREAM, NULL);
}

static void before_the_hosts_are_reached_it_is_a_condition(void **state)
{
    (void)state;
    expect("{}", NULL,
           "unless its NIC writes the ECN bits itself, as mlx5 does for priorities with ECN, RED at a");
}

static void a_simulated_cell_is_looked_at_once(void **state)
{
    (void)state;
    struct plan plan;
    plan_of(
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"h0\",\"h1\"],\"phases\":{\"measure\":\"1ms\"},"
        "\"settings\":{\"ecn\":[3]},"
        "\"flows\":[{\"name\":\"f\",\"from\":\"h0\",\"to\":\"h1\",\"priority\":3,\"traffic_class\":104}]}",
        "{\"schema\":1,\"name\":\"l\",\"driver\":\"sim\",\"hosts\":{\"h0\":{},\"h1\":{}},"
        "\"links\":[{\"between\":[\"h0\",\"h1\"],\"rate\":\"10Gb/s\"}]}",
        &plan);
    json_t *before = doctor_warnings_of_run(&plan.first, NULL),
           *in_run = doctor_warnings_of_run(&plan.first, NULL);
    assert_int_equal(json_array_size(before), 1);
    assert_ptr_equal(before, in_run);
    json_decref(before);
    json_decref(in_run);
    plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_whole_byte_counts_on_soft_roce),
                                       cmocka_unit_test(mlx5_writes_the_bits_where_ecn_is_on),
                                       cmocka_unit_test(before_the_hosts_are_reached_it_is_a_condition),
                                       cmocka_unit_test(a_simulated_cell_is_looked_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
