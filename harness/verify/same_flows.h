/* Flows that are the same but for the interface: a packet's way through the ports of a capture. */
#ifndef HARNESS_VERIFY_SAME_FLOWS_H
#define HARNESS_VERIFY_SAME_FLOWS_H

#include "harness/verify/flows.h"

/* Zeros at first. */
struct same_flows {
    uint32_t *first; /* of each, open addressing, index + 1 */
    uint32_t table_size, used;
};

/* The first of all flows that are the same as this one; itself if it is new, or there is no memory. To be asked once for each flow. */
uint32_t same_flows_first(struct same_flows *s, const struct flows *flows, uint32_t flow);
void same_flows_free(struct same_flows *s);

#endif
