/* A scenario's faults of single frames (`inject`), and what they met. */
#ifndef HARNESS_LABS_SIM_INJECT_H
#define HARNESS_LABS_SIM_INJECT_H

#include "harness/labs/sim/lab.h"

/* "injected" of the result, and a warning for each rule that met no frame (docs/result.md). */
void sim_inject_add_to_result(const struct sim_lab *lab, json_t *result);

#endif
