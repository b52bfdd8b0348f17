#include "sim/faults/inject.h"
#include "sim/faults/hooks.h"
#include "sim/faults/link_faults.h"
#include "sim/islands/island.h"
#include "sim/host/egress.h"
#include "sim/host/transport.h"
#include "sim/model.h"
#include <stdlib.h>

/* ---- the configuration */

static int check_values(const struct sim_injection *r, size_t i, struct error *e)
{
    if (r->from_ps < 0 || r->until_ps <= r->from_ps || r->first < 1 || r->every < 1 || r->most < 1 ||
        r->delay_ps < 0 || r->lasts_ps < 0 || r->behind < 0 || !(r->probability >= 0 && r->probability <= 1))
        return error_set(e, "simulator: injection %zu: a time, a count or the probability is out of range",
                         i);
    return 0;
}

static bool is_of_data(enum sim_injected_action action)
{
    return action == SIM_INJECT_MARK || action == SIM_INJECT_CNP || action >= SIM_INJECT_STALL;
}

static int check(const struct sim *sim, const struct sim_injection *r, size_t i, struct error *e)
{
    bool of_flow = r->flow != SIM_NO_FLOW;
    if (of_flow ? r->flow >= sim->flow_count : r->port >= sim->port_count)
        return error_set(e, "simulator: injection %zu: there is no such flow or port", i);
    if ((unsigned)r->kind > PACKET_PFC || (unsigned)r->action > SIM_INJECT_NOT_READY ||
        (of_flow && r->kind == PACKET_PFC) || (is_of_data(r->action) && r->kind != PACKET_DATA))
        return error_set(
            e,
            "simulator: injection %zu: expected a kind of frame and an action: PFC frames belong "
            "to a port, and only data is marked, answered with CNPs or held up in memory",
            i);
    if (r->action == SIM_INJECT_NOT_READY && of_flow &&
        sim->qps[sim->flows[r->flow].first_qp].operation != SIM_SEND)
        return error_set(e, "simulator: injection %zu: only sends need a receive at their receiver", i);
    if (r->action >= SIM_INJECT_CNP && !of_flow && sim->ports[r->port].node_kind != SIM_HOST)
        return error_set(e, "simulator: injection %zu: only hosts answer with CNPs, pause or stand still", i);
    return check_values(r, i, e);
}

/* Data arrives at its receiver, answers and requests at its sender. */
static uint32_t port_of(const struct sim *sim, const struct sim_injection *r)
{
    if (r->flow == SIM_NO_FLOW)
        return r->port;
    const struct queue_pair *qp = &sim->qps[sim->flows[r->flow].first_qp];
    return sim->hosts[packet_is_forward(qp, r->kind) ? qp->receiver : qp->sender].port;
}

static int build_rule(struct sim *sim, struct injection *to, const struct sim_injection *from, uint32_t i)
{
    struct port *at;
    *to = (struct injection){.rule = *from, .threshold = random_threshold(from->probability)};
    to->rule.port = port_of(sim, from);
    to->held.first = NONE;
    seed_random(&to->random, sim, STREAM_INJECTION, i);
    struct injection **last = &sim->faults->ends[to->rule.port].injections;
    while (*last)
        last = &(*last)->next;
    *last = to;
    at = &sim->ports[to->rule.port];
    at->flags |= PORT_FAULTY;
    island_enter(sim, at->node_kind, at->node);
    sim->events->events[at->first_event + PORT_ARRIVE].kind = EVENT_ARRIVE;
    to->event = events_add(sim->events, EVENT_INJECTED, i);
    return to->event == EVENT_NONE ? -1 : 0;
}

int inject_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    if (!c->injection_count)
        return 0;
    struct injection *rules = sim->faults->injections = calloc(c->injection_count, sizeof *rules);
    if (!rules || c->injection_count >= NONE)
        return error_set(e, "simulator: no memory for %zu injections", c->injection_count);
    sim->bytes += c->injection_count * sizeof *rules;
    for (size_t i = 0; i < c->injection_count; i++) {
        if (check(sim, &c->injections[i], i, e))
            return -1;
        if (build_rule(sim, &rules[i], &c->injections[i], (uint32_t)i))
            return error_set(e, "simulator: no memory for an injection");
    }
    return 0;
}

struct sim_injected sim_injected(const struct sim *sim, size_t rule)
{
    return sim->faults->injections[rule].count;
}

/* ---- which frames */

static bool is_of(const struct sim *sim, const struct sim_injection *r, const struct packet *packet)
{
    if (packet->kind != (unsigned)r->kind || (r->flow != SIM_NO_FLOW && sim->qps[packet->qp].flow != r->flow))
        return false;
    unsigned priorities = packet->kind == PACKET_PFC ? packet->flags : 1u << packet->priority;
    return !r->priorities || priorities & r->priorities;
}

static bool is_chosen(struct injection *in, int64_t now_ps)
{
    const struct sim_injection *r = &in->rule;
    if (now_ps < r->from_ps || now_ps >= r->until_ps)
        return false;
    int64_t number = ++in->count.seen;
    bool chosen = in->threshold ? random_next(&in->random) < in->threshold
                                : number >= r->first && (number - r->first) % r->every == 0;
    return chosen && in->count.injected < r->most;
}

