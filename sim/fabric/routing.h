/* Routes through the fabric. */
#ifndef SIM_ROUTING_H
#define SIM_ROUTING_H

#include "sim/fabric/fabric.h"
#include "sim/model.h"

#define ROUTING_SOURCE_PORT 10000 /* UDP source port of a pair's first connection; the next ones count up */

/* Find the paths of all queue pairs; the config's links are ports already. */
int routing_build(struct sim *sim, const struct sim_config *config, struct error *e);
/* A node's number among all: hosts, then switches, then bridges. */
uint32_t routing_node(const struct sim *sim, unsigned kind, uint32_t index);
uint32_t routing_hash(const uint32_t words[3], uint32_t seed);

#endif
