/* The recorder (lines in, summaries out), verdicts, and checks of settings. */
#include "tests/unit/harness/examine_cell.h"
#include "harness/record/recorder.h"
#include "harness/judge/trouble.h"
#include "harness/judge/verdict.h"
#include "lib/files.h"
#include "lib/formats/lines.h"
#include "lib/text.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static const char scenario_text[] =
    "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],\"settings\":{\"pfc\":[0],\"mtu\":4200},"
    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\"}],"
    "\"expect\":[{\"name\":\"pauses\",\"check\":\"delta(a.rx_prio0_pause) > 10\",\"needs\":[\"pfc\"]},"
    "{\"name\":\"gpu\",\"check\":\"delta(a.rx_prio0_pause) > 10\",\"needs\":[\"gpu\"]},"
    "{\"name\":\"drops\",\"check\":\"delta(b.rx_discards_phy) == 0\"},"
    "{\"name\":\"other cell\",\"when\":{\"flows.f.depth\":7},\"check\":\"delta(a.rx_prio0_pause) > 10\"}],"
    "\"published\":[{\"name\":\"p\",\"of\":\"delta(a.rx_prio0_pause)\",\"value\":40,\"source\":\"s\"}]}";

static const struct verdict_scope alone = {1, 1};

struct fixture {
    char folder[64];
    struct cell cell;
    struct recorder *recorder;
};

static int set_up(void **state)
{
    struct error e;
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test-recorder.XXXXXX");
    f->cell.scenario_json = json_loads(scenario_text, 0, NULL);
    if (!mkdtemp(f->folder) || scenario_parse(f->cell.scenario_json, &f->cell.scenario, &e) != 0)
        return -1;
    f->cell.checks = calloc(5, sizeof(struct expr *));
    f->cell.published = calloc(2, sizeof(struct expr *));
    const struct scenario_expect *expect = f->cell.scenario.expect.items;
    for (size_t i = 0; i < f->cell.scenario.expect.count; i++)
        f->cell.checks[i] = expr_compile(expect[i].check, true, &e);
    f->cell.published[0] = expr_compile("delta(a.rx_prio0_pause)", false, &e);
    f->recorder = recorder_open(f->folder, &f->cell.scenario, true, &e);
    *state = f;
    return f->recorder ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    recorder_close(f->recorder);
    for (size_t i = 0; i < f->cell.scenario.expect.count; i++)
        expr_free(f->cell.checks[i]);
    expr_free(f->cell.published[0]);
    free(f->cell.checks);
    free(f->cell.published);
    scenario_free(&f->cell.scenario);
    json_decref(f->cell.scenario_json);
    files_remove_tree(f->folder, NULL);
    free(f);
    return 0;
}

static void sample(struct fixture *f, size_t role, const char *line)
{
    struct error e;
    if (recorder_sample(f->recorder, role, line, strlen(line), &e) != 0)
        fail_msg("%s: %s", line, e.text);
}

static void flow(struct fixture *f, const char *line)
{
    struct error e;
    if (recorder_flow(f->recorder, 0, line, strlen(line), &e) != 0)
        fail_msg("%s: %s", line, e.text);
}

#define HEADER                                                                                           \
    "{\"type\":\"header\",\"schema\":1,\"program\":\"nic-sampler\",\"version\":\"0\",\"every_ns\":10,"   \
    "\"columns\":["                                                                                      \
    "{\"name\":\"rx_prio0_pause\",\"unit\":\"frames\",\"kind\":\"counter\",\"source\":\"ethtool\","      \
    "\"group\":\"pfc\"},"                                                                                \
    "{\"name\":\"rx_buffer1_bytes\",\"unit\":\"bytes\",\"kind\":\"gauge\",\"source\":\"sim\",\"group\":" \
    "\"buffer\"}]}"

static const json_t *counter(const json_t *host, const char *name)
{
    return json_object_get(json_object_get(host, "counters"), name);
}

