/*
 * Paths into documents: "phases.measure", "flows.*.memory", "flows.a-to-b.depth", "expect.0.check". A part is
 * a key or a glob of keys; in a list it is an index, a glob, or the "name" of an item. Keys and names that
 * have dots themselves ("a.rail3") are as many parts: the longest one that is there is meant.
 */
#ifndef LIB_DOCUMENT_PATHS_H
#define LIB_DOCUMENT_PATHS_H

#include "lib/error.h"
#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>

/* The path in the lab's document that "lab.KEY" stands for; NULL: the path leads into the scenario. */
const char *paths_in_lab(const char *path);
/* Is any key of a map of paths a path into the lab? */
bool paths_any_in_lab(const json_t *map);

/* Take the first part off a path, at most as many bytes as fit; the rest, or NULL when it was the last. */
#define PATHS_PART 128
const char *paths_first_part(const char *path, char part[PATHS_PART]);

/* Set the value at every place that path matches (missing objects on the way are created, except under a
 * glob). An object is merged into the one that is there, null removes what is there (RFC 7396, JSON Merge
 * Patch); a list is replaced. Fails when nothing matches. */
int paths_set(json_t *document, const char *path, const json_t *value, struct error *e);
/* Does the path match at least one place? */
bool paths_exist(const json_t *document, const char *path);
/* The values at all places that the path matches, as an array. A new reference. */
json_t *paths_values(const json_t *document, const char *path);
/* Append the path that was probably meant by one that matches nothing. Returns false when none is near. */
bool paths_nearest(const json_t *document, const char *path, struct text *out);
/* "KEY=VALUE": VALUE is JSON, or else a string. The caller frees *path and *value. */
int paths_assignment(const char *text, char **path, json_t **value, struct error *e);

#endif
