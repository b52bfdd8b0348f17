/*
 * ECN code points of received IPv4 packets (net/ipv4/proc.c). They belong to the network namespace, not to one interface;
 * those of IPv6 are the interface's, in source_link.c. /proc/net/netstat consists of pairs of lines: "IpExt: InNoRoutes
 * InTruncatedPkts ..." and "IpExt: 0 0 ...".
 */
#include "collectors/source.h"

#include "collectors/ip_text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/proc/net/netstat"

static const char *const names[] = {"IpExtInNoECTPkts", "IpExtInECT1Pkts", "IpExtInECT0Pkts", "IpExtInCEPkts",
                                    NULL};

struct ip {
    int descriptor;
    char buffer[32768];
};

static void ip_close(void *state)
{
    struct ip *s = state;
    if (s != NULL && s->descriptor != -1)
        close(s->descriptor);
    free(s);
}

static enum source_outcome ip_read(void *state, int64_t *values, struct error *e)
{
    struct ip *s = state;
    ssize_t length = pread(s->descriptor, s->buffer, sizeof(s->buffer), 0);
    if (length == -1) {
        error_set_errno(e, errno, "reading %s", FILE_NAME);
        return SOURCE_GONE;
    }
    ip_text_values(s->buffer, (size_t)length, names, values);
    return SOURCE_OK;
}

static int open_file(struct ip *s, const char *root, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s%s", root, FILE_NAME);
    s->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return s->descriptor != -1 ? 0 : error_set_errno(e, errno, "opening %s", path);
}

static int add_columns(struct column_set *columns, struct error *e)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (column_set_add(columns, names[i], e) == -1)
            return -1;
    return 0;
}

static void *ip_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct ip *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        error_set(e, "out of memory for IP counters");
        return NULL;
    }
    if (open_file(s, target->root, e) == 0 && add_columns(columns, e) == 0)
        return s;
    ip_close(s);
    return NULL;
}

const struct source_kind source_ip = {
    .name = "ip",
    .about = "ECN counters of IP",
    .open = ip_open,
    .read = ip_read,
    .close = ip_close,
};
