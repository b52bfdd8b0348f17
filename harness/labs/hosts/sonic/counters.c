#include "harness/labs/hosts/sonic/counters.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include "lib/roce/counters.h"
#include "lib/xalloc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char sonic_counters_script[] =
    "local function keep(k)\n"
    "  return not string.find(k, 'SAI_PORT_STAT_', 1, true) or string.find(k, '_PFC_', 1, true) or\n"
    "         string.find(k, '_IF_', 1, true) or string.find(k, 'ECN', 1, true) or string.find(k, 'WRED', 1, "
    "true)\n"
    "end\n"
    "local function hash(key)\n"
    "  local f, all = {}, redis.call('HGETALL', key)\n"
    "  for i = 1, #all, 2 do if keep(all[i]) then f[all[i]] = all[i + 1] end end\n"
    "  return f\n"
    "end\n"
    "local function numbered(map, port)\n"
    "  local out = {}\n"
    "  for i = 0, 7 do\n"
    "    local oid = redis.call('HGET', map, port .. ':' .. i)\n"
    "    if oid then\n"
    "      local f = hash('COUNTERS:' .. oid)\n"
    "      for k, v in pairs(hash('USER_WATERMARKS:' .. oid)) do f[k] = v end\n"
    "      out[tostring(i)] = f\n"
    "    end\n"
    "  end\n"
    "  return out\n"
    "end\n"
    "local out = {ports = {}, poll_ms = {}, time = redis.call('TIME')}\n"
    "redis.call('SELECT', 4)\n"
    "out.hwsku = redis.call('HGET', 'DEVICE_METADATA|localhost', 'hwsku') or ''\n"
    "for _, group in ipairs({'PORT', 'QUEUE', 'PG_WATERMARK', 'QUEUE_WATERMARK', 'WRED_ECN_QUEUE', "
    "'WRED_ECN_PORT'}) do\n"
    "  local f = hash('FLEX_COUNTER_TABLE|' .. group)\n"
    "  if f.FLEX_COUNTER_STATUS == 'enable' then out.poll_ms[group] = f.POLL_INTERVAL or '' end\n"
    "end\n"
    "redis.call('SELECT', 6)\n"
    "out.journal = redis.call('EXISTS', '" SONIC_JOURNAL "') == 1\n"
    "redis.call('SELECT', 2)\n"
    "for _, port in ipairs(ARGV) do\n"
    "  local oid = redis.call('HGET', 'COUNTERS_PORT_NAME_MAP', port)\n"
    "  if oid then\n"
    "    out.ports[port] = {port = hash('COUNTERS:' .. oid), queues = numbered('COUNTERS_QUEUE_NAME_MAP', "
    "port),\n"
    "                       groups = numbered('COUNTERS_PG_NAME_MAP', port)}\n"
    "  end\n"
    "end\n"
    "return cjson.encode(out)\n";

/* ---- the counters */

#define COUNTED 8 /* priorities, queues, priority groups: those with a greater number are not read */

/* A counter: '#' in `field` and `name` stands for a number, in names of a port's fields that of a priority,
 * else that of the queue or priority group. */
