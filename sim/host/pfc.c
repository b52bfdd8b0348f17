/*
 * Priority flow control (IEEE 802.1Qbb) at a port, both ways.
 *
 * A pause frame names priorities and a time in quanta of 512 bit times. The sender of a pause repeats it
 * while the reason lasts; time 0 resumes. Quanta 0 in the configuration: a pause lasts until it is resumed,
 * as in some simulators.
 */
#include "sim/model.h"
#include "sim/faults/faults.h"
#include "sim/host/egress.h"
#include "sim/fabric/fabric.h"
#include "sim/islands/island.h"
#include <stdlib.h>

#define QUANTUM_BYTES 64

/* ---- pauses that this end asks for */

static void send_pause(struct sim *sim, uint32_t port, uint8_t classes, uint32_t quanta)
{
    uint32_t p = packet_take(sim);
    sim->packets[p] = (struct packet){.kind = PACKET_PFC,
                                      .flags = classes,
                                      .psn = quanta,
                                      .bytes = (uint16_t)sim->framing.pfc_bytes,
                                      .qp = NONE};
    for (unsigned i = 0; i < SIM_PRIORITIES; i++)
        if (classes >> i & 1)
            sim->counters[port][i].tx_pause++;
    port_enqueue(sim, port, QUEUE_PFC, p);
}

static uint32_t quanta_of(const struct port *port)
{
    return port->quanta ? (uint32_t)port->quanta : UINT32_MAX;
}

static void pfc_begin(struct sim *sim, uint32_t port, uint8_t classes)
{
    struct port *at = &sim->ports[port];
    classes &= (uint8_t)~at->xoff;
    if (!classes)
        return;
    at->xoff |= classes;
    for (unsigned i = 0; i < SIM_PRIORITIES; i++)
        if (classes >> i & 1)
            at->xoff_start_ps[i] = at->xoff_sent_ps[i] = sim->now_ps;
    if (at->quanta && !event_is_pending(sim->events, port_event(sim, port, PORT_REFRESH)))
        event_schedule(sim->events, port_event(sim, port, PORT_REFRESH), sim->now_ps + at->refresh_ps);
    send_pause(sim, port, classes, quanta_of(at));
}

/* Resume those of these priorities that neither a buffer nor a fault pauses any more. */
static void pfc_end(struct sim *sim, uint32_t port, uint8_t classes)
{
    struct port *at = &sim->ports[port];
    classes &= at->xoff & (uint8_t)~at->full;
    for (unsigned i = 0; i < SIM_PRIORITIES; i++) {
        if (at->holds[i])
            classes &= (uint8_t) ~(1u << i);
        else if (classes >> i & 1)
            sim->counters[port][i].tx_pause_ps += sim->now_ps - at->xoff_start_ps[i];
    }
    if (!classes)
        return;
    at->xoff &= (uint8_t)~classes;
    send_pause(sim, port, classes, 0);
}

void pfc_xoff(struct sim *sim, uint32_t port, uint8_t classes)
{
    sim->ports[port].full |= classes;
    pfc_begin(sim, port, classes);
}

void pfc_xon(struct sim *sim, uint32_t port, uint8_t classes)
{
    sim->ports[port].full &= (uint8_t)~classes;
    pfc_end(sim, port, classes);
}

void pfc_hold(struct sim *sim, uint32_t port, uint8_t classes)
{
    for (unsigned i = 0; i < SIM_PRIORITIES; i++)
        sim->ports[port].holds[i] += classes >> i & 1;
    pfc_begin(sim, port, classes);
}

void pfc_let_go(struct sim *sim, uint32_t port, uint8_t classes)
{
    for (unsigned i = 0; i < SIM_PRIORITIES; i++)
        sim->ports[port].holds[i] -= classes >> i & 1;
    pfc_end(sim, port, classes);
}

/* A small part of a short pause may be rounded to no time at all, in which no clock would go on. */
void pfc_set_refresh(const struct sim *sim, struct port *port, int64_t refresh_ps)
{
    uint64_t bytes = (uint64_t)(sim->framing.pfc_bytes + sim->framing.gap_bytes);
    int64_t least_ps = frame_duration(sim, bytes, port->ps_per_byte_q20);
    port->refresh_ps = refresh_ps > least_ps ? refresh_ps : least_ps;
}

