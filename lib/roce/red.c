#include "lib/roce/red.h"

#include <math.h>
#include <string.h>

#define LARGEST_LOG 31

int64_t red_burst(const struct settings_red *red)
{
    if (red->burst > 0)
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

/* stab[t >> log] = -ln(1 - 2^-wlog) * t / time of a packet: how far the average halves in an idle time t. */
static int idle_table(double packet_time, int wlog, uint8_t *stab)
{
    double rate = -log1p(-1.0 / (double)(1LL << wlog)) / packet_time;
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

uint32_t red_max_p(double probability)
{
    return probability >= 1 ? UINT32_MAX : (uint32_t)(probability * 4294967296.0);
}

int red_derive(const struct settings_red *red, double packet_time, struct red_derived *out, struct error *e)
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
    int scell_log = idle_table(packet_time, wlog, out->stab);
    if (scell_log < 0)
        return error_set(
            e, "red: bandwidth %lld b/s is too low for packets of %lld bytes: no table of idle times fits",
            (long long)red->bandwidth_bps, (long long)red->avpkt_bytes);
    out->wlog = (uint8_t)wlog;
    out->plog = (uint8_t)plog;
    out->scell_log = (uint8_t)scell_log;
    out->max_p = red_max_p(red->probability);
    return 0;
}
