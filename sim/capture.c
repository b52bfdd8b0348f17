/* Captures: frames of links, where the simulator's parts hand them over. */
#include "sim/capture.h"
#include "sim/fabric/routing.h"
#include "sim/islands/team.h"
#include "sim/model.h"
#include <stdlib.h>
#include <string.h>

/* What is captured, and the frames of all threads in order. */
struct capture_state {
    struct sim_capture_config config; /* its arrays are copies */
    bool *flows, *ports;
    struct sim_captured_at *order, *other; /* `other`: while they are sorted */
    size_t count, capacity;
};

/* ---- building */

static bool *copy(const bool *from, size_t count)
{
    bool *to = malloc(count + 1);
    if (to)
        memcpy(to, from, count);
    return to;
}

/* Arrivals at its ports take the path of those that need more than most. */
static void mark_ports(struct sim *sim, const struct capture_state *c)
{
    for (uint32_t p = 0; p < sim->port_count; p++) {
        struct port *port = &sim->ports[p];
        if (!c->ports[p])
            continue;
        port->flags |= PORT_CAPTURED;
        island_enter(sim, port->node_kind, port->node);
        sim->events->events[port_event(sim, p, PORT_ARRIVE)].kind = EVENT_ARRIVE;
    }
}

int capture_open(struct sim *sim, const struct sim_config *config, struct error *e)
{
    const struct sim_capture_config *wanted = config->capture;
    if (!wanted)
        return 0;
    struct capture_state *c = sim->capture = calloc(1, sizeof *c);
    if (c) {
        c->config = *wanted;
        c->ports = copy(wanted->ports, sim->port_count);
        c->flows = wanted->flows ? copy(wanted->flows, sim->flow_count) : NULL;
    }
    if (!sim->source_ports)
        sim->source_ports = calloc((size_t)sim->qp_count + 1, sizeof *sim->source_ports);
    if (!c || !c->ports || (wanted->flows && !c->flows) || !sim->source_ports)
        return error_set(e, "simulator: no memory for a capture");
    mark_ports(sim, c);
    return 0;
}

void capture_free(struct sim *sim)
{
    struct capture_state *c = sim->capture;
    if (!c)
        return;
    free(c->ports);
    free(c->flows);
    free(c->order);
    free(c->other);
    free(c);
}

/* ---- while islands run */

static bool is_wanted(const struct sim *sim, const struct capture_state *c, const struct packet *packet)
{
    if (packet->kind == PACKET_PFC)
        return packet->flags & c->config.priorities;
    return c->config.priorities >> packet->priority & 1 && (!c->flows || c->flows[sim->qps[packet->qp].flow]);
}

static int grow(struct sim *sim)
{
    size_t capacity = sim->captured_capacity ? sim->captured_capacity * 2 : 4096;
    struct sim_captured *frames = realloc(sim->captured, capacity * sizeof *frames);
    if (!frames) {
        sim->out_of_memory = true;
        return -1;
    }
    sim->bytes += (capacity - sim->captured_capacity) * sizeof *frames;
    sim->allocations++;
    sim->captured = frames;
    sim->captured_capacity = capacity;
    return 0;
}

void capture_frame(struct sim *sim, uint32_t port, uint32_t p, bool sent)
{
    const struct capture_state *c = sim->capture;
    const struct packet *packet = &sim->packets[p];
    if (sim->now_ps < c->config.from_ps || sim->now_ps >= c->config.until_ps || !is_wanted(sim, c, packet))
        return;
    if (sim->captured_count == sim->captured_capacity && grow(sim))
        return;
    bool has_gap = packet->kind == PACKET_NAK && sim->qps[packet->qp].recovery;
    sim->captured[sim->captured_count++] =
        (struct sim_captured){.time_ps = sim->now_ps,
                              .place = 2 * port + sent,
                              .qp = packet->qp,
                              .psn = has_gap ? packet->psn & PACKET_PSN : packet->psn,
                              .kind = packet->kind,
                              .priority = packet->priority,
                              .flags = has_gap ? 0 : (uint8_t)packet->flags};
}

/* ---- between runs */

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

static unsigned bits_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static int make_room(struct sim *sim, struct capture_state *c, size_t count)
{
    if (count <= c->capacity)
        return 0;
    free(c->order);
    free(c->other);
    c->order = calloc(2 * count, sizeof *c->order);
    c->other = calloc(2 * count, sizeof *c->other);
    c->capacity = c->order && c->other ? 2 * count : 0;
    sim->allocations += 2;
    return c->capacity ? 0 : -1;
}

