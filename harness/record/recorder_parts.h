/* What the recorder's files share. Internal to recorder.h. */
#ifndef HARNESS_RECORDER_PARTS_H
#define HARNESS_RECORDER_PARTS_H

#include "harness/record/recorder.h"
#include "lib/folder/record_file.h"
#include "lib/formats/lines.h"
#include "lib/statistics/histogram.h"
#include "harness/record/tally.h"
#include <stdbool.h>
#include <stdio.h>

#define PRIORITIES 8

#define MOST_COLUMNS LINES_MAX_COLUMNS /* of a host in a run: a sampler's later headers may add some */
#define MOST_SAID    1000              /* bytes of a host's text in a warning */

/* A column over the measure phase: counters from the last sample at or before its start to the first at or after its end,
 * gauges inside. */
struct recorded_column {
    struct column column;
    bool any, closed, moved_back;
    bool second; /* another source has one of this name, which the result has */
    int64_t first, last, previous, delta;
    bool seen; /* over the whole run: from the first sample to the last */
    int64_t seen_last, total;
    int64_t first_ns, last_ns;
    uint64_t inside;
    int64_t min, max;
    double sum;
    struct tally tally; /* of a gauge */
};

/* A column that is kept of roles that are not listed, and a member of its summary. */
struct kept {
    char *role, *counter; /* globs */
    const char *key;
};

struct recorded_host {
    const char *role;
    int64_t offset_ns;
    size_t *slots; /* the current header's columns: indices into gathered */
    size_t slot_count;
    struct recorded_column *gathered;
    size_t count;
    json_t *index; /* of gathered: "SOURCE\nNAME" */
    json_t *names; /* of gathered: an object with each as a key */
    uint64_t samples, overruns;
    double read_sum_ns;
    int64_t read_max_ns, cpu_ns, latest_ns;
    bool ended, went_back; /* its clock did */
    char *end_reason;
    struct histogram *pauses[PRIORITIES]; /* NULL: there was none, or it is not listed */
    bool unlisted;                        /* recorder_unlisted.c: */
    const struct layout *layout;
    size_t layouts;      /* that it has had */
    struct plain *plain; /* by counter of the layout */
    bool closed;
    int64_t first_ns, last_ns;
};

struct recorded_flow {
    char *name;
    const struct scenario_flow *of;       /* NULL: one of a traffic pattern */
    json_t *summary;                      /* the summary line */
    int64_t bytes, messages, duration_ns; /* of intervals inside the measure phase */
    double live_bps;
    int64_t errors;
};

struct recorder {
    const struct scenario *scenario;
    struct record_file samples, flows_file, pauses_file;
    struct recorded_host *hosts;
    size_t host_count;
    struct recorded_flow *flows;
    size_t flow_count;
    json_t *flow_index; /* name -> index */
    struct layout *layouts;
    struct kept *kept;
    size_t kept_count;
    json_t *warnings;
    int64_t start_ns, end_ns;
};

/* Keep a warning, up to a limit. */
void recorder_warn(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How many bytes of a host's text (or NULL) a warning has: whole characters. */
int recorder_words(const char *text);
/* Convert a host's time, and an object line's time_ns, to the run's clock. -1: it is out of range there. */
int recorder_on_run_clock(const struct recorded_host *host, int64_t *time_ns, struct error *e);
int recorder_shift_time(const struct recorded_host *host, json_t *object, struct error *e);
/* The sum of two counts, at most INT64_MAX. */
static inline int64_t recorder_sum(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* recorder_samples.c */
void recorder_free_host(struct recorded_host *host);
/* The place of a column in `gathered`, where it is added when it is new, and then its strings are taken over; SIZE_MAX when there is
 * no room. */
size_t recorder_find_column(struct recorded_host *host, struct column *column);
/* PFC frames that a host receives per second, over its latest samples. */
double recorder_pauses_per_s(const struct recorded_host *host);
/* recorder_flows.c: the flow of this name, created if missing; NULL: out of memory. */
struct recorded_flow *recorder_add_flow(struct recorder *r, const char *name);
/* recorder_pauses.c: of a host, by priority; NULL: none was paused */
json_t *recorder_pause_summary(const struct recorded_host *host);
/* recorder_unlisted.c: a role's columns and samples, when it is not listed. */
int recorder_unlisted_columns(struct recorder *r, struct recorded_host *host, const struct column *columns,
                              size_t count, struct error *e);
void recorder_unlisted_sample(const struct recorder *r, struct recorded_host *host, int64_t time_ns,
                              const int64_t *values);
/* Of a counter's summary the members that are kept. A new reference. */
json_t *recorder_kept_summary(const struct recorder *r, const struct recorded_host *host, const char *name,
                              const json_t *whole);
void recorder_free_unlisted(struct recorder *r);

#endif
