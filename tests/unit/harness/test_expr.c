/* Expressions: grammar, units, statistics over a result, and errors that name the column. */
#include "harness/expression/expr.h"
#include "lib/document/json_file.h"
#include "lib/roce/counters.h"
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char scenario_text[] = "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],"
                                    "\"flows\":[{\"name\":\"a-to-b\",\"from\":\"a\",\"to\":\"b\"},{\"name\":"
                                    "\"b-to-a\",\"from\":\"b\",\"to\":\"a\"}]}";

static const char result_text[] =
    "{\"hosts\":{"
    "\"a\":{\"counters\":{\"rx_prio0_pause\":{\"unit\":\"frames\",\"delta\":100,\"rate_per_s\":10.0,"
    "\"first\":5,\"last\":105},"
    "\"rx_prio0_pause_duration\":{\"unit\":\"us\",\"delta\":500000,\"rate_per_s\":50000.0},"
    "\"tx_prio0_bytes\":{\"unit\":\"bytes\",\"delta\":1250000000,\"rate_per_s\":125000000.0},"
    "\"outbound_pci_stalled_rd_events\":{\"unit\":\"seconds\",\"delta\":3,\"rate_per_s\":0.3},"
    "\"rx_buffer1_bytes\":{\"unit\":\"bytes\",\"min\":0,\"mean\":1000.5,\"p50\":500,\"p90\":7000,\"p99\":"
    "80000,"
    "\"p99_9\":90000,\"max\":91000}}},"
    "\"b\":{\"counters\":{\"outbound_pci_stalled_wr_events\":{\"unit\":\"events\",\"delta\":3},"
    "\"rx_buffer1_bytes\":{\"unit\":\"bytes\",\"p99\":81000},"
    "\"rx_prio0_pause\":{\"unit\":\"frames\",\"delta\":7,\"rate_per_s\":0.7,\"first\":0,"
    "\"last\":7}}}},"
    "\"flows\":{\"a-to-b\":{\"goodput_bps\":2e10,\"goodput_MiBps\":2384.2,\"bytes\":25000000000,\"errors\":0,"
    "\"latency_ns\":{\"p50\":1410,\"p99_9\":5220}},\"b-to-a\":{\"goodput_bps\":1e10,\"bytes\":12500000000,"
    "\"errors\":3}}}";

static struct scenario scenario;
static json_t *result;

static int set_up(void **state)
{
    struct error e = {""};
    json_t *json = json_loads(scenario_text, 0, NULL);
    (void)state;
    result = json_loads(result_text, 0, NULL);
    int outcome = json && result ? scenario_parse(json, &scenario, &e) : -1;
    json_decref(json);
    return outcome;
}

static int tear_down(void **state)
{
    (void)state;
    scenario_free(&scenario);
    json_decref(result);
    return 0;
}

