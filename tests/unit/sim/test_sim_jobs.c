/* Jobs: operations begin and end when the schedule says, to the nanosecond; messages of different sizes on
 * one queue pair, also with losses; NICs of a rank; threads. */
#include "lib/random.h"
#include "sim/faults/faults.h"
#include "sim/jobs.h"
#include "tests/unit/sim/sim_fixture.h"

#define NS         SIM_PS_PER_NS
#define US         SIM_PS_PER_US
#define MOST_HOSTS 64

/* Of a packet of 1000 bytes and of an ACK over a star at 100 Gb/s and 1 us a link, on a clock of whole
 * nanoseconds: 2 * (1048 * 8 / 100 + 1000) and 2 * (60 * 8 / 100 + 1000). */
#define THERE_NS  2166
#define BACK_NS   2008
#define PACKET_NS 83

struct play {
    struct fixture f;
    struct schedule schedule;
    struct sim_job_config job;
    uint32_t hosts[MOST_HOSTS];
    struct sim_flow_config of_sender[MOST_HOSTS];
    struct sim *sim;
};

static void read_schedule(struct schedule *s, const char *text)
{
    struct error e;
    char *copy = strdup(text);
    assert_non_null(copy);
    if (schedule_read_content(s, "s.goal", copy, strlen(copy), &e) != 0)
        fail_msg("%s", e.text);
}

/* On a star; rank r is on host r, or with two NICs on 2 r and 2 r + 1. */
static void open_play(struct play *p, uint32_t hosts, uint32_t nics, const char *text)
{
    struct sim_topology t;
    struct error e;
    memset(p, 0, sizeof *p);
    assert_int_equal(sim_topology_star(&t, hosts, INT64_C(100000000000), US, &e), 0);
    fixture_open(&p->f, &t);
    fixture_hpcc(&p->f, false);
    read_schedule(&p->schedule, text);
    for (uint32_t i = 0; i < hosts; i++) {
        p->hosts[i] = i;
        p->of_sender[i].payload_bytes = 1000;
    }
    p->job = (struct sim_job_config){
        .name = "job", .schedule = &p->schedule, .nics = nics, .hosts = p->hosts, .of_sender = p->of_sender};
    sim_flow_defaults(&p->job.flow);
    p->job.flow.priority = LOSSLESS;
    p->f.config.jobs = &p->job;
    p->f.config.job_count = 1;
}

static void run_play(struct play *p, int64_t until_ps)
{
    p->sim = fixture_start(&p->f);
    fixture_run(p->sim, until_ps);
}

static void close_play(struct play *p)
{
    sim_free(p->sim);
    schedule_free(&p->schedule);
    fixture_close(&p->f);
}

static void lasts(const struct play *p, uint32_t operation, int64_t begin_ns, int64_t end_ns)
{
    int64_t begin_ps, end_ps;
    sim_rank_operation(p->sim, 0, operation, &begin_ps, &end_ps);
    if (begin_ps != begin_ns * NS || end_ps != end_ns * NS)
        fail_msg("operation %u: %.3f to %.3f ns, expected %ld to %ld", operation, (double)begin_ps / 1e3,
                 (double)end_ps / 1e3, (long)begin_ns, (long)end_ns);
}

#define TWO(zero, one) "num_ranks 2\nrank 0 {\n" zero "}\nrank 1 {\n" one "}\n"

/* A send ends with its ACK, a recv with the data; computations before, between and behind them. */
static void operations_follow_one_another(void **state)
{
    (void)state;
    struct play p;
    struct sim_rank rank;
    open_play(&p, 2, 1,
              TWO("a: calc 500\nb: send 1000b to 1\nb requires a\nc: calc 70\nc requires b\n",
                  "d: recv 1000b from 0\ne: calc 300\ne requires d\nf: calc 9000\nf irequires d\n"));
    run_play(&p, 20 * US);
    lasts(&p, 0, 0, 500);
    lasts(&p, 1, 500, 500 + THERE_NS + BACK_NS);
    lasts(&p, 2, 500 + THERE_NS + BACK_NS, 570 + THERE_NS + BACK_NS);
    lasts(&p, 3, 0, 500 + THERE_NS);
    lasts(&p, 5, 0, 9000); /* has the CPU first, */
    lasts(&p, 4, 9000, 9300);
    sim_rank(p.sim, 0, 0, &rank);
    assert_int_equal(rank.end_ps, (570 + THERE_NS + BACK_NS) * NS);
    assert_int_equal(rank.calc_ps, 570 * NS);
    assert_int_equal(rank.exposed_ps, (THERE_NS + BACK_NS) * NS);
    assert_int_equal(rank.sent_bytes, 1000);
    sim_rank(p.sim, 0, 1, &rank);
    assert_int_equal(rank.exposed_ps, 0);
    assert_int_equal(rank.received_bytes, 1000);
    assert_int_equal(rank.unfinished, 0);
    close_play(&p);
}

