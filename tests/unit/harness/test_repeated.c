/* The figures of repeated runs in an index: compared with values computed by hand, their names, and how many
 * are left out for lack of room. */
#include "tests/unit/unit.h"

#include "harness/plan/plan.h"
#include "harness/judge/repeated.h"
#include <math.h>
#include <string.h>

static json_t *result_of(double f, double g, double left)
{
    return json_pack("{s:{s:{s:f,s:{s:f}},s:{s:f},s:{s:f},s:{s:f}},s:[{s:s,s:f,s:s},{s:s,s:f,s:s},{s:s,s:n}],"
                     "s:[{s:s,s:f,s:s}],s:{s:{s:{s:{s:s,s:s,s:i},s:{s:s,s:s,s:i}}}}}",
                     "flows", "f", "goodput_bps", f, "latency_ns", "p99", 5.0, "mesh", "goodput_bps", g,
                     "mesh/0", "goodput_bps", g / 2, "mesh/1", "goodput_bps", g / 2, "expectations", "name",
                     "fast", "left", left, "unit", "b/s", "name", "fast", "left", 1.0, "unit", "", "name",
                     "later", "left", "published", "name", "table 1", "value", left * 2, "unit", "MiB/s",
                     "hosts", "a", "counters", "tx_prio0_pause", "unit", "frames", "group", "pfc", "delta", 7,
                     "rx_bytes", "unit", "bytes", "group", "throughput", "delta", 9);
}

static json_t *add_runs(struct spreads *s, struct room room, size_t *left_out)
{
    static const double values[][3] = {{10, 20, 2}, {12, 20, 4}, {14, 20, 9}};
    for (size_t i = 0; i < 3; i++) {
        json_t *result = result_of(values[i][0], values[i][1], values[i][2]);
        assert_non_null(result);
        assert_int_equal(spreads_add_result(s, result), 0);
        json_decref(result);
    }
    return spreads_json(s, room, left_out);
}

static void is(const json_t *figures, const char *name, const char *unit, double mean, double stddev)
{
    const json_t *figure = json_object_get(figures, name);
    if (!figure)
        fail_msg("there is no figure %s", name);
    assert_string_equal(json_string_value(json_object_get(figure, "unit")), unit);
    assert_int_equal(json_integer_value(json_object_get(figure, "count")), 3);
    double found = json_number_value(json_object_get(figure, "mean")),
           deviation = json_number_value(json_object_get(figure, "stddev")),
           ci95 = json_number_value(json_object_get(figure, "ci95"));
    if (fabs(found - mean) > 1e-9 || fabs(deviation - stddev) > 1e-9)
        fail_msg("%s: %g and %g, expected %g and %g", name, found, deviation, mean, stddev);
    assert_true(fabs(ci95 - 4.3026527 * stddev / sqrt(3)) < 1e-6); /* t of two degrees of freedom */
}

static void figures_are_those_of_the_runs(void **state)
{
    struct spreads s = {0};
    size_t left_out;
    (void)state;
    json_t *figures = add_runs(&s, (struct room){1 << 20, 1 << 20}, &left_out);
    assert_int_equal(left_out, 0);
    is(figures, "goodput_bps", "b/s", 32, 2); /* the pattern and its flows are counted once */
    is(figures, "flows.f.goodput_bps", "b/s", 12, 2);
    is(figures, "flows.f.latency_p99_ns", "ns", 5, 0);
    is(figures, "flows.mesh.goodput_bps", "b/s", 20, 0);
    is(figures, "flows.mesh/1.goodput_bps", "b/s", 10, 0);
    is(figures, "expectations.fast", "b/s", 5, sqrt(13));
    is(figures, "expectations.fast (2)", "", 1, 0); /* another one of the same name */
    is(figures, "published.table 1", "MiB/s", 10, 2 * sqrt(13));
    is(figures, "pauses.a.tx_prio0_pause", "frames", 7, 0);
    assert_null(json_object_get(figures, "expectations.later"));
    assert_null(json_object_get(figures, "pauses.a.rx_bytes"));
    assert_true(spreads_of(&s, "goodput_bps").mean == 32);
    assert_int_equal(spreads_of(&s, "nothing").count, 0);
    json_decref(figures);
    spreads_free(&s);
}

