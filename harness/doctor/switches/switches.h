/* `harness doctor` on the SONiC switches of a lab. */
#ifndef HARNESS_LABS_SONIC_EXAMINE_H
#define HARNESS_LABS_SONIC_EXAMINE_H

#include "harness/plan/plan.h"

/* Read each switch's configuration and check the ports that the lab names: entries of preflight.h. `plan` NULL: without a scenario; else the
 * checks are made for each of its cells. `seen`: what hosts have, as sonic_subject has it; `columns`: names of
 * the counters of switches that have a role are added, by role. */
void sonic_examine_switches(const struct lab *lab, const char *lab_path, const struct plan *plan,
                            const json_t *seen, json_t *columns, json_t *entries);

#endif
