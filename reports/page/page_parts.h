/* The parts of the page. Each adds itself to `out` if the runs have data for it. */
#ifndef REPORTS_PAGE_PARTS_H
#define REPORTS_PAGE_PARTS_H

#include "lib/text.h"
#include "reports/results/run.h"

/* page_results.c */
void page_add_summary(const struct runs *runs, struct text *out);
void page_add_warnings(const struct runs *runs, struct text *out);
/* The settings that differ between compared results. */
void page_add_differences(const struct runs *runs, struct text *out);
void page_add_published(const struct runs *runs, struct text *out);
void page_add_expectations(const struct runs *runs, struct text *out);

/* page_ratios.c: goodput and latency with GPU memory and with host memory, and their ratio. */
void page_add_ratios(const struct runs *runs, struct text *out);

/* page_details.c */
void page_add_details(const struct runs *runs, struct text *out);

#endif
