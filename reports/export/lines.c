/* The lines of a run: samples.jsonl, flows.jsonl, pauses.jsonl. They are read one at a time. */
#include "reports/export/rows.h"

#include "lib/document/form.h"
#include "lib/document/json_text.h"
#include "reports/results/lines.h"
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
    const struct export_series new = {r->rows->series + 1, r->rows->number, strdup(host), strdup(counter)};
    r->series[r->count++] = new;
    r->rows->series++;
    return new.host &&new.counter ? &r->series[r->count - 1] : NULL;
}

static int add_series(struct sample_rows *r, const char *host, const struct column *column, struct error *e)
{
    if (r->count == SERIES_MOST)
        return error_set(e, "more than %u counters and gauges have samples", SERIES_MOST);
    const struct export_series *series = one_more(r, host, column->name);
    if (!series)
        return error_set(e, "out of memory for the column %s", column->name);
    const struct export_value given[] = {export_integer(series->number),
                                         export_integer(series->run),
                                         export_text(host),
                                         export_text(column->name),
                                         export_text(column->unit),
                                         export_text(column->kind == COLUMN_COUNTER ? "counter" : "gauge"),
                                         export_text(column->source),
                                         export_text(column->group)};
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

static int take_sample(void *to, const struct sample *sample, struct error *e)
{
    const struct sample_rows *r = to;
    if (!rows_wanted(r->rows, EXPORT_SAMPLES))
        return 0;
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->values[i] == LINES_NULL)
            continue;
        if (r->rows->kind->sample(r->rows->sink, &r->series[sample->columns[i]], sample->time_ns,
                                  sample->values[i], e) != 0)
            return -1;
        r->rows->samples++;
    }
    return 0;
}

static int add_samples(struct rows *rows, struct error *e)
{
    static const struct sample_taker taker = {take_column, take_sample};
    struct sample_rows r = {.rows = rows, .index = json_object()};
    int result = r.index ? run_each_sample(rows->run, &taker, &r, NULL, e) : error_set(e, "out of memory");
    for (size_t i = 0; i < r.count; i++) {
        free((char *)(uintptr_t)r.series[i].host);
        free((char *)(uintptr_t)r.series[i].counter);
    }
    free(r.series);
    json_decref(r.index);
    return result;
}

/* ---- flows and pauses */

static int take_flow_line(void *to, char *text, size_t length, struct error *e)
{
    struct rows *rows = to;
    const struct export_value run = export_integer(rows->number);
    struct line line;
    if (lines_parse(text, length, &line, e) != 0)
        return -1;
    int result = line.kind == LINE_INTERVAL ? rows_add(rows, EXPORT_INTERVALS, &run, 1, line.json, e) : 0;
    lines_free_parsed(&line);
    return result;
}

static int take_pause(void *to, char *text, size_t length, struct error *e)
{
    struct rows *rows = to;
    struct pause_line line;
    if (run_pause_line(text, length, &line, e) != 0)
        return -1;
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
