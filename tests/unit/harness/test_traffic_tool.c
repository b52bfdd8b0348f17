/* Traffic tools: which programs a scenario's flows need, their input, and what is refused before a run. */
#include "tests/unit/unit.h"

#include "harness/traffic/traffic_tool.h"
#include "lib/clock.h"
#include "traffic/job.h"

/* ---- a scenario and a lab */

struct made {
    struct scenario scenario;
    struct lab lab;
};

static json_t *parse_text(const char *text)
{
    json_error_t wrong;
    json_t *json = json_loads(text, 0, &wrong);
    if (!json)
        fail_msg("%s: %s", text, wrong.text);
    return json;
}

static json_t *flow_between(const char *name, const char *from, const char *to)
{
    return json_pack("{s:s,s:s,s:s}", "name", name, "from", from, "to", to);
}

/* Takes over `flows`. */
static void make(struct made *m, json_t *flows)
{
    struct error e = {{0}};
    json_t *scenario = parse_text("{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\",\"c\"],"
                                  "\"phases\":{\"warmup\":\"1s\",\"measure\":\"20s\"}}");
    json_t *lab = parse_text(
        "{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{"
        "\"a\":{\"ssh\":\"a\",\"nic\":{\"address\":\"10.0.0.1/24\",\"gid_index\":3,\"ack_timeout\":18},"
        "\"gpu\":{\"pci\":\"0000:06:00.0\",\"index\":1}},"
        "\"b\":{\"ssh\":\"b\",\"nic\":{\"address\":\"10.0.0.2/24\"}},\"c\":{\"ssh\":\"c\"}}}");
    json_object_set_new(scenario, "flows", flows);
    if (scenario_parse(scenario, &m->scenario, &e) != 0 || lab_parse(lab, NULL, &m->lab, &e) != 0)
        fail_msg("%s", e.text);
    json_decref(scenario);
    json_decref(lab);
}

static void unmake(struct made *m)
{
    scenario_free(&m->scenario);
    lab_free(&m->lab);
}

static json_t *many_flows(size_t count)
{
    json_t *flows = json_array();
    for (size_t i = 0; i < count; i++) {
        char name[40];
        snprintf(name, sizeof name, "flow-%zu", i);
        json_t *flow = flow_between(name, "a", "b");
        json_object_set_new(flow, "queue_pairs", json_integer((json_int_t)i + 1));
        json_object_set_new(flow, "rate", json_string("10Gb/s"));
        if (i % 2) {
            json_object_set_new(flow, "memory", json_string("gpu"));
            json_object_set_new(flow, "gpu", json_integer(5));
        }
        json_array_append_new(flows, flow);
    }
    return flows;
}

/* ---- jobs */

static void flows_of_one_pair_of_hosts_are_one_job(void **state)
{
    struct made m;
    size_t count;
    (void)state;
    make(&m, json_pack("[o,o,o,o]", flow_between("x", "a", "b"), flow_between("y", "b", "a"),
                       flow_between("z", "a", "b"), flow_between("w", "c", "b")));
    struct traffic_job *jobs = traffic_jobs(&m.scenario, &count);
    assert_non_null(jobs);
    assert_int_equal(count, 3);
    assert_int_equal(jobs[0].count, 2);
    assert_string_equal(jobs[0].flows[1]->name, "z");
    assert_int_equal(jobs[1].from, 1);
    assert_int_equal(jobs[1].to, 0);
    assert_true(traffic_needs_server(jobs, 0));
    assert_true(traffic_needs_server(jobs, 1));
    assert_false(traffic_needs_server(jobs, 2)); /* b has one */
    traffic_jobs_free(jobs, count);
    unmake(&m);
}

