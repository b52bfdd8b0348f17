/* Putting a frame on the wire: the part of a port's work that every hop needs. */
#ifndef SIM_HOST_SEND_H
#define SIM_HOST_SEND_H

#include "sim/host/egress.h"
#include "sim/islands/link.h"

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
