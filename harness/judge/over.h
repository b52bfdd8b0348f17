/*
 * Expectations and published figures that are judged once for each cell of a sweep, over its repetitions: both sides are evaluated in
 * each run, other(...) in the run with the same repetition of the other cell, and the means are compared.
 */
#ifndef HARNESS_OVER_H
#define HARNESS_OVER_H

#include "harness/judge/verdict.h"
#include "lib/statistics/spread.h"

struct over_item {
    const struct scenario_expect *expect;       /* one of these, */
    const struct scenario_published *published; /* the other is NULL */
    const struct expr *expr;
    const char *later; /* verdict_later() */
    size_t other;      /* the other cell, or NO_CELL */
    struct spread_sums left, right;
    char unit[8];
    json_t *why; /* it cannot be judged */
};

struct over {
    size_t repeats;
    struct over_item *items;
    size_t count;
};

/* Those of the cell, which outlives it, whose "when" holds. */
int over_open(struct over *over, const struct cell *cell, const struct verdict_scope *scope,
              const struct cell_places *places, struct error *e);
/* The result of one run, named for sentences, and that of the other cell's, NULL if there is none. */
void over_take(struct over_item *item, const char *name, const json_t *result, const json_t *other);
/* After all runs: entries as in index.json (docs/result.md), and the worst verdict. */
json_t *over_expectations(const struct over *over, enum verdict *verdict);
json_t *over_published(const struct over *over);
void over_close(struct over *over);

#endif