static json_int_t integer(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static json_t *lines_of_samples(const struct fixture *f)
{
    struct error e;
    char path[80];
    snprintf(path, sizeof path, "%s/samples.jsonl", f->folder);
    assert_int_equal(recorder_flush(f->recorder, &e), 0);
    char *text = files_read(path, 4096, NULL, &e);
    json_t *lines = json_string(text);
    free(text);
    return lines;
}

/* A role that is not listed has no lines and no summary: what is kept of it, and the totals, are as if it
 * were. */
static void what_is_not_listed_is_in_the_totals(void **state)
{
    struct fixture *f = *state;
    recorder_unlist(f->recorder, 1);
    recorder_keep(f->recorder, "b*", "rx_buffer?_bytes", "max");
    assert_true(recorder_lists(f->recorder, 0) && !recorder_lists(f->recorder, 1));
    recorder_window(f->recorder, 100, 200);
    for (size_t role = 0; role < 2; role++) {
        sample(f, role, HEADER);
        sample(f, role, "[80,2,5,900]");
        sample(f, role, "[100,2,10,800]");
        sample(f, role, "[160,2,null,300]");
        sample(f, role, role ? "[200,2,60,700]" : "[200,2,52,700]");
        sample(f, role, "[300,2,99,0]");
    }
    json_t *host = json_object(), *totals = recorder_totals(f->recorder), *lines = lines_of_samples(f);
    recorder_host_summary(f->recorder, 1, host);
    assert_int_equal(json_object_size(json_object_get(host, "counters")), 1);
    assert_int_equal(integer(counter(host, "rx_buffer1_bytes"), "max"), 800);
    assert_int_equal(json_object_size(counter(host, "rx_buffer1_bytes")), 4); /* it has few samples */
    assert_int_equal(integer(counter(host, "rx_buffer1_bytes"), "unread_ns"), 60 + 40);
    assert_int_equal(integer(totals, "roles"), 2);
    assert_int_equal(integer(totals, "listed"), 1);
    const json_t *pauses = counter(totals, "rx_prio0_pause"), *most = json_object_get(pauses, "most");
    assert_int_equal(integer(pauses, "delta"), 42 + 50);
    assert_int_equal(integer(pauses, "total"), 94 + 94);
    assert_true(fabs(json_real_value(json_object_get(pauses, "rate_per_s")) - 92e9 / 100) < 1);
    assert_string_equal(json_string_value(json_object_get(most, "role")), "b");
    assert_int_equal(integer(most, "delta"), 50);
    assert_null(counter(totals, "rx_buffer1_bytes"));
    assert_non_null(strstr(json_string_value(lines), "[\"a\",80,2,5,900]\n"));
    assert_null(strstr(json_string_value(lines), "\"b\""));
    json_decref(host);
    json_decref(totals);
    json_decref(lines);
}

/* The window is 100..200: from the last sample at or before its start to the first at or after its end. */
static void counters_are_taken_over_the_measure_phase(void **state)
{
    struct fixture *f = *state;
    recorder_window(f->recorder, 100, 200);
    sample(f, 0, HEADER);
    sample(f, 0, "[80,2,5,900]");
    sample(f, 0, "[95,2,10,800]");
    sample(f, 0, "[120,4,20,100]");
    sample(f, 0, "[160,2,null,300]");
    sample(f, 0, "[205,2,52,700]");
    sample(f, 0, "[300,2,99,0]");
    json_t *host = json_object();
    recorder_host_summary(f->recorder, 0, host);
    const json_t *c = counter(host, "rx_prio0_pause"), *g = counter(host, "rx_buffer1_bytes");
    assert_int_equal(integer(c, "delta"), 42);
    assert_int_equal(integer(c, "first"), 10);
    assert_int_equal(integer(c, "last"), 52);
    assert_int_equal(integer(c, "duration_ns"), 110);
    assert_true(fabs(json_real_value(json_object_get(c, "rate_per_s")) - 42e9 / 110) < 1);
    assert_int_equal(integer(g, "min"), 100);
    assert_int_equal(integer(g, "max"), 300);
    assert_int_equal(integer(g, "p50"), 100); /* of 100 and 300, at least as large as half of them */
    assert_int_equal(integer(g, "p90"), 300);
    assert_int_equal(integer(g, "p99_9"), 300);
    assert_null(json_object_get(c, "p50"));
    const json_t *sampling = json_object_get(host, "sampling");
    assert_int_equal(integer(sampling, "samples"), 6);
    assert_int_equal(integer(sampling, "read_ns_max"), 4);
    json_decref(host);
}

/* A source that fails, or a clock that is set ahead: what lies beside the samples that were read is unknown.
 */
static void times_that_were_not_read_are_told(void **state)
{
    struct fixture *f = *state;
    recorder_window(f->recorder, 100, 200);
    for (size_t role = 0; role < 2; role++) {
        sample(f, role, HEADER);
        sample(f, role, "[100,2,10,800]");
        sample(f, role, "[115,2,12,700]");
    }
    sample(f, 0, "[160,2,null,null]");
    sample(f, 0, "[200,2,null,600]");
    sample(f, 1, "[260,2,13,null]");
    json_t *a = json_object(), *b = json_object();
    recorder_host_summary(f->recorder, 0, a);
    recorder_host_summary(f->recorder, 1, b);
    const json_t *c = counter(a, "rx_prio0_pause"), *g = counter(a, "rx_buffer1_bytes");
    assert_int_equal(integer(c, "delta"), 2);
    assert_int_equal(integer(c, "unread_ns"), 200 - 115);
    assert_null(json_object_get(c, "beyond_ns"));
    assert_int_equal(integer(g, "unread_ns"), 200 - 115);
    c = counter(b, "rx_prio0_pause"), g = counter(b, "rx_buffer1_bytes");
    assert_int_equal(integer(c, "delta"), 3);
    assert_null(json_object_get(c, "unread_ns"));
    assert_int_equal(integer(c, "beyond_ns"), 260 - 200);
    assert_int_equal(integer(g, "unread_ns"), 200 - 115);
    json_decref(b);
    sample(f, 0, "[3600000000000,2,99,null]"); /* an hour ahead, which the run has not lasted */
    json_object_clear(a);
    recorder_host_summary(f->recorder, 0, a);
    assert_int_equal(integer(counter(a, "rx_prio0_pause"), "unread_ns"), 100);
    json_decref(a);
}

/* Of a NIC that nothing was read of within the phase neither a total nor a sum says anything. */
static void what_ended_before_the_phase_is_unread(void **state)
{
    struct fixture *f = *state;
    static const size_t roles[] = {0, 1};
    recorder_window(f->recorder, 100, 200);
    for (size_t role = 0; role < 2; role++) {
        sample(f, role, HEADER);
        sample(f, role, "[10,2,10,800]");
        sample(f, role, "[50,2,12,700]");
    }
    sample(f, 1, "[200,2,15,600]");
    json_t *a = json_object(), *machine = recorder_machine(f->recorder, roles, 2);
    recorder_host_summary(f->recorder, 0, a);
    assert_int_equal(integer(counter(a, "rx_prio0_pause"), "total"), 2);
    assert_int_equal(integer(counter(a, "rx_prio0_pause"), "unread_ns"), 100);
    assert_int_equal(integer(counter(machine, "rx_prio0_pause"), "total"), 2 + 5);
    assert_int_equal(integer(counter(machine, "rx_prio0_pause"), "unread_ns"), 100);
    json_decref(a);
    json_decref(machine);
}

static void a_counter_that_was_reset_counts_on_and_is_told(void **state)
{
    struct fixture *f = *state;
    json_t *host = json_object(), *warnings = json_array();
    recorder_window(f->recorder, 0, 100);
    sample(f, 0, HEADER);
    sample(f, 0, "[0,1,1000,0]");
    sample(f, 0, "[50,1,1010,0]");
    sample(f, 0, "[70,1,3,0]");
    sample(f, 0, "[100,1,5,0]");
    sample(f, 0, "{\"type\":\"end\",\"time_ns\":101,\"samples\":4,\"overruns\":0,\"cpu_ns\":1}");
    recorder_host_summary(f->recorder, 0, host);
    recorder_warnings(f->recorder, warnings);
    assert_int_equal(integer(counter(host, "rx_prio0_pause"), "delta"), 15);
    assert_int_equal(json_array_size(warnings), 1);
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)), "decreased from 1010 to 3"));
    json_decref(host);
    json_decref(warnings);
}

/* The warnings, with a newline after each. */
static char *warnings_of(const struct fixture *f)
{
    json_t *warnings = json_array(), *one;
    struct text words = {0};
    size_t i;
    recorder_warnings(f->recorder, warnings);
    json_array_foreach(warnings, i, one) text_add(&words, "%s\n", json_string_value(one));
    json_decref(warnings);
    return text_take(&words);
}

