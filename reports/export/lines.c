/* The lines of a run: samples.jsonl, flows.jsonl, pauses.jsonl. They are read one at a time. */
#include "reports/export/rows.h"

#include "lib/document/form.h"
#include "lib/document/json_text.h"
#include "lib/log.h"
#include "reports/results/lines.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MOST (1u << 20) /* of a run: 8192 hosts with 128 columns each */

/* ---- samples */

struct sample_rows {
    struct rows *rows;
    struct export_series *series;
    size_t count, capacity;
    json_t *index; /* host, line break and counter -> number of the series */
};

static struct export_series *one_more(struct sample_rows *r, const char *host, const char *counter)
{
    if (r->count == r->capacity) {
        size_t larger = r->capacity ? 2 * r->capacity : 256;
        struct export_series *series = realloc(r->series, larger * sizeof *series);
        if (!series)
            return NULL;
        r->series = series;
        r->capacity = larger;
    }
    struct export_series *new = &r->series[r->count++];
    *new = (struct export_series){.number = ++r->rows->series,
                                  .run = r->rows->number,
                                  .host = strdup(host),
                                  .counter = strdup(counter)};
    return new->host &&new->counter ? new : NULL;
}

/* What the first reading found of a series. */
static struct surveyed surveyed(const struct rows *rows, const struct export_series *series)
{
    const struct survey *survey = rows->survey;
    bool known = rows->kind && (size_t)series->number <= survey->count;
    return known ? survey->series[series->number - 1] : (struct surveyed){.changes = true};
}

/* Which samples are written follows from the first reading, which a run that goes on meanwhile makes wrong.
 */
static int check_survey(const struct rows *rows, const struct export_series *series, struct error *e)
{
    struct surveyed found = surveyed(rows, series);
    if ((size_t)series->number <= rows->survey->count && found.samples == (int64_t)series->count &&
        found.changes == series->changes)
        return 0;
    return error_set(e,
                     "samples of run %" PRId64 " (%s of %s) changed while they were exported: export again "
                     "when no run is going on there",
                     series->run, series->counter, series->host);
}

static int add_series(struct sample_rows *r, const char *host, const struct column *column, struct error *e)
{
    if (r->count == SERIES_MOST)
        return error_set(e, "more than %u counters and gauges have samples", SERIES_MOST);
    const struct export_series *series = one_more(r, host, column->name);
    if (!series)
        return error_set(e, "out of memory for the column %s", column->name);
    struct surveyed found = surveyed(r->rows, series);
    const struct export_value given[] = {export_integer(series->number),
                                         export_integer(series->run),
                                         export_text(host),
                                         export_text(column->name),
                                         export_text(column->unit),
                                         export_text(column->kind == COLUMN_COUNTER ? "counter" : "gauge"),
                                         export_text(column->source),
                                         export_text(column->group),
                                         export_integer(found.samples),
                                         found.samples ? export_integer(!found.changes) : export_text(NULL)};
    return rows_add(r->rows, EXPORT_SERIES, given, sizeof given / sizeof *given, NULL, e);
}

static int take_column(void *to, const char *host, const struct column *column, size_t *number,
                       struct error *e)
{
    struct sample_rows *r = to;
    char key[FORM_ROLE_MOST + LINES_MAX_NAME + 2];
    snprintf(key, sizeof key, "%s\n%s", host, column->name);
    const json_t *known = json_object_get(r->index, key);
    *number = known ? (size_t)json_integer_value(known) : r->count;
    if (known)
        return 0;
    if (add_series(r, host, column, e) != 0)
        return -1;
    return json_put(r->index, key, json_integer((json_int_t)*number)) == 0
               ? 0
               : error_set(e, "out of memory for the column %s", column->name);
}

static int write_sample(struct rows *rows, const struct export_series *series, int64_t time_ns, int64_t value,
                        struct error *e)
{
    rows->samples++;
    return rows->kind->sample(rows->sink, series, time_ns, value, e);
}

/* The last sample of a series that does not change waits for its turn in end_series. */
static int take_sample(void *to, const struct sample *sample, struct error *e)
{
    struct sample_rows *r = to;
    bool written = r->rows->kind && rows_wanted(r->rows, EXPORT_SAMPLES);
    rows_tell(r->rows);
    for (size_t i = 0; i < sample->count; i++) {
        int64_t value = sample->values[i];
        if (value == LINES_NULL)
            continue;
        struct export_series *series = &r->series[sample->columns[i]];
        series->first = series->count++ ? series->first : value;
        series->changes |= value != series->first;
        series->time_ns = sample->time_ns;
        series->last = value;
        if (written && (series->count == 1 || surveyed(r->rows, series).changes) &&
            write_sample(r->rows, series, sample->time_ns, value, e) != 0)
            return -1;
    }
    return 0;
}

