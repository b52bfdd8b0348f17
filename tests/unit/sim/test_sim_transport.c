/* Reliable connections of the simulator: segmentation, windows, acknowledgements, go-back-N. */
#include "tests/unit/sim/sim_two_hosts.h"

#define MS (SIM_PS_PER_S / 1000)

/* Messages of every awkward size arrive whole, by every operation, and take the packets that they need, each
 * with its headers and filled up to a multiple of 4 bytes. */
static void sizes_and_operations(void **state)
{
    static const int64_t sizes[] = {0, 1, 255, 4095, 4096, 4097, 8192, 65536, 100001};
    (void)state;
    for (int op = SIM_WRITE; op <= SIM_SEND; op++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct two_hosts t;
            two_hosts_init(&t);
            struct sim_flow_config *f = two_hosts_flow(&t, 0);
            f->operation = (enum sim_operation)op;
            f->message_bytes = sizes[i];
            f->message_count = 37;
            f->queue_pairs = 3;
            two_hosts_run(&t, 100 * MS);
            struct sim_flow_stats s = two_hosts_stats(&t, 0);
            int64_t packets = sizes[i] ? (sizes[i] + 4095) / 4096 : 1;
            uint32_t receiver = op == SIM_READ ? 0 : 1;
            assert_int_equal(s.messages, 111);
            assert_int_equal(s.bytes, 111 * sizes[i]);
            assert_true(s.finished_ps > 0 && s.finished_ps == s.last_ps);
            assert_int_equal(s.retransmitted_packets, 0);
            assert_int_equal(two_hosts_value(&t, receiver, "rx_vport_rdma_unicast_packets"), 111 * packets);
            int64_t wire = sizes[i] + 62 * packets + (4 - sizes[i] % 4) % 4;
            wire += op == SIM_WRITE ? 16 : op == SIM_READ ? (packets == 1 ? 4 : 8) : 0;
            assert_int_equal(two_hosts_value(&t, receiver, "rx_vport_rdma_unicast_bytes"),
                             111 * (wire < 64 ? 64 : wire));
            if (op == SIM_READ)
                assert_int_equal(two_hosts_value(&t, 1, "rx_read_requests"), 111);
            if (op == SIM_WRITE)
                assert_int_equal(two_hosts_value(&t, 1, "rx_write_requests"), 111);
            two_hosts_close(&t);
        }
    }
}

/* 16 packets of 4096 + 62 bytes, 16 more in the first, each with 20 bytes of gap: what the wire leaves for
 * payload. */
static void line_rate_less_headers(void **state)
{
    (void)state;
    for (int op = SIM_WRITE; op <= SIM_SEND; op++) {
        struct two_hosts t;
        two_hosts_init(&t);
        two_hosts_flow(&t, 0)->operation = (enum sim_operation)op;
        two_hosts_run(&t, 100 * MS);
        static const int extra[] = {[SIM_WRITE] = 16, [SIM_READ] = 8, [SIM_SEND] = 0};
        double wire = 16 * (4096 + 62 + 20) + extra[op];
        assert_close(two_hosts_bytes_per_s(&t, 0), 65536 / wire * 25e9 / 8, 0.002);
        two_hosts_close(&t);
    }
}

/* With one message outstanding the next is posted when the program knows of the last. */
static void depth_is_a_window(void **state)
{
    (void)state;
    double rates[2];
    for (int i = 0; i < 2; i++) {
        struct two_hosts t;
        two_hosts_init(&t);
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        f->message_bytes = 4096;
        f->depth = i ? 2 : 1;
        f->record_latency = true;
        t.link.delay_ps = 50 * SIM_PS_PER_US;
        two_hosts_run(&t, 100 * MS);
        rates[i] = two_hosts_bytes_per_s(&t, 0);
        double round_trip_ps = (double)histogram_quantile(sim_flow_latency(t.sim, 0), 0.5);
        assert_true(round_trip_ps > 100e6 && round_trip_ps < 105e6);
        assert_close(rates[i], (i + 1) * 4096 / round_trip_ps * 1e12, 0.02);
        two_hosts_close(&t);
    }
    assert_close(rates[1], 2 * rates[0], 0.01);
}

/* Losses are repaired from where they happened; everything arrives, and the counters tell. */
static void losses_are_repaired(void **state)
{
    (void)state;
    for (int op = SIM_WRITE; op <= SIM_SEND; op++) {
        struct two_hosts t;
        two_hosts_init(&t);
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        f->operation = (enum sim_operation)op;
        f->message_count = 400;
        f->queue_pairs = 2;
        t.link.loss_per_billion = 2000000;
        t.hosts[0].nic.ack_timeout_ps = t.hosts[1].nic.ack_timeout_ps = MS;
        two_hosts_run(&t, 2000 * MS);
        struct sim_flow_stats s = two_hosts_stats(&t, 0);
        assert_int_equal(s.messages, 800);
        assert_int_equal(s.bytes, 800 * 65536);
        assert_true(s.finished_ps > 0);
        assert_true(s.retransmitted_packets > 0);
        if (op == SIM_READ) {
            assert_true(two_hosts_value(&t, 0, "implied_nak_seq_err") > 0);
        } else {
            int64_t asked = two_hosts_value(&t, 1, "out_of_sequence"),
                    heard = two_hosts_value(&t, 0, "packet_seq_err");
            assert_true(asked > 0 && heard > 0 && heard <= asked);
        }
        two_hosts_close(&t);
    }
}

