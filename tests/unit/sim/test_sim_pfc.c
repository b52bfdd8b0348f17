/* Priority flow control in the simulator: pause frames, quanta, refresh, thresholds, headroom. */
#include "tests/unit/sim/sim_two_hosts.h"

#include "lib/physics/fabric.h"
#include "sim/model.h"

#define US        SIM_PS_PER_US
#define MS        (SIM_PS_PER_S / 1000)
#define QUANTA_PS (INT64_C(65535) * 512 * 40) /* 65535 quanta of 512 bits at 25 Gb/s */

static bool is_paused(const struct two_hosts *t, uint32_t host, unsigned priority)
{
    return t->sim->ports[t->sim->hosts[host].port].paused >> queue_of(priority) & 1;
}

/* XOFF keeps the other end from sending on its priority, and no other, until XON. */
static void xoff_and_xon(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    for (uint32_t h = 0; h < 2; h++)
        t.hosts[h].settings.pfc_mask = 1 << 0 | 1 << 3;
    two_hosts_flow(&t, 0);
    two_hosts_flow(&t, 0)->priority = 3;
    two_hosts_run(&t, MS);
    uint32_t port = t.sim->hosts[1].port;
    pfc_xoff(t.sim, port, 1 << 3);
    pfc_xoff(t.sim, port, 1 << 3); /* once is enough */
    two_hosts_run(&t, MS + 20 * US);
    assert_true(is_paused(&t, 0, 3) && !is_paused(&t, 0, 0));
    int64_t sent0 = two_hosts_value(&t, 0, "tx_prio0_packets"),
            sent3 = two_hosts_value(&t, 0, "tx_prio3_packets");
    two_hosts_run(&t, MS + 320 * US);
    assert_int_equal(two_hosts_value(&t, 0, "tx_prio3_packets"), sent3);
    assert_true(two_hosts_value(&t, 0, "tx_prio0_packets") - sent0 >
                220); /* all of the wire: one each 1.34 us */
    pfc_xon(t.sim, port, 1 << 3);
    two_hosts_run(&t, MS + 340 * US);
    assert_false(is_paused(&t, 0, 3));
    assert_true(two_hosts_value(&t, 0, "tx_prio3_packets") > sent3);
    assert_int_equal(two_hosts_value(&t, 0, "rx_prio3_pause"), 2);
    assert_int_equal(two_hosts_value(&t, 1, "tx_prio3_pause"), 2);
    assert_int_equal(two_hosts_value(&t, 0, "rx_prio3_pause_transition"), 1);
    assert_int_equal(two_hosts_value(&t, 0, "rx_prio0_pause"), 0);
    assert_close((double)two_hosts_value(&t, 0, "rx_prio3_pause_duration"), 320, 0.01);
    assert_close((double)two_hosts_value(&t, 1, "tx_prio3_pause_duration"), 320, 0.01);
    two_hosts_close(&t);
}

/* A pause that is not repeated runs out after its quanta. */
static void quanta_run_out(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    two_hosts_start(&t);
    uint32_t port = t.sim->hosts[1].port;
    pfc_xoff(t.sim, port, 1);
    t.sim->ports[port].xoff = 0; /* the pausing end forgets: no refresh, no XON */
    two_hosts_run(&t, QUANTA_PS - US);
    assert_true(is_paused(&t, 0, 0));
    /* A pause that lasts is in the counter already. */
    assert_close((double)two_hosts_value(&t, 0, "rx_prio0_pause_duration"), (double)QUANTA_PS / 1e6, 0.01);
    two_hosts_run(&t, QUANTA_PS + US);
    assert_false(is_paused(&t, 0, 0));
    assert_int_equal(two_hosts_value(&t, 0, "rx_prio0_pause_transition"), 1);
    assert_close((double)two_hosts_value(&t, 0, "rx_prio0_pause_duration"), (double)QUANTA_PS / 1e6, 0.001);
    two_hosts_close(&t);
}

/* While the reason lasts the pause is repeated, so it does not run out. */
static void a_lasting_pause_is_repeated(void **state)
{
    static const int percents[] = {25, 50, 90};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct two_hosts t;
        two_hosts_init(&t);
        t.hosts[1].nic.pause_refresh_percent = percents[i];
        two_hosts_start(&t);
        pfc_xoff(t.sim, t.sim->hosts[1].port, 1);
        two_hosts_run(&t, 10 * QUANTA_PS - US);
        assert_true(is_paused(&t, 0, 0));
        assert_int_equal(two_hosts_value(&t, 0, "rx_prio0_pause_transition"), 0);
        int64_t expected = 1 + (10 * QUANTA_PS - US) / (QUANTA_PS / 100 * percents[i]);
        assert_int_equal(two_hosts_value(&t, 1, "tx_prio0_pause"), expected);
        two_hosts_close(&t);
    }
}

