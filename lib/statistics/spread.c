#include "lib/statistics/spread.h"

#include "lib/document/json_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI         3.14159265358979323846
#define NORMAL_95  1.9599639845400545 /* what t tends to */
#define MANY       10000              /* degrees of freedom from which t is the normal value to four digits */
#define BISECTIONS 60

/* The probability that |T| < t, for whole degrees of freedom: Abramowitz and Stegun, Handbook of Mathematical
 * Functions, 26.7.3 and 26.7.4. */
static double probability_within(double t, size_t degrees)
{
    double theta = atan(t / sqrt((double)degrees)), squared = cos(theta) * cos(theta);
    double term = degrees % 2 ? cos(theta) : 1, sum = degrees == 1 ? 0 : term;
    for (size_t k = degrees % 2 ? 3 : 2; k + 2 <= degrees; k += 2) {
        term *= squared * (double)(k - 1) / (double)k;
        sum += term;
    }
    return degrees % 2 ? 2 / PI * (theta + sin(theta) * sum) : sin(theta) * sum;
}

double spread_t95(size_t degrees)
{
    double low = NORMAL_95, high = 12.8; /* t of one degree is 12.706 */
    if (degrees >= MANY)
        return NORMAL_95;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (probability_within(middle, degrees) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

void spread_add(struct spread_sums *sums, double value)
{
    double apart = value - sums->mean; /* Welford: no cancellation */
    sums->mean += apart / (double)++sums->count;
    sums->squares += apart * (value - sums->mean);
}

struct spread spread_of_sums(const struct spread_sums *sums)
{
    struct spread s = {.count = sums->count, .mean = sums->mean, .stddev = NAN, .ci95 = NAN};
    if (s.count == 0)
        s.mean = NAN;
    if (s.count >= 2) {
        s.stddev = sqrt(sums->squares / (double)(s.count - 1));
        s.ci95 = spread_t95(s.count - 1) * s.stddev / sqrt((double)s.count);
    }
    return s;
}

struct spread spread_of(const double *values, size_t count)
{
    struct spread_sums sums = {0};
    for (size_t i = 0; i < count; i++)
        spread_add(&sums, values[i]);
    return spread_of_sums(&sums);
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

double spread_two_digits(double ci95)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.2g", ci95);
    return strtod(digits, NULL);
}

json_t *spread_json(const struct spread *s)
{
    return json_make("{s:I,s:o,s:o,s:o}", "count", (json_int_t)s->count, "mean", number_or_null(s->mean),
                     "stddev", number_or_null(s->stddev), "ci95", number_or_null(s->ci95));
}

bool spread_apart(const struct spread *a, const struct spread *b)
{
    return fabs(a->mean - b->mean) > (isnan(a->ci95) ? 0 : a->ci95) + (isnan(b->ci95) ? 0 : b->ci95);
}
