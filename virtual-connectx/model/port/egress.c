// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Frames on their way out: a queue for each priority, classes of priorities in groups, and the line. The highest group that may send
 * goes first; within it each class gets its share. Shares are kept by start-time fair queueing (Goyal, Vin, Cheng, 1996): a class's tag
 * grows by its bits over its share, and the least tag is next.
 */
#include "virtual-connectx/model/port/inside.h"

#include "virtual-connectx/model/random.h"
#include "virtual-connectx/model/transport/packet.h"

#define SENT_PER_POLL 128
#define TAG_PER_BIT   64u /* 2^64 are months of a line */
#define GROUPS        16

static uint8_t class_of(const struct vcx_port *port, uint8_t priority)
{
    return port->settings.class_of_priority[priority] % VCX_PRIORITIES;
}

static uint64_t wire_bits(const struct vcx_frame *frame)
{
    return 8ull * (vcx_padded_bytes(frame) + VCX_FCS_BYTES + VCX_BETWEEN_BYTES);
}

/* ---- into a queue */

uint32_t vcx_port_room(const struct vcx_port *port, uint8_t priority)
{
    uint64_t queued = port->sending[priority % VCX_PRIORITIES].bytes;
    return queued < port->queue_bytes ? (uint32_t)(port->queue_bytes - queued) : 0;
}

static bool is_to_be_marked(struct vcx_port *port, uint8_t priority)
{
    const struct vcx_marking *m = &port->marking[priority];
    uint64_t queued = port->sending[priority].bytes;
    if (!m->max_bytes || queued <= m->min_bytes)
        return false;
    if (queued >= m->max_bytes)
        return true;
    return vcx_random_below(&port->random, m->max_bytes - m->min_bytes) < queued - m->min_bytes &&
           vcx_random_below(&port->random, 100) < m->percent;
}

static void mark(struct vcx_port *port, struct vcx_frame *frame)
{
    uint8_t dscp, ecn;
    if (!vcx_frame_ip(frame, &dscp, &ecn) || ecn == VCX_NOT_ECT)
        return;
    vcx_frame_mark(frame);
    port->counters.priority[frame->priority].tx_marked++;
}

/* A frame that was queued, or was to be. */
static void drop(struct vcx_port *port, struct vcx_frame *frame)
{
    if (port->ops->drop)
        port->ops->drop(port->owner, port, frame);
    else
        vcx_release(frame);
}

static void discard(struct vcx_port *port, struct vcx_frame *frame)
{
    port->counters.tx_discards++;
    port->counters.priority[frame->priority].tx_discards++;
    drop(port, frame);
}

/* What was idle has no time to make up for. */
static void wake_line(struct vcx_port *port, uint8_t priority, uint64_t now_ns)
{
    uint8_t class = class_of(port, priority), other;
    bool port_idle = true, class_idle = true;
    for (other = 0; other < VCX_PRIORITIES; other++)
        if (port->sending[other].first) {
            port_idle = false;
            class_idle &= class_of(port, other) != class;
        }
    if (port_idle)
        vcx_line_idle(&port->line, now_ns);
    if (class_idle)
        vcx_line_idle(&port->limit[class], now_ns);
}

void vcx_port_send(struct vcx_port *port, struct vcx_frame *frame, uint8_t priority)
{
    frame->priority = priority % VCX_PRIORITIES;
    if (!vcx_port_up(port) || frame->length < VCX_ETHERNET_BYTES || vcx_frame_too_long(port, frame) ||
        frame->length > vcx_port_room(port, frame->priority)) {
        discard(port, frame);
        return;
    }
    wake_line(port, frame->priority, vcx_port_now(port));
    if (is_to_be_marked(port, frame->priority))
        mark(port, frame);
    vcx_frames_put(&port->sending[frame->priority], frame);
    port->rdma_bytes[frame->priority] += frame->rdma ? frame->length : 0;
}

