#include "tests/unit/unit.h"

#include "lib/document/arguments.h"
#include "lib/document/json_file.h"
#include "traffic/job.h"
#include <sys/socket.h>
#include <unistd.h>

#define MAX_WORDS 40

/* Parse words as `drive`'s options and make the flows; 0, or -1 with the sentence. */
static int flows_of(const char *const *words, struct drive_plan *flows, size_t *count, struct error *e)
{
    const char **arguments;
    size_t argument_count;
    char *argv[MAX_WORDS] = {(char *)(uintptr_t) "drive"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    *count = 0;
    json_t *said = arguments_read(&job_table, argc, argv, &arguments, &argument_count, e);
    json_t *job = said ? job_document(said, e) : NULL;
    int result = job ? job_plans(job, flows, count, e) : -1;
    json_decref(job);
    json_decref(said);
    free(arguments);
    return result;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void free_flows(struct drive_plan *flows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        drive_plan_free(&flows[i]);
}

static void sizes_are_lists_and_sweeps(void **state)
{
    int64_t sizes[TRAFFIC_MAX_SIZES];
    size_t count;
    struct error e = {{0}};
    (void)state;
    assert_int_equal(job_sizes("64KiB", sizes, &count, &e), 0);
    assert_int_equal(count, 1);
    assert_int_equal(sizes[0], 65536);
    assert_int_equal(job_sizes("2B..8MiB", sizes, &count, &e), 0);
    assert_int_equal(count, 23);
    assert_int_equal(sizes[0], 2);
    assert_int_equal(sizes[22], 8 << 20);
    assert_int_equal(job_sizes("3B..10B,1KiB", sizes, &count, &e), 0);
    assert_int_equal(count, 4);
    assert_int_equal(sizes[1], 6);
    assert_int_equal(sizes[2], 10); /* the end is in the sweep */
    assert_int_equal(sizes[3], 1024);
}

static void where_a_flow_is(void **state)
{
    struct drive_plan flow;
    struct error e = {{0}};
    size_t count;
    (void)state;
    assert_int_equal(flows_of(WORDS("-n", "1"), &flow, &count, &e), 0);
    assert_int_equal(flow.plan.numa, -1);
    assert_int_equal(flow.plan.relaxed_ordering, 0);
    free_flows(&flow, count);
    assert_int_equal(flows_of(WORDS("-n", "1", "--numa", "far", "--relaxed-ordering"), &flow, &count, &e), 0);
    assert_int_equal(flow.plan.numa, NUMA_FAR);
    assert_int_equal(flow.plan.relaxed_ordering, 1);
    free_flows(&flow, count);
    assert_int_equal(flows_of(WORDS("-n", "1", "--numa", "near", "--numa-node", "0"), &flow, &count, &e), -1);
    assert_non_null(strstr(e.text, "numa and numa_node both choose a NUMA node"));
}

static void less_than_a_message_is_one_of_that_size(void **state)
{
    struct drive_plan flow;
    struct error e = {{0}};
    size_t count;
    (void)state;
    assert_int_equal(flows_of(WORDS("--message", "64KiB", "--size", "10kB"), &flow, &count, &e), 0);
    assert_int_equal(flow.count, 1);
    assert_int_equal(flow.sizes[0], 10000);
    assert_int_equal(flow.plan.max_message_bytes, 10000);
    free_flows(&flow, count);
    assert_int_equal(flows_of(WORDS("--message", "64KiB", "--size", "100kB"), &flow, &count, &e), 0);
    assert_int_equal(flow.count, 2);
    assert_int_equal(flow.sizes[0], 65536);
    free_flows(&flow, count);
}

static void bad_sizes_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "message"},
        {"64", "message"},
        {"0B", "out of range"},
        {"2GiB", "out of range"},
        {"8B..2B", "an increasing range"},
        {"1B..", "message"},
        {"..8B", "message"},
        {"1KiB,,2KiB", "message"},
        {"0B..8B", "an increasing range"},
    };
    int64_t sizes[TRAFFIC_MAX_SIZES];
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {{0}};
        assert_int_equal(job_sizes(cases[i].text, sizes, &count, &e), -1);
        if (!strstr(e.text, cases[i].says))
            fail_msg("\"%s\": %s", cases[i].text, e.text);
    }
}

