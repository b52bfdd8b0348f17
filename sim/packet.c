#include "sim/model.h"
#include <stdlib.h>

/* Room for twice as many; the ring is laid out anew from its first. */
int delay_line_grow(struct sim *sim, struct delay_line *line)
{
    uint32_t capacity = line->entries ? (line->mask + 1) * 2 : 8;
    struct delayed *entries = capacity ? malloc(capacity * sizeof *entries) : NULL;
    if (!entries) {
        sim->out_of_memory = true;
        return -1;
    }
    for (uint32_t i = 0; line->entries && i < line->count; i++)
        entries[i] = line->entries[(line->first + i) & line->mask];
    free(line->entries);
    sim->bytes += (capacity - line->count) * sizeof *entries;
    sim->allocations++;
    line->entries = entries;
    line->first = 0;
    line->mask = capacity - 1;
    return 0;
}

/* Double the pool. Packets move: nobody keeps a pointer to one across packet_take. */
int packets_grow(struct sim *sim)
{
    uint32_t capacity = sim->packet_capacity ? sim->packet_capacity * 2 : 1024;
    struct packet *packets = NULL;
    if (capacity > sim->packet_capacity)
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
