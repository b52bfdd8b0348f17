/* The reaction point's rate machine: against one that really ticks, and step by step. */
#include "sim/congestion/dcqcn.h"
#include "lib/random.h"
#include "tests/unit/unit.h"
#include <math.h>

#define US       SIM_PS_PER_US
#define LINE_BPS 100e9

extern const struct congestion_control congestion_dcqcn;

static struct dcqcn_rp defaults(void)
{
    struct dcqcn_values values;
    dcqcn_defaults(&values);
    return values.rp;
}

static struct dcqcn_params params_of(const struct dcqcn_rp *rp)
{
    struct dcqcn_params p;
    dcqcn_params_init(&p, rp, (int64_t)LINE_BPS);
    return p;
}

/* ---- a machine of clocks: every nanosecond is looked at */

struct clocks {
    double rate, target, alpha;
    bool started, alpha_cnp, decrease_cnp, increasing;
    int64_t alpha_at, decrease_at, increase_at, bytes_left;
    uint32_t timer_stage, byte_stage;
};

static void clocks_increase(struct clocks *c, const struct dcqcn_params *p)
{
    uint32_t least = c->timer_stage < c->byte_stage ? c->timer_stage : c->byte_stage;
    if (!p->byte_reset)
        least = c->timer_stage;
    if (least > p->threshold)
        c->target += p->hai_bps;
    else if (c->timer_stage >= p->threshold || c->byte_stage >= p->threshold)
        c->target += p->ai_bps;
    if (c->target > p->max_bps)
        c->target = p->max_bps;
    c->rate = (c->rate + c->target) / 2;
}

static void clocks_decrease(struct clocks *c, const struct dcqcn_params *p, int64_t now_ps)
{
    if (p->clamp || c->byte_stage || (c->timer_stage && p->clamp_after_timer))
        c->target = c->rate;
    c->rate = fmax(c->rate * fmax(1 - c->alpha * p->decrease, p->least_factor), p->min_bps);
    c->timer_stage = c->byte_stage = 0;
    c->decrease_cnp = false;
    c->increasing = true;
    c->increase_at = now_ps + p->increase_ps;
    c->bytes_left = p->byte_reset;
}

static void clocks_tick(struct clocks *c, const struct dcqcn_params *p, int64_t now_ps)
{
    if (!c->started)
        return;
    if (now_ps == c->alpha_at) {
        c->alpha = p->keep * c->alpha + (c->alpha_cnp ? 1 - p->keep : 0);
        c->alpha_cnp = false;
        c->alpha_at += p->alpha_ps;
    }
    if (now_ps == c->decrease_at) {
        c->decrease_at += p->decrease_ps;
        if (c->decrease_cnp)
            clocks_decrease(c, p, now_ps);
    }
    if (c->increasing && now_ps == c->increase_at) {
        clocks_increase(c, p);
        c->timer_stage++;
        c->increase_at += p->increase_ps;
    }
}

static void clocks_cnp(struct clocks *c, const struct dcqcn_params *p, int64_t now_ps)
{
    c->decrease_cnp = true;
    if (c->started) {
        c->alpha_cnp = true;
        return;
    }
    c->started = true;
    c->alpha = p->initial_alpha;
    c->alpha_at = now_ps + p->alpha_ps;
    c->decrease_at = now_ps + p->decrease_ps + 1000;
    if (p->first_bps > 0)
        c->rate = c->target = p->first_bps;
}