static void traffic_class_comes_whole_or_in_parts(void **state)
{
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    struct error e = {{0}};
    (void)state;
    assert_int_equal(flows_of(WORDS("--traffic-class", "106"), flows, &count, &e), 0);
    assert_int_equal(flows[0].plan.traffic_class, 106);
    free_flows(flows, count);
    assert_int_equal(flows_of(WORDS("--dscp", "26", "--ecn", "ect0"), flows, &count, &e), 0);
    assert_int_equal(flows[0].plan.traffic_class, 106);
    free_flows(flows, count);
    assert_int_equal(flows_of(WORDS("--ecn", "ce"), flows, &count, &e), 0);
    assert_int_equal(flows[0].plan.traffic_class, 3);
    free_flows(flows, count);
    assert_int_equal(flows_of(WORDS("--ecn", "ce", "--traffic-class", "1"), flows, &count, &e), -1);
    assert_non_null(strstr(e.text, "leave out dscp and ecn"));
}

static void a_flow_text_overrides_the_options(void **state)
{
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    struct error e = {{0}};
    (void)state;
    assert_int_equal(
        flows_of(WORDS("--depth", "32", "-D", "2s", "--flow", " name=x  op=read queue-pairs=4 ", "--flow",
                       "name=y bidirectional message=2B..8B duration=3s gpu=0000:06:00.0"),
                 flows, &count, &e),
        0);
    assert_int_equal(count, 2);
    assert_string_equal(flows[0].plan.flow, "x");
    assert_int_equal(flows[0].plan.operation, OP_READ);
    assert_int_equal(flows[0].plan.queue_pairs, 4);
    assert_int_equal(flows[0].plan.depth, 32);
    assert_int_equal(flows[0].duration_ns, 2000000000);
    assert_false(flows[0].plan.bidirectional);
    assert_string_equal(flows[1].plan.flow, "y");
    assert_string_equal(flows[1].plan.reverse, "y-reverse");
    assert_true(flows[1].plan.bidirectional);
    assert_int_equal(flows[1].size_count, 3);
    assert_int_equal(flows[1].plan.max_message_bytes, 8);
    assert_int_equal(flows[1].duration_ns, 3000000000);
    assert_string_equal(flows[1].local.gpu, "0000:06:00.0");
    free_flows(flows, count);
}

static void contradictions_are_refused(void **state)
{
    static const struct {
        const char *words[5];
        const char *says;
    } cases[] = {
        {{"--flip", "3"}, "validate"},
        {{"--mode", "latency", "--queue-pairs", "2"}, "one queue pair"},
        {{"--mode", "latency", "--bidirectional"}, "and both directions"},
        {{"--mode", "latency", "--rate", "1Gb/s"}, "mode bandwidth"},
        {{"--mode", "latency", "--memory", "gpu"}, "cannot access the GPU's"},
        {{"--mode", "latency", "--validate"}, "last byte"},
        {{"--mtu", "1000"}, "expected 256"},
        {{"--mtu", "1024", "--connection", "rdma"}, "rdma_cm derives the path MTU"},
        {{"--message", "2B..8B"}, "require a duration or a count"},
        {{"--post-list", "200"}, "longer than the depth"},
        {{"--queue-pairs=1024", "--slots=1024", "--message=1MiB"}, "more than 64 GiB"},
        {{"--flow", "name=a", "--flow", "name=a"}, "two flows have the name"},
        {{"--flow", "port=3"}, "unknown option --port"},
        {{"--flow", "flow=name=b"}, "unknown option --flow"},
        {{"--size", "1MiB", "--count", "3"}, "give only one of them"},
        {{"--size", "1MiB", "--message", "2B,4B"}, "size requires a single message size"},
        {{"--job", "/nowhere/job.json"}, "/nowhere/job.json"},
        {{"--flow", "oop=read"}, "did you mean --op"},
        {{"--op", "atomic"}, "write-imm"},
        {{"--depth", "0"}, "from 1 to"},
    };
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {{0}};
        if (flows_of(cases[i].words, flows, &count, &e) == 0)
            fail_msg("%s %s was taken", cases[i].words[0], cases[i].words[1]);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s %s: \"%s\" does not say \"%s\"", cases[i].words[0], cases[i].words[1], e.text,
                     cases[i].says);
        assert_int_equal(count, 0);
    }
}

static void mode_latency_has_one_message_under_way(void **state)
{
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    struct error e = {{0}};
    (void)state;
    assert_int_equal(flows_of(WORDS("--mode", "latency", "--depth", "64"), flows, &count, &e), 0);
    assert_int_equal(flows[0].plan.depth, 1);
    assert_int_equal(flows[0].plan.inline_bytes, 220);
    assert_true(flows[0].plan.latency);
    free_flows(flows, count);
}

/* ---- documents */

/* Flows of a job's document, overridden by the words of a command line. */
static int flows_of_job(const char *text, const char *const *more, struct drive_plan *flows, size_t *count,
                        struct error *e)
{
    char path[] = "/tmp/test-traffic-job-XXXXXX";
    const char *words[MAX_WORDS] = {"--job", path};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    for (size_t i = 0; more[i]; i++)
        words[i + 2] = more[i];
    int result = flows_of(words, flows, count, e);
    unlink(path);
    return result;
}

