/* Every numeric value of the physics at both ends of its range, one at a time, in a short run: the sanitizers
 * see that nothing overflows; a configuration that is impossible as a whole is refused with a sentence. */
#include "lib/roce/congestion_control.h"
#include "lib/physics/fabric.h"
#include "tests/unit/sim/sim_fixture.h"
#include <math.h>
#include <unistd.h>

#define US SIM_PS_PER_US

/* Two hosts, a switch or a forwarding host between them, and a GPU flow each way with everything on that
 * draws or multiplies. */
struct pair {
    struct sim_host_config hosts[2];
    struct sim_link_config links[2];
    struct sim_switch_config fabric;
    struct sim_bridge_config bridge;
    struct sim_flow_config flows[3];
    struct sim_config config;
};

static void pair_host(struct sim_host_config *h)
{
    sim_host_defaults(h);
    h->pcie.generation = 3;
    h->nic.messages_per_s = 10000000;
    h->nic.ack_timeout_ps = 100 * US;
    h->settings.pfc_mask = 1;
    h->settings.mtu_bytes = 4200;
    h->settings.ecn_rp_mask = h->settings.ecn_np_mask = 1;
    h->software = (struct physics_software){
        .post_ps = 1000, .jitter_ps = 1000, .spikes_per_turn = 0.5, .spike_ps = 1000, .spike_floor_ps = 1000};
    for (int i = 0; i < SIM_MEMORIES; i++) {
        struct physics_memory *m = &h->memories[i];
        m->banks = 64;
        m->bank_ps = m->sector_ps = m->read_access_ps = m->write_access_ps = 1000;
        m->stalls_per_s = 100000;
        m->stall_mean_ps = US;
    }
}

/* Receive buffers whose thresholds the fastest links have room for. */
static void pair_buffers(struct pair *p)
{
    for (int i = 0; i < 2; i++)
        p->hosts[i].nic.port_buffer_bytes = p->hosts[i].settings.buffer_bytes[0] = 3200000;
}

static void pair_flow(struct pair *p, enum sim_flow_mode mode, uint32_t from, int64_t message_bytes)
{
    struct sim_flow_config *f = &p->flows[p->config.flow_count++];
    sim_flow_defaults(f);
    f->from = from;
    f->to = 1 - from;
    f->mode = mode;
    f->from_memory = f->to_memory = SIM_MEMORY_GPU;
    f->message_bytes = message_bytes;
    f->rate_bps = mode == SIM_STREAM ? INT64_C(20000000000) : 0;
}

static void pair_init(struct pair *p, bool software)
{
    memset(p, 0, sizeof *p);
    sim_config_defaults(&p->config);
    pair_host(&p->hosts[0]);
    pair_host(&p->hosts[1]);
    sim_switch_defaults(&p->fabric);
    p->fabric.pfc_mask = 1;
    p->fabric.physics.ecn = (struct physics_ecn){
        .kmin_bytes = 2000, .kmax_bytes = 20000, .pmax = 0.5, .reference_bps = INT64_C(25000000000)};
    p->fabric.physics.watchdog.detect_ps = 20 * US;
    sim_bridge_defaults(&p->bridge);
    for (uint32_t i = 0; i < 2; i++)
        p->links[i] = (struct sim_link_config){.a = {SIM_HOST, i},
                                               .b = {software ? SIM_BRIDGE : SIM_SWITCH, 0},
                                               .rate_bps = INT64_C(25000000000),
                                               .delay_ps = 5000,
                                               .loss_per_billion = 1000000};
    p->config.hosts = p->hosts;
    p->config.host_count = 2;
    p->config.links = p->links;
    p->config.link_count = 2;
    p->config.switches = &p->fabric;
    p->config.switch_count = !software;
    p->config.bridges = &p->bridge;
    p->config.bridge_count = software;
    p->config.flows = p->flows;
    pair_flow(p, SIM_STREAM, 0, 20000);
    pair_flow(p, SIM_STREAM, 1, 2);
    pair_flow(p, SIM_PING_PONG, 0, 64);
}

