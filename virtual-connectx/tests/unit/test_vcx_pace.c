/* The slow receiver: rules of how fast memory takes what is written, and a port whose memory is slow. */
#include "virtual-connectx/tests/unit/vcx_function.h"

#include "virtual-connectx/model/pace/pace.h"
#include "virtual-connectx/model/queue/mkey.h"

/* ---- rules */

static void pace(struct function *f, const char *line)
{
    if (!vcx_pace_request(&f->device, line, &f->error))
        fail_msg("%s: %s", line, f->error.text);
}

struct shown {
    char lines[4][240];
    int count;
};

static void keep_line(void *context, const char *line)
{
    struct shown *shown = context;
    assert_in_range(shown->count, 0, 3);
    char *kept = shown->lines[shown->count++];
    assert_true(snprintf(kept, sizeof shown->lines[0], "%s", line) < (int)sizeof shown->lines[0] - 1);
}

static void the_rules_of_pace_are_shown_as_they_may_be_set(void **state)
{
    struct function *f = *state;
    struct shown first = {.count = 0}, again = {.count = 0};
    pace(f, "all write_bytes_per_s 1000000000");
    pace(f, "key 0x1200 stalls_per_s 2 stall_mean_ns 300000000 fixed");
    pace(f, "range 0xfffffffffffff000 4095 write_bytes_per_s 1000000000000 stalls_per_s 1000000 "
            "stall_mean_ns 100000000000 stall_window_ns 100000000000 fixed");
    vcx_pace_show(&f->device, keep_line, &first);
    assert_int_equal(first.count, 3);
    assert_string_equal(first.lines[1],
                        "key 0x1200 write_bytes_per_s 0 stalls_per_s 2 stall_mean_ns 300000000 "
                        "stall_window_ns 1000000 fixed");
    pace(f, "off");
    for (int i = 0; i < 3; i++)
        pace(f, first.lines[i]);
    vcx_pace_show(&f->device, keep_line, &again);
    assert_memory_equal(&first, &again, sizeof first);
    pace(f, "off");
    again.count = 0;
    vcx_pace_show(&f->device, keep_line, &again);
    assert_int_equal(again.count, 0);
}

static uint64_t write_ns(struct function *f, uint32_t key, uint64_t address, uint32_t bytes)
{
    f->device.write_ns = 0;
    vcx_pace_write(&f->device, key, address, bytes);
    return f->device.write_ns;
}

static void the_most_specific_rule_counts(void **state)
{
    struct function *f = *state;
    assert_int_equal(write_ns(f, 0x1200, 0, 1000), 0);
    pace(f, "all write_bytes_per_s 1000000000");
    pace(f, "key 0x1200 write_bytes_per_s 10000000");
    pace(f, "range 0x10000 4096 write_bytes_per_s 100000000");
    assert_int_equal(write_ns(f, 1, 0, 1000), 1000);
    assert_int_equal(write_ns(f, 0x1200, 0, 1000), 100000);
    assert_int_equal(write_ns(f, 1, 0x10fff, 1000), 10000);
    assert_int_equal(write_ns(f, 1, 0x11000, 1000), 1000);
    pace(f, "key 0x1200 write_bytes_per_s 0");
    assert_int_equal(write_ns(f, 0x1200, 0, 1000), 0);
    pace(f, "off");
    assert_int_equal(write_ns(f, 1, 0x10fff, 1000), 0);
    pace(f, "all write_bytes_per_s 3000000000"); /* 1/3 ns a byte: the rest is kept */
    uint64_t sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += write_ns(f, 1, 0, 1);
    assert_int_equal(sum, 1000);
}

static void keys_are_slow_where_they_write(void **state)
{
    struct function *f = *state;
    struct vcx_rights rights = {.reserved_key = true};
    uint8_t data[100] = {0};
    pace(f, "key 0x300 write_bytes_per_s 1000000");
    f->device.write_ns = 0;
    assert_true(
        vcx_mkey_write(&f->device, rights, VCX_KEY_RESERVED, VCX_LOCAL_WRITE, MEMORY_AT + 4060, data, 100));
    assert_int_equal(f->device.write_ns, 100000);
    assert_true(vcx_mkey_read(&f->device, rights, VCX_KEY_RESERVED, VCX_LOCAL_READ, MEMORY_AT, data, 100));
    assert_int_equal(f->device.write_ns, 100000);
}

