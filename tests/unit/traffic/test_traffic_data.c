/* Pattern, pacing, and the arithmetic of a measured window. */
#include "tests/unit/unit.h"

#include "lib/clock.h"
#include "lib/formats/lines.h"
#include "traffic/job.h"
#include "traffic/engine/meter.h"
#include "traffic/output.h"
#include "traffic/engine/pacing.h"
#include "traffic/engine/pattern.h"

/* ---- pattern */

static void open_host(struct memory *memory, int64_t bytes)
{
    struct error e = {{0}};
    struct memory_request request = {.kind = MEMORY_HOST, .bytes = bytes, .numa_node = -1};
    if (memory_open(memory, &request, &e) != 0)
        fail_msg("%s", e.text);
}

static void the_pattern_is_the_same_from_any_offset(void **state)
{
    unsigned char whole[64], part[64];
    (void)state;
    pattern_fill(whole, sizeof whole, 1, 2, 1000);
    for (size_t from = 0; from < sizeof whole; from++) {
        pattern_fill(part, sizeof whole - from, 1, 2, 1000 + from);
        assert_memory_equal(part, whole + from, sizeof whole - from);
    }
}

static void directions_connections_and_offsets_differ(void **state)
{
    unsigned char a[64], b[64];
    (void)state;
    pattern_fill(a, sizeof a, 1, 0, 0);
    pattern_fill(b, sizeof b, 2, 0, 0);
    assert_memory_not_equal(a, b, sizeof a);
    pattern_fill(b, sizeof b, 1, 1, 0);
    assert_memory_not_equal(a, b, sizeof a);
    pattern_fill(b, sizeof b, 1, 0, 64);
    assert_memory_not_equal(a, b, sizeof a);
}

static void a_flipped_byte_is_found_where_it_is(void **state)
{
    struct plan plan = {.queue_pairs = 3, .slots = 2, .max_message_bytes = 3000};
    struct memory memory;
    struct error e = {{0}};
    struct pattern_result result = {0};
    int64_t stride = plan_stride(&plan), half = plan_half_bytes(&plan);
    (void)state;
    open_host(&memory, 2 * half);
    assert_int_equal(pattern_write(&memory, half, &plan, 1, 3000, &e), 0);
    for (int64_t c = 0; c < 3; c++)
        assert_int_equal(pattern_check(&memory, half, &plan, 1, c, 0, 100, 3000, &result, &e), 0);
    assert_int_equal(result.checked_bytes, 3 * 2 * 3000);
    assert_int_equal(result.wrong_bytes, 0);
    assert_int_equal(pattern_flip(&memory, half + 2 * 2 * stride + stride + 17, &e),
                     0); /* connection 2, slot 1 */
    for (int64_t c = 0; c < 3; c++)
        assert_int_equal(pattern_check(&memory, half, &plan, 1, c, 0, 100, 3000, &result, &e), 0);
    assert_int_equal(result.wrong_bytes, 1);
    assert_int_equal(result.first_connection, 2);
    assert_int_equal(result.first_offset, stride + 17);
    assert_int_equal(result.expected ^ result.found, 1);
    memory_close(&memory);
}

/* A server takes an offer by this number: it must grow with all that an offer can ask for, up to the
 * largest. */
static void the_memory_of_a_flow_has_all_that_it_asks_for(void **state)
{
    struct plan plan = {.operation = OP_SEND,
                        .queue_pairs = 1,
                        .depth = 1,
                        .receive_depth = 1,
                        .slots = 1,
                        .max_message_bytes = 1 << 20};
    int64_t least = plan_memory_bytes(&plan, false);
    (void)state;
    assert_in_range(least, 1 << 20, (1 << 20) + 65536);
    struct plan more = plan;
    more.bidirectional = 1;
    assert_true(plan_memory_bytes(&more, false) >= least + (1 << 20));
    more = plan;
    more.slots = 10;
    assert_true(plan_memory_bytes(&more, false) >= least + 9 * (1 << 20));
    more = plan;
    more.depth = FLOW_MAX_DEPTH;
    assert_true(plan_memory_bytes(&more, false) >= least + FLOW_MAX_DEPTH * 64);
    more = plan;
    more.receive_depth = FLOW_MAX_DEPTH;
    assert_true(plan_memory_bytes(&more, false) >= least + FLOW_MAX_DEPTH * 64);
    more = plan;
    more.inline_bytes = PLAN_MAX_INLINE_BYTES;
    assert_true(plan_memory_bytes(&more, false) >= least + PLAN_MAX_INLINE_BYTES);
    more = (struct plan){.operation = OP_SEND,
                         .bidirectional = 1,
                         .queue_pairs = FLOW_MAX_QUEUE_PAIRS,
                         .depth = FLOW_MAX_DEPTH,
                         .receive_depth = FLOW_MAX_DEPTH,
                         .inline_bytes = PLAN_MAX_INLINE_BYTES,
                         .slots = 1,
                         .max_message_bytes = FLOW_MAX_MEMORY_BYTES / FLOW_MAX_QUEUE_PAIRS};
    assert_true(plan_memory_bytes(&more, false) > 2 * FLOW_MAX_MEMORY_BYTES);
}

