/* A NIC's DMA: the memories that it reads and writes, and the PCI Express link on the way. */
#include "sim/model.h"
#include "sim/host/egress.h"
#include <stdlib.h>

/* ---- memories */

/*
 * Host memory and GPU BAR1 as seen by a NIC's DMA: a service centre that reads and writes share, in order of
 * arrival.
 *
 * Accesses reach a memory in the order in which the NIC issues them (one PCIe link, one latency), so the time
 * of service is known at issue and needs no event.
 */
#define SECTOR_BYTES 32

/* The clock of mixed load runs while reads and writes follow each other within the window; on it stalls are a
 * Poisson process. A stall keeps the centre from serving anything for its length. */
static void maybe_stall(struct memory *m, int64_t arrive_ps, bool is_write)
{
    int64_t last_ps = m->last_read_ps > m->last_write_ps ? m->last_read_ps : m->last_write_ps;
    int64_t other_ps = is_write ? m->last_read_ps : m->last_write_ps;
    *(is_write ? &m->last_write_ps : &m->last_read_ps) = arrive_ps;
    if (arrive_ps - other_ps > m->stall_window_ps)
        return;
    m->mixed_ps += arrive_ps - last_ps;
    if (m->mixed_ps < m->next_stall_ps)
        return;
    int64_t length_ps = (int64_t)random_exponential(&m->random, (double)m->stall_mean_ps);
    m->free_ps = (m->free_ps > arrive_ps ? m->free_ps : arrive_ps) + length_ps;
    m->next_stall_ps += (int64_t)random_exponential(&m->random, 1 / m->stalls_per_ps);
    m->stalls++;
    m->stalled_ps += length_ps;
}

/* A read waits until the banks of its address are free, and then occupies them. Returns its start. */
static int64_t take_banks(struct memory *m, int64_t start_ps, uint64_t address, uint32_t bytes)
{
    uint64_t first = address >> m->interleave_shift, last = (address + bytes - 1) >> m->interleave_shift;
    for (uint64_t block = first; block <= last; block++) {
        int64_t free_ps = m->bank_free_ps[block & m->bank_mask];
        if (free_ps > start_ps)
            start_ps = free_ps;
    }
    uint64_t end = address + bytes;
    for (uint64_t block = first; block <= last; block++) {
        uint64_t next = (block + 1) << m->interleave_shift;
        uint64_t part = (next < end ? next : end) - address;
        uint64_t sectors = (part + SECTOR_BYTES - 1) / SECTOR_BYTES;
        m->bank_free_ps[block & m->bank_mask] = start_ps + m->bank_ps + (int64_t)sectors * m->sector_ps;
        address += part;
    }
    return start_ps;
}

static int64_t serve(struct memory *m, int64_t start_ps, uint32_t bytes, uint64_t ps_per_byte_q20,
                     int64_t access_ps)
{
    int64_t service_ps = (int64_t)(bytes * ps_per_byte_q20 >> 20);
    m->free_ps = start_ps + (service_ps > access_ps ? service_ps : access_ps);
    return m->free_ps;
}

static int32_t device_packets(uint32_t bytes, int32_t part)
{
    return (int32_t)((bytes + (uint32_t)part - 1) / (uint32_t)part);
}

/* A write that reaches the memory at arrive_ps, not before earlier accesses: when its data is in place.
 * *served_ps is when the service centre has finished it. */
static int64_t memory_write(struct memory *m, int64_t arrive_ps, uint32_t bytes, int64_t *served_ps)
{
    if (m->stalls_per_ps > 0)
        maybe_stall(m, arrive_ps, true);
    int64_t start_ps = m->free_ps > arrive_ps ? m->free_ps : arrive_ps;
    m->device_rx_bytes +=
        bytes + device_packets(bytes, m->device_write_bytes) * m->device_request_header_bytes;
    *served_ps = serve(m, start_ps, bytes, m->write_ps_per_byte_q20, m->write_access_ps);
    return *served_ps + m->write_latency_ps;
}

