/* Roles that are not listed: totals of their counters, and the columns that expectations read. */
#include "harness/record/recorder_parts.h"
#include "lib/document/json_text.h"
#include "lib/roce/counters.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The counters among the columns of roles: those of roles that are not listed are mostly the same. */
struct layout {
    struct layout *next;
    size_t values; /* of a sample */
    struct column *columns;
    size_t *places; /* of each counter among the values */
    size_t count;
};

/* A counter of a role that is not listed. LINES_NULL: it was not read. */
struct plain {
    int64_t seen_first, seen_last; /* of the run */
    int64_t first, last;           /* at the ends of the measure phase */
};

#define MOST_LAYOUTS 64 /* of a host: what it prints cannot fill the memory */

/* ---- which */

void recorder_unlist(struct recorder *r, size_t role)
{
    r->hosts[role].unlisted = true;
}

void recorder_list(struct recorder *r, size_t role)
{
    r->hosts[role].unlisted = false;
}

bool recorder_lists(const struct recorder *r, size_t role)
{
    return !r->hosts[role].unlisted;
}

bool recorder_keeps(const struct recorder *r, size_t role)
{
    return !r->hosts[role].unlisted || r->hosts[role].count;
}

int recorder_keep(struct recorder *r, const char *role_glob, const char *counter_glob, const char *key,
                  struct error *e)
{
    struct kept *grown = realloc(r->kept, (r->kept_count + 1) * sizeof *grown);
    if (!grown)
        return error_set(e, "out of memory");
    r->kept = grown;
    grown[r->kept_count] = (struct kept){strdup(role_glob), strdup(counter_glob), key};
    r->kept_count++;
    return grown[r->kept_count - 1].role && grown[r->kept_count - 1].counter ? 0
                                                                             : error_set(e, "out of memory");
}

static bool is_kept(const struct recorder *r, const struct recorded_host *host, const char *name)
{
    for (size_t i = 0; i < r->kept_count; i++)
        if (fnmatch(r->kept[i].role, host->role, 0) == 0 && fnmatch(r->kept[i].counter, name, 0) == 0)
            return true;
    return false;
}

/* ---- columns */

static bool is_same(const struct layout *layout, const struct column *columns, size_t count)
{
    size_t counters = 0;
    if (layout->values != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (columns[i].kind != COLUMN_COUNTER)
            continue;
        if (counters == layout->count || layout->places[counters] != i ||
            strcmp(layout->columns[counters].name, columns[i].name) != 0 ||
            strcmp(layout->columns[counters].source, columns[i].source) != 0)
            return false;
        counters++;
    }
    return counters == layout->count;
}

static int copy_column(struct column *to, const struct column *from)
{
    *to = (struct column){strdup(from->name), strdup(from->unit), strdup(from->source), strdup(from->group),
                          from->kind};
    return to->name && to->unit && to->source && to->group ? 0 : -1;
}

static struct layout *make_layout(struct recorder *r, const struct column *columns, size_t count)
{
    struct layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return NULL;
    layout->next = r->layouts;
    r->layouts = layout;
    layout->values = count;
    layout->columns = calloc(count + 1, sizeof *layout->columns);
    layout->places = calloc(count + 1, sizeof *layout->places);
    for (size_t i = 0; layout->columns && layout->places && i < count; i++) {
        if (columns[i].kind != COLUMN_COUNTER)
            continue;
        layout->places[layout->count] = i;
        if (copy_column(&layout->columns[layout->count++], &columns[i]) != 0)
            return NULL;
    }
    return layout->columns && layout->places ? layout : NULL;
}

static int open_plain(struct recorder *r, struct recorded_host *host, const struct column *columns,
                      size_t count, struct error *e)
{
    struct layout *layout = r->layouts;
    while (layout && !is_same(layout, columns, count))
        layout = layout->next;
    if (layout && host->plain && layout == host->layout)
        return 0; /* the header was repeated */
    if (host->plain)
        recorder_warn(r, "%s: its columns changed during the run: its part of the totals begins there",
                      host->role);
    free(host->plain);
    host->plain = NULL;
    if (host->layouts >= MOST_LAYOUTS)
        return error_set(e, "%s: its columns changed more than %d times", host->role, MOST_LAYOUTS);
    host->layouts++;
    host->layout = layout ? layout : make_layout(r, columns, count);
    host->plain = host->layout ? calloc(host->layout->count + 1, sizeof *host->plain) : NULL;
    for (size_t i = 0; host->plain && i < host->layout->count; i++)
        host->plain[i] = (struct plain){LINES_NULL, LINES_NULL, LINES_NULL, LINES_NULL};
    return host->plain ? 0 : error_set(e, "out of memory");
}

int recorder_unlisted_columns(struct recorder *r, struct recorded_host *host, const struct column *columns,
                              size_t count, struct error *e)
{
    size_t *slots = calloc(count + 1, sizeof *slots);
    free(host->slots);
    host->slots = slots;
    host->slot_count = 0;
    if (!slots)
        return error_set(e, "out of memory");
    if (open_plain(r, host, columns, count, e) != 0)
        return -1;
    host->slot_count = count;
    for (size_t i = 0; i < count; i++) {
        struct column copy;
        slots[i] = SIZE_MAX;
        if (!is_kept(r, host, columns[i].name))
            continue;
        bool copied = copy_column(&copy, &columns[i]) == 0;
        slots[i] = copied ? recorder_find_column(host, &copy) : SIZE_MAX;
        lines_free_column(&copy);
        if (!copied)
            return error_set(e, "out of memory");
    }
    return 0;
}

