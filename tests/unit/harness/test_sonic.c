/* What is read of a SONiC switch's CONFIG_DB, and what the checks of harness doctor say of it: each in both
 * outcomes. */
#include "tests/unit/harness/plan_of.h"

#include "harness/doctor/switches/switch.h"
#include "harness/labs/hosts/sonic/changes.h"
#include "lib/document/json_text.h"

/* Nothing of it is wrong, in a lab with 100 Gb/s, 5 m and an MTU of 4200. */
static const char good[] =
    "{\"DEVICE_METADATA\":{\"localhost\":{\"hwsku\":\"SKU\",\"platform\":\"x86_64-p\"}},"
    "\"PORT\":{\"Ethernet0\":{\"speed\":\"100000\",\"mtu\":\"9100\",\"admin_status\":\"up\"},"
    "\"Ethernet4\":{\"speed\":\"100000\",\"mtu\":\"9100\",\"admin_status\":\"up\"}},"
    "\"CABLE_LENGTH\":{\"AZURE\":{\"Ethernet0\":\"5m\",\"Ethernet4\":\"5m\"}},"
    "\"PORT_QOS_MAP\":{\"global\":{\"dscp_to_tc_map\":\"AZURE\"},\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"3,"
    "4\","
    "\"tc_to_pg_map\":\"[TC_TO_PRIORITY_GROUP_MAP|AZURE]\",\"tc_to_queue_map\":\"AZURE\"}},"
    "\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"0\":\"0\",\"24\":\"3\",\"25\":\"3\",\"26\":\"3\",\"27\":\"3\",\"28\":"
    "\"3\",\"29\":\"3\","
    "\"30\":\"3\",\"31\":\"3\",\"32\":\"4\",\"33\":\"4\",\"34\":\"4\",\"35\":\"4\",\"36\":\"4\",\"37\":\"4\","
    "\"38\":\"4\","
    "\"39\":\"4\"}},"
    "\"TC_TO_PRIORITY_GROUP_MAP\":{\"AZURE\":{\"0\":\"0\",\"3\":\"3\",\"4\":\"4\"}},"
    "\"TC_TO_QUEUE_MAP\":{\"AZURE\":{\"0\":\"0\",\"3\":\"3\",\"4\":\"4\"}},"
    "\"BUFFER_POOL\":{\"pool\":{\"size\":\"8000000\",\"xoff\":\"0\"}},"
    "\"BUFFER_PROFILE\":{\"lossless\":{\"pool\":\"[BUFFER_POOL|pool]\",\"xon\":\"18432\",\"xoff\":\"65536\","
    "\"size\":\"18432\",\"dynamic_th\":\"0\"},\"lossy\":{\"pool\":\"pool\",\"size\":\"0\",\"dynamic_th\":"
    "\"3\"}},"
    "\"BUFFER_PG\":{\"Ethernet0|0\":{\"profile\":\"lossy\"},\"Ethernet0|3-4\":{\"profile\":\"[BUFFER_PROFILE|"
    "lossless]\"}},"
    "\"QUEUE\":{\"Ethernet0|3\":{\"wred_profile\":\"[WRED_PROFILE|W]\"},\"Ethernet0|4\":{\"wred_profile\":"
    "\"W\"}},"
    "\"WRED_PROFILE\":{\"W\":{\"wred_green_enable\":\"true\",\"ecn\":\"ecn_all\",\"green_min_threshold\":"
    "\"250000\",\"green_max_threshold\":"
    "\"2097152\","
    "\"green_drop_probability\":\"5\"}},"
    "\"PFC_WD\":{\"GLOBAL\":{\"POLL_INTERVAL\":\"200\"},\"Ethernet0\":{\"action\":\"drop\",\"detection_"
    "time\":\"200\","
    "\"restoration_time\":\"400\"}}}";

static const char *const names[] = {"Ethernet0", "Ethernet4"};

/* The good configuration with a merge patch (RFC 7396) over it. */
static json_t *patched(const char *patch)
{
    json_t *json = json_loads(good, 0, NULL), *over = json_loads(patch, 0, NULL);
    assert_non_null(json);
    if (!over)
        fail_msg("not JSON: %s", patch);
    json_t *merged = json_merged(json, over);
    json_decref(json);
    json_decref(over);
    return merged;
}

static void reads_both_forms_of_references(void **state)
{
    struct sonic_config c;
    struct error e;
    json_t *json = patched("{}");
    (void)state;
    assert_int_equal(sonic_config_read(json, names, 2, &c, &e), 0);
    const struct sonic_port *p = sonic_port_named(&c, "Ethernet0"),
                            *other = sonic_port_named(&c, "Ethernet4");
    assert_null(sonic_port_named(&c, "Ethernet8"));
    assert_string_equal(c.hwsku, "SKU");
    assert_int_equal(c.poll_ms, 200);
    assert_int_equal(p->speed_Mbps, 100000);
    assert_int_equal(p->cable_mm, 5000);
    assert_int_equal(p->pfc, 1 << 3 | 1 << 4);
    assert_int_equal(other->pfc, p->pfc);
    assert_int_equal(p->dscp_to_tc[26], 3);
    assert_int_equal(p->dscp_to_tc[63], -1);
    assert_int_equal(p->tc_to_pg[4], 4);
    assert_int_equal(p->tc_to_pg[7], -1);
    assert_string_equal(p->pg[3].profile, "lossless");
    assert_string_equal(p->pg[3].pool, "pool");
    assert_int_equal(p->pg[3].xoff_bytes, 65536);
    assert_int_equal(p->pg[0].xoff_bytes, FIELD_UNSET);
    assert_string_equal(p->pg[1].profile, "");
    assert_int_equal(switch_most_before_xoff(&p->pg[3], 1), 4000000 + 18432);
    assert_string_equal(p->queue[3].profile, "W");
    assert_string_equal(p->queue[4].profile, "W");
    assert_int_equal(p->queue[4].ecn, SONIC_YES);
    assert_int_equal(p->queue[4].enabled, SONIC_YES);
    assert_int_equal(p->queue[4].kmax_bytes, 2097152);
    assert_int_equal(p->watchdog.restoration_ms, 400);
    assert_int_equal(other->watchdog.on, SONIC_NO);
    sonic_config_free(&c);
    json_decref(json);
}

