/* Quantiles of a gauge: exact for few different values, within the stated error for many. */
#include "tests/unit/unit.h"

#include "harness/record/tally.h"
#include <math.h>
#include <stdlib.h>

static int64_t quantile(const struct tally *t, double q)
{
    int64_t value = -1;
    assert_true(tally_quantile(t, q, &value));
    return value;
}

/* The nearest rank of 1 .. 10, each once, and of 0 fifty times beside 7. */
static void few_values_are_exact(void **state)
{
    static const int64_t values[] = {7, 3, 10, 1, 9, 2, 8, 4, 6, 5};
    struct tally t = {0};
    int64_t none;
    (void)state;
    assert_false(tally_quantile(&t, 0.5, &none));
    for (size_t i = 0; i < 10; i++)
        tally_add(&t, values[i]);
    assert_int_equal(quantile(&t, 0.5), 5);
    assert_int_equal(quantile(&t, 0.9), 9);
    assert_int_equal(quantile(&t, 0.91), 10);
    assert_int_equal(quantile(&t, 0), 1);
    assert_int_equal(quantile(&t, 1), 10);
    for (size_t i = 0; i < 90; i++)
        tally_add(&t, -4);
    assert_int_equal(quantile(&t, 0.9), -4);
    assert_int_equal(quantile(&t, 0.99), 9);
    tally_free(&t);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Against sorted values; `most` is the error that the header states. */
static void compare(int64_t (*next)(uint64_t random), double most)
{
    enum { COUNT = 40000 };
    static const double shares[] = {0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1};
    int64_t *values = calloc(COUNT, sizeof *values);
    struct tally t = {0};
    uint64_t random = 1;
    assert_non_null(values);
    for (size_t i = 0; i < COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = next(random >> 1);
        tally_add(&t, values[i]);
        assert_true(t.used <= TALLY_MOST && t.capacity <= TALLY_MOST);
    }
    qsort(values, COUNT, sizeof *values, by_value);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t rank = (size_t)ceil(shares[i] * COUNT);
        double exact = (double)values[rank ? rank - 1 : 0], found = (double)quantile(&t, shares[i]);
        if (fabs(found - exact) > most * fabs(exact))
            fail_msg("share %g: %.17g, exactly %.17g", shares[i], found, exact);
    }
    assert_true(t.count == COUNT);
    free(values);
    tally_free(&t);
}

static int64_t a_thousand(uint64_t random)
{
    return (int64_t)(random % 1000) * 1000003 - 500000000;
}

static int64_t up_to_2_16(uint64_t random)
{
    return (int64_t)(random >> 10 & 0xffff);
}

static int64_t two_octaves(uint64_t random)
{
    return (1 << 30) + (int64_t)((random >> 10) % (3u << 30));
}

static int64_t anything(uint64_t random)
{
    int64_t magnitude = (int64_t)(random >> (random & 63 ? random & 63 : 1));
    return random >> 20 & 1 ? -magnitude - 1 : magnitude;
}

static void many_values_are_within_the_stated_error(void **state)
{
    (void)state;
    compare(a_thousand, 0);
    compare(up_to_2_16, 1.0 / 64);
    compare(two_octaves, 1.0 / 256);
    compare(anything, 1.0 / 8);
}

static void the_extremes_are_values(void **state)
{
    struct tally t = {0};
    (void)state;
    tally_add(&t, INT64_MIN);
    tally_add(&t, INT64_MAX);
    for (int64_t i = 0; i < 5000; i++)
        tally_add(&t, (i % 2 ? -1 : 1) * (i << 40));
    assert_true(quantile(&t, 0) == INT64_MIN);
    assert_true(quantile(&t, 1) == INT64_MAX);
    tally_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_exact),
        cmocka_unit_test(many_values_are_within_the_stated_error),
        cmocka_unit_test(the_extremes_are_values),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
