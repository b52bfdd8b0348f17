/* What happens in an island in a window: its events. */
#include "sim/fabric/bridge.h"
#include "sim/fabric/pass.h"
#include "sim/fabric/switch.h"
#include "sim/faults/hooks.h"
#include "sim/islands/link.h"
#include "sim/islands/look_ahead.h"

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

static inline void foresee(const struct event_queue *q, struct coming *coming)
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
        foresee(q, &coming);
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
