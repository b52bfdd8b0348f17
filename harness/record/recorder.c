#include "harness/record/recorder.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/folder/record_file.h"
#include "lib/roce/completion.h"
#include "lib/roce/counters.h"
#include "lib/statistics/distribution.h"
#include "lib/statistics/histogram.h"
#include "harness/record/tally.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITIES 8

#define MOST_COLUMNS  LINES_MAX_COLUMNS /* of a host in a run: a sampler's later headers may add some */
#define MOST_LAYOUTS  64                /* of a host: what it prints cannot fill the memory */
#define MOST_WARNINGS 200
#define MOST_SAID     1000 /* bytes of a host's text in a warning */

/* A column over the measure phase: counters from the last sample at or before its start to the first at or
 * after its end, gauges inside. */
struct recorded_column {
    struct column column;
    bool any, closed, moved_back;
    bool second; /* another source has one of this name, which the result has */
    int64_t first, last, previous, delta;
    bool seen; /* over the whole run: from the first sample to the last */
    int64_t seen_last, total;
    int64_t before; /* of `total`, what was counted up to the measure phase */
    int64_t first_ns, last_ns;
    uint64_t inside;
    int64_t min, max;
    int64_t unread_ns; /* of a gauge: the long gaps between its values in the measure phase */
    double sum;
    struct tally tally; /* of a gauge */
};

/* A column that is kept of roles that are not listed, and a member of its summary. */
struct kept {
    char *role, *counter; /* globs */
    const char *key;
};

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

/* What a host may have written in all: a program of it that was taken over could fill the disk. Honest hosts
 * are far from it: a sampler's samples follow from its interval, and the lines of a flow from the number of
 * its intervals, which is the same for every duration (harness/traffic/roce_traffic.c). */
enum allowance { ALLOW_SAMPLES, ALLOW_OBJECTS, ALLOW_FLOWS, ALLOWANCES };
#define MOST_SAMPLES      1000u       /* and twice as many as their interval has time for */
#define MOST_OBJECT_BYTES (16u << 20) /* headers and events of a sampler, and for each of its intervals */
#define INTERVAL_BYTES    512u
#define MOST_FLOW_BYTES   (4u << 20) /* lines of traffic, and for each flow of the scenario */
#define FLOW_BYTES        (256u << 10)

struct left_out {
    uint64_t taken, lines, bytes; /* samples or bytes that were taken; what was left out */
};

struct recorded_host {
    const char *role;
    struct left_out left_out[ALLOWANCES];
    int64_t offset_ns;
    size_t *slots; /* the current header's columns: indices into gathered */
    size_t slot_count;
    struct recorded_column *gathered;
    size_t count;
    json_t *index; /* of gathered: "SOURCE\nNAME" */
    json_t *names; /* of gathered: an object with each as a key */
    uint64_t samples, overruns;
    int64_t every_ns; /* between samples, by its header */
    double read_sum_ns;
    int64_t read_max_ns, cpu_ns, latest_ns;
    bool headed, ended; /* the header, and the last line of a sampler that has one, were taken */
    bool says_end;
    bool went_back;                       /* its clock did */
    uint64_t damaged;                     /* lines that were left out */
    char *first_damaged;                  /* what was wrong with the first of them */
    struct histogram *pauses[PRIORITIES]; /* NULL: there was none, or it is not listed */
    bool unlisted;                        /* what follows is of such roles alone */
    const struct layout *layout;
    size_t layouts;      /* that it has had */
    struct plain *plain; /* by counter of the layout */
    bool closed;
    int64_t first_ns, last_ns;
};

struct recorded_flow {
    char *name;
    const struct scenario_flow *of;       /* NULL: one of a traffic pattern */
    json_t *summary;                      /* the summary line */
    int64_t bytes, messages, duration_ns; /* of intervals inside the measure phase */
    int64_t quiet_ns;                     /* of the latest of them: no message was completed in these, */
    int64_t longest_ns, longest_end_ns;   /* and the longest such time */
    double live_bps;
    int64_t errors;
    json_t *failed;   /* its first completion error, as the result has it; NULL: none */
    char *said;       /* of it */
    size_t failed_at; /* the role that saw it; SIZE_MAX: unknown */
};

struct recorder {
    const struct scenario *scenario;
    struct record_file samples, flows_file, pauses_file;
    struct recorded_host *hosts;
    size_t host_count;
    struct recorded_flow *flows;
    size_t flow_count;
    json_t *flow_index; /* name -> index */
    struct layout *layouts;
    struct kept *kept;
    size_t kept_count;
    json_t *warnings;
    int64_t opened_ns; /* monotonic */
    int64_t start_ns, end_ns;
};

