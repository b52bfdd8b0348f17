/* Checks of a lab for a scenario before anything is changed: are the settings of both ends of each flow compatible? */
#ifndef HARNESS_PREFLIGHT_H
#define HARNESS_PREFLIGHT_H

#include "harness/plan/plan.h"

/* Append an entry {host, check, verdict, reason, fix}; verdict is ok, warning, failure or unknown. fix may be NULL. */
void preflight_say(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                   const char *reason, ...) __attribute__((format(printf, 6, 7)));

/* Check both ends of every flow with the settings that will be in force: those of `in_force` (role -> settings),
 * overridden by the scenario's. */
void preflight_settings(const struct cell *cell, const json_t *in_force, json_t *entries);
/* Do the counters that the expectations read exist? `columns`: role -> list of names. */
void preflight_counters(const struct cell *cell, const json_t *columns, json_t *entries);

#endif
