/*
 * A Linux bridge as a congestion point. The reason is the CPU: frames of all ports go through one softirq,
 * which polls a port's ring a budget at a time (NAPI), hands each frame to the egress qdisc and takes sent
 * frames back only when it comes round. So queues build in the RX ring when the CPU is too slow, and in the
 * qdisc while a long poll keeps the device's byte queue limit used up.
 */
#include "sim/counters.h"
#include "sim/fabric/bridge.h"
#include "sim/islands/island.h"
#include "sim/host/egress.h"
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

/* Interrupt moderation as linux lib/dim/net_dim.c has it for completion-timed receive queues. */
static const struct {
    int64_t us;
    uint32_t frames;
} moderation[] = {{2, 256}, {8, 128}, {16, 64}, {32, 64}, {64, 64}};
#define LEVELS    (sizeof moderation / sizeof *moderation)
#define BUSY_POLL 8 /* frames an interrupt that move the moderation up; 2 or fewer move it down */
#define IDLE_POLL 2

/* mlx5's moderation of send completions. */
#define SENT_PS     (16 * SIM_PS_PER_US)
#define SENT_FRAMES 32

static struct bridge *bridge_of(struct sim *sim, uint32_t port)
{
    return &sim->bridges[sim->ports[port].node];
}

/* ---- transmit */

/* Feed the device from the qdisc while its byte queue limit allows. */
static void run_qdisc(struct sim *sim, uint32_t out)
{
    struct bridge_port *at = &sim->bridge_ports[out];
    while (at->backlog.head != NONE && byte_queue_open(&at->device)) {
        uint32_t p = list_take(sim, &at->backlog);
        uint32_t bytes = sim->packets[p].bytes;
        at->backlog_bytes -= bytes;
        byte_queue_add(&at->device, bytes);
        port_enqueue(sim, out, queue_of(sim->packets[p].priority), p);
    }
    if (at->backlog.head == NONE)
        red_idle(&at->red, sim->now_ps);
}

static bool qdisc_admits(struct sim *sim, const struct bridge *b, uint32_t out, struct packet *packet)
{
    struct bridge_port *at = &sim->bridge_ports[out];
    if (!b->config.red.limit_bytes) {
        bool room = at->backlog_bytes + packet->bytes <= b->config.physics.fifo_bytes;
        at->fifo_drops += !room;
        return room;
    }
    enum red_verdict verdict = red_enqueue(&at->red, &sim->ports[out].random, sim->now_ps, at->backlog_bytes,
                                           packet->bytes, packet->flags & PACKET_ECT);
    if (verdict == RED_MARK)
        packet->flags |= PACKET_CE;
    return verdict != RED_DROP;
}

static void forward(struct sim *sim, uint32_t p)
{
    struct packet *packet = &sim->packets[p];
    uint32_t out = sim->paths[packet->path++];
    struct bridge_port *at = &sim->bridge_ports[out];
    if (!qdisc_admits(sim, bridge_of(sim, out), out, packet)) {
        packet_give(sim, p);
        return;
    }
    at->backlog_bytes += packet->bytes;
    list_append(sim, &at->backlog, p);
    run_qdisc(sim, out);
}

/* ---- interrupts */

static void raise_interrupt(struct sim *sim, uint32_t port)
{
    struct bridge *b = bridge_of(sim, port);
    struct bridge_port *at = &sim->bridge_ports[port];
    event_cancel(sim->events, at->interrupt_event);
    at->polling = true;
    at->found = at->received = at->sent = 0;
    at->next_poll = NONE;
    if (b->first_poll == NONE)
        b->first_poll = port;
    else
        sim->bridge_ports[b->last_poll].next_poll = port;
    b->last_poll = port;
    if (b->busy)
        return;
    b->busy = true;
    b->busy_since_ps = sim->now_ps;
    b->budget_left = (uint32_t)b->config.physics.budget;
    event_schedule(sim->events, b->softirq_event, sim->now_ps + b->config.physics.interrupt_ps);
}

static void interrupt_within(struct sim *sim, struct bridge_port *at, int64_t ps)
{
    const struct event *event = &sim->events->events[at->interrupt_event];
    if (event->place == EVENT_IDLE || event->time_ps > sim->now_ps + ps)
        event_reschedule(sim->events, at->interrupt_event, sim->now_ps + ps);
}

/* A frame was received: an interrupt is due, after moderation. */
static void received_one(struct sim *sim, uint32_t port)
{
    const struct bridge *b = bridge_of(sim, port);
    struct bridge_port *at = &sim->bridge_ports[port];
    if (at->polling)
        return;
    uint32_t frames = b->config.physics.adaptive ? moderation[at->level].frames
                                                 : (uint32_t)b->config.physics.coalesce_frames;
    if (++at->received >= frames)
        raise_interrupt(sim, port);
    else if (at->received == 1)
        interrupt_within(sim, at,
                         b->config.physics.adaptive ? moderation[at->level].us * SIM_PS_PER_US
                                                    : b->config.physics.coalesce_ps);
}

