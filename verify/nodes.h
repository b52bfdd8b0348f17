/* Interfaces named NODE:PORT, as those of simulated runs, are ports of one node. */
#ifndef VERIFY_NODES_H
#define VERIFY_NODES_H

#include "verify/checker.h"

#define NODES_NONE UINT32_MAX

/* The first interface of the same node; NODES_NONE: the interface has no name. It looks at all that come before. */
uint32_t nodes_of(const struct verify_context *c, uint32_t interface);

#endif
