/* What the files that make a struct sim_setup share. */
#ifndef HARNESS_SIM_SETUP_H
#define HARNESS_SIM_SETUP_H

#include "harness/labs/sim/sim_config.h"

/* roles.c: the host that plays a role; `roles` maps names to indices, error messages begin with `of`. */
int sim_setup_host(const struct cell *cell, const struct sim_setup *setup, const json_t *roles,
                   const char *role, const char *of, uint32_t *host, struct error *e);

/* sim_fabric.c: the lab's switches and forwarding hosts, and their settings. */
void sim_setup_take_switches(const struct lab *lab, struct sim_setup *setup);
void sim_setup_switch_settings(const struct settings *from, struct sim_switch_config *to);
void sim_setup_bridge_settings(const struct settings *from, struct sim_bridge_config *to);

/* roles.c: an end of a link, "NODE" or "NODE:PORT", where a node is a host, a switch or a role; error messages begin with `path`. */
struct sim_end {
    int node;     /* of the lab */
    int64_t port; /* of the node's; -1: not given */
};
int sim_setup_end(const struct lab *lab, const char *path, const char *text, struct sim_end *end,
                  struct error *e);

/* capture/choose.c: which ports and flows the scenario captures; the flows are there. */
int sim_capture_choose(const struct cell *cell, struct sim_setup *setup, struct error *e);

/* faults.c: the link between two ends, which a fault's `link` names: the port, 2 * link + end, that is the second of them; error
 * messages begin with `path`. */
int sim_setup_link(const struct lab *lab, const struct list_of *link, const char *path, uint32_t *second,
                   struct error *e);

/* inject/inject.c: the scenario's injections; the flows are there. */
int sim_setup_take_injections(const struct cell *cell, struct sim_setup *setup, struct error *e);

/* faults.c: the states of links that the scenario's faults make. */
int sim_setup_take_faults(const struct cell *cell, struct sim_setup *setup, struct error *e);

/* patterns.c: append the flows of the scenario's traffic. */
int sim_setup_take_traffic(const struct cell *cell, const json_t *roles, struct sim_setup *setup,
                           struct error *e);

#endif