static void values_are_computed(void **state)
{
    static const struct {
        const char *text, *unit;
        double value;
    } cases[] = {
        {"1 + 2 * 3", "", 7},
        {"(1 + 2) * 3", "", 9},
        {"10 - 4 - 3", "", 3},
        {"-2 * -3", "", 6},
        {"100 / 10 / 5", "", 2},
        {"5%", "", 0.05},
        {"1.5e3", "", 1500},
        {"15e-1", "", 1.5},
        {"10ms", "ns", 1e7},
        {"64KiB", "bytes", 65536},
        {"25Gb/s", "b/s", 25e9},
        {"25 Gb/s", "b/s", 25e9},
        {"50 % * 2", "", 1},
        {"100/s", "/s", 100},
        {"delta(a.rx_prio0_pause)", "", 100},
        {"delta(*.rx_prio0_pause)", "", 107},
        {"rate(a.rx_prio0_pause)", "/s", 10},
        {"first(a.rx_prio0_pause)", "", 5},
        {"last(*.rx_prio0_pause)", "", 112},
        {"count(*.rx_prio0_pause)", "", 2},
        {"delta(a.rx_prio0_pause_duration)", "ns", 5e8},
        {"rate(a.rx_prio0_pause_duration)", "", 0.05}, /* the share of time paused */
        {"rate(a.tx_prio0_bytes)", "b/s", 1e9},
        {"max(a.rx_buffer1_bytes)", "bytes", 91000},
        {"mean(a.rx_buffer1_bytes)", "bytes", 1000.5},
        {"sum(flows.*.goodput_bps)", "b/s", 3e10},
        {"min(flows.*.goodput_bps)", "b/s", 1e10},
        {"max(flows.*.goodput_bps)", "b/s", 2e10},
        {"mean(flows.*.goodput_bps)", "b/s", 1.5e10},
        {"sum(flows.*.goodput_bps) / 1Gb/s", "", 30},
        {"max(flows.*.latency_p50_ns)", "ns", 1410},
        {"max(flows.a-to-b.latency_p99_9_ns) / 1us", "", 5.22},
        {"delta(a.rx_prio0_pause) / delta(b.rx_prio0_pause)", "", 100.0 / 7},
        {"jain(flows.*.goodput_bps)", "", 0.9}, /* (2 + 1)^2 / (2 (4 + 1)) */
        {"jain(flows.*.errors)", "", 0.5},      /* one flow has them all */
        {"stddev(flows.*.bytes) / 1GB", "", 12.5 / 1.4142135623730951},
        {"rate(a.rx_prio0_pause) * 5s", "", 50},
        {"5s * rate(a.rx_prio0_pause)", "", 50},
        {"delta(a.rx_prio0_pause) / 10s", "/s", 10},
        {"delta(a.tx_prio0_bytes) / 10s", "b/s", 1e9},
        {"max(a.rx_buffer1_bytes) / 1Gb/s", "ns", 728000},
        {"sum(flows.a-to-b.goodput_bps) * 10s", "bytes", 25e9},
        {"sum(flows.a-to-b.goodput_bps) / 100KB", "/s", 25000},
        {"sum(flows.a-to-b.goodput_bps) / rate(a.rx_prio0_pause)", "bytes", 2.5e8},
        {"rate(a.rx_prio0_pause) * 4KiB", "b/s", 327680},
        {"1 / max(flows.*.latency_p50_ns)", "/s", 1e9 / 1410},
        {"delta(a.rx_prio0_pause) / rate(a.rx_prio0_pause)", "ns", 1e10},
        {"rate(a.rx_prio0_pause_duration) * 10s", "ns", 5e8},
        {"sum(flows.*.errors) / sum(flows.a-to-b.bytes)", "", 3 / 25e9},
        {"-(delta(a.rx_prio0_pause) - 100)", "", 0},
        {"0.5ns", "ns", 0.5},
        {"p50(flows.*.goodput_bps)", "b/s",
         1e10}, /* of two values the first is at least as large as half of them */
        {"p90(flows.*.goodput_bps)", "b/s", 2e10},
        {"p50(a.rx_buffer1_bytes)", "bytes", 500},
        {"p90(a.rx_buffer1_bytes)", "bytes", 7000},
        {"p99(a.rx_buffer1_bytes)", "bytes", 80000},
        {"p99_9(a.rx_buffer1_bytes)", "bytes", 90000},
        {"p99(*.rx_buffer1_bytes)", "bytes", 81000}, /* the largest */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct expr_result r = {.unit = ""};
        struct expr *x = expr_compile(cases[i].text, false, &e);
        if (!x || expr_validate(x, &scenario, &e) != 0)
            fail_msg("%s: %s", cases[i].text, e.text);
        assert_int_equal(expr_evaluate(x, result, NULL, &r), EXPR_TRUE);
        if (fabs(r.left - cases[i].value) > 1e-9 * fabs(cases[i].value) || strcmp(r.unit, cases[i].unit) != 0)
            fail_msg("%s gave %.12g %s, expected %.12g %s", cases[i].text, r.left, r.unit, cases[i].value,
                     cases[i].unit);
        expr_free(x);
    }
}

