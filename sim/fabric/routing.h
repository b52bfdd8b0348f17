/* Routes through the fabric: nodes and the links between them, the shortest ways, and the choice of one by a
 * hash. */
#ifndef SIM_ROUTING_H
#define SIM_ROUTING_H

#include "sim/fabric/fabric.h"
#include "sim/model.h"

/* A node's number among all: hosts, then switches, then bridges. */
uint32_t graph_node(const struct sim *sim, unsigned kind, uint32_t index);

#define GRAPH_UNREACHABLE UINT16_MAX

struct graph {
    uint32_t host_count, node_count;
    uint32_t *first_port; /* of each node, into `ports`; one more at the end */
    uint32_t *ports;      /* global index, in the order of the links */
    uint32_t *next;       /* the node at the other end of each of `ports` */
};

/* -1: no memory; graph_free frees what was made. */
int graph_make(struct graph *g, const struct sim *sim);
void graph_free(struct graph *g);
/* The node at the other end of a host's link. */
static inline uint32_t graph_neighbour(const struct graph *g, uint32_t host)
{
    return g->next[g->first_port[host]];
}
/* Hops of every node to a switch or bridge, GRAPH_UNREACHABLE where there is no way. `down`: by link, those
 * that are; NULL: none. `queue` has room for all nodes. */
void graph_distances(const struct graph *g, uint32_t destination, const uint8_t *down, uint32_t *queue,
                     uint16_t *distance);
/* Does place i of `ports`, at this node, lead nearer? */
bool graph_is_nearer(const struct graph *g, uint32_t i, uint32_t node, const uint8_t *down,
                     const uint16_t *distance);
/* The place of the node's port by the hash, among those that lead nearer; NONE: none does. */
uint32_t graph_choose(const struct graph *g, uint32_t node, const uint8_t *down, const uint16_t *distance,
                      uint32_t seed, const uint32_t key[3]);

/* ---- the paths of connections */

/* Find the paths of all queue pairs; the config's links are ports already. */
int routing_build(struct sim *sim, const struct sim_config *config, struct error *e);
/* No further paths are needed: routing_build ends with it, but where there is a stream of flows. */
void routing_close(struct sim *sim);
/* That of a further queue pair, whose connection has the pair's next source port, at this place of
 * sim->paths, in which there is room for so many ports. */
int routing_make_room(struct sim *sim, uint32_t ports);
int routing_find_at(struct sim *sim, uint32_t qp, uint32_t place, struct error *e);
/* Source ports that are given out between these calls are given out again afterwards. */
int routing_rehearse(struct sim *sim);
void routing_rehearsed(struct sim *sim);
/* Is this the first connection from one host to another? */
bool routing_is_new(const struct sim *sim, uint32_t sender, uint32_t receiver);
uint32_t routing_address(const struct sim *sim, uint32_t host); /* the IPv4 address that is hashed */
/* The seed of a node's hash. */
uint32_t routing_seed(const struct sim *sim, const struct sim_config *config, uint32_t node);

#endif
