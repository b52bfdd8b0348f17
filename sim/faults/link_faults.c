#include "sim/faults/link_faults.h"
#include "sim/faults/hooks.h"
#include "sim/fabric/switch.h"
#include "sim/islands/island.h"
#include "sim/model.h"
#include "sim/host/egress.h"
#include <stdlib.h>
#include <string.h>

#define ALL_QUEUES    ((1u << QUEUES) - 1)
#define LONGEST_FRAME (9216 + 100) /* bytes */

/* ---- the configuration */

static bool is_probability(double x)
{
    return x >= 0 && x <= 1;
}

static int check_state(const struct sim_config *c, const struct sim_link_state *s, struct error *e)
{
    if (s->link >= c->link_count)
        return error_set(e, "simulator: link %u should have a fault, there are %zu links", s->link,
                         c->link_count);
    int64_t nominal_bps = c->links[s->link].rate_bps;
    if (s->at_ps < 0 || s->rate_bps < 0 || s->rate_bps > nominal_bps ||
        (s->rate_bps && s->rate_bps < PHYSICS_LINK_LEAST_BPS))
        return error_set(e,
                         "simulator: link %u should have %lld b/s at %lld ps: expected a time of the run and "
                         "%lld to %lld b/s",
                         s->link, (long long)s->rate_bps, (long long)s->at_ps,
                         (long long)PHYSICS_LINK_LEAST_BPS, (long long)nominal_bps);
    if (!is_probability(s->loss.good) || !is_probability(s->loss.bad) || !is_probability(s->loss.to_bad) ||
        !is_probability(s->loss.to_good))
        return error_set(e, "simulator: link %u: a probability of loss is not within 0 and 1", s->link);
    return 0;
}

static int64_t rate_of(const struct sim_config *c, const struct sim_link_state *s)
{
    return s->rate_bps ? s->rate_bps : c->links[s->link].rate_bps;
}

int64_t sim_link_least_down_ps(int64_t slowest_bps)
{
    return LONGEST_FRAME * 8 * SIM_PS_PER_S / slowest_bps + 1;
}

/* `earlier_bps`: before the state before. */
static int check_step(const struct sim_config *c, const struct sim_link_state *before,
                      const struct sim_link_state *s, int64_t earlier_bps, struct error *e)
{
    int64_t rate_bps = before ? rate_of(c, before) : c->links[s->link].rate_bps;
    int64_t slowest_bps = earlier_bps < rate_bps ? earlier_bps : rate_bps;
    int64_t least_ps = sim_link_least_down_ps(slowest_bps);
    if (before && s->at_ps <= before->at_ps)
        return error_set(e, "simulator: link %u: a state at %lld ps is not after the one before it", s->link,
                         (long long)s->at_ps);
    if (rate_of(c, s) != rate_bps && s->up)
        return error_set(e, "simulator: link %u: the rate changes at %lld ps, when the link is not down",
                         s->link, (long long)s->at_ps);
    if (before && !before->up && s->up && s->at_ps - before->at_ps < least_ps)
        return error_set(e,
                         "simulator: link %u is down for %lld ps: expected at least %lld ps, the time of a "
                         "frame of %d bytes",
                         s->link, (long long)(s->at_ps - before->at_ps), (long long)least_ps, LONGEST_FRAME);
    return 0;
}

static int by_link(const void *a, const void *b)
{
    const struct sim_link_state *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->at_ps > y->at_ps) - (x->at_ps < y->at_ps);
}

static int check_states(const struct sim_config *c, const struct link_faults *f, struct error *e)
{
    for (size_t i = 0; i < f->state_count; i++) {
        const struct sim_link_state *s = &f->states[i];
        const struct sim_link_state *before = i && s[-1].link == s->link ? s - 1 : NULL;
        if (check_state(c, s, e))
            return -1;
        int64_t earlier_bps = i > 1 && s[-2].link == s->link ? rate_of(c, s - 2) : c->links[s->link].rate_bps;
        if (check_step(c, before, s, earlier_bps, e))
            return -1;
    }
    return 0;
}

