// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/transport/congestion.h"

#define FRACTION_BITS 30
#define NS_PER_S      1000000000u
/* The decrease clock runs one nanosecond behind the alpha clock, so that a decrease sees alpha after the update of the same instant. */
#define DECREASE_LAG_NS    1u
#define TICKS_AT_A_TIME    4096u
#define TICKS_LOOKED_AHEAD 64u
#define NEVER              UINT64_MAX

/* a * part of VCX_FRACTION; a below 2^40 */
static uint64_t share(uint64_t a, uint32_t part)
{
    return (a * (part >> 6)) >> (FRACTION_BITS - 6);
}

/* x^n of a fraction. */
static uint32_t power(uint32_t x, uint64_t n)
{
    uint64_t result = VCX_FRACTION, square = x;
    for (; n && result; n >>= 1) {
        if (n & 1)
            result = result * square >> FRACTION_BITS;
        square = square * square >> FRACTION_BITS;
    }
    return (uint32_t)result;
}

/* ---- the nominal line's time */

/* value * by / per without overflow for rates in Mbit/s */
static uint64_t scaled(uint64_t value, uint64_t by, uint64_t per)
{
    return value / per * by + value % per * by / per;
}

static uint64_t megabits(uint64_t bps)
{
    return vcx_most(1, bps / 1000000);
}

uint64_t vcx_stretch_ns(const struct vcx_device *device, uint64_t nominal_ns)
{
    return scaled(nominal_ns, megabits(device->configuration.nominal_bps),
                  megabits(device->configuration.line_bps));
}

uint64_t vcx_nominal_ns(const struct vcx_device *device, uint64_t ns)
{
    return scaled(ns, megabits(device->configuration.line_bps), megabits(device->configuration.nominal_bps));
}

/* ---- the reaction point */

/* Alpha's ticks up to `at`: the first may have seen a CNP, the rest have not. */
static void run_alpha_clock(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t at_ns)
{
    if (r->alpha_tick_ns > at_ns)
        return;
    uint64_t ticks = (at_ns - r->alpha_tick_ns) / p->alpha_ns + 1;
    r->alpha = (uint32_t)((uint64_t)r->alpha * p->keep >> FRACTION_BITS);
    if (r->cnp_since_alpha_tick)
        r->alpha += VCX_FRACTION - p->keep;
    if (ticks > 1)
        r->alpha = (uint32_t)((uint64_t)r->alpha * power(p->keep, ticks - 1) >> FRACTION_BITS);
    r->cnp_since_alpha_tick = false;
    r->alpha_tick_ns += ticks * p->alpha_ns;
}

static void decrease(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t at_ns)
{
    run_alpha_clock(r, p, at_ns);
    if (p->clamp || r->byte_stage > 0 || (p->clamp_after_timer && r->timer_stage > 0))
        r->target_bps = r->rate_bps;
    uint64_t cut = vcx_least(((uint64_t)r->alpha << 10) >> p->log_decrease, VCX_FRACTION);
    uint32_t factor = (uint32_t)vcx_most(VCX_FRACTION - cut, p->least_factor);
    r->rate_bps = vcx_most(share(r->rate_bps, factor), p->least_bps);
    r->timer_stage = 0;
    r->byte_stage = 0;
    r->bytes_left = p->byte_reset;
    r->decreased = true;
    r->increase_tick_ns = at_ns + p->increase_ns;
    r->decrease_base_ns = at_ns;
    r->decrease_waits = false;
}

/* Fast recovery until a stage counter reaches the threshold, additive from there, hyper once all counters in use are above it. */
static void increase(struct vcx_reaction *r, const struct vcx_reaction_parameters *p)
{
    uint64_t most = vcx_most(r->timer_stage, r->byte_stage), least = vcx_least(r->timer_stage, r->byte_stage);
    if (!p->byte_reset)
        least = r->timer_stage;
    if (least > p->threshold)
        r->target_bps += p->hyper_bps;
    else if (most >= p->threshold)
        r->target_bps += p->additive_bps;
    r->target_bps = vcx_least(r->target_bps, p->most_bps);
    r->rate_bps = (r->rate_bps + r->target_bps + 1) / 2;
}

