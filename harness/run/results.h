/* Result folders: creating them, and the link `latest`. docs/result.md. */
#ifndef HARNESS_RESULTS_H
#define HARNESS_RESULTS_H

#include "harness/judge/verdict.h"
#include <time.h>

/* OUT/SCENARIO/TIME, new. The caller frees. */
char *results_make_folder(const char *out, const char *scenario, struct error *e);
/* Remove what killed runs and reports have left in the making, in the results in this folder or in this one.
 */
void results_clear_left(const char *parent);
/* The same of a result that is resumed, and of what lies beside it: a link "latest" in the making. */
void results_clear_resumed(const char *folder);
/* The name of run NUMBER's folder in that of its sweep: 01, ..., 100, ... */
void results_cell_name(size_t number, char *name, size_t size);
/* FOLDER/NN for a cell. The caller frees. */
char *results_make_cell(const char *folder, size_t number, struct error *e);
/* Point OUT/SCENARIO/latest at the folder. */
int results_point_latest(const char *folder, struct error *e);
/* "2026-03-01T12:00:00Z" for now. The caller frees. */
char *results_time(void);

/* Twelve hexadecimal digits of a digest over the sources that make results: two builds with the same one give
 * the same results. While a version is developed, its text stays. */
const char *results_build(void);

/* How much may still be written there, or where it will be made. UINT64_MAX: that is not known. */
uint64_t results_free_bytes(const char *out);

#endif