static void only_slots_that_were_sent_are_checked(void **state)
{
    struct plan plan = {.queue_pairs = 1, .slots = 4, .max_message_bytes = 64};
    struct memory memory;
    struct error e = {{0}};
    struct pattern_result result = {0};
    (void)state;
    open_host(&memory, plan_half_bytes(&plan));
    assert_int_equal(pattern_erase(&memory, 0, &plan, 1, 64, &e), 0);
    assert_int_equal(pattern_check(&memory, 0, &plan, 1, 0, 7, 0, 64, &result, &e), 0);
    assert_int_equal(result.checked_bytes, 0);
    /* messages 7 and 8 lie in slots 3 and 0 */
    assert_int_equal(pattern_write(&memory, 0, &plan, 1, 64, &e), 0);
    assert_int_equal(pattern_flip(&memory, 64 + 5, &e), 0); /* slot 1: not sent */
    assert_int_equal(pattern_check(&memory, 0, &plan, 1, 0, 7, 2, 64, &result, &e), 0);
    assert_int_equal(result.checked_bytes, 128);
    assert_int_equal(result.wrong_bytes, 0);
    assert_int_equal(pattern_check(&memory, 0, &plan, 1, 0, 7, 3, 64, &result, &e), 0);
    assert_int_equal(result.wrong_bytes, 1);
    memory_close(&memory);
}

static void what_never_arrived_is_wrong_everywhere(void **state)
{
    struct plan plan = {.queue_pairs = 1, .slots = 1, .max_message_bytes = 3 << 20};
    struct memory memory;
    struct error e = {{0}};
    struct pattern_result result = {0};
    (void)state;
    open_host(&memory, plan_half_bytes(&plan));
    assert_int_equal(pattern_erase(&memory, 0, &plan, 1, 3 << 20, &e), 0);
    assert_int_equal(pattern_check(&memory, 0, &plan, 1, 0, 0, 1, 3 << 20, &result, &e), 0);
    assert_int_equal(result.wrong_bytes, 3 << 20);
    assert_int_equal(result.first_offset, 0);
    memory_close(&memory);
}

/* ---- pacing */

/* Number of messages that may be sent within a second, when asked every step_ns. */
static int64_t sent_in_a_second(int64_t rate_bps, int64_t burst, int64_t message_bytes, int64_t step_ns)
{
    struct pacing pacing;
    int64_t sent = 0;
    pacing_start(&pacing, 1000, rate_bps, burst, message_bytes);
    for (int64_t now_ns = 0; now_ns < NS_PER_S; now_ns += step_ns)
        while (pacing_take(&pacing, 1000 + now_ns))
            sent++;
    return sent;
}

static void the_rate_holds_over_time(void **state)
{
    (void)state;
    /* 1 Gb/s of 1000-byte messages: 125000 a second, 8 us each, asked every 1, 3 and 7 us */
    assert_in_range(sent_in_a_second(1000000000, 1, 1000, 1000), 125000, 125002);
    assert_in_range(sent_in_a_second(1000000000, 1, 1000, 3000), 125000, 125002);
    assert_in_range(sent_in_a_second(1000000000, 1, 1000, 7000), 124999, 125002);
    /* 2-byte messages at 33 Gb/s: 485 ps each, below a nanosecond; the burst lets a slow loop keep up */
    assert_in_range(sent_in_a_second(33000000, 1, 2, 400), 2062499, 2062502);
}