/* A frame was sent: likewise. */
static void sent_one(struct sim *sim, uint32_t port)
{
    struct bridge_port *at = &sim->bridge_ports[port];
    if (at->polling)
        return;
    if (++at->sent >= SENT_FRAMES)
        raise_interrupt(sim, port);
    else if (at->sent == 1)
        interrupt_within(sim, at, SENT_PS);
}

void bridge_interrupt(struct sim *sim, uint32_t port)
{
    raise_interrupt(sim, port);
}

void bridge_receive(struct sim *sim, uint32_t in, uint32_t p)
{
    struct bridge_port *at = &sim->bridge_ports[in];
    if (at->ring_count == (uint32_t)bridge_of(sim, in)->config.physics.rx_ring) {
        at->rx_out_of_buffer++;
        packet_give(sim, p);
        return;
    }
    list_append(sim, &at->ring, p);
    at->ring_count++;
    received_one(sim, in);
}

void bridge_departed(struct sim *sim, uint32_t out, uint32_t p)
{
    sim->bridge_ports[out].sent_bytes += sim->packets[p].bytes;
    sent_one(sim, out);
}

/* ---- the softirq CPU */

static void take_back_sent(struct sim *sim, uint32_t port)
{
    struct bridge_port *at = &sim->bridge_ports[port];
    if (at->sent_bytes)
        byte_queue_complete(&at->device, at->sent_bytes, sim->now_ps);
    at->sent_bytes = 0;
    run_qdisc(sim, port);
}

static void moderate(struct bridge_port *at)
{
    if (at->found >= BUSY_POLL && at->level + 1u < LEVELS)
        at->level++;
    else if (at->found <= IDLE_POLL && at->level)
        at->level--;
}

/* The first port of the list was polled: it moves to the end of the list if it still has frames, else its
 * interrupts are switched on again. */
static void next_port(struct sim *sim, struct bridge *b)
{
    uint32_t port = b->first_poll;
    struct bridge_port *at = &sim->bridge_ports[port];
    b->budget_left = (uint32_t)b->config.physics.budget;
    b->first_poll = at->next_poll;
    if (at->ring.head != NONE) {
        at->next_poll = NONE;
        if (b->first_poll == NONE)
            b->first_poll = port;
        else
            sim->bridge_ports[b->last_poll].next_poll = port;
        b->last_poll = port;
    } else {
        at->polling = false;
        moderate(at);
        if (at->sent_bytes)
            sent_one(sim, port);
    }
}

/* The CPU is free: go through the ports until there is a frame to spend time on. */
static void go_on(struct sim *sim, struct bridge *b)
{
    while (b->first_poll != NONE) {
        uint32_t port = b->first_poll;
        struct bridge_port *at = &sim->bridge_ports[port];
        if (b->budget_left == (uint32_t)b->config.physics.budget)
            take_back_sent(sim, port);
        if (at->ring.head != NONE && b->budget_left) {
            b->budget_left--;
            at->found++;
            event_schedule(sim->events, b->softirq_event, sim->now_ps + b->config.physics.frame_ps);
            b->in_work = port;
            return;
        }
        next_port(sim, b);
    }
    b->busy = false;
    b->busy_ps += sim->now_ps - b->busy_since_ps;
}

void bridge_softirq(struct sim *sim, uint32_t index)
{
    struct bridge *b = &sim->bridges[index];
    if (b->in_work != NONE) {
        struct bridge_port *at = &sim->bridge_ports[b->in_work];
        uint32_t p = list_take(sim, &at->ring);
        at->ring_count--;
        b->in_work = NONE;
        forward(sim, p);
    }
    go_on(sim, b);
}

/* ---- building */

void sim_bridge_defaults(struct sim_bridge_config *b)
{
    *b = (struct sim_bridge_config){.name = "bridge"};
    (void)table_defaults(&physics_forwarding_table, &b->physics);
}

static const char *const sums[] = {
    "softirq_busy",
    "rx_out_of_buffer",
    "rx_bytes",
};
/* The names that nic-sampler gives a qdisc's statistics. */
static const char *const of_port[] = {
    "port#_ring_frames",  "port#_rx_out_of_buffer", "qdisc_port#_backlog",
    "qdisc_port#_marked", "qdisc_port#_early",      "qdisc_port#_pdrop",
};
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NAME_BYTES   40

