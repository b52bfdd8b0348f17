/* From a configuration to a simulation: lay out, connect. */
#include "lib/roce/thresholds.h"
#include "lib/physics/fabric.h"
#include "sim/fabric/bridge.h"
#include "sim/counters.h"
#include "sim/islands/team.h"
#include "sim/islands/link.h"
#include "sim/model.h"
#include "sim/fabric/routing.h"
#include "sim/fabric/switch.h"
#include "sim/faults/deadlock.h"
#include "sim/faults/inject.h"
#include "sim/faults/link_faults.h"
#include "sim/faults/hooks.h"
#include "sim/host/transport.h"
#include "lib/roce/path_mtu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate_array(struct sim *sim, size_t count, size_t size)
{
    sim->bytes += count * size;
    return array_grow(NULL, 0, count * size);
}

static uint64_t ps_per_byte_q20(int64_t bytes_per_s)
{
    return ((uint64_t)SIM_PS_PER_S << 20) / (uint64_t)bytes_per_s;
}

#define RETRY_COUNT 7 /* perftest's */

/* ---- ports */

static void clear_list(struct packet_list *list)
{
    list->head = list->tail = NONE;
}

static void build_port(struct sim *sim, uint32_t index, const struct sim_link_config *link,
                       struct sim_node at)
{
    struct port *port = &sim->ports[index];
    port->ps_per_byte_q20 = ((uint64_t)SIM_PS_PER_S * 8 << 20) / (uint64_t)link->rate_bps;
    port->rate_bps = link->rate_bps;
    port->delay_ps = link->delay_ps;
    port->peer = index ^ 1;
    port->node_kind = (uint8_t)at.kind;
    port->transmit_ps = SIM_FOREVER;
    port->node = at.index;
    port->flags = link->loss_per_billion ? PORT_LOSES : 0;
    port->loss_threshold = (uint64_t)((double)link->loss_per_billion / 1e9 * 0x1p64 * (1 - 0x1p-53));
    for (int i = 0; i < QUEUES; i++)
        clear_list(&port->queues[i].packets);
    port->in.line.first = NONE;
    port->out.head_seen = UINT32_MAX; /* full: the first frame makes the ring */
    seed_random(&port->random, sim, STREAM_PORT, index);
    port->island = sim->island_of_node[graph_node(sim, at.kind, at.index)];
}

static int connect_node(struct sim *sim, const struct sim_config *c, uint32_t port, struct sim_node at,
                        struct error *e)
{
    const size_t counts[] = {c->host_count, c->switch_count, c->bridge_count};
    if ((unsigned)at.kind > SIM_BRIDGE || at.index >= counts[at.kind])
        return error_set(e, "simulator: link %u ends at node %u of kind %d, which does not exist", port / 2,
                         at.index, (int)at.kind);
    if (at.kind != SIM_HOST)
        return 0;
    struct host *h = &sim->hosts[at.index];
    if (h->port != NONE)
        return error_set(e, "simulator: host %s has more than one link", c->hosts[at.index].name);
    h->port = port;
    return 0;
}

/* The two kinds of nearly all arrivals have a faster path. */
static uint8_t kind_of_arrival(const struct port *port)
{
    if (port->flags & PORT_LOSES || port->node_kind == SIM_BRIDGE)
        return EVENT_ARRIVE;
    return port->node_kind == SIM_HOST ? EVENT_AT_HOST : EVENT_AT_SWITCH;
}

static int build_port_events(struct sim *sim, uint32_t index)
{
    struct port *port = &sim->ports[index];
    const uint8_t kinds[PORT_EVENTS] = {kind_of_arrival(port), EVENT_TRANSMIT, EVENT_UNPAUSE, EVENT_REFRESH};
    island_enter(sim, port->node_kind, port->node);
    port->first_event = sim->events->count;
    for (unsigned i = 0; i < PORT_EVENTS; i++)
        if (events_add(sim->events, kinds[i], index) == EVENT_NONE)
            return -1;
    return 0;
}

