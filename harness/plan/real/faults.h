/* A scenario's faults of single frames (`inject`) on guests whose NIC is a virtual ConnectX, which has them. docs/scenario.md. */
#ifndef HARNESS_PLAN_FAULTS_H
#define HARNESS_PLAN_FAULTS_H

#include "lib/formats/lab.h"
#include "lib/formats/scenario.h"
#include "lib/text.h"

/* Can guests of this lab have them, as far as is known before one is reached? The scenario's traffic is flows already. */
int faults_check(const struct scenario *scenario, const struct lab *lab, struct error *e);
/* Rule i: the host whose NIC has the fault, and a line for it (virtual-connectx/model/faults/faults.h). -1: no NIC can do it. */
int faults_of_rule(const struct scenario *scenario, const struct lab *lab, size_t i,
                   const struct lab_host **host, struct text *line, struct error *e);

#endif
