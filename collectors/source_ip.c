/*
 * What IP counted: ECN code points of received packets (net/ipv4/proc.c, net/ipv6/proc.c) and UDP's losses, which are those of Soft-RoCE.
 * They belong to the network namespace, not to one interface.
 *
 * /proc/net/netstat and /proc/net/snmp are pairs of lines: "IpExt: InNoRoutes InTruncatedPkts ..." and "IpExt: 0 0 ...".
 * /proc/net/snmp6 has one name and value a line.
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

static const char *const pair_names[] = {
    "IpExtInNoECTPkts", "IpExtInECT1Pkts", "IpExtInECT0Pkts", "IpExtInCEPkts", NULL,
};
static const char *const udp_names[] = {"UdpInDatagrams", "UdpInErrors", "UdpRcvbufErrors", "UdpSndbufErrors",
                                        NULL};
static const char *const six_names[] = {"Ip6InNoECTPkts", "Ip6InECT1Pkts", "Ip6InECT0Pkts", "Ip6InCEPkts",
                                        NULL};

static const struct {
    const char *path;
    enum ip_text_layout layout;
    const char *const *names;
} files[] = {
    {"/proc/net/netstat", IP_TEXT_PAIRS, pair_names},
    {"/proc/net/snmp", IP_TEXT_PAIRS, udp_names},
    {"/proc/net/snmp6", IP_TEXT_LINES, six_names},
};
#define FILES (sizeof(files) / sizeof(files[0]))

struct ip {
    int descriptors[FILES];
    size_t column[FILES]; /* of the file's first name */
    char buffer[32768];
};

static void ip_close(void *state)
{
    struct ip *s = state;
    if (s == NULL)
        return;
    for (size_t i = 0; i < FILES; i++)
        if (s->descriptors[i] != -1)
            close(s->descriptors[i]);
    free(s);
}

static int read_file(struct ip *s, size_t i, int64_t *values, struct error *e)
{
    ssize_t length = pread(s->descriptors[i], s->buffer, sizeof(s->buffer), 0);
    if (length == -1)
        return error_set_errno(e, errno, "reading %s", files[i].path);
    ip_text_values(files[i].layout, s->buffer, (size_t)length, files[i].names, values);
    return 0;
}

static enum source_outcome ip_read(void *state, int64_t *values, struct error *e)
{
    struct ip *s = state;
    for (size_t i = 0; i < FILES; i++)
        if (s->descriptors[i] != -1 && read_file(s, i, values + s->column[i], e) == -1)
            return SOURCE_GONE;
    return SOURCE_OK;
}

static int open_file(struct ip *s, const char *root, size_t i, struct column_set *columns, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s%s", root, files[i].path);
    s->descriptors[i] = open(path, O_RDONLY | O_CLOEXEC);
    s->column[i] = columns->count;
    if (s->descriptors[i] == -1)
        return 0;
    for (const char *const *name = files[i].names; *name != NULL; name++)
        if (column_set_add(columns, *name, e) == -1)
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
    memset(s->descriptors, -1, sizeof(s->descriptors));
    int result = 0;
    for (size_t i = 0; result == 0 && i < FILES; i++)
        result = open_file(s, target->root, i, columns, e);
    if (result == 0 && columns->count == 0)
        result =
            error_set(e, "none of %s, %s and %s can be opened", files[0].path, files[1].path, files[2].path);
    if (result == 0)
        return s;
    ip_close(s);
    return NULL;
}

const struct source_kind source_ip = {
    .name = "ip",
    .about = "ECN and UDP counters of IP",
    .open = ip_open,
    .read = ip_read,
    .close = ip_close,
};
