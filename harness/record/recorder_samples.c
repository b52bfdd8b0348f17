/* Lines of samplers: columns over the measure phase, and their summaries. */
#include "harness/record/recorder_parts.h"
#include "lib/roce/counters.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t find_column(struct recorded_host *host, struct column *column)
{
    for (size_t i = 0; i < host->count; i++)
        if (strcmp(host->gathered[i].column.name, column->name) == 0 &&
            strcmp(host->gathered[i].column.source, column->source) == 0)
            return i;
    struct recorded_column *grown = realloc(host->gathered, (host->count + 1) * sizeof *grown);
    if (!grown)
        return SIZE_MAX;
    host->gathered = grown;
    grown[host->count] = (struct recorded_column){.column = *column};
    *column = (struct column){0}; /* this file frees its strings now */
    return host->count++;
}

static int take_header(struct recorded_host *host, const json_t *header, struct error *e)
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

static void gather_counter(struct recorder *r, const struct recorded_host *host, struct recorded_column *g,
                           int64_t time_ns, int64_t value)
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
        recorder_warn(r,
                      "%s: %s decreased from %" PRId64 " to %" PRId64
                      ": it was reset; counting continues from the lower value",
                      host->role, g->column.name, g->previous, value);
        g->moved_back = true;
    }
    g->delta += value >= g->previous ? value - g->previous : value;
    g->last = g->previous = value;
    g->last_ns = time_ns;
    g->closed = time_ns >= r->end_ns;
}

static void gather_gauge(const struct recorder *r, struct recorded_column *g, int64_t time_ns, int64_t value)
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

static int take_sample(struct recorder *r, struct recorded_host *host, const struct line *line,
                       struct error *e)
{
    if (line->count != host->slot_count)
        return error_set(e, "%s: a sample has %zu values, its header %zu columns", host->role, line->count,
                         host->slot_count);
    int64_t time_ns = line->time_ns - host->offset_ns;
    for (size_t i = 0; i < line->count; i++) {
        if (line->values[i] == LINES_NULL || host->slots[i] == SIZE_MAX)
            continue;
        struct recorded_column *g = &host->gathered[host->slots[i]];
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

/* The sample as written to samples.jsonl: the role, the time on the run's clock, the rest unchanged. */
static void write_sample(struct recorder *r, const struct recorded_host *host, const struct line *line)
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

static int take_object(struct recorder *r, struct recorded_host *host, const struct line *line,
                       struct error *e)
{
    const char *what = json_string_value(json_object_get(line->json, "what"));
    const char *text = json_string_value(json_object_get(line->json, "text"));
    recorder_shift_time(line->json, host->offset_ns);
    json_object_set_new(line->json, "host", json_string(host->role));
    lines_write_object(r->samples, line->json);
    if (line->kind == LINE_HEADER)
        return take_header(host, line->json, e);
    if (line->kind == LINE_EVENT && what && strcmp(what, "overrun") != 0)
        recorder_warn(r, "%s: %s: %s", host->role, what, text ? text : "");
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
    struct recorded_host *host = &r->hosts[role];
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

void recorder_free_host(struct recorded_host *host)
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

/* ---- summaries */

double recorder_pauses_per_s(const struct recorded_host *host)
{
    double per_s = 0;
    for (size_t i = 0; i < host->count; i++) {
        const struct recorded_column *g = &host->gathered[i];
        if (g->last_ns > g->first_ns && counters_pattern_matches("rx_prio#_pause", g->column.name))
            per_s += (double)g->delta * 1e9 / (double)(g->last_ns - g->first_ns);
    }
    return per_s;
}

static json_t *counter_summary(const struct recorded_column *g)
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

void recorder_host_summary(const struct recorder *r, size_t role, json_t *host)
{
    const struct recorded_host *h = &r->hosts[role];
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
            json_object_set_new(host, "pauses", recorder_pause_summary(&r->pauses[i]));
}