/* A CPU takes what became ready first, of equal times the lower number; another CPU is free; a computation of
 * no time needs none. */
static void computations_share_cpus(void **state)
{
    (void)state;
    struct play p;
    open_play(
        &p, 2, 1,
        TWO("a: calc 100\nb: calc 10\nc: calc 30 cpu 1\nd: calc 5\nd requires c\ne: calc 7\ne irequires c\n"
            "f: calc 0\ng: calc 50 cpu 2\ng requires f\nh: calc 20 cpu 2\n",
            "calc 1\n"));
    run_play(&p, US);
    lasts(&p, 0, 0, 100);
    lasts(&p, 1, 100, 110);
    lasts(&p, 2, 0, 30);
    lasts(&p, 4, 110, 117); /* ready at 0, behind b by its number */
    lasts(&p, 3, 117, 122); /* ready at 30 */
    lasts(&p, 5, 0, 0);
    lasts(&p, 6, 0, 50);
    lasts(&p, 7, 50, 70);
    close_play(&p);
}

/* Messages of a pair go one after the other, in the order in which they begin, with a packet behind another.
 */
static void messages_share_a_queue_pair(void **state)
{
    (void)state;
    struct play p;
    open_play(&p, 2, 1,
              TWO("a: send 3000b to 1 tag 9\nb: send 500b to 1 tag 8\nc: send 0b to 1 tag 7\n",
                  "recv 0b from 0 tag 7\nrecv 500b from 0 tag 8\nrecv 3000b from 0 tag 9\n"));
    run_play(&p, 20 * US);
    lasts(&p, 5, 0, THERE_NS + 2 * PACKET_NS);
    /* 548 bytes take 43 ns, on the second link behind the packet before */
    lasts(&p, 4, 0, THERE_NS + 2 * PACKET_NS + 43);
    lasts(&p, 3, 0, THERE_NS + 2 * PACKET_NS + 43 + 3);
    close_play(&p);
}

/* Each NIC has its line: as long as one message alone. */
static void ranks_have_several_nics(void **state)
{
    (void)state;
    struct play p;
    open_play(
        &p, 4, 2,
        TWO("a: send 1000b to 1\nb: send 1000b to 1 tag 1 nic 1\nc: calc 40\nc requires a\nc requires b\n",
            "recv 1000b from 0\nrecv 1000b from 0 tag 1 nic 1\n"));
    run_play(&p, 20 * US);
    lasts(&p, 3, 0, THERE_NS);
    lasts(&p, 4, 0, THERE_NS);
    lasts(&p, 2, THERE_NS + BACK_NS, THERE_NS + BACK_NS + 40);
    close_play(&p);
    open_play(&p, 2, 1, TWO("send 1000b to 1 nic 1\n", "recv 1000b from 0\n"));
    struct error e;
    assert_null(sim_new(&p.f.config, &e));
    assert_string_equal(e.text, "simulator: job job: rank 0 has no NIC 1");
    close_play(&p);
}

/* A link that stays down: what waits for its messages never ends. */
static void what_never_ends_is_counted(void **state)
{
    (void)state;
    struct play p;
    struct sim_rank rank;
    const struct sim_link_state down = {.link = 1, .at_ps = US};
    open_play(&p, 2, 1,
              TWO("a: send 100000b to 1\nb: calc 5\nb requires a\n",
                  "c: recv 100000b from 0\nd: calc 3\nd requires c\ncalc 800\n"));
    p.f.config.link_states = &down;
    p.f.config.link_state_count = 1;
    run_play(&p, 5 * SIM_PS_PER_S);
    for (uint32_t r = 0; r < 2; r++) {
        sim_rank(p.sim, 0, r, &rank);
        assert_int_equal(rank.unfinished, 2);
        assert_int_equal(rank.end_ps, -1);
    }
    assert_int_equal(rank.exposed_ps, 5 * SIM_PS_PER_S - 800 * NS);
    close_play(&p);
}

/* ---- at random: every rank sends to every other one, messages of any size, in chains */

