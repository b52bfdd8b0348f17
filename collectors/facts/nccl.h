/* The NCCL settings that follow from a host's facts. */
#ifndef COLLECTORS_NCCL_H
#define COLLECTORS_NCCL_H

#include "lib/error.h"
#include "lib/text.h"
#include <jansson.h>

/* Shell lines: for each setting a comment with the reason, then the export. For these NICs (none: all NICs
 * with an RDMA device and an address). */
int nccl_environment(const json_t *facts, const char *const *netdevs, size_t netdev_count, struct text *out,
                     struct error *e);

#endif
