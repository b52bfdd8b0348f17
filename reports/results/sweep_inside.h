/* The parts of a table of a sweep. */
#ifndef REPORTS_SWEEP_INSIDE_H
#define REPORTS_SWEEP_INSIDE_H

#include "reports/results/sweep_table.h"

/* sweep_axes.c: axes, dimensions and the rows' choices from the index's cells. */
int sweep_axes_find(const json_t *cells, struct sweep_table *t, struct error *e);
void sweep_axes_free(struct sweep_table *t);

/* sweep_figures.c: all figures of a run. */
int sweep_figures_take(const struct run *run, size_t row, struct sweep_table *t, struct error *e);
/* Counters that never change are none. */
void sweep_figures_finish(struct sweep_table *t);
void sweep_figures_free(struct sweep_table *t);

enum sweep_verdict sweep_verdict_of(const char *word);

#endif
