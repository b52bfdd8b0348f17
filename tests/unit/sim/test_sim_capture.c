/* Frames that are captured: each once at either end of its link, in order, those that were asked for. */
#include "tests/unit/sim/sim_fixture.h"

#include "sim/capture.h"

#define US SIM_PS_PER_US

enum { MOST_PORTS = 128 };

struct counts {
    size_t sent[MOST_PORTS], received[MOST_PORTS], all;
    size_t of_kind[PACKET_PFC + 1];
    int64_t last_ps;
};

/* Counts frames; fails if one is out of order. */
static void count_frames(const struct sim *sim, struct counts *counts)
{
    const struct sim_captured_at *frames;
    size_t count = sim_captured(sim, &frames);
    uint32_t place = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sim_captured *f = frames[i].frame;
        assert_true(f->time_ps > counts->last_ps || (f->time_ps == counts->last_ps && f->place >= place));
        assert_true(f->time_ps < sim_now_ps(sim));
        counts->last_ps = f->time_ps;
        place = f->place;
        (f->place & 1 ? counts->sent : counts->received)[f->place / 2]++;
        counts->of_kind[f->kind]++;
        counts->all++;
    }
}

/* Eight hosts send to one through a switch, with pauses. */
static void open_incast(struct fixture *f, struct sim_capture_config *capture, bool *ports)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, 9, INT64_C(100000000000), US, &e), 0);
    fixture_open(f, &t);
    for (uint32_t h = 1; h < 9; h++)
        fixture_flow(f, h, 0, 0)->message_bytes = 10000;
    f->flows[7].priority = 5;
    memset(ports, true, MOST_PORTS);
    *capture = (struct sim_capture_config){.ports = ports, .priorities = UINT8_MAX, .until_ps = SIM_FOREVER};
    f->config.capture = capture;
}

static struct counts run(const struct fixture *f, int64_t until_ps)
{
    struct counts counts = {.last_ps = -1};
    struct sim *sim = fixture_start(f);
    for (int64_t part = 1; part <= 10; part++) {
        fixture_run(sim, until_ps / 10 * part);
        count_frames(sim, &counts);
    }
    sim_free(sim);
    return counts;
}

/* A lossless link of 1 us: what left more than that before the end has arrived. */
static void every_frame_once_at_each_end(void **state)
{
    struct fixture f;
    struct sim_capture_config capture;
    bool ports[MOST_PORTS];
    (void)state;
    open_incast(&f, &capture, ports);
    struct counts counts = run(&f, 400 * US);
    for (size_t port = 0; port < 2 * f.config.link_count; port++) {
        assert_true(counts.sent[port] > 0);
        assert_in_range(counts.sent[port] - counts.received[port ^ 1], 0, 16);
    }
    assert_true(counts.of_kind[PACKET_PFC] > 10);
    assert_true(counts.of_kind[PACKET_ACK] > 10);
    fixture_close(&f);
}

static void lost_frames_are_sent_but_not_received(void **state)
{
    struct fixture f;
    struct sim_capture_config capture;
    struct counts counts = {.last_ps = -1};
    bool ports[MOST_PORTS];
    (void)state;
    open_incast(&f, &capture, ports);
    f.topology.links[1].loss_per_billion = 10000000;
    f.config.flow_count = 1;
    f.flows[0].message_count = 100;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 1000000 * US);
    count_frames(sim, &counts);
    struct sim_flow_stats stats;
    sim_flow_stats(sim, 0, &stats);
    assert_true(stats.finished_ps > 0);
    size_t data = 1000 + (size_t)stats.retransmitted_packets; /* of host 1, whose link is links[1] */
    assert_true(stats.retransmitted_packets > 0);
    assert_true(counts.received[2] + counts.received[3] < counts.sent[2] + counts.sent[3]);
    assert_true(counts.sent[2] == data || counts.sent[3] == data);
    sim_free(sim);
    fixture_close(&f);
}

static void only_what_is_asked_for(void **state)
{
    struct fixture f;
    struct sim_capture_config capture;
    bool ports[MOST_PORTS], flows[8] = {[2] = true};
    (void)state;
    open_incast(&f, &capture, ports);
    struct counts all = run(&f, 400 * US);
    capture.flows = flows;
    struct counts one = run(&f, 400 * US);
    assert_int_equal(one.of_kind[PACKET_PFC], all.of_kind[PACKET_PFC]);
    assert_in_range(one.of_kind[PACKET_DATA], 1, all.of_kind[PACKET_DATA] / 4);
    capture.flows = NULL;
    capture.priorities = 1u << 5;
    struct counts priority = run(&f, 400 * US);
    assert_int_equal(priority.of_kind[PACKET_PFC], 0);
    assert_in_range(priority.of_kind[PACKET_DATA], 1, all.of_kind[PACKET_DATA] * 3 / 4);
    capture.priorities = UINT8_MAX;
    capture.from_ps = 100 * US;
    capture.until_ps = 300 * US;
    struct counts early = run(&f, 100 * US), whole = run(&f, 400 * US);
    assert_int_equal(early.all, 0);
    assert_in_range(whole.all, 1000, all.all * 2 / 3);
    assert_true(whole.last_ps < 300 * US);
    fixture_close(&f);
}

