/* Checks of both ends of flows: a fact that was not seen makes the checks that need it unknown, never ok. */
#include "tests/unit/harness/examine_cell.h"
#include "tests/unit/harness/plan_of.h"

static const char scenario_text[] =
    "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"phases\":{\"warmup\":\"1s\",\"measure\":\"2s\"},"
    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"priority\":3,\"traffic_class\":104}],"
    "\"expect\":[{\"name\":\"pauses\",\"check\":\"delta(b.tx_prio3_pause) > 0\"},"
    "{\"name\":\"CNPs\",\"check\":\"delta(a.rp_cnp_handled) > 0\"}]}";

static const char lab_text[] = "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"
                               "\"a\":{\"ssh\":\"a\",\"nic\":{\"address\":\"10.0.0.1/"
                               "24\"}},\"b\":{\"ssh\":\"b\",\"nic\":{\"address\":\"10.0.0.2/24\"}}}}";

static const char all_settings[] =
    "{\"mtu\":4200,\"pfc\":[3],\"trust\":\"dscp\",\"dscp_to_prio\":{\"26\":3},\"ecn\":[3],\"ecn_rp\":[3],"
    "\"ecn_np\":[3],\"prio_to_buffer\":{\"3\":1},\"buffer_bytes\":[20000,100000],\"traffic_class\":-1}";

static void load(struct plan *plan)
{
    plan_of(scenario_text, lab_text, plan);
}

static json_t *seen_host(void)
{
    return json_pack("{s:o,s:{},s:{},s:{}}", "settings", json_loads(all_settings, 0, NULL), "places",
                     "missing", "unread");
}

static json_t *seen_all(void)
{
    return json_pack("{s:o,s:o}", "a", seen_host(), "b", seen_host());
}

/* The verdicts of a check, each followed by a space. */
static void verdicts_of(const json_t *entries, const char *check, struct text *out)
{
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "check")), check) != 0)
            continue;
        text_add(out, "%s ", json_string_value(json_object_get(entry, "verdict")));
        assert_true(json_string_length(json_object_get(entry, "evidence")) > 0);
    }
}

static void expect(const struct plan *plan, json_t *seen, const char *check, const char *verdicts)
{
    json_t *entries = examine_cell(strcmp(check, "ect") == 0 ? &doctor_ect : &doctor_both_ends, &plan->first,
                                   seen, NULL, NULL);
    struct text found = {0};
    verdicts_of(entries, check, &found);
    if (strcmp(text_string(&found), verdicts) != 0)
        fail_msg("%s is \"%s\", not \"%s\": %s", check, text_string(&found), verdicts,
                 json_dumps(entries, JSON_INDENT(1)));
    text_free(&found);
    json_decref(entries);
}

/* ---- each check, and the setting that it needs at each end */

static const struct {
    const char *check, *key, *complete, *without;
} needs[] = {
    {"pfc", "pfc", "ok ", "unknown "},
    {"mtu", "mtu", "ok ", "unknown "},
    {"trust", "trust", "ok ", "unknown "},
    {"dscp_to_prio", "dscp_to_prio", "ok ", "unknown "},
    {"ecn", "ecn", "", "unknown "},
    {"buffers", "pfc", "", "unknown "},
    {"buffers", "prio_to_buffer", "", "unknown "},
    {"buffers", "buffer_bytes", "", "unknown "},
};

enum { NEEDS = sizeof needs / sizeof needs[0] };

static void everything_seen(void **state)
{
    (void)state;
    struct plan plan;
    load(&plan);
    json_t *seen = seen_all();
    for (size_t i = 0; i < NEEDS; i++)
        expect(&plan, seen, needs[i].check, needs[i].complete);
    expect(&plan, seen, "ect", "");
    json_object_set_new(json_object_get(json_object_get(seen, "a"), "settings"), "ecn_rp", json_array());
    expect(&plan, seen, "ect", "warning ");
    json_decref(seen);
    plan_free(&plan);
}

