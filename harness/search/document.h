/* search.json, what a search leaves in its folder. docs/search.md. */
#ifndef HARNESS_SEARCH_DOCUMENT_H
#define HARNESS_SEARCH_DOCUMENT_H

#include "lib/document/table.h"

extern const struct table search_table; /* of the document */

/* The document of the search in the folder. A new reference. */
json_t *search_load(const char *folder, struct error *e);

#endif