/* A value that is given to a switch which is not there makes one. */
static int check_linked(const struct sim_config *c, struct error *e)
{
    uint8_t *linked = calloc(c->switch_count + 1, 1);
    int result = 0;
    if (!linked)
        return error_set(e, "simulator: no memory for %zu switches", c->switch_count);
    for (size_t i = 0; i < c->link_count; i++) {
        const struct sim_node ends[] = {c->links[i].a, c->links[i].b};
        for (size_t k = 0; k < 2; k++)
            if (ends[k].kind == SIM_SWITCH)
                linked[ends[k].index] = 1;
    }
    for (size_t i = 0; result == 0 && i < c->switch_count; i++)
        if (!linked[i])
            result = error_set(e, "simulator: switch %s has no link", c->switches[i].name);
    free(linked);
    return result;
}

static int build_ports(struct sim *sim, const struct sim_config *c, struct error *e)
{
    for (uint32_t i = 0; i < c->link_count; i++) {
        const struct sim_link_config *link = &c->links[i];
        if (connect_node(sim, c, 2 * i, link->a, e) || connect_node(sim, c, 2 * i + 1, link->b, e))
            return -1;
        build_port(sim, 2 * i, link, link->a);
        build_port(sim, 2 * i + 1, link, link->b);
    }
    for (uint32_t p = 0; p < sim->port_count; p++) {
        if (sim->ports[p].island == sim->ports[sim->ports[p].peer].island)
            sim->ports[p].flags |= PORT_INSIDE;
        if (build_port_events(sim, p))
            return error_set(e, "simulator: no memory for the events of %u ports", sim->port_count);
    }
    for (size_t i = 0; i < c->host_count; i++)
        if (sim->hosts[i].port == NONE)
            return error_set(e, "simulator: host %s has no link", c->hosts[i].name);
    return check_linked(c, e);
}

/* ---- hosts */

/* Bytes a second of one direction: transfers a second, lanes, and the line code (PCI Express Base
 * Specification). */
static int64_t pcie_bytes_per_s(const struct physics_pcie *p)
{
    static const int64_t lane_bytes_per_s[] = {0, 250000000, 500000000, 984615385, 1969230769, 3938461538};
    return lane_bytes_per_s[p->generation] * p->lanes;
}

static int build_pcie(struct sim *sim, struct pcie *link, const struct physics_pcie *p)
{
    link->ideal = p->generation == 0;
    link->read_stall.since_ps = link->write_stall.since_ps = -1;
    if (link->ideal)
        return 0;
    link->ps_per_byte_q20 = ps_per_byte_q20(pcie_bytes_per_s(p));
    link->latency_ps = p->latency_ps;
    link->max_payload_bytes = (int32_t)p->max_payload_bytes;
    link->max_read_request_bytes = (int32_t)p->max_read_request_bytes;
    link->completion_bytes = (int32_t)p->completion_bytes;
    link->tags = (int32_t)p->tags;
    link->headers = (int32_t)p->posted_header_credits;
    link->data = (int32_t)p->posted_data_credits;
    link->return_capacity = (uint32_t)p->posted_header_credits + 1;
    link->returns = allocate_array(sim, link->return_capacity, sizeof *link->returns);
    return link->returns ? 0 : -1;
}

static int build_memory(struct sim *sim, struct memory *m, const struct physics_memory *c, uint32_t stream)
{
    seed_random(&m->random, sim, STREAM_MEMORY, stream);
    m->write_ps_per_byte_q20 = ps_per_byte_q20(c->write_bps / 8);
    m->read_ps_per_byte_q20 = ps_per_byte_q20(c->read_bps / 8);
    m->write_access_ps = c->write_access_ps;
    m->read_access_ps = c->read_access_ps;
    m->write_latency_ps = c->write_latency_ps;
    m->read_latency_ps = c->read_latency_ps;
    m->bank_mask = (uint32_t)c->banks - 1;
    m->interleave_shift = (unsigned)__builtin_ctz((uint32_t)c->interleave_bytes | 1u << 31);
    m->bank_ps = c->bank_ps;
    m->sector_ps = c->sector_ps;
    m->stalls_per_ps = c->stalls_per_s / (double)SIM_PS_PER_S;
    m->stall_mean_ps = c->stall_mean_ps;
    m->stall_window_ps = c->stall_window_ps;
    m->last_read_ps = m->last_write_ps = INT64_MIN / 2;
    if (m->stalls_per_ps > 0)
        m->next_stall_ps = (int64_t)random_exponential(&m->random, 1 / m->stalls_per_ps);
    m->device_write_bytes = (int32_t)c->device_write_bytes;
    m->device_read_bytes = (int32_t)c->device_read_bytes;
    m->device_completion_bytes = (int32_t)c->device_completion_bytes;
    m->device_request_header_bytes = (int32_t)c->device_request_header_bytes;
    m->device_completion_header_bytes = (int32_t)c->device_completion_header_bytes;
    if (c->banks && !(m->bank_free_ps = allocate_array(sim, (size_t)c->banks, sizeof *m->bank_free_ps)))
        return -1;
    return 0;
}

