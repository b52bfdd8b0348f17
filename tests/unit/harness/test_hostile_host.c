/* What a host may print: numbers beyond every range, times that go backwards, names without end. The recorder
 * refuses a line with a sentence or takes it; the sanitizers see that nothing overflows. */
#include "harness/labs/hosts/host.h"
#include "harness/record/recorder.h"
#include "lib/files.h"
#include "lib/formats/lines.h"
#include "tests/unit/unit.h"
#include <inttypes.h>
#include <sys/stat.h>

static const char scenario_text[] =
    "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],"
    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\"}],"
    "\"traffic\":[{\"name\":\"t\",\"pattern\":\"permutation\",\"from\":[\"a\",\"b\"],\"to\":[\"a\",\"b\"]}]}";
#define COLUMN(name, kind) \
    "{\"name\":\"" name "\",\"unit\":\"frames\",\"kind\":\"" kind "\",\"source\":\"s\",\"group\":\"pfc\"}"
static const char header[] =
    "{\"type\":\"header\",\"columns\":[" COLUMN("count", "counter") "," COLUMN("level", "gauge") "]}";

struct fixture {
    char folder[64];
    struct scenario scenario;
    json_t *json;
    struct recorder *recorder;
};

static int set_up(void **state)
{
    struct error e;
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->folder, "/tmp/test-hostile.XXXXXX");
    f->json = json_loads(scenario_text, 0, NULL);
    if (!mkdtemp(f->folder) || scenario_parse(f->json, &f->scenario, &e) != 0)
        fail_msg("%s", e.text);
    f->recorder = recorder_open(f->folder, &f->scenario, false, &e);
    assert_non_null(f->recorder);
    recorder_window(f->recorder, 0, INT64_MAX);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    recorder_close(f->recorder);
    scenario_free(&f->scenario);
    json_decref(f->json);
    files_remove_tree(f->folder, NULL);
    free(f);
    return 0;
}

static int sample(struct fixture *f, const char *line, struct error *e)
{
    return recorder_sample(f->recorder, 0, line, strlen(line), e);
}

static int flow(struct fixture *f, const char *line, struct error *e)
{
    return recorder_flow(f->recorder, 0, line, strlen(line), e);
}

static void must(int result, const struct error *e)
{
    if (result != 0)
        fail_msg("%s", e->text);
}

static int64_t summary_of(const struct fixture *f, const char *counter, const char *key)
{
    json_t *host = json_object();
    recorder_host_summary(f->recorder, 0, host);
    const json_t *value = json_object_get(json_object_get(json_object_get(host, "counters"), counter), key);
    assert_true(json_is_integer(value));
    int64_t number = json_integer_value(value);
    json_decref(host);
    return number;
}

static void numbers_out_of_range_are_refused(void **state)
{
    static const char *const samples[] = {
        "[9223372036854775807,1,2,3]",
        "[-9223372036854775808,1,2,3]",
        "[-9223372036854775807,1,2,3]",
        "[1,-1,2,3]",
        "[1,9223372036854775807,2,3]",
        "[1,1,9223372036854775808,3]",
        "[1,1,-9223372036854775809,3]",
        "[1,1,1e400,3]",
        "[1,1,NaN,3]",
        "[1,1,-1,3]",
        "[1,1,0x10,3]",
        "[1,1,2]",
        "[1,1,--2,3]",
        "[null,1,2,3]",
    };
    static const char *const flows[] = {
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":9223372036854775807,\"duration_ns\":1}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1e300,\"duration_ns\":1}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":\"1\",\"duration_ns\":1}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"duration_ns\":-9223372036854775808}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"duration_ns\":9223372036854775807}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"bytes\":-1}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"bytes\":9223372036854775808}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"errors\":-1}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"goodput_bps\":1e308}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"goodput_bps\":1e400}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"goodput_bps\":-1.5}",
        "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1,\"goodput_bps\":NaN}",
        "{\"type\":\"summary\",\"flow\":\"f\",\"time_ns\":1,\"latency_ns\":{\"p50\":1e308}}",
        "{\"type\":\"summary\",\"flow\":\"f\",\"time_ns\":1,\"latency_ns\":[1]}",
        "{\"type\":\"summary\",\"flow\":\"f\",\"time_ns\":1,\"completion_ns\":{\"max\":[[[[1]]]]}}",
    };
    struct fixture *f = *state;
    struct error e = {""};
    must(sample(f, header, &e), &e);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (sample(f, samples[i], &e) == 0 || !*e.text)
            fail_msg("%s was taken", samples[i]);
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        if (flow(f, flows[i], &e) == 0 || !*e.text)
            fail_msg("%s was taken", flows[i]);
    must(sample(f, "[1,1,2,3]", &e), &e);
}

