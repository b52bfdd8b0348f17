/* A lab from what hosts say of themselves: NICs, their order, rails, GPUs, links, and ranges of names. */
#include "tests/unit/unit.h"

#include "harness/labs/hosts/discover/discover.h"
#include "lib/text.h"

static json_t *parse_text(const char *text)
{
    json_error_t wrong;
    json_t *json = json_loads(text, 0, &wrong);
    if (!json)
        fail_msg("%s: %s", text, wrong.text);
    return json;
}

/* A NIC of host-facts; `more` is added. */
static void add_nic(struct text *out, int host, int rail, int pci, const char *more)
{
    text_add(
        out,
        "%s{\"netdev\":\"ens%df0np0\",\"kind\":null,\"master\":null,\"state\":\"up\",\"speed_Mbps\":400000,"
        "\"pci\":{\"address\":\"0000:%02x:00.0\"},\"rdma\":{\"device\":\"mlx5_%d\",\"transport\":\"RoCE\","
        "\"link_layer\":\"Ethernet\",\"gids\":[{\"index\":3,\"address\":\"10.0.%d.%d\",\"type\":\"RoCE "
        "v2\"}]},\"settings\":{\"addresses\":[\"fe80::1/64\",\"10.0.%d.%d/24\"]}%s}",
        out->length && out->data[out->length - 1] == '}' ? "," : "", rail, pci, rail, rail, host, rail, host,
        more);
}

static struct found begin_found(const struct discover_request *request, struct found_host hosts[])
{
    static char names[4][8] = {"node1", "node2", "node3", "node4"};
    struct found found = {
        .request = request, .hosts = hosts, .count = request->count, .remarks = json_array()};
    for (size_t i = 0; i < request->count; i++)
        hosts[i] = (struct found_host){.name = strdup(names[i]), .destination = request->destinations[i]};
    return found;
}

static void take_host_facts(struct found *found, size_t host, const char *text)
{
    json_t *facts = parse_text(text);
    found_take_facts(found, host, facts);
    json_decref(facts);
}

static void end_found(struct found *found)
{
    struct found copy = *found;
    copy.hosts = calloc(found->count, sizeof *copy.hosts);
    memcpy(copy.hosts, found->hosts, found->count * sizeof *copy.hosts);
    found_free(&copy);
}

static const char *const destinations[] = {"root@node1", "root@node2", "root@node3", "root@node4"};

static void expect(struct found *found, const char *key, const char *expected)
{
    struct error e = {""};
    found_number_rails(found);
    json_t *document = found_document(found, &e), *right = parse_text(expected);
    if (!document)
        fail_msg("%s", e.text);
    if (!json_equal(json_object_get(document, key), right)) {
        char *text = json_dumps(document, JSON_INDENT(1));
        fail_msg("%s, expected of %s %s", text, key, expected);
    }
    json_decref(document);
    json_decref(right);
}

/* The interfaces are numbered as their PCI addresses are not: the order is that of the machine. */
static void hosts_that_count_become_ranges(void **state)
{
    const struct discover_request request = {.name = "found", .destinations = destinations, .count = 4};
    struct found_host hosts[4];
    struct found found = begin_found(&request, hosts);
    (void)state;
    for (int host = 0; host < 4; host++) {
        struct text facts = {0};
        for (int rail = 0; rail < 4; rail++)
            add_nic(&facts, host + 1, rail, 0x20 + rail, "");
        struct text whole = {0};
        text_add(&whole, "{\"host\":\"node%d\",\"nics\":[%s],\"gpus\":[", host + 1, text_string(&facts));
        for (int gpu = 0; gpu < 8; gpu++)
            text_add(&whole, "%s{\"index\":%d,\"pci\":{\"address\":\"0000:%02x:00.0\"}}", gpu ? "," : "", gpu,
                     0x40 + gpu);
        text_add(&whole, "],\"pairs\":[");
        for (int rail = 0; rail < 4; rail++) /* the later four are the near ones */
            text_add(&whole, "%s{\"netdev\":\"ens%df0np0\",\"gpu\":\"0000:%02x:00.0\",\"relation\":\"PIX\"}",
                     rail ? "," : "", rail, 0x44 + rail);
        text_add(&whole, "]}");
        take_host_facts(&found, (size_t)host, text_string(&whole));
        text_free(&facts);
        text_free(&whole);
    }
    expect(&found, "hosts",
           "{\"node[1-4]\":{\"ssh\":\"root@node{}\",\"nics\":{"
           "\"rail[0-3]\":{\"netdev\":\"ens{}f0np0\",\"rdma\":\"mlx5_{}\",\"address\":\"10.0.{}.{1}/"
           "24\",\"gpu\":\"gpu{+4}\"}},"
           "\"gpus\":{\"gpu[0-7]\":{\"index\":\"{}\"}}}}");
    end_found(&found);
}