/* Run it, or have a sentence why not. Returns whether it ran. */
static bool pair_run(const struct pair *p, const char *what)
{
    struct error e = {""};
    struct sim *sim = sim_new(&p->config, &e);
    int64_t values[512];
    const struct sim_counter *columns;
    if (!sim) {
        assert_true(strlen(e.text) > 0);
        return false;
    }
    if (sim_run_until(sim, 200 * US, &e) != 0)
        fail_msg("%s: %s", what, e.text);
    for (uint32_t h = 0; h < 2; h++) {
        assert_true(sim_host_counters(sim, h, &columns) <= 512);
        sim_host_values(sim, h, values);
    }
    for (size_t f = 0; f < p->config.flow_count; f++)
        assert_true(sim_flow_ideal_ps(sim, f) >= 0);
    sim_free(sim);
    return true;
}

struct counts {
    size_t ran, refused;
};

static void run_with(const struct pair *p, const char *table, const struct field *f, bool most,
                     struct counts *counts)
{
    char what[160];
    snprintf(what, sizeof what, "%s.%s at its %s", table, f->name, most ? "most" : "least");
    if (pair_run(p, what))
        counts->ran++;
    else
        counts->refused++;
}

/* `object` is a struct of `table` in *p. */
static void visit(struct pair *p, const struct table *table, void *object, struct counts *counts)
{
    for (const struct field *f = table->fields; f->name; f++) {
        void *slot = (char *)object + f->offset;
        for (int most = 0; most < 2; most++) {
            struct pair changed = *p;
            void *at = (char *)&changed + ((char *)slot - (char *)p);
            changed.config.hosts = changed.hosts;
            changed.config.links = changed.links;
            changed.config.switches = &changed.fabric;
            changed.config.bridges = &changed.bridge;
            changed.config.flows = changed.flows;
            if (f->kind == FIELD_INTEGER || f->kind == FIELD_QUANTITY) {
                assert_true(f->max > f->min);
                *(int64_t *)at = most ? f->max : f->min;
            } else if (f->kind == FIELD_NUMBER) {
                assert_true(f->max_number > f->min_number);
                *(double *)at = most ? f->max_number : f->min_number;
            } else if (f->kind == FIELD_BOOL || f->kind == FIELD_CHOICE) {
                *(int *)at = most;
            } else {
                continue;
            }
            run_with(&changed, table->name, f, most, counts);
        }
        if (f->kind == FIELD_OBJECT)
            visit(p, f->sub, slot, counts);
    }
}

static void values_of_hosts_hold_at_their_ends(void **state)
{
    (void)state;
    struct pair p;
    struct counts counts = {0};
    pair_init(&p, false);
    if (!pair_run(&p, "the base"))
        fail_msg("the base does not run");
    for (int end = 0; end < 2; end++) {
        struct sim_host_config *h = &p.hosts[end];
        visit(&p, &physics_nic_table, &h->nic, &counts);
        visit(&p, &physics_pcie_table, &h->pcie, &counts);
        visit(&p, &physics_memory_table, &h->memories[SIM_MEMORY_GPU], &counts);
        visit(&p, &physics_software_table, &h->software, &counts);
        visit(&p, &dcqcn_table, &h->settings.dcqcn, &counts);
    }
    visit(&p, &physics_framing_table, &p.config.framing, &counts);
    assert_true(counts.ran > 10 * counts.refused);
}

/* Each control with all values at their ends; reads are refused where they would have no control. */
static void values_of_congestion_controls_hold_at_their_ends(void **state)
{
    (void)state;
    static const char *const names[] = {CONGESTION_CONTROLS(CONGESTION_CONTROL_NAME)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pair p;
        struct counts counts = {0};
        pair_init(&p, false);
        for (int end = 0; end < 2; end++) {
            struct sim_settings *s = &p.hosts[end].settings;
            s->congestion_control = sim_congestion_control(names[i]);
            s->ecn_rp_mask = s->ecn_np_mask = 0xff;
        }
        if (!pair_run(&p, names[i]))
            fail_msg("%s does not run", names[i]);
        visit(&p, &congestion_table, &p.hosts[0].settings.congestion, &counts);
        assert_true(counts.ran > 10 && counts.refused == 0);
    }
}

