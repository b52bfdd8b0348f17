/* Burn-in: `*` in scenarios, and who is to blame for what was seen. */
#include "tests/unit/unit.h"

#include "harness/burn_in/ask.h"
#include "harness/burn_in/findings.h"
#include "harness/burn_in/seen.h"
#include "harness/plan/all_hosts.h"
#include "lib/error.h"
#include "tests/unit/harness/plan_of.h"
#include <string.h>

/* ---- all hosts */

static const char star[] = "{\"schema\": 1, \"name\": \"s\", \"driver\": \"sim\", \"topology\": {\"kind\": "
                           "\"star\", \"hosts\": 3}, \"defaults\": {\"link\": {\"rate\": \"10Gb/s\"}}}";

static void writes_out_all_hosts(void **state)
{
    (void)state;
    struct plan plan;
    plan_of(
        "{\"schema\": 1, \"name\": \"x\", \"roles\": [\"*\"], \"traffic\": [{\"name\": \"t\", \"pattern\": "
        "\"incast\", \"from\": [\"*.*\"], \"to\": [\"*1.*\"]}]}",
        star, &plan);
    char *roles = json_dumps(json_object_get(plan.first.scenario_json, "roles"), JSON_COMPACT),
         *from = json_dumps(
             json_object_get(json_array_get(json_object_get(plan.first.scenario_json, "traffic"), 0), "from"),
             JSON_COMPACT);
    assert_string_equal(roles, "[\"h0\",\"h1\",\"h2\",\"s0\"]");
    assert_string_equal(from, "[\"h0\",\"h2\"]"); /* not its receiver */
    free(roles);
    free(from);
    plan_free(&plan);
}

/* Guests that are switches have a role, and send nothing. */
static void writes_out_guests_that_are_switches(void **state)
{
    (void)state;
    static const char lab[] =
        "{\"schema\": 1, \"name\": \"g\", \"driver\": \"libvirt\", \"uri\": \"test:///default\", "
        "\"management\": {\"network\": \"default\"}, \"defaults\": {\"host\": {\"profile\": "
        "\"debian-12-softroce\"}}, \"hosts\": {\"a\": {\"domain\": \"a\", \"nic\": {\"netdev\": \"roce0\"}}, "
        "\"s\": {\"domain\": \"s\", \"nic\": {\"netdev\": \"data0\"}, \"switch\": {\"buffer\": \"1MiB\", "
        "\"xoff\": \"48KiB\", \"headroom\": \"64KiB\"}}, \"b\": {\"domain\": \"b\", \"nic\": {\"netdev\": "
        "\"roce0\"}}}, \"links\": "
        "[{\"between\": [\"a\", \"s\"]}, {\"between\": [\"b\", \"s\"]}]}";
    struct plan plan;
    plan_of(
        "{\"schema\": 1, \"name\": \"x\", \"roles\": [\"*\"], \"traffic\": [{\"name\": \"t\", \"pattern\": "
        "\"permutation\", \"from\": [\"*.*\"], \"shift\": 1}]}",
        lab, &plan);
    json_t *traffic = json_array_get(json_object_get(plan.first.scenario_json, "traffic"), 0), *seen;
    char *roles = json_dumps(json_object_get(plan.first.scenario_json, "roles"), JSON_COMPACT),
         *from = json_dumps(json_object_get(traffic, "from"), JSON_COMPACT);
    assert_string_equal(roles, "[\"a\",\"b\",\"s\"]");
    assert_string_equal(from, "[\"a\",\"b\"]");
    seen = burn_in_seen(&plan.first.lab);
    assert_int_equal(json_object_size(json_object_get(seen, "nodes")), 2);
    assert_string_equal(json_string_value(json_array_get(json_object_get(seen, "switches"), 0)), "s");
    json_decref(seen);
    free(roles);
    free(from);
    plan_free(&plan);
}

/* `*` is replaced by names only where the lab can be read: the error is the one of the lab. */
static void says_what_is_wrong_with_the_lab(void **state)
{
    (void)state;
    char scenario[40], lab[40];
    struct plan plan;
    struct error e = {{0}};
    plan_of_write(scenario,
                  "{\"schema\": 1, \"name\": \"x\", \"roles\": [\"*\"], \"traffic\": [{\"name\": \"t\", "
                  "\"pattern\": \"permutation\", \"from\": [\"*\"], \"shift\": 1}]}");
    plan_of_write(lab, "{\"schema\": 1, \"name\": \"l\", \"driver\": \"ssh\", \"hosts\": {\"a\": {}}}");
    const struct plan_request request = {.scenario = scenario, .lab = lab, .duration_ns = FIELD_UNSET};
    assert_int_equal(plan_load(&request, &plan, &e), -1);
    unlink(scenario);
    unlink(lab);
    if (!strstr(e.text, "hosts.a.ssh is missing"))
        fail_msg("%s", e.text);
}

static void refuses_a_host_that_is_not_there(void **state)
{
    (void)state;
    static const struct {
        const char *word, *why;
    } wrong[] = {{"*3", "traffic[0].to[0]: \"*3\": lab s has 3 hosts that can send"},
                 {"*x", "expected * for all hosts of the lab"}};
    json_t *document = json_loads(star, 0, NULL);
    struct lab lab;
    struct error e;
    json_t *expanded = lab_expand(document, &e);
    assert_int_equal(lab_parse(expanded, NULL, &lab, &e), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *scenario = json_pack("{s:[{s:[s],s:[s]}]}", "traffic", "from", "*", "to", wrong[i].word);
        assert_true(all_hosts_named(scenario));
        assert_int_equal(all_hosts_bind(scenario, &lab, &e), -1);
        if (!strstr(e.text, wrong[i].why))
            fail_msg("%s", e.text);
        json_decref(scenario);
    }
    lab_free(&lab);
    json_decref(expanded);
    json_decref(document);
}

