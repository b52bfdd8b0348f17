/*
 * RoCEv2 reliable connections: segmentation, windows of messages, acknowledgements, go-back-N.
 *
 * Writes and sends go from requester to responder and are acknowledged. A read is a request that lets the
 * responder send one more message; its responses acknowledge themselves. PSNs are 64 bits here; packets carry
 * the low half.
 */
#include "sim/faults/hooks.h"
#include "sim/model.h"
#include "sim/host/egress.h"
#include "sim/host/transport.h"
#include "sim/islands/island.h"
#include <stdlib.h>

/* ---- waits */

/* Flows that wait for other flows. Who waits is the sender; it receives the other flow, or sends it too. So
 * all that a wait needs is at one host. */
static bool is_stream(const struct sim_flow_config *f)
{
    return f->mode == SIM_STREAM && f->operation != SIM_READ;
}

static int check_wait(const struct sim_config *c, const struct sim_flow_config *f,
                      const struct sim_wait *wait, struct error *e)
{
    const struct sim_flow_config *before = wait->flow < c->flow_count ? &c->flows[wait->flow] : NULL;
    if (!before || before == f)
        return error_set(e, "simulator: flow %s should wait for flow %u, which does not exist", f->name,
                         wait->flow);
    if (!is_stream(f) || !is_stream(before) || !before->message_count || f->after >= 0)
        return error_set(
            e,
            "simulator: flow %s cannot wait for %s: this requires streams of writes or sends, and that "
            "the other has an end",
            f->name, before->name);
    if (before->from != f->from && before->to != f->from)
        return error_set(e, "simulator: flow %s cannot wait for %s, whose end its sender does not see",
                         f->name, before->name);
    if (wait->delay_ps < 0 || wait->delay_ps > SIM_FOREVER / 4)
        return error_set(e, "simulator: flow %s: a delay of %lld ps after %s is out of range", f->name,
                         (long long)wait->delay_ps, before->name);
    return 0;
}

static int count_waits(struct sim *sim, const struct sim_config *c, size_t *total, struct error *e)
{
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        const struct sim_flow_config *f = &c->flows[i];
        for (size_t k = 0; k < f->wait_count; k++) {
            if (check_wait(c, f, &f->waits[k], e) != 0)
                return -1;
            struct flow *before = &sim->flows[f->waits[k].flow];
            if (c->flows[f->waits[k].flow].to == f->from)
                before->waits_at_receiver++;
            else
                before->waits_at_sender++;
        }
        *total += f->wait_count;
    }
    return 0;
}

/* Each flow's list: the waits of those who receive it come first. */
static void list_waits(struct sim *sim, const struct sim_config *c)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        struct flow *flow = &sim->flows[i];
        flow->first_wait = next;
        next += flow->waits_at_receiver + flow->waits_at_sender;
        flow->waits_at_receiver = flow->waits_at_sender = 0;
    }
    for (int at_sender = 0; at_sender < 2; at_sender++)
        for (uint32_t i = 0; i < sim->flow_count; i++) {
            const struct sim_flow_config *f = &c->flows[i];
            for (size_t k = 0; k < f->wait_count; k++) {
                struct flow *before = &sim->flows[f->waits[k].flow];
                if ((c->flows[f->waits[k].flow].to != f->from) != at_sender)
                    continue;
                uint32_t place = before->first_wait + before->waits_at_receiver + before->waits_at_sender;
                sim->waits[place] = (struct waiting){i, f->waits[k].delay_ps};
                *(at_sender ? &before->waits_at_sender : &before->waits_at_receiver) += 1;
            }
        }
}

int waits_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    size_t total = 0;
    if (count_waits(sim, c, &total, e) != 0)
        return -1;
    if (total >= UINT32_MAX || !(sim->waits = calloc(total + 1, sizeof *sim->waits)))
        return error_set(e, "simulator: no memory for %zu waits", total);
    sim->bytes += (total + 1) * sizeof *sim->waits;
    list_waits(sim, c);
    for (uint32_t i = 0; i < sim->flow_count; i++) {
        struct flow *flow = &sim->flows[i];
        flow->waits_left = (uint32_t)c->flows[i].wait_count;
        flow->ready_ps = c->flows[i].start_ps;
        island_enter(sim, SIM_HOST, c->flows[i].from);
        if (flow->waits_left)
            event_cancel(sim->events, flow->start_event);
    }
    return 0;
}

static void wait_is_over(struct sim *sim, const struct waiting *waiting, int64_t when_ps)
{
    struct flow *flow = &sim->flows[waiting->flow];
    int64_t ready_ps = when_ps + waiting->delay_ps;
    if (ready_ps > flow->ready_ps)
        flow->ready_ps = ready_ps;
    if (--flow->waits_left == 0)
        event_schedule(sim->events, flow->start_event, flow->ready_ps);
}

