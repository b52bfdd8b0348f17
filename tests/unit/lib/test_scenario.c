/* Scenarios, settings and labs: parsing, defaults, references, patterns of roles, helper topologies; paths
 * into documents. */
#include "lib/document/paths.h"
#include "lib/formats/lab.h"
#include "lib/physics/host.h"
#include "lib/formats/scenario.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static json_t *parse(const char *text)
{
    json_error_t wrong;
    json_t *json = json_loads(text, 0, &wrong);
    if (!json)
        fail_msg("%s: %s", text, wrong.text);
    return json;
}

static void defaults_are_filled_in(void **state)
{
    struct scenario s;
    struct error e;
    json_t *json = parse("{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],\"settings\":{\"pfc\":[3]},"
                         "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\",\"rate\":\"10Gb/s\"}]}");
    (void)state;
    assert_int_equal(scenario_parse(json, &s, &e), 0);
    const struct scenario_flow *flow = s.flows.items;
    assert_int_equal(s.phases.warmup_ns, 1000000000);
    assert_int_equal(s.phases.measure_ns, 10000000000);
    assert_int_equal(s.sample.every_ns, 10000000);
    assert_int_equal(flow->message_bytes, 65536);
    assert_int_equal(flow->depth, 128);
    assert_int_equal(flow->op, OP_WRITE);
    assert_int_equal(flow->rate_bps, 10000000000);
    assert_int_equal(flow->size_bytes, FIELD_UNSET);
    assert_int_equal(s.settings.mtu, FIELD_UNSET);
    assert_int_equal(s.settings.pfc.count, 1);
    assert_int_equal(((int64_t *)s.settings.pfc.items)[0], 3);
    assert_null(s.settings.red);
    scenario_free(&s);
    json_decref(json);
}

static void a_role_has_its_settings_over_the_common_ones(void **state)
{
    json_t *json = parse("{\"settings\":{\"mtu\":4200,\"dcqcn\":{\"rp\":{\"rpg_gd\":11}}},"
                         "\"settings_of\":{\"b\":{\"mtu\":1500,\"dcqcn\":{\"rp\":{\"rpg_ai_rate\":5}}}}}");
    json_t *a = scenario_role_settings(json, "a"), *b = scenario_role_settings(json, "b");
    json_t *wanted = parse("{\"mtu\":1500,\"dcqcn\":{\"rp\":{\"rpg_gd\":11,\"rpg_ai_rate\":5}}}");
    (void)state;
    assert_true(json_equal(a, json_object_get(json, "settings")));
    assert_true(json_equal(b, wanted));
    json_decref(a);
    json_decref(b);
    json_decref(wanted);
    json_decref(json);
}

static void patterns_of_roles_are_written_out(void **state)
{
    struct error e;
    json_t *json =
        parse("{\"roles\":[\"h[8,9-10,11]\",\"sw\"],\"traffic\":[{\"from\":[\"h[8-9]\"],\"to\":[\"h11\"]}]}");
    json_t *expanded = scenario_expand(json, &e);
    json_t *wanted = parse("{\"roles\":[\"h8\",\"h9\",\"h10\",\"h11\",\"sw\"],\"traffic\":[{\"from\":[\"h8\","
                           "\"h9\"],\"to\":[\"h11\"]}]}");
    (void)state;
    assert_non_null(expanded);
    assert_true(json_equal(expanded, wanted));
    json_decref(json);
    json_decref(expanded);
    json_decref(wanted);
    static const char *const bad[] = {"h[3-1]", "h[]",    "h[1,]", "h[,1]", "h[1-2",
                                      "h[-1]",  "h[1;2]", "h[1-]", "h[1 2]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json = json_pack("{s:[s]}", "roles", bad[i]);
        assert_null(scenario_expand(json, &e));
        json_decref(json);
    }
}