#define SAMPLER_HEADER(counter)                                                                        \
    "{\"type\":\"header\",\"schema\":1,\"program\":\"nic-sampler\",\"version\":\"0\",\"every_ns\":10," \
    "\"columns\":[{\"name\":\"" counter "\",\"unit\":\"packets\",\"kind\":\"counter\","                \
    "\"source\":\"s\",\"group\":\"drops\"}]}"

static void what_a_sampler_left_out_is_told(void **state)
{
    struct fixture *f = *state;
    struct error e, cut;
    recorder_window(f->recorder, 0, 100);
    assert_int_equal(recorder_sample(f->recorder, 0, "[0,1,5]", 7, &e), -1); /* before its header */
    sample(f, 0, SAMPLER_HEADER("rx_discards_phy"));
    sample(f, 0, "[0,1,5]");
    assert_int_equal(recorder_sample(f->recorder, 0, "[10,1,", 6, &e), -1);
    sample(f, 0,
           "{\"type\":\"event\",\"time_ns\":20,\"source\":\"timer\",\"what\":\"overrun\",\"text\":\"3 "
           "samples skipped\",\"overruns\":3}");
    sample(f, 0, "[50,1,5]");
    error_set(&cut, "a: the last line of nic-sampler is incomplete");
    recorder_damaged(f->recorder, 0, &cut);
    assert_int_equal(recorder_sample(f->recorder, 1, "{\"type\":\"header\"}", 17, &e), -1);
    char *said = warnings_of(f);
    assert_non_null(strstr(said,
                           "a: 3 lines were left out, the first: a: a sample came without a header, which "
                           "names its columns\n"));
    assert_non_null(strstr(said, "a: the sampler skipped 3 of 5 samples (overruns): one was due every "));
    assert_non_null(strstr(said, "a: the sampler's last line is missing: "));
    assert_non_null(strstr(said, "b: 1 line was left out, b: "));
    free(said);
    sample(f, 0, "{\"type\":\"end\",\"time_ns\":99,\"samples\":3,\"overruns\":4,\"cpu_ns\":1}");
    said = warnings_of(f);
    assert_non_null(
        strstr(said, "a: the sampler skipped 4 of 6 samples (overruns)")); /* the end has the last word */
    assert_null(strstr(said, "last line is missing"));
    free(said);
}

#define COUNTERS(one, two)                                                                             \
    "{\"type\":\"header\",\"schema\":1,\"program\":\"nic-sampler\",\"version\":\"0\",\"every_ns\":10," \
    "\"columns\":[{\"name\":\"" one "\",\"unit\":\"events\",\"kind\":\"counter\",\"source\":\"rdma\"," \
    "\"group\":\"drops\"},{\"name\":\"" two "\",\"unit\":\"events\",\"kind\":\"counter\",\"source\":"  \
    "\"rdma\",\"group\":\"drops\"}]}"

/* Its counters are those of the whole run: it may come before or after the measured phase. */
static void a_completion_error_has_its_counters(void **state)
{
    struct fixture *f = *state;
    recorder_window(f->recorder, 100, 200);
    sample(f, 0, COUNTERS("local_ack_timeout_err", "roce_adp_retrans"));
    sample(f, 1, COUNTERS("out_of_buffer", "rx_write_requests"));
    sample(f, 0, "[0,1,5,70]");
    sample(f, 1, "[0,1,3,9000]");
    sample(f, 0, "[210,1,11,78]");
    sample(f, 1, "[210,1,3,9400]");
    flow(f, "{\"type\":\"error\",\"flow\":\"f\",\"time_ns\":205,\"silent_ns\":3660000000,\"status\":"
            "\"IBV_WC_RETRY_EXC_ERR\",\"text\":\"the peer is silent\",\"completion\":{\"status_number\":12,"
            "\"vendor_error\":129,\"meaning\":\"a host's own words\"}}");
    flow(f,
         "{\"type\":\"error\",\"flow\":\"f\",\"time_ns\":206,\"status\":\"LOST\",\"text\":\"3 messages\"}");
    json_t *flows = recorder_flow_summary(f->recorder), *one = json_object_get(flows, "f"),
           *failed = json_object_get(one, "completion"), *counters = json_object_get(failed, "counters");
    assert_int_equal(integer(one, "errors"), 2);
    assert_int_equal(integer(failed, "vendor_error"), 0x81);
    assert_int_equal(integer(failed, "silent_ns"), 3660000000);
    assert_non_null(strstr(json_string_value(json_object_get(failed, "meaning")), "the peer is silent"));
    assert_int_equal(integer(json_object_get(counters, "a"), "local_ack_timeout_err"), 6);
    assert_int_equal(integer(json_object_get(counters, "a"), "roce_adp_retrans"), 8);
    assert_null(json_object_get(counters, "b")); /* none of its counters shows this error */
    json_decref(flows);
    char *said = warnings_of(f);
    assert_non_null(strstr(said, "flow f: the peer is silent; in the run a counted roce_adp_retrans 8, "
                                 "local_ack_timeout_err 6\n"));
    assert_non_null(strstr(said, "flow f: LOST: 3 messages\n"));
    free(said);
}

/* A counter that some firmware never moves is not called evidence there. */
static void a_counter_that_may_be_mute_is_named(void **state)
{
    struct fixture *f = *state;
    recorder_window(f->recorder, 100, 200);
    sample(f, 0, COUNTERS("local_ack_timeout_err", "roce_adp_retrans"));
    sample(f, 0, "[0,1,5,70]");
    sample(f, 0, "[210,1,5,78]");
    flow(f, "{\"type\":\"error\",\"flow\":\"f\",\"time_ns\":205,\"status\":\"IBV_WC_RETRY_EXC_ERR\",\"text\":"
            "\"silent\","
            "\"completion\":{\"status_number\":12,\"vendor_error\":129}}");
    char *said = warnings_of(f);
    assert_non_null(strstr(
        said, "flow f: silent; in the run a counted roce_adp_retrans 8 (the 0 of local_ack_timeout_err "
              "says nothing on ConnectX-5 Ex (16.32.2004), where it never moves)\n"));
    free(said);
}

