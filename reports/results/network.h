/* The network of a result: its "topology", which only simulated labs have, or else what the links of the lab
 * say. */
#ifndef REPORTS_NETWORK_H
#define REPORTS_NETWORK_H

#include "reports/results/run.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORK_NONE SIZE_MAX

/* The end of a link at a host or switch: where frames leave it. */
struct network_port {
    char *name;      /* as pauses.jsonl has it: "h0", "s0:1" */
    size_t node;     /* whose it is */
    size_t peer;     /* the port at the other end */
    size_t next;     /* of the same node; NETWORK_NONE: the last */
    unsigned number; /* among the node's ports, as in port#_ counters */
    double rate_bps;
};

struct network_node {
    const char *name; /* of the result */
    bool host;
    size_t first; /* port */
    unsigned ports;
    uint32_t *hops; /* from this node to each, UINT32_MAX: none; made when first requested */
};

struct network {
    struct network_node *nodes;
    struct network_port *ports;
    size_t node_count, port_count;
    json_t *node_index, *port_index; /* name -> number */
};

/* Of a result without links the network has no node. The run must outlive it. */
void network_open(struct network *network, const struct run *run);
void network_free(struct network *network);
size_t network_node(const struct network *network, const char *name);
/* By its name in pauses.jsonl: of a host with several links there is none, as the name does not say which. */
size_t network_port(const struct network *network, const char *name);
/* The node at the other end. */
size_t network_behind(const struct network *network, size_t port);
/* Does a shortest path between the nodes leave by this port? Packets take these while no link is down. */
bool network_may_pass(struct network *network, size_t from, size_t to, size_t port);
/* Do all of them? */
bool network_must_pass(struct network *network, size_t from, size_t to, size_t port);

#endif
