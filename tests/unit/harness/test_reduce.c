/* Delta debugging: what is left is needed, and little is asked. */
#include "tests/unit/unit.h"

#include "harness/reduce/ddmin.h"
#include "lib/random.h"

/* The outcome is there while one of these groups of things is whole. */
struct outcome_of {
    size_t count;
    const bool *first_group, *second_group;
    size_t asked, most;
};

static bool has_all(const bool *set, const bool *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (group[i] && !set[i])
            return false;
    return true;
}

static size_t first(void *context, const bool *const *sets, size_t count)
{
    struct outcome_of *o = context;
    for (size_t i = 0; i < count; i++) {
        if (o->asked++ >= o->most)
            return DDMIN_BROKEN_OFF;
        if (has_all(sets[i], o->first_group, o->count) ||
            (o->second_group && has_all(sets[i], o->second_group, o->count)))
            return i;
    }
    return count;
}

#define MOST 64

static void what_is_left_is_what_is_needed(void **state)
{
    struct random random;
    (void)state;
    random_seed(&random, 7);
    for (int draw = 0; draw < 200; draw++) {
        bool group[MOST] = {0}, kept[MOST];
        size_t count = 1 + random_below(&random, MOST), needed = random_below(&random, 4), asked;
        for (size_t i = 0; i < needed; i++)
            group[random_below(&random, count)] = true;
        memset(kept, true, sizeof kept);
        struct outcome_of o = {.count = count, .first_group = group, .most = SIZE_MAX};
        assert_int_equal(ddmin(kept, count, first, &o), 0);
        assert_memory_equal(kept, group, count);
        asked = o.asked;
        assert_true(asked <=
                    1 + 16 * (needed + 1)); /* one of a half, a quarter, ...: 2 log2(64) each, about */
    }
}

static void of_two_reasons_one_is_left(void **state)
{
    bool one[MOST] = {[3] = true, [40] = true}, other[MOST] = {[5] = true}, kept[MOST];
    (void)state;
    memset(kept, true, sizeof kept);
    struct outcome_of o = {.count = MOST, .first_group = one, .second_group = other, .most = SIZE_MAX};
    assert_int_equal(ddmin(kept, MOST, first, &o), 0);
    assert_true(memcmp(kept, one, sizeof kept) == 0 || memcmp(kept, other, sizeof kept) == 0);
}

/* What was kept at first is not put back, and what is broken off keeps the least so far. */
static void it_begins_with_what_is_kept_and_can_be_broken_off(void **state)
{
    bool group[MOST] = {[2] = true, [60] = true}, kept[MOST], before[MOST];
    (void)state;
    for (size_t most = 0; most < 12; most++) {
        memset(kept, true, sizeof kept);
        kept[7] = false;
        memcpy(before, kept, sizeof kept);
        struct outcome_of o = {.count = MOST, .first_group = group, .most = most};
        assert_int_equal(ddmin(kept, MOST, first, &o), -1);
        assert_true(has_all(kept, group, MOST));
        assert_true(has_all(before, kept, MOST));
    }
    memset(kept, false, sizeof kept);
    struct outcome_of none = {.count = MOST, .first_group = group, .most = 0};
    assert_int_equal(ddmin(kept, MOST, first, &none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_what_is_needed),
        cmocka_unit_test(of_two_reasons_one_is_left),
        cmocka_unit_test(it_begins_with_what_is_kept_and_can_be_broken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
