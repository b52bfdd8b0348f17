/* What a real host is asked to set: the interfaces of nic-config's document. */
#include "tests/unit/unit.h"

#include "harness/labs/hosts/host.h"

static json_t *parse_text(const char *text)
{
    json_error_t wrong;
    json_t *json = json_loads(text, 0, &wrong);
    if (!json)
        fail_msg("%s: %s", text, wrong.text);
    return json;
}

/* A host of one port or two, whose interfaces nic-config has found as in `found`. */
static void expect(size_t extra, const char *found, const char *wanted, const char *expected)
{
    struct lab_host lab = {.extra_nics.count = extra};
    struct remote_host h = {.lab = &lab};
    char first[] = "eth1", second[] = "eth2";
    h.netdev = first;
    h.extra[0] = extra ? second : NULL;
    h.nic = json_pack("{s:o}", "interfaces", parse_text(found));
    json_t *asked = parse_text(wanted), *interfaces = remote_interfaces(&h, asked),
           *right = parse_text(expected);
    char *text = json_dumps(interfaces, JSON_COMPACT | JSON_SORT_KEYS);
    if (!json_equal(interfaces, right))
        fail_msg("%s: found %s, expected %s", wanted, text, expected);
    free(text);
    json_decref(asked);
    json_decref(interfaces);
    json_decref(right);
    json_decref(h.nic);
}

#define ROCE   "{\"eth1\":{\"roce\":true},\"eth2\":{\"roce\":true}}"
#define BRIDGE "\"br-cp\":{\"kind\":\"bridge\",\"up\":true}"
#define PORT   "\"bridge\":\"br-cp\",\"up\":true"

static void an_end_keeps_roce(void **state)
{
    (void)state;
    expect(0, ROCE, "{\"pfc\":[0],\"ecn\":[0]}", "{\"eth1\":{\"pfc\":[0],\"ecn\":[0]}}");
}

/* enable_roce of a ConnectX: with it on, the NIC takes RoCE frames that are to be bridged. */
static void ports_of_a_forwarding_host_leave_roce_to_the_bridge(void **state)
{
    (void)state;
    expect(1, ROCE, "{\"rx_ring\":8192}",
           "{" BRIDGE ",\"eth1\":{\"rx_ring\":8192,\"roce\":false," PORT
           "},\"eth2\":{\"rx_ring\":8192,\"roce\":false," PORT "}}");
    /* without RoCE there is no DCQCN to set */
    expect(1, ROCE, "{\"ecn\":[0],\"dcqcn\":{\"rp\":{}},\"traffic_class\":106}",
           "{" BRIDGE ",\"eth1\":{\"roce\":false," PORT "},\"eth2\":{\"roce\":false," PORT "}}");
}

static void other_ports_are_left_alone(void **state)
{
    (void)state;
    expect(1, "{\"eth1\":{\"mtu\":1500},\"eth2\":{\"roce\":true}}", "{\"ecn\":[0]}",
           "{" BRIDGE ",\"eth1\":{\"ecn\":[0]," PORT "},\"eth2\":{\"roce\":false," PORT "}}");
    expect(1, "{\"eth1\":{\"roce\":false},\"eth2\":{\"roce\":false}}", "{}",
           "{" BRIDGE ",\"eth1\":{" PORT "},\"eth2\":{" PORT "}}");
    expect(1, ROCE, "{\"roce\":true}",
           "{" BRIDGE ",\"eth1\":{\"roce\":true," PORT "},\"eth2\":{\"roce\":true," PORT "}}");
}

/* What nic-config says after it has set pfc, mtu and trust of eth1. NULL: it is believed. */
static void compare(const char *wanted, const char *read_back, const char *expected)
{
    char name[] = "a", first[] = "eth1";
    struct lab_host lab = {.name = name};
    struct remote_host h = {.lab = &lab, .netdev = first};
    json_t *asked = parse_text(wanted), *found = parse_text(read_back);
    struct error e = {""};
    assert_int_equal(remote_settings_compare(&h, asked, found, &e), expected ? -1 : 0);
    if (expected)
        assert_string_equal(e.text, expected);
    json_decref(asked);
    json_decref(found);
}

static void settings_that_are_not_in_force_are_told(void **state)
{
    static const char wanted[] = "{\"mtu\":1400,\"pfc\":[3,0],\"trust\":\"dscp\",\"buffer_bytes\":[0,1000]}";
    (void)state;
    compare(wanted, "{\"eth1\":{\"mtu\":1400,\"pfc\":[0,3],\"trust\":\"dscp\",\"buffer_bytes\":[0,1000,0]}}",
            NULL);
    compare(wanted, "{\"eth1\":{\"mtu\":1400}}", NULL); /* the others were left out */
    compare(wanted, "{\"eth1\":{\"mtu\":1500,\"pfc\":[0,3]}}",
            "host a: mtu of eth1 is not in force: nic-config was to set 1400, and read back 1500");
    compare(wanted, "{\"eth1\":{\"mtu\":1400,\"pfc\":[0]}}",
            "host a: pfc of eth1 is not in force: nic-config was to set [3,0], and read back [0]");
    compare(wanted, "{\"eth1\":{\"mtu\":1400,\"trust\":\"pcp\"}}",
            "host a: trust of eth1 is not in force: nic-config was to set \"dscp\", and read back \"pcp\"");
    /* read_ecn of nic-config: `ecn` is what both points have */
    compare("{\"ecn\":[0],\"ecn_rp\":[]}", "{\"eth1\":{\"ecn\":[],\"ecn_rp\":[],\"ecn_np\":[0]}}", NULL);
    compare(wanted, "{}", "host a: nic-config set did not say which settings of eth1 are in force");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_end_keeps_roce),
                                       cmocka_unit_test(ports_of_a_forwarding_host_leave_roce_to_the_bridge),
                                       cmocka_unit_test(other_ports_are_left_alone),
                                       cmocka_unit_test(settings_that_are_not_in_force_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
