/*
 * PFC (IEEE 802.1Q, 36; 802.3, annex 31B) at each port of a capture: does it send frames of a paused
 * priority, are pauses repeated before they run out, are only lossless priorities paused, do the frames that
 * come after XOFF fit, does a pause never end, is too much paused, and do ports wait for each other?
 */
#include "verify/checker.h"

#include "lib/roce/thresholds.h"
#include "lib/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIND_PAUSED   "sent while paused"
#define KIND_REFRESH  "pause ran out"
#define KIND_PRIORITY "pause of another priority"
#define KIND_GLOBAL   "pause of all priorities"
#define KIND_HEADROOM "more than the headroom"
#define KIND_STORM    "pause storm"
#define KIND_SHARE    "paused too long"
#define KIND_RATE     "too many pauses"
#define KIND_DEADLOCK "deadlock"

#define SILENCE_NS                                                                           \
    10000000 /* of a port whose pause has run out without XON, and that is paused again then \
              */

/* A priority of a port, as PFC frames of one direction have it. */
struct pause {
    bool on;
    bool stormed, ringed;         /* said already */
    uint64_t number, last_number; /* the frame that paused; the last that did so again */
    int64_t began_ns, until_ns;
    int64_t still_ns; /* since when no frame of it has left, in spite of the time to respond */
    int64_t bytes;    /* that came since it asked for the pause */
    bool overflowed;
};

/* How long a priority is paused in some time, and by how many frames. */
struct pfc_window {
    bool begun;
    int64_t start_ns, counted_ns; /* `paused_ns` is counted up to there */
    int64_t paused_ns;
    uint64_t frames; /* that pause */
    uint64_t number; /* the last of these */
    int64_t number_ns;
};

/* What one end of a link asks the other for. */
struct asker {
    struct pause pauses[FRAME_PRIORITIES];
    struct pfc_window windows[FRAME_PRIORITIES];
};

/* An end of a link, of which it is not known yet which of both it is: what it asks for can be judged by
 * itself, not what the other does. */
struct stranger {
    bool here;
    uint8_t address[6];
    uint64_t frames;
    struct asker asker;
};

/* A port's state of the checker of PFC. */
struct pfc_port {
    struct asker askers[2]; /* the peer (0), this port (1) */
    struct stranger strangers[2];
    int64_t last_ns;                      /* of the last frame at all */
    int64_t silent_from_ns, silent_to_ns; /* the last SILENCE_NS or more without any */
    uint64_t asked[2];                    /* PFC frames of each that pause, */
    bool heard[2];                        /* and whether RoCE packets of that end are in the capture */
    uint64_t judged[2];                   /* PFC frames that it got (0), sent (1) */
    uint32_t longest_bytes;
    bool own; /* the port of a host */
    bool prepared;
    bool stated;                              /* which priorities are lossless */
    uint8_t lossless;                         /* these */
    int64_t headroom_bytes[FRAME_PRIORITIES]; /* 0: not known */
};

/* ---- how much of the time a priority is paused, and by how many frames
 * Windows begin with a pause. The share is that of the time which is set; the frames are counted until the
 * next one after it, since they come one by one. */

static void pfc_window_judge(const struct pfc_window *w, struct verify_context *c, int64_t now_ns,
                             unsigned int priority)
{
    const struct verify_settings *s = c->settings;
    double all_ns = (double)(now_ns - w->start_ns), share_ns = (double)s->paused_window_ns;
    double share = (double)w->paused_ns / share_ns, per_s = (double)w->frames * 1e9 / all_ns;
    if (!isnan(s->paused_share) && share > s->paused_share)
        findings_add(c->findings, KIND_SHARE, w->number, w->number_ns,
                     "priority %u was paused for %.1f %% of %.3f ms; paused_share is %.1f %%", priority,
                     share * 100, share_ns / 1e6, s->paused_share * 100);
    if (!isnan(s->pauses_per_s) && per_s > s->pauses_per_s)
        findings_add(c->findings, KIND_RATE, w->number, w->number_ns,
                     "priority %u got %llu pause frames in %.3f ms, %.0f a second; pauses_per_s is %.0f",
                     priority, (unsigned long long)w->frames, all_ns / 1e6, per_s, s->pauses_per_s);
}

