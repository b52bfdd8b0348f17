/* Mean, standard deviation and confidence interval of repeated measurements. */
#ifndef LIB_SPREAD_H
#define LIB_SPREAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct spread {
    size_t count;
    double mean;
    double stddev; /* of the sample, with count - 1; NAN for fewer than two values */
    double
        ci95; /* half the width of the 95 % confidence interval of the mean; NAN for fewer than two values */
};

/* Values one by one, in constant memory; zeroed it is empty. */
struct spread_sums {
    size_t count;
    double mean, squares;
};
void spread_add(struct spread_sums *sums, double value);
struct spread spread_of_sums(const struct spread_sums *sums);

/* The interval is that of Student's t distribution: it holds for independent values that are normally
 * distributed. */
struct spread spread_of(const double *values, size_t count);
/* Do the intervals of two means not meet? One without an interval counts as its mean. */
bool spread_apart(const struct spread *a, const struct spread *b);
/* An interval with two digits, to show: it is no more certain than that. */
double spread_two_digits(double ci95);
/* {"count", "mean", "stddev", "ci95"}; the last two are null where there are none. A new reference. */
json_t *spread_json(const struct spread *spread);
/* The value that Student's t with that many degrees of freedom (from 1) exceeds in absolute value with a
 * probability of 5 %. */
double spread_t95(size_t degrees);

#endif
