/* What nccl-tests, NCCL and host-facts say, on hosts that are not trusted. The first byte chooses: 0 all that
 * a program has printed, 1 NCCL's messages, 2 the answer to the questions before a run, others variables of a
 * host. What is taken as a result has finite figures. */
#include "harness/traffic/collective_tool.h"
#include "harness/traffic/nccl_tests.h"
#include "lib/document/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_table(const char *printed, size_t size)
{
    struct nccl_tests_output out;
    struct error e;
    if (nccl_tests_read(printed, size, &out, &e) == 0) {
        if (!out.row_count || !isfinite(out.average_busbw_GBps))
            abort();
        for (size_t i = 0; i < out.row_count; i++)
            if (!isfinite(out.rows[i].in_place.busbw_GBps) || !isfinite(out.rows[i].out_of_place.time_us) ||
                out.rows[i].bytes < 0 || out.rows[i].in_place.wrong < -1)
                abort();
    } else if (!*e.text) {
        abort();
    }
    nccl_tests_output_free(&out);
}

static void try_result(const struct collective_job *job, const char *printed, size_t size)
{
    const struct nccl_debug debug = {0};
    struct error e;
    bool failed;
    json_t *result = job->tool->read(job, printed, size, &debug, &failed, &e);
    char *text = result ? json_dumps(result, JSON_ENSURE_ASCII) : NULL;
    if (result && !text)
        abort();
    free(text);
    json_decref(result);
}

static void try_messages(const char *printed, size_t size)
{
    struct nccl_debug debug = {0};
    for (size_t at = 0, lines = 1; at < size; lines++) {
        const char *feed = memchr(printed + at, '\n', size - at);
        size_t length = feed ? (size_t)(feed - printed) - at : size - at;
        int64_t sum = 0;
        nccl_debug_take(&debug, printed + at, length);
        for (int path = 0; path < NCCL_PATHS; path++)
            sum += debug.channels[path];
        if (sum > (int64_t)lines)
            abort();
        at += length + 1;
    }
    (void)nccl_debug_path(&debug);
}

static void try_text(struct collective_job *job, bool answer, const char *printed, size_t size)
{
    char *text = malloc(size + 1);
    struct error e;
    bool missing;
    memcpy(text, printed, size);
    text[size] = '\0';
    if (answer)
        (void)job->tool->judge(job, 0, text, &missing, &e);
    else if (collective_take_env(&job->hosts[0], text, &e) == 0)
        json_decref(job->tool->environment(job, 0));
    (void)collective_take_env(&job->hosts[0], "", &e);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "x", a[] = "a", address[] = "10.0.0.1/24", type[] = "float", sum[] = "sum";
    const struct scenario_collective collective = {.name = name,
                                                   .gpus = 2,
                                                   .min_bytes = 8,
                                                   .max_bytes = 1048576,
                                                   .factor = 131072,
                                                   .datatype = type,
                                                   .reduction = sum};
    struct lab lab = {.name = name};
    const struct lab_host lab_host = {.name = a, .nic = {.address = address}};
    struct collective_host host = {.lab = &lab_host};
    struct collective_job job = {.tool = &collective_tool_nccl_tests,
                                 .collective = &collective,
                                 .lab = &lab,
                                 .hosts = &host,
                                 .host_count = 1,
                                 .mpirun = true};
    if (!size)
        return 0;
    const char *printed = (const char *)data + 1;
    switch (*data) {
    case '0':
        try_table(printed, size - 1);
        try_result(&job, printed, size - 1);
        break;
    case '1':
        try_messages(printed, size - 1);
        break;
    default:
        try_text(&job, *data == '2', printed, size - 1);
    }
    return 0;
}