static void a_burst_is_what_may_go_at_once(void **state)
{
    struct pacing pacing;
    int sent = 0;
    (void)state;
    pacing_start(&pacing, 0, 8000, 5, 1); /* one byte per millisecond */
    while (pacing_take(&pacing, 0))
        sent++;
    assert_int_equal(sent, 5);
    assert_true(pacing_take(&pacing, NS_PER_MS));
    assert_false(pacing_take(&pacing, NS_PER_MS));
    /* after a pause of a second only the burst and one due message may be sent */
    for (sent = 0; pacing_take(&pacing, NS_PER_S);)
        sent++;
    assert_in_range(sent, 5, 6);
}

/* ---- the meter */

static int64_t number(const json_t *line, const char *key)
{
    json_t *value = json_object_get(line, key);
    assert_non_null(value);
    return json_integer_value(value);
}

/* An engine without a thread: the test sets its counters. */
static void open_counters(struct engine *engine, const struct plan *plan)
{
    memset(engine, 0, sizeof *engine);
    engine->plan = plan;
    engine->message_bytes = 1000;
    engine->filling = calloc(1, sizeof *engine->filling);
    engine->spare = calloc(1, sizeof *engine->spare);
    histogram_clear(engine->filling);
    histogram_clear(engine->spare);
}

static void close_counters(struct engine *engine)
{
    free(engine->filling);
    free(engine->spare);
}

static void warm_up_is_left_out_and_intervals_add_up(void **state)
{
    static struct engine engine;
    static struct meter m;
    struct plan plan = {0};
    const int64_t t = 5 * NS_PER_S;
    (void)state;
    open_counters(&engine, &plan);
    meter_start(&m, &engine, "x", t, NS_PER_S, 2 * NS_PER_S, NS_PER_S);
    assert_int_equal(meter_deadline(&m), t + NS_PER_S);
    atomic_store(&engine.messages, 700);
    assert_null(meter_tick(&m, t + NS_PER_S / 2));
    assert_null(meter_tick(&m, t + NS_PER_S)); /* the window begins */
    atomic_store(&engine.messages, 1700);
    json_t *first =
        meter_tick(&m, t + 2 * NS_PER_S + NS_PER_S / 4); /* a late reading: the real time is used */
    assert_int_equal(number(first, "messages"), 1000);
    assert_int_equal(number(first, "duration_ns"), NS_PER_S + NS_PER_S / 4);
    assert_int_equal(number(first, "bytes"), 1000000);
    assert_int_equal(number(first, "goodput_bps"), 6400000);
    atomic_store(&engine.messages, 2000);
    json_t *second = meter_tick(&m, t + 3 * NS_PER_S);
    assert_int_equal(number(second, "messages"), 300);
    assert_true(m.done);
    json_t *summary = meter_summary(&m, true, 0);
    assert_int_equal(number(summary, "messages"), 1300);
    assert_int_equal(number(summary, "duration_ns"), 2 * NS_PER_S);
    assert_int_equal(number(summary, "messages_per_s"), 650);
    assert_int_equal(number(summary, "goodput_bps"), 5200000);
    assert_null(meter_finish(&m, t + 9 * NS_PER_S));
    assert_int_equal(meter_deadline(&m), METER_NEVER);
    json_decref(first);
    json_decref(second);
    json_decref(summary);
    close_counters(&engine);
}

static void a_count_has_its_own_times(void **state)
{
    static struct engine engine;
    static struct meter m;
    struct plan plan = {0};
    (void)state;
    open_counters(&engine, &plan);
    meter_start(&m, &engine, "x", NS_PER_S, 0, 0, NS_PER_S);
    engine.target = 500;
    atomic_store(&engine.messages, 500);
    engine.finished_ns = NS_PER_S + NS_PER_S / 10;
    atomic_store(&engine.finished, true);
    json_decref(meter_finish(&m, NS_PER_S + NS_PER_S / 2));
    json_t *summary = meter_summary(&m, true, 0);
    assert_int_equal(number(summary, "messages"), 500);
    assert_int_equal(number(summary, "duration_ns"), NS_PER_S / 10);
    json_decref(summary);
    close_counters(&engine);
}

