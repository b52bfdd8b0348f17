#include "harness/record/recorder.h"
#include "harness/record/recorder_parts.h"
#include "lib/document/json_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening and closing */

struct recorder *recorder_open(const char *folder, const struct scenario *scenario, bool pauses,
                               struct error *e)
{
    struct recorder *r = calloc(1, sizeof *r);
    const struct scenario_flow *flows = scenario->flows.items;
    char *const *listed = scenario->sample.roles.items;
    if (!r) {
        error_set(e, "out of memory");
        return NULL;
    }
    r->samples.fd = r->flows_file.fd = r->pauses_file.fd = -1;
    r->scenario = scenario;
    r->start_ns = r->end_ns = INT64_MAX;
    r->flow_index = json_object();
    r->warnings = json_array();
    r->host_count = scenario->roles.count;
    r->hosts = calloc(r->host_count + 1, sizeof *r->hosts);
    if (!r->hosts || record_file_open(&r->samples, folder, "samples.jsonl", e) != 0 ||
        record_file_open(&r->flows_file, folder, "flows.jsonl", e) != 0 ||
        (pauses && record_file_open(&r->pauses_file, folder, "pauses.jsonl", e) != 0)) {
        recorder_close(r);
        return NULL;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        r->hosts[i].role = scenario_role(scenario, i);
        r->hosts[i].index = json_object();
        r->hosts[i].names = json_object();
        if (listed)
            recorder_unlist(r, i);
    }
    for (size_t i = 0; listed && i < scenario->sample.roles.count; i++)
        recorder_list(r, (size_t)scenario_role_index(scenario, listed[i]));
    for (size_t i = 0; i < scenario->flows.count; i++) {
        struct recorded_flow *flow = recorder_add_flow(r, flows[i].name);
        if (flow)
            flow->of = &flows[i];
    }
    return r;
}

int recorder_flush(struct recorder *r, struct error *e)
{
    return record_file_flush(&r->samples, e) || record_file_flush(&r->flows_file, e) ||
                   record_file_flush(&r->pauses_file, e)
               ? -1
               : 0;
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    /* what could not be written was said by recorder_flush */
    record_file_close(&r->samples, NULL);
    record_file_close(&r->flows_file, NULL);
    record_file_close(&r->pauses_file, NULL);
    for (size_t i = 0; r->hosts && i < r->host_count; i++)
        recorder_free_host(&r->hosts[i]);
    for (size_t i = 0; i < r->flow_count; i++) {
        free(r->flows[i].name);
        json_decref(r->flows[i].summary);
    }
    recorder_free_unlisted(r);
    free(r->hosts);
    free(r->flows);
    json_decref(r->flow_index);
    json_decref(r->warnings);
    free(r);
}

void recorder_clock(struct recorder *r, size_t role, int64_t offset_ns)
{
    r->hosts[role].offset_ns = offset_ns;
}

void recorder_window(struct recorder *r, int64_t start_ns, int64_t end_ns)
{
    r->start_ns = start_ns;
    r->end_ns = end_ns;
}

/* ---- warnings and times */

void recorder_warn(struct recorder *r, const char *format, ...)
{
    va_list arguments;
    if (json_array_size(r->warnings) >= 200)
        return;
    va_start(arguments, format);
    json_array_append_new(r->warnings, json_text_list(format, arguments));
    va_end(arguments);
}

int recorder_words(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length <= MOST_SAID)
        return (int)length;
    for (length = MOST_SAID; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
        length--; /* not within a character */
    return (int)length;
}

int recorder_on_run_clock(const struct recorded_host *host, int64_t *time_ns, struct error *e)
{
    int64_t shifted_ns = *time_ns - host->offset_ns; /* of two within LINES_MOST */
    if (!lines_fits(shifted_ns, -LINES_MOST))
        return error_set(e, "%s: a line's time_ns is %" PRId64 ", which is not a time by the run's clock",
                         host->role, *time_ns);
    *time_ns = shifted_ns;
    return 0;
}

int recorder_shift_time(const struct recorded_host *host, json_t *object, struct error *e)
{
    json_t *time = json_object_get(object, "time_ns");
    int64_t time_ns = json_integer_value(time);
    if (!json_is_integer(time))
        return 0;
    if (!lines_fits(time_ns, -LINES_MOST))
        return error_set(e, "%s: a header's time_ns is out of range", host->role);
    if (recorder_on_run_clock(host, &time_ns, e) != 0)
        return -1;
    json_object_set_new(object, "time_ns", json_integer(time_ns));
    return 0;
}

void recorder_warnings(const struct recorder *r, json_t *warnings)
{
    json_array_extend(warnings, r->warnings);
    for (size_t i = 0; i < r->host_count; i++)
        if (r->hosts[i].end_reason && strcmp(r->hosts[i].end_reason, "error") == 0)
            json_array_append_new(warnings,
                                  json_textf("%s: the sampler ended early with an error", r->hosts[i].role));
}

/* ---- live figures */

void recorder_live(const struct recorder *r, struct recorder_live *live)
{
    *live = (struct recorder_live){0};
    for (size_t i = 0; i < r->flow_count; i++) {
        live->goodput_bps += r->flows[i].live_bps;
        live->errors += (uint64_t)r->flows[i].errors;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        const struct recorded_host *host = &r->hosts[i];
        live->samples += host->samples;
        live->pauses_per_s += recorder_pauses_per_s(host);
    }
}
