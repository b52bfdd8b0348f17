#include "sim/fabric/red.h"

#include <math.h>

#define PS_PER_US INT64_C(1000000)
#define TWO_TO_32 4294967296.0

/* W = 2^-wlog such that a burst of that many packets stays below the marking: the first W for which
 * burst + 1 - min/avpkt <= (1 - (1-W)^burst) / W. */
static int derive_wlog(double min, double burst, double avpkt)
{
    double room = burst + 1 - min / avpkt, w = 0.5;
    if (room < 1)
        return -1;
    for (int wlog = 1; wlog < 32; wlog++, w /= 2)
        if (room <= (1 - pow(1 - w, burst)) / w)
            return wlog;
    return -1;
}

static int derive_plog(double range, double probability)
{
    double p = probability / range;
    int plog = 0;
    while (plog < 32 && p <= 1) {
        p *= 2;
        plog++;
    }
    return plog;
}

/* How far the average is shifted after an idle time of so many cells: (1-W)^(time / time of a packet) as a
 * power of 2. */
static int derive_idle_damping(struct red *r, double packet_us)
{
    double decay = -log(1 - 1.0 / (1 << r->wlog)) / packet_us, longest = 31 / decay;
    int cell_log = 0;
    while (cell_log < 32 && longest / (double)(INT64_C(1) << cell_log) >= 512)
        cell_log++;
    if (cell_log >= 24)
        return -1;
    r->stab[0] = 0;
    for (int i = 1; i < RED_STAB_SIZE - 1; i++)
        r->stab[i] = (uint8_t)fmin((i << cell_log) * decay, 31);
    r->stab[RED_STAB_SIZE - 1] = 31;
    r->cell_log = (uint8_t)cell_log;
    r->cell_max_us = 255u << cell_log;
    return 0;
}

static int bits(int64_t value)
{
    return value ? 64 - __builtin_clzll((uint64_t)value) : 0;
}

int red_init(struct red *r, const struct red_config *c, struct error *e)
{
    *r = (struct red){.ecn = c->ecn, .limit_bytes = c->limit_bytes, .count = -1, .idle_since_ps = -1};
    if (c->avpkt_bytes <= 0 || c->min_bytes < 0 || c->max_bytes <= c->min_bytes || c->bandwidth_bps <= 0 ||
        !(c->probability > 0 && c->probability <= 1))
        return error_set(e,
                         "RED: expected 0 <= min < max, avpkt and bandwidth above 0, probability in (0, 1]");
    int64_t burst = c->burst > 0 ? c->burst : (2 * c->min_bytes + c->max_bytes) / (3 * c->avpkt_bytes);
    int wlog = derive_wlog((double)c->min_bytes, (double)burst, (double)c->avpkt_bytes);
    if (wlog < 0)
        return error_set(e, "RED: burst %lld is too small for min %lld and avpkt %lld", (long long)burst,
                         (long long)c->min_bytes, (long long)c->avpkt_bytes);
    if (bits(c->max_bytes) + wlog >= 32)
        return error_set(e, "RED: max %lld times 2^%d does not fit 32 bits", (long long)c->max_bytes, wlog);
    r->wlog = (uint8_t)wlog;
    int64_t range = c->max_bytes - c->min_bytes;
    r->plog = (uint8_t)derive_plog((double)range, c->probability);
    if (derive_idle_damping(r, (double)c->avpkt_bytes * 8e6 / (double)c->bandwidth_bps))
        return error_set(e, "RED: bandwidth %lld b/s is too small for avpkt %lld",
                         (long long)c->bandwidth_bps, (long long)c->avpkt_bytes);
    r->threshold_min = (uint32_t)(c->min_bytes << wlog);
    r->threshold_max = (uint32_t)(c->max_bytes << wlog);
    uint32_t max_p = (uint32_t)fmin(c->probability * TWO_TO_32, UINT32_MAX);
    r->random_divisor = (uint32_t)(max_p / range);
    if (!r->random_divisor)
        r->random_divisor = 1;
    return 0;
}

static uint64_t average_after_idle(const struct red *r, int64_t now_ps)
{
    int64_t idle_us = (now_ps - r->idle_since_ps) / PS_PER_US;
    if (idle_us > r->cell_max_us)
        idle_us = r->cell_max_us;
    int shift = r->stab[(idle_us >> r->cell_log) & (RED_STAB_SIZE - 1)];
    if (shift)
        return r->average >> shift;
    uint64_t less = (r->average * (uint64_t)idle_us) >> r->cell_log; /* (1-W)^m as 1 - mW */
    return less < r->average >> 1 ? r->average - less : r->average >> 1;
}

static uint32_t draw(const struct red *r, struct random *random)
{
    return (uint32_t)(random_next(random) >> 32) / r->random_divisor;
}

/* Between the thresholds: 1 when this packet is to be marked. */
static bool probability_hit(struct red *r, struct random *random)
{
    if (++r->count == 0) {
        r->random = draw(r, random);
        return false;
    }
    if (((r->average - r->threshold_min) >> r->wlog) * (uint64_t)r->count < r->random)
        return false;
    r->count = 0;
    r->random = draw(r, random);
    return true;
}

enum red_verdict red_enqueue(struct red *r, struct random *random, int64_t now_ps, int64_t backlog_bytes,
                             int64_t packet_bytes, bool ecn_capable)
{
    if (r->idle_since_ps < 0)
        r->average += (uint64_t)backlog_bytes - (r->average >> r->wlog);
    else
        r->average = average_after_idle(r, now_ps);
    r->idle_since_ps = -1;
    enum red_verdict verdict = RED_PASS;
    bool mark = r->ecn && ecn_capable;
    if (r->average < r->threshold_min) {
        r->count = -1;
    } else if (r->average >= r->threshold_max) {
        r->count = -1;
        verdict = mark ? RED_MARK : RED_DROP;
        mark ? r->forced_mark++ : r->forced_drop++;
    } else if (probability_hit(r, random)) {
        verdict = mark ? RED_MARK : RED_DROP;
        mark ? r->prob_mark++ : r->prob_drop++;
    }
    if (verdict != RED_DROP && backlog_bytes + packet_bytes > r->limit_bytes) {
        r->pdrop++;
        verdict = RED_DROP;
    }
    return verdict;
}

void red_idle(struct red *r, int64_t now_ps)
{
    if (r->idle_since_ps < 0)
        r->idle_since_ps = now_ps;
}
