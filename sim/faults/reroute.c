/*
 * Paths that change: each switch finds the port of a packet when it arrives.
 *
 * When links fail, a switch forwards by the links that were up a time of convergence ago; the hash of a
 * connection then chooses among the ports that are left. A switch with adaptive routing sends each data
 * packet to the port of an equally short path with the shortest queue. Where the links change is known at the
 * start: the distances of each set of links are found once.
 */
#include "sim/faults/hooks.h"
#include "sim/fabric/routing.h"
#include "sim/fabric/switch.h"
#include "sim/faults/link_faults.h"
#include "sim/islands/island.h"
#include "sim/model.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Distances while a set of links is down. */
struct route_table {
    uint8_t *down;       /* by link */
    uint16_t *distances; /* by destination, then by node */
    _Atomic bool moved;  /* a packet left by another port than with all links */
};

/* From at_ps on the links are as in a table. */
struct route_change {
    int64_t at_ps;
    uint32_t table;
};

struct reroute {
    struct graph graph;
    struct route_table *tables;
    struct route_change *changes; /* by time; the first one is at 0 */
    uint32_t table_count, change_count;
    uint32_t *place_of_node; /* among the destinations; NONE: no receiver has it as its neighbour */
    uint32_t destination_count;
    uint32_t destination_port;
    uint32_t own_paths; /* place in sim->paths from which on each port has a path of itself */
    struct route_switch {
        uint32_t seed;   /* of the hash */
        uint32_t change; /* the one it knows of */
        uint32_t event;
        int64_t convergence_ps;
        bool adaptive;
    } * switches;
};

#define MOST_TABLES 4096
#define MOST_BYTES  (INT64_C(1) << 30) /* of all tables */

/* ---- which links are up when */

struct flip {
    int64_t at_ps;
    uint32_t link;
    bool down;
};

