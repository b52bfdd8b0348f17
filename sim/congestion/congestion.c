/*
 * Congestion control at a host's NIC: the notification point answers marked packets, the reaction point
 * passes notifications to the row of the host's congestion control.
 */
#include "sim/model.h"
#include "sim/host/egress.h"

/* ---- notification point */

static bool pacing_allows(struct sim *sim, struct host *h, struct queue_pair *qp)
{
    int64_t *next_ps = h->cnp_pacing_of_port ? &h->next_cnp_ps : &qp->next_cnp_ps;
    if (sim->now_ps < *next_ps)
        return false;
    *next_ps = sim->now_ps + h->settings.dcqcn.np.min_time_between_cnps * SIM_PS_PER_US;
    return true;
}

static bool marks_come_with_acks(const struct queue_pair *qp)
{
    return (qp->congestion_hooks & (CONGESTION_ACKS | CONGESTION_CNPS)) == CONGESTION_ACKS;
}

void congestion_marked(struct sim *sim, uint32_t host, uint32_t p)
{
    struct host *h = &sim->hosts[host];
    uint32_t q = sim->packets[p].qp;
    struct queue_pair *qp = &sim->qps[q];
    qp->marked++;
    if (!(h->settings.ecn_np_mask >> qp->priority & 1))
        return;
    h->counters.np_ecn_marked++;
    if (h->congestion_on_ack || marks_come_with_acks(qp)) {
        qp->echo = true;
        return;
    }
    if (pacing_allows(sim, h, qp))
        congestion_send_cnp(sim, host, q);
}

void congestion_send_cnp(struct sim *sim, uint32_t host, uint32_t q)
{
    struct host *h = &sim->hosts[host];
    h->counters.np_cnp_sent++;
    uint32_t cnp = packet_take(sim);
    uint8_t priority = (uint8_t)h->settings.dcqcn.np.cnp_802p_prio;
    sim->packets[cnp] = (struct packet){.qp = q,
                                        .bytes = (uint16_t)sim->framing.cnp_bytes,
                                        .kind = PACKET_CNP,
                                        .priority = priority,
                                        .path = sim->qps[q].ack_path};
    port_enqueue(sim, h->port, queue_of(priority), cnp);
}

/* ---- reaction point */

void congestion_notified(struct sim *sim, uint32_t host, uint32_t q)
{
    struct host *h = &sim->hosts[host];
    struct queue_pair *qp = &sim->qps[q];
    if (qp->congestion_hooks & CONGESTION_CNPS) {
        h->counters.rp_cnp_handled++;
        h->congestion->notified(qp->congestion, h->congestion_params, sim->now_ps);
    } else if (!marks_come_with_acks(qp)) {
        h->counters.rp_cnp_ignored++;
    }
}

/* The time of the next packet after a change of the rate: the gap since the last one is that of the new rate, unless
 * the flow's own limit is later. */
static void move_next_send(struct queue_pair *qp, int64_t gap_ps, int64_t gap_before_ps)
{
    qp->next_send_ps += gap_ps - gap_before_ps;
    if (qp->next_send_ps < qp->paced_ps)
        qp->next_send_ps = qp->paced_ps;
}

void congestion_acknowledged(struct sim *sim, uint32_t q, uint32_t p, uint64_t psn, bool marked)
{
    struct queue_pair *qp = &sim->qps[q];
    const struct host *h = &sim->hosts[qp->sender];
    const struct congestion_control *c = h->congestion;
    struct congestion_ack ack = {.now_ps = sim->now_ps,
                                 .rtt_ps = sim->now_ps - sim->telemetry[p].sent_ps,
                                 .acked_bytes = qp_bytes_before(qp, psn) - qp_bytes_before(qp, qp->acked_psn),
                                 .acked_psn = psn,
                                 .next_psn = qp->send_psn > psn ? qp->send_psn : psn,
                                 .marked = marked,
                                 .telemetry = &sim->telemetry[p],
                                 .path = c->path ? &sim->telemetry_paths[p] : NULL};
    int64_t gap_ps = c->last_gap_ps ? whole_ns(sim, c->last_gap_ps(qp->congestion, h->congestion_params)) : 0;
    c->acknowledged(qp->congestion, h->congestion_params, &ack);
    if (c->last_gap_ps)
        move_next_send(qp, whole_ns(sim, c->last_gap_ps(qp->congestion, h->congestion_params)), gap_ps);
}

void congestion_timed_out(struct sim *sim, uint32_t q)
{
    const struct queue_pair *qp = &sim->qps[q];
    const struct host *h = &sim->hosts[qp->sender];
    h->congestion->timed_out(qp->congestion, h->congestion_params, sim->now_ps);
}

void congestion_timer(struct sim *sim, uint32_t q)
{
    const struct queue_pair *qp = &sim->qps[q];
    const struct host *h = &sim->hosts[qp->sender];
    int64_t next_ps = h->congestion->timer(qp->congestion, h->congestion_params, sim->now_ps);
    if (next_ps != SIM_FOREVER)
        event_schedule(sim->events, qp->congestion_event, next_ps);
    qp_resume(sim, q);
}
