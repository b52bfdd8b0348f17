/* The table of figures, which the build makes from the names of files. */
#include "tests/unit/unit.h"

#include "reports/drawing/figures.h"
#include <glob.h>

static void each_file_has_figures_of_one_kind_each(void **state)
{
    (void)state;
    for (const struct figure *const *file = figures; *file; file++) {
        assert_non_null((*file)->name);
        for (const struct figure *f = *file; f->name; f++) {
            assert_true(*f->title && *f->caption && f->x_label);
            assert_true(!f->run != !f->sweep);
        }
    }
}

/* Names are those of files on a page. */
static void names_differ(void **state)
{
    (void)state;
    for (const struct figure *const *file = figures; *file; file++)
        for (const struct figure *f = *file; f->name; f++)
            for (const struct figure *const *other = figures; *other; other++)
                for (const struct figure *g = *other; g->name; g++)
                    if (f != g && !f->run == !g->run)
                        assert_string_not_equal(f->name, g->name);
}

static void no_file_is_left_out(void **state)
{
    glob_t found;
    size_t count = 0;
    (void)state;
    if (glob("reports/drawing/figures_*.c", 0, NULL, &found) != 0)
        skip(); /* not run in the source tree */
    while (figures[count])
        count++;
    assert_int_equal(count, found.gl_pathc);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_has_figures_of_one_kind_each),
        cmocka_unit_test(names_differ),
        cmocka_unit_test(no_file_is_left_out),
    };
    return cmocka_run_group_tests_name("reports_figures", tests, NULL, NULL);
}