static void counters_of_the_other_end_show_it_too(void **state)
{
    struct fixture *f = *state;
    recorder_window(f->recorder, 100, 200);
    sample(f, 0, COUNTERS("req_rnr_retries_exceeded", "rx_discards_phy"));
    sample(f, 1, COUNTERS("out_of_buffer", "rx_write_requests"));
    sample(f, 0, "[0,1,0,70]");
    sample(f, 1, "[0,1,3,9000]");
    sample(f, 0, "[210,1,0,78]");
    sample(f, 1, "[210,1,11,9400]");
    flow(f, "{\"type\":\"error\",\"flow\":\"f\",\"time_ns\":205,\"status\":\"IBV_WC_RNR_RETRY_EXC_ERR\","
            "\"text\":\"no receive\",\"completion\":{\"status_number\":13,\"vendor_error\":135}}");
    char *said = warnings_of(f);
    assert_non_null(strstr(said,
                           "flow f: no receive; in the run a counted none of what usually shows it; in the "
                           "run b counted out_of_buffer 8\n"));
    free(said);
}

/* What trouble_find says of the fixture's samples, with a newline after each. */
static char *losses_told(const struct fixture *f)
{
    json_t *result = json_pack("{s:[]}", "warnings"), *losses = recorder_losses(f->recorder), *one;
    struct text words = {0};
    size_t i;
    trouble_find(&f->cell, losses, NULL, result);
    json_array_foreach(json_object_get(result, "warnings"), i, one)
        text_add(&words, "%s\n", json_string_value(one));
    json_decref(losses);
    json_decref(result);
    return text_take(&words);
}

static void lossy_samples(struct fixture *f, const char *header)
{
    recorder_window(f->recorder, 100, 200);
    for (size_t role = 0; role < 2; role++) {
        sample(f, role, header);
        sample(f, role, "[0,1,1000]");
    }
    sample(f, 0, "[100,1,1007]");
    sample(f, 0, "[200,1,1009]");
    sample(f, 1, "[100,1,1007]"); /* as many in the phase: its figure shows them */
    sample(f, 1, "[200,1,1014]");
}

static void losses_are_told_by_phase(void **state)
{
    struct fixture *f = *state;
    lossy_samples(f, SAMPLER_HEADER("rx_out_of_buffer"));
    char *said = losses_told(f);
    assert_string_equal(said, "packets were lost in the warm-up, before the measured phase, whose figures do "
                              "not show these: a rx_out_of_buffer: 7 before, 2 in it\n"
                              "packets were lost in the measured phase: b rx_out_of_buffer: 7; a "
                              "rx_out_of_buffer: 2\n");
    free(said);
}

static void losses_that_expectations_look_at_are_not_told(void **state)
{
    struct fixture *f = *state;
    lossy_samples(f, SAMPLER_HEADER("rx_discards_phy")); /* b's: the fixture's "drops" */
    char *said = losses_told(f);
    assert_string_equal(said, "packets were lost in the warm-up, before the measured phase, whose figures do "
                              "not show these: a rx_discards_phy: 7 before, 2 in it\n"
                              "packets were lost in the measured phase: a rx_discards_phy: 2\n");
    free(said);
}

/* One whose `when` or `needs` do not hold in this cell does not look. */
static void losses_that_other_cells_look_at_are_told(void **state)
{
    struct fixture *f = *state;
    struct scenario_expect *drops = (struct scenario_expect *)f->cell.scenario.expect.items + 2;
    json_t *when = json_pack("{s:i}", "flows.f.depth", 7);
    lossy_samples(f, SAMPLER_HEADER("rx_discards_phy"));
    drops->when = when;
    char *elsewhere = losses_told(f);
    drops->when = NULL;
    drops->needs = drops[-1].needs; /* gpu */
    char *without = losses_told(f);
    drops->needs = (struct list_of){0};
    json_decref(when);
    assert_non_null(strstr(elsewhere, "in the measured phase: b rx_discards_phy: 7; a rx_discards_phy: 2\n"));
    assert_string_equal(without, elsewhere);
    free(elsewhere);
    free(without);
}

/* docs/scenario.md lists the checks that warn before a run, an item a line. */
static void the_document_lists_warnings_before_a_run(void **state)
{
    (void)state;
    struct error e;
    size_t length;
    char *document = files_read("docs/scenario.md", 1 << 20, &length, &e);
    assert_non_null(document);
    const char *list = strstr(document, "\n## Warnings\n");
    struct text line = {0};
    for (const struct doctor_check *const *check = doctor_checks; *check; check++, text_clear(&line)) {
        text_add(&line, "\n- `%s`: ", (*check)->name);
        if ((*check)->scope == DOCTOR_CELL && (*check)->when & DOCTOR_WARNS_OF_RUN &&
            !strstr(list, text_string(&line)))
            fail_msg("docs/scenario.md: no line \"- `%s`:\" in its list of warnings", (*check)->name);
    }
    text_free(&line);
    free(document);
}

static void times_are_brought_onto_one_clock(void **state)
{
    struct fixture *f = *state;
    struct error e;
    recorder_clock(f->recorder, 1, 1000);
    recorder_window(f->recorder, 0, 100);
    sample(f, 1, HEADER);
    sample(f, 1, "[1010,1,1,2]");
    assert_int_equal(recorder_flush(f->recorder, &e), 0);
    char *path = files_join(f->folder, "samples.jsonl"), *text = files_read(path, 1 << 20, NULL, &e);
    assert_non_null(strstr(text, "[\"b\",10,1,1,2]\n"));
    assert_non_null(strstr(text, "\"host\":\"b\""));
    free(text);
    free(path);
}

static void damaged_lines_are_refused(void **state)
{
    static const char *const wrong[] = {
        "", "[", "[1,2,3", "{}", "{\"type\":\"header\"}", "[1,2,3,4,5,6]", "[1.5,2,3,4]", "x"};
    struct fixture *f = *state;
    sample(f, 0, HEADER);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error e;
        if (recorder_sample(f->recorder, 0, wrong[i], strlen(wrong[i]), &e) == 0)
            fail_msg("\"%s\" was taken", wrong[i]);
    }
    /* whose values would these be? */
    assert_int_equal(recorder_sample(f->recorder, 0, "[1,2,3,4]", 9, NULL), -1);
    sample(f, 0, HEADER);
    sample(f, 0, "[1,2,3,4]");
}

