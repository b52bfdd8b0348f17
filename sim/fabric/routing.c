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
struct router {
    const struct sim_config *config;
    struct graph graph;
    uint16_t **distances; /* by destination, a switch or bridge: of every node; NULL: not needed yet */
    uint32_t *queue;
    struct pair *pairs;
    uint32_t pair_mask, pair_count;
    struct pair *kept; /* while routes are rehearsed */
    uint32_t kept_mask, kept_count;
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

static int allocate(struct sim *sim)
{
    struct router *r = sim->router;
    int rc = graph_make(&r->graph, sim) || copy_numbers(sim, r->config);
    r->distances = calloc((size_t)r->graph.node_count + 1, sizeof(uint16_t *));
    r->queue = calloc((size_t)r->graph.node_count + 1, sizeof *r->queue);
    r->pairs = calloc(2, sizeof *r->pairs);
    r->pair_mask = 1;
    return !rc && r->distances && r->queue && r->pairs ? 0 : -1;
}

/* From a switch or bridge. */
static const uint16_t *distances_to(struct router *r, uint32_t destination)
{
    if (r->distances[destination])
        return r->distances[destination];
    uint16_t *distance = malloc(r->graph.node_count * sizeof *distance);
    if (!distance)
        return NULL;
    graph_distances(&r->graph, destination, NULL, r->queue, distance);
    r->distances[destination] = distance;
    return distance;
}

static int append_to_path(struct sim *sim, uint32_t port)
{
    struct router *r = sim->router;
    if (r->path_count == r->path_capacity) {
        uint32_t capacity = r->path_capacity ? r->path_capacity * 2 : 256;
        uint32_t *paths = realloc(sim->paths, capacity * sizeof *paths);
        if (!paths)
            return -1;
        sim->paths = paths;
        r->path_capacity = capacity;
    }
    sim->paths[r->path_count++] = port;
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
static int walk_path(struct sim *sim, uint32_t from, uint32_t to, uint32_t ports_word, uint32_t *place)
{
    struct router *r = sim->router;
    const uint32_t key[3] = {routing_address(sim, from), routing_address(sim, to), ports_word};
    uint32_t node = graph_neighbour(&r->graph, from), last = graph_neighbour(&r->graph, to);
    *place = r->path_count;
    if (node == to)
        return 0;
    if (node < sim->host_count || last < sim->host_count)
        return -1;
    const uint16_t *distance = distances_to(r, last);
    if (!distance)
        return -2;
    if (distance[node] > PATH_LIMIT - 2)
        return -1;
    while (node != last) {
        uint32_t i = graph_choose(&r->graph, node, NULL, distance, routing_seed(sim, r->config, node), key);
        if (i == NONE)
            return -1;
        if (append_to_path(sim, r->graph.ports[i]))
            return -2;
        node = r->graph.next[i];
    }
    return append_to_path(sim, sim->ports[sim->hosts[to].port].peer) ? -2 : 0;
}

/* The slot of a pair, or a free one. */
static struct pair *find_pair(const struct router *r, uint32_t key)
{
    uint32_t i = (key * 0x9e3779b1u) >> 7 & r->pair_mask;
    while (r->pairs[i].given && r->pairs[i].key != key)
        i = (i + 1) & r->pair_mask;
    return &r->pairs[i];
}

static int double_pairs(struct router *r)
{
    struct pair *old = r->pairs;
    uint32_t slots = r->pair_mask + 1;
    struct pair *pairs = calloc(2 * (size_t)slots, sizeof *pairs);
    if (!pairs)
        return -1;
    r->pairs = pairs;
    r->pair_mask = 2 * slots - 1;
    for (uint32_t i = 0; i < slots; i++)
        if (old[i].given)
            *find_pair(r, old[i].key) = old[i];
    free(old);
    return 0;
}

static uint32_t pair_key(const struct sim *sim, uint32_t sender, uint32_t receiver)
{
    return number_of(sim, sender) << 16 | number_of(sim, receiver);
}

/* The source port of a pair's next connection: they count up, for each pair of addresses. 0: no memory. */
static uint32_t next_source_port(const struct sim *sim, uint32_t sender, uint32_t receiver)
{
    struct router *r = sim->router;
    uint32_t key = pair_key(sim, sender, receiver);
    if (2 * (r->pair_count + 1) > r->pair_mask && double_pairs(r))
        return 0;
    struct pair *pair = find_pair(r, key);
    r->pair_count += !pair->given;
    pair->key = key;
    return ECMP_FIRST_SOURCE_PORT + (pair->given++ & 0xffff);
}

static int find_path(struct sim *sim, uint32_t q, struct error *e)
{
    struct router *r = sim->router;
    struct queue_pair *qp = &sim->qps[q];
    uint32_t source = next_source_port(sim, qp->sender, qp->receiver);
    uint32_t destination = (uint32_t)r->config->udp_destination_port;
    if (sim->source_ports)
        sim->source_ports[q] = source;
    int rc =
        source ? walk_path(sim, qp->sender, qp->receiver, source | destination << 16, &qp->data_path) : -2;
    if (!rc)
        rc = walk_path(sim, qp->receiver, qp->sender, destination | source << 16, &qp->ack_path);
    if (rc == -1)
        return error_set(e, "simulator: there is no path from host %s to host %s",
                         r->config->hosts[qp->sender].name, r->config->hosts[qp->receiver].name);
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
    struct router *r = sim->router = calloc(1, sizeof *r);
    if (r)
        r->config = config;
    int rc = r && allocate(sim) == 0 ? 0 : error_set(e, "simulator: out of memory for paths");
    for (uint32_t q = 0; q < sim->qp_count && !rc; q++)
        rc = find_path(sim, q, e);
    if (!rc) {
        sim->path_count = r->path_count;
        sim->bytes += r->path_capacity * sizeof *sim->paths;
    }
    if (!config->stream)
        routing_close(sim);
    return rc;
}

void routing_close(struct sim *sim)
{
    struct router *r = sim->router;
    if (!r)
        return;
    for (uint32_t i = 0; i < r->graph.node_count && r->distances; i++)
        free(r->distances[i]);
    free(r->distances);
    graph_free(&r->graph);
    free(r->queue);
    free(r->pairs);
    free(r->kept);
    free(r);
    sim->router = NULL;
}

/* ---- connections that come and go */

int routing_make_room(struct sim *sim, uint32_t ports)
{
    struct router *r = sim->router;
    uint32_t *paths = realloc(sim->paths, ports * sizeof *paths);
    if (!paths)
        return -1;
    sim->paths = paths;
    r->path_capacity = ports;
    return 0;
}

int routing_find_at(struct sim *sim, uint32_t q, uint32_t place, struct error *e)
{
    sim->router->path_count = place;
    return find_path(sim, q, e);
}

int routing_rehearse(struct sim *sim)
{
    struct router *r = sim->router;
    size_t bytes = (r->pair_mask + (size_t)1) * sizeof *r->pairs;
    r->kept = malloc(bytes);
    if (!r->kept)
        return -1;
    memcpy(r->kept, r->pairs, bytes);
    r->kept_mask = r->pair_mask;
    r->kept_count = r->pair_count;
    return 0;
}

void routing_rehearsed(struct sim *sim)
{
    struct router *r = sim->router;
    free(r->pairs);
    r->pairs = r->kept;
    r->pair_mask = r->kept_mask;
    r->pair_count = r->kept_count;
    r->kept = NULL;
}

bool routing_is_new(const struct sim *sim, uint32_t sender, uint32_t receiver)
{
    return !find_pair(sim->router, pair_key(sim, sender, receiver))->given;
}
