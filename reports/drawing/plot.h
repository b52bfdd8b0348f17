/* A drawing: panels of series under one x axis, written as data (TSV) and as SVG. */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include <stdbool.h>
#include <stddef.h>

enum plot_style {
    PLOT_LINES,
    PLOT_STEPS,
    PLOT_POINTS_LINES,
    PLOT_BARS, /* of a row, from 0 to x */
    PLOT_MARKS,
    PLOT_DOTS,
    PLOT_SCATTER, /* small points */
    PLOT_IMPULSES,
    PLOT_SEGMENTS,
    PLOT_INTERVALS,     /* points with a line through them, each with its interval along y */
    PLOT_INTERVALS_ROWS /* the same of rows, along x, without a line */
};

/* Points for the interactive page, finer than those of the picture. */
struct plot_points {
    double *x, *y, *width; /* width: of segments */
    size_t count, capacity;
};

/* A point of the picture. */
struct plot_row {
    double x, y;
    double width;     /* of segments */
    double low, high; /* ends of its interval */
};

struct plot_series {
    char *label;
    enum plot_style style;
    size_t colour; /* each in a panel has its own: its number, until it is set */
    bool dashed;
    bool shaped; /* each curve has its own marker shape, so that curves can be told apart without colours */
    struct plot_row *rows;
    size_t points, capacity;
    double highest, lowest; /* y */
    double x_least, x_most;
    size_t x_positive, y_positive; /* points that a logarithmic scale can show */
    struct plot_points detail;     /* none: those of the picture */
};

struct plot_level {
    char *label;
    double y;
};

/* A number of the x axis as the user wrote it. */
struct plot_tic {
    char *label;
    double x;
};

/* Where something happens: a line across all panels. */
struct plot_mark {
    char *label;
    double x;
};

struct plot_panel {
    char *y_label;
    bool log_y;
    double y_max;      /* 0: from the data */
    char **row_names;  /* instead of a scale: row 0 is at the top */
    size_t rows;       /* 0: a scale */
    char *note;        /* over the legend, such as which curves are left out; or NULL */
    struct text said;  /* under the picture: how its points come from the samples */
    struct text lacks; /* under it and on the interactive page: what is missing */
    struct plot_series *series;
    size_t series_count;
    struct plot_level *levels; /* horizontal lines */
    size_t level_count;
    /* ---- the interactive page alone */
    size_t detail;            /* about how many points of it are wanted; 0: there is no such page */
    struct plot_series *more; /* beside those that are drawn: shown when the reader asks for them */
    size_t more_count;
    char **detail_rows; /* of the bars that are `more`, instead of row_names */
    size_t detail_row_count;
    char *kept; /* how its points come from the samples, or NULL */
};

struct plot {
    char *name; /* of the files */
    char *title;
    char *caption; /* shown under it, or NULL: that of its kind */
    char *x_label;
    bool log_x;
    bool bytes_x;          /* log2 with B, KiB, MiB */
    double x_min, x_max;   /* equal: from the data */
    struct plot_tic *tics; /* as many of them as fit; x_min and x_max are set then */
    size_t tic_count;
    struct plot_mark *marks; /* in the order of x */
    size_t mark_count;
    struct text left_out; /* sentences about panels that have nothing to show */
    const char *origin;   /* run_origin, shown in the picture */
    struct plot_panel *panels;
    size_t panel_count;
    size_t detail; /* of each panel */
};

void plot_init(struct plot *plot, const char *name, const char *title, const char *x_label);
void plot_free(struct plot *plot);
void plot_relabel_x(struct plot *plot, const char *label);
struct plot_panel *plot_add_panel(struct plot *plot, const char *y_label);
/* Remove the last panel. */
void plot_drop_panel(struct plot *plot);
/* Valid until the next series is added to the panel. */
struct plot_series *plot_add_series(struct plot_panel *panel, const char *label, enum plot_style style);
void plot_add_point(struct plot_series *series, double x, double y);
/* With half the width of its interval; NAN: it has none. */
void plot_add_interval(struct plot_series *series, double x, double y, double half);
/* Of a row, with the ends of its interval; NAN: it has no point. */
void plot_add_range(struct plot_series *series, double x, double row, double low, double high);
void plot_add_tic(struct plot *plot, double x, const char *label);
/* After the marks before it; one at the same x takes its words too. */
void plot_add_mark(struct plot *plot, double x, const char *label);
/* Remove the last panel with a word: that what it would show was sampled and never changes. */
void plot_leave_out(struct plot *plot);
/* From x to x + width at height y. */
void plot_add_segment(struct plot_series *series, double x, double y, double width);
/* The next row; the name's parts between commas may stand on lines of their own. */
void plot_name_row(struct plot_panel *panel, const char *name);
void plot_note(struct plot_panel *panel, const char *note);
/* A sentence under the picture, without its full stop: how it was drawn. */
void plot_say(struct plot_panel *panel, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, of what is missing on the interactive page, too. */
void plot_lack(struct plot_panel *panel, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What all panels say after plot_prune; NULL: nothing. The caller frees
 * it. */
char *plot_said(const struct plot *plot);
/* Curves about the same host, the word that their labels begin with, get the colours that they have in
 * another panel. */
void plot_match_colours(struct plot_panel *panel, const struct plot_panel *like);
void plot_add_level(struct plot_panel *panel, double y, const char *label);
/* A curve or bars for the interactive page alone. Valid until the next one is added to the panel. */
struct plot_series *plot_add_more(struct plot_panel *panel, const char *label, enum plot_style style);
/* A point for the interactive page; width 0 but for segments. */
void plot_add_detail(struct plot_series *series, double x, double y, double width);
void plot_name_detail_row(struct plot_panel *panel, const char *name);
/* A colour as "#rrggbb". */
void plot_colour(size_t colour, struct text *out);
/* Remove series and panels without data, and say how many points a logarithmic scale leaves out. Returns
 * whether any panel is left. */
bool plot_prune(struct plot *plot);

/* Write FOLDER/NAME.tsv and FOLDER/NAME.svg. */
int plot_write(const struct plot *plot, const struct folder *folder, struct error *e);
/* The plot as JSON for the page's script (reports/page/script/data.js reads it). */
void plot_data(const struct plot *plot, struct text *out);

#endif
