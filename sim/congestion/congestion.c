/*
 * Congestion control at a host's NIC: the list of controls, and what hosts and queue pairs have of them; the
 * notification point, which answers marked packets, and the reaction point, which passes notifications to the
 * row of the host's control; gauges.
 */
#include "lib/roce/congestion_control.h"
#include "sim/islands/island.h"
#include "sim/model.h"
#include "sim/host/egress.h"
#include "lib/roce/path_mtu.h"
#include <string.h>

#define DECLARE(name, is_dcqcn, has_marks) extern const struct congestion_control congestion_##name;
CONGESTION_CONTROLS(DECLARE)

#define ROW(name, is_dcqcn, has_marks) &congestion_##name,
static const struct congestion_control *const controls[] = {CONGESTION_CONTROLS(ROW)};

/* No congestion control: queue pairs send as fast as they can, regardless of marks. */
const struct congestion_control congestion_none = {.name = "none"};

const struct congestion_control *sim_congestion_control(const char *name)
{
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        if (strcmp(controls[i]->name, name) == 0)
            return controls[i];
    return NULL;
}

const char *sim_congestion_control_name(const struct congestion_control *control)
{
    return control->name;
}

/* ---- building */

static uint8_t hooks_of(const struct congestion_control *c, bool read)
{
    unsigned hooks = (c->gap_ps ? CONGESTION_GAP : 0u) | (c->notified ? CONGESTION_CNPS : 0u) |
                     (c->timer ? CONGESTION_TIMER : 0u);
    if (!read) /* whose responses are not acknowledged */
        hooks |= (c->window_bytes ? CONGESTION_WINDOW : 0u) | (c->acknowledged ? CONGESTION_ACKS : 0u) |
                 (c->timed_out ? CONGESTION_TIMEOUTS : 0u) | (c->last_gap_ps ? CONGESTION_MOVED_GAP : 0u);
    return (uint8_t)hooks;
}

/* Round up, so that each element is aligned for any type. */
static size_t bytes_aligned(size_t bytes)
{
    return (bytes + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t);
}

static void *allocate_array(struct sim *sim, size_t count, size_t bytes)
{
    sim->bytes += count * bytes;
    return array_grow(NULL, 0, count * bytes);
}

/* What the rows of the hosts need together. */
struct needs {
    size_t params_bytes, state_bytes; /* of the largest */
    bool acks, path, window;
};

static int allocate_states(struct sim *sim, const struct needs *needs)
{
    sim->congestion_bytes = (uint32_t)needs->state_bytes;
    if (needs->state_bytes && !(sim->congestion_states = allocate_array(
                                    sim, sim->qp_count + stream_slots(sim), needs->state_bytes)))
        return -1;
    if (needs->params_bytes &&
        !(sim->congestion_params = allocate_array(sim, sim->host_count, needs->params_bytes)))
        return -1;
    sim->has_telemetry = needs->acks;
    sim->has_telemetry_paths = needs->path;
    return 0;
}

static bool reaction_point_is_on(const struct sim *sim, const struct queue_pair *qp)
{
    return sim->hosts[qp->sender].settings.ecn_rp_mask >> qp->priority & 1;
}

/* Telemetry comes from switches, and there is room for some. */
static int check_path(const struct sim *sim, const struct queue_pair *qp, const char *flow, struct error *e)
{
    const struct host *from = &sim->hosts[qp->sender];
    const char *control = from->congestion->name;
    size_t hops = 0;
    for (uint32_t port = from->port;; port = sim->paths[qp->data_path + hops++]) {
        const struct port *next = &sim->ports[sim->ports[port].peer];
        if (next->node_kind == SIM_HOST)
            break;
        if (next->node_kind == SIM_BRIDGE)
            return error_set(e,
                             "simulator: flow %s: %s needs the telemetry of switches, and a host that "
                             "forwards in software has none",
                             flow, control);
    }
    if (hops <= CONGESTION_MOST_HOPS)
        return 0;
    return error_set(e,
                     "simulator: flow %s: %s's telemetry has room for %d switches, and there are %zu on "
                     "the way",
                     flow, control, CONGESTION_MOST_HOPS, hops);
}

/* Without ACKs a control that listens to them would never slow down. */
int congestion_check(const struct sim *sim, const struct queue_pair *qp, const char *flow, struct error *e)
{
    const struct congestion_control *control = sim->hosts[qp->sender].congestion;
    if (!reaction_point_is_on(sim, qp))
        return 0;
    if (qp->operation == SIM_READ && control->acknowledged && !control->notified)
        return error_set(e,
                         "simulator: flow %s: %s needs ACKs, and a read's responses have none: expected "
                         "a write or a send, or congestion_control \"dcqcn\"",
                         flow, control->name);
    return control->path ? check_path(sim, qp, flow, e) : 0;
}