/* ---- findings */

/* Four NICs at s0, of which `slow` sends and takes 50 Gb/s in rounds of 100. */
static json_t *rounds(const char *slow, bool pauses, double tx, double rx)
{
    json_t *seen =
        json_pack("{s:{s:{s:s},s:{s:s},s:{s:s},s:{s:s}},s:[],s:[s],s:[]}", "nodes", "h0", "class", "c", "h1",
                  "class", "c", "h2", "class", "c", "h3", "class", "c", "links", "switches", "s0", "runs");
    static const char *const names[] = {"h0", "h1", "h2", "h3"};
    for (size_t i = 0; i < 4; i++)
        json_array_append_new(json_object_get(seen, "links"),
                              json_pack("{s:s,s:s}", "a", names[i], "b", "s0"));
    for (size_t shift = 1; shift < 4; shift++) {
        json_t *flows = json_array();
        for (size_t i = 0; i < 4; i++) {
            const char *from = names[i], *to = names[(i + shift) % 4];
            double bps = strcmp(from, slow) == 0 ? tx : strcmp(to, slow) == 0 ? rx : 100e9;
            json_array_append_new(
                flows, json_pack("{s:s,s:s,s:s,s:f}", "from", from, "to", to, "memory", "host", "bps", bps));
        }
        json_array_append_new(json_object_get(seen, "runs"),
                              json_pack("{s:s,s:s,s:o,s:{s:{s:i}},s:I}", "stage", "pairs", "folder", "x",
                                        "flows", flows, "counters", slow, "tx_prio3_pause", pauses ? 9 : 0,
                                        "duration_ns", (json_int_t)1000000));
    }
    return seen;
}

/* The findings as "KIND CULPRIT, ...". */
static void check_found(json_t *seen, const char *wanted)
{
    json_t *all = burn_in_findings(seen), *finding;
    char found[400] = "";
    size_t i;
    json_array_foreach(json_object_get(all, "findings"), i, finding)
    {
        size_t length = strlen(found);
        snprintf(found + length, sizeof found - length, "%s%s %s", i ? ", " : "",
                 json_string_value(json_object_get(finding, "kind")),
                 json_string_value(json_object_get(finding, "culprit")));
    }
    assert_string_equal(found, wanted);
    json_decref(all);
    json_decref(seen);
}

static void names_what_is_slow(void **state)
{
    (void)state;
    check_found(rounds("none", false, 0, 0), "");
    check_found(rounds("h2", false, 50e9, 50e9), "link-slow h2 - s0");
    check_found(rounds("h2", true, 50e9, 52e9), "nic-slow h2");
    check_found(rounds("h2", true, 99e9, 52e9), "slow-receiver h2");
    check_found(rounds("h2", true, 75e9, 52e9), "slow-receiver h2");
    check_found(rounds("h2", false, 50e9, 100e9), "nic-slow h2");
    check_found(rounds("h2", false, 95e9, 95e9), ""); /* within what is usual */
}

/* A sender that does not stop is sent a pause when its switch's queue first grows, perhaps before anything is
 * measured. */
static void names_who_is_not_stopped(void **state)
{
    (void)state;
    json_t *seen = rounds("none", false, 0, 0), *flows = json_array();
    for (int i = 1; i < 4; i++)
        json_array_append_new(flows, json_pack("{s:o,s:s,s:s,s:f}", "from", json_sprintf("h%d", i), "to",
                                               "h0", "memory", "host", "bps", 33e9));
    json_array_append_new(json_object_get(seen, "runs"),
                          json_pack("{s:s,s:s,s:o,s:{s:{s:i},s:{s:i},s:{s:i},s:{s:i}},s:{s:{s:i}},s:I}",
                                    "stage", "lossless", "folder", "x", "flows", flows, "counters", "h1",
                                    "tx_prio3_pause", 0, "h2", "rx_prio3_pause", 5, "h3", "rx_prio3_pause", 6,
                                    "s0", "port1_tx_prio3_pause", 0, "totals", "s0", "port1_tx_prio3_pause",
                                    1, "duration_ns", (json_int_t)1000000));
    check_found(seen, "pfc-off h1");
}

/* A NIC that shares its slow rounds with others, but has one in which it is not slow, is not to blame. */
static void does_not_accuse_who_is_slow_in_some_rounds(void **state)
{
    (void)state;
    json_t *seen = rounds("h1", false, 40e9, 40e9);
    json_t *flow = json_array_get(json_object_get(json_array_get(json_object_get(seen, "runs"), 0), "flows"),
                                  1); /* h1 to h2 */
    json_object_set_new(flow, "bps", json_real(100e9));
    flow = json_array_get(json_object_get(json_array_get(json_object_get(seen, "runs"), 0), "flows"), 0);
    json_object_set_new(flow, "bps", json_real(100e9));
    check_found(seen, "");
}