static void values_of_the_fabric_hold_at_their_ends(void **state)
{
    (void)state;
    struct pair p;
    struct counts counts = {0};
    pair_init(&p, false);
    visit(&p, &physics_switch_table, &p.fabric.physics, &counts);
    pair_init(&p, true);
    visit(&p, &physics_forwarding_table, &p.bridge.physics, &counts);
    p.bridge.physics.adaptive = false;
    visit(&p, &physics_forwarding_table, &p.bridge.physics, &counts);
    assert_true(counts.ran > 5 * counts.refused);
}

static void links_hold_at_their_ends(void **state)
{
    (void)state;
    static const int64_t rates[] = {PHYSICS_LINK_LEAST_BPS, PHYSICS_LINK_MOST_BPS},
                         delays[] = {0, PHYSICS_LINK_MOST_DELAY_PS},
                         limits[] = {10000, INT64_C(10000000000000)};
    for (int i = 0; i < 8; i++) {
        struct pair p;
        pair_init(&p, i & 4);
        for (int link = 0; link < 2; link++) {
            p.links[link].rate_bps = rates[i & 1];
            p.links[link].delay_ps = delays[i >> 1 & 1];
        }
        p.flows[0].rate_bps = p.flows[1].rate_bps = limits[i & 1];
        (void)pair_run(&p, "a link at its ends");
    }
}

/* What no range of a field can say. */
static void impossible_memories_are_refused(void **state)
{
    (void)state;
    const struct {
        double stalls_per_s;
        int64_t banks, interleave_bytes;
        const char *word;
    } bad[] = {{1e-300, 0, 512, "stalls_per_s"},
               {NAN, 0, 512, "stalls_per_s"},
               {0, 3, 512, "banks"},
               {0, 2, 16, "interleave"},
               {0, 0, 48, "interleave"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pair p;
        struct error e = {""};
        pair_init(&p, false);
        struct physics_memory *m = &p.hosts[0].memories[SIM_MEMORY_GPU];
        m->stalls_per_s = bad[i].stalls_per_s;
        m->banks = bad[i].banks;
        m->interleave_bytes = bad[i].interleave_bytes;
        assert_null(sim_new(&p.config, &e));
        if (!strstr(e.text, bad[i].word))
            fail_msg("\"%s\" does not name %s", e.text, bad[i].word);
    }
    struct pair p;
    pair_init(&p, false);
    p.hosts[0].memories[SIM_MEMORY_GPU].stalls_per_s = 1e-5;
    assert_true(pair_run(&p, "the rarest stalls"));
}

/* ---- what is so short that it may be rounded to nothing */

#define PATIENCE_S 60 /* a clock that stands still ends the test */

/* The first host sends to the second one of a star, on a clock of whole nanoseconds. Payload that arrived in
 * 20 us. */
static int64_t arrived_on_star(uint32_t hosts, int64_t rate_bps, int64_t delay_ps, int64_t message_bytes)
{
    struct sim_topology topology;
    struct fixture f;
    struct error e = {""};
    struct sim_flow_stats stats;
    if (sim_topology_star(&topology, hosts, rate_bps, delay_ps, &e) != 0)
        fail_msg("%s", e.text);
    fixture_open(&f, &topology);
    fixture_hpcc(&f, false);
    f.switches[0].physics.buffer_bytes = 1 << 30;
    fixture_flow(&f, 0, 1, 0)->message_bytes = message_bytes;
    struct sim *sim = fixture_start(&f);
    alarm(PATIENCE_S);
    fixture_run(sim, 20 * US);
    alarm(0);
    sim_flow_stats(sim, 0, &stats);
    sim_free(sim);
    fixture_close(&f);
    return stats.delivered_bytes;
}

/* More than 64 ports are several islands, whose links are planned by their shortest frames; links without a
 * delay have nothing but frames to let time pass. */
static void frames_of_less_than_a_nanosecond_take_one(void **state)
{
    (void)state;
    static const int64_t rates[] = {INT64_C(400000000000), INT64_C(800000000000), PHYSICS_LINK_MOST_BPS};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int delayed = 0; delayed < 2; delayed++) {
            int64_t bytes = arrived_on_star(33, rates[i], delayed ? US : 0, 1);
            assert_in_range(bytes, 1000, 20000); /* one a nanosecond */
            bytes = arrived_on_star(33, rates[i], delayed ? US : 0, 100000);
            assert_in_range(bytes, 400000, 1000 * 20000);
        }
}

