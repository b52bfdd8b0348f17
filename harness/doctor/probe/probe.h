/*
 * Probes: what `harness doctor --probe` sends, a short run with the settings as they are, and what its
 * counters say. A probe is a check of scope DOCTOR_PROBE: the traffic of a run, and the judgement of its
 * result.
 */
#ifndef HARNESS_DOCTOR_PROBE_H
#define HARNESS_DOCTOR_PROBE_H

#include "harness/doctor/check.h"
#include "lib/text.h"

/* Run each probe on x->plan's first cell, or without a plan between the lab's hosts, and append what it
 * found; what cannot be probed is an entry too. `out`: folder that keeps the results; NULL: they are removed.
 * quiet: show no progress. 1: it was interrupted. -1: it could not be run here (a full disk). */
int doctor_walk_probes(const struct doctor_subject *x, const char *out, bool quiet, struct error *e);

#define COUNTED_PRIORITIES (FLOW_MAX_PRIORITY + 1)

/* A probe that ended, with what is known of its hosts. */
struct probed {
    const struct cell *cell;
    const json_t *result;
    const char *folder; /* that keeps the result; NULL: none */
};

/* ---- what its result says: flows and counters of roles (docs/result.md). Nothing in it is trusted to be
 * there */

/* By how much a counter rose from the run's first sample to its last; -1: the role has none. */
int64_t counted_total(const struct probed *p, const char *role, const char *counter);
/* The same of the counter with the priority between its two parts: "tx_prio", 3, "_bytes". */
int64_t counted_priority(const struct probed *p, const char *role, const char *before, int64_t priority,
                         const char *after);
/* Payload bytes and messages of a flow; 0 if it moved none. */
int64_t counted_of_flow(const struct probed *p, const char *flow, const char *key);
/* "26.3 MB" */
void counted_describe_bytes(struct text *out, int64_t bytes);
/* Append an entry with its evidence: what was read, and where the result is kept. A simulated one says so. */
void counted_add(const struct doctor_subject *x, const char *host, const char *check, const char *verdict,
                 const char *fix, const struct text *reason, const char *read);

#endif
