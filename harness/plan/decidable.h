/* What a scenario asks for and no run could ever decide or do: an expectation that is always skipped is a slip, not an expectation. */
#ifndef HARNESS_DECIDABLE_H
#define HARNESS_DECIDABLE_H

#include "harness/plan/cell.h"

/* An expectation, or a published figure, of a cell. */
struct judgement {
    const char *list; /* "expect" or "published", */
    size_t index;     /* its index there, */
    const char *key;  /* and the key of its expression */
    const char *text;
    const struct expr *expr;
    const json_t *when, *against;
    const struct list_of *needs;
};

/* Judgement i: first the expectations, then the published figures. Returns false after the last. */
bool plan_judgement(const struct cell *cell, size_t i, struct judgement *out);

/* Can it be decided in this cell? 0, or -1 with what is missing. */
typedef int (*plan_decide)(void *context, const struct cell *cell, const struct judgement *judgement,
                           struct error *e);
/* Is there, for each judgement, a cell in which its "when" holds and `decide` returns 0? Judgements whose "when" holds in no cell are
 * not asked about. The error message begins with the judgement's place in the scenario. */
int plan_each_decidable(const struct plan *plan, plan_decide decide, void *context, struct error *e);

/* Does each "when" hold in a cell, has each "against" another cell, do flows and storms begin before the end, and could each expression be decided by what the
 * scenario sends and samples? The error message begins with the place in the scenario. */
int plan_check_decidable(const struct plan *plan, struct error *e);

#endif