/* The sum of two counts, at most INT64_MAX. */
static int64_t sum_of(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* ---- warnings and times */

/* Up to a limit of warnings: a host may have many reasons. */
static void recorder_warn(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void recorder_warn(struct recorder *r, const char *format, ...)
{
    va_list arguments;
    if (json_array_size(r->warnings) >= MOST_WARNINGS)
        return;
    va_start(arguments, format);
    json_array_append_new(r->warnings, json_text_list(format, arguments));
    va_end(arguments);
}

/* How many bytes of a host's text (or NULL) a warning has: whole characters. */
static int words_length(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length <= MOST_SAID)
        return (int)length;
    for (length = MOST_SAID; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
        length--; /* not within a character */
    return (int)length;
}

/* Convert a host's time to the run's clock. -1: it is out of range there. */
static int host_to_run_clock(const struct recorded_host *host, int64_t *time_ns, struct error *e)
{
    int64_t shifted_ns = *time_ns - host->offset_ns; /* of two within LINES_MOST */
    if (!lines_fits(shifted_ns, -LINES_MOST))
        return error_set(e, "%s: a line's time_ns is %" PRId64 ", which is not a time by the run's clock",
                         host->role, *time_ns);
    *time_ns = shifted_ns;
    return 0;
}

/* The same of an object line's time_ns. */
static int host_shift_time(const struct recorded_host *host, json_t *object, struct error *e)
{
    json_t *time = json_object_get(object, "time_ns");
    int64_t time_ns = json_integer_value(time);
    if (!json_is_integer(time))
        return 0;
    if (!lines_fits(time_ns, -LINES_MOST))
        return error_set(e, "%s: a header's time_ns is out of range", host->role);
    if (host_to_run_clock(host, &time_ns, e) != 0)
        return -1;
    json_object_set_new(object, "time_ns", json_integer(time_ns));
    return 0;
}

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
    if (g->seen)
        g->total = sum_of(g->total, value >= g->seen_last ? value - g->seen_last : value);
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
    g->delta = sum_of(g->delta, value >= g->previous ? value - g->previous : value);
    g->last = g->previous = value;
    g->last_ns = time_ns;
    g->closed = time_ns >= r->end_ns;
}

/* How much later the first time is than the second, at most INT64_MAX; 0: it is not. */
static int64_t later_ns(int64_t time_ns, int64_t than_ns)
{
    if (time_ns <= than_ns)
        return 0;
    return than_ns < 0 && time_ns > INT64_MAX + than_ns ? INT64_MAX : time_ns - than_ns;
}

/* A time without a value that is longer than the interval of samples explains, and than a tenth of the
 * measure phase; 0: it is not. */
static int64_t long_gap_ns(const struct recorder *r, const struct recorded_host *host, int64_t gap_ns)
{
    return gap_ns / 2 > host->every_ns && gap_ns > (r->end_ns - r->start_ns) / 10 ? gap_ns : 0;
}

static void column_add_gauge(const struct recorder *r, const struct recorded_host *host,
                             struct recorded_column *g, int64_t time_ns, int64_t value)
{
    if (time_ns < r->start_ns || time_ns > r->end_ns)
        return;
    g->unread_ns =
        sum_of(g->unread_ns, long_gap_ns(r, host, later_ns(time_ns, g->inside ? g->last_ns : r->start_ns)));
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
        if (fnmatch(r->kept[i].role, host->role, 0) == 0 && fnmatch(r->kept[i].counter, name, 0) == 0)
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
    host->headed = true;
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
    if (host_to_run_clock(host, &time_ns, e) != 0)
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

static int host_take_object(struct recorder *r, struct recorded_host *host, const struct line *line,
                            struct error *e)
{
    const char *what = json_string_value(json_object_get(line->json, "what"));
    const char *text = json_string_value(json_object_get(line->json, "text"));
    if (host_shift_time(host, line->json, e) != 0)
        return -1;
    json_object_set_new(line->json, "host", json_text(host->role));
    if (!host->unlisted)
        lines_write_object(r->samples.stream, line->json);
    if (line->kind == LINE_HEADER)
        return host_take_header(r, host, line->json, e);
    bool overrun = line->kind == LINE_EVENT && what && strcmp(what, "overrun") == 0;
    if (line->kind == LINE_EVENT && what && !overrun)
        recorder_warn(r, "%s: %.*s: %.*s", host->role, words_length(what), what, words_length(text),
                      text ? text : "");
    if (overrun || line->kind == LINE_END) /* both have all up to now */
        host->overruns = (uint64_t)json_integer_value(json_object_get(line->json, "overruns"));
    if (line->kind == LINE_END) {
        host->ended = true;
        host->cpu_ns = json_integer_value(json_object_get(line->json, "cpu_ns"));
    }
    return 0;
}

/* May the host have this line written? What it may not is counted. */
static bool host_may_write(const struct recorder *r, struct recorded_host *host, enum allowance kind,
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

/* A line is left out. */
static int host_note_damage(struct recorded_host *host, const struct error *why)
{
    if (!host->damaged++)
        host->first_damaged = xstrdup(why->text);
    return -1;
}

int recorder_sample(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct recorded_host *host = &r->hosts[role];
    struct line line;
    if (!host_may_write(r, host, *text == '[' ? ALLOW_SAMPLES : ALLOW_OBJECTS, length))
        return 0;
    if (lines_parse(text, length, &line, e) != 0) {
        error_prefix(e, "%s: a line of the sampler", host->role);
        return host_note_damage(host, e);
    }
    int result =
        line.kind == LINE_SAMPLE ? host_take_sample(r, host, &line, e) : host_take_object(r, host, &line, e);
    lines_free_parsed(&line);
    return result == 0 ? record_file_check(&r->samples, e) : host_note_damage(host, e);
}

void recorder_damaged(struct recorder *r, size_t role, const struct error *why)
{
    host_note_damage(&r->hosts[role], why);
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

/* ---- lines of traffic generators */

/* The flow of this name, created if missing. */
static struct recorded_flow *recorder_find_flow(struct recorder *r, const char *name)
{
    const json_t *index = json_object_get(r->flow_index, name);
    if (index)
        return &r->flows[json_integer_value(index)];
    r->flows = xreallocarray(r->flows, r->flow_count + 1, sizeof *r->flows);
    r->flows[r->flow_count] = (struct recorded_flow){.name = xstrdup(name)};
    json_object_set_new(r->flow_index, name, json_integer((json_int_t)r->flow_count));
    return &r->flows[r->flow_count++];
}

static void flow_note_quiet(struct recorded_flow *flow, int64_t from_ns, int64_t until_ns)
{
    if (until_ns - from_ns <= flow->longest_ns)
        return;
    flow->longest_ns = until_ns - from_ns;
    flow->longest_end_ns = until_ns;
}

static void flow_take_interval(const struct recorder *r, struct recorded_flow *flow, const json_t *json)
{
    int64_t end = json_integer_value(json_object_get(json, "time_ns"));
    int64_t duration = json_integer_value(json_object_get(json, "duration_ns"));
    int64_t messages = json_integer_value(json_object_get(json, "messages"));
    flow->live_bps = json_number_value(json_object_get(json, "goodput_bps"));
    flow->errors = sum_of(flow->errors, json_integer_value(json_object_get(json, "errors")));
    if (end - duration < r->start_ns || end > r->end_ns)
        return;
    flow->bytes = sum_of(flow->bytes, json_integer_value(json_object_get(json, "bytes")));
    flow->messages = sum_of(flow->messages, messages);
    flow->duration_ns = sum_of(flow->duration_ns, duration);
    flow->quiet_ns = messages ? 0 : sum_of(flow->quiet_ns, duration);
    flow_note_quiet(flow, end - flow->quiet_ns, end);
}

void recorder_note_quiet(struct recorder *r, const char *flow, int64_t from_ns, int64_t until_ns)
{
    flow_note_quiet(recorder_find_flow(r, flow), from_ns, until_ns);
}

static int recorder_write_flow_line(struct recorder *r, const json_t *line, struct error *e)
{
    if (line)
        lines_write_object(r->flows_file.stream, line);
    return record_file_check(&r->flows_file, e);
}

/* Is it the flow's first completion error? Then it is kept, for the end, when its counters are known. */
static bool flow_take_completion(struct recorded_flow *flow, size_t role, const json_t *json,
                                 const char *said)
{
    static const char *const kept[] = {"time_ns", "silent_ns"};
    int status, vendor;
    if (flow->failed || !said || !completion_take_json(json_object_get(json, "completion"), &status, &vendor))
        return false;
    flow->failed = completion_json(status, vendor);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_is_integer(json_object_get(json, kept[i])))
            json_object_set(flow->failed, kept[i], json_object_get(json, kept[i]));
    flow->said = strndup(said, (size_t)words_length(said));
    flow->failed_at = role;
    return true;
}

static void flow_take_line(struct recorder *r, struct recorded_flow *flow, size_t role,
                           const struct line *line)
{
    if (line->kind == LINE_INTERVAL)
        flow_take_interval(r, flow, line->json);
    if (line->kind == LINE_SUMMARY) {
        json_decref(flow->summary);
        flow->summary = json_incref(line->json);
    }
    if (line->kind == LINE_ERROR) {
        const char *status = json_string_value(json_object_get(line->json, "status"));
        const char *said = json_string_value(json_object_get(line->json, "text"));
        flow->errors = sum_of(flow->errors, 1);
        if (!flow_take_completion(flow, role, line->json, said))
            recorder_warn(r, "flow %s: %.*s%s%.*s", flow->name, words_length(status), status ? status : "",
                          status && said ? ": " : "", words_length(said), said ? said : "");
    }
}

/* A host speaks only of the scenario's flows, so that its names take no memory. */
int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e)
{
    struct recorded_host *host = &r->hosts[role];
    struct line line;
    if (!host_may_write(r, host, ALLOW_FLOWS, length))
        return 0;
    if (lines_parse(text, length, &line, e) != 0) {
        error_prefix(e, "%s: a line of the traffic generator", host->role);
        return host_note_damage(host, e);
    }
    const char *name = json_string_value(json_object_get(line.json, "flow"));
    const json_t *known = name ? json_object_get(r->flow_index, name) : NULL;
    int result = name && !known ? error_set(e,
                                            "%s: a line of the traffic generator is about the flow "
                                            "\"%.60s\", which the scenario lacks",
                                            host->role, name)
                                : host_shift_time(host, line.json, e);
    if (result != 0)
        host_note_damage(host, e);
    if (result == 0 && known)
        flow_take_line(r, &r->flows[json_integer_value(known)], role, &line);
    if (result == 0)
        result = recorder_write_flow_line(r, line.json, e);
    lines_free_parsed(&line);
    return result;
}

int recorder_flow_object(struct recorder *r, enum line_kind kind, json_t *object, struct error *e)
{
    const struct line line = {.kind = kind, .json = object};
    struct recorded_flow *flow = recorder_find_flow(r, json_string_value(json_object_get(object, "flow")));
    int from = flow->of ? scenario_role_index(r->scenario, flow->of->from) : -1;
    flow_take_line(r, flow, from < 0 ? SIZE_MAX : (size_t)from, &line);
    int result = recorder_write_flow_line(r, object, e);
    json_decref(object);
    return result;
}

/* ---- single pauses */

int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, bool lasts, struct error *e)
{
    fprintf(r->pauses_file.stream, "[\"%s\",%u,%" PRId64 ",%" PRId64 "%s]\n", where, priority, start_ns,
            duration_ns, lasts ? ",true" : "");
    if (record_file_check(&r->pauses_file, e) != 0)
        return -1;
    if (lasts || priority >= PRIORITIES || start_ns < r->start_ns || start_ns >= r->end_ns)
        return 0;
    int role = scenario_role_index(r->scenario, where);
    if (role < 0 || r->hosts[role].unlisted)
        return 0;
    struct histogram **h = &r->hosts[role].pauses[priority];
    if (!*h) {
        *h = xcalloc(1, sizeof **h);
        histogram_clear(*h);
    }
    histogram_add(*h, duration_ns);
    return 0;
}

/* ---- opening and closing */

static void host_free(struct recorded_host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        lines_free_column(&host->gathered[i].column);
        tally_free(&host->gathered[i].tally);
    }
    free(host->gathered);
    for (size_t p = 0; p < PRIORITIES; p++)
        free(host->pauses[p]);
    json_decref(host->index);
    json_decref(host->names);
    free(host->slots);
    free(host->plain);
    free(host->first_damaged);
}

