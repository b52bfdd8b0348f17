/* What a search computes: fronts, volumes, knees, Gaussian processes, places of values in their ranges. */
#include "tests/unit/unit.h"

#include "harness/plan/value_range.h"
#include "harness/search/front.h"
#include "harness/search/gaussian.h"
#include <math.h>

static void the_front_has_what_none_dominates(void **state)
{
    const struct vector points[] = {{{1, 5}}, {{2, 3}}, {{2, 4}}, {{4, 1}}, {{5, 5}}, {{2, 3}}};
    bool on[6];
    (void)state;
    front_mark(points, 6, 2, on);
    assert_true(on[0] && on[1] && on[3]);
    assert_false(on[2] || on[4] || on[5]);
    assert_false(front_dominates(&points[1], &points[5], 2));
}

static void volumes_are_those_of_the_boxes(void **state)
{
    const struct vector points[] = {{{1, 3, 1}}, {{2, 2, 1}}, {{3, 1, 1}}, {{9, 9, 9}}}, at = {{4, 4, 3}};
    (void)state;
    assert_true(fabs(front_volume(points, 1, 1, &at) - 3) < 1e-12);
    assert_true(fabs(front_volume(points, 4, 2, &at) - 6) < 1e-12);
    assert_true(fabs(front_volume(points, 4, 3, &at) - 12) < 1e-12);
    const struct vector steps[] = {{{0, 0, 2}}, {{2, 2, 0}}};
    assert_true(fabs(front_volume(steps, 2, 3, &at) - (16 + 8)) < 1e-12);
}

static void the_knee_is_nearest_to_the_best_of_all(void **state)
{
    const struct vector front[] = {{{0, 100}}, {{1, 20}}, {{5, 10}}, {{10, 0}}};
    (void)state;
    assert_int_equal(front_knee(front, 4, 2), 1);
    assert_int_equal(front_knee(front, 4, 1), 0);
}

/* A smooth function of one of two parameters. */
static double smooth(const double *at)
{
    return sin(6 * at[0]) + 10;
}

static void a_process_tells_values_between_points(void **state)
{
    static const bool ordered[] = {true, true};
    static const size_t parts[] = {0, 0};
    double places[24][2], values[24], mean, deviation, far;
    const double *rows[24];
    struct gaussian g;
    (void)state;
    for (int i = 0; i < 24; i++) {
        places[i][0] = i / 24.0;
        places[i][1] = fmod(i * 0.37, 1);
        rows[i] = places[i];
        values[i] = smooth(places[i]);
    }
    assert_int_equal(gaussian_fit(&g, 2, ordered, parts, rows, values, 24, NULL), 0);
    const double between[] = {0.43, 0.9}, outside[] = {3, 3};
    gaussian_at(&g, between, &mean, &deviation);
    gaussian_at(&g, outside, &far, &far);
    assert_true(fabs(mean - smooth(between)) < 0.1);
    assert_true(deviation < 0.2 && far > deviation);
    assert_true(g.nearness[1] <= g.nearness[0]); /* which says nothing */
    gaussian_free(&g);
    for (int i = 0; i < 24; i++)
        values[i] = 7;
    assert_int_equal(gaussian_fit(&g, 2, ordered, parts, rows, values, 24, NULL), -1);
}

static void a_value_lies_where_its_place_gives_it(void **state)
{
    static const char *const ranges[] = {
        "{\"from\": \"40KB\", \"to\": \"1600KB\", \"scale\": \"log\"}", "{\"from\": 1, \"to\": 7}",
        "{\"from\": 0.01, \"to\": 1.0, \"scale\": \"log\"}", "[\"host\", \"gpu\", \"managed\"]"};
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct error e;
        struct value_range range;
        json_t *written = json_loads(ranges[i], 0, NULL);
        assert_int_equal(value_range_parse(written, &range, &e), 0);
        for (int k = 0; k < 20; k++) {
            double at = k / 20.0;
            json_t *value = value_range_at(&range, at, 0), *again;
            double place = value_range_place(&range, value);
            assert_true(place >= 0 && place < 1);
            again = value_range_at(&range, place, 0);
            assert_true(json_equal(value, again));
            json_decref(value);
            json_decref(again);
        }
        json_decref(written);
    }
    json_t *outside = json_string("2MB"), *other = json_string("10us");
    json_t *written = json_loads(ranges[0], 0, NULL);
    struct value_range range;
    struct error e;
    assert_int_equal(value_range_parse(written, &range, &e), 0);
    assert_true(isnan(value_range_place(&range, outside)) && isnan(value_range_place(&range, other)));
    json_decref(outside);
    json_decref(other);
    json_decref(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_front_has_what_none_dominates),
        cmocka_unit_test(volumes_are_those_of_the_boxes),
        cmocka_unit_test(the_knee_is_nearest_to_the_best_of_all),
        cmocka_unit_test(a_process_tells_values_between_points),
        cmocka_unit_test(a_value_lies_where_its_place_gives_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
