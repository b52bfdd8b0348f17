/* The choices of a sweep: what is varied together, every combination of it, and which of these are left out.
 * docs/scenario.md. */
#ifndef HARNESS_CHOICES_H
#define HARNESS_CHOICES_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CHOICES_MANY 1000000 /* more combinations are asked about first */

/* Paths that change together: one path, a zip, or a draw. */
struct axis {
    json_t *lists; /* path -> list of `count` values */
    size_t count;
    bool drawn; /* by chance, so values may come again */
};

struct choices {
    struct axis *axes;
    size_t axis_count;
    json_t *lists; /* of all axes: path -> list */
    size_t *kept;  /* the numbers of the combinations that "except" and "only" leave; NULL: all */
    size_t count;
};

/* Draw {"count", "method", "seed", "over": {PATH: RANGE, ...}}: path -> list of `count` values. The same on
 * every machine. A Latin hypercube divides each range into `count` equal parts and takes one value of each
 * (McKay, Beckman and Conover 1979). A new reference; NULL with an error. */
json_t *sweep_draw(const json_t *written, struct error *e);

/* The values at a path in the scenario and lab that a choice makes, as an array; a new reference. */
typedef json_t *(*choices_values)(const void *context, const json_t *choice, const char *path);

/* Which choices are left out: "except" and "only" of a sweep or a search. */
struct choice_conditions {
    const char *of;              /* for sentences: "sweep" */
    const json_t *except, *only; /* lists of conditions (condition.h), or NULL */
    choices_values values_at;
    const void *context;
    json_t *seen; /* gets the paths that matched anything */
    json_t *met;  /* gets, for each value of a condition, how often it matched; may be NULL */
};
/* Are they lists of conditions? */
int conditions_check(const struct choice_conditions *conditions, struct error *e);
/* Is the choice (path -> value) kept? 1 or 0; -1: a condition cannot be read. */
int conditions_admit(const struct choice_conditions *conditions, const json_t *choice, struct error *e);
/* Afterwards: a path that matched nothing is a slip, as its condition says nothing. */
int conditions_check_seen(const struct choice_conditions *conditions, struct error *e);
/* And a value that none has of those in `met`, or with "!=" each. */
int conditions_check_met(const struct choice_conditions *conditions, struct error *e);

/* Parse the "sweep" of a scenario (NULL: none, which is one choice without paths). More than CHOICES_MANY
 * combinations are an error unless `many` is set. values_at() gives the values at the paths of "except" and
 * "only" that the sweep does not vary. `as_written`: what they ask for occurs. On error nothing is left
 * allocated. */
int choices_parse(const json_t *sweep, bool many, bool as_written, choices_values values_at,
                  const void *context, struct choices *choices, struct error *e);
/* The documents that a choice makes; a new reference. */
typedef json_t *(*choices_document)(const void *context, const json_t *choice);
/* Is there a path whose values change nothing, because later ones overwrite them? That is an error: its cells
 * would be identical, or would be called what they are not. */
int choices_check_effects(const struct choices *choices, choices_document document_of, const void *context,
                          struct error *e);
/* Are there values of a path that are the same, written in another way? That is an error: their cells would
 * be identical. parsed_of: what a choice is when it is read; NULL if it cannot be. */
int choices_check_same(const struct choices *choices, choices_document parsed_of, const void *context,
                       struct error *e);
void choices_free(struct choices *choices);

/* Choice i < count, path -> value: the last axis changes fastest. A new reference; NULL when out of
 * memory. */
json_t *choices_at(const struct choices *choices, size_t i);

#endif