static void checks_are_decided(void **state)
{
    static const struct {
        const char *text;
        enum expr_outcome outcome;
    } cases[] = {
        {"delta(a.rx_prio0_pause) > 99", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) > 100", EXPR_FALSE},
        {"delta(a.rx_prio0_pause) >= 100", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) < 100", EXPR_FALSE},
        {"delta(a.rx_prio0_pause) <= 100", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) == 100", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) != 100", EXPR_FALSE},
        {"sum(flows.*.errors) == 0", EXPR_FALSE},
        {"rate(a.rx_prio0_pause_duration) < 10%", EXPR_TRUE},
        {"rate(a.rx_prio0_pause_duration) < 0.1", EXPR_TRUE},
        {"rate(a.rx_prio0_pause) < 1000", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) > 10% * delta(a.rx_prio0_pause)", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) / 1 == 2 * 50", EXPR_TRUE},
        {"delta(a.rx_prio0_pause) / delta(a.rx_prio0_pause) > 99%", EXPR_TRUE},
        {"sum(flows.*.bytes) * 5% + 1B > 2% * sum(flows.*.bytes)", EXPR_TRUE},
        {"delta(a.rx_prio0_pause*) > 0", EXPR_UNKNOWN}, /* frames and their durations */
        {"count(a.rx_prio0_pause*) >= 0", EXPR_TRUE},
        {"sum(flows.*.goodput_bps) >= 30Gb/s", EXPR_TRUE},
        {"sum(flows.*.goodput_bps) >= 30 Gb/s", EXPR_TRUE},
        {"max(a.rx_buffer1_bytes) < 90KiB", EXPR_TRUE},
        {"min(flows.*.bytes) > 0", EXPR_TRUE},
        {"delta(a.outbound_pci_stalled_rd_events) < 5s", EXPR_TRUE},
        {"delta(a.outbound_pci_stalled_rd_events) < 2s", EXPR_FALSE},
        {"delta(b.outbound_pci_stalled_wr_events) < 5s", EXPR_UNKNOWN}, /* the result has another unit */
        {"delta(*.rx_prio*_pause_duration) < 1s", EXPR_TRUE},
        {"delta(a.rx_discards_phy) == 0", EXPR_UNKNOWN}, /* no host has it */
        {"1 / delta(a.rx_discards_phy) == 0", EXPR_UNKNOWN},
        {"1 / 0 > 5", EXPR_UNKNOWN},
        {"delta(b.outbound_pci_stalled_wr_events) - 1s < 2 * delta(b.outbound_pci_stalled_wr_events)",
         EXPR_UNKNOWN},
        {"max(flows.b-to-a.latency_p50_ns) < 1ms", EXPR_UNKNOWN},
        {"stddev(flows.a-to-b.bytes) < 1GB", EXPR_UNKNOWN}, /* one value has none */
        {"jain(flows.a-to-b.errors) > 50%", EXPR_UNKNOWN},
        {"p90(b.rx_buffer1_bytes) < 1MB", EXPR_UNKNOWN},
        {"sum(flows.*.bytes) > other(sum(flows.*.bytes))", EXPR_UNKNOWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct expr_result r = {.unit = ""};
        struct expr *x = expr_compile(cases[i].text, true, &e);
        if (!x || expr_validate(x, &scenario, &e) != 0)
            fail_msg("%s: %s", cases[i].text, e.text);
        if (expr_evaluate(x, result, NULL, &r) != cases[i].outcome)
            fail_msg("%s: outcome is not %d", cases[i].text, cases[i].outcome);
        if (cases[i].outcome == EXPR_UNKNOWN)
            assert_true(*r.reason != '\0');
        expr_free(x);
    }
}

static void errors_point_at_the_column(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "column 1: expected a number"},
        {"1 >", "column 4: expected a number"},
        {"1 > 2 3", "column 7: expected the end"},
        {"delta(a.x", "column 10: expected \")\""},
        {"delta a.x > 1", "column 7: expected \"(\""},
        {"delta(.x) > 1", "column 7: expected a role"},
        {"delta(a) > 1", "column 8: expected a dot"},
        {"sum(flows.a) > 1", "column 12: expected a dot"},
        {"rtae(a.x) > 1", "column 1: expected \"rate\""},
        {"1 ? 2", "column 3: expected a comparison"},
        {"1 > 3parsec", "column 6: expected a unit"},
        {"1.2.3 > 1", "column 1: expected a number"},
        {"1e", "column 2: expected a unit"},
        {"1e+", "column 2: expected a unit"},
        {"jain(flows.*.bytes) < 95", "column 21: jain is an index from 0 to 1"},
        {"1.5 > jain(flows.*.bytes)", "column 5: jain is an index from 0 to 1"},
        {"(1 > 2)", "column 4: expected \")\""},
        {"p95(a.x) > 1", "column 1: expected \"p90\""},
        {"jian(flows.*.bytes) > 1", "column 1: expected \"jain\""},
        {"p99.9(a.x) > 1", "column 4: expected \"(\""},
        {"otter(sum(flows.*.bytes)) > 1", "column 1: expected \"other\""},
        {"other sum(flows.*.bytes) > 1", "column 7: expected \"(\""},
        {"other(sum(flows.*.bytes) > 1", "column 26: expected \")\""},
        {"other() > 1", "column 7: expected a number"},
        {"1 > other(1 + other(sum(flows.*.bytes)))",
         "column 15: expected a value of the other cell, without another"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct expr *x = expr_compile(cases[i].text, true, &e);
        assert_null(x);
        if (!strstr(e.text, cases[i].says))
            fail_msg("\"%s\" says: %s", cases[i].text, e.text);
    }
}

