/* The values of a path in a sweep: a list, or a range. */
#ifndef HARNESS_SWEEP_VALUES_H
#define HARNESS_SWEEP_VALUES_H

#include "harness/plan/steps.h"

#define SWEEP_MOST_VALUES 1000000 /* of one path */

/* The values of a path: a list as it is; {"from", "to", "factor"}, {"from", "to", "step"} or {"from", "to", "points", "scale"} written
 * out. Bounds are quantities of one unit, or numbers; whole numbers make whole numbers. A new reference; NULL with an error, also
 * for an empty list. */
json_t *sweep_values(const json_t *value, struct error *e);

/* What a sample is drawn from: a list, or {"from", "to", "scale"}. */
struct sweep_range {
    json_t *list; /* NULL: from `from` to `to`; not owned */
    struct steps steps;
    int64_t from, to;
    bool logarithmic;
};
int sweep_range_parse(const json_t *value, struct sweep_range *range, struct error *e);
/* The value at a place 0 <= at < 1 of the range. It has the fewest digits with which it stays in its stratum, one of `strata` equal
 * parts of the range. A new reference. */
json_t *sweep_range_at(const struct sweep_range *range, double at, size_t strata);

#endif