static void thresholds_of_ecn_alone_take_their_place(void **state)
{
    struct sonic_config c;
    struct error e;
    json_t *json = patched(
        "{\"WRED_PROFILE\":{\"W\":{\"ecn_green_min_threshold\":\"1000\",\"ecn_green_max_threshold\":\"2000\","
        "\"ecn_green_mark_probability\":\"7\"}}}");
    (void)state;
    assert_int_equal(sonic_config_read(json, names, 1, &c, &e), 0);
    assert_int_equal(c.ports[0].queue[3].kmin_bytes, 1000);
    assert_int_equal(c.ports[0].queue[3].kmax_bytes, 2000);
    assert_int_equal(c.ports[0].queue[3].pmax_percent, 7);
    sonic_config_free(&c);
    json_decref(json);
}

static void refuses_what_is_not_such_a_file(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "no table PORT"},
        {"{\"PORT\":[]}", "PORT is not an object"},
        {"7", "not an object of tables"},
        {"{\"localhost\":{},\"asic0\":{\"PORT\":{}},\"asic1\":{\"PORT\":{}}}",
         "whose ports may have the same names (asic0, asic1): record each by itself"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sonic_config c;
        struct error e = {{0}};
        json_t *json = json_loads(cases[i][0], JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        if (sonic_config_read(json, names, 2, &c, &e) == 0 || !strstr(e.text, cases[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i][0], e.text, cases[i][1]);
        json_decref(json);
    }
}

static bool is_said(const json_t *unread, const char *wanted)
{
    const json_t *sentence;
    size_t i;
    json_array_foreach(unread, i, sentence)
    {
        if (strchr(json_string_value(sentence), '\n'))
            fail_msg("more than a line: %s", json_string_value(sentence));
        if (strstr(json_string_value(sentence), wanted))
            return true;
    }
    return false;
}

/* A value that is not understood costs that value: all others are as they were. */
static void a_bad_value_costs_that_value(void **state)
{
    static const char *const cases[][2] = {
        {"{\"PORT\":{\"Ethernet4\":7}}", "PORT|Ethernet4 is not an object"},
        {"{\"PORT\":{\"Ethernet4\":{\"speed\":100000}}}", "speed is not a string"},
        {"{\"PORT\":{\"Ethernet4\":{\"speed\":\"fast\"}}}",
         "PORT|Ethernet4: speed is \"fast\": expected a whole number"},
        {"{\"PORT\":{\"Ethernet4\":{\"mtu\":\"99999999999999999999\"}}}", "expected a whole number from 68"},
        {"{\"PORT\":{\"Ethernet4\":{\"mtu\":\"91 00\"}}}", "mtu is \"91 00\""},
        {"{\"PORT\":{\"Ethernet4\":{\"admin_status\":\"on\\n\"}}}",
         "admin_status is \"on\\x0a\": expected up or down"},
        {"{\"CABLE_LENGTH\":{\"AZURE\":{\"Ethernet4\":\"far\"}}}", "CABLE_LENGTH|AZURE: Ethernet4"},
        {"{\"PORT_QOS_MAP\":{\"Ethernet0\":{\"pfc_enable\":\"3,4\"},\"Ethernet0,Ethernet4\":null,"
         "\"Ethernet4\":{\"pfc_enable\":\"3-4\"}}}",
         "expected priorities such as 3,4"},
        {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"64\":\"1\"}}}", "\"64\" is not a number below 64"},
        {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"1\":\"16\"}}}", "expected a whole number from 0 to 15"},
        {"{\"BUFFER_PG\":{\"Ethernet4\":{}}}", "the key \"Ethernet4\" has another form than PORT|3"},
        {"{\"BUFFER_PG\":{\"Ethernet4|x\":{}}}", "does not end with a number or a range"},
        {"{\"BUFFER_PG\":{\"Ethernet4|4-3\":{}}}", "does not end with a number or a range"},
        {"{\"QUEUE\":{\"Ethernet4|0\":{\"wred_profile\":\"X\"}},\"WRED_PROFILE\":{\"X\":{\"ecn\":\"on\"}}}",
         "WRED_PROFILE|X: ecn is \"on\""},
        {"{\"BUFFER_PROFILE\":{\"lossy\":{\"dynamic_th\":\"99\"}}}", "dynamic_th is \"99\""},
        {"{\"BUFFER_PROFILE\":{\"lossy\":{\"pool\":\"[X\"}}}", "expected a name, or [TABLE|NAME]"},
        {"{\"PFC_WD\":{\"Ethernet4\":{\"detection_time\":\"soon\"}}}", "detection_time is \"soon\""},
        {"{\"DEVICE_METADATA\":{\"localhost\":{\"platform\":\"a\\nok  tor  port  all is well\"}}}",
         "platform is \"a\\x0aok  tor  port  all is well\": expected a name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sonic_config c;
        struct error e = {{0}};
        json_t *json = patched(cases[i][0]);
        if (sonic_config_read(json, names, 2, &c, &e) != 0)
            fail_msg("%s: %s", cases[i][0], e.text);
        if (!is_said(c.unread, cases[i][1]) || json_array_size(c.unread) != 1)
            fail_msg("%s: %zu sentences, not one \"%s\"", cases[i][0], json_array_size(c.unread),
                     cases[i][1]);
        const struct sonic_port *p = &c.ports[0];
        assert_string_equal(c.hwsku, "SKU");
        assert_int_equal(p->speed_Mbps, 100000);
        assert_int_equal(p->admin_up, SONIC_YES);
        assert_int_equal(p->pfc, 1 << 3 | 1 << 4);
        assert_int_equal(p->dscp_to_tc[26], 3);
        assert_int_equal(p->pg[3].xoff_bytes, 65536);
        assert_int_equal(p->queue[3].kmin_bytes, 250000);
        assert_int_equal(p->watchdog.detection_ms, 200);
        sonic_config_free(&c);
        json_decref(json);
    }
}

/* Two keys that say different things of a port: orchagent takes the last, which the database does not tell.
 */
static void keys_that_contradict_each_other(void **state)
{
    static const char *const cases[][2] = {
        {"{\"CABLE_LENGTH\":{\"OTHER\":{\"Ethernet4\":\"5m\"}}}", NULL},
        {"{\"CABLE_LENGTH\":{\"OTHER\":{\"Ethernet4\":\"40m\"}}}", "CABLE_LENGTH: two keys have Ethernet4"},
        {"{\"PORT_QOS_MAP\":{\"Ethernet4\":{\"pfc_enable\":\"4\"}}}",
         "PORT_QOS_MAP: two keys name Ethernet4"},
        {"{\"BUFFER_PG\":{\"Ethernet4|3\":{\"profile\":\"lossy\"},\"Ethernet4|3-4\":{\"profile\":"
         "\"lossless\"}}}",
         "BUFFER_PG|Ethernet4|3-4: profile lossless, and another key of the same port and number has lossy"},
        {"{\"QUEUE\":{\"Ethernet4|3\":{\"wred_profile\":\"W\"},\"Ethernet4|3-4\":{\"wred_profile\":\"X\"}},"
         "\"WRED_PROFILE\":{\"X\":{\"ecn\":\"ecn_all\"}}}",
         "QUEUE|Ethernet4|3-4: profile X, and another key of the same port and number has W"},
        {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_to_queue_map\":\"M\"}},"
         "\"MAP_PFC_PRIORITY_TO_QUEUE\":{\"M\":{\"3\":\"5\",\"4\":\"4\",\"6\":\"7\"}}}",
         "MAP_PFC_PRIORITY_TO_QUEUE|M: PFC of priority 3 is that of queue 5"},
    };
    struct sonic_config c[sizeof cases / sizeof *cases];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {{0}};
        json_t *json = patched(cases[i][0]);
        if (sonic_config_read(json, names, 2, &c[i], &e) != 0)
            fail_msg("%s: %s", cases[i][0], e.text);
        if (json_array_size(c[i].unread) != (cases[i][1] != NULL) ||
            (cases[i][1] && !is_said(c[i].unread, cases[i][1])))
            fail_msg("%s: %zu sentences, not \"%s\"", cases[i][0], json_array_size(c[i].unread), cases[i][1]);
        assert_int_equal(c[i].ports[0].cable_mm, 5000);
        assert_int_equal(c[i].ports[0].has_pfc, SONIC_YES);
        json_decref(json);
    }
    assert_int_equal(c[0].ports[1].cable_mm, 5000);
    assert_int_equal(c[1].ports[1].cable_mm, SONIC_UNREAD);
    assert_int_equal(c[2].ports[1].has_pfc, SONIC_UNKNOWN);
    assert_true(sonic_is_unread(c[3].ports[1].pg[3].profile));
    assert_string_equal(c[3].ports[1].pg[4].profile, "lossless");
    assert_true(sonic_is_unread(c[4].ports[1].queue[3].profile));
    assert_string_equal(c[4].ports[1].queue[4].profile, "X");
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        sonic_config_free(&c[i]);
}

/* Dual-ToR configurations have traffic class 8; SONiC's templates have blanks. */
static void reads_all_classes_and_blanks(void **state)
{
    struct sonic_config c;
    struct error e;
    json_t *json = patched("{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"33\":\"8\",\"34 \":\"15  \"}},"
                           "\"TC_TO_PRIORITY_GROUP_MAP\":{\"AZURE\":{\"8\":\"0   \",\"15\":\"7\"}},"
                           "\"TC_TO_QUEUE_MAP\":{\"AZURE\":{\"8\":\"9\"}},"
                           "\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\" 3, 4 \"}},"
                           "\"WRED_PROFILE\":{\"W\":{\"green_min_threshold\":\" 166912\"}}}");
    (void)state;
    assert_int_equal(sonic_config_read(json, names, 2, &c, &e), 0);
    const struct sonic_port *p = &c.ports[0];
    assert_int_equal(json_array_size(c.unread), 0);
    assert_int_equal(p->dscp_to_tc[33], 8);
    assert_int_equal(p->dscp_to_tc[34], 15);
    assert_int_equal(p->tc_to_pg[8], 0);
    assert_int_equal(p->tc_to_pg[15], 7);
    assert_int_equal(p->tc_to_queue[8], 9);
    assert_int_equal(p->pfc, 1 << 3 | 1 << 4);
    assert_int_equal(p->queue[3].kmin_bytes, 166912);
    sonic_config_free(&c);
    json_decref(json);
}

/* On a line card QUEUE has the ports of all cards, several of which are called Ethernet0. */
static void line_cards_are_told_apart(void **state)
{
    static const char *const cards[][2] = {{"lc1", "Asic0"}, {"lc2", "asic0"}, {"lc1", "asic1"}};
    static const int64_t kmin[] = {1000, 2000, 3000};
    struct sonic_config c;
    struct error e;
    (void)state;
    for (size_t i = 0; i <= 3; i++) {
        char patch[700];
        snprintf(patch, sizeof patch,
                 "{\"DEVICE_METADATA\":{\"localhost\":{\"hostname\":\"%s\",\"asic_name\":%s%s%s}},"
                 "\"QUEUE\":{\"Ethernet0|3\":null,\"lc1|asic0|Ethernet0|3\":{\"wred_profile\":\"A\"},"
                 "\"lc2|asic0|Ethernet0|3\":{\"wred_profile\":\"B\"},"
                 "\"lc1|asic1|Ethernet0|3\":{\"wred_profile\":\"C\"}},"
                 "\"WRED_PROFILE\":{\"A\":{\"green_min_threshold\":\"1000\"},"
                 "\"B\":{\"green_min_threshold\":\"2000\"},\"C\":{\"green_min_threshold\":\"3000\"}}}",
                 i < 3 ? cards[i][0] : "lc1", i < 3 ? "\"" : "", i < 3 ? cards[i][1] : "null",
                 i < 3 ? "\"" : "");
        json_t *json = patched(patch);
        assert_int_equal(sonic_config_read(json, names, 1, &c, &e), 0);
        const struct sonic_wred *w = &c.ports[0].queue[3];
        if (i < 3)
            assert_int_equal(w->kmin_bytes, kmin[i]);
        else
            assert_int_equal(w->described, SONIC_UNKNOWN); /* never that of the last card */
        assert_int_equal(is_said(c.unread, "which card this is DEVICE_METADATA|localhost does not say"),
                         i == 3);
        sonic_config_free(&c);
        json_decref(json);
    }
}

/* ---- what a run would change */

/* `says`: of the changes, or of the refusal. */
static void expect_changes(const char *patch, const char *settings_text, const char *says)
{
    struct settings settings;
    struct sonic_config config;
    struct sonic_changes changes;
    struct error e = {{0}};
    json_t *json = patched(patch), *wanted = json_loads(settings_text, 0, NULL), *warnings = json_array();
    assert_int_equal(table_parse(&settings_table, wanted, &settings, &e), 0);
    assert_int_equal(sonic_config_read(json, names, 1, &config, &e), 0);
    const struct sonic_request request = {&settings, names, 1, false};
    bool planned = sonic_settings_plan(&request, json, &config, &changes, warnings, &e) == 0;
    char *shown = planned ? json_dumps(changes.wanted, JSON_COMPACT | JSON_SORT_KEYS) : strdup(e.text);
    if (!strstr(shown, says))
        fail_msg("%s: %s: expected %s", patch, shown, says);
    if (strchr(shown, '\n'))
        fail_msg("%s: more than a line", shown);
    free(shown);
    if (planned)
        sonic_changes_free(&changes);
    sonic_config_free(&config);
    table_free(&settings_table, &settings);
    json_decref(json);
    json_decref(wanted);
    json_decref(warnings);
}

#define ECN "{\"ecn_threshold\":{\"kmin\":\"250000B\",\"kmax\":\"2097152B\",\"pmax\":0.05}}"
#define OFF "{\"ecn_threshold\":{\"kmin\":\"0\",\"kmax\":\"0\",\"pmax\":0}}"

static void a_run_changes_what_marks_and_what_is_its_own(void **state)
{
    (void)state;
    expect_changes("{}", ECN, "{}");
    expect_changes("{\"WRED_PROFILE\":{\"W\":{\"wred_green_enable\":null}}}", ECN,
                   "{\"WRED_PROFILE|W\":{\"wred_green_enable\":\"true\"}}");
    expect_changes("{\"WRED_PROFILE\":{\"W\":{\"ecn\":\"ecn_none\",\"wred_green_enable\":\"false\"}}}", ECN,
                   "{\"WRED_PROFILE|W\":{\"ecn\":\"ecn_all\",\"wred_green_enable\":\"true\"}}");
    /* what cannot be put back is not changed */
    expect_changes("{\"WRED_PROFILE\":{\"W\":{\"green_min_threshold\":7}}}", ECN,
                   "WRED_PROFILE|W: green_min_threshold: what is there was not understood");
    expect_changes("{\"WRED_PROFILE\":{\"W\":7}}", ECN, "the WRED profile of a queue was not understood");
    expect_changes("{\"PFC_WD\":{\"Ethernet0\":7}}", "{\"watchdog\":{\"detect\":\"300ms\"}}",
                   "PFC_WD|Ethernet0: detection_time: what is there was not understood");
    expect_changes("{\"PFC_WD\":{\"GLOBAL\":{\"POLL_INTERVAL\":\"often\"}}}",
                   "{\"watchdog\":{\"detect\":\"300ms\"}}",
                   "POLL_INTERVAL of PFC_WD|GLOBAL was not understood");
    /* a profile that another line card's port of the same name uses is shared; its queues are left alone */
    expect_changes("{\"DEVICE_METADATA\":{\"localhost\":{\"hostname\":\"lc1\",\"asic_name\":\"asic0\"}},"
                   "\"QUEUE\":{\"lc2|asic0|Ethernet0|3\":{\"wred_profile\":\"W\"}},"
                   "\"WRED_PROFILE\":{\"W\":{\"green_min_threshold\":\"1\"}}}",
                   ECN, "WRED_PROFILE|W is used by lc2|asic0|Ethernet0|3 too, which the lab does not name");
    expect_changes("{\"DEVICE_METADATA\":{\"localhost\":{\"hostname\":\"lc1\",\"asic_name\":\"asic0\"}},"
                   "\"QUEUE\":{\"Ethernet0|3\":null,\"Ethernet0|4\":null,"
                   "\"lc1|asic0|Ethernet0|3\":{\"wred_profile\":\"W\"},"
                   "\"lc2|asic0|Ethernet0|3\":{\"wred_profile\":\"W\"}}}",
                   OFF, "{\"QUEUE|lc1|asic0|Ethernet0|3\":{\"wred_profile\":null}}");
    expect_changes("{\"QUEUE\":{\"lc1|asic0|Ethernet0|3\":{\"wred_profile\":\"W\"}}}", OFF,
                   "QUEUE|lc1|asic0|Ethernet0|3: whether this is the line card that it names");
    expect_changes("{\"QUEUE\":{\"Ethernet0,Ether\\nnet9|3\":{\"wred_profile\":\"W\"}},"
                   "\"WRED_PROFILE\":{\"W\":{\"green_min_threshold\":\"1\"}}}",
                   ECN, "is used by Ether\\x0anet9 too");
}

/* ---- checks */

#define LAB                                                                                                \
    "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{\"a\":{\"ssh\":\"a\",\"nic\":{\"netdev\":" \
    "\"e\"}},"                                                                                             \
    "\"b\":{\"ssh\":\"b\",\"nic\":{\"netdev\":\"e\"}}},\"switches\":{\"tor\":{\"ssh\":\"tor\"}},"          \
    "\"links\":[{\"between\":[\"a\",\"tor\"],\"ports\":{\"tor\":\"Ethernet0\"},\"rate\":\"100Gb/"          \
    "s\",\"length\":\"%s\"},"                                                                              \
    "{\"between\":[\"b\",\"tor\"]}]}"
#define HOST \
    "\"settings\":{\"pfc\":[3,4],\"mtu\":4200,\"trust\":\"dscp\",\"dscp_to_prio\":{}},\"speed_Mbps\":100000"

struct outcome {
    const char *patch, *length, *host, *check, *verdict, *says;
    bool recorded;
};

static json_t *examine(const struct outcome *c, const struct cell *cell, const struct lab *lab)
{
    struct sonic_config config;
    struct error e = {{0}};
    struct text host = {0};
    json_t *json = patched(c->patch), *entries = json_array();
    text_add(&host, "{\"a\":{%s}}", c->host);
    json_t *seen = json_loads(text_string(&host), 0, NULL);
    assert_non_null(seen);
    if (sonic_config_read(json, names, 2, &config, &e) != 0)
        fail_msg("%s: %s", c->patch, e.text);
    const struct doctor_seen known = {.interfaces = seen};
    const struct doctor_subject x = {.lab = lab, .seen = &known, .cell = cell, .entries = entries};
    doctor_walk_ports(&x, (struct switch_end){.of = lab_real_switch_at(lab, 0),
                                              .config = &config,
                                              .recorded = c->recorded,
                                              .from = "file"});
    sonic_config_free(&config);
    text_free(&host);
    json_decref(seen);
    json_decref(json);
    return entries;
}

/* The first entry of the check that is not ok; else its first. */
static const json_t *entry_of(const json_t *entries, const char *check)
{
    const json_t *entry, *first = NULL;
    size_t i;
    json_array_foreach(entries, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "check")), check) != 0)
            continue;
        assert_non_null(json_object_get(entry, "evidence"));
        first = first ? first : entry;
        if (strcmp(json_string_value(json_object_get(entry, "verdict")), "ok") != 0)
            return entry;
    }
    return first;
}

