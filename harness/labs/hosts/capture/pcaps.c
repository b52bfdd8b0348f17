/* What capturers on hosts send, from its arrival to the one file of the run. */
#include "harness/labs/hosts/capture/pcaps.h"

#include "lib/packets/capture.h"
#include "lib/packets/capture_read.h"
#include "lib/packets/pcapng_write.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what arrives */

int spool_open(struct spool *s, const char *folder, int64_t limit_bytes, struct error *e)
{
    char *path = xasprintf("%s/.capture-XXXXXX", folder);
    *s = (struct spool){.fd = -1, .limit_bytes = limit_bytes, .drops = -1};
    s->fd = mkostemp(path, O_CLOEXEC);
    int result = s->fd < 0 || unlink(path) != 0 ? error_set_errno(e, errno, "capture: creating %s", path) : 0;
    free(path);
    return result;
}

int spool_write(struct spool *s, const char *bytes, size_t length, struct error *e)
{
    int64_t room = s->limit_bytes - s->bytes;
    s->full = s->full || (int64_t)length > room;
    size_t left = (int64_t)length > room ? (size_t)room : length;
    while (left > 0) {
        ssize_t written = write(s->fd, bytes, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_set_errno(e, written < 0 ? errno : ENOSPC, "capture: writing what a host captured");
        bytes += written;
        left -= (size_t)written;
        s->bytes += written;
    }
    return 0;
}

/* tcpdump(8): "listening on data0, ..."; at its end "3 packets dropped by kernel" and, if there are any,
 * "... by interface". */
void spool_read_message(struct spool *s, const char *line)
{
    int64_t count;
    char by[16];
    s->listening = s->listening || strstr(line, "listening on ");
    if (sscanf(line, "%" SCNd64 " packet%*[s ]dropped by %15s", &count, by) != 2 || count < 0)
        return;
    s->drops = s->drops < 0 ? 0 : s->drops;
    s->drops = count > INT64_MAX - s->drops ? INT64_MAX : s->drops + count;
}

void spool_close(struct spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* ---- one file, each port by its own clock */

#define ADDRESSES_BYTES 12 /* of an Ethernet header: destination, source */

/* A pcap that is read, and its next frame. */
struct source {
    struct capture_reader *reader;
    struct capture_packet packet; /* as the port sent or received it */
    bool ended;
    int64_t last_ns; /* of its last frame; by the run's clock, as all times here */
};

static void end_source(struct merge_port *port, struct source *s, const char *why)
{
    s->ended = true;
    if (why)
        text_add(&port->lacks, "%s", why);
}

/* The frame of the port within what was captured. false: it is not a frame, or not of this time. */
static bool select_frame(const struct merge *m, const struct merge_port *port, struct capture_packet *p)
{
    p->time_ns -= port->offset_ns;
    if (!p->timed || p->time_ns < m->from_ns || p->time_ns >= m->until_ns || p->time_ns < 0 ||
        p->captured < port->before + ADDRESSES_BYTES || p->original < p->captured)
        return false;
    p->bytes += port->before;
    p->captured -= port->before;
    p->original -= port->before;
    if (p->captured > m->snap_bytes)
        p->captured = m->snap_bytes;
    return true;
}

static void read_next_frame(const struct merge *m, struct merge_port *port, struct source *s)
{
    struct error e;
    int got;
    while ((got = capture_read_next(s->reader, &s->packet, &e)) > 0)
        if (select_frame(m, port, &s->packet)) {
            /* a clock that was set back: the order within a port is that of its frames */
            s->packet.time_ns = s->packet.time_ns > s->last_ns ? s->packet.time_ns : s->last_ns;
            s->last_ns = s->packet.time_ns;
            return;
        }
    end_source(port, s, got < 0 ? e.text : capture_read_cut(s->reader));
}

/* A capturer that sent nothing at all has seen nothing, or was stopped before. */
static void open_source(const struct merge *m, struct merge_port *port, struct source *s)
{
    struct error e;
    off_t bytes = lseek(port->fd, 0, SEEK_END);
    s->last_ns = -1;
    if (bytes <= 0 || lseek(port->fd, 0, SEEK_SET) != 0)
        end_source(port, s, "nothing came from its capturer");
    else if (!(s->reader = capture_read_of(port->fd, "its capturer's pcap", &e)))
        end_source(port, s, e.text);
    else
        read_next_frame(m, port, s);
}

/* The source of the earliest frame; the count where there is none. */
static size_t earliest_source(const struct merge *m, const struct source *sources)
{
    size_t best = m->count;
    for (size_t i = 0; i < m->count; i++)
        if (!sources[i].ended &&
            (best == m->count || sources[i].packet.time_ns < sources[best].packet.time_ns))
            best = i;
    return best;
}

static bool write_frame(struct pcapng_writer *file, const struct merge_port *port, uint32_t interface,
                        const struct capture_packet *from)
{
    bool sent = memcmp(from->bytes + ADDRESSES_BYTES / 2, port->address, sizeof port->address) == 0;
    struct pcapng_packet packet = {.interface = interface,
                                   .time_ns = from->time_ns,
                                   .direction = sent ? PCAPNG_SENT : PCAPNG_RECEIVED,
                                   .bytes = from->original,
                                   .captured_bytes = from->captured};
    uint8_t *at = pcapng_packet(file, &packet);
    if (at)
        memcpy(at, from->bytes, from->captured);
    return at;
}

/* A pcap that was cut at its limit ends the file: what other ports have beyond it would be without what
 * this one saw. */
static bool is_cut(struct merge *m, const struct source *sources)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->ports[i].full && sources[i].ended) {
            m->left_out_ns = sources[i].last_ns > m->from_ns ? sources[i].last_ns : m->from_ns;
            return true;
        }
    return false;
}

