/* Lines of samplers: columns over the measure phase, and their summaries. */
#include "harness/record/recorder_parts.h"
#include "lib/document/json_text.h"
#include "lib/roce/counters.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Make room for one more column. The array doubles when its count is a power of two, so that growing stays linear. */
static bool has_room(struct recorded_host *host)
{
    if (host->count & (host->count - 1))
        return true;
    size_t room = host->count ? 2 * host->count : 1;
    struct recorded_column *grown = realloc(host->gathered, room * sizeof *grown);
    if (grown)
        host->gathered = grown;
    return grown;
}

static size_t add_column(struct recorded_host *host, struct column *column, const char *key)
{
    bool second = json_object_get(host->names, column->name);
    if (host->count >= MOST_COLUMNS || !has_room(host) ||
        json_object_set_new(host->index, key, json_integer((json_int_t)host->count)) != 0 ||
        json_object_set_new(host->names, column->name, json_true()) != 0)
        return SIZE_MAX;
    host->gathered[host->count] = (struct recorded_column){.column = *column, .second = second};
    *column = (struct column){0}; /* this file frees its strings now */
    return host->count++;
}

size_t recorder_find_column(struct recorded_host *host, struct column *column)
{
    char key[2 * LINES_MAX_NAME + 2];
    snprintf(key, sizeof key, "%s\n%s", column->source, column->name);
    const json_t *index = json_object_get(host->index, key);
    return index ? (size_t)json_integer_value(index) : add_column(host, column, key);
}

/* Once for each that is new. */
static void warn_of_second(struct recorder *r, const struct recorded_host *host, size_t known)
{
    for (size_t i = known; i < host->count; i++)
        if (host->gathered[i].second)
            recorder_warn(r, "%s: two sources have a column %s: what %s has of it is in the samples alone",
                          host->role, host->gathered[i].column.name, host->gathered[i].column.source);
}

static int take_header(struct recorder *r, struct recorded_host *host, const json_t *header, struct error *e)
{
    struct column *columns;
    size_t count;
    if (lines_columns(header, &columns, &count, e) != 0)
        return -1;
    if (host->unlisted) {
        int result = recorder_unlisted_columns(r, host, columns, count, e);
        lines_free_columns(columns, count);
        return result;
    }
    size_t *slots = calloc(count + 1, sizeof *slots), lost = 0, known = host->count;
    for (size_t i = 0; slots && i < count; i++) {
        slots[i] = recorder_find_column(host, &columns[i]);
        lost += slots[i] == SIZE_MAX;
    }
    lines_free_columns(columns, count);
    if (!slots)
        return error_set(e, "out of memory");
    if (lost)
        recorder_warn(r, "%s: %zu columns are left out: more than %d different ones", host->role, lost,
                      MOST_COLUMNS);
    warn_of_second(r, host, known);
    free(host->slots);
    host->slots = slots;
    host->slot_count = count;
    return 0;
}

static void gather_counter(struct recorder *r, const struct recorded_host *host, struct recorded_column *g,
                           int64_t time_ns, int64_t value)
{
    if (g->seen)
        g->total = recorder_sum(g->total, value >= g->seen_last ? value - g->seen_last : value);
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
    g->delta = recorder_sum(g->delta, value >= g->previous ? value - g->previous : value);
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
    tally_add(&g->tally, value);
    g->inside++;
    g->last = value;
    g->last_ns = time_ns;
    g->any = true;
}

static int check_counters(const struct recorded_host *host, const struct line *line, struct error *e)
{
    for (size_t i = 0; i < line->count; i++) {
        if (line->values[i] >= 0 || line->values[i] == LINES_NULL || host->slots[i] == SIZE_MAX)
            continue;
        const struct column *column = &host->gathered[host->slots[i]].column;
        if (column->kind == COLUMN_COUNTER)
            return error_set(e, "%s: a sample has %" PRId64 " for the counter %.100s: expected 0 or more",
                             host->role, line->values[i], column->name);
    }
    return 0;
}

static void note_clock(struct recorder *r, struct recorded_host *host, int64_t time_ns)
{
    if (host->samples && time_ns < host->latest_ns && !host->went_back)
        recorder_warn(r, "%s: the clock of its samples went back by %" PRId64 " ns: was it set?", host->role,
                      host->latest_ns - time_ns);
    host->went_back = host->went_back || time_ns < host->latest_ns;
}

static int take_sample(struct recorder *r, struct recorded_host *host, const struct line *line,
                       int64_t time_ns, struct error *e)
{
    if (line->count != host->slot_count)
        return error_set(e, "%s: a sample has %zu values, its header %zu columns", host->role, line->count,
                         host->slot_count);
    if (check_counters(host, line, e) != 0)
        return -1;
    note_clock(r, host, time_ns);
    for (size_t i = 0; i < line->count; i++) {
        if (line->values[i] == LINES_NULL || host->slots[i] == SIZE_MAX)
            continue;
        struct recorded_column *g = &host->gathered[host->slots[i]];
        if (g->column.kind == COLUMN_COUNTER)
            gather_counter(r, host, g, time_ns, line->values[i]);
        else
            gather_gauge(r, g, time_ns, line->values[i]);
    }
    if (host->unlisted && host->plain)
        recorder_unlisted_sample(r, host, time_ns, line->values);
    host->samples++;
    host->latest_ns = time_ns;
    host->read_sum_ns += (double)line->read_ns;
    if (line->read_ns > host->read_max_ns)
        host->read_max_ns = line->read_ns;
    return 0;
}

