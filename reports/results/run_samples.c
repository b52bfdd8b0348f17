#include "reports/results/run_samples.h"

#include "lib/document/form.h"
#include "lib/document/json_text.h"
#include "reports/results/run_lines.h"
#include <stdlib.h>
#include <string.h>

/* The columns of a host as its latest header has them, by their numbers. */
struct layout {
    size_t *columns;
    size_t count;
};

struct reader {
    const struct sample_taker *taker;
    void *to;
    struct layout *layouts;
    size_t count, capacity;
    json_t *index; /* host -> number of the layout */
    uint64_t left_out;
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
    r->layouts[r->count] = (struct layout){0};
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
        return -1;
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

static int take_sample(struct reader *r, char *text, size_t length, struct error *e)
{
    const char *host;
    struct line line;
    if (run_sample_line(text, length, &host, &line, e) != 0)
        return -1;
    const struct layout *layout = layout_of(r, host, false);
    int result = 0;
    r->left_out += !layout;
    if (layout) {
        const struct sample sample = {line.time_ns, layout->columns, line.values,
                                      line.count < layout->count ? line.count : layout->count};
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
        return take_sample(r, text, length, e);
    if (lines_parse(text, length, &line, e) != 0)
        return -1;
    int result = line.kind == LINE_HEADER ? take_header(r, line.json, e) : 0;
    lines_free_parsed(&line);
    return result;
}

int run_each_sample(const struct run *run, const struct sample_taker *taker, void *to, uint64_t *left_out,
                    struct error *e)
{
    struct reader r = {.taker = taker, .to = to, .index = json_object()};
    int result = r.index ? run_each_line(run, "samples.jsonl", take_line, &r, e)
                         : error_set(e, "out of memory for %s/samples.jsonl", run->folder);
    for (size_t i = 0; i < r.count; i++)
        free(r.layouts[i].columns);
    free(r.layouts);
    json_decref(r.index);
    if (left_out)
        *left_out = r.left_out;
    return result;
}
