#include "harness/record/recorder.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/histogram.h"
#include "lib/formats/lines.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRIORITIES 8

/* A column over the measure phase: counters from the last sample at or before its start to the first at or after its end,
 * gauges inside. */
struct gathered {
    struct column column;
    bool any, closed, moved_back;
    int64_t first, last, previous, delta;
    bool seen; /* over the whole run: from the first sample to the last */
    int64_t seen_last, total;
    int64_t first_ns, last_ns;
    uint64_t inside;
    int64_t min, max;
    double sum;
};

struct pauses {
    char *where; /* a role or SWITCH:PORT */
    struct histogram *priorities[PRIORITIES];
};

struct host {
    const char *role;
    int64_t offset_ns;
    size_t *slots; /* the current header's columns: indices into gathered */
    size_t slot_count;
    struct gathered *gathered;
    size_t count;
    uint64_t samples, overruns;
    double read_sum_ns;
    int64_t read_max_ns, cpu_ns, latest_ns;
    bool ended;
    char *end_reason;
};

struct flow {
    char *name;
    const struct scenario_flow *of;       /* NULL: one of a traffic pattern */
    json_t *summary;                      /* the summary line */
    int64_t bytes, messages, duration_ns; /* of intervals inside the measure phase */
    double live_bps;
    uint64_t errors;
};

struct recorder {
    char *folder;
    const struct scenario *scenario;
    FILE *samples, *flows_file, *pauses_file;
    struct host *hosts;
    size_t host_count;
    struct flow *flows;
    size_t flow_count;
    json_t *flow_index; /* name -> index */
    struct pauses *pauses;
    size_t pause_count;
    json_t *warnings;
    int64_t start_ns, end_ns;
};

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