/* About how many bytes a sample takes, with its part of an index. */
static int64_t sample_bytes(const struct rows *rows, const struct export_series *series)
{
    return rows->format == EXPORT_SQLITE ? 40
                                         : (int64_t)(strlen(series->host) + strlen(series->counter)) + 28;
}

static int note_series(struct rows *rows, const struct export_series *series, struct error *e)
{
    struct survey *survey = rows->survey;
    if ((size_t)series->number > survey->capacity) {
        size_t larger = survey->capacity ? 2 * survey->capacity : 256;
        struct surveyed *all = realloc(survey->series, larger * sizeof *all);
        if (!all)
            return error_set(e, "out of memory for %zu counters and gauges", larger);
        memset(all + survey->capacity, 0, (larger - survey->capacity) * sizeof *all);
        survey->series = all;
        survey->capacity = larger;
    }
    survey->series[series->number - 1] = (struct surveyed){series->count, series->changes};
    survey->count = (size_t)series->number;
    bool constant = !series->changes && series->count > 2;
    int64_t samples = rows_wanted(rows, EXPORT_SAMPLES) ? constant ? 2 : series->count : 0;
    survey->constants += constant;
    survey->samples += samples;
    survey->bytes += samples * sample_bytes(rows, series);
    return 0;
}

static int end_series(struct rows *rows, const struct export_series *series, struct error *e)
{
    if (!rows->kind)
        return note_series(rows, series, e);
    if (check_survey(rows, series, e) != 0)
        return -1;
    if (!rows_wanted(rows, EXPORT_SAMPLES) || surveyed(rows, series).changes || series->count < 2)
        return 0;
    return write_sample(rows, series, series->time_ns, series->last, e);
}

static int add_samples(struct rows *rows, struct error *e)
{
    static const struct sample_taker taker = {take_column, take_sample};
    struct sample_rows r = {.rows = rows, .index = json_object()};
    struct samples_odd odd = {0};
    int result = r.index ? run_each_sample(rows->run, &taker, &r, &odd, e) : error_set(e, "out of memory");
    for (size_t i = 0; i < r.count; i++) {
        if (result == 0)
            result = end_series(rows, &r.series[i], e);
        free((char *)(uintptr_t)r.series[i].host);
        free((char *)(uintptr_t)r.series[i].counter);
    }
    free(r.series);
    json_decref(r.index);
    if (rows->kind && odd.back)
        log_warning("%s: %" PRIu64 " samples " SAMPLES_BACK, rows->run->folder, odd.back);
    if (rows->kind && odd.left_out)
        log_warning("%s: %" PRIu64 " samples are left out: no header names their host", rows->run->folder,
                    odd.left_out);
    return result;
}

/* ---- flows and pauses */

static int take_flow_line(void *to, char *text, size_t length, struct error *e)
{
    struct rows *rows = to;
    const struct export_value run = export_integer(rows->number);
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return LINE_DAMAGED;
    int result = line.kind == LINE_INTERVAL ? rows_add(rows, EXPORT_INTERVALS, &run, 1, line.json, e) : 0;
    lines_free_parsed(&line);
    return result;
}

static int take_pause(void *to, char *text, size_t length, struct error *e)
{
    struct rows *rows = to;
    struct pause_line line;
    if (run_pause_line(text, length, &line, e) != 0)
        return LINE_DAMAGED;
    const struct export_value given[] = {export_integer(rows->number),     export_text(line.where),
                                         export_integer(line.priority),    export_integer(line.start_ns),
                                         export_integer(line.duration_ns), export_integer(line.lasts)};
    return rows_add(rows, EXPORT_PAUSES, given, sizeof given / sizeof *given, NULL, e);
}

int export_lines(struct rows *rows, struct error *e)
{
    int result = 0;
    if (rows_wanted(rows, EXPORT_SAMPLES) || rows_wanted(rows, EXPORT_SERIES))
        result = add_samples(rows, e);
    if (result == 0 && rows_wanted(rows, EXPORT_INTERVALS))
        result = run_each_line(rows->run, "flows.jsonl", take_flow_line, rows, e);
    if (result == 0 && rows_wanted(rows, EXPORT_PAUSES))
        result = run_each_line(rows->run, "pauses.jsonl", take_pause, rows, e);
    return result;
}
