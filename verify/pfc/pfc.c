/*
 * PFC (IEEE 802.1Q, 36; 802.3, annex 31B) at each port of a capture: does it send frames of a paused priority, are pauses repeated before
 * they run out, are only lossless priorities paused, do the frames that come after XOFF fit, does a pause never end, and is too much paused?
 */
#include "verify/pfc/pfc.h"

#include "lib/roce/thresholds.h"
#include <stdlib.h>

#define KIND_PAUSED   "sent while paused"
#define KIND_REFRESH  "pause ran out"
#define KIND_PRIORITY "pause of another priority"
#define KIND_GLOBAL   "pause of all priorities"
#define KIND_HEADROOM "more than the headroom"
#define KIND_STORM    "pause storm"

struct pfcs {
    struct states ports; /* struct pfc_port, by interface */
    struct rings rings;
    uint64_t frames, judged, paused, kept, blind, unrated, unknown;
    bool unset; /* PFC frames at ports whose lossless priorities are not set */
};

/*
 * Bit times within which a port stops after a pause frame (IEEE 802.3, 31B.3.7, whose times 802.1Q, 36.1.3.3, takes for PFC). For rates
 * between two rows, and above the last, the next or last row holds.
 */
static int64_t response_bits(int64_t rate_bps)
{
    static const struct {
        int64_t gbps, bits;
    } rows[] = {{1, 1024}, {10, 30720}, {25, 40960}, {40, 60416}, {100, 201728}, {400, 463360}};
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows - 1 && rate_bps > rows[i].gbps * 1000000000)
        i++;
    return rows[i].bits;
}

static int64_t bits_ns(const struct verify_context *c, int64_t bits)
{
    return (int64_t)((double)bits * 1e9 / (double)c->rate_bps);
}

/* ---- settings */

/* The headroom that the mlx5 driver keeps in the priority's receive buffer. */
static int64_t headroom_of(const struct settings *s, int64_t rate_bps, unsigned int priority)
{
    const struct named_integer *map = s->prio_to_buffer.items;
    const int64_t *sizes = s->buffer_bytes.items;
    struct thresholds_port port = {s->cable_mm / 1000, rate_bps / 1000000, s->mtu, THRESHOLDS_MLX5_MAX_MTU,
                                   THRESHOLDS_MLX5_CELL};
    struct thresholds t;
    if (s->cable_mm == FIELD_UNSET || s->mtu == FIELD_UNSET)
        return 0;
    for (size_t i = 0; i < s->prio_to_buffer.count; i++)
        if (strtoul(map[i].name, NULL, 10) == priority && map[i].value < (int64_t)s->buffer_bytes.count &&
            thresholds_mlx5(&port, sizes[map[i].value], &t, NULL) == 0)
            return sizes[map[i].value] - t.xoff_bytes;
    return 0;
}

static void prepare(struct pfc_port *port, const struct verify_context *c)
{
    const struct settings *settings = &c->settings->settings;
    const int64_t *lossless = settings->pfc.items;
    port->prepared = true;
    for (size_t i = 0; i < settings->pfc.count; i++) {
        port->lossless |= (uint8_t)(1u << lossless[i]);
        port->headroom_bytes[lossless[i]] = headroom_of(settings, c->rate_bps, (unsigned int)lossless[i]);
    }
}

/* ---- PFC frames */

static void check_storm(struct pause *a, struct verify_context *c, const struct verify_packet *p,
                        unsigned int priority)
{
    if (a->stormed || p->time_ns - a->began_ns < c->settings->storm_ns)
        return;
    a->stormed = true;
    findings_add(c->findings, KIND_STORM, p->number, p->time_ns,
                 "priority %u has been paused for %.3f ms without a break, since packet %llu; at most %.3f "
                 "ms are expected",
                 priority, (double)(p->time_ns - a->began_ns) / 1e6, (unsigned long long)a->number,
                 (double)c->settings->storm_ns / 1e6);
}