static int build_end(struct sim *sim, uint32_t port, uint32_t first, uint32_t last)
{
    struct port *at = &sim->ports[port];
    struct link_end *end = &sim->faults->ends[port];
    seed_random(&end->random, sim, STREAM_FAULT, port);
    end->next = first;
    end->last = last;
    end->nominal_bps = at->rate_bps;
    at->flags |= PORT_FAULTY;
    island_enter(sim, at->node_kind, at->node);
    sim->events->events[at->first_event + PORT_ARRIVE].kind = EVENT_ARRIVE;
    end->event = events_add(sim->events, EVENT_LINK, port);
    if (end->event == EVENT_NONE)
        return -1;
    event_schedule(sim->events, end->event, sim->faults->states[first].at_ps);
    return 0;
}

/* Ends of links count damaged frames also where nothing but a link's own loss damages them. */
static bool damages_frames(const struct sim_config *c)
{
    bool any = false;
    for (size_t i = 0; i < c->link_count && !any; i++)
        any = c->links[i].loss_per_billion > 0;
    return any;
}

int link_faults_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    if (!c->link_state_count && !c->injection_count && !damages_frames(c))
        return 0;
    struct link_faults *f = sim->faults = calloc(1, sizeof *f);
    if (f) {
        f->states = calloc(c->link_state_count + 1, sizeof *f->states);
        f->ends = calloc(sim->port_count, sizeof *f->ends);
        f->met = calloc(c->link_state_count + 1, 2 * sizeof *f->met);
    }
    if (!f || !f->states || !f->ends || !f->met || c->link_state_count >= NONE)
        return error_set(e, "simulator: no memory for %zu states of links", c->link_state_count);
    if (c->link_state_count)
        memcpy(f->states, c->link_states, c->link_state_count * sizeof *f->states);
    f->state_count = c->link_state_count;
    sim->bytes +=
        f->state_count * (sizeof *f->states + 2 * sizeof *f->met) + sim->port_count * sizeof *f->ends;
    qsort(f->states, f->state_count, sizeof *f->states, by_link);
    if (check_states(c, f, e))
        return -1;
    for (uint32_t i = 0, first = 0; i < f->state_count; i++) {
        uint32_t link = f->states[i].link;
        if (i + 1 < f->state_count && f->states[i + 1].link == link)
            continue;
        if (build_end(sim, 2 * link, first, i + 1) || build_end(sim, 2 * link + 1, first, i + 1))
            return error_set(e, "simulator: no memory for the faults of a link");
        first = i + 1;
    }
    return 0;
}

void link_faults_free(struct sim *sim)
{
    if (!sim->faults)
        return;
    free(sim->faults->states);
    free(sim->faults->met);
    free(sim->faults->ends);
    free(sim->faults->injections);
    free(sim->faults);
}

/* ---- down and up */

static void drop_pauses(struct sim *sim, struct port *at)
{
    struct queue *q = &at->queues[QUEUE_PFC];
    while (q->packets.head != NONE)
        packet_give(sim, list_take(sim, &q->packets));
    q->bytes = 0;
    at->ready &= (uint16_t) ~(1u << QUEUE_PFC);
}

/* Neither end asks for a pause any more; what is still above its threshold asks again with the next frame. */
static void forget_thresholds(struct sim *sim, uint32_t port)
{
    const struct port *at = &sim->ports[port];
    if (at->node_kind == SIM_SWITCH)
        sim->switch_ports[port].xoff = 0;
    for (int i = 0; at->node_kind == SIM_HOST && i < SIM_BUFFERS; i++)
        sim->hosts[at->node].buffers[i].full = false;
}

static void go_down(struct sim *sim, uint32_t port)
{
    struct port *at = &sim->ports[port];
    pfc_reset(sim, port);
    forget_thresholds(sim, port);
    at->flags |= PORT_DOWN;
    at->paused = ALL_QUEUES;
    port_cancel(sim, at);
    drop_pauses(sim, at);
    sim->faults->ends[port].downs++;
    for (unsigned i = 0; at->node_kind == SIM_SWITCH && i < SIM_PRIORITIES; i++)
        switch_drop_queue(sim, port, i, &sim->switch_ports[port].link_dropped);
}

