/*
 * Two results, an old and a new one (runs or sweeps): what differs in settings, versions and figures, and
 * rules by which a difference fails. docs/compare.md. Cells of sweeps are matched by their choices.
 */
#ifndef HARNESS_COMPARE_H
#define HARNESS_COMPARE_H

#include "lib/document/table.h"
#include "lib/error.h"
#include <jansson.h>
#include <stddef.h>

/* The absolute path of a result: a folder's, or that of a named baseline (config_baseline). The caller frees;
 * NULL: there is neither. */
char *compare_find(const char *name, struct error *e);
/* Versions and models by host-facts' document: {"data0 firmware": "16.35.2000"}. A new object. */
json_t *compare_versions_of(const json_t *facts);
/* Can all rules (char *) be read? */
int compare_check_rules(const struct list_of *rules, struct error *e);

/* The comparison as a document (docs/compare.md), a new reference; NULL: one of the folders is not a result,
 * or both are the same. What one side lacks is said in it, and a rule that reads it is "skipped". */
json_t *compare_results(const char *old_folder, const char *new_folder, const struct list_of *rules,
                        struct error *e);
/* For people, on standard output, as wide as a terminal has columns (0: any). `brief`: only rules that were
 * not met, and what makes the sides unlike. */
void compare_print(const json_t *comparison, size_t width, bool brief);
/* The exit status: 1 if a rule holds; else 4 if a rule could not be judged or a side is not whole, or if
 * nothing was compared; else 0. */
int compare_status(const json_t *comparison);

#endif
