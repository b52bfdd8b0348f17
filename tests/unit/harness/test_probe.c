/* What a probe's counters say: of classes and of an incast. Results are documents as a run writes them. */
#include "tests/unit/harness/plan_of.h"

#include "harness/doctor/probe/probe.h"
#include "harness/doctor/probe/traffic.h"

#define HOST(n) \
    "\"h" #n "\":{\"ssh\":\"h" #n "\",\"nic\":{\"netdev\":\"eth1\",\"address\":\"10.0.0." #n "/24\"}}"
#define LAB                  "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{" HOST(1) "," HOST(2) "," HOST(3) "}}"
#define FLOW(name, from, to) "{\"name\":\"" name "\",\"from\":\"" from "\",\"to\":\"" to "\",\"priority\":3}"
#define BOTH_WAYS            FLOW("there", "h1", "h2") "," FLOW("back", "h2", "h1")
#define ONE_WAY              FLOW("there", "h1", "h2")
#define CLASS_96             "{\"name\":\"there\",\"from\":\"h1\",\"to\":\"h2\",\"priority\":3,\"traffic_class\":96}"
#define INCAST               FLOW("x", "h1", "h3") "," FLOW("y", "h2", "h3")
#define MOVED                "\"bytes\":1000000,\"messages\":100,\"goodput_bps\":1e10"
#define FLOWS                                                                                        \
    "\"flows\":{\"there\":{" MOVED "},\"back\":{" MOVED "},\"little\":{\"bytes\":100},\"x\":{" MOVED \
    "},\"y\":{" MOVED "},\"most\":{\"bytes\":4611686018427387903,\"messages\":4611686018427387903}}"

/* Every entry as "VERDICT HOST CHECK|", for each of the given checks, in order. */
static char *verdicts(const json_t *entries, const char *check)
{
    struct text out = {0};
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "check"));
        assert_non_null(json_object_get(entry, "evidence"));
        if (strcmp(name, check) == 0)
            text_add(&out, "%s %s|", json_string_value(json_object_get(entry, "verdict")),
                     json_string_value(json_object_get(entry, "host")));
    }
    text_add(&out, "%s", "");
    return text_take(&out);
}

static json_t *judged(const char *flows, const char *counters, const char *settings,
                      const struct doctor_check *check)
{
    struct plan plan;
    struct text scenario = {0}, result = {0};
    text_add(&scenario, "{\"schema\":1,\"name\":\"s\",\"roles\":[\"h1\",\"h2\",\"h3\"],\"flows\":[%s]}",
             flows);
    text_add(&result, "{\"hosts\":{%s}," FLOWS "}", counters);
    plan_of(text_string(&scenario), LAB, &plan);
    json_t *document = json_loads(text_string(&result), 0, NULL), *entries = json_array();
    json_t *in_force = json_loads(settings, 0, NULL);
    assert_non_null(document);
    const struct probed probed = {&plan.first, document, NULL};
    const struct doctor_seen seen = {.in_force = in_force};
    const struct doctor_subject x = {
        .lab = &plan.first.lab, .cell = &plan.first, .seen = &seen, .probed = &probed, .entries = entries};
    check->examine(&x);
    json_decref(document);
    json_decref(in_force);
    plan_free(&plan);
    text_free(&scenario);
    text_free(&result);
    return entries;
}

struct expected {
    const char *flows, *counters, *check, *verdicts, *says;
};

static void expect(const struct expected *x, const char *settings, const struct doctor_check *check)
{
    json_t *entries = judged(x->flows, x->counters, settings, check);
    char *found = verdicts(entries, x->check), *all = json_dumps(entries, 0);
    if (strcmp(found, x->verdicts) != 0 || !strstr(all, x->says))
        fail_msg("%s: \"%s\", expected \"%s\" and \"%s\" in %s", x->check, found, x->verdicts, x->says, all);
    free(found);
    free(all);
    json_decref(entries);
}

