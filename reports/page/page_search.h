/* The page of a search: its answer, what of it holds on other seeds and traffic, what matters, and all that
 * was tried. */
#ifndef REPORTS_PAGE_SEARCH_H
#define REPORTS_PAGE_SEARCH_H

#include "reports/page/page.h"

/* `document`: search.json. The first drawings are about objectives, the others about parameters. */
void page_search_write(const json_t *document, const struct drawing *drawings, size_t count,
                       struct text *out);

#endif
