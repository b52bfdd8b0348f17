#include "reports/results/lines.h"

#include "lib/document/form.h"
#include "lib/document/json_text.h"
#include "lib/interrupt.h"
#include "lib/log.h"
#include "reports/results/run.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRIORITIES    8
#define LINES_AT_ONCE 64 /* between two looks for a signal that waits */

/* A file of the run; NULL without a failure if it does not exist, or is none that is read: that is noted. */
static int open_beside(struct run *run, const char *name, FILE **file, struct error *e)
{
    struct folder folder;
    int result = run_open_folder(run, &folder, e), fd = result == 0 ? folder_open_file(&folder, name, e) : -1;
    if (result == 0 && fd < 0 && errno != ENOENT)
        run_note_damage(run, e->text);
    *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !*file) {
        close(fd);
        result = error_set(e, "out of memory for %s/%s", run->folder, name);
    }
    folder_close(&folder);
    return result;
}

/* Its sentence, with that of the first line. */
static void note_damaged(struct run *run, const char *name, size_t number, const struct error *first,
                         size_t count)
{
    struct text words = {0};
    text_add(&words, "%s:%zu: %s", name, number, first->text);
    if (count > 1)
        text_add(&words, " (and %zu more %s)", count - 1, count == 2 ? "line" : "lines");
    if (count)
        run_note_damage(run, text_string(&words));
    text_free(&words);
}

int run_each_line(struct run *run, const char *name, run_take_line *take, void *to, struct error *e)
{
    size_t number = 0, damaged = 0, first_at = 0;
    struct error first;
    FILE *file;
    int result = open_beside(run, name, &file, e);
    char *text = file ? malloc(LINES_MAX_LENGTH + 1) : NULL;
    if (file && !text)
        result = error_set(e, "out of memory for %s/%s", run->folder, name);
    for (size_t length; text && result == 0 && lines_next(file, text, &length);) {
        number++;
        if (length > LINES_MAX_LENGTH) {
            error_set(e, "a line has more than %d bytes", LINES_MAX_LENGTH);
            result = LINE_DAMAGED;
        } else if (length) {
            result = take(to, text, length, e);
        }
        if (result == LINE_DAMAGED) {
            first = damaged ? first : *e;
            first_at = damaged++ ? first_at : number;
            result = 0;
        }
        if (result != 0)
            error_prefix(e, "%s/%s:%zu", run->folder, name, number);
        else if (number % LINES_AT_ONCE == 0)
            result = interrupt_check(e);
    }
    note_damaged(run, name, first_at, &first, damaged);
    if (file && ferror(file) && result == 0)
        result = error_set_errno(e, errno, "reading %s/%s", run->folder, name);
    if (file)
        fclose(file);
    free(text);
    return result;
}

/* ---- samples.jsonl */

/* samples.jsonl: is it `["a", time_ns, read_ns, values...]`? Other lines are objects
 * (lib/formats/lines.h). */
static bool run_is_sample(const char *text, size_t length)
{
    return length > 2 && text[0] == '[' && text[1] == '"';
}

/* Without the host, the rest is a sample as the sampler printed it. `host` points into the text; the caller
 * frees the line. */
static int run_sample_line(char *text, size_t length, const char **host, struct line *line, struct error *e)
{
    char *quote = memchr(text + 2, '"', length - 2);
    if (!quote || quote[1] != ',') {
        error_set(e, "a sample does not name a host");
        return LINE_DAMAGED;
    }
    *quote = '\0';
    *host = text + 2;
    quote[1] = '[';
    return lines_parse(quote + 1, length - (size_t)(quote + 1 - text), line, e) == 0 ? 0 : LINE_DAMAGED;
}

/* ---- pauses.jsonl */

/* The text is terminated, so a character that is not the expected one ends the search. */
static bool take_character(char **at, char wanted)
{
    *at += strspn(*at, " \t\r");
    if (**at != wanted)
        return false;
    ++*at;
    return true;
}

static bool take_whole(char **at, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    *at += strspn(*at, " \t\r");
    if ((**at < '0' || **at > '9') && **at != '-')
        return false;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    bool fits = errno == 0 && end > *at && *value >= least && *value <= most;
    *at = end;
    return fits;
}

static bool take_true(char **at)
{
    *at += strspn(*at, " \t\r");
    if (strncmp(*at, "true", 4) != 0)
        return false;
    *at += 4;
    return true;
}