#define COUNTED(name, value) "\"" name "\":{\"total\":" value "}"
#define AT(host, ...)        "\"" host "\":{\"counters\":{" __VA_ARGS__ "}}"
#define BYTES(tx0, tx3, rx0, rx3)                                                                         \
    COUNTED("tx_prio0_bytes", #tx0)                                                                       \
    "," COUNTED("tx_prio3_bytes", #tx3) "," COUNTED("rx_prio0_bytes", #rx0) "," COUNTED("rx_prio3_bytes", \
                                                                                        #rx3)
#define ENDLESS BYTES(9223372036854775807, 9223372036854775807, 9223372036854775807, 9223372036854775807)
#define GOOD    BYTES(500, 1100000, 500, 1100000)

static void classes(void **state)
{
    static const struct expected cases[] = {
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", GOOD), "tx-class", "ok h1|ok h2|", "for 1.0 MB of payload"},
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", GOOD), "same-class", "ok h1->h2|", "and on the way back"},
        /* b's settings are another's */
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", BYTES(1100000, 10, 1100000, 10)), "tx-class",
         "ok h1|failure h2|",
         "tx_prio0_bytes by 1.1 MB: the NIC of h2 sends them with the priority of their queue pair"},
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", BYTES(1100000, 10, 1100000, 10)), "tx-class",
         "ok h1|failure h2|", "look for what sends with another service level: queue pairs that the GPU"},
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", BYTES(1100000, 10, 1100000, 10)), "rx-class",
         "ok h1|failure h2|", "rx_prio0_bytes by 1.1 MB: the NIC of h2 receives them with priority 0"},
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", BYTES(1100000, 10, 1100000, 10)), "rx-class",
         "ok h1|failure h2|", "set settings.trust"},
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", BYTES(1100000, 10, 1100000, 10)), "same-class",
         "failure h1->h2|", "on the way back h2 sends with priority 0, and h1 receives with priority 3"},
        /* both ends are wrong alike */
        {BOTH_WAYS, AT("h1", BYTES(1100000, 0, 1100000, 0)) "," AT("h2", BYTES(1100000, 0, 1100000, 0)),
         "same-class", "ok h1->h2|", "priority 0 at both ends"},
        /* a few bytes beside the flows change nothing */
        {BOTH_WAYS, AT("h1", BYTES(900000, 1100000, 900000, 1100000)) "," AT("h2", GOOD), "tx-class",
         "ok h1|ok h2|", ""},
        /* another interface; a function that counts RDMA, and not by priority */
        {BOTH_WAYS, AT("h1", BYTES(900, 0, 900, 0)) "," AT("h2", GOOD), "tx-class", "failure h1|ok h2|",
         "the traffic went over another interface"},
        {BOTH_WAYS,
         AT("h1", BYTES(0, 0, 0, 0) "," COUNTED("tx_vport_rdma_unicast_bytes", "1100000")) "," AT("h2", GOOD),
         "tx-class", "unknown h1|ok h2|", "as a virtual function does not"},
        /* no counters, odd ones */
        {BOTH_WAYS, AT("h1", COUNTED("tx_bytes", "5")) "," AT("h2", GOOD), "tx-class", "unknown h1|ok h2|",
         "there is no tx_prio0_bytes; Soft-RoCE"},
        {BOTH_WAYS, AT("h1", COUNTED("tx_prio3_bytes", "\"1100000\"")) "," AT("h2", GOOD), "tx-class",
         "unknown h1|ok h2|", ""},
        {BOTH_WAYS, "\"h1\":null,\"h2\":[]", "same-class", "", ""},
        /* answers */
        {ONE_WAY, AT("h1", GOOD) "," AT("h2", BYTES(500, 6200, 500, 1100000)), "answers", "ok h2|",
         "its acknowledgements have it too"},
        {ONE_WAY, AT("h1", GOOD) "," AT("h2", BYTES(6200, 0, 500, 1100000)), "answers", "warning h2|",
         "its acknowledgements have priority 0, whose counter rose by 6.2 kB"},
        {ONE_WAY, AT("h1", GOOD) "," AT("h2", BYTES(90, 0, 500, 1100000)), "answers", "unknown h2|",
         "not seen"},
        {BOTH_WAYS, AT("h1", GOOD) "," AT("h2", GOOD), "answers", "", ""},
        /* little data, and none */
        {FLOW("little", "h1", "h2"), AT("h1", GOOD) "," AT("h2", GOOD), "tx-class", "unknown h1|",
         "sent only 100 B"},
        {FLOW("none", "h1", "h2"), AT("h1", GOOD) "," AT("h2", GOOD), "probe", "failure h1->h2|",
         "no data arrived"},
        /* counts that no line carries, of a host that is not to be trusted */
        {FLOW("most", "h1", "h2") "," FLOW("x", "h1", "h2"), AT("h1", ENDLESS) "," AT("h2", ENDLESS),
         "answers", "unknown h2|", "not seen"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i], "{\"h2\":{\"trust\":\"pcp\",\"pfc\":[]}}", &doctor_probe_classes);
}