static void build_ingress(struct nic_ingress *to, const struct physics_ingress *from)
{
    if (!from->rate_bps)
        return;
    to->ps_per_byte_q20 = to->ps_per_byte_sending_q20 = ps_per_byte_q20(from->rate_bps / 8);
    if (from->rate_when_sending_bps != FIELD_UNSET)
        to->ps_per_byte_sending_q20 = ps_per_byte_q20(from->rate_when_sending_bps / 8);
    to->depth_ps = (int64_t)((uint64_t)from->depth_bytes * (to->ps_per_byte_q20 >> 10) >> 10);
    to->loss_bytes = from->loss_bytes;
    to->loss_ps = from->loss_ps;
    to->sending_bps = from->sending_bps;
    to->of_queue_pair = from->of_queue_pair;
}

static int build_host(struct sim *sim, uint32_t index, const struct sim_host_config *c)
{
    struct host *h = &sim->hosts[index];
    h->port = h->ring = NONE;
    h->message_ps = c->nic.messages_per_s ? SIM_PS_PER_S / c->nic.messages_per_s : 0;
    h->queue_pair_message_ps =
        c->nic.queue_pair_messages_per_s ? SIM_PS_PER_S / c->nic.queue_pair_messages_per_s : 0;
    build_ingress(&h->ingress, &c->nic.ingress);
    h->completion_ps = c->nic.completion_ps;
    h->tx_latency_ps = c->nic.tx_latency_ps;
    h->rx_latency_ps = c->nic.rx_latency_ps;
    h->tx_buffer_left = (int32_t)c->nic.tx_buffer_bytes;
    h->cell_bytes = (int32_t)c->nic.cell_bytes;
    h->ack_coalescing = c->nic.ack_coalescing;
    h->ack_unpaused = c->nic.ack_unpaused;
    h->ack_every_packets = (int32_t)c->nic.ack_every_packets;
    h->ack_timeout_ps = c->nic.ack_timeout_ps;
    h->nak_again_ps = c->nic.nak_again_ps;
    h->retry_count = (int32_t)c->nic.retry_count;
    if (c->nic.retry_count == FIELD_UNSET)
        h->retry_count = sim->has_faults ? RETRY_COUNT : INT32_MAX;
    if (c->nic.adaptive_retransmission || c->nic.min_ack_timeout_limit_disabled)
        h->retransmission = &retransmission_firmware[c->nic.retransmission_firmware];
    h->floor_off = c->nic.min_ack_timeout_limit_disabled;
    h->slow_restart = c->nic.slow_restart;
    h->slow_restart_on_nak = c->nic.slow_restart && c->nic.slow_restart_on_nak;
    h->counts_timeouts = c->nic.counts_timeouts;
    h->reorder_wait_ps = c->nic.reorder_wait_ps;
    h->rnr_retry = (int32_t)c->nic.rnr_retry;
    h->rnr_timer_ps = c->nic.rnr_timer_ps;
    if (c->nic.rnr_added_ps != FIELD_UNSET)
        h->rnr_added_ps = c->nic.rnr_added_ps;
    else if (h->retransmission)
        h->rnr_added_ps = h->retransmission->rnr_more_us * SIM_PS_PER_US;
    h->max_reads = (int32_t)c->nic.max_reads;
    h->congestion_on_ack = c->nic.congestion_on_ack;
    h->cnp_pacing_of_port = c->nic.cnp_pacing == PACING_PORT;
    h->cnp_cuts_share = c->nic.cnp_cuts_share;
    h->last_cnp_ps = LONG_AGO_PS;
    h->unmarked_cnps = (uint8_t)c->nic.unmarked_cnps;
    h->unmarked_cnp_interval_ps = c->nic.unmarked_cnp_interval_ps;
    h->unmarked_cnp_bytes = c->nic.unmarked_cnp_bytes;
    h->burst_bytes = (int32_t)c->nic.burst_bytes;
    h->software = c->software;
    h->settings = c->settings;
    seed_random(&h->random, sim, STREAM_HOST, index);
    for (int i = 0; i < QUEUES; i++)
        clear_list(&h->fetched[i]);
    clear_list(&h->writing);
    for (int i = 0; i < SIM_MEMORIES; i++)
        h->fetching[i].first = NONE;
    island_enter(sim, SIM_HOST, index);
    h->schedule_event = events_add(sim->events, EVENT_SCHEDULE, index);
    h->write_event = events_add(sim->events, EVENT_WRITE, index);
    h->answers[ANSWER_CNP].delay_ps = c->nic.cnp_delay_ps;
    h->answers[ANSWER_NAK].delay_ps = c->nic.nak_delay_ps;
    for (uint32_t i = 0; i < ANSWERS; i++) {
        struct answers *a = &h->answers[i];
        a->line.first = NONE;
        if (a->delay_ps &&
            (a->event = events_add(sim->events, EVENT_ANSWER, index * ANSWERS + i)) == EVENT_NONE)
            return -1;
    }
    for (uint32_t i = 0; i < SIM_MEMORIES; i++) {
        h->fetched_event[i] = events_add(sim->events, EVENT_FETCHED, index * SIM_MEMORIES + i);
        if (h->fetched_event[i] == EVENT_NONE ||
            build_memory(sim, &h->memories[i], &c->memories[i], index * SIM_MEMORIES + i))
            return -1;
    }
    return build_pcie(sim, &h->pcie, &c->pcie);
}

