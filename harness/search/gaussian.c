#include "harness/search/gaussian.h"

#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- covariance */

static double distance(const struct gaussian *g, const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < g->dimensions; k++) {
        double apart = a[k] - b[k];
        if (!g->ordered[k])
            apart = (size_t)(a[k] * (double)g->parts[k]) != (size_t)(b[k] * (double)g->parts[k]);
        apart *= g->nearness[k];
        sum += apart * apart;
    }
    return sqrt(sum);
}

/* Matern 5/2 */
static double covariance(const struct gaussian *g, const double *a, const double *b)
{
    double r = sqrt(5) * distance(g, a, b);
    return (1 + r + r * r / 3) * exp(-r);
}

static const double *place_of(const struct gaussian *g, size_t i)
{
    return g->places + i * g->dimensions;
}

/*
 * Cholesky: m = LL', of which L', the upper triangle, takes the place of m's; false: m is not positive
 * definite. Row by row, so that no step of the inner loops waits for the one before.
 */
static bool factorise(double *m, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double *row = m + k * n;
        if (!(row[k] > 0))
            return false;
        row[k] = sqrt(row[k]);
        for (size_t i = k + 1; i < n; i++)
            row[i] /= row[k];
        for (size_t j = k + 1; j < n; j++)
            for (size_t i = j; i < n; i++)
                m[j * n + i] -= row[j] * row[i];
    }
    return true;
}

/* L x = b; x begins as b. */
static void solve_lower(const double *m, size_t n, double *x)
{
    for (size_t k = 0; k < n; k++) {
        const double *row = m + k * n;
        double is = x[k] /= row[k];
        for (size_t i = k + 1; i < n; i++)
            x[i] -= row[i] * is;
    }
}

/* L' x = b */
static void solve_upper(const double *m, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= m[i * n + k] * x[k];
        x[i] /= m[i * n + i];
    }
}

/* ---- likelihood */

/* The logarithm of the likelihood of the values (of mean 0 and variance 1); sets factor and weights. */
static double likelihood(struct gaussian *g, const double *values)
{
    size_t n = g->count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            g->factor[j * n + i] =
                covariance(g, place_of(g, i), place_of(g, j)) + (i == j ? g->noise + 1e-8 : 0);
    if (!factorise(g->factor, n))
        return -INFINITY;
    memcpy(g->weights, values, n * sizeof *values);
    solve_lower(g->factor, n, g->weights);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum -= g->weights[i] * g->weights[i] / 2 + log(g->factor[i * n + i]);
    solve_upper(g->factor, n, g->weights);
    return sum;
}

/* Lengths are held near the size of the range: of few points the likelihood says little. */
#define SHORTEST 0.05
#define LONGEST  8.0

static double prior(const struct gaussian *g)
{
    double sum = 0;
    for (size_t k = 0; k < g->dimensions; k++)
        sum -= pow(log(g->nearness[k]) / 1.2, 2) / 2;
    return sum;
}

static double worth(struct gaussian *g, const double *values)
{
    return likelihood(g, values) + prior(g);
}

/* One length for all, then each by itself, and the noise between. */
static void learn(struct gaussian *g, const double *values)
{
    static const double lengths[] = {0.2, 0.4, 0.8, 1.6, 3.2}, noises[] = {1e-4, 1e-2, 1e-1, 3e-1};
    double best = -INFINITY, length = 1, noise = 1e-2;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof noises / sizeof *noises; j++) {
            for (size_t k = 0; k < g->dimensions; k++)
                g->nearness[k] = 1 / lengths[i];
            g->noise = noises[j];
            double is = worth(g, values);
            if (is > best) {
                best = is;
                length = lengths[i];
                noise = noises[j];
            }
        }
    for (size_t k = 0; k < g->dimensions; k++)
        g->nearness[k] = 1 / length;
    g->noise = noise;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < g->dimensions; k++)
            for (int way = 0; way < 2; way++) {
                double was = g->nearness[k];
                g->nearness[k] = fmin(fmax(was * (way ? 0.5 : 2.0), 1 / LONGEST), 1 / SHORTEST);
                double is = worth(g, values);
                if (is > best)
                    best = is;
                else
                    g->nearness[k] = was;
            }
}

