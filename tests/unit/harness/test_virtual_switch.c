/* A guest that is a switch: what the lab's file says becomes the module's lines; a smaller lab's hosts take
 * the roles. */
#include "tests/unit/harness/plan_of.h"

#include "harness/labs/hosts/virtual.h"
#include "lib/physics/fabric.h"
#include "virtual-connectx/model/switch/switch.h"

#define SCENARIO                                                                                      \
    "{\"schema\":1,\"name\":\"t\",\"roles\":[\"h[0-7]\",\"s0\"],\"phases\":{\"measure\":\"5ms\"},"    \
    "\"settings\":{\"pfc\":[3],\"ecn\":[3],\"trust\":\"dscp\",\"dscp_to_prio\":{\"26\":3}},"          \
    "\"traffic\":[{\"name\":\"incast\",\"pattern\":\"incast\",\"from\":[\"h[0-6]\"],\"to\":[\"h7\"]," \
    "\"message\":\"64KiB\",\"priority\":3}],\"sample\":{\"every\":\"1ms\"},"                          \
    "\"expect\":[{\"name\":\"the link stays full\",\"check\":\"sum(flows.incast.goodput_bps) > 95Gb/s\"}]}"
#define HOST(name, end)                                                                  \
    "\"" name "\":{\"domain\":\"" name "\",\"profile\":\"p\",\"nic\":{\"netdev\":\"d\"," \
    "\"address\":\"10.0.0." end "/24\"}}"
#define LAB(settings)                                                                                    \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"libvirt\",\"scaled\":{\"roles.h[0-7]\":\"h[0,2,7]\","     \
    "\"traffic.incast.from.h[0-6]\":\"h[0,2]\",\"phases.measure\":\"8s\","                               \
    "\"expect.the link stays full.check\":\"sum(flows.incast.goodput_bps) > 4Mb/s\"},\"hosts\":{" HOST(  \
        "h0", "1") "," HOST("h2",                                                                        \
                            "2") "," HOST("h7",                                                          \
                                          "3") ",\"s0\":{\"domain\":\"s0\",\"profile\":\"p\",\"nic\":{"  \
                                               "\"netdev\":\"data0\"},\"switch\":" settings "}},"        \
                                               "\"links\":[{\"between\":[\"h0\",\"s0\"]},{\"between\":[" \
                                               "\"h2\",\"s0\"]},{\"between\":[\"s0\",\"h7\"]}]}"
#define SWITCH                                                                                      \
    "{\"buffer\":\"1MB\",\"xoff_alpha\":0.25,\"headroom\":\"50KB\",\"xon_offset\":\"5KB\",\"ecn\":" \
    "{\"kmin\":\"10KB\",\"kmax\":\"40KB\",\"pmax\":0.2},\"watchdog\":{\"detect\":\"200us\"}}"