static void a_job_says_what_flows_have_in_common(void **state)
{
    static const char job[] = "{\"schema\":1,\"host\":\"10.0.0.2\",\"process\":{\"output\":\"json\"},"
                              "\"common\":{\"depth\":16,\"duration\":\"2s\",\"start_at\":1790000000000000000,"
                              "\"local\":{\"device\":\"mlx5_0\"}},"
                              "\"flows\":[{\"name\":\"x\",\"from\":\"a\",\"to\":\"b\",\"op\":\"send\","
                              "\"message\":\"4KiB\",\"priority\":3,"
                              "\"traffic_class\":106,\"size\":\"9KiB\"},{\"name\":\"y\",\"depth\":64,"
                              "\"local\":{\"gid_index\":3}}]}";
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    struct error e = {{0}};
    (void)state;
    if (flows_of_job(job, WORDS("--duration", "3s"), flows, &count, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(count, 2);
    assert_string_equal(flows[0].plan.flow, "x");
    assert_int_equal(flows[0].plan.operation, OP_SEND);
    assert_int_equal(flows[0].plan.depth, 16);
    assert_int_equal(flows[0].plan.service_level, 3);
    assert_int_equal(flows[0].plan.traffic_class, 106);
    assert_int_equal(flows[0].count, 3); /* 9 KiB are three messages of 4 KiB */
    assert_int_equal(flows[0].start_at_ns, 1790000000000000000);
    assert_int_equal(flows[1].plan.depth, 64);
    assert_int_equal(flows[1].duration_ns, 3000000000); /* the command line overrides the document */
    assert_string_equal(flows[1].local.device, "mlx5_0");
    assert_int_equal(flows[1].local.gid_index, 3);
    free_flows(flows, count);
}

/* A flow with a size measures all that it sends, so its window begins at its own start. */
static void flows_start_and_stop_at_their_times(void **state)
{
    static const char job[] =
        "{\"host\":\"10.0.0.2\",\"common\":{\"duration\":\"2s\",\"warmup\":\"1s\"},\"flows\":["
        "{\"name\":\"x\",\"start\":\"200ms\",\"stop\":\"1500ms\"},{\"name\":\"y\"},"
        "{\"name\":\"z\",\"start\":\"1s\",\"size\":\"1MiB\",\"message\":\"1MiB\"}]}";
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    struct error e = {{0}};
    (void)state;
    if (flows_of_job(job, WORDS("--port", "1"), flows, &count, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(count, 3);
    assert_int_equal(flows[0].post_from_ns, 200000000);
    assert_int_equal(flows[0].post_until_ns, 1500000000);
    assert_int_equal(flows[0].warmup_ns, 1000000000);
    assert_int_equal(flows[1].post_from_ns, 0);
    assert_int_equal(flows[1].post_until_ns, 0);
    assert_int_equal(flows[2].post_from_ns, 1000000000);
    assert_int_equal(flows[2].count, 1);
    assert_int_equal(flows[2].warmup_ns, 0);
    free_flows(flows, count);
}

static void bad_jobs_are_refused(void **state)
{
    static const struct {
        const char *job, *says;
    } cases[] = {
        {"{", "test-traffic-job"},
        {"[]", "expected"},
        {"{\"flows\":[{\"start\":\"2s\",\"stop\":\"1s\"}]}", "the flow would end before it starts"},
        {"{\"flows\":[{\"start\":\"1s\",\"bidirectional\":true}]}", "start and stop apply to one direction"},
        {"{\"flows\":[{\"stop\":\"1s\",\"message\":\"1KiB,2KiB\",\"duration\":\"1s\"}]}",
         "start and stop require a single message size"},
        {"{\"schema\":2}", "schema"},
        {"{\"flowss\":[]}", "did you mean \"flows\""},
        {"{\"flows\":{}}", "expected a list of flows"},
        {"{\"flows\":[3]}", "flows[0]: expected an object"},
        {"{\"flows\":[{\"name\":\"x\"},{\"name\":\"y\",\"depth\":0}]}", "flows[1]"},
        {"{\"flows\":[{\"name\":\"x\"},{\"name\":\"x\"}]}", "two flows have the name"},
        {"{\"common\":{\"dept\":3}}", "did you mean \"depth\""},
        {"{\"common\":{\"local\":{\"gid_index\":-1}}}", "gid_index"},
    };
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {{0}};
        if (flows_of_job(cases[i].job, (const char *const[]){NULL}, flows, &count, &e) == 0)
            fail_msg("%s was taken", cases[i].job);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].job, e.text, cases[i].says);
    }
}

static void too_many_flows_are_an_error_that_names_the_limit(void **state)
{
    struct text job = {0};
    struct drive_plan flows[FLOW_MAX_TOGETHER];
    size_t count;
    struct error e = {{0}};
    (void)state;
    text_add(&job, "{\"flows\":[");
    for (int i = 0; i <= FLOW_MAX_TOGETHER; i++)
        text_add(&job, "%s{\"name\":\"f%d\"}", i ? "," : "", i);
    text_add(&job, "]}");
    assert_int_equal(flows_of_job(text_string(&job), (const char *const[]){NULL}, flows, &count, &e), -1);
    assert_non_null(strstr(e.text, "65 flows: expected at most 64"));
    text_free(&job);
}

/* Standard input is read as it is: it may be a socket, and a minimal guest has no /dev/stdin. */
static void standard_input_may_be_a_socket(void **state)
{
    static const char job[] = "{\"flows\":[{\"name\":\"x\"}]}";
    int ends[2], kept = dup(STDIN_FILENO);
    struct error e = {{0}};
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[0], job, sizeof job - 1), sizeof job - 1);
    close(ends[0]);
    assert_int_equal(dup2(ends[1], STDIN_FILENO), STDIN_FILENO);
    json_t *said = json_pack("{s:s}", "job", "-"), *document = job_document(said, &e);
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    else
        close(STDIN_FILENO);
    close(ends[1]);
    close(kept);
    if (!document)
        fail_msg("%s", e.text);
    assert_int_equal(json_array_size(json_object_get(document, "flows")), 1);
    json_decref(document);
    json_decref(said);
}