static int build_columns(struct bridge *b)
{
    b->column_count = COUNT(sums) + b->port_count * COUNT(of_port);
    b->columns = calloc(b->column_count, sizeof *b->columns);
    b->column_names = calloc(b->column_count, NAME_BYTES);
    if (!b->columns || !b->column_names)
        return -1;
    for (size_t i = 0; i < COUNT(sums); i++)
        b->columns[i] = (struct sim_counter){sums[i], counters_row(sums[i])};
    for (size_t i = COUNT(sums); i < b->column_count; i++) {
        size_t of = i - COUNT(sums);
        const char *pattern = of_port[of % COUNT(of_port)];
        char *name = b->column_names + i * NAME_BYTES;
        counters_instance(name, NAME_BYTES, pattern, (unsigned)(of / COUNT(of_port)), 0);
        b->columns[i] = (struct sim_counter){name, counters_row(pattern)};
    }
    return 0;
}

static int check(const struct sim_bridge_config *c, struct error *e)
{
    char of[120];
    snprintf(of, sizeof of, "bridge %.80s", c->name);
    return table_check(&physics_forwarding_table, &c->physics, of, e);
}

static int build_port(struct sim *sim, const struct bridge *b, uint32_t p, struct error *e)
{
    struct bridge_port *at = &sim->bridge_ports[p];
    *at = (struct bridge_port){.ring = {NONE, NONE}, .backlog = {NONE, NONE}, .next_poll = NONE};
    at->interrupt_event = events_add(sim->events, EVENT_INTERRUPT, p);
    if (at->interrupt_event == EVENT_NONE)
        return error_set(e, "simulator: out of memory");
    byte_queue_init(&at->device, b->config.physics.tx_limit_bytes);
    if (b->config.red.limit_bytes && red_init(&at->red, &b->config.red, e))
        return error_prefix(e, "bridge %s", b->config.name);
    return 0;
}

static int build_bridge(struct sim *sim, uint32_t index, const struct sim_bridge_config *c, struct error *e)
{
    if (check(c, e))
        return -1;
    struct bridge *b = &sim->bridges[index];
    *b = (struct bridge){.config = *c, .first_poll = NONE, .last_poll = NONE, .in_work = NONE};
    b->ports = calloc(sim->port_count, sizeof *b->ports);
    island_enter(sim, SIM_BRIDGE, index);
    b->softirq_event = events_add(sim->events, EVENT_SOFTIRQ, index);
    if (!b->ports || b->softirq_event == EVENT_NONE)
        return error_set(e, "simulator: out of memory");
    for (uint32_t p = 0; p < sim->port_count; p++) {
        if (sim->ports[p].node_kind != SIM_BRIDGE || sim->ports[p].node != index)
            continue;
        b->ports[b->port_count++] = p;
        if (build_port(sim, b, p, e))
            return -1;
    }
    b->config.name = NULL; /* the caller's */
    return build_columns(b) ? error_set(e, "simulator: out of memory") : 0;
}

int bridges_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    if (!config->bridge_count)
        return 0;
    sim->bridges = calloc(config->bridge_count, sizeof *sim->bridges);
    sim->bridge_ports = calloc(sim->port_count, sizeof *sim->bridge_ports);
    if (!sim->bridges || !sim->bridge_ports)
        return error_set(e, "simulator: out of memory");
    for (uint32_t i = 0; i < config->bridge_count; i++)
        if (build_bridge(sim, i, &config->bridges[i], e))
            return -1;
    return 0;
}

void bridges_free(struct sim *sim)
{
    for (uint32_t i = 0; sim->bridges && i < sim->bridge_count; i++) {
        free(sim->bridges[i].ports);
        free(sim->bridges[i].columns);
        free(sim->bridges[i].column_names);
    }
    free(sim->bridges);
    free(sim->bridge_ports);
}

/* ---- reading */

size_t sim_bridge_counters(const struct sim *sim, uint32_t index, const struct sim_counter **counters)
{
    *counters = sim->bridges[index].columns;
    return sim->bridges[index].column_count;
}

void sim_bridge_values(const struct sim *sim, uint32_t index, int64_t *values)
{
    const struct bridge *b = &sim->bridges[index];
    int64_t *value = values + COUNT(sums), lost = 0, rx_bytes = 0;
    for (uint32_t i = 0; i < b->port_count; i++) {
        const struct bridge_port *at = &sim->bridge_ports[b->ports[i]];
        for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++)
            rx_bytes += sim->counters[b->ports[i]][priority].rx_bytes;
        lost += at->rx_out_of_buffer;
        *value++ = at->ring_count;
        *value++ = at->rx_out_of_buffer;
        *value++ = at->backlog_bytes;
        *value++ = (int64_t)(at->red.prob_mark + at->red.forced_mark);
        *value++ = (int64_t)(at->red.prob_drop + at->red.forced_drop);
        *value++ = (int64_t)at->red.pdrop + at->fifo_drops;
    }
    int64_t busy_ps = b->busy_ps + (b->busy ? sim->now_ps - b->busy_since_ps : 0);
    const int64_t first[COUNT(sums)] = {busy_ps / SIM_PS_PER_US, lost, rx_bytes};
    for (size_t i = 0; i < COUNT(sums); i++)
        values[i] = first[i];
}
