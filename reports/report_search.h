/* The page of a search (harness/search/): the best, known settings beside them, what was tried, and what
 * matters. */
#ifndef REPORT_SEARCH_H
#define REPORT_SEARCH_H

#include "lib/error.h"
#include <jansson.h>

/* Write index.html of the document (search.json), and its drawings, into the search's folder in the place of
 * earlier ones. */
int report_search(const json_t *document, const char *path, struct error *e);

#endif
