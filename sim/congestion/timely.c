/*
 * TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, algorithm
 * 1) as the HPCC simulator has it: one update in a round trip (alibaba-edu/High-Precision-Congestion-Control,
 * rdma-hw.cc, UpdateRateTimely). timely_vwin is the same with a window.
 */
#include "sim/congestion/rate_window.h"
#include <math.h>

#define HYPER_AFTER     5 /* increases in a row: N of the paper */
#define TIMESTAMP_BYTES 8

struct params {
    struct rate_window window;
    double line_bps, min_bps, ai_bps, hai_bps;
    double alpha, beta;
    double t_low_ns, t_high_ns, min_rtt_ns;
};

struct timely {
    double rate_bps;
    double rtt_ns, rtt_difference_ns; /* of the last update; the difference is averaged */
    uint64_t update_psn; /* a round trip ends when a packet after it is acknowledged; 0: none has begun */
    uint32_t increases;  /* in a row */
};
RATE_BEGINS(struct params, struct timely);

static double time_or_ns(int64_t ps, double otherwise_ns)
{
    return ps == FIELD_UNSET ? otherwise_ns : (double)ps / 1e3;
}

static void prepare(void *params, const struct congestion_host *host)
{
    struct params *p = params;
    const struct timely_values *values = &host->config->settings.congestion.timely;
    rate_window_init(&p->window, host);
    p->line_bps = (double)host->line_bps;
    p->min_bps = rate_least(values->min_rate_bps, p->line_bps);
    p->ai_bps = rate_or(values->rate_ai_bps, p->line_bps / 1000);
    p->hai_bps = rate_or(values->rate_hai_bps, p->line_bps / 200);
    p->alpha = isnan(values->alpha) ? 0.875 : values->alpha;
    p->beta = isnan(values->beta) ? 0.8 : values->beta;
    p->t_low_ns = time_or_ns(values->t_low_ps, 50e3);
    p->t_high_ns = time_or_ns(values->t_high_ps, 500e3);
    p->min_rtt_ns = time_or_ns(values->min_rtt_ps, 20e3);
}

static void start(void *state, const void *params)
{
    *(struct timely *)state = (struct timely){.rate_bps = ((const struct params *)params)->line_bps};
}

/* Below t_low increase, above t_high decrease by how far it is above, between them follow the gradient. */
static void update(struct timely *t, const struct params *p, double rtt_ns)
{
    t->rtt_difference_ns = (1 - p->alpha) * t->rtt_difference_ns + p->alpha * (rtt_ns - t->rtt_ns);
    double gradient = t->rtt_difference_ns / p->min_rtt_ns;
    double factor =
        rtt_ns > p->t_high_ns ? 1 - p->beta * (1 - p->t_high_ns / rtt_ns) : fmax(1 - p->beta * gradient, 0);
    if (rtt_ns < p->t_low_ns || (rtt_ns <= p->t_high_ns && gradient <= 0)) {
        t->rate_bps = fmin(t->rate_bps + (t->increases < HYPER_AFTER ? p->ai_bps : p->hai_bps), p->line_bps);
        t->increases++;
    } else {
        t->rate_bps = fmax(p->min_bps, floor(t->rate_bps * factor));
        t->increases = 0;
    }
}

static void acknowledged(void *state, const void *params, const struct congestion_ack *ack)
{
    struct timely *t = state;
    if (ack->acked_psn <= t->update_psn)
        return;
    double rtt_ns = (double)ack->rtt_ps / 1e3;
    if (t->update_psn)
        update(t, params, rtt_ns);
    t->update_psn = ack->next_psn;
    t->rtt_ns = rtt_ns;
}

static double read_rtt(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return ((const struct timely *)state)->rtt_ns;
}

static const struct congestion_gauge gauges[] = {
    {"rate", false, rate_read},
    {"rtt", true, read_rtt},
};

#define TIMELY(NAME, WINDOW)                                                                         \
    {                                                                                                \
        .name = (NAME), .params_bytes = sizeof(struct params), .state_bytes = sizeof(struct timely), \
        .header_bytes = TIMESTAMP_BYTES, .prepare = prepare, .start = start, .gap_ps = rate_gap_ps,  \
        .window_bytes = (WINDOW), .acknowledged = acknowledged, .gauges = gauges,                    \
        .gauge_count = sizeof gauges / sizeof gauges[0]                                              \
    }
const struct congestion_control congestion_timely = TIMELY("timely", NULL);
const struct congestion_control congestion_timely_vwin = TIMELY("timely_vwin", rate_window_of_row);
