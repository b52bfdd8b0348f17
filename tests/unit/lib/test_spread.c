#include "tests/unit/unit.h"

#include "lib/statistics/spread.h"
#include <math.h>

static void near(double found, double expected, double most)
{
    if (!(fabs(found - expected) <= most))
        fail_msg("%.9g, expected %.9g", found, expected);
}

/* The quantiles for 0.975 in the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2 */
static void t_is_that_of_the_tables(void **state)
{
    static const struct {
        size_t degrees;
        double t;
    } table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
                 {9, 2.262},  {10, 2.228}, {30, 2.042}, {99, 1.984}, {100, 1.984}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        near(spread_t95(table[i].degrees), table[i].t, 0.0005);
    near(spread_t95(1000000), 1.959964, 0.000001);
    near(spread_t95(9999), spread_t95(10000), 0.0003);
}

static void of_values(void **state)
{
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    (void)state;
    struct spread s = spread_of(values, 8);
    assert_int_equal(s.count, 8);
    near(s.mean, 5, 1e-12);
    near(s.stddev, sqrt(32.0 / 7), 1e-12);
    near(s.ci95, 2.3646 * sqrt(32.0 / 7) / sqrt(8), 0.0001);
}

static void large_values_close_together(void **state)
{
    static const double values[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
    (void)state;
    near(spread_of(values, 3).stddev, 1, 1e-6);
}

static void of_too_few(void **state)
{
    static const double one = 3;
    (void)state;
    struct spread none = spread_of(NULL, 0), single = spread_of(&one, 1);
    assert_true(isnan(none.mean) && isnan(none.stddev));
    assert_true(single.mean == 3 && isnan(single.stddev) && isnan(single.ci95));
    json_t *shown = spread_json(&single);
    assert_true(json_is_null(json_object_get(shown, "ci95")));
    near(json_number_value(json_object_get(shown, "mean")), 3, 0);
    json_decref(shown);
}

static void intervals_have_two_digits(void **state)
{
    (void)state;
    near(spread_two_digits(122.2), 120, 0);
    near(spread_two_digits(0.0448), 0.045, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_is_that_of_the_tables),     cmocka_unit_test(of_values),
        cmocka_unit_test(large_values_close_together), cmocka_unit_test(of_too_few),
        cmocka_unit_test(intervals_have_two_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
