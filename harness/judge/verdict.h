/* Evaluates expectations and published figures of results. Reads only the result documents. */
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include "lib/formats/origin.h"
#include "harness/plan/plan.h"
#include "lib/formats/verdicts.h"
#include "lib/statistics/spread.h"

/* The word "verdict" of a result, or of a run in an index; of an unknown one VERDICT_INCOMPLETE. */
enum verdict verdict_said_by(const json_t *document);

/* The sweep that a run belongs to. */
struct verdict_scope {
    size_t repeats, cells;
};

/* Add "expectations", "published" and "verdict", for which its "verify" counts too, to the result. `why_not`:
 * the cell did not run, everything is skipped with this reason; NULL otherwise. Returns the verdict. */
enum verdict verdict_judge(const struct cell *cell, const struct verdict_scope *scope, json_t *result,
                           const char *why_not);

/* The entry of an expectation that a run has broken for good, by "hosts" up to a moment of its measure phase:
 * whatever comes, an increase or a largest value is too large. A new reference; NULL: it is open, or holds.
 */
json_t *verdict_broken(const struct cell *cell, size_t i, const json_t *so_far);

/* The first of the needs (scenario_expect.needs) that the result's hosts do not meet, as in need_names; NULL:
 * they meet all. */
const char *verdict_lacking(const struct list_of *needs, const json_t *result);

/* ---- what is judged once for each cell of a sweep, over its repetitions */

struct over_item {
    const struct scenario_expect *expect;       /* one of these, */
    const struct scenario_published *published; /* the other is NULL */
    const struct expr *expr;
    const char *later; /* verdict_later() */
    size_t other;      /* the other cell, or NO_CELL */
    struct spread_sums left, right;
    char unit[8];
    char note[sizeof((struct expr_result *)0)->note]; /* of the first run that has one */
    enum origin origin;                               /* of the last run that was taken */
    size_t idle; /* runs in which nothing moved, and which say nothing because of that */
    json_t *why; /* it cannot be judged */
};

struct over {
    const struct cell *cell;
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