static void pause(struct pause *a, struct verify_context *c, const struct verify_packet *p,
                  unsigned int priority, uint16_t quanta)
{
    if (!a->on || p->time_ns > a->until_ns)
        *a = (struct pause){.on = true, .number = p->number, .began_ns = p->time_ns, .still_ns = p->time_ns};
    a->last_number = p->number;
    a->until_ns = p->time_ns + bits_ns(c, (int64_t)quanta * FRAME_QUANTUM_BITS);
    check_storm(a, c, p, priority);
}

/* An XON says that the pause was still meant. */
static void resume(struct pause *a, struct verify_context *c, const struct verify_packet *p,
                   const struct pfc_port *port, unsigned int priority)
{
    int64_t late_ns = p->time_ns - a->until_ns;
    if (a->on && late_ns > verify_wire_ns(c, port->longest_bytes))
        findings_add(c->findings, KIND_REFRESH, p->number, p->time_ns,
                     "XON of priority %u, but the pause of packet %llu ran out %.3f us before: it was not "
                     "repeated in time",
                     priority, (unsigned long long)a->last_number, (double)late_ns / 1e3);
    else if (a->on)
        check_storm(a, c, p, priority);
    a->on = false;
}

static void pfc_frame(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                      const struct verify_packet *p)
{
    int asker = p->direction == CAPTURE_OUTBOUND;
    bool judged = port->lossless && (asker || !c->settings->own); /* the peer may have settings of its own */
    s->frames++;
    s->unset = s->unset || !port->lossless;
    rings_pfc(&s->rings, c, p);
    for (unsigned int i = 0; i < FRAME_PRIORITIES; i++) {
        if (!(p->frame.pfc.priorities >> i & 1))
            continue;
        uint16_t quanta = p->frame.pfc.quanta[i];
        if (quanta && judged && !(port->lossless >> i & 1))
            findings_add(c->findings, KIND_PRIORITY, p->number, p->time_ns,
                         "pauses priority %u, which is not lossless (pfc)", i);
        if (p->time_ns < 0 || c->rate_bps <= 0 || p->direction == CAPTURE_UNKNOWN)
            continue;
        struct pause *a = &port->pauses[asker][i];
        pfc_window_advance(&port->windows[asker][i], a, c, p->time_ns, i);
        if (!quanta) {
            resume(a, c, p, port, i);
            continue;
        }
        pfc_window_count(&port->windows[asker][i], p);
        pause(a, c, p, i, quanta);
        if (!asker)
            rings_waits(&s->rings, c, p, i, &s->ports);
    }
    s->blind += p->direction == CAPTURE_UNKNOWN;
    s->unrated += c->rate_bps <= 0;
    s->judged += judged || (p->direction != CAPTURE_UNKNOWN && c->rate_bps > 0 && p->time_ns >= 0);
}

/* ---- other frames */

/* A frame that this port sends: is its priority paused? The frame under way and the time to respond are allowed. */
static void check_sent(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                       const struct verify_packet *p)
{
    struct pause *a = &port->pauses[0][p->priority];
    if (!a->on || p->time_ns >= a->until_ns)
        return;
    s->paused++;
    int64_t after_ns = p->time_ns - a->began_ns;
    int64_t may_ns = bits_ns(c, response_bits(c->rate_bps)) + verify_wire_ns(c, port->longest_bytes);
    if (after_ns <= may_ns)
        return;
    a->still_ns = p->time_ns;
    findings_add(
        c->findings, KIND_PAUSED, p->number, p->time_ns,
        "a frame of priority %u is sent %.3f us after packet %llu paused it; at most %.3f us are allowed",
        (unsigned int)p->priority, (double)after_ns / 1e3, (unsigned long long)a->number,
        (double)may_ns / 1e3);
}

