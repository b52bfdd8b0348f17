/* Conditions on values: "when" of expectations, "except" and "only" of sweeps. A map of path to a value, or
 * to a comparison. */
#ifndef HARNESS_CONDITION_H
#define HARNESS_CONDITION_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>

/* The values at a path, as an array; NULL or an empty one if nothing matches. A new reference. */
typedef json_t *(*condition_values)(const void *context, const char *path);

/*
 * Does each path match, and do all its values fit? 1 or 0; -1 with an error if a comparison cannot be read or
 * its values cannot be compared. {"flows.*.memory": "gpu"} is equality with the value as it is written. A
 * text that begins with a sign (< <= > >= == !=) is a comparison with a number, a quantity, a word or another
 * path: ">= 64KiB", "!= gpu", "> settings.red.min"; several are joined by " and ". NULL always holds.
 */
int condition_holds(const json_t *condition, condition_values values_at, const void *context,
                    struct error *e);
/* Is it a comparison? */
bool condition_is_comparison(const json_t *wanted);

#endif