/* The driver's program reads its input back as the same flows. */
static void as_many_flows_as_are_allowed_reach_the_program(void **state)
{
    static struct drive_plan plans[FLOW_MAX_TOGETHER];
    struct made m;
    struct error e = {{0}};
    size_t count, flows = 0;
    char device[] = "mlx5_0";
    struct traffic_command command = {0};
    (void)state;
    make(&m, many_flows(FLOW_MAX_TOGETHER));
    assert_int_equal(traffic_check(&m.scenario, &m.lab, &e), 0);
    struct traffic_job *jobs = traffic_jobs(&m.scenario, &count);
    assert_int_equal(count, 1);
    struct traffic_end a = {.lab = lab_real_host(&m.lab, "a"), .device = device},
                       b = {.lab = lab_real_host(&m.lab, "b")};
    assert_int_equal(jobs[0].tool->drive(&jobs[0], &a, &b, &command, &e), 0);
    assert_null(strchr(command.input, '\n'));
    assert_string_equal(command.words.items[command.words.count - 1], "--await-start");
    json_t *document = parse_text(command.input);
    struct job job;
    if (table_parse(&job_table, document, &job, &e) != 0 || job_plans(document, plans, &flows, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(job.host, "10.0.0.2");
    assert_int_equal(job.process.output, OUTPUT_JSON);
    assert_int_equal(flows, FLOW_MAX_TOGETHER);
    for (size_t i = 0; i < flows; i++) {
        assert_string_equal(plans[i].plan.flow, jobs[0].flows[i]->name);
        assert_int_equal(plans[i].plan.queue_pairs, i + 1);
        assert_int_equal(plans[i].plan.rate_bps, 10000000000);
        assert_int_equal(plans[i].plan.ack_timeout, 18);
        assert_int_equal(plans[i].plan.interval_ns, 200 * NS_PER_MS);
        assert_int_equal(plans[i].duration_ns, 20 * NS_PER_S);
        assert_int_equal(plans[i].warmup_ns, NS_PER_S);
        assert_int_equal(plans[i].start_at_ns, 0); /* it is told later */
        assert_int_equal(plans[i].local.gid_index, 3);
        assert_string_equal(plans[i].local.device, "mlx5_0");
        assert_string_equal(plans[i].local.address, "10.0.0.1");
        assert_string_equal(plans[i].local.gpu, i % 2 ? "5" : "1"); /* the lab's, unless the flow names one */
        assert_int_equal(plans[i].plan.gpu, i % 2 ? 5 : FIELD_UNSET);
        drive_plan_free(&plans[i]);
    }
    table_free(&job_table, &job);
    json_decref(document);
    traffic_command_free(&command);
    traffic_jobs_free(jobs, count);
    unmake(&m);
}

/* Flows over a VLAN use the GID of its address, not the index that the lab gives for the NIC; the priority in
 * the tag is the service level. */
static void a_vlan_has_its_own_gid(void **state)
{
    struct made m;
    struct drive_plan plan;
    size_t plans;
    struct error e = {{0}};
    size_t count;
    struct traffic_command drive = {0}, serve = {0};
    char address[] = "10.0.1.1/24", other[] = "10.0.1.2/24";
    struct lab_vlan of_a = {100, address}, of_b = {100, other};
    (void)state;
    json_t *flow = flow_between("x", "a", "b");
    json_object_set_new(flow, "priority", json_integer(3));
    make(&m, json_pack("[o]", flow));
    struct lab_host a = *lab_real_host(&m.lab, "a"), b = *lab_real_host(&m.lab, "b");
    struct traffic_job *jobs = traffic_jobs(&m.scenario, &count);
    jobs[0].start_ns = 1790000000123456789;
    a.nic.vlan = &of_a;
    b.nic.vlan = &of_b;
    struct traffic_end from = {.lab = &a}, to = {.lab = &b};
    assert_int_equal(jobs[0].tool->drive(&jobs[0], &from, &to, &drive, &e), 0);
    assert_int_equal(jobs[0].tool->serve(&jobs[0], &from, &serve, &e), 0);
    json_t *job = parse_text(drive.input);
    const json_t *local = json_object_get(json_object_get(job, "common"), "local");
    assert_string_equal(json_string_value(json_object_get(job, "host")), "10.0.1.2");
    assert_string_equal(json_string_value(json_object_get(local, "address")), "10.0.1.1");
    assert_null(json_object_get(local, "gid_index"));
    assert_true(serve.secret && drive.secret);
    assert_string_equal(serve.words.items[4], "--secret-file");
    assert_string_equal(serve.words.items[5], "-");
    assert_string_equal(serve.words.items[6], "--address=10.0.1.1");
    assert_string_equal(serve.words.items[7], "--listen=10.0.1.1");
    assert_string_equal(serve.words.items[8], "--gpu=1");
    assert_int_equal(job_plans(job, &plan, &plans, &e), 0);
    assert_int_equal(plan.plan.service_level, 3);
    drive_plan_free(&plan);
    json_decref(job);
    traffic_command_free(&drive);
    traffic_command_free(&serve);
    traffic_jobs_free(jobs, count);
    unmake(&m);
}

/* The class that flow number `i` of a job is driven with. */
static json_int_t driven_class(const struct made *m, size_t i)
{
    struct error e = {{0}};
    size_t count;
    struct traffic_command command = {0};
    struct traffic_job *jobs = traffic_jobs(&m->scenario, &count);
    struct traffic_end a = {.lab = lab_real_host(&m->lab, "a")}, b = {.lab = lab_real_host(&m->lab, "b")};
    assert_int_equal(jobs[0].tool->drive(&jobs[0], &a, &b, &command, &e), 0);
    json_t *document = parse_text(command.input);
    json_int_t class = json_integer_value(
        json_object_get(json_array_get(json_object_get(document, "flows"), i), "traffic_class"));
    json_decref(document);
    traffic_command_free(&command);
    traffic_jobs_free(jobs, count);
    return class;
}

/* rdma_cm's default does not reach the queue pairs of roce-traffic: the class is part of its job. */
static void a_class_of_settings_is_that_of_flows_without_one(void **state)
{
    struct made m;
    json_t *named = flow_between("y", "a", "b");
    (void)state;
    json_object_set_new(named, "traffic_class", json_integer(46));
    make(&m, json_pack("[o,o]", flow_between("x", "a", "b"), named));
    assert_int_equal(driven_class(&m, 0), 0);
    m.scenario.settings.traffic_class = 106;
    assert_int_equal(driven_class(&m, 0), 106);
    assert_int_equal(driven_class(&m, 1), 46);
    m.scenario.settings.traffic_class = -1; /* not forced */
    assert_int_equal(driven_class(&m, 0), 0);
    unmake(&m);
}

static void expect_refusal(json_t *flows, const char *says)
{
    struct made m;
    struct error e = {{0}};
    make(&m, flows);
    assert_int_equal(traffic_check(&m.scenario, &m.lab, &e), -1);
    if (!strstr(e.text, says))
        fail_msg("\"%s\" does not say \"%s\"", e.text, says);
    unmake(&m);
}

static json_t *flow_with(const char *more)
{
    json_t *flow = flow_between("x", "a", "b"), *rest = parse_text(more);
    json_object_update(flow, rest);
    json_decref(rest);
    return json_pack("[o]", flow);
}

static void what_hosts_cannot_run_is_said_before_the_run(void **state)
{
    (void)state;
    expect_refusal(many_flows(FLOW_MAX_TOGETHER + 1), "more than 64 flows to role b");
    expect_refusal(json_pack("[o]", flow_between("x", "a", "c")), "host c of lab l has no nic.address");
    expect_refusal(flow_with("{\"mode\":\"latency\",\"memory\":\"gpu\"}"), "cannot access the GPU's");
    expect_refusal(flow_with("{\"mode\":\"latency\",\"memory\":\"rm-dmabuf\"}"), "cannot access the GPU's");
    expect_refusal(flow_with("{\"mode\":\"latency\",\"validate\":true}"), "last byte");
    expect_refusal(flow_with("{\"mode\":\"latency\",\"rate\":\"1Gb/s\"}"), "mode bandwidth");
    expect_refusal(flow_with("{\"message\":\"1GiB\",\"queue_pairs\":65}"), "more than 64 GiB");
}

/* ---- one set of limits */

static const struct field *field_named(const struct table *table, const char *name)
{
    const struct field *f = table->fields;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

static void a_scenario_a_job_and_an_offer_have_the_same_limits(void **state)
{
    static const char *const of_offers[] = {"queue_pairs", "depth", "traffic_class", "gpu"};
    (void)state;
    for (const struct field *f = flow_table.fields; f->name; f++) {
        if (strcmp(f->name, "after") == 0 || strcmp(f->name, "gap") == 0)
            continue; /* only simulated flows wait (harness/plan/patterns.c) */
        /* a job says it of each end: local.gpu is this end's */
        const char *name = strcmp(f->name, "gpu") == 0 ? "peer_gpu" : f->name;
        const struct field *same = field_named(&job_flow_table, name);
        if (!same) {
            fail_msg("a job's flow has no %s", f->name);
            return;
        }
        if (strcmp(f->name, "message") == 0)
            continue; /* a job may have several sizes: below */
        assert_int_equal(f->kind, same->kind);
        assert_true(f->min == same->min && f->max == same->max && f->choices == same->choices);
    }
    for (size_t i = 0; i < sizeof of_offers / sizeof *of_offers; i++) {
        const struct field *f = field_named(&flow_table, of_offers[i]);
        const struct field *same = field_named(&plan_table, of_offers[i]);
        assert_true(f->min == same->min && f->max == same->max);
    }
    assert_int_equal(field_named(&plan_table, "rate_bps")->max, field_named(&flow_table, "rate")->max);
    assert_int_equal(field_named(&plan_table, "max_message_bytes")->max,
                     field_named(&flow_table, "message")->max);
}

static bool scenario_takes(const char *more)
{
    struct scenario scenario;
    struct error e;
    json_t *json = parse_text("{\"schema\":1,\"name\":\"s\",\"roles\":[\"a\",\"b\"]}");
    json_object_set_new(json, "flows", flow_with(more));
    bool taken = scenario_parse(json, &scenario, &e) == 0;
    if (taken)
        scenario_free(&scenario);
    json_decref(json);
    return taken;
}

static bool job_takes(const char *more)
{
    struct drive_plan plan;
    size_t count;
    struct error e;
    json_t *job = json_pack("{s:o}", "flows", flow_with(more));
    bool taken = job_plans(job, &plan, &count, &e) == 0;
    if (taken)
        drive_plan_free(&plan);
    json_decref(job);
    return taken;
}

static void what_a_scenario_takes_a_job_takes(void **state)
{
    static const struct {
        const char *flow;
        bool taken;
    } cases[] = {
        {"{\"queue_pairs\":1024}", true},
        {"{\"queue_pairs\":1025}", false},
        {"{\"depth\":16384}", true},
        {"{\"depth\":16385}", false},
        {"{\"message\":\"1GiB\"}", true},
        {"{\"message\":\"1073741825B\"}", false},
        {"{\"message\":\"0B\"}", false},
        {"{\"priority\":7}", true},
        {"{\"priority\":8}", false},
        {"{\"rate\":\"1kb/s\"}", true},
        {"{\"rate\":\"999b/s\"}", false},
        {"{\"traffic_class\":256}", false},
        {"{\"memory\":\"cuda-nv503c\"}", true},
        {"{\"memory\":\"nothing\"}", false},
        {"{\"mode\":\"latency\"}", true},
        {"{\"mode\":\"latency\",\"queue_pairs\":2}", false},
        {"{\"op\":\"send\",\"size\":\"1MiB\"}", true},
        {"{\"tool\":\"roce\"}", true},
        {"{\"tool\":\"iperf\"}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (scenario_takes(cases[i].flow) != cases[i].taken || job_takes(cases[i].flow) != cases[i].taken)
            fail_msg("%s: scenario %d, job %d, expected %d", cases[i].flow, scenario_takes(cases[i].flow),
                     job_takes(cases[i].flow), cases[i].taken);
}

static void a_flow_names_its_tool(void **state)
{
    struct scenario_flow unset = {.tool = -1};
    (void)state;
    assert_string_equal(flow_tool_names[0], "roce");
    assert_ptr_equal(traffic_tool_of(&unset), traffic_tools[0]);
    for (int i = 0; flow_tool_names[i]; i++) {
        struct scenario_flow named = {.tool = i};
        assert_non_null(traffic_tools[i]);
        assert_ptr_equal(traffic_tool_of(&named), traffic_tools[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_of_one_pair_of_hosts_are_one_job),
        cmocka_unit_test(as_many_flows_as_are_allowed_reach_the_program),
        cmocka_unit_test(a_vlan_has_its_own_gid),
        cmocka_unit_test(a_class_of_settings_is_that_of_flows_without_one),
        cmocka_unit_test(what_hosts_cannot_run_is_said_before_the_run),
        cmocka_unit_test(a_scenario_a_job_and_an_offer_have_the_same_limits),
        cmocka_unit_test(what_a_scenario_takes_a_job_takes),
        cmocka_unit_test(a_flow_names_its_tool),
    };
    return cmocka_run_group_tests_name("traffic_tool", tests, NULL, NULL);
}
