/* samples.jsonl and pauses.jsonl of a run. */
#include "reports/results/run.h"

#include "lib/document/json_text.h"
#include "reports/results/run_lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES   (64 + LINES_MAX_NAME + 2)
#define VALUES_KEPT (8u << 20) /* of all series together, 16 bytes each */
#define VALUES_EACH 1024       /* at least, of a series */
#define PAUSE_LIMIT 5000000    /* the most lines of pauses.jsonl that are drawn */

/* The columns of one host as its latest header has them: indices into run->series. */
struct layout {
    char host[64];
    size_t *series;
    size_t count;
};

struct layouts {
    struct layout *items;
    size_t count, capacity;
    json_t *index; /* host -> number of the item */
};

static struct layout *layout_of(struct layouts *layouts, const char *host, bool make)
{
    const json_t *index = json_object_get(layouts->index, host);
    if (index)
        return &layouts->items[json_integer_value(index)];
    if (!make || strlen(host) >= sizeof layouts->items->host)
        return NULL;
    if (layouts->count == layouts->capacity) {
        size_t larger = layouts->capacity ? 2 * layouts->capacity : 16;
        struct layout *items = realloc(layouts->items, larger * sizeof *items);
        if (!items)
            return NULL;
        layouts->items = items;
        layouts->capacity = larger;
    }
    if (json_put(layouts->index, host, json_integer((json_int_t)layouts->count)) != 0)
        return NULL;
    struct layout *layout = &layouts->items[layouts->count++];
    *layout = (struct layout){0};
    memcpy(layout->host, host, strlen(host) + 1);
    return layout;
}

/* What identifies a series. */
static void key_of(const char *host, const char *name, char *key, size_t size)
{
    snprintf(key, size, "%s\n%s", host, name);
}

const struct series *run_series(const struct run *run, const char *host, const char *name)
{
    char key[KEY_BYTES];
    key_of(host, name, key, sizeof key);
    const json_t *index = json_object_get(run->series_index, key);
    return index ? &run->series[json_integer_value(index)] : NULL;
}

static size_t series_for(struct run *run, const char *host, const struct column *column)
{
    const struct series *known = run_series(run, host, column->name);
    char key[KEY_BYTES];
    if (known)
        return (size_t)(known - run->series);
    struct series *all = realloc(run->series, (run->series_count + 1) * sizeof *all);
    if (!all)
        return SIZE_MAX;
    run->series = all;
    key_of(host, column->name, key, sizeof key);
    if (json_put(run->series_index, key, json_integer((json_int_t)run->series_count)) != 0)
        return SIZE_MAX;
    all[run->series_count] = (struct series){.host = strdup(host),
                                             .name = strdup(column->name),
                                             .unit = strdup(column->unit),
                                             .group = strdup(column->group),
                                             .kind = column->kind};
    return run->series_count++;
}

static int take_header(struct run *run, struct layouts *layouts, const json_t *header, struct error *e)
{
    const char *host = json_string_value(json_object_get(header, "host"));
    struct column *columns;
    size_t count;
    if (lines_columns(header, &columns, &count, e) != 0)
        return -1;
    struct layout *layout = host ? layout_of(layouts, host, true) : NULL;
    size_t *series = layout ? calloc(count + 1, sizeof *series) : NULL;
    if (series) {
        for (size_t i = 0; i < count; i++)
            series[i] = series_for(run, host, &columns[i]);
        free(layout->series);
        layout->series = series;
        layout->count = count;
    }
    lines_free_columns(columns, count);
    return series ? 0 : error_set(e, "a header does not name a host, or out of memory");
}

/* Of each four values in order keep the least and the greatest: extremes survive any number of times, and of a counter so do the first
 * and the last. */
static void halve(struct series *s)
{
    size_t kept = 0;
    for (size_t i = 0; i + 3 < s->count; i += 4) {
        size_t low = i, high = i;
        for (size_t k = i + 1; k < i + 4; k++) {
            low = s->value[k] < s->value[low] ? k : low;
            high = s->value[k] >= s->value[high] ? k : high;
        }
        size_t pair[] = {low < high ? low : high, low < high ? high : low};
        for (size_t k = 0; k < 2; k++) {
            s->time_ns[kept] = s->time_ns[pair[k]];
            s->value[kept++] = s->value[pair[k]];
        }
    }
    for (size_t i = s->count - s->count % 4; i < s->count; i++) {
        s->time_ns[kept] = s->time_ns[i];
        s->value[kept++] = s->value[i];
    }
    s->count = kept;
    s->of = s->of ? 2 * s->of : 4;
}

static void push(struct series *series, int64_t time_ns, int64_t value)
{
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? series->capacity * 2 : 256;
        int64_t *times = realloc(series->time_ns, capacity * sizeof *times);
        if (times)
            series->time_ns = times;
        int64_t *values = realloc(series->value, capacity * sizeof *values);
        if (values)
            series->value = values;
        if (!times || !values)
            return;
        series->capacity = capacity;
    }
    series->time_ns[series->count] = time_ns;
    series->value[series->count++] = value;
}