/* Sizes and thresholds of the receive buffers, and the port's part in PFC. */
static int build_buffers(struct sim *sim, uint32_t index, const struct sim_config *c, struct error *e)
{
    struct host *h = &sim->hosts[index];
    const struct sim_host_config *config = &c->hosts[index];
    const struct sim_settings *s = &config->settings;
    struct port *port = &sim->ports[h->port];
    port->quanta = (int32_t)config->nic.pause_quanta;
    port->ignored = (uint8_t)~s->pfc_mask;
    port->jitter_ps = (uint32_t)config->nic.jitter_ps;
    pfc_set_refresh(sim, port,
                    (int64_t)((uint64_t)port->quanta * 64 * port->ps_per_byte_q20 >> 20) / 100 *
                        config->nic.pause_refresh_percent);
    for (int i = 0; i < SIM_BUFFERS; i++) {
        struct receive_buffer *buffer = &h->buffers[i];
        buffer->size_bytes = s->buffer_bytes[i];
        for (int p = 0; p < SIM_PRIORITIES; p++)
            if ((s->pfc_mask >> p & 1) && s->prio_to_buffer[p] == i)
                buffer->classes |= (uint8_t)(1u << p);
        if (!buffer->classes || h->pcie.ideal)
            continue;
        struct thresholds_port formula = {.cable_m = s->cable_mm / 1000,
                                          .speed_Mbps = c->links[h->port / 2].rate_bps / 1000000,
                                          .mtu = s->mtu_bytes,
                                          .max_mtu = config->nic.max_mtu_bytes,
                                          .cell_bytes = config->nic.cell_bytes};
        struct thresholds t;
        if (thresholds_mlx5(&formula, buffer->size_bytes, &t, e))
            return error_prefix(e, "host %s, receive buffer %d", config->name, i);
        buffer->xoff_bytes = t.xoff_bytes;
        buffer->xon_bytes = t.xon_bytes;
    }
    return 0;
}