static uint64_t next_decrease(const struct vcx_reaction *r)
{
    return r->decrease_waits ? r->decrease_tick_ns : NEVER;
}

static uint64_t next_increase(const struct vcx_reaction *r, const struct vcx_reaction_parameters *p)
{
    return r->decreased && p->increase_ns ? r->increase_tick_ns : NEVER;
}

static void tick(struct vcx_reaction *r, const struct vcx_reaction_parameters *p)
{
    if (next_decrease(r) <= next_increase(r, p)) {
        decrease(r, p, r->decrease_tick_ns);
        return;
    }
    increase(r, p);
    r->timer_stage++;
    r->increase_tick_ns += p->increase_ns;
}

/* At the highest rate further increases change nothing but their count. */
static void skip_idle(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    uint64_t end = vcx_least(now_ns, next_decrease(r));
    if (r->rate_bps < p->most_bps || next_increase(r, p) >= end)
        return;
    uint64_t ticks = (end - r->increase_tick_ns) / p->increase_ns;
    r->timer_stage = (uint32_t)vcx_least(r->timer_stage + ticks, UINT32_MAX / 2);
    r->increase_tick_ns += ticks * p->increase_ns;
}

bool vcx_reaction_advance(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    for (uint32_t done = 0; vcx_least(next_decrease(r), next_increase(r, p)) <= now_ns; done++) {
        if (done == TICKS_AT_A_TIME)
            return false;
        skip_idle(r, p, now_ns);
        tick(r, p);
    }
    return true;
}

static void start_reaction(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    *r = (struct vcx_reaction){.started = true,
                               .rate_bps = p->first_bps ? p->first_bps : p->most_bps,
                               .target_bps = p->first_bps ? p->first_bps : p->most_bps,
                               .alpha = p->initial_alpha,
                               .alpha_tick_ns = now_ns + p->alpha_ns,
                               .decrease_base_ns = now_ns + DECREASE_LAG_NS,
                               .bytes_left = p->byte_reset};
}

void vcx_reaction_cnp(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns)
{
    vcx_reaction_advance(r, p, now_ns);
    if (!r->started) {
        start_reaction(r, p, now_ns);
    } else {
        run_alpha_clock(r, p, now_ns);
        r->cnp_since_alpha_tick = true;
    }
    if (r->decrease_waits)
        return;
    uint64_t ticks = now_ns < r->decrease_base_ns ? 1 : (now_ns - r->decrease_base_ns) / p->decrease_ns + 1;
    r->decrease_tick_ns = r->decrease_base_ns + ticks * p->decrease_ns;
    r->decrease_waits = true;
}

static void count_bytes(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint32_t bytes)
{
    if (!p->byte_reset || !r->decreased)
        return;
    for (r->bytes_left -= bytes; r->bytes_left <= 0; r->bytes_left += p->byte_reset) {
        increase(r, p);
        r->byte_stage++;
    }
}

/* Time of so many bits, by the rate's changes that are known. */
static uint64_t gap(const struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns,
                    uint64_t bits)
{
    struct vcx_reaction ahead = *r;
    uint64_t at_ns = now_ns, units = bits * NS_PER_S; /* bits * ns/s: what is left */
    for (uint32_t i = 0; i < TICKS_LOOKED_AHEAD; i++) {
        uint64_t next = vcx_least(next_decrease(&ahead), next_increase(&ahead, p)), span = next - at_ns;
        if (next == NEVER || units / ahead.rate_bps < span)
            break;
        units -= span * ahead.rate_bps;
        at_ns = next;
        tick(&ahead, p);
    }
    return at_ns - now_ns + units / ahead.rate_bps;
}

uint64_t vcx_reaction_sent(struct vcx_reaction *r, const struct vcx_reaction_parameters *p, uint64_t now_ns,
                           uint32_t bytes)
{
    if (!r->started)
        return 0;
    uint64_t ns = gap(r, p, now_ns, 8ull * bytes);
    count_bytes(r, p, bytes);
    return ns;
}