/* All of a flow's messages are in the receiver's memory at when_ps: flows that wait for it may begin. */
static void waits_received(struct sim *sim, const struct flow *flow, int64_t when_ps)
{
    for (uint32_t i = 0; i < flow->waits_at_receiver; i++)
        wait_is_over(sim, &sim->waits[flow->first_wait + i], when_ps);
}

/* The same when they are complete. */
static void waits_completed(struct sim *sim, const struct flow *flow, int64_t when_ps)
{
    for (uint32_t i = 0; i < flow->waits_at_sender; i++)
        wait_is_over(sim, &sim->waits[flow->first_wait + flow->waits_at_receiver + i], when_ps);
}

/* ---- the sender's round robin */

/* A queue pair with something to send is in the ring, also while its window holds it: leaving and joining
 * again with each ACK, it could be served before the others every time. It joins behind the one that joined
 * last: those that stay keep their places, and none is served twice in a round. */
void ring_join(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    struct host *h = &sim->hosts[qp->sender];
    if (qp->ring_next != NONE || (qp->send_psn == qp->limit_psn && !qp_sends_again(qp)))
        return;
    if (h->ring == NONE) {
        h->ring = h->ring_joined = qp->ring_next = qp->ring_previous = q;
        return;
    }
    struct queue_pair *before = &sim->qps[h->ring_joined];
    qp->ring_previous = h->ring_joined;
    qp->ring_next = before->ring_next;
    sim->qps[before->ring_next].ring_previous = q;
    before->ring_next = q;
    h->ring_joined = q;
}

void ring_leave(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    struct host *h = &sim->hosts[qp->sender];
    if (qp->ring_next == NONE)
        return;
    if (h->ring == q)
        h->burst_left = 0;
    if (qp->ring_next == q) {
        h->ring = NONE;
    } else {
        sim->qps[qp->ring_previous].ring_next = qp->ring_next;
        sim->qps[qp->ring_next].ring_previous = qp->ring_previous;
        if (h->ring == q)
            h->ring = qp->ring_previous;
        if (h->ring_joined == q)
            h->ring_joined = qp->ring_previous;
    }
    qp->ring_next = qp->ring_previous = NONE;
}

/* ---- the flows' own limits */

#define PACING_BURST_BYTES 65536

/* What a queue pair may send back to back to make up for being late. As much is late behind a packet of each
 * queue pair of its host, which all may have at one time, even if none is above its rate. */
int pacing_build(struct sim *sim, struct error *e)
{
    double *round_bytes = calloc(sim->host_count + 1, sizeof *round_bytes);
    if (!round_bytes)
        return error_set(e, "simulator: no memory for %u hosts", sim->host_count);
    for (uint32_t q = 0; q < sim->qp_count; q++) {
        const struct queue_pair *qp = &sim->qps[q];
        uint32_t burst = (uint32_t)sim->hosts[qp->sender].burst_bytes;
        round_bytes[qp->sender] += qp->payload_bytes > burst ? qp->payload_bytes : burst;
    }
    for (uint32_t q = 0; q < sim->qp_count; q++) {
        struct queue_pair *qp = &sim->qps[q];
        double ps = (PACING_BURST_BYTES + round_bytes[qp->sender]) * (double)qp->ps_per_byte_q20 / 0x1p20;
        qp->made_up_ps = whole_ns(sim, ps < (double)(SIM_FOREVER / 4) ? (int64_t)ps : SIM_FOREVER / 4);
    }
    free(round_bytes);
    return 0;
}

/* ---- packets */

static uint64_t whole_psn(uint64_t near, uint32_t low)
{
    return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}

static uint16_t frame_bytes(const struct sim *sim, int32_t bytes)
{
    return (uint16_t)(bytes > sim->framing.minimum_bytes ? bytes : sim->framing.minimum_bytes);
}

int64_t data_frame_bytes(const struct sim *sim, const struct queue_pair *qp, uint32_t payload, unsigned place)
{
    int64_t bytes =
        payload + sim->framing.data_bytes + (place & PACKET_LAST ? qp->last_tail_bytes : qp->tail_bytes);
    if (qp->operation == SIM_WRITE && (place & PACKET_FIRST))
        bytes += sim->framing.reth_bytes;
    else if (qp->operation == SIM_READ && place)
        bytes += sim->framing.aeth_bytes;
    return bytes;
}

/* A packet of `payload` is sent: when may the flow's own limit let the next one? A token bucket, as in
 * roce-traffic and NICs: a packet that was late, behind frames of others or a pause, does not delay the next
 * ones. The first one is not late. */
static void pace(struct sim *sim, struct queue_pair *qp, uint32_t payload)
{
    int64_t earliest_ps = sim->now_ps - (qp->paced_ps ? qp->made_up_ps : 0);
    if (qp->paced_ps < earliest_ps)
        qp->paced_ps = earliest_ps;
    qp->paced_ps += sim_duration(sim, payload, qp->ps_per_byte_q20);
    qp->next_send_ps = qp->paced_ps;
}

