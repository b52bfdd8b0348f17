/* Sampling at a steady pace: lines on standard output, or values for Prometheus. */
#ifndef COLLECTORS_SAMPLING_H
#define COLLECTORS_SAMPLING_H

#include "collectors/sources/source.h"

#define SAMPLING_MOST_NICS 64

struct sampling_plan {
    struct target targets[SAMPLING_MOST_NICS]; /* one for each NIC */
    size_t count_targets;
    bool named;      /* lines say which NIC they are of */
    uint32_t groups; /* bits by enum counter_group */
    int64_t every_ns;
    int64_t count;          /* samples; 0: until a signal arrives or the reader closes standard output */
    const char *prometheus; /* address to serve at instead of printing lines, or NULL */
    bool realtime;          /* real-time priority */
};

/* Sample until the plan is done, a signal arrives or the reader closes standard output: 0. Otherwise -1 with
 * an error. */
int sampling_run(const struct sampling_plan *plan, struct error *e);

#endif
