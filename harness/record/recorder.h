/*
 * Takes the lines of samplers and traffic generators as they arrive: converts their times to the run's clock,
 * writes them into the result folder, and keeps what the summary needs. Memory use does not grow with the
 * length of a run.
 */
#ifndef HARNESS_RECORDER_H
#define HARNESS_RECORDER_H

#include "lib/error.h"
#include "lib/formats/lines.h"
#include "lib/formats/scenario.h"
#include <jansson.h>
#include <stdint.h>

struct recorder;

/* Writes samples.jsonl, flows.jsonl and, when asked, pauses.jsonl in `folder`. */
struct recorder *recorder_open(const char *folder, const struct scenario *scenario, bool pauses,
                               struct error *e);
/* Flush; -1 if something could not be written (full disk). The recorder's figures stay available. */
int recorder_flush(struct recorder *r, struct error *e);
/* Nothing is written any more, and its files are closed; the figures stay. What could not be written is said
 * by recorder_flush. */
void recorder_end(struct recorder *r);
void recorder_close(struct recorder *r);

/* The host's clock minus the controller's: it is subtracted from every time of this role from now on. At
 * most LINES_MOST. */
void recorder_clock(struct recorder *r, size_t role, int64_t offset_ns);
/* The measure phase. Before this call no line counts as inside it. */
void recorder_window(struct recorder *r, int64_t start_ns, int64_t end_ns);

/* One line of a role's sampler. -1: not a line, or it could not be written. Lines that are left out, here and
 * of flows, are counted for a warning. */
int recorder_sample(struct recorder *r, size_t role, const char *text, size_t length, struct error *e);
/* One line of a traffic generator on a host, about a flow of the scenario; times are by the clock of
 * `role`. */
int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e);
/* What one of its programs printed is left out, for this reason. */
void recorder_damaged(struct recorder *r, size_t role, const struct error *why);
/* The summary of all flows of a traffic pattern together, under the pattern's name, from the summaries of its
 * flows NAME/0, NAME/1, ..., written as a line with this time on the run's clock. */
int recorder_pattern(struct recorder *r, const char *pattern, int64_t time_ns, struct error *e);
/* `lasts`: it has not ended when the run does. */
int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, bool lasts, struct error *e);

/* ---- listed roles
 * A role that is not listed has no lines in samples.jsonl, and no summary: its counters are in the totals,
 * and of its columns those are kept that expectations read. Listed are those of the scenario's sample.roles;
 * without it all are. Call this before its columns. */
void recorder_unlist(struct recorder *r, size_t role);
bool recorder_lists(const struct recorder *r, size_t role);
/* Keep the columns that match the globs of roles that are not listed, with this member of their summaries,
 * which must outlive r. */
void recorder_keep(struct recorder *r, const char *role_glob, const char *counter_glob, const char *key);
/* Does it need each sample of the role? Else those at the ends of the phases are enough. */
bool recorder_keeps(const struct recorder *r, size_t role);

/* ---- what is not text: from the simulator, and of switches */

/* A header or end line; takes over the object. */
int recorder_object(struct recorder *r, size_t role, enum line_kind kind, json_t *object, struct error *e);
/* In place of a header line, of a role that is not listed. */
int recorder_columns(struct recorder *r, size_t role, const struct column *columns, size_t count,
                     struct error *e);
int recorder_values(struct recorder *r, size_t role, int64_t time_ns, const int64_t *values, size_t count,
                    struct error *e);
/* A line of a flow, also of one of a traffic pattern, with times on the run's clock; takes over the
 * object. */
int recorder_flow_object(struct recorder *r, enum line_kind kind, json_t *object, struct error *e);

/* Live figures, for progress. */
struct recorder_live {
    double goodput_bps; /* all flows together, over their latest interval */
    double pauses_per_s; /* NAN: no host counts them */
    uint64_t samples;
    uint64_t errors;
};
void recorder_live(const struct recorder *r, struct recorder_live *live);

/* Parts of result.json: hosts.ROLE's counters, sampling and pauses into `host`; all flows; warnings appended,
 * those of the run as a whole last. */
void recorder_host_summary(const struct recorder *r, size_t role, json_t *host);
json_t *recorder_flow_summary(const struct recorder *r);
/* docs/result.md, "totals": counters of all roles together. A new reference. */
json_t *recorder_totals(const struct recorder *r);
/* "machines": counters of some roles together, which are NICs of one machine. What counts on the machine as a
 * whole is the first one's. A new reference; NULL: none of them is listed. */
json_t *recorder_machine(const struct recorder *r, const size_t *roles, size_t count);
void recorder_warnings(const struct recorder *r, json_t *warnings);
/* What counted losses (lib/roce/counters.h), by role and counter: {"before": the measure phase, "measured":
 * in it}. A new reference. */
json_t *recorder_losses(const struct recorder *r);
/* By flow, of its intervals in the measure phase: {"intervals": how many, "bytes", "messages", "early_bytes":
 * those of the first half, "quiet_ns": the longest time in which no message was completed, "quiet_from_ns":
 * when that began, since the phase did}. A new reference. */
json_t *recorder_evenness(const struct recorder *r);
/* A flow whose intervals are too long to show it completed no message in this time, of the measure phase. */
void recorder_note_quiet(struct recorder *r, const char *flow, int64_t from_ns, int64_t until_ns);

#endif
