/* Rows of settings and the knobs that write them. */
#include "nic-config/knobs/knob.h"
#include "tests/unit/unit.h"
#include <string.h>

static size_t knobs_with(const char *key)
{
    size_t count = 0;
    for (size_t i = 0; knobs[i]; i++)
        for (size_t k = 0; knobs[i]->keys[k]; k++)
            count += strcmp(knobs[i]->keys[k], key) == 0;
    return count;
}

static void what_real_hosts_have_is_written_by_one_knob(void **state)
{
    (void)state;
    for (const struct setting *s = settings_known; s->key; s++)
        if (knobs_with(s->key) != (s->nodes & ON_HOST ? 1 : 0))
            fail_msg("%s: %zu knobs", s->key, knobs_with(s->key));
}

static void keys_of_a_knob_go_with_roce_together(void **state)
{
    (void)state;
    size_t of_roce = 0;
    for (size_t i = 0; knobs[i]; i++) {
        of_roce += knob_is_of_roce(knobs[i]);
        for (size_t k = 0; knobs[i]->keys[k]; k++)
            if (settings_find(knobs[i]->keys[k])->roce != knob_is_of_roce(knobs[i]))
                fail_msg("%s and %s", knobs[i]->keys[0], knobs[i]->keys[k]);
    }
    assert_int_equal(of_roce, 4); /* ecn, dcqcn, traffic_class, optional_counters */
}

static void only_nodes_of_the_simulator_model_a_setting(void **state)
{
    (void)state;
    for (const struct setting *s = settings_known; s->key; s++)
        if (s->modelled & ~(unsigned)ON_SIMULATED)
            fail_msg("%s is modelled on a real node", s->key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_real_hosts_have_is_written_by_one_knob),
        cmocka_unit_test(keys_of_a_knob_go_with_roce_together),
        cmocka_unit_test(only_nodes_of_the_simulator_model_a_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