enum sonic_part { SONIC_OF_PORT, SONIC_OF_QUEUE, SONIC_OF_GROUP };
static const struct sonic_counter {
    const char *field, *name, *unit;
    enum sonic_part part;
    bool watermark;
} counter_rows[] = {
    {"SAI_PORT_STAT_PFC_#_RX_PKTS", "rx_prio#_pause", "frames", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_PFC_#_TX_PKTS", "tx_prio#_pause", "frames", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_PFC_#_ON2OFF_RX_PKTS", "rx_prio#_pause_transition", "events", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_PFC_#_RX_PAUSE_DURATION_US", "rx_prio#_pause_duration", "us", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_PFC_#_TX_PAUSE_DURATION_US", "tx_prio#_pause_duration", "us", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_IF_IN_OCTETS", "rx_bytes", "bytes", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_IF_OUT_OCTETS", "tx_bytes", "bytes", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_IF_IN_DISCARDS", "rx_discards", "packets", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_IF_OUT_DISCARDS", "tx_discards", "packets", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_IF_IN_ERRORS", "rx_errors", "packets", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_ECN_MARKED_PACKETS", "ecn_marked", "packets", SONIC_OF_PORT, false},
    {"SAI_PORT_STAT_WRED_DROPPED_PACKETS", "wred_dropped", "packets", SONIC_OF_PORT, false},
    {"SAI_QUEUE_STAT_PACKETS", "tx_queue#_packets", "packets", SONIC_OF_QUEUE, false},
    {"SAI_QUEUE_STAT_BYTES", "tx_queue#_bytes", "bytes", SONIC_OF_QUEUE, false},
    {"SAI_QUEUE_STAT_DROPPED_PACKETS", "tx_queue#_dropped", "packets", SONIC_OF_QUEUE, false},
    {"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "tx_queue#_ecn_marked", "packets", SONIC_OF_QUEUE, false},
    {"SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES", "tx_queue#_ecn_marked_bytes", "bytes", SONIC_OF_QUEUE, false},
    {"SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", "tx_queue#_wred_dropped", "packets", SONIC_OF_QUEUE, false},
    {"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", "tx_queue#_storms_detected", "events", SONIC_OF_QUEUE, false},
    {"PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", "tx_queue#_storms_restored", "events", SONIC_OF_QUEUE, false},
    {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "tx_queue#_watermark", "bytes", SONIC_OF_QUEUE, true},
    {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", "rx_group#_dropped", "packets", SONIC_OF_GROUP,
     false},
    {"SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", "rx_group#_watermark", "bytes", SONIC_OF_GROUP,
     true},
    {"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", "rx_group#_headroom_watermark", "bytes",
     SONIC_OF_GROUP, true},
    {0},
};

/* `pattern` with the number for its '#'. */
static void counter_fill(char *out, size_t size, const char *pattern, int number)
{
    size_t head = strcspn(pattern, "#");
    if (pattern[head])
        snprintf(out, size, "%.*s%d%s", (int)head, pattern, number, pattern + head + 1);
    else
        snprintf(out, size, "%s", pattern);
}

bool sonic_read_value(const json_t *fields, const char *field, int64_t *value)
{
    const char *text = json_string_value(json_object_get(fields, field));
    size_t digits = text ? strspn(text, "0123456789") : 0;
    if (digits == 0 || digits > 18 || text[digits])
        return false;
    *value = strtoll(text, NULL, 10);
    return true;
}

/* How many there are of it at a port: 1 or COUNTED. */
static int counter_count(const struct sonic_counter *row)
{
    return strchr(row->field, '#') || row->part != SONIC_OF_PORT ? COUNTED : 1;
}

/* Where the counter's field is in a port's reading; NULL: nowhere. */
static const json_t *counter_fields(const json_t *port, const struct sonic_counter *row, int number)
{
    static const char *const parts[] = {
        [SONIC_OF_PORT] = "port", [SONIC_OF_QUEUE] = "queues", [SONIC_OF_GROUP] = "groups"};
    const json_t *of = json_object_get(port, parts[row->part]);
    char key[16];
    snprintf(key, sizeof key, "%d", number);
    return row->part == SONIC_OF_PORT ? of : json_object_get(of, key);
}

/* The rise of a counter between two readings of it; nothing if one of them lacks it. */
static void add_rise(json_t *out, const struct sonic_counter *row, int number, const json_t *before,
                     const json_t *after, const char *where, json_t *warnings)
{
    char field[96], name[64];
    int64_t first, last;
    counter_fill(field, sizeof field, row->field, number);
    counter_fill(name, sizeof name, row->name, number);
    if (!sonic_read_value(before, field, &first) || !sonic_read_value(after, field, &last))
        return;
    json_t *counter =
        json_make("{s:s,s:s,s:s,s:I,s:I}", "unit", row->unit, "kind", row->watermark ? "gauge" : "counter",
                  "source", field, "before", (json_int_t)first, "after", (json_int_t)last);
    if (!row->watermark && last >= first)
        json_object_set_new(counter, "delta", json_integer(last - first));
    else if (!row->watermark)
        json_array_append_new(warnings, json_textf("%s: %s decreased during the run, from %" PRId64
                                                   " to %" PRId64 ": it was cleared, or the switch restarted",
                                                   where, name, first, last));
    json_object_set_new(out, name, counter);
}

json_t *sonic_counters(const json_t *before, const json_t *after, const char *where, json_t *warnings)
{
    json_t *out = json_object();
    for (const struct sonic_counter *row = counter_rows; row->field; row++)
        for (int i = 0; i < counter_count(row); i++)
            add_rise(out, row, i, counter_fields(before, row, i), counter_fields(after, row, i), where,
                     warnings);
    return out;
}

/* ---- how old values are */

/* Where CONFIG_DB states no interval (orchagent/portsorch.cpp: PORT_STAT_FLEX_COUNTER_POLLING_INTERVAL_MS and
 * so on). */
static const struct {
    const char *group;
    long default_ms;
} polled_groups[] = {
    {"PORT", SONIC_PORT_POLL_MS}, {"QUEUE", 10000}, {"WRED_ECN_QUEUE", 10000}, {"WRED_ECN_PORT", 1000}};

long sonic_settle_ms(const json_t *reading)
{
    const json_t *polls = json_object_get(reading, "poll_ms");
    long longest = 0;
    for (size_t i = 0; i < sizeof polled_groups / sizeof *polled_groups; i++) {
        int64_t stated;
        if (!json_object_get(polls, polled_groups[i].group))
            continue;
        long ms = !sonic_read_value(polls, polled_groups[i].group, &stated) ? polled_groups[i].default_ms
                  : stated > SONIC_MOST_WAIT_MS                             ? SONIC_MOST_WAIT_MS
                                                                            : (long)stated;
        longest = ms > longest ? ms : longest;
    }
    return longest;
}

/* ---- series: readings as samples of a role */

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

/* A source if the reading has it. */
static void series_add_source(struct sonic_series *s, const json_t *reading, const char *port,
                              const struct sonic_counter *row, int number)
{
    char field[96];
    int64_t value;
    const json_t *of = json_object_get(json_object_get(reading, "ports"), port);
    counter_fill(field, sizeof field, row->field, number);
    if (!sonic_read_value(counter_fields(of, row, number), field, &value))
        return;
    s->sources = xreallocarray(s->sources, s->source_count + 1, sizeof *s->sources);
    s->sources[s->source_count++] = (struct source){port, row, number};
}

/* The sources since `first` are its own; without any there is no column. */
static void series_add_column(struct sonic_series *s, const char *name, bool gauge, size_t first)
{
    const struct counter *known = counters_find(name);
    if (s->source_count == first || !known || !(s->groups >> known->group & 1)) {
        s->source_count = first;
        return;
    }
    s->columns = xreallocarray(s->columns, s->count + 1, sizeof *s->columns);
    struct series_column *column = &s->columns[s->count++];
    *column = (struct series_column){
        .known = known, .gauge = gauge, .first = first, .count = s->source_count - first};
    snprintf(column->name, sizeof column->name, "%s", name);
}

/* All sources of the counters of these names at a port; ended by NULL. */
static void series_add_sources(struct sonic_series *s, const json_t *reading, const char *port,
                               const char *const names[])
{
    for (; *names; names++)
        for (const struct sonic_counter *row = counter_rows; row->field; row++)
            for (int i = 0; strcmp(row->name, *names) == 0 && i < counter_count(row); i++)
                series_add_source(s, reading, port, row, i);
}

/* What is counted at all ports together. */
static const struct {
    const char *name, *of[2];
} sums[] = {{"rx_pause", {"rx_prio#_pause", NULL}},
            {"tx_pause", {"tx_prio#_pause", NULL}},
            {"watchdog_storms", {"tx_queue#_storms_detected", NULL}},
            {"watchdog_restores", {"tx_queue#_storms_restored", NULL}},
            {"ecn_marked", {NULL}}};

/* What a port has marked: its own counter, else those of its queues. */
static void series_add_marks(struct sonic_series *s, const json_t *reading, const char *port)
{
    static const char *const whole[] = {"ecn_marked", NULL}, *const parts[] = {"tx_queue#_ecn_marked", NULL};
    size_t before = s->source_count;
    series_add_sources(s, reading, port, whole);
    if (s->source_count == before)
        series_add_sources(s, reading, port, parts);
}

static void series_add_port(struct sonic_series *s, const json_t *reading, const char *port, size_t number)
{
    static const char *const discards[] = {"rx_discards", "tx_discards", NULL};
    char name[64], pattern[64];
    size_t first;
    for (const struct sonic_counter *row = counter_rows; row->field; row++)
        for (int i = 0; strcmp(row->name, "ecn_marked") != 0 && i < counter_count(row); i++) {
            first = s->source_count;
            counter_fill(pattern, sizeof pattern, row->name, i);
            snprintf(name, sizeof name, "port%zu_%.50s", number, pattern);
            series_add_source(s, reading, port, row, i);
            series_add_column(s, name, row->watermark, first);
        }
    first = s->source_count;
    snprintf(name, sizeof name, "port%zu_ecn_marked", number);
    series_add_marks(s, reading, port);
    series_add_column(s, name, false, first);
    first = s->source_count;
    snprintf(name, sizeof name, "port%zu_discards", number);
    series_add_sources(s, reading, port, discards);
    series_add_column(s, name, false, first);
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

struct sonic_series *sonic_series_open(const struct lab *lab, const struct lab_switch *of,
                                       const json_t *reading, uint32_t groups)
{
    struct sonic_series *s = xcalloc(1, sizeof *s);
    const char *port;
    bool more = true;
    s->groups = groups;
    for (size_t i = 0; more; i++)
        if ((port = port_at(lab, of->name, i, &more)))
            series_add_port(s, reading, port, i);
    for (size_t sum = 0; sum < sizeof sums / sizeof *sums; sum++) {
        size_t first = s->source_count;
        more = true;
        for (size_t i = 0; more; i++) {
            port = port_at(lab, of->name, i, &more);
            if (port && *sums[sum].of)
                series_add_sources(s, reading, port, sums[sum].of);
            else if (port)
                series_add_marks(s, reading, port);
        }
        series_add_column(s, sums[sum].name, false, first);
    }
    return s;
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

static bool series_read_column(const struct sonic_series *s, const struct series_column *c,
                               const json_t *ports, int64_t *sum)
{
    char field[96];
    *sum = 0;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct source *source = &s->sources[i];
        int64_t value;
        counter_fill(field, sizeof field, source->row->field, source->number);
        const json_t *fields =
            counter_fields(json_object_get(ports, source->port), source->row, source->number);
        if (!sonic_read_value(fields, field, &value))
            return false;
        *sum = value > INT64_MAX - *sum ? INT64_MAX : *sum + value;
    }
    return true;
}

/* ["1700000000", "123456"] */
static int reading_time(const json_t *reading, int64_t *time_ns, struct error *e)
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
    if (reading_time(reading, time_ns, e) != 0)
        return -1;
    text_add(line, "[%" PRId64 ",0", *time_ns);
    for (size_t i = 0; i < s->count; i++) {
        int64_t value;
        if (series_read_column(s, &s->columns[i], ports, &value))
            text_add(line, ",%" PRId64, value);
        else
            text_add(line, ",null");
    }
    text_add(line, "]");
    return line->failed ? error_set(e, "out of memory for a sample") : 0;
}
