#include "reports/results/run.h"

#include "lib/files.h"
#include "lib/document/json_file.h"
#include "lib/text.h"
#include "reports/results/differences.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_LIMIT 5000000 /* the most lines of pauses.jsonl that are drawn */

/* ---- result.json */

const json_t *run_get(const struct run *run, const char *path)
{
    const json_t *at = run->result;
    while (at && *path) {
        size_t length = strcspn(path, ".");
        at = json_object_getn(at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

const char *run_text(const struct run *run, const char *path)
{
    const char *text = json_string_value(run_get(run, path));
    return text ? text : "";
}

double run_sum_flows(const struct run *run, const char *key)
{
    const char *name;
    json_t *flow;
    double sum = 0;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "flows"), name, flow)
    {
        sum += json_number_value(json_object_get(flow, key));
    }
    return sum;
}

const char *run_member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *run_label(const struct run *run)
{
    return *run->label ? run->label : "this run";
}

bool run_is_simulated(const struct run *run)
{
    return json_is_true(run_get(run, "simulated"));
}

/* "64KiB"; of an object its values, and of objects in it the names alone: "(rx_ring 8192, red)"; of an empty one "none". */
static void describe_value(const json_t *value, struct text *out)
{
    const char *key;
    json_t *member;
    bool first = true;
    if (!json_is_object(value)) {
        char *shown = json_is_string(value) ? strdup(json_string_value(value))
                                            : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        text_add(out, "%.40s", shown ? shown : "?");
        free(shown);
        return;
    }
    if (!json_object_size(value)) {
        text_add(out, "none");
        return;
    }
    text_add(out, "(");
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        text_add(out, "%s%.40s", first ? "" : ", ", key);
        if (!json_is_object(member)) {
            text_add(out, " ");
            describe_value(member, out);
        }
        first = false;
    }
    text_add(out, ")");
}

void run_describe_choice(const char *path, const json_t *value, struct text *out)
{
    const char *dot = strrchr(path, '.');
    text_add(out, "%s%s ", out->length ? ", " : "", dot ? dot + 1 : path);
    describe_value(value, out);
}

/* "memory gpu, message 64KiB": the cell's choices by the last part of their paths. */
static void describe_cell(const struct run *run, struct text *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)run_get(run, "cell"), key, value)
    {
        run_describe_choice(key, value, out);
    }
    json_int_t repeat = json_integer_value(run_get(run, "repeat"));
    if (repeat > 1)
        text_add(out, "%srun %lld", out->length ? ", " : "", (long long)repeat);
}

static void find_measure_phase(struct run *run)
{
    size_t i;
    json_t *phase;
    json_array_foreach(run_get(run, "phases"), i, phase)
    {
        const char *name = json_string_value(json_object_get(phase, "name"));
        if (name && strcmp(name, "measure") == 0) {
            run->start_ns = json_integer_value(json_object_get(phase, "start_ns"));
            run->end_ns = json_integer_value(json_object_get(phase, "end_ns"));
        }
    }
}

static int load_run(const char *folder, struct run *run, struct error *e)
{
    *run = (struct run){0};
    char *path = files_join(folder, "result.json");
    run->result = path ? json_file_load(path, e) : NULL;
    free(path);
    if (!run->result)
        return error_prefix(e, "%s is not a result", folder);
    if (!json_is_object(run->result) || !json_is_object(run_get(run, "scenario")))
        return error_set(e, "%s/result.json is not the result of a run: it has no scenario", folder);
    if (json_integer_value(run_get(run, "schema")) != 1)
        return error_set(e, "%s/result.json has a schema other than 1: a newer harness wrote it", folder);
    struct text label = {0};
    describe_cell(run, &label);
    run->folder = strdup(folder);
    run->label = text_take(&label);
    find_measure_phase(run);
    return run->folder && run->label ? 0 : error_set(e, "out of memory for %s", folder);
}

static struct run *add_run(struct runs *runs)
{
    struct run *items = realloc(runs->items, (runs->count + 1) * sizeof *items);
    if (!items)
        return NULL;
    runs->items = items;
    items[runs->count] = (struct run){0};
    return &items[runs->count++];
}

static int add_folder(struct runs *runs, const char *folder, struct error *e)
{
    struct run *run = add_run(runs);
    return run ? load_run(folder, run, e) : error_set(e, "out of memory for %s", folder);
}

