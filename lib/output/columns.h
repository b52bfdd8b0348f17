/* Rows of text in columns, which fit the width of a terminal. */
#ifndef LIB_OUTPUT_COLUMNS_H
#define LIB_OUTPUT_COLUMNS_H

#include "lib/output/print.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct columns_style {
    const char *title;
    bool right;   /* numbers */
    size_t least; /* characters to which its cells may be cut; 0: never cut */
    size_t keep;  /* characters that they keep while another column can be left out; 0: no more than least */
    int leave;    /* where there is no room, the column with the largest is left out first, before all others
                     one with "-" in each row; 0: never */
};

/* Print a line of titles and the rows: `cells` has `count` cells for each, any bytes, NULL for none. A cell
 * that is cut ends in "..". */
void columns_print(FILE *file, const struct columns_style *styles, size_t count, const char *const *cells,
                   size_t rows, size_t width);
/* Print words and a line feed, broken at spaces where a line would be wider than `width` (0: never). The
 * first line is already at column `at`; further ones begin in column `indent`. */
void columns_wrap(FILE *file, const char *words, size_t at, size_t indent, size_t width);

#endif