/* ---- messages that are not all of one size */

/* The sender looks for the packet's message around the one that it sends, the receiver around the one that it
 * expects: what is before the packet's end is posted. */
uint32_t message_last_payload(const struct queue_pair *qp, const struct packet *packet, bool sent)
{
    uint64_t k = sent ? qp->sending : qp->delivered;
    uint64_t end_psn = whole_psn(sent ? qp->send_psn : qp->expected_psn, packet->psn) + 1;
    while (message_first_psn(qp, k) < end_psn && qp->messages[k].end_psn < end_psn)
        k++;
    while (k > 0 && message_first_psn(qp, k) >= end_psn)
        k--;
    return qp->messages[k].last_payload_bytes;
}

/* The message that is sent is this one. */
static void message_begin(const struct sim *sim, struct queue_pair *qp)
{
    const struct message *message = &qp->messages[qp->sending];
    qp->packets_per_message = (uint32_t)(message->end_psn - message_first_psn(qp, qp->sending));
    qp->last_payload_bytes = message->last_payload_bytes;
    qp->last_tail_bytes = framing_pad_bytes(&sim->framing, message->last_payload_bytes);
}

void qp_seek(const struct sim *sim, struct queue_pair *qp, uint64_t psn)
{
    qp->send_psn = psn;
    if (!qp->messages) {
        qp->packet_in_message = (uint32_t)(psn % qp->packets_per_message);
        return;
    }
    while (message_first_psn(qp, qp->sending) > psn)
        qp->sending--;
    while (qp->sending < qp->posted && qp->messages[qp->sending].end_psn <= psn)
        qp->sending++;
    qp->packet_in_message = (uint32_t)(psn - message_first_psn(qp, qp->sending));
    if (qp->sending < qp->posted)
        message_begin(sim, qp);
}

/* The payload of the packets from acked_psn up to psn. */
int64_t qp_acked_bytes(const struct queue_pair *qp, uint64_t psn)
{
    if (!qp->messages)
        return qp_bytes_before(qp, psn) - qp_bytes_before(qp, qp->acked_psn);
    int64_t bytes = (int64_t)(psn - qp->acked_psn) * (int64_t)qp->payload_bytes;
    for (uint64_t k = qp->completed; k < qp->posted && qp->messages[k].end_psn <= psn; k++)
        bytes -= (int64_t)qp->payload_bytes - qp->messages[k].last_payload_bytes;
    return bytes;
}

uint32_t qp_build_packet(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    if (qp_sends_again(qp))
        return recovery_packet(sim, q);
    if (qp->messages && !qp->packet_in_message)
        message_begin(sim, qp);
    uint32_t p = packet_take(sim);
    struct host *h = &sim->hosts[qp->sender];
    struct packet *packet = &sim->packets[p];
    bool last = qp->packet_in_message + 1 == qp->packets_per_message;
    unsigned place = (qp->packet_in_message == 0 ? PACKET_FIRST : 0u) | (last ? PACKET_LAST : 0u);
    packet->qp = q;
    packet->psn = (uint32_t)qp->send_psn;
    uint32_t payload = last ? qp->last_payload_bytes : qp->payload_bytes;
    packet->bytes = frame_bytes(sim, (int32_t)data_frame_bytes(sim, qp, payload, place) + qp->header_bytes);
    packet->kind = PACKET_DATA;
    packet->priority = qp->priority;
    packet->path = qp->data_path;
    packet->flags = (uint8_t)(qp->flags | place);

    if (qp->packet_in_message == 0 && h->message_ps)
        h->next_message_ps = sim->now_ps + h->message_ps;
    if (qp->packet_in_message == 0 && h->queue_pair_message_ps)
        qp->next_message_ps = sim->now_ps + h->queue_pair_message_ps;
    int64_t from_ps = qp->next_send_ps > sim->now_ps ? qp->next_send_ps : sim->now_ps; /* later: in a burst */
    if (qp->ps_per_byte_q20)
        pace(sim, qp, payload);
    if (qp->congestion_hooks & CONGESTION_GAP) {
        int64_t next_ps = from_ps + congestion_gap_ps(sim, h, qp, packet->bytes);
        if (next_ps > qp->next_send_ps)
            qp->next_send_ps = next_ps;
    }
    qp->packet_in_message = last ? 0 : qp->packet_in_message + 1;
    if (qp->messages)
        qp->sending += last;
    qp->sent_ps = sim->now_ps;
    /* The timer is that of the oldest packet without an answer; measured times do not begin anew with
     * resends. */
    if (qp->send_psn == qp->acked_psn && !qp->silent)
        qp->progress_ps = sim->now_ps;
    if (qp->send_psn == qp->highest_psn)
        qp->highest_psn++;
    else
        qp->retransmitted++;
    qp->send_psn++;
    if (qp->send_psn == qp->limit_psn)
        ring_leave(sim, q);
    h->counters.tx_rdma_packets++;
    h->counters.tx_rdma_bytes += packet->bytes;
    if (qp->operation != SIM_READ && !event_is_pending(sim->events, qp->timeout_event)) {
        qp->progress_ps = sim->now_ps;
        event_schedule(sim->events, qp->timeout_event, sim->now_ps + qp->wait_ps);
    }
    return p;
}