static int write_frames(struct merge *m, struct source *sources, struct pcapng_writer *file, struct error *e)
{
    size_t i;
    while (!is_cut(m, sources) && (i = earliest_source(m, sources)) < m->count) {
        struct merge_port *port = &m->ports[i];
        if (!write_frame(file, port, (uint32_t)i, &sources[i].packet)) {
            m->left_out_ns = sources[i].packet.time_ns;
            return pcapng_check(file, e);
        }
        port->frames++;
        m->frames++;
        read_next_frame(m, port, &sources[i]);
    }
    return 0;
}

static int write_file(struct merge *m, struct source *sources, struct pcapng_writer *file, struct error *e)
{
    for (size_t i = 0; i < m->count; i++)
        if (pcapng_interface(file, m->ports[i].name, m->ports[i].address, 0, m->snap_bytes, e) != 0)
            return -1;
    for (size_t i = 0; i < m->count; i++)
        open_source(m, &m->ports[i], &sources[i]);
    if (write_frames(m, sources, file, e) != 0)
        return -1;
    for (size_t i = 0; i < m->count; i++)
        if (m->ports[i].drops > 0 && sources[i].last_ns >= 0)
            pcapng_drops(file, (uint32_t)i, sources[i].last_ns, (uint64_t)m->ports[i].drops);
    return 0;
}

int merge_write(struct merge *m, struct error *e)
{
    struct pcapng_writer file = {.fd = -1};
    struct error later;
    struct source *sources = xcalloc(m->count + 1, sizeof *sources);
    m->left_out_ns = -1;
    int result = pcapng_open(&file, m->folder, CAPTURE_FILE, "harness " HARNESS_VERSION, m->comment,
                             m->limit_bytes, e);
    if (result == 0)
        result = write_file(m, sources, &file, e);
    m->bytes = file.bytes;
    if (pcapng_close(&file, &later) != 0 && result == 0)
        result = error_set(e, "%s", later.text);
    for (size_t i = 0; i < m->count; i++)
        capture_read_free(sources[i].reader);
    free(sources);
    return result == 0 ? 0 : error_prefix(e, "capture");
}
