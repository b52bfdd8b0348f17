/* How much each parameter matters for each objective, by the candidates that were tried. */
#ifndef HARNESS_IMPORTANCE_H
#define HARNESS_IMPORTANCE_H

#include "harness/search/candidates.h"

/* A list: {"path", "objective", "share", "noise", "flat": [LOW, HIGH]}. `share`: of the objective's variance
 * over all feasible candidates, what the parameter's parts (quarters of its range, or the values of a list)
 * tell alone: the correlation ratio, less what as many values tell that were dealt by chance (its mean over
 * permutations; `noise` is its 95th percentile, below which a share says nothing). `flat`: of the values
 * that were tried, the ends of those around the best one's of each of which a candidate with all seeds
 * differs from the best by less than two standard errors between seeds. A new reference. */
json_t *importance_json(const struct study *study, const struct candidates *all);
void importance_print(const json_t *importance);

#endif
