#include "nic-config/device/host.h"

#include "lib/files.h"
#include <errno.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

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

/* The error number with which this write is to fail; 0: execute it. */
static int ask_fault(struct fault *fault)
{
    fault->written++;
    return fault->at == fault->written ? fault->error : 0;
}

static void die_if_asked(const struct fault *fault)
{
    if (fault->at == fault->written && fault->error == 0)
        raise(SIGKILL);
}

int host_change(struct host *host, struct netlink *n, struct nlmsghdr *request, mnl_cb_t each, void *data,
                const char *what, int *number, struct error *e)
{
    int asked = ask_fault(&host->fault);
    if (number)
        *number = asked;
    if (asked != 0)
        return error_set_errno(e, asked, "%s", what);
    int result = netlink_call(n, request, each, data, e);
    if (number)
        *number = netlink_errno(n);
    die_if_asked(&host->fault);
    return result == 0 ? 0 : error_prefix(e, "%s", what);
}

int host_change_file(struct host *host, const char *path, const char *value, struct error *e)
{
    int asked = ask_fault(&host->fault);
    if (asked != 0)
        return error_set_errno(e, asked, "writing \"%s\" to %s", value, path);
    int result = files_write(path, value, e);
    die_if_asked(&host->fault);
    return result;
}

int host_change_ioctl(struct host *host, int fd, unsigned long request, void *argument, const char *what,
                      struct error *e)
{
    int asked = ask_fault(&host->fault);
    if (asked != 0)
        return error_set_errno(e, asked, "%s", what);
    int result = ioctl(fd, request, argument), number = errno;
    die_if_asked(&host->fault);
    return result == 0 ? 0 : error_set_errno(e, number, "%s", what);
}