static void units_must_go_together(void **state)
{
    static const char *const wrong[] = {
        "delta(a.rx_prio0_pause_duration) > 5",
        "sum(flows.*.bytes) > 10",
        "sum(flows.*.goodput_bps) > 10ms",
        "rate(a.tx_prio0_bytes) > 10KiB",
        "sum(flows.*.bytes) + 1ms > 0",
        "delta(a.rx_prio0_pause) > 10ms",
        "delta(a.rx_prio*_pause_duration) > 5",
        "stddev(flows.*.bytes) > 5",
        "p99(a.rx_buffer1_bytes) > 5",
        "sum(flows.*.bytes) / other(sum(flows.*.goodput_bps)) > 1",
        "other(sum(flows.*.bytes)) > 5",
        "delta(a.outbound_pci_stalled_rd_events) > 5",
        "rate(a.tx_prio0_bytes) * 1Gb/s > 5",
        "max(flows.*.latency_p50_ns) * 5ms > 5",
        "max(flows.*.latency_p50_ns) / 5KiB > 5",
        "delta(a.rx_prio0_pause) < 1k/s",
        "total(a.rx_prio0_pause) < 1k/s",
        "count(flows.*.bytes) < 1k/s",
        "2 * sum(flows.*.messages) < 1k/s",
        "delta(a.rx_prio0_pause) + 1/s > 0",
        "delta(a.rx_prio0_pause) / delta(b.rx_prio0_pause) < 1k/s",
        "delta(a.rx_prio0_pause) < 10%",
        "sum(flows.*.goodput_MiBps) < 97%",
        "sum(flows.*.errors) + 10% < 5",
        "rate(a.rx_prio0_pause) < 10%",
        "1/s > jain(flows.*.bytes)",
        "rate(a.rx_prio0_pause_duration) < 1k/s",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error e = {""};
        struct expr *x = expr_compile(wrong[i], true, &e);
        assert_non_null(x);
        if (expr_validate(x, &scenario, &e) == 0)
            fail_msg("%s was taken", wrong[i]);
        expr_free(x);
    }
}

static void figures_have_the_unit_of_their_value(void **state)
{
    static const struct {
        const char *text, *unit, *says; /* NULL: they go together */
    } cases[] = {
        {"sum(flows.*.goodput_MiBps)", "MiB/s", NULL},
        {"sum(flows.*.goodput_MiBps)", "Gb/s", "is in MiB/s: write \"MiB/s\""},
        {"sum(flows.*.goodput_bps)", "Gb/s", "is in b/s: divide it by 1Gb/s"},
        {"sum(flows.*.goodput_bps) / 1Gb/s", "Gb/s", NULL},
        {"max(flows.*.latency_p50_ns)", "us", "is in ns: divide it by 1us"},
        {"max(flows.*.latency_p50_ns)", "packets", "is in ns: write \"ns\""},
        {"rate(a.rx_prio0_pause)", "frames/s", NULL},
        {"rate(a.rx_prio0_pause)", "M/s", "is in /s: divide it by 1M/s"},
        {"delta(a.rx_prio0_pause) / 1s", "k/s", "is in /s: divide it by 1k/s"},
        {"rate(a.rx_prio0_pause_duration)", "%", "is a plain number: divide it by 1%"},
        {"rate(a.rx_prio0_pause_duration) / 1%", "%", NULL},
        {"delta(a.rx_prio0_pause)", "frames", NULL},
        {"delta(a.rx_prio0_pause)", "ms", "is a plain number: write no unit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct expr *x = expr_compile(cases[i].text, false, &e);
        assert_non_null(x);
        int outcome = expr_check_unit(x, &scenario, cases[i].unit, &e);
        if (outcome != (cases[i].says ? -1 : 0) || (cases[i].says && !strstr(e.text, cases[i].says)))
            fail_msg("%s in \"%s\": %d, %s", cases[i].text, cases[i].unit, outcome, e.text);
        expr_free(x);
    }
}

/* Columns that nic-sampler prints on a machine without an RDMA NIC, and names that it defines itself. */
static void names_of_the_sampler_are_known(void **state)
{
    static const char *const names[] = {
        "link_carrier_changes",   "pcie_aer_fatal",     "rx_pause_frames",          "link_speed",
        "dcqcn_rp_rpg_gd",        "qdisc_htb_requeues", "gpu0_pcie_width",          "rdma_duplicate_request",
        "rx_queue_0_xdp_packets", "link_rx_crc_errors", "MACControlFramesReceived", "etherStatsJabbers",
        "tx_queue_stopped",       "unnamed_7",          "FrameTooLongErrors",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error e = {""};
        char text[80];
        snprintf(text, sizeof text, "last(a.%s)", names[i]);
        struct expr *x = expr_compile(text, false, &e);
        if (!x || expr_validate(x, &scenario, &e) != 0)
            fail_msg("%s: %s", text, e.text);
        expr_free(x);
    }
}

static void every_row_of_the_catalogue_is_known(void **state)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct error e = {""};
        struct text text = {0};
        text_add(&text, rows[i].kind == COUNTER_GAUGE ? "max(a." : "delta(a.");
        for (const char *c = rows[i].pattern; *c; c++)
            text_add(&text, "%.*s", *c == '*' ? 6 : 1, *c == '*' ? "qwerty" : *c == '#' ? "3" : c);
        text_add(&text, ")");
        struct expr *x = expr_compile(text_string(&text), false, &e);
        if (!x || expr_validate(x, &scenario, &e) != 0)
            fail_msg("%s: %s", text_string(&text), e.text);
        expr_free(x);
        text_free(&text);
    }
}

