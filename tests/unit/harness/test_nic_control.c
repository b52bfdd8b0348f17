/* Is DCQCN in control where a scenario wants it, and has the switch the scenario's PFC? By host-facts'
 * documents. */
#include "tests/unit/harness/examine_cell.h"
#include "tests/unit/harness/plan_of.h"

#include "harness/doctor/hosts/host.h"

#define SCENARIO                                                                                            \
    "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\",\"c\"],\"flows\":[{\"name\":\"f\",\"from\":\"a\"," \
    "\"to\":\"b\"}],"                                                                                       \
    "\"settings\":{%s},\"expect\":[%s]}"
static const char lab_text[] = "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"
                               "\"a\":{\"ssh\":\"a\",\"nic\":{\"address\":\"10.0.0.1/24\"}},"
                               "\"b\":{\"ssh\":\"b\",\"nic\":{\"address\":\"10.0.0.2/24\"}},"
                               "\"c\":{\"ssh\":\"c\",\"nic\":{\"address\":\"10.0.0.3/24\"}}}}";
#define CNPS   "{\"name\":\"x\",\"check\":\"delta(a.rp_cnp_handled) > 0\"}"
#define NO_CNP "{\"name\":\"x\",\"check\":\"delta(a.rp_cnp_handled) == 0\"}"

/* "verdict host|..." of a check. */
static char *found(const char *settings, const char *expect, const char *nics_text, const char *check,
                   char **all)
{
    char text[1024];
    struct plan plan;
    struct text words = {0};
    json_t *nics = json_loads(nics_text, 0, NULL), *entry;
    size_t i;
    snprintf(text, sizeof text, SCENARIO, settings, expect);
    assert_non_null(nics);
    plan_of(text, lab_text, &plan);
    json_t *entries = examine_cell(strcmp(check, "dcqcn") == 0 ? &doctor_dcqcn : &doctor_peer_pfc,
                                   &plan.first, NULL, nics, NULL);
    json_array_foreach(entries, i, entry)
    {
        assert_true(json_string_length(json_object_get(entry, "evidence")) > 0);
        if (strcmp(json_string_value(json_object_get(entry, "check")), check) == 0)
            text_add(&words, "%s %s|", json_string_value(json_object_get(entry, "verdict")),
                     json_string_value(json_object_get(entry, "host")));
    }
    *all = json_dumps(entries, 0);
    json_decref(entries);
    json_decref(nics);
    plan_free(&plan);
    return text_take(&words);
}

static void expect(const char *settings, const char *expectations, const char *nics, const char *check,
                   const char *verdicts, const char *says)
{
    char *all, *is = found(settings, expectations, nics, check, &all);
    if (strcmp(is ? is : "", verdicts) != 0 || !strstr(all, says))
        fail_msg("%s: \"%s\", not \"%s\" with \"%s\": %s", check, is ? is : "", verdicts, says, all);
    free(is);
    free(all);
}

#define CONTROL(role, word)                                                                             \
    "\"" role "\":{\"netdev\":\"eth2\",\"pci\":{\"address\":\"0000:41:00.0\"},\"congestion_control\":{" \
    "\"control\":" word ",\"why\":\"so\"}}"
#define BOTH(word) "{" CONTROL("a", word) "," CONTROL("b", word) "," CONTROL("c", word) "}"

static void who_is_in_control(void **state)
{
    (void)state;
    static const char ecn[] = "\"ecn\":[0]";
    expect(ecn, "", BOTH("\"dcqcn\""), "dcqcn", "ok a|ok b|", "DCQCN is in control: so");
    expect(ecn, "", BOTH("\"rtt\""), "dcqcn", "failure a|failure b|",
           "mstconfig -d 0000:41:00.0 set ROCE_CC_LEGACY_DCQCN=1");
    expect(ecn, "", BOTH("\"programmable\""), "dcqcn", "failure a|failure b|", "USER_PROGRAMMABLE_CC=0");
    expect(ecn, "", BOTH("\"negotiated\""), "dcqcn", "warning a|warning b|", "whose ends agree on RTTCC");
    expect(ecn, "", BOTH("null"), "dcqcn", "unknown a|unknown b|", "mstconfig -d 0000:41:00.0 -e query");
    expect(ecn, "", "{" CONTROL("a", "\"rtt\"") "}", "dcqcn", "failure a|", "");
    expect(ecn, "", "{\"a\":{\"congestion_control\":null},\"b\":[],\"c\":5}", "dcqcn", "", "");
}

/* A scenario that wants no DCQCN does not mind. */
static void what_wants_dcqcn(void **state)
{
    (void)state;
    static const char rtt[] = BOTH("\"rtt\"");
    expect("", "", rtt, "dcqcn", "", "");
    expect("\"ecn\":[]", NO_CNP, rtt, "dcqcn", "", "");
    expect("", CNPS, rtt, "dcqcn", "failure a|failure b|", "");
    expect("\"ecn_np\":[3]", "", rtt, "dcqcn", "failure a|failure b|", "");
    expect("\"dcqcn\":{\"rp\":{\"rpg_ai_rate\":5}}", "", rtt, "dcqcn", "failure a|failure b|", "");
}

#define HEARD(pfc) \
    "{\"a\":{\"netdev\":\"eth2\",\"lldp\":{\"name\":\"leaf\",\"port\":\"E8\",\"pfc\":" pfc "}}}"

static void what_the_switch_has(void **state)
{
    (void)state;
    expect("\"pfc\":[3]", "", HEARD("[3]"), "peer-pfc", "ok a|",
           "the other end of the cable (leaf E8) has [3]");
    expect("\"pfc\":[0]", "", HEARD("[3]"), "peer-pfc", "warning a|", "would ignore the other's pauses");
    expect("", "", HEARD("[3]"), "peer-pfc", "", "");
    expect("\"pfc\":[0]", "", HEARD("null"), "peer-pfc", "", "");
    expect("\"pfc\":[0]", "", "{\"a\":{\"lldp\":null,\"dcbx\":{\"peer\":{\"pfc\":[0]}}}}", "peer-pfc",
           "ok a|", "cable has [0]");
}

static void the_nic_of_an_interface(void **state)
{
    (void)state;
    json_t *nics = json_pack("[s,{s:i},{s:s,s:i}]", "x", "netdev", 5, "netdev", "eth2", "n", 1);
    assert_true(doctor_nic_of(nics, "eth2") == json_array_get(nics, 2));
    assert_null(doctor_nic_of(nics, "eth3"));
    assert_null(doctor_nic_of(nics, NULL));
    assert_null(doctor_nic_of(NULL, "eth2"));
    json_decref(nics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_in_control),
        cmocka_unit_test(what_wants_dcqcn),
        cmocka_unit_test(what_the_switch_has),
        cmocka_unit_test(the_nic_of_an_interface),
    };
    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
