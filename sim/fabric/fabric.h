/*
 * The nodes between hosts: switches and forwarding hosts (bridges). docs/simulator-reference.md says which
 * model each value belongs to.
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include "lib/physics/fabric.h"
#include "sim/fabric/red.h"
#include "sim/sim.h"

/* ---- switches */

struct sim_switch_config {
    const char *name;
    struct physics_switch physics; /* `software` is not used */
    uint8_t pfc_mask;              /* bit p: priority p is lossless */
    uint8_t ecn_mask;              /* bit p: priority p is marked */

    /* ETS: classes of weight 0 go first, higher ones before lower ones; the others share by deficit round
     * robin. All weights 0: strict priority. */
    uint8_t prio_to_tc[SIM_PRIORITIES];
    int32_t tc_weight[SIM_PRIORITIES];
};
/* The physics' defaults, PFC off, strict priority; all priorities are marked if there are thresholds. */
void sim_switch_defaults(struct sim_switch_config *s);

/* ---- a host that forwards in software */

struct sim_bridge_config {
    const char *name;
    struct physics_forwarding physics;
    struct settings_red red; /* of every port; limit_bytes 0: a plain FIFO of physics.fifo_bytes */
};
/* The physics' defaults: mlx5's usual values, and a CPU that takes no time. */
void sim_bridge_defaults(struct sim_bridge_config *b);

/* ---- faults */

/* A broken host that pauses its peer from start to stop without a reason. */
struct sim_storm_config {
    uint32_t host;
    uint8_t priority;
    int64_t start_ps, stop_ps;
};

/* ---- reading */

/* Columns of a switch or bridge: sums over it, then per port and priority; ports count from 0 in the order of
 * the links. */
size_t sim_switch_counters(const struct sim *sim, uint32_t index, const struct sim_counter **counters);
void sim_switch_values(const struct sim *sim, uint32_t index, int64_t *values);
size_t sim_bridge_counters(const struct sim *sim, uint32_t index, const struct sim_counter **counters);
void sim_bridge_values(const struct sim *sim, uint32_t index, int64_t *values);

/* The least time in which a flow's first message could complete on an empty network between ideal hosts: of
 * links and switches alone. */
int64_t sim_flow_ideal_ps(const struct sim *sim, size_t flow);

#endif
