/* Names of counters and gauges that expressions may use: what nic-sampler and the simulator give. */
#ifndef HARNESS_COUNTERS_H
#define HARNESS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

struct counter_name {
    const char *pattern; /* '#' stands for one digit, '*' for anything */
    const char *unit;
    bool gauge;
};

/* The entry for a name, or NULL. */
const struct counter_name *counters_find(const char *name);
/* Is there any entry that a name matching `glob` (fnmatch) could belong to? */
bool counters_match(const char *glob);
/* The nearest known name ("tx_prio0_pause"), or NULL; written into buffer. */
const char *counters_nearest(const char *name, char *buffer, size_t size);

#endif
