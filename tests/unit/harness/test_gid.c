/* Whether a lab's GID index is still that of its NIC's address, by host-facts' document. */
#include "tests/unit/harness/plan_of.h"

#include "harness/doctor/hosts/host.h"

#define TABLE                                                                                           \
    "{\"nics\":[{\"netdev\":\"eth0\",\"rdma\":{\"gids\":[]}},{\"netdev\":\"eth1\",\"rdma\":{\"gids\":[" \
    "{\"index\":0,\"address\":\"fe80::1\",\"type\":\"RoCE v2\"},"                                       \
    "{\"index\":2,\"address\":\"10.0.0.1\",\"type\":\"IB/RoCE v1\"},"                                   \
    "{\"index\":5,\"address\":\"10.0.0.1\",\"type\":\"RoCE v2\"},"                                      \
    "{\"index\":7,\"address\":\"10.0.0.12\",\"type\":\"RoCE v2\"}]}}]}"

static void the_index_names_the_address(void **state)
{
    static const struct {
        const char *netdev, *address;
        int64_t index;
        const char *facts, *verdict, *says;
    } cases[] = {
        {"eth1", "10.0.0.1/24", 5, TABLE, "ok", "index 5 is the RoCE v2 GID of 10.0.0.1"},
        {NULL, "10.0.0.1/24", 5, TABLE, "ok", ""},
        {"eth1", "10.0.0.1/24", 2, TABLE, "failure",
         "is a IB/RoCE v1 GID of 10.0.0.1 now; the RoCE v2 GID of 10.0.0.1/24 has index 5"},
        {"eth1", "10.0.0.1/24", 7, TABLE, "failure", "is a RoCE v2 GID of 10.0.0.12 now"},
        {"eth1", "10.0.0.1/24", 3, TABLE, "failure", "has no GID now"},
        {"eth1", "10.0.0.9/24", 5, TABLE, "failure", "there is no RoCE v2 GID of 10.0.0.9/24"},
        {"eth1", NULL, 0, TABLE, "ok", ""},
        {"eth0", "10.0.0.1/24", 5, TABLE, "failure", "has no GID now; there is no"},
        {"eth2", "10.0.0.1/24", 5, TABLE, "unknown", "were not read"},
        {"eth1", "10.0.0.1/24", 5, "{\"nics\":[{\"netdev\":\"eth1\",\"rdma\":null},7]}", "unknown", ""},
        {"eth1", "10.0.0.1/24", 5,
         "{\"nics\":[{\"netdev\":\"eth1\",\"rdma\":{\"gids\":[1,{\"index\":\"5\"},{}]}}]}", "failure", ""},
        {"eth1", "10.0.0.1/24", FIELD_UNSET, TABLE, NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char host_name[] = "a", netdev[16], address[32];
        snprintf(netdev, sizeof netdev, "%s", cases[i].netdev ? cases[i].netdev : "");
        snprintf(address, sizeof address, "%s", cases[i].address ? cases[i].address : "");
        const struct lab_host host = {.name = host_name,
                                      .nic = {.netdev = cases[i].netdev ? netdev : NULL,
                                              .address = cases[i].address ? address : NULL,
                                              .gid_index = cases[i].index}};
        json_t *facts = json_loads(cases[i].facts, 0, NULL), *entries = json_array();
        doctor_examine_gid(&host, json_object_get(facts, "nics"), entries);
        const json_t *entry = json_array_get(entries, 0);
        const char *verdict = json_string_value(json_object_get(entry, "verdict"));
        assert_int_equal(json_array_size(entries), cases[i].verdict ? 1 : 0);
        if (cases[i].verdict && (strcmp(verdict, cases[i].verdict) != 0 ||
                                 !strstr(json_string_value(json_object_get(entry, "reason")), cases[i].says)))
            fail_msg("case %zu: %s: %s", i, verdict, json_string_value(json_object_get(entry, "reason")));
        json_decref(facts);
        json_decref(entries);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_index_names_the_address)};
    return cmocka_run_group_tests_name("gid", tests, NULL, NULL);
}
