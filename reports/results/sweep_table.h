/*
 * A sweep as a table: a row for each run, with its choices, and a figure of each run in each column. The
 * results are read one after the other and only their figures are kept, so that ten thousand runs fit into
 * memory.
 */
#ifndef REPORTS_SWEEP_TABLE_H
#define REPORTS_SWEEP_TABLE_H

#include "lib/error.h"
#include "lib/formats/origin.h"
#include "lib/formats/verdicts.h"
#include "lib/statistics/spread.h"
#include "lib/text.h"
#include "reports/results/damaged.h"
#include "reports/results/run.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWEEP_MAX_AXES    64
#define SWEEP_MAX_FIGURES 256
#define SWEEP_NO_VALUE    UINT32_MAX /* the cell has no choice of this path */
#define SWEEP_ZIPPED      8          /* axes in one dimension, at most */

/* ---- choices */

struct sweep_value {
    char *shown;   /* for people: "64KiB" */
    char *exact;   /* "64KiB", or a value of other kind as JSON */
    double number; /* NAN: words */
    bool is_number;
};

struct sweep_axis {
    char *path;                 /* "flows.*.message" */
    char *label;                /* as much of its end as tells it from the other axes: "message" */
    struct sweep_value *values; /* numbers by size, words in the order of the cells */
    size_t count;
    bool words;  /* not all values are numbers */
    bool varies; /* more than one value */
};

/* Axes whose values go together ("zip") are one direction of a drawing. */
struct sweep_dimension {
    size_t axes[SWEEP_ZIPPED]; /* the first gives the order */
    size_t count;
    char *label; /* "kmin, kmax" */
    bool words;
    bool sampled; /* its values go together with those of another, in no order: both are samples ("draw") */
};

/* ---- what was found */

struct sweep_row {
    char *folder; /* in the sweep's */
    size_t cell;
    long long repeat;
    enum verdict verdict;
    char *reason; /* why it was not judged, is incomplete, or failed when the sweep ended; "": nothing says */
};

struct sweep_figure {
    char *name;                          /* "goodput of all flows", or an expectation's name */
    char *check;                         /* an expectation's rule; NULL: no expectation has the figure */
    char *unit;                          /* of the values: "b/s" */
    double *values;                      /* by row, NAN: none */
    unsigned char *verdicts;             /* by row, enum verdict; NULL: no expectation */
    double low, high;                    /* of the values */
    size_t known;                        /* rows with a value */
    bool counter;                        /* of all hosts together */
    bool still;                          /* a counter that no run changed: not shown */
    bool later;                          /* an expectation that is judged when the sweep has ended */
    bool mean;                           /* no run has a value of its own: that of a cell's first run is the
                                            mean of the cell's runs */
    size_t with[VERDICT_INCOMPLETE + 1]; /* rows with each verdict */
};

/* All repetitions of the same choices: members[first], members[first + 1], ... are their rows. */
struct sweep_cell {
    size_t first, count;
};

struct sweep_failure {
    size_t row;
    size_t figure; /* the expectation; SIZE_MAX: the run is incomplete */
    char *reason;
};

struct sweep_published {
    size_t row;
    char *name, *unit, *source, *reason;
    double published, value, difference_percent; /* NAN: none */
};

struct sweep_table {
    json_t *index;    /* without its cells */
    struct run first; /* one whole result, for what all runs share */
    struct sweep_axis *axes;
    size_t axis_count;
    struct sweep_dimension *dimensions;
    size_t dimension_count;
    struct sweep_row *rows;
    size_t row_count;
    uint32_t *choices; /* row after row, by axis */
    struct sweep_cell *cells;
    size_t cell_count;
    size_t *members;
    struct sweep_figure *figures;
    size_t figure_count, figures_left_out;
    json_t *figure_numbers; /* by a key of their own */
    struct sweep_failure *failures;
    size_t failure_count, failures_left_out; /* reasons are kept of the first ones alone */
    struct sweep_published *published;
    size_t published_count, published_left_out;
    json_t *warnings; /* words: [how many runs have it, 0: the sweep itself; the first and last one's row] */
    json_t *not_judged; /* by checkers of packets, the same */
    json_t *sources;    /* of all runs: run_take_sources */
    size_t few;         /* quantiles of too few values, which are left out */
    size_t warnings_left_out, not_judged_left_out, flows_left_out; /* the last of one run, at most */
    size_t with[VERDICT_INCOMPLETE + 1];
    struct origins origins;
    struct damaged damaged;
};

/* Is the folder that of a sweep? -1 with an error if it cannot be opened. */
int sweep_table_wanted(const char *path, struct error *e);
/* After a failure too, sweep_table_free may be called. */
int sweep_table_load(const char *folder, struct sweep_table *t, struct error *e);
void sweep_table_free(struct sweep_table *t);

/* The value of a row on an axis; NULL: it has none. */
const struct sweep_value *sweep_choice(const struct sweep_table *t, size_t row, size_t axis);
/* "message 64KiB, depth 8": the choices that differ between runs; with the repetition if there are
 * several. */
void sweep_describe_row(const struct sweep_table *t, size_t row, struct text *out);
/* The position of a row along a dimension; SWEEP_NO_VALUE: it has none. */
uint32_t sweep_position(const struct sweep_table *t, size_t row, size_t dimension);
size_t sweep_positions(const struct sweep_table *t, size_t dimension);
/* "50KB, 200KB" */
void sweep_name_position(const struct sweep_table *t, size_t dimension, size_t position, struct text *out);
/* A figure over the repetitions of a cell. */
struct spread sweep_spread(const struct sweep_table *t, size_t figure, size_t cell);
/* The worst verdict of the cell's runs. */
enum verdict sweep_verdict(const struct sweep_table *t, size_t cell);
/* Did the expectation fail in one of the cell's runs? */
bool sweep_failed(const struct sweep_table *t, size_t figure, size_t cell);
/* The most repetitions of a cell. */
size_t sweep_repeats(const struct sweep_table *t);

/* A line for each run with all of the table (docs/result.md). */
void sweep_table_csv(const struct sweep_table *t, struct text *out);

/* A unit in which people read such values: 93.1 Gb/s of 93100000000 b/s. */
struct sweep_unit {
    double factor;
    const char *name;
};
struct sweep_unit sweep_unit_of(const struct sweep_figure *figure);
/* The same of a value in `unit`, or of several from `low` to `high`. The unit must outlive what is returned.
 */
struct sweep_unit sweep_unit_for(const char *unit, double low, double high);
/* The same of a single value, and bytes in kB. */
struct sweep_unit sweep_unit_near(const char *unit, double value);

#endif
