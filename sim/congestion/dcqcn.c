/* DCQCN's reaction point (dcqcn.h), alone and with a window. */
#include "sim/congestion/dcqcn.h"
#include "sim/congestion/rate_window.h"
#include <math.h>

#define BPS_PER_MBPS 1e6

/* The decrease clock runs one nanosecond behind the alpha clock, so that a decrease sees alpha after the
 * update of the same instant. */
#define DECREASE_LAG_PS SIM_PS_PER_NS

void dcqcn_params_init(struct dcqcn_params *p, const struct dcqcn_rp *rp, int64_t line_bps)
{
    *p = (struct dcqcn_params){0};
    p->line_bps = (double)line_bps;
    p->max_bps = rp->rpg_max_rate > 0 ? fmin(rp->rpg_max_rate * BPS_PER_MBPS, p->line_bps) : p->line_bps;
    p->min_bps = fmin(rp->rpg_min_rate * BPS_PER_MBPS, p->max_bps);
    p->ai_bps = rp->rpg_ai_rate * BPS_PER_MBPS;
    p->hai_bps = rp->rpg_hai_rate * BPS_PER_MBPS;
    p->first_bps = fmin(rp->rate_to_set_on_first_cnp * BPS_PER_MBPS, p->max_bps);
    p->keep = rp->dce_tcp_g / 1024.0;
    /* The register's largest value means 1. */
    p->initial_alpha = rp->initial_alpha_value >= 1023 ? 1.0 : rp->initial_alpha_value / 1024.0;
    p->decrease = ldexp(1024.0, -rp->rpg_gd);
    p->least_factor = rp->rpg_min_dec_fac / 100.0;
    p->alpha_ps = rp->dce_tcp_rtt * SIM_PS_PER_US;
    p->decrease_ps = rp->rate_reduce_monitor_period * SIM_PS_PER_US;
    p->increase_ps = rp->rpg_time_reset ? rp->rpg_time_reset * SIM_PS_PER_US : SIM_FOREVER / 2; /* 0: never */
    p->byte_reset = rp->rpg_byte_reset;
    p->threshold = (uint32_t)rp->rpg_threshold;
    p->clamp = rp->clamp_tgt_rate;
    p->clamp_after_timer = rp->clamp_tgt_rate_after_time_inc;
}

void dcqcn_init(struct dcqcn *d, const struct dcqcn_params *p)
{
    *d = (struct dcqcn){
        .rate_bps = p->max_bps,
        .target_bps = p->max_bps,
        .alpha = p->initial_alpha,
        .alpha_tick_ps = SIM_FOREVER,
        .decrease_tick_ps = SIM_FOREVER,
        .increase_tick_ps = SIM_FOREVER,
        .next_ps = SIM_FOREVER,
        .bytes_left = p->byte_reset,
    };
}

/* Alpha's ticks up to `at`: the first may have seen a CNP, the rest have not (dcqcn_cnp comes here before it
 * sets the flag), so they are computed as one power. */
static void run_alpha_clock(struct dcqcn *d, const struct dcqcn_params *p, int64_t at_ps)
{
    if (d->alpha_tick_ps > at_ps)
        return;
    int64_t ticks = (at_ps - d->alpha_tick_ps) / p->alpha_ps + 1;
    d->alpha = d->alpha * p->keep + (d->cnp_since_alpha_tick ? 1 - p->keep : 0);
    if (ticks > 1)
        d->alpha *= pow(p->keep, (double)(ticks - 1));
    d->cnp_since_alpha_tick = false;
    d->alpha_tick_ps += ticks * p->alpha_ps;
}

static void note_next(struct dcqcn *d)
{
    d->next_ps = d->decrease_tick_ps < d->increase_tick_ps ? d->decrease_tick_ps : d->increase_tick_ps;
}

static void decrease(struct dcqcn *d, const struct dcqcn_params *p, int64_t at_ps)
{
    run_alpha_clock(d, p, at_ps);
    if (p->clamp || d->byte_stage > 0 || (p->clamp_after_timer && d->timer_stage > 0))
        d->target_bps = d->rate_bps;
    double factor = fmax(1 - d->alpha * p->decrease, p->least_factor);
    d->rate_bps = fmax(d->rate_bps * factor, p->min_bps);
    if (p->cuts_target)
        d->target_bps = d->rate_bps;
    d->timer_stage = 0;
    d->byte_stage = 0;
    d->bytes_left = p->byte_reset;
    d->increase_tick_ps = at_ps + p->increase_ps;
    d->decrease_base_ps = at_ps;
    d->decrease_tick_ps = SIM_FOREVER;
    d->decreases++;
}

