#include "harness/labs/hosts/sonic/counters.h"

#include "lib/document/json_text.h"
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

const struct sonic_counter sonic_counter_rows[] = {
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

void sonic_fill(char *out, size_t size, const char *pattern, int number)
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

int sonic_counter_count(const struct sonic_counter *row)
{
    return strchr(row->field, '#') || row->part != SONIC_OF_PORT ? SONIC_COUNTED : 1;
}

const json_t *sonic_fields_of(const json_t *port, const struct sonic_counter *row, int number)
{
    static const char *const parts[] = {
        [SONIC_OF_PORT] = "port", [SONIC_OF_QUEUE] = "queues", [SONIC_OF_GROUP] = "groups"};
    const json_t *of = json_object_get(port, parts[row->part]);
    char key[16];
    snprintf(key, sizeof key, "%d", number);
    return row->part == SONIC_OF_PORT ? of : json_object_get(of, key);
}

struct readings {
    const json_t *before, *after;
    const char *where;
    json_t *out, *warnings;
};

static void add(const struct readings *r, const struct sonic_counter *row, int number, const json_t *before,
                const json_t *after)
{
    char field[96], name[64];
    int64_t first, last;
    sonic_fill(field, sizeof field, row->field, number);
    sonic_fill(name, sizeof name, row->name, number);
    if (!sonic_read_value(before, field, &first) || !sonic_read_value(after, field, &last))
        return;
    json_t *counter =
        json_make("{s:s,s:s,s:s,s:I,s:I}", "unit", row->unit, "kind", row->watermark ? "gauge" : "counter",
                  "source", field, "before", (json_int_t)first, "after", (json_int_t)last);
    if (!row->watermark && last >= first)
        json_object_set_new(counter, "delta", json_integer(last - first));
    else if (!row->watermark)
        json_array_append_new(r->warnings,
                              json_textf("%s: %s decreased during the run, from %" PRId64 " to %" PRId64
                                         ": it was cleared, or the switch restarted",
                                         r->where, name, first, last));
    json_object_set_new(r->out, name, counter);
}

static void add_row(const struct readings *r, const struct sonic_counter *row)
{
    for (int i = 0; i < sonic_counter_count(row); i++)
        add(r, row, i, sonic_fields_of(r->before, row, i), sonic_fields_of(r->after, row, i));
}

json_t *sonic_counters(const json_t *before, const json_t *after, const char *where, json_t *warnings)
{
    const struct readings r = {before, after, where, json_object(), warnings};
    for (const struct sonic_counter *row = sonic_counter_rows; row->field; row++)
        add_row(&r, row);
    return r.out;
}

/* ---- how old values are */

/* Where CONFIG_DB states no interval (orchagent/portsorch.cpp: PORT_STAT_FLEX_COUNTER_POLLING_INTERVAL_MS and so on). */
static const struct {
    const char *group;
    long default_ms;
} groups[] = {
    {"PORT", SONIC_PORT_POLL_MS}, {"QUEUE", 10000}, {"WRED_ECN_QUEUE", 10000}, {"WRED_ECN_PORT", 1000}};

long sonic_settle_ms(const json_t *reading)
{
    const json_t *polls = json_object_get(reading, "poll_ms");
    long longest = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int64_t stated;
        if (!json_object_get(polls, groups[i].group))
            continue;
        long ms = !sonic_read_value(polls, groups[i].group, &stated) ? groups[i].default_ms
                  : stated > SONIC_MOST_WAIT_MS                      ? SONIC_MOST_WAIT_MS
                                                                     : (long)stated;
        longest = ms > longest ? ms : longest;
    }
    return longest;
}
