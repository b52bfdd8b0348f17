/*
 * DCQCN's reaction point: the rate machine of one queue pair, with mlx5's parameters. (Zhu et al.,
 * "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015; NVIDIA's MLNX_OFED documents for the
 * parameters' meaning.)
 *
 * It needs no timer events. A rate is only read when a packet is sent (and by gauges), so everything that a
 * real reaction point does on timers - the alpha clock, the decrease clock, the increase timer - is worked
 * processed in order of time when the rate is read: dcqcn_advance. The result is the same as with timers,
 * tick by tick.
 */
#ifndef SIM_DCQCN_H
#define SIM_DCQCN_H

#include "sim/congestion/congestion.h"

/* Parameters in the units of the arithmetic; shared by all queue pairs of a port. */
struct dcqcn_params {
    double line_bps, max_bps, min_bps;
    double ai_bps, hai_bps;
    double first_bps; /* rate at the first CNP; 0: keeps the current one */
    double keep;      /* 1 - g: what alpha keeps in an interval */
    double initial_alpha;
    double decrease;     /* Rc *= 1 - alpha * decrease; 0.5 in the paper, 1024 / 2^rpg_gd */
    double least_factor; /* rpg_min_dec_fac: Rc falls to no less than this share in one step */
    int64_t alpha_ps, decrease_ps, increase_ps;
    int64_t byte_reset; /* 0: no byte counter */
    uint32_t threshold; /* F */
    bool clamp, clamp_after_timer;
    bool gap_held;          /* nic.gap_held */
    bool cuts_target;       /* nic.cnp_cuts_target */
    int64_t first_again_ps; /* nic.first_cnp_again; 0: never */
};
void dcqcn_params_init(struct dcqcn_params *p, const struct dcqcn_rp *rp, int64_t line_bps);

struct dcqcn {
    double rate_bps, target_bps, alpha;
    int64_t alpha_tick_ps;    /* the alpha clock's next tick; SIM_FOREVER before the first CNP */
    int64_t decrease_tick_ps; /* the decrease clock's next tick that finds a CNP; SIM_FOREVER: none waits */
    int64_t decrease_base_ps; /* a tick of the decrease clock: later ticks are multiples of the interval after
                                 it */
    int64_t increase_tick_ps; /* the increase timer; SIM_FOREVER: no decrease yet */
    int64_t last_cnp_ps;
    int64_t next_ps;    /* the earlier of the two above: the rate does not change before */
    int64_t bytes_left; /* until the byte counter's next event */
    uint32_t timer_stage, byte_stage;
    uint32_t decreases, increases;
    bool cnp_since_alpha_tick;
};
void dcqcn_init(struct dcqcn *d, const struct dcqcn_params *p);

/* A CNP (or an ACK with the congestion bit) arrived. */
void dcqcn_cnp(struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps);

/* Process the ticks up to now. */
void dcqcn_run_ticks(struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps);
static inline void dcqcn_advance(struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps)
{
    if (now_ps >= d->next_ps)
        dcqcn_run_ticks(d, p, now_ps);
}

/* A packet of `bytes` was sent: advances the byte counter. */
void dcqcn_count_bytes(struct dcqcn *d, const struct dcqcn_params *p, int64_t bytes);
static inline void dcqcn_sent(struct dcqcn *d, const struct dcqcn_params *p, int64_t bytes)
{
    if (p->byte_reset && d->increase_tick_ps != SIM_FOREVER)
        dcqcn_count_bytes(d, p, bytes);
}

/* Time that `bytes` take at the rate as it is now. After dcqcn_advance, as the next one. */
static inline int64_t dcqcn_gap_at_rate(const struct dcqcn *d, int64_t bytes)
{
    return (int64_t)((double)bytes * 8e12 / d->rate_bps);
}

/* Time that `bytes` take at the rate as it is now and as it will change unless another CNP comes. */
int64_t dcqcn_gap_over_ticks(const struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps,
                             int64_t bytes);
static inline int64_t dcqcn_gap_ps(const struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps,
                                   int64_t bytes)
{
    int64_t ps = dcqcn_gap_at_rate(d, bytes);
    return now_ps + ps <= d->next_ps ? ps : dcqcn_gap_over_ticks(d, p, now_ps, bytes);
}

/* Alpha as it stands at now (after dcqcn_advance). */
double dcqcn_alpha(const struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps);

#endif