static int32_t answer_bytes(const struct sim *sim, const struct queue_pair *qp)
{
    int32_t bytes = (int32_t)sim->framing.ack_bytes + qp->header_bytes;
    return bytes > sim->framing.ack_minimum_bytes ? bytes : (int32_t)sim->framing.ack_minimum_bytes;
}

/* A frame without payload from `from` on the queue pair: ACK, NAK or read request. */
uint32_t control_packet(struct sim *sim, uint32_t q, enum packet_kind kind, uint64_t psn)
{
    uint32_t p = packet_take(sim);
    const struct queue_pair *qp = &sim->qps[q];
    int32_t bytes = kind == PACKET_READ_REQUEST ? sim->framing.data_bytes + sim->framing.reth_bytes
                                                : answer_bytes(sim, qp);
    sim->packets[p] = (struct packet){.qp = q,
                                      .psn = (uint32_t)psn,
                                      .bytes = frame_bytes(sim, bytes),
                                      .kind = (uint8_t)kind,
                                      .path = packet_is_forward(qp, kind) ? qp->data_path : qp->ack_path,
                                      .priority = qp->priority};
    return p;
}

uint32_t read_request(struct sim *sim, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    uint64_t end_psn = (psn / qp->packets_per_message + 1) * qp->packets_per_message;
    if (end_psn > qp->highest_request_psn)
        qp->highest_request_psn = end_psn;
    else
        qp->requested_again++;
    return control_packet(sim, q, PACKET_READ_REQUEST, psn);
}

void send_control(struct sim *sim, uint32_t host, uint32_t p)
{
    const struct host *h = &sim->hosts[host];
    unsigned queue = h->ack_unpaused ? (unsigned)QUEUE_CONTROL : sim->qps[sim->packets[p].qp].queue;
    port_enqueue(sim, h->port, queue, p);
}

/* ---- requester: posting and completing */

/* When the NIC has the request of a read that was posted: as of a write, after the doorbell and its latency.
 */
static int64_t may_request_ps(const struct host *requester, const struct queue_pair *qp)
{
    int64_t posted_ps = qp->post_ps[qp->requested_psn / qp->packets_per_message % qp->depth];
    if (requester->pcie.ideal)
        return posted_ps;
    return posted_ps + requester->software.post_ps + requester->tx_latency_ps;
}

void request_reads(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    uint32_t requester = qp->receiver;
    uint64_t most = qp->expected_psn - qp->received_in_message +
                    (uint64_t)sim->hosts[requester].max_reads * qp->packets_per_message;
    while (qp->requested_psn < qp->posted * qp->packets_per_message && qp->requested_psn < most) {
        int64_t may_ps = may_request_ps(&sim->hosts[requester], qp);
        if (may_ps > sim->now_ps) {
            event_reschedule(sim->events, qp->turn_event, may_ps);
            return;
        }
        uint32_t p = read_request(sim, q, qp->requested_psn);
        qp = &sim->qps[q];
        if (qp->requested_psn == qp->expected_psn) {
            qp->progress_ps = sim->now_ps;
            qp->waiting_request = p;
        }
        qp->requested_psn += qp->packets_per_message;
        if (!event_is_pending(sim->events, qp->timeout_event)) {
            qp->progress_ps = sim->now_ps;
            event_schedule(sim->events, qp->timeout_event, sim->now_ps + qp->wait_ps);
        }
        send_control(sim, requester, p);
    }
}

/* The program posts a message at `at_ps`: when it has seen a completion, which is later than the NIC has it.
 */
static void post(struct sim *sim, uint32_t q, int64_t at_ps)
{
    struct queue_pair *qp = &sim->qps[q];
    qp->post_ps[qp->posted % qp->depth] = at_ps;
    qp->posted++;
    if (qp->operation != SIM_READ)
        qp->limit_psn += qp->packets_per_message;
}

void qp_post(struct sim *sim, uint32_t q, int64_t bytes, uint32_t operation)
{
    struct queue_pair *qp = &sim->qps[q];
    struct flow *flow = &sim->flows[qp->flow];
    if (qp->stopped)
        return;
    int64_t packets = bytes ? (bytes + qp->payload_bytes - 1) / qp->payload_bytes : 1;
    struct message *message = &qp->messages[qp->posted];
    *message = (struct message){.end_psn = qp->limit_psn + (uint64_t)packets,
                                .last_payload_bytes = (uint32_t)(bytes - (packets - 1) * qp->payload_bytes),
                                .operation = operation};
    qp->limit_psn = message->end_psn;
    if (qp->completed == qp->posted++)
        qp->complete_psn = message->end_psn;
    if (flow->stats.started_ps < 0) {
        flow->stats.started_ps = sim->now_ps;
        if (qp->congestion_hooks & CONGESTION_TIMER)
            congestion_timer(sim, q);
    }
    ring_join(sim, q);
    host_wake(sim, qp->sender);
}

