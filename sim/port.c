/* A port's sending side: egress queues, serialisation, and the link to its peer. */
#include "sim/bridge.h"
#include "sim/switch.h"

/* Put a frame on the wire; the port is free. */
static void send_frame(struct sim *sim, uint32_t port, uint32_t p)
{
    struct port *out = &sim->ports[port];
    struct packet *packet = &sim->packets[p];
    uint32_t bytes = packet->bytes;
    out->busy_until_ps =
        sim->now_ps + sim_duration(sim, bytes + (uint32_t)sim->framing.gap_bytes, out->ps_per_byte_q20);
    packet->time_ps = out->busy_until_ps + out->delay_ps;
    if (packet->kind != PACKET_PFC) {
        struct priority_counters *c = &sim->counters[port][packet->priority];
        c->tx_packets++;
        c->tx_bytes += bytes;
    }
    bool first = out->flight.head == NONE;
    list_append(sim, &out->flight, p);
    if (first)
        event_schedule(&sim->events, out->arrive_event, packet->time_ps);
}

/* Send the next frame, if there is one that may go. */
void port_transmit(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    unsigned queues = out->ready & ~(unsigned)out->paused;
    uint32_t p;
    if (queues) {
        unsigned queue = out->node_kind == SIM_SWITCH ? switch_pick_queue(sim, port, queues)
                                                      : (unsigned)__builtin_ctz(queues);
        p = list_take(sim, &out->queues[queue]);
        out->queued_bytes[queue] -= sim->packets[p].bytes;
        if (out->queues[queue].head == NONE)
            out->ready &= (uint16_t) ~(1u << queue);
        if (out->node_kind == SIM_SWITCH)
            switch_departed(sim, port, queue, p);
        else if (out->node_kind == SIM_BRIDGE)
            bridge_departed(sim, port, p);
        else if (sim->packets[p].kind == PACKET_ACK)
            sim->qps[sim->packets[p].qp].waiting_ack = NONE;
        send_frame(sim, port, p);
    } else if (out->node_kind == SIM_HOST && (p = host_pull(sim, port)) != NONE) {
        send_frame(sim, port, p);
    } else {
        return;
    }
    out = &sim->ports[port];
    if ((out->ready & ~(unsigned)out->paused) || out->node_kind == SIM_HOST)
        event_reschedule(&sim->events, out->transmit_event, out->busy_until_ps);
}

void port_kick(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    struct event *event = &sim->events.events[out->transmit_event];
    if (sim->now_ps >= out->busy_until_ps) {
        event_cancel(&sim->events, out->transmit_event);
        port_transmit(sim, port);
    } else if (event->place == EVENT_IDLE || event->time_ps > out->busy_until_ps) {
        event_reschedule(&sim->events, out->transmit_event, out->busy_until_ps);
    }
}

void port_enqueue(struct sim *sim, uint32_t port, unsigned queue, uint32_t p)
{
    struct port *out = &sim->ports[port];
    list_append(sim, &out->queues[queue], p);
    out->queued_bytes[queue] += sim->packets[p].bytes;
    out->ready |= (uint16_t)(1u << queue);
    port_kick(sim, port);
}

/* The first frame in flight from this port reaches its peer. */
void port_arrive(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    uint32_t p = list_take(sim, &out->flight);
    if (out->flight.head != NONE)
        event_schedule(&sim->events, out->arrive_event, sim->packets[out->flight.head].time_ps);
    sim->hops++;
    struct packet *packet = &sim->packets[p];
    struct port *in = &sim->ports[out->peer];
    if (packet->kind == PACKET_PFC) {
        pfc_receive(sim, out->peer, p);
        return;
    }
    if (out->loss_threshold && random_next(&sim->random) < out->loss_threshold) {
        packet_give(sim, p);
        return;
    }
    struct priority_counters *c = &sim->counters[out->peer][packet->priority];
    c->rx_packets++;
    c->rx_bytes += packet->bytes;
    switch ((enum sim_node_kind)in->node_kind) {
    case SIM_HOST:
        host_receive(sim, out->peer, p);
        break;
    case SIM_SWITCH:
        switch_receive(sim, out->peer, p);
        break;
    case SIM_BRIDGE:
        bridge_receive(sim, out->peer, p);
        break;
    }
}
