/* What a host's port and NIC count, under mlx5's names. One table of sources; columns exist only for the
 * priorities that are in use. */
#include "sim/model.h"
#include "sim/counters.h"
#include "sim/faults/link_faults.h"
#include "sim/islands/team.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum scope {
    EACH_PRIORITY,
    EACH_PFC_PRIORITY,
    EACH_BUFFER,
    HOST,
    GAUGE_READ_STALL,
    GAUGE_WRITE_STALL,
    FAULTS,
    LINK_END,
    RETRANSMISSION, /* with a NIC's measured time-outs */
    SLOW_RESTART,
    NOT_READY, /* where receivers may be so */
};
enum scale { AS_IT_IS, PS_TO_US };

struct source {
    const char *name; /* # is the priority or buffer */
    size_t offset;    /* in priority_counters, receive_buffer or host */
    enum scope scope;
    enum scale scale;
};

#define PRIORITY(field) offsetof(struct priority_counters, field)
#define BUFFER(field)   offsetof(struct receive_buffer, field)
#define COUNT(field)    offsetof(struct host, counters.field)
#define GPU(field)                                                              \
    (offsetof(struct host, memories) + SIM_MEMORY_GPU * sizeof(struct memory) + \
     offsetof(struct memory, field))

static const struct source sources[] = {
    {"rx_prio#_bytes", PRIORITY(rx_bytes), EACH_PRIORITY, AS_IT_IS},
    {"rx_prio#_packets", PRIORITY(rx_packets), EACH_PRIORITY, AS_IT_IS},
    {"tx_prio#_bytes", PRIORITY(tx_bytes), EACH_PRIORITY, AS_IT_IS},
    {"tx_prio#_packets", PRIORITY(tx_packets), EACH_PRIORITY, AS_IT_IS},
    {"rx_prio#_discards", PRIORITY(rx_discards), EACH_PRIORITY, AS_IT_IS},
    {"rx_prio#_pause", PRIORITY(rx_pause), EACH_PFC_PRIORITY, AS_IT_IS},
    {"rx_prio#_pause_duration", PRIORITY(rx_pause_ps), EACH_PFC_PRIORITY, PS_TO_US},
    {"rx_prio#_pause_transition", PRIORITY(rx_transitions), EACH_PFC_PRIORITY, AS_IT_IS},
    {"tx_prio#_pause", PRIORITY(tx_pause), EACH_PFC_PRIORITY, AS_IT_IS},
    {"tx_prio#_pause_duration", PRIORITY(tx_pause_ps), EACH_PFC_PRIORITY, PS_TO_US},
    {"rx_discards_phy", COUNT(rx_discards), HOST, AS_IT_IS},
    {"rx_vport_rdma_unicast_packets", COUNT(rx_rdma_packets), HOST, AS_IT_IS},
    {"rx_vport_rdma_unicast_bytes", COUNT(rx_rdma_bytes), HOST, AS_IT_IS},
    {"tx_vport_rdma_unicast_packets", COUNT(tx_rdma_packets), HOST, AS_IT_IS},
    {"tx_vport_rdma_unicast_bytes", COUNT(tx_rdma_bytes), HOST, AS_IT_IS},
    {"out_of_sequence", COUNT(out_of_sequence), HOST, AS_IT_IS},
    {"packet_seq_err", COUNT(packet_seq_err), HOST, AS_IT_IS},
    {"duplicate_request", COUNT(duplicate_request), HOST, AS_IT_IS},
    {"implied_nak_seq_err", COUNT(implied_nak_seq_err), HOST, AS_IT_IS},
    {"local_ack_timeout_err", COUNT(local_ack_timeout_err), HOST, AS_IT_IS},
    {"rx_write_requests", COUNT(rx_write_requests), HOST, AS_IT_IS},
    {"rx_read_requests", COUNT(rx_read_requests), HOST, AS_IT_IS},
    {"np_ecn_marked_roce_packets", COUNT(np_ecn_marked), HOST, AS_IT_IS},
    {"np_cnp_sent", COUNT(np_cnp_sent), HOST, AS_IT_IS},
    {"rp_cnp_handled", COUNT(rp_cnp_handled), HOST, AS_IT_IS},
    {"rp_cnp_ignored", COUNT(rp_cnp_ignored), HOST, AS_IT_IS},
    {"outbound_pci_stalled_rd", offsetof(struct stall_gauge, percent), GAUGE_READ_STALL, AS_IT_IS},
    {"outbound_pci_stalled_wr", offsetof(struct stall_gauge, percent), GAUGE_WRITE_STALL, AS_IT_IS},
    {"outbound_pci_stalled_rd_events", offsetof(struct stall_gauge, events), GAUGE_READ_STALL, AS_IT_IS},
    {"outbound_pci_stalled_wr_events", offsetof(struct stall_gauge, events), GAUGE_WRITE_STALL, AS_IT_IS},
    {"nic_pcie_tx_bytes", offsetof(struct host, pcie.up_bytes), HOST, AS_IT_IS},
    {"nic_pcie_rx_bytes", offsetof(struct host, pcie.down_bytes), HOST, AS_IT_IS},
    {"gpu_pcie_rx_bytes", GPU(device_rx_bytes), HOST, AS_IT_IS},
    {"gpu_pcie_tx_bytes", GPU(device_tx_bytes), HOST, AS_IT_IS},
    {"gpu_stalls", GPU(stalls), HOST, AS_IT_IS},
    {"gpu_stalled_duration", GPU(stalled_ps), HOST, PS_TO_US},
    {"link_down_events_phy", offsetof(struct link_end, downs), LINK_END, AS_IT_IS},
    {"rx_crc_errors_phy", offsetof(struct link_end, crc_errors), LINK_END, AS_IT_IS},
    {"req_transport_retries_exceeded", COUNT(retries_exceeded), FAULTS, AS_IT_IS},
    {"req_cqe_error", COUNT(cqe_errors), RETRANSMISSION, AS_IT_IS},
    {"out_of_buffer", COUNT(out_of_buffer), NOT_READY, AS_IT_IS},
    {"rnr_nak_retry_err", COUNT(rnr_naks), NOT_READY, AS_IT_IS},
    {"req_rnr_retries_exceeded", COUNT(rnr_retries_exceeded), NOT_READY, AS_IT_IS},
    {"roce_adp_retrans", COUNT(adaptive_retransmissions), RETRANSMISSION, AS_IT_IS},
    {"roce_slow_restart", COUNT(slow_restarts), SLOW_RESTART, AS_IT_IS},
    {"roce_slow_restart_cnps", COUNT(slow_restart_cnps), SLOW_RESTART, AS_IT_IS},
    {"rx_buffer#_bytes", BUFFER(used_bytes), EACH_BUFFER, AS_IT_IS},
    {"rx_buffer#_peak_bytes", BUFFER(peak_bytes), EACH_BUFFER, AS_IT_IS},
};
#define SOURCES    (sizeof sources / sizeof sources[0])
#define NAME_BYTES 40