int64_t memory_read(struct memory *m, int64_t arrive_ps, uint64_t address, uint32_t bytes)
{
    if (m->stalls_per_ps > 0)
        maybe_stall(m, arrive_ps, false);
    int64_t start_ps = m->free_ps > arrive_ps ? m->free_ps : arrive_ps;
    if (m->bank_free_ps)
        start_ps = take_banks(m, start_ps, address, bytes);
    m->device_rx_bytes += device_packets(bytes, m->device_read_bytes) * m->device_request_header_bytes;
    m->device_tx_bytes +=
        bytes + device_packets(bytes, m->device_completion_bytes) * m->device_completion_header_bytes;
    return serve(m, start_ps, bytes, m->read_ps_per_byte_q20, m->read_access_ps) + m->read_latency_ps;
}

/* ---- the link */

/*
 * The NIC's PCI Express link: reads of data to send (tags), posted writes of data received (credits), both at
 * the granularity of a packet; the bytes of its transaction layer packets and their overhead are counted one
 * by one.
 */
/* Overhead in addition to the payload of a transaction layer packet (PCI Express Base Specification 3.0,
 * 4.2.2 and 2.2): start token and sequence number 4, header 16 (64-bit address) or 12 (completion), LCRC
 * 4. */
#define REQUEST_BYTES     24
#define COMPLETION_BYTES  20
#define DATA_CREDIT_BYTES 16

static uint32_t parts_of(uint32_t bytes, int32_t part)
{
    return (bytes + (uint32_t)part - 1) / (uint32_t)part;
}

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- stalls because of missing credits or tags */

/* mlx5 shows the share of the last second, and counts the seconds above 30 %. */
void stall_gauge_roll(struct stall_gauge *g, int64_t now_ps)
{
    int64_t second = now_ps / SIM_PS_PER_S;
    while (g->second < second) {
        int64_t end_ps = (g->second + 1) * SIM_PS_PER_S;
        if (g->since_ps >= 0) {
            g->waited_ps += end_ps - g->since_ps;
            g->since_ps = end_ps;
        }
        g->percent = g->waited_ps / (SIM_PS_PER_S / 100);
        g->events += g->percent > 30;
        g->waited_ps = 0;
        g->second++;
    }
}

static void stall_begins(struct stall_gauge *g, int64_t now_ps)
{
    if (g->since_ps >= 0)
        return;
    stall_gauge_roll(g, now_ps);
    g->since_ps = now_ps;
}

static void stall_ends(struct stall_gauge *g, int64_t now_ps)
{
    if (g->since_ps < 0)
        return;
    stall_gauge_roll(g, now_ps);
    g->waited_ps += now_ps - g->since_ps;
    g->since_ps = -1;
}

/* ---- reads */

/* perftest places small messages one after the other in a page, each in its own cache line; larger ones
 * always begin at the same address. Each queue pair has its own pages, an odd number of them from the next
 * one's, so that their packets in turn fall into different banks. */
#define PAGE_BYTES       4096
#define QUEUE_PAIR_PAGES 37
/* A job's buffers, of any size, lie one after the other. */
#define PACKETS_OF_BUFFER 1024

static uint64_t address_of(const struct sim *sim, const struct packet *packet)
{
    const struct queue_pair *qp = &sim->qps[packet->qp];
    uint64_t pages = (uint64_t)packet->qp * QUEUE_PAIR_PAGES * PAGE_BYTES;
    if (qp->messages)
        return pages + packet->psn % PACKETS_OF_BUFFER * (uint64_t)qp->payload_bytes;
    uint64_t stride = ((uint64_t)qp->message_bytes + 63) / 64 * 64;
    uint64_t message = packet->psn / qp->packets_per_message;
    uint64_t index = packet->psn % qp->packets_per_message;
    uint64_t start = stride && stride < PAGE_BYTES ? message * stride % (PAGE_BYTES / stride * stride) : 0;
    return pages + start + index * qp->payload_bytes;
}

