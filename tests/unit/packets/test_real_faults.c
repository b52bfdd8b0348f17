/* A scenario's faults of single frames where hosts are real: which host has them, and in which words. */
#include "tests/unit/harness/plan_of.h"

#include "harness/labs/hosts/faults/faults.h"
#include "harness/labs/hosts/faults/means.h"
#include "virtual-connectx/model/device.h"
#include "virtual-connectx/model/faults/faults.h"

#define FLOW(name, from, to, rest) "{\"name\":\"" name "\",\"from\":\"" from "\",\"to\":\"" to "\"" rest "}"
#define SCENARIO(flows, inject)                                                                              \
    "{\"schema\":1,\"name\":\"t\",\"roles\":[\"a\",\"b\",\"c\"],\"phases\":{\"measure\":\"5ms\"},\"flows\":" \
    "[" flows "],\"inject\":[" inject                                                                        \
    "],\"expect\":[{\"name\":\"data moves\",\"check\":\"sum(flows.*.bytes) > "                               \
    "0\"}]}"
#define HOST(name, end, rest)                                                            \
    "\"" name "\":{\"domain\":\"" name "\",\"profile\":\"p\",\"nic\":{\"netdev\":\"d\"," \
    "\"address\":\"10.0.0." end "/24\"" rest "}}"
#define LAB                                                                                        \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"libvirt\",\"hosts\":{" HOST("a", "1", "") "," HOST( \
        "b", "2", "") "," HOST("c", "3",                                                           \
                               "") "},\"links\":[{\"between\":[\"a\",\"b\"]},{\"between\":[\"b\",\"c\"]}]}"

/* "HOST: LINE" of rule `i`. */
static bool say_rule(const char *scenario, const char *lab, size_t i, struct text *said)
{
    struct plan plan;
    struct fault fault;
    struct error e;
    plan_of(scenario, lab, &plan);
    if (fault_make(&plan.first.scenario, &plan.first.lab, i, &fault, &e) != 0)
        fail_msg("%s", e.text);
    bool filter = fault.filter;
    text_add(said, "%s: %s", fault.host->name, text_string(&fault.line));
    text_free(&fault.line);
    plan_free(&plan);
    return filter;
}

/* "HOST: LINE" of rule 0, which a virtual ConnectX takes as it is. */
static void expect_line(const char *scenario, const char *expected)
{
    struct text said = {0};
    assert_false(say_rule(scenario, LAB, 0, &said));
    assert_string_equal(text_string(&said), expected);
    struct vcx_device device = {0};
    struct vcx_sentence error;
    const char *line = strchr(text_string(&said), ' ') + 1;
    assert_int_equal(vcx_room_faults.start(&device), 0);
    if (!vcx_fault_request(&device, line, &error))
        fail_msg("%s: %s", line, error.text);
    vcx_room_faults.stop(&device);
    text_free(&said);
}

#define ONE   FLOW("f", "a", "b", "")
#define READ  FLOW("f", "a", "b", ",\"op\":\"read\"")
#define OTHER "," FLOW("g", "b", "a", "")

static void data_is_met_where_it_is_sent(void **state)
{
    (void)state;
    expect_line(SCENARIO(ONE, "{\"flow\":\"f\",\"do\":\"drop\"}"), "a: drop sent data 1 step 1 count 1");
    expect_line(SCENARIO(ONE OTHER, "{\"flow\":\"f\",\"do\":\"corrupt\",\"nth\":7,\"every\":3}"),
                "a: corrupt sent data 7 step 3");
    expect_line(SCENARIO(READ, "{\"flow\":\"f\",\"do\":\"mark\",\"count\":5}"),
                "b: mark sent data 1 step 1 count 5");
}

static void answers_are_met_at_the_other_end(void **state)
{
    (void)state;
    expect_line(SCENARIO(ONE OTHER, "{\"flow\":\"f\",\"packet\":\"nak\",\"do\":\"drop\",\"nth\":2}"),
                "b: drop sent nak 2 step 1 count 1");
    expect_line(SCENARIO(READ, "{\"flow\":\"f\",\"packet\":\"read-request\",\"do\":\"duplicate\"}"),
                "a: duplicate sent read-request 1 step 1 count 1");
    expect_line(SCENARIO(ONE, "{\"flow\":\"f\",\"packet\":\"cnp\",\"do\":\"delay\",\"delay\":\"20ms\"}"),
                "b: delay sent cnp 1 20 step 1 count 1");
}

static void frames_of_a_link_are_those_of_its_first_end(void **state)
{
    (void)state;
    expect_line(
        SCENARIO(ONE OTHER, "{\"link\":[\"b\",\"a\"],\"packet\":\"pfc\",\"do\":\"drop\",\"count\":2}"),
        "b: drop sent pause 1 step 1 count 2");
}

/* ---- packet filters */

#define SOFT(name, end) HOST(name, end, ",\"rdma\":\"rxe0\"")
#define BRIDGE                                                                                          \
    "\"c\":{\"domain\":\"c\",\"profile\":\"p\",\"nic\":{\"netdev\":\"d\"},\"extra_nics\":[{\"netdev\":" \
    "\"e\"}]}"
