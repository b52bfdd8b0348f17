/* A scenario's faults, as the simulator's configuration has them: `faults` of links, and `inject`, of
 * single frames. */
#ifndef HARNESS_LABS_SIM_FAULTS_H
#define HARNESS_LABS_SIM_FAULTS_H

#include "harness/plan/plan.h"
#include "sim/faults/faults.h"

/* An end of a link, "NODE" or "NODE:PORT", where a node is a host, a switch or a role. */
struct sim_link_end {
    int node;     /* of the lab */
    int64_t port; /* of the node's; -1: not given */
};
/* Error messages begin with `path`. */
int sim_link_end_parse(const struct lab *lab, const char *path, const char *text, struct sim_link_end *end,
                       struct error *e);

/* The states that links have one after the other by the scenario's `faults`. The caller frees; NULL: none. */
int sim_link_states_make(const struct cell *cell, struct sim_link_state **states, size_t *count,
                         struct error *e);

/* The rules of `inject`; a rule names a link or one of `flows`. The caller frees; NULL: none. */
int sim_injections_make(const struct cell *cell, const struct sim_flow_config *flows, size_t flow_count,
                        struct sim_injection **injections, size_t *count, struct error *e);

#endif
