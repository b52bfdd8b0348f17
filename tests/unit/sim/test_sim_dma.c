/* PCIe and memories of the simulator: what limits a transfer, and what reads and writes share. */
#include "tests/unit/sim/sim_two_hosts.h"

#include "sim/model.h"

#define MS (SIM_PS_PER_S / 1000)

/* A wire that does not limit, so that the hosts do. */
static void init_fast_wire(struct two_hosts *t)
{
    two_hosts_init(t);
    t->link.rate_bps = INT64_C(400000000000);
    for (int i = 0; i < 2; i++) {
        t->hosts[i].settings.pfc_mask = 1;
        t->hosts[i].nic.port_buffer_bytes = 1 << 22;
        t->hosts[i].settings.buffer_bytes[0] = 1 << 22;
        t->hosts[i].nic.tx_buffer_bytes = 1 << 20;
        t->hosts[i].pcie.tags = 256;
        t->hosts[i].pcie.posted_header_credits = 256;
        t->hosts[i].pcie.posted_data_credits = 4096;
        for (int m = 0; m < SIM_MEMORIES; m++)
            t->hosts[i].memories[m].write_bps = t->hosts[i].memories[m].read_bps = INT64_C(1600000000000);
    }
}

static double rate_of(struct two_hosts *t)
{
    two_hosts_run(t, (SANITIZED ? 10 : 20) * MS);
    double rate = two_hosts_bytes_per_s(t, 0);
    assert_int_equal(two_hosts_value(t, 1, "rx_discards_phy"), 0);
    two_hosts_close(t);
    return rate;
}

/* The slower PCIe link limits: its generation's rate times lanes, less 24 bytes for each 256 of a write, or
 * 20 for each completion of a read. */
static void generation_and_width(void **state)
{
    static const struct {
        int generation, lanes;
        double bytes_per_s;
    } links[] = {{1, 8, 2.0e9},     {2, 8, 4.0e9},    {3, 8, 7.877e9},
                 {3, 16, 15.754e9}, {4, 8, 15.754e9}, {5, 4, 15.754e9}};
    (void)state;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        for (int end = 0; end < 2; end++) {
            struct two_hosts t;
            init_fast_wire(&t);
            two_hosts_flow(&t, 0);
            t.hosts[0].pcie.generation = t.hosts[1].pcie.generation = 5;
            t.hosts[0].pcie.lanes = t.hosts[1].pcie.lanes = 16;
            t.hosts[0].pcie.completion_bytes = 256;
            t.hosts[end].pcie.generation = links[i].generation;
            t.hosts[end].pcie.lanes = links[i].lanes;
            double overhead = end ? 24 : 20;
            assert_close(rate_of(&t), links[i].bytes_per_s * 256 / (256 + overhead), 0.02);
        }
    }
}

/* Little's law: requests in flight over the time that each takes. */
static void tags_over_latency(void **state)
{
    (void)state;
    struct two_hosts t;
    init_fast_wire(&t);
    two_hosts_flow(&t, 0);
    t.hosts[0].pcie.tags = 32;
    t.hosts[0].pcie.latency_ps = 2 * SIM_PS_PER_US;
    t.hosts[0].memories[SIM_MEMORY_HOST].read_latency_ps = SIM_PS_PER_US;
    /* four packets of eight tags; 5 us of latency, and the packet's own way on the link */
    double round_us = 5 + (8 * 24 + 4096 + 64 * 20) / 7877.0;
    assert_close(rate_of(&t), 4 * 4096 / (round_us * 1e-6), 0.02);
}

static void credits_over_latency(void **state)
{
    (void)state;
    struct two_hosts t;
    init_fast_wire(&t);
    two_hosts_flow(&t, 0);
    t.hosts[1].pcie.posted_header_credits = 32; /* two packets of sixteen */
    t.hosts[1].pcie.latency_ps = 2 * SIM_PS_PER_US;
    double round_us = 4 + (4096 + 16 * 24) / 7877.0;
    assert_close(rate_of(&t), 2 * 4096 / (round_us * 1e-6), 0.02);
    init_fast_wire(&t);
    two_hosts_flow(&t, 0);
    t.hosts[1].pcie.posted_data_credits = 256; /* one packet */
    t.hosts[1].pcie.latency_ps = 2 * SIM_PS_PER_US;
    assert_close(rate_of(&t), 4096 / (round_us * 1e-6), 0.02);
}

/* Without credits a NIC says so: outbound_pci_stalled_wr, in per cent of the last second, and the seconds
 * above 30. */
static void stall_gauges(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    two_hosts_flow(&t, 0);
    t.hosts[1].memories[SIM_MEMORY_HOST].write_bps = INT64_C(8000000000);
    two_hosts_run(&t, 900 * MS);
    assert_int_equal(two_hosts_value(&t, 1, "outbound_pci_stalled_wr"), 0);
    two_hosts_run(&t, 2100 * MS);
    assert_true(two_hosts_value(&t, 1, "outbound_pci_stalled_wr") > 90);
    assert_int_equal(two_hosts_value(&t, 1, "outbound_pci_stalled_wr_events"), 2);
    assert_int_equal(two_hosts_value(&t, 0, "outbound_pci_stalled_wr"), 0);
    two_hosts_close(&t);
}

static void message_rate(void **state)
{
    (void)state;
    for (int qps = 1; qps <= 4; qps *= 4) {
        struct two_hosts t;
        two_hosts_init(&t);
        t.hosts[0].nic.messages_per_s = 3000000;
        struct sim_flow_config *f = two_hosts_flow(&t, 0);
        f->message_bytes = 8;
        f->queue_pairs = qps;
        assert_close(rate_of(&t), 8 * 3e6, 0.01);
    }
}

