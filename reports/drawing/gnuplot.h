/* Common to all drawings: text in gnuplot scripts, the files of a drawing, and running gnuplot. */
#ifndef REPORTS_GNUPLOT_H
#define REPORTS_GNUPLOT_H

#include "lib/error.h"
#include "lib/text.h"
#include <stddef.h>

#define GNUPLOT_WIDTH   960 /* pixels of every drawing */
#define GNUPLOT_OUTPUTS 2   /* each is drawn as SVG and as PNG */

/* Text as a gnuplot string. In single quotes, because in double quotes gnuplot would execute text in backquotes, and
 * the text comes from files. */
void gnuplot_quoted(struct text *out, const char *words);
/* The script's first line: what it draws. */
void gnuplot_begin(struct text *out, const char *name);
/* From here on, until "set output", output number `i` is drawn. */
void gnuplot_output(struct text *out, size_t i, const char *name, int height);
/* Write FOLDER/NAME.tsv and FOLDER/NAME.gp. */
int gnuplot_write(const char *folder, const char *name, const struct text *data, const struct text *script,
                  struct error *e);
/* Run gnuplot once over the scripts NAME.gp in folder; each makes NAME.svg and NAME.png there. */
int gnuplot_draw(const char *folder, char *const *names, size_t count, struct error *e);

#endif