static void wrong_names_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"delta(a.tx_prio0_pauses) > 0",
         "there is no counter \"tx_prio0_pauses\"; did you mean \"tx_prio0_pause\"?"},
        {"delta(a.rx_prio8_pause) > 0", "there is no counter \"rx_prio8_pause\""},
        {"delta(a.zzz*) > 0", "there is no counter \"zzz*\""},
        {"delta(a.link_carrier) > 0", "link_carrier is a gauge"},
        {"max(a.rx_pause_frames) > 0", "rx_pause_frames is a counter"},
        {"1 < p99(a.rx_pause_frames)",
         "column 9: rx_pause_frames is a counter: expected delta, rate, first, last, "
         "count or total, not p99"},
        {"p99(a.port4_queue_bytes) > 0B", /* it is port4_prio3_queue_bytes */
         "port4_queue_bytes is not a listed gauge, and taken for a counter of a driver: expected delta, "},
        {"jain(a.rx_buffer1_bytes) > 0",
         "column 6: rx_buffer1_bytes is a gauge: expected first, last, min, max, mean, "
         "count, p50, p90, p99 or p99_9, not jain"},
        {"jain(*.*_bytes) > 0", "column 6: *_bytes is of counters and gauges"},
        {"delta(flows.*.bytes) > 0B",
         "column 7: bytes is a value of flows: expected min, max, mean, sum, count, jain, "
         "stddev, p50, p90, p99 or p99_9, not delta"},
        {"other(max(a.rx_pause_frames)) > 0", "column 11: rx_pause_frames is a counter"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct expr *x = expr_compile(cases[i].text, true, &e);
        assert_non_null(x);
        assert_int_equal(expr_validate(x, &scenario, &e), -1);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s says: %s", cases[i].text, e.text);
        expr_free(x);
    }
}

/* Every prefix of the text, in memory that ends where it ends: the address sanitizer detects a read past it.
 * What is refused has a sentence; the rest is checked and evaluated. */
static void each_prefix(const char *whole)
{
    for (size_t length = 0; length <= strlen(whole); length++)
        for (int check = 0; check < 2; check++) {
            struct error e = {""};
            struct expr_result r;
            char *text = strndup(whole, length);
            assert_non_null(text);
            struct expr *x = expr_compile(text, check, &e);
            free(text);
            if (!x && !*e.text)
                fail_msg("%.*s is refused without a reason", (int)length, whole);
            if (x && expr_validate(x, &scenario, &e) == 0)
                (void)expr_decidable(x, &scenario, &e);
            if (x)
                (void)expr_evaluate(x, result, NULL, &r);
            expr_free(x);
        }
}

