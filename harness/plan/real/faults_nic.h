/* Faults of single frames that a virtual ConnectX has as it sends them. */
#ifndef HARNESS_PLAN_FAULTS_NIC_H
#define HARNESS_PLAN_FAULTS_NIC_H

#include "harness/plan/real/fault.h"

/* Fills `fault` for the sender's NIC. */
int fault_of_nic(const struct fault_request *q, struct fault *fault, struct error *e);

#endif