static unsigned copies(const struct source *s)
{
    if (s->scope == EACH_PRIORITY || s->scope == EACH_PFC_PRIORITY)
        return SIM_PRIORITIES;
    return s->scope == EACH_BUFFER ? SIM_BUFFERS : 1;
}

static bool has(const struct sim *sim, const struct host *h, const struct source *s, unsigned i)
{
    if (s->scope == FAULTS)
        return sim->faults || h->retransmission;
    if (s->scope == LINK_END)
        return sim->faults;
    if (s->scope == RETRANSMISSION)
        return h->retransmission;
    if (s->scope == SLOW_RESTART)
        return h->slow_restart;
    if (s->scope == NOT_READY)
        return sim->may_be_not_ready;
    if (s->scope == EACH_PFC_PRIORITY)
        return h->settings.pfc_mask >> i & 1;
    if (s->scope == EACH_BUFFER)
        return h->buffers[i].size_bytes > 0;
    return true;
}

const struct counter *counters_row(const char *pattern)
{
    char name[NAME_BYTES];
    const struct counter *row = counters_find(counters_instance(name, sizeof name, pattern, 0, 0));
    return row ? row : &counter_unlisted;
}

/* Every column that a host may have: its row of `all` has the name of the source's copies. */
static void name_columns(char *names, struct sim_counter *all)
{
    for (size_t k = 0; k < SOURCES; k++) {
        const struct counter *is = counters_row(sources[k].name);
        for (unsigned i = 0; i < copies(&sources[k]); i++, names += NAME_BYTES)
            *all++ = (struct sim_counter){counters_instance(names, NAME_BYTES, sources[k].name, i, 0), is};
    }
}

static void take_columns(const struct sim *sim, struct host *h, const struct sim_counter *all)
{
    for (size_t k = 0; k < SOURCES; k++)
        for (unsigned i = 0; i < copies(&sources[k]); i++, all++)
            if (has(sim, h, &sources[k], i)) {
                h->column_sources[h->column_count] = (struct column_source){(uint8_t)k, (uint8_t)i};
                h->columns[h->column_count++] = *all;
            }
}

int counters_build(struct sim *sim)
{
    size_t most = 0;
    for (size_t k = 0; k < SOURCES; k++)
        most += copies(&sources[k]);
    struct sim_counter *all = calloc(most, sizeof *all);
    sim->host_column_names = calloc(most, NAME_BYTES);
    bool whole = all && sim->host_column_names;
    if (whole)
        name_columns(sim->host_column_names, all);
    for (uint32_t i = 0; whole && i < sim->host_count; i++) {
        struct host *h = &sim->hosts[i];
        h->columns = calloc(most, sizeof *h->columns);
        h->column_sources = calloc(most, sizeof *h->column_sources);
        whole = h->columns && h->column_sources;
        if (whole)
            take_columns(sim, h, all);
    }
    free(all);
    return whole ? 0 : -1;
}

size_t sim_host_counters(const struct sim *sim, uint32_t host, const struct sim_counter **counters)
{
    *counters = sim->hosts[host].columns;
    return sim->hosts[host].column_count;
}

