/* DCQCN with a window that follows its rate: "dcqcn_vwin" in run.py of alibaba-edu/High-Precision-Congestion-Control. */
#include "sim/congestion/dcqcn.h"
#include "sim/congestion/rate_window.h"

struct params {
    struct dcqcn_params dcqcn;
    struct rate_window window;
};

static void prepare(void *params, const struct congestion_host *host)
{
    struct params *p = params;
    dcqcn_prepare(&p->dcqcn, host);
    rate_window_init(&p->window, host);
}

static int64_t window_bytes(void *state, const void *params, int64_t now_ps)
{
    const struct params *p = params;
    struct dcqcn *d = state;
    dcqcn_advance(d, &p->dcqcn, now_ps);
    return rate_window_bytes(&p->window, d->rate_bps);
}

const struct congestion_control congestion_dcqcn_vwin = {
    .name = "dcqcn_vwin",
    .params_bytes = sizeof(struct params),
    .state_bytes = sizeof(struct dcqcn),
    .prepare = prepare,
    .start = dcqcn_start,
    .gap_ps = dcqcn_next_gap_ps,
    .window_bytes = window_bytes,
    .notified = dcqcn_notified,
    .gauges = dcqcn_gauges,
    .gauge_count = DCQCN_GAUGES,
    .changes = dcqcn_changes,
};
