#include "sim/model.h"
#include <stdlib.h>

/* The array parallel to the pool, if there is one. */
static int telemetry_grow(struct sim *sim, uint32_t capacity)
{
    if (!sim->telemetry)
        return 0;
    struct telemetry *telemetry =
        array_grow(sim->telemetry, sim->packet_capacity * sizeof *telemetry, capacity * sizeof *telemetry);
    if (!telemetry)
        return -1;
    sim->bytes += (capacity - sim->packet_capacity) * sizeof *telemetry;
    sim->telemetry = telemetry;
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
