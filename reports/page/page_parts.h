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
/* Of all hosts in the measure phase; NAN: not counted. The share, in %, is the largest of a host. */
double page_pauses(const struct run *run);
double page_lost(const struct run *run);
double page_lost_in_run(const struct run *run); /* with warm-up and cooldown */
double page_most_paused(const struct run *run);
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

/* page_jobs.c: jobs and their ranks, likewise */
void page_add_jobs(const struct runs *runs, struct text *out);

/* page_first.c: the first screen. `explaining`: the drawing in it, by page_explaining. */
void page_add_first(const struct runs *runs, const struct drawing *drawings, size_t explaining,
                    struct text *out);
/* The drawing that explains the runs best: of the one that failed or lost most, the map of its pauses, else
 * its pauses and rates; where a link changed, or its pauses took next to nothing, its rates with the times of
 * faults. SIZE_MAX: there is none. */
size_t page_explaining(const struct runs *runs, const struct drawing *drawings, size_t count);

/* The same of a sweep of many runs: which choices those that failed have in common, and the drawing of what
 * failed most. */
void page_add_sweep_first(const struct sweep_table *t, const struct drawing *drawings, size_t explaining,
                          struct text *out);
size_t page_sweep_explaining(const struct sweep_table *t, const struct drawing *drawings, size_t count);

/* page_why.c: what kept flows from their rate, by the runs' explanations. In a line for each run, of `most`
 * at most: */
void page_add_causes(const struct runs *runs, size_t most, struct text *out);
/* "Flows on average: 5 % delivered, 94 % held down by congestion control." */
void page_add_parts(const json_t *explanation, struct text *out);
/* With all that tells of it; of several runs it is folded. */
void page_add_why(const struct runs *runs, struct text *out);

/* page_details.c */
void page_add_flows(const struct runs *runs, struct text *out);
void page_add_details(const struct runs *runs, struct text *out);
/* Sources of the values of all runs' labs (run_take_sources), the scenario and the lab of one. `named`:
 * titles say that they are this run's, one of several. */
void page_add_documents(const struct run *run, const json_t *sources, const char *scenario_title, bool named,
                        struct text *out);

/* page_ratios.c: cells that differ in nothing but one of these. */
void page_add_cell_ratios(const struct sweep_table *t, struct text *out);

#endif
