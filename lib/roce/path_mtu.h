/* What fits into a packet of RoCE: the path MTU of InfiniBand. */
#ifndef LIB_ROCE_PATH_MTU_H
#define LIB_ROCE_PATH_MTU_H

#include <stdint.h>

/* The MTU of a link that says none. */
#define ROCE_LINK_MTU_BYTES 1500

/* The largest of 256..4096 that fits a link MTU with RoCEv2's headers (linux include/rdma/ib_addr.h,
 * iboe_get_mtu); 0: none does. */
int32_t roce_path_mtu(int64_t link_mtu_bytes);

#endif
