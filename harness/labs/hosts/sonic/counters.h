/*
 * Counters of a SONiC switch's port, its queues and priority groups, from COUNTERS_DB: before a run's traffic, and after it.
 * Names in COUNTERS_DB are those of SAI (opencomputeproject/SAI, inc/saiport.h, saiqueue.h, saibuffer.h); which of them SONiC keeps:
 * sonic-net/sonic-swss, orchagent/portsorch.cpp.
 */
#ifndef HARNESS_SONIC_COUNTERS_H
#define HARNESS_SONIC_COUNTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In STATE_DB while a run has changed settings of the switch (harness/labs/hosts/sonic/changes.h). */
#define SONIC_JOURNAL "HARNESS_JOURNAL|settings"

/* What redis runs to read them: ARGV are ports; the answer of a port is what sonic_counters takes. Databases 4 and 2 are CONFIG_DB and
 * COUNTERS_DB. With the ports there are "hwsku", "journal" (there is one), "time" (of the switch, seconds and microseconds), and "poll_ms": how often the switch
 * reads its ASIC, by counter group. */
extern const char sonic_counters_script[];

#define SONIC_COUNTED 8 /* priorities, queues, priority groups: those with a greater number are not read */

/* A counter: '#' in `field` and `name` stands for a number, in names of a port's fields that of a priority, else of the queue or
 * priority group. */
enum sonic_part { SONIC_OF_PORT, SONIC_OF_QUEUE, SONIC_OF_GROUP };
struct sonic_counter {
    const char *field, *name, *unit;
    enum sonic_part part;
    bool watermark;
};
extern const struct sonic_counter sonic_counter_rows[]; /* ended by a row without field */
/* How many there are of it at a port: 1 or SONIC_COUNTED. */
int sonic_counter_count(const struct sonic_counter *row);
/* Where the counter's field is in a port's reading; NULL: nowhere. */
const json_t *sonic_fields_of(const json_t *port, const struct sonic_counter *row, int number);
/* `pattern` with the number for its '#'. */
void sonic_fill(char *out, size_t size, const char *pattern, int number);
/* Counters have 64 bits, and are kept within the 63 of JSON's numbers here. False: it is not there, or no number. */
bool sonic_read_value(const json_t *fields, const char *field, int64_t *value);

/*
 * {"rx_prio3_pause": {"unit", "kind", "source", "before", "after", "delta"}, ...} of a port's two readings, each
 * {"port": FIELDS, "queues": {"3": FIELDS}, "groups": {"3": FIELDS}}. A watermark has no "delta". What only one reading has is left out. A counter
 * that decreased has no delta either, and `where` ("tor Ethernet0") is in a warning. A new reference.
 */
json_t *sonic_counters(const json_t *before, const json_t *after, const char *where, json_t *warnings);

/* How long to wait after traffic until its end is in COUNTERS_DB: the longest of the intervals at which counters that are no watermarks
 * are read, in ms; at most SONIC_MOST_WAIT_MS. `reading` is a whole answer. */
long sonic_settle_ms(const json_t *reading);
#define SONIC_MOST_WAIT_MS 15000
#define SONIC_PORT_POLL_MS 1000 /* of a port's counters, where CONFIG_DB states no interval */

#endif
