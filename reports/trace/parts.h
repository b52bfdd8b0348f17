/* The parts of a trace, and what they left out. */
#ifndef REPORTS_TRACE_PARTS_H
#define REPORTS_TRACE_PARTS_H

#include "lib/text.h"
#include "reports/trace/places.h"

struct trace_parts {
    struct run *run;
    struct trace_writer writer;
    const char *path; /* for sentences */
    struct places places;
    uint64_t run_track;
    int64_t start_ns, end_ns; /* of the phases together; 0 and 0: there are none */
    struct text left_out;     /* sentences, a line each */
};

/* A sentence, if the count is not 0; `format` begins after the number: "pauses overlap". */
void trace_left_out(struct trace_parts *t, uint64_t count, const char *what);

/* The run itself: phases, settings, faults, deadlocks, expectations that failed, warnings. Makes
 * run_track. */
int trace_story(struct trace_parts *t, struct error *e);
/* samples.jsonl. */
int trace_counters(struct trace_parts *t, struct error *e);
/* flows.jsonl, and the flows of result.json. */
int trace_flows(struct trace_parts *t, struct error *e);

#endif
