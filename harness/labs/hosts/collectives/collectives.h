/* Collectives of a run on real hosts: are their programs there, their start, and what of them is in a
 * result. */
#ifndef HARNESS_LABS_COLLECTIVES_H
#define HARNESS_LABS_COLLECTIVES_H

#include "harness/labs/hosts/lab.h"

/* Ask the hosts of every collective, before anything is changed. */
int collectives_find(struct remote_lab *lab, struct error *e);
/* As entries of harness doctor (harness/doctor/check.h): the collectives of the scenario in which this host
 * takes part. */
void collectives_examine(struct remote_host *h, const struct lab *lab, const struct scenario *scenario,
                         json_t *entries);
/* host-facts --nccl-env of the hosts whose collective wants it, once the run's settings are in force. */
int collectives_ask_env(struct remote_lab *lab, struct error *e);
/* Start them; they begin with the measure phase. The warm-up begins at start_ns by the run's clock. */
int collectives_start(struct remote_lab *lab, int64_t start_ns, struct error *e);
/* "collectives" (docs/result.md), and warnings. */
void collectives_add_to_result(const struct remote_lab *lab, json_t *result);

#endif
