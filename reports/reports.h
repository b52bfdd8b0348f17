/* Result folders in, plots and a page out. docs/result.md says what a result folder holds. */
#ifndef REPORTS_H
#define REPORTS_H

#include "lib/error.h"
#include "lib/text.h"
#include "reports/results/damaged.h"
#include <stddef.h>
#include <stdio.h>

struct report_options {
    const char
        *folder; /* output folder; NULL: in the first result, report/ or, with several, report-with-OTHERS/ */
    bool png;    /* make a PNG of each plot too; needs rsvg-convert */
    struct text *why;        /* out: of a single run the first cause, in a line; may be NULL */
    struct damaged *damaged; /* out: the runs that are; may be NULL */
    FILE *cells;             /* the table of a sweep's cells is printed there (report_cells); may be NULL */
    size_t width;            /* of that file's terminal; 0: any */
};

/*
 * Draw the results (folders of one run, or of a sweep with index.json) into one page with SVG plots and the
 * data beside them. `page` receives the path of index.html. Fails if a folder is not a result, if nothing can
 * be written, or if a PNG is wanted and cannot be made.
 */
int report_make(const char *const *results, size_t count, const struct report_options *options,
                struct text *page, struct error *e);

/* Print which runs of a sweep failed, by their choices, and a table of its first cells. */
int report_cells(const char *result, FILE *file, size_t width, struct error *e);

#endif