static int by_time(const void *a, const void *b)
{
    const struct flip *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

/* Where links go down or come up, by time. */
static struct flip *list_flips(const struct link_faults *f, size_t *count)
{
    struct flip *flips = calloc(f->state_count + 1, sizeof *flips);
    *count = 0;
    for (size_t i = 0; flips && i < f->state_count; i++) {
        const struct sim_link_state *s = &f->states[i];
        bool was_up = i && s[-1].link == s->link ? s[-1].up : true;
        if (s->up != was_up)
            flips[(*count)++] = (struct flip){s->at_ps, s->link, !s->up};
    }
    if (flips)
        qsort(flips, *count, sizeof *flips, by_time);
    return flips;
}

static size_t table_bytes(const struct reroute *r, uint32_t links)
{
    return links + (size_t)r->destination_count * r->graph.node_count * sizeof(uint16_t);
}

static int fill_table(struct sim *sim, struct route_table *t)
{
    struct reroute *r = sim->reroute;
    uint32_t nodes = r->graph.node_count, *queue = calloc((size_t)nodes + 1, sizeof *queue);
    t->distances = calloc((size_t)r->destination_count * nodes + 1, sizeof *t->distances);
    for (uint32_t i = 0; queue && t->distances && i < nodes; i++)
        if (r->place_of_node[i] != NONE)
            graph_distances(&r->graph, i, t->down, queue, t->distances + (size_t)r->place_of_node[i] * nodes);
    free(queue);
    sim->bytes += table_bytes(r, sim->port_count / 2);
    return queue && t->distances ? 0 : -1;
}

/* The table in which these links are down. -1: no memory for it. */
static int find_table(struct sim *sim, const uint8_t *down, uint32_t *table)
{
    struct reroute *r = sim->reroute;
    uint32_t links = sim->port_count / 2;
    for (*table = 0; *table < r->table_count; ++*table)
        if (r->tables[*table].down && memcmp(r->tables[*table].down, down, links) == 0)
            return 0;
    if (r->table_count == MOST_TABLES || (int64_t)((r->table_count + 1) * table_bytes(r, links)) > MOST_BYTES)
        return -1;
    struct route_table *t = &r->tables[r->table_count];
    t->down = malloc((size_t)links + 1);
    if (!t->down)
        return -1;
    r->table_count++;
    memcpy(t->down, down, links);
    return fill_table(sim, t);
}

static int add_changes(struct sim *sim, const struct flip *flips, size_t count, uint8_t *down)
{
    struct reroute *r = sim->reroute;
    r->change_count = 1;
    for (size_t i = 0; i < count; i++) {
        down[flips[i].link] = flips[i].down;
        if (i + 1 < count && flips[i + 1].at_ps == flips[i].at_ps)
            continue;
        struct route_change *change = &r->changes[r->change_count++];
        change->at_ps = flips[i].at_ps;
        if (find_table(sim, down, &change->table))
            return -1;
    }
    return 0;
}

static int build_tables(struct sim *sim)
{
    struct reroute *r = sim->reroute;
    size_t count = 0;
    struct flip *flips = sim->faults ? list_flips(sim->faults, &count) : NULL;
    uint8_t *down = calloc(sim->port_count + 1, 1);
    uint32_t first;
    r->tables = calloc(count + 2, sizeof *r->tables);
    r->changes = calloc(count + 2, sizeof *r->changes);
    int rc = (sim->faults && !flips) || !down || !r->tables || !r->changes ? -1 : 0;
    if (!rc)
        rc = find_table(sim, down, &first) || add_changes(sim, flips, count, down) ? -1 : 0;
    free(flips);
    free(down);
    return rc;
}

/* ---- the rest */

static void add_destination(const struct sim *sim, uint32_t host)
{
    struct reroute *r = sim->reroute;
    uint32_t node = graph_neighbour(&r->graph, host);
    if (node >= sim->host_count && r->place_of_node[node] == NONE)
        r->place_of_node[node] = r->destination_count++;
}

static int list_destinations(struct sim *sim, bool all)
{
    struct reroute *r = sim->reroute;
    r->place_of_node = malloc(((size_t)r->graph.node_count + 1) * sizeof *r->place_of_node);
    if (!r->place_of_node)
        return -1;
    memset(r->place_of_node, 0xff, r->graph.node_count * sizeof *r->place_of_node);
    for (uint32_t q = 0; q < sim->qp_count; q++) {
        add_destination(sim, sim->qps[q].receiver);
        add_destination(sim, sim->qps[q].sender);
    }
    for (uint32_t host = 0; all && host < sim->host_count; host++)
        add_destination(sim, host);
    return 0;
}

static int build_switches(struct sim *sim, const struct sim_config *c)
{
    struct reroute *r = sim->reroute;
    r->switches = calloc(sim->switch_count, sizeof *r->switches);
    for (uint32_t i = 0; r->switches && i < sim->switch_count; i++) {
        const struct physics_switch *physics = &c->switches[i].physics;
        struct route_switch *s = &r->switches[i];
        *s = (struct route_switch){.seed = routing_seed(sim, c, sim->host_count + i),
                                   .convergence_ps = physics->convergence_ps,
                                   .adaptive = physics->routing == ROUTING_ADAPTIVE};
        sim->switches[i].reroutes = true;
        island_enter(sim, SIM_SWITCH, i);
        s->event = events_add(sim->events, EVENT_ROUTES, i);
        if (s->event == EVENT_NONE)
            return -1;
        if (r->change_count > 1)
            event_schedule(sim->events, s->event, r->changes[1].at_ps + s->convergence_ps);
    }
    return r->switches ? 0 : -1;
}

/* Behind the paths of connections: each port, in their order. */
static int add_own_paths(struct sim *sim)
{
    uint32_t *paths =
        realloc(sim->paths, ((size_t)sim->path_count + sim->port_count + 1) * sizeof *sim->paths);
    if (!paths)
        return -1;
    sim->paths = paths;
    sim->reroute->own_paths = sim->path_count;
    for (uint32_t p = 0; p <= sim->port_count; p++)
        paths[sim->path_count + p] =
            p < sim->port_count ? p : 0; /* a packet's path is looked at after its last port */
    return 0;
}

static bool is_wanted(const struct sim_config *c)
{
    bool wanted = c->link_state_count;
    for (size_t i = 0; i < c->switch_count; i++)
        wanted |= c->switches[i].physics.routing == ROUTING_ADAPTIVE;
    return wanted && c->switch_count;
}

int reroute_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    if (!sim->reroute)
        return 0;
    if (c->bridge_count)
        return error_set(e, "simulator: switches and a host that forwards in software are in one network: "
                            "there, links cannot have faults and routing cannot be adaptive");
    struct reroute *r = sim->reroute;
    r->destination_port = c->udp_destination_port;
    sim->bytes += sizeof *r + sim->port_count * sizeof *sim->paths;
    if (graph_make(&r->graph, sim) || list_destinations(sim, c->stream) || build_tables(sim) ||
        build_switches(sim, c) || add_own_paths(sim))
        return error_set(e,
                         "simulator: no memory for the routes of %u changes of links: at most %d sets of "
                         "links may be down together in turn, and their routes may take 1 GiB",
                         r->change_count, MOST_TABLES);
    return 0;
}

