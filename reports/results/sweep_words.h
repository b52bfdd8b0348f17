/* A sweep in words, for people: which of its runs failed by their choices, and its cells as a table. */
#ifndef REPORTS_SWEEP_WORDS_H
#define REPORTS_SWEEP_WORDS_H

#include "reports/results/sweep_table.h"
#include <stdio.h>

/* Runs in which an expectation failed, of those in which it was judged. */
struct sweep_failed {
    size_t failed, judged;
};
/* Count them, and add to `where` what they have in common, ": all with rpg_ai_rate >= 40 or kmin 10KB to
 * 80KB, and no others"; nothing where no choice tells them from the others. */
struct sweep_failed sweep_failed_where(const struct sweep_table *t, const struct sweep_figure *f,
                                       struct text *where);
/* What failed where, and a table of the first cells, those that failed before the others: choices by their
 * short names, verdict, goodput and the figures of expectations, with the 95 % interval of repetitions.
 * `width`: of the terminal; 0: any. */
void sweep_print_cells(FILE *file, const struct sweep_table *t, size_t width);

#endif
