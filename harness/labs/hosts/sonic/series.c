#include "harness/labs/hosts/sonic/series.h"

#include "harness/labs/hosts/sonic/counters.h"
#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/roce/counters.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A value of COUNTERS_DB. */
struct source {
    const char *port;
    const struct sonic_counter *row;
    int number;
};

/* A counter is one value, or the sum of several. */
struct series_column {
    char name[64];
    const struct counter *known;
    bool gauge;
    size_t first, count; /* sources */
};

struct sonic_series {
    struct series_column *columns;
    struct source *sources;
    size_t count, source_count;
    uint32_t groups;
};

/* ---- columns */

static int add_source(struct sonic_series *s, const struct source *source)
{
    struct source *grown = realloc(s->sources, (s->source_count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    s->sources = grown;
    s->sources[s->source_count++] = *source;
    return 0;
}

/* The sources since `first` are its own; without any there is no column. */
static int add_column(struct sonic_series *s, const char *name, bool gauge, size_t first)
{
    const struct counter *known = counters_find(name);
    if (s->source_count == first || !known || !(s->groups >> known->group & 1)) {
        s->source_count = first;
        return 0;
    }
    struct series_column *grown = realloc(s->columns, (s->count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    s->columns = grown;
    struct series_column *column = &grown[s->count++];
    *column = (struct series_column){
        .known = known, .gauge = gauge, .first = first, .count = s->source_count - first};
    snprintf(column->name, sizeof column->name, "%s", name);
    return 0;
}

/* Those that the reading has. */
static int add_if_there(struct sonic_series *s, const json_t *reading, const char *port,
                        const struct sonic_counter *row, int number)
{
    char field[96];
    int64_t value;
    const json_t *of = json_object_get(json_object_get(reading, "ports"), port);
    sonic_fill(field, sizeof field, row->field, number);
    const struct source source = {port, row, number};
    return sonic_read_value(sonic_fields_of(of, row, number), field, &value) ? add_source(s, &source) : 0;
}

static const struct sonic_counter *row_of(const char *name)
{
    const struct sonic_counter *row = sonic_counter_rows;
    while (row->field && strcmp(row->name, name) != 0)
        row++;
    return row->field ? row : NULL;
}

/* All of these rows at a port, ended by NULL. */
static int add_rows(struct sonic_series *s, const json_t *reading, const char *port,
                    const char *const names[])
{
    for (; *names; names++) {
        const struct sonic_counter *row = row_of(*names);
        for (int i = 0; row && i < sonic_counter_count(row); i++)
            if (add_if_there(s, reading, port, row, i) != 0)
                return -1;
    }
    return 0;
}

/* What is counted at all ports together. */
static const struct {
    const char *name, *of[2];
} sums[] = {{"rx_pause", {"rx_prio#_pause", NULL}},
            {"tx_pause", {"tx_prio#_pause", NULL}},
            {"watchdog_storms", {"tx_queue#_storms_detected", NULL}},
            {"watchdog_restores", {"tx_queue#_storms_restored", NULL}},
            {"ecn_marked", {NULL}}};
#define SUMS (sizeof sums / sizeof *sums)
static const char *const discards[] = {"rx_discards", "tx_discards", NULL};

/* What a port has marked: its own counter, else those of its queues. */
static int add_marks(struct sonic_series *s, const json_t *reading, const char *port)
{
    static const char *const whole[] = {"ecn_marked", NULL}, *const parts[] = {"tx_queue#_ecn_marked", NULL};
    size_t before = s->source_count;
    if (add_rows(s, reading, port, whole) != 0)
        return -1;
    return s->source_count > before ? 0 : add_rows(s, reading, port, parts);
}

static int add_port(struct sonic_series *s, const json_t *reading, const char *port, size_t number)
{
    char name[64], pattern[64];
    size_t first;
    for (const struct sonic_counter *row = sonic_counter_rows; row->field; row++)
        for (int i = 0; strcmp(row->name, "ecn_marked") != 0 && i < sonic_counter_count(row); i++) {
            first = s->source_count;
            sonic_fill(pattern, sizeof pattern, row->name, i);
            snprintf(name, sizeof name, "port%zu_%.50s", number, pattern);
            if (add_if_there(s, reading, port, row, i) != 0 ||
                add_column(s, name, row->watermark, first) != 0)
                return -1;
        }
    first = s->source_count;
    snprintf(name, sizeof name, "port%zu_ecn_marked", number);
    if (add_marks(s, reading, port) != 0 || add_column(s, name, false, first) != 0)
        return -1;
    first = s->source_count;
    snprintf(name, sizeof name, "port%zu_discards", number);
    return add_rows(s, reading, port, discards) != 0 || add_column(s, name, false, first) != 0 ? -1 : 0;
}

/* Port i of the switch, NULL where the lab does not say which it is; *more: there is one. */
static const char *port_at(const struct lab *lab, const char *name, size_t i, bool *more)
{
    const struct lab_link *link;
    *more = false;
    for (size_t k = 0; (link = lab_link_at(lab, k)); k++) {
        if (!lab_link_peer(link, name) || i-- > 0)
            continue;
        *more = true;
        return lab_link_port(link, name);
    }
    return NULL;
}

size_t sonic_series_ports(const struct lab *lab, const char *name)
{
    size_t count = 0;
    bool more;
    while (port_at(lab, name, count, &more) || more)
        count++;
    return count;
}

/* Of those that the lab names. */
static int add_sum(struct sonic_series *s, const struct lab *lab, const char *of, const json_t *reading,
                   size_t sum)
{
    size_t first = s->source_count;
    bool more = true;
    for (size_t i = 0; more; i++) {
        const char *port = port_at(lab, of, i, &more);
        int result = !port           ? 0
                     : *sums[sum].of ? add_rows(s, reading, port, sums[sum].of)
                                     : add_marks(s, reading, port);
        if (result != 0)
            return -1;
    }
    return add_column(s, sums[sum].name, false, first);
}

struct sonic_series *sonic_series_open(const struct lab *lab, const struct lab_switch *of,
                                       const json_t *reading, uint32_t groups, struct error *e)
{
    struct sonic_series *s = calloc(1, sizeof *s);
    bool more = true;
    int result = s ? 0 : -1;
    if (s)
        s->groups = groups;
    for (size_t i = 0; result == 0 && more; i++) {
        const char *port = port_at(lab, of->name, i, &more);
        if (port)
            result = add_port(s, reading, port, i);
    }
    for (size_t sum = 0; result == 0 && sum < SUMS; sum++)
        result = add_sum(s, lab, of->name, reading, sum);
    if (result == 0)
        return s;
    error_set(e, "switch %s: out of memory for its counters", of->name);
    sonic_series_close(s);
    return NULL;
}

void sonic_series_close(struct sonic_series *s)
{
    if (s) {
        free(s->columns);
        free(s->sources);
    }
    free(s);
}

json_t *sonic_series_names(const struct sonic_series *s)
{
    json_t *names = json_array();
    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(names, json_text(s->columns[i].name));
    return names;
}

bool sonic_series_has(const struct sonic_series *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->columns[i].name, name) == 0)
            return true;
    return false;
}

/* ---- lines */

json_t *sonic_series_header(const struct sonic_series *s, const char *host, int64_t every_ns)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const struct series_column *c = &s->columns[i];
        json_array_append_new(columns,
                              json_make("{s:s,s:s,s:s,s:s,s:s}", "name", c->name, "unit", c->known->unit,
                                        "kind", c->gauge ? "gauge" : "counter", "source", "sonic", "group",
                                        counter_group_names[c->known->group]));
    }
    return json_make("{s:s,s:i,s:s,s:s,s:I,s:s,s:[],s:o}", "type", "header", "schema", 1, "program",
                     "redis-cli", "version", "", "every_ns", (json_int_t)every_ns, "host", host, "missing",
                     "columns", columns);
}

