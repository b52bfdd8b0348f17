/* Which nodes are one island, which thread runs it, and its queue of events. */
#include "sim/islands/island.h"
#include "sim/jobs.h"
#include "sim/packet.h"
#include "sim/fabric/routing.h"
#include "lib/roce/path_mtu.h"
#include <stdlib.h>
#include <string.h>

/* Nodes are in different islands if a frame is on its way between them for at least this time: a shorter
 * window holds too few events to be worth its beginning and end. In a network of many ports even a short one
 * is, because the state of all nodes does not fit the caches. */
#define WINDOW_LEAST_PS       (100 * SIM_PS_PER_NS)
#define WINDOW_LEAST_LARGE_PS (20 * SIM_PS_PER_NS)
#define LARGE_PORTS           512
/* The state of this number of ports fits the nearest cache, */
#define SMALL_PORTS 64
/* and the state of this number the next one: parts of this size that are joined by links are one island, */
#define GROUP_PORTS 1024
/* unless a window holds more frames of a link than this, and the network is not larger: then a node's window
 * is work enough. */
#define FEW_FRAMES  6.0
#define DENSE_PORTS 4096
/* Parts are at most this part of a thread's share, so that shares are similar. */
#define PARTS_OF_THREAD 4
/* An island of more ports is not fetched as a whole before it is run. */
#define FETCHED_PORTS 128

/* ---- who belongs together */

struct division {
    struct sim *sim;
    const struct sim_config *config;
    uint32_t nodes;
    uint32_t *leader; /* of each node: another one of its part, or itself */
    uint32_t *thread; /* of each part's leader */
    uint32_t *ports;  /* of each part, by its leader */
    uint32_t threads;
    uint32_t *island_of_thread; /* the latest one; NONE */
    uint32_t *thread_of_island;
};

static uint32_t leader_of(struct division *d, uint32_t node)
{
    while (d->leader[node] != node)
        node = d->leader[node] = d->leader[d->leader[node]];
    return node;
}

/* The lowest node leads. */
static void join_parts(struct division *d, uint32_t a, uint32_t b)
{
    a = leader_of(d, a);
    b = leader_of(d, b);
    d->leader[a > b ? a : b] = a < b ? a : b;
}

static uint32_t node_at(const struct division *d, const struct sim_node *at)
{
    return graph_node(d->sim, at->kind, at->index);
}

int64_t island_shortest_frame_bytes(const struct physics_framing *f)
{
    int64_t least = f->ack_bytes < f->data_bytes ? f->ack_bytes : f->data_bytes;
    least = least > f->minimum_bytes ? least : f->minimum_bytes;
    least = least < f->cnp_bytes ? least : f->cnp_bytes;
    return least < f->pfc_bytes ? least : f->pfc_bytes;
}

/* How long the shortest frame is on its way. */
static int64_t way_ps(const struct division *d, const struct sim_link_config *link)
{
    uint64_t ps_per_byte_q20 = ((uint64_t)SIM_PS_PER_S * 8 << 20) / (uint64_t)link->rate_bps;
    int64_t bytes = island_shortest_frame_bytes(&d->sim->framing) + d->sim->framing.gap_bytes;
    return link->delay_ps + frame_duration(d->sim, (uint64_t)bytes, ps_per_byte_q20);
}

/* The two ends of a read share which requests the responder has taken: request_reads_again. */
static void join_readers(struct division *d)
{
    for (size_t i = 0; i < d->config->flow_count; i++) {
        const struct sim_flow_config *f = &d->config->flows[i];
        if (f->operation == SIM_READ)
            join_parts(d, f->from, f->to);
    }
}

/* All NICs of a rank are its program's. */
static void join_ranks(struct division *d)
{
    for (size_t j = 0; j < d->config->job_count; j++) {
        const struct sim_job_config *job = &d->config->jobs[j];
        for (size_t i = 0; i < (size_t)job->schedule->rank_count * job->nics; i++)
            if (job->hosts[i] != NONE)
                join_parts(d, job->hosts[i / job->nics * job->nics], job->hosts[i]);
    }
}

/* Join the ends of links that are shorter than least_ps. Are there at least two parts? */
static bool divide_by_delay(struct division *d, int64_t least_ps)
{
    for (uint32_t i = 0; i < d->nodes; i++)
        d->leader[i] = i;
    join_readers(d);
    join_ranks(d);
    for (size_t i = 0; i < d->config->link_count; i++) {
        const struct sim_link_config *link = &d->config->links[i];
        if (way_ps(d, link) < least_ps)
            join_parts(d, node_at(d, &link->a), node_at(d, &link->b));
    }
    for (uint32_t i = 0; i < d->nodes; i++)
        if (leader_of(d, i))
            return true;
    return false;
}

/* ---- parts that are worth a window */