/* Before what the pause is changes: it was so until now. Judges the window if it is over. */
static void pfc_window_advance(struct pfc_window *w, const struct pause *a, struct verify_context *c,
                               int64_t now_ns, unsigned int priority)
{
    const int64_t window_ns = c->settings->paused_window_ns;
    bool over = w->begun && now_ns - w->start_ns >= window_ns;
    int64_t end_ns = over ? w->start_ns + window_ns : now_ns; /* of the time that counts for the share */
    int64_t until_ns = a->until_ns < end_ns ? a->until_ns : end_ns;
    if (a->on && until_ns > w->counted_ns)
        w->paused_ns += until_ns - w->counted_ns;
    if (end_ns > w->counted_ns)
        w->counted_ns = end_ns;
    if (!over)
        return;
    if (w->frames)
        pfc_window_judge(w, c, now_ns, priority);
    *w = (struct pfc_window){.begun = true, .start_ns = now_ns, .counted_ns = now_ns};
}

/* A frame that pauses. */
static void pfc_window_count(struct pfc_window *w, const struct verify_packet *p)
{
    if (!w->begun)
        *w = (struct pfc_window){.begun = true, .start_ns = p->time_ns, .counted_ns = p->time_ns};
    w->frames++;
    w->number = p->number;
    w->number_ns = p->time_ns;
}

/* ---- deadlocks: rings of ports that wait for each other
 * Rings of ports that are paused for long, send nothing, and wait for each other (Hu et al., "Deadlocks in
 * datacenter networks", HotNets 2016). Which port waits for which follows from the capture: a pause frame's
 * source address is that of the port that pauses, interfaces with one node's name belong together, and
 * packets that came in at one of them and left at another show the way
 * on. */

#define MOST_STEPS 50000000 /* of looking for ways and rings, together: a hostile file has no end of them */
#define MOST_NAMED 8        /* ports of a ring in the sentence */
#define NONE       UINT32_MAX

enum { PASS_IN, PASS_OUT };

/* A flow at an interface. */
struct passing {
    uint8_t priorities[2]; /* with which it came in, went out */
};

/* Packets go on from one interface to another of the same node. */
struct ring_edge {
    uint32_t to, next;  /* interface; edge of the same interface */
    uint8_t priorities; /* that did */
};

struct ring_port {
    bool known, addressed;
    uint8_t address[6];
    uint8_t paused_by[6]; /* address of the peer */
    uint32_t node;        /* the first interface of its node; NONE: it has no name */
    uint32_t peer;        /* interface that paused it; NONE: it is not in the capture */
    uint32_t edges;       /* the first */
    uint32_t stamp, from; /* of a search: seen, and coming from which port */
};

/*
 * Which ports wait for which: a port that is paused waits for the port that paused it, and this one for those
 * ports of its node to which packets go on that came in through it.
 */
struct rings {
    struct states ports;  /* struct ring_port, by interface */
    struct states passes; /* struct passing, by flow */
    struct same_flows same;
    struct ring_edge *edges;
    uint32_t edge_count, edge_room;
    uint32_t stamp; /* of searches */
    uint64_t steps; /* of all searches, and of finding ways through nodes */
    bool weary;     /* there were too many */
    bool nameless;  /* a port that stood still belongs to no known node, */
    bool peerless;  /* or that which pauses it is not in the capture */
};

static struct ring_port *rings_port(struct rings *r, const struct verify_context *c, uint32_t interface)
{
    struct ring_port *port = states_at(&r->ports, interface, sizeof *port);
    if (!port || port->known)
        return port;
    const struct capture_interface *i = capture_read_interface(c->capture, interface);
    *port = (struct ring_port){.known = true,
                               .addressed = i->addressed,
                               .node = verify_node_of(c, interface),
                               .peer = NONE,
                               .edges = NONE};
    memcpy(port->address, i->address, sizeof port->address);
    return port;
}

