/* The software congestion point: RED as the kernel computes it, byte queue limits, a bridge between two
 * hosts. */
#include "sim/fabric/byte_queue.h"
#include "sim/fabric/red.h"
#include "tests/unit/sim/sim_fixture.h"
#include <math.h>

#define US      SIM_PS_PER_US
#define MS      (1000 * US)
#define BPS_25G INT64_C(25000000000)

/* tc qdisc add dev X root red limit 2000000 min 50000 max 200000 avpkt 1500 bandwidth 25Gbit ecn probability
 * 0.5 */
static const struct settings_red published = {.limit_bytes = 2000000,
                                              .min_bytes = 50000,
                                              .max_bytes = 200000,
                                              .avpkt_bytes = 1500,
                                              .bandwidth_bps = BPS_25G,
                                              .probability = 0.5,
                                              .ecn = true};

static struct red opened(const struct settings_red *config)
{
    struct red red;
    struct error e;
    if (red_init(&red, config, &e))
        fail_msg("%s", e.text);
    return red;
}

/* ---- RED */

static void parameters_as_tc_derives_them(void **state)
{
    (void)state;
    struct red red = opened(&published);
    assert_int_equal(red.derived.wlog, 6);
    assert_int_equal(red.derived.plog, 19);
    assert_int_equal(red.derived.stab[0], 0);
    assert_int_equal(red.derived.stab[RED_STAB_SIZE - 1], 31);
    for (int i = 1; i < RED_STAB_SIZE; i++)
        assert_true(red.derived.stab[i] >= red.derived.stab[i - 1]);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    struct red red;
    struct error e;
    struct settings_red c = published;
    c.max_bytes = c.min_bytes;
    assert_int_equal(red_init(&red, &c, &e), -1);
    c = published;
    c.probability = 0;
    assert_int_equal(red_init(&red, &c, &e), -1);
    c = published;
    c.burst = 1; /* min / avpkt alone is 33 packets */
    assert_int_equal(red_init(&red, &c, &e), -1);
    assert_non_null(strstr(e.text, "burst"));
    c = published;
    c.max_bytes = INT64_C(1) << 30;
    assert_int_equal(red_init(&red, &c, &e), -1);
}

/* avg += (backlog - avg) / 2^Wlog at each packet. */
static void average_follows_the_backlog(void **state)
{
    (void)state;
    struct red red = opened(&published);
    struct random random;
    random_seed(&random, 1);
    double average = 0;
    for (int i = 0; i < 300; i++) {
        red_enqueue(&red, &random, i * US, 40000, 1500, true);
        average += (40000 - average) / 64;
        assert_true(fabs((double)red.average / 64 - average) < 2);
    }
    /* 60 us without packets are 125 packets' time. tc's table gives -ln((1 - 1/64)^125) = 1.97, rounded down,
     * and the kernel shifts by that: halves, though the exact average would be a seventh. */
    uint64_t before = red.average;
    red_idle(&red, 300 * US);
    red_enqueue(&red, &random, 360 * US, 0, 1500, true);
    assert_int_equal(red.average, before >> 1);
}

/* Marks at a standing average are spread evenly: the count since the last one raises the probability, so that
 * the gap between marks is uniform over 1..1/p. (Floyd and Jacobson, section 7) */
static void marks_are_spread_evenly(void **state)
{
    (void)state;
    struct red red = opened(&published);
    struct random random;
    random_seed(&random, 7);
    int64_t marks = 0, last = 0, longest = 0;
    const int64_t packets = 200000;
    for (int64_t i = 0; i < packets; i++) {
        if (red_enqueue(&red, &random, i * US, 80000, 1500, true) != RED_MARK)
            continue;
        if (i > 2000 && i - last > longest) /* the average has settled */
            longest = i - last;
        last = i;
        marks++;
    }
    double p = 0.5 * (80000 - 50000) / (200000 - 50000), mean_gap = (double)packets / (double)marks;
    assert_true(fabs(mean_gap / ((1 / p + 1) / 2) - 1) < 0.03);
    assert_true((double)longest <= 1 / p + 2);
    assert_int_equal(red.prob_mark, marks);
    assert_int_equal(red.prob_drop + red.forced_mark + red.forced_drop + red.pdrop, 0);
}