/* ---- what happens to them */

/* It is not received while it is held; a copy is received beside what was sent. */
static void count_held(struct sim *sim, uint32_t port, const struct packet *packet, int64_t sign)
{
    if (packet->kind == PACKET_PFC)
        return;
    sim->counters[port][packet->priority].lost_packets += sign;
    sim->counters[port][packet->priority].lost_bytes += sign * packet->bytes;
}

static void inject_hold(struct sim *sim, struct injection *in, uint32_t p)
{
    int64_t time_ps = sim->now_ps + in->rule.delay_ps;
    if (delay_line_append(sim, &in->held, time_ps, p))
        event_schedule(sim->events, in->event, time_ps);
}

static void duplicate(struct sim *sim, struct injection *in, uint32_t p)
{
    uint32_t copy = packet_take(sim);
    sim->packets[copy] = sim->packets[p];
    if (sim->telemetry)
        sim->telemetry[copy] = sim->telemetry[p];
    if (sim->telemetry_paths)
        sim->telemetry_paths[copy] = sim->telemetry_paths[p];
    inject_hold(sim, in, copy);
}

/* The frame that comes now is the last one that a held one waits for: that one comes next. */
static void pass(struct sim *sim, struct injection *in)
{
    in->passed++;
    if (in->rule.action == SIM_INJECT_REORDER && in->held.first != NONE && in->held.first_ps <= in->passed &&
        !event_is_pending(sim->events, in->event))
        event_schedule(sim->events, in->event, sim->now_ps);
}

static bool pause(struct sim *sim, struct injection *in, uint32_t p)
{
    uint8_t classes = in->rule.pause_classes;
    if (!classes)
        classes = (uint8_t)(1u << sim->packets[p].priority);
    if (in->pausing || sim->ports[in->rule.port].xoff & classes)
        return false;
    in->pausing = classes;
    pfc_hold(sim, in->rule.port, classes);
    event_schedule(sim->events, in->event, sim->now_ps + in->rule.lasts_ps);
    return true;
}

static void stall(struct sim *sim, const struct injection *in, uint32_t p)
{
    const struct queue_pair *qp = &sim->qps[sim->packets[p].qp];
    struct memory *m = &sim->hosts[sim->ports[in->rule.port].node].memories[qp->receiver_memory];
    m->free_ps = (m->free_ps > sim->now_ps ? m->free_ps : sim->now_ps) + in->rule.lasts_ps;
}

/* Is the frame taken away? *done: the action was possible. */
static bool act(struct sim *sim, struct injection *in, uint32_t p, bool *done)
{
    uint32_t port = in->rule.port;
    *done = true;
    switch (in->rule.action) {
    case SIM_INJECT_CORRUPT:
        sim->faults->ends[port].crc_errors++;
        link_lose(sim, port, p);
        return true;
    case SIM_INJECT_DROP:
        link_lose(sim, port, p);
        return true;
    case SIM_INJECT_MARK:
        sim->packets[p].flags |= PACKET_CE;
        return false;
    case SIM_INJECT_DELAY:
        count_held(sim, port, &sim->packets[p], 1);
        inject_hold(sim, in, p);
        return true;
    case SIM_INJECT_DUPLICATE:
        duplicate(sim, in, p);
        return false;
    case SIM_INJECT_REORDER:
        count_held(sim, port, &sim->packets[p], 1);
        delay_line_append(sim, &in->held, in->passed + in->rule.behind, p); /* until these have passed */
        return true;
    case SIM_INJECT_CNP:
        congestion_send_cnp(sim, sim->ports[port].node, sim->packets[p].qp);
        return false;
    case SIM_INJECT_PAUSE:
        *done = pause(sim, in, p);
        return false;
    case SIM_INJECT_STALL:
        stall(sim, in, p);
        return false;
    case SIM_INJECT_NOT_READY:
        return *done = not_ready_answer(sim, sim->ports[port].node, p);
    }
    return false;
}

bool inject_frame(struct sim *sim, uint32_t port, uint32_t p)
{
    for (struct injection *in = sim->faults->ends[port].injections; in; in = in->next) {
        if (!is_of(sim, &in->rule, &sim->packets[p]))
            continue;
        bool done = false, chosen = is_chosen(in, sim->now_ps);
        pass(sim, in);
        bool taken = chosen && act(sim, in, p, &done);
        in->count.injected += done;
        if (taken)
            return true;
    }
    return false;
}

void inject_turn(struct sim *sim, uint32_t rule)
{
    struct injection *in = &sim->faults->injections[rule];
    if (in->rule.action == SIM_INJECT_PAUSE) {
        pfc_let_go(sim, in->rule.port, in->pausing);
        in->pausing = 0;
        return;
    }
    bool by_count = in->rule.action == SIM_INJECT_REORDER;
    uint32_t port = in->rule.port, p = delay_line_take(sim, &in->held);
    if (in->held.first != NONE && (!by_count || in->held.first_ps <= in->passed))
        event_schedule(sim->events, in->event, by_count ? sim->now_ps : in->held.first_ps);
    count_held(sim, port, &sim->packets[p], -1);
    if (sim->ports[port].flags & PORT_DOWN)
        link_lose(sim, port, p);
    else
        port_receive(sim, port, p);
}