static bool may_post(const struct sim *sim, const struct queue_pair *qp)
{
    return !qp->stopped && (!qp->message_limit || qp->posted < qp->message_limit) &&
           (qp->follows == NONE || qp->posted <= sim->qps[qp->follows].delivered) &&
           sim->now_ps < sim->flows[qp->flow].stop_ps;
}

static void go_on(struct sim *sim, uint32_t q)
{
    if (sim->qps[q].operation == SIM_READ) {
        request_reads(sim, q);
    } else {
        ring_join(sim, q);
        host_wake(sim, sim->qps[q].sender);
    }
}

/* The time from the ACK, or a read's last response, until the requester's program sees the completion and
 * posts again. */
static int64_t completion_lag_ps(const struct sim *sim, const struct queue_pair *qp)
{
    const struct host *requester = &sim->hosts[qp->operation == SIM_READ ? qp->receiver : qp->sender];
    if (requester->pcie.ideal)
        return requester->completion_ps;
    return requester->rx_latency_ps + requester->pcie.latency_ps + requester->completion_ps +
           requester->software.poll_ps;
}

static void complete_message(struct sim *sim, uint32_t q, int64_t lag_ps)
{
    struct queue_pair *qp = &sim->qps[q];
    struct flow *flow = &sim->flows[qp->flow];
    int64_t known_ps = sim->now_ps + lag_ps;
    if (qp->messages) {
        jobs_sent(sim, q, qp->messages[qp->completed].operation, known_ps);
        qp->completed++;
        qp->complete_psn = qp->completed < qp->posted ? qp->messages[qp->completed].end_psn : UINT64_MAX;
        return;
    }
    flow->stats.messages++;
    flow->stats.bytes += qp->message_bytes;
    flow->stats.last_ps = known_ps;
    if (flow->latency)
        histogram_add(flow->latency, known_ps - qp->post_ps[qp->completed % qp->depth]);
    if (++qp->completed == qp->message_limit && --flow->open_qps == 0) {
        flow->stats.finished_ps = known_ps;
        waits_completed(sim, flow, known_ps);
        if (qp->flow >= sim->first_streamed)
            stream_note_end(sim, qp->flow);
    }
}

static void post_all(struct sim *sim, uint32_t q, int64_t at_ps)
{
    while (sim->qps[q].posted < sim->qps[q].completed + sim->qps[q].depth && may_post(sim, &sim->qps[q]))
        post(sim, q, at_ps);
    go_on(sim, q);
}

/* Messages below done_psn are complete: count them and post as many again. */
static void complete_messages(struct sim *sim, uint32_t q, uint64_t done_psn)
{
    struct queue_pair *qp = &sim->qps[q];
    if (done_psn < qp->complete_psn)
        return;
    bool stream = !sim->flows[qp->flow].ping_pong;
    if (qp->messages) { /* its program posts when the schedule allows it */
        while (done_psn >= qp->complete_psn)
            complete_message(sim, q, completion_lag_ps(sim, qp));
        go_on(sim, q);
        return;
    }
    int64_t lag_ps = completion_lag_ps(sim, qp);
    bool read = qp->operation == SIM_READ; /* its requests wait for their times themselves */
    bool idle = lag_ps && !read && qp->send_psn == qp->limit_psn;
    while (done_psn >= qp->complete_psn) {
        if (stream)
            complete_message(sim, q, lag_ps);
        else
            qp->completed++;
        qp->complete_psn += qp->packets_per_message;
        if (stream && qp->gap_ps < 0 && may_post(sim, qp))
            post(sim, q, sim->now_ps + lag_ps);
    }
    bool burst_over = qp->gap_ps >= 0 && qp->completed == qp->posted;
    int64_t post_ps = sim->now_ps + lag_ps + (burst_over ? qp->gap_ps : 0);
    /* If the window was not exhausted, the program's turn-around has no effect. */
    int64_t turn_ps = post_ps + sim->hosts[qp->sender].software.post_ps;
    if ((idle || (burst_over && !read)) && qp->next_send_ps < turn_ps)
        qp->next_send_ps = qp->next_message_ps = turn_ps;
    if (burst_over)
        post_all(sim, q, post_ps);
    else if (stream)
        go_on(sim, q);
}

