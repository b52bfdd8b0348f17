/* Flows that wait for other flows (a flow's "after"). */
#ifndef LIB_FLOW_ORDER_H
#define LIB_FLOW_ORDER_H

#include "lib/formats/flow.h"

/* Do the flows (struct scenario_flow) wait for flows that there are, that end, and whose end their sender sees? And does each of them begin at
 * some time? */
int flow_order_check(const struct list_of *flows, struct error *e);

/* Each wait of each flow, in order: the index of the flow that is waited for. The caller frees; NULL: out of memory. Only after the check. */
size_t *flow_order_indices(const struct list_of *flows, size_t *count);

#endif
