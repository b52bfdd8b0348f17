/* What `harness run` does: every cell of a scenario's sweep, an index, a summary, a report. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include "harness/run/request.h"

/* Returns the program's exit status; messages have been written. */
int sweep_run(const struct sweep_request *request);
/* The same for what is missing in the folder `resume`, which says itself what is run. */
int sweep_resume(const struct sweep_request *request);

#endif
