/* A lab's physics and a scenario's flows as the simulator takes them. */
#ifndef HARNESS_SIM_CONFIG_H
#define HARNESS_SIM_CONFIG_H

#include "harness/plan.h"
#include "sim/sim.h"

/* Everything that a struct sim_config points at. Names belong to the cell. */
struct sim_setup {
    struct sim_config config;
    struct sim_host_config *hosts; /* in the order of the lab's */
    struct sim_link_config *links;
    struct sim_flow_config *flows; /* in the order of the scenario's */
    uint32_t *host_of_role;        /* UINT32_MAX: the role is a switch */
};

int sim_setup_make(const struct cell *cell, uint64_t seed, struct sim_setup *setup, struct error *e);
void sim_setup_free(struct sim_setup *setup);

/* Settings of a host, from a parsed document: what is unset stays. */
void sim_setup_settings(const struct settings *from, struct sim_settings *to);
/* As a document (docs/result.md). A new reference. */
json_t *sim_setup_settings_json(const struct sim_settings *settings);

#endif
