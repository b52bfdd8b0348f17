#include "lib/collective/result_collectives.h"

#include <string.h>

const char *const nccl_path_names[] = {"gdrdma", "ib", "socket", "net", "collnet", "p2p", "shm", NULL};

#define CHANNELS "channels_"

static const struct {
    const char *name, *unit, *words;
} values[] = {
    {"avg_busbw_GBps", "GB/s", "average bus bandwidth"},
    {"max_busbw_GBps", "GB/s", "largest bus bandwidth"},
    {"max_algbw_GBps", "GB/s", "largest algorithm bandwidth"},
    {"min_time_ns", "ns", "shortest time"},
    {"wrong", "", "wrong elements"},
    {"out_of_bounds", "", "checks with wrong elements"},
    {"ranks", "", "ranks"},
    {CHANNELS "gdrdma", "", "channels with GPUDirect RDMA"},
    {CHANNELS "ib", "", "channels of RDMA through host memory"},
    {CHANNELS "socket", "", "channels of TCP"},
    {CHANNELS "net", "", "channels of network plugins through host memory"},
    {CHANNELS "collnet", "", "channels that the network reduces"},
    {CHANNELS "p2p", "", "channels from GPU to GPU of a host"},
    {CHANNELS "shm", "", "channels through a host's memory"},
};

const char *result_collective_name(size_t i, const char **unit, const char **words)
{
    if (i >= sizeof values / sizeof *values)
        return NULL;
    *unit = values[i].unit;
    *words = values[i].words;
    return values[i].name;
}

bool result_collective_value(const json_t *collective, const char *name, double *value)
{
    const json_t *found = json_object_get(collective, name);
    size_t length = strlen(CHANNELS);
    if (strncmp(name, CHANNELS, length) == 0) {
        found = json_object_get(json_object_get(collective, "channels"), name + length);
        if (!found && json_is_string(json_object_get(collective, "path"))) {
            *value = 0; /* there are channels, but none of these */
            return true;
        }
    }
    *value = json_number_value(found);
    return json_is_number(found);
}