static bool parse_pause(char *at, struct pause_line *line)
{
    int64_t priority;
    if (!take_character(&at, '[') || !take_character(&at, '"'))
        return false;
    line->where = at;
    at += strcspn(at, "\"\\");
    char *quote = at;
    if (quote == line->where || !take_character(&at, '"') || !take_character(&at, ',') ||
        !take_whole(&at, 0, PRIORITIES - 1, &priority) || !take_character(&at, ',') ||
        !take_whole(&at, -LINES_MOST, LINES_MOST, &line->start_ns) || !take_character(&at, ',') ||
        !take_whole(&at, 0, LINES_MOST - (line->start_ns > 0 ? line->start_ns : 0), &line->duration_ns))
        return false;
    line->lasts = take_character(&at, ',');
    if ((line->lasts && !take_true(&at)) || !take_character(&at, ']') || at[strspn(at, " \t\r")])
        return false;
    *quote = '\0';
    line->priority = (int)priority;
    return true;
}

int run_pause_line(char *text, size_t length, struct pause_line *line, struct error *e)
{
    *line = (struct pause_line){0};
    if (!memchr(text, '\0', length) && parse_pause(text, line))
        return 0;
    error_set(e,
              "a pause is damaged: \"%.*s\": expected [\"HOST\", PRIORITY, START_NS, DURATION_NS], "
              "and perhaps true",
              (int)(length < 60 ? length : 60), text);
    return LINE_DAMAGED;
}

/* ---- samples.jsonl, sample by sample */

/* The columns of a host as its latest header has them, by their numbers. */
struct layout {
    size_t *columns; /* NULL: it is damaged, and nobody knows what the values are that follow */
    size_t count;
    int64_t time_ns; /* of the latest sample */
};

struct reader {
    const struct sample_taker *taker;
    void *to;
    struct layout *layouts;
    size_t count, capacity;
    json_t *index; /* host -> number of the layout */
    struct samples_odd odd;
};

static struct layout *layout_of(struct reader *r, const char *host, bool make)
{
    const json_t *index = json_object_get(r->index, host);
    if (index)
        return &r->layouts[json_integer_value(index)];
    if (!make || strlen(host) > FORM_ROLE_MOST)
        return NULL;
    if (r->count == r->capacity) {
        size_t larger = r->capacity ? 2 * r->capacity : 16;
        struct layout *layouts = realloc(r->layouts, larger * sizeof *layouts);
        if (!layouts)
            return NULL;
        r->layouts = layouts;
        r->capacity = larger;
    }
    if (json_put(r->index, host, json_integer((json_int_t)r->count)) != 0)
        return NULL;
    r->layouts[r->count] = (struct layout){.time_ns = -LINES_MOST};
    return &r->layouts[r->count++];
}

static int number_columns(const struct reader *r, const char *host, const struct column *columns,
                          size_t count, size_t *numbers, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (r->taker->column(r->to, host, &columns[i], &numbers[i], e) != 0)
            return -1;
    return 0;
}

static int take_header(struct reader *r, const json_t *header, struct error *e)
{
    const char *host = json_string_value(json_object_get(header, "host"));
    struct column *columns;
    size_t count;
    if (lines_columns(header, &columns, &count, e) != 0)
        return LINE_DAMAGED;
    struct layout *layout = host ? layout_of(r, host, true) : NULL;
    size_t *numbers = layout ? calloc(count + 1, sizeof *numbers) : NULL;
    int result = -1;
    if (!layout || !numbers)
        error_set(e, "a header does not name a host of at most %d bytes, or out of memory", FORM_ROLE_MOST);
    else
        result = number_columns(r, host, columns, count, numbers, e);
    if (layout && result == 0) {
        free(layout->columns);
        layout->columns = numbers;
        layout->count = count;
    } else {
        free(numbers);
    }
    lines_free_columns(columns, count);
    return result;
}

static void forget_layouts(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->layouts[i].columns);
        r->layouts[i].columns = NULL;
    }
}

static int pass_sample(struct reader *r, char *text, size_t length, struct error *e)
{
    const char *host = NULL;
    struct line line = {0};
    int result = run_sample_line(text, length, &host, &line, e);
    if (result != 0)
        return result;
    struct layout *layout = layout_of(r, host, false);
    bool known = layout && layout->columns;
    r->odd.left_out += !known;
    if (known && line.count != layout->count) {
        error_set(e, "a sample has %zu values, its header %zu columns", line.count, layout->count);
        result = LINE_DAMAGED;
    } else if (known) {
        const struct sample sample = {line.time_ns, layout->columns, line.values, line.count,
                                      line.time_ns < layout->time_ns};
        r->odd.back += sample.back;
        layout->time_ns = line.time_ns;
        result = r->taker->sample(r->to, &sample, e);
    }
    lines_free_parsed(&line);
    return result;
}