static void a_text_is_read_to_its_end_only(void **state)
{
    static const char *const texts[] = {
        "1e",
        "1e+",
        "1e-5 ",
        "1E+9999",
        "0x",
        "0x1p5",
        ".",
        ".5",
        "5.",
        "..1",
        "+",
        "-",
        "--+-1",
        "-(-(-1",
        "1m",
        "1/",
        "1/s",
        "1 %",
        "1e5%s",
        "1e400",
        "1e-400",
        "1e+400 > 1",
        "1.5.5",
        "00000000000000000000000001",
        "inf",
        "nan > 1",
        "delta(a.",
        "delta(a[.b)",
        "delta(a.[b)",
        "sum(flows.[.bytes) > 1",
        "1 <",
        "1 <= ",
        "1 == == 1",
        "\xff\xfe > 1",
        "delta(*.*) > \x80",
        "min(flows.*.latency_p9999999999999999999999999999999999999999999999999999_ns) > 0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        each_prefix(texts[i]);
    char longest[2000];
    for (const char *c = "1.e*<(-[a"; *c; c++) {
        memset(longest, *c, sizeof longest - 1);
        longest[sizeof longest - 1] = '\0';
        struct error e = {""};
        assert_null(expr_compile(longest, true, &e));
        assert_true(*e.text != '\0');
    }
}

static void prefixes_of_the_scenarios_are_read_to_their_end_only(void **state)
{
    glob_t found;
    size_t expressions = 0;
    (void)state;
    assert_int_equal(glob("scenarios/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        static const char *const keys[][2] = {{"expect", "check"}, {"published", "of"}};
        json_t *json = json_load_file(found.gl_pathv[i], 0, NULL), *row;
        assert_non_null(json);
        for (int k = 0; k < 2; k++) {
            size_t n;
            json_array_foreach(json_object_get(json, keys[k][0]), n, row)
            {
                const char *text = json_string_value(json_object_get(row, keys[k][1]));
                assert_non_null(text);
                each_prefix(text);
                expressions++;
            }
        }
        json_decref(json);
    }
    assert_true(expressions > 50);
    globfree(&found);
}

static void count_counter(void *context, const char *role, const char *counter, const char *key)
{
    (void)key;
    (void)role;
    (void)counter;
    ++*(int *)context;
}

static void counters_are_visited(void **state)
{
    struct error e = {""};
    int count = 0;
    struct expr *x =
        expr_compile("delta(a.rx_prio0_pause) + 2 * delta(b.tx_prio0_pause) > sum(flows.*.errors)", true, &e);
    (void)state;
    assert_non_null(x);
    expr_each_counter(x, count_counter, &count);
    assert_int_equal(count, 2);
    expr_free(x);
}

static const char text_of_rails[] = "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a.r0\",\"a.r1\",\"b\"],"
                                    "\"flows\":[{\"name\":\"f.r0\",\"from\":\"a.r0\","
                                    "\"to\":\"b\"},{\"name\":\"f.r1\",\"from\":\"a.r1\",\"to\":\"b\"}]}";

static const char result_of_rails[] = "{\"hosts\":{\"a.r0\":{\"machine\":\"a\",\"counters\":{\"rx_prio0_"
                                      "pause\":{\"unit\":\"frames\",\"delta\":1},"
                                      "\"IpExtInCEPkts\":{\"unit\":\"packets\",\"source\":\"ip\",\"delta\":5}"
                                      ",\"rx_priority_3_xoff.nic\":{\"unit\":"
                                      "\"frames\",\"delta\":8}}},\"a.r1\":{\"machine\":\"a\",\"counters\":{"
                                      "\"rx_prio0_pause\":{\"unit\":\"frames\","
                                      "\"delta\":2},\"IpExtInCEPkts\":{\"unit\":\"packets\",\"source\":"
                                      "\"ip\",\"delta\":5},\"rx_priority_3_xoff.nic\":{\"unit\":"
                                      "\"frames\",\"delta\":0}}},\"b\":{\"counters\":{"
                                      "\"rx_prio0_pause\":{\"unit\":\"frames\",\"delta\":4}}}},\"flows\":{"
                                      "\"f.r0\":{\"goodput_bps\":1e9},\"f.r1\":{"
                                      "\"goodput_bps\":2e9}}}";

/* A role is the longest that there is; a host is all of its NICs, and what it counts as a whole counts once.
 */
static void nics_are_told_from_counters(void **state)
{
    static const struct {
        const char *text;
        double value; /* NAN: refused */
    } cases[] = {
        {"delta(a.r1.rx_prio0_pause)", 2},      {"delta(a.rx_prio0_pause)", 3},
        {"delta(*.rx_prio0_pause)", 7},         {"delta(*.r0.rx_prio0_pause)", 1},
        {"delta(a.r[01].rx_prio0_pause)", 3},   {"delta(a.IpExtInCEPkts)", 5},
        {"delta(*.IpExtInCEPkts)", 5},          {"delta(a.r1.IpExtInCEPkts)", 5},
        {"delta(a.rx_priority_3_xoff.nic)", 8}, {"delta(a.r0.rx_priority_3_xoff.nic)", 8},
        {"sum(flows.f.goodput_bps)", 3e9},      {"sum(flows.f.r1.goodput_bps)", 2e9},
        {"max(flows.*.goodput_bps)", 2e9},      {"delta(a.r9.rx_prio0_pause)", NAN},
        {"delta(a.r1.rx_prio0_pase)", NAN},     {"sum(flows.f.r9.goodput_bps)", NAN},
        {"sum(flows.g.r1.goodput_bps)", NAN},
    };
    struct scenario rails;
    struct error e;
    json_t *json = json_loads(text_of_rails, 0, NULL), *found = json_loads(result_of_rails, 0, NULL);
    (void)state;
    assert_int_equal(scenario_parse(json, &rails, &e), 0);
    rails.bound = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr_result r;
        struct expr *x = expr_compile(cases[i].text, false, &e);
        assert_non_null(x);
        expr_name_roles(x, &rails);
        bool valid = expr_validate(x, &rails, &e) == 0;
        if (valid != isfinite(cases[i].value))
            fail_msg("%s: %s", cases[i].text, valid ? "valid" : e.text);
        if (valid && (expr_evaluate(x, found, NULL, &r) != EXPR_TRUE || fabs(r.left - cases[i].value) > 1e-9))
            fail_msg("%s: %.9g %s", cases[i].text, r.left, r.reason);
        expr_free(x);
        x = expr_compile(cases[i].text, false, &e);
        expr_name_roles_of(x, found); /* as rules of compare are */
        if (valid && (expr_evaluate(x, found, NULL, &r) != EXPR_TRUE || fabs(r.left - cases[i].value) > 1e-9))
            fail_msg("%s: %.9g %s", cases[i].text, r.left, r.reason);
        expr_free(x);
    }
    scenario_free(&rails);
    json_decref(json);
    json_decref(found);
}

/* Of a machine that is named, a NIC without the counter is missing; of all hosts, it need not have it. */
static void sums_lack_nics_without_the_counter(void **state)
{
    static const char text[] =
        "{\"hosts\":{\"a.r0\":{\"machine\":\"m\",\"counters\":{\"rx_prio3_pause\":{"
        "\"unit\":\"frames\",\"kind\":\"counter\",\"delta\":4,\"rate_per_s\":2,"
        "\"first\":1,\"last\":5,\"total\":5},\"rx_buffer1_bytes\":{\"unit\":\"bytes\","
        "\"kind\":\"gauge\",\"max\":100,\"mean\":50},\"IpExtInCEPkts\":{\"unit\":"
        "\"packets\",\"source\":\"ip\",\"kind\":\"counter\",\"delta\":5}}},"
        "\"a.r1\":{\"machine\":\"m\",\"counters\":{}},\"b\":{\"counters\":{}},"
        "\"s0\":{\"counters\":{\"port0_discards\":{\"unit\":\"packets\",\"kind\":\"counter\","
        "\"delta\":1},\"port2_discards\":{\"unit\":\"packets\",\"kind\":\"counter\",\"delta\":1}}},"
        "\"s1\":{\"counters\":{\"port2_discards\":{\"unit\":\"packets\",\"kind\":\"counter\","
        "\"delta\":1}}}},"
        "\"flows\":{}}";
    static const struct {
        const char *text;
        enum expr_outcome outcome;
        const char *note;
    } cases[] = {
        {"delta(a.rx_prio3_pause) == 4", EXPR_UNKNOWN, "a.rx_prio3_pause: 1 of 2 NICs have it"},
        {"delta(a.r*.rx_prio3_pause) == 4", EXPR_UNKNOWN, "a.r*.rx_prio3_pause: 1 of 2 NICs have it"},
        {"delta(a.rx_prio*_pause) < 5", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"delta(a.rx_prio3_pause) > 3", EXPR_TRUE, "1 of 2 NICs"},
        {"delta(a.rx_prio3_pause) < 4", EXPR_FALSE, "1 of 2 NICs"},
        {"total(a.rx_prio3_pause) == 5", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"rate(a.rx_prio3_pause) < 3/s", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"rate(a.rx_prio3_pause) > 1/s", EXPR_TRUE, "1 of 2 NICs"},
        {"first(a.rx_prio3_pause) == 1", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"last(a.rx_prio3_pause) < 6", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"max(a.rx_buffer1_bytes) < 1KB", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"mean(a.rx_buffer1_bytes) > 1B", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"10 - delta(a.rx_prio3_pause) > 3", EXPR_UNKNOWN, "1 of 2 NICs"},
        {"count(a.rx_prio3_pause) == 1", EXPR_TRUE, ""},
        {"delta(a.r0.rx_prio3_pause) == 4", EXPR_TRUE, ""},
        {"delta(*.rx_prio3_pause) == 4", EXPR_TRUE,
         "*.rx_prio3_pause is of 1 of 3 hosts: a.r1 and others do not have it"},
        {"delta(*.r?.rx_prio3_pause) == 4", EXPR_TRUE,
         "*.r?.rx_prio3_pause is of 1 of 2 hosts: a.r1 does not have it"},
        {"delta(s*.port0_discards) == 1", EXPR_TRUE,
         "s*.port0_discards is of 1 of 2 switches: s1 does not have it"},
        {"delta(*.port0_discards) == 1", EXPR_TRUE,
         "*.port0_discards is of 1 of 2 switches: s1 does not have it"},
        {"delta(*.port2_discards) == 2", EXPR_TRUE, ""},
        {"count(*.rx_prio3_pause) == 1", EXPR_TRUE, ""},
        {"delta(a.IpExtInCEPkts) == 5", EXPR_TRUE, ""},
        {"delta(a.r1.rx_prio3_pause) == 0", EXPR_UNKNOWN, ""},
    };
    struct error e;
    json_t *found = json_loads(text, 0, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr_result r;
        struct expr *x = expr_compile(cases[i].text, true, &e);
        assert_non_null(x);
        expr_name_roles_of(x, found);
        enum expr_outcome outcome = expr_evaluate(x, found, NULL, &r);
        if (outcome != cases[i].outcome || !strstr(r.note, cases[i].note) || (!*cases[i].note && *r.note))
            fail_msg("%s: %d, note \"%s\"", cases[i].text, (int)outcome, r.note);
        if (outcome == EXPR_UNKNOWN && !*r.reason)
            fail_msg("%s: no reason", cases[i].text);
        expr_free(x);
    }
    json_decref(found);
}

/* Two flows of a pattern, and the pattern's own entry, which is their sum. */
static void a_pattern_and_its_flows_are_not_added(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"sum(flows.*.goodput_bps)", 148e9},      {"sum(flows.mesh.goodput_bps)", 148e9},
                 {"sum(flows.mesh/*.goodput_bps)", 148e9}, {"max(flows.*.goodput_bps)", 100e9},
                 {"mean(flows.*.goodput_bps)", 74e9},      {"count(flows.*.goodput_bps)", 2},
                 {"max(flows.*.slowdown_p99)", 3}};
    json_t *mesh =
        json_pack("{s:{s:{s:f},s:{s:f},s:{s:f,s:{s:f}}}}", "flows", "mesh/0", "goodput_bps", 100e9, "mesh/1",
                  "goodput_bps", 48e9, "mesh", "goodput_bps", 148e9, "slowdown", "p99", 3.0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e;
        struct expr_result r = {0};
        struct expr *expr = expr_compile(cases[i].text, false, &e);
        assert_non_null(expr);
        assert_int_equal(expr_evaluate(expr, mesh, NULL, &r), EXPR_TRUE);
        assert_true(r.left == cases[i].value);
        expr_free(expr);
    }
    json_decref(mesh);
}

