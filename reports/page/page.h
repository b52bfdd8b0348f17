/* The report page: one index.html in the folder of its plots; it works offline. */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

#include "lib/text.h"
#include "reports/results/run.h"

/* A drawing: NAME.svg, NAME.png, NAME.tsv, NAME.gp are in the page's folder. */
struct drawing {
    char *name;
    char *title;
    const char *caption;
    size_t run; /* which run it belongs to; SIZE_MAX: to all */
};

void page_write(const struct runs *runs, const struct drawing *drawings, size_t count, struct text *out);

#endif