/* A pause of another priority that ends earlier is not kept by one that ends later. */
static void priorities_end_on_their_own(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    t.hosts[0].settings.pfc_mask = t.hosts[1].settings.pfc_mask = 3;
    two_hosts_start(&t);
    struct port *port = &t.sim->ports[t.sim->hosts[1].port];
    pfc_xoff(t.sim, t.sim->hosts[1].port, 1);
    port->quanta = 1000;
    pfc_xoff(t.sim, t.sim->hosts[1].port, 2);
    port->xoff = 0;
    two_hosts_run(&t, 10 * US);
    assert_true(is_paused(&t, 0, 0) && is_paused(&t, 0, 1));
    two_hosts_run(&t, 1000 * 512 * 40 + US);
    assert_true(is_paused(&t, 0, 0) && !is_paused(&t, 0, 1));
    two_hosts_close(&t);
}

static void expect_paused(struct two_hosts *t, int64_t *now_ps, bool paused)
{
    two_hosts_run(t, *now_ps += 20 * US);
    assert_int_equal(is_paused(t, 0, 0), paused);
}

/* A buffer and faults pause the same priority: it goes on when the last of them lets go. */
static void each_reason_pauses(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    two_hosts_start(&t);
    uint32_t port = t.sim->hosts[1].port;
    int64_t now_ps = 0;
    pfc_xoff(t.sim, port, 1);
    pfc_hold(t.sim, port, 1);
    pfc_xon(t.sim, port, 1); /* the storm lasts */
    expect_paused(&t, &now_ps, true);
    pfc_xoff(t.sim, port, 1);
    pfc_let_go(t.sim, port, 1); /* the buffer is full */
    expect_paused(&t, &now_ps, true);
    pfc_hold(t.sim, port, 1);
    pfc_hold(t.sim, port, 3);
    pfc_xon(t.sim, port, 1);
    pfc_let_go(t.sim, port, 1);
    expect_paused(&t, &now_ps, true);
    assert_int_equal(two_hosts_value(&t, 1, "tx_prio0_pause"), 1);
    pfc_let_go(t.sim, port, 3);
    expect_paused(&t, &now_ps, false);
    assert_false(is_paused(&t, 0, 1));
    assert_int_equal(two_hosts_value(&t, 1, "tx_prio0_pause"), 2);
    assert_int_equal(two_hosts_value(&t, 1, "tx_prio0_pause_duration"), 60);
    two_hosts_close(&t);
}

/* A receiver whose memory is slower than the wire: the buffer swings between XON and XOFF, and nothing is
 * lost. */
static void a_slow_receiver_pauses(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    t.hosts[1].memories[SIM_MEMORY_HOST].write_bps = INT64_C(16000000000);
    t.hosts[1].settings.buffer_bytes[0] = 114944;
    t.hosts[1].settings.cable_mm = 1000;
    t.config.pause_log_capacity = 100000;
    two_hosts_flow(&t, 0);
    two_hosts_run(&t, 100 * MS);
    struct sim_thresholds at = sim_host_thresholds(t.sim, 1, 0);
    assert_int_equal(at.xoff_bytes, 91392);
    assert_int_equal(at.xon_bytes, 81408);
    assert_close(two_hosts_bytes_per_s(&t, 0), 2e9, 0.01);
    int64_t pauses = two_hosts_value(&t, 0, "rx_prio0_pause"),
            transitions = two_hosts_value(&t, 0, "rx_prio0_pause_transition");
    assert_true(pauses > 1000 && pauses - 2 * transitions <= 1);
    int64_t peak = two_hosts_value(&t, 1, "rx_buffer0_peak_bytes");
    /* What is under way when XOFF is sent: a frame that has begun at either end, the cable, a frame's
     * cells. */
    assert_true(peak >= at.xoff_bytes && peak < at.xoff_bytes + 4 * 4224);
    assert_int_equal(two_hosts_value(&t, 1, "rx_discards_phy"), 0);
    assert_int_equal(two_hosts_stats(&t, 0).retransmitted_packets, 0);
    /* The log of pauses agrees with the counters. */
    const struct sim_pause *log;
    size_t count = sim_pauses(t.sim, &log);
    int64_t paused_ps = 0;
    assert_int_equal(count, transitions);
    for (size_t i = 0; i < count; i++) {
        assert_true(log[i].end_ps > log[i].start_ps && log[i].node.index == 0 && log[i].priority == 0);
        assert_true(i == 0 || log[i].start_ps >= log[i - 1].end_ps);
        paused_ps += log[i].end_ps - log[i].start_ps;
    }
    assert_close((double)paused_ps / 1e6, (double)two_hosts_value(&t, 0, "rx_prio0_pause_duration"), 0.01);
    /* 2.0 of 3.06 GB/s: the wire is silent for the rest of the time; a frame that had begun ends inside the
     * pause. */
    double silent = 1 - 2e9 / 3.0628e9, share = (double)paused_ps / (100e-3 * 1e12);
    double frames = (double)transitions * 4178 * 320 / (100e-3 * 1e12);
    assert_true(share > silent * 0.99 && share < silent * 1.01 + frames);
    two_hosts_close(&t);
}

