/* The figures of a run that sweeps and comparisons have in columns and rows. */
#ifndef REPORTS_RUN_FIGURES_H
#define REPORTS_RUN_FIGURES_H

#include "reports/results/run.h"

/* A figure that the run has: "goodput of all flows", in "b/s"; `counter`: of all hosts together. -1: out of
 * memory, and the others are not handed on. */
typedef int run_figure(void *context, const char *name, const char *unit, double value, bool counter);

/* What is not handed on. */
struct run_figures_left {
    size_t few;   /* quantiles of too few values */
    size_t flows; /* that have no figures of their own, as there are many */
};

/* Goodput, messages and packets sent again of all flows; quantiles of the first flows; collectives; and what
 * counters of pauses, marks, drops and damaged frames increased by at all hosts. -1: `each` has failed. */
int run_each_figure(const struct run *run, run_figure *each, void *context, struct run_figures_left *left);

#endif
