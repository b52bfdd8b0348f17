/* A scenario's job: a schedule that roles play (docs/scenario.md), and what a result says of it
 * (docs/result.md). */
#ifndef LIB_SCHEDULE_JOB_H
#define LIB_SCHEDULE_JOB_H

#include "lib/document/table.h"

struct scenario_job {
    char *name;
    char *schedule;       /* path; a relative one begins at the scenario's folder */
    struct list_of roles; /* char *: the ranks; empty: all of the scenario */
    int64_t priority;
    int memory; /* of flows (lib/formats/flow.h) */
    int64_t start_ns;
};
extern const struct table scenario_job_table;

/* The i-th value that ranks of a result's job have, NULL after the last: its name, its unit and words for
 * tables. */
const char *result_job_name(size_t i, const char **unit, const char **words);
/* When the last of its ranks ended, in ns; -1: one has not. */
double result_job_end_ns(const json_t *job);

#endif
