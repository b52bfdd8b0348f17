/* The winner of a search beside the scenario as it is written, on seeds that the search has not seen, and on
 * other traffic: an answer that only holds on its own seeds is told so. */
#ifndef HARNESS_TRIAL_H
#define HARNESS_TRIAL_H

#include "harness/search/candidates.h"

/* Both ran on this. */
struct trial {
    const char *on;               /* "new seeds", or the name of other traffic */
    const struct candidate *base; /* as written */
    const struct candidate *winner;
};

/* {"on", "base", "winner", "objectives": {NAME: "better", "worse" or "not told apart"}}: of each objective
 * whether the 95 % intervals of the means are apart, and which way. A new reference. */
json_t *trial_json(const struct trial *trial, const struct study *study);
void trial_print(const json_t *trial, const json_t *objectives);

#endif
