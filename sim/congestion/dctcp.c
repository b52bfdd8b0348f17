/*
 * DCTCP (Alizadeh et al., "Data Center TCP", SIGCOMM 2010) as the HPCC simulator has it for NICs: rates
 * instead of a congestion window, the line's rate from the first packet on, an ACK for every packet
 * (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc, HandleAckDctcp).
 */
#include "sim/congestion/rate_window.h"
#include <math.h>

struct params {
    struct rate_window window;
    double line_bps, min_bps, ai_bps;
    double gain; /* g */
};

struct dctcp {
    double rate_bps;
    double alpha;
    uint64_t acked_psn;
    uint64_t update_psn;    /* a round trip ends when a packet after it is acknowledged; 0: none has begun */
    uint64_t batch, marked; /* packets of the round trip, and those marked */
    uint64_t reduced_psn;   /* until this is passed the rate was reduced for this round trip */
    bool reduced;
};
RATE_BEGINS(struct params, struct dctcp);

static void prepare(void *params, const struct congestion_host *host)
{
    struct params *p = params;
    const struct dctcp_values *values = &host->config->settings.congestion.dctcp;
    rate_window_init(&p->window, host);
    p->line_bps = (double)host->line_bps;
    p->min_bps = rate_least(values->min_rate_bps, p->line_bps);
    p->ai_bps =
        rate_or(values->rate_ai_bps, (double)host->payload_bytes * 8e12 / (double)p->window.base_rtt_ps);
    p->gain = isnan(values->ewma_gain) ? 0.0625 : values->ewma_gain;
}

static void start(void *state, const void *params)
{
    *(struct dctcp *)state =
        (struct dctcp){.rate_bps = ((const struct params *)params)->line_bps, .alpha = 1};
}

/* alpha = (1 - g) alpha + g F, with F the marked share of the last round trip (the paper's equation 1). */
static void end_round_trip(struct dctcp *d, const struct params *p, const struct congestion_ack *ack)
{
    if (!d->update_psn) {
        d->batch = ack->next_psn + 1;
    } else {
        double share = fmin(1, (double)d->marked / (double)d->batch);
        d->alpha = (1 - p->gain) * d->alpha + p->gain * share;
        d->marked = 0;
        d->batch = ack->next_psn - ack->acked_psn + 1;
    }
    d->update_psn = ack->next_psn;
}

static void acknowledged(void *state, const void *params, const struct congestion_ack *ack)
{
    struct dctcp *d = state;
    const struct params *p = params;
    bool round_trip = ack->acked_psn > d->update_psn;
    d->marked += ack->marked ? ack->acked_psn - d->acked_psn : 0;
    d->acked_psn = ack->acked_psn;
    if (round_trip)
        end_round_trip(d, p, ack);
    if (d->reduced && ack->acked_psn > d->reduced_psn)
        d->reduced = false;
    if (ack->marked && !d->reduced) {
        d->rate_bps = fmax(p->min_bps, floor(d->rate_bps * (1 - d->alpha / 2))); /* equation 2 */
        d->reduced = true;
        d->reduced_psn = ack->next_psn;
    }
    if (round_trip && !d->reduced)
        d->rate_bps = fmin(p->line_bps, d->rate_bps + p->ai_bps);
}

static double read_alpha(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return ((const struct dctcp *)state)->alpha * 1024;
}

static const struct congestion_gauge gauges[] = {
    {"rate", false, rate_read},
    {"alpha", true, read_alpha},
};

const struct congestion_control congestion_dctcp = {
    .name = "dctcp",
    .params_bytes = sizeof(struct params),
    .state_bytes = sizeof(struct dctcp),
    .prepare = prepare,
    .start = start,
    .gap_ps = rate_gap_ps,
    .window_bytes = rate_window_of_row,
    .acknowledged = acknowledged,
    .gauges = gauges,
    .gauge_count = sizeof gauges / sizeof gauges[0],
};
