/* A port's sending side: egress queues, serialisation, and the link to its peer. */
#include "sim/bridge.h"
#include "sim/switch.h"

static void schedule_arrival(struct sim *sim, const struct port *out)
{
    uint32_t event = out->events + PORT_ARRIVE;
    sim->events.events[event].hint = delay_line_next(&out->flight)->packet;
    event_schedule(&sim->events, event, delay_line_next(&out->flight)->time_ps);
}

/* Put a frame on the wire; the port is free. */
static void send_frame(struct sim *sim, uint32_t port, uint32_t p)
{
    struct port *out = &sim->ports[port];
    struct packet *packet = &sim->packets[p];
    uint32_t bytes = packet->bytes;
    out->busy_until_ps =
        sim->now_ps + sim_duration(sim, bytes + (uint32_t)sim->framing.gap_bytes, out->ps_per_byte_q20);
    if (packet->kind != PACKET_PFC) {
        struct sent_counters *c = &sim->sent[port][packet->priority];
        c->packets++;
        c->bytes += bytes;
    }
    int64_t arrival_ps = out->busy_until_ps + out->delay_ps;
    delay_line_append(sim, &out->flight, arrival_ps, p);
    if (out->flight.count == 1)
        schedule_arrival(sim, out);
}

/* The port's next chance to send is when it is free, and not before at_ps. */
static void send_next_at(struct sim *sim, struct port *out, int64_t at_ps)
{
    if (at_ps != SIM_FOREVER)
        event_reschedule(&sim->events, out->events + PORT_TRANSMIT,
                         at_ps > out->busy_until_ps ? at_ps : out->busy_until_ps);
}

/* Send the next frame, if there is one that may go. */
void port_transmit(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    unsigned queues = out->ready & ~(unsigned)out->paused;
    uint32_t p;
    if (queues) {
        unsigned queue = out->ets ? switch_pick_queue(sim, port, queues) : (unsigned)__builtin_ctz(queues);
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
    queues = out->ready & ~(unsigned)out->paused;
    if (queues) {
        sim->events.events[out->events + PORT_TRANSMIT].hint = out->queues[__builtin_ctz(queues)].head;
        event_reschedule(&sim->events, out->events + PORT_TRANSMIT, out->busy_until_ps);
    } else if (out->node_kind == SIM_HOST)
        send_next_at(sim, out, host_next_pull_ps(sim, out->node));
}

void port_kick(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    struct event *event = &sim->events.events[out->events + PORT_TRANSMIT];
    if (sim->now_ps >= out->busy_until_ps) {
        event_cancel(&sim->events, out->events + PORT_TRANSMIT);
        port_transmit(sim, port);
    } else if (event->place == EVENT_IDLE || event->time_ps > out->busy_until_ps) {
        event_reschedule(&sim->events, out->events + PORT_TRANSMIT, out->busy_until_ps);
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
    uint32_t p = delay_line_take(&out->flight);
    if (out->flight.count)
        schedule_arrival(sim, out);
    sim->hops++;
    struct packet *packet = &sim->packets[p];
    struct port *in = &sim->ports[out->peer];
    if (packet->kind == PACKET_PFC) {
        pfc_receive(sim, out->peer, p);
        return;
    }
    if (out->loss_threshold && random_next(&sim->random) < out->loss_threshold) {
        sim->counters[port][packet->priority].lost_packets++;
        sim->counters[port][packet->priority].lost_bytes += packet->bytes;
        packet_give(sim, p);
        return;
    }
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
