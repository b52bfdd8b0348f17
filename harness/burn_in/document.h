/* burn-in.json, what a burn-in leaves in its folder. docs/burn-in.md. */
#ifndef HARNESS_BURN_IN_DOCUMENT_H
#define HARNESS_BURN_IN_DOCUMENT_H

#include "lib/document/table.h"

#define BURN_IN_DOCUMENT "burn-in.json"

extern const struct table burn_in_table; /* of the document */

/* The document of a burn-in: of this folder, or this file. A new reference. */
json_t *burn_in_load(const char *path, struct error *e);

#endif
