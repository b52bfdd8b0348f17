/* roce-traffic routes: tries every route to GPU memory on this host and prints the results. */
#ifndef TRAFFIC_ROUTES_H
#define TRAFFIC_ROUTES_H

#include "traffic/job.h"
#include "traffic/output.h"

/* Exit code: 0 when at least one route works, 4 when there is no NVIDIA GPU, 3 when none works. */
int routes_run(const struct local_options *local, struct output *output);

#endif
