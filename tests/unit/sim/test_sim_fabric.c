/* Switches: shared buffer, thresholds, headroom, marking, scheduling, watchdog, paths; and what a
 * configuration must not say. */
#include "tests/unit/sim/sim_fixture.h"
#include <math.h>

#define US      SIM_PS_PER_US
#define MS      (1000 * US)
#define GBPS(x) ((x)*INT64_C(1000000000))

static void open_star(struct fixture *f, uint32_t hosts, int64_t rate_bps)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, hosts, rate_bps, US, &e), 0);
    fixture_open(f, &t);
}

static void incast(struct fixture *f, uint32_t senders)
{
    for (uint32_t h = 0; h < senders; h++)
        fixture_flow(f, h, senders, 0);
}

static double goodput_gbps(const struct sim *sim, size_t flow)
{
    return (double)flow_acked_bytes(sim, flow) * 8000 / (double)sim_now_ps(sim);
}

/* ---- thresholds and headroom */

/* n ports that fill share the free buffer: each stops at alpha * (shared - n * share). */
static void dynamic_thresholds_share(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 9, GBPS(100));
    incast(&f, 8);
    f.switches[0].physics.xoff_alpha = 0.5;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS);
    const struct sim_switch_config *s = &f.switches[0];
    double headroom = 2 * 12500 + 2 * (9216 + 100) + 2 * 20 + 64;
    double shared = (double)s->physics.buffer_bytes - 9 * (headroom + (double)s->physics.reserve_bytes);
    double expected = 8 * (0.5 * shared / (1 + 8 * 0.5));
    double peak = (double)counter_of(sim, true, 0, "shared_peak_bytes");
    if (fabs(peak / expected - 1) > 0.002)
        fail_msg("peak %g, expected %g", peak, expected);
    assert_int_equal(counter_of(sim, true, 0, "buffer_discards"), 0);
    sim_free(sim);
    fixture_close(&f);
}

static void static_threshold_holds(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 5, GBPS(100));
    incast(&f, 4);
    f.switches[0].physics.xoff_bytes = 100000;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS);
    int64_t peak = counter_of(sim, true, 0, "shared_peak_bytes");
    assert_true(peak <= 4 * 100000 && peak > 4 * 98000);
    assert_true(counter_of(sim, true, 0, "headroom_peak_bytes") > 0);
    sim_free(sim);
    fixture_close(&f);
}

static int64_t discards_with_headroom(int64_t headroom_bytes)
{
    struct fixture f;
    open_star(&f, 9, GBPS(100));
    incast(&f, 8);
    f.switches[0].physics.headroom_bytes = headroom_bytes;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS);
    int64_t discards = counter_of(sim, true, 0, "buffer_discards");
    sim_free(sim);
    fixture_close(&f);
    return discards;
}

/* Two propagation delays at line rate are 25000 bytes; frames under way come on top. */
static void headroom_decides_over_loss(void **state)
{
    (void)state;
    assert_true(discards_with_headroom(0) > 0);
    assert_true(discards_with_headroom(20000) > 0);
    assert_int_equal(discards_with_headroom(32000), 0);
    assert_int_equal(discards_with_headroom(FIELD_UNSET), 0);
}

static void lossy_queue_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 3, GBPS(100));
    fixture_flow(&f, 0, 2, 0)->priority = 1;
    fixture_flow(&f, 1, 2, 0)->priority = 1;
    f.switches[0].physics.lossy_alpha = 0.25;
    f.hosts[0].nic.ack_timeout_ps = f.hosts[1].nic.ack_timeout_ps = 200 * US;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 3 * MS);
    assert_true(counter_of(sim, true, 0, "buffer_discards") > 0);
    assert_true(switch_queue_peak_bytes(sim, 0, 2, 1) < f.switches[0].physics.buffer_bytes / 5 + 2000);
    assert_int_equal(hosts_counter(&f, sim, "rx_prio3_pause"), 0);
    sim_free(sim);
    fixture_close(&f);
}