void qp_start(struct sim *sim, uint32_t f)
{
    struct flow *flow = &sim->flows[f];
    flow->stats.started_ps = sim->now_ps;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++)
        if (sim->qps[q].congestion_hooks & CONGESTION_TIMER && !congestion_starts_elsewhere(sim, q))
            congestion_timer(sim, q);
    if (flow->ping_pong) {
        flow->turn_ps = -1;
        qp_turn(sim, flow->first_qp);
        return;
    }
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++)
        post_all(sim, q, sim->now_ps);
}

/* ---- ping-pong */

static int64_t turn_around_ps(struct sim *sim, uint32_t host)
{
    const struct physics_software *s = &sim->hosts[host].software;
    struct random *random = &sim->hosts[host].random;
    double ps = (double)(s->poll_ps + s->post_ps);
    if (s->jitter_ps)
        ps += random_exponential(random, (double)s->jitter_ps);
    if (s->spikes_per_turn > 0 && random_unit(random) < s->spikes_per_turn)
        ps += (double)s->spike_floor_ps + random_exponential(random, (double)s->spike_ps);
    return (int64_t)ps;
}

/* The program of the queue pair's sender saw the other side's message and posts; on the first host that ends
 * a round trip. Of a stream of reads the next request may leave. */
void qp_turn(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    struct flow *flow = &sim->flows[qp->flow];
    if (!flow->ping_pong) {
        request_reads(sim, q);
        return;
    }
    bool first_host = q == flow->first_qp;
    if (first_host && flow->turn_ps >= 0) {
        flow->stats.messages++;
        flow->stats.bytes += qp->message_bytes;
        flow->stats.last_ps = sim->now_ps;
        if (flow->latency)
            histogram_add(flow->latency, (sim->now_ps - flow->turn_ps) / 2);
        if (qp->message_limit && (uint64_t)flow->stats.messages == qp->message_limit)
            flow->stats.finished_ps = sim->now_ps;
    }
    if (first_host)
        flow->turn_ps = sim->now_ps;
    if (first_host && !may_post(sim, qp))
        return;
    post(sim, q, sim->now_ps);
    go_on(sim, q);
}

/* ---- receiver */

static inline void echo_telemetry(struct sim *sim, uint32_t data, uint32_t ack)
{
    if (sim->telemetry)
        sim->telemetry[ack] = sim->telemetry[data];
    if (sim->telemetry_paths && ack != data)
        sim->telemetry_paths[ack] = sim->telemetry_paths[data];
}

/* The data packet that it answers may have gone back to the pool, as long as no other was taken since. */
void acknowledge(struct sim *sim, uint32_t host, uint32_t q, uint32_t data)
{
    struct queue_pair *qp = &sim->qps[q];
    uint8_t flags = qp->echo ? PACKET_ECHO : 0;
    qp->echo = false;
    qp->unacknowledged = 0;
    if (qp->waiting_ack != NONE) {
        sim->packets[qp->waiting_ack].psn = (uint32_t)qp->delivered_psn;
        sim->packets[qp->waiting_ack].flags |= flags;
        echo_telemetry(sim, data, qp->waiting_ack);
        return;
    }
    uint32_t p = control_packet(sim, q, PACKET_ACK, qp->delivered_psn);
    sim->packets[p].flags = flags;
    echo_telemetry(sim, data, p);
    /* It may leave at once: then it is no longer queued when port_enqueue returns. */
    if (sim->hosts[host].ack_coalescing)
        sim->qps[q].waiting_ack = p;
    send_control(sim, host, p);
}

void send_nak(struct sim *sim, uint32_t host, uint32_t q, uint64_t psn)
{
    sim->hosts[host].counters.out_of_sequence++;
    congestion_lost(sim, host, q);
    sim->qps[q].waiting_ack = NONE; /* which is before the NAK */
    host_answer(sim, host, ANSWER_NAK, control_packet(sim, q, PACKET_NAK, psn));
}

/* Something is missing: ask for the packet that is expected, once or, where the NIC does so, again. */
void ask_again(struct sim *sim, uint32_t host, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    int64_t again_ps = sim->hosts[host].nak_again_ps;
    if (qp->nak_sent && (!again_ps || sim->now_ps - qp->nak_ps < again_ps))
        return;
    qp->nak_sent = true;
    qp->nak_ps = sim->now_ps;
    if (qp->operation != SIM_READ) {
        send_nak(sim, host, q, qp->expected_psn);
        return;
    }
    sim->hosts[host].counters.implied_nak_seq_err++;
    congestion_lost(sim, host, q);
    send_control(sim, host, read_request(sim, q, qp->expected_psn));
}