/* A frame that was sent and has not arrived. */
static void not_received(const struct packet *packet, struct priority_counters counters[SIM_PRIORITIES])
{
    if (packet->kind == PACKET_PFC)
        return;
    counters[packet->priority].rx_packets--;
    counters[packet->priority].rx_bytes -= packet->bytes;
}

/* What the peer sent, less what was lost on the link and what is on its way. */
static void count_received(const struct sim *sim, uint32_t port,
                           struct priority_counters counters[SIM_PRIORITIES])
{
    const struct inbox *in = &sim->ports[port].in;
    for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++) {
        const struct queue *sent = &sim->ports[sim->ports[port].peer].queues[queue_of(priority)];
        struct priority_counters *c = &counters[priority];
        c->rx_packets = sent->sent_packets - c->lost_packets;
        c->rx_bytes = sent->sent_bytes - c->lost_bytes;
    }
    for (uint32_t i = in->head; i != in->end; i++)
        not_received(&in->ring[i & in->mask], counters);
    if (!(sim->ports[port].flags & PORT_INSIDE))
        return;
    const struct packet *packets =
        sim->team->members[sim->islands[sim->ports[port].island].thread].view->packets;
    for (uint32_t p = in->line.first; p != NONE; p = p == in->line.last ? NONE : packets[p].next)
        not_received(&packets[p], counters);
}

/* What is counted of pauses: packets are not. */
static struct priority_counters paused_of(const struct sim *sim, uint32_t port, unsigned priority)
{
    const struct port *at = &sim->ports[port];
    struct priority_counters c = sim->counters[port][priority];
    if (pfc_is_paused(at, priority))
        c.rx_pause_ps += sim->now_ps - at->pause_start_ps[priority];
    if (at->xoff >> priority & 1)
        c.tx_pause_ps += sim->now_ps - at->xoff_start_ps[priority];
    return c;
}

void counters_of(const struct sim *sim, uint32_t port, struct priority_counters counters[SIM_PRIORITIES])
{
    for (unsigned priority = 0; priority < SIM_PRIORITIES; priority++) {
        const struct queue *sent = &sim->ports[port].queues[queue_of(priority)];
        counters[priority] = paused_of(sim, port, priority);
        counters[priority].tx_packets = sent->sent_packets;
        counters[priority].tx_bytes = sent->sent_bytes;
    }
    count_received(sim, port, counters);
}

void sim_longest_holds_begin(struct sim *sim)
{
    for (uint32_t port = 0; port < sim->port_count; port++)
        for (unsigned p = 0; p < SIM_PRIORITIES; p++)
            sim->counters[port][p].longest_pause_ps = 0;
}

struct sim_hold sim_link_hold(const struct sim *sim, size_t link, unsigned end, unsigned priority)
{
    uint32_t port = (uint32_t)(2 * link + end);
    struct priority_counters c = paused_of(sim, port, priority);
    struct sim_hold hold = {.held_ps = c.rx_pause_ps,
                            .first_ps = c.first_pause_ps ? c.first_pause_ps : -1,
                            .longest_ps = c.longest_pause_ps ? c.longest_start_ps : -1};
    int64_t start_ps = sim->ports[port].pause_start_ps[priority];
    if (pfc_is_paused(&sim->ports[port], priority) && sim->now_ps - start_ps > c.longest_pause_ps)
        hold.longest_ps = start_ps;
    return hold;
}

/* counters: of the host's port */
static int64_t read_source(const struct sim *sim, const struct host *h, struct column_source of,
                           const struct priority_counters counters[SIM_PRIORITIES])
{
    const struct source *s = &sources[of.source];
    struct stall_gauge g;
    const void *base = h;
    switch (s->scope) {
    case EACH_PRIORITY:
    case EACH_PFC_PRIORITY:
        base = &counters[of.copy];
        break;
    case EACH_BUFFER:
        base = &h->buffers[of.copy];
        break;
    case GAUGE_READ_STALL:
    case GAUGE_WRITE_STALL:
        g = s->scope == GAUGE_READ_STALL ? h->pcie.read_stall : h->pcie.write_stall;
        stall_gauge_roll(&g, sim->now_ps);
        base = &g;
        break;
    case LINK_END:
        base = &sim->faults->ends[h->port];
        break;
    case HOST:
    case FAULTS:
    case RETRANSMISSION:
    case SLOW_RESTART:
    case NOT_READY:
        break;
    }
    int64_t value;
    memcpy(&value, (const char *)base + s->offset, sizeof value);
    return s->scale == PS_TO_US ? value / SIM_PS_PER_US : value;
}

void sim_host_values(const struct sim *sim, uint32_t host, int64_t *values)
{
    const struct host *h = &sim->hosts[host];
    struct priority_counters counters[SIM_PRIORITIES];
    counters_of(sim, h->port, counters);
    for (size_t i = 0; i < h->column_count; i++)
        values[i] = read_source(sim, h, h->column_sources[i], counters);
}
