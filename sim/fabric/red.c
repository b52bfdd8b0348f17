#include "sim/fabric/red.h"

#define PS_PER_US INT64_C(1000000)

static int bits(int64_t value)
{
    return value ? 64 - __builtin_clzll((uint64_t)value) : 0;
}

int red_init(struct red *r, const struct settings_red *c, struct error *e)
{
    *r = (struct red){.ecn = c->ecn == 1, .limit_bytes = c->limit_bytes, .count = -1, .idle_since_ps = -1};
    if (c->avpkt_bytes <= 0 || c->min_bytes < 0 || c->max_bytes <= c->min_bytes || c->bandwidth_bps <= 0 ||
        !(c->probability > 0 && c->probability <= 1))
        return error_set(e,
                         "RED: expected 0 <= min < max, avpkt and bandwidth above 0, probability in (0, 1]");
    /* Idle times are counted in whole microseconds, the time of a packet is exact. */
    double packet_us = (double)c->avpkt_bytes * 8e6 / (double)c->bandwidth_bps;
    if (red_derive(c, packet_us, &r->derived, e))
        return -1;
    int wlog = r->derived.wlog;
    if (bits(c->max_bytes) + wlog >= 32)
        return error_set(e, "RED: max %lld times 2^%d does not fit 32 bits", (long long)c->max_bytes, wlog);
    if (r->derived.scell_log >= 24)
        return error_set(e, "RED: bandwidth %lld b/s is too small for avpkt %lld",
                         (long long)c->bandwidth_bps, (long long)c->avpkt_bytes);
    r->cell_max_us = 255u << r->derived.scell_log;
    r->threshold_min = (uint32_t)(c->min_bytes << wlog);
    r->threshold_max = (uint32_t)(c->max_bytes << wlog);
    r->random_divisor = (uint32_t)(r->derived.max_p / (c->max_bytes - c->min_bytes));
    if (!r->random_divisor)
        r->random_divisor = 1;
    return 0;
}

static uint64_t average_after_idle(const struct red *r, int64_t now_ps)
{
    int64_t idle_us = (now_ps - r->idle_since_ps) / PS_PER_US;
    if (idle_us > r->cell_max_us)
        idle_us = r->cell_max_us;
    int shift = r->derived.stab[(idle_us >> r->derived.scell_log) & (RED_STAB_SIZE - 1)];
    if (shift)
        return r->average >> shift;
    uint64_t less = (r->average * (uint64_t)idle_us) >> r->derived.scell_log; /* (1-W)^m as 1 - mW */
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
    if (((r->average - r->threshold_min) >> r->derived.wlog) * (uint64_t)r->count < r->random)
        return false;
    r->count = 0;
    r->random = draw(r, random);
    return true;
}

enum red_verdict red_enqueue(struct red *r, struct random *random, int64_t now_ps, int64_t backlog_bytes,
                             int64_t packet_bytes, bool ecn_capable)
{
    if (r->idle_since_ps < 0)
        r->average += (uint64_t)backlog_bytes - (r->average >> r->derived.wlog);
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
