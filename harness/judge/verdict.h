/* Evaluates expectations and published figures of a result. Reads only the result document. */
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include "harness/plan/plan.h"

enum verdict { VERDICT_SKIPPED, VERDICT_PASSED, VERDICT_FAILED, VERDICT_INCOMPLETE }; /* from best to worst */
extern const char *const verdict_names[];

/* The word "verdict" of a result, or of a run in an index; of an unknown one VERDICT_INCOMPLETE. */
enum verdict verdict_said_by(const json_t *document);

/* The sweep that a run belongs to. */
struct verdict_scope {
    size_t repeats, cells;
};
/* Over what an expectation or published figure is judged at the end of the sweep (over.h): "repeats", "cells"; NULL: in each run. */
const char *verdict_later(enum expect_over over, const json_t *against, const struct verdict_scope *scope);

/* Add "expectations", "published" and "verdict", for which its "verify" counts too, to the result. `why_not`: the cell did not run, everything is skipped with
 * this reason; NULL otherwise. Returns the verdict. */
enum verdict verdict_judge(const struct cell *cell, const struct verdict_scope *scope, json_t *result,
                           const char *why_not);

/* The first of the needs (scenario_expect.needs) that the result's hosts do not meet, as in need_names; NULL: they meet all. */
const char *verdict_lacking(const struct list_of *needs, const json_t *result);

#endif