static void expect(const struct outcome *c, const struct cell *cell, const struct lab *lab)
{
    json_t *entries = examine(c, cell, lab);
    const json_t *entry = entry_of(entries, c->check);
    const char *verdict = entry ? json_string_value(json_object_get(entry, "verdict")) : "none",
               *reason = entry ? json_string_value(json_object_get(entry, "reason")) : "";
    if (strcmp(verdict, c->verdict) != 0 || !strstr(reason, c->says))
        fail_msg("%s: %s: %s (%s): expected %s (%s)", c->patch, c->check, verdict, reason, c->verdict,
                 c->says);
    if (entry && strcmp(verdict, "failure") == 0)
        assert_non_null(json_object_get(entry, "fix"));
    json_decref(entries);
}

static void load_lab(struct lab *lab, const char *length)
{
    char text[1000];
    struct error e;
    snprintf(text, sizeof text, LAB, length);
    json_t *json = json_loads(text, 0, NULL);
    if (!json || lab_parse(json, NULL, lab, &e) != 0)
        fail_msg("%s", json ? e.text : text);
    json_decref(json);
}

#define PROFILE(x) "{\"BUFFER_PROFILE\":{\"lossless\":{" x "}}}"
#define WRED(x)    "{\"WRED_PROFILE\":{\"W\":{" x "}}}"
#define WATCH(x)   "{\"PFC_WD\":{\"Ethernet0\":{" x "}}}"

