#include "sim/faults/deadlock.h"
#include "sim/fabric/switch.h"
#include "sim/islands/team.h"
#include <stdlib.h>
#include <string.h>

int deadlock_build(struct sim *sim, struct error *e)
{
    if (!sim->switch_count)
        return 0;
    size_t ports = sim->port_count;
    struct deadlock *d = sim->deadlock = calloc(1, sizeof *d);
    if (d) {
        d->next = malloc(ports * sizeof *d->next);
        d->visited = calloc(ports, sizeof *d->visited);
        d->stuck = calloc(ports, sizeof *d->stuck);
        d->waits = calloc(ports, sizeof *d->waits);
        d->reported_ps = malloc(ports * SIM_PRIORITIES * sizeof *d->reported_ps);
        d->switches = calloc(ports, sizeof *d->switches);
        d->ports = calloc(ports, sizeof *d->ports);
    }
    if (!d || !d->next || !d->visited || !d->stuck || !d->waits || !d->reported_ps || !d->switches ||
        !d->ports)
        return error_set(e, "simulator: no memory to look for deadlocks of %zu ports", ports);
    for (uint32_t i = 0; i < sim->switch_count; i++)
        d->priorities |= sim->switches[i].pfc_mask;
    memset(d->next, 0xff, ports * sizeof *d->next);
    memset(d->reported_ps, 0xff, ports * SIM_PRIORITIES * sizeof *d->reported_ps);
    sim->bytes += ports * DEADLOCK_BYTES;
    return 0;
}

void deadlock_free(struct sim *sim)
{
    struct deadlock *d = sim->deadlock;
    if (!d)
        return;
    free(d->next);
    free(d->visited);
    free(d->stuck);
    free(d->waits);
    free(d->reported_ps);
    free(d->switches);
    free(d->ports);
    free(d);
}

/* ---- who waits for whom */

/* A queue of a switch that holds packets, none of which has left for the time of a deadlock. */
static bool is_stuck(const struct sim *sim, uint32_t p, unsigned priority)
{
    const struct port *port = &sim->ports[p];
    return pfc_is_paused(port, priority) && port->ready >> queue_of(priority) & 1 &&
           sim->now_ps - port->pause_start_ps[priority] >= sim->switches[port->node].deadlock_ps;
}

static void list_stuck(const struct sim *sim, struct deadlock *d, unsigned priority)
{
    d->stuck_count = 0;
    for (uint32_t p = 0; p < sim->port_count; p++)
        if (sim->ports[p].paused && sim->ports[p].node_kind == SIM_SWITCH && is_stuck(sim, p, priority))
            d->stuck[d->stuck_count++] = p;
}

static const struct packet *packets_of(const struct sim *sim, uint32_t port)
{
    return sim->team->members[sim->islands[sim->ports[port].island].thread].view->packets;
}

/* The ports whose packets wait in this queue wait for it; `next` of one that waits for several is the first
 * of these. */
static void note_waits(const struct sim *sim, struct deadlock *d, uint32_t port, unsigned priority)
{
    const struct packet *packets = packets_of(sim, port);
    const struct packet_list *list = &sim->ports[port].queues[queue_of(priority)].packets;
    for (uint32_t p = list->head; p != NONE; p = packets[p].next) {
        uint32_t from = sim->ports[packets[p].ingress].peer;
        if (d->waits[from] && d->next[from] == NONE)
            d->next[from] = port;
    }
}

/* Leave those out that wait for none, then those that waited for these, until all that are left are on a
 * cycle or wait for one. */
static void keep_waiting(const struct sim *sim, struct deadlock *d, unsigned priority)
{
    bool changed = true;
    for (uint32_t i = 0; i < d->stuck_count; i++)
        d->waits[d->stuck[i]] = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < d->stuck_count; i++)
            d->next[d->stuck[i]] = NONE;
        for (uint32_t i = 0; i < d->stuck_count; i++)
            if (d->waits[d->stuck[i]])
                note_waits(sim, d, d->stuck[i], priority);
        for (uint32_t i = 0; i < d->stuck_count; i++) {
            bool waits = d->next[d->stuck[i]] != NONE;
            changed |= waits != d->waits[d->stuck[i]];
            d->waits[d->stuck[i]] = waits;
        }
    }
}

/* Follow the waits from a port: a port of a cycle, NONE if they end, or lead to where an earlier walk
 * went. */
static uint32_t find_cycle(struct deadlock *d, uint32_t port, uint32_t walk)
{
    while (port != NONE && !d->visited[port]) {
        d->visited[port] = walk;
        port = d->next[port];
    }
    return port != NONE && d->visited[port] == walk ? port : NONE;
}

/* ---- reports */

static bool was_reported(const struct sim *sim, uint32_t first, unsigned priority)
{
    const struct deadlock *d = sim->deadlock;
    uint32_t port = first;
    do {
        if (d->reported_ps[port * SIM_PRIORITIES + priority] != sim->ports[port].pause_start_ps[priority])
            return false;
        port = d->next[port];
    } while (port != first);
    return true;
}

/* Each switch counts it once. */
static void count(struct sim *sim, uint32_t index, const struct sim_deadlock *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->switches[i].index == index)
            return;
    sim->switches[index].deadlocks++;
}

static void report(struct sim *sim, uint32_t first, unsigned priority, struct sim_deadlock *found)
{
    struct deadlock *d = sim->deadlock;
    uint32_t port = first;
    *found = (struct sim_deadlock){.switches = d->switches, .ports = d->ports, .priority = priority};
    do {
        const struct port *at = &sim->ports[port];
        int64_t start_ps = at->pause_start_ps[priority];
        d->reported_ps[port * SIM_PRIORITIES + priority] = start_ps;
        found->since_ps = start_ps > found->since_ps ? start_ps : found->since_ps;
        count(sim, at->node, found);
        d->switches[found->count] = (struct sim_node){SIM_SWITCH, at->node};
        d->ports[found->count++] = at->number;
        port = d->next[port];
    } while (port != first);
}

/* Among the ports that are stuck: a cycle that was not reported. */
static bool search(struct sim *sim, unsigned priority, struct sim_deadlock *found)
{
    struct deadlock *d = sim->deadlock;
    keep_waiting(sim, d, priority);
    bool any = false;
    for (uint32_t i = 0; i < d->stuck_count && !any; i++) {
        uint32_t first = find_cycle(d, d->stuck[i], i + 1);
        any = first != NONE && !was_reported(sim, first, priority);
        if (any)
            report(sim, first, priority, found);
    }
    for (uint32_t i = 0; i < d->stuck_count; i++) {
        d->next[d->stuck[i]] = NONE;
        d->visited[d->stuck[i]] = 0;
        d->waits[d->stuck[i]] = false;
    }
    return any;
}

bool sim_next_deadlock(struct sim *sim, struct sim_deadlock *found)
{
    for (unsigned priority = 0; sim->deadlock && priority < SIM_PRIORITIES; priority++) {
        if (!(sim->deadlock->priorities >> priority & 1))
            continue;
        list_stuck(sim, sim->deadlock, priority);
        if (sim->deadlock->stuck_count > 1 && search(sim, priority, found))
            return true;
    }
    return false;
}
