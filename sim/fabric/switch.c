/* A shared-buffer switch's work on each packet: admission, marking, forwarding, ETS, and the PFC watchdog. */
#include "sim/fabric/switch.h"
#include "sim/fabric/pass.h"
#include "sim/faults/hooks.h"
#include "sim/host/egress.h"

#include <math.h>
#include <stdlib.h>

static inline unsigned priority_of(unsigned queue)
{
    return SIM_PRIORITIES - 1 - (queue - QUEUE_OF_PRIORITY_7);
}

/* ---- the shared buffer */

/* Take a frame of a lossless priority in: into the reserve, the shared part, or the headroom. */
static inline bool admit_lossless(struct fabric_switch *s, struct switch_port *at, unsigned priority,
                                  int32_t bytes)
{
    int64_t used = at->ingress[priority].used + bytes;
    if (used > s->reserve_bytes) {
        int64_t threshold = xoff_threshold(s, at), over = used - s->reserve_bytes;
        if (shared_use(s, at, priority) + bytes > threshold &&
            at->ingress[priority].headroom_used + bytes > at->headroom)
            return false;
        if (over > threshold) {
            at->ingress[priority].headroom_used += bytes;
            if (at->ingress[priority].headroom_used > s->headroom_peak)
                s->headroom_peak = at->ingress[priority].headroom_used;
            return true;
        }
        s->shared_used += over < bytes ? over : bytes;
    }
    at->ingress[priority].used = (int32_t)used;
    return true;
}

/* Lossy packets that wait at an egress port. */
static int64_t lossy_waiting(const struct fabric_switch *s, const struct port *out)
{
    int64_t bytes = 0;
    for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++)
        if (!(s->pfc_mask >> priority & 1))
            bytes += out->queues[queue_of(priority)].bytes;
    return bytes;
}

static inline bool lossy_queue_has_room(const struct fabric_switch *s, const struct port *out,
                                        unsigned priority, int32_t bytes, int64_t free_bytes)
{
    if (s->tail_drop_bytes)
        return lossy_waiting(s, out) + bytes <= s->tail_drop_bytes;
    return (double)(out->queues[queue_of(priority)].bytes + (uint32_t)bytes) <=
           s->lossy_alpha * (double)free_bytes;
}

static bool admit_lossy(struct fabric_switch *s, struct switch_port *at, const struct port *out,
                        unsigned priority, int32_t bytes)
{
    int64_t free_bytes = s->shared_bytes - s->shared_used;
    if (bytes > free_bytes || !lossy_queue_has_room(s, out, priority, bytes, free_bytes))
        return false;
    s->shared_used += bytes;
    at->ingress[priority].used += bytes;
    return true;
}

static inline void release_buffer(struct fabric_switch *s, struct switch_port *at, unsigned priority,
                                  int32_t bytes)
{
    if (!(at->pfc_mask >> priority & 1)) {
        at->ingress[priority].used -= bytes;
        s->shared_used -= bytes;
        return;
    }
    int32_t from_headroom =
        at->ingress[priority].headroom_used < bytes ? at->ingress[priority].headroom_used : bytes;
    at->ingress[priority].headroom_used -= from_headroom;
    bytes -= from_headroom;
    int64_t shared = shared_use(s, at, priority);
    s->shared_used -= shared < bytes ? shared : bytes;
    at->ingress[priority].used -= bytes;
}

static inline void check_xoff(struct sim *sim, struct fabric_switch *s, uint32_t in, unsigned priority)
{
    struct switch_port *at = &sim->switch_ports[in];
    if (at->xoff >> priority & 1)
        return;
    if (!at->ingress[priority].headroom_used && shared_use(s, at, priority) < xoff_threshold(s, at))
        return;
    at->xoff |= (uint8_t)(1u << priority);
    pfc_xoff(sim, in, (uint8_t)(1u << priority));
}

static inline void check_xon(struct sim *sim, struct fabric_switch *s, uint32_t in, unsigned priority)
{
    struct switch_port *at = &sim->switch_ports[in];
    if (!(at->xoff >> priority & 1) || at->ingress[priority].headroom_used)
        return;
    int64_t use = shared_use(s, at, priority);
    if (use != 0 && use + s->xon_offset_bytes > xoff_threshold(s, at))
        return;
    at->xoff &= (uint8_t) ~(1u << priority);
    pfc_xon(sim, in, (uint8_t)(1u << priority));
}

