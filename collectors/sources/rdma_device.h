/* RDMA devices and their ports, over RDMA netlink. */
#ifndef COLLECTORS_RDMA_DEVICE_H
#define COLLECTORS_RDMA_DEVICE_H

#include "lib/kernel/netlink.h"
#include <stdint.h>

struct rdma_port {
    uint32_t device_index;
    uint32_t port;
    char device[64];
    char netdev[16];
    uint32_t netdev_index; /* 0: none */
    char firmware[64];
    uint8_t state; /* IB_PORT_ACTIVE is 4 */
};

struct rdma_ports {
    struct rdma_port *items;
    size_t count;
};

/* Every port of every RDMA device. */
int rdma_ports_read(struct netlink *n, struct rdma_ports *ports, struct error *e);
void rdma_ports_free(struct rdma_ports *ports);

/* The port of a device by name, or (name "") the first one whose network interface has this index. NULL with
 * a sentence that NULL with a sentence that */
const struct rdma_port *rdma_ports_find(const struct rdma_ports *ports, const char *device, uint32_t port,
                                        uint32_t netdev_index, struct error *e);

#endif