static void cut_short_in_the_warm_up_nothing_was_measured(void **state)
{
    static struct engine engine;
    static struct meter m;
    struct plan plan = {0};
    (void)state;
    open_counters(&engine, &plan);
    meter_start(&m, &engine, "x", NS_PER_S, 10 * NS_PER_S, NS_PER_S, NS_PER_S);
    atomic_store(&engine.messages, 99);
    assert_null(meter_finish(&m, 2 * NS_PER_S));
    json_t *summary = meter_summary(&m, false, 1);
    assert_int_equal(number(summary, "messages"), 0);
    assert_int_equal(number(summary, "duration_ns"), 0);
    assert_int_equal(number(summary, "goodput_bps"), 0);
    assert_int_equal(number(summary, "errors"), 1);
    assert_true(json_is_false(json_object_get(summary, "complete")));
    json_decref(summary);
    close_counters(&engine);
}

static void latencies_of_the_warm_up_are_dropped(void **state)
{
    static struct engine engine;
    static struct meter m;
    struct plan plan = {.latency = 1};
    (void)state;
    open_counters(&engine, &plan);
    meter_start(&m, &engine, "x", NS_PER_S, NS_PER_S, NS_PER_S, NS_PER_S);
    histogram_add(engine.filling, 1000000);
    assert_null(meter_tick(&m, 2 * NS_PER_S));
    histogram_add(engine.filling, 100);
    histogram_add(engine.filling, 300);
    json_t *line = meter_tick(&m, 3 * NS_PER_S);
    json_t *summary = meter_summary(&m, true, 0);
    assert_int_equal(number(json_object_get(line, "latency_ns"), "count"), 2);
    assert_int_equal(number(json_object_get(summary, "latency_ns"), "count"), 2);
    assert_int_equal(number(json_object_get(summary, "latency_ns"), "max"), 300);
    json_decref(line);
    json_decref(summary);
    close_counters(&engine);
}

/* ---- lines */

/* lib/lines can read the printed lines: one parser for real and simulated traffic. */
static void every_line_is_one_that_lines_parse_reads(void **state)
{
    static struct engine engine;
    static struct meter m;
    static const enum line_kind kinds[] = {LINE_INTERVAL, LINE_SUMMARY, LINE_ERROR, LINE_EVENT};
    struct plan plan = {.latency = 1};
    struct output output;
    char *text = NULL;
    size_t size = 0, count = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    open_counters(&engine, &plan);
    meter_start(&m, &engine, "a-to-b", NS_PER_S, 0, NS_PER_S, NS_PER_S);
    traffic_output_open(&output, file, OUTPUT_JSON, -1);
    output_line(&output, meter_tick(&m, 2 * NS_PER_S));
    output_line(&output, meter_summary(&m, true, 0));
    output_line(&output, output_error("a-to-b", "IBV_WC_RETRY_EXC_ERR", "no acknowledgement"));
    output_line(&output, output_event("ready", "listening"));
    traffic_output_close(&output);
    fclose(file);
    for (char *rest = text, *one; (one = strsep(&rest, "\n")) && *one; count++) {
        struct line line;
        struct error e = {{0}};
        if (lines_parse(one, strlen(one), &line, &e) != 0)
            fail_msg("%s", e.text);
        assert_true(count < 4);
        assert_int_equal(line.kind, kinds[count]);
        assert_true(line.time_ns > 0);
        lines_free_parsed(&line);
    }
    assert_int_equal(count, 4);
    free(text);
    close_counters(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pattern_is_the_same_from_any_offset),
        cmocka_unit_test(directions_connections_and_offsets_differ),
        cmocka_unit_test(a_flipped_byte_is_found_where_it_is),
        cmocka_unit_test(the_memory_of_a_flow_has_all_that_it_asks_for),
        cmocka_unit_test(only_slots_that_were_sent_are_checked),
        cmocka_unit_test(what_never_arrived_is_wrong_everywhere),
        cmocka_unit_test(the_rate_holds_over_time),
        cmocka_unit_test(a_burst_is_what_may_go_at_once),
        cmocka_unit_test(warm_up_is_left_out_and_intervals_add_up),
        cmocka_unit_test(a_count_has_its_own_times),
        cmocka_unit_test(cut_short_in_the_warm_up_nothing_was_measured),
        cmocka_unit_test(latencies_of_the_warm_up_are_dropped),
        cmocka_unit_test(every_line_is_one_that_lines_parse_reads),
    };
    return cmocka_run_group_tests_name("traffic_data", tests, NULL, NULL);
}
