/*
 * Counters of a SONiC switch's ports, their queues and priority groups, from COUNTERS_DB: before a run's
 * traffic and after it, and as samples of a role. Names in COUNTERS_DB are those of SAI
 * (opencomputeproject/SAI, inc/saiport.h, saiqueue.h, saibuffer.h); which of them SONiC keeps:
 * sonic-net/sonic-swss, orchagent/portsorch.cpp.
 */
#ifndef HARNESS_LABS_SONIC_COUNTERS_H
#define HARNESS_LABS_SONIC_COUNTERS_H

#include "lib/error.h"
#include "lib/formats/lab.h"
#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In STATE_DB while a run has changed settings of the switch (harness/labs/hosts/sonic/changes.h). */
#define SONIC_JOURNAL "HARNESS_JOURNAL|settings"

/* What redis runs to read them: ARGV are ports; the answer of a port is what sonic_counters takes. Databases
 * 4 and 2 are CONFIG_DB and COUNTERS_DB. With the ports there are "hwsku", "journal" (there is one), "time"
 * (of the switch, seconds and microseconds), and "poll_ms": how often the switch reads its ASIC, by counter
 * group. */
extern const char sonic_counters_script[];

/* Counters have 64 bits, and are kept within the 63 of JSON's numbers here. False: it is not there, or no
 * number. */
bool sonic_read_value(const json_t *fields, const char *field, int64_t *value);

/*
 * {"rx_prio3_pause": {"unit", "kind", "source", "before", "after", "delta"}, ...} of a port's two readings,
 * each
 * {"port": FIELDS, "queues": {"3": FIELDS}, "groups": {"3": FIELDS}}. A watermark has no "delta". What only
 * one reading has is left out. A counter that decreased has no delta either, and `where` ("tor Ethernet0") is
 * in a warning. A new reference.
 */
json_t *sonic_counters(const json_t *before, const json_t *after, const char *where, json_t *warnings);

/* How long to wait after traffic until its end is in COUNTERS_DB: the longest of the intervals at which
 * counters (not watermarks) are read, in ms; at most SONIC_MOST_WAIT_MS. `reading` is a whole
 * answer. */
long sonic_settle_ms(const json_t *reading);
#define SONIC_MOST_WAIT_MS 15000
#define SONIC_PORT_POLL_MS 1000 /* of a port's counters, where CONFIG_DB states no interval */

/*
 * Readings as samples of a role, under the names that a simulated switch has (portN_rx_prio3_pause: N counts
 * the switch's links in the lab's order), so that expectations, drawings and exports know them.
 */
struct sonic_series;

/* The counters that a first reading has (an answer to sonic_counters_script), of these groups (a bit
 * each). */
struct sonic_series *sonic_series_open(const struct lab *lab, const struct lab_switch *of,
                                       const json_t *reading, uint32_t groups);
void sonic_series_close(struct sonic_series *s);
/* The names of its columns. A new reference. */
json_t *sonic_series_names(const struct sonic_series *s);
/* As docs/lines.md says: the header, and a reading as a sample, whose time is that of the switch; *time_ns:
 * that time. */
json_t *sonic_series_header(const struct sonic_series *s, const char *host, int64_t every_ns);
int sonic_series_sample(const struct sonic_series *s, const json_t *reading, struct text *line,
                        int64_t *time_ns, struct error *e);

/* The number of links that end at the switch: its ports are 0 to this minus 1. */
size_t sonic_series_ports(const struct lab *lab, const char *name);

#endif
