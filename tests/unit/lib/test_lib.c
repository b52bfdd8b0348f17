/* lines, histogram, options, process, files, text. */
#include "tests/unit/unit.h"

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/folder/fresh.h"
#include "lib/statistics/histogram.h"
#include "lib/document/json_file.h"
#include "lib/formats/lines.h"
#include "lib/document/nearest.h"
#include "lib/process.h"
#include "lib/text.h"
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- lines */

static void a_sample_survives_the_wire(void **state)
{
    static const int64_t values[] = {0, -1, 42, LINES_NULL, INT64_MAX, INT64_MIN + 1};
    char *buffer = NULL;
    size_t size = 0;
    struct line line;
    (void)state;
    FILE *out = open_memstream(&buffer, &size);
    assert_int_equal(lines_write_sample(out, 1700000000000000000, 41000, values, 6), 0);
    fclose(out);
    assert_string_equal(
        buffer, "[1700000000000000000,41000,0,-1,42,null,9223372036854775807,-9223372036854775807]\n");
    assert_int_equal(lines_parse(buffer, size - 1, &line, NULL), 0);
    assert_int_equal(line.kind, LINE_SAMPLE);
    assert_int_equal(line.count, 6);
    assert_memory_equal(line.values, values, sizeof values);
    lines_free_parsed(&line);
    free(buffer);
}

static void damaged_lines_are_refused(void **state)
{
    static const char *const cases[] = {"",
                                        "[",
                                        "[]",
                                        "[1]",
                                        "[1,2",
                                        "[1,2,]",
                                        "[1,2,3]]",
                                        "[1,2,x]",
                                        "[null,2]",
                                        "[1,2,1.5]",
                                        "[1,2,99999999999999999999]",
                                        "{",
                                        "{}",
                                        "{\"type\":\"other\"}",
                                        "nonsense",
                                        "[1,2,-]",
                                        "[-9223372036854775808]"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line line;
        struct error e = {""};
        if (lines_parse(cases[i], strlen(cases[i]), &line, &e) == 0)
            fail_msg("accepted: %s", cases[i]);
        assert_true(strlen(e.text) > 10);
    }
}

