#include "lib/statistics/spread.h"

#include "lib/document/json_text.h"
#include <math.h>

#define PI         3.14159265358979323846
#define NORMAL_95  1.9599639845400545 /* what t tends to */
#define MANY       10000              /* degrees of freedom from which t is the normal value to four digits */
#define BISECTIONS 60

/* The probability that |T| < t, for whole degrees of freedom: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
 * 26.7.4. */
static double within(double t, size_t degrees)
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
        if (within(middle, degrees) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct spread spread_of(const double *values, size_t count)
{
    struct spread s = {.count = count, .stddev = NAN, .ci95 = NAN};
    double squares = 0;
    for (size_t i = 0; i < count; i++) { /* Welford: no cancellation */
        double apart = values[i] - s.mean;
        s.mean += apart / (double)(i + 1);
        squares += apart * (values[i] - s.mean);
    }
    if (count == 0)
        s.mean = NAN;
    if (count >= 2) {
        s.stddev = sqrt(squares / (double)(count - 1));
        s.ci95 = spread_t95(count - 1) * s.stddev / sqrt((double)count);
    }
    return s;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *spread_json(const struct spread *s)
{
    return json_make("{s:I,s:o,s:o,s:o}", "count", (json_int_t)s->count, "mean", number(s->mean), "stddev",
                     number(s->stddev), "ci95", number(s->ci95));
}