/* On a network of several islands with little traffic frames pass switches from link to link; also from a
 * port that is not captured to one that is. */
static void each_port_alone(void **state)
{
    struct fixture f;
    struct sim_topology t;
    struct error e;
    bool ports[MOST_PORTS];
    struct sim_capture_config capture = {.ports = ports, .priorities = UINT8_MAX, .until_ps = SIM_FOREVER};
    (void)state;
    assert_int_equal(sim_topology_fat_tree(&t, 4, INT64_C(100000000000), US, &e), 0);
    fixture_open(&f, &t);
    f.config.capture = &capture;
    for (uint32_t h = 0; h < t.host_count; h++)
        fixture_flow(&f, h, (h + 5) % (uint32_t)t.host_count, 0)->message_bytes = 10000;
    assert_in_range(2 * t.link_count, 1, MOST_PORTS);
    memset(ports, true, sizeof ports);
    struct counts all = run(&f, 50 * US);
    for (size_t port = 0; port < 2 * t.link_count; port++) {
        memset(ports, false, sizeof ports);
        ports[port] = true;
        struct counts one = run(&f, 50 * US);
        assert_int_equal(one.all, all.sent[port] + all.received[port]);
        assert_int_equal(one.sent[port], all.sent[port]);
    }
    fixture_close(&f);
}

static void it_can_be_stopped(void **state)
{
    struct fixture f;
    struct sim_capture_config capture;
    bool ports[MOST_PORTS];
    (void)state;
    open_incast(&f, &capture, ports);
    for (uint32_t threads = 1; threads < 4; threads++) {
        const struct sim_captured_at *frames;
        f.config.threads = threads;
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 100 * US);
        assert_true(sim_captured(sim, &frames) > 100);
        sim_capture_stop(sim);
        fixture_run(sim, 200 * US);
        assert_int_equal(sim_captured(sim, &frames), 0);
        sim_free(sim);
    }
    fixture_close(&f);
}

/* Source ports of a pair's connections count up, as switches hash them. */
static void queue_pairs_are_described(void **state)
{
    struct fixture f;
    struct sim_capture_config capture;
    bool ports[MOST_PORTS];
    (void)state;
    open_incast(&f, &capture, ports);
    f.flows[1].queue_pairs = 2;
    struct sim *sim = fixture_start(&f);
    struct sim_queue_pair qp = sim_queue_pair(sim, 2);
    assert_int_equal(qp.flow, 1);
    assert_int_equal(qp.sender, 2);
    assert_int_equal(qp.receiver, 0);
    assert_int_equal(qp.source_port, sim_queue_pair(sim, 1).source_port + 1);
    assert_int_equal(qp.packets_per_message, 10);
    assert_int_equal(qp.sender_address, 0x0b000201);
    assert_int_equal(qp.receiver_address, 0x0b000001);
    sim_free(sim);
    fixture_close(&f);
}

/* Hosts with one number are ports of one machine: they have its address, and share its source ports. */
static void ports_of_a_machine_have_one_address(void **state)
{
    static const uint32_t numbers[] = {300, 5, 5, 6, 7, 8, 9, 10, 11, 12};
    struct fixture f;
    struct sim_capture_config capture;
    bool ports[MOST_PORTS];
    (void)state;
    open_incast(&f, &capture, ports);
    f.config.numbers = numbers;
    struct sim *sim = fixture_start(&f);
    struct sim_queue_pair one = sim_queue_pair(sim, 0), other = sim_queue_pair(sim, 1),
                          third = sim_queue_pair(sim, 2);
    assert_int_equal(one.sender_address, 0x0b000501);
    assert_int_equal(other.sender_address, 0x0b000501);
    assert_int_equal(third.sender_address, 0x0b000601);
    assert_int_equal(third.receiver_address, 0x0b012c01);
    assert_int_equal(one.source_port, 10000);
    assert_int_equal(other.source_port, 10001);
    assert_int_equal(third.source_port, 10000);
    sim_free(sim);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_once_at_each_end),
        cmocka_unit_test(lost_frames_are_sent_but_not_received),
        cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(each_port_alone),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(queue_pairs_are_described),
        cmocka_unit_test(ports_of_a_machine_have_one_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
