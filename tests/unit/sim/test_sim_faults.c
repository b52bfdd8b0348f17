/* Faults of links: what is lost and when, pauses, rates, routes, retries; times are computed by hand. */
#include "sim/faults/faults.h"
#include "sim/faults/link_faults.h"
#include "tests/unit/sim/sim_fixture.h"

#define US      SIM_PS_PER_US
#define MS      (1000 * US)
#define GBPS(x) ((x)*INT64_C(1000000000))

/* A frame with 1000 bytes of payload and its gap at 100 Gb/s, in ps. */
static int64_t frame_ps_of(const struct fixture *f)
{
    return (1000 + f->config.framing.data_bytes + f->config.framing.gap_bytes) * 80;
}

static void open_star(struct fixture *f, uint32_t hosts)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, hosts, GBPS(100), US, &e), 0);
    fixture_open(f, &t);
}

static void set_states(struct fixture *f, const struct sim_link_state *states, size_t count)
{
    f->config.link_states = states;
    f->config.link_state_count = count;
}

static struct sim_flow_stats stats_of(const struct sim *sim, size_t flow)
{
    struct sim_flow_stats stats;
    sim_flow_stats(sim, flow, &stats);
    return stats;
}

/* ---- down and up */

/* Host 0 sends frames back to back; its link goes down when the switch has received `whole` of them: the
 * frames on the fibre (1 us) and the one that is being sent are lost. */
static void frames_on_the_link_are_lost(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0)->operation = SIM_SEND;
    f.hosts[0].nic.ack_timeout_ps = 10 * MS;
    int64_t each_ps = frame_ps_of(&f), whole = 20;
    /* frame k (from 1) ends at k * each_ps at the host, and is in the switch 1 us later */
    int64_t down_ps = US + whole * each_ps + each_ps / 2;
    int64_t sent = down_ps / each_ps + 1;
    const struct sim_link_state states[] = {{.link = 0, .at_ps = down_ps}};
    set_states(&f, states, 1);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 5 * MS);
    assert_int_equal(counter_of(sim, false, 0, "tx_prio3_packets"), sent);
    assert_int_equal(sim->faults->ends[1].cut, sent - whole);
    assert_int_equal(stats_of(sim, 0).delivered_bytes, whole * 1000);
    assert_int_equal(counter_of(sim, false, 0, "link_down_events_phy"), 1);
    assert_int_equal(counter_of(sim, true, 0, "link_down_events"), 1);
    assert_int_equal(counter_of(sim, false, 1, "link_down_events_phy"), 0);
    sim_free(sim);
    fixture_close(&f);
}

/* Frames are 10 us on their way; the link is down for 1 us only. What was on it then is lost though it
 * arrives later, when the link is up: frame k ends at k * each_ps. */
static void a_short_gap_cuts_what_is_on_its_way(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    f.topology.links[0].delay_ps = 10 * US;
    fixture_flow(&f, 0, 1, 0)->operation = SIM_SEND;
    f.hosts[0].nic.ack_timeout_ps = 10 * MS;
    int64_t each_ps = frame_ps_of(&f), down_ps = 100 * US;
    int64_t sent = (down_ps + each_ps - 1) / each_ps, arrived = (down_ps - 10 * US) / each_ps;
    const struct sim_link_state states[] = {{.link = 0, .at_ps = down_ps},
                                            {.link = 0, .at_ps = down_ps + US, .up = true}};
    set_states(&f, states, 2);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS);
    assert_int_equal(sim->faults->ends[1].cut, sent - arrived);
    assert_true(stats_of(sim, 0).delivered_bytes > arrived * 1000); /* by a NAK for what came behind */
    sim_free(sim);
    fixture_close(&f);
}

/* The link to the receiver is down for 20 us: packets that the switch has for it are dropped. After the
 * time-out all are sent again, and the message completes. */
static void a_time_out_repairs(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 1000000);
    f.hosts[0].nic.ack_timeout_ps = 200 * US;
    const struct sim_link_state states[] = {{.link = 1, .at_ps = 10 * US},
                                            {.link = 1, .at_ps = 30 * US, .up = true}};
    set_states(&f, states, 2);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, MS);
    struct sim_flow_stats stats = stats_of(sim, 0);
    assert_int_equal(stats.messages, 1);
    assert_int_equal(stats.failed, 0);
    assert_true(stats.retransmitted_packets > 0);
    /* 20 us of the link, less the frame whose sending the end of the fault finds */
    int64_t dropped = counter_of(sim, true, 0, "link_discards"), of_20_us = 20 * US / frame_ps_of(&f);
    assert_true(dropped >= of_20_us - 1 && dropped <= of_20_us + 2);
    assert_int_equal(counter_of(sim, true, 0, "port1_link_discards"), dropped);
    sim_free(sim);
    fixture_close(&f);
}

