/*
 * `*` in lists of roles: a scenario that fits any lab. In `roles` it stands for every host of the lab, and
 * for every switch that is simulated or a guest; in `from`, `to`, `sample.roles`, roles of collectives and
 * `settings_of` for every host. `*0`, `*1`, ... is a single host by its place in the lab. What follows a dot
 * stays: `*.rail*` is the NICs rail* of each host, and `*.*` all NICs of each. A host that only forwards is
 * not among them. docs/scenario.md.
 */
#ifndef HARNESS_PLAN_ALL_HOSTS_H
#define HARNESS_PLAN_ALL_HOSTS_H

#include "lib/formats/lab.h"

/* Has the scenario such a name? */
bool all_hosts_named(const json_t *scenario);
/* Write them out, in the document itself. In `from` they leave out hosts that `to` names, where `to` is a
 * list of its own. -1: the lab has no such host; the sentence begins with the place. */
int all_hosts_bind(json_t *scenario, const struct lab *lab, struct error *e);
/* The hosts of the lab that can send, by machine, in the lab's order: an array of texts. A new reference. */
json_t *all_hosts_of(const struct lab *lab);

#endif
