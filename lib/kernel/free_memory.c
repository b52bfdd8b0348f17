#include "lib/kernel/free_memory.h"

#include "lib/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FILE_BYTES 65536

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number behind `key` in a file of a system, or at its beginning; UINT64_MAX: there is none ("max"), or
 * no such file. */
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

/* What the control group may still take (version 2; Slurm and systemd set it). Pages of files can be had
 * back. */
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
        used -= least_of(used, files);
    }
    free(text);
    return used < most ? most - used : most;
}

uint64_t free_memory_bytes(void)
{
    struct rlimit limit;
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"),
             bytes = kib == UINT64_MAX ? UINT64_MAX : kib * 1024;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = least_of(bytes, limit.rlim_cur);
    return least_of(bytes, left_in_group());
}