/* When the packet's data has come. Completions of a memory come one after the other; those of both share the
 * way down by rate, so that a read that waits for its memory does not hold up those of the other. */
static int64_t read_data(struct sim *sim, struct host *h, enum sim_memory memory, const struct packet *packet)
{
    uint32_t bytes = packet_payload_of(sim, packet, true);
    struct pcie *link = &h->pcie;
    uint32_t requests = parts_of(bytes, link->max_read_request_bytes);
    uint32_t completion_bytes = bytes + parts_of(bytes, link->completion_bytes) * COMPLETION_BYTES;
    link->tags -= (int32_t)requests;
    link->up_free_ps = latest(link->up_free_ps, sim->now_ps) +
                       (int64_t)(requests * REQUEST_BYTES * link->ps_per_byte_q20 >> 20);
    link->up_bytes += requests * REQUEST_BYTES;
    link->down_bytes += completion_bytes;
    uint64_t address = address_of(sim, packet);
    int64_t ready_ps = memory_read(&h->memories[memory], link->up_free_ps + link->latency_ps, address, bytes);
    int64_t down_ps = (int64_t)(completion_bytes * link->ps_per_byte_q20 >> 20);
    link->down_free_ps = latest(link->down_free_ps, sim->now_ps) + down_ps;
    int64_t *done_ps = &link->read_done_ps[memory];
    *done_ps = latest(latest(ready_ps + link->latency_ps, *done_ps) + down_ps, link->down_free_ps);
    return *done_ps;
}

static void fetch_packet(struct sim *sim, uint32_t host, uint32_t q)
{
    struct host *h = &sim->hosts[host];
    uint32_t p = qp_build_packet(sim, q);
    struct packet *packet = &sim->packets[p];
    enum sim_memory memory = sim->qps[q].sender_memory;
    int64_t ready_ps = sim->now_ps;
    h->tx_buffer_left -= packet->bytes;
    if (packet_payload_of(sim, packet, true) && !(packet->flags & PACKET_INLINE))
        ready_ps = read_data(sim, h, memory, packet);
    ready_ps += h->tx_latency_ps;
    struct delay_line *line = &h->fetching[memory];
    if (line->first != NONE)
        ready_ps = latest(ready_ps, h->last_fetched_ps[memory]);
    h->last_fetched_ps[memory] = ready_ps;
    if (delay_line_append(sim, line, ready_ps, p))
        event_schedule(sim->events, h->fetched_event[memory], ready_ps);
}

/* Start reads while there is something to send, and send buffer and tags are free. */
void dma_fetch(struct sim *sim, uint32_t host)
{
    struct host *h = &sim->hosts[host];
    int64_t wake_ps = SIM_FOREVER;
    while (h->ring != NONE && h->tx_buffer_left > 0) {
        if (h->pcie.tags < h->pcie.tags_of_packet) {
            stall_begins(&h->pcie.read_stall, sim->now_ps);
            return;
        }
        uint32_t q = host_next_qp(sim, h, sim->ports[h->port].paused, &wake_ps);
        if (q == NONE)
            break;
        fetch_packet(sim, host, q);
    }
    if (wake_ps != SIM_FOREVER && h->tx_buffer_left > 0)
        event_reschedule(sim->events, h->schedule_event, wake_ps);
}

/* The first read of a memory is complete: its packet waits for the wire. */
void dma_fetched(struct sim *sim, uint32_t object)
{
    uint32_t host = object / SIM_MEMORIES;
    struct host *h = &sim->hosts[host];
    struct delay_line *line = &h->fetching[object % SIM_MEMORIES];
    uint32_t p = delay_line_take(sim, line);
    const struct packet *packet = &sim->packets[p];
    uint32_t payload = packet_payload_of(sim, packet, true);
    if (line->first != NONE)
        event_schedule(sim->events, h->fetched_event[object % SIM_MEMORIES], line->first_ps);
    if (payload && !(packet->flags & PACKET_INLINE))
        h->pcie.tags += (int32_t)parts_of(payload, h->pcie.max_read_request_bytes);
    stall_ends(&h->pcie.read_stall, sim->now_ps);
    unsigned queue = sim->qps[packet->qp].queue;
    list_append(sim, &h->fetched[queue], p);
    h->fetched_ready |= (uint16_t)(1u << queue);
    dma_fetch(sim, host);
    port_kick(sim, h->port, 0);
}

