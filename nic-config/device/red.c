#include "nic-config/device/red.h"

#include <math.h>
#include <string.h>

/*
 * The formulas are those of iproute2's tc/tc_red.c and tc/tc_core.c; their meaning is explained in linux
 * include/net/red.h. The kernel's packet schedulers count in ticks of 64 ns (PSCHED_SHIFT 6): 15.625 a
 * microsecond. iproute2 up to 6.1 cuts the time of a packet to whole microseconds, which leaves the table of
 * idle times empty above about 12 Gb/s; newer ones, and this, round ticks up.
 */
#define TICKS_PER_US 15.625
#define LARGEST_LOG  31

uint32_t red_ticks(int64_t bytes, int64_t rate_bps)
{
    double ticks = ceil((double)bytes * 8e6 / (double)rate_bps * TICKS_PER_US);
    return ticks >= UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

int64_t red_burst(const struct settings_red *red)
{
    if (red->burst != FIELD_UNSET)
        return red->burst;
    int64_t burst = (2 * red->min_bytes + red->max_bytes) / (3 * red->avpkt_bytes);
    return burst > 0 ? burst : 1;
}

/* The smallest w with burst + 1 - min/avpkt <= (1 - (1 - 2^-w)^burst) / 2^-w; -1: none. */
static int weight_log(const struct settings_red *red, int64_t burst)
{
    double a = (double)burst + 1 - (double)red->min_bytes / (double)red->avpkt_bytes, weight = 0.5;
    if (a < 1)
        return -1;
    for (int log = 1; log <= LARGEST_LOG; log++, weight /= 2)
        if (a <= (1 - pow(1 - weight, (double)burst)) / weight)
            return log;
    return -1;
}

/* The smallest p with probability * 2^p / (max - min) > 1; -1: none. */
static int slope_log(const struct settings_red *red)
{
    double slope = red->probability / (double)(red->max_bytes - red->min_bytes);
    for (int log = 0; log <= LARGEST_LOG; log++, slope *= 2)
        if (slope > 1)
            return log;
    return -1;
}

/* stab[t >> log] = -ln(1 - 2^-wlog) * t / time of a packet: by how many halvings the average decays in an
 * idle time t. */
static int idle_table(const struct settings_red *red, int wlog, uint8_t *stab)
{
    double rate = -log1p(-1.0 / (double)(1LL << wlog)) / red_ticks(red->avpkt_bytes, red->bandwidth_bps);
    int log = 0;
    while (log <= LARGEST_LOG && LARGEST_LOG / rate / (double)(1LL << log) >= 512)
        log++;
    if (log > LARGEST_LOG)
        return -1;
    for (int i = 0; i < 255; i++) {
        double halvings = (double)((int64_t)i << log) * rate;
        stab[i] = halvings > LARGEST_LOG ? LARGEST_LOG : (uint8_t)halvings;
    }
    stab[255] = LARGEST_LOG;
    return log;
}

static uint32_t probability_bits(double probability)
{
    return probability >= 1 ? UINT32_MAX : (uint32_t)(probability * 4294967296.0);
}

int red_compute(const struct settings_red *red, struct red_parameters *out, struct error *e)
{
    int64_t burst = red_burst(red);
    memset(out, 0, sizeof *out);
    int wlog = weight_log(red, burst);
    if (wlog < 0)
        return error_set(e,
                         "red: no weight fits burst %lld with min %lld and avpkt %lld (bytes): give a burst "
                         "of at least %lld "
                         "packets",
                         (long long)burst, (long long)red->min_bytes, (long long)red->avpkt_bytes,
                         (long long)(1 + red->min_bytes / red->avpkt_bytes));
    int plog = slope_log(red);
    if (plog < 0)
        return error_set(e, "red: probability %g is too small for max - min = %lld bytes: no slope fits",
                         red->probability, (long long)(red->max_bytes - red->min_bytes));
    int scell_log = idle_table(red, wlog, out->stab);
    if (scell_log < 0)
        return error_set(
            e, "red: bandwidth %lld b/s is too low for packets of %lld bytes: no table of idle times fits",
            (long long)red->bandwidth_bps, (long long)red->avpkt_bytes);
    out->qopt = (struct tc_red_qopt){.limit = (uint32_t)red->limit_bytes,
                                     .qth_min = (uint32_t)red->min_bytes,
                                     .qth_max = (uint32_t)red->max_bytes,
                                     .Wlog = (unsigned char)wlog,
                                     .Plog = (unsigned char)plog,
                                     .Scell_log = (unsigned char)scell_log,
                                     .flags = red->ecn == 1 ? TC_RED_ECN : 0};
    out->max_p = probability_bits(red->probability);
    return 0;
}

bool red_same(const struct settings_red *a, const struct settings_red *b)
{
    if (!a || !b)
        return a == b;
    return a->at == b->at && a->limit_bytes == b->limit_bytes && a->min_bytes == b->min_bytes &&
           a->max_bytes == b->max_bytes && (a->ecn == 1) == (b->ecn == 1) && a->roce_only == b->roce_only &&
           a->shape_bps == b->shape_bps &&
           probability_bits(a->probability) == probability_bits(b->probability) && a->wlog == b->wlog &&
           a->plog == b->plog && a->scell_log == b->scell_log;
}
