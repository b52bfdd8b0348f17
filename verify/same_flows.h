/* Flows that are the same but for the interface: a packet's way through the ports of a capture. */
#ifndef VERIFY_SAME_FLOWS_H
#define VERIFY_SAME_FLOWS_H

#include "verify/checker.h"

/* Zeros at first. */
struct same_flows {
    uint32_t *first; /* of each, open addressing, index + 1 */
    uint32_t table_size, used;
    struct states chains; /* by flow: the first of all that are the same, and the next one */
};

/* The first of all flows that are the same as this one; itself if it is new, or there is no memory. */
uint32_t same_flows_first(struct same_flows *s, const struct flows *flows, uint32_t flow);
/* Of a first flow, or of one that this gave: the next that is the same. FLOW_NONE: there is none. */
uint32_t same_flows_next(const struct same_flows *s, uint32_t flow);
void same_flows_free(struct same_flows *s);

#endif