/* ---- the process */

int gaussian_fit(struct gaussian *g, size_t dimensions, const bool *ordered, const size_t *parts,
                 const double *const *places, const double *values, size_t count, const struct gaussian *like)
{
    *g = (struct gaussian){.dimensions = dimensions, .count = count, .ordered = ordered, .parts = parts};
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        g->mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - g->mean) * (values[i] - g->mean);
    g->scale = count ? sqrt(squares / (double)count) : 0;
    if (!(g->scale > 1e-12 * fabs(g->mean)) || !isfinite(g->scale))
        return -1;
    g->places = xcalloc(count * dimensions, sizeof *g->places);
    g->nearness = xcalloc(dimensions, sizeof *g->nearness);
    g->weights = xcalloc(count, sizeof *g->weights);
    g->factor = xcalloc(count * count, sizeof *g->factor);
    double *scaled = xcalloc(count, sizeof *scaled);
    for (size_t i = 0; i < count; i++) {
        memcpy(g->places + i * dimensions, places[i], dimensions * sizeof **places);
        scaled[i] = (values[i] - g->mean) / g->scale;
    }
    if (like) {
        memcpy(g->nearness, like->nearness, dimensions * sizeof *g->nearness);
        g->noise = like->noise;
    } else {
        learn(g, scaled);
    }
    bool fitted = isfinite(likelihood(g, scaled));
    free(scaled);
    if (!fitted)
        gaussian_free(g);
    return fitted ? 0 : -1;
}

void gaussian_at(const struct gaussian *g, const double *place, double *mean, double *deviation)
{
    size_t n = g->count;
    double *near = xcalloc(n, sizeof *near), sum = 0, known = 0;
    for (size_t i = 0; i < n; i++) {
        near[i] = covariance(g, place, place_of(g, i));
        sum += near[i] * g->weights[i];
    }
    solve_lower(g->factor, n, near);
    for (size_t i = 0; i < n; i++)
        known += near[i] * near[i];
    free(near);
    *mean = g->mean + g->scale * sum;
    *deviation = g->scale * sqrt(fmax(1 - known, 1e-12));
}

/* How much below `best` a value of this mean and deviation is expected to be (Jones, Schonlau and Welch). */
static double improvement(double best, double mean, double deviation)
{
    double z = (best - mean) / deviation;
    return (best - mean) * 0.5 * erfc(-z / sqrt(2)) + deviation * exp(-z * z / 2) / sqrt(2 * M_PI);
}

#define ROWS 8 /* between two looks */

double gaussian_improvement(const struct gaussian *g, const double *place, double best, double most)
{
    size_t n = g->count;
    double *near = xcalloc(n, sizeof *near), mean = g->mean, known = 0, is = INFINITY;
    for (size_t i = 0; i < n; i++) {
        near[i] = covariance(g, place, place_of(g, i));
        mean += g->scale * near[i] * g->weights[i];
    }
    for (size_t k = 0; k <= n && is > most; k++) { /* solve_lower, as far as it is needed */
        if (k % ROWS == 0 || k == n)
            is = improvement(best, mean, g->scale * sqrt(fmax(1 - known, 1e-12)));
        if (k == n || is <= most)
            break;
        const double *row = g->factor + k * n;
        near[k] /= row[k];
        known += near[k] * near[k];
        for (size_t i = k + 1; i < n; i++)
            near[i] -= row[i] * near[k];
    }
    free(near);
    return is;
}

void gaussian_free(struct gaussian *g)
{
    free(g->places);
    free(g->nearness);
    free(g->weights);
    free(g->factor);
    *g = (struct gaussian){0};
}
