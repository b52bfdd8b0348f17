/* What index.json says of each cell over its repetitions (docs/result.md, repeated): figures, and what is judged beyond a single run. The
 * results are read back one by one. */
#ifndef HARNESS_REPEATED_H
#define HARNESS_REPEATED_H

#include "harness/judge/verdict.h"
#include "lib/statistics/spread.h"

struct repeated_cell {
    const struct cell *cell;
    struct spread goodput_bps;        /* of all flows together */
    json_t *expectations, *published; /* as in index.json */
    enum verdict verdict;             /* the worst of the expectations */
};

struct repeated_source {
    const struct plan *plan;
    size_t repeats;
    const json_t *index; /* without what is made here */
    void *context;
    /* The whole result of a run (from 0: a cell's repetitions follow each other), or NULL; a new reference. */
    json_t *(*load)(void *context, size_t run);
    /* The name of its folder. */
    const char *(*name)(void *context, size_t run);
    /* A cell has been judged. */
    void (*judged)(void *context, const struct repeated_cell *cell);
};

struct repeated {
    json_t *cells;                       /* a list, in the order of the cells */
    size_t left_out;                     /* cells that the index has no room for */
    size_t with[VERDICT_INCOMPLETE + 1]; /* how many cells with expectations have each verdict */
};

/* Is there anything to say that the results themselves do not? */
bool repeated_wanted(const struct plan *plan, size_t repeats);
/* The caller releases out->cells, also after a failure. */
int repeated_make(const struct repeated_source *source, struct repeated *out, struct error *e);

#endif
