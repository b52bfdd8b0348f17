/* What the runs of a burn-in measured, out of their results, in the form that findings.h judges. */
#ifndef HARNESS_BURN_IN_SEEN_H
#define HARNESS_BURN_IN_SEEN_H

#include "lib/formats/lab.h"
#include "lib/text.h"

/* The lab's nodes, links and switches, and nothing seen yet. A new object. */
json_t *burn_in_seen(const struct lab *lab);
/* Add the runs of a stage's result: `folder` is one run's, or a sweep's; `shown`: how sentences call it. -1:
 * a result cannot be read. *runs: how many there are. `failed`: is
 * added the first expectation that failed, with its figure and its run, and how many others did. */
int burn_in_see_result(json_t *seen, const char *stage, bool light, const char *folder, const char *shown,
                       const struct lab *lab, size_t *runs, struct text *failed, struct error *e);

#endif