static const struct outcome outcomes[] = {
    {"{}", "5m", HOST, "port", "ok", "Ethernet0 (to a): up, 100Gb/s, MTU 9100", false},
    {"{\"PORT\":{\"Ethernet0\":null}}", "5m", HOST, "port", "failure", "no such port", false},
    {"{\"PORT\":{\"Ethernet0\":{\"admin_status\":\"down\"}}}", "5m", HOST, "port", "failure", "shut down",
     false},
    {"{\"PORT\":{\"Ethernet0\":{\"speed\":\"25000\"}}}", "5m", HOST, "port", "failure",
     "its speed is 25Gb/s, that of the host's NIC 100Gb/s", false},
    {"{\"PORT\":{\"Ethernet0\":{\"speed\":\"25000\"}}}", "5m", "", "port", "warning",
     "the lab's link has a rate of 100Gb/s", false},
    {"{\"PORT\":{\"Ethernet0\":{\"mtu\":\"1500\"}}}", "5m", HOST, "port", "failure",
     "longer frames are discarded", false},

    {"{}", "5m", HOST, "pfc", "ok", "PFC on priorities 3,4, as at a", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"3\"}}}", "5m", HOST, "pfc", "failure",
     "PFC on priorities 3, at a on 3,4: one end ignores", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":null}}}", "5m", HOST, "pfc", "failure",
     "PFC on priorities none, at a on 3,4", false},
    {"{}", "5m", "", "pfc", "unknown", "were not read", false},

    {"{}", "5m", HOST, "dscp", "ok", "the same class", false},
    {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"26\":\"1\"}}}", "5m", HOST, "dscp", "warning",
     "1 DSCPs of lossless classes are another class at a; the first is DSCP 26, priority 3 there and "
     "traffic class 1",
     false},
    {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"8\":\"3\"}}}", "5m", HOST, "dscp", "warning",
     "the first is DSCP 8, priority 1", false},
    {"{\"PORT_QOS_MAP\":{\"global\":null}}", "5m", HOST, "dscp", "failure", "no dscp_to_tc_map", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"dot1p_to_tc_map\":\"AZURE\"}}}", "5m", HOST, "dscp",
     "unknown", "from the VLAN tag", false},

    {"{}", "5m", HOST, "headroom", "ok", "keeps 65536 bytes (xoff)", false},
    {PROFILE("\"xoff\":\"8000\""), "5m", HOST, "headroom", "failure", "packets are lost although PFC is on",
     false},
    {PROFILE("\"xoff\":\"18432\""), "5m", HOST, "headroom", "ok",
     "with the host's MTU of 4200 these are at least 9185 bytes, and the mlx5 driver keeps 42524", false},
    {PROFILE("\"xoff\":\"9184\""), "5m", HOST, "headroom", "failure", "packets are lost although PFC is on",
     false},
    {PROFILE("\"xoff\":\"9185\""), "5m", HOST, "headroom", "ok", "these are at least 9185 bytes", false},
    {PROFILE("\"xoff\":\"18432\""), "5m", "", "headroom", "unknown",
     "with the port's MTU of 9100 these are at least 18985", false},
    /* values that vendors ship for 100 Gb/s */
    {PROFILE("\"xoff\":\"37888\""), "5m", HOST, "headroom", "ok", "keeps 37888", false},
    {PROFILE("\"xoff\":\"43008\""), "40m", HOST, "headroom", "ok", "keeps 43008", false},
    {PROFILE("\"xoff\":\"75776\""), "300m", HOST, "headroom", "ok", "keeps 75776", false},
    {PROFILE("\"xoff\":\"230400\""), "1500m", HOST, "headroom", "ok", "keeps 230400", false},
    {"{}", "300m", HOST, "headroom", "ok", "over 300m", false},
    {"{}", "3000m", HOST, "headroom", "failure", "over 3km", false},
    {PROFILE("\"xoff\":null"), "5m", HOST, "headroom", "failure", "without headroom", false},
    {"{\"BUFFER_PROFILE\":{\"lossless\":null}}", "5m", HOST, "headroom", "failure", "BUFFER_PROFILE lacks",
     false},
    {"{\"BUFFER_PG\":{\"Ethernet0|3-4\":null}}", "5m", HOST, "headroom", "failure",
     "BUFFER_PG has no profile", false},
    {"{\"BUFFER_PG\":{\"Ethernet0|3-4\":null}}", "5m", HOST, "headroom", "unknown", "in this file", true},
    {"{\"BUFFER_PG\":{\"Ethernet0|3-4\":{\"profile\":\"NULL\"}}}", "5m", HOST, "headroom", "ok",
     "computes the headroom of group 3 for a cable 5m long", false},
    {"{\"BUFFER_PG\":{\"Ethernet0|3-4\":{\"profile\":\"NULL\"}}}", "40m", HOST, "headroom", "warning",
     "by the lab it is 40m", false},

    {"{}", "5m", HOST, "wred", "ok",
     "marks from 250000 to 2097152 bytes, up to 5 % (kmin is 20.0 us at 100Gb/s); XOFF comes at 4018432 "
     "bytes "
     "of one sender at the latest, 2 senders fill the queue up to 5370197",
     false},
    {"{\"QUEUE\":{\"Ethernet0|3\":null}}", "5m", HOST, "wred", "warning", "no WRED profile", false},
    {"{\"WRED_PROFILE\":{\"W\":null}}", "5m", HOST, "wred", "failure", "WRED_PROFILE lacks", false},
    {WRED("\"ecn\":\"ecn_none\""), "5m", HOST, "wred", "warning", "ECN off for green", false},
    {WRED("\"ecn\":\"ecn_yellow\""), "5m", HOST, "wred", "warning", "ECN off for green", false},
    {WRED("\"green_min_threshold\":null"), "5m", HOST, "wred", "failure", "no thresholds for green", false},
    {WRED("\"green_min_threshold\":\"3000000\""), "5m", HOST, "wred", "failure", "kmin is above kmax", false},
    {WRED("\"green_min_threshold\":\"3600000\",\"green_max_threshold\":\"6000000\""), "5m", HOST, "wred",
     "ok", "2 senders fill the queue", false},
    {WRED("\"green_min_threshold\":\"5500000\",\"green_max_threshold\":\"6000000\""), "5m", HOST, "wred",
     "warning", "PFC may stop fewer than 3 senders before anything is marked", false},
    {WRED("\"green_min_threshold\":\"50000000\",\"green_max_threshold\":\"60000000\""), "5m", HOST, "wred",
     "failure", "PFC stops any number of senders before anything is marked", false},
    {WRED("\"green_max_threshold\":\"60000000\""), "5m", HOST, "wred", "warning",
     "any number of senders before the queue reaches kmax", false},
    {WRED("\"wred_green_enable\":null"), "5m", HOST, "wred", "warning", "nothing is marked", false},
    {WRED("\"wred_green_enable\":\"false\""), "5m", HOST, "wred", "warning", "nothing is marked", false},
    {WRED("\"wred_green_enable\":\"false\",\"ecn_green_min_threshold\":\"1000\",\"ecn_green_max_threshold\":"
          "\"2000\""),
     "5m", HOST, "wred", "unknown", "depends on the ASIC", false},
    {WRED("\"green_drop_probability\":\"0\""), "5m", HOST, "wred", "warning", "probability of 0", false},
    {WRED("\"green_min_threshold\":\"5000\""), "5m", HOST, "wred", "warning", "less than two frames", false},
    {"{\"PORT\":{\"Ethernet0\":{\"speed\":\"1000\"}}}", "5m", "", "wred", "warning", "300 us", false},

    /* what was not understood is unknown, and never off */
    {"{\"PORT\":{\"Ethernet0\":{\"admin_status\":\"on\"}}}", "5m", HOST, "port", "unknown",
     "whether it is up was not understood, 100Gb/s", false},
    {"{\"PORT\":{\"Ethernet0\":{\"speed\":\"fast\"}}}", "5m", HOST, "port", "unknown",
     "up, its speed was not understood, MTU 9100", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"three\"}}}", "5m", HOST, "pfc", "unknown",
     "which priorities have PFC was not understood", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"three\"}}}", "5m", HOST, "headroom",
     "unknown", "which priorities", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"three\"}}}", "5m", HOST, "wred", "unknown",
     "which priorities", false},
    {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"three\"}}}", "5m", HOST, "pfc-watchdog",
     "unknown", "not understood", false},
    {"{\"CABLE_LENGTH\":{\"AZURE\":{\"Ethernet0\":\" 40m \"}}}", "5m", HOST, "headroom", "ok", "over 40m",
     false},
    {"{\"PORT_QOS_MAP\":[]}", "5m", HOST, "pfc", "unknown", "which priorities", false},
    {"{\"PORT_QOS_MAP\":{\"global\":{\"dscp_to_tc_map\":\"OTHER\"}}}", "5m", HOST, "dscp", "unknown",
     "were not understood", false},
    {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"26\":\"three\"}}}", "5m", HOST, "dscp", "unknown",
     "the entries of 1 DSCPs of lossless classes were not understood", false},
    {"{\"TC_TO_PRIORITY_GROUP_MAP\":{\"AZURE\":{\"3\":\"8\"}}}", "5m", HOST, "headroom", "unknown",
     "its priority group was not understood", false},
    {"{\"TC_TO_QUEUE_MAP\":{\"AZURE\":{\"3\":\"x\"}}}", "5m", HOST, "wred", "unknown", "not understood",
     false},
    {PROFILE("\"xoff\":\"much\""), "5m", HOST, "headroom", "unknown", "xoff of its priority group's profile",
     false},
    {"{\"BUFFER_PROFILE\":7}", "5m", HOST, "headroom", "unknown", "was not understood", false},
    {"{\"BUFFER_PG\":{\"Ethernet0|3-4\":null,\"Ethernet0|x\":{}}}", "5m", HOST, "headroom", "unknown",
     "was not understood", false},
    {PROFILE("\"dynamic_th\":\"x\""), "5m", HOST, "wred", "unknown", "when XOFF comes, and so", false},
    {WRED("\"green_min_threshold\":\"x\""), "5m", HOST, "wred", "unknown", "not understood", false},
    {WRED("\"wred_green_enable\":\"yes\""), "5m", HOST, "wred", "unknown", "not understood", false},
    {WRED("\"ecn\":\"on\""), "5m", HOST, "wred", "unknown", "not understood", false},
    {WRED("\"green_drop_probability\":\"x\""), "5m", HOST, "wred", "unknown",
     "up to a probability that was not understood", false},
    {"{\"QUEUE\":{\"Ethernet0|3\":{\"wred_profile\":7}}}", "5m", HOST, "wred", "unknown", "not understood",
     false},
    {"{\"CABLE_LENGTH\":{\"AZURE\":{\"Ethernet0\":\"far\"}},\"BUFFER_PG\":{\"Ethernet0|3-4\":{\"profile\":"
     "\"NULL\"}}}",
     "5m", HOST, "headroom", "unknown", "whose length was not understood", false},
    {WATCH("\"detection_time\":\"soon\""), "5m", HOST, "pfc-watchdog", "unknown", "detection not understood",
     false},
    {"{\"PFC_WD\":{\"GLOBAL\":{\"BIG_RED_SWITCH\":\"on\"}}}", "5m", HOST, "pfc-watchdog", "unknown",
     "BIG_RED_SWITCH", false},

    {"{}", "5m", HOST, "pfc-watchdog", "ok", "detection 200 ms, restoration 400 ms, poll interval 200 ms",
     false},
    {"{\"PFC_WD\":{\"Ethernet0\":null}}", "5m", HOST, "pfc-watchdog", "ok", "no watchdog", false},
    {WATCH("\"detection_time\":null"), "5m", HOST, "pfc-watchdog", "failure", "no detection_time", false},
    {WATCH("\"detection_time\":\"50\""), "5m", HOST, "pfc-watchdog", "failure", "must be 100 to 5000", false},
    {WATCH("\"detection_time\":\"100\""), "5m", HOST, "pfc-watchdog", "failure", "shorter than POLL_INTERVAL",
     false},
    {WATCH("\"restoration_time\":\"150\""), "5m", HOST, "pfc-watchdog", "failure",
     "shorter than POLL_INTERVAL", false},
    {WATCH("\"action\":\"burn\""), "5m", HOST, "pfc-watchdog", "failure", "action is unknown", false},
    {WATCH("\"detection_time\":\"500\""), "5m", HOST, "pfc-watchdog", "warning", "in a loop", false},
    {WATCH("\"restoration_time\":null"), "5m", HOST, "pfc-watchdog", "warning", "stays stopped", false},
    {"{\"PFC_WD\":{\"GLOBAL\":{\"BIG_RED_SWITCH\":\"enable\"}}}", "5m", HOST, "pfc-watchdog", "failure",
     "BIG_RED_SWITCH is on", false},
};