static void what_cannot_be_marked_is_dropped(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 1);
    struct red red = opened(&published);
    for (int i = 0; i < 1000; i++)
        red_enqueue(&red, &random, i * US, 1000000, 1500, false);
    assert_int_equal(red_enqueue(&red, &random, 2000 * US, 1000000, 1500, false), RED_DROP);
    assert_int_equal(red_enqueue(&red, &random, 2000 * US, 1000000, 1500, true), RED_MARK);
    assert_int_equal(red_enqueue(&red, &random, 2000 * US, 1999999, 1500, true), RED_DROP);
    assert_int_equal(red.pdrop, 1);
    struct settings_red hard = published;
    hard.ecn = false;
    red = opened(&hard);
    for (int i = 0; i < 1000; i++)
        red_enqueue(&red, &random, i * US, 1000000, 1500, true);
    assert_true(red.forced_drop > 500 && red.forced_mark == 0);
}

/* ---- byte queue limits */

/* A device that is handed back 40 packets at a time: the limit grows until it never runs dry, and no
 * further. */
static void limit_grows_to_what_is_needed(void **state)
{
    (void)state;
    struct byte_queue q;
    byte_queue_init(&q, 10 << 20);
    int64_t now_ps = 0;
    for (int round = 0; round < 1000; round++, now_ps += 50 * US) {
        for (int i = 0; i < 40 && byte_queue_open(&q); i++)
            byte_queue_add(&q, 1500);
        byte_queue_complete(&q, q.queued - q.completed, now_ps);
    }
    assert_true(q.limit >= 38 * 1500 && q.limit <= 120 * 1500);
    byte_queue_init(&q, 5000);
    for (int round = 0; round < 100; round++, now_ps += 50 * US) {
        for (int i = 0; i < 40 && byte_queue_open(&q); i++)
            byte_queue_add(&q, 1500);
        byte_queue_complete(&q, q.queued - q.completed, now_ps);
    }
    assert_int_equal(q.limit, 5000);
}

/* ---- a bridge */

struct pair {
    struct sim_config config;
    struct sim_host_config hosts[2];
    struct sim_link_config links[2];
    struct sim_flow_config flow;
    struct sim_bridge_config bridge;
};

static void open_pair(struct pair *p)
{
    memset(p, 0, sizeof *p);
    sim_config_defaults(&p->config);
    for (uint32_t i = 0; i < 2; i++) {
        sim_host_defaults(&p->hosts[i]);
        p->hosts[i].settings.mtu_bytes = 4200;
        p->hosts[i].settings.ecn_rp_mask = p->hosts[i].settings.ecn_np_mask = 1;
        p->hosts[i].settings.dcqcn.np.min_time_between_cnps = 0;
        p->hosts[i].nic.ack_timeout_ps = 6 * MS;
        p->links[i] = (struct sim_link_config){
            .a = {SIM_HOST, i}, .b = {SIM_BRIDGE, 0}, .rate_bps = BPS_25G, .delay_ps = 5000};
    }
    sim_bridge_defaults(&p->bridge);
    p->bridge.physics.frame_ps = 2120 * SIM_PS_PER_NS;
    p->bridge.physics.interrupt_ps = 4300 * SIM_PS_PER_NS;
    p->bridge.physics.rx_ring = 8192;
    sim_flow_defaults(&p->flow);
    p->flow.to = 1;
    p->config.hosts = p->hosts;
    p->config.host_count = 2;
    p->config.links = p->links;
    p->config.link_count = 2;
    p->config.flows = &p->flow;
    p->config.flow_count = 1;
    p->config.bridges = &p->bridge;
    p->config.bridge_count = 1;
}

static struct sim *run_pair(const struct pair *p, int64_t duration_ps)
{
    struct error e;
    struct sim *sim = sim_new(&p->config, &e);
    if (!sim)
        fail_msg("%s", e.text);
    fixture_run(sim, duration_ps);
    return sim;
}

static int64_t of_bridge(const struct sim *sim, const char *name)
{
    const struct sim_counter *columns;
    int64_t values[64];
    size_t count = sim_bridge_counters(sim, 0, &columns);
    assert_true(count <= 64);
    sim_bridge_values(sim, 0, values);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(columns[i].name, name))
            return values[i];
    fail_msg("no column %s", name);
    return -1;
}

static double goodput_mibps(const struct sim *sim)
{
    return (double)flow_acked_bytes(sim, 0) / 1048576 * 1e12 / (double)sim_now_ps(sim);
}

