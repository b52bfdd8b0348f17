/*
 * Queue pairs whose receivers take packets in any order (out-of-order placement), and whose senders send
 * again only what is missing (selective repeat). Both for writes and sends.
 *
 * The receiver knows what is missing: it asks for each missing packet with a NAK that has the PSN that is
 * expected, as any NAK, and how far behind it the missing one is - at once, when a packet comes behind a gap,
 * or with out-of-order placement, where a gap need not be a loss, after reorder_wait. What stays missing is
 * asked for again after reorder_wait. A receiver with out-of-order placement and a sender with go-back-N: one
 * NAK for the first missing packet, from which on all is sent again.
 */
#include "sim/host/transport.h"
#include <stdlib.h>

/* ---- building */

static bool both_repeat(const struct physics_nic *from, const struct physics_nic *to)
{
    return from->recovery == PHYSICS_SELECTIVE_REPEAT && to->recovery == PHYSICS_SELECTIVE_REPEAT;
}

static int64_t window_of(const struct physics_nic *from, const struct physics_nic *to)
{
    int64_t a = from->recovery_window_packets, b = to->recovery_window_packets;
    return a < b ? a : b;
}

/* Of each of the three arrays; 0: the queue pair has none. A NAK acknowledges what has arrived: the sender's
 * window then begins there, while the receiver's memory may be as far behind. */
static uint64_t bits_of(const struct physics_nic *from, const struct physics_nic *to,
                        enum sim_operation operation)
{
    uint64_t bits = 64;
    if (operation == SIM_READ || (!both_repeat(from, to) && !to->out_of_order_placement))
        return 0;
    while (bits < 2 * (uint64_t)window_of(from, to))
        bits *= 2;
    return bits;
}

uint64_t recovery_bytes(const struct physics_nic *from, const struct physics_nic *to,
                        enum sim_operation operation)
{
    uint64_t bits = bits_of(from, to, operation);
    return bits ? sizeof(struct recovery) + 3 * bits / 8 : 0;
}

int recovery_begin(struct sim *sim, struct queue_pair *qp, const struct physics_nic *from,
                   const struct physics_nic *to)
{
    uint64_t bits = bits_of(from, to, (enum sim_operation)qp->operation);
    if (!bits)
        return 0;
    struct recovery *r = array_grow(NULL, 0, sizeof *r);
    early_bits *memory = array_grow(NULL, 0, 3 * bits / 8);
    sim->bytes += recovery_bytes(from, to, (enum sim_operation)qp->operation);
    if (!r || !memory) {
        free(r);
        free(memory);
        return -1;
    }
    *r = (struct recovery){.mask = bits - 1,
                           .window = (uint64_t)window_of(from, to),
                           .selective = both_repeat(from, to),
                           .waits = to->out_of_order_placement,
                           .again = memory,
                           .received = memory + bits / 64,
                           .delivered = memory + 2 * (bits / 64),
                           .gap_ps = -1,
                           .asked_ps = INT64_MIN / 2};
    qp->recovery = r;
    qp->congestion_hooks |= QP_RECOVERY;
    return 0;
}

int recovery_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    for (uint32_t q = 0; q < sim->qp_count; q++) {
        struct queue_pair *qp = &sim->qps[q];
        if (recovery_begin(sim, qp, &c->hosts[qp->sender].nic, &c->hosts[qp->receiver].nic))
            return error_set(e, "simulator: no memory for the windows of %u queue pairs", sim->qp_count);
    }
    return 0;
}

void recovery_end(struct queue_pair *qp)
{
    if (!qp->recovery)
        return;
    free(qp->recovery->again);
    free(qp->recovery);
    qp->recovery = NULL;
}

/* ---- sender */

/* While it is built, the packet is the sender's next one. */
uint32_t recovery_packet(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    struct recovery *r = qp->recovery;
    const uint64_t next_psn = qp->send_psn;
    const uint32_t left = r->again_count - 1;
    uint64_t psn = qp->acked_psn;
    while (!early_has(r->again, r->mask, psn))
        psn++;
    early_remove(r->again, r->mask, psn);
    r->again_count = 0;
    qp_seek(sim, qp, psn);
    uint32_t p = qp_build_packet(sim, q);
    r->again_count = left;
    qp_seek(sim, qp, next_psn);
    if (qp->send_psn == qp->limit_psn && !left)
        ring_leave(sim, q);
    else
        ring_join(sim, q);
    return p;
}

static void want(struct queue_pair *qp, uint64_t psn)
{
    struct recovery *r = qp->recovery;
    if (psn < qp->acked_psn || psn >= qp->highest_psn || early_has(r->again, r->mask, psn))
        return;
    early_add(r->again, r->mask, psn);
    r->again_count++;
}

void recovery_acknowledged(struct sim *sim, uint32_t q, uint64_t before_psn)
{
    struct queue_pair *qp = &sim->qps[q];
    struct recovery *r = qp->recovery;
    for (uint64_t psn = before_psn; psn < qp->acked_psn && r->again_count; psn++)
        if (early_has(r->again, r->mask, psn)) {
            early_remove(r->again, r->mask, psn);
            r->again_count--;
        }
    if (qp->send_psn == qp->limit_psn && !r->again_count)
        ring_leave(sim, q);
}

