/*
 * Paths that change: each switch finds the port of a packet when it arrives.
 *
 * When links fail, a switch forwards by the links that were up a time of convergence ago; the hash of a connection then chooses
 * among the ports that are left. A switch with adaptive routing sends each data packet to the port of an equally short path with
 * the shortest queue. Where the links change is known at the start: the distances of each set of links are found once.
 */
#ifndef SIM_REROUTE_H
#define SIM_REROUTE_H

#include "sim/fabric/graph.h"
#include "sim/model.h"

/* Distances while a set of links is down. */
struct route_table {
    uint8_t *down;       /* by link */
    uint16_t *distances; /* by destination, then by node */
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

/* Before paths are found, and after. */
int reroute_open(struct sim *sim, const struct sim_config *config, struct error *e);
int reroute_build(struct sim *sim, const struct sim_config *config, struct error *e);
void reroute_free(struct sim *sim);

#endif
