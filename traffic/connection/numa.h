/* The NUMA node on which a flow runs, seen from its RDMA device. */
#ifndef TRAFFIC_NUMA_H
#define TRAFFIC_NUMA_H

#include "lib/error.h"
#include "lib/formats/flow.h"
#include "lib/kernel/cpulist.h"

#define NUMA_MAX_NODE 1023

struct numa_place {
    int64_t node, device_node; /* -1: unknown */
    struct cpulist cpus;       /* of `node` */
};

/* Find the node of an RDMA device (NUMA_NEAR), or the one with processors and memory that is farthest from it
 * by the kernel's table of distances (NUMA_FAR; Documentation/ABI/stable/sysfs-devices-node). On a host with
 * one node that one is near. `root` is that of lib/kernel/sysfs.h. */
int numa_find(const char *root, const char *device, enum flow_numa wanted, struct numa_place *place,
              struct error *e);
/* Run the calling thread, and those that it starts from now on, on these CPUs only. */
int numa_pin(const struct numa_place *place, struct error *e);

#endif