static int build_hosts(struct sim *sim, const struct sim_config *c, struct error *e)
{
    for (uint32_t i = 0; i < c->host_count; i++)
        if (build_host(sim, i, &c->hosts[i]))
            return error_set(e, "simulator: no memory for %zu hosts", c->host_count);
    return 0;
}

/* ---- flows */

static void build_qp(const struct sim *sim, const struct sim_flow_config *f, uint32_t index, uint32_t flow,
                     bool back)
{
    struct queue_pair *qp = &sim->qps[index];
    bool from_responder = (f->operation == SIM_READ) != back;
    int32_t mtu = roce_path_mtu(sim->hosts[f->from].settings.mtu_bytes);
    int32_t other = roce_path_mtu(sim->hosts[f->to].settings.mtu_bytes);
    int64_t payload = f->payload_bytes ? f->payload_bytes : mtu < other ? mtu : other;
    int64_t packets = f->message_bytes ? (f->message_bytes + payload - 1) / payload : 1;
    qp->flow = flow;
    qp->last_cnp_ps = LONG_AGO_PS;
    qp->operation = (uint8_t)f->operation;
    qp->sender = (uint16_t)(from_responder ? f->to : f->from);
    qp->receiver = (uint16_t)(from_responder ? f->from : f->to);
    qp->sender_memory = (uint8_t)(from_responder ? f->to_memory : f->from_memory);
    qp->receiver_memory = (uint8_t)(from_responder ? f->from_memory : f->to_memory);
    qp->priority = (uint8_t)f->priority;
    qp->queue = (uint8_t)queue_of((unsigned)f->priority);
    /* A program cannot send data from GPU memory inline with the doorbell. */
    qp->flags =
        f->message_bytes <= f->inline_bytes && qp->sender_memory == SIM_MEMORY_HOST ? PACKET_INLINE : 0;
    qp->message_bytes = f->message_bytes;
    qp->payload_bytes = (uint32_t)payload;
    qp->packets_per_message = (uint32_t)packets;
    qp->last_payload_bytes = (uint32_t)(f->message_bytes - (packets - 1) * payload);
    qp->tail_bytes = framing_pad_bytes(&sim->framing, qp->payload_bytes);
    qp->last_tail_bytes = (uint8_t)(framing_pad_bytes(&sim->framing, qp->last_payload_bytes) +
                                    (f->immediate ? sim->framing.immediate_bytes : 0));
    qp->complete_psn = (uint64_t)packets;
    qp->depth = (uint32_t)f->depth;
    qp->gap_ps = f->gap_ps;
    qp->message_limit = (uint64_t)f->message_count;
    if (f->message_count && index - sim->flows[flow].first_qp < (uint32_t)f->one_more)
        qp->message_limit++;
    qp->ps_per_byte_q20 = f->rate_bps ? ((uint64_t)SIM_PS_PER_S * 8 << 20) / (uint64_t)f->rate_bps : 0;
    qp->ring_next = qp->ring_previous = qp->waiting_ack = qp->waiting_request = NONE;
    qp->follows = qp->follower = NONE;
    struct pcie *link = &sim->hosts[qp->sender].pcie;
    if (!link->ideal) {
        int32_t tags = (int32_t)((payload + link->max_read_request_bytes - 1) / link->max_read_request_bytes);
        link->tags_of_packet = tags > link->tags_of_packet ? tags : link->tags_of_packet;
    }
    /* Packets are ECN-capable where the flow, else the priority, has it. */
    const struct sim_settings *s = &sim->hosts[qp->sender].settings;
    bool points = (s->ecn_rp_mask | s->ecn_np_mask) >> qp->priority & 1;
    if (f->ect == SIM_ECT_ALWAYS || (f->ect == SIM_ECT_BY_PRIORITY && points))
        qp->flags |= PACKET_ECT;
}