/* Without PFC the same receiver loses frames, and go-back-N repairs it. */
static void without_pfc_it_loses(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    t.hosts[0].settings.pfc_mask = t.hosts[1].settings.pfc_mask = 0;
    t.hosts[1].memories[SIM_MEMORY_HOST].write_bps = INT64_C(16000000000);
    two_hosts_flow(&t, 0)->message_count = 500;
    two_hosts_run(&t, 1000 * MS);
    assert_true(two_hosts_value(&t, 1, "rx_discards_phy") > 0);
    assert_true(two_hosts_value(&t, 1, "rx_prio0_discards") == two_hosts_value(&t, 1, "rx_discards_phy"));
    assert_true(two_hosts_stats(&t, 0).retransmitted_packets > 0);
    assert_int_equal(two_hosts_stats(&t, 0).messages, 500);
    two_hosts_close(&t);
}

/* Headroom is the cable's length: what suffices for a short one is too little for a long one. */
static void headroom_and_cable(void **state)
{
    (void)state;
    int64_t lost[2];
    for (int i = 0; i < 2; i++) {
        struct two_hosts t;
        two_hosts_init(&t);
        t.link.delay_ps =
            (i ? 2000000 : 1000) * PHYSICS_CABLE_PS_PER_MM; /* 2 km or 1 m, both said to be 1 m */
        t.hosts[1].settings.cable_mm = 1000;
        t.hosts[1].settings.buffer_bytes[0] = 114944;
        t.hosts[1].memories[SIM_MEMORY_HOST].write_bps = INT64_C(4000000000);
        two_hosts_flow(&t, 0);
        two_hosts_run(&t, 20 * MS);
        lost[i] = two_hosts_value(&t, 1, "rx_discards_phy");
        two_hosts_close(&t);
    }
    assert_int_equal(lost[0], 0);
    assert_true(lost[1] > 0);
}

/* Two priorities of one buffer are paused together, one of another buffer is not. */
static void buffers_and_priorities(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    for (uint32_t h = 0; h < 2; h++) {
        struct sim_settings *s = &t.hosts[h].settings;
        s->pfc_mask = 1 << 1 | 1 << 2 | 1 << 5;
        s->prio_to_buffer[1] = s->prio_to_buffer[2] = 1;
        s->prio_to_buffer[5] = 2;
        s->buffer_bytes[0] = 0;
        s->buffer_bytes[1] = s->buffer_bytes[2] = 100000;
    }
    t.hosts[1].memories[SIM_MEMORY_GPU].write_bps = INT64_C(8000000000);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->priority = 1;
    f->from_memory = f->to_memory = SIM_MEMORY_GPU;
    two_hosts_run(&t, 10 * MS);
    assert_true(two_hosts_value(&t, 0, "rx_prio1_pause") > 0);
    assert_int_equal(two_hosts_value(&t, 0, "rx_prio1_pause"), two_hosts_value(&t, 0, "rx_prio2_pause"));
    assert_int_equal(two_hosts_value(&t, 0, "rx_prio5_pause"), 0);
    two_hosts_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xoff_and_xon),
        cmocka_unit_test(quanta_run_out),
        cmocka_unit_test(a_lasting_pause_is_repeated),
        cmocka_unit_test(priorities_end_on_their_own),
        cmocka_unit_test(each_reason_pauses),
        cmocka_unit_test(a_slow_receiver_pauses),
        cmocka_unit_test(without_pfc_it_loses),
        cmocka_unit_test(headroom_and_cable),
        cmocka_unit_test(buffers_and_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
