/* `harness burn-in`: what a cluster goes through before it is used, stage by stage, and who is to blame for
 * what it lacks. docs/burn-in.md. */
#ifndef HARNESS_BURN_IN_H
#define HARNESS_BURN_IN_H

#include "lib/document/table.h"

#define BURN_IN_DOCUMENT "burn-in.json"

/* As the command line has it. */
struct burn_in_request {
    const char *lab; /* NULL: as for harness run */
    const char *out, *resume, *baseline;
    struct list_of stages; /* char *; empty: all */
    struct list_of sets;   /* char *, of every stage */
    int64_t soak_ns, jobs, seed;
    int dry_run, json, no_report, quiet;
};

/* Returns the program's exit status; messages have been written. */
int burn_in_run(const struct burn_in_request *request);

/* The document of a burn-in: of this folder, or this file. A new reference. */
json_t *burn_in_load(const char *path, struct error *e);

extern const struct table burn_in_table; /* of the document */

#endif