/* One packet must fit the credits and tags of the PCIe link. */
static int check_qp(const struct sim *sim, const struct sim_config *c, const struct queue_pair *qp,
                    const char *flow, struct error *e)
{
    const struct pcie *from = &sim->hosts[qp->sender].pcie, *to = &sim->hosts[qp->receiver].pcie;
    uint32_t payload = qp->payload_bytes;
    if (!payload)
        return error_set(e, "simulator: flow %s: the hosts' MTUs are too small for any payload", flow);
    if (!from->ideal && from->tags_of_packet > from->tags)
        return error_set(e, "simulator: host %s: %d PCIe tags cannot fetch a packet of %u B, %d are needed",
                         c->hosts[qp->sender].name, from->tags, payload, from->tags_of_packet);
    if (!to->ideal &&
        ((int64_t)to->headers * to->max_payload_bytes < payload || to->data * 16 < (int64_t)payload))
        return error_set(
            e, "simulator: host %s: %d posted header and %d data credits cannot hold a packet of %u B",
            c->hosts[qp->receiver].name, to->headers, to->data, payload);
    return 0;
}

int flow_build(struct sim *sim, const struct sim_config *c, const struct sim_flow_config *f, uint32_t index,
               uint32_t first_qp, struct error *e)
{
    struct flow *flow = &sim->flows[index];
    *flow = (struct flow){.first_qp = first_qp,
                          .qp_count = (uint32_t)f->queue_pairs,
                          .open_qps = (uint32_t)f->queue_pairs,
                          .arriving_qps = (uint32_t)f->queue_pairs,
                          .start_event = flow->start_event,
                          .start_ps = f->start_ps,
                          .stop_ps = f->stop_ps,
                          .ping_pong = f->mode == SIM_PING_PONG,
                          .stats = {.last_ps = -1, .started_ps = -1, .finished_ps = -1, .failed_ps = -1}};
    if (flow->ping_pong)
        flow->qp_count = 2;
    for (uint32_t i = 0; i < flow->qp_count; i++) {
        build_qp(sim, f, first_qp + i, index, flow->ping_pong && i == 1);
        sim->qps[first_qp + i].partner = flow->ping_pong ? first_qp + 1 - i : NONE;
        if (check_qp(sim, c, &sim->qps[first_qp + i], f->name, e))
            return -1;
    }
    return 0;
}

/* What a flow that stays has of its own. */
static int furnish_flow(struct sim *sim, const struct sim_flow_config *f, uint32_t index, struct error *e)
{
    struct flow *flow = &sim->flows[index];
    if (f->record_latency && !(flow->latency = allocate_array(sim, 1, sizeof *flow->latency)))
        return error_set(e, "simulator: no memory for a histogram");
    if (flow->latency)
        histogram_clear(flow->latency);
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        struct queue_pair *qp = &sim->qps[q];
        qp->number = q;
        island_enter(sim, SIM_HOST, f->operation == SIM_READ ? qp->receiver : qp->sender);
        qp->timeout_event = events_add(sim->events, EVENT_TIMEOUT, q);
        qp->congestion_event = EVENT_NONE;
        bool turns = flow->ping_pong || f->operation == SIM_READ;
        qp->turn_event = turns ? events_add(sim->events, EVENT_TURN, q) : EVENT_NONE;
        qp->post_ps = allocate_array(sim, qp->depth, sizeof *qp->post_ps);
        if (qp->timeout_event == EVENT_NONE || (turns && qp->turn_event == EVENT_NONE) || !qp->post_ps)
            return error_set(e, "simulator: no memory for %u queue pairs", sim->qp_count);
        timeouts_begin(sim, q);
    }
    island_enter(sim, SIM_HOST, f->from);
    flow->start_event = events_add(sim->events, EVENT_START, index);
    if (flow->start_event == EVENT_NONE)
        return error_set(e, "simulator: no memory for %u flows", sim->flow_count);
    if (f->start_ps < SIM_FOREVER)
        event_schedule(sim->events, flow->start_event, f->start_ps);
    return 0;
}

static uint32_t count_qps(const struct sim_config *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < c->flow_count; i++)
        count += c->flows[i].mode == SIM_PING_PONG ? 2u : (uint32_t)c->flows[i].queue_pairs;
    return count < NONE ? (uint32_t)count : NONE - 1;
}

