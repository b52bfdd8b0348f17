#include "harness/labs/sim/completions.h"

#include "lib/document/json_text.h"
#include "lib/statistics/distribution.h"
#include "lib/xalloc.h"
#include <stdlib.h>

#define SIZE_GROUPS 10

void completions_add(struct completions *c, size_t number, int64_t bytes, int64_t start_ps,
                     int64_t finished_ps, double ideal_ps)
{
    double took_ps = (double)(finished_ps - start_ps);
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->all = xreallocarray(c->all, c->capacity, sizeof *c->all);
    }
    c->all[c->count++] = (struct completion){.bytes = bytes,
                                             .start_ps = start_ps,
                                             .ns = finished_ps < 0 ? -1 : took_ps / 1000,
                                             .slowdown = took_ps / ideal_ps,
                                             .number = number};
}

void completions_free(struct completions *c)
{
    free(c->all);
    *c = (struct completions){0};
}

/* The finished ones of the right time first, from the smallest to the largest flow. */
static int compare(const void *a, const void *b)
{
    const struct completion *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Groups of equally many flows, from the smallest to the largest flow. */
static json_t *slowdown_by_size(const struct completion *all, size_t count, double *scratch)
{
    json_t *groups = json_array();
    for (size_t g = 0; g < SIZE_GROUPS && count >= SIZE_GROUPS; g++) {
        size_t first = count * g / SIZE_GROUPS, end = count * (g + 1) / SIZE_GROUPS;
        for (size_t i = first; i < end; i++)
            scratch[i - first] = all[i].slowdown;
        json_t *group = json_make("{s:I,s:o}", "up_to_bytes", (json_int_t)all[end - 1].bytes, "slowdown",
                                  distribution_json(scratch, end - first));
        json_array_append_new(groups, group);
    }
    return groups;
}

/* The finished flows that began at from_ps or later move to the front; returns how many began then. */
static size_t choose(struct completions *c, int64_t from_ps, size_t *finished)
{
    size_t started = 0;
    *finished = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct completion one = c->all[i];
        if (one.start_ps < from_ps)
            continue;
        started++;
        if (one.ns < 0)
            continue;
        c->all[i] = c->all[*finished];
        c->all[(*finished)++] = one;
    }
    return started;
}

json_t *completions_json(struct completions *c, int64_t from_ps)
{
    size_t finished, started = choose(c, from_ps, &finished), earlier = c->count - started;
    if (!started) {
        started = choose(c, INT64_MIN, &finished);
        earlier = 0;
    }
    json_t *json =
        json_make("{s:{s:I,s:I}}", "flows", "started", (json_int_t)started, "finished", (json_int_t)finished);
    if (earlier)
        json_object_set_new(json_object_get(json, "flows"), "earlier", json_integer((json_int_t)earlier));
    if (!finished)
        return json;
    double *values = xcalloc(finished, sizeof *values);
    qsort(c->all, finished, sizeof *c->all, compare);
    json_object_set_new(json, "by_size", slowdown_by_size(c->all, finished, values));
    for (size_t i = 0; i < finished; i++)
        values[i] = c->all[i].ns;
    json_object_set_new(json, "completion_ns", distribution_json(values, finished));
    for (size_t i = 0; i < finished; i++)
        values[i] = c->all[i].slowdown;
    json_object_set_new(json, "slowdown", distribution_json(values, finished));
    free(values);
    return json;
}
