/*
 * A window that bounds the bytes in flight of a rate-based control: base round-trip time times line rate,
 * and, if it varies, in proportion to the present rate. (HAS_WIN, GLOBAL_T and VAR_WIN of
 * alibaba-edu/High-Precision-Congestion-Control: "_vwin" in its run.py; W = R T in the HPCC paper.)
 */
#ifndef SIM_RATE_WINDOW_H
#define SIM_RATE_WINDOW_H

#include "sim/congestion/congestion.h"

struct rate_window {
    int64_t base_rtt_ps;
    double bytes, line_bps;
    bool varies;
};

static inline void rate_window_init(struct rate_window *w, const struct congestion_host *host)
{
    const struct window_values *values = &host->config->settings.congestion.window;
    w->base_rtt_ps = values->base_rtt_ps == FIELD_UNSET ? host->base_rtt_ps : values->base_rtt_ps;
    w->line_bps = (double)host->line_bps;
    w->bytes = (double)(int64_t)((double)w->base_rtt_ps * w->line_bps / 8e12);
    if (w->bytes < 1)
        w->bytes = 1;
    w->varies = values->var_win != 0;
}

/* At least 1: a queue pair with nothing in flight may always send a packet. */
static inline int64_t rate_window_bytes(const struct rate_window *w, double rate_bps)
{
    int64_t bytes = (int64_t)(w->varies ? w->bytes * rate_bps / w->line_bps : w->bytes);
    return bytes > 0 ? bytes : 1;
}

/*
 * What rows share whose parameters begin with a struct rate_window, and whose state begins with the rate in
 * b/s, a double: functions of struct congestion_control and of its gauge "rate".
 */
static inline double rate_read(void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return *(const double *)state;
}

static inline int64_t rate_gap_ps(void *state, const void *params, int64_t now_ps, uint32_t bytes)
{
    return (int64_t)((double)bytes * 8e12 / rate_read(state, params, now_ps));
}

static inline int64_t rate_window_of_row(void *state, const void *params, int64_t now_ps)
{
    return rate_window_bytes(params, rate_read(state, params, now_ps));
}

#define RATE_BEGINS(PARAMS, STATE)                                                  \
    _Static_assert(offsetof(PARAMS, window) == 0 && offsetof(STATE, rate_bps) == 0, \
                   "not as rate_window.h says")

/* A value of a document, or its default. */
static inline double rate_or(int64_t bps, double otherwise_bps)
{
    return bps == FIELD_UNSET ? otherwise_bps : (double)bps;
}

/* The lowest rate; its default is that of the same simulator. */
static inline double rate_least(int64_t bps, double line_bps)
{
    double least = rate_or(bps, 100e6);
    return least < line_bps ? least : line_bps;
}

#endif
