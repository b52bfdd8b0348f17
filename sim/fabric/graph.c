#include "sim/fabric/graph.h"
#include <stdlib.h>
#include <string.h>

uint32_t graph_node(const struct sim *sim, unsigned kind, uint32_t index)
{
    if (kind == SIM_HOST)
        return index;
    return sim->host_count + (kind == SIM_BRIDGE ? sim->switch_count : 0) + index;
}

/* The 32-bit MurmurHash3 (Appleby, public domain) of three words. */
uint32_t graph_hash(const uint32_t words[3], uint32_t seed)
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
    uint32_t pick = graph_hash(key, seed) % choices;
    while (!graph_is_nearer(g, i, node, down, distance) || pick--)
        i++;
    return i;
}
