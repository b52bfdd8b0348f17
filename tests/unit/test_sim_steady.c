/* The simulator allocates while it is built and, rarely, when more packets are under way than ever before; never for a packet. */
#include "tests/unit/sim_two_hosts.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_counts),
        cmocka_unit_test(none_in_the_steady_state),
    };
    return cmocka_run_group_tests(tests, count_allocations, NULL);
}
