/*
 * Driver statistics: ETHTOOL_GSTATS, the primary source of per-priority pause counters (there is no netlink
 * equivalent).
 *
 * Names are read with ETHTOOL_GSTRINGS, not as netlink string sets: a netlink attribute holds at most 64 KiB,
 * which a NIC with many queues exceeds.
 *
 * On mlx5 the strings appear and disappear with PFC, and moving PFC from one priority to another keeps their
 * number. So the strings are read again when the number changes and whenever the sampler asks for
 * verification.
 */
#include "collectors/sources/source.h"

#include <ctype.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct ethtool {
    int socket;
    char netdev[IFNAMSIZ];
    uint32_t count;
    char *names;                 /* count * ETH_GSTRING_LEN, as the kernel gave them */
    struct ethtool_stats *stats; /* in a mapping of `mapped` bytes that ends with a guard page */
    size_t mapped;
};

/* One ethtool request; -1 with errno. */
static int request(const struct ethtool *s, void *data)
{
    struct ifreq r = {.ifr_data = data};
    memcpy(r.ifr_name, s->netdev, sizeof r.ifr_name);
    return ioctl(s->socket, SIOCETHTOOL, &r);
}

/* The kernel writes as many values as the driver has at that moment, regardless of the announced buffer size
 * (net/ethtool/ioctl.c, ethtool_get_stats). The buffer ends with a page that cannot be written: if the set
 * has grown meanwhile, the result is EFAULT instead of overwritten memory. */
static int map_values(struct ethtool *s, struct error *e)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = sizeof *s->stats + ((size_t)s->count + LINES_MAX_COLUMNS) * sizeof(uint64_t);
    room = (room + page - 1) / page * page;
    void *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return error_set_errno(e, errno, "no memory for %u statistics", s->count);
    s->stats = memory;
    s->mapped = room + page;
    if (mprotect((char *)memory + room, page, PROT_NONE) != 0)
        return error_set_errno(e, errno, "no guard page for %u statistics", s->count);
    return 0;
}

static int count_strings(const struct ethtool *s, uint32_t *count, struct error *e)
{
    /* The answer ends with the count of the one requested set. */
    char answer[sizeof(struct ethtool_sset_info) + sizeof *count] __attribute__((aligned(8))) = {0};
    struct ethtool_sset_info *info = (struct ethtool_sset_info *)answer;
    info->cmd = ETHTOOL_GSSET_INFO;
    info->sset_mask = 1ULL << ETH_SS_STATS;
    if (request(s, info) == -1)
        return error_set_errno(e, errno, "%s: cannot ask how many driver statistics there are", s->netdev);
    *count = info->sset_mask != 0 ? info->data[0] : 0;
    if (*count == 0)
        return error_set(e, "the driver of %s has no statistics", s->netdev);
    /* Some drivers have many thousands with many queues; all are read, and the requested groups are shown. */
    if (*count > (1U << 20))
        return error_set(e, "the driver of %s reports %u statistics, which is not plausible", s->netdev,
                         *count);
    return 0;
}

/* The names as a new block of *count strings of ETH_GSTRING_LEN bytes each. */
static char *read_names(const struct ethtool *s, uint32_t *count, struct error *e)
{
    *count = 0;
    if (count_strings(s, count, e) == -1)
        return NULL;
    /* As with values, the kernel may write more than announced: allocate twice the size. */
    size_t room = sizeof(struct ethtool_gstrings) + 2 * ((size_t)*count + 512) * ETH_GSTRING_LEN;
    struct ethtool_gstrings *strings = calloc(1, room);
    if (!strings) {
        error_set(e, "out of memory for %u names of statistics", *count);
        return NULL;
    }
    *strings = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = *count};
    if (request(s, strings) == -1) {
        error_set_errno(e, errno, "%s: cannot read the names of the driver statistics", s->netdev);
        free(strings);
        return NULL;
    }
    if (strings->len < *count)
        *count = strings->len;
    memmove(strings, strings->data, (size_t)*count * ETH_GSTRING_LEN);
    return (char *)strings;
}

/* A driver's name: up to 31 characters, perhaps padded, perhaps empty (then the value keeps its place but is
 * not shown). */
static void clean_name(const char *raw, uint32_t index, char *name)
{
    size_t length = 0;
    while (length < ETH_GSTRING_LEN - 1 && raw[length] != '\0') {
        unsigned char c = (unsigned char)raw[length];
        name[length++] = (char)(isgraph(c) && c < 0x80 && c != '"' && c != '\\' ? c : '_');
    }
    while (length > 0 && name[length - 1] == '_' && raw[length - 1] == ' ')
        length--;
    name[length] = '\0';
    if (length == 0)
        snprintf(name, ETH_GSTRING_LEN, "unnamed_%u", index);
}

static int add_columns(const struct ethtool *s, struct column_set *columns, struct error *e)
{
    for (uint32_t i = 0; i < s->count; i++) {
        char name[ETH_GSTRING_LEN];
        clean_name(s->names + (size_t)i * ETH_GSTRING_LEN, i, name);
        if (column_set_add(columns, name, e) == -1)
            return error_prefix(e, "%s, driver statistics", s->netdev);
    }
    return 0;
}

static void ethtool_close(void *state)
{
    struct ethtool *s = state;
    if (!s)
        return;
    if (s->stats)
        munmap(s->stats, s->mapped);
    if (s->socket >= 0)
        close(s->socket);
    free(s->names);
    free(s);
}

static void *ethtool_open(const struct target *target, struct column_set *columns, struct error *e)
{
    struct ethtool *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, "out of memory for driver statistics");
        return NULL;
    }
    memcpy(s->netdev, target->netdev, sizeof s->netdev);
    s->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s->socket == -1) {
        error_set_errno(e, errno, "cannot open a socket for ethtool requests");
    } else if ((s->names = read_names(s, &s->count, e)) && map_values(s, e) == 0 &&
               add_columns(s, columns, e) == 0) {
        return s;
    }
    ethtool_close(s);
    return NULL;
}

static enum source_outcome ethtool_read(void *state, int64_t *values, struct error *e)
{
    struct ethtool *s = state;
    s->stats->cmd = ETHTOOL_GSTATS;
    s->stats->n_stats = s->count;
    if (request(s, s->stats) == -1) {
        if (errno == EFAULT)
            return SOURCE_CHANGED;
        error_set_errno(e, errno, "%s: cannot read the driver statistics", s->netdev);
        return SOURCE_GONE;
    }
    if (s->stats->n_stats != s->count)
        return SOURCE_CHANGED;
    for (uint32_t i = 0; i < s->count; i++)
        values[i] = source_value(s->stats->data[i]);
    return SOURCE_OK;
}

static enum source_outcome ethtool_verify(void *state, struct error *e)
{
    struct ethtool *s = state;
    uint32_t count;
    char *names = read_names(s, &count, e);
    if (!names)
        return SOURCE_GONE;
    bool same = count == s->count && memcmp(names, s->names, (size_t)count * ETH_GSTRING_LEN) == 0;
    free(names);
    return same ? SOURCE_OK : SOURCE_CHANGED;
}

const struct source_kind source_ethtool = {
    .name = "ethtool",
    .about = "driver statistics",
    .needs_netdev = true,
    .open = ethtool_open,
    .read = ethtool_read,
    .verify = ethtool_verify,
    .close = ethtool_close,
};
