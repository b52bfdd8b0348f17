/* The settings that a run's capture is judged with: what the roles agree in. */
#include "tests/unit/harness/plan_of.h"

#include "harness/judge/capture.h"

#define SCENARIO                                                                                        \
    "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\",\"w\"],\"phases\":{\"measure\":\"1ms\"},"      \
    "\"settings\":{\"pfc\":[3]},\"verify\":[\"cnp\"],\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":" \
    "\"b\"}]}"
#define LAB                                                                                                 \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"sim\",\"hosts\":{\"a\":{\"nic\":{\"ack_timeout\":\"1ms\"}}," \
    "\"b\":{\"nic\":{\"ack_timeout\":\"1ms\"}}},\"switches\":{\"w\":{}},"                                   \
    "\"links\":[{\"between\":[\"a\",\"w\"],\"rate\":\"100Gb/"                                               \
    "s\"},{\"between\":[\"b\",\"w\"],\"rate\":\"100Gb/s\"}]}"
#define REAL_SCENARIO                                                                                   \
    "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"phases\":{\"measure\":\"1s\"},"             \
    "\"settings\":{\"pfc\":[3]},\"verify\":[\"cnp\"],\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":" \
    "\"b\"}],"                                                                                          \
    "\"expect\":[{\"name\":\"data moves\",\"check\":\"sum(flows.*.bytes) > 0\"}]}"
#define REAL_HOST(name, address) \
    "\"" name "\":{\"ssh\":\"" name "\",\"nic\":{\"netdev\":\"d\",\"address\":\"10.0.0." address "/24\"}}"
#define REAL_LAB                                                                                     \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{" REAL_HOST("a", "1") "," REAL_HOST( \
        "b", "2") "},\"links\":[]}"

/* The document for what roles a, b and the switch w had, and the settings that differ, as one text:
 * "[DOCUMENT,DIFFER]". */
static void expect_settings_of(const char *scenario, const char *lab, const char *settings_text,
                               const char *expected_text)
{
    struct plan plan;
    plan_of(scenario, lab, &plan);
    json_t *settings = json_loads(settings_text, 0, NULL), *expected = json_loads(expected_text, 0, NULL);
    assert_non_null(settings);
    assert_non_null(expected);
    json_t *differ = json_object(), *document = judge_capture_settings(&plan.first, settings, differ);
    json_t *both = json_pack("[o,o]", document, differ);
    if (!json_equal(both, expected))
        fail_msg("%s", json_dumps(both, JSON_COMPACT | JSON_SORT_KEYS));
    json_decref(both);
    json_decref(settings);
    json_decref(expected);
    plan_free(&plan);
}

static void expect_settings(const char *settings_text, const char *expected_text)
{
    expect_settings_of(SCENARIO, LAB, settings_text, expected_text);
}

#define OF_PORT(name)                                                                                      \
    "\"ack_timeout\":\"1000000ns\",\"nak_delay\":\"0ns\",\"cnp_pacing\":\"queue-pair\",\"unmarked_cnps\":" \
    "false,\"recovery\":[],"                                                                               \
    "\"interfaces\":[\"" name ":*\"]"
#define FROM_THE_LAB                                                                   \
    "\"schema\":1,\"times\":true,\"ack_timeout\":\"1000000ns\",\"nak_delay\":\"0ns\"," \
    "\"cnp_pacing\":"                                                                  \
    "\"queue-pair\",\"unmarked_"                                                       \
    "cnps\":false,\"recovery\":["                                                      \
    "]"

static void what_was_read_back_is_over_what_was_wanted(void **state)
{
    (void)state;
    expect_settings("{\"a\":{\"wanted\":{\"pfc\":[3],\"mtu\":1500},\"read_back\":{\"mtu\":4200}},"
                    "\"b\":{\"wanted\":{\"pfc\":[3]},\"read_back\":{\"mtu\":4200}},"
                    "\"w\":{\"wanted\":{\"pfc\":[3],\"mtu\":9000}}}",
                    "[{" FROM_THE_LAB
                    ",\"settings\":{\"trust\":\"pcp\",\"pfc\":[3],\"mtu\":4200,\"dcqcn\":{}}},{}]");
}