/* Names of interfaces and numbers that do not count have an entry each, and so has what is only nearly the
 * same. */
static void what_does_not_count_is_written_out(void **state)
{
    const struct discover_request request = {.name = "found", .destinations = destinations, .count = 2};
    struct found_host hosts[2];
    struct found found = begin_found(&request, hosts);
    struct text facts = {0};
    (void)state;
    add_nic(&facts, 1, 0, 0x20, "");
    add_nic(&facts, 1, 5, 0x21, "");
    struct text whole = {0};
    text_add(&whole, "{\"host\":\"node1\",\"nics\":[%s]}", text_string(&facts));
    take_host_facts(&found, 0, text_string(&whole));
    take_host_facts(
        &found, 1,
        "{\"host\":\"node2\",\"nics\":[{\"netdev\":\"data0\",\"state\":\"up\",\"rdma\":{\"device\":\"mlx5_"
        "9\","
        "\"transport\":\"RoCE\"},\"settings\":{\"addresses\":[\"10.0.5.9/24\"]}}]}");
    expect(&found, "hosts",
           "{\"node1\":{\"ssh\":\"root@node1\",\"nics\":{"
           "\"rail0\":{\"netdev\":\"ens0f0np0\",\"rdma\":\"mlx5_0\",\"address\":\"10.0.0.1/24\"},"
           "\"rail1\":{\"netdev\":\"ens5f0np0\",\"rdma\":\"mlx5_5\",\"address\":\"10.0.5.1/24\"}}},"
           "\"node2\":{\"ssh\":\"root@node2\",\"nic\":{\"netdev\":\"data0\",\"rdma\":\"mlx5_9\",\"address\":"
           "\"10.0.5.9/24\"}}}");
    text_free(&facts);
    text_free(&whole);
    end_found(&found);
}

/* The second host's first NIC is of the first host's second network: both are rail1. */
static void rails_have_one_number_on_all_hosts(void **state)
{
    const struct discover_request request = {.name = "found", .destinations = destinations, .count = 2};
    struct found_host hosts[2];
    struct found found = begin_found(&request, hosts);
    (void)state;
    for (int host = 0; host < 2; host++) {
        struct text facts = {0}, whole = {0};
        add_nic(&facts, host + 1, 0, host ? 0x21 : 0x20, "");
        add_nic(&facts, host + 1, 1, host ? 0x20 : 0x21, "");
        text_add(&whole, "{\"host\":\"node%d\",\"nics\":[%s]}", host + 1, text_string(&facts));
        take_host_facts(&found, (size_t)host, text_string(&whole));
        text_free(&facts);
        text_free(&whole);
    }
    found.reached = parse_text("{\"node1 ens0f0np0 10.0.0.2\":true,\"node2 ens0f0np0 10.0.0.1\":true,"
                               "\"node1 ens1f0np0 10.0.1.2\":true,\"node2 ens1f0np0 10.0.1.1\":true}");
    expect(
        &found, "hosts",
        "{\"node[1-2]\":{\"ssh\":\"root@node{}\",\"nics\":{\"rail[0-1]\":{\"netdev\":\"ens{}f0np0\",\"rdma\":"
        "\"mlx5_{}\",\"address\":\"10.0.{}.{1}/24\"}}}}");
    expect(&found, "links", "[{\"between\":[\"node1.rail[0-1]\",\"node2.rail[0-1]\"],\"rate\":\"400Gb/s\"}]");
    json_object_del(found.reached, "node2 ens1f0np0 10.0.1.1"); /* one way is not both */
    expect(&found, "links", "[{\"between\":[\"node1.rail0\",\"node2.rail0\"],\"rate\":\"400Gb/s\"}]");
    end_found(&found);
}