/* Two paced senders bring more than the port drains: the fixed limit fills with the excess, is never
 * exceeded, and from then on what arrives and does not leave is lost. Another port with lossy packets of
 * several priorities counts them together. */
static void tail_drop_fills_with_the_excess(void **state)
{
    (void)state;
    const int64_t limit = 1000000;
    struct fixture f;
    open_star(&f, 4, GBPS(100));
    for (uint32_t h = 0; h < 2; h++) {
        struct sim_flow_config *flow = fixture_flow(&f, h, 2, 0);
        flow->priority = (int32_t)h;
        flow->rate_bps = GBPS(54);
        flow->message_bytes = 1 << 20;
        flow->depth = 1024;
    }
    f.switches[0].physics.tail_drop_bytes = limit;
    f.switches[0].physics.lossy_alpha = 0; /* would drop all */
    struct sim *sim = fixture_start(&f);
    int64_t first_ps = 0;
    while (!counter_of(sim, true, 0, "buffer_discards") && first_ps < 5 * MS)
        fixture_run(sim, first_ps += 2 * US);
    int64_t sent = counter_of(sim, false, 0, "tx_prio0_bytes") + counter_of(sim, false, 1, "tx_prio1_bytes");
    int64_t left = counter_of(sim, true, 0, "port2_tx_bytes");
    double excess = (double)(sent - left), expected = (double)limit;
    if (fabs(excess / expected - 1) > 0.03)
        fail_msg("the first drop came after %g B of excess, expected %g", excess, expected);
    fixture_run(sim, first_ps + 2 * MS);
    int64_t waiting = switch_queue_peak_bytes(sim, 0, 2, 0) + switch_queue_peak_bytes(sim, 0, 2, 1);
    assert_true(waiting > limit - 20000);
    assert_true(counter_of(sim, true, 0, "shared_peak_bytes") <= limit + 2 * 66);
    sim_free(sim);
    fixture_close(&f);
}

/* Queue pairs of one host whose rates fit its line have them, though each waits behind frames of the others:
 * also one beside very many that are due at the same times. */
static void paced_queue_pairs_have_their_rates(void **state)
{
    (void)state;
    static const struct {
        int64_t bps[2];
        int32_t queue_pairs;
    } rows[] = {{{GBPS(8), GBPS(13)}, 1}, {{GBPS(8), GBPS(10)}, 1}, {{GBPS(20), GBPS(2)}, 100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        open_star(&f, 3, GBPS(25));
        for (uint32_t k = 0; k < 2; k++) {
            struct sim_flow_config *flow = fixture_flow(&f, 0, 1 + k, 0);
            flow->queue_pairs = k ? rows[i].queue_pairs : 1;
            flow->rate_bps = rows[i].bps[k] / flow->queue_pairs;
            flow->message_bytes = 4000;
            flow->depth = 64;
        }
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 2 * MS);
        int64_t before[2] = {flow_acked_bytes(sim, 0), flow_acked_bytes(sim, 1)};
        fixture_run(sim, 18 * MS); /* of 4000 B at 20 Mb/s: ten messages */
        for (size_t k = 0; k < 2; k++) {
            double bps = (double)(flow_acked_bytes(sim, k) - before[k]) * 8 / 16e-3;
            if (fabs(bps / (double)rows[i].bps[k] - 1) > 0.01)
                fail_msg("row %zu, flow %zu: %g b/s", i, k, bps);
        }
        sim_free(sim);
        fixture_close(&f);
    }
}

/* Two NICs that fill their lines stay in step: a full queue drops one's frames and never the other's. A
 * random time between frames, a third of a per cent of a frame's, ends that. */