static void what_differs_between_hosts_is_of_their_ports(void **state)
{
    (void)state;
    expect_settings(
        "{\"a\":{\"wanted\":{\"ecn\":[3]},\"read_back\":{\"dcqcn\":{\"rp\":{\"rpg_gd\":5},\"np\":{}}}},"
        "\"b\":{\"wanted\":{\"trust\":\"dscp\"},\"read_back\":{\"dcqcn\":{\"rp\":{\"rpg_gd\":6},\"np\":{}}}}"
        "}",
        "[{" FROM_THE_LAB ",\"settings\":{\"dcqcn\":{\"np\":{}}},\"ports\":["
        "{" OF_PORT(
            "a") ",\"settings\":{\"ecn\":[3],\"trust\":\"pcp\",\"dcqcn\":{\"rp\":{\"rpg_gd\":5},\"np\":{}}}},"
                 "{" OF_PORT(
                     "b") ",\"settings\":{\"trust\":\"dscp\",\"dcqcn\":{\"rp\":{\"rpg_gd\":6},\"np\":{}}}},"
                          "{\"interfaces\":[\"w:*\"],\"settings\":{\"pfc\":[3],\"dcqcn\":{}}}]},"
                          "{\"ecn\":true,\"trust\":true,\"dcqcn.rp\":true}]");
}

static void a_switch_may_differ_in_its_lossless_priorities(void **state)
{
    (void)state;
    expect_settings(
        "{\"a\":{\"wanted\":{\"pfc\":[3]}},\"b\":{\"wanted\":{\"pfc\":[3]}},\"w\":{\"wanted\":{"
        "\"pfc\":[4]}}}",
        "[{" FROM_THE_LAB ",\"settings\":{\"trust\":\"pcp\",\"dcqcn\":{}},\"ports\":["
        "{" OF_PORT("a") ",\"settings\":{\"pfc\":[3],\"trust\":\"pcp\",\"dcqcn\":{}}},"
                         "{" OF_PORT("b") ",\"settings\":{\"pfc\":[3],\"trust\":\"pcp\",\"dcqcn\":{}}},"
                                          "{\"interfaces\":[\"w:*\"],\"settings\":{\"pfc\":[4],\"trust\":"
                                          "\"pcp\",\"dcqcn\":{}}}]},"
                                          "{\"pfc\":true}]");
}

/* A real host reads back settings of an interface, more than a scenario has; its times are not those of the
 * wire. */
static void of_real_hosts_what_a_scenario_has_is_taken(void **state)
{
    (void)state;
    expect_settings_of(
        REAL_SCENARIO, REAL_LAB,
        "{\"a\":{\"wanted\":{\"pfc\":[3]},\"read_back\":{\"d\":{\"mtu\":4200,\"trust\":\"dscp\",\"driver\":"
        "\"x\"}}},"
        "\"b\":{\"wanted\":{\"pfc\":[3]},\"read_back\":{\"d\":{\"mtu\":1500,\"trust\":\"dscp\"}}}}",
        "[{\"schema\":1,\"times\":false,\"settings\":{\"trust\":\"dscp\",\"pfc\":[3],"
        "\"dcqcn\":{}},\"ports\":"
        "["
        "{\"interfaces\":[\"a:*\"],\"settings\":{\"mtu\":4200,\"trust\":\"dscp\",\"pfc\":[3],\"dcqcn\":{}}},"
        "{\"interfaces\":[\"b:*\"],\"settings\":{\"mtu\":1500,\"trust\":\"dscp\",\"pfc\":[3],\"dcqcn\":{}}}]}"
        ","
        "{\"mtu\":true}]");
}

/* No two hosts have the same address: it does not give ports settings of their own. */
static void addresses_do_not_differ(void **state)
{
    (void)state;
    expect_settings_of(
        REAL_SCENARIO, REAL_LAB,
        "{\"a\":{\"wanted\":{\"pfc\":[3]},\"read_back\":{\"d\":{\"addresses\":[\"10.0.0.1/24\"]}}},"
        "\"b\":{\"wanted\":{\"pfc\":[3]},\"read_back\":{\"d\":{\"addresses\":[\"10.0.0.2/24\"]}}}}",
        "[{\"schema\":1,\"times\":false,\"settings\":{\"trust\":\"pcp\",\"pfc\":[3],"
        "\"dcqcn\":{}}},{}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_back_is_over_what_was_wanted),
        cmocka_unit_test(what_differs_between_hosts_is_of_their_ports),
        cmocka_unit_test(of_real_hosts_what_a_scenario_has_is_taken),
        cmocka_unit_test(addresses_do_not_differ),
        cmocka_unit_test(a_switch_may_differ_in_its_lossless_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
