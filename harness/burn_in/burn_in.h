/* `harness burn-in`: what a cluster goes through before it is used, stage by stage, and who is to blame for
 * what it lacks. docs/burn-in.md. */
#ifndef HARNESS_BURN_IN_H
#define HARNESS_BURN_IN_H

#include "lib/document/table.h"

/* As the command line has it. */
struct burn_in_request {
    const char *lab; /* NULL: as for harness run */
    const char *out, *resume, *baseline;
    struct list_of stages;      /* char *; empty: all */
    struct list_of sets;        /* char *, of every stage */
    struct list_of fail_if;     /* char *: rules against the baseline (compare.h) */
    const json_t *lab_document; /* as the lab was when what is resumed was begun; NULL: nothing is resumed */
    const char *hosts_from;     /* "slurm": the job's nodes are the hosts of the lab; NULL: the lab's own */
    int64_t soak_ns, jobs, seed;
    int dry_run, json, no_report, quiet;
};

/* Returns the program's exit status; messages have been written. */
int burn_in_run(const struct burn_in_request *request);

#endif