static void a_flow_without_summary_is_summed_from_its_intervals(void **state)
{
    struct fixture *f = *state;
    recorder_window(f->recorder, 1000000000, 3000000000);
    json_t *untold = recorder_flow_summary(f->recorder);
    assert_null(json_object_get(json_object_get(untold, "f"), "bytes")); /* it is unknown, not 0 */
    json_decref(untold);
    flow(f, "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":1000000000,\"duration_ns\":1000000000,"
            "\"bytes\":99,\"messages\":9,"
            "\"goodput_bps\":792,\"errors\":0}");
    flow(f, "{\"type\":\"interval\",\"flow\":\"f\",\"time_ns\":2000000000,\"duration_ns\":1000000000,"
            "\"bytes\":1048576,"
            "\"messages\":16,\"goodput_bps\":8388608,\"errors\":0}");
    json_t *flows = recorder_flow_summary(f->recorder), *one = json_object_get(flows, "f");
    assert_int_equal(integer(one, "bytes"), 1048576);
    assert_int_equal(integer(one, "messages"), 16);
    assert_true(json_is_false(json_object_get(one, "complete")));
    assert_true(fabs(json_number_value(json_object_get(one, "goodput_MiBps")) - 1) < 1e-9);
    json_decref(flows);
    flow(f, "{\"type\":\"summary\",\"flow\":\"f\",\"message_bytes\":65536,\"time_ns\":3000000000,\"duration_"
            "ns\":2000000000,"
            "\"bytes\":4194304,\"messages\":64,\"goodput_bps\":16777216,\"messages_per_s\":32,\"errors\":0,"
            "\"complete\":true,\"latency_ns\":{\"count\":0,\"p50\":0}}");
    flows = recorder_flow_summary(f->recorder);
    one = json_object_get(flows, "f");
    assert_null(json_object_get(one, "latency_ns")); /* no latency was measured */
    assert_int_equal(integer(one, "bytes"), 4194304);
    assert_true(json_is_true(json_object_get(one, "complete")));
    json_decref(flows);
}

/* What trouble_find says of the totals of these counters, with a newline after each sentence. */
static char *told_of_cnps(const struct fixture *f, const char *a, const char *b)
{
    json_t *result = json_pack("{s:[],s:{},s:{s:{s:o},s:{s:o}}}", "warnings", "flows", "hosts", "a",
                               "counters", json_loads(a, 0, NULL), "b", "counters", json_loads(b, 0, NULL)),
           *one;
    struct text words = {0};
    size_t i;
    assert_non_null(result);
    trouble_find(&f->cell, NULL, NULL, result);
    json_array_foreach(json_object_get(result, "warnings"), i, one)
        text_add(&words, "%s\n", json_string_value(one));
    json_decref(result);
    return text_take(&words);
}

#define TOTAL(counter, value) ",\"" counter "\":{\"total\":" #value "}"
#define CNPS(sent, marked, handled, more)                                                     \
    "{\"np_cnp_sent\":{\"total\":" #sent "}" more TOTAL("np_ecn_marked_roce_packets", marked) \
        TOTAL("rp_cnp_handled", handled) "}"

static void cnps_that_no_mark_asked_for_are_named(void **state)
{
    struct fixture *f = *state;
    char *said = told_of_cnps(f, CNPS(0, 0, 184, ""), CNPS(184, 184, 0, ""));
    assert_string_equal(said, ""); /* marks, CNPs sent and handled are equal */
    free(said);
    said = told_of_cnps(f, CNPS(0, 0, 160, TOTAL("packet_seq_err", 3)), CNPS(184, 2000, 0, ""));
    assert_string_equal(said, ""); /* fewer CNPs than marks: they keep a distance */
    free(said);
    /* measured: a saturated port of ConnectX-5, and slow restart of its senders */
    said = told_of_cnps(f, CNPS(0, 0, 179746, TOTAL("packet_seq_err", 93000)),
                        CNPS(78058, 0, 0, TOTAL("out_of_sequence", 93000)));
    assert_string_equal(
        said, "b sent 78058 CNPs in the run, for 0 marked packets that arrived: ConnectX-5 sends CNPs "
              "without marks too, where its port is saturated or loses packets; b out_of_sequence "
              "93000\n"
              "179746 CNPs were handled in the run (rp_cnp_handled), 78058 sent (np_cnp_sent): the "
              "others are likely those of slow restart, which a sender makes for itself when it "
              "sends again; a packet_seq_err 93000\n");
    free(said);
    said =
        told_of_cnps(f, CNPS(0, 0, 10, TOTAL("local_ack_timeout_err", 6) TOTAL("roce_slow_restart_cnps", 10)),
                     CNPS(0, 0, 0, ""));
    assert_string_equal(
        said, "10 CNPs were handled in the run (rp_cnp_handled), 0 sent (np_cnp_sent): the others are "
              "those of slow restart, which a sender makes for itself when it sends again; a "
              "roce_slow_restart_cnps 10\n");
    free(said);
    said = told_of_cnps(f, CNPS(0, 0, 10, ""), CNPS(0, 0, 0, ""));
    assert_string_equal(said, ""); /* nothing was sent again: they came from others */
    free(said);
    said = told_of_cnps(f, CNPS(0, 0, 10, TOTAL("packet_seq_err", 3)), "{}");
    assert_string_equal(said, ""); /* what b sent is not known */
    free(said);
}

static const char *said_of(const json_t *result, size_t i)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(result, "expectations"), i), "verdict"));
}

static json_t *result_with(const char *capabilities, int pauses)
{
    json_t *result =
        json_pack("{s:b,s:{s:s},s:{s:{s:o,s:{s:{s:s,s:i}}},s:{s:o,s:{}}},s:{}}", "complete", 1, "lab", "name",
                  "l", "hosts", "a", "capabilities", json_loads(capabilities, 0, NULL), "counters",
                  "rx_prio0_pause", "unit", "frames", "delta", pauses, "b", "capabilities",
                  json_loads(capabilities, 0, NULL), "counters", "flows");
    assert_non_null(result);
    return result;
}