/* Fast recovery until a stage counter reaches F, additive from there, hyper once all counters in use are
 * above F. Returns whether the rate is as high as it gets: then more of them change nothing, but are counted.
 */
static bool increase(struct dcqcn *d, const struct dcqcn_params *p)
{
    double before_bps = d->rate_bps;
    uint32_t most = d->timer_stage > d->byte_stage ? d->timer_stage : d->byte_stage;
    uint32_t least = d->timer_stage < d->byte_stage ? d->timer_stage : d->byte_stage;
    if (!p->byte_reset)
        least = d->timer_stage;
    if (least > p->threshold)
        d->target_bps += p->hai_bps;
    else if (most >= p->threshold)
        d->target_bps += p->ai_bps;
    d->target_bps = fmin(d->target_bps, p->max_bps);
    d->rate_bps = (d->rate_bps + d->target_bps) / 2;
    d->increases++;
    return d->target_bps == p->max_bps && d->rate_bps == before_bps;
}

/* `count` more that change nothing. */
static void increase_in_vain(struct dcqcn *d, uint32_t *stage, int64_t count)
{
    d->increases += (uint32_t)count;
    *stage += (uint32_t)count;
}

void dcqcn_run_ticks(struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps)
{
    while (d->next_ps <= now_ps) {
        if (d->decrease_tick_ps <= d->increase_tick_ps) {
            decrease(d, p, d->decrease_tick_ps);
        } else {
            bool highest = increase(d, p);
            d->timer_stage++;
            d->increase_tick_ps += p->increase_ps;
            int64_t until_ps = now_ps < d->decrease_tick_ps ? now_ps : d->decrease_tick_ps - 1;
            if (highest && d->increase_tick_ps <= until_ps) {
                int64_t ticks = (until_ps - d->increase_tick_ps) / p->increase_ps + 1;
                increase_in_vain(d, &d->timer_stage, ticks);
                d->increase_tick_ps += ticks * p->increase_ps;
            }
        }
        note_next(d);
    }
}

void dcqcn_cnp(struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps)
{
    dcqcn_advance(d, p, now_ps);
    if (d->alpha_tick_ps == SIM_FOREVER) {
        d->alpha = p->initial_alpha;
        d->alpha_tick_ps = now_ps + p->alpha_ps;
        d->decrease_base_ps = now_ps + DECREASE_LAG_PS;
        if (p->first_bps > 0)
            d->rate_bps = d->target_bps = p->first_bps;
    } else {
        run_alpha_clock(d, p, now_ps);
        d->cnp_since_alpha_tick = true;
        if (p->first_again_ps && now_ps - d->last_cnp_ps >= p->first_again_ps)
            d->alpha = p->initial_alpha;
    }
    d->last_cnp_ps = now_ps;
    if (d->decrease_tick_ps != SIM_FOREVER)
        return;
    int64_t since = now_ps - d->decrease_base_ps;
    int64_t ticks = since < 0 ? 1 : since / p->decrease_ps + 1;
    d->decrease_tick_ps = d->decrease_base_ps + ticks * p->decrease_ps;
    note_next(d);
}

void dcqcn_count_bytes(struct dcqcn *d, const struct dcqcn_params *p, int64_t bytes)
{
    d->bytes_left -= bytes;
    while (d->bytes_left <= 0) {
        bool highest = increase(d, p);
        d->byte_stage++;
        d->bytes_left += p->byte_reset;
        if (highest && d->bytes_left <= 0) {
            int64_t times = -d->bytes_left / p->byte_reset + 1;
            increase_in_vain(d, &d->byte_stage, times);
            d->bytes_left += times * p->byte_reset;
        }
    }
}

int64_t dcqcn_gap_over_ticks(const struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps,
                             int64_t bytes)
{
    struct dcqcn ahead = *d;
    double bits = (double)bytes * 8;
    int64_t at_ps = now_ps;
    for (;;) {
        double until_tick = ahead.rate_bps * (double)(ahead.next_ps - at_ps) / 1e12;
        if (ahead.next_ps == SIM_FOREVER || bits <= until_tick)
            return at_ps - now_ps + (int64_t)(bits / ahead.rate_bps * 1e12);
        bits -= until_tick;
        at_ps = ahead.next_ps;
        dcqcn_run_ticks(&ahead, p, at_ps);
    }
}

double dcqcn_alpha(const struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps)
{
    struct dcqcn copy = *d;
    run_alpha_clock(&copy, p, now_ps);
    return copy.alpha_tick_ps == SIM_FOREVER ? 0 : copy.alpha;
}

/* ---- the row */

