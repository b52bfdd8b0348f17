#include "harness/search/front.h"

#include "lib/xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool front_dominates(const struct vector *a, const struct vector *b, size_t dimensions)
{
    bool better = false;
    for (size_t k = 0; k < dimensions; k++) {
        if (a->of[k] > b->of[k])
            return false;
        better = better || a->of[k] < b->of[k];
    }
    return better;
}

static bool are_equal(const struct vector *a, const struct vector *b, size_t dimensions)
{
    bool equal = true;
    for (size_t k = 0; k < dimensions; k++)
        equal = equal && a->of[k] <= b->of[k] && a->of[k] >= b->of[k];
    return equal;
}

/* Each is compared with those that are best so far. */
void front_mark(const struct vector *points, size_t count, size_t dimensions, bool *on_front)
{
    size_t *best = xcalloc(count + 1, sizeof *best), bests = 0;
    for (size_t i = 0; i < count; i++) {
        size_t kept = 0;
        on_front[i] = true;
        for (size_t k = 0; on_front[i] && k < bests; k++)
            on_front[i] = !front_dominates(&points[best[k]], &points[i], dimensions) &&
                          !are_equal(&points[best[k]], &points[i], dimensions);
        for (size_t k = 0; on_front[i] && k < bests; k++)
            if (front_dominates(&points[i], &points[best[k]], dimensions))
                on_front[best[k]] = false;
            else
                best[kept++] = best[k];
        if (on_front[i]) {
            best[kept++] = i;
            bests = kept;
        }
    }
    free(best);
}

/* ---- volume: slices along the last objective (While et al., hypervolume by slicing objectives) */

static int by_first(const void *a, const void *b)
{
    double x = ((const struct vector *)a)->of[0], y = ((const struct vector *)b)->of[0];
    return (x > y) - (x < y);
}

/* Of two objectives; sorts the points. */
static double area(struct vector *points, size_t count, const struct vector *reference)
{
    double sum = 0, lowest = reference->of[1];
    qsort(points, count, sizeof *points, by_first);
    for (size_t i = 0; i < count; i++)
        if (points[i].of[1] < lowest) {
            sum += (reference->of[0] - points[i].of[0]) * (lowest - points[i].of[1]);
            lowest = points[i].of[1];
        }
    return sum;
}

static int by_last(const void *a, const void *b, void *last)
{
    size_t k = *(const size_t *)last;
    double x = ((const struct vector *)a)->of[k], y = ((const struct vector *)b)->of[k];
    return (x > y) - (x < y);
}

static double volume(struct vector *points, size_t count, size_t dimensions, const struct vector *reference)
{
    if (count == 0)
        return 0;
    if (dimensions == 1) {
        double best = INFINITY;
        for (size_t i = 0; i < count; i++)
            best = fmin(best, points[i].of[0]);
        return reference->of[0] - best;
    }
    if (dimensions == 2)
        return area(points, count, reference);
    size_t last = dimensions - 1;
    struct vector *slice = xcalloc(count, sizeof *slice);
    double sum = 0;
    qsort_r(points, count, sizeof *points, by_last, &last);
    for (size_t i = 0; i < count; i++) {
        double height = (i + 1 < count ? points[i + 1].of[last] : reference->of[last]) - points[i].of[last];
        if (!(height > 0))
            continue;
        memcpy(slice, points, (i + 1) * sizeof *slice);
        sum += height * volume(slice, i + 1, last, reference);
    }
    free(slice);
    return sum;
}

double front_volume(const struct vector *points, size_t count, size_t dimensions,
                    const struct vector *reference)
{
    struct vector *inside = xcalloc(count + 1, sizeof *inside);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool in = true;
        for (size_t k = 0; k < dimensions; k++)
            in = in && points[i].of[k] < reference->of[k];
        if (in)
            inside[kept++] = points[i];
    }
    double sum = volume(inside, kept, dimensions, reference);
    free(inside);
    return sum;
}

/* ---- knee */

size_t front_knee(const struct vector *points, size_t count, size_t dimensions)
{
    struct vector low = points[0], high = points[0];
    size_t knee = 0;
    double best = INFINITY;
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < dimensions; k++) {
            low.of[k] = fmin(low.of[k], points[i].of[k]);
            high.of[k] = fmax(high.of[k], points[i].of[k]);
        }
    /* on the plane through the best of each objective the sum of the shares is 1, where there are two */
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t k = 0; k < dimensions; k++)
            sum += high.of[k] > low.of[k] ? (points[i].of[k] - low.of[k]) / (high.of[k] - low.of[k]) : 0;
        if (sum < best) {
            best = sum;
            knee = i;
        }
    }
    return knee;
}
