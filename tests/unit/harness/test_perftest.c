/* perftest's tables, and its command lines. The formats are those of REPORT_FMT, REPORT_FMT_LAT and
 * REPORT_FMT_LAT_DUR in perftest_parameters.h of 4.5-0.17 (6.06), 24.07.0-0.44 (6.22) and 26.04 (6.29). */
#include "tests/unit/unit.h"

#include "harness/traffic/perftest.h"
#include "harness/traffic/traffic_tool.h"
#include <math.h>
#include <string.h>

#define RULE "---------------------------------------------------------------------------------------\n"
#define OLD  " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
#define NEW  " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n"
#define ROW  " 65536      5000             2920.81            2920.80\t\t   0.046733\n"
#define LATENCY                                                                                             \
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   " \
    "99% percentile[usec]   99.9% percentile[usec] \n"
#define LATENCY_ROW                                                                                          \
    " 2       1000          1.41           9.25         1.44     \t       1.46        \t0.12   \t\t1.53    " \
    "\t\t5.22   \n"
#define TIMED     " #bytes        #iterations       t_avg[usec]    tps average\n"
#define TIMED_ROW " 2             2000000            1.45           344827.59\n"

static void assert_near(double value, double expected, double most)
{
    if (!(fabs(value - expected) <= most))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static int read_text(enum perftest_test test, const char *text, struct perftest_row *row, struct error *e)
{
    return perftest_table_read(test, text, strlen(text), row, e);
}

static void tables_are_read(void **state)
{
    struct perftest_row row;
    struct error e;
    (void)state;
    assert_int_equal(read_text(PERFTEST_BANDWIDTH, "ran: ib_write_bw\n" RULE OLD ROW RULE, &row, &e), 0);
    assert_int_equal(row.bytes, 65536);
    assert_int_equal(row.messages, 5000);
    assert_near(row.mibps, 2920.80, 1e-9);
    assert_near(row.million_messages_per_s, 0.046733, 1e-9);
    assert_int_equal(read_text(PERFTEST_BANDWIDTH, RULE NEW ROW RULE "bye\n", &row, &e), 0);
    assert_near(row.mibps, 2920.80, 1e-9);
    assert_int_equal(read_text(PERFTEST_LATENCY, RULE LATENCY LATENCY_ROW RULE, &row, &e), 0);
    assert_near(row.min_us + row.max_us, 1.41 + 9.25, 1e-9);
    assert_near(row.typical_us + row.mean_us, 1.44 + 1.46, 1e-9);
    assert_near(row.p99_us + row.p99_9_us, 1.53 + 5.22, 1e-9);
    assert_int_equal(read_text(PERFTEST_LATENCY_TIMED, TIMED TIMED_ROW RULE, &row, &e), 0);
    assert_near(row.mean_us, 1.45, 1e-9);
    assert_near(row.messages_per_s, 344827.59, 1e-6);
    /* of reads, which are not answered by a message */
    assert_int_equal(read_text(PERFTEST_LATENCY_TIMED, TIMED " 2 2000000 1.45 689655.17\n" RULE, &row, &e),
                     0);
}

/* As perftest prints it where a message took 46 ms longer than the mean. */
static void a_deviation_that_overflowed_is_no_error(void **state)
{
    struct perftest_row row;
    struct error e;
    (void)state;
    assert_int_equal(read_text(PERFTEST_LATENCY,
                               LATENCY " 64      100          1572.05        86421.09      6714.16  \t       "
                                       "9369.67     \t-nan   \t\t86421.09 \t\t86421.09\n" RULE,
                               &row, &e),
                     0);
    assert_near(row.mean_us, 9369.67, 1e-9);
    assert_near(row.p99_9_us, 86421.09, 1e-9);
}

static void what_is_no_table_is_refused(void **state)
{
    static const struct {
        enum perftest_test test;
        const char *text, *says;
    } cases[] = {
        {PERFTEST_BANDWIDTH, "", "no table"},
        {PERFTEST_BANDWIDTH, RULE OLD, "ends before the row"},
        {PERFTEST_BANDWIDTH, RULE OLD ROW, "ends before the end"},
        {PERFTEST_BANDWIDTH, RULE OLD ROW "-----", "ends before the end"}, /* cut in its last line */
        {PERFTEST_BANDWIDTH, RULE OLD ROW "-----\n", "expected the end"},
        {PERFTEST_BANDWIDTH, RULE OLD ROW ROW RULE, "expected the end"},
        {PERFTEST_BANDWIDTH, RULE OLD ROW RULE OLD ROW RULE, "expected one table"},
        {PERFTEST_BANDWIDTH, RULE LATENCY LATENCY_ROW RULE, "expected the columns"},
        {PERFTEST_LATENCY, RULE OLD ROW RULE, "expected the columns"},
        {PERFTEST_LATENCY, TIMED TIMED_ROW RULE, "expected the columns"},
        {PERFTEST_BANDWIDTH,
         " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n" ROW RULE,
         "expected the columns"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5000 2920.81 2920.80\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5000 2920.81 2920.80 0.046733 1\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5000 2920.81 2920.80 0.056733\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 -5000 2920.81 2920.80 0.046733\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5e3 2920.81 2920.80 0.046733\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5000.5 2920.81 2920.80 0.046733\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5000 inf inf nan\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 99999999999999999999 0.00 2920.80 0.046733\n" RULE,
         "numbers that belong"},
        {PERFTEST_LATENCY, LATENCY " 2 1000 1.50 9.25 1.44 1.46 0.12 1.53 5.22\n" RULE,
         "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 0 2920.81 2920.80 0.046733\n" RULE, "numbers that belong"},
        {PERFTEST_BANDWIDTH, OLD " 65536 5000 0.00 0.00 0.000000\n" RULE, "numbers that belong"},
        {PERFTEST_LATENCY, LATENCY " 2 1000 0.00 0.00 0.00 0.00 0.00 0.00 0.00\n" RULE,
         "numbers that belong"},
        {PERFTEST_LATENCY, LATENCY " 2 0 1.41 9.25 1.44 1.46 0.12 1.53 5.22\n" RULE, "numbers that belong"},
        {PERFTEST_LATENCY_TIMED, TIMED " 2 2000000 1.45 9.59\n" RULE, "numbers that belong"},
        {PERFTEST_LATENCY_TIMED, TIMED " 2 0 1.45 344827.59\n" RULE, "numbers that belong"},
        {PERFTEST_LATENCY_TIMED, TIMED " 2 2000000 0.00 0.00\n" RULE, "numbers that belong"},
        {PERFTEST_LATENCY_TIMED, TIMED " 2 2000000 1.45 0.00\n" RULE, "numbers that belong"},
        {PERFTEST_LATENCY, LATENCY " 2 1000 1.41 9.25 1.44 -nan 0.12 1.53 5.22\n" RULE,
         "numbers that belong"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct perftest_row row;
        struct error e = {{0}};
        if (read_text(cases[i].test, cases[i].text, &row, &e) == 0 || !strstr(e.text, cases[i].says))
            fail_msg("case %zu: \"%s\", expected \"%s\"", i, e.text, cases[i].says);
    }
}

/* ---- what becomes of a table */

static struct scenario_flow flow_of(int64_t message_bytes)
{
    static char name[] = "x", from[] = "a", to[] = "b"; /* the flow outlives the call */
    return (struct scenario_flow){.name = name,
                                  .from = from,
                                  .to = to,
                                  .tool = 1,
                                  .message_bytes = message_bytes,
                                  .queue_pairs = 1,
                                  .depth = 1,
                                  .traffic_class = 0,
                                  .size_bytes = FIELD_UNSET,
                                  .stop_ns = FIELD_UNSET};
}

/* The flow line of what was printed; NULL with `e` set. */
static json_t *line_of(const struct scenario_flow *flow, const char *printed, struct error *e)
{
    const struct scenario_flow *flows[] = {flow};
    const struct traffic_job job = {.tool = &traffic_tool_perftest, .flows = flows, .count = 1};
    struct text made = {0};
    json_t *line = NULL;
    if (job.tool->read(&job, printed, strlen(printed), 17, &made, e) == 0)
        line = json_loads(text_string(&made), 0, NULL);
    text_free(&made);
    return line;
}

static double number(const json_t *line, const char *key)
{
    return json_number_value(json_object_get(line, key));
}

/* 2 bytes: 7.15 MiB/s has three digits, 3.748300 million messages/s has seven. */
static void the_average_with_more_digits_counts(void **state)
{
    struct error e;
    struct scenario_flow large = flow_of(65536), small = flow_of(2);
    (void)state;
    json_t *line = line_of(&large, OLD ROW RULE, &e);
    assert_near(number(line, "goodput_bps"), 2920.80 * 1048576 * 8, 1);
    assert_near(number(line, "duration_ns"), 5000. * 65536 / (2920.80 * 1048576) * 1e9, 1);
    json_decref(line);
    line =
        line_of(&small, OLD " 2          5000             0.00               7.15\t\t   3.748300\n" RULE, &e);
    assert_near(number(line, "messages_per_s"), 3748300, 0.01);
    assert_near(number(line, "goodput_bps"), 3748300. * 16, 1);
    json_decref(line);
}

static void a_table_of_other_messages_is_refused(void **state)
{
    struct error e;
    struct scenario_flow flow = flow_of(4096), counted = flow_of(65536);
    (void)state;
    counted.size_bytes = 65536LL * 5001;
    assert_null(line_of(&flow, OLD ROW RULE, &e));
    assert_non_null(strstr(e.text, "messages of 65536 bytes: expected 4096"));
    assert_null(line_of(&counted, OLD ROW RULE, &e));
    assert_non_null(strstr(e.text, "5000 messages: expected 5001"));
    flow.message_bytes = 65536;
    assert_null(line_of(&flow, OLD " 65536 0 0.00 0.00 0.000000\n" RULE, &e));
    assert_non_null(strstr(e.text, "no message was complete"));
}

/* ---- why it failed */

static void assert_explained(int memory, const char *said, const char *printed, const char *begin,
                             const char *end)
{
    struct scenario_flow flow = {.memory = memory};
    const struct scenario_flow *flows[] = {&flow};
    struct traffic_job job = {.flows = flows, .count = 1};
    struct text out = {0};
    traffic_tool_perftest.explain(&job, said, printed, &out);
    if (strncmp(text_string(&out), begin, strlen(begin)) != 0 || !strstr(text_string(&out), end))
        fail_msg("%s", text_string(&out));
    text_free(&out);
}

static void failures_name_their_cause(void **state)
{
    (void)state;
    static const char completion[] =
        " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, ccnt=0\n";
    static const char refused[] = "Couldn't allocate MR with error=%s\nfailed to create mr\nFailed to create "
                                  "MR\n Couldn't create IB resources\n";
    char said[200];
    assert_explained(
        MEMORY_HOST, completion, "",
        "completion error 12 (IBV_WC_RETRY_EXC_ERR), vendor error 0x81: on mlx5 NICs no acknowledgement",
        "it said:  Completion with error at client |  Failed status 12");
    /* newer versions print it among the table */
    assert_explained(
        MEMORY_HOST, "scnt=128, ccnt=0\n", completion,
        "completion error 12 (IBV_WC_RETRY_EXC_ERR), vendor error 0x81: ", "(it said: scnt=128, ccnt=0)");
    assert_explained(MEMORY_HOST, "Failed status 5: wr_id 3 syndrom 0xf9\n", "",
                     "completion error 5 (IBV_WC_WR_FLUSH_ERR), vendor error 0xf9: on mlx5 NICs flushed", "");
    assert_explained(MEMORY_HOST, "Failed status 10: wr_id 0 syndrom 0x88\n", "",
                     "completion error 10 (IBV_WC_REM_ACCESS_ERR), vendor error 0x88: on mlx5 NICs ", "rkey");
    assert_explained(MEMORY_HOST, "Failed status 99: wr_id 0 syndrom 0x0\n", "",
                     "completion error 99 (unknown status", "");
    snprintf(said, sizeof said, refused, "14");
    assert_explained(MEMORY_GPU, said, "",
                     "GPU memory could not be registered with the NIC (errno 14, Bad address): "
                     "nvidia-peermem is not loaded",
                     "Couldn't allocate MR with error=14 | failed to create mr");
    snprintf(said, sizeof said, refused, "12");
    assert_explained(
        MEMORY_CUDA_DMABUF, said, "",
        "GPU memory could not be registered with the NIC (errno 12, Cannot allocate memory): BAR1", "");
    snprintf(said, sizeof said, refused, "12");
    assert_explained(MEMORY_HOST, said, "",
                     "host memory could not be registered with the NIC (errno 12, Cannot allocate memory): "
                     "the limit on locked memory",
                     "");
    assert_explained(MEMORY_GPU, "Couldn't allocate MR\n", "",
                     "GPU memory could not be registered with the NIC: nvidia-peermem", "");
    assert_explained(MEMORY_HOST,
                     " WARNING: BW peak won't be measured in this run.\n Port number 1 state is Down\n "
                     "Couldn't set the link layer\n",
                     "", " Port number 1 state is Down |  Couldn't set the link layer", "");
    assert_explained(MEMORY_HOST, "", "", "", "");
}

static void lines_of_queue_pairs_are_not_kept(void **state)
{
    (void)state;
    static const char *const lines[] = {" local address: LID 0000 QPN 0x0108", " remote address: LID 0000",
                                        " GID: 00:00", " GID index       : 3", ROW};
    static const bool needed[] = {false, false, false, true, true};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        assert_int_equal(traffic_tool_perftest.needs(lines[i], strlen(lines[i])), needed[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(a_deviation_that_overflowed_is_no_error),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(the_average_with_more_digits_counts),
        cmocka_unit_test(failures_name_their_cause),
        cmocka_unit_test(lines_of_queue_pairs_are_not_kept),
        cmocka_unit_test(a_table_of_other_messages_is_refused),
    };
    return cmocka_run_group_tests_name("perftest", tests, NULL, NULL);
}
