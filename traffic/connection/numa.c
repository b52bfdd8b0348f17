#include "traffic/connection/numa.h"

#include "lib/kernel/sysfs.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define NODES     "/sys/devices/system/node"
#define LIST_SIZE 8192 /* a list of CPUs or distances */

/* "node3" is node 3; -1: it is another name. */
static int64_t node_of_name(const char *name)
{
    int64_t node;
    bool is_node = strncmp(name, "node", 4) == 0 && isdigit((unsigned char)name[4]) &&
                   sysfs_parse_number(name + 4, &node) && node <= NUMA_MAX_NODE;
    return is_node ? node : -1;
}

static bool has_memory(const char *root, int64_t node)
{
    char text[LIST_SIZE];
    struct cpulist nodes = {0}, this_one = {0};
    if (sysfs_text(text, sizeof text, root, NODES "/has_memory") < 0)
        return true; /* kernels without it have no node that lacks memory */
    this_one.words[node / 64] = UINT64_C(1) << (node % 64);
    return cpulist_add(&nodes, text) && cpulist_within(&this_one, &nodes);
}

/* Has the node memory, and which CPUs? False: it lacks either. */
static bool serves(const char *root, int64_t node, struct cpulist *cpus)
{
    char text[LIST_SIZE];
    *cpus = (struct cpulist){0};
    return sysfs_text(text, sizeof text, root, NODES "/node%" PRId64 "/cpulist", node) > 0 &&
           cpulist_add(cpus, text) && cpulist_count(cpus) > 0 && has_memory(root, node);
}

/* The number at `index` of a node's distances, which are in the order of the nodes; 0: unknown. */
static long distance(const char *root, int64_t from, size_t index)
{
    char text[LIST_SIZE], *at = text;
    if (sysfs_text(text, sizeof text, root, NODES "/node%" PRId64 "/distance", from) <= 0)
        return 0;
    for (size_t i = 0; i < index; i++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return strtol(at, NULL, 10);
}

/* The farthest node that serves, or with device_node -1 the only one. Returns how many others there are than
 * device_node. */
static size_t read_nodes(const char *root, struct numa_place *place)
{
    struct sysfs_names names = sysfs_list(root, NODES);
    size_t others = 0, index = 0;
    long farthest = -1;
    for (size_t i = 0; i < names.count; i++) {
        struct cpulist cpus;
        int64_t node = node_of_name(names.items[i]);
        if (node < 0)
            continue;
        long away = place->device_node < 0 ? 0 : distance(root, place->device_node, index);
        index++;
        if (node == place->device_node || !serves(root, node, &cpus))
            continue;
        others++;
        if (away > farthest) {
            farthest = away;
            place->node = node;
            place->cpus = cpus;
        }
    }
    sysfs_names_free(&names);
    return others;
}

static int find_far(const char *root, const char *device, struct numa_place *place, struct error *e)
{
    if (place->device_node < 0)
        return error_set(
            e, "the NUMA node of device %s is not known (/sys/class/infiniband/%s/device/numa_node)", device,
            device);
    if (read_nodes(root, place) == 0)
        return error_set(e,
                         "no NUMA node but that of device %s, %" PRId64 ", has processors and memory: numa "
                         "far needs another one",
                         device, place->device_node);
    return 0;
}

static int find_near(const char *root, const char *device, struct numa_place *place, struct error *e)
{
    if (place->device_node < 0) {
        if (read_nodes(root, place) == 1)
            return 0;
        return error_set(e,
                         "this host has several NUMA nodes, and that of device %s is not known "
                         "(/sys/class/infiniband/%s/device/numa_node)",
                         device, device);
    }
    place->node = place->device_node;
    if (place->device_node <= NUMA_MAX_NODE && serves(root, place->device_node, &place->cpus))
        return 0;
    return error_set(e, "NUMA node %" PRId64 ", that of device %s, has no processors or no memory",
                     place->device_node, device);
}

int numa_find(const char *root, const char *device, enum flow_numa wanted, struct numa_place *place,
              struct error *e)
{
    *place = (struct numa_place){.node = -1};
    if (!sysfs_number(&place->device_node, root, "/sys/class/infiniband/%s/device/numa_node", device) ||
        place->device_node < 0)
        place->device_node = -1;
    return wanted == NUMA_FAR ? find_far(root, device, place, e) : find_near(root, device, place, e);
}

int numa_pin(const struct numa_place *place, struct error *e)
{
    cpu_set_t *set = CPU_ALLOC(CPULIST_CPUS);
    size_t size = CPU_ALLOC_SIZE(CPULIST_CPUS);
    if (!set)
        return error_set(e, "out of memory");
    CPU_ZERO_S(size, set);
    for (size_t cpu = 0; cpu < CPULIST_CPUS; cpu++)
        if (place->cpus.words[cpu / 64] >> (cpu % 64) & 1)
            CPU_SET_S(cpu, size, set);
    int result = sched_setaffinity(0, size, set);
    int number = errno;
    CPU_FREE(set);
    return result == 0
               ? 0
               : error_set_errno(e, number, "running a thread on the processors of NUMA node %" PRId64,
                                 place->node);
}
