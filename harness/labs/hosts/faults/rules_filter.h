/*
 * Faults of single frames that the packet filter of a Linux host has as frames arrive at its ports: nftables, family netdev, hook ingress.
 * The host is a bridge between the ends of a flow, or receives the frames itself and has Soft-RoCE, whose packets come through the kernel.
 */
#ifndef HARNESS_LABS_HOSTS_FAULT_RULES_FILTER_H
#define HARNESS_LABS_HOSTS_FAULT_RULES_FILTER_H

#include "harness/labs/hosts/faults/fault.h"

/* The table of a run on a host. The counters of rule i are seenI and metI (I from 0); its way into the bridge begins at the interface FAULT_DETOUR I. */
#define FAULT_TABLE  "harness_inject"
#define FAULT_DETOUR "inject"

/* Fills `fault` for `host`, which is a bridge or the receiver. */
int fault_of_filter(const struct fault_request *q, const struct lab_host *host, struct fault *fault,
                    struct error *e);

#endif