static void dcqcn_prepare(void *params, const struct congestion_host *host)
{
    struct dcqcn_params *p = params;
    dcqcn_params_init(p, &host->config->settings.dcqcn.rp, host->line_bps);
    p->gap_held = host->config->nic.gap_held;
    p->cuts_target = host->config->nic.cnp_cuts_target;
    p->first_again_ps = host->config->nic.first_cnp_again_ps;
}

static void dcqcn_start(void *state, const void *params)
{
    dcqcn_init(state, params);
}

static int64_t dcqcn_next_gap_ps(void *state, const void *params, int64_t now_ps, uint32_t bytes)
{
    struct dcqcn *d = state;
    const struct dcqcn_params *p = params;
    dcqcn_advance(d, p, now_ps);
    int64_t ps = p->gap_held ? dcqcn_gap_at_rate(d, bytes) : dcqcn_gap_ps(d, p, now_ps, bytes);
    dcqcn_sent(d, p, bytes);
    return ps;
}

static void dcqcn_notified(void *state, const void *params, int64_t now_ps)
{
    dcqcn_cnp(state, params, now_ps);
}

/* What the port does not give it, it does not have: the next decrease begins there. */
static void dcqcn_shared(void *state, const void *params, int64_t now_ps, uint32_t queue_pairs)
{
    struct dcqcn *d = state;
    const struct dcqcn_params *p = params;
    double share_bps = fmax(p->line_bps / queue_pairs, p->min_bps);
    dcqcn_advance(d, p, now_ps);
    d->rate_bps = fmin(d->rate_bps, share_bps);
    d->target_bps = fmin(d->target_bps, share_bps);
}

/* What is read goes on from there: an idle flow's ticks are not run again for each sample. */
static struct dcqcn *dcqcn_at(void *state, const void *params, int64_t now_ps)
{
    struct dcqcn *d = state;
    dcqcn_advance(d, params, now_ps);
    return d;
}

static double read_rate(void *state, const void *params, int64_t now_ps)
{
    return dcqcn_at(state, params, now_ps)->rate_bps;
}

static double read_alpha(void *state, const void *params, int64_t now_ps)
{
    return dcqcn_alpha(dcqcn_at(state, params, now_ps), params, now_ps) * 1024;
}

static void dcqcn_changes(void *state, const void *params, int64_t now_ps, int64_t *decreases,
                          int64_t *increases)
{
    const struct dcqcn *now = dcqcn_at(state, params, now_ps);
    *decreases = now->decreases;
    *increases = now->increases;
}

static const struct congestion_gauge dcqcn_gauges[] = {
    {"rate", false, read_rate},
    {"alpha", true, read_alpha},
};

const struct congestion_control congestion_dcqcn = {
    .name = "dcqcn",
    .params_bytes = sizeof(struct dcqcn_params),
    .state_bytes = sizeof(struct dcqcn),
    .prepare = dcqcn_prepare,
    .start = dcqcn_start,
    .gap_ps = dcqcn_next_gap_ps,
    .notified = dcqcn_notified,
    .shared = dcqcn_shared,
    .gauges = dcqcn_gauges,
    .gauge_count = sizeof dcqcn_gauges / sizeof *dcqcn_gauges,
    .changes = dcqcn_changes,
};

/* ---- with a window that follows its rate: "dcqcn_vwin" in run.py of
 * alibaba-edu/High-Precision-Congestion-Control */

struct vwin_params {
    struct dcqcn_params dcqcn;
    struct rate_window window;
};

static void vwin_prepare(void *params, const struct congestion_host *host)
{
    struct vwin_params *p = params;
    dcqcn_prepare(&p->dcqcn, host);
    rate_window_init(&p->window, host);
}

static int64_t vwin_window_bytes(void *state, const void *params, int64_t now_ps)
{
    const struct vwin_params *p = params;
    struct dcqcn *d = state;
    dcqcn_advance(d, &p->dcqcn, now_ps);
    return rate_window_bytes(&p->window, d->rate_bps);
}

const struct congestion_control congestion_dcqcn_vwin = {
    .name = "dcqcn_vwin",
    .params_bytes = sizeof(struct vwin_params),
    .state_bytes = sizeof(struct dcqcn),
    .prepare = vwin_prepare,
    .start = dcqcn_start,
    .gap_ps = dcqcn_next_gap_ps,
    .window_bytes = vwin_window_bytes,
    .notified = dcqcn_notified,
    .shared = dcqcn_shared,
    .gauges = dcqcn_gauges,
    .gauge_count = sizeof dcqcn_gauges / sizeof *dcqcn_gauges,
    .changes = dcqcn_changes,
};