static void what_cannot_be_decided_is_skipped_by_name(void **state)
{
    struct fixture *f = *state;
    json_t *result = result_with("[\"pfc\"]", 42);
    assert_int_equal(verdict_judge(&f->cell, &alone, result, NULL), VERDICT_PASSED);
    assert_string_equal(said_of(result, 0), "passed");
    assert_string_equal(said_of(result, 1), "skipped"); /* lacks gpu */
    assert_string_equal(said_of(result, 2), "skipped"); /* no such counter */
    assert_string_equal(said_of(result, 3), "skipped"); /* another cell */
    const json_t *figure = json_array_get(json_object_get(result, "published"), 0);
    assert_true(fabs(json_number_value(json_object_get(figure, "difference_percent")) - 5) < 1e-9);
    json_decref(result);

    result = result_with("[\"pfc\"]", 3);
    assert_int_equal(verdict_judge(&f->cell, &alone, result, NULL), VERDICT_FAILED);
    json_decref(result);
    result = result_with("[]", 3);
    assert_int_equal(verdict_judge(&f->cell, &alone, result, NULL), VERDICT_SKIPPED);
    json_decref(result);
    result = result_with("[\"pfc\"]", 42);
    assert_int_equal(verdict_judge(&f->cell, &alone, result, "no gpu"), VERDICT_SKIPPED);
    json_decref(result);
    result = result_with("[\"pfc\"]", 42);
    json_object_set_new(result, "complete", json_false());
    assert_int_equal(verdict_judge(&f->cell, &alone, result, NULL), VERDICT_INCOMPLETE);
    json_decref(result);
}

/* The counters of b, or a's, were not read in a part of the measure phase: what could have changed then. */
static json_t *judged_unread(const struct fixture *f, int pauses, int drops)
{
    json_t *result = result_with("[\"pfc\"]", pauses), *hosts = json_object_get(result, "hosts");
    json_object_set_new(
        json_object_get(json_object_get(json_object_get(hosts, "a"), "counters"), "rx_prio0_pause"),
        "unread_ns", json_integer(1500000000));
    json_object_set_new(json_object_get(json_object_get(hosts, "b"), "counters"), "rx_discards_phy",
                        json_pack("{s:s,s:s,s:i,s:I}", "unit", "packets", "kind", "counter", "delta", drops,
                                  "unread_ns", (json_int_t)1500000000));
    verdict_judge(&f->cell, &alone, result, NULL);
    return result;
}

static void what_was_not_read_is_not_judged(void **state)
{
    struct fixture *f = *state;
    json_t *result = judged_unread(f, 42, 0);
    assert_string_equal(said_of(result, 0), "passed"); /* more of them would pass too */
    assert_string_equal(said_of(result, 2), "skipped");
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(result, "expectations"), 2), "reason")),
                        "b.rx_discards_phy was not read for 1.5 s of the measure phase");
    assert_true(
        json_is_null(json_object_get(json_array_get(json_object_get(result, "published"), 0), "value")));
    json_decref(result);
    result = judged_unread(f, 3, 7);
    assert_string_equal(said_of(result, 0), "skipped");
    assert_string_equal(said_of(result, 2), "failed"); /* more of them would fail too */
    json_decref(result);
}

static size_t failures(const json_t *entries, const char *check)
{
    size_t i, count = 0;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        count += strcmp(json_string_value(json_object_get(entry, "verdict")), "failure") == 0 &&
                 strcmp(json_string_value(json_object_get(entry, "check")), check) == 0;
    }
    return count;
}

static void both_ends_are_judged_together(void **state)
{
    struct fixture *f = *state;
    json_t *seen = json_pack("{s:{s:{s:s,s:[]}},s:{s:{s:s,s:[]}}}", "a", "settings", "trust", "pcp", "pfc",
                             "b", "settings", "trust", "dscp", "pfc"),
           *entries = examine_cell(&doctor_both_ends, &f->cell, seen, NULL, NULL);
    assert_int_equal(failures(entries, "pfc"), 0);
    assert_int_equal(failures(entries, "trust"), 1);
    json_decref(entries);
    /* the receiver turns PFC off: pauses would be ignored */
    json_object_set_new(f->cell.scenario_json, "settings_of",
                        json_pack("{s:{s:[],s:i}}", "b", "pfc", "mtu", 1500));
    entries = examine_cell(&doctor_both_ends, &f->cell, seen, NULL, NULL);
    assert_int_equal(failures(entries, "pfc"), 1);
    assert_int_equal(failures(entries, "mtu"), 1);
    json_decref(entries);
    json_decref(seen);
    /* before a run no host was seen: the documents say it too, and what they do not say is not unknown */
    const struct doctor_subject before = {.cell = &f->cell, .lab = &f->cell.lab, .entries = json_array()};
    doctor_both_ends.examine(&before);
    assert_int_equal(failures(before.entries, "pfc"), 1);
    assert_int_equal(failures(before.entries, "mtu"), 1);
    char *text = json_dumps(before.entries, 0);
    assert_null(strstr(text, "unknown"));
    free(text);
    json_decref(before.entries);

    json_t *columns = json_pack("{s:[s],s:[]}", "a", "rx_prio0_pause", "b");
    entries = examine_cell(&doctor_counters, &f->cell, NULL, NULL, columns);
    assert_int_equal(json_array_size(entries), 1); /* rx_discards_phy of b */
    json_decref(entries);
    json_decref(columns);
}

/* What the NIC sent beside what the flows moved: headers and acknowledgements are not taken for it. */
static json_t *trouble_of(struct fixture *f, double sent, double moved)
{
    json_t *result = json_pack("{s:[],s:{s:{s:f,s:i,s:b,s:I}},s:{s:{s:{s:{s:f}}},s:{s:{}}}}", "warnings",
                               "flows", "f", "bytes", moved, "messages", 16, "complete", 1, "duration_ns",
                               (json_int_t)f->cell.scenario.phases.measure_ns, "hosts", "a", "counters",
                               "tx_vport_rdma_unicast_bytes", "delta", sent, "b", "counters");
    assert_non_null(result);
    trouble_find(&f->cell, NULL, NULL, result);
    json_t *warnings = json_incref(json_object_get(result, "warnings"));
    json_decref(result);
    return warnings;
}

/* The only warning of this flow, as a real host's traffic program told of it. */
static void assert_told_of_flow(struct fixture *f, const char *flow, const char *sentence)
{
    json_t *result =
               json_pack("{s:[],s:{s:o},s:{}}", "warnings", "flows", "f", json_loads(flow, 0, NULL), "hosts"),
           *warnings = json_object_get(result, "warnings");
    trouble_find(&f->cell, NULL, NULL, result);
    assert_int_equal(json_array_size(warnings), 1);
    assert_string_equal(json_string_value(json_array_get(warnings, 0)), sentence);
    json_decref(result);
}

