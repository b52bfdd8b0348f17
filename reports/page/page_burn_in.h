/* The page of a burn-in (harness/burn_in/): who is bad, the stages, the figures of each NIC, and who reached
 * whom. */
#ifndef REPORTS_PAGE_BURN_IN_H
#define REPORTS_PAGE_BURN_IN_H

#include "lib/error.h"
#include <jansson.h>

/* Write the page of the document (burn-in.json) to `path`, in the place of an earlier one. */
int page_burn_in_write(const json_t *document, const char *path, struct error *e);

#endif