/* A NIC whose partners are all slow is not to blame for that. */
static void does_not_accuse_who_had_slow_partners_alone(void **state)
{
    (void)state;
    json_t *seen = rounds("h1", false, 50e9, 50e9), *run, *flow;
    size_t i, k;
    json_array_remove(json_object_get(seen, "runs"), 1); /* neighbours alone: h2 with h1 and h3 */
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            if (strcmp(json_string_value(json_object_get(flow, "from")), "h3") == 0 ||
                strcmp(json_string_value(json_object_get(flow, "to")), "h3") == 0)
                json_object_set_new(flow, "bps", json_real(50e9));
        }
    }
    json_t *all = burn_in_findings(seen), *finding;
    json_array_foreach(json_object_get(all, "findings"), i, finding)
    {
        const char *host = json_string_value(json_object_get(finding, "host"));
        assert_true(strcmp(host, "h0") != 0 && strcmp(host, "h2") != 0);
    }
    json_decref(all);
    json_decref(seen);
}

/* Frames that came and found no room are the NIC's, not its cable's, where PFC does not stop the senders. */
static void does_not_blame_a_cable_for_discards(void **state)
{
    (void)state;
    json_t *seen = rounds("h2", false, 48e9, 10e9), *run;
    size_t i;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_object_set_new(json_object_get(json_object_get(run, "counters"), "h2"), "rx_discards_phy",
                            json_integer(70));
    }
    run = json_deep_copy(json_array_get(json_object_get(seen, "runs"), 0));
    json_object_set_new(run, "stage", json_string("lossless"));
    json_array_append_new(json_object_get(seen, "runs"), run);
    json_t *all = burn_in_findings(seen);
    assert_string_equal(json_string_value(json_array_get(json_object_get(all, "unknown"), 0)),
                        "PFC and DCQCN of h2 were not judged: mend first what is named there, and run it "
                        "again");
    json_decref(all);
    check_found(seen, "nic-slow h2");
}

/* Errors that were not corrected are findings; others are notes. */
static void tells_of_hardware(void **state)
{
    (void)state;
    json_t *seen = rounds("h2", false, 100e9, 100e9), *run = json_array_get(json_object_get(seen, "runs"), 0);
    json_object_set_new(run, "totals",
                        json_pack("{s:{s:i,s:i,s:i},s:{s:i,s:i}}", "h1", "gpu1_ecc_uncorrected", 2,
                                  "gpu1_ecc_corrected", 0, "gpu0_thermal_slowdown", 70, "h3",
                                  "pcie_aer_correctable", 3, "pcie_aer_fatal", 0));
    json_t *all = burn_in_findings(seen), *notes = json_object_get(all, "notes");
    assert_int_equal(json_array_size(notes), 2);
    assert_string_equal(json_string_value(json_array_get(notes, 0)),
                        "h1 GPU 0 counted gpu0_thermal_slowdown: 70 in all stages");
    assert_string_equal(json_string_value(json_array_get(notes, 1)),
                        "h3 counted pcie_aer_correctable: 3 in all stages");
    json_decref(all);
    check_found(seen, "hardware-errors h1 GPU 1");
}

/* A measure phase of a microsecond tells nothing of rates. */
static void does_not_judge_by_short_runs(void **state)
{
    (void)state;
    json_t *seen = rounds("h2", false, 50e9, 50e9), *run;
    size_t i;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_object_set_new(run, "duration_ns", json_integer(1000));
    }
    json_t *all = burn_in_findings(seen);
    assert_non_null(strstr(json_string_value(json_array_get(json_object_get(all, "unknown"), 0)),
                           "stage pairs measured for 1 us, which is too short"));
    json_decref(all);
    check_found(seen, "");
}

/* ---- two leaves, a spine, and two NICs on each leaf */

static json_t *racks(double stated)
{
    json_t *seen = json_pack("{s:{},s:[],s:[s,s,s],s:[]}", "nodes", "links", "switches", "l0", "l1", "sp",
                             "runs"),
           *links = json_object_get(seen, "links");
    static const char *const names[] = {"h0", "h1", "h2", "h3"};
    for (size_t i = 0; i < 4; i++) {
        json_object_set_new(json_object_get(seen, "nodes"), names[i], json_pack("{s:s}", "class", "c"));
        json_array_append_new(links, json_pack("{s:s,s:s}", "a", names[i], "b", i < 2 ? "l0" : "l1"));
    }
    for (size_t i = 0; i < 2; i++) {
        json_t *link = json_pack("{s:s,s:s}", "a", i ? "l1" : "l0", "b", "sp");
        if (stated > 0)
            json_object_set_new(link, "bps", json_real(stated));
        json_array_append_new(links, link);
    }
    return seen;
}

/* A round of a second, in which the leaves' uplinks carry so much and much waits for them. */
static void add_round(json_t *seen, double l0, double l1)
{
    json_array_append_new(json_object_get(seen, "runs"),
                          json_pack("{s:s,s:s,s:[],s:{s:{s:f,s:f,s:i},s:{s:f,s:f,s:i}},s:I}", "stage",
                                    "pairs", "folder", "x", "flows", "counters", "l0", "port2_tx_bytes",
                                    l0 / 8, "port2_prio3_queue_bytes", 200e3, "port2_rx_prio3_pause", 0, "l1",
                                    "port2_tx_bytes", l1 / 8, "port2_prio3_queue_bytes", 200e3,
                                    "port2_rx_prio3_pause", 0, "duration_ns", (json_int_t)1000000000));
}

