/*
 * Frames on a link.
 *
 * Within an island a packet stays in the pool while it is on its way, in the receiving port's delay line.
 * Between islands it is copied through a ring: the sender's end appends in the order of arrival, the
 * receiver's end takes out; one writer, one reader. Islands are run for a window of time that is shorter than
 * any frame's way between them, so the receiver is told of new frames between windows, by a letter that says
 * how far the ring is filled; what it does then does not depend on how far the sender has got.
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "sim/islands/island.h"
#include "sim/model.h"
#include <stdatomic.h>

/* Address space for the rings of all links between islands, whose ports and window are known. */
void links_reserve(struct sim *sim);
void links_free(struct sim *sim);
/* More room in a ring that seems full. -1 when memory ran out. */
int link_make_room(struct sim *sim, uint32_t port);

/* Behind a ring's packets: their telemetry, and behind that their paths' telemetry, as far as the simulation
 * has them. */
static inline struct telemetry *ring_telemetry(const struct packet *ring, uint32_t mask)
{
    return (struct telemetry *)(uintptr_t)(ring + mask + 1);
}

static inline struct telemetry_path *ring_telemetry_paths(const struct packet *ring, uint32_t mask)
{
    return (struct telemetry_path *)(uintptr_t)(ring_telemetry(ring, mask) + mask + 1);
}

/* The hops that there are. */
static inline void copy_telemetry_path(struct telemetry_path *to, const struct telemetry_path *from)
{
    to->count = from->count;
    for (uint32_t i = 0; i < from->count; i++)
        to->hops[i] = from->hops[i];
}

/* ---- the order of arrivals among other events of their time */

/* A link's next frame arrives at time_ps. If the link was not empty when it was sent, that was scheduled when
 * the one before it arrived; else when it was sent, after what the receiver's node scheduled then, and in the
 * order of the ports. */
static inline void link_schedule(struct event_queue *q, const struct port *in, uint32_t port, int64_t time_ps,
                                 int64_t sent_ps)
{
    bool behind = sent_ps < in->in.last_ps;
    event_schedule_as(q, in->first_event + PORT_ARRIVE, time_ps,
                      behind ? 2 * in->in.last_ps : 2 * sent_ps + 1, behind ? in->in.next_order : port);
}

/* ---- within an island */

static inline int64_t frame_ps(const struct sim *sim, const struct port *port, uint32_t bytes)
{
    return frame_duration(sim, bytes + (uint32_t)sim->framing.gap_bytes, port->ps_per_byte_q20);
}

static inline void line_append(struct sim *sim, uint32_t port, uint32_t p, int64_t arrive_ps)
{
    struct port *in = &sim->ports[port];
    in->in.sent_ps = sim->now_ps;
    if (!delay_line_append(sim, &in->in.line, arrive_ps, p))
        return;
    sim->events->events[in->first_event + PORT_ARRIVE].hint = p;
    __builtin_prefetch(&sim->packets[p], 1, 2); /* until then it is near enough */
    link_schedule(sim->events, in, port, arrive_ps, sim->now_ps);
}

/* The next one will arrive in its time. */
static inline uint32_t line_take(struct sim *sim, uint32_t port, struct port *in)
{
    uint32_t p = delay_line_take(sim, &in->in.line);
    if (in->in.line.first == NONE)
        return p;
    sim->events->events[in->first_event + PORT_ARRIVE].hint = in->in.line.first;
    __builtin_prefetch(&sim->packets[in->in.line.first], 1, 2);
    int64_t time_ps = in->in.line.first_ps, sent_ps = 0;
    if (in->in.sent_ps == sim->now_ps) /* perhaps it is that one which was sent at this very time */
        sent_ps = time_ps - in->delay_ps - frame_ps(sim, in, sim->packets[in->in.line.first].bytes);
    link_schedule(sim->events, in, port, time_ps, sent_ps);
    return p;
}

/* ---- between islands */

/* The receiver's end learns of frames. */
static inline void ring_tell(struct event_queue *q, struct port *in, const struct letter *letter)
{
    in->in.ring = letter->ring;
    in->in.mask = letter->mask;
    in->in.end = letter->end;
    if (event_is_pending(q, in->first_event + PORT_ARRIVE))
        return;
    uint32_t head = atomic_load_explicit(&in->in.head, memory_order_relaxed);
    const struct packet *frame = &in->in.ring[head & in->in.mask];
    link_schedule(q, in, letter->port, frame->time_ps, frame->sent_ps);
}