int reroute_open(struct sim *sim, const struct sim_config *c, struct error *e)
{
    if (!is_wanted(c))
        return 0;
    sim->reroute = calloc(1, sizeof *sim->reroute);
    sim->source_ports = calloc((size_t)sim->qp_count + 1, sizeof *sim->source_ports);
    return sim->reroute && sim->source_ports ? 0 : error_set(e, "simulator: no memory for routes");
}

void reroute_free(struct sim *sim)
{
    struct reroute *r = sim->reroute;
    free(sim->source_ports);
    if (!r)
        return;
    for (uint32_t i = 0; i < r->table_count; i++) {
        free(r->tables[i].down);
        free(r->tables[i].distances);
    }
    free(r->tables);
    free(r->changes);
    free(r->place_of_node);
    free(r->switches);
    graph_free(&r->graph);
    free(r);
}

void reroute_turn(struct sim *sim, uint32_t index)
{
    const struct reroute *r = sim->reroute;
    struct route_switch *s = &sim->reroute->switches[index];
    if (++s->change + 1 < r->change_count)
        event_schedule(sim->events, s->event, r->changes[s->change + 1].at_ps + s->convergence_ps);
}

/* ---- packets */

/* The next port among equally short paths: of those whose link is up, the one with the shortest queue of the
 * packet's priority; among equal ones any, by the random numbers of the port through which the packet
 * came. */
static uint32_t choose_adaptive(struct sim *sim, uint32_t node, const struct route_table *t,
                                const uint16_t *distance, uint32_t in, unsigned priority)
{
    const struct graph *g = &sim->reroute->graph;
    uint32_t best = NONE, best_bytes = UINT32_MAX, equal = 0;
    for (uint32_t i = g->first_port[node]; i < g->first_port[node + 1]; i++) {
        const struct port *out = &sim->ports[g->ports[i]];
        uint32_t bytes = out->queues[queue_of(priority)].bytes;
        if (!graph_is_nearer(g, i, node, t->down, distance) || out->flags & PORT_DOWN || bytes > best_bytes)
            continue;
        equal = bytes < best_bytes ? 1 : equal + 1;
        if (equal == 1 || random_next(&sim->ports[in].random) % equal == 0)
            best = g->ports[i];
        best_bytes = bytes;
    }
    return best;
}

/* Of a queue pair's data, or of what goes the other way. */
static uint32_t choose_by_hash(const struct sim *sim, uint32_t node, const struct route_table *t,
                               const uint16_t *distance, uint32_t q, bool data)
{
    const struct reroute *r = sim->reroute;
    const struct queue_pair *qp = &sim->qps[q];
    uint32_t source = sim->source_ports[q], destination = r->destination_port;
    const uint32_t key[3] = {routing_address(sim, data ? qp->sender : qp->receiver),
                             routing_address(sim, data ? qp->receiver : qp->sender),
                             data ? source | destination << 16 : destination | source << 16};
    uint32_t place =
        graph_choose(&r->graph, node, t->down, distance, r->switches[node - sim->host_count].seed, key);
    return place == NONE ? NONE : r->graph.ports[place];
}

/* The port by which packets to a host leave the switch that it is at; NONE: the link is down, or it is at
 * another one. A switch sees at once that such a link is up. *distance: to the host's switch; NULL: it is
 * this one. */
static uint32_t last_port(const struct sim *sim, uint32_t node, const struct route_table *t, uint32_t to,
                          const uint16_t **distance)
{
    const struct reroute *r = sim->reroute;
    uint32_t host_port = sim->hosts[to].port, last = graph_neighbour(&r->graph, to);
    *distance = last == node ? NULL : t->distances + (size_t)r->place_of_node[last] * r->graph.node_count;
    bool down = t->down[host_port / 2] && sim->ports[host_port ^ 1].flags & PORT_DOWN;
    return last != node || down ? NONE : host_port ^ 1;
}

/* The port by which a packet leaves a switch; NONE: none leads to its receiver. */
static uint32_t port_of(struct sim *sim, uint32_t in, const struct packet *packet,
                        const struct route_table *t)
{
    uint32_t index = sim->ports[in].node, node = sim->host_count + index;
    const struct queue_pair *qp = &sim->qps[packet->qp];
    bool data = packet_is_forward(qp, packet->kind);
    const uint16_t *distance;
    uint32_t out = last_port(sim, node, t, data ? qp->receiver : qp->sender, &distance);
    if (!distance)
        return out;
    if (sim->reroute->switches[index].adaptive && packet->kind == PACKET_DATA)
        return choose_adaptive(sim, node, t, distance, in, packet->priority);
    return choose_by_hash(sim, node, t, distance, packet->qp, data);
}