/* ---- writes */

static void take_back_credits(struct sim *sim, struct pcie *link)
{
    while (link->return_count && link->returns[link->return_first].time_ps <= sim->now_ps) {
        link->headers += link->returns[link->return_first].headers;
        link->data += link->returns[link->return_first].data;
        link->return_first = (link->return_first + 1) % link->return_capacity;
        link->return_count--;
    }
}

static void lend_credits(struct pcie *link, int32_t headers, int32_t data, int64_t back_ps)
{
    uint32_t last =
        (link->return_first + link->return_count + link->return_capacity - 1) % link->return_capacity;
    if (link->return_count)
        back_ps = latest(back_ps, link->returns[last].time_ps);
    link->headers -= headers;
    link->data -= data;
    link->returns[(last + 1) % link->return_capacity] = (struct credit_return){back_ps, headers, data};
    link->return_count++;
}

/* Write the packet's data over PCIe; returns the time at which it is visible in memory. */
static int64_t write_data(struct sim *sim, struct host *h, const struct packet *packet, int32_t headers,
                          int32_t data)
{
    struct pcie *link = &h->pcie;
    const struct queue_pair *qp = &sim->qps[packet->qp];
    uint32_t payload = packet_payload(sim, packet);
    uint32_t bytes = payload + (uint32_t)headers * REQUEST_BYTES;
    link->up_free_ps = latest(link->up_free_ps, sim->now_ps + h->rx_latency_ps) +
                       (int64_t)(bytes * link->ps_per_byte_q20 >> 20);
    link->up_bytes += bytes;
    int64_t served_ps;
    int64_t visible_ps = memory_write(&h->memories[qp->receiver_memory], link->up_free_ps + link->latency_ps,
                                      payload, &served_ps);
    lend_credits(link, headers, data, served_ps + link->latency_ps);
    return visible_ps;
}

static void leave_buffer(struct sim *sim, struct host *h, const struct packet *packet)
{
    struct receive_buffer *buffer = &h->buffers[h->settings.prio_to_buffer[packet->priority]];
    buffer->used_bytes -= (int64_t)parts_of(packet->bytes, h->cell_bytes) * h->cell_bytes;
    if (buffer->full && buffer->used_bytes <= buffer->xon_bytes) {
        buffer->full = false;
        pfc_xon(sim, h->port, buffer->classes);
    }
}

void dma_write(struct sim *sim, uint32_t host)
{
    struct host *h = &sim->hosts[host];
    struct pcie *link = &h->pcie;
    while (h->writing.head != NONE) {
        const struct packet *packet = &sim->packets[h->writing.head];
        uint32_t payload = packet_payload(sim, packet);
        int32_t headers = (int32_t)parts_of(payload, link->max_payload_bytes);
        int32_t data = (int32_t)parts_of(payload, DATA_CREDIT_BYTES);
        take_back_credits(sim, link);
        if (link->headers < headers || link->data < data) {
            stall_begins(&link->write_stall, sim->now_ps);
            event_reschedule(sim->events, h->write_event, link->returns[link->return_first].time_ps);
            return;
        }
        int64_t visible_ps = sim->now_ps + h->rx_latency_ps;
        if (headers)
            visible_ps = write_data(sim, h, packet, headers, data);
        uint32_t p = list_take(sim, &h->writing);
        leave_buffer(sim, h, &sim->packets[p]);
        qp_delivered(sim, host, p, visible_ps);
    }
    stall_ends(&link->write_stall, sim->now_ps);
}
