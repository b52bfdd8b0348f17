#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include "sim/model.h"

/* Name a host's columns; -1 when memory ran out. */
int counters_build(struct sim *sim, uint32_t host);

#endif
