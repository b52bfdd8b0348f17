/*
 * Which drawings there are, and what each takes from the results. To add one, write
 * reports/drawing/figures_NAME.c with a const struct figure figures_NAME[]: the build makes the table of all
 * such files, and pages show their figures in the order of the files' names.
 */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

#include "reports/drawing/plot.h"
#include "reports/results/run.h"

/* One of the functions is set. It adds panels and points to an empty plot, or nothing when the results have
 * no data for it. */
struct figure {
    const char *name; /* of its files */
    const char *title;
    const char *x_label; /* until the function says another */
    const char *caption;
    void (*run)(const struct run *run, struct plot *plot);     /* one run over time; curves.h */
    void (*sweep)(const struct runs *runs, struct plot *plot); /* all runs of a sweep */
};

/* One array for each file, which ends with a figure without name; the last is NULL. */
extern const struct figure *const figures[];

#endif
