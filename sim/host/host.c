/* A host's NIC: the round robin of its queue pairs, reception and transmission. */
#include "sim/model.h"
#include "sim/host/egress.h"

/* By a pause, or by its window? */
static inline bool is_held(const struct sim *sim, const struct queue_pair *qp, uint16_t paused)
{
    return paused >> qp->queue & 1 ||
           (qp->congestion_hooks & (CONGESTION_WINDOW | QP_RECOVERY) && qp_window_is_full(sim, qp));
}

/* When it may start a message, as far as its rate does not hold it. */
static inline int64_t may_start_ps(const struct host *h, const struct queue_pair *qp)
{
    return h->next_message_ps > qp->next_message_ps ? h->next_message_ps : qp->next_message_ps;
}

/* Does the queue pair that was served last still have its turn? Its rate does not hold it back then, a limit
 * of its program or of messages does. */
static bool burst_goes_on(const struct sim *sim, const struct host *h, uint16_t paused)
{
    const struct queue_pair *qp = &sim->qps[h->ring];
    return !is_held(sim, qp, paused) && qp->paced_ps <= sim->now_ps &&
           (qp->packet_in_message != 0 || may_start_ps(h, qp) <= sim->now_ps);
}

/* The next queue pair that may send now; else NONE, and the earliest time at which one may in *wake_ps (never
 * later than it is). `paused`: queues from which nothing may be taken. */
uint32_t host_next_qp(struct sim *sim, struct host *h, uint16_t paused, int64_t *wake_ps)
{
    if (h->ring == NONE)
        return NONE;
    uint32_t first = sim->qps[h->ring].ring_next, q = first;
    if (h->burst_left > 0 && burst_goes_on(sim, h, paused)) {
        h->burst_left -= (int32_t)sim->qps[h->ring].payload_bytes;
        return h->ring;
    }
    do {
        const struct queue_pair *qp = &sim->qps[q];
        int64_t may_ps = qp->next_send_ps;
        if (qp->packet_in_message == 0 && may_start_ps(h, qp) > may_ps)
            may_ps = may_start_ps(h, qp);
        if (is_held(sim, qp, paused)) {
            /* it may send after the resume, or after an ACK */
        } else if (may_ps <= sim->now_ps) {
            h->ring = q;
            h->burst_left = h->burst_bytes - (int32_t)qp->payload_bytes;
            return q;
        } else if (may_ps < *wake_ps) {
            *wake_ps = may_ps;
        }
        q = qp->ring_next;
    } while (q != first);
    return NONE;
}

static uint32_t pull_ideal(struct sim *sim, uint32_t host)
{
    struct host *h = &sim->hosts[host];
    int64_t wake_ps = SIM_FOREVER;
    uint32_t q = host_next_qp(sim, h, sim->ports[h->port].paused, &wake_ps);
    if (q != NONE)
        return qp_build_packet(sim, q);
    if (wake_ps != SIM_FOREVER)
        event_reschedule(sim->events, h->schedule_event, wake_ps);
    return NONE;
}

static uint32_t pull_fetched(struct sim *sim, uint32_t host)
{
    struct host *h = &sim->hosts[host];
    unsigned queues = h->fetched_ready & ~(unsigned)sim->ports[h->port].paused;
    uint32_t p = NONE;
    if (queues) {
        unsigned queue = (unsigned)__builtin_ctz(queues);
        p = list_take(sim, &h->fetched[queue]);
        if (h->fetched[queue].head == NONE)
            h->fetched_ready &= (uint16_t) ~(1u << queue);
        h->tx_buffer_left += sim->packets[p].bytes;
    }
    dma_fetch(sim, host);
    return p;
}

uint32_t host_pull(struct sim *sim, uint32_t port)
{
    uint32_t host = sim->ports[port].node;
    uint32_t p = sim->hosts[host].pcie.ideal ? pull_ideal(sim, host) : pull_fetched(sim, host);
    if (sim->telemetry && p != NONE)
        sim->telemetry[p] = (struct telemetry){.sent_ps = sim->now_ps};
    if (sim->telemetry_paths && p != NONE)
        sim->telemetry_paths[p].count = 0;
    return p;
}

/* The time at which host_pull may have a frame, without a search; SIM_FOREVER: host_wake or a resume will
 * report it. */
