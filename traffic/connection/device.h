/* Which RDMA device, port and GID a flow uses. */
#ifndef TRAFFIC_DEVICE_H
#define TRAFFIC_DEVICE_H

#include "lib/error.h"
#include "traffic/job.h"
#include <infiniband/verbs.h>
#include <netinet/in.h>

#define GID_TEXT_MAX INET6_ADDRSTRLEN

struct device {
    struct ibv_context **list; /* all contexts, from rdma_cm or opened here */
    bool list_from_rdma_cm;
    size_t list_count;

    struct ibv_context *context; /* the chosen one */
    const char *name;
    uint8_t port;
    uint16_t lid;
    bool ethernet;
    int mtu_bytes; /* active MTU */
    int gid_index;
    union ibv_gid gid;
    struct ibv_device_attr attributes;
};

/* Open the device that the options name, or the one whose GID is the address (options, else
 * `control_address`: this side's address of the control connection), or the only one with an active port. */
int rdma_device_open(struct device *device, const struct local_options *options, int connection,
                     const char *control_address, struct error *e);
void rdma_device_close(struct device *device);
/* Is it a virtual ConnectX (docs/virtual-connectx.md)? Its board's name says so. */
bool rdma_device_virtual(const struct device *device);

/* Is it an mlx5 NIC, whose vendor errors are explained (lib/roce/completion.h)? */
bool rdma_device_mlx5(const struct device *device);

/* "10.0.0.1" for an IPv4-mapped GID, else as an IPv6 address. */
char *gid_text(const union ibv_gid *gid, char *text, size_t size);
int gid_parse(const char *text, union ibv_gid *gid, struct error *e);
enum ibv_mtu mtu_code(int bytes); /* 0 if there is no such path MTU */
int mtu_bytes(enum ibv_mtu mtu);

#endif