static void come_up(struct sim *sim, uint32_t port)
{
    struct port *at = &sim->ports[port];
    at->flags &= (uint8_t)~PORT_DOWN;
    at->paused = 0;
    sim->faults->ends[port].up_ps = sim->now_ps;
    port_kick(sim, port, 0);
    pfc_resume_holds(sim, port);
}

/* ---- states */

static void take_loss(struct link_end *end, const struct sim_link_loss *loss)
{
    end->loss[0] = random_threshold(loss->good);
    end->loss[1] = random_threshold(loss->bad);
    end->leave[0] = random_threshold(loss->to_bad);
    end->leave[1] = random_threshold(loss->to_good);
    end->bad = false;
}

/* Frames that were lost at the port for want of a link. */
static int64_t lost_without_link(const struct sim *sim, uint32_t port)
{
    bool of_switch = sim->ports[port].node_kind == SIM_SWITCH;
    return sim->faults->ends[port].cut + (of_switch ? sim->switch_ports[port].link_dropped : 0);
}

/* What the state that a port is in met, and `met` does not have yet. */
static int64_t met_since(const struct sim *sim, uint32_t port)
{
    bool waits = sim->ports[port].flags & PORT_DOWN && port_waits(sim, port, ALL_QUEUES);
    return lost_without_link(sim, port) - sim->faults->ends[port].noted + waits;
}

void link_faults_turn(struct sim *sim, uint32_t port)
{
    struct link_end *end = &sim->faults->ends[port];
    struct port *at = &sim->ports[port];
    if (end->met)
        end->met->injected += met_since(sim, port);
    end->noted = lost_without_link(sim, port);
    end->met = &sim->faults->met[2 * end->next + port % 2];
    const struct sim_link_state *s = &sim->faults->states[end->next++];
    bool down = at->flags & PORT_DOWN;
    if (end->next < end->last)
        event_schedule(sim->events, end->event, sim->faults->states[end->next].at_ps);
    take_loss(end, &s->loss);
    if (!s->up && !down)
        go_down(sim, port);
    at->rate_bps = s->rate_bps ? s->rate_bps : end->nominal_bps;
    at->ps_per_byte_q20 = ((uint64_t)SIM_PS_PER_S * 8 << 20) / (uint64_t)at->rate_bps;
    if (s->up && down)
        come_up(sim, port);
}

/* ---- frames */

static bool is_cut(const struct sim *sim, const struct port *in, const struct link_end *end)
{
    return in->flags & PORT_DOWN || (end->downs && sim->now_ps - in->delay_ps <= end->up_ps);
}

static bool is_damaged(struct link_end *end)
{
    if (!(end->loss[0] | end->loss[1]))
        return false;
    bool lost = random_next(&end->random) < end->loss[end->bad];
    if (end->leave[0] && random_next(&end->random) < end->leave[end->bad])
        end->bad = !end->bad;
    return lost;
}

void link_lose(struct sim *sim, uint32_t port, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    if (packet->kind != PACKET_PFC) {
        sim->counters[port][packet->priority].lost_packets++;
        sim->counters[port][packet->priority].lost_bytes += packet->bytes;
    }
    packet_give(sim, p);
}

bool link_faults_lose(struct sim *sim, uint32_t port, uint32_t p)
{
    struct link_end *end = &sim->faults->ends[port];
    if (end->met)
        end->met->seen++;
    if (is_cut(sim, &sim->ports[port], end)) {
        end->cut++;
    } else if (is_damaged(end)) {
        end->crc_errors++;
        end->met->injected++;
    } else {
        return inject_frame(sim, port, p);
    }
    link_lose(sim, port, p);
    return true;
}

struct sim_injected sim_link_met(const struct sim *sim, uint32_t fault)
{
    const struct link_faults *f = sim->faults;
    struct sim_injected sum = {0};
    for (size_t i = 0; f && i < 2 * f->state_count; i++) {
        const struct sim_link_state *s = &f->states[i / 2];
        uint32_t port = (uint32_t)(2 * s->link + i % 2);
        if (s->fault != fault)
            continue;
        sum.seen += f->met[i].seen;
        sum.injected += f->met[i].injected + (f->ends[port].met == &f->met[i] ? met_since(sim, port) : 0) +
                        (!s->up && reroute_leads_round(sim, s->link));
    }
    return sum;
}
