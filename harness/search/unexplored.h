/* What a search says nothing of. */
#ifndef HARNESS_UNEXPLORED_H
#define HARNESS_UNEXPLORED_H

#include "harness/search/candidates.h"

/* Sentences: ranges in which nothing that meets the constraints was tried, what conditions leave out, ends of
 * ranges that `winner` (NULL: none) stands at, and why it ended, `ended` (NULL: it has not). A new reference.
 */
json_t *unexplored_json(const struct study *study, const struct candidates *all,
                        const struct candidate *winner, const char *ended);

#endif
