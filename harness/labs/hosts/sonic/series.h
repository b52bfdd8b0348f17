/*
 * Readings of a SONiC switch's counters as samples of a role, under the names that a simulated switch has (portN_rx_prio3_pause: N counts the
 * switch's links in the lab's order), so that expectations, drawings and exports know them.
 */
#ifndef HARNESS_SONIC_SERIES_H
#define HARNESS_SONIC_SERIES_H

#include "lib/error.h"
#include "lib/formats/lab.h"
#include "lib/text.h"
#include <jansson.h>

struct sonic_series;

/* The counters that a first reading has (an answer to sonic_counters_script), of these groups (a bit each). NULL: out of memory. */
struct sonic_series *sonic_series_open(const struct lab *lab, const struct lab_switch *of,
                                       const json_t *reading, uint32_t groups, struct error *e);
void sonic_series_close(struct sonic_series *s);
/* The names of its columns. A new reference. */
json_t *sonic_series_names(const struct sonic_series *s);
/* Does it have a counter of this name? */
bool sonic_series_has(const struct sonic_series *s, const char *name);
/* As docs/lines.md says: the header, and a reading as a sample, whose time is that of the switch; *time_ns: that time. */
json_t *sonic_series_header(const struct sonic_series *s, const char *host, int64_t every_ns);
int sonic_series_sample(const struct sonic_series *s, const json_t *reading, struct text *line,
                        int64_t *time_ns, struct error *e);

/* The number of links that end at the switch: its ports are 0 to this minus 1. */
size_t sonic_series_ports(const struct lab *lab, const char *name);

#endif
