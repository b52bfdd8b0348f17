/* What grows while a simulation runs: the pool of packets, the rings of links, the list of pauses. */
#include "sim/islands/link.h"
#include <stdlib.h>

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

/* ---- rings */

/* A new ring takes what is on the way, and a window's more, if frames have this size. */
#define USUAL_BYTES   256
#define MOST_AT_FIRST 1024

static uint32_t first_capacity(const struct sim *sim, const struct port *port)
{
    uint32_t capacity = 8;
    int64_t ps = port->delay_ps + sim->window_ps, each_ps = frame_ps(sim, port, USUAL_BYTES);
    while (capacity < MOST_AT_FIRST && capacity * each_ps < ps)
        capacity *= 2;
    return capacity;
}

static size_t bytes_of(const struct sim *sim, uint32_t capacity)
{
    size_t each = sizeof(struct packet);
    if (sim->has_telemetry)
        each += sizeof(struct telemetry);
    if (sim->has_telemetry_paths)
        each += sizeof(struct telemetry_path);
    return capacity * each;
}

/* The old ring stays until the receiver surely has the new one. */
static int retire(struct sim *sim, struct packet *ring)
{
    if (!ring)
        return 0;
    struct packet **retired = realloc(sim->retired, (sim->retired_count + 1) * sizeof *retired);
    if (!retired)
        return -1;
    sim->retired = retired;
    sim->retired[sim->retired_count++] = ring;
    return 0;
}

int link_make_room(struct sim *sim, uint32_t port)
{
    struct outbox *box = &sim->ports[port].out;
    box->head_seen = atomic_load_explicit(&sim->ports[sim->ports[port].peer].in.head, memory_order_acquire);
    if (box->ring && box->tail - box->head_seen <= box->mask)
        return 0;
    uint32_t capacity = box->ring ? (box->mask + 1) * 2 : first_capacity(sim, &sim->ports[port]);
    struct packet *ring = capacity ? array_grow(NULL, 0, bytes_of(sim, capacity)) : NULL;
    if (!ring || retire(sim, box->ring)) {
        free(ring);
        sim->out_of_memory = true;
        return -1;
    }
    for (uint32_t i = box->head_seen; i != box->tail; i++) {
        ring[i & (capacity - 1)] = box->ring[i & box->mask];
        if (sim->has_telemetry)
            ring_telemetry(ring, capacity - 1)[i & (capacity - 1)] =
                ring_telemetry(box->ring, box->mask)[i & box->mask];
        if (sim->has_telemetry_paths)
            copy_telemetry_path(&ring_telemetry_paths(ring, capacity - 1)[i & (capacity - 1)],
                                &ring_telemetry_paths(box->ring, box->mask)[i & box->mask]);
    }
    sim->bytes += bytes_of(sim, capacity) - (box->ring ? bytes_of(sim, box->mask + 1) : 0);
    sim->allocations++;
    box->ring = ring;
    box->mask = capacity - 1;
    return 0;
}
