/* What is known of a run before it: can the lab run it, and will it have what the expectations read? */
#ifndef HARNESS_FORESEE_H
#define HARNESS_FORESEE_H

#include "harness/plan/plan.h"

/* No host is reached. The error message begins with the scenario's file. */
int foresee(const struct plan *plan, struct error *e);

#endif
