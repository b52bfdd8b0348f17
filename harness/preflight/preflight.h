/* Judging a lab for a scenario before anything is touched: do the settings of both ends of each flow go together? */
#ifndef HARNESS_PREFLIGHT_H
#define HARNESS_PREFLIGHT_H

#include "harness/plan/plan.h"

/* Append an entry {host, check, verdict, reason, fix}; verdict is ok, warning, failure or unknown. fix may be NULL. */
void preflight_say(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                   const char *reason, ...) __attribute__((format(printf, 6, 7)));

/* Judge every flow's ends by the settings that will be in force: those of `in_force` (role -> settings), with the scenario's
 * over them. */
void preflight_settings(const struct cell *cell, const json_t *in_force, json_t *entries);
/* Are the counters there that the expectations read? `columns`: role -> list of names. */
void preflight_counters(const struct cell *cell, const json_t *columns, json_t *entries);

#endif