/* On the finer clock, frames without a byte and links that are too fast for a frame's are refused. */
static void frames_of_no_time_are_refused(void **state)
{
    (void)state;
    struct pair p;
    struct error e = {""};
    pair_init(&p, false);
    p.config.framing =
        (struct physics_framing){.pad_bytes = 1, .ack_bytes = 1, .cnp_bytes = 1, .pfc_bytes = 1};
    assert_null(sim_new(&p.config, &e));
    assert_non_null(strstr(e.text, "framing.minimum: 0 is out of range"));
    p.config.framing.minimum_bytes = 1;
    p.links[1].rate_bps = PHYSICS_LINK_MOST_BPS;
    assert_null(sim_new(&p.config, &e));
    assert_non_null(strstr(e.text, "a frame of 1 B, with its gap, takes less than a picosecond"));
    p.links[1].rate_bps = INT64_C(7000000000000);
    pair_buffers(&p);
    assert_true(pair_run(&p, "frames of a byte"));
}

/* A hundredth of a quantum is 0.5 ps at 10 Tb/s; a pause is not repeated faster than its frames leave. */
static void a_pause_is_repeated_after_a_frame(void **state)
{
    (void)state;
    struct pair p;
    pair_init(&p, false);
    pair_buffers(&p);
    for (int i = 0; i < 2; i++) {
        p.links[i].rate_bps = PHYSICS_LINK_MOST_BPS;
        p.links[i].loss_per_billion = 0;
        p.hosts[i].nic.pause_quanta = p.hosts[i].nic.pause_refresh_percent = 1;
    }
    p.fabric.physics.pause_quanta = p.fabric.physics.pause_refresh_percent = 1;
    p.hosts[1].memories[SIM_MEMORY_GPU].write_bps = 8000000; /* pauses for the whole run */
    p.flows[0].rate_bps = 0;
    struct error e = {""};
    struct sim *sim = sim_new(&p.config, &e);
    if (!sim)
        fail_msg("%s", e.text);
    alarm(PATIENCE_S);
    if (sim_run_until(sim, 200 * US, &e) != 0)
        fail_msg("%s", e.text);
    alarm(0);
    assert_in_range(counter_of(sim, false, 1, "tx_prio0_pause"), 100, 200 * US / 67); /* 84 B at 10 Tb/s */
    sim_free(sim);
}

static void a_watchdog_has_time_to_look(void **state)
{
    (void)state;
    struct pair p;
    struct error e = {""};
    pair_init(&p, false);
    p.fabric.physics.watchdog.detect_ps = 3; /* a quarter of it is nothing */
    assert_null(sim_new(&p.config, &e));
    assert_non_null(strstr(e.text, "watchdog.detect: 3 ps is out of range"));
    p.fabric.physics.watchdog.detect_ps = US;
    assert_true(pair_run(&p, "the shortest watchdog"));
}

/* 20000 bytes at 1 kb/s are 160 s, of which the arithmetic holds 8. */
static void a_pace_that_is_too_slow_is_refused(void **state)
{
    (void)state;
    struct pair p;
    struct error e = {""};
    pair_init(&p, false);
    p.flows[0].rate_bps = 1000;
    assert_null(sim_new(&p.config, &e));
    assert_non_null(strstr(e.text, "flow flow: 1000 b/s on a queue pair: expected at least 44"));
    p.flows[0].rate_bps = 4500;
    assert_true(pair_run(&p, "a slow pace"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_hosts_hold_at_their_ends),
        cmocka_unit_test(values_of_congestion_controls_hold_at_their_ends),
        cmocka_unit_test(values_of_the_fabric_hold_at_their_ends),
        cmocka_unit_test(links_hold_at_their_ends),
        cmocka_unit_test(impossible_memories_are_refused),
        cmocka_unit_test(frames_of_less_than_a_nanosecond_take_one),
        cmocka_unit_test(frames_of_no_time_are_refused),
        cmocka_unit_test(a_pause_is_repeated_after_a_frame),
        cmocka_unit_test(a_watchdog_has_time_to_look),
        cmocka_unit_test(a_pace_that_is_too_slow_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