/* ---- marking */

static inline void mark_packet(struct sim *sim, uint32_t out, struct packet *packet, uint32_t queued)
{
    uint32_t kmin = sim->ports[out].kmin;
    if (queued <= kmin || !(packet->flags & PACKET_ECT))
        return;
    struct switch_port *at = &sim->switch_ports[out];
    if (queued <= at->kmax && random_next(&sim->ports[out].random) >> 16 >= (queued - kmin) * at->mark_slope)
        return;
    packet->flags |= PACKET_CE;
    at->marked++;
}

/* ---- in-band telemetry: what a port appends to a data packet that leaves its queue (congestion.h) */

/* A sixth hop finds no room: congestion_build refuses such paths for rows that read the telemetry. */
static void telemetry_append_hop(struct sim *sim, uint32_t port, uint32_t p)
{
    struct telemetry_path *path = &sim->telemetry_paths[p];
    const struct port *out = &sim->ports[port];
    if (path->count == CONGESTION_MOST_HOPS)
        return;
    struct telemetry_hop *hop = &path->hops[path->count++];
    *hop = (struct telemetry_hop){.left_ps = sim->now_ps, .rate_bps = out->rate_bps};
    for (unsigned queue = QUEUE_CONTROL; queue < QUEUES; queue++) {
        hop->sent_bytes += out->queues[queue].sent_bytes;
        hop->queued_bytes += out->queues[queue].bytes;
    }
}

/* The packet is out of the queue and not yet counted as sent. */
static inline void telemetry_append(struct sim *sim, uint32_t port, uint32_t p)
{
    if (sim->telemetry_paths && sim->packets[p].kind == PACKET_DATA)
        telemetry_append_hop(sim, port, p);
}

/* ---- forwarding */

/* Is the packet dropped in place of joining the queue of this port? By the watchdog, or because there is no
 * link. */
static bool drop_if_refused(struct sim *sim, struct fabric_switch *s, uint32_t out, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    struct switch_port *at = &sim->switch_ports[out];
    unsigned priority = packet->priority;
    if (sim->ports[out].flags & PORT_DOWN)
        at->link_dropped++;
    else if (at->storm >> priority & 1 && s->watchdog.action == WATCHDOG_DROP)
        at->watchdog_dropped++;
    else
        return false;
    uint32_t in = packet->ingress;
    release_buffer(s, &sim->switch_ports[in], priority, packet->bytes);
    packet_give(sim, p);
    check_xon(sim, s, in, priority);
    return true;
}

static inline void enqueue_packet(struct sim *sim, struct fabric_switch *s, uint32_t p)
{
    struct packet *packet = &sim->packets[p];
    uint32_t out = sim->paths[packet->path++];
    unsigned priority = packet->priority, queue = queue_of(priority);
    uint32_t queued = sim->ports[out].queues[queue].bytes;
    if (sim->ports[out].flags & (PORT_STORM | PORT_DOWN) && drop_if_refused(sim, s, out, p))
        return;
    if (s->mark_at_enqueue && s->ecn_mask >> priority & 1)
        mark_packet(sim, out, packet, queued);
    port_enqueue(sim, out, queue, p);
}

/* A frame whose egress port is idle leaves at once: it occupies no buffer, and there is no queue to mark it
 * for. Nothing changes but the peaks. */
static inline bool may_pass(const struct sim *sim, struct fabric_switch *s, const struct switch_port *at,
                            const struct packet *packet)
{
    unsigned priority = packet->priority;
    return port_is_idle(sim, &sim->ports[sim->paths[packet->path]], queue_of(priority)) && !s->latency_ps &&
           passes_buffer(s, at, priority, packet->bytes);
}

/* Is there room in the buffer? */
static inline bool admit_packet(const struct sim *sim, struct fabric_switch *s, struct switch_port *at,
                                const struct packet *packet)
{
    unsigned priority = packet->priority;
    if (at->pfc_mask >> priority & 1)
        return admit_lossless(s, at, priority, packet->bytes);
    return admit_lossy(s, at, &sim->ports[sim->paths[packet->path]], priority, packet->bytes);
}

