/*
 * Deadlocks of PFC: rings of ports that are paused for long, send nothing, and wait for each other (Hu et al., "Deadlocks in datacenter
 * networks", HotNets 2016). Which port waits for which follows from the capture: a pause frame's source address is that of the port that
 * pauses, interfaces with one node's name belong together, and packets that came in at one of them and left at another show the way on.
 */
#include "verify/nodes.h"
#include "verify/pfc/pfc.h"

#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define KIND_DEADLOCK "deadlock"
#define MOST_STEPS    50000000 /* of looking for ways and rings, together: a hostile file has no end of them */
#define MOST_NAMED    8        /* ports of a ring in the sentence */
#define NONE          UINT32_MAX

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

/* ---- nodes and addresses */

static struct ring_port *port_at(struct rings *r, const struct verify_context *c, uint32_t interface)
{
    struct ring_port *port = states_at(&r->ports, interface, sizeof *port);
    if (!port || port->known)
        return port;
    const struct capture_interface *i = capture_read_interface(c->capture, interface);
    *port = (struct ring_port){.known = true,
                               .addressed = i->addressed,
                               .node = nodes_of(c, interface),
                               .peer = NONE,
                               .edges = NONE};
    memcpy(port->address, i->address, sizeof port->address);
    return port;
}

static uint32_t find_address(struct rings *r, const struct verify_context *c, const uint8_t address[6])
{
    for (uint32_t i = 0; i < capture_read_interfaces(c->capture); i++) {
        const struct ring_port *port = port_at(r, c, i);
        if (port && port->addressed && memcmp(port->address, address, sizeof port->address) == 0)
            return i;
    }
    return NONE;
}