static void jitter_ends_lockout(void **state)
{
    (void)state;
    for (int jitter = 0; jitter < 2; jitter++) {
        struct fixture f;
        open_star(&f, 3, GBPS(100));
        for (uint32_t h = 0; h < 2; h++) {
            struct sim_flow_config *flow = fixture_flow(&f, h, 2, 0);
            flow->priority = 1;
            flow->payload_bytes = 4096;
            flow->message_bytes = 1 << 20; /* whole packets */
            flow->start_ps =
                h * 100 * SIM_PS_PER_NS; /* the second one's frames come a third of a frame later */
            f.hosts[h].nic.jitter_ps = jitter ? 1100 : 0;
            f.hosts[h].nic.ack_timeout_ps = 10 * MS;
        }
        f.switches[0].physics.tail_drop_bytes = 200000;
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 8 * MS);
        int64_t first = counter_of(sim, true, 0, "port0_discards");
        int64_t second = counter_of(sim, true, 0, "port1_discards"), sum = first + second;
        assert_true(sum > 20000);
        assert_true(jitter ? first > sum / 5 && second > sum / 5 : first < 10 || second < 10);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* Two queue pairs with a message of ten packets each: packet by packet they end together, in turns of ten one
 * after the other. Neither sends faster than its rate in the long run. */
static void turns_have_their_length(void **state)
{
    (void)state;
    for (int burst = 0; burst < 2; burst++) {
        struct sim_flow_stats stats[2];
        struct fixture f;
        open_star(&f, 2, GBPS(100));
        for (size_t i = 0; i < 2; i++)
            fixture_flow(&f, 0, 1, 10000);
        f.hosts[0].nic.burst_bytes = burst ? 10000 : 0;
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, MS);
        for (size_t i = 0; i < 2; i++)
            sim_flow_stats(sim, i, &stats[i]);
        int64_t apart = (stats[1].finished_ps - stats[0].finished_ps) / SIM_PS_PER_NS; /* a frame: 86.6 ns */
        assert_true(burst ? apart > 860 && apart < 870 : apart > 80 && apart < 90);
        sim_free(sim);
        fixture_close(&f);

        open_star(&f, 2, GBPS(100));
        fixture_flow(&f, 0, 1, 0);
        f.hosts[0].nic.burst_bytes = burst ? 100000 : 0;
        f.hosts[0].settings.ecn_rp_mask = 1u << LOSSLESS;
        f.hosts[0].settings.dcqcn.rp.rpg_max_rate = 10000;
        sim = fixture_start(&f);
        fixture_run(sim, 10 * MS);
        double rate_bps = (double)counter_of(sim, false, 0, "tx_prio3_bytes") * 8 / 10e-3;
        assert_true(fabs(rate_bps / 10e9 - 1) < 0.01);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A turn is over when there is nothing to send: what a program posts then waits for its time. Messages keep
 * their distance within a turn. */
static void turns_keep_other_limits(void **state)
{
    (void)state;
    for (int distance = 0; distance < 2; distance++) {
        struct fixture f;
        open_star(&f, 2, GBPS(100));
        struct sim_flow_config *flow = fixture_flow(&f, 0, 1, 0);
        flow->message_bytes = 1000;
        flow->depth = distance ? 100 : 1;
        for (int h = 0; h < 2; h++) {
            f.hosts[h].pcie.generation = 4;
            f.hosts[h].pcie.lanes = 16;
            f.hosts[h].nic.burst_bytes = 100000;
            f.hosts[h].nic.queue_pair_messages_per_s = distance ? 1000000 : 0;
            f.hosts[h].software.post_ps = distance ? 0 : 100 * US;
        }
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, MS);
        int64_t sent = counter_of(sim, false, 0, "tx_prio3_packets");
        assert_true(distance ? sent >= 990 && sent <= 1001 : sent >= 9 && sent <= 11);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A pause with quanta that nobody repeats runs out. */
static void quanta_run_out(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 3, GBPS(100));
    fixture_flow(&f, 0, 2, 0);
    struct sim_storm_config storm = {
        .host = 0, .priority = LOSSLESS, .start_ps = 100 * US, .stop_ps = SIM_FOREVER};
    f.config.storms = &storm;
    f.config.storm_count = 1;
    f.hosts[0].nic.pause_quanta = 1000;
    f.hosts[0].nic.pause_refresh_percent = 100;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 200 * US);
    /* repeated at its end, the peer stays paused */
    assert_int_equal(counter_of(sim, true, 0, "port0_prio3_paused"), 1);
    assert_true(counter_of(sim, true, 0, "port0_rx_prio3_pause") >= 19);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- marking */

/* Between the thresholds a share of packets that grows with the queue, above all of them. */
static void marks_by_queue(void **state)
{
    (void)state;
    for (int at_enqueue = 0; at_enqueue < 2; at_enqueue++) {
        struct fixture f;
        open_star(&f, 3, GBPS(100));
        fixture_flow(&f, 0, 2, 300000);
        fixture_flow(&f, 1, 2, 300000);
        for (int h = 0; h < 3; h++) {
            f.hosts[h].settings.ecn_np_mask = 1u << LOSSLESS; /* senders do not react */
            f.hosts[h].settings.dcqcn.np.min_time_between_cnps = 0;
        }
        f.switches[0].physics.ecn =
            (struct physics_ecn){.kmin_bytes = 100000, .kmax_bytes = 200000, .pmax = 0.2, .at = at_enqueue};
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, MS);
        /* 300 times two frames come and one goes: the queue climbs to 300 frames of 1062 bytes, and falls
         * again. Above kmax (188 frames) come 224, and go 112 on the way up and 112 on the way down; between
         * the thresholds come 188 and go 94 and 94, marked at 10 % on average. */
        int64_t marked = counter_of(sim, true, 0, "ecn_marked"), expected = 243;
        assert_true(llabs(marked - expected) < expected / 10);
        assert_int_equal(counter_of(sim, false, 2, "np_ecn_marked_roce_packets"), marked);
        assert_int_equal(counter_of(sim, false, 2, "np_cnp_sent"), marked);
        assert_int_equal(hosts_counter(&f, sim, "rp_cnp_ignored"), marked);
        sim_free(sim);
        fixture_close(&f);
    }
}

static void cnps_are_paced(void **state)
{
    (void)state;
    int64_t sent[3];
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        open_star(&f, 3, GBPS(100));
        fixture_flow(&f, 0, 2, 0);
        fixture_flow(&f, 1, 2, 0);
        for (int h = 0; h < 3; h++) {
            f.hosts[h].settings.ecn_np_mask = 1u << LOSSLESS;
            f.hosts[h].settings.dcqcn.np.min_time_between_cnps = i ? 10 : 0;
            f.hosts[h].nic.cnp_pacing = i == 2 ? PACING_PORT : PACING_QUEUE_PAIR;
        }
        f.switches[0].physics.ecn = (struct physics_ecn){.kmin_bytes = 1, .kmax_bytes = 1, .pmax = 1};
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, MS);
        sent[i] = counter_of(sim, false, 2, "np_cnp_sent");
        sim_free(sim);
        fixture_close(&f);
    }
    assert_true(sent[0] > 10000);
    assert_true(sent[1] >= 198 && sent[1] <= 202); /* 100 for each queue pair */
    assert_true(sent[2] >= 99 && sent[2] <= 101);
}