/* Two flows of 20 and 10 Gb/s beside an otherwise equal cell with 25 and 15. */
static void another_cell_is_read(void **state)
{
    struct error e = {""};
    struct expr_result r;
    json_t *other = json_pack("{s:{s:{s:f},s:{s:f}}}", "flows", "a-to-b", "goodput_bps", 25e9, "b-to-a",
                              "goodput_bps", 15e9);
    struct expr *x =
        expr_compile("sum(flows.*.goodput_bps) / other(sum(flows.*.goodput_bps)) > 70%", true, &e);
    (void)state;
    assert_non_null(x);
    assert_true(expr_reads_other(x));
    assert_int_equal(expr_validate(x, &scenario, &e), 0);
    assert_int_equal(expr_evaluate(x, result, other, &r), EXPR_TRUE);
    assert_true(fabs(r.left - 0.75) < 1e-12);
    assert_string_equal(r.unit, "");
    assert_true(expr_compare(x, 0.8, 0.7) && !expr_compare(x, 0.7, 0.7));
    assert_int_equal(expr_evaluate(x, result, NULL, &r), EXPR_UNKNOWN);
    assert_non_null(strstr(r.reason, "other(...) is of another cell of the sweep, and this run has none"));
    expr_free(x);
    json_decref(other);
}

