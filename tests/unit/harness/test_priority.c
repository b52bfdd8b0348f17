/* Whether a flow's packets get the flow's priority on real NICs: by the documents, and with the hosts'
 * settings. */
#include "tests/unit/harness/plan_of.h"

#include "harness/doctor/check.h"

/* ---- a plan */

#define FLOW "\"flows\":[{\"name\":\"x\",\"from\":\"a\",\"to\":\"b\",\"priority\":3%s}]"
#define HOSTS                                                                            \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"                        \
    "\"a\":{\"ssh\":\"a\",\"nic\":{\"netdev\":\"eth1\",\"address\":\"10.0.0.1/24\"%s}}," \
    "\"b\":{\"ssh\":\"b\",\"nic\":{\"netdev\":\"eth1\",\"address\":\"10.0.0.2/24\"%s}}}}"
#define VLAN(id) ",\"vlan\":{\"id\":" #id ",\"address\":\"10.0.1.1/24\"}"

static void make(struct plan *plan, const char *settings, const char *flow, const char *vlan_a,
                 const char *vlan_b)
{
    char scenario[1024], lab[1024], flows[256];
    snprintf(flows, sizeof flows, FLOW, flow);
    snprintf(scenario, sizeof scenario, "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],%s,%s}", flows,
             settings);
    snprintf(lab, sizeof lab, HOSTS, vlan_a, vlan_b);
    plan_of(scenario, lab, plan);
}

/* ---- by the documents */

/* `says` NULL: accepted. */
static void expect(const char *settings, const char *flow, const char *vlan_a, const char *vlan_b,
                   const char *says)
{
    struct plan plan;
    struct error e = {{0}};
    make(&plan, settings, flow, vlan_a, vlan_b);
    int result = doctor_refuse_run(&plan.first, &e);
    if (result != (says ? -1 : 0) || (says && !strstr(e.text, says)))
        fail_msg("%s %s%s%s: \"%s\", expected \"%s\"", settings, flow, vlan_a, vlan_b, e.text,
                 says ? says : "no error");
    plan_free(&plan);
}

static void untagged_packets_need_trust_in_dscp(void **state)
{
    (void)state;
    expect("\"settings\":{}", "", "", "", "the NIC of b receives them with priority 0");
    expect("\"settings\":{}", "", "", "", "set settings.trust to \"dscp\", or give the NICs");
    expect("\"settings\":{\"trust\":\"pcp\"}", "", "", "", "trust mode is pcp");
    expect("\"settings\":{\"trust\":\"dscp\"}", "", "", "", NULL);
    expect("\"settings\":{\"trust\":\"dscp\"},\"settings_of\":{\"b\":{\"trust\":\"pcp\"}}", "", "", "",
           "the NIC of b receives them");
    /* what a sends has the priority of its queue pair */
    expect("\"settings\":{\"trust\":\"dscp\"},\"settings_of\":{\"a\":{\"trust\":\"pcp\"}}",
           ",\"traffic_class\":98", "", "", NULL);
    expect("\"settings\":{\"trust\":\"dscp\"},\"settings_of\":{\"a\":{\"trust\":\"pcp\"}}",
           ",\"traffic_class\":98,\"op\":\"read\"", "", "", "the NIC of a receives them");
    expect("\"settings_of\":{\"a\":{\"trust\":\"dscp\"},\"b\":{\"trust\":\"dscp\"}}", "", "", "", NULL);
    expect("\"settings\":{}", ",\"traffic_class\":98", "", "", "priority 0");
}

static void the_dscp_must_be_that_of_the_priority(void **state)
{
    (void)state;
    expect("\"settings\":{\"trust\":\"dscp\"}", ",\"traffic_class\":98", "", "", NULL); /* DSCP 24 */
    expect("\"settings\":{\"trust\":\"dscp\"}", ",\"traffic_class\":42", "", "",
           "DSCP 10 (traffic class 42) is priority 1 there");
    expect("\"settings\":{\"trust\":\"dscp\",\"dscp_to_prio\":{\"10\":3}}", ",\"traffic_class\":42", "", "",
           NULL);
    expect("\"settings\":{\"trust\":\"dscp\",\"dscp_to_prio\":{\"10\":3}}", "", "", "", NULL);
    expect("\"settings\":{\"trust\":\"dscp\",\"dscp_to_prio\":{\"10\":3}},"
           "\"settings_of\":{\"b\":{\"dscp_to_prio\":{\"10\":4}}}",
           "", "", "", "the NIC of b trusts DSCP, and DSCP 10");
    expect("\"settings\":{\"trust\":\"dscp\",\"traffic_class\":42}", "", "", "", "map DSCP 10 to priority 3");
}