static int add_cells(struct runs *runs, const char *folder, const json_t *index, struct error *e)
{
    const json_t *cells = json_object_get(index, "cells");
    size_t i;
    json_t *cell;
    if (!json_is_array(cells))
        return error_set(e, "%s/index.json has no list of cells", folder);
    json_array_foreach(cells, i, cell)
    {
        const char *name = json_string_value(json_object_get(cell, "folder"));
        if (!name || strchr(name, '/') || name[0] == '.')
            return error_set(e, "%s/index.json: cell %zu does not name a folder in it", folder, i);
        char *path = files_join(folder, name);
        int result = path ? add_folder(runs, path, e) : error_set(e, "out of memory for %s", folder);
        free(path);
        if (result != 0)
            return -1;
    }
    return 0;
}

static int add_result(struct runs *runs, const char *folder, struct error *e)
{
    char *path = files_join(folder, "index.json");
    if (!path)
        return error_set(e, "out of memory for %s", folder);
    bool sweep = files_exist(path);
    json_t *index = sweep ? json_file_load(path, e) : NULL;
    free(path);
    if (!sweep)
        return add_folder(runs, folder, e);
    int result = index ? add_cells(runs, folder, index, e) : -1;
    if (result == 0 && !runs->index)
        runs->index = json_incref(index);
    json_decref(index);
    return result;
}

/* ---- labels */

static void add_to_label(struct run *run, const char *more)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", run->label, *run->label && *more ? ", " : "", more) < 0)
        return;
    free(run->label);
    run->label = longer;
}

/* The runs from `first` on that have its label: distinguish them by differing settings, else by their start times. */
static void tell_apart_those_like(struct runs *runs, size_t first)
{
    const json_t **results = calloc(runs->count, sizeof *results);
    struct run **same = calloc(runs->count, sizeof *same);
    size_t count = 0;
    for (size_t i = first; results && same && i < runs->count; i++) {
        if (strcmp(runs->items[i].label, runs->items[first].label) != 0)
            continue;
        same[count] = &runs->items[i];
        results[count++] = runs->items[i].result;
    }
    json_t *differences = count > 1 ? differences_between(results, count) : NULL;
    for (size_t i = 0; differences && i < count; i++) {
        char *label = differences_label(differences, i);
        add_to_label(same[i], label && *label ? label : run_text(same[i], "started"));
        free(label);
    }
    json_decref(differences);
    free(results);
    free(same);
}

/* Give every run a unique label; as a last resort its folder. */
static void tell_apart(struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        tell_apart_those_like(runs, i);
    for (size_t i = 0; i < runs->count; i++) {
        bool taken = runs->count > 1 && !*runs->items[i].label;
        for (size_t j = 0; j < runs->count; j++)
            taken |= j != i && strcmp(runs->items[j].label, runs->items[i].label) == 0;
        if (taken)
            add_to_label(&runs->items[i], runs->items[i].folder);
    }
}

int runs_load(const char *const *folders, size_t count, struct runs *runs, struct error *e)
{
    *runs = (struct runs){0};
    for (size_t i = 0; i < count; i++) {
        if (add_result(runs, folders[i], e) != 0) {
            runs_free(runs);
            return -1;
        }
    }
    if (runs->count == 0) {
        runs_free(runs);
        return error_set(e, "there is no finished run in %s", count ? folders[0] : "nothing");
    }
    runs->results = count;
    tell_apart(runs);
    const char *title = run_text(&runs->items[0], "scenario.title");
    runs->title = strdup(*title ? title : run_text(&runs->items[0], "scenario.name"));
    return 0;
}

void runs_free(struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        run_free_samples(&runs->items[i]);
        json_decref(runs->items[i].result);
        free(runs->items[i].folder);
        free(runs->items[i].label);
    }
    free(runs->items);
    free(runs->title);
    json_decref(runs->index);
    *runs = (struct runs){0};
}

/* ---- samples.jsonl */

/* The columns of one host as its latest header has them: indices into run->series. */
struct layout {
    char host[64];
    size_t *series;
    size_t count;
};

struct layouts {
    struct layout *items;
    size_t count;
};

static struct layout *layout_of(struct layouts *layouts, const char *host, bool make)
{
    for (size_t i = 0; i < layouts->count; i++)
        if (strcmp(layouts->items[i].host, host) == 0)
            return &layouts->items[i];
    if (!make || strlen(host) >= sizeof layouts->items->host)
        return NULL;
    struct layout *items = realloc(layouts->items, (layouts->count + 1) * sizeof *items);
    if (!items)
        return NULL;
    layouts->items = items;
    struct layout *layout = &items[layouts->count++];
    *layout = (struct layout){0};
    memcpy(layout->host, host, strlen(host) + 1);
    return layout;
}