static void push_group(struct series *s)
{
    bool low_first = s->next.low_ns < s->next.high_ns;
    if (!s->next.count)
        return;
    push(s, low_first ? s->next.low_ns : s->next.high_ns, low_first ? s->next.low : s->next.high);
    push(s, low_first ? s->next.high_ns : s->next.low_ns, low_first ? s->next.high : s->next.low);
    s->next.count = 0;
}

/* Whole, or into the next group as soon as there were too many. */
static void append(const struct run *run, struct series *s, int64_t time_ns, int64_t value)
{
    size_t share = VALUES_KEPT / run->series_count, most = share > VALUES_EACH ? share : VALUES_EACH;
    while (s->count >= most)
        halve(s);
    if (!s->of) {
        push(s, time_ns, value);
        return;
    }
    if (!s->next.count || value < s->next.low) {
        s->next.low = value;
        s->next.low_ns = time_ns;
    }
    if (!s->next.count || value >= s->next.high) {
        s->next.high = value;
        s->next.high_ns = time_ns;
    }
    if (++s->next.count >= s->of)
        push_group(s);
}

static int take_sample(struct run *run, struct layouts *layouts, char *text, size_t length, struct error *e)
{
    const char *host;
    struct line line;
    if (run_sample_line(text, length, &host, &line, e) != 0)
        return -1;
    const struct layout *layout = layout_of(layouts, host, false);
    for (size_t i = 0; layout && i < line.count && i < layout->count; i++)
        if (line.values[i] != LINES_NULL && layout->series[i] < run->series_count)
            append(run, &run->series[layout->series[i]], line.time_ns - run->start_ns, line.values[i]);
    lines_free_parsed(&line);
    return 0;
}

/* Of samples.jsonl. */
struct sample_reader {
    struct run *run;
    struct layouts layouts;
};

static int take_line(void *to, char *text, size_t length, struct error *e)
{
    struct sample_reader *reader = to;
    struct line line;
    if (run_is_sample(text, length))
        return take_sample(reader->run, &reader->layouts, text, length, e);
    if (lines_parse(text, length, &line, e) != 0)
        return -1;
    int result = line.kind == LINE_HEADER ? take_header(reader->run, &reader->layouts, line.json, e) : 0;
    lines_free_parsed(&line);
    return result;
}

static int load_samples(struct run *run, struct error *e)
{
    struct sample_reader reader = {.run = run, .layouts.index = json_object()};
    run->series_index = json_object();
    int result = run_each_line(run, "samples.jsonl", take_line, &reader, e);
    for (size_t i = 0; i < run->series_count; i++)
        push_group(&run->series[i]);
    for (size_t i = 0; i < reader.layouts.count; i++)
        free(reader.layouts.items[i].series);
    free(reader.layouts.items);
    json_decref(reader.layouts.index);
    return result;
}

/* Of pauses.jsonl. */
struct pause_reader {
    struct run *run;
    size_t capacity;
};

static bool add_pause(struct run *run, size_t *capacity, struct pause pause)
{
    if (run->pause_count == *capacity) {
        size_t larger = *capacity ? *capacity * 2 : 1024;
        struct pause *pauses = realloc(run->pauses, larger * sizeof *pauses);
        if (!pauses)
            return false;
        run->pauses = pauses;
        *capacity = larger;
    }
    run->pauses[run->pause_count++] = pause;
    return true;
}

static int take_pause(void *to, char *text, size_t length, struct error *e)
{
    struct pause_reader *reader = to;
    struct pause_line line;
    struct pause pause = {0};
    if (reader->run->pause_count == PAUSE_LIMIT || run_pause_line(text, length, &line, NULL) != 0 ||
        strlen(line.where) >= sizeof pause.host)
        return 0;
    memcpy(pause.host, line.where, strlen(line.where) + 1);
    pause.priority = line.priority;
    pause.start_ns = line.start_ns - reader->run->start_ns;
    pause.duration_ns = line.duration_ns;
    pause.lasts = line.lasts;
    return add_pause(reader->run, &reader->capacity, pause) ? 0 : error_set(e, "out of memory");
}

static int load_pauses(struct run *run, struct error *e)
{
    return run_each_line(run, "pauses.jsonl", take_pause, &(struct pause_reader){.run = run}, e);
}

int run_load_samples(struct run *run, struct error *e)
{
    return load_samples(run, e) == 0 && load_pauses(run, e) == 0 ? 0 : -1;
}

void run_free_samples(struct run *run)
{
    for (size_t i = 0; i < run->series_count; i++) {
        struct series *s = &run->series[i];
        free(s->host);
        free(s->name);
        free(s->unit);
        free(s->group);
        free(s->time_ns);
        free(s->value);
    }
    free(run->series);
    free(run->pauses);
    json_decref(run->series_index);
    run->series_index = NULL;
    run->series = NULL;
    run->pauses = NULL;
    run->series_count = run->pause_count = 0;
}
