/*
 * Common to all drawings: elements of an SVG file, a line each, in pixels from the upper left corner; columns
 * of the file with a drawing's data; writing both.
 */
#ifndef REPORTS_SVG_H
#define REPORTS_SVG_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include <stdbool.h>

#define SVG_WIDTH 960 /* pixels of every drawing */

void svg_begin(struct text *out, int height);
void svg_end(struct text *out);

enum svg_anchor { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT };
struct svg_font {
    int size; /* pixels */
    const char *colour;
    enum svg_anchor anchor; /* which part of the words is at x */
    bool turned;            /* read from below, around the point */
    bool boxed;             /* on white, to be read over lines */
};
/* Words, whose middle line is at y. Any bytes: controls are made visible (lib/output/visible.h), and what SVG
 * gives a meaning is written as an entity. Nothing for empty words. */
void svg_words(struct text *out, double x, double y, struct svg_font font, const char *words);
/* dashes: as of stroke-dasharray, or NULL. */
void svg_line(struct text *out, double x1, double y1, double x2, double y2, const char *colour, double width,
              const char *dashes);
/* stroke: the colour of its frame, or NULL. fill: "none" for a frame alone. */
void svg_rectangle(struct text *out, double x, double y, double width, double height, const char *fill,
                   const char *stroke);
/* A line from one point to another that ends in a filled head. */
void svg_arrow(struct text *out, double x1, double y1, double x2, double y2, const char *colour,
               double width);

/* Markers that can be told apart without colours: a number from 0 on, every SVG_MARKERS the same. */
#define SVG_MARKERS 6
void svg_marker(struct text *out, size_t shape, double x, double y, double radius, const char *colour);

/* What is drawn in between is cut off at this rectangle; its places are those of the drawing all the same. */
void svg_begin_clip(struct text *out, double x, double y, double width, double height);
void svg_end_clip(struct text *out);

/* Text as a column of a data file or in a comment of it: one line, without tabs and double quotes. */
void svg_data_column(struct text *out, const char *words);
/* Write NAME.tsv and NAME.svg in the folder, which has neither. */
int svg_write(const struct folder *folder, const char *name, const struct text *data,
              const struct text *drawing, struct error *e);
/* Convert NAME.svg in the folder to NAME.png, by rsvg-convert. */
int svg_to_png(const struct folder *folder, const char *name, struct error *e);

#endif