static void judges_uplinks_by_what_the_lab_states(void **state)
{
    (void)state;
    static const struct {
        double stated, rounds[2][2]; /* 0: the lab states nothing */
        const char *found;
    } rows[] = {
        {50e9, {{49e9, 49e9}, {49e9, 49e9}}, ""},
        {100e9, {{49e9, 98e9}, {49e9, 98e9}}, "link-slow l0 - sp"},
        {100e9, {{49e9, 49e9}, {49e9, 49e9}}, "link-slow l0 - sp, link-slow l1 - sp"},
        {50e9, {{32e9, 49e9}, {49e9, 49e9}}, ""}, /* it was not full all the time */
        {0, {{49e9, 98e9}, {49e9, 98e9}}, "link-slow l0 - sp"},
        {0, {{32e9, 33e9}, {97e9, 98e9}}, ""}, /* another round is another load */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *seen = racks(rows[i].stated);
        add_round(seen, rows[i].rounds[0][0], rows[i].rounds[0][1]);
        add_round(seen, rows[i].rounds[1][0], rows[i].rounds[1][1]);
        check_found(seen, rows[i].found);
    }
}

/* Two rails with a switch each, four NICs on each: all at full rate alone, then three of each send to the
 * first. Bytes that waited at r1 for its receiver; what it and its receiver did. */
struct rail {
    double queue;
    int marked, cnps, handled; /* 0: none */
    int of_last;               /* the same of the last sender */
};

static json_t *rails(struct rail second)
{
    json_t *seen = json_pack("{s:{},s:[],s:[s,s],s:[]}", "nodes", "links", "switches", "r0", "r1", "runs"),
           *alone = json_array(), *incast = json_array(), *counters = json_object();
    struct rail of[2] = {{120e3, 90, 9, 9, 9}, second};
    for (int r = 0; r < 2; r++) {
        char name[4][40], at[24];
        snprintf(at, sizeof at, "r%d", r);
        for (int i = 0; i < 4; i++) {
            snprintf(name[i], sizeof name[i], "h%d.%d", i, r);
            json_object_set_new(json_object_get(seen, "nodes"), name[i], json_pack("{s:s}", "class", "c"));
            json_array_append_new(json_object_get(seen, "links"),
                                  json_pack("{s:s,s:s}", "a", name[i], "b", at));
            json_object_set_new(counters, name[i],
                                json_pack("{s:i,s:i}", "np_cnp_sent", i ? 0 : of[r].cnps, "rp_cnp_handled",
                                          i == 0   ? 0
                                          : i == 3 ? of[r].of_last
                                                   : of[r].handled));
        }
        for (int i = 0; i < 4; i++) {
            json_array_append_new(alone, json_pack("{s:s,s:s,s:s,s:f}", "from", name[i], "to",
                                                   name[(i + 1) % 4], "memory", "host", "bps", 100e9));
            if (i)
                json_array_append_new(incast, json_pack("{s:s,s:s,s:s,s:f,s:i,s:i}", "from", name[i], "to",
                                                        name[0], "memory", "host", "bps", 33e9, "again", 0,
                                                        "marked", of[r].marked));
        }
        json_object_set_new(counters, at,
                            json_pack("{s:i,s:i,s:f}", "ecn_marked", of[r].marked, "port0_ecn_marked",
                                      of[r].marked, "port0_prio3_queue_bytes", of[r].queue));
    }
    json_array_append_new(json_object_get(seen, "runs"),
                          json_pack("{s:s,s:s,s:o,s:{},s:I}", "stage", "pairs", "folder", "x", "flows", alone,
                                    "counters", "duration_ns", (json_int_t)1000000));
    json_array_append_new(json_object_get(seen, "runs"),
                          json_pack("{s:s,s:s,s:b,s:o,s:o,s:I}", "stage", "lossless", "folder", "x", "ecn", 1,
                                    "flows", incast, "counters", counters, "duration_ns",
                                    (json_int_t)1000000));
    return seen;
}

static void judges_dcqcn_within_an_incast(void **state)
{
    (void)state;
    static const struct {
        struct rail second;
        const char *found, *unknown; /* unknown: the first sentence */
        size_t sentences;
    } rows[] = {
        {{120e3, 90, 9, 9, 9}, "", NULL, 0},
        {{120e3, 90, 9, 9, 0}, "dcqcn-off h3.1", NULL, 0},
        {{120e3, 90, 0, 0, 0},
         "dcqcn-off h0.1",
         "DCQCN was not seen to slow 3 NICs, which obeyed no CNP in incasts: h1.1, h2.1, h3.1",
         1},
        {{120e3, 90, 0, 9, 9}, "", NULL, 0}, /* ACKs return the marks */
        {{500e3, 0, 0, 0, 0}, "ecn-off r1", NULL, 0},
        {{50e3, 0, 0, 0, 0},
         "",
         "nothing was marked on the way to h0.1, the receiver of an incast behind r1: whether r1 marks is "
         "not "
         "known",
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *seen = rails(rows[i].second), *all = burn_in_findings(seen),
               *unknown = json_object_get(all, "unknown");
        assert_int_equal(json_array_size(unknown), rows[i].sentences);
        if (rows[i].unknown)
            assert_string_equal(json_string_value(json_array_get(unknown, 0)), rows[i].unknown);
        json_decref(all);
        check_found(seen, rows[i].found);
    }
}

/* Two hosts alone: which of both is slow is not known, and nobody is named. */
static void does_not_judge_two_by_each_other(void **state)
{
    (void)state;
    json_t *seen = rounds("h1", false, 50e9, 50e9), *nodes = json_object_get(seen, "nodes");
    json_object_del(nodes, "h2");
    json_object_del(nodes, "h3");
    json_t *all = burn_in_findings(seen);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 0);
    assert_int_equal(json_array_size(json_object_get(all, "unknown")), 1);
    json_decref(all);
    /* with a baseline it is */
    json_object_set_new(seen, "baseline", json_pack("{s:{s:{s:f}}}", "figures", "h1", "host_tx_bps", 100e9));
    check_found(seen, "slower h1");
}

