/* The parts of the page. Each adds itself to `out` if the runs have data for it. */
#ifndef REPORTS_PAGE_PARTS_H
#define REPORTS_PAGE_PARTS_H

#include "lib/text.h"
#include "reports/page/page.h"
#include "reports/results/run.h"
#include "reports/results/sweep_table.h"

/* page.c: the head of the document and its end, with the library that draws interactive figures or NULL; and
 * what a page says of where its runs come from. */
void page_begin(const char *title, const struct page_library *library, struct text *out);
void page_end(const struct page_library *library, struct text *out);
void page_add_pills(const struct origins *origins, struct text *out);
/* Scenario, lab and start of a run. */
void page_add_origin(const struct run *run, const char *label, struct text *out);
/* What the readers of a page have to know of runs that were not measured on hardware. */
void page_add_what_it_is(const struct origins *origins, struct text *out);
void page_add_drawing(const struct drawing *drawing, const char *run, struct text *out);

/* page_results.c */
void page_add_summary(const struct runs *runs, struct text *out);
/* Which roles are drawn, where not all are. */
void page_add_listed(const struct runs *runs, struct text *out);
void page_add_warnings(const struct runs *runs, struct text *out);
/* Say that a sweep goes on, was stopped, or has runs that are left out, and why. */
void page_add_unfinished(const json_t *index, struct text *out);
/* The settings that differ between compared results. */
void page_add_differences(const struct runs *runs, struct text *out);
void page_add_published(const struct runs *runs, struct text *out);
void page_add_expectations(const struct runs *runs, struct text *out);

/* page_results.c: what the index of a sweep has that was judged when it had ended. */
void page_add_repeated(const struct runs *runs, struct text *out);

/* page_ratios.c: goodput and latency of pairs of runs that differ in the kind of memory, the tool and the
 * like alone, and their ratio. */
void page_add_ratios(const struct runs *runs, struct text *out);

/* page_results.c: collectives between GPUs, their sizes, and what ran them; nothing if no run has some */
void page_add_collectives(const struct runs *runs, struct text *out);

/* page_why.c: what kept flows from their rate, by the runs' explanations. */
void page_add_why(const struct runs *runs, struct text *out);

/* page_details.c */
void page_add_details(const struct runs *runs, struct text *out);
/* Sources of the values of all runs' labs (run_take_sources), the scenario and the lab of one. `named`:
 * titles say that they are this run's, one of several. */
void page_add_documents(const struct run *run, const json_t *sources, const char *scenario_title, bool named,
                        struct text *out);

/* page_ratios.c: cells that differ in nothing but one of these. */
void page_add_cell_ratios(const struct sweep_table *t, struct text *out);

#endif