static void clocks_sent(struct clocks *c, const struct dcqcn_params *p, int64_t bytes)
{
    if (!p->byte_reset || !c->increasing)
        return;
    for (c->bytes_left -= bytes; c->bytes_left <= 0; c->bytes_left += p->byte_reset) {
        clocks_increase(c, p);
        c->byte_stage++;
    }
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* CNPs and packets at random times; both machines must agree whenever a packet looks. */
static void compare(struct dcqcn_rp rp, uint64_t seed)
{
    struct dcqcn_params p = params_of(&rp);
    struct clocks c = {.rate = p.max_bps, .target = p.max_bps, .bytes_left = p.byte_reset};
    struct random random;
    struct dcqcn d;
    dcqcn_init(&d, &p);
    random_seed(&random, seed);
    for (int64_t now_ps = 0; now_ps < 20000 * US; now_ps += 1000) {
        clocks_tick(&c, &p, now_ps);
        uint64_t draw = random_next(&random);
        bool busy = now_ps / (700 * US) % 2 == 0; /* bursts of CNPs, and quiet times */
        if (busy && draw % 9000 == 0) {
            clocks_cnp(&c, &p, now_ps);
            dcqcn_cnp(&d, &p, now_ps);
        }
        if (draw >> 32 & 1023)
            continue;
        dcqcn_advance(&d, &p, now_ps);
        assert_near(d.rate_bps, c.rate);
        assert_near(d.target_bps, c.target);
        if (c.started)
            assert_near(dcqcn_alpha(&d, &p, now_ps), c.alpha);
        clocks_sent(&c, &p, 1048);
        dcqcn_sent(&d, &p, 1048);
    }
    assert_true(d.decreases > 10 && d.increases > 10);
}

static void same_as_ticking(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    compare(rp, 1);
    rp.rpg_byte_reset = 0;
    compare(rp, 2);
    rp.rpg_byte_reset = 100000;
    rp.rpg_threshold = 5;
    rp.rpg_time_reset = 55;
    rp.dce_tcp_rtt = 55;
    rp.rate_reduce_monitor_period = 50;
    compare(rp, 3);
    rp.clamp_tgt_rate = 1;
    rp.rate_to_set_on_first_cnp = 40000;
    rp.rpg_gd = 10;
    rp.rpg_min_dec_fac = 80;
    rp.rpg_min_rate = 20000;
    compare(rp, 4);
    rp.clamp_tgt_rate = rp.clamp_tgt_rate_after_time_inc = 0;
    rp.initial_alpha_value = 512;
    compare(rp, 5);
}

/* ---- step by step */

static void first_cnp_halves(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn d;
    dcqcn_init(&d, &p);
    assert_true(dcqcn_alpha(&d, &p, 0) == 0);
    dcqcn_cnp(&d, &p, 10 * US);
    dcqcn_advance(&d, &p, 14 * US);
    assert_near(d.rate_bps, LINE_BPS);
    dcqcn_advance(&d, &p, 14 * US + 1000);
    /* four intervals without a CNP: alpha is (1019/1024)^4 */
    assert_near(d.rate_bps, LINE_BPS * (1 - pow(1019.0 / 1024, 4) / 2));
    assert_near(d.target_bps, LINE_BPS);
    assert_int_equal(d.decreases, 1);
}

static void one_decrease_a_period(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn d;
    dcqcn_init(&d, &p);
    for (int64_t ns = 0; ns < 4000; ns += 100)
        dcqcn_cnp(&d, &p, ns * 1000);
    dcqcn_advance(&d, &p, 300 * US);
    assert_int_equal(d.decreases, 1);
}

static void recovery_in_stages(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    rp.rpg_byte_reset = 0;
    rp.rpg_threshold = 2;
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn d;
    dcqcn_init(&d, &p);
    d.target_bps = d.rate_bps = 50e9;
    dcqcn_cnp(&d, &p, 0);
    int64_t decrease_ps = 4 * US + 1000;
    dcqcn_advance(&d, &p, decrease_ps);
    double rate = d.rate_bps, target = d.target_bps;
    static const double steps[] = {0, 0, 5e6, 50e6,
                                   50e6}; /* fast recovery twice, additive once, hyper from there */
    for (int i = 0; i < 5; i++) {
        dcqcn_advance(&d, &p, decrease_ps + (i + 1) * 300 * US);
        target += steps[i];
        rate = (rate + target) / 2;
        assert_near(d.target_bps, target);
        assert_near(d.rate_bps, rate);
    }
}

static void limits_hold(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    rp.rpg_min_rate = 5000;
    rp.rpg_max_rate = 40000;
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn d;
    dcqcn_init(&d, &p);
    assert_near(d.rate_bps, 40e9);
    for (int64_t t = 0; t < 1000; t++)
        dcqcn_cnp(&d, &p, t * US);
    assert_near(d.rate_bps, 5e9);
    dcqcn_advance(&d, &p, 1000 * 1000 * US);
    for (int i = 0; i < 100000; i++)
        dcqcn_sent(&d, &p, 4096);
    assert_true(d.rate_bps > 39.9e9 && d.rate_bps <= 40e9);
}

/* Once the rate is as high as it gets, ticks and bytes are counted at once; what is read is not run again.
 * The machine that is looked at in every tick comes to the same. */
static void idle_time(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    rp.rpg_time_reset = 1;
    rp.rpg_byte_reset = 7;
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn seldom, often;
    dcqcn_init(&seldom, &p);
    dcqcn_init(&often, &p);
    int64_t now_ps = 0;
    for (int turn = 0; turn < 3; turn++) {
        dcqcn_cnp(&seldom, &p, now_ps);
        dcqcn_cnp(&often, &p, now_ps);
        for (int64_t us = 0; us < 20000; us++)
            dcqcn_advance(&often, &p, now_ps += US);
        const struct congestion_gauge *rate = &congestion_dcqcn.gauges[0];
        assert_string_equal(rate->name, "rate");
        assert_true(rate->read(&seldom, &p, now_ps) == often.rate_bps);
        assert_true(seldom.next_ps > now_ps);
        assert_memory_equal(&seldom, &often, sizeof seldom);
        dcqcn_sent(&seldom, &p, 70000);
        for (int i = 0; i < 70000; i++)
            dcqcn_sent(&often, &p, 1);
        assert_memory_equal(&seldom, &often, sizeof seldom);
        assert_true(often.rate_bps == p.max_bps && often.byte_stage == 10000);
    }
}

/* With nic.cnp_cuts_share a cut begins at a share of the port, and recovery ends there; a rate below it
 * stays. */
static void a_share_is_the_most_that_is_cut_from(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    rp.clamp_tgt_rate = 1;
    rp.rpg_ai_rate = rp.rpg_hai_rate = 1;
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn d;
    dcqcn_init(&d, &p);
    congestion_dcqcn.shared(&d, &p, 0, 4);
    assert_true(d.rate_bps == 25e9 && d.target_bps == 25e9);
    dcqcn_cnp(&d, &p, 0);
    dcqcn_advance(&d, &p, 10 * US);
    assert_true(d.rate_bps > 12.4e9 && d.rate_bps < 13e9); /* alpha is nearly 1 */
    congestion_dcqcn.shared(&d, &p, 10 * US, 4);
    assert_true(d.rate_bps > 12.4e9 && d.target_bps == 25e9);
}

static double rate_at(struct dcqcn *d, const struct dcqcn_params *p, int64_t now_ps)
{
    dcqcn_advance(d, p, now_ps);
    return d->rate_bps;
}

/* With nic.cnp_cuts_target a rate does not come back to what it was before the cut. */
static void a_cut_target_is_not_recovered(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    rp.rpg_ai_rate = rp.rpg_hai_rate = 1;
    for (int cuts = 0; cuts < 2; cuts++) {
        struct dcqcn_params p = params_of(&rp);
        struct dcqcn d;
        p.cuts_target = cuts;
        dcqcn_init(&d, &p);
        dcqcn_cnp(&d, &p, 0);
        double cut_bps = rate_at(&d, &p, 10 * US), later_bps = rate_at(&d, &p, 5000 * US);
        assert_true(cut_bps < 51e9);
        assert_true(cuts ? later_bps < 51e9 : later_bps > 95e9);
    }
}

/* With nic.first_cnp_again a CNP after a long time without one cuts as the first did, one soon after it does
 * not. */
static void a_late_cnp_is_a_first_one(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
    rp.initial_alpha_value = 512;
    rp.rpg_ai_rate = rp.rpg_hai_rate = 1;
    struct dcqcn_params p = params_of(&rp);
    struct dcqcn d;
    p.cuts_target = true;
    p.first_again_ps = 100000 * US;
    dcqcn_init(&d, &p);
    dcqcn_cnp(&d, &p, 0);
    double first = rate_at(&d, &p, 10 * US) / p.max_bps;
    assert_true(first > 0.74 && first < 0.76);
    static const struct {
        int64_t at_us;
        bool as_first;
    } cases[] = {{50000, false}, {149999, false}, {249999, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double before_bps = rate_at(&d, &p, cases[i].at_us * US);
        dcqcn_cnp(&d, &p, cases[i].at_us * US);
        double kept = rate_at(&d, &p, (cases[i].at_us + 10) * US) / before_bps;
        assert_true(cases[i].as_first ? kept > 0.74 && kept < 0.76 : kept > 0.99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_ticking),
        cmocka_unit_test(first_cnp_halves),
        cmocka_unit_test(one_decrease_a_period),
        cmocka_unit_test(recovery_in_stages),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(idle_time),
        cmocka_unit_test(a_share_is_the_most_that_is_cut_from),
        cmocka_unit_test(a_cut_target_is_not_recovered),
        cmocka_unit_test(a_late_cnp_is_a_first_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
