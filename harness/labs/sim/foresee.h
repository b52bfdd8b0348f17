/* What a simulated run will have, before it begins. */
#ifndef HARNESS_SIM_FORESEE_H
#define HARNESS_SIM_FORESEE_H

#include "harness/labs/sim/lab.h"

/* Can the simulator run the cell? *bytes: the memory that it needs for it. */
int sim_foresee_cell(const struct cell *cell, uint64_t *bytes, struct error *e);
/* Could the role's samples have a counter that matches the glob, here or, if it is a host, on a real one? 0, or -1 with why not. */
int sim_foresee_counter(struct sim_lab *lab, size_t role, const char *glob, struct error *e);

#endif
