/*
 * Time-outs of reliable connections: when a requester sends again because no answer comes, or because the
 * receiver was not ready, and when it gives up. Either at each ack_timeout and RNR timer exactly, or at the
 * times that were measured (lib/roce/retransmission.h).
 */
#include "sim/faults/hooks.h"
#include "sim/host/transport.h"

#define RNR_FOREVER 7

/* What happens when the timer expires for the k-th time in this silence, in picoseconds. */
static struct retransmission measured_step(const struct sim *sim, const struct host *h, uint32_t q,
                                           uint32_t k)
{
    const struct queue_pair *qp = &sim->qps[q];
    struct random random;
    seed_random(&random, sim, STREAM_TIMEOUT, qp->number);
    random_seed(&random, random_next(&random) + qp->silences);
    const struct retransmission_case of = {.timeout_ns = h->ack_timeout_ps / SIM_PS_PER_NS,
                                           .retries = h->retry_count,
                                           .floor_off = h->floor_off,
                                           .draw = (unsigned)(random_next(&random) >> 48)};
    return retransmission_step(h->retransmission, &of, k);
}

static int64_t wait_ps(const struct sim *sim, const struct host *h, uint32_t q, uint32_t k)
{
    int64_t until_ns = measured_step(sim, h, q, k).at_ns;
    return (until_ns - (k ? measured_step(sim, h, q, k - 1).at_ns : 0)) * SIM_PS_PER_NS;
}

void timeouts_begin(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    const struct host *h = &sim->hosts[requester_of(qp)];
    qp->wait_ps = h->retransmission ? wait_ps(sim, h, q, 0) : h->ack_timeout_ps;
}

/* The timer is that of what is sent now. */
void timeouts_end(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    qp->silent = false;
    qp->retries = 0;
    qp->silences++;
    timeouts_begin(sim, q);
    event_reschedule(sim->events, qp->timeout_event, sim->now_ps + qp->wait_ps);
}

void restart_slowly(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    struct host *h = &sim->hosts[requester_of(qp)];
    h->counters.rp_cnp_handled++;
    h->counters.slow_restart_cnps++;
    if (qp->operation != SIM_READ)
        congestion_cut(sim, h, qp);
}

/* The work request completes with "transport retry counter exceeded" (IBV_WC_RETRY_EXC_ERR), or of a receiver
 * that was not ready with IBV_WC_RNR_RETRY_EXC_ERR, and the queue pair sends nothing any more. Of a read the
 * responder may still send what was asked for. */
static void give_up(struct sim *sim, uint32_t q, uint32_t requester, bool not_ready)
{
    struct queue_pair *qp = &sim->qps[q];
    struct sim_flow_stats *stats = &sim->flows[qp->flow].stats;
    struct host *h = &sim->hosts[requester];
    qp->stopped = true;
    qp->complete_psn = UINT64_MAX;
    h->counters.cqe_errors++;
    *(not_ready ? &h->counters.rnr_retries_exceeded : &h->counters.retries_exceeded) += 1;
    if (!stats->failed++) {
        stats->failed_ps = sim->now_ps;
        stats->failed_not_ready = not_ready;
        stats->failed_silence_ps = sim->now_ps - (not_ready ? qp->not_ready_since_ps : qp->silent_since_ps);
        stats->failed_as_measured = h->retransmission || (not_ready && h->rnr_added_ps);
        for (uint32_t k = 0; h->retransmission && k < qp->retries; k++)
            stats->failed_adaptive += measured_step(sim, h, q, k).adaptive;
        stats->failed_timeouts = qp->retries - stats->failed_adaptive;
        stats->unreachable = !reroute_reaches(sim, qp->sender, qp->receiver);
    }
    if (qp->operation == SIM_READ)
        return;
    if (qp->recovery)
        qp->recovery->again_count = 0;
    ring_leave(sim, q);
    qp->limit_psn = qp->acked_psn = qp->send_psn = qp->highest_psn;
}

/* A time-out without progress since the last one is one more; after retry_count of them the queue pair has an
 * error. */
static struct retransmission nominal_step(const struct host *h, struct queue_pair *qp)
{
    uint64_t psn = qp->operation == SIM_READ ? qp->expected_psn : qp->acked_psn;
    if (psn != qp->retry_psn) {
        qp->retry_psn = psn;
        qp->retries = 0;
    }
    bool ends = qp->retries >= (uint32_t)h->retry_count;
    return (struct retransmission){.resends = !ends, .ends = ends};
}

/* The timer has expired: counts it, and sets the next wait. */
static struct retransmission take_step(struct sim *sim, uint32_t q, struct host *h)
{
    struct queue_pair *qp = &sim->qps[q];
    struct retransmission step =
        h->retransmission ? measured_step(sim, h, q, qp->retries) : nominal_step(h, qp);
    if (!qp->retries)
        qp->silent_since_ps = qp->progress_ps;
    qp->retries++;
    if (step.adaptive)
        h->counters.adaptive_retransmissions++;
    else if (h->counts_timeouts)
        h->counters.local_ack_timeout_err++;
    if (h->retransmission && !step.ends) {
        qp->silent = true;
        qp->wait_ps = wait_ps(sim, h, q, qp->retries);
    }
    return step;
}

