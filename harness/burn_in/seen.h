/* What the runs of a burn-in measured, out of their results, in the form that findings.h judges. */
#ifndef HARNESS_BURN_IN_SEEN_H
#define HARNESS_BURN_IN_SEEN_H

#include "lib/formats/lab.h"
#include "lib/text.h"

/* The lab's nodes, links and switches, and nothing seen yet. A new object. */
json_t *burn_in_seen(const struct lab *lab);
/* What the runs of a stage said: KEY {"says": a sentence of the first run that said it, "runs": how many
 * did}. */
struct stage_said {
    size_t runs;
    json_t *failed; /* expectations, by name: each with its figure and its run */
    json_t *warned; /* warnings, by what they say beside names and figures */
};

/* Add the runs of a stage's result: `folder` is one run's, or a sweep's; `shown`: how sentences call it. -1:
 * a result cannot be read. The caller frees what `said` has, after a failure too. */
int burn_in_see_result(json_t *seen, const char *stage, bool light, const char *folder, const char *shown,
                       const struct lab *lab, struct stage_said *said, struct error *e);

#endif
