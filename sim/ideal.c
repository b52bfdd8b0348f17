/*
 * An empty network: how long a flow's first message would take, the reference for slowdowns, and a packet's
 * round trip, the reference for windows. The headers of congestion controls are in neither.
 */
#include "sim/fabric/switch.h"
#include "sim/host/transport.h"

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

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Store and forward over the hops: the first packet of a message, the packets in the middle, which are of one
 * size, and the last. Each time is that at which such a packet has crossed the hop: `second` of the first in
 * the middle, `middle` of the last there, which either came just then, or waited behind all others from the
 * second on. */
static int64_t data_ps(const struct sim *sim, const struct queue_pair *qp, const uint32_t *ports, size_t hops)
{
    int64_t between = (int64_t)qp->packets_per_message - 2;
    const unsigned place = between < 0 ? PACKET_FIRST | PACKET_LAST : PACKET_LAST; /* of the last packet */
    int64_t first = 0, second = 0, middle = 0, last = 0;
    for (size_t i = 0; i < hops; i++) {
        int64_t delay = sim->ports[ports[i]].delay_ps;
        int64_t whole = transmit_ps(sim, ports[i], data_frame_bytes(sim, qp, qp->payload_bytes, 0));
        int64_t before = 0; /* the packet before the last has crossed the hop */
        if (between >= 0)
            before = first +=
                transmit_ps(sim, ports[i], data_frame_bytes(sim, qp, qp->payload_bytes, PACKET_FIRST));
        if (between > 0) {
            second = later(second, first) + whole;
            before = middle = later(middle + whole, second + (between - 1) * whole);
        }
        last = later(last, before) +
               transmit_ps(sim, ports[i], data_frame_bytes(sim, qp, qp->last_payload_bytes, place));
        first += delay;
        second += delay;
        middle += delay;
        last += delay;
    }
    return last;
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
