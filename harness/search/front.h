/* Which of several points are best: each has a value for each objective, of which the smaller is the better
 * (those that are to be large have the other sign). */
#ifndef HARNESS_FRONT_H
#define HARNESS_FRONT_H

#include "lib/formats/search.h"
#include <stdbool.h>
#include <stddef.h>

struct vector {
    double of[SEARCH_MOST_OBJECTIVES];
};

/* Is `a` nowhere worse and somewhere better? */
bool front_dominates(const struct vector *a, const struct vector *b, size_t dimensions);
/* Mark the points that no other dominates; of equal ones the first. */
void front_mark(const struct vector *points, size_t count, size_t dimensions, bool *on_front);
/* The volume that the points dominate, up to `reference`, which bounds it: points beyond it add nothing. */
double front_volume(const struct vector *points, size_t count, size_t dimensions,
                    const struct vector *reference);
/* The knee of a front: the point farthest from the straight line, or plane, between the best of each
 * objective, towards the better side; each objective counted from its best to its worst value on the front
 * (Das 1999). `count` > 0 points of a front; with one objective the best. */
size_t front_knee(const struct vector *points, size_t count, size_t dimensions);

#endif