static void what_says_nothing_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"jain(flows.a-to-b.bytes) > 90%",
         "column 6: jain of one value says nothing: expected at least two flows"},
        {"stddev(flows.a-*.bytes) < 1MB", "column 8: stddev of one value says nothing"},
        {"jain(flows.a-*.completion_max_ns) > 0", "has no completion_max_ns"},
        {"jain(flows.*.bytes) > 90%", NULL},
        {"p99(flows.a-to-b.bytes) > 1B", NULL},
        {"other(jain(flows.a-to-b.bytes)) > 90%", "column 12: jain of one value"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {""};
        struct expr *x = expr_compile(cases[i].text, true, &e);
        assert_non_null(x);
        assert_int_equal(expr_decidable(x, &scenario, &e), cases[i].says ? -1 : 0);
        if (cases[i].says && !strstr(e.text, cases[i].says))
            fail_msg("%s says: %s", cases[i].text, e.text);
        expr_free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_and_its_flows_are_not_added),
        cmocka_unit_test(values_are_computed),
        cmocka_unit_test(another_cell_is_read),
        cmocka_unit_test(what_says_nothing_is_refused),
        cmocka_unit_test(checks_are_decided),
        cmocka_unit_test(errors_point_at_the_column),
        cmocka_unit_test(units_must_go_together),
        cmocka_unit_test(figures_have_the_unit_of_their_value),
        cmocka_unit_test(counters_are_visited),
        cmocka_unit_test(nics_are_told_from_counters),
        cmocka_unit_test(sums_lack_nics_without_the_counter),
        cmocka_unit_test(names_of_the_sampler_are_known),
        cmocka_unit_test(every_row_of_the_catalogue_is_known),
        cmocka_unit_test(wrong_names_are_refused),
        cmocka_unit_test(a_text_is_read_to_its_end_only),
        cmocka_unit_test(prefixes_of_the_scenarios_are_read_to_their_end_only),
    };
    return cmocka_run_group_tests_name("expr", tests, set_up, tear_down);
}
