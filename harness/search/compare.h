/* Two searches for the same objectives: what each found, and whose settings are the better. */
#ifndef HARNESS_SEARCH_COMPARE_H
#define HARNESS_SEARCH_COMPARE_H

#include "lib/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The comparison as a document (docs/search.md), a new reference. NULL: one cannot be read, or they have
 * other objectives. */
json_t *search_compare(const char *old_folder, const char *new_folder, struct error *e);
/* For people. */
void search_compare_print(const json_t *comparison, size_t width);
/* The exit status: 4 if one of both found nothing that is allowed. */
int search_compare_status(const json_t *comparison);

#endif
