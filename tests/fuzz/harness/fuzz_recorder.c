/* Lines of samplers and traffic generators, from a host that may print anything: into the recorder and its
 * summaries. The input begins with the first host's clock offset; each line begins with who prints it, '0' to
 * '3': sampler or generator of role a or b, which is not listed. */
#include "harness/record/recorder.h"
#include "tests/fuzz/scratch.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario_text[] = "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],"
                                    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\"}],"
                                    "\"sample\":{\"roles\":[\"a\"]}}";

static void feed(struct recorder *r, const char *text, size_t size)
{
    struct error e;
    while (size > 1) {
        const char *newline = memchr(text, '\n', size);
        size_t length = newline ? (size_t)(newline - text) : size;
        if (length && (*text & 2))
            recorder_flow(r, *text & 1, text + 1, length - 1, &e);
        else if (length)
            recorder_sample(r, *text & 1, text + 1, length - 1, &e);
        text += newline ? length + 1 : length;
        size -= newline ? length + 1 : length;
    }
}

static void summarize(const struct recorder *r)
{
    json_t *hosts[2] = {json_object(), json_object()}, *warnings = json_array(), *flows;
    struct recorder_live live;
    recorder_live(r, &live);
    for (size_t role = 0; role < 2; role++)
        recorder_host_summary(r, role, hosts[role]);
    flows = recorder_flow_summary(r);
    recorder_warnings(r, warnings);
    json_decref(recorder_totals(r));
    json_decref(hosts[0]);
    json_decref(hosts[1]);
    json_decref(flows);
    json_decref(warnings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e;
    struct scenario scenario;
    json_t *json = json_loads(scenario_text, 0, NULL);
    int parsed = scenario_parse(json, &scenario, &e);
    json_decref(json);
    if (parsed != 0)
        abort();
    struct recorder *r = recorder_open(scratch_folder(), &scenario, true, &e);
    if (!r)
        abort();
    recorder_keep(r, "b", "*pause*", "delta");
    if (size) {
        recorder_clock(r, 0, (int8_t)data[0] * INT64_C(1000));
        recorder_window(r, 100, INT64_MAX - 1);
        feed(r, (const char *)data + 1, size - 1);
    }
    recorder_pause(r, "a", 3, 100, 1, false, &e);
    summarize(r);
    recorder_close(r);
    scenario_free(&scenario);
    return 0;
}
