/* Command lines of the programs that the harness starts on hosts. */
#include "tests/unit/unit.h"

#include "harness/labs/hosts/remote_sampler.h"
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
    remote_sampler_words(&cell, &h, &w);
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

static void a_gpu_is_sampled_where_nvml_knows_it(void **state)
{
    (void)state;
    expect_words(NS_PER_S, true, true, "--netdev eth1 --rdma mlx5_0 --gpu 1 --every 1s");
    expect_words(NS_PER_S, true, false, "--netdev eth1 --rdma mlx5_0 --every 1s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_sampling_goes_before_ordinary_processes),
        cmocka_unit_test(a_gpu_is_sampled_where_nvml_knows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
