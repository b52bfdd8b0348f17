#include "nic-config/device/red.h"

#include <math.h>
#include <string.h>

/* The kernel's packet schedulers count in ticks of 64 ns (PSCHED_SHIFT 6): 15.625 a microsecond. iproute2 up to 6.1 cuts the time of a
 * packet to whole microseconds, which leaves the table of idle times empty above about 12 Gb/s; newer ones, and this, round ticks up. */
#define TICKS_PER_US 15.625

uint32_t red_ticks(int64_t bytes, int64_t rate_bps)
{
    double ticks = ceil((double)bytes * 8e6 / (double)rate_bps * TICKS_PER_US);
    return ticks >= UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

int red_compute(const struct settings_red *red, struct red_parameters *out, struct error *e)
{
    memset(out, 0, sizeof *out);
    if (red_derive(red, red_ticks(red->avpkt_bytes, red->bandwidth_bps), &out->derived, e) != 0)
        return -1;
    out->qopt = (struct tc_red_qopt){.limit = (uint32_t)red->limit_bytes,
                                     .qth_min = (uint32_t)red->min_bytes,
                                     .qth_max = (uint32_t)red->max_bytes,
                                     .Wlog = out->derived.wlog,
                                     .Plog = out->derived.plog,
                                     .Scell_log = out->derived.scell_log,
                                     .flags = red->ecn == 1 ? TC_RED_ECN : 0};
    return 0;
}

bool red_same(const struct settings_red *a, const struct settings_red *b)
{
    if (!a || !b)
        return a == b;
    return a->at == b->at && a->limit_bytes == b->limit_bytes && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes && (a->ecn == 1) == (b->ecn == 1) && a->roce_only == b->roce_only &&
           a->shape_bps == b->shape_bps && red_max_p(a->probability) == red_max_p(b->probability) &&
           a->wlog == b->wlog && a->plog == b->plog && a->scell_log == b->scell_log;
}