/* On a link that loses everything only the timer speaks. */
static void timeouts_on_a_dead_link(void **state)
{
    (void)state;
    for (int op = SIM_WRITE; op <= SIM_READ; op++) {
        struct two_hosts t;
        two_hosts_init(&t);
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        f->operation = (enum sim_operation)op;
        t.link.loss_per_billion = 1000000000;
        t.hosts[0].nic.ack_timeout_ps = 10 * MS;
        two_hosts_run(&t, 105 * MS);
        assert_int_equal(two_hosts_value(&t, 0, "local_ack_timeout_err"), 10);
        assert_int_equal(two_hosts_stats(&t, 0).messages, 0);
        two_hosts_close(&t);
    }
}

static void acks_by_configuration(void **state)
{
    static const struct {
        int every;
        double packets_per_ack;
    } cases[] = {{0, 16}, {4, 4}, {1, 1}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct two_hosts t;
        two_hosts_init(&t);
        two_hosts_flow(&t, 0);
        t.hosts[1].nic.ack_every_packets = cases[i].every;
        two_hosts_run(&t, 10 * MS);
        assert_close((double)two_hosts_value(&t, 0, "tx_prio0_packets") /
                         (double)two_hosts_value(&t, 1, "tx_prio0_packets"),
                     cases[i].packets_per_ack, 0.02);
        two_hosts_close(&t);
    }
}

static void rate_limit_of_a_queue_pair(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->queue_pairs = 2;
    f->rate_bps = INT64_C(3000000000);
    two_hosts_run(&t, 100 * MS);
    assert_close(two_hosts_bytes_per_s(&t, 0), 2 * 3e9 / 8, 0.01); /* of the payload */
    two_hosts_close(&t);
}

static void start_and_stop(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->start_ps = 10 * MS;
    f->stop_ps = 20 * MS;
    two_hosts_run(&t, 10 * MS);
    assert_int_equal(two_hosts_value(&t, 0, "tx_prio0_packets"), 0);
    two_hosts_run(&t, 50 * MS);
    struct sim_flow_stats s = two_hosts_stats(&t, 0);
    /* What was posted before the end completes. */
    assert_true(s.last_ps > 20 * MS && s.last_ps < 30 * MS);
    assert_int_equal(s.bytes, two_hosts_value(&t, 1, "rx_write_requests") * 65536);
    two_hosts_close(&t);
}

/* The same configuration and seed give the same numbers; another seed others. */
static void deterministic_by_seed(void **state)
{
    int64_t bytes[3], stalls[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct two_hosts t;
        two_hosts_init(&t);
        t.config.seed = i == 2 ? 8 : 7;
        t.link.loss_per_billion = 10000;
        for (uint32_t h = 0; h < 2; h++) {
            t.hosts[h].memories[SIM_MEMORY_GPU].stalls_per_s = 1000;
            t.hosts[h].memories[SIM_MEMORY_GPU].stall_mean_ps = 100 * SIM_PS_PER_US;
            struct sim_flow_config *f = two_hosts_flow(&t, h);
            f->from_memory = f->to_memory = SIM_MEMORY_GPU;
        }
        /* In many steps or in one: the same. */
        for (int step = 1; i == 1 && step < 1000; step++)
            two_hosts_run(&t, step * MS / 10);
        two_hosts_run(&t, 100 * MS);
        bytes[i] = two_hosts_value(&t, 0, "tx_prio0_bytes");
        stalls[i] = two_hosts_value(&t, 0, "gpu_stalled_duration");
        two_hosts_close(&t);
    }
    assert_true(bytes[0] == bytes[1] && stalls[0] == stalls[1]);
    assert_true(bytes[0] != bytes[2] && stalls[0] != stalls[2]);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    static const char *const words[] = {
        "from host 0 to host 0",          "depth", "PCIe tags", "posted", "MTU", "power of two", "ping-pong",
        "too small for a lossless buffer"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct two_hosts t;
        struct error e = {""};
        two_hosts_init(&t);
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        switch (i) {
        case 0:
            f->to = 0;
            break;
        case 1:
            f->depth = 0;
            break;
        case 2:
            t.hosts[0].pcie.tags = 7;
            break;
        case 3:
            t.hosts[1].pcie.posted_header_credits = 15;
            break;
        case 4:
            t.hosts[0].settings.mtu_bytes = 100;
            break;
        case 5:
            t.hosts[0].memories[SIM_MEMORY_GPU].banks = 3;
            break;
        case 6:
            f->operation = SIM_READ;
            f->mode = SIM_PING_PONG;
            break;
        default:
            t.hosts[0].settings.buffer_bytes[0] = 20000;
        }
        assert_null(sim_new(&t.config, &e));
        if (!strstr(e.text, words[i]) || strstr(e.text, ": :"))
            fail_msg("\"%s\" does not say \"%s\", or has an empty part", e.text, words[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_operations),       cmocka_unit_test(line_rate_less_headers),
        cmocka_unit_test(depth_is_a_window),          cmocka_unit_test(losses_are_repaired),
        cmocka_unit_test(timeouts_on_a_dead_link),    cmocka_unit_test(acks_by_configuration),
        cmocka_unit_test(rate_limit_of_a_queue_pair), cmocka_unit_test(start_and_stop),
        cmocka_unit_test(deterministic_by_seed),      cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
