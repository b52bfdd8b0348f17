/* Common to all drawings: text in gnuplot scripts, the files of a drawing, and running gnuplot. */
#ifndef REPORTS_GNUPLOT_H
#define REPORTS_GNUPLOT_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include <stddef.h>

#define GNUPLOT_WIDTH   960 /* pixels of every drawing */
#define GNUPLOT_OUTPUTS 2   /* each is drawn as SVG and as PNG */

/*
 * Text as a gnuplot string: controls are made visible (lib/output/visible.h), and what could have a meaning for gnuplot (quotes, backslashes,
 * backquotes, braces, '%', '@', '#', '$') is written as \ooo, which gnuplot's double quotes turn back. Single quotes know no escape
 * for a quote beside another.
 */
void gnuplot_quoted(struct text *out, const char *words);
/* Text as a column of a data file or in a comment of it: one line, without tabs and double quotes. */
void gnuplot_column(struct text *out, const char *words);
/* The script's first line: what it draws. */
void gnuplot_begin(struct text *out, const char *name);
/* From here on, until "set output", output number `i` is drawn. */
void gnuplot_output(struct text *out, size_t i, const char *name, int height);
/* Write NAME.tsv and NAME.gp in the folder, which has neither. */
int gnuplot_write(const struct folder *folder, const char *name, const struct text *data,
                  const struct text *script, struct error *e);
/* Run gnuplot once over the scripts NAME.gp in folder; each makes NAME.svg and NAME.png there.
 * Fails if a drawing is not whole. */
int gnuplot_draw(const struct folder *folder, char *const *names, size_t count, struct error *e);

#endif