static void the_fix_fits_what_is_in_force(void **state)
{
    static const char wrong[] = AT("h1", BYTES(1100000, 0, 500, 0));
    const struct expected mapped = {CLASS_96, wrong, "tx-class", "failure h1|",
                                    "map DSCP 24 to priority 3 in settings.dscp_to_prio"};
    const struct expected right = {CLASS_96, wrong, "tx-class", "failure h1|", "which does not explain it"};
    const struct expected unseen = {CLASS_96, wrong, "tx-class", "failure h1|", "shows no trust mode"};
    (void)state;
    expect(&mapped, "{\"h1\":{\"trust\":\"dscp\",\"dscp_to_prio\":{\"24\":0}}}", &doctor_probe_classes);
    expect(&right, "{\"h1\":{\"trust\":\"dscp\",\"dscp_to_prio\":{\"24\":3}}}", &doctor_probe_classes);
    expect(&unseen, "{}", &doctor_probe_classes);
}

#define LOST   COUNTED("out_of_sequence", "70")
#define CLEAN  COUNTED("out_of_sequence", "0")
#define PAUSED COUNTED("tx_prio3_pause", "9")
#define MARKED COUNTED("np_ecn_marked_roce_packets", "12")

static void incast(void **state)
{
    static const struct expected cases[] = {
        {INCAST, AT("h3", CLEAN "," PAUSED), "incast", "ok h3|",
         "paused: tx_prio3_pause of h3 rose by 9; marked: no counter"},
        {INCAST, AT("h3", CLEAN "," MARKED) "," AT("h1", CLEAN), "incast", "ok h3|",
         "marked: np_ecn_marked_roce_packets of h3 rose by 12"},
        {INCAST, AT("h3", LOST), "incast", "warning h3|", "packets are lost although PFC is on"},
        {INCAST, AT("h3", PAUSED), "incast", "unknown h3|", "lost: no counter"},
        {INCAST,
         "\"h3\":{\"address\":\"10.0.0.3\",\"facts\":{\"nics\":[{\"netdev\":\"eth1\",\"speed_Mbps\":100000}]}"
         ",\"counters\":{" LOST "}}",
         "incast", "failure h3|",
         "20 Gb/s arrive on a line of 100 Gb/s; lost: out_of_sequence of h3 rose by 70"},
        {INCAST,
         "\"h3\":{\"address\":\"10.0.0.3\",\"facts\":{\"nics\":[{\"netdev\":\"eth1\",\"speed_Mbps\":25000}]},"
         "\"counters\":{" LOST "}}",
         "incast", "warning h3|", "buffer_bytes and cable"},
        /* nothing was lost of what nobody sent */
        {FLOW("x", "h1", "h3") "," FLOW("silent", "h2", "h3"), AT("h3", CLEAN), "incast", "unknown h3|",
         "data came from fewer than two senders"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i], "{\"h3\":{\"pfc\":[3]}}", &doctor_probe_incast);
    const struct expected bare = {INCAST, AT("h3", LOST), "incast", "warning h3|",
                                  "neither PFC nor ECN is known to be on"};
    expect(&bare, "{\"h3\":{\"pfc\":[0]}}", &doctor_probe_incast);
}

/* ---- what is sent */