int64_t host_next_pull_ps(const struct sim *sim, uint32_t host)
{
    const struct host *h = &sim->hosts[host];
    if (!h->pcie.ideal)
        return h->fetched_ready ? 0 : SIM_FOREVER;
    if (h->ring == NONE)
        return SIM_FOREVER;
    const struct queue_pair *qp = &sim->qps[h->ring];
    return qp->ring_next == h->ring && h->burst_left <= 0 ? qp->next_send_ps : 0;
}

void host_wake(struct sim *sim, uint32_t host)
{
    if (sim->hosts[host].pcie.ideal)
        port_kick(sim, sim->hosts[host].port, 0);
    else
        dma_fetch(sim, host);
}

static struct receive_buffer *buffer_of(struct host *h, const struct packet *packet)
{
    return &h->buffers[h->settings.prio_to_buffer[packet->priority]];
}

static int64_t in_cells(const struct host *h, const struct packet *packet)
{
    uint32_t cell = (uint32_t)h->cell_bytes;
    return (packet->bytes + cell - 1) / cell * cell;
}

static bool has_room(struct sim *sim, struct host *h, const struct packet *packet)
{
    const struct receive_buffer *buffer = buffer_of(h, packet);
    if (buffer->used_bytes + in_cells(h, packet) <= buffer->size_bytes)
        return true;
    sim->counters[h->port][packet->priority].rx_discards++;
    h->counters.rx_discards++;
    return false;
}

/* Above XOFF the other end is paused. */
static void enter_buffer(struct sim *sim, struct host *h, const struct packet *packet)
{
    struct receive_buffer *buffer = buffer_of(h, packet);
    buffer->used_bytes += in_cells(h, packet);
    if (buffer->used_bytes > buffer->peak_bytes)
        buffer->peak_bytes = buffer->used_bytes;
    if (buffer->xoff_bytes && buffer->used_bytes >= buffer->xoff_bytes && !buffer->full) {
        buffer->full = true;
        pfc_xoff(sim, h->port, buffer->classes);
    }
}

#define INGRESS_LOOK_PS (100 * SIM_PS_PER_US)

/* Has the port sent at the rate that lets it take in more? */
static void look_at_sending(struct nic_ingress *in, int64_t sent_bytes, int64_t now_ps)
{
    int64_t elapsed_us = (now_ps - in->looked_ps) / SIM_PS_PER_US;
    in->sending = (double)(sent_bytes - in->sent_bytes) * 8e6 >= (double)in->sending_bps * (double)elapsed_us;
    in->sent_bytes = sent_bytes;
    in->looked_ps = now_ps;
}

static void begin_losing(const struct nic_ingress *in, struct ingress_bucket *bucket, int64_t now_ps)
{
    bucket->losing_bytes = in->loss_bytes;
    bucket->loss_end_ps = in->loss_ps ? now_ps + in->loss_ps : SIM_FOREVER;
    bucket->next_loss_ps = now_ps;
}

/* Is this one of the frames of a burst? */
static bool is_of_burst(const struct nic_ingress *in, struct ingress_bucket *bucket, uint32_t bytes,
                        int64_t now_ps)
{
    bucket->empty_ps = now_ps;
    if (now_ps >= bucket->loss_end_ps)
        bucket->losing_bytes = 0;
    if (bucket->losing_bytes <= 0 || now_ps < bucket->next_loss_ps)
        return false;
    bucket->losing_bytes -= bytes;
    bucket->next_loss_ps += (int64_t)((double)bytes / (double)in->loss_bytes * (double)in->loss_ps);
    return true;
}

static struct ingress_bucket *bucket_of(struct sim *sim, struct host *h, uint32_t q)
{
    return h->ingress.of_queue_pair ? &sim->buckets[q] : &h->ingress.bucket;
}

