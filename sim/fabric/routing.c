/*
 * Routes through the fabric: shortest paths, and among those equal-cost multipath by a hash of the packet's
 * addresses and ports, as switches do. A connection's packets hash alike at every switch, so its path is
 * walked once, at the start, and packets carry their place on it: forwarding is one load from `paths`.
 */
#include "sim/fabric/routing.h"
#include "lib/roce/ecmp.h"
#include "sim/faults/hooks.h"
#include <stdlib.h>
#include <string.h>

/* ---- nodes and the links between them */

uint32_t graph_node(const struct sim *sim, unsigned kind, uint32_t index)
{
    if (kind == SIM_HOST)
        return index;
    return sim->host_count + (kind == SIM_BRIDGE ? sim->switch_count : 0) + index;
}

static uint32_t port_node(const struct sim *sim, uint32_t port)
{
    return graph_node(sim, sim->ports[port].node_kind, sim->ports[port].node);
}

static void list_ports(struct graph *g, const struct sim *sim)
{
    for (uint32_t p = 0; p < sim->port_count; p++)
        g->first_port[port_node(sim, p) + 2]++;
    for (uint32_t i = 2; i < g->node_count + 2; i++)
        g->first_port[i] += g->first_port[i - 1];
    for (uint32_t p = 0; p < sim->port_count; p++) {
        uint32_t i = g->first_port[port_node(sim, p) + 1]++;
        g->ports[i] = p;
        g->next[i] = port_node(sim, sim->ports[p].peer);
    }
}

int graph_make(struct graph *g, const struct sim *sim)
{
    g->host_count = sim->host_count;
    g->node_count = sim->host_count + sim->switch_count + sim->bridge_count;
    g->first_port = calloc(g->node_count + 2, sizeof *g->first_port);
    g->ports = calloc(sim->port_count + 1, sizeof *g->ports);
    g->next = calloc(sim->port_count + 1, sizeof *g->next);
    if (!g->first_port || !g->ports || !g->next)
        return -1;
    list_ports(g, sim);
    return 0;
}

void graph_free(struct graph *g)
{
    free(g->first_port);
    free(g->ports);
    free(g->next);
}

static bool is_down(const struct graph *g, uint32_t i, const uint8_t *down)
{
    return down && down[g->ports[i] / 2];
}

/* Breadth-first search; hosts, which have one port, are on no way between others. */
void graph_distances(const struct graph *g, uint32_t destination, const uint8_t *down, uint32_t *queue,
                     uint16_t *distance)
{
    memset(distance, 0xff, g->node_count * sizeof *distance);
    uint32_t first = 0, last = 0;
    distance[destination] = 0;
    queue[last++] = destination;
    while (first < last) {
        uint32_t node = queue[first++];
        for (uint32_t i = g->first_port[node]; i < g->first_port[node + 1]; i++) {
            uint32_t next = g->next[i];
            if (next < g->host_count || distance[next] != GRAPH_UNREACHABLE || is_down(g, i, down))
                continue;
            distance[next] = (uint16_t)(distance[node] + 1);
            queue[last++] = next;
        }
    }
}

bool graph_is_nearer(const struct graph *g, uint32_t i, uint32_t node, const uint8_t *down,
                     const uint16_t *distance)
{
    return distance[g->next[i]] + 1 == distance[node] && !is_down(g, i, down);
}

uint32_t graph_choose(const struct graph *g, uint32_t node, const uint8_t *down, const uint16_t *distance,
                      uint32_t seed, const uint32_t key[3])
{
    uint32_t choices = 0, i = g->first_port[node], end = g->first_port[node + 1];
    for (uint32_t k = i; k < end; k++)
        choices += graph_is_nearer(g, k, node, down, distance);
    if (!choices)
        return NONE;
    uint32_t pick = ecmp_hash(key, seed) % choices;
    while (!graph_is_nearer(g, i, node, down, distance) || pick--)
        i++;
    return i;
}

