/* The loop: process the earliest event until there is none before the given time. */
#include "sim/fabric/bridge.h"
#include "sim/look_ahead.h"
#include "sim/fabric/switch.h"

static inline void dispatch(struct sim *sim, uint32_t kind, uint32_t object)
{
    switch ((enum event_kind)kind) {
    case EVENT_ARRIVE:
        port_arrive(sim, object);
        break;
    case EVENT_AT_SWITCH:
        port_arrive_at_switch(sim, object);
        break;
    case EVENT_AT_HOST:
        port_arrive_at_host(sim, object);
        break;
    case EVENT_TRANSMIT:
        port_transmit(sim, object);
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
    case EVENT_START:
        qp_start(sim, object);
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
    case EVENT_WATCHDOG:
        switch_watchdog(sim, object);
        break;
    case EVENT_INTERRUPT:
        bridge_interrupt(sim, object);
        break;
    case EVENT_SOFTIRQ:
        bridge_softirq(sim, object);
        break;
    case EVENT_STORM:
        storm_turn(sim, object);
        break;
    }
}

/*
 * The next event is looked up before the present one is processed, and is nearly always right. So the branch
 * to its handler, which no processor can predict, is decided early and not after four dependent loads (32
 * hosts: 5 %, 432 hosts: 8 % less time).
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

static inline bool confirm(struct event_queue *q, struct coming *coming, int64_t until_ps)
{
    uint32_t id = events_first(q, until_ps);
    if (id != coming->id)
        *coming = (struct coming){id, id == EVENT_NONE ? 0 : q->events[id].kind};
    /* The compiler must not take id, known late, for coming->id, known early. */
    __asm__("" : "+r"(coming->id), "+r"(coming->kind));
    return id != EVENT_NONE;
}

int sim_run_until(struct sim *sim, int64_t until_ps, struct error *e)
{
    if (until_ps < sim->now_ps)
        return error_set(e, "simulator: cannot run until %lld ps: the time is already %lld ps",
                         (long long)until_ps, (long long)sim->now_ps);
    struct event_queue *q = &sim->events;
    struct coming coming = {EVENT_NONE, 0};
    uint64_t count = 0;
    while (confirm(q, &coming, until_ps)) {
        const struct event *event = &q->events[coming.id];
        if (event->time_ps >= until_ps)
            break;
        uint32_t object = event->object, kind = coming.kind;
        if (event_time_ps(event) > sim->now_ps)
            sim->now_ps = event_time_ps(event);
        events_take(q, coming.id);
        count++;
        look_ahead(sim);
        foresee(q, &coming);
        dispatch(sim, kind, object);
        if (__builtin_expect(sim->out_of_memory, 0))
            return error_set(e, "simulator: no memory for more than %u packets", sim->packet_capacity);
    }
    sim->event_count += count;
    sim->now_ps = until_ps;
    return 0;
}

int64_t sim_now_ps(const struct sim *sim)
{
    return sim->now_ps;
}

void sim_work(const struct sim *sim, struct sim_work *out)
{
    *out = (struct sim_work){.events = sim->event_count,
                             .hops = sim->hops,
                             .pending_events = events_pending(&sim->events),
                             .packets_in_pool = sim->packet_capacity,
                             .bytes = sim->bytes,
                             .allocations = sim->allocations};
}

void sim_flow_stats(const struct sim *sim, size_t f, struct sim_flow_stats *out)
{
    const struct flow *flow = &sim->flows[f];
    *out = flow->stats;
    out->retransmitted_packets = out->delivered_bytes = out->marked_packets = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        const struct queue_pair *qp = &sim->qps[q];
        out->retransmitted_packets += qp->retransmitted;
        out->marked_packets += qp->marked;
        /* of a ping-pong the bytes are those of the first host's messages */
        if (!flow->ping_pong || q == flow->first_qp)
            out->delivered_bytes += qp_bytes_before(qp, qp->delivered_psn);
    }
    congestion_changes(sim, (uint32_t)f, &out->decreases, &out->increases);
}

const struct histogram *sim_flow_latency(const struct sim *sim, size_t flow)
{
    return sim->flows[flow].latency;
}

void sim_flow_latency_clear(struct sim *sim, size_t flow)
{
    if (sim->flows[flow].latency)
        histogram_clear(sim->flows[flow].latency);
}

size_t sim_pauses(const struct sim *sim, const struct sim_pause **pauses)
{
    *pauses = sim->pauses;
    return sim->pause_count;
}

struct sim_thresholds sim_host_thresholds(const struct sim *sim, uint32_t host, unsigned buffer)
{
    const struct receive_buffer *b = &sim->hosts[host].buffers[buffer];
    return (struct sim_thresholds){.xoff_bytes = b->xoff_bytes, .xon_bytes = b->xon_bytes};
}
