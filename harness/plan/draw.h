/* Samples of several ranges at once: random, or a Latin hypercube. */
#ifndef HARNESS_DRAW_H
#define HARNESS_DRAW_H

#include "lib/error.h"
#include <jansson.h>

/* Draw {"count", "method", "seed", "over": {PATH: RANGE, ...}}: path -> list of `count` values. The same on every machine. A Latin
 * hypercube divides each range into `count` equal parts and takes one value of each (McKay, Beckman and Conover 1979). A new reference;
 * NULL with an error. */
json_t *draw(const json_t *written, struct error *e);

#endif
