/* What befell links of a network: faults that the scenario states, frames that the lab loses at random, and
 * links that went down by what was sampled. */
#ifndef REPORTS_LINK_MARKS_H
#define REPORTS_LINK_MARKS_H

#include "reports/results/run.h"
#include <stdint.h>

struct link_mark {
    char *node[2];
    int64_t port[2]; /* its number at the node; -1: not said */
    char *words;     /* "down from 5 to 6 ms", where 0 is the beginning of the measure phase */
};

struct link_marks {
    struct link_mark *items;
    size_t count, left_out;
};

/* Those that are damaged in the result are left out. */
struct link_marks link_marks_of(const struct run *run);
void link_marks_free(struct link_marks *marks);

#endif