static void a_tag_carries_the_priority(void **state)
{
    (void)state;
    expect("\"settings\":{}", "", VLAN(7), VLAN(7), NULL);
    expect("\"settings\":{\"trust\":\"pcp\"}", "", VLAN(7), VLAN(7), NULL);
    expect("\"settings\":{}", "", VLAN(7), VLAN(8), "VLAN 7, that of role b VLAN 8");
    expect("\"settings\":{}", "", VLAN(7), "", "the same nic.vlan.id");
    /* a NIC that trusts DSCP does not look at the tag */
    expect("\"settings\":{\"trust\":\"dscp\"}", ",\"traffic_class\":2", VLAN(7), VLAN(7), "is priority 0");
}

/* ---- with the hosts' settings */

static const char *verdict_of(const json_t *entries, const char *host)
{
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "host")), host) == 0 &&
            strcmp(json_string_value(json_object_get(entry, "check")), "priority") == 0)
            return json_string_value(json_object_get(entry, "verdict"));
    }
    return "none";
}

static void examine_priority(const struct cell *cell, json_t *in_force, json_t *entries)
{
    const struct doctor_seen seen = {.in_force = in_force};
    const struct doctor_subject x = {.lab = &cell->lab, .cell = cell, .seen = &seen, .entries = entries};
    doctor_priority.examine(&x);
}

static void doctor_judges_the_trust_that_is_in_force(void **state)
{
    struct plan plan;
    (void)state;
    make(&plan, "\"settings\":{}", "", "", "");
    json_t *entries = json_array(), *in_force = json_pack("{s:{s:s,s:{s:i}},s:{s:s}}", "a", "trust", "dscp",
                                                          "dscp_to_prio", "0", 3, "b", "trust", "pcp");
    examine_priority(&plan.first, in_force, entries);
    assert_string_equal(verdict_of(entries, "a"), "ok"); /* trust by default: DSCP 0, mapped to 3 */
    assert_string_equal(verdict_of(entries, "b"), "failure");
    json_array_clear(entries);
    json_object_set(json_object_get(in_force, "a"), "trust",
                    json_object_get(json_object_get(in_force, "b"), "trust"));
    examine_priority(&plan.first, in_force, entries);
    assert_string_equal(verdict_of(entries, "a"), "warning"); /* sent with priority 3, answered with 0 */
    json_array_clear(entries);
    json_object_set_new(json_object_get(in_force, "a"), "trust", json_string("dscp"));
    json_object_del(json_object_get(in_force, "a"), "dscp_to_prio");
    examine_priority(&plan.first, in_force, entries);
    assert_string_equal(verdict_of(entries, "a"), "unknown"); /* its map was not seen */
    json_array_clear(entries);
    json_object_clear(json_object_get(in_force, "a"));
    json_object_del(in_force, "b");
    examine_priority(&plan.first, in_force, entries);
    assert_string_equal(verdict_of(entries, "a"), "unknown"); /* the NIC shows no trust */
    assert_string_equal(verdict_of(entries, "b"), "unknown"); /* the host was not reached */
    json_decref(entries);
    json_decref(in_force);
    plan_free(&plan);
}

static void doctor_takes_the_scenarios_settings(void **state)
{
    struct plan plan;
    (void)state;
    make(&plan, "\"settings\":{\"trust\":\"dscp\"}", "", "", "");
    json_t *entries = json_array(),
           *in_force = json_pack("{s:{s:s,s:{}},s:{s:s,s:{s:i}}}", "a", "trust", "pcp", "dscp_to_prio", "b",
                                 "trust", "dscp", "dscp_to_prio", "24", 0);
    examine_priority(&plan.first, in_force, entries);
    assert_string_equal(verdict_of(entries, "a"), "ok");
    assert_string_equal(verdict_of(entries, "b"), "failure"); /* its map sends DSCP 24 to priority 0 */
    json_decref(entries);
    json_decref(in_force);
    plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untagged_packets_need_trust_in_dscp),
        cmocka_unit_test(the_dscp_must_be_that_of_the_priority),
        cmocka_unit_test(a_tag_carries_the_priority),
        cmocka_unit_test(doctor_judges_the_trust_that_is_in_force),
        cmocka_unit_test(doctor_takes_the_scenarios_settings),
    };
    return cmocka_run_group_tests_name("priority", tests, NULL, NULL);
}
