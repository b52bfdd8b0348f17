/* Is there memory for a simulated run? */
#ifndef HARNESS_SIM_MEMORY_H
#define HARNESS_SIM_MEMORY_H

#include "harness/labs/sim/sim_config.h"

/* *bytes: what it needs. -1: more than is free, with a sentence. Asked before anything is allocated for it. */
int sim_memory_check(const struct cell *cell, const struct sim_setup *setup, uint64_t *bytes,
                     struct error *e);

#endif