void congestion_begin(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    const struct host *h = &sim->hosts[qp->sender];
    if (!reaction_point_is_on(sim, qp))
        return;
    qp->congestion_hooks |= hooks_of(h->congestion, qp->operation == SIM_READ);
    qp->header_bytes = h->congestion->header_bytes;
    if (qp->congestion_hooks & (CONGESTION_ACKS | CONGESTION_WINDOW))
        qp->flags |= PACKET_ASKS_ACK;
    if (sim->congestion_states)
        qp->congestion = sim->congestion_states + (size_t)q * sim->congestion_bytes;
    if (h->congestion->start)
        h->congestion->start(qp->congestion, h->congestion_params);
}

static int add_event(struct sim *sim, uint32_t q)
{
    struct queue_pair *qp = &sim->qps[q];
    if (!(qp->congestion_hooks & CONGESTION_TIMER))
        return 0;
    island_enter(sim, SIM_HOST, qp->sender);
    qp->congestion_event = events_add(sim->events, EVENT_CONGESTION, q);
    if (qp->congestion_event == EVENT_NONE)
        return -1;
    /* Where the flow starts, qp_start makes the first call; elsewhere it comes at the same time. */
    int64_t start_ps = sim->flows[qp->flow].start_ps;
    if (start_ps < SIM_FOREVER && congestion_starts_elsewhere(sim, q))
        event_schedule_as(sim->events, qp->congestion_event, start_ps, -1, q);
    return 0;
}

const struct congestion_control *congestion_of(const struct sim *sim, const struct flow *flow)
{
    const struct congestion_control *control = sim->hosts[sim->qps[flow->first_qp].sender].congestion;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++)
        if (!sim->qps[q].congestion_hooks || sim->hosts[sim->qps[q].sender].congestion != control)
            return NULL;
    return control;
}

static void choose_controls(struct sim *sim, const struct sim_config *c, struct needs *needs)
{
    *needs = (struct needs){0};
    for (uint32_t i = 0; i < sim->host_count; i++) {
        const struct sim_settings *s = &c->hosts[i].settings;
        const struct congestion_control *control =
            s->congestion_control && s->ecn_rp_mask ? s->congestion_control : &congestion_none;
        sim->hosts[i].congestion = control;
        if (control->params_bytes > needs->params_bytes)
            needs->params_bytes = control->params_bytes;
        if (control->state_bytes > needs->state_bytes)
            needs->state_bytes = control->state_bytes;
        needs->acks |= control->acknowledged != NULL;
        needs->path |= control->path;
        needs->window |= control->window_bytes != NULL;
    }
    needs->params_bytes = bytes_aligned(needs->params_bytes);
    needs->state_bytes = bytes_aligned(needs->state_bytes);
}

static void prepare(struct sim *sim, const struct sim_config *c, const struct needs *needs)
{
    int64_t base_rtt_ps = 0;
    for (uint32_t q = 0; q < sim->qp_count && needs->window; q++) {
        int64_t ps = sim_base_rtt_ps(sim, q);
        base_rtt_ps = ps > base_rtt_ps ? ps : base_rtt_ps;
    }
    if (sim->stream && needs->window) {
        int64_t ps = stream_base_rtt_ps(sim);
        base_rtt_ps = ps > base_rtt_ps ? ps : base_rtt_ps;
    }
    for (uint32_t i = 0; i < sim->host_count; i++) {
        struct host *h = &sim->hosts[i];
        int64_t payload = c->hosts[i].nic.payload_bytes;
        const struct congestion_host of = {
            .config = &c->hosts[i],
            .line_bps = sim->ports[h->port].rate_bps,
            .base_rtt_ps = base_rtt_ps > SIM_PS_PER_NS ? base_rtt_ps : SIM_PS_PER_NS,
            .payload_bytes = payload ? payload : roce_path_mtu(c->hosts[i].settings.mtu_bytes)};
        h->congestion_params =
            sim->congestion_params ? sim->congestion_params + i * needs->params_bytes : NULL;
        if (h->congestion->prepare)
            h->congestion->prepare(h->congestion_params, &of);
    }
}

int congestion_build(struct sim *sim, const struct sim_config *c, struct error *e)
{
    struct needs needs;
    choose_controls(sim, c, &needs);
    if (allocate_states(sim, &needs))
        return error_set(e, "simulator: no memory for the congestion control of %u queue pairs",
                         sim->qp_count);
    prepare(sim, c, &needs);
    for (uint32_t q = 0; q < sim->qp_count; q++) {
        if (congestion_check(sim, &sim->qps[q], c->flows[sim->qps[q].flow].name, e))
            return -1;
        congestion_begin(sim, q);
        if (add_event(sim, q))
            return error_set(e, "simulator: no memory for the events of %u queue pairs", sim->qp_count);
    }
    for (uint32_t f = 0; f < sim->flow_count; f++)
        sim->flows[f].congestion = congestion_of(sim, &sim->flows[f]);
    return 0;
}

/* ---- notification point */

static bool pacing_allows(const struct sim *sim, struct host *h, struct queue_pair *qp, int64_t interval_ps)
{
    int64_t *last_ps = h->cnp_pacing_of_port ? &h->last_cnp_ps : &qp->last_cnp_ps;
    if (sim->now_ps - *last_ps < interval_ps)
        return false;
    *last_ps = sim->now_ps;
    return true;
}