/* CNPs without marks: two flows of two queue pairs each overflow a lossy port. */
static struct sim *lossy_incast(struct fixture *f, int unmarked_cnps, int64_t interval_ps, bool notifies)
{
    open_star(f, 3, GBPS(100));
    for (uint32_t h = 0; h < 2; h++) {
        struct sim_flow_config *flow = fixture_flow(f, h, 2, 0);
        flow->priority = 1;
        flow->queue_pairs = 2;
        flow->depth = 1;
        flow->message_bytes = 100000;
        flow->rate_bps = GBPS(26 + (int64_t)h); /* no fixed phase between hosts, whose lines have room */
    }
    for (int h = 0; h < 3; h++) {
        f->hosts[h].settings.ecn_np_mask = f->hosts[h].settings.ecn_rp_mask = notifies ? 1u << 1 : 0;
        f->hosts[h].nic.unmarked_cnps = unmarked_cnps;
        f->hosts[h].nic.unmarked_cnp_interval_ps = interval_ps;
        f->hosts[h].nic.ack_timeout_ps = 200 * US;
    }
    f->switches[0].physics.tail_drop_bytes = 100000;
    struct sim *sim = fixture_start(f);
    fixture_run(sim, 4 * MS);
    return sim;
}

static void loss_is_notified(void **state)
{
    (void)state;
    static const struct {
        int64_t interval_ps;
        int on;
        bool notifies, one_each;
    } cases[] = {{0, UNMARKED_CNPS_NEVER, true, false},
                 {0, UNMARKED_CNPS_LOSS, false, false},
                 {0, UNMARKED_CNPS_INGRESS, true, false}, /* an ideal NIC has no buffer that fills */
                 {0, UNMARKED_CNPS_LOSS, true, true},
                 {2 * MS, UNMARKED_CNPS_LOSS, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct sim *sim = lossy_incast(&f, cases[i].on, cases[i].interval_ps, cases[i].notifies);
        int64_t sent = counter_of(sim, false, 2, "np_cnp_sent");
        int64_t losses = counter_of(sim, false, 2, "out_of_sequence");
        assert_true(losses > 10);
        assert_int_equal(hosts_counter(&f, sim, "np_ecn_marked_roce_packets"), 0);
        assert_int_equal(hosts_counter(&f, sim, "rp_cnp_ignored"), 0);
        if (cases[i].one_each)
            assert_int_equal(sent, losses);
        else if (cases[i].interval_ps) /* at most two of each of the four queue pairs in 4 ms */
            assert_true(sent >= 4 && sent <= 8);
        else
            assert_int_equal(sent, 0);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A receiver that keeps up, one whose memory takes half of what comes, and one whose port does. */
static void ingress_is_notified(void **state)
{
    (void)state;
    for (int slow = 0; slow < 3; slow++) {
        struct fixture f;
        open_star(&f, 2, GBPS(100));
        fixture_flow(&f, 0, 1, 0);
        for (int h = 0; h < 2; h++) {
            f.hosts[h].pcie.generation = 5;
            f.hosts[h].pcie.lanes = 16;
            f.hosts[h].settings.mtu_bytes = 4200;
            f.hosts[h].settings.ecn_np_mask = f.hosts[h].settings.ecn_rp_mask = 1u << LOSSLESS;
            f.hosts[h].nic.unmarked_cnps = UNMARKED_CNPS_INGRESS;
            f.hosts[h].nic.unmarked_cnp_interval_ps = 50 * US;
            f.hosts[h].nic.unmarked_cnp_bytes = 50000;
            f.hosts[h].memories[SIM_MEMORY_HOST].write_bps = slow == 1 ? GBPS(50) : GBPS(800);
            if (slow == 2)
                f.hosts[h].nic.ingress = (struct physics_ingress){.rate_bps = GBPS(50),
                                                                  .depth_bytes = 100000,
                                                                  .loss_bytes = 2000,
                                                                  .rate_when_sending_bps = FIELD_UNSET};
            f.hosts[h].memories[SIM_MEMORY_HOST].read_bps = GBPS(800);
        }
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, MS);
        int64_t sent = counter_of(sim, false, 1, "np_cnp_sent");
        assert_true(slow ? sent > 2 && sent <= 20 : sent == 0);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* The first CNP leaves cnp_delay after the first marked packet has come, and none is lost on the way. */
static void cnps_are_delayed(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 3, GBPS(100));
    fixture_flow(&f, 0, 2, 0);
    fixture_flow(&f, 1, 2, 0);
    for (int h = 0; h < 3; h++) {
        f.hosts[h].settings.ecn_np_mask = 1u << LOSSLESS;
        f.hosts[h].settings.dcqcn.np.min_time_between_cnps = 0;
        f.hosts[h].nic.cnp_delay_ps = 55 * US;
    }
    f.switches[0].physics.ecn = (struct physics_ecn){.kmin_bytes = 1, .kmax_bytes = 1, .pmax = 1};
    struct sim *sim = fixture_start(&f);
    int64_t now_ps = 0;
    while (!counter_of(sim, false, 2, "np_ecn_marked_roce_packets") && now_ps < MS)
        fixture_run(sim, now_ps += SIM_PS_PER_US / 2);
    fixture_run(sim, now_ps + 54 * US);
    assert_int_equal(counter_of(sim, false, 2, "np_cnp_sent"), 0);
    int64_t marked = counter_of(sim, false, 2, "np_ecn_marked_roce_packets");
    assert_true(marked > 10);
    fixture_run(sim, now_ps + (54 + 55) * US);
    assert_int_equal(counter_of(sim, false, 2, "np_cnp_sent"), marked);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- scheduling */

static void two_priorities(struct fixture *f, int32_t first, int32_t second)
{
    open_star(f, 3, GBPS(100));
    fixture_flow(f, 0, 2, 0)->priority = first;
    fixture_flow(f, 1, 2, 0)->priority = second;
    f->switches[0].pfc_mask = (uint8_t)(1u << first | 1u << second);
    for (int h = 0; h < 3; h++)
        f->hosts[h].settings.pfc_mask = f->switches[0].pfc_mask;
}

static void higher_priority_goes_first(void **state)
{
    (void)state;
    struct fixture f;
    two_priorities(&f, 2, 5);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 5 * MS);
    assert_true(goodput_gbps(sim, 1) > 90 && goodput_gbps(sim, 0) < 4);
    sim_free(sim);
    fixture_close(&f);
}

static void weights_share_the_port(void **state)
{
    (void)state;
    struct fixture f;
    two_priorities(&f, 2, 5);
    f.switches[0].tc_weight[2] = 70;
    f.switches[0].tc_weight[5] = 30;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 5 * MS);
    assert_true(fabs(goodput_gbps(sim, 0) / goodput_gbps(sim, 1) / (70.0 / 30) - 1) < 0.03);
    assert_true(goodput_gbps(sim, 0) + goodput_gbps(sim, 1) > 90);
    sim_free(sim);
    fixture_close(&f);
}

static void latency_adds_up(void **state)
{
    (void)state;
    int64_t finished_ps[2];
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        struct sim_flow_stats stats;
        open_star(&f, 2, GBPS(100));
        fixture_flow(&f, 0, 1, 5000);
        f.switches[0].physics.latency_ps = i * 700 * SIM_PS_PER_NS;
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, MS);
        sim_flow_stats(sim, 0, &stats);
        finished_ps[i] = stats.finished_ps;
        sim_free(sim);
        fixture_close(&f);
    }
    assert_int_equal(finished_ps[1] - finished_ps[0], 2 * 700 * SIM_PS_PER_NS); /* data and ACK */
}

