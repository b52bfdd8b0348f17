/*
 * The formats are those of src/transport/net.cc, p2p.cc, shm.cc and coll_net.cc of NCCL 2.12 to 2.28, behind
 * the beginning that src/debug.cc writes:
 *
 *     hostA:4711:4712 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA
 *     hostA:4711:4712 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1(3)/GDRDMA(PCI)/Shared
 *     hostA:4711:4712 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA/flush=None
 *     hostA:4711:4712 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/CUMEM/read
 *     hostA:4711:4712 [0] NCCL INFO CollNet 00/0 : 0 [receive] via COLLNET/SHARP/0/GDRDMA
 *
 * A warning also has the place in NCCL's source, and in newer versions the time before it, as 2.28.9 printed:
 *
 *     [2026-11-25 16:07:44] hostB:3173:3173 [0] misc/socket.cc:596 NCCL WARN socketStartConnect: connect to
 * 192.0.2.11<49285> failed : ...
 */
#include "harness/traffic/nccl_debug.h"

#include "lib/roce/completion.h"

#include <stdio.h>
#include <string.h>

#define LINE_MOST 1024 /* NCCL's own buffer */
#define DIGITS    "0123456789"
#define INFO      " NCCL INFO "
#define WARN      " NCCL WARN "

/* ---- parts of a line */

static bool skip(const char **at, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool skip_number(const char **at)
{
    size_t digits = strspn(*at, DIGITS);
    *at += digits;
    return digits > 0;
}

/* "0[1a000]": a rank, and its device or bus */
static bool skip_rank(const char **at)
{
    if (!skip_number(at) || !skip(at, "["))
        return false;
    *at += strspn(*at, DIGITS "abcdef");
    return skip(at, "]");
}

/* "00/0 : " */
static bool skip_place(const char **at)
{
    return skip_number(at) && (!skip(at, "/") || skip_number(at)) && skip(at, " : ");
}

static void skip_direction(const char **at)
{
    if (!skip(at, " [send]"))
        (void)skip(at, " [receive]");
}

/* "00/0 : 0[0] -> 1[0] [send] via " */
static bool skip_channel(const char **at)
{
    if (!skip_place(at) || !skip_rank(at) || !skip(at, " -> ") || !skip_rank(at))
        return false;
    skip_direction(at);
    return skip(at, " via ");
}

/* "00/0 : 0 [send] via " */
static bool skip_collnet(const char **at)
{
    if (!skip_place(at) || !skip_number(at))
        return false;
    skip_direction(at);
    return skip(at, " via ");
}

/* ---- the path */

/* "/flush=None": what newer versions say of where they receive */
static bool skip_flush(const char **at)
{
    if (!skip(at, "/flush="))
        return false;
    *at += strcspn(*at, "/ ");
    return true;
}

/* "IB/0/GDRDMA": the name of the network, its device, for which another rank may send, and how. */
static bool read_net(const char *at, enum nccl_path *path)
{
    const char *name = at;
    size_t length = strcspn(at, "/");
    at += length;
    if (!length || !skip(&at, "/") || !skip_number(&at))
        return false;
    if (skip(&at, "(") && (!skip_number(&at) || !skip(&at, ")")))
        return false;
    bool direct = skip(&at, "/GDRDMA");
    (void)skip(&at, "(PCI)");
    *path = direct                                           ? NCCL_GDRDMA
            : length == 6 && strncmp(name, "Socket", 6) == 0 ? NCCL_SOCKET
            : length >= 2 && strncmp(name, "IB", 2) == 0     ? NCCL_IB
                                                             : NCCL_NET;
    while (skip(&at, "/Shared") || skip_flush(&at))
        continue;
    return !*at;
}

static bool read_path(const char *at, enum nccl_path *path)
{
    if (skip(&at, "NET/"))
        return read_net(at, path);
    *path = skip(&at, "SHM") ? NCCL_SHM : NCCL_P2P;
    return *path == NCCL_SHM || skip(&at, "P2P/");
}

static bool read_channel(const char *at, enum nccl_path *path)
{
    if (skip(&at, "Channel "))
        return skip_channel(&at) && read_path(at, path);
    if (!skip(&at, "CollNet ") || !skip_collnet(&at) || !skip(&at, "COLLNET/") || !read_net(at, path))
        return false;
    *path = NCCL_COLLNET;
    return true;
}

/* ---- lines */

static void take_version(struct nccl_debug *debug, const char *at)
{
    size_t length = strcspn(at, " ");
    if (length && length < sizeof debug->version && strspn(at, DIGITS))
        snprintf(debug->version, sizeof debug->version, "%.*s", (int)length, at);
}

/* Flushes follow an error, and other ranks may have seen that. */
static void take_completion(struct nccl_debug *debug, const char *warning)
{
    int status, vendor;
    bool first = debug->failed_status == 0 || debug->failed_status == COMPLETION_FLUSHED;
    if (!first || !completion_read(warning, strlen(warning), &status, &vendor) ||
        (debug->failed_status && status == COMPLETION_FLUSHED))
        return;
    debug->failed_status = status;
    debug->failed_vendor = vendor;
}

/* The host is the first word behind the time, to its colon. */
static void take_warning(struct nccl_debug *debug, const char *line, const char *warning)
{
    size_t used = strlen(debug->warned), room = sizeof debug->warned - used;
    const char *host = line;
    if (*host == '[')
        host += strcspn(host, "]") + strspn(host + strcspn(host, "]"), "] ");
    size_t length = strcspn(host, ":");
    bool named = host + length < warning;
    int written = snprintf(debug->warned + used, room, "%s%.*s%s%s", used ? " | " : "",
                           named ? (int)length : 0, host, named ? ": " : "", warning + strlen(WARN));
    if (used && written >= 0 && (size_t)written >= room)
        debug->warned[used] = '\0'; /* not a part of one */
}

void nccl_debug_take(struct nccl_debug *debug, const char *line, size_t length)
{
    char text[LINE_MOST + 1];
    enum nccl_path path;
    while (length && (line[length - 1] == '\r' || line[length - 1] == ' '))
        length--;
    if (length > LINE_MOST || memchr(line, '\0', length))
        return;
    memcpy(text, line, length);
    text[length] = '\0';
    const char *at = strstr(text, INFO), *warning = strstr(text, WARN);
    if (warning && !at) {
        take_warning(debug, text, warning);
        take_completion(debug, warning);
    }
    at = at ? at + strlen(INFO) : text;
    if (skip(&at, "NCCL version "))
        take_version(debug, at);
    else if (at != text && read_channel(at, &path))
        debug->channels[path]++;
}

bool nccl_debug_is_message(const char *line, size_t length)
{
    return memmem(line, length, INFO, strlen(INFO)) || memmem(line, length, WARN, strlen(WARN));
}

/* ---- what was found */

const char *nccl_debug_path(const struct nccl_debug *debug)
{
    const char *found = NULL;
    bool any = false;
    for (size_t i = 0; i < NCCL_PATHS; i++) {
        any = any || debug->channels[i];
        if (!debug->channels[i] || i >= NCCL_P2P)
            continue;
        if (found)
            return "mixed";
        found = nccl_path_names[i];
    }
    return found ? found : any ? "none" : NULL;
}

json_t *nccl_debug_channels(const struct nccl_debug *debug)
{
    json_t *channels = json_object();
    for (size_t i = 0; i < NCCL_PATHS; i++)
        if (debug->channels[i])
            json_object_set_new(channels, nccl_path_names[i], json_integer((json_int_t)debug->channels[i]));
    return channels;
}
