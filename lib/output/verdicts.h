/* Verdicts of checks for people: entries of a JSON list with "verdict" (ok, warning, failure, unknown), and
 * perhaps "fix" and "evidence". */
#ifndef LIB_OUTPUT_VERDICTS_H
#define LIB_OUTPUT_VERDICTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct verdict_counts {
    size_t ok, warnings, failures, unknown;
};

/* What is below an entry's line, `indent` columns to the right: what mends it, and what was read if that is
 * wanted. */
void verdict_print_below(const json_t *entry, int indent, bool evidence);
/* What was not judged ("not_judged") that its reason does not say: new sentences. */
json_t *verdict_not_judged(const json_t *entry);
/* The same, a line each, `indent` columns to the right. */
void verdict_print_not_judged(const json_t *entry, int indent);
struct verdict_counts verdicts_count(const json_t *entries);
/* "3 ok, 1 warning, 0 failures, 2 unknown" */
void verdicts_print_counts(const struct verdict_counts *counts);

#endif
