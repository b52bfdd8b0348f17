/* Settings that differ between compared runs. */
#ifndef REPORTS_DIFFERENCES_H
#define REPORTS_DIFFERENCES_H

#include "lib/text.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- the choices of a cell */

/* The choices of a sweep's cell, as words and as numbers. */

/* "64KiB"; of an object its values, and of objects in it the names alone: "(rx_ring 8192, red)"; of a list
 * its items: "3 and 4"; of an empty one "none". Numbers as a person wrote them: 0.1. */
void choice_describe(const json_t *value, struct text *out);
/* The end of a path by which people know it: its last part or, where that is a number or a glob, or other
 * paths of `choices` (keys) end so too, as many as it takes: "memory", "faults.0", "a.gpu.index". It lies in
 * `path`. */
const char *choice_name(const char *path, const json_t *choices);
/* A choice, which is one of `choices`, by its name: "memory gpu", with a comma before it if `out` is not
 * empty. */
void choice_add(const char *path, const json_t *value, const json_t *choices, struct text *out);
/* All choices of a cell: "memory gpu, message 64KiB". */
void choices_add(const json_t *choices, struct text *out);
/* As a number: a plain one, or a quantity with a unit; of sizes in bytes *is_bytes is set. False of all
 * others. */
bool choice_number(const json_t *value, double *number, bool *is_bytes);

/* {"scenario.settings.cable": ["2m", "7m"], "lab.hosts.a.gpu.pcie": [...]}: names of scenario and lab, seed,
 * program and all values of scenario and lab that differ between the `count` results (result.json), as texts;
 * null if a result has none. Those of the lab come last. *cut (may be NULL): a document has more values than
 * were compared. A new reference; NULL: out of memory. */
json_t *differences_between(const json_t *const *results, size_t count, bool *cut);
/* "cable 7m, seed 2": the differences of result `i`, by the last parts of their paths; where scenarios or
 * labs have different names, these alone stand for what is in them. Empty if there are none or too many for a
 * label. The caller frees. */
char *differences_label(const json_t *differences, size_t i);

#endif
