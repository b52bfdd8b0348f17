/* The network of a simulated run for its result: nodes, links, and how long pauses held each end of a link. */
#ifndef HARNESS_SIM_TOPOLOGY_H
#define HARNESS_SIM_TOPOLOGY_H

#include "harness/labs/sim/sim_config.h"

/* Held times of all ends and priorities at one moment: an array that the caller frees. NULL: out of memory. */
int64_t *sim_topology_holds(const struct sim *sim, const struct sim_setup *setup);

/* docs/result.md, "topology"; held times are those between the two moments. Either may be NULL: zeros. A new reference. */
json_t *sim_topology_json(const struct cell *cell, const struct sim *sim, const struct sim_setup *setup,
                          const int64_t *from, const int64_t *to);

#endif