void congestion_send_cnp(struct sim *sim, uint32_t host, uint32_t q)
{
    uint32_t cnp = packet_take(sim);
    sim->packets[cnp] = (struct packet){.qp = q,
                                        .bytes = (uint16_t)sim->framing.cnp_bytes,
                                        .kind = PACKET_CNP,
                                        .priority = (uint8_t)sim->hosts[host].settings.dcqcn.np.cnp_802p_prio,
                                        .path = sim->qps[q].ack_path};
    host_answer(sim, host, ANSWER_CNP, cnp);
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
    /* of a read there is no ACK that could carry it */
    if ((h->congestion_on_ack && qp->operation != SIM_READ) || marks_come_with_acks(qp)) {
        qp->echo = true;
        return;
    }
    if (pacing_allows(sim, h, qp, h->settings.dcqcn.np.min_time_between_cnps * SIM_PS_PER_US))
        congestion_send_cnp(sim, host, q);
}

static void notify_unmarked(struct sim *sim, uint32_t host, uint32_t q)
{
    struct host *h = &sim->hosts[host];
    struct queue_pair *qp = &sim->qps[q];
    if (h->settings.ecn_np_mask >> qp->priority & 1 && pacing_allows(sim, h, qp, h->unmarked_cnp_interval_ps))
        congestion_send_cnp(sim, host, q);
}

void congestion_lost(struct sim *sim, uint32_t host, uint32_t q)
{
    if (sim->hosts[host].unmarked_cnps == UNMARKED_CNPS_LOSS)
        notify_unmarked(sim, host, q);
}

void congestion_buffered(struct sim *sim, uint32_t host, uint32_t q, int64_t buffered)
{
    const struct host *h = &sim->hosts[host];
    if (h->unmarked_cnps == UNMARKED_CNPS_INGRESS && buffered >= h->unmarked_cnp_bytes)
        notify_unmarked(sim, host, q);
}

/* ---- reaction point */

/* Queue pairs of a host that have something to send. */
static uint32_t ring_length(const struct sim *sim, const struct host *h)
{
    uint32_t length = 0;
    if (h->ring != NONE)
        for (uint32_t q = h->ring; !length || q != h->ring; q = sim->qps[q].ring_next)
            length++;
    return length;
}

void congestion_cut(struct sim *sim, const struct host *h, struct queue_pair *qp)
{
    if (!(qp->congestion_hooks & CONGESTION_CNPS))
        return;
    uint32_t sharing = h->cnp_cuts_share && h->congestion->shared ? ring_length(sim, h) : 0;
    if (sharing > 1)
        h->congestion->shared(qp->congestion, h->congestion_params, sim->now_ps, sharing);
    h->congestion->notified(qp->congestion, h->congestion_params, sim->now_ps);
}

void congestion_notified(struct sim *sim, uint32_t host, uint32_t q)
{
    struct host *h = &sim->hosts[host];
    struct queue_pair *qp = &sim->qps[q];
    if (qp->congestion_hooks & CONGESTION_CNPS) {
        h->counters.rp_cnp_handled++;
        congestion_cut(sim, h, qp);
    } else if (!marks_come_with_acks(qp)) {
        h->counters.rp_cnp_ignored++;
    }
}

/* The time of the next packet after a change of the rate: the gap since the last one is that of the new rate,
 * unless the flow's own limit is later. */
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
                                 .acked_bytes = qp_acked_bytes(qp, psn),
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

/* ---- reading */

void congestion_changes(const struct sim *sim, uint32_t f, int64_t *decreases, int64_t *increases)
{
    const struct flow *flow = &sim->flows[f];
    bool counted = flow->congestion && flow->congestion->changes;
    *decreases = *increases = counted ? 0 : -1;
    for (uint32_t q = flow->first_qp; counted && q < flow->first_qp + flow->qp_count; q++) {
        int64_t down, up;
        flow->congestion->changes(sim->qps[q].congestion, sim->hosts[sim->qps[q].sender].congestion_params,
                                  sim->now_ps, &down, &up);
        *decreases += down;
        *increases += up;
    }
}

const char *sim_flow_congestion_control(const struct sim *sim, size_t f)
{
    return sim->flows[f].congestion ? sim->flows[f].congestion->name : NULL;
}

size_t sim_flow_gauges(const struct sim *sim, size_t f)
{
    return sim->flows[f].congestion ? sim->flows[f].congestion->gauge_count : 0;
}

const char *sim_flow_gauge_name(const struct sim *sim, size_t f, size_t gauge)
{
    return sim->flows[f].congestion->gauges[gauge].name;
}

double sim_flow_gauge_value(const struct sim *sim, size_t f, size_t gauge)
{
    const struct flow *flow = &sim->flows[f];
    const struct congestion_gauge *g = &flow->congestion->gauges[gauge];
    uint32_t sender = sim->qps[flow->first_qp].sender, count = 0;
    double sum = 0;
    for (uint32_t q = flow->first_qp; q < flow->first_qp + flow->qp_count; q++) {
        if (sim->qps[q].sender != sender)
            continue;
        sum += g->read(sim->qps[q].congestion, sim->hosts[sender].congestion_params, sim->now_ps);
        count++;
    }
    return g->mean ? sum / count : sum;
}