struct recorder *recorder_open(const char *folder, const struct scenario *scenario, bool pauses,
                               struct error *e)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    const struct scenario_flow *flows = scenario->flows.items;
    char *const *listed = scenario->sample.roles.items;
    r->samples.fd = r->flows_file.fd = r->pauses_file.fd = -1;
    r->scenario = scenario;
    r->opened_ns = clock_monotonic_ns();
    r->start_ns = r->end_ns = INT64_MAX;
    r->flow_index = json_object();
    r->warnings = json_array();
    r->host_count = scenario->roles.count;
    r->hosts = xcalloc(r->host_count + 1, sizeof *r->hosts);
    if (record_file_open(&r->samples, folder, "samples.jsonl", e) != 0 ||
        record_file_open(&r->flows_file, folder, "flows.jsonl", e) != 0 ||
        (pauses && record_file_open(&r->pauses_file, folder, "pauses.jsonl", e) != 0)) {
        recorder_close(r);
        return NULL;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        r->hosts[i].role = scenario_role(scenario, i);
        r->hosts[i].every_ns = scenario->sample.every_ns;
        r->hosts[i].index = json_object();
        r->hosts[i].names = json_object();
        if (listed)
            recorder_unlist(r, i);
    }
    for (size_t i = 0; listed && i < scenario->sample.roles.count; i++)
        r->hosts[scenario_role_index(scenario, listed[i])].unlisted = false;
    for (size_t i = 0; i < scenario->flows.count; i++)
        recorder_find_flow(r, flows[i].name)->of = &flows[i];
    return r;
}

