/* Traffic patterns: the flows between real hosts are those of the simulated lab, in the same order, from the
 * same seed. */
#include "tests/unit/unit.h"

#include "harness/labs/sim/sim_config.h"
#include "lib/document/json_file.h"
#include <stdlib.h>
#include <unistd.h>

#define HOSTS 7

struct made {
    char folder[64], scenario[100], real[100], simulated[100];
    struct plan plan;
};

static void save(const char *path, json_t *document)
{
    struct error e;
    assert_non_null(document);
    if (json_file_save(path, document, &e) != 0)
        fail_msg("%s", e.text);
    json_decref(document);
}

static json_t *real_hosts(void)
{
    json_t *hosts = json_object();
    for (int i = 0; i < HOSTS; i++) {
        char name[8], address[20];
        snprintf(name, sizeof name, "h%d", i);
        snprintf(address, sizeof address, "10.0.0.%d/24", i + 1);
        json_object_set_new(hosts, name, json_pack("{s:s,s:{s:s}}", "ssh", name, "nic", "address", address));
    }
    return hosts;
}

static json_t *simulated_lab(void)
{
    json_t *hosts = json_object(), *links = json_array();
    for (int i = 0; i < HOSTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "h%d", i);
        json_object_set_new(hosts, name, json_object());
        json_array_append_new(links, json_pack("{s:[s,s],s:s}", "between", name, "s", "rate", "10Gb/s"));
    }
    return json_pack("{s:i,s:s,s:s,s:o,s:{s:{}},s:o}", "schema", 1, "name", "star", "driver", "sim", "hosts",
                     hosts, "switches", "s", "links", links);
}

static void make(struct made *m, const char *traffic)
{
    snprintf(m->folder, sizeof m->folder, "/tmp/test-patterns-XXXXXX");
    assert_non_null(mkdtemp(m->folder));
    snprintf(m->scenario, sizeof m->scenario, "%s/scenario.json", m->folder);
    snprintf(m->real, sizeof m->real, "%s/real.json", m->folder);
    snprintf(m->simulated, sizeof m->simulated, "%s/simulated.json", m->folder);
    json_t *list = json_loads(traffic, 0, NULL);
    assert_non_null(list);
    save(m->scenario,
         json_pack("{s:i,s:s,s:[s],s:o}", "schema", 1, "name", "s", "roles", "h[0-6]", "traffic", list));
    save(m->real,
         json_pack("{s:i,s:s,s:s,s:o}", "schema", 1, "name", "real", "driver", "ssh", "hosts", real_hosts()));
    save(m->simulated, simulated_lab());
}

static void unmake(struct made *m)
{
    unlink(m->scenario);
    unlink(m->real);
    unlink(m->simulated);
    rmdir(m->folder);
}

static int load(struct made *m, const char *lab, uint64_t seed, struct error *e)
{
    const struct plan_request request = {
        .scenario = m->scenario, .lab = lab, .duration_ns = FIELD_UNSET, .seed = seed};
    return plan_load(&request, &m->plan, e);
}

/* "NAME FROM>TO" of each flow. */
static void add_flow(struct text *out, const char *name, const char *from, const char *to)
{
    text_add(out, "%s %s>%s\n", name, from, to);
}

static void flows_between_hosts(struct made *m, uint64_t seed, struct text *out)
{
    struct error e;
    if (load(m, m->real, seed, &e) != 0)
        fail_msg("%s", e.text);
    const struct list_of *flows = &m->plan.first.scenario.flows;
    for (size_t i = 0; i < flows->count; i++) {
        const struct scenario_flow *flow = &((const struct scenario_flow *)flows->items)[i];
        add_flow(out, flow->name, flow->from, flow->to);
    }
    plan_free(&m->plan);
}

static void flows_of_the_simulator(struct made *m, uint64_t seed, struct text *out)
{
    struct error e;
    struct sim_setup setup;
    if (load(m, m->simulated, seed, &e) != 0 || sim_setup_make(&m->plan.first, seed, &setup, &e) != 0)
        fail_msg("%s", e.text);
    const struct lab *lab = &m->plan.first.lab;
    for (size_t i = 0; i < setup.config.flow_count; i++)
        add_flow(out, setup.flows[i].name, lab_node_name(lab, setup.flows[i].from),
                 lab_node_name(lab, setup.flows[i].to));
    sim_setup_free(&setup);
    plan_free(&m->plan);
}

