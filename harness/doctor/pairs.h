/* The flows of traffic patterns in simulated labs, as far as the settings of their ends differ: in a lab of real hosts the plan has made
 * flows of all patterns. */
#ifndef HARNESS_PREFLIGHT_PAIRS_H
#define HARNESS_PREFLIGHT_PAIRS_H

#include "harness/plan/plan.h"

/* The scenario's flows, and after them a flow for each pair of settings that a pattern's sender and receiver have: name, ends and priority.
 * Free flows->items alone: the rest is the cell's. On error they are the flows that were found. */
int pairs_flows(const struct cell *cell, struct list_of *flows, struct error *e);

#endif