static void checks_have_both_outcomes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        struct lab lab;
        load_lab(&lab, outcomes[i].length);
        expect(&outcomes[i], NULL, &lab);
        lab_free(&lab);
    }
}

/* With a scenario only the priorities and DSCPs of its flows are failures. */
static void a_scenario_says_what_matters(void **state)
{
    static const char scenario[] =
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"phases\":{\"measure\":\"1s\"},"
        "\"settings\":{\"trust\":\"dscp\",\"pfc\":[3]},"
        "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"op\":\"write\",\"message\":\"64KiB\","
        "\"priority\":3}]}";
    static const struct outcome cases[] = {
        {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"3\"}}}", "", HOST, "pfc", "ok",
         "as at a", false},
        {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"3\"}}}", "", "", "pfc", "ok",
         "as at a", false},
        {"{}", "", HOST, "pfc", "warning", "no flow of this host", false},
        {"{\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":{\"pfc_enable\":\"4\"}}}", "", HOST, "pfc", "failure",
         "one end ignores", false},
        {"{}", "", HOST, "dscp", "ok", "DSCP 24 is priority 3 at a, and traffic class 3 here", false},
        {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"24\":\"1\"}}}", "", HOST, "dscp", "failure",
         "but traffic class 1 here", false},
        {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"24\":null}}}", "", HOST, "dscp", "failure", "AZURE has no entry",
         false},
        {"{\"DSCP_TO_TC_MAP\":{\"AZURE\":{\"26\":\"1\"}}}", "", HOST, "dscp", "ok", "DSCP 24", false},
    };
    char lab[1000];
    struct plan plan;
    (void)state;
    snprintf(lab, sizeof lab, LAB, "5m");
    plan_of(scenario, lab, &plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&cases[i], &plan.first, &plan.first.lab);
    plan_free(&plan);
}

/* The data of a read comes from the host that is read from. */
static void senders_are_those_of_data(void **state)
{
    static const char reads[] =
        "{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"],\"phases\":{\"measure\":\"1s\"},\"flows\":["
        "{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"op\":\"read\",\"message\":\"64KiB\",\"priority\":3},"
        "{\"name\":\"g\",\"from\":\"b\",\"to\":\"a\",\"op\":\"write\",\"message\":\"64KiB\",\"priority\":4}]"
        "}";
    struct switch_end end = {.role = "a"};
    struct doctor_subject x = {.end = &end};
    char lab[1000];
    struct plan plan;
    (void)state;
    snprintf(lab, sizeof lab, LAB, "5m");
    plan_of(reads, lab, &plan);
    x.cell = &plan.first;
    assert_int_equal(switch_senders_to(&x, 3), 1);
    assert_int_equal(switch_senders_to(&x, 4), 1);
    end.role = "b";
    assert_int_equal(switch_senders_to(&x, 3), 0);
    plan_free(&plan);
}