#define BRIDGED(LINKS)                                                                         \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"libvirt\",\"hosts\":{" SOFT("a", "1") "," SOFT( \
        "b", "2") "," BRIDGE "},\"links\":[" LINKS "]}"
#define LINK(a, b) "{\"between\":[\"" a "\",\"" b "\"]}"
#define BRIDGE_LAB BRIDGED(LINK("a", "c") "," LINK("c", "b"))
#define A_TO_B     "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp dport 4791 @th,64,8 "
#define B_TO_A     "ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp dport 4791 @th,64,8 "
#define DATA                                                                                                \
    "{ 0x00-0x0b, 0x0d-0x10, 0x12-0x14, 0x16-0x17, 0x1c-0x1d, 0x20-0x2b, 0x64-0x65, 0xa0-0xab, 0xad-0xb0, " \
    "0xb2-0xb4, "                                                                                           \
    "0xb6-0xb7 }"
#define ANSWERS       "{ 0x11, 0xb1 } @th,160,8 & 0x60 "
#define COUNTED(rest) " counter name \"seen0\" " rest

static void expect_rule(const char *scenario, const char *lab, const char *expected)
{
    struct text said = {0};
    assert_true(say_rule(scenario, lab, 0, &said));
    assert_string_equal(text_string(&said), expected);
    text_free(&said);
}

static void a_bridge_has_faults_of_flows_that_pass_it(void **state)
{
    (void)state;
    expect_rule(SCENARIO(ONE OTHER, "{\"flow\":\"f\",\"do\":\"drop\"}"), BRIDGE_LAB,
                "c: " A_TO_B DATA COUNTED("numgen inc mod 4294967295 < 1 counter name \"met0\" drop"));
    expect_rule(SCENARIO(READ, "{\"flow\":\"f\",\"do\":\"mark\",\"nth\":7,\"every\":3,\"count\":5}"),
                BRIDGE_LAB,
                "c: " B_TO_A DATA COUNTED("numgen inc mod 4294967295 >= 6 numgen inc mod 3 == 0 numgen inc "
                                          "mod 4294967295 < 5 counter name \"met0\" ip ecn set ce"));
    expect_rule(SCENARIO(ONE, "{\"flow\":\"f\",\"packet\":\"nak\",\"do\":\"duplicate\",\"every\":1}"),
                BRIDGE_LAB, "c: " B_TO_A ANSWERS "!= 0" COUNTED("counter name \"met0\" dup to \"inject0\""));
    expect_rule(
        SCENARIO(ONE, "{\"flow\":\"f\",\"packet\":\"ack\",\"do\":\"delay\",\"delay\":\"20us\",\"every\":1}"),
        BRIDGE_LAB, "c: " B_TO_A ANSWERS "== 0" COUNTED("counter name \"met0\" fwd to \"inject0\""));
    expect_rule(
        SCENARIO(READ, "{\"flow\":\"f\",\"packet\":\"read-request\",\"do\":\"drop\",\"probability\":0.5}"),
        BRIDGE_LAB,
        "c: " A_TO_B
        "{ 0x0c, 0xac }" COUNTED("numgen random mod 4294967295 < 2147483648 counter name \"met0\" drop"));
    expect_rule(SCENARIO(ONE, "{\"flow\":\"f\",\"packet\":\"cnp\",\"do\":\"drop\",\"probability\":1}"),
                BRIDGE_LAB, "c: " B_TO_A "{ 0x81 }" COUNTED("counter name \"met0\" drop"));
}

static void frames_of_a_bridge_s_link_have_one_address(void **state)
{
    (void)state;
    expect_rule(SCENARIO(ONE OTHER, "{\"link\":[\"a\",\"c\"],\"do\":\"corrupt\",\"every\":1}"), BRIDGE_LAB,
                "c: ip saddr 10.0.0.1 udp dport 4791 @th,64,8 " DATA COUNTED(
                    "counter name \"met0\" @th,128,8 set @th,128,8 ^ 0x01"));
    expect_rule(SCENARIO(ONE OTHER, "{\"link\":[\"c\",\"b\"],\"do\":\"drop\",\"every\":1}"), BRIDGE_LAB,
                "c: ip daddr 10.0.0.2 udp dport 4791 @th,64,8 " DATA COUNTED("counter name \"met0\" drop"));
}

static void soft_roce_has_faults_where_frames_arrive(void **state)
{
    (void)state;
    expect_rule(SCENARIO(ONE, "{\"flow\":\"f\",\"do\":\"drop\",\"every\":1}"), BRIDGED(LINK("a", "b")),
                "b: " A_TO_B DATA COUNTED("counter name \"met0\" drop"));
    expect_rule(SCENARIO(ONE, "{\"flow\":\"f\",\"packet\":\"cnp\",\"do\":\"drop\",\"every\":1}"),
                BRIDGED(LINK("a", "b")), "a: " B_TO_A "{ 0x81 }" COUNTED("counter name \"met0\" drop"));
}

