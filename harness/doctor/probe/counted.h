/* What a probe's result says: flows and counters of roles (docs/result.md). Nothing in it is trusted to be there. */
#ifndef HARNESS_PROBE_COUNTED_H
#define HARNESS_PROBE_COUNTED_H

#include "harness/plan/cell.h"
#include "lib/text.h"

#define COUNTED_PRIORITIES (FLOW_MAX_PRIORITY + 1)

/* A probe that ended, with what is known of its hosts. */
struct probed {
    const struct cell *cell;
    const json_t *result;
    const json_t *in_force; /* role -> settings; a role that is not there was not seen */
    const char *folder;     /* that keeps the result; NULL: none */
};

/* By how much a counter rose from the run's first sample to its last; -1: the role has none. */
int64_t counted_total(const struct probed *p, const char *role, const char *counter);
/* The same of the counter with the priority between its two parts: "tx_prio", 3, "_bytes". */
int64_t counted_priority(const struct probed *p, const char *role, const char *before, int64_t priority,
                         const char *after);
/* Payload bytes and messages of a flow; 0 if it moved none. */
int64_t counted_of_flow(const struct probed *p, const char *flow, const char *key);
/* "26.3 MB" */
void counted_say_bytes(struct text *out, int64_t bytes);
/* Append an entry of preflight.h with its evidence: what was read, and where the result is kept. A simulated one says so. */
void counted_say(const struct probed *p, json_t *entries, const char *host, const char *check,
                 const char *verdict, const char *fix, const struct text *reason, const char *read);

#endif
