/* A heat map: a coloured cell for each combination of two choices, with its value as a number where there is
 * room; panels of it for a third choice. */
#ifndef REPORTS_HEAT_H
#define REPORTS_HEAT_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>

struct heat_cell {
    bool present; /* there is such a run */
    bool failed;  /* marked with a cross and a frame */
    double value; /* NAN: it has none */
    double ci95;  /* half the width of the interval, NAN: none */
};

struct heat_axis {
    char *label;
    char **names; /* of the positions */
    size_t count;
};

struct heat {
    const char *name; /* of the files */
    const char *title;
    const char *unit;
    const char *origin;            /* run_origin, shown in the picture */
    struct heat_axis x, y, panels; /* one panel without a name: panels.count is 1, its label "" */
    struct heat_cell *cells;       /* panel after panel, row after row from the top */
};

/* Memory for the cells of the axes' counts; false: none. */
bool heat_make_cells(struct heat *heat);
struct heat_cell *heat_cell(const struct heat *heat, size_t panel, size_t y, size_t x);
/* Names and cells; not what the caller's own words are. */
void heat_free(struct heat *heat);
/* Write FOLDER/NAME.tsv and FOLDER/NAME.svg. *drawn is false if there is no value. `note`: what its marks
 * mean, of those that are there, and which names are not. */
int heat_write(const struct heat *heat, const struct folder *folder, bool *drawn, struct text *note,
               struct error *e);

#endif
