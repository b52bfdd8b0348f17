/* DCQCN at a host's NIC: the notification point answers marked packets, the reaction point sets the rate. */
#include "sim/fabric/fabric.h"
#include "sim/model.h"

static bool pacing_allows(struct sim *sim, struct host *h, struct queue_pair *qp)
{
    int64_t *next_ps = h->cnp_pacing_of_port ? &h->next_cnp_ps : &qp->next_cnp_ps;
    if (sim->now_ps < *next_ps)
        return false;
    *next_ps = sim->now_ps + h->settings.dcqcn.np.min_time_between_cnps * SIM_PS_PER_US;
    return true;
}

void congestion_marked(struct sim *sim, uint32_t host, uint32_t p)
{
    struct host *h = &sim->hosts[host];
    uint32_t q = sim->packets[p].qp;
    struct queue_pair *qp = &sim->qps[q];
    if (!(h->settings.ecn_np_mask >> qp->priority & 1))
        return;
    h->counters.np_ecn_marked++;
    if (h->congestion_on_ack) {
        qp->echo = true;
        return;
    }
    if (!pacing_allows(sim, h, qp))
        return;
    h->counters.np_cnp_sent++;
    uint32_t cnp = packet_take(sim);
    uint8_t priority = (uint8_t)h->settings.dcqcn.np.cnp_802p_prio;
    sim->packets[cnp] = (struct packet){.qp = q,
                                        .bytes = (uint16_t)sim->framing.cnp_bytes,
                                        .kind = PACKET_CNP,
                                        .priority = priority,
                                        .path = qp->ack_path};
    port_enqueue(sim, h->port, queue_of(priority), cnp);
}

void congestion_notified(struct sim *sim, uint32_t host, uint32_t q)
{
    struct host *h = &sim->hosts[host];
    if (!sim->qps[q].reacts) {
        h->counters.rp_cnp_ignored++;
        return;
    }
    h->counters.rp_cnp_handled++;
    dcqcn_cnp(&sim->reactions[q], &h->reaction, sim->now_ps);
}

int64_t congestion_gap_ps(struct sim *sim, const struct host *h, uint32_t q, uint32_t bytes)
{
    struct dcqcn *d = &sim->reactions[q];
    dcqcn_advance(d, &h->reaction, sim->now_ps);
    int64_t ps =
        h->gap_held ? dcqcn_gap_at_rate(d, bytes) : dcqcn_gap_ps(d, &h->reaction, sim->now_ps, bytes);
    dcqcn_sent(d, &h->reaction, bytes);
    return sim->truncate_to_ns ? ps - ps % SIM_PS_PER_NS : ps;
}

/* ---- reading */

double sim_flow_rate_bps(const struct sim *sim, size_t f)
{
    const struct flow *flow = &sim->flows[f];
    double sum = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        if (!sim->qps[q].reacts)
            return -1;
        struct dcqcn now = sim->reactions[q];
        dcqcn_advance(&now, &sim->hosts[sim->qps[q].sender].reaction, sim->now_ps);
        sum += now.rate_bps;
    }
    return sum;
}

double sim_flow_alpha(const struct sim *sim, size_t f)
{
    const struct flow *flow = &sim->flows[f];
    double sum = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        if (!sim->qps[q].reacts)
            return -1;
        const struct dcqcn_params *params = &sim->hosts[sim->qps[q].sender].reaction;
        struct dcqcn now = sim->reactions[q];
        dcqcn_advance(&now, params, sim->now_ps);
        sum += dcqcn_alpha(&now, params, sim->now_ps);
    }
    return sum / flow->qp_count;
}

int64_t sim_flow_acked_bytes(const struct sim *sim, size_t f)
{
    const struct flow *flow = &sim->flows[f];
    int64_t sum = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        const struct queue_pair *qp = &sim->qps[q];
        int64_t whole = (int64_t)(qp->acked_psn / qp->packets_per_message);
        int64_t rest = (int64_t)(qp->acked_psn % qp->packets_per_message);
        sum += whole * qp->message_bytes + rest * (int64_t)qp->payload_bytes;
    }
    return sum;
}

void sim_flow_steps(const struct sim *sim, size_t f, int64_t *decreases, int64_t *increases)
{
    const struct flow *flow = &sim->flows[f];
    *decreases = *increases = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        if (!sim->qps[q].reacts)
            continue;
        struct dcqcn now = sim->reactions[q];
        dcqcn_advance(&now, &sim->hosts[sim->qps[q].sender].reaction, sim->now_ps);
        *decreases += now.decreases;
        *increases += now.increases;
    }
}