static void compare(const char *traffic, uint64_t seed, const char *first)
{
    struct made m = {0};
    struct text real = {0}, simulated = {0};
    make(&m, traffic);
    flows_between_hosts(&m, seed, &real);
    flows_of_the_simulator(&m, seed, &simulated);
    assert_string_equal(text_string(&real), text_string(&simulated));
    if (strncmp(text_string(&real), first, strlen(first)) != 0)
        fail_msg("%s does not begin with %s", text_string(&real), first);
    text_free(&real);
    text_free(&simulated);
    unmake(&m);
}

static void hosts_run_the_flows_of_the_simulator(void **state)
{
    (void)state;
    compare("[{\"name\":\"t\",\"pattern\":\"incast\",\"from\":[\"h[1-6]\"],\"to\":[\"h0\"]}]", 1,
            "t/0 h1>h0\nt/1 h2>h0\n");
    compare("[{\"name\":\"t\",\"pattern\":\"all-to-all\",\"from\":[\"h[0-6]\"]}]", 1, "t/0 h1>h0\n");
    compare("[{\"name\":\"t\",\"pattern\":\"permutation\",\"from\":[\"h[0-6]\"],\"shift\":3}]", 1,
            "t/0 h0>h3\nt/1 h1>h4\n");
    compare("[{\"name\":\"t\",\"pattern\":\"ring-all-reduce\",\"from\":[\"h[0-6]\"]},"
            "{\"name\":\"u\",\"pattern\":\"incast\",\"from\":[\"h1\"],\"to\":[\"h2\"],\"size\":\"1MiB\","
            "\"count\":2}]",
            1, "t/0 h0>h1\n");
    for (uint64_t seed = 0; seed < 20; seed++)
        compare("[{\"name\":\"t\",\"pattern\":\"permutation\",\"from\":[\"h[0-6]\"]}]", seed, "t/0 h0>");
}

static void expect_refusal(const char *traffic, const char *says)
{
    struct made m = {0};
    struct error e = {{0}};
    make(&m, traffic);
    assert_int_equal(load(&m, m.real, 1, &e), -1);
    if (!strstr(e.text, says))
        fail_msg("\"%s\" does not say \"%s\"", e.text, says);
    unmake(&m);
}

static void what_is_simulated_only_is_refused(void **state)
{
    (void)state;
    expect_refusal("[{\"name\":\"t\",\"pattern\":\"poisson\",\"from\":[\"h[0-6]\"],\"size\":\"1KiB\"}]",
                   "traffic t: Poisson arrivals are simulated only");
    expect_refusal(
        "[{\"name\":\"t\",\"pattern\":\"all-to-all\",\"from\":[\"h[0-6]\"],\"sizes\":\"data-mining\"}]",
        "traffic t: distributions of flow sizes are simulated only");
    expect_refusal(
        "[{\"name\":\"t\",\"pattern\":\"ring-all-reduce\",\"from\":[\"h[0-6]\"],\"size\":\"1MiB\"}]",
        "traffic t: a ring whose steps wait for each other is simulated only");
    expect_refusal("[{\"name\":\"t\",\"pattern\":\"all-to-all\",\"from\":[\"h[0-6]\"],\"size\":\"2GiB\"}]",
                   "a NIC's longest message has 1073741824 bytes");
    expect_refusal("[{\"name\":\"t\",\"pattern\":\"permutation\",\"from\":[\"h[0-6]\"],\"to\":[\"h0\"]}]",
                   "a permutation needs as many receivers as senders: found 1 and 7");
    expect_refusal("[{\"name\":\"t\",\"pattern\":\"ring-all-reduce\",\"from\":[\"h0\"]}]",
                   "a ring needs at least two hosts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_run_the_flows_of_the_simulator),
        cmocka_unit_test(what_is_simulated_only_is_refused),
    };
    return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