static void columns_survive_the_wire(void **state)
{
    struct column columns[] = {
        {(char *)"rx_prio0_pause", (char *)"frames", (char *)"ethtool", (char *)"pfc", COLUMN_COUNTER},
        {(char *)"fill", (char *)"bytes", (char *)"sim", (char *)"queue", COLUMN_GAUGE}};
    json_t *header = json_pack("{s:s,s:o}", "type", "header", "columns", lines_columns_json(columns, 2));
    struct column *back;
    size_t count;
    (void)state;
    assert_int_equal(lines_columns(header, &back, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_string_equal(back[0].name, "rx_prio0_pause");
    assert_int_equal(back[1].kind, COLUMN_GAUGE);
    lines_free_columns(back, count);
    json_object_del(json_array_get(json_object_get(header, "columns"), 1), "unit");
    assert_int_equal(lines_columns(header, &back, &count, NULL), -1);
    json_decref(header);
}

/* ---- histogram */

static void quantiles_are_within_a_bucket(void **state)
{
    struct histogram *h = calloc(1, sizeof *h);
    (void)state;
    assert_int_equal(histogram_quantile(h, 0.5), 0);
    for (int64_t i = 1; i <= 100000; i++)
        histogram_add(h, i * 10);
    static const double wanted[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
    for (size_t i = 0; i < 5; i++) {
        double exact = wanted[i] * 1000000, got = (double)histogram_quantile(h, wanted[i]);
        assert_true(got >= exact * 0.999 && got <= exact * 1.017);
    }
    assert_int_equal(histogram_quantile(h, 1), 1000000);
    assert_int_equal(h->min, 10);
    assert_true(histogram_mean(h) == 500005.0);
    struct histogram *other = calloc(1, sizeof *other);
    histogram_add(other, 5);
    histogram_merge(h, other);
    assert_int_equal(h->min, 5);
    assert_int_equal(h->count, 100001);
    free(other);
    free(h);
}

/* ---- processes */

static void runs_a_command_to_its_end(void **state)
{
    const char *const argv[] = {"sh", "-c", "cat; echo oops >&2; exit 3", NULL};
    struct text out = {0}, err = {0};
    struct error e;
    (void)state;
    assert_int_equal(process_run(argv, "hello", &out, &err, 10 * NS_PER_S, &e), 3);
    assert_string_equal(text_string(&out), "hello");
    assert_string_equal(text_string(&err), "oops\n");
    text_free(&out);
    text_free(&err);
}

static void input_that_nobody_reads_is_no_harm(void **state)
{
    const char *const argv[] = {"true", NULL};
    char *much = malloc(300000);
    (void)state;
    memset(much, 'x', 299999);
    much[299999] = '\0';
    assert_int_equal(process_run(argv, much, NULL, NULL, 10 * NS_PER_S, NULL), 0);
    free(much);
}

static void says_what_could_not_start_or_end(void **state)
{
    const char *const missing[] = {"/nonexistent/program", NULL}, *const slow[] = {"sleep", "60", NULL};
    struct error e = {""};
    (void)state;
    assert_int_equal(process_run(missing, NULL, NULL, NULL, NS_PER_S, &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent/program"));
    int64_t begin = clock_monotonic_ns();
    assert_int_equal(process_run(slow, NULL, NULL, NULL, 100 * NS_PER_MS, &e), -1);
    assert_non_null(strstr(e.text, "did not end within 100 ms"));
    assert_true(clock_monotonic_ns() - begin < 30 * NS_PER_S);
}

static void stops_the_whole_group(void **state)
{
    const char *const argv[] = {"sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait", NULL};
    struct process p;
    char line[32] = "";
    (void)state;
    assert_int_equal(process_start(&p, argv, PROCESS_OUT, NULL), 0);
    for (int i = 0; i < 500 && read(p.out, line, sizeof line - 1) <= 0; i++)
        usleep(10000);
    pid_t child = (pid_t)strtol(line, NULL, 10);
    assert_true(child > 1);
    process_stop(&p, 50 * NS_PER_MS);
    assert_int_equal(p.pid, -1);
    for (int i = 0; i < 500 && kill(child, 0) == 0; i++)
        usleep(10000); /* its new parent may reap it; otherwise it is a zombie that still exists */
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    char *stat = files_read_line(path, NULL);
    assert_true(!stat || strstr(stat, ") Z "));
    free(stat);
}

/* ---- files */

/* A document that would be refused when it is read is not written: whoever waits for it is told. */
static void what_could_not_be_read_again_is_not_written(void **state)
{
    char folder[] = "/tmp/harness-unit.XXXXXX";
    size_t most, memory;
    struct error e;
    (void)state;
    assert_non_null(mkdtemp(folder));
    char *path = files_join(folder, "x.json");
    json_file_limits(DOCUMENT_MESSAGE, &most, &memory);
    char *words = calloc(1, most + 1);
    assert_non_null(words);
    memset(words, 'x', most);
    json_t *large = json_pack("{s:s}", "a", words), *small = json_pack("{s:s}", "a", words + most / 2);
    assert_int_equal(json_file_save_readable(path, large, DOCUMENT_MESSAGE, false, &e), -1);
    assert_non_null(strstr(e.text, "could not be read again"));
    assert_non_null(strstr(e.text, "a message may have 262144"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(json_file_save_readable(path, small, DOCUMENT_MESSAGE, false, &e), 0);
    json_t *back = json_file_load(path, DOCUMENT_MESSAGE, &e);
    assert_true(json_equal(back, small));
    json_decref(back);
    json_decref(large);
    json_decref(small);
    free(words);
    free(path);
    assert_int_equal(files_remove_tree(folder, &e), 0);
}

static void files_are_replaced_whole(void **state)
{
    char folder[] = "/tmp/harness-unit.XXXXXX";
    struct error e;
    (void)state;
    assert_non_null(mkdtemp(folder));
    char *deep = files_join(folder, "a/b/c"), *path = files_join(folder, "a/b/c/x.json");
    assert_int_equal(files_make_folders(deep, &e), 0);
    assert_int_equal(files_make_folders(deep, &e), 0);
    json_t *value = json_pack("{s:i}", "one", 1);
    assert_int_equal(json_file_save(path, value, &e), 0);
    json_t *back = json_file_load(path, DOCUMENT_SCENARIO, &e);
    assert_true(json_equal(back, value));
    json_decref(back);
    json_decref(value);
    assert_int_equal(files_write_atomic(path, "{\n \"a\" 1}", 9, &e), 0);
    assert_null(json_file_load(path, DOCUMENT_SCENARIO, &e));
    assert_non_null(strstr(e.text, "x.json:2:"));
    assert_null(files_read(path, 4, NULL, &e));
    assert_non_null(strstr(e.text, "larger than the 4 bytes"));
    assert_int_equal(files_write_atomic("/proc/nothing", "x", 1, &e), -1);
    assert_int_equal(files_make_folders("/dev/null/x", &e), -1);
    assert_int_equal(files_remove_tree(folder, &e), 0);
    assert_false(files_exist(folder));
    free(deep);
    free(path);
}

/* What is refused by its text is never made; the estimate is not below what jansson takes. */
static void documents_are_bounded(void **state)
{
    static const char *const items[] = {"{}", "[]", "1", "{\"a\":{}}", "{\"\":[{\"\":1}]}", "\"abc\""};
    struct error e;
    size_t depth;
    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct text t = {0};
        text_add(&t, "[%s", items[i]);
        for (int k = 0; k < 20000; k++)
            text_add(&t, ",%s", items[i]);
        text_add(&t, "]");
        size_t before = mallinfo2().uordblks, told = json_file_memory(text_string(&t), t.length, &depth);
        json_t *value = json_file_parse(text_string(&t), t.length, "x", DOCUMENT_SCENARIO, &e);
        size_t taken = mallinfo2().uordblks - before;
        assert_non_null(value);
        assert_true(taken <= told);
        json_decref(value);
        text_free(&t);
    }
    assert_null(json_file_parse("[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", 34, "x", DOCUMENT_MESSAGE, &e));
    assert_non_null(strstr(e.text, "17 deep"));
    json_t *quoted = json_file_parse("[\"[[[[[[[[[[[[[[[[[\\\"{{{\"]", 26, "x", DOCUMENT_MESSAGE, &e);
    assert_int_equal(json_array_size(quoted), 1);
    json_decref(quoted);
    assert_int_equal(json_file_memory("\"\\", 2, &depth), 4);
    assert_null(json_file_parse("{\"a\": true\0}", 12, "x", DOCUMENT_MESSAGE, &e));
    assert_string_equal(e.text, "x: byte 10 is zero, which JSON does not have: was the file written whole?");
}

/* A file in the making is not taken for one that was left, and one that was left is. */
static void what_is_being_made_stays(void **state)
{
    char path[] = "/tmp/harness-unit.XXXXXX";
    struct folder folder;
    struct fresh file, drawn;
    struct error e;
    (void)state;
    assert_non_null(mkdtemp(path));
    assert_int_equal(folder_open(&folder, path, &e), 0);
    assert_int_equal(fresh_file(&file, &folder, "a.json", &e), 0);
    assert_int_equal(fresh_folder(&drawn, &folder, "drawing", &e), 0);
    fresh_clear(&folder);
    assert_true(folder_has(&folder, file.name));
    assert_true(folder_has(&folder, drawn.name));
    close(file.fd);
    close(drawn.fd);
    fresh_clear(&folder);
    assert_false(folder_has(&folder, file.name));
    assert_false(folder_has(&folder, drawn.name));
    folder_close(&folder);
    assert_int_equal(files_remove_tree(path, &e), 0);
}

static void texts_grow(void **state)
{
    struct text t = {0};
    (void)state;
    assert_string_equal(text_string(&t), "");
    for (int i = 0; i < 1000; i++)
        text_add(&t, "%d,", i);
    assert_int_equal(t.length, 3890);
    text_clear(&t);
    text_add_bytes(&t, "a\0b", 3);
    assert_int_equal(t.length, 3);
    char *taken = text_take(&t);
    assert_memory_equal(taken, "a\0b", 4);
    free(taken);
    taken = text_take(&t);
    assert_string_equal(taken, "");
    free(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_survives_the_wire),
        cmocka_unit_test(damaged_lines_are_refused),
        cmocka_unit_test(columns_survive_the_wire),
        cmocka_unit_test(quantiles_are_within_a_bucket),
        cmocka_unit_test(runs_a_command_to_its_end),
        cmocka_unit_test(input_that_nobody_reads_is_no_harm),
        cmocka_unit_test(says_what_could_not_start_or_end),
        cmocka_unit_test(stops_the_whole_group),
        cmocka_unit_test(files_are_replaced_whole),
        cmocka_unit_test(what_could_not_be_read_again_is_not_written),
        cmocka_unit_test(documents_are_bounded),
        cmocka_unit_test(what_is_being_made_stays),
        cmocka_unit_test(texts_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
