/* What happened in a run, and why: docs/explain.md. */
#ifndef REPORTS_EXPLAIN_H
#define REPORTS_EXPLAIN_H

#include "lib/text.h"
#include "reports/results/damaged.h"
#include "reports/results/run.h"
#include <jansson.h>

/*
 * The explanation of a run whose samples are loaded (run_load_samples), a new reference: docs/explain.md has
 * its form. With `hosts_only` nothing of it is used that real hosts do not count: no switches, no single
 * pauses.
 */
json_t *explain_run(struct run *run, bool hosts_only);
/* The explanation of a result, with "folder" and "origin"; of a sweep a list of them. A new reference. Runs
 * that are damaged or were left out are in `damaged`. NULL: it is not a result. */
json_t *explain_result(const char *result, bool hosts_only, struct damaged *damaged, struct error *e);
/* Its sentences, for people; `brief`: only the first line. */
void explain_add_words(const json_t *explanation, bool brief, struct text *out);

#endif