static void expect_topology(const char *topology, size_t hosts, size_t switches, size_t links)
{
    struct error e;
    struct lab lab;
    json_t *json = parse("{\"schema\":1,\"name\":\"t\",\"driver\":\"sim\",\"defaults\":{\"host\":{\"nic\":{"
                         "\"messages\":\"1M/s\"}},"
                         "\"link\":{\"rate\":\"100Gb/s\",\"delay\":\"1us\"}}}");
    json_object_set_new(json, "topology", parse(topology));
    json_t *expanded = lab_expand(json, &e);
    assert_non_null(expanded);
    if (lab_parse(expanded, NULL, &lab, &e) != 0)
        fail_msg("%s: %s", topology, e.text);
    assert_int_equal(lab.hosts.count, hosts);
    assert_int_equal(lab.switches.count, switches);
    assert_int_equal(lab.links.count, links);
    const struct physics_host *host = lab_sim_host_at(&lab, 0);
    const struct lab_link *link = lab_link_at(&lab, 0);
    assert_int_equal(host->nic.messages_per_s, 1000000);
    assert_int_equal(link->rate_bps, 100000000000);
    assert_int_equal(link->delay_ps, 1000000);
    lab_free(&lab);
    json_decref(json);
    json_decref(expanded);
}

static void topologies_are_drawn(void **state)
{
    (void)state;
    expect_topology("{\"kind\":\"dumbbell\",\"hosts\":3}", 6, 2, 7);
    expect_topology("{\"kind\":\"leaf_spine\",\"hosts\":8,\"leaves\":4,\"spines\":8}", 32, 12, 64);
    /* k = 4: 16 hosts, 8 edge, 8 aggregation and 4 core switches; 16 + 16 + 16 links */
    expect_topology("{\"kind\":\"fat_tree\",\"k\":4}", 16, 20, 48);
}

static void roles_are_bound_to_hosts(void **state)
{
    struct error e;
    struct lab lab;
    json_t *json = parse("{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"roles\":{\"a\":\"left\"},"
                         "\"hosts\":{\"left\":{\"ssh\":\"root@left\",\"sudo\":true},\"b\":{\"ssh\":\"b\"}}}");
    (void)state;
    assert_int_equal(lab_parse(json, NULL, &lab, &e), 0);
    assert_string_equal(lab_real_host(&lab, "a")->name, "left");
    assert_string_equal(lab_real_host(&lab, "b")->ssh, "b");
    assert_string_equal(lab_real_host(&lab, "b")->programs, "/usr/local/bin");
    assert_null(lab_real_host(&lab, "c"));
    lab_free(&lab);
    json_decref(json);
}

/* Every kind parses its own documents and has only hosts of its own type. */
static void kinds_of_lab_give_their_own_hosts(void **state)
{
    static const struct {
        const char *kind, *host;
    } labs[] = {
        {"sim", "{}"}, {"libvirt", "{\"domain\":\"d\",\"profile\":\"p\"}"}, {"ssh", "{\"ssh\":\"x\"}"}};
    (void)state;
    for (size_t i = 0; i < sizeof labs / sizeof *labs; i++) {
        struct lab lab;
        struct error e = {""};
        const struct lab_kind *kind = lab_kind_named(labs[i].kind);
        json_t *json =
            json_pack("{s:i,s:s,s:s,s:{s:o,s:o}}", "schema", 1, "name", "l", "driver", labs[i].kind, "hosts",
                      "a", parse(labs[i].host), "b", parse("{\"ssh\":\"y\"}"));
        if (kind->simulated)
            json_object_del(json_object_get(json_object_get(json, "hosts"), "b"), "ssh");
        assert_int_equal(lab_parse(json, NULL, &lab, &e), 0);
        assert_ptr_equal(lab_kind(&lab), kind);
        assert_int_equal(!lab_host_at(&lab, 1), kind->simulated);
        assert_int_equal(!lab_sim_host_at(&lab, 1), !kind->simulated);
        assert_null(lab_host_at(&lab, 2));
        assert_null(lab_sim_host_at(&lab, 2));
        assert_string_equal(lab_node_name(&lab, 1), "b");
        assert_null(lab_node_name(&lab, 2));
        assert_int_equal(lab_host_of(&lab, "b"), 1);
        lab_free(&lab);
        json_decref(json);
    }
    assert_null(lab_kind_named("none"));
}

