#include "harness/labs/sim/memory.h"

#include "harness/labs/sim/lab.h"
#include "lib/files.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FILE_BYTES 65536
#define NODE_BYTES \
    24576 /* of a host or switch in the lab, the settings and the result: measured at 8192 hosts */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number behind `key` in a file of a system, or at its beginning; UINT64_MAX: there is none ("max"), or no such file. */
static uint64_t number_in(const char *path, const char *key)
{
    size_t length;
    struct error ignored;
    char *text = files_read(path, FILE_BYTES, &length, &ignored);
    const char *at = text ? strstr(text, key) : NULL;
    char *end = NULL;
    uint64_t value = at ? strtoull(at + strlen(key), &end, 10) : UINT64_MAX;
    if (at && end == at + strlen(key))
        value = UINT64_MAX;
    free(text);
    return value;
}

/* What a file of the control group says; UINT64_MAX: nothing. */
static uint64_t group_says(const char *group, const char *file, const char *key)
{
    char path[512];
    snprintf(path, sizeof path, "/sys/fs/cgroup%.400s/%s", group, file);
    return number_in(path, key);
}

/* What the control group may still take (version 2; Slurm and systemd set it). Pages of files can be had back. */
static uint64_t left_in_group(void)
{
    size_t length;
    struct error ignored;
    char *text = files_read("/proc/self/cgroup", FILE_BYTES, &length, &ignored);
    char *group = text ? strstr(text, "0::") : NULL;
    uint64_t most = UINT64_MAX, used = 0;
    if (group) {
        group += strlen("0::");
        group[strcspn(group, "\n")] = '\0';
        most = group_says(group, "memory.max", "");
    }
    if (most != UINT64_MAX) {
        uint64_t active = group_says(group, "memory.stat", "\nactive_file "),
                 inactive = group_says(group, "memory.stat", "\ninactive_file ");
        used = group_says(group, "memory.current", "");
        uint64_t files = active == UINT64_MAX || inactive == UINT64_MAX ? 0 : active + inactive;
        used -= least(used, files);
    }
    free(text);
    return used < most ? most - used : most;
}

/* UINT64_MAX: nothing tells. */
static uint64_t free_bytes(void)
{
    struct rlimit limit;
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"),
             bytes = kib == UINT64_MAX ? UINT64_MAX : kib * 1024;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = least(bytes, limit.rlim_cur);
    return least(bytes, left_in_group());
}

int sim_memory_check(const struct cell *cell, const struct sim_setup *setup, struct error *e)
{
    uint64_t histograms = 0;
    for (size_t i = 0; i < setup->config.flow_count; i++)
        histograms += setup->flows[i].record_latency;
    uint64_t needed = sim_bytes_needed(&setup->config) +
                      setup->config.flow_count * sizeof(struct flow_state) +
                      (cell->lab.hosts.count + cell->lab.switches.count) * NODE_BYTES +
                      histograms * sizeof(struct histogram);
    uint64_t left = free_bytes();
    if (needed <= left)
        return 0;
    return error_set(e,
                     "the simulation needs %.1f GB of memory, %.1f GB are free: expected fewer flows, "
                     "queue_pairs or hosts, or a smaller depth",
                     (double)needed / 1e9, (double)left / 1e9);
}
