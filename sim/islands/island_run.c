/* What happens in an island in a window: its events. */
#include "sim/fabric/bridge.h"
#include "sim/fabric/pass.h"
#include "sim/fabric/switch.h"
#include "sim/faults/hooks.h"
#include "sim/islands/link.h"

/* ---- looking ahead */

/*
 * Data that coming events will access is fetched into the cache while earlier ones are processed. A packet's
 * arrival is a chain of four dependent loads (event, port, packet, the port it goes out of); on a large
 * network each of them misses the nearer caches, and three events of warning hide nearly all of it (432
 * hosts: 125 instead of 200 ns a hop). It changes no result.
 */

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

/* ---- events */

/* Events that are few, or none in most networks. */
static void dispatch_rare(struct sim *sim, uint32_t kind, uint32_t object)
{
    if (kind == EVENT_INJECTED)
        inject_turn(sim, object);
    else if (kind == EVENT_START)
        qp_start(sim, object);
    else if (kind == EVENT_LINK)
        link_faults_turn(sim, object);
    else if (kind == EVENT_ROUTES)
        reroute_turn(sim, object);
    else if (kind == EVENT_STORM)
        storm_turn(sim, object);
    else if (kind == EVENT_ANSWER)
        host_answer_due(sim, object);
    else if (kind == EVENT_RANK)
        rank_turn(sim, object);
    else
        switch_watchdog(sim, object);
}

static inline void dispatch(struct sim *sim, uint32_t kind, uint32_t object)
{
    switch ((enum event_kind)kind) {
    case EVENT_ARRIVE:
        port_arrive(sim, object);
        break;
    case EVENT_AT_SWITCH:
        if (!pass(sim, object))
            switch_arrive(sim, object);
        break;
    case EVENT_AT_HOST:
        port_arrive_at_host(sim, object);
        break;
    case EVENT_TRANSMIT:
    case EVENT_SWITCH_TRANSMIT:
        sim->now_ps = sim->events->now_ps -= sim->late_ps;
        sim->ports[object].transmit_ps = SIM_FOREVER;
        kind == EVENT_TRANSMIT ? port_transmit(sim, object) : switch_transmit(sim, object);
        break;
    case EVENT_UNPAUSE:
        pfc_unpause(sim, object);
        break;
    case EVENT_REFRESH:
        pfc_refresh(sim, object);
        break;
    case EVENT_SCHEDULE:
        host_wake(sim, object);
        break;
    case EVENT_FETCHED:
        dma_fetched(sim, object);
        break;
    case EVENT_WRITE:
        dma_write(sim, object);
        break;
    case EVENT_TURN:
        qp_turn(sim, object);
        break;
    case EVENT_TIMEOUT:
        qp_timeout(sim, object);
        break;
    case EVENT_CONGESTION:
        congestion_timer(sim, object);
        break;
    case EVENT_FORWARD:
        switch_forward(sim, object);
        break;
    case EVENT_INTERRUPT:
        bridge_interrupt(sim, object);
        break;
    case EVENT_SOFTIRQ:
        bridge_softirq(sim, object);
        break;
    case EVENT_START:
    case EVENT_INJECTED:
    case EVENT_LINK:
    case EVENT_ROUTES:
    case EVENT_STORM:
    case EVENT_ANSWER:
    case EVENT_RANK:
    case EVENT_WATCHDOG:
        dispatch_rare(sim, kind, object);
        break;
    }
}

/*
 * The next event is looked up before the present one is processed, and is nearly always right. So the branch
 * to its handler, which no processor can predict, is decided early and not after four dependent loads.
 */
struct coming {
    uint32_t id, kind;
};

static inline void find_coming(const struct event_queue *q, struct coming *coming)
{
    coming->id = events_coming(q);
    if (coming->id != EVENT_NONE)
        coming->kind = q->events[coming->id].kind;
}

static inline bool confirm(const struct event_queue *q, struct coming *coming)
{
    uint32_t id = events_coming(q);
    if (id != coming->id)
        *coming = (struct coming){id, id == EVENT_NONE ? 0 : q->events[id].kind};
    /* The compiler must not take id, known late, for coming->id, known early. */
    __asm__("" : "+r"(coming->id), "+r"(coming->kind));
    return id != EVENT_NONE;
}

/* Those that the wheel spans. */
static void run_wheel(struct sim *sim, struct event_queue *q, int64_t until_ps, bool looks_ahead)
{
    struct coming coming = {EVENT_NONE, 0};
    uint64_t count = 0;
    while (confirm(q, &coming) && !__builtin_expect(sim->out_of_memory, 0)) {
        const struct event *event = &q->events[coming.id];
        if (event->time_ps >= until_ps)
            break;
        uint32_t object = event->object, kind = coming.kind;
        sim->now_ps = event->time_ps;
        events_take(q, coming.id);
        count++;
        if (looks_ahead)
            look_ahead(sim);
        find_coming(q, &coming);
        dispatch(sim, kind, object);
    }
    sim->event_count += count;
}

void island_run(struct sim *sim, struct island *island, int64_t until_ps)
{
    struct event_queue *q = &island->queue;
    sim->events = q;
    int64_t half_ps = (int64_t)(q->slot_mask / 2) << q->slot_shift;
    while (events_next_ps(q) < until_ps && !sim->out_of_memory) {
        events_turn(q);
        /* Up to here, what is scheduled a packet's delay later is still on the wheel. */
        int64_t end_ps = q->wheel_end_ps - half_ps;
        run_wheel(sim, q, until_ps < end_ps ? until_ps : end_ps, island->looks_ahead);
    }
}

/* ---- fetching ahead */

static inline void prefetch_lines(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        __builtin_prefetch((const char *)from + i, 1);
}

void island_prefetch(const struct sim *sim, const struct island *island)
{
    if (island->looks_ahead)
        return;
    prefetch_lines(island->queue.events, island->queue.count * sizeof *island->queue.events);
    for (uint32_t i = 0; i < island->port_count; i++) {
        prefetch_lines(&sim->ports[island->ports[i]], 2 * (size_t)CACHE_LINE);
        if (sim->switch_ports)
            prefetch_lines(&sim->switch_ports[island->ports[i]], 2 * (size_t)CACHE_LINE);
    }
}

void island_prefetch_links(const struct sim *sim, const struct island *island)
{
    if (island->looks_ahead)
        return;
    for (uint32_t i = 0; i < island->port_count; i++) {
        const struct port *port = &sim->ports[island->ports[i]];
        uint32_t head = atomic_load_explicit(&port->in.head, memory_order_relaxed);
        if (head != port->in.end)
            prefetch_lines(&port->in.ring[head & port->in.mask], 3 * (size_t)CACHE_LINE);
        if (port->out.ring)
            prefetch_lines(&port->out.ring[port->out.tail & port->out.mask], CACHE_LINE);
        if (port->ready)
            __builtin_prefetch(&port->queues[__builtin_ctz(port->ready)], 1);
    }
}
