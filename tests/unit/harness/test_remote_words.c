/* Command lines of the programs that the harness starts on hosts, and the VLAN interfaces that it makes
 * there. */
#include "tests/unit/unit.h"

#include "harness/labs/hosts/start.h"
#include "harness/labs/hosts/settings/vlan.h"
#include "lib/clock.h"
#include "lib/text.h"

static char *sampler_words(int64_t every_ns, bool gpu, bool nvml_answers)
{
    struct lab_gpu g = {.index = 1};
    char host[] = "a", netdev[] = "eth1", rdma[] = "mlx5_0";
    struct lab_host lab = {.name = host, .gpu = gpu ? &g : NULL};
    struct remote_host h = {.lab = &lab, .netdev = netdev, .rdma = rdma, .nvml_answers = nvml_answers};
    struct cell cell = {.scenario = {.sample = {.every_ns = every_ns}}};
    struct words w = {0};
    struct text joined = {0};
    const struct remote_host *const hosts[] = {&h};
    remote_sampler_words(&cell, hosts, 1, &w);
    for (size_t i = 1; i < w.count; i++)
        text_add(&joined, "%s%s", i > 1 ? " " : "", w.items[i]);
    char *copy = strdup(text_string(&joined));
    words_free(&w);
    text_free(&joined);
    return copy;
}

static void expect_words(int64_t every_ns, bool gpu, bool nvml_answers, const char *expected)
{
    char *words = sampler_words(every_ns, gpu, nvml_answers);
    assert_string_equal(words, expected);
    free(words);
}

static void fast_sampling_goes_before_ordinary_processes(void **state)
{
    (void)state;
    expect_words(100 * NS_PER_MS, false, false, "--netdev eth1 --rdma mlx5_0 --every 100ms");
    expect_words(20 * NS_PER_MS, false, false, "--netdev eth1 --rdma mlx5_0 --every 20ms --realtime");
    expect_words(NS_PER_MS, false, false, "--netdev eth1 --rdma mlx5_0 --every 1ms --realtime");
}

/* One process for a machine; a GPU is sampled with the first NIC that it is the nearest of. */
static void nics_of_a_machine_are_sampled_together(void **state)
{
    struct lab_gpu zero = {.index = 0}, one = {.index = 1};
    char host[] = "a", netdevs[3][6] = {"ens0", "ens1", "ens2"}, rdma[] = "mlx5_0";
    struct lab_host labs[3] = {
        {.name = host, .gpu = &zero}, {.name = host, .gpu = &one}, {.name = host, .gpu = &one}};
    struct remote_host all[3];
    const struct remote_host *hosts[3];
    struct cell cell = {.scenario = {.sample = {.every_ns = NS_PER_S}}};
    struct words w = {0};
    struct text joined = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        all[i] = (struct remote_host){
            .lab = &labs[i], .netdev = netdevs[i], .rdma = i ? NULL : rdma, .nvml_answers = true};
        hosts[i] = &all[i];
    }
    remote_sampler_words(&cell, hosts, 3, &w);
    for (size_t i = 1; i < w.count; i++)
        text_add(&joined, "%s%s", i > 1 ? " " : "", w.items[i]);
    assert_string_equal(text_string(&joined),
                        "--nic ens0:rdma=mlx5_0:gpu=0 --nic ens1:gpu=1 --nic ens2 --every 1s");
    words_free(&w);
    text_free(&joined);
}

static void a_gpu_is_sampled_where_nvml_knows_it(void **state)
{
    (void)state;
    expect_words(NS_PER_S, true, true, "--netdev eth1 --rdma mlx5_0 --gpu 1 --every 1s");
    expect_words(NS_PER_S, true, false, "--netdev eth1 --rdma mlx5_0 --every 1s");
}

static void expect_name(const char *netdev, int64_t id, const char *expected)
{
    char name[VLAN_NAME];
    vlan_name(netdev, id, name);
    assert_string_equal(name, expected);
}

static void a_vlan_is_named_after_its_interface(void **state)
{
    (void)state;
    expect_name("eth1", 100, "eth1.100");
    expect_name("enp65s0f0np0", 7, "enp65s0f0np0.7");
    expect_name("enp65s0f0np0", 100, "np65s0f0np0.100"); /* 15 characters at most */
    expect_name("enp193s0f1np1a", 4094, "93s0f1np1a.4094");
}

static void expect_egress(uint8_t priorities, const char *expected)
{
    json_t *egress = vlan_egress(priorities);
    char *text = json_dumps(egress, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, expected);
    free(text);
    json_decref(egress);
}

static void a_vlans_egress_map_follows_from_the_priorities(void **state)
{
    (void)state;
    expect_egress(1 << 3, "{\"0\":3,\"1\":3,\"2\":3,\"3\":3,\"4\":3,\"5\":3,\"6\":3,\"7\":3}");
    expect_egress(1 << 3 | 1 << 5, "{\"3\":3,\"5\":5}");
    expect_egress(1 << 0 | 1 << 5, "{\"5\":5}");
    expect_egress(1 << 0, "{}");
    expect_egress(0, "{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_sampling_goes_before_ordinary_processes),
        cmocka_unit_test(nics_of_a_machine_are_sampled_together),
        cmocka_unit_test(a_gpu_is_sampled_where_nvml_knows_it),
        cmocka_unit_test(a_vlan_is_named_after_its_interface),
        cmocka_unit_test(a_vlans_egress_map_follows_from_the_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
