/* What `harness run` does: every cell of a scenario's sweep, an index, a summary, a report. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include "lib/document/table.h"

struct sweep_request {
    const char *scenario;
    const char *lab;
    struct list_of sets;
    const char *out;
    int64_t duration_ns;
    int64_t repeats, seed;
    int dry_run, json, no_report, quiet;
};

/* Returns the program's exit status; messages have been written. */
int sweep_run(const struct sweep_request *request);

#endif