static void labs_name_ports_of_switches(void **state)
{
    static const char *const head =
        "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{\"a\":{\"ssh\":\"a\"},"
        "\"b\":{\"ssh\":\"b\"}},";
    static const char *const cases[][2] = {
        {"\"switches\":{\"t\":{}}}", "switches.t: has neither ssh nor config"},
        {"\"switches\":{\"t\":{\"ssh\":\"t\",\"config\":\"f\"}}}", "switches.t: has both ssh and config"},
        {"\"switches\":{\"a\":{\"ssh\":\"t\"}}}", "switches.a: a host has this name already"},
        {"\"switches\":{\"t\":{\"ssh\":\"-t\"}}}", "switches.t.ssh"},
        {"\"switches\":{\"t\":{\"ssh\":\"t\",\"socket\":\"redis\"}}}", "switches.t.socket"},
        {"\"switches\":{\"t\":{\"ssh\":\"t\"}},\"links\":[{\"between\":[\"a\",\"b\"],\"ports\":{\"t\":"
         "\"Ethernet0\"}}]}",
         "links[0].ports: t is not an end of this link"},
        {"\"links\":[{\"between\":[\"a\",\"b\"],\"ports\":{\"a\":\"Ethernet0\"}}]}",
         "a is not a switch that runs SONiC"},
        {"\"switches\":{\"t\":{\"ssh\":\"t\"}},\"links\":[{\"between\":[\"a\",\"t\"],\"ports\":{\"t\":\"-n\"}"
         "}]}",
         "links[0].ports.t"},
        {"\"switches\":{\"t\":{\"ssh\":\"t\"}},\"links\":[{\"between\":[\"a\",\"t\"],\"ports\":{\"t\":\"E0\"}"
         "},"
         "{\"between\":[\"b\",\"t\"],\"ports\":{\"t\":\"E0\"}}]}",
         "links[1].ports.t: E0 has a cable already: that of links[0]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s", head, cases[i][0]);
        refuse_lab(text, cases[i][1]);
    }
}

