/* What the simulator counts of flows, as the lines that traffic generators would print. All return -1 if
 * the recorder could not write them. */
#ifndef HARNESS_LABS_SIM_FLOWS_H
#define HARNESS_LABS_SIM_FLOWS_H

#include "harness/labs/sim/lab.h"

/* A flow's figures between two moments. */
struct flow_state {
    struct sim_flow_stats interval_base, measure_base;
    struct sim_flow_stats measure_end; /* once the measure phase has ended */
    struct histogram
        *measured; /* ps, over the measure phase; NULL: of a traffic pattern, or of one message */
    bool lines;    /* it has interval and summary lines */
    bool active;   /* it sent in the last interval */
};

void flows_open(struct sim_lab *lab);
void flows_close(struct sim_lab *lab);
/* The measure phase begins or ends, or the run has ended within it. */
void flows_note_measured(struct sim_lab *lab);
/* An interval of every flow; intervals end where phases do, so that latencies fall into one phase. */
int flows_write_intervals(struct sim_lab *lab, struct error *e);
/* The summaries of flows and traffic patterns. */
int flows_write_summaries(struct sim_lab *lab, struct error *e);
#endif