/* A frame that comes after this port asked for a pause goes into the headroom. */
static void check_received(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                           const struct verify_packet *p)
{
    struct pause *a = &port->pauses[1][p->priority];
    int64_t headroom_bytes = port->headroom_bytes[p->priority];
    if (!a->on || p->time_ns >= a->until_ns)
        return;
    s->kept++;
    a->bytes += p->bytes;
    if (!headroom_bytes || !port->own || a->bytes <= headroom_bytes || a->overflowed)
        return;
    a->overflowed = true;
    findings_add(
        c->findings, KIND_HEADROOM, p->number, p->time_ns,
        "%lld bytes of priority %u have come since packet %llu asked for a pause; the headroom is %lld",
        (long long)a->bytes, (unsigned int)p->priority, (unsigned long long)a->number,
        (long long)headroom_bytes);
}

static void roce_packet(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                        const struct verify_packet *p)
{
    if (p->time_ns < 0 || c->rate_bps <= 0 || p->direction == CAPTURE_UNKNOWN)
        return;
    rings_packet(&s->rings, c, p);
    if (p->direction == CAPTURE_OUTBOUND)
        check_sent(s, port, c, p);
    else
        check_received(s, port, c, p);
}

static void frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct pfcs *s = state;
    struct pfc_port *port = states_at(&s->ports, p->interface, sizeof *port);
    if (!port)
        return;
    if (!port->prepared)
        prepare(port, c);
    port->longest_bytes = p->bytes > port->longest_bytes ? p->bytes : port->longest_bytes;
    if (p->frame.kind == FRAME_PFC) {
        pfc_frame(s, port, c, p);
    } else if (p->frame.kind == FRAME_PAUSE) {
        if (port->lossless && p->frame.pause_quanta)
            findings_add(c->findings, KIND_GLOBAL, p->number, p->time_ns,
                         "a pause frame of IEEE 802.3x on a link with PFC");
    } else if (p->frame.kind == FRAME_ROCE) {
        port->own = port->own || p->sent_here;
        if (p->priority < 0)
            s->unknown++;
        else
            roce_packet(s, port, c, p);
    }
}

/* Windows that are long enough when the capture ends. */
static void check_last(struct pfcs *s, struct verify_context *c)
{
    for (uint32_t i = 0; i < s->ports.count; i++) {
        struct pfc_port *port = states_have(&s->ports, i, sizeof *port);
        for (unsigned int k = 0; k < 2 * FRAME_PRIORITIES; k++)
            pfc_window_advance(&port->windows[k / FRAME_PRIORITIES][k % FRAME_PRIORITIES],
                               &port->pauses[k / FRAME_PRIORITIES][k % FRAME_PRIORITIES], c, c->end_ns,
                               k % FRAME_PRIORITIES);
    }
}

static void end(void *state, struct verify_context *c)
{
    struct pfcs *s = state;
    check_last(s, c);
    findings_judged(c->findings, "PFC frames", s->judged);
    findings_seen(c->findings, "frames within the time to respond", s->paused);
    findings_seen(c->findings, "frames into headroom", s->kept);
    if (!s->frames)
        return;
    if (s->blind)
        findings_not_judged(c->findings, "%llu PFC frames whose direction is not known",
                            (unsigned long long)s->blind);
    if (s->unrated)
        findings_not_judged(c->findings, "pauses on links whose rate is not known (link_rate)");
    if (s->unknown)
        findings_not_judged(c->findings, "%llu packets whose priority is not known (trust, dscp_to_prio)",
                            (unsigned long long)s->unknown);
    if (s->rings.nameless)
        findings_not_judged(
            c->findings, "deadlocks: the capture does not say which interfaces are ports of the same node");
    if (s->rings.weary)
        findings_not_judged(c->findings,
                            "deadlocks to the end: there are too many ports that may wait for each other");
    if (s->unset)
        findings_not_judged(c->findings, "which priorities may be paused (pfc is not set)");
}

static void release(void *state)
{
    struct pfcs *s = state;
    free(s->ports.items);
    rings_free(&s->rings);
}

const struct checker checker_pfc = {
    .check = CHECK_PFC,
    .about = "PFC: no frame of a paused priority, pauses repeated in time, lossless priorities only, "
             "headroom, storms, deadlocks.",
    .state_bytes = sizeof(struct pfcs),
    .frame = frame,
    .end = end,
    .free = release,
};
