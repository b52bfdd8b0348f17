/* What a recorder holds: for the files of this folder alone. */
#ifndef HARNESS_RECORDED_H
#define HARNESS_RECORDED_H

#include "harness/record/recorder.h"
#include "harness/record/tally.h"
#include "lib/folder/record_file.h"
#include "lib/statistics/histogram.h"

#define PRIORITIES    8
#define MOST_WARNINGS 200

/* A column over the measure phase: counters from the last sample at or before its start to the first at or
 * after its end, gauges inside. */
struct recorded_column {
    struct column column;
    bool any, closed, moved_back;
    bool second; /* another source has one of this name, which the result has */
    int64_t first, last, previous, delta;
    bool seen; /* over the whole run: from the first sample to the last */
    int64_t seen_last, total;
    int64_t before; /* of `total`, what was counted up to the measure phase */
    int64_t first_ns, last_ns;
    uint64_t inside;
    int64_t min, max;
    int64_t unread_ns; /* of a gauge: the long gaps between its values in the measure phase */
    double sum;
    struct tally tally; /* of a gauge */
};

/* A column that is kept of roles that are not listed, and a member of its summary. */
struct kept {
    char *role, *counter; /* globs */
    const char *key;
};

/* The counters among the columns of roles: those of roles that are not listed are mostly the same. */
struct layout {
    struct layout *next;
    size_t values; /* of a sample */
    struct column *columns;
    size_t *places; /* of each counter among the values */
    size_t count;
};

/* A counter of a role that is not listed. LINES_NULL: it was not read. */
struct plain {
    int64_t seen_first, seen_last; /* of the run */
    int64_t first, last;           /* at the ends of the measure phase */
};

/* What a host may have written in all is limited (recorded_host_may_write): samples, headers and events of
 * its sampler, lines of its traffic. */
enum allowance { ALLOW_SAMPLES, ALLOW_OBJECTS, ALLOW_FLOWS, ALLOWANCES };

struct left_out {
    uint64_t taken, lines, bytes; /* samples or bytes that were taken; what was left out */
};

struct recorded_host {
    const char *role;
    struct left_out left_out[ALLOWANCES];
    int64_t offset_ns;
    size_t *slots; /* the current header's columns: indices into gathered */
    size_t slot_count;
    struct recorded_column *gathered;
    size_t count;
    json_t *index; /* of gathered: "SOURCE\nNAME" */
    json_t *names; /* of gathered: an object with each as a key */
    uint64_t samples, overruns;
    int64_t every_ns; /* between samples, by its header */
    double read_sum_ns;
    int64_t read_max_ns, cpu_ns, latest_ns;
    bool headed, ended; /* the header, and the last line of a sampler that has one, were taken */
    bool says_end;
    bool went_back;                       /* its clock did */
    uint64_t damaged;                     /* lines that were left out */
    char *first_damaged;                  /* what was wrong with the first of them */
    struct histogram *pauses[PRIORITIES]; /* NULL: there was none, or it is not listed */
    bool unlisted;                        /* what follows is of such roles alone */
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
    int64_t early_bytes; /* of intervals in the first half of the measure phase, by their middle */
    size_t intervals;    /* inside it */
    int64_t quiet_ns;    /* of the latest of them: no message was completed in these, */
    int64_t longest_ns, longest_end_ns; /* and the longest such time */
    double live_bps;
    int64_t errors;
    json_t *failed;   /* its first completion error, as the result has it; NULL: none */
    char *said;       /* of it */
    size_t failed_at; /* the role that saw it; SIZE_MAX: unknown */
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
    int64_t opened_ns; /* monotonic */
    int64_t start_ns, end_ns;
};

/* The sum of two counts, at most INT64_MAX. */
int64_t recorded_sum(int64_t a, int64_t b);
/* Up to a limit of warnings: a host may have many reasons. */
void recorder_warn(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How many bytes of a host's text (or NULL) a warning has: whole characters. */
int recorded_words(const char *text);

/* Convert a host's time to the run's clock. -1: it is out of range there. */
int recorded_host_to_run_clock(const struct recorded_host *host, int64_t *time_ns, struct error *e);
/* The same of an object line's time_ns. */
int recorded_host_shift_time(const struct recorded_host *host, json_t *object, struct error *e);
/* May the host have this line written? What it may not is counted. */
bool recorded_host_may_write(const struct recorder *r, struct recorded_host *host, enum allowance kind,
                             size_t length);
/* A line is left out. -1. */
int recorded_host_note_damage(struct recorded_host *host, const struct error *why);

/* How much later the first time is than the second, at most INT64_MAX; 0: it is not. */
int64_t recorded_later_ns(int64_t time_ns, int64_t than_ns);
/* A time without a value that is longer than the interval of samples explains, and than a tenth of the
 * measure phase; 0: it is not. */
int64_t recorded_long_gap_ns(const struct recorder *r, const struct recorded_host *host, int64_t gap_ns);

/* The flow of this name, created if missing. */
struct recorded_flow *recorder_find_flow(struct recorder *r, const char *name);
/* "flow f: completion error 12 (...) ...; in the run a counted local_ack_timeout_err 6" */
void recorded_flow_warn(const struct recorder *r, const struct recorded_flow *flow, json_t *warnings);

#endif
