/* Which GID of a port is chosen, and GIDs and MTUs as text and numbers. */
#include "tests/unit/unit.h"

/* its static functions too */
#include "traffic/connection/device.c"

static struct ibv_gid_entry entry(uint32_t index, uint32_t type, const char *text)
{
    struct ibv_gid_entry made = {.gid_index = index, .port_num = 1, .gid_type = type};
    struct error e = {{0}};
    assert_int_equal(gid_parse(text, &made.gid, &e), 0);
    return made;
}

static int score(const struct local_options *options, const char *address, uint32_t index, uint32_t type,
                 const char *text)
{
    struct ibv_gid_entry made = entry(index, type, text);
    union ibv_gid wanted;
    if (address)
        assert_int_equal(gid_parse(address, &wanted, NULL), 0);
    return score_gid(options, address ? &wanted : NULL, &made);
}

static void the_address_decides_then_ipv4_then_anything(void **state)
{
    const struct local_options any = {.gid_index = -1};
    (void)state;
    int same = score(&any, "10.0.0.1", 3, IBV_GID_TYPE_ROCE_V2, "10.0.0.1");
    int ipv4 = score(&any, "10.0.0.1", 3, IBV_GID_TYPE_ROCE_V2, "192.0.2.7");
    int local = score(&any, "10.0.0.1", 1, IBV_GID_TYPE_ROCE_V2, "fe80::1");
    int same6 = score(&any, "2001:db8::1", 1, IBV_GID_TYPE_ROCE_V2, "2001:db8::1");
    assert_true(same > ipv4 && ipv4 > local && local > 0);
    assert_int_equal(same, same6);
    /* RoCE v1 has the same GIDs under other indices */
    assert_int_equal(score(&any, "10.0.0.1", 2, IBV_GID_TYPE_ROCE_V1, "10.0.0.1"), 0);
    const struct local_options version1 = {.gid_index = -1, .gid_type = 1};
    assert_true(score(&version1, "10.0.0.1", 2, IBV_GID_TYPE_ROCE_V1, "10.0.0.1") > 0);
    assert_true(score(&any, NULL, 0, IBV_GID_TYPE_IB, "fe80::1") > 0); /* InfiniBand has one type only */
}

static void an_index_is_taken_at_its_word(void **state)
{
    const struct local_options told = {.gid_index = 3};
    (void)state;
    assert_int_equal(score(&told, "10.0.0.1", 1, IBV_GID_TYPE_ROCE_V2, "10.0.0.1"), 0);
    int elsewhere = score(&told, "10.0.0.1", 3, IBV_GID_TYPE_ROCE_V1, "fe80::1");
    int here = score(&told, "10.0.0.1", 3, IBV_GID_TYPE_ROCE_V2, "10.0.0.1");
    assert_true(here > elsewhere && elsewhere > 0);
}

static void gids_are_written_as_addresses(void **state)
{
    static const char *const texts[] = {"10.0.0.1", "2001:db8::2", "fe80::5054:ff:fe00:b00"};
    union ibv_gid gid;
    char text[GID_TEXT_MAX];
    struct error e = {{0}};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(gid_parse(texts[i], &gid, &e), 0);
        assert_string_equal(gid_text(&gid, text, sizeof text), texts[i]);
    }
    assert_int_equal(gid_parse("vm00", &gid, &e), -1);
    assert_non_null(strstr(e.text, "\"vm00\" is not a GID"));
    assert_int_equal(gid_parse("", &gid, &e), -1);
}

static void path_mtus_are_powers_of_two_up_to_4096(void **state)
{
    (void)state;
    for (int bytes = 256; bytes <= 4096; bytes *= 2)
        assert_int_equal(mtu_bytes(mtu_code(bytes)), bytes);
    assert_int_equal(mtu_code(1000), 0);
    assert_int_equal(mtu_bytes((enum ibv_mtu)0), 0);
    assert_int_equal(mtu_bytes((enum ibv_mtu)9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_address_decides_then_ipv4_then_anything),
        cmocka_unit_test(an_index_is_taken_at_its_word),
        cmocka_unit_test(gids_are_written_as_addresses),
        cmocka_unit_test(path_mtus_are_powers_of_two_up_to_4096),
    };
    return cmocka_run_group_tests_name("traffic_device", tests, NULL, NULL);
}