/* One digit of all keys; frames whose digits are the same stay in their order. */
static void sort_by_digit(struct capture_state *c, unsigned shift)
{
    size_t places[DIGITS] = {0}, at = 0;
    for (size_t i = 0; i < c->count; i++)
        places[c->order[i].key >> shift & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t count = places[d];
        places[d] = at;
        at += count;
    }
    for (size_t i = 0; i < c->count; i++)
        c->other[places[c->order[i].key >> shift & (DIGITS - 1)]++] = c->order[i];
    struct sim_captured_at *sorted = c->other;
    c->other = c->order;
    c->order = sorted;
}

/* The earliest and the latest of all threads' frames. */
static void span_of(const struct team *team, int64_t *first_ps, int64_t *last_ps)
{
    *first_ps = INT64_MAX;
    *last_ps = 0;
    for (uint32_t t = 0; t < team->count; t++) {
        const struct sim *view = team->members[t].view;
        for (size_t i = 0; i < view->captured_count; i++) {
            int64_t time_ps = view->captured[i].time_ps;
            *first_ps = time_ps < *first_ps ? time_ps : *first_ps;
            *last_ps = time_ps > *last_ps ? time_ps : *last_ps;
        }
    }
}

void capture_begin(struct sim *sim)
{
    for (uint32_t t = 0; sim->capture && t < sim->team->count; t++)
        sim->team->members[t].view->captured_count = 0;
}

/* A port's frames are all of one thread, in the order in which they came. */
int capture_collect(struct sim *sim)
{
    struct capture_state *c = sim->capture;
    const struct team *team = sim->team;
    int64_t first_ps, last_ps;
    size_t count = 0;
    if (!c)
        return 0;
    c->count = 0;
    for (uint32_t t = 0; t < team->count; t++)
        count += team->members[t].view->captured_count;
    if (make_room(sim, c, count))
        return -1;
    span_of(team, &first_ps, &last_ps);
    unsigned place_bits = bits_of(2 * (uint64_t)sim->port_count);
    for (uint32_t t = 0; t < team->count; t++) {
        const struct sim *view = team->members[t].view;
        for (size_t i = 0; i < view->captured_count; i++) {
            const struct sim_captured *frame = &view->captured[i];
            uint64_t key = (uint64_t)(frame->time_ps - first_ps) << place_bits | frame->place;
            c->order[c->count++] = (struct sim_captured_at){key, frame};
        }
    }
    unsigned bits = count ? place_bits + bits_of((uint64_t)(last_ps - first_ps)) : 0;
    for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS)
        sort_by_digit(c, shift);
    return 0;
}

size_t sim_captured(const struct sim *sim, const struct sim_captured_at **frames)
{
    *frames = sim->capture ? sim->capture->order : NULL;
    return sim->capture ? sim->capture->count : 0;
}

void sim_capture_stop(struct sim *sim)
{
    for (uint32_t p = 0; p < sim->port_count; p++)
        sim->ports[p].flags &= (uint8_t)~PORT_CAPTURED;
}

/* ---- what frames have in common */

size_t sim_queue_pairs(const struct sim *sim)
{
    return sim->qp_count;
}

struct sim_queue_pair sim_queue_pair(const struct sim *sim, uint32_t q)
{
    const struct queue_pair *qp = &sim->qps[q];
    return (struct sim_queue_pair){.flow = qp->flow,
                                   .sender = qp->sender,
                                   .receiver = qp->receiver,
                                   .operation = (enum sim_operation)qp->operation,
                                   .packets_per_message = qp->packets_per_message,
                                   .payload_bytes = qp->payload_bytes,
                                   .last_payload_bytes = qp->last_payload_bytes,
                                   .message_bytes = qp->message_bytes,
                                   .sender_address = routing_address(sim, qp->sender),
                                   .receiver_address = routing_address(sim, qp->receiver),
                                   .source_port = (uint16_t)(sim->source_ports ? sim->source_ports[q] : 0)};
}

uint32_t sim_port_number(const struct sim *sim, uint32_t port)
{
    return sim->ports[port].number;
}

int64_t sim_port_kmin_bytes(const struct sim *sim, uint32_t port)
{
    const struct port *at = &sim->ports[port];
    return at->node_kind == SIM_SWITCH && at->kmin != UINT32_MAX ? (int64_t)at->kmin : -1;
}