/* Where ports meter queue pairs. */
static int build_buckets(struct sim *sim, struct error *e)
{
    bool any = false;
    for (uint32_t i = 0; i < sim->host_count; i++)
        any |= sim->hosts[i].ingress.of_queue_pair;
    if (any && !(sim->buckets = allocate_array(sim, sim->qp_count, sizeof *sim->buckets)))
        return error_set(e, "simulator: no memory for %u queue pairs", sim->qp_count);
    return 0;
}

static int build_flows(struct sim *sim, const struct sim_config *c, struct error *e)
{
    uint32_t q = 0;
    for (uint32_t i = 0; i < c->flow_count; i++) {
        if (flow_build(sim, c, &c->flows[i], i, q, e) || furnish_flow(sim, &c->flows[i], i, e))
            return -1;
        q += sim->flows[i].qp_count;
    }
    return 0;
}

/* ---- the whole */

static int allocate(struct sim *sim, const struct sim_config *c, struct error *e)
{
    sim->port_count = (uint32_t)c->link_count * 2;
    sim->host_count = (uint32_t)c->host_count;
    sim->switch_count = (uint32_t)c->switch_count;
    sim->bridge_count = (uint32_t)c->bridge_count;
    sim->flow_count = (uint32_t)c->flow_count;
    for (size_t i = 0; i < c->flow_count; i++)
        sim->flow_priorities |= (uint8_t)(1u << c->flows[i].priority);
    sim->flow_priorities |= stream_priorities(c);
    sim->first_streamed = c->stream ? sim->flow_count : NONE;
    sim->qp_count = count_qps(c);
    sim->ports = allocate_array(sim, sim->port_count, sizeof *sim->ports);
    sim->counters = allocate_array(sim, sim->port_count, sizeof *sim->counters);
    sim->hosts = allocate_array(sim, sim->host_count, sizeof *sim->hosts);
    sim->flows = allocate_array(sim, sim->flow_count, sizeof *sim->flows);
    sim->qps = allocate_array(sim, sim->qp_count, sizeof *sim->qps);
    if (!sim->ports || !sim->counters || !sim->hosts || !sim->flows || !sim->qps)
        return error_set(e, "simulator: no memory for %zu hosts, %zu links, %u queue pairs", c->host_count,
                         c->link_count, sim->qp_count);
    return 0;
}

/* Flows that wait for messages of other flows. */
static int build_order(struct sim *sim, const struct sim_config *c, struct error *e)
{
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        const struct sim_flow_config *f = &c->flows[i], *after;
        if (f->after < 0)
            continue;
        if (f->after >= sim->flow_count || f->after == i)
            return error_set(e, "simulator: flow %s should start after flow %lld, which does not exist",
                             f->name, (long long)f->after);
        after = &c->flows[f->after];
        struct queue_pair *qp = &sim->qps[sim->flows[i].first_qp];
        struct queue_pair *first = &sim->qps[sim->flows[f->after].first_qp];
        if (f->queue_pairs != 1 || after->queue_pairs != 1 || f->operation == SIM_READ ||
            after->operation == SIM_READ || f->mode == SIM_PING_PONG || after->mode == SIM_PING_PONG ||
            first->receiver != qp->sender || first->follower != NONE)
            return error_set(
                e,
                "simulator: flow %s cannot start after %s: this requires streams of writes or sends on one "
                "queue pair, the other's receiver as its sender, and no third flow after the same",
                f->name, after->name);
        qp->follows = sim->flows[f->after].first_qp;
        first->follower = sim->flows[i].first_qp;
    }
    return 0;
}

/* Ports are numbered within their node in the order of the links. */
static int number_ports(struct sim *sim, struct error *e)
{
    uint32_t nodes = sim->host_count + sim->switch_count + sim->bridge_count;
    uint32_t *counts = calloc(nodes, sizeof *counts);
    if (!counts)
        return error_set(e, "simulator: no memory");
    for (uint32_t p = 0; p < sim->port_count; p++) {
        uint32_t node = graph_node(sim, sim->ports[p].node_kind, sim->ports[p].node);
        sim->ports[p].number = (uint16_t)counts[node]++;
    }
    free(counts);
    return 0;
}