static bool all_equal(const json_t *document, const char *path, const json_t *value)
{
    json_t *values = paths_values(document, path);
    bool equal = json_array_size(values);
    for (size_t i = 0; i < json_array_size(values); i++)
        equal &= json_equal(json_array_get(values, i), value);
    json_decref(values);
    return equal;
}

/* After setting VALUE at PATH of DOCUMENT, it is EXPECTED. */
static void objects_are_merged(void **state)
{
    static const struct {
        const char *document, *path, *value, *expected;
    } cases[] = {
        {"{\"s\":{\"rp\":{\"a\":1,\"b\":2}}}", "s.rp", "{\"a\":5}", "{\"s\":{\"rp\":{\"a\":5,\"b\":2}}}"},
        {"{\"s\":{\"rp\":{\"a\":1,\"b\":2}}}", "s", "{\"rp\":{\"b\":null,\"c\":{\"d\":1}}}",
         "{\"s\":{\"rp\":{\"a\":1,\"c\":{\"d\":1}}}}"},
        {"{\"s\":{\"rp\":{\"a\":1}}}", "s.rp", "{}", "{\"s\":{\"rp\":{\"a\":1}}}"},
        {"{\"s\":{\"rp\":{\"a\":1}}}", "s.rp", "null", "{\"s\":{}}"},
        {"{\"s\":{}}", "s.rp.a", "null", "{\"s\":{}}"},
        {"{\"s\":{\"l\":[1,2]}}", "s", "{\"l\":[3]}", "{\"s\":{\"l\":[3]}}"},
        {"{\"s\":5}", "s", "{\"a\":{\"b\":null}}", "{\"s\":{\"a\":{}}}"},
        {"{\"f\":[{\"name\":\"x\",\"r\":{\"a\":1}},{\"name\":\"y\"}]}", "f.*.r", "{\"b\":2}",
         "{\"f\":[{\"name\":\"x\",\"r\":{\"a\":1,\"b\":2}},{\"name\":\"y\",\"r\":{\"b\":2}}]}"},
        {"{\"f\":[{\"name\":\"x\"},{\"name\":\"y\"},{\"name\":\"z\"}]}", "f.[xz]", "null",
         "{\"f\":[{\"name\":\"y\"}]}"},
        /* keys and names that have dots: the longest that is there */
        {"{\"s\":{\"a\":{\"m\":1},\"a.r3\":{\"m\":1}}}", "s.a.r3.m", "2",
         "{\"s\":{\"a\":{\"m\":1},\"a.r3\":{\"m\":2}}}"},
        {"{\"s\":{\"a\":{\"m\":1},\"a.r3\":{\"m\":1}}}", "s.a.m", "2",
         "{\"s\":{\"a\":{\"m\":2},\"a.r3\":{\"m\":1}}}"},
        {"{\"s\":{\"a\":{\"m\":1}}}", "s.a.r3.m", "2", "{\"s\":{\"a\":{\"m\":1,\"r3\":{\"m\":2}}}}"},
        {"{\"s\":{\"a.r3\":{\"m\":1},\"a.r4\":{\"m\":1}}}", "s.a.*.m", "2",
         "{\"s\":{\"a.r3\":{\"m\":2},\"a.r4\":{\"m\":2}}}"},
        {"{\"s\":{\"a.r3\":{\"m\":1},\"b\":{\"m\":1}}}", "s.*.m", "2",
         "{\"s\":{\"a.r3\":{\"m\":2},\"b\":{\"m\":2}}}"},
        {"{\"s\":{\"a.r3\":{\"m\":1},\"b\":{\"m\":1}}}", "s.a.r3", "null", "{\"s\":{\"b\":{\"m\":1}}}"},
        {"{\"f\":[{\"name\":\"x.r1\"},{\"name\":\"x.r2\"}]}", "f.x.r2.m", "2",
         "{\"f\":[{\"name\":\"x.r1\"},{\"name\":\"x.r2\",\"m\":2}]}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e;
        json_t *document = parse(cases[i].document), *expected = parse(cases[i].expected);
        json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
        assert_int_equal(paths_set(document, cases[i].path, value, &e), 0);
        char *found = json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS);
        if (!json_equal(document, expected))
            fail_msg("%s = %s: %s", cases[i].path, cases[i].value, found);
        free(found);
        json_decref(document);
        json_decref(expected);
        json_decref(value);
    }
}