static uint32_t rings_find_address(struct rings *r, const struct verify_context *c, const uint8_t address[6])
{
    for (uint32_t i = 0; i < capture_read_interfaces(c->capture); i++) {
        const struct ring_port *port = rings_port(r, c, i);
        if (port && port->addressed && memcmp(port->address, address, sizeof port->address) == 0)
            return i;
    }
    return NONE;
}

/* A PFC frame: it tells the address of the port that sends it. */
static void rings_pfc(struct rings *r, const struct verify_context *c, const struct verify_packet *p)
{
    struct ring_port *port = rings_port(r, c, p->interface);
    const uint8_t *source = p->frame.ethernet.source;
    if (!port)
        return;
    if (p->direction == CAPTURE_INBOUND && memcmp(port->paused_by, source, sizeof port->paused_by) != 0) {
        memcpy(port->paused_by, source, sizeof port->paused_by);
        port->peer = NONE;
    } else if (p->direction == CAPTURE_OUTBOUND && !port->addressed) {
        memcpy(port->address, source, sizeof port->address);
        port->addressed = true;
    }
}

static void rings_add_edge(struct rings *r, const struct verify_context *c, uint32_t in, uint32_t out,
                           uint8_t priorities)
{
    struct ring_port *port = rings_port(r, c, in);
    if (!port)
        return;
    for (uint32_t i = port->edges; i != NONE; i = r->edges[i].next, r->steps++)
        if (r->edges[i].to == out) {
            r->edges[i].priorities |= priorities;
            return;
        }
    if (r->edge_count == r->edge_room) {
        uint32_t room = r->edge_room ? r->edge_room * 2 : 64;
        struct ring_edge *edges = realloc(r->edges, room * sizeof *edges);
        if (!edges)
            return;
        r->edges = edges;
        r->edge_room = room;
    }
    r->edges[r->edge_count] = (struct ring_edge){out, port->edges, priorities};
    port->edges = r->edge_count++;
}

/* The flow was seen in a direction for the first time: with the same flow at the node's other interfaces that
 * is a way through it. */
static void rings_link_flow(struct rings *r, const struct verify_context *c, uint32_t flow, int direction,
                            uint8_t priority)
{
    uint32_t here = c->flows->flows[flow].interface;
    const struct ring_port *port = rings_port(r, c, here);
    uint32_t node = port ? port->node : NONE, i = same_flows_first(&r->same, c->flows, flow);
    for (; i != FLOW_NONE && node != NONE && r->steps < MOST_STEPS; i = same_flows_next(&r->same, i)) {
        r->steps++;
        const struct passing *other = states_have(&r->passes, i, sizeof *other);
        uint32_t there = c->flows->flows[i].interface;
        const struct ring_port *at = rings_port(r, c, there);
        if (there != here && at && at->node == node && other && other->priorities[!direction] & priority)
            rings_add_edge(r, c, direction == PASS_IN ? here : there, direction == PASS_IN ? there : here,
                           priority);
    }
    r->weary = r->weary || r->steps >= MOST_STEPS;
}

/* A RoCEv2 packet of a known priority, at a port whose directions are known. */
static void rings_packet(struct rings *r, const struct verify_context *c, const struct verify_packet *p)
{
    struct passing *mine = p->flow == FLOW_NONE ? NULL : states_at(&r->passes, p->flow, sizeof *mine);
    int direction = p->direction == CAPTURE_OUTBOUND ? PASS_OUT : PASS_IN;
    uint8_t priority = (uint8_t)(1u << p->priority);
    if (!mine || mine->priorities[direction] & priority)
        return;
    mine->priorities[direction] |= priority;
    rings_link_flow(r, c, p->flow, direction, priority);
}

/* Does the port's priority stand still for long, and is it paused now? */
static bool pfc_port_is_stuck(const struct states *ports, const struct verify_context *c,
                              const struct verify_packet *p, uint32_t interface, unsigned int priority)
{
    const struct pfc_port *port = states_have(ports, interface, sizeof *port);
    const struct pause *a = port ? &port->askers[0].pauses[priority] : NULL;
    return a && a->on && p->time_ns <= a->until_ns && p->time_ns - a->still_ns >= c->settings->deadlock_ns;
}

