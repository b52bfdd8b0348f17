/* Evaluates expectations and published figures of a result. Reads only the result document. */
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include "harness/plan/plan.h"

enum verdict { VERDICT_SKIPPED, VERDICT_PASSED, VERDICT_FAILED, VERDICT_INCOMPLETE }; /* from best to worst */
extern const char *const verdict_names[];

/* The word "verdict" of a result, or of a run in an index; of an unknown one VERDICT_INCOMPLETE. */
enum verdict verdict_said_by(const json_t *document);

/* Add "expectations", "published" and "verdict" to the result. `why_not`: the cell did not run, everything is skipped with
 * this reason; NULL otherwise. Returns the verdict. */
enum verdict verdict_judge(const struct cell *cell, json_t *result, const char *why_not);

/* The first of the needs (scenario_expect.needs) that the result's hosts do not meet, as in need_names; NULL: they meet all. */
const char *verdict_lacking(const struct list_of *needs, const json_t *result);

#endif