/* The sums stay at the most that fits. */
static void counts_do_not_overflow(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    char line[300];
    must(sample(f, header, &e), &e);
    for (int i = 0; i < 8; i++) {
        snprintf(line, sizeof line, "[%d,1,%" PRId64 ",%" PRId64 "]", i + 1, i % 2 ? INT64_MAX : 0,
                 i % 2 ? INT64_MAX : INT64_MIN + 1);
        must(sample(f, line, &e), &e);
        for (const char *kind = "interval"; kind; kind = strcmp(kind, "summary") ? "summary" : NULL)
            for (int part = 0; part < 3; part++) {
                snprintf(line, sizeof line,
                         "{\"type\":\"%s\",\"flow\":\"t/%d\",\"time_ns\":%d,\"duration_ns\":%" PRId64
                         ",\"bytes\":%" PRId64 ",\"messages\":%" PRId64 ",\"errors\":%" PRId64 "}",
                         kind, part, i, LINES_MOST, LINES_MOST, LINES_MOST, LINES_MOST);
                must(recorder_flow_object(f->recorder, *kind == 'i' ? LINE_INTERVAL : LINE_SUMMARY,
                                          json_loads(line, 0, NULL), &e),
                     &e);
            }
    }
    assert_int_equal(summary_of(f, "count", "delta"), INT64_MAX);
    assert_int_equal(summary_of(f, "count", "total"), INT64_MAX);
    assert_int_equal(summary_of(f, "level", "min"), INT64_MIN + 1);
    assert_int_equal(summary_of(f, "level", "max"), INT64_MAX);
    must(recorder_pattern(f->recorder, "t", 100, &e), &e);
    json_t *flows = recorder_flow_summary(f->recorder);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(flows, "t"), "bytes")), INT64_MAX);
    json_decref(flows);
}

static void intervals_do_not_overflow(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    char line[300];
    recorder_window(f->recorder, -LINES_MOST, LINES_MOST);
    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line,
                 "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":%" PRId64 ",\"duration_ns\":%" PRId64
                 ",\"bytes\":%" PRId64 ",\"messages\":%" PRId64 ",\"errors\":%" PRId64 "}",
                 i % 2 ? -LINES_MOST : LINES_MOST, LINES_MOST, LINES_MOST, LINES_MOST, LINES_MOST);
        must(flow(f, line, &e), &e);
    }
    json_t *flows = recorder_flow_summary(f->recorder);
    const json_t *one = json_object_get(flows, "f");
    assert_int_equal(json_integer_value(json_object_get(one, "bytes")), INT64_MAX);
    assert_int_equal(json_integer_value(json_object_get(one, "errors")), INT64_MAX);
    json_decref(flows);
}

static void clocks_of_hosts_stay_in_range(void **state)
{
    static const struct {
        int64_t offset_ns;
        const char *sample;
        int result;
    } cases[] = {{LINES_MOST, "[-4611686018427387903,1,2,3]", -1},
                 {-LINES_MOST, "[4611686018427387903,1,2,3]", -1},
                 {LINES_MOST, "[4611686018427387903,1,2,3]", 0},
                 {-LINES_MOST, "[-4611686018427387903,1,2,3]", 0}};
    struct fixture *f = *state;
    struct error e = {""};
    must(sample(f, header, &e), &e);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recorder_clock(f->recorder, 0, cases[i].offset_ns);
        if (sample(f, cases[i].sample, &e) != cases[i].result)
            fail_msg("case %zu: %s", i, e.text);
    }
    assert_int_equal(flow(f, "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":4611686018427387903}", &e),
                     -1);

    static const char *const wrong[] = {"999999999999.000000",
                                        "9999999999.000000",
                                        "-1700000000.123456",
                                        "1700000000.-12345",
                                        "1700000000",
                                        "1700000000.12345",
                                        "1700000000.1234567",
                                        "+1700000000.123456",
                                        "",
                                        "."};
    int64_t time_ns = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (remote_time(wrong[i], &time_ns) == 0)
            fail_msg("\"%s\" was taken", wrong[i]);
    assert_int_equal(remote_time("1700000000,123456", &time_ns), 0);
    assert_int_equal(time_ns, 1700000000123456000);
}

static bool warned(const struct fixture *f, const char *words, size_t *bytes)
{
    json_t *warnings = json_array(), *warning;
    size_t i;
    bool found = false;
    recorder_warnings(f->recorder, warnings);
    *bytes = 0;
    json_array_foreach(warnings, i, warning)
    {
        *bytes += json_string_length(warning);
        found = found || strstr(json_string_value(warning), words);
    }
    json_decref(warnings);
    return found;
}

static void a_clock_that_went_back_is_told(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    size_t bytes;
    must(sample(f, header, &e), &e);
    must(sample(f, "[5000,1,2,3]", &e), &e);
    must(sample(f, "[4611686018427387903,1,2,3]", &e), &e);
    assert_false(warned(f, "went back", &bytes));
    must(sample(f, "[-4611686018427387903,1,3,3]", &e), &e);
    must(sample(f, "[1,1,3,3]", &e), &e);
    assert_true(warned(f, "a: the clock of its samples went back by", &bytes));
    (void)summary_of(f, "count", "duration_ns");
}

