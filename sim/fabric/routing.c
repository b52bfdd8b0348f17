/*
 * Routes through the fabric: shortest paths, and among those equal-cost multipath by a hash of the packet's
 * addresses and ports, as switches do. A connection's packets hash alike at every switch, so its path is
 * walked once, at the start, and packets carry their place on it: forwarding is one load from `paths`.
 */
#include "sim/fabric/routing.h"
#include <stdlib.h>
#include <string.h>

#define UNREACHABLE UINT16_MAX
#define PATH_LIMIT  64 /* hops; paths are shortest, so there are no loops to guard against */

struct network {
    struct sim *sim;
    const struct sim_config *config;
    uint32_t node_count;
    uint32_t *first_port; /* of each node, into `ports`; one more at the end */
    uint32_t *ports;      /* global index, in the order of the links */
    uint16_t **distances; /* by destination host: of every node; NULL: not needed yet */
    uint32_t *queue;
    uint16_t *pairs; /* source ports given out, by sender and receiver */
    uint32_t path_capacity, path_count;
};

uint32_t routing_node(const struct sim *sim, unsigned kind, uint32_t index)
{
    if (kind == SIM_HOST)
        return index;
    return sim->host_count + (kind == SIM_BRIDGE ? sim->switch_count : 0) + index;
}

/* The 32-bit MurmurHash3 (Appleby, public domain) of three words. */
uint32_t routing_hash(const uint32_t words[3], uint32_t seed)
{
    uint32_t h = seed;
    for (int i = 0; i < 3; i++) {
        uint32_t k = words[i] * 0xcc9e2d51u;
        h ^= (k << 15 | k >> 17) * 0x1b873593u;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    h ^= 12;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* Hosts' addresses, as the HPCC simulator gives them: 11.0.n.1. */
static uint32_t address(uint32_t host)
{
    return 0x0b000001u + (host / 256 << 16) + (host % 256 << 8);
}

static uint32_t port_node(const struct sim *sim, uint32_t port)
{
    return routing_node(sim, sim->ports[port].node_kind, sim->ports[port].node);
}

static int list_ports(struct network *n)
{
    struct sim *sim = n->sim;
    n->first_port = calloc(n->node_count + 2, sizeof *n->first_port);
    n->ports = calloc(sim->port_count + 1, sizeof *n->ports);
    n->distances = calloc(sim->host_count, sizeof(uint16_t *));
    n->queue = calloc(n->node_count, sizeof *n->queue);
    n->pairs = calloc((size_t)sim->host_count * sim->host_count, sizeof *n->pairs);
    if (!n->first_port || !n->ports || !n->distances || !n->queue || !n->pairs)
        return -1;
    for (uint32_t p = 0; p < sim->port_count; p++)
        n->first_port[port_node(sim, p) + 2]++;
    for (uint32_t i = 2; i < n->node_count + 2; i++)
        n->first_port[i] += n->first_port[i - 1];
    for (uint32_t p = 0; p < sim->port_count; p++)
        n->ports[n->first_port[port_node(sim, p) + 1]++] = p;
    return 0;
}

/* Breadth-first search from a host; paths do not go through other hosts. */
static const uint16_t *distances_to(struct network *n, uint32_t host)
{
    if (n->distances[host])
        return n->distances[host];
    uint16_t *distance = malloc(n->node_count * sizeof *distance);
    if (!distance)
        return NULL;
    memset(distance, 0xff, n->node_count * sizeof *distance);
    uint32_t first = 0, last = 0;
    distance[host] = 0;
    n->queue[last++] = host;
    while (first < last) {
        uint32_t node = n->queue[first++];
        for (uint32_t i = n->first_port[node]; i < n->first_port[node + 1]; i++) {
            uint32_t next = port_node(n->sim, n->sim->ports[n->ports[i]].peer);
            if (distance[next] != UNREACHABLE)
                continue;
            distance[next] = (uint16_t)(distance[node] + 1);
            if (next >= n->sim->host_count)
                n->queue[last++] = next;
        }
    }
    n->distances[host] = distance;
    return distance;
}

static int append(struct network *n, uint32_t port)
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

static uint32_t ecmp_seed(const struct network *n, uint32_t node)
{
    uint32_t first_switch = n->sim->host_count;
    if (node < first_switch || node >= first_switch + n->config->switch_count)
        return node;
    uint32_t seed = (uint32_t)n->config->switches[node - first_switch].physics.ecmp_seed;
    return seed ? seed : node;
}

/* Egress ports from a host's neighbour to `to`; *place is where they begin in `paths`. 0, -1 no path, -2 no
 * memory. */
static int walk(struct network *n, uint32_t from, uint32_t to, uint32_t ports_word, uint32_t *place)
{
    const uint16_t *distance = distances_to(n, to);
    if (!distance)
        return -2;
    *place = n->path_count;
    if (distance[from] == UNREACHABLE || distance[from] > PATH_LIMIT)
        return -1;
    const uint32_t key[3] = {address(from), address(to), ports_word};
    uint32_t node = port_node(n->sim, n->sim->ports[n->sim->hosts[from].port].peer);
    while (node != to) {
        uint32_t choices = 0, first = n->first_port[node], end = n->first_port[node + 1];
        for (uint32_t i = first; i < end; i++)
            choices += distance[port_node(n->sim, n->sim->ports[n->ports[i]].peer)] + 1 == distance[node];
        if (!choices)
            return -1;
        uint32_t pick = routing_hash(key, ecmp_seed(n, node)) % choices;
        for (uint32_t i = first; i < end; i++) {
            uint32_t next = port_node(n->sim, n->sim->ports[n->ports[i]].peer);
            if (distance[next] + 1 != distance[node] || pick--)
                continue;
            if (append(n, n->ports[i]))
                return -2;
            node = next;
            break;
        }
    }
    return 0;
}

static int route_qp(struct network *n, uint32_t q, struct error *e)
{
    struct sim *sim = n->sim;
    struct queue_pair *qp = &sim->qps[q];
    uint32_t source = ROUTING_SOURCE_PORT + n->pairs[(size_t)qp->sender * sim->host_count + qp->receiver]++;
    uint32_t destination = (uint32_t)n->config->udp_destination_port;
    int rc = walk(n, qp->sender, qp->receiver, source | destination << 16, &qp->data_path);
    if (!rc)
        rc = walk(n, qp->receiver, qp->sender, destination | source << 16, &qp->ack_path);
    if (rc == -1)
        return error_set(e, "simulator: there is no path from host %s to host %s",
                         n->config->hosts[qp->sender].name, n->config->hosts[qp->receiver].name);
    return rc ? error_set(e, "simulator: out of memory for paths") : 0;
}

int routing_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    struct network n = {
        .sim = sim, .config = config, .node_count = sim->host_count + sim->switch_count + sim->bridge_count};
    int rc = list_ports(&n) ? error_set(e, "simulator: out of memory for paths") : 0;
    for (uint32_t q = 0; q < sim->qp_count && !rc; q++)
        rc = route_qp(&n, q, e);
    for (uint32_t i = 0; i < sim->host_count && n.distances; i++)
        free(n.distances[i]);
    free(n.distances);
    free(n.first_port);
    free(n.ports);
    free(n.queue);
    free(n.pairs);
    sim->bytes += n.path_capacity * sizeof *sim->paths;
    return rc;
}
