/* Faults of single frames that a virtual ConnectX has as it sends them. */
#ifndef HARNESS_LABS_HOSTS_FAULT_RULES_NIC_H
#define HARNESS_LABS_HOSTS_FAULT_RULES_NIC_H

#include "harness/labs/hosts/faults/fault.h"

/* Fills `fault` for the sender's NIC. */
int fault_of_nic(const struct fault_request *q, struct fault *fault, struct error *e);

#endif