/* ---- watchdog */

/* Host 2 pauses its port from 1 to 3 ms; hosts 0 and 1 send to it, and host 0 to host 3 as well. */
static void open_storm(struct fixture *f, struct sim_storm_config *storm, int64_t detect_ps,
                       enum physics_watchdog_action action)
{
    open_star(f, 4, GBPS(100));
    fixture_flow(f, 0, 2, 0);
    fixture_flow(f, 1, 2, 0);
    fixture_flow(f, 0, 3, 0);
    *storm = (struct sim_storm_config){.host = 2, .priority = LOSSLESS, .start_ps = MS, .stop_ps = 3 * MS};
    f->config.storms = storm;
    f->config.storm_count = 1;
    f->switches[0].physics.watchdog =
        (struct physics_watchdog){.detect_ps = detect_ps, .restore_ps = 200 * US, .action = action};
    for (int h = 0; h < 4; h++)
        f->hosts[h].nic.ack_timeout_ps = MS;
}

/* The first of two storms at a host ends within the second. */
static void storms_overlap(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2, GBPS(100));
    fixture_flow(&f, 0, 1, 0);
    struct sim_storm_config storms[] = {
        {.host = 1, .priority = LOSSLESS, .start_ps = MS, .stop_ps = 2 * MS},
        {.host = 1, .priority = LOSSLESS, .start_ps = 1500 * US, .stop_ps = 3 * MS}};
    f.config.storms = storms;
    f.config.storm_count = 2;
    f.hosts[0].nic.ack_timeout_ps = 10 * MS;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2100 * US);
    assert_int_equal(counter_of(sim, true, 0, "port1_prio3_paused"), 1);
    fixture_run(sim, 2900 * US);
    int64_t paused_us = counter_of(sim, true, 0, "port1_rx_prio3_pause_duration");
    assert_true(paused_us > 1890 && paused_us < 1900);
    fixture_run(sim, 3100 * US);
    assert_int_equal(counter_of(sim, true, 0, "port1_prio3_paused"), 0);
    sim_free(sim);
    fixture_close(&f);
}