static bool is_unknown(const json_t *all, const char *words)
{
    const json_t *line;
    size_t i;
    json_array_foreach(json_object_get(all, "unknown"), i, line)
    {
        if (strstr(json_string_value(line), words))
            return true;
    }
    return false;
}

/* Rounds in which the flows that end at one of the names carry 48 Gb/s, on lines of 100. */
static json_t *slow_on_lines(const char *names)
{
    json_t *seen = rounds("none", false, 0, 0), *run, *flow, *link;
    size_t i, k;
    json_array_foreach(json_object_get(seen, "links"), i, link)
    {
        json_object_set_new(link, "bps", json_integer(100000000000));
    }
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            bool slow = strstr(names, json_string_value(json_object_get(flow, "from"))) ||
                        strstr(names, json_string_value(json_object_get(flow, "to")));
            json_object_set_new(flow, "bps", json_real(slow ? 48e9 : 93e9));
        }
    }
    return seen;
}

/* Where the others of a kind are no better their line tells. */
static void judges_by_the_line(void **state)
{
    (void)state;
    json_t *seen = slow_on_lines("h0 h1 h2 h3"), *all = burn_in_findings(seen);
    assert_true(is_unknown(all, "h0 carries 48 of 100 Gb/s of its line, as all 4 of its kind do: h0, h1, h2, "
                                "h3"));
    json_decref(all);
    check_found(seen, "");
    check_found(slow_on_lines("h0 h1"), "link-slow h0 - s0, link-slow h1 - s0");
    seen = slow_on_lines("");
    all = burn_in_findings(seen);
    assert_int_equal(json_array_size(json_object_get(all, "unknown")), 0);
    json_decref(all);
    check_found(seen, "");
}

/* Figures of NICs on one side alone are compared with nothing. */
static void knows_nothing_of_who_is_not_in_the_baseline(void **state)
{
    (void)state;
    json_t *seen = rounds("none", false, 0, 0);
    json_object_set_new(seen, "baseline",
                        json_pack("{s:{s:{s:f,s:f},s:{s:f}}}", "figures", "h1", "host_tx_bps", 100e9,
                                  "host_rx_bps", 100e9, "x", "host_tx_bps", 100e9));
    json_t *all = burn_in_findings(seen);
    assert_true(is_unknown(all, "3 NICs are without the same figures in the baseline: h0, h2, h3"));
    assert_true(is_unknown(all, "the baseline has figures of 1 NIC that has none here: x"));
    json_decref(all);
    json_decref(seen);
}

static void compares_collectives_with_the_baseline(void **state)
{
    (void)state;
    json_t *seen = rounds("none", false, 0, 0);
    json_object_set_new(json_array_get(json_object_get(seen, "runs"), 0), "collectives",
                        json_pack("{s:f,s:f}", "all-reduce, A 1", 90.0, "all-reduce, A 2", 99.0));
    json_object_set_new(
        seen, "baseline",
        json_pack("{s:{s:f,s:f}}", "collectives", "all-reduce, A 1", 100.0, "all-reduce, A 2", 100.0));
    check_found(seen, "slower all-reduce, A 1");
}

static json_t *gpu_at(const char *relation, double gpu)
{
    json_t *seen = rounds("none", false, 0, 0), *run, *flow, *copy;
    size_t i, k;
    json_t *more = json_array();
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        copy = json_deep_copy(run);
        json_object_set_new(copy, "stage", json_string("gpus"));
        json_array_foreach(json_object_get(copy, "flows"), k, flow)
        {
            const char *from = json_string_value(json_object_get(flow, "from")),
                       *to = json_string_value(json_object_get(flow, "to"));
            bool is = strcmp(from, "h3") == 0 || strcmp(to, "h3") == 0;
            json_object_set_new(flow, "memory", json_string("gpu"));
            json_object_set_new(flow, "bps", json_real(is ? gpu : 97e9));
        }
        json_array_append_new(more, copy);
    }
    json_array_extend(json_object_get(seen, "runs"), more);
    json_decref(more);
    if (relation)
        json_object_set_new(json_object_get(json_object_get(seen, "nodes"), "h3"), "relation",
                            json_string(relation));
    return seen;
}

/* By the relation of both on PCIe; without one, by the others. */
static void judges_gpus_by_their_relation(void **state)
{
    (void)state;
    check_found(gpu_at("PIX", 96e9), "");
    check_found(gpu_at("PIX", 90e9), "gpu-route h3");
    check_found(gpu_at("PHB", 90e9), "");
    check_found(gpu_at("SYS", 40e9), "");
    check_found(gpu_at("SYS", 20e9), "gpu-route h3");
    check_found(gpu_at(NULL, 80e9), "gpu-route h3");
}