/* A cell that cannot be run leaves a result without flows: it has no figures, not zeros. */
static void a_run_that_did_not_run_has_none(void **state)
{
    struct spreads s = {0};
    size_t left_out;
    json_t *result = json_pack("{s:{},s:s}", "flows", "reason", "lab x lacks gpu");
    (void)state;
    assert_int_equal(spreads_add_result(&s, result), 0);
    json_t *figures = spreads_json(&s, (struct room){1 << 20, 1 << 20}, &left_out);
    assert_int_equal(json_object_size(figures), 0);
    json_decref(figures);
    json_decref(result);
    spreads_free(&s);
}

/* The first figures are kept, and what is kept takes no more than the room. */
static void what_there_is_no_room_for_is_counted(void **state)
{
    (void)state;
    for (size_t text = 0; text < 4000; text += 250) {
        struct spreads s = {0};
        size_t left_out;
        json_t *figures = add_runs(&s, (struct room){text, 1 << 20}, &left_out);
        json_t *wrapped = json_pack("[[O]]", figures); /* indented as in the index */
        char *shown = json_dumps(wrapped, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        assert_int_equal(left_out + json_object_size(figures), s.count);
        if (json_object_size(figures))
            assert_true(strlen(shown) <= text + 40 && json_object_get(figures, "goodput_bps"));
        free(shown);
        json_decref(wrapped);
        json_decref(figures);
        spreads_free(&s);
    }
}

static json_t *nothing_else(const void *context, const json_t *choice, const char *path)
{
    (void)context;
    (void)choice;
    fail_msg("%s is varied", path);
    return NULL;
}

static void the_other_cell_is_found(void **state)
{
    json_t *sweep =
        json_loads("{\"m\":[\"host\",\"gpu\"],\"d\":[1,2],\"except\":[{\"m\":\"gpu\",\"d\":2}]}", 0, NULL);
    struct plan plan = {0};
    struct cell cells[3] = {0};
    struct cell_places places;
    struct error e;
    (void)state;
    assert_int_equal(choices_parse(sweep, false, false, nothing_else, NULL, &plan.choices, &e), 0);
    plan.cell_count = plan.choices.count;
    assert_int_equal(plan.cell_count, 3);
    for (size_t i = 0; i < 3; i++)
        cells[i].choice = choices_at(&plan.choices, i); /* host 1, host 2, gpu 1 */
    cell_places_make(&places, &plan);
    json_t *host = json_pack("{s:s}", "m", "host"), *gpu = json_pack("{s:s}", "m", "gpu"),
           *elsewhere = json_pack("{s:s}", "x", "gpu");
    assert_int_equal(cell_places_other(&places, &cells[2], host), 0);
    assert_int_equal(cell_places_other(&places, &cells[0], gpu), 2);
    assert_int_equal(cell_places_other(&places, &cells[0], host), 0);
    assert_int_equal(cell_places_other(&places, &cells[1], NULL), 1);
    assert_true(cell_places_other(&places, &cells[1], gpu) == NO_CELL); /* it was left out */
    assert_true(cell_places_other(&places, &cells[0], elsewhere) == NO_CELL);
    json_decref(host);
    json_decref(gpu);
    json_decref(elsewhere);
    cell_places_free(&places);
    for (size_t i = 0; i < 3; i++)
        json_decref(cells[i].choice);
    choices_free(&plan.choices);
    json_decref(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_runs),
        cmocka_unit_test(a_run_that_did_not_run_has_none),
        cmocka_unit_test(what_there_is_no_room_for_is_counted),
        cmocka_unit_test(the_other_cell_is_found),
    };
    return cmocka_run_group_tests_name("repeated", tests, NULL, NULL);
}