static size_t series_for(struct run *run, const char *host, const struct column *column)
{
    for (size_t i = 0; i < run->series_count; i++)
        if (strcmp(run->series[i].host, host) == 0 && strcmp(run->series[i].name, column->name) == 0)
            return i;
    struct series *all = realloc(run->series, (run->series_count + 1) * sizeof *all);
    if (!all)
        return SIZE_MAX;
    run->series = all;
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

static void append(struct series *series, int64_t time_ns, int64_t value)
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

/* `["a", time, read, values...]`: remove the host; the rest is a sample as the sampler printed it. */
static int take_sample(struct run *run, struct layouts *layouts, char *text, size_t length, struct error *e)
{
    char *quote = memchr(text + 2, '"', length - 2);
    struct line line;
    if (!quote || quote[1] != ',')
        return error_set(e, "a sample does not name a host");
    *quote = '\0';
    struct layout *layout = layout_of(layouts, text + 2, false);
    quote[1] = '[';
    if (lines_parse(quote + 1, length - (size_t)(quote + 1 - text), &line, e) != 0)
        return -1;
    for (size_t i = 0; layout && i < line.count && i < layout->count; i++)
        if (line.values[i] != LINES_NULL && layout->series[i] < run->series_count)
            append(&run->series[layout->series[i]], line.time_ns - run->start_ns, line.values[i]);
    lines_free_parsed(&line);
    return 0;
}

static int take_line(struct run *run, struct layouts *layouts, char *text, size_t length, struct error *e)
{
    struct line line;
    if (length > 2 && text[0] == '[' && text[1] == '"')
        return take_sample(run, layouts, text, length, e);
    if (lines_parse(text, length, &line, e) != 0)
        return -1;
    int result = line.kind == LINE_HEADER ? take_header(run, layouts, line.json, e) : 0;
    lines_free_parsed(&line);
    return result;
}

static FILE *open_beside(const struct run *run, const char *name)
{
    char *path = files_join(run->folder, name);
    FILE *file = path ? fopen(path, "re") : NULL;
    free(path);
    return file;
}

static int load_samples(struct run *run, struct error *e)
{
    struct layouts layouts = {0};
    char *text = NULL;
    size_t room = 0, number = 0;
    int result = 0;
    FILE *file = open_beside(run, "samples.jsonl");
    for (ssize_t length; file && result == 0 && (length = getline(&text, &room, file)) > 0;) {
        number++;
        if (text[length - 1] != '\n')
            break; /* the last line may be incomplete if the run was killed: use the complete ones */
        text[--length] = '\0';
        if (length && take_line(run, &layouts, text, (size_t)length, e) != 0)
            result = error_prefix(e, "%s/samples.jsonl:%zu", run->folder, number);
    }
    if (file)
        fclose(file);
    for (size_t i = 0; i < layouts.count; i++)
        free(layouts.items[i].series);
    free(layouts.items);
    free(text);
    return result;
}

static int load_pauses(struct run *run, struct error *e)
{
    char *text = NULL;
    size_t room = 0, capacity = 0;
    FILE *file = open_beside(run, "pauses.jsonl");
    while (file && getline(&text, &room, file) > 0 && run->pause_count < PAUSE_LIMIT) {
        struct pause pause;
        long long start, duration;
        if (sscanf(text, "[\"%63[^\"]\", %d, %lld, %lld]", pause.host, &pause.priority, &start, &duration) !=
            4)
            continue;
        pause.start_ns = start - run->start_ns;
        pause.duration_ns = duration;
        if (run->pause_count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            struct pause *pauses = realloc(run->pauses, capacity * sizeof *pauses);
            if (!pauses) {
                free(text);
                fclose(file);
                return error_set(e, "out of memory for %s/pauses.jsonl", run->folder);
            }
            run->pauses = pauses;
        }
        run->pauses[run->pause_count++] = pause;
    }
    if (file)
        fclose(file);
    free(text);
    return 0;
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
    run->series = NULL;
    run->pauses = NULL;
    run->series_count = run->pause_count = 0;
}

const struct series *run_find(const struct run *run, const struct series *from, const char *pattern)
{
    for (const struct series *s = from ? from + 1 : run->series; s < run->series + run->series_count; s++)
        if (fnmatch(pattern, s->name, 0) == 0)
            return s;
    return NULL;
}

bool run_moves(const struct run *run, const char *pattern)
{
    for (const struct series *s = NULL; (s = run_find(run, s, pattern));)
        for (size_t i = 1; i < s->count; i++)
            if (s->value[i] != s->value[0])
                return true;
    return false;
}
