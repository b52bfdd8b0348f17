/*
 * Rings of links between islands.
 *
 * A ring begins small, so that its frames stay in the cache, and doubles when it is full. The room for that
 * is reserved when the simulation is built: an array of all ports' rings of each size, up to one that holds
 * all frames that can be on a link. Memory of it that is not used is never touched, and takes no page.
 */
#include "sim/islands/link.h"
#include <stdlib.h>

#define FIRST_FRAMES  64
#define MOST_FRAMES   16384             /* of a reserved ring; longer links allocate */
#define MOST_RESERVED ((size_t)2 << 30) /* bytes of address space */

static size_t bytes_of(const struct sim *sim, uint32_t capacity)
{
    size_t each = sizeof(struct packet);
    if (sim->has_telemetry)
        each += sizeof(struct telemetry);
    if (sim->has_telemetry_paths)
        each += sizeof(struct telemetry_path);
    return capacity * each;
}

/* ---- what is reserved */

/* A ring has the frames that arrive after the beginning of a window, and were sent before its end. */
static int64_t most_frames(const struct sim *sim, const struct port *port)
{
    uint32_t shortest = (uint32_t)island_shortest_frame_bytes(&sim->framing);
    return (port->delay_ps + sim->window_ps) / frame_ps(sim, port, shortest) + 2;
}

void links_reserve(struct sim *sim)
{
    struct ring_space *rings = &sim->rings;
    int64_t most = 0;
    for (uint32_t p = 0; p < sim->port_count; p++) {
        struct port *port = &sim->ports[p];
        if (port->flags & PORT_INSIDE)
            continue;
        int64_t frames = most_frames(sim, port);
        most = frames > most ? frames : most;
        port->ring_number = rings->count++;
    }
    uint32_t capacity = FIRST_FRAMES;
    while (capacity < most && capacity < MOST_FRAMES)
        capacity *= 2;
    /* the sizes below a size are together as large as it, less the first */
    while (capacity > FIRST_FRAMES && rings->count > MOST_RESERVED / 2 / bytes_of(sim, capacity))
        capacity /= 2;
    size_t bytes = rings->count * (2 * bytes_of(sim, capacity) - bytes_of(sim, FIRST_FRAMES));
    rings->memory = rings->count ? calloc(1, bytes + CACHE_LINE) : NULL;
    if (!rings->memory)
        return; /* rings are allocated when they are needed */
    rings->first = rings->memory + CACHE_LINE - (uintptr_t)rings->memory % CACHE_LINE;
    rings->most = capacity;
}

static struct packet *reserved_ring(const struct sim *sim, uint32_t port, uint32_t capacity)
{
    size_t smaller = sim->rings.count * bytes_of(sim, capacity - FIRST_FRAMES);
    size_t before = sim->ports[port].ring_number * bytes_of(sim, capacity);
    return (struct packet *)(void *)(sim->rings.first + smaller + before);
}

void links_free(struct sim *sim)
{
    for (uint32_t i = 0; sim->ports && i < sim->port_count; i++) {
        const struct outbox *box = &sim->ports[i].out;
        if (box->ring && box->mask >= sim->rings.most)
            free(box->ring);
    }
    free(sim->rings.memory);
}

/* ---- growth */

/* The old ring stays until the receiver surely has the new one. */
static int retire_ring(struct sim *sim, const struct outbox *box)
{
    if (!box->ring || box->mask < sim->rings.most)
        return 0;
    struct packet **retired = realloc(sim->retired, (sim->retired_count + 1) * sizeof *retired);
    if (!retired)
        return -1;
    sim->retired = retired;
    sim->retired[sim->retired_count++] = box->ring;
    return 0;
}

static struct packet *allocate_ring(struct sim *sim, const struct outbox *box, uint32_t capacity)
{
    struct packet *ring = capacity ? array_grow(NULL, 0, bytes_of(sim, capacity)) : NULL;
    if (!ring || retire_ring(sim, box)) {
        free(ring);
        sim->out_of_memory = true;
        return NULL;
    }
    sim->allocations++;
    return ring;
}

static void move_frames(const struct sim *sim, const struct outbox *box, struct packet *ring, uint32_t mask)
{
    for (uint32_t i = box->head_seen; i != box->tail; i++) {
        ring[i & mask] = box->ring[i & box->mask];
        if (sim->has_telemetry)
            ring_telemetry(ring, mask)[i & mask] = ring_telemetry(box->ring, box->mask)[i & box->mask];
        if (sim->has_telemetry_paths)
            copy_telemetry_path(&ring_telemetry_paths(ring, mask)[i & mask],
                                &ring_telemetry_paths(box->ring, box->mask)[i & box->mask]);
    }
}

int link_make_room(struct sim *sim, uint32_t port)
{
    struct outbox *box = &sim->ports[port].out;
    box->head_seen = atomic_load_explicit(&sim->ports[sim->ports[port].peer].in.head, memory_order_acquire);
    if (box->ring && box->tail - box->head_seen <= box->mask)
        return 0;
    uint32_t capacity = box->ring ? (box->mask + 1) * 2 : FIRST_FRAMES;
    struct packet *ring = capacity && capacity <= sim->rings.most ? reserved_ring(sim, port, capacity)
                                                                  : allocate_ring(sim, box, capacity);
    if (!ring)
        return -1;
    move_frames(sim, box, ring, capacity - 1);
    sim->bytes += bytes_of(sim, capacity);
    box->ring = ring;
    box->mask = capacity - 1;
    return 0;
}
