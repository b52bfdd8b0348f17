#include "harness/record/recorder.h"
#include "harness/record/recorder_parts.h"
#include "lib/files.h"
#include "lib/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- opening and closing */

static FILE *create(const char *folder, const char *name, struct error *e)
{
    char *path = files_join(folder, name);
    FILE *file = path ? fopen(path, "we") : NULL;
    if (!file)
        error_set_errno(e, path ? errno : ENOMEM, "creating %s/%s", folder, name);
    free(path);
    return file;
}

struct recorder *recorder_open(const char *folder, const struct scenario *scenario, bool pauses,
                               struct error *e)
{
    struct recorder *r = calloc(1, sizeof *r);
    const struct scenario_flow *flows = scenario->flows.items;
    if (!r) {
        error_set(e, "out of memory");
        return NULL;
    }
    r->folder = strdup(folder);
    r->scenario = scenario;
    r->start_ns = r->end_ns = INT64_MAX;
    r->flow_index = json_object();
    r->warnings = json_array();
    r->host_count = scenario->roles.count;
    r->hosts = calloc(r->host_count + 1, sizeof *r->hosts);
    if (!r->hosts || !(r->samples = create(folder, "samples.jsonl", e)) ||
        !(r->flows_file = create(folder, "flows.jsonl", e)) ||
        (pauses && !(r->pauses_file = create(folder, "pauses.jsonl", e)))) {
        recorder_close(r);
        return NULL;
    }
    for (size_t i = 0; i < r->host_count; i++)
        r->hosts[i].role = scenario_role(scenario, i);
    for (size_t i = 0; i < scenario->flows.count; i++) {
        struct recorded_flow *flow = recorder_find_flow(r, flows[i].name);
        if (flow)
            flow->of = &flows[i];
    }
    return r;
}

static int flush(FILE *file, const char *name, struct error *e)
{
    if (file && (fflush(file) != 0 || ferror(file)))
        return error_set_errno(e, errno ? errno : ENOSPC, "writing %s", name);
    return 0;
}

int recorder_flush(struct recorder *r, struct error *e)
{
    return flush(r->samples, "samples.jsonl", e) || flush(r->flows_file, "flows.jsonl", e) ||
                   flush(r->pauses_file, "pauses.jsonl", e)
               ? -1
               : 0;
}

/* After a failed write the last line may be incomplete: remove it. */
static void keep_whole_lines(const char *folder, const char *name)
{
    char *path = files_join(folder, name), byte = '\n';
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    while (end > 0 && pread(fd, &byte, 1, end - 1) == 1 && byte != '\n')
        end--;
    if (fd >= 0 && ftruncate(fd, end) != 0)
        log_warning("%s: its last line may be incomplete and could not be removed: %s", path,
                    strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
}

static void close_file(const struct recorder *r, FILE *file, const char *name)
{
    if (!file)
        return;
    bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && r->folder)
        keep_whole_lines(r->folder, name);
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    close_file(r, r->samples, "samples.jsonl");
    close_file(r, r->flows_file, "flows.jsonl");
    close_file(r, r->pauses_file, "pauses.jsonl");
    for (size_t i = 0; r->hosts && i < r->host_count; i++)
        recorder_free_host(&r->hosts[i]);
    for (size_t i = 0; i < r->flow_count; i++) {
        free(r->flows[i].name);
        json_decref(r->flows[i].summary);
    }
    recorder_free_pauses(r);
    free(r->folder);
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
    json_array_append_new(r->warnings, json_vsprintf(format, arguments));
    va_end(arguments);
}

void recorder_shift_time(json_t *object, int64_t offset_ns)
{
    json_t *time = json_object_get(object, "time_ns");
    if (json_is_integer(time))
        json_object_set_new(object, "time_ns", json_integer(json_integer_value(time) - offset_ns));
}

void recorder_warnings(const struct recorder *r, json_t *warnings)
{
    json_array_extend(warnings, r->warnings);
    for (size_t i = 0; i < r->host_count; i++)
        if (r->hosts[i].end_reason && strcmp(r->hosts[i].end_reason, "error") == 0)
            json_array_append_new(
                warnings, json_sprintf("%s: the sampler ended early with an error", r->hosts[i].role));
}

/* ---- live figures */

void recorder_live(const struct recorder *r, struct recorder_live *live)
{
    *live = (struct recorder_live){0};
    for (size_t i = 0; i < r->flow_count; i++) {
        live->goodput_bps += r->flows[i].live_bps;
        live->errors += r->flows[i].errors;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        const struct recorded_host *host = &r->hosts[i];
        live->samples += host->samples;
        live->pauses_per_s += recorder_pauses_per_s(host);
    }
}
