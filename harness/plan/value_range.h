/* The numbers of a range as a user writes them ({"from", "to", ...}), written out as a list of values, and by
 * their place in the range. docs/scenario.md. */
#ifndef HARNESS_VALUE_RANGE_H
#define HARNESS_VALUE_RANGE_H

#include "lib/error.h"
#include "lib/units.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What the numbers are: quantities with a unit, whole numbers, fractions. They are counted in steps, the
 * smallest difference that is kept (1 ns, 1 B, 1, or a power of ten), so that no value gains digits that
 * nobody wrote. */
struct steps {
    bool quantity, whole; /* neither: fractions */
    enum unit unit;       /* of a quantity */
    enum units_prefixes prefixes;
    int decimals; /* of fractions: a step is 10 to the power of -decimals */
};

/* What values are taken from: a list, or the numbers from `from` to `to`, counted in steps. */
struct value_range {
    json_t *list; /* NULL: there is none; not owned */
    struct steps steps;
    int64_t from, to;
    bool logarithmic;
};

#define SWEEP_MOST_VALUES 1000000 /* of one path */

/* The values of a path: a list as it is; {"from", "to", "factor"}, {"from", "to", "step"} or {"from", "to",
 * "points", "scale"} written out. Bounds are quantities of one unit, or numbers; whole numbers make whole
 * numbers. A new reference; NULL with an error, also for an empty list. */
json_t *sweep_values(const json_t *value, struct error *e);

/* A list, or {"from", "to", "scale"} alone. A list is borrowed from `value`. */
int value_range_parse(const json_t *value, struct value_range *range, struct error *e);
/* The value at a place 0 <= at < 1. It has the fewest digits, at least three, with which it stays in its
 * stratum, one of `strata` equal parts of the range; 0: in the range, both ends of which can come. Each value
 * of a list, and each whole number, has an equal part. A new reference. */
json_t *value_range_at(const struct value_range *range, double at, size_t strata);
/* The place of a value, in the middle of its part; NAN: it is not in the range. */
double value_range_place(const struct value_range *range, const json_t *value);

#endif
