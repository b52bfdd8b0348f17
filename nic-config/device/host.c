#include "nic-config/device/host.h"

#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct netlink *open_once(struct netlink **n, int family, struct error *e)
{
    if (!*n)
        *n = netlink_open(family, e);
    return *n;
}

struct netlink *host_route(struct host *host, struct error *e)
{
    return open_once(&host->route, NETLINK_ROUTE, e);
}

struct netlink *host_rdma(struct host *host, struct error *e)
{
    return open_once(&host->rdma, NETLINK_RDMA, e);
}

struct netlink *host_family(struct host *host, const char *name, uint16_t *family, struct error *e)
{
    uint16_t *known = strcmp(name, "ethtool") == 0 ? &host->ethtool_family : &host->devlink_family;
    if (!open_once(&host->generic, NETLINK_GENERIC, e))
        return NULL;
    if (*known == 0 && netlink_family(host->generic, name, known, e) != 0)
        return NULL;
    *family = *known;
    return host->generic;
}

void host_close(struct host *host)
{
    netlink_close(host->route);
    netlink_close(host->generic);
    netlink_close(host->rdma);
    host->route = host->generic = host->rdma = NULL;
}

char *host_path(const struct host *host, const char *format, ...)
{
    char *tail = NULL, *path = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&tail, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    if (asprintf(&path, "%s%s", host->root, tail) < 0)
        path = NULL;
    free(tail);
    return path;
}

/* ---- changes */

int host_change(struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data, const char *what,
                int *number, struct error *e)
{
    int result = netlink_call(n, request, each, data, e);
    if (number)
        *number = netlink_errno(n);
    return result == 0 ? 0 : error_prefix(e, "%s", what);
}