static void storm_stops_bystanders(void **state)
{
    (void)state;
    struct sim_storm_config storm;
    struct fixture f;
    open_storm(&f, &storm, 0, WATCHDOG_DROP);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2500 * US);
    int64_t before = flow_acked_bytes(sim, 2);
    fixture_run(sim, 2900 * US);
    assert_int_equal(flow_acked_bytes(sim, 2), before); /* host 0 is paused for all it sends */
    fixture_run(sim, 4 * MS);
    assert_true(flow_acked_bytes(sim, 2) > before); /* the storm is over */
    assert_int_equal(counter_of(sim, true, 0, "watchdog_storms"), 0);
    sim_free(sim);
    fixture_close(&f);
}

static void watchdog_frees_bystanders(void **state)
{
    (void)state;
    for (int action = 0; action < 2; action++) {
        struct sim_storm_config storm;
        struct fixture f;
        open_storm(&f, &storm, 200 * US, (enum physics_watchdog_action)action);
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 2500 * US);
        int64_t before = flow_acked_bytes(sim, 2), victim = flow_acked_bytes(sim, 0);
        fixture_run(sim, 2900 * US);
        assert_true(flow_acked_bytes(sim, 2) > before);
        assert_int_equal(counter_of(sim, true, 0, "watchdog_storms"), 1);
        assert_int_equal(counter_of(sim, true, 0, "watchdog_restores"), 0);
        if (action == WATCHDOG_DROP) {
            assert_true(counter_of(sim, true, 0, "watchdog_discards") > 0);
            assert_int_equal(flow_acked_bytes(sim, 0), victim);
        } else {
            assert_int_equal(counter_of(sim, true, 0, "watchdog_discards"), 0);
            assert_true(flow_acked_bytes(sim, 0) > victim);
        }
        fixture_run(sim, 12 * MS);
        assert_int_equal(counter_of(sim, true, 0, "watchdog_restores"), 1);
        assert_true(flow_acked_bytes(sim, 0) > victim); /* it goes on after the storm */
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A frame that the watchdog drops may have paused its sender: nothing of it leaves the switch any more, and
 * it goes on all the same. */
static void dropped_frames_end_their_pause(void **state)
{
    (void)state;
    struct sim_storm_config storm;
    struct fixture f;
    open_storm(&f, &storm, 200 * US, WATCHDOG_DROP);
    f.switches[0].physics.reserve_bytes = 0;
    f.switches[0].physics.xoff_bytes = 1;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2900 * US);
    assert_true(counter_of(sim, true, 0, "watchdog_discards") > 0);
    int64_t before = flow_acked_bytes(sim, 1);
    fixture_run(sim, 12 * MS);
    assert_true(flow_acked_bytes(sim, 1) > before);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- paths */

/* In a fat tree flows between pods spread over the core; none is lost on the way and each takes one path. */
static void paths_spread(void **state)
{
    (void)state;
    struct sim_topology t;
    struct fixture f;
    struct error e;
    assert_int_equal(sim_topology_fat_tree(&t, 8, GBPS(100), US, &e), 0);
    assert_int_equal(t.host_count, 128);
    assert_int_equal(t.switch_count, 80);
    fixture_open(&f, &t);
    for (uint32_t h = 0; h < 128; h++)
        fixture_flow(&f, h, (h + 64) % 128, 20000);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, MS);
    uint32_t cores_used = 0;
    for (uint32_t s = 64; s < 80; s++)
        cores_used +=
            counter_of(sim, true, s, "port0_rx_bytes") > 0 || counter_of(sim, true, s, "port1_rx_bytes") > 0;
    for (size_t i = 0; i < 128; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        assert_true(stats.finished_ps >= sim_flow_ideal_ps(sim, i) - SIM_PS_PER_NS);
    }
    assert_true(cores_used >= 12);
    assert_int_equal(hosts_counter(&f, sim, "out_of_sequence"), 0);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- what a configuration must not say */

static void refused(const struct fixture *f, const char *word)
{
    struct error e = {""};
    struct sim *sim = sim_new(&f->config, &e);
    if (sim)
        fail_msg("accepted, expected a sentence with \"%s\"", word);
    if (!strstr(e.text, word))
        fail_msg("\"%s\" does not say \"%s\"", e.text, word);
}

static void bad_switches_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 3, GBPS(100));
    fixture_flow(&f, 0, 2, 0);
    struct sim_switch_config *s = &f.switches[0], good = *s;
    s->name = "leaf7";
    s->physics.buffer_bytes = 50000;
    refused(&f, "leaf7");
    *s = good;
    s->physics.buffer_bytes = 0;
    refused(&f, "buffer");
    *s = good;
    s->physics.xoff_alpha = NAN;
    refused(&f, "xoff_alpha");
    *s = good;
    s->physics.ecn = (struct physics_ecn){.kmin_bytes = 2000, .kmax_bytes = 1000, .pmax = 0.1};
    refused(&f, "kmin");
    *s = good;
    s->physics.ecn = (struct physics_ecn){.kmin_bytes = 2000, .kmax_bytes = 3000, .pmax = 1.5};
    refused(&f, "pmax");
    *s = good;
    s->tc_weight[0] = 101;
    refused(&f, "weights");
    *s = good;
    s->physics.watchdog.detect_ps = -1;
    refused(&f, "watchdog");
    *s = good;
    f.hosts[0].settings.dcqcn.rp.dce_tcp_rtt = 0;
    refused(&f, "dce_tcp_rtt");
    f.hosts[0].settings.dcqcn.rp.dce_tcp_rtt = 1;
    f.topology.links[2].b.index = 1;
    refused(&f, "link 2");
    f.topology.links[2].b.index = 0;
    struct sim_storm_config storm = {.host = 9, .stop_ps = 1};
    f.config.storms = &storm;
    f.config.storm_count = 1;
    refused(&f, "storm");
    fixture_close(&f);
}

