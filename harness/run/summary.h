/* What people, and with --json programs, read of a run on standard output. */
#ifndef HARNESS_SUMMARY_H
#define HARNESS_SUMMARY_H

#include "harness/judge/repeated.h"

/* The run in this folder: its verdict, and from its result (NULL: there is none) flows, expectations,
 * published figures, warnings; of one of several `repeats` of its cell the goodput, the expectations that
 * failed and warnings. `said`: an object whose keys are warnings that were said before; may be NULL. */
void summary_print(const struct cell *cell, const char *folder, const json_t *result, enum verdict verdict,
                   size_t repeats, const json_t *said);
/* Was the warning said before the run? It may go on after that with what was counted since. */
bool summary_was_said(const json_t *said, const char *warning);
/* Log the warnings alone; `folder`: the run is one of several. */
void summary_log_warnings(const char *folder, const json_t *result, const json_t *said);

/* A cell over its repetitions: goodput, and what was judged over them. `brief`: only if an expectation
 * failed, and only that. */
void summary_print_repeated(const struct repeated_cell *judged, bool brief);

/*
 * What --json has of a run, from its result; a new object: "total" {goodput_bps, goodput_MiBps,
 * messages_per_s} of all flows, "flows" NAME {goodput_bps, latency_ns, ...}, "pauses" ROLE COUNTER {unit,
 * delta, rate_per_s}, "expectations", "published" and "warnings" as in result.json (docs/result.md).
 */
json_t *summary_json(const json_t *result);

/* The warnings of a sweep itself: printed, or with `log` logged. */
void summary_print_sweep_warnings(const json_t *warnings, bool log);

#endif