void recorder_unlisted_sample(const struct recorder *r, struct recorded_host *host, int64_t time_ns,
                              const int64_t *values)
{
    const struct layout *layout = host->layout;
    bool begins = time_ns <= r->start_ns || !host->samples;
    for (size_t i = 0; i < layout->count; i++) {
        struct plain *p = &host->plain[i];
        int64_t value = values[layout->places[i]];
        if (value == LINES_NULL)
            continue;
        if (p->seen_first == LINES_NULL)
            p->seen_first = value;
        p->seen_last = value;
        if (host->closed)
            continue;
        if (begins || p->first == LINES_NULL)
            p->first = value;
        p->last = value;
    }
    host->first_ns = begins ? time_ns : host->first_ns;
    host->last_ns = host->closed ? host->last_ns : time_ns;
    host->closed = time_ns >= r->end_ns;
}

void recorder_free_unlisted(struct recorder *r)
{
    for (struct layout *layout = r->layouts, *next; layout; layout = next) {
        next = layout->next;
        lines_free_columns(layout->columns, layout->count);
        free(layout->places);
        free(layout);
    }
    for (size_t i = 0; i < r->kept_count; i++) {
        free(r->kept[i].role);
        free(r->kept[i].counter);
    }
    free(r->kept);
}

/* ---- summaries */

json_t *recorder_kept_summary(const struct recorder *r, const struct recorded_host *host, const char *name,
                              const json_t *whole)
{
    json_t *json = json_object();
    json_object_set(json, "unit", json_object_get(whole, "unit"));
    for (size_t i = 0; i < r->kept_count; i++)
        if (fnmatch(r->kept[i].role, host->role, 0) == 0 && fnmatch(r->kept[i].counter, name, 0) == 0 &&
            json_object_get(whole, r->kept[i].key))
            json_object_set(json, r->kept[i].key, json_object_get(whole, r->kept[i].key));
    return json;
}

/* ---- totals */

/* A counter of all roles together. */
struct total {
    const struct column *column;
    int64_t delta, total, most;
    double rate_per_s;
    const char *most_at; /* the role with the largest increase; NULL: none increased */
};

struct totals {
    json_t *index; /* name -> place in items */
    struct total *items;
    size_t count;
};

/* NULL: it is a port's part of what its switch counts, or memory ran out. */
static struct total *total_of(struct totals *t, const struct column *column)
{
    const json_t *index = json_object_get(t->index, column->name);
    if (index)
        return &t->items[json_integer_value(index)];
    if (counters_of_port(column->name))
        return NULL;
    struct total *grown = realloc(t->items, (t->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    t->items = grown;
    grown[t->count] = (struct total){.column = column};
    json_object_set_new(t->index, column->name, json_integer((json_int_t)t->count));
    return &t->items[t->count++];
}

static void add_to(struct total *t, const char *role, int64_t delta, int64_t total, int64_t duration_ns)
{
    t->delta = recorder_sum(t->delta, delta);
    t->total = recorder_sum(t->total, total);
    t->rate_per_s += duration_ns > 0 ? (double)delta * 1e9 / (double)duration_ns : 0;
    if (delta <= t->most)
        return;
    t->most = delta;
    t->most_at = role;
}

static void add_listed(struct totals *t, const struct recorded_host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        const struct recorded_column *g = &host->gathered[i];
        struct total *total = g->any && g->column.kind == COLUMN_COUNTER ? total_of(t, &g->column) : NULL;
        if (total)
            add_to(total, host->role, g->delta, g->total, g->last_ns - g->first_ns);
    }
}

static int64_t increase(int64_t from, int64_t to)
{
    return to > from && from != LINES_NULL ? to - from : 0;
}

static void add_unlisted(struct totals *t, const struct recorded_host *host)
{
    const struct layout *layout = host->layout;
    for (size_t i = 0; layout && i < layout->count; i++) {
        const struct plain *p = &host->plain[i];
        struct total *total = p->seen_first == LINES_NULL ? NULL : total_of(t, &layout->columns[i]);
        if (total)
            add_to(total, host->role, increase(p->first, p->last), increase(p->seen_first, p->seen_last),
                   host->last_ns - host->first_ns);
    }
}

static json_t *total_json(const struct total *t)
{
    json_t *json =
        json_make("{s:s,s:s,s:s,s:s,s:I,s:I,s:f}", "unit", t->column->unit, "kind", "counter", "source",
                  t->column->source, "group", t->column->group, "delta", (json_int_t)t->delta, "total",
                  (json_int_t)t->total, "rate_per_s", t->rate_per_s);
    if (t->most_at)
        json_object_set_new(json, "most",
                            json_make("{s:s,s:I}", "role", t->most_at, "delta", (json_int_t)t->most));
    return json;
}

json_t *recorder_totals(const struct recorder *r)
{
    struct totals t = {.index = json_object()};
    size_t listed = 0;
    json_t *counters = json_object();
    for (size_t i = 0; i < r->host_count; i++) {
        listed += !r->hosts[i].unlisted;
        if (r->hosts[i].unlisted)
            add_unlisted(&t, &r->hosts[i]);
        else
            add_listed(&t, &r->hosts[i]);
    }
    for (size_t i = 0; i < t.count; i++)
        json_object_set_new(counters, t.items[i].column->name, total_json(&t.items[i]));
    json_decref(t.index);
    free(t.items);
    return json_make("{s:I,s:I,s:o}", "roles", (json_int_t)r->host_count, "listed", (json_int_t)listed,
                     "counters", counters);
}