static void stalls_come_at_their_rate(void **state)
{
    struct function *f = *state;
    pace(f, "all stalls_per_s 100 stall_mean_ns 50000 fixed");
    uint64_t stalls = 0, sum = 0;
    for (int i = 0; i < 10000; i++) {
        f->front.now_ns += 100000;
        uint64_t ns = write_ns(f, 1, 0, 100);
        assert_true(ns == 0 || ns == 50000);
        stalls += ns != 0;
    }
    assert_int_equal(stalls, 100);
    pace(f, "all stalls_per_s 1000 stall_mean_ns 50000");
    stalls = 0;
    for (int i = 0; i < 100000; i++) {
        f->front.now_ns += 100000;
        uint64_t ns = write_ns(f, 1, 0, 100);
        stalls += ns != 0;
        sum += ns;
    }
    assert_in_range(stalls, 9500, 10500); /* in 10 s: 10,000 with a deviation of 100 */
    assert_in_range(sum / stalls, 48000, 52000);
    pace(f, "all stalls_per_s 1000 stall_mean_ns 50000 stall_window_ns 1000");
    for (int i = 0; i < 1000; i++) { /* no write follows another within the window */
        f->front.now_ns += 100000;
        assert_int_equal(write_ns(f, 1, 0, 100), 0);
    }
}

static void bad_paces_have_a_sentence(void **state)
{
    struct function *f = *state;
    static const char *const lines[] = {
        "",
        "some",
        "key",
        "key 0x100000000",
        "range 1",
        "range 1 0",
        "range 0xffffffffffffffff 1",
        "all speed 3",
        "all write_bytes_per_s",
        "all write_bytes_per_s fast",
        "all stalls_per_s 1000001",
        "all fixed fixed 1",
    };
    for (size_t i = 0; i < VCX_COUNT(lines); i++) {
        f->error.text[0] = 0;
        assert_false(vcx_pace_request(&f->device, lines[i], &f->error));
        assert_true(strlen(f->error.text) > 10);
    }
    for (int i = 0; i < 16; i++) {
        char line[40];
        snprintf(line, sizeof line, "key %d", i);
        pace(f, line);
    }
    assert_false(vcx_pace_request(&f->device, "key 16", &f->error));
    pace(f, "key 15 fixed");
}

/* ---- a port */

static void arrive(struct owner *o, int frames)
{
    for (int i = 0; i < frames; i++)
        vcx_port_receive(&o->port, tagged(1000, 0));
}

/* As on an emulated machine: the next write begins when the last one ended, not when the poll came. */
static void a_slow_memory_keeps_its_rate_when_polls_are_late(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, 1000000000);
    o.deliver_ns = 100 * MS;
    vcx_port_poll(&o.port);
    arrive(&o, 15);
    pass(&o, 1050 * MS, 70 * MS);
    assert_in_range(o.delivered, 10, 11);
    vcx_port_stop(&o.port);
}

static void an_idle_memory_saves_no_time(void **state)
{
    (void)state;
    struct owner o;
    owner_open(&o, 1000000000);
    o.deliver_ns = 100 * MS;
    o.now_ns += 1000 * MS; /* nothing polled it */
    arrive(&o, 3);
    vcx_port_poll(&o.port);
    assert_int_equal(o.delivered, 1);
    o.now_ns += 1000 * MS;
    vcx_port_poll(&o.port); /* the two that waited */
    assert_int_equal(o.delivered, 3);
    arrive(&o, 2);
    vcx_port_poll(&o.port);
    assert_int_equal(o.delivered, 3);
    vcx_port_stop(&o.port);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, function_start, function_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_rules_of_pace_are_shown_as_they_may_be_set),
        TEST(the_most_specific_rule_counts),
        TEST(keys_are_slow_where_they_write),
        TEST(stalls_come_at_their_rate),
        TEST(bad_paces_have_a_sentence),
        cmocka_unit_test(a_slow_memory_keeps_its_rate_when_polls_are_late),
        cmocka_unit_test(an_idle_memory_saves_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
