#include "harness/labs/hosts/capture/merge.h"

#include "lib/packets/capture.h"
#include "lib/packets/capture_read.h"
#include "lib/packets/pcapng_write.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDRESSES_BYTES 12 /* of an Ethernet header: destination, source */

/* A pcap that is read, and its next frame. */
struct source {
    struct capture_reader *reader;
    struct capture_packet packet; /* as the port sent or received it */
    bool ended;
    int64_t last_ns; /* of its last frame; by the run's clock, as all times here */
};

static void end(struct merge_port *port, struct source *s, const char *why)
{
    s->ended = true;
    if (why)
        text_add(&port->lacks, "%s", why);
}

/* The frame of the port within what was captured. false: it is none, or none of the time. */
static bool take(const struct merge *m, const struct merge_port *port, struct capture_packet *p)
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

static void advance(const struct merge *m, struct merge_port *port, struct source *s)
{
    struct error e;
    int got;
    while ((got = capture_read_next(s->reader, &s->packet, &e)) > 0)
        if (take(m, port, &s->packet)) {
            /* a clock that was set back: the order within a port is that of its frames */
            s->packet.time_ns = s->packet.time_ns > s->last_ns ? s->packet.time_ns : s->last_ns;
            s->last_ns = s->packet.time_ns;
            return;
        }
    end(port, s, got < 0 ? e.text : capture_read_cut(s->reader));
}

/* A capturer that sent nothing at all has seen nothing, or was stopped before. */
static void begin(const struct merge *m, struct merge_port *port, struct source *s)
{
    struct error e;
    off_t bytes = lseek(port->fd, 0, SEEK_END);
    s->last_ns = -1;
    if (bytes <= 0 || lseek(port->fd, 0, SEEK_SET) != 0)
        end(port, s, "nothing came from its capturer");
    else if (!(s->reader = capture_read_of(port->fd, "its capturer's pcap", &e)))
        end(port, s, e.text);
    else
        advance(m, port, s);
}

/* Of the earliest frame; the count where there is none. */
static size_t earliest(const struct merge *m, const struct source *sources)
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

/* A pcap that was cut at its limit ends the file: what other ports have beyond it would be without what this one saw. */
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
    while (!is_cut(m, sources) && (i = earliest(m, sources)) < m->count) {
        struct merge_port *port = &m->ports[i];
        if (!write_frame(file, port, (uint32_t)i, &sources[i].packet)) {
            m->left_out_ns = sources[i].packet.time_ns;
            return pcapng_check(file, e);
        }
        port->frames++;
        m->frames++;
        advance(m, port, &sources[i]);
    }
    return 0;
}

static int write_file(struct merge *m, struct source *sources, struct pcapng_writer *file, struct error *e)
{
    for (size_t i = 0; i < m->count; i++)
        if (pcapng_interface(file, m->ports[i].name, m->ports[i].address, 0, m->snap_bytes, e) != 0)
            return -1;
    for (size_t i = 0; i < m->count; i++)
        begin(m, &m->ports[i], &sources[i]);
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
    struct source *sources = calloc(m->count + 1, sizeof *sources);
    m->left_out_ns = -1;
    if (!sources)
        return error_set(e, "out of memory");
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
