#include "lib/document/json_text.h"
#include "lib/roce/counters.h"
#include "reports/results/lines.h"
#include "reports/trace/parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 65536 /* of all hosts together */
#define HOSTS_MOST   65536
#define RANK_COUNTER 200000 /* behind the ports of a switch */
#define NS_PER_S     1e9

/* A column of a host. */
struct counter_state {
    size_t host;
    char *name;
    char unit[48]; /* that is shown */
    bool is_counter;
    double scale; /* to the unit that is shown; of a counter, of its increase in a second */
    bool seen;
    int64_t first_ns, first_value;
    int64_t time_ns, value; /* of the last sample */
    uint64_t track;         /* made at its first change */
    double shown;           /* last */
};

struct counter_host {
    char *name;
    json_t *index; /* name of a column -> number of the state */
};

struct counter_reader {
    struct trace_parts *parts;
    struct counter_host *hosts;
    size_t host_count, host_capacity;
    struct counter_state *states;
    size_t count, capacity;
    json_t *index; /* name of a host -> its number */
    uint64_t columns_left_out, decreased;
};

/* ---- units */

/* Increases become rates: bytes Gb/s, times the share of the interval in percent, others their number a
 * second. */
static void choose_unit(struct counter_state *s, const struct column *column)
{
    const struct counter_unit *unit = counters_unit(column->unit);
    const char *shown = column->unit, *of_counter = "/s";
    s->is_counter = column->kind == COLUMN_COUNTER;
    s->scale = unit ? unit->scale : 1;
    switch (unit ? unit->quantity : COUNTER_NUMBER) {
    case COUNTER_BYTES:
        shown = s->is_counter ? "Gb/s" : "bytes";
        s->scale *= s->is_counter ? 8 / 1e9 : 1;
        of_counter = "";
        break;
    case COUNTER_RATE_BPS:
        shown = "Gb/s";
        s->scale /= 1e9;
        break;
    case COUNTER_TIME_NS:
        shown = s->is_counter ? "% of the time" : "ns";
        s->scale *= s->is_counter ? 100 / NS_PER_S : 1;
        of_counter = "";
        break;
    case COUNTER_NUMBER:
        break;
    }
    snprintf(s->unit, sizeof s->unit, "%.40s%s", shown, s->is_counter ? of_counter : "");
}

/* ---- headers */

static void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? 2 * *capacity : 64;
    void *more = realloc(items, larger * size);
    if (more)
        *capacity = larger;
    return more;
}

static struct counter_host *host_of(struct counter_reader *r, const char *name)
{
    const json_t *known = json_object_get(r->index, name);
    if (known)
        return &r->hosts[json_integer_value(known)];
    if (r->host_count >= HOSTS_MOST)
        return NULL;
    struct counter_host *hosts = grow(r->hosts, r->host_count, &r->host_capacity, sizeof *hosts);
    if (!hosts)
        return NULL;
    r->hosts = hosts;
    struct counter_host host = {.name = strdup(name), .index = json_object()};
    if (!host.name || !host.index || json_put(r->index, name, json_integer((json_int_t)r->host_count)) != 0) {
        free(host.name);
        json_decref(host.index);
        return NULL;
    }
    hosts[r->host_count] = host;
    return &hosts[r->host_count++];
}

static size_t state_of(struct counter_reader *r, const struct counter_host *host, const struct column *column)
{
    const json_t *known = json_object_get(host->index, column->name);
    if (known)
        return (size_t)json_integer_value(known);
    struct counter_state *states =
        r->count < COLUMNS_MOST ? grow(r->states, r->count, &r->capacity, sizeof *states) : NULL;
    if (!states)
        return SAMPLES_LEFT_OUT;
    r->states = states;
    struct counter_state state = {.host = (size_t)(host - r->hosts), .name = strdup(column->name)};
    if (!state.name || json_put(host->index, column->name, json_integer((json_int_t)r->count)) != 0) {
        free(state.name);
        return SAMPLES_LEFT_OUT;
    }
    choose_unit(&state, column);
    states[r->count] = state;
    return r->count++;
}

