/* The scenario's jobs in the simulator: their schedules and the NICs of their ranks, and what they did. */
#ifndef HARNESS_LABS_SIM_JOBS_H
#define HARNESS_LABS_SIM_JOBS_H

#include "harness/labs/sim/lab.h"

/* Reads the schedules. The nodes of roles are known. */
int sim_jobs_make(const struct cell *cell, struct sim_setup *setup, struct error *e);
void sim_jobs_free(struct sim_setup *setup);
/* "jobs", and a warning for each that has not ended. */
void sim_jobs_add_to_result(const struct sim_lab *lab, json_t *result);

#endif
