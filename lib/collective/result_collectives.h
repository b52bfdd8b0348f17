/* The collectives of a result (docs/result.md): their values by the names that expressions use, and the paths
 * of NCCL's channels. */
#ifndef LIB_RESULT_COLLECTIVES_H
#define LIB_RESULT_COLLECTIVES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Channels by what they go through. Each direction is a channel of its own here, as NCCL prints it. */
enum nccl_path {
    NCCL_GDRDMA,  /* a NIC that reads and writes GPU memory: NET/IB/0/GDRDMA */
    NCCL_IB,      /* RDMA through host memory: NET/IB/0 */
    NCCL_SOCKET,  /* TCP: NET/Socket/0 */
    NCCL_NET,     /* a network plugin, through host memory */
    NCCL_COLLNET, /* the network reduces: COLLNET/SHARP/0 */
    NCCL_P2P,     /* within a host: from GPU to GPU */
    NCCL_SHM,     /* within a host: through host memory */
    NCCL_PATHS
};
extern const char *const nccl_path_names[]; /* "gdrdma", ..., keys of "channels" */

/* The i-th value that collectives may have, NULL after the last: its name, its unit ("ns", "GB/s" or ""), and
 * words for tables. */
const char *result_collective_name(size_t i, const char **unit, const char **words);
/* The value of one; false if it has none: it did not end, it was not checked, or NCCL said nothing of
 * channels. */
bool result_collective_value(const json_t *collective, const char *name, double *value);

#endif
