/* Interfaces named NODE:PORT, as those of simulated runs, are ports of one node. */
#ifndef HARNESS_VERIFY_NODES_H
#define HARNESS_VERIFY_NODES_H

#include "harness/verify/checker.h"

#define NODES_NONE UINT32_MAX

/* The first interface of the same node; NODES_NONE: the interface has no name. It looks at all that come before. */
uint32_t nodes_of(const struct verify_context *c, uint32_t interface);

#endif
