/* A run's result as a trace for ui.perfetto.dev: docs/trace.md. */
#ifndef REPORTS_TRACE_H
#define REPORTS_TRACE_H

#include "lib/error.h"
#include "lib/text.h"
#include "reports/results/damaged.h"
#include <stdint.h>

#define TRACE_FILE   "trace.pftrace"
#define TRACE_STDOUT "-"

struct trace_made {
    struct text path;     /* of the file */
    struct text left_out; /* sentences, a line each */
    uint64_t events, tracks;
    struct damaged damaged; /* the run, if it is */
};

/* Is told of each trace that was made, which it may not keep. */
typedef void trace_tell(void *to, const struct trace_made *made);

/*
 * The trace of a run, in the run's folder or in `out`, which is replaced when the new one is whole;
 * TRACE_STDOUT: on standard output. Of a sweep a trace of each run, each in the run's folder. The memory does
 * not depend on the number of lines. Runs of a sweep that were left out are in `left_out`. Fails if the
 * folder is not a result, if one of its lines is damaged, or if nothing can be written.
 */
int trace_result(const char *result, const char *out, trace_tell *tell, void *to, struct damaged *left_out,
                 struct error *e);

#endif
