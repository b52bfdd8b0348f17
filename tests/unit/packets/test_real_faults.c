/* A scenario's faults of single frames as lines for the virtual ConnectX of guests: which NIC, which frames. */
#include "tests/unit/harness/plan_of.h"

#include "harness/plan/real/faults.h"
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

/* "HOST: LINE" of rule 0, which a virtual ConnectX takes as it is. */
static void expect_line(const char *scenario, const char *expected)
{
    struct plan plan;
    struct text line = {0}, said = {0};
    struct error e;
    const struct lab_host *host;
    plan_of(scenario, LAB, &plan);
    if (faults_of_rule(&plan.first.scenario, &plan.first.lab, 0, &host, &line, &e) != 0)
        fail_msg("%s", e.text);
    text_add(&said, "%s: %s", host->name, text_string(&line));
    assert_string_equal(text_string(&said), expected);
    struct vcx_device device = {0};
    struct vcx_sentence error;
    assert_int_equal(vcx_room_faults.start(&device), 0);
    if (!vcx_fault_request(&device, text_string(&line), &error))
        fail_msg("%s: %s", text_string(&line), error.text);
    vcx_room_faults.stop(&device);
    text_free(&line);
    text_free(&said);
    plan_free(&plan);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_met_where_it_is_sent),
        cmocka_unit_test(answers_are_met_at_the_other_end),
        cmocka_unit_test(frames_of_a_link_are_those_of_its_first_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