/* Repeat the pauses that are old enough. The timer runs again when the next repetition may be due. */
void pfc_refresh(struct sim *sim, uint32_t port)
{
    struct port *at = &sim->ports[port];
    uint8_t due = 0;
    int64_t next_ps = SIM_FOREVER;
    for (unsigned i = 0; i < SIM_PRIORITIES; i++) {
        if (!(at->xoff >> i & 1))
            continue;
        if (at->xoff_sent_ps[i] + at->refresh_ps <= sim->now_ps) {
            due |= (uint8_t)(1u << i);
            at->xoff_sent_ps[i] = sim->now_ps;
        }
        if (at->xoff_sent_ps[i] + at->refresh_ps < next_ps)
            next_ps = at->xoff_sent_ps[i] + at->refresh_ps;
    }
    if (next_ps != SIM_FOREVER)
        event_schedule(sim->events, port_event(sim, port, PORT_REFRESH), next_ps);
    if (due)
        send_pause(sim, port, due, quanta_of(at));
}

/* ---- storms: a broken host that pauses its peer without a reason */

struct storm {
    int64_t start_ps, stop_ps;
    uint32_t port, event;
    uint8_t classes;
    bool met; /* until the last pause that ended, or queue that was emptied: frames waited */
};

/* Do frames wait at the port, whose pause since then is or may be this storm's? */
static bool storm_meets(const struct sim *sim, const struct storm *storm, uint32_t port, unsigned priority)
{
    const struct port *at = &sim->ports[port];
    return storm->port == at->peer && storm->classes >> priority & 1 && sim->now_ps >= storm->start_ps &&
           at->pause_start_ps[priority] < storm->stop_ps && port_waits(sim, port, 1u << queue_of(priority));
}

bool sim_storm_met(const struct sim *sim, size_t storm)
{
    const struct storm *s = &sim->storms[storm];
    unsigned priority = (unsigned)__builtin_ctz(s->classes);
    uint32_t peer = sim->ports[s->port].peer;
    return s->met || (pfc_is_paused(&sim->ports[peer], priority) && storm_meets(sim, s, peer, priority));
}

void pfc_note_waiting(struct sim *sim, uint32_t port, unsigned priority)
{
    bool paused = sim->ports[port].paused >> queue_of(priority) & 1;
    for (uint32_t i = 0; paused && i < sim->storm_count; i++)
        sim->storms[i].met = sim->storms[i].met || storm_meets(sim, &sim->storms[i], port, priority);
}

/* ---- pauses that the other end asks for */

static void log_pause(struct sim *sim, const struct port *at, unsigned priority)
{
    if (!sim->keeps_pauses || (sim->pause_count == sim->pause_capacity && pauses_grow(sim)))
        return;
    sim->pauses[sim->pause_count++] =
        (struct sim_pause){.start_ps = at->pause_start_ps[priority],
                           .end_ps = sim->now_ps,
                           .node = {(enum sim_node_kind)at->node_kind, at->node},
                           .port = at->number,
                           .priority = priority};
}

static void resume_priority(struct sim *sim, uint32_t port, unsigned priority)
{
    struct port *at = &sim->ports[port];
    pfc_note_waiting(sim, port, priority);
    at->paused &= (uint16_t) ~(1u << queue_of(priority));
    struct priority_counters *c = &sim->counters[port][priority];
    int64_t length_ps = sim->now_ps - at->pause_start_ps[priority];
    c->rx_pause_ps += length_ps;
    if (length_ps > c->longest_pause_ps) {
        c->longest_pause_ps = length_ps;
        c->longest_start_ps = at->pause_start_ps[priority];
    }
    c->rx_transitions++;
    log_pause(sim, at, priority);
}

static void pause_priority(struct sim *sim, uint32_t port, unsigned priority, uint32_t quanta)
{
    struct port *at = &sim->ports[port];
    if (at->ignored >> priority & 1)
        return;
    if (!(at->paused >> queue_of(priority) & 1)) {
        at->paused |= (uint16_t)(1u << queue_of(priority));
        at->pause_start_ps[priority] = sim->now_ps;
        struct priority_counters *c = &sim->counters[port][priority];
        if (!c->first_pause_ps)
            c->first_pause_ps = sim->now_ps ? sim->now_ps : 1;
    }
    if (quanta == UINT32_MAX) {
        at->pause_until_ps[priority] = SIM_FOREVER;
        return;
    }
    at->pause_until_ps[priority] =
        sim->now_ps + sim_duration(sim, (uint64_t)quanta * QUANTUM_BYTES, at->ps_per_byte_q20);
    const struct event *event = &sim->events->events[port_event(sim, port, PORT_UNPAUSE)];
    if (event->place == EVENT_IDLE || event->time_ps > at->pause_until_ps[priority])
        event_reschedule(sim->events, port_event(sim, port, PORT_UNPAUSE), at->pause_until_ps[priority]);
}

