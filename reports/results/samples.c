/* samples.jsonl and pauses.jsonl of a run. */
#include "reports/results/run.h"

#include "lib/document/form.h"
#include "lib/document/json_text.h"
#include "reports/results/run_lines.h"
#include "reports/results/run_samples.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES   (FORM_ROLE_MOST + LINES_MAX_NAME + 2)
#define VALUES_KEPT (8u << 20) /* of all series together, 16 bytes each */
#define VALUES_EACH 1024       /* at least, of a series */
#define PAUSE_LIMIT 5000000    /* the most lines of pauses.jsonl that are drawn */
#define PAUSE_PLACE \
    (FORM_ROLE_MOST + 12) /* bytes of a role's name there, with a colon and the number of a port */

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
        return SAMPLES_LEFT_OUT;
    run->series = all;
    key_of(host, column->name, key, sizeof key);
    if (json_put(run->series_index, key, json_integer((json_int_t)run->series_count)) != 0)
        return SAMPLES_LEFT_OUT;
    all[run->series_count] = (struct series){.host = strdup(host),
                                             .name = strdup(column->name),
                                             .unit = strdup(column->unit),
                                             .group = strdup(column->group),
                                             .kind = column->kind};
    return run->series_count++;
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

static int take_column(void *to, const char *host, const struct column *column, size_t *number,
                       struct error *e)
{
    *number = series_for(to, host, column);
    return *number != SAMPLES_LEFT_OUT ? 0 : error_set(e, "out of memory for the column %s", column->name);
}

static int take_sample(void *to, const struct sample *sample, struct error *e)
{
    struct run *run = to;
    (void)e;
    for (size_t i = 0; i < sample->count; i++)
        if (sample->values[i] != LINES_NULL)
            append(run, &run->series[sample->columns[i]], sample->time_ns - run->start_ns, sample->values[i]);
    return 0;
}

static int load_samples(struct run *run, struct error *e)
{
    static const struct sample_taker taker = {take_column, take_sample};
    run->series_index = json_object();
    int result = run_each_sample(run, &taker, run, NULL, e);
    for (size_t i = 0; i < run->series_count; i++)
        push_group(&run->series[i]);
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

/* The name is kept once, as long as the run is. NULL: out of memory. */
static const char *keep_host(struct run *run, const char *host)
{
    void *at = json_object_iter_at(run->pause_hosts, host);
    if (!at && json_object_set_new_nocheck(run->pause_hosts, host, json_true()) == 0)
        at = json_object_iter_at(run->pause_hosts, host);
    return at ? json_object_iter_key(at) : NULL;
}

static int take_pause(void *to, char *text, size_t length, struct error *e)
{
    struct pause_reader *reader = to;
    struct pause_line line;
    if (reader->run->pause_count == PAUSE_LIMIT || run_pause_line(text, length, &line, NULL) != 0 ||
        strlen(line.where) > PAUSE_PLACE)
        return 0;
    struct pause pause = {.host = keep_host(reader->run, line.where),
                          .priority = line.priority,
                          .start_ns = line.start_ns - reader->run->start_ns,
                          .duration_ns = line.duration_ns,
                          .lasts = line.lasts};
    return pause.host && add_pause(reader->run, &reader->capacity, pause) ? 0 : error_set(e, "out of memory");
}

static int load_pauses(struct run *run, struct error *e)
{
    run->pause_hosts = json_object();
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
    json_decref(run->pause_hosts);
    run->series_index = run->pause_hosts = NULL;
    run->series = NULL;
    run->pauses = NULL;
    run->series_count = run->pause_count = 0;
}
