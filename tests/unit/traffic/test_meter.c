/* A meter's intervals and its summary, on an engine without a thread. */
#include "tests/unit/unit.h"

#include "lib/clock.h"
#include "traffic/engine/meter.h"
#include "traffic/flow_plan.h"

struct measured {
    struct histogram one, other;
    struct engine engine;
    struct meter meter;
    struct plan plan;
};

/* From second 10 on, intervals of a second; 100 messages of 1000 bytes are the target. */
static void begin(struct measured *x)
{
    *x = (struct measured){0};
    histogram_clear(&x->one);
    histogram_clear(&x->other);
    x->engine.plan = &x->plan;
    x->engine.filling = &x->one;
    x->engine.spare = &x->other;
    x->engine.message_bytes = 1000;
    x->engine.target = 100;
    meter_start(&x->meter, &x->engine, "f", 10 * NS_PER_S, 0, 0, NS_PER_S);
}

static void is_interval(json_t *line, int64_t duration_ns, int64_t bytes)
{
    assert_non_null(line);
    assert_int_equal(json_integer_value(json_object_get(line, "duration_ns")), duration_ns);
    assert_int_equal(json_integer_value(json_object_get(line, "bytes")), bytes);
    json_decref(line);
}

static void is_summary(const struct measured *x, int64_t duration_ns)
{
    json_t *line = meter_summary(&x->meter, true, 0);
    assert_string_equal(json_string_value(json_object_get(line, "type")), "summary");
    is_interval(line, duration_ns, 100000);
}

static void reaches_target(struct measured *x, int64_t at_ns)
{
    atomic_store(&x->engine.messages, 100);
    x->engine.finished_ns = at_ns;
    atomic_store(&x->engine.finished, true);
}

static void the_last_interval_ends_with_the_target(void **state)
{
    (void)state;
    struct measured x;
    begin(&x);
    atomic_store(&x.engine.messages, 60);
    is_interval(meter_tick(&x.meter, 11 * NS_PER_S), NS_PER_S, 60000);
    reaches_target(&x, 11 * NS_PER_S + 250 * NS_PER_MS);
    is_interval(meter_finish(&x.meter, 13 * NS_PER_S), 250 * NS_PER_MS, 40000);
    is_summary(&x, NS_PER_S + 250 * NS_PER_MS);
}

/* A tick that comes late, after the target, closes the window where it was reached. */
static void a_late_interval_ends_with_the_target(void **state)
{
    (void)state;
    struct measured x;
    begin(&x);
    reaches_target(&x, 10 * NS_PER_S + 750 * NS_PER_MS);
    is_interval(meter_tick(&x.meter, 11 * NS_PER_S), 750 * NS_PER_MS, 100000);
    assert_null(meter_finish(&x.meter, 12 * NS_PER_S));
    is_summary(&x, 750 * NS_PER_MS);
}

/* The thread has taken its time, but not yet said so: the interval has all messages, and there is no other
 * after it. */
static void no_interval_goes_back(void **state)
{
    (void)state;
    struct measured x;
    begin(&x);
    atomic_store(&x.engine.messages, 100);
    is_interval(meter_tick(&x.meter, 11 * NS_PER_S), NS_PER_S, 100000);
    reaches_target(&x, 10 * NS_PER_S + 750 * NS_PER_MS);
    assert_null(meter_finish(&x.meter, 12 * NS_PER_S));
    is_summary(&x, 750 * NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_interval_ends_with_the_target),
        cmocka_unit_test(a_late_interval_ends_with_the_target),
        cmocka_unit_test(no_interval_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
