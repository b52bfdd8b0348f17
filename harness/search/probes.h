/* Before a search: could what it asks for ever hold? */
#ifndef HARNESS_PROBES_H
#define HARNESS_PROBES_H

#include "harness/search/study.h"

/*
 * Of choices that the search may make (ends of ranges, each value of a list, what conditions name, and some
 * by chance): does each value of "except" and "only" occur, and is a sweep of those that can be made one that
 * a run would begin? What expectations read, and when, is judged by the same code as there.
 */
int probes_check(const struct study *study, uint64_t seed, struct error *e);

#endif
