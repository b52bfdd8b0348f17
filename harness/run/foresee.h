/* What is known of a run before it: can the lab run it, and will it have what the expectations read? */
#ifndef HARNESS_FORESEE_H
#define HARNESS_FORESEE_H

#include "harness/labs/driver.h"
#include "harness/plan/plan.h"
#include "harness/record/recorder.h"
#include "lib/text.h"

/* Load a plan (plan_load) and look at each of its cells; without a lab, only load it. No host is reached. Warnings are added to `warnings`
 * as ecn_note does; NULL: none are wanted. The error message begins with a file; then no plan is left. */
int foresee(const struct plan_request *request, struct plan *plan, json_t *warnings, struct error *e);

/* What the cell's expectations and published figures read is kept of roles that are not listed. */
int foresee_columns(const struct cell *cell, struct recorder *recorder, struct error *e);

/* Does a host (one a role) lack what the cell needs? Then it is skipped, never silently changed into another experiment. `why`: a sentence. */
bool foresee_lacking(const struct cell *cell, const struct host_description *hosts, struct text *why);

#endif