/* Is this the packet that is expected? If so the next one is. */
bool qp_accept(struct sim *sim, uint32_t host, uint32_t p)
{
    const struct packet *packet = &sim->packets[p];
    struct queue_pair *qp = &sim->qps[packet->qp];
    if (qp->recovery)
        return recovery_accept(sim, host, p);
    if (qp->operation == SIM_READ && qp->stopped)
        return false; /* answers of a queue pair that has an error are dropped */
    int32_t ahead = (int32_t)(packet->psn - (uint32_t)qp->expected_psn);
    if (ahead > 0) {
        ask_again(sim, host, packet->qp);
        return false;
    }
    if (ahead < 0) {
        sim->hosts[host].counters.duplicate_request++;
        if (qp->operation != SIM_READ)
            acknowledge(sim, host, packet->qp, p);
        return false;
    }
    qp->expected_psn++;
    qp->received_in_message = packet->flags & PACKET_LAST ? 0 : qp->received_in_message + 1;
    qp->nak_sent = false;
    if ((packet->flags & PACKET_FIRST) && qp->operation == SIM_WRITE)
        sim->hosts[host].counters.rx_write_requests++;
    return true;
}

/* A whole message has arrived: another queue pair may wait for it. */
static void message_arrived(struct sim *sim, uint32_t q, int64_t visible_ps)
{
    struct queue_pair *qp = &sim->qps[q];
    struct flow *flow = &sim->flows[qp->flow];
    if (qp->messages)
        jobs_arrived(sim, q, qp->messages[qp->delivered].operation, visible_ps);
    if (++qp->delivered == qp->message_limit && --flow->arriving_qps == 0)
        waits_received(sim, flow, visible_ps);
    if (qp->follower != NONE && sim->now_ps >= sim->flows[sim->qps[qp->follower].flow].start_ps)
        post_all(sim, qp->follower, sim->now_ps);
}

/* How many messages more there are before delivered_psn than have arrived. */
static uint64_t count_arriving(const struct queue_pair *qp)
{
    uint64_t k = qp->delivered;
    if (!qp->messages)
        return qp->delivered_psn / qp->packets_per_message - k;
    while (message_first_psn(qp, k) < qp->delivered_psn && qp->messages[k].end_psn <= qp->delivered_psn)
        k++;
    return k - qp->delivered;
}

/* The same of packets that may come in any order: messages arrive when all before them has. */
static void deliver_any(struct sim *sim, uint32_t host, uint32_t p, const struct packet *packet,
                        int64_t visible_ps)
{
    uint32_t q = packet->qp;
    struct queue_pair *qp = &sim->qps[q];
    struct host *h = &sim->hosts[host];
    bool asked = recovery_delivered(sim, q, whole_psn(qp->expected_psn, packet->psn)) ||
                 packet->flags & PACKET_ASKS_ACK;
    uint64_t messages = count_arriving(qp);
    h->counters.rx_payload_bytes += packet_payload(sim, packet);
    if (messages || asked || (h->ack_every_packets && ++qp->unacknowledged >= (uint32_t)h->ack_every_packets))
        acknowledge(sim, host, q, p);
    for (; messages; messages--) {
        message_arrived(sim, q, visible_ps);
        if (sim->flows[qp->flow].ping_pong)
            event_schedule(sim->events, sim->qps[qp->partner].turn_event,
                           visible_ps + turn_around_ps(sim, host));
    }
}

/* Data is on its way to memory, where it is visible at visible_ps: acknowledge, complete a read, wake a
 * ping-pong's program. */
void qp_delivered(struct sim *sim, uint32_t host, uint32_t p, int64_t visible_ps)
{
    const struct packet packet = sim->packets[p];
    uint32_t q = packet.qp;
    struct queue_pair *qp = &sim->qps[q];
    struct host *h = &sim->hosts[host];
    packet_give(sim, p);
    if (qp->recovery) {
        deliver_any(sim, host, p, &packet, visible_ps);
        return;
    }
    qp->delivered_psn = whole_psn(qp->expected_psn, packet.psn) + 1;
    h->counters.rx_payload_bytes += packet_payload(sim, &packet);
    if (qp->operation == SIM_READ) {
        qp->progress_ps = sim->now_ps;
        if (qp->silent)
            timeouts_end(sim, q);
        if (packet.flags & PACKET_LAST)
            complete_messages(sim, q, qp->delivered_psn);
        return;
    }
    if ((packet.flags & (PACKET_LAST | PACKET_ASKS_ACK)) ||
        (h->ack_every_packets && ++qp->unacknowledged >= (uint32_t)h->ack_every_packets))
        acknowledge(sim, host, q, p);
    if (packet.flags & PACKET_LAST)
        message_arrived(sim, q, visible_ps);
    if ((packet.flags & PACKET_LAST) && sim->flows[qp->flow].ping_pong)
        event_schedule(sim->events, sim->qps[sim->qps[q].partner].turn_event,
                       visible_ps + turn_around_ps(sim, host));
}

/* ---- sender: acknowledgements */

void go_back(struct sim *sim, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    qp_seek(sim, qp, psn);
    if (qp->send_psn == qp->limit_psn)
        ring_leave(sim, q);
    else
        ring_join(sim, q);
}