/* A read's request waits for the link through three time-outs: it leaves once when that comes up,
 * and its own time-out counts from there. */
static void a_request_waits_once(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    struct sim_flow_config *flow = fixture_flow(&f, 0, 1, 20000);
    flow->operation = SIM_READ;
    f.hosts[0].nic.ack_timeout_ps = f.hosts[1].nic.ack_timeout_ps = 200 * US;
    const struct sim_link_state states[] = {{.link = 0, .at_ps = 2 * US + US / 2},
                                            {.link = 0, .at_ps = 700 * US, .up = true}};
    set_states(&f, states, 2);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 3 * MS);
    assert_int_equal(stats_of(sim, 0).messages, 1);
    assert_int_equal(counter_of(sim, false, 0, "local_ack_timeout_err"), 3);
    assert_int_equal(counter_of(sim, false, 1, "rx_read_requests"), 2);
    assert_int_equal(counter_of(sim, false, 1, "duplicate_request"), 0);
    sim_free(sim);
    fixture_close(&f);
}

/* Without a way back: the first time-out after the last progress, and seven more. */
static void retries_end(void **state)
{
    (void)state;
    for (int64_t retries = 0; retries <= 7; retries += 7) {
        struct fixture f;
        open_star(&f, 2);
        fixture_flow(&f, 0, 1, 0)->depth = 1;
        f.hosts[0].nic.ack_timeout_ps = 100 * US;
        f.hosts[0].nic.retry_count = retries;
        const struct sim_link_state states[] = {{.link = 1, .at_ps = 0}};
        set_states(&f, states, 1);
        struct sim *sim = fixture_start(&f);
        fixture_run(sim, 5 * MS);
        struct sim_flow_stats stats = stats_of(sim, 0);
        assert_int_equal(stats.failed, 1);
        assert_int_equal(stats.failed_ps, (retries + 1) * 100 * US);
        assert_true(stats.unreachable);
        assert_int_equal(counter_of(sim, false, 0, "local_ack_timeout_err"), retries + 1);
        assert_int_equal(counter_of(sim, false, 0, "req_transport_retries_exceeded"), 1);
        int64_t sent = counter_of(sim, false, 0, "tx_prio3_packets");
        fixture_run(sim, 6 * MS);
        assert_int_equal(counter_of(sim, false, 0, "tx_prio3_packets"), sent);
        sim_free(sim);
        fixture_close(&f);
    }
}

/* A pause without quanta is over when the link is down. A storm that lasts longer pauses again when the link
 * is back, one that has ended meanwhile does not. */
static void pauses_end_with_the_link(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0);
    struct sim_storm_config storm = {
        .host = 1, .priority = LOSSLESS, .start_ps = 10 * US, .stop_ps = 220 * US};
    f.config.storms = &storm;
    f.config.storm_count = 1;
    f.hosts[1].nic.pause_quanta = 0;
    f.hosts[0].nic.ack_timeout_ps = 50 * US;
    const struct sim_link_state states[] = {{.link = 1, .at_ps = 100 * US},
                                            {.link = 1, .at_ps = 120 * US, .up = true},
                                            {.link = 1, .at_ps = 210 * US},
                                            {.link = 1, .at_ps = 230 * US, .up = true}};
    set_states(&f, states, 4);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 99 * US);
    assert_int_equal(counter_of(sim, true, 0, "port1_prio3_paused"), 1);
    fixture_run(sim, 110 * US);
    assert_int_equal(counter_of(sim, true, 0, "port1_prio3_paused"), 0);
    /* the pause frame arrived at 10 us, its time on the wire and 1 us */
    int64_t paused_us = counter_of(sim, true, 0, "port1_rx_prio3_pause_duration");
    assert_int_equal(paused_us, 88);
    fixture_run(sim, 209 * US);
    assert_int_equal(counter_of(sim, true, 0, "port1_prio3_paused"), 1);
    fixture_run(sim, 228 * US);
    paused_us = counter_of(sim, true, 0, "port1_rx_prio3_pause_duration");
    assert_int_equal(paused_us, 177); /* twice as long */
    int64_t before = stats_of(sim, 0).delivered_bytes;
    fixture_run(sim, MS);
    assert_true(stats_of(sim, 0).delivered_bytes > before + 1000000);
    assert_int_equal(counter_of(sim, true, 0, "port1_rx_prio3_pause_duration"), paused_us);
    sim_free(sim);
    fixture_close(&f);
}

