/* The simulator allocates while it is built and while the number of packets under way grows; never in the
 * steady state. */
#include "tests/unit/sim/sim_scenario.h"
#include "tests/unit/sim/sim_two_hosts.h"

#include <stdatomic.h>

/* Count every allocation of this program. */
static atomic_long allocations;

#ifdef __SANITIZE_ADDRESS__
/* sanitizer/allocator_interface.h, which gcc does not bring */
extern int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                                     void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *p, size_t size)
{
    (void)p;
    (void)size;
    atomic_fetch_add(&allocations, 1);
}

static void on_free(const volatile void *p)
{
    (void)p;
}

static int count_allocations(void **state)
{
    (void)state;
    return __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) ? 0 : -1;
}
#else
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(ptr, size);
}

static int count_allocations(void **state)
{
    (void)state;
    return 0;
}
#endif

#define MS (SIM_PS_PER_S / 1000)

static void the_counter_counts(void **state)
{
    (void)state;
    long before = atomic_load(&allocations);
    void *volatile p = malloc(100);
    free(p);
    assert_true(atomic_load(&allocations) == before + 1);
}

static void none_in_the_steady_state(void **state)
{
    (void)state;
    for (int op = SIM_WRITE; op <= SIM_SEND; op++) {
        struct two_hosts t;
        struct sim_work before, after;
        two_hosts_init(&t);
        t.link.loss_per_billion = 20000;
        for (uint32_t h = 0; h < 2; h++) {
            t.hosts[h].memories[SIM_MEMORY_GPU].stalls_per_s = 1000;
            t.hosts[h].memories[SIM_MEMORY_GPU].stall_mean_ps = 200 * SIM_PS_PER_US;
            struct sim_flow_config *f = two_hosts_flow(&t, h);
            f->from_memory = f->to_memory = SIM_MEMORY_GPU;
            f->operation = (enum sim_operation)op;
            f->record_latency = true;
        }
        two_hosts_run(&t, 20 * MS);
        sim_work(t.sim, &before);
        long count = atomic_load(&allocations);
        two_hosts_run(&t, 300 * MS);
        assert_int_equal(atomic_load(&allocations) - count, 0);
        sim_work(t.sim, &after);
        assert_true(after.hops > before.hops + 300000);
        assert_int_equal(after.allocations, before.allocations);
        assert_true(after.bytes < 2 << 20);
        two_hosts_close(&t);
    }
}

/* From a third of the way to its end, as bench_sim counts them. */
static void expect_none(const struct sim_config *config, int64_t until_ps, uint64_t hops, uint64_t most_bytes)
{
    struct sim_work before, after;
    struct error e = {""};
    struct sim *sim = sim_new(config, &e);
    if (!sim)
        fail_msg("%s", e.text);
    fixture_run(sim, until_ps / 3);
    sim_work(sim, &before);
    long count = atomic_load(&allocations);
    fixture_run(sim, until_ps);
    assert_int_equal(atomic_load(&allocations) - count, 0);
    sim_work(sim, &after);
    assert_int_equal(after.allocations - before.allocations, 0);
    assert_true(after.hops > before.hops + hops);
    assert_true(after.bytes < most_bytes);
    sim_free(sim);
}

static void none_on_networks(void **state)
{
    (void)state;
    static const struct {
        const char *scenario;
        int64_t ms;
        uint64_t hops;
    } rows[] = {{"scenarios/hpcc-two-to-one.json", 20, 600000},
                {"scenarios/hpcc-incast-dcqcn.json", 10, 250000},
                {"scenarios/hpcc-incast.json", 10, 250000}, /* PFC alone: pauses come and go */
                {"scenarios/hpcc-leaf-spine.json", 5, 4000000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scenario_fixture s;
        scenario_open(&s, rows[i].scenario);
        expect_none(&s.setup.config, rows[i].ms * MS, rows[i].hops, 4 << 20);
        scenario_close(&s);
    }
}

static void none_on_a_fat_tree(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_fat_tree(&t, 8, INT64_C(100000000000), SIM_PS_PER_US, &e), 0);
    fixture_open(&f, &t);
    fixture_hpcc(&f, true);
    for (uint32_t h = 0; h < t.host_count; h++)
        fixture_flow(&f, h, (h + 8) % t.host_count, 0);
    expect_none(&f.config, MS * 6 / 10, 1000000, 16 << 20);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_counts),
        cmocka_unit_test(none_in_the_steady_state),
        cmocka_unit_test(none_on_networks),
        cmocka_unit_test(none_on_a_fat_tree),
    };
    return cmocka_run_group_tests(tests, count_allocations, NULL);
}