/* Which side sends and receives, and which half of memory it needs. */
static void the_plan_knows_who_does_what(void **state)
{
    struct plan write = {.operation = OP_WRITE}, read = {.operation = OP_READ},
                both = {.operation = OP_SEND, .bidirectional = 1},
                rally = {.operation = OP_READ, .mode = MODE_LATENCY};
    (void)state;
    assert_true(plan_sends(&write, true));
    assert_false(plan_sends(&write, false));
    assert_false(plan_receives(&write, false)); /* a write causes no completion at the receiver */
    assert_true(plan_has_outgoing(&write, true));
    assert_false(plan_has_incoming(&write, true));
    assert_true(plan_has_incoming(&write, false));
    assert_true(plan_has_outgoing(&read, false)); /* a read's bytes are sent by the server */
    assert_false(plan_has_outgoing(&read, true));
    assert_true(plan_has_incoming(&read, true));
    assert_true(plan_receives(&both, true));
    assert_true(plan_receives(&both, false));
    assert_true(plan_sends(&both, false));
    assert_true(plan_has_outgoing(&both, true) && plan_has_incoming(&both, true));
    assert_false(plan_sends(&rally, false));
    assert_true(plan_has_outgoing(&rally, false));
}

static void moderation_follows_size_pairs_and_rate(void **state)
{
    struct plan plan = {.depth = 128, .queue_pairs = 1};
    (void)state;
    assert_int_equal(plan_moderation(&plan, 2), 64);
    assert_int_equal(plan_moderation(&plan, 65536), 1);
    plan.queue_pairs = 8;
    assert_int_equal(plan_moderation(&plan, 2), 8);
    plan.queue_pairs = 512;
    assert_int_equal(plan_moderation(&plan, 2), 4);
    plan.rate_bps = 1;
    assert_int_equal(plan_moderation(&plan, 2), 1);
    plan.moderation = 1000;
    assert_int_equal(plan_moderation(&plan, 2), 128);
    plan = (struct plan){.depth = 1, .queue_pairs = 1};
    assert_int_equal(plan_moderation(&plan, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_lists_and_sweeps),
        cmocka_unit_test(where_a_flow_is),
        cmocka_unit_test(less_than_a_message_is_one_of_that_size),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(traffic_class_comes_whole_or_in_parts),
        cmocka_unit_test(a_flow_text_overrides_the_options),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(mode_latency_has_one_message_under_way),
        cmocka_unit_test(a_job_says_what_flows_have_in_common),
        cmocka_unit_test(flows_start_and_stop_at_their_times),
        cmocka_unit_test(bad_jobs_are_refused),
        cmocka_unit_test(too_many_flows_are_an_error_that_names_the_limit),
        cmocka_unit_test(standard_input_may_be_a_socket),
        cmocka_unit_test(the_plan_knows_who_does_what),
        cmocka_unit_test(moderation_follows_size_pairs_and_rate),
    };
    return cmocka_run_group_tests_name("traffic_job", tests, NULL, NULL);
}
