/* A Gaussian process over places: what a value will be where nothing was tried, and how sure that is
 * (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006: algorithm 2.1, Matern 5/2). */
#ifndef HARNESS_GAUSSIAN_H
#define HARNESS_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

struct gaussian {
    size_t dimensions, count;
    const bool *ordered; /* by dimension; places of one that is not are alike or not */
    const size_t *parts; /* of such a dimension: how many */
    double *places;      /* by point, then by dimension */
    double *nearness;    /* by dimension: 1 / how far apart values still are alike, their length */
    double noise;        /* variance, of values with variance 1 */
    double mean, scale;  /* of the values as they were given */
    double *weights;     /* of the points in a prediction */
    double *factor;      /* upper triangular Cholesky factor of the covariance, by rows */
};

/* Of `count` points with their places and values, which are copied; with `learn` lengths and noise are those
 * of the largest likelihood, else those of `like`. -1: the values are all the same, or cannot be fitted. To
 * be freed if 0. */
int gaussian_fit(struct gaussian *g, size_t dimensions, const bool *ordered, const size_t *parts,
                 const double *const *places, const double *values, size_t count,
                 const struct gaussian *like);
/* The value at a place, and the standard deviation of what it may be. */
void gaussian_at(const struct gaussian *g, const double *place, double *mean, double *deviation);
/* How much below `best` the value at a place is expected to be. It is not larger the more is known, so that
 * it is only worked out as far as it may be more than `most`. */
double gaussian_improvement(const struct gaussian *g, const double *place, double best, double most);
void gaussian_free(struct gaussian *g);

#endif
