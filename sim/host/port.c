/* A port's sending side: egress queues, serialisation, and the link to its peer. */
#include "sim/fabric/bridge.h"
#include "sim/fabric/switch.h"
#include "sim/faults/hooks.h"
#include "sim/faults/link_faults.h"
#include "sim/host/egress.h"

/* The time-out of a read's request counts from when it leaves. */
static inline void request_departed(struct sim *sim, uint32_t p)
{
    struct queue_pair *qp = &sim->qps[sim->packets[p].qp];
    if (qp->waiting_request != p)
        return;
    qp->waiting_request = NONE;
    qp->progress_ps = sim->now_ps;
}

static inline uint32_t next_frame(struct sim *sim, uint32_t port, struct port *out)
{
    unsigned queues = out->ready & ~(unsigned)out->paused;
    if (!queues)
        return out->node_kind == SIM_HOST ? host_pull(sim, port) : NONE;
    unsigned queue =
        out->flags & PORT_ETS ? switch_pick_queue(sim, port, queues) : (unsigned)__builtin_ctz(queues);
    uint32_t p = port_dequeue(sim, out, queue);
    if (out->node_kind == SIM_SWITCH)
        switch_departed(sim, port, queue, p);
    else if (out->node_kind == SIM_BRIDGE)
        bridge_departed(sim, port, p);
    else if (sim->packets[p].kind == PACKET_ACK)
        sim->qps[sim->packets[p].qp].waiting_ack = NONE;
    else if (sim->packets[p].kind == PACKET_READ_REQUEST)
        request_departed(sim, p);
    return p;
}

bool port_waits(const struct sim *sim, uint32_t port, unsigned queues)
{
    const struct port *at = &sim->ports[port];
    const struct host *h = at->node_kind == SIM_HOST ? &sim->hosts[at->node] : NULL;
    unsigned waiting = at->ready | (h ? h->fetched_ready : 0);
    uint32_t first = h ? h->ring : NONE, q = first;
    while (q != NONE) {
        waiting |= 1u << sim->qps[q].queue;
        q = sim->qps[q].ring_next == first ? NONE : sim->qps[q].ring_next;
    }
    return waiting & queues;
}

/* Send the next frame, if one may be sent, and schedule the one after it. */
void port_transmit(struct sim *sim, uint32_t port)
{
    struct port *out = &sim->ports[port];
    uint32_t p = next_frame(sim, port, out);
    if (p == NONE)
        return;
    send_frame(sim, out, p);
    if (out->node_kind == SIM_HOST && out->jitter_ps)
        out->busy_until_ps += whole_ns(sim, (int64_t)random_exponential(&out->random, out->jitter_ps));
    unsigned queues = out->ready & ~(unsigned)out->paused;
    if (queues) {
        port_schedule(sim, out, out->busy_until_ps, out->queues[__builtin_ctz(queues)].packets.head);
    } else if (out->node_kind == SIM_HOST) {
        int64_t at_ps = host_next_pull_ps(sim, out->node);
        if (at_ps != SIM_FOREVER)
            port_schedule(sim, out, at_ps > out->busy_until_ps ? at_ps : out->busy_until_ps, 0);
    }
}

void port_arrive_at_host(struct sim *sim, uint32_t port)
{
    struct port *in = &sim->ports[port];
    uint32_t p = link_arrive(sim, port, in);
    if (sim->packets[p].kind == PACKET_PFC)
        pfc_receive(sim, port, p);
    else
        host_receive(sim, port, p);
}

/* Is the frame lost on its way, or held back? */
static bool is_lost(struct sim *sim, uint32_t port, struct port *in, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    if (in->flags & PORT_FAULTY && link_faults_lose(sim, port, p))
        return true;
    if (!(in->flags & PORT_LOSES) || packet->kind == PACKET_PFC ||
        random_next(&in->random) >= in->loss_threshold)
        return false;
    sim->faults->ends[port].crc_errors++;
    link_lose(sim, port, p);
    return true;
}

void port_receive(struct sim *sim, uint32_t port, uint32_t p)
{
    const struct port *in = &sim->ports[port];
    if (in->flags & PORT_CAPTURED)
        capture_frame(sim, port, p, false);
    if (sim->packets[p].kind == PACKET_PFC) {
        pfc_receive(sim, port, p);
        return;
    }
    switch ((enum sim_node_kind)in->node_kind) {
    case SIM_HOST:
        host_receive(sim, port, p);
        break;
    case SIM_SWITCH:
        switch_receive(sim, port, p);
        break;
    case SIM_BRIDGE:
        bridge_receive(sim, port, p);
        break;
    }
}

void port_arrive(struct sim *sim, uint32_t port)
{
    struct port *in = &sim->ports[port];
    uint32_t p = link_arrive(sim, port, in);
    if (!is_lost(sim, port, in, p))
        port_receive(sim, port, p);
}