static int take_column(void *to, const char *name, const struct column *column, size_t *number,
                       struct error *e)
{
    struct counter_reader *r = to;
    const struct counter_host *host = host_of(r, name);
    (void)e;
    *number = host ? state_of(r, host, column) : SAMPLES_LEFT_OUT;
    r->columns_left_out += *number == SAMPLES_LEFT_OUT;
    return 0;
}

/* ---- samples */

/* "port3_prio0_queue_bytes" of s0 belongs to the place s0:3. */
static uint64_t group_of(struct counter_reader *r, const char *host, const char *column)
{
    char name[400];
    unsigned port;
    struct places *places = &r->parts->places;
    if (counters_of_port(column) && sscanf(column, "port%7u_", &port) == 1 && strlen(host) < 300) {
        snprintf(name, sizeof name, "%s:%u", host, port);
        size_t place = places_find(places, name);
        if (place != PLACE_NONE)
            return places_track(places, place);
    }
    return places_node_track(places, host);
}

/* A counter is drawn from its first change on, with what it was until then. */
static void show(struct counter_reader *r, size_t number, int64_t time_ns, double value)
{
    struct counter_state *s = &r->states[number];
    struct trace_writer *w = &r->parts->writer;
    if (!s->track) {
        s->shown = s->is_counter ? 0 : (double)s->first_value * s->scale;
        if (value == s->shown)
            return;
        s->track = trace_counter_track(w, group_of(r, r->hosts[s->host].name, s->name),
                                       RANK_COUNTER + (int)number, s->name, s->unit);
        if (s->first_ns < time_ns)
            trace_count(w, s->track, s->first_ns, s->shown);
    }
    if (value == s->shown)
        return;
    trace_count(w, s->track, time_ns, value);
    s->shown = value;
}

/* An increase is drawn over the interval in which it was: from the sample before. */
static void take_value(struct counter_reader *r, size_t number, int64_t time_ns, bool back, int64_t value)
{
    struct counter_state *s = &r->states[number];
    if (!s->seen) {
        s->seen = true;
        s->first_ns = time_ns;
        s->first_value = value;
    } else if (back || time_ns < s->time_ns) {
        /* counted by the reader of samples */
    } else if (s->is_counter && value < s->value) {
        r->decreased++;
    } else if (!s->is_counter) {
        show(r, number, time_ns, (double)value * s->scale);
    } else if (time_ns > s->time_ns) {
        double increase = (double)((uint64_t)value - (uint64_t)s->value);
        show(r, number, s->time_ns, increase * s->scale * NS_PER_S / (double)(time_ns - s->time_ns));
    }
    s->time_ns = time_ns;
    s->value = value;
}

static int take_sample(void *to, const struct sample *sample, struct error *e)
{
    struct counter_reader *r = to;
    for (size_t i = 0; i < sample->count; i++)
        if (sample->values[i] != LINES_NULL && sample->columns[i] != SAMPLES_LEFT_OUT)
            take_value(r, sample->columns[i], sample->time_ns, sample->back, sample->values[i]);
    return trace_writer_check(&r->parts->writer, r->parts->path, e);
}

/* ---- all */

static void free_reader(struct counter_reader *r)
{
    for (size_t i = 0; i < r->host_count; i++) {
        free(r->hosts[i].name);
        json_decref(r->hosts[i].index);
    }
    for (size_t i = 0; i < r->count; i++)
        free(r->states[i].name);
    free(r->hosts);
    free(r->states);
    json_decref(r->index);
}

int trace_counters(struct trace_parts *t, struct error *e)
{
    static const struct sample_taker taker = {take_column, take_sample};
    struct counter_reader r = {.parts = t, .index = json_object()};
    struct samples_odd odd = {0};
    uint64_t constant = 0;
    int result = r.index ? run_each_sample(t->run, &taker, &r, &odd, e)
                         : error_set(e, "out of memory for the counters");
    for (size_t i = 0; i < r.count; i++)
        constant += !r.states[i].track;
    trace_left_out(t, constant, "counters and gauges that never changed");
    trace_left_out(t, r.columns_left_out, "columns of samples beyond a limit");
    trace_left_out(t, odd.left_out, "samples of hosts without a header");
    trace_left_out(t, odd.back, "samples that " SAMPLES_BACK);
    trace_left_out(t, r.decreased, "values of counters that decreased");
    free_reader(&r);
    return result;
}
