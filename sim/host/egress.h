/* A port: when it sends and what waits there, what arrives at it, and putting a frame on the wire, which
 * every hop needs. */
#ifndef SIM_EGRESS_H
#define SIM_EGRESS_H

#include "sim/islands/link.h"
#include "sim/model.h"

void port_transmit(struct sim *sim, uint32_t port);            /* EVENT_TRANSMIT */
void port_arrive(struct sim *sim, uint32_t port);              /* EVENT_ARRIVE */
void port_receive(struct sim *sim, uint32_t port, uint32_t p); /* a frame that is there */
void port_arrive_at_host(struct sim *sim, uint32_t port);

/* Do frames wait at the port in one of these queues (a bit each), of a host also those of its queue pairs? */
bool port_waits(const struct sim *sim, uint32_t port, unsigned queues);

/* Its turn to send need not be waited for. */
static inline void port_cancel(struct sim *sim, struct port *out)
{
    if (out->transmit_ps == SIM_FOREVER)
        return;
    out->transmit_ps = SIM_FOREVER;
    event_cancel(sim->events, out->first_event + PORT_TRANSMIT);
}

/* Let the port send when it is free, its head packet being `hint`. */
static inline void port_schedule(struct sim *sim, struct port *out, int64_t at_ps, uint32_t hint)
{
    port_cancel(sim, out);
    sim->events->events[out->first_event + PORT_TRANSMIT].hint = hint;
    __builtin_prefetch(&sim->packets[hint], 1, 2);
    out->transmit_ps = at_ps + sim->late_ps;
    event_schedule(sim->events, out->first_event + PORT_TRANSMIT, out->transmit_ps);
}

/* Will the port choose a frame at this very time, after all arrivals of this time? */
static inline bool port_is_about_to_send(const struct sim *sim, const struct port *out)
{
    return out->transmit_ps == sim->now_ps + sim->late_ps;
}

/* There may be something to send. */
static inline void port_kick(struct sim *sim, uint32_t port, uint32_t hint)
{
    struct port *out = &sim->ports[port];
    if (port_is_about_to_send(sim, out))
        return;
    if (sim->now_ps >= out->busy_until_ps) {
        port_cancel(sim, out);
        port_transmit(sim, port);
    } else if (out->transmit_ps > out->busy_until_ps + sim->late_ps) {
        port_schedule(sim, out, out->busy_until_ps, hint);
    }
}

/* Would a frame of this queue leave at once? Always false for ports with ETS, in a storm, or without a
 * link. */
static inline bool port_is_idle(const struct sim *sim, const struct port *out, unsigned queue)
{
    return sim->now_ps >= out->busy_until_ps && !port_is_about_to_send(sim, out) && !out->ready &&
           !(out->paused >> queue & 1) && !(out->flags & (PORT_ETS | PORT_STORM | PORT_DOWN));
}

/* Put a packet into an egress queue, and send if possible. */
static inline void port_enqueue(struct sim *sim, uint32_t port, unsigned queue, uint32_t p)
{
    struct port *out = &sim->ports[port];
    struct queue *q = &out->queues[queue];
    list_append(sim, &q->packets, p);
    q->bytes += sim->packets[p].bytes;
    if (q->bytes > q->peak_bytes)
        q->peak_bytes = q->bytes;
    out->ready |= (uint16_t)(1u << queue);
    port_kick(sim, port, p);
}

/* ---- on the wire */

static inline void count_sent(struct queue *q, uint32_t bytes)
{
    q->sent_packets++;
    q->sent_bytes += bytes;
}

static inline void queue_peak(struct queue *q, uint32_t bytes)
{
    if (bytes > q->peak_bytes)
        q->peak_bytes = bytes;
}

/* The port is free. */
static inline void send_frame(struct sim *sim, struct port *out, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    uint32_t bytes = packet->bytes;
    if (packet->kind != PACKET_PFC)
        count_sent(&out->queues[queue_of(packet->priority)], bytes);
    out->busy_until_ps = sim->now_ps + frame_ps(sim, out, bytes);
    link_send(sim, out, p, out->busy_until_ps + out->delay_ps);
}

/* The head of a queue leaves it. */
static inline uint32_t port_dequeue(struct sim *sim, struct port *out, unsigned queue)
{
    struct queue *q = &out->queues[queue];
    uint32_t p = list_take(sim, &q->packets);
    q->bytes -= sim->packets[p].bytes;
    out->ready &= (uint16_t) ~((q->packets.head == NONE) << queue);
    return p;
}

/* On an idle port of a switch. */
static inline void port_send_at_once(struct sim *sim, uint32_t port, unsigned queue, uint32_t p)
{
    struct port *out = &sim->ports[port];
    queue_peak(&out->queues[queue], sim->packets[p].bytes);
    port_cancel(sim, out);
    send_frame(sim, out, p);
}

#endif
