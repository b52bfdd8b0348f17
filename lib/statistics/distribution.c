#include "lib/statistics/distribution.h"

#include "lib/document/json_text.h"
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void distribution_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
}

static double quantile_of_sorted(const double *sorted, size_t count, double q)
{
    size_t rank = (size_t)ceil(q * (double)count);
    return sorted[rank ? rank - 1 : 0];
}

bool distribution_is_few(double q, double count, double *needed)
{
    if (needed)
        *needed = round(1 / (1 - q));
    return q > 0.5 && count * (1 - q) < 1 - 1e-9;
}

double distribution_quantile(double *values, size_t count, double q)
{
    distribution_sort(values, count);
    return quantile_of_sorted(values, count, q);
}

json_t *distribution_json(double *values, size_t count)
{
    double sum = 0;
    distribution_sort(values, count);
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return json_make("{s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "count", (json_int_t)count, "min", values[0],
                     "mean", sum / (double)count, "p50", quantile_of_sorted(values, count, 0.5), "p90",
                     quantile_of_sorted(values, count, 0.9), "p95", quantile_of_sorted(values, count, 0.95),
                     "p99", quantile_of_sorted(values, count, 0.99), "p99_9",
                     quantile_of_sorted(values, count, 0.999), "max", values[count - 1]);
}