static void unreachable_host_is_named(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_dumbbell(&t, 2, GBPS(100), US, &e), 0);
    t.link_count--; /* the link between the switches */
    fixture_open(&f, &t);
    f.hosts[3].name = "island";
    fixture_flow(&f, 0, 3, 0);
    refused(&f, "island");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dynamic_thresholds_share),
        cmocka_unit_test(static_threshold_holds),
        cmocka_unit_test(paced_queue_pairs_have_their_rates),
        cmocka_unit_test(headroom_decides_over_loss),
        cmocka_unit_test(lossy_queue_is_bounded),
        cmocka_unit_test(tail_drop_fills_with_the_excess),
        cmocka_unit_test(jitter_ends_lockout),
        cmocka_unit_test(turns_have_their_length),
        cmocka_unit_test(turns_keep_other_limits),
        cmocka_unit_test(quanta_run_out),
        cmocka_unit_test(marks_by_queue),
        cmocka_unit_test(cnps_are_paced),
        cmocka_unit_test(loss_is_notified),
        cmocka_unit_test(ingress_is_notified),
        cmocka_unit_test(cnps_are_delayed),
        cmocka_unit_test(higher_priority_goes_first),
        cmocka_unit_test(weights_share_the_port),
        cmocka_unit_test(latency_adds_up),
        cmocka_unit_test(storms_overlap),
        cmocka_unit_test(storm_stops_bystanders),
        cmocka_unit_test(watchdog_frees_bystanders),
        cmocka_unit_test(dropped_frames_end_their_pause),
        cmocka_unit_test(paths_spread),
        cmocka_unit_test(bad_switches_are_refused),
        cmocka_unit_test(unreachable_host_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