/* Each GPU by its number: of h3 the second one is slow, at both ends of its flows. */
static void judges_pairs_of_nics_and_gpus(void **state)
{
    (void)state;
    json_t *seen = gpu_at(NULL, 97e9), *run, *flow, *more = json_array();
    size_t i, k;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        bool gpus = strcmp(json_string_value(json_object_get(run, "stage")), "gpus") == 0;
        for (int gpu = 0; gpus && gpu < 2; gpu++) {
            json_t *copy = json_deep_copy(run);
            json_array_foreach(json_object_get(copy, "flows"), k, flow)
            {
                bool is = strcmp(json_string_value(json_object_get(flow, "from")), "h3") == 0 ||
                          strcmp(json_string_value(json_object_get(flow, "to")), "h3") == 0;
                json_object_set_new(flow, "gpu", json_integer(gpu));
                json_object_set_new(flow, "bps", json_real(gpu && is ? 40e9 : 97e9));
            }
            json_array_append_new(more, copy);
        }
    }
    json_array_extend(json_object_get(seen, "runs"), more);
    json_decref(more);
    json_t *all = burn_in_findings(seen), *finding = json_array_get(json_object_get(all, "findings"), 0);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 1);
    assert_non_null(strstr(json_string_value(json_object_get(finding, "says")),
                           "memory of GPU 1 at h3 carries 40 Gb/s out and 40 in"));
    assert_int_equal(json_object_size(json_object_get(json_object_get(all, "gpus"), "h3")), 2);
    json_decref(all);
    /* across sockets that is usual */
    json_object_set_new(json_object_get(json_object_get(seen, "nodes"), "h3"), "relations",
                        json_pack("{s:s,s:s}", "0", "PIX", "1", "SYS"));
    check_found(seen, "");
}

static json_t *light(const char *lossy)
{
    json_t *seen = rounds("none", false, 0, 0), *run, *flow;
    size_t i, k;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_object_set_new(run, "light", json_true());
        json_object_set_new(run, "stage", json_string("nics"));
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            bool is = strcmp(json_string_value(json_object_get(flow, "from")), lossy) == 0 ||
                      strcmp(json_string_value(json_object_get(flow, "to")), lossy) == 0;
            json_object_set_new(flow, "again", json_integer(is ? 7 : 0));
        }
    }
    return seen;
}

static void names_the_link_that_loses(void **state)
{
    (void)state;
    check_found(light("none"), "");
    check_found(light("h0"), "link-errors h0 - s0");
    /* one end counts what the other does not: it may have been read earlier where both are real, unless flows
     * lost something, too */
    json_t *seen;
    static const struct {
        bool simulated, lossy;
        const char *found;
    } ends[] = {
        {true, false, "link-errors h1 - s0"}, {false, false, ""}, {false, true, "link-errors h1 - s0"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        seen = light("none");
        json_t *run = json_array_get(json_object_get(seen, "runs"), 0);
        json_object_set_new(seen, "simulated", json_boolean(ends[i].simulated));
        json_object_set_new(run, "totals",
                            json_pack("{s:{s:i,s:i},s:{s:i,s:i}}", "h1", "tx_prio3_bytes", 5000,
                                      "rx_prio3_bytes", 90, "s0", "port1_rx_bytes", 4000, "port1_tx_bytes",
                                      90));
        if (ends[i].lossy) /* from h1 */
            json_object_set_new(json_array_get(json_object_get(run, "flows"), 1), "again", json_integer(2));
        check_found(seen, ends[i].found);
    }
    /* events of the port and its module, in any stage */
    seen = rounds("none", false, 0, 0);
    json_object_set_new(json_array_get(json_object_get(seen, "runs"), 2), "totals",
                        json_pack("{s:{s:i,s:i}}", "h3", "module_high_temp", 2, "link_carrier_changes", 0));
    check_found(seen, "link-errors h3 - s0");
}

/* Nothing waits, and flows do not count what they sent again. */
static json_t *light_untold(void)
{
    json_t *seen = light("none"), *run, *flow;
    size_t i, k;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            json_object_del(flow, "again");
        }
    }
    return seen;
}

/* Two real NICs that a cable joins: what has another priority than flows may pass before one of them is read.
 */
static void does_not_name_a_link_by_what_others_sent(void **state)
{
    (void)state;
    for (int received = 4000; received <= 5000; received += 1000) {
        json_t *seen = light_untold(), *run = json_array_get(json_object_get(seen, "runs"), 0);
        json_object_set_new(seen, "links", json_pack("[{s:s,s:s}]", "a", "h0", "b", "h1"));
        json_object_set_new(run, "priorities", json_pack("[i]", 3));
        json_object_set_new(run, "totals",
                            json_pack("{s:{s:i,s:i},s:{s:i,s:i}}", "h0", "tx_prio0_bytes", 1452,
                                      "tx_prio3_bytes", 5000, "h1", "rx_prio0_bytes", 1276, "rx_prio3_bytes",
                                      received));
        check_found(seen, received == 5000 ? "" : "link-errors h0 - h1");
    }
}