static uint32_t rings_peer(struct rings *r, const struct verify_context *c, uint32_t interface)
{
    struct ring_port *port = rings_port(r, c, interface);
    if (port && port->peer == NONE) {
        uint32_t peer = rings_find_address(r, c, port->paused_by);
        r->steps += capture_read_interfaces(c->capture);
        port = rings_port(r, c, interface); /* the others may have moved it */
        port->peer = peer;
    }
    return port ? port->peer : NONE;
}

static void rings_mark(struct rings *r, uint32_t port, uint32_t from)
{
    struct ring_port *at = states_have(&r->ports, port, sizeof *at);
    at->stamp = r->stamp;
    at->from = from;
}

/* Is there a way from a stuck port over others back to it? Then each one's `from` is the one that waits for
 * it. `todo` has room for all ports. */
static bool rings_search(struct rings *r, const struct verify_context *c, const struct verify_packet *p,
                         unsigned int priority, const struct states *ports, uint32_t *todo)
{
    uint32_t start = p->interface, count = 0;
    r->stamp++;
    todo[count++] = start;
    while (count && r->steps < MOST_STEPS) {
        uint32_t at = todo[--count], peer = rings_peer(r, c, at);
        const struct ring_port *by = peer == NONE ? NULL : rings_port(r, c, peer);
        r->peerless = r->peerless || !by;
        r->nameless = r->nameless || (by && by->node == NONE);
        for (uint32_t i = by ? by->edges : NONE; i != NONE; i = r->edges[i].next) {
            uint32_t to = r->edges[i].to;
            const struct ring_port *next = states_have(&r->ports, to, sizeof *next);
            r->steps++;
            if (!(r->edges[i].priorities >> priority & 1) || !next || next->stamp == r->stamp ||
                !pfc_port_is_stuck(ports, c, p, to, priority))
                continue;
            rings_mark(r, to, at);
            if (to == start)
                return true;
            todo[count++] = to;
        }
    }
    return false;
}

static void add_port_name(const struct verify_context *c, uint32_t interface, struct text *out)
{
    text_add(out, "%s", capture_read_interface(c->capture, interface)->name);
}

/* The ring, backwards from the port: each is marked, and the oldest pause of all is the last that began. */
static void rings_report(struct rings *r, struct verify_context *c, const struct verify_packet *p,
                         unsigned int priority, struct states *ports)
{
    struct text names = {0};
    int64_t since_ns = 0;
    uint32_t at = p->interface, count = 0, ring[MOST_NAMED] = {0};
    do {
        struct pfc_port *port = states_have(ports, at, sizeof *port);
        struct pause *a = &port->askers[0].pauses[priority];
        a->ringed = true;
        since_ns = a->still_ns > since_ns ? a->still_ns : since_ns;
        ring[count++ % MOST_NAMED] = at;
        at = ((const struct ring_port *)states_have(&r->ports, at, sizeof(struct ring_port)))->from;
    } while (at != p->interface);
    add_port_name(c, p->interface, &names);
    for (uint32_t i = 1; i < count && i < MOST_NAMED && count <= MOST_NAMED; i++) {
        text_add(&names, "%s waits for ", i == 1 ? "" : ", which");
        add_port_name(c, ring[count - i], &names);
    }
    if (count > MOST_NAMED)
        text_add(&names, " waits for a port and so on, %u ports in all,", count);
    text_add(&names, ", which waits for ");
    add_port_name(c, p->interface, &names);
    findings_add(c->findings, KIND_DEADLOCK, p->number, p->time_ns,
                 "%u ports wait for each other with priority %u since %.3f us before: %s; none of them is "
                 "expected to stand still for %.3f ms",
                 count, priority, (double)(p->time_ns - since_ns) / 1e3, text_string(&names),
                 (double)c->settings->deadlock_ns / 1e6);
    text_free(&names);
}