/* Requests that the responder has not taken come again behind the one of what is expected. */
static void request_reads_again(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    uint64_t next_psn = qp->expected_psn - qp->received_in_message + qp->packets_per_message;
    uint64_t taken_psn = qp->limit_psn > next_psn ? qp->limit_psn : next_psn;
    if (taken_psn >= qp->requested_psn)
        return;
    qp->requested_psn = taken_psn;
    request_reads(sim, q);
}

static void send_again(struct sim *sim, uint32_t q, uint32_t requester)
{
    struct queue_pair *qp = &sim->qps[q];
    if (sim->hosts[requester].slow_restart)
        restart_slowly(sim, q);
    if (qp->operation == SIM_READ) {
        qp->nak_sent = true; /* what is under way before its answers asks for nothing more */
        qp->nak_ps = sim->now_ps;
        if (qp->waiting_request != NONE) /* it has not left yet, as over a link that is down: one is enough */
            return;
        uint32_t p = read_request(sim, q, qp->expected_psn);
        sim->qps[q].waiting_request = p;
        send_control(sim, requester, p);
        request_reads_again(sim, q);
        return;
    }
    if (qp->congestion_hooks & CONGESTION_TIMEOUTS)
        congestion_timed_out(sim, q);
    if (is_selective(qp))
        recovery_timed_out(sim, q);
    else
        go_back(sim, q, qp->acked_psn);
    host_wake(sim, requester);
}

/* Has the requester sent no packet yet that requests an ACK? That is the last of a message, and the last of
 * ack_every, which the receiver counts. Until then its sending is progress: the timer runs for packets that
 * request one (InfiniBand Architecture Specification 9.7.6.1.3). Measured times count from the request. */
static bool expects_no_ack(const struct sim *sim, const struct queue_pair *qp)
{
    uint64_t every = (uint64_t)sim->hosts[qp->receiver].ack_every_packets;
    return qp->operation != SIM_READ && !sim->hosts[qp->sender].retransmission &&
           !(qp->flags & PACKET_ASKS_ACK) && qp->highest_psn < qp->complete_psn &&
           (!every || qp->highest_psn - qp->acked_psn < every);
}

/* The timer is not moved at every ACK: when it expires, it checks whether there was progress. */
void qp_timeout(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    uint32_t requester = requester_of(qp);
    if (qp->operation == SIM_READ ? qp->expected_psn == qp->requested_psn : qp->acked_psn == qp->highest_psn)
        return;
    if (expects_no_ack(sim, qp) && qp->sent_ps > qp->progress_ps)
        qp->progress_ps = qp->sent_ps;
    if (qp->progress_ps + qp->wait_ps > sim->now_ps) {
        event_schedule(sim->events, qp->timeout_event, qp->progress_ps + qp->wait_ps);
        return;
    }
    struct retransmission step = take_step(sim, q, &sim->hosts[requester]);
    if (step.ends) {
        give_up(sim, q, requester, false);
        return;
    }
    qp->progress_ps = sim->now_ps;
    event_schedule(sim->events, qp->timeout_event, sim->now_ps + qp->wait_ps);
    if (step.resends)
        send_again(sim, q, requester);
}

/* ---- receivers that are not ready (InfiniBand Architecture Specification 9.7.5.2.8, 9.7.7.2) */

/* What follows the packet is dropped in silence, until it comes again. */
bool not_ready_answer(struct sim *sim, uint32_t host, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    const uint32_t q = packet->qp;
    struct queue_pair *qp = &sim->qps[q];
    struct host_counters *c = &sim->hosts[host].counters;
    if (qp->operation != SIM_SEND || !(packet->flags & PACKET_FIRST) ||
        packet->psn != (uint32_t)qp->expected_psn)
        return false;
    c->rx_rdma_packets++;
    c->rx_rdma_bytes += packet->bytes;
    c->out_of_buffer++;
    qp->nak_sent = true;
    if (sim->ports[sim->hosts[host].port].flags & PORT_CAPTURED)
        capture_frame(sim, sim->hosts[host].port, p, false);
    packet_give(sim, p);
    send_control(sim, host, control_packet(sim, q, PACKET_NOT_READY, qp->expected_psn));
    return true;
}

/* Without end with RNR_FOREVER retries; the ACK timer waits meanwhile. */
void not_ready_received(struct sim *sim, uint32_t host, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    struct host *h = &sim->hosts[host];
    h->counters.rnr_naks++;
    acknowledged(sim, q, psn);
    if (psn != qp->acked_psn || qp->stopped)
        return;
    if (psn != qp->not_ready_psn || !qp->not_ready) {
        qp->not_ready_psn = psn;
        qp->not_ready = 0;
        qp->not_ready_since_ps = qp->progress_ps;
    }
    if (qp->silent)
        timeouts_end(sim, q);
    if (h->rnr_retry != RNR_FOREVER && qp->not_ready >= h->rnr_retry) {
        give_up(sim, q, host, true);
        return;
    }
    qp->not_ready++;
    qp->progress_ps = sim->now_ps + h->rnr_timer_ps + h->rnr_added_ps;
    qp->next_send_ps = qp->paced_ps = qp->progress_ps;
    go_back(sim, q, psn);
    host_wake(sim, host);
}
