/* Before a run begins: can the lab run it, and will it have what the expectations read? */
#ifndef HARNESS_PRECHECK_H
#define HARNESS_PRECHECK_H

#include "harness/labs/driver.h"
#include "harness/plan/plan.h"
#include "harness/record/recorder.h"
#include "lib/text.h"

/* How a plan will be run, and what is known of it by then. */
struct precheck {
    uint64_t seed;    /* of the first run */
    uint32_t threads; /* of a simulated run */
    bool keep;        /* there is one run: keep its lab open, if it is simulated */
    bool first_alone; /* of a simulated lab: the values in which other cells differ were tried */
    bool candidates;  /* cells that the lab cannot run are not tried, as long as it can run one */
    bool judged;      /* what can be decided, and when, was asked before, of more cells */
    json_t *warnings; /* are added to, as doctor_warn_of_run does; NULL: none are wanted */

    uint64_t bytes;         /* memory that the largest run takes here; 0: nothing to speak of */
    uint64_t written;       /* what the runs of all cells write at least; 0: it is not known */
    struct lab_opened *lab; /* that is kept, for lab_opened_close; also after a failure */
};

/* Can the lab run each cell of the plan? Without a lab, and on real hosts, only what the documents say is
 * judged; no host is reached. In a plan as it is written there must also be nothing that could never be
 * decided (decidable.h), in another conditions must name keys. The error message begins with a file. */
int precheck_plan(const struct plan *plan, struct precheck *found, struct error *e);

/* The same of one cell; what it can decide is not asked. */
int precheck_alone(const struct cell *cell, uint64_t seed, struct error *e);

/* Will the cell's lab have what these read? *which becomes the number of the first that it has not; `count`:
 * the lab cannot run it. */
int precheck_reads(const struct cell *cell, uint64_t seed, const struct expr *const *exprs, size_t count,
                   size_t *which, struct error *e);

/* What the cell's expectations and published figures read is kept of roles that are not listed. */
void precheck_keep_columns(const struct cell *cell, struct recorder *recorder);

/* Does a host (one per role) lack what the cell needs? Then it is skipped, never silently changed into
 * another experiment. `why`: a sentence. */
bool precheck_lacking(const struct cell *cell, const struct host_description *hosts, struct text *why);

#endif