/* Lists of a point alone go over the wanted ecn, and what the scenario wants over what was read. */
static void points_of_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *rp_read, *np_read, *verdicts;
    } cases[] = {
        {"{\"ecn_rp\":[3],\"ecn_np\":[3]}", "[]", "[]", ""},
        {"{\"ecn\":[],\"ecn_rp\":[3],\"ecn_np\":[3]}", "[]", "[]", ""},
        {"{\"ecn_rp\":[3]}", "[]", "[]", "failure "},
        {"{\"ecn\":[3],\"ecn_np\":[]}", "[3]", "[3]", "failure "},
        {"{\"ecn\":[3]}", "[]", "[]", ""},
        {"{}", "[3]", "[3]", ""},
        {"{}", "[]", "[3]", "failure "},
        {"{}", "[3]", "[]", "failure "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan plan;
        load(&plan);
        json_object_set_new(plan.first.scenario_json, "settings", json_loads(cases[i].wanted, 0, NULL));
        json_t *seen = seen_all();
        const char *end;
        json_t *host;
        json_object_foreach(seen, end, host)
        {
            json_t *settings = json_object_get(host, "settings");
            json_object_set_new(settings, "ecn", json_array());
            json_object_set_new(settings, "ecn_rp", json_loads(cases[i].rp_read, 0, NULL));
            json_object_set_new(settings, "ecn_np", json_loads(cases[i].np_read, 0, NULL));
        }
        expect(&plan, seen, "ecn", cases[i].verdicts);
        json_decref(seen);
        plan_free(&plan);
    }
}

static void a_key_not_seen(void **state)
{
    (void)state;
    struct plan plan;
    load(&plan);
    for (size_t i = 0; i < NEEDS; i++) {
        for (int unread = 0; unread < 2; unread++) {
            for (int end = 0; end < 2; end++) {
                json_t *seen = seen_all(), *host = json_object_get(seen, end ? "b" : "a");
                json_object_del(json_object_get(host, "settings"), needs[i].key);
                if (unread)
                    json_object_set_new(json_object_get(host, "unread"), needs[i].key,
                                        json_string("not allowed"));
                expect(&plan, seen, needs[i].check, needs[i].without);
                json_decref(seen);
            }
        }
    }
    plan_free(&plan);
}

/* Also where the scenario sets what was not seen: nobody knows whether the host can. */
static void a_host_not_seen(void **state)
{
    (void)state;
    struct plan plan;
    load(&plan);
    json_object_set_new(plan.first.scenario_json, "settings",
                        json_pack("{s:[i],s:i,s:s}", "pfc", 3, "mtu", 4200, "trust", "dscp"));
    json_t *seen = seen_all();
    for (int end = 0; end < 2; end++) {
        json_object_del(seen, end ? "b" : "a");
        for (size_t i = 0; i < 5; i++)
            expect(&plan, seen, needs[i].check, "unknown ");
    }
    expect(&plan, seen, "buffers", "unknown unknown ");
    expect(&plan, NULL, "pfc", "unknown ");
    json_decref(seen);
    plan_free(&plan);
}

/* What a host does not have is no agreement either. */
static void a_setting_that_hosts_lack(void **state)
{
    (void)state;
    static const char *const verdicts[][2] = {
        {"pfc", "warning "}, {"trust", ""}, {"dscp_to_prio", ""}, {"ecn", "warning "}, {"buffers", ""}};
    struct plan plan;
    load(&plan);
    json_t *seen = seen_all();
    for (int end = 0; end < 2; end++) {
        json_t *host = json_object_get(seen, end ? "b" : "a");
        static const char *const keys[] = {"pfc", "trust",          "dscp_to_prio",
                                           "ecn", "prio_to_buffer", "buffer_bytes"};
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            json_object_del(json_object_get(host, "settings"), keys[i]);
            json_object_set_new(json_object_get(host, "missing"), keys[i], json_string("no DCB"));
        }
        if (!end)
            expect(&plan, seen, "trust", "unknown ");
    }
    json_object_set_new(plan.first.scenario_json, "settings",
                        json_pack("{s:[i],s:s,s:[i]}", "pfc", 3, "trust", "dscp", "ecn", 3));
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++)
        expect(&plan, seen, verdicts[i][0], verdicts[i][1]);
    json_decref(seen);
    plan_free(&plan);
}

static void ends_that_differ(void **state)
{
    (void)state;
    struct plan plan;
    load(&plan);
    for (size_t i = 0; i < 4; i++) {
        json_t *seen = seen_all(), *settings = json_object_get(json_object_get(seen, "b"), "settings");
        json_object_set_new(settings, needs[i].key,
                            strcmp(needs[i].key, "mtu") == 0 ? json_integer(1500) : json_array());
        expect(&plan, seen, needs[i].check, "failure ");
        json_decref(seen);
    }
    plan_free(&plan);
}

/* ---- what expectations ask for */