/* A memory of 4 GB/s that is read and written at once gives each half; what is read from elsewhere is not
 * touched. */
static void reads_and_writes_share(void **state)
{
    (void)state;
    struct two_hosts t;
    init_fast_wire(&t);
    for (int i = 0; i < 2; i++)
        t.hosts[i].pcie.lanes = 16;
    struct physics_memory *m = &t.hosts[1].memories[SIM_MEMORY_GPU];
    m->write_bps = m->read_bps = INT64_C(32000000000);
    two_hosts_flow(&t, 0)->to_memory = SIM_MEMORY_GPU;
    two_hosts_flow(&t, 1)->from_memory = SIM_MEMORY_GPU;
    two_hosts_run(&t, 20 * MS);
    double in = two_hosts_bytes_per_s(&t, 0), out = two_hosts_bytes_per_s(&t, 1);
    assert_close(in + out, 4e9, 0.02);
    assert_true(in > 1e9 && out > 1e9);
    two_hosts_close(&t);
}

/* The stall process: none without mixed load; with it, as many and as long as the lab says. */
static void stalls_under_mixed_load_only(void **state)
{
    const int seconds = SANITIZED ? 1 : 4;
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct two_hosts t;
        two_hosts_init(&t);
        for (uint32_t h = 0; h < 1 + (uint32_t)both; h++) {
            struct sim_flow_config *f = two_hosts_flow(&t, h);
            f->from_memory = f->to_memory = SIM_MEMORY_GPU;
        }
        t.hosts[1].memories[SIM_MEMORY_GPU].stalls_per_s = 400;
        t.hosts[1].memories[SIM_MEMORY_GPU].stall_mean_ps = 300 * SIM_PS_PER_US;
        two_hosts_run(&t, seconds * SIM_PS_PER_S);
        double stalls = (double)two_hosts_value(&t, 1, "gpu_stalls");
        double stalled_s = (double)two_hosts_value(&t, 1, "gpu_stalled_duration") / 1e6;
        if (both) {
            /* a Poisson process on the time that is not stalled: of 4 seconds 1430 of them, 38 off at one
             * sigma */
            assert_close(stalls, 400 * (seconds - stalled_s), 0.1);
            assert_close(stalled_s, stalls * 300e-6, 0.1);
            assert_true(two_hosts_value(&t, 0, "rx_prio0_pause_transition") > (int64_t)stalls / 2);
            assert_int_equal(two_hosts_value(&t, 0, "gpu_stalls"), 0);
        } else {
            assert_true(stalls == 0);
            assert_int_equal(two_hosts_value(&t, 0, "rx_prio0_pause"), 0);
        }
        two_hosts_close(&t);
    }
}

/* A bank keeps its next read waiting; reads of other banks pass. */
static void banks(void **state)
{
    (void)state;
    int64_t bank_free_ps[4] = {0};
    struct memory m = {.read_ps_per_byte_q20 = 0,
                       .read_access_ps = 10,
                       .bank_free_ps = bank_free_ps,
                       .bank_mask = 3,
                       .interleave_shift = 9,
                       .bank_ps = 1000,
                       .sector_ps = 100,
                       .device_read_bytes = 64,
                       .device_completion_bytes = 64};
    assert_int_equal(memory_read(&m, 0, 0, 64), 10);           /* two sectors of bank 0: busy until 1200 */
    assert_int_equal(memory_read(&m, 0, 512, 32), 20);         /* bank 1 */
    assert_int_equal(memory_read(&m, 30, 64, 64), 1210);       /* bank 0 again */
    assert_int_equal(memory_read(&m, 3000, 1024, 1024), 3010); /* banks 2 and 3: busy until 5600 */
    assert_int_equal(memory_read(&m, 3020, 1500, 100), 5610);
    assert_int_equal(memory_read(&m, 6000, 4 * 512, 1), 6010); /* bank 0, five blocks on */
}

/* A ping-pong's latency is the sum of its ways, each way once. */
static void latency_adds_up(void **state)
{
    (void)state;
    struct two_hosts t;
    two_hosts_init(&t);
    for (int i = 0; i < 2; i++) {
        t.hosts[i].nic.tx_latency_ps = 500000;
        t.hosts[i].nic.rx_latency_ps = 200000;
        t.hosts[i].pcie.latency_ps = 150000;
        t.hosts[i].memories[SIM_MEMORY_HOST].write_latency_ps = 90000;
        t.hosts[i].software = (struct physics_software){.post_ps = 70000, .poll_ps = 40000};
    }
    struct sim_flow_config *f = two_hosts_flow(&t, 0);
    f->mode = SIM_PING_PONG;
    f->message_bytes = 2;
    f->inline_bytes = 64;
    f->depth = 1;
    f->record_latency = true;
    f->message_count = 1000;
    two_hosts_run(&t, 10 * MS);
    /* frame of 80 + 20 bytes at 25 Gb/s, cable 5 ns, write of 2 + 24 bytes on PCIe */
    double expected = 500e3 + 100 * 320 + 5e3 + 200e3 + 26 / 7.877e-3 + 150e3 + 90e3 + 70e3 + 40e3;
    assert_close((double)histogram_quantile(sim_flow_latency(t.sim, 0), 0.5), expected, 0.02);
    assert_int_equal(two_hosts_stats(&t, 0).messages, 1000);
    assert_true(two_hosts_stats(&t, 0).finished_ps > 0);
    two_hosts_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generation_and_width),
        cmocka_unit_test(tags_over_latency),
        cmocka_unit_test(credits_over_latency),
        cmocka_unit_test(stall_gauges),
        cmocka_unit_test(message_rate),
        cmocka_unit_test(reads_and_writes_share),
        cmocka_unit_test(stalls_under_mixed_load_only),
        cmocka_unit_test(banks),
        cmocka_unit_test(latency_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