void acknowledged(struct sim *sim, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    if (psn <= qp->acked_psn)
        return;
    uint64_t before_psn = qp->acked_psn;
    qp->acked_psn = psn;
    qp->progress_ps = sim->now_ps;
    if (qp->silent)
        timeouts_end(sim, q);
    if (qp_sends_again(qp))
        recovery_acknowledged(sim, q, before_psn);
    if (qp->send_psn < psn)
        go_back(sim, q, psn);
    complete_messages(sim, q, psn);
}

void qp_resume(struct sim *sim, uint32_t q)
{
    ring_join(sim, q);
    host_wake(sim, sim->qps[q].sender);
}

/* Notify the congestion control first, because the rest may send. */
static void receive_ack(struct sim *sim, uint32_t p, const struct packet *ack)
{
    struct queue_pair *qp = &sim->qps[ack->qp];
    uint64_t psn = whole_psn(qp->acked_psn, ack->psn);
    if (qp->congestion_hooks & CONGESTION_ACKS && psn > qp->acked_psn)
        congestion_acknowledged(sim, ack->qp, p, psn, ack->flags & PACKET_ECHO);
    acknowledged(sim, ack->qp, psn);
    if (qp->congestion_hooks & (CONGESTION_WINDOW | CONGESTION_MOVED_GAP | QP_RECOVERY))
        qp_resume(sim, ack->qp);
}

/* Of a read: its requests are sent again from this one on, unless it was answered before a late NAK came. */
static void receive_read_nak(struct sim *sim, uint32_t host, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    if (qp->stopped || psn < qp->expected_psn || psn >= qp->requested_psn)
        return;
    if (sim->hosts[host].slow_restart_on_nak)
        restart_slowly(sim, q);
    qp->requested_psn = psn;
    request_reads(sim, q);
}

static void receive_nak(struct sim *sim, uint32_t host, uint32_t q, const struct packet *nak)
{
    sim->hosts[host].counters.packet_seq_err++;
    if (sim->qps[q].operation == SIM_READ) {
        receive_read_nak(sim, host, q, whole_psn(sim->qps[q].expected_psn, nak->psn));
        return;
    }
    if (is_selective(&sim->qps[q])) {
        if (sim->hosts[host].slow_restart_on_nak)
            restart_slowly(sim, q);
        recovery_asked(sim, q, nak);
        host_wake(sim, host);
        return;
    }
    uint64_t psn = whole_psn(sim->qps[q].acked_psn, nak->psn);
    acknowledged(sim, q, psn);
    if (psn < sim->qps[q].acked_psn)
        return;
    if (sim->hosts[host].slow_restart_on_nak)
        restart_slowly(sim, q);
    go_back(sim, q, psn);
    host_wake(sim, host);
}

/* A request before this one is missing: the responder asks for it, once, and this one is dropped. */
static void ask_for_request(struct sim *sim, uint32_t host, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    if (qp->request_naked)
        return;
    qp->request_naked = true;
    sim->hosts[host].counters.out_of_sequence++;
    host_answer(sim, host, ANSWER_NAK, control_packet(sim, q, PACKET_NAK, qp->limit_psn));
}

/* A read request grants one more message, or asks again from where something was lost. */
static void receive_read_request(struct sim *sim, uint32_t host, uint32_t q, uint64_t psn)
{
    struct queue_pair *qp = &sim->qps[q];
    sim->hosts[host].counters.rx_read_requests++;
    if (psn > qp->limit_psn) {
        ask_for_request(sim, host, q);
        return;
    }
    if (psn == qp->limit_psn)
        qp->request_naked = false;
    uint64_t end_psn = (psn / qp->packets_per_message + 1) * qp->packets_per_message;
    if (end_psn > qp->limit_psn)
        qp->limit_psn = end_psn;
    if (psn < qp->send_psn)
        go_back(sim, q, psn);
    else
        ring_join(sim, q);
    host_wake(sim, host);
}

void qp_receive(struct sim *sim, uint32_t host, uint32_t p)
{
    const struct packet packet = sim->packets[p];
    uint32_t q = packet.qp;
    packet_give(sim, p);
    if (packet.kind == PACKET_CNP || (packet.flags & PACKET_ECHO))
        congestion_notified(sim, host, q);
    switch ((enum packet_kind)packet.kind) {
    case PACKET_ACK:
        receive_ack(sim, p, &packet);
        break;
    case PACKET_NAK:
        receive_nak(sim, host, q, &packet);
        break;
    case PACKET_READ_REQUEST:
        receive_read_request(sim, host, q, whole_psn(sim->qps[q].send_psn, packet.psn));
        break;
    case PACKET_NOT_READY:
        not_ready_received(sim, host, q, whole_psn(sim->qps[q].acked_psn, packet.psn));
        break;
    case PACKET_CNP:
    case PACKET_DATA:
    case PACKET_PFC:
        break;
    }
}
