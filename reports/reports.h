/* Result folders in, plots and a page out. docs/result.md says what a result folder holds. */
#ifndef REPORTS_H
#define REPORTS_H

#include "lib/error.h"
#include "lib/text.h"
#include <stddef.h>

struct report_options {
    const char *folder; /* where to; NULL: report/ in the first result */
};

/*
 * Draw the results (folders of one run, or of a sweep with index.json) into one page with SVG and PNG plots
 * and the data beside them. `page` receives the path of index.html. Fails with a sentence when a folder is no
 * result, when nothing can be written, or when gnuplot is missing or refuses.
 */
int report_make(const char *const *results, size_t count, const struct report_options *options,
                struct text *page, struct error *e);

#endif
