/* The machine that nic-config runs on: its netlink sockets, its trees of files, and the one way to change
 * anything. */
#ifndef NIC_CONFIG_HOST_H
#define NIC_CONFIG_HOST_H

#include "lib/error.h"
#include "lib/kernel/netlink.h"
#include <stdbool.h>

/* For tests of recovery (--fault): the fate of one write. */
struct fault {
    int at;      /* the number of the write, from 1; 0: none */
    int error;   /* fail with this error number instead of writing; 0: write, then end by SIGKILL */
    int written; /* writes so far */
};

struct host {
    const char *root; /* "" or the folder that holds sys */
    struct fault fault;
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

/*
 * Every change of the machine is made by one of these functions, so that tests can make each of them fail.
 * They return -1 with an error that begins with `what`; *number (may be NULL) is the error number.
 */
int host_change(struct host *host, struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data,
                const char *what, int *number, struct error *e);
int host_change_file(struct host *host, const char *path, const char *value, struct error *e);
int host_change_ioctl(struct host *host, int fd, unsigned long request, void *argument, const char *what,
                      struct error *e);

#endif