int recorder_flush(struct recorder *r, struct error *e)
{
    return record_file_flush(&r->samples, e) || record_file_flush(&r->flows_file, e) ||
                   record_file_flush(&r->pauses_file, e)
               ? -1
               : 0;
}

void recorder_end(struct recorder *r)
{
    record_file_close(&r->samples, NULL);
    record_file_close(&r->flows_file, NULL);
    record_file_close(&r->pauses_file, NULL);
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    recorder_end(r);
    for (size_t i = 0; i < r->host_count; i++)
        host_free(&r->hosts[i]);
    for (size_t i = 0; i < r->flow_count; i++) {
        free(r->flows[i].name);
        json_decref(r->flows[i].summary);
        json_decref(r->flows[i].failed);
        free(r->flows[i].said);
    }
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
    free(r->hosts);
    free(r->flows);
    json_decref(r->flow_index);
    json_decref(r->warnings);
    free(r);
}

void recorder_clock(struct recorder *r, size_t role, int64_t offset_ns)
{
    r->hosts[role].offset_ns = offset_ns;
}

void recorder_window(struct recorder *r, int64_t start_ns, int64_t end_ns)
{
    r->start_ns = start_ns;
    r->end_ns = end_ns;
}

/* ---- which roles are listed */

void recorder_unlist(struct recorder *r, size_t role)
{
    r->hosts[role].unlisted = true;
}

bool recorder_lists(const struct recorder *r, size_t role)
{
    return !r->hosts[role].unlisted;
}

bool recorder_keeps(const struct recorder *r, size_t role)
{
    return !r->hosts[role].unlisted || r->hosts[role].count;
}

void recorder_keep(struct recorder *r, const char *role_glob, const char *counter_glob, const char *key)
{
    r->kept = xreallocarray(r->kept, r->kept_count + 1, sizeof *r->kept);
    r->kept[r->kept_count++] = (struct kept){xstrdup(role_glob), xstrdup(counter_glob), key};
}

/* ---- live figures */

/* PFC frames that a host receives per second, over its latest samples. */
static double host_pauses_per_s(const struct recorded_host *host)
{
    double per_s = 0;
    for (size_t i = 0; i < host->count; i++) {
        const struct recorded_column *g = &host->gathered[i];
        if (g->last_ns > g->first_ns && counters_pattern_matches("rx_prio#_pause", g->column.name))
            per_s += (double)g->delta * 1e9 / (double)(g->last_ns - g->first_ns);
    }
    return per_s;
}

void recorder_live(const struct recorder *r, struct recorder_live *live)
{
    *live = (struct recorder_live){0};
    for (size_t i = 0; i < r->flow_count; i++) {
        live->goodput_bps += r->flows[i].live_bps;
        live->errors += (uint64_t)r->flows[i].errors;
    }
    for (size_t i = 0; i < r->host_count; i++) {
        const struct recorded_host *host = &r->hosts[i];
        live->samples += host->samples;
        live->pauses_per_s += host_pauses_per_s(host);
    }
}

/* ---- summaries of hosts */

#define TALLY_HIGHEST 0.999

