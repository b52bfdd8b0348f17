/* The hosts between which a probe sends, and which of them reach each other by the lab's links. */
#ifndef HARNESS_PROBE_ENDS_H
#define HARNESS_PROBE_ENDS_H

#include "harness/plan/cell.h"

struct probe_end {
    const char *role; /* the lab's or the scenario's word */
    size_t group;     /* equal: links lead from one to the other; without links in the lab all are equal */
};

/* The roles of the scenario that are hosts, or without a scenario (cell NULL) the lab's hosts, without those that forward. The caller
 * frees *ends, which points into the cell or the lab. */
int probe_ends(const struct cell *cell, const struct lab *lab, struct probe_end **ends, size_t *count,
               struct error *e);

#endif