static void a_smaller_lab_has_some_of_the_roles(void **state)
{
    struct plan plan;
    (void)state;
    plan_of(SCENARIO, LAB(SWITCH), &plan);
    const struct scenario *scenario = &plan.first.scenario;
    const struct scenario_expect *expect = scenario->expect.items;
    static const char *const roles[] = {"h0", "h2", "h7", "s0"};
    assert_int_equal(scenario->roles.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(scenario_role(scenario, i), roles[i]);
    assert_int_equal(scenario->flows.count, 2);
    assert_string_equal(expect[0].check, "sum(flows.incast.goodput_bps) > 4Mb/s");
    assert_int_equal(scenario->phases.measure_ns, 8000000000);
    plan_free(&plan);
}

/* What a user asks for is not replaced by the lab. */
static void what_is_asked_for_is_not_scaled(void **state)
{
    char scenario[40], lab[40];
    struct error e = {{0}};
    struct plan plan;
    (void)state;
    plan_of_write(scenario, SCENARIO);
    plan_of_write(lab, LAB(SWITCH));
    const struct plan_request request = {.scenario = scenario, .lab = lab, .duration_ns = 3000000000};
    int result = plan_load(&request, &plan, &e);
    unlink(scenario);
    unlink(lab);
    assert_int_equal(result, 0);
    assert_int_equal(plan.first.scenario.phases.measure_ns, 3000000000);
    assert_int_equal(plan.first.scenario.roles.count, 4);
    plan_free(&plan);
}

struct vcx_switch_front {
    int unused;
};

static bool has_line(const char *lines, const char *line)
{
    const char *at = strstr(lines, line);
    return at && (at == lines || at[-1] == '\n') && at[strlen(line)] == '\n';
}

/* Each line is one that the model takes. */
static void the_model_takes(const char *lines)
{
    static const struct vcx_switch_ops ops = {0};
    struct vcx_switch_front front;
    struct vcx_switch *sw = calloc(1, sizeof *sw);
    char *all = strdup(lines), *rest = all, *line;
    assert_non_null(sw);
    assert_int_equal(vcx_switch_start(sw, 3, 1000000, &front, &ops), 0);
    while ((line = strsep(&rest, "\n"))) {
        struct vcx_sentence error;
        if (*line && !vcx_switch_set(sw, line, &error))
            fail_msg("%s: %s", line, error.text);
    }
    vcx_switch_stop(sw);
    free(sw);
    free(all);
}

static void the_labs_values_are_the_modules_lines(void **state)
{
    struct plan plan;
    struct text lines = {0};
    struct error e;
    (void)state;
    plan_of(SCENARIO, LAB(SWITCH), &plan);
    const struct cell *cell = &plan.first;
    json_t *wanted = scenario_role_settings(cell->scenario_json, "s0");
    assert_int_equal(virtual_switch_lines(&cell->lab, lab_real_host(&cell->lab, "s0"), wanted, &lines, &e),
                     0);
    static const char *const expected[] = {
        "shared_bytes 850000", /* 3 ports have headroom for 1 priority */
        "headroom_bytes 50000",
        "hysteresis_bytes 5000",
        "alpha_eighths 2",
        "threshold_bytes 0",
        "pfc 8",
        "trust_dscp 1",
        "dscp 26 3",
        "dscp 27 3",
        "dscp 0 0",
        "ecn_min_bytes 3 10000",
        "ecn_max_bytes 3 40000",
        "ecn_max_bytes 4 0",
        "ecn_percent 0 20",
        "watchdog_us 200",
        "restore_us 200",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!has_line(text_string(&lines), expected[i]))
            fail_msg("no line \"%s\" in:\n%s", expected[i], text_string(&lines));
    the_model_takes(text_string(&lines));
    text_free(&lines);
    json_decref(wanted);
    plan_free(&plan);
}

static void a_buffer_that_is_all_headroom_is_refused(void **state)
{
    struct plan plan;
    struct text lines = {0};
    struct error e;
    (void)state;
    plan_of(SCENARIO, LAB("{\"buffer\":\"150KB\",\"headroom\":\"50KB\"}"), &plan);
    const struct cell *cell = &plan.first;
    json_t *wanted = scenario_role_settings(cell->scenario_json, "s0");
    assert_int_equal(virtual_switch_lines(&cell->lab, lab_real_host(&cell->lab, "s0"), wanted, &lines, &e),
                     -1);
    assert_non_null(strstr(e.text, "nothing is left to share"));
    text_free(&lines);
    json_decref(wanted);
    plan_free(&plan);
}

/* Keys of a simulated switch that the module does not model are none of a guest's. */
static void what_is_not_modelled_is_refused(void **state)
{
    (void)state;
    refuse_lab(LAB("{\"headroom\":\"50KB\",\"lossy_alpha\":1}"), "lossy_alpha");
    refuse_lab(LAB("{\"headroom\":\"50KB\",\"ecn\":{\"at\":\"dequeue\"}}"), "at");
    refuse_lab(LAB("{\"headroom\":\"50KB\",\"xoff_alpha\":0.3}"), "0.3 is not a multiple of 1/8");
    refuse_lab(LAB("{}"), "headroom is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smaller_lab_has_some_of_the_roles),
        cmocka_unit_test(what_is_asked_for_is_not_scaled),
        cmocka_unit_test(the_labs_values_are_the_modules_lines),
        cmocka_unit_test(a_buffer_that_is_all_headroom_is_refused),
        cmocka_unit_test(what_is_not_modelled_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
