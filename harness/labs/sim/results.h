/* What only the simulator knows of a run, for result.json: the topology and how long pauses held its
 * links, deadlocks, injected faults, receive buffers, and the simulator's own work. docs/result.md. */
#ifndef HARNESS_LABS_SIM_RESULTS_H
#define HARNESS_LABS_SIM_RESULTS_H

#include "harness/labs/sim/lab.h"

/* How long pauses have held each end and priority of all links by now: an array that the caller frees. */
int64_t *results_held_times(const struct sim_lab *lab);
/* Keep the deadlocks that the simulator has found since the last call. */
void results_note_deadlocks(struct sim_lab *lab);
void results_add(const struct sim_lab *lab, json_t *result);

#endif