/* A pause of this port has been repeated: does it close a ring? `ports`: struct pfc_port by interface. */
static void rings_waits(struct rings *r, struct verify_context *c, const struct verify_packet *p,
                        unsigned int priority, struct states *ports)
{
    const struct pfc_port *port = states_have(ports, p->interface, sizeof *port);
    if (!port || port->askers[0].pauses[priority].ringed ||
        !pfc_port_is_stuck(ports, c, p, p->interface, priority))
        return;
    const struct ring_port *own = rings_port(r, c, p->interface);
    r->weary = r->weary || r->steps >= MOST_STEPS;
    r->nameless = r->nameless || (own && own->node == NONE);
    uint32_t *todo = calloc((size_t)capture_read_interfaces(c->capture) + 1, sizeof *todo);
    if (todo && rings_search(r, c, p, priority, ports, todo))
        rings_report(r, c, p, priority, ports);
    free(todo);
}

static void rings_free(struct rings *r)
{
    free(r->ports.items);
    free(r->passes.items);
    free(r->edges);
    same_flows_free(&r->same);
}

/* ---- the checker */

struct pfcs {
    struct states ports; /* struct pfc_port, by interface */
    struct rings rings;
    uint64_t frames, paused, kept, blind, unrated, unknown, undirected, global;
    uint64_t crowded;    /* of more ends than a link has */
    uint64_t unheard[2]; /* of the peer (0), the port (1), whose other end's packets are not in the capture */
    uint64_t silences, silent_number; /* pauses after SILENCE_NS; the packet of the first */
    bool unset;                       /* PFC frames at ports whose lossless priorities are not set */
};

/*
 * Bit times within which a port stops after a pause frame (IEEE 802.3, 31B.3.7, whose times 802.1Q, 36.1.3.3,
 * takes for PFC). For rates between two rows, and above the last, the next or last row holds.
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

static void pfc_port_prepare(struct pfc_port *port, const struct verify_context *c)
{
    const struct settings *settings = &c->settings->settings;
    const int64_t *lossless = settings->pfc.items;
    port->prepared = true;
    port->stated = lossless;
    for (size_t i = 0; i < settings->pfc.count; i++) {
        port->lossless |= (uint8_t)(1u << lossless[i]);
        port->headroom_bytes[lossless[i]] = headroom_of(settings, c->rate_bps, (unsigned int)lossless[i]);
    }
}

/* ---- PFC frames */

