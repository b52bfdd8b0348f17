/* The list of drawings, and how each takes its data from the results. */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

#include "reports/drawing/plot.h"
#include "reports/results/run.h"

/* A drawing of one run over time. `fill` adds panels and points to an empty plot, or nothing when the run has
 * no data for it. */
struct figure {
    const char *name;
    const char *title;
    const char *x_label;
    const char *caption;
    void (*fill)(const struct run *run, struct plot *plot);
};

extern const struct figure run_figures[]; /* ended by one without name */

/* A drawing over all runs of a sweep. */
struct sweep_figure {
    const char *name;
    const char *title;
    const char *caption;
    void (*fill)(const struct runs *runs, struct plot *plot);
};

extern const struct sweep_figure sweep_figures[]; /* ended by one without name */

/* Completion time divided by the time on an empty network, by the size of flows (figures_completion.c). */
void figure_slowdown(const struct runs *runs, struct plot *plot);

#endif