#define TWO_FLOWS                                                                                    \
    "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"flows\":["                               \
    "{\"name\":\"lossless\",\"from\":\"a\",\"to\":\"b\",\"priority\":3},"                            \
    "{\"name\":\"lossy\",\"from\":\"a\",\"to\":\"b\",\"priority\":0}],"                              \
    "\"settings\":{\"trust\":\"dscp\",\"pfc\":%s,\"ecn\":[]},\"sweep\":{\"settings.ecn\":[%s,[7]]}," \
    "\"expect\":[{\"name\":\"x\",\"when\":{%s},"                                                     \
    "\"check\":\"%s\"}]}"

/* On hosts that have what the scenario sets; the flow of priority 3 comes first. */
static void asked(const char *pfc, const char *ecn, const char *when, const char *check_text,
                  const char *pfc_verdicts, const char *ecn_verdicts)
{
    char text[1024];
    struct plan plan;
    snprintf(text, sizeof text, TWO_FLOWS, pfc, ecn, when, check_text);
    plan_of(text, lab_text, &plan);
    json_t *seen = seen_all();
    expect(&plan, seen, "pfc", pfc_verdicts);
    expect(&plan, seen, "ecn", ecn_verdicts);
    json_decref(seen);
    plan_free(&plan);
}

static void what_expectations_ask_for(void **state)
{
    (void)state;
    /* that nobody pauses, or notifies */
    asked("[3]", "[3]", "", "delta(*.rx_prio*_pause) == 0", "ok ok ", "");
    asked("[]", "[]", "", "delta(*.rx_prio*_pause) < 5", "ok ok ", "");
    asked("[]", "[]", "", "0 == delta(b.np_cnp_sent)", "ok ok ", "");
    /* a pause of any priority, which one flow can have */
    asked("[3]", "[]", "", "delta(*.rx_prio*_pause) > 0", "ok ok ", "");
    asked("[]", "[]", "", "delta(*.rx_prio*_pause) > 0", "failure failure ", "");
    /* of one priority */
    asked("[3]", "[]", "", "delta(b.tx_prio3_pause) > 0", "ok ok ", "");
    asked("[3]", "[]", "", "delta(b.tx_prio0_pause) > 0", "ok failure ", "");
    asked("[0]", "[]", "", "delta(b.tx_prio3_pause) / sum(flows.*.bytes) > 0", "failure ok ", "");
    /* CNPs */
    asked("[3]", "[3]", "", "delta(a.rp_cnp_handled) > 0", "ok ok ", "");
    asked("[3]", "[]", "", "delta(a.rp_cnp_handled) > 0", "ok ok ", "failure failure ");
    asked("[3]", "[]", "", "delta(a.rp_cnp_handled) != 0", "ok ok ", "failure failure ");
    /* in other cells only */
    asked("[3]", "[]", "\"settings.ecn\":[7]", "delta(a.rp_cnp_handled) > 0", "ok ok ", "");
    asked("[3]", "[]", "\"settings.ecn\":[]", "delta(a.rp_cnp_handled) > 0", "ok ok ", "failure failure ");
}

/* ---- counters */

static void expect_counters(const struct plan *plan, const char *columns_text, const char *verdicts)
{
    json_t *columns = json_loads(columns_text, 0, NULL);
    struct text found = {0};
    assert_non_null(columns);
    json_t *entries = examine_cell(&doctor_counters, &plan->first, NULL, NULL, columns);
    verdicts_of(entries, "counters", &found);
    assert_string_equal(text_string(&found), verdicts);
    text_free(&found);
    json_decref(columns);
    json_decref(entries);
}

static void counters_not_seen(void **state)
{
    (void)state;
    struct plan plan;
    load(&plan);
    expect_counters(&plan, "{\"a\":[\"rp_cnp_handled\"],\"b\":[\"tx_prio3_pause\"]}", "");
    expect_counters(&plan, "{\"a\":[\"rp_cnp_handled\"],\"b\":[]}", "warning ");
    expect_counters(&plan, "{\"a\":[\"rp_cnp_handled\"]}", "unknown ");
    expect_counters(&plan, "{}", "unknown unknown ");
    plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_seen),
        cmocka_unit_test(points_of_their_own),
        cmocka_unit_test(a_key_not_seen),
        cmocka_unit_test(a_host_not_seen),
        cmocka_unit_test(a_setting_that_hosts_lack),
        cmocka_unit_test(ends_that_differ),
        cmocka_unit_test(what_expectations_ask_for),
        cmocka_unit_test(counters_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
