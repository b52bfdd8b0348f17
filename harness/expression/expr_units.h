/* What the numbers of expressions measure, and the values that flows have. */
#ifndef HARNESS_EXPR_UNITS_H
#define HARNESS_EXPR_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers are kept in the unit that expr_dimension_unit gives. */
enum dimension {
    DIMENSION_PLAIN,  /* of two counts the quotient, and what else has no unit */
    DIMENSION_NUMBER, /* that is written without a unit: of what it is compared with */
    DIMENSION_COUNT,  /* of frames, packets, events, MiB/s: it is neither a share nor a frequency */
    DIMENSION_SHARE,  /* "10%", or time per time */
    DIMENSION_TIME_NS,
    DIMENSION_BYTES,
    DIMENSION_RATE_BPS,
    DIMENSION_PER_SECOND,
    DIMENSION_ANY, /* a zero without a unit */
};

/* "ns" */
const char *expr_dimension_unit(enum dimension d);
/* "a time" */
const char *expr_dimension_words(enum dimension d);

/* Is it one of those without a unit? */
bool expr_is_plain(enum dimension d);

/* The dimension of a counter's unit ("us"); *scale brings a value to the dimension's unit. */
enum dimension expr_unit_dimension(const char *unit, double *scale);
/* The dimension of such a value per second: bytes become bits/s, time becomes a share. */
enum dimension expr_rate_dimension(enum dimension d, double *scale);

/* May they be compared and added? What the sum is. */
bool expr_go_together(enum dimension a, enum dimension b);
enum dimension expr_sum_dimension(enum dimension a, enum dimension b);
/* What a product or quotient is, and by what that of the numbers is divided to be in its unit (below 0:
 * multiplied): bytes / ns times 8e9 are b/s. False: there is no unit for it. */
bool expr_product(bool divide, enum dimension a, enum dimension b, enum dimension *product, double *by);
/* The number that is so many of `product`'s unit. */
double expr_scaled(double number, double by);

/* The values that every flow has ("goodput_bps"): name and dimension of the i-th; NULL at the end. */
const char *expr_flow_value(size_t i, enum dimension *d);
/* Is it a number of what happened, of which a longer phase has more? */
bool expr_flow_value_counts(const char *name);
/* The unit of the i-th, for people: "MiB/s" of a plain number. */
const char *expr_flow_value_unit(size_t i);
/* The dimension of a flow's value. Returns false when flows have no such value. */
bool expr_flow_dimension(const char *name, enum dimension *d);

#endif