void pfc_receive(struct sim *sim, uint32_t port, uint32_t p)
{
    struct port *at = &sim->ports[port];
    uint8_t classes = (uint8_t)sim->packets[p].flags;
    uint32_t quanta = sim->packets[p].psn;
    uint16_t before = at->paused;
    packet_give(sim, p);
    for (unsigned i = 0; i < SIM_PRIORITIES; i++) {
        if (!(classes >> i & 1))
            continue;
        sim->counters[port][i].rx_pause++;
        if (quanta)
            pause_priority(sim, port, i, quanta);
        else if (at->paused >> queue_of(i) & 1)
            resume_priority(sim, port, i);
    }
    if (before & ~(unsigned)at->paused)
        port_kick(sim, port, 0);
}

void pfc_ignore(struct sim *sim, uint32_t port, unsigned priority, bool ignore)
{
    struct port *at = &sim->ports[port];
    uint8_t bit = (uint8_t)(1u << priority);
    at->ignored = ignore ? at->ignored | bit : at->ignored & (uint8_t)~bit;
    if (!ignore || !(at->paused >> queue_of(priority) & 1))
        return;
    resume_priority(sim, port, priority);
    port_kick(sim, port, 0);
}

void pfc_reset(struct sim *sim, uint32_t port)
{
    struct port *at = &sim->ports[port];
    for (unsigned i = 0; i < SIM_PRIORITIES; i++) {
        if (at->paused >> queue_of(i) & 1)
            resume_priority(sim, port, i);
        if (at->xoff >> i & 1)
            sim->counters[port][i].tx_pause_ps += sim->now_ps - at->xoff_start_ps[i];
    }
    at->xoff = at->full = 0;
    event_cancel(sim->events, port_event(sim, port, PORT_UNPAUSE));
    event_cancel(sim->events, port_event(sim, port, PORT_REFRESH));
}

void pfc_resume_holds(struct sim *sim, uint32_t port)
{
    uint8_t classes = 0;
    for (unsigned i = 0; i < SIM_PRIORITIES; i++)
        if (sim->ports[port].holds[i])
            classes |= (uint8_t)(1u << i);
    pfc_begin(sim, port, classes);
}

/* A pause may have run out; extensions did not move the timer. */
void pfc_unpause(struct sim *sim, uint32_t port)
{
    struct port *at = &sim->ports[port];
    int64_t next_ps = SIM_FOREVER;
    uint16_t before = at->paused;
    for (unsigned i = 0; i < SIM_PRIORITIES; i++) {
        if (!(at->paused >> queue_of(i) & 1))
            continue;
        if (at->pause_until_ps[i] <= sim->now_ps)
            resume_priority(sim, port, i);
        else if (at->pause_until_ps[i] < next_ps)
            next_ps = at->pause_until_ps[i];
    }
    if (next_ps != SIM_FOREVER)
        event_schedule(sim->events, port_event(sim, port, PORT_UNPAUSE), next_ps);
    if (before & ~(unsigned)at->paused)
        port_kick(sim, port, 0);
}

/* ---- storms begin and end */

int storms_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    sim->storms = calloc(config->storm_count + 1, sizeof *sim->storms);
    if (!sim->storms)
        return error_set(e, "simulator: no memory for %zu storms", config->storm_count);
    sim->storm_count = (uint32_t)config->storm_count;
    for (uint32_t i = 0; i < sim->storm_count; i++) {
        const struct sim_storm_config *c = &config->storms[i];
        if (c->host >= sim->host_count || c->priority >= SIM_PRIORITIES || c->start_ps < 0 ||
            c->stop_ps <= c->start_ps)
            return error_set(e, "simulator: storm %u needs a host, a priority, and an end after its start",
                             i);
        island_enter(sim, SIM_HOST, c->host);
        sim->storms[i] = (struct storm){.port = sim->hosts[c->host].port,
                                        .classes = (uint8_t)(1u << c->priority),
                                        .start_ps = c->start_ps,
                                        .stop_ps = c->stop_ps,
                                        .event = events_add(sim->events, EVENT_STORM, i)};
        if (sim->storms[i].event == EVENT_NONE)
            return error_set(e, "simulator: no memory for %zu storms", config->storm_count);
        event_schedule(sim->events, sim->storms[i].event, c->start_ps);
    }
    return 0;
}

void storm_turn(struct sim *sim, uint32_t storm_index)
{
    const struct storm *storm = &sim->storms[storm_index];
    if (sim->now_ps >= storm->stop_ps) {
        pfc_let_go(sim, storm->port, storm->classes);
        return;
    }
    pfc_hold(sim, storm->port, storm->classes);
    if (storm->stop_ps < SIM_FOREVER)
        event_schedule(sim->events, storm->event, storm->stop_ps);
}
