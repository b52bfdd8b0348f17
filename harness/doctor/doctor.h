/* Checks of a lab for a scenario before anything is changed: are the settings of both ends of each flow compatible? */
#ifndef HARNESS_PREFLIGHT_H
#define HARNESS_PREFLIGHT_H

#include "harness/plan/plan.h"

/* Append an entry {host, check, verdict, reason, fix}; verdict is ok, warning, failure or unknown: what was not seen is unknown. fix
 * may be NULL. */
void preflight_say(json_t *entries, const char *host, const char *check, const char *verdict, const char *fix,
                   const char *reason, ...) __attribute__((format(printf, 6, 7)));
/* Add the last entry's evidence: what was read, and where. */
void preflight_read(json_t *entries, const char *from, ...) __attribute__((format(printf, 2, 3)));
/* Add only entries that are not in the list yet: most cells of a sweep yield the same ones. Takes over `found`. */
void preflight_add_new(json_t *entries, json_t *found);

/* Check both ends of every flow, and of a simulated lab's patterns (pairs.h), with the settings that will be in force: the current ones, overridden by the scenario's.
 * `seen`: role -> {"settings", "places", "missing", "unread", "speed_Mbps"}, what nic-config says about the role's interface (docs/nic-config.1); a
 * role that is not there was not seen. Simulated hosts have what the scenario and the lab say: `seen` is not used. */
void preflight_settings(const struct cell *cell, const json_t *seen, json_t *entries);
/* The settings alone, by role, of the hosts that were seen. A new reference. */
json_t *preflight_in_force(const json_t *seen);
/* Does an expectation of the cell need CNPs? */
bool preflight_asks_for_cnps(const struct cell *cell);
/* Of host-facts' NICs the one with this interface; NULL: it is not there. */
json_t *preflight_nic(const json_t *nics, const char *netdev);
/* Is DCQCN in control where the scenario sets or needs it, and has the other end of the cable the scenario's PFC? `nics`: role -> what
 * host-facts says of its NIC; a role that is not there was not seen. */
void preflight_control(const struct cell *cell, const json_t *nics, json_t *entries);
/* Do the counters that the expectations read exist? `columns`: role -> list of names; a role that is not there was not
 * seen. */
void preflight_counters(const struct cell *cell, const json_t *columns, json_t *entries);

#endif