static void add_tally_quantiles(const struct tally *tally, json_t *json)
{
    static const struct {
        const char *key;
        double q;
    } kept[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99_9", TALLY_HIGHEST}};
    int64_t value;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (tally_quantile(tally, kept[i].q, &value))
            json_object_set_new(json, kept[i].key, json_integer(value));
}

/* How long of the measure phase the column says nothing of; 0: of at most a tenth, or it has no figure. */
static int64_t column_unread_ns(const struct recorder *r, const struct recorded_host *host,
                                const struct recorded_column *g)
{
    int64_t late_ns = later_ns(g->first_ns, r->start_ns), early_ns = later_ns(r->end_ns, g->last_ns),
            unread_ns = g->column.kind == COLUMN_COUNTER
                            ? sum_of(late_ns, early_ns)
                            : sum_of(g->unread_ns, long_gap_ns(r, host, early_ns));
    if (g->column.kind == COLUMN_COUNTER && g->last_ns <= g->first_ns)
        return 0;
    /* the clock of a sampler was set ahead: which values are those of the phase is unknown */
    if (host->says_end && g->last_ns - g->first_ns > clock_monotonic_ns() - r->opened_ns)
        return r->end_ns - r->start_ns;
    return unread_ns > (r->end_ns - r->start_ns) / 10 ? unread_ns : 0;
}

/* How much longer than the measure phase a counter counted, where the interval of samples does not explain
 * it; 0: it did not. */
static int64_t column_beyond_ns(const struct recorder *r, const struct recorded_host *host,
                                const struct recorded_column *g)
{
    int64_t before_ns = later_ns(r->start_ns, g->first_ns), after_ns = later_ns(g->last_ns, r->end_ns);
    if (g->column.kind != COLUMN_COUNTER || g->last_ns <= g->first_ns)
        return 0;
    return long_gap_ns(r, host, sum_of(before_ns, after_ns));
}

static json_t *column_summary(const struct recorder *r, const struct recorded_host *host,
                              const struct recorded_column *g)
{
    bool counter = g->column.kind == COLUMN_COUNTER;
    json_t *json =
        json_make("{s:s,s:s,s:s,s:s}", "unit", g->column.unit, "kind", counter ? "counter" : "gauge",
                  "source", g->column.source, "group", g->column.group);
    int64_t duration = g->last_ns - g->first_ns, unread_ns = column_unread_ns(r, host, g),
            beyond_ns = column_beyond_ns(r, host, g);
    if (counter) {
        if (duration > 0) { /* the measure phase began */
            json_object_set_new(json, "delta", json_integer(g->delta));
            json_object_set_new(json, "rate_per_s", json_real((double)g->delta * 1e9 / (double)duration));
        }
        json_object_set_new(json, "first", json_integer(g->first));
        json_object_set_new(json, "total", json_integer(g->total));
    } else {
        if (distribution_is_few(TALLY_HIGHEST, (double)g->inside, NULL))
            json_object_set_new(json, "samples", json_integer((json_int_t)g->inside));
        json_object_set_new(json, "min", json_integer(g->min));
        json_object_set_new(json, "mean", json_real(g->sum / (double)g->inside));
        add_tally_quantiles(&g->tally, json);
        json_object_set_new(json, "max", json_integer(g->max));
        json_object_set_new(json, "first", json_integer(g->first));
    }
    json_object_set_new(json, "last", json_integer(g->last));
    json_object_set_new(json, "duration_ns", json_integer(duration));
    if (unread_ns)
        json_object_set_new(json, "unread_ns", json_integer(unread_ns));
    if (beyond_ns)
        json_object_set_new(json, "beyond_ns", json_integer(beyond_ns));
    return json;
}

/* The members of a column's summary that are kept. A new reference. */
static json_t *column_kept_summary(const struct recorder *r, const struct recorded_host *host,
                                   const char *name, const json_t *whole)
{
    static const char *const always[] = {"unit", "samples", "unread_ns", "beyond_ns"};
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (json_object_get(whole, always[i]))
            json_object_set(json, always[i], json_object_get(whole, always[i]));
    for (size_t i = 0; i < r->kept_count; i++)
        if (fnmatch(r->kept[i].role, host->role, 0) == 0 && fnmatch(r->kept[i].counter, name, 0) == 0 &&
            json_object_get(whole, r->kept[i].key))
            json_object_set(json, r->kept[i].key, json_object_get(whole, r->kept[i].key));
    return json;
}

static json_t *host_columns_summary(const struct recorder *r, const struct recorded_host *h)
{
    json_t *counters = json_object();
    for (size_t i = 0; i < h->count; i++) {
        const struct recorded_column *g = &h->gathered[i];
        if (!g->any || g->second || (g->column.kind == COLUMN_GAUGE && !g->inside))
            continue;
        json_t *whole = column_summary(r, h, g);
        json_object_set_new(counters, g->column.name,
                            h->unlisted ? column_kept_summary(r, h, g->column.name, whole)
                                        : json_incref(whole));
        json_decref(whole);
    }
    return counters;
}

/* By priority; NULL: none was paused. */
static json_t *host_pause_summary(const struct recorded_host *host)
{
    json_t *json = NULL;
    for (size_t p = 0; p < PRIORITIES; p++) {
        char key[24];
        if (!host->pauses[p])
            continue;
        json = json ? json : json_object();
        snprintf(key, sizeof key, "%zu", p);
        json_object_set_new(json, key, histogram_json(host->pauses[p]));
    }
    return json;
}

void recorder_host_summary(const struct recorder *r, size_t role, json_t *host)
{
    const struct recorded_host *h = &r->hosts[role];
    json_object_set_new(host, "counters", host_columns_summary(r, h));
    if (h->unlisted)
        return;
    json_object_set_new(host, "sampling",
                        json_make("{s:I,s:I,s:f,s:I,s:I}", "samples", (json_int_t)h->samples, "overruns",
                                  (json_int_t)h->overruns, "read_ns_mean",
                                  h->samples ? h->read_sum_ns / (double)h->samples : 0.0, "read_ns_max",
                                  (json_int_t)h->read_max_ns, "cpu_ns", (json_int_t)h->cpu_ns));
    json_t *pauses = host_pause_summary(h);
    if (pauses)
        json_object_set_new(host, "pauses", pauses);
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

/* NULL: it is a port's part of what its switch counts. */
static struct total *totals_find(struct totals *t, const struct column *column)
{
    const json_t *index = json_object_get(t->index, column->name);
    if (index)
        return &t->items[json_integer_value(index)];
    if (counters_of_port(column->name))
        return NULL;
    t->items = xreallocarray(t->items, t->count + 1, sizeof *t->items);
    t->items[t->count] = (struct total){.column = column};
    json_object_set_new(t->index, column->name, json_integer((json_int_t)t->count));
    return &t->items[t->count++];
}

static void total_add(struct total *t, const char *role, int64_t delta, int64_t total, int64_t duration_ns)
{
    t->delta = sum_of(t->delta, delta);
    t->total = sum_of(t->total, total);
    t->rate_per_s += duration_ns > 0 ? (double)delta * 1e9 / (double)duration_ns : 0;
    if (delta <= t->most)
        return;
    t->most = delta;
    t->most_at = role;
}

static void totals_add_listed(struct totals *t, const struct recorded_host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        const struct recorded_column *g = &host->gathered[i];
        struct total *total = g->any && g->column.kind == COLUMN_COUNTER ? totals_find(t, &g->column) : NULL;
        if (total)
            total_add(total, host->role, g->delta, g->total, g->last_ns - g->first_ns);
    }
}

static int64_t increase_between(int64_t from, int64_t to)
{
    return to > from && from != LINES_NULL ? to - from : 0;
}

static void totals_add_unlisted(struct totals *t, const struct recorded_host *host)
{
    const struct layout *layout = host->layout;
    for (size_t i = 0; layout && i < layout->count; i++) {
        const struct plain *p = &host->plain[i];
        struct total *total = p->seen_first == LINES_NULL ? NULL : totals_find(t, &layout->columns[i]);
        if (total)
            total_add(total, host->role, increase_between(p->first, p->last),
                      increase_between(p->seen_first, p->seen_last), host->last_ns - host->first_ns);
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
            totals_add_unlisted(&t, &r->hosts[i]);
        else
            totals_add_listed(&t, &r->hosts[i]);
    }
    for (size_t i = 0; i < t.count; i++)
        json_object_set_new(counters, t.items[i].column->name, total_json(&t.items[i]));
    json_decref(t.index);
    free(t.items);
    return json_make("{s:I,s:I,s:o}", "roles", (json_int_t)r->host_count, "listed", (json_int_t)listed,
                     "counters", counters);
}

/* ---- summaries of flows */

static void add_flow_description(const struct scenario_flow *of, json_t *json)
{
    json_object_set_new(json, "from", json_text(of->from));
    json_object_set_new(json, "to", json_text(of->to));
    json_object_set_new(json, "op", json_text(flow_op_names[of->op]));
    json_object_set_new(json, "mode", json_text(flow_mode_names[of->mode]));
    json_object_set_new(json, "memory", json_text(flow_memory_names[of->memory]));
    if (of->numa >= 0)
        json_object_set_new(json, "numa", json_text(flow_numa_names[of->numa]));
    if (of->relaxed_ordering >= 0)
        json_object_set_new(json, "relaxed_ordering", json_boolean(of->relaxed_ordering));
    json_object_set_new(json, "priority", json_integer(of->priority));
    json_object_set_new(json, "queue_pairs", json_integer(of->queue_pairs));
    json_object_set_new(json, "message_bytes", json_integer(of->message_bytes));
}

static void add_rates(json_t *json, int64_t bytes, int64_t messages, int64_t duration_ns)
{
    double seconds = (double)duration_ns / 1e9;
    json_object_set_new(json, "bytes", json_integer(bytes));
    json_object_set_new(json, "messages", json_integer(messages));
    json_object_set_new(json, "duration_ns", json_integer(duration_ns));
    if (duration_ns <= 0)
        return;
    json_object_set_new(json, "goodput_bps", json_real((double)bytes * 8 / seconds));
    json_object_set_new(json, "goodput_MiBps", json_real((double)bytes / seconds / 1048576));
    json_object_set_new(json, "messages_per_s", json_real((double)messages / seconds));
}

static void add_rates_of(const json_t *line, json_t *json)
{
    add_rates(json, json_integer_value(json_object_get(line, "bytes")),
              json_integer_value(json_object_get(line, "messages")),
              json_integer_value(json_object_get(line, "duration_ns")));
}

/* Its rate is over the measure phase, also of a flow with an end. */
static void add_delivered(json_t *json)
{
    const json_t *phase = json_object_get(json, "phase"), *arrived = json_object_get(json, "delivered_bytes");
    double seconds = json_number_value(json_object_get(phase ? phase : json, "duration_ns")) / 1e9;
    if (arrived && seconds > 0)
        json_object_set_new(json, "delivered_bps", json_real(json_number_value(arrived) * 8 / seconds));
}

/* Quantiles of nothing are zeros, which nobody measured. */
static bool is_distribution_of_nothing(const json_t *value)
{
    const json_t *count = json_object_get(value, "count");
    return count && json_integer_value(count) == 0;
}

/* The increases in the run of those counters of an error that the role has, as a new object; NULL: it has
 * none. */
static json_t *role_shows(const struct recorder *r, int role, const char *const names[])
{
    json_t *found = NULL;
    for (size_t i = 0; role >= 0 && names[i]; i++)
        for (size_t c = 0; c < r->hosts[role].count; c++) {
            const struct recorded_column *g = &r->hosts[role].gathered[c];
            if (g->second || !g->seen || strcmp(g->column.name, names[i]) != 0)
                continue;
            found = found ? found : json_object();
            json_object_set_new(found, names[i], json_integer(g->total));
        }
    return found;
}

static int other_end(const struct recorder *r, const struct recorded_flow *flow)
{
    int from = scenario_role_index(r->scenario, flow->of->from),
        to = scenario_role_index(r->scenario, flow->of->to);
    return (size_t)from == flow->failed_at ? to : from;
}

/* The counters that show a flow's completion error at either end: {ROLE: {NAME: increase}}, a new object. */
static json_t *flow_evidence(const struct recorder *r, const struct recorded_flow *flow)
{
    int status, vendor;
    json_t *all = json_object();
    const struct completion_error *row =
        completion_take_json(flow->failed, &status, &vendor) ? completion_find(status, vendor) : NULL;
    if (!row || !flow->of || flow->failed_at == SIZE_MAX)
        return all;
    int ends[] = {(int)flow->failed_at, other_end(r, flow)};
    for (size_t i = 0; i < 2; i++) {
        json_t *found = role_shows(r, ends[i], i ? row->responder : row->requester);
        if (found)
            json_object_set_new(all, r->hosts[ends[i]].role, found);
    }
    return all;
}

/* "flow f: completion error 12 (...) ...; in the run a counted local_ack_timeout_err 6" */
static void warn_of_completion(const struct recorder *r, const struct recorded_flow *flow, json_t *warnings)
{
    json_t *evidence = flow_evidence(r, flow), *counters, *value;
    const char *role, *name;
    struct text words = {0};
    text_add(&words, "flow %s: %s", flow->name, flow->said);
    json_object_foreach(evidence, role, counters)
    {
        size_t moved = 0;
        struct text mute = {0};
        text_add(&words, "; in the run %s counted", role);
        json_object_foreach(counters, name, value)
        {
            if (json_integer_value(value) > 0)
                text_add(&words, "%s %s %" JSON_INTEGER_FORMAT, moved++ ? "," : "", name,
                         json_integer_value(value));
            else if (counters_never_moves_on(name))
                text_add(&mute, " (the 0 of %s says nothing on %s, where it never moves)", name,
                         counters_never_moves_on(name));
        }
        if (!moved)
            text_add(&words, " none of what usually shows it");
        text_add(&words, "%s", text_string(&mute));
        text_free(&mute);
    }
    json_array_append_new(warnings, json_text(text_string(&words)));
    text_free(&words);
    json_decref(evidence);
}

/* From the generator's summary or, if it never arrived, from the intervals inside the measure phase. */
static json_t *flow_summary(const struct recorder *r, const struct recorded_flow *flow)
{
    static const char *const kept[] = {"latency_ns",
                                       "retransmitted_packets",
                                       "delivered_bytes",
                                       "marked_packets",
                                       "decreases",
                                       "increases",
                                       "error",
                                       "completion_ns",
                                       "slowdown",
                                       "by_size",
                                       "flows",
                                       "from",
                                       "to",
                                       "priority",
                                       "memory_used",
                                       NULL};
    json_t *json = json_object();
    const json_t *s = flow->summary;
    if (flow->of)
        add_flow_description(flow->of, json);
    for (size_t i = 0; s && kept[i]; i++)
        if (json_object_get(s, kept[i]) && !is_distribution_of_nothing(json_object_get(s, kept[i])))
            json_object_set(json, kept[i], json_object_get(s, kept[i]));
    if (s && json_is_object(json_object_get(s, "memory")))
        json_object_set(json, "memory_used", json_object_get(s, "memory"));
    if (s)
        add_rates_of(s, json);
    else if (flow->duration_ns > 0) /* else it is not known */
        add_rates(json, flow->bytes, flow->messages, flow->duration_ns);
    if (json_is_object(json_object_get(s, "phase"))) {
        json_t *phase = json_object();
        add_rates_of(json_object_get(s, "phase"), phase);
        json_object_set_new(json, "phase", phase);
    }
    add_delivered(json);
    int64_t errors = s ? json_integer_value(json_object_get(s, "errors")) : 0;
    json_object_set_new(json, "errors", json_integer(errors > flow->errors ? errors : flow->errors));
    json_object_set_new(json, "complete", json_boolean(s && json_is_true(json_object_get(s, "complete"))));
    if (flow->failed) {
        json_t *failed = json_copy(flow->failed), *evidence = flow_evidence(r, flow);
        json_object_set_new(failed, "counters", evidence);
        json_object_set_new(json, "completion", failed);
    }
    return json;
}

json_t *recorder_flow_summary(const struct recorder *r)
{
    json_t *flows = json_object();
    for (size_t i = 0; i < r->flow_count; i++) {
        const struct recorded_flow *flow = &r->flows[i];
        json_t *json = flow_summary(r, flow), *phase = json_object_get(json, "phase");
        if (flow->of && flow->of->size_bytes != FIELD_UNSET && !phase &&
            json_object_get(json, "bytes")) { /* a real one begins with the phase */
            json_object_set_new(json, "phase", phase = json_object());
            add_rates(phase, json_integer_value(json_object_get(json, "bytes")),
                      json_integer_value(json_object_get(json, "messages")), r->end_ns - r->start_ns);
        }
        json_object_set_new(flows, flow->name, json);
    }
    return flows;
}

/* ---- patterns */

/* Is this flow NAME/0, NAME/1, ... of the pattern NAME? */
static bool is_flow_of_pattern(const char *flow, const char *pattern)
{
    size_t length = strlen(pattern);
    return strncmp(flow, pattern, length) == 0 && flow[length] == '/';
}

/* Figures of several flows together. */
struct pattern_sum {
    int64_t bytes, messages, duration_ns, errors, resent;
    size_t started, finished;
    double *took_ns; /* of those that finished */
    bool counts_resent, complete;
};

static void pattern_sum_add(struct pattern_sum *all, const json_t *part)
{
    const json_t *resent = json_object_get(part, "retransmitted_packets");
    const json_t *took = json_object_get(json_object_get(part, "completion_ns"), "max");
    int64_t duration_ns = json_integer_value(json_object_get(part, "duration_ns"));
    all->bytes = sum_of(all->bytes, json_integer_value(json_object_get(part, "bytes")));
    all->messages = sum_of(all->messages, json_integer_value(json_object_get(part, "messages")));
    all->errors = sum_of(all->errors, json_integer_value(json_object_get(part, "errors")));
    all->resent = sum_of(all->resent, json_integer_value(resent));
    all->counts_resent = all->counts_resent || resent;
    all->complete = all->complete && json_is_true(json_object_get(part, "complete"));
    if (duration_ns > all->duration_ns)
        all->duration_ns = duration_ns;
    if (took)
        all->took_ns[all->finished++] = json_number_value(took);
    all->started++;
}

/* The line that the simulated lab writes (docs/lines.md). */
static json_t *pattern_sum_line(const struct pattern_sum *all, const char *pattern, int64_t time_ns)
{
    json_t *line =
        json_make("{s:s,s:s,s:I}", "type", "summary", "flow", pattern, "time_ns", (json_int_t)time_ns);
    add_rates(line, all->bytes, all->messages, all->duration_ns);
    json_object_set_new(line, "errors", json_integer(all->errors));
    if (all->counts_resent)
        json_object_set_new(line, "retransmitted_packets", json_integer(all->resent));
    json_object_set_new(
        line, "flows",
        json_make("{s:I,s:I}", "started", (json_int_t)all->started, "finished", (json_int_t)all->finished));
    if (all->finished)
        json_object_set_new(line, "completion_ns", distribution_json(all->took_ns, all->finished));
    json_object_set_new(line, "complete", json_boolean(all->complete));
    return line;
}

int recorder_pattern(struct recorder *r, const char *pattern, int64_t time_ns, struct error *e)
{
    struct pattern_sum all = {.complete = true, .took_ns = xcalloc(r->flow_count + 1, sizeof *all.took_ns)};
    for (size_t i = 0; i < r->flow_count; i++)
        if (is_flow_of_pattern(r->flows[i].name, pattern)) {
            json_t *part = flow_summary(r, &r->flows[i]);
            pattern_sum_add(&all, part);
            json_decref(part);
        }
    json_t *line = pattern_sum_line(&all, pattern, time_ns);
    struct recorded_flow *flow = recorder_find_flow(r, pattern);
    free(all.took_ns);
    json_decref(flow->summary);
    flow->summary = json_incref(line);
    int result = recorder_write_flow_line(r, line, e);
    json_decref(line);
    return result;
}

/* ---- what is told of the whole run */

static void host_warn_of_left_out(const struct recorded_host *host, json_t *warnings)
{
    static const char *const what[ALLOWANCES][2] = {
        [ALLOW_SAMPLES] = {"samples", "twice as many as their interval has time for"},
        [ALLOW_OBJECTS] = {"headers and events of its sampler", "a run takes of a host"},
        [ALLOW_FLOWS] = {"lines of its traffic generator", "a run takes of a host"}};
    for (enum allowance kind = ALLOW_SAMPLES; kind < ALLOWANCES; kind++) {
        const struct left_out *l = &host->left_out[kind];
        if (l->lines)
            json_array_append_new(warnings,
                                  json_textf("%s: left out %" PRIu64 " %s (%.1f MB): it sent more than %s",
                                             host->role, l->lines, what[kind][0], (double)l->bytes / 1e6,
                                             what[kind][1]));
    }
}

static void warn_of_sampling(const struct recorder *r, const struct recorded_host *host, json_t *warnings)
{
    if (host->damaged)
        json_array_append_new(
            warnings, json_textf("%s: %" PRIu64 " %s left out, %s%.*s", host->role, host->damaged,
                                 host->damaged == 1 ? "line was" : "lines were",
                                 host->damaged == 1 ? "" : "the first: ", words_length(host->first_damaged),
                                 host->first_damaged));
    if (host->overruns)
        json_array_append_new(
            warnings,
            json_textf("%s: the sampler skipped %" PRIu64 " of %" PRIu64
                       " samples (overruns): one was due every %.6g ms, and reading took up to "
                       "%.6g ms",
                       host->role, host->overruns, host->samples + host->overruns,
                       (double)r->scenario->sample.every_ns / 1e6, (double)host->read_max_ns / 1e6));
    if (host->says_end && !host->ended)
        json_array_append_new(warnings, json_textf("%s: the sampler's last line is missing: samples may be "
                                                   "missing at the end, and overruns",
                                                   host->role));
}

static bool host_counts(const struct recorded_host *host, const char *name)
{
    if (!host->unlisted)
        return json_object_get(host->names, name);
    for (size_t i = 0; host->layout && i < host->layout->count; i++)
        if (strcmp(host->layout->columns[i].name, name) == 0)
            return true;
    return false;
}

static void losses_add(json_t *losses, const struct recorded_host *host, const char *name, int64_t before,
                       int64_t measured)
{
    const char *whole = NULL;
    if ((before <= 0 && measured <= 0) || counters_loss(name, &whole) == COUNTER_NO_LOSS)
        return;
    if (whole && host_counts(host, whole))
        return;
    json_object_set_new(
        losses, name, json_make("{s:I,s:I}", "before", (json_int_t)before, "measured", (json_int_t)measured));
}

json_t *recorder_losses(const struct recorder *r)
{
    json_t *roles = json_object();
    for (size_t k = 0; k < r->host_count; k++) {
        const struct recorded_host *host = &r->hosts[k];
        json_t *losses = json_object();
        for (size_t i = 0; !host->unlisted && i < host->count; i++) {
            const struct recorded_column *g = &host->gathered[i];
            if (g->any && !g->second && g->column.kind == COLUMN_COUNTER)
                losses_add(losses, host, g->column.name, g->before, g->delta);
        }
        for (size_t i = 0; host->unlisted && host->layout && i < host->layout->count; i++) {
            const struct plain *p = &host->plain[i];
            losses_add(losses, host, host->layout->columns[i].name, increase_between(p->seen_first, p->first),
                       increase_between(p->first, p->last));
        }
        if (json_object_size(losses))
            json_object_set(roles, host->role, losses);
        json_decref(losses);
    }
    return roles;
}

json_t *recorder_quiet(const struct recorder *r)
{
    json_t *quiet = json_object();
    for (size_t i = 0; i < r->flow_count; i++) {
        const struct recorded_flow *flow = &r->flows[i];
        if (flow->longest_ns)
            json_put(quiet, flow->name,
                     json_make("{s:I,s:I,s:I}", "from_ns",
                               (json_int_t)(flow->longest_end_ns - flow->longest_ns - r->start_ns), "ns",
                               (json_int_t)flow->longest_ns, "messages", (json_int_t)flow->messages));
    }
    return quiet;
}

void recorder_warnings(const struct recorder *r, json_t *warnings)
{
    json_array_extend(warnings, r->warnings);
    for (size_t i = 0; i < r->flow_count; i++)
        if (r->flows[i].failed && json_array_size(warnings) < MOST_WARNINGS)
            warn_of_completion(r, &r->flows[i], warnings);
    for (size_t i = 0; i < r->host_count; i++) {
        host_warn_of_left_out(&r->hosts[i], warnings);
        warn_of_sampling(r, &r->hosts[i], warnings);
    }
}
