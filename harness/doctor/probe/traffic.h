/*
 * The traffic that probes send: scenarios as a user could write them, without expectations. In a lab of real
 * hosts they have no settings; simulated hosts have those that the scenario gives them.
 */
#ifndef HARNESS_DOCTOR_TRAFFIC_H
#define HARNESS_DOCTOR_TRAFFIC_H

#include "harness/plan/cell.h"

/* Small traffic of the cell's flows, one for each direction, priority and traffic class; without a scenario
 * (cell NULL) a flow each way between hosts that are linked. NULL: there is nothing to send. */
json_t *probe_small_traffic(const struct cell *cell, const struct lab *lab, struct error *e);
/* Two hosts send to a third one as fast as they can, with the priority and the traffic class of the first
 * flow of the small traffic. json_null(): there are no three hosts that reach each other. */
json_t *probe_incast_traffic(const struct cell *cell, const struct lab *lab, struct error *e);

#endif