/* Headers of ever new columns, lines of ever new flows, ever longer warnings. */
static void names_do_not_fill_the_memory(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    int headers = 0, result = 0;
    while (result == 0 && headers < 3) {
        json_t *columns = json_array(), *line = json_object();
        for (int i = 0; i < LINES_MAX_COLUMNS; i++) {
            char name[32];
            snprintf(name, sizeof name, "c%d_%d", headers, i);
            json_array_append_new(columns, json_pack("{s:s,s:s,s:s,s:s,s:s}", "name", name, "unit", "",
                                                     "kind", "gauge", "source", "", "group", ""));
        }
        json_object_set_new(line, "type", json_string("header"));
        json_object_set_new(line, "columns", columns);
        char *text = json_dumps(line, JSON_COMPACT);
        result = sample(f, text, &e);
        free(text);
        json_decref(line);
        headers++;
    }
    size_t bytes;
    assert_int_equal(result, 0);
    assert_true(warned(f, "a: 16384 columns are left out: more than 16384 different ones", &bytes));

    static const char *const names[] = {"g",    "",      "t/",     "t/256", "t/-1",
                                        "t/1x", "t/1/1", "t/0000", "tt",    "f/0"};
    char line[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "{\"type\":\"interval\",\"flow\":\"%s\",\"time_ns\":1}", names[i]);
        if (flow(f, line, &e) == 0)
            fail_msg("the flow \"%s\" was taken", names[i]);
        assert_non_null(strstr(e.text, "which the scenario lacks"));
    }

    size_t length = 65536;
    char *text = malloc(LINES_MAX_LENGTH);
    assert_non_null(text);
    int begin = snprintf(text, 100, "{\"type\":\"event\",\"time_ns\":1,\"what\":\"gone\",\"text\":\"x");
    for (size_t i = (size_t)begin; i < length; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    memcpy(text + strlen(text), "\"}", 3);
    for (int i = 0; i < 300; i++)
        must(sample(f, text, &e), &e);
    free(text);
    assert_true(warned(f, "gone: x\xc3\xa4", &bytes));
    assert_true(bytes < 400000);
}

static void long_names_are_refused(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    char line[1000];
    for (size_t length = LINES_MAX_NAME; length <= LINES_MAX_NAME + 1; length++) {
        snprintf(line, sizeof line,
                 "{\"type\":\"header\",\"columns\":[{\"name\":\"%0*d\",\"unit\":\"\",\"kind\":\"gauge\","
                 "\"source\":"
                 "\"\",\"group\":\"\"}]}",
                 (int)length, 1);
        assert_int_equal(sample(f, line, &e), length > LINES_MAX_NAME ? -1 : 0);
    }
    assert_non_null(strstr(e.text, "more than 255 bytes"));
}

static int64_t size_of(const struct fixture *f, const char *name)
{
    struct stat status;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

/* A host that sends as fast as it can does not fill the disk, and what was left out is told. */
static void floods_are_left_out(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    static char event[8000];
    snprintf(event, sizeof event, "{\"type\":\"event\",\"time_ns\":1,\"what\":\"x\",\"text\":\"%07900d\"}",
             1);
    must(sample(f, header, &e), &e);
    for (int i = 0; i < 20000; i++) {
        char line[100];
        snprintf(line, sizeof line, "[%d,1,%d,3]", 1000 + i, i);
        must(sample(f, line, &e), &e);
        must(flow(f, event, &e), &e);
    }
    for (int i = 0; i < 4000; i++)
        must(sample(f, event, &e), &e);
    must(recorder_flush(f->recorder, &e), &e);
    assert_in_range(size_of(f, "samples.jsonl"), 16 << 20, 17 << 20); /* 32 MB of events came */
    assert_in_range(size_of(f, "flows.jsonl"), 4 << 20, 6 << 20);     /* 160 MB came */
    json_t *warnings = json_array(), *warning;
    size_t i, told = 0;
    recorder_warnings(f->recorder, warnings);
    json_array_foreach(warnings, i, warning)
    {
        unsigned long long lines;
        char what[20];
        if (sscanf(json_string_value(warning), "a: left out %llu %19s", &lines, what) != 2)
            continue;
        told++;
        assert_true(strcmp(what, "samples") == 0   ? lines > 15000 && lines < 19000
                    : strcmp(what, "headers") == 0 ? lines > 1700 && lines < 2000
                                                   : lines > 19000 && lines < 19600);
    }
    assert_int_equal(told, 3);
    json_decref(warnings);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(numbers_out_of_range_are_refused), TEST(counts_do_not_overflow),
        TEST(intervals_do_not_overflow),        TEST(clocks_of_hosts_stay_in_range),
        TEST(a_clock_that_went_back_is_told),   TEST(names_do_not_fill_the_memory),
        TEST(long_names_are_refused),           TEST(floods_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
