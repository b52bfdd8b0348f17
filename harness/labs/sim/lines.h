/* The lines that samplers and traffic generators would print, passed to the recorder. All return -1 if it could not write them. */
#ifndef HARNESS_LABS_SIM_LINES_H
#define HARNESS_LABS_SIM_LINES_H

#include "harness/labs/sim/lab.h"

/* Of every role: opens lab->series. */
int lines_headers(struct sim_lab *lab, struct error *e);
/* A sample of every role at the end of a phase (`mark`); at other times of those of which each sample counts. */
int lines_samples(struct sim_lab *lab, bool mark, struct error *e);
/* An interval of every flow, and the pauses so far; intervals end where phases do, so that latencies fall into one phase. */
int lines_intervals(struct sim_lab *lab, struct error *e);
/* At the end: the pauses that last, once. */
int lines_lasting_pauses(struct sim_lab *lab, struct error *e);
/* The summaries of flows and traffic patterns. */
int lines_summaries(struct sim_lab *lab, struct error *e);
/* The samplers' last lines. */
int lines_ends(struct sim_lab *lab, struct error *e);

#endif