static int64_t longest_payload_bytes(const struct sim_config *config)
{
    int64_t most = 1;
    for (size_t i = 0; i < config->host_count; i++) {
        int64_t bytes = roce_path_mtu(config->hosts[i].settings.mtu_bytes);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The longest frames that a link carries in a window, on average. The window is the shortest way between
 * parts. */
static double frames_a_window(struct division *d)
{
    int64_t window_ps = SIM_FOREVER;
    double bps = 0;
    for (size_t i = 0; i < d->config->link_count; i++) {
        const struct sim_link_config *link = &d->config->links[i];
        int64_t ps = way_ps(d, link);
        if (ps < window_ps && leader_of(d, node_at(d, &link->a)) != leader_of(d, node_at(d, &link->b)))
            window_ps = ps;
        bps += (double)link->rate_bps;
    }
    double frame_bits = 8 * (double)(longest_payload_bytes(d->config) + d->sim->framing.data_bytes);
    return (double)window_ps * 1e-12 * bps / (double)(d->config->link_count + 1) / frame_bits;
}

/* The most ports of a part that is made of others; 0: none is. */
static uint32_t most_ports(struct division *d)
{
    uint32_t ports = d->sim->port_count, share = ports / (PARTS_OF_THREAD * d->threads);
    if (ports <= DENSE_PORTS && frames_a_window(d) > FEW_FRAMES)
        return 0;
    return d->threads == 1 || share > GROUP_PORTS ? GROUP_PORTS : share;
}

/* Join parts along links, in their order: of a fat tree these are pods, with all that is behind them as far
 * as it goes. */
static void group_parts(struct division *d)
{
    uint32_t most = most_ports(d);
    for (size_t i = 0; i < d->config->link_count; i++) {
        d->ports[leader_of(d, node_at(d, &d->config->links[i].a))]++;
        d->ports[leader_of(d, node_at(d, &d->config->links[i].b))]++;
    }
    for (size_t i = 0; i < d->config->link_count; i++) {
        const struct sim_link_config *link = &d->config->links[i];
        uint32_t a = leader_of(d, node_at(d, &link->a)), b = leader_of(d, node_at(d, &link->b));
        if (a == b || d->ports[a] + d->ports[b] > most)
            continue;
        d->ports[a] = d->ports[b] = d->ports[a] + d->ports[b];
        join_parts(d, a, b);
    }
}

/* ---- threads and numbers */

/* What a node has to do: the rates of its links, without those of hosts that have no flow. */
static void weigh_nodes(const struct division *d, uint64_t *weights)
{
    for (size_t i = 0; i < d->config->flow_count; i++)
        weights[d->config->flows[i].from] = weights[d->config->flows[i].to] = 1;
    for (size_t i = 0; d->config->stream && i < d->config->host_count; i++)
        weights[i] = 1;
    for (size_t i = 0; i < d->config->link_count; i++) {
        const struct sim_link_config *link = &d->config->links[i];
        uint32_t a = node_at(d, &link->a), b = node_at(d, &link->b);
        if ((link->a.kind == SIM_HOST && !weights[a]) || (link->b.kind == SIM_HOST && !weights[b]))
            continue;
        weights[a] += (uint64_t)link->rate_bps;
        weights[b] += (uint64_t)link->rate_bps;
    }
}

/* Each part goes to the thread that has least to do. */
static void assign_threads(struct division *d, uint64_t *weights, uint64_t *sums)
{
    for (uint32_t i = 0; i < d->nodes; i++)
        if (leader_of(d, i) != i)
            weights[leader_of(d, i)] += weights[i];
    for (uint32_t i = 0; i < d->nodes; i++) {
        if (d->leader[i] != i)
            continue;
        uint32_t least = 0;
        for (uint32_t t = 1; t < d->threads; t++)
            if (sums[t] < sums[least])
                least = t;
        d->thread[i] = least;
        sums[least] += weights[i] + 1;
    }
}

/* The parts of a thread are one island if their state fits the caches: then a window has more to do. */
static void number_islands(struct division *d)
{
    struct sim *sim = d->sim;
    bool small = sim->port_count / d->threads <= SMALL_PORTS;
    uint32_t *island_of_thread = d->island_of_thread;
    for (uint32_t i = 0; i < d->nodes; i++) {
        if (d->leader[i] != i)
            continue;
        uint32_t *number = &island_of_thread[d->thread[i]];
        if (!small || *number == NONE) {
            *number = sim->island_count;
            d->thread_of_island[sim->island_count++] = d->thread[i];
        }
        sim->island_of_node[i] = *number;
    }
    for (uint32_t i = 0; i < d->nodes; i++)
        sim->island_of_node[i] = sim->island_of_node[leader_of(d, i)];
}

/* The window is the shortest way between islands. */
static void measure_window(struct division *d)
{
    const uint32_t *island = d->sim->island_of_node;
    d->sim->window_ps = SIM_FOREVER;
    for (size_t i = 0; i < d->config->link_count; i++) {
        const struct sim_link_config *link = &d->config->links[i];
        int64_t ps = way_ps(d, link);
        if (ps < d->sim->window_ps && island[node_at(d, &link->a)] != island[node_at(d, &link->b)])
            d->sim->window_ps = ps;
    }
}

/* ---- their queues */

/* What an island's links ask of its queue. */
struct load {
    uint32_t ports;
    double events_per_ps, way_ps;
};

static void add_load(struct load *load, const struct sim_link_config *link)
{
    double packet_ps = 8e15 / (double)link->rate_bps;
    load->ports++;
    load->events_per_ps += 2 / packet_ps;
    load->way_ps = fmax(load->way_ps, packet_ps + (double)link->delay_ps);
}

/* A slot of the wheel holds about one event when all ports send packets of 1 KB, and half of the wheel
 * (island_run) spans the delay of a packet. */
static int open_queue(struct event_queue *q, const struct load *load)
{
    uint32_t slots = 64;
    while (slots < WHEEL_MOST_SLOTS && slots < 128 * load->ports)
        slots *= 2;
    double slot_ps = load->ports ? fmax(1 / load->events_per_ps, 4 * load->way_ps / slots) : 1e6;
    return events_open(q, slots, (int64_t)fmin(slot_ps, 1e6));
}

static int open_queues(struct division *d)
{
    struct sim *sim = d->sim;
    struct load *loads = calloc((size_t)sim->island_count + 1, sizeof *loads);
    sim->islands = array_grow(NULL, 0, sim->island_count * sizeof *sim->islands);
    int rc = loads && sim->islands ? 0 : -1;
    for (size_t i = 0; i < d->config->link_count && !rc; i++) {
        const struct sim_link_config *link = &d->config->links[i];
        add_load(&loads[sim->island_of_node[node_at(d, &link->a)]], link);
        add_load(&loads[sim->island_of_node[node_at(d, &link->b)]], link);
    }
    for (uint32_t i = 0; i < sim->island_count && !rc; i++)
        rc = open_queue(&sim->islands[i].queue, &loads[i]);
    for (uint32_t i = 0; i < sim->island_count && !rc; i++)
        sim->islands[i].thread = d->thread_of_island[i];
    free(loads);
    return rc;
}

static int divide_nodes(struct division *d)
{
    struct sim *sim = d->sim;
    uint64_t *weights = calloc((size_t)d->nodes + d->threads, sizeof *weights);
    d->leader = calloc((size_t)d->nodes + 1, 4 * sizeof *d->leader);
    d->island_of_thread = malloc(d->threads * sizeof *d->island_of_thread);
    sim->island_of_node = calloc((size_t)d->nodes + 1, sizeof *sim->island_of_node);
    int rc = weights && d->leader && d->island_of_thread && sim->island_of_node ? 0 : -1;
    if (!rc) {
        d->thread = d->leader + d->nodes;
        d->thread_of_island = d->thread + d->nodes;
        d->ports = d->thread_of_island + d->nodes;
        memset(d->island_of_thread, 0xff, d->threads * sizeof *d->island_of_thread);
        if (!divide_by_delay(d, WINDOW_LEAST_PS) && sim->port_count >= LARGE_PORTS)
            (void)divide_by_delay(d, WINDOW_LEAST_LARGE_PS);
        group_parts(d);
        weigh_nodes(d, weights);
        assign_threads(d, weights, weights + d->nodes);
        number_islands(d);
        measure_window(d);
        rc = open_queues(d);
    }
    free(weights);
    free(d->leader);
    free(d->island_of_thread);
    return rc;
}

int islands_build(struct sim *sim, const struct sim_config *config, struct error *e)
{
    struct division d = {
        .sim = sim, .config = config, .nodes = sim->host_count + sim->switch_count + sim->bridge_count};
    d.threads = config->threads < d.nodes ? config->threads : d.nodes;
    d.threads = d.threads ? d.threads : 1;
    return divide_nodes(&d) ? error_set(e, "simulator: no memory for the event queues of %u nodes", d.nodes)
                            : 0;
}

int islands_list_ports(struct sim *sim, struct error *e)
{
    sim->island_ports = calloc((size_t)sim->port_count + 1, sizeof *sim->island_ports);
    if (!sim->island_ports)
        return error_set(e, "simulator: no memory for %u ports", sim->port_count);
    for (uint32_t p = 0; p < sim->port_count; p++)
        sim->islands[sim->ports[p].island].port_count++;
    uint32_t *next = sim->island_ports;
    for (uint32_t i = 0; i < sim->island_count; i++) {
        sim->islands[i].ports = next;
        next += sim->islands[i].port_count;
        sim->islands[i].port_count = 0;
    }
    for (uint32_t p = 0; p < sim->port_count; p++) {
        struct island *island = &sim->islands[sim->ports[p].island];
        island->ports[island->port_count++] = p;
        island->looks_ahead = sim->island_count == 1 || island->port_count > FETCHED_PORTS;
    }
    return 0;
}

void islands_free(struct sim *sim)
{
    for (uint32_t i = 0; sim->islands && i < sim->island_count; i++)
        events_close(&sim->islands[i].queue);
    free(sim->islands);
    free(sim->island_of_node);
    free(sim->island_ports);
}

void island_enter(struct sim *sim, unsigned kind, uint32_t index)
{
    sim->events = &sim->islands[sim->island_of_node[graph_node(sim, kind, index)]].queue;
}