static int build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    if (allocate(sim, c, e) || islands_build(sim, c, e) || build_hosts(sim, c, e) || build_ports(sim, c, e))
        return -1;
    if (number_ports(sim, e))
        return -1;
    for (uint32_t i = 0; i < sim->host_count; i++)
        if (build_buffers(sim, i, c, e))
            return -1;
    if (build_buckets(sim, e) || build_flows(sim, c, e) || jobs_build(sim, e) || build_order(sim, c, e) ||
        waits_build(sim, c, e) || pacing_build(sim, e) || link_faults_build(sim, c, e) ||
        inject_build(sim, c, e) || switches_build(sim, c, e) || bridges_build(sim, c, e) ||
        storms_build(sim, c, e) || reroute_open(sim, c, e) || capture_open(sim, c, e) ||
        routing_build(sim, c, e) || reroute_build(sim, c, e) || stream_open(sim, c, e) ||
        congestion_build(sim, c, e) || recovery_build(sim, c, e) || stream_check(sim, e) ||
        deadlock_build(sim, e))
        return -1;
    switches_let_pass(sim);
    links_reserve(sim);
    if (islands_list_ports(sim, e) || team_build(sim, c->pause_log_capacity, e))
        return -1;
    if (counters_build(sim))
        return error_set(e, "simulator: no memory for the names of counters");
    sim->bytes += sizeof *sim;
    sim->allocations = 0;
    return 0;
}

struct sim *sim_new(const struct sim_config *config, struct error *e)
{
    struct jobs *jobs = config->job_count ? jobs_open(config, e) : NULL;
    if (config->job_count && !jobs)
        return NULL;
    config = jobs ? jobs_config(jobs) : config;
    bool fits = !sim_check(config, e);
    struct sim *sim = fits ? array_grow(NULL, 0, sizeof *sim) : NULL;
    if (!sim) {
        jobs_free(jobs);
        if (fits)
            error_set(e, "simulator: no memory");
        return NULL;
    }
    sim->jobs = jobs;
    sim->framing = config->framing;
    sim->truncate_to_ns = config->truncate_to_ns;
    sim->late_ps = config->truncate_to_ns ? SIM_PS_PER_NS / 2 : 0;
    sim->seed = config->seed;
    sim->has_faults = config->link_state_count || config->injection_count;
    for (size_t i = 0; i < config->injection_count; i++)
        sim->may_be_not_ready |= config->injections[i].action == SIM_INJECT_NOT_READY;
    if (build(sim, config, e)) {
        sim_free(sim);
        return NULL;
    }
    return sim;
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    for (uint32_t i = 0; sim->hosts && i < sim->host_count; i++) {
        free(sim->hosts[i].pcie.returns);
        free(sim->hosts[i].columns);
        free(sim->hosts[i].column_sources);
        for (int k = 0; k < SIM_MEMORIES; k++)
            free(sim->hosts[i].memories[k].bank_free_ps);
    }
    for (uint32_t i = 0; sim->flows && i < sim->flow_count; i++)
        free(sim->flows[i].latency);
    for (uint32_t i = 0; sim->qps && i < sim->qp_count; i++) {
        free(sim->qps[i].post_ps);
        recovery_end(&sim->qps[i]);
    }
    stream_free(sim);
    jobs_free(sim->jobs);
    routing_close(sim);
    free(sim->buckets);
    team_free(sim);
    islands_free(sim);
    switches_free(sim);
    bridges_free(sim);
    free(sim->storms);
    link_faults_free(sim);
    reroute_free(sim);
    deadlock_free(sim);
    capture_free(sim);
    free(sim->congestion_states);
    free(sim->congestion_params);
    free(sim->paths);
    free(sim->numbers);
    links_free(sim);
    free(sim->ports);
    free(sim->counters);
    free(sim->hosts);
    free(sim->host_column_names);
    free(sim->flows);
    free(sim->waits);
    free(sim->qps);
    free(sim);
}
