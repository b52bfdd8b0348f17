/* Traffic tools that do not come with harness: are they on the hosts, and what of them is in a result. */
#ifndef HARNESS_LABS_TOOLS_H
#define HARNESS_LABS_TOOLS_H

#include "harness/labs/hosts/lab.h"
#include "lib/words.h"

/* What a tool makes of a host's answer: 0, or -1 with why it cannot run there; *missing: the whole tool
 * is. */
typedef int tool_judge(void *context, const char *answer, bool *missing, struct error *e);
/* Run a tool's command on the host, and let the tool judge the answer. Without one *missing is false. */
int tools_ask(struct remote_host *h, const struct words *command, tool_judge *judge, void *context,
              bool *missing, struct error *e);

/* Ask both hosts of every job, before anything is changed; the versions are kept in the jobs. */
int tools_find(struct remote_lab *lab, struct error *e);
/* As entries of harness doctor (harness/doctor/check.h): the tools of the scenario's flows that have an end
 * on this host. */
void tools_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                   json_t *entries);
/* What tools are asked for depends on this much of the flows and collectives: cells that have the same need
 * one question. A new reference. */
json_t *tools_asked_for(const struct scenario *scenario);
/* Each flow's tool, and of one that does not come with harness its versions and commands (docs/result.md). */
void tools_add_to_result(const struct remote_lab *lab, json_t *result);

#endif
