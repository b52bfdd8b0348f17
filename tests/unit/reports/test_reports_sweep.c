/* What a sweep goes over, found from the cells of its index. */
#include "tests/unit/unit.h"

/* its static functions too */
#include "reports/results/sweep_table.c"

#include <string.h>

/* The table's axes of a list of cells. */
static struct sweep_table table_of(const char *list)
{
    struct error e;
    json_t *cells = json_loads(list, 0, NULL);
    struct sweep_table t = {.row_count = json_array_size(cells)};
    assert_non_null(cells);
    t.rows = calloc(t.row_count, sizeof *t.rows);
    assert_int_equal(sweep_axes_find(cells, &t, &e), 0);
    json_decref(cells);
    return t;
}

static void assert_names(const struct sweep_table *t, size_t dimension, const char *label, const char *values)
{
    struct text names = {0};
    assert_string_equal(t->dimensions[dimension].label, label);
    for (size_t i = 0; i < sweep_positions(t, dimension); i++) {
        text_add(&names, "%s", i ? "; " : "");
        sweep_name_position(t, dimension, i, &names);
    }
    assert_string_equal(text_string(&names), values);
    text_free(&names);
}

static void numbers_are_sorted_and_words_are_not(void **state)
{
    (void)state;
    struct sweep_table t = table_of("[{\"cell\":{\"flows.*.message\":\"64KiB\",\"x\":\"b\",\"same\":1}},"
                                    "{\"cell\":{\"flows.*.message\":\"512B\",\"x\":\"b\",\"same\":1}},"
                                    "{\"cell\":{\"flows.*.message\":\"64KiB\",\"x\":\"a\",\"same\":1}}]");
    assert_int_equal(t.axis_count, 3);
    assert_int_equal(t.dimension_count, 2);
    assert_names(&t, 0, "message", "512B; 64KiB");
    assert_names(&t, 1, "x", "b; a");
    assert_false(t.dimensions[0].words);
    assert_true(t.dimensions[1].words);
    assert_int_equal(sweep_position(&t, 0, 0), 1);
    assert_int_equal(sweep_position(&t, 1, 0), 0);
    sweep_table_free(&t);
}

static void numbers_are_as_they_were_written(void **state)
{
    (void)state;
    struct sweep_table t =
        table_of("[{\"cell\":{\"p\":0.1}},{\"cell\":{\"p\":0.30000000000000004}},{\"cell\":{\"p\":1e-3}}]");
    assert_names(&t, 0, "p", "0.001; 0.1; 0.3");
    sweep_table_free(&t);
}

static void labels_tell_axes_apart(void **state)
{
    (void)state;
    struct sweep_table t =
        table_of("[{\"cell\":{\"a.b.depth\":1,\"a.c.depth\":1}},{\"cell\":{\"a.b.depth\":2,\"a.c.depth\":1}},"
                 "{\"cell\":{\"a.b.depth\":1,\"a.c.depth\":2}}]");
    assert_string_equal(t.axes[0].label, "b.depth");
    assert_string_equal(t.axes[1].label, "c.depth");
    sweep_table_free(&t);
}

static void values_that_go_together_are_one_dimension(void **state)
{
    (void)state;
    struct sweep_table t = table_of("[{\"cell\":{\"kmin\":\"50KB\",\"kmax\":\"200KB\",\"d\":1}},{\"cell\":{"
                                    "\"kmin\":\"100KB\",\"kmax\":\"400KB\",\"d\":1}},"
                                    "{\"cell\":{\"kmin\":\"50KB\",\"kmax\":\"200KB\",\"d\":2}},{\"cell\":{"
                                    "\"kmin\":\"100KB\",\"kmax\":\"400KB\",\"d\":2}}]");
    assert_int_equal(t.dimension_count, 2);
    assert_names(&t, 0, "kmin, kmax", "50KB, 200KB; 100KB, 400KB");
    assert_names(&t, 1, "d", "1; 2");
    assert_false(t.dimensions[0].sampled || t.dimensions[1].sampled);
    sweep_table_free(&t);
}

static void samples_are_dimensions_each(void **state)
{
    (void)state;
    struct sweep_table t = table_of(
        "[{\"cell\":{\"a\":5,\"b\":0.1}},{\"cell\":{\"a\":7,\"b\":0.3}},{\"cell\":{\"a\":6,\"b\":0.7}}]");
    assert_int_equal(t.dimension_count, 2);
    assert_true(t.dimensions[0].sampled && t.dimensions[1].sampled);
    sweep_table_free(&t);
}

/* Two cells with the same partner are no pairs: a grid of which a corner was left out. */
static void a_part_of_a_grid_is_no_pair(void **state)
{
    (void)state;
    struct sweep_table t =
        table_of("[{\"cell\":{\"a\":1,\"b\":1}},{\"cell\":{\"a\":2,\"b\":1}},{\"cell\":{\"a\":2,\"b\":2}}]");
    assert_int_equal(t.dimension_count, 2);
    assert_false(t.dimensions[0].sampled || t.dimensions[1].sampled);
    sweep_table_free(&t);
}

static void a_cell_may_lack_a_choice(void **state)
{
    (void)state;
    struct sweep_table t = table_of("[{\"cell\":{\"a\":1}},{\"cell\":{\"b\":2}},{},{\"cell\":7},8]");
    assert_int_equal(t.axis_count, 2);
    assert_null(sweep_choice(&t, 1, 0));
    assert_null(sweep_choice(&t, 4, 1));
    assert_int_equal(sweep_choice(&t, 0, 0)->number, 1);
    sweep_table_free(&t);
}

static void units_are_those_that_people_read(void **state)
{
    (void)state;
    char rate[] = "b/s", time[] = "ns", frames[] = "frames";
    assert_string_equal(sweep_unit_of(&(struct sweep_figure){.unit = rate, .high = 93e9}).name, "Gb/s");
    assert_string_equal(sweep_unit_of(&(struct sweep_figure){.unit = rate, .high = 20e6}).name, "Mb/s");
    assert_string_equal(sweep_unit_of(&(struct sweep_figure){.unit = time, .high = 1500}).name, "us");
    assert_string_equal(sweep_unit_of(&(struct sweep_figure){.unit = frames, .high = 1e9}).name, "frames");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_sorted_and_words_are_not),
        cmocka_unit_test(numbers_are_as_they_were_written),
        cmocka_unit_test(labels_tell_axes_apart),
        cmocka_unit_test(values_that_go_together_are_one_dimension),
        cmocka_unit_test(samples_are_dimensions_each),
        cmocka_unit_test(a_part_of_a_grid_is_no_pair),
        cmocka_unit_test(a_cell_may_lack_a_choice),
        cmocka_unit_test(units_are_those_that_people_read),
    };
    return cmocka_run_group_tests_name("reports_sweep", tests, NULL, NULL);
}
