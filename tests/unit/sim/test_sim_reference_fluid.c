/*
 * The simulator against DCQCN's fluid model (Zhu et al., SIGCOMM 2015; Zhu et al., "ECN or Delay", CoNEXT
 * 2016): its fixed point for two flows at 40 Gb/s. With more flows the packet level oscillates and leaves the
 * fixed point, as its authors say.
 */
#include "tests/unit/sim/sim_fixture.h"
#include <math.h>

#define PACKET_BYTES 1000.0
#define LINK_BPS     INT64_C(40000000000)
#define FLOWS        2
#define SEEDS        3
#define MS           (1000 * SIM_PS_PER_US)

/* The paper's parameters. */
static const struct {
    double byte_counter, timer_s, alpha_interval_s, cnp_interval_s, ai_bps, kmin, kmax, pmax;
    int stages;
} paper = {10e6, 55e-6, 55e-6, 50e-6, 40e6, 5e3, 200e3, 0.01, 5};

static double alpha_at(double p, double packets_per_s)
{
    return 1 - pow(1 - p, paper.alpha_interval_s * packets_per_s);
}

/* What the rate loses to decreases less what it gains by increases, at marking probability p. */
static double balance(double p, double packets_per_s)
{
    double r = packets_per_s, bytes = paper.byte_counter / PACKET_BYTES, tau = paper.cnp_interval_s;
    double a = 1 - pow(1 - p, tau * r);
    double b = p / (pow(1 - p, -bytes) - 1), c = b * pow(1 - p, paper.stages * bytes);
    double d = p / (pow(1 - p, -paper.timer_s * r) - 1), e = d * pow(1 - p, paper.stages * paper.timer_s * r);
    double ai = paper.ai_bps / 8 / PACKET_BYTES;
    return alpha_at(p, r) * a * a / (tau * tau * (b + d)) - ai * r * (c + e);
}

static double fixed_point(double packets_per_s)
{
    double low = 1e-9, high = 0.5;
    for (int i = 0; i < 200; i++) {
        double middle = sqrt(low * high);
        *(balance(middle, packets_per_s) > 0 ? &high : &low) = middle;
    }
    return low;
}

static void open_two_to_one(struct fixture *f)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, FLOWS + 1, LINK_BPS, SIM_PS_PER_US, &e), 0);
    fixture_open(f, &t);
    fixture_hpcc(f, true);
    f->config.truncate_to_ns = false;
    for (size_t i = 0; i < f->config.host_count; i++) {
        struct dcqcn_rp *rp = &f->hosts[i].settings.dcqcn.rp;
        rp->clamp_tgt_rate = 1; /* the paper's target is the rate before every decrease */
        rp->rpg_time_reset = (int32_t)(paper.timer_s * 1e6);
        rp->rpg_byte_reset = (int32_t)paper.byte_counter;
        rp->rpg_threshold = paper.stages;
        rp->rpg_ai_rate = rp->rpg_hai_rate = rp->rpg_min_rate = (int32_t)(paper.ai_bps / 1e6);
        rp->dce_tcp_rtt = (int32_t)lround(paper.alpha_interval_s * 1e6);
        rp->rate_reduce_monitor_period = (int32_t)lround(paper.cnp_interval_s * 1e6);
    }
    f->switches[0].physics.buffer_bytes = 32 << 20;
    f->switches[0].physics.ecn = (struct physics_ecn){
        .kmin_bytes = (int64_t)paper.kmin, .kmax_bytes = (int64_t)paper.kmax, .pmax = paper.pmax};
    for (uint32_t h = 0; h < FLOWS; h++)
        fixture_flow(f, h, FLOWS, 0);
}

static void test_two_flows(void **state)
{
    (void)state;
    double p = fixed_point((double)LINK_BPS / 8 / PACKET_BYTES / FLOWS);
    double queue = paper.kmin + p / paper.pmax * (paper.kmax - paper.kmin);
    double alpha = alpha_at(p, (double)LINK_BPS / 8 / PACKET_BYTES / FLOWS);
    assert_true(fabs(p - 0.00078) < 0.00001 && fabs(queue - 20.2e3) < 100 && fabs(alpha - 0.101) < 0.001);
    double queue_sum = 0, alpha_sum = 0;
    size_t samples = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture f;
        open_two_to_one(&f);
        f.config.seed = seed;
        struct sim *sim = fixture_start(&f);
        for (int64_t at = 50 * MS; at < 150 * MS; at += MS / 100, samples++) {
            fixture_run(sim, at);
            queue_sum += (double)switch_queue_bytes(sim, 0, FLOWS, LOSSLESS);
            alpha_sum += (flow_gauge(sim, 0, "alpha") + flow_gauge(sim, 1, "alpha")) / FLOWS / 1024;
        }
        sim_free(sim);
        fixture_close(&f);
    }
    if (fabs(queue_sum / (double)samples / queue - 1) > 0.25 ||
        fabs(alpha_sum / (double)samples / alpha - 1) > 0.15)
        fail_msg("queue %g B, fluid %g; alpha %g, fluid %g", queue_sum / (double)samples, queue,
                 alpha_sum / (double)samples, alpha);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_flows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
