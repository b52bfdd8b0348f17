/* Results as a database or as CSV files: docs/export.md. */
#ifndef REPORTS_EXPORT_H
#define REPORTS_EXPORT_H

#include "lib/error.h"
#include "lib/text.h"
#include "reports/export/tables.h"
#include "reports/results/damaged.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT_LARGE_BYTES INT64_C(1000000000) /* more must be asked for */

struct export_options {
    enum export_format format;
    const char *out;    /* NULL: in the only result, export.sqlite or export-csv/ */
    const char *tables; /* names with commas between them; NULL: all */
    bool replace;       /* what is there */
    bool large;         /* more than EXPORT_LARGE_BYTES are meant */
};

struct export_made {
    struct text path;
    int64_t runs, samples;
    int64_t series, constants; /* series whose samples are all the same: their first and last are there */
    struct damaged damaged;    /* runs that are */
    size_t again; /* results that were named before, also as runs of a sweep, and are exported once */
};
void export_made_free(struct export_made *made);

/*
 * Export the results (folders of a run, or of a sweep: all its runs) into one database or one folder. It has
 * its name only when it is whole. A first reading decides how large it will be. The memory does not depend on
 * the number of lines. Fails if a folder is not a result, if one of its lines is damaged, if something has
 * the name of the output, if it would be large and that was not asked for, or if nothing can be written.
 */
int export_results(const char *const *results, size_t count, const struct export_options *options,
                   struct export_made *made, struct error *e);

#endif
