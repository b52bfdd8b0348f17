/* Routes through the fabric. */
#ifndef SIM_ROUTING_H
#define SIM_ROUTING_H

#include "sim/fabric/fabric.h"
#include "sim/fabric/graph.h"
#include "sim/model.h"

#define ROUTING_SOURCE_PORT 10000 /* UDP source port of a pair's first connection; the next ones count up */

/* Find the paths of all queue pairs; the config's links are ports already. */
int routing_build(struct sim *sim, const struct sim_config *config, struct error *e);
uint32_t routing_address(uint32_t host); /* the IPv4 address that is hashed */
/* The seed of a node's hash. */
uint32_t routing_seed(const struct sim *sim, const struct sim_config *config, uint32_t node);

#endif