/* What a run would refuse, or cut off. */
static void what_cannot_be_in_a_lab_has_its_reason(void **state)
{
    const struct discover_request request = {.name = "found", .destinations = destinations, .count = 1};
    struct found_host hosts[1];
    struct found found = begin_found(&request, hosts);
    static const char nics[] =
        "{\"host\":\"node1\",\"nics\":["
        "{\"netdev\":\"bond0\",\"kind\":\"bond\",\"lower\":[\"eth0\",\"eth1\"],\"rdma\":{\"device\":\"mlx5_"
        "bond_0\","
        "\"transport\":\"RoCE\"}},"
        "{\"netdev\":\"eth0\",\"master\":\"bond0\",\"rdma\":null},"
        "{\"netdev\":\"ib0\",\"rdma\":{\"device\":\"mlx5_1\",\"transport\":\"InfiniBand\",\"link_layer\":"
        "\"InfiniBand\"}},"
        "{\"netdev\":\"net1\",\"kind\":\"macvlan\",\"rdma\":{\"device\":\"mlx5_2\",\"transport\":\"RoCE\"}},"
        "{\"netdev\":\"mgmt\",\"state\":\"up\",\"rdma\":{\"device\":\"mlx5_3\",\"transport\":\"RoCE\"},"
        "\"settings\":"
        "{\"addresses\":[\"192.0.2.7/24\"]}},"
        "{\"netdev\":\"off\",\"state\":\"down\",\"rdma\":{\"device\":\"mlx5_4\",\"transport\":\"RoCE\"}},"
        "{\"netdev\":\"enp1s0\",\"state\":\"up\",\"rdma\":null},"
        "{\"netdev\":\"bare\",\"state\":\"up\",\"rdma\":{\"device\":\"mlx5_5\",\"transport\":\"RoCE\"}}],"
        "\"elsewhere\":[{\"rdma\":\"mlx5_6\",\"netdev\":\"eth6\"}]}";
    static const char *const expected[] = {"left out: bond0 is a bond upon eth0, eth1 (RoCE LAG)",
                                           "left out: eth0 is a port of bond0",
                                           "left out: ib0 of mlx5_1 is a port of InfiniBand",
                                           "left out: net1 is a macvlan",
                                           "left out: the ssh connection goes through mgmt",
                                           "left out: off is down",
                                           "bare has no address",
                                           "left out: eth6 belongs to another network namespace"};
    (void)state;
    strcpy(hosts[0].ssh_address, "192.0.2.7");
    take_host_facts(&found, 0, nics);
    assert_int_equal(json_array_size(found.remarks), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(json_string_value(json_array_get(found.remarks, i)), expected[i]))
            fail_msg("%s, expected %s", json_string_value(json_array_get(found.remarks, i)), expected[i]);
    expect(&found, "hosts",
           "{\"node1\":{\"ssh\":\"root@node1\",\"nic\":{\"netdev\":\"bare\",\"rdma\":\"mlx5_5\"}}}");
    end_found(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_that_count_become_ranges),
                                       cmocka_unit_test(what_does_not_count_is_written_out),
                                       cmocka_unit_test(rails_have_one_number_on_all_hosts),
                                       cmocka_unit_test(what_cannot_be_in_a_lab_has_its_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
