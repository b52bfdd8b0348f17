/* A scenario's traffic patterns on real hosts: flows between pairs of hosts. */
#ifndef HARNESS_PLAN_PATTERNS_H
#define HARNESS_PLAN_PATTERNS_H

#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"

/* Append the flows of the scenario's patterns, NAME/0, NAME/1, ..., to its flows; the traffic stays. `seed`
 * draws random permutations. -1: real hosts cannot run the traffic, or a storm; the error message begins with
 * its place in the scenario. */
int plan_expand_patterns(struct scenario *scenario, const struct lab *lab, uint64_t seed, struct error *e);

#endif
