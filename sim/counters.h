#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include "sim/model.h"

/* The catalogue's row of a column whose name is a pattern ("port#_tx_bytes"). */
const struct counter *counters_row(const char *pattern);

/* Name the columns of all hosts; -1 when memory ran out. */
int counters_build(struct sim *sim);

/* A port's counters as they are now, pauses that last included. */
void counters_of(const struct sim *sim, uint32_t port, struct priority_counters counters[SIM_PRIORITIES]);

#endif
