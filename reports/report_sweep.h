/* The files of the page of a sweep. */
#ifndef REPORTS_REPORT_SWEEP_H
#define REPORTS_REPORT_SWEEP_H

#include "lib/error.h"
#include "lib/folder/folder.h"
#include "lib/text.h"
#include "reports/drawings.h"
#include "reports/results/sweep_table.h"

#define SWEEP_CSV "sweep.csv"

/* Draw the figures, and make the page, in a fresh folder. */
int report_sweep_draw(const struct sweep_table *t, const struct folder *fresh, struct drawings *made,
                      struct text *page, struct error *e);
/* Write SWEEP_CSV there. */
int report_sweep_csv(const struct sweep_table *t, const struct folder *fresh, struct error *e);

#endif