static void pause_check_storm(struct pause *a, struct verify_context *c, const struct verify_packet *p,
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

static void pause_begin(struct pause *a, struct verify_context *c, const struct verify_packet *p,
                        unsigned int priority, uint16_t quanta)
{
    if (!a->on || p->time_ns > a->until_ns)
        *a = (struct pause){.on = true, .number = p->number, .began_ns = p->time_ns, .still_ns = p->time_ns};
    a->last_number = p->number;
    a->until_ns = p->time_ns + bits_ns(c, (int64_t)quanta * FRAME_QUANTUM_BITS);
    pause_check_storm(a, c, p, priority);
}

/* An XON says that the pause was still meant. */
static void pause_end(struct pause *a, struct verify_context *c, const struct verify_packet *p,
                      const struct pfc_port *port, unsigned int priority)
{
    int64_t late_ns = p->time_ns - a->until_ns;
    if (a->on && late_ns > verify_wire_ns(c, port->longest_bytes))
        findings_add(c->findings, KIND_REFRESH, p->number, p->time_ns,
                     "XON of priority %u, but the pause of packet %llu ran out %.3f us before: it was not "
                     "repeated in time",
                     priority, (unsigned long long)a->last_number, (double)late_ns / 1e3);
    else if (a->on)
        pause_check_storm(a, c, p, priority);
    a->on = false;
}

/* ---- which end of the link is it? */

/* That which sends PFC frames from this address, of unknown direction. NULL: the capture is not one of one
 * link. */
static struct stranger *pfc_port_stranger(struct pfc_port *port, const uint8_t address[6])
{
    for (int i = 0; i < 2; i++) {
        struct stranger *at = &port->strangers[i];
        if (at->here && memcmp(at->address, address, sizeof at->address) == 0)
            return at;
        if (at->here)
            continue;
        at->here = true;
        memcpy(at->address, address, sizeof at->address);
        return at;
    }
    return NULL;
}

/* The port's own address is known: what strangers asked for is asked for by this port or by its peer. */
static void pfc_port_settle(struct pfc_port *port, const uint8_t own[6])
{
    for (int i = 0; i < 2; i++) {
        struct stranger *at = &port->strangers[i];
        if (at->here)
            port->askers[memcmp(at->address, own, sizeof at->address) == 0] = at->asker;
        at->here = false;
        at->frames = 0;
    }
}

/* Who asks with this PFC frame? NULL: it cannot be known. */
static struct asker *pfc_asker(struct pfcs *s, struct pfc_port *port, const struct verify_packet *p)
{
    if (p->direction != CAPTURE_UNKNOWN)
        return &port->askers[p->direction == CAPTURE_OUTBOUND];
    if (p->time_ns < 0)
        return NULL;
    struct stranger *stranger = pfc_port_stranger(port, p->frame.ethernet.source);
    if (stranger)
        stranger->frames++;
    s->crowded += !stranger;
    return stranger ? &stranger->asker : NULL;
}

/* What the frame says of one priority. */
static void pfc_ask(struct pfcs *s, struct pfc_port *port, struct asker *asker, struct verify_context *c,
                    const struct verify_packet *p, unsigned int priority)
{
    struct pause *a = &asker->pauses[priority];
    uint16_t quanta = p->frame.pfc.quanta[priority];
    bool here = p->direction == CAPTURE_OUTBOUND;
    pfc_window_advance(&asker->windows[priority], a, c, p->time_ns, priority);
    if (!quanta) {
        pause_end(a, c, p, port, priority);
        return;
    }
    if (p->direction != CAPTURE_UNKNOWN)
        port->asked[here] += here ? port->headroom_bytes[priority] > 0 : 1;
    pfc_window_count(&asker->windows[priority], p);
    if (a->on && a->until_ns >= port->silent_from_ns && a->until_ns < port->silent_to_ns &&
        s->silences++ == 0)
        s->silent_number = p->number;
    pause_begin(a, c, p, priority, quanta);
    if (asker == &port->askers[0])
        rings_waits(&s->rings, c, p, priority, &s->ports);
}

static void pfc_frame(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                      const struct verify_packet *p)
{
    struct asker *asker = pfc_asker(s, port, p);
    bool here = p->direction == CAPTURE_OUTBOUND; /* the peer may have settings of its own */
    bool judged = port->stated && (here || !c->settings->own);
    s->frames++;
    s->unset = s->unset || !port->stated;
    rings_pfc(&s->rings, c, p);
    for (unsigned int i = 0; i < FRAME_PRIORITIES; i++) {
        if (!(p->frame.pfc.priorities >> i & 1))
            continue;
        if (p->frame.pfc.quanta[i] && judged && !(port->lossless >> i & 1))
            findings_add(c->findings, KIND_PRIORITY, p->number, p->time_ns,
                         "pauses priority %u, which is not lossless (pfc)", i);
        if (asker && p->time_ns >= 0 && c->rate_bps > 0)
            pfc_ask(s, port, asker, c, p, i);
    }
    s->unrated += c->rate_bps <= 0 && p->time_ns >= 0;
    port->judged[here] += judged || (asker && c->rate_bps > 0 && p->time_ns >= 0);
}

/* ---- other frames */

/* A frame that this port sends: is its priority paused? The frame under way and the time to respond are
 * allowed. */
static void pfc_check_sent(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                           const struct verify_packet *p)
{
    struct pause *a = &port->askers[0].pauses[p->priority];
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
static void pfc_check_received(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                               const struct verify_packet *p)
{
    struct pause *a = &port->askers[1].pauses[p->priority];
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

static void pfc_roce_packet(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                            const struct verify_packet *p)
{
    s->undirected += p->direction == CAPTURE_UNKNOWN && p->time_ns >= 0;
    if (p->time_ns < 0 || c->rate_bps <= 0 || p->direction == CAPTURE_UNKNOWN)
        return;
    rings_packet(&s->rings, c, p);
    if (p->direction == CAPTURE_OUTBOUND)
        pfc_check_sent(s, port, c, p);
    else
        pfc_check_received(s, port, c, p);
}

static void pfc_judge_frame(struct pfcs *s, struct pfc_port *port, struct verify_context *c,
                            const struct verify_packet *p)
{
    if (p->frame.kind == FRAME_PFC) {
        pfc_frame(s, port, c, p);
    } else if (p->frame.kind == FRAME_PAUSE) {
        s->global += !port->lossless && p->frame.pause_quanta;
        if (port->lossless && p->frame.pause_quanta)
            findings_add(c->findings, KIND_GLOBAL, p->number, p->time_ns,
                         "a pause frame of IEEE 802.3x on a link with PFC");
    } else if (p->frame.kind == FRAME_ROCE) {
        port->own = port->own || p->sent_here;
        if (p->direction != CAPTURE_UNKNOWN)
            port->heard[p->direction == CAPTURE_OUTBOUND] = true;
        if (p->priority < 0)
            s->unknown += p->time_ns >= 0;
        else
            pfc_roce_packet(s, port, c, p);
    }
}

static void pfc_take_frame(void *state, struct verify_context *c, const struct verify_packet *p)
{
    struct pfcs *s = state;
    struct pfc_port *port = states_at(&s->ports, p->interface, sizeof *port);
    if (!port)
        return;
    if (!port->prepared)
        pfc_port_prepare(port, c);
    port->longest_bytes = p->bytes > port->longest_bytes ? p->bytes : port->longest_bytes;
    if (p->own)
        pfc_port_settle(port, p->own);
    if (port->last_ns && p->time_ns - port->last_ns >= SILENCE_NS) {
        port->silent_from_ns = port->last_ns;
        port->silent_to_ns = p->time_ns;
    }
    pfc_judge_frame(s, port, c, p);
    port->last_ns = p->time_ns >= 0 ? p->time_ns : port->last_ns;
}

/* Windows that are long enough when the capture ends. */
static void pfc_end_windows(struct asker *asker, struct verify_context *c)
{
    for (unsigned int i = 0; i < FRAME_PRIORITIES; i++)
        pfc_window_advance(&asker->windows[i], &asker->pauses[i], c, c->end_ns, i);
}

static void pfc_end_ports(struct pfcs *s, struct verify_context *c)
{
    for (uint32_t i = 0; i < s->ports.count && i < capture_read_interfaces(c->capture); i++) {
        struct pfc_port *port = states_have(&s->ports, i, sizeof *port);
        verify_turn_to(c, i);
        for (int k = 0; k < 2; k++) {
            pfc_end_windows(&port->askers[k], c);
            pfc_end_windows(&port->strangers[k].asker, c);
            s->blind += port->strangers[k].frames;
            s->unheard[k] += port->heard[!k] ? 0 : port->asked[k];
        }
    }
}

/* How many PFC frames were judged: one that both ends of a link saw is one. */
static uint64_t pfc_count_judged(struct pfcs *s, const struct verify_context *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->ports.count && i < capture_read_interfaces(c->capture); i++) {
        const struct pfc_port *port = states_have(&s->ports, i, sizeof *port);
        uint32_t peer = port->judged[0] ? rings_peer(&s->rings, c, i) : NONE;
        const struct pfc_port *sender = peer == NONE ? NULL : states_have(&s->ports, peer, sizeof *sender);
        uint64_t there = sender ? sender->judged[1] : 0;
        sum += port->judged[1] + (port->judged[0] > there ? port->judged[0] - there : 0);
    }
    return sum;
}

static void pfc_end(void *state, struct verify_context *c)
{
    struct pfcs *s = state;
    pfc_end_ports(s, c);
    findings_judged(c->findings, "PFC frames", pfc_count_judged(s, c));
    findings_seen(c->findings, "frames within the time to respond", s->paused);
    findings_seen(c->findings, "frames into headroom", s->kept);
    if (s->global)
        findings_open(c->findings, "%llu %s of IEEE 802.3x, for all priorities: only PFC is judged",
                      (unsigned long long)s->global, THINGS(s->global, "pause frame"));
    if (!s->frames)
        return;
    if (s->blind)
        findings_open(c->findings,
                      "whether the other end obeys %llu %s: which end of the link sends them is not known "
                      "(hosts: whose port it is)",
                      (unsigned long long)s->blind, THINGS(s->blind, "PFC frame"));
    if (s->unheard[0])
        findings_open(c->findings,
                      "whether ports obey %llu %s: no RoCE packet that they send is in the capture",
                      (unsigned long long)s->unheard[0], THINGS(s->unheard[0], "PFC frame"));
    if (s->unheard[1])
        findings_open(c->findings,
                      "whether what comes after %llu %s fits into the headroom: no RoCE packet that their "
                      "senders get is in the capture",
                      (unsigned long long)s->unheard[1], THINGS(s->unheard[1], "PFC frame"));
    if (s->silences)
        findings_open(c->findings,
                      "whether %llu %s went on from those before (the first at packet %llu): nothing was "
                      "captured of the ports for more than %d ms after those had run out. The port was "
                      "silent, or the clock was set forward",
                      (unsigned long long)s->silences, THINGS(s->silences, "pause"),
                      (unsigned long long)s->silent_number, SILENCE_NS / 1000000);
    if (s->crowded)
        findings_open(c->findings,
                      "%llu %s of more than two senders at one interface: the capture is not one of one link",
                      (unsigned long long)s->crowded, THINGS(s->crowded, "PFC frame"));
    if (s->unrated)
        findings_open(c->findings, "pauses on links whose rate is not known (link_rate)");
    if (s->unknown)
        findings_open(c->findings, "%llu %s whose priority is not known (trust, dscp_to_prio)",
                      (unsigned long long)s->unknown, THINGS(s->unknown, "packet"));
    if (s->undirected)
        findings_open(c->findings, "%llu %s whose direction is not known (hosts: whose port it is)",
                      (unsigned long long)s->undirected, THINGS(s->undirected, "packet"));
    if (s->rings.nameless || s->rings.peerless)
        findings_not_judged(
            c->findings,
            "deadlocks: ports stood still for %.3f ms, and the capture does not say %s. A ring is found in a "
            "pcapng of all its ports, whose interfaces are named NODE:PORT (leaf0:2)",
            (double)c->settings->deadlock_ns / 1e6,
            s->rings.nameless ? "which interfaces are ports of the same node"
                              : "what the ports wait for that pause them: they are not in it");
    if (s->rings.weary)
        findings_open(c->findings,
                      "deadlocks to the end: there are too many ports that may wait for each other");
    if (s->unset)
        findings_open(c->findings, "which priorities may be paused (pfc is not set)");
}

static void pfc_free(void *state)
{
    struct pfcs *s = state;
    free(s->ports.items);
    rings_free(&s->rings);
}

static const char *const proved[] = {KIND_PRIORITY, KIND_GLOBAL, KIND_RATE, NULL};
/* An XON, or a repeated pause, may be missing. */
static const char *const sure[] = {KIND_PRIORITY, KIND_GLOBAL,   KIND_RATE, KIND_STORM,
                                   KIND_SHARE,    KIND_DEADLOCK, NULL};

const struct checker checker_pfc = {
    .check = CHECK_PFC,
    .proved = proved,
    .sure = sure,
    .about = "PFC: no frame of a paused priority, pauses repeated in time, lossless priorities only, "
             "headroom, storms, deadlocks.",
    .state_bytes = sizeof(struct pfcs),
    .frame = pfc_take_frame,
    .end = pfc_end,
    .free = pfc_free,
};