/* Has adaptive routing other ports to choose from than with all links? */
static bool has_other_choice(const struct reroute *r, uint32_t node, uint32_t last,
                             const struct route_table *t)
{
    size_t row = (size_t)r->place_of_node[last] * r->graph.node_count;
    bool other = false;
    for (uint32_t i = r->graph.first_port[node]; i < r->graph.first_port[node + 1] && last != node; i++)
        other |= graph_is_nearer(&r->graph, i, node, t->down, t->distances + row) !=
                 graph_is_nearer(&r->graph, i, node, NULL, r->tables[0].distances + row);
    return other;
}

static void note_move(struct sim *sim, uint32_t in, const struct packet *packet, struct route_table *t,
                      uint32_t out)
{
    const struct reroute *r = sim->reroute;
    const struct queue_pair *qp = &sim->qps[packet->qp];
    uint32_t index = sim->ports[in].node;
    if (atomic_load_explicit(&t->moved, memory_order_relaxed))
        return;
    bool moved =
        r->switches[index].adaptive && packet->kind == PACKET_DATA && out != NONE
            ? has_other_choice(r, sim->host_count + index, graph_neighbour(&r->graph, qp->receiver), t)
            : port_of(sim, in, packet, &r->tables[0]) != out;
    if (moved)
        atomic_store_explicit(&t->moved, true, memory_order_relaxed);
}

bool reroute_packet(struct sim *sim, uint32_t in, uint32_t p)
{
    const struct reroute *r = sim->reroute;
    struct route_table *t = &r->tables[r->changes[r->switches[sim->ports[in].node].change].table];
    uint32_t out = port_of(sim, in, &sim->packets[p], t);
    if (t != r->tables)
        note_move(sim, in, &sim->packets[p], t, out);
    if (out == NONE) {
        sim->switches[sim->ports[in].node].unroutable++;
        packet_give(sim, p);
        return false;
    }
    sim->packets[p].path = sim->reroute->own_paths + out;
    return true;
}

size_t reroute_count_ways(const struct sim *sim, uint32_t q, bool data, uint32_t *passes)
{
    const struct reroute *r = sim->reroute;
    const struct queue_pair *qp = &sim->qps[q];
    uint32_t from = data ? qp->sender : qp->receiver, to = data ? qp->receiver : qp->sender;
    for (uint32_t i = 0; i < sim->switch_count; i++)
        if (r->switches[i].adaptive && data)
            return 0;
    for (uint32_t i = 0; i < r->change_count; i++) {
        const struct route_table *t = &r->tables[r->changes[i].table];
        uint32_t node = graph_neighbour(&r->graph, from), out = NONE;
        const uint16_t *distance = NULL;
        while (node >= sim->host_count) {
            out = last_port(sim, node, t, to, &distance);
            out = distance ? choose_by_hash(sim, node, t, distance, q, data) : out;
            if (out == NONE)
                break;
            passes[out]++;
            const struct port *next = &sim->ports[sim->ports[out].peer];
            node = graph_node(sim, next->node_kind, next->node);
        }
    }
    return r->change_count;
}

bool reroute_leads_round(const struct sim *sim, uint32_t link)
{
    const struct reroute *r = sim->reroute;
    for (uint32_t i = 0; r && i < r->table_count; i++)
        if (r->tables[i].down[link] && r->tables[i].moved)
            return true;
    return false;
}

bool reroute_reaches(const struct sim *sim, uint32_t from, uint32_t to)
{
    const struct reroute *r = sim->reroute;
    if (!r)
        return true;
    uint32_t now = 0, first = graph_neighbour(&r->graph, from), last = graph_neighbour(&r->graph, to);
    while (now + 1 < r->change_count && r->changes[now + 1].at_ps <= sim->now_ps)
        now++;
    const struct route_table *t = &r->tables[r->changes[now].table];
    if (t->down[sim->hosts[from].port / 2] || t->down[sim->hosts[to].port / 2])
        return false;
    return first == to || first == last ||
           t->distances[(size_t)r->place_of_node[last] * r->graph.node_count + first] != GRAPH_UNREACHABLE;
}