/* Reasons of entries that are not ok, in their order. */
static void expect_cable(struct sonic_port a, struct sonic_port b, const char *says)
{
    const struct switch_cable cable = {{"s", "t"}, {&a, &b}};
    const struct doctor_subject x = {.cable = &cable, .entries = json_array()};
    struct text words = {0};
    const json_t *entry;
    size_t i;
    doctor_switch_cable.examine(&x);
    json_array_foreach(x.entries, i, entry)
    {
        assert_non_null(json_object_get(entry, "evidence"));
        if (strcmp(json_string_value(json_object_get(entry, "verdict")), "failure") == 0)
            text_add(&words, "%s%s", words.length ? "; " : "",
                     json_string_value(json_object_get(entry, "reason")));
    }
    assert_string_equal(text_string(&words), says);
    text_free(&words);
    json_decref(x.entries);
}

static void both_ends_of_a_cable_are_compared(void **state)
{
    const struct sonic_port port = {.name = "Ethernet0", .pfc = 8, .mtu = 9100, .speed_Mbps = 100000};
    struct sonic_port other = port;
    (void)state;
    expect_cable(port, other, "");
    other.mtu = 1500;
    expect_cable(
        port, other,
        "Ethernet0 of s has MTU 9100, Ethernet0 of t 1500: the end with the smaller one drops the other's "
        "longer frames");
    other.mtu = FIELD_UNSET; /* not known is not another */
    expect_cable(port, other, "");
    other.mtu = SONIC_UNREAD; /* nor is what was not understood */
    other.speed_Mbps = SONIC_UNREAD;
    expect_cable(port, other, "");
    other.pfc = 16;
    other.speed_Mbps = 40000;
    expect_cable(port, other,
                 "Ethernet0 of s has PFC on priorities 3, Ethernet0 of t has PFC on priorities 4: one end "
                 "ignores the other's pauses; "
                 "Ethernet0 of s has speed (Mb/s) 100000, Ethernet0 of t 40000: a cable has one speed, or no "
                 "link");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_forms_of_references),
        cmocka_unit_test(thresholds_of_ecn_alone_take_their_place),
        cmocka_unit_test(refuses_what_is_not_such_a_file),
        cmocka_unit_test(a_bad_value_costs_that_value),
        cmocka_unit_test(keys_that_contradict_each_other),
        cmocka_unit_test(reads_all_classes_and_blanks),
        cmocka_unit_test(line_cards_are_told_apart),
        cmocka_unit_test(a_run_changes_what_marks_and_what_is_its_own),
        cmocka_unit_test(checks_have_both_outcomes),
        cmocka_unit_test(a_scenario_says_what_matters),
        cmocka_unit_test(senders_are_those_of_data),
        cmocka_unit_test(labs_name_ports_of_switches),
        cmocka_unit_test(both_ends_of_a_cable_are_compared),
    };
    return cmocka_run_group_tests_name("sonic", tests, NULL, NULL);
}
