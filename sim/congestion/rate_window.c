#include "sim/congestion/rate_window.h"

double rate_read(const void *state, const void *params, int64_t now_ps)
{
    (void)params;
    (void)now_ps;
    return *(const double *)state;
}

int64_t rate_gap_ps(void *state, const void *params, int64_t now_ps, uint32_t bytes)
{
    return (int64_t)((double)bytes * 8e12 / rate_read(state, params, now_ps));
}

int64_t rate_window_of_row(void *state, const void *params, int64_t now_ps)
{
    return rate_window_bytes(params, rate_read(state, params, now_ps));
}
