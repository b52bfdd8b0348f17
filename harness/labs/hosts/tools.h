/* Traffic tools that do not come with harness: are they on the hosts, and what of them is in a result. */
#ifndef HARNESS_LABS_TOOLS_H
#define HARNESS_LABS_TOOLS_H

#include "harness/labs/hosts/lab.h"

/* Ask both hosts of every job, before anything is changed; the versions are kept in the jobs. */
int tools_find(struct remote_lab *lab, struct error *e);
/* As entries of preflight.h: the tools of the scenario's flows that have an end on this host. */
void tools_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                   json_t *entries);
/* What tools are asked for depends on this much of the flows and collectives: cells that have the same need one question. A new reference. */
json_t *tools_asked_for(const struct scenario *scenario);
/* Each flow's tool, and of one that does not come with harness its versions and commands (docs/result.md). */
void tools_add_to_result(const struct remote_lab *lab, json_t *result);

#endif