/* A tenth of the rate for a while: fewer bytes, by what that takes away. */
static void rate_is_lower(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0);
    f.hosts[0].nic.ack_timeout_ps = 500 * US;
    f.hosts[1].nic.ack_every_packets = 16;
    f.switches[0].physics.xoff_bytes = 100000; /* the queue is much shorter than the time-out */
    const struct sim_link_state states[] = {{.link = 1, .at_ps = 100 * US, .rate_bps = GBPS(10)},
                                            {.link = 1, .at_ps = 110 * US, .up = true, .rate_bps = GBPS(10)}};
    set_states(&f, states, 2);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS);
    int64_t before = stats_of(sim, 0).delivered_bytes;
    fixture_run(sim, 3 * MS);
    /* all frames arrive at a tenth of the rate now: 1000 of each frame's bytes are payload */
    double expected = 1000.0 * (double)MS / (10.0 * (double)frame_ps_of(&f));
    double got = (double)(stats_of(sim, 0).delivered_bytes - before);
    if (got < 0.99 * expected || got > 1.01 * expected)
        fail_msg("%g bytes, expected %g", got, expected);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- loss */

static void losses_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0);
    f.hosts[0].nic.ack_timeout_ps = 100 * US;
    const struct sim_link_state states[] = {{.link = 1, .at_ps = 0, .up = true, .loss = {.good = 0.01}},
                                            {.link = 1, .at_ps = 2 * MS, .up = true}};
    set_states(&f, states, 2);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS);
    int64_t lost = counter_of(sim, false, 1, "rx_crc_errors_phy");
    int64_t received = counter_of(sim, false, 1, "rx_prio3_packets");
    double share = (double)lost / (double)(lost + received);
    if (share < 0.008 || share > 0.012)
        fail_msg("%g of the frames were lost", share);
    assert_true(counter_of(sim, false, 1, "out_of_sequence") > 0);
    fixture_run(sim, 2 * MS + 100 * US);
    lost = counter_of(sim, false, 1, "rx_crc_errors_phy");
    fixture_run(sim, 4 * MS);
    assert_int_equal(counter_of(sim, false, 1, "rx_crc_errors_phy"), lost);
    sim_free(sim);
    fixture_close(&f);
}

/* Bad for one frame in a hundred, and then for ten: a tenth of the frames, in runs of ten. */
static void losses_come_in_bursts(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0);
    f.hosts[0].nic.ack_timeout_ps = 30 * US;
    const struct sim_link_state states[] = {
        {.link = 1, .at_ps = 0, .up = true, .loss = {.bad = 1, .to_bad = 0.01, .to_good = 0.1}}};
    set_states(&f, states, 1);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 5 * MS);
    double lost = (double)counter_of(sim, false, 1, "rx_crc_errors_phy");
    double share = lost / (lost + (double)counter_of(sim, false, 1, "rx_prio3_packets"));
    if (share < 0.07 || share > 0.11)
        fail_msg("%g of the frames were lost, expected 1/11", share);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- routes */

/* Two leaves, two spines, one host each side. The uplink that the flow takes fails: packets are dropped until
 * the leaf's time of convergence is over, and come by the other spine from then on. */
