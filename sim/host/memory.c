/*
 * Host memory and GPU BAR1 as seen by a NIC's DMA: a service centre that reads and writes share, in order of
 * arrival.
 *
 * Accesses reach a memory in the order in which the NIC issues them (one PCIe link, one latency), so the time
 * of service is known at issue and needs no event.
 */
#include "sim/model.h"
#include <stdlib.h>

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

static int32_t parts(uint32_t bytes, int32_t part)
{
    return (int32_t)((bytes + (uint32_t)part - 1) / (uint32_t)part);
}

int64_t memory_write(struct memory *m, int64_t arrive_ps, uint32_t bytes, int64_t *served_ps)
{
    if (m->stalls_per_ps > 0)
        maybe_stall(m, arrive_ps, true);
    int64_t start_ps = m->free_ps > arrive_ps ? m->free_ps : arrive_ps;
    m->device_rx_bytes += bytes + parts(bytes, m->device_write_bytes) * m->device_request_header_bytes;
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
    m->device_rx_bytes += parts(bytes, m->device_read_bytes) * m->device_request_header_bytes;
    m->device_tx_bytes +=
        bytes + parts(bytes, m->device_completion_bytes) * m->device_completion_header_bytes;
    return serve(m, start_ps, bytes, m->read_ps_per_byte_q20, m->read_access_ps) + m->read_latency_ps;
}
