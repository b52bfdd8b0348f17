/* The values of a simulation's configuration: within their ranges, and referring to what exists. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim/sim.h"

/* -1 with a sentence that names the value and what is expected. */
int sim_check(const struct sim_config *config, struct error *e);

#endif