void rings_pfc(struct rings *r, const struct verify_context *c, const struct verify_packet *p)
{
    struct ring_port *port = port_at(r, c, p->interface);
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

/* ---- the way of packets through nodes */

static void add_edge(struct rings *r, const struct verify_context *c, uint32_t in, uint32_t out,
                     uint8_t priorities)
{
    struct ring_port *port = port_at(r, c, in);
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

/* The flow was seen in a direction for the first time: with the same flow at the node's other interfaces that is a way through it. */
static void link_passes(struct rings *r, const struct verify_context *c, uint32_t flow, int direction,
                        uint8_t priority)
{
    uint32_t here = c->flows->flows[flow].interface;
    const struct ring_port *port = port_at(r, c, here);
    uint32_t node = port ? port->node : NONE, i = same_flows_first(&r->same, c->flows, flow);
    for (; i != FLOW_NONE && node != NONE && r->steps < MOST_STEPS; i = same_flows_next(&r->same, i)) {
        r->steps++;
        const struct passing *other = states_have(&r->passes, i, sizeof *other);
        uint32_t there = c->flows->flows[i].interface;
        const struct ring_port *at = port_at(r, c, there);
        if (there != here && at && at->node == node && other && other->priorities[!direction] & priority)
            add_edge(r, c, direction == PASS_IN ? here : there, direction == PASS_IN ? there : here,
                     priority);
    }
    r->weary = r->weary || r->steps >= MOST_STEPS;
}

void rings_packet(struct rings *r, const struct verify_context *c, const struct verify_packet *p)
{
    struct passing *mine = p->flow == FLOW_NONE ? NULL : states_at(&r->passes, p->flow, sizeof *mine);
    int direction = p->direction == CAPTURE_OUTBOUND ? PASS_OUT : PASS_IN;
    uint8_t priority = (uint8_t)(1u << p->priority);
    if (!mine || mine->priorities[direction] & priority)
        return;
    mine->priorities[direction] |= priority;
    link_passes(r, c, p->flow, direction, priority);
}

/* ---- rings */

/* Does the port's priority stand still for long, and is it paused now? */
static bool is_stuck(const struct states *ports, const struct verify_context *c,
                     const struct verify_packet *p, uint32_t interface, unsigned int priority)
{
    const struct pfc_port *port = states_have(ports, interface, sizeof *port);
    const struct pause *a = port ? &port->pauses[0][priority] : NULL;
    return a && a->on && p->time_ns <= a->until_ns && p->time_ns - a->still_ns >= c->settings->deadlock_ns;
}

static uint32_t peer_of(struct rings *r, const struct verify_context *c, uint32_t interface)
{
    struct ring_port *port = port_at(r, c, interface);
    if (port && port->peer == NONE) {
        uint32_t peer = find_address(r, c, port->paused_by);
        r->steps += capture_read_interfaces(c->capture);
        port = port_at(r, c, interface); /* the others may have moved it */
        port->peer = peer;
    }
    return port ? port->peer : NONE;
}

static void mark_seen(struct rings *r, uint32_t port, uint32_t from)
{
    struct ring_port *at = states_have(&r->ports, port, sizeof *at);
    at->stamp = r->stamp;
    at->from = from;
}

/* Is there a way from a stuck port over others back to it? Then each one's `from` is the one that waits for it. `todo` has room for all ports. */
static bool search(struct rings *r, const struct verify_context *c, const struct verify_packet *p,
                   unsigned int priority, const struct states *ports, uint32_t *todo)
{
    uint32_t start = p->interface, count = 0;
    r->stamp++;
    todo[count++] = start;
    while (count && r->steps < MOST_STEPS) {
        uint32_t at = todo[--count], peer = peer_of(r, c, at);
        const struct ring_port *by = peer == NONE ? NULL : port_at(r, c, peer);
        for (uint32_t i = by ? by->edges : NONE; i != NONE; i = r->edges[i].next) {
            uint32_t to = r->edges[i].to;
            const struct ring_port *next = states_have(&r->ports, to, sizeof *next);
            r->steps++;
            if (!(r->edges[i].priorities >> priority & 1) || !next || next->stamp == r->stamp ||
                !is_stuck(ports, c, p, to, priority))
                continue;
            mark_seen(r, to, at);
            if (to == start)
                return true;
            todo[count++] = to;
        }
    }
    return false;
}

static void name_port(const struct verify_context *c, uint32_t interface, struct text *out)
{
    text_add(out, "%s", capture_read_interface(c->capture, interface)->name);
}

/* The ring, backwards from the port: each is marked, and the oldest pause of all is the last that began. */
static void say(struct rings *r, struct verify_context *c, const struct verify_packet *p,
                unsigned int priority, struct states *ports)
{
    struct text names = {0};
    int64_t since_ns = 0;
    uint32_t at = p->interface, count = 0, ring[MOST_NAMED] = {0};
    do {
        struct pfc_port *port = states_have(ports, at, sizeof *port);
        struct pause *a = &port->pauses[0][priority];
        a->ringed = true;
        since_ns = a->still_ns > since_ns ? a->still_ns : since_ns;
        ring[count++ % MOST_NAMED] = at;
        at = ((const struct ring_port *)states_have(&r->ports, at, sizeof(struct ring_port)))->from;
    } while (at != p->interface);
    name_port(c, p->interface, &names);
    for (uint32_t i = 1; i < count && i < MOST_NAMED && count <= MOST_NAMED; i++) {
        text_add(&names, "%s waits for ", i == 1 ? "" : ", which");
        name_port(c, ring[count - i], &names);
    }
    if (count > MOST_NAMED)
        text_add(&names, " waits for a port and so on, %u ports in all,", count);
    text_add(&names, ", which waits for ");
    name_port(c, p->interface, &names);
    findings_add(c->findings, KIND_DEADLOCK, p->number, p->time_ns,
                 "%u ports wait for each other with priority %u since %.3f us before: %s; none of them is "
                 "expected to stand still for %.3f ms",
                 count, priority, (double)(p->time_ns - since_ns) / 1e3, text_string(&names),
                 (double)c->settings->deadlock_ns / 1e6);
    text_free(&names);
}

void rings_waits(struct rings *r, struct verify_context *c, const struct verify_packet *p,
                 unsigned int priority, struct states *ports)
{
    const struct pfc_port *port = states_have(ports, p->interface, sizeof *port);
    if (!port || port->pauses[0][priority].ringed || !is_stuck(ports, c, p, p->interface, priority))
        return;
    const struct ring_port *own = port_at(r, c, p->interface);
    r->weary = r->weary || r->steps >= MOST_STEPS;
    r->nameless = r->nameless || (own && own->node == NONE);
    uint32_t *todo = calloc((size_t)capture_read_interfaces(c->capture) + 1, sizeof *todo);
    if (todo && search(r, c, p, priority, ports, todo))
        say(r, c, p, priority, ports);
    free(todo);
}

void rings_free(struct rings *r)
{
    free(r->ports.items);
    free(r->passes.items);
    free(r->edges);
    same_flows_free(&r->same);
}
