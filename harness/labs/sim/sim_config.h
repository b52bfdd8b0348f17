/* The simulator's configuration for a cell: what the lab states and the scenario changes. */
#ifndef HARNESS_SIM_CONFIG_H
#define HARNESS_SIM_CONFIG_H

#include "harness/labs/sim/streamed.h"
#include "harness/plan/plan.h"
#include "sim/capture.h"
#include "sim/fabric/fabric.h"
#include "sim/faults/faults.h"

/* Everything that a struct sim_config points at. Names belong to the cell. */
struct sim_setup {
    struct sim_config config;
    struct sim_host_config *hosts; /* in the order of the lab's */
    struct sim_link_config *links;
    struct sim_switch_config *switches;
    struct sim_bridge_config *bridges;
    uint32_t *numbers; /* of nodes, for ECMP; NULL: as they are counted */
    struct sim_storm_config *storms;
    struct sim_link_state *link_states;
    struct sim_injection *injections;
    struct sim_capture_config *capture; /* NULL: none */
    bool *capture_ports, *capture_flows;
    struct sim_wait *waits;        /* of the scenario's flows */
    struct sim_flow_config *flows; /* the scenario's in order, then those of its traffic */
    struct sim_node *node_of_role;
    struct sim_node *node_of_switch; /* of the lab's switches: one that forwards in software is a bridge */
    size_t *first_of_traffic;        /* index of the first flow of each traffic; one more at the end */
    json_t *names;                   /* of the flows of traffic */
    struct sim_job *jobs;            /* jobs.c: what the next ones point at */
    struct sim_job_config *job_configs;
    struct streamed_traffic *streamed; /* traffic whose flows are not among these: they come and go */
};

/* The caller frees it, after success. */
int sim_setup_make(const struct cell *cell, uint64_t seed, struct sim_setup *setup, struct error *e);
void sim_setup_free(struct sim_setup *setup);

/* A flow whose latency is its completion time: it needs no histogram, which has 30 KB. */
bool sim_config_is_one_message(const struct sim_flow_config *flow);

/* Of each host, the rate of its link; 0: it has none. The caller frees the list. */
int64_t *sim_setup_link_rates(const struct sim_setup *setup);
/* Does a path lead from each flow's sender to its receiver? If not, the sentence names the flow, and the NICs
 * of the receiver's machine that are reached. */
int sim_setup_check_reached(const struct lab *lab, const struct sim_setup *setup, struct error *e);

/* The name of a node in the lab. */
const char *sim_setup_node_name(const struct cell *cell, const struct sim_setup *setup, struct sim_node node);

/* By host, the role that it plays; NULL: none. The caller frees the list. */
char **sim_setup_roles_of_hosts(const struct cell *cell, const struct sim_setup *setup);

/* Settings of a host as a document (docs/result.md). A new reference. */
json_t *sim_setup_settings_json(const struct sim_settings *settings);

#endif