static bool value_of(const struct sonic_series *s, const struct series_column *c, const json_t *ports,
                     int64_t *sum)
{
    char field[96];
    *sum = 0;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct source *source = &s->sources[i];
        int64_t value;
        sonic_fill(field, sizeof field, source->row->field, source->number);
        const json_t *fields =
            sonic_fields_of(json_object_get(ports, source->port), source->row, source->number);
        if (!sonic_read_value(fields, field, &value))
            return false;
        *sum = value > INT64_MAX - *sum ? INT64_MAX : *sum + value;
    }
    return true;
}

/* ["1700000000", "123456"] */
static int time_of(const json_t *reading, int64_t *time_ns, struct error *e)
{
    const json_t *time = json_object_get(reading, "time");
    const json_t *fields =
        json_make("{s:O?,s:O?}", "s", json_array_get(time, 0), "us", json_array_get(time, 1));
    int64_t seconds, us;
    bool good = sonic_read_value(fields, "s", &seconds) && sonic_read_value(fields, "us", &us) &&
                seconds < INT64_C(4000000000) && us < 1000000;
    json_decref((json_t *)(uintptr_t)fields);
    if (!good)
        return error_set(e, "a reading has no time: expected seconds and microseconds");
    *time_ns = seconds * NS_PER_S + us * NS_PER_US;
    return 0;
}

int sonic_series_sample(const struct sonic_series *s, const json_t *reading, struct text *line,
                        int64_t *time_ns, struct error *e)
{
    const json_t *ports = json_object_get(reading, "ports");
    if (time_of(reading, time_ns, e) != 0)
        return -1;
    text_add(line, "[%" PRId64 ",0", *time_ns);
    for (size_t i = 0; i < s->count; i++) {
        int64_t value;
        if (value_of(s, &s->columns[i], ports, &value))
            text_add(line, ",%" PRId64, value);
        else
            text_add(line, ",null");
    }
    text_add(line, "]");
    return line->failed ? error_set(e, "out of memory for a sample") : 0;
}