static struct vcx_frame *take(struct vcx_port *port, uint8_t priority)
{
    struct vcx_frame *frame = vcx_frames_take(&port->sending[priority]);
    port->rdma_bytes[priority] -= frame && frame->rdma ? frame->length : 0;
    return frame;
}

void vcx_port_flush(struct vcx_port *port, uint8_t priority)
{
    struct vcx_frame *frame;
    while ((frame = take(port, priority % VCX_PRIORITIES)))
        drop(port, frame);
}

/* ---- onto the line */

void vcx_egress_at_once(struct vcx_port *port, struct vcx_frame *frame, uint64_t now_ns)
{
    if (!vcx_port_up(port)) {
        vcx_release(frame);
        return;
    }
    vcx_line_take(&port->line, now_ns, wire_bits(frame), port->line_bps);
    port->ops->transmit(port->owner, port, frame);
}

static bool may_send(const struct vcx_port *port, uint8_t priority, uint64_t now_ns)
{
    uint8_t class = class_of(port, priority);
    return port->sending[priority].first && !vcx_is_held(port, priority, now_ns) &&
           (!port->settings.classes[class].most_bps || port->limit[class].free_ns <= now_ns);
}

/* The class's tag; one that was idle begins where its group is. */
static uint64_t tag_of(const struct vcx_port *port, uint8_t class)
{
    return vcx_most(port->served[class], port->group_served[port->settings.classes[class].group % GROUPS]);
}

/* VCX_PRIORITIES: none may. Among equals the turn goes round. */
static uint8_t next_priority(const struct vcx_port *port, uint64_t now_ns)
{
    uint8_t best = VCX_PRIORITIES, best_group = 0;
    uint64_t best_tag = 0;
    for (uint8_t i = 1; i <= VCX_PRIORITIES; i++) {
        uint8_t priority = (uint8_t)(port->sent_last + i) % VCX_PRIORITIES, class = class_of(port, priority);
        uint8_t group = port->settings.classes[class].group % GROUPS;
        uint64_t tag = tag_of(port, class);
        if (!may_send(port, priority, now_ns) || (best < VCX_PRIORITIES && group < best_group))
            continue;
        if (best < VCX_PRIORITIES && group == best_group && tag >= best_tag)
            continue;
        best = priority;
        best_group = group;
        best_tag = tag;
    }
    return best;
}

static void account(struct vcx_port *port, const struct vcx_frame *frame, uint64_t now_ns)
{
    uint8_t class = class_of(port, frame->priority);
    const struct vcx_traffic_class *c = &port->settings.classes[class];
    struct vcx_priority_counters *count = &port->counters.priority[frame->priority];
    uint64_t bits = wire_bits(frame), tag = tag_of(port, class);
    vcx_line_take(&port->line, now_ns, bits, port->line_bps);
    if (c->most_bps)
        vcx_line_take(&port->limit[class], now_ns, bits,
                      vcx_most(vcx_scale(c->most_bps, port->line_bps, port->nominal_bps), 1));
    port->group_served[c->group % GROUPS] = tag;
    port->served[class] = tag + bits * TAG_PER_BIT / vcx_most(c->share_percent, 1);
    vcx_count_frame(&port->counters.tx, frame);
    count->tx_frames++;
    count->tx_bytes += vcx_padded_bytes(frame) + VCX_FCS_BYTES;
}

bool vcx_egress_poll(struct vcx_port *port, uint64_t now_ns)
{
    for (int i = 0; i < SENT_PER_POLL; i++) {
        if (port->line.free_ns > now_ns)
            return false;
        uint8_t priority = next_priority(port, now_ns);
        if (priority == VCX_PRIORITIES) {
            vcx_line_idle(&port->line, now_ns);
            return false;
        }
        if (port->ops->ready && !port->ops->ready(port->owner, port))
            return false;
        struct vcx_frame *frame = take(port, priority);
        port->sent_last = priority;
        account(port, frame, now_ns);
        port->ops->transmit(port->owner, port, frame);
    }
    return true;
}
