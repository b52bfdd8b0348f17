/* A simulated run's capture: frames of the simulator as real headers, in a file. docs/captures.md. */
#ifndef HARNESS_LABS_SIM_CAPTURE_H
#define HARNESS_LABS_SIM_CAPTURE_H

#include "harness/labs/sim/lab.h"

/* Begin the file, if the scenario has a capture; lab->sim is there. */
int sim_capture_open(struct sim_lab *lab, struct error *e);
/* How far the simulator may run until its frames are to be written: not beyond until_ns. */
int64_t sim_capture_until(const struct sim_lab *lab, int64_t until_ns);
/* Write the frames of the last sim_run_until. */
int sim_capture_write_frames(struct sim_lab *lab, struct error *e);
/* Write the rest and close the file; once. */
int sim_capture_finish(struct sim_lab *lab, struct error *e);
void sim_capture_add_to_result(const struct sim_lab *lab, json_t *result);
void sim_capture_close(struct sim_lab *lab);

#endif