void recovery_asked(struct sim *sim, uint32_t q, const struct packet *nak)
{
    struct queue_pair *qp = &sim->qps[q];
    int32_t ahead = (int32_t)((nak->psn - (uint32_t)qp->acked_psn) << (32 - PACKET_PSN_BITS));
    int64_t psn = (int64_t)qp->acked_psn + (ahead >> (32 - PACKET_PSN_BITS)) + packet_gap(nak);
    acknowledged(sim, q, qp->acked_psn + (uint64_t)(int64_t)(ahead >> (32 - PACKET_PSN_BITS)));
    if (psn >= 0)
        want(&sim->qps[q], (uint64_t)psn);
    ring_join(sim, q);
}

/* The first packet, which fills the first gap, and the last, behind which the receiver finds all others. */
void recovery_timed_out(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    want(qp, qp->acked_psn);
    want(qp, qp->highest_psn - 1);
    ring_join(sim, q);
}

/* ---- receiver */

/* Ask for each packet that is missing in from_psn..to_psn - 1. */
static void ask_for(struct sim *sim, uint32_t host, uint32_t q, uint64_t from_psn, uint64_t to_psn)
{
    struct queue_pair *qp = &sim->qps[q];
    qp->waiting_ack = NONE; /* which is before the NAKs */
    qp->recovery->asked_ps = sim->now_ps;
    for (uint64_t psn = from_psn; psn < to_psn; psn++) {
        if (early_has(qp->recovery->received, qp->recovery->mask, psn))
            continue;
        uint32_t p = control_packet(sim, q, PACKET_NAK, qp->expected_psn);
        packet_set_gap(&sim->packets[p], (uint32_t)(psn - qp->expected_psn));
        sim->hosts[host].counters.out_of_sequence++;
        send_control(sim, host, p);
    }
}

/* Something is missing before next_psn. The gap of a packet that came behind it is new from before_psn on. A
 * receiver that asks at once asks for older ones, too, when it has not asked for reorder_wait: its NAKs were
 * lost, and the sender's time-out sent the first missing packet and the last, which may be a copy. */
static void look_for_gaps(struct sim *sim, uint32_t host, uint32_t q, uint64_t before_psn, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    struct recovery *r = qp->recovery;
    int64_t wait_ps = sim->hosts[host].reorder_wait_ps;
    bool at_once = r->selective && !r->waits;
    bool again = at_once && psn > qp->expected_psn && sim->now_ps - r->asked_ps >= wait_ps;
    if (r->gap_ps < 0)
        r->gap_ps = sim->now_ps;
    if (at_once && psn > before_psn) {
        ask_for(sim, host, q, again ? qp->expected_psn : before_psn, psn);
    } else if (sim->now_ps - r->gap_ps >= wait_ps || again) {
        r->gap_ps = sim->now_ps;
        if (r->selective)
            ask_for(sim, host, q, qp->expected_psn, r->next_psn);
        else
            ask_again(sim, host, q);
    }
}

/* The expected packet has come: what follows it may be there already. */
static void advance(struct queue_pair *qp)
{
    struct recovery *r = qp->recovery;
    qp->expected_psn += early_take(r->received, r->mask, qp->expected_psn);
    qp->nak_sent = false;
    r->gap_ps = -1;
}

bool recovery_accept(struct sim *sim, uint32_t host, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    uint32_t q = packet->qp;
    struct queue_pair *qp = &sim->qps[q];
    struct recovery *r = qp->recovery;
    int32_t ahead = (int32_t)(packet->psn - (uint32_t)qp->expected_psn);
    uint64_t psn = qp->expected_psn + (uint64_t)(int64_t)ahead, before_psn = r->next_psn;
    bool is_new = ahead >= 0 && !early_has(r->received, r->mask, psn);
    if (is_new && psn > qp->delivered_psn + r->mask)
        return false; /* memory is too far behind */
    if (is_new) {
        early_add(r->received, r->mask, psn);
        if (psn >= r->next_psn)
            r->next_psn = psn + 1;
        if (packet->flags & PACKET_FIRST && qp->operation == SIM_WRITE)
            sim->hosts[host].counters.rx_write_requests++;
        if (ahead == 0)
            advance(qp);
    } else {
        sim->hosts[host].counters.duplicate_request++;
        acknowledge(sim, host, q, p);
    }
    if (qp->expected_psn < r->next_psn)
        look_for_gaps(sim, host, q, before_psn, psn);
    return is_new;
}

bool recovery_delivered(struct sim *sim, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    struct recovery *r = qp->recovery;
    uint64_t half = r->window / 2 + !(r->window / 2), before = qp->delivered_psn / half;
    early_add(r->delivered, r->mask, psn);
    qp->delivered_psn += early_take(r->delivered, r->mask, qp->delivered_psn);
    return qp->delivered_psn / half != before;
}