static inline void receive_frame(struct sim *sim, uint32_t in, uint32_t p)
{
    struct packet *packet = &sim->packets[p];
    struct fabric_switch *s = &sim->switches[sim->ports[in].node];
    struct switch_port *at = &sim->switch_ports[in];
    unsigned priority = packet->priority;
    bool lossless = at->pfc_mask >> priority & 1;
    if (__builtin_expect(s->reroutes, 0) && !reroute_packet(sim, in, p))
        return;
    if (lossless && may_pass(sim, s, at, packet)) {
        telemetry_append(sim, sim->paths[packet->path], p);
        port_send_at_once(sim, sim->paths[packet->path++], queue_of(priority), p);
        return;
    }
    if (!admit_packet(sim, s, at, packet)) {
        at->dropped++;
        packet_give(sim, p);
        return;
    }
    packet->ingress = in;
    if (s->shared_used > s->peak_bytes)
        s->peak_bytes = s->shared_used;
    if (lossless)
        check_xoff(sim, s, in, priority); /* may move the packets */
    if (!s->latency_ps) {
        enqueue_packet(sim, s, p);
        return;
    }
    if (delay_line_append(sim, &s->pipeline, sim->now_ps + s->latency_ps, p))
        event_schedule(sim->events, s->forward_event, sim->now_ps + s->latency_ps);
}

void switch_receive(struct sim *sim, uint32_t in, uint32_t p)
{
    receive_frame(sim, in, p);
}

void switch_arrive(struct sim *sim, uint32_t in)
{
    uint32_t p = link_arrive(sim, in, &sim->ports[in]);
    if (sim->packets[p].kind == PACKET_PFC)
        pfc_receive(sim, in, p);
    else
        receive_frame(sim, in, p);
}

void switch_forward(struct sim *sim, uint32_t index)
{
    struct fabric_switch *s = &sim->switches[index];
    uint32_t p = delay_line_take(sim, &s->pipeline);
    if (s->pipeline.first != NONE)
        event_schedule(sim->events, s->forward_event, s->pipeline.first_ps);
    enqueue_packet(sim, s, p);
}

static inline void packet_departed(struct sim *sim, uint32_t out, unsigned queue, uint32_t p)
{
    if (queue < QUEUE_OF_PRIORITY_7)
        return;
    struct packet *packet = &sim->packets[p];
    struct fabric_switch *s = &sim->switches[sim->ports[out].node];
    unsigned priority = priority_of(queue);
    uint32_t in = packet->ingress;
    release_buffer(s, &sim->switch_ports[in], priority, packet->bytes);
    telemetry_append(sim, out, p);
    if (!s->mark_at_enqueue && s->ecn_mask >> priority & 1)
        mark_packet(sim, out, packet, sim->ports[out].queues[queue].bytes);
    check_xon(sim, s, in, priority);
}

void switch_departed(struct sim *sim, uint32_t out, unsigned queue, uint32_t p)
{
    packet_departed(sim, out, queue, p);
}

/* As port_transmit. */
void switch_transmit(struct sim *sim, uint32_t index)
{
    struct port *out = &sim->ports[index];
    unsigned queues = out->ready & ~(unsigned)out->paused;
    if (!queues)
        return;
    unsigned queue = (unsigned)__builtin_ctz(queues);
    uint32_t p = port_dequeue(sim, out, queue);
    packet_departed(sim, index, queue, p);
    send_frame(sim, out, p);
    queues = out->ready & ~(unsigned)out->paused;
    if (queues)
        port_schedule(sim, out, out->busy_until_ps, out->queues[__builtin_ctz(queues)].packets.head);
}

/* ---- ETS (IEEE 802.1Qaz): strict classes first, then deficit round robin (Shreedhar and Varghese, 1995) */

#define QUANTUM_PER_WEIGHT 128 /* bytes a round: 1 % of a class is less than a frame, 100 % some frames */

