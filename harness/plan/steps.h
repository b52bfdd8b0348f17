/* The numbers of a range in a sweep: quantities with a unit, whole numbers, fractions. They are counted in steps, the smallest
 * difference that is kept (1 ns, 1 B, 1, or a power of ten), so that no value gains digits that nobody wrote. */
#ifndef HARNESS_STEPS_H
#define HARNESS_STEPS_H

#include "lib/units.h"
#include <jansson.h>
#include <stdbool.h>

#define STEPS_MOST INT64_C(4000000000000000000) /* sums and rounded values stay within 64 bits */

struct steps {
    bool quantity, whole; /* neither: fractions */
    enum unit unit;       /* of a quantity */
    enum units_prefixes prefixes;
    int decimals; /* of fractions: a step is 10 to the power of -decimals */
};

/* What the values (NULL ends them early) are counted in: all are quantities of one unit, or all numbers. */
int steps_of(const json_t *const *values, size_t count, struct steps *steps, struct error *e);
/* A value that steps_of was given. */
int64_t steps_take(const struct steps *steps, const json_t *value);
/* As a user would write it: "1.5us", 64, 0.3. A new reference. */
json_t *steps_write(const struct steps *steps, int64_t value);

/* The number nearest to `exact` with the fewest significant digits, at least `digits`, that lies from `low` to `high`. Digits are
 * those of the unit in which the number is written. If there is none, the nearest. */
int64_t steps_round(const struct steps *steps, double exact, int digits, double low, double high);

#endif
