/* A fat tree of 128 hosts: large enough for the look-ahead of large networks, which must change nothing and
 * touch nothing foreign. */
#include "tests/unit/sim/sim_fixture.h"

#define US SIM_PS_PER_US

static struct sim *run_fat_tree(struct fixture *f, int64_t until_ps)
{
    struct sim_topology topology;
    struct error e = {""};
    if (sim_topology_fat_tree(&topology, 8, INT64_C(100000000000), US, &e) != 0)
        fail_msg("%s", e.text);
    fixture_open(f, &topology);
    for (uint32_t h = 0; h < 128; h++)
        fixture_flow(f, h, (h * 37 + 5) % 128, 50000);
    struct sim *sim = fixture_start(f);
    fixture_run(sim, until_ps);
    return sim;
}

/* 128 flows of 50 packets: all complete, every packet is counted where it was sent and where it came. */
static void everything_arrives(void **state)
{
    (void)state;
    struct fixture f;
    struct sim *sim = run_fat_tree(&f, 200 * US);
    for (size_t i = 0; i < 128; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        assert_int_equal(stats.bytes, 50000);
        assert_true(stats.finished_ps > 0);
    }
    assert_int_equal(hosts_counter(&f, sim, "tx_prio3_packets"), hosts_counter(&f, sim, "rx_prio3_packets"));
    assert_int_equal(hosts_counter(&f, sim, "rx_vport_rdma_unicast_packets"), 128 * 50);
    sim_free(sim);
    fixture_close(&f);
}

/* In the middle of messages too. */
static void flows_are_counted_to_the_packet(void **state)
{
    (void)state;
    struct fixture f;
    struct sim *sim = run_fat_tree(&f, 12 * US);
    int64_t delivered = 0, bytes = 0;
    for (size_t i = 0; i < 128; i++) {
        struct sim_flow_stats stats;
        sim_flow_stats(sim, i, &stats);
        delivered += stats.delivered_bytes;
        bytes += stats.bytes;
    }
    assert_int_equal(delivered, 1000 * hosts_counter(&f, sim, "rx_vport_rdma_unicast_packets"));
    assert_true(delivered > bytes);
    sim_free(sim);
    fixture_close(&f);
}

/* sim_bytes_needed, before the network is built, differs by less than a third from the memory that it takes;
 * it does not count packets. */
static void the_memory_is_known_before(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_work work;
    struct sim *sim = run_fat_tree(&f, US);
    sim_work(sim, &work);
    double needed = (double)sim_bytes_needed(&f.config);
    assert_in_range((uintmax_t)(needed / (double)work.bytes * 100), 67, 133);
    f.flows[0].depth = 65536;
    assert_true((double)sim_bytes_needed(&f.config) > needed + 65536 * 7);
    sim_free(sim);
    fixture_close(&f);
}

static void in_steps_or_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_work once, steps;
    struct sim *sim = run_fat_tree(&f, 40 * US);
    sim_work(sim, &once);
    int64_t bytes = hosts_counter(&f, sim, "rx_prio3_bytes");
    sim_free(sim);
    fixture_close(&f);
    sim = run_fat_tree(&f, US / 7);
    for (int64_t t = US / 7; t < 40 * US; t += US / 7)
        fixture_run(sim, t);
    fixture_run(sim, 40 * US);
    sim_work(sim, &steps);
    assert_int_equal(steps.events, once.events);
    assert_int_equal(steps.hops, once.hops);
    assert_int_equal(hosts_counter(&f, sim, "rx_prio3_bytes"), bytes);
    sim_free(sim);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives),
        cmocka_unit_test(flows_are_counted_to_the_packet),
        cmocka_unit_test(the_memory_is_known_before),
        cmocka_unit_test(in_steps_or_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
