/* A simulated lab during a run: what the driver's files share. */
#ifndef HARNESS_LABS_SIM_LAB_H
#define HARNESS_LABS_SIM_LAB_H

#include "harness/labs/driver.h"
#include "harness/labs/sim/sim_config.h"
#include "lib/statistics/histogram.h"

#define PAUSE_CAPACITY (1u << 20)

struct sim_lab {
    const struct lab_run *run;
    struct sim_setup setup;
    struct sim *sim;
    uint64_t needed_bytes, sample_bytes; /* memory; what a sample of all listed roles takes at least */
    bool started;                        /* the run */
    int64_t measure_start_ns, measure_end_ns, end_ns; /* of the phases */
    int64_t now_ns, looked_ns;                        /* for signals, on the monotonic clock */
    bool whole;                                       /* the measure phase has ended */
    json_t *warnings;

    /* samples.c */
    struct sim_series *series; /* by role */
    int64_t *values;           /* of one role */
    int64_t next_sample_ns, last_sample_ns;
    size_t samples, pauses_seen;

    /* flows.c */
    struct flow_state *flows;
    int64_t next_interval_ns, interval_ns, interval_start_ns;

    struct sim_capture *capture; /* capture.c; NULL: none */

    /* results.c */
    int64_t *held_ps[2]; /* results_held_times at the measure phase's start (NULL: the run's) and end */
    json_t *deadlocks;
    size_t deadlock_count;
    int64_t wall_ns;
};

#endif
