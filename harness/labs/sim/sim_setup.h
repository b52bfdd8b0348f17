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

/* patterns.c: append the flows of the scenario's traffic. */
int sim_setup_take_traffic(const struct cell *cell, const json_t *roles, struct sim_setup *setup,
                           struct error *e);

#endif
