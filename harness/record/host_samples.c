#include "harness/record/recorded.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/names/range.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS LINES_MAX_COLUMNS /* of a host in a run: a sampler's later headers may add some */
#define MOST_LAYOUTS 64                /* of a host: what it prints cannot fill the memory */

/* ---- columns */

/* The place of a column in `gathered`, where it is added when it is new, and then its strings are taken over;
 * SIZE_MAX when there is no room. */
static size_t host_find_column(struct recorded_host *host, struct column *column)
{
    char key[2 * LINES_MAX_NAME + 2];
    snprintf(key, sizeof key, "%s\n%s", column->source, column->name);
    const json_t *index = json_object_get(host->index, key);
    if (index)
        return (size_t)json_integer_value(index);
    if (host->count >= MOST_COLUMNS)
        return SIZE_MAX;
    if ((host->count & (host->count - 1)) == 0) /* the array doubles, so that growing stays linear */
        host->gathered =
            xreallocarray(host->gathered, host->count ? 2 * host->count : 1, sizeof *host->gathered);
    bool second = json_object_get(host->names, column->name);
    json_object_set_new(host->index, key, json_integer((json_int_t)host->count));
    json_object_set_new(host->names, column->name, json_true());
    host->gathered[host->count] = (struct recorded_column){.column = *column, .second = second};
    *column = (struct column){0}; /* its strings are freed with the recorder now */
    return host->count++;
}

static void column_add_counter(struct recorder *r, const struct recorded_host *host,
                               struct recorded_column *g, int64_t time_ns, int64_t value)
{
    if (g->seen && value != g->seen_last)
        g->total = recorded_sum(g->total, value > g->seen_last ? value - g->seen_last : value);
    g->seen = true;
    g->seen_last = value;
    if (time_ns <= r->start_ns)
        g->before = g->total;
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
    if (value != g->previous) /* most stand still */
        g->delta = recorded_sum(g->delta, value > g->previous ? value - g->previous : value);
    g->last = g->previous = value;
    g->last_ns = time_ns;
    g->closed = time_ns >= r->end_ns;
}

int64_t recorded_later_ns(int64_t time_ns, int64_t than_ns)
{
    if (time_ns <= than_ns)
        return 0;
    return than_ns < 0 && time_ns > INT64_MAX + than_ns ? INT64_MAX : time_ns - than_ns;
}

int64_t recorded_long_gap_ns(const struct recorder *r, const struct recorded_host *host, int64_t gap_ns)
{
    return gap_ns / 2 > host->every_ns && gap_ns > (r->end_ns - r->start_ns) / 10 ? gap_ns : 0;
}

static void column_add_gauge(const struct recorder *r, const struct recorded_host *host,
                             struct recorded_column *g, int64_t time_ns, int64_t value)
{
    if (time_ns < r->start_ns || time_ns > r->end_ns)
        return;
    g->unread_ns = recorded_sum(
        g->unread_ns,
        recorded_long_gap_ns(r, host, recorded_later_ns(time_ns, g->inside ? g->last_ns : r->start_ns)));
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

/* ---- roles that are not listed: totals of their counters, and the columns that expectations read */

static bool column_is_kept(const struct recorder *r, const struct recorded_host *host, const char *name)
{
    for (size_t i = 0; i < r->kept_count; i++)
        if (name_matches(r->kept[i].role, host->role) && glob_matches(r->kept[i].counter, name))
            return true;
    return false;
}

static bool layout_fits(const struct layout *layout, const struct column *columns, size_t count)
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

static struct column copy_of_column(const struct column *from)
{
    return (struct column){xstrdup(from->name), xstrdup(from->unit), xstrdup(from->source),
                           xstrdup(from->group), from->kind};
}

static struct layout *layout_make(struct recorder *r, const struct column *columns, size_t count)
{
    struct layout *layout = xcalloc(1, sizeof *layout);
    layout->next = r->layouts;
    r->layouts = layout;
    layout->values = count;
    layout->columns = xcalloc(count + 1, sizeof *layout->columns);
    layout->places = xcalloc(count + 1, sizeof *layout->places);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].kind != COLUMN_COUNTER)
            continue;
        layout->places[layout->count] = i;
        layout->columns[layout->count++] = copy_of_column(&columns[i]);
    }
    return layout;
}

static int host_choose_layout(struct recorder *r, struct recorded_host *host, const struct column *columns,
                              size_t count, struct error *e)
{
    struct layout *layout = r->layouts;
    while (layout && !layout_fits(layout, columns, count))
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
    host->layout = layout ? layout : layout_make(r, columns, count);
    host->plain = xcalloc(host->layout->count + 1, sizeof *host->plain);
    for (size_t i = 0; i < host->layout->count; i++)
        host->plain[i] = (struct plain){LINES_NULL, LINES_NULL, LINES_NULL, LINES_NULL};
    return 0;
}