static struct flow *find_flow(struct recorder *r, const char *name)
{
    json_t *index = json_object_get(r->flow_index, name);
    if (index)
        return &r->flows[json_integer_value(index)];
    struct flow *grown = realloc(r->flows, (r->flow_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    r->flows = grown;
    grown[r->flow_count] = (struct flow){.name = strdup(name)};
    json_object_set_new(r->flow_index, name, json_integer((json_int_t)r->flow_count));
    return &r->flows[r->flow_count++];
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
        struct flow *flow = find_flow(r, flows[i].name);
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

static void free_host(struct host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        free(host->gathered[i].column.name);
        free(host->gathered[i].column.unit);
        free(host->gathered[i].column.source);
        free(host->gathered[i].column.group);
    }
    free(host->gathered);
    free(host->slots);
    free(host->end_reason);
}

/* After a write that failed the last line may have been cut: what stays are whole lines. */
static void keep_whole_lines(const char *folder, const char *name)
{
    char *path = files_join(folder, name), byte = '\n';
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    while (end > 0 && pread(fd, &byte, 1, end - 1) == 1 && byte != '\n')
        end--;
    if (fd >= 0 && ftruncate(fd, end) == 0)
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
        free_host(&r->hosts[i]);
    for (size_t i = 0; i < r->flow_count; i++) {
        free(r->flows[i].name);
        json_decref(r->flows[i].summary);
    }
    for (size_t i = 0; i < r->pause_count; i++) {
        for (size_t p = 0; p < PRIORITIES; p++)
            free(r->pauses[i].priorities[p]);
        free(r->pauses[i].where);
    }
    free(r->folder);
    free(r->hosts);
    free(r->flows);
    free(r->pauses);
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

static void warn(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn(struct recorder *r, const char *format, ...)
{
    va_list arguments;
    if (json_array_size(r->warnings) >= 200)
        return;
    va_start(arguments, format);
    json_array_append_new(r->warnings, json_vsprintf(format, arguments));
    va_end(arguments);
}

/* ---- samples */

static size_t find_column(struct host *host, struct column *column)
{
    for (size_t i = 0; i < host->count; i++)
        if (strcmp(host->gathered[i].column.name, column->name) == 0 &&
            strcmp(host->gathered[i].column.source, column->source) == 0)
            return i;
    struct gathered *grown = realloc(host->gathered, (host->count + 1) * sizeof *grown);
    if (!grown)
        return SIZE_MAX;
    host->gathered = grown;
    grown[host->count] = (struct gathered){.column = *column};
    *column = (struct column){0}; /* its strings are ours now */
    return host->count++;
}

static int take_header(struct host *host, const json_t *header, struct error *e)
{
    struct column *columns;
    size_t count;
    if (lines_columns(header, &columns, &count, e) != 0)
        return -1;
    size_t *slots = calloc(count + 1, sizeof *slots);
    for (size_t i = 0; slots && i < count; i++)
        slots[i] = find_column(host, &columns[i]);
    lines_free_columns(columns, count);
    if (!slots)
        return error_set(e, "out of memory");
    free(host->slots);
    host->slots = slots;
    host->slot_count = count;
    return 0;
}

static void gather_counter(struct recorder *r, const struct host *host, struct gathered *g, int64_t time_ns,
                           int64_t value)
{
    if (g->seen)
        g->total += value >= g->seen_last ? value - g->seen_last : value;
    g->seen = true;
    g->seen_last = value;
    if (time_ns <= r->start_ns || !g->any) {
        g->any = true;
        g->first = g->last = g->previous = value;
        g->first_ns = g->last_ns = time_ns;
        g->delta = 0;
        return;
    }
    if (g->closed)
        return;
    if (value < g->previous && !g->moved_back) {
        warn(r,
             "%s: %s went back from %" PRId64 " to %" PRId64
             ": it was reset, its figures count on from there",
             host->role, g->column.name, g->previous, value);
        g->moved_back = true;
    }
    g->delta += value >= g->previous ? value - g->previous : value;
    g->last = g->previous = value;
    g->last_ns = time_ns;
    g->closed = time_ns >= r->end_ns;
}

static void gather_gauge(const struct recorder *r, struct gathered *g, int64_t time_ns, int64_t value)
{
    if (time_ns < r->start_ns || time_ns > r->end_ns)
        return;
    if (!g->inside) {
        g->min = g->max = g->first = value;
        g->first_ns = time_ns;
    }
    g->min = value < g->min ? value : g->min;
    g->max = value > g->max ? value : g->max;
    g->sum += (double)value;
    g->inside++;
    g->last = value;
    g->last_ns = time_ns;
    g->any = true;
}

static int take_sample(struct recorder *r, struct host *host, const struct line *line, struct error *e)
{
    if (line->count != host->slot_count)
        return error_set(e, "%s: a sample has %zu values, its header %zu columns", host->role, line->count,
                         host->slot_count);
    int64_t time_ns = line->time_ns - host->offset_ns;
    for (size_t i = 0; i < line->count; i++) {
        if (line->values[i] == LINES_NULL || host->slots[i] == SIZE_MAX)
            continue;
        struct gathered *g = &host->gathered[host->slots[i]];
        if (g->column.kind == COLUMN_COUNTER)
            gather_counter(r, host, g, time_ns, line->values[i]);
        else
            gather_gauge(r, g, time_ns, line->values[i]);
    }
    host->samples++;
    host->latest_ns = time_ns;
    host->read_sum_ns += (double)line->read_ns;
    if (line->read_ns > host->read_max_ns)
        host->read_max_ns = line->read_ns;
    return 0;
}

/* The sample as it stands in samples.jsonl: the role, the time on the run's clock, the rest as it came. */
static void write_sample(struct recorder *r, const struct host *host, const struct line *line)
{
    fprintf(r->samples, "[\"%s\",%" PRId64 ",%" PRId64, host->role, line->time_ns - host->offset_ns,
            line->read_ns);
    for (size_t i = 0; i < line->count; i++)
        if (line->values[i] == LINES_NULL)
            fputs(",null", r->samples);
        else
            fprintf(r->samples, ",%" PRId64, line->values[i]);
    fputs("]\n", r->samples);
}

static void shift_time(json_t *object, int64_t offset_ns)
{
    json_t *time = json_object_get(object, "time_ns");
    if (json_is_integer(time))
        json_object_set_new(object, "time_ns", json_integer(json_integer_value(time) - offset_ns));
}

static int take_object(struct recorder *r, struct host *host, const struct line *line, struct error *e)
{
    const char *what = json_string_value(json_object_get(line->json, "what"));
    const char *text = json_string_value(json_object_get(line->json, "text"));
    shift_time(line->json, host->offset_ns);
    json_object_set_new(line->json, "host", json_string(host->role));
    lines_write_object(r->samples, line->json);
    if (line->kind == LINE_HEADER)
        return take_header(host, line->json, e);
    if (line->kind == LINE_EVENT && what && strcmp(what, "overrun") != 0)
        warn(r, "%s: %s: %s", host->role, what, text ? text : "");
    if (line->kind == LINE_END) {
        const char *reason = json_string_value(json_object_get(line->json, "reason"));
        host->ended = true;
        host->overruns = (uint64_t)json_integer_value(json_object_get(line->json, "overruns"));
        host->cpu_ns = json_integer_value(json_object_get(line->json, "cpu_ns"));
        free(host->end_reason);
        host->end_reason = reason ? strdup(reason) : NULL;
    }
    return 0;
}

int recorder_sample(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct host *host = &r->hosts[role];
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return error_prefix(e, "%s: a line of the sampler", host->role);
    int result;
    if (line.kind == LINE_SAMPLE) {
        result = take_sample(r, host, &line, e);
        if (result == 0)
            write_sample(r, host, &line);
    } else {
        result = take_object(r, host, &line, e);
    }
    lines_free_parsed(&line);
    if (result == 0 && ferror(r->samples))
        result = error_set_errno(e, errno ? errno : ENOSPC, "writing samples.jsonl");
    return result;
}

/* ---- flows */

static void take_interval(const struct recorder *r, struct flow *flow, const json_t *json)
{
    int64_t end = json_integer_value(json_object_get(json, "time_ns"));
    int64_t duration = json_integer_value(json_object_get(json, "duration_ns"));
    flow->live_bps = json_number_value(json_object_get(json, "goodput_bps"));
    flow->errors += (uint64_t)json_integer_value(json_object_get(json, "errors"));
    if (end - duration < r->start_ns || end > r->end_ns)
        return;
    flow->bytes += json_integer_value(json_object_get(json, "bytes"));
    flow->messages += json_integer_value(json_object_get(json, "messages"));
    flow->duration_ns += duration;
}

int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return error_prefix(e, "%s: a line of the traffic generator", r->hosts[role].role);
    const char *name = json_string_value(json_object_get(line.json, "flow"));
    struct flow *flow = name ? find_flow(r, name) : NULL;
    shift_time(line.json, r->hosts[role].offset_ns);
    if (line.json)
        lines_write_object(r->flows_file, line.json);
    if (flow && line.kind == LINE_INTERVAL)
        take_interval(r, flow, line.json);
    if (flow && line.kind == LINE_SUMMARY) {
        json_decref(flow->summary);
        flow->summary = json_incref(line.json);
    }
    if (flow && line.kind == LINE_ERROR) {
        const char *status = json_string_value(json_object_get(line.json, "status"));
        const char *said = json_string_value(json_object_get(line.json, "text"));
        flow->errors++;
        warn(r, "flow %s: %s%s%s", flow->name, status ? status : "", status && said ? ": " : "",
             said ? said : "");
    }
    lines_free_parsed(&line);
    if (ferror(r->flows_file))
        return error_set_errno(e, errno ? errno : ENOSPC, "writing flows.jsonl");
    return 0;
}

/* ---- pauses */

static struct pauses *find_pauses(struct recorder *r, const char *where)
{
    for (size_t i = 0; i < r->pause_count; i++)
        if (strcmp(r->pauses[i].where, where) == 0)
            return &r->pauses[i];
    struct pauses *grown = realloc(r->pauses, (r->pause_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    r->pauses = grown;
    grown[r->pause_count] = (struct pauses){.where = strdup(where)};
    return grown[r->pause_count].where ? &grown[r->pause_count++] : NULL;
}

int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, struct error *e)
{
    fprintf(r->pauses_file, "[\"%s\",%u,%" PRId64 ",%" PRId64 "]\n", where, priority, start_ns, duration_ns);
    if (ferror(r->pauses_file))
        return error_set_errno(e, errno ? errno : ENOSPC, "writing pauses.jsonl");
    if (priority >= PRIORITIES || start_ns < r->start_ns || start_ns >= r->end_ns)
        return 0;
    struct pauses *pauses = find_pauses(r, where);
    if (!pauses)
        return error_set(e, "out of memory");
    struct histogram **h = &pauses->priorities[priority];
    if (!*h && (*h = calloc(1, sizeof **h)))
        histogram_clear(*h);
    if (!*h)
        return error_set(e, "out of memory");
    histogram_add(*h, duration_ns);
    return 0;
}

/* ---- summaries */

void recorder_live(const struct recorder *r, struct recorder_live *live)
{
    *live = (struct recorder_live){0};
    for (size_t i = 0; i < r->flow_count; i++) {
        live->goodput_bps += r->flows[i].live_bps;
        live->errors += r->flows[i].errors;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        const struct host *host = &r->hosts[i];
        live->samples += host->samples;
        for (size_t k = 0; k < host->count; k++) {
            const struct gathered *g = &host->gathered[k];
            if (g->last_ns > g->first_ns && strncmp(g->column.name, "rx_prio", 7) == 0 &&
                strcmp(g->column.name + 8, "_pause") == 0)
                live->pauses_per_s += (double)g->delta * 1e9 / (double)(g->last_ns - g->first_ns);
        }
    }
}

bool recorder_flow_done(const struct recorder *r, const char *flow)
{
    json_t *index = json_object_get(r->flow_index, flow);
    return index && r->flows[json_integer_value(index)].summary;
}

bool recorder_samples_done(const struct recorder *r, size_t role)
{
    return r->hosts[role].ended;
}

static json_t *counter_summary(const struct gathered *g)
{
    bool counter = g->column.kind == COLUMN_COUNTER;
    json_t *json =
        json_pack("{s:s,s:s,s:s,s:s}", "unit", g->column.unit, "kind", counter ? "counter" : "gauge",
                  "source", g->column.source, "group", g->column.group);
    int64_t duration = g->last_ns - g->first_ns;
    if (counter) {
        json_object_set_new(json, "delta", json_integer(g->delta));
        if (duration > 0)
            json_object_set_new(json, "rate_per_s", json_real((double)g->delta * 1e9 / (double)duration));
        json_object_set_new(json, "first", json_integer(g->first));
        json_object_set_new(json, "total", json_integer(g->total));
    } else {
        json_object_set_new(json, "min", json_integer(g->min));
        json_object_set_new(json, "mean", json_real(g->sum / (double)g->inside));
        json_object_set_new(json, "max", json_integer(g->max));
        json_object_set_new(json, "first", json_integer(g->first));
    }
    json_object_set_new(json, "last", json_integer(g->last));
    json_object_set_new(json, "duration_ns", json_integer(duration));
    return json;
}

static json_t *pause_summary(const struct pauses *pauses)
{
    json_t *json = json_object();
    for (size_t p = 0; p < PRIORITIES; p++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", p);
        if (pauses->priorities[p])
            json_object_set_new(json, key, histogram_json(pauses->priorities[p]));
    }
    return json;
}

void recorder_host_summary(const struct recorder *r, size_t role, json_t *host)
{
    const struct host *h = &r->hosts[role];
    json_t *counters = json_object();
    for (size_t i = 0; i < h->count; i++)
        if (h->gathered[i].any && (h->gathered[i].column.kind == COLUMN_COUNTER || h->gathered[i].inside))
            json_object_set_new(counters, h->gathered[i].column.name, counter_summary(&h->gathered[i]));
    json_object_set_new(host, "counters", counters);
    json_object_set_new(host, "sampling",
                        json_pack("{s:I,s:I,s:f,s:I,s:I}", "samples", (json_int_t)h->samples, "overruns",
                                  (json_int_t)h->overruns, "read_ns_mean",
                                  h->samples ? h->read_sum_ns / (double)h->samples : 0.0, "read_ns_max",
                                  (json_int_t)h->read_max_ns, "cpu_ns", (json_int_t)h->cpu_ns));
    for (size_t i = 0; i < r->pause_count; i++)
        if (strcmp(r->pauses[i].where, h->role) == 0)
            json_object_set_new(host, "pauses", pause_summary(&r->pauses[i]));
}

static void describe_flow(const struct scenario_flow *of, json_t *json)
{
    json_object_set_new(json, "from", json_string(of->from));
    json_object_set_new(json, "to", json_string(of->to));
    json_object_set_new(json, "op", json_string(flow_op_names[of->op]));
    json_object_set_new(json, "mode", json_string(flow_mode_names[of->mode]));
    json_object_set_new(json, "memory", json_string(flow_memory_names[of->memory]));
    json_object_set_new(json, "priority", json_integer(of->priority));
    json_object_set_new(json, "queue_pairs", json_integer(of->queue_pairs));
    json_object_set_new(json, "message_bytes", json_integer(of->message_bytes));
}

static void rates(json_t *json, int64_t bytes, int64_t messages, int64_t duration_ns)
{
    double seconds = (double)duration_ns / 1e9;
    json_object_set_new(json, "bytes", json_integer(bytes));
    json_object_set_new(json, "messages", json_integer(messages));
    json_object_set_new(json, "duration_ns", json_integer(duration_ns));
    if (duration_ns <= 0)
        return;
    json_object_set_new(json, "goodput_bps", json_real((double)bytes * 8 / seconds));
    json_object_set_new(json, "goodput_MiBps", json_real((double)bytes / seconds / 1048576));
    json_object_set_new(json, "messages_per_s", json_real((double)messages / seconds));
}

/* From the generator's summary, or, when it never came, from the intervals that lie inside the measure phase. */
static json_t *flow_summary(const struct flow *flow)
{
    static const char *const kept[] = {"latency_ns",    "retransmitted_packets",
                                       "completion_ns", "slowdown",
                                       "by_size",       "flows",
                                       "from",          "to",
                                       "memory_used",   NULL};
    json_t *json = json_object();
    const json_t *s = flow->summary;
    if (flow->of)
        describe_flow(flow->of, json);
    for (size_t i = 0; s && kept[i]; i++)
        if (json_object_get(s, kept[i]))
            json_object_set(json, kept[i], json_object_get(s, kept[i]));
    if (s && json_is_object(json_object_get(s, "memory")))
        json_object_set(json, "memory_used", json_object_get(s, "memory"));
    if (s)
        rates(json, json_integer_value(json_object_get(s, "bytes")),
              json_integer_value(json_object_get(s, "messages")),
              json_integer_value(json_object_get(s, "duration_ns")));
    else
        rates(json, flow->bytes, flow->messages, flow->duration_ns);
    uint64_t errors = s ? (uint64_t)json_integer_value(json_object_get(s, "errors")) : 0;
    json_object_set_new(json, "errors",
                        json_integer((json_int_t)(errors > flow->errors ? errors : flow->errors)));
    json_object_set_new(json, "complete", json_boolean(s && json_is_true(json_object_get(s, "complete"))));
    return json;
}

json_t *recorder_flow_summary(const struct recorder *r)
{
    json_t *flows = json_object();
    for (size_t i = 0; i < r->flow_count; i++)
        json_object_set_new(flows, r->flows[i].name, flow_summary(&r->flows[i]));
    return flows;
}

void recorder_warnings(const struct recorder *r, json_t *warnings)
{
    json_array_extend(warnings, r->warnings);
    for (size_t i = 0; i < r->host_count; i++)
        if (r->hosts[i].end_reason && strcmp(r->hosts[i].end_reason, "error") == 0)
            json_array_append_new(
                warnings, json_sprintf("%s: the sampler ended early with an error", r->hosts[i].role));
}
