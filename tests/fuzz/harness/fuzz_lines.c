/* Lines of samplers and traffic generators, through the recorder. */
#include "harness/record/recorder.h"
#include "lib/files.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario_text[] = "{\"schema\":1,\"name\":\"x\",\"roles\":[\"a\",\"b\"],"
                                    "\"flows\":[{\"name\":\"f\",\"from\":\"a\",\"to\":\"b\"}]}";

static void feed(struct recorder *r, const char *text, size_t size)
{
    struct error e;
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t length = newline ? (size_t)(newline - text) : size;
        recorder_sample(r, 0, text, length, &e);
        recorder_flow(r, 1, text, length, &e);
        text += newline ? length + 1 : length;
        size -= newline ? length + 1 : length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e;
    struct scenario scenario;
    char folder[] = "/tmp/fuzz-lines.XXXXXX";
    json_t *json = json_loads(scenario_text, 0, NULL), *host = json_object(), *warnings = json_array();
    if (mkdtemp(folder) && scenario_parse(json, &scenario, &e) == 0) {
        struct recorder *r = recorder_open(folder, &scenario, false, &e);
        if (r) {
            recorder_window(r, 0, INT64_MAX);
            feed(r, (const char *)data, size);
            recorder_host_summary(r, 0, host);
            json_decref(recorder_flow_summary(r));
            recorder_warnings(r, warnings);
        }
        recorder_close(r);
        scenario_free(&scenario);
    }
    files_remove_tree(folder, NULL);
    json_decref(host);
    json_decref(warnings);
    json_decref(json);
    return 0;
}