/* ---- the paths of connections */

#define PATH_LIMIT 64 /* hops; paths are shortest, so there are no loops to guard against */

/* A host has one port, so that the ways to it are those to its neighbour and one hop more: a search from each
 * neighbour of a receiver is enough, not one from each receiver. */
struct network {
    struct sim *sim;
    const struct sim_config *config;
    struct graph graph;
    uint16_t **distances; /* by destination, a switch or bridge: of every node; NULL: not needed yet */
    uint32_t *queue;
    struct pair *pairs;
    uint32_t pair_mask;
    uint32_t path_capacity, path_count;
};

/* Source ports given out to a sender and a receiver: a slot of a hash table, which is never more than half
 * full. */
struct pair {
    uint32_t key; /* sender and receiver, 16 bits each */
    uint32_t given;
};

static uint32_t number_of(const struct sim *sim, uint32_t node)
{
    return sim->numbers ? sim->numbers[node] : node;
}

uint32_t routing_address(const struct sim *sim, uint32_t host)
{
    return ecmp_address(number_of(sim, host));
}

/* Routes and captures need them after the configuration is gone. */
static int copy_numbers(struct sim *sim, const struct sim_config *config)
{
    size_t nodes = (size_t)sim->host_count + sim->switch_count + sim->bridge_count;
    if (!config->numbers)
        return 0;
    sim->numbers = calloc(nodes + 1, sizeof *sim->numbers);
    if (!sim->numbers)
        return -1;
    memcpy(sim->numbers, config->numbers, nodes * sizeof *sim->numbers);
    sim->bytes += nodes * sizeof *sim->numbers;
    return 0;
}

static int allocate(struct network *n)
{
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)n->sim->qp_count)
        slots *= 2;
    int rc = graph_make(&n->graph, n->sim) || copy_numbers(n->sim, n->config);
    n->distances = calloc(n->graph.node_count, sizeof(uint16_t *));
    n->queue = calloc(n->graph.node_count, sizeof *n->queue);
    n->pairs = calloc(slots, sizeof *n->pairs);
    n->pair_mask = (uint32_t)(slots - 1);
    return !rc && n->distances && n->queue && n->pairs ? 0 : -1;
}

/* From a switch or bridge. */
static const uint16_t *distances_to(struct network *n, uint32_t destination)
{
    if (n->distances[destination])
        return n->distances[destination];
    uint16_t *distance = malloc(n->graph.node_count * sizeof *distance);
    if (!distance)
        return NULL;
    graph_distances(&n->graph, destination, NULL, n->queue, distance);
    n->distances[destination] = distance;
    return distance;
}

static int append_to_path(struct network *n, uint32_t port)
{
    if (n->path_count == n->path_capacity) {
        uint32_t capacity = n->path_capacity ? n->path_capacity * 2 : 256;
        uint32_t *paths = realloc(n->sim->paths, capacity * sizeof *paths);
        if (!paths)
            return -1;
        n->sim->paths = paths;
        n->path_capacity = capacity;
    }
    n->sim->paths[n->path_count++] = port;
    return 0;
}

uint32_t routing_seed(const struct sim *sim, const struct sim_config *config, uint32_t node)
{
    uint32_t first_switch = sim->host_count;
    if (node < first_switch || node >= first_switch + config->switch_count)
        return number_of(sim, node);
    uint32_t seed = (uint32_t)config->switches[node - first_switch].physics.ecmp_seed;
    return seed ? seed : number_of(sim, node);
}

/* Egress ports from a host's neighbour to `to`; *place is where they begin in `paths`. 0, -1 no path, -2 no
 * memory. */
