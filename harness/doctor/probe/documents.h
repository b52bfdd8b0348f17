/* The scenarios that a probe runs: documents as a user could write them, without expectations. In a lab of real hosts they have no settings;
 * simulated hosts have those that the scenario gives them. */
#ifndef HARNESS_PROBE_DOCUMENTS_H
#define HARNESS_PROBE_DOCUMENTS_H

#include "harness/plan/cell.h"

/* Small traffic of the cell's flows, one for each direction, priority and traffic class; without a scenario (cell NULL) a flow each way
 * between hosts that are linked. NULL: there is nothing to send. */
json_t *probe_flows_document(const struct cell *cell, const struct lab *lab, struct error *e);
/* Two hosts send to a third one as fast as they can, with the priority and the traffic class of the first flow of `small`, the document above. json_null(): there are no three hosts that
 * reach each other. */
json_t *probe_incast_document(const struct cell *cell, const struct lab *lab, const json_t *small,
                              struct error *e);

#endif
