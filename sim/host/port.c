/* A port's sending side: egress queues, serialisation, and the link to its peer. */
#include "sim/fabric/bridge.h"
#include "sim/fabric/switch.h"

static inline void schedule_arrival(struct sim *sim, uint32_t port, const struct port *out)
{
    sim->events.events[port_event(port, PORT_ARRIVE)].hint = out->flight.first;
    __builtin_prefetch(&sim->packets[out->flight.first], 1, 2); /* until then it is near enough */
    event_schedule(&sim->events, port_event(port, PORT_ARRIVE), out->flight.first_ps);
}

/* Put a frame on the wire; the port is free. */
static inline void send_frame(struct sim *sim, uint32_t port, struct port *out, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    uint32_t bytes = packet->bytes;
    if (packet->kind != PACKET_PFC) {
        struct queue *q = &out->queues[queue_of(packet->priority)];
        q->sent_packets++;
        q->sent_bytes += bytes;
    }
    out->busy_until_ps =
        sim->now_ps + sim_duration(sim, bytes + (uint32_t)sim->framing.gap_bytes, out->ps_per_byte_q20);
    if (delay_line_append(sim, &out->flight, out->busy_until_ps + out->delay_ps, p))
        schedule_arrival(sim, port, out);
}

void port_send_at_once(struct sim *sim, uint32_t port, unsigned queue, uint32_t p)
{
    struct port *out = &sim->ports[port];
    struct queue *q = &out->queues[queue];
    uint32_t bytes = sim->packets[p].bytes;
    if (bytes > q->peak_bytes)
        q->peak_bytes = bytes;
    event_cancel(&sim->events, port_event(port, PORT_TRANSMIT));
    send_frame(sim, port, out, p);
}

/* The head of a queue leaves it. */
static inline uint32_t dequeue(struct sim *sim, struct port *out, unsigned queue)
{
    struct queue *q = &out->queues[queue];
    uint32_t p = list_take(sim, &q->packets);
    q->bytes -= sim->packets[p].bytes;
    out->ready &= (uint16_t) ~((q->packets.head == NONE) << queue);
    return p;
}

static inline uint32_t next_frame(struct sim *sim, uint32_t port, struct port *out)
{
    unsigned queues = out->ready & ~(unsigned)out->paused;
    if (!queues)
        return out->node_kind == SIM_HOST ? host_pull(sim, port) : NONE;
    unsigned queue =
        out->flags & PORT_ETS ? switch_pick_queue(sim, port, queues) : (unsigned)__builtin_ctz(queues);
    uint32_t p = dequeue(sim, out, queue);
    if (out->node_kind == SIM_SWITCH)
        switch_departed(sim, port, queue, p);
    else if (out->node_kind == SIM_BRIDGE)
        bridge_departed(sim, port, p);
    else if (sim->packets[p].kind == PACKET_ACK)
        sim->qps[sim->packets[p].qp].waiting_ack = NONE;
    return p;
}

/* Send the next frame, if one may be sent, and schedule the one after it. */
void port_transmit(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    uint32_t p = next_frame(sim, port, out);
    if (p == NONE)
        return;
    send_frame(sim, port, out, p);
    unsigned queues = out->ready & ~(unsigned)out->paused;
    if (queues) {
        port_schedule(sim, port, out->busy_until_ps, out->queues[__builtin_ctz(queues)].packets.head);
    } else if (out->node_kind == SIM_HOST) {
        int64_t at_ps = host_next_pull_ps(sim, out->node);
        if (at_ps != SIM_FOREVER)
            port_schedule(sim, port, at_ps > out->busy_until_ps ? at_ps : out->busy_until_ps, 0);
    }
}

static inline uint32_t take_arrived(struct sim *sim, uint32_t port, struct port *out)
{
    uint32_t p = delay_line_take(sim, &out->flight);
    if (out->flight.first != NONE)
        schedule_arrival(sim, port, out);
    sim->hops++;
    return p;
}

void port_arrive_at_switch(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    uint32_t p = take_arrived(sim, port, out);
    if (sim->packets[p].kind == PACKET_PFC)
        pfc_receive(sim, out->peer, p);
    else
        switch_receive(sim, out->peer, p);
}

void port_arrive_at_host(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    uint32_t p = take_arrived(sim, port, out);
    if (sim->packets[p].kind == PACKET_PFC)
        pfc_receive(sim, out->peer, p);
    else
        host_receive(sim, out->peer, p);
}

/* The first frame in flight from this port reaches its peer. */
void port_arrive(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    uint32_t p = take_arrived(sim, port, out);
    struct packet *packet = &sim->packets[p];
    struct port *in = &sim->ports[out->peer];
    if (packet->kind == PACKET_PFC) {
        pfc_receive(sim, out->peer, p);
        return;
    }
    if ((out->flags & PORT_LOSES) && random_next(&sim->random) < out->loss_threshold) {
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
