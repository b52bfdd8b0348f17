/* Why the winner of a search is better than the scenario as it is written: by what `harness explain` says of
 * a run of each. */
#ifndef HARNESS_WHY_H
#define HARNESS_WHY_H

#include "harness/search/candidates.h"

/* A sentence; a new reference. */
json_t *why_of(const struct candidate *written, const struct candidate *winner, const char *folder);

#endif