static int take_line(void *to, char *text, size_t length, struct error *e)
{
    struct reader *r = to;
    struct line line;
    if (run_is_sample(text, length))
        return pass_sample(r, text, length, e);
    int result = lines_parse(text, length, &line, e) != 0 ? LINE_DAMAGED
                 : line.kind == LINE_HEADER               ? take_header(r, line.json, e)
                                                          : 0;
    if (result == LINE_DAMAGED && strstr(text, "header"))
        forget_layouts(r);
    lines_free_parsed(&line);
    return result;
}

int run_each_sample(struct run *run, const struct sample_taker *taker, void *to, struct samples_odd *odd,
                    struct error *e)
{
    struct reader r = {.taker = taker, .to = to, .index = json_object()};
    int result = r.index ? run_each_line(run, "samples.jsonl", take_line, &r, e)
                         : error_set(e, "out of memory for %s/samples.jsonl", run->folder);
    forget_layouts(&r);
    free(r.layouts);
    json_decref(r.index);
    *odd = r.odd;
    return result;
}

/* ---- what drawings over time keep of samples and pauses */

/* samples.jsonl and pauses.jsonl of a run. */

#define KEY_BYTES   (FORM_ROLE_MOST + LINES_MAX_NAME + 2)
#define VALUES_KEPT (8u << 20) /* of all series together, 16 bytes each */
#define VALUES_EACH 1024       /* at least, of a series */
#define PAUSE_LIMIT 5000000    /* the most lines of pauses.jsonl that are drawn */
#define PAUSE_PLACE \
    (FORM_ROLE_MOST + 12) /* bytes of a role's name there, with a colon and the number of a port */

/* What identifies a series. */
static void series_key(const char *host, const char *name, char *key, size_t size)
{
    snprintf(key, size, "%s\n%s", host, name);
}

const struct series *run_series(const struct run *run, const char *host, const char *name)
{
    char key[KEY_BYTES];
    series_key(host, name, key, sizeof key);
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
    series_key(host, column->name, key, sizeof key);
    if (json_put(run->series_index, key, json_integer((json_int_t)run->series_count)) != 0)
        return SAMPLES_LEFT_OUT;
    all[run->series_count] = (struct series){.host = strdup(host),
                                             .name = strdup(column->name),
                                             .unit = strdup(column->unit),
                                             .group = strdup(column->group),
                                             .kind = column->kind};
    return run->series_count++;
}

/* Keep the least and the greatest of each four values in order: extremes survive any number of times, and of
 * a counter so do the first and the last. */
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

static int keep_sample(void *to, const struct sample *sample, struct error *e)
{
    struct run *run = to;
    (void)e;
    for (size_t i = 0; i < sample->count && !sample->back; i++)
        if (sample->values[i] != LINES_NULL)
            append(run, &run->series[sample->columns[i]], sample->time_ns - run->start_ns, sample->values[i]);
    return 0;
}

static int load_samples(struct run *run, struct error *e)
{
    static const struct sample_taker taker = {take_column, keep_sample};
    run->series_index = json_object();
    int result = run_each_sample(run, &taker, run, &run->samples_odd, e);
    if (run->samples_odd.back)
        log_warning("%s: %" PRIu64 " samples " SAMPLES_BACK, run->folder, run->samples_odd.back);
    for (size_t i = 0; i < run->series_count; i++)
        push_group(&run->series[i]);
    return result;
}

/* A line of pauses.jsonl. */
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
    if (run_pause_line(text, length, &line, e) != 0)
        return LINE_DAMAGED;
    if (reader->run->pause_count == PAUSE_LIMIT || strlen(line.where) > PAUSE_PLACE) {
        reader->run->pauses_left_out++;
        return 0;
    }
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

/* What reads the flows' lines later is to know before whether they are whole. */
static int look_at_line(void *to, char *text, size_t length, struct error *e)
{
    struct line line;
    int result = lines_parse(text, length, &line, e) == 0 ? 0 : LINE_DAMAGED;
    (void)to;
    lines_free_parsed(&line);
    return result;
}

int run_load_samples(struct run *run, struct error *e)
{
    json_decref(run_load_settings(run));
    return load_samples(run, e) == 0 && load_pauses(run, e) == 0 &&
                   run_each_line(run, "flows.jsonl", look_at_line, NULL, e) == 0
               ? 0
               : -1;
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
