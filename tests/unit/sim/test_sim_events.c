#include "tests/unit/unit.h"

#include "sim/events.h"
#include "lib/random.h"

#define EVENTS 500

static struct event_queue *open_queue(uint32_t events, int64_t slot_ps)
{
    struct event_queue *q = malloc(sizeof *q);
    assert_non_null(q);
    assert_int_equal(events_open(q, WHEEL_MOST_SLOTS, slot_ps), 0);
    for (uint32_t i = 0; i < events; i++)
        assert_int_equal(events_add(q, 1, i), i);
    return q;
}

static void close_queue(struct event_queue *q)
{
    events_close(q);
    free(q);
}

static void earliest_first(void **state)
{
    (void)state;
    struct event_queue *q = open_queue(4, 1024);
    event_schedule(q, 0, 5000);
    event_schedule(q, 1, INT64_C(9000000000000)); /* far beyond the wheel */
    event_schedule(q, 2, 4999);
    event_schedule(q, 3, 1000000);
    assert_int_equal(events_pop(q, INT64_MAX), 2);
    assert_int_equal(events_pop(q, INT64_MAX), 0);
    assert_int_equal(events_pop(q, INT64_MAX), 3);
    assert_int_equal(events_pop(q, INT64_MAX), 1);
    assert_int_equal(events_pop(q, INT64_MAX), EVENT_NONE);
    close_queue(q);
}

static void equal_times_in_order_of_scheduling(void **state)
{
    (void)state;
    struct event_queue *q = open_queue(EVENTS, 1024);
    for (uint32_t i = 0; i < EVENTS; i++)
        event_schedule(q, EVENTS - 1 - i, 777);
    for (uint32_t i = 0; i < EVENTS; i++)
        assert_int_equal(events_pop(q, INT64_MAX), EVENTS - 1 - i);
    close_queue(q);
}

static void none_at_or_after_the_limit(void **state)
{
    (void)state;
    struct event_queue *q = open_queue(2, 1024);
    event_schedule(q, 0, 100);
    event_schedule(q, 1, INT64_C(1) << 50);
    assert_int_equal(events_pop(q, 100), EVENT_NONE);
    assert_int_equal(events_pop(q, 101), 0);
    assert_int_equal(events_pop(q, INT64_C(1) << 50), EVENT_NONE);
    /* Waiting for something far away must not keep near events from happening first. */
    event_schedule(q, 0, 200);
    assert_int_equal(events_pop(q, INT64_MAX), 0);
    assert_int_equal(events_pop(q, INT64_MAX), 1);
    close_queue(q);
}

static void cancelled_events_do_not_happen(void **state)
{
    (void)state;
    struct event_queue *q = open_queue(5, 64);
    for (uint32_t i = 0; i < 4; i++)
        event_schedule(q, i, 1000);
    event_schedule(q, 4, INT64_C(1) << 40);
    event_cancel(q, 1);
    event_cancel(q, 4);
    event_cancel(q, 4);
    event_reschedule(q, 0, 2000);
    assert_false(event_is_pending(q, 1));
    assert_int_equal(events_pending(q), 3);
    assert_int_equal(events_pop(q, INT64_MAX), 2);
    assert_int_equal(events_pop(q, INT64_MAX), 3);
    assert_int_equal(events_pop(q, INT64_MAX), 0);
    assert_int_equal(events_pop(q, INT64_MAX), EVENT_NONE);
    assert_int_equal(events_pending(q), 0);
    close_queue(q);
}

/* Against the plainest queue: a scan over all events. */
static uint32_t earliest(const int64_t *times, const uint64_t *orders)
{
    uint32_t best = EVENT_NONE;
    for (uint32_t i = 0; i < EVENTS; i++)
        if (times[i] >= 0 && (best == EVENT_NONE || times[i] < times[best] ||
                              (times[i] == times[best] && orders[i] < orders[best])))
            best = i;
    return best;
}

/* Increments as in a network: packets, links, and now and then a timer; many equal. */
static int64_t increment(struct random *r)
{
    switch (random_next(r) % 8) {
    case 0:
        return (int64_t)(random_next(r) % 100000000000);
    case 1:
        return 0;
    case 2:
        return (int64_t)(random_next(r) % 2000000);
    default:
        return (int64_t)(random_next(r) % 16) * 80000;
    }
}

static void agrees_with_a_scan(void **state)
{
    (void)state;
    static const int64_t slots_ps[] = {1, 100, 1024, 65536};
    for (size_t s = 0; s < 4; s++) {
        struct event_queue *q = open_queue(EVENTS, slots_ps[s]);
        int64_t times[EVENTS], now_ps = 0;
        uint64_t orders[EVENTS], order = 0;
        struct random r;
        random_seed(&r, s + 1);
        for (uint32_t i = 0; i < EVENTS; i++)
            times[i] = -1;
        for (int step = 0; step < 20000; step++) {
            uint32_t id = (uint32_t)(random_next(&r) % EVENTS);
            if (random_next(&r) % 4 == 0) {
                event_cancel(q, id);
                times[id] = -1;
            } else if (times[id] < 0 || random_next(&r) % 2) {
                times[id] = now_ps + increment(&r);
                orders[id] = order++;
                event_reschedule(q, id, times[id]);
            }
            if (random_next(&r) % 2)
                continue;
            uint32_t expected = earliest(times, orders), popped = events_pop(q, INT64_MAX);
            assert_int_equal(popped, expected);
            if (popped == EVENT_NONE)
                continue;
            assert_true(times[popped] >= now_ps);
            now_ps = times[popped];
            times[popped] = -1;
        }
        close_queue(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earliest_first),
        cmocka_unit_test(equal_times_in_order_of_scheduling),
        cmocka_unit_test(none_at_or_after_the_limit),
        cmocka_unit_test(cancelled_events_do_not_happen),
        cmocka_unit_test(agrees_with_a_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