/* Does the port lose this data frame, before anything else of the NIC sees it? */
static bool ingress_loses(struct host *h, struct ingress_bucket *bucket, uint32_t bytes, int64_t now_ps)
{
    struct nic_ingress *in = &h->ingress;
    if (now_ps - in->looked_ps >= INGRESS_LOOK_PS)
        look_at_sending(in, h->counters.tx_rdma_bytes, now_ps);
    if (bucket->losing_bytes > 0) {
        bool lost = is_of_burst(in, bucket, bytes, now_ps);
        h->counters.rx_discards += lost;
        return lost;
    }
    bucket->empty_ps =
        (bucket->empty_ps > now_ps ? bucket->empty_ps : now_ps) +
        (int64_t)(bytes * (in->sending ? in->ps_per_byte_sending_q20 : in->ps_per_byte_q20) >> 20);
    if (bucket->empty_ps - now_ps > in->depth_ps)
        begin_losing(in, bucket, now_ps);
    return false;
}

/* What it has not taken in. */
static int64_t ingress_bytes(const struct nic_ingress *in, const struct ingress_bucket *bucket,
                             int64_t now_ps)
{
    double ps_per_byte = (double)(in->sending ? in->ps_per_byte_sending_q20 : in->ps_per_byte_q20) / 0x1p20;
    return bucket->empty_ps > now_ps ? (int64_t)((double)(bucket->empty_ps - now_ps) / ps_per_byte) : 0;
}

static void receive_data(struct sim *sim, uint32_t host, uint32_t p)
{
    struct host *h = &sim->hosts[host];
    if (h->ingress.depth_ps) {
        uint32_t q = sim->packets[p].qp;
        struct ingress_bucket *bucket = bucket_of(sim, h, q);
        if (ingress_loses(h, bucket, sim->packets[p].bytes, sim->now_ps)) {
            packet_give(sim, p);
            return;
        }
        if (h->unmarked_cnps == UNMARKED_CNPS_INGRESS)
            congestion_buffered(sim, host, q, ingress_bytes(&h->ingress, bucket, sim->now_ps));
    }
    h->counters.rx_rdma_packets++;
    h->counters.rx_rdma_bytes += sim->packets[p].bytes;
    if (sim->packets[p].flags & PACKET_CE)
        congestion_marked(sim, host, p);
    /* A packet out of order occupies no buffer. A packet that does not fit is dropped before the transport
     * sees it. */
    if ((!h->pcie.ideal && !has_room(sim, h, &sim->packets[p])) || !qp_accept(sim, host, p)) {
        packet_give(sim, p);
        return;
    }
    if (h->pcie.ideal) {
        qp_delivered(sim, host, p, sim->now_ps);
        return;
    }
    enter_buffer(sim, h, &sim->packets[p]);
    if (h->unmarked_cnps)
        congestion_buffered(sim, host, sim->packets[p].qp, buffer_of(h, &sim->packets[p])->used_bytes);
    list_append(sim, &h->writing, p);
    if (!event_is_pending(sim->events, h->write_event))
        dma_write(sim, host);
}

void host_receive(struct sim *sim, uint32_t port, uint32_t p)
{
    uint32_t host = sim->ports[port].node;
    if (sim->packets[p].kind == PACKET_DATA)
        receive_data(sim, host, p);
    else
        qp_receive(sim, host, p);
}

/* ---- answers */

static void send_answer(struct sim *sim, uint32_t host, uint32_t p)
{
    struct host *h = &sim->hosts[host];
    bool cnp = sim->packets[p].kind == PACKET_CNP;
    h->counters.np_cnp_sent += cnp;
    unsigned queue = cnp || !h->ack_unpaused ? queue_of(sim->packets[p].priority) : (unsigned)QUEUE_CONTROL;
    port_enqueue(sim, h->port, queue, p);
}

void host_answer(struct sim *sim, uint32_t host, enum answer answer, uint32_t p)
{
    struct answers *a = &sim->hosts[host].answers[answer];
    int64_t due_ps = sim->now_ps + a->delay_ps;
    if (!a->delay_ps)
        send_answer(sim, host, p);
    else if (delay_line_append(sim, &a->line, due_ps, p))
        event_schedule(sim->events, a->event, due_ps);
}

void host_answer_due(struct sim *sim, uint32_t object)
{
    struct answers *a = &sim->hosts[object / ANSWERS].answers[object % ANSWERS];
    uint32_t p = delay_line_take(sim, &a->line);
    if (a->line.first != NONE)
        event_schedule(sim->events, a->event, a->line.first_ps);
    send_answer(sim, object / ANSWERS, p);
}