/* ---- flows that are not told apart */

#define SOFT_LAB                                                                               \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"libvirt\",\"hosts\":{" SOFT("a", "1") "," SOFT( \
        "b", "2") "," SOFT("c", "3") "},\"links\":[" LINK("a", "b") "," LINK("a", "c") "]}"
#define DROP "{\"flow\":\"f\",\"do\":\"drop\",\"every\":1}"

static void expect_refused(const char *scenario, const char *lab, const char *why)
{
    struct plan plan;
    struct fault fault;
    struct error e = {""};
    plan_of(scenario, lab, &plan);
    assert_int_equal(fault_make(&plan.first.scenario, &plan.first.lab, 0, &fault, &e), -1);
    if (!strstr(e.text, why))
        fail_msg("%s: expected %s", e.text, why);
    plan_free(&plan);
}

/* A NIC has its faults in all that it sends; a packet filter knows both hosts, but not the flow. */
static void a_filter_alone_knows_the_destination(void **state)
{
    (void)state;
    const char *elsewhere = SCENARIO(ONE "," FLOW("g", "a", "c", ""), DROP),
               *same = SCENARIO(ONE "," FLOW("g", "a", "b", ""), DROP),
               *back = SCENARIO(ONE "," FLOW("g", "b", "a", ",\"op\":\"read\""), DROP);
    expect_refused(elsewhere, LAB,
                   "a NIC does not tell flows apart, and a sends such packets of flow \"g\" too");
    expect_refused(same, LAB, "a NIC does not tell flows apart, and a sends such packets of flow \"g\" too");
    expect_rule(elsewhere, SOFT_LAB, "b: " A_TO_B DATA COUNTED("counter name \"met0\" drop"));
    expect_refused(same, SOFT_LAB, "and a sends such packets of flow \"g\" to b too");
    expect_refused(back, SOFT_LAB, "and a sends such packets of flow \"g\" to b too"); /* answers to reads */
    expect_rule(SCENARIO(ONE OTHER, DROP), SOFT_LAB, "b: " A_TO_B DATA COUNTED("counter name \"met0\" drop"));
}

/* Of one machine, whose packet filter has one table. */
static void two_nics_of_a_machine_have_none_by_its_filter(void **state)
{
    static const char nics[] =
        "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"
        "\"a\":{\"ssh\":\"a\",\"nics\":{\"rail[0-1]\":{\"rdma\":\"rxe{}\",\"netdev\":\"d{}\",\"address\":"
        "\"10.0.{}.1/24\"}}},"
        "\"b\":{\"ssh\":\"b\",\"nics\":{\"rail[0-1]\":{\"rdma\":\"rxe{}\",\"netdev\":\"d{}\",\"address\":"
        "\"10.0.{}.2/24\"}}}},\"links\":[{\"between\":[\"a.rail[0-1]\",\"b.rail[0-1]\"]}]}";
    static const char *const injects[] = {
        "{\"flow\":\"f\",\"do\":\"drop\"},{\"flow\":\"g\",\"do\":\"drop\"}",
        "{\"flow\":\"f\",\"do\":\"drop\"},{\"flow\":\"h\",\"do\":\"drop\"}"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char scenario[1000];
        struct plan plan;
        struct error e = {""};
        snprintf(
            scenario, sizeof scenario,
            "{\"schema\":1,\"name\":\"t\",\"roles\":[\"a\",\"b\"],\"phases\":{\"measure\":\"5ms\"},\"flows\":"
            "["
            "{\"name\":\"f\",\"from\":\"a.rail0\",\"to\":\"b.rail0\"},{\"name\":\"g\",\"from\":\"a.rail1\","
            "\"to\":\"b.rail1\"},{\"name\":\"h\",\"from\":\"b.rail1\",\"to\":\"a.rail1\"}],\"inject\":[%s]}",
            injects[i]);
        plan_of(scenario, nics, &plan);
        int result = host_faults_check(&plan.first.scenario, &plan.first.lab, &e);
        if (result != (i == 0 ? -1 : 0))
            fail_msg("%s", e.text);
        if (i == 0)
            assert_string_equal(e.text,
                                "inject[0] and inject[1]: host b would have them in its packet filter, at "
                                "b.rail0 and b.rail1, and it can at one NIC: leave one out, or take a run "
                                "for each");
        plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_met_where_it_is_sent),
        cmocka_unit_test(answers_are_met_at_the_other_end),
        cmocka_unit_test(frames_of_a_link_are_those_of_its_first_end),
        cmocka_unit_test(a_bridge_has_faults_of_flows_that_pass_it),
        cmocka_unit_test(frames_of_a_bridge_s_link_have_one_address),
        cmocka_unit_test(soft_roce_has_faults_where_frames_arrive),
        cmocka_unit_test(a_filter_alone_knows_the_destination),
        cmocka_unit_test(two_nics_of_a_machine_have_none_by_its_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