static int walk_path(struct network *n, uint32_t from, uint32_t to, uint32_t ports_word, uint32_t *place)
{
    const uint32_t key[3] = {routing_address(n->sim, from), routing_address(n->sim, to), ports_word};
    uint32_t node = graph_neighbour(&n->graph, from), last = graph_neighbour(&n->graph, to);
    *place = n->path_count;
    if (node == to)
        return 0;
    if (node < n->sim->host_count || last < n->sim->host_count)
        return -1;
    const uint16_t *distance = distances_to(n, last);
    if (!distance)
        return -2;
    if (distance[node] > PATH_LIMIT - 2)
        return -1;
    while (node != last) {
        uint32_t i =
            graph_choose(&n->graph, node, NULL, distance, routing_seed(n->sim, n->config, node), key);
        if (i == NONE)
            return -1;
        if (append_to_path(n, n->graph.ports[i]))
            return -2;
        node = n->graph.next[i];
    }
    return append_to_path(n, n->sim->ports[n->sim->hosts[to].port].peer) ? -2 : 0;
}

/* The source port of a pair's next connection: they count up, for each pair of addresses. */
static uint32_t next_source_port(struct network *n, uint32_t sender, uint32_t receiver)
{
    uint32_t key = number_of(n->sim, sender) << 16 | number_of(n->sim, receiver),
             i = (key * 0x9e3779b1u) >> 7 & n->pair_mask;
    while (n->pairs[i].given && n->pairs[i].key != key)
        i = (i + 1) & n->pair_mask;
    n->pairs[i].key = key;
    return ECMP_FIRST_SOURCE_PORT + (n->pairs[i].given++ & 0xffff);
}

static int route_qp(struct network *n, uint32_t q, struct error *e)
{
    struct sim *sim = n->sim;
    struct queue_pair *qp = &sim->qps[q];
    uint32_t source = next_source_port(n, qp->sender, qp->receiver);
    uint32_t destination = (uint32_t)n->config->udp_destination_port;
    if (sim->source_ports)
        sim->source_ports[q] = source;
    int rc = walk_path(n, qp->sender, qp->receiver, source | destination << 16, &qp->data_path);
    if (!rc)
        rc = walk_path(n, qp->receiver, qp->sender, destination | source << 16, &qp->ack_path);
    if (rc == -1)
        return error_set(e, "simulator: there is no path from host %s to host %s",
                         n->config->hosts[qp->sender].name, n->config->hosts[qp->receiver].name);
    return rc ? error_set(e, "simulator: out of memory for paths") : 0;
}

static size_t count_ways(const struct sim *sim, uint32_t q, bool data, uint32_t *passes)
{
    const struct queue_pair *qp = &sim->qps[q];
    uint32_t from = data ? qp->sender : qp->receiver, to = data ? qp->receiver : qp->sender;
    uint32_t last = sim->ports[sim->hosts[to].port].peer, place = data ? qp->data_path : qp->ack_path;
    if (sim->reroute)
        return reroute_count_ways(sim, q, data, passes);
    if (last == sim->hosts[from].port)
        return 1;
    do
        passes[sim->paths[place]]++;
    while (sim->paths[place++] != last);
    return 1;
}

size_t sim_flow_ways(const struct sim *sim, uint32_t flow, bool data, uint32_t *passes)
{
    const struct flow *f = &sim->flows[flow];
    size_t sum = 0;
    for (uint32_t i = 0; i < f->qp_count; i++) {
        size_t ways = count_ways(sim, f->first_qp + i, f->ping_pong && i ? !data : data, passes);
        if (!ways)
            return 0;
        sum += ways;
    }
    return sum;
}

int routing_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    struct network n = {.sim = sim, .config = config};
    int rc = allocate(&n) ? error_set(e, "simulator: out of memory for paths") : 0;
    for (uint32_t q = 0; q < sim->qp_count && !rc; q++)
        rc = route_qp(&n, q, e);
    for (uint32_t i = 0; i < n.graph.node_count && n.distances; i++)
        free(n.distances[i]);
    free(n.distances);
    graph_free(&n.graph);
    free(n.queue);
    free(n.pairs);
    sim->path_count = n.path_count;
    sim->bytes += n.path_capacity * sizeof *sim->paths;
    return rc;
}