/* Where no counter tells of losses there may have been some. */
static void does_not_call_good_what_was_not_seen(void **state)
{
    (void)state;
    json_t *seen = light_untold();
    json_object_set_new(
        json_array_get(json_object_get(seen, "runs"), 1), "totals",
        json_pack("{s:{s:i},s:{s:i}}", "h1", "out_of_sequence", 0, "h2", "rx_crc_errors_phy", 0));
    json_t *all = burn_in_findings(seen);
    assert_true(is_unknown(all, "no counter of 2 NICs tells of frames that were damaged or lost: h0, h3"));
    json_decref(all);
    json_decref(seen);
    seen = light("none");
    all = burn_in_findings(seen);
    assert_int_equal(json_array_size(json_object_get(all, "unknown")), 0);
    json_decref(all);
    json_decref(seen);
}

/* Half of a NIC's flows are not all of them: a link between switches makes as many lossy. */
static void does_not_name_a_link_by_half_of_its_flows(void **state)
{
    (void)state;
    static const char *const lossy[][2] = {{"h0", "h1"}, {"h1", "h0"}, {"h0", "h2"}};
    json_t *seen = light("none"), *run, *flow;
    size_t i, k;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_array_foreach(json_object_get(run, "flows"), k, flow)
        {
            for (size_t at = 0; at < 3; at++)
                if (strcmp(json_string_value(json_object_get(flow, "from")), lossy[at][0]) == 0 &&
                    strcmp(json_string_value(json_object_get(flow, "to")), lossy[at][1]) == 0)
                    json_object_set_new(flow, "again", json_integer(3));
        }
    }
    check_found(seen, "loss between hosts");
}

/* Both ends of h0's link counted the same: its flows lost what another link lost. */
static void does_not_name_a_link_that_lost_nothing(void **state)
{
    (void)state;
    json_t *seen = light("h0"), *run;
    size_t i;
    json_array_foreach(json_object_get(seen, "runs"), i, run)
    {
        json_object_set_new(run, "totals",
                            json_pack("{s:{s:i,s:i},s:{s:i,s:i},s:{s:i,s:i,s:i,s:i}}", "h0", "tx_prio3_bytes",
                                      5000, "rx_prio3_bytes", 90, "h1", "tx_prio3_bytes", 400,
                                      "rx_prio3_bytes", 50, "s0", "port0_rx_bytes", 5000, "port0_tx_bytes",
                                      90, "port1_rx_bytes", 400, "port1_tx_bytes", i ? 50 : 70));
    }
    check_found(seen, "link-errors h1 - s0");
}

/* Versions: who differs from most; two of four are nobody. */
static void names_who_drifted(void **state)
{
    (void)state;
    json_t *seen = rounds("none", false, 0, 0);
    json_object_set_new(seen, "facts",
                        json_pack("{s:{s:s},s:{s:s},s:{s:s},s:{s:s}}", "h0", "firmware", "1", "h1",
                                  "firmware", "1", "h2", "firmware", "2", "h3", "firmware", "1"));
    json_t *apart = json_deep_copy(seen);
    json_object_set_new(json_object_get(json_object_get(apart, "facts"), "h0"), "firmware", json_string("2"));
    check_found(seen, "drift h2");
    json_t *all = burn_in_findings(apart);
    assert_non_null(strstr(json_string_value(json_array_get(json_object_get(all, "unknown"), 0)),
                           "hosts differ in firmware: h0 has 2, h1 has 1"));
    json_decref(all);
    check_found(apart, "");
}

/* ---- copies by nvbandwidth */

/* What it printed of two H200. */
#define DEVICES                                                                                            \
    "\"GPU Device list\": [\"0: NVIDIA H200 (00000000:00:06): (vm)\", \"1: NVIDIA H200 (00000000:00:07): " \
    "(vm)\"]"
#define ANSWER(tests) "{\"nvbandwidth\": {" DEVICES ", \"version\": \"v0.8\", \"testcases\": [" tests "]}}"
#define TO_DEVICE                                                                                            \
    "{\"name\": \"host_to_device_memcpy_ce\", \"status\": \"Passed\", \"bandwidth_matrix\": [[\"54.5587\", " \
    "\"54.6406\"]]}"
#define BETWEEN                                                                                      \
    "{\"name\": \"device_to_device_memcpy_read_ce\", \"status\": \"Passed\", \"bandwidth_matrix\": " \
    "[[\"N/A\", "                                                                                    \
    "\"383.137\"], [\"383.753\", \"N/A\"]]}"

static void reads_copies(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tests; /* NULL: refused */
        const char *waived_or_why;
    } rows[] = {
        {ANSWER(TO_DEVICE ", " BETWEEN),
         "{\"device_to_device_memcpy_read_ce\":[[null,383.137],[383.753,null]],\"host_to_device_memcpy_ce\":"
         "[[54.5587,54.6406]]}",
         "[]"},
        {ANSWER(TO_DEVICE ", {\"name\": \"device_to_device_memcpy_read_ce\", \"status\": \"Waived\"}"),
         "{\"host_to_device_memcpy_ce\":[[54.5587,54.6406]]}", "[\"device_to_device_memcpy_read_ce\"]"},
        {ANSWER("{\"name\": \"nonsense\", \"status\": \"ERROR\"}"), NULL,
         "the test nonsense has status \"ERROR\""},
        {ANSWER("{\"name\": \"x\", \"status\": \"Passed\"}"), NULL, "and no figures"},
        {"{\"nvbandwidth\": {\"error\": \"[CUDA_ERROR_NO_DEVICE] no CUDA-capable device is detected\"}}",
         NULL, "no CUDA-capable device"},
        {"{}", NULL, "expected \"testcases\""},
        {"Segmentation fault", NULL, "nvbandwidth"},
        {"", NULL, "nvbandwidth"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error e = {{0}};
        json_t *parsed = ask_parse_bandwidth(rows[i].text, strlen(rows[i].text), &e);
        assert_int_equal(parsed != NULL, rows[i].tests != NULL);
        if (!parsed && !strstr(e.text, rows[i].waived_or_why))
            fail_msg("%s", e.text);
        if (!parsed)
            continue;
        char *tests = json_dumps(json_object_get(parsed, "tests"),
                                 JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6)),
             *waived = json_dumps(json_object_get(parsed, "waived"), JSON_COMPACT);
        assert_string_equal(tests, rows[i].tests);
        assert_string_equal(waived, rows[i].waived_or_why);
        free(tests);
        free(waived);
        json_decref(parsed);
    }
}

