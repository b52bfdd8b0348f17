/* A simulated lab during a run: what the driver's files share. */
#ifndef HARNESS_LABS_SIM_LAB_H
#define HARNESS_LABS_SIM_LAB_H

#include "harness/labs/driver.h"
#include "harness/labs/sim/series.h"
#include "lib/statistics/histogram.h"

#define PAUSE_CAPACITY (1u << 20)

/* A flow's figures between two moments. */
struct flow_state {
    struct sim_flow_stats interval_base, measure_base;
    struct histogram
        *measured; /* ps, over the measure phase; NULL: of a traffic pattern, or of one message */
    bool lines;    /* it has interval and summary lines */
    bool active;   /* it sent in the last interval */
    struct sim_flow_stats measure_end; /* once the measure phase has ended */
};

struct sim_lab {
    const struct lab_run *run;
    struct sim_setup setup;
    struct sim *sim;
    struct flow_state *flows;
    struct sim_series *series; /* by role */
    int64_t *values;           /* of one role */
    int64_t *holds[2];         /* topology.h, at the measure phase's start (NULL: the run's) and end */
    int64_t measure_start_ns, measure_end_ns, end_ns;
    int64_t next_sample_ns, next_interval_ns, interval_ns, interval_start_ns;
    int64_t now_ns, last_sample_ns;
    int64_t wall_ns;
    size_t pauses_seen;
    size_t samples;
    bool whole; /* the measure phase has ended */
    json_t *warnings;
    json_t *deadlocks; /* of the result */
    size_t deadlock_count;
    struct sim_capture *capture; /* capture/capture.h; NULL: none */
    char *line;                  /* a line that is being written */
    size_t line_length;
    FILE *writer;
};

#endif