/* The only warning of a run with this flow and these counters of a; NULL: none. */
static void assert_told_of_hosts(struct fixture *f, const char *flow, const char *counters,
                                 const char *sentence)
{
    json_t *result =
               json_pack("{s:[],s:{s:o},s:{s:{s:o}}}", "warnings", "flows", "f", json_loads(flow, 0, NULL),
                         "hosts", "a", "counters", json_loads(counters, 0, NULL)),
           *warnings = json_object_get(result, "warnings");
    trouble_find(&f->cell, NULL, NULL, result);
    const char *said = json_string_value(json_array_get(warnings, 0));
    assert_int_equal(json_array_size(warnings), sentence ? 1 : 0);
    if (sentence)
        assert_string_equal(said, sentence);
    json_decref(result);
}

static void what_real_nics_sent_again_is_told(void **state)
{
    struct fixture *f = *state;
    json_t *lab =
        json_loads("{\"schema\":1,\"name\":\"l\",\"driver\":\"ssh\",\"hosts\":{\"a\":{\"ssh\":\"a\"},"
                   "\"b\":{\"ssh\":\"b\"}}}",
                   0, NULL);
    struct error e;
    if (lab_parse(lab, NULL, &f->cell.lab, &e) != 0)
        fail_msg("%s", e.text);
    json_t *warnings = trouble_of(f, 4.2e6, 1e6);
    assert_int_equal(json_array_size(warnings), 1);
    assert_string_equal(
        json_string_value(json_array_get(warnings, 0)),
        "a sent 4.2 MB of RDMA in the measured phase (tx_vport_rdma_unicast_bytes), and its flows moved "
        "1 MB: more was sent again than arrived, or others send too");
    json_decref(warnings);
    warnings = trouble_of(f, 1.4e6, 1e6);
    assert_int_equal(json_array_size(warnings), 0);
    json_decref(warnings);
    warnings = trouble_of(f, 0, 0);
    assert_string_equal(json_string_value(json_array_get(warnings, 0)),
                        "flow f moved nothing in the measured phase");
    json_decref(warnings);
    f->cell.scenario.phases.measure_ns = 2000000000;
    assert_told_of_flow(f, "{\"complete\":false,\"errors\":0}",
                        "flow f: the traffic program did not say what was moved, which is unknown");
    static const char unwell[] = "flow f: the traffic program says that not all went well (its summary has "
                                 "errors, or is not complete)";
    assert_told_of_flow(f, "{\"bytes\":5,\"duration_ns\":2000000000,\"complete\":false,\"errors\":0}",
                        unwell);
    assert_told_of_flow(f, "{\"bytes\":5,\"duration_ns\":2000000000,\"complete\":true,\"errors\":5}", unwell);
    assert_told_of_flow(
        f, "{\"bytes\":5,\"duration_ns\":100000000,\"complete\":true,\"errors\":0}",
        "flow f was measured for 0.1 s, and the measured phase is 2 s long: its figures are not "
        "those of the phase");
    assert_told_of_flow(f,
                        "{\"bytes\":5,\"duration_ns\":2000000000,\"complete\":true,\"memory\":\"gpu\","
                        "\"memory_used\":{\"kind\":\"host\",\"route\":\"host\"}}",
                        "flow f: memory gpu was asked for, and the traffic program says that it used host");
    assert_told_of_flow(
        f,
        "{\"bytes\":5,\"duration_ns\":2000000000,\"complete\":true,\"memory\":\"cuda-dmabuf\","
        "\"memory_used\":{\"kind\":\"gpu\",\"route\":\"cuda-peermem\"}}",
        "flow f: memory cuda-dmabuf was asked for, and the traffic program says that it used "
        "cuda-peermem");
    static const char moved[] = "{\"bytes\":6000000,\"duration_ns\":2000000000,\"complete\":true}";
    assert_told_of_hosts(f, moved, "{\"tx_vport_rdma_unicast_bytes\":{\"total\":6100000}}", NULL);
    assert_told_of_hosts(f, moved, "{\"tx_vport_rdma_unicast_bytes\":{\"unit\":\"bytes\"}}", NULL);
    assert_told_of_hosts(
        f, moved, "{\"tx_vport_rdma_unicast_bytes\":{\"total\":0,\"unread_ns\":1000000000}}",
        "a: tx_vport_rdma_unicast_bytes not read for up to 1 s of the measured phase, of which "
        "the figures say nothing");
    assert_told_of_hosts(
        f, moved, "{\"tx_vport_rdma_unicast_bytes\":{\"total\":1000}}",
        "the traffic programs say that a sent 6 MB in the measured phase, and its NIC counted 0.001 MB of "
        "RDMA "
        "in the whole run (tx_vport_rdma_unicast_bytes): the figures are what the programs say, or the "
        "traffic took another port");
    assert_told_of_hosts(f, moved,
                         "{\"link_mtu\":{\"group\":\"link\",\"min\":1400,\"max\":1400},"
                         "\"link_carrier_changes\":{\"group\":\"link\",\"delta\":0}}",
                         NULL);
    assert_told_of_hosts(f, moved,
                         "{\"link_mtu\":{\"group\":\"link\",\"min\":1400,\"max\":1500},"
                         "\"link_carrier_changes\":{\"group\":\"link\",\"delta\":2}}",
                         "a: its link or its settings changed within the measured phase (link_mtu from 1400 "
                         "to 1500, link_carrier_changes 2): the figures are of before and after");
    lab_free(&f->cell.lab);
    json_decref(lab);
}

/* The address sanitizer detects a read past the name. */
static void any_name_of_a_column_is_taken(void **state)
{
    struct fixture *f = *state;
    struct recorder_live live;
    sample(
        f, 0,
        "{\"type\":\"header\",\"schema\":1,\"program\":\"x\",\"version\":\"0\",\"every_ns\":10,\"columns\":["
        "{\"name\":\"rx_prio\",\"unit\":\"frames\",\"kind\":\"counter\",\"source\":\"s\",\"group\":\"pfc\"},"
        "{\"name\":\"rx_prio9_pause\",\"unit\":\"frames\",\"kind\":\"counter\",\"source\":\"s\",\"group\":"
        "\"pfc\"},"
        "{\"name\":\"rx_prio3_pause\",\"unit\":\"frames\",\"kind\":\"counter\",\"source\":\"s\",\"group\":"
        "\"pfc\"}]}");
    recorder_window(f->recorder, 0, INT64_MAX);
    sample(f, 0, "[0,1,5,5,5]");
    sample(f, 0, "[1000000000,1,6,7,15]");
    recorder_live(f->recorder, &live);
    assert_true(fabs(live.pauses_per_s - 10) < 1e-9);
}