/* Field by field: the processor would wait for the latest stores to be done before it could load them as a
 * whole. */
static inline void copy_packet(struct packet *to, const struct packet *from)
{
    to->qp = from->qp;
    to->psn = from->psn;
    to->path = from->path;
    to->all = from->all;
}

/* The place behind the last frame; there is room. */
static inline struct packet *ring_place(const struct port *out)
{
    return &out->out.ring[out->out.tail & out->out.mask];
}

/* What was put there is on its way. */
static inline void ring_send(struct sim *sim, struct port *out, struct packet *frame, int64_t arrive_ps)
{
    struct outbox *box = &out->out;
    frame->time_ps = arrive_ps;
    frame->sent_ps = sim->now_ps;
    __builtin_prefetch(&box->ring[(box->tail + 3) & box->mask], 1);
    box->tail++;
    if (box->window != sim->window) {
        box->window = sim->window;
        island_post(sim, out->peer, arrive_ps);
    }
}

static inline void ring_append(struct sim *sim, struct port *out, uint32_t p, int64_t arrive_ps)
{
    struct outbox *box = &out->out;
    uint32_t place = box->tail & box->mask;
    copy_packet(ring_place(out), &sim->packets[p]);
    if (sim->telemetry)
        ring_telemetry(box->ring, box->mask)[place] = sim->telemetry[p];
    if (sim->telemetry_paths)
        copy_telemetry_path(&ring_telemetry_paths(box->ring, box->mask)[place], &sim->telemetry_paths[p]);
    ring_send(sim, out, ring_place(out), arrive_ps);
}

/* The frame that arrives next. */
static inline const struct packet *ring_first(const struct port *in)
{
    return &in->in.ring[atomic_load_explicit(&in->in.head, memory_order_relaxed) & in->in.mask];
}

/* The first frame is taken: the next one arrives in its time. */
static inline void ring_advance(struct sim *sim, uint32_t port, struct port *in)
{
    uint32_t head = atomic_load_explicit(&in->in.head, memory_order_relaxed) + 1;
    __builtin_prefetch(&in->in.ring[(head + 3) & in->in.mask]);
    atomic_store_explicit(&in->in.head, head, memory_order_release);
    if (head == in->in.end)
        return;
    const struct packet *frame = &in->in.ring[head & in->in.mask];
    link_schedule(sim->events, in, port, frame->time_ps, frame->sent_ps);
}

static inline uint32_t ring_take(struct sim *sim, uint32_t port, struct port *in)
{
    uint32_t p = packet_take(sim);
    uint32_t place = atomic_load_explicit(&in->in.head, memory_order_relaxed) & in->in.mask;
    copy_packet(&sim->packets[p], &in->in.ring[place]);
    if (sim->telemetry)
        sim->telemetry[p] = ring_telemetry(in->in.ring, in->in.mask)[place];
    if (sim->telemetry_paths)
        copy_telemetry_path(&sim->telemetry_paths[p], &ring_telemetry_paths(in->in.ring, in->in.mask)[place]);
    ring_advance(sim, port, in);
    return p;
}

/* ---- either */

/* Send a packet of the pool. */
static inline void link_send(struct sim *sim, struct port *out, uint32_t p, int64_t arrive_ps)
{
    if (out->flags & (PORT_INSIDE | PORT_CAPTURED)) {
        if (__builtin_expect(out->flags & PORT_CAPTURED, 0))
            capture_frame(sim, out->peer ^ 1, p, true);
        if (out->flags & PORT_INSIDE) {
            line_append(sim, out->peer, p, arrive_ps);
            return;
        }
    }
    if (__builtin_expect(out->out.tail - out->out.head_seen <= out->out.mask, 1) ||
        !link_make_room(sim, out->peer ^ 1))
        ring_append(sim, out, p, arrive_ps);
    packet_give(sim, p);
}

/* A frame arrives now. */
static inline void link_arrived(struct sim *sim, struct port *in)
{
    in->in.last_ps = sim->now_ps;
    in->in.next_order = sim->events->next_order++;
    sim->hops++;
}

/* Take it; it is in the pool then. */
static inline uint32_t link_arrive(struct sim *sim, uint32_t port, struct port *in)
{
    link_arrived(sim, in);
    return in->flags & PORT_INSIDE ? line_take(sim, port, in) : ring_take(sim, port, in);
}

#endif
