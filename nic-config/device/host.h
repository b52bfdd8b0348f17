/* The machine that nic-config runs on: its netlink sockets, its trees of files. */
#ifndef NIC_CONFIG_HOST_H
#define NIC_CONFIG_HOST_H

#include "lib/error.h"
#include "lib/kernel/netlink.h"
#include <stdbool.h>

struct host {
    const char *root;                       /* "" or the folder that holds sys */
    struct netlink *route, *generic, *rdma; /* opened when first needed */
    uint16_t ethtool_family, devlink_family;
};

/* Sockets, opened at the first call; NULL with a sentence. */
struct netlink *host_route(struct host *host, struct error *e);
struct netlink *host_rdma(struct host *host, struct error *e);
/* The generic netlink socket and the number of a family ("ethtool", "devlink"). */
struct netlink *host_family(struct host *host, const char *name, uint16_t *family, struct error *e);
void host_close(struct host *host);

/* Below the root: "%s/sys/class/net/%s/...". The caller frees; NULL when memory ran out. */
char *host_path(const struct host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A request that changes the machine. -1 with a sentence that begins with `what`; *number (may be NULL) is the error number. */
int host_change(struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data, const char *what,
                int *number, struct error *e);

#endif