/* The result has a name once: that of the first source. */
static void a_name_of_two_sources_is_told(void **state)
{
    struct fixture *f = *state;
    sample(
        f, 0,
        "{\"type\":\"header\",\"schema\":1,\"program\":\"x\",\"version\":\"0\",\"every_ns\":10,\"columns\":["
        "{\"name\":\"rx\",\"unit\":\"frames\",\"kind\":\"counter\",\"source\":\"one\",\"group\":\"pfc\"},"
        "{\"name\":\"rx\",\"unit\":\"frames\",\"kind\":\"counter\",\"source\":\"two\",\"group\":\"pfc\"}]}");
    recorder_window(f->recorder, 0, 1000000000);
    sample(f, 0, "[0,1,5,100]");
    sample(f, 0, "[1000000000,1,9,300]");
    json_t *host = json_object();
    recorder_host_summary(f->recorder, 0, host);
    assert_int_equal(integer(counter(host, "rx"), "delta"), 4);
    assert_string_equal(json_string_value(json_object_get(counter(host, "rx"), "source")), "one");
    json_decref(host);
    json_t *totals = recorder_totals(f->recorder);
    assert_int_equal(integer(counter(totals, "rx"), "delta"), 4);
    json_decref(totals);
    json_t *warnings = json_array();
    recorder_warnings(f->recorder, warnings);
    assert_int_equal(json_array_size(warnings), 1);
    assert_non_null(
        strstr(json_string_value(json_array_get(warnings, 0)), "two sources have a column rx: what two has"));
    json_decref(warnings);
}

/* A host that names ever more things gets no memory for them. */
static void a_host_speaks_of_the_flows_of_the_scenario_alone(void **state)
{
    static const char line[] = "{\"type\":\"interval\",\"flow\":\"another\",\"time_ns\":1}";
    struct fixture *f = *state;
    struct error e = {""};
    assert_int_equal(recorder_flow(f->recorder, 0, line, strlen(line), &e), -1);
    assert_non_null(strstr(e.text, "\"another\", which the scenario lacks"));
    assert_int_equal(recorder_flow_object(f->recorder, LINE_INTERVAL, json_loads(line, 0, NULL), &e),
                     0); /* a pattern's */
}

/* A header of as many columns as there may be, with names that no other has. */
static void many_columns(struct fixture *f, size_t number)
{
    struct text header = {0};
    struct error e;
    text_add(&header, "{\"type\":\"header\",\"columns\":[");
    for (size_t i = 0; i < LINES_MAX_COLUMNS; i++)
        text_add(
            &header,
            "%s{\"name\":\"%zu-%zu\",\"unit\":\"a\",\"kind\":\"gauge\",\"source\":\"s\",\"group\":\"g\"}",
            i ? "," : "", number, i);
    text_add(&header, "]}");
    assert_int_equal(recorder_sample(f->recorder, 0, text_string(&header), header.length, &e), 0);
    text_free(&header);
}

static void a_host_has_a_bounded_number_of_columns(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    json_t *warnings = json_array();
    for (size_t i = 0; i < 2; i++)
        many_columns(f, i);
    recorder_warnings(f->recorder, warnings);
    assert_int_equal(json_array_size(warnings), 1);
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)), "16384 columns are left out"));
    json_decref(warnings);
    struct text header = {0};
    text_add(&header,
             "{\"type\":\"header\",\"columns\":[{\"name\":\"%0256d\",\"unit\":\"a\",\"kind\":\"gauge\","
             "\"source\":\"s\",\"group\":\"g\"}]}",
             0);
    assert_int_equal(recorder_sample(f->recorder, 0, text_string(&header), header.length, &e), -1);
    assert_non_null(strstr(e.text, "more than 255 bytes"));
    text_free(&header);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Nothing larger than this may be written, as on a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, bytes == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
}

/* The sentence names the file and the reason of the write that failed, whatever errno is by then; a cut line
 * is removed. */
static void what_cannot_be_written_is_told(void **state)
{
    struct fixture *f = *state;
    struct error e = {""};
    char folder[] = "/tmp/test-recorder.XXXXXX", path[64];
    struct stat status;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/samples.jsonl", folder);
    size_t before = open_descriptors();
    struct recorder *recorder = recorder_open(folder, &f->cell.scenario, false, &e);
    assert_non_null(recorder);
    (void)recorder_sample(recorder, 0, HEADER, strlen(HEADER), &e);
    limit_files(10);
    assert_int_equal(recorder_flush(recorder, &e), -1);
    errno = ENOENT;
    assert_int_equal(recorder_flush(recorder, &e), -1);
    recorder_close(recorder);
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, strerror(EFBIG)));
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
    files_remove_tree(folder, NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(counters_are_taken_over_the_measure_phase),
        TEST(what_is_not_listed_is_in_the_totals),
        TEST(times_that_were_not_read_are_told),
        TEST(what_ended_before_the_phase_is_unread),
        TEST(a_counter_that_was_reset_counts_on_and_is_told),
        TEST(what_a_sampler_left_out_is_told),
        TEST(losses_are_told_by_phase),
        TEST(losses_that_expectations_look_at_are_not_told),
        TEST(losses_that_other_cells_look_at_are_told),
        cmocka_unit_test(the_document_lists_warnings_before_a_run),
        TEST(times_are_brought_onto_one_clock),
        TEST(damaged_lines_are_refused),
        TEST(a_flow_without_summary_is_summed_from_its_intervals),
        TEST(a_completion_error_has_its_counters),
        TEST(a_counter_that_may_be_mute_is_named),
        TEST(counters_of_the_other_end_show_it_too),
        TEST(cnps_that_no_mark_asked_for_are_named),
        TEST(what_cannot_be_decided_is_skipped_by_name),
        TEST(what_was_not_read_is_not_judged),
        TEST(both_ends_are_judged_together),
        TEST(what_real_nics_sent_again_is_told),
        TEST(any_name_of_a_column_is_taken),
        TEST(a_host_speaks_of_the_flows_of_the_scenario_alone),
        TEST(a_name_of_two_sources_is_told),
        TEST(a_host_has_a_bounded_number_of_columns),
        TEST(what_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
