/* Which NUMA node is near a device, and which far: by sysfs trees as the kernel lays them out. */
#include "tests/unit/unit.h"

#include "lib/files.h"
#include "traffic/connection/numa.h"
#include <sched.h>

static char root[40];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/traffic-numa-XXXXXX");
    assert_non_null(mkdtemp(root));
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    files_remove_tree(root, NULL);
    return 0;
}

static void put(const char *name, const char *text)
{
    char path[200], *slash;
    struct error e = {{0}};
    snprintf(path, sizeof path, "%s/sys/%s", root, name);
    slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(files_make_folders(path, &e), 0);
    *slash = '/';
    assert_int_equal(files_write_atomic(path, text, strlen(text), &e), 0);
}

#define NODE "devices/system/node/"
#define NIC  "class/infiniband/mlx5_0/device/numa_node"

/* Four nodes of an EPYC 7551P, and one of memory alone. */
static void lay_out(const char *nic)
{
    put(NODE "has_memory", "0-3\n");
    put(NODE "node0/cpulist", "0-7,32-39\n");
    put(NODE "node1/cpulist", "8-15,40-47\n");
    put(NODE "node2/cpulist", "16-23,48-55\n");
    put(NODE "node3/cpulist", "24-31,56-63\n");
    put(NODE "node10/cpulist", "\n");
    put(NODE "node0/distance", "10 16 16 32 99\n");
    put(NODE "node1/distance", "16 10 32 16 99\n");
    put(NODE "possible", "0-10\n");
    if (nic)
        put(NIC, nic);
}

static void expect(enum flow_numa wanted, int64_t node, size_t cpus)
{
    struct numa_place place;
    struct error e = {{0}};
    if (numa_find(root, "mlx5_0", wanted, &place, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(place.node, node);
    assert_int_equal(cpulist_count(&place.cpus), cpus);
}

static void expect_refused(enum flow_numa wanted, const char *part)
{
    struct numa_place place;
    struct error e = {{0}};
    assert_int_equal(numa_find(root, "mlx5_0", wanted, &place, &e), -1);
    if (!strstr(e.text, part))
        fail_msg("\"%s\" is not in: %s", part, e.text);
}

static void near_and_far(void **state)
{
    (void)state;
    lay_out("0\n");
    expect(NUMA_NEAR, 0, 16);
    expect(NUMA_FAR, 3, 16);
    put(NIC, "1\n");
    expect(NUMA_FAR, 2, 16);
    put(NIC, "3\n"); /* its distances cannot be read: any other one */
    expect(NUMA_FAR, 0, 16);
    put(NIC, "10\n");
    expect_refused(NUMA_NEAR, "NUMA node 10, that of device mlx5_0, has no processors or no memory");
}

static void without_memory(void **state)
{
    (void)state;
    lay_out("0\n");
    put(NODE "has_memory", "0-2\n");
    expect(NUMA_FAR, 1, 16);
    put(NODE "has_memory", "0\n");
    expect_refused(NUMA_FAR, "no NUMA node but that of device mlx5_0, 0, has processors and memory");
}

static void unknown_node(void **state)
{
    (void)state;
    lay_out(NULL);
    expect_refused(NUMA_NEAR, "several NUMA nodes, and that of device mlx5_0 is not known");
    expect_refused(NUMA_FAR, "the NUMA node of device mlx5_0 is not known");
    put(NIC, "-1\n");
    expect_refused(NUMA_FAR, "is not known");
    put(NODE "has_memory", "2\n"); /* the only one serves every device */
    expect(NUMA_NEAR, 2, 16);
}

static void odd_files(void **state)
{
    (void)state;
    static const char *const odd[] = {"", "x", "99999999999999999999", "-7", "5000", "0 0", "1e3"};
    lay_out("0\n");
    put(NODE "node99999999999999999999/cpulist", "0\n");
    put(NODE "node5000/cpulist", "0\n");
    put(NODE "nodes/cpulist", "0\n");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct numa_place place;
        struct error e = {{0}};
        put(NIC, odd[i]);
        assert_int_equal(numa_find(root, "mlx5_0", NUMA_NEAR, &place, &e), -1);
        put(NIC, "0");
        put(NODE "node0/distance", odd[i]);
        expect(NUMA_FAR, 1, 16);
        put(NODE "node1/cpulist", odd[i]);
        (void)numa_find(root, "mlx5_0", NUMA_FAR, &place, &e);
        put(NODE "node1/cpulist", "8-15,40-47");
    }
}

/* A thread stays on the processors that it may have; those that it may not have are refused. */
static void pinned(void **state)
{
    (void)state;
    cpu_set_t before, after;
    struct numa_place place = {.node = 0};
    struct error e = {{0}};
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    place.cpus.words[first / 64] = UINT64_C(1) << (first % 64);
    assert_int_equal(numa_pin(&place, &e), 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_int_equal(CPU_COUNT(&after), 1);
    assert_true(CPU_ISSET(first, &after));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    place.cpus = (struct cpulist){{0}};
    place.cpus.words[CPULIST_CPUS / 64 - 1] = UINT64_C(1) << 63;
    assert_int_equal(numa_pin(&place, &e), -1);
    assert_non_null(strstr(e.text, "processors of NUMA node 0"));
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(near_and_far), WITH_ROOT(without_memory), WITH_ROOT(unknown_node),
        WITH_ROOT(odd_files),    cmocka_unit_test(pinned),
    };
    return cmocka_run_group_tests_name("numa", tests, NULL, NULL);
}
