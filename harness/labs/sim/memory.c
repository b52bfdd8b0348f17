#include "harness/labs/sim/memory.h"

#include "harness/labs/sim/lab.h"
#include "lib/kernel/free_memory.h"
#include <inttypes.h>

#define NODE_BYTES \
    24576 /* of a host or switch in the lab, the settings and the result: measured at 8192 hosts */

int sim_memory_check(const struct cell *cell, const struct sim_setup *setup, uint64_t *bytes, struct error *e)
{
    uint64_t histograms = 0;
    for (size_t i = 0; i < setup->config.flow_count; i++)
        histograms += setup->flows[i].record_latency;
    uint64_t needed = sim_bytes_needed(&setup->config) +
                      setup->config.flow_count * sizeof(struct flow_state) +
                      (cell->lab.hosts.count + cell->lab.switches.count) * NODE_BYTES +
                      histograms * sizeof(struct histogram);
    uint64_t left = free_memory_bytes();
    *bytes = needed;
    if (needed <= left)
        return 0;
    return error_set(e,
                     "the simulation needs %.1f GB of memory, %.1f GB are free: expected fewer flows, "
                     "queue_pairs or hosts, or a smaller depth",
                     (double)needed / 1e9, (double)left / 1e9);
}
