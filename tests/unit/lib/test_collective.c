/* lib/schedule/collective: bytes and steps of each algorithm against their closed forms, and NCCL's choice.
 */
#include "tests/unit/unit.h"
#include "lib/schedule/collective.h"

struct figures {
    int64_t sent, most_sent; /* by all ranks, by the one that sends most */
    int steps;
};

static void figures_of(enum collective_op op, enum collective_algorithm algorithm, uint32_t n,
                       uint32_t channels, int64_t bytes, struct figures *out)
{
    /* the ranks are not their places, and those of another job are between them */
    uint32_t ranks[16];
    int64_t begin[16], end[16], sent[40] = {0};
    struct schedule s;
    struct error e;
    double ns = 0;
    assert_int_equal(schedule_begin(&s, "c", 40, &e), 0);
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = 2 * (n - i);
        begin[i] = i % 2 ? -1 : schedule_add_calc(&s, ranks[i], 0, &e);
    }
    const struct collective c = {op, algorithm, 12.5e9, channels, bytes, ranks, n, n / 2, 5, 0, 1000000};
    if (collective_add(&s, &c, begin, end, &e) != 0 || schedule_finish(&s, &e) != 0)
        fail_msg("%s", e.text);
    *out = (struct figures){0};
    for (uint32_t r = 0; r < s.rank_count; r++)
        for (uint32_t i = s.first[r]; i < s.first[r + 1]; i++)
            sent[r] += s.operations[i].type == SCHEDULE_SEND ? s.operations[i].size : 0;
    for (uint32_t r = 0; r < s.rank_count; r++) {
        out->sent += sent[r];
        out->most_sent = sent[r] > out->most_sent ? sent[r] : out->most_sent;
    }
    assert_int_equal(schedule_least_ns(&s, 0, 1, &ns, &e), 0);
    out->steps = (int)ns;
    schedule_free(&s);
}

static int log2_up(uint32_t n)
{
    int bits = 0;
    while (1u << bits < n)
        bits++;
    return bits;
}

/* Every recv has its send, and of its size: schedule_finish says so. */
static void check(enum collective_op op, enum collective_algorithm algorithm, uint32_t n, int64_t total,
                  double most, int steps, int64_t bytes)
{
    struct figures f;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        figures_of(op, algorithm, n, channels, bytes, &f);
        if (f.sent != total || (bytes >= 1000 && f.steps != steps))
            fail_msg("operation %d, algorithm %d, %u ranks, %u channels, %lld bytes: %lld sent, %d steps: "
                     "expected "
                     "%lld and %d",
                     op, algorithm, n, channels, (long long)bytes, (long long)f.sent, f.steps,
                     (long long)total, steps);
        /* parts differ by a byte */
        assert_true((double)f.most_sent <= most + 2.0 * n * channels);
        assert_true(f.steps <= steps); /* fewer if parts have no byte */
    }
}

