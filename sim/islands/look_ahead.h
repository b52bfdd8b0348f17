/*
 * Data that coming events will access is fetched into the cache while earlier ones are processed. A packet's
 * arrival is a chain of four dependent loads (event, port, packet, the port it goes out of); on a large
 * network each of them misses the nearer caches, and three events of warning hide nearly all of it (432
 * hosts: 125 instead of 200 ns a hop). It changes no result.
 */
#ifndef SIM_LOOK_AHEAD_H
#define SIM_LOOK_AHEAD_H

#include "sim/fabric/switch.h"

/* Up to this number of ports, their state fits the nearer caches: then a shorter look-ahead is faster. */
#define LOOK_AHEAD_PORTS 512

/* The third event from now: its packet and its port. */
static inline void look_at_third(const struct sim *sim, const struct event *coming)
{
    __builtin_prefetch(&sim->packets[coming->hint]);
    __builtin_prefetch(&sim->ports[coming->object]);
    __builtin_prefetch(&sim->ports[coming->object].in);
}

/* The second event from now: the data that its port and packet refer to. */
static inline void look_at_second(const struct sim *sim, const struct event *coming)
{
    const struct port *port = &sim->ports[coming->object];
    const struct packet *packet = &sim->packets[coming->hint];
    bool transmits = coming->kind >= EVENT_TRANSMIT;
    uint32_t in = transmits ? packet->ingress : coming->object;
    if (sim->switch_ports)
        __builtin_prefetch(&sim->switch_ports[in]);
    if (transmits)
        __builtin_prefetch(&port->queues[queue_of(packet->priority)]);
    else
        __builtin_prefetch(&port->in);
}

/* The next event: the egress port of its packet. */
static inline void look_at_first(const struct sim *sim, const struct event *coming)
{
    const struct packet *packet = &sim->packets[coming->hint];
    if (coming->kind >= EVENT_TRANSMIT || packet->kind == PACKET_PFC ||
        sim->ports[coming->object].node_kind != SIM_SWITCH)
        return;
    uint32_t out = sim->paths[packet->path];
    __builtin_prefetch(&sim->ports[out]);
    __builtin_prefetch(&sim->ports[out].queues[queue_of(packet->priority)]);
}

static inline bool is_of_port(const struct event *event)
{
    return event->kind <= EVENT_SWITCH_TRANSMIT;
}

/* Only events of the first slot in use are seen: on a large network it nearly always holds several. */
static inline void look_ahead(const struct sim *sim)
{
    const struct event_queue *q = sim->events;
    if (q->first_slot == INT64_MAX)
        return;
    const struct slot *slot = &q->slots[(uint32_t)q->first_slot & q->slot_mask];
    uint32_t id = slot->head;
    const struct event *event = &q->events[id];
    if (sim->port_count <= LOOK_AHEAD_PORTS) {
        if (is_of_port(event))
            look_at_third(sim, event);
        return;
    }
    if (is_of_port(event))
        look_at_first(sim, event);
    if (id == slot->tail)
        return;
    id = event->next;
    event = &q->events[id];
    if (is_of_port(event))
        look_at_second(sim, event);
    if (id == slot->tail)
        return;
    id = event->next;
    event = &q->events[id];
    if (is_of_port(event))
        look_at_third(sim, event);
    if (id != slot->tail)
        __builtin_prefetch(&q->events[event->next]);
}

#endif