static void routes_follow_the_links(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_leaf_spine(&t, 2, 1, 2, GBPS(100), US, &e), 0);
    fixture_open(&f, &t);
    fixture_flow(&f, 0, 1, 0);
    f.hosts[0].nic.ack_timeout_ps = 100 * US;
    for (size_t i = 0; i < f.config.switch_count; i++)
        f.switches[i].physics.convergence_ps = 50 * US;
    uint32_t taken = NONE;
    struct sim *sim = fixture_start(&f);
    taken = sim->paths[sim->qps[0].data_path];
    sim_free(sim);
    const struct sim_link_state states[] = {{.link = taken / 2, .at_ps = 500 * US},
                                            {.link = taken / 2, .at_ps = MS, .up = true}};
    set_states(&f, states, 2);
    sim = fixture_start(&f);
    fixture_run(sim, 500 * US);
    uint32_t leaf = sim->ports[taken].node;
    assert_int_equal(counter_of(sim, true, leaf, "link_discards"), 0);
    fixture_run(sim, 549 * US);
    int64_t lost = counter_of(sim, true, leaf, "link_discards");
    assert_true(lost > 0);
    int64_t sent = sim->ports[taken].queues[queue_of(LOSSLESS)].sent_packets;
    fixture_run(sim, 560 * US);
    lost = counter_of(sim, true, leaf, "link_discards");
    fixture_run(sim, 999 * US);
    assert_int_equal(counter_of(sim, true, leaf, "link_discards"), lost);
    assert_int_equal(sim->ports[taken].queues[queue_of(LOSSLESS)].sent_packets, sent);
    assert_true(stats_of(sim, 0).delivered_bytes > 8 * 1000000);
    fixture_run(sim, MS + 49 * US); /* it is back, and not used yet */
    assert_int_equal(sim->ports[taken].queues[queue_of(LOSSLESS)].sent_packets, sent);
    fixture_run(sim, MS + 100 * US);
    assert_true(sim->ports[taken].queues[queue_of(LOSSLESS)].sent_packets > sent);
    assert_int_equal(counter_of(sim, true, leaf, "route_discards"), 0);
    assert_int_equal(stats_of(sim, 0).failed, 0);
    sim_free(sim);
    fixture_close(&f);
}

/* Where the last link to the receiver is down there is no path, once the switch knows. */
static void no_path_is_counted(void **state)
{
    (void)state;
    struct fixture f;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0)->depth = 1;
    f.hosts[0].nic.ack_timeout_ps = 100 * US;
    f.switches[0].physics.convergence_ps = 50 * US;
    const struct sim_link_state states[] = {{.link = 1, .at_ps = 0}};
    set_states(&f, states, 1);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 50 * US);
    int64_t black_hole = counter_of(sim, true, 0, "link_discards");
    assert_true(black_hole > 0);
    assert_int_equal(counter_of(sim, true, 0, "route_discards"), 0);
    fixture_run(sim, 500 * US);
    assert_int_equal(counter_of(sim, true, 0, "link_discards"), black_hole);
    assert_true(counter_of(sim, true, 0, "route_discards") > 0);
    sim_free(sim);
    fixture_close(&f);
}

/* Two leaves and two spines, one of which has slower links: equally short queues are not equally short
 * times. */
static int64_t out_of_sequence(bool adaptive, int64_t *bytes)
{
    struct fixture f;
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_leaf_spine(&t, 2, 2, 2, GBPS(100), US, &e), 0);
    for (size_t i = 0; i < t.link_count; i++)
        if (t.links[i].b.index == 3 && t.links[i].a.kind == SIM_SWITCH)
            t.links[i].rate_bps = GBPS(40);
    fixture_open(&f, &t);
    fixture_flow(&f, 0, 2, 0);
    fixture_flow(&f, 1, 3, 0);
    for (size_t i = 0; adaptive && i < f.config.switch_count; i++)
        f.switches[i].physics.routing = ROUTING_ADAPTIVE;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, MS);
    int64_t count = hosts_counter(&f, sim, "out_of_sequence");
    *bytes = stats_of(sim, 0).delivered_bytes;
    sim_free(sim);
    fixture_close(&f);
    return count;
}

static void adaptive_routing_reorders(void **state)
{
    (void)state;
    int64_t in_order, reordered;
    assert_int_equal(out_of_sequence(false, &in_order), 0);
    assert_true(out_of_sequence(true, &reordered) > 50);
    assert_true(reordered > 0 && reordered < in_order / 10); /* go-back-N */
}

/* ---- deadlocks */

/* A ring of switches with a host each; all send to the second next one. */
static void open_ring(struct fixture *f, uint32_t switches)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(topology_begin(&t, switches, switches, 2 * (size_t)switches, GBPS(100), US, &e), 0);
    for (uint32_t i = 0; i < switches; i++)
        topology_attach(&t, i, i);
    for (uint32_t i = 0; i < switches; i++)
        topology_join(&t, i, (i + 1) % switches);
    fixture_open(f, &t);
    for (uint32_t i = 0; i < switches; i++) {
        f->switches[i].physics.buffer_bytes = 1 << 20;
        f->switches[i].physics.deadlock_ps = 100 * US;
        fixture_flow(f, i, (i + 2) % switches, 0);
        f->hosts[i].nic.ack_timeout_ps = 100 * MS;
    }
}