static void bytes_and_steps_are_the_closed_forms(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 7, 1000, 65537, 500001};
    for (uint32_t n = 2; n <= 9; n++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            int64_t s = sizes[i], m = n - 1;
            double share = (double)s / n;
            int deepest =
                log2_up(n + 1) - 1; /* in a binomial tree; its messages are not in each other's way */
            check(COLLECTIVE_ALL_REDUCE, COLLECTIVE_RING, n, 2 * m * s, 2 * share * (double)m, 2 * (int)m, s);
            check(COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_RING, n, m * s, share * (double)m, (int)m, s);
            check(COLLECTIVE_ALL_GATHER, COLLECTIVE_RING, n, m * s, share * (double)m, (int)m, s);
            check(COLLECTIVE_ALL_TO_ALL, COLLECTIVE_BY_SIZE, n, m * s, share * (double)m, (int)m, s);
            check(COLLECTIVE_BROADCAST, COLLECTIVE_RING, n, m * s, (double)s, (int)m, s);
            check(COLLECTIVE_REDUCE, COLLECTIVE_RING, n, m * s, (double)s, (int)m, s);
            check(COLLECTIVE_BROADCAST, COLLECTIVE_TREE, n, m * s, (double)s * log2_up(n), deepest, s);
            check(COLLECTIVE_REDUCE, COLLECTIVE_TREE, n, m * s, (double)s, deepest, s);
            struct figures f;
            figures_of(COLLECTIVE_ALL_REDUCE, COLLECTIVE_TREE, n, 1, s, &f);
            assert_int_equal(f.sent, 2 * m * s);
            assert_true(f.most_sent <=
                        2 * s + 2); /* a rank with children in one tree has none in the other */
            assert_true(f.steps <= 2 * (log2_up(n) + 1));
            figures_of(COLLECTIVE_GATHER, COLLECTIVE_BY_SIZE, n, 1, s, &f);
            assert_true(f.sent <= s && f.sent >= s - s / n - 1);
            figures_of(COLLECTIVE_SCATTER, COLLECTIVE_BY_SIZE, n, 1, s, &f);
            assert_true(f.sent <= s && f.sent >= s - s / n - 1);
            check(COLLECTIVE_SEND_RECV, COLLECTIVE_BY_SIZE, n, n * s, (double)s, 1, s);
            check(COLLECTIVE_BARRIER, COLLECTIVE_BY_SIZE, n, (int64_t)n * log2_up(n), 4, log2_up(n), s);
            if (n & (n - 1))
                continue;
            check(COLLECTIVE_ALL_REDUCE, COLLECTIVE_HALVING_DOUBLING, n, 2 * m * s, 2 * share * (double)m,
                  2 * log2_up(n), s);
            check(COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_HALVING_DOUBLING, n, m * s, share * (double)m,
                  log2_up(n), s);
            check(COLLECTIVE_ALL_GATHER, COLLECTIVE_HALVING_DOUBLING, n, m * s, share * (double)m, log2_up(n),
                  s);
        }
}

static void large_ones_go_in_pieces(void **state)
{
    (void)state;
    struct figures f;
    /* 4 MB are 8 pieces, of which the chain's last rank gets the first after 3 steps: with a latency alone,
     * all of them */
    figures_of(COLLECTIVE_BROADCAST, COLLECTIVE_RING, 4, 1, 4 << 20, &f);
    assert_int_equal(f.sent, 3 * (4 << 20));
    assert_int_equal(f.steps, 3);
}

/* Ring for what is large, tree for what is small, the boundary higher with more ranks. */
static void nccl_chooses(void **state)
{
    (void)state;
    for (int64_t bytes = 8; bytes < 1 << 30; bytes *= 2)
        assert_int_equal(collective_choose(COLLECTIVE_ALL_GATHER, 8, bytes, 12.5e9), COLLECTIVE_RING);
    assert_int_equal(collective_choose(COLLECTIVE_ALL_REDUCE, 8, 8192, 12.5e9), COLLECTIVE_TREE);
    assert_int_equal(collective_choose(COLLECTIVE_ALL_REDUCE, 8, 1 << 30, 12.5e9), COLLECTIVE_RING);
    assert_int_equal(collective_choose(COLLECTIVE_ALL_REDUCE, 2, 1 << 20, 12.5e9), COLLECTIVE_RING);
    assert_int_equal(collective_choose(COLLECTIVE_ALL_REDUCE, 1024, 8 << 20, 12.5e9), COLLECTIVE_TREE);
}

static void limits_are_kept(void **state)
{
    (void)state;
    const uint32_t ranks[2] = {0, 1};
    int64_t begin[2] = {-1, -1}, end[2];
    struct schedule s;
    struct error e;
    struct collective c = {
        .op = COLLECTIVE_ALL_TO_ALL, .channels = 1, .bytes = 8, .ranks = ranks, .count = 2};
    assert_int_equal(schedule_begin(&s, "c", 2, &e), 0);
    c.most_operations = 3;
    assert_int_equal(collective_add(&s, &c, begin, end, &e), -1);
    assert_non_null(strstr(e.text, "more than 3 sends, recvs and computations"));
    c.bytes = -1;
    assert_int_equal(collective_add(&s, &c, begin, end, &e), -1);
    schedule_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_steps_are_the_closed_forms),
        cmocka_unit_test(large_ones_go_in_pieces),
        cmocka_unit_test(nccl_chooses),
        cmocka_unit_test(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
