/*
 * An empty network: how long a flow's first message would take, the reference for slowdowns, and a packet's
 * round trip, the reference for windows. The headers of congestion controls are in neither.
 */
#include "sim/fabric/switch.h"
#include "sim/model.h"

#define MOST_HOPS 66

/* The egress ports of a connection's packets, beginning with the host's. */
static size_t ports_on_path(const struct sim *sim, uint32_t from, uint32_t to, uint32_t path, uint32_t *ports)
{
    size_t count = 0;
    uint32_t port = sim->hosts[from].port;
    for (;;) {
        ports[count++] = port;
        const struct port *peer = &sim->ports[sim->ports[port].peer];
        if ((peer->node_kind == SIM_HOST && peer->node == to) || count == MOST_HOPS)
            return count;
        port = sim->paths[path++];
    }
}

static int64_t transmit_ps(const struct sim *sim, uint32_t port, int64_t bytes)
{
    if (bytes < sim->framing.minimum_bytes)
        bytes = sim->framing.minimum_bytes;
    return frame_duration(sim, (uint64_t)(bytes + sim->framing.gap_bytes), sim->ports[port].ps_per_byte_q20);
}

/* Store and forward over the hops: n - 1 whole packets at the pace of the slowest link, then the last one
 * behind them. */
static int64_t data_ps(const struct sim *sim, const struct queue_pair *qp, const uint32_t *ports, size_t hops)
{
    int64_t overhead = sim->framing.data_bytes;
    int64_t first_done = 0, slowest = 0, last_done = 0;
    for (size_t i = 0; i < hops; i++) {
        int64_t whole = transmit_ps(sim, ports[i], qp->payload_bytes + overhead);
        int64_t last = transmit_ps(sim, ports[i], qp->last_payload_bytes + overhead);
        slowest = whole > slowest ? whole : slowest;
        first_done += whole;
        int64_t before_done =
            qp->packets_per_message > 1 ? first_done + ((int64_t)qp->packets_per_message - 2) * slowest : 0;
        last_done =
            (last_done > before_done ? last_done : before_done) + last + sim->ports[ports[i]].delay_ps;
        first_done += sim->ports[ports[i]].delay_ps;
    }
    return last_done;
}

int64_t sim_flow_ideal_ps(const struct sim *sim, size_t flow)
{
    const struct queue_pair *qp = &sim->qps[sim->flows[flow].first_qp];
    uint32_t ports[MOST_HOPS];
    size_t hops = ports_on_path(sim, qp->sender, qp->receiver, qp->data_path, ports);
    int64_t ps = data_ps(sim, qp, ports, hops);
    hops = ports_on_path(sim, qp->receiver, qp->sender, qp->ack_path, ports);
    int64_t ack_bytes = sim->framing.ack_bytes;
    if (ack_bytes < sim->framing.ack_minimum_bytes)
        ack_bytes = sim->framing.ack_minimum_bytes;
    for (size_t i = 0; i < hops; i++)
        ps += transmit_ps(sim, ports[i], ack_bytes) + sim->ports[ports[i]].delay_ps;
    return ps;
}

static int64_t latencies_ps(const struct sim *sim, const uint32_t *ports, size_t hops)
{
    int64_t ps = 0;
    for (size_t i = 0; i < hops; i++) {
        const struct port *port = &sim->ports[ports[i]];
        ps += port->delay_ps + (port->node_kind == SIM_SWITCH ? sim->switches[port->node].latency_ps : 0);
    }
    return ps;
}

/* The sender's NIC reads the data, the receiver's writes it. */
static int64_t host_latencies_ps(const struct host *from, const struct host *to)
{
    int64_t ps = from->pcie.ideal ? 0 : from->tx_latency_ps + 2 * from->pcie.latency_ps;
    return ps + (to->pcie.ideal ? 0 : to->rx_latency_ps + to->pcie.latency_ps);
}

/* As the HPCC simulator has it: delays of both ways, and the payload of a packet on each link to the
 * receiver. Here with the latencies of switches, NICs and PCIe, which are 0 there. */
int64_t sim_base_rtt_ps(const struct sim *sim, uint32_t q)
{
    const struct queue_pair *qp = &sim->qps[q];
    uint32_t ports[MOST_HOPS];
    size_t hops = ports_on_path(sim, qp->sender, qp->receiver, qp->data_path, ports);
    int64_t ps = latencies_ps(sim, ports, hops) +
                 host_latencies_ps(&sim->hosts[qp->sender], &sim->hosts[qp->receiver]);
    for (size_t i = 0; i < hops; i++)
        ps += sim_duration(sim, qp->payload_bytes, sim->ports[ports[i]].ps_per_byte_q20);
    hops = ports_on_path(sim, qp->receiver, qp->sender, qp->ack_path, ports);
    return ps + latencies_ps(sim, ports, hops);
}
