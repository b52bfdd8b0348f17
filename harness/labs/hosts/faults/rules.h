/* A scenario's faults of single frames (`inject`) and its storms of pauses on real hosts: which host has each of them. docs/scenario.md. */
#ifndef HARNESS_LABS_HOSTS_FAULT_RULES_H
#define HARNESS_LABS_HOSTS_FAULT_RULES_H

#include "harness/labs/hosts/faults/fault.h"

/* Can hosts of this lab have them, as far as is known before one is reached? The scenario's traffic is flows already. */
int faults_check(const struct scenario *scenario, const struct lab *lab, struct error *e);
/* How many there are: each injection, then each storm. */
size_t faults_count(const struct scenario *scenario);
/* Number i of them. On error nothing is to be freed: none of the hosts can have it. */
int faults_of_rule(const struct scenario *scenario, const struct lab *lab, size_t i, struct fault *fault,
                   struct error *e);

#endif
