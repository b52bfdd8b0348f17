/* What index.json says of each cell over its repetitions (docs/result.md, repeated): figures, and what is
 * judged beyond a single run. The results are read back one by one. */
#ifndef HARNESS_REPEATED_H
#define HARNESS_REPEATED_H

#include "harness/judge/verdict.h"
#include "lib/statistics/spread.h"
#include <jansson.h>

/* ---- figures: mean, standard deviation and confidence interval of each */

struct spread_figure {
    char *name, *unit;
    struct spread_sums sums;
    size_t run; /* the last one that had it */
    size_t few; /* runs of which it is a quantile of too few values: no more than the largest */
};

struct spreads {
    struct spread_figure *figures; /* in the order in which they came first */
    size_t count, capacity;
    json_t *places; /* name -> index */
    size_t runs;
};

/* How many bytes a document may still take, as text and in memory. */
struct room {
    size_t text, memory;
};

/* A zeroed struct has none. The figures of another run, one by one; -1: out of memory. */
int spreads_next_run(struct spreads *spreads);
int spreads_add(struct spreads *spreads, const char *name, const char *unit, double value);
/* The figures of one run's result (docs/result.md, repeated), as another run. -1: out of memory. */
int spreads_add_result(struct spreads *spreads, const json_t *result);
/* The spread of a figure; of none if there is no such figure. */
struct spread spreads_of(const struct spreads *spreads, const char *name);
/* {NAME: {"unit", "count", "mean", "stddev", "ci95"}}: the first ones, as many as there is room for;
 * *left_out are not in it. A new reference. */
json_t *spreads_json(const struct spreads *spreads, struct room room, size_t *left_out);
/* Had all of several results the same value of each figure, and each figure? Then they are one measurement.
 */
bool spreads_are_identical(const struct spreads *spreads);
void spreads_free(struct spreads *spreads);

/* ---- the index */

struct repeated_cell {
    const struct cell *cell;
    struct spread goodput_bps, delivered_bps; /* of all flows together; of none where it was not counted */
    const struct spreads *figures;            /* all; of one run its own */
    bool identical;                           /* its runs, in all figures */
    json_t *expectations, *published;         /* as in index.json */
    enum verdict verdict;                     /* the worst of the expectations */
};

struct repeated_source {
    const struct plan *plan;
    size_t repeats;
    const json_t *index; /* without what is made here */
    void *context;
    /* The whole result of a run (from 0: a cell's repetitions follow each other), or NULL; a new
     * reference. */
    json_t *(*load)(void *context, size_t run);
    /* The name of its folder. */
    const char *(*name)(void *context, size_t run);
    /* A cell has been judged. */
    void (*judged)(void *context, const struct repeated_cell *cell);
};

struct repeated {
    json_t *cells;                       /* a list, in the order of the cells */
    size_t left_out;                     /* cells that the index has no room for */
    json_t *warnings;                    /* sentences about cells whose runs are identical, a list */
    size_t with[VERDICT_INCOMPLETE + 1]; /* how many cells with expectations have each verdict */
};

/* Is there anything to say that the results themselves do not? */
bool repeated_wanted(const struct plan *plan, size_t repeats);
/* The caller releases out->cells and out->warnings, also after a failure. */
int repeated_make(const struct repeated_source *source, struct repeated *out, struct error *e);

#endif
