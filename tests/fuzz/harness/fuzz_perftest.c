/* What perftest's programs say, on hosts that are not trusted. The first byte chooses: 0, 1, 2 a test's
 * output, others an answer to --version and --help. A table that is taken makes a flow line that the recorder
 * takes. */
#include "harness/traffic/perftest.h"
#include "harness/traffic/traffic_tool.h"

#include "lib/formats/lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_answer(const struct traffic_job *job, const uint8_t *data, size_t size)
{
    char version[TRAFFIC_VERSION_SIZE], *answer = malloc(size + 1);
    struct error e;
    memcpy(answer, data, size);
    answer[size] = '\0';
    if (job->tool->judge(job, "a", answer, version, &e) == 0 && !*version)
        abort();
    free(answer);
}

static void try_output(const struct traffic_job *job, const char *printed, size_t size)
{
    struct text made = {0};
    struct line line;
    struct error e;
    if (job->tool->read(job, printed, size, 1700000000000000000, &made, &e) == 0) {
        if (lines_parse(made.data, made.length, &line, &e) != 0 || line.kind != LINE_SUMMARY)
            abort();
        lines_free_parsed(&line);
    }
    text_free(&made);
}

static void try_table(enum perftest_test test, const char *printed, size_t size)
{
    struct perftest_row row;
    struct error e;
    if (perftest_table_read(test, printed, size, &row, &e) != 0)
        return;
    const double numbers[] = {row.mibps,      row.million_messages_per_s,
                              row.min_us,     row.max_us,
                              row.typical_us, row.mean_us,
                              row.p99_us,     row.p99_9_us};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!isfinite(numbers[i]) || numbers[i] < 0)
            abort();
    if (row.bytes < 0 || row.messages < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "x", a[] = "a", b[] = "b";
    struct scenario_flow flow = {.name = name,
                                 .from = a,
                                 .to = b,
                                 .message_bytes = 64,
                                 .queue_pairs = 1,
                                 .depth = 1,
                                 .traffic_class = 0,
                                 .size_bytes = FIELD_UNSET,
                                 .stop_ns = FIELD_UNSET};
    struct scenario scenario = {.phases = {.measure_ns = 1000000000}};
    const struct scenario_flow *flows[] = {&flow};
    const struct traffic_job job = {
        .tool = &traffic_tool_perftest, .scenario = &scenario, .flows = flows, .count = 1};
    unsigned int choice = size ? data[0] - (unsigned int)'0' : 0;
    if (!size)
        return 0;
    if (choice > PERFTEST_LATENCY_TIMED) {
        try_answer(&job, data + 1, size - 1);
        return 0;
    }
    flow.mode = choice == PERFTEST_BANDWIDTH ? MODE_BANDWIDTH : MODE_LATENCY;
    flow.size_bytes = choice == PERFTEST_LATENCY ? 64000 : FIELD_UNSET;
    try_table(choice, (const char *)data + 1, size - 1);
    try_output(&job, (const char *)data + 1, size - 1);
    return 0;
}