/* Three machines with two GPUs, of which m1 has this figure at `row`, `column` of a test. */
static json_t *copies(const char *test, size_t row, size_t column, double figure)
{
    json_t *seen = json_pack("{s:{}}", "nvbandwidth");
    static const char *const machines[] = {"m0", "m1", "m2"};
    for (size_t i = 0; i < 3; i++) {
        struct error e;
        json_t *of =
            ask_parse_bandwidth(ANSWER(TO_DEVICE ", " BETWEEN), strlen(ANSWER(TO_DEVICE ", " BETWEEN)), &e);
        assert_non_null(of);
        if (i == 1)
            json_array_set_new(json_array_get(json_object_get(json_object_get(of, "tests"), test), row),
                               column, json_real(figure));
        json_object_set_new(json_object_get(seen, "nvbandwidth"), machines[i], of);
    }
    return seen;
}

static void names_gpus_that_copy_less(void **state)
{
    (void)state;
    check_found(copies("host_to_device_memcpy_ce", 0, 0, 54), "");
    check_found(copies("host_to_device_memcpy_ce", 0, 0, 50), ""); /* within what is usual */
    check_found(copies("host_to_device_memcpy_ce", 0, 1, 27.3), "gpu-slow m1 GPU 1");
    check_found(copies("device_to_device_memcpy_read_ce", 0, 1, 40), "gpu-slow m1 GPU 0 and GPU 1");

    /* alone: by the baseline, or not at all */
    json_t *seen = copies("host_to_device_memcpy_ce", 0, 0, 27),
           *answers = json_object_get(seen, "nvbandwidth");
    json_object_del(answers, "m0");
    json_object_del(answers, "m2");
    json_t *all = burn_in_findings(seen);
    assert_int_equal(json_array_size(json_object_get(all, "findings")), 0);
    assert_int_equal(json_array_size(json_object_get(all, "unknown")), 2); /* tests */
    json_decref(all);
    json_t *before = copies("none", 0, 0, 0);
    json_object_set(seen, "baseline", before);
    json_decref(before);
    check_found(seen, "gpu-slow m1 GPU 0");
}

/* A machine that could not be asked is unknown, not good. */
static void says_who_was_not_asked(void **state)
{
    (void)state;
    json_t *seen = copies("none", 0, 0, 0);
    json_object_set_new(json_object_get(seen, "nvbandwidth"), "m3",
                        json_pack("{s:s}", "why", "nvbandwidth is not on the host"));
    json_t *all = burn_in_findings(seen), *unknown = json_object_get(all, "unknown");
    assert_int_equal(json_array_size(unknown), 1);
    assert_string_equal(json_string_value(json_array_get(unknown, 0)),
                        "copies of m3's GPUs: nvbandwidth is not on the host");
    json_decref(all);
    json_decref(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_out_all_hosts),
        cmocka_unit_test(writes_out_guests_that_are_switches),
        cmocka_unit_test(says_what_is_wrong_with_the_lab),
        cmocka_unit_test(refuses_a_host_that_is_not_there),
        cmocka_unit_test(names_what_is_slow),
        cmocka_unit_test(names_who_is_not_stopped),
        cmocka_unit_test(does_not_accuse_who_is_slow_in_some_rounds),
        cmocka_unit_test(does_not_accuse_who_had_slow_partners_alone),
        cmocka_unit_test(does_not_blame_a_cable_for_discards),
        cmocka_unit_test(does_not_judge_by_short_runs),
        cmocka_unit_test(tells_of_hardware),
        cmocka_unit_test(judges_uplinks_by_what_the_lab_states),
        cmocka_unit_test(judges_dcqcn_within_an_incast),
        cmocka_unit_test(does_not_judge_two_by_each_other),
        cmocka_unit_test(judges_by_the_line),
        cmocka_unit_test(knows_nothing_of_who_is_not_in_the_baseline),
        cmocka_unit_test(compares_collectives_with_the_baseline),
        cmocka_unit_test(judges_gpus_by_their_relation),
        cmocka_unit_test(judges_pairs_of_nics_and_gpus),
        cmocka_unit_test(names_the_link_that_loses),
        cmocka_unit_test(does_not_name_a_link_by_what_others_sent),
        cmocka_unit_test(does_not_call_good_what_was_not_seen),
        cmocka_unit_test(does_not_name_a_link_by_half_of_its_flows),
        cmocka_unit_test(does_not_name_a_link_that_lost_nothing),
        cmocka_unit_test(names_who_drifted),
        cmocka_unit_test(reads_copies),
        cmocka_unit_test(names_gpus_that_copy_less),
        cmocka_unit_test(says_who_was_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
