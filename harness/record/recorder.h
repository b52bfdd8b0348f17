/*
 * Takes the lines of samplers and traffic generators as they arrive: converts their times to the run's clock, writes
 * them into the result folder, and keeps what the summary needs. Memory use does not grow with the length of a run.
 */
#ifndef HARNESS_RECORDER_H
#define HARNESS_RECORDER_H

#include "lib/error.h"
#include "lib/formats/scenario.h"
#include <jansson.h>
#include <stdint.h>

struct recorder;

/* Writes samples.jsonl, flows.jsonl and, when asked, pauses.jsonl in `folder`. */
struct recorder *recorder_open(const char *folder, const struct scenario *scenario, bool pauses,
                               struct error *e);
/* Flush; -1 if something could not be written (full disk). The recorder's figures stay available. */
int recorder_flush(struct recorder *r, struct error *e);
void recorder_close(struct recorder *r);

/* The host's clock minus the controller's: it is subtracted from every time of this role from now on. At
 * most LINES_MOST. */
void recorder_clock(struct recorder *r, size_t role, int64_t offset_ns);
/* The measure phase. Before this call no line counts as inside it. */
void recorder_window(struct recorder *r, int64_t start_ns, int64_t end_ns);

/* One line of a role's sampler. -1: not a line, or it could not be written. */
int recorder_sample(struct recorder *r, size_t role, const char *text, size_t length, struct error *e);
/* One line of a traffic generator on a host, about a flow of the scenario; times are by the clock of `role`. */
int recorder_flow(struct recorder *r, size_t role, const char *text, size_t length, struct error *e);
/* The same from the simulator: also about the flows of traffic patterns. */
int recorder_simulated_flow(struct recorder *r, const char *text, size_t length, struct error *e);
/* The summary of all flows of a traffic pattern together, under the pattern's name, from the summaries of its flows NAME/0, NAME/1, ...,
 * written as a line with this time on the run's clock. */
int recorder_pattern(struct recorder *r, const char *pattern, int64_t time_ns, struct error *e);
int recorder_pause(struct recorder *r, const char *where, unsigned priority, int64_t start_ns,
                   int64_t duration_ns, struct error *e);

/* Live figures, for progress. */
struct recorder_live {
    double goodput_bps; /* all flows together, over their latest interval */
    double pauses_per_s;
    uint64_t samples;
    uint64_t errors;
};
void recorder_live(const struct recorder *r, struct recorder_live *live);

/* Parts of result.json: hosts.ROLE's counters, sampling and pauses into `host`; all flows; warnings appended. */
void recorder_host_summary(const struct recorder *r, size_t role, json_t *host);
json_t *recorder_flow_summary(const struct recorder *r);
void recorder_warnings(const struct recorder *r, json_t *warnings);

#endif
