/* Judges the capture of a run with the run's own settings. */
#ifndef HARNESS_JUDGE_CAPTURE_H
#define HARNESS_JUDGE_CAPTURE_H

#include "harness/plan/plan.h"

/* What the checkers must know: a document as of verify_settings_table. It has what all roles agree in;
 * `differ` gets a key for each other setting. `settings` is a run's settings.json. A new object; NULL: out of
 * memory. */
json_t *judge_capture_settings(const struct cell *cell, const json_t *settings, json_t *differ);
/* Add to the result of a run (docs/result.md) "settings" of its "capture", if it has one, with which harness
 * verify judges it again, and "verify": a verdict of each checker that the scenario names, if it names any.
 * `why_not`: nothing is judged for this reason, or NULL. -1: the capture could not be read, and all is
 * skipped. */
int judge_capture(const struct cell *cell, const char *folder, const json_t *settings, const char *why_not,
                  json_t *result, struct error *e);

#endif