static int host_take_unlisted_columns(struct recorder *r, struct recorded_host *host,
                                      const struct column *columns, size_t count, struct error *e)
{
    free(host->slots);
    host->slots = xcalloc(count + 1, sizeof *host->slots);
    host->slot_count = 0;
    if (host_choose_layout(r, host, columns, count, e) != 0)
        return -1;
    host->slot_count = count;
    for (size_t i = 0; i < count; i++) {
        host->slots[i] = SIZE_MAX;
        if (!column_is_kept(r, host, columns[i].name))
            continue;
        struct column copy = copy_of_column(&columns[i]);
        host->slots[i] = host_find_column(host, &copy);
        lines_free_column(&copy);
    }
    return 0;
}

static void host_take_unlisted_sample(const struct recorder *r, struct recorded_host *host, int64_t time_ns,
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

/* ---- lines of samplers */

/* Once for each that is new. */
static void host_warn_of_second_columns(struct recorder *r, const struct recorded_host *host, size_t known)
{
    for (size_t i = known; i < host->count; i++)
        if (host->gathered[i].second)
            recorder_warn(r, "%s: two sources have a column %s: what %s has of it is in the samples alone",
                          host->role, host->gathered[i].column.name, host->gathered[i].column.source);
}

static int host_take_header(struct recorder *r, struct recorded_host *host, const json_t *header,
                            struct error *e)
{
    struct column *columns;
    size_t count;
    const char *program = json_string_value(json_object_get(header, "program"));
    if (lines_columns(header, &columns, &count, e) != 0)
        return error_prefix(e, "%s: a header of the sampler", host->role);
    const json_t *every = json_object_get(header, "every_ns");
    if (json_integer_value(every) > 0)
        host->every_ns = json_integer_value(every);
    host->says_end = program && strcmp(program, "nic-sampler") == 0;
    if (host->unlisted) {
        int result = host_take_unlisted_columns(r, host, columns, count, e);
        lines_free_columns(columns, count);
        return result;
    }
    size_t *slots = xcalloc(count + 1, sizeof *slots), lost = 0, known = host->count;
    for (size_t i = 0; i < count; i++) {
        slots[i] = host_find_column(host, &columns[i]);
        lost += slots[i] == SIZE_MAX;
    }
    lines_free_columns(columns, count);
    if (lost)
        recorder_warn(r, "%s: %zu columns are left out: more than %d different ones", host->role, lost,
                      MOST_COLUMNS);
    host_warn_of_second_columns(r, host, known);
    free(host->slots);
    host->slots = slots;
    host->slot_count = count;
    return 0;
}

static int host_check_counters(const struct recorded_host *host, const struct line *line, struct error *e)
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

static void host_warn_of_clock(struct recorder *r, struct recorded_host *host, int64_t time_ns)
{
    if (host->samples && time_ns < host->latest_ns && !host->went_back)
        recorder_warn(r, "%s: the clock of its samples went back by %" PRId64 " ns: was it set?", host->role,
                      host->latest_ns - time_ns);
    host->went_back = host->went_back || time_ns < host->latest_ns;
}

/* A sample, of text or not; into the file as it was read, with the role, and the time on the run's clock. */
static int host_take_sample(struct recorder *r, struct recorded_host *host, const struct line *line,
                            struct error *e)
{
    int64_t time_ns = line->time_ns;
    if (recorded_host_to_run_clock(host, &time_ns, e) != 0)
        return -1;
    if (!host->headed && !host->unlisted)
        return error_set(e, "%s: a sample came without a header, which names its columns", host->role);
    if (line->count != host->slot_count)
        return error_set(e, "%s: a sample has %zu values, its header %zu columns", host->role, line->count,
                         host->slot_count);
    if (host_check_counters(host, line, e) != 0)
        return -1;
    host_warn_of_clock(r, host, time_ns);
    for (size_t i = 0; i < line->count; i++) {
        if (line->values[i] == LINES_NULL || host->slots[i] == SIZE_MAX)
            continue;
        struct recorded_column *g = &host->gathered[host->slots[i]];
        if (g->column.kind == COLUMN_COUNTER)
            column_add_counter(r, host, g, time_ns, line->values[i]);
        else
            column_add_gauge(r, host, g, time_ns, line->values[i]);
    }
    if (host->unlisted && host->plain)
        host_take_unlisted_sample(r, host, time_ns, line->values);
    host->samples++;
    host->latest_ns = time_ns;
    host->read_sum_ns += (double)line->read_ns;
    if (line->read_ns > host->read_max_ns)
        host->read_max_ns = line->read_ns;
    if (!host->unlisted)
        lines_write_sample_of(r->samples.stream, host->role, time_ns, line->read_ns, line->values,
                              line->count);
    return 0;
}

static int host_write(const struct recorder *r, const struct recorded_host *host, const json_t *object,
                      struct error *e)
{
    if (host->unlisted || lines_write_object(r->samples.stream, object) == 0 || errno != EMSGSIZE)
        return 0;
    return error_set(e, "%s: a line of the sampler has more than %d bytes, with its host", host->role,
                     LINES_MAX_LENGTH);
}

static int host_take_object(struct recorder *r, struct recorded_host *host, const struct line *line,
                            struct error *e)
{
    const char *what = json_string_value(json_object_get(line->json, "what"));
    const char *text = json_string_value(json_object_get(line->json, "text"));
    if (recorded_host_shift_time(host, line->json, e) != 0)
        return -1;
    json_object_set_new(line->json, "host", json_text(host->role));
    if (line->kind == LINE_HEADER) {
        host->headed =
            host_take_header(r, host, line->json, e) == 0 && host_write(r, host, line->json, e) == 0;
        if (!host->headed) /* nobody knows what the values are that follow */
            host->slot_count = 0;
        return host->headed ? 0 : -1;
    }
    if (host_write(r, host, line->json, e) != 0)
        return -1;
    bool overrun = line->kind == LINE_EVENT && what && strcmp(what, "overrun") == 0;
    if (line->kind == LINE_EVENT && what && !overrun)
        recorder_warn(r, "%s: %.*s: %.*s", host->role, recorded_words(what), what, recorded_words(text),
                      text ? text : "");
    if (overrun || line->kind == LINE_END) /* both have all up to now */
        host->overruns = (uint64_t)json_integer_value(json_object_get(line->json, "overruns"));
    if (line->kind == LINE_END) {
        host->ended = true;
        host->cpu_ns = json_integer_value(json_object_get(line->json, "cpu_ns"));
    }
    return 0;
}

/* A program of a host that was taken over could fill the disk. Honest hosts are far from it: a sampler's
 * samples follow from its interval, and the lines of a flow from the number of its intervals, which is the
 * same for every duration (harness/traffic/roce_traffic.c). */
#define MOST_SAMPLES      1000u       /* and twice as many as their interval has time for */
#define MOST_OBJECT_BYTES (16u << 20) /* headers and events of a sampler, and for each of its intervals */
#define INTERVAL_BYTES    512u
#define MOST_FLOW_BYTES   (4u << 20) /* lines of traffic, and for each flow of the scenario */
#define FLOW_BYTES        (256u << 10)

bool recorded_host_may_write(const struct recorder *r, struct recorded_host *host, enum allowance kind,
                             size_t length)
{
    struct left_out *l = &host->left_out[kind];
    uint64_t intervals = (uint64_t)((clock_monotonic_ns() - r->opened_ns) / r->scenario->sample.every_ns) + 1,
             most = kind == ALLOW_SAMPLES   ? MOST_SAMPLES + 2 * intervals
                    : kind == ALLOW_OBJECTS ? MOST_OBJECT_BYTES + INTERVAL_BYTES * intervals
                                            : MOST_FLOW_BYTES + (uint64_t)FLOW_BYTES * r->flow_count,
             more = kind == ALLOW_SAMPLES ? 1 : length;
    bool may = l->taken + more <= most;
    if (may) {
        l->taken += more;
    } else {
        l->lines++;
        l->bytes += length;
    }
    return may;
}

int recorded_host_note_damage(struct recorded_host *host, const struct error *why)
{
    if (!host->damaged++)
        host->first_damaged = xstrdup(why->text);
    return -1;
}

int recorder_sample(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct recorded_host *host = &r->hosts[role];
    struct line line;
    if (!recorded_host_may_write(r, host, *text == '[' ? ALLOW_SAMPLES : ALLOW_OBJECTS, length))
        return 0;
    if (lines_parse(text, length, &line, e) != 0) {
        error_prefix(e, "%s: a line of the sampler", host->role);
        return recorded_host_note_damage(host, e);
    }
    int result =
        line.kind == LINE_SAMPLE ? host_take_sample(r, host, &line, e) : host_take_object(r, host, &line, e);
    lines_free_parsed(&line);
    return result == 0 ? record_file_check(&r->samples, e) : recorded_host_note_damage(host, e);
}

void recorder_damaged(struct recorder *r, size_t role, const struct error *why)
{
    recorded_host_note_damage(&r->hosts[role], why);
}

int recorder_object(struct recorder *r, size_t role, enum line_kind kind, json_t *object, struct error *e)
{
    const struct line line = {.kind = kind, .json = object};
    int result = host_take_object(r, &r->hosts[role], &line, e);
    json_decref(object);
    return result == 0 ? record_file_check(&r->samples, e) : result;
}

int recorder_columns(struct recorder *r, size_t role, const struct column *columns, size_t count,
                     struct error *e)
{
    return host_take_unlisted_columns(r, &r->hosts[role], columns, count, e);
}

int recorder_values(struct recorder *r, size_t role, int64_t time_ns, const int64_t *values, size_t count,
                    struct error *e)
{
    const struct line line = {
        .kind = LINE_SAMPLE, .time_ns = time_ns, .values = (int64_t *)(uintptr_t)values, .count = count};
    int result = host_take_sample(r, &r->hosts[role], &line, e);
    return result == 0 ? record_file_check(&r->samples, e) : result;
}