/* Take a line that was not parsed from text, or was. */
static int take_values(struct recorder *r, struct recorded_host *host, const struct line *line,
                       struct error *e)
{
    int64_t time_ns = line->time_ns;
    if (recorder_on_run_clock(host, &time_ns, e) != 0 || take_sample(r, host, line, time_ns, e) != 0)
        return -1;
    if (!host->unlisted) /* as it was read, with the role, and the time on the run's clock */
        lines_write_sample_of(r->samples.stream, host->role, time_ns, line->read_ns, line->values,
                              line->count);
    return 0;
}

static int take_object(struct recorder *r, struct recorded_host *host, const struct line *line,
                       struct error *e)
{
    const char *what = json_string_value(json_object_get(line->json, "what"));
    const char *text = json_string_value(json_object_get(line->json, "text"));
    if (recorder_shift_time(host, line->json, e) != 0)
        return -1;
    json_object_set_new(line->json, "host", json_text(host->role));
    if (!host->unlisted)
        lines_write_object(r->samples.stream, line->json);
    if (line->kind == LINE_HEADER)
        return take_header(r, host, line->json, e);
    if (line->kind == LINE_EVENT && what && strcmp(what, "overrun") != 0)
        recorder_warn(r, "%s: %.*s: %.*s", host->role, recorder_words(what), what, recorder_words(text),
                      text ? text : "");
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
    int result = line.kind == LINE_SAMPLE ? take_values(r, host, &line, e) : take_object(r, host, &line, e);
    lines_free_parsed(&line);
    return result == 0 ? record_file_check(&r->samples, e) : result;
}

int recorder_object(struct recorder *r, size_t role, enum line_kind kind, json_t *object, struct error *e)
{
    const struct line line = {.kind = kind, .json = object};
    int result = take_object(r, &r->hosts[role], &line, e);
    json_decref(object);
    return result == 0 ? record_file_check(&r->samples, e) : result;
}

int recorder_columns(struct recorder *r, size_t role, const struct column *columns, size_t count,
                     struct error *e)
{
    return recorder_unlisted_columns(r, &r->hosts[role], columns, count, e);
}

int recorder_values(struct recorder *r, size_t role, int64_t time_ns, const int64_t *values, size_t count,
                    struct error *e)
{
    const struct line line = {
        .kind = LINE_SAMPLE, .time_ns = time_ns, .values = (int64_t *)(uintptr_t)values, .count = count};
    int result = take_values(r, &r->hosts[role], &line, e);
    return result == 0 ? record_file_check(&r->samples, e) : result;
}

void recorder_free_host(struct recorded_host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        free(host->gathered[i].column.name);
        free(host->gathered[i].column.unit);
        free(host->gathered[i].column.source);
        free(host->gathered[i].column.group);
        tally_free(&host->gathered[i].tally);
    }
    free(host->gathered);
    for (size_t p = 0; p < PRIORITIES; p++)
        free(host->pauses[p]);
    json_decref(host->index);
    json_decref(host->names);
    free(host->slots);
    free(host->plain);
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

static void add_quantiles(const struct tally *tally, json_t *json)
{
    static const struct {
        const char *key;
        double q;
    } kept[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99_9", 0.999}};
    int64_t value;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (tally_quantile(tally, kept[i].q, &value))
            json_object_set_new(json, kept[i].key, json_integer(value));
}

static json_t *counter_summary(const struct recorded_column *g)
{
    bool counter = g->column.kind == COLUMN_COUNTER;
    json_t *json =
        json_make("{s:s,s:s,s:s,s:s}", "unit", g->column.unit, "kind", counter ? "counter" : "gauge",
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
        add_quantiles(&g->tally, json);
        json_object_set_new(json, "max", json_integer(g->max));
        json_object_set_new(json, "first", json_integer(g->first));
    }
    json_object_set_new(json, "last", json_integer(g->last));
    json_object_set_new(json, "duration_ns", json_integer(duration));
    return json;
}

static json_t *summaries_json(const struct recorder *r, const struct recorded_host *h)
{
    json_t *counters = json_object();
    for (size_t i = 0; i < h->count; i++) {
        const struct recorded_column *g = &h->gathered[i];
        if (!g->any || g->second || (g->column.kind == COLUMN_GAUGE && !g->inside))
            continue;
        json_t *whole = counter_summary(g);
        json_object_set_new(counters, g->column.name,
                            h->unlisted ? recorder_kept_summary(r, h, g->column.name, whole)
                                        : json_incref(whole));
        json_decref(whole);
    }
    return counters;
}

void recorder_host_summary(const struct recorder *r, size_t role, json_t *host)
{
    const struct recorded_host *h = &r->hosts[role];
    json_object_set_new(host, "counters", summaries_json(r, h));
    if (h->unlisted)
        return;
    json_object_set_new(host, "sampling",
                        json_make("{s:I,s:I,s:f,s:I,s:I}", "samples", (json_int_t)h->samples, "overruns",
                                  (json_int_t)h->overruns, "read_ns_mean",
                                  h->samples ? h->read_sum_ns / (double)h->samples : 0.0, "read_ns_max",
                                  (json_int_t)h->read_max_ns, "cpu_ns", (json_int_t)h->cpu_ns));
    json_t *pauses = recorder_pause_summary(h);
    if (pauses)
        json_object_set_new(host, "pauses", pauses);
}
