/* DCQCN of the simulator, in floating point and picoseconds, and of the virtual ConnectX, in integers and
 * nanoseconds: the same equations. */
#include "sim/congestion/dcqcn.h"
#include "virtual-connectx/tests/unit/vcx_reaction.h"

#include <math.h>

enum { PS_PER_NS = 1000 };
#define LINE_BPS 25000000000

static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(seed >> 4) * below >> 28);
}

/* Both machines, driven alike. */
struct twins {
    struct dcqcn sim;
    struct dcqcn_params sim_parameters;
    struct vcx_reaction model;
    const struct vcx_reaction_parameters *model_parameters;
    uint64_t now_ns;
};

static void compare(struct twins *t)
{
    dcqcn_advance(&t->sim, &t->sim_parameters, (int64_t)t->now_ns * PS_PER_NS);
    assert_true(vcx_reaction_advance(&t->model, t->model_parameters, t->now_ns));
    if (!t->model.started)
        return;
    double rate = (double)t->model.rate_bps, target = (double)t->model.target_bps;
    if (fabs(rate / t->sim.rate_bps - 1) > 1e-4 || fabs(target / t->sim.target_bps - 1) > 1e-4)
        fail_msg("at %llu ns: rate %.0f, the simulator's %.0f; target %.0f, the simulator's %.0f",
                 (unsigned long long)t->now_ns, rate, t->sim.rate_bps, target, t->sim.target_bps);
    assert_int_equal(t->model.timer_stage, t->sim.timer_stage);
    assert_int_equal(t->model.byte_stage, t->sim.byte_stage);
}

static enum vcx_status set_parameters(struct side *s, const struct dcqcn_rp *rp)
{
    struct reaction values;
#define COPY(bit, name, standard) values.name = (uint32_t)rp->name;
    REACTION_PARAMETERS(COPY)
    return reaction_set(s, &values);
}

static struct dcqcn_rp defaults(void)
{
    struct dcqcn_values values;
    dcqcn_defaults(&values);
    return values.rp;
}

static void drive(struct pair *pair, const struct dcqcn_rp *rp, int events)
{
    struct twins t = {.now_ns = 1000000};
    assert_int_equal(set_parameters(&pair->side[0], rp), VCX_OK);
    t.model_parameters = &pair->side[0].device.congestion->reaction;
    dcqcn_params_init(&t.sim_parameters, rp, LINE_BPS);
    dcqcn_init(&t.sim, &t.sim_parameters);
    for (int i = 0; i < events; i++) {
        t.now_ns += 1 + (any(20) ? any(60000) : any(3000000));
        compare(&t);
        if (any(i < events / 2 ? 3 : 40) == 0) {
            dcqcn_cnp(&t.sim, &t.sim_parameters, (int64_t)t.now_ns * PS_PER_NS);
            vcx_reaction_cnp(&t.model, t.model_parameters, t.now_ns);
            continue;
        }
        uint32_t bytes = 64 + any(4096);
        double gap_ns =
            (double)dcqcn_gap_ps(&t.sim, &t.sim_parameters, (int64_t)t.now_ns * PS_PER_NS, bytes) / PS_PER_NS;
        dcqcn_sent(&t.sim, &t.sim_parameters, bytes);
        double model_ns = (double)vcx_reaction_sent(&t.model, t.model_parameters, t.now_ns, bytes);
        if (t.model.started)
            assert_true(fabs(model_ns - gap_ns) < 2 + gap_ns * 1e-3);
    }
}

static void the_equations_are_the_simulators(void **state)
{
    (void)state;
    struct pair *pair = pair_open();
    struct dcqcn_rp rp = defaults();
    drive(pair, &rp, 5000);
    for (int round = 0; round < 200; round++) {
        rp = defaults();
        rp.clamp_tgt_rate = (int)any(2);
        rp.clamp_tgt_rate_after_time_inc = (int)any(2);
        rp.rpg_time_reset = any(5) ? 20 + any(500) : 0;
        rp.rpg_byte_reset = any(3) ? any(32768) : 0;
        rp.rpg_threshold = any(8);
        rp.rpg_max_rate = any(2) ? 0 : 1000 + any(30000);
        rp.rpg_ai_rate = any(100);
        rp.rpg_hai_rate = any(1000);
        rp.rpg_min_dec_fac = any(101);
        rp.rpg_min_rate = 1 + any(2000);
        rp.rate_to_set_on_first_cnp = any(2) ? 0 : any(20000);
        rp.dce_tcp_g = 900 + any(124);
        rp.dce_tcp_rtt = 1 + any(100);
        rp.rate_reduce_monitor_period = 1 + any(100);
        rp.initial_alpha_value = 1 + any(1023);
        rp.rpg_gd = 9 + any(5);
        drive(pair, &rp, 400);
    }
    pair_close(pair);
}

/* What a driver reads that has set nothing is what documents and the simulator begin with. */
static void defaults_are_the_same(void **state)
{
    (void)state;
    struct dcqcn_rp rp = defaults();
#define SAME(bit, name, standard) assert_int_equal(reaction_standard.name, rp.name);
    REACTION_PARAMETERS(SAME)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_same),
        cmocka_unit_test(the_equations_are_the_simulators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
