/* VLAN interfaces: the bytes of requests and answers (linux include/uapi/linux/if_link.h), and
 * comparisons. */
#include "tests/unit/unit.h"

#include "nic-config/device/vlan.h"
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

static char buffer[1024] __attribute__((aligned(8)));

/* An entry of an egress map. */
#define MAP(priority, tag)        \
    {                             \
        (char[]){priority}, (tag) \
    }

static struct nlmsghdr *begin(void)
{
    struct nlmsghdr *m = mnl_nlmsg_put_header(buffer);
    m->nlmsg_type = RTM_NEWLINK;
    memset(mnl_nlmsg_put_extra_header(m, sizeof(struct ifinfomsg)), 0, sizeof(struct ifinfomsg));
    return m;
}

static void expect_answer(const struct nlmsghdr *m, int of, int id, const char *egress)
{
    struct vlan_answer answer = {.egress = json_object()};
    assert_int_equal(vlan_parse(m, &answer), MNL_CB_OK);
    char *text = json_dumps(answer.egress, JSON_COMPACT | JSON_SORT_KEYS);
    assert_int_equal(answer.of, of);
    assert_int_equal(answer.id, id);
    assert_string_equal(text, egress);
    free(text);
    json_decref(answer.egress);
}

/* What iproute2 6.1 sends for `ip link add link d0 name d0.100 type vlan id 100 egress-qos-map 0:3 6:7`, with
 * two differences that mean the same to the kernel: libmnl marks nests (NLA_F_NESTED), and the kind ends with
 * a zero byte. */
static void a_request_has_the_bytes_of_ip_link(void **state)
{
    static const uint8_t bytes[] = {
        0x38, 0, 0x12, 0x80,                                 /* IFLA_LINKINFO */
        0x09, 0, 0x01, 0,    'v', 'l', 'a', 'n', 0, 0, 0, 0, /* IFLA_INFO_KIND */
        0x28, 0, 0x02, 0x80,                                 /* IFLA_INFO_DATA */
        0x06, 0, 0x01, 0,    100, 0,   0,   0,               /* IFLA_VLAN_ID */
        0x1c, 0, 0x03, 0x80,                                 /* IFLA_VLAN_EGRESS_QOS */
        0x0c, 0, 0x01, 0,    0,   0,   0,   0,   3, 0, 0, 0, /* IFLA_VLAN_QOS_MAPPING */
        0x0c, 0, 0x01, 0,    6,   0,   0,   0,   7, 0, 0, 0,
    };
    struct named_integer map[] = {MAP("0", 3), MAP("6", 7)};
    const struct list_of egress = {map, 2};
    struct nlmsghdr *m = begin();
    uint32_t at = m->nlmsg_len;
    (void)state;
    vlan_put(m, 100, NULL, &egress);
    assert_int_equal(m->nlmsg_len - at, sizeof bytes);
    assert_memory_equal(buffer + at, bytes, sizeof bytes);
}

static void what_is_sent_can_be_read(void **state)
{
    struct named_integer map[] = {MAP("0", 3), MAP("6", 7)};
    struct nlmsghdr *m = begin();
    (void)state;
    mnl_attr_put_u32(m, IFLA_LINK, 12);
    vlan_put(m, 4094, NULL, &(struct list_of){map, 2});
    expect_answer(m, 12, 4094, "{\"0\":3,\"6\":7}");
}

static void only_differences_are_sent(void **state)
{
    struct named_integer before[] = {MAP("0", 3), MAP("2", 5), MAP("6", 7)},
                         after[] = {MAP("0", 3), MAP("6", 1)};
    struct nlmsghdr *m = begin();
    (void)state;
    mnl_attr_put_u32(m, IFLA_LINK, 12);
    vlan_put(m, 1, &(struct list_of){before, 3}, &(struct list_of){after, 2});
    expect_answer(m, 12, 1, "{\"2\":0,\"6\":1}");
}

static void other_links_are_no_vlans(void **state)
{
    struct nlmsghdr *m = begin();
    (void)state;
    expect_answer(m, 0, 0, "{}");
    struct nlattr *info = mnl_attr_nest_start(m, IFLA_LINKINFO);
    mnl_attr_put_strz(m, IFLA_INFO_KIND, "bridge");
    struct nlattr *data = mnl_attr_nest_start(m, IFLA_INFO_DATA);
    mnl_attr_put_u16(m, IFLA_VLAN_ID, 5);
    mnl_attr_nest_end(m, data);
    mnl_attr_nest_end(m, info);
    mnl_attr_put_u32(m, IFLA_LINK, 12);
    expect_answer(m, 0, 0, "{}");
}

static void a_priority_without_an_entry_is_0(void **state)
{
    char eth1[] = "eth1", eth2[] = "eth2";
    struct named_integer map[] = {MAP("0", 3), MAP("1", 0)}, same[] = {MAP("0", 3)},
                         other[] = {MAP("0", 3), MAP("1", 1)};
    const struct settings_vlan a = {eth1, 7, {map, 2}}, b = {eth1, 7, {same, 1}}, c = {eth1, 7, {other, 2}},
                               d = {eth2, 7, {map, 2}}, f = {eth1, 8, {map, 2}};
    (void)state;
    assert_true(vlan_same(&a, &b));
    assert_true(vlan_same(&b, &a));
    assert_false(vlan_same(&a, &c));
    assert_false(vlan_same(&c, &a));
    assert_true(vlan_same_place(&a, &c));
    assert_false(vlan_same_place(&a, &d));
    assert_false(vlan_same_place(&a, &f));
    assert_false(vlan_same(&a, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_the_bytes_of_ip_link), cmocka_unit_test(what_is_sent_can_be_read),
        cmocka_unit_test(only_differences_are_sent),          cmocka_unit_test(other_links_are_no_vlans),
        cmocka_unit_test(a_priority_without_an_entry_is_0),
    };
    return cmocka_run_group_tests_name("nic_config_vlan", tests, NULL, NULL);
}
