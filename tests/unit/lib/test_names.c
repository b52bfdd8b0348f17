/* Ranges of names, and documents in which they are written out; labs with defaults and topologies. */
#include "lib/document/json_text.h"
#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/names/range.h"
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

static void expect_names(const char *word, const char *names)
{
    struct range range;
    struct error e;
    struct text all = {0};
    if (range_parse(word, &range, &e) != 0)
        fail_msg("%s: %s", word, e.text);
    for (size_t i = 0; i < range.count; i++) {
        text_add(&all, "%s", i ? " " : "");
        range_name(&range, i, &all);
    }
    assert_string_equal(text_string(&all), names);
    text_free(&all);
}

static void ranges_stand_for_names(void **state)
{
    (void)state;
    expect_names("a", "a");
    expect_names("h[3]", "h3");
    expect_names("h[0-3]", "h0 h1 h2 h3");
    expect_names("h[0-1,16]", "h0 h1 h16");
    expect_names("h[08-11]x", "h08x h09x h10x h11x");
    expect_names("h[00-01,7]", "h00 h01 h7");
    expect_names("r[0-1]h[1-2]", "r0h1 r0h2 r1h1 r1h2");
    expect_names("[1-2]", "1 2");
    expect_names("a]", "a]");
}

static void a_glob_has_ranges(void **state)
{
    static const struct {
        const char *glob, *name;
        bool matches;
    } cases[] = {
        {"h[0-15]", "h12", true},
        {"h[0-15]", "h16", false},
        {"h[0-15]", "h01", false}, /* no name of the range */
        {"h[00-15]", "h07", true},
        {"h[00-15]", "h7", false},
        {"h[0-1,16]", "h16", true},
        {"h[0-1,16]", "h6", false},
        {"r[0-3]h[8-12]", "r2h10", true},
        {"*[9-11].x", "leaf10.x", true},
        {"port[0-15]_*_bytes", "port12_prio3_tx_bytes", true},
        {"port[0-15]_*_bytes", "port16_prio3_tx_bytes", false},
        {"h[0-15]*", "h123", true}, /* 12 and "3" */
        {"h[0-7]", "h5", true},
        {"h[0-7]", "h10", false},
        {"h[01]", "h1", true}, /* characters */
        {"h[!0-15]", "h7", true},
        {"h[10-15", "h12", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (glob_matches(cases[i].glob, cases[i].name) != cases[i].matches)
            fail_msg("%s and %s", cases[i].glob, cases[i].name);
}

static void what_is_no_range_is_refused(void **state)
{
    static const struct {
        const char *word, *sentence;
    } bad[] = {
        {"h[]", "not a range of names"},
        {"h[1,]", "not a range of names"},
        {"h[-1]", "not a range of names"},
        {"h[1-2", "not a range of names"},
        {"h[a-b]", "not a range of names"},
        {"h[0-015]", "not a range of names"},
        {"h[00-100]", "not a range of names"},
        {"h[0-1234567]", "not a range of names"},
        {"h[0-1][", "not a range of names"},
        {"h[[0-1]]", "not a range of names"},
        {"h[3-1]", "runs backwards: expected 1-3 in place of 3-1"},
        {"h[0-100000]", "more than 100000 names"},
        {"a[0-999]b[0-999]", "more than 100000 names"},
        {"[0][0][0][0][0]", "more than 4 ranges"},
    };
    struct range range;
    struct error e;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (range_parse(bad[i].word, &range, &e) == 0)
            fail_msg("%s was taken", bad[i].word);
        if (!strstr(e.text, bad[i].sentence))
            fail_msg("%s: %s", bad[i].word, e.text);
    }
    char *word = malloc(5001);
    memset(word, '[', 5000);
    word[5000] = '\0';
    assert_int_equal(range_parse(word, &range, &e), -1);
    assert_non_null(strstr(e.text, "more than 4000 characters"));
    free(word);
}

/* `value` for the last name of the range, or a part of the sentence. */
static void expect_filled(const char *word, const char *value, const char *wanted)
{
    struct range range;
    struct error e = {""};
    assert_int_equal(range_parse(word, &range, &e), 0);
    json_t *text = json_string(value), *filled = range_fill(&range, range.count - 1, text, &e);
    const char *found = filled ? json_string_value(filled) : e.text;
    if (filled ? strcmp(found, wanted) != 0 : !strstr(found, wanted))
        fail_msg("%s in %s: %s", value, word, found);
    json_decref(text);
    json_decref(filled);
}

static void values_have_the_number_of_the_name(void **state)
{
    (void)state;
    expect_filled("h[0-15]", "h{}.example.net", "h15.example.net");
    expect_filled("h[0-15]", "10.0.0.{+1}/24", "10.0.0.16/24");
    expect_filled("h[1-15]", "{-1}", "14");
    expect_filled("h[00-07]", "{} {+0} {1}", "07 7 07");
    expect_filled("r[0-3]h[0-7]", "10.0.{1}.{2+1}", "10.0.3.8");
    expect_filled("h[0-1]", "none", "none");
    expect_filled("r[0-3]h[0-7]", "{}", "\"r[0-3]h[0-7]\" has 2 ranges: expected {1} for the first one");
    expect_filled("r[0-3]h[0-7]", "{+1}", "expected {1+1} for the first one");
    expect_filled("h[0-1]", "{2}", "has 1 range: expected {1}");
    expect_filled("h[0-1]", "{0}", "has 1 range: expected {1}");
    expect_filled("h[0]", "{-1}", "-1 is below 0");
    expect_filled("h[0-1]", "a{", "expected {}, {+1} or {2+1}");
    expect_filled("h[0-1]", "a{x}", "expected {}, {+1} or {2+1}");
    expect_filled("h[0-1]", "{+}", "expected {}, {+1} or {2+1}");
    expect_filled("h[0-1]", "{+1234567}", "expected {}, {+1} or {2+1}");
}

/* A lab's document written out, or a part of the sentence. */
static void expect_lab(const char *written, const char *wanted)
{
    struct error e = {""};
    json_t *json = parse(written), *whole = lab_expand(json, &e);
    if (!whole) {
        if (!strstr(e.text, wanted))
            fail_msg("%s: %s", written, e.text);
    } else {
        json_t *other = parse(wanted);
        char *shown = json_shown(whole);
        if (!json_equal(whole, other))
            fail_msg("%s", shown);
        free(shown);
        json_decref(other);
    }
    json_decref(whole);
    json_decref(json);
}

static void labs_are_written_out(void **state)
{
    (void)state;
    expect_lab(
        "{\"hosts\":{\"h[0-2]\":{\"ssh\":\"h{}\",\"nic\":{\"address\":\"10.0.0.{+1}/24\",\"mtu\":1}},\"h1\":{"
        "\"sudo\":true,\"nic\":{\"mtu\":null}}},\"defaults\":{\"host\":{\"port\":22,\"nic\":{\"netdev\":"
        "\"e\"}}}}",
        "{\"hosts\":{\"h0\":{\"port\":22,\"ssh\":\"h0\",\"nic\":{\"netdev\":\"e\",\"address\":\"10.0.0.1/"
        "24\","
        "\"mtu\":1}},\"h1\":{\"port\":22,\"ssh\":\"h1\",\"nic\":{\"netdev\":\"e\",\"address\":\"10.0.0.2/"
        "24\"},"
        "\"sudo\":true},\"h2\":{\"port\":22,\"ssh\":\"h2\",\"nic\":{\"netdev\":\"e\",\"address\":\"10.0.0.3/"
        "24\",\"mtu\":1}}}}");
    expect_lab("{\"hosts\":{\"a\":{}},\"defaults\":{\"host\":{\"port\":22}}}",
               "{\"hosts\":{\"a\":{\"port\":22}}}");
    expect_lab("{\"hosts\":{\"a\":{\"port\":null}},\"defaults\":{\"host\":{\"port\":22}}}",
               "{\"hosts\":{\"a\":{}}}");
    expect_lab("{\"roles\":{\"a[0-1]\":\"h[3-4]\",\"b[0-1]\":\"h0\",\"c\":\"h0\"}}",
               "{\"roles\":{\"a0\":\"h3\",\"a1\":\"h4\",\"b0\":\"h0\",\"b1\":\"h0\",\"c\":\"h0\"}}");
    expect_lab("{\"links\":[{\"between\":[\"h[0-1]\",\"l[0-1]\"],\"mtu\":1},{\"between\":[\"h[0-1]\",\"s\"]},"
               "{\"between\":["
               "\"s\",\"t\"]}]}",
               "{\"links\":[{\"between\":[\"h0\",\"l0\"],\"mtu\":1},{\"between\":[\"h1\",\"l1\"],\"mtu\":1},{"
               "\"between\":["
               "\"h0\",\"s\"]},{\"between\":[\"h1\",\"s\"]},{\"between\":[\"s\",\"t\"]}]}");
    expect_lab(
        "{\"links\":[{\"between\":[\"h[0-1]\",\"l[0-2]\"]}]}",
        "links[0]: \"h[0-1]\" has 2 names and \"l[0-2]\" has 3: expected equally many, or a single name");
    expect_lab("{\"roles\":{\"a\":\"h[0-1]\"}}", "roles: \"a\" is one name: \"h[0-1]\" stands for 2");
    expect_lab("{\"roles\":{\"a[0-1]\":\"b\",\"a1\":\"c\"}}", "roles: \"a1\" occurs twice");
    expect_lab("{\"hosts\":{\"h[0-3]\":{},\"h[3-4]\":{}}}",
               "hosts: \"h3\" of \"h[3-4]\" is in another range too");
    expect_lab("{\"hosts\":{\"h[0-3]\":{\"nic\":{\"address\":\"{x}\"}}}}",
               "hosts: h[0-3]: nic: address: \"{x}\": expected");
    expect_lab("{\"hosts\":{\"a[0-59999]\":{},\"b[0-59999]\":{}}}",
               "hosts: the ranges stand for more than 100000 names");
}

/* {} is the number of the NIC, or the host's where the NIC has none; brackets count from the host's. */
static void nics_are_nodes(void **state)
{
    (void)state;
    expect_lab(
        "{\"driver\":\"ssh\",\"hosts\":{\"h[4-5]\":{\"ssh\":\"h{}\",\"nics\":{\"r[0-1]\":{\"netdev\":"
        "\"e{}\",\"address\":\"10.0.{2}.{1+1}/24\"},\"x\":{\"netdev\":\"x{}\"}}},\"h5\":{\"nics\":{"
        "\"r1\":{\"mac\":\"m\"},\"x\":null}}},\"defaults\":{\"host\":{\"port\":22,\"nic\":{"
        "\"gid_index\":3}}}}",
        "{\"driver\":\"ssh\",\"hosts\":{\"h4.r0\":{\"machine\":\"h4\",\"ssh\":\"h4\",\"port\":22,\"nic\":{"
        "\"netdev\":\"e0\",\"address\":\"10.0.0.5/24\",\"gid_index\":3}},\"h4.r1\":{\"machine\":\"h4\","
        "\"ssh\":\"h4\",\"port\":22,\"nic\":{\"netdev\":\"e1\",\"address\":\"10.0.1.5/24\",\"gid_index\":"
        "3}},\"h4.x\":{\"machine\":\"h4\",\"ssh\":\"h4\",\"port\":22,\"nic\":{\"netdev\":\"x4\","
        "\"gid_index\":3}},\"h5.r0\":{\"machine\":\"h5\",\"ssh\":\"h5\",\"port\":22,\"nic\":{\"netdev\":"
        "\"e0\",\"address\":\"10.0.0.6/24\",\"gid_index\":3}},\"h5.r1\":{\"machine\":\"h5\",\"ssh\":\"h5\","
        "\"port\":22,\"nic\":{\"netdev\":\"e1\",\"address\":\"10.0.1.6/24\",\"mac\":\"m\",\"gid_index\":3}"
        "}}}");
    expect_lab(
        "{\"driver\":\"ssh\",\"hosts\":{\"a\":{\"nics\":{\"x\":{},\"y\":{},\"z\":{\"gpu\":\"g0\"}},"
        "\"gpus\":{\"g[0-1]\":{}}}},\"links\":[{\"between\":[\"b\",\"a.x\"]}]}",
        "{\"driver\":\"ssh\",\"hosts\":{\"a.x\":{\"machine\":\"a\",\"nic\":{},\"gpu\":{\"index\":0},"
        "\"gpus\":{\"g0\":{\"index\":0},\"g1\":{\"index\":1}}},\"a.y\":{\"machine\":\"a\",\"nic\":{},\"gpu\":"
        "{\"index\":0},\"gpus\":{\"g0\":{\"index\":0},\"g1\":{\"index\":1}}},\"a.z\":{\"machine\":\"a\","
        "\"nic\":{\"gpu\":\"g0\"},\"gpu\":{\"index\":0},\"gpus\":{\"g0\":{\"index\":0},\"g1\":{\"index\":1}"
        "}}},\"links\":[{\"between\":[\"b\",\"a.x\"]}]}");
    expect_lab(
        "{\"driver\":\"sim\",\"hosts\":{\"a\":{\"pcie\":{\"generation\":4},\"nics\":{\"x\":{\"pcie\":{"
        "\"lanes\":8}}},\"gpus\":{\"g\":{\"write\":\"1Gb/s\"}}}},\"links\":[{\"between\":[\"a\",\"s\"]}]}",
        "{\"driver\":\"sim\",\"hosts\":{\"a.x\":{\"machine\":\"a\",\"nic\":{},\"pcie\":{\"generation\":4,"
        "\"lanes\":8},\"gpu\":{\"write\":\"1Gb/s\"}}},\"links\":[{\"between\":[\"a.x\",\"s\"]}]}");
    expect_lab("{\"driver\":\"ssh\",\"hosts\":{\"a\":{\"nic\":{},\"nics\":{\"x\":{}}}}}",
               "hosts.a: has nic and nics");
    expect_lab("{\"hosts\":{\"a\":{\"nics\":{\"x\":{}}},\"a.x\":{}}}",
               "hosts.a.x: is also a NIC of another host");
    expect_lab("{\"hosts\":{\"a.x\":{\"nics\":{\"y\":{}}},\"a\":{\"nics\":{\"x\":{}}}}}",
               "hosts.a.x: is also a NIC of another host");
    expect_lab("{\"hosts\":{\"a\":{\"nics\":{\"x.y\":{}}}}}", "hosts.a.nics: \"x.y\" is not a valid name");
    expect_lab("{\"hosts\":{\"a\":{\"nics\":{\"r[0-1]\":{},\"r[1-2]\":{}}}}}",
               "nics: \"r1\" of \"r[1-2]\" is in another range too");
    expect_lab("{\"hosts\":{\"a\":{\"nics\":{}}}}", "hosts.a.nics: 0 items");
    expect_lab("{\"hosts\":{\"a\":{}},\"defaults\":{\"host\":{\"nics\":1}}}",
               "defaults.host.nics: expected an object");
    expect_lab("{\"hosts\":{\"a\":{\"gpus\":{\"g\":{}},\"nics\":{\"x\":{\"gpu\":\"h\"}}}}}",
               "hosts.a.nics.x.gpu: the host has no GPU \"h\"");
    expect_lab(
        "{\"topology\":{\"kind\":\"star\",\"hosts\":10000},\"defaults\":{\"host\":{\"nics\":{\"r[0-63]\":{}"
        "}}}}",
        "hosts: their NICs are more than 100000");
}

static void expect_refused(const char *document, const char *sentence)
{
    struct error e = {""};
    struct lab lab;
    json_t *json = parse(document), *whole = lab_expand(json, &e);
    if (whole && lab_parse(whole, NULL, &lab, &e) == 0) {
        lab_free(&lab);
        fail_msg("%s is good", document);
    }
    if (!strstr(e.text, sentence))
        fail_msg("%s", e.text);
    json_decref(json);
    json_decref(whole);
}

#define SSH_LAB "{\"schema\":1,\"name\":\"t\",\"driver\":\"ssh\",\"hosts\":{"

static void nodes_know_their_machine(void **state)
{
    struct error e;
    struct lab lab = {0};
    struct text nics = {0};
    json_t *json =
        parse(SSH_LAB "\"a\":{\"ssh\":\"a\",\"nics\":{\"r[0-1]\":{}}},\"b\":{\"ssh\":\"b\"},\"c\":{"
                      "\"ssh\":\"c\"},\"b2\":{\"ssh\":\"b\",\"machine\":\"b\"}},\"roles\":{\"x\":\"a\","
                      "\"y\":\"a.r1\"}}");
    json_t *whole = lab_expand(json, &e);
    (void)state;
    if (!whole || lab_parse(whole, NULL, &lab, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(lab.hosts.count, 5);
    assert_string_equal(lab_machine_name(&lab, 1), "a");
    assert_string_equal(lab_nic_name(&lab, 1), "r1");
    assert_int_equal(lab_machine_first(&lab, 1), 0);
    assert_string_equal(lab_node_name(&lab, 3), "b2"); /* it is put beside b */
    assert_string_equal(lab_machine_name(&lab, 3), "b");
    assert_null(lab_nic_name(&lab, 3));
    assert_true(lab_same_machine(&lab, 2, 3));
    assert_false(lab_same_machine(&lab, 3, 4));
    assert_int_equal(lab_machine_index(&lab, "a"), 0);
    assert_int_equal(lab_machine_index(&lab, "b"), -1);
    assert_int_equal(lab_host_of(&lab, "x.r1"), 1);
    assert_int_equal(lab_host_of(&lab, "y"), 1);
    assert_int_equal(lab_host_of(&lab, "a.r0"), 0);
    assert_int_equal(lab_host_of(&lab, "x"), -1);
    assert_int_equal(lab_host_of(&lab, "x.r2"), -1);
    lab_add_nics(&lab, 0, "x", &nics);
    assert_string_equal(text_string(&nics), "x.r0, x.r1");
    text_free(&nics);
    lab_free(&lab);
    json_decref(json);
    json_decref(whole);
    expect_refused(SSH_LAB "\"a\":{\"ssh\":\"a\"},\"b\":{\"ssh\":\"a\"}}}",
                   "hosts.b.ssh: a leads to the machine of host a already");
    expect_refused(SSH_LAB "\"a\":{\"ssh\":\"a\"},\"b\":{\"ssh\":\"b\",\"machine\":\"a\"}}}",
                   "hosts.b.ssh: differs from that of a, which is the same machine \"a\"");
    expect_refused(SSH_LAB
                   "\"a\":{\"ssh\":\"a\",\"nics\":{\"r[0-1]\":{}}},\"b\":{\"ssh\":\"b\"}},\"links\":[{"
                   "\"between\":[\"a\",\"b\"]}]}",
                   "links[0].between[0]: host \"a\" has several NICs: expected one of a.r0, a.r1");
    expect_refused(SSH_LAB "\"a\":{\"ssh\":\"a\",\"machine\":\"m\",\"nics\":{\"r[0-1]\":{}}}}}",
                   "hosts.a: has nics, whose nodes are a.NIC, and \"machine\"");
}

/* Names of a wrong type are the table's to refuse. */
static void other_types_are_left(void **state)
{
    static const char labs[] =
        "{\"hosts\":[],\"switches\":1,\"roles\":{\"a\":[1]},\"links\":[1,{\"between\":[\"h[0-1]\"]},{"
        "\"between\":[\"h[0-1]\",2]}]}";
    (void)state;
    expect_lab(labs, labs);
}

static void flows_are_written_out(void **state)
{
    struct error e;
    json_t *json = parse(
        "{\"roles\":[\"h[0-3]\"],\"settings_of\":{\"h[0-1]\":{\"mtu\":1500},\"h1\":{\"pfc\":[3]}},\"flows\":["
        "{"
        "\"name\":\"up-{}\",\"from\":\"h[0-1]\",\"to\":\"h3\",\"start\":\"{+1}us\"},{\"name\":\"down-{}\","
        "\"from\":\"h3\",\"to\":\"h[1-2]\"}],\"storms\":[{\"role\":\"h[1-2]\",\"stop\":\"1us\"}]}");
    json_t *wanted = parse(
        "{\"roles\":[\"h0\",\"h1\",\"h2\",\"h3\"],\"settings_of\":{\"h0\":{\"mtu\":1500},\"h1\":{\"mtu\":"
        "1500,\"pfc\":[3]}},\"flows\":[{\"name\":\"up-0\",\"from\":\"h0\",\"to\":\"h3\",\"start\":\"1us\"},{"
        "\"name\":\"up-1\",\"from\":\"h1\",\"to\":\"h3\",\"start\":\"2us\"},{\"name\":\"down-1\",\"from\":"
        "\"h3\",\"to\":\"h1\"},{\"name\":\"down-2\",\"from\":\"h3\",\"to\":\"h2\"}],\"storms\":[{\"role\":"
        "\"h1\",\"stop\":\"1us\"},{\"role\":\"h2\",\"stop\":\"1us\"}]}");
    json_t *whole = scenario_expand(json, &e);
    (void)state;
    assert_true(json_equal(whole, wanted));
    json_decref(json);
    json_decref(wanted);
    json_decref(whole);
    json = parse("{\"flows\":[{\"name\":\"up\",\"from\":\"h[0-1]\",\"to\":\"h3\"}]}");
    assert_null(scenario_expand(json, &e));
    assert_string_equal(
        e.text,
        "flows[0]: name: \"up\" would be the name of 2: expected {} for the number, such as \"up-{}\"");
    json_decref(json);
}

/* ---- topologies */

static void load(const char *topology, struct lab *lab)
{
    struct error e;
    json_t *json = parse(
        "{\"schema\":1,\"name\":\"t\",\"driver\":\"sim\",\"defaults\":{\"link\":{\"rate\":\"100Gb/s\"}}}");
    json_object_set_new(json, "topology", parse(topology));
    json_t *whole = lab_expand(json, &e);
    if (!whole || lab_parse(whole, NULL, lab, &e) != 0)
        fail_msg("%s: %s", topology, e.text);
    json_decref(json);
    json_decref(whole);
}

static size_t node(const struct lab *lab, const char *name)
{
    for (size_t i = 0; lab_node_name(lab, i); i++)
        if (strcmp(lab_node_name(lab, i), name) == 0)
            return i;
    fail_msg("no node %s", name);
    return 0;
}

/* Distances from a node, and the number of shortest paths to each, over all links. */
static void walk(const struct lab *lab, size_t from, size_t *distance, size_t *paths)
{
    size_t count = lab->hosts.count + lab->switches.count;
    const struct lab_link *link;
    for (size_t i = 0; i < count; i++)
        distance[i] = SIZE_MAX, paths[i] = 0;
    distance[from] = 0;
    paths[from] = 1;
    for (size_t d = 0; d < 8; d++)
        for (size_t l = 0; (link = lab_link_at(lab, l)); l++)
            for (size_t k = 0; k < 2; k++) {
                char *const *ends = link->between.items;
                size_t a = node(lab, ends[k]), b = node(lab, ends[1 - k]);
                if (distance[a] != d || distance[b] <= d)
                    continue;
                distance[b] = d + 1;
                paths[b] += paths[a];
            }
}

static void expect_paths(const char *topology, const char *from, const char *to, size_t links, size_t count)
{
    struct lab lab;
    load(topology, &lab);
    size_t nodes = lab.hosts.count + lab.switches.count;
    size_t *distance = calloc(nodes, sizeof *distance), *paths = calloc(nodes, sizeof *paths);
    assert_non_null(distance);
    assert_non_null(paths);
    walk(&lab, node(&lab, from), distance, paths);
    assert_int_equal(distance[node(&lab, to)], links);
    assert_int_equal(paths[node(&lab, to)], count);
    free(distance);
    free(paths);
    lab_free(&lab);
}

static void expect_size(const char *topology, size_t hosts, size_t switches, size_t links)
{
    struct lab lab;
    load(topology, &lab);
    assert_int_equal(lab.hosts.count, hosts);
    assert_int_equal(lab.switches.count, switches);
    assert_int_equal(lab.links.count, links);
    lab_free(&lab);
}

/* Al-Fares et al. 2008: k^3/4 hosts, k^2/2 + k^2/2 + (k/2)^2 switches of k ports, (k/2)^2 shortest paths
 * between pods. */
static void fat_trees_have_their_paths(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 8; k += 2) {
        char topology[64];
        snprintf(topology, sizeof topology, "{\"kind\":\"fat_tree\",\"k\":%zu}", k);
        expect_size(topology, k * k * k / 4, k * k + k * k / 4, 3 * k * k * k / 4);
    }
    const char *four = "{\"kind\":\"fat_tree\",\"k\":4}", *six = "{\"kind\":\"fat_tree\",\"k\":6}";
    expect_paths(four, "h0", "h1", 2, 1);
    expect_paths(four, "h0", "h2", 4, 2);
    expect_paths(four, "h0", "h4", 6, 4);
    expect_paths(four, "h3", "h15", 6, 4);
    expect_paths(six, "h0", "h3", 4, 3);
    expect_paths(six, "h0", "h53", 6, 9);
}

static void each_switch_of_a_fat_tree_has_k_ports(void **state)
{
    struct lab lab;
    const struct lab_link *link;
    size_t ports[128] = {0};
    (void)state;
    load("{\"kind\":\"fat_tree\",\"k\":6}", &lab);
    for (size_t l = 0; (link = lab_link_at(&lab, l)); l++)
        for (size_t k = 0; k < 2; k++)
            ports[node(&lab, ((char *const *)link->between.items)[k])]++;
    for (size_t i = 0; i < lab.hosts.count + lab.switches.count; i++)
        assert_int_equal(ports[i], i < lab.hosts.count ? 1 : 6);
    lab_free(&lab);
}

static void other_topologies_have_their_paths(void **state)
{
    (void)state;
    expect_size("{\"kind\":\"star\"}", 8, 1, 8);
    expect_size("{\"kind\":\"dumbbell\"}", 16, 2, 17);
    expect_size("{\"kind\":\"leaf_spine\"}", 32, 8, 48);
    expect_size("{\"kind\":\"fat_tree\"}", 16, 20, 48);
    expect_paths("{\"kind\":\"star\",\"hosts\":5}", "h0", "h4", 2, 1);
    expect_paths("{\"kind\":\"dumbbell\",\"hosts\":3}", "h0", "h5", 3, 1);
    expect_paths("{\"kind\":\"leaf_spine\",\"hosts\":2,\"leaves\":3,\"spines\":5}", "h0", "h5", 4, 5);
}

/* Rails stay on their leaf within a group; between groups, and from rail to rail, paths lead over all spines.
 * Planes are not joined. */
static void topologies_of_many_nics_have_their_paths(void **state)
{
    (void)state;
    const char *rails = "{\"kind\":\"rail_leaf_spine\",\"hosts\":3,\"groups\":2,\"rails\":4,\"spines\":5}";
    expect_size("{\"kind\":\"rail_leaf_spine\"}", 128, 20, 128 + 64);
    expect_size(rails, 24, 13, 24 + 40);
    expect_paths(rails, "h0.rail1", "h2.rail1", 2, 1);
    expect_paths(rails, "h0.rail1", "h2.rail3", 4, 5);
    expect_paths(rails, "h0.rail1", "h3.rail1", 4, 5);
    expect_paths(rails, "h0.rail1", "leaf1", 1, 1);
    expect_paths(rails, "h5.rail3", "leaf7", 1, 1);
    expect_paths("{\"kind\":\"rail_leaf_spine\",\"spines\":0}", "h0.rail1", "h1.rail2", SIZE_MAX, 0);
    const char *planes = "{\"kind\":\"dual_plane\",\"hosts\":2,\"leaves\":3,\"spines\":5}";
    expect_size("{\"kind\":\"dual_plane\"}", 64, 16, 96);
    expect_size(planes, 12, 16, 12 + 30);
    expect_paths(planes, "h0.plane1", "h5.plane1", 4, 5);
    expect_paths(planes, "h0.plane0", "h1.plane0", 2, 1);
    expect_paths(planes, "h0.plane0", "h0.plane1", SIZE_MAX, 0);
    expect_paths(planes, "h5.plane1", "leaf5", 1, 1);
}

static void numbers_are_those_in_names(void **state)
{
    struct error e;
    struct lab lab;
    (void)state;
    assert_int_equal(lab_number_in_name("h12"), 12);
    assert_int_equal(lab_number_in_name("h12.port1"), 12);
    assert_int_equal(lab_number_in_name("r2s007"), 7);
    assert_int_equal(lab_number_in_name("s65535"), 65535);
    assert_int_equal(lab_number_in_name("s65536"), -1);
    assert_int_equal(lab_number_in_name("spine"), -1);
    assert_int_equal(lab_number_in_name("a.port1"), -1);
    json_t *json = parse(
        "{\"schema\":1,\"name\":\"t\",\"driver\":\"sim\",\"ecmp_numbers\":\"names\",\"hosts\":{\"h0\":{},"
        "\"b\":{}},\"links\":[{\"between\":[\"h0\",\"b\"],\"rate\":\"1Gb/s\"}]}");
    assert_int_equal(lab_parse(json, NULL, &lab, &e), -1);
    assert_string_equal(e.text,
                        "ecmp_numbers: \"names\" needs a number from 0 to 65535 in the name of each node: "
                        "\"b\" has none");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_stand_for_names),
        cmocka_unit_test(a_glob_has_ranges),
        cmocka_unit_test(what_is_no_range_is_refused),
        cmocka_unit_test(values_have_the_number_of_the_name),
        cmocka_unit_test(labs_are_written_out),
        cmocka_unit_test(nics_are_nodes),
        cmocka_unit_test(nodes_know_their_machine),
        cmocka_unit_test(other_types_are_left),
        cmocka_unit_test(flows_are_written_out),
        cmocka_unit_test(fat_trees_have_their_paths),
        cmocka_unit_test(each_switch_of_a_fat_tree_has_k_ports),
        cmocka_unit_test(other_topologies_have_their_paths),
        cmocka_unit_test(topologies_of_many_nics_have_their_paths),
        cmocka_unit_test(numbers_are_those_in_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
