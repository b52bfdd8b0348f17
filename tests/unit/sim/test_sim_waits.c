/* Flows that wait for other flows: when they begin, and what is refused. */
#include "tests/unit/sim/sim_fixture.h"

#define US      SIM_PS_PER_US
#define MS      (1000 * US)
#define GBPS(x) ((x)*INT64_C(1000000000))

/* One message from host to host on a star. */
static struct sim_flow_config *message(struct fixture *f, uint32_t from, uint32_t to)
{
    return fixture_flow(f, from, to, 1000000);
}

static void open_star(struct fixture *f)
{
    struct sim_topology t;
    struct error e;
    assert_int_equal(sim_topology_star(&t, 4, GBPS(100), US, &e), 0);
    fixture_open(f, &t);
}

static struct sim_flow_stats stats_of(const struct sim *sim, size_t flow)
{
    struct sim_flow_stats stats;
    sim_flow_stats(sim, flow, &stats);
    return stats;
}

/* A step of a ring begins when its data is there, half a round trip before the sender of that knows it. */
static void begins_with_the_data(void **state)
{
    (void)state;
    struct fixture f;
    const struct sim_wait wait = {.flow = 0};
    open_star(&f);
    message(&f, 0, 1);
    struct sim_flow_config *next = message(&f, 1, 2);
    next->waits = &wait;
    next->wait_count = 1;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 10 * MS);
    struct sim_flow_stats first = stats_of(sim, 0), second = stats_of(sim, 1);
    assert_int_equal(first.started_ps, 0);
    assert_in_range(first.finished_ps - second.started_ps, 2 * US, 2 * US + 100 * SIM_PS_PER_NS);
    assert_true(second.finished_ps > second.started_ps);
    sim_free(sim);
    fixture_close(&f);
}

/* At the sender of both the end is the completion; a delay is added, and `start_ps` is the earliest. */
static void begins_after_completion_and_delay(void **state)
{
    (void)state;
    struct fixture f;
    const struct sim_wait soon = {.flow = 0, .delay_ps = 5 * US}, late = {.flow = 0};
    open_star(&f);
    message(&f, 0, 1);
    struct sim_flow_config *next = message(&f, 0, 2);
    next->waits = &soon;
    next->wait_count = 1;
    next = message(&f, 0, 3);
    next->waits = &late;
    next->wait_count = 1;
    next->start_ps = 3 * MS;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 10 * MS);
    assert_int_equal(stats_of(sim, 1).started_ps, stats_of(sim, 0).finished_ps + 5 * US);
    assert_int_equal(stats_of(sim, 2).started_ps, 3 * MS);
    sim_free(sim);
    fixture_close(&f);
}

/* All that it waits for, each with its delay, whatever their order; several may wait for one. */
static void begins_after_the_last(void **state)
{
    (void)state;
    struct fixture f;
    const struct sim_wait waits[] = {
        {.flow = 0, .delay_ps = 400 * US}, {.flow = 1}, {.flow = 2, .delay_ps = US}};
    open_star(&f);
    message(&f, 0, 3);
    message(&f, 1, 3)->start_ps = 50 * US;
    message(&f, 3, 2)->message_count = 2;
    for (int i = 0; i < 2; i++) {
        struct sim_flow_config *next = message(&f, 3, (uint32_t)i);
        next->waits = waits;
        next->wait_count = 3;
    }
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 10 * MS);
    int64_t latest = 0;
    for (size_t i = 0; i < 2; i++) {
        /* the ACK is back one delay of two links after the data is there */
        int64_t end = stats_of(sim, i).finished_ps - 2 * US + waits[i].delay_ps;
        latest = end > latest ? end : latest;
    }
    int64_t sent = stats_of(sim, 2).finished_ps + US;
    latest = sent > latest ? sent : latest;
    for (size_t i = 3; i < 5; i++)
        assert_in_range(stats_of(sim, i).started_ps, latest - 100 * SIM_PS_PER_NS, latest);
    sim_free(sim);
    fixture_close(&f);
}

/* An end that never comes. */
static void waits_for_ever(void **state)
{
    (void)state;
    struct fixture f;
    const struct sim_wait wait = {.flow = 0};
    open_star(&f);
    message(&f, 0, 1)->stop_ps = 1; /* posts, but ends after the run */
    f.flows[0].message_count = 1000;
    struct sim_flow_config *next = message(&f, 1, 2);
    next->waits = &wait;
    next->wait_count = 1;
    struct sim *sim = fixture_start(&f);
    fixture_run(sim, 10 * MS);
    assert_int_equal(stats_of(sim, 1).started_ps, -1);
    assert_int_equal(stats_of(sim, 1).messages, 0);
    sim_free(sim);
    fixture_close(&f);
}

static void refused(struct fixture *f, const char *words)
{
    struct error e;
    assert_null(sim_new(&f->config, &e));
    if (!strstr(e.text, words))
        fail_msg("no \"%s\" in: %s", words, e.text);
}

static void waits_are_checked(void **state)
{
    (void)state;
    struct fixture f;
    struct sim_wait wait = {.flow = 7};
    open_star(&f);
    message(&f, 0, 1);
    struct sim_flow_config *next = message(&f, 1, 2);
    next->waits = &wait;
    next->wait_count = 1;
    refused(&f, "does not exist");
    wait.flow = 1;
    refused(&f, "does not exist");
    wait.flow = 0;
    f.flows[1].from = 3;
    refused(&f, "does not see");
    f.flows[1].from = 1;
    f.flows[0].message_count = 0;
    refused(&f, "has an end");
    f.flows[0].message_count = 1;
    f.flows[0].operation = SIM_READ;
    refused(&f, "writes or sends");
    f.flows[0].operation = SIM_WRITE;
    wait.delay_ps = -1;
    refused(&f, "out of range");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_the_data),  cmocka_unit_test(begins_after_completion_and_delay),
        cmocka_unit_test(begins_after_the_last), cmocka_unit_test(waits_for_ever),
        cmocka_unit_test(waits_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