static json_t *sent(const char *scenario, const char *lab, bool alone)
{
    struct plan plan;
    struct error e;
    plan_of(scenario, lab, &plan);
    json_t *document = probe_small_traffic(alone ? NULL : &plan.first, &plan.first.lab, &e);
    json_t *flows = json_deep_copy(json_object_get(document, "flows"));
    if (document)
        assert_null(json_object_get(document, "settings"));
    json_decref(document);
    plan_free(&plan);
    return flows;
}

static void flows_are_small_and_differ(void **state)
{
    (void)state;
    json_t *flows = sent(
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"h1\",\"h2\"],\"settings\":{\"trust\":\"dscp\"},\"flows\":"
        "[" ONE_WAY
        "," FLOW("again", "h1", "h2") ",{\"name\":\"z\",\"from\":\"h1\",\"to\":\"h2\",\"priority\":4,"
                                      "\"rate\":\"1Mb/s\",\"message\":\"1MiB\",\"depth\":2}]}",
        LAB, false);
    assert_int_equal(json_array_size(flows), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(flows, 0), "rate")), "100Mb/s");
    assert_string_equal(json_string_value(json_object_get(json_array_get(flows, 1), "rate")), "1Mb/s");
    assert_string_equal(json_string_value(json_object_get(json_array_get(flows, 1), "message")), "64KiB");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(flows, 1), "depth")), 2);
    /* a run's, by the scenario's settings, which are not in the probe's */
    assert_int_equal(json_integer_value(json_object_get(json_array_get(flows, 0), "traffic_class")), 96);
    json_decref(flows);
}

static void hosts_that_are_linked_send_to_each_other(void **state)
{
    static const char scenario[] =
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"h1\",\"h2\"],\"flows\":[" ONE_WAY "]}";
    (void)state;
    json_t *ring = sent(scenario, LAB, true);
    assert_int_equal(json_array_size(ring), 6);
    json_t *pair = sent(scenario,
                        "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{" HOST(1) "," HOST(
                            2) "," HOST(3) "},\"links\":[{\"between\":[\"h1\",\"h3\"]}]}",
                        true);
    assert_int_equal(json_array_size(pair), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(pair, 0), "to")), "h3");
    json_decref(ring);
    json_decref(pair);
}

/* NICs of one machine do not send to each other, and a rail reaches its own kind, whatever the links join. */
static void rails_send_to_rails_of_their_name(void **state)
{
    static const char scenario[] =
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"flows\":[{\"name\":\"x\","
        "\"from\":\"a\",\"to\":\"b\"}]}",
                      rails[] =
                          "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"
                          "\"a\":{\"ssh\":\"a\",\"nics\":{\"rail[0-1]\":{\"address\":\"10.0.{}.1/24\"}}},"
                          "\"b\":{\"ssh\":\"b\",\"nics\":{\"rail[1-2]\":{\"address\":\"10.0.{}.2/24\"}}},"
                          "\"c\":{\"ssh\":\"c\",\"nics\":{\"rail[1-2]\":{\"address\":\"10.0.{}.3/24\"}}}}}";
    struct text pairs = {0};
    json_t *flow, *flows = sent(scenario, rails, true);
    size_t i;
    (void)state;
    json_array_foreach(flows, i, flow)
        text_add(&pairs, "%s-%s ", json_string_value(json_object_get(flow, "from")),
                 json_string_value(json_object_get(flow, "to")));
    assert_string_equal(text_string(&pairs),
                        "a.rail1-b.rail1 b.rail1-a.rail1 b.rail1-c.rail1 c.rail1-b.rail1 b.rail2-c.rail2 "
                        "c.rail1-a.rail1 a.rail1-c.rail1 c.rail2-b.rail2 ");
    text_free(&pairs);
    json_decref(flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(the_fix_fits_what_is_in_force),
        cmocka_unit_test(incast),
        cmocka_unit_test(flows_are_small_and_differ),
        cmocka_unit_test(hosts_that_are_linked_send_to_each_other),
        cmocka_unit_test(rails_send_to_rails_of_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
