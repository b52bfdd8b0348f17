/*
 * Counters of a SONiC switch's port, its queues and priority groups, from COUNTERS_DB: before a run's traffic, and after it.
 * Names in COUNTERS_DB are those of SAI (opencomputeproject/SAI, inc/saiport.h, saiqueue.h, saibuffer.h); which of them SONiC keeps:
 * sonic-net/sonic-swss, orchagent/portsorch.cpp.
 */
#ifndef HARNESS_SONIC_COUNTERS_H
#define HARNESS_SONIC_COUNTERS_H

#include <jansson.h>

/* What redis runs to read them: ARGV are ports; the answer of a port is what sonic_counters takes. Databases 4 and 2 are CONFIG_DB and
 * COUNTERS_DB. With the ports there are "hwsku", and "poll_ms": how often the switch reads its ASIC, by counter group. */
extern const char sonic_counters_script[];

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

#endif
