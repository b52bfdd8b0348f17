/*
 * HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1) as its authors'
 * simulator has it: with rates, and a window in proportion to the rate
 * (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc, UpdateRateHp; one rate for all hops, MULTI_RATE
 * 0).
 */
#include "sim/congestion/rate_window.h"
#include <math.h>

/* The paper's figure 7: five hops of 64 bits, and their number; sent and queued bytes are counted in
 * units. */
#define HEADER_BYTES (CONGESTION_MOST_HOPS * 8 + 2)
#define SENT_UNIT    128
#define QUEUED_UNIT  80

struct params {
    struct rate_window window;
    double line_bps, min_bps, ai_bps;
    double u_target; /* eta */
    double base_rtt_ns;
    int64_t sent_unit, queued_unit;
    uint32_t mi_thresh; /* maxStage */
    bool fast_react;
};

/* What is kept of a hop of the last ACK. */
struct hop {
    int64_t left_ns, sent_bytes, queued_bytes;
};

struct hpcc {
    double rate_bps, reference_bps; /* the reference is W^c of the paper: the rate one round trip ago */
    double u;
    uint64_t update_psn; /* a round trip ends when a packet after it is acknowledged; 0: none has begun */
    uint32_t stage;      /* additive steps in a row: incStage */
    uint32_t last_bytes; /* of the last frame */
    struct hop hops[CONGESTION_MOST_HOPS];
};
RATE_BEGINS(struct params, struct hpcc);

static void prepare(void *params, const struct congestion_host *host)
{
    struct params *p = params;
    const struct hpcc_values *values = &host->config->settings.congestion.hpcc;
    rate_window_init(&p->window, host);
    p->line_bps = (double)host->line_bps;
    p->min_bps = rate_least(values->min_rate_bps, p->line_bps);
    p->ai_bps = rate_or(values->rate_ai_bps, p->line_bps / 2500);
    p->u_target = isnan(values->u_target) ? 0.95 : values->u_target;
    p->base_rtt_ns = (double)p->window.base_rtt_ps / 1e3;
    p->mi_thresh = values->mi_thresh == FIELD_UNSET ? 5 : (uint32_t)values->mi_thresh;
    p->fast_react = values->fast_react != 0;
    int64_t multi = host->line_bps / INT64_C(25000000000);
    if (values->int_multi != FIELD_UNSET)
        multi = values->int_multi;
    else if (multi < 1)
        multi = 1;
    p->sent_unit = multi ? multi * SENT_UNIT : 1;
    p->queued_unit = multi ? multi * QUEUED_UNIT : 1;
}

static void start(void *state, const void *params)
{
    double line_bps = ((const struct params *)params)->line_bps;
    *(struct hpcc *)state = (struct hpcc){.rate_bps = line_bps, .reference_bps = line_bps, .u = 1};
}

/* What the header carries: whole nanoseconds and whole units. */
static struct hop read_hop(const struct params *p, const struct telemetry_hop *hop)
{
    return (struct hop){.left_ns = hop->left_ps / SIM_PS_PER_NS,
                        .sent_bytes = hop->sent_bytes / p->sent_unit * p->sent_unit,
                        .queued_bytes = hop->queued_bytes / p->queued_unit * p->queued_unit};
}

/* MeasureInflight: the most loaded link's bytes in flight, relative to its bandwidth-delay product, averaged
 * over a base round-trip time. */
static void measure(struct hpcc *h, const struct params *p, const struct telemetry_path *path)
{
    double most = 0, most_ns = 0;
    for (uint32_t i = 0; i < path->count; i++) {
        struct hop now = read_hop(p, &path->hops[i]), *before = &h->hops[i];
        double ns = (double)(now.left_ns - before->left_ns);
        double rate_bps = (double)path->hops[i].rate_bps;
        int64_t queued = now.queued_bytes < before->queued_bytes ? now.queued_bytes : before->queued_bytes;
        double sent_bps = (double)((now.sent_bytes - before->sent_bytes) * 8) / (ns * 1e-9);
        double u = sent_bps / rate_bps + (double)queued * p->line_bps / rate_bps / p->window.bytes;
        *before = now;
        if (ns > 0 && u > most) {
            most = u;
            most_ns = ns;
        }
    }
    most_ns = fmin(most_ns, p->base_rtt_ns);
    h->u = (h->u * (p->base_rtt_ns - most_ns) + most * most_ns) / p->base_rtt_ns;
}

/* ComputeWind, as a rate in whole bits a second. */
static double compute_rate(const struct hpcc *h, const struct params *p, uint32_t *stage)
{
    double excess = h->u / p->u_target, rate_bps = h->reference_bps;
    *stage = h->stage + 1;
    if (excess >= 1 || h->stage >= p->mi_thresh) {
        rate_bps = floor(fmin(rate_bps / excess, p->line_bps));
        *stage = 0;
    }
    return fmin(fmax(rate_bps + p->ai_bps, p->min_bps), p->line_bps);
}

static void acknowledged(void *state, const void *params, const struct congestion_ack *ack)
{
    struct hpcc *h = state;
    const struct params *p = params;
    bool round_trip = ack->acked_psn > h->update_psn;
    if (!h->update_psn) {
        for (uint32_t i = 0; i < ack->path->count; i++)
            h->hops[i] = read_hop(p, &ack->path->hops[i]);
    } else if (ack->path->count && (round_trip || p->fast_react)) {
        uint32_t stage;
        measure(h, p, ack->path);
        h->rate_bps = compute_rate(h, p, &stage);
        if (round_trip) {
            h->reference_bps = h->rate_bps;
            h->stage = stage;
        }
    }
    if (round_trip)
        h->update_psn = ack->next_psn;
}

static int64_t last_gap_ps(const void *state, const void *params)
{
    const struct hpcc *h = state;
    (void)params;
    return (int64_t)((double)h->last_bytes * 8e12 / h->rate_bps);
}

static int64_t gap_ps(void *state, const void *params, int64_t now_ps, uint32_t bytes)
{
    (void)now_ps;
    ((struct hpcc *)state)->last_bytes = bytes;
    return last_gap_ps(state, params);
}

static double read_utilization(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return ((const struct hpcc *)state)->u * 1024;
}

static const struct congestion_gauge gauges[] = {
    {"rate", false, rate_read},
    {"utilization", true, read_utilization},
};

const struct congestion_control congestion_hpcc = {
    .name = "hpcc",
    .params_bytes = sizeof(struct params),
    .state_bytes = sizeof(struct hpcc),
    .header_bytes = HEADER_BYTES,
    .path = true,
    .prepare = prepare,
    .start = start,
    .gap_ps = gap_ps,
    .last_gap_ps = last_gap_ps,
    .window_bytes = rate_window_of_row,
    .acknowledged = acknowledged,
    .gauges = gauges,
    .gauge_count = sizeof gauges / sizeof gauges[0],
};