unsigned switch_pick_queue(struct sim *sim, uint32_t out, unsigned queues)
{
    const struct fabric_switch *s = &sim->switches[sim->ports[out].node];
    unsigned first = (unsigned)__builtin_ctz(queues);
    if (first < QUEUE_OF_PRIORITY_7)
        return first;
    unsigned queue_of_tc[SIM_PRIORITIES] = {0}, waiting = 0;
    int strict = -1;
    for (unsigned left = queues; left; left &= left - 1) {
        unsigned queue = (unsigned)__builtin_ctz(left), tc = s->prio_to_tc[priority_of(queue)];
        if (!(waiting >> tc & 1))
            queue_of_tc[tc] = queue;
        waiting |= 1u << tc;
        if (!s->tc_weight[tc] && (int)tc > strict)
            strict = (int)tc;
    }
    if (strict >= 0)
        return queue_of_tc[strict];
    struct switch_port *at = &sim->switch_ports[out];
    for (;;) {
        unsigned tc = at->turn;
        int32_t bytes =
            waiting >> tc & 1 ? sim->packets[sim->ports[out].queues[queue_of_tc[tc]].packets.head].bytes : 0;
        if (bytes && bytes <= at->deficit[tc]) {
            at->deficit[tc] -= bytes;
            return queue_of_tc[tc];
        }
        if (!bytes)
            at->deficit[tc] = 0;
        at->turn = (uint8_t)((tc + 1) % SIM_PRIORITIES);
        if (waiting >> at->turn & 1)
            at->deficit[at->turn] += s->tc_weight[at->turn] * QUANTUM_PER_WEIGHT;
    }
}

/* ---- PFC watchdog */

void switch_drop_queue(struct sim *sim, uint32_t out, unsigned priority, int64_t *dropped)
{
    struct port *port = &sim->ports[out];
    struct fabric_switch *s = &sim->switches[port->node];
    unsigned queue = queue_of(priority);
    pfc_note_waiting(sim, out, priority);
    while (port->queues[queue].packets.head != NONE) {
        uint32_t p = list_take(sim, &port->queues[queue].packets);
        uint32_t in = sim->packets[p].ingress;
        port->queues[queue].bytes -= sim->packets[p].bytes;
        release_buffer(s, &sim->switch_ports[in], priority, sim->packets[p].bytes);
        (*dropped)++;
        packet_give(sim, p);
        check_xon(sim, s, in, priority);
    }
    port->ready &= (uint16_t) ~(1u << queue);
}

static void detect_storm(struct sim *sim, struct fabric_switch *s, uint32_t out, unsigned priority)
{
    struct port *port = &sim->ports[out];
    struct switch_port *at = &sim->switch_ports[out];
    unsigned bit = 1u << queue_of(priority);
    if (!(port->paused & bit) || !(port->ready & bit) ||
        sim->now_ps - port->pause_start_ps[priority] < s->watchdog.detect_ps)
        return;
    at->storm |= (uint8_t)(1u << priority);
    port->flags |= PORT_STORM;
    at->calm_since_ps[priority] = sim->now_ps;
    at->pauses_seen[priority] = sim->counters[out][priority].rx_pause;
    s->storms++;
    if (s->watchdog.action == WATCHDOG_DROP) {
        switch_drop_queue(sim, out, priority, &at->watchdog_dropped);
    } else {
        pfc_ignore(sim, out, priority, true);
    }
}

/* Only XOFF continues a storm; an XON alone ends a pause. */
static void restore_after_storm(struct sim *sim, struct fabric_switch *s, uint32_t out, unsigned priority)
{
    struct port *port = &sim->ports[out];
    struct switch_port *at = &sim->switch_ports[out];
    unsigned bit = 1u << queue_of(priority);
    int64_t pauses = sim->counters[out][priority].rx_pause;
    if (pauses != at->pauses_seen[priority] || port->paused & bit) {
        at->pauses_seen[priority] = pauses;
        at->calm_since_ps[priority] = sim->now_ps;
    } else if (sim->now_ps - at->calm_since_ps[priority] >= s->watchdog.restore_ps) {
        at->storm &= (uint8_t) ~(1u << priority);
        if (!at->storm)
            port->flags &= (uint8_t)~PORT_STORM;
        pfc_ignore(sim, out, priority, false);
        s->restores++;
    }
}

void switch_watchdog(struct sim *sim, uint32_t index)
{
    struct fabric_switch *s = &sim->switches[index];
    for (uint32_t i = 0; i < s->port_count; i++) {
        uint32_t out = s->ports[i];
        for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++) {
            if (sim->switch_ports[out].storm >> priority & 1)
                restore_after_storm(sim, s, out, priority);
            else
                detect_storm(sim, s, out, priority);
        }
    }
    event_schedule(sim->events, s->watchdog_event, sim->now_ps + s->watchdog.detect_ps / 4);
}