static void random_schedule(struct schedule *s, uint32_t ranks, uint32_t steps)
{
    struct random random;
    struct error e;
    random_seed(&random, 7);
    assert_int_equal(schedule_begin(s, "random", ranks, &e), 0);
    int64_t last[MOST_HOSTS];
    for (uint32_t r = 0; r < ranks; r++)
        last[r] = schedule_add_calc(s, r, (int64_t)random_below(&random, 3000), &e);
    for (uint32_t k = 0; k < steps; k++)
        for (uint32_t r = 0; r < ranks; r++) {
            uint32_t to = (r + 1 + k % (ranks - 1)) % ranks, tag = k % 3;
            int64_t bytes = (int64_t)random_below(&random, 9000);
            int64_t send = schedule_add_send(s, r, to, bytes, tag, &e);
            int64_t recv = schedule_add_recv(s, to, r, bytes, tag, &e);
            int64_t calc = schedule_add_calc(s, to, (int64_t)random_below(&random, 700), &e);
            assert_true(send >= 0 && recv >= 0 && calc >= 0);
            assert_int_equal(schedule_add_wait(s, send, last[r], k % 2, &e), 0);
            assert_int_equal(schedule_add_wait(s, calc, recv, false, &e), 0);
            last[to] = k % 5 ? calc : last[to];
        }
    if (schedule_finish(s, &e) != 0)
        fail_msg("%s", e.text);
}

struct ends {
    int64_t *ps;
    size_t count;
};

static struct ends play_random(uint32_t threads, int64_t loss_per_billion, bool selective, bool pcie)
{
    struct play p;
    struct sim_topology t;
    struct error e;
    struct sim_rank rank;
    open_play(&p, 2, 1, TWO("calc 1\n", "calc 1\n"));
    schedule_free(&p.schedule);
    fixture_close(&p.f);
    assert_int_equal(sim_topology_leaf_spine(&t, 4, 4, 2, INT64_C(100000000000), US, &e), 0);
    fixture_open(&p.f, &t);
    random_schedule(&p.schedule, 16, SANITIZED ? 20 : 60);
    for (uint32_t i = 0; i < 16; i++) {
        p.hosts[i] = i;
        p.of_sender[i].payload_bytes = 1000;
        p.f.hosts[i].nic.ack_timeout_ps = 100 * US;
        p.f.hosts[i].nic.recovery = selective ? PHYSICS_SELECTIVE_REPEAT : p.f.hosts[i].nic.recovery;
        p.f.hosts[i].pcie.generation = pcie ? 4 : 0;
        p.f.hosts[i].settings.ecn_rp_mask = p.f.hosts[i].settings.ecn_np_mask = 1u << LOSSLESS;
    }
    for (size_t i = 0; i < t.link_count; i++)
        p.f.topology.links[i].loss_per_billion = loss_per_billion;
    p.f.config.jobs = &p.job;
    p.f.config.job_count = 1;
    p.f.config.threads = threads;
    run_play(&p, 100 * 1000 * US);
    struct ends ends = {calloc(2 * p.schedule.operation_count, sizeof *ends.ps),
                        2 * p.schedule.operation_count};
    for (uint32_t i = 0; i < p.schedule.operation_count; i++)
        sim_rank_operation(p.sim, 0, i, &ends.ps[2 * i], &ends.ps[2 * i + 1]);
    int64_t sent = 0, received = 0;
    for (uint32_t r = 0; r < 16; r++) {
        sim_rank(p.sim, 0, r, &rank);
        assert_int_equal(rank.unfinished, 0);
        sent += rank.sent_bytes;
        received += rank.received_bytes;
    }
    assert_int_equal(sent, received);
    int64_t payload = 0;
    for (uint32_t i = 0; i < 16; i++)
        payload += p.sim->hosts[i].counters.rx_payload_bytes;
    assert_int_equal(payload, received); /* each byte once, whatever was sent again */
    close_play(&p);
    return ends;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    const struct {
        int64_t loss;
        bool selective, pcie;
    } cases[] = {{0, false, false},
                 {0, false, true},
                 {2000000, false, false},
                 {2000000, true, false},
                 {2000000, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ends one = play_random(1, cases[i].loss, cases[i].selective, cases[i].pcie);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct ends more = play_random(threads, cases[i].loss, cases[i].selective, cases[i].pcie);
            assert_memory_equal(one.ps, more.ps, one.count * sizeof *one.ps);
            free(more.ps);
        }
        free(one.ps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_follow_one_another), cmocka_unit_test(computations_share_cpus),
        cmocka_unit_test(messages_share_a_queue_pair),   cmocka_unit_test(ranks_have_several_nics),
        cmocka_unit_test(what_never_ends_is_counted),    cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