/* The CPU spends its time on data, and on an ACK every message. */
static void cpu_limits_forwarding(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct sim *sim = run_pair(&p, 300 * MS);
    double frames_per_s = 1e12 / (double)p.bridge.physics.frame_ps;
    double expected = frames_per_s * 16 / 17 * 4096 / 1048576; /* 16 packets a message */
    assert_true(fabs(goodput_mibps(sim) / expected - 1) < 0.03);
    assert_true(of_bridge(sim, "softirq_busy") > 295000);
    assert_int_equal(of_bridge(sim, "rx_out_of_buffer"), 0);
    assert_int_equal(counter_of(sim, false, 0, "packet_seq_err"), 0);
    sim_free(sim);
}

static void short_ring_loses(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    p.bridge.physics.rx_ring = 1024;
    struct sim *sim = run_pair(&p, 300 * MS);
    assert_true(of_bridge(sim, "rx_out_of_buffer") > 1000);
    assert_true(counter_of(sim, false, 0, "packet_seq_err") > 3);
    int64_t under_way =
        counter_of(sim, false, 1, "out_of_sequence") - counter_of(sim, false, 0, "packet_seq_err");
    assert_true(under_way == 0 || under_way == 1);
    assert_true(goodput_mibps(sim) > 300);
    sim_free(sim);
}

/* Once nothing is under way: marks, marked packets received, CNPs sent and handled are one number. */
static void loop_is_closed(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    p.bridge.red = published;
    p.bridge.physics.tx_limit_bytes = 258000;
    p.flow.stop_ps = 300 * MS;
    struct sim *sim = run_pair(&p, 320 * MS);
    int64_t marked = of_bridge(sim, "qdisc_port1_marked");
    assert_true(marked > 100);
    assert_int_equal(of_bridge(sim, "qdisc_port0_marked"), 0);
    assert_int_equal(counter_of(sim, false, 1, "np_ecn_marked_roce_packets"), marked);
    assert_int_equal(counter_of(sim, false, 1, "np_cnp_sent"), marked);
    assert_int_equal(counter_of(sim, false, 0, "rp_cnp_handled"), marked);
    assert_int_equal(counter_of(sim, false, 0, "rp_cnp_ignored"), 0);
    assert_int_equal(counter_of(sim, false, 0, "np_cnp_sent"), 0);
    assert_int_equal(counter_of(sim, false, 0, "packet_seq_err"), 0);
    sim_free(sim);
}

/* Alone on the way, a frame waits for its interrupt and its processing, both ways. */
static void latency_of_one_frame(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    p.flow.mode = SIM_PING_PONG;
    p.flow.message_bytes = 2;
    p.flow.depth = 1;
    p.flow.record_latency = true;
    p.bridge.physics.adaptive = false;
    p.bridge.physics.coalesce_ps = 0;
    struct sim *sim = run_pair(&p, 20 * MS);
    double expected_us = 4.3 + 2.12,
           seen_us = (double)histogram_quantile(sim_flow_latency(sim, 0), 0.5) / 1e6;
    assert_true(seen_us > expected_us && seen_us < expected_us * 1.5); /* ACKs are in the way at times */
    sim_free(sim);
}

static void bad_bridges_are_refused(void **state)
{
    (void)state;
    struct pair p;
    struct error e;
    open_pair(&p);
    p.bridge.name = "cp";
    p.bridge.physics.rx_ring = 0;
    assert_null(sim_new(&p.config, &e));
    assert_non_null(strstr(e.text, "cp"));
    p.bridge.physics.rx_ring = 64;
    p.bridge.red = published;
    p.bridge.red.probability = 2;
    assert_null(sim_new(&p.config, &e));
    assert_non_null(strstr(e.text, "RED"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_as_tc_derives_them),
        cmocka_unit_test(bad_parameters_are_refused),
        cmocka_unit_test(average_follows_the_backlog),
        cmocka_unit_test(marks_are_spread_evenly),
        cmocka_unit_test(what_cannot_be_marked_is_dropped),
        cmocka_unit_test(limit_grows_to_what_is_needed),
        cmocka_unit_test(cpu_limits_forwarding),
        cmocka_unit_test(short_ring_loses),
        cmocka_unit_test(loop_is_closed),
        cmocka_unit_test(latency_of_one_frame),
        cmocka_unit_test(bad_bridges_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
