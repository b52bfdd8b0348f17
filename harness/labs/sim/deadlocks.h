/* Deadlocks of PFC that the simulator finds during a run. */
#ifndef HARNESS_LABS_SIM_DEADLOCKS_H
#define HARNESS_LABS_SIM_DEADLOCKS_H

#include "harness/labs/sim/lab.h"

/* Look for new ones. -1: out of memory. */
int sim_deadlocks_look(struct sim_lab *lab);
/* What was found: into the result and its warnings. */
void sim_deadlocks_add_to_result(const struct sim_lab *lab, json_t *result);

#endif