static void a_ring_deadlocks(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_deadlock found;
    open_ring(&f, 5);
    struct sim *sim = fixture_start(&f);
    assert_false(sim_next_deadlock(sim, &found));
    fixture_run(sim, 2 * MS);
    assert_true(sim_next_deadlock(sim, &found));
    assert_int_equal(found.count, 5);
    assert_int_equal(found.priority, LOSSLESS);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal((found.switches[i].index + 1) % 5, found.switches[(i + 1) % 5].index);
    assert_true(found.since_ps > 0 && found.since_ps < MS);
    assert_false(sim_next_deadlock(sim, &found)); /* it is the same one */
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(counter_of(sim, true, i, "deadlocks"), 1);
    int64_t bytes = stats_of(sim, 0).delivered_bytes;
    fixture_run(sim, 4 * MS);
    assert_false(sim_next_deadlock(sim, &found));
    assert_int_equal(stats_of(sim, 0).delivered_bytes, bytes);
    sim_free(sim);
    fixture_close(&f);
}

/* The flows that pass from the last switch to the first have a priority of their own: no cycle of either
 * priority. */
static void two_priorities_do_not(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_deadlock found;
    open_ring(&f, 5);
    for (size_t i = 0; i < 5; i++)
        f.switches[i].pfc_mask = f.hosts[i].settings.pfc_mask = 1u << 3 | 1u << 4;
    f.flows[3].priority = f.flows[4].priority = 4;
    struct sim *sim = fixture_start(&f);
    for (int64_t at = MS; at <= 4 * MS; at += 100 * US) {
        fixture_run(sim, at);
        assert_false(sim_next_deadlock(sim, &found));
    }
    assert_true(stats_of(sim, 0).delivered_bytes > 10 * 1000000);
    sim_free(sim);
    fixture_close(&f);
}

/* A link of the ring goes down and comes back: what it held is dropped, and the cycle is gone. */
static void a_link_reset_ends_a_deadlock(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_deadlock found;
    open_ring(&f, 5);
    const struct sim_link_state states[] = {{.link = 5, .at_ps = 2 * MS},
                                            {.link = 5, .at_ps = 2 * MS + 10 * US, .up = true}};
    set_states(&f, states, 2);
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 2 * MS - US);
    assert_true(sim_next_deadlock(sim, &found));
    int64_t bytes = stats_of(sim, 2).delivered_bytes;
    fixture_run(sim, 2 * MS + 200 * US);
    assert_true(stats_of(sim, 2).delivered_bytes > bytes);
    sim_free(sim);
    fixture_close(&f);
}

/* ---- what a configuration must not say */

static void refuse(const struct sim_link_state *states, size_t count, const char *sentence)
{
    struct fixture f;
    struct error e;
    open_star(&f, 2);
    fixture_flow(&f, 0, 1, 0);
    set_states(&f, states, count);
    assert_null(sim_new(&f.config, &e));
    if (!strstr(e.text, sentence))
        fail_msg("%s", e.text);
    fixture_close(&f);
}

static void refusals(void **state)
{
    (void)state;
    refuse((const struct sim_link_state[]){{.link = 2}}, 1, "there are 2 links");
    refuse((const struct sim_link_state[]){{.at_ps = -1}}, 1, "expected a time of the run");
    refuse((const struct sim_link_state[]){{.rate_bps = GBPS(200)}}, 1, "100000000000 b/s");
    refuse((const struct sim_link_state[]){{.rate_bps = GBPS(10), .up = true}}, 1, "not down");
    refuse((const struct sim_link_state[]){{.up = true, .loss = {.good = 2}}}, 1, "probability");
    refuse((const struct sim_link_state[]){{.at_ps = US}, {.at_ps = US, .up = true}}, 2, "not after");
    refuse((const struct sim_link_state[]){{.at_ps = US}, {.at_ps = US + 1000, .up = true}}, 2,
           "expected at least 745281 ps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_on_the_link_are_lost),
        cmocka_unit_test(a_short_gap_cuts_what_is_on_its_way),
        cmocka_unit_test(a_time_out_repairs),
        cmocka_unit_test(a_request_waits_once),
        cmocka_unit_test(retries_end),
        cmocka_unit_test(pauses_end_with_the_link),
        cmocka_unit_test(rate_is_lower),
        cmocka_unit_test(losses_are_counted),
        cmocka_unit_test(losses_come_in_bursts),
        cmocka_unit_test(routes_follow_the_links),
        cmocka_unit_test(no_path_is_counted),
        cmocka_unit_test(adaptive_routing_reorders),
        cmocka_unit_test(a_ring_deadlocks),
        cmocka_unit_test(two_priorities_do_not),
        cmocka_unit_test(a_link_reset_ends_a_deadlock),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