static void paths_set_and_compare(void **state)
{
    struct error e;
    json_t *json = parse("{\"flows\":[{\"name\":\"x\",\"memory\":\"host\"},{\"name\":\"y\",\"memory\":"
                         "\"host\"}],\"n\":{\"a\":1}}");
    json_t *gpu = json_string("gpu"), *host = json_string("host"), *two = json_integer(2);
    (void)state;
    assert_true(all_equal(json, "flows.*.memory", host));
    assert_int_equal(paths_set(json, "flows.y.memory", gpu, &e), 0);
    assert_false(all_equal(json, "flows.*.memory", host));
    assert_true(all_equal(json, "flows.x.memory", host));
    assert_true(all_equal(json, "flows.1.memory", gpu));
    assert_int_equal(paths_set(json, "settings.dcqcn.rp.rpg_gd", two, &e), 0); /* created by paths_set */
    assert_true(all_equal(json, "settings.dcqcn.rp.rpg_gd", two));
    assert_int_equal(paths_set(json, "n.*", two, &e), 0);
    assert_true(all_equal(json, "n.a", two));
    assert_int_equal(paths_set(json, "flows.z.memory", gpu, &e), -1);
    assert_int_equal(paths_set(json, "n.a.b", gpu, &e), -1);
    assert_int_equal(paths_set(json, "", gpu, &e), -1);
    assert_false(all_equal(json, "nothing.here", gpu));
    json_decref(gpu);
    json_decref(host);
    json_decref(two);
    json_decref(json);
}

static void assignments_are_read(void **state)
{
    struct error e;
    char *path;
    json_t *value;
    (void)state;
    assert_int_equal(paths_assignment("a.b=10ms", &path, &value, &e), 0);
    assert_string_equal(path, "a.b");
    assert_string_equal(json_string_value(value), "10ms");
    free(path);
    json_decref(value);
    assert_int_equal(paths_assignment("a=[1,2]", &path, &value, &e), 0);
    assert_int_equal(json_array_size(value), 2);
    free(path);
    json_decref(value);
    assert_int_equal(paths_assignment("a={\"//\": \"why\", \"b\": 1}", &path, &value, &e), 0);
    assert_int_equal(json_object_size(value), 1);
    free(path);
    json_decref(value);
    assert_int_equal(paths_assignment("a=b=c", &path, &value, &e), 0);
    assert_string_equal(json_string_value(value), "b=c");
    free(path);
    json_decref(value);
    assert_int_equal(paths_assignment("novalue", &path, &value, &e), -1);
    assert_int_equal(paths_assignment("=x", &path, &value, &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(a_role_has_its_settings_over_the_common_ones),
        cmocka_unit_test(patterns_of_roles_are_written_out),
        cmocka_unit_test(topologies_are_drawn),
        cmocka_unit_test(roles_are_bound_to_hosts),
        cmocka_unit_test(kinds_of_lab_give_their_own_hosts),
        cmocka_unit_test(paths_set_and_compare),
        cmocka_unit_test(objects_are_merged),
        cmocka_unit_test(assignments_are_read),
    };
    return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
