/* What grows while a simulation runs: arrays, the pool of packets, the list of pauses. Rings of links:
 * islands/link.c. */
#include "sim/model.h"
#include <stdlib.h>
#include <string.h>

void *array_grow(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t whole = (new_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    char *array = aligned_alloc(CACHE_LINE, whole ? whole : CACHE_LINE);
    if (!array)
        return NULL;
    if (old_bytes)
        memcpy(array, old, old_bytes);
    memset(array + old_bytes, 0, whole - old_bytes);
    free(old);
    return array;
}

/* An array parallel to the pool, if there is to be one. */
static int parallel_grow(struct sim *sim, bool wanted, void **array, size_t item_bytes, uint32_t capacity)
{
    if (!wanted)
        return 0;
    void *grown = array_grow(*array, sim->packet_capacity * item_bytes, capacity * item_bytes);
    if (!grown)
        return -1;
    sim->bytes += (capacity - sim->packet_capacity) * item_bytes;
    *array = grown;
    return 0;
}

static int telemetry_grow(struct sim *sim, uint32_t capacity)
{
    void *telemetry = sim->telemetry, *paths = sim->telemetry_paths;
    int rc =
        parallel_grow(sim, sim->has_telemetry, &telemetry, sizeof *sim->telemetry, capacity) ||
                parallel_grow(sim, sim->has_telemetry_paths, &paths, sizeof *sim->telemetry_paths, capacity)
            ? -1
            : 0;
    sim->telemetry = telemetry;
    sim->telemetry_paths = paths;
    return rc;
}

int pauses_grow(struct sim *sim)
{
    size_t capacity = sim->pause_capacity ? sim->pause_capacity * 2 : 64;
    struct sim_pause *pauses = realloc(sim->pauses, capacity * sizeof *pauses);
    if (!pauses) {
        sim->out_of_memory = true;
        return -1;
    }
    sim->bytes += (capacity - sim->pause_capacity) * sizeof *pauses;
    sim->allocations++;
    sim->pauses = pauses;
    sim->pause_capacity = capacity;
    return 0;
}

/* Double the pool. Packets move: no pointer to a packet is valid across packet_take. */
int packets_grow(struct sim *sim)
{
    uint32_t capacity = sim->packet_capacity ? sim->packet_capacity * 2 : 1024;
    struct packet *packets = NULL;
    if (capacity > sim->packet_capacity && telemetry_grow(sim, capacity) == 0)
        packets =
            array_grow(sim->packets, sim->packet_capacity * sizeof *packets, capacity * sizeof *packets);
    if (!packets) {
        sim->out_of_memory = true;
        return -1;
    }
    for (uint32_t i = capacity; i-- > sim->packet_capacity;) {
        packets[i].next = sim->free_packet;
        sim->free_packet = i;
    }
    sim->bytes += (capacity - sim->packet_capacity) * sizeof *packets;
    sim->allocations++;
    sim->packets = packets;
    sim->packet_capacity = capacity;
    return 0;
}
